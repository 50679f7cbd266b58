"""Functions on small images, many of which Pillow or torch does at once: all that can be seen of a call."""

from __future__ import annotations

import io
import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
import torchvision.transforms.functional as theirs_v1
import torchvision.transforms.v2.functional as theirs_v2
from PIL import Image
from torch.fx.experimental.proxy_tensor import make_fx

import fastaug.transforms.functional as ours_v1
import fastaug.transforms.v2.functional as ours_v2
from bench.functionals import arguments, functions
from fastaug._draft.base import DraftBase
from support.outcomes import Outcome, explain, run, snapshot
from tables.tolerances import FLOAT_TENSOR

PACKAGES = {"v1": (ours_v1, theirs_v1), "v2": (ours_v2, theirs_v2)}
CASES = [(api, name) for api, (ours, _) in PACKAGES.items() for name in functions(ours)]
#: Below and above the limits of what is left to Pillow or torch.
SIZES = (1, 2, 13, 64, 65)
MODES = ("1", "P", "L", "LA", "RGB", "RGBA", "CMYK", "I", "I;16", "F")


class Marked(torch.Tensor):
    """A subclass such as users define."""


def pil(mode: str, size: int) -> Image.Image:
    pixels = np.random.default_rng(size).integers(0, 256, (size, size, 3), np.uint8)
    image = Image.fromarray(pixels[:, :, 0].astype(np.uint16)) if mode == "I;16" else Image.fromarray(pixels)
    image = image if mode == "I;16" else image.convert(mode)
    image.info = {"note": ["kept"], "transparency": (1, 2, 3) if mode == "RGB" else 5}
    return image


def tensors(size: int) -> dict[str, Callable[[], torch.Tensor]]:
    def made(*shape: int) -> torch.Tensor:
        return torch.from_numpy(np.random.default_rng(size).integers(0, 256, shape, np.uint8))

    return {
        "uint8": lambda: made(3, size, size),
        "uint8 of a batch": lambda: made(2, 3, size, size),
        "uint8 of batches": lambda: made(2, 1, 3, size, size),
        "uint8 of pixels": lambda: made(size, size, 3).permute(2, 0, 1),
        "uint8 of a batch of pixels": lambda: made(2, size, size, 3).permute(0, 3, 1, 2),
        "uint8 of a window": lambda: made(3, size + 2, size + 3)[:, 1:-1, 1:-2],
        "uint8 of a plane": lambda: made(size, size),
        "uint8 of gray": lambda: made(1, size, size),
        "uint8 of five channels": lambda: made(5, size, size),
        "uint8 of no rows": lambda: made(3, 0, size),
        "uint8 of a row": lambda: made(size),
        "uint8 of a subclass": lambda: made(3, size, size).as_subclass(Marked),
        "float32": lambda: made(3, size, size) / 255,
        "float32 of a batch of pixels": lambda: (made(2, size, size, 3) / 255).permute(0, 3, 1, 2),
        "float32 that is differentiated": lambda: (made(3, size, size) / 255).requires_grad_(),
        "float64": lambda: made(3, size, size).double() / 255,
        "int16": lambda: made(3, size, size).to(torch.int16),
        "bool": lambda: made(3, size, size) > 99,
    }


def call(package: Any, name: str, size: int, /, **others: Any) -> Callable[[Any], Any]:
    return partial(getattr(package, name), **{**arguments(size).get(name, {}), **others})


def parts(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (tuple, list)) else [value]


def shared(value: Any, given: Any) -> bool:
    """True if a result lies in the memory of the tensor that it was made of."""
    if not (isinstance(value, torch.Tensor) and isinstance(given, torch.Tensor) and value.numel()):
        return False
    return value.untyped_storage().data_ptr() == given.untyped_storage().data_ptr()


def difference(ours: Outcome, theirs: Outcome) -> str:
    if ours.error is not None or theirs.error is not None:
        return "" if type(ours.error) is type(theirs.error) else f"{ours.error!r}, torchvision {theirs.error!r}"
    if [category for category, _ in ours.warned] != [category for category, _ in theirs.warned]:
        return f"warned {ours.warned}, torchvision {theirs.warned}"
    if not torch.equal(ours.torch_state, theirs.torch_state):
        return "another state of the generator"
    if ours.same_object != theirs.same_object:
        return f"the same object: {ours.same_object}, torchvision {theirs.same_object}"
    for one, other in zip(parts(ours.value), parts(theirs.value), strict=True):
        if type(one) is not type(other):
            return explain(one, other)
        if isinstance(other, Image.Image) and one.info != other.info:
            return f"info {one.info}, torchvision {other.info}"
        if isinstance(other, torch.Tensor) and (one.requires_grad, one.is_leaf) != (other.requires_grad, other.is_leaf):
            return "another place in the graph"
        if isinstance(other, torch.Tensor) and other.is_floating_point() and one.shape == other.shape:
            if one.dtype != other.dtype or not torch.allclose(one, other, 0, FLOAT_TENSOR, equal_nan=True):
                return explain(one, other)
        elif snapshot(one) != snapshot(other):
            return explain(one, other)
    return ""


