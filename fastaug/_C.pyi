"""The native core. Private: use fastaug.transforms."""

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias, final, overload

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
    """A borrowed image of uint8 or float32; keeps its owner alive."""

    @property
    def height(self) -> int: ...
    @property
    def width(self) -> int: ...
    @property
    def channels(self) -> int: ...
    @property
    def floats(self) -> bool:
        """Whether its samples are float32."""

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
    dtype: int = 0,
) -> Source:
    """Memory of uint8, or of float32, whose number is that of DTYPES; strides in bytes."""

@final
class Target:
    """Memory for a result; keeps its owner alive."""

    @property
    def height(self) -> int: ...
    @property
    def width(self) -> int: ...
    @property
    def channels(self) -> int: ...
    @property
    def dtype(self) -> int:
        """0 for uint8, 1 for float32, 2 for float16, 3 for bfloat16."""

    @property
    def address(self) -> int: ...
    @property
    def owner(self) -> Any: ...

def into_pil(image: Image.Image, channels: int) -> Target:
    """Pillow's memory in place, of an image that nobody else has seen yet; ValueError when it is not one block."""

def into_array(array: np.ndarray) -> Target:
    """An HW or HWC uint8 array that may be written to, any strides."""

def into_pointer(
    data: int,
    dtype: int,
    height: int,
    width: int,
    channels: int,
    row_stride: int,
    pixel_stride: int,
    channel_stride: int,
    owner: object,
) -> Target:
    """Memory at `data`; strides in bytes, `dtype` as Target has it."""

class Deferred(Exception):
    """Encoded bytes are not decoded natively: Pillow is to say what they are. (reason, offset); -1: unknown."""

class Refused(Exception):
    """Encoded bytes cost more than any honest image of their size. (reason, offset); -1: unknown."""

@final
class Mapped:
    """The bytes of a file, mapped into memory, as a read-only buffer. It holds no descriptor."""

    def __init__(self, descriptor: int) -> None:
        """Raises OSError for what has no map."""

    def __buffer__(self, flags: int, /) -> memoryview: ...

@final
class File:
    """A file that is read at given places by any threads and forked processes. Closed with the last who reads it."""

    def __init__(self, descriptor: int) -> None:
        """Takes the descriptor over."""

@final
class Tiles:
    """Where the tiles of an image lie in a file, each a JPEG, row by row; strips are tiles as wide as the image."""

    def __init__(
        self,
        file: File,
        height: int,
        width: int,
        tile_height: int,
        tile_width: int,
        offsets: bytes,
        sizes: bytes,
        tables: bytes | None = None,
        colorspace: str | None = None,
    ) -> None:
        """`offsets` and `sizes` are uint64. ValueError for sides below 1, and for fewer of them than tiles."""

    def source(self, y: int, x: int, height: int, width: int, channels: int) -> Source:
        """A region, RGB or RGBA, that may lie outside of the image, and is black there; run() reads and decodes the
        tiles that it needs, and raises Deferred where it cannot."""

    def read(self, index: int) -> bytes:
        """The bytes of a tile, whatever they are; Deferred where they are not there."""

def jpeg_decoder() -> str:
    """Who is asked first for a JPEG of one scan: "own" or "libjpeg"."""

def afford(data: Any) -> None:
    """Raises Refused for encoded bytes that Pillow is not to decode either."""

def image_end(data: Any) -> int | None:
    """Where the JPEG, PNG or NPY image that begins here ends; None where these bytes do not tell."""

def jpeg_segment(data: Any, marker: int) -> bytes | None:
    """The content of the first segment of a marker before the pixels."""

@final
class ScanIndex:
    """Where the decoder of a JPEG can begin elsewhere than at the first row. For all threads."""

    def __init__(self) -> None:
        """Without places, of the bytes that it is used with first."""

    @staticmethod
    def load(saved: Any) -> ScanIndex | None:
        """What save() has made; None of bytes that are not all of that."""

    def save(self) -> bytes: ...
    def is_of(self, data: Any) -> bool:
        """Whether it was made of these bytes; one without bytes is from now on."""

    def __len__(self) -> int:
        """How many places it has."""

