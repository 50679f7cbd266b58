"""fastaug.register and fastaug.Drawn: transforms of other packages, and what becomes of them."""

from __future__ import annotations

import copy
import pickle
import random
import warnings
from typing import Any

import numpy as np
import pytest
import torch
import torchvision.transforms as TV
from PIL import Image, ImageEnhance
from torch import nn

import fastaug
import fastaug.transforms as T
import fastaug.transforms.functional as F
from fastaug._compile import registry
from support.differences import each
from support.outcomes import seed_all

PIXELS = np.random.default_rng(3).integers(0, 256, (60, 80, 3), np.uint8)
IMAGE = Image.fromarray(PIXELS)


@pytest.fixture(autouse=True)
def readers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Readers of one test are none of another's."""
    monkeypatch.setattr(registry, "_readers", dict(registry._readers))
    monkeypatch.setattr(registry, "ADAPTERS", dict(registry.ADAPTERS))
    monkeypatch.setattr(registry, "_told", set())


class Dim:
    """As some package may have it."""

    def __init__(self, low: float, p: float = 0.5) -> None:
        self.low, self.p = low, p

    def __call__(self, image: Any) -> Any:
        if random.random() >= self.p:
            return image
        return ImageEnhance.Brightness(image).enhance(random.uniform(self.low, 1))


class Dimmed(fastaug.Drawn):
    """What fastaug is told of it."""

    def __init__(self, dim: Dim) -> None:
        self.low, self.p = dim.low, dim.p

    def draw(self, image: Any) -> float | None:
        return random.uniform(self.low, 1) if random.random() < self.p else None

    def apply(self, image: Any, params: float | None) -> Any:
        return image if params is None else F.adjust_brightness(image, params)


class Bigger(Dim):
    pass


class InModule(nn.Module):
    def forward(self, image: Any) -> Any:
        return F.hflip(image)


def flipped(image: Any) -> Any:
    return image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)


def pipeline() -> Any:
    return TV.Compose([TV.RandomCrop(40), Dim(0.3), TV.RandomHorizontalFlip(), TV.ToTensor()])


def outcome(transform: Any, seed: int, image: Any = IMAGE) -> tuple[Any, ...]:
    seed_all(seed)
    return transform(image), torch.get_rng_state().tolist(), random.getstate()


