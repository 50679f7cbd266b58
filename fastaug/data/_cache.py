"""Mirror a tree of images as .npy files, decoded once for many epochs."""

from __future__ import annotations

import contextlib
import itertools
import operator
import os
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import torch
from PIL import Image, UnidentifiedImageError

from fastaug._batch.each import bar_of
from fastaug._batch.methods import BatchPipeline
from fastaug._batch.threads import threads_for
from fastaug._draft.pipeline import blank
from fastaug._image.encoded import CHANNELS
from fastaug._image.lazy import LazyImage
from fastaug._inspect.words import described
from fastaug._program.arguments import resized_size
from fastaug.data._folder import by_folder, images_in
from fastaug.data._load.seeds import sample_seed
from fastaug.transforms._containers import Compose
from fastaug.transforms._geometry import Resize

# Images in progress at a time, for each thread.
_SLAB = 16

# Bytes of an .npy file before its samples.
_HEADER = 128


class Job(NamedTuple):
    target: Path
    sources: list[Path]
    number: int = 0  # of the source, among all
    draw: int = 0
    stacked: bool = False


class SourceError(Exception):
    def __init__(self, path: Path, error: Exception) -> None:
        super().__init__(str(error))
        self.path = path
        self.error = error


_Work = Callable[[Job, Iterator[np.ndarray]], Any]


class CacheResult(NamedTuple):
    """The result of :func:`cache`.

    ``written`` and ``present`` are numbers of files, the new ones and the ones that existed. ``failed`` has a pair
    (path of the image, error) for each file that could not be made.

    Example:
        >>> from fastaug.data import CacheResult
        >>> CacheResult(3, 0, []).written
        3
    """

    written: int
    present: int
    failed: list[tuple[str, Exception]]


def cache(
    src: str | os.PathLike[str],
    dst: str | os.PathLike[str],
    files: Iterable[str | os.PathLike[str]] | None = None,
    *,
    size: int | Sequence[int] | None = None,
    mode: str | None = "RGB",
    transform: Any = None,
    draws: int = 1,
    seed: int = 0,
    stack: bool = False,
    num_threads: int | None = None,
    progress: bool = False,
) -> CacheResult:
    """Mirror a folder of images and its subfolders as .npy files of their pixels.

    ``dst/a/b.npy`` has the pixels of ``src/a/b.jpg`` as uint8 of shape [H, W, C]. torchvision's ``DatasetFolder(dst,
    fastaug.io.lazy, (".npy",))`` has the classes and labels of ``ImageFolder(src)``, and ``numpy.load(path,
    mmap_mode="r")`` opens each file.

    Each file gets the modification time of its image, and a file with another time is made again. A file that exists is
    complete, because it is renamed after it was written. Use another folder for other settings.

    Args:
        src: the folder of the images: all files with a suffix that Pillow can read, or ``.npy``.
        dst: the folder for the files, which may be inside ``src``.
        files: paths of the images to mirror, relative to ``src``, so that several machines can share the work.
        size: as for ``Resize``, an int for the shorter side or (height, width), applied to each image.
        mode: ``"RGB"``, ``"L"``, ``"LA"`` or ``"RGBA"`` to convert to. None keeps these four and converts others to
            RGB. L has the shape [H, W].
        transform: a transform whose results are 8-bit images, to store these instead. It decodes the images itself, in
            RGB or as a ``Decode`` at its start does.
        draws, seed: number of results of ``transform`` to store for each image, as ``dst/a/b.0.npy``, ``b.1.npy`` and
            so on. Result k of image i, in the order of all paths in ``src``, is the one after
            ``torch.manual_seed(sample_seed(seed, k, i))``.
        stack: store the images of each folder as one file [N, H, W, C] in the order of their names. ``src/a`` becomes
            ``dst/a.npy``, and images directly in ``src`` become ``dst/NAME.npy`` after its name. With ``files``, only
            folders with one of these are made.
        num_threads: number of images processed at a time; by default one per CPU.
        progress: show a tqdm bar if the output is a terminal or a notebook.

    Returns:
        A :class:`CacheResult`. A failed image does not stop the others.

    Raises:
        NotADirectoryError: ``src`` is not a folder.
        OSError: a file cannot be written.
        TypeError: an argument has the wrong type, or ``transform`` returns anything but uint8 images.
        ValueError: there are no images; ``files`` has others; two images would be one file; ``mode`` is unknown;
            ``draws`` is less than one; ``transform`` was given with ``size`` or ``stack``; or ``dst`` is ``src``.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import numpy as np
        >>> from PIL import Image
        >>> from fastaug.data import cache
        >>> folder = Path(tempfile.mkdtemp())
        >>> (folder / "images" / "cats").mkdir(parents=True)
        >>> Image.new("RGB", (80, 60)).save(folder / "images" / "cats" / "1.png")
        >>> cache(folder / "images", folder / "arrays")
        CacheResult(written=1, present=0, failed=[])
        >>> np.load(folder / "arrays" / "cats" / "1.npy", mmap_mode="r").shape
        (60, 80, 3)
        >>> cache(folder / "images", folder / "arrays").present
        1
    """
    options = Options(size, mode, transform, draws, seed, stack)
    return Mirror(src, dst, files, options, num_threads, progress).write()