@final
class Encoded:
    """Encoded bytes whose header alone has been read."""

    def __init__(self, data: Any, tables: Any = None, colorspace: str | None = None, luma: bool = False) -> None:
        """Contiguous bytes, kept alive; the tables of a JPEG that has none; what its three components are: "rgb",
        "ycbcr", or what it says itself; whether only its luma is wanted, as the one channel."""

    @property
    def format(self) -> str:
        """JPEG, PNG, NPY or image."""

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

    def source(self, channels: int, index: ScanIndex | None = None) -> Source:
        """Pixels as Pillow's convert() to L, LA, RGB or RGBA makes them; run() decodes what it needs of them.

        The index helps where it is of these bytes, and is then extended; one of other bytes does nothing. run() raises
        Deferred or Refused.
        """

    def scan_index(self) -> ScanIndex:
        """Of the whole stream; without places where it is not one that has them."""

    def read_16(self, top: int, left: int, height: int, width: int, address: int) -> None:
        """A region of 16-bit samples, as uint16 HWC."""

def shape(program: bytes, height: int, width: int, channels: int, floats: bool = False) -> tuple[int, int, int]:
    """Checks a program for an image of uint8, or of floats; (height, width, channels) of its result."""

#: A program, the image that it runs on, and where the result goes.
_Job: TypeAlias = tuple[bytes, Source, Target]

def density_moments(source: Source, densities: bytes, least: float, keep: bool) -> tuple[int, bytes, bytes]:
    """Of an RGB image: how many pixels have no density below `least`, float64 sums over them, and they themselves.

    `densities` are 256 float64, by sample. The sums are those of the densities R, G and B, and of the products RR, RG,
    RB, GG, GB and BB. The pixels are bytes, side by side; none without `keep`.
    """

def count_colours(source: Source, counters: object) -> None:
    """Adds each pixel of an RGB image to the counter of its colour: 2^24 uint32, of 65536 R + 256 G + B."""

def density_values(
    source: Source, densities: bytes, least: float, axes: bytes, direction: bool, ranges: bytes, step: int
) -> tuple[int, bytes, int, bytes]:
    """Two numbers of every `step`th of these pixels: how many are below a range, and those within, as float64.

    `axes` are 3x2 float64, what each density adds to the two numbers. With `direction`, both numbers are the direction
    of that point of the plane, from -2 to 2. `ranges` are the ends of both ranges.
    """

def tissue_stats(source: Source, white: int, black: int) -> tuple[int, int, int, int, int, int, int, bytes, bytes]:
    """Of an RGB image: sums of red, green and blue; pixels with all samples above `white`, and with all below `black`.

    Then of OpenCV's gray: the sum of its Laplacian, and of the squares of that; and how many pixels have each
    saturation, and each gray, 256 uint32 each.
    """

def run(
    jobs: Sequence[_Job],
    rewrites: int = ...,
    reference: bool = False,
    reports: list[list[Pass]] | None = None,
) -> None:
    """Runs jobs, on this thread and without Python's lock.

    Jobs of the same encoded Source share what is decoded: once, the rectangle around what any of them reads.
    `rewrites` are EXACT by default. `reference` chooses the op-by-op oracle executor. The passes of each job, with the
    time that they took, are appended to `reports`.
    """

@final
class Queue:
    """Jobs for several threads, each of which takes the next one until none is left. It starts no thread."""

    def push(self, job: _Job | tuple[_Job, ...] | None, rewrites: int = ..., urgent: bool = False) -> int:
        """Adds a job, or, as None, an errand: what the thread that meets it does by itself. By one thread alone.

        Several jobs are one entry, and run as by run().
        What is urgent comes before all that is not. The numbers count from 0. The memory of a job is kept until it is
        taken, or until the queue ends.
        """

    def work(self, wait: bool, limit: int) -> int | None:
        """Runs at most `limit` jobs, without Python's lock; the number of the first errand, or job that failed.

        The caller does that one, and calls done(). None when there is no more to do: with `wait`, not before the queue
        is closed.
        """

    def left(self) -> int:
        """How many entries there are that nobody has begun."""

    def done(self, number: int) -> None: ...
    def take(self, seconds: float, least: int = 1) -> int | None:
        """The number of what was done first of all that have not been taken. By one thread alone.

        Waits until there are so many, for at most so long. The same number again until heard(), so that Ctrl-C between
        the two loses none.
        """

    def heard(self) -> None:
        """Says that the number that take() returned is known."""

    def seconds(self) -> tuple[float, float]:
        """What decoding, and jobs as a whole, have taken so far, added up over all threads."""

    def close(self) -> None:
        """No more will be pushed."""

    def cancel(self) -> None:
        """As close(); and what nobody has begun is dropped."""

def torch_gamma_is_certain(exponent: float, gain: float) -> bool:
    """Whether the table of TORCH_GAMMA is torchvision's, whatever the last bits of torch's powers."""

def v2_gamma_is_certain(exponent: float, gain: float) -> bool:
    """Whether it is that of torchvision.transforms.v2 as well, whatever those bits."""

