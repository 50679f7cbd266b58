"""Flips, sizes, boxes, borders and warps: all that torchvision has in a module of this name.

Kernels for images, videos and masks come from _crops and _warps; those for boxes and points are registered here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastaug._tv_tensors import kernels
from fastaug._tv_tensors.boxes import BoxesDraft
from fastaug._tv_tensors.kernels import *
from fastaug._tv_tensors.points import PointsDraft
from fastaug.transforms.v2.functional import _crops, _warps
from fastaug.transforms.v2.functional._crops import *
from fastaug.transforms.v2.functional._crops import _parse_pad_padding  # noqa: F401
from fastaug.transforms.v2.functional._utils import registered
from fastaug.transforms.v2.functional._warps import *

__all__: list[str] = []
__all__ += kernels.__all__
for _module in (_crops, _warps):
    globals().update({name: value for name, value in vars(_module).items() if name.endswith("_image_pil")})


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
