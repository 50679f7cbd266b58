"""python -m bench samples: times transforms of v2 beside torchvision's: images, and images with boxes and masks."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from bench.case import HALF, IMAGENET_MEAN, IMAGENET_STD, OURS, REFERENCE, Case, Transform
from bench.libraries import Fastaug, Library, as_tensor
from bench.suite import Suite
from bench.v2_operations import OPERATIONS, floats

NOTE = """\
Milliseconds of processor time for one whole call (parameter draws and output allocation included) on one core; the
median, and the 10th to 90th percentile. "x" is how many times faster than torchvision.transforms.v2 on the same
samples: the median over rounds, in each of which both libraries had their turn at the same samples of a bag. "=": every
image, mask, box and label equals torchvision's for the same seed. "PIL": the image is one of Pillow's; "tensor", and
single operations: a uint8 tensor, whose arithmetic is torchvision's for tensors."""

_Make = Callable[[Any, NDArray[Any]], Any]


@dataclass(frozen=True)
class Sampled(Case):
    """A row whose inputs are made of an image of the bag: a function of tv_tensors' module and the pixels."""

    make: _Make = lambda tv, pixels: Image.fromarray(pixels)


def pil(tv: Any, pixels: NDArray[Any]) -> Any:
    return Image.fromarray(pixels)


def image(tv: Any, pixels: NDArray[Any]) -> Any:
    return tv.Image(as_tensor(pixels))


def boxes(tv: Any, height: int, width: int, count: int = 8) -> Any:
    generator = torch.Generator().manual_seed(height * width)
    corners = torch.rand(count, 2, generator=generator) * torch.tensor([width * 0.6, height * 0.6])
    sides = torch.rand(count, 2, generator=generator) * torch.tensor([width * 0.35, height * 0.35]) + 2
    return tv.BoundingBoxes(torch.cat([corners, corners + sides], 1), format="XYXY", canvas_size=(height, width))


def detected(tv: Any, pixels: NDArray[Any], container: _Make, masks: int = 0) -> Any:
    """An image with eight boxes, and masks of instances."""
    height, width = pixels.shape[:2]
    target = {"boxes": boxes(tv, height, width), "labels": torch.arange(8)}
    if masks:
        planes = torch.from_numpy(np.stack([pixels[..., k % 3] > 40 * (k % 5) for k in range(masks)]))
        target["masks"] = tv.Mask(planes)
    return container(tv, pixels), target


def segmented(tv: Any, pixels: NDArray[Any], container: _Make) -> Any:
    """An image with a mask of 21 classes."""
    return container(tv, pixels), tv.Mask(torch.from_numpy(pixels[..., 0] % 21))


def flipped(tv: Any, pixels: NDArray[Any]) -> Any:
    picture, target = detected(tv, pixels, image)
    return picture, target["boxes"], tv.Mask(torch.from_numpy(pixels[..., 0].copy())), target["labels"]


def video(tv: Any, pixels: NDArray[Any]) -> Any:
    """Sixteen frames, each the picture moved on."""
    return tv.Video(torch.stack([as_tensor(np.roll(pixels, 5 * frame, 1)) for frame in range(16)]))


def finished(v2: Any, mean: Any = IMAGENET_MEAN, std: Any = IMAGENET_STD) -> list[Any]:
    return [v2.ToImage(), floats(v2), v2.Normalize(mean, std)]


def trained(v2: Any, *augments: str) -> Transform:
    steps = [v2.RandomResizedCrop(224), v2.RandomHorizontalFlip(), *(getattr(v2, name)() for name in augments)]
    return v2.Compose([*steps, *finished(v2)])  # type: ignore[no-any-return]


def evaluated(v2: Any) -> Transform:
    return v2.Compose(  # type: ignore[no-any-return]
        [v2.Resize(256, interpolation="bicubic"), v2.CenterCrop(224), *finished(v2)]
    )


def detection(v2: Any, steps: list[Any]) -> Transform:
    ends = [
        v2.ToImage(),
        floats(v2),
        v2.ConvertBoundingBoxFormat("XYXY"),
        v2.SanitizeBoundingBoxes(),
        v2.ToPureTensor(),
    ]
    return v2.Compose([*steps, *ends])  # type: ignore[no-any-return]


