"""Views of pending images, and the rows of patches that they show."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from fastaug._program.job import DTYPES
from fastaug.adapters._cells import Cell, said
from fastaug.adapters._pending import Blueprint, Call, Pending


def whole_shape(shape: Any, before: Sequence[int]) -> tuple[int, ...] | None:
    """Return the sizes of a reshape, of which one may be -1."""
    if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
        shape = shape[0]
    if not all(isinstance(n, int) for n in shape):
        return None
    known, total = math.prod(n for n in shape if n != -1), math.prod(before)
    if sum(n == -1 for n in shape) == 1 and known and total % known == 0:
        return tuple(total // known if n == -1 else n for n in shape)
    return tuple(shape) if -1 not in shape and known == total else None


#: Sides of tiles, of which there are few. What is smaller are patches.
_LARGE = 64
_MOST_TILES = 1024

#: Sizes and strides of the parts of a dimension, outermost first.
Dim = tuple[tuple[int, int], ...]


@functools.lru_cache(4096)
def _reshaped(dims: tuple[Dim, ...], shape: tuple[int, ...]) -> tuple[Dim, ...] | None:
    """Return dimensions cut and joined to other sizes, or None if one ends inside of a part."""
    left = [part for dim in dims for part in dim if part[0] != 1][::-1]
    made = []
    for length in shape:
        dim, found = [], 1
        while found < length:
            if not left:
                return None
            size, stride = left.pop()
            take = length // found
            if take % size:
                if size % take:
                    return None
                left.append((size // take, stride))
                size, stride = take, stride * (size // take)
            dim.append((size, stride))
            found *= size
        if found != length:
            return None
        made.append(tuple(dim))
    return tuple(made)


def _joined(parts: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return parts without those of one step, with neighbours as one where they are."""
    joined: list[tuple[int, int]] = []
    for size, stride in parts:
        if size == 1:
            continue
        if joined and joined[-1][1] == size * stride:
            joined[-1] = (joined[-1][0] * size, stride)
        else:
            joined.append((size, stride))
    return joined


@dataclass(frozen=True, slots=True)
class Layout:
    """How the patches of an image lie in rows."""

    side: int
    merge: int
    copies: int
    #: The channels of a pixel lie side by side, not the pixels of a channel.
    packed: bool


