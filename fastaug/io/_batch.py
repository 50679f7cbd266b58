"""Read many images at once."""

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
    """Read and decode images, several at a time, on threads that end with the call.

    Args:
        sources: paths, bytes or open files, as for :func:`imread`.
        mode, region, exif, dtype, jpeg_tables, colorspace: as for :func:`imread`, for every image.
        num_threads: number of images decoded at a time. By default one per CPU that this process may use, and one in a
            worker of a ``DataLoader``.
        progress: show a tqdm bar if the output is a terminal or a notebook.

    Returns:
        The arrays, in the order of the sources.

    Raises:
        fastaug.DecodeError: the first source, in their order, that cannot be decoded. Its ``index`` is the number of
            that source. Later images are not started.
        TypeError, ValueError, OSError: as for :func:`imread`, likewise for the first source. TypeError if
            ``num_threads`` is not an integer, ValueError if it is less than one.

    Example:
        >>> import fastaug, fastaug.io
        >>> arrays = fastaug.io.imread_batch([fastaug.sample_file()] * 2, num_threads=2)
        >>> [array.shape for array in arrays]
        [(300, 451, 3), (300, 451, 3)]
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
