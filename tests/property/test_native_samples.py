"""What the native core draws and drafts of a pipeline of v2 is what Python does: op for op, and word for word."""

from __future__ import annotations

import copy
import re
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
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
    WIDE,
    Random,
    borders,
    compared,
    degrees,
    encoded,
    fill,
    mode,
    noise,
    p,
    padding_mode,
    plain_image,
    random_image,
    same,
    shape,
    stored,
)
from support.native_steps import Steps
from support.own_names import own_names
from support.scale import cases

# So that it is known from here on whose classes they are.
IMAGE, VIDEO = tv_tensors.Image, tv_tensors.Video


def named(r: Random) -> Any:
    found = mode(r)
    return r.choice([found, found.value])


V2 = Steps(v2, named, None, 1)
several, crop, norm, erasing, STEPS = V2.several, V2.crop, V2.norm, V2.erasing, V2.by_name
STEPS["RandomPosterize"] = lambda r: v2.RandomPosterize(r.randint(0, 9), p(r))
STEPS["ScaleJitter"] = lambda r: v2.ScaleJitter(
    (r.randint(1, 40), r.randint(1, 40)), r.choice([(0.1, 2.0), (1, 1), (0.9, 1.3)]), named(r), r.random() < 0.8
)
STEPS["JPEG"] = lambda r: v2.JPEG(r.choice([50, (5, 60), (1, 100)]))
STEPS["RandomShortestSize"] = lambda r: v2.RandomShortestSize(
    r.choice([7, [5, 12, 30]]), r.choice([None, 20, 41]), named(r), r.random() < 0.8
)


STEPS["RandomResize"] = lambda r: v2.RandomResize(r.randint(1, 20), r.randint(21, 40), named(r), r.random() < 0.8)


def distort(r: Random) -> Any:
    ranges = [sorted((r.uniform(0, 2), r.uniform(0, 2))) for _ in range(3)]
    return v2.RandomPhotometricDistort(*ranges, hue=sorted((r.uniform(-0.5, 0.5), r.uniform(-0.5, 0.5))), p=p(r))


STEPS["RandomPhotometricDistort"] = distort
STEPS["RandomChannelPermutation"] = lambda r: v2.RandomChannelPermutation()
STEPS["RandomZoomOut"] = lambda r: v2.RandomZoomOut(
    fill(r), r.choice([(1.0, 4.0), (1, 1), [1.2, 1.9]]), r.choice([0.5, 1.0])
)


FORMATS = ("XYXY", "XYWH", "CXCYWH")
STEPS["ConvertBoundingBoxFormat"] = lambda r: v2.ConvertBoundingBoxFormat(
    r.choice([*FORMATS, "cxcywh", *tv_tensors.BoundingBoxFormat])
)
STEPS["ClampBoundingBoxes"] = lambda r: v2.ClampBoundingBoxes(r.choice(["auto", "soft", "hard", None]))
STEPS["SetClampingMode"] = lambda r: v2.SetClampingMode(r.choice(["soft", "hard", None]))
STEPS["ClampKeyPoints"] = lambda r: v2.ClampKeyPoints()


def outside(r: Random) -> Any:
    """A fill for all leaves, or a dictionary of fills by their types."""
    types = [Image.Image, torch.Tensor, IMAGE, VIDEO, tv_tensors.Mask, "others"]
    return fill(r) if r.random() < 0.5 else {kind: fill(r) for kind in r.sample(types, r.randint(1, 4))}


# Transforms whose fills may depend on the types of leaves.
BY_TYPES: dict[str, Callable[[Random], Any]] = {
    "Pad by types": lambda r: v2.Pad(borders(r), outside(r), padding_mode(r)),
    "RandomCrop by types": lambda r: v2.RandomCrop(shape(r), borders(r), True, outside(r), padding_mode(r)),
    "RandomZoomOut by types": lambda r: v2.RandomZoomOut(outside(r), p=1.0),
    "RandomAffine by types": lambda r: v2.RandomAffine(degrees(r), (0.3, 0.2), fill=outside(r)),
    "RandomPerspective by types": lambda r: v2.RandomPerspective(0.5, 1, fill=outside(r)),
    "RandomRotation by types": lambda r: v2.RandomRotation(degrees(r), expand=r.random() < 0.5, fill=outside(r)),
}