def _fill(v2: Any) -> dict[Any, Any]:
    from torchvision.tv_tensors import Mask

    return {Mask: 0, "others": [123.0, 117.0, 104.0]}


def ssd(v2: Any) -> Transform:
    steps = [v2.RandomPhotometricDistort(), v2.RandomZoomOut(fill=_fill(v2)), v2.RandomIoUCrop()]
    return detection(v2, [*steps, v2.RandomHorizontalFlip()])


def rtdetr(v2: Any) -> Transform:
    steps = [v2.RandomPhotometricDistort(), v2.RandomZoomOut(fill=0), v2.RandomIoUCrop(), v2.SanitizeBoundingBoxes()]
    return detection(v2, [*steps, v2.RandomHorizontalFlip(), v2.Resize((640, 640)), v2.SanitizeBoundingBoxes()])


def multiscale(v2: Any) -> Transform:
    sides = tuple(range(480, 801, 32))
    return detection(v2, [v2.RandomShortestSize(sides, max_size=1333), v2.RandomHorizontalFlip()])


def jittered(v2: Any) -> Transform:
    crop = v2.RandomCrop(1024, pad_if_needed=True, fill=_fill(v2))
    return detection(v2, [v2.ScaleJitter((1024, 1024)), crop, v2.RandomHorizontalFlip()])


def segmentation(v2: Any) -> Transform:
    from torchvision.tv_tensors import Image as TVImage
    from torchvision.tv_tensors import Mask

    crop = v2.RandomCrop(480, pad_if_needed=True, fill={Mask: 255, "others": 0})
    dtypes = v2.ToDtype({TVImage: torch.float32, Mask: torch.int64, "others": None}, scale=True)
    return v2.Compose(  # type: ignore[no-any-return]
        [
            v2.RandomResize(260, 1040),
            v2.RandomHorizontalFlip(),
            crop,
            v2.ToImage(),
            dtypes,
            v2.Normalize(IMAGENET_MEAN, IMAGENET_STD),
            v2.ToPureTensor(),
        ]
    )


class Crops:
    """Two large and eight small views of an image, as DINO's students and teachers see it."""

    def __init__(self, v2: Any) -> None:
        self.views = [
            self._view(v2, 224, (0.32, 1.0), 1.0, 0.0),
            self._view(v2, 224, (0.32, 1.0), 0.1, 0.2),
            *[self._view(v2, 96, (0.05, 0.32), 0.5, 0.0)] * 8,
        ]

    @staticmethod
    def _view(v2: Any, size: int, scale: tuple[float, float], blurred: float, solarized: float) -> Any:
        steps = [
            v2.RandomResizedCrop(size, scale, interpolation="bicubic"),
            v2.RandomHorizontalFlip(),
            v2.RandomApply([v2.ColorJitter(0.4, 0.4, 0.2, 0.1)], 0.8),
            v2.RandomGrayscale(0.2),
            v2.RandomApply([v2.GaussianBlur(9, (0.1, 2.0))], blurred),
        ]
        if solarized:
            steps.append(v2.RandomSolarize(128, solarized))
        return v2.Compose([*steps, *finished(v2)])

    def __call__(self, picture: Any) -> list[Any]:
        return [view(picture) for view in self.views]


def of_video(v2: Any) -> Transform:
    return v2.Compose(  # type: ignore[no-any-return]
        [
            v2.UniformTemporalSubsample(8),
            v2.RandomResizedCrop(112),
            v2.ColorJitter(0.4, 0.4, 0.2, 0.1),
            v2.RandomHorizontalFlip(),
            floats(v2),
            v2.Normalize(IMAGENET_MEAN, IMAGENET_STD),
        ]
    )


def served(v2: Any) -> Transform:
    """What SAM's and Hugging Face's processors do to images of bytes."""
    return v2.Compose(  # type: ignore[no-any-return]
        [
            v2.ToImage(),
            v2.ToDtype(torch.uint8, scale=True),
            v2.Resize((1008, 1008)),
            floats(v2),
            v2.Normalize(HALF, HALF),
        ]
    )


