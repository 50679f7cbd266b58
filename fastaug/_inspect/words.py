"""Images, passes and parameters in words, and tables."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from PIL import Image

from fastaug._image.encoded import is_entry
from fastaug._image.lazy import LazyImage


def called(transform: Any) -> str:
    """Return the name of a transform's class, of a function, or the place of a lambda."""
    if isinstance(transform, functools.partial):
        return f"partial of {called(transform.func)}"
    if type(transform).__name__ == "Lambda" and hasattr(transform, "lambd"):
        return f"Lambda({called(transform.lambd)})"
    name = getattr(transform, "__qualname__", None)
    if not isinstance(name, str) or not (inspect.isroutine(transform) or inspect.isclass(transform)):
        return type(transform).__name__
    code = getattr(transform, "__code__", None)
    if name.endswith("<lambda>") and code is not None:
        return f"lambda at {Path(code.co_filename).name}:{code.co_firstlineno}"
    # A method is named with its class, but a function without the one that it is in.
    return ".".join(name.split("<locals>.")[-1].split(".")[-2:])


def encoded(image: Any) -> bool:
    """Return whether this is an encoded image, or the path of one."""
    if isinstance(image, (str, PathLike, bytes, bytearray, memoryview)) or is_entry(image):
        return True
    return isinstance(image, (np.ndarray, torch.Tensor)) and image.ndim == 1


def source(image: Any) -> str:
    """Return in words what a pipeline starts from; of an encoded image, what its header says."""
    if encoded(image):
        try:
            return described(LazyImage(image))
        except (OSError, TypeError, ValueError):
            pass
    return described(image)


def described(image: Any) -> str:
    """Return the container, sample type and size of an image in words; of several images each, if they differ."""
    if isinstance(image, Image.Image):
        return f"PIL {image.mode} {image.height}x{image.width}"
    if isinstance(image, LazyImage):
        colorspace = "" if image.colorspace is None else f", colorspace {image.colorspace!r}"
        return f"{image.format} {image.mode} {image.height}x{image.width}{colorspace}"
    if isinstance(image, torch.Tensor):
        name = "tensor" if type(image) is torch.Tensor else type(image).__name__
        text = f"{name} {str(image.dtype).removeprefix('torch.')} {'x'.join(map(str, image.shape))}".rstrip()
        return text + _places(image)
    if isinstance(image, (np.ndarray, np.generic)):
        return f"array {image.dtype} {'x'.join(map(str, image.shape))}".rstrip()
    if isinstance(image, (tuple, list)) and image:
        each = list(map(described, image))
        return f"{len(each)} of {each[0]}" if len(set(each)) == 1 else f"({_several(each)})"
    if isinstance(image, Mapping) and image:
        return f"{{{_several([f'{key!r}: {described(value)}' for key, value in image.items()])}}}"
    return type(image).__name__


def _places(tensor: torch.Tensor) -> str:
    """Return the format, the canvas and the clamping mode of boxes or points in words."""
    size = getattr(tensor, "canvas_size", None)
    if size is None:
        return ""
    kept = getattr(tensor, "format", None)
    text = f" of {'x'.join(map(str, size))}"
    if kept is not None:
        text = f" {getattr(kept, 'name', kept)}{text}"
    mode = getattr(tensor, "clamping_mode", "soft")
    return text if mode == "soft" else f"{text}, clamping {mode}"


def _several(parts: list[str]) -> str:
    return ", ".join(parts[:4]) + (f" and {len(parts) - 4} more" if len(parts) > 4 else "")


def failure(error: BaseException) -> str:
    """Return the type and the text of an error in one line."""
    said = " ".join(str(error).split())
    return f"{type(error).__name__}: {cut(said, 200)}" if said else type(error).__name__


def compared(ours: float, theirs: float) -> str:
    """Compare a time with torchvision's, in words."""
    if ours <= 0 or theirs <= 0:
        return "too short to compare"
    ratio = theirs / ours
    if 0.95 < ratio < 1.05:
        return "about as fast as torchvision"
    if ratio > 1:
        return f"{ratio:.{2 if ratio < 1.95 else 1}f} times as fast as torchvision"
    return f"SLOWER than torchvision: {1 / ratio:.{2 if 1 / ratio < 1.95 else 1}f} times as long"


def megabytes(count: int) -> str:
    if count < 1e5:
        return f"{count / 1e3:.1f} kB"
    return f"{count / 1e6:.2f} MB" if count < 1e6 else f"{count / 1e6:.1f} MB"


def shape_of(one: dict[str, Any]) -> str:
    """Return the shape that a pass gives, or nothing if that is not one image."""
    return f"{one['height']}x{one['width']}x{one['channels']}" if one["height"] else ""


def done_by(one: dict[str, Any]) -> str:
    """Return in words what does a pass that the native core does not do."""
    return "done apart" if one["by"] == "apart" else f"done by {one['by']}"


def short(value: Any) -> str:
    """Return a parameter in a few characters."""
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, (list, tuple)):
        inner = ", ".join(map(short, value[:6])) + (", ..." if len(value) > 6 else "")
        return f"({inner})"
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    if isinstance(value, torch.Tensor):
        return short(value.tolist()) if value.ndim < 2 and value.numel() <= 6 else described(value)
    return str(value)


def parameters(step: dict[str, Any]) -> str:
    return ", ".join(f"{name}={short(value)}" for name, value in step["parameters"].items())


def counted(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def numbered(what: str, names: Sequence[str]) -> str:
    """Return what is numbered with its numbers: step 1, or steps 1, 2."""
    return f"{what}{'s' * (len(names) > 1)} {', '.join(names)}" if names else ""


def numbers_of(passes: list[int]) -> str:
    """Return 1, 2, 3, 7 as 1-3, 7."""
    parts: list[list[int]] = []
    for number in passes:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(f"{part[0]}-{part[-1]}" if len(part) > 1 else str(part[0]) for part in parts)


class Table(NamedTuple):
    """A table of rows of cells. The first row is a heading, and so are rows of two cells if there are more columns."""

    rows: list[tuple[str, ...]]
    #: "<" or ">" for each column.
    align: str
    #: The most characters of a cell of each column.
    limits: Sequence[int]

    def lines(self) -> list[str]:
        """Return the rows as text in aligned columns, without empty columns."""
        rows = [row if len(row) == 2 else tuple(map(cut, row, self.limits)) for row in self.rows]
        widths = [max(len(row[k]) for row in rows if len(row) > 2) for k in range(len(self.align))]
        lines = []
        for row in rows:
            if len(row) == 2:
                lines.append(f"{row[0]:>{widths[0]}}  {row[1]}".rstrip())
            else:
                cells = (f"{cell:{side}{width}}" for cell, side, width in zip(row, self.align, widths) if width)
                lines.append("  ".join(cells).rstrip())
        return lines


def cut(text: str, limit: int) -> str:
    """Return the text, cut to at most so many characters."""
    return text if len(text) <= limit else text[: limit - 3] + "..."
