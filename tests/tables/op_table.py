"""The tests' op table: for every op of the native registry its random operands and a reference.

References are numpy, Pillow and, for the ops that follow torchvision's tensors, torchvision. Ops are packed here from
scratch, so that the tests check the format as well as the arithmetic. Images are uint8 arrays of shape (height, width,
channels); the store ops make and change float32 ones.
"""

from __future__ import annotations

import io
import math
import random
import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from unittest import mock

import numpy as np
import torch
from PIL import Image, ImageFilter, ImageOps
from torchvision.transforms import _functional_tensor as tensor_functional
from torchvision.transforms.v2 import functional as v2_functional
from torchvision.transforms.v2.functional import _geometry as v2_geometry

from fastaug import _C

OP_FORMAT = "<HH4B6i8d"
IDS = {name: index for index, (name, _) in enumerate(_C.OPS)}

HAS_ALPHA = SQUARE = 1
WIDTH_FIRST = 0x100
SHORT_WEIGHTS = 8
UNFUSED = 2
UNCLIPPED = 1
ROUNDS_STAINS, KEEPS_BACKGROUND, NEXT_DENSITIES = 1, 2, 4
FILLED = 0x800
FLOAT_FILL = 0x2000
V2_FILL = 0x4000
LANCZOS, BILINEAR, BICUBIC, BOX, HAMMING = 1, 2, 3, 4, 5
PAD_MODES = ("edge", "reflect", "symmetric")
LARGEST = 90
#: Sides that images often have: ones, odd ones, and those around the lanes of a vector.
SIDES = (1, 2, 3, 4, 5, 6, 8, 15, 16, 17, 24, 31, 33, 40, 64, 70)


@dataclass(frozen=True)
class Op:
    """One op with its operands."""

    name: str
    i: tuple[int, ...] = ()
    f: tuple[float, ...] = ()
    flags: int = 0
    fill: tuple[int, ...] = (0, 0, 0, 0)

    def pack(self) -> bytes:
        integers = (*self.i, *[0] * (6 - len(self.i)))
        floats = (*self.f, *[0.0] * (8 - len(self.f)))
        return struct.pack(OP_FORMAT, IDS[self.name], self.flags, *self.fill, *integers, *floats)


def planes(image: np.ndarray, change: Callable[[Image.Image, int], Image.Image]) -> np.ndarray:
    """Applies a Pillow call to every channel as a greyscale image."""
    parts = [np.asarray(change(Image.fromarray(image[:, :, c].copy()), c)) for c in range(image.shape[2])]
    return np.stack(parts, axis=2)


# ---- references


def window(op: Op, image: np.ndarray) -> np.ndarray:
    top, left, height, width = op.i
    out = np.empty((height, width, image.shape[2]), np.uint8)
    out[:] = op.fill[: image.shape[2]]
    y0, y1 = max(top, 0), min(top + height, image.shape[0])
    x0, x1 = max(left, 0), min(left + width, image.shape[1])
    if y0 < y1 and x0 < x1:
        out[y0 - top : y1 - top, x0 - left : x1 - left] = image[y0:y1, x0:x1]
    return out


def pad(op: Op, image: np.ndarray) -> np.ndarray:
    left, top, right, bottom = op.i
    return np.pad(image, ((top, bottom), (left, right), (0, 0)), mode=PAD_MODES[op.flags])


def resize(op: Op, image: np.ndarray) -> np.ndarray:
    """Two one-axis passes; which goes first is Pillow's choice (13 and later) unless the op says width first. Short
    weights are those of torch's interpolation of uint8."""
    height, width = op.i
    lost_height, lost_width = image.shape[0] - height, image.shape[1] - width
    height_first = lost_height > 0 and lost_height > 2 * lost_width and not op.flags & WIDTH_FIRST
    number = op.flags & 0xFF
    if number & SHORT_WEIGHTS:
        mode = {LANCZOS: "lanczos", BILINEAR: "bilinear", BICUBIC: "bicubic"}[number & ~SHORT_WEIGHTS]
        batch = torch.from_numpy(image.transpose(2, 0, 1).copy())[:, None]
        first = (height, image.shape[1]) if height_first else (image.shape[0], width)
        for size in (first, (height, width)):
            batch = torch.nn.functional.interpolate(batch, size, mode=mode, antialias=True)
        return batch[:, 0].permute(1, 2, 0).numpy()
    kind = Image.Resampling(number)

    def both(plane: Image.Image, _: int) -> Image.Image:
        first = (plane.width, height) if height_first else (width, plane.height)
        return plane.resize(first, kind).resize((width, height), kind)

    return planes(image, both)


