"""GIF files in torchvision's spelling: all images of a file, as giflib reads them and torchvision draws them."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

import encoded_images as made
import numpy as np
import pytest
import torch
import torchvision.io
from PIL import Image
from torchvision_calls import check, tensor

import fastaug
import fastaug.io
from support.differences import each
from support.images import noise, photo
from support.scale import blocks
from support.versions import since

pytestmark = pytest.mark.skipif(not since(0, 26), reason="older ones read GIF files otherwise")

COLOUR = photo("coffee", 39, 52)


def gifs() -> Iterator[bytes]:
    yield made.encode(COLOUR, "GIF")
    yield made.encode(COLOUR.convert("L"), "GIF", interlace=0)
    turned = [COLOUR.rotate(angle) for angle in (90, 180, 270)]
    yield made.encode(COLOUR, "GIF", save_all=True, append_images=turned)
    for disposal in range(4):
        frames = []
        for seed in range(3):
            frame = noise(21, 34, 4, seed)
            frame[:, :, 3] = 255 * (frame[:, :, 3] > 100)
            frame[:, : 4 * seed] = frames[-1][:, : 4 * seed] if frames else frame[:, : 4 * seed]
            frames.append(frame)
        first, *rest = (Image.fromarray(frame) for frame in frames)
        yield made.encode(first, "GIF", save_all=True, append_images=rest, disposal=disposal)
        pieces = [COLOUR.quantize(32) for _ in range(4)]
        for number, piece in enumerate(pieces):
            piece.paste(pieces[0].crop((5, 5, 25, 12)), (5 + number, 9))
        yield made.encode(
            pieces[0], "GIF", save_all=True, append_images=pieces[1:], disposal=disposal, transparency=5, background=3
        )


GIFS = list(gifs())


@each("number", range(len(GIFS)))
def test_gif(number: int) -> None:
    check("decode_gif", tensor(GIFS[number]))
    check("decode_image", tensor(GIFS[number]), "GRAY")


PALETTE = noise(1, 256).tobytes()


def head(height: int, width: int, background: int = 0) -> bytes:
    return b"GIF89a" + struct.pack("<2H3B", width, height, 0xF7, background, 0) + PALETTE


def codes(indices: np.ndarray, interlaced: bool = False) -> bytes:
    """Return the data of an image: the bits of its first codes, and sub-blocks."""
    image = Image.fromarray(indices)
    image.putpalette(PALETTE)
    file = made.encode(image, "GIF", interlace=int(interlaced), optimize=False)
    # Behind the palette are ten bytes of the image, and behind its data the end of the file.
    return file.partition(PALETTE)[2][10:-1]


def image(
    indices: np.ndarray, left: int = 0, top: int = 0, interlaced: bool = False, palette: bytes = b"", data: bytes = b""
) -> bytes:
    height, width = indices.shape
    flags = interlaced << 6 | (0x87 if palette else 0)
    return struct.pack("<B4HB", 0x2C, left, top, width, height, flags) + palette + (data or codes(indices, interlaced))


def random_gif(seed: int) -> bytes:
    """Return images of any size and place in a canvas, with any disposal, some with colours of their own."""
    random = np.random.default_rng(seed)
    height, width = (int(size) for size in random.integers(1, 40, 2))
    parts = [head(height, width, int(random.integers(256)))]
    if random.random() < 0.1:
        # An image larger than the canvas, and so the result. torchvision leaves there what no image draws.
        indices = random.integers(0, 256, (height + 5, width + 3), np.uint8)
        return b"".join((*parts, image(indices), b"\x3b"))
    for number in range(int(random.integers(1, 5))):
        if random.random() < 0.7:
            flags = int(random.integers(8)) << 2 | int(random.integers(2))
            parts.append(b"\x21\xf9\4" + bytes([flags, 9, 0, 3, 0]))
        if random.random() < 0.2:
            parts.append(b"\x21\xfe\5hello\0")
        left, top = int(random.integers(width)), int(random.integers(height))
        size = int(random.integers(1, height - top + 1)), int(random.integers(1, width - left + 1))
        # Few indices make long strings.
        indices = random.integers(0, int(random.choice([2, 5, 256])), size, np.uint8)
        palette = noise(1, 256, 3, number + 1).tobytes() if random.random() < 0.4 else b""
        parts.append(image(indices, left, top, bool(random.random() < 0.4), palette))
    return b"".join((*parts, b"\x3b"))


@each("first", blocks(300, 30))
def test_random(first: int) -> None:
    for seed in range(first, first + 30):
        data = tensor(random_gif(seed))
        assert torch.equal(fastaug.io.decode_gif(data), torchvision.io.decode_gif(data)), seed


@each("indices", [np.zeros((400, 500), np.uint8), noise(300, 300, 1)[..., 0], np.zeros((9000, 1), np.uint8)])
def test_many_strings(indices: np.ndarray) -> None:
    """Strings of all lengths, more of them than there are codes, and longer than rows."""
    check("decode_gif", tensor(head(*indices.shape) + image(indices) + b"\x3b"))


INDICES = noise(20, 30, 1)[..., 0]


@each("first", blocks(1000, 100))
def test_changed_codes(first: int) -> None:
    """Codes that mean nothing are an error. giflib guesses at some of them."""
    data = codes(INDICES)
    equal = 0
    for seed in range(first, first + 100):
        random = np.random.default_rng(seed)
        changed = bytearray(data)
        # In the first sub-block, and not its size.
        changed[2 + int(random.integers(data[1]))] ^= 1 << int(random.integers(8))
        file = tensor(head(20, 30) + image(INDICES, data=bytes(changed)) + b"\x3b")
        try:
            found = fastaug.io.decode_gif(file)
        except fastaug.DecodeError:
            continue
        assert torch.equal(found, torchvision.io.decode_gif(file)), seed
        equal += 1
    assert equal > 0


AT = len(head(20, 30))
BROKEN: dict[str, Callable[[bytes], bytes]] = {
    "no colours": lambda gif: gif[:13],
    "no end": lambda gif: gif[:-1],
    "no image": lambda gif: gif[:AT] + b"\x3b",
    "colours of nobody": lambda gif: gif[:10] + b"\x77" + gif[11:13] + gif[AT:],
    "an unknown block": lambda gif: gif[:AT] + b"\x2d" + gif[AT + 1 :],
    "no columns": lambda gif: gif[: AT + 5] + b"\0\0" + gif[AT + 7 :],
    "too many bits": lambda gif: gif[: AT + 10] + b"\x0c" + gif[AT + 11 :],
    "no codes": lambda gif: gif[: AT + 11] + b"\0\x3b",
    "a beginning that needs one": lambda gif: gif[: AT + 11] + b"\2\xff\xff\0\x3b",
}


@each("name", BROKEN)
def test_broken(name: str) -> None:
    whole = head(20, 30) + image(INDICES) + b"\x3b"
    check("decode_gif", tensor(whole))
    broken = tensor(BROKEN[name](whole))
    with pytest.raises(fastaug.DecodeError, match="GIF"):
        fastaug.io.decode_gif(broken)
    with pytest.raises(RuntimeError):
        torchvision.io.decode_gif(broken)


def test_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """All images together count, before there is memory for any."""
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 20 * 30 * 2)
    with pytest.raises(Image.DecompressionBombError):
        fastaug.io.decode_gif(tensor(head(20, 30) + 5 * image(INDICES) + b"\x3b"))


def test_limit_beside_the_canvas() -> None:
    """Pixels that nobody will see take as much time."""
    small = image(INDICES)
    far = struct.pack("<B4HB", 0x2C, 20, 30, 65535, 65535, 0) + codes(INDICES)
    with pytest.raises(Image.DecompressionBombError):
        fastaug.io.decode_gif(tensor(head(20, 30) + small + far + b"\x3b"))
