"""v2's functions of geometry equal torchvision's: samples, dtypes, shapes, memory formats, identities and errors."""

from __future__ import annotations

import inspect
import itertools
import random
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import PIL.Image
import pytest
import torch
from torch import Tensor
from torchvision import tv_tensors
from torchvision.transforms.v2 import functional as T

from fastaug.transforms.v2 import functional as F
from fastaug.transforms.v2.functional import _geometry
from support.differences import each
from support.images import noise, photo, pil
from support.scale import cases, share
from support.versions import since

SIZES = ((1, 1), (1, 9), (7, 1), (5, 8), (16, 16), (33, 47), (64, 61))

#: Of a call: name, positional and named arguments.
Call = tuple[str, tuple[Any, ...], dict[str, Any]]


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def samples(rng: random.Random, height: int, width: int, channels: int) -> np.ndarray:
    if channels == 3 and rng.random() < 0.4:
        name = rng.choice(["astronaut", "chelsea", "coffee"])
        return np.asarray(photo(name, height, width))
    return noise(height, width, channels, rng.randrange(100))


def cast(image: Tensor, dtype: torch.dtype) -> Tensor:
    if dtype == torch.bool:
        return image > 100
    if dtype.is_floating_point:
        return image.to(dtype) / 255
    return image.to(dtype)


def layouts(rng: random.Random, height: int, width: int, channels: int, dtype: torch.dtype) -> dict[str, Tensor]:
    """Images and batches of every memory format."""

    def pixels(*lead: int, more: int = 0) -> Tensor:
        count = int(np.prod(lead))
        frames = [samples(rng, height + more, width + more, channels) for _ in range(count)]
        return cast(torch.from_numpy(np.stack(frames)).reshape(*lead, *frames[0].shape), dtype)

    def planes(x: Tensor) -> Tensor:
        return x.movedim(-1, -3)

    wide = planes(pixels(1, more=4)[0])
    return {
        "planes": planes(pixels(1)[0]).contiguous(),
        "pixels": planes(pixels(1)[0]),
        "part of planes": wide.contiguous()[:, 2:-2, 1:-3],
        "part of pixels": wide[:, 2:-2, 1:-3],
        "rows of pixels": planes(pixels(1, more=4)[0])[:, 1:-3, : width + 4][:, :, :width].clone(),
        "batch": planes(pixels(2)).contiguous(),
        "batch of pixels": planes(pixels(3)),
        "batch of one": planes(pixels(1)),
        "batch of batches": planes(pixels(2, 2)).contiguous(),
        "batch of batches of pixels": planes(pixels(2, 1)),
        "transposed": planes(pixels(1)[0]).contiguous().transpose(1, 2).contiguous().transpose(1, 2),
    }


