"""Read the transforms of open_clip, from ``image_transform`` and ``create_model_and_transforms``."""

from __future__ import annotations

from typing import Any

import fastaug.transforms as T
from fastaug._compile.drawn import Drawn
from fastaug._compile.functions import Convert
from fastaug._draft.draws import python_random
from fastaug._draft.progress import is_pil
from fastaug.adapters._known import Known
from fastaug.adapters._steps import (
    SometimesByRandom,
    ToTensorUnlessTensor,
    center_cropped_or_padded,
    register_all,
)
from fastaug.transforms import functional as F

# Digests of open_clip 2.0 to 3.3, printed by tools/digests.py.
_known = Known(
    {
        "CenterCropOrPad": {"e8dbd1d1e78701e8"},
        "MaybeConvertMode": {"deb83ca72776eed3"},
        "MaybeToTensor": {"f870c2ff5cf24a31"},
        "ResizeKeepRatio": {"e71638c8bbb2ed29"},
        "ResizeMaxSize": {"0b6392b8f448c37f"},
        "color_jitter": {"411788a62b0ab466"},
        "gray_scale": {"a011906fdad683ca"},
    }
)


def install() -> None:
    """Register the readers."""
    register_all(_READERS, _known.made)


class ConvertIfImage(Convert):
    """A conversion of PIL images by ``image.convert(mode)`` that leaves tensors and arrays unchanged."""

    def apply(self, image: Any, params: None) -> Any:
        return super().apply(image, params) if is_pil(image) else image


class ResizeKeepRatio(Drawn):
    """A resize to the target's shorter side, its longer side, or between, with random scale and aspect ratio."""

    def __init__(self, transform: Any) -> None:
        self.size = tuple(transform.size)
        self.interpolation = T.InterpolationMode(transform.interpolation.value)
        self.longest = transform.longest
        self.random_scale_prob = transform.random_scale_prob
        self.random_scale_range = tuple(transform.random_scale_range)
        self.random_aspect_prob = transform.random_aspect_prob
        self.random_aspect_range = tuple(transform.random_aspect_range)

    def draw(self, image: Any) -> list[int]:
        """Return (height, width) of the result."""
        ratios = image.height / self.size[0], image.width / self.size[1]
        ratio = max(ratios) * self.longest + min(ratios) * (1.0 - self.longest)
        random = python_random()
        down = across = 1.0
        if self.random_scale_prob > 0 and random.random() < self.random_scale_prob:
            down = across = random.uniform(*self.random_scale_range)
        if self.random_aspect_prob > 0 and random.random() < self.random_aspect_prob:
            aspect = random.uniform(*self.random_aspect_range)
            down, across = down / aspect, across * aspect
        return [round(image.height * down / ratio), round(image.width * across / ratio)]

    def apply(self, image: Any, params: list[int]) -> Any:
        return F.resize(image, params, self.interpolation)


class CenterCropOrPad(Drawn):
    """A center crop that pads smaller images with a fill."""

    _drawn = ()

    def __init__(self, transform: Any) -> None:
        self.size = tuple(transform.size)
        self.fill = transform.fill

    def apply(self, image: Any, params: None) -> Any:
        return center_cropped_or_padded(image, self.size, self.fill)


class ResizeMaxSize(Drawn):
    """A resize to a longest side, padded with a fill to a square, in open_clip before 2.24."""

    _drawn = ()

    def __init__(self, transform: Any) -> None:
        self.max_size = transform.max_size
        self.interpolation = T.InterpolationMode(transform.interpolation.value)
        self.fill = transform.fill

    def apply(self, image: Any, params: None) -> Any:
        _, height, width = F.get_dimensions(image)
        scale = self.max_size / float(max(height, width))
        if scale == 1.0:
            return image
        height, width = round(height * scale), round(width * scale)
        rows, columns = self.max_size - height, self.max_size - width
        image = F.resize(image, [height, width], self.interpolation)
        return F.pad(image, [columns // 2, rows // 2, columns - columns // 2, rows - rows // 2], fill=self.fill)


def _sometimes(transform: Any) -> SometimesByRandom | None:
    inner = transform.transf
    made: Any = None
    if type(inner).__module__ == "torchvision.transforms.transforms":
        if type(inner).__name__ == "ColorJitter":
            ranges = (inner.brightness, inner.contrast, inner.saturation, inner.hue)
            made = T.ColorJitter(*(0 if one is None else tuple(one) for one in ranges))
        elif type(inner).__name__ == "Grayscale":
            made = T.Grayscale(inner.num_output_channels)
    return None if made is None else SometimesByRandom([made], transform.p)


_READERS = {
    "open_clip.transform": {
        "CenterCropOrPad": CenterCropOrPad,
        "MaybeConvertMode": lambda transform: ConvertIfImage(transform.mode),
        "MaybeToTensor": lambda transform: ToTensorUnlessTensor(),
        "ResizeKeepRatio": ResizeKeepRatio,
        "ResizeMaxSize": ResizeMaxSize,
        "color_jitter": _sometimes,
        "gray_scale": _sometimes,
    }
}
