"""fastaug.pillow gives what Pillow gives: pixels, mode, size, palette and info, on images and on images in progress."""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import PIL
import pytest
import torch
from PIL import Image, ImageEnhance, ImageFilter, ImageOps

import fastaug
from fastaug import pillow
from fastaug._draft.call import PLAIN
from fastaug._draft.outline import Outline
from fastaug._draft.replaced import TransformDraft
from support.differences import each, grouped
from support.images import noise, photo, undated

NATIVE = ("L", "LA", "RGB", "RGBA", "CMYK", "YCbCr", "HSV")
MODES = (*NATIVE, "1", "P", "PA", "I", "F", "I;16", "La", "RGBa", "LAB")
SIZES = ((1, 1), (1, 9), (8, 1), (2, 3), (13, 17), (64, 33), (71, 40))
RADII = (0, 0.1, 0.5, 1, 1.0, 2.3, 7, 30, 100.5, 2000, (0, 0), (0, 2), (1.5, 0), (0.3, 9.7), [2, 3], (64, 63))
FILTERS = tuple(Image.Resampling)
AFFINE = (0.9, 0.2, -3.0, -0.1, 1.1, 2.5)
PERSPECTIVE = (0.9, 0.1, 1.0, -0.1, 1.05, 2.0, 1e-3, -2e-3)

OLDER_PILLOW = int(PIL.__version__.partition(".")[0]) < 13

Change = Callable[[Any], Any]


def made(mode: str, size: tuple[int, int], seed: int = 0) -> Image.Image:
    """An image of that mode, with metadata."""
    width, height = size
    samples = noise(height, width, 4, seed)
    if mode in ("1", "L", "P"):
        image = Image.fromarray(samples[..., 0]).convert(mode)
    elif mode in ("I", "F"):
        image = Image.fromarray(samples[..., 0].astype(np.int32 if mode == "I" else np.float32) * 3)
    elif mode == "I;16":
        image = Image.fromarray(samples[..., 0].astype(np.uint16) * 7)
    elif mode == "PA":
        image = Image.merge("LA", [Image.fromarray(samples[..., k].copy()) for k in (0, 3)]).convert("PA")
    else:
        count = len(Image.new(mode, (1, 1)).getbands())
        raw = np.ascontiguousarray(samples[..., :count])
        image = Image.frombytes(mode, size, raw.tobytes())
    if mode == "P":
        image.putpalette(list(range(255, -1, -1)) * 3)
    image.info = {"comment": [1, 2], "dpi": (72, 72)}
    return image


def told(image: Image.Image) -> tuple[Any, ...]:
    palette = None if image.palette is None else (image.palette.mode, bytes(image.getpalette(image.palette.mode) or ()))
    return image.mode, image.size, image.tobytes(), undated(image.info), palette


def outcome(change: Change, image: Image.Image) -> tuple[Any, ...]:
    try:
        return told(change(image))
    except Exception as error:
        return (type(error),)


def in_progress(change: Change) -> Change:
    """The same to a draft, between other ops."""

    def changed(image: Image.Image) -> Image.Image:
        draft = TransformDraft(image)
        assert change(draft) is draft
        result: Image.Image = draft.finish()
        return result

    return changed


