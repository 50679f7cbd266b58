"""The registry of kernels by functionals and types of inputs, and kernels for tensors and images made of drafts."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import PIL.Image
import torch

from fastaug._draft.leaf import ImageDraft, Leaf
from fastaug._image.lazy import LazyImage
from fastaug._image.types import FunctionT
from fastaug._program.ops import MAX_OPS
from fastaug._tv_tensors.choice import chosen, is_tv_tensor, loaded

__all__: list[str] = ["is_pure_tensor", "register_kernel"]

_Kernel = Callable[..., Any]
_Function = TypeVar("_Function", bound=Callable[..., Any])

#: The classes of tv_tensors. Kernels are registered by these names before the classes exist.
_TV_NAMES = ("Image", "Video", "Mask", "BoundingBoxes", "KeyPoints")

_THEIRS = "torchvision.transforms.v2.functional"
_OURS = "fastaug.transforms.v2.functional"

#: The kernels of each functional, by the type of its first argument.
_KERNEL_REGISTRY: dict[Callable[..., Any], dict[Any, _Kernel]] = {}

# The kernels for classes of tv_tensors, until the classes exist.
_awaiting: list[tuple[Callable[..., Any], str, _Kernel]] = []

# A draft with more ops runs them before it goes on: a program stays below the native core's limit.
_MOST_OPS = MAX_OPS // 2

#: Of each functional the kernels that were looked up before, for types that no user registers kernels for. None: there
#: is none.
found: dict[Callable[..., Any], dict[type, _Kernel | None]] = {}


def is_pure_tensor(inpt: Any) -> bool:
    """Return whether ``inpt``, which can be anything, is a tensor but not a tv_tensor.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.is_pure_tensor(torch.zeros(3))
        True
    """
    if isinstance(inpt, Leaf):
        return inpt.type is torch.Tensor
    return isinstance(inpt, torch.Tensor) and not is_tv_tensor(inpt)


def registered(
    functional: Callable[..., Any], *types: type | str, wrapped: bool = True, asks: bool = False
) -> Callable[[_Function], _Function]:
    """Register a kernel of a functional. The decorator returns the kernel itself.

    Args:
        types: the types of the first argument; classes of tv_tensors by their names. Kernels for drafts return nothing,
            or another draft.
        wrapped: whether kernels for tv_tensors get and return plain tensors.
        asks: whether the kernel returns an answer instead of a changed input.
    """
    registry = _KERNEL_REGISTRY.setdefault(functional, {})

    def register(kernel: _Function) -> _Function:
        if kernel.__doc__ is None:
            kernel.__doc__ = f"The kernel of :func:`{functional.__name__}` for inputs of its type."
        for cls in types:
            if isinstance(cls, str):
                assert cls in _TV_NAMES, cls
                _awaiting.append((functional, cls, _wrapping(kernel) if wrapped and not asks else kernel))
            elif issubclass(cls, Leaf):
                registry[cls] = kernel if asks else _touching(kernel)
            else:
                registry[cls] = kernel
        return kernel

    return register


def _same(inpt: Any, *args: Any, **kwargs: Any) -> Any:
    """Stand in for a kernel where a transform finds none."""
    return inpt


def _touching(kernel: _Kernel) -> _Kernel:
    """Make a kernel for the registry of a kernel of drafts: it returns the draft."""

    @functools.wraps(kernel)
    def drafted(draft: Any, *args: Any, **kwargs: Any) -> Any:
        other = kernel(draft, *args, **kwargs)
        if other is not None:
            return other
        draft.touched = True
        if draft.count > _MOST_OPS:
            draft.shorten()
        return draft

    return drafted


def _wrapping(kernel: _Kernel) -> _Kernel:
    """Make a kernel for tv_tensors of one for plain tensors."""

    @functools.wraps(kernel)
    def wrapper(inpt: Any, *args: Any, **kwargs: Any) -> Any:
        return chosen().wrap(kernel(inpt.as_subclass(torch.Tensor), *args, **kwargs), like=inpt)

    return wrapper


def done(image: Any, kernel: _Kernel, **arguments: Any) -> Any:
    """Return a PIL image or plain tensor as a kernel of drafts changes it."""
    draft = ImageDraft(image)
    kernel(draft, **arguments)
    return draft.finish()


def converted(inpt: Any, convert: Callable[[Any], None]) -> Any:
    """Return an input as a conversion of drafts changes it; a draft itself."""
    draft: Any = inpt if isinstance(inpt, Leaf) else ImageDraft(inpt)
    convert(draft)
    draft.touched = True
    return draft if draft is inpt else draft.finish()


def _bind() -> Any:
    """Register the kernels that wait for tv_tensors, and return the module of their classes, if they exist by now."""
    classes = loaded()
    if classes is not None and _awaiting:
        for functional, name, kernel in _awaiting:
            # Older torchvisions do not have KeyPoints.
            if hasattr(classes, name):
                _KERNEL_REGISTRY[functional][getattr(classes, name)] = kernel
        _awaiting.clear()
        for known in found.values():
            known.clear()
    return classes


def _own(functional: Callable[..., Any]) -> Callable[..., Any]:
    """Return the functional of this package for one of torchvision's or ours."""
    if functional in _KERNEL_REGISTRY:
        return functional
    if getattr(functional, "__module__", "").startswith(_THEIRS):
        ours = getattr(sys.modules[_OURS], functional.__name__, None)
        if ours in _KERNEL_REGISTRY:
            own: Callable[..., Any] = ours
            return own
    raise ValueError(f"No kernel registered for functional {getattr(functional, '__name__', functional)}.")


