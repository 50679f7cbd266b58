"""What the native core draws and drafts of a pipeline is what Python does: op for op, and word for word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

import fastaug
import fastaug.transforms as T
from fastaug._draft.recipe import recipe_of
from fastaug._program.kinds import PIL_IMAGE
from support.differences import each
from support.native_calls import (
    DECODED_MODES,
    Random,
    compared,
    degrees,
    encoded,
    fill,
    job_of,
    middle,
    mode,
    plain_image,
    random_image,
)
from support.native_steps import Steps
from support.scale import cases


def affine(r: Random) -> Any:
    still = r.random() < 0.2
    return T.RandomAffine(
        0 if still else degrees(r),
        r.choice([None, (0.3, 0.2), (1, 0)]),
        None if still else r.choice([None, (0.5, 1.5)]),
        None if still else r.choice([None, 10, (-5, 5), (-5, 5, 3, 8)]),
        mode(r),
        fill(r),
        middle(r),
    )


V1 = Steps(T, mode, 0, 0)
several, crop, norm, erasing, STEPS = V1.several, V1.crop, V1.norm, V1.erasing, V1.by_name
STEPS["RandomAffine"] = affine

#: What pipelines end in, and what may come after it.
ENDS: tuple[Callable[[Random], list[Any]], ...] = (
    lambda r: [T.ToTensor(), norm(r)],
    lambda r: [T.ToTensor()],
    lambda r: [T.ToTensor(), norm(r), erasing(r)],
    lambda r: [T.PILToTensor(), T.ConvertImageDtype(torch.float32), norm(r)],
    lambda r: [T.ConvertImageDtype(torch.float32), norm(r), erasing(r), T.RandomHorizontalFlip()],
    lambda r: [T.ToTensor(), T.RandomHorizontalFlip(), crop(r), norm(r)],
    lambda r: [T.PILToTensor()],
    lambda r: [T.ToPILImage(), *several(r), T.ToTensor()],
    lambda r: [],
)


def random_pipeline(r: Random, *first: Any) -> Any:
    steps = [*first, *(STEPS[r.choice(list(STEPS))](r) for _ in range(r.randint(0, 5)))]
    pipeline = T.Compose([*steps, *r.choice(ENDS)(r)], arithmetic=r.choice(["container", "container", "pil"]))
    if r.random() < 0.5:
        return pipeline
    dtype = r.choice([None, None, torch.float16])
    layout = r.choice([None, None, torch.channels_last, torch.contiguous_format])
    generator = r.choice([None, torch.Generator().manual_seed(3)])
    return fastaug.compile(pipeline, generator=generator, dtype=dtype, memory_format=layout)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", range(cases(8)))
def test_programs_and_words_are_the_same(part: int) -> None:
    who: Counter[str] = Counter()
    for case in range(400):
        r = Random(400 * part + case)
        who[compared(random_pipeline(r), random_image(r), case)] += 1
    assert who["native"] > 80, who


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=cases(150), deadline=None)
@given(st.randoms(use_true_random=False), st.integers(0, 2**32))
def test_programs_and_words_are_the_same_for_what_hypothesis_finds(r: Random, seed: int) -> None:
    compared(random_pipeline(r), random_image(r), seed)


def decoding(r: Random) -> Any:
    """A Decode, within containers or not."""
    decode = T.Decode(r.choice([None, "RGB", *DECODED_MODES, "HSV"]), r.random() < 0.5)
    return r.choice([decode, decode, T.Compose([decode]), torch.nn.Sequential(decode), T.RandomApply([decode], 0.9)])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", range(cases(4)))
def test_programs_and_words_are_the_same_for_encoded_images(part: int) -> None:
    who: Counter[str] = Counter()
    for case in range(400):
        r = Random(400 * part + case)
        lazy = r.random() < 0.4
        pipeline = random_pipeline(r, *([] if lazy else [decoding(r)]))
        image = plain_image(r, "encoded") if lazy else random_image(r) if r.random() < 0.1 else encoded(r)
        who[compared(pipeline, image, case)] += 1
    assert who["native"] > 40, who


#: Steps that are Python's for tensors, which torch samples.
SAMPLED = ("RandomRotation", "RandomAffine", "RandomPerspective")

#: Kinds of images for which the core does every step, and others, which it does not pad, resample or blur.
USUAL = ("L", "RGB", "array", "tensor", "encoded")
OTHERS = ("LA", "RGBA", "CMYK", "YCbCr", "HSV", "told", "four", "four planes")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("step", [*STEPS, "RandomErasing", "Normalize"])
@each("kind", [*USUAL, *OTHERS])
def test_each_step_is_the_same_in_every_setting(step: str, kind: str) -> None:
    who: Counter[str] = Counter()
    for case in range(cases(60)):
        r = Random(f"{step} {kind} {case}")
        floats = T.ConvertImageDtype(torch.float32) if kind in ("tensor", "four planes") else T.ToTensor()
        if step in STEPS:
            steps = [STEPS[step](r), floats]
        else:
            steps = [floats, erasing(r) if step == "RandomErasing" else norm(r)]
        who[compared(T.Compose(steps, arithmetic=r.choice(["container", "pil"])), plain_image(r, kind), case)] += 1
    # Of a few cases none may be native.
    assert who["native"] > 0 or cases(60) < 60 or (kind == "tensor" and step in SAMPLED) or kind in OTHERS, who


@each("kind", [*USUAL, *OTHERS])
def test_images_of_every_kind_are_flipped_cut_and_normalized(kind: str) -> None:
    for case in range(20):
        image = plain_image(Random(case), kind)
        floats = T.ConvertImageDtype(torch.float32) if isinstance(image, torch.Tensor) else T.ToTensor()
        steps = [T.RandomHorizontalFlip(), T.RandomCrop(1), T.RandomVerticalFlip(), floats, T.Normalize([0.5], [0.5])]
        assert compared(T.Compose(steps), image, case) == ("native" if getattr(image, "native", True) else "declined")


#: Transforms that no recipe knows.
BY_PYTHON = {
    "AugMix",
    "AutoAugment",
    "ElasticTransform",
    "FiveCrop",
    "LinearTransformation",
    "RandAugment",
    "RandomChoice",
    "RandomOrder",
    "TenCrop",
    "TrivialAugmentWide",
}


def test_every_transform_is_known_or_pythons_and_tested() -> None:
    classes = {name for name in T.__all__ if hasattr(getattr(T, name), "_draft")}
    packed = {name for name in classes if "_packed" in vars(getattr(T, name))}
    assert classes - packed == BY_PYTHON
    others = {"ConvertImageDtype", "Decode", "Normalize", "PILToTensor", "RandomErasing", "ToPILImage", "ToTensor"}
    assert packed == set(STEPS) | others


def test_pil_images_stay_such() -> None:
    pipeline = T.Compose([T.RandomResizedCrop(9), T.ColorJitter(0.3, 0.3)])
    image = Image.effect_noise((30, 20), 80).convert("RGB")
    job = job_of(recipe_of(pipeline, pipeline.transforms), image, pipeline)
    assert job.kind == PIL_IMAGE and job.mode == "RGB"
