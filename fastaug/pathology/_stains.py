"""Random changes of stains, the dyes that colour tissue and absorb light."""

from __future__ import annotations

from typing import Any

from fastaug._draft.draft import Draft
from fastaug._draft.draws import Draws, TorchDraws
from fastaug.pathology._basis import checked_matrix, range_of, stains_changed
from fastaug.pathology.functional import draft_stains
from fastaug.transforms._base import Transform

__all__ = ["HEDJitter", "StainJitter"]

_TORCH = TorchDraws()

#: The largest theta, so that draws fit in the core's operands.
_MOST_THETA = 1e5

Pair = tuple[float, float]
Triple = tuple[float, float, float]
Numbers = tuple[float, ...]


def _checked(theta: Any) -> float:
    if isinstance(theta, bool) or not isinstance(theta, (int, float)):
        raise TypeError(f"theta should be a number, got {theta!r}")
    if not 0 <= theta <= _MOST_THETA:
        raise ValueError(f"theta should be from 0 to 1e5, got {theta!r}")
    return float(theta)


def _draw(draws: Draws, scale: Pair, shift: Pair, stains: int) -> tuple[Any, Any]:
    scales = tuple(draws.uniform(*scale) for _ in range(stains))
    return scales, tuple(draws.uniform(*shift) for _ in range(stains))


def _draw_hed(draws: Draws, theta: float) -> tuple[Triple, Triple]:
    return _draw(draws, (1 - theta, 1 + theta), (-theta, theta), 3)


class HEDJitter(Transform):
    """A transform that randomly scales and shifts the stains haematoxylin, eosin and DAB.

    On every call it draws three ``alpha`` uniformly from [1 - theta, 1 + theta], then three ``beta`` from [-theta,
    theta], each like ``torch.empty(1).uniform_()``. Then it applies :func:`fastaug.pathology.functional.adjust_hed`,
    which equals scikit-image's ``rgb2hed`` and ``hed2rgb``.

    Args:
        theta: strength; 0.05 is known as HED-light, 0.2 as HED-strong.
        clip: first set stains below zero to zero, as in scikit-image.

    Raises:
        TypeError: ``theta`` is not a number; when called, not a uint8 image of three colour channels, and nothing is
            drawn.
        ValueError: ``theta`` is below 0, NaN, or above 1e5.

    Source:
        Tellez et al., Quantifying the effects of data augmentation and stain color normalization in convolutional
        neural networks for computational pathology, 2019.

    Example:
        >>> import torch
        >>> from fastaug import pathology
        >>> _ = torch.manual_seed(0)
        >>> tile = torch.tensor([150, 80, 160], dtype=torch.uint8).reshape(3, 1, 1)
        >>> pathology.HEDJitter(0.05)(tile).flatten()
        tensor([202, 132, 166], dtype=torch.uint8)
    """

    _drawn = ("alpha", "beta")
    _shown = ("theta", "clip")

    def __init__(self, theta: float = 0.05, clip: bool = True) -> None:
        super().__init__()
        self.theta = _checked(theta)
        self.clip = bool(clip)

    @staticmethod
    def get_params(theta: float) -> tuple[Triple, Triple]:
        """Draw three factors and three shifts.

        Example:
            >>> from fastaug import pathology
            >>> pathology.HEDJitter.get_params(0.0)
            ((1.0, 1.0, 1.0), (0.0, 0.0, 0.0))
        """
        return _draw_hed(_TORCH, _checked(theta))

    def _sample(self, draft: Draft) -> tuple[Triple, Triple]:
        draft.need_tile()
        return self._drawn_by(_draw_hed, draft, self.theta)  # type: ignore[no-any-return]

    def _draft(self, draft: Draft, params: tuple[Triple, Triple]) -> None:
        draft.adjust_hed(*params, self.clip)


class StainJitter(Transform):
    """A transform that randomly scales and shifts the stains of a stain matrix, in optical density.

    On every call it draws a factor for each stain, then a shift for each, each like ``torch.empty(1).uniform_()``. Then
    it applies :func:`fastaug.pathology.functional.adjust_stains`.

    Args:
        matrix: two or three rows of three numbers, the density of each stain in red, green and blue; or "hed" (three
            rows), "he", "imagej-he" or "macenko-reference"; or "macenko" for the matrix of each tile, as
            :func:`fastaug.pathology.stain_matrix` finds it. A tile without tissue is then returned unchanged, after the
            same draws.
        scale: factors are drawn from [1 - scale, 1 + scale], or from a pair (low, high).
        shift: shifts are drawn from [-shift, shift], or from a pair (low, high). The unit is a row of the matrix.
        like: the package whose densities and rounding to use, "tiatoolbox" or "albumentationsx".
        residual: treatment of the part that neither of two stains explains: "project" drops it, "preserve" keeps it,
            "augment" treats it as a third stain with its own factor and shift. With three rows, "preserve" keeps the
            third, and the other two values change all.
        background: "augment" changes every pixel; "keep" leaves pixels unchanged whose luminance is at least 0.85 of
            white.

    Raises:
        TypeError: an argument has another type; when called, not a uint8 image of three colour channels, and nothing is
            drawn.
        ValueError: a singular matrix, a range in the wrong order or with NaN, or another name.

    Source:
        tiatoolbox's ``StainAugmentor`` and AlbumentationsX's ``HEStain``; matrices of Ruifrok and Johnston, 2001, and
        of Macenko et al., 2009.

    Example:
        >>> import torch
        >>> from fastaug import pathology
        >>> _ = torch.manual_seed(0)
        >>> tile = torch.tensor([150, 80, 160], dtype=torch.uint8).reshape(3, 1, 1)
        >>> pathology.StainJitter("he", scale=0.2, shift=0.1)(tile).flatten()
        tensor([149,  84, 192], dtype=torch.uint8)
    """

    _drawn = ("scales", "shifts")

    def __init__(
        self,
        matrix: Any,
        scale: Any = 0.2,
        shift: Any = 0.2,
        like: str = "tiatoolbox",
        residual: str = "project",
        background: str = "augment",
    ) -> None:
        super().__init__()
        self.matrix = checked_matrix(matrix, like, residual, background)
        self.scale = range_of("scale", scale, 1.0)
        self.shift = range_of("shift", shift, 0.0)
        self.like, self.residual, self.background = like, residual, background

    @staticmethod
    def get_params(scale: Pair, shift: Pair, stains: int) -> tuple[Numbers, Numbers]:
        """Draw one factor per stain, then one shift per stain.

        Example:
            >>> from fastaug import pathology
            >>> pathology.StainJitter.get_params((1.0, 1.0), (0.0, 0.0), 2)
            ((1.0, 1.0), (0.0, 0.0))
        """
        return _draw(_TORCH, scale, shift, stains)

    def _sample(self, draft: Draft) -> tuple[Numbers, Numbers]:
        draft.need_tile()
        stains = stains_changed(self.matrix, self.residual)
        return self._drawn_by(_draw, draft, self.scale, self.shift, stains)  # type: ignore[no-any-return]

    def _draft(self, draft: Draft, params: tuple[Numbers, Numbers]) -> None:
        draft_stains(draft, self.matrix, *params, self.like, self.residual, self.background)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.matrix!r}, scale={self.scale}, shift={self.shift}, like={self.like!r}, "
            f"residual={self.residual!r}, background={self.background!r})"
        )
