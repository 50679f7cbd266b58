"""Compute the mean and the standard deviation of the pixels of many images."""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import closing
from typing import Any, NamedTuple

import numpy as np
import torch
from PIL import Image

from fastaug._batch.each import bar_of
from fastaug._batch.sources import path_of
from fastaug._inspect.words import described
from fastaug.transforms._containers import Compose


class MeanStd(NamedTuple):
    """The mean and standard deviation of each channel, of samples scaled to [0, 1], for ``Normalize``.

    ``mean`` and ``std`` have one number per channel. ``std`` is the population standard deviation, like ``numpy.std``.

    Example:
        >>> from fastaug.data import MeanStd
        >>> MeanStd((0.5,), (0.25,)).std
        (0.25,)
    """

    mean: tuple[float, ...]
    std: tuple[float, ...]

    @classmethod
    def from_histogram(cls, counts: Any) -> MeanStd:
        """Compute both from the counts of each value, as :func:`histogram` returns them.

        Args:
            counts: integers of shape [channels, 256], the sum of the histograms of any parts of the images.

        Raises:
            TypeError: they are not integers.
            ValueError: another shape, a negative number, or a channel without samples.

        Example:
            >>> import numpy as np
            >>> from fastaug.data import MeanStd
            >>> counts = np.zeros((1, 256), np.int64)
            >>> counts[0, [0, 255]] = 3
            >>> MeanStd.from_histogram(counts)
            MeanStd(mean=(0.5,), std=(0.5,))
        """
        table = np.asarray(counts)
        if table.dtype.kind not in "iu":
            raise TypeError(f"counts should be integers, got {table.dtype}")
        if table.ndim != 2 or not len(table) or table.shape[1] != 256:
            raise ValueError(f"counts should be of shape [channels, 256], got {table.shape}")
        if table.min() < 0:
            raise ValueError(f"counts should not be negative, got {table.min()}")
        if not table.any(1).all():
            raise ValueError("counts should be of at least one sample in each channel")
        return cls(*zip(*(_moments(channel) for channel in table.tolist())))


def mean_std(
    images: Iterable[Any], transform: Any = None, *, num_threads: int | None = None, progress: bool = False
) -> MeanStd:
    """Compute the mean and the standard deviation of each channel over all pixels of all images.

    Integer histograms make the result exact for any order and number of images.

    Args:
        images: paths, encoded bytes, handles of ``fastaug.io.lazy``, PIL images, uint8 arrays or tensors, mixed and of
            any sizes, all with the same number of channels.
        transform: a transform to apply first, whose results are 8-bit images, such as ``Resize``.
        num_threads: number of images processed at a time; by default one per CPU.
        progress: show a tqdm bar.

    Returns:
        A :class:`MeanStd`, scaled to [0, 1].

    Raises:
        TypeError: a result is not an 8-bit image.
        ValueError: there are no images, or they have different numbers of channels.
        Exception: from reading or transforming an image; its ``index`` is the number of that image.

    Example:
        >>> import numpy as np
        >>> from fastaug.data import mean_std
        >>> mean_std([np.full((8, 6, 1), 51, np.uint8), np.full((4, 6, 1), 51, np.uint8)])
        MeanStd(mean=(0.2,), std=(0.0,))
    """
    return MeanStd.from_histogram(histogram(images, transform, num_threads=num_threads, progress=progress))


def histogram(
    images: Iterable[Any], transform: Any = None, *, num_threads: int | None = None, progress: bool = False
) -> np.ndarray:
    """Count how often each value occurs in each channel, over all pixels of all images.

    Histograms add up. Several processes or machines can each count a part of the images, and
    :meth:`MeanStd.from_histogram` of the sum equals :func:`mean_std` of all.

    Args:
        images, transform, num_threads, progress: as for :func:`mean_std`.

    Returns:
        int64 of shape [channels, 256].

    Raises:
        TypeError, ValueError, Exception: as :func:`mean_std`.

    Example:
        >>> import numpy as np
        >>> from fastaug.data import histogram
        >>> counts = histogram([np.full((8, 6, 3), 51, np.uint8), np.full((4, 6, 3), 52, np.uint8)])
        >>> counts.shape, counts[:, 51].tolist(), counts[:, 52].tolist()
        ((3, 256), [48, 48, 48], [24, 24, 24])
    """
    counts = counted(images, transform, num_threads, progress)
    if counts is None:
        raise ValueError("images should be at least one image, got none")
    return counts


def counted(
    images: Iterable[Any],
    transform: Any,
    num_threads: int | None,
    progress: bool,
    *,
    failed: list[tuple[str, Exception]] | None = None,
    strict: bool = False,
) -> np.ndarray | None:
    """Count as :func:`histogram` does, but return None if there are no images.

    Append (name, error) of unreadable images to `failed` if it is given, and then stop at the first if `strict`.
    """
    items: Any = images if hasattr(images, "__len__") else list(images)
    counts: np.ndarray | None = None
    pipeline = Compose([] if transform is None else [transform])
    # Closed after an error too, because its traceback would keep the threads alive.
    with bar_of(progress, len(items), disable=False) as bar, closing(pipeline.map(items, False, num_threads)) as mapped:
        while True:
            try:
                index, image = next(mapped)
            except StopIteration:
                break
            except (OSError, Image.DecompressionBombError) as error:
                if failed is None:
                    raise
                failed.append((_name_of(items, error.index), error))  # type: ignore[union-attr]
                if strict:
                    break
                continue
            if bar is not None:
                bar.update()
            one = _histogram(image)
            if counts is None:
                counts = one
            elif len(counts) != len(one):
                name = _name_of(items, index)
                raise ValueError(f"images should have {len(counts)} channels as the first has, {name} has {len(one)}")
            else:
                counts += one
    return counts


def _name_of(items: Any, index: int) -> str:
    return path_of(items[index]) or f"image {index}"


def _histogram(image: Any) -> np.ndarray:
    """Count how often each value occurs in each channel, as [channels, 256]."""
    if isinstance(image, Image.Image):
        if image.mode not in ("L", "LA", "RGB", "RGBA", "CMYK", "YCbCr", "HSV"):
            raise TypeError(f"images should be 8-bit images, got {described(image)}")
        return np.asarray(image.histogram(), np.int64).reshape(-1, 256)
    pixels = image.numpy(force=True) if isinstance(image, torch.Tensor) else image
    if not isinstance(pixels, np.ndarray) or pixels.dtype != np.uint8 or pixels.ndim not in (2, 3):
        raise TypeError(f"images should be 8-bit images, got {described(image)}")
    planes = pixels[None] if pixels.ndim == 2 else pixels
    if isinstance(image, np.ndarray) and pixels.ndim == 3:
        planes = np.moveaxis(pixels, 2, 0)
    return np.stack([np.bincount(plane.reshape(-1), minlength=256) for plane in planes])


def _moments(counts: list[int]) -> tuple[float, float]:
    """Return mean and deviation in [0, 1] from exact integer sums, each rounded once."""
    count = sum(counts)
    total = sum(value * number for value, number in enumerate(counts))
    squares = sum(value * value * number for value, number in enumerate(counts))
    mean = total / (255 * count)
    variance = (count * squares - total * total) / (255 * count) ** 2
    return mean, math.sqrt(variance)
