"""The images in a folder and its subfolders, by their names."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from PIL import Image

from fastaug._image import indexes

# Formats that Pillow opens, and whose pixels it does not know.
_NO_PICTURES = ("BUFR", "GRIB", "HDF5", "MPEG")

_KINDS = {stat.S_IFIFO: "a named pipe", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device", stat.S_IFSOCK: "a socket"}


class Images(NamedTuple):
    """What a folder has.

    Attributes:
        paths: of its images, in their order.
        others: the number of files without the suffix of an image.
        refused: what has the suffix of an image and is never opened, and why: reading it might wait for ever.
    """

    paths: list[Path]
    others: int
    refused: list[tuple[str, Exception]]


def suffixes() -> set[str]:
    """Those of formats that are read."""
    formats = Image.registered_extensions().items()
    return {".npy", *(suffix for suffix, name in formats if name in Image.OPEN and name not in _NO_PICTURES)}


def images_in(src: Path, without: Path | None = None) -> Images:
    """All files with a suffix of a format that is read.

    Args:
        without: a folder in which none is looked for.

    Raises:
        NotADirectoryError: ``src`` is not a folder.
        ValueError: it has no images.
    """
    if not src.is_dir():
        raise NotADirectoryError(f"src should be a folder of images, got {src}")
    known = suffixes()
    found: list[Path] = []
    refused: list[tuple[str, Exception]] = []
    others = 0
    for entry in _entries(str(src), os.path.realpath(src), (), None if without is None else os.path.realpath(without)):
        if os.path.splitext(entry.name)[1].lower() not in known:
            others += entry.name != indexes.NAME
        elif (kind := _kind(entry)) is not None:
            refused.append((entry.path, OSError(f"{kind}, and not a file")))
        else:
            found.append(Path(entry.path))
    if not found and not refused:
        raise ValueError(f"src should hold images, got {src}, which has none")
    return Images(sorted(found), others, sorted(refused, key=lambda pair: pair[0]))


def _entries(folder: str, real: str, above: tuple[str, ...], without: str | None) -> Iterator[os.DirEntry[str]]:
    """What is not a folder, in a folder and those in it; links are followed, but not to a folder that they lie in."""
    try:
        with os.scandir(folder) as entries:
            listed = list(entries)
    except OSError:
        return  # as os.walk
    for entry in listed:
        try:
            is_folder = entry.is_dir()
        except OSError:
            is_folder = False
        if not is_folder:
            yield entry
            continue
        inner = os.path.realpath(entry.path) if entry.is_symlink() else os.path.join(real, entry.name)
        if inner != without and inner != real and inner not in above:
            yield from _entries(entry.path, inner, (*above, real), without)


def _kind(entry: os.DirEntry[str]) -> str | None:
    """What it is, of what is there and is not a file; a link to nothing is an image that is missing."""
    try:
        return None if entry.is_file() else _KINDS.get(stat.S_IFMT(entry.stat().st_mode))
    except OSError:
        return None
