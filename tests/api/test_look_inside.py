"""What fastaug.compile sees inside objects that call transforms, and where it does not look."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torchvision.transforms as TV
from PIL import Image
from torch import nn
from torchvision.transforms import v2 as TV2

import fastaug
import fastaug.transforms as T
from fastaug._compile.trace import Traced, Value, traced
from support.outcomes import seed_all

logger = logging.getLogger(__name__)

#: A global that code may ask, and that may change.
DEBUG = False

PIXELS = np.random.default_rng(3).integers(0, 256, (60, 80, 3), np.uint8)


def function(image: Any) -> Any:
    return image


class Held:
    """What the objects of these tests hold."""

    def __init__(self) -> None:
        self.transform = TV.RandomCrop(24)
        self.views = [TV.RandomHorizontalFlip(), TV.ColorJitter(0.5)]
        self.named = {"crop": TV.CenterCrop(30)}
        self.count = 2
        self.absent: Callable[[Any], Any] | None = None


class Wrapper(Held):
    def __call__(self, image: Any) -> Any:
        return self.transform(image)


class Loop(Held):
    def __call__(self, image: Any) -> Any:
        for view in self.views:
            image = view(image)
        if self.absent is not None:
            image = self.absent(image)
        for _ in range(self.count):
            image = self.named["crop"](image)
        return self.last(image)

    def last(self, image: Any) -> Any:
        return self.transform(image) if self.count > 1 else image


class InsideCompose(Held):
    def __init__(self) -> None:
        super().__init__()
        self.transforms = TV.Compose([TV.Resize(40), TV.RandomCrop(30)])

    def __call__(self, image: Any) -> Any:
        for transform in self.transforms.transforms:
            image = transform(image)
        return image


class Module(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.parts = nn.ModuleList([TV.RandomCrop(24), TV.RandomVerticalFlip()])
        self.last = TV.ColorJitter(0.4, 0.4)

    def forward(self, image: Any) -> Any:
        for part in self.parts:
            image = part(image)
        return self.last(image)


class Nested(Held):
    def __init__(self) -> None:
        super().__init__()
        self.inner = TV.Compose([Wrapper(), function, TV.Pad(2)])

    def __call__(self, image: Any) -> Any:
        return self.inner(image)


class WithMore(Held):
    def __call__(self, image: Any, target: Any = None) -> Any:
        return self.transform(image)


class Unused(Held):
    """It comes to no global: its attributes rule that out."""

    def __call__(self, image: Any) -> Any:
        if self.count > 5:
            logger.info("%s of %s", self.count, image)
            left, top = np.random.randint(0, 9, 2)  # noqa: NPY002 - as old code does
            return image.crop((left, top, 32, 32))
        changed = self.transform(image)
        return changed if self.absent is None else self.more(changed)

    def more(self, image: Any) -> Any:
        return random.choice(self.views)(image)


READ = [Wrapper, Loop, InsideCompose, Module, Nested, WithMore, Unused]


@pytest.mark.parametrize("cls", READ)
def test_is_read(cls: Any) -> None:
    original = cls()
    compiled = fastaug.compile(original)
    assert all(type(step).__module__.startswith("fastaug.") for step in compiled.transforms if step is not function)
    image = Image.fromarray(PIXELS)
    for seed in range(10):
        seed_all(seed)
        expected = original(image)
        state = torch.get_rng_state(), random.getstate()
        seed_all(seed)
        got = compiled(image)
        assert np.array_equal(np.asarray(got), np.asarray(expected))
        assert torch.equal(torch.get_rng_state(), state[0])
        assert random.getstate() == state[1]


def test_read_in_the_middle() -> None:
    """What an object calls is a part of the one pass over the image."""
    compiled = fastaug.compile(TV.Compose([TV.Resize(50), Loop(), TV.ToTensor()]))
    names = [type(step).__name__ for step in compiled.transforms]
    assert names == [
        *("Resize", "RandomHorizontalFlip", "ColorJitter", "CenterCrop", "CenterCrop", "RandomCrop", "ToTensor")
    ]


class TwoViews(Held):
    def __call__(self, image: Any) -> Any:
        base = self.transform(image)
        one = self.views[0](base)
        output = {"one": [one, self.views[1](image)], "all": (one, base), "offsets": (), "size": self.count}
        output["more"] = [self.transform(image) for _ in range(self.count)]
        return output


def test_views() -> None:
    views = TwoViews()
    transform, (flip, jitter) = views.transform, views.views
    assert traced(views) == Traced(
        [(transform, 0, 1), (flip, 1, 2), (jitter, 0, 3), (transform, 0, 4), (transform, 0, 5)],
        {
            "one": [Value(2), Value(3)],
            "all": (Value(2), Value(1)),
            "offsets": (),
            "size": 2,
            "more": [Value(4), Value(5)],
        },
        1,
    )


def equal(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return list(one) == list(other) and all(equal(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return type(one) is type(other) and len(one) == len(other) and all(map(equal, one, other))
    return bool(one == other)


def test_views_are_compiled() -> None:
    """Also behind other transforms, and in an object that is called for nothing else."""

    class Around(Held):
        def __init__(self) -> None:
            super().__init__()
            self.views = TV.Compose([TV.RandomCrop(40), TwoViews()])  # type: ignore[assignment]

        def __call__(self, image: Any) -> Any:
            return self.views(image)  # type: ignore[operator]

    for original in (TwoViews(), TV.Compose([TV.RandomCrop(40), TwoViews()]), Around()):
        compiled: Any = fastaug.compile(original)
        assert isinstance(compiled, fastaug.Views)
        assert compiled.original is original
        for seed in range(5):
            seed_all(seed)
            expected = original(Image.fromarray(PIXELS))
            state = torch.get_rng_state()
            seed_all(seed)
            got = compiled(Image.fromarray(PIXELS))
            assert equal(got, expected)
            assert torch.equal(torch.get_rng_state(), state)
            assert got["one"][0] is got["all"][0]
    assert isinstance(fastaug.compile(fastaug.compile(TwoViews())), fastaug.Views)


class Unread(Held):
    def __init__(self) -> None:
        super().__init__()
        self.views = [function, function]

    def __call__(self, image: Any) -> Any:
        return [view(image) for view in self.views]


def test_views_that_nothing_is_known_of() -> None:
    original = Unread()
    with pytest.warns(UserWarning, match="cannot read"):
        assert fastaug.compile(original).transforms == (original,)


class Pair(Held):
    """As a preset of detection."""

    def __init__(self) -> None:
        super().__init__()
        self.transforms = TV2.Compose([TV2.RandomHorizontalFlip(), TV2.RandomCrop(20)])

    def __call__(self, image: Any, target: Any) -> Any:
        return self.transforms(image, target)


def test_samples() -> None:
    pair = Pair()
    compiled = fastaug.compile(pair)
    assert [type(step).__module__ for step in compiled.transforms] == ["fastaug.transforms.v2"] * 2
    boxes = fastaug.tv_tensors.BoundingBoxes([[1.0, 2, 30, 40]], format="XYXY", canvas_size=(60, 80))  # type: ignore[call-arg]
    image = fastaug.tv_tensors.Image(torch.from_numpy(PIXELS).permute(2, 0, 1).contiguous())  # type: ignore[call-arg]
    for seed in range(5):
        seed_all(seed)
        expected = pair(image, {"boxes": boxes})
        seed_all(seed)
        got = compiled(image, {"boxes": boxes})
        assert torch.equal(got[0], expected[0])
        assert torch.equal(got[1]["boxes"], expected[1]["boxes"])


class Chance(Held):
    def __call__(self, image: Any) -> Any:
        return self.transform(image) if random.random() < 0.5 else image


class Counting(Held):
    def __call__(self, image: Any) -> Any:
        self.count += 1
        return self.transform(image)


class Collecting(Held):
    def __call__(self, image: Any) -> Any:
        self.views.append(self.transform)
        return self.transform(image)


class Looking(Held):
    def __call__(self, image: Any) -> Any:
        return self.transform(image) if image.width > 9 else image


class Catching(Held):
    def __call__(self, image: Any) -> Any:
        try:
            return self.transform(image.convert("L"))
        except Exception:
            return self.transform(image)


class Truth(Held):
    def __call__(self, image: Any) -> Any:
        return self.transform(image) if image else image


class Unpacking(Held):
    def __call__(self, image: Any) -> Any:
        first, *_ = self.transform(image)
        return first


class Adding(Held):
    def __call__(self, image: Any) -> Any:
        return self.transform(image) + 1


class Comparing(Held):
    def __call__(self, image: Any) -> Any:
        changed = self.transform(image)
        return self.views[0](image) if changed is image else changed


class Lazily(Held):
    def __call__(self, image: Any) -> Any:
        return (view(image) for view in self.views)


class Printing(Held):
    def __call__(self, image: Any) -> Any:
        print("once a call")
        return self.transform(image)


class Importing(Held):
    def __call__(self, image: Any) -> Any:
        from random import random as draw

        return self.transform(image) if draw() < 0.5 else image


class More(Held):
    def __call__(self, image: Any) -> Any:
        return self.absent(image, 3) if self.absent is not None else Image.merge("RGB", [image] * 3)


class Endless(Held):
    def __call__(self, image: Any) -> Any:
        while self.count:
            image = self.transform(image)
        return image


class Computed(Held):
    @property
    def chosen(self) -> Any:
        return random.choice(self.views)

    def __call__(self, image: Any) -> Any:
        return self.chosen(image)


class Apart(Held):
    def __call__(self, image: Any, target: Any) -> Any:
        return self.transform(image), target


class Anything(Held):
    def __call__(self, *images: Any) -> Any:
        return self.transform(*images)


class Delegating(Held):
    def __getattr__(self, name: str) -> Any:
        return random.choice(self.views)

    def __call__(self, image: Any) -> Any:
        return self.other(image)


class Fallback(Held):
    def __call__(self, image: Any) -> Any:
        try:
            return self.transform(image)
        except:  # noqa: E722 - without a name there is nothing global to be seen
            return self.views[0](image)


class Finally(Held):
    def __call__(self, image: Any) -> Any:
        try:
            changed = self.transform(image)
        finally:
            self.views[1](image)
        return changed


class Filtering(Held):
    """A function that it holds may give None."""

    def __init__(self) -> None:
        super().__init__()
        self.absent = lambda image: None

    def __call__(self, image: Any) -> Any:
        assert self.absent is not None
        found = self.absent(image)
        return self.transform(image) if found is None else self.transform(found)


class FilteringViews(Held):
    def __call__(self, image: Any) -> Any:
        return [view for view in [view(image) for view in self.views] if view is not None]


class Old(Held):
    """`is` of something that no instruction names."""

    def __call__(self, image: Any) -> Any:
        kept = [image]
        changed = self.transform(image)
        return self.views[0](changed) if changed is kept[0] else changed


class Structured(Held):
    def __call__(self, image: Any) -> Any:
        match image:
            case [first, _]:
                return self.transform(first)
            case _:
                return self.views[0](image)


class DrawingByDefault(Held):
    def __call__(self, image: Any, draw: Any = random.random) -> Any:
        return self.transform(image) if draw() < 0.5 else image


class Memo(Held):
    def __call__(self, image: Any, seen: list[Any] = []) -> Any:  # noqa: B006
        seen.append(image)
        return self.transform(image)


class DrawingMethod(Held):
    def chosen(self, draw: Any = random.random) -> Any:
        return self.views[draw() < 0.5]

    def __call__(self, image: Any) -> Any:
        return self.chosen()(image)


class Hidden(Held):
    """Python asks a property before it looks at what the object has."""

    def __init__(self) -> None:
        super().__init__()
        vars(self)["on"] = False

    @property
    def on(self) -> bool:
        return random.random() < 0.5

    def __call__(self, image: Any) -> Any:
        return self.transform(image) if self.on else image


class Empty(Held):
    def __len__(self) -> int:
        return 0

    def __call__(self, image: Any) -> Any:
        return self.transform(image) if self else image


class Coin(float):
    def __gt__(self, other: float) -> bool:
        return random.random() < 0.5


class Tossing(Held):
    def __init__(self) -> None:
        super().__init__()
        self.p = Coin(0.5)

    def __call__(self, image: Any) -> Any:
        return self.transform(image) if self.p > 0 else image


class Hashing(Held):
    """Which another process does otherwise."""

    def __call__(self, image: Any) -> Any:
        return self.views["a".__hash__() % 2](image)


class Used(Unused):
    """It comes to a global: at once, in a method, or in an inner function."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 6


