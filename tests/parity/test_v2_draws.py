"""What the random classes of transforms.v2 draw, and the generator after it, are torchvision's, seed for seed."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
import torch
from PIL import Image
from torchvision import tv_tensors as tvt
from torchvision.transforms import v2 as TV

import fastaug.transforms.v2 as T
from support.differences import each, grouped
from support.outcomes import numpy_state, seed_all
from support.random_samples import boxes, pixels
from support.scale import cases
from support.versions import since

SEEDS = range(cases(200))
HEIGHT, WIDTH, CHANNELS = 37, 53, 3
CANVAS = (HEIGHT, WIDTH)
Make = Callable[[Any], Any]


def image() -> torch.Tensor:
    return pixels("uint8", "noise", 1, CHANNELS, HEIGHT, WIDTH)


def same(ours: Any, theirs: Any) -> bool:
    """The same values, types and order of the keys."""
    if type(ours) is not type(theirs):
        return False
    if isinstance(theirs, torch.Tensor):
        return ours.dtype == theirs.dtype and torch.equal(ours, theirs)
    if isinstance(theirs, dict):
        return list(ours) == list(theirs) and all(same(ours[key], theirs[key]) for key in theirs)
    if isinstance(theirs, (list, tuple)):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    return bool(ours == theirs)


def states() -> tuple[Any, ...]:
    return torch.get_rng_state().tolist(), random.getstate(), numpy_state()


def assert_same_draws(draw: Callable[[Any], Callable[[], Any]], seeds: range = SEEDS) -> None:
    """`draw` makes of a package what draws; it is called once, as a transform is made once."""
    ours, theirs = draw(T), draw(TV)
    for seed in seeds:
        seed_all(seed)
        one, after = ours(), states()
        seed_all(seed)
        other, reference = theirs(), states()
        assert same(one, other), f"seed {seed}: {one}, torchvision {other}"
        assert after == reference, f"seed {seed}: a generator was left in another state"


# ---- make_params

PARAMETERS: dict[str, Make] = {
    **{
        f"RandomResizedCrop {scale} {ratio}": lambda v2, s=scale, r=ratio: v2.RandomResizedCrop(8, s, r)
        for scale, ratio in (
            ((0.08, 1.0), (3 / 4, 4 / 3)),
            ((0.9, 1.0), (3.0, 4.0)),
            ((1.0, 1.0), (0.2, 0.25)),
            ((0.5, 1.5), (0.9, 1.8)),
        )
    },
    **{
        f"RandomCrop {size} {padding} {needed}": lambda v2, s=size, p=padding, n=needed: v2.RandomCrop(s, p, n)
        for size, padding, needed in (
            ((20, 30), None, False),
            ((HEIGHT, 30), None, False),
            ((20, WIDTH), None, False),
            (CANVAS, None, False),
            ((40, 40), None, True),
            ((60, 80), [3, 5], True),
            ((32, 32), 4, False),
            ((HEIGHT + 8, WIDTH), [0, 4], False),
            ((30, 30), [1, 2, 3, 4], True),
        )
    },
    "RandomRotation": lambda v2: v2.RandomRotation(25),
    "RandomRotation fixed": lambda v2: v2.RandomRotation((90, 90)),
    **{
        f"RandomAffine {translate} {scale} {shear}": (
            lambda v2, t=translate, c=scale, h=shear: v2.RandomAffine(10, t, c, h)
        )
        for translate, scale, shear in (
            (None, None, None),
            ((0.1, 0.3), (0.8, 1.2), 5.0),
            (None, (0.8, 1.2), [-5.0, 5.0, -3.0, 3.0]),
            ((0.0, 0.0), None, [-4.0, 4.0]),
        )
    },
    "RandomPerspective": lambda v2: v2.RandomPerspective(0.6, 1.0),
    "RandomPerspective none": lambda v2: v2.RandomPerspective(0.0, 1.0),
    "RandomZoomOut": lambda v2: v2.RandomZoomOut(p=1.0),
    "RandomZoomOut other range": lambda v2: v2.RandomZoomOut(side_range=(1.3, 1.7), p=1.0),
    "ScaleJitter": lambda v2: v2.ScaleJitter((100, 60)),
    "ScaleJitter other range": lambda v2: v2.ScaleJitter((30, 90), (0.8, 1.25)),
    "RandomShortestSize": lambda v2: v2.RandomShortestSize([10, 20, 30]),
    "RandomShortestSize max_size": lambda v2: v2.RandomShortestSize([10, 20, 30], 45),
    "RandomShortestSize one": lambda v2: v2.RandomShortestSize(25),
    "RandomResize": lambda v2: v2.RandomResize(10, 40),
    "ColorJitter": lambda v2: v2.ColorJitter(0.4, 0.4, 0.2, 0.1),
    "ColorJitter hue": lambda v2: v2.ColorJitter(hue=0.1),
    "ColorJitter two": lambda v2: v2.ColorJitter(brightness=(0.5, 0.7), saturation=0.2),
    "ColorJitter none": lambda v2: v2.ColorJitter(),
    "RandomPhotometricDistort": lambda v2: v2.RandomPhotometricDistort(),
    "RandomPhotometricDistort p=0.3": lambda v2: v2.RandomPhotometricDistort(p=0.3),
    "RandomPhotometricDistort p=1": lambda v2: v2.RandomPhotometricDistort(p=1.0),
    "RandomChannelPermutation": lambda v2: v2.RandomChannelPermutation(),
    "RandomGrayscale": lambda v2: v2.RandomGrayscale(1.0),
    "GaussianBlur": lambda v2: v2.GaussianBlur(5),
    "GaussianBlur fixed": lambda v2: v2.GaussianBlur(5, 0.7),
    "JPEG": lambda v2: v2.JPEG((5, 60)),
    "JPEG fixed": lambda v2: v2.JPEG(50),
    "RandomErasing": lambda v2: v2.RandomErasing(1.0),
    "RandomErasing large": lambda v2: v2.RandomErasing(1.0, (0.9, 0.99), (3.0, 3.3)),
    "RandomErasing random": lambda v2: v2.RandomErasing(1.0, value="random"),
    "RandomErasing values": lambda v2: v2.RandomErasing(1.0, value=[1.0, 2.0, 3.0]),
}


@grouped(PARAMETERS)
def test_make_params(name: str) -> None:
    flat = [image()]

    def draw(v2: Any) -> Callable[[], Any]:
        transform = PARAMETERS[name](v2)
        return lambda: transform.make_params(flat)

    assert_same_draws(draw)


@pytest.mark.skipif(not since(0, 23), reason="there are no points")
def test_all_that_draw_are_here() -> None:
    """Every class with parameters of its own is above, or below by name."""
    own = {name for name, value in vars(TV).items() if isinstance(value, type) and "make_params" in vars(value)}
    below = {"Transform", "ElasticTransform", "RandomIoUCrop", "MixUp", "CutMix"}
    assert own - below == {name.split()[0] for name in PARAMETERS}


@pytest.mark.skipif(not since(0, 23), reason="there are no points")
@pytest.mark.parametrize("leaf", ["PIL", "Image", "Video", "boxes", "points", "batch"])
def test_sizes_of_every_leaf(leaf: str) -> None:
    leaves = {
        "PIL": Image.new("RGB", (WIDTH, HEIGHT)),
        "Image": tvt.Image(image()),
        "Video": tvt.Video(image()[None]),
        "boxes": boxes("XYXY", 2, CANVAS, "float32", "soft", 1),
        "points": tvt.KeyPoints(torch.zeros(1, 2), canvas_size=CANVAS),
        "batch": image()[None, None],
    }

    def draw(v2: Any) -> Callable[[], Any]:
        crop, jitter = v2.RandomCrop((20, 30)), v2.ScaleJitter((30, 90))
        return lambda: [crop.make_params([leaves[leaf]]), jitter.make_params([leaves[leaf]])]

    assert_same_draws(draw, range(20))


@pytest.mark.skipif(not since(0, 26), reason="displacements are divided by the other side")
@pytest.mark.parametrize("sigma", [5.0, [4.0, 2.0], 0.0])
def test_elastic(sigma: Any) -> None:
    def draw(v2: Any) -> Callable[[], Any]:
        transform = v2.ElasticTransform([50.0, 40.0], sigma)
        return lambda: transform.make_params([image()])

    assert_same_draws(draw, range(20))


@pytest.mark.skipif(not since(0, 23), reason="there are no points")
@pytest.mark.parametrize("format", ["XYXY", "XYWH", "CXCYWH"])
@each("count", [0, 1, 3])
@each("dtype", ["float32", "float64", "int64"])
def test_iou_crop(format: str, count: int, dtype: str) -> None:
    flat = [image(), boxes(format, count, CANVAS, dtype, "soft", 3)]

    def draw(v2: Any) -> Callable[[], Any]:
        other = {"sampler_options": [0.5, 2.0], "trials": 5, "max_aspect_ratio": 1.4, "min_scale": 0.1}
        transforms = [v2.RandomIoUCrop(), v2.RandomIoUCrop(**other)]
        return lambda: [transform.make_params(flat) for transform in transforms]

    # Without a box every option but 1.0 is tried to its end.
    assert_same_draws(draw, range(cases(8)) if count == 0 else SEEDS if dtype == "float32" else range(cases(30)))


@pytest.mark.parametrize("name", ["MixUp", "CutMix"])
@pytest.mark.parametrize("alpha", [1.0, 0.2])
def test_mixes(name: str, alpha: float) -> None:
    labels = torch.arange(4)
    batch = pixels("float32", "noise", 2, 4, 3, 9, 14)

    def draw(v2: Any) -> Callable[[], Any]:
        transform = getattr(v2, name)(alpha=alpha, num_classes=5)
        return lambda: [transform.make_params([batch]), transform(batch, labels)]

    assert_same_draws(draw, range(60))


# ---- gates and containers


@pytest.mark.parametrize("p", [0.0, 0.3, 0.5, 1.0])
def test_gates(p: float) -> None:
    """A number decides; nothing else is drawn where it says no."""
    value = image()
    names = ("RandomHorizontalFlip", "RandomVerticalFlip", "RandomInvert", "RandomAutocontrast", "RandomEqualize")

    def draw(v2: Any) -> Callable[[], Any]:
        gated = [getattr(v2, name)(p=p) for name in (*names, "RandomGrayscale", "RandomErasing", "RandomPerspective")]
        gated += [v2.RandomPosterize(3, p), v2.RandomSolarize(100, p), v2.RandomAdjustSharpness(2.0, p)]
        gated += [v2.RandomZoomOut(p=p), v2.RandomApply([v2.RandomInvert(0.5)], p), v2.RandomApply([v2.RGB()], p)]
        return lambda: [transform(value) is value for transform in gated]

    assert_same_draws(draw)


@pytest.mark.parametrize(
    "make",
    [
        lambda v2, steps: v2.RandomChoice(steps),
        lambda v2, steps: v2.RandomChoice(steps, [1.0, 2, 3, 4]),
        lambda v2, steps: v2.RandomChoice(steps, [0.0, 1.0, 0.0, 1e-6]),
        lambda v2, steps: v2.RandomChoice(steps[:1]),
        lambda v2, steps: v2.RandomOrder(steps),
        lambda v2, steps: v2.RandomOrder(steps[:1]),
        lambda v2, steps: v2.RandomApply(steps, 0.4),
        lambda v2, steps: v2.RandomOrder([v2.RandomChoice(steps), v2.RandomApply(steps[:2], 0.7), *steps]),
    ],
)
def test_containers(make: Callable[[Any, list[Any]], Any]) -> None:
    """Which of their callables they call, in what order."""

    def draw(v2: Any) -> Callable[[], Any]:
        called: list[int] = []

        def step(index: int) -> Callable[[Any], Any]:
            return lambda x: (called.append(index), x)[1]

        container = make(v2, [step(index) for index in range(4)])

        def call() -> list[int]:
            called.clear()
            container(image())
            return list(called)

        return call

    assert_same_draws(draw)


# ---- automatic augmentation

AUTOMATIC: dict[str, Make] = {
    **{
        f"AutoAugment {one.value}": lambda v2, o=one: v2.AutoAugment(v2.AutoAugmentPolicy(o.value))
        for one in TV.AutoAugmentPolicy
    },
    "RandAugment": lambda v2: v2.RandAugment(),
    "RandAugment 3, 4, 11": lambda v2: v2.RandAugment(3, 4, 11),
    "RandAugment none": lambda v2: v2.RandAugment(0),
    "TrivialAugmentWide": lambda v2: v2.TrivialAugmentWide(),
    "TrivialAugmentWide 7": lambda v2: v2.TrivialAugmentWide(7),
    "AugMix": lambda v2: v2.AugMix(),
    "AugMix deep": lambda v2: v2.AugMix(5, 2, 2, 0.5, False),
}


@pytest.mark.parametrize("name", AUTOMATIC)
def test_automatic_augmentation(name: str) -> None:
    """The operations that they do, with their magnitudes: a subclass sees them."""

    def draw(v2: Any) -> Callable[[], Any]:
        transform = AUTOMATIC[name](v2)
        done: list[Any] = []

        class Seen(type(transform)):  # type: ignore[misc]
            def _apply_image_or_video_transform(
                self, image: Any, transform_id: str, magnitude: float, interpolation: Any, fill: Any
            ) -> Any:
                done.append((transform_id, float(magnitude)))
                return image

        transform.__class__ = Seen
        value = image()

        def call() -> list[Any]:
            done.clear()
            transform(value)
            return list(done)

        return call

    assert_same_draws(draw)


@pytest.mark.parametrize("name", AUTOMATIC)
def test_states_after_automatic_augmentation(name: str) -> None:
    """As they are, with nobody looking on."""

    def draw(v2: Any) -> Callable[[], Any]:
        transform = AUTOMATIC[name](v2)
        values = [image(), tvt.Image(image()), v2.functional.to_pil_image(image())]
        return lambda: [v2.functional.to_image(transform(one)).as_subclass(torch.Tensor) for one in values]

    assert_same_draws(draw, range(12))


# ---- noise


@pytest.mark.skipif(not since(0, 24), reason="uint8 is refused")
@pytest.mark.parametrize("dtype", ["float32", "uint8", "float64"])
def test_noise_is_drawn_for_every_leaf(dtype: str) -> None:
    def draw(v2: Any) -> Callable[[], Any]:
        transform = v2.GaussianNoise(0.1, 0.2)
        sample = {
            "a": tvt.Image(pixels(dtype, "noise", 1, 3, 5, 7)),
            "b": tvt.Image(pixels(dtype, "noise", 2, 3, 6, 4)),
        }
        return lambda: [value.as_subclass(torch.Tensor) for value in transform(sample).values()]

    assert_same_draws(draw, range(50))
