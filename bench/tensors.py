"""python -m bench tensors: times transforms of uint8 tensors beside torchvision's on the same tensors."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray
from tqdm import tqdm

from bench import report
from bench.case import FAST, HALF, IMAGENET_MEAN, IMAGENET_STD, OURS, REFERENCE, Case, Transform, selected
from bench.images import bag_file
from bench.libraries import Fastaug, Library, as_tensor
from bench.libraries import as_array as as_array
from bench.measure import ROOT, Column, Row, measure, started
from bench.operations import AFFINE, CORNERS, function, mode, resize

SUITE = "bench.tensors"
NOTE = """\
Milliseconds of processor time for one whole call (parameter draws and output allocation included) on uint8 CHW tensors
and one core; the median, and the 10th to 90th percentile. "x" is how many times faster than torchvision's v1 transforms
on the same tensors: the median over rounds, in each of which every library had its turn at the same cold images of a
bag. "=": every sample equals torchvision's for the same seed; "~": same parameters, other samples, within the contract
of fast mode."""


def one(name: str, build: Callable[[Any], Transform], goal: float | None = None) -> Case:
    goals = {} if goal is None else dict.fromkeys(("scalar", "sse4", "avx2", "avx512"), goal)
    return Case(name, "images 512x512", build, (), goal=goals)


def pipeline(name: str, bag: str, build: Callable[[Any], Transform], goal: float | None = None) -> Case:
    goals = {} if goal is None else {"avx2": goal, "avx512": goal}
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


def displaced(T: Any, interpolation: str) -> Transform:
    field = torch.sin(torch.arange(512 * 512 * 2, dtype=torch.float32)).view(1, 512, 512, 2) * 0.02
    return partial(T.functional.elastic_transform, displacement=field, interpolation=mode(T, interpolation))


def erased(T: Any) -> Transform:
    return partial(T.functional.erase, i=100, j=90, h=200, w=150, v=torch.zeros(3, 1, 1, dtype=torch.uint8))


#: What is left to torch, or is one move for it; and views.
LEVEL, VIEW = 0.95, 0.83

MOVES = (
    one("hflip", function("hflip"), LEVEL),
    one("vflip", function("vflip"), LEVEL),
    one("crop", function("crop", top=100, left=90, height=224, width=224), VIEW),
    one("center_crop", function("center_crop", output_size=[224, 224]), VIEW),
    one("five_crop", function("five_crop", size=[224, 224]), VIEW),
    one("crop, beyond the image", function("crop", top=-100, left=-90, height=600, width=600), LEVEL),
    one("pad", function("pad", padding=[10, 20], fill=7), LEVEL),
    one("pad, reflect", function("pad", padding=[10, 20], padding_mode="reflect"), LEVEL),
    one("erase", erased, LEVEL),
    one("invert", function("invert"), LEVEL),
    one("posterize", function("posterize", bits=3), LEVEL),
    one("convert_image_dtype", lambda T: partial(T.functional.convert_image_dtype, dtype=torch.float32), LEVEL),
)
GEOMETRY = (
    *(one(f"resize to {size}, nearest", resize(size, "nearest"), 2) for size in (224, 700)),
    *(one(f"resize to {size}, {m}", resize(size, m), 4) for size in (224, 700) for m in ("bilinear", "bicubic")),
    one("resize to 224, bilinear, antialias=False", lambda T: T.Resize(224, antialias=False), LEVEL),
    *(
        one(f"{name}, {m}", function(name, interpolation=m, **more), least)
        for name, more in (("rotate", {"angle": 17.3}), ("affine", AFFINE), ("perspective", CORNERS))
        for m, least in (("nearest", 5), ("bilinear", 4))
    ),
    *(
        one(f"rotate, expand, filled, {m}", function("rotate", angle=17.3, interpolation=m, expand=True, fill=9), least)
        for m, least in (("nearest", 5), ("bilinear", 4))
    ),
    *(one(f"elastic_transform, {m}", partial(displaced, interpolation=m), 2.5) for m in ("nearest", "bilinear")),
)
COLOUR = (
    one("adjust_brightness", function("adjust_brightness", brightness_factor=1.13), 5),
    one("adjust_contrast", function("adjust_contrast", contrast_factor=1.13), 3),
    one("adjust_saturation", function("adjust_saturation", saturation_factor=1.13), 5),
    one("adjust_hue", function("adjust_hue", hue_factor=0.05), 5),
    one("adjust_sharpness", function("adjust_sharpness", sharpness_factor=1.5), 5),
    one("adjust_gamma", function("adjust_gamma", gamma=1.7), 5),
    one("rgb_to_grayscale", function("rgb_to_grayscale"), 3),
    one("rgb_to_grayscale, 3", function("rgb_to_grayscale", num_output_channels=3), 3),
    one("solarize", function("solarize", threshold=128), 5),
    one("autocontrast", function("autocontrast"), 3),
    one("equalize", function("equalize"), 5),
    *(one(f"gaussian_blur, {k}", function("gaussian_blur", kernel_size=[k, k])) for k in (5, 23)),
    one("ColorJitter(0.4, 0.4, 0.4, 0.1)", lambda T: T.ColorJitter(0.4, 0.4, 0.4, 0.1), 5),
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


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench tensors", description=__doc__)
    parser.add_argument("--only", metavar="PATTERN", default="*", help='cases by shell pattern, such as "resize*"')
    parser.add_argument("--seconds", type=float, default=6, help="for a pipeline; an operation gets a third")
    parser.add_argument("--clock", choices=["wall", "cpu"], default="cpu", help="cpu: processor time of the thread")
    parser.add_argument("--out", type=Path, default=ROOT / "bench" / "results", help="folder of the written results")
    parser.add_argument("--list", action="store_true", help="print the names of the cases and stop")
    return parser.parse_args()


def run(cases: list[Case], options: argparse.Namespace) -> tuple[list[Row], dict[str, str]]:
    """The rows, and the versions of everything that took part."""
    columns = [Column(name, name, suite=SUITE) for name in LIBRARIES]
    rows = []
    with (
        started(columns, (REFERENCE, OURS)) as workers,
        tempfile.TemporaryDirectory() as folder,
        tqdm(cases, unit="case", disable=None) as progress,
    ):
        for case in progress:
            progress.set_description(case.name)
            seconds, checks = (options.seconds, 12) if case.pipeline else (options.seconds / 3, 4)
            taking_part = [worker for worker in workers if case.pipeline or worker.label != FAST]
            rows.append(measure(case, bag_file(case.bag, Path(folder)), taking_part, seconds, checks, options.clock))
        versions = {name: version for worker in workers for name, version in worker.versions.items()}
    return rows, versions


def main() -> int:
    options = arguments()
    cases = selected(CASES, options)
    if not cases:
        return 0 if options.list else 2
    rows, versions = run(cases, options)
    about = report.machine(versions) | {"clock": options.clock}
    print("\n" + report.text(report.table(rows, about["isa"])) + "\n\n" + NOTE)
    print(", ".join(f"{name} {value}" for name, value in about.items()))
    if options.only == "*":
        paths = report.write(rows, about, options.out, "Tensors", note=NOTE)
        print("written: " + ", ".join(os.path.relpath(path) for path in paths))
    unequal = [
        f"{row.case.name} (by up to {row.times[OURS].difference:g})"
        for row in rows
        if row.times[OURS].pixels != "equal"
    ]
    if unequal:
        print("DIFFERS FROM TORCHVISION: " + "; ".join(unequal))
    return 1 if unequal else 0


if __name__ == "__main__":
    raise SystemExit(main())
