"""Find the stain matrix of images, and normalize tiles to the stains of a target."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastaug._batch.each import each
from fastaug._batch.threads import threads_for
from fastaug._draft.draft import Draft
from fastaug._image.lazy import LazyImage
from fastaug._program import ops
from fastaug._program.stains import LEAST_TISSUE, Bag, Stains, normalized
from fastaug.pathology._bag import for_tiles, is_single, tiles_of, with_source
from fastaug.pathology._basis import PRESETS, REFERENCE_STRENGTHS, numbers_of, rows_of
from fastaug.transforms._base import Transform

__all__ = ["StainNormalize", "stain_matrix"]


def _found(images: Any, tissue: float, num_threads: int | None, progress: bool = False) -> Stains:
    tiles = tiles_of(images)
    if not tiles:
        raise ValueError("images should be at least one image, got none")
    threads = min(threads_for(num_threads), len(tiles))
    bag = Bag(threads)

    def add(number: int, tile: Any) -> None:
        with_source(tile, lambda source: bag.add(number, source, lasts=not isinstance(tile, LazyImage)))

    for_tiles(add, tiles, threads, progress)
    stains = bag.found(tissue, lambda work, sources: each(work, sources, threads, "fastaug-stains"))
    if stains is None:
        raise ValueError(
            f"images should have at least {LEAST_TISSUE} pixels of tissue, with every density {tissue:g} or more, in "
            "which two stains differ"
        )
    return stains


def stain_matrix(
    images: Any, tissue: float = 0.15, num_threads: int | None = None, progress: bool = False
) -> np.ndarray:
    """Compute the stain matrix of one image, or of many images together, by Macenko's method.

    It equals the result of torchstain's NumPy code on all pixels together, within 1e-12. From the pixels whose
    densities ``-log((v + 1) / 240)`` are all ``tissue`` or more, it takes the plane of largest variance, and in it the
    1st and the 99th percentile of directions. Each image is decoded once. More than 2^25 pixels per thread are reduced
    to counts of colours, which limits the memory.

    Args:
        images: an RGB image or several of any sizes, in memory, encoded or in files, regions of slides or whole slides,
            as for :func:`fastaug.pathology.tissue_stats`.
        tissue: the least density of tissue, in every channel.
        num_threads, progress: as for :func:`fastaug.pathology.tissue_stats`.

    Returns:
        float64 of shape (2, 3), the densities of haematoxylin and of eosin in red, green and blue. The row with more
        red is first.

    Raises:
        TypeError: not such images, or ``tissue`` is not a number.
        ValueError: there are no images; ``tissue`` is not from 0 to 5; or there are fewer than 16 pixels of tissue, or
            pixels of only one stain.
        fastaug.DecodeError, OSError: as :func:`fastaug.pathology.tissue_stats`.

    Source:
        Macenko et al., A method for normalizing histology slides for quantitative analysis, 2009.

    Example:
        >>> import numpy as np
        >>> from fastaug import pathology
        >>> amounts = np.random.default_rng(0).uniform(0.2, 1, (64, 64, 2))
        >>> light = np.exp(-amounts @ [[0.65, 0.70, 0.29], [0.07, 0.99, 0.11]])
        >>> pathology.stain_matrix((light * 240).astype(np.uint8)).round(2)
        array([[0.56, 0.79, 0.26],
               [0.2 , 0.97, 0.15]])
    """
    if isinstance(tissue, bool) or not isinstance(tissue, (int, float)):
        raise TypeError(f"tissue should be a number, got {tissue!r}")
    if not 0 <= tissue <= 5:
        raise ValueError(f"tissue should be from 0 to 5, got {tissue!r}")
    return np.array(_found(images, float(tissue), num_threads, progress).matrix)


class StainNormalize(Transform):
    """A transform that gives each tile the stains of a target, by Macenko's normalization of 2009.

    It finds the tile's own stain matrix and the 99th percentiles of its stains, and maps them to those of the target.
    It equals torchstain's ``NumpyMacenkoNormalizer``, except for samples within 1e-8 of an integer. A tile with fewer
    than 16 pixels of tissue, or of one stain alone, is returned unchanged. A tensor of several images counts as one
    tile.

    Args:
        target: an RGB image or several, as for :func:`fastaug.pathology.stain_matrix`, but a str path must be in a
            list; a pair of a matrix of two rows and two percentiles, such as ``(normalize.matrix,
            normalize.strengths)`` of another one; or "macenko-reference", the usual reference of the method.

    Raises:
        TypeError: the target is none of these; when called, not a uint8 image of three colour channels.
        ValueError: the target has no tissue or a singular matrix, or its percentiles are not above 0 and up to 100.

    Example:
        >>> from fastaug import pathology
        >>> normalize = pathology.StainNormalize("macenko-reference")
        >>> normalize.strengths
        (1.9705, 1.0308)
    """

    def __init__(self, target: Any) -> None:
        super().__init__()
        if isinstance(target, str):
            if target != "macenko-reference":
                raise ValueError(f'target should be images, a pair or "macenko-reference", got {target!r}')
            stains = Stains(PRESETS[target], REFERENCE_STRENGTHS)
        elif isinstance(target, tuple) and len(target) == 2 and _are_numbers(target[1]):
            stains = _pair(*target)
        else:
            stains = _found(target, 0.15, None)
        self.matrix, self.strengths = stains

    def _draft(self, draft: Draft, params: None) -> None:
        wanted = Stains(self.matrix, self.strengths)
        draft.restain_found(lambda stains: normalized(stains, wanted), ops.NEXT_DENSITIES)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(({self.matrix}, {self.strengths}))"


def _are_numbers(value: Any) -> bool:
    """Return True for anything but an image or several."""
    return not is_single(value) and getattr(value, "ndim", 1) < 2


def _pair(matrix: Any, strengths: Any) -> Stains:
    rows = rows_of("the matrix of target", matrix)
    numbers = numbers_of("the percentiles of target", strengths)
    if len(rows) != 2 or len(numbers) != 2 or min(numbers) <= 0:
        raise ValueError(f"target should be a matrix of two rows and two numbers above 0, got {(matrix, strengths)!r}")
    return Stains(rows, (numbers[0], numbers[1]))
