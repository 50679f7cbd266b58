"""Calls of the self-test: every transform and function of torchvision and Pillow, with some arguments each."""

from __future__ import annotations

import functools
import io
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from PIL import Image, ImageEnhance, ImageFilter, ImageOps

Call = Callable[[Any], Any]

#: A function of torchvision's module of transforms or fastaug's that makes a callable.
Factory = Callable[[Any], Call]


def _mode(T: Any, name: str) -> Any:
    return getattr(T.InterpolationMode, name)


def _function(name: str, *args: Any, **kwargs: Any) -> Factory:
    return lambda T: lambda image: getattr(T.functional, name)(image, *args, **kwargs)


def _default(name: str) -> list[Factory]:
    """Return a class without arguments, or a functional without further ones."""
    return [lambda T: getattr(T, name)()] if name[0].isupper() else [_function(name)]


def _warp(name: str, *args: Any) -> list[Factory]:
    """Return calls of a functional with each interpolation."""

    def factory(mode: str) -> Factory:
        return lambda T: _function(name, *args, interpolation=_mode(T, mode))(T)

    return [factory(mode) for mode in ("NEAREST", "BILINEAR", "BICUBIC")]


_DEFAULT = ["PILToTensor", "RandomHorizontalFlip", "RandomVerticalFlip", "ToPILImage", "ToTensor"]
_DEFAULT += ["autocontrast", "equalize", "hflip", "invert", "to_pil_image", "vflip"]
_V2_DEFAULT = ["ClampBoundingBoxes", "ClampKeyPoints", "Identity", "RGB", "RandomChannelPermutation", "RandomIoUCrop"]
_V2_DEFAULT += ["SanitizeKeyPoints", "ToImage", "ToPureTensor", "grayscale_to_rgb"]


_CORNERS = ([[0, 0], [39, 0], [39, 29], [0, 29]], [[2, 3], [35, 1], [38, 27], [1, 25]])