def describe(program: bytes) -> str:
    """One line per op."""

@final
class Pass:
    """One pass over pixels (csrc/plan/plan.h). What a kind of pass has no use for is 0, empty or None."""

    @property
    def kind(self) -> str:
        """decode, move, read, warp, window, index, filter, sharpen, blur, tables, colour, keep, turn, ..."""

    @property
    def name(self) -> str:
        """The op's, in small letters, of a pass that is one op; else the kind."""

    @property
    def ops(self) -> tuple[str, ...]:
        """The rewritten ops that it does, or for whose sake it is there."""

    @property
    def origin(self) -> int:
        """The ops of the program that it does: bit k for op k."""

    @property
    def part(self) -> int:
        """Passes of one part go row by row together."""

    @property
    def region(self) -> tuple[int, int, int, int]:
        """What it computes: (top, left, height, width)."""

    @property
    def height(self) -> int: ...
    @property
    def width(self) -> int: ...
    @property
    def channels(self) -> int: ...
    @property
    def whole(self) -> tuple[int, int] | None:
        """(height, width) of what `region` is a part of."""

    @property
    def read(self) -> tuple[int, int, int, int]:
        """read, warp: the region of `crop` that it reads."""

    @property
    def crop(self) -> tuple[int, int, int, int]:
        """read, warp: the part of the image in memory that it sees."""

    @property
    def vertical(self) -> bool: ...
    @property
    def samples(self) -> int:
        """filter: of the axis, before it."""

    @property
    def taps(self) -> int: ...
    @property
    def composed(self) -> int:
        """filter: the number of ops whose taps are composed."""

    @property
    def reason(self) -> str:
        """keep, turn, statistics: any_order, turn, mean, extremes, histogram or row_order."""

    @property
    def statistics(self) -> bool: ...
    @property
    def degrees(self) -> int: ...
    @property
    def dtype(self) -> str:
        """store: of the result."""

    @property
    def normalized(self) -> bool: ...
    @property
    def hflip(self) -> bool: ...
    @property
    def vflip(self) -> bool: ...
    @property
    def erased(self) -> int:
        """store: how many boxes."""

    @property
    def format(self) -> str:
        """decode: JPEG or PNG."""

    @property
    def bytes_read(self) -> int: ...
    @property
    def bytes_written(self) -> int: ...
    @property
    def seconds(self) -> float:
        """Its own, without what it asks of passes before it; 0 in a plan."""

@final
class Plan:
    """What has to be done to run a program on an image. Prints as a line for each pass; equal by content."""

    @property
    def passes(self) -> list[Pass]: ...

@overload
def plan(job: _Job, rewrites: int = ...) -> Plan:
    """The plan that run() would make."""

@overload
def plan(program: bytes, source: Source, rewrites: int = ...) -> Plan:
    """For interleaved bytes, or planes of float32, as the result."""

@overload
def plan(program: bytes, height: int, width: int, channels: int, rewrites: int = ...) -> Plan: ...
def blur_field(
    field: int, height: int, width: int, matrix: int, kernel_height: int, kernel_width: int, fused: bool, result: int
) -> None:
    """torchvision's gaussian_blur of one contiguous float32 plane, by a kernel of contiguous float32 weights.

    `field`, `matrix` and `result` are addresses; half the kernel must be smaller than the plane. `fused` says whether
    torch would round each multiplication and addition once.
    """

def displace(
    source: Source,
    columns: int,
    rows: int,
    displacement: int,
    nearest: bool,
    fill: Sequence[float] | None,
    v2: bool,
    target: Target,
) -> None:
    """torchvision's elastic_transform into uint8 memory as large as the source.

    `columns`, `rows` and `displacement` are addresses of contiguous float32: where in grid_sample's units the pixels
    are, and (height, width, 2) by how much each is displaced. `fill` are four numbers from 0 to 255, or None for zeros;
    `v2` says whether they are blended with as torchvision.transforms.v2 does.
    """

def mix(images: list[int], weights: list[float], size: int, data: int) -> None:
    """The weighted sum, as AugMix forms it, of `size` uint8 samples at each address, into memory at `data`."""

#: (kernel, offset, count, blocks, shared): which of the specs, -1 for the kernel "fastaug_prepare"; where in the blob
#: its tasks or entries begin, and how many there are; blocks of threads; bytes of shared memory.
_Launch: TypeAlias = tuple[int, int, int, int, int]

