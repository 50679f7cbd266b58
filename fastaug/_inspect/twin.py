"""The same pipeline in torchvision, for comparisons and times."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from PIL import Image, ImageOps
from torch import nn
from torch.utils._pytree import tree_map_only

from fastaug._image import pillow
from fastaug._image.lazy import LazyImage
from fastaug._inspect.theirs import NotTheirsError, Translation, library
from fastaug._sample.pipeline import SamplePipeline


class NoTwinError(RuntimeError):
    """A pipeline that torchvision does not have."""


@dataclass
class Twin:
    """A pipeline in torchvision."""

    whole: Callable[[Any], Any]
    #: One after the other they do the same.
    steps: list[Callable[[Any], Any]]
    #: Of torchvision.
    version: str


def twin_of(pipeline: Any) -> Twin:
    """Return the twin of a pipeline; for a compiled torchvision transform the original, which is not changed.

    Raises:
        NoTwinError: torchvision is not installed, or has no such transform, or no such arithmetic.
    """
    if pipeline.arithmetic == "pil":
        raise NoTwinError('torchvision has no arithmetic="pil"')
    try:
        version = library().__version__
        whole = Translation(strict=False, by_name={"Decode": Decode}).of(pipeline)
    except (ImportError, NotTheirsError) as error:
        raise NoTwinError(str(error)) from None
    inner: Any = getattr(whole, "transforms", None) if type(whole).__name__ == "Compose" else None
    if type(whole) is nn.Sequential:
        inner = whole
    return Twin(whole, [whole] if inner is None else list(inner), str(version))


def sample_for(pipeline: Any, sample: Any) -> Any:
    """Return an image or a sample for torchvision: `pillow_image` of it, or of each of its leaves."""
    if not isinstance(pipeline, SamplePipeline):
        return pillow_image(sample)
    return tree_map_only(LazyImage, pillow_image, sample)


def pillow_image(image: Any) -> Any:
    """Return an image for torchvision: an encoded one as Pillow decodes it, others as they are."""
    if not isinstance(image, LazyImage):
        return image
    decoded = image.pil()
    return pillow.orient(decoded, image.orientation) if image.exif else decoded


def copied(sample: Any) -> Any:
    """Return an image or a sample with copies of its images and tensors."""
    sample = tree_map_only(torch.Tensor, torch.Tensor.clone, sample)
    return tree_map_only((Image.Image, np.ndarray), lambda image: image.copy(), sample)


class Decode:
    """A Decode by Pillow alone. torchvision has no such transform."""

    def __init__(self, transform: Any) -> None:
        self._lazy = transform._lazy
        self._exif, self._mode = transform.exif, transform.mode

    def __call__(self, source: Any) -> Any:
        if isinstance(source, Image.Image):
            image = ImageOps.exif_transpose(source) if self._exif else source
            return image if self._mode is None else image.convert(self._mode)
        return pillow_image(source if isinstance(source, LazyImage) else self._lazy(source))


def steps_like(twin: Twin, names: list[str]) -> list[Callable[[Any], Any]] | None:
    """Return the twin's steps if these are their names, else None."""
    for steps in (twin.steps, _flat(twin.steps)):
        if [type(step).__name__ for step in steps] == names:
            return steps
    return None


def _flat(steps: Iterable[Any]) -> list[Any]:
    """Return steps without containers that only call one after the other."""
    flat: list[Any] = []
    for step in steps:
        if type(step).__name__ == "Compose":
            flat += _flat(step.transforms)
        elif type(step) is nn.Sequential:
            flat += _flat(step)
        else:
            flat.append(step)
    return flat
