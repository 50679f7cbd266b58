"""The class that all tv_tensors derive from, what torch's functions do to them, and `wrap`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeVar

import torch
from torch._C import DisableTorchFunctionSubclass

_Self = TypeVar("_Self", bound="TVTensor")

# Whether every function of torch keeps the class, for the whole process.
_keeps_class = False

# What keeps the class of its first argument whatever is set: these change where and how values are kept.
_ALWAYS_KEEP = {
    torch.Tensor.clone,
    torch.Tensor.detach,
    torch.Tensor.pin_memory,
    torch.Tensor.requires_grad_,
    torch.Tensor.to,
}


class _ReturnType:
    """What `set_return_type` gives: leaving a ``with`` over it brings back what was set before the call."""

    def __init__(self, before: bool) -> None:
        self.before = before

    def __enter__(self) -> _ReturnType:
        return self

    def __exit__(self, *exception: object) -> None:
        global _keeps_class
        _keeps_class = self.before


def set_return_type(return_type: str) -> AbstractContextManager[object]:
    """Whether torch's functions return plain tensors, as they do unless told otherwise, or the class of their input.

    It holds for the whole process, all its threads, from the call on; in a ``with`` statement, until its end. What
    changes only where and how values are kept, ``clone``, ``to``, ``detach``, ``requires_grad_`` and ``pin_memory``,
    keeps the class at any time, and so do transforms.

    Args:
        return_type: "Tensor" or "TVTensor", in upper or lower case.

    Returns:
        What a ``with`` statement takes.

    Raises:
        ValueError: another ``return_type``.
        AttributeError: it is no string.

    Example:
        >>> import torch
        >>> from fastaug import tv_tensors
        >>> image = tv_tensors.Image(torch.zeros(3, 4, 5))
        >>> type(image + 1).__name__
        'Tensor'
        >>> with tv_tensors.set_return_type("TVTensor"):
        ...     type(image + 1).__name__
        'Image'
    """
    global _keeps_class
    before = _keeps_class
    name = return_type.lower()
    if name not in ("tensor", "tvtensor"):
        raise ValueError(f"return_type must be 'TVTensor' or 'Tensor', got {return_type!r}")
    _keeps_class = name == "tvtensor"
    return _ReturnType(before)


class TVTensor(torch.Tensor):
    """A tensor that says what it holds, which transforms go by. The base of the others, and of classes of your own.

    It has the values, the dtype and the memory of a tensor and works wherever one does. Functions of torch return plain
    tensors (:func:`set_return_type`), and functions that write in place leave the object what it is.

    Classes of your own derive from it, or from those below, and get their objects by ``tensor.as_subclass(Class)``. One
    that carries attributes says in a class method :meth:`wrap` how they go over to a result.

    Example:
        >>> import torch
        >>> from fastaug import tv_tensors
        >>> class Depth(tv_tensors.TVTensor):
        ...     pass
        >>> depth = torch.zeros(4, 5).as_subclass(Depth)
        >>> type(depth.to(torch.float64)).__name__, type(depth * 2).__name__
        ('Depth', 'Tensor')
    """

    @staticmethod
    def _to_tensor(
        data: Any,
        dtype: torch.dtype | None = None,
        device: torch.device | str | int | None = None,
        requires_grad: bool | None = None,
    ) -> torch.Tensor:
        """What a constructor is given, as a tensor; a tensor decides about its gradient where the caller does not."""
        if requires_grad is None:
            requires_grad = isinstance(data, torch.Tensor) and data.requires_grad
        return torch.as_tensor(data, dtype=dtype, device=device).requires_grad_(requires_grad)

    @classmethod
    def _wrap_output(cls, output: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None) -> Any:
        """The result of a function of torch with this class; that of several tensors, tensor by tensor."""
        if isinstance(output, torch.Tensor) and not isinstance(output, cls):
            output = output.as_subclass(cls)
        if isinstance(output, (tuple, list)):
            # torch's named tuples are made of one sequence, too.
            output = type(output)(cls._wrap_output(part, args, kwargs) for part in output)
        return output

    @classmethod
    def wrap(cls, tensor: torch.Tensor, like: TVTensor, **kwargs: Any) -> TVTensor:
        """A tensor as an object of this class; what :func:`wrap` calls, and what a class with attributes overrides.

        Args:
            tensor: any tensor; the result has its memory.
            like: object that attributes are taken from.
            **kwargs: attributes that differ from those of ``like``.

        Returns:
            An object of this class.
        """
        return tensor.as_subclass(cls)

    @classmethod
    def __torch_function__(
        cls,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        # torch asks every class among the arguments. One that is not derived from all the others has no answer, so that
        # an image and a mask do not mix.
        if not all(issubclass(cls, other) for other in types):
            return NotImplemented
        with DisableTorchFunctionSubclass():
            output = func(*args, **kwargs or {})
        # In `plain.to(image)` it is the second argument that brings the call here: the result stays plain.
        if _keeps_class or (func in _ALWAYS_KEEP and isinstance(args[0], cls)):
            return cls._wrap_output(output, args, kwargs)
        if isinstance(output, cls):
            # A function that writes in place has returned its argument.
            return output.as_subclass(torch.Tensor)
        return output

    def _make_repr(self, **kwargs: Any) -> str:
        """torch's text with attributes in front of the closing parenthesis."""
        attributes = ", ".join(f"{name}={value}" for name, value in kwargs.items())
        text = super().__repr__()  # type: ignore[no-untyped-call]
        return f"{text[:-1]}, {attributes})"

    # Looked up for every transform of every object: these do not go by way of `__torch_function__`.

    @property
    def shape(self) -> torch.Size:  # type: ignore[override]
        with DisableTorchFunctionSubclass():
            return super().shape

    @property
    def ndim(self) -> int:  # type: ignore[override]
        with DisableTorchFunctionSubclass():
            return super().ndim

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        with DisableTorchFunctionSubclass():
            return super().device

    @property
    def dtype(self) -> torch.dtype:  # type: ignore[override]
        with DisableTorchFunctionSubclass():
            return super().dtype

    def __deepcopy__(self: _Self, memo: dict[int, Any]) -> _Self:
        # Detached first: a copy is a leaf, and not part of the graph of what it was copied from.
        return self.detach().clone().requires_grad_(self.requires_grad)  # type: ignore[return-value]


