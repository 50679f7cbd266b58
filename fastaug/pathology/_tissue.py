"""Tell tissue from glass by statistics of tiles and Otsu's threshold."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any, overload

import numpy as np

from fastaug import _C
from fastaug._program.integers import integer
from fastaug.pathology._bag import for_tiles, tiles_of, with_source

__all__ = ["otsu", "tissue_stats"]

#: A row of the result of tissue_stats.
_ROW = np.dtype(
    [
        ("mean_rgb", np.float64, 3),
        ("mean_saturation", np.float64),
        ("saturation_histogram", np.uint32, 256),
        ("gray_histogram", np.uint32, 256),
        ("white", np.float64),
        ("black", np.float64),
        ("laplacian_variance", np.float64),
    ]
)


def tissue_stats(
    images: Any, white: int = 220, black: int = 20, num_threads: int | None = None, progress: bool = False
) -> np.ndarray:
    """Compute colours, saturation, gray, white, black and sharpness of each tile, to separate tissue from glass.

    The results are the same for any number of threads, on any machine. Gray and saturation are OpenCV's in 8 bits,
    ``COLOR_RGB2GRAY`` and channel 1 of ``COLOR_RGB2HSV``.

    Args:
        images: RGB tiles of any sizes: PIL images, uint8 arrays (H, W, 3), uint8 tensors (..., 3, H, W) with a tile per
            image; encoded images, as bytes, paths, open files or handles such as those of ``slide.lazy``; one of these,
            an array (N, H, W, 3) or a tensor (N, 3, H, W). A :class:`fastaug.io.Slide` counts as all of its
            :meth:`fastaug.io.Slide.tiles`.
        white: white pixels have all channels above it, from 0 to 255.
        black: black pixels have all channels below it, from 0 to 255.
        num_threads: number of tiles processed at a time; by default one per CPU that the process may use.
        progress: show a tqdm bar if the output is a terminal or a notebook.

    Returns:
        A structured array with a row for each tile, empty without tiles. These are its fields.

        - ``mean_rgb``: float64 of shape (3,), the means of red, green and blue, from 0 to 255.
        - ``mean_saturation``: float64, from 0 to 255.
        - ``saturation_histogram``, ``gray_histogram``: uint32 of shape (256,), the number of pixels with each value.
        - ``white``, ``black``: float64, the fraction of such pixels, from 0 to 1.
        - ``laplacian_variance``: float64, the variance of ``cv2.Laplacian(gray, cv2.CV_64F)``, which is low out of
          focus.

    Raises:
        TypeError: not such images, or not 8-bit RGB; a limit is not an integer.
        ValueError: a limit is not from 0 to 255; an array or a tensor has another number of axes.
        fastaug.DecodeError: the first tile that cannot be decoded; ``index`` is its number.
        OSError: the first tile that cannot be read; ``index`` is its number.

    Source:
        OpenCV's ``cvtColor`` and ``Laplacian``; for its variance, Pech-Pacheco et al., Diatom autofocusing in
        brightfield microscopy: a comparative study, 2000.

    Example:
        >>> from PIL import Image
        >>> from fastaug import pathology
        >>> glass, stained = Image.new("RGB", (64, 64), (240, 238, 242)), Image.new("RGB", (64, 64), (150, 80, 160))
        >>> stats = pathology.tissue_stats([glass, stained])
        >>> stats["mean_saturation"]
        array([  4., 128.])
        >>> stats["white"]
        array([1., 0.])
    """
    whiter, blacker = _limit("white", white), _limit("black", black)
    tiles = tiles_of(images)

    def look(number: int, tile: Any) -> _Numbers:
        return with_source(tile, lambda source: _C.tissue_stats(source, whiter, blacker))

    return _table(for_tiles(look, tiles, num_threads, progress))


#: The core's result for a tile.
_Numbers = tuple[int, int, int, int, int, int, int, bytes, bytes]


def _table(numbers: list[_Numbers]) -> np.ndarray:
    table = np.zeros(len(numbers), _ROW)
    if not numbers:
        return table
    *sums, of_saturation, of_gray = zip(*numbers, strict=True)
    red, green, blue, white, black, laplacians, squares = sums
    saturation = np.frombuffer(b"".join(of_saturation), np.uint32).reshape(-1, 256)
    table["saturation_histogram"] = saturation
    table["gray_histogram"] = np.frombuffer(b"".join(of_gray), np.uint32).reshape(-1, 256)
    pixels = saturation.sum(1, dtype=np.int64)
    table["mean_rgb"] = np.stack([red, green, blue], 1) / pixels[:, None]
    table["mean_saturation"] = saturation @ np.arange(256) / pixels
    table["white"] = np.array(white) / pixels
    table["black"] = np.array(black) / pixels
    # Python's integers are exact, so only the quotient is rounded.
    table["laplacian_variance"] = [
        (count * square - total * total) / (count * count)
        for count, total, square in zip(pixels.tolist(), laplacians, squares, strict=True)
    ]
    return table


def _limit(name: str, value: Any) -> int:
    limit = integer(name, value)
    if not 0 <= limit <= 255:
        raise ValueError(f"{name} should be from 0 to 255, got {limit}")
    return limit


@overload
def otsu(histogram: Sequence[int]) -> int: ...
@overload
def otsu(histogram: np.ndarray) -> Any: ...
def otsu(histogram: Any) -> Any:
    """Compute Otsu's threshold, the best cut of a histogram in two.

    Values up to and including the threshold are one class, and higher values the other. It is the lowest threshold with
    the largest variance between the classes, computed in integers. scikit-image's ``threshold_otsu`` and OpenCV's
    ``THRESH_OTSU`` agree, unless another threshold's variance is equal within their rounding, a relative 1e-6 at most.

    Args:
        histogram: the number of pixels with each value from 0 on, for two values or more; or an array (N, values).

    Returns:
        The threshold as an int, or an int64 array of N. If all pixels have one value, it is that value, as in
        ``threshold_otsu`` of such an image; OpenCV returns 0.

    Raises:
        TypeError: not numbers.
        ValueError: another shape, counts that are negative or not integers, or no pixels.

    Source:
        Otsu, A threshold selection method from gray-level histograms, 1979.

    Example:
        >>> from fastaug import pathology
        >>> pathology.otsu([4, 9, 2, 0, 0, 1, 7])
        2
    """
    counts = np.asarray(histogram)
    if counts.dtype.kind not in "uif":
        raise TypeError(f"histogram should be of integers, got {histogram!r}")
    if counts.ndim not in (1, 2) or counts.shape[-1] < 2:
        raise ValueError(
            f"histogram should be of shape (values,) or (N, values), of two values or more, got {counts.shape}"
        )
    if not ((counts >= 0) & (counts < 1 << 53)).all() or (counts.dtype.kind == "f" and (counts % 1).any()):
        raise ValueError(f"histogram should be how many pixels have each value, got {histogram!r}")
    if not counts.any(-1).all():
        raise ValueError("histogram should be of one pixel or more, got none")
    rows = counts.astype(np.int64)
    return _cut(rows) if rows.ndim == 1 else np.array([_cut(row) for row in rows], np.int64)


# The largest relative error of a variance in float64, given class means at least 1 apart.
_OFF = 1e-6


def _cut(counts: np.ndarray) -> int:
    """Find the candidates in floating point, and choose among those within rounding by exact integers."""
    values = np.flatnonzero(counts)  # between two of them, the classes stay the same
    if len(values) == 1:
        return int(values[0])
    there = counts[values]
    sizes, sums = there.astype(np.float64), values * there.astype(np.float64)
    below, above = np.cumsum(sizes)[:-1], np.cumsum(sizes[:0:-1])[::-1]
    apart = np.cumsum(sums[:0:-1])[::-1] / above - np.cumsum(sums)[:-1] / below
    variances = below * above * apart**2
    best = np.flatnonzero(variances >= variances.max() * (1 - _OFF)).tolist()
    if len(best) > 1:
        exact_below = list(accumulate(there.tolist()))
        exact_sums = list(accumulate((values.astype(object) * there).tolist()))
        pixels, total = exact_below[-1], exact_sums[-1]

        def variance(k: int) -> Fraction:
            count = exact_below[k]
            return Fraction((pixels * exact_sums[k] - count * total) ** 2, count * (pixels - count))

        best.sort(key=variance, reverse=True)  # stable, so equal ones keep their order
    return int(values[best[0]])
