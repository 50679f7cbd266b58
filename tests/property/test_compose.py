"""Random pipelines out of all transforms against torchvision: pixels, errors and generator states."""

from __future__ import annotations

from typing import Any

import numpy as np
import torchvision.transforms as TV
from hypothesis import given, settings
from hypothesis import strategies as st

import fastaug.transforms as T
from support.images import noise, photo, pil, to_chw
from support.outcomes import assert_parity
from support.scale import cases

Spec = tuple[str, tuple[Any, ...], dict[str, Any]]


def spec(name: str, **arguments: st.SearchStrategy[Any]) -> st.SearchStrategy[Spec]:
    return st.fixed_dictionaries(arguments).map(lambda drawn: (name, (), drawn))


def interval(low: float, high: float) -> st.SearchStrategy[tuple[float, float]]:
    return st.tuples(st.floats(low, high), st.floats(low, high)).map(lambda pair: (min(pair), max(pair)))


EXTENT = st.integers(1, 80)
SIZE = st.one_of(EXTENT, st.tuples(EXTENT, EXTENT), st.lists(EXTENT, min_size=1, max_size=2))
FILTER = st.sampled_from([0, 1, 2, 3, 4, 5])
FILL = st.one_of(st.integers(0, 255), st.tuples(*[st.integers(0, 255)] * 3))
PADDING_MODE = st.sampled_from(["constant", "edge", "reflect", "symmetric"])
SIDE = st.integers(0, 12)
PADDING = st.one_of(SIDE, st.tuples(SIDE, SIDE), st.tuples(SIDE, SIDE, SIDE, SIDE))
PROBABILITY = st.sampled_from([0.0, 0.3, 0.5, 1.0])
JITTER = st.one_of(st.just(0), st.floats(0, 1.5), interval(0, 3))

LEAVES = st.one_of(
    spec("Resize", size=SIZE, interpolation=FILTER),
    spec("CenterCrop", size=SIZE),
    spec(
        "RandomCrop",
        size=SIZE,
        padding=st.none() | PADDING,
        pad_if_needed=st.just(True),
        fill=FILL,
        padding_mode=PADDING_MODE,
    ),
    spec("RandomResizedCrop", size=SIZE, scale=interval(0.05, 1.6), ratio=interval(0.3, 3), interpolation=FILTER),
    spec("Pad", padding=PADDING, fill=FILL, padding_mode=PADDING_MODE),
    spec("RandomHorizontalFlip", p=PROBABILITY),
    spec("RandomVerticalFlip", p=PROBABILITY),
    spec(
        "RandomRotation",
        degrees=st.one_of(
            st.integers(0, 180), st.sampled_from([(90, 90), (180, 180), (-90, -90), (0, 0)]), interval(-400, 400)
        ),
        interpolation=st.sampled_from([0, 2, 3]),
        expand=st.booleans(),
        center=st.none() | st.tuples(st.floats(-20, 90), st.integers(-20, 90)),
        fill=FILL,
    ),
    spec("ColorJitter", brightness=JITTER, contrast=JITTER, saturation=JITTER, hue=st.just(0) | st.floats(0, 0.5)),
    spec("RandomGrayscale", p=PROBABILITY),
    spec("Grayscale", num_output_channels=st.just(3)),
)


def nest(inner: st.SearchStrategy[Spec]) -> st.SearchStrategy[Spec]:
    some = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        st.builds(lambda items, p: ("RandomApply", (items,), {"p": p}), some, PROBABILITY),
        some.map(lambda items: ("RandomChoice", (items,), {})),
        some.map(lambda items: ("RandomOrder", (items,), {})),
        some.map(lambda items: ("Compose", (items,), {})),
    )


ANY = st.recursive(LEAVES, nest, max_leaves=4)
ENDINGS = st.sampled_from(
    [
        [],
        [("ToTensor", (), {})],
        [("PILToTensor", (), {})],
        [("Grayscale", (), {"num_output_channels": 1}), ("ToTensor", (), {})],
        [("ToTensor", (), {}), ("Normalize", ([0.5], [0.25]), {})],
        [("ToTensor", (), {}), ("Normalize", ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)), {})],
        [("ToTensor", (), {}), ("RandomHorizontalFlip", (), {"p": 0.5}), ("CenterCrop", (9,), {})],
        [("PILToTensor", (), {}), ("ToPILImage", (), {}), ("RandomVerticalFlip", (), {"p": 0.5})],
    ]
)


def build(package: Any, items: list[Spec]) -> Any:
    def one(item: Spec) -> Any:
        name, positional, keywords = item
        if name in ("RandomApply", "RandomChoice", "RandomOrder", "Compose"):
            positional = ([one(inner) for inner in positional[0]],)
        return getattr(package, name)(*positional, **keywords)

    return package.Compose([one(item) for item in items])


PIPELINE = st.builds(lambda body, ending: body + ending, st.lists(ANY, min_size=1, max_size=6), ENDINGS)
SHAPE = st.tuples(EXTENT, EXTENT)


@settings(max_examples=cases(250))
@given(items=PIPELINE, shape=SHAPE, seed=st.integers(0, 2**32))
def test_rgb(items: list[Spec], shape: tuple[int, int], seed: int) -> None:
    assert_parity(lambda package: build(package, items), T, TV, pil("RGB", *shape, seed % 1000), seed)


@settings(max_examples=cases(60))
@given(items=PIPELINE, seed=st.integers(0, 2**32))
def test_photograph(items: list[Spec], seed: int) -> None:
    assert_parity(lambda package: build(package, items), T, TV, photo("astronaut", 157, 211), seed)


@settings(max_examples=cases(120))
@given(
    items=PIPELINE,
    mode=st.sampled_from(["L", "LA", "RGBA", "P", "CMYK", "HSV", "I;16", "F", "1"]),
    seed=st.integers(0, 9999),
)
def test_other_modes(items: list[Spec], mode: str, seed: int) -> None:
    assert_parity(lambda package: build(package, items), T, TV, pil(mode, 33, 47, seed), seed)


@settings(max_examples=cases(60))
@given(items=PIPELINE, seed=st.integers(0, 9999), tensor=st.booleans())
def test_behind_to_pil_image(items: list[Spec], seed: int, tensor: bool) -> None:
    array = noise(40, 29, 3, seed)
    value = to_chw(pil("RGB", 40, 29, seed)) if tensor else np.ascontiguousarray(array)
    assert_parity(lambda package: build(package, [("ToPILImage", (), {}), *items]), T, TV, value, seed)