#: The same change by fastaug and by Pillow.
CASES: dict[str, tuple[Change, Change]] = {
    **{
        f"gaussian_blur {radius}": (
            lambda x, r=radius: pillow.gaussian_blur(x, r),
            lambda x, r=radius: x.filter(ImageFilter.GaussianBlur(r)),
        )
        for radius in RADII
    },
    **{
        f"box_blur {radius}": (
            lambda x, r=radius: pillow.box_blur(x, r),
            lambda x, r=radius: x.filter(ImageFilter.BoxBlur(r)),
        )
        for radius in RADII
    },
    **{
        f"solarize {threshold}": (
            lambda x, t=threshold: pillow.solarize(x, t),
            lambda x, t=threshold: ImageOps.solarize(x, t),
        )
        for threshold in (128, 0, 256, -3, 77.5, 1000, float("nan"))
    },
    **{
        f"posterize {bits}": (lambda x, b=bits: pillow.posterize(x, b), lambda x, b=bits: ImageOps.posterize(x, b))
        for bits in (0, 1, 4, 8, 9, True, 2.5)
    },
    "invert": (pillow.invert, ImageOps.invert),
    "equalize": (pillow.equalize, ImageOps.equalize),
    "autocontrast": (pillow.autocontrast, ImageOps.autocontrast),
    "autocontrast cut": (lambda x: pillow.autocontrast(x, (2, 5), 3), lambda x: ImageOps.autocontrast(x, (2, 5), 3)),
    "autocontrast tone": (
        lambda x: pillow.autocontrast(x, preserve_tone=True),
        lambda x: ImageOps.autocontrast(x, preserve_tone=True),
    ),
    "grayscale": (pillow.grayscale, ImageOps.grayscale),
    "mirror": (pillow.mirror, ImageOps.mirror),
    "flip": (pillow.flip, ImageOps.flip),
    "exif_transpose": (pillow.exif_transpose, ImageOps.exif_transpose),
    "point": (lambda x: pillow.point(x, lambda v: v // 2), lambda x: x.point(lambda v: v // 2)),
    "point to 1": (lambda x: pillow.point(x, [0, 255] * 128, "1"), lambda x: x.point([0, 255] * 128, "1")),
    **{
        f"{name} {factor}": (
            lambda x, n=name, f=factor: getattr(pillow, n)(x, f),
            lambda x, n=name, f=factor: getattr(ImageEnhance, n.title())(x).enhance(f),
        )
        for name in ("brightness", "contrast", "color", "sharpness")
        for factor in (0, 0.3, 1, 1.7, -1)
    },
    **{
        f"convert {mode}": (lambda x, m=mode: pillow.convert(x, m), lambda x, m=mode: x.convert(m))
        for mode in (None, "1", "L", "LA", "RGB", "RGBA", "P", "CMYK", "YCbCr", "HSV", "F", "nonsense")
    },
    **{
        f"transpose {turn}": (lambda x, t=turn: pillow.transpose(x, t), lambda x, t=turn: x.transpose(t))
        for turn in (*Image.Transpose, 7, -1)
    },
    **{
        f"crop {box}": (lambda x, b=box: pillow.crop(x, b), lambda x, b=box: x.crop(b))
        for box in (None, (0, 0, 1, 1), (1.5, 2.5, 7.4, 9), (-3, -2, 5, 90), [0, 0, 4, 4], (5, 5, 5, 9), (3, 0, 2, 1))
    },
    **{
        f"crop_border {border}": (
            lambda x, b=border: pillow.crop_border(x, b),
            lambda x, b=border: ImageOps.crop(x, b),
        )
        for border in (0, 1, -2, (1, 0), (0, 1, 2, 0), (1, 2, 3))
    },
    **{
        f"resize {size} {method}": (
            lambda x, s=size, m=method: pillow.resize(x, s, m),
            lambda x, s=size, m=method: x.resize(s, m),
        )
        for size in ((20, 31), (1, 1), (0, 4))
        for method in (None, *FILTERS, 99)
    },
    "resize list": (lambda x: pillow.resize(x, [9, 5]), lambda x: x.resize([9, 5])),
    "resize same": (lambda x: pillow.resize(x, x_size(x)), lambda x: x.resize(x_size(x))),
    "resize box": (
        lambda x: pillow.resize(x, (9, 5), 2, (0, 0, 1, 1)),
        lambda x: x.resize((9, 5), 2, (0, 0, 1, 1)),
    ),
    **{
        f"resize gap {gap}": (
            lambda x, g=gap: pillow.resize(x, (9, 5), 2, None, g),
            lambda x, g=gap: x.resize((9, 5), 2, None, g),
        )
        for gap in (0.5, 1, 1.0, 2.0, 3)
    },
    **{
        f"rotate {angle} {method} {expand} {center} {translate} {fill}": (
            lambda x, a=(angle, method, expand, center, translate, fill): pillow.rotate(x, *a),
            lambda x, a=(angle, method, expand, center, translate, fill): x.rotate(*a),
        )
        for angle, method, expand, center, translate, fill in (
            (0, 0, False, None, None, None),
            (90, 0, False, None, None, None),
            (90, 0, True, None, None, None),
            (180, 2, False, None, None, None),
            (270.0, 3, True, None, None, None),
            (-450, 3, True, None, (0, 0), None),
            (33.3, 0, False, None, None, None),
            (33.3, 2, True, None, None, None),
            (-20, 3, True, (3, 2), (5, -4), None),
            (12, 2, False, (1.5, 2), None, 77),
            (12, 2, False, None, (2.5, 1), (10, 20, 30)),
            (12, 3, True, None, None, "red"),
            (12, 0, True, None, None, (1, 2, 3, 4)),
            (12, 1, True, None, None, None),
            (45, 2, False, (0, 0), (-1, -2), (9, 100)),
        )
    },
    **{
        f"transform {method} {resample} {fill}": (
            lambda x, a=((23, 11), method, data, resample, 1, fill): pillow.transform(x, *a),
            lambda x, a=((23, 11), method, data, resample, 1, fill): x.transform(*a),
        )
        for method, data in (
            (Image.Transform.AFFINE, AFFINE),
            (Image.Transform.AFFINE, (2, 0, 1, 0, 0.5, 0)),
            (Image.Transform.PERSPECTIVE, PERSPECTIVE),
            (Image.Transform.EXTENT, (1, -2, 9.5, 12)),
            (Image.Transform.QUAD, (0, 0, 0, 9, 8, 8, 9, 1)),
            (Image.Transform.AFFINE, None),
            (17, AFFINE),
        )
        for resample in (0, 2, 3, 1)
        for fill in (None, 5)
    },
    **{
        f"{name} {size} {method}": (
            lambda x, n=name, a=(size, method): getattr(pillow, n)(x, *a),
            lambda x, n=name, a=(size, method): getattr(ImageOps, n)(x, *a),
        )
        for name in ("fit", "contain", "cover", "pad")
        for size in ((20, 31), (7, 7), (400, 1), (1, 1), (5, 0))
        for method in (0, 3)
    },
    "fit bleed": (lambda x: pillow.fit(x, (9, 9), 2, 0.1, (0, 1)), lambda x: ImageOps.fit(x, (9, 9), 2, 0.1, (0, 1))),
    "pad color": (
        lambda x: pillow.pad(x, (30, 30), 2, "blue", (0.2, 1)),
        lambda x: ImageOps.pad(x, (30, 30), 2, "blue", (0.2, 1)),
    ),
    **{
        f"scale {factor}": (lambda x, f=factor: pillow.scale(x, f), lambda x, f=factor: ImageOps.scale(x, f))
        for factor in (1, 0.4, 2.2, 0, -1, 0.01)
    },
    **{
        f"expand {border} {fill}": (
            lambda x, a=(border, fill): pillow.expand(x, *a),
            lambda x, a=(border, fill): ImageOps.expand(x, *a),
        )
        for border in (0, 3, (1, 2), (4, 0, 2, 1), (-1, 2), (1, 2, 3))
        for fill in (0, 300, "red", (1, 2, 3), (1, 2))
    },
}


def x_size(image: Any) -> tuple[int, int]:
    return image.size if isinstance(image, Image.Image) else (image.width, image.height)


@pytest.mark.skipif(OLDER_PILLOW, reason="types of errors, and what is kept, are those of Pillow 13")
@pytest.mark.filterwarnings("ignore")
@grouped(CASES)
@each("mode", MODES)
def test_equal(name: str, mode: str) -> None:
    ours, theirs = CASES[name]
    seed = zlib.crc32(f"{name} {mode}".encode())
    for size in random.Random(seed).sample(SIZES, 3):
        image = made(mode, size, seed % 1000)
        before = told(image)
        expected = outcome(theirs, image)
        assert outcome(ours, image) == expected, size
        assert outcome(in_progress(ours), image) == expected, size
        assert told(image) == before
        if len(expected) > 1:
            assert ours(image) is not image


@pytest.mark.skipif(OLDER_PILLOW, reason="types of errors, and what is kept, are those of Pillow 13")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("mode", NATIVE)
def test_in_pipelines(mode: str) -> None:
    """Between other ops."""
    rng = random.Random(mode)
    names = [name for name in CASES if "nonsense" not in name]
    for _ in range(150):
        image = made(mode, rng.choice(SIZES), rng.randrange(99))
        chosen = rng.sample(names, rng.randint(2, 5))

        def chained(value: Any, side: int, chosen: Any = chosen) -> Any:
            for name in chosen:
                value = CASES[name][side](value)
            return value

        expected = outcome(lambda x: chained(x, 1), image)
        assert outcome(in_progress(lambda x: chained(x, 0)), image) == expected, (chosen, image.size)


@pytest.mark.skipif(OLDER_PILLOW, reason="types of errors, and what is kept, are those of Pillow 13")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("mode", ["L", "RGBA", "CMYK", "P", "F"])
def test_outlines_follow(mode: str) -> None:
    """Drafts without pixels have the size and mode of the result, which draws may depend on."""
    image = made(mode, (37, 23))
    for name, (ours, theirs) in CASES.items():
        expected = outcome(theirs, image)
        if len(expected) == 1 or 0 in expected[1] or "nonsense" in name:
            continue
        outline = Outline(image, PLAIN)
        assert ours(outline) is outline
        assert (outline.mode, (outline.width, outline.height)) == expected[:2], name


@pytest.mark.parametrize("mode", ["L", "RGB", "P"])
@each("orientation", range(10))
def test_orientations(mode: str, orientation: int, tmp_path: Any) -> None:
    plain = made(mode, (5, 4))
    exif = plain.getexif()
    exif[0x0112] = orientation
    exif[0x010F] = "maker"
    plain.info["exif"] = exif.tobytes()
    path = tmp_path / "image.png"
    plain.save(path, exif=exif)
    for image in (plain, Image.open(path), Image.open(path)):
        expected = outcome(ImageOps.exif_transpose, image.copy())
        assert outcome(pillow.exif_transpose, image) == expected
        turned = pillow.mirror(image)
        assert told(pillow.exif_transpose(turned)) == told(ImageOps.exif_transpose(turned))
        assert outcome(in_progress(lambda x: pillow.exif_transpose(pillow.mirror(x))), image) == told(
            ImageOps.exif_transpose(ImageOps.mirror(image))
        )
        outline = pillow.exif_transpose(Outline(image, PLAIN))
        assert (outline.width, outline.height) == expected[1]


@pytest.mark.skipif(OLDER_PILLOW, reason="types of errors, and what is kept, are those of Pillow 13")
@pytest.mark.parametrize("transparency", [3, (1, 2, 3), b"\1\2"])
@pytest.mark.filterwarnings("ignore")
def test_transparency(transparency: Any) -> None:
    for mode in ("L", "RGB", "P"):
        image = made(mode, (13, 17))
        image.info["transparency"] = transparency
        for name, (ours, theirs) in CASES.items():
            assert outcome(ours, image) == outcome(theirs, image), (mode, name)


@pytest.mark.parametrize("name", ["astronaut", "coffee"])
def test_photographs(name: str) -> None:
    image = photo(name, 200, 301)
    rng = random.Random(name)
    for _ in range(25):
        radius = (rng.uniform(0, 12), rng.uniform(0, 3)) if rng.random() < 0.3 else rng.uniform(0.1, 6)
        assert told(pillow.gaussian_blur(image, radius)) == told(image.filter(ImageFilter.GaussianBlur(radius)))
        assert told(pillow.box_blur(image, radius)) == told(image.filter(ImageFilter.BoxBlur(radius)))


def test_every_radius() -> None:
    """The radius of a Gaussian's box, to the last bit of float32: its weights are 2^24 times as sensitive."""
    image = made("L", (40, 3))
    rng = random.Random(5)
    for _ in range(3000):
        radius = rng.choice([rng.uniform(0, 3), rng.uniform(0, 30), rng.randint(0, 4000) / 10])
        assert (
            pillow.gaussian_blur(image, radius).tobytes() == image.filter(ImageFilter.GaussianBlur(radius)).tobytes()
        ), radius


def test_files_are_read(tmp_path: Any) -> None:
    path = tmp_path / "image.jpg"
    Image.fromarray(noise(30, 40, 3, 1)).save(path, quality=90)
    for name in ("gaussian_blur 2.3", "crop None", "resize (20, 31) None", "convert L", "pad (7, 7) 3"):
        ours, theirs = CASES[name]
        assert outcome(ours, Image.open(path)) == outcome(theirs, Image.open(path)), name


def test_errors_name_the_argument() -> None:
    image = made("RGB", (8, 8))
    for change, kind, text in (
        (lambda: pillow.gaussian_blur(image, "a"), TypeError, "radius must be a number, or a tuple of two, got 'a'"),
        (lambda: pillow.gaussian_blur(image, (1, 2, 3)), TypeError, "radius"),
        (lambda: pillow.box_blur(image, -1), ValueError, "radius must not be negative, .* got -1"),
        (lambda: pillow.posterize(image, 9), ValueError, "bits must be 1 to 8, got 9"),
        (lambda: pillow.transpose(image, 7), ValueError, "method .* 0 to 6, got 7"),
        (lambda: pillow.transpose(image, "a"), TypeError, "method .* got 'a'"),
        (lambda: pillow.crop(image, (4, 0, 1, 1)), ValueError, "box"),
        (lambda: pillow.crop(image, 4), TypeError, "box"),
        (lambda: pillow.rotate(image, "a"), TypeError, "angle"),
        (lambda: pillow.scale(image, 0), ValueError, "factor"),
        (lambda: pillow.expand(image, (1, 2, 3)), ValueError, "border"),
        (lambda: pillow.invert(torch.zeros(3, 4, 4)), TypeError, "image must be a PIL image"),
        (lambda: pillow.invert(np.zeros((4, 4, 3), np.uint8)), TypeError, "image must be a PIL image"),
        (lambda: pillow.invert("a"), TypeError, "image must be a PIL image"),
    ):
        with pytest.raises(kind, match=text):
            change()


def test_every_name_is_there() -> None:
    assert fastaug.pillow is pillow
    for name in pillow.__all__:
        assert getattr(pillow, name).__doc__