class UsedInMethod(Unused):
    def __init__(self) -> None:
        super().__init__()
        self.absent = function


class UsedInLoop(Held):
    def __call__(self, image: Any) -> Any:
        return [random.choice([view])(image) for view in self.views]


class Asking(Held):
    """Its branch depends on a global."""

    def __call__(self, image: Any) -> Any:
        return self.views[0](image) if DEBUG else self.transform(image)


class Instead(Held):
    """It comes to a global if a transform gives None."""

    def __call__(self, image: Any) -> Any:
        changed = self.transform(image)
        return function(image) if changed is None else self.views[0](changed)


class Passing(Held):
    """It passes a global on, and asks nothing of it."""

    def __call__(self, image: Any) -> Any:
        return {"image": self.transform(image), "debug": DEBUG}


UNCLEAR = [
    *(Used, UsedInMethod, UsedInLoop, Asking, Instead, Passing),
    *(Adding, Anything, Apart, Catching, Chance, Collecting, Comparing, Computed, Counting, Delegating),
    *(DrawingByDefault, DrawingMethod, Empty, Endless, Fallback, Filtering, FilteringViews, Finally, Hashing, Hidden),
    *(Importing, Lazily, Looking, Memo, More, Old, Printing, Structured, Tossing, Truth, Unpacking),
]