def nearest(op: Op, image: np.ndarray) -> np.ndarray:
    height, width = op.i
    if op.flags == 0:
        return planes(image, lambda plane, _: plane.resize((width, height), Image.Resampling.NEAREST))
    batch = torch.from_numpy(image.transpose(2, 0, 1).copy())[None]
    rule = "nearest" if op.flags == 1 else "nearest-exact"
    resized = torch.nn.functional.interpolate(batch, size=(height, width), mode=rule)
    return resized[0].permute(1, 2, 0).numpy()


def on_tensor(image: np.ndarray, change: Callable[[torch.Tensor], torch.Tensor]) -> np.ndarray:
    """Applies one of torchvision's tensor functions."""
    return change(torch.from_numpy(image.transpose(2, 0, 1).copy())).permute(1, 2, 0).numpy()


def sampled(op: Op, image: np.ndarray, grid: torch.Tensor) -> np.ndarray:
    """torch's sampling of a grid, with one of the two kinds of fill that an op can have."""
    numbers = struct.unpack("<4f", struct.pack("<4i", *op.i[2:])) if op.flags & FLOAT_FILL else op.fill
    fill = [float(value) for value in numbers[: image.shape[2]]] if op.flags & FILLED else None
    rule = "bilinear" if op.flags & 0xFF == BILINEAR else "nearest"
    apply = v2_geometry._apply_grid_transform if op.flags & V2_FILL else tensor_functional._apply_grid_transform
    return on_tensor(image, lambda x: apply(x, grid, rule, fill))