#: Of `transforms` and of `transforms.v2`.
BOTH: dict[str, list[Factory]] = {
    **{name: _default(name) for name in _DEFAULT},
    "AugMix": [lambda T: T.AugMix(), lambda T: T.AugMix(5, 2, 2, 0.5, False, _mode(T, "NEAREST"))],
    "AutoAugment": [
        lambda T: T.AutoAugment(),
        lambda T: T.AutoAugment(T.AutoAugmentPolicy.SVHN, _mode(T, "BILINEAR"), 3),
    ],
    "CenterCrop": [lambda T: T.CenterCrop(24), lambda T: T.CenterCrop((60, 20))],
    "ColorJitter": [
        lambda T: T.ColorJitter(0.4, 0.4, 0.4, 0.1),
        lambda T: T.ColorJitter(brightness=[0.5, 2.0]),
        lambda T: T.ColorJitter(contrast=0.9),
        lambda T: T.ColorJitter(saturation=(0.0, 3.0)),
        lambda T: T.ColorJitter(hue=(-0.5, 0.5)),
    ],
    "Compose": [
        lambda T: T.Compose([T.RandomResizedCrop(32), T.RandomHorizontalFlip(), T.ColorJitter(0.3, 0.3), T.ToTensor()]),
        lambda T: T.Compose([T.RandomRotation(20), T.GaussianBlur(3), T.Resize(40), T.RandomCrop(32, 4)]),
    ],
    "ConvertImageDtype": [lambda T: T.ConvertImageDtype(torch.float32)],
    "ElasticTransform": [
        lambda T: T.ElasticTransform(),
        lambda T: T.ElasticTransform([30.0, 20.0], [2.0, 3.5], _mode(T, "NEAREST"), 77),
        lambda T: T.ElasticTransform(300.0, 0.2),
    ],
    "FiveCrop": [lambda T: T.FiveCrop(12)],
    "GaussianBlur": [
        lambda T: T.GaussianBlur(3),
        lambda T: T.GaussianBlur((5, 9), (0.1, 5.0)),
        lambda T: T.GaussianBlur(23, (0.1, 2.0)),
    ],
    "Grayscale": [lambda T: T.Grayscale(), lambda T: T.Grayscale(3)],
    "Normalize": [lambda T: T.Normalize((0.4, 0.5, 0.6), (0.2, 0.3, 0.4))],
    "Pad": [
        lambda T: T.Pad(3),
        lambda T: T.Pad((4, 1), 200),
        *[lambda T, m=m: T.Pad((1, 2, 4, 0), padding_mode=m) for m in ("edge", "reflect", "symmetric")],
    ],
    "RandAugment": [lambda T: T.RandAugment(), lambda T: T.RandAugment(4, 15, 31, _mode(T, "BILINEAR"), 128)],
    "RandomAdjustSharpness": [lambda T: T.RandomAdjustSharpness(1.7, 1.0), lambda T: T.RandomAdjustSharpness(0, 0.5)],
    "RandomAffine": [
        lambda T: T.RandomAffine(10),
        lambda T: T.RandomAffine(30, (0.1, 0.3), (0.8, 1.2), (-5, 5, -3, 3), _mode(T, "BILINEAR"), 9),
        lambda T: T.RandomAffine((-40, 170), interpolation=_mode(T, "BICUBIC"), center=(3, 4)),
    ],
    "RandomApply": [lambda T: T.RandomApply([T.RandomRotation(20), T.ColorJitter(0.3)], 0.6)],
    "RandomAutocontrast": [lambda T: T.RandomAutocontrast(1.0)],
    "RandomChoice": [lambda T: T.RandomChoice([T.Resize(20), T.Pad(3), T.RandomRotation(45)])],
    "RandomCrop": [
        lambda T: T.RandomCrop(4),
        lambda T: T.RandomCrop((20, 9), (3, 7), fill=9),
        lambda T: T.RandomCrop((66, 80), 1, True, padding_mode="edge"),
    ],
    "RandomEqualize": [lambda T: T.RandomEqualize(1.0)],
    "RandomErasing": [
        lambda T: T.RandomErasing(0.8),
        lambda T: T.RandomErasing(1.0, (0.1, 0.3), (0.5, 2.0), [1, 2, 3]),
        lambda T: T.RandomErasing(1.0, value="random"),
    ],
    "RandomGrayscale": [lambda T: T.RandomGrayscale(0.5)],
    "RandomInvert": [lambda T: T.RandomInvert(0.7)],
    "RandomOrder": [lambda T: T.RandomOrder([T.Resize((40, 50)), T.RandomRotation(45), T.ColorJitter(0.3, 0.3)])],
    "RandomPerspective": [
        lambda T: T.RandomPerspective(0.6, 1.0),
        lambda T: T.RandomPerspective(0.3, 0.9, _mode(T, "NEAREST"), 9),
    ],
    "RandomPosterize": [lambda T: T.RandomPosterize(3, 1.0)],
    "RandomResizedCrop": [
        lambda T: T.RandomResizedCrop(29),
        lambda T: T.RandomResizedCrop((17, 41), (0.5, 1.5), (0.8, 1.2), _mode(T, "BICUBIC")),
        lambda T: T.RandomResizedCrop(16, interpolation=_mode(T, "NEAREST")),
    ],
    "RandomRotation": [
        *[lambda T, m=m: T.RandomRotation(25, _mode(T, m)) for m in ("NEAREST", "BILINEAR", "BICUBIC")],
        lambda T: T.RandomRotation((10, 90), _mode(T, "BILINEAR"), True, fill=3),
        lambda T: T.RandomRotation((90, 90)),
    ],
    "RandomSolarize": [lambda T: T.RandomSolarize(0.5, 1.0), lambda T: T.RandomSolarize(128, 0.5)],
    "Resize": [
        *[
            lambda T, m=m: T.Resize((19, 43), _mode(T, m))
            for m in ("NEAREST", "NEAREST_EXACT", "BILINEAR", "BICUBIC", "BOX", "HAMMING", "LANCZOS")
        ],
        lambda T: T.Resize(24, max_size=40),
        lambda T: T.Resize((20, 31), _mode(T, "BICUBIC"), antialias=False),
        lambda T: T.Resize(150),
    ],
    "TenCrop": [lambda T: T.TenCrop((12, 8), True)],
    "TrivialAugmentWide": [lambda T: T.TrivialAugmentWide(), lambda T: T.TrivialAugmentWide(7, _mode(T, "BILINEAR"))],
    **{
        name: [_function(name, 1.7), _function(name, 0.3)]
        for name in ("adjust_brightness", "adjust_contrast", "adjust_saturation", "adjust_sharpness")
    },
    "adjust_gamma": [_function("adjust_gamma", 2.2), _function("adjust_gamma", 0.5, 1.1)],
    "adjust_hue": [_function("adjust_hue", 0.13), _function("adjust_hue", -0.4)],
    "affine": [
        *_warp("affine", 20.0, [3, -2], 1.2, [5.0, -3.0]),
        _function("affine", -100.0, [0, 0], 0.7, [0.0], fill=9),
    ],
    "center_crop": [_function("center_crop", [21, 70])],
    "crop": [_function("crop", 3, -2, 20, 30)],
    "elastic_transform": [
        lambda T: lambda x: T.functional.elastic_transform(x, _displacement(x), interpolation=_mode(T, "BILINEAR")),
    ],
    "erase": [_function("erase", 1, 2, 3, 4, torch.tensor([[[1.0]], [[2.0]], [[3.0]]]))],
    "five_crop": [_function("five_crop", [5, 4])],
    "gaussian_blur": [_function("gaussian_blur", [3, 3]), _function("gaussian_blur", [5, 7], [0.7, 2.0])],
    "normalize": [_function("normalize", [0.4, 0.5, 0.6], [0.2, 0.3, 0.4])],
    "pad": [_function("pad", [3, 1], 7), _function("pad", [2], padding_mode="reflect")],
    "perspective": [*_warp("perspective", *_CORNERS)],
    "posterize": [_function("posterize", 2)],
    "resize": [_function("resize", [20, 31]), _function("resize", [77])],
    "resized_crop": [_function("resized_crop", 1, 2, 20, 24, [30, 17])],
    "rgb_to_grayscale": [_function("rgb_to_grayscale"), _function("rgb_to_grayscale", 3)],
    "rotate": [*_warp("rotate", 33.0), _function("rotate", 180.0), _function("rotate", 45.0, expand=True, fill=3)],
    "solarize": [_function("solarize", 128.0)],
    "ten_crop": [_function("ten_crop", [5, 4], True)],
}


