"""The table of cases is complete."""

from __future__ import annotations

import fnmatch
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from bench import behind, cases, clients, decode, decoders, encoded, samples, single, tensors
from bench.case import FASTEST, Case
from bench.cases import BY_NAME
from bench.images import BAGS
from bench.libraries import Fastaug, Library
from bench.measure import Row, Times
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
    for found, rows in ((s.BY_NAME, s.CASES) for s in (cases, tensors, samples)):
        assert len(found) == len(rows)
        assert {case.bag for case in rows} <= BAGS.keys()
    assert len(single.BY_NAME) == len(single.OPERATIONS)
    assert {case.bag for case in single.OPERATIONS} <= BAGS.keys()


@pytest.mark.parametrize("case", single.OPERATIONS, ids=lambda case: case.name)
def test_rows_of_single_work(case: single.Single) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (case.side, case.side, 3), np.uint8)
    found = []
    for library in (single.SingleLibrary(), single.FastaugSingle()):
        transform, image = library.transform(case), library.image(case, pixels)
        assert transform is not None
        library.seed(3)
        found.append(transform(image))
    theirs, ours = found
    assert type(ours) is type(theirs)
    theirs, ours = map(single.as_array, found)
    assert ours.dtype == theirs.dtype
    np.testing.assert_allclose(ours, theirs, 0, 1e-5 if case.kind == "float" else 0)


def test_what_is_said_of_a_peer() -> None:
    """And that the rows which are named in what is known exist."""
    assert all(any(fnmatch.fnmatchcase(name, pattern) for name in single.BY_NAME) for _, pattern, _ in behind.WORK)
    row = Row(single.BY_NAME["v1 resize to 7/16, bilinear, PIL RGB, 512"])

    def said(label: str, pixels: str, difference: float | None) -> str:
        row.times[label] = Times(1, 1, 1, 1, 1, 1, pixels, difference)
        return behind.work(row, label)

    assert said("Pillow", "equal", 0.0) == "yes"
    assert said("OpenCV", "differs", 31.0) == "mean of an area, by 31"
    assert said("Pillow", "differs", 1.0) == "other rounding, by 1"
    assert said("numpy", "differs", 9.0) == "other pixels, by 9"
    assert said("numpy", "differs", math.inf) == "other pixels, another shape"
    row.views.add("numpy")
    assert said("numpy", "equal", 0.0) == "a view"


def test_behind_is_what_was_so_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three rows of which one is faster, one slower once, and one slower twice."""
    names = [case.name for case in single.OPERATIONS[:3]]
    ratios = {names[0]: [1.2], names[1]: [0.9, 1.0], names[2]: [0.9, 0.8]}
    times = Times(1, 1, 1, 1, 1, 1, "equal", 0.0)

    def measure(case: single.Single, *rest: object) -> Row:
        medians = {"torchvision": np.full(9, ratios[case.name].pop(0)), "fastaug": np.ones(9)}
        return Row(case, 9, 1, {"torchvision": times, "fastaug": times}, medians=medians)

    monkeypatch.setattr(behind, "measure", measure)
    monkeypatch.setattr(behind, "bag_file", lambda name, folder: folder)
    rows, _ = behind.run(list(single.OPERATIONS[:3]), behind.columns(None, peers=False)[:2], 0.1)
    assert [row.more["behind"] for row in rows] == [False, False, True]
    assert [row.more["range"][0] for row in rows] == [1.2, 1.0, 0.8]
    assert behind.summary(rows)[0] == "Behind torchvision: 1 of 3 rows."
    assert behind.summary(rows)[1].startswith(names[2])


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
