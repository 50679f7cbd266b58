"""The pipelines of transforms.v2 that people train with, and samples for them: small photographs and their targets.

Classification, detection, segmentation, self-supervision, video and robotics, with PIL images and with tensors.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torchvision import tv_tensors as tvt

from support.images import PHOTOS, photo, to_chw
from support.random_samples import boxes, mask

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
FILL = (123.0, 117.0, 104.0)
Steps = Callable[[Any], list[Any]]


def to_float(v2: Any) -> list[Any]:
    return [v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD)]


def classification(v2: Any) -> list[Any]:
    return [v2.RandomResizedCrop(56), v2.RandomHorizontalFlip()]


def rand_augment(v2: Any) -> list[Any]:
    return [*classification(v2), v2.RandAugment()]


def evaluation(v2: Any) -> list[Any]:
    return [v2.Resize(64, interpolation="bicubic"), v2.CenterCrop(56)]


def cifar(v2: Any) -> list[Any]:
    return [v2.RandomCrop(32, 4), v2.RandomHorizontalFlip()]


def sam3(v2: Any) -> list[Any]:
    return [v2.ToDtype(torch.uint8, scale=True), v2.Resize((126, 126))]


def ssd(v2: Any) -> list[Any]:
    fill = {tvt.Mask: 0, "others": list(FILL)}
    crop = [v2.RandomPhotometricDistort(), v2.RandomZoomOut(fill=fill), v2.RandomIoUCrop()]
    return [*crop, v2.RandomHorizontalFlip()]


def rt_detr(v2: Any) -> list[Any]:
    crop = [v2.RandomPhotometricDistort(p=0.5), v2.RandomZoomOut(fill=0), v2.RandomApply([v2.RandomIoUCrop()], 0.8)]
    flip = [v2.SanitizeBoundingBoxes(min_size=1), v2.RandomHorizontalFlip()]
    return [*crop, *flip, v2.Resize((80, 80)), v2.SanitizeBoundingBoxes(min_size=1)]


def multiscale(v2: Any) -> list[Any]:
    return [v2.RandomShortestSize(tuple(range(60, 101, 4)), max_size=166), v2.RandomHorizontalFlip()]


def large_scale_jitter(v2: Any) -> list[Any]:
    fill = {tvt.Mask: 0, "others": list(FILL)}
    return [v2.ScaleJitter((96, 96)), v2.RandomCrop(96, pad_if_needed=True, fill=fill), v2.RandomHorizontalFlip()]


def segmentation(v2: Any) -> list[Any]:
    crop = v2.RandomCrop(60, pad_if_needed=True, fill={tvt.Mask: 255, "others": 0})
    return [v2.RandomResize(32, 130), v2.RandomHorizontalFlip(), crop]


def segmentation_end(v2: Any) -> list[Any]:
    dtypes = {tvt.Image: torch.float32, tvt.Mask: torch.int64, "others": None}
    return [v2.ToDtype(dtypes, scale=True), v2.Normalize(MEAN, STD), v2.ToPureTensor()]


def detection_end(v2: Any) -> list[Any]:
    convert = [v2.ToDtype(torch.float32, scale=True), v2.ConvertBoundingBoxFormat("XYXY")]
    return [*convert, v2.SanitizeBoundingBoxes(), v2.ToPureTensor()]


def composed(steps: Steps, end: Steps, first: bool) -> Callable[[Any], Any]:
    """ToImage in front of all, or behind the augmentations of PIL images."""

    def make(v2: Any) -> Any:
        before, after = ([v2.ToImage()], []) if first else ([], [v2.ToImage()])
        return v2.Compose([*before, *steps(v2), *after, *end(v2)])

    return make


def multi_crop(v2: Any, first: bool) -> Any:
    """DINOv3's: two global crops and eight local ones, each of a Compose of its own."""

    def jitter() -> list[Any]:
        return [v2.RandomApply([v2.ColorJitter(0.4, 0.4, 0.2, 0.1)], 0.8), v2.RandomGrayscale(0.2)]

    def crop(size: int, scale: tuple[float, float], p: float, *more: Any) -> Any:
        cut = [v2.RandomResizedCrop(size, scale, interpolation="bicubic"), v2.RandomHorizontalFlip(), *jitter()]
        blur = v2.RandomApply([v2.GaussianBlur(9, (0.1, 2.0))], p)
        return v2.Compose([*cut, blur, *more, v2.ToImage(), *to_float(v2)])

    to_image = v2.ToImage() if first else v2.Identity()
    crops = [crop(56, (0.32, 1.0), 1.0), crop(56, (0.32, 1.0), 0.1, v2.RandomSolarize(128, 0.2))]
    crops += [crop(24, (0.05, 0.32), 0.5)] * 8

    def call(image: Any) -> list[Any]:
        image = to_image(image)
        return [one(image) for one in crops]

    return call