@pytest.mark.parametrize("cls", UNCLEAR)
def test_is_not_looked_into(cls: Any, capsys: pytest.CaptureFixture[str]) -> None:
    original = cls()
    before = len(original.views), original.count
    assert traced(original) is None
    with pytest.warns(UserWarning, match="cannot read"):
        assert fastaug.compile(original).transforms == (original,)
    assert (len(original.views), original.count) == before
    assert not capsys.readouterr().out


HIDING = """
def len(views):
    return 1

def __call__(self, image):
    image = self.transform(image)
    return self.views[len(self.views) - 1](image) if self.count else image
"""


def test_builtins_that_a_module_hides() -> None:
    """Under the name of a builtin there may be anything."""
    names: dict[str, Any] = {}
    exec(HIDING, names)
    original = type("Hiding", (Held,), {"__call__": names["__call__"]})()
    assert traced(original) is None
    original.count = 0
    assert traced(original) is not None


def test_a_run_changes_no_globals() -> None:
    before = dict(globals())
    assert traced(Unused()) is not None
    assert traced(Used()) is None
    assert globals() == before
    assert Unused.__call__.__globals__ is globals()


def test_what_was_hung_on() -> None:
    hooked = Module()
    hooked.register_forward_hook(lambda module, images, result: result)
    own = Module()
    own.forward = lambda image: image  # type: ignore[method-assign]
    for module in (hooked, own):
        with pytest.warns(UserWarning, match="cannot read"):
            assert fastaug.compile(module).transforms == (module,)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Conv2d(3, 2, 3)

    def forward(self, image: Any) -> Any:
        return self.layer(image)


