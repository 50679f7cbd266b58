"""Calls of an image processor that were made before: the same options, sizes and kinds of images.

What a model's code does depends on these alone, as long as it sees no samples. So the next such call fills the same
blueprints from other images, and the model's code does not run.
"""

from __future__ import annotations

import copy
import enum
import pickle
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from PIL import Image

from fastaug import _C
from fastaug.adapters import _pending
from fastaug.adapters._cells import Photo
from fastaug.adapters._images import Images
from fastaug.adapters._pending import Blueprint, Call, Pending

#: Plans of a processor, and the bytes that they keep. The oldest are dropped.
_MOST = 64
_MOST_BYTES = 32 << 20

#: Calls that are remembered until they come again, which is when a plan is made.
_SEEN = 256

#: What a class may have of its own where images come in, if it only passes them on.
_INTAKE = ("preprocess",)

#: Where else images come in. Code of the model's there gets images that say whether it sees samples.
WHOLE_INTAKE = (
    "_preprocess_image_like_inputs",
    "_prepare_image_like_inputs",
    "_prepare_images_structure",
    "process_image",
    "fetch_images",
)

#: Options that warn at each call.
_WARN = ("min_pixels", "max_pixels")


@dataclass(frozen=True, slots=True)
class _Made:
    """The place of a tensor that a blueprint makes."""

    number: int


@dataclass(frozen=True, slots=True)
class _Kept:
    """A tensor that no samples are in, in the smallest dtype that holds it."""

    tensor: torch.Tensor
    dtype: torch.dtype

    @classmethod
    def of(cls, tensor: torch.Tensor) -> _Kept:
        small = tensor.to(torch.uint8)
        fits = not tensor.dtype.is_floating_point and bool((small.to(tensor.dtype) == tensor).all())
        return cls(small if fits else tensor.clone(), tensor.dtype)


@dataclass(frozen=True, slots=True)
class Plan:
    """A result without samples, and how they are made."""

    result: Any
    prints: tuple[Blueprint, ...]
    bytes: int

    def run(self, photos: Sequence[Photo], call: Call) -> Any:
        prints = [
            replace(one, jobs=[(program, photos[k], *rest) for program, k, *rest in one.jobs]) for one in self.prints
        ]
        memory = [call.empty(one.shape, one.dtype) for one in prints]
        _pending.fill(prints, memory, call)
        return _filled(self.result, memory, call)