class Options(NamedTuple):
    """The arguments of cache() that define the stored pixels."""

    size: int | Sequence[int] | None = None
    mode: str | None = "RGB"
    transform: Any = None
    draws: int = 1
    seed: int = 0
    stack: bool = False

    def check(self) -> None:
        if self.mode is not None and self.mode not in CHANNELS:
            raise ValueError(f"mode should be None, 'RGB', 'L', 'LA' or 'RGBA', got {self.mode!r}")
        if self.draws < 1:
            raise ValueError(f"draws should be at least 1, got {self.draws}")
        if self.transform is None:
            if self.draws > 1:
                raise ValueError(f"draws are of a transform, got draws={self.draws} and none")
        elif self.size is not None or self.stack:
            raise ValueError("a transform has neither size nor stack beside it, which are of the images")
        sample_seed(self.seed, 0, 0)

    def sides(self) -> list[int]:
        """Return the size as [height, width] or [shorter side]."""
        given: Any = self.size if isinstance(self.size, Sequence) else [self.size]
        try:
            sides = [operator.index(side) for side in given]
        except TypeError:
            raise TypeError(f"size should be an integer or (height, width), got {self.size!r}") from None
        if len(sides) not in (1, 2) or min(sides) < 1:
            raise ValueError(f"size should be at least 1, or two such numbers, got {self.size!r}")
        return sides


