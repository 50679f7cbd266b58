"""Index the JPEG streams in a folder, so that a crop is decoded without the pixels before it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image

from fastaug._batch.each import bar_of
from fastaug._batch.threads import threads_for
from fastaug._image import indexes
from fastaug._image.lazy import LazyImage
from fastaug.data._cache import aside
from fastaug.data._folder import by_folder, images_in


class IndexResult(NamedTuple):
    """The result of :func:`index`.

    ``written`` and ``present`` are numbers of images, with a new index and with a valid one. ``without`` counts images
    that need none: other formats, progressive JPEGs, small ones. ``failed`` has a pair (path, error) for each
    unreadable image.

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
    """Save indexes of the JPEGs in a folder and its subfolders, so that crops of them are decoded faster.

    Each folder gets a file ``.fastaug-index``. ``fastaug.io.lazy``, ``imread`` with a region, ``Decode`` and loaders
    use it automatically when they open an image by its path. Pixels stay the same. An index belongs to the bytes of its
    file and is ignored if they have changed. A process looks for it once, when it first opens an image of the folder.

    Trust an index only as much as the people who can write it. With knowledge of a file, an index can be made to show
    another part of it.

    Args:
        src: the folder of the images.
        num_threads, progress: as for :func:`cache`.

    Returns:
        An :class:`IndexResult`. An unreadable image does not stop the others.

    Raises:
        NotADirectoryError: ``src`` is not a folder.
        OSError: a file cannot be written.
        ValueError: there are no images.

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
    """The saved index of one image and the one that it should have; None for none."""

    there: bytes | None = None
    made: bytes | None = None
    error: Exception | None = None


class Indexes:
    def __init__(self, src: Any, num_threads: Any = None, progress: bool = False, strict: bool = False) -> None:
        self._threads = threads_for(num_threads)
        self._progress = progress
        self._strict = strict
        self._images = images_in(Path(src))
        self.skipped = self._images.others

    def write(self) -> IndexResult:
        """Make missing indexes, and remove those of deleted files."""
        counts = {"written": 0, "present": 0, "without": 0}
        failed = [*self._images.refused]
        try:
            for folder, images in self._folders(True, failed):
                for found in images.values():
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
        """Return the images whose index is wrong, and the number of compared ones as ``present``. Write nothing."""
        different: list[str] = []
        compared = without = 0
        failed = [*self._images.refused]
        for _, images in self._folders(False, failed):
            for path, found in images.items():
                if found.there is None:
                    without += 1
                else:
                    compared += 1
                    if found.there != found.made:
                        different.append(str(path))
        return different, IndexResult(0, compared, without, failed)

    def _folders(self, keep: bool, failed: list[tuple[str, Exception]]) -> Iterator[tuple[Path, dict[Path, _Found]]]:
        """Yield each folder with the indexes of each readable image, and append others to `failed`.

        If `keep`, an index of the same bytes is right.
        """
        indexes.forget()
        paths = self._images.paths
        with bar_of(self._progress, len(paths), "file") as bar, ThreadPoolExecutor(self._threads) as pool:
            for folder, group in by_folder(paths):
                images = {}
                for path, found in zip(group, pool.map(lambda path: _found(path, keep), group)):
                    if found.error is None:
                        images[path] = found
                    else:
                        failed.append((str(path), found.error))
                    if bar is not None:
                        bar.update()
                if self._strict and failed:
                    return
                yield folder, images


def _found(path: Path, keep: bool) -> _Found:
    try:
        there = indexes.saved(str(path))
        before = None if there is None else there.save()
        image = LazyImage(path, None)
        data, encoded = image.encoded(keep=True)
        if encoded.format != "JPEG":
            _ = image.size  # reads the header of other formats
            return _Found(before)
        if keep and there is not None and there.is_of(data):
            return _Found(before, before)
        made = encoded.scan_index()
        if not len(made):
            image.load()  # raises if it is broken, not if it is progressive or Pillow's
    except (OSError, MemoryError, Image.DecompressionBombError) as error:
        return _Found(error=error)
    # The first entry is the beginning of the stream, which needs no index.
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
