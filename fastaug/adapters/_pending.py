"""Tensors that stand for images whose samples are made at the end, each in its final place.

A model's own code moves, stacks and cuts them as it does any tensors. What it does is written down; one call of the
core then makes all samples. Where it does anything that is not known here, the samples are made at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch.nn import functional as nn

from fastaug import _C
from fastaug._image.encoded import NOT_DECODED

_no_function = torch._C.DisableTorchFunctionSubclass
_CPU = torch.device("cpu")


class UnsureError(Exception):
    """The model's code writes into an image that is not made yet."""


@dataclass(slots=True)
class Blueprint:
    """How a tensor is made: the jobs that fill it, and what is the same everywhere in a part of it."""

    shape: tuple[int, ...]
    dtype: torch.dtype
    #: Program, photo, place of the first sample in bytes, arguments of the target, and those of its patches if any.
    jobs: list[tuple[bytes, Any, int, tuple[int, ...], tuple[int, ...] | None]] = field(default_factory=list)
    #: Sizes, strides, place of the first sample, and the value.
    fills: list[tuple[tuple[int, ...], tuple[int, ...], int, float]] = field(default_factory=list)

    def begin(self, out: torch.Tensor, jobs: list[Any]) -> None:
        """Fill what is the same, and append jobs for the rest."""
        for sizes, strides, first, value in self.fills:
            out.as_strided(sizes, strides, first).fill_(value)
        address = out.data_ptr()
        into: Any = _C.into_pointer
        for program, photo, first, form, patches in self.jobs:
            target = into(address + first, *form, out)
            if patches is not None:
                target = _C.into_patches(target, *patches)
            jobs.append((program, photo.borrow(), target))


