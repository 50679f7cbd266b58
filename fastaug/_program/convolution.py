"""Find out how torch adds up the products of a blur's convolution on this machine.

torch uses oneDNN, MKL or its own loops. Their order of sums and their roundings depend on the processor, the shape,
threads and settings. So the first image of each class is convolved by torch and by the core, in each of its ways. The
way with torch's bits is the class's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as nnf

from fastaug._program import fields

#: Padded images of at most this many pixels are classes by their exact size, as libraries have kernels for small ones.
#: Above it, sides of as many bits are one class.
_SMALL = 1 << 15

#: The number of samples that tells the ways apart. On a few pixels they may agree.
_ENOUGH = 1000

#: The number of classes after which all answers are forgotten.
_MOST = 4096

# torch 2.2 has no "deterministic" of oneDNN.
_OF_TORCH = ("_get_mkldnn_enabled", "_get_mkldnn_deterministic", "_get_deterministic_algorithms")

#: Functions that return the settings on which torch's choice depends, as numbers.
SETTINGS = (torch.get_num_threads, *(getattr(torch._C, name) for name in _OF_TORCH if hasattr(torch._C, name)))

_answers: dict[tuple[Any, ...], bool | None] = {}


def fuses(batch: int, channels: int, height: int, width: int, kernel_size: Sequence[int]) -> bool | None:
    """Find out how torch convolves each channel of a float32 batch, mirrored at its borders, with a kernel.

    Returns:
        True if it fuses each multiplication with the addition, in the order of the weights. False if it rounds both.
        None if only torch gives torch's bits.
    """
    across, down = kernel_size
    if across == down == 1:
        return True  # there is nothing to add up
    asked = (batch, channels, *_size_class(height + down - 1, width + across - 1), across, down, *_settings())
    try:
        return _answers[asked]
    except KeyError:
        if len(_answers) >= _MOST:
            _answers.clear()
        answer = _answers[asked] = _ask((batch, channels, height, width), (down, across))
        return answer


def described() -> str:
    ways = {True: "rounded once", False: "rounded twice", None: "left to torch"}
    found = list(_answers.values())
    counts = [f"{found.count(answer)} {way}" for answer, way in ways.items() if answer in found]
    return f"as torch's convolution, which is asked; of its classes of shapes so far {', '.join(counts) or 'none'}"


def _size_class(height: int, width: int) -> tuple[int, ...]:
    return (height, width) if height * width <= _SMALL else (height.bit_length(), width.bit_length(), height > width)


def _settings() -> tuple[Any, ...]:
    """Return all that a program may change meanwhile, also the function itself, which some replace."""
    return nnf.conv2d, *(setting() for setting in SETTINGS)


def _ask(shape: tuple[int, int, int, int], kernel_shape: tuple[int, int]) -> bool | None:
    rng = np.random.default_rng(0)  # torch's generator stays where it is
    # A batch of pixels that lie together is convolved by other code than one of planes.
    layouts = [torch.contiguous_format] if shape[1] == 1 else [torch.contiguous_format, torch.channels_last]
    left, seen, differ = [True, False], 0, False
    while left and not differ and seen < _ENOUGH:
        image = torch.from_numpy(rng.integers(0, 256, shape).astype(np.float32))
        kernel = torch.from_numpy(rng.random(kernel_shape, np.float32))
        kernel /= kernel.sum()
        ways = {fused: fields.blurred(image, kernel, fused) for fused in (True, False)}
        with torch.autocast("cpu", enabled=False):
            theirs = [convolved(image.contiguous(memory_format=layout), kernel) for layout in layouts]
        left = [fused for fused in left if all(torch.equal(ways[fused], one) for one in theirs)]
        differ = not torch.equal(ways[True], ways[False])
        seen += image.numel()
    return left[0] if left else None


def blurred(batch: Tensor, kernel: Tensor) -> Tensor:
    """Return the result of `convolved`, from the core if that gives torch's bits."""
    if batch.ndim == 4 and fields.blurs(batch, kernel):
        down, across = kernel.shape
        batches, channels, height, width = batch.shape
        fused = fuses(batches, channels, height, width, (across, down))
        if fused is not None:
            return fields.blurred(batch, kernel, fused)
    return convolved(batch, kernel)


def convolved(image: Tensor, kernel: Tensor) -> Tensor:
    """Convolve each channel of a batch with the kernel by torch, as torchvision does. Borders are mirrored."""
    down, across = kernel.shape
    channels = image.shape[-3]
    padded = nnf.pad(image, [across // 2, across // 2, down // 2, down // 2], mode="reflect")
    return nnf.conv2d(padded, kernel.expand(channels, 1, down, across), groups=channels)
