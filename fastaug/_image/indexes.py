"""Indexes of JPEG streams beside the images of a folder, written by ``python -m fastaug index``.

A folder has one file: _MAGIC; their number; the hashes of the files' names, in ascending order; the ends of their
indexes; and the indexes. Numbers have 64 bits, lowest byte first. The file is not trusted: broken indexes are not
loaded, and those of other bytes are not used.
"""

from __future__ import annotations

import functools
import os
import stat
from hashlib import blake2b
from typing import BinaryIO, NamedTuple

import numpy as np

from fastaug import _C

#: Of the file in each folder.
NAME = ".fastaug-index"

_MAGIC = b"fastaug index 1\n"
_NUMBER = np.dtype("<u8")
_TABLE = len(_MAGIC) + _NUMBER.itemsize  # where it begins

_MOST_FOLDERS = 1024


class _Changed(Exception):
    """The file of indexes has changed since its table was read."""


class _Saved(NamedTuple):
    """The table of a folder's file, and the file's identity when that was read.

    Indexes are read on demand and not mapped, since a file may be truncated.
    """

    path: str
    identity: tuple[int, ...]
    names: np.ndarray
    ends: np.ndarray

    def find(self, name: str) -> _C.ScanIndex | None:
        """Return the index of a file, or None. Raise _Changed if this table is outdated."""
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
    """Return the index saved for a path, maybe of an earlier file, or None.

    If a folder has no indexes at its first use, new ones are found after forget().
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


def is_indexed(folder: str) -> bool:
    """Return True if a folder has indexes."""
    return _saved_in(folder) is not None


def forget() -> None:
    _saved_in.cache_clear()


def file_of(indexes: dict[str, bytes]) -> bytes:
    """Return the content of a file for indexes by the names of their images."""
    entries = sorted((int(_hash(name)), index) for name, index in indexes.items())
    names = np.array([number for number, _ in entries], _NUMBER)
    ends = np.cumsum([len(index) for _, index in entries], dtype=_NUMBER)
    count = np.array(len(entries), _NUMBER)
    return b"".join((_MAGIC, count.tobytes(), names.tobytes(), ends.tobytes(), *(index for _, index in entries)))


def _hash(name: str) -> np.uint64:
    digest = blake2b(os.fsencode(name), digest_size=_NUMBER.itemsize).digest()
    return np.uint64(int.from_bytes(digest, "little"))


def is_file(path: str) -> bool:
    """Return True for a regular file or a free path."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return not os.path.lexists(path)


def _opened(path: str) -> BinaryIO:
    # O_NONBLOCK: opening a pipe must not wait for its other end.
    return open(path, "rb", buffering=0, opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK))


def _identity(file: BinaryIO) -> tuple[int, ...]:
    """Return size, time and number of a file, which change when it is written."""
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
