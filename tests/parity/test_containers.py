"""A uint8 array gives the bits of the PIL image, a uint8 tensor those of torchvision's tensor functions, whatever the
strides; other dtypes follow torchvision.
"""

from __future__ import annotations

from functools import partial
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
from support.images import noise, photo, to_chw
from support.outcomes import Outcome, assert_parity, assert_same, explain, run, snapshot
from support.versions import UINT16, compiles_halves_for_minutes, since
from tables.calls import FUNCTIONAL, TENSOR_FUNCTIONAL
from tables.cases import (
    AUTO,
    COLOUR,
    CROPS,
    FILTERS,
    LEVELS,
    MANY,
    PIL_CASES,
    RESIZE,
    ROTATIONS,
    TENSOR_ONLY,
    WARPS,
    follows_torch,
)
from tables.tolerances import FLOAT_TENSOR

#: These move pixels, or mix neighbours, each channel for itself.
GEOMETRY = {**RESIZE, **CROPS, **ROTATIONS, **WARPS, **{name: make for name, make in FILTERS.items() if "Blur" in name}}
#: These want one channel or three.
ADJUSTMENTS = {**COLOUR, **LEVELS, **{name: make for name, make in FILTERS.items() if "Blur" not in name}}
TENSOR_CASES = {name: make for name, make in PIL_CASES.items() if name not in ("ToTensor", "PILToTensor", "Compose")}


def image_of(channels: int, height: int, width: int, seed: int) -> Image.Image:
    pixels = noise(height, width, channels, seed)
    return Image.fromarray(pixels[:, :, 0] if channels == 1 else pixels)


def as_chw(value: Any) -> Any:
    """Pixels of any container in one form: CHW tensors."""
    if isinstance(value, (tuple, list)):
        return tuple(as_chw(item) for item in value)
    if isinstance(value, Image.Image):
        return to_chw(value)
    if isinstance(value, np.ndarray):
        return torch.from_numpy(np.atleast_3d(value).transpose(2, 0, 1).copy())
    return value


def container_of(value: Any) -> Any:
    """The type of a result, or of each of many."""
    return [type(item) for item in value] if isinstance(value, (tuple, list)) else type(value)


def in_array(kind: Any) -> Any:
    """The type that an array has where a PIL image would have given `kind`."""
    if isinstance(kind, list):
        return [in_array(item) for item in kind]
    return np.ndarray if issubclass(kind, Image.Image) else kind


def assert_pixels(ours: Outcome, expected: Outcome) -> None:
    """Equal pixels in another container, and equal generator states."""
    if ours.error is not None:
        raise AssertionError(f"fastaug raised {ours.error!r}") from ours.error
    result, value = as_chw(ours.value), as_chw(expected.value)
    assert snapshot(result) == snapshot(value), explain(result, value)
    assert torch.equal(ours.torch_state, expected.torch_state)
    assert ours.python_state == expected.python_state
    assert ours.numpy_state == expected.numpy_state


def assert_close(ours: Any, theirs: Any) -> None:
    """Float tensors within the tolerance, of the same dtype."""
    if isinstance(theirs, tuple):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs):
            assert_close(one, other)
        return
    assert ours.dtype == theirs.dtype
    torch.testing.assert_close(ours, theirs, rtol=0, atol=FLOAT_TENSOR, equal_nan=True)


def assert_close_outcome(ours: Outcome, theirs: Outcome) -> None:
    """As torchvision's tensor function does it: the same exception, or values within the tolerance."""
    if theirs.error is not None:
        assert type(ours.error) is type(theirs.error), f"{ours.error!r}, torchvision {theirs.error!r}"
        return
    assert ours.error is None, repr(ours.error)
    assert_close(ours.value, theirs.value)
    assert torch.equal(ours.torch_state, theirs.torch_state)
    assert ours.python_state == theirs.python_state
    assert ours.numpy_state == theirs.numpy_state