def scaled(r: Random, dtype: torch.dtype) -> Any:
    return r.choice([v2.ToDtype(dtype, scale=True), v2.ConvertImageDtype(dtype)])


def by_types(r: Random) -> Any:
    """Floats, and other dtypes of masks."""
    types: dict[Any, Any] = {tv_tensors.Mask: r.choice([None, torch.int64, torch.uint8, torch.bool])}
    images = {IMAGE: torch.float32, "others": None}
    types |= {} if r.random() < 0.5 else {VIDEO: r.choice([None, torch.float32])}
    types |= r.choice([images, images, {torch.Tensor: torch.float32, "others": None}, {"others": torch.float32}, {}])
    return v2.ToDtype(types, scale=True)


def choice(r: Random) -> Any:
    transforms = several(r)
    return v2.RandomChoice(transforms, r.choice([None, [r.choice([0, 1, 2.5]) + r.random() for _ in transforms]]))


STEPS["RandomChoice"] = choice
STEPS["RandomOrder"] = lambda r: v2.RandomOrder(several(r))


def floats(r: Random) -> Any:
    return scaled(r, torch.float32)


def of_places(r: Random) -> list[Any]:
    """What changes no image, and may end a pipeline."""
    sanitize = v2.SanitizeBoundingBoxes(
        r.choice([1, 5]), labels_getter=r.choice(["default", None, lambda sample: None])
    )
    others = [v2.ConvertBoundingBoxFormat("CXCYWH"), v2.ClampBoundingBoxes(), v2.ClampKeyPoints(), v2.ToPureTensor()]
    points = v2.SanitizeKeyPoints(r.choice([None, None, "default", lambda sample: None]))
    return [*r.sample([sanitize, points, *others], r.randint(1, 3))]


#: What pipelines end in, and what may come after it.
ENDS: tuple[Callable[[Random], list[Any]], ...] = (
    lambda r: [v2.ToImage(), floats(r), norm(r)],
    lambda r: [v2.PILToTensor(), floats(r), norm(r)],
    lambda r: [v2.ToImage(), *several(r), floats(r), norm(r), v2.ToPureTensor()],
    lambda r: [v2.PILToTensor(), *several(r), scaled(r, torch.uint8)],
    lambda r: [v2.ToImage(), floats(r), norm(r), erasing(r), v2.RandomHorizontalFlip()],
    lambda r: [v2.ToImage(), *several(r)],
    lambda r: [v2.ToImage(), *several(r), *of_places(r)],
    lambda r: [*several(r), *of_places(r)],
    lambda r: [v2.ToImage(), v2.RandomHorizontalFlip(), crop(r), floats(r)],
    lambda r: [v2.ToImage(), *several(r), by_types(r)],
    lambda r: [v2.PILToTensor()],
    lambda r: [v2.ToImage()],
    lambda r: [],
)


def tagged(r: Random, image: Any) -> Any:
    """An image of random_image, mostly as it is, some tensors as tv_tensors."""
    if not isinstance(image, torch.Tensor) or r.random() < 0.5:
        return image
    return VIDEO(image) if image.ndim > 3 and r.random() < 0.6 else IMAGE(image)


def places(r: Random, canvas: tuple[int, int]) -> Any:
    """Boxes or points on a canvas, mostly of kinds that the core moves."""
    count, dtype = (
        r.choice([0, 1, 3]),
        r.choice([torch.float32, torch.float32, torch.float64, torch.int64, torch.int32]),
    )
    points = r.random() < 0.4
    values = torch.tensor([[r.uniform(-9, 50) for _ in range(2 if points else 4)] for _ in range(count)])
    values = values.reshape(count, 2 if points else 4).to(dtype)
    if r.random() < 0.2:
        values = values.repeat_interleave(2, dim=1)[:, ::2]
    if points:
        values = values.reshape(count, 1, 2) if r.random() < 0.3 else values
        return tv_tensors.KeyPoints(values, canvas_size=canvas)
    format, clamping = r.choice(FORMATS), r.choice(["soft", "hard", None])
    if r.random() < 0.05:
        format, values = "CXCYWHR", torch.rand(count, 5) * 20
    return tv_tensors.BoundingBoxes(  # type: ignore[call-overload]
        values, format=format, canvas_size=canvas, clamping_mode=clamping
    )


