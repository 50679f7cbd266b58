"""Subclasses of transforms such as users write, built from whichever package is handed in."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import torch
from PIL import Image


def flip_that_counts(package: Any) -> Any:
    class Counting(package.RandomHorizontalFlip):
        calls = 0

        def forward(self, img: Any) -> Any:
            self.calls += 1
            return super().forward(img.rotate(90))

    return Counting(0.5)


def crop_at_the_corner(package: Any) -> Any:
    class Corner(package.RandomCrop):
        @staticmethod
        def get_params(img: Any, output_size: tuple[int, int]) -> tuple[int, int, int, int]:
            return 0, 0, *output_size

    return Corner(10)


def resized_crop_of_the_middle(package: Any) -> Any:
    class Middle(package.RandomResizedCrop):
        @staticmethod
        def get_params(img: Any, scale: Any, ratio: Any) -> tuple[int, int, int, int]:
            random.random()
            return 5, 6, 20, 21

    return Middle(32)


def rotation_by_quarters(package: Any) -> Any:
    class Quarters(package.RandomRotation):
        @staticmethod
        def get_params(degrees: Any) -> float:
            return 90.0 * int(torch.randint(0, 4, (1,)))

    return Quarters(0, expand=True)


def jitter_in_fixed_order(package: Any) -> Any:
    class Fixed(package.ColorJitter):
        @staticmethod
        def get_params(brightness: Any, contrast: Any, saturation: Any, hue: Any) -> Any:
            return torch.tensor([3, 2, 1, 0]), 1.2, 0.8, 1.5, 0.1

    return Fixed(0.5, 0.5, 0.5, 0.5)


def resize_with_a_method(package: Any) -> Any:
    class Bigger(package.Resize):
        def forward(self, img: Any) -> Any:
            self.size = (img.height + 1, img.width + 2)
            return super().forward(img)

    return Bigger(1)


def to_tensor_with_call(package: Any) -> Any:
    class MaybeToTensor(package.ToTensor):
        def __call__(self, pic: Any) -> Any:
            return pic if isinstance(pic, torch.Tensor) else super().__call__(pic)

    return package.Compose([MaybeToTensor(), MaybeToTensor()])


def apply_with_its_own_constructor(package: Any) -> Any:
    class RandomTurn(package.RandomApply):
        def __init__(self, *, p: float = 0.5) -> None:
            super().__init__(transforms=[package.RandomRotation(90), package.Pad(1)], p=1 - p)

    return RandomTurn(p=0.3)


def compose_with_call(package: Any) -> Any:
    class Twice(package.Compose):
        def __call__(self, img: Any) -> Any:
            return super().__call__(super().__call__(img))

    return package.Compose([Twice([package.Pad(1), package.RandomVerticalFlip()]), package.Resize(20)])


def module_with_call(package: Any) -> Any:
    class Odd(package.Pad):
        def __call__(self, img: Any) -> Any:
            return img.transpose(Image.Transpose.TRANSPOSE)

    return package.Compose([Odd(3), package.CenterCrop(30)])


def plain_subclass(package: Any) -> Any:
    class Same(package.CenterCrop):
        """Nothing of its own."""

    return package.Compose([Same(20), package.ToTensor()])


def user_module_in_the_middle(package: Any) -> Any:
    class Invert(torch.nn.Module):
        def forward(self, img: Any) -> Any:
            return Image.fromarray(255 - np.asarray(img))

    return package.Compose([package.Resize(30), Invert(), package.RandomCrop(20), Invert(), package.ToTensor()])


def draws_of_its_own(package: Any) -> Any:
    return package.Compose(
        [
            package.RandomHorizontalFlip(),
            lambda img: img.rotate(int(torch.randint(0, 90, (1,)))),
            package.RandomCrop(20),
            lambda img: img if random.random() < 0.5 else img.convert("L"),
            package.RandomRotation(20),
        ]
    )


SUBCLASSES = (
    flip_that_counts,
    crop_at_the_corner,
    resized_crop_of_the_middle,
    rotation_by_quarters,
    jitter_in_fixed_order,
    resize_with_a_method,
    to_tensor_with_call,
    apply_with_its_own_constructor,
    compose_with_call,
    module_with_call,
    plain_subclass,
    user_module_in_the_middle,
    draws_of_its_own,
)