@grouped(TENSOR_CASES)
@each("channels", [1, 3])
@each(("seed", "size"), enumerate([(64, 81), (31, 37), (90, 70), (64, 64), (1, 1), (2, 5)]))
def test_tensor(name: str, channels: int, seed: int, size: tuple[int, int]) -> None:
    assert_parity(TENSOR_CASES[name], T, TV, to_chw(image_of(channels, *size, seed)), seed, identity=False)


#: These give another container than a tensor of bytes.
_OTHERWISE = ("ToTensor", "PILToTensor", "Compose", "TenCrop stacked")


@grouped([name for name in TENSOR_CASES if name not in _OTHERWISE])
@each("channels", [1, 3])
@each(("seed", "size"), enumerate([(64, 81), (31, 37), (64, 64)]))
def test_tensor_by_pillows_rules(name: str, channels: int, seed: int, size: tuple[int, int]) -> None:
    """arithmetic="pil": the samples are those of the PIL image; shapes, errors and nearest's rule are the tensor's."""
    image = image_of(channels, *size, seed)
    tensor = to_chw(image)
    on_tensor, on_image = (run(TENSOR_CASES[name](TV), given, seed) for given in (tensor, image))
    for made in (
        T.Compose([TENSOR_CASES[name](T)], arithmetic="pil"),
        fastaug.compile(TENSOR_CASES[name](TV), arithmetic="pil"),
    ):
        ours = run(made, tensor, seed)
        if on_tensor.error is not None:
            assert type(ours.error) is type(on_tensor.error), f"{ours.error!r}, torchvision {on_tensor.error!r}"
            continue
        assert snapshot(shapes_of(ours.value)) == snapshot(shapes_of(on_tensor.value))
        assert torch.equal(ours.torch_state, on_tensor.torch_state)
        if follows_torch(name):
            assert_pixels(ours, on_tensor)
        elif on_image.error is None and shapes_of(as_chw(on_image.value)) == shapes_of(ours.value):
            assert_pixels(ours, on_image)


def shapes_of(value: Any) -> Any:
    return tuple(map(shapes_of, value)) if isinstance(value, (tuple, list)) else tuple(value.shape)


@grouped([name for name in PIL_CASES if name != "PILToTensor"])
@each("channels", [1, 3])
@each(("seed", "size"), enumerate([(64, 81), (31, 37), (90, 70)]))
def test_array(name: str, channels: int, seed: int, size: tuple[int, int]) -> None:
    make, image = PIL_CASES[name], image_of(channels, *size, seed)
    expected = run(make(TV), image, seed)
    ours = run(make(T), np.array(image), seed)
    if expected.error is not None:
        assert type(ours.error) is type(expected.error), f"{ours.error!r}, torchvision {expected.error!r}"
    else:
        assert container_of(ours.value) == in_array(container_of(expected.value))
        assert_pixels(ours, expected)


def test_array_that_is_not_an_image() -> None:
    assert_parity(PIL_CASES["PILToTensor"], T, TV, noise(5, 6), message=True)


@grouped(FUNCTIONAL)
def test_functional(name: str) -> None:
    call = FUNCTIONAL[name]
    image = image_of(3, 90, 70, 4)
    assert_same(run(lambda x: call(F, x), to_chw(image)), run(lambda x: call(TVF, x), to_chw(image)), identity=False)
    expected, ours = run(lambda x: call(TVF, x), image), run(lambda x: call(F, x), np.array(image))
    if expected.error is not None:
        assert type(ours.error) is type(expected.error)
    elif name.startswith("get_"):
        assert (ours.value, ours.error) == (expected.value, None)
    else:
        assert_pixels(ours, expected)


def strided_tensors() -> dict[str, torch.Tensor]:
    """One image of 3 x 40 x 52 under every kind of stride."""
    base = to_chw(photo("ihc", 40, 52))
    roomy = torch.zeros(5, 83, 161, dtype=torch.uint8)
    roomy[1:4, 1:81:2, 2:158:3] = base
    frozen = base.numpy().copy()
    return {
        "contiguous": base,
        "channels last": base.permute(1, 2, 0).contiguous().permute(2, 0, 1),
        "transposed": base.transpose(1, 2).contiguous().transpose(1, 2),
        "every second row, third column": roomy[1:4, 1:81:2, 2:158:3],
        "offset into storage": torch.cat([torch.zeros(7, dtype=torch.uint8), base.flatten()])[7:].view(base.shape),
        "shared with numpy": torch.from_numpy(frozen),
    }


