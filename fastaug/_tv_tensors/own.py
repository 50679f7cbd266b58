"""torchvision.tv_tensors' names, of our own making: what a process without torchvision has."""

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

# In pickles they go by the name that gives torchvision's own where these are read and torchvision is installed.
publish({**globals(), "__name__": "fastaug.tv_tensors"})
