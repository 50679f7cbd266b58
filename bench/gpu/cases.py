"""What is timed on a GPU: pipelines, bags and where they lie."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch

from bench.case import IMAGENET_MEAN, IMAGENET_STD
from bench.cases import pipeline_p
from bench.gpu import scenes

#: Places of images: on the device, in pinned memory of the host, and anywhere there.
DEVICE, PINNED, HOST = "device", "host, pinned", "host"


def imagenet(T: Any) -> Any:
    """The training recipe for tensors, which ToTensor does not take."""
    return T.Compose(
        [
            T.RandomResizedCrop(224),
            T.RandomHorizontalFlip(),
            T.ConvertImageDtype(torch.float32),
            T.Normalize(IMAGENET_MEAN, IMAGENET_STD),
        ]
    )


@dataclass(frozen=True)
class GpuCase:
    """A row.

    Attributes:
        rivals: what `bench.gpu.rivals` calls the pipeline; None where no other library is timed.
        short: an emulated device does it, on smaller images.
    """

    name: str
    build: Callable[[Any], Any]
    images: str
    count: int
    place: str = DEVICE
    mode: str = "exact"
    dtype: torch.dtype = torch.float32
    rivals: str | None = None
    size: int = 0
    short: bool = field(default=False, compare=False)

    @property
    def title(self) -> str:
        return f"{self.name}, {self.mode}, {'fp32' if self.dtype == torch.float32 else 'bf16'}"


def _cases() -> list[GpuCase]:
    found = []
    settings = [(mode, dtype) for mode in ("exact", "fast") for dtype in (torch.float32, torch.bfloat16)]
    for count in (64, 512, 3000):
        for size in (512, 224):
            build = partial(pipeline_p, size=size, rotation="nearest")
            for mode, dtype in settings:
                plain = mode == "exact" and dtype == torch.float32
                compared = "P" if plain and count == 64 else None
                case = GpuCase(f"P, {size}", build, "tiles", count, mode=mode, dtype=dtype, rivals=compared, size=size)
                found.append(case)
                if plain and count < 3000:
                    found += [GpuCase(case.name, build, "tiles", count, place, size=size) for place in (PINNED, HOST)]
    for mode, dtype in settings:
        compared = "ImageNet" if (mode, dtype) == ("exact", torch.float32) else None
        found.append(
            GpuCase("ImageNet, 224", imagenet, "photographs", 256, mode=mode, dtype=dtype, rivals=compared, size=224)
        )
    found += [GpuCase("ImageNet, 224", imagenet, "photographs", 256, place, size=224) for place in (PINNED, HOST)]
    return found


CASES = _cases()

#: {name: what makes so many images}
IMAGES: dict[str, Callable[[int], list[torch.Tensor]]] = {
    "tiles": lambda count: scenes.tiles(count, 1024),
    "photographs": scenes.photographs,
}


def bytes_of(case: GpuCase) -> int:
    """Of device memory that the images and the results of a case take, with room for as much again of results."""
    image = 3 * 1024 * 1024 if case.images == "tiles" else 3 * 560 * 560
    return case.count * (image + 2 * 3 * case.size**2 * case.dtype.itemsize)
