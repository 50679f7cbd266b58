"""Images, passes and parameters in words, and tables of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from PIL import Image

from fastaug._image.lazy import LazyImage


def described(image: Any) -> str:
    """An image in words: container, type of its samples and size."""
    if isinstance(image, Image.Image):
        return f"PIL {image.mode} {image.height}x{image.width}"
    if isinstance(image, LazyImage):
        colorspace = "" if image.colorspace is None else f", colorspace {image.colorspace!r}"
        return f"{image.format} {image.mode} {image.height}x{image.width}{colorspace}"
    if isinstance(image, torch.Tensor):
        return f"tensor {str(image.dtype).removeprefix('torch.')} {'x'.join(map(str, image.shape))}"
    if hasattr(image, "shape"):
        return f"array {image.dtype} {'x'.join(map(str, image.shape))}"
    if isinstance(image, (tuple, list)) and image:
        return f"{len(image)} of {described(image[0])}"
    return type(image).__name__


def megabytes(count: int) -> str:
    if count < 1e5:
        return f"{count / 1e3:.1f} kB"
    return f"{count / 1e6:.2f} MB" if count < 1e6 else f"{count / 1e6:.1f} MB"


def shape_of(one: dict[str, Any]) -> str:
    """What a pass gives; nothing where that is not one image."""
    return f"{one['height']}x{one['width']}x{one['channels']}" if one["height"] else ""


def done_by(one: dict[str, Any]) -> str:
    """Who does a pass that is not one of the native core, in words."""
    return "done apart" if one["by"] == "apart" else f"done by {one['by']}"


def short(value: Any) -> str:
    """A parameter in a few characters."""
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, (list, tuple)):
        inner = ", ".join(map(short, value[:6])) + (", ..." if len(value) > 6 else "")
        return f"({inner})"
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    return str(value)


def parameters(step: dict[str, Any]) -> str:
    return ", ".join(f"{name}={short(value)}" for name, value in step["parameters"].items())


def numbers_of(passes: list[int]) -> str:
    """1, 2, 3, 7 as 1-3, 7."""
    parts: list[list[int]] = []
    for number in passes:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(f"{part[0]}-{part[-1]}" if len(part) > 1 else str(part[0]) for part in parts)


def table(rows: list[tuple[str, ...]], align: str, limits: Sequence[int]) -> list[str]:
    """Rows as lines of aligned columns; the first is the heading. Rows of two cells are headings too."""
    cut = [row if len(row) == 2 else tuple(_cut(cell, limit) for cell, limit in zip(row, limits)) for row in rows]
    widths = [max(len(row[k]) for row in cut if len(row) > 2) for k in range(len(align))]
    lines = []
    for row in cut:
        if len(row) == 2:
            lines.append(f"{row[0]:>{widths[0]}}  {row[1]}".rstrip())
        else:
            cells = (f"{cell:{side}{width}}" for cell, side, width in zip(row, align, widths) if width)
            lines.append("  ".join(cells).rstrip())
    return lines


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 3] + "..."