def strided_arrays() -> dict[str, np.ndarray]:
    base = np.array(photo("ihc", 40, 52))
    locked = base.copy()
    locked.flags.writeable = False
    roomy = np.zeros((83, 161, 7), np.uint8)
    roomy[1:81:2, 2:158:3, 1:7:2] = base
    return {
        "contiguous": base,
        "read-only": locked,
        "Fortran order": np.asfortranarray(base),
        "rows from the bottom": base[::-1].copy()[::-1],
        "columns from the right": base[:, ::-1].copy()[:, ::-1],
        "BGR seen as RGB": base[:, :, ::-1].copy()[:, :, ::-1],
        "all reversed": base[::-1, ::-1, ::-1].copy()[::-1, ::-1, ::-1],
        "steps": roomy[1:81:2, 2:158:3, 1:7:2],
        "bytes": np.frombuffer(base.tobytes(), np.uint8).reshape(base.shape),
    }


STRIDED_NAMES = (
    "Resize 19x43 BILINEAR",
    "Resize 19x43 LANCZOS",
    "RandomCrop padding",
    "Pad 3 reflect",
    "RandomHorizontalFlip always",
    "RandomRotation BILINEAR",
    "RandomRotation expand by 90",
    "ColorJitter all",
    "Grayscale 3",
    "RandomAffine all BILINEAR",
    "RandomAffine all NEAREST",
    "RandomPerspective BILINEAR",
    *(["ElasticTransform rough"] if since(0, 26) else []),
    "GaussianBlur pair",
    "RandomAdjustSharpness 2",
    "RandomInvert always",
    "RandomPosterize 2",
    "RandomSolarize 128",
    "RandomAutocontrast always",
    "RandomEqualize always",
    "RandAugment strong",
    "AugMix",
    "FiveCrop",
    "TenCrop vertical",
)


@grouped([*(name for name in STRIDED_NAMES if "LANCZOS" not in name), "Resize 19x43 NEAREST"])
@each("strides", strided_tensors)
def test_strided_tensor(name: str, strides: str) -> None:
    tensor, plain = strided_tensors()[strides], strided_tensors()["contiguous"]
    ours = run(PIL_CASES[name](T), tensor, 3, untouched=True)  # a copy would have other strides
    assert_pixels(ours, run(PIL_CASES[name](T), plain, 3))
    assert torch.equal(tensor, plain), "the input was modified"


@grouped([*STRIDED_NAMES, "ToTensor", "Compose"])
@each("strides", strided_arrays)
def test_strided_array(name: str, strides: str) -> None:
    array = strided_arrays()[strides]
    ours = run(PIL_CASES[name](T), array, 3, untouched=True)
    assert_pixels(ours, run(PIL_CASES[name](TV), photo("ihc", 40, 52), 3))
    assert np.array_equal(array, strided_arrays()[strides]), "the input was modified"


def test_read_only_input_gives_writable_output() -> None:
    array = strided_arrays()["read-only"]
    result = T.CenterCrop(20)(array)
    result[0, 0] = 1
    assert result.flags.writeable
    tensor = T.ToTensor()(array)
    tensor[0] = 0.5


@grouped(GEOMETRY)
def test_any_number_of_channels(name: str) -> None:
    """torchvision moves tensors of any channel count; each channel must come out as it would alone."""
    make = GEOMETRY[name]
    tensor = to_chw(photo("coffee", 66, 75)).repeat(3, 1, 1)[:7]
    theirs = run(make(TV), tensor, 8)
    ours = run(make(T), tensor, 8)
    if theirs.error is not None and ours.error is not None:
        assert type(ours.error) is type(theirs.error)
        return
    if "fill list" in name:
        return
    assert ours.error is None, repr(ours.error)
    for channel in range(7):
        alone = run(make(T), tensor[channel : channel + 1].clone(), 8)
        assert torch.equal(ours.value[channel : channel + 1], alone.value)


