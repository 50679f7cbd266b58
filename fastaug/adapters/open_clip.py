"""Read the transforms of open_clip, from ``image_transform`` and ``create_model_and_transforms``."""

from __future__ import annotations

from functools import partial
from typing import Any

import fastaug.transforms as T
from fastaug._compile.drawn import Drawn
from fastaug._compile.functions import Convert
from fastaug._draft.progress import is_pil
from fastaug.adapters._known import Known
from fastaug.adapters._steps import (
    CenterCropOrPad,
    ResizeKeepRatio,
    SometimesByRandom,
    ToTensorUnlessTensor,
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


class ConvertIfImage(Convert):
    """A conversion of PIL images by ``image.convert(mode)`` that leaves tensors and arrays unchanged."""

    def apply(self, image: Any, params: None) -> Any:
        return super().apply(image, params) if is_pil(image) else image


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

install = partial(register_all, _READERS, _known.made)
