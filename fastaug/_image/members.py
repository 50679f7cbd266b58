"""Read encoded images that are members of an archive."""

from __future__ import annotations

import os
import stat
from typing import BinaryIO

from fastaug import _C

_FLAGS = getattr(os, "O_NONBLOCK", 0)


def opened(path: str) -> BinaryIO:
    """Open a regular file without a buffer, or raise OSError. Of a pipe, this does not wait for the other end."""
    file = open(  # noqa: SIM115
        path, "rb", buffering=0, opener=lambda name, flags: os.open(name, flags | _FLAGS)
    )
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(f"{path} is not a regular file")
    return file


def archive_of(path: str, file: BinaryIO) -> _C.Archive:
    """Return the archive of an open file, as it is now."""
    status = os.fstat(file.fileno())
    return _C.Archive(path, status.st_size, status.st_mtime_ns)


def filename(member: _C.Member) -> str:
    """Return the path of a member: that of its archive, and the name there."""
    return f"{member.archive.path}/{member.name}"


def read(member: _C.Member) -> bytes:
    """Return the bytes of a member.

    Raises:
        OSError: the archive cannot be opened or read.
        tarfile.ReadError: the archive has changed since its members were found.
    """
    archive = member.archive
    with opened(archive.path) as file:
        now = archive_of(archive.path, file)
        fits = member.offset + member.size <= now.size
        if fits and (now.size, now.written) == (archive.size, archive.written):
            file.seek(member.offset)
            data = b""
            while len(data) < member.size and (more := file.read(member.size - len(data))):
                data += more  # the system reads 2 GiB at a time
            if len(data) == member.size:
                return data
    from tarfile import ReadError

    raise ReadError(f"cannot read {filename(member)}: the archive has changed since its members were found")
