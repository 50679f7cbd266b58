"""What the native core draws and drafts of a pipeline is what Python does: op for op, and word for word."""

from __future__ import annotations

import copy
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torchvision.transforms as TV
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

import fastaug
import fastaug.transforms as T
from fastaug._draft.recipe import recipe_of
from fastaug._program import ops
from fastaug._program.kinds import PIL_IMAGE
from fastaug.transforms import v2
from fastaug.transforms._color import RandomColor
from support.differences import each
from support.native_calls import (
    DECODED_MODES,
    Random,
    by_python,
    compared,
    encoded,
    job_of,
    mode,
    natively,
    plain_image,
    random_image,
    same,
    set_state,
    state_of,
)
from support.native_steps import Steps
from support.own_names import own_names
from support.scale import cases

V1 = Steps(T, mode, 0, 0)
several, crop, norm, erasing, STEPS = V1.several, V1.crop, V1.norm, V1.erasing, V1.by_name

STEPS["RandomChoice"] = lambda r: T.RandomChoice(steps := several(r), r.choice([None, [1 + r.random() for _ in steps]]))
STEPS["RandomOrder"] = lambda r: T.RandomOrder(tuple(several(r)))

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


#: Kinds of images for which the core does every step, and others, of which some steps are left to Pillow or torch.
USUAL = ("L", "RGB", "array", "tensor", "strided", "encoded")
OTHERS = ("LA", "RGBA", "CMYK", "YCbCr", "HSV", "told", "four", "four planes", "stack", "floats")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("step", [*STEPS, "RandomErasing", "Normalize"])
@each("kind", [*USUAL, *OTHERS])
def test_each_step_is_the_same_in_every_setting(step: str, kind: str) -> None:
    who: Counter[str] = Counter()
    for case in range(cases(60)):
        r = Random(f"{step} {kind} {case}")
        image = plain_image(r, kind)
        floats = T.ConvertImageDtype(torch.float32) if isinstance(image, torch.Tensor) else T.ToTensor()
        if step in STEPS:
            steps = [STEPS[step](r), floats, *r.choice([[], [norm(r)]])]
        else:
            steps = [floats, erasing(r) if step == "RandomErasing" else norm(r)]
        who[compared(T.Compose(steps, arithmetic=r.choice(["container", "pil"])), image, case)] += 1
    # Of a few cases none may be native.
    assert who["native"] > 0 or cases(60) < 60 or kind in OTHERS, who


def fresh(image: Any) -> Any:
    """A copy of a tensor, with its strides, for transforms that write into it; other images themselves."""
    return copy.deepcopy(image) if isinstance(image, torch.Tensor) else image


def alike(one: Any, other: Any) -> bool:
    """Whether results are the same, in a batch or apart."""
    if isinstance(one, torch.Tensor):
        return isinstance(other, torch.Tensor) and one.dtype == other.dtype and torch.equal(one, other)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(alike, one, other))
    return same(one, other)


def images_of(r: Random) -> list[Any]:
    """Several images, most of which are of one kind and size."""
    count = r.choice([1, 2, 5, 9, 12, 30])
    first = random_image(r)
    kind = r.choice(["RGB", "L", "array", "tensor", "encoded"])
    alike = r.random() < 0.5
    images = [first if alike and r.random() < 0.9 else plain_image(r, kind) for _ in range(count)]
    for number in range(count):
        if r.random() < 0.1:
            images[number] = random_image(r)
        elif kind == "encoded" and r.random() < 0.5:
            images[number] = encoded(r)
    return images


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", range(cases(8)))
@pytest.mark.parametrize("way", ["batch", "seeds", "views"])
def test_batches_are_loops(way: str, part: int) -> None:
    for case in range(60):
        r = Random(f"{way} {part} {case}")
        images = images_of(r)
        pipeline = random_pipeline(r, *([decoding(r)] if r.random() < 0.3 else []))
        pipelines = [pipeline, random_pipeline(r)] if way == "views" else [pipeline]
        whole = fastaug.Views(pipelines) if way == "views" else pipeline
        opened = [pipeline._handle(one) if way != "views" and isinstance(one, bytes) else one for one in images]
        seeds = [r.randrange(2**62) for _ in images] if way == "seeds" else None
        torch.manual_seed(case)
        random.seed(case)
        before = [state_of(one) for one in pipelines]
        expected: list[Any] = []
        for number, image in enumerate(opened):
            if seeds is not None:
                (pipeline._call.draws.generator or torch.default_generator).manual_seed(seeds[number])
                random.seed(seeds[number])
            try:
                expected.append(whole(fresh(image)))
            except Exception as error:
                expected.append(error)
        after = before if seeds is not None else [state_of(one) for one in pipelines]
        for one, state in zip(pipelines, before):
            set_state(one, state)
        after_words = random.getstate()
        random.seed(case)
        if seeds is not None:
            after_words = random.getstate()
        failed = next((number for number, one in enumerate(expected) if isinstance(one, Exception)), None)
        threads = r.choice([1, 3])
        images = list(map(fresh, images))
        if failed is not None:
            # Draws come before pixels, and so do their errors: of two, another may be first.
            with pytest.raises(Exception) as caught:
                whole.batch(images, num_threads=threads, seeds=seeds)
            assert caught.value.index == failed  # type: ignore[attr-defined]
            continue
        results = whole.batch(images, num_threads=threads, seeds=seeds)
        rows = list(zip(*results)) if way == "views" else list(results)
        assert alike(rows, [tuple(row) for row in expected] if way == "views" else expected)
        assert all(torch.equal(state_of(one), state) for one, state in zip(pipelines, after))
        assert random.getstate() == after_words


