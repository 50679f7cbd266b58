"""The table of cases is complete."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from bench import cases, clients, decode, decoders, encoded, samples, tensors
from bench.case import FASTEST, Case
from bench.cases import BY_NAME
from bench.images import BAGS
from bench.libraries import Fastaug, Library
from bench.suite import covered_ops
from bench.turn import Turn

ON_TENSORS = tuple(case for case in tensors.CASES if not case.pipeline)


def test_every_native_op_is_timed() -> None:
    from fastaug import _C

    assert {name for name, _ in _C.OPS} == covered_ops()


@pytest.mark.parametrize(
    ("make", "rows"),
    [
        (Fastaug, cases.OPERATIONS),
        (tensors.FastaugOnTensors, ON_TENSORS),
        (samples.FastaugSamples, samples.OPERATIONS),
    ],
    ids=["operations", "tensors", "samples"],
)
def test_rows_run_the_ops_that_they_name(
    make: Callable[[], Library], rows: tuple[Case, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    from fastaug._draft import at_once, finish
    from fastaug._inspect.records import name_of, ops_of

    drafted: set[str] = set()

    def never(ways: Any, image: Any, arguments: Any) -> Any:
        return NotImplemented

    # Without a draft there is nothing to look at.
    monkeypatch.setattr(at_once.done_at_once, "__code__", never.__code__)

    def watch(name: str) -> None:
        ends = getattr(finish, name)

        def watched(draft: Any, *arguments: Any) -> Any:
            drafted.update(map(name_of, ops_of(draft.core.program(0))))
            return ends(draft, *arguments)

        monkeypatch.setattr(finish, name, watched)

    for name in ("finish", "start"):
        watch(name)
    library = make()
    pixels = np.random.default_rng(0).integers(0, 256, (512, 512, 3), np.uint8)
    for case in rows:
        drafted.clear()
        transform = library.transform(case)
        assert transform is not None
        torch.manual_seed(0)
        transform(library.image(case, pixels))
        assert drafted >= set(case.ops), case.name


def test_every_class_and_function_is_timed() -> None:
    """Names of other things than operations, and functions whose class is timed, need no row of their own.

    Nor do those that torchvision does not have, and that cannot be compared.
    """
    import torchvision.transforms as TV

    import fastaug.transforms as T
    from fastaug.transforms import functional as F

    rows = " ".join(BY_NAME).lower().replace("_", "")
    others = {"AutoAugmentPolicy", "InterpolationMode", "functional", "pil_modes_mapping"}
    containers = {"Compose", "RandomApply", "RandomChoice", "RandomOrder"}
    questions = {"get_dimensions", "get_image_num_channels", "get_image_size"}
    same = {
        "convert_image_dtype": "ConvertImageDtype",
        "erase": "RandomErasing",
        "rgb_to_grayscale": "Grayscale",
        "to_grayscale": "Grayscale",
        "resized_crop": "RandomResizedCrop",
    }
    theirs = {*dir(TV), *dir(TV.functional)}
    for name in theirs.intersection([*T.__all__, *F.__all__]) - others - containers - questions:
        assert same.get(name, name).lower().replace("_", "") in rows, name


def test_names_are_unique_and_bags_exist() -> None:
    for suite in (cases, tensors, samples):
        assert len(suite.BY_NAME) == len(suite.CASES)
        assert {case.bag for case in suite.CASES} <= BAGS.keys()


def test_rows_of_decoding_have_bags_and_columns() -> None:
    cases = list(encoded.CASES)
    assert len(encoded.BY_NAME) == len(cases)
    assert {case.bag for case in cases} <= encoded.BAGS.keys()
    labels = {column.label for column in decode.columns_for(cases, peers=False)}
    assert labels <= decoders.LIBRARIES.keys()
    asked = {name for case in cases for label, goal in case.asked for name in (label, goal.against)}
    assert asked <= labels | {FASTEST}


def test_rows_of_clients(tmp_path: Path) -> None:
    """Those of torchvision's, which is here: own and ours are timed on the same files, and compared whole."""
    bag = tmp_path / "two.npy"
    np.save(bag, np.random.default_rng(0).integers(0, 256, (2, 90, 120, 3), np.uint8))
    clients.write_files(bag)
    assert len({case.name for case in clients.CASES}) == len(clients.CASES)
    for case in clients.CASES:
        if case.package != "torchvision":
            continue
        found = []
        for library in (clients.Client(), clients.Fastaug()):
            turn = Turn(library.transform(case), library.images(case, bag), library.seed)
            found.append([clients.as_array(turn.call(number)) for number in range(2)])
        for theirs, ours in zip(*found, strict=True):
            assert theirs.size > 1000 and np.array_equal(ours, theirs), case.name


def test_a_client_that_leaves_a_generator_elsewhere_differs() -> None:
    clients.seed(3)
    image = torch.zeros(3, 4, 4)
    before = clients.as_array([image, {"small": [image]}])
    random.random()
    assert not np.array_equal(clients.as_array([image, {"small": [image]}]), before)
