"""Compiled kernels on disk, so that a machine compiles each of them once.

A file has its magic, the SHA-256 of the rest, the length of a description in JSON, the description, and the code. A
damaged file is replaced. Files are written under another name and renamed, so that processes may write the same one at
once. Errors of the disk are only logged.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from fastaug._cuda.nvrtc import Binary

_LOG = logging.getLogger("fastaug")
#: The last byte is the version of the format.
_MAGIC = b"fastaug\x01"
_SUFFIX = ".kernel"
_UNFINISHED = ".unfinished"
#: Files that are unfinished for this many seconds were left by a process that ended.
_ABANDONED = 3600.0
#: Bytes.
LIMIT = 256 << 20


def folder() -> Path | None:
    """Return `$FASTAUG_CACHE_DIR`, or `fastaug` in `$XDG_CACHE_HOME` or `~/.cache`, or None without a home.

    A relative `$XDG_CACHE_HOME` is ignored, as in the XDG Base Directory Specification.
    """
    if own := os.environ.get("FASTAUG_CACHE_DIR"):
        return Path(own)
    shared = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(shared):
        return Path(shared) / "fastaug"
    try:
        return Path.home() / ".cache" / "fastaug"
    except RuntimeError:
        return None


def key(source: str, headers: Mapping[str, str], options: Sequence[str], arch: str, compiler: str) -> str:
    """Return the SHA-256 of all that a compilation depends on: `headers` are {name: text}."""
    parts = [arch, compiler, source, str(len(options)), *options]
    for name in sorted(headers):
        parts += [name, headers[name]]
    digest = hashlib.sha256()
    for part in parts:
        text = part.encode()
        digest.update(len(text).to_bytes(8, "little"))
        digest.update(text)
    return digest.hexdigest()


class Cache:
    """Compiled kernels in a folder, by key. Any number of threads and processes may share one.

    Args:
        where: the folder, which is made for the first kernel; None keeps nothing.
        limit: bytes of all files, beyond which the least recently used are deleted.
    """

    def __init__(self, where: Path | None, limit: int = LIMIT) -> None:
        self._where = where
        self._limit = limit

    def get(self, key: str) -> Binary | None:
        if self._where is None:
            return None
        path = self._where / (key + _SUFFIX)
        try:
            content = path.read_bytes()
        except OSError:
            return None
        binary = _unpacked(content)
        if binary is None:
            _LOG.info("fastaug: %s is damaged, and is compiled again", path)
            return None
        # The last used file is deleted last. A folder that cannot be written to is not cleared either.
        with contextlib.suppress(OSError):
            os.utime(path)
        return binary

    def put(self, key: str, binary: Binary) -> None:
        if self._where is None:
            return
        try:
            self._where.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, unfinished = tempfile.mkstemp(suffix=_UNFINISHED, dir=self._where)
            try:
                with open(handle, "wb") as file:
                    file.write(_packed(binary))
                os.replace(unfinished, self._where / (key + _SUFFIX))
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(unfinished)
                raise
            self._clear()
        except OSError as error:
            _LOG.info("fastaug: a compiled kernel is not kept in %s: %s", self._where, error)

    def _clear(self) -> None:
        """Delete the least recently used files, and abandoned ones."""
        assert self._where is not None
        files: list[tuple[float, int, Path]] = []
        for path in self._where.iterdir():
            # Another process may have deleted it.
            with contextlib.suppress(FileNotFoundError):
                status = path.stat()
                if path.suffix == _SUFFIX:
                    files.append((status.st_mtime, status.st_size, path))
                elif path.suffix == _UNFINISHED and time.time() - status.st_mtime > _ABANDONED:
                    path.unlink()
        excess = sum(size for _, size, _ in files) - self._limit
        for _, size, path in sorted(files):
            if excess <= 0:
                break
            path.unlink(missing_ok=True)
            excess -= size


def _packed(binary: Binary) -> bytes:
    description = json.dumps({"kind": binary.kind, "log": binary.log}).encode()
    content = len(description).to_bytes(4, "little") + description + binary.data
    return _MAGIC + hashlib.sha256(content).digest() + content


def _unpacked(file: bytes) -> Binary | None:
    start = len(_MAGIC)
    content = file[start + 32 :]
    if not file.startswith(_MAGIC) or hashlib.sha256(content).digest() != file[start : start + 32]:
        return None
    length = 4 + int.from_bytes(content[:4], "little")
    description = json.loads(content[4:length])
    return Binary(description["kind"], content[length:], description["log"])
