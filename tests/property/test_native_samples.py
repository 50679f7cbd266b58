"""What the native core draws and drafts of a pipeline of v2 is what Python does: op for op, and word for word."""

from __future__ import annotations

import copy
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from torch.utils._pytree import tree_map_only
from torchvision.transforms import InterpolationMode as TVMode
from torchvision.transforms import v2 as TV

import fastaug
from fastaug import tv_tensors
from fastaug._draft.recipe import Parts
from fastaug._draft.replaced import sample_functions
from fastaug.io import LazyImage
from fastaug.transforms import Decode, InterpolationMode, v2
from fastaug.transforms.v2 import functional as F
from fastaug.transforms.v2._recipe import packer_of
from support.differences import each
from support.native_calls import (
    DECODED_MODES,
    Random,
    compared,
    encoded,
    noise,
    plain_image,
    random_image,
    same,
    stored,
)
from support.native_samples import (
    BY_TYPES,
    ENDS,
    IMAGE,
    OTHERS,
    REFUSING,
    STEPS,
    USUAL,
    VIDEO,
    arranged,
    by_types,
    canvas_of,
    erasing,
    floats,
    image_of,
    mask,
    norm,
    other_leaf,
    random_pipeline,
    random_sample,
    several,
    tagged,
)
from support.own_names import own_names
from support.scale import cases


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", range(cases(8)))
def test_programs_and_words_are_the_same(part: int) -> None:
    who: Counter[str] = Counter()
    for case in range(400):
        r = Random(400 * part + case)
        who[compared(random_pipeline(r), tagged(r, random_image(r)), case)] += 1
    assert who["native"] > 80, who


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", range(cases(8)))
def test_results_words_and_aliases_of_samples_are_the_same(part: int) -> None:
    who: Counter[str] = Counter()
    for case in range(600):
        r = Random(f"{part} {case}")
        pipeline = random_pipeline(r)
        who[compared(pipeline, random_sample(r, tagged(r, random_image(r))), case)] += 1
    assert who["native"] > 50, who


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", range(cases(8)))
def test_samples_of_encoded_images_are_the_same(part: int) -> None:
    who: Counter[str] = Counter()
    for case in range(400):
        r = Random(f"encoded {part} {case}")
        pipeline = random_pipeline(r, *([decoding(r)] if r.random() < 0.1 else []))
        who[compared(pipeline, random_sample(r, plain_image(r, "encoded")), case)] += 1
    assert who["native"] > 25, who


def images_of_one_size(r: Random) -> list[Any]:
    """Images and videos, mostly of one size and container, which the core does."""
    pixels = [noise(r, 9, 12, 3) for _ in range(r.randint(2, 4))]
    if r.random() < 0.4:
        images: list[Any] = [Image.fromarray(one) for one in pixels]
        if r.random() < 0.5:
            images = [LazyImage(stored(one, "PNG")) if r.random() < 0.8 else one for one in images]
    else:
        planes = [torch.from_numpy(one).permute(2, 0, 1) for one in pixels]
        ways = [IMAGE, IMAGE, lambda one: IMAGE(one.contiguous()), lambda one: VIDEO(torch.stack([one, 255 - one]))]
        images = [r.choice(ways)(one) for one in planes]
    if r.random() < 0.1:
        images.append(r.choice([random_image(r), images[0]]))
    return images


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", range(cases(8)))
def test_samples_of_several_images_are_the_same(part: int) -> None:
    who: Counter[str] = Counter()
    for case in range(300):
        r = Random(f"several {part} {case}")
        leaves = [*images_of_one_size(r), *(other_leaf(r, (9, 12)) for _ in range(r.randint(0, 2)))]
        r.shuffle(leaves)
        who[compared(random_pipeline(r), arranged(r, leaves), case)] += 1
    assert who["native"] > 15, who


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=cases(150), deadline=None)
@given(st.randoms(use_true_random=False), st.integers(0, 2**32))
def test_programs_and_words_are_the_same_for_what_hypothesis_finds(r: Random, seed: int) -> None:
    compared(random_pipeline(r), tagged(r, random_image(r)), seed)


