"""Pending images of one size, as a model's own code moves, cuts, stacks and normalises them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from fastaug._program.job import DTYPES
from fastaug.adapters._cells import FILTERS, Cell, Photo, Store, Window, said
from fastaug.adapters._pending import Blueprint, Call, Pending, fill
from fastaug.adapters._rows import Viewed, whole_shape


def _sliced(index: Any, length: int) -> tuple[int, int] | None:
    """Return where a slice of neighbours begins and how many it has."""
    if not isinstance(index, slice) or index.step not in (None, 1):
        return None
    begin, end, _ = index.indices(length)
    return begin, max(end - begin, 0)


class Images(Pending):
    """Images [..., C, H, W] of one size."""

    lead: tuple[int, ...]
    cells: tuple[Cell, ...]
    #: A mean was taken from the samples, and no other tensor was made of these since.
    centred: bool

    @classmethod
    def of(cls, call: Call, lead: tuple[int, ...], cells: Sequence[Cell], chw: Sequence[int], floats: bool) -> Images:
        made: Images = Pending._of(cls, call, (*lead, *chw), torch.float32 if floats else torch.uint8)
        made.lead, made.cells, made.centred = lead, tuple(cells), False
        return made

    @classmethod
    def of_photo(cls, call: Call, photo: Photo) -> Images:
        _, height, width = photo.shape
        return cls.of(call, (), [Cell(photo, size=(height, width))], photo.shape, False)

    @property
    def chw(self) -> tuple[int, int, int]:
        channels, height, width = self._shape[-3:]
        return channels, height, width

    @property
    def floats(self) -> bool:
        return self._dtype is torch.float32

    def _with(self, cells: Sequence[Cell | None], size: tuple[int, int]) -> Any:
        """Return other images of another size in the places of these."""
        self.centred = False
        if None in cells:
            return NotImplemented
        known = [cell for cell in cells if cell is not None]
        return Images.of(self._call, self.lead, known, (self.chw[0], *size), self.floats)

    def _led(self, lead: tuple[int, ...]) -> Images:
        self.centred = False
        return Images.of(self._call, lead, self.cells, self.chw, self.floats)

    def stored(self, store: Store) -> Any:
        """Return the images as floats, or NotImplemented if they are."""
        if self.floats or (store[1] and len(store[1]) != self.chw[0]):
            return NotImplemented
        return self._stored_as(store)

    def _to(self, *args: Any, **kwargs: Any) -> Any:
        wanted = [*args, *kwargs.values()]
        if any(not isinstance(one, (torch.dtype, torch.device, str)) for one in wanted):
            return NotImplemented
        if any(torch.device(one).type != "cpu" for one in wanted if not isinstance(one, torch.dtype)):
            return NotImplemented
        dtype = next((one for one in wanted if isinstance(one, torch.dtype)), self._dtype)
        if dtype is self._dtype:
            return self
        return self.stored((1.0, (), ())) if dtype is torch.float32 else NotImplemented

    def _float(self) -> Any:
        return self._to(torch.float32)

    def _mul(self, other: Any) -> Any:
        return self.stored((float(other), (), ())) if type(other) is float and other else NotImplemented

    def _sub(self, other: Any) -> Any:
        """Return the images minus means, which a division may follow."""
        store, means = self._store(), self._numbers(other)
        if store is None or store[1] or means is None:
            return NotImplemented
        made = self._stored_as((store[0], means, (1.0,) * len(means)))
        made.centred = True
        return made

    def _div(self, other: Any) -> Any:
        store, stds = self._store(), self._numbers(other)
        if not self.centred or store is None or stds is None or not all(stds):
            return NotImplemented
        return self._stored_as((store[0], store[1], stds))

    def _div_(self, other: Any) -> Any:
        done = self._div(other)
        if done is not NotImplemented:
            self.cells, self.centred = done.cells, False
            return self
        return NotImplemented

    def _store(self) -> Store | None:
        """Return what was done to the samples of all images, or None if nothing or not the same."""
        stores = {cell.store for cell in self.cells if cell.photo is not None and cell.window is None}
        alike = len(stores) == 1 and all(cell.photo is not None and cell.window is None for cell in self.cells)
        return stores.pop() if alike else None

    def _stored_as(self, store: Store) -> Images:
        cells = [replace(cell, store=store) for cell in self.cells]
        return Images.of(self._call, self.lead, cells, self.chw, True)

    def _numbers(self, given: Any) -> tuple[float, ...] | None:
        """Return a number for each channel."""
        channels = self.chw[0]
        if type(given) is not torch.Tensor or given.dtype is not torch.float32:
            return None
        if given.ndim and tuple(given.shape) != (channels, 1, 1):
            return None
        numbers: list[float] = given.flatten().tolist()
        if not all(math.isfinite(one) for one in numbers):
            return None
        return tuple(numbers) * (channels if len(numbers) == 1 else 1)

    def _transpose(self, first: int, second: int) -> Any:
        if not 0 <= min(first, second) <= max(first, second) < len(self.lead):
            return NotImplemented
        numbers = np.arange(len(self.cells)).reshape(self.lead).swapaxes(first, second)
        cells = [self.cells[k] for k in numbers.ravel()]
        return Images.of(self._call, numbers.shape, cells, self.chw, self.floats)

    def _cpu(self) -> Images:
        return self

    def _detach(self) -> Images:
        return self

    def _contiguous(self, **kwargs: Any) -> Any:
        return self if not kwargs else NotImplemented

    def _clone(self, **kwargs: Any) -> Any:
        return self if not kwargs else NotImplemented

    def _stride(self) -> tuple[int, ...]:
        return tuple(math.prod(self._shape[k + 1 :]) for k in range(len(self._shape)))

    def _is_contiguous(self, memory_format: torch.memory_format = torch.contiguous_format) -> bool:
        return memory_format is torch.contiguous_format

    def _interpolate(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: Any = None,
        recompute_scale_factor: Any = None,
        antialias: bool = False,
    ) -> Any:
        plain = scale_factor is None and not align_corners and not recompute_scale_factor
        number, exact = FILTERS.get(mode, (None, False))
        if self.floats or not plain or number is None or antialias == (number == 0) or len(size) != 2:
            return NotImplemented
        if len(self.lead) != 1 or any(cell.photo is None for cell in self.cells):
            return NotImplemented
        size = int(size[0]), int(size[1])
        return self._with([cell.moved(("resize", *size, number, exact, antialias), size) for cell in self.cells], size)

    def _pad(self, pad: Any, mode: str = "constant", value: float | None = None) -> Any:
        pad, value = [int(side) for side in pad], float(value or 0)
        if mode != "constant" or min(pad, default=0) < 0 or any(pad[4:6]):
            return NotImplemented
        padded: Any = self if not any(pad[:4]) else self._padded(pad[:4], value)
        if len(pad) == 8 and any(pad[6:]) and padded is not NotImplemented:
            return padded._lengthened(*pad[6:], value)
        return padded if len(pad) <= 6 or not any(pad[6:]) else NotImplemented

    def _padded(self, pad: list[int], value: float) -> Any:
        left, right, top, bottom = pad + [0] * (4 - len(pad))
        _, height, width = self.chw
        size = height + top + bottom, width + left + right
        if any(cell.photo is None and cell.value != value for cell in self.cells):
            return NotImplemented
        if self.floats:
            if any(cell.window is not None for cell in self.cells):
                return NotImplemented
            return self._with([replace(cell, window=Window(top, left, value)) for cell in self.cells], size)
        if value != int(value) or not 0 <= value <= 255:
            return NotImplemented
        move = ("pad", (left, top, right, bottom), int(value), "constant")
        return self._with([cell if cell.photo is None else cell.moved(move, size) for cell in self.cells], size)

    def _lengthened(self, before: int, after: int, value: float) -> Any:
        """Return the images with blank ones before and after them."""
        if len(self.lead) != 1:
            return NotImplemented
        blank = (Cell(None, value=value),)
        cells = blank * before + self.cells + blank * after
        return Images.of(self._call, (len(cells),), cells, self.chw, self.floats)

    def __getitem__(self, index: Any) -> Any:
        with_ = self._item(index)
        return torch.Tensor.__getitem__(self, index) if with_ is NotImplemented else with_

    def _item(self, index: Any) -> Any:
        given = list(index) if isinstance(index, tuple) else [index]
        if any(isinstance(one, (bool, torch.Tensor, np.ndarray, list)) for one in given):
            return NotImplemented
        missing = len(self._shape) - sum(one is not None and one is not Ellipsis for one in given)
        at = next((k for k, one in enumerate(given) if one is Ellipsis), len(given))
        given[at : at + 1] = [slice(None)] * missing
        if sum(one is Ellipsis for one in given) or missing < 0:
            return NotImplemented
        if given == [0, slice(None), slice(None)] and type(given[0]) is int and not self.lead:
            # The first channel, of which models take the shape.
            return Viewed.of_dims(self, self._viewed().dims[1:])
        *first, channels, rows, columns = given
        if None in (channels, rows, columns) or sum(one is not None for one in first) != len(self.lead):
            return NotImplemented
        numbers = np.arange(len(self.cells)).reshape(self.lead)
        chosen = numbers[tuple(first)]
        spans = [_sliced(one, length) for one, length in zip((channels, rows, columns), self.chw)]
        if spans[0] != (0, self.chw[0]) or spans[1] is None or spans[2] is None:
            return NotImplemented
        self.centred = False
        cells = [self.cells[int(k)] for k in np.ravel(chosen)]
        found = Images.of(self._call, np.shape(chosen), cells, self.chw, self.floats)
        return found._cropped(spans[1], spans[2])

    def _cropped(self, rows: tuple[int, int], columns: tuple[int, int]) -> Any:
        _, height, width = self.chw
        if (rows, columns) == ((0, height), (0, width)):
            return self
        size = rows[1], columns[1]
        if 0 in size or any(cell.window is not None for cell in self.cells):
            return NotImplemented
        move = ("crop", rows[0], columns[0], *size)
        return self._with([cell if cell.photo is None else cell.moved(move, size) for cell in self.cells], size)

    def __iter__(self) -> Any:
        return iter([self[k] for k in range(len(self))] if self.lead else torch.Tensor.unbind(self))

    def unsqueeze(self, dim: int) -> Any:
        at = dim + len(self._shape) + 1 if dim < 0 else dim
        if at > len(self.lead):
            return self._viewed().unsqueeze(dim)
        return self._led((*self.lead[:at], 1, *self.lead[at:]))

    def squeeze(self, *dims: Any) -> Any:
        if dims and isinstance(dims[0], int) and 0 <= dims[0] < len(self.lead) and len(dims) == 1:
            at = dims[0]
            return self._led(self.lead[:at] + self.lead[at + 1 :]) if self.lead[at] == 1 else self
        return torch.Tensor.squeeze(self, *dims)

    def reshape(self, *shape: Any) -> Any:
        whole = whole_shape(shape, self._shape)
        if whole is not None and whole[-3:] == self.chw:
            return self._led(whole[:-3])
        return self._viewed().reshape(*shape)

    view = reshape  # type: ignore[assignment]

    def permute(self, *dims: Any) -> Any:
        return self._viewed().permute(*dims)

    def _repeat(self, *sizes: Any) -> Any:
        given = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else sizes
        if len(given) != self.ndim or tuple(given[-3:]) != (1, 1, 1) or not all(type(n) is int for n in given):
            return NotImplemented
        numbers = np.tile(np.arange(len(self.cells)).reshape(self.lead), given[:-3])
        self.centred = False
        return Images.of(self._call, numbers.shape, [self.cells[k] for k in numbers.ravel()], self.chw, self.floats)

    def _unfold(self, dimension: int, size: int, step: int) -> Any:
        return self._viewed()._unfold(dimension, size, step)

    def tiles(self, lead: Sequence[int], corners: Sequence[int], size: tuple[int, int]) -> Any:
        """Return parts of the images by the places of their first samples, or None."""
        channels, height, width = self.chw
        found = []
        for corner in corners:
            number, place = divmod(corner, channels * height * width)
            cell, (top, left) = self.cells[number], divmod(place, width)
            if cell.photo is None or cell.window is not None or top + size[0] > height or left + size[1] > width:
                return None
            part = cell if size == (height, width) else cell.moved(("crop", top, left, *size), size)
            if part is None:
                return None
            found.append(part)
        return Images.of(self._call, tuple(lead), found, (channels, *size), self.floats)

    def _viewed(self) -> Viewed:
        copies = self.lead[-1] if self.lead else 1
        once = self.cells[::copies]
        if copies > 1 and all(cell == once[k // copies] for k, cell in enumerate(self.cells)):
            # Copies of images side by side, as a view of each that repeats.
            images = Images.of(self._call, self.lead[:-1], once, self.chw, self.floats)
            dims = images._viewed().dims
            return Viewed.of_dims(images, (*dims[:-3], ((copies, 0),), *dims[-3:]))
        strides, self.centred = self._stride(), False
        return Viewed.of_dims(self, [((n, stride),) for n, stride in zip(self._shape, strides)])

    def blueprint(self, dtype: torch.dtype) -> Blueprint:
        channels, height, width = self.chw
        made = Blueprint(tuple(self._shape), dtype)
        number, size = DTYPES[dtype]
        plane = height * width
        for k, cell in enumerate(self.cells):
            first = k * channels * plane
            rows, columns = cell.size
            if cell.photo is None:
                made.fills.append(((channels * plane,), (1,), first, cell.value))
                continue
            if cell.window is not None:
                made.fills += _around(self.chw, cell, first)
                first += cell.window.top * width + cell.window.left
            form = (number, rows, columns, channels, width * size, size, plane * size)
            made.jobs.append((cell.program, cell.photo, first * size, form, None))
        return made

    def words(self) -> list[str]:
        return said(self.cells)

    def stacked(self, tensors: Sequence[Any]) -> Any:
        return self._of_all(tensors, (len(tensors), *self.lead))

    def joined(self, tensors: Sequence[Any], dim: int) -> Any:
        if dim >= len(self.lead):
            return NotImplemented
        cells = [cell for one in tensors for cell in one.cells]
        ends = np.cumsum([len(one.cells) for one in tensors])
        parts = np.split(np.arange(len(cells)), ends[:-1])
        numbers = np.concatenate([part.reshape(one.lead) for part, one in zip(parts, tensors)], axis=dim)
        return Images.of(self._call, numbers.shape, [cells[k] for k in numbers.ravel()], self.chw, self.floats)

    def written(self, memory: torch.Tensor) -> bool:
        cell = self.cells[0]
        if self.lead or cell.photo is None or cell.window is not None:
            return False
        if memory.shape != self._shape or memory.dtype is not self._dtype or not memory.is_cpu:
            return False
        number, size = DTYPES[self._dtype]
        plane, row, pixel = (stride * size for stride in memory.stride())
        form = (number, *cell.size, self.chw[0], row, pixel, plane)
        fill([Blueprint(self._shape, self._dtype, [(cell.program, cell.photo, 0, form, None)])], [memory], self._call)
        self._call.touched = True
        if self._call.logs:
            words = ", ".join(self.words()) or "copy"
            self._call.native.append(f"{self._dtype} {tuple(self._shape)} in the model's own tensor: {words}")
        return True

    def _of_all(self, tensors: Sequence[Any], lead: tuple[int, ...]) -> Images:
        cells = [cell for one in tensors for cell in one.cells]
        return Images.of(self._call, lead, cells, self.chw, self.floats)


def _around(
    chw: tuple[int, int, int], cell: Cell, first: int
) -> list[tuple[tuple[int, ...], tuple[int, ...], int, float]]:
    """Return what a cell's window leaves of an image, to be filled."""
    channels, height, width = chw
    window, (rows, columns) = cell.window, cell.size
    assert window is not None
    bottom, right = window.top + rows, window.left + columns
    parts = (
        (0, 0, window.top, width),
        (bottom, 0, height - bottom, width),
        (window.top, 0, rows, window.left),
        (window.top, right, rows, width - right),
    )
    strides = (height * width, width, 1)
    return [
        ((channels, tall, wide), strides, first + top * width + left, window.value)
        for top, left, tall, wide in parts
        if tall and wide
    ]
