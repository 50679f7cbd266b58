"""The functions that the transforms of :mod:`fastaug.pathology` apply, with given parameters."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from fastaug._draft.draft import Draft
from fastaug._draft.progress import begun, ended
from fastaug._image.types import ImageT
from fastaug._names import publish
from fastaug._program.stains import Rows, restained
from fastaug.pathology._basis import (
    BACKGROUND,
    LIKE,
    RESIDUAL,
    chosen,
    numbers_of,
    rows_of,
    stains_changed,
)

__all__ = ["adjust_hed", "adjust_stains", "dihedral", "quarter_turn"]


def _index(name: str, number: Any, count: int) -> int:
    """A whole number from 0 to count - 1."""
    try:
        index = operator.index(number)
    except TypeError:
        raise TypeError(f"{name} should be an int, got {number!r}") from None
    if not 0 <= index < count:
        raise ValueError(f"{name} should be from 0 to {count - 1}, got {number!r}")
    return index


#: What a stain is multiplied by, and what is added to it, at most.
_MOST = 1e6


def _stains(name: str, values: Any) -> tuple[float, float, float]:
    """A number for each of haematoxylin, eosin and DAB."""
    if isinstance(values, (str, bytes)) or not isinstance(values, (Sequence, np.ndarray, torch.Tensor)):
        raise TypeError(f"{name} should be a sequence of three numbers, got {values!r}")
    if len(values) != 3:
        raise ValueError(f"{name} should be three numbers, for haematoxylin, eosin and DAB, got {values!r}")
    try:
        first, second, third = (float(value) for value in values)
    except TypeError:
        raise TypeError(f"{name} should be a sequence of three numbers, got {values!r}") from None
    if not max(map(abs, (first, second, third))) <= _MOST or first != first or second != second or third != third:
        raise ValueError(f"{name} should be within 1e6 of zero, got {values!r}")
    return first, second, third


def adjust_hed(img: ImageT, alpha: Sequence[float], beta: Sequence[float], clip: bool = True) -> ImageT:
    """The image with its stains, haematoxylin, eosin and DAB, each multiplied by a number and shifted by another.

    Equal to scikit-image's in float64: ``255 * hed2rgb(rgb2hed(img) * alpha + beta)``, truncated to uint8. Stains are
    in its unit, in which 1 is the density of black. Where that value is within 1e-9 of an integer, the last bit of a
    logarithm decides, and the sample may be one off from scikit-image's.

    Args:
        img: PIL image of mode RGB, uint8 array (H, W, 3), or uint8 tensor (..., 3, H, W).
        alpha: what the three stains are multiplied by.
        beta: what is added to them then.
        clip: whether stains below zero count as zero first, as in scikit-image: it changes many pixels that eosin has
            no part in, even with ``alpha`` 1 and ``beta`` 0. Without it these leave the image as it is, within a level.

    Raises:
        TypeError: not such an image, or ``alpha`` or ``beta`` is no sequence of numbers.
        ValueError: ``alpha`` or ``beta`` has not three numbers, or one that is not within 1e6 of zero.

    Source:
        Ruifrok and Johnston, Quantification of histochemical staining by color deconvolution, 2001; as in
        skimage/color/colorconv.py.

    Example:
        >>> from PIL import Image
        >>> tile = Image.new("RGB", (1, 1), (150, 80, 160))
        >>> adjust_hed(tile, (1.05, 0.95, 1.0), (0.01, 0.0, 0.0)).getpixel((0, 0))
        (134, 73, 152)
    """
    draft = begun(img)
    draft.adjust_hed(_stains("alpha", alpha), _stains("beta", beta), bool(clip))
    return ended(draft, img)


def draft_stains(
    draft: Draft, matrix: Any, scale: Sequence[float], shift: Sequence[float], like: str, residual: str, background: str
) -> None:
    """Appends what `adjust_stains` does, by arguments that are as they should be."""
    flags = LIKE[like] | BACKGROUND[background]
    if matrix == "macenko":
        draft.restain_found(lambda stains: restained(stains.matrix, scale, shift, residual), flags)
    else:
        draft.restain(restained(matrix, scale, shift, residual), flags)


def adjust_stains(
    img: ImageT,
    matrix: Any,
    scale: Sequence[float],
    shift: Sequence[float],
    like: str = "tiatoolbox",
    residual: str = "project",
    background: str = "augment",
) -> ImageT:
    """The image with its stains, by a stain matrix, each multiplied by a number and shifted by another.

    Equal in float64 to ``255 * exp(-(C * scale + shift) @ matrix)``, where ``C @ matrix`` is, as nearly as can be, the
    optical densities. With ``like="tiatoolbox"`` these are ``max(-log(max(v, 1) / 255), 1e-6)``, and samples are
    truncated, as those of its ``StainAugmentor`` with ``augment_background=True``; with "albumentationsx" they are
    ``-log(max(v / 255, 1e-6))``, and samples are rounded: its ``HEStain`` computes that in float32, and may be a level
    off. A sample whose value is within 1e-8 of an integer, or when rounded of the middle between two, may be one off
    from theirs.

    Args:
        img: PIL image of mode RGB, uint8 array (H, W, 3), or uint8 tensor (..., 3, H, W).
        matrix: rows of numbers, or a name, as of :class:`fastaug.pathology.StainJitter`.
        scale: what each stain is multiplied by: two or three numbers, by the rows of the matrix and ``residual``.
        shift: what is added to each then.
        like: "tiatoolbox" or "albumentationsx".
        residual: "project", "preserve" or "augment", as of :class:`fastaug.pathology.StainJitter`.
        background: "augment" or "keep".

    Raises:
        TypeError: not such an image, or an argument of another type.
        ValueError: a singular matrix, another name, or ``scale`` or ``shift`` of another length, or not within 100 of
            zero.

    Example:
        >>> from PIL import Image
        >>> tile = Image.new("RGB", (1, 1), (150, 80, 160))
        >>> adjust_stains(tile, "he", (1.1, 0.9), (0.0, 0.0)).getpixel((0, 0))
        (134, 78, 184)
    """
    own = isinstance(matrix, str) and matrix == "macenko"
    rows: Rows | str = "macenko" if own else rows_of("matrix", matrix)
    chosen("like", like, LIKE)
    chosen("background", background, BACKGROUND)
    stains = stains_changed(2 if own else len(rows), chosen("residual", residual, RESIDUAL))
    scales, shifts = _as_many(stains, "scale", scale), _as_many(stains, "shift", shift)
    draft = begun(img)
    draft_stains(draft, rows, scales, shifts, like, residual, background)
    return ended(draft, img)


def _as_many(stains: int, name: str, values: Any) -> tuple[float, ...]:
    numbers = numbers_of(name, values)
    if len(numbers) != stains:
        raise ValueError(f"{name} should be {stains} numbers, one for each stain that changes, got {values!r}")
    return numbers


def quarter_turn(img: ImageT, turns: int) -> ImageT:
    """The image turned counter-clockwise by ``turns`` right angles; height and width change places at 1 and 3.

    Pixels are moved and never mixed: ``Image.transpose`` on PIL images, ``torch.rot90`` on tensors, ``numpy.rot90`` on
    arrays. With no turns, the same object comes back.

    Args:
        img: image: PIL, a uint8 array (H, W) or (H, W, C), or a tensor (..., H, W) of any dtype.
        turns: 0, 1, 2 or 3.

    Raises:
        TypeError: not an image, or ``turns`` is not a whole number.
        ValueError: another number of turns.

    Example:
        >>> import torch
        >>> quarter_turn(torch.tensor([[[1, 2, 3]]], dtype=torch.uint8), 1)
        tensor([[[3],
                 [2],
                 [1]]], dtype=torch.uint8)
    """
    turns = _index("turns", turns, 4)
    draft = begun(img)
    draft.dimensions()
    draft.rot90(turns)
    return ended(draft, img)


def dihedral(img: ImageT, element: int) -> ImageT:
    """One of the eight images that turns and mirrors make of one: the dihedral group of the square.

    Args:
        img: as of :func:`quarter_turn`.
        element: 0 to 7: ``element & 3`` quarter turns counter-clockwise, and after them, from 4 on, a horizontal flip.

    Raises:
        TypeError: not an image, or ``element`` is not a whole number.
        ValueError: another element.

    Example:
        >>> import torch
        >>> dihedral(torch.tensor([[[1, 2, 3]]], dtype=torch.uint8), 6)
        tensor([[[1, 2, 3]]], dtype=torch.uint8)
    """
    element = _index("element", element, 8)
    draft = begun(img)
    draft.dimensions()
    draft.rot90(element & 3)
    if element & 4:
        draft.hflip()
    return ended(draft, img)


publish(globals())