def lerobot(v2: Any) -> Any:
    """Three of six in order, sharpness by a Transform of the user's."""

    class SharpnessJitter(v2.Transform):  # type: ignore[misc, name-defined]
        def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
            return {"sharpness_factor": torch.empty(1).uniform_(0.5, 1.5).item()}

        def transform(self, leaf: Any, params: dict[str, Any]) -> Any:
            return self._call_kernel(v2.functional.adjust_sharpness, leaf, **params)

    class Subset(v2.Transform):  # type: ignore[misc, name-defined]
        def __init__(self, transforms: list[Any], count: int) -> None:
            super().__init__()
            self.transforms, self.count = transforms, count

        def forward(self, *inputs: Any) -> Any:
            weights = torch.ones(len(self.transforms)) / len(self.transforms)
            for index in torch.multinomial(weights, self.count).sort().values:
                outputs = self.transforms[index](*inputs)
                inputs = outputs if len(inputs) > 1 else (outputs,)
            return outputs

    colours = [
        v2.ColorJitter(brightness=(0.8, 1.2)),
        v2.ColorJitter(contrast=(0.8, 1.2)),
        v2.ColorJitter(saturation=(0.5, 1.5)),
        v2.ColorJitter(hue=(-0.05, 0.05)),
    ]
    return Subset([*colours, SharpnessJitter(), v2.RandomAffine((-5.0, 5.0), (0.05, 0.05))], 3)


def video_reference(v2: Any) -> Any:
    resize = [v2.ConvertImageDtype(torch.float32), v2.Resize((40, 52), antialias=False), v2.RandomHorizontalFlip()]
    return v2.Compose([*resize, v2.Normalize(MEAN, STD), v2.RandomCrop(32)])


def video_bytes(v2: Any) -> Any:
    jitter = [v2.ColorJitter(0.4, 0.4, 0.2, 0.1), v2.RandomHorizontalFlip()]
    return v2.Compose([v2.UniformTemporalSubsample(3), v2.RandomResizedCrop(32), *jitter, *to_float(v2)])


# ---- samples

#: (height, width): landscape, portrait, square.
SIZES = ((75, 100), (90, 60), (64, 64), (61, 83))


def picture(seed: int) -> Any:
    height, width = SIZES[seed % 4]
    return shrunk(PHOTOS[seed // 4 % 4], height, width).copy()


@functools.cache
def shrunk(title: str, height: int, width: int) -> Any:
    return photo(title).resize((width, height))


def alone(seed: int) -> tuple[Any, ...]:
    return (picture(seed),)


def small(seed: int) -> tuple[Any, ...]:
    return (picture(seed).crop((3, 5, 35, 37)),)


def detection(seed: int, masks: bool = False) -> tuple[Any, ...]:
    """An image and its target, as two inputs or as one, in turn."""
    image, canvas, count = picture(seed), SIZES[seed % 4], (8, 3, 1, 0)[seed // 5 % 4]
    format = ("XYXY", "XYWH", "CXCYWH")[seed % 3]
    target: dict[str, Any] = {"boxes": boxes(format, count, canvas, "float32", "soft", seed)}
    if masks:
        target["masks"] = mask("uint8", seed, count, *canvas)
    target |= {"labels": torch.arange(count), "image_id": seed}
    return (image, target) if seed % 2 else ((image, target),)


def instances(seed: int) -> tuple[Any, ...]:
    return detection(seed, masks=True)


def segmented(seed: int) -> tuple[Any, ...]:
    return picture(seed), mask("uint8", seed, *SIZES[seed % 4])


def frames(seed: int, video: bool) -> tuple[Any, ...]:
    whole = photo(PHOTOS[seed % 4])
    moved = [to_chw(whole.crop((5 * t, 3 * t, 5 * t + 200, 3 * t + 160)).resize((50, 40))) for t in range(6)]
    stacked = torch.stack(moved)
    return (tvt.Video(stacked) if video else stacked,)


def camera(seed: int) -> tuple[Any, ...]:
    return (to_chw(picture(seed)) / 255,)


Make = Callable[[Any], Any]
Draw = Callable[[int], tuple[Any, ...]]
#: Pipelines, their samples, and whether they are exact: floats are computed of floats in some.
PIPELINES: dict[str, tuple[Make, Draw, bool]] = {}
for _first, _of in ((False, "PIL"), (True, "tensors")):
    for _name, _steps, _end, _draw in (
        ("classification", classification, to_float, alone),
        ("classification with RandAugment", rand_augment, to_float, alone),
        ("evaluation", evaluation, to_float, alone),
        ("CIFAR", cifar, to_float, small),
        ("SSD", ssd, detection_end, detection),
        ("RT-DETR", rt_detr, detection_end, detection),
        ("multiscale", multiscale, detection_end, detection),
        ("large scale jitter", large_scale_jitter, detection_end, instances),
        ("segmentation", segmentation, segmentation_end, segmented),
    ):
        PIPELINES[f"{_name}, {_of}"] = (composed(_steps, _end, _first), _draw, True)
    PIPELINES[f"DINOv3, {_of}"] = (functools.partial(multi_crop, first=_first), alone, True)
PIPELINES |= {
    "SAM 3": (composed(sam3, to_float, True), alone, True),
    "video, floats": (video_reference, functools.partial(frames, video=False), False),
    "video, bytes": (video_bytes, functools.partial(frames, video=True), True),
    "lerobot": (lerobot, camera, False),
}
