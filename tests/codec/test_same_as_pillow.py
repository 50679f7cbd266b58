"""imread() gives np.asarray(Image.open(...).convert(mode)), bit for bit, of whatever Pillow opens."""

from __future__ import annotations

import io
import itertools

import encoded_images as made
import hypothesis
import image_files
import numpy as np
import pytest
from hypothesis import strategies as st
from PIL import Image

import fastaug.io
from fastaug import _C
from support.differences import each, grouped
from support.images import SIZES, photo, pil
from support.scale import cases

JPEGS, PNGS, OTHERS = made.jpegs(), made.pngs(), made.others()
WEBPS = image_files.webps()
FILES = {
    **{f"JPEG {name}": data for name, data in JPEGS.items()},
    **{f"PNG {name}": data for name, data in PNGS.items()},
    **{f"WEBP {name}": data for name, data in WEBPS.items()},
    **OTHERS,
}
MODES = ("RGB", "L", "RGBA", "LA", "1", "P", "I", "F", "CMYK", "YCbCr", "HSV", "LAB")

# Pillow's, and passed on: a palette with several transparent colours, read without them.
WITH_ALPHA = "Palette images with Transparency expressed in bytes"
pytestmark = pytest.mark.filterwarnings(f"ignore:{WITH_ALPHA}")

# What the core is there for, and what it has to leave to Pillow.
NATIVE_JPEGS = [name for name in JPEGS if name not in ("RGB", "two images")]
NATIVE_PNGS = ["L", "LA", "RGB", "RGBA", "L noise", "LA noise", "RGB noise", "RGBA noise", "text", "large", "1", "P"]
NATIVE_PNGS += [f"{kind} of {bits} bits" for kind in ("gray", "palette") for bits in (1, 2, 4)]
NATIVE_PNGS += ["I;16", "LA;16", "RGB;16", "RGBA;16"]
NOT_NATIVE_PNGS = ["transparent P", "transparent L", "transparent RGB", "animated"]


@each("name", NATIVE_JPEGS)
def test_jpegs_are_decoded_natively(name: str) -> None:
    image = fastaug.io.lazy(JPEGS[name])
    assert image.native and image.format == "JPEG"
    image.source()


@each("name", NATIVE_PNGS)
def test_pngs_are_decoded_natively(name: str) -> None:
    image = fastaug.io.lazy(PNGS[name])
    assert image.native and image.format == "PNG"
    image.source()


@pytest.mark.skipif(_C.webp_decoder() == "Pillow", reason="this build has no libwebp")
@each("name", [name for name in WEBPS if name != "animated"])
def test_webps_are_decoded_natively(name: str) -> None:
    image = fastaug.io.lazy(WEBPS[name], None)
    assert image.native and image.format == "WEBP"
    image.source()


@each("data", [WEBPS["animated"], JPEGS["two images"], *(PNGS[name] for name in NOT_NATIVE_PNGS)])
def test_what_is_left_to_pillow(data: bytes) -> None:
    assert not fastaug.io.lazy(data).native


@grouped(FILES)
@each("mode", (*MODES, None))
def test_whole(name: str, mode: str | None) -> None:
    data = FILES[name]
    try:
        expected = made.pillow(data, mode)
    except ValueError as error:
        with pytest.raises(ValueError, match=str(error)):
            fastaug.io.imread(data, mode)
        return
    result = fastaug.io.imread(data, mode)
    assert made.same(result, expected)
    assert result.flags.writeable and result.flags.c_contiguous


def test_warnings_of_pillow() -> None:
    with pytest.warns(UserWarning, match=WITH_ALPHA):
        fastaug.io.imread(PNGS["transparent P"], "RGB")


@grouped(FILES)
@each("mode", (*MODES, None))
def test_part(name: str, mode: str | None) -> None:
    data = FILES[name]
    try:
        expected = made.pillow(data, mode)
    except ValueError:
        return  # test_whole() has seen to it
    rng = np.random.default_rng(len(data))
    for _ in range(3):
        height, width = (int(rng.integers(1, size + 1)) for size in expected.shape[:2])
        top = int(rng.integers(0, expected.shape[0] - height + 1))
        left = int(rng.integers(0, expected.shape[1] - width + 1))
        part = expected[top : top + height, left : left + width]
        assert made.same(fastaug.io.imread(data, mode, (top, left, height, width)), part)


@grouped(FILES)
def test_as_the_file_has_it(name: str) -> None:
    """mode=None, as a handle; and what a handle says of itself."""
    data = FILES[name]
    image = fastaug.io.lazy(data, None)
    theirs = Image.open(io.BytesIO(data))
    assert (image.size, image.mode, image.format) == (theirs.size, theirs.mode, theirs.format)
    assert (image.width, image.height) == theirs.size
    assert made.same(np.asarray(image), np.asarray(theirs))
    loaded = image.load()
    assert loaded.mode == theirs.mode and loaded.size == theirs.size
    assert loaded.tobytes() == theirs.tobytes()