@final
class Bag:
    """Jobs for a CUDA device, planned (csrc/cuda/bag.h). Sources and targets have the device's addresses."""

    def __init__(
        self, jobs: Sequence[_Job], rewrites: int = ..., wave_bytes: int = ..., shared_bytes: int = ...
    ) -> None:
        """Reads no pixel. A wave of images ends after so many bytes of scratch; a block may have so much shared memory.

        Raises ValueError for a job that run() would refuse too.
        """

    @property
    def unfit(self) -> list[int]:
        """The numbers of jobs that no device does, which are in no launch."""

    @property
    def specs(self) -> list[tuple[int, int, int, int, int, int, int]]:
        """Of the kernels, as fastaug._cuda.kernels has them."""

    @property
    def launches(self) -> list[_Launch]:
        """In their order: each needs those before it to be done."""

    @property
    def waves(self) -> int: ...
    @property
    def blob_bytes(self) -> int:
        """Of what is copied to the device, where it is aligned to 16 bytes."""

    @property
    def scratch_bytes(self) -> int:
        """Of memory on the device, aligned to 256 bytes."""

    def write(self, address: int) -> None:
        """Puts the blob there, into memory of the host."""

    def launch(self, function: int, stream: int, prepare: int, tiles: Sequence[int], blob: int, scratch: int) -> int:
        """All launches, without Python's lock; the CUresult of the first that fails, or 0.

        `function` is the address of cuLaunchKernel, `stream` a CUstream, `prepare` and `tiles`, one for each spec, are
        CUfunctions; blob and scratch are addresses on the device, whose context is current.
        """

    def emulate(self, order: int = 0) -> None:
        """Does it on the host, where sources and targets are then.

        `order` of blocks and threads: 0 forwards, 1 backwards, any other number shuffles them.
        """

def emulate_launch(launch: _Launch, blob: int, scratch: int, order: int = 0) -> None:
    """One launch on the host, where blob and scratch are then, as Bag.emulate does it."""

def needed(program: bytes, height: int, width: int, channels: int, rewrites: int = ...) -> tuple[int, int, int, int]:
    """(top, left, height, width) of what a program reads of an image on a device; its sides may be 0."""

#: {name: text} of what the sources of CUDA kernels include.
CUDA_HEADERS: Final[dict[str, str]]

def cuda_source(spec: tuple[int, int, int, int, int, int, int], blocks: int = 3) -> str:
    """The source of the kernel "fastaug_tile" for a spec, as fastaug._cuda.kernels has it.

    Of its blocks at least `blocks`, 1 to 4, fit into a multiprocessor together. The more, the fewer registers a thread
    has, and the sooner it keeps numbers in memory instead.
    """

def cuda_prepare_source() -> str:
    """The source of the kernel "fastaug_prepare"."""

#: The types of coordinates, by the names of their dtypes, and the formats of boxes that are not turned.
COORDINATES: Final[dict[str, int]]
BOX_FORMATS: Final[dict[str, int]]

class _Places:
    """Coordinates that every method changes in place, and the canvas that they are on."""

    @property
    def count(self) -> int: ...
    @property
    def canvas(self) -> tuple[int, int]:
        """(height, width)"""

    @property
    def type(self) -> str:
        """The name of their dtype."""

    def hflip(self) -> None: ...
    def vflip(self) -> None: ...
    def resize(self, height: int, width: int) -> None:
        """ZeroDivisionError where the canvas has no pixels, and its size changes."""

    def clamp(self) -> None: ...
    def into(self, data: int) -> None:
        """Writes them densely to memory for `count`."""

@final
class Boxes(_Places):
    """Bounding boxes that are not turned; a copy of `count` rows of four numbers. Strides are in elements.

    `clamping` is whether a method cuts the boxes to the canvas at its end. Masks are pointers to `count` bools.
    """

    def __init__(
        self,
        data: int,
        count: int,
        row_stride: int,
        column_stride: int,
        type: int,
        format: int,
        height: int,
        width: int,
    ) -> None: ...
    @property
    def format(self) -> str: ...
    def copy(self) -> Boxes: ...
    def crop(self, top: int, left: int, height: int, width: int, clamping: bool) -> None: ...
    def pad(self, left: int, top: int, right: int, bottom: int, clamping: bool) -> None: ...
    def affine(self, forth: Sequence[float], back: Sequence[float] | None, clamping: bool) -> None:
        """By six numbers from input to output. With `back`, the six from output to input, the canvas expands."""

    def perspective(self, map: Sequence[float], clamping: bool) -> None:
        """By eight numbers from input to output."""

    def elastic(
        self,
        data: int,
        doubles: bool,
        row_stride: int,
        column_stride: int,
        axis_stride: int,
        across: int,
        down: int,
        clamping: bool,
    ) -> None:
        """By a displacement of the canvas's pixels, (height, width, 2) of float32 or float64.

        `across` and `down` point to where the pixels of both axes lie in grid_sample's units, as torch.linspace gives
        them, in float64 for float64 boxes and else in float32.
        """

    def convert(self, format: int) -> None: ...
    def valid(self, size: float, area: float, out: int) -> None: ...
    def clear_but(self, kept: int) -> None:
        """Makes the others all zeros."""

    def keep(self, kept: int) -> None:
        """Removes the others."""