def found_in(api: str, name: str, make: Callable[[], Any], size: int, /, **others: Any) -> str:
    """The difference of two calls, each on an image of its own."""
    outcomes, memory = [], []
    for package in PACKAGES[api]:
        given = make()
        outcomes.append(run(call(package, name, size, **others), given, untouched=True))
        memory.append([shared(one, given) for one in parts(outcomes[-1].value)])
    found = difference(*outcomes)
    return found or ("" if memory[0] == memory[1] else f"shares memory: {memory[0]}, torchvision {memory[1]}")


@pytest.mark.parametrize(("api", "name"), CASES)
def test_pil_images(api: str, name: str) -> None:
    for mode, size in itertools.product(MODES, SIZES):
        assert found_in(api, name, partial(pil, mode, size), size) == "", (mode, size)


#: What differs from torchvision, but no result of an image: the error, and the class of a result.
EXCEPTIONS = {("v2", "erase", "uint8 of a row"), ("v2", "jpeg", "uint8 of a subclass")}


@pytest.mark.parametrize(("api", "name"), CASES)
def test_tensors(api: str, name: str) -> None:
    for size in SIZES:
        for kind, make in tensors(size).items():
            if (api, name, kind) not in EXCEPTIONS:
                assert found_in(api, name, make, size) == "", (kind, size)


#: Other arguments of the functions that are done at once, also wrong ones.
OTHERS: dict[str, list[dict[str, Any]]] = {
    "crop": [
        {"top": -3},
        {"left": 99},
        {"height": 0},
        {"width": -1},
        {"height": 200, "width": 100},
        {"top": 1.5},
        {"top": ""},
    ],
    "center_crop": [
        {"output_size": size} for size in (5, [5], (99, 3), [3, 99], [70, 70], [1, 2, 3], "ab", [1.5, 2], None)
    ],
    "pad": [
        *({"padding": padding} for padding in (2, [2], (1, 2, 3, 4), [1, 2, 3], [-1, 2], -2, 1.5, "1", None, [1.5, 2])),
        *({"fill": fill} for fill in (None, 0.5, [7], [1, 2, 3], (1.5, 2, 3), [1, 2], "red")),
        *({"padding_mode": mode} for mode in ("edge", "reflect", "symmetric", "other", 1)),
    ],
    "resize": [
        *(
            {"size": size}
            for size in (7, [7], (13, 13), (64, 64), [65, 65], (150, 3), [1, 2, 3], [0, 3], -1, "ab", [2.5, 3])
        ),
        *({"size": 7, "max_size": longest} for longest in (9, 7, 3, None)),
        *({"interpolation": mode} for mode in (0, 3, 99)),
        {"antialias": False},
        {"antialias": None},
    ],
    "posterize": [{"bits": bits} for bits in (0, 7, 8, 9, -1, 2.5, True, "3")],
    "solarize": [{"threshold": threshold} for threshold in (0, 1, 128.5, 255, 256, -1, "1")],
    "rgb_to_grayscale": [{"num_output_channels": count} for count in (1, 3, 2, 0, "1")],
    "adjust_brightness": [{"brightness_factor": factor} for factor in (0, 1, 1.0, -1, 3, "1", None)],
    "adjust_saturation": [{"saturation_factor": factor} for factor in (0.0, 1.0, -1)],
    "adjust_hue": [{"hue_factor": factor} for factor in (0, 0.5, 0.6)],
    "adjust_gamma": [{"gamma": gamma} for gamma in (0, 1, -1, "1")] + [{"gain": gain} for gain in (0, 2.5)],
    "adjust_sharpness": [{"sharpness_factor": factor} for factor in (0, 1, -1)],
    "erase": [{"v": 5}, {"v": torch.zeros(2, 9)}, {"inplace": True}, {"i": -3}],
    "normalize": [{"std": [0, 1, 1]}, {"mean": [1, 2]}, {"inplace": True}],
    "to_dtype": [{"dtype": torch.float16}, {"dtype": torch.uint8, "scale": True}, {"dtype": "float"}],
    "gaussian_noise": [{"sigma": -1.0}, {"clip": False}],
    "permute_channels": [{"permutation": [0, 1]}, {"permutation": [0, 1, 1]}, {"permutation": [0, 1, 9]}],
    "five_crop": [{"size": size} for size in (5, [5], [99, 2], [1, 2, 3])],
    "ten_crop": [{"size": 5, "vertical_flip": True}],
}


