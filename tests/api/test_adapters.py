"""Adapters of other packages, on shapes of what they adapt: the packages themselves are met in tests/clients."""

from __future__ import annotations

import sys
import types
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torchvision.transforms.v2 import functional as F

from fastaug.adapters.transformers import pipeline_of
from support.images import photo
from support.processes import python


class Backend:
    """An image processor of transformers by its attributes alone."""

    def __init__(self, **options: Any) -> None:
        self.do_resize = self.do_rescale = self.do_normalize = True
        self.do_center_crop = False
        self.do_pad: bool | None = None
        self.size: Any = {"height": 60, "width": 70}
        self.crop_size: Any = None
        self.resample: Any = 2
        self.rescale_factor = 1 / 255
        self.image_mean: Any = [0.48, 0.46, 0.41]
        self.image_std: Any = [0.27, 0.26, 0.28]
        vars(self).update(options)

    def __call__(self, images: Any) -> Any:
        return [self.resize(image) for image in images]

    def resize(self, image: Any) -> Any:
        raise AssertionError("asked of the processor")


class PilBackend(Backend):
    """Of the one."""


class TorchvisionBackend(Backend):
    """Of the other."""


@pytest.fixture(autouse=True)
def transformers(monkeypatch: pytest.MonkeyPatch) -> None:
    backends = types.ModuleType("transformers.image_processing_backends")
    vars(backends).update(PilBackend=PilBackend, TorchvisionBackend=TorchvisionBackend)
    monkeypatch.setitem(sys.modules, "transformers", types.ModuleType("transformers"))
    monkeypatch.setitem(sys.modules, "transformers.image_processing_backends", backends)


def middle(height: int, width: int, rows: int, columns: int) -> tuple[slice, slice]:
    top, left = max(height - rows, 0) // 2, max(width - columns, 0) // 2
    return slice(top, top + rows), slice(left, left + columns)


def by_pillow(image: Image.Image, processor: Backend) -> np.ndarray:
    size = processor.size
    width, height = image.size
    if size.get("shortest_edge"):
        short = size["shortest_edge"]
        wanted = (short, int(short * height / width)) if width <= height else (int(short * width / height), short)
    else:
        wanted = (size["width"], size["height"])
    pixels = np.array(image.resize(wanted, processor.resample))
    if processor.do_center_crop:
        rows, columns = processor.crop_size["height"], processor.crop_size["width"]
        missing = [max(rows - pixels.shape[0], 0), max(columns - pixels.shape[1], 0)]
        pixels = np.pad(pixels, [*((n - n // 2, n // 2) for n in missing), (0, 0)])
        pixels = pixels[middle(*pixels.shape[:2], rows, columns)]
    floats = (pixels.astype(np.float64) * processor.rescale_factor).astype(np.float32)
    normal = (floats - np.float32(processor.image_mean)) / np.float32(processor.image_std)
    return normal.transpose(2, 0, 1)


def by_torchvision(image: Image.Image, processor: Backend) -> torch.Tensor:
    size = processor.size
    tensor = F.pil_to_tensor(image)
    sides = [size["shortest_edge"]] if size.get("shortest_edge") else [size["height"], size["width"]]
    filter = {2: F.InterpolationMode.BILINEAR, 3: F.InterpolationMode.BICUBIC}[processor.resample]
    tensor = F.resize(tensor, sides, filter, antialias=True)
    if processor.do_center_crop:
        rows, columns = processor.crop_size["height"], processor.crop_size["width"]
        down, right = max(rows - tensor.shape[1], 0), max(columns - tensor.shape[2], 0)
        tensor = F.pad(tensor, [right // 2, down // 2, (right + 1) // 2, (down + 1) // 2])
        tensor = tensor[(slice(None), *middle(*tensor.shape[1:], rows, columns))]
    mean, std = (torch.tensor(values) * 255.0 for values in (processor.image_mean, processor.image_std))
    return F.normalize(tensor.float(), mean.tolist(), std.tolist())


OPTIONS: list[dict[str, Any]] = [
    {},
    {"resample": 3, "size": {"shortest_edge": 40, "height": None}},
    {"do_center_crop": True, "crop_size": {"height": 33, "width": 48}},
    {"do_center_crop": True, "crop_size": {"height": 75, "width": 48}},
    {"do_center_crop": True, "crop_size": {"height": 81, "width": 93}, "resample": 3},
    {"size": {"shortest_edge": 31}, "do_center_crop": True, "crop_size": {"height": 31, "width": 31}},
]


@pytest.mark.parametrize("options", OPTIONS)
def test_processors(options: dict[str, Any]) -> None:
    for height, width in ((90, 121), (121, 90), (50, 50), (60, 71)):
        image = photo("chelsea", height, width)
        slow, fast = PilBackend(**options), TorchvisionBackend(**options)
        assert np.array_equal(pipeline_of(slow)(image).numpy(), by_pillow(image, slow))
        assert torch.equal(pipeline_of(fast)(image), by_torchvision(image, fast))


def test_what_is_not_read() -> None:
    for options, message in (
        ({"do_pad": True}, "do_pad False, got True"),
        ({"do_rescale": False}, "do_rescale True, got False"),
        ({"rescale_factor": 0.5}, "rescale_factor 1/255, got 0.5"),
        ({"resample": 1}, "should resample by one of BILINEAR, BICUBIC, got 1"),
        ({"size": {"longest_edge": 3}}, "size of height and width, or shortest_edge"),
        ({"do_center_crop": True, "crop_size": {"shortest_edge": 3}}, "crop_size of height and width"),
    ):
        with pytest.raises(ValueError, match=message):
            pipeline_of(TorchvisionBackend(**options))
    own = type("Own", (PilBackend,), {"resize": lambda self: None})
    with pytest.raises(ValueError, match="a resize of its own, which is not read: Own"):
        pipeline_of(own())
    with pytest.raises(ValueError, match="a resize of its own"):
        pipeline_of(PilBackend(resize=lambda image: image))
    with pytest.raises(TypeError, match="should be an image processor of transformers"):
        pipeline_of(Backend())


def test_adapters_import_no_package() -> None:
    code = "import sys, fastaug; assert not [name for name in sys.modules if name.startswith('fastaug.adapters')]"
    after = "import fastaug.adapters.transformers; assert 'transformers' not in sys.modules"
    result = python(["-c", f"{code}; {after}"])
    assert result.returncode == 0, result.stderr