def outcome(call: Callable[[Any], Any], sample: Any, seen: list[Any]) -> tuple[list[Any], Any, bytes]:
    """Return what user code got, what the call gave or raised, and the generator after it."""
    seen.clear()
    torch.manual_seed(0)
    try:
        result: Any = call(copy.deepcopy(sample))
    except Exception as error:
        result = type(error), re.sub("<.*", "", str(error))  # without addresses
    # Where a crop is all that is done after user code, its result is a part of a larger tensor.
    dense = tree_map_only(torch.Tensor, lambda leaf: leaf.clone(memory_format=torch.contiguous_format), [seen, result])
    return *dense, torch.get_rng_state().numpy().tobytes()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", range(cases(8)))
def test_user_code_gets_and_gives_the_same_samples(part: int) -> None:
    seen: list[Any] = []

    def drawing(*sample: Any) -> Any:
        seen.append(sample)
        torch.rand(1)
        return sample if len(sample) > 1 else sample[0]

    class Changing(v2.Transform):
        def transform(self, inpt: Any, params: Any) -> Any:
            seen.append(inpt)
            return inpt.clone() if isinstance(inpt, torch.Tensor) else inpt

    def turning(leaf: Any) -> Any:
        seen.append(leaf)
        return leaf

    code = [drawing, Changing(), v2.Lambda(turning), v2.Lambda(turning, tv_tensors.Mask, IMAGE)]
    who: Counter[str] = Counter()
    for case in range(200):
        r = Random(f"user code {part} {case}")
        steps = [*several(r), *r.choice(ENDS)(r), *several(r)]
        for user in r.choices(code, k=r.randint(1, 3)):
            steps.insert(r.randint(0, len(steps)), user)
        pipeline = v2.Compose(steps) if r.random() < 0.7 else fastaug.compile(v2.Compose(steps), dtype=torch.float16)
        sample = random_sample(r, tagged(r, random_image(r)))
        unpacked = type(sample) is tuple and len(sample) > 1 and r.random() < 0.7
        recipe = pipeline._recipe()
        who["parts" if isinstance(recipe, Parts) else "one" if recipe else "none"] += 1
        if not isinstance(recipe, Parts):
            continue
        ours = outcome(lambda given: recipe.call(given, pipeline.transforms, unpacked), sample, seen)  # noqa: B023
        theirs = outcome(
            lambda given: pipeline._by_python(*given if unpacked else (given,)),  # noqa: B023
            sample,
            seen,
        )
        assert len(ours[0]) == len(theirs[0])
        assert all(map(same, [*ours[0], ours[1]], [*theirs[0], theirs[1]])), case
        assert ours[2] == theirs[2]
    assert who["parts"] > 100, who