def wrap(wrappee: torch.Tensor, *, like: Any, **kwargs: Any) -> Any:
    """A tensor as an object of the class of another, with its attributes.

    What format, canvas and clamping mode were is what they are in the result: values are not converted.

    Args:
        wrappee: tensor, whose memory the result has.
        like: object whose class and attributes the result gets. A class of your own decides by its ``wrap``.
        **kwargs: attributes that are to differ: ``format``, ``canvas_size``, ``clamping_mode``. Names that the class
            does not have are passed over.

    Returns:
        An object of the class of ``like``.

    Raises:
        ValueError: a shape or a ``clamping_mode`` that the class does not take.
        KeyError: an unknown name of a ``format``.

    Example:
        >>> import torch
        >>> from fastaug import tv_tensors
        >>> boxes = tv_tensors.BoundingBoxes([[1.0, 2.0, 3.0, 4.0]], format="XYXY", canvas_size=(10, 20))
        >>> moved = tv_tensors.wrap(boxes + 5, like=boxes, canvas_size=(20, 30))
        >>> moved.format.name, moved.canvas_size
        ('XYXY', (20, 30))
    """
    method = getattr(type(like), "wrap", None)
    return wrappee.as_subclass(type(like)) if method is None else method(wrappee, like, **kwargs)


# torch.compile is to call it as it is, as it calls torchvision's. torch.compiler.disable sets this too; it also imports
# the compiler, which takes longer than all else.
wrap._torchdynamo_disable = True  # type: ignore[attr-defined]
