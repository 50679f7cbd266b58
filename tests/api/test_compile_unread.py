"""fastaug.compile says what it cannot read at all, why, and what can be compiled instead."""

from __future__ import annotations

from typing import Any

import pytest
import torchvision.transforms as TV
import torchvision.transforms.v2 as TV2
from PIL import Image
from torch import nn

import fastaug
import fastaug.transforms as T
from support.images import photo
from support.outcomes import assert_same, run


def double(image: Image.Image) -> Image.Image:
    return image.resize((image.width * 2, image.height * 2))


class TwoViews:
    """As those of contrastive learning are: an object with the transform inside."""

    def __init__(self, transform: Any) -> None:
        self.transform = transform
        self.sizes = [3, 4]

    def __call__(self, image: Any) -> Any:
        return [self.transform(image), self.transform(image), self.sizes[-1], print()]


class Views(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.others, self.model = TV.Pad(1), nn.ModuleList([TV.Resize(9)]), nn.Linear(1, 1)

    def forward(self, image: Any) -> Any:
        return self.first(self.model(image) if image.width > 9 else image)


class Squeezed(TV.Resize):
    def forward(self, img: Any) -> Any:
        return img.resize((8, 8))


class Ours(T.RandomRotation):
    @staticmethod
    def get_params(degrees: Any) -> float:
        return 90.0


PRESET = TV._presets.OpticalFlow()


class Brightened(TV2.Transform):
    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return self._call_kernel(TV2.functional.adjust_brightness, inpt, 1.5)


HOOKED = TV.Pad(1)
HOOKED.register_forward_hook(lambda module, images, result: None)
UNREAD: dict[str, tuple[Any, tuple[str, ...]]] = {
    "preset": (PRESET, ("torchvision.transforms._presets.OpticalFlow: a callable", "Write what it does")),
    "wrapper": (TwoViews(TV.Pad(1)), ("TwoViews: a callable", "Compile what is inside it instead: its transform.")),
    "module": (Views(), ("Views: a callable", "its first and others.")),
    "wrapper of what is not read": (TwoViews(double), ("TwoViews", "Write what it does")),
    "function": (double, (" double: a function of yours",)),
    "lambda": (lambda image: image, ("lambda at test_compile_unread.py:", "a function of yours")),
    "v2": (Brightened(), ("Brightened: a transform of yours",)),
    "subclass": (Squeezed(9), ("Squeezed: overrides forward of Resize",)),
    "hooked": (HOOKED, ("Pad: has hooks",)),
}


@pytest.mark.parametrize("name", UNREAD)
def test_what_cannot_be_read_is_said(name: str) -> None:
    transform, parts = UNREAD[name]
    with pytest.warns(UserWarning, match="cannot read") as caught:
        compiled = fastaug.compile(transform)
    (warning,) = caught
    assert warning.category is UserWarning
    assert warning.filename == __file__
    text = str(warning.message)
    assert text.startswith("fastaug.compile cannot read ") and "no faster than before" in text
    assert all(part in text for part in parts), text
    assert compiled.transforms == (transform,)
    if name not in ("lambda", "function"):
        return
    with pytest.warns(UserWarning, match="cannot read"):  # at each call of compile
        fastaug.compile(compiled)


def test_what_is_read_is_not_warned_of() -> None:
    """Nor are barriers in the midst."""
    for transform in (
        TV.Pad(1),
        TV.Lambda(double),
        TV.Compose([]),
        TV.Compose([PRESET]),
        TV.Compose([TV.Pad(1), double, Squeezed(9), TwoViews(TV.Pad(1))]),
        TV.RandomApply([double]),
        nn.Sequential(TV.Pad(1), Squeezed(9)),
        nn.Identity(),
        T.Compose([double]),
        Ours(3),
    ):
        assert fastaug.compile(fastaug.compile(transform)).original is transform


def test_what_a_wrapper_holds_can_be_compiled() -> None:
    wrapper = TwoViews(TV.Compose([TV.RandomCrop(20), TV.ToTensor()]))
    image = photo("chelsea", 40, 50)
    expected = run(wrapper, image)
    wrapper.transform = fastaug.compile(wrapper.transform)
    assert_same(run(wrapper, image), expected)
