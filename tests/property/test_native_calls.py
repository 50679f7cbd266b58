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
from fastaug._draft import finish
from fastaug._draft.recipe import recipe_of
from fastaug._program.kinds import PIL_IMAGE
from support.native_calls import (
    Random,
    borders,
    compared,
    degrees,
    fill,
    middle,
    mode,
    p,
    padding_mode,
    plain_image,
    random_image,
    shape,
)


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


def jitter(r: Random) -> Any:
    share = lambda: r.choice([0, 0.4, (0.5, 1.5), (1, 1), (0, 0)])  # noqa: E731
    return T.ColorJitter(share(), share(), share(), r.choice([0, 0.1, (-0.5, 0.5), (0.2, 0.2)]))


def blur(r: Random) -> Any:
    odd = lambda: r.choice([1, 3, 5, 9, 31, 33])  # noqa: E731
    return T.GaussianBlur(r.choice([odd(), (odd(), odd())]), r.choice([0.7, (0.1, 2.0), (3, 3)]))


def norm(r: Random) -> Any:
    count = r.choice([1, 3])
    return T.Normalize([r.random() for _ in range(count)], [r.choice([0.5, 0.25, 2]) for _ in range(count)])


def erasing(r: Random) -> Any:
    scale, ratio = r.choice([((0.02, 0.33), (0.3, 3.3)), ((0.5, 1.0), (1, 2))])
    return T.RandomErasing(p(r), scale, ratio, r.choice([0, 0.5, [1.0, 2, 3], "random"]), r.random() < 0.5)


def resized_crop(r: Random) -> Any:
    scale, ratio = r.choice(
        [((0.08, 1.0), (3 / 4, 4 / 3)), ((0.5, 1.5), (0.8, 1.2)), ((5, 9), (1, 1)), ((1, 4), (0.1, 9))]
    )
    return T.RandomResizedCrop(shape(r), scale, ratio, mode(r), r.choice([True, True, False, None]))


def resize(r: Random) -> Any:
    size = shape(r)
    single = isinstance(size, int) or len(size) == 1
    most = r.choice([None, 41, 60]) if single else None
    return T.Resize(size, mode(r), most, r.choice([True, True, False, None]))


def crop(r: Random) -> Any:
    return T.RandomCrop(shape(r), r.choice([None, borders(r)]), r.random() < 0.6, fill(r), padding_mode(r))


def several(r: Random) -> list[Any]:
    return [STEPS[r.choice(list(STEPS))](r) for _ in range(r.randint(0, 3))]


STEPS: dict[str, Callable[[Random], Any]] = {
    "Resize": resize,
    "CenterCrop": lambda r: T.CenterCrop(shape(r)),
    "RandomCrop": crop,
    "RandomResizedCrop": resized_crop,
    "Pad": lambda r: T.Pad(borders(r), fill(r), padding_mode(r)),
    "RandomHorizontalFlip": lambda r: T.RandomHorizontalFlip(p(r)),
    "RandomVerticalFlip": lambda r: T.RandomVerticalFlip(p(r)),
    "RandomRotation": lambda r: T.RandomRotation(degrees(r), mode(r), r.random() < 0.4, middle(r), fill(r)),
    "RandomAffine": affine,
    "RandomPerspective": lambda r: T.RandomPerspective(r.choice([0, 0.5, 1.0]), p(r), mode(r), fill(r)),
    "ColorJitter": jitter,
    "Grayscale": lambda r: T.Grayscale(r.choice([1, 3])),
    "RandomGrayscale": lambda r: T.RandomGrayscale(p(r)),
    "RandomInvert": lambda r: T.RandomInvert(p(r)),
    "RandomPosterize": lambda r: T.RandomPosterize(r.randint(0, 8), p(r)),
    "RandomSolarize": lambda r: T.RandomSolarize(r.choice([0, 128, 255, 77.3, -1, 256, 300.0]), p(r)),
    "RandomAdjustSharpness": lambda r: T.RandomAdjustSharpness(r.choice([0, 1, 2, 0.3]), p(r)),
    "RandomAutocontrast": lambda r: T.RandomAutocontrast(p(r)),
    "RandomEqualize": lambda r: T.RandomEqualize(p(r)),
    "GaussianBlur": blur,
    "RandomApply": lambda r: T.RandomApply(several(r), p(r)),
    "Compose": lambda r: T.Compose(several(r)),
}

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


def random_pipeline(r: Random) -> Any:
    steps = [STEPS[r.choice(list(STEPS))](r) for _ in range(r.randint(0, 5))]
    pipeline = T.Compose([*steps, *r.choice(ENDS)(r)], arithmetic=r.choice(["container", "container", "pil"]))
    if r.random() < 0.5:
        return pipeline
    dtype = r.choice([None, None, torch.float16])
    layout = r.choice([None, None, torch.channels_last, torch.contiguous_format])
    generator = r.choice([None, torch.Generator().manual_seed(3)])
    return fastaug.compile(pipeline, generator=generator, dtype=dtype, memory_format=layout)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", range(8))
def test_programs_and_words_are_the_same(part: int) -> None:
    who: Counter[str] = Counter()
    for case in range(400):
        r = Random(400 * part + case)
        who[compared(random_pipeline(r), random_image(r), case)] += 1
    assert who["native"] > 80, who


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=150, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(0, 2**32))
def test_programs_and_words_are_the_same_for_what_hypothesis_finds(r: Random, seed: int) -> None:
    compared(random_pipeline(r), random_image(r), seed)


#: Steps that are Python's for tensors, which torch samples.
SAMPLED = ("RandomRotation", "RandomAffine", "RandomPerspective")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["L", "RGB", "array", "tensor"])
@pytest.mark.parametrize("step", [*STEPS, "RandomErasing", "Normalize"])
def test_each_step_is_the_same_in_every_setting(step: str, kind: str) -> None:
    who: Counter[str] = Counter()
    for case in range(60):
        r = Random(f"{step} {kind} {case}")
        floats = T.ConvertImageDtype(torch.float32) if kind == "tensor" else T.ToTensor()
        if step in STEPS:
            steps = [STEPS[step](r), floats]
        else:
            steps = [floats, erasing(r) if step == "RandomErasing" else norm(r)]
        who[compared(T.Compose(steps, arithmetic=r.choice(["container", "pil"])), plain_image(r, kind), case)] += 1
    assert who["native"] > 0 or (kind == "tensor" and step in SAMPLED), who


#: Transforms that no recipe knows.
BY_PYTHON = {
    "AugMix",
    "AutoAugment",
    "Decode",
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
    others = {"ConvertImageDtype", "Normalize", "PILToTensor", "RandomErasing", "ToPILImage", "ToTensor"}
    assert packed == set(STEPS) | others


def test_pil_images_stay_such() -> None:
    pipeline = T.Compose([T.RandomResizedCrop(9), T.ColorJitter(0.3, 0.3)])
    image = Image.effect_noise((30, 20), 80).convert("RGB")
    recipe: Any = recipe_of(pipeline, pipeline.transforms)
    job = finish.job_of(recipe.job(image, pipeline.transforms))
    pipeline._call.draws.release()
    assert job.kind == PIL_IMAGE and job.mode == "RGB"