@grouped({**GEOMETRY, **ADJUSTMENTS, **AUTO, **MANY})
def test_batch(name: str) -> None:
    """A batch draws its parameters once, as in torchvision, and gives each image what it would get alone."""
    make = PIL_CASES[name]
    batch = torch.stack([to_chw(photo(title, 66, 75)) for title in ("coffee", "ihc")])
    theirs, ours = run(make(TV), batch, 8), run(make(T), batch, 8)
    if theirs.error is not None and ours.error is not None:
        assert type(ours.error) is type(theirs.error)
        return
    assert ours.error is None, repr(ours.error)
    if name.startswith("AugMix"):  # draws for each image of a batch
        assert_pixels(ours, theirs)
        return
    for index in range(2):
        alone = run(make(T), batch[index].clone(), 8)
        mine = ours.value if isinstance(ours.value, torch.Tensor) else torch.stack(ours.value, 1)
        single = alone.value if isinstance(alone.value, torch.Tensor) else torch.stack(alone.value)
        assert torch.equal(mine[:, index] if "stacked" in name else mine[index], single)
        assert torch.equal(ours.torch_state, alone.torch_state)


@grouped({**GEOMETRY, **ADJUSTMENTS, **AUTO, **MANY})
@each("shape", [(3, 66, 75), (1, 66, 75), (2, 3, 66, 75)])
@each("seed", range(3))
def test_float_tensor(name: str, shape: tuple[int, ...], seed: int) -> None:
    tensor = torch.rand(shape, generator=torch.Generator().manual_seed(1))
    assert_close_outcome(run(PIL_CASES[name](T), tensor, seed), run(PIL_CASES[name](TV), tensor, seed))


@grouped({**GEOMETRY, **ADJUSTMENTS, **MANY})
@each("dtype", ["float64", "float16", "bfloat16"])
def test_other_floats(name: str, dtype: str) -> None:
    if (name, dtype) == ("GaussianBlur 23", "float16") and compiles_halves_for_minutes():
        return
    tensor = torch.rand((3, 40, 52), generator=torch.Generator().manual_seed(1)).to(getattr(torch, dtype))
    assert_close_outcome(run(PIL_CASES[name](T), tensor, 1), run(PIL_CASES[name](TV), tensor, 1))


@grouped(FUNCTIONAL)
@each("shape", [(3, 66, 75), (1, 66, 75), (2, 3, 66, 75), (3, 1, 1)])
def test_functional_of_floats(name: str, shape: tuple[int, ...]) -> None:
    tensor = torch.rand(shape, generator=torch.Generator().manual_seed(2))
    call = FUNCTIONAL[name]
    ours, theirs = run(lambda x: call(F, x), tensor), run(lambda x: call(TVF, x), tensor)
    if isinstance(theirs.value, (list, int)):
        assert ours.value == theirs.value
    else:
        assert_close_outcome(ours, theirs)


TENSOR_TYPES = ["uint8", "int16", "int32", "int64", "float16", "float32", "float64"]


@grouped({**TENSOR_ONLY, **TENSOR_FUNCTIONAL})
@each("dtype", TENSOR_TYPES)
@each(("seed", "shape"), enumerate([(3, 4, 4), (3, 30, 41), (1, 30, 41), (2, 3, 17, 9), (3, 1, 1)]))
def test_transform_of_tensors_only(name: str, dtype: str, seed: int, shape: tuple[int, ...]) -> None:
    """Bit for bit: they move values or round once."""
    drawn = torch.rand(shape, generator=torch.Generator().manual_seed(seed))
    kind = getattr(torch, dtype)
    tensor = (drawn if kind.is_floating_point else drawn * 255).to(kind)
    outcomes = []
    for transforms, functional in ((T, F), (TV, TVF)):
        given = tensor.clone()
        call = TENSOR_ONLY[name](transforms) if name in TENSOR_ONLY else partial(TENSOR_FUNCTIONAL[name], functional)
        outcomes.append((run(call, given, seed, untouched=True), given))
    (ours, mine), (theirs, other) = outcomes
    assert_same(ours, theirs)
    assert torch.equal(mine, other), "the input"


