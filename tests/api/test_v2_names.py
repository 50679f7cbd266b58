"""Names, signatures and hooks of transforms.v2 are those of the torchvision that is installed."""

from __future__ import annotations

import enum
import inspect
import json
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import PIL.Image
import pytest
import torch
from torchvision import tv_tensors as tvt
from torchvision.transforms import v2 as TV

import fastaug.transforms.v2 as T
from fastaug import tv_tensors
from support.differences import each
from support.own_names import unannounced
from support.processes import python

F, TF = T.functional, TV.functional


def public(module: Any) -> tuple[str, ...]:
    """Names without an underscore, but for modules."""
    return tuple(sorted(name for name in dir(module) if name[0] != "_" and not inspect.ismodule(getattr(module, name))))


def of_kind(module: Any, kind: Callable[[Any], bool]) -> tuple[str, ...]:
    return tuple(name for name in public(module) if kind(getattr(module, name)))


def is_enum(value: Any) -> bool:
    return inspect.isclass(value) and issubclass(value, enum.Enum)


CLASSES = of_kind(TV, lambda value: inspect.isclass(value) and issubclass(value, torch.nn.Module))
HELPERS = of_kind(TV, inspect.isfunction)
FUNCTIONS = of_kind(TF, inspect.isfunction)
HOOKS = ("check_inputs", "make_params", "transform", "forward", "_call_kernel", "extra_repr", "get_params")
#: Arguments that torchvision does not have, by class.
FURTHER = {"Compose": ("mode", "arithmetic")}


def test_torchvision_has_what_it_is_said_to_have() -> None:
    """The lists above are derived; this keeps them from becoming empty."""
    assert (len(public(TV)), len(CLASSES), len(HELPERS)) == (72, 63, 7)
    assert (len(public(TF)), len(FUNCTIONS)) == (165, 164)
    assert len(public(tvt)) == 10
    assert of_kind(TV, is_enum) == ("AutoAugmentPolicy", "InterpolationMode")


@pytest.mark.parametrize(
    ("ours", "theirs"), [(T, TV), (F, TF), (tv_tensors, tvt)], ids=["transforms.v2", "functional", "tv_tensors"]
)
def test_every_public_name_is_there(ours: Any, theirs: Any) -> None:
    assert [name for name in public(theirs) if not hasattr(ours, name)] == []
    assert [name for name in public(theirs) if name not in dir(ours)] == []
    assert unannounced(ours, theirs) == set()


def test_modules() -> None:
    assert T.functional is F
    assert T.__name__ == "fastaug.transforms.v2"
    for name in ("_utils", "functional"):
        assert inspect.ismodule(getattr(T, name)), name
    for name in ("_augment", "_color", "_geometry", "_meta", "_misc", "_temporal", "_type_conversion", "_utils"):
        assert inspect.ismodule(getattr(F, name)), name


@pytest.mark.parametrize(
    "name",
    [
        *("_utils.check_type", "_utils.is_pure_tensor", "_utils._find_labels_default_heuristic"),
        *("_utils._parse_labels_getter", "_utils._get_fill", "_utils._setup_fill_arg", "_utils.query_size"),
        *("functional._geometry._parse_pad_padding", "functional._utils._KERNEL_REGISTRY"),
        *("functional._utils._get_kernel", "functional._utils.is_pure_tensor", "functional.register_kernel"),
        *("Transform._call_kernel", "Transform._needs_transform_list", "Transform._transformed_types"),
        *("Transform._v1_transform_cls", "AutoAugment._apply_image_or_video_transform"),
    ],
)
def test_private_names_that_users_reach(name: str) -> None:
    for package in (T, TV):
        value: Any = package
        for part in name.split("."):
            assert hasattr(value, part), (package.__name__, name)
            value = getattr(value, part)


# ---- signatures


def shown(value: Any) -> str:
    """A default without the identity of its package's enum.

    There are no formats of boxes before somebody asks for tv_tensors: their names stand for them.
    """
    return repr(value.name if isinstance(value, tv_tensors.BoundingBoxFormat) else value)


def parameters(function: Any) -> list[tuple[str, Any, str]]:
    return [(one.name, one.kind, shown(one.default)) for one in inspect.signature(function).parameters.values()]


@each("name", CLASSES, whole=True)
def test_arguments_of_classes(name: str) -> None:
    ours = [one for one in parameters(getattr(T, name)) if one[0] not in FURTHER.get(name, ())]
    assert ours == parameters(getattr(TV, name))


@each("name", FUNCTIONS, whole=True)
def test_arguments_of_functions(name: str) -> None:
    assert parameters(getattr(F, name)) == parameters(getattr(TF, name))
    assert getattr(F, name).__name__ == getattr(TF, name).__name__
    assert getattr(F, name).__module__.startswith("fastaug.transforms.")


