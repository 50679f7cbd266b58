"""NumPy's part in .npy files: the core reads the images among them, and here is what is said of the others."""

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

# Where the text of a header begins, by the version of the format, and as much of it as an error has room for.
_TEXT = {1: 10, 2: 12, 3: 12}
_SHOWN = 200


def error(data: Data, name: str | None) -> pillow.DecodeError:
    """Of an .npy file, or of bytes of one, that the core does not read."""
    try:
        _C.afford(data)
    except _C.Refused as refused:
        reason = refused.args[0]
    text = _text(data)
    found = f"; its header says {text}" if text else ""
    cause = _C.Refused(f"{reason}{found}; images are uint8 in C order, of shape [H, W] or [H, W, 1 to 4]", -1)
    return pillow.decode_error(name, len(data), "NPY", cause, cause)


def _text(data: Data) -> str:
    """What the header says, as far as it can be shown."""
    begin = _TEXT.get(data[len(MAGIC)] if len(data) > len(MAGIC) else 0)
    if begin is None or len(data) < begin:
        return ""
    length = int.from_bytes(data[len(MAGIC) + 2 : begin], "little")
    text = bytes(data[begin : begin + min(length, _SHOWN)]).decode("latin1").strip()
    return text if text.isprintable() else ""


def image(data: Data) -> Image.Image:
    """The pixels as NumPy reads them: the oracle for the core, which has read the same file."""
    array = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    return Image.fromarray(array[:, :, 0] if array.shape[2:] == (1,) else array)
