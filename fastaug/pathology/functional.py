"""Functions that apply the transforms of :mod:`fastaug.pathology` with given parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastaug._draft.draft import Draft
from fastaug._draft.progress import begun, ended
from fastaug._image.types import ImageT
from fastaug._names import publish
from fastaug._program.integers import integer
from fastaug._program.stains import restained
from fastaug.pathology._basis import BACKGROUND, LIKE, checked_matrix, numbers_of, stains_changed, three_of

__all__ = ["adjust_hed", "adjust_stains", "dihedral", "quarter_turn"]


def _index(name: str, number: Any, count: int) -> int:
    index = integer(name, number)
    if not 0 <= index < count:
        raise ValueError(f"{name} should be from 0 to {count - 1}, got {number!r}")
    return index


#: The largest factor and shift of a stain.
_MOST = 1e6


def adjust_hed(img: ImageT, alpha: Sequence[float], beta: Sequence[float], clip: bool = True) -> ImageT:
    """Scale and shift each of the stains haematoxylin, eosin and DAB.

    It equals scikit-image in float64, ``255 * hed2rgb(rgb2hed(img) * alpha + beta)``, truncated to uint8. A stain of 1
    is the density of black. If that value is within 1e-9 of an integer, the last bit of a logarithm decides, and the
    sample may differ by one from scikit-image's.

    Args:
        img: PIL image of mode RGB, uint8 array (H, W, 3), or uint8 tensor (..., 3, H, W).
        alpha: factors of the three stains.
        beta: shifts of the three stains, added after the factors.
        clip: first set stains below zero to zero, as in scikit-image. That changes many pixels without eosin, even with
            ``alpha`` 1 and ``beta`` 0. Without it these return the image unchanged, within a level.

    Raises:
        TypeError: not such an image, or ``alpha`` or ``beta`` is not a sequence of numbers.
        ValueError: ``alpha`` or ``beta`` does not have three numbers within 1e6 of zero.

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
    draft.adjust_hed(three_of("alpha", alpha, _MOST), three_of("beta", beta, _MOST), bool(clip))
    return ended(draft, img)


def draft_stains(
    draft: Draft, matrix: Any, scale: Sequence[float], shift: Sequence[float], like: str, residual: str, background: str
) -> None:
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
    """Scale and shift each stain of a stain matrix, in optical density.

    It equals ``255 * exp(-(C * scale + shift) @ matrix)`` in float64, where ``C @ matrix`` is the closest fit to the
    optical densities. With ``like="tiatoolbox"`` these are ``max(-log(max(v, 1) / 255), 1e-6)`` and samples are
    truncated, as in its ``StainAugmentor`` with ``augment_background=True``. With "albumentationsx" they are
    ``-log(max(v / 255, 1e-6))`` and samples are rounded; its ``HEStain`` computes in float32 and may differ by a level.
    A sample may also differ by one if its value is within 1e-8 of an integer, or, if rounded, of a midpoint.

    Args:
        img: PIL image of mode RGB, uint8 array (H, W, 3), or uint8 tensor (..., 3, H, W).
        matrix, like, residual, background: as for :class:`fastaug.pathology.StainJitter`.
        scale: a factor for each stain, two or three numbers, depending on the rows of the matrix and ``residual``.
        shift: a shift for each stain, added after the factors.

    Raises:
        TypeError: not such an image, or an argument of another type.
        ValueError: a singular matrix, another name, or ``scale`` or ``shift`` has another length or a number that is
            not within 100 of zero.

    Example:
        >>> from PIL import Image
        >>> tile = Image.new("RGB", (1, 1), (150, 80, 160))
        >>> adjust_stains(tile, "he", (1.1, 0.9), (0.0, 0.0)).getpixel((0, 0))
        (134, 78, 184)
    """
    rows = checked_matrix(matrix, like, residual, background)
    stains = stains_changed(rows, residual)
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
    """Turn the image counter-clockwise by ``turns`` right angles; 1 and 3 swap height and width.

    Pixels only move. It equals ``Image.transpose`` for PIL images, ``torch.rot90`` for tensors and ``numpy.rot90`` for
    arrays. For 0 turns it returns the same object.

    Args:
        img: PIL image, uint8 array (H, W) or (H, W, C), or tensor (..., H, W) of any dtype.
        turns: 0, 1, 2 or 3.

    Raises:
        TypeError: not an image, or ``turns`` is not an integer.
        ValueError: another number of turns.

    Example:
        >>> import torch
        >>> quarter_turn(torch.tensor([[[1, 2, 3]]], dtype=torch.uint8), 1)
        tensor([[[3],
                 [2],
                 [1]]], dtype=torch.uint8)
    """
    return _oriented(img, _index("turns", turns, 4))


def dihedral(img: ImageT, element: int) -> ImageT:
    """Return one of the eight orientations of the image, an element of the dihedral group of the square.

    Args:
        img: as for :func:`quarter_turn`.
        element: 0 to 7: ``element & 3`` counter-clockwise quarter turns, followed from 4 on by a horizontal flip.

    Raises:
        TypeError: not an image, or ``element`` is not an integer.
        ValueError: another element.

    Example:
        >>> import torch
        >>> dihedral(torch.tensor([[[1, 2, 3]]], dtype=torch.uint8), 6)
        tensor([[[1, 2, 3]]], dtype=torch.uint8)
    """
    return _oriented(img, _index("element", element, 8))


def _oriented(img: ImageT, element: int) -> ImageT:
    draft = begun(img)
    draft.dimensions()
    draft.rot90(element & 3)
    if element & 4:
        draft.hflip()
    return ended(draft, img)


publish(globals())
