"""Random native programs for rewrites to work on, and what becomes of their bits."""

from __future__ import annotations

import random

import numpy as np

from fastaug import _C
from support.images import noise
from support.programs import describe, execute, pack, random_program
from tables.op_table import ROWS, Op

EXTENTS = (1, 2, 3, 7, 15, 16, 17, 31, 33, 64, 70)
#: The rewrites that keep every bit.
EXACT = {name: bit for name, bit in _C.REWRITES.items() if bit & _C.EXACT}

MOVES = ["WINDOW", "WINDOW", "PAD", "HFLIP", "VFLIP", "ROT90", "NEAREST"]
TABLES = [
    *("BRIGHTNESS", "INVERT", "POSTERIZE", "SOLARIZE", "GAMMA", "TORCH_GAMMA", "AUTOCONTRAST", "EQUALIZE"),
    "TORCH_AUTOCONTRAST",
    "V2_AUTOCONTRAST",
]
COLOURS = [
    *("CONTRAST", "TORCH_CONTRAST", "V2_CONTRAST", "SATURATION", "TORCH_SATURATION", "V2_SATURATION"),
    *("HUE", "TORCH_HUE", "V2_HUE", "V2_PERMUTE"),
]
GRAYS = ["LUMA", "TORCH_LUMA", "V2_LUMA", "REPLICATE"]
WARPS = ["AFFINE", "TORCH_AFFINE", "PERSPECTIVE", "TORCH_PERSPECTIVE", "RESIZE", "TORCH_RESIZE"]
#: What programs are made of, so that each rewrite finds much to do.
STYLES = {
    "all": None,
    "moves": MOVES,
    "moves and tables": [*MOVES, *TABLES],
    "moves and warps": [*MOVES, *MOVES, *WARPS],
    "warps and windows": [*WARPS, "WINDOW", "WINDOW", "SHARPNESS", "BLUR"],
    "tables": [*TABLES, *COLOURS, *GRAYS, "HFLIP"],
    "tables and filters": [*TABLES, "SHARPNESS", "TORCH_SHARPNESS", "V2_SHARPNESS", "BLUR", "WINDOW", "VFLIP"],
}


def nasty_program(rng: random.Random, image: np.ndarray, style: str) -> list[Op]:
    """With a few ops that change nothing, or that the op after them takes back."""
    ops = random_program(rng, image, STYLES[style])
    for _ in range(rng.choice([0, 0, 1, 2])):
        at = rng.randint(0, sum(ROWS[op.name].kind != "store" for op in ops))
        height, width, _ = _C.shape(pack(ops[:at]), *image.shape)
        ops[at:at] = rng.choice(
            [
                [Op("WINDOW", (0, 0, height, width))],
                [Op("HFLIP"), Op("HFLIP")],
                [Op("VFLIP"), Op("HFLIP"), Op("VFLIP")],
                [Op("ROT90", flags=1), Op("VFLIP"), Op("ROT90", flags=3)],
                [Op("RESIZE", (height, width), flags=2)],
                [Op("PAD", (0, 0, 0, 0))],
                [Op("AFFINE", (height, width), (1.0, 0.0, 0.0, 0.0, 1.0, 0.0), 2)],
                [Op("INVERT"), Op("INVERT")],
                [Op("POSTERIZE", (8,))],
            ]
        )
    return ops


def draw(style: str, number: int) -> tuple[random.Random, np.ndarray, list[Op]]:
    """The program of this style and number, the same on every machine, and an image for it."""
    rng = random.Random(f"{style} {number}")
    image = noise(rng.choice(EXTENTS), rng.choice(EXTENTS), rng.choice([1, 2, 3, 3, 4]), number)
    return rng, image, nasty_program(rng, image, style)


def subsets(rng: random.Random) -> list[int]:
    """No rewrite, each alone, each left out, a few at random, all."""
    some = [sum(bit for bit in EXACT.values() if rng.random() < 0.5) for _ in range(3)]
    return [0, *EXACT.values(), *(_C.EXACT & ~bit for bit in EXACT.values()), *some, _C.EXACT]


def check(number: int) -> str:
    """What a subset of the rewrites does differently from the op-by-op executor, in a program of some style."""
    return check_style(list(STYLES)[number % len(STYLES)], number)


def check_style(style: str, number: int) -> str:
    """As `check`, in the program of this style and number."""
    rng, image, ops = draw(style, number)
    expected = execute(ops, image, plain=True)
    planar, slack = rng.random() < 0.5, rng.choice([0, 0, 1, 5])
    for rewrites in subsets(rng):
        if not np.array_equal(execute(ops, image, planar=planar, slack=slack, rewrites=rewrites), expected):
            names = ", ".join(name for name, bit in EXACT.items() if rewrites & bit) or "none"
            return f"program {style!r} {number}: rewrites {names} on {image.shape}\n{describe(ops)}"
    return ""
