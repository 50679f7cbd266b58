"""Random transforms of v1 or of v2, by name, with arguments of every kind that recipes are told."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from support.native_calls import Random, borders, degrees, fill, middle, p, padding_mode, shape


def outside(r: Random) -> Any:
    return r.choice([None, None, fill(r)])


class Steps:
    """Those of a module, whose interpolations `mode` chooses; containers have at least `fewest` transforms."""

    def __init__(self, module: ModuleType, mode: Callable[[Random], Any], unset: Any, fewest: int) -> None:
        self._of: Any = module
        self._mode = mode
        #: What ColorJitter is told of what it leaves alone.
        self._unset = unset
        self._fewest = fewest
        of = self._of
        self.by_name: dict[str, Callable[[Random], Any]] = {
            "Resize": self._resize,
            "CenterCrop": lambda r: of.CenterCrop(shape(r)),
            "RandomCrop": self.crop,
            "RandomResizedCrop": self._resized_crop,
            "Pad": lambda r: of.Pad(borders(r), fill(r), padding_mode(r)),
            "RandomHorizontalFlip": lambda r: of.RandomHorizontalFlip(p(r)),
            "RandomVerticalFlip": lambda r: of.RandomVerticalFlip(p(r)),
            "RandomRotation": lambda r: of.RandomRotation(degrees(r), mode(r), r.random() < 0.4, middle(r), fill(r)),
            "RandomAffine": self._affine,
            "RandomPerspective": lambda r: of.RandomPerspective(r.choice([0, 0.5, 1.0]), p(r), mode(r), fill(r)),
            "ColorJitter": self._jitter,
            "Grayscale": lambda r: of.Grayscale(r.choice([1, 3])),
            "RandomGrayscale": lambda r: of.RandomGrayscale(p(r)),
            "RandomInvert": lambda r: of.RandomInvert(p(r)),
            "RandomPosterize": lambda r: of.RandomPosterize(r.randint(0, 8), p(r)),
            "RandomSolarize": lambda r: of.RandomSolarize(r.choice([0, 128, 255, 77.3, -1, 256, 300.0]), p(r)),
            "RandomAdjustSharpness": lambda r: of.RandomAdjustSharpness(r.choice([0, 1, 2, 0.3]), p(r)),
            "RandomAutocontrast": lambda r: of.RandomAutocontrast(p(r)),
            "RandomEqualize": lambda r: of.RandomEqualize(p(r)),
            "GaussianBlur": self._blur,
            "AutoAugment": self._auto_augment,
            "RandAugment": self._rand_augment,
            "TrivialAugmentWide": lambda r: of.TrivialAugmentWide(r.choice([31, 31, 2, 8]), mode(r), outside(r)),
            "RandomApply": lambda r: of.RandomApply(self.several(r), p(r)),
            "Compose": lambda r: of.Compose(self.several(r)),
        }

    def several(self, r: Random) -> list[Any]:
        return [self.by_name[r.choice(list(self.by_name))](r) for _ in range(r.randint(self._fewest, 3))]

    def crop(self, r: Random) -> Any:
        return self._of.RandomCrop(shape(r), r.choice([None, borders(r)]), r.random() < 0.6, fill(r), padding_mode(r))

    def norm(self, r: Random) -> Any:
        count = r.choice([1, 3])
        mean, std = [r.random() for _ in range(count)], [r.choice([0.5, 0.25, 2]) for _ in range(count)]
        return self._of.Normalize(mean, std, r.random() < 0.2)

    def erasing(self, r: Random) -> Any:
        scale, ratio = r.choice([((0.02, 0.33), (0.3, 3.3)), ((0.5, 1.0), (1, 2)), ((0.0, 0.001), (0.1, 9))])
        value = r.choice([0, 0.5, [1.0, 2, 3], "random"])
        return self._of.RandomErasing(p(r), scale, ratio, value, r.random() < 0.5)

    def _auto_augment(self, r: Random) -> Any:
        transform = self._of.AutoAugment(r.choice(list(self._of.AutoAugmentPolicy)), self._mode(r), outside(r))
        if r.random() < 0.4:
            shifts = tuple((f"Translate{axis}", r.choice([0, 0.5, 1.0]), r.randint(-9, 9)) for axis in "XY")
            others = ("ShearX", 1.0, r.randint(0, 9)), ("Sharpness", p(r), r.randint(0, 9))
            setattr(transform, "policies" if hasattr(transform, "policies") else "_policies", [shifts, others])
        return transform

    def _rand_augment(self, r: Random) -> Any:
        bins = r.choice([31, 31, 10, 3])
        return self._of.RandAugment(r.choice([2, 2, 0, 9, 25]), r.randint(-bins, bins), bins, self._mode(r), outside(r))

    def _affine(self, r: Random) -> Any:
        still = r.random() < 0.2
        return self._of.RandomAffine(
            0 if still else degrees(r),
            r.choice([None, (0.3, 0.2), (1, 0)]),
            None if still else r.choice([None, (0.5, 1.5)]),
            None if still else r.choice([None, 10, (-5, 5), (-5, 5, 3, 8)]),
            self._mode(r),
            fill(r),
            middle(r),
        )

    def _jitter(self, r: Random) -> Any:
        share = lambda: r.choice([self._unset, 0.4, (0.5, 1.5), (1, 1), (0, 0)])  # noqa: E731
        return self._of.ColorJitter(share(), share(), share(), r.choice([self._unset, 0.1, (-0.5, 0.5), (0.2, 0.2)]))

    def _blur(self, r: Random) -> Any:
        odd = lambda: r.choice([1, 3, 5, 9, 31, 33])  # noqa: E731
        return self._of.GaussianBlur(r.choice([odd(), (odd(), odd())]), r.choice([0.7, (0.1, 2.0), (3, 3)]))

    def _resized_crop(self, r: Random) -> Any:
        scale, ratio = r.choice(
            [((0.08, 1.0), (3 / 4, 4 / 3)), ((0.5, 1.5), (0.8, 1.2)), ((5, 9), (1, 1)), ((1, 4), (0.1, 9))]
        )
        antialias = r.choice([True, True, False, None])
        return self._of.RandomResizedCrop(shape(r), scale, ratio, self._mode(r), antialias)

    def _resize(self, r: Random) -> Any:
        size = shape(r)
        single = isinstance(size, int) or len(size) == 1
        most = r.choice([None, 41, 60]) if single else None
        return self._of.Resize(size, self._mode(r), most, r.choice([True, True, False, None]))