def outcome(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except Exception as error:
        return error


def order(x: Tensor) -> list[int]:
    """The axes as they lie in memory, but for those of one."""
    axes = [axis for axis, size in enumerate(x.shape) if size > 1]
    return sorted(axes, key=lambda axis: -x.stride(axis))


def assert_same(found: Any, wanted: Any, image: Any, what: Any, strides: bool = True) -> None:
    if isinstance(wanted, Exception):
        assert isinstance(found, Exception), (what, wanted, found)
        assert isinstance(found, type(wanted)), (what, repr(wanted), repr(found))
        return
    if isinstance(found, Exception):
        raise AssertionError(what) from found
    if isinstance(wanted, tuple):
        assert isinstance(found, tuple) and len(found) == len(wanted), what
        for one, other in zip(found, wanted):
            assert_same(one, other, image, what, strides)
        return
    assert type(found) is type(wanted), (what, type(found), type(wanted))
    assert (found is image) == (wanted is image), (what, "identity")
    if isinstance(wanted, PIL.Image.Image):
        assert (found.mode, found.size) == (wanted.mode, wanted.size), (what, found, wanted)
        assert found.tobytes() == wanted.tobytes(), what
        assert found.getpalette() == wanted.getpalette(), what
        return
    found, wanted = found.as_subclass(Tensor), wanted.as_subclass(Tensor)
    assert found.dtype == wanted.dtype and found.shape == wanted.shape, (what, found.shape, wanted.shape)
    assert torch.equal(found, wanted) or (found.isnan() == wanted.isnan()).all(), (
        what,
        f"{int((found != wanted).sum())} of {found.numel()}",
    )
    # The axes of a single pixel, or a single line of them, may lie in either order.
    if strides and min(image.shape[-2:]) > 1 and min(wanted.shape[-2:]) > 1:
        assert order(found) == order(wanted), (what, image.stride(), found.stride(), wanted.stride())
    shares = wanted.untyped_storage().data_ptr() == image.untyped_storage().data_ptr()
    assert (found.untyped_storage().data_ptr() == image.untyped_storage().data_ptr()) == shares, (what, "view")


def compare(image: Any, call: Call, label: Any = "") -> None:
    name, args, named = call
    wanted = outcome(lambda: getattr(T, name)(image, *args, **named))
    found = outcome(lambda: getattr(F, name)(image, *args, **named))
    shape = tuple(image.shape) if isinstance(image, Tensor) else (image.mode, image.size)
    if isinstance(wanted, RuntimeError) and "INTERNAL ASSERT" in str(wanted):
        return  # a bug of torch's
    assert_same(found, wanted, image, (call, label, shape, getattr(image, "dtype", None)))


def fill_of(rng: random.Random, channels: int) -> Any:
    return rng.choice(
        [
            None,
            0,
            0.0,
            rng.randrange(256),
            rng.uniform(0, 255),
            127.5,
            [7],
            (3.25,),
            [rng.randrange(256) for _ in range(channels)],
            [rng.uniform(0, 255) for _ in range(channels)],
        ]
    )


def center_of(rng: random.Random, height: int, width: int) -> Any:
    return rng.choice([None, None, [0, 0], (width / 2, height / 2), [rng.uniform(0, width), rng.randrange(height)]])


def corners_of(rng: random.Random, height: int, width: int) -> tuple[Any, Any]:
    start = [[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]]
    reach = max(2, min(height, width) // 3)
    return start, [[x + rng.randint(-reach, reach), y + rng.randint(-reach, reach)] for x, y in start]


def flips(rng: random.Random, height: int, width: int, channels: int) -> list[Call]:
    return [(name, (), {}) for name in ("horizontal_flip", "vertical_flip", "hflip", "vflip")]


def boxes(rng: random.Random, height: int, width: int, channels: int) -> list[Call]:
    top, left = rng.randint(0, height - 1), rng.randint(0, width - 1)
    inside = top, left, rng.randint(1, height - top), rng.randint(1, width - left)
    anywhere = [rng.randint(-height, height) for _ in range(2)] + [rng.randint(1, 2 * height) for _ in range(2)]
    side = rng.randint(1, min(height, width))
    return [
        ("crop", inside, {}),
        ("crop", tuple(anywhere), {}),
        ("crop", (0, 0, height, width), {}),
        ("crop", (0, 0, height + 2, width), {}),
        ("center_crop", (rng.randint(1, 2 * height),), {}),
        ("center_crop", ([rng.randint(1, 2 * height), rng.randint(1, 2 * width)],), {}),
        ("center_crop", ([height, width],), {}),
        ("five_crop", (side,), {}),
        ("five_crop", ([side, 1],), {}),
        ("ten_crop", ([side],), {"vertical_flip": rng.random() < 0.5}),
        ("five_crop", (height + 1,), {}),
    ]


def sizes(rng: random.Random, height: int, width: int, channels: int) -> list[Call]:
    modes = ["nearest", "nearest-exact", "bilinear", "bicubic", 0, 2, T.InterpolationMode.BICUBIC]
    mode = rng.choice([*modes, "lanczos"] if since(0, 27) else modes)
    antialias = rng.choice([True, True, False, None])
    size = [rng.randint(1, 2 * height + 3), rng.randint(1, 2 * width + 3)]
    top, left = rng.randint(0, height - 1), rng.randint(0, width - 1)
    inside = top, left, rng.randint(1, height - top), rng.randint(1, width - left)
    return [
        ("resize", (size,), {"interpolation": mode}),
        ("resize", (size,), {"interpolation": mode, "antialias": antialias}),
        ("resize", (rng.randint(1, 40),), {}),
        ("resize", ([rng.randint(1, 9)],), {"max_size": rng.randint(1, 30), "interpolation": mode}),
        ("resize", (None,), {"max_size": rng.randint(1, 70), "interpolation": mode}),
        ("resize", ([height, width],), {"interpolation": mode}),
        ("resize", ((2 * height, width),), {"antialias": antialias}),
        ("resized_crop", (*inside, size), {"interpolation": mode, "antialias": antialias}),
        ("resized_crop", (*inside, list(inside[2:])), {}),
        ("resized_crop", (-1, -1, height + 2, width, size), {}),
    ]


def borders(rng: random.Random, height: int, width: int, channels: int) -> list[Call]:
    calls: list[Call] = []
    for mode in ("constant", "edge", "reflect", "symmetric"):
        few = [rng.randint(0, max(0, min(height, width) - 1)) for _ in range(4)]
        any_sign = [rng.randint(-3, 5) for _ in range(4)]
        several = (few, any_sign, few[0], few[:1], tuple(few[:2]), 0, -1)
        calls += [("pad", (sides,), {"padding_mode": mode}) for sides in several]
    calls += [("pad", (sides, fill_of(rng, channels)), {}) for sides in ([1, 2, 3, 4], [0, 2, 0, 0], [-1, 2, 0, 1], 3)]
    calls.append(("pad", (1, rng.choice([-1, 256, 300.5, -0.5, True])), {}))
    calls.append(("pad", (1, [1.0] * channels, "edge"), {}))
    return calls


def warps(rng: random.Random, height: int, width: int, channels: int) -> list[Call]:
    mode = rng.choice(["nearest", "bilinear", 0, 2, T.InterpolationMode.BILINEAR])
    fill = fill_of(rng, channels)
    start, end = corners_of(rng, height, width)
    numbers = [rng.uniform(0.7, 1.3), 0.1, rng.uniform(-3, 3), -0.1, 1.0, rng.uniform(-3, 3), 1e-3, -1e-3]
    angle = rng.choice([rng.uniform(-400, 400), rng.choice([0, 30, 45, 90, 180, 270, -90, 360])])
    named = {"interpolation": mode, "fill": fill}
    shear = rng.choice([0, [0.0, 0.0], [rng.uniform(-30, 30)], (rng.uniform(-30, 30), rng.uniform(-30, 30))])
    move = [rng.choice([0, 1, -2, rng.uniform(-5, 5)]) for _ in range(2)]
    scale = rng.choice([1.0, rng.uniform(0.4, 1.8)])
    return [
        ("rotate", (angle,), {**named, "expand": rng.random() < 0.5, "center": center_of(rng, height, width)}),
        ("rotate", (rng.choice([0, 90, 180, 270, -90.0]),), {**named, "expand": rng.random() < 0.7}),
        ("rotate", (rng.uniform(0, 360),), {**named, "expand": True}),
        ("affine", (angle, move, scale, shear), {**named, "center": center_of(rng, height, width)}),
        ("affine", (0, [1, 2], 1.0, [0.0, 0.0]), named),
        ("affine", (rng.uniform(-90, 90), move, scale, [0.0, 0.0]), {}),
        ("perspective", (start, end), named),
        ("perspective", (start, end), {}),
        ("perspective", (None, None), {**named, "coefficients": numbers}),
    ]


def fields(rng: random.Random, height: int, width: int, channels: int) -> list[Call]:
    generator = torch.Generator().manual_seed(rng.randrange(1000))
    field = torch.randn(1, height, width, 2, generator=generator) * rng.choice([0.02, 0.3])
    mode = rng.choice(["nearest", "bilinear", "bicubic", 2])
    return [
        ("elastic", (field,), {"interpolation": mode, "fill": fill_of(rng, channels)}),
        ("elastic_transform", (field.double(),), {}),
        ("elastic", (torch.zeros(1, height, width + 1, 2),), {}),
    ]


GROUPS = {group.__name__: group for group in (flips, boxes, sizes, borders, warps, fields)}


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize(
    "dtype", [torch.uint8, torch.float32, pytest.param(torch.int32, marks=pytest.mark.main)], ids=str
)
def test_tensors(group: str, dtype: torch.dtype) -> None:
    rng = random.Random(f"{group} {dtype}")
    for size, channels in itertools.product(SIZES, (1, 3, 4, 2, 5)):
        for label, image in layouts(rng, *size, channels, dtype).items():
            for call in share(GROUPS[group](rng, *size, channels), f"{size} {channels} {label}", least=2):
                compare(image, call, label)


@pytest.mark.parametrize("group", GROUPS)
@each("dtype", [torch.float64, torch.int16, torch.bool, torch.float16])
def test_rarer_dtypes(group: str, dtype: torch.dtype) -> None:
    rng = random.Random(f"{group} {dtype}")
    for size in ((5, 8), (33, 47)):
        for label, image in layouts(rng, *size, 3, dtype).items():
            for call in share(GROUPS[group](rng, *size, 3), f"{size} {label}", least=2):
                compare(image, call, label)


@pytest.mark.parametrize("group", GROUPS)
@each("dtype", [torch.uint8, torch.bool, torch.int64, torch.float32])
def test_masks(group: str, dtype: torch.dtype) -> None:
    if group == "boxes":
        pytest.skip("has functions without masks; test_boxes_of_masks has the others")
    rng = random.Random(f"{group} {dtype}")
    for (height, width), lead in itertools.product(SIZES, ((), (1,), (3,), (6,), (2, 3))):
        count = lead[-1] if lead else 1
        wide = cast(torch.from_numpy(noise(height + 2, width + 2, 40)), dtype).permute(2, 0, 1)[: int(np.prod(lead))]
        wide = wide.reshape(*lead, height + 2, width + 2).contiguous()
        for plain in (wide[..., :height, :width].contiguous(), wide[..., 1:-1, 1:-1]):
            for call in share(GROUPS[group](rng, height, width, count), f"{height} {lead} {plain.stride()}", least=2):
                compare(tv_tensors.Mask(plain), call)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.bool, torch.int64], ids=str)