#: Transforms that Python does, between the parts of a pipeline.
APART: dict[str, Callable[[Random], Any]] = {
    "AugMix": lambda r: v2.AugMix(r.randint(1, 10)),
    "ElasticTransform": lambda r: v2.ElasticTransform(9.0, 0.3),
    "FiveCrop": lambda r: v2.FiveCrop(1),
    "TenCrop": lambda r: v2.TenCrop((1, 1), r.random() < 0.5),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", APART)
def test_parts_around_transforms_of_python_are_the_same(name: str) -> None:
    who: Counter[str] = Counter()
    for case in range(cases(60)):
        r = Random(f"{name} {case}")
        steps = [*several(r), APART[name](r), *r.choice(ENDS)(r)]
        image = tagged(r, random_image(r))
        who[compared(v2.Compose(steps), random_sample(r, image) if r.random() < 0.5 else image, case)] += 1
    assert who["in parts"] > 10 or cases(60) < 60, who


def decoding(r: Random) -> Any:
    """A Decode, within containers or not."""
    decode = Decode(r.choice([None, "RGB", *DECODED_MODES, "HSV"]), r.random() < 0.5)
    return r.choice([decode, decode, v2.Compose([decode]), torch.nn.Sequential(decode), v2.RandomApply([decode], 0.9)])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", range(cases(4)))
def test_programs_and_words_are_the_same_for_encoded_images(part: int) -> None:
    who: Counter[str] = Counter()
    for case in range(400):
        r = Random(400 * part + case)
        lazy = r.random() < 0.4
        pipeline = random_pipeline(r, *([] if lazy else [decoding(r)]))
        image = plain_image(r, "encoded") if lazy else tagged(r, random_image(r)) if r.random() < 0.1 else encoded(r)
        who[compared(pipeline, image, case)] += 1
    assert who["native"] > 40, who


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("step", [*STEPS, *BY_TYPES])
@each("kind", ["RGB", "tagged", "tensor"])
def test_each_step_moves_masks_in_every_setting(step: str, kind: str) -> None:
    who: Counter[str] = Counter()
    for case in range(cases(100)):
        r = Random(f"{step} {kind} {case} masks")
        image = image_of(r, kind)
        canvas = canvas_of(image)
        sample = image, {"mask": mask(r, canvas), "labels": torch.ones(3)}, mask(r, canvas)
        end = [v2.ToImage(), r.choice([floats, by_types])(r), *r.choice([[], [v2.ToPureTensor()]])]
        transform = v2.Compose(
            [(STEPS | BY_TYPES)[step](r), *end], arithmetic=r.choice(["container", "container", "pil"])
        )
        who[compared(transform, sample, case)] += 1
    assert who["native"] > 0 or cases(100) < 100 or step in REFUSING, who


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("step", [*STEPS, "RandomErasing", "Normalize"])
@each("kind", [*USUAL, *OTHERS])
def test_each_step_is_the_same_in_every_setting(step: str, kind: str) -> None:
    who: Counter[str] = Counter()
    for case in range(cases(60)):
        r = Random(f"{step} {kind} {case}")
        image = image_of(r, kind)
        end = [r.choice([v2.ToImage(), v2.PILToTensor()]), floats(r)]
        if step not in STEPS:
            steps = [*end, erasing(r) if step == "RandomErasing" else norm(r)]
        elif kind == "opened":
            # Pixels lie side by side from here on, and whether torch keeps them so depends on the steps.
            steps = [end[0], STEPS[step](r), STEPS[step](r)]
        else:
            steps = [STEPS[step](r), *end]
        who[compared(v2.Compose(steps, arithmetic=r.choice(["container", "pil"])), image, case)] += 1
    # Of a few cases none may be native.
    assert who["native"] > 0 or cases(60) < 60 or kind in OTHERS, who


@each("kind", [*USUAL, *OTHERS])
def test_images_of_every_kind_are_flipped_cut_and_normalized(kind: str) -> None:
    for case in range(20):
        r = Random(case)
        image = image_of(r, kind)
        steps = [
            v2.RandomHorizontalFlip(),
            v2.RandomVerticalFlip(),
            v2.ToImage(),
            floats(r),
            v2.Normalize([0.5], [0.5]),
        ]
        found = compared(v2.Compose(steps), image, case)
        assert found == ("native" if getattr(image, "native", True) else "declined")


@each("interpolation", [2, "bilinear", TVMode.BILINEAR, InterpolationMode.BILINEAR])
def test_every_way_to_name_an_interpolation_has_a_recipe(interpolation: Any) -> None:
    pipeline = v2.Compose([v2.RandomResizedCrop(9, interpolation=interpolation), v2.RandomRotation(9, interpolation)])
    assert compared(pipeline, image_of(Random(0), "tagged"), 0) == "native"


#: Transforms that recipes know.
KNOWN = {step for step in STEPS if " " not in step} | {
    "Normalize",
    "PILToTensor",
    "RandomErasing",
    "ToImage",
    "ToPureTensor",
}
KNOWN |= {"ConvertImageDtype", "RandomIoUCrop", "SanitizeBoundingBoxes", "SanitizeKeyPoints", "ToDtype"}


def test_every_transform_that_is_packed_is_tested() -> None:
    assert {name for name in v2.__all__ if packer_of(getattr(v2, name))} - own_names(v2, TV) == KNOWN


def test_what_they_call_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    called = {name for cls in KNOWN for name in getattr(v2, cls).transform.__code__.co_names}
    called |= {"adjust_brightness", "adjust_contrast", "adjust_hue", "adjust_saturation"}  # by name, in ColorJitter
    called &= set(F.__all__) - {"is_pure_tensor"}
    assert "resize" in called and not sample_functions
    for name in called:
        with monkeypatch.context() as patch:
            patch.setattr(F, name, None)
            assert sample_functions.keys() == {name}
        assert not sample_functions
