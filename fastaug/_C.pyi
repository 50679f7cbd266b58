"""The native core. Private: use fastaug.transforms."""

from typing import Final, final

import numpy as np
from PIL import Image

#: (name, kind) of every op; the position is the op's id in a program.
OPS: Final[tuple[tuple[str, str], ...]]

def isa() -> str: ...
def isas() -> list[str]: ...

@final
class Source:
    """A borrowed uint8 image; keeps its owner alive."""

    @property
    def height(self) -> int: ...
    @property
    def width(self) -> int: ...
    @property
    def channels(self) -> int: ...

def from_pil(image: Image.Image, channels: int) -> Source:
    """Reads Pillow's memory in place; ValueError when the image is not one block."""

def from_array(array: np.ndarray) -> Source:
    """An HW or HWC uint8 array, any strides."""

def from_pointer(
    data: int,
    height: int,
    width: int,
    channels: int,
    row_stride: int,
    pixel_stride: int,
    channel_stride: int,
    owner: object,
) -> Source: ...
def shape(program: bytes, height: int, width: int, channels: int) -> tuple[int, int, int]:
    """Checks a program; (height, width, channels) of its result."""

def run(
    program: bytes,
    source: Source,
    data: int,
    float32: bool,
    height: int,
    width: int,
    channels: int,
    row_stride: int,
    pixel_stride: int,
    channel_stride: int,
    reference: bool = False,
) -> None:
    """Runs a program into memory at `data` (strides in bytes). `reference` chooses the op-by-op oracle executor."""

def run_pil(program: bytes, source: Source, image: Image.Image, channels: int, reference: bool = False) -> None:
    """Runs a program into the memory of `image`; ValueError when that is not one block."""

def describe(program: bytes) -> str:
    """One line per op."""

def plan(program: bytes, height: int, width: int, channels: int) -> str:
    """The passes that the streaming executor makes of a program, one per line."""

def blur_field(
    field: int, height: int, width: int, matrix: int, kernel_height: int, kernel_width: int, fused: bool, result: int
) -> None:
    """torchvision's gaussian_blur of one contiguous float32 plane, by a kernel of contiguous float32 weights.

    `field`, `matrix` and `result` are addresses; half the kernel must be smaller than the plane. `fused` says whether
    torch would round each multiplication and addition once.
    """

def sample_grid(
    source: Source,
    grid: int,
    nearest: bool,
    fill: bytes | None,
    data: int,
    row_stride: int,
    pixel_stride: int,
    channel_stride: int,
) -> None:
    """torch's grid_sample into uint8 memory at `data`, as large as the source.

    `grid` is the address of (height, width, 2) contiguous float32 positions; `fill` four bytes, or None for zeros.
    """

def sample_grid_pil(source: Source, grid: int, nearest: bool, fill: bytes | None, image: Image.Image) -> None:
    """The same into the memory of `image`; ValueError when that is not one block."""

def mix(images: list[int], weights: list[float], size: int, data: int) -> None:
    """The weighted sum, as AugMix forms it, of `size` uint8 samples at each address, into memory at `data`."""
