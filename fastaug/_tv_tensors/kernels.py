"""torchvision's kernels for boxes and key points, on tensors. No function changes its input.

Boxes are (..., 4) in the formats XYXY, XYWH and CXCYWH, (..., 5) in XYWHR and CXCYWHR, (..., 8) in XYXYXYXY; points are
(..., 2). Both are of any dtype and on any device; a canvas is (height, width).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from fastaug._tv_tensors.boxes import BoxesDraft
from fastaug._tv_tensors.maps import Canvas
from fastaug._tv_tensors.points import PointsDraft


def horizontal_flip_bounding_boxes(bounding_boxes: Tensor, format: Any, canvas_size: Canvas) -> Tensor:
    """The kernel of :func:`horizontal_flip` for boxes; returns them."""
    draft = BoxesDraft(None, bounding_boxes, canvas_size, format)
    draft.horizontal_flip()
    return draft.plain()


def horizontal_flip_keypoints(keypoints: Tensor, canvas_size: Canvas) -> Tensor:
    """The kernel of :func:`horizontal_flip` for key points; returns them."""
    draft = PointsDraft(None, keypoints, canvas_size)
    draft.horizontal_flip()
    return draft.plain()


def vertical_flip_bounding_boxes(bounding_boxes: Tensor, format: Any, canvas_size: Canvas) -> Tensor:
    """The kernel of :func:`vertical_flip` for boxes; returns them."""
    draft = BoxesDraft(None, bounding_boxes, canvas_size, format)
    draft.vertical_flip()
    return draft.plain()


def vertical_flip_keypoints(keypoints: Tensor, canvas_size: Canvas) -> Tensor:
    """The kernel of :func:`vertical_flip` for key points; returns them."""
    draft = PointsDraft(None, keypoints, canvas_size)
    draft.vertical_flip()
    return draft.plain()


def resize_bounding_boxes(
    bounding_boxes: Tensor,
    canvas_size: Canvas,
    size: int | Sequence[int] | None,
    max_size: int | None = None,
    format: Any = "XYXY",
    clamping_mode: str | None = "soft",
) -> tuple[Tensor, Canvas]:
    """The kernel of :func:`resize` for boxes; returns them and the new canvas, as they were if the size stays."""
    draft = BoxesDraft(None, bounding_boxes, canvas_size, format, clamping_mode)
    draft.resize(size, max_size=max_size)
    return draft.plain(), draft.canvas_size


def resize_keypoints(
    keypoints: Tensor, size: int | Sequence[int] | None, canvas_size: Canvas, max_size: int | None = None
) -> tuple[Tensor, Canvas]:
    """The kernel of :func:`resize` for key points; returns them and the new canvas, as they were if the size stays."""
    draft = PointsDraft(None, keypoints, canvas_size)
    draft.resize(size, max_size=max_size)
    return draft.plain(), draft.canvas_size


def pad_bounding_boxes(
    bounding_boxes: Tensor,
    format: Any,
    canvas_size: Canvas,
    padding: int | Sequence[int],
    padding_mode: str = "constant",
    clamping_mode: str | None = "soft",
) -> tuple[Tensor, Canvas]:
    """The kernel of :func:`pad` for boxes; returns them and the new canvas."""
    draft = BoxesDraft(None, bounding_boxes, canvas_size, format, clamping_mode)
    draft.pad(padding, padding_mode=padding_mode)
    return draft.plain(), draft.canvas_size


def pad_keypoints(
    keypoints: Tensor, canvas_size: Canvas, padding: int | Sequence[int], padding_mode: str = "constant"
) -> tuple[Tensor, Canvas]:
    """The kernel of :func:`pad` for key points; returns them and the new canvas."""
    draft = PointsDraft(None, keypoints, canvas_size)
    draft.pad(padding, padding_mode=padding_mode)
    return draft.plain(), draft.canvas_size


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
    draft = BoxesDraft(None, bounding_boxes, (height, width), format, clamping_mode)
    draft.crop(top, left, height, width)
    return draft.plain(), draft.canvas_size


def crop_keypoints(keypoints: Tensor, top: int, left: int, height: int, width: int) -> tuple[Tensor, Canvas]:
    """The kernel of :func:`crop` for key points; returns them and the new canvas."""
    draft = PointsDraft(None, keypoints, (height, width))
    draft.crop(top, left, height, width)
    return draft.plain(), draft.canvas_size


def center_crop_bounding_boxes(
    bounding_boxes: Tensor,
    format: Any,
    canvas_size: Canvas,
    output_size: int | Sequence[int],
    clamping_mode: str | None = "soft",
) -> tuple[Tensor, Canvas]:
    """The kernel of :func:`center_crop` for boxes; returns them and the new canvas."""
    draft = BoxesDraft(None, bounding_boxes, canvas_size, format, clamping_mode)
    draft.center_crop(output_size)
    return draft.plain(), draft.canvas_size


def center_crop_keypoints(inpt: Tensor, canvas_size: Canvas, output_size: int | Sequence[int]) -> tuple[Tensor, Canvas]:
    """The kernel of :func:`center_crop` for key points; returns them and the new canvas."""
    draft = PointsDraft(None, inpt, canvas_size)
    draft.center_crop(output_size)
    return draft.plain(), draft.canvas_size


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
    draft = BoxesDraft(None, bounding_boxes, (height, width), format, clamping_mode)
    draft.resized_crop(top, left, height, width, size)
    return draft.plain(), draft.canvas_size


def resized_crop_keypoints(
    keypoints: Tensor, top: int, left: int, height: int, width: int, size: int | Sequence[int] | None
) -> tuple[Tensor, Canvas]:
    """The kernel of :func:`resized_crop` for key points; returns them and the new canvas."""
    draft = PointsDraft(None, keypoints, (height, width))
    draft.resized_crop(top, left, height, width, size)
    return draft.plain(), draft.canvas_size


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
    draft = BoxesDraft(None, bounding_boxes, canvas_size, format, clamping_mode)
    draft.affine(angle, translate, scale, shear, center=center)
    return draft.plain()


def affine_keypoints(
    keypoints: Tensor,
    canvas_size: Canvas,
    angle: int | float,
    translate: Sequence[float],
    scale: float,
    shear: Any,
    center: Sequence[float] | None = None,
) -> tuple[Tensor, Canvas]:
    """The kernel of :func:`affine` for key points; returns them and the new canvas."""
    draft = PointsDraft(None, keypoints, canvas_size)
    draft.affine(angle, translate, scale, shear, center=center)
    return draft.plain(), draft.canvas_size


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
    draft = BoxesDraft(None, bounding_boxes, canvas_size, format, clamping_mode)
    draft.rotate(angle, expand=expand, center=center)
    return draft.plain(), draft.canvas_size


def rotate_keypoints(
    keypoints: Tensor,
    canvas_size: Canvas,
    angle: float,
    expand: bool = False,
    center: Sequence[float] | None = None,
) -> tuple[Tensor, Canvas]:
    """The kernel of :func:`rotate` for key points; returns them and the new canvas."""
    draft = PointsDraft(None, keypoints, canvas_size)
    draft.rotate(angle, expand=expand, center=center)
    return draft.plain(), draft.canvas_size


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
    draft = BoxesDraft(None, bounding_boxes, canvas_size, format, clamping_mode)
    draft.perspective(startpoints, endpoints, coefficients=coefficients)
    return draft.plain()


def perspective_keypoints(
    keypoints: Tensor,
    canvas_size: Canvas,
    startpoints: Sequence[Sequence[int]] | None,
    endpoints: Sequence[Sequence[int]] | None,
    coefficients: Sequence[float] | None = None,
) -> Tensor:
    """The kernel of :func:`perspective` for key points; returns them."""
    draft = PointsDraft(None, keypoints, canvas_size)
    draft.perspective(startpoints, endpoints, coefficients=coefficients)
    return draft.plain()


def elastic_bounding_boxes(
    bounding_boxes: Tensor,
    format: Any,
    canvas_size: Canvas,
    displacement: Tensor,
    clamping_mode: str | None = "soft",
) -> Tensor:
    """The kernel of :func:`elastic` for boxes; returns them."""
    draft = BoxesDraft(None, bounding_boxes, canvas_size, format, clamping_mode)
    draft.elastic(displacement)
    return draft.plain()


def elastic_keypoints(keypoints: Tensor, canvas_size: Canvas, displacement: Tensor) -> Tensor:
    """The kernel of :func:`elastic` for key points; returns them."""
    draft = PointsDraft(None, keypoints, canvas_size)
    draft.elastic(displacement)
    return draft.plain()
