"""The one rule for patched classes: a transform is drafted only while it is as its class was written.

Users and their tests replace methods of classes, hang hooks onto modules, and set methods of single objects. Such a
transform is called with an image instead. The core answers for each transform of each call (csrc/bind/written.cpp).
Python renews the version tag of a class at every change, so the core compares methods only after a change.

Recipes follow the same tags (csrc/bind/guard.cpp). Replaced functions are the subject of `replaced`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn
from torch.nn.modules import module as _module

from fastaug import _C

# The methods that decide what a call does, of transforms of images and of samples.
_METHODS = (
    "forward",
    "__call__",
    "_apply_image_or_video_transform",
    "_call_kernel",
    "_flatten_and_extract_image_or_video",
    "_needs_transform_list",
    "_sample_dirichlet",
    "_unflatten_and_insert_image_or_video",
    "check_inputs",
    "make_params",
    "transform",
)

#: The hooks of a module that get what it is called with.
CALL_HOOKS = ("_forward_hooks", "_forward_pre_hooks")

#: All hooks of a module.
HOOKS = (*CALL_HOOKS, "_backward_hooks", "_backward_pre_hooks")

#: Hooks on all modules. torch changes these dictionaries in place.
global_hooks, global_pre_hooks = _module._global_forward_hooks, _module._global_forward_pre_hooks

# The methods of classes as they were written.
_written: dict[type, dict[str, Any]] = {}


def note(cls: type) -> dict[str, Any]:
    """Return the methods of a class as it was written. Call this before user code can replace them."""
    if cls not in _written:
        _written[cls] = {name: getattr(cls, name) for name in _METHODS if hasattr(cls, name)}
    return _written[cls]


def check_of(cls: type, known: type, *further: str) -> Callable[[Any], bool]:
    """Return a function that checks that an object of a class does what a class of this package was written to do.

    Args:
        cls: the class, which may be derived from the known one.
        known: a class of this package, or nn.Sequential.
        further: attributes that objects must not have themselves, besides the methods.
    """
    methods = note(known)
    hooks = CALL_HOOKS if issubclass(cls, nn.Module) else ()
    check: Callable[[Any], bool] = _C.as_written(
        cls, tuple(methods), tuple(methods.values()), (*methods, *further), hooks
    )
    return check


def other_methods(cls: type, known: type) -> list[str]:
    """Return the names of the methods in which a class differs from a known one as it was written."""
    return [name for name, value in note(known).items() if getattr(cls, name) != value]


def has_hooks(transform: Any) -> bool:
    own = getattr(transform, "__dict__", {})
    return any(own.get(hooks) for hooks in HOOKS)
