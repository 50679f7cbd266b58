"""What is timed on a GPU: pipelines, bags and where they lie."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from bench.case import IMAGENET_MEAN, IMAGENET_STD
from bench.cases import pipeline_p
from bench.gpu import scenes
from bench.gpu.machine import Machine

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
        size: of the results.
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

    @property
    def bag(self) -> tuple[str, int, str]:
        """What its images are; cases with the same one share them."""
        return self.images, self.count, self.place

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


CASES = sorted(_cases(), key=lambda case: (case.images, case.count, case.place))


def images_for(machine: Machine, case: GpuCase) -> list[torch.Tensor]:
    """The images of a case, in their place; an emulated device gets a few small ones."""
    if machine.emulated:
        host = scenes.tiles(3, 96) if case.images == "tiles" else scenes.photographs(3)
    elif case.images == "tiles" and case.place == DEVICE:
        return scenes.tiles(case.count, 1024, machine.put)
    else:
        host = scenes.tiles(case.count, 1024) if case.images == "tiles" else scenes.photographs(case.count)
    put = {DEVICE: machine.put, PINNED: machine.pinned, HOST: torch.clone}[case.place]
    return [put(image) for image in host]


def bytes_of(case: GpuCase) -> int:
    """Of device memory that the images and the results of a case take, with room for as much again of results."""
    image = 3 * 1024 * 1024 if case.images == "tiles" else 3 * 560 * 560
    return case.count * (image + 2 * 3 * case.size**2 * case.dtype.itemsize)
