"""What a loader gives, on its way to a device."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any

import torch

from fastaug._cuda import bag
from fastaug._program import placed

if TYPE_CHECKING:
    from fastaug._cuda.memory import Device, Side


def pinned(data: Any, device: Device) -> Any:
    """Data with its tensors in memory that a device copies from by itself. Any thread may ask for it."""
    with device.current():
        return _mapped(data, lambda one: bag.pin(one.detach(), device) if _is_on_host(one) else one)


def moved(data: Any, device: Device) -> Any:
    """Data on a device, in the order of its current stream: tensors, and whatever else has a method ``to``.

    They may be in dictionaries, lists and tuples, one in the other, which keep their types.
    """

    def move(one: Any) -> Any:
        if _is_on_host(one):
            return bag.upload(one.detach(), device)
        if not isinstance(one, torch.Tensor):
            return one.to(device.device)
        return one if placed.device_of(one) == device.device else one.to(device.device, non_blocking=True)

    with device.current():
        return _mapped(data, move)


class Sent:
    """What is made on a side stream, and copied there, before it is wanted.

    Args:
        make: what makes it.
        side: the stream.
    """

    def __init__(self, make: Callable[[], Any], side: Side) -> None:
        self._side = side
        self._data: Any = None
        self._tensors: list[torch.Tensor] = []
        self._error: Exception | None = None
        try:
            with side.active():
                self._data = _mapped(make(), self._send)
                self._event = side.mark()
        except Exception as error:
            self._error = error

    def _send(self, one: Any) -> Any:
        """Anything but plain tensors is left to who receives it: torch does not say how long its memory is in use."""
        device = self._side.device
        if _is_on_host(one):
            one = bag.upload(one.detach(), device)
        elif not _is_plain(one) or placed.device_of(one) != device.device:
            return one
        self._tensors.append(one)
        return one

    def received(self) -> Any:
        """For work on the current stream.

        Raises:
            Exception: it could not be made.
        """
        error, self._error = self._error, None
        if error is not None:
            try:
                raise error
            finally:
                del error  # it holds on to this frame
        self._side.give(self._event, self._tensors)
        return moved(self._data, self._side.device)


def _is_plain(one: Any) -> bool:
    return type(one) is torch.Tensor and one.layout is torch.strided and not (one.is_quantized or one.is_nested)


def _is_on_host(one: Any) -> bool:
    return _is_plain(one) and one.device.type == "cpu" and placed.device_of(one) is None


def _mapped(data: Any, change: Callable[[Any], Any]) -> Any:
    """Data with its tensors, and what else has a method ``to``, changed; itself where none is."""
    if isinstance(data, torch.Tensor) or callable(getattr(data, "to", None)):
        return change(data)
    if isinstance(data, Mapping):
        changed = {key: _mapped(value, change) for key, value in data.items()}
        if all(changed[key] is value for key, value in data.items()):
            return data
        if isinstance(data, MutableMapping):
            # It may have more than its items, such as what a missing one is.
            mapping = copy.copy(data)
            mapping.update(changed)
            return mapping
        return _like(data, changed)
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes, bytearray)):
        parts = [_mapped(part, change) for part in data]
        if all(part is old for part, old in zip(parts, data)):
            return data
        return type(data)(*parts) if hasattr(data, "_fields") else _like(data, parts)
    return data


def _like(data: Any, changed: Any) -> Any:
    """Of its type, where that is made of such things."""
    with contextlib.suppress(TypeError):
        return type(data)(changed)
    return changed
