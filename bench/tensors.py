"""python -m bench tensors: times transforms of uint8 tensors beside torchvision's on the same tensors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from numpy.typing import NDArray

from bench.case import FAST, HALF, IMAGENET_MEAN, IMAGENET_STD, OURS, REFERENCE, Case, Transform
from bench.libraries import Fastaug, Library, as_tensor
from bench.libraries import as_array as as_array
from bench.operations import AFFINE, CORNERS, displaced, erased, function, mode, resize
from bench.suite import Suite

NOTE = """\
Milliseconds of processor time for one whole call (parameter draws and output allocation included) on uint8 CHW tensors
and one core; the median, and the 10th to 90th percentile. "x" is how many times faster than torchvision's v1 transforms
on the same tensors: the median over rounds, in each of which every library had its turn at the same cold images of a
bag. "=": every sample equals torchvision's for the same seed; "~": same parameters, other samples, within the contract
of fast mode."""


def one(name: str, build: Callable[[Any], Transform], *ops: str, goal: float | None = None) -> Case:
    goals = {} if goal is None else dict.fromkeys(("scalar", "sse4", "avx2", "avx512vbmi"), goal)
    return Case(name, "images 512x512", build, ops, goal=goals)


def pipeline(name: str, bag: str, build: Callable[[Any], Transform], goal: float | None = None) -> Case:
    goals = {} if goal is None else {"avx2": goal, "avx512vbmi": goal}
    return Case(name, bag, build, (), pipeline=True, goal=goals)


def finished(T: Any, steps: list[Any], mean: Any = IMAGENET_MEAN, std: Any = IMAGENET_STD) -> Transform:
    """Made floats and normalised."""
    return T.Compose([*steps, T.ConvertImageDtype(torch.float32), T.Normalize(mean, std)])  # type: ignore[no-any-return]


def pipeline_p(T: Any, rotation: str) -> Transform:
    """The reference pipeline of the project, but for its way through a PIL image."""
    steps = [
        T.RandomRotation(25, interpolation=mode(T, rotation)),
        T.RandomResizedCrop(1024, scale=(0.5, 1.5), ratio=(0.8, 1.2)),
        T.Resize(512),
        T.RandomHorizontalFlip(),
        T.RandomVerticalFlip(),
        T.ColorJitter(0.2, 0.1, 0.05, 0.02),
    ]
    return finished(T, steps, HALF, HALF)


def trained(T: Any, augment: str | None = None) -> Transform:
    augments = [] if augment is None else [getattr(T, augment)()]
    return finished(T, [T.RandomResizedCrop(224), T.RandomHorizontalFlip(), *augments])


#: What is left to torch, or is one move for it; and views.
LEVEL, VIEW = 0.95, 0.83

MOVES = (
    one("hflip", function("hflip"), "HFLIP", goal=LEVEL),
    one("vflip", function("vflip"), "VFLIP", goal=LEVEL),
    one("crop", function("crop", top=100, left=90, height=224, width=224), goal=VIEW),
    one("center_crop", function("center_crop", output_size=[224, 224]), "WINDOW", goal=VIEW),
    one("five_crop", function("five_crop", size=[224, 224]), goal=VIEW),
    one("crop, beyond the image", function("crop", top=-100, left=-90, height=600, width=600), goal=LEVEL),
    one("pad", function("pad", padding=[10, 20], fill=7), "WINDOW", goal=LEVEL),
    one("pad, reflect", function("pad", padding=[10, 20], padding_mode="reflect"), "PAD", goal=LEVEL),
    one("erase", erased, goal=LEVEL),
    one("invert", function("invert"), "INVERT", goal=LEVEL),
    one("posterize", function("posterize", bits=3), "POSTERIZE", goal=LEVEL),
    one("convert_image_dtype", function("convert_image_dtype", dtype=torch.float32), "TO_FLOAT", goal=LEVEL),
)
GEOMETRY = (
    *(one(f"resize to {size}, nearest", resize(size, "nearest"), "NEAREST", goal=2) for size in (224, 700)),
    *(
        one(f"resize to {size}, {m}", resize(size, m), "TORCH_RESIZE", goal=4)
        for size in (224, 700)
        for m in ("bilinear", "bicubic")
    ),
    one("resize to 224, bilinear, antialias=False", lambda T: T.Resize(224, antialias=False), goal=LEVEL),
    *(
        one(f"{name}, {m}", function(name.partition(",")[0], interpolation=m, **more), op, goal=least)
        for name, op, more in (
            ("rotate", "TORCH_AFFINE", {"angle": 17.3}),
            ("affine", "TORCH_AFFINE", AFFINE),
            ("perspective", "TORCH_PERSPECTIVE", CORNERS),
            ("rotate, expand, filled", "TORCH_AFFINE", {"angle": 17.3, "expand": True, "fill": 9}),
        )
        for m, least in (("nearest", 5), ("bilinear", 4))
    ),
    *(one(f"elastic_transform, {m}", partial(displaced, interpolation=m), goal=2.5) for m in ("nearest", "bilinear")),
)
COLOUR = (
    one("adjust_brightness", function("adjust_brightness", brightness_factor=1.13), "BRIGHTNESS", goal=5),
    one("adjust_contrast", function("adjust_contrast", contrast_factor=1.13), "TORCH_CONTRAST", goal=3),
    one("adjust_saturation", function("adjust_saturation", saturation_factor=1.13), "TORCH_SATURATION", goal=5),
    one("adjust_hue", function("adjust_hue", hue_factor=0.05), "TORCH_HUE", goal=5),
    one("adjust_sharpness", function("adjust_sharpness", sharpness_factor=1.5), "TORCH_SHARPNESS", goal=5),
    one("adjust_gamma", function("adjust_gamma", gamma=1.7), "TORCH_GAMMA", goal=5),
    one("rgb_to_grayscale", function("rgb_to_grayscale"), "TORCH_LUMA", goal=3),
    one("rgb_to_grayscale, 3", function("rgb_to_grayscale", num_output_channels=3), "TORCH_LUMA", "REPLICATE", goal=3),
    one("solarize", function("solarize", threshold=128), "SOLARIZE", goal=5),
    one("autocontrast", function("autocontrast"), "TORCH_AUTOCONTRAST", goal=3),
    one("equalize", function("equalize"), "EQUALIZE", goal=5),
    *(one(f"gaussian_blur, {k}", function("gaussian_blur", kernel_size=[k, k]), "BLUR") for k in (5, 23)),
    one(
        "ColorJitter(0.4, 0.4, 0.4, 0.1)",
        lambda T: T.ColorJitter(0.4, 0.4, 0.4, 0.1),
        *("BRIGHTNESS", "TORCH_CONTRAST", "TORCH_SATURATION", "TORCH_HUE"),
        goal=5,
    ),
)
PIPELINES = (
    *(
        pipeline(f"P, 512, rotation {rotation}", "tiles 1024x1024", partial(pipeline_p, rotation=rotation), 10)
        for rotation in ("nearest", "bilinear")
    ),
    pipeline("ImageNet train, 500x375 to 224", "photographs 500x375", trained, 5),
    pipeline(
        "ImageNet eval, 500x375 to 224",
        "photographs 500x375",
        lambda T: finished(T, [T.Resize(256), T.CenterCrop(224)]),
        5,
    ),
    *(
        pipeline(f"ImageNet train with {name}", "photographs 500x375", partial(trained, augment=name))
        for name in ("RandAugment", "AutoAugment", "TrivialAugmentWide", "AugMix")
    ),
)

CASES = PIPELINES + MOVES + GEOMETRY + COLOUR
BY_NAME = {case.name: case for case in CASES}


class OnTensors(Library):
    """torchvision's v1 transforms on contiguous uint8 CHW tensors."""

    def image(self, case: Case, pixels: NDArray[Any]) -> Any:
        return as_tensor(pixels)


class FastaugOnTensors(OnTensors, Fastaug):
    """fastaug's."""


class FastOnTensors(FastaugOnTensors):
    """Fast mode: other samples, so timed on pipelines alone."""

    def transform(self, case: Case) -> Transform | None:
        import fastaug

        return fastaug.compile(case.build(self.module), mode="fast") if case.pipeline else None


LIBRARIES: dict[str, Callable[[], Library]] = {REFERENCE: OnTensors, OURS: FastaugOnTensors, FAST: FastOnTensors}


main = Suite("tensors", __doc__, NOTE, CASES, LIBRARIES).main


if __name__ == "__main__":
    raise SystemExit(main())
