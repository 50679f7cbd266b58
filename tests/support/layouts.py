"""The same samples in every memory layout that a tensor of images comes in, and what a result has to be equal in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from support.images import noise, photo


def pixels(height: int, width: int, channels: int, seed: int) -> np.ndarray:
    """Noise, or for odd seeds a photograph, in HWC order."""
    if seed % 2 == 0 or channels > 3:
        return noise(height, width, channels, seed)
    return np.asarray(photo(("astronaut", "chelsea")[seed % 4 // 2], height, width))[:, :, :channels].copy()


def layouts(height: int, width: int, channels: int, seed: int = 0) -> Iterator[tuple[str, torch.Tensor]]:
    """Images, batches and batches of videos, and parts of larger ones."""
    one = torch.from_numpy(pixels(height, width, channels, seed)).permute(2, 0, 1)
    yield "planes", one.contiguous()
    yield "pixels", one
    large = torch.from_numpy(pixels(height + 3, width + 5, channels, seed)).permute(2, 0, 1)
    yield "part of pixels", large[:, 1 : height + 1, 2 : width + 2]
    yield "part of planes", large.contiguous()[:, 1 : height + 1, 2 : width + 2]
    wide = torch.from_numpy(pixels(height, 2 * width, channels, seed)).permute(2, 0, 1).contiguous()
    yield "every other column", wide[:, :, ::2]
    frames = [torch.from_numpy(pixels(height, width, channels, seed + k)).permute(2, 0, 1) for k in range(4)]
    video = torch.stack([frame.contiguous() for frame in frames])
    yield "video", video
    yield "video of pixels", video.contiguous(memory_format=torch.channels_last)
    yield "part of a video", video[::2]
    yield "videos", video.reshape(2, 2, channels, height, width)
    yield "videos of pixels", video.contiguous(memory_format=torch.channels_last).reshape(2, 2, channels, height, width)


def order(tensor: torch.Tensor) -> list[int] | None:
    """The axes of more than one step from the widest stride to the narrowest; None where samples are shared."""
    axes = [axis for axis in range(tensor.ndim) if tensor.shape[axis] > 1]
    if any(tensor.stride(axis) == 0 for axis in axes):
        return None
    return sorted(axes, key=lambda axis: -tensor.stride(axis))


def assert_same(found: Any, expected: Any, of: Any, what: Any) -> None:
    """Type, dtype, shape, samples, order of the axes in memory, and whether it is the input itself."""
    assert type(found) is type(expected), what
    assert found.dtype == expected.dtype, (what, found.dtype, expected.dtype)
    assert found.shape == expected.shape, (what, found.shape, expected.shape)
    assert torch.equal(found, expected), (what, difference(found, expected))
    wanted = order(expected)
    assert wanted is None or order(found) == wanted, (what, found.shape, found.stride(), expected.stride())
    assert (found is of) == (expected is of), what


def difference(found: torch.Tensor, expected: torch.Tensor) -> str:
    apart = (found.double() - expected.double()).abs()
    return f"{(apart > 0).sum()} of {apart.numel()} samples, {apart.max()} at most"


def outcome(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The result, or the type of the error."""
    try:
        return function(*args, **kwargs)
    except Exception as error:
        return type(error)