def new(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    return torch.empty(shape, dtype=dtype)


@dataclass
class Call:
    """State that the tensors of one call of a processor share."""

    #: Of float results; None: float32.
    dtype: torch.dtype | None = None
    empty: Callable[[tuple[int, ...], torch.dtype], torch.Tensor] = new
    run: Callable[[list[Any]], None] = _C.run
    #: Whether samples were made before the end.
    touched: bool = False
    #: What was done natively, and what the model's own code did, if that is asked for.
    native: list[str] = field(default_factory=list)
    own: list[str] = field(default_factory=list)
    logs: bool = False


class Pending(torch.Tensor):
    """A tensor whose samples do not exist yet."""

    #: Whether the blueprint makes the tensor itself.
    whole = True

    _made: torch.Tensor | None
    _call: Call
    _shape: torch.Size
    _dtype: torch.dtype

    @staticmethod
    def _of(cls: type[Any], call: Call, shape: Sequence[int], dtype: torch.dtype) -> Any:
        made = torch.Tensor._make_wrapper_subclass(cls, shape, dtype=dtype)
        made._call, made._shape, made._dtype, made._made = call, torch.Size(shape), dtype, None
        return made

    # torch's own attributes take a detour through __torch_function__.
    @property
    def shape(self) -> torch.Size:  # type: ignore[override]
        return self._shape

    @property
    def ndim(self) -> int:  # type: ignore[override]
        return len(self._shape)

    @property
    def dtype(self) -> torch.dtype:  # type: ignore[override]
        return self._dtype

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        return _CPU

    def size(self, dim: int | None = None) -> Any:
        return self._shape if dim is None else self._shape[dim]

    def dim(self) -> int:
        return len(self._shape)

    def numel(self) -> int:
        return math.prod(self._shape)

    def is_floating_point(self) -> bool:
        return self._dtype.is_floating_point

    def __len__(self) -> int:
        return self._shape[0]

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return np.asarray(self.made().numpy(), *args, **kwargs)

    def __repr__(self, **kwargs: Any) -> str:  # type: ignore[override]
        return repr(self.made())

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.made().__reduce_ex__(protocol)  # type: ignore[no-untyped-call]

    def made(self) -> torch.Tensor:
        """Return the tensor itself."""
        if self._made is None:
            make([self], self._call, final=False)
        assert self._made is not None
        return self._made

    def blueprint(self, dtype: torch.dtype) -> Blueprint:
        """Return how the tensor is made, or what it is a view of."""
        raise NotImplementedError

    def words(self) -> list[str]:
        """Return what is done to its images."""
        raise NotImplementedError

    def stacked(self, tensors: Sequence[Any]) -> Any:
        """Return a stack of tensors of this one's class and shape, or NotImplemented."""
        return NotImplemented

    def joined(self, tensors: Sequence[Any], dim: int) -> Any:
        """Return tensors of this one's class one after the other in a dimension, or NotImplemented."""
        return NotImplemented

    def written(self, memory: torch.Tensor) -> bool:
        """Make the samples in memory of the model's own. Return False if that is not done here."""
        return False

    def settled(self, memory: torch.Tensor) -> torch.Tensor:
        """Return the tensor, given what its blueprint made."""
        return memory

    def after(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Return what one of torch's functions makes of this tensor, or NotImplemented."""
        known = getattr(self, f"_{name}", None)
        return NotImplemented if known is None else known(*args, **kwargs)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = _NAMES.get(func)
        if name is not None:
            try:
                done = _known(name, args, kwargs)
            except TypeError:  # arguments that no method here takes
                done = NotImplemented
            if done is not NotImplemented:
                return done
        called = getattr(func, "__name__", str(func))
        if called == "__get__":
            with _no_function():
                return func(*args, **kwargs)
        first = args[0] if args else None
        if isinstance(first, Pending):
            first._call.touched = True
            written = called == "__setitem__" or (called.endswith("_") and not called.endswith("__"))
            if written:
                raise UnsureError(called)
            if first._call.logs:
                first._call.own.append(f"{called} of {_described(first)}")
        elif called == "__setitem__" and type(first) is torch.Tensor and isinstance(args[2], Pending):
            with _no_function():
                part = first[args[1]]
            if part._base is first and args[2].written(part):
                return None
        with _no_function():
            return func(*_made_all(args), **_made_all(kwargs))

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        return func(*_made_all(args), **_made_all(kwargs or {}))


def _described(tensor: torch.Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')} {tuple(tensor.shape)}"


def _made_all(value: Any) -> Any:
    """Return arguments with tensors in the places of pending ones."""
    if isinstance(value, Pending):
        return value.made()
    if type(value) in (list, tuple):
        return type(value)(_made_all(one) for one in value)
    if type(value) is dict:
        return {key: _made_all(one) for key, one in value.items()}
    return value


def _stack(tensors: Any, dim: int = 0) -> Any:
    first = tensors[0]
    alike = all(type(one) is type(first) and one.shape == first.shape and one.dtype is first.dtype for one in tensors)
    return first.stacked(tensors) if dim == 0 and alike and isinstance(first, Pending) else NotImplemented


def _cat(tensors: Any, dim: int = 0) -> Any:
    first = tensors[0]
    if not isinstance(first, Pending) or not 0 <= dim < first.ndim:
        return NotImplemented

    def others(tensor: Any) -> Any:
        return tensor.shape[:dim], tensor.shape[dim + 1 :], tensor.dtype

    alike = all(type(one) is type(first) and others(one) == others(first) for one in tensors)
    return first.joined(tensors, dim) if alike else NotImplemented


def _like(make: Any) -> Any:
    def like(tensor: Any, dtype: torch.dtype | None = None) -> torch.Tensor:
        made: torch.Tensor = make(tensor.shape, dtype=dtype or tensor.dtype)
        return made

    return like


#: Functions of several tensors, or that need no samples.
_FREE = {
    "stack": _stack,
    "cat": _cat,
    "zeros_like": _like(torch.zeros),
    "ones_like": _like(torch.ones),
}

_METHODS = ("to", "float", "cpu", "detach", "contiguous", "clone", "stride", "is_contiguous", "mul", "sub", "div") + (
    "div_",
    "transpose",
    "unfold",
    "repeat",
)

#: What is known here of torch's functions: names in _FREE, and methods of pending tensors, after an underscore.
_NAMES: dict[Any, str] = {
    torch.stack: "stack",
    torch.cat: "cat",
    torch.concat: "cat",
    torch.zeros_like: "zeros_like",
    torch.ones_like: "ones_like",
    nn.pad: "pad",
    nn.interpolate: "interpolate",
    **{getattr(torch.Tensor, name): name for name in _METHODS},
}


def _known(name: str, args: Any, kwargs: Any) -> Any:
    free = _FREE.get(name)
    if free is not None:
        return free(*args, **kwargs)
    first, *rest = args
    return first.after(name, *rest, **kwargs) if isinstance(first, Pending) else NotImplemented


def make(tensors: Sequence[Pending], call: Call, final: bool = True) -> None:
    """Make the samples of tensors, all in one call of the core."""
    call.touched = call.touched or not final
    left = [one for one in tensors if one._made is None]
    prints = [one.blueprint(dtype_of(one, call) if final else one._dtype) for one in left]
    # A view may need a copy, so it is not made in memory for results.
    empties = [call.empty if final and one.whole else new for one in left]
    memory = [empty(one.shape, one.dtype) for one, empty in zip(prints, empties)]
    fill(prints, memory, call)
    for one, made in zip(left, memory):
        one._made = one.settled(made)
        if call.logs:
            call.native.append(f"{_described(one)}: {', '.join(one.words()) or 'copy'}")


def dtype_of(tensor: Pending, call: Call) -> torch.dtype:
    """Return the dtype of a result."""
    return call.dtype if call.dtype is not None and tensor._dtype is torch.float32 else tensor._dtype


def fill(prints: Sequence[Blueprint], memory: Sequence[torch.Tensor], call: Call) -> None:
    """Fill tensors as their blueprints say, in one call of the core."""
    for attempt in range(2):
        jobs: list[Any] = []
        for one, out in zip(prints, memory):
            one.begin(out, jobs)
        try:
            call.run(jobs)
            return
        except NOT_DECODED:
            loaded = [photo.load() for one in prints for _, photo, *_ in one.jobs]
            if attempt or not any(loaded):
                raise


def pending_in(value: Any) -> list[Pending]:
    """Return the pending tensors of a nested result."""
    if isinstance(value, Pending):
        return [value]
    if type(value) in (list, tuple):
        return [one for part in value for one in pending_in(part)]
    if hasattr(value, "items"):
        return [one for part in value.values() for one in pending_in(part)]
    return []


def settled(value: Any, pending: tuple[type, ...]) -> Any:
    """Return a nested result with what pending objects of these classes stand for."""
    if isinstance(value, pending):
        return value.made()  # type: ignore[attr-defined]
    if type(value) in (list, tuple):
        return type(value)(settled(part, pending) for part in value)
    if hasattr(value, "items"):
        for key, part in value.items():
            value[key] = settled(part, pending)
    return value
