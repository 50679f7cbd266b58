"""JPEG files of one scan over sampling, quality, size, restarts and tables: each axis against a few of the others."""

from __future__ import annotations

import itertools
from pathlib import Path

import encoded_images as made
import numpy as np
import pytest

from fastaug import _C
from fastaug.io import imread
from support.images import photo
from support.processes import python

SAMPLINGS = ("4:4:4", "4:2:2", "4:2:0")
PHOTO = photo("coffee", 130, 310)


def check(height: int, width: int, mode: str = "RGB", **options: object) -> None:
    """The whole, and a region of it, in all channels that there are."""
    data = made.encode(PHOTO.crop((3, 5, 3 + width, 5 + height)).convert(mode), "JPEG", **options)
    assert made.same(imread(data), made.pillow(data))
    top, left = height // 3, width // 4
    part = (top, left, max((height - top) // 2, 1), max((width - left) // 2, 1))
    for wanted in ("RGBA", "L"):
        expected = made.pillow(data, wanted)[top : top + part[2], left : left + part[3]]
        assert made.same(imread(data, wanted, part), expected)


@pytest.mark.parametrize("mode", ["L", *SAMPLINGS])
def test_every_quality(mode: str) -> None:
    options = {} if mode == "L" else {"subsampling": mode}
    for quality in range(1, 101):
        check(37, 53, "L" if mode == "L" else "RGB", quality=quality, optimize=quality % 2 == 0, **options)


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_sizes(sampling: str) -> None:
    for height, width in itertools.product(
        (1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 70), (1, 3, 4, 5, 6, 8, 17, 33, 64, 300)
    ):
        check(height, width, subsampling=sampling, quality=88)


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("option", ["restart_marker_blocks", "restart_marker_rows"])
def test_restarts(sampling: str, option: str) -> None:
    for interval in (1, 2, 3, 7, 20):
        for size in ((16, 16), (45, 61), (120, 301)):
            check(*size, subsampling=sampling, **{option: interval})


def test_components_that_are_rgb() -> None:
    for quality in (30, 90):
        data = made.encode(PHOTO, "JPEG", quality=quality, keep_rgb=True)
        assert made.same(imread(data), made.pillow(data))
        part = (20, 31, 50, 70)
        assert made.same(imread(data, "RGBA", part), made.pillow(data, "RGBA")[20:70, 31:101])
    for sampling in SAMPLINGS:
        data = made.encode(PHOTO, "JPEG", subsampling=sampling)
        assert made.same(imread(data, colorspace="ycbcr"), made.pillow(data))
        assert not np.array_equal(imread(data, colorspace="rgb"), made.pillow(data))


CODE = """
import hashlib, sys
from fastaug import _C
from fastaug.io import imread
data = open(sys.argv[1], "rb").read()
print(_C.jpeg_decoder(), hashlib.sha256(imread(data).tobytes() + imread(data, "L", (9, 8, 7, 6)).tobytes()).hexdigest())
"""


def test_who_decodes(tmp_path: Path) -> None:
    """FASTAUG_JPEG says it, and the pixels do not."""
    path = tmp_path / "photo.jpg"
    PHOTO.save(path)
    answers = {}
    for wanted in ("own", "libjpeg", ""):
        process = python(["-c", CODE, str(path)], FASTAUG_JPEG=wanted)
        assert process.returncode == 0, process.stderr
        answers[wanted] = process.stdout.split()
    assert answers["own"][0] == "own" and answers["libjpeg"][0] == "libjpeg"
    quick = _C.isas()[-1] not in ("scalar", "neon")
    assert answers[""][0] == ("own" if quick else "libjpeg")
    assert len({digest for _, digest in answers.values()}) == 1
