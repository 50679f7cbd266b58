"""Replacements for torchvision.tv_tensors, used when torchvision is not installed."""

from __future__ import annotations

from fastaug._names import publish
from fastaug._tv_tensors.base import TVTensor, set_return_type, wrap
from fastaug._tv_tensors.pixels import Image, Mask, Video
from fastaug._tv_tensors.places import BoundingBoxes, BoundingBoxFormat, KeyPoints, is_rotated_bounding_format

__all__ = [
    "BoundingBoxFormat",
    "BoundingBoxes",
    "Image",
    "KeyPoints",
    "Mask",
    "TVTensor",
    "Video",
    "is_rotated_bounding_format",
    "set_return_type",
    "wrap",
]

# Pickles have this name, by which a process with torchvision finds torchvision's classes.
publish({**globals(), "__name__": "fastaug.tv_tensors"})