def test_boxes_of_masks(dtype: torch.dtype) -> None:
    rng = random.Random(5)
    for (height, width), lead in itertools.product(SIZES, ((), (1,), (3,), (2, 3))):
        plain = cast(torch.from_numpy(noise(int(np.prod(lead)) * height, width, 1)), dtype)
        mask = plain.reshape(*lead, height, width)
        for name, args, named in boxes(rng, height, width, 1):
            if name not in ("five_crop", "ten_crop"):
                compare(tv_tensors.Mask(mask), (name, args, named))


def test_kernels_of_masks() -> None:
    mask = torch.from_numpy(noise(8, 9, 3)).permute(2, 0, 1).contiguous()
    for given in (mask, mask[0], mask > 100, mask.int()):
        start, end = corners_of(random.Random(1), 8, 9)
        for name, args in {
            "horizontal_flip_mask": (),
            "vertical_flip_mask": (),
            "resize_mask": ([5, 5], "nearest-exact") if since(0, 28) else ([5, 5],),
            "affine_mask": (20, [1, 1], 1.2, 3),
            "rotate_mask": (20, True, None, 1),
            "pad_mask": (2, 1, "constant"),
            "crop_mask": (1, 1, 3, 3),
            "perspective_mask": (start, end, 1),
            "elastic_mask": (torch.full((1, 8, 9, 2), 0.3), 0.7),
            "center_crop_mask": (4,),
            "resized_crop_mask": (1, 1, 4, 4, [7, 7]),
        }.items():
            wanted = getattr(T, name)(given, *args)  # type: ignore[misc]
            assert_same(getattr(F, name)(given, *args), wanted, given, name)  # type: ignore[misc]
    assert F.resize_mask(mask, [8, 9]) is mask


