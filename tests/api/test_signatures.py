"""Names, arguments, defaults, reprs and attributes are torchvision's."""

from __future__ import annotations

import enum
import importlib
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torchvision.transforms as TV
import torchvision.transforms.functional as TVF
from PIL import Image

import fastaug
import fastaug.transforms as T
import fastaug.transforms.functional as F
from support.differences import each, grouped
from support.images import pil, to_chw
from support.outcomes import assert_same, run, snapshot
from support.own_names import own_names, unannounced
from support.scale import cases
from tables.calls import FUNCTIONAL, PIL_FUNCTIONAL, TENSOR_FUNCTIONAL
from tables.cases import ALL_CASES


def public(module: Any, kind: Callable[[Any], bool]) -> tuple[str, ...]:
    """The names that torchvision defines itself, not what it imports for its own use."""
    return tuple(
        sorted(
            name
            for name, value in vars(module).items()
            if not name.startswith("_") and kind(value) and value.__module__.startswith("torchvision.transforms")
        )
    )


CLASSES = tuple(name for name in public(TV, inspect.isclass) if not issubclass(getattr(TV, name), enum.Enum))
ENUMS = tuple(name for name in public(TV, inspect.isclass) if issubclass(getattr(TV, name), enum.Enum))
FUNCTIONS = public(TVF, inspect.isfunction)


def plain(value: Any) -> Any:
    """A default or attribute without the identity of its package's enum."""
    if isinstance(value, enum.Enum):
        return (type(value).__name__, value.name, value.value)
    if isinstance(value, (torch.Tensor, np.ndarray)):
        return snapshot(value)
    if isinstance(value, (list, tuple)) and value and callable(value[0]):
        return [repr(item) for item in value]
    return value


def parameters(function: Any) -> list[tuple[str, Any, Any]]:
    return [(p.name, p.kind, plain(p.default)) for p in inspect.signature(function).parameters.values()]


#: Arguments that torchvision does not have, by class.
FURTHER = {"Compose": ["mode", "arithmetic"]}


def test_torchvision_has_what_it_is_said_to_have() -> None:
    """The lists above are derived; this keeps them from becoming empty."""
    assert len(CLASSES) >= 39 and "ElasticTransform" in CLASSES
    assert ENUMS == ("AutoAugmentPolicy", "InterpolationMode")
    assert len(FUNCTIONS) >= 36 and "elastic_transform" in FUNCTIONS


def test_every_public_name_is_there() -> None:
    assert {*CLASSES, *ENUMS} - set(T.__all__) == set()
    assert {*FUNCTIONS, "InterpolationMode", "pil_modes_mapping"} - set(F.__all__) == set()
    assert T.functional is F
    assert fastaug.transforms is T


def test_public_names_of_its_own_are_in_the_changelog() -> None:
    assert "Decode" in own_names(T, TV)
    assert unannounced(T, TV) == unannounced(F, TVF) == set()


@each("name", CLASSES, whole=True)
def test_class(name: str) -> None:
    ours, theirs = getattr(T, name), getattr(TV, name)
    assert ours.__name__ == ours.__qualname__ == name
    assert [entry for entry in parameters(ours) if entry[0] not in FURTHER.get(name, ())] == parameters(theirs)
    assert issubclass(ours, torch.nn.Module) == issubclass(theirs, torch.nn.Module)
    assert hasattr(ours, "get_params") == hasattr(theirs, "get_params")
    if hasattr(theirs, "get_params"):
        assert parameters(ours.get_params) == parameters(theirs.get_params)
    for method in ("forward", "__call__"):
        if method in vars(theirs):
            assert parameters(getattr(ours, method)) == parameters(getattr(theirs, method))
    assert ours.__doc__
    assert ours.__module__.startswith("fastaug")


def test_further_arguments_are_optional_and_last() -> None:
    for name, further in FURTHER.items():
        last = list(inspect.signature(getattr(T, name)).parameters.values())[-len(further) :]
        assert [argument.name for argument in last] == further
        assert all(argument.default is not inspect.Parameter.empty for argument in last)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(name: str) -> None:
    assert parameters(getattr(F, name)) == parameters(getattr(TVF, name))
    assert getattr(F, name).__doc__


@pytest.mark.parametrize("name", ENUMS)
def test_enum(name: str) -> None:
    ours, theirs = getattr(T, name), getattr(TV, name)
    assert [(m.name, m.value) for m in ours] == [(m.name, m.value) for m in theirs]
    assert [str(m) for m in ours] == [str(m) for m in theirs]