def unfused_bmm(batch: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
    """torch's product on machines where it does not fuse, which is what an op without FUSED asks for."""
    products = [batch[:, :, k, None] * columns[:, None, k] for k in range(3)]
    return products[0] + products[1] + products[2]


def torch_affine(op: Op, image: np.ndarray) -> np.ndarray:
    """As torchvision's rotate(expand=True), where the result has a size of its own."""
    height, width = op.i[:2]
    theta = torch.tensor(op.f[:6], dtype=torch.float32).reshape(1, 2, 3)
    with mock.patch.object(torch.Tensor, "bmm", unfused_bmm):
        grid = tensor_functional._gen_affine_grid(theta, image.shape[1], image.shape[0], width, height)
    return sampled(op, image, grid)


def torch_perspective(op: Op, image: np.ndarray) -> np.ndarray:
    """torchvision's perspective, from the coefficients on; for an input of another size by the same grid."""
    height, width = op.i[:2]
    with mock.patch.object(torch.Tensor, "bmm", unfused_bmm):
        grid = tensor_functional._perspective_grid(list(op.f), width, height, torch.float32, torch.device("cpu"))
    return sampled(op, image, grid)


def affine(op: Op, image: np.ndarray) -> np.ndarray:
    height, width = op.i
    kind = Image.Resampling(op.flags)
    return planes(
        image,
        lambda plane, c: plane.transform(
            (width, height), Image.Transform.AFFINE, op.f[:6], resample=kind, fillcolor=op.fill[c]
        ),
    )


def perspective(op: Op, image: np.ndarray) -> np.ndarray:
    height, width = op.i
    kind = Image.Resampling(op.flags)
    return planes(
        image,
        lambda plane, c: plane.transform(
            (width, height), Image.Transform.PERSPECTIVE, op.f, resample=kind, fillcolor=op.fill[c]
        ),
    )


def blend(first: np.ndarray, second: np.ndarray, factor: float, alpha: bool) -> np.ndarray:
    """Pillow's Blend.c; an alpha channel is taken from `second`."""
    out = second.copy()
    for c in range(second.shape[2] - alpha):
        out[:, :, c] = Image.blend(Image.fromarray(first[:, :, c]), Image.fromarray(second[:, :, c].copy()), factor)
    return out


def grey(image: np.ndarray) -> np.ndarray:
    """ITU-R 601-2 in Pillow's 16-bit fixed point (Convert.c); a single channel, or grey with alpha, is its own grey."""
    if image.shape[2] < 3:
        return image[:, :, :1]
    red, green, blue = (image[:, :, c].astype(np.int64) for c in range(3))
    return ((red * 19595 + green * 38470 + blue * 7471 + 0x8000) >> 16).astype(np.uint8)[:, :, None]


def contrast(op: Op, image: np.ndarray) -> np.ndarray:
    mean = int(grey(image).astype(np.int64).sum() / (image.shape[0] * image.shape[1]) + 0.5)
    return blend(np.full_like(image, mean), image, op.f[0], bool(op.flags & HAS_ALPHA))


def saturation(op: Op, image: np.ndarray) -> np.ndarray:
    return blend(np.repeat(grey(image), 3, axis=2), image, op.f[0], image.shape[2] == 4)


def sharpness(op: Op, image: np.ndarray) -> np.ndarray:
    smooth = planes(image, lambda plane, _: plane.filter(ImageFilter.SMOOTH))
    return blend(smooth, image, op.f[0], bool(op.flags & HAS_ALPHA))


def gamma(op: Op, image: np.ndarray) -> np.ndarray:
    exponent, gain = op.f
    table = [min(max(int(255.999 * gain * (value / 255.0) ** exponent), 0), 255) for value in range(256)]
    return np.array(table, np.uint8)[image]


def blur(op: Op, image: np.ndarray) -> np.ndarray:
    """torchvision's gaussian_blur by the kernels that the op holds: 16 floats in the place of 8 doubles.

    A channel is blurred beside a copy of itself, because torch has another sum for small kernels on one channel alone.
    That sum is UNFUSED, where each product is rounded before it is added.
    """
    width, height = op.i
    halves = np.frombuffer(struct.pack("<8d", *op.f), np.float32)
    across = halves[: width // 2 + 1]
    down = across if op.flags & SQUARE else halves[width // 2 + 1 :][: height // 2 + 1]
    rows, columns = (torch.from_numpy(np.concatenate([half, half[-2::-1]])) for half in (down, across))
    kernel = (rows[:, None] @ columns[None, :]).expand(2 * image.shape[2], 1, height, width)

    def convolve(x: torch.Tensor) -> torch.Tensor:
        sides = [width // 2, width // 2, height // 2, height // 2]
        padded = torch.nn.functional.pad(x[None].float(), sides, mode="reflect").repeat(1, 2, 1, 1)
        if op.flags & UNFUSED:
            windows = padded[0, : x.shape[0]].unfold(1, height, 1).unfold(2, width, 1).flatten(3)
            return torch.round(reduce(torch.add, (windows * kernel[0].flatten()).unbind(3))).to(torch.uint8)
        summed = torch.nn.functional.conv2d(padded, kernel, groups=padded.shape[1])[0, : x.shape[0]]
        return torch.round(summed).to(torch.uint8)

    return on_tensor(image, convolve)


RGB_FROM_HED = np.array([[0.65, 0.70, 0.29], [0.07, 0.99, 0.11], [0.27, 0.57, 0.78]])


def stained(image: np.ndarray, op: Op) -> np.ndarray:
    """scikit-image's rgb2hed and hed2rgb in float64, with what the op does in between, times 255.

    The sums of float64 are in another order than the core's, so that samples near an integer may be others.
    """
    black = np.log(1e-6)
    stains = np.log(np.maximum(image[:, :, :3] / 255.0, 1e-6)) / black @ np.linalg.inv(RGB_FROM_HED)
    stains = stains if op.flags & UNCLIPPED else np.maximum(stains, 0)
    stains = stains * np.array(op.f[:3]) + np.array(op.f[3:6])
    return np.exp(np.minimum(stains * black @ RGB_FROM_HED, 0)) * 255


def hed(op: Op, image: np.ndarray) -> np.ndarray:
    return np.dstack([stained(image, op).astype(np.uint8), image[:, :, 3:]])


def draw_hed(rng: random.Random, image: np.ndarray) -> Op:
    """One that leaves no sample of this image so near to an integer that the order of sums decides."""
    while True:
        theta = rng.choice([0.01, 0.05, 0.2, 1.5])
        f = [rng.uniform(1 - theta, 1 + theta) for _ in range(3)] + [rng.uniform(-theta, theta) for _ in range(3)]
        op = Op("HED", f=tuple(float(np.float32(number)) for number in f), flags=rng.choice([0, 0, UNCLIPPED]))
        samples = stained(image, op)
        if np.abs(samples - np.rint(samples))[samples < 255].min(initial=1) > 1e-9:
            return op


def stain_numbers(op: Op) -> np.ndarray:
    packed = struct.pack("<6i", *op.i)
    rest = [struct.unpack("<d", b"\0\0" + packed[6 * k : 6 * k + 6])[0] for k in range(4)]
    return np.array([*op.f, *rest])


def restained(image: np.ndarray, op: Op) -> np.ndarray:
    """Densities in natural logarithms and float64, mapped, times 255, before they are rounded or truncated."""
    samples = image[:, :, :3].astype(np.float64)
    if op.flags & NEXT_DENSITIES:
        densities = -np.log((samples + 1) / 255)
    elif op.flags & ROUNDS_STAINS:
        densities = -np.log(np.maximum(samples / 255, 1e-6))
    else:
        densities = np.maximum(-np.log(np.maximum(samples, 1) / 255), 1e-6)
    numbers = stain_numbers(op)
    mapped = densities @ numbers[:9].reshape(3, 3) + numbers[9:]
    return np.minimum(np.exp(-mapped) * 255, 255) + (0.5 if op.flags & ROUNDS_STAINS else 0)


def stains(op: Op, image: np.ndarray) -> np.ndarray:
    made = np.minimum(restained(image, op), 255).astype(np.uint8)
    if op.flags & KEEPS_BACKGROUND:
        light = image[:, :, :3] @ np.array([299, 587, 114]) >= 216750
        made = np.where(light[:, :, None], image[:, :, :3], made)
    return np.dstack([made, image[:, :, 3:]])


def draw_stains(rng: random.Random, image: np.ndarray) -> Op:
    """As draw_hed. With the numbers of a map near that of no change."""
    while True:
        size = rng.choice([0.02, 0.2, 1.0])
        numbers = [(k < 9 and k % 4 == 0) + rng.uniform(-size, size) for k in range(12)]
        rest = b"".join(struct.pack("<d", number)[2:] for number in numbers[8:])
        op = Op("STAINS", struct.unpack("<6i", rest), tuple(numbers[:8]), rng.randrange(8))
        samples = restained(image, op)
        if np.abs(samples - np.rint(samples))[samples < 255].min(initial=1) > 1e-9:
            return op


def hue(op: Op, image: np.ndarray) -> np.ndarray:
    hsv = np.array(Image.fromarray(image[:, :, :3].copy()).convert("HSV"))
    hsv[:, :, 0] += np.uint8(op.i[0])
    rgb = Image.frombytes("HSV", (image.shape[1], image.shape[0]), hsv.tobytes()).convert("RGB")
    out = np.full_like(image, 255)
    out[:, :, :3] = np.asarray(rgb)
    return out


def alpha_pair(image: np.ndarray) -> str:
    return "LA" if image.shape[2] == 2 else "RGBA"


def convert(image: np.ndarray, source: str, target: str) -> np.ndarray:
    size = (image.shape[1], image.shape[0])
    changed = Image.frombytes(source, size, image.tobytes()).convert(target)
    return np.frombuffer(changed.tobytes(), np.uint8).reshape(image.shape)


def premultiply(op: Op, image: np.ndarray) -> np.ndarray:
    mode = alpha_pair(image)
    return convert(image, mode, mode[:-1] + "a")


def unpremultiply(op: Op, image: np.ndarray) -> np.ndarray:
    mode = alpha_pair(image)
    return convert(image, mode[:-1] + "a", mode)


def normalize(op: Op, image: np.ndarray) -> np.ndarray:
    channels = image.shape[2]
    mean, std = np.float32(op.f[:channels]), np.float32(op.f[4 : 4 + channels])
    return (image - mean) / std


def erase(op: Op, image: np.ndarray) -> np.ndarray:
    top, left, height, width = op.i
    out = image.copy()
    out[top : top + height, left : left + width] = np.float32(op.f[: image.shape[2]])
    return out


# ---- random operands


def fill(rng: random.Random) -> tuple[int, ...]:
    """Gray half of the time, black above all, so that two ops may have the same."""
    if rng.random() < 0.5:
        return (rng.choice([0, 0, 0, 255, rng.randrange(256)]),) * 4
    return tuple(rng.choice([0, 255, rng.randrange(256)]) for _ in range(4))


def size(rng: random.Random, now: int) -> int:
    """A new extent: the same, one, twice, one that other images have, or anything up to LARGEST."""
    return min(LARGEST, rng.choice([now, 1, 2 * now, max(1, now // 2), rng.choice(SIDES), rng.randint(1, LARGEST)]))


def factor(rng: random.Random) -> float:
    return rng.choice([0.0, 1.0, 0.5, -0.5, rng.uniform(0, 1), rng.uniform(1, 3), rng.uniform(0.9, 1.1), 40.0])


def draw_window(rng: random.Random, image: np.ndarray) -> Op:
    h, w, _ = image.shape
    kind = rng.randrange(4)
    if kind == 0:
        top, left = rng.randrange(h), rng.randrange(w)
        box = (top, left, rng.randint(1, h - top), rng.randint(1, w - left))
    elif kind == 1:
        top, left = rng.randint(0, 5), rng.randint(0, 5)
        box = (-top, -left, min(LARGEST, h + top + rng.randint(0, 5)), min(LARGEST, w + left + rng.randint(0, 5)))
    else:
        box = (rng.randint(-h - 3, h + 3), rng.randint(-w - 3, w + 3), size(rng, h), size(rng, w))
    return Op("WINDOW", box, fill=fill(rng))


def draw_pad(rng: random.Random, image: np.ndarray) -> Op:
    h, w, _ = image.shape
    mode = rng.randrange(3)
    most = [max(0, min(LARGEST - extent, rng.choice([3, 2 * extent])) // 2) for extent in (w, h)]
    return Op("PAD", tuple(rng.randint(0, limit) for limit in (*most, *most)), flags=mode)


def sampling(rng: random.Random, name: str, out: tuple[int, int], numbers: tuple[float, ...]) -> Op:
    """A warp that samples a grid, which has a fill of numbers a quarter of the time."""
    flags = rng.choice([0, BILINEAR]) | rng.choice([0, FILLED, FILLED | V2_FILL])
    if rng.random() < 0.75:
        return Op(name, out, numbers, flags, fill(rng))
    shade = rng.choice([0.5, rng.uniform(0, 255)])
    values = rng.choice([[shade] * 4, [rng.choice([0.0, 255.0, 1.5, rng.uniform(0, 255)]) for _ in range(4)]])
    return Op(name, (*out, *struct.unpack("<4i", struct.pack("<4f", *values))), numbers, flags | FLOAT_FILL)


def draw_torch_affine(rng: random.Random, image: np.ndarray) -> Op:
    h, w, _ = image.shape
    out = (h, w) if rng.random() < 0.7 else (size(rng, h), size(rng, w))
    angle, zoom = math.radians(rng.choice([0, 90, rng.uniform(-180, 180)])), rng.choice([1.0, rng.uniform(0.3, 3)])
    a, b = math.cos(angle) * zoom, math.sin(angle) * zoom
    shift = rng.choice([(0.0, 0.0), (float(rng.randint(-9, 9)), 2.0), (rng.uniform(-w, w), rng.uniform(-h, h))])
    matrix = (a, b + rng.choice([0.0, 0.4]), shift[0], -b, a, shift[1])
    return sampling(rng, "TORCH_AFFINE", out, matrix)


def draw_perspective(rng: random.Random, image: np.ndarray) -> Op:
    """By coefficients that look like those of four moved corners; some horizons cross the image."""
    h, w, _ = image.shape
    out = (h, w) if rng.random() < 0.6 else (size(rng, h), size(rng, w))
    tilt = rng.choice([0.0, 0.2, 1.0, 5.0])
    coefficients = (
        *(rng.uniform(0.3, 2), rng.uniform(-0.8, 0.8), rng.uniform(-w, w)),
        *(rng.uniform(-0.8, 0.8), rng.uniform(0.3, 2), rng.uniform(-h, h)),
        *(rng.uniform(-1, 1) * tilt / out[1], rng.uniform(-1, 1) * tilt / out[0]),
    )
    single = tuple(float(np.float32(value)) for value in coefficients)  # torchvision rounds them
    return Op("PERSPECTIVE", out, single, rng.choice([0, 2, 3]), fill(rng))


def draw_torch_perspective(rng: random.Random, image: np.ndarray) -> Op:
    drawn = draw_perspective(rng, image)
    return sampling(rng, "TORCH_PERSPECTIVE", drawn.i, drawn.f)


def gaussian(extent: int, sigma: float) -> list[float]:
    """The weights of a blur, but for last bits, in which libraries differ."""
    exponents = [-0.5 * ((k - (extent - 1) / 2) / sigma) ** 2 for k in range(extent)]
    weights = [math.exp(exponent) for exponent in exponents]
    return [weight / math.fsum(weights) for weight in weights]


def draw_blur(rng: random.Random, image: np.ndarray) -> Op:
    h, w, _ = image.shape
    height, width = (2 * rng.randint(0, min(extent - 1, rng.choice([1, 2, 7]))) + 1 for extent in (h, w))
    if rng.random() < 0.5:
        height = width = 2 * rng.randint(0, min(h - 1, w - 1, rng.choice([1, 2, 15]))) + 1
    sigmas = rng.choice([0.1, rng.uniform(0.1, 4), 50.0]), rng.uniform(0.1, 4)
    square = height == width and rng.random() < 0.8
    down, across = (gaussian(height, sigmas[0]), gaussian(width, sigmas[0] if square else sigmas[1]))
    halves = [*across[: width // 2 + 1], *([] if square else down[: height // 2 + 1])]
    if len(halves) > 16:
        return draw_blur(rng, image)
    packed = struct.pack("<16f", *halves, *[0.0] * (16 - len(halves)))
    flags = (SQUARE if square else 0) | rng.choice([0, 0, UNFUSED])
    return Op("BLUR", (width, height), struct.unpack("<8d", packed), flags)


def box_blur(op: Op, image: np.ndarray) -> np.ndarray:
    def blurred(plane: Image.Image, _: int) -> Image.Image:
        return plane._new(plane.im.box_blur((op.f[0], op.f[1]), op.i[0]))

    return planes(image, blurred)


def draw_box_blur(rng: random.Random, image: np.ndarray) -> Op:
    def radius() -> float:
        return rng.choice([0.0, 1.0, rng.uniform(0, 1), rng.uniform(0, 4), float(rng.randint(2, 40)), 70.5, 1000.25])

    return Op("BOX_BLUR", (rng.choice([1, 2, 3, 3, 3, 4]),), (radius(), radius()))


def jpeg(op: Op, image: np.ndarray) -> np.ndarray:
    file = io.BytesIO()
    Image.fromarray(image.squeeze(2) if image.shape[2] == 1 else image).save(file, "JPEG", quality=op.i[0])
    return np.asarray(Image.open(file)).reshape(image.shape)


def draw_affine(rng: random.Random, image: np.ndarray) -> Op:
    h, w, _ = image.shape
    out_h, out_w = (h, w) if rng.random() < 0.5 else (size(rng, h), size(rng, w))
    kind = rng.randrange(6)
    if kind <= 2:
        angle, zoom = math.radians(rng.uniform(-180, 180)), rng.choice([1.0, 1.0, rng.uniform(0.3, 3)])
        a, b = math.cos(angle) * zoom, math.sin(angle) * zoom
        matrix = [a, b, w / 2 - a * out_w / 2 - b * out_h / 2, -b, a, h / 2 + b * out_w / 2 - a * out_h / 2]
    elif kind == 3:  # scale and shift only: Pillow's ImagingScaleAffine
        matrix = [
            rng.uniform(-2, 2) or 1.0,
            0.0,
            rng.uniform(-9, w),
            0.0,
            rng.uniform(-2, 2) or 1.0,
            rng.uniform(-9, h),
        ]
    elif kind == 4:  # nothing to do, or a whole shift
        matrix = [1.0, 0.0, float(rng.randint(-3, 3)), 0.0, 1.0, float(rng.randint(-3, 3))]
    else:  # too far out for Pillow's 16.16 fixed point
        matrix = [rng.uniform(-900, 900), rng.uniform(-900, 900), rng.uniform(-9e4, 9e4), rng.uniform(-2, 2), 0.5, 1.5]
    return Op("AFFINE", (out_h, out_w), tuple(matrix), rng.choice([0, 0, 2, 2, 3]), fill(rng))


def draw_erase(rng: random.Random, image: np.ndarray) -> Op:
    h, w, _ = image.shape
    top, left = rng.randint(0, h), rng.randint(0, w)
    box = (0, 0, h, w) if rng.random() < 0.1 else (top, left, rng.randint(0, h - top), rng.randint(0, w - left))
    return Op("ERASE", box, tuple(rng.choice([0.0, 1.0, rng.gauss(0, 1)]) for _ in range(4)))


def draw_hue(rng: random.Random, image: np.ndarray) -> Op:
    shift = rng.randrange(256)
    return Op("HUE", (shift,), (shift / 255.0,))


def draw_torch_gamma(rng: random.Random, image: np.ndarray) -> Op:
    """One whose table does not depend on the last bits of torch's powers."""
    while True:
        f = (
            rng.choice([0.0, 0.5, 1.0, 2.0, 3.0, rng.uniform(0, 4)]),
            rng.choice([1.0, 0.0, 0.5, 7.5, -1.0, rng.uniform(0, 2)]),
        )
        if _C.torch_gamma_is_certain(*f):
            return Op("TORCH_GAMMA", f=f)


def alpha_flag(image: np.ndarray) -> int:
    return HAS_ALPHA if image.shape[2] in (2, 4) else 0


ANY = frozenset({1, 2, 3, 4})

Reference = Callable[[Op, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Row:
    """A line of the op table."""

    kind: str
    reference: Reference
    draw: Callable[[random.Random, np.ndarray], Op]
    channels: frozenset[int] = ANY


def blends(kind: str, name: str, reference: Reference, channels: frozenset[int] | None = None) -> Row:
    """An op with a factor; one that does not take 3 and 4 channels alike is told which is alpha."""
    flags = alpha_flag if channels is None else lambda image: 0
    return Row(kind, reference, lambda rng, x: Op(name, f=(factor(rng),), flags=flags(x)), channels or ANY)


def torch_blends(kind: str, name: str, function: str, channels: frozenset[int]) -> Row:
    """One of torchvision's functions for tensors, which take no negative factors."""
    change = getattr(v2_functional if name.startswith("V2_") else tensor_functional, function)
    return Row(
        kind,
        lambda op, x: on_tensor(x, lambda tensor: change(tensor, op.f[0])),
        lambda rng, x: Op(name, f=(abs(factor(rng)),)),
        channels,
    )


def torch_resize(op: Op, image: np.ndarray) -> np.ndarray:
    """As torchvision's resize, pass by pass. torch 2.14 gives all rows the first one's values where it changes the
    height of an image that is one pixel wide, so that has three columns meanwhile."""
    height, width = op.i
    mode = {BILINEAR: "bilinear", BICUBIC: "bicubic"}[op.flags]

    def resize(tensor: torch.Tensor) -> torch.Tensor:
        across = torch.nn.functional.interpolate(
            tensor[None].float(), (tensor.shape[1], width), mode=mode, antialias=True
        )
        copies = 3 if width == 1 else 1
        both = torch.nn.functional.interpolate(
            across.repeat(1, 1, 1, copies), (height, copies * width), mode=mode, antialias=True
        )
        return torch.round(both[0, :, :, :width].clamp(0, 255)).to(torch.uint8)

    return on_tensor(image, resize)


COLOURS = frozenset({3, 4})
PAIRS = frozenset({2, 4})
GRAY_OR_RGB = frozenset({1, 3})
#: What torchvision's colour functions for tensors take.
TENSORS = frozenset({1, 3})

ROWS: dict[str, Row] = {
    "WINDOW": Row("geometry", window, draw_window),
    "PAD": Row("geometry", pad, draw_pad),
    "RESIZE": Row(
        "geometry",
        resize,
        lambda rng, x: Op(
            "RESIZE",
            (size(rng, x.shape[0]), size(rng, x.shape[1])),
            flags=rng.choice([2, 2, 2, 3, 3, 1, 4, 5, 9, 10, 10, 11, 11]) | rng.choice([0, 0, WIDTH_FIRST]),
        ),
    ),
    "NEAREST": Row(
        "geometry",
        nearest,
        lambda rng, x: Op("NEAREST", (size(rng, x.shape[0]), size(rng, x.shape[1])), flags=rng.randrange(3)),
    ),
    "HFLIP": Row("geometry", lambda op, x: x[:, ::-1], lambda rng, x: Op("HFLIP")),
    "VFLIP": Row("geometry", lambda op, x: x[::-1], lambda rng, x: Op("VFLIP")),
    "ROT90": Row(
        "geometry", lambda op, x: np.rot90(x, op.flags), lambda rng, x: Op("ROT90", flags=rng.choice([1, 2, 3]))
    ),
    "AFFINE": Row("geometry", affine, draw_affine),
    "BRIGHTNESS": blends(
        "pointwise", "BRIGHTNESS", lambda op, x: blend(np.zeros_like(x), x, op.f[0], bool(op.flags & HAS_ALPHA))
    ),
    "CONTRAST": blends("reduction", "CONTRAST", contrast),
    "SATURATION": blends("pointwise", "SATURATION", saturation, COLOURS),
    "HUE": Row("pointwise", hue, draw_hue, COLOURS),
    "LUMA": Row("pointwise", lambda op, x: grey(x), lambda rng, x: Op("LUMA"), COLOURS),
    "REPLICATE": Row(
        "pointwise",
        lambda op, x: np.repeat(x, op.i[0], axis=2),
        lambda rng, x: Op("REPLICATE", (rng.randint(1, 4),)),
        frozenset({1}),
    ),
    "PREMULTIPLY": Row("pointwise", premultiply, lambda rng, x: Op("PREMULTIPLY"), PAIRS),
    "UNPREMULTIPLY": Row("pointwise", unpremultiply, lambda rng, x: Op("UNPREMULTIPLY"), PAIRS),
    "TO_FLOAT": Row("store", lambda op, x: x.astype(np.float32) / np.float32(255), lambda rng, x: Op("TO_FLOAT")),
    "NORMALIZE": Row(
        "store",
        normalize,
        lambda rng, x: Op(
            "NORMALIZE",
            f=(*(rng.uniform(-1, 2) for _ in range(4)), *(rng.choice([1.0, rng.uniform(0.01, 3)]) for _ in range(4))),
        ),
    ),
    "PERSPECTIVE": Row("geometry", perspective, draw_perspective),
    "INVERT": Row("pointwise", lambda op, x: 255 - x, lambda rng, x: Op("INVERT")),
    "POSTERIZE": Row(
        "pointwise",
        lambda op, x: x & (0xFF << (8 - op.i[0]) & 0xFF),
        lambda rng, x: Op("POSTERIZE", (rng.randint(1, 8),)),
    ),
    "SOLARIZE": Row(
        "pointwise",
        lambda op, x: np.where(x < op.f[0], x, 255 - x),
        lambda rng, x: Op("SOLARIZE", f=(rng.choice([0.0, 128.0, 255.0, 256.0, -3.0, 1e9, rng.uniform(0, 256)]),)),
    ),
    "GAMMA": Row(
        "pointwise",
        gamma,
        lambda rng, x: Op(
            "GAMMA",
            f=(rng.choice([0.0, 1.0, rng.uniform(0, 4)]), rng.choice([1.0, 0.0, 0.5, 7.5, -1.0, rng.uniform(0, 2)])),
        ),
    ),
    "AUTOCONTRAST": Row(
        "reduction",
        lambda op, x: planes(x, lambda plane, _: ImageOps.autocontrast(plane)),
        lambda rng, x: Op("AUTOCONTRAST"),
    ),
    "EQUALIZE": Row(
        "reduction",
        lambda op, x: planes(x, lambda plane, _: ImageOps.equalize(plane)),
        lambda rng, x: Op("EQUALIZE"),
    ),
    "SHARPNESS": blends("filter", "SHARPNESS", sharpness),
    "BLUR": Row("filter", blur, draw_blur),
    "BOX_BLUR": Row("filter", box_blur, draw_box_blur),
    "JPEG": Row(
        "filter", jpeg, lambda rng, x: Op("JPEG", (rng.choice([1, 50, 75, 100, rng.randint(1, 100)]),)), GRAY_OR_RGB
    ),
    "ERASE": Row("store", erase, draw_erase),
    "TORCH_AFFINE": Row("geometry", torch_affine, draw_torch_affine),
    "TORCH_CONTRAST": torch_blends("reduction", "TORCH_CONTRAST", "adjust_contrast", TENSORS),
    "TORCH_SATURATION": torch_blends("pointwise", "TORCH_SATURATION", "adjust_saturation", TENSORS & COLOURS),
    "TORCH_LUMA": Row(
        "pointwise",
        lambda op, x: on_tensor(x, tensor_functional.rgb_to_grayscale),
        lambda rng, x: Op("TORCH_LUMA"),
        TENSORS & COLOURS,
    ),
    "TORCH_HUE": Row(
        "pointwise",
        lambda op, x: on_tensor(x, lambda tensor: tensor_functional.adjust_hue(tensor, op.f[0])),
        lambda rng, x: Op("TORCH_HUE", f=(rng.choice([0.0, 0.5, -0.5, rng.uniform(-0.5, 0.5)]),)),
        TENSORS & COLOURS,
    ),
    "TORCH_GAMMA": Row(
        "pointwise",
        lambda op, x: on_tensor(x, lambda tensor: tensor_functional.adjust_gamma(tensor, *op.f[:2])),
        draw_torch_gamma,
        TENSORS,
    ),
    "TORCH_SHARPNESS": torch_blends("filter", "TORCH_SHARPNESS", "adjust_sharpness", TENSORS),
    "TORCH_AUTOCONTRAST": Row(
        "reduction",
        lambda op, x: on_tensor(x, tensor_functional.autocontrast),
        lambda rng, x: Op("TORCH_AUTOCONTRAST"),
        TENSORS,
    ),
    "TORCH_RESIZE": Row(
        "geometry",
        torch_resize,
        lambda rng, x: Op(
            "TORCH_RESIZE", (size(rng, x.shape[0]), size(rng, x.shape[1])), flags=rng.choice([BILINEAR, BICUBIC])
        ),
    ),
    "TORCH_PERSPECTIVE": Row("geometry", torch_perspective, draw_torch_perspective),
    "V2_LUMA": Row(
        "pointwise",
        lambda op, x: on_tensor(x, v2_functional.rgb_to_grayscale),
        lambda rng, x: Op("V2_LUMA"),
        TENSORS & COLOURS,
    ),
    "V2_CONTRAST": torch_blends("reduction", "V2_CONTRAST", "adjust_contrast", TENSORS),
    "V2_PERMUTE": Row(
        "pointwise",
        lambda op, x: on_tensor(x, lambda tensor: v2_functional.permute_channels(tensor, list(op.i[: x.shape[2]]))),
        lambda rng, x: Op("V2_PERMUTE", tuple(rng.sample(range(x.shape[2]), x.shape[2]))),
    ),
    "V2_SATURATION": torch_blends("pointwise", "V2_SATURATION", "adjust_saturation", TENSORS & COLOURS),
    "HED": Row("pointwise", hed, draw_hed, COLOURS),
    "STAINS": Row("pointwise", stains, draw_stains, COLOURS),
    "V2_HUE": Row(
        "pointwise",
        lambda op, x: on_tensor(x, lambda tensor: v2_functional.adjust_hue(tensor, op.f[0])),
        lambda rng, x: Op("V2_HUE", f=(rng.choice([0.0, 0.5, -0.5, rng.uniform(-0.5, 0.5)]),)),
        TENSORS & COLOURS,
    ),
    "V2_AUTOCONTRAST": Row(
        "reduction",
        lambda op, x: on_tensor(x, v2_functional.autocontrast),
        lambda rng, x: Op("V2_AUTOCONTRAST"),
        TENSORS,
    ),
    "V2_SHARPNESS": torch_blends("filter", "V2_SHARPNESS", "adjust_sharpness", TENSORS),
    "V2_TO_FLOAT": Row(
        "store",
        lambda op, x: on_tensor(x, lambda tensor: v2_functional.to_dtype(tensor, torch.float32, scale=True)),
        lambda rng, x: Op("V2_TO_FLOAT"),
    ),
    "SCALE": Row(
        "store",
        lambda op, x: x.astype(np.float32) * np.float32(op.f[0]),
        lambda rng, x: Op("SCALE", f=(rng.choice([1.0, 1 / 127.5, rng.uniform(-2, 2)]),)),
    ),
}