@pytest.mark.parametrize("group", GROUPS)
@each("cls", [tv_tensors.Image, tv_tensors.Video])
def test_tv_tensors(group: str, cls: Any) -> None:
    rng = random.Random(group)
    for size in ((5, 8), (33, 47)):
        for dtype in (torch.uint8, torch.float32):
            for label, image in layouts(rng, *size, 3, dtype).items():
                if cls is tv_tensors.Video and image.ndim < 4:
                    continue
                for call in GROUPS[group](rng, *size, 3):
                    compare(cls(image), call, label)


@pytest.mark.parametrize("group", GROUPS)
@each("mode", ["RGB", "L", "RGBA", "LA", "P", "1", "I", "F", "CMYK", "HSV", "I;16"])
def test_pil(group: str, mode: str) -> None:
    rng = random.Random(f"{group} {mode}")
    for height, width in SIZES:
        image = photo("chelsea", height, width) if mode == "RGB" else pil(mode, height, width)
        channels = len(image.getbands())
        calls = GROUPS[group](rng, height, width, channels)
        for name, args, named in calls:
            compare(image, (name, args, named))


@pytest.mark.skipif(not since(0, 26), reason="places are computed otherwise")
@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64], ids=str)
def test_places(group: str, dtype: torch.dtype) -> None:
    """Boxes and points move with the images, and get the size of the canvas."""
    rng = random.Random(f"{group} {dtype}")
    generator = torch.Generator().manual_seed(1)
    for (height, width), count in itertools.product(((5, 8), (33, 47), (64, 61)), (0, 1, 6)):
        inside = torch.rand(count, 4, generator=generator) * torch.tensor([width, height, width, height])
        points = tv_tensors.KeyPoints(inside[:, :2].to(dtype), canvas_size=(height, width))
        plain = {"XYXY": torch.cat([inside[:, :2], inside[:, :2] + inside[:, 2:] / 3], 1), "CXCYWH": inside / 2}
        if dtype.is_floating_point:
            plain["CXCYWHR"] = torch.cat([inside / 2, inside[:, :1]], 1)
        boxes = [
            tv_tensors.BoundingBoxes(x.to(dtype), format=name, canvas_size=(height, width))  # type: ignore[call-overload]
            for name, x in plain.items()
        ]
        for name, args, named in share(GROUPS[group](rng, height, width, 3), f"{height} {count}", least=4):
            for given in (points, *boxes):
                if name.startswith("elastic") and given is not points and not since(0, 27):
                    continue  # corners at the far border
                wanted = outcome(lambda: getattr(T, name)(given, *args, **named))  # noqa: B023
                found = outcome(lambda: getattr(F, name)(given, *args, **named))  # noqa: B023
                assert_same(found, wanted, given, (name, args, named, given), strides=False)
                if not isinstance(wanted, Exception):
                    assert found.canvas_size == wanted.canvas_size
                    assert getattr(found, "format", None) == getattr(wanted, "format", None)


