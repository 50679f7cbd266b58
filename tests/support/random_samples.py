"""Random samples as transforms.v2 takes them: images of every kind, masks, boxes, points and labels, in any structure.

A sample is Python source over the functions of this module, so that a failing case can be printed and run again.
"""

from __future__ import annotations

import collections
import io
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from PIL import Image
from torchvision import tv_tensors as tvt

from support.images import PHOTOS, photo, pil

# ---- what the source of a sample is made of


class Pair(NamedTuple):
    """A sample as datasets with names give it."""

    image: Any
    target: Any


def content(kind: str, seed: int, shape: Sequence[int]) -> np.ndarray:
    """An array of bytes."""
    rng = np.random.default_rng(seed)
    if kind == "ends":
        return rng.choice(np.uint8([0, 255]), shape)
    if kind == "few":
        return rng.integers(100, 104, shape, dtype=np.uint8)
    if kind == "flat":
        return np.full(shape, seed % 256, np.uint8)
    if kind == "gradient":
        return (np.indices(shape)[-2:].sum(0) * (seed % 7 + 1) % 256).astype(np.uint8)
    if kind == "photo":
        whole = np.asarray(photo(PHOTOS[seed % 4], shape[-2], shape[-1])).transpose(2, 0, 1)
        return np.resize(whole, shape)
    return rng.integers(0, 256, shape, dtype=np.uint8)


def picture(mode: str, kind: str, seed: int, height: int, width: int) -> Image.Image:
    """A PIL image of any mode."""
    if mode in ("L", "RGB", "RGBA", "CMYK", "LA"):
        channels = len(mode)
        planes = content(kind, seed, (channels, height, width)).transpose(1, 2, 0)
        return Image.frombytes(mode, (width, height), np.ascontiguousarray(planes).tobytes())
    return pil(mode, height, width, seed)


def opened(image: Image.Image, format: str = "PNG") -> Image.Image:
    """The image as `Image.open` gives it: of another class, and not read yet."""
    file = io.BytesIO()
    image.save(file, format)
    file.seek(0)
    return Image.open(file)


def pixels(dtype: str, kind: str, seed: int, *shape: int) -> torch.Tensor:
    """A tensor: bytes as they are, floats in [0, 1], booleans, or signed numbers of other integers."""
    values = torch.from_numpy(content(kind, seed, shape).copy())
    if dtype.startswith("float"):
        jitter = torch.from_numpy(np.random.default_rng(seed + 1).random(shape, np.float32))
        return ((values + (0 if kind in ("flat", "ends") else jitter)) / 256).to(getattr(torch, dtype))
    if dtype == "bool":
        return values > 127
    if dtype == "int64":
        return values.to(torch.int64) * 3 - 50
    return values.to(getattr(torch, dtype))


def laid(tensor: torch.Tensor, layout: str) -> torch.Tensor:
    """The same numbers, in other places of the memory."""
    if layout == "channels last":
        order = (*range(tensor.ndim - 3), tensor.ndim - 2, tensor.ndim - 1, tensor.ndim - 3)
        back = (*range(tensor.ndim - 3), tensor.ndim - 1, tensor.ndim - 3, tensor.ndim - 2)
        return tensor.permute(order).contiguous().permute(back)
    if layout == "view":
        return torch.nn.functional.pad(tensor, (3, 1, 2, 0))[..., 2:, 3:-1]
    if layout == "steps":
        return tensor.repeat_interleave(2, -2).repeat_interleave(3, -1)[..., 1::2, ::3]
    return tensor


def mask(dtype: str, seed: int, *shape: int) -> Any:
    """Classes 0 to 20, or true and false."""
    values = torch.from_numpy(np.random.default_rng(seed).integers(0, 21, shape, dtype=np.uint8))
    return tvt.Mask(values > 9 if dtype == "bool" else values.to(getattr(torch, dtype)))


def boxes(
    format: str, count: int, canvas: tuple[int, int], dtype: str, clamping: str | None, seed: int, wild: bool = False
) -> Any:
    """Boxes of a canvas, of whole pixels for every second seed; `wild` ones reach beyond it, and some are empty."""
    rng = np.random.default_rng(seed)
    height, width = canvas
    low, high = (-0.4, 1.4) if wild else (0.0, 1.0)
    ends = np.sort(rng.uniform(low, high, (count, 2, 2)) * (width, height), axis=1)
    if seed % 2:
        ends = ends.round()
    if wild and count:
        ends[rng.random(count) < 0.2, 1] = ends[0, 0]
    (left, top), (right, bottom) = ends[:, 0].T, ends[:, 1].T
    wide, high_, angle = right - left, bottom - top, rng.uniform(-180, 180, count)
    middle_x, middle_y = (left + right) / 2, (top + bottom) / 2
    cos, sin = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    corners = [
        value
        for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))
        for value in (left + x * wide * cos + y * high_ * sin, top - x * wide * sin + y * high_ * cos)
    ]
    columns = {
        "XYXY": (left, top, right, bottom),
        "XYWH": (left, top, wide, high_),
        "CXCYWH": (middle_x, middle_y, wide, high_),
        "XYWHR": (left, top, wide, high_, angle),
        "CXCYWHR": (middle_x, middle_y, wide, high_, angle),
        "XYXYXYXY": tuple(corners),
    }[format]
    data = torch.from_numpy(np.stack(columns, axis=-1)).to(getattr(torch, dtype))
    return tvt.BoundingBoxes(data, format=format, canvas_size=canvas, clamping_mode=clamping)


