"""Turns and mirrors, which tissue has no preference among."""

from __future__ import annotations

from fastaug._draft.draft import Draft
from fastaug._draft.draws import TorchDraws
from fastaug.transforms._base import Transform

__all__ = ["RandomDihedral", "RandomQuarterTurn"]

_TORCH = TorchDraws()


class RandomQuarterTurn(Transform):
    """The image turned by 0, 90, 180 or 270 degrees, each as likely as the others.

    One ``torch.randint(0, 4, (1,))`` a call: the number of quarter turns counter-clockwise. Height and width change
    places at odd ones. A call that draws 0 hands out the object that it is given.

    Raises:
        TypeError: when called, not an image; nothing is drawn then.

    Example:
        >>> import torch
        >>> from fastaug import pathology
        >>> _ = torch.manual_seed(1)
        >>> pathology.RandomQuarterTurn()(torch.zeros(3, 20, 30, dtype=torch.uint8)).shape
        torch.Size([3, 30, 20])
    """

    _drawn = ("turns",)

    @staticmethod
    def get_params() -> int:
        """Draws the number of quarter turns, 0 to 3.

        Example:
            >>> from fastaug import pathology
            >>> 0 <= pathology.RandomQuarterTurn.get_params() < 4
            True
        """
        return _TORCH.randint(0, 4)

    def _sample(self, draft: Draft) -> int:
        draft.dimensions()
        if self.get_params is self._own_params:
            return draft.call.draws.randint(0, 4)
        turns: int = self._asked(draft)
        return turns

    def _draft(self, draft: Draft, params: int) -> None:
        draft.rot90(params)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class RandomDihedral(Transform):
    """One of the eight images that quarter turns and mirrors make of one, each as likely as the others.

    One ``torch.randint(0, 8, (1,))`` a call: that number & 3 is the number of quarter turns counter-clockwise, and from
    4 on a horizontal flip follows. Height and width change places at odd turns. A call that draws 0 hands out the
    object that it is given.

    Raises:
        TypeError: when called, not an image; nothing is drawn then.

    Example:
        >>> import torch
        >>> from fastaug import pathology
        >>> _ = torch.manual_seed(1)
        >>> pathology.RandomDihedral()(torch.zeros(3, 20, 30, dtype=torch.uint8)).shape
        torch.Size([3, 30, 20])
    """

    _drawn = ("element",)

    @staticmethod
    def get_params() -> int:
        """Draws the element of the group, 0 to 7.

        Example:
            >>> from fastaug import pathology
            >>> 0 <= pathology.RandomDihedral.get_params() < 8
            True
        """
        return _TORCH.randint(0, 8)

    def _sample(self, draft: Draft) -> int:
        draft.dimensions()
        if self.get_params is self._own_params:
            return draft.call.draws.randint(0, 8)
        element: int = self._asked(draft)
        return element

    def _draft(self, draft: Draft, params: int) -> None:
        draft.rot90(params & 3)
        if params & 4:
            draft.hflip()

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"