def _displacement(image: Any) -> torch.Tensor:
    height, width = (image.height, image.width) if isinstance(image, Image.Image) else image.shape[-2:]
    across = torch.linspace(-0.3, 0.2, height * width * 2)
    return torch.sin(across * 40).mul(0.1).reshape(1, height, width, 2)


#: Of `transforms.v2` alone.
V2: dict[str, list[Factory]] = {
    **{name: _default(name) for name in _V2_DEFAULT},
    "ConvertBoundingBoxFormat": [
        lambda T: T.ConvertBoundingBoxFormat("XYWH"),
        lambda T: T.ConvertBoundingBoxFormat("CXCYWH"),
    ],
    "CutMix": [lambda T: T.CutMix(alpha=0.4, num_classes=5)],
    "GaussianNoise": [lambda T: T.GaussianNoise(), lambda T: T.GaussianNoise(0.1, 0.2, False)],
    "JPEG": [lambda T: T.JPEG(50), lambda T: T.JPEG((5, 60))],
    "MixUp": [lambda T: T.MixUp(num_classes=5)],
    "RandomPhotometricDistort": [lambda T: T.RandomPhotometricDistort(p=0.9)],
    "RandomResize": [lambda T: T.RandomResize(10, 40)],
    "RandomShortestSize": [lambda T: T.RandomShortestSize([10, 20, 30], max_size=45)],
    "RandomZoomOut": [lambda T: T.RandomZoomOut([1, 2, 3], (1.0, 2.0), 0.8)],
    "SanitizeBoundingBoxes": [lambda T: T.SanitizeBoundingBoxes(3.0)],
    "ScaleJitter": [lambda T: T.ScaleJitter((100, 60))],
    "SetClampingMode": [lambda T: T.SetClampingMode("hard")],
    "ToDtype": [lambda T: T.ToDtype(torch.float32, True), lambda T: T.ToDtype(torch.float16)],
    "UniformTemporalSubsample": [lambda T: T.UniformTemporalSubsample(1)],
    "jpeg": [_function("jpeg", 70)],
    "permute_channels": [_function("permute_channels", [2, 0, 1])],
    "to_dtype": [_function("to_dtype", torch.float32, True)],
}

