"""One row for each op of transforms.v2, timed on one 512x512 RGB uint8 tensor.

The name of a row begins with that of its function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from bench.case import HALF, Case, Transform
from bench.operations import AFFINE, CORNERS, displaced, erased, function


def one(name: str, build: Callable[[Any], Transform], *ops: str, goal: float) -> Case:
    return Case(name, "images 512x512", build, ops, goal={"avx2": goal, "avx512vbmi": goal})


def floats(v2: Any) -> Transform:
    return v2.ToDtype(torch.float32, scale=True)  # type: ignore[no-any-return]


#: What is left to torch, or is one move for it; and views, of which the call is all there is.
LEVEL, VIEW = 0.95, 0.83
FILLED = {"fill": [9.0, 99.0, 199.0]}
_CROP = {"height": 224, "width": 224}

MOVES = (
    one("horizontal_flip", function("horizontal_flip"), "HFLIP", goal=LEVEL),
    one("vertical_flip", function("vertical_flip"), "VFLIP", goal=LEVEL),
    one("crop", function("crop", top=100, left=90, **_CROP), "WINDOW", goal=VIEW),
    one("crop, beyond the image", function("crop", top=-100, left=-90, height=600, width=600), "WINDOW", goal=LEVEL),
    one("center_crop", function("center_crop", output_size=[224, 224]), "WINDOW", goal=VIEW),
    one("pad", function("pad", padding=[10, 20], fill=7), "WINDOW", goal=LEVEL),
    one("pad, reflect", function("pad", padding=[10, 20], padding_mode="reflect"), "PAD", goal=LEVEL),
    one("rotate by 90", function("rotate", angle=90.0), "ROT90", goal=LEVEL),
    one("erase", erased, goal=LEVEL),
    one("permute_channels", function("permute_channels", permutation=[2, 0, 1]), "V2_PERMUTE", goal=LEVEL),
    one("to_dtype, float32", floats, "V2_TO_FLOAT", goal=LEVEL),
    one(
        "to_dtype, float32, and normalize",
        lambda v2: v2.Compose([floats(v2), v2.Normalize(HALF, HALF)]),
        *("V2_TO_FLOAT", "NORMALIZE"),
        goal=1.5,
    ),
    one(
        "to_dtype, float32 without scale, and normalize",
        lambda v2: v2.Compose([v2.ToDtype(torch.float32), v2.Normalize([127.5] * 3, [127.5] * 3)]),
        *("SCALE", "NORMALIZE"),
        goal=1.5,
    ),
)
GEOMETRY = (
    *(
        one(f"resize to {size}, {m}", function("resize", size=[size, size], interpolation=m), op, goal=1)
        for size in (224, 700)
        for m, op in (("nearest", "NEAREST"), ("bilinear", "RESIZE"), ("bicubic", "RESIZE"))
    ),
    one(
        "resized_crop",
        function("resized_crop", top=100, left=90, **_CROP, size=[112, 112]),
        *("WINDOW", "RESIZE"),
        goal=1,
    ),
    *(
        one(f"{name}, {m}", function(name.partition(",")[0], interpolation=m, **more), op, goal=least)
        for name, op, more in (
            ("rotate", "TORCH_AFFINE", {"angle": 17.3}),
            ("rotate, expand, filled", "TORCH_AFFINE", {"angle": 17.3, "expand": True, **FILLED}),
            ("affine", "TORCH_AFFINE", AFFINE),
            ("affine, filled", "TORCH_AFFINE", {**AFFINE, **FILLED}),
            ("perspective", "TORCH_PERSPECTIVE", CORNERS),
            ("perspective, filled", "TORCH_PERSPECTIVE", {**CORNERS, **FILLED}),
        )
        for m, least in (("nearest", 5), ("bilinear", 4))
    ),
    one("elastic, bilinear", displaced, goal=2.5),
)
COLOUR = (
    one("adjust_brightness", function("adjust_brightness", brightness_factor=1.13), "BRIGHTNESS", goal=3),
    one("adjust_contrast", function("adjust_contrast", contrast_factor=1.13), "V2_CONTRAST", goal=3),
    one("adjust_saturation", function("adjust_saturation", saturation_factor=1.13), "V2_SATURATION", goal=5),
    one("adjust_hue", function("adjust_hue", hue_factor=0.05), "V2_HUE", goal=5),
    one("adjust_sharpness", function("adjust_sharpness", sharpness_factor=1.5), "V2_SHARPNESS", goal=5),
    one("adjust_gamma", function("adjust_gamma", gamma=1.7), "TORCH_GAMMA", goal=5),
    one("rgb_to_grayscale", function("rgb_to_grayscale"), "V2_LUMA", goal=2),
    one("rgb_to_grayscale, 3", function("rgb_to_grayscale", num_output_channels=3), "V2_LUMA", "REPLICATE", goal=2),
    one("invert", function("invert"), "INVERT", goal=LEVEL),
    one("posterize", function("posterize", bits=3), "POSTERIZE", goal=LEVEL),
    one("solarize", function("solarize", threshold=128), "SOLARIZE", goal=5),
    one("autocontrast", function("autocontrast"), "V2_AUTOCONTRAST", goal=3),
    one("equalize", function("equalize"), "EQUALIZE", goal=4),
    one("jpeg", function("jpeg", quality=75), "JPEG", goal=3),
    *(one(f"gaussian_blur, {k}", function("gaussian_blur", kernel_size=[k, k]), "BLUR", goal=3) for k in (5, 23)),
    one(
        "ColorJitter(0.4, 0.4, 0.4, 0.1)",
        lambda v2: v2.ColorJitter(0.4, 0.4, 0.4, 0.1),
        *("BRIGHTNESS", "V2_CONTRAST", "V2_SATURATION", "V2_HUE"),
        goal=5,
    ),
)

OPERATIONS = MOVES + GEOMETRY + COLOUR