def test_planes() -> None:
    """A tensor without an axis of channels is one only for flips, crops, and turns by quarters."""
    rng = random.Random(3)
    for dtype in (torch.uint8, torch.float32):
        plane = cast(torch.from_numpy(noise(8, 9, 1)[..., 0]), dtype)
        for group in GROUPS.values():
            for call in group(rng, 8, 9, 1):
                name, args, named = call
                wanted = outcome(lambda: getattr(T, name)(plane, *args, **named))  # noqa: B023
                if isinstance(wanted, Exception):
                    assert isinstance(outcome(lambda: getattr(F, name)(plane, *args, **named)), Exception)  # noqa: B023
                else:
                    compare(plane, call)


def test_empty() -> None:
    for dtype in (torch.uint8, torch.float32):
        for shape in ((0, 3, 8, 9), (3, 0, 9), (0, 8, 9)):
            image = torch.zeros(shape, dtype=dtype)
            for call in (
                ("horizontal_flip", (), {}),
                ("resize", ([4, 4],), {}),
                ("pad", (1,), {}),
                ("center_crop", (4,), {}),
                ("crop", (-1, -1, 5, 5), {}),
                ("rotate", (90,), {}),
                ("rotate", (30,), {}),
                ("affine", (30, [0, 0], 1.0, 0), {}),
                ("perspective", (None, None), {"coefficients": [1, 0, 0, 0, 1, 0, 0, 0]}),
            ):
                compare(image, call)  # type: ignore[arg-type]


