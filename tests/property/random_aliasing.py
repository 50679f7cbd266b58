"""Who owns the memory of a result: every transform on every container, alone and in random chains, and torchvision's.

Compared are: whether the result is the input itself, or a view of it; what class, dtype, shape and memory format it
has; whether it can be written to; whether what is written there shows in the input, and the other way round; and
whether the call itself has written into the input. Pixels are compared elsewhere.

A case is Python source: a container, a pipeline and a seed. The first `SINGLES` numbers are each transform and function
on each container, those above are chains.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
import torchvision.transforms as TV
import torchvision.transforms.functional as TF
from PIL import Image

import fastaug
import fastaug.transforms as T
import fastaug.transforms.functional as F
from aliasing_cases import CONTAINERS, FUNCTIONS, TRANSFORMS

SINGLES = (len(TRANSFORMS) + len(FUNCTIONS)) * len(CONTAINERS)

#: Not in chains: the size of an expanded rotation is Pillow's in every container, and a tensor that torchvision could
#: not look at as a vector, since it is a part of a larger one, may be whole here.
ALONE = ("T.RandomRotation((90, 90), expand=True)", *(step for step in TRANSFORMS if "LinearTransformation" in step))
CHAINED = tuple(step for step in TRANSFORMS if step not in ALONE)


@dataclass(frozen=True)
class Case:
    container: str
    steps: tuple[str, ...]
    seed: int

    @property
    def is_function(self) -> bool:
        return self.steps[0].startswith("F.")

    def source(self) -> str:
        return self.steps[0] if len(self.steps) == 1 else f"T.Compose([{', '.join(self.steps)}])"


def draw_case(number: int) -> Case:
    """The case of this number, the same on every machine."""
    containers = list(CONTAINERS)
    if number < SINGLES:
        step, container = divmod(number, len(containers))
        return Case(containers[container], ((*TRANSFORMS, *FUNCTIONS)[step],), number)
    rng = random.Random(number)
    container = rng.choice(containers)
    return Case(container, tuple(draw_step(rng) for _ in range(rng.choice([1, 2, 2, 3, 4, 5]))), number)


def draw_step(rng: random.Random, depth: int = 1) -> str:
    if depth and rng.random() < 0.15:
        inner = ", ".join(draw_step(rng, depth - 1) for _ in range(rng.randint(1, 3)))
        return rng.choice(
            [
                f"T.RandomApply([{inner}], p=0.7)",
                f"T.RandomChoice([{inner}])",
                f"T.RandomOrder([{inner}])",
                f"T.Compose([{inner}])",
            ]
        )
    return rng.choice(CHAINED)


# ---- running


class Function:
    """An expression of an image as a transform."""

    def __init__(self, source: str, package: Any) -> None:
        self.source = source
        self.names = {"torch": torch, "F": package}

    def __call__(self, image: Any) -> Any:
        return eval(self.source, {**self.names, "x": image})


def build(source: str, package: Any) -> Any:
    return eval(source, {"torch": torch, "T": package})


class OneByOne:
    """Transforms, each called by itself."""

    def __init__(self, transforms: list[Any]) -> None:
        self.transforms = transforms

    def __call__(self, image: Any) -> Any:
        for transform in self.transforms:
            image = transform(image)
        return image


def ways(case: Case, number: int) -> dict[str, Any]:
    """fastaug's ways to run a case; of one transform in each container one way."""
    if case.is_function:
        return {"fastaug": Function(case.source(), F)}
    every: dict[str, Callable[[], Any]] = {
        "one by one": lambda: OneByOne([build(step, T) for step in case.steps]),
        "Compose": lambda: T.Compose([build(step, T) for step in case.steps]),
        "compiled": lambda: fastaug.compile(build(case.source(), TV)),
    }
    chosen = [list(every)[number % 3]] if number < SINGLES else list(every)
    return {name: every[name]() for name in chosen}