class Mirror:
    def __init__(
        self,
        src: Any,
        dst: Any,
        files: Any,
        options: Options,
        num_threads: Any = None,
        progress: bool = False,
        strict: bool = False,
    ) -> None:
        options.check()
        self.src, self.dst = Path(src), Path(dst)
        if self.src.resolve() == self.dst.resolve():
            raise ValueError(f"dst should be another folder than src, got {self.dst} for both")
        self._options = options
        self._resize = None if options.size is None else Resize(options.sides())
        transform = options.transform
        self._pipeline = transform if isinstance(transform, BatchPipeline) else Compose([transform])
        self._threads = threads_for(num_threads)
        self._progress = progress
        self._strict = strict
        paths, self.skipped, self._refused = images_in(self.src, self.dst)
        self.jobs = self._listed(paths, files)

    def _listed(self, paths: list[Path], files: Any) -> list[Job]:
        chosen = set(paths if files is None else (self.src / file for file in files))
        if unknown := chosen.difference(paths):
            raise ValueError(f"files should be images in {self.src}, by their paths in it, got {min(unknown)}")
        options = self._options
        if options.stack:
            jobs = [
                Job(self._stack_of(folder), sources, stacked=True)
                for folder, sources in by_folder(paths)
                if chosen.intersection(sources)
            ]
        else:
            ends = [".npy"] if options.transform is None else [f".{draw}.npy" for draw in range(options.draws)]
            jobs = [
                Job((self.dst / path.relative_to(self.src)).with_name(f"{path.stem}{end}"), [path], number, draw)
                for number, path in enumerate(paths)
                if path in chosen
                for draw, end in enumerate(ends)
            ]
        seen: dict[Path, Job] = {}
        for job in jobs:
            other = seen.setdefault(job.target, job)
            if other is not job:
                raise ValueError(f"{other.sources[0]} and {job.sources[0]} would both be {job.target}")
        return jobs

    def _stack_of(self, folder: Path) -> Path:
        place = folder.relative_to(self.src)
        name = place.name or self.src.resolve().name
        return self.dst / place.parent / f"{name}.npy"

    def write(self) -> CacheResult:
        jobs = self.pending()
        failed = [*self._refused]
        written = 0
        if not (failed and self._strict):
            for _, outcome in self._each(jobs, self._write):
                if not isinstance(outcome, SourceError):
                    written += 1
                    continue
                failed.append((str(outcome.path), outcome.error))
                if self._strict:
                    break
        return CacheResult(written, len(self.jobs) - len(jobs), failed)

    def verify(self) -> tuple[list[str], CacheResult]:
        """Return the files that differ, and the number of compared files as ``present``. Write nothing."""
        jobs = [job for job in self.jobs if job.target.exists()]
        different = []
        failed = [*self._refused]
        for job, outcome in self._each(jobs, _same):
            if isinstance(outcome, SourceError):
                failed.append((str(outcome.path), outcome.error))
            elif not outcome:
                different.append(str(job.target))
        return different, CacheResult(0, len(jobs), failed)

    def pending(self) -> list[Job]:
        """Return the jobs whose file is missing or has another time than its images."""
        return [job for job in self.jobs if not _done(job)]

    def estimate(self) -> int:
        """Return the bytes of the files that are pending.

        The headers of the images give the sizes. With a transform, all results are assumed to be as large as the first
        one.
        """
        jobs = self.pending()
        if self._options.transform is not None:
            for job in jobs:
                for _, outcome in self._transformed([job], lambda _, arrays: next(arrays).nbytes):
                    if not isinstance(outcome, SourceError):
                        return len(jobs) * (int(outcome) + _HEADER)
            return 0
        sources = [path for job in jobs for path in job.sources]
        with ThreadPoolExecutor(self._threads) as pool:
            return len(jobs) * _HEADER + sum(pool.map(self._bytes_of, sources, chunksize=_SLAB))

    def _bytes_of(self, path: Path) -> int:
        try:
            width, height, mode = _header(path)
        except Exception:
            return 0  # write() reports it
        if self._resize is not None:
            height, width = resized_size(height, width, self._resize.size, None)
        return height * width * CHANNELS[self._options.mode or (mode if mode in CHANNELS else "RGB")]

    def _each(self, jobs: list[Job], work: _Work) -> Iterator[tuple[Job, Any]]:
        """Yield each job with the result of `work` on it and its arrays, or with the SourceError of an image."""
        outcomes = self._in_threads if self._options.transform is None else self._transformed
        with bar_of(self._progress, len(jobs), "file") as bar:
            for start in range(0, len(jobs), _SLAB * self._threads):
                for outcome in outcomes(jobs[start : start + _SLAB * self._threads], work):
                    yield outcome
                    if bar is not None:
                        bar.update()

    def _in_threads(self, jobs: list[Job], work: _Work) -> Iterator[Any]:
        def one(job: Job) -> Any:
            return _outcome(work, job, map(self._read, job.sources))

        with ThreadPoolExecutor(self._threads) as pool:
            yield from zip(jobs, pool.map(one, jobs))

    def _transformed(self, jobs: list[Job], work: _Work) -> Iterator[Any]:
        # User transforms may draw from torch's generator too, so it is saved and restored.
        seeds = [sample_seed(self._options.seed, job.draw, job.number) for job in jobs]
        try:
            with torch.random.fork_rng(devices=[]):
                results = self._pipeline.batch(
                    [self._taken(job.sources[0]) for job in jobs], num_threads=self._threads, seeds=seeds
                )
        except Exception as error:
            if len(jobs) == 1:
                yield jobs[0], error if isinstance(error, SourceError) else SourceError(jobs[0].sources[0], error)
                return
            for job in jobs:
                yield from self._transformed([job], work)
            return
        for job, result in zip(jobs, results):
            yield job, _outcome(work, job, iter([_pixels(result)]))

    def _taken(self, path: Path) -> Any:
        """Return the image as the pipeline takes it, a path or else an array."""
        return self._read(path) if isinstance(blank(self._pipeline.transforms, 1), np.ndarray) else str(path)

    def _read(self, path: Path) -> np.ndarray:
        try:
            image = LazyImage(path, self._options.mode)
            if image.mode not in CHANNELS:
                image = LazyImage(path, "RGB")
            return np.asarray(image if self._resize is None else self._resize(image))
        except Exception as error:
            raise SourceError(path, error) from error

    def _write(self, job: Job, arrays: Iterator[np.ndarray]) -> None:
        time = _newest(job.sources)
        first = next(arrays)
        shape = (len(job.sources), *first.shape) if self._options.stack else first.shape
        with aside(job.target, time) as file:
            np.lib.format.write_array_header_1_0(
                file, {"descr": "|u1", "fortran_order": False, "shape": tuple(map(int, shape))}
            )
            for path, array in zip(job.sources, itertools.chain([first], arrays)):
                if array.shape != first.shape:
                    sizes = " and ".join(
                        f"{name} has height {one.shape[0]} and width {one.shape[1]}"
                        for name, one in ((job.sources[0], first), (path, array))
                    )
                    error = ValueError(f"the images of a folder should have one size to be stacked; {sizes}")
                    raise SourceError(path.parent, error)
                file.write(np.ascontiguousarray(array).data)


