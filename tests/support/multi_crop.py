"""A multi-crop class with the switches of DINOv3's, and what it is compared on."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import torch
from torch import nn
from torchvision.transforms import v2 as TV2

from support.images import photo, to_chw
from support.v2_outcomes import run_v2, v2_difference

logger = logging.getLogger("multi crop")

BICUBIC = TV2.InterpolationMode.BICUBIC
GLOBAL, LOCAL, PATCH = 48, 24, 4


class Blur(TV2.RandomApply):
    """Its constructor alone is its own."""

    def __init__(self, p: float) -> None:
        super().__init__([TV2.GaussianBlur(9, (0.1, 2.0))], p)


class MultiCrop:
    """Two global crops and several local ones of an image, as students and teachers of self-supervision get them.

    Args:
        shared: whether colours are changed once, before all crops.
        plain_teacher: whether a teacher gets the global crops with their own colours.
        gram: the size of crops for a second teacher; None for no such crops.
        plain_gram: whether these have their own colours.
        inner: whether local crops are cut out of the global ones, at drawn places.
        verbose: whether each call is logged.
        local: the number of local crops.
        blur: a function of a probability that returns another library's blur.
    """

    def __init__(
        self,
        shared: bool = False,
        plain_teacher: bool = False,
        gram: int | None = None,
        plain_gram: bool = False,
        inner: bool = False,
        verbose: bool = False,
        local: int = 4,
        blur: Callable[[float], Any] | None = None,
    ) -> None:
        logger.info("shared: %s, inner: %s", shared, inner)
        self.shared, self.plain_teacher, self.gram, self.plain_gram = shared, plain_teacher, gram, plain_gram
        self.inner, self.verbose, self.local = inner, verbose, local
        size = max(GLOBAL, gram or 0)
        self.cut = TV2.Compose([TV2.RandomResizedCrop(size, (0.32, 1.0), interpolation=BICUBIC), self.flip()])
        self.cut_local = TV2.Compose([TV2.RandomResizedCrop(LOCAL, (0.05, 0.32), interpolation=BICUBIC), self.flip()])
        self.resize_gram = TV2.Resize(gram, interpolation=BICUBIC) if gram is not None else None
        resize = nn.Identity() if gram is None else TV2.Resize(GLOBAL, interpolation=BICUBIC)
        early, self.late = (resize, nn.Identity()) if plain_gram else (nn.Identity(), resize)
        self.end = TV2.Compose([TV2.ToImage(), TV2.ToDtype(torch.float32, scale=True), TV2.Normalize([0.5], [0.2])])
        self.colours = TV2.Compose(
            [TV2.RandomApply([TV2.ColorJitter(0.4, 0.4, 0.2, 0.1)], p=0.8), TV2.RandomGrayscale(0.2)]
        )
        blur = blur or Blur
        own = [] if shared else [self.colours]
        self.first = TV2.Compose([early, *own, blur(1.0), self.end])
        self.second = TV2.Compose([early, *own, blur(0.1), TV2.RandomSolarize(128, 0.2), self.end])
        self.last = TV2.Compose([*own, blur(0.5), self.end])

    @staticmethod
    def flip() -> Any:
        return TV2.RandomHorizontalFlip(0.5)

    def __call__(self, image: Any) -> Any:
        if self.verbose:
            logger.info("an image of %s", image.size)
        found: dict[str, Any] = {"weak": True}
        image = self.colours(image) if self.shared else image
        cuts = [self.cut(image), self.cut(image)]
        whole = [view(cut) for view, cut in zip((self.first, self.second), cuts)]
        found["global"] = [self.late(one) for one in whole]
        found["teacher"] = [self.end(cut) for cut in cuts] if self.plain_teacher else found["global"]
        if self.gram is not None:
            found["gram"] = self.of_gram(cuts, whole)
        found["local"], found["places"] = self.of_local(image, cuts)
        return found

    def of_gram(self, cuts: list[Any], whole: list[Any]) -> list[Any]:
        if self.plain_gram:
            return [self.end(self.resize_gram(cut)) for cut in cuts]  # type: ignore[misc]
        return [self.resize_gram(one) for one in whole]  # type: ignore[misc]

    def of_local(self, image: Any, cuts: list[Any]) -> tuple[list[Any], Any]:
        if not self.inner:
            return [self.last(self.cut_local(image)) for _ in range(self.local)], ()
        crops, places = [], []
        for cut in cuts:
            for _ in range(self.local // 2):
                left, top = np.random.randint(0, (GLOBAL - LOCAL) // PATCH, 2) * PATCH  # noqa: NPY002
                crops.append(self.last(cut)[:, left : left + LOCAL, top : top + LOCAL])
                places.append((left, top))
        return crops, places


def switches() -> Iterator[dict[str, Any]]:
    for shared, plain_teacher, gram, plain_gram in product((False, True), (False, True), (None, 32, 64), (False, True)):
        yield {"shared": shared, "plain_teacher": plain_teacher, "gram": gram, "plain_gram": plain_gram}


def images() -> dict[str, Any]:
    return {
        "photograph": photo("chelsea", 90, 121),
        "small": photo("coffee", 31, 40),
        "gray": photo("astronaut", 70, 64).convert("L"),
        "tensor": to_chw(photo("coffee", 80, 71)),
        "float": to_chw(photo("coffee", 64, 71)).float() / 255,
    }


def assert_same_views(one: Any, other: Any, image: Any, seeds: int) -> None:
    """Assert that every output and the states of all generators are the same, of float images within 1e-5."""
    exact = not (isinstance(image, torch.Tensor) and image.is_floating_point())
    for seed in range(seeds):
        outcomes = run_v2(one, (image,), seed), run_v2(other, (image,), seed)
        found = v2_difference(*outcomes, exact=exact, strides=False)
        assert found is None, (seed, found)