@pytest.mark.parametrize(
    "dtype",
    ["bool", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float64", *(["uint16"] if UINT16 else [])],
)
def test_other_dtypes(dtype: str) -> None:
    tensor = torch.randint(0, 2 if dtype == "bool" else 100, (3, 30, 41)).to(getattr(torch, dtype))
    for name in (*CROPS, "Resize 19x43 NEAREST"):
        if "fill list" not in name:
            ours, theirs = run(PIL_CASES[name](T), tensor, 2), run(PIL_CASES[name](TV), tensor, 2)
            if theirs.error is None or ours.error is None:
                assert theirs.error is None and ours.error is None, (name, ours.error, theirs.error)
                assert ours.value.dtype == theirs.value.dtype and torch.equal(ours.value, theirs.value), name


@pytest.mark.parametrize("shape", [(20, 30), (2, 2, 3, 20, 30), (0, 3, 20, 30)])
def test_leading_dimensions(shape: tuple[int, ...]) -> None:
    """[..., H, W]: a bare plane, a batch of batches, an empty batch."""
    tensor = torch.randint(0, 256, shape, dtype=torch.uint8)
    for name in ("RandomHorizontalFlip always", "RandomVerticalFlip always", "CenterCrop small", "RandomCrop"):
        assert_parity(PIL_CASES[name], T, TV, tensor, identity=False)


def test_integer_gradients_do_not_matter_but_float_ones_flow() -> None:
    tensor = torch.rand(3, 12, 13, requires_grad=True)
    for name in ("Resize up", "CenterCrop small", "RandomHorizontalFlip always", "ColorJitter brightness"):
        result = PIL_CASES[name](T)(tensor)
        (gradient,) = torch.autograd.grad(result.sum(), tensor)
        assert gradient.shape == tensor.shape and gradient.abs().sum() > 0


def test_tensor_subclass_is_accepted() -> None:
    class Marked(torch.Tensor):
        """A subclass such as users define."""

    tensor = to_chw(photo("coffee", 30, 40))
    marked: Any = tensor.as_subclass(Marked)
    result = T.CenterCrop(20)(marked)
    assert torch.equal(result.as_subclass(torch.Tensor), TV.CenterCrop(20)(tensor))


def test_same_object_back_when_nothing_changes() -> None:
    tensor = to_chw(photo("coffee", 30, 40))
    for name in ("RandomHorizontalFlip never", "Compose empty"):
        assert PIL_CASES[name](T)(tensor) is tensor
    assert T.Resize((30, 40))(tensor) is tensor


def test_result_does_not_alias_a_changed_input() -> None:
    """Whether a crop is a view (torchvision's is) or a copy, a flip must own its pixels."""
    tensor = to_chw(photo("coffee", 30, 40))
    flipped = T.RandomHorizontalFlip(1.0)(tensor)
    before = flipped.clone()
    tensor.zero_()
    assert torch.equal(flipped, before)


def test_functional_on_tensor_matches_class() -> None:
    tensor = to_chw(photo("coffee", 30, 40))
    assert torch.equal(F.hflip(tensor), tensor.flip(-1))
    assert torch.equal(F.vflip(tensor), tensor.flip(-2))


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32])
def test_erasing_a_part_leaves_the_image_alone(dtype: torch.dtype) -> None:
    """A crop of a tensor is a view of it, which RandomErasing must not write to."""
    image = torch.arange(3 * 30 * 40).reshape(3, 30, 40).remainder(251).to(dtype)
    before = image.clone()
    for package in (T, TV):
        torch.manual_seed(0)
        erased = package.Compose([package.CenterCrop(20), package.RandomErasing(1.0, value=7)])(image)
        assert erased.eq(7).any()
        assert torch.equal(image, before)