def outcome(call: Callable[[Any], Any], image: Any, seen: list[Any]) -> tuple[list[Any], Any, torch.Tensor]:
    """Return what user code got, what the call gave or raised, and the generator after it."""
    seen.clear()
    torch.manual_seed(0)
    random.seed(0)
    try:
        result: Any = call(fresh(image))
    except Exception as error:
        result = type(error), str(error)
    return [*seen], result, torch.get_rng_state()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", range(cases(8)))
def test_user_code_gets_and_gives_the_same_images(part: int) -> None:
    seen: list[Any] = []

    def drawing(image: Any) -> Any:
        seen.append(image)
        torch.rand(1)
        return image

    def changing(image: Any) -> Any:
        seen.append(image)
        return image.clone() if isinstance(image, torch.Tensor) else image

    native = 0
    for case in range(200):
        r = Random(200 * part + case)
        steps = [*several(r), *r.choice(ENDS)(r), *several(r)]
        for user in r.choices([drawing, changing, T.Lambda(drawing)], k=r.randint(1, 3)):
            steps.insert(r.randint(0, len(steps)), user)
        pipeline, image = T.Compose(steps), random_image(r)
        recipe = pipeline._recipe()
        if recipe is None:
            continue
        ours = outcome(lambda given: recipe.call(given, pipeline.transforms), image, seen)  # noqa: B023
        if ours[1] is NotImplemented:
            continue
        native += 1
        theirs = outcome(lambda given: pipeline._run(given, pipeline._call), image, seen)  # noqa: B023
        assert len(ours[0]) == len(theirs[0])
        assert all(map(same, [*ours[0], ours[1]], [*theirs[0], theirs[1]])), case
        assert torch.equal(ours[2], theirs[2])
    assert native > 50


def test_shifts_of_policies_are_torch_s_at_all_sizes() -> None:
    who: Counter[str] = Counter()
    for case in range(cases(1500)):
        r = Random(case)
        bins = r.choice([31, 10, r.randint(2, 200)])
        pipeline = T.Compose([T.RandAugment(4, r.randrange(bins), bins), T.ToTensor()])
        size = r.choice([r.randint(1, 4000), 331 * r.randint(1, 12)])
        image = Image.new("L", r.choice([(size, 3), (3, size)]))
        torch.manual_seed(case)
        expected = by_python(pipeline, image)
        torch.manual_seed(case)
        found = natively(pipeline, pipeline._recipe(), image)
        who["declined" if found is NotImplemented else "same" if found == expected else "other"] += 1
    assert who["same"] > 0.95 * who.total() and not who["other"]


@each("kind", [*USUAL, *OTHERS])
def test_images_of_every_kind_are_flipped_cut_and_normalized(kind: str) -> None:
    for case in range(20):
        image = plain_image(Random(case), kind)
        floats = T.ConvertImageDtype(torch.float32) if isinstance(image, torch.Tensor) else T.ToTensor()
        steps = [T.RandomHorizontalFlip(), T.RandomCrop(1), T.RandomVerticalFlip(), floats, T.Normalize([0.5], [0.5])]
        native = getattr(image, "native", True) and (kind != "floats" or is_plain(image))
        assert compared(T.Compose(steps), image, case) == ("native" if native else "declined")