def points(count: int, canvas: tuple[int, int], dtype: str, seed: int, each: int = 0) -> Any:
    """Key points, some outside the canvas; `each`: so many of every object."""
    shape = (count, each, 2) if each else (count, 2)
    values = np.random.default_rng(seed).uniform(-0.1, 1.1, shape) * (canvas[1], canvas[0])
    return tvt.KeyPoints(torch.from_numpy(values).to(getattr(torch, dtype)), canvas_size=canvas)


#: What the source of samples and pipelines may name, beside T.
NAMES = {
    "np": np,
    "torch": torch,
    "tvt": tvt,
    "Image": Image,
    "collections": collections,
    **{one.__name__: one for one in (Pair, picture, opened, pixels, laid, mask, boxes, points)},
}

# ---- drawing


@dataclass(frozen=True)
class Sample:
    """Leaves, each with a name and its source, in a structure.

    `main`: what the image is, one of pil, tensor, Image, Video and none. `values`: bytes, floats or others.
    """

    leaves: tuple[tuple[str, str], ...]
    layout: str
    main: str
    values: str
    channels: int
    height: int
    width: int

    @property
    def several(self) -> bool:
        """Whether the transform gets more than one input."""
        return self.layout in ("inputs", "input pair") and len(self.leaves) > 1

    def has(self, kind: str) -> bool:
        return any(f"{kind}(" in source for _, source in self.leaves)

    @property
    def rotated(self) -> bool:
        return any(f'boxes("{name}"' in source for _, source in self.leaves for name in ROTATED)

    def source(self) -> str:
        """A tuple of the inputs."""
        (first, image), *others = self.leaves
        target = "{" + ", ".join(f'"{name}": {source}' for name, source in others) + "}"
        listed = ", ".join(source for _, source in self.leaves)
        keys = ", ".join(f'("{name}", {source})' for name, source in self.leaves)
        rest = "".join(f"{source}, " for _, source in others)
        return {
            "alone": f"({listed},)",
            "inputs": f"({listed},)",
            "tuple": f"(({listed},),)",
            "list": f"([{listed}],)",
            "dict": "({" + ", ".join(f'"{name}": {source}' for name, source in self.leaves) + "},)",
            "ordered": f"(collections.OrderedDict([{keys}]),)",
            "pair": f"(({image}, {target}),)",
            "input pair": f"({image}, {target})",
            "named": f"(Pair({image}, {target}),)",
            "nested": f'({{"{first}": {image}, "rest": [({rest}), {{"more": ["text", 3, None]}}]}},)',
            "default": f'(collections.defaultdict(list, {{"{first}": {image}, "target": {target}}}),)',
        }[self.layout]

    def build(self) -> tuple[Any, ...]:
        return eval(self.source(), dict(NAMES))  # type: ignore[no-any-return]


PLAIN, ROTATED = ("XYXY", "XYWH", "CXCYWH"), ("XYWHR", "CXCYWHR", "XYXYXYXY")
LAYOUTS = (
    "inputs",
    "tuple",
    "list",
    "dict",
    "dict",
    "ordered",
    "pair",
    "pair",
    "input pair",
    "named",
    "nested",
    "default",
)
MODES = {"RGB": 3, "L": 1, "RGBA": 4, "LA": 2, "CMYK": 4, "P": 1, "1": 1, "I;16": 1}


def quoted(value: str | None) -> str:
    return "None" if value is None else f'"{value}"'