def test_errors() -> None:
    image = torch.zeros(3, 8, 9, dtype=torch.uint8)
    plain: list[Call] = [
        ("resize", (5,), {"interpolation": "no"}),
        ("resize", (5,), {"interpolation": 17}),
        ("resize", (5,), {"interpolation": 1.5}),
        *([("resize", (5,), {"interpolation": "lanczos", "antialias": False})] if since(0, 27) else []),
        ("resize", (None,), {}),
        ("resize", ([5, 5],), {"max_size": 7}),
        ("resize", (5,), {"max_size": 4}),
        ("rotate", (30,), {"interpolation": "bicubic"}),
        ("rotate", (30,), {"fill": [1, 2]}),
        ("rotate", ("a",), {}),
        ("affine", ("a", [0, 0], 1.0, 0), {}),
        ("affine", (1, 0, 1.0, 0), {}),
        ("affine", (1, [0], 1.0, 0), {}),
        ("affine", (1, [0, 0], 0.0, 0), {}),
        ("affine", (1, [0, 0], 1.0, "a"), {}),
        ("affine", (1, [0, 0], 1.0, [1, 2, 3]), {}),
        ("affine", (1, [0, 0], 1.0, 0), {"center": 3}),
        ("affine", (1, [0, 0], 1.0, 0), {"interpolation": "bicubic"}),
        ("pad", ("a",), {}),
        ("pad", (1.5,), {}),
        ("pad", ([1, 2, 3],), {}),
        ("pad", (1,), {"padding_mode": "no"}),
        ("pad", (1, [1, 2]), {}),
        ("pad", (9,), {"padding_mode": "reflect"}),
        ("pad", (10,), {"padding_mode": "symmetric"}),
        ("pad", (-5,), {}),
        ("perspective", (None, None), {}),
        ("perspective", ([[0, 0]] * 4, [[0, 0]] * 4), {"coefficients": [1.0] * 8}),
        ("perspective", (None, None), {"coefficients": [1.0] * 7}),
        ("perspective", (None, None), {"coefficients": [1.0] * 8, "interpolation": "bicubic"}),
        ("elastic", ("a",), {}),
        ("elastic", (torch.zeros(1, 8, 9, 2),), {"interpolation": "box"}),
        ("center_crop", ([1, 2, 3],), {}),
        ("five_crop", ([1, 2, 3],), {}),
        ("five_crop", (10,), {}),
        ("resize", ([0, 5],), {}),
    ]
    for call in plain:
        for given in (image, image.float()):
            compare(given, call)
            name, args, named = call
            assert isinstance(outcome(lambda: getattr(F, name)(given, *args, **named)), Exception), call  # noqa: B023


def test_types() -> None:
    for name in ("horizontal_flip", "vertical_flip"):
        for given in (np.zeros((4, 4, 3), np.uint8), "an image", None, object()):
            with pytest.raises(TypeError):
                getattr(F, name)(given)
    array: Any = np.zeros((4, 4, 3), np.uint8)
    for call in (lambda: F.resize(array, 3), lambda: F.pad(array, 1), lambda: F.crop(array, 0, 0, 1, 1)):
        with pytest.raises(TypeError, match="ndarray"):
            call()
    mask = tv_tensors.Mask(torch.zeros(4, 4))
    with pytest.raises(TypeError, match="five_crop"):
        F.five_crop(mask, 2)
    with pytest.raises(ValueError, match="scalar"):
        F.pad(mask, 1, fill=[1])