def same(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    return bool(torch.equal(one[0], other[0])) and one[1:] == other[1:]


def test_pixels_and_draws() -> None:
    original = pipeline()
    fastaug.register(Dim, Dimmed)
    compiled = fastaug.compile(original)
    assert isinstance(compiled.transforms[1], Dimmed)
    for seed in range(20):
        assert same(outcome(compiled, seed), outcome(original, seed))
    fast = pickle.loads(pickle.dumps(compiled))
    assert same(outcome(fast, 3), outcome(original, 3))
    assert same(outcome(copy.deepcopy(compiled), 3), outcome(original, 3))


def test_one_pass() -> None:
    fastaug.register(Dim, Dimmed)
    plan = fastaug.compile(TV.Compose([TV.CenterCrop(40), Dim(0.3, 1.0), TV.ToTensor()])).explain(IMAGE, seed=1)
    assert "kept apart by\n  nothing" in str(plan)
    assert "Dimmed" in str(plan)


def test_batches_and_tapes() -> None:
    fastaug.register(Dim, Dimmed)
    original = pipeline()
    compiled = fastaug.compile(original)
    seed_all(4)
    expected = torch.stack([original(IMAGE) for _ in range(5)])
    seed_all(4)
    assert torch.equal(compiled.batch([IMAGE] * 5, num_threads=2), expected)
    seed_all(5)
    params = compiled.sample((60, 80))
    assert [entry["transform"] for entry in params] == ["RandomCrop", "Dimmed", "RandomHorizontalFlip"]
    seed_all(5)
    assert torch.equal(compiled.replay(IMAGE, params), original(IMAGE))


def test_decorator_and_functions() -> None:
    @fastaug.register(flipped)
    def read(function: Any) -> Any:
        assert function is flipped
        return [T.RandomHorizontalFlip(1.0)]

    assert read.__name__ == "read"
    compiled = fastaug.compile(TV.Compose([flipped, TV.ToTensor()]))
    assert type(compiled.transforms[0]) is T.RandomHorizontalFlip
    assert torch.equal(compiled(IMAGE), TV.ToTensor()(flipped(IMAGE)))


def test_readers_give_what_is_read_in_turn() -> None:
    class Both:
        def __init__(self, inner: Any) -> None:
            self.inner = inner

        def __call__(self, image: Any) -> Any:
            return ImageEnhance.Brightness(self.inner(image)).enhance(0.5)

    fastaug.register(Dim, Dimmed)
    fastaug.register(Both, lambda both: [both.inner, lambda image: ImageEnhance.Brightness(image).enhance(0.5)])
    both = Both(TV.Compose([Dim(0.2), TV.Pad(1)]))
    steps = fastaug.compile(both).transforms
    assert [type(step).__name__ for step in steps] == ["Dimmed", "Pad", "function"]


def test_only_that_class() -> None:
    fastaug.register(Dim, Dimmed)
    bigger = Bigger(0.3)
    with pytest.warns(UserWarning, match=r"Bigger as it is.*a subclass of .*Dim, whose reader knows that class alone"):
        compiled = fastaug.compile(TV.Compose([TV.Pad(1), bigger]))
    assert compiled.transforms[1] is bigger
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fastaug.compile(TV.Compose([TV.Pad(1), bigger]))
    assert "a callable that fastaug does not know" in str(compiled.explain(IMAGE))


def test_a_reader_may_decline() -> None:
    fastaug.register(Dim, lambda dim: None if dim.p == 1 else Dimmed(dim))
    with pytest.warns(UserWarning, match="its reader does not know it"):
        compiled = fastaug.compile(TV.Compose([Dim(0.2, 1), Dim(0.3, 0.5)]))
    assert [type(step) for step in compiled.transforms] == [Dim, Dimmed]


def test_what_was_hung_on(monkeypatch: pytest.MonkeyPatch) -> None:
    fastaug.register(InModule, lambda module: T.RandomHorizontalFlip(1.0))
    assert type(fastaug.compile(InModule()).transforms[0]) is T.RandomHorizontalFlip
    hooked, own = InModule(), InModule()
    hooked.register_forward_hook(lambda module, images, result: None)
    own.forward = lambda image: image  # type: ignore[method-assign]
    with pytest.warns(UserWarning, match="has hooks"):
        assert fastaug.compile(TV.Compose([TV.Pad(1), hooked])).transforms[1] is hooked
    registry._told.clear()
    with pytest.warns(UserWarning, match="has a forward of its own"):
        assert fastaug.compile(TV.Compose([TV.Pad(1), own])).transforms[1] is own
    registry._told.clear()
    monkeypatch.setattr(InModule, "forward", lambda self, image: image)
    plain = InModule()
    with pytest.warns(UserWarning, match="another function in the place of its forward"):
        assert fastaug.compile(TV.Compose([TV.Pad(1), plain])).transforms[1] is plain


class Helped:
    """Its call is not all that decides what it does."""

    def factor(self) -> float:
        return 0.5

    def __call__(self, image: Any) -> Any:
        return ImageEnhance.Brightness(image).enhance(self.factor())


def test_methods_that_calls_come_to(monkeypatch: pytest.MonkeyPatch) -> None:
    fastaug.register(Helped, lambda helped: T.ColorJitter(brightness=(0.5, 0.5)))
    assert type(fastaug.compile(Helped()).transforms[0]) is T.ColorJitter
    own = Helped()
    own.factor = lambda: 0.1  # type: ignore[method-assign]
    with pytest.warns(UserWarning, match="has a factor of its own"):
        assert fastaug.compile(TV.Compose([TV.Pad(1), own])).transforms[1] is own
    registry._told.clear()
    monkeypatch.setattr(Helped, "factor", lambda self: 0.1)
    plain = Helped()
    with pytest.warns(UserWarning, match="another function in the place of its factor"):
        assert fastaug.compile(TV.Compose([TV.Pad(1), plain])).transforms[1] is plain


def test_errors() -> None:
    with pytest.raises(TypeError, match=r"cls should be a class of transforms, or a function that is one. Got 3"):
        fastaug.register(3, Dimmed)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"reader of .*Dim should be a function of a transform.*Got 'Dimmed'"):
        fastaug.register(Dim, "Dimmed")  # type: ignore[arg-type]
    for cls in (TV.Resize, T.Resize, T.Compose, nn.Sequential):
        with pytest.raises(ValueError, match=f"{cls.__name__} is read by fastaug itself"):
            fastaug.register(cls, Dimmed)
    fastaug.register(Dim, lambda dim: [T.Pad(1), "nothing"])
    with pytest.raises(ValueError, match=r"test_register.Dim has a reader already"):
        fastaug.register(Dim, Dimmed)
    with pytest.raises(TypeError, match=r"the reader of .*Dim should return a transform, a list of .*'nothing'"):
        fastaug.compile(Dim(0.3))
    for number, made in enumerate((T.Pad, 3)):
        one = type(f"One{number}", (Dim,), {})
        fastaug.register(one, lambda dim, made=made: made)
        with pytest.raises(TypeError, match="should return a transform"):
            fastaug.compile(one(0.3))
    fastaug.register(Bigger, lambda dim: dim)
    with pytest.raises(TypeError, match="returned the object that it was to read"):
        fastaug.compile(Bigger(0.3))


