"""Arrays that stand for PIL images until the end of a call, for image processors with Pillow's backend."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.lib.mixins import NDArrayOperatorsMixin
from PIL import Image

from fastaug._program.job import DTYPES
from fastaug.adapters._cells import Cell, Photo, Store
from fastaug.adapters._images import Images
from fastaug.adapters._pending import Blueprint, Call, fill
from fastaug.adapters._replay import unwatched

_UINT8, _FLOAT32 = np.dtype(np.uint8), np.dtype(np.float32)


class PendingArray(NDArrayOperatorsMixin):
    """An array [3, H, W] whose samples do not exist yet. It says that it is an array, and becomes one when asked."""

    __slots__ = ("_made", "call", "cell")

    def __init__(self, call: Call, cell: Cell) -> None:
        self.call, self.cell = call, cell
        self._made: Any = None

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        return (3, *self.cell.size)

    @property
    def ndim(self) -> int:
        return 3

    @property
    def dtype(self) -> np.dtype[Any]:
        return _UINT8 if self.cell.store is None else _FLOAT32

    @property
    def size(self) -> int:
        return 3 * self.cell.size[0] * self.cell.size[1]

    def __len__(self) -> int:
        return 3

    def images(self) -> Images:
        return Images.of(self.call, (), [self.cell], self.shape, self.cell.store is not None)

    def made(self) -> Any:
        """Return the array itself."""
        if self._made is None:
            self._made = self._filled().numpy().transpose(2, 0, 1)
        return self._made

    def _filled(self) -> torch.Tensor:
        # Pixel by pixel, as theirs: NumPy adds up in the order of memory.
        cell, photo = self.cell, self.cell.photo
        assert photo is not None
        dtype = torch.uint8 if cell.store is None else torch.float32
        number, size = DTYPES[dtype]
        height, width = cell.size
        out = torch.empty(height, width, 3, dtype=dtype)
        form = (number, height, width, 3, 3 * size * width, 3 * size, size)
        fill([Blueprint((height, width, 3), dtype, [(cell.program, photo, 0, form, None)])], [out], self.call)
        if self.call.logs:
            self.call.native.append(f"{self.dtype} {self.shape}: {', '.join(self.images().words()) or 'copy'}")
        return out

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.made(), dtype=dtype, copy=bool(copy)) if copy else np.asarray(self.made(), dtype=dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return getattr(ufunc, method)(*_made_all(inputs), **_made_all(kwargs))

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if self.call.logs:
            self.call.own.append(f"{func.__name__} of {self.dtype} {self.shape}")
        return func(*_made_all(args), **_made_all(kwargs))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.made(), name)

    def __getitem__(self, index: Any) -> Any:
        return self.made()[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.made()[index] = value

    def __iter__(self) -> Any:
        return iter(self.made())

    def _moved(self, move: tuple[Any, ...], size: tuple[int, int]) -> PendingArray | None:
        cell = None if self.written or self.cell.store is not None else self.cell.moved(move, size)
        return None if cell is None else PendingArray(self.call, cell)

    @property
    def written(self) -> bool:
        """True if it became an array, which may have been written into."""
        return self._made is not None

    def resized(self, height: int, width: int, number: int) -> PendingArray | None:
        return self._moved(("resize", height, width, number, False, True), (height, width))

    def cropped(self, height: int, width: int) -> PendingArray | None:
        """Return the middle, rounded down, with zeros around a small image, more of them in front."""
        rows, columns = self.cell.size
        above, left = max(height - rows, 0), max(width - columns, 0)
        padded: PendingArray | None = self
        if above or left:
            sides = (left - left // 2, above - above // 2, left // 2, above // 2)
            padded = self._moved(("pad", sides, 0, "constant"), (rows + above, columns + left))
        if padded is None:
            return None
        top, beside = max(rows - height, 0) // 2, max(columns - width, 0) // 2
        return padded._moved(("crop", top, beside, height, width), (height, width))

    def stored(self, store: Store) -> PendingArray | None:
        return None if self.written else PendingArray(self.call, replace(self.cell, store=store))


def _made_all(value: Any) -> Any:
    if type(value) is PendingArray:
        return value.made()
    if type(value) in (list, tuple):
        return type(value)(_made_all(one) for one in value)
    if type(value) is dict:
        return {key: _made_all(one) for key, one in value.items()}
    return value


def stack(result: Any, call: Call) -> None:
    """Put one pending tensor into the place of each list of pending arrays of one shape."""
    for key, value in list(result.items()):
        plain = (
            isinstance(value, list) and value and all(type(one) is PendingArray and not one.written for one in value)
        )
        if plain and len({(one.shape, one.dtype) for one in value}) == 1:
            cells = [one.cell for one in value]
            result[key] = Images.of(call, (len(cells),), cells, value[0].shape, value[0].cell.store is not None)


@functools.lru_cache(64)
def _factor(scale: float) -> tuple[float | None, ...]:
    """Return what the core multiplies samples by for the shares that NumPy makes; nothing if their bits differ."""
    samples = np.arange(256, dtype=np.uint8)
    shares = (samples.astype(np.float64) * scale).astype(np.float32)
    if np.array_equal(shares, samples.astype(np.float32) / np.float32(255)):
        return (None,)
    factor = float(np.float32(scale))
    return (factor,) if np.array_equal(shares, samples.astype(np.float32) * np.float32(scale)) else ()


def _numbers(values: Any) -> tuple[float, ...] | None:
    given = list(values) if isinstance(values, Iterable) else [values] * 3
    if len(given) != 3 or not all(isinstance(one, (int, float)) for one in given):
        return None
    return tuple(float(np.float32(one)) for one in given)


def _size(image: PendingArray, size: Any) -> tuple[int, int] | None:
    """Return the size that the backend resizes an image to."""
    from transformers import image_transforms
    from transformers.image_utils import ChannelDimension, get_image_size_for_max_height_width

    sides = image.cell.size
    if size.shortest_edge and size.longest_edge:
        found = image_transforms.get_size_with_aspect_ratio(sides, size.shortest_edge, size.longest_edge)
    elif size.shortest_edge:
        found = image_transforms.get_resize_output_image_size(
            image, size=size.shortest_edge, default_to_square=False, input_data_format=ChannelDimension.FIRST
        )
    elif size.max_height and size.max_width:
        found = get_image_size_for_max_height_width(sides, size.max_height, size.max_width)
    elif size.height and size.width:
        found = size.height, size.width
    else:
        return None
    height, width = found
    return (int(height), int(width)) if height == int(height) and width == int(width) else None


def native_of(backend: Any, active: Callable[[], Call | None]) -> type:
    """Return what stands between the classes of models and Pillow's backend."""

    class Native(backend):  # type: ignore[misc]
        by_pillow = True

        def process_image(
            self, image: Any, do_convert_rgb: Any = None, input_data_format: Any = None, **kwargs: Any
        ) -> Any:
            call = active()
            image = unwatched(image)
            plain = call is not None and input_data_format is None and isinstance(image, Image.Image)
            if plain and image.mode == "RGB" and "transparency" not in image.info:
                image.load()
                width, height = image.size
                if call is not None and width and height:
                    return PendingArray(call, Cell(Photo(image, (3, height, width), True), size=(height, width)))
            return super().process_image(
                image, do_convert_rgb=do_convert_rgb, input_data_format=input_data_format, **kwargs
            )

        def resize(self, image: Any, size: Any, resample: Any = None, reducing_gap: Any = None, **kwargs: Any) -> Any:
            if type(image) is PendingArray and reducing_gap is None:
                number = 2 if resample is None else resample
                sides = _size(image, size)
                done = image.resized(*sides, int(number)) if isinstance(number, int) and sides is not None else None
                if done is not None:
                    return done
            return super().resize(image, size, resample=resample, reducing_gap=reducing_gap, **kwargs)

        def center_crop(self, image: Any, size: Any, **kwargs: Any) -> Any:
            if type(image) is PendingArray and size.height is not None and size.width is not None:
                done = image.cropped(int(size.height), int(size.width))
                if done is not None:
                    return done
            return super().center_crop(image, size, **kwargs)

        def rescale(self, image: Any, scale: Any, **kwargs: Any) -> Any:
            if (
                type(image) is PendingArray
                and image.cell.store is None
                and not kwargs
                and isinstance(scale, (int, float))
            ):
                factor = _factor(scale)
                done = image.stored((factor[0], (), ())) if factor else None
                if done is not None:
                    return done
            return super().rescale(image, scale, **kwargs)

        def normalize(self, image: Any, mean: Any, std: Any, **kwargs: Any) -> Any:
            if type(image) is PendingArray and not kwargs:
                factor, before, _ = image.cell.store or (1.0, (), ())
                means, stds = _numbers(mean), _numbers(std)
                known = not before and means is not None and stds is not None and all(stds)
                done = image.stored((factor, means, stds)) if known and means and stds else None
                if done is not None:
                    return done
            return super().normalize(image, mean, std, **kwargs)

    return Native