def _theirs(functional: Callable[..., Any]) -> dict[Any, _Kernel]:
    """Return the kernels that torchvision has for the functional of this name."""
    utils = sys.modules.get(f"{_THEIRS}._utils")
    if utils is None:
        return {}
    function = getattr(sys.modules[_THEIRS], functional.__name__, None)
    kernels: dict[Any, _Kernel] = utils._KERNEL_REGISTRY.get(function, {})
    return kernels


def _get_kernel(functional: FunctionT, input_type: type, *, allow_passthrough: bool = False) -> FunctionT:
    """Return the kernel of a functional for a type.

    Raises:
        TypeError: there is no kernel, and `allow_passthrough` is false.
        ValueError: the function has no kernels at all.
    """
    try:
        kernel = found[functional][input_type]
    except KeyError:
        kernel = _look_up(functional, input_type)
    if kernel is None:
        if allow_passthrough:
            return _same  # type: ignore[return-value]
        known = [cls.__name__ for cls in _KERNEL_REGISTRY[_own(functional)] if not issubclass(cls, Leaf)]
        raise TypeError(
            f"Functional F.{functional.__name__} supports inputs of type {', '.join(known)}, but got {input_type}"
        )
    return kernel  # type: ignore[return-value]


def _look_up(functional: Callable[..., Any], input_type: type) -> _Kernel | None:
    functional = _own(functional)
    classes = _bind()
    builtin = () if classes is None else tuple(getattr(classes, name, None) for name in _TV_NAMES)
    registry = _KERNEL_REGISTRY[functional]
    theirs: dict[Any, _Kernel] = {}
    users = classes is not None and issubclass(input_type, classes.TVTensor) and input_type not in builtin
    if users:
        theirs = _theirs(functional)
    kernel = None
    for cls in PIL.Image.Image.__mro__ if input_type is LazyImage else input_type.__mro__:
        if cls in registry:
            kernel = registry[cls]
        elif cls in theirs and cls not in builtin:
            kernel = theirs[cls]
        elif classes is None or cls is not classes.TVTensor:
            continue
        break
    if not users:
        found.setdefault(functional, {})[input_type] = kernel
    return kernel


def register_kernel(functional: Callable[..., Any] | str, tv_tensor_cls: type) -> Callable[[_Kernel], _Kernel]:
    """Decorate a function as the kernel of a functional for your own class of tv_tensors.

    The function gets the object, and returns the result. Kernels registered with torchvision are called too.

    Args:
        functional: function of ``v2.functional``, or its name.
        tv_tensor_cls: subclass of ``TVTensor``.

    Raises:
        ValueError: unknown functional, or a class that is not a subclass, is torchvision's own, or has a kernel.

    Example:
        >>> import torch
        >>> from fastaug import tv_tensors
        >>> from fastaug.transforms import v2
        >>> class Label(tv_tensors.TVTensor):
        ...     pass
        >>> @v2.functional.register_kernel("horizontal_flip", Label)
        ... def flip_label(label):
        ...     return tv_tensors.wrap(-label, like=label)
        >>> v2.functional.horizontal_flip(torch.ones(1).as_subclass(Label))
        Label([-1.])
    """
    given: Any = functional
    if isinstance(given, str):
        named = getattr(sys.modules[_OURS], given, None)
        if named is None:
            raise ValueError(f"Could not find functional with name '{given}' in {_OURS}.")
        given = named
    elif not (callable(given) and getattr(given, "__module__", "").startswith((_OURS, _THEIRS))):
        raise ValueError(f"Kernels can only be registered on functionals from {_OURS} or {_THEIRS}, got {given}.")
    classes: Any = chosen()
    cls: Any = tv_tensor_cls
    if not (isinstance(cls, type) and issubclass(cls, classes.TVTensor)):
        raise ValueError(f"Kernels can only be registered for subclasses of TVTensor, but got {tv_tensor_cls}.")
    if tv_tensor_cls in [getattr(classes, name, None) for name in (*_TV_NAMES, "TVTensor")]:
        raise ValueError(f"Kernels cannot be registered for the builtin tv_tensor classes, but got {tv_tensor_cls}")
    _bind()
    registry = _KERNEL_REGISTRY.setdefault(_own(given), {})
    if tv_tensor_cls in registry:
        raise ValueError(f"Functional {given} already has a kernel registered for type {tv_tensor_cls}.")

    def register(kernel: _Kernel) -> _Kernel:
        registry[tv_tensor_cls] = kernel
        return kernel

    return register
