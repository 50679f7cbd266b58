"""The class that all tv_tensors derive from, what torch's functions do to them, and `wrap`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeVar

import torch
from torch._C import DisableTorchFunctionSubclass

_Self = TypeVar("_Self", bound="TVTensor")

# True if every function of torch keeps the class, for the whole process.
_keeps_class = False

# These change only where and how values are stored, and always keep the class of their first argument.
_ALWAYS_KEEP = {
    torch.Tensor.clone,
    torch.Tensor.detach,
    torch.Tensor.pin_memory,
    torch.Tensor.requires_grad_,
    torch.Tensor.to,
}


class _ReturnType:
    """A context manager that restores the earlier setting of `set_return_type`."""

    def __init__(self, before: bool) -> None:
        self.before = before

    def __enter__(self) -> _ReturnType:
        return self

    def __exit__(self, *exception: object) -> None:
        global _keeps_class
        _keeps_class = self.before


def set_return_type(return_type: str) -> AbstractContextManager[object]:
    """Set whether torch's functions return plain tensors, which is the default, or the class of their input.

    It applies to all threads from the call on, or until the end of a ``with`` statement. ``clone``, ``to``, ``detach``,
    ``requires_grad_``, ``pin_memory`` and transforms always keep the class.

    Args:
        return_type: "Tensor" or "TVTensor", in upper or lower case.

    Returns:
        A context manager.

    Raises:
        ValueError: another ``return_type``.
        AttributeError: ``return_type`` is not a string.

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
    """A tensor with a class for its contents, which transforms go by. The base of the others, and of your own classes.

    It works wherever a tensor does. Functions of torch return plain tensors (:func:`set_return_type`), and functions
    that write in place leave its class unchanged.

    Objects of your own classes are made by ``tensor.as_subclass(Class)``. A class with attributes overrides the class
    method :meth:`wrap`, which copies them to a result.

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
        """Return the data of a constructor as a tensor. By default it requires a gradient if the data does."""
        if requires_grad is None:
            requires_grad = isinstance(data, torch.Tensor) and data.requires_grad
        return torch.as_tensor(data, dtype=dtype, device=device).requires_grad_(requires_grad)

    @classmethod
    def _wrap_output(cls, output: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None) -> Any:
        if isinstance(output, torch.Tensor) and not isinstance(output, cls):
            output = output.as_subclass(cls)
        if isinstance(output, (tuple, list)):
            # torch's named tuples are made of one sequence, too.
            output = type(output)(cls._wrap_output(part, args, kwargs) for part in output)
        return output

    @classmethod
    def wrap(cls, tensor: torch.Tensor, like: TVTensor, **kwargs: Any) -> TVTensor:
        """Return a tensor as an object of this class, for :func:`wrap`. Classes with attributes override it.

        Args:
            tensor: any tensor; the result shares its memory.
            like: object with the attributes.
            **kwargs: attributes that differ from those of ``like``.
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
        # torch calls this for every class among the arguments, and an image and a mask must not mix.
        if not all(issubclass(cls, other) for other in types):
            return NotImplemented
        with DisableTorchFunctionSubclass():
            output = func(*args, **kwargs or {})
        # In `plain.to(image)` it is the second argument that brings the call here: the result stays plain.
        if _keeps_class or (func in _ALWAYS_KEEP and isinstance(args[0], cls)):
            return cls._wrap_output(output, args, kwargs)
        if isinstance(output, cls):
            # A function that writes in place returned its argument.
            return output.as_subclass(torch.Tensor)
        return output

    def _make_repr(self, **kwargs: Any) -> str:
        attributes = ", ".join(f"{name}={value}" for name, value in kwargs.items())
        text = super().__repr__()  # type: ignore[no-untyped-call]
        return f"{text[:-1]}, {attributes})"

    # Transforms read these often, so they bypass `__torch_function__`.

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
        # Detached first: a copy is a leaf of the graph.
        return self.detach().clone().requires_grad_(self.requires_grad)  # type: ignore[return-value]


def wrap(wrappee: torch.Tensor, *, like: Any, **kwargs: Any) -> Any:
    """Return a tensor as an object of the class of another, with its attributes. Values are not converted.

    Args:
        wrappee: tensor; the result shares its memory.
        like: object with the class and the attributes. Its class may define ``wrap``.
        **kwargs: attributes that differ: ``format``, ``canvas_size``, ``clamping_mode``. Names that the class does not
            have are ignored.

    Returns:
        Object of the class of ``like``.

    Raises:
        ValueError: a shape or a ``clamping_mode`` that the class does not accept.
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


# torch.compile calls it as it is, like torchvision's. torch.compiler.disable would import the compiler, which is slow.
wrap._torchdynamo_disable = True  # type: ignore[attr-defined]