def draw_image(rng: random.Random, height: int, width: int, batches: bool) -> tuple[str, str, str, int]:
    """Its source, what it is, what its values are, and how many channels it has."""
    kind = rng.choice(["noise", "noise", "photo", "ends", "few", "flat", "gradient"])
    seed = rng.randrange(10_000)
    main = rng.choice(["pil"] * 4 + ["Image"] * 4 + ["tensor"] * 3 + ["Video"] * 2)
    if main == "pil" and not batches:
        mode = rng.choice(["RGB"] * 8 + ["L"] * 2 + list(MODES))
        source = f'picture("{mode}", "{kind}", {seed}, {height}, {width})'
        if mode in ("RGB", "L", "RGBA", "P", "1", "LA") and rng.random() < 0.15:
            jpeg = mode in ("RGB", "L") and rng.random() < 0.5
            source = f'opened({source}, "{"JPEG" if jpeg else "PNG"}")'
        return source, main, "bytes" if mode not in ("1", "I;16", "P") else "others", MODES[mode]
    main = "Image" if main == "pil" else main
    dtype = rng.choice(["uint8"] * 10 + ["float32"] * 5 + ["float64", "bool", "int64", "int16"])
    channels = rng.choice([3] * 8 + [1, 1, 4, 2])
    shape = [channels, height, width]
    if main == "Video":
        shape = [rng.randint(1, 4), *shape]
    if batches or rng.random() < 0.08:
        shape = [rng.choice([1, 2, 2, 3]), *shape]
    elif main == "tensor" and channels == 1 and rng.random() < 0.2:
        shape = shape[1:]
    source = f'pixels("{dtype}", "{kind}", {seed}, {", ".join(map(str, shape))})'
    layout = rng.choice(["plain"] * 5 + ["channels last", "channels last", "view", "steps"])
    if layout != "plain" and len(shape) > 2:
        source = f'laid({source}, "{layout}")'
    values = "bytes" if dtype == "uint8" else "floats" if dtype.startswith("float") else "others"
    return source if main == "tensor" else f"tvt.{main}({source})", main, values, channels


def draw_boxes(rng: random.Random, count: int, canvas: tuple[int, int]) -> str:
    format = rng.choice([*PLAIN, *ROTATED])
    dtype = rng.choice(["float32", "float32", "float32", "float64", *["int64"] * (format in PLAIN)])
    clamping = rng.choice(["soft", "soft", "hard", "hard", None])
    wild = rng.random() < 0.4
    seed = rng.randrange(10_000)
    return f'boxes("{format}", {count}, {canvas}, "{dtype}", {quoted(clamping)}, {seed}{", True" if wild else ""})'


def draw_sample(rng: random.Random) -> Sample:
    """A sample of up to eight leaves."""
    most = rng.choice([3, 12, 24, 40, 40, 40, 70, 110])
    height, width = rng.randint(1, most), rng.randint(1, most)
    image, main, values, channels = draw_image(rng, height, width, batches=False)
    leaves = [("image", image)]
    canvas = (height, width)
    count = rng.choice([0, 1, 2, 3, 3, 5, 9])
    seed = rng.randrange(10_000)
    detection = rng.random() < 0.5
    if detection or rng.random() < 0.1:
        leaves.append(("boxes", draw_boxes(rng, count, canvas)))
    if rng.random() < (0.3 if detection else 0.15):
        dtype = rng.choice(["uint8", "bool", "int64"])
        shape = (count, *canvas) if detection and rng.random() < 0.8 else canvas
        leaves.append(("masks", f'mask("{dtype}", {seed}, {", ".join(map(str, shape))})'))
    if rng.random() < 0.15:
        dtype, each = rng.choice(["float32", "float32", "float64", "int64"]), rng.choice([0, 0, 4])
        leaves.append(("points", f'points({count}, {canvas}, "{dtype}", {seed}{f", {each}" if each else ""})'))
    if rng.random() < (0.8 if detection else 0.3):
        leaves.append(("labels", f"torch.arange({count})" if detection else rng.choice(["7", "torch.tensor(7)"])))
    if rng.random() < 0.2:
        odd = ['"text"', "None", "2.5", "np.arange(3)", "torch.ones(2, 2)", "()", "b'raw'"]
        leaves.append(("other", rng.choice(odd)))
    if rng.random() < 0.05:
        leaves.append(("second", image))
    if rng.random() < 0.06:
        leaves = leaves[1:] or leaves
        main = main if leaves == [("image", image)] else "none"
    if rng.random() < 0.1:
        rng.shuffle(leaves)
    layout = rng.choice(LAYOUTS) if len(leaves) > 1 else rng.choice(["alone"] * 6 + ["dict", "tuple"])
    return Sample(tuple(leaves), layout, main, values, channels, height, width)


def draw_batch(rng: random.Random) -> Sample:
    """A batch of images and its labels, for MixUp and CutMix."""
    height, width, count = rng.randint(1, 24), rng.randint(1, 24), rng.choice([1, 2, 3, 4])
    dtype = rng.choice(["float32", "float32", "float32", "uint8", "float64"])
    main = rng.choice(["tensor", "tensor", "Image", "Video"])
    shape = (count, *((2,) if main == "Video" else ()), 3, height, width)
    image = f'pixels("{dtype}", "noise", {rng.randrange(10_000)}, {", ".join(map(str, shape))})'
    labels = f"torch.arange({count if rng.random() < 0.95 else count + 1})"
    if rng.random() < 0.2:
        labels = f"torch.nn.functional.one_hot({labels}, 5)"
    leaves = (("image", image if main == "tensor" else f"tvt.{main}({image})"), ("labels", labels))
    layout = rng.choice(["inputs", "inputs", "tuple", "dict", "pair", "list"])
    return Sample(leaves, layout, main, "bytes" if dtype == "uint8" else "floats", 3, height, width)
