"""A data set of images in tar files."""

from __future__ import annotations

import itertools
import json
import os
import re
import tarfile
from array import array
from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from torch.utils.data import Dataset

from fastaug import _C
from fastaug._batch.methods import BatchPipeline
from fastaug._image import members
from fastaug._image.lazy import LazyImage

_BLOCK = tarfile.BLOCKSIZE

# First bytes of compressed files.
_PACKED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd")

# WebDataset's parts of a member's name: the key, and what follows the first dot of the file's name.
_NAME = re.compile(r"((?:.*/|)[^.]+)[.]([^/]*)", re.DOTALL)

# WebDataset's decoders of targets, by the last part of what follows the key.
_NUMBERS = frozenset(("cls", "cls2", "class", "count", "index", "inx", "id"))
_JSON = frozenset(("json", "jsn"))
_TEXT = frozenset(("txt", "text", "transcript"))

# Bytes of a number.
_MOST_DIGITS = 40

_KEY = "__key__"

_BRACES = re.compile(r"\{([^{}]*)\}")
_RANGE = re.compile(r"(\d+)\.\.(\d+)")


class _Found(NamedTuple):
    """A member of a shard: the key of its sample, the rest of its name, and its place."""

    key: str
    part: str
    name: str
    offset: int
    size: int


class TarDataset(Dataset[Any]):
    """Images in tar files of WebDataset's layout, as a data set with indices.

    Consecutive members whose names differ only after the first dot are one sample, such as ``0001.jpg`` and
    ``0001.cls``. Samples are pairs (image, target), in the order of the shards. Shards are not extracted: members are
    read where they lie. The order may be shuffled in any way, as with a folder.

    A transform of this package gets the encoded image, and decodes what it needs. Any other gets a PIL image in RGB, as
    from ``ImageFolder``.

    The shards must be plain tar files, since members of compressed ones cannot be read by themselves. The constructor
    reads all their headers. A shard that is written to later raises an error when an image of it is read. The data set
    pickles with what it has read.

    Args:
        shards: path of a tar file, or several of them. Braces in a string stand for several, as in
            ``"train-{0000..0146}.tar"`` or ``"{train,test}.tar"``.
        transform, target_transform: as of ``ImageFolder``.
        image: what may follow the key in the name of an image, separated by semicolons. Of several images in a sample,
            the first in this order is taken. Case does not matter.
        target: what follows the key of the target: with ``cls`` an int, with ``json`` an object, with ``txt`` a string,
            and otherwise bytes. Or ``"__key__"`` for the key itself.

    Attributes:
        shards: the paths.
        keys: the keys of the samples.
        targets: the targets of ``cls`` as a list; None with other targets, which are read when they are asked for.

    Raises:
        OSError: a shard cannot be opened, or is not a file.
        tarfile.ReadError: a shard is not a plain tar file, is cut short or broken, or has changed.
        ValueError: no shards, or no samples in them; a sample lacks the image or the target, or has a member twice; a
            ``cls`` that is not an integer.

    Example:
        >>> import io, tarfile, tempfile
        >>> import fastaug
        >>> from fastaug.data import TarDataset
        >>> shard = tempfile.mkdtemp() + "/0.tar"
        >>> with tarfile.open(shard, "w") as tar:
        ...     tar.add(fastaug.sample_file(), "cat.jpg")
        ...     label = tarfile.TarInfo("cat.cls")
        ...     label.size = 1
        ...     tar.addfile(label, io.BytesIO(b"3"))
        >>> dataset = TarDataset(shard)
        >>> len(dataset), dataset.keys, dataset[0][0].size, dataset[0][1]
        (1, ['cat'], (451, 300), 3)
    """

    def __init__(
        self,
        shards: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[Any], Any] | None = None,
        *,
        image: str = "jpg;jpeg;png;webp",
        target: str = "cls",
    ) -> None:
        self.shards = _paths_of(shards)
        self.transform = transform
        self.target_transform = target_transform
        self.image = image
        self.target = target
        self.keys: list[str] = []
        self.targets: list[int] | None = [] if _kind_of(target) in _NUMBERS else None
        self._archives: list[_C.Archive] = []
        self._names: list[str] = []  # of the images
        self._places = self._indexed()

    def __len__(self) -> int:
        return len(self.keys)

    def __getitem__(self, index: Any) -> tuple[Any, Any]:
        member, target = self._entry(index)
        image: Any = _opened(member)
        if not isinstance(self.transform, BatchPipeline):
            image = image.load()
        if self.transform is not None:
            image = self.transform(image)
        return image, target if self.target_transform is None else self.target_transform(target)

    def __repr__(self) -> str:
        return f"TarDataset({len(self)} images in {len(self.shards)} shards)"

    def _entry(self, index: Any) -> tuple[_C.Member, Any]:
        """Return the member of an image, and its target."""
        shard, offset, size, target_offset, target_size = self._places[index].tolist()
        archive = self._archives[shard]
        member = _C.Member(archive, self._names[index], offset, size)
        if self.targets is not None:
            return member, self.targets[index]
        key = self.keys[index]
        if self.target == _KEY:
            return member, key
        return member, _decoded(_C.Member(archive, f"{key}.{self.target}", target_offset, target_size), self.target)

    def _indexed(self) -> np.ndarray:
        """Return of each sample the number of its shard, and the offsets and sizes of its image and of its target."""
        images = [part.strip().lower() for part in self.image.split(";")]
        rows = array("q")
        for number, path in enumerate(self.shards):
            with members.opened(path) as file:
                self._archives.append(members.archive_of(path, file))
                for key, parts in _samples_of(path, file):
                    picture = next((parts[part] for part in images if part in parts), None)
                    label = parts.get(self.target.lower())
                    if picture is None or (label is None and self.target != _KEY):
                        wanted = self.image if picture is None else self.target
                        raise ValueError(f"sample {key!r} of {path} should have {wanted}, it has {', '.join(parts)}")
                    self.keys.append(key)
                    self._names.append(picture.name)
                    offset, size = (0, 0) if label is None else (label.offset, label.size)
                    rows.extend((number, picture.offset, picture.size, offset, size))
                    if self.targets is not None and label is not None:
                        self.targets.append(_number(path, file, label))
        if not rows:
            raise ValueError(f"shards should hold images, got {len(self.shards)} of them, which have none")
        return np.frombuffer(rows, np.int64).reshape(-1, 5)