def test_drawn_by_itself() -> None:
    dimmed = Dimmed(Dim(0.3, 1.0))
    for image in (IMAGE, torch.from_numpy(PIXELS).permute(2, 0, 1), PIXELS):
        random.seed(2)
        got = dimmed(image)
        random.seed(2)
        random.random()
        expected = F.adjust_brightness(image, random.uniform(0.3, 1))
        assert type(got) is type(image)
        assert np.array_equal(np.asarray(got), np.asarray(expected))
    assert repr(dimmed) == "Dimmed(low=0.3, p=1.0)"


def test_images_in_progress() -> None:
    """All functions append to them; what they say of themselves is what the image so far would say."""
    seen = []

    class Everything(fastaug.Drawn):
        def draw(self, image: Any) -> tuple[Any, ...]:
            return image.width, image.height, image.channels, image.mode, image.is_pil, image.is_tensor

        def apply(self, image: Any, params: tuple[Any, ...]) -> Any:
            seen.append(params)
            image = F.resize(F.pad(image, 2), [40, 50])
            image = F.rotate(F.adjust_hue(F.crop(image, 1, 2, 30, 40), 0.1), 30)
            assert (image.width, image.height) == (40, 30)
            image = F.gaussian_blur(F.equalize(F.autocontrast(image)), 3)
            image = F.to_tensor(F.solarize(F.posterize(F.invert(image), 4), 100))
            assert image.is_tensor
            image = F.normalize(image, [0.5] * 3, [0.2] * 3)
            return F.erase(image, 3, 4, 5, 6, torch.tensor([[[1.0]], [[2.0]], [[3.0]]]))

    def step_by_step(image: Any) -> Any:
        image = F.resize(F.pad(image, 2), [40, 50])
        image = F.rotate(F.adjust_hue(F.crop(image, 1, 2, 30, 40), 0.1), 30)
        image = F.gaussian_blur(F.equalize(F.autocontrast(image)), 3)
        image = F.to_tensor(F.solarize(F.posterize(F.invert(image), 4), 100))
        image = F.normalize(image, [0.5] * 3, [0.2] * 3)
        return F.erase(image, 3, 4, 5, 6, torch.tensor([[[1.0]], [[2.0]], [[3.0]]]))

    assert torch.equal(Everything()(IMAGE), step_by_step(IMAGE))
    assert seen == [(80, 60, 3, "RGB", True, False)]
    batch = T.Compose([Everything()]).batch([IMAGE, IMAGE])
    assert torch.equal(batch[1], step_by_step(IMAGE))


@each("values", [0.0, torch.tensor(2.0), torch.randn(3, 1, 1), torch.randn(3, 5, 6), torch.randn(1, 5, 6)])
@each("box", [(0, 0, 5, 6), (20, 30, 5, 6), (3, 4, 0, 6)])
def test_erase(values: Any, box: tuple[int, int, int, int]) -> None:
    class Erased(fastaug.Drawn):
        def apply(self, image: Any, params: None) -> Any:
            return F.erase(image, *box, values)

    if isinstance(values, torch.Tensor) and values.ndim == 3 and values.shape[1] == 5 and not box[2]:
        values = values[:, :0]
    expected = F.erase(F.to_tensor(IMAGE), *box, values)
    assert torch.equal(T.Compose([T.ToTensor(), Erased()])(IMAGE), expected)
    tensor = F.to_tensor(IMAGE)
    before = tensor.clone()
    assert torch.equal(Erased()(tensor), expected)
    assert torch.equal(tensor, before)


def test_what_apply_may_return() -> None:
    class Nothing(fastaug.Drawn):
        def apply(self, image: Any, params: None) -> Any:
            return None

    class Another(fastaug.Drawn):
        def apply(self, image: Any, params: None) -> Any:
            return Image.new("L", (3, 4), 7)

    class Unfinished(fastaug.Drawn):
        pass

    with pytest.raises(TypeError, match="apply of Nothing should return the image that it was given"):
        Nothing()(IMAGE)
    assert T.Compose([T.Pad(2), Another(), T.Pad(1)])(IMAGE).size == (5, 6)
    with pytest.raises(NotImplementedError, match="Unfinished has no apply"):
        Unfinished()(IMAGE)
    with pytest.raises(TypeError, match="of which only one image can be made"):
        type("Five", (fastaug.Drawn,), {"apply": lambda self, image, params: F.five_crop(image, 3)})()(IMAGE)


def test_replaced_function(monkeypatch: pytest.MonkeyPatch) -> None:
    """A function that somebody has put in the place of one gets images, as it does from transforms."""
    monkeypatch.setattr(F, "adjust_brightness", lambda image, factor: Image.eval(image, lambda value: value // 2))
    got = T.Compose([T.Pad(1), Dimmed(Dim(0.3, 1.0))])(IMAGE)
    assert np.array_equal(np.asarray(got), np.asarray(F.pad(IMAGE, 1)) // 2)