@each("name", HELPERS, whole=True)
def test_arguments_of_helpers(name: str) -> None:
    assert parameters(getattr(T, name)) == parameters(getattr(TV, name))


def test_aliases_are_the_functions_they_name() -> None:
    for name in FUNCTIONS:
        own = getattr(TF, name).__name__
        if own != name:
            assert getattr(F, name) is getattr(F, own)


def test_enums() -> None:
    for name in of_kind(TV, is_enum):
        ours, theirs = getattr(T, name), getattr(TV, name)
        assert [(one.name, one.value) for one in ours] == [(one.name, one.value) for one in theirs]
    assert F.InterpolationMode is T.InterpolationMode


# ---- classes


@each("name", CLASSES, whole=True)
def test_bases(name: str) -> None:
    ours, theirs = getattr(T, name), getattr(TV, name)
    assert ours.__name__ == name and ours.__qualname__ == theirs.__qualname__
    assert issubclass(ours, torch.nn.Module)
    known = [base.__name__ for base in theirs.__mro__ if base.__name__ in public(TV)]
    assert [base.__name__ for base in ours.__mro__ if base.__name__ in known] == known


@each("name", CLASSES, whole=True)
def test_v1_class(name: str) -> None:
    ours, theirs = (getattr(package, name)._v1_transform_cls for package in (T, TV))
    assert getattr(ours, "__name__", None) == getattr(theirs, "__name__", None)


def type_names(cls: type) -> list[str]:
    return [getattr(one, "__name__", repr(one)) for one in cls._transformed_types]  # type: ignore[attr-defined]


@each("name", CLASSES, whole=True)
def test_transformed_types(name: str) -> None:
    assert type_names(getattr(T, name)) == type_names(getattr(TV, name))


@each("name", CLASSES, whole=True)
def test_what_is_transformed(name: str) -> None:
    """Of each kind of leaf alone, and of a pure tensor behind an image."""
    leaves = [
        torch.zeros(3, 4, 4),
        tvt.Image(torch.zeros(3, 4, 4)),
        tvt.Video(torch.zeros(1, 3, 4, 4)),
        tvt.Mask(torch.zeros(4, 4)),
        tvt.BoundingBoxes(torch.zeros(1, 4), format="XYXY", canvas_size=(4, 4)),
        tvt.KeyPoints(torch.zeros(1, 2), canvas_size=(4, 4)),
        torch.zeros(1).as_subclass(tvt.TVTensor),
        PIL.Image.new("RGB", (4, 4)),
        np.zeros((4, 4, 3)),
        *("text", 3, None),
    ]
    for sample in ([leaf] for leaf in leaves):
        kept = [type_list(package, name, sample) for package in (T, TV)]
        assert kept[0] == kept[1], type(sample[0])
    assert type_list(T, name, leaves[:2]) == type_list(TV, name, leaves[:2])
    assert type_list(T, name, [leaves[0]] * 2) == type_list(TV, name, [leaves[0]] * 2)


def type_list(package: Any, name: str, sample: list[Any]) -> list[bool]:
    return list(instance(package, name)._needs_transform_list(sample))


#: What the arguments without a default get.
REQUIRED: dict[str, Any] = {
    "size": 4,
    "kernel_size": 3,
    "quality": 50,
    "transforms": [abs],
    "lambd": abs,
    "mean": [0.5],
    "std": [0.25],
    "transformation_matrix": torch.eye(3),
    "mean_vector": torch.zeros(3),
    "padding": 1,
    "degrees": 3,
    "bits": 2,
    "threshold": 10,
    "sharpness_factor": 2.0,
    "min_size": 8,
    "max_size": 9,
    "target_size": (8, 8),
    "num_samples": 2,
    "format": "XYWH",
    "clamping_mode": "hard",
    "dtype": torch.float32,
}