def _outcome(work: _Work, job: Job, arrays: Iterator[np.ndarray]) -> Any:
    try:
        return work(job, arrays)
    except SourceError as error:
        return error


def _done(job: Job) -> bool:
    try:
        if job.target.stat().st_mtime_ns != max(path.stat().st_mtime_ns for path in job.sources):
            return False
        return not job.stacked or len(np.load(job.target, mmap_mode="r")) == len(job.sources)
    except (OSError, ValueError):
        return False


def _newest(paths: list[Path]) -> int:
    """Return the time of the last change to any of these, in nanoseconds."""
    try:
        return max(path.stat().st_mtime_ns for path in paths)
    except OSError as error:
        raise SourceError(Path(error.filename), error) from error


def _header(path: Path) -> tuple[int, int, str]:
    try:
        with Image.open(path) as image:
            return image.width, image.height, image.mode
    except UnidentifiedImageError:
        found = LazyImage(path, None)
        return found.width, found.height, found.mode


def _same(job: Job, arrays: Iterator[np.ndarray]) -> bool:
    try:
        there = np.load(job.target, mmap_mode="r")
    except (OSError, ValueError):
        return False
    stack = there if job.stacked else there[None]
    return there.dtype == np.uint8 and len(stack) == len(job.sources) and all(map(np.array_equal, stack, arrays))


def _pixels(result: Any) -> np.ndarray:
    """Return the result of a transform as a uint8 image [H, W] or [H, W, C]."""
    if isinstance(result, Image.Image) and result.mode in CHANNELS:
        return np.asarray(result)
    array = result
    if isinstance(result, torch.Tensor) and result.dtype is torch.uint8:
        array = result.numpy(force=True)
        array = np.moveaxis(array, 0, 2) if array.ndim == 3 else array
    if isinstance(array, np.ndarray) and array.dtype == np.uint8 and array.size and array.ndim in (2, 3):
        checked: np.ndarray = array
        if array.ndim == 2 or array.shape[2] <= len(CHANNELS):
            return checked
    raise TypeError(
        "transform should give images of uint8 to be stored: PIL images of 8 bits, arrays [H, W] or [H, W, 1 to 4], or "
        f"tensors [1 to 4, H, W], got {described(result)}"
    )


@contextlib.contextmanager
def aside(target: Path, time: int) -> Iterator[BinaryIO]:
    """Open a temporary file that becomes `target`, with that modification time, unless an error occurs."""
    target.parent.mkdir(parents=True, exist_ok=True)
    aside = target.with_name(f".{uuid.uuid4().hex}.part")
    try:
        with open(aside, "xb") as file:
            yield file
        os.utime(aside, ns=(time, time))
        os.replace(aside, target)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
