"""Flips, sizes, boxes, borders and warps: all that torchvision has in a module of this name.

Kernels for images, videos and masks come from _crops and _warps; those for boxes and points are registered here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastaug._tv_tensors.boxes import BoxesDraft
from fastaug._tv_tensors.kernels import (
    affine_bounding_boxes,
    affine_keypoints,
    center_crop_bounding_boxes,
    center_crop_keypoints,
    crop_bounding_boxes,
    crop_keypoints,
    elastic_bounding_boxes,
    elastic_keypoints,
    horizontal_flip_bounding_boxes,
    horizontal_flip_keypoints,
    pad_bounding_boxes,
    pad_keypoints,
    perspective_bounding_boxes,
    perspective_keypoints,
    resize_bounding_boxes,
    resize_keypoints,
    resized_crop_bounding_boxes,
    resized_crop_keypoints,
    rotate_bounding_boxes,
    rotate_keypoints,
    vertical_flip_bounding_boxes,
    vertical_flip_keypoints,
)
from fastaug._tv_tensors.points import PointsDraft
from fastaug.transforms.v2.functional import _crops, _warps
from fastaug.transforms.v2.functional._crops import *  # noqa: F403
from fastaug.transforms.v2.functional._crops import (  # noqa: F401
    _center_crop_image_pil,
    _crop_image_pil,
    _five_crop_image_pil,
    _horizontal_flip_image_pil,
    _pad_image_pil,
    _parse_pad_padding,
    _ten_crop_image_pil,
    _vertical_flip_image_pil,
)
from fastaug.transforms.v2.functional._utils import registered
from fastaug.transforms.v2.functional._warps import *  # noqa: F403
from fastaug.transforms.v2.functional._warps import (  # noqa: F401
    _affine_image_pil,
    _elastic_image_pil,
    _perspective_image_pil,
    _resize_image_pil,
    _resized_crop_image_pil,
    _rotate_image_pil,
)

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


def _moves(name: str, draft_class: type | None) -> Callable[..., Any]:
    """Make the kernel for drafts of boxes or points, or for tv_tensors of which it makes such drafts."""

    def moved(inpt: Any, *args: Any, **kwargs: Any) -> Any:
        draft = inpt if draft_class is None else draft_class(inpt)
        getattr(draft, name)(*args, **kwargs)
        return draft if draft_class is None else draft.finish()

    return moved


for _functional in (
    _crops.horizontal_flip,
    _crops.vertical_flip,
    _warps.resize,
    _warps.affine,
    _warps.rotate,
    _crops.pad,
    _crops.crop,
    _warps.perspective,
    _warps.elastic,
    _crops.center_crop,
    _warps.resized_crop,
):
    _name = _functional.__name__
    registered(_functional, BoxesDraft, PointsDraft)(_moves(_name, None))
    registered(_functional, "BoundingBoxes", wrapped=False)(_moves(_name, BoxesDraft))
    registered(_functional, "KeyPoints", wrapped=False)(_moves(_name, PointsDraft))
