"""torchvision's kernels for bounding boxes, on tensors.

Boxes are (..., 4) in the formats XYXY, XYWH and CXCYWH, (..., 5) in XYWHR and CXCYWHR, (..., 8) in XYXYXYXY, of any
dtype and on any device; a canvas is (height, width). Sizes and flips leave boxes that reach out of the canvas as they
are; the others clamp them, where the clamping mode is not None. No function changes its input.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from fastaug._tv_tensors import maps, moves, rotated
from fastaug._tv_tensors.formats import ROTATED, converted, format_name, numbers_of
from fastaug._tv_tensors.maps import Canvas


def clamps(clamping_mode: str | None) -> tuple[bool]:
    """Whether a mode is one of clamping, for `moves`."""
    if clamping_mode in ("soft", "hard", None):
        return (clamping_mode is not None,)
    if clamping_mode == "auto":
        raise ValueError("For pure tensor inputs, `format`, `canvas_size` and `clamping_mode` have to be passed.")
    raise ValueError(f"clamping_mode must be soft, hard, auto or None, got {clamping_mode}")


def _clamped(boxes: Tensor, name: str, canvas_size: Canvas, clamping_mode: str | None) -> Tensor:
    (clamping,) = clamps(clamping_mode)
    if name in ROTATED:
        return rotated.clamped(boxes, name, canvas_size, clamping_mode)
    if not clamping:
        return boxes.clone()
    held = moves.held_boxes(boxes, name, canvas_size)
    if held is not None:
        held.clamp()
        return moves.tensor_of(held, boxes.shape)
    height, width = canvas_size
    edges = converted(boxes.clone() if boxes.is_floating_point() else boxes.float(), name, "XYXY", inplace=True)
    edges[..., 0::2].clamp_(min=0, max=width)
    edges[..., 1::2].clamp_(min=0, max=height)
    return converted(edges, "XYXY", name, inplace=True).to(boxes.dtype)


def clamped(boxes: Tensor, format: Any, canvas_size: Canvas, clamping_mode: str | None) -> Tensor:
    """Boxes cut to the canvas; a copy where the clamping mode is None.

    Raises:
        ValueError: a clamping mode that is neither "soft", "hard" nor None.
    """
    return _clamped(boxes, format_name(format), canvas_size, clamping_mode)


def horizontal_flip_bounding_boxes(bounding_boxes: Tensor, format: Any, canvas_size: Canvas) -> Tensor:
    """The kernel of :func:`horizontal_flip` for boxes; returns them."""
    return _flipped(bounding_boxes, format_name(format), canvas_size[1], 0)


def vertical_flip_bounding_boxes(bounding_boxes: Tensor, format: Any, canvas_size: Canvas) -> Tensor:
    """The kernel of :func:`vertical_flip` for boxes; returns them."""
    return _flipped(bounding_boxes, format_name(format), canvas_size[0], 1)


def _flipped(bounding_boxes: Tensor, name: str, size: int, axis: int) -> Tensor:
    """Mirrored along x, axis 0, or along y, axis 1."""
    held = moves.held_boxes(bounding_boxes, name, (size, size))
    if held is not None:
        (held.vflip if axis else held.hflip)()
        return moves.tensor_of(held, bounding_boxes.shape)
    boxes = bounding_boxes.clone().reshape(-1, numbers_of(name))
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
    return boxes.reshape(bounding_boxes.shape)


def resize_bounding_boxes(
    bounding_boxes: Tensor,
    canvas_size: Canvas,
    size: int | Sequence[int] | None,
    max_size: int | None = None,
    format: Any = "XYXY",
    clamping_mode: str | None = "soft",
) -> tuple[Tensor, Canvas]:
    """The kernel of :func:`resize` for boxes; returns them and the new canvas, as they were if the size stays."""
    name = format_name(format)
    height, width = maps.resized_canvas(canvas_size, size, max_size)
    if (height, width) == tuple(canvas_size):
        return bounding_boxes, canvas_size
    held = moves.held_boxes(bounding_boxes, name, canvas_size)
    if held is not None and moves.resize_to(held, height, width):
        return moves.tensor_of(held, bounding_boxes.shape), held.canvas
    pair = [width / canvas_size[1], height / canvas_size[0]]
    if name not in ROTATED:
        ratios = torch.tensor(pair * 2, device=bounding_boxes.device)
        return bounding_boxes.mul(ratios).to(bounding_boxes.dtype), (height, width)
    corners = converted(bounding_boxes, name, "XYXYXYXY").reshape(-1, 8)
    moved = rotated.rectangles(corners.mul(torch.tensor(pair * 4, device=bounding_boxes.device)))
    moved = _clamped(moved, "XYXYXYXY", (height, width), clamping_mode)
    boxes = converted(moved, "XYXYXYXY", name).to(bounding_boxes.dtype)
    return boxes.reshape(bounding_boxes.shape), (height, width)


def _shift(name: str, left: int, top: int) -> list[int]:
    if name == "XYXYXYXY":
        return [left, top] * 4
    return [left, top] * 2 if name == "XYXY" else [left, top] + [0] * (numbers_of(name) - 2)


def pad_bounding_boxes(
    bounding_boxes: Tensor,
    format: Any,
    canvas_size: Canvas,
    padding: int | Sequence[int],
    padding_mode: str = "constant",
    clamping_mode: str | None = "soft",
) -> tuple[Tensor, Canvas]:
    """The kernel of :func:`pad` for boxes; returns them and the new canvas."""
    name = format_name(format)
    if padding_mode != "constant":
        raise ValueError(f"Padding mode '{padding_mode}' is not supported with bounding boxes, only 'constant' is")
    left, top, right, bottom = maps.padding_sides(padding)
    held = moves.held_boxes(bounding_boxes, name, canvas_size)
    if held is not None and moves.pad(held, clamps(clamping_mode), padding):
        return moves.tensor_of(held, bounding_boxes.shape), held.canvas
    shift = torch.tensor(_shift(name, left, top), dtype=bounding_boxes.dtype, device=bounding_boxes.device)
    size = canvas_size[0] + top + bottom, canvas_size[1] + left + right
    return _clamped(bounding_boxes + shift, name, size, clamping_mode), size


def crop_bounding_boxes(
    bounding_boxes: Tensor,
    format: Any,
    top: int,
    left: int,
    height: int,
    width: int,
    clamping_mode: str | None = "soft",
) -> tuple[Tensor, Canvas]:
    """The kernel of :func:`crop` for boxes; returns them and the new canvas."""
    name = format_name(format)
    held = moves.held_boxes(bounding_boxes, name, (height, width))
    if held is not None and moves.crop(held, clamps(clamping_mode), top, left, height, width):
        return moves.tensor_of(held, bounding_boxes.shape), held.canvas
    shift = torch.tensor(_shift(name, left, top), dtype=bounding_boxes.dtype, device=bounding_boxes.device)
    boxes = bounding_boxes - shift
    if name == "XYXYXYXY":
        boxes = rotated.rectangles(boxes)
    return _clamped(boxes, name, (height, width), clamping_mode), (height, width)


def center_crop_bounding_boxes(
    bounding_boxes: Tensor,
    format: Any,
    canvas_size: Canvas,
    output_size: int | Sequence[int],
    clamping_mode: str | None = "soft",
) -> tuple[Tensor, Canvas]:
    """The kernel of :func:`center_crop` for boxes; returns them and the new canvas."""
    height, width = maps.output_size(output_size)
    top, left = maps.central_corner(height, width, canvas_size)
    return crop_bounding_boxes(bounding_boxes, format, top, left, height, width, clamping_mode)


def resized_crop_bounding_boxes(
    bounding_boxes: Tensor,
    format: Any,
    top: int,
    left: int,
    height: int,
    width: int,
    size: int | Sequence[int] | None,
    clamping_mode: str | None = "soft",
) -> tuple[Tensor, Canvas]:
    """The kernel of :func:`resized_crop` for boxes; returns them and the new canvas."""
    boxes, canvas_size = crop_bounding_boxes(bounding_boxes, format, top, left, height, width, clamping_mode)
    return resize_bounding_boxes(boxes, canvas_size, size, None, format, clamping_mode)


def _corners(boxes: Tensor) -> Tensor:
    """Four points of each XYXY: (points, 2)."""
    return boxes[:, [[0, 1], [2, 1], [2, 3], [0, 3]]].reshape(-1, 2)


def _around(points: Tensor) -> Tensor:
    """XYXY around each four points."""
    low, high = torch.aminmax(points.reshape(-1, 4, 2), dim=1)
    return torch.cat([low, high], dim=1)


def _affine(
    bounding_boxes: Tensor,
    format: Any,
    canvas_size: Canvas,
    angle: Any,
    translate: Any,
    scale: Any,
    shear: Any,
    center: Any,
    expand: bool,
    clamping_mode: str | None,
) -> tuple[Tensor, Canvas]:
    name = format_name(format)
    if bounding_boxes.numel() == 0:
        # With the canvas as it was, even if images expand.
        return bounding_boxes, canvas_size
    held = moves.held_boxes(bounding_boxes, name, canvas_size)
    if held is not None:
        moves.affine(held, clamps(clamping_mode), angle, translate, scale, shear, center, expand)
        return moves.tensor_of(held, bounding_boxes.shape), held.canvas
    forth, back = maps.affine_matrices(canvas_size, angle, translate, scale, shear, center)
    real = bounding_boxes.clone() if bounding_boxes.is_floating_point() else bounding_boxes.float()
    turned = name in ROTATED
    between = "XYXYXYXY" if turned else "XYXY"
    boxes = converted(real, name, between, inplace=True).reshape(-1, 8 if turned else 4)
    if turned:
        boxes = rotated.rectangles(maps.mapped(boxes.reshape(-1, 2), forth).reshape(-1, 8))
    else:
        boxes = _around(maps.mapped(_corners(boxes), forth))
    if expand:
        boxes.sub_(maps.corner_of(canvas_size, forth, boxes).repeat((1, 4 if turned else 2)))
        canvas_size = maps.expanded_canvas(back, canvas_size)
    boxes = _clamped(boxes, between, canvas_size, clamping_mode)
    boxes = converted(boxes, between, name, inplace=True).reshape(bounding_boxes.shape)
    return boxes.to(bounding_boxes.dtype), canvas_size


def affine_bounding_boxes(
    bounding_boxes: Tensor,
    format: Any,
    canvas_size: Canvas,
    angle: int | float,
    translate: Sequence[float],
    scale: float,
    shear: Any,
    center: Sequence[float] | None = None,
    clamping_mode: str | None = "soft",
) -> Tensor:
    """The kernel of :func:`affine` for boxes; returns them."""
    return _affine(bounding_boxes, format, canvas_size, angle, translate, scale, shear, center, False, clamping_mode)[0]


def rotate_bounding_boxes(
    bounding_boxes: Tensor,
    format: Any,
    canvas_size: Canvas,
    angle: float,
    expand: bool = False,
    center: Sequence[float] | None = None,
    clamping_mode: str | None = "soft",
) -> tuple[Tensor, Canvas]:
    """The kernel of :func:`rotate` for boxes; returns them and the new canvas."""
    return _affine(
        bounding_boxes, format, canvas_size, -angle, [0.0, 0.0], 1.0, [0.0, 0.0], center, expand, clamping_mode
    )


def perspective_bounding_boxes(
    bounding_boxes: Tensor,
    format: Any,
    canvas_size: Canvas,
    startpoints: Sequence[Sequence[int]] | None,
    endpoints: Sequence[Sequence[int]] | None,
    coefficients: Sequence[float] | None = None,
    clamping_mode: str | None = "soft",
) -> Tensor:
    """The kernel of :func:`perspective` for boxes; returns them."""
    name = format_name(format)
    if bounding_boxes.numel() == 0:
        return bounding_boxes
    held = moves.held_boxes(bounding_boxes, name, canvas_size)
    if held is not None:
        moves.perspective(held, clamps(clamping_mode), startpoints, endpoints, coefficients, "bounding boxes")
        return moves.tensor_of(held, bounding_boxes.shape)
    numbers = maps.checked_coefficients(startpoints, endpoints, coefficients)
    inverse = maps.inverse_perspective(numbers, "bounding boxes")
    turned = name in ROTATED
    between = "XYXYXYXY" if turned else "XYXY"
    boxes = converted(bounding_boxes, name, between).reshape(-1, 8 if turned else 4)
    if turned:
        boxes = rotated.rectangles(maps.projected(boxes.reshape(-1, 2), inverse).reshape(-1, 8))
    else:
        boxes = _around(maps.projected(_corners(boxes), inverse))
    boxes = _clamped(boxes, between, canvas_size, clamping_mode)
    boxes = converted(boxes, between, name, inplace=True).reshape(bounding_boxes.shape)
    return boxes.to(bounding_boxes.dtype)


def elastic_bounding_boxes(
    bounding_boxes: Tensor,
    format: Any,
    canvas_size: Canvas,
    displacement: Tensor,
    clamping_mode: str | None = "soft",
) -> Tensor:
    """The kernel of :func:`elastic` for boxes; returns them."""
    name = format_name(format)
    maps.check_displacement(displacement, canvas_size)
    if bounding_boxes.numel() == 0:
        return bounding_boxes
    held = moves.held_boxes(bounding_boxes, name, canvas_size)
    if held is not None and moves.elastic(held, clamps(clamping_mode), displacement):
        return moves.tensor_of(held, bounding_boxes.shape)
    dtype = bounding_boxes.dtype if bounding_boxes.is_floating_point() else torch.float32
    turned = name in ROTATED
    between = "CXCYWHR" if turned else "XYXY"
    boxes = converted(bounding_boxes, name, between).reshape(-1, 5 if turned else 4)
    points = boxes[:, :2] if turned else _corners(boxes)
    # Of rotated boxes only the middle moves.
    pixels = (points.ceil() if points.is_floating_point() else points).to(torch.long)
    moved = maps.displaced(pixels, canvas_size, displacement, dtype)
    boxes = (torch.cat([moved, boxes[:, 2:]], dim=1) if turned else _around(moved)).to(boxes.dtype)
    boxes = _clamped(boxes, between, canvas_size, clamping_mode)
    return converted(boxes, between, name).reshape(bounding_boxes.shape)


def valid_boxes(boxes: Tensor, format: Any, canvas_size: Canvas, min_size: float, min_area: float) -> Tensor:
    """Whether each box is inside of the canvas, and no side and no area is below its least: a bool for each."""
    name = format_name(format)
    held = moves.held_boxes(boxes, name, canvas_size) if boxes.ndim == 2 else None
    valid = None if held is None else moves.valid_boxes(held, min_size, min_area)
    if valid is not None:
        return valid
    height, width = canvas_size
    turned = name in ROTATED
    edges = converted(boxes, name, "XYXYXYXY" if turned else "XYXY")
    if turned:
        across = (edges[..., 0] - edges[..., 2]).pow(2) + (edges[..., 1] - edges[..., 3]).pow(2)
        # The second side is measured along both axes at once, as in torchvision.
        down = (edges[..., 3] - edges[..., 5]).pow(2) + (edges[..., 4] - edges[..., 6]).pow(2)
        widths, heights = torch.sqrt(across), torch.sqrt(down)
    else:
        widths, heights = edges[:, 2] - edges[:, 0], edges[:, 3] - edges[:, 1]
    valid = (widths >= min_size) & (heights >= min_size) & (edges >= 0).all(dim=-1) & (widths * heights >= min_area)
    return valid & (edges[..., 0::2] <= width).all(dim=-1) & (edges[..., 1::2] <= height).all(dim=-1)