def test_interpolation_mode() -> None:
    assert F.InterpolationMode is T.InterpolationMode
    assert {m.name: n for m, n in F.pil_modes_mapping.items()} == {m.name: n for m, n in TVF.pil_modes_mapping.items()}


def test_torchvision_enum_is_understood() -> None:
    image = pil("RGB", 30, 40)
    for mode in TV.InterpolationMode:
        ours, theirs = T.Resize((20, 21), interpolation=mode), TV.Resize((20, 21), interpolation=mode)
        assert snapshot(ours(image)) == snapshot(theirs(image))
        assert repr(ours) == repr(theirs)
    for mode in (TV.InterpolationMode.BILINEAR, Image.Resampling.BILINEAR, 2):
        assert snapshot(F.rotate(image, 20, mode)) == snapshot(TVF.rotate(image, 20, TV.InterpolationMode.BILINEAR))


def test_torchvision_policy_is_understood() -> None:
    image = pil("RGB", 30, 40)
    for policy in TV.AutoAugmentPolicy:
        ours, theirs = T.AutoAugment(policy), TV.AutoAugment(policy)
        assert repr(ours) == repr(theirs)
        for seed in range(5):
            assert_same(run(ours, image, seed), run(theirs, image, seed))


@each("name", CLASSES)
def test_every_class_has_cases(name: str) -> None:
    """What has no row in `cases` is not tested."""
    made = {type(make(TV)).__name__ for make in ALL_CASES.values()}
    assert name in made or name == "Lambda"


@each("name", FUNCTIONS)
def test_every_function_is_called(name: str) -> None:
    """By a row of `calls`, or by a test of conversions."""
    called = {row.split()[0] for row in (*FUNCTIONAL, *PIL_FUNCTIONAL, *TENSOR_FUNCTIONAL)}
    assert name in called or name in ("convert_image_dtype", "normalize", "to_pil_image")


def state_of(module: torch.nn.Module) -> list[Any]:
    return [
        [(key, snapshot(value)) for key, value in module.state_dict().items()],
        [(key, snapshot(value)) for key, value in module.named_buffers()],
        [key for key, _ in module.named_parameters()],
        [(key, type(child).__name__) for key, child in module.named_modules()],
        module.training,
    ]


@each("name", ALL_CASES, whole=True)
def test_module_state(name: str) -> None:
    ours, theirs = ALL_CASES[name](T), ALL_CASES[name](TV)
    assert isinstance(ours, torch.nn.Module) == isinstance(theirs, torch.nn.Module)
    if isinstance(theirs, torch.nn.Module):
        assert state_of(ours) == state_of(theirs)
        assert ours.load_state_dict(theirs.state_dict()).missing_keys == []
        assert ours.to(torch.float64) is ours


@each("name", ALL_CASES, whole=True)
def test_repr(name: str) -> None:
    assert repr(ALL_CASES[name](T)).replace("fastaug.", "torchvision.") == repr(ALL_CASES[name](TV))


@each("name", ALL_CASES, whole=True)
def test_attributes(name: str) -> None:
    ours, theirs = ALL_CASES[name](T), ALL_CASES[name](TV)
    for attribute, value in vars(theirs).items():
        if not attribute.startswith("_"):
            assert plain(getattr(ours, attribute)) == plain(value), attribute
            assert type(getattr(ours, attribute)).__name__ == type(value).__name__, attribute


def test_no_extra_public_attributes() -> None:
    for name, make in ALL_CASES.items():
        ours, theirs = make(T), make(TV)
        extra = {attribute for attribute in vars(ours) if not attribute.startswith("_")} - set(vars(theirs))
        assert not extra, (name, extra)


