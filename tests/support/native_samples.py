"""Random transforms, pipelines and samples of v2, with arguments of every kind that recipes are told."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from PIL import Image

import fastaug
from fastaug import tv_tensors
from fastaug.io import LazyImage
from fastaug.transforms import v2
from support.native_calls import (
    WIDE,
    Random,
    borders,
    degrees,
    fill,
    mode,
    p,
    padding_mode,
    plain_image,
    shape,
)
from support.native_steps import Steps

# So that it is known from here on whose classes they are.
IMAGE, VIDEO = tv_tensors.Image, tv_tensors.Video


def named(r: Random) -> Any:
    found = mode(r)
    return r.choice([found, found.value])


V2 = Steps(v2, named, None, 1)
several, crop, norm, erasing, STEPS = V2.several, V2.crop, V2.norm, V2.erasing, V2.by_name
STEPS["RandomPosterize"] = lambda r: v2.RandomPosterize(r.randint(0, 9), p(r))
STEPS["ScaleJitter"] = lambda r: v2.ScaleJitter(
    (r.randint(1, 40), r.randint(1, 40)), r.choice([(0.1, 2.0), (1, 1), (0.9, 1.3)]), named(r), r.random() < 0.8
)
STEPS["JPEG"] = lambda r: v2.JPEG(r.choice([50, (5, 60), (1, 100)]))
STEPS["RandomShortestSize"] = lambda r: v2.RandomShortestSize(
    r.choice([7, [5, 12, 30]]), r.choice([None, 20, 41]), named(r), r.random() < 0.8
)


STEPS["RandomResize"] = lambda r: v2.RandomResize(r.randint(1, 20), r.randint(21, 40), named(r), r.random() < 0.8)


def distort(r: Random) -> Any:
    ranges = [sorted((r.uniform(0, 2), r.uniform(0, 2))) for _ in range(3)]
    return v2.RandomPhotometricDistort(*ranges, hue=sorted((r.uniform(-0.5, 0.5), r.uniform(-0.5, 0.5))), p=p(r))


STEPS["RandomPhotometricDistort"] = distort
STEPS["RandomChannelPermutation"] = lambda r: v2.RandomChannelPermutation()
STEPS["RandomZoomOut"] = lambda r: v2.RandomZoomOut(
    fill(r), r.choice([(1.0, 4.0), (1, 1), [1.2, 1.9]]), r.choice([0.5, 1.0])
)


FORMATS = ("XYXY", "XYWH", "CXCYWH")
STEPS["ConvertBoundingBoxFormat"] = lambda r: v2.ConvertBoundingBoxFormat(
    r.choice([*FORMATS, "cxcywh", *tv_tensors.BoundingBoxFormat])
)
STEPS["ClampBoundingBoxes"] = lambda r: v2.ClampBoundingBoxes(r.choice(["auto", "soft", "hard", None]))
STEPS["SetClampingMode"] = lambda r: v2.SetClampingMode(r.choice(["soft", "hard", None]))
STEPS["ClampKeyPoints"] = lambda r: v2.ClampKeyPoints()


def outside(r: Random) -> Any:
    """A fill for all leaves, or a dictionary of fills by their types."""
    types = [Image.Image, torch.Tensor, IMAGE, VIDEO, tv_tensors.Mask, "others"]
    return fill(r) if r.random() < 0.5 else {kind: fill(r) for kind in r.sample(types, r.randint(1, 4))}


# Transforms whose fills may depend on the types of leaves.
BY_TYPES: dict[str, Callable[[Random], Any]] = {
    "Pad by types": lambda r: v2.Pad(borders(r), outside(r), padding_mode(r)),
    "RandomCrop by types": lambda r: v2.RandomCrop(shape(r), borders(r), True, outside(r), padding_mode(r)),
    "RandomZoomOut by types": lambda r: v2.RandomZoomOut(outside(r), p=1.0),
    "RandomAffine by types": lambda r: v2.RandomAffine(degrees(r), (0.3, 0.2), fill=outside(r)),
    "RandomPerspective by types": lambda r: v2.RandomPerspective(0.5, 1, fill=outside(r)),
    "RandomRotation by types": lambda r: v2.RandomRotation(degrees(r), expand=r.random() < 0.5, fill=outside(r)),
}


def scaled(r: Random, dtype: torch.dtype) -> Any:
    return r.choice([v2.ToDtype(dtype, scale=True), v2.ConvertImageDtype(dtype)])


def by_types(r: Random) -> Any:
    """Floats, and other dtypes of masks."""
    types: dict[Any, Any] = {tv_tensors.Mask: r.choice([None, torch.int64, torch.uint8, torch.bool])}
    images = {IMAGE: torch.float32, "others": None}
    types |= {} if r.random() < 0.5 else {VIDEO: r.choice([None, torch.float32])}
    types |= r.choice([images, images, {torch.Tensor: torch.float32, "others": None}, {"others": torch.float32}, {}])
    return v2.ToDtype(types, scale=True)


def choice(r: Random) -> Any:
    transforms = several(r)
    return v2.RandomChoice(transforms, r.choice([None, [r.choice([0, 1, 2.5]) + r.random() for _ in transforms]]))


STEPS["RandomChoice"] = choice
STEPS["RandomOrder"] = lambda r: v2.RandomOrder(several(r))


def floats(r: Random) -> Any:
    return scaled(r, torch.float32)


def of_places(r: Random) -> list[Any]:
    """What changes no image, and may end a pipeline."""
    sanitize = v2.SanitizeBoundingBoxes(
        r.choice([1, 5]), labels_getter=r.choice(["default", None, lambda sample: None])
    )
    others = [v2.ConvertBoundingBoxFormat("CXCYWH"), v2.ClampBoundingBoxes(), v2.ClampKeyPoints(), v2.ToPureTensor()]
    points = v2.SanitizeKeyPoints(r.choice([None, None, "default", lambda sample: None]))
    return [*r.sample([sanitize, points, *others], r.randint(1, 3))]


#: What pipelines end in, and what may come after it.
ENDS: tuple[Callable[[Random], list[Any]], ...] = (
    lambda r: [v2.ToImage(), floats(r), norm(r)],
    lambda r: [v2.PILToTensor(), floats(r), norm(r)],
    lambda r: [v2.ToImage(), *several(r), floats(r), norm(r), v2.ToPureTensor()],
    lambda r: [v2.PILToTensor(), *several(r), scaled(r, torch.uint8)],
    lambda r: [v2.ToImage(), floats(r), norm(r), erasing(r), v2.RandomHorizontalFlip()],
    lambda r: [v2.ToImage(), *several(r)],
    lambda r: [v2.ToImage(), *several(r), *of_places(r)],
    lambda r: [*several(r), *of_places(r)],
    lambda r: [v2.ToImage(), v2.RandomHorizontalFlip(), crop(r), floats(r)],
    lambda r: [v2.ToImage(), *several(r), by_types(r)],
    lambda r: [v2.PILToTensor()],
    lambda r: [v2.ToImage()],
    lambda r: [],
)


def tagged(r: Random, image: Any) -> Any:
    """An image of random_image, mostly as it is, some tensors as tv_tensors."""
    if not isinstance(image, torch.Tensor) or r.random() < 0.5:
        return image
    return VIDEO(image) if image.ndim > 3 and r.random() < 0.6 else IMAGE(image)


def places(r: Random, canvas: tuple[int, int]) -> Any:
    """Boxes or points on a canvas, mostly of kinds that the core moves."""
    count, dtype = (
        r.choice([0, 1, 3]),
        r.choice([torch.float32, torch.float32, torch.float64, torch.int64, torch.int32]),
    )
    points = r.random() < 0.4
    values = torch.tensor([[r.uniform(-9, 50) for _ in range(2 if points else 4)] for _ in range(count)])
    values = values.reshape(count, 2 if points else 4).to(dtype)
    if r.random() < 0.2:
        values = values.repeat_interleave(2, dim=1)[:, ::2]
    if points:
        values = values.reshape(count, 1, 2) if r.random() < 0.3 else values
        return tv_tensors.KeyPoints(values, canvas_size=canvas)
    format, clamping = r.choice(FORMATS), r.choice(["soft", "hard", None])
    if r.random() < 0.05:
        format, values = "CXCYWHR", torch.rand(count, 5) * 20
    return tv_tensors.BoundingBoxes(  # type: ignore[call-overload]
        values, format=format, canvas_size=canvas, clamping_mode=clamping
    )


def mask(r: Random, canvas: tuple[int, int]) -> Any:
    """A mask for a canvas, mostly of kinds that the core moves."""
    planes = r.choice([[], [], [1], [3], [r.randint(0, 9)]])
    dtype = r.choice([*[torch.uint8] * 9, *[torch.bool] * 3, *WIDE, *WIDE, torch.float64, torch.float16])
    most = 2 ** r.choice([8, 15, 31]) if dtype in WIDE else 256
    generator = torch.Generator().manual_seed(r.randrange(2**32))
    values = torch.randint(-most if dtype in WIDE else 0, most, (*planes, *canvas), generator=generator)
    if dtype is torch.float32:
        values = values / 3
    return tv_tensors.Mask(values > 99 if dtype is torch.bool else values.to(dtype))


def other_leaf(r: Random, canvas: tuple[int, int]) -> Any:
    """A leaf beside an image: what moves with it, or stays as it is; few that the core leaves to Python."""
    odd = [
        lambda: tv_tensors.Mask(torch.zeros((*canvas, 2), dtype=torch.uint8).permute(2, 0, 1)),
        lambda: tv_tensors.Mask(torch.zeros((7, 9), dtype=torch.uint8)),
        lambda: tv_tensors.Mask(torch.zeros(canvas[-1:], dtype=torch.uint8)),
        lambda: IMAGE(torch.zeros(3, *canvas, dtype=torch.uint8)),
        lambda: places(r, (7, 9)),
        lambda: torch.nn.Parameter(torch.ones(2)),
        lambda: np.zeros((*canvas, 3), dtype=np.uint8),
        lambda: OrderedDict(label=1),
        lambda: torch.zeros(3, *canvas, dtype=torch.uint8),
    ]
    if r.random() < 0.06:
        return r.choice(odd)()
    plain = [lambda: torch.tensor([1, 2]), lambda: "cat", lambda: 3, lambda: None, lambda: torch.zeros(())]
    return r.choice([places, mask])(r, canvas) if r.random() < 0.6 else r.choice(plain)()


def canvas_of(image: Any) -> tuple[int, int]:
    """The height and width of an image."""
    if isinstance(image, torch.Tensor):
        return image.shape[-2], image.shape[-1]
    return image.height, image.width


def arranged(r: Random, leaves: list[Any]) -> Any:
    """A tuple, list or dictionary of the leaves, some of them in others."""
    if len(leaves) > 2 and r.random() < 0.5:
        cut = r.randint(0, len(leaves))
        leaves = [*leaves[:cut], arranged(r, leaves[cut:])]
    kind = r.choice([tuple, list, dict])
    return dict(zip("cabdefg", leaves)) if kind is dict else kind(leaves)


def random_sample(r: Random, image: Any) -> Any:
    has_size = isinstance(image, (Image.Image, LazyImage)) or (isinstance(image, torch.Tensor) and image.ndim > 1)
    canvas = canvas_of(image) if has_size else (30, 40)
    leaves = [other_leaf(r, canvas) for _ in range(r.randint(0, 4))]
    leaves.insert(r.choice([0, 0, r.randint(0, len(leaves))]), image)
    return arranged(r, leaves)


def random_pipeline(r: Random, *first: Any) -> Any:
    steps = [*first, *(several(r) if r.random() < 0.8 else [])]
    steps += r.choice(ENDS)(r)
    pipeline = v2.Compose(steps or [v2.ToImage()], arithmetic=r.choice(["container", "container", "pil"]))
    if r.random() < 0.6:
        return pipeline
    dtype = r.choice([None, None, torch.float16])
    layout = r.choice([None, None, torch.channels_last, torch.contiguous_format])
    generator = r.choice([None, torch.Generator().manual_seed(3)])
    return fastaug.compile(pipeline, generator=generator, dtype=dtype, memory_format=layout)


#: Kinds of images for which the core does every step, and others, of which some steps are left to Pillow or torch.
USUAL = ("L", "RGB", "tensor", "tagged", "strided", "stack", "video", "opened", "encoded")
OTHERS = ("LA", "RGBA", "CMYK", "YCbCr", "HSV", "told", "four planes")


def image_of(r: Random, kind: str) -> Any:
    image = plain_image(r, {"tagged": "tensor", "opened": "RGB", "video": "stack"}.get(kind, kind))
    return IMAGE(image) if kind == "tagged" else VIDEO(image) if kind == "video" else image


#: Steps that raise an error for boxes.
REFUSING = ("AutoAugment", "RandAugment", "TrivialAugmentWide")