@functools.lru_cache(4096)
def _layout(rows: Dim, row: Dim, chw: tuple[int, int, int]) -> Layout | None:
    """Return the layout of patches whose places and samples have these parts, or None if they are none."""
    channels, height, width = chw
    plane = height * width
    sides = {size for size, stride in row if stride == 1 and height % size == 0 and width % size == 0}
    merges = sorted({1, *(size for size, _ in rows)})
    copies = next((size for size, stride in row if stride == 0), 1)
    for side in sides:
        across, down = width // side, height // side
        pixels = [(side, width), (side, 1)]
        found = _joined(row)
        planar = found == _joined([(channels, plane), (copies, 0), *pixels])
        packed = copies == 1 and found == _joined([*pixels, (channels, plane)])
        if not planar and not packed:
            continue
        for merge in merges:
            if down % merge or across % merge:
                continue
            blocks = [(down // merge, merge * side * width), (across // merge, merge * side)]
            if _joined(rows) == _joined([*blocks, (merge, side * width), (merge, side)]):
                return Layout(side, merge, copies, packed and not planar)
    return None


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring rows: the patches of an image, or blank ones."""

    count: int
    cell: Cell | None
    layout: Layout | None = None


class Rows(Pending):
    """Patches [..., N, *D] of images."""

    lead: tuple[int, ...]
    runs: tuple[tuple[Run, ...], ...]
    tail: tuple[int, ...]

    @classmethod
    def of(cls, call: Call, lead: tuple[int, ...], runs: Sequence[tuple[Run, ...]], tail: tuple[int, ...]) -> Rows:
        rows = sum(run.count for run in runs[0])
        made: Rows = Pending._of(cls, call, (*lead, rows, *tail), torch.float32)
        made.lead, made.runs, made.tail = lead, tuple(runs), tail
        return made

    @classmethod
    def seen(cls, images: Any, dims: tuple[Dim, ...]) -> Rows | None:
        """Return the rows that a view of images shows, or None if it shows anything else."""
        plain = images.floats and all(cell.photo is not None and cell.window is None for cell in images.cells)
        count = len(images.cells)
        led = len(dims) > 2 and _joined(dims[0]) == _joined([(count, math.prod(images.chw))])
        rest = dims[1:] if led else dims
        if not plain or len(rest) < 2 or (count > 1 and not led):
            return None
        layout = _layout(rest[0], tuple(part for dim in rest[1:] for part in dim), images.chw)
        if layout is None:
            return None
        rows, *tail = (math.prod(size for size, _ in dim) for dim in rest)
        lead = (count,) if led else ()
        return cls.of(images._call, lead, [(Run(rows, cell, layout),) for cell in images.cells], tuple(tail))

    def __getitem__(self, index: Any) -> Any:
        if type(index) is int and len(self.lead) == 1:
            return Rows.of(self._call, (), [self.runs[index]], self.tail)
        return torch.Tensor.__getitem__(self, index)

    def __iter__(self) -> Any:
        return iter([self[k] for k in range(len(self))] if self.lead else torch.Tensor.unbind(self))

    def unsqueeze(self, dim: int) -> Any:
        if dim == 0 and not self.lead:
            return Rows.of(self._call, (1,), self.runs, self.tail)
        return torch.Tensor.unsqueeze(self, dim)

    def reshape(self, *shape: Any) -> Any:
        whole = whole_shape(shape, self._shape)
        rows = math.prod(self._shape[: len(self._shape) - len(self.tail)])
        if whole is not None and len(whole) > 1 and whole[0] == rows:
            return Rows.of(self._call, (), [tuple(run for runs in self.runs for run in runs)], whole[1:])
        if whole is not None and len(whole) > 2 and whole[:2] == self._shape[:2] and self.lead:
            return Rows.of(self._call, self.lead, self.runs, whole[2:])
        return torch.Tensor.reshape(self, *shape)

    view = reshape  # type: ignore[assignment]

    def _contiguous(self, **kwargs: Any) -> Any:
        return self if not kwargs else NotImplemented

    def _pad(self, pad: Any, mode: str = "constant", value: float | None = None) -> Any:
        *before, after = [int(side) for side in pad]
        if mode != "constant" or value or len(before) != 2 * len(self.tail) + 1 or any(before) or after < 0:
            return NotImplemented
        runs = [(*runs, Run(after, None)) for runs in self.runs]
        return Rows.of(self._call, self.lead, runs, self.tail)

    def blueprint(self, dtype: torch.dtype) -> Blueprint:
        made = Blueprint(tuple(self._shape), dtype)
        number, size = DTYPES[dtype]
        width, first = math.prod(self.tail), 0
        for run in (run for runs in self.runs for run in runs):
            cell, layout = run.cell, run.layout
            if cell is None or layout is None:
                made.fills.append(((run.count * width,), (1,), first * width, 0.0))
            else:
                assert cell.photo is not None
                channels, side = cell.photo.shape[0], layout.side
                square = side * side * size
                strides = (side * size, size, square * layout.copies)
                if layout.packed:
                    strides = (side * channels * size, channels * size, size)
                patches = (side, layout.merge, layout.copies, width * size, square)
                form = (number, *cell.size, channels, *strides)
                made.jobs.append((cell.program, cell.photo, first * width * size, form, patches))
            first += run.count
        return made

    def words(self) -> list[str]:
        cells = [run.cell for runs in self.runs for run in runs if run.cell is not None]
        return [*said(cells), "patches"]

    def stacked(self, tensors: Sequence[Any]) -> Any:
        lead = (len(tensors), *self.lead)
        return Rows.of(self._call, lead, [runs for one in tensors for runs in one.runs], self.tail)

    def joined(self, tensors: Sequence[Any], dim: int) -> Any:
        if dim:
            return NotImplemented
        if not self.lead:
            return Rows.of(self._call, (), [tuple(run for one in tensors for run in one.runs[0])], self.tail)
        lead = (sum(one.lead[0] for one in tensors), *self.lead[1:])
        return Rows.of(self._call, lead, [runs for one in tensors for runs in one.runs], self.tail)


class Viewed(Pending):
    """Images whose samples are read in another order."""

    images: Any
    dims: tuple[Dim, ...]
    whole = False

    @classmethod
    def of_dims(cls, images: Any, dims: Sequence[Dim]) -> Viewed:
        shape = [math.prod(size for size, _ in dim) for dim in dims]
        made: Viewed = Pending._of(cls, images._call, shape, images._dtype)
        made.images, made.dims = images, tuple(dims)
        return made

    def reshape(self, *shape: Any) -> Any:
        whole = whole_shape(shape, self._shape)
        dims = None if whole is None else _reshaped(self.dims, whole)
        if dims is None:
            return torch.Tensor.reshape(self, *shape)
        rows = Rows.seen(self.images, dims)
        return Viewed.of_dims(self.images, dims) if rows is None else rows

    def permute(self, *dims: Any) -> Any:
        order = dims[0] if len(dims) == 1 and isinstance(dims[0], (tuple, list)) else dims
        permuted = [self.dims[k] for k in order]
        tiles = self._tiles(permuted)
        return Viewed.of_dims(self.images, permuted) if tiles is None else tiles

    def _tiles(self, dims: Sequence[Dim]) -> Any:
        """Return large parts of the images that a view shows, as images; None if it shows anything else."""
        channels, height, width = self.images.chw
        if len(dims) < 4 or not all(len(dim) == 1 for dim in dims[-3:]):
            return None
        (plane,), ((rows, down),), ((columns, across),) = dims[-3:]
        whole = plane == (channels, height * width) and (down, across) == (width, 1)
        lead = [math.prod(size for size, _ in dim) for dim in dims[:-3]]
        if not whole or min(rows, columns) < _LARGE or math.prod(lead) > _MOST_TILES:
            return None
        corners = [0]
        for size, stride in (part for dim in dims[:-3] for part in dim):
            corners = [corner + k * stride for corner in corners for k in range(size)]
        return self.images.tiles(lead, corners, (rows, columns))

    def _unfold(self, dimension: int, size: int, step: int) -> Any:
        at = dimension + len(self.dims) if dimension < 0 else dimension
        if step != size or not 0 <= at < len(self.dims) or not size or self._shape[at] % size:
            return NotImplemented
        cut = _reshaped((self.dims[at],), (self._shape[at] // size, size))
        if cut is None:
            return NotImplemented
        return Viewed.of_dims(self.images, (*self.dims[:at], cut[0], *self.dims[at + 1 :], cut[1]))

    view = reshape  # type: ignore[assignment]

    def unsqueeze(self, dim: int) -> Any:
        at = dim + len(self.dims) + 1 if dim < 0 else dim
        return Viewed.of_dims(self.images, (*self.dims[:at], (), *self.dims[at:]))

    def _transpose(self, first: int, second: int) -> Any:
        dims = list(self.dims)
        dims[first], dims[second] = dims[second], dims[first]
        return Viewed.of_dims(self.images, dims)

    def expand(self, *sizes: Any) -> Any:  # type: ignore[override]
        given = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else sizes
        if len(given) != len(self.dims):
            return torch.Tensor.expand(self, *sizes)
        dims = []
        for dim, length, wanted in zip(self.dims, self._shape, given):
            if wanted not in (-1, length) and length != 1:
                return torch.Tensor.expand(self, *sizes)
            dims.append(((wanted, 0),) if wanted not in (-1, length) else dim)
        return Viewed.of_dims(self.images, dims)

    def _contiguous(self, **kwargs: Any) -> Any:
        return self if not kwargs else NotImplemented

    def blueprint(self, dtype: torch.dtype) -> Blueprint:
        found: Blueprint = self.images.blueprint(dtype)
        return found

    def words(self) -> list[str]:
        found: list[str] = self.images.words()
        return [*found, "another order"]

    def settled(self, memory: torch.Tensor) -> torch.Tensor:
        parts = [part for dim in self.dims for part in dim]
        view = memory.as_strided([size for size, _ in parts], [stride for _, stride in parts])
        return view.reshape(self._shape).contiguous()
