"""PIL images that are more than their pixels: metadata, palettes with alpha, rare modes, foreign memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import PIL
import pytest
import torchvision.transforms as TV
import torchvision.transforms.functional as TF
from PIL import Image

import fastaug.transforms as T
import fastaug.transforms.functional as F
from support.differences import each
from support.images import noise, pil
from support.outcomes import Outcome, assert_same, run, snapshot
from tables.cases import PIL_CASES

HEIGHT, WIDTH = 64, 71
BYTES = noise(HEIGHT, WIDTH, 8).tobytes()


def with_info(mode: str, **info: object) -> Image.Image:
    image = pil(mode, HEIGHT, WIDTH)
    image.info.update(info)
    return image


def palette_with_alpha() -> Image.Image:
    image = pil("P", HEIGHT, WIDTH)
    image.putpalette(bytes(range(256)) * 4, "RGBA")
    return image


def borrowed(mode: str, channels: int) -> Image.Image:
    """A read-only image over a bytes object."""
    return Image.frombuffer(mode, (WIDTH, HEIGHT), BYTES[: HEIGHT * WIDTH * channels], "raw", mode, 0, 1)


def flat(mode: str) -> Image.Image:
    return Image.frombytes(mode, (WIDTH, HEIGHT), BYTES[: HEIGHT * WIDTH * 2])


IMAGES: dict[str, Callable[[], Image.Image]] = {
    "dpi and profile": lambda: with_info("RGB", dpi=(72, 72), icc_profile=b"profile"),
    "RGB with a transparent colour": lambda: with_info("RGB", transparency=(1, 2, 3)),
    "L with a transparent level": lambda: with_info("L", transparency=7),
    "P with a transparent index": lambda: with_info("P", transparency=3),
    "P with an alpha per index": lambda: with_info("P", transparency=bytes(range(256))),
    "P with an RGBA palette": palette_with_alpha,
    "read-only L": lambda: borrowed("L", 1),
    "read-only RGBA": lambda: borrowed("RGBA", 4),
    "read-only RGBX": lambda: borrowed("RGBX", 4),
    "read-only CMYK": lambda: borrowed("CMYK", 4),
    "read-only I;16": lambda: borrowed("I;16", 2),
    "bottom-up rows with gaps": lambda: Image.frombuffer("L", (WIDTH, HEIGHT), BYTES, "raw", "L", WIDTH + 9, -1),
    "premultiplied RGBa": lambda: pil("RGBA", HEIGHT, WIDTH).convert("RGBa"),
    "premultiplied La": lambda: pil("LA", HEIGHT, WIDTH).convert("La"),
    "RGBX": lambda: pil("RGB", HEIGHT, WIDTH).convert("RGBX"),
    "I;16B": lambda: flat("I;16B"),
    "I;16L": lambda: flat("I;16L"),
}


def assert_alike(ours: Outcome, theirs: Outcome) -> None:
    assert_same(ours, theirs)
    if isinstance(theirs.value, Image.Image):
        assert ours.value.info == theirs.value.info


if int(PIL.__version__.partition(".")[0]) < 13:
    # Results of older ones keep more, or less, of it.
    IMAGES = {title: make for title, make in IMAGES.items() if "transparent" not in title}


@pytest.mark.parametrize("title", IMAGES)
def test_special_image(title: str) -> None:
    image = IMAGES[title]()
    for make in PIL_CASES.values():
        assert_alike(run(make(T), image, 3, untouched=True), run(make(TV), image, 3, untouched=True))
    assert snapshot(image) == snapshot(IMAGES[title]()), "the input was modified"


@pytest.mark.parametrize(
    ("mode", "suffix"), [("L", "bmp"), ("RGBA", "tif"), ("P", "gif"), ("1", "png"), ("CMYK", "jpg"), ("I;16", "png")]
)
def test_opened_file(mode: str, suffix: str, tmp_path: Path) -> None:
    """Nothing is read before a transform asks; uncompressed files are mapped into memory instead of read."""
    file = tmp_path / f"image.{suffix}"
    pil(mode, HEIGHT, WIDTH).save(file)
    for make in PIL_CASES.values():
        with Image.open(file) as ours, Image.open(file) as theirs:
            assert_alike(run(make(T), ours, 3, untouched=True), run(make(TV), theirs, 3, untouched=True))


def test_animated_file_gives_its_present_frame(tmp_path: Path) -> None:
    frames = [pil("RGB", 40, 50, seed) for seed in range(3)]
    frames[0].save(tmp_path / "x.png", save_all=True, append_images=frames[1:])
    results = []
    for package in (T, TV):
        with Image.open(tmp_path / "x.png") as image:
            for index in (0, 2, 1):
                image.seek(index)
                results.append(package.Compose([package.Resize(20), package.ToTensor()])(image))
    for ours, theirs in zip(results[:3], results[3:], strict=True):
        assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("name", ["adjust_brightness", "adjust_contrast", "adjust_saturation", "adjust_sharpness"])
@each("factor", [1e29, 1e30, 1e31, 1e39, 1e200, -1e31, float("inf"), float("nan")])
def test_enormous_factors(name: str, factor: float) -> None:
    """Where float32 overflows, the result is whatever Pillow makes of it."""
    image = pil("RGB", 9, 7)
    ours = run(lambda value: getattr(F, name)(value, factor), image)
    assert_same(ours, run(lambda value: getattr(TF, name)(value, factor), image))
