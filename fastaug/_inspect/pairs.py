"""Pairs of the images and other values in two results."""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
from PIL import Image

#: How a part of a result is reached: by keys and positions, and by names of attributes.
Path = tuple[tuple[str, Any], ...]


def pairs(one: Any, two: Any) -> Iterator[tuple[Path, Any, Any]]:
    """Yield the parts of two results that belong together, with the paths to them.

    Tuples, lists, mappings and objects without an equality of their own consist of parts, if both are of one class and
    of the same length, keys or attributes. All others are parts.
    """
    yield from _pairs(one, two, (), set())


def _pairs(one: Any, two: Any, path: Path, above: set[int]) -> Iterator[tuple[Path, Any, Any]]:
    inner, other = _inside(one), _inside(two)
    alike = inner is not None and other is not None and type(one) is type(two) and inner.keys() == other.keys()
    if inner is None or other is None or not alike or id(one) in above:
        yield path, one, two
        return
    for step, value in inner.items():
        yield from _pairs(value, other[step], (*path, step), {*above, id(one)})


def _inside(value: Any) -> dict[tuple[str, Any], Any] | None:
    """Return the values inside a value, by the steps to them; None if it is a part itself."""
    if isinstance(value, (torch.Tensor, np.ndarray, Image.Image)):
        return None
    if isinstance(value, Mapping):
        return {("key", key): held for key, held in value.items()}
    if isinstance(value, (tuple, list)):
        return {("key", position): held for position, held in enumerate(value)}
    if inspect.isroutine(value) or inspect.isclass(value) or inspect.ismodule(value):
        return None
    if not _has_equality(value) or dataclasses.is_dataclass(value):
        held = getattr(value, "__dict__", None)
        return None if held is None else {("attribute", name): each for name, each in held.items()}
    return None


def reached(value: Any, path: Path) -> Any:
    """Return the part of a result at the end of a path, or raise Python's error for a missing one."""
    for kind, name in path:
        value = value[name] if kind == "key" else getattr(value, name)
    return value


def spelled(path: Path) -> str:
    """Return a path as Python writes it after the name of the result."""
    return "".join(f"[{name!r}]" if kind == "key" else f".{name}" for kind, name in path)


def same(one: Any, two: Any) -> bool | None:
    """Return whether two values other than images are equal; None if their class does not define that."""
    try:
        if bool(one == two):
            return True
        # NaN is not equal to itself.
        if isinstance(one, float) and isinstance(two, float) and math.isnan(one) and math.isnan(two):
            return True
    except Exception:  # whatever a class of the user's raises
        return None
    return False if _has_equality(one) else None


def _has_equality(value: Any) -> bool:
    return any("__eq__" in cls.__dict__ for cls in type(value).__mro__[:-1])


def samples(image: Any) -> np.ndarray[Any, Any] | None:
    """Return the samples of an image or tensor as an array; None for other values."""
    if isinstance(image, torch.Tensor):
        image = image.detach().cpu()
        return np.asarray((image.float() if image.dtype in (torch.float16, torch.bfloat16) else image).numpy())
    if isinstance(image, (Image.Image, np.ndarray, np.generic)):
        return np.asarray(image)
    return None


def psnr(gap: np.ndarray[Any, Any], like: np.ndarray[Any, Any], undo: Any) -> float:
    """Return the PSNR of differences in the units of `like`; `undo` is the (mean, std) of their normalisation."""
    peak = 1.0
    if like.dtype.kind in "ui":
        peak = float(np.iinfo(like.dtype).max)
    elif undo is not None and like.ndim >= 3:
        std = np.asarray(torch.as_tensor(undo[1]), np.float64).reshape(-1)
        gap = gap * std.reshape(-1, 1, 1)
    error = float(np.mean(gap**2))
    return 10 * math.log10(peak * peak / error) if error else math.inf
