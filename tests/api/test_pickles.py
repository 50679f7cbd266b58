"""Pickles name public modules, those of earlier versions can be read, and a call does not change them."""

from __future__ import annotations

import copy
import inspect
import pickle
import pickletools
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torchvision.transforms as TV

import fastaug
import fastaug.io
import fastaug.transforms as T
import fastaug.transforms.functional as F
from support.differences import each, grouped
from support.images import noise, pil
from support.outcomes import assert_same, run, snapshot
from support.processes import python
from tables.cases import ALL_CASES, OTHER_CASES
from tables.pickled import NAMED, made

FILES = sorted((Path(__file__).parent / "pickles").glob("*.pickle"))
OBJECTS = made(fastaug, T, F)
TRANSFORMS = {name: value for name, value in OBJECTS.items() if callable(value)}


def image_for(name: str) -> Any:
    if name in OTHER_CASES or name in ("ConvertImageDtype", "LinearTransformation", "Normalize", "RandomErasing"):
        if name == "LinearTransformation":
            return torch.linspace(0, 1, 12).view(3, 2, 2)
        return noise(40, 50) if name.startswith("ToPIL") else torch.linspace(0, 1, 6000).view(3, 40, 50)
    if name == "Decode":
        return b"P6 2 1 255 abcdef"
    return noise(20, 21) if name == "ToPILImage" else pil("RGB", 64, 71)


# ---- names


def modules_in(pickled: bytes) -> set[str]:
    """The modules of this package that are named."""
    words = [argument for _, argument, _ in pickletools.genops(pickled) if isinstance(argument, str)]
    return {word.split(" ")[0] for word in words if word.split(" ")[0].split(".")[0] == "fastaug"}


def test_public_names() -> None:
    for value in (fastaug.Compiled, fastaug.DecodeError, fastaug.Views, *(getattr(T, name) for name in T.__all__)):
        if inspect.isclass(value):
            assert value.__module__ in ("fastaug", "fastaug.transforms"), value
            assert pickle.loads(pickle.dumps(value)) is value
    for name in F.__all__:
        value = getattr(F, name)
        if inspect.isfunction(value):
            assert value.__module__ == "fastaug.transforms.functional"
            assert inspect.getsource(value).startswith(f"def {name}(")
            assert pickle.loads(pickle.dumps(value)) is value
    assert repr(T.Resize) == "<class 'fastaug.transforms.Resize'>"
    assert isinstance(fastaug.compile(T.Pad(1)), fastaug.Compiled)
    assert "Compiled" in dir(fastaug)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_name_public_modules(protocol: int) -> None:
    named = modules_in(pickle.dumps(OBJECTS, protocol))
    assert named == {"fastaug", "fastaug.io", "fastaug.transforms", "fastaug.transforms.functional"}


def test_subclasses_keep_their_own_module() -> None:
    class Mine(T.Resize):
        pass

    assert Mine.__module__ == __name__


# ---- earlier versions


@pytest.mark.parametrize("module", NAMED)
def test_names_of_earlier_versions(module: str) -> None:
    public = {**vars(fastaug.io), **vars(F), **vars(T), "Compiled": fastaug.Compiled}
    for name in NAMED[module].split():
        assert pickle.loads(f"c{module}\n{name}\n.".encode()) is public[name]


