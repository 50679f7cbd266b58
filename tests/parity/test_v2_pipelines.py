"""The pipelines of transforms.v2 that people train with, over fifty seeds each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torchvision.transforms import v2 as TV

import fastaug.transforms.v2 as T
from fastaug._draft.leaf import ImageDraft
from support.differences import each
from support.images import PHOTOS, to_chw
from support.outcomes import seed_all
from support.scale import cases
from support.v2_outcomes import assert_same_v2, run_v2, v2_difference
from tables.v2_recipes import MEAN, PIPELINES, STD, shrunk

SEEDS = range(cases(50))


@pytest.mark.parametrize("name", PIPELINES)
def test_pipeline(name: str) -> None:
    make, draw, exact = PIPELINES[name]
    ours, theirs = make(T), make(TV)
    for seed in SEEDS:
        one, other = run_v2(ours, draw(seed), seed), run_v2(theirs, draw(seed), seed)
        assert other.error is None, other.error
        ordered = "jitter" not in name and name != "lerobot"
        found = v2_difference(one, other, exact=exact, strides=ordered, planar=True)
        if found is not None:
            raise AssertionError(f"seed {seed}: {found}") from one.error


@pytest.mark.parametrize("of", ["PIL", "tensors"])
def test_an_epoch_without_reseeding(of: str) -> None:
    """One generator over many samples: a wrong number of draws anywhere shows in everything after it."""
    results = []
    for package in (T, TV):
        seed_all(5)
        values: list[Any] = []
        for name, (make, draw, _) in PIPELINES.items():
            if name.endswith(of):
                transform = make(package)
                values += [transform(*draw(seed)) for seed in range(12)]
        results.append((values, torch.get_rng_state()))
    (ours, state), (theirs, other) = results
    assert torch.equal(state, other)
    for index, (one, reference) in enumerate(zip(ours, theirs)):
        same = v2_difference(run_v2(lambda one=one: one, ()), run_v2(lambda one=reference: one, ()), strides=False)
        assert same is None, f"result {index}: {same}"


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32])
def test_batches_of_a_processor(dtype: torch.dtype) -> None:
    """What processors of models do to a stack of images by functions: resize, cut, normalize."""

    def make(v2: Any) -> Callable[..., Any]:
        F = v2.functional

        def call(batch: Any) -> Any:
            cut = F.center_crop(F.resize(batch, [40], interpolation=v2.InterpolationMode.BICUBIC), [36, 36])
            return F.normalize(F.to_dtype(cut, torch.float32, scale=True), list(MEAN), list(STD))

        return call

    def batch() -> tuple[Any, ...]:
        stacked = torch.stack([to_chw(shrunk(title, 75, 100)) for title in PHOTOS])
        return (stacked if dtype == torch.uint8 else stacked / 255,)

    assert_same_v2(make, (T, TV), batch, exact=dtype == torch.uint8)


#: Calls of processors' functions, with the name of what a draft of bytes leaves to torch, if anything.
CALLS: dict[str, tuple[Callable[..., Any], str | None]] = {
    "bicubic": (lambda v2, x: v2.functional.resize(x, [24, 24], v2.InterpolationMode.BICUBIC, antialias=True), None),
    "bilinear": (lambda v2, x: v2.functional.resize(x, (24, 31), v2.InterpolationMode.BILINEAR, antialias=True), None),
    "short side": (lambda v2, x: v2.functional.resize(x, 24, v2.InterpolationMode.BICUBIC, antialias=True), None),
    "lanczos": (lambda v2, x: v2.functional.resize(x, (24, 20), v2.InterpolationMode.LANCZOS), None),
    "larger": (lambda v2, x: v2.functional.resize(x, (99, 120), v2.InterpolationMode.BICUBIC), None),
    "nearest": (lambda v2, x: v2.functional.resize(x, (24, 24), v2.InterpolationMode.NEAREST), None),
    "nearest-exact": (lambda v2, x: v2.functional.resize(x, (24, 24), v2.InterpolationMode.NEAREST_EXACT), None),
    "not antialiased": (lambda v2, x: v2.functional.resize(x, (24, 24), antialias=False), "resize"),
    "crop": (lambda v2, x: v2.functional.center_crop(x, [24, 24]), None),
    "crop beyond": (lambda v2, x: v2.functional.center_crop(x, [90, 110]), None),
    "pad": (lambda v2, x: v2.functional.pad(x, [3, 4, 5, 6], fill=0, padding_mode="constant"), None),
    "pad by colours": (lambda v2, x: v2.functional.pad(x, [3, 4, 5, 6], fill=[127.0, 100.0, 90.0]), None),
    "pad by reflection": (lambda v2, x: v2.functional.pad(x, [3, 4, 5, 6], padding_mode="reflect"), None),
    "to floats": (lambda v2, x: v2.functional.to_dtype(x, torch.float32, scale=True), None),
    "to floats of 255": (lambda v2, x: v2.functional.to_dtype(x, torch.float32, scale=False), None),
    "normalize": (lambda v2, x: v2.functional.normalize(x.to(torch.float32), list(MEAN), list(STD)), None),
    "flip": (lambda v2, x: v2.functional.horizontal_flip(x), None),
    "gray": (lambda v2, x: v2.functional.rgb_to_grayscale(x), None),
}


@pytest.mark.parametrize("name", CALLS)
@each("layout", ["planes", "channels last", "one", "frames", "floats"])
def test_functions_on_stacks(name: str, layout: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal, in torchvision's order of axes, and done by the core where images are bytes."""
    call, by_torch = CALLS[name]
    stacked = torch.stack([to_chw(shrunk(title, 75, 100)) for title in PHOTOS])
    batch = {
        "planes": stacked,
        "channels last": stacked.contiguous(memory_format=torch.channels_last),
        "one": stacked[:1],
        "frames": stacked[:4].view(2, 2, *stacked.shape[1:]),
        "floats": stacked / 255,
    }[layout]
    eager, given = [], ImageDraft._eager
    monkeypatch.setattr(ImageDraft, "_eager", lambda self, name, *rest: (eager.append(name), given(self, name, *rest)))
    ours, theirs = call(T, batch), call(TV, batch)
    assert ours.dtype == theirs.dtype and torch.equal(ours, theirs) and ours.stride() == theirs.stride()
    if layout != "floats":
        assert eager == ([] if by_torch is None else [by_torch])
