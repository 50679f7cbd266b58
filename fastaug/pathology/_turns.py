"""Random quarter turns and mirrors, for tissue, which has no preferred orientation."""

from __future__ import annotations

from fastaug._draft.draft import Draft
from fastaug._draft.draws import TorchDraws
from fastaug.transforms._base import Transform

__all__ = ["RandomDihedral", "RandomQuarterTurn"]

_TORCH = TorchDraws()


class _Orientation(Transform):
    """A transform that draws one of `_COUNT` orientations."""

    _COUNT = 0

    def _sample(self, draft: Draft) -> int:
        draft.dimensions()
        return self._drawn_by(lambda draws: draws.randint(0, self._COUNT), draft)  # type: ignore[no-any-return]


class RandomQuarterTurn(_Orientation):
    """A transform that turns the image by 0, 90, 180 or 270 degrees, each with probability 1/4.

    It draws ``torch.randint(0, 4, (1,))`` on every call, the number of counter-clockwise quarter turns. Odd ones swap
    height and width. For 0 it returns the same object.

    Raises:
        TypeError: when called, not an image; nothing is drawn.

    Example:
        >>> import torch
        >>> from fastaug import pathology
        >>> _ = torch.manual_seed(1)
        >>> pathology.RandomQuarterTurn()(torch.zeros(3, 20, 30, dtype=torch.uint8)).shape
        torch.Size([3, 30, 20])
    """

    _COUNT = 4
    _drawn = ("turns",)

    @staticmethod
    def get_params() -> int:
        """Draw the number of quarter turns, 0 to 3.

        Example:
            >>> from fastaug import pathology
            >>> 0 <= pathology.RandomQuarterTurn.get_params() < 4
            True
        """
        return _TORCH.randint(0, 4)

    def _draft(self, draft: Draft, params: int) -> None:
        draft.rot90(params)


class RandomDihedral(_Orientation):
    """A transform that returns one of the eight orientations of the image, each with probability 1/8.

    It draws ``torch.randint(0, 8, (1,))`` on every call. That number & 3 is the number of counter-clockwise quarter
    turns, and from 4 on a horizontal flip follows. Odd turns swap height and width. For 0 it returns the same object.

    Raises:
        TypeError: when called, not an image; nothing is drawn.

    Example:
        >>> import torch
        >>> from fastaug import pathology
        >>> _ = torch.manual_seed(1)
        >>> pathology.RandomDihedral()(torch.zeros(3, 20, 30, dtype=torch.uint8)).shape
        torch.Size([3, 30, 20])
    """

    _COUNT = 8
    _drawn = ("element",)

    @staticmethod
    def get_params() -> int:
        """Draw the element of the group, 0 to 7.

        Example:
            >>> from fastaug import pathology
            >>> 0 <= pathology.RandomDihedral.get_params() < 8
            True
        """
        return _TORCH.randint(0, 8)

    def _draft(self, draft: Draft, params: int) -> None:
        draft.rot90(params & 3)
        if params & 4:
            draft.hflip()
