"""The images in a folder and its subfolders, by their names."""

from __future__ import annotations

import os
from pathlib import Path

from PIL import Image

from fastaug._image import indexes

# Formats that Pillow opens, and whose pixels it does not know.
_NO_PICTURES = ("BUFR", "GRIB", "HDF5", "MPEG")


def images_in(src: Path, without: Path | None = None) -> tuple[list[Path], int]:
    """All files with a suffix of a format that is read, in the order of their paths; and how many others there are.

    Args:
        without: a folder in which none is looked for.

    Raises:
        NotADirectoryError: ``src`` is no folder.
        ValueError: it has no images.
    """
    if not src.is_dir():
        raise NotADirectoryError(f"src should be a folder of images, got {src}")
    formats = Image.registered_extensions().items()
    suffixes = {".npy", *(suffix for suffix, name in formats if name in Image.OPEN and name not in _NO_PICTURES)}
    outside = None if without is None else without.resolve()
    found = []
    others = 0
    for folder, names, files in os.walk(src, followlinks=True):
        names[:] = [name for name in names if Path(folder, name).resolve() != outside]
        for name in files:
            if os.path.splitext(name)[1].lower() in suffixes:
                found.append(Path(folder, name))
            elif name != indexes.NAME:
                others += 1
    if not found:
        raise ValueError(f"src should hold images, got {src}, which has none")
    return sorted(found), others
