"""torchvision's kernels for boxes and key points, on tensors. No function changes its input.

Boxes are (..., 4) in the formats XYXY, XYWH and CXCYWH, (..., 5) in XYWHR and CXCYWHR, (..., 8) in XYXYXYXY; points are
(..., 2). Both are of any dtype and on any device; a canvas is (height, width).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor

from fastaug._tv_tensors.boxes import BoxesDraft
from fastaug._tv_tensors.draft import PlacesDraft
from fastaug._tv_tensors.maps import Canvas
from fastaug._tv_tensors.points import PointsDraft

__all__: list[str] = []
__all__ += ["affine_bounding_boxes", "affine_keypoints"]
__all__ += ["center_crop_bounding_boxes", "center_crop_keypoints"]
__all__ += ["crop_bounding_boxes", "crop_keypoints"]
__all__ += ["elastic_bounding_boxes", "elastic_keypoints"]
__all__ += ["horizontal_flip_bounding_boxes", "horizontal_flip_keypoints"]
__all__ += ["pad_bounding_boxes", "pad_keypoints"]
__all__ += ["perspective_bounding_boxes", "perspective_keypoints"]
__all__ += ["resize_bounding_boxes", "resize_keypoints"]
__all__ += ["resized_crop_bounding_boxes", "resized_crop_keypoints"]
__all__ += ["rotate_bounding_boxes", "rotate_keypoints"]
__all__ += ["vertical_flip_bounding_boxes", "vertical_flip_keypoints"]


def _moved(draft: PlacesDraft, move: Callable[..., None], *args: Any, **kwargs: Any) -> tuple[Tensor, Canvas]:
    move(draft, *args, **kwargs)
    return draft.plain(), draft.canvas_size


def horizontal_flip_bounding_boxes(bounding_boxes: Tensor, format: Any, canvas_size: Canvas) -> Tensor:
    """The kernel of :func:`horizontal_flip` for boxes; returns them."""
    return _moved(BoxesDraft(None, bounding_boxes, canvas_size, format), PlacesDraft.horizontal_flip)[0]


def horizontal_flip_keypoints(keypoints: Tensor, canvas_size: Canvas) -> Tensor:
    """The kernel of :func:`horizontal_flip` for key points; returns them."""
    return _moved(PointsDraft(None, keypoints, canvas_size), PlacesDraft.horizontal_flip)[0]


def vertical_flip_bounding_boxes(bounding_boxes: Tensor, format: Any, canvas_size: Canvas) -> Tensor:
    """The kernel of :func:`vertical_flip` for boxes; returns them."""
    return _moved(BoxesDraft(None, bounding_boxes, canvas_size, format), PlacesDraft.vertical_flip)[0]


def vertical_flip_keypoints(keypoints: Tensor, canvas_size: Canvas) -> Tensor:
    """The kernel of :func:`vertical_flip` for key points; returns them."""
    return _moved(PointsDraft(None, keypoints, canvas_size), PlacesDraft.vertical_flip)[0]


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
    return _moved(draft, PlacesDraft.resize, size, max_size=max_size)


def resize_keypoints(
    keypoints: Tensor, size: int | Sequence[int] | None, canvas_size: Canvas, max_size: int | None = None
) -> tuple[Tensor, Canvas]:
    """The kernel of :func:`resize` for key points; returns them and the new canvas, as they were if the size stays."""
    return _moved(PointsDraft(None, keypoints, canvas_size), PlacesDraft.resize, size, max_size=max_size)


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
    return _moved(draft, PlacesDraft.pad, padding, padding_mode=padding_mode)


def pad_keypoints(
    keypoints: Tensor, canvas_size: Canvas, padding: int | Sequence[int], padding_mode: str = "constant"
) -> tuple[Tensor, Canvas]:
    """The kernel of :func:`pad` for key points; returns them and the new canvas."""
    return _moved(PointsDraft(None, keypoints, canvas_size), PlacesDraft.pad, padding, padding_mode=padding_mode)


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
    return _moved(draft, PlacesDraft.crop, top, left, height, width)


def crop_keypoints(keypoints: Tensor, top: int, left: int, height: int, width: int) -> tuple[Tensor, Canvas]:
    """The kernel of :func:`crop` for key points; returns them and the new canvas."""
    return _moved(PointsDraft(None, keypoints, (height, width)), PlacesDraft.crop, top, left, height, width)


def center_crop_bounding_boxes(
    bounding_boxes: Tensor,
    format: Any,
    canvas_size: Canvas,
    output_size: int | Sequence[int],
    clamping_mode: str | None = "soft",
) -> tuple[Tensor, Canvas]:
    """The kernel of :func:`center_crop` for boxes; returns them and the new canvas."""
    draft = BoxesDraft(None, bounding_boxes, canvas_size, format, clamping_mode)
    return _moved(draft, PlacesDraft.center_crop, output_size)


def center_crop_keypoints(inpt: Tensor, canvas_size: Canvas, output_size: int | Sequence[int]) -> tuple[Tensor, Canvas]:
    """The kernel of :func:`center_crop` for key points; returns them and the new canvas."""
    return _moved(PointsDraft(None, inpt, canvas_size), PlacesDraft.center_crop, output_size)


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
    return _moved(draft, PlacesDraft.resized_crop, top, left, height, width, size)


def resized_crop_keypoints(
    keypoints: Tensor, top: int, left: int, height: int, width: int, size: int | Sequence[int] | None
) -> tuple[Tensor, Canvas]:
    """The kernel of :func:`resized_crop` for key points; returns them and the new canvas."""
    draft = PointsDraft(None, keypoints, (height, width))
    return _moved(draft, PlacesDraft.resized_crop, top, left, height, width, size)


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
    return _moved(draft, PlacesDraft.affine, angle, translate, scale, shear, center=center)[0]


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
    return _moved(draft, PlacesDraft.affine, angle, translate, scale, shear, center=center)


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
    return _moved(draft, PlacesDraft.rotate, angle, expand=expand, center=center)


def rotate_keypoints(
    keypoints: Tensor,
    canvas_size: Canvas,
    angle: float,
    expand: bool = False,
    center: Sequence[float] | None = None,
) -> tuple[Tensor, Canvas]:
    """The kernel of :func:`rotate` for key points; returns them and the new canvas."""
    return _moved(PointsDraft(None, keypoints, canvas_size), PlacesDraft.rotate, angle, expand=expand, center=center)


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
    return _moved(draft, PlacesDraft.perspective, startpoints, endpoints, coefficients=coefficients)[0]


def perspective_keypoints(
    keypoints: Tensor,
    canvas_size: Canvas,
    startpoints: Sequence[Sequence[int]] | None,
    endpoints: Sequence[Sequence[int]] | None,
    coefficients: Sequence[float] | None = None,
) -> Tensor:
    """The kernel of :func:`perspective` for key points; returns them."""
    draft = PointsDraft(None, keypoints, canvas_size)
    return _moved(draft, PlacesDraft.perspective, startpoints, endpoints, coefficients=coefficients)[0]


def elastic_bounding_boxes(
    bounding_boxes: Tensor,
    format: Any,
    canvas_size: Canvas,
    displacement: Tensor,
    clamping_mode: str | None = "soft",
) -> Tensor:
    """The kernel of :func:`elastic` for boxes; returns them."""
    draft = BoxesDraft(None, bounding_boxes, canvas_size, format, clamping_mode)
    return _moved(draft, PlacesDraft.elastic, displacement)[0]


def elastic_keypoints(keypoints: Tensor, canvas_size: Canvas, displacement: Tensor) -> Tensor:
    """The kernel of :func:`elastic` for key points; returns them."""
    return _moved(PointsDraft(None, keypoints, canvas_size), PlacesDraft.elastic, displacement)[0]