def test_gradients() -> None:
    image = torch.rand(3, 12, 13)
    field = torch.full((1, 12, 13, 2), 0.1)
    for call in (
        lambda X, x: X.horizontal_flip(x),
        lambda X, x: X.resize(x, [7, 20]),
        lambda X, x: X.rotate(x, 33, "bilinear"),
        lambda X, x: X.rotate(x, 33, "nearest", fill=0.5),
        lambda X, x: X.affine(x, 33, [1, 1], 1.1, 3, "bilinear"),
        lambda X, x: X.pad(x, [1, 2], padding_mode="reflect"),
        lambda X, x: X.crop(x, -1, 2, 9, 9),
        lambda X, x: X.elastic(x, field),
    ):
        ours, theirs = image.clone().requires_grad_(), image.clone().requires_grad_()
        found, wanted = call(F, ours), call(T, theirs)
        assert torch.equal(found, wanted)
        found.square().sum().backward()
        wanted.square().sum().backward()
        assert ours.grad is not None and theirs.grad is not None and torch.equal(ours.grad, theirs.grad)
    filled = image.clone().requires_grad_()
    F.rotate(filled, 33, "bilinear", fill=0.5).sum().backward()  # an error of torchvision's
    assert filled.grad is not None and filled.grad.abs().sum() > 0


def test_meta_tensors() -> None:
    image = torch.zeros(3, 12, 13, dtype=torch.uint8, device="meta")
    assert F.resize(image, 6).shape == T.resize(image, 6).shape
    assert F.horizontal_flip(image).device.type == "meta"
    assert F.pad(image, 2, padding_mode="edge").shape == (3, 16, 17)
    assert F.affine(image, 10, [0, 0], 1.0, 0).shape == image.shape


@pytest.mark.skipif(not since(0, 24), reason="there are no points")
def test_names_and_signatures() -> None:
    for name in _geometry.__all__:
        theirs, ours = getattr(T, name), getattr(F, name)
        wanted, found = inspect.signature(theirs).parameters, inspect.signature(ours).parameters
        assert list(found) == list(wanted), name
        for one, other in zip(found.values(), wanted.values()):
            defaults = [str(each.default).rpartition(".")[2] for each in (one, other)]
            assert one.kind == other.kind and defaults[0] == defaults[1], (name, one)


def test_chains_of_drafts() -> None:
    """Several ops in one native call."""
    rng = random.Random(8)
    from fastaug._draft.leaf import ImageDraft, MaskDraft
    from fastaug.transforms.v2.functional._utils import _get_kernel

    for _ in range(cases(150)):
        height, width, channels = rng.randint(2, 50), rng.randint(2, 50), rng.choice([1, 3])
        image = rng.choice(list(layouts(rng, height, width, channels, torch.uint8).values()))
        is_mask = rng.random() < 0.4
        draft: Any = MaskDraft(image) if is_mask else ImageDraft(image)
        wanted: Any = tv_tensors.Mask(image) if is_mask else image
        calls = []
        for _ in range(rng.randint(2, 5)):
            size = tuple(wanted.shape[-2:])
            group = rng.choice([flips, boxes, sizes, borders, warps])
            name, args, named = rng.choice(group(rng, *size, channels))
            if is_mask and named.get("interpolation") == "nearest-exact" and not since(0, 28):
                continue  # it was taken for nearest
            result = outcome(lambda: getattr(T, name)(wanted, *args, **named))  # noqa: B023
            if isinstance(result, (Exception, tuple)) or result.numel() == 0:
                continue
            calls.append((name, args, named))
            wanted = result
            draft = _get_kernel(getattr(F, name), type(draft))(draft, *args, **named)
        found = draft.result()
        assert torch.equal(found, wanted.as_subclass(Tensor)), calls