def parts_of(value: Any) -> list[Any]:
    """The images in a result."""
    if isinstance(value, (tuple, list)):
        return [part for item in value for part in parts_of(item)]
    return [value]


def memory(value: Any) -> int | None:
    """Where the storage of a tensor or array begins."""
    if isinstance(value, torch.Tensor):
        return value.untyped_storage().data_ptr() or None
    if isinstance(value, np.ndarray):
        while isinstance(value.base, np.ndarray):
            value = value.base
        return start(value) or None
    return None


def start(value: Any) -> int:
    """The address of the first pixel."""
    if isinstance(value, torch.Tensor):
        return value.data_ptr()
    address: int = value.__array_interface__["data"][0]
    return address


def content(value: Any) -> Any:
    """All pixels of an image, and what is written beside them."""
    if isinstance(value, Image.Image):
        return value.mode, value.size, value.tobytes(), dict(value.info)
    if isinstance(value, torch.Tensor):
        value = value.detach().as_subclass(torch.Tensor).contiguous().numpy()
    return value.shape, str(value.dtype), value.tobytes()


@dataclass(frozen=True)
class Part:
    """What an image of a result is, and how it lies in memory."""

    cls: str
    form: Any  # mode, dtype, size, metadata, what autograd knows
    same: bool  # the input itself
    # The strides that a copy of it would have. Of the memory of a result that nobody else has, only the order of axes
    # counts: torchvision's may be a view of more than is seen, where fastaug makes no more.
    order: tuple[int, ...] = ()
    place: Any = None  # where it lies in the memory of the input: offset and strides


def part_of(value: Any, given: Any) -> Part:
    cls, same = type(value).__name__, value is given
    if isinstance(value, Image.Image):
        return Part(cls, (value.mode, value.size, value.info), same)
    inside = memory(value) is not None and memory(value) == memory(given)
    offset = start(value) - start(given) if inside else 0
    if isinstance(value, torch.Tensor):
        dense = torch.empty_like(value.detach().as_subclass(torch.Tensor)).stride()
        order = tuple(stride for size, stride in zip(value.shape, dense) if size > 1)
        form: Any = value.dtype, tuple(value.shape), value.requires_grad, value.is_leaf, getattr(value, "note", None)
        return Part(cls, form, same, order, (offset, value.stride()) if inside else None)
    form = value.dtype, value.shape, value.flags.writeable
    return Part(cls, form, same, (), (offset, value.strides) if inside else None)


def overwrite(value: Any) -> str:
    """Changes every pixel of an image; the name of the error, if that cannot be."""
    try:
        if isinstance(value, Image.Image):
            value.paste(value.point(lambda sample: 255 - sample) if value.mode not in ("F", "I", "I;16") else 1)
        elif isinstance(value, torch.Tensor):
            with torch.no_grad():
                value.logical_not_() if value.dtype == torch.bool else value.add_(3)
        else:
            value[...] = value + 1
    except Exception as error:
        return type(error).__name__
    return ""


@dataclass
class Outcome:
    """What a call did, and to whose memory."""

    error: str
    container: str = ""
    parts: tuple[Any, ...] = ()
    shared: tuple[Any, ...] = ()  # for each part the first part that lies in the same memory
    written: bool = False  # the call has changed the input
    through: tuple[Any, ...] = ()  # for each part the error on writing into it, and whether that changes the input
    back: tuple[bool, ...] = ()  # for each part whether writing into the input changes it