def instance(package: Any, name: str) -> Any:
    cls = getattr(package, name)
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    needed = [
        one.name
        for one in inspect.signature(getattr(TV, name)).parameters.values()
        if one.default is one.empty and one.kind not in variable
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ToTensor is deprecated
        return cls(**{one: REQUIRED[one] for one in needed})


@each("name", CLASSES, whole=True)
def test_attributes(name: str) -> None:
    """What users find in `vars`, and what scripting hands on to the class of v1."""
    ours, theirs = instance(T, name), instance(TV, name)
    assert plain_attributes(vars(ours)).items() >= plain_attributes(vars(theirs)).items()
    assert repr(ours) == repr(theirs)
    assert ours.training is theirs.training is True
    if theirs._v1_transform_cls is not None:
        given, wanted = (one._extract_params_for_v1_transform() for one in (ours, theirs))
        assert plain_attributes(given) == plain_attributes(wanted)


def plain_attributes(values: dict[str, Any]) -> dict[str, str]:
    return {name: shown(value) for name, value in values.items() if not name.startswith("_")}


@each("name", CLASSES, whole=True)
def test_hooks(name: str) -> None:
    """A class has its own of each method that torchvision's class has its own of, since users call `super()`'s."""
    ours, theirs = getattr(T, name), getattr(TV, name)
    for hook in HOOKS:
        assert hasattr(ours, hook) == hasattr(theirs, hook), hook
        if hasattr(theirs, hook):
            # Somewhere below the base class in both, or in neither.
            below = [any(hook in vars(one) for one in cls.__mro__[: base(cls)]) for cls in (ours, theirs)]
            assert below[0] or not below[1], hook
            assert parameters(getattr(ours, hook)) == parameters(getattr(theirs, hook)), hook


def base(cls: type) -> int:
    """Where Transform is among the classes that a class is made of."""
    return next(index for index, one in enumerate(cls.__mro__) if one.__name__ == "Transform")


@pytest.mark.parametrize("name", [name for name in CLASSES if hasattr(getattr(TV, name), "get_params")])
def test_get_params_is_a_static_method(name: str) -> None:
    ours, theirs = getattr(T, name), getattr(TV, name)
    assert inspect.isfunction(ours.get_params) and inspect.isfunction(theirs.get_params)
    below = type("Below", (ours,), {})
    assert parameters(below.get_params) == parameters(theirs.get_params)


# ---- the registry of kernels


def named(kernels: dict[Any, Any]) -> set[str]:
    """The types that have a kernel, PIL's Image told from the tensor of the same name."""
    return {f"{one.__module__.partition('.')[0].replace('fastaug', 'torchvision')}.{one.__name__}" for one in kernels}


@each("name", sorted({one.__name__ for one in TF._utils._KERNEL_REGISTRY}))
def test_kernels(name: str) -> None:
    theirs = named(TF._utils._KERNEL_REGISTRY[getattr(TF, name)])
    for kind in (tvt.Image, tvt.Video, tvt.Mask, tvt.BoundingBoxes, tvt.KeyPoints, torch.Tensor, PIL.Image.Image):
        found = []
        for package in (T, TV):
            functions = package.functional
            try:
                functions._utils._get_kernel(getattr(functions, name), kind)
                found.append(True)
            except TypeError:
                found.append(False)
        assert found[0] == found[1], (name, kind, theirs)
    assert theirs <= named(F._utils._KERNEL_REGISTRY[getattr(F, name)])


# ---- fresh processes

LEAN = """
import json, sys
import fastaug.transforms.v2
from fastaug.transforms import v2
from fastaug.transforms.v2 import functional
import PIL.Image, torch
made = v2.Compose([v2.RandomResizedCrop(8), v2.RandomHorizontalFlip(), v2.RandomApply([v2.ColorJitter(0.4)]),
                   v2.PILToTensor(), v2.ToDtype(torch.float32, scale=True), v2.Normalize([0.5] * 3, [0.5] * 3)])
result = made(PIL.Image.new("RGB", (20, 30)))
result = v2.Compose([v2.Resize(9), v2.CenterCrop(8)])(torch.zeros(3, 20, 30, dtype=torch.uint8))
repr(made)
print(json.dumps(sorted(name for name in sys.modules if name.split(".")[0] == "torchvision")))
"""


def test_no_torchvision_without_tv_tensors() -> None:
    """Importing it, and transforming PIL images and tensors, imports nothing of torchvision."""
    result = python(["-c", LEAN], lean=True)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout) == []


def test_without_torchvision() -> None:
    """Where torchvision is not installed it works with fastaug's own tv_tensors."""
    code = """
import support.without_torchvision
import torch
from fastaug import tv_tensors
from fastaug.transforms import v2
image = tv_tensors.Image(torch.zeros(3, 20, 30, dtype=torch.uint8))
boxes = tv_tensors.BoundingBoxes([[1.0, 2, 10, 12]], format="XYXY", canvas_size=(20, 30))
image, boxes = v2.RandomHorizontalFlip(1.0)(v2.ToImage()(image), boxes)
print(type(image).__module__.partition(".")[0], boxes.tolist(), v2.RandomCrop(5)(image, boxes)[1].canvas_size)
"""
    result = python(["-c", code], lean=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout.split(maxsplit=1)[1].strip() == "[[20.0, 2.0, 29.0, 12.0]] (5, 5)"
    assert result.stdout.split()[0] == "fastaug"