def test_nothing_is_gained() -> None:
    """An object whose parts are not read stays one."""
    model = Model()
    compiled = fastaug.compile(T.Compose([T.ToTensor(), model]))
    assert compiled.transforms[1] is model


class Itself(Held):
    def __init__(self) -> None:
        super().__init__()
        self.me = self

    def __call__(self, image: Any) -> Any:
        return self.me(self.transform(image))


def test_an_object_that_holds_itself() -> None:
    original = Itself()
    assert fastaug.compile(original).transforms[-1] is original


class Shadowed(nn.Module):
    """Python finds what the class has, and never asks for the module."""

    last: Any = None

    def __init__(self) -> None:
        super().__init__()
        self.first = TV.RandomCrop(24)
        self.last = TV.RandomVerticalFlip(1.0)

    def forward(self, image: Any) -> Any:
        image = self.first(image)
        return image if self.last is None else self.last(image)


def test_modules_that_an_attribute_of_the_class_hides() -> None:
    original = Shadowed()
    assert original.last is None
    seen = traced(original)
    assert seen is not None and seen.chain == [original.first]


class WithTarget(Held):
    """Of its second argument nothing is known while there is none."""

    def __init__(self) -> None:
        super().__init__()
        self.transform = TV2.CenterCrop(20)  # type: ignore[assignment]

    def __call__(self, image: Any, target: Any = None) -> Any:
        return self.transform(image), target


class MaybeTarget(WithTarget):
    def __call__(self, image: Any, target: Any = None) -> Any:
        return self.transform(image)


class MaybeBoth(Held):
    def __call__(self, image: Any, target: Any = None) -> Any:
        image = self.named["crop"](image)
        return image if target is None else (image, target + 1)


class MaybeViews(WithTarget):
    def __init__(self) -> None:
        super().__init__()
        self.transform = TwoViews()  # type: ignore[assignment]

    def __call__(self, image: Any, target: Any = None) -> Any:
        return self.transform(image) if target is None else image


@pytest.mark.filterwarnings("ignore:fastaug.compile cannot read")
@pytest.mark.parametrize(
    "make", [WithTarget, MaybeTarget, lambda: TV2.Compose([MaybeBoth(), TV2.RandomHorizontalFlip()])]
)
def test_arguments_that_may_be_left_out(make: Any) -> None:
    original = make()
    compiled = fastaug.compile(original)
    image = torch.from_numpy(PIXELS).permute(2, 0, 1)
    for target in ((), (7,)):
        seed_all(3)
        expected = original(image, *target)
        seed_all(3)
        got = compiled(image, *target)
        one, other = (result if isinstance(result, tuple) else (result,) for result in (got, expected))
        assert len(one) == len(other) and torch.equal(one[0], other[0]) and one[1:] == other[1:]


@pytest.mark.filterwarnings("ignore:fastaug.compile cannot read")
def test_views_of_an_object_that_may_get_more() -> None:
    assert not isinstance(fastaug.compile(MaybeViews()), fastaug.Views)