@grouped(FILES)
def test_info(name: str) -> None:
    data = FILES[name]
    info = fastaug.io.image_info(data)
    theirs = Image.open(io.BytesIO(data))
    assert (info.size, info.mode, info.format) == (theirs.size, theirs.mode, theirs.format)
    assert (info.width, info.height) == theirs.size
    assert info.orientation == theirs.getexif().get(0x112, 1)


@each(
    ("name", "bits"),
    [("JPEG gray", 8), ("PNG 1", 1), ("PNG P", 8), ("PNG I;16", 16), ("PNG RGB;16", 16), ("PNG gray of 2 bits", 2)]
    + [("TIFF of F", 32), ("TIFF of 1", 1), ("TIFF of I;16", 16), ("BMP", 8)],
)
def test_bits(name: str, bits: int) -> None:
    assert fastaug.io.image_info(FILES[name]).bits == bits


@pytest.mark.parametrize("mode", ["L", "LA", "RGB", "RGBA"])
@each("size", SIZES)
@each("wanted", ["L", "LA", "RGB", "RGBA"])
def test_sizes_of_png(mode: str, size: tuple[int, int], wanted: str) -> None:
    data = made.encode(pil(mode, *size), "PNG")
    assert made.same(fastaug.io.imread(data, wanted), made.pillow(data, wanted))


@pytest.mark.parametrize("sampling", ["4:4:4", "4:2:2", "4:2:0"])
@each("size", [*SIZES, (8, 8), (16, 16), (17, 3), (2, 33), (15, 129)])
@each("mode", ["L", "RGB"])
@each("wanted", ["L", "LA", "RGB", "RGBA"])
def test_sizes_of_jpeg(sampling: str, size: tuple[int, int], mode: str, wanted: str) -> None:
    data = made.encode(photo("chelsea", *size).convert(mode), "JPEG", subsampling=sampling)
    assert made.same(fastaug.io.imread(data, wanted), made.pillow(data, wanted))


@pytest.mark.parametrize("lossless", [False, True])
@each("size", [*SIZES, (8, 8), (16, 16), (17, 3), (2, 33), (15, 129)])
@each("mode", ["RGB", "RGBA"])
@each("wanted", ["L", "LA", "RGB", "RGBA"])
def test_sizes_of_webp(lossless: bool, size: tuple[int, int], mode: str, wanted: str) -> None:
    data = made.encode(pil(mode, *size), "WEBP", lossless=lossless, exact=True)
    assert made.same(fastaug.io.imread(data, wanted), made.pillow(data, wanted))


@pytest.mark.parametrize("lossless", [False, True])
@pytest.mark.parametrize("mode", ["RGB", "RGBA"])
def test_every_beginning_of_a_region_of_webp(mode: str, lossless: bool) -> None:
    """libwebp moves regions of lossy files to even rows and columns, and sees nothing of what is beside them."""
    image = image_files.picture(24, 21) if mode == "RGB" else image_files.transparent(24, 21)
    data = made.encode(image, "WEBP", lossless=lossless)
    if mode == "RGBA" and not lossless:
        # The filter of alpha is horizontal: libwebp undoes it from the first row of a region on.
        assert data[data.index(b"ALPH") + 8] >> 2 & 3 == 1
    for wanted in ("RGB", "RGBA"):
        whole = made.pillow(data, wanted)
        for top, left in itertools.product(range(21), range(24)):
            for rows, columns in itertools.product({1, 2, 3, 21 - top}, {1, 2, 3, 24 - left}):
                if top + rows <= 21 and left + columns <= 24:
                    part = whole[top : top + rows, left : left + columns]
                    got = fastaug.io.imread(data, wanted, (top, left, rows, columns))
                    assert made.same(got, part), (wanted, top, left, rows, columns)


@st.composite
def parts(draw: st.DrawFn) -> tuple[bytes, tuple[int, int, int, int]]:
    height, width = draw(st.integers(1, 150)), draw(st.integers(1, 150))
    image = photo(draw(st.sampled_from(["coffee", "ihc"])), height, width)
    kind = draw(st.sampled_from(["JPEG", "PNG", "WEBP"]))
    if kind == "WEBP":
        image = image.convert(draw(st.sampled_from(["RGB", "RGBA"])))
        if image.mode == "RGBA":
            image.putalpha(photo("chelsea", height, width).convert("L"))
        options = {
            "lossless": draw(st.booleans()),
            "quality": draw(st.integers(0, 100)),
            "alpha_quality": draw(st.integers(0, 100)),
            "method": draw(st.sampled_from([0, 2, 4])),
            "exact": draw(st.booleans()),
        }
        data = made.encode(image, "WEBP", **options)
    elif kind == "JPEG":
        options = {
            "quality": draw(st.integers(1, 100)),
            "subsampling": draw(st.sampled_from(["4:4:4", "4:2:2", "4:2:0"])),
            "progressive": draw(st.booleans()),
            "restart_marker_blocks": draw(st.sampled_from([0, 0, 1, 5])),
        }
        data = made.encode(image, "JPEG", **options)
    else:
        mode = draw(st.sampled_from(["L", "LA", "RGB", "RGBA"]))
        data = made.encode(image.convert(mode), "PNG", compress_level=draw(st.integers(0, 9)))
    top, left = draw(st.integers(0, height - 1)), draw(st.integers(0, width - 1))
    return data, (top, left, draw(st.integers(1, height - top)), draw(st.integers(1, width - left)))


