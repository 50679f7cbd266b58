"""The same work by other libraries on a GPU, as their users write it. Each draws parameters of its own."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from bench.case import HALF, IMAGENET_MEAN, IMAGENET_STD
from bench.gpu.machine import found
from bench.gpu.report import Spread, spread

#: What makes the results of images on a device: a float tensor, or a list of them.
Work = Callable[[], Any]


class Unfit(Exception):
    """A library has no way to do it."""


def torchvision_v2(pipeline: str, size: int, images: Sequence[torch.Tensor]) -> Work:
    """A loop of the transforms for tensors, image by image."""
    from torchvision.transforms import v2

    if pipeline == "P":
        steps = [
            v2.RandomRotation(25),
            v2.RandomResizedCrop(1024, scale=(0.5, 1.5), ratio=(0.8, 1.2), antialias=True),
            v2.Resize(size, antialias=True),
            v2.RandomHorizontalFlip(),
            v2.RandomVerticalFlip(),
            v2.ColorJitter(0.2, 0.1, 0.05, 0.02),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize(HALF, HALF),
        ]
    else:
        steps = [
            v2.RandomResizedCrop(size, antialias=True),
            v2.RandomHorizontalFlip(),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize(IMAGENET_MEAN, IMAGENET_STD),
        ]
    transform = v2.Compose(steps)
    return lambda: torch.stack([transform(image) for image in images])


def kornia(pipeline: str, size: int, images: Sequence[torch.Tensor]) -> Work:
    """One call on the whole bag of float images, where they are of one size; else a loop."""
    from kornia import augmentation as K

    if pipeline == "P":
        steps = [
            K.RandomRotation(25.0, p=1.0, resample="nearest"),
            K.RandomResizedCrop((1024, 1024), scale=(0.5, 1.5), ratio=(0.8, 1.2), p=1.0),
            K.Resize((size, size), antialias=True),
            K.RandomHorizontalFlip(),
            K.RandomVerticalFlip(),
            K.ColorJitter(0.2, 0.1, 0.05, 0.02, p=1.0),
            K.Normalize(torch.tensor(HALF), torch.tensor(HALF)),
        ]
        transform = torch.nn.Sequential(*steps)
        return lambda: transform(torch.stack(list(images)).float() / 255)
    transform = torch.nn.Sequential(
        K.RandomResizedCrop((size, size), p=1.0),
        K.RandomHorizontalFlip(),
        K.Normalize(torch.tensor(IMAGENET_MEAN), torch.tensor(IMAGENET_STD)),
    )
    return lambda: torch.cat([transform(image[None].float() / 255) for image in images])


def dali(pipeline: str, size: int, images: Sequence[torch.Tensor]) -> Work:
    """A pipeline that is fed with images on the device, and whose results torch sees where they are."""
    from nvidia.dali import fn, pipeline_def
    from nvidia.dali import types as dali_types

    hwc = [image.permute(1, 2, 0).contiguous() for image in images]
    mean, std = (HALF, HALF) if pipeline == "P" else (IMAGENET_MEAN, IMAGENET_STD)

    @pipeline_def(batch_size=len(hwc), num_threads=4, device_id=torch.cuda.current_device(), prefetch_queue_depth=1)
    def graph() -> Any:
        x = fn.external_source(source=lambda: hwc, device="gpu", layout="HWC")
        mirrored = fn.random.coin_flip()
        if pipeline == "P":
            x = fn.rotate(
                x, angle=fn.random.uniform(range=(-25.0, 25.0)), keep_size=True, fill_value=0,
                interp_type=dali_types.INTERP_NN,
            )  # fmt: skip
            # torchvision draws again where an area is larger than the image; DALI takes no such areas.
            x = fn.random_resized_crop(
                x, size=(1024, 1024), random_area=(0.5, 1.0), random_aspect_ratio=(0.8, 1.2), antialias=True
            )
            x = fn.resize(x, size=(size, size), antialias=True)
            x = fn.flip(x, vertical=fn.random.coin_flip(), horizontal=0)
            x = fn.color_twist(
                x,
                brightness=fn.random.uniform(range=(0.8, 1.2)),
                contrast=fn.random.uniform(range=(0.9, 1.1)),
                saturation=fn.random.uniform(range=(0.95, 1.05)),
                hue=fn.random.uniform(range=(-7.2, 7.2)),
            )
        else:
            x = fn.random_resized_crop(x, size=(size, size), antialias=True)
        scaled = {"mean": [255 * one for one in mean], "std": [255 * one for one in std]}
        return fn.crop_mirror_normalize(x, mirror=mirrored, output_layout="CHW", **scaled)

    made = graph()
    made.build()

    def work() -> torch.Tensor:
        (result,) = made.run()
        return torch.from_dlpack(result.as_tensor())

    return work


def cvcuda(pipeline: str, size: int, images: Sequence[torch.Tensor]) -> Work:
    """Operators one after the other, image by image since parameters differ; saturation and hue are left out."""
    import cvcuda as cv

    if pipeline != "P":
        raise Unfit("images of several sizes are not written for it")
    mean, std = (torch.tensor(one, device=images[0].device).view(1, 1, 1, 3) for one in (HALF, HALF))
    hwc = [image.permute(1, 2, 0).contiguous()[None] for image in images]

    def one(image: torch.Tensor) -> torch.Tensor:
        share, brightness, contrast, area = torch.rand(4).tolist()
        height, width = image.shape[1:3]
        # The shift that keeps the centre where it is, as in OpenCV's getRotationMatrix2D.
        degrees, across, down = 50 * share - 25, (width - 1) / 2, (height - 1) / 2
        cosine, sine = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
        shift = [(1 - cosine) * across - sine * down, sine * across + (1 - cosine) * down]
        x = cv.rotate(cv.as_tensor(image, "NHWC"), angle_deg=degrees, shift=shift, interpolation=cv.Interp.NEAREST)
        side = int((0.5 + 0.5 * area) ** 0.5 * min(height, width))
        x = cv.customcrop(x, cv.RectI((width - side) // 2, (height - side) // 2, side, side))
        x = cv.resize(x, (1, 1024, 1024, 3), cv.Interp.LINEAR)
        x = cv.resize(x, (1, size, size, 3), cv.Interp.AREA)
        x = cv.flip(x, int(torch.randint(-1, 2, ())))
        factors = [torch.tensor([one], device=image.device) for one in (0.8 + 0.4 * brightness, 0.9 + 0.2 * contrast)]
        bright, strong = (cv.as_tensor(factor, "N") for factor in factors)
        x = cv.brightness_contrast(x, brightness=bright, contrast=strong)
        pixels = torch.as_tensor(x.cuda(), device=image.device)
        return ((pixels.float() / 255 - mean) / std).permute(0, 3, 1, 2)

    return lambda: torch.cat([one(image) for image in hwc])


LIBRARIES: dict[str, Callable[[str, int, Sequence[torch.Tensor]], Work]] = {
    "torchvision": torchvision_v2,
    "Kornia": kornia,
    "DALI": dali,
    "CV-CUDA": cvcuda,
}
LABELS = {"torchvision": "torchvision v2, a loop", "CV-CUDA": "CV-CUDA, without saturation and hue"}


def alike(result: torch.Tensor, ours: torch.Tensor) -> str:
    """Why the work is not the same as far as that can be told of random results; "" if nothing is found.

    Shape, type, and what the channels are on average: parameters differ, and one bag has many of them.
    """
    if result.shape != ours.shape or result.dtype != ours.dtype:
        return f"{tuple(result.shape)} {result.dtype} in place of {tuple(ours.shape)} {ours.dtype}"
    means = (result.double().mean((0, 2, 3)) - ours.double().mean((0, 2, 3))).abs()
    spreads = result.double().std() / ours.double().std()
    if float(means.max()) > 0.25 or not 0.7 < float(spreads) < 1.4:
        return f"channels are {float(means.max()):.2f} away on average, and {float(spreads):.2f} as wide"
    return ""


def measured(
    case: Any, images: Sequence[torch.Tensor], ours: torch.Tensor, time: Callable[[Work], Sequence[float]]
) -> tuple[dict[str, Spread], dict[str, str]]:
    """Seconds an image of every library that is here, and why one has none.

    Args:
        case: a GpuCase with `rivals`.
        images: on the device.
        ours: fastaug's results of them.
        time: seconds of many calls.
    """
    times: dict[str, Spread] = {}
    absent: dict[str, str] = {}
    here = found()
    for name, make in LIBRARIES.items():
        label = LABELS.get(name, name)
        if not here[name]:
            absent[label] = "not installed"
            continue
        try:
            work = make(case.rivals, case.size, images)
            result = work()
            if reason := alike(result, ours):
                absent[label] = f"not the same work: {reason}"
                continue
            del result
            times[label] = spread(time(work), 1 / len(images))
        except Unfit as reason:
            absent[label] = str(reason)
        except Exception as error:
            absent[label] = f"failed: {type(error).__name__}: {error}"
    return times, absent
