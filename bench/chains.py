"""The pipelines whose quality in fast mode is measured, and held to its contract by the tests.

Sizes are written for pictures in their own size; `at` turns them into those of scaled ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import torchvision.transforms as T

from bench.case import HALF, IMAGENET_MEAN, IMAGENET_STD

At = Callable[[int], int]

MODES = T.InterpolationMode
NEAREST, BILINEAR, BICUBIC, LANCZOS = MODES.NEAREST, MODES.BILINEAR, MODES.BICUBIC, MODES.LANCZOS


@dataclass(frozen=True)
class Chain:
    """`build` returns the steps, torchvision's own."""

    name: str
    pictures: Literal["tiles", "photographs"]
    build: Callable[[At], list[Any]]

    def transform(self, scale: float = 1.0) -> Any:
        return T.Compose(self.build(lambda size: max(1, round(size * scale))))


def pipeline_p(at: At, size: int, rotation: Any) -> list[Any]:
    return [
        T.ToPILImage(),
        T.RandomRotation(25, interpolation=rotation),
        T.RandomResizedCrop(at(1024), scale=(0.5, 1.5), ratio=(0.8, 1.2)),
        T.Resize(at(size)),
        T.RandomHorizontalFlip(),
        T.RandomVerticalFlip(),
        T.ColorJitter(0.2, 0.1, 0.05, 0.02),
        T.ToTensor(),
        T.Normalize(HALF, HALF),
    ]


def imagenet(*steps: Any) -> list[Any]:
    return [*steps, T.ToTensor(), T.Normalize(IMAGENET_MEAN, IMAGENET_STD)]


def train(at: At, interpolation: Any = BILINEAR) -> list[Any]:
    return imagenet(T.RandomResizedCrop(at(224), interpolation=interpolation), T.RandomHorizontalFlip())


def evaluate(at: At, interpolation: Any = BILINEAR) -> list[Any]:
    return imagenet(T.Resize(at(256), interpolation), T.CenterCrop(at(224)))


def simclr(at: At, *blur: Any) -> list[Any]:
    return [
        T.RandomResizedCrop(at(224)),
        T.RandomHorizontalFlip(),
        T.RandomApply([T.ColorJitter(0.8, 0.8, 0.8, 0.2)], p=0.8),
        T.RandomGrayscale(p=0.2),
        *blur,
        T.ToTensor(),
    ]


def padded(at: At, mode: str) -> list[Any]:
    return [
        T.Pad(at(40), fill=(124, 116, 104), padding_mode=mode),
        T.RandomCrop((at(300), at(420))),
        T.Resize(at(200)),
        T.RandomHorizontalFlip(),
        T.ToTensor(),
    ]


def photographs(name: str, build: Callable[[At], list[Any]]) -> Chain:
    return Chain(name, "photographs", build)


P = tuple(
    Chain(f"P, {size}, rotation {rotation.value}", "tiles", lambda at, s=size, r=rotation: pipeline_p(at, s, r))  # type: ignore[misc]
    for size, rotation in (
        *((size, rotation) for size in (512, 224) for rotation in (NEAREST, BILINEAR)),
        *((384, NEAREST), (96, BILINEAR), (1024, BILINEAR), (512, BICUBIC)),
    )
)

RECIPES = (
    photographs("ImageNet train", train),
    photographs("ImageNet train, bicubic", lambda at: train(at, BICUBIC)),
    photographs("ImageNet eval", evaluate),
    photographs("ImageNet eval, bicubic", lambda at: evaluate(at, BICUBIC)),
    photographs("SimCLR, strong jitter", simclr),
    photographs("SimCLR with blur", lambda at: simclr(at, T.GaussianBlur(9, (0.1, 2.0)))),
)

WARPS = (
    *(
        photographs(f"rotate, {mode.value}", lambda at, m=mode: [T.RandomRotation(40, m), T.ToTensor()])  # type: ignore[misc]
        for mode in (NEAREST, BILINEAR, BICUBIC)
    ),
    photographs(
        "rotate twice", lambda at: [T.RandomRotation(20, BILINEAR), T.RandomRotation(20, BILINEAR), T.ToTensor()]
    ),
    photographs(
        "rotate, expanded, resize", lambda at: [T.RandomRotation(30, BILINEAR, expand=True), T.Resize(at(256))]
    ),
    photographs(
        "resize, rotate, crop, resize",
        lambda at: [
            T.Resize(at(320)),
            T.RandomRotation(15, BILINEAR, fill=(240, 235, 245)),
            T.CenterCrop(at(280)),
            T.Resize(at(192)),
            T.ToTensor(),
        ],
    ),
    photographs(
        "affine, resize",
        lambda at: [T.RandomAffine(20, (0.1, 0.1), (0.8, 1.2), 10, BILINEAR), T.Resize(at(224)), T.ToTensor()],
    ),
    photographs(
        "affine, nearest, resize",
        lambda at: [T.RandomAffine(20, (0.1, 0.1), (0.8, 1.2), 10), T.Resize(at(224)), T.ToTensor()],
    ),
    photographs(
        "perspective, crop", lambda at: [T.RandomPerspective(0.4, 1.0), T.RandomCrop((at(256), at(320))), T.ToTensor()]
    ),
)

RESIZES = (
    *(
        photographs(f"pad by {mode}, crop, resize", lambda at, m=mode: padded(at, m))  # type: ignore[misc]
        for mode in ("constant", "edge", "reflect")
    ),
    *(
        photographs(
            f"resize {name}, {mode.value}",
            lambda at, m=mode, s=sizes: [*(T.Resize(at(size), m) for size in s), T.ToTensor()],  # type: ignore[misc]
        )
        for mode in (BILINEAR, BICUBIC, LANCZOS)
        for name, sizes in (
            ("down", (160,)),
            ("up", (600,)),
            ("down, down", (250, 120)),
            ("up, down", (600, 160)),
            ("down, up", (160, 400)),
        )
    ),
)

COLOUR = (
    photographs("jitter of P", lambda at: [T.ColorJitter(0.2, 0.1, 0.05, 0.02), T.ToTensor()]),
    photographs("jitter, strong", lambda at: [T.ColorJitter(0.8, 0.8, 0.8, 0.2), T.ToTensor()]),
    photographs("jitter, to bytes", lambda at: [T.ColorJitter(0.4, 0.4, 0.4, 0.1)]),
    photographs("hue", lambda at: [T.ColorJitter(hue=0.5), T.ToTensor()]),
    photographs("brightness", lambda at: [T.ColorJitter(brightness=0.8), T.ToTensor()]),
    photographs("contrast", lambda at: [T.ColorJitter(contrast=0.8), T.ToTensor()]),
    photographs("saturation", lambda at: [T.ColorJitter(saturation=0.8), T.ToTensor()]),
    photographs(
        "jitter, then crop", lambda at: [T.ColorJitter(0.4, 0.4, 0.4, 0.1), T.RandomResizedCrop(at(224)), T.ToTensor()]
    ),
)

CHAINS = P + RECIPES + WARPS + RESIZES + COLOUR
