"""One file of decoded pixels: its sources, whether it is up to date, and how it is written atomically."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import torch
from PIL import Image, UnidentifiedImageError

from fastaug._image.encoded import CHANNELS
from fastaug._image.lazy import LazyImage


class Job(NamedTuple):
    """One file and its sources."""

    target: Path
    sources: list[Path]
    number: int = 0  # of the source, among all
    draw: int = 0
    stacked: bool = False


class SourceError(Exception):
    """An error of one image."""

    def __init__(self, path: Path, error: Exception) -> None:
        super().__init__(str(error))
        self.path = path
        self.error = error


def done(job: Job) -> bool:
    try:
        if job.target.stat().st_mtime_ns != max(path.stat().st_mtime_ns for path in job.sources):
            return False
    except OSError:
        return False
    if not job.stacked:
        return True
    try:
        return len(np.load(job.target, mmap_mode="r")) == len(job.sources)
    except (OSError, ValueError):
        return False


def newest(paths: list[Path]) -> int:
    """Return the time of the last change to any of these, in nanoseconds.

    Raises:
        SourceError: one is missing.
    """
    try:
        return max(path.stat().st_mtime_ns for path in paths)
    except OSError as error:
        raise SourceError(Path(error.filename), error) from error


def header(path: Path) -> tuple[int, int, str]:
    """Return width, height and mode from the start of the file."""
    try:
        with Image.open(path) as image:
            return image.width, image.height, image.mode
    except UnidentifiedImageError:
        found = LazyImage(path, None)
        return found.width, found.height, found.mode


def same(job: Job, arrays: Iterator[np.ndarray]) -> bool:
    try:
        there = np.load(job.target, mmap_mode="r")
    except (OSError, ValueError):
        return False
    stack = there if job.stacked else there[None]
    return there.dtype == np.uint8 and len(stack) == len(job.sources) and all(map(np.array_equal, stack, arrays))


def pixels(result: Any) -> np.ndarray:
    """Return the result of a transform as a uint8 image [H, W] or [H, W, C].

    Raises:
        TypeError: it is not an image of uint8.
    """
    if isinstance(result, Image.Image) and result.mode in CHANNELS:
        return np.asarray(result)
    array = result
    if isinstance(result, torch.Tensor) and result.dtype is torch.uint8:
        array = result.numpy(force=True)
        array = np.moveaxis(array, 0, 2) if array.ndim == 3 else array
    if isinstance(array, np.ndarray) and array.dtype == np.uint8 and array.size and array.ndim in (2, 3):
        checked: np.ndarray = array
        if array.ndim == 2 or array.shape[2] <= len(CHANNELS):
            return checked
    said = f"a PIL image of mode {result.mode}" if isinstance(result, Image.Image) else f"{type(result)}"
    if hasattr(result, "dtype"):
        said += f" of {result.dtype} and shape {tuple(result.shape)}"
    raise TypeError(
        "transform should give images of uint8 to be stored: PIL images of 8 bits, arrays [H, W] or [H, W, 1 to 4], or "
        f"tensors [1 to 4, H, W], got {said}"
    )


@contextlib.contextmanager
def aside(target: Path, time: int) -> Iterator[BinaryIO]:
    """Open a temporary file that becomes `target`, with that modification time, unless an error occurs."""
    target.parent.mkdir(parents=True, exist_ok=True)
    aside = target.with_name(f".{uuid.uuid4().hex}.part")
    try:
        with open(aside, "xb") as file:
            yield file
        os.utime(aside, ns=(time, time))
        os.replace(aside, target)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