def cifar(v2: Any) -> Transform:
    return v2.Compose(  # type: ignore[no-any-return]
        [v2.RandomCrop(32, 4), v2.RandomHorizontalFlip(), *finished(v2)]
    )


def flip(v2: Any) -> Transform:
    """Always, and called as a data set calls it: with several arguments."""
    transform = v2.RandomHorizontalFlip(1.0)
    return lambda sample: transform(*sample)


def both(name: str, bag: str, build: Callable[[Any], Transform], make: Any = None, goal: float = 0) -> tuple[Case, ...]:
    """The row for PIL images and the one for tensors."""
    goals = {"avx2": goal, "avx512vbmi": goal} if goal else {}
    containers = {"PIL": pil, "tensor": image}
    return tuple(
        Sampled(
            f"{name} [{word}]",
            bag,
            build,
            (),
            pipeline=True,
            goal=goals,
            make=container if make is None else partial(make, container=container),
        )
        for word, container in containers.items()
    )


def one(name: str, bag: str, build: Callable[[Any], Transform], make: _Make, goal: float = 0) -> Case:
    goals = {"avx2": goal, "avx512vbmi": goal} if goal else {}
    return Sampled(name, bag, build, (), pipeline=True, goal=goals, make=make)


_IMAGENET, _COCO = "photographs 500x375", "photographs 640x480"
_MASKED = partial(detected, masks=8)

PIPELINES = (
    *both("classification, train", _IMAGENET, trained, goal=6),
    *both("classification, train, RandAugment", _IMAGENET, lambda v2: trained(v2, "RandAugment")),
    *both("classification, eval", _IMAGENET, evaluated),
    *both("detection, SSD, 8 boxes", _COCO, ssd, detected, 10),
    *both("detection, RT-DETR, 8 boxes", _COCO, rtdetr, detected, 8),
    *both("detection, multiscale, 8 boxes", _COCO, multiscale, detected),
    *both("detection, large-scale jitter, 8 boxes and masks", _COCO, jittered, _MASKED, 5),
    *both("segmentation, 21 classes", _COCO, segmentation, segmented, 5),
    *both("DINOv3, 2 x 224 and 8 x 96", _IMAGENET, Crops, goal=8),
    one("video of bytes, 8 of 16 frames", "frames 320x240", of_video, video, 8),
    *both("SAM, resize to 1008", _COCO, served, goal=4),
    *both("CIFAR", "images 32x32", cifar, goal=8),
    one("flip of image, boxes, mask, labels, 8x8", "images 8x8", flip, flipped),
    *both("detection, SSD, 64x64", "images 64x64", ssd, detected),
)

CASES = PIPELINES + OPERATIONS
BY_NAME = {case.name: case for case in CASES}


class Samples(Library):
    """torchvision.transforms.v2."""

    def load(self) -> Any:
        return importlib.import_module("torchvision.transforms.v2")

    def image(self, case: Case, pixels: NDArray[Any]) -> Any:
        if not isinstance(case, Sampled):
            return as_tensor(pixels)
        return case.make(importlib.import_module("torchvision.tv_tensors"), np.array(pixels))


class FastaugSamples(Samples, Fastaug):
    """fastaug.transforms.v2."""

    def load(self) -> Any:
        return importlib.import_module("fastaug.transforms.v2")


LIBRARIES: dict[str, Callable[[], Library]] = {REFERENCE: Samples, OURS: FastaugSamples}


def as_array(result: Any) -> NDArray[Any]:
    """All leaves of a result, with their types and shapes, as bytes."""
    from torch.utils._pytree import tree_flatten

    parts = []
    for leaf in tree_flatten(result)[0]:
        values = leaf.as_subclass(torch.Tensor).numpy() if isinstance(leaf, torch.Tensor) else np.asarray(leaf)
        head = f"{type(leaf).__name__} {values.dtype} {values.shape} {getattr(leaf, 'canvas_size', '')}"
        parts += [head.encode(), np.ascontiguousarray(values).tobytes()]
    return np.frombuffer(b"".join(parts), np.uint8)


main = Suite("samples", __doc__, NOTE, CASES, LIBRARIES).main


if __name__ == "__main__":
    raise SystemExit(main())