def mask(r: Random, canvas: tuple[int, int]) -> Any:
    """A mask for a canvas, mostly of kinds that the core moves."""
    planes = r.choice([[], [], [1], [3], [r.randint(0, 9)]])
    dtype = r.choice([*[torch.uint8] * 9, *[torch.bool] * 3, *WIDE, *WIDE, torch.float64, torch.float16])
    most = 2 ** r.choice([8, 15, 31]) if dtype in WIDE else 256
    generator = torch.Generator().manual_seed(r.randrange(2**32))
    values = torch.randint(-most if dtype in WIDE else 0, most, (*planes, *canvas), generator=generator)
    if dtype is torch.float32:
        values = values / 3
    return tv_tensors.Mask(values > 99 if dtype is torch.bool else values.to(dtype))


def other_leaf(r: Random, canvas: tuple[int, int]) -> Any:
    """A leaf beside an image: what moves with it, or stays as it is; few that the core leaves to Python."""
    odd = [
        lambda: tv_tensors.Mask(torch.zeros((*canvas, 2), dtype=torch.uint8).permute(2, 0, 1)),
        lambda: tv_tensors.Mask(torch.zeros((7, 9), dtype=torch.uint8)),
        lambda: tv_tensors.Mask(torch.zeros(canvas[-1:], dtype=torch.uint8)),
        lambda: IMAGE(torch.zeros(3, *canvas, dtype=torch.uint8)),
        lambda: places(r, (7, 9)),
        lambda: torch.nn.Parameter(torch.ones(2)),
        lambda: np.zeros((*canvas, 3), dtype=np.uint8),
        lambda: OrderedDict(label=1),
        lambda: torch.zeros(3, *canvas, dtype=torch.uint8),
    ]
    if r.random() < 0.06:
        return r.choice(odd)()
    plain = [lambda: torch.tensor([1, 2]), lambda: "cat", lambda: 3, lambda: None, lambda: torch.zeros(())]
    return r.choice([places, mask])(r, canvas) if r.random() < 0.6 else r.choice(plain)()


def arranged(r: Random, leaves: list[Any]) -> Any:
    """A tuple, list or dictionary of the leaves, some of them in others."""
    if len(leaves) > 2 and r.random() < 0.5:
        cut = r.randint(0, len(leaves))
        leaves = [*leaves[:cut], arranged(r, leaves[cut:])]
    kind = r.choice([tuple, list, dict])
    return dict(zip("cabdefg", leaves)) if kind is dict else kind(leaves)


def random_sample(r: Random, image: Any) -> Any:
    canvas = (image.height, image.width) if isinstance(image, (Image.Image, LazyImage)) else (30, 40)
    if isinstance(image, torch.Tensor) and image.ndim > 1:
        canvas = image.shape[-2], image.shape[-1]
    leaves = [other_leaf(r, canvas) for _ in range(r.randint(0, 4))]
    leaves.insert(r.choice([0, 0, r.randint(0, len(leaves))]), image)
    return arranged(r, leaves)


def random_pipeline(r: Random, *first: Any) -> Any:
    steps = [*first, *(several(r) if r.random() < 0.8 else [])]
    steps += r.choice(ENDS)(r)
    pipeline = v2.Compose(steps or [v2.ToImage()], arithmetic=r.choice(["container", "container", "pil"]))
    if r.random() < 0.6:
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


