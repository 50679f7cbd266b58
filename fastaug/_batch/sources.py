"""The images of a batch, and files that are read ahead."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from PIL import Image, ImageFile

from fastaug import _C
from fastaug._batch.threads import Crew
from fastaug._image import members
from fastaug._image.encoded import ENCODED, is_encoded, is_entry
from fastaug._image.lazy import LazyImage
from fastaug._program.placed import DeviceArray, device_of, on_host


def as_images(images: Any) -> Sequence[Any]:
    """Check the images of one batch, and return them as a sequence."""
    items: Sequence[Any]
    if isinstance(images, (np.ndarray, torch.Tensor)):
        if images.ndim != 4:
            axes = "[N, H, W, C]" if isinstance(images, np.ndarray) else "[N, C, H, W]"
            raise ValueError(f"images should be of shape {axes}, or a list of images, got shape {tuple(images.shape)}")
        items = list(images)
    elif (foreign := _foreign(images)) is not None:
        if foreign.ndim != 4:
            raise ValueError(f"images should be of shape [N, H, W, C], or a list, got shape {tuple(foreign.shape)}")
        items = [_as_array(image) for image in foreign]
    else:
        refuse_single(images)
        items = [item if (image := _foreign(item)) is None else _as_array(image) for item in images]
    if not items:
        raise ValueError("images should be at least one image, got none")
    return items


_OWN = (np.ndarray, torch.Tensor, Image.Image, LazyImage, *ENCODED)


def _foreign(array: Any) -> torch.Tensor | None:
    """Return another library's array on a device as a tensor of the same memory, or None."""
    if isinstance(array, _OWN):
        return None
    if hasattr(array, "__dlpack__"):
        # This makes the current stream wait for that of the array.
        tensor: torch.Tensor = torch.utils.dlpack.from_dlpack(array)
    elif hasattr(array, "__cuda_array_interface__"):
        tensor = torch.as_tensor(array, device="cuda")
    else:
        return None
    return None if device_of(tensor) is None else tensor


def _as_array(tensor: torch.Tensor) -> Any:
    image = DeviceArray(tensor)
    fits = tensor.dtype is torch.uint8 and tensor.ndim in (2, 3) and image.size > 0 and (*tensor.shape, 1)[2] <= 4
    return image if fits else on_host(image)


def common_device(items: Sequence[Any], device: Any) -> torch.device | None:
    """Return the device of a batch, from the argument `device` or the images; None for the CPU."""
    own: torch.device | None = None
    for item in items:
        where = _device_of(item)
        if where is not None and where != own:
            if own is not None:
                raise ValueError(f"images should be on one device, got some on {own} and some on {where}")
            own = where
    if device is None:
        return own
    from fastaug._cuda import memory

    given = memory.as_device(device)
    if own is not None and own != given:
        raise ValueError(f"images should be on device, which is {given}, or on the CPU, got some on {own}")
    return None if given.type == "cpu" else given


def _device_of(item: Any) -> torch.device | None:
    tensor = item.tensor if isinstance(item, DeviceArray) else item
    return device_of(tensor) if isinstance(tensor, torch.Tensor) else None


def is_on_device(item: Any) -> bool:
    return _device_of(item) is not None


def refuse_single(images: Any) -> None:
    if isinstance(images, (*ENCODED, Image.Image, LazyImage, dict)) or not isinstance(images, Iterable):
        raise TypeError(f"images should be a list of images, or an array or a tensor of them, got {type(images)}")


def path_of(item: Any) -> str | None:
    if isinstance(item, LazyImage):
        return item.filename
    if isinstance(item, _C.Member):
        return members.filename(item)
    if is_entry(item):
        item = item.get("path")
    if isinstance(item, (str, os.PathLike)):
        return os.fsdecode(item)
    name = getattr(item, "filename" if isinstance(item, Image.Image) else "name", None)
    return name if isinstance(name, str) and name else None


class Rows(Sequence[Any]):
    """Images of a batch that lie in an array [N, H, W, C] of uint8, of one channel or three, by their numbers there.

    Items are PIL images.
    """

    def __init__(self, array: np.ndarray, numbers: list[int]) -> None:
        self.array = array
        self.mode = "L" if array.shape[3] == 1 else "RGB"
        self.numbers = numbers

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, position: Any) -> Any:
        pixels = self.array[self.numbers[position]]
        return Image.fromarray(pixels[..., 0] if self.mode == "L" else pixels)


class Ahead(Iterator[tuple[Any, Any, "Exception | None"]]):
    """An iterator of (item, image, error), for which the threads of a crew read `count` files ahead.

    `handle` returns the handle of an encoded image, or None for a dictionary that the pipeline does not open.
    """

    def __init__(self, items: Iterable[Any], handle: Callable[[Any], LazyImage | None], crew: Crew, count: int) -> None:
        self._items = iter(items)
        self._handle = handle
        self._crew = crew
        self._count = count
        self._more = True
        self._waiting: deque[tuple[_Reading, int | None]] = deque()

    def begin(self) -> None:
        while self._more and len(self._waiting) <= self._count:
            try:
                item = next(self._items)
            except StopIteration:
                self._more = False
                return
            reading = _Reading(item, self._handle)
            number = None
            if isinstance(item, (LazyImage, ImageFile.ImageFile)) or is_encoded(item) or is_entry(item):
                number = self._crew.push(reading.read, urgent=True, label="read")
            self._waiting.append((reading, number))

    def __next__(self) -> tuple[Any, Any, Exception | None]:
        self.begin()
        if not self._waiting:
            raise StopIteration
        reading, number = self._waiting[0]
        if number is not None:
            self._crew.wait(number)
            if not reading.done:
                reading.read()  # it was interrupted
        self._waiting.popleft()  # only now: Ctrl-C may come before it
        # No local variable for the error: if this thread read the file, the traceback leads to this frame.
        try:
            return reading.item, reading.image, reading.error
        finally:
            reading.error = None


class _Reading:
    def __init__(self, item: Any, handle: Callable[[Any], LazyImage | None]) -> None:
        self.item = self.image = item
        self.error: Exception | None = None
        self.done = False
        self._handle = handle

    def read(self) -> None:
        item = self.item
        try:
            if isinstance(item, ImageFile.ImageFile):
                item.load()
            elif (handle := item if isinstance(item, LazyImage) else self._handle(item)) is not None:
                self.image = handle.in_memory()
        except Exception as error:
            # An error of Pillow's image is raised when its pixels are used, if they are.
            if not isinstance(item, ImageFile.ImageFile):
                self.error = error
        self.done = True
