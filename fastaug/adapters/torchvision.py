"""Read torchvision's presets, from ``weights.transforms()``."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch

import fastaug.transforms as T
from fastaug._compile.drawn import Drawn
from fastaug._draft.progress import pixels
from fastaug.adapters._known import Known
from fastaug.adapters._steps import PILToTensorUnlessTensor, register_all
from fastaug.transforms import functional as F

# Digests of `forward` in torchvision 0.17 to 0.29.
_known = Known(
    {
        "ImageClassification.forward": {"a7b5980b43a78371"},
        "ObjectDetection.forward": {"67d2fd0305a71704"},
        "SemanticSegmentation.forward": {"cc8f88e7e1bc7b88"},
        "VideoClassification.forward": {"378625fe4670f5b9"},
    }
)


def _floats() -> list[Any]:
    return [PILToTensorUnlessTensor(), T.ConvertImageDtype(torch.float)]


def _resize(preset: Any) -> T.Resize:
    return T.Resize(list(preset.resize_size), _interpolation(preset), antialias=preset.antialias)


def _interpolation(preset: Any) -> T.InterpolationMode:
    return T.InterpolationMode(preset.interpolation.value)


def _classification(preset: Any) -> list[Any] | None:
    if preset.antialias not in (True, False, None):
        return None
    crop = T.CenterCrop(list(preset.crop_size))
    return [_resize(preset), crop, *_floats(), T.Normalize(list(preset.mean), list(preset.std))]


def _segmentation(preset: Any) -> list[Any] | None:
    if preset.antialias not in (True, False, None):
        return None
    sizes = [_resize(preset)] if isinstance(preset.resize_size, list) else []
    return [*sizes, *_floats(), T.Normalize(list(preset.mean), list(preset.std))]


class Clip(Drawn):
    """A VideoClassification preset, from frames (..., T, C, H, W) to a clip of floats (..., C, T, height, width)."""

    _drawn = ()

    def __init__(self, preset: Any) -> None:
        self.resize_size = list(preset.resize_size)
        self.crop_size = list(preset.crop_size)
        self.mean = list(preset.mean)
        self.std = list(preset.std)
        self.interpolation = _interpolation(preset)

    def apply(self, image: Any, params: None) -> Any:
        clip = pixels(image)
        single = clip.ndim < 5
        if single:
            clip = clip.unsqueeze(dim=0)
        count, length, channels, height, width = clip.shape
        # torchvision's preset has no antialiasing, because its models were trained without it.
        frames = F.resize(clip.view(-1, channels, height, width), self.resize_size, self.interpolation, antialias=False)
        crop = T.Compose([T.CenterCrop(self.crop_size), *_floats(), T.Normalize(self.mean, self.std)])
        clip = crop(frames).view(count, length, channels, *self.crop_size).permute(0, 2, 1, 3, 4)
        return clip.squeeze(dim=0) if single else clip


_READERS = {
    "torchvision.transforms._presets": {
        "ImageClassification": _classification,
        "ObjectDetection": lambda preset: _floats(),
        "SemanticSegmentation": _segmentation,
        "VideoClassification": Clip,
    }
}

install = partial(register_all, _READERS, lambda preset: _known.has(type(preset).forward))
