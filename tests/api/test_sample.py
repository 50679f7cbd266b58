"""sample() draws what a call draws, and makes no pixels for it: the outlines of images."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import fastaug
import fastaug.transforms as T
from fastaug._draft.base import DraftBase
from fastaug._draft.call import Call
from fastaug._draft.draft import Draft
from fastaug._draft.outline import Outline
from fastaug._draft.tape import Recording
from fastaug._draft.through import draft_through
from fastaug._program import convolution, resizing
from support.differences import each
from support.images import noise, pil
from support.outcomes import run, seed_all, snapshot
from support.scale import share
from tables.cases import ALL_CASES, OTHER_CASES
from tables.recipes import PIPELINES, RECIPES, SMALL_RECIPES

RECIPE_SIZES = {**dict.fromkeys(PIPELINES, 300), **dict.fromkeys(RECIPES, 300), **dict.fromkeys(SMALL_RECIPES, 32)}
#: Recipes of transforms that fastaug knows; the others have functions of the user's or make several views.
KNOWN = {
    name: make
    for name, make in {**PIPELINES, **RECIPES, **SMALL_RECIPES}.items()
    if isinstance(make(T), T.Compose) and "Lambda" not in repr(make(T)) and "unknown" not in name and "MoCo" not in name
}
#: Cases that take several images, or whose call is an error.
ODD = ("TenCrop stacked", "ElasticTransform across", "RandomPosterize 0", "LinearTransformation")
CASES = {name: make for name, make in ALL_CASES.items() if name not in ODD and "inplace" not in name}

pytestmark = pytest.mark.filterwarnings("ignore:Anti-alias option is always applied for PIL Image:UserWarning")


@contextlib.contextmanager
def without_pixels() -> Iterator[None]:
    """What makes pixels fails: the native core, Pillow's and torch's part, and images asked for."""

    def refuse(*arguments: Any, **named: Any) -> Any:
        raise AssertionError("this makes pixels")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DraftBase, "finish", refuse)
        patch.setattr(Outline, "finish", refuse)
        # What torch is asked has an image of its own.
        patch.setattr(convolution, "_ask", lambda shape, kernel_shape: True)
        patch.setattr(resizing, "_equal", lambda before, after, cubic: True)
        for name in ("conv2d", "grid_sample", "interpolate", "pad"):
            patch.setattr(torch.nn.functional, name, refuse)
        for name in ("resize", "transform", "rotate", "crop", "transpose", "convert", "tobytes"):
            patch.setattr(Image.Image, name, refuse)
        yield


def states() -> tuple[bytes, Any]:
    return bytes(torch.get_rng_state().tolist()), random.getstate()


def given(name: str) -> Any:
    return torch.rand(3, 64, 71) if name in OTHER_CASES else pil("RGB", 64, 71)


def drawn_by_a_call(pipeline: Any, image: Any, seed: int) -> tuple[Any, Any]:
    """What a call draws, and where it leaves the generators."""
    seed_all(seed)
    tape = Recording()
    pipeline._run(image, Call(pipeline._call.draws, tape=tape))
    recorded = states()
    after = run(pipeline, image, seed)
    assert after.error is None
    assert recorded == (bytes(after.torch_state.tolist()), after.python_state)
    return tape.entries, recorded


def expect_sample(pipeline: Any, images: list[Any], seeds: Any) -> None:
    """The same parameters, and generators left in the same state, without pixels; from an image and from its size."""
    expected = [drawn_by_a_call(pipeline, images[0], seed) for seed in seeds]
    with without_pixels():
        for seed, (params, after) in zip(seeds, expected):
            for image in images:
                seed_all(seed)
                assert snapshot(pipeline.sample(image)) == snapshot(params)
                assert states() == after


@each("name", CASES, whole=True)
def test_cases(name: str) -> None:
    image = given(name)
    sizes = [] if name.startswith(("Convert", "ToPIL", "ToTensor")) else [(64, 71)]
    if name.startswith("ToPIL"):
        image = noise(64, 71)
    expect_sample(T.Compose([CASES[name](T)]), [image, *sizes], range(3))


@pytest.mark.parametrize("name", KNOWN)
def test_recipes(name: str) -> None:
    side = RECIPE_SIZES[name]
    image = pil("RGB", side, side)
    expect_sample(KNOWN[name](T), [image, side], range(4))


@pytest.mark.parametrize("name", ["timm RandAugment", "strong", "ImageNet AugMix", "SimCLR"])
def test_compiled_recipes(name: str) -> None:
    image = pil("RGB", 300, 300)
    compiled = fastaug.compile(KNOWN[name](T), dtype=torch.float16, memory_format=torch.channels_last)
    nested = T.Compose([T.RandomRotation(20), compiled, T.RandomErasing(value="random"), T.RandomErasing()])
    expect_sample(nested, [image, 300], range(4))


@without_pixels()
def test_huge_images() -> None:
    """An image of a million million pixels would be too many."""
    pipeline = T.Compose(
        [
            T.Resize((1_000_000, 1_000_000)),
            T.AugMix(),
            *[T.RandAugment(4) for _ in range(9)],
            T.RandomCrop(2_000_000, pad_if_needed=True),
            T.ToTensor(),
            T.ColorJitter(0.5),
            T.RandomErasing(1.0, value=0.5),
            T.FiveCrop(10),
        ]
    )
    assert len(pipeline.sample(2_000_000)) == 13
    assert len(pipeline.sample(np.broadcast_to(np.uint8(3), (1_000_000, 2_000_000, 3)))) == 13


# ---- outlines have the sizes and containers of the images


def containers() -> dict[str, Any]:
    tensor = torch.from_numpy(noise(60, 70).transpose(2, 0, 1).copy())
    array = noise(60, 70)
    return {
        **{mode: pil(mode, 60, 70) for mode in ("RGB", "L", "RGBA", "LA", "CMYK", "P", "1", "I", "F", "I;16", "HSV")},
        "array": array,
        "gray array": array[:, :, 0],
        "array of one channel": array[:, :, :1],
        "float array": array.astype(np.float32),
        "tensor": tensor,
        "gray tensor": tensor[:1],
        "flat tensor": tensor[0],
        "batch": tensor[None].repeat(3, 1, 1, 1),
        "batch of batches": tensor[None, None].repeat(2, 1, 1, 1, 1),
        "float tensor": tensor / 255,
        "five channels": torch.cat([tensor, tensor[:2]]),
        "short tensor": tensor.to(torch.int16),
    }


@pytest.mark.parametrize("container", containers())
def test_outlines(container: str) -> None:
    """One transform after another, where the call succeeds."""
    compared = 0
    chosen = share(CASES.items(), container, 40)
    for name, make in chosen:
        image = containers()[container]
        transform = make(T)
        outcome = run(transform, image, 2)
        if outcome.error is not None:
            continue
        seed_all(2)
        outline = Outline(image, Call(tape=Recording()))
        draft_through([transform, T.Compose([])], outline)
        outline.call.draws.release()
        assert states() == (bytes(outcome.torch_state.tolist()), outcome.python_state), name
        result = Draft(outcome.value)
        assert outline.kind == result.kind, name
        if not isinstance(outcome.value, tuple):
            for attribute in ("channels", "height", "width", "lead", "flat"):
                assert getattr(outline, attribute) == getattr(result, attribute), (name, attribute)
        assert snapshot(outline.finish()) == snapshot(outcome.value), name
        compared += 1
    assert compared > 20 * len(chosen) // len(CASES), container


# ---- callables of the user's


class Seen:
    """A callable that fastaug does not know, and the images that it saw."""

    def __init__(self) -> None:
        self.images: list[Any] = []

    def __call__(self, image: Any) -> Any:
        self.images.append(snapshot(image))
        return image


def test_a_callable_sees_what_a_call_shows_it() -> None:
    """Black images for a size, and the image's own pixels for an image, after all that comes before it."""
    seen = Seen()
    pipeline = T.Compose(
        [
            T.RandomResizedCrop(40),
            T.AugMix(),
            seen,
            T.RandomApply([T.RandomRotation(30, expand=True, fill=7), seen, T.RandomInvert()], p=0.8),
            T.RandomOrder([T.RandomCrop(32, padding=2, fill=9), T.ColorJitter(0.4, 0.4, 0.4, 0.1), seen]),
            nested := fastaug.compile(T.Compose([T.ToTensor(), seen]), dtype=torch.float16),
            T.RandomErasing(1.0, value="random"),
            seen,
            T.ElasticTransform(20.0, 2.0),
            T.ToPILImage(),
            seen,
        ]
    )
    assert nested.dtype is torch.float16
    image = pil("RGB", 60, 70)
    for seed in range(12):
        for one, size in ((image, image), (Image.new("RGB", (70, 60)), (60, 70))):
            seen.images.clear()
            called = run(pipeline, one, seed)
            assert called.error is None
            expected = list(seen.images)
            seen.images.clear()
            seed_all(seed)
            pipeline.sample(size)
            assert seen.images == expected
            assert states() == (bytes(called.torch_state.tolist()), called.python_state)


def test_get_params_of_the_users_own_sees_the_image() -> None:
    seen = []

    class Crop(T.RandomCrop):
        @staticmethod
        def get_params(img: Any, output_size: Any) -> Any:
            seen.append(snapshot(img))
            return T.RandomCrop.get_params(img, output_size)

    pipeline = T.Compose([T.RandomRotation(30), Crop(40, padding=3, fill=5), T.RandomHorizontalFlip()])
    image = pil("RGB", 50, 60)
    called = run(pipeline, image, 1)
    seed_all(1)
    params = pipeline.sample(image)
    assert len(seen) == 2 and seen[0] == seen[1]
    assert states() == (bytes(called.torch_state.tolist()), called.python_state)
    assert snapshot(pipeline.replay(image, params)) == snapshot(called.value)


def test_a_sampled_image_is_not_changed() -> None:
    tensor = torch.rand(3, 40, 50)
    before = tensor.clone()
    inplace = [T.RandomErasing(1.0, inplace=True), T.Normalize([0.5], [0.5], inplace=True)]
    for steps in (inplace, [*inplace, T.Lambda(lambda image: image.flip(0))]):
        T.Compose(steps).sample(tensor)
        assert torch.equal(tensor, before)