PACKAGES: dict[str, dict[str, list[Factory]]] = {"transforms": BOTH, "transforms.v2": {**BOTH, **V2}}


# ---- images


def picture(height: int, width: int) -> np.ndarray:
    """Return smooth colours with a little noise, the same on every machine."""
    y, x = np.mgrid[0:height, 0:width].astype(np.int64)
    noise = (x * 7919 + y * 104729 + x * y * 31) % 23
    planes = [(x * 3 + y) // 2 + noise, x + y * 2 + noise, (x * y) // max(width // 2, 1) + noise]
    return np.stack([plane % 256 for plane in planes], axis=-1).astype(np.uint8)


def _pil(height: int, width: int, mode: str = "RGB") -> Image.Image:
    image = Image.fromarray(picture(height, width))
    if mode == "I;16":
        return Image.fromarray(picture(height, width)[..., 0].astype(np.uint16) * 7)
    if mode == "RGBA":
        image.putalpha(image.convert("L").transpose(Image.Transpose.ROTATE_180))
        return image
    return image.convert(mode)


def _chw(height: int, width: int) -> torch.Tensor:
    return torch.from_numpy(picture(height, width)).permute(2, 0, 1).contiguous()


def pil_images() -> Iterator[Image.Image]:
    yield from (_pil(*size) for size in ((61, 47), (88, 120), (5, 3)))
    yield from (_pil(37, 29, mode) for mode in ("L", "RGBA", "LA", "1", "P", "CMYK", "YCbCr", "I;16", "F"))
    yield _pil(71, 30, "L")


def uint8_tensors() -> Iterator[torch.Tensor]:
    yield from (_chw(*size) for size in ((61, 47), (88, 120), (5, 3)))
    yield from (_chw(71, 30)[:1], torch.stack([_chw(21, 32), _chw(21, 32).flip(-1)]))


def float_tensors() -> Iterator[torch.Tensor]:
    yield from (tensor / 255 for tensor in uint8_tensors())


def samples() -> Iterator[Any]:
    """Yield samples for v2 alone: detection, segmentation, a video, and a batch with labels."""
    from fastaug import tv_tensors

    height, width = 61, 47
    image = _chw(height, width)
    corners = torch.tensor([[3.0, 4, 20, 30], [10, 2, 40, 20], [30, 20, 45, 33], [7, 7, 7, 9]])
    boxes = tv_tensors.BoundingBoxes(corners, format="XYXY", canvas_size=(height, width))
    mask = tv_tensors.Mask((image > 128).to(torch.uint8))
    yield {"image": tv_tensors.Image(image), "boxes": boxes, "masks": mask, "labels": torch.arange(4)}
    centres = torch.tensor([[11, 17, 17, 25], [25, 11, 30, 19]])
    whole = tv_tensors.BoundingBoxes(centres, format="CXCYWH", canvas_size=(height, width))
    yield [tv_tensors.Image(image), whole]
    yield Image.fromarray(picture(height, width)), tv_tensors.Mask(image[:1] // 32)
    yield tv_tensors.Video(torch.stack([image, image.flip(-1)]))
    yield torch.stack([image, image.flip(-1)]) / 255, torch.tensor([1, 3])
    if hasattr(tv_tensors, "KeyPoints"):
        places = torch.tensor([[1.0, 2.0], [30.5, 36.5], [60.0, 3.0]])
        points = tv_tensors.KeyPoints(places, canvas_size=(height, width))
        yield tv_tensors.Image(image), points, "and more"


CONTAINERS: dict[str, dict[str, Callable[[], Iterator[Any]]]] = {
    "transforms": {"PIL": pil_images, "uint8": uint8_tensors, "float": float_tensors},
    "transforms.v2": {"PIL": pil_images, "uint8": uint8_tensors, "float": float_tensors, "samples": samples},
}


# ---- Pillow's


#: The name of fastaug.pillow's function, its arguments, and Pillow's call.
PillowCase = tuple[str, tuple[Any, ...], Call]


def called(function: Callable[..., Any], args: tuple[Any, ...]) -> Call:
    """Return a function of an image that passes these further arguments."""
    return lambda image: function(image, *args)


def _enhance(name: str, factor: float) -> PillowCase:
    return name, (factor,), lambda image: getattr(ImageEnhance, name.title())(image).enhance(factor)


def _operation(name: str, *args: Any) -> PillowCase:
    return name, args, called(getattr(ImageOps, name), args)


def _method(name: str, *args: Any) -> PillowCase:
    return name, args, called(getattr(Image.Image, name), args)


_AFFINE = (0.9, 0.2, -3.0, -0.1, 1.1, 2.5)

PILLOW: list[PillowCase] = [
    _operation("autocontrast", (2, 5), 3),
    ("box_blur", (2.3,), lambda image: image.filter(ImageFilter.BoxBlur(2.3))),
    *[_enhance(name, factor) for name in ("brightness", "contrast", "color", "sharpness") for factor in (0.3, 1.7)],
    _operation("contain", (30, 20)),
    *[_method("convert", mode) for mode in ("L", "LA", "RGB", "RGBA", "CMYK", "YCbCr", "HSV", "F")],
    _operation("cover", (30, 20)),
    _method("crop", (-3, 2, 25, 90)),
    ("crop_border", (1,), lambda image: ImageOps.crop(image, 1)),
    _operation("equalize"),
    _operation("exif_transpose"),
    _operation("expand", 2, 9),
    _operation("fit", (30, 20)),
    _operation("flip"),
    ("gaussian_blur", (1.5,), lambda image: image.filter(ImageFilter.GaussianBlur(1.5))),
    _operation("grayscale"),
    _operation("invert"),
    _operation("mirror"),
    _operation("pad", (30, 20)),
    _method("point", [255 - k for k in range(256)]),
    _operation("posterize", 3),
    *[_method("resize", (23, 31), way) for way in Image.Resampling],
    *[_method("rotate", 33, way) for way in (0, 2, 3)],
    _operation("scale", 0.4),
    _operation("solarize", 77),
    *[_method("transform", (40, 30), Image.Transform.AFFINE, _AFFINE, way) for way in (0, 2, 3)],
    *[_method("transpose", turn) for turn in Image.Transpose],
]


@functools.cache
def files() -> dict[str, list[bytes]]:
    """Return encoded images by format."""
    found: dict[str, list[bytes]] = {}
    settings: list[tuple[str, str, dict[str, Any]]] = [
        ("JPEG", "RGB", {"quality": 90}),
        ("JPEG", "RGB", {"quality": 60, "subsampling": 0, "progressive": True}),
        ("JPEG", "L", {}),
        ("JPEG", "CMYK", {}),
        ("PNG", "RGB", {}),
        ("PNG", "RGBA", {}),
        ("PNG", "L", {}),
        ("PNG", "P", {}),
        ("WebP", "RGB", {"quality": 80}),
        ("TIFF", "RGB", {}),
        ("BMP", "RGB", {}),
    ]
    for name, mode, saved in settings:
        file = io.BytesIO()
        try:
            _pil(101, 75, mode).save(file, name, **saved)
        except (KeyError, OSError):
            continue  # this Pillow has no encoder
        found.setdefault(name, []).append(file.getvalue())
    return found
