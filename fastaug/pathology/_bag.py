"""Read tiles to measure them, from memory, files and slides."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
import torch
from PIL import Image

from fastaug import _C
from fastaug._batch.batch import located
from fastaug._batch.each import bar_of, each
from fastaug._batch.sources import as_images
from fastaug._batch.threads import threads_for
from fastaug._image.encoded import NOT_DECODED, is_encoded, is_entry
from fastaug._image.lazy import LazyImage
from fastaug._inspect.words import described
from fastaug._program.borrow import sources_of
from fastaug.io import Slide

Result = TypeVar("Result")


def tiles_of(images: Any) -> list[Any]:
    """Return one object per 8-bit RGB image: a PIL image, an array, a tensor, or a handle of an encoded image."""
    if is_single(images):
        images = [images]
    elif isinstance(images, Iterator):
        images = list(images)
    if isinstance(images, (list, tuple)) and not images:
        return []
    if isinstance(images, (np.ndarray, torch.Tensor)) and images.ndim == 4 and len(images) == 0:
        return []
    return [tile for image in as_images(images) for tile in _tiles(image)]


def is_single(images: Any) -> bool:
    """Return True for one image or slide instead of several."""
    if isinstance(images, (np.ndarray, torch.Tensor)) and images.ndim == 3:
        return True
    return isinstance(images, (Image.Image, LazyImage, Slide)) or is_encoded(images) or is_entry(images)


def _tiles(image: Any) -> Sequence[Any]:
    if isinstance(image, Slide):
        return image.tiles()
    if isinstance(image, Image.Image):
        if image.mode == "RGB" and image.width and image.height:
            return (image,)
    elif isinstance(image, LazyImage):
        if not image.modes or image.modes[-1] == "RGB":
            return (image,)
    elif is_encoded(image) or is_entry(image):
        return (LazyImage(image),)
    elif isinstance(image, torch.Tensor):
        if image.dtype is torch.uint8 and image.ndim >= 3 and image.shape[-3] == 3 and image.numel():
            return (image,) if image.ndim == 3 else list(image.reshape(-1, *image.shape[-3:]))
    elif isinstance(image, np.ndarray) and image.dtype == np.uint8 and image.shape[2:] == (3,) and image.size:
        return (image,)
    # The header of a handle is not read for its error.
    got = repr(image) if isinstance(image, LazyImage) else described(image)
    raise TypeError(
        "images should be RGB: PIL images of mode RGB, uint8 arrays (H, W, 3), uint8 tensors (..., 3, H, W), of one "
        f"pixel or more; encoded images, their paths or handles; or slides; got {got}"
    )


def with_source(tile: Any, use: Callable[[_C.Source], Result]) -> Result:
    """Return the result of `use` on the pixels of a tile, which are decoded on demand."""
    if not isinstance(tile, LazyImage):
        (source,) = sources_of(tile)
        return use(source)
    # An Exif orientation is ignored, because no count depends on it.
    reason: Exception | None = None
    if tile.native and tile.mode == "RGB":
        try:
            return use(tile.source())
        except NOT_DECODED as error:
            reason = error
    image = tile.pil(reason)
    if image.mode != "RGB":
        raise TypeError(f"images should be RGB, got {tile!r}, which is of mode {image.mode}")
    (source,) = sources_of(image)
    return use(source)


def for_tiles(
    work: Callable[[int, Any], Result], tiles: Sequence[Any], num_threads: int | None, progress: bool
) -> list[Result]:
    """Return the results of `work` on each tile and its number. The error of a tile gets its number as ``index``."""

    def failed(error: BaseException, index: int) -> None:
        located(error, index, tiles[index], "tile {}")

    with bar_of(progress, len(tiles)) as bar:
        numbered = list(enumerate(tiles))
        return each(lambda item: work(*item), numbered, threads_for(num_threads), "fastaug-pathology", bar, failed)
