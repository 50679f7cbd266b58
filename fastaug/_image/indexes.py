"""Indexes of JPEG streams that lie beside the images of a folder, as ``python -m fastaug index`` writes them.

A folder has one file of them: _MAGIC; how many there are; for each the hash of a file's name, in ascending order, and
where its index ends; and the indexes, one behind the other. Numbers have 64 bits and the lowest byte first. Anything
may be in such a file: an index that is none is not loaded, and one of other bytes is not used.
"""

from __future__ import annotations

import functools
import os
import stat
from collections.abc import Iterator
from hashlib import blake2b
from typing import BinaryIO, NamedTuple

import numpy as np

from fastaug import _C

#: Of the file in each folder.
NAME = ".fastaug-index"

_MAGIC = b"fastaug index 1\n"
_NUMBER = np.dtype("<u8")
_TABLE = len(_MAGIC) + _NUMBER.itemsize  # where it begins

# Folders whose tables are kept.
_MOST_FOLDERS = 1024


class _Changed(Exception):
    """A file of indexes is not what its table was read of."""


class _Saved(NamedTuple):
    """The file of a folder: its table, and what it was when that was read.

    Indexes are read when they are wanted, and not mapped: a file that is cut short meanwhile has none any more.
    """

    path: str
    identity: tuple[int, ...]
    names: np.ndarray
    ends: np.ndarray

    def find(self, name: str) -> _C.ScanIndex | None:
        """
        Raises:
            _Changed: it is another file by now, or none.
        """
        hashed = _hash(name)
        place = int(self.names.searchsorted(hashed))
        if place == len(self.names) or self.names[place] != hashed:
            return None
        start, end = int(self.ends[place - 1]) if place else 0, int(self.ends[place])
        begin = _TABLE + 2 * self.names.nbytes
        if not 0 <= start < end <= self.identity[0] - begin:
            return None
        try:
            with _opened(self.path) as file:
                if _identity(file) == self.identity:
                    return _C.ScanIndex.load(os.pread(file.fileno(), end - start, begin + start))
        except OSError:
            pass
        raise _Changed


def saved(path: str) -> _C.ScanIndex | None:
    """What was saved for a file of this path; maybe of what it was before.

    A folder that had no indexes when it was first asked for has none until forget() is called.
    """
    folder, name = os.path.split(path)
    for _ in range(2):
        file = _saved_in(folder)
        if file is None:
            return None
        try:
            return file.find(name)
        except _Changed:
            forget()
    return None


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


def is_file(path: str) -> bool:
    """Whether indexes can be read from there, or nothing is there yet."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return not os.path.lexists(path)


def _opened(path: str) -> BinaryIO:
    # Nobody waits for the other end of a pipe.
    return open(path, "rb", buffering=0, opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK))


def _identity(file: BinaryIO) -> tuple[int, ...]:
    """Size, time and number of a file, all of which are others after it was written."""
    status = os.fstat(file.fileno())
    return status.st_size, status.st_mtime_ns, status.st_ino, status.st_dev


@functools.lru_cache(_MOST_FOLDERS)
def _saved_in(folder: str) -> _Saved | None:
    path = os.path.join(folder, NAME)
    try:
        with _opened(path) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            identity = _identity(file)
            head = os.pread(file.fileno(), _TABLE, 0)
            if len(head) < _TABLE or not head.startswith(_MAGIC):
                return None
            count = int.from_bytes(head[len(_MAGIC) :], "little")
            size = 2 * count * _NUMBER.itemsize
            if size > identity[0] - _TABLE:
                return None
            table = os.pread(file.fileno(), size, _TABLE)
    except OSError:
        return None
    if len(table) < size:
        return None
    names, ends = np.frombuffer(table, _NUMBER).reshape(2, count)
    return _Saved(path, identity, names, ends)
