"""What `bench.behind` times: one call of a class or function alone, by operation, size and kind of image.

The table is the rows of `OPERATIONS`; a worker imports this module for the cases, the libraries and what is compared.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from bench.case import IMAGENET_MEAN, IMAGENET_STD, OURS, REFERENCE, Case, Transform
from bench.libraries import Fastaug, Library, Peer, as_tensor
from bench.operations import mode

#: Builds an operation for images of a side: of a module of torchvision's, or one with the same names.
Build = Callable[[Any, int], Transform]

#: Where the names of a row lie, behind `torchvision` or `fastaug`.
ROOMS = {"v1": "transforms", "v2": "transforms.v2", "io": "io"}

#: What the letters of the table stand for. Channels lie next to each other in memory where they come last.
KINDS = {
    **{name: f"PIL {name}" for name in ("RGB", "L", "RGBA")},
    **{name: f"uint8 {name}" for name in ("CHW", "HWC", "NCHW")},
    "float": "float32 CHW",
    "image": "tv Image CHW",
    **{name: f"{name} file" for name in ("JPEG", "PNG", "WebP", "GIF")},
}
BATCH = 4

_PNG = b"\x89PNG\r\n\x1a\n"

#: The most bytes of pixels that a row goes through in turn.
_BAG_BYTES = 32 << 20


def bag_of(side: int) -> str:
    return "tiles 1024x1024" if side == 1024 else f"images {side}x{side}"


@dataclass(frozen=True)
class Single(Case):
    """One row: `build` gets the module of the room, and `kind` is one of KINDS."""

    operation: str = ""
    side: int = 0
    kind: str = "RGB"
    room: str = "v1"

    @property
    def peers(self) -> bool:
        """Whether other libraries take this image: arrays with channels last, as those of PIL images are."""
        return self.room != "io" and self.kind in ("RGB", "L", "RGBA")

    def corners(self) -> dict[str, list[list[int]]]:
        """What perspectives are given."""
        return _corners(self.side)

    def described(self) -> dict[str, Any]:
        return {"op": f"{self.room} {self.operation}", "size": self.side, "image": KINDS[self.kind]}


def rows(room: str, operation: str, build: Build, places: str) -> list[Single]:
    """Those of an operation in the places of a text, such as "RGB 64 512, CHW 224": kinds of images and their sides."""
    found = []
    for place in places.split(", "):
        kind, *sides = place.split()
        for side in map(int, sides):
            name = f"{room} {operation}, {KINDS[kind]}, {side}"
            whole = partial(_of_side, build=build, side=side)
            found.append(Single(name, bag_of(side), whole, (), operation=operation, side=side, kind=kind, room=room))
    return found


def _of_side(T: Any, build: Build, side: int) -> Transform:
    return build(T, side)


def function(name: str, **arguments: Any) -> Build:
    """The function of that name. Arguments may be made from the side; an interpolation is given by name."""

    def build(T: Any, side: int) -> Transform:
        given = {key: value(side) if callable(value) else value for key, value in arguments.items()}
        if "interpolation" in given:
            given["interpolation"] = mode(T, given["interpolation"])
        return partial(getattr(T.functional, name), **given)

    return build


def transform(name: str, *arguments: Any, **more: Any) -> Build:
    """The class of that name."""
    return lambda T, side: getattr(T, name)(*arguments, **more)


def half(name: str) -> Build:
    """The class of that name, for a window of half the side."""
    return lambda T, side: getattr(T, name)(side // 2)


def resize(share: float, interpolation: str) -> Build:
    """By the class in v1, and by the functional in v2."""

    def build(T: Any, side: int) -> Transform:
        size = [int(side * share)] * 2
        if hasattr(T, "ToDtype"):
            return partial(T.functional.resize, size=size, interpolation=mode(T, interpolation))
        return T.Resize(size, interpolation=mode(T, interpolation))  # type: ignore[no-any-return]

    return build


def elastic(name: str) -> Build:
    def build(T: Any, side: int) -> Transform:
        field = torch.sin(torch.arange(side * side * 2, dtype=torch.float32)).view(1, side, side, 2) * 0.02
        return partial(getattr(T.functional, name), displacement=field)

    return build


def by_type(T: Any, side: int) -> Transform:
    """A dictionary of dtypes, as references of segmentation have it."""
    from torchvision import tv_tensors

    dtypes = {tv_tensors.Image: torch.float32, tv_tensors.Mask: torch.int64, "others": None}
    return T.ToDtype(dtypes, scale=True)  # type: ignore[no-any-return]


def called(name: str, **arguments: Any) -> Build:
    """A function of the module itself."""
    return lambda T, side: partial(getattr(T, name), **arguments)


def _corners(side: int) -> dict[str, list[list[int]]]:
    end, part = side - 1, side // 10
    ends = [[part, part // 2], [end - part // 2, part // 3], [end - part, end - part // 4], [part // 3, end - part]]
    return {"startpoints": [[0, 0], [end, 0], [end, end], [0, end]], "endpoints": ends}


def _quarter(side: int) -> int:
    return side // 4


def _half(side: int) -> int:
    return side // 2


_CROP = {"top": _quarter, "left": _quarter, "height": _half, "width": _half}
_ERASED = {"i": _quarter, "j": _quarter, "h": _half, "w": _quarter}
_AFFINE = {"angle": 15.0, "translate": [7, 5], "scale": 1.1, "shear": [8.0, 0.0]}
_CORNERS = {name: lambda side, name=name: _corners(side)[name] for name in ("startpoints", "endpoints")}
_NORMALIZE = (IMAGENET_MEAN, IMAGENET_STD)
#: A functional's name in v1 and in v2 where they are not the same.
_V2 = {"hflip": "horizontal_flip", "vflip": "vertical_flip", "elastic_transform": "elastic"}


def both(operation: str, name: str, v1: str, v2: str, **arguments: Any) -> list[Single]:
    """A function of both rooms."""
    first = rows("v1", operation, function(name, **arguments), v1)
    return first + rows("v2", operation, function(_V2.get(name, name), **arguments), v2)


MOVES = (
    *both("hflip", "hflip", "RGB 64 224 512 1024, L 512, RGBA 512, CHW 64", "CHW 32 64 224 512, HWC 224 512, NCHW 224"),
    *both("vflip", "vflip", "RGB 64 224 512, L 512", "CHW 64 224 512, HWC 512, float 224"),
    *rows("v1", "RandomHorizontalFlip(1)", transform("RandomHorizontalFlip", 1.0), "RGB 64 224"),
    *rows("v2", "RandomHorizontalFlip(1)", transform("RandomHorizontalFlip", 1.0), "RGB 64, CHW 64 224"),
    *rows("v1", "CenterCrop", half("CenterCrop"), "RGB 64 224 512 1024"),
    *rows("v2", "CenterCrop", half("CenterCrop"), "RGB 224, CHW 224, HWC 224"),
    *both("crop", "crop", "RGB 224 512", "RGB 224, CHW 224, HWC 224", **_CROP),
    *rows("v1", "Pad(32)", transform("Pad", 32), "RGB 64 224 512, L 512"),
    *rows("v2", "Pad(32)", transform("Pad", 32), "RGB 224, CHW 64 224 512, HWC 512, NCHW 224"),
    *rows("v1", "Pad(16, reflect)", transform("Pad", 16, padding_mode="reflect"), "RGB 224 512"),
    *rows("v2", "Pad(16, reflect)", transform("Pad", 16, padding_mode="reflect"), "CHW 224 512"),
    *rows("v1", "FiveCrop", half("FiveCrop"), "RGB 224 512"),
    *rows("v2", "FiveCrop", half("FiveCrop"), "RGB 224, CHW 224"),
    *both("rotate by 90", "rotate", "RGB 224 512", "CHW 512", angle=90.0, expand=True),
    *both("erase", "erase", "CHW 224", "CHW 224 512, float 224", v=torch.zeros(3, 1, 1, dtype=torch.uint8), **_ERASED),
    *rows("v1", "RandomErasing(1)", transform("RandomErasing", 1.0), "CHW 224, float 224"),
    *rows("v2", "RandomErasing(1)", transform("RandomErasing", 1.0), "CHW 224 512, float 224"),
)
RESIZES = tuple(
    row
    for share, word, v1, v2 in (
        (
            7 / 16,
            "7/16",
            {"nearest": "RGB 64 224 512 1024", "bilinear": "RGB 64 224 512 1024, L 512, RGBA 512"}
            | {"bicubic": "RGB 224 512, L 512, RGBA 512", "box": "RGB 512"},
            {"nearest": "CHW 64 224 512, HWC 512", "bilinear": "CHW 64 224 512, HWC 64 224 512, NCHW 224, float 224"}
            | {"bicubic": "CHW 224 512, HWC 224 512"},
        ),
        (
            1 / 8,
            "1/8",
            {"nearest": "RGB 512", "bilinear": "RGB 512, RGBA 512", "bicubic": "RGB 512"},
            {"bilinear": "CHW 512, HWC 512", "bicubic": "HWC 512"},
        ),
        (
            3 / 2,
            "3/2",
            {"nearest": "RGB 512", "bilinear": "RGB 224 512, RGBA 512", "bicubic": "RGB 512"},
            {"nearest": "CHW 512", "bilinear": "CHW 512, HWC 512", "bicubic": "HWC 512"},
        ),
    )
    for room, places in (("v1", v1), ("v2", v2))
    for by, where in places.items()
    for row in rows(room, f"resize to {word}, {by}", resize(share, by), where)
)
WARPS = (
    *both("rotate, nearest", "rotate", "RGB 64 224 512, L 512", "CHW 64 224", angle=17.3),
    *both("rotate, bilinear", "rotate", "RGB 224 512", "CHW 224", angle=17.3, interpolation="bilinear"),
    *both("affine, nearest", "affine", "RGB 512", "CHW 224", **_AFFINE),
    *both("affine, bilinear", "affine", "RGB 512, RGBA 512", "CHW 224, float 224", interpolation="bilinear", **_AFFINE),
    *both("perspective, nearest", "perspective", "RGB 512", "CHW 224", interpolation="nearest", **_CORNERS),
    *both("perspective, bilinear", "perspective", "RGB 512", "CHW 224", interpolation="bilinear", **_CORNERS),
    *rows("v1", "elastic", elastic("elastic_transform"), "RGB 224"),
    *rows("v2", "elastic", elastic("elastic"), "CHW 224"),
    *rows("v1", "ElasticTransform()", transform("ElasticTransform"), "RGB 512"),
    *both("blur by 3", "gaussian_blur", "RGB 224 512", "CHW 224", kernel_size=[3, 3], sigma=[1.2, 1.2]),
    *both("blur by 9", "gaussian_blur", "RGB 224 512", "CHW 224", kernel_size=[9, 9], sigma=[1.2, 1.2]),
    *both("blur by 23", "gaussian_blur", "RGB 224", "CHW 224", kernel_size=[23, 23], sigma=[2.0, 2.0]),
    *both("sharpness", "adjust_sharpness", "RGB 224 512", "CHW 224", sharpness_factor=1.5),
)
COLOUR = (
    *both("brightness", "adjust_brightness", "RGB 64 512, L 512", "CHW 224 512, float 224", brightness_factor=1.13),
    *both("contrast", "adjust_contrast", "RGB 64 512", "CHW 224", contrast_factor=1.13),
    *both("saturation", "adjust_saturation", "RGB 64 512", "CHW 224", saturation_factor=1.13),
    *both("hue", "adjust_hue", "RGB 64 512", "CHW 224", hue_factor=0.05),
    *both("gamma", "adjust_gamma", "RGB 512", "CHW 224", gamma=1.7),
    *rows("v1", "Grayscale(1)", transform("Grayscale"), "RGB 64 224 512"),
    *rows("v1", "Grayscale(3)", transform("Grayscale", 3), "RGB 224 512"),
    *rows("v2", "Grayscale(1)", transform("Grayscale"), "CHW 224"),
    *rows("v2", "RandomGrayscale(1)", transform("RandomGrayscale", 1.0), "RGB 224, CHW 224 512"),
    *both("invert", "invert", "RGB 64 224 512, L 512", "CHW 64 224 512, HWC 224, float 224"),
    *both("posterize", "posterize", "RGB 64 224 512, L 512", "CHW 64 224 512, HWC 224", bits=3),
    *both("solarize", "solarize", "RGB 64 224 512", "CHW 224 512", threshold=128),
    *both("autocontrast", "autocontrast", "RGB 224 512", "CHW 224"),
    *both("equalize", "equalize", "RGB 224 512", "CHW 224"),
)
CONVERSIONS = (
    *rows("v1", "ToTensor", transform("ToTensor"), "RGB 32 64 224 512, L 224"),
    *rows("v1", "PILToTensor", transform("PILToTensor"), "RGB 64 224 512"),
    *rows("v2", "ToImage", transform("ToImage"), "RGB 224"),
    *rows("v1", "ConvertImageDtype(float32)", transform("ConvertImageDtype", torch.float32), "CHW 64 224 512"),
    *rows("v2", "ToDtype(float32, scale)", transform("ToDtype", torch.float32, True), "CHW 64 224 512, HWC 224 512"),
    *rows("v2", "ToDtype(float32, scale)", transform("ToDtype", torch.float32, True), "NCHW 224"),
    *rows("v2", "ToDtype(float32)", transform("ToDtype", torch.float32), "CHW 64 224 512, HWC 224"),
    *(
        row
        for dtype in ("float16", "bfloat16", "float64", "int32")
        for row in rows("v2", f"ToDtype({dtype}, scale)", transform("ToDtype", getattr(torch, dtype), True), "CHW 224")
    ),
    *rows("v2", "ToDtype(float16)", transform("ToDtype", torch.float16), "CHW 224"),
    *rows("v2", "ToDtype(int64)", transform("ToDtype", torch.int64), "CHW 224"),
    *rows("v2", "ToDtype(uint8, scale)", transform("ToDtype", torch.uint8, True), "float 224"),
    *rows("v2", "ToDtype(by type, scale)", by_type, "image 224"),
    *rows("v2", "ToPureTensor", transform("ToPureTensor"), "image 64"),
    *rows("v1", "Normalize", transform("Normalize", *_NORMALIZE), "float 64 224 512"),
    *rows("v2", "Normalize", transform("Normalize", *_NORMALIZE), "float 224"),
    *rows("v2", "GaussianNoise", transform("GaussianNoise"), "float 224"),
    *rows("v2", "JPEG(75)", transform("JPEG", 75), "RGB 224 512, CHW 224 512"),
)
FILES = (
    *rows("io", "encode_jpeg", called("encode_jpeg"), "CHW 512"),
    *rows("io", "encode_png", called("encode_png"), "CHW 224"),
    *(
        row
        for kind in ("JPEG", "PNG", "GIF", "WebP")
        for row in rows("io", "decode_image", called("decode_image"), f"{kind} 512")
    ),
)

OPERATIONS = MOVES + RESIZES + WARPS + COLOUR + CONVERSIONS + FILES
BY_NAME = {case.name: case for case in OPERATIONS}


def encoded(pixels: NDArray[np.uint8], kind: str) -> torch.Tensor:
    """The bytes of a file of a kind, as torchvision.io takes them."""
    file = BytesIO()
    Image.fromarray(pixels).save(file, kind, **({"quality": 90} if kind == "JPEG" else {}))
    return torch.frombuffer(bytearray(file.getvalue()), dtype=torch.uint8)


def made(case: Single, pixels: NDArray[np.uint8]) -> Any:
    """The input of a row, of memory of its own."""
    kind = case.kind
    if case.room == "io" and kind != "CHW":
        return encoded(pixels, kind)
    if kind == "L":
        pixels = pixels[..., 1]
    elif kind == "RGBA":
        alpha = np.broadcast_to(np.linspace(0, 255, pixels.shape[1]).astype(np.uint8), pixels.shape[:2])
        pixels = np.dstack([pixels, alpha])
    if kind in ("RGB", "L", "RGBA"):
        return Image.fromarray(np.ascontiguousarray(pixels))
    if kind == "HWC":
        return torch.from_numpy(pixels.copy()).permute(2, 0, 1)
    tensor = as_tensor(pixels)
    if kind == "NCHW":
        return torch.stack([tensor.roll(number, 2) for number in range(BATCH)])
    if kind == "image":
        from torchvision import tv_tensors

        return tv_tensors.Image(tensor)
    return tensor / 255 if kind == "float" else tensor


class SingleLibrary(Library):
    """torchvision's rooms."""

    package = "torchvision"

    def load(self) -> Any:
        return {name: importlib.import_module(f"{self.package}.{path}") for name, path in ROOMS.items()}

    def transform(self, case: Case) -> Transform | None:
        assert isinstance(case, Single)
        return case.build(self.module[case.room])

    def image(self, case: Case, pixels: NDArray[np.uint8]) -> Any:
        assert isinstance(case, Single)
        return made(case, pixels)

    def images(self, case: Case, bag: Path) -> list[Any]:
        pixels = np.load(bag, mmap_mode="r")
        return [self.image(case, np.array(one)) for one in pixels[: max(_BAG_BYTES // pixels[0].nbytes, 4)]]

    def seed(self, number: int) -> None:
        # torch.manual_seed seeds devices, too, and takes longer than most rows.
        torch.default_generator.manual_seed(number)


class FastaugSingle(SingleLibrary, Fastaug):
    """fastaug's."""

    package = "fastaug"


class SinglePeer(Peer):
    """The same operations by another library, of arrays: no row draws, so results are compared with torchvision's."""

    same_draws = True

    def __init__(self, module: str, distributions: tuple[str, ...]) -> None:
        self.single: dict[str, Callable[[Single], Transform]] = importlib.import_module(f"bench.peers.{module}").SINGLE
        self.distributions = distributions

    def transform(self, case: Case) -> Transform | None:
        assert isinstance(case, Single)
        build = self.single.get(case.operation) if case.peers else None
        return build(case) if build else None

    def image(self, case: Case, pixels: NDArray[np.uint8]) -> Any:
        assert isinstance(case, Single)
        return np.array(made(case, pixels))

    images = SingleLibrary.images


class PillowSingle(SinglePeer):
    """Pillow's own calls, of its own images."""

    def __init__(self) -> None:
        super().__init__("pillow", ("pillow",))

    image = SingleLibrary.image


LIBRARIES: dict[str, Callable[[], Library]] = {
    REFERENCE: SingleLibrary,
    OURS: FastaugSingle,
    "Pillow": PillowSingle,
    "numpy": lambda: SinglePeer("arrays", ("numpy",)),
    "OpenCV": lambda: SinglePeer("opencv", ("opencv-python-headless",)),
    "Albumentations": lambda: SinglePeer("albumentations", ("albumentations",)),
    "kornia-rs": lambda: SinglePeer("kornia", ("kornia-rs",)),
}


def as_array(result: Any) -> NDArray[Any]:
    """A result for comparison: of a PNG file its pixels, of bfloat16 its bits; one channel of an array is none."""
    if isinstance(result, tuple):
        return np.stack([as_array(part) for part in result])
    if not isinstance(result, torch.Tensor):
        pixels = np.array(result)
        return pixels[..., 0] if pixels.ndim == 3 and pixels.shape[2] == 1 else pixels
    tensor = result.as_subclass(torch.Tensor)
    if tensor.ndim == 1 and tensor.numpy()[:8].tobytes() == _PNG:
        return np.array(Image.open(BytesIO(tensor.numpy().tobytes())))
    array: NDArray[Any] = (tensor.view(torch.int16) if tensor.dtype == torch.bfloat16 else tensor).numpy().copy()
    return array
