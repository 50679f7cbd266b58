"""show(): results of a pipeline, on one sheet."""

from __future__ import annotations

import math
from typing import Any

from PIL import Image

from fastaug._draft.generators import generator_of, untouched
from fastaug._inspect.picture import decoded, listed, normalisation, sample_picture
from fastaug._inspect.plot import GREY, Canvas
from fastaug._sample.pipeline import SamplePipeline

_SIDE, _GAP, _LABEL, _MARGIN = 160, 8, 20, 16


def show(pipeline: Any, images: Any, n: int = 16, seed: int | None = None) -> Image.Image:
    """Draw a sheet of ``n`` results beside the image or images that they are of.

    Tensors are shown without their normalisation if Normalize is the last step, else spread over the range if they
    exceed it. The random generators are afterwards as they were before.

    Raises:
        ValueError: no images, or ``n`` below 1.
    """
    if n < 1:
        raise ValueError(f"n should be at least 1, got {n}")
    originals = listed(images, isinstance(pipeline, SamplePipeline))[:n]
    undo = normalisation(pipeline.transforms)
    with untouched(generator_of(pipeline), seed=seed):
        results = [sample_picture(pipeline(originals[k % len(originals)]), undo) for k in range(n)]
    # A row for each image, or, of one image, as square a sheet as there is.
    rows: list[list[Image.Image]]
    sources: list[Image.Image | None] = [sample_picture(decoded(original)) for original in originals]
    if len(originals) == 1:
        columns = min(range(1, n + 1), key=lambda columns: _ugliness(n, columns))
        rows = [results[k : k + columns] for k in range(0, n, columns)]
        sources += [None] * (len(rows) - 1)
    else:
        rows = [results[k :: len(originals)] for k in range(len(originals))]
    return sheet(sources, rows, f"original{'s' * (len(originals) > 1)}", f"{n} draw{'s' * (n > 1)}")


def _ugliness(count: int, columns: int) -> float:
    """Return a number for the empty cells of a sheet, and for proportions far from a screen's."""
    rows = math.ceil(count / columns)
    return (rows * columns - count) / count + 0.2 * abs(columns / rows - 1.6)


def sheet(sources: list[Image.Image | None], rows: list[list[Image.Image]], left: str, right: str) -> Image.Image:
    """Draw rows of results, each beside its source if that is given, below two headings."""
    step, first, top = _SIDE + _GAP, _MARGIN + _SIDE + 2 * _GAP, _MARGIN + _LABEL
    width = first + max(map(len, rows)) * step - _GAP + _MARGIN
    canvas = Canvas(width, top + len(rows) * step - _GAP + _MARGIN)
    canvas.text(_MARGIN, _MARGIN + 6, left, fill=GREY)
    canvas.text(first, _MARGIN + 6, right)
    for number, (source, results) in enumerate(zip(sources, rows)):
        if source is not None:
            canvas.picture(_MARGIN, top + number * step, source, _SIDE)
        for column, result in enumerate(results):
            canvas.picture(first + column * step, top + number * step, result, _SIDE)
    return canvas.finished()
