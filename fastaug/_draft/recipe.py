"""Recipes: pipelines that the native core draws, drafts and runs in one call for an image.

A recipe is made of the settings of transforms, as plain data. The core watches the transforms, and hands a call back to
Python, with nothing drawn, once anything has changed. It does the same for an image or a draw that is not plain, and
for anything that may be an error or a warning.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from fastaug import _C
from fastaug._draft import watch
from fastaug._draft.call import Call, Drawing
from fastaug._draft.interpolation import InterpolationMode, pil_modes_mapping, stored_interpolation
from fastaug._draft.replaced import functions
from fastaug._draft.through import step_of
from fastaug._image import decode, indexes
from fastaug._image.lazy import LazyImage
from fastaug._names import is_ours
from fastaug._program import arguments, pil
from fastaug._program.job import DTYPES

#: The name of a step, and its settings in the order of csrc/bind/steps.cpp.
Packed = tuple[Any, ...]

# The number of Python's calls between two tries to make a recipe, at first and at most.
_SOON, _LATE = 4, 1 << 10


class NoRecipe(Exception):
    """The settings of a transform need Python, Pillow or torch."""


def _of(*types: type) -> Callable[[Any], Any]:
    """Return a function that returns values of these types unchanged, and raises NoRecipe for all others."""

    def checked(value: Any) -> Any:
        if type(value) not in types:
            raise NoRecipe
        return value

    return checked


# Python's own numbers, ints and bools.
number, whole, truth = _of(int, float), _of(int), _of(bool)


def sequence(value: Any, *lengths: int) -> Sequence[Any]:
    """Return a list or tuple of one of these lengths unchanged."""
    if type(value) not in (list, tuple) or len(value) not in lengths:
        raise NoRecipe
    return value  # type: ignore[no-any-return]


def weights(value: Any, count: int) -> tuple[float, ...]:
    """Return weights that Python's ``random`` sums to the same numbers as floats."""
    if any(type(weight) is int and abs(weight) >= 2**40 for weight in sequence(value, count)):
        raise NoRecipe
    return tuple(float(number(weight)) for weight in value)


def fixed(value: Any, length: int) -> tuple[Any, ...]:
    """Return a tuple of that length unchanged."""
    if type(value) is not tuple:
        raise NoRecipe
    return tuple(sequence(value, length))


def chance(p: Any) -> float:
    """Return a probability in float32, as it is compared with draws."""
    if type(p) is int and not -(2**53) <= p <= 2**53:
        raise NoRecipe
    return arguments.as_float32(number(p))


def interval(value: Any) -> tuple[float, float]:
    """Return two numbers to draw between."""
    low, high = sequence(value, 2)
    return float(number(low)), float(number(high))


def lengths(value: Any) -> tuple[int, int]:
    height, width = sequence(value, 2)
    if min(whole(height), whole(width)) <= 0:
        raise NoRecipe
    return height, width


def size(value: Any, most: Any = None) -> tuple[int, int, int]:
    """Return the size of a resize: both sides, or the shorter one and a limit for the longer one."""
    if type(value) is not int and len(sequence(value, 1, 2)) == 2:
        if most is not None:
            raise NoRecipe
        return (*lengths(value), 0)
    side = whole(value if type(value) is int else value[0])
    if side <= 0 or (most is not None and whole(most) <= side):
        raise NoRecipe
    return 0, side, most or 0


def resampling(interpolation: Any, antialias: Any = None) -> tuple[int, bool, bool, bool]:
    """Return the number of a filter, if it is "nearest-exact", and how tensors are sampled."""
    interpolation = stored_interpolation(interpolation)
    if type(interpolation) is not InterpolationMode:
        raise NoRecipe
    if antialias is not None:
        truth(antialias)
    exact = interpolation is InterpolationMode.NEAREST_EXACT
    return pil_modes_mapping[interpolation], exact, bool(antialias), antialias is False


def centre(value: Any) -> tuple[float, float] | None:
    if value is None:
        return None
    x, y = sequence(value, 2)
    return float(number(x)), float(number(y))


def filling(fill: Any) -> Any:
    """Return the colour outside images unchanged."""
    if fill is not None and type(fill) not in (int, float):
        if type(fill) not in (list, tuple):
            raise NoRecipe
        for value in fill:
            number(value)
    return fill


def sides(padding: Any) -> tuple[int, int, int, int]:
    if type(padding) is not int:
        sequence(padding, 1, 2, 4)
    left, top, right, bottom = arguments.sides(padding)
    return whole(left), whole(top), whole(right), whole(bottom)


