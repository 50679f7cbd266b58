"""AutoAugment, RandAugment and TrivialAugment: random ops of random strength."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from fastaug._draft import recipe
from fastaug._draft.draft import Draft
from fastaug._draft.draws import Draws, TorchDraws
from fastaug._draft.interpolation import InterpolationMode
from fastaug._names import is_ours
from fastaug._program.arguments import as_float32
from fastaug._program.kinds import TENSOR
from fastaug._program.ops import MAX_OPS
from fastaug.transforms._auto_augment_policies import AutoAugmentPolicy, Policy, policies_of
from fastaug.transforms._base import Transform, check_fill, fill_of

__all__ = ["AutoAugment", "RandAugment", "TrivialAugmentWide"]

#: A function that returns the magnitudes of an op, for a number of bins and an image of so many rows and columns.
Magnitudes = Callable[[int, int, int], Tensor | None]
#: {name: (magnitudes, whether the sign is drawn)}
Strengths = dict[str, tuple[Magnitudes, bool]]


class Fixed(Strengths):
    """The same of a class of this package, which caches know by identity."""

    __hash__ = object.__hash__  # type: ignore[assignment]


#: The same for one image; a scalar tensor means that there is no magnitude.
Space = dict[str, tuple[Tensor, bool]]
#: The same as (name, magnitudes or None, signed).
Table = tuple[tuple[str, tuple[float, ...] | None, bool], ...]
Fill = float | Sequence[float] | None
#: Names of ops and their magnitudes, in the order in which they are done. Where an op is drawn after those before it
#: were drafted, as in torchvision, an error of theirs leaves the generator where torchvision's leaves it.
Ops = Iterable[tuple[str, float]]

# Ops before a draft is done so far: together with those of other transforms, below the native core's limit.
_MAX_DRAFT = MAX_OPS // 4

# Magnitudes of an op in a recipe.
_MOST_BINS = 1 << 10

_TORCH = TorchDraws()


def _shear(draft: Draft, across: float, down: float, interpolation: Any, fill: Any) -> None:
    angles = math.degrees(math.atan(across)), math.degrees(math.atan(down))
    draft.affine(0.0, (0, 0), 1.0, angles, interpolation, fill, (0, 0))


def _translate(draft: Draft, across: float, down: float, interpolation: Any, fill: Any) -> None:
    draft.affine(0.0, (int(across), int(down)), 1.0, (0.0, 0.0), interpolation, fill, None)


_OPS: dict[str, Callable[[Draft, float, Any, Any], None]] = {
    "Identity": lambda draft, magnitude, interpolation, fill: None,
    "ShearX": lambda draft, magnitude, *how: _shear(draft, magnitude, 0.0, *how),
    "ShearY": lambda draft, magnitude, *how: _shear(draft, 0.0, magnitude, *how),
    "TranslateX": lambda draft, magnitude, *how: _translate(draft, magnitude, 0.0, *how),
    "TranslateY": lambda draft, magnitude, *how: _translate(draft, 0.0, magnitude, *how),
    "Rotate": lambda draft, magnitude, interpolation, fill: draft.rotate(magnitude, interpolation, False, None, fill),
    "Brightness": lambda draft, magnitude, interpolation, fill: draft.adjust_brightness(1.0 + magnitude),
    "Color": lambda draft, magnitude, interpolation, fill: draft.adjust_saturation(1.0 + magnitude),
    "Contrast": lambda draft, magnitude, interpolation, fill: draft.adjust_contrast(1.0 + magnitude),
    "Sharpness": lambda draft, magnitude, interpolation, fill: draft.adjust_sharpness(1.0 + magnitude),
    "Posterize": lambda draft, magnitude, interpolation, fill: draft.posterize(int(magnitude)),
    "Solarize": lambda draft, magnitude, interpolation, fill: draft.solarize(magnitude),
    "AutoContrast": lambda draft, magnitude, interpolation, fill: draft.autocontrast(),
    "Equalize": lambda draft, magnitude, interpolation, fill: draft.equalize(),
    "Invert": lambda draft, magnitude, interpolation, fill: draft.invert(),
}


def apply_op(draft: Draft, name: str, magnitude: float, interpolation: Any, fill: Any) -> None:
    """Drafts the op of that name.

    Raises:
        ValueError: there is none.
    """
    op = _OPS.get(name)
    if op is None:
        raise ValueError(f"The provided operator {name} is not recognized.")
    op(draft, magnitude, interpolation, fill)
    if draft.count > _MAX_DRAFT:
        draft.shorten()


def draw_op(draws: Draws, table: Table, strengths: int | None = None) -> tuple[str, float]:
    """Draws an op, its magnitude out of the first `strengths` or out of all, and the sign of it."""
    name, magnitudes, signed = table[draws.randint(0, len(table))]
    magnitude = 0.0
    if magnitudes is not None:
        magnitude = magnitudes[draws.randint(0, len(magnitudes) if strengths is None else strengths)]
    if signed and draws.randint(0, 2):
        magnitude = -magnitude
    return name, magnitude


def nth(magnitudes: tuple[float, ...], which: Any) -> float:
    """torch says what else than an int is a place in a tensor."""
    if type(which) is int and -len(magnitudes) <= which < len(magnitudes):
        return magnitudes[which]
    return torch.tensor(magnitudes)[which].item()


def tabulate(space: Space) -> Table:
    return tuple(
        (name, tuple(map(float, magnitudes)) if magnitudes.ndim > 0 else None, signed)
        for name, (magnitudes, signed) in space.items()
    )


@functools.lru_cache(maxsize=1024)
def _values(magnitudes: Magnitudes, bins: int, height: int, width: int, dtype: torch.dtype) -> tuple[float, ...] | None:
    # linspace computes in torch's default dtype.
    tensor = magnitudes(bins, height, width)
    return None if tensor is None else tuple(map(float, tensor))


def values_of(magnitudes: Magnitudes, bins: int, height: int, width: int) -> tuple[float, ...] | None:
    """Return the magnitudes as numbers. Those of this package are kept."""
    kept = is_ours(magnitudes) and type(bins) is type(height) is type(width) is int
    function = _values if kept else _values.__wrapped__
    return function(magnitudes, bins, height, width, torch.get_default_dtype())


@functools.lru_cache(maxsize=256)
def _tabulated(space: Fixed, *arguments: Any) -> Table:
    return tuple((name, _values(magnitudes, *arguments), signed) for name, (magnitudes, signed) in space.items())


def up_to(limit: float) -> Magnitudes:
    return lambda bins, height, width: torch.linspace(0.0, limit, bins)


def up_to_size(limit: Callable[[int, int], float]) -> Magnitudes:
    return lambda bins, height, width: torch.linspace(0.0, limit(height, width), bins)


def none(bins: int, height: int, width: int) -> None:
    """Return the magnitudes of an op that has none."""


def geometry(shear: float, translate_x: Magnitudes, translate_y: Magnitudes, rotate: float) -> Strengths:
    magnitudes = (up_to(shear), up_to(shear), translate_x, translate_y, up_to(rotate))
    names = ("ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate")
    return {name: (each, True) for name, each in zip(names, magnitudes)}


def colours(limit: float) -> Strengths:
    return {name: (up_to(limit), True) for name in ("Brightness", "Color", "Contrast", "Sharpness")}


def levels(bits: Magnitudes, white: float) -> Strengths:
    """Return the ops with thresholds, and those without magnitudes. Solarize starts at `white`."""
    thresholds: Magnitudes = lambda bins, height, width: torch.linspace(white, 0.0, bins)  # noqa: E731
    magnitudes = {"Posterize": bits, "Solarize": thresholds, "AutoContrast": none, "Equalize": none}
    return {name: (each, False) for name, each in magnitudes.items()}


_SHARE = 150.0 / 331.0
_SHARES = up_to_size(lambda height, width: _SHARE * width), up_to_size(lambda height, width: _SHARE * height)
_THIRDS = up_to_size(lambda height, width: width / 3.0), up_to_size(lambda height, width: height / 3.0)

IDENTITY: Strengths = {"Identity": (none, False)}
INVERT: Strengths = {"Invert": (none, False)}
#: The geometry and colours of the AutoAugment paper, of TrivialAugment's wide space, and the geometry of AugMix.
PAPER: Strengths = {**geometry(0.3, *_SHARES, 30.0), **colours(0.9)}
WIDE: Strengths = {**IDENTITY, **geometry(0.99, up_to(32.0), up_to(32.0), 135.0), **colours(0.99)}
MIX: Strengths = geometry(0.3, *_THIRDS, 30.0)


def _bits(most: int, fewer: int) -> Magnitudes:
    return lambda bins, height, width: most - (torch.arange(bins) / ((bins - 1) / fewer)).round().int()


_LEVELS = levels(_bits(8, 4), 255.0)
_AUTO = Fixed({**PAPER, **_LEVELS, **INVERT})
_RAND = Fixed({**IDENTITY, **PAPER, **_LEVELS})
_WIDE = Fixed({**WIDE, **levels(_bits(8, 6), 255.0)})
_MIX: Strengths = {**MIX, **levels(_bits(4, 4), 255.0)}
#: Those of AugMix, without and with all ops.
MIXES = Fixed(_MIX), Fixed({**_MIX, **colours(0.9)})


def _packed_op(strengths: Strengths, name: Any, bins: Any, places: Sequence[Any], p: float = 1.0) -> recipe.Packed:
    """Return the settings of an op, with its magnitudes at these places among so many."""
    magnitudes, signed = recipe.fixed(strengths[name], 2)
    known = is_ours(magnitudes) and 2 <= recipe.whole(bins) <= _MOST_BINS
    if not known or any(not -bins <= recipe.whole(place) < bins for place in places):
        raise recipe.NoRecipe
    if magnitudes in _SHARES and len(places) == 1:
        return name, signed, (places[0] % bins,), bins, p  # the core knows the size of the image
    values = values_of(magnitudes, bins, 0, 0)
    if values is None:
        return name, False, (), 0, p
    if magnitudes in _SHARES or not places:
        raise recipe.NoRecipe
    return name, signed, tuple(values[place] for place in places), 0, p


def packed_ops(transform: Any, places: Sequence[Any], count: Any) -> recipe.Packed:
    """Return the settings of a transform that does some of all ops, of the magnitudes at these places."""
    strengths, bins = transform._AUGMENTATION_SPACE, transform.num_magnitude_bins
    ops = tuple(_packed_op(strengths, name, bins, places) for name in strengths)
    return "RandomOps", ops, recipe.whole(count), *transform._packed_sampling()


def packed_policies(transform: Any, policies: Any) -> recipe.Packed:
    """Return the settings of a transform that does the ops of one of the policies."""

    def op(described: Any) -> recipe.Packed:
        name, p, place = recipe.fixed(described, 3)
        places = () if place is None else (place,)
        return _packed_op(transform._AUGMENTATION_SPACE, name, 10, places, recipe.chance(p))

    pairs = recipe.several(policies, lambda policy: tuple(map(op, recipe.fixed(policy, 2))))
    return "RandomPolicy", pairs, *transform._packed_sampling()


class PolicyTransform(Transform):
    """The base of transforms that draw ops."""

    _drawn: tuple[str, ...] = ("ops",)
    _AUGMENTATION_SPACE: Any
    interpolation: InterpolationMode
    fill: Fill

    def _augmentation_space(self, num_bins: int, image_size: tuple[int, int] = (0, 0)) -> Space:
        """Return the ops with their magnitudes for images of (height, width)."""
        space = {}
        for name, (magnitudes, signed) in self._AUGMENTATION_SPACE.items():
            values = magnitudes(num_bins, *image_size)
            space[name] = torch.tensor(0.0) if values is None else values, signed
        return space

    _own_space = staticmethod(_augmentation_space)

    def _has_own_space(self) -> bool:
        return getattr(self._augmentation_space, "__func__", None) is self._own_space

    def _table(self, draft: Draft, bins: int, *size: tuple[int, int]) -> Table:
        """Return the augmentation space, which the user may have overridden, as a table."""
        if self._has_own_space() and type(bins) is int and not draft.call.traced:  # sizes may be torch's symbols
            return _tabulated(self._AUGMENTATION_SPACE, bins, *(size[0] if size else (0, 0)), torch.get_default_dtype())
        draft.call.draws.release()
        return tabulate(self._augmentation_space(bins, *size))

    def _draft(self, draft: Draft, params: Any) -> None:
        fill = fill_of(self.fill, draft.kind, draft.channels)
        for name, magnitude in params:
            apply_op(draft, name, magnitude, self.interpolation, fill)

    def _packed_sampling(self) -> recipe.Packed:
        if not self._has_own_space():
            raise recipe.NoRecipe
        fill = recipe.filling(self.fill)
        fill_of(fill, TENSOR, 1)  # Python checks a fill before each call, not only where a pixel needs it
        return recipe.resampling(self.interpolation), fill


class AutoAugment(PolicyTransform):
    """Two ops in a row, by a policy that was learned on a dataset (https://arxiv.org/abs/1805.09501).

    Draws the policy, whether each of its two ops happens, and the signs of their strengths. Images have 1 or 3 channels
    and 8 bits.

    Args:
        policy: :class:`AutoAugmentPolicy`.
        interpolation: NEAREST, BILINEAR, or BICUBIC (not on tensors), for ops of geometry.
        fill: colour of what lies outside the image: a number, one per channel, or None for 0.

    Raises:
        ValueError: unknown policy.

    Example:
        >>> import fastaug.transforms as T
        >>> from PIL import Image
        >>> T.AutoAugment(T.AutoAugmentPolicy.CIFAR10)(Image.new("RGB", (40, 30))).size
        (40, 30)
    """

    _shown = ("policy", "fill")
    _AUGMENTATION_SPACE = _AUTO

    def __init__(
        self,
        policy: AutoAugmentPolicy = AutoAugmentPolicy.IMAGENET,
        interpolation: InterpolationMode = InterpolationMode.NEAREST,
        fill: Fill = None,
    ) -> None:
        super().__init__()
        self.policy = policy
        self.interpolation = interpolation
        self.fill = fill
        self.policies = self._get_policies(policy)

    def _get_policies(self, policy: AutoAugmentPolicy) -> list[Policy]:
        return policies_of(policy)

    @staticmethod
    def get_params(transform_num: int) -> tuple[int, Tensor, Tensor]:
        """Draws the number of a policy, and for each of its two ops a number in [0, 1) and a sign (0 is negative).

        Example:
            >>> import fastaug.transforms as T
            >>> policy, probabilities, signs = T.AutoAugment.get_params(25)
            >>> 0 <= policy < 25, probabilities.shape, signs.shape
            (True, torch.Size([2]), torch.Size([2]))
        """
        policy, probabilities, signs = _draw_policy(_TORCH, transform_num)
        return policy, torch.tensor(probabilities), torch.tensor(signs)

    def _sample(self, draft: Draft) -> Ops:
        check_fill(self.fill, draft)
        draws = draft.call.draws
        if self.get_params is self._own_params:
            policy, probabilities, signs = _draw_policy(draws, len(self.policies))
        else:
            policy, *tensors = self._asked(draft, len(self.policies))
            probabilities, signs = (tensor.tolist() for tensor in tensors)
        table = self._table(draft, 10, (draft.height, draft.width))
        ops = []
        for (name, p, index), draw, sign in zip(self.policies[policy], probabilities, signs):
            if draw <= as_float32(p):
                _, magnitudes, signed = next(entry for entry in table if entry[0] == name)
                magnitude = 0.0 if index is None or magnitudes is None else magnitudes[index]
                ops.append((name, -magnitude if signed and sign == 0 else magnitude))
        return ops

    def _packed(self) -> recipe.Packed:
        return packed_policies(self, self.policies)


def _draw_policy(draws: Draws, count: int) -> tuple[int, list[float], list[int]]:
    return draws.randint(0, count), [draws.rand(), draws.rand()], [draws.randint(0, 2), draws.randint(0, 2)]


class RandAugment(PolicyTransform):
    """Some random ops in a row, all of the same strength (https://arxiv.org/abs/1909.13719).

    For each, draws the op, and the sign of its strength where it has one. Images have 1 or 3 channels and 8 bits.

    Args:
        num_ops: how many.
        magnitude: their strength, below ``num_magnitude_bins``.
        num_magnitude_bins: how many strengths there are.
        interpolation, fill: as in :class:`AutoAugment`.

    Raises:
        IndexError: when called, ``magnitude`` is out of range.

    Example:
        >>> import fastaug.transforms as T
        >>> from PIL import Image
        >>> T.RandAugment(num_ops=2, magnitude=9)(Image.new("RGB", (40, 30))).size
        (40, 30)
    """

    _shown = ("num_ops", "magnitude", "num_magnitude_bins", "interpolation", "fill")
    _AUGMENTATION_SPACE = _RAND

    def __init__(
        self,
        num_ops: int = 2,
        magnitude: int = 9,
        num_magnitude_bins: int = 31,
        interpolation: InterpolationMode = InterpolationMode.NEAREST,
        fill: Fill = None,
    ) -> None:
        super().__init__()
        self.num_ops = num_ops
        self.magnitude = magnitude
        self.num_magnitude_bins = num_magnitude_bins
        self.interpolation = interpolation
        self.fill = fill

    def _sample(self, draft: Draft) -> Ops:
        check_fill(self.fill, draft)
        table = self._table(draft, self.num_magnitude_bins, (draft.height, draft.width))
        return self._draw_ops(draft.call.draws, table)

    def _draw_ops(self, draws: Draws, table: Table) -> Iterator[tuple[str, float]]:
        for _ in range(self.num_ops):
            name, magnitudes, signed = table[draws.randint(0, len(table))]
            magnitude = 0.0 if magnitudes is None else nth(magnitudes, self.magnitude)
            if signed and draws.randint(0, 2):
                magnitude = -magnitude
            yield name, magnitude

    def _packed(self) -> recipe.Packed:
        return packed_ops(self, (self.magnitude,), self.num_ops)


class TrivialAugmentWide(PolicyTransform):
    """One random op of random strength (https://arxiv.org/abs/2103.10158).

    Draws the op, its strength where it has one, and then the sign of it. Images have 1 or 3 channels and 8 bits.

    Args:
        num_magnitude_bins: how many strengths there are.
        interpolation, fill: as in :class:`AutoAugment`.

    Example:
        >>> import fastaug.transforms as T
        >>> from PIL import Image
        >>> T.TrivialAugmentWide()(Image.new("RGB", (40, 30))).size
        (40, 30)
    """

    _shown = ("num_magnitude_bins", "interpolation", "fill")
    _AUGMENTATION_SPACE = _WIDE

    def __init__(
        self,
        num_magnitude_bins: int = 31,
        interpolation: InterpolationMode = InterpolationMode.NEAREST,
        fill: Fill = None,
    ) -> None:
        super().__init__()
        self.num_magnitude_bins = num_magnitude_bins
        self.interpolation = interpolation
        self.fill = fill

    def _sample(self, draft: Draft) -> Ops:
        check_fill(self.fill, draft)
        table = self._table(draft, self.num_magnitude_bins)
        return [draw_op(draft.call.draws, table)]

    def _packed(self) -> recipe.Packed:
        return packed_ops(self, range(recipe.whole(self.num_magnitude_bins)), 1)
