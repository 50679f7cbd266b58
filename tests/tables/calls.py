"""One table of calls of torchvision.transforms.functional, each on whichever package is handed in."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from PIL import Image

from tables.cases import MODES, PADDING_MODES, ROTATION_MODES, mode

Call = Callable[[Any, Any], Any]

#: Corners of an image of 37 x 31 that move, in the order top left, top right, bottom right, bottom left.
CORNERS = [[0, 0], [36, 0], [36, 30], [0, 30]]


def displacement(image: Any, strength: float = 0.2) -> torch.Tensor:
    """Random offsets that fit the image, [1, H, W, 2], the same on each call."""
    if isinstance(image, Image.Image):
        width, height = image.size
    elif isinstance(image, torch.Tensor):
        height, width = image.shape[-2:]
    else:
        height, width = image.shape[:2] if isinstance(image, np.ndarray) else (1, 1)
    offsets = torch.rand((1, height, width, 2), generator=torch.Generator().manual_seed(height * 997 + width))
    return (offsets * 2 - 1) * strength


FUNCTIONAL: dict[str, Call] = {
    **{f"resize {m}": lambda F, x, m=m: F.resize(x, [19, 43], mode(F, m)) for m in MODES},
    "resize int": lambda F, x: F.resize(x, 24),
    "resize max_size": lambda F, x: F.resize(x, 24, max_size=25),
    "crop inside": lambda F, x: F.crop(x, 3, 2, 20, 11),
    "crop beyond": lambda F, x: F.crop(x, -3, -2, 90, 200),
    "crop outside": lambda F, x: F.crop(x, 300, 300, 5, 6),
    "center_crop": lambda F, x: F.center_crop(x, [21, 90]),
    "center_crop int": lambda F, x: F.center_crop(x, 21),
    "resized_crop": lambda F, x: F.resized_crop(x, 3, 1, 17, 30, [24, 20]),
    "resized_crop beyond": lambda F, x: F.resized_crop(x, -5, -5, 150, 150, [24, 20], mode(F, "BICUBIC")),
    "pad": lambda F, x: F.pad(x, [1, 2, 3, 4], 7),
    "pad reflect": lambda F, x: F.pad(x, 2, padding_mode="reflect"),
    "hflip": lambda F, x: F.hflip(x),
    "vflip": lambda F, x: F.vflip(x),
    **{f"rotate {m}": lambda F, x, m=m: F.rotate(x, 33.3, mode(F, m)) for m in ROTATION_MODES},
    "rotate expand": lambda F, x: F.rotate(x, -77, mode(F, "BILINEAR"), True, fill=[5]),
    "rotate by inf": lambda F, x: F.rotate(x, math.inf, fill=4),
    "rotate by nan": lambda F, x: F.rotate(x, math.nan, mode(F, "BILINEAR")),
    "rotate 90": lambda F, x: F.rotate(x, 90),
    "rotate center": lambda F, x: F.rotate(x, 12, center=[1, 2], fill=3),
    **{
        f"adjust_{name} {factor}": lambda F, x, name=name, factor=factor: getattr(F, f"adjust_{name}")(x, factor)
        for name in ("brightness", "contrast", "saturation")
        for factor in (0, 0.0, 0.37, 1, 1.0, 1.9, 11.0)
    },
    **{
        f"adjust_hue {factor}": lambda F, x, factor=factor: F.adjust_hue(x, factor)
        for factor in (-0.5, -0.1, 0, 0.3, 0.5)
    },
    **{f"pad {m}": lambda F, x, m=m: F.pad(x, [2, 0, 1, 3], 9, m) for m in PADDING_MODES},
    "pad fill list": lambda F, x: F.pad(x, 3, [20, 30, 40]),
    "pad negative": lambda F, x: F.pad(x, [-2, -1, 3, -4], 5),
    **{
        f"affine {m}": lambda F, x, m=m: F.affine(x, 27.5, [3, -2], 1.3, [8.0, -12.0], mode(F, m), 40)
        for m in ROTATION_MODES
    },
    "affine identity": lambda F, x: F.affine(x, 0, [0, 0], 1, 0),
    "affine translate": lambda F, x: F.affine(x, 0.0, (5, -3), 1.0, [0.0, 0.0], fill=[7]),
    "affine translate by parts": lambda F, x: F.affine(x, 0.0, [5.5, -3.25], 1.0, [0.0, 0.0], mode(F, "BILINEAR")),
    "affine scale": lambda F, x: F.affine(x, 0, [0, 0], 0.45, [0], mode(F, "NEAREST")),
    "affine shear number": lambda F, x: F.affine(x, -10, [0, 1], 2.0, 30, mode(F, "BILINEAR"), fill=3.7),
    "affine shear tuple": lambda F, x: F.affine(x, 190, [0, 1], 0.7, (0.0, -60.0), 3),
    "affine center": lambda F, x: F.affine(x, 45, [1, 2], 1.0, [5.0], mode(F, "BILINEAR"), [8], center=[3, 4.5]),
    "affine center zero": lambda F, x: F.affine(x, 0.0, [0, 0], 1.0, [20.0, 0.0], center=[0, 0]),
    "affine fill list": lambda F, x: F.affine(x, 45, [9, 2], 0.5, [0.0], fill=[1, 200, 30]),
    "affine far away": lambda F, x: F.affine(x, 10, [5000, 2], 1.0, [0.0], fill=66),
    "affine huge": lambda F, x: F.affine(x, 10, [0, 0], 5000.0, [0.0], mode(F, "BILINEAR")),
    "affine tiny": lambda F, x: F.affine(x, 10, [0, 0], 0.0001, [0.0], fill=66),
    **{
        f"perspective {m}": lambda F, x, m=m: F.perspective(
            x, CORNERS, [[3, 2], [30, 5], [33, 28], [1, 25]], mode(F, m), 10
        )
        for m in ROTATION_MODES
    },
    "perspective identity": lambda F, x: F.perspective(x, CORNERS, CORNERS),
    "perspective outwards": lambda F, x: F.perspective(x, CORNERS, [[-9, -9], [50, 3], [40, 44], [2, 20]], fill=[4]),
    "perspective mirror": lambda F, x: F.perspective(
        x, CORNERS, [[36, 0], [0, 0], [0, 30], [36, 30]], mode(F, "NEAREST")
    ),
    "perspective strong": lambda F, x: F.perspective(
        x, CORNERS, [[17, 14], [19, 14], [36, 30], [0, 30]], fill=[250, 2, 99]
    ),
    "perspective horizon": lambda F, x: F.perspective(
        x, CORNERS, [[10, 10], [20, 10], [12, 12], [9, 30]], mode(F, "BILINEAR"), 77
    ),
    **{
        f"elastic_transform {m}": lambda F, x, m=m: F.elastic_transform(x, displacement(x), mode(F, m), [30.0])
        for m in ROTATION_MODES
    },
    "elastic_transform fill None": lambda F, x: F.elastic_transform(x, displacement(x, 0.9)),
    "elastic_transform fill number": lambda F, x: F.elastic_transform(x, displacement(x, 0.9), 0, 12),
    "elastic_transform fill list": lambda F, x: F.elastic_transform(x, displacement(x, 0.5), fill=[0.0, 100.0, 255.0]),
    "elastic_transform still": lambda F, x: F.elastic_transform(x, displacement(x, 0.0)),
    "gaussian_blur 3": lambda F, x: F.gaussian_blur(x, 3),
    "gaussian_blur list": lambda F, x: F.gaussian_blur(x, [5, 3], [0.4, 2.5]),
    "gaussian_blur tuple": lambda F, x: F.gaussian_blur(x, (3, 13), (1.5,)),
    "gaussian_blur sigma number": lambda F, x: F.gaussian_blur(x, [9, 9], 2),
    "gaussian_blur sigma float": lambda F, x: F.gaussian_blur(x, 5, 0.83),
    "gaussian_blur 1": lambda F, x: F.gaussian_blur(x, 1, 3.0),
    "gaussian_blur 25": lambda F, x: F.gaussian_blur(x, [25, 25], [4.0, 4.0]),
    "invert": lambda F, x: F.invert(x),
    **{f"posterize {bits}": lambda F, x, bits=bits: F.posterize(x, bits) for bits in range(9)},
    **{f"solarize {t}": lambda F, x, t=t: F.solarize(x, t) for t in (0, 1.0, 77, 100.5, 128, 254.9, 255, 256, 300, -1)},
    "autocontrast": lambda F, x: F.autocontrast(x),
    "equalize": lambda F, x: F.equalize(x),
    **{f"adjust_sharpness {f}": lambda F, x, f=f: F.adjust_sharpness(x, f) for f in (0, 0.0, 0.5, 1, 1.0, 1.7, 30.0)},
    **{f"adjust_gamma {g}": lambda F, x, g=g: F.adjust_gamma(x, g) for g in (0, 0.0, 0.45, 1, 1.0, 2.2, 40)},
    "adjust_gamma gain": lambda F, x: F.adjust_gamma(x, 1.5, gain=0.7),
    "adjust_gamma much gain": lambda F, x: F.adjust_gamma(x, 0.8, 9),
    "adjust_gamma no gain": lambda F, x: F.adjust_gamma(x, 2, 0),
    "five_crop": lambda F, x: F.five_crop(x, 9),
    "five_crop pair": lambda F, x: F.five_crop(x, (5, 12)),
    "ten_crop": lambda F, x: F.ten_crop(x, [10]),
    "ten_crop vertical": lambda F, x: F.ten_crop(x, [4, 13], vertical_flip=True),
    "rgb_to_grayscale 1": lambda F, x: F.rgb_to_grayscale(x),
    "rgb_to_grayscale 3": lambda F, x: F.rgb_to_grayscale(x, 3),
    "get_dimensions": lambda F, x: F.get_dimensions(x),
    "get_image_size": lambda F, x: F.get_image_size(x),
    "get_image_num_channels": lambda F, x: F.get_image_num_channels(x),
}

#: Functional calls that only a PIL image accepts.
PIL_FUNCTIONAL: dict[str, Call] = {
    "to_grayscale 1": lambda F, x: F.to_grayscale(x),
    "to_grayscale 3": lambda F, x: F.to_grayscale(x, 3),
    "to_tensor": lambda F, x: F.to_tensor(x),
    "pil_to_tensor": lambda F, x: F.pil_to_tensor(x),
}

#: Functional calls that only a tensor accepts.
TENSOR_FUNCTIONAL: dict[str, Call] = {
    "erase": lambda F, x: F.erase(x, 2, 3, 5, 7, torch.tensor([[[0.5]]])),
    "erase list": lambda F, x: F.erase(x, 0, 0, 1, 100, torch.arange(x.shape[-3])[:, None, None]),
    "erase nothing": lambda F, x: F.erase(x, 2, 3, 0, 7, torch.tensor(1)),
    "erase number": lambda F, x: F.erase(x, -4, -3, 2, 2, 9),
    "erase beyond": lambda F, x: F.erase(x, 5, 5, 500, 500, torch.tensor([[[7]]])),
}
