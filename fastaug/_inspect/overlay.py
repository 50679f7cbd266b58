"""Samples as pictures: the image with its masks, boxes and key points drawn on it."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image, ImageColor, ImageDraw

from fastaug._image.lazy import LazyImage
from fastaug._inspect.canvas import colour
from fastaug._inspect.picture import picture
from fastaug._sample.sample import flatten
from fastaug._tv_tensors import formats
from fastaug._tv_tensors.choice import loaded

# Pixels of the longer side of a picture, at least: lines are drawn smoothly in these.
_SIDE = 640
_LINE, _DOT = 5, 9

# How much of a mask's colour is mixed in.
_SHARE = 0.5


def sample_picture(sample: Any, normalised: tuple[Any, Any] | None = None) -> Image.Image:
    """A sample as a picture: its first image, or the first frame of its first video, with all else drawn on it.

    Boxes of any format are drawn as lines; masks translucent, those of objects each in a colour of its own, and those
    of classes by their labels, of which 0 is not drawn; key points as dots. What belongs to one object, by its number,
    has one colour. A sample with an image alone is that image.

    Args:
        sample: anything nested.
        normalised: (mean, std) of the image's normalisation, which is undone.
    """
    leaves: list[Any] = []
    flatten(sample, leaves)
    classes = loaded()
    if classes is None:
        return _image_of(leaves, (), normalised) or picture(None)
    places = (classes.BoundingBoxes, getattr(classes, "KeyPoints", classes.BoundingBoxes))
    masks = [leaf for leaf in leaves if isinstance(leaf, classes.Mask) and leaf.ndim > 1 and leaf.numel()]
    marks = [leaf for leaf in leaves if isinstance(leaf, places)]
    shown = _image_of(leaves, (classes.Mask, *places), normalised)
    if shown is None:
        sizes = [mask.shape[-2:] for mask in masks] + [mark.canvas_size for mark in marks]
        if not sizes:
            return picture(None)
        shown = Image.new("RGB", (int(sizes[0][1]), int(sizes[0][0])), "#d0d7de")
    if not masks and not marks:
        return shown
    scale = max(1.0, _SIDE / max(shown.size))
    size = (max(1, round(shown.width * scale)), max(1, round(shown.height * scale)))
    # As a canvas resizes an image that is shown as it is.
    shown = shown.resize(size, Image.Resampling.NEAREST) if scale > 1 else shown
    for mask in masks:
        shown = _masked(shown, mask.detach().cpu().as_subclass(torch.Tensor))
    pen = ImageDraw.Draw(shown)
    for mark in marks:
        height, width = mark.canvas_size
        plain = mark.detach().cpu().as_subclass(torch.Tensor).to(torch.float64)
        fit = np.array([shown.width / max(1, width), shown.height / max(1, height)])
        if hasattr(mark, "format"):
            _draw_boxes(pen, corners_of(plain, formats.format_name(mark.format)) * fit)
        else:
            _draw_points(pen, plain, fit)
    return shown


def _image_of(leaves: list[Any], others: tuple[type, ...], normalised: Any) -> Image.Image | None:
    """The first image or video; a plain tensor if there is no other."""
    tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor) and not isinstance(leaf, others)]
    named = [leaf for leaf in leaves if any(leaf is one for one in tensors) and type(leaf) is not torch.Tensor]
    loaded_leaves = (leaf.load() if isinstance(leaf, LazyImage) else leaf for leaf in leaves)
    images = [leaf for leaf in loaded_leaves if isinstance(leaf, Image.Image)]
    plain = [leaf for leaf in tensors if leaf.ndim > 1]
    arrays = [leaf for leaf in leaves if isinstance(leaf, np.ndarray) and leaf.ndim > 1]
    for found in (named, images, plain, arrays):
        if found:
            return picture(found[0], normalised)
    return None


def corners_of(boxes: torch.Tensor, name: str) -> NDArray[np.float64]:
    """The four corners of each box, [boxes, 4, 2].

    Args:
        boxes: (..., numbers) in floating point.
        name: of their format.
    """
    if name in formats.ROTATED:
        corners = formats.converted(boxes, name, "XYXYXYXY").reshape(-1, 4, 2)
    else:
        left, top, right, bottom = formats.converted(boxes, name, "XYXY").reshape(-1, 4).unbind(-1)
        corners = torch.stack((left, top, right, top, right, bottom, left, bottom), -1).reshape(-1, 4, 2)
    return np.asarray(corners.numpy(), np.float64)


def _draw_boxes(pen: ImageDraw.ImageDraw, boxes: NDArray[np.float64]) -> None:
    for number, corners in enumerate(boxes):
        if np.isfinite(corners).all():
            around = [(float(x), float(y)) for x, y in (*corners, corners[0], corners[1])]
            pen.line(around, fill=colour(number), width=_LINE, joint="curve")


def _draw_points(pen: ImageDraw.ImageDraw, points: torch.Tensor, fit: NDArray[np.float64]) -> None:
    """Points of objects have the object's colour, others each their own."""
    objects = points.reshape(len(points), -1, 2) if points.ndim > 1 and points.numel() else points.reshape(-1, 1, 2)
    for number, group in enumerate(objects.numpy() * fit):
        for x, y in group:
            if np.isfinite((x, y)).all():
                area = (x - _DOT, y - _DOT, x + _DOT, y + _DOT)
                pen.ellipse(area, fill=colour(number), outline="white", width=2)


def _masked(shown: Image.Image, mask: torch.Tensor) -> Image.Image:
    while mask.ndim > 3:
        mask = mask[0]
    planes = mask.numpy()
    if planes.ndim == 3 and (len(planes) > 1 or planes.max() <= 1):
        layers = [(number, plane != 0) for number, plane in enumerate(planes)]
    else:
        labels = planes.reshape(planes.shape[-2:])
        layers = [(int(label) - 1, labels == label) for label in np.unique(labels) if label]
    pixels = np.asarray(shown, np.float32).copy()
    height, width = planes.shape[-2:]
    rows = np.arange(shown.height) * height // shown.height
    columns = np.arange(shown.width) * width // shown.width
    for number, layer in layers:
        where = layer[rows[:, None], columns]
        tint = np.array(ImageColor.getrgb(colour(number)), np.float32)
        pixels[where] += _SHARE * (tint - pixels[where])
    return Image.fromarray(pixels.round().astype(np.uint8))
