"""What the native core draws and drafts of a pipeline is what Python does: op for op, and word for word."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

import fastaug
import fastaug.transforms as T
from fastaug._draft import finish
from fastaug._draft.recipe import recipe_of
from fastaug._draft.replaced import TransformDraft
from fastaug._program.kinds import PIL_IMAGE

Random = random.Random
MODES = list(T.InterpolationMode)


def side(r: Random) -> int:
    return r.choice([1, 2, 3, r.randint(1, 12), r.randint(1, 40)])


def shape(r: Random) -> Any:
    return r.choice([side(r), [side(r)], (side(r), side(r)), [side(r), side(r)]])


def mode(r: Random) -> Any:
    return r.choice([T.InterpolationMode.BILINEAR, T.InterpolationMode.NEAREST, r.choice(MODES)])


def fill(r: Random) -> Any:
    return r.choice([0, 0, 255, 300, -3, 12.7, (7,), (1, 2, 3), [9.5, 300, -1], r.randint(0, 255)])


def p(r: Random) -> Any:
    return r.choice([0.5, 0.5, 1.0, 0.0, 1, r.random()])


def borders(r: Random) -> Any:
    width = lambda: r.randint(-2, 5)  # noqa: E731
    return r.choice([width(), (width(),), (width(), width()), [width() for _ in range(4)]])


def padding_mode(r: Random) -> str:
    return r.choice(["constant", "constant", "edge", "reflect", "symmetric"])


def degrees(r: Random) -> Any:
    exact = r.choice([0, 90, 180, 270, -90, 360, 45])
    return r.choice([25, 180.0, (-5, 5), (exact, exact), (30.5, 400)])


def interval(r: Random, low: float, high: float) -> tuple[float, float]:
    first, second = sorted((r.uniform(low, high), r.uniform(low, high)))
    return first, second


def middle(r: Random) -> Any:
    return r.choice([None, None, (0, 0), (r.uniform(-3, 20), r.randint(0, 9))])


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


def random_image(r: Random) -> Any:
    height, width, channels = side(r) + r.choice([0, 9]), side(r) + r.choice([0, 9]), r.choice([1, 3, 3, 3])
    pixels = np.random.default_rng(r.randrange(2**32)).integers(0, 256, (height, width, channels), dtype=np.uint8)
    kind = r.choice(["pil", "pil", "pil", "array", "tensor", "tensor", "odd"])
    if kind == "array":
        return pixels[:, :: r.choice([1, -1])]
    planes = torch.from_numpy(pixels).permute(2, 0, 1)
    if kind == "tensor":
        return planes.contiguous() if r.random() < 0.8 else planes
    image = Image.fromarray(pixels[:, :, 0] if channels == 1 else pixels)
    if kind == "pil":
        if r.random() < 0.1:
            image.info["dpi"] = (72, 72)
        return image
    if r.random() < 0.2:
        image.info["transparency"] = 3 if channels == 1 else (1, 2, 3)
        return image
    return r.choice(
        [image.convert("RGBA"), image.convert("CMYK"), pixels[:, :, 0], planes[0], planes[None], planes / 255, 7]
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


def state_of(pipeline: Any) -> torch.Tensor:
    return (pipeline._call.draws.generator or torch.default_generator).get_state()


def set_state(pipeline: Any, state: torch.Tensor) -> None:
    (pipeline._call.draws.generator or torch.default_generator).set_state(state)


def described(job: Any) -> Any:
    if job is None:
        return None
    return job.program, job.kind, tuple(job.size), job.mode, job.dtype, job.flat, job.interleaved


def by_python(pipeline: Any, image: Any) -> Any:
    """What the one job is, where there is one; or the error."""
    draft = TransformDraft(image, pipeline._call)
    try:
        pipeline._draft_all(draft)
        return described(pipeline._job(draft))
    except Exception as error:
        return error
    finally:
        draft.call.draws.release()


def natively(pipeline: Any, recipe: Any, image: Any) -> Any:
    """The same of the recipe; NotImplemented where it leaves the call to Python."""
    job = finish.job_of(recipe.job(image, pipeline.transforms))
    pipeline._call.draws.release()
    return job if job is NotImplemented else described(job)


def same(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, torch.Tensor):
        return one.dtype == other.dtype and one.stride() == other.stride() and torch.equal(one, other)
    return bool(one.mode == other.mode and one.info == other.info and one.tobytes() == other.tobytes())


def compared(pipeline: Any, image: Any, seed: int) -> str:
    """Who makes a call: "native" where the core does, after it was found to do what Python does."""
    recipe = pipeline._recipe()
    if recipe is None:
        return "no recipe"
    torch.manual_seed(seed)
    before = state_of(pipeline)
    ours = natively(pipeline, recipe, image)
    after = state_of(pipeline)
    if ours is NotImplemented:
        assert torch.equal(after, before)
        assert recipe.call(image, pipeline.transforms) is NotImplemented
        assert torch.equal(state_of(pipeline), before)
        return "declined"
    set_state(pipeline, before)
    assert by_python(pipeline, image) == ours
    assert torch.equal(state_of(pipeline), after)
    set_state(pipeline, before)
    expected = pipeline._run(image, pipeline._call)
    set_state(pipeline, before)
    result = recipe.call(image, pipeline.transforms)
    assert same(result, expected)
    assert torch.equal(state_of(pipeline), after)
    return "native"


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


def plain_image(r: Random, kind: str) -> Any:
    height, width, channels = r.randint(1, 40), r.randint(1, 40), 1 if kind == "L" else 3
    pixels = np.random.default_rng(r.randrange(2**32)).integers(0, 256, (height, width, channels), dtype=np.uint8)
    if kind == "tensor":
        return torch.from_numpy(pixels).permute(2, 0, 1).contiguous()
    return Image.fromarray(pixels[:, :, 0] if kind == "L" else pixels) if kind != "array" else pixels


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
