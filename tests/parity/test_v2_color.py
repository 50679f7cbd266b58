"""v2.functional's colours against torchvision's: samples, dtypes, shapes, memory order, identity, types of errors."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torchvision import tv_tensors
from torchvision.transforms.v2 import functional as V

from fastaug.transforms.v2 import functional as F
from support.differences import grouped
from support.images import MODES, photo, pil, undated
from support.layouts import assert_same, layouts, order, outcome
from support.scale import cases
from support.versions import UINT16, since

Case = tuple[str, tuple[Any, ...]]

CASES: list[Case] = [
    ("rgb_to_grayscale", (1,)),
    ("rgb_to_grayscale", (3,)),
    ("grayscale_to_rgb", ()),
    ("adjust_brightness", (0.0,)),
    ("adjust_brightness", (0.7,)),
    ("adjust_brightness", (1.0,)),
    ("adjust_brightness", (1.6,)),
    ("adjust_brightness", (2,)),
    ("adjust_saturation", (0.0,)),
    ("adjust_saturation", (0.6,)),
    ("adjust_saturation", (1.0,)),
    ("adjust_saturation", (2,)),
    ("adjust_contrast", (0.0,)),
    ("adjust_contrast", (0.6,)),
    ("adjust_contrast", (1.0,)),
    ("adjust_contrast", (2,)),
    ("adjust_sharpness", (0.0,)),
    ("adjust_sharpness", (0.4,)),
    ("adjust_sharpness", (1.0,)),
    ("adjust_sharpness", (2.5,)),
    ("adjust_hue", (-0.4,)),
    ("adjust_hue", (0.0,)),
    ("adjust_hue", (0.2,)),
    ("adjust_gamma", (0.5, 1.3)),
    ("adjust_gamma", (1.4,)),
    ("posterize", (0,)),
    ("posterize", (3,)),
    ("posterize", (8,)),
    ("solarize", (100,)),
    ("solarize", (77.5,)),
    ("solarize", (255,)),
    ("solarize", (0.5,)),
    ("autocontrast", ()),
    ("equalize", ()),
    ("invert", ()),
    ("permute_channels", ([0],)),
    ("permute_channels", ([2, 0, 1],)),
    ("permute_channels", ([3, 1, 0, 2],)),
]

#: Without what is wrong, or the same, for every kind of input.
CHAINED: list[tuple[str, list[Any]]] = [
    ("adjust_brightness", [0.7, 1.4]),
    ("adjust_saturation", [0.3, 1.7]),
    ("adjust_contrast", [0.5, 1.5]),
    ("adjust_sharpness", [0.2, 1.9]),
    ("adjust_hue", [-0.3, 0.1]),
    ("adjust_gamma", [0.8, 2.0]),
    ("posterize", [2, 5]),
    ("solarize", [60, 180]),
    ("autocontrast", []),
    ("equalize", []),
    ("invert", []),
    ("permute_channels", [[2, 0, 1], [0, 2, 1]]),
]

DTYPES = (
    torch.float32,
    torch.float64,
    torch.float16,
    torch.bool,
    torch.int8,
    torch.int16,
    *UINT16,
    torch.int32,
    torch.int64,
)


def compare(case: Case, image: Any, what: Any) -> Any:
    """Both results, or nothing where both raise the same type of error."""
    name, arguments = case
    expected, found = (outcome(getattr(library, name), image, *arguments) for library in (V, F))
    if isinstance(expected, type) or isinstance(found, type):
        assert found is expected, (case, what)
        return None
    if isinstance(expected, torch.Tensor):
        assert_same(found, expected, image, (case, what))
    else:
        assert_same_pil(found, expected, image, (case, what))
    return found


def assert_same_pil(found: Any, expected: Image.Image, of: Any, what: Any) -> None:
    assert type(found) is type(expected), what
    assert (found.mode, found.size) == (expected.mode, expected.size), what
    # A profile that was made on the way says when.
    found_info, expected_info = (undated(image.info) for image in (found, expected))
    assert found_info == expected_info, what
    assert found.tobytes() == expected.tobytes() and found.getpalette() == expected.getpalette(), what
    assert (found is of) == (expected is of), what


def of_dtype(image: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """uint8 samples spread over the range of another dtype, or in [0, 1]."""
    if dtype.is_floating_point:
        return image.to(torch.float64).div(255).to(dtype)
    if dtype is torch.bool:
        return image > 127
    return (image if dtype is torch.int8 else image.to(torch.int64) * 97).to(dtype)


@grouped(CASES, "case", lambda case: case[0])
def test_uint8(case: Case) -> None:
    for seed, (height, width) in enumerate(((1, 1), (1, 17), (2, 9), (7, 5), (31, 37))):
        for channels in (1, 2, 3, 4, 5):
            for name, image in layouts(height, width, channels, seed):
                compare(case, image, (name, tuple(image.shape)))


@grouped(CASES, "case", lambda case: case[0])
def test_photographs(case: Case) -> None:
    for name in ("astronaut", "coffee"):
        pixels = torch.from_numpy(np.array(photo(name, 256, 320))).permute(2, 0, 1)
        for image in (pixels, pixels.contiguous(), pixels[:1].contiguous()):
            compare(case, image, (name, image.stride()))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_other_dtypes(dtype: torch.dtype) -> None:
    for height, width in ((1, 1), (5, 7), (33, 20)):
        for channels in (1, 2, 3, 4):
            for name, image in layouts(height, width, channels):
                if height < 33 or name in ("planes", "pixels"):
                    for case in CASES:
                        compare(case, of_dtype(image, dtype), (name, channels, height, width))


def test_without_channels_or_samples() -> None:
    plane = torch.arange(42, dtype=torch.uint8).view(6, 7)
    empty = [torch.zeros(shape, dtype=torch.uint8) for shape in ((3, 0, 7), (1, 4, 0), (0, 3, 4, 4), (0, 4, 4))]
    for image in (plane, plane[0], plane / 255, *empty, *(image.float() for image in empty)):
        for case in CASES:
            compare(case, image, tuple(image.shape))


@pytest.mark.parametrize("mode", MODES)
def test_pil(mode: str) -> None:
    for height, width in ((1, 1), (9, 11)):
        image = pil(mode, height, width)
        tagged = image.copy()
        tagged.info["comment"] = [1]
        for case in [*CASES, ("posterize", (9,)), ("posterize", (-1,)), ("permute_channels", ([1, 0],))]:
            compare(case, image, mode)
            compare(case, tagged, mode)
    if mode in ("L", "RGB", "P"):
        image.info["transparency"] = (1, 2, 3) if mode == "RGB" else 3
        for case in CASES:
            compare(case, image, mode)


@grouped(CASES, "case", lambda case: case[0])
def test_tv_tensors(case: Case) -> None:
    for cls in (tv_tensors.Image, tv_tensors.Video):
        image = torch.stack([torch.from_numpy(np.array(photo("chelsea", 9, 12)))] * 2).movedim(-1, 1)
        found = compare(case, cls(image), cls)
        assert found is None or type(found) is cls
    for kept in (tv_tensors.Mask(torch.zeros(4, 4)), "text"):
        assert outcome(getattr(F, case[0]), kept, *case[1]) is TypeError


ERRORS: list[tuple[str, tuple[Any, ...], tuple[int, ...], str]] = [
    ("adjust_brightness", (-0.1,), (3, 4, 4), "is not non-negative"),
    ("adjust_brightness", (0.5,), (2, 4, 4), "permitted channel values are 1 or 3, but found 2"),
    ("adjust_contrast", (-0.1,), (3, 4, 4), "is not non-negative"),
    ("adjust_saturation", (-0.1,), (3, 4, 4), "is not non-negative"),
    ("adjust_sharpness", (-0.1,), (3, 4, 4), "is not non-negative"),
    ("adjust_sharpness", (0.5,), (4, 4, 4), "can have 1 or 3 channels, but found 4"),
    ("adjust_hue", (0.6,), (3, 4, 4), r"is not in \[-0.5, 0.5\]"),
    ("adjust_gamma", (-1.0,), (3, 4, 4), "non-negative real number, got -1.0"),
    ("posterize", (9,), (3, 4, 4), r"range \[0, 8\], got 9"),
    ("posterize", (2.0,), (3, 4, 4), r"range \[0, 8\], got 2.0"),
    ("solarize", (256,), (3, 4, 4), "less or equal the maximum value of the dtype, 255, but got 256"),
    ("autocontrast", (), (4, 4, 4), "permitted channel values are 1 or 3, but found 4"),
    ("permute_channels", ([1, 0],), (3, 4, 4), "does not match number of channels: 2 != 3"),
    ("rgb_to_grayscale", (2,), (3, 4, 4), "must be 1 or 3, got 2"),
    ("rgb_to_grayscale", (1,), (2, 4, 4), "1 or 3 channels to be made gray, but found 2"),
]


@pytest.mark.skipif(not since(0, 22), reason="older ones take any number of bits")
@grouped(ERRORS, ("name", "arguments", "shape", "text"), lambda case: case[0])
def test_errors(name: str, arguments: tuple[Any, ...], shape: tuple[int, ...], text: str) -> None:
    image = torch.zeros(shape, dtype=torch.uint8)
    with pytest.raises(outcome(getattr(V, name), image, *arguments), match=text):
        getattr(F, name)(image, *arguments)


def test_gradients() -> None:
    """Of floats; or the error that torch has where torchvision writes over what it needs for them."""
    image = torch.rand(3, 7, 5, requires_grad=True)

    def gradient(library: Any, name: str, argument: Any) -> Any:
        return torch.autograd.grad(getattr(library, name)(image, argument).sum(), image)[0]

    cases = (("adjust_hue", 0.1), ("adjust_contrast", 0.5), ("adjust_sharpness", 2.0), ("adjust_gamma", 1.5))
    for case in cases:
        expected, found = outcome(gradient, V, *case), outcome(gradient, F, *case)
        assert found is expected if isinstance(expected, type) else torch.equal(found, expected), case
    assert isinstance(outcome(gradient, F, "adjust_contrast", 0.5), torch.Tensor)


def test_float64_by_default() -> None:
    """torch then multiplies bytes in float64."""
    image = next(layouts(31, 37, 3))[1]
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        for case in CASES:
            compare(case, image, "float64")
    finally:
        torch.set_default_dtype(before)


def test_drafts() -> None:
    """Several functionals in one pass, as a pipeline has them done."""
    from fastaug._draft.leaf import ImageDraft, VideoDraft
    from fastaug.transforms.v2.functional._utils import _get_kernel

    rng = random.Random(3)
    for trial in range(cases(200)):
        images = dict(layouts(19, 23, 3, trial))
        image: Any = images[rng.choice(["planes", "pixels", "part of pixels"])]
        cls: Any = None
        draft: Any = ImageDraft
        kind = rng.choice(["pil", "tensor", "image", "video"])
        if kind == "pil":
            image = photo("chelsea", 19, 23)
        elif kind == "image":
            cls = tv_tensors.Image
        elif kind == "video":
            image, cls, draft = (
                images[rng.choice(["video", "video of pixels", "part of a video"])],
                tv_tensors.Video,
                VideoDraft,
            )
        image = image if cls is None else cls(image)
        drafted, expected = draft(image, None, cls), image
        chain = [(name, [rng.choice(values)] if values else []) for name, values in rng.choices(CHAINED, k=3)]
        for name, arguments in chain:
            expected = getattr(V, name)(expected, *arguments)
            drafted = _get_kernel(getattr(F, name), type(drafted))(drafted, *arguments)
        found = drafted.result()
        if kind == "pil":
            assert_same_pil(found, expected, None, chain)
        else:
            assert_same(found, expected, None, (kind, chain))


def test_videos_are_not_made_gray() -> None:
    """They have no such kernel, of drafts neither: transforms hand them on."""
    from fastaug._draft.leaf import VideoDraft
    from fastaug.transforms.v2.functional._utils import _get_kernel

    draft = VideoDraft(tv_tensors.Video(torch.zeros(2, 3, 4, 4, dtype=torch.uint8)), None, tv_tensors.Video)
    for function in (F.rgb_to_grayscale, F.grayscale_to_rgb):
        assert _get_kernel(function, VideoDraft, allow_passthrough=True)(draft) is draft
        with pytest.raises(TypeError, match="supports inputs of type"):
            function(tv_tensors.Video(torch.zeros(2, 3, 4, 4)))


def test_order_tells_layouts_apart() -> None:
    assert order(torch.zeros(3, 4, 5)) == [0, 1, 2]
    assert order(torch.zeros(4, 5, 3).permute(2, 0, 1)) == [1, 2, 0]
    assert order(torch.zeros(1, 4, 5).expand(3, 4, 5)) is None
