"""The data of a loader on its way to a device."""

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
    """Return data with its tensors in pinned memory, in any thread."""
    with device.current():
        return _mapped(data, lambda one: bag.pin(one.detach(), device) if _is_on_host(one) else one)


def moved(data: Any, device: Device) -> Any:
    """Move data to a device on its current stream: tensors, and all objects with a method ``to``.

    Nested dictionaries, lists and tuples keep their types.
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
    """Data that `make` makes on a side stream, and that is copied there ahead."""

    def __init__(self, make: Callable[[], Any], side: Side) -> None:
        self._side = side
        self._data: Any = None
        self._tensors: list[torch.Tensor] = []
        self._errors: list[Exception] = []
        try:
            with side.active():
                self._data = _mapped(make(), self._send)
                self._event = side.mark()
        except Exception as error:
            self._errors.append(error)

    def _send(self, one: Any) -> Any:
        """Send plain tensors only, because torch does not say how long the memory of others is in use."""
        device = self._side.device
        if _is_on_host(one):
            one = bag.upload(one.detach(), device)
        elif not _is_plain(one) or placed.device_of(one) != device.device:
            return one
        self._tensors.append(one)
        return one

    def received(self) -> Any:
        if self._errors:
            raise self._errors.pop()  # forgotten, because its frames lead back to this object
        self._side.give(self._event, self._tensors)
        return moved(self._data, self._side.device)


def _is_plain(one: Any) -> bool:
    return type(one) is torch.Tensor and one.layout is torch.strided and not (one.is_quantized or one.is_nested)


def _is_on_host(one: Any) -> bool:
    return _is_plain(one) and one.device.type == "cpu" and placed.device_of(one) is None


def _mapped(data: Any, change: Callable[[Any], Any]) -> Any:
    """Change the tensors and other objects with ``to`` in data. Return the same object if none changes."""
    if isinstance(data, torch.Tensor) or callable(getattr(data, "to", None)):
        return change(data)
    if isinstance(data, Mapping):
        changed = {key: _mapped(value, change) for key, value in data.items()}
        if all(changed[key] is value for key, value in data.items()):
            return data
        if isinstance(data, MutableMapping):
            # It may have more than its items, such as a default.
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
    with contextlib.suppress(TypeError):
        return type(data)(changed)
    return changed