GET_PARAMS = {
    "RandomCrop": lambda package, image: package.RandomCrop.get_params(image, (11, 13)),
    "RandomCrop whole": lambda package, image: package.RandomCrop.get_params(image, (33, 57)),
    "RandomResizedCrop": lambda package, image: package.RandomResizedCrop.get_params(image, (0.1, 1.3), (0.5, 2.0)),
    "RandomResizedCrop wide": lambda package, image: package.RandomResizedCrop.get_params(
        image, [0.9, 1.0], [3.0, 4.0]
    ),
    "RandomResizedCrop tall": lambda package, image: package.RandomResizedCrop.get_params(
        image, [0.9, 1.0], [0.1, 0.2]
    ),
    "RandomResizedCrop impossible": lambda package, image: package.RandomResizedCrop.get_params(
        image, [3, 4], [0.5, 2.0]
    ),
    "ColorJitter": lambda package, image: package.ColorJitter.get_params([0.1, 2], (0.5, 0.6), [1, 1], [-0.5, 0.5]),
    "ColorJitter some": lambda package, image: package.ColorJitter.get_params(None, (0.5, 0.6), None, [-0.5, 0.5]),
    "RandomRotation": lambda package, image: package.RandomRotation.get_params([-30.0, 200.0]),
    "RandomAffine": lambda package, image: package.RandomAffine.get_params(
        [-30.0, 200.0], (0.1, 0.4), [0.5, 2.0], [-10.0, 10.0, 5.0, 6.0], package.functional.get_image_size(image)
    ),
    "RandomAffine shear x": lambda package, image: package.RandomAffine.get_params(
        (0.0, 0.0), [1.0, 0.0], None, (-10.0, 10.0), [100, 7]
    ),
    "RandomAffine angle": lambda package, image: package.RandomAffine.get_params([-1.0, 2.0], None, None, None, [9, 9]),
    "RandomAffine scale": lambda package, image: package.RandomAffine.get_params(
        [-1.0, 2.0], None, (0.3, 0.4), None, [9, 9]
    ),
    "RandomPerspective": lambda package, image: package.RandomPerspective.get_params(57, 33, 0.6),
    "RandomPerspective whole": lambda package, image: package.RandomPerspective.get_params(1, 2, 1.0),
    "RandomPerspective still": lambda package, image: package.RandomPerspective.get_params(40, 50, 0.0),
    "RandomErasing": lambda package, image: package.RandomErasing.get_params(
        chw(image), (0.02, 0.33), (0.3, 3.3), [0.0]
    ),
    "RandomErasing random": lambda package, image: package.RandomErasing.get_params(
        chw(image), [0.1, 0.9], [0.1, 9], None
    ),
    "RandomErasing list": lambda package, image: package.RandomErasing.get_params(
        chw(image), (0.1, 0.1), (1.0, 1.0), value=[0.25]
    ),
    "RandomErasing hopeless": lambda package, image: package.RandomErasing.get_params(
        chw(image), (1.0, 1.0), (1.0, 1.0)
    ),
    "GaussianBlur": lambda package, image: package.GaussianBlur.get_params(0.1, 2.0),
    "ElasticTransform": lambda package, image: package.ElasticTransform.get_params([50.0, 3.0], [2.0, 1.0], [33, 57]),
    "ElasticTransform small": lambda package, image: package.ElasticTransform.get_params(
        [9.0, 9.0], [0.2, 0.2], [7, 5]
    ),
    "ElasticTransform rough": lambda package, image: package.ElasticTransform.get_params(
        [9.0, 3.0], [0.0, 0.0], [40, 7]
    ),
    "AutoAugment": lambda package, image: package.AutoAugment.get_params(25),
    "AutoAugment few": lambda package, image: package.AutoAugment.get_params(transform_num=3),
}


def chw(image: Any) -> torch.Tensor:
    return image if isinstance(image, torch.Tensor) else to_chw(image)


def test_get_params_of_every_class_is_called() -> None:
    having = {name for name in CLASSES if hasattr(getattr(TV, name), "get_params")}
    assert having == {name.split()[0] for name in GET_PARAMS}


@grouped(GET_PARAMS)
def test_get_params(name: str) -> None:
    for image in (pil("RGB", 33, 57), torch.zeros(3, 33, 57, dtype=torch.uint8), torch.zeros(2, 1, 33, 57)):
        for seed in range(cases(50)):
            drawn = []
            for package in (T, TV):
                torch.manual_seed(seed)
                params = GET_PARAMS[name](package, image)
                drawn.append((type(params), snapshot(params), snapshot(torch.get_rng_state())))
            assert drawn[0] == drawn[1]


def test_version_and_isa() -> None:
    assert fastaug.__version__
    assert fastaug.isa() in ("scalar", "sse4", "avx2", "avx512", "avx512vbmi", "neon")
    assert "transforms" in dir(fastaug)
    with pytest.raises(AttributeError, match="no attribute 'bogus'"):
        _ = fastaug.bogus


@pytest.mark.parametrize("name", ["transforms", "autoaugment"])
def test_submodule(name: str) -> None:
    """torchvision's own file names, which some code imports from."""
    ours, theirs = importlib.import_module(f"fastaug.transforms.{name}"), getattr(TV, name)
    for attribute in theirs.__all__:
        assert getattr(ours, attribute) is getattr(T, attribute)
