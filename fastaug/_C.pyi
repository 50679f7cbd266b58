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