#: Kinds of images for which the core does every step, and others, of which some steps are left to Pillow or torch.
USUAL = ("L", "RGB", "tensor", "tagged", "strided", "stack", "video", "opened", "encoded")
OTHERS = ("LA", "RGBA", "CMYK", "YCbCr", "HSV", "told", "four planes")


def image_of(r: Random, kind: str) -> Any:
    image = plain_image(r, {"tagged": "tensor", "opened": "RGB", "video": "stack"}.get(kind, kind))
    return IMAGE(image) if kind == "tagged" else VIDEO(image) if kind == "video" else image


#: Steps that raise an error for boxes.
REFUSING = ("AutoAugment", "RandAugment", "TrivialAugmentWide")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("step", STEPS)
@each("kind", ["RGB", "tagged"])
def test_each_step_moves_places_in_every_setting(step: str, kind: str) -> None:
    who: Counter[str] = Counter()
    for case in range(cases(60)):
        r = Random(f"{step} {kind} {case} places")
        image = IMAGE(plain_image(r, "tensor")) if kind == "tagged" else plain_image(r, kind)
        canvas = (image.height, image.width) if kind == "RGB" else (image.shape[-2], image.shape[-1])
        sample = image, {"boxes": places(r, canvas), "labels": torch.ones(3), "points": places(r, canvas)}
        end = [v2.ToImage(), floats(r), *r.choice([[], [v2.ToPureTensor()]])]
        who[compared(v2.Compose([STEPS[step](r), *end]), sample, case)] += 1
    assert who["native"] > 0 or cases(60) < 60 or step in REFUSING, who


def iou_crop(r: Random) -> Any:
    options = r.choice([None, None, [0.0, 1.0], [1.0], (0.1, 0.5, 2)])
    scales, ratios = r.choice([(0.3, 1.0), (0.01, 1.0), (0.9, 2)]), r.choice([(0.5, 2.0), (0, 9)])
    return v2.RandomIoUCrop(*scales, *ratios, options, r.choice([40, 3]))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["RGB", "tagged", "tensor", "video"])
def test_crops_by_boxes_are_the_same(kind: str) -> None:
    who: Counter[str] = Counter()
    for case in range(cases(300)):
        r = Random(f"{kind} {case} boxes")
        image = image_of(r, kind)
        canvas = (image.height, image.width) if kind == "RGB" else (image.shape[-2], image.shape[-1])
        corners = [[r.randint(0, side - 1) for side in (canvas[1], canvas[0])] for _ in range(r.randint(1, 4))]
        boxes = torch.tensor([[x, y, r.randint(x, canvas[1]), r.randint(y, canvas[0])] for x, y in corners])
        dtype, clamping = r.choice([torch.float32, torch.int64, torch.float64]), r.choice(["soft", "hard", None])
        places: Any = tv_tensors.BoundingBoxes(  # type: ignore[call-overload]
            boxes.to(dtype), format="XYXY", canvas_size=canvas, clamping_mode=clamping
        )
        sample = image, {"boxes": places, "labels": torch.ones(len(boxes)), "others": other_leaf(r, canvas)}
        steps = [*several(r), v2.ConvertBoundingBoxFormat("XYWH")][: r.randint(0, 1)]
        ends = [[], [v2.ToPureTensor()], [v2.SanitizeBoundingBoxes(labels_getter=None)]]
        steps += [iou_crop(r), *several(r)[: r.randint(0, 2)], v2.ToImage(), floats(r), *r.choice(ends)]
        who[compared(v2.Compose(steps), sample, case)] += 1
    assert who["native"] > 25 or kind == "video" or cases(300) < 300, who


def labelled(r: Random, rows: int) -> dict[str, Any]:
    """Labels for so many boxes, where v2 finds them by itself, and mostly such as the core takes."""
    labels: list[Any] = [torch.arange(rows), torch.arange(rows), torch.rand(rows, 2), torch.zeros(rows, 0)]
    labels += [torch.arange(rows + 1), torch.tensor(3), [1] * rows, None, (torch.arange(rows), torch.ones(rows))]
    label = r.choice(labels)
    names = r.choice([["labels"], ["labels"], ["Label", "LABELS"], ["is_label"], ["other"]])
    return {name: label if r.random() < 0.7 else r.choice(labels) for name in names}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", range(cases(4)))
