"""Sizes and channels, formats of boxes, and clamping."""

from __future__ import annotations

from typing import Any

import PIL.Image
import torch

from fastaug._draft.leaf import ImageDraft, MaskDraft, VideoDraft
from fastaug._draft.progress import dimensions
from fastaug._tv_tensors.boxes import BoxesDraft
from fastaug._tv_tensors.meta import clamp_bounding_boxes, clamp_keypoints, convert_bounding_box_format
from fastaug._tv_tensors.points import PointsDraft
from fastaug.transforms.v2.functional._utils import _get_kernel, registered

__all__: list[str] = ["clamp_bounding_boxes", "clamp_keypoints", "convert_bounding_box_format"]
__all__ += ["get_dimensions", "get_dimensions_image", "get_dimensions_video"]
__all__ += ["get_image_num_channels", "get_num_channels", "get_num_channels_image", "get_num_channels_video"]
__all__ += ["get_size", "get_size_bounding_boxes", "get_size_image", "get_size_keypoints"]
__all__ += ["get_size_mask", "get_size_video"]
__all__ += ["get_num_frames", "get_num_frames_video"]


def get_dimensions(inpt: Any) -> list[int]:
    """[channels, height, width] of an image or a video.

    Args:
        inpt: a PIL image, a tensor of shape (..., channels, height, width), or (height, width) for one channel; or a
            tv_tensor of an image or a video.

    Raises:
        TypeError: fewer than 2 dimensions, or an input of a type that has no kernel, such as a mask.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.get_dimensions(torch.zeros(5, 3, 6, 8))
        [3, 6, 8]
    """
    return _get_kernel(get_dimensions, type(inpt))(inpt)


@registered(get_dimensions, torch.Tensor, "Image", asks=True)
def get_dimensions_image(image: torch.Tensor) -> list[int]:
    if image.ndim < 2:
        raise TypeError(f"Input tensor should have at least two dimensions, but got {image.ndim}")
    return [1, *image.shape] if image.ndim == 2 else list(image.shape[-3:])


@registered(get_dimensions, "Video", asks=True)
def get_dimensions_video(video: torch.Tensor) -> list[int]:
    return get_dimensions_image(video)


@registered(get_dimensions, PIL.Image.Image, asks=True)
def _get_dimensions_image_pil(image: Any) -> list[int]:
    return list(dimensions(image))


@registered(get_dimensions, ImageDraft, VideoDraft, asks=True)
def _get_dimensions_draft(draft: Any) -> list[int]:
    return list(draft.dimensions())


def get_num_channels(inpt: Any) -> int:
    """The channels of an image or a video.

    Args and errors are those of :func:`get_dimensions`.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.get_num_channels(torch.zeros(5, 3, 6, 8))
        3
    """
    return _get_kernel(get_num_channels, type(inpt))(inpt)


@registered(get_num_channels, torch.Tensor, "Image", asks=True)
def get_num_channels_image(image: torch.Tensor) -> int:
    return get_dimensions_image(image)[0]


@registered(get_num_channels, "Video", asks=True)
def get_num_channels_video(video: torch.Tensor) -> int:
    return get_num_channels_image(video)


@registered(get_num_channels, PIL.Image.Image, ImageDraft, VideoDraft, asks=True)
def _get_num_channels_image_pil(image: Any) -> int:
    return dimensions(image)[0]


get_image_num_channels = get_num_channels


def get_size(inpt: Any) -> list[int]:
    """[height, width] of an image, a video or a mask, or of the image that boxes or points are in.

    Args:
        inpt: as in :func:`get_dimensions`; or a mask, boxes or points.

    Raises:
        TypeError: fewer than 2 dimensions, or an input of a type that has no kernel.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.get_size(torch.zeros(5, 3, 6, 8))
        [6, 8]
    """
    return _get_kernel(get_size, type(inpt))(inpt)


@registered(get_size, torch.Tensor, "Image", asks=True)
def get_size_image(image: torch.Tensor) -> list[int]:
    return get_dimensions_image(image)[1:]


@registered(get_size, "Video", asks=True)
def get_size_video(video: torch.Tensor) -> list[int]:
    return get_size_image(video)


@registered(get_size, "Mask", asks=True)
def get_size_mask(mask: torch.Tensor) -> list[int]:
    return get_size_image(mask)


@registered(get_size, PIL.Image.Image, asks=True)
def _get_size_image_pil(image: PIL.Image.Image) -> list[int]:
    width, height = image.size
    return [height, width]


@registered(get_size, ImageDraft, VideoDraft, MaskDraft, BoxesDraft, PointsDraft, asks=True)
def _get_size_draft(draft: Any) -> list[int]:
    return [draft.height, draft.width]


@registered(get_size, "BoundingBoxes", asks=True)
def get_size_bounding_boxes(bounding_box: Any) -> list[int]:
    return list(bounding_box.canvas_size)


@registered(get_size, "KeyPoints", asks=True)
def get_size_keypoints(keypoints: Any) -> list[int]:
    return list(keypoints.canvas_size)


def get_num_frames(inpt: Any) -> int:
    """The frames of a video.

    Args:
        inpt: video or plain tensor, of shape (..., frames, channels, height, width).

    Raises:
        TypeError: an input of a type that has no kernel, such as an image.
        IndexError: fewer than 4 dimensions.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.get_num_frames(torch.zeros(5, 3, 6, 8))
        5
    """
    return _get_kernel(get_num_frames, type(inpt))(inpt)


@registered(get_num_frames, torch.Tensor, "Video", asks=True)
def get_num_frames_video(video: torch.Tensor) -> int:
    return video.shape[-4]
