"""python -m bench switch: times torchvision's own objects as they are and switched by fastaug.install()."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch

from bench.case import IMAGENET_MEAN, IMAGENET_STD, OURS, REFERENCE, Case, Transform
from bench.libraries import Library
from bench.libraries import as_array as as_array
from bench.suite import Suite

NOTE = """\
Milliseconds of processor time for one whole call of torchvision's own objects on PIL images and one core; the median,
and the 10th to 90th percentile. Both columns call the same classes; in fastaug's process, `fastaug.install()` was
called before. "x" is how many times faster that is: the median over rounds, in each of which both had their turn at the
same cold images of a bag. "=": every sample equals torchvision's for the same seed. The rows of what gains nothing show
what the switch costs."""

PHOTOGRAPHS = "photographs 500x375"


def pipeline(name: str, build: Callable[[Any], Transform], goal: float, bag: str = PHOTOGRAPHS) -> Case:
    return Case(name, bag, build, (), pipeline=True, goal={"avx2": goal, "avx512vbmi": goal})


def normalized(T: Any, steps: list[Any]) -> Transform:
    return T.Compose([*steps, T.ToTensor(), T.Normalize(IMAGENET_MEAN, IMAGENET_STD)])  # type: ignore[no-any-return]


def of_v2(T: Any) -> Transform:
    from torchvision.transforms import v2

    floats = [v2.ToImage(), v2.ToDtype(torch.float32, scale=True), v2.Normalize(IMAGENET_MEAN, IMAGENET_STD)]
    return v2.Compose([v2.RandomResizedCrop(224), v2.RandomHorizontalFlip(), *floats])  # type: ignore[no-any-return]


def preset(T: Any) -> Transform:
    from torchvision.models import ResNet50_Weights

    return ResNet50_Weights.DEFAULT.transforms()  # type: ignore[no-any-return]


def anew(T: Any) -> Transform:
    """As some data sets do for each sample."""
    return lambda image: normalized(T, [T.Resize(256), T.CenterCrop(224)])(image)


class Size:
    """A function of the user's, of which nothing is read."""

    def __call__(self, image: Any) -> Any:
        return torch.tensor([image.width])


CASES = (
    pipeline("ImageNet train", lambda T: normalized(T, [T.RandomResizedCrop(224), T.RandomHorizontalFlip()]), 5),
    pipeline("ImageNet train, v2", of_v2, 4),
    pipeline("ImageNet eval", lambda T: normalized(T, [T.Resize(256), T.CenterCrop(224)]), 6),
    pipeline("preset of a ResNet50", preset, 5),
    pipeline("a Compose made for each image", anew, 3),
    pipeline("Resize(256) alone", lambda T: T.Resize(256), 2.5),
    pipeline("RandomResizedCrop(224) alone", lambda T: T.RandomResizedCrop(224), 2.5),
    pipeline("ColorJitter alone", lambda T: T.ColorJitter(0.4, 0.4, 0.4, 0.1), 5),
    pipeline("ToTensor() alone", lambda T: T.ToTensor(), 2.5),
    pipeline("nothing gained: a function", lambda T: T.Compose([Size()]), 0.7),
    pipeline(
        "nothing gained: 1x1 and a flip",
        lambda T: T.Compose([T.RandomHorizontalFlip(), T.PILToTensor()]),
        0.9,
        "images 1x1",
    ),
)
BY_NAME = {case.name: case for case in CASES}


class Switched(Library):
    """torchvision, after fastaug.install()."""

    distributions = ("torchvision", "fastaug")

    def load(self) -> Any:
        import fastaug

        fastaug.install()
        assert "torchvision" not in sys.modules
        return super().load()

    def versions(self) -> dict[str, str]:
        import fastaug

        return super().versions() | {"isa": fastaug.isa()}


LIBRARIES: dict[str, Callable[[], Library]] = {REFERENCE: Library, OURS: Switched}


main = Suite("switch", __doc__, NOTE, CASES, LIBRARIES).main


if __name__ == "__main__":
    raise SystemExit(main())