#: LazyImage, whose signature has what users may pass.
_opened: Callable[[Any], LazyImage] = LazyImage


def _paths_of(shards: Any) -> list[str]:
    if isinstance(shards, (str, os.PathLike)):
        shards = [shards]
    paths: list[str] = []
    for shard in shards:
        paths += _expanded(shard) if isinstance(shard, str) else [os.fsdecode(shard)]
    if not paths:
        raise ValueError("shards should be at least one, got none")
    return paths


def _expanded(path: str) -> list[str]:
    """Return the paths that one with braces stands for."""
    found = _BRACES.search(path)
    if found is None:
        return [path]
    span = _RANGE.fullmatch(found[1])
    if span is None:
        inner = found[1].split(",")
        if len(inner) == 1:
            return [found.string]  # the braces are the name's
    else:
        first, last = int(span[1]), int(span[2])
        inner = [str(number).zfill(len(span[1])) for number in range(first, last + 1)]
    return [one for part in inner for one in _expanded(path[: found.start()] + part + path[found.end() :])]


def _samples_of(path: str, file: BinaryIO) -> Iterator[tuple[str, dict[str, _Found]]]:
    """Yield the key of each sample of a shard, and its members by the rest of their names."""
    for key, group in itertools.groupby(_members_of(path, file), lambda member: member.key):
        parts: dict[str, _Found] = {}
        for member in group:
            if member.part in parts:
                raise ValueError(f"sample {key!r} of {path} has {member.part} twice: {member.name!r} is the second")
            parts[member.part] = member
        yield key, parts


def _members_of(path: str, file: BinaryIO) -> Iterator[_Found]:
    """Yield the files in a shard, without those that WebDataset does not see: links, folders, and names without key."""
    size = file.seek(0, os.SEEK_END)
    for info in _headers_of(path, file, size):
        found = _NAME.fullmatch(info.name)
        if not info.isreg() or found is None or (info.name.startswith("__") and info.name.endswith("__")):
            continue
        if info.sparse is not None:
            raise tarfile.ReadError(f"{path}: member {info.name!r} is sparse, so its bytes do not lie side by side")
        yield _Found(found[1], found[2].lower(), info.name, info.offset_data, info.size)


def _headers_of(path: str, file: BinaryIO, size: int) -> Iterator[tarfile.TarInfo]:
    """Yield all members, and check that the file has all of each, and an end."""
    file.seek(0)
    if file.read(8).startswith(_PACKED):
        raise tarfile.ReadError(f"{path} is compressed, so its members cannot be read by themselves: decompress it")
    file.seek(0)
    last, after = "", 0  # the name of the last member, and where the next one begins
    tar = None
    while True:
        try:
            tar = tar or tarfile.TarFile(fileobj=file, mode="r")
            info = tar.next()
        except (OSError, MemoryError):
            raise
        except Exception as error:
            # tarfile has more errors than its own for headers that are made to break it.
            place = f"after member {last!r}" if last else "at its beginning"
            raise tarfile.ReadError(f"{path} is not a sound tar file, {place}: {error}") from error
        if info is None:
            break
        tar.members.clear()  # type: ignore[attr-defined]  # it would keep them all
        last = info.name
        if info.size < 0 or tar.offset <= after:
            raise tarfile.ReadError(f"{path}: member {last!r} has no sound size, {info.size}")
        if info.offset_data + info.size > size:
            missing = info.offset_data + info.size - size
            raise tarfile.ReadError(f"{path} is cut short: {missing} bytes of member {last!r} are missing")
        after = tar.offset
        yield info
    # tarfile takes anything for an end, also where the file was cut between two members.
    file.seek(after)
    block = file.read(_BLOCK)
    place = f"after member {last!r}" if last else "at its beginning"
    if len(block) < _BLOCK:
        raise tarfile.ReadError(f"{path} is cut short, {place}: it has no end mark")
    if block.strip(b"\0"):
        raise tarfile.ReadError(f"{path} is not a sound tar file, {place}: there is no header at byte {after}")


def _kind_of(part: str) -> str:
    return part.lower().rpartition(".")[2]


def _number(path: str, file: BinaryIO, member: _Found) -> int:
    file.seek(member.offset)
    data = file.read(min(member.size, _MOST_DIGITS + 1))
    try:
        if len(data) <= _MOST_DIGITS:
            return int(data)
    except ValueError:
        pass
    raise ValueError(f"{path}: member {member.name!r} should be an integer, got {data!r}")


def _decoded(member: _C.Member, part: str) -> Any:
    data, kind = members.read(member), _kind_of(part)
    try:
        if kind in _JSON:
            return json.loads(data)
        return data.decode() if kind in _TEXT else data
    except (ValueError, RecursionError) as error:
        raise ValueError(f"cannot decode {members.filename(member)}: {error}") from error
