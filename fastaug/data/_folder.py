"""Find the images in a folder and its subfolders by their names."""

from __future__ import annotations

import itertools
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from PIL import Image

from fastaug._image import indexes

# Formats that Pillow opens, but cannot decode.
_NO_PICTURES = ("BUFR", "GRIB", "HDF5", "MPEG")

_KINDS = {stat.S_IFIFO: "a named pipe", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device", stat.S_IFSOCK: "a socket"}


class Images(NamedTuple):
    """The content of a folder."""

    paths: list[Path]  # sorted
    others: int  # files without the suffix of an image
    refused: list[tuple[str, Exception]]  # never opened, because reading them could block


def suffixes() -> set[str]:
    formats = Image.registered_extensions().items()
    return {".npy", *(suffix for suffix, name in formats if name in Image.OPEN and name not in _NO_PICTURES)}


def images_in(src: Path, without: Path | None = None) -> Images:
    """Return all files of `src` with a suffix that can be read, except in the folder `without`."""
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


def by_folder(paths: list[Path]) -> Iterator[tuple[Path, list[Path]]]:
    for folder, group in itertools.groupby(sorted(paths, key=lambda path: path.parent), lambda path: path.parent):
        yield folder, list(group)


def _entries(folder: str, real: str, above: tuple[str, ...], without: str | None) -> Iterator[os.DirEntry[str]]:
    """Yield all but folders, recursively. Links are followed, except to a folder that contains them."""
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
    """Return the kind of an entry that exists and is not a file. A dangling link counts as a missing image."""
    try:
        return None if entry.is_file() else _KINDS.get(stat.S_IFMT(entry.stat().st_mode))
    except OSError:
        return None