def test_other_names_are_not_there() -> None:
    with pytest.raises(AttributeError, match="Mode"):
        pickle.loads(b"cfastaug._interpolation\nMode\n.")
    with pytest.raises(ModuleNotFoundError):
        pickle.loads(b"cfastaug._never\nMode\n.")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_pickles_of_earlier_versions(file: Path) -> None:
    loaded = pickle.loads(file.read_bytes())
    assert loaded.keys() == OBJECTS.keys()
    for name, expected in OBJECTS.items():
        read = loaded[name]
        assert type(read) is type(expected), name
        if isinstance(read, partial):
            assert (read.func, read.args, read.keywords) == (expected.func, expected.args, expected.keywords)
        else:
            assert repr(read).partition(" at 0x")[0] == repr(expected).partition(" at 0x")[0], name
    for name in ("policies", "modes"):
        assert loaded[name] == OBJECTS[name]
    assert snapshot(loaded["handle"].load()) == snapshot(OBJECTS["handle"].load())


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_transforms_of_earlier_versions(file: Path) -> None:
    loaded, fresh = pickle.loads(file.read_bytes()), made(fastaug, T, F)
    for name in TRANSFORMS:
        if name != "function of classes":
            for seed in range(2):
                expected = run(fresh[name], image_for(name), seed)
                assert expected.error is None, (name, expected.error)
                assert_same(run(loaded[name], image_for(name), seed), expected)


def test_the_first_import_is_unpickling() -> None:
    """A process that has not imported the package reads them too, and imports it only then."""
    code = f"import pickle; print(sorted(pickle.loads(open({str(FILES[-1])!r}, 'rb').read()))[0])"
    result = python(["-W", "error", "-c", code])
    assert (result.returncode, result.stdout.strip()) == (0, sorted(OBJECTS)[0]), result.stderr


# ---- calls


@grouped(ALL_CASES)
def test_a_call_does_not_change_the_pickle(name: str) -> None:
    """Caches of datasets go by it."""
    make = ALL_CASES[name]
    chain = [make(T)] if name in OTHER_CASES else [make(T), T.RandomHorizontalFlip()]
    for transform in (make(T), T.Compose(chain), fastaug.compile(T.Compose(chain))):
        before, attributes = pickle.dumps(transform), set(vars(transform))
        for seed in range(3):
            run(transform, image_for(name), seed, untouched=True)
        assert pickle.dumps(transform) == before
        assert set(vars(transform)) == attributes


def test_other_ways_to_call_do_not_change_the_pickle() -> None:
    pipeline = T.Compose(
        [T.RandomResizedCrop(12), T.ToTensor(), T.Normalize([0.5], [0.25]), T.RandomErasing(1.0, value="random")]
    )
    before = pickle.dumps(pipeline)
    for image in (pil("RGB", 30, 31), pil("L", 30, 31), noise(30, 31)):
        pipeline(image)
        pipeline.replay(image, pipeline.sample(image))
    pipeline.explain(30)
    assert pickle.dumps(pipeline) == before


@each("name", ALL_CASES, whole=True)
def test_attributes(name: str) -> None:
    """Those of torchvision's object, and no others, before and after calls and copies."""
    ours, theirs = ALL_CASES[name](T), ALL_CASES[name](TV)
    run(ours, image_for(name), untouched=True)
    for transform in (ours, copy.copy(ours), copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))):
        assert set(vars(transform)) == set(vars(theirs))


def test_caches_are_right_for_each_dtype_and_argument() -> None:
    """What is not kept in the object is looked up by all that it depends on."""
    image = np.asarray(pil("RGB", 40, 50))
    for dtype in (torch.float64, torch.float32):
        torch.set_default_dtype(dtype)
        try:
            for ratio in ((0.7, 1.4), [0.7, 1.4], (1, 1.5), torch.Size([1, 2]), (np.float32(0.7), 1.4)):
                for seed in range(3):
                    value = pil("RGB", 40, 50)
                    assert_same(
                        run(T.RandomResizedCrop(9, ratio=ratio), value, seed),
                        run(TV.RandomResizedCrop(9, ratio=ratio), value, seed),
                    )
        finally:
            torch.set_default_dtype(torch.float32)
    steps = [([0.5], [0.25]), (["0.5"], [0.25]), ([True], [1]), ([0.5, 0.5, 0.5], 0.25), ((0.1,), torch.tensor([0.5]))]
    for mean, std in steps:
        ours, theirs = (run(lambda x: p.Compose([p.ToTensor(), p.Normalize(mean, std)])(x), image) for p in (T, TV))  # noqa: B023
        assert_same(ours, theirs)
