"""Indexes of JPEG streams that lie beside the images of a folder, as ``python -m fastaug index`` writes them.

A folder has one file of them: _MAGIC; how many there are; for each the hash of a file's name, in ascending order, and
where its index ends; and the indexes, one behind the other. Numbers have 64 bits and the lowest byte first. Anything
may be in such a file: an index that is none is not loaded, and one of other bytes is not used.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from fastaug import _C

#: Of the file in each folder.
NAME = ".fastaug-index"

_MAGIC = b"fastaug index 1\n"
_NUMBER = np.dtype("<u8")
_TABLE = len(_MAGIC) + _NUMBER.itemsize  # where it begins

# Files that are mapped at a time; each is one of the few maps that a process may have.
_MOST_FOLDERS = 1024


class _Saved(NamedTuple):
    """The file of a folder, mapped."""

    data: memoryview
    names: np.ndarray
    ends: np.ndarray

    def find(self, name: str) -> _C.ScanIndex | None:
        hashed = _hash(name)
        place = int(self.names.searchsorted(hashed))
        if place == len(self.names) or self.names[place] != hashed:
            return None
        begin = _TABLE + 2 * self.names.nbytes
        start = int(self.ends[place - 1]) if place else 0
        return _C.ScanIndex.load(self.data[begin + start : begin + int(self.ends[place])])


def saved(path: str) -> _C.ScanIndex | None:
    """What was saved for a file of this path, when its folder was first asked for; maybe of what it was before."""
    folder, name = os.path.split(path)
    file = _saved_in(folder)
    return None if file is None else file.find(name)


def forget() -> None:
    """Has files looked for, and read, again."""
    _saved_in.cache_clear()


def file_of(indexes: dict[str, bytes]) -> bytes:
    """What to write for the saved indexes of files of one folder, by their names."""
    entries = sorted((int(_hash(name)), index) for name, index in indexes.items())
    names = np.array([number for number, _ in entries], _NUMBER)
    ends = np.cumsum([len(index) for _, index in entries], dtype=_NUMBER)
    return b"".join((_MAGIC, *_parts(names, ends), *(index for _, index in entries)))


def _parts(names: np.ndarray, ends: np.ndarray) -> Iterator[bytes]:
    yield np.array(len(names), _NUMBER).tobytes()
    yield names.tobytes()
    yield ends.tobytes()


def _hash(name: str) -> np.uint64:
    digest = blake2b(os.fsencode(name), digest_size=_NUMBER.itemsize).digest()
    return np.uint64(int.from_bytes(digest, "little"))


@functools.lru_cache(_MOST_FOLDERS)
def _saved_in(folder: str) -> _Saved | None:
    try:
        with open(os.path.join(folder, NAME), "rb", buffering=0) as file:
            data = memoryview(_C.Mapped(file.fileno()))
    except OSError:
        return None
    if len(data) < _TABLE or data[: len(_MAGIC)] != _MAGIC:
        return None
    count = int(np.frombuffer(data, _NUMBER, 1, len(_MAGIC))[0])
    if count > (len(data) - _TABLE) // (2 * _NUMBER.itemsize):
        return None
    table = np.frombuffer(data, _NUMBER, 2 * count, _TABLE)
    return _Saved(data, table[:count], table[count:])