class Plans:
    """The plans of one processor."""

    def __init__(self) -> None:
        self._plans: dict[Any, Plan] = {}
        self._seen: dict[Any, None] = {}
        #: What is done to images of a size, for pipelines.
        self.drafts: dict[Any, Any] = {}
        self._checks: dict[type, tuple[Callable[[Any], bool], bool]] = {}

    def key(self, processor: Any, backend: type, images: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """Return what the result of a call depends on, besides samples; None if that is not known."""
        check, _ = self._checked(type(processor), backend)
        if args or not check(processor) or not all(_is_plain(value) for value in kwargs.values()):
            return None
        form = _form_of(images)
        if form is None or any(name in kwargs for name in _WARN):
            return None
        try:
            return form, pickle.dumps((vars(processor), kwargs, torch.get_default_dtype()))
        except Exception:
            return None

    def watches(self, processor: Any, backend: type) -> bool:
        """Return whether the model has code of its own that gets images before they are pending."""
        return self._checked(type(processor), backend)[1]

    def _checked(self, cls: type, backend: type) -> tuple[Callable[[Any], bool], bool]:
        known = self._checks.get(cls)
        if known is None:
            known = self._checks[cls] = _check_of(cls), not _only_passes_images_on(cls, backend)
        return known

    def get(self, key: Any) -> Plan | None:
        return self._plans.get(key)

    def again(self, key: Any) -> bool:
        """Return whether a call was made before, and remember it."""
        seen = key in self._seen
        self._seen.pop(key, None)
        while len(self._seen) >= _SEEN:
            self._seen.pop(next(iter(self._seen)), None)
        self._seen[key] = None
        return seen

    def keep(self, key: Any, result: Any, photos: Sequence[Any], call: Call) -> None:
        """Keep a plan of a call whose samples are not made yet, if it can be one."""
        prints: list[Blueprint] = []
        numbers = {id(photo): number for number, photo in enumerate(photos)}
        kept: list[_Kept] = []
        template = None if call.touched else _template(result, prints, numbers, call, kept)
        size = sum(one.tensor.nbytes for one in kept)
        if template is None or size > _MOST_BYTES:
            return
        plans = self._plans
        while len(plans) >= _MOST or sum(plan.bytes for plan in plans.values()) + size > _MOST_BYTES:
            plans.pop(next(iter(plans)), None)
        plans[key] = Plan(template, tuple(prints), size)


class Watched(Image.Image):
    """A PIL image like another one, which notes in a call that its samples were asked for."""

    def __init__(self, watched: Image.Image, call: Call) -> None:
        super().__init__()
        self.watched, self._call = watched, call
        self._mode, self._size, self.info, self.format = watched.mode, watched.size, watched.info, watched.format

    def load(self) -> Any:
        if self._im is None:
            self._call.touched = True
            self.watched.load()
            self.im = self.watched.im
        return super().load()


def watched(image: Any, call: Call) -> Any:
    """Return an image of a call that notes whether its samples are asked for."""
    if isinstance(image, Image.Image):
        return Watched(image, call)
    return image if type(image) is Images else Images.of_photo(call, _photo(image))


def unwatched(image: Any) -> Any:
    return image.watched if type(image) is Watched else image


def photos_of(images: Any) -> list[Photo]:
    """Return the photos of images that have a form, in order."""
    return [_photo(image) for image in leaves(images)]


def states() -> tuple[Any, ...]:
    """Return the states of the generators that a model's code could draw from."""
    numpy = np.random.get_state(legacy=False)  # noqa: NPY002
    return pickle.dumps((random.getstate(), numpy)), torch.get_rng_state().numpy().tobytes()


def _only_passes_images_on(cls: type, backend: type) -> bool:
    return only_pass_on(cls, _INTAKE, backend) and not any(_own(cls, name, backend) for name in WHOLE_INTAKE)


def _check_of(cls: type) -> Callable[[Any], bool]:
    """Return a function that says whether an object has the methods of its class as they are now."""
    names = tuple(name for name in dir(cls) if callable(getattr(cls, name)) and not name.startswith("__"))
    values = tuple(getattr(cls, name) for name in names)
    check: Callable[[Any], bool] = _C.as_written(cls, names, values, names, ())
    return check


def only_pass_on(cls: type, names: Sequence[str], backend: type) -> bool:
    """Return whether methods of these names are the backend's, but for some that only call the one further up."""
    return all(_passes_on(method) for name in names for method in _own(cls, name, backend))


def _own(cls: type, name: str, backend: type) -> list[Any]:
    """Return the methods of a name that the classes of the model have."""
    ours = ("fastaug.",)
    return [
        vars(one)[name]
        for one in cls.__mro__
        if name in vars(one) and one not in backend.__mro__ and not vars(one)[name].__module__.startswith(ours)
    ]


def _passes_on(method: Any) -> bool:
    """Return True if a method only calls the one of its name further up."""
    code = getattr(method, "__code__", None)
    return code is not None and set(code.co_names) <= {"super", code.co_name} and not code.co_cellvars


def _is_plain(value: Any, depth: int = 2) -> bool:
    """Return True for a small value without other objects in it."""
    if value is None or isinstance(value, (bool, int, float, str, enum.Enum)):
        return True
    if not depth or not isinstance(value, (list, tuple, dict)) or len(value) > 16:
        return False
    return all(_is_plain(one, depth - 1) for one in (value.values() if type(value) is dict else value))


def leaves(images: Any) -> Iterator[Any]:
    """Yield nested images, in order."""
    if type(images) in (list, tuple):
        for one in images:
            yield from leaves(one)
    else:
        yield images


def _form_of(images: Any) -> Any:
    """Return the sizes and kinds of images, nested as they are; None if samples may tell a kind."""
    if type(images) in (list, tuple):
        forms = tuple(_form_of(one) for one in images)
        return None if None in forms or not forms else (type(images), forms)
    if isinstance(images, Image.Image):
        known = images.mode == "RGB" and "transparency" not in images.info and 0 not in images.size
        return ("image", type(images), *images.size) if known else None
    if type(images) is Images:
        return ("handle", *images.shape)
    if type(images) is torch.Tensor and images.dtype is torch.uint8 and images.ndim == 3 and images.is_cpu:
        plain = images.shape[0] == 3 and images.shape[2] > 4 and images.is_contiguous() and images.numel() > 0
        return ("tensor", *images.shape) if plain else None
    return None


def _photo(image: Any) -> Photo:
    if isinstance(image, Image.Image):
        image.load()
        return Photo(image, (3, image.height, image.width))
    if type(image) is Images:
        photo = image.cells[0].photo
        assert photo is not None
        return photo
    return Photo(image, tuple(image.shape))


def _template(value: Any, prints: list[Blueprint], numbers: dict[int, int], call: Call, kept: list[_Kept]) -> Any:
    """Return a nested result with places instead of tensors that are made; None if anything else is in it."""
    if isinstance(value, Pending):
        if not value.whole:
            return None
        found = value.blueprint(_pending.dtype_of(value, call))
        jobs: list[Any] = []
        for program, photo, *rest in found.jobs:
            number = numbers.get(id(photo.image), numbers.get(id(photo)))
            if number is None:
                return None
            jobs.append((program, number, *rest))
        prints.append(replace(found, jobs=jobs))
        return _Made(len(prints) - 1)
    if type(value) is torch.Tensor:
        if not value.is_cpu or value.is_complex():
            return None
        kept.append(_Kept.of(value))
        return kept[-1]
    if type(value) in (list, tuple):
        parts = [_template(one, prints, numbers, call, kept) for one in value]
        return None if any(part is None for part in parts) else type(value)(parts)
    if hasattr(value, "data") and hasattr(value, "items"):
        made = copy.copy(value)
        for key, one in value.items():
            part = _template(one, prints, numbers, call, kept)
            if part is None:
                return None
            made[key] = part
        return made
    return value if isinstance(value, (bool, int, float, str, torch.Size)) else None


def _filled(value: Any, memory: Sequence[torch.Tensor], call: Call) -> Any:
    if type(value) is _Made:
        return memory[value.number]
    if type(value) is _Kept:
        return call.empty(tuple(value.tensor.shape), value.dtype).copy_(value.tensor)
    if type(value) in (list, tuple):
        return type(value)([_filled(one, memory, call) for one in value])
    if hasattr(value, "items"):
        made = copy.copy(value)
        for key, one in value.items():
            made[key] = _filled(one, memory, call)
        return made
    return value
