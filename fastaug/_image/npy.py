"""Read .npy files by NumPy, and describe those that are not images. The core reads the images."""

from __future__ import annotations

import io
from typing import TypeAlias

import numpy as np
from PIL import Image

from fastaug import _C
from fastaug._image import pillow

#: The bytes of a file: as read, or mapped into memory.
Data: TypeAlias = bytes | memoryview

MAGIC = b"\x93NUMPY"

# The offset of the header's text by version of the format, and the part of it that an error shows.
_TEXT = {1: 10, 2: 12, 3: 12}
_SHOWN = 200


def error(data: Data, name: str | None) -> pillow.DecodeError:
    """Return the error for an .npy file that the core does not read."""
    try:
        _C.afford(data)
    except _C.Refused as refused:
        reason = refused.args[0]
    text = _text(data)
    found = f"; its header says {text}" if text else ""
    cause = _C.Refused(f"{reason}{found}; images are uint8 in C order, of shape [H, W] or [H, W, 1 to 4]", -1)
    return pillow.decode_error(name, len(data), "NPY", cause, cause)


def _text(data: Data) -> str:
    """Return the start of the header's text, if it can be shown."""
    begin = _TEXT.get(data[len(MAGIC)] if len(data) > len(MAGIC) else 0)
    if begin is None or len(data) < begin:
        return ""
    length = int.from_bytes(data[len(MAGIC) + 2 : begin], "little")
    text = bytes(data[begin : begin + min(length, _SHOWN)]).decode("latin1").strip()
    return text if text.isprintable() else ""


def image(data: Data) -> Image.Image:
    """Return the pixels by NumPy, the oracle for the core."""
    array = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    return Image.fromarray(array[:, :, 0] if array.shape[2:] == (1,) else array)
