"""Recipes: pipelines that the native core draws, drafts and runs in one call for an image.

A recipe is made of the settings of transforms, as plain data. The core watches the transforms, and hands a call back to
Python, with nothing drawn, once anything has changed. It does the same for an image or a draw that is not plain, and
for anything that may be an error or a warning.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from torch import nn

from fastaug import _C
from fastaug._draft.draws import TorchDraws
from fastaug._draft.filter import is_width
from fastaug._draft.geometry import RESIZE_FLAGS
from fastaug._draft.interpolation import InterpolationMode, pil_modes_mapping
from fastaug._draft.replaced import functions
from fastaug._draft.through import step_of
from fastaug._draft.written import CALL_HOOKS, global_hooks, global_pre_hooks
from fastaug._fallback import rounding
from fastaug._program import arguments, convolution, matrices, ops, pil, resizing
from fastaug._program.job import DTYPES

#: The name of a step, and its settings in the order of csrc/bind/steps.cpp.
Packed = tuple[Any, ...]

# The attributes of every module. Only its hooks are watched.
_OF_MODULES = frozenset(vars(nn.Module()))

# Results of steps that Pillow or torch may round in another way (rounding.follows).
_WARPS, _BLENDS = ("warps", "warps of tensors"), ("blends", "colours")
_LIBRARIES = {
    "ColorJitter": _BLENDS,
    "RandomAdjustSharpness": _BLENDS,
    "RandomRotation": _WARPS,
    "RandomAffine": _WARPS,
    "RandomPerspective": _WARPS,
}

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


def resampling(interpolation: Any, antialias: Any) -> tuple[int, int, bool, bool, bool]:
    """Return the number of a filter, flags of a resize, and how tensors are sampled."""
    filter_number = pillow_filter(interpolation)
    if antialias is not None:
        truth(antialias)
    exact = interpolation is InterpolationMode.NEAREST_EXACT
    return filter_number, RESIZE_FLAGS, exact, bool(antialias), antialias is False


def resampling_as_v1(interpolation: Any, antialias: Any) -> tuple[int, int, bool, bool, bool]:
    """Return the same, but leave tensors to torch where the core does not add as torch does."""
    number, flags, exact, smooth, warns = resampling(interpolation, antialias)
    return number, flags, exact, smooth and (number not in (2, 3) or resizing.follows(number == 3)), warns


def pillow_filter(interpolation: Any) -> int:
    if type(interpolation) is not InterpolationMode:
        raise NoRecipe
    return pil_modes_mapping[interpolation]


def centre(value: Any) -> tuple[float, float] | None:
    if value is None:
        return None
    x, y = sequence(value, 2)
    return float(number(x)), float(number(y))


def filling(fill: Any) -> tuple[bytes | None, bytes | None, bool]:
    """Return the colour outside images of one channel, and of three, and whether torch pads with it."""
    if fill is not None and type(fill) not in (int, float):
        for value in sequence(fill, 1, 3):
            number(value)
    plain = fill is None or (type(fill) is int and 0 <= fill <= 255)
    return arguments.fill_bytes(fill, 1), arguments.fill_bytes(fill, 3), plain


def sides(padding: Any) -> tuple[int, int, int, int]:
    if type(padding) is not int:
        sequence(padding, 1, 2, 4)
    left, top, right, bottom = arguments.sides(padding)
    return whole(left), whole(top), whole(right), whole(bottom)


def padding_mode(mode: Any) -> int | None:
    """Return the number of a mode, or None for a colour."""
    if type(mode) is not str:
        raise NoRecipe
    return None if mode == "constant" else ops.PAD_MODES[mode]


def normalization(pack: Callable[[Any, Any, int], Any], mean: Any, std: Any) -> tuple[bytes | None, bytes | None]:
    """Return the op NORMALIZE of one channel, and of three."""
    for values in (mean, std):
        for value in sequence(values, *range(1, 5)):
            number(value)
    return pack(mean, std, 1), pack(mean, std, 3)


def packed(transform: Any) -> Packed:
    """Return the settings of a transform of this package.

    Raises:
        NoRecipe: the class or a setting is unknown to recipes, the transform is patched or has hooks, or a library
            rounds in another way.
    """
    cls = type(transform)
    pack = cls.__dict__.get("_packed")
    if pack is None or step_of(transform) is None:
        raise NoRecipe
    own = getattr(cls, "_own_params", None)
    if own is not None and transform.get_params is not own:
        raise NoRecipe
    return agreed(pack(transform))


def agreed(told: Packed) -> Packed:
    """Return the settings of a transform if the libraries that it replaces round as the core does.

    Raises:
        NoRecipe: one of them rounds in another way.
    """
    kind = told[0]
    names = _LIBRARIES.get(told[1] if kind == "RandomAdjustment" else kind, ())
    if not all(map(rounding.follows, names)):
        raise NoRecipe
    return told


def group(transforms: Any, p: Any = None, pack: Callable[[Any], Packed] = packed) -> Packed:
    """Return the settings of several transforms in a row, done if a draw is at most `p`."""
    if type(transforms) not in (list, tuple):
        raise NoRecipe
    return "Group", None if p is None else chance(p), tuple(map(pack, transforms))


def _watched(transforms: Any) -> tuple[tuple[Any, ...], tuple[Any, ...], tuple[Any, ...]]:
    """Return the objects, lists and dictionaries that a recipe of these transforms checks before each call."""
    objects: list[Any] = []
    lists: list[Any] = []
    empty: list[Any] = [global_hooks, global_pre_hooks]

    def watch(several: Any) -> None:
        if type(several) is list:
            lists.append((several, tuple(several)))
        for transform in several:
            own = vars(transform)
            module = isinstance(transform, nn.Module)
            names = tuple(name for name in own if not (module and name in _OF_MODULES))
            if module:
                empty.extend(own[name] for name in CALL_HOOKS)
                names += CALL_HOOKS
            objects.append((transform, len(own), names, tuple(own[name] for name in names)))
            inner = own.get("transforms")
            if inner is not None:
                watch(inner)
            told = (own[name] for name in names if name != "transforms")
            lists.extend((value, tuple(value)) for value in told if type(value) is list)

    watch(transforms)
    return tuple(objects), tuple(lists), tuple(empty)


def blur(
    half_kernel: Callable[[int, float], list[float]],
    kernel_width: int,
    kernel_height: int,
    sigma: float,
    shape: tuple[int, int, int],
) -> bytes | None:
    """Return the op BLUR of an image of (channels, height, width)."""
    if not is_width(sigma):
        return None
    channels, height, width = shape
    fused = convolution.fuses(1, channels, height, width, (kernel_width, kernel_height))
    if fused is None:
        return None
    across = half_kernel(kernel_width, sigma)
    down = across if kernel_width == kernel_height else half_kernel(kernel_height, sigma)
    return ops.blur(across, down, fused)


# The original, before user code can replace it.
_RUN = _C.run


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "exp": TorchDraws.exp,
    "blur": partial(blur, arguments.half_kernel),
    "perspective": matrices.perspective_coefficients,
}


class Family(NamedTuple):
    """The differences between recipes of v1 and of v2."""

    #: Returns the settings of a transform.
    pack: Callable[[Any], Packed]
    #: Functions that only torch computes with its roundings.
    functions: dict[str, Callable[..., Any]]
    #: The functions of user code that transforms call instead of this package's.
    replaced: dict[str, Any]
    #: Returns the classes by which the core knows leaves of samples: csrc/bind/sample.h.
    leaves: Callable[[], tuple[Any, ...]] = lambda: (None, None, None, None, None, (), {}, ())
    #: Returns the transforms that the core does, and a function that does the others to its result, or None.
    split: Callable[[Any], tuple[Any, Callable[[Any], Any] | None]] = lambda transforms: (transforms, None)


V1 = Family(packed, FUNCTIONS, functions)


def recipe_of(
    pipeline: Any, transforms: Any, format: tuple[Any, bool] | None = None, family: Family = V1
) -> _C.Recipe | None:
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
        steps = tuple(map(family.pack, first))
        objects, lists, empty = _watched(transforms)
        settings = {
            "v2": family is not V1,
            "leaves": family.leaves(),
            "rest": rest,
            "run": _RUN,
            "blank": pil.blank,
            "allocate": pil.allocate,
            "delivered": pil.delivered,
            "rewrites": call.rewrites,
            "pillow": call.pillow,
            "formatted": format is not None,
            "dtype": None if format is None or format[0] is None else DTYPES[format[0]][0],
            "channels_last": format is not None and format[1],
        }
        watched = objects, lists, (*empty, family.replaced), transforms
        return _C.Recipe(steps, watched, call, call.draws, family.functions, settings)
    except (NoRecipe, ValueError, OverflowError, KeyError):
        return None


class Book:
    """The recipe of a pipeline, made again some calls after it has ceased to hold."""

    __slots__ = ("_left", "_pause", "recipe")

    def __init__(self) -> None:
        self.recipe: _C.Recipe | None = None
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
