"""Images that look real enough for what depends on content, made on the fly: neither files nor packages are needed."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.nn.functional import interpolate


def scene(height: int, width: int, seed: int) -> torch.Tensor:
    """A uint8 CHW image of shapes of all sizes, with less contrast the smaller they are, and a little noise."""
    generator = torch.Generator().manual_seed(seed)
    picture = torch.zeros(1, 3, height, width)
    cells, weight = 4, 1.0
    while cells <= min(height, width):
        coarse = torch.randn(1, 3, cells, cells, generator=generator) * weight
        picture += interpolate(coarse, (height, width), mode="bicubic")
        cells, weight = cells * 3, weight / 2
    shared = picture.mean(1, keepdim=True)  # channels of photographs go together
    picture = 128 + 45 * (0.7 * shared * 3**0.5 + 0.5 * picture) + 3 * torch.randn(picture.shape, generator=generator)
    return picture.clamp(0, 255).to(torch.uint8)[0]


def tiles(
    count: int, side: int, put: Callable[[torch.Tensor], torch.Tensor] = torch.clone, bases: int = 16
) -> list[torch.Tensor]:
    """Distinct square images, moved and turned copies of a few, which `put` may move to a device."""
    pictures = [put(scene(side, side, seed)) for seed in range(min(bases, count))]
    found = []
    for number in range(count):
        turn, base = divmod(number, len(pictures))
        picture = pictures[base].roll((37 * turn, 61 * turn), (1, 2))
        picture = picture.flip(2) if turn % 2 else picture
        found.append((picture.transpose(1, 2) if turn % 4 > 1 else picture).contiguous())
    return found


def photographs(count: int) -> list[torch.Tensor]:
    """Images of sizes as ImageNet's are, about 500x400, a third of them upright."""
    generator = torch.Generator().manual_seed(1)
    sizes = torch.randint(-60, 61, (count, 2), generator=generator).tolist()
    found = []
    for number, (tall, wide) in enumerate(sizes):
        height, width = 390 + tall, 490 + wide
        if number % 3 == 2:
            height, width = width, height
        base = scene(560, 560, number % 12)
        found.append(base.roll((13 * number, 29 * number), (1, 2))[:, :height, :width].contiguous())
    return found
