"""The native core. Private: use fastaug.transforms."""

from typing import Any, Final, final, overload

import numpy as np
from PIL import Image

#: (name, kind) of every op; the position is the op's id in a program.
OPS: Final[tuple[tuple[str, str], ...]]
FLAGS: Final[dict[str, int]]
PAD_MODES: Final[dict[str, int]]
NEAREST_RULES: Final[dict[str, int]]
DTYPES: Final[dict[str, int]]
#: What is left of a sample, by the number of bits that POSTERIZE keeps.
POSTERIZE_MASKS: Final[tuple[int, ...]]
OP_BYTES: Final[int]
MAX_OPS: Final[int]
BLUR_WEIGHTS: Final[int]

#: {name: bit} of every rewrite of programs (csrc/plan/rewrite.h), and the sets of them that the two modes use.
REWRITES: Final[dict[str, int]]
EXACT: Final[int]
FAST: Final[int]

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

class Deferred(Exception):
    """Encoded bytes are not decoded natively: Pillow is to say what they are. (reason, offset); -1: unknown."""

class Refused(Exception):
    """Encoded bytes cost more than any honest image of their size. (reason, offset); -1: unknown."""

def afford(data: Any) -> None:
    """Raises Refused for encoded bytes that Pillow is not to decode either."""

@final
class Encoded:
    """Encoded bytes whose header alone has been read."""

    def __init__(self, data: Any, tables: Any = None) -> None:
        """Contiguous bytes, kept alive; the tables of a JPEG that has none."""

    @property
    def format(self) -> str:
        """JPEG, PNG or image."""

    @property
    def native(self) -> bool:
        """Whether the core decodes it; else the numbers are 0 or not to be trusted."""

    @property
    def height(self) -> int: ...
    @property
    def width(self) -> int: ...
    @property
    def channels(self) -> int: ...
    @property
    def bits(self) -> int: ...
    @property
    def orientation(self) -> int:
        """Exif, 1 to 8."""

    def source(self, channels: int) -> Source:
        """Pixels as Pillow's convert() to L, LA, RGB or RGBA makes them; run() decodes what it needs of them.

        run() and run_pil() raise Deferred or Refused.
        """

    def read_16(self, top: int, left: int, height: int, width: int, address: int) -> None:
        """A region of 16-bit samples, as uint16 HWC."""

def shape(program: bytes, height: int, width: int, channels: int) -> tuple[int, int, int]:
    """Checks a program; (height, width, channels) of its result."""

def run(
    program: bytes,
    source: Source,
    data: int,
    dtype: int,
    height: int,
    width: int,
    channels: int,
    row_stride: int,
    pixel_stride: int,
    channel_stride: int,
    rewrites: int = ...,
    reference: bool = False,
    passes: list[Pass] | None = None,
) -> None:
    """Runs a program into memory at `data` (strides in bytes).

    `dtype` is 0 for uint8, 1 for float32, 2 for float16, 3 for bfloat16. `rewrites` are EXACT by default. `reference`
    chooses the op-by-op oracle executor. What was done and how long it took is appended to `passes`.
    """

def run_pil(
    program: bytes,
    source: Source,
    image: Image.Image,
    channels: int,
    rewrites: int = ...,
    reference: bool = False,
    passes: list[Pass] | None = None,
) -> None:
    """Runs a program into the memory of `image`; ValueError when that is not one block."""

def describe(program: bytes) -> str:
    """One line per op."""

@final
class Pass:
    """One pass over pixels (csrc/execute/execute.h)."""

    @property
    def name(self) -> str: ...
    @property
    def detail(self) -> str: ...
    @property
    def origin(self) -> int:
        """The ops it does: bit k for op k of the program."""

    @property
    def part(self) -> int: ...
    @property
    def height(self) -> int: ...
    @property
    def width(self) -> int: ...
    @property
    def channels(self) -> int: ...
    @property
    def bytes_read(self) -> int: ...
    @property
    def bytes_written(self) -> int: ...
    @property
    def seconds(self) -> float: ...

@overload
def plan(program: bytes, source: Source, rewrites: int = ...) -> list[Pass]:
    """The passes that the streaming executor would make of a program."""

@overload
def plan(program: bytes, height: int, width: int, channels: int, rewrites: int = ...) -> list[Pass]: ...
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

@final
class Draws:
    """fastaug._draws.Draws without torch: the same numbers, and the same generator state after release().

    Args:
        generator: A torch.Generator; None is torch's default one.
        fallback: A fastaug._draws.TorchDraws of that generator. It draws whatever only torch itself can draw: from
            generators that are not torch's own on the CPU; of unusual arguments; under a default device, a default type
            that is not float32, or a mode that sees torch's calls.
    """

    def __init__(self, generator: object, fallback: object) -> None: ...
    @property
    def generator(self) -> Any: ...
    def rand(self) -> float: ...
    def uniform(self, low: float, high: float, /) -> float: ...
    def randint(self, low: int, high: int, /) -> int: ...
    def randperm(self, count: int, /) -> list[int]: ...
    def sides(
        self,
        area: int,
        limits: tuple[int, int],
        scale: tuple[float, float],
        log_ratio: tuple[float, float],
        strict: bool,
        /,
    ) -> tuple[int, int] | None: ...
    def release(self) -> None: ...
