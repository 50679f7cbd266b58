"""Key points under transforms. Nothing clamps them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from fastaug import _C
from fastaug._tv_tensors import maps, moves
from fastaug._tv_tensors.draft import PlacesDraft
from fastaug._tv_tensors.maps import Canvas


class PointsDraft(PlacesDraft):
    """The draft of KeyPoints, or of a plain tensor of (..., 2), x before y, of any dtype and on any device."""

    __slots__ = ()

    _plural = "keypoints"

    def _hold(self, tensor: Tensor) -> _C.Points | None:
        return moves.held_points(tensor, self._canvas)

    def _clamping(self) -> bool:
        return False

    def _attributes(self) -> dict[str, Any]:
        return {"canvas_size": self.canvas_size}

    def _flipped(self, axis: int) -> Tensor:
        points = self.plain().clone().reshape(-1, 2)
        points[:, axis].sub_(self.canvas_size[1 - axis] - 1).neg_()
        return points.reshape(self._shape)

    def _scaled(self, across: float, down: float, canvas_size: Canvas) -> Tensor:
        plain = self.plain()
        return plain.mul(torch.tensor([across, down], device=plain.device)).to(plain.dtype)

    def _shifted(self, by: Callable[..., Tensor], left: Any, top: Any, canvas_size: Canvas) -> Tensor:
        plain = self.plain()
        return by(plain, torch.tensor([left, top], dtype=plain.dtype, device=plain.device))

    def _mapped(
        self, real: Tensor, move: Callable[[Tensor], Tensor], canvas_size: Canvas, corner: Tensor | None = None
    ) -> Tensor:
        moved = move(real.reshape(-1, 2))
        if corner is not None:
            moved.sub_(corner)
        return moved.reshape(self._shape).to(self._given.dtype)

    def _displaced(self, displacement: Tensor) -> Tensor:
        plain = self.plain()
        dtype = plain.dtype if plain.is_floating_point() else torch.float32
        moved = maps.displaced(plain.reshape(-1, 2).to(torch.long), self.canvas_size, displacement, dtype)
        return moved.to(plain.dtype).reshape(self._shape)

    def clamp(self) -> None:
        """Move points onto the pixels of the canvas: x from 0 to its width - 1, y to its height - 1."""
        held = self.held
        if held is not None:
            held.clamp()
            return self._moved()
        plain = self.plain()
        real = plain.clone() if plain.is_floating_point() else plain.float()
        real[..., 0].clamp_(min=0, max=self.width - 1)
        real[..., 1].clamp_(min=0, max=self.height - 1)
        self._become(real.to(plain.dtype))

    def sanitize(self) -> Tensor:
        """Return which points, or groups of points, are wholly on the canvas, a bool for each; none is removed."""
        held = self.held if len(self._shape) > 1 else None
        if held is not None:
            return moves.valid_points(held, self._shape)
        x, y = self.plain()[..., 0], self.plain()[..., 1]
        valid = (x >= 0) & (x < self.width) & (y >= 0) & (y < self.height)
        return valid.flatten(start_dim=1).all(dim=1) if valid.ndim > 1 else valid

    def keep(self, kept: Tensor) -> None:
        """Remove all points, or groups of points, but these, a bool for each."""
        held = self.held
        groups = self._shape[0]
        if held is None or len(self._shape) < 2 or not moves.readable_mask(kept, groups) or not held.count:
            return self._become(self.plain()[kept])
        held.keep(kept.data_ptr(), held.count // groups)
        self._shape = torch.Size((int(kept.sum()), *self._shape[1:]))
        self._moved()