@hypothesis.given(parts(), st.sampled_from(["RGB", "RGBA", "L"]))
@hypothesis.settings(max_examples=cases(300))
def test_any_part(part: tuple[bytes, tuple[int, int, int, int]], mode: str) -> None:
    data, (top, left, height, width) = part
    expected = made.pillow(data, mode)[top : top + height, left : left + width]
    assert made.same(fastaug.io.imread(data, mode, (top, left, height, width)), expected)


def test_conversions_one_after_the_other() -> None:
    """convert() of a handle goes on from its mode, as that of an image does."""
    for name in ("PNG RGBA", "PNG P", "JPEG 4:2:0 q75", "JPEG CMYK", "PNG I;16", "GIF"):
        data = FILES[name]
        for modes in (("L", "RGB"), ("1", "L"), ("RGB", "L", "RGBA"), ("HSV", "RGB")):
            image: Image.Image = Image.open(io.BytesIO(data))
            handle = fastaug.io.lazy(data, None)
            for mode in modes:
                image, handle = image.convert(mode), handle.convert(mode)
            assert handle.mode == modes[-1]
            assert made.same(np.asarray(handle), np.asarray(image)), (name, modes)


# 16 bits.


@pytest.mark.parametrize("interlaced", [False, True])
@pytest.mark.parametrize(("colour", "channels"), [(0, 1), (4, 2), (2, 3), (6, 4)])
def test_16_bits(colour: int, channels: int, interlaced: bool) -> None:
    values = made.samples(1 if interlaced else 19, 1 if interlaced else 23, channels)
    data = made.png(values, colour, 16)
    if interlaced:  # of a single pixel, whose only pass is all of the image
        head = data[12:28] + b"\x01"
        data = data[:8] + made.chunk(head[:4], head[4:]) + data[33:]
    opaque = np.full_like(values[:, :, :1], 65535)
    gray = channels < 3
    colours = np.repeat(values[:, :, :1], 3, axis=2) if gray else values[:, :, :3]
    alpha = values[:, :, -1:] if channels in (2, 4) else opaque
    assert fastaug.io.image_info(data).bits == 16
    assert made.same(fastaug.io.imread(data, "RGB;16"), colours)
    assert made.same(fastaug.io.imread(data, "RGBA;16"), np.concatenate([colours, alpha], axis=2))
    if gray:
        assert made.same(fastaug.io.imread(data, "LA;16"), np.concatenate([values[:, :, :1], alpha], axis=2))
    else:
        with pytest.raises(ValueError, match="LA;16"):
            fastaug.io.imread(data, "LA;16")
    if not interlaced:
        assert made.same(fastaug.io.imread(data, "RGB;16", (3, 5, 7, 2)), colours[3:10, 5:7])
        out = np.zeros((7, 2, 3), np.uint16)
        assert fastaug.io.imread(data, "RGB;16", (3, 5, 7, 2), out=out) is out
        assert made.same(out, colours[3:10, 5:7])


def test_16_bits_of_gray() -> None:
    values = made.samples(19, 23, 1)
    data = made.png(values, 0, 16)
    assert made.same(fastaug.io.imread(data, "I;16"), values[:, :, 0])
    assert made.same(fastaug.io.imread(data, "I;16", (3, 5, 7, 2)), values[3:10, 5:7, 0])
    clipped = np.minimum(values[:, :, 0], 255).astype(np.uint8)  # Pillow's choice, and so ours
    assert made.same(fastaug.io.imread(data, "L"), clipped)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_16_bits_oriented(orientation: int) -> None:
    image = pil("I;16", 19, 23)
    data = made.encode(image, "PNG", exif=made.oriented(orientation))
    expected = made.pillow(data, "I;16", exif=True)
    assert made.same(fastaug.io.imread(data, "I;16", exif=True), expected)
    assert made.same(fastaug.io.imread(data, "I;16", (2, 3, 11, 13), exif=True), expected[2:13, 3:16])
    assert made.same(fastaug.io.imread(data, "RGB;16", exif=True)[:, :, 1], expected)


def test_16_bits_of_another_file() -> None:
    with pytest.raises(ValueError, match="a JPEG file of 8 bits"):
        fastaug.io.imread(JPEGS["gray"], "RGB;16")
    with pytest.raises(ValueError, match="a PNG file of 8 bits"):
        fastaug.io.imread(PNGS["RGB"], "RGBA;16")
    for name in ("PNG RGB", "TIFF of I;16"):
        assert made.same(fastaug.io.imread(FILES[name], "I;16"), made.pillow(FILES[name], "I;16"))
