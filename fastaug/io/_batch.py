"""Many images at once."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from fastaug._batch.each import bar_of, each
from fastaug._batch.threads import threads_for
from fastaug._image.pillow import DecodeError
from fastaug.io._read import imread

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import DTypeLike

    from fastaug._image.encoded import Buffer, Colorspace, Source


def imread_batch(
    sources: Iterable[Source],
    mode: str | None = "RGB",
    *,
    num_threads: int | None = None,
    region: tuple[int, int, int, int] | None = None,
    exif: bool = False,
    dtype: DTypeLike | None = None,
    jpeg_tables: Buffer | None = None,
    colorspace: Colorspace | None = None,
    progress: bool = False,
) -> list[np.ndarray]:
    """Reads and decodes images, several at a time. The threads are made for the call and end with it.

    Args:
        sources: paths, bytes or open files, as for :func:`imread`.
        mode, region, exif, dtype, jpeg_tables, colorspace: as for :func:`imread`, for every image.
        num_threads: how many images are decoded at a time; one for each CPU that this process may use by default, but
            one in a worker of a ``DataLoader``.
        progress: whether to show a bar of tqdm, where the output is a terminal or a notebook.

    Returns:
        The arrays, in the order of the sources.

    Raises:
        fastaug.DecodeError: of the first source, in their order, that cannot be decoded; its ``index`` says which one
            that is. The images behind it are not begun.
        TypeError, ValueError, OSError: as for :func:`imread`, and by the same rule; TypeError for a ``num_threads``
            that is no integer, and ValueError for one that is less than one.

    Example:
        >>> import io
        >>> from PIL import Image
        >>> from fastaug.io import imread_batch
        >>> files = [io.BytesIO() for _ in range(3)]
        >>> for number, file in enumerate(files):
        ...     Image.new("L", (10 + number, 8)).save(file, "PNG")
        >>> [array.shape for array in imread_batch(files, num_threads=2)]
        [(8, 10, 3), (8, 11, 3), (8, 12, 3)]
    """
    if isinstance(sources, (str, bytes, os.PathLike)):
        raise TypeError(f"sources should be a list of images, got one {type(sources).__name__}; imread() reads one")
    items = list(sources)
    count = threads_for(num_threads)
    read = functools.partial(
        imread, mode=mode, region=region, exif=exif, dtype=dtype, jpeg_tables=jpeg_tables, colorspace=colorspace
    )
    with bar_of(progress, len(items)) as bar:
        return each(read, items, count, "imread_batch", bar, _located)


def _located(error: BaseException, index: int) -> None:
    if isinstance(error, DecodeError):
        error.index = index