def is_plain(image: torch.Tensor) -> bool:
    """Whether torch's functions keep the order of axes, without a doubt."""
    channels, height, width = image.shape
    if image.stride() == (1, width * channels, channels):
        return min(image.shape) > 1
    return image.stride() == (height * width, width, 1)


HED = ops.hed((1.1, 0.9, 1.0), (0.02, -0.01, 0.0), True)


class Recolouring(RandomColor):
    """As the worked example of docs/notes/design/house.md: one op of colours, with a probability."""

    __module__ = "fastaug"  # recipes know no others

    def _adjust(self, draft: Any) -> None:
        draft.recolour(HED, lambda draft: draft.reset(draft.flush()))

    @classmethod
    def _step(cls, transform: Any) -> Any:
        return "Recolour", HED


class RecolouringV2(v2.RandomInvert):
    __module__ = "fastaug"
    _v1_transform_cls = Recolouring

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        inpt.recolour(HED, lambda draft: draft.reset(draft.flush()))
        return inpt


@each("kind", [*USUAL, *OTHERS])
def test_an_op_of_colours_is_a_step(kind: str) -> None:
    for case, probability in enumerate((0.0, 0.5, 0.5, 0.5, 1)):
        image = plain_image(Random(case), kind)
        floats = T.ConvertImageDtype(torch.float32) if isinstance(image, torch.Tensor) else T.ToTensor()
        who = {compared(T.Compose([Recolouring(probability), floats]), image, case)}
        if isinstance(image, (torch.Tensor, Image.Image)):
            ends = [v2.ToImage(), v2.ToDtype(torch.float32, scale=True)]
            who.add(compared(v2.Compose([RecolouringV2(probability), *ends]), image, case))
        assert who == {"native"} or kind not in ("RGB", "array", "tensor"), who


#: Transforms that Python does between the parts that have recipes: none of them has an op of the core.
APART: dict[str, Callable[[Random], Any]] = {
    # Mixes images of several chains by torch's sums.
    "AugMix": lambda r: T.AugMix(r.randint(1, 10)),
    # Draws a plane of noise, which torch's convolution smooths: with a small kernel, as images are small.
    "ElasticTransform": lambda r: T.ElasticTransform(9.0, 0.3),
    # Return tuples, for user code.
    "FiveCrop": lambda r: T.FiveCrop(1),
    "TenCrop": lambda r: T.TenCrop((1, 1), r.random() < 0.5),
    # Multiplies matrices by torch.
    "LinearTransformation": lambda r: T.LinearTransformation(torch.eye(12) / 2, torch.ones(12)),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", APART)
def test_parts_around_transforms_of_python_are_the_same(name: str) -> None:
    who: Counter[str] = Counter()
    for case in range(cases(60)):
        r = Random(f"{name} {case}")
        if name == "LinearTransformation":
            image = plain_image(r, r.choice(["RGB", "tensor"]))
            floats = T.ToTensor() if isinstance(image, Image.Image) else T.ConvertImageDtype(torch.float32)
            shaping = [T.Grayscale(3), T.Resize((2, 2)), floats]
            steps = [*several(r), *shaping, APART[name](r), T.RandomHorizontalFlip()]
        else:
            after = [T.Lambda(tuple)] if name in ("FiveCrop", "TenCrop") else [*several(r), T.ToTensor()]
            steps = [*several(r), APART[name](r), *after]
            image = random_image(r)
        who[compared(T.Compose(steps), image, case)] += 1
    assert who["in parts"] > 10 or cases(60) < 60, who


def test_every_transform_is_known_or_pythons_and_tested() -> None:
    classes = {name for name in T.__all__ if hasattr(getattr(T, name), "_draft")}
    packed = {name for name in classes if hasattr(getattr(T, name), "_packed")}
    assert classes - packed == {name for name in classes if getattr(getattr(T, name), "_apart", False)} == set(APART)
    others = {"ConvertImageDtype", "Decode", "Normalize", "PILToTensor", "RandomErasing", "ToPILImage", "ToTensor"}
    assert (packed - own_names(T, TV)) | {"Decode"} == set(STEPS) | others


def test_pil_images_stay_such() -> None:
    pipeline = T.Compose([T.RandomResizedCrop(9), T.ColorJitter(0.3, 0.3)])
    image = Image.effect_noise((30, 20), 80).convert("RGB")
    job = job_of(recipe_of(pipeline, pipeline.transforms), image, pipeline)
    assert job.kind == PIL_IMAGE and job.mode == "RGB"
