"""Indexes of the JPEG streams in a folder, for crops that are decoded without what is before them."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image

from fastaug._batch.threads import threads_for
from fastaug._image import indexes
from fastaug._image.lazy import LazyImage
from fastaug.data._cached_file import aside
from fastaug.data._folder import images_in


class IndexResult(NamedTuple):
    """What :func:`index` has done.

    ``written`` and ``present`` are numbers of images: of those whose index was made, and of those that had one of what
    they are. ``without`` is the number of all others: other formats, progressive JPEGs, small ones. ``failed`` has a
    pair for each that could not be read: its path, and the error.

    Example:
        >>> from fastaug.data import IndexResult
        >>> IndexResult(3, 0, 1, []).written
        3
    """

    written: int
    present: int
    without: int
    failed: list[tuple[str, Exception]]


def index(src: str | os.PathLike[str], *, num_threads: int | None = None, progress: bool = False) -> IndexResult:
    """Saves indexes of the JPEGs in a folder, and its subfolders: crops of them are then decoded faster.

    Each folder gets a file, ``.fastaug-index``, of a hundredth of the size of its JPEGs. What opens images by their
    paths uses it, with no more to be said: ``fastaug.io.lazy`` and ``imread`` with a region, ``Decode``, and loaders.
    Pixels stay the same. An index goes with the bytes of its file: where these have changed it is not used. It is
    looked for once in a process, when an image of the folder is first opened.

    A folder whose indexes may be written by others than its images is not to be trusted more than they are: who knows
    a file can make an index of it that shows another part of it.

    Args:
        src: the folder of the images.
        num_threads: how many images are worked on at a time; one for each CPU by default.
        progress: whether to show a bar of tqdm, where the output is a terminal or a notebook.

    Returns:
        An :class:`IndexResult`. Images that cannot be read do not keep the others from being indexed.

    Raises:
        NotADirectoryError: ``src`` is no folder.
        OSError: a file cannot be written.
        ValueError: no images.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from PIL import Image
        >>> from fastaug.data import index
        >>> folder = Path(tempfile.mkdtemp())
        >>> Image.effect_noise((640, 480), 90).save(folder / "1.jpg")
        >>> index(folder)
        IndexResult(written=1, present=0, without=0, failed=[])
        >>> index(folder).present
        1
    """
    return Indexes(src, num_threads, progress).write()


class _Found(NamedTuple):
    """Of one image: the index that it has and that it is to have, as they are saved; None where there is none."""

    there: bytes | None = None
    made: bytes | None = None
    error: Exception | None = None


def _errors(images: dict[Path, _Found]) -> list[tuple[str, Exception]]:
    return [(str(path), found.error) for path, found in images.items() if found.error is not None]


class Indexes:
    """The indexes of all images in a folder."""

    def __init__(self, src: Any, num_threads: Any = None, progress: bool = False, strict: bool = False) -> None:
        self._threads = threads_for(num_threads)
        self._progress = progress
        self._strict = strict
        self._images = images_in(Path(src))
        self.skipped = self._images.others

    def write(self) -> IndexResult:
        """Makes those that are not there, and takes away those of files that are not there any more."""
        counts = {"written": 0, "present": 0, "without": 0}
        failed = [*self._images.refused]
        try:
            for folder, images in self._folders(keep=True):
                failed += _errors(images)
                if self._strict and failed:
                    break
                for found in images.values():
                    if found.error is None:
                        same = found.made == found.there
                        counts["without" if found.made is None else "present" if same else "written"] += 1
                made = {path.name: found.made for path, found in images.items() if found.made is not None}
                target = folder / indexes.NAME
                if indexes.is_file(str(target)):
                    _store(target, made)
                else:
                    failed.append((str(target), OSError("not a file that indexes can be written to")))
        finally:
            indexes.forget()
        return IndexResult(**counts, failed=failed)

    def verify(self) -> tuple[list[str], IndexResult]:
        """Compares those that are there with what would be made, and writes nothing.

        Returns:
            The images whose index is not theirs, and as ``present`` the number of those that were compared.
        """
        different: list[str] = []
        compared = without = 0
        failed = [*self._images.refused]
        for _, images in self._folders(keep=False):
            failed += _errors(images)
            if self._strict and failed:
                break
            for path, found in images.items():
                if found.error is not None:
                    continue
                if found.there is None:
                    without += 1
                else:
                    compared += 1
                    if found.there != found.made:
                        different.append(str(path))
        return different, IndexResult(0, compared, without, failed)

    def _folders(self, keep: bool) -> Iterator[tuple[Path, dict[Path, _Found]]]:
        """Each folder with what its images have, and are to have; `keep` believes an index of what a file is."""
        indexes.forget()
        bar: Any = contextlib.nullcontext()
        if self._progress:
            from tqdm.auto import tqdm

            bar = tqdm(total=len(self._images.paths), unit="file", disable=None)
        ordered = sorted(self._images.paths, key=lambda path: path.parent)
        by_folder = itertools.groupby(ordered, lambda path: path.parent)
        with bar, ThreadPoolExecutor(self._threads) as pool:
            for folder, paths in by_folder:
                images = {}
                group = list(paths)
                for path, found in zip(group, pool.map(lambda path: _found(path, keep), group)):
                    images[path] = found
                    if self._progress:
                        bar.update()
                yield folder, images


def _found(path: Path, keep: bool) -> _Found:
    try:
        there = indexes.saved(str(path))
        before = None if there is None else there.save()
        image = LazyImage(path, None)
        data, encoded = image.encoded(keep=True)
        if encoded.format != "JPEG":
            _ = image.size  # of other formats the header alone is read
            return _Found(before)
        if keep and there is not None and there.is_of(data):
            return _Found(before, before)
        made = encoded.scan_index()
        if not len(made):
            image.load()  # it is progressive, or Pillow's, or broken
    except (OSError, MemoryError, Image.DecompressionBombError) as error:
        return _Found(error=error)
    # The first place is the beginning, which is known anyway.
    return _Found(before, made.save() if len(made) > 1 else None)


def _store(target: Path, made: dict[str, bytes]) -> None:
    if not made:
        target.unlink(missing_ok=True)
        return
    content = indexes.file_of(made)
    if target.exists() and target.stat().st_size == len(content) and target.read_bytes() == content:
        return
    with aside(target, max((target.parent / name).stat().st_mtime_ns for name in made)) as file:
        file.write(content)
