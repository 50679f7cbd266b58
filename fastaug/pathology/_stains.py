"""Stains: what tissue is coloured with, and the light that each takes away."""

from __future__ import annotations

from typing import Any

from fastaug._draft.draft import Draft
from fastaug._draft.draws import Draws, TorchDraws
from fastaug.transforms._base import Transform

__all__ = ["HEDJitter"]

_TORCH = TorchDraws()

#: What theta is at most: what is drawn goes into the core's operands.
_MOST_THETA = 1e5

Triple = tuple[float, float, float]


def _checked(theta: Any) -> float:
    if isinstance(theta, bool) or not isinstance(theta, (int, float)):
        raise TypeError(f"theta should be a number, got {theta!r}")
    if not 0 <= theta <= _MOST_THETA:
        raise ValueError(f"theta should be from 0 to 1e5, got {theta!r}")
    return float(theta)


def _draw(draws: Draws, theta: float) -> tuple[Triple, Triple]:
    def three(low: float, high: float) -> Triple:
        return draws.uniform(low, high), draws.uniform(low, high), draws.uniform(low, high)

    return three(1 - theta, 1 + theta), three(-theta, theta)


class HEDJitter(Transform):
    """Stains made stronger and weaker at random: haematoxylin, eosin and DAB, each times one number and plus another.

    Draws three ``alpha`` uniformly from [1 - theta, 1 + theta], then three ``beta`` from [-theta, theta], each as
    ``torch.empty(1).uniform_()`` draws it, on every call. What they do is said by
    :func:`fastaug.pathology.functional.adjust_hed`: scikit-image's ``rgb2hed`` and ``hed2rgb``.

    Args:
        theta: how much; 0.05 is known as HED-light, 0.2 as HED-strong.
        clip: whether stains below zero count as zero first, as in scikit-image.

    Raises:
        TypeError: ``theta`` is not a number; when called, something that is not a uint8 image of three colour channels,
            and nothing is drawn then.
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

    def __init__(self, theta: float = 0.05, clip: bool = True) -> None:
        super().__init__()
        self.theta = _checked(theta)
        self.clip = bool(clip)

    @staticmethod
    def get_params(theta: float) -> tuple[Triple, Triple]:
        """Draws three factors and three shifts.

        Example:
            >>> from fastaug import pathology
            >>> pathology.HEDJitter.get_params(0.0)
            ((1.0, 1.0, 1.0), (0.0, 0.0, 0.0))
        """
        return _draw(_TORCH, _checked(theta))

    def _sample(self, draft: Draft) -> tuple[Triple, Triple]:
        draft.need_tile()
        if self.get_params is self._own_params:
            return _draw(draft.call.draws, self.theta)
        params: tuple[Triple, Triple] = self._asked(draft, self.theta)
        return params

    def _draft(self, draft: Draft, params: tuple[Triple, Triple]) -> None:
        alpha, beta = params
        draft.adjust_hed(alpha, beta, self.clip)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(theta={self.theta}, clip={self.clip})"