@final
class Points(_Places):
    """Key points; a copy of `count` rows of two numbers. Strides are in elements."""

    def __init__(
        self, data: int, count: int, row_stride: int, column_stride: int, type: int, height: int, width: int
    ) -> None: ...
    def copy(self) -> Points: ...
    def crop(self, top: int, left: int, height: int, width: int) -> None: ...
    def pad(self, left: int, top: int, right: int, bottom: int) -> None: ...
    def affine(self, forth: Sequence[float], back: Sequence[float] | None) -> None: ...
    def perspective(self, map: Sequence[float]) -> None: ...
    def elastic(
        self, data: int, doubles: bool, row_stride: int, column_stride: int, axis_stride: int, across: int, down: int
    ) -> None: ...
    def valid(self, group: int, groups: int, out: int) -> None:
        """Whether all points of each of `groups` groups are on the canvas."""

    def keep(self, kept: int, group: int) -> None:
        """Removes the other groups of so many points."""

@final
class Recipe:
    """Transforms as plain data, which draw, draft and run in one call for an image; see fastaug._draft.recipe.

    Args:
        steps: What each transform is told, by the name of a step.
        watched: What may not change: tuples of an object, how many attributes it has, and names and values of some; of
            a list and its items; of dictionaries that are empty; and the transforms themselves.
        call: The fastaug._draft.call.Call of the pipeline.
        draws: Its Draws.
        functions: What only torch computes with its own roundings, by name.
        settings: How the result is made, and what runs it.

    Raises:
        ValueError: A transform is told what cannot be drawn from, or drafted, here.
    """

    def __new__(
        cls,
        steps: tuple[tuple[Any, ...], ...],
        watched: tuple[tuple[Any, ...], tuple[Any, ...], tuple[Any, ...], object],
        call: object,
        draws: Draws,
        functions: dict[str, Callable[..., Any]],
        settings: dict[str, Any],
        /,
    ) -> Recipe: ...
    @property
    def holds(self) -> bool:
        """Whether nothing that is watched has changed; never again from when something has."""
    def call(self, image: object, transforms: object, /) -> Any:
        """What the transforms make of an image; NotImplemented, with nothing drawn, where that is Python's to do."""
    def job(self, image: object, transforms: object, /) -> Any:
        """The parts of the job that the call would run; NotImplemented as there. The caller releases the draws."""

@final
class Draws:
    """fastaug._draft.draws.Draws without torch: the same numbers, and the same generator state after release().

    Args:
        generator: A torch.Generator; None is torch's default one.
        fallback: A fastaug._draft.draws.TorchDraws of that generator. It draws whatever only torch itself can draw:
            from generators that are not torch's own on the CPU; of unusual arguments; under a default device, a default
            type that is not float32, or a mode that sees torch's calls.
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
    def scaled(self, low: float, high: float, /) -> float: ...
    def choice(self, weights: list[float], /) -> int: ...
    def zoom_out(self, height: int, width: int, low: float, high: float, /) -> tuple[int, int, int, int]: ...
    def iou_crop(
        self,
        boxes: Boxes | Callable[[], Any],
        height: int,
        width: int,
        scales: tuple[float, float],
        aspects: tuple[float, float],
        options: Sequence[float],
        trials: int,
        /,
    ) -> tuple[int, int, int, int, bytearray] | None: ...
    def release(self) -> None: ...

def as_written(
    cls: type,
    names: tuple[str, ...],
    values: tuple[object, ...],
    forbidden: tuple[str, ...],
    empty: tuple[str, ...],
) -> Callable[[object], bool]:
    """A function that says of an object whether it does what its class was written to do.

    Args:
        cls: the class; objects of others do not.
        names: of attributes of the class.
        values: of these, as it was written. Somebody may put others in their places, and the same ones again.
        forbidden: names of attributes that objects have none of by themselves.
        empty: names of those that all objects have by themselves, as containers with nothing in them.
    """

def draw_from(draws: Draws | None) -> Draws | None:
    """What this thread draws from where it would draw from torch's default generator; None is that one again.

    Returns what it was before. Off the main thread, torch is asked too (torch.thread_safe_generator), once a call.
    """