def outcome(transform: Callable[[Any], Any], make: Callable[[], Any], seed: int) -> Outcome:
    given = make()
    if isinstance(given, Image.Image):
        given.load()
    before = content(given)
    # torch.manual_seed also makes a note for each device that there may be one day.
    torch.default_generator.manual_seed(seed)
    random.seed(seed)
    try:
        result = transform(given)
    except Exception as error:
        return Outcome(type(error).__name__)
    written = content(given) != before
    images = parts_of(result)
    parts = tuple(part_of(image, given) for image in images)
    places = [memory(image) for image in images]
    shared = tuple(None if place is None else places.index(place) for place in places)
    contents = [content(image) for image in images]
    overwrite(given)
    back = tuple(content(image) != old for image, old in zip(images, contents))
    through = []
    for image in images:
        before = content(given)
        error = overwrite(image)
        through.append((error, content(given) != before))
    return Outcome("", type(result).__name__, parts, shared, written, tuple(through), back)


def difference(ours: Outcome, theirs: Outcome, ignored: set[str]) -> str:
    """In words; '' when there is none."""
    if ours.error or theirs.error:
        return "" if ours.error == theirs.error else f"error {ours.error or None}, torchvision {theirs.error or None}"
    for name in ("container", "written", "parts", "shared", "through", "back"):
        mine, its = getattr(ours, name), getattr(theirs, name)
        if name == "parts" and "memory format" in ignored:
            mine, its = (tuple(replace(part, order=()) for part in parts) for parts in (mine, its))
        if name == "through" and "errors of writing" in ignored:
            mine, its = (tuple(changed for _, changed in parts) for parts in (mine, its))
        if mine != its:
            if isinstance(mine, tuple) and len(mine) == len(its):
                mine, its = next((a, b) for a, b in zip(mine, its) if a != b)
            return f"{name} {mine}, torchvision {its}"
    return ""


def ignored_of(case: Case) -> set[str]:
    """What fastaug need not do as torchvision does it."""
    source, ignored = case.source(), set()
    # Three equal channels: torchvision's are one plane, seen three times, which cannot be written to.
    if "rayscale" in source:
        ignored.add("errors of writing")
    # Hue: the last of torchvision's steps gives planes a pixel of which lies side by side, whatever they came from.
    if "hue" in source or "ColorJitter(0.4" in source:
        ignored.add("memory format")
    # torchvision hands on how a PIL image lies in memory. Floats take less time to write plane by plane.
    if case.container.startswith("PIL") and "PILToTensor" in source and "torch.float32" in source:
        ignored.add("memory format")
    return ignored


def difference_of_arrays(ours: Outcome, theirs: Outcome) -> str:
    """As `difference` for an array, which torchvision does not take, from what it does to the PIL image of it."""
    if ours.error or theirs.error:
        return ""
    for mine, its in zip(ours.parts, theirs.parts):
        if mine.cls == "ndarray" and mine.same != its.same:
            return f"same object {mine.same}, torchvision's PIL image {its.same}"
        if mine.cls == "ndarray" and not mine.same and (mine.place is not None or not mine.form[-1]):
            return f"{mine}, not an array of its own"
    return "writes into the input" if ours.written else ""


def as_pil(make: Callable[[], Any]) -> Callable[[], Any]:
    def made() -> Image.Image:
        array = make()
        return Image.fromarray(array[:, :, 0] if array.shape[2:] == (1,) else array)

    return made


def check(number: int) -> str:
    """What fastaug does differently from torchvision in the case of this number; '' when nothing."""
    case = draw_case(number)
    make, source = CONTAINERS[case.container], case.source()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        original: Any = Function(source, TF) if case.is_function else build(source, TV)
        theirs = outcome(original, make, case.seed)
        if theirs.error == "RuntimeError" and "rayscale" in source and "inplace=True" in source:
            return ""  # one plane for three channels cannot be written to
        compare: Callable[[Outcome, Outcome], str] = partial(difference, ignored=ignored_of(case))
        if theirs.error and case.container.startswith("array"):
            compare = difference_of_arrays
            theirs = outcome(original, as_pil(make), case.seed)
        for way, transform in ways(case, number).items():
            if text := compare(outcome(transform, make, case.seed), theirs):
                return f"{number}: {source} on {case.container}, {way}: {text}"
    return ""
