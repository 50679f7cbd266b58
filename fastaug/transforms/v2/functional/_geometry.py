"""Flips, sizes, boxes, borders and warps, of images, videos, masks, boxes and points.

Those of images, videos and masks are in _affine, _crops, _flips, _sizes and _warps, and handed on from here, where
torchvision has them; those of boxes and points are here.
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
from fastaug.transforms.v2.functional import _affine, _crops, _flips, _sizes, _warps
from fastaug.transforms.v2.functional._affine import *  # noqa: F403
from fastaug.transforms.v2.functional._affine import _affine_image_pil, _rotate_image_pil  # noqa: F401
from fastaug.transforms.v2.functional._crops import *  # noqa: F403
from fastaug.transforms.v2.functional._crops import (  # noqa: F401
    _center_crop_image_pil,
    _crop_image_pil,
    _five_crop_image_pil,
    _pad_image_pil,
    _parse_pad_padding,
    _ten_crop_image_pil,
)
from fastaug.transforms.v2.functional._flips import *  # noqa: F403
from fastaug.transforms.v2.functional._flips import _horizontal_flip_image_pil, _vertical_flip_image_pil  # noqa: F401
from fastaug.transforms.v2.functional._sizes import *  # noqa: F403
from fastaug.transforms.v2.functional._sizes import _resize_image_pil, _resized_crop_image_pil  # noqa: F401
from fastaug.transforms.v2.functional._utils import registered
from fastaug.transforms.v2.functional._warps import *  # noqa: F403
from fastaug.transforms.v2.functional._warps import _elastic_image_pil, _perspective_image_pil  # noqa: F401

__all__: list[str] = [
    "affine_bounding_boxes",
    "affine_keypoints",
    "center_crop_bounding_boxes",
    "center_crop_keypoints",
    "crop_bounding_boxes",
    "crop_keypoints",
    "elastic_bounding_boxes",
    "elastic_keypoints",
    "horizontal_flip_bounding_boxes",
    "horizontal_flip_keypoints",
    "pad_bounding_boxes",
    "pad_keypoints",
    "perspective_bounding_boxes",
    "perspective_keypoints",
    "resize_bounding_boxes",
    "resize_keypoints",
    "resized_crop_bounding_boxes",
    "resized_crop_keypoints",
    "rotate_bounding_boxes",
    "rotate_keypoints",
    "vertical_flip_bounding_boxes",
    "vertical_flip_keypoints",
]


def _moves(name: str, draft_class: type | None) -> Callable[..., Any]:
    """The kernel for drafts of boxes or points, whose method of that name it calls; or for what these stand for."""

    def moved(inpt: Any, *args: Any, **kwargs: Any) -> Any:
        draft = inpt if draft_class is None else draft_class(inpt)
        getattr(draft, name)(*args, **kwargs)
        return draft if draft_class is None else draft.finish()

    return moved


for _functional in (
    _flips.horizontal_flip,
    _flips.vertical_flip,
    _sizes.resize,
    _affine.affine,
    _affine.rotate,
    _crops.pad,
    _crops.crop,
    _warps.perspective,
    _warps.elastic,
    _crops.center_crop,
    _sizes.resized_crop,
):
    _name = _functional.__name__
    registered(_functional, BoxesDraft, PointsDraft)(_moves(_name, None))
    registered(_functional, "BoundingBoxes", wrapped=False)(_moves(_name, BoxesDraft))
    registered(_functional, "KeyPoints", wrapped=False)(_moves(_name, PointsDraft))
