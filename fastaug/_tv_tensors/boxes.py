"""Bounding boxes under transforms.

Sizes and flips leave boxes that reach out of the canvas as they are; the others clamp them, where the clamping mode is
not None.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from fastaug import _C
from fastaug._tv_tensors import maps, moves, rotated
from fastaug._tv_tensors.draft import PlacesDraft
from fastaug._tv_tensors.formats import PLAIN, ROTATED, clamping_mode_of, converted, format_name, numbers_of
from fastaug._tv_tensors.maps import Canvas


def _clamps(clamping_mode: str | None) -> bool:
    if clamping_mode in ("soft", "hard", None):
        return clamping_mode is not None
    if clamping_mode == "auto":
        raise ValueError("For pure tensor inputs, `format`, `canvas_size` and `clamping_mode` have to be passed.")
    raise ValueError(f"clamping_mode must be soft, hard, auto or None, got {clamping_mode}")


def _clamped(boxes: Tensor, name: str, canvas_size: Canvas, clamping_mode: str | None) -> Tensor:
    """Cut boxes to the canvas by torch; a copy where the mode is None."""
    if not _clamps(clamping_mode):
        return boxes.clone()
    if name in ROTATED:
        return rotated.clamped(boxes, name, canvas_size, clamping_mode == "hard")
    height, width = canvas_size
    edges = converted(boxes.clone() if boxes.is_floating_point() else boxes.float(), name, "XYXY", inplace=True)
    edges[..., 0::2].clamp_(min=0, max=width)
    edges[..., 1::2].clamp_(min=0, max=height)
    return converted(edges, "XYXY", name, inplace=True).to(boxes.dtype)


def _corners(boxes: Tensor) -> Tensor:
    """Return the corners of XYXY as (points, 2), four for each."""
    return boxes[:, [[0, 1], [2, 1], [2, 3], [0, 3]]].reshape(-1, 2)


def _around(points: Tensor) -> Tensor:
    low, high = torch.aminmax(points.reshape(-1, 4, 2), dim=1)
    return torch.cat([low, high], dim=1)


class BoxesDraft(PlacesDraft):
    """The draft of BoundingBoxes, or of a plain tensor of boxes of any dtype and on any device."""

    __slots__ = ("_format", "_mode")

    _plural = "bounding boxes"

    def __init__(
        self,
        original: Any,
        given: Tensor | None = None,
        canvas_size: Any = None,
        format: Any = None,
        clamping_mode: str | None = "auto",
    ) -> None:
        super().__init__(original, given, canvas_size)
        self._format = format_name(original.format if given is None else format)
        self._mode: str | None = clamping_mode_of(original) if given is None else clamping_mode

    @property
    def format(self) -> Any:
        format = self.origin.format
        return format if format.name == self._format else type(format)[self._format]

    @property
    def clamping_mode(self) -> str | None:
        return self._mode

    @clamping_mode.setter
    def clamping_mode(self, mode: str | None) -> None:
        # torchvision makes a copy.
        if self.held is None:
            self._become(self.plain().clone())
        self._mode = mode
        self._moved()

    def _hold(self, tensor: Tensor) -> _C.Boxes | None:
        return moves.held_boxes(tensor, self._format, self._canvas)

    def _clamping(self) -> bool:
        return _clamps(self._mode)

    def _attributes(self) -> dict[str, Any]:
        return {"format": self.format, "canvas_size": self.canvas_size, "clamping_mode": self._mode}

    def _rows(self, boxes: Tensor, name: str) -> Tensor:
        return converted(boxes, self._format, name).reshape(-1, numbers_of(name))

    def _clamped_rows(self, rows: Tensor, name: str, canvas_size: Canvas) -> Tensor:
        """Clamp rows and convert them to the format and shape of the boxes."""
        boxes = converted(_clamped(rows, name, canvas_size, self._mode), name, self._format, inplace=True)
        return boxes.to(self._given.dtype).reshape(self._shape)

    def _flipped(self, axis: int) -> Tensor:
        name, size = self._format, self.canvas_size[1 - axis]
        boxes = self.plain().clone().reshape(-1, numbers_of(name))
        first = boxes[:, axis]
        if name == "XYXY":
            boxes[:, axis::2] = boxes[:, axis::2].flip(1).sub_(size).neg_()
        elif name == "XYWH":
            first.add_(boxes[:, axis + 2]).sub_(size).neg_()
        elif name == "XYXYXYXY":
            boxes[:, axis::2].sub_(size).neg_()
            boxes = boxes[:, [2, 3, 0, 1, 6, 7, 4, 5]]
        elif name == "XYWHR":
            radians = boxes[:, 4].mul(torch.pi).div(180)
            across, up = boxes[:, 2].mul(radians.cos()), boxes[:, 2].mul(radians.sin())
            boxes[:, 0].add_(across)
            boxes[:, 1].sub_(up)
            first.sub_(size).neg_()
        else:
            first.sub_(size).neg_()
        if name in ("XYWHR", "CXCYWHR"):
            angle = boxes[:, 4].neg_()
            if axis == 1:
                angle.add_(180)
        return boxes.reshape(self._shape)

    def _scaled(self, across: float, down: float, canvas_size: Canvas) -> Tensor:
        plain = self.plain()
        turned = self._format in ROTATED
        ratios = torch.tensor([across, down] * (4 if turned else 2), device=plain.device)
        if not turned:
            return plain.mul(ratios).to(plain.dtype)
        return self._clamped_rows(
            rotated.rectangles(self._rows(plain, "XYXYXYXY").mul(ratios)), "XYXYXYXY", canvas_size
        )

    def _shifted(self, by: Callable[..., Tensor], left: Any, top: Any, canvas_size: Canvas) -> Tensor:
        plain, name = self.plain(), self._format
        corners = {"XYXYXYXY": 4, "XYXY": 2}.get(name, 1)
        shift = [left, top] * corners + [0] * (numbers_of(name) - 2 * corners)
        moved = by(plain, torch.tensor(shift, dtype=plain.dtype, device=plain.device))
        if name == "XYXYXYXY" and by is torch.sub:
            moved = rotated.rectangles(moved)
        return _clamped(moved, name, canvas_size, self._mode)

    def _mapped(
        self, real: Tensor, move: Callable[[Tensor], Tensor], canvas_size: Canvas, corner: Tensor | None = None
    ) -> Tensor:
        turned = self._format in ROTATED
        between = "XYXYXYXY" if turned else "XYXY"
        boxes = self._rows(real, between)
        if turned:
            boxes = rotated.rectangles(move(boxes.reshape(-1, 2)).reshape(-1, 8))
        else:
            boxes = _around(move(_corners(boxes)))
        if corner is not None:
            boxes.sub_(corner.repeat((1, 4 if turned else 2)))
        return self._clamped_rows(boxes, between, canvas_size)

    def _displaced(self, displacement: Tensor) -> Tensor:
        plain = self.plain()
        dtype = plain.dtype if plain.is_floating_point() else torch.float32
        turned = self._format in ROTATED
        between = "CXCYWHR" if turned else "XYXY"
        boxes = self._rows(plain, between)
        points = boxes[:, :2] if turned else _corners(boxes)
        # Of rotated boxes only the middle moves.
        pixels = (points.ceil() if points.is_floating_point() else points).to(torch.long)
        moved = maps.displaced(pixels, self.canvas_size, displacement, dtype)
        boxes = (torch.cat([moved, boxes[:, 2:]], dim=1) if turned else _around(moved)).to(boxes.dtype)
        return self._clamped_rows(boxes, between, self.canvas_size)

    def convert_bounding_box_format(self, new_format: Any) -> None:
        name = format_name(new_format)
        if name == self._format:
            return self._touch()
        held = self.held
        if held is None or name not in PLAIN:
            self._become(converted(self.plain(), self._format, name))
        else:
            held.convert(PLAIN.index(name))
            self._moved()
        self._format = name

    def clamp(self, clamping_mode: str | None = "auto") -> None:
        mode = self._mode if clamping_mode == "auto" else clamping_mode
        held = self.held if _clamps(mode) else None
        if held is None:
            return self._become(_clamped(self.plain(), self._format, self.canvas_size, mode))
        held.clamp()
        self._moved()

    def sanitize(self, min_size: float = 1.0, min_area: float = 1.0) -> Tensor:
        """Return which boxes are large enough and wholly on the canvas, a bool for each; none is removed."""
        held = self.held if len(self._shape) == 2 else None
        valid = None if held is None else moves.valid_boxes(held, min_size, min_area)
        if valid is not None:
            return valid
        height, width = self.canvas_size
        turned = self._format in ROTATED
        edges = converted(self.plain(), self._format, "XYXYXYXY" if turned else "XYXY")
        if turned:
            across = (edges[..., 0] - edges[..., 2]).pow(2) + (edges[..., 1] - edges[..., 3]).pow(2)
            # The second side is measured along both axes at once, as in torchvision.
            down = (edges[..., 3] - edges[..., 5]).pow(2) + (edges[..., 4] - edges[..., 6]).pow(2)
            widths, heights = torch.sqrt(across), torch.sqrt(down)
        else:
            widths, heights = edges[:, 2] - edges[:, 0], edges[:, 3] - edges[:, 1]
        valid = (widths >= min_size) & (heights >= min_size) & (edges >= 0).all(dim=-1) & (widths * heights >= min_area)
        return valid & (edges[..., 0::2] <= width).all(dim=-1) & (edges[..., 1::2] <= height).all(dim=-1)

    def keep(self, kept: Tensor) -> None:
        """Remove all boxes but these, a bool for each."""
        held = self.held
        if held is None or not moves.readable_mask(kept, held.count):
            return self._become(self.plain()[kept])
        held.keep(kept.data_ptr())
        self._shape = (held.count, 4)
        self._moved()

    def clear_but(self, kept: Tensor) -> None:
        """Make all boxes but these zeros, a bool for each, as RandomIoUCrop does to those outside of it."""
        held = self.held
        if held is None or not moves.readable_mask(kept, held.count):
            tensor = self.plain().clone()
            tensor[~kept] = 0
            return self._become(tensor)
        held.clear_but(kept.data_ptr())
        self._moved()

    def for_draws(self) -> _C.Boxes | Callable[[], Tensor]:
        """Return the boxes as `Draws.iou_crop` takes them."""
        held = self.held
        return held if held is not None else lambda: converted(self.plain(), self._format, "XYXY")