def normalization(pack: Callable[[Any, Any, int], Any], mean: Any, std: Any) -> tuple[bytes | None, ...]:
    """Return the op NORMALIZE of one channel, of two, of three and of four."""
    for values in (mean, std):
        for value in sequence(values, *range(1, 5)):
            number(value)
    return tuple(pack(mean, std, channels) for channels in range(1, 5))


def packed(transform: Any) -> Packed:
    """Return the settings of a transform of this package.

    Raises:
        NoRecipe: the class or a setting is unknown to recipes, or the transform is patched or has hooks.
    """
    cls = type(transform)
    if not is_ours(cls) or not hasattr(cls, "_packed") or step_of(transform) is None:
        raise NoRecipe
    own = getattr(cls, "_own_params", None)
    if own is not None and transform.get_params is not own:
        raise NoRecipe
    return transform._packed()  # type: ignore[no-any-return]


def several(transforms: Any, pack: Callable[[Any], Packed] = packed) -> tuple[Packed, ...]:
    """Return the settings of transforms in a list or tuple."""
    if type(transforms) not in (list, tuple):
        raise NoRecipe
    return tuple(map(pack, transforms))


def happening(p: float, *step: Any) -> Packed:
    """Return the settings of a step that is done if a draw is below `p`."""
    return "Group", p, (step,), False


# The original, before user code can replace it.
_RUN = _C.run


class Apart(enum.Enum):
    """The way in which Python does a transform between the parts of a pipeline that have recipes."""

    #: It is user code, which gets an image or a sample.
    CALLED = enum.auto()
    #: It takes a draft.
    DRAFTED = enum.auto()


class Family(NamedTuple):
    """The differences between recipes of v1 and of v2."""

    #: Returns the settings of a transform.
    pack: Callable[[Any], Packed]
    #: The functions of user code that transforms call instead of this package's.
    replaced: dict[str, Any]
    #: Returns how Python does a transform apart from the others, or None where it has a step. The second argument tells
    #: if the mode is exact.
    apart: Callable[[Any, bool], Apart | None]
    #: Returns the classes by which the core knows leaves of samples: csrc/bind/sample.h.
    leaves: Callable[[], tuple[Any, ...]] = lambda: (*[None] * 7, (), {}, ())
    #: Returns the transforms that the core does, and a function that does the others to its result, or None.
    split: Callable[[Any], tuple[Any, Callable[[Any], Any] | None]] = lambda transforms: (transforms, None)


def _apart(transform: Any, exact: bool) -> Apart | None:
    if step_of(transform) is None:
        return Apart.CALLED
    return apart_of(type(transform), exact)


def apart_of(cls: Any, exact: bool) -> Apart | None:
    """Return how Python does the transforms of a class of v1 that have a step of Python's."""
    # Before some, pending ops are done exactly in every mode.
    return Apart.DRAFTED if exact and getattr(cls, "_apart", False) else None


V1 = Family(packed, functions, _apart)


def recipe_of(
    pipeline: Any, transforms: Any, format: tuple[Any, bool] | None = None, family: Family = V1
) -> _C.Recipe | Parts | None:
    """Return the recipe of a pipeline with these transforms, or None.

    Args:
        format: the dtype of the resulting tensors (None for float32), and whether the channels of a pixel lie side by
            side; None for those of the transforms.
    """
    call = pipeline._call
    plain = call.log is None and call.tape is None and not call.traced
    if not plain or not isinstance(call.draws, _C.Draws) or type(transforms) not in (list, tuple):
        return None
    try:
        first, rest = family.split(transforms)
        parts = _split(first, family, call.rewrites == _C.EXACT)
        own, steps, _ = parts[-1]
        parts[-1] = _Part((*own, *transforms[len(first) :]), steps)
        watched = watch.roots(transforms, family.replaced, *pipeline._own_hooks()), transforms
    except (NoRecipe, ValueError, OverflowError, KeyError, RuntimeError):
        return None  # torch raises a RuntimeError where its numbers are not known
    settings: dict[str, Any] = {
        "v2": family is not V1,
        "leaves": family.leaves(),
        "lazy": LazyImage,
        "orient": decode.ORIENT,
        "indexes": indexes,
        "run": _RUN,
        "blank": pil.blank,
        "allocate": pil.allocate,
        "delivered": pil.delivered,
        "rewrites": call.rewrites,
        "pillow": call.pillow,
    }
    formless: dict[str, Any] = {"formatted": False, "dtype": None, "channels_last": False}
    handed = {**formless, "handed": True, "rest": None}
    asked = {**formless, "handed": False, "rest": rest}
    if format is not None:
        dtype = None if format[0] is None else DTYPES[format[0]][0]
        asked.update(formatted=True, dtype=dtype, channels_last=format[1])

    def made(steps: tuple[Packed, ...], last: bool) -> _C.Recipe:
        return _C.Recipe(steps, watched, call, call.draws, settings | (asked if last else handed))

    try:
        if len(parts) == 1:
            return made(parts[0].steps, True)
        recipes = [made(part.steps, part is parts[-1]) if part.steps else None for part in parts]
    except (ValueError, OverflowError):
        return None
    return Parts(pipeline, parts, recipes) if any(recipes) else None


