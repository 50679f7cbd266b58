"""Rotated boxes, by torch alone.

torch.sqrt, atan2, cos and sin round differently in a vector than alone, so only the same calls on as many numbers equal
torchvision's.
"""

from __future__ import annotations

import torch
from torch import Tensor

from fastaug._tv_tensors.formats import converted


def rectangles(corners: Tensor) -> Tensor:
    """Return the rectangles on the longer diagonals of the parallelograms of mapped corners, XYXYXYXY (..., 8)."""
    real = corners if corners.dtype in (torch.float32, torch.float64) else corners.to(torch.float32)
    x1, y1, x2, y2, x3, y3, x4, y4 = real.unbind(-1)
    middle_x, middle_y = (x1 + x3) / 2, (y1 + y3) / 2
    first = torch.sqrt((x2 - x1).pow(2) + (y2 - y1).pow(2))
    second = torch.sqrt((x4 - x1).pow(2) + (y4 - y1).pow(2))
    along = torch.atan2(y1 - y2, x2 - x1)
    beside = torch.atan2(y1 - y4, x4 - x1)
    between = along - beside
    sign = torch.where(between > torch.pi / 2, -1, 1)
    cos, sin = between.cos(), between.sin()
    width = torch.where(first < second, first * sin, first + second * cos * sign)
    height = torch.where(first > second, second * sin, second + first * cos * sign)
    angle = torch.where(second > first, beside + torch.pi / 2, along)
    cos, sin = angle.cos(), angle.sin()
    half_width, half_height = width / 2, height / 2
    right, rise = half_width * cos, half_width * sin
    shift, fall = half_height * sin, half_height * cos
    ends = (
        middle_x - right - shift,
        middle_y - fall + rise,
        middle_x + right - shift,
        middle_y - fall - rise,
        middle_x + right + shift,
        middle_y + fall - rise,
        middle_x - right + shift,
        middle_y + fall + rise,
    )
    return torch.stack(ends, -1).to(corners.dtype)


def clamped(boxes: Tensor, name: str, canvas_size: tuple[int, int], hard: bool) -> Tensor:
    """Cut boxes to the canvas, and keep their angles.

    Each pass clamps boxes at the left edge, and then turns them by a quarter. Sides are lines y = a x + b, and the
    intercepts b are clamped. The mode "soft" gives the smallest box around the part inside, "hard" the largest inside.
    """
    corners = converted(boxes.clone(), name, "XYXYXYXY").reshape(-1, 8)
    before = corners.clone()
    height, width = canvas_size
    for _ in range(4):
        order = _from_the_left(corners)
        corners, before = corners.gather(1, order), before.gather(1, order)
        corners = _clamped_on_the_left(corners, before, (height, width), hard)
        # torchvision applies the same order again, and not its inverse.
        corners, before = corners.gather(1, order), before.gather(1, order)
        corners, before = _quarter_turned(corners, width), _quarter_turned(before, width)
        height, width = width, height
    return converted(corners, "XYXYXYXY", name).reshape(boxes.shape)


def _from_the_left(corners: Tensor) -> Tensor:
    """Return the order of each box's numbers that begins with its leftmost corner, and the upper one of two."""
    x, y = corners[:, 0::2], corners[:, 1::2]
    tallest = torch.max(y.abs(), dim=1, keepdim=True)[0]
    widest = torch.max(x.abs(), dim=1, keepdim=True)[0]
    first = (y / tallest + (x / widest) * 100).min(dim=1)[1]
    return (torch.arange(8, device=corners.device) + first.mul(2).unsqueeze(1)) % 8


def _quarter_turned(corners: Tensor, width: int) -> Tensor:
    return torch.stack((corners[:, 1::2], width - corners[:, 0::2]), -1).reshape(-1, 8)


def _lines(corners: Tensor) -> tuple[Tensor, Tensor]:
    """Return the slopes and intercepts of the lines from each corner to the next."""
    x, y = corners[:, 0::2], corners[:, 1::2]
    slopes = (y.roll(-1, 1) - y) / (x.roll(-1, 1) - x)
    return slopes, y - slopes * x


def _clamped_intercepts(
    slopes: Tensor, intercepts: Tensor, limits: Tensor, canvas_size: tuple[int, int], hard: bool
) -> Tensor:
    height, width = canvas_size
    a1, a2, a3, a4 = slopes.unbind(-1)
    old1, old2, old3, old4 = intercepts.unbind(-1)
    low1, low2, high1, high2 = limits.unbind(-1)
    b1 = old2.clamp(old1, old3).clamp(0, height)
    b2, b3 = old2, old3
    b4 = old3.clamp(old2, old4).clamp(0, height)
    if hard:
        b1 = b4 = (b1 + b4) / 2
        meets_left = (b1 * a2 / a1, b3 * a2 / a3, (a1 - a2) * width + b1, (a3 - a2) * width + b3)
        b2 = torch.stack(meets_left, 1).max(1)[0].clamp(max=old2)
        meets_right = (
            height * (1 - a3 / a4) + b4 * a3 / a4,
            height * (1 - a3 / a2) + b2 * a3 / a2,
            (a2 - a3) * width + b2,
            (a4 - a3) * width + b4,
        )
        b3 = torch.stack(meets_right, 1).min(1)[0].clamp(min=old3)
        # The first and the last are one tensor in torchvision, which clamps it in place by both pairs of limits.
        b1 = b4 = b1.clamp(low1, high1).clamp(low2, high2)
    else:
        b1, b4 = b1.clamp(low1, high1), b4.clamp(low2, high2)
    return torch.stack((b1, b2.clamp(low2, high2), b3.clamp(low1, high1), b4), -1)


def _clamped_on_the_left(corners: Tensor, before: Tensor, canvas_size: tuple[int, int], hard: bool) -> Tensor:
    slopes, intercepts = _lines(corners)
    new = _clamped_intercepts(slopes, intercepts, _lines(before)[1], canvas_size, hard)
    # Corners are where neighbouring lines cross.
    x = (new - new.roll(1, 1)).neg() / (slopes - slopes.roll(1, 1))
    crossings = torch.stack((x, slopes * x + new), -1).reshape(-1, 8)
    cut = corners.clone()
    cut[:, 0].clamp_(0)
    cut[:, 6].clamp_(0)

    x1, y1, x2, y2, x3, y3, x4, y4 = corners.unbind(-1)
    reaches_out = (x1 < 0) & ~crossings.isnan().any(-1)
    upright = y1.isclose(y2) | y3.isclose(y4)
    outside = (x1 <= 0) & (x2 <= 0) & (x3 <= 0) & (x4 <= 0)
    gone = outside | y1.isclose(y4) | y2.isclose(y3) | (upright & x1.isclose(x2))
    for condition, instead in ((reaches_out, crossings), (upright, cut), (gone, torch.zeros_like(cut))):
        corners = torch.where(condition.unsqueeze(1), instead, corners)
    return corners
