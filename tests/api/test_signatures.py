"""Names, arguments, defaults, reprs and attributes are torchvision's."""

from __future__ import annotations

import enum
import inspect
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
from cases import ALL_CASES
from images import pil
from outcomes import snapshot

CLASSES = (
    *("Compose", "ToPILImage", "PILToTensor", "ToTensor", "Normalize", "ConvertImageDtype", "Resize", "CenterCrop"),
    *("RandomCrop", "RandomResizedCrop", "Pad", "RandomHorizontalFlip", "RandomVerticalFlip", "RandomRotation"),
    *("ColorJitter", "Grayscale", "RandomGrayscale", "Lambda", "RandomApply", "RandomChoice", "RandomOrder"),
)
FUNCTIONS = (
    *(
        "to_tensor",
        "pil_to_tensor",
        "to_pil_image",
        "normalize",
        "convert_image_dtype",
        "resize",
        "crop",
        "center_crop",
    ),
    *("resized_crop", "pad", "hflip", "vflip", "rotate", "adjust_brightness", "adjust_contrast", "adjust_saturation"),
    *("adjust_hue", "to_grayscale", "rgb_to_grayscale", "get_dimensions", "get_image_size", "get_image_num_channels"),
)


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


def test_every_promised_name_is_there() -> None:
    assert set(CLASSES) <= set(T.__all__)
    assert set(FUNCTIONS) <= set(F.__all__)
    assert T.functional is F
    assert fastaug.transforms is T


def test_no_public_name_of_its_own() -> None:
    assert {name for name in T.__all__ if not hasattr(TV, name)} == set()
    assert {name for name in F.__all__ if not hasattr(TVF, name)} == set()


@pytest.mark.parametrize("name", CLASSES)
def test_class(name: str) -> None:
    ours, theirs = getattr(T, name), getattr(TV, name)
    assert ours.__name__ == name
    assert parameters(ours) == parameters(theirs)
    assert issubclass(ours, torch.nn.Module) == issubclass(theirs, torch.nn.Module)
    assert hasattr(ours, "get_params") == hasattr(theirs, "get_params")
    if hasattr(theirs, "get_params"):
        assert parameters(ours.get_params) == parameters(theirs.get_params)
    if hasattr(theirs, "forward"):
        assert parameters(ours.forward) == parameters(theirs.forward)
    assert ours.__doc__
    assert ours.__module__.startswith("fastaug")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(name: str) -> None:
    assert parameters(getattr(F, name)) == parameters(getattr(TVF, name))
    assert getattr(F, name).__doc__


def test_interpolation_mode() -> None:
    assert [(m.name, m.value) for m in T.InterpolationMode] == [(m.name, m.value) for m in TV.InterpolationMode]
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


@pytest.mark.parametrize("name", ALL_CASES)
def test_repr(name: str) -> None:
    assert repr(ALL_CASES[name](T)).replace("fastaug.", "torchvision.") == repr(ALL_CASES[name](TV))


@pytest.mark.parametrize("name", ALL_CASES)
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
}


@pytest.mark.parametrize("name", GET_PARAMS)
def test_get_params(name: str) -> None:
    for image in (pil("RGB", 33, 57), torch.zeros(3, 33, 57, dtype=torch.uint8), torch.zeros(2, 1, 33, 57)):
        for seed in range(50):
            drawn = []
            for package in (T, TV):
                torch.manual_seed(seed)
                params = GET_PARAMS[name](package, image)
                drawn.append((type(params), snapshot(params), torch.get_rng_state().tolist()))
            assert drawn[0] == drawn[1]


def test_version_and_isa() -> None:
    assert fastaug.__version__
    assert fastaug.isa() in ("scalar", "sse4", "avx2", "avx512", "neon")
    assert "transforms" in dir(fastaug)
    with pytest.raises(AttributeError, match="no attribute 'bogus'"):
        _ = fastaug.bogus
