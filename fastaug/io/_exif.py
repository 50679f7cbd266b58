"""The Exif orientation of a file by torchvision's rules. ``imread`` uses Pillow's."""

from __future__ import annotations

import struct

from fastaug import _C

_APP1 = 0xE1
_PREFIX = len(b"Exif\0\0")
_ORIENTATION = 0x112
_MARK = 42
_ENTRY = 12
# torchvision reads this value after the last byte.
_BEYOND = 0xFFFF


def of_jpeg(data: bytes) -> int:
    """Return the orientation, 1 to 8, in the first APP1 segment before the pixels; 1 if there is none."""
    content: bytes | None = _C.jpeg_segment(data, _APP1)
    return 1 if content is None else of_tiff(content[_PREFIX:])


def of_tiff(tiff: bytes) -> int:
    """Return the orientation, 1 to 8, in the first directory; 1 if there is none.

    Like torchvision's exif.h, it reads the value of the tag as a SHORT for every type.
    """
    little = tiff[:2] == b"II" or tiff == b"I"
    u16, u32 = struct.Struct("<H" if little else ">H"), struct.Struct("<I" if little else ">I")

    def number(kind: struct.Struct, at: int) -> int:
        return int(kind.unpack_from(tiff, at)[0]) if at + kind.size <= len(tiff) else _BEYOND

    if not tiff or number(u16, 2) != _MARK:
        return 1
    at = number(u32, 4)
    for _ in range(number(u16, at)):
        at = (at + _ENTRY) & 0xFFFFFFFF
        tag = number(u16, (at - _ENTRY + 2) & 0xFFFFFFFF)
        if tag == _BEYOND:
            break
        if tag == _ORIENTATION:
            value = number(u16, (at - _ENTRY + 10) & 0xFFFFFFFF)
            return value if 1 <= value <= 8 else 1
    return 1