def test_boxes_are_removed_with_their_labels_and_masks(part: int) -> None:
    who: Counter[str] = Counter()
    for case in range(300):
        r = Random(f"sanitize {part} {case}")
        image = image_of(r, r.choice(["RGB", "tagged", "tensor", "video"]))
        canvas = (image.height, image.width) if isinstance(image, Image.Image) else (image.shape[-2], image.shape[-1])
        count = r.choice([0, 1, 3, 5])
        corners = torch.tensor([[r.uniform(-5, 50) for _ in range(4)] for _ in range(count)]).reshape(count, 4)
        boxes = tv_tensors.BoundingBoxes(  # type: ignore[call-overload]
            corners.to(r.choice([torch.float32, torch.int64])), format=r.choice(["XYXY", "XYWH"]), canvas_size=canvas
        )
        masks = [torch.zeros((*r.choice([[], [count], [2]]), *canvas), dtype=r.choice([torch.uint8, torch.int64]))]
        target = {
            "boxes": boxes,
            **labelled(r, count),
            **{f"mask {k}": tv_tensors.Mask(m) for k, m in enumerate(masks)},
        }
        sample: Any = r.choice([(image, target), {"image": image, **target}, [image, target, 3], (target, image)])
        getter = r.choice(["default", "default", None])
        sanitize = v2.SanitizeBoundingBoxes(r.choice([1, 4.5]), r.choice([1, 20]), labels_getter=getter)
        steps = [*several(r)[: r.randint(0, 2)], v2.ToImage(), floats(r), sanitize]
        steps += r.choice([[], [v2.RandomHorizontalFlip()], [v2.ToPureTensor()], [sanitize], [v2.ClampBoundingBoxes()]])
        who[compared(v2.Compose(steps), sample, case)] += 1
    assert who["native"] > 15, who


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", range(cases(4)))
def test_points_are_removed_with_their_labels(part: int) -> None:
    who: Counter[str] = Counter()
    for case in range(200):
        r = Random(f"sanitize points {part} {case}")
        image = image_of(r, r.choice(["RGB", "tagged", "tensor", "video", "encoded"]))
        canvas = (image.shape[-2], image.shape[-1]) if isinstance(image, torch.Tensor) else (image.height, image.width)
        count, group = r.choice([0, 1, 3, 5]), r.choice([(), (), (2,)])
        values = torch.tensor([r.uniform(-5, 50) for _ in range(count * 2 * (group or (1,))[0])])
        points = tv_tensors.KeyPoints(
            values.reshape(count, *group, 2).to(r.choice([torch.float32, torch.int64])), canvas_size=canvas
        )
        target = {"points": points, "mask": mask(r, canvas), "boxes": places(r, canvas), **labelled(r, count)}
        for name in r.sample(["mask", "boxes"], r.randint(0, 2)):
            del target[name]
        sample: Any = r.choice([(image, target), {"image": image, **target}])
        sanitize = v2.SanitizeKeyPoints(r.choice(["default", None]))
        steps = [*several(r)[: r.randint(0, 2)], v2.ToImage(), floats(r), sanitize]
        steps += r.choice([[], [v2.RandomHorizontalFlip()], [v2.ToPureTensor()], [v2.ClampKeyPoints()]])
        who[compared(v2.Compose(steps), sample, case)] += 1
    assert who["native"] > 15, who


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("step", [*STEPS, *BY_TYPES])
@each("kind", ["RGB", "tagged", "tensor"])
def test_each_step_moves_masks_in_every_setting(step: str, kind: str) -> None:
    who: Counter[str] = Counter()
    for case in range(cases(100)):
        r = Random(f"{step} {kind} {case} masks")
        image = IMAGE(plain_image(r, "tensor")) if kind == "tagged" else plain_image(r, kind)
        canvas = (image.height, image.width) if kind == "RGB" else (image.shape[-2], image.shape[-1])
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