@pytest.mark.parametrize(("api", "name"), [case for case in CASES if case[1] in OTHERS])
def test_other_arguments(api: str, name: str) -> None:
    for size, others in itertools.product((13, 64, 65), OTHERS[name]):
        kinds = tensors(size)
        images = {mode: partial(pil, mode, size) for mode in ("L", "RGB", "P")}
        images |= {kind: kinds[kind] for kind in ("uint8", "uint8 of pixels", "uint8 of a plane", "float32")}
        for kind, make in images.items():
            assert found_in(api, name, make, size, **others) == "", (kind, size, others)


MOST = ("hflip", "crop", "pad", "resize", "invert", "adjust_brightness", "solarize", "center_crop", "posterize")


def opened(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data))


@pytest.mark.parametrize("api", PACKAGES)
@pytest.mark.parametrize("name", MOST)
def test_files_that_are_not_read_yet(api: str, name: str) -> None:
    file = io.BytesIO()
    pil("RGB", 13).save(file, "PNG")
    for data in (file.getvalue(), file.getvalue()[:200]):
        assert found_in(api, name, partial(opened, data), 13) == "", len(data)


def kind_of(function: Callable[[Any], Any], image: torch.Tensor) -> tuple[Any, ...] | None:
    try:
        one = function(image)
    except Exception:  # of which kind is not ours to say
        return None
    return type(one), one.shape, one.dtype, one.layout, one.device


@pytest.mark.parametrize("api", PACKAGES)
@pytest.mark.parametrize("name", MOST)
def test_tensors_without_samples_of_their_own(api: str, name: str) -> None:
    """Only what kind of result there is, or that there is an error."""
    image = torch.zeros(3, 13, 13, dtype=torch.uint8)
    for other in (image.to("meta"), image.float().to("meta"), image.to_sparse(), image.float().to_sparse()):
        ours, theirs = (kind_of(call(package, name, 13), other) for package in PACKAGES[api])
        assert ours == theirs


@pytest.mark.parametrize("api", PACKAGES)
@pytest.mark.parametrize("name", ["hflip", "vflip", "crop", "center_crop", "invert"])
@pytest.mark.parametrize("shape", [(3, 13, 13), (2, 3, 13, 13)])
@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32])
def test_graphs_have_all_ops(api: str, name: str, shape: tuple[int, ...], dtype: torch.dtype) -> None:
    """What is traced on one image is run on another one."""
    first, second = (torch.randint(0, 2, shape).to(dtype) for _ in range(2))
    ours, theirs = (call(package, name, 13) for package in PACKAGES[api])
    expected = theirs(second)
    assert torch.equal(make_fx(ours)(first)(second), expected)
    assert torch.equal(torch.func.vmap(ours)(second[None])[0], expected)


@pytest.mark.parametrize("api", PACKAGES)
def test_gradients(api: str) -> None:
    for name in ("hflip", "crop", "resize", "adjust_brightness", "invert"):
        found = []
        for package in PACKAGES[api]:
            image = torch.linspace(0.1, 0.9, 3 * 13 * 13).view(3, 13, 13).requires_grad_()
            call(package, name, 13)(image).square().sum().backward()
            found.append(image.grad)
        assert found[0] is not None and torch.equal(found[0], found[1])


@pytest.mark.parametrize("api", PACKAGES)
def test_no_draft_is_made(api: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What one call does is left to it, and large PIL images to the core."""
    drafted: list[Any] = []
    begin = DraftBase.__init__
    monkeypatch.setattr(DraftBase, "__init__", lambda draft, *given: drafted.append(given) or begin(draft, *given))
    images = pil("RGB", 64), tensors(64)["uint8"](), tensors(64)["float32"]()
    for image, name in itertools.product(images, ("hflip", "vflip", "crop", "adjust_brightness", "solarize")):
        call(PACKAGES[api][0], name, 64)(image)
    assert drafted == []
    call(PACKAGES[api][0], "hflip", 65)(pil("RGB", 65))
    assert len(drafted) == 1