class _Part(NamedTuple):
    """Transforms in a row: some that have steps of a recipe; or one that Python does, which may be user code."""

    transforms: tuple[Any, ...]
    steps: tuple[Packed, ...]
    is_called: bool = False


def _split(transforms: Sequence[Any], family: Family, exact: bool) -> list[_Part]:
    """Return the parts of a pipeline."""
    parts = [_Part((), ())]
    for transform in transforms:
        way = family.apart(transform, exact)
        if way is not None:
            parts += [_Part((transform,), (), way is Apart.CALLED), _Part((), ())]
        else:
            own, steps, _ = parts[-1]
            parts[-1] = _Part((*own, transform), (*steps, family.pack(transform)))
    return [part for part in parts if part.transforms or part is parts[-1]]


class Parts:
    """The recipes of a pipeline in which Python does some transforms: of what comes before, between and after these."""

    __slots__ = ("_left", "_parts", "_pause", "_through", "holds")

    # The most calls that Python does as a whole after one of which no part was the core's.
    _LONGEST = 255

    def __init__(self, pipeline: Any, parts: list[_Part], recipes: list[_C.Recipe | None]) -> None:
        self._left = self._pause = 0
        self._through = pipeline._through
        self._parts = list(zip(parts, recipes))
        #: Returns whether each part still does what the pipeline would do: all of them watch the same.
        self.holds = next(recipe.holds for recipe in recipes if recipe is not None)

    def call(self, image: Any, transforms: Any, unpacked: bool = False) -> Any:
        """Return the result of the pipeline, or NotImplemented, with nothing done, if anything has changed.

        A sample that is `unpacked` is the tuple of the arguments of a call, as which user code gets it.
        """
        if self._left > 0:
            self._left -= 1
            return NotImplemented
        if not self.holds():
            return NotImplemented
        last, _ = self._parts[-1]
        done = 0
        for part, recipe in self._parts:
            result = NotImplemented if recipe is None else recipe.call(image, transforms)
            if result is not NotImplemented:
                image = result
                done += 1
            elif part.is_called:
                image = part.transforms[0](*image) if unpacked else part.transforms[0](image)
            else:
                image = self._through(image, part.transforms, part is last, unpacked)
        self._left = self._pause = 0 if done else min(2 * self._pause + 1, self._LONGEST)
        return image


class Book:
    """The recipe of a pipeline, made again some calls after it has ceased to hold."""

    __slots__ = ("_call", "_drawing", "_left", "_pause", "recipe", "takes_arrays")

    def __init__(self) -> None:
        self._call: Any = None
        self._drawing: Any = None
        self.recipe: _C.Recipe | Parts | None = None
        #: Whether the recipe has done every array so far that was given to it as a tensor.
        self.takes_arrays = True
        self._left = 1  # a pipeline that is called once needs none
        self._pause = _SOON

    def renew(self, pipeline: Any) -> None:
        """Make a recipe if it is time, after a call that Python has done."""
        if self.recipe is not None and self.recipe.holds():
            return
        self.recipe = None
        self._left -= 1
        if self._left < 0:
            self.recipe = pipeline._recipe()
            # Pipelines that change all the time, or have no recipe, are tried ever more rarely.
            self._left, self._pause = self._pause, min(2 * self._pause, _LATE)

    def drawing(self, call: Call) -> Call:
        """Return the same call for draws before pixels, as in batches."""
        if self._call is not call:
            self._call, self._drawing = call, call.like(tape=Drawing())
        drawing: Call = self._drawing
        return drawing

    def of_many(self, pipeline: Any, count: int) -> _C.Recipe | None:
        """Return the recipe for so many images, or None. Two are enough to make one at once."""
        self._left -= count - 1
        self.renew(pipeline)
        recipe = self.recipe
        return recipe if isinstance(recipe, _C.Recipe) and recipe.is_for_batches() else None
