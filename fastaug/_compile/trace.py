"""Look into objects that call transforms in turn or once per view: presets, wrappers, lists of views.

The function of the object runs once, with symbols for the image and the transforms. That describes every call only if
nothing else decides it. So the code may read attributes of the object, call transforms with the image or with results,
loop, and build lists, tuples and dictionaries. Code that reads the image, draws, writes to the object, or comes to a
global except a few builtins is unclear.
"""

from __future__ import annotations

import builtins
import dis
import functools
import inspect
import operator
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from types import CodeType, FunctionType, MethodType
from typing import Any

import numpy as np
from torch import nn

from fastaug._compile import registry
from fastaug._draft.written import has_hooks
from fastaug._own import original_of
from fastaug._views.program import Value, built

#: Builtins whose results depend on their arguments alone, and that do not look at symbols.
_PURE = {"dict", "enumerate", "len", "list", "max", "min", "range", "reversed", "sum", "tuple", "zip"}

# Instructions that change more than the code's own variables, match patterns, or run only if a transform raises.
_EFFECTS = {
    "DELETE_ATTR",
    "DELETE_GLOBAL",
    "DELETE_NAME",
    "IMPORT_FROM",
    "IMPORT_NAME",
    "LOAD_BUILD_CLASS",
    "MATCH_CLASS",
    "MATCH_KEYS",
    "MATCH_MAPPING",
    "MATCH_SEQUENCE",
    "PUSH_EXC_INFO",
    "SETUP_FINALLY",
    "SETUP_WITH",
    "STORE_ATTR",
    "STORE_GLOBAL",
    "STORE_NAME",
}

_SUSPENDED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR

# The most calls of transforms: more than any object makes, except in an endless loop.
_MOST_CALLS = 1000

# The most calls that are tried one by one with a result of None.
_MOST_NOTHING = 32


@dataclass
class Traced:
    """The calls that an object makes for an image.

    Attributes:
        calls: each transform in order, with the number of its input and the number of its result.
        result: lists, tuples and dictionaries of values, which stand for images, and of constants. Value 0 is the
            input, and each call makes another.
        inputs: number of arguments: one, or several that are passed on together, such as an image and its boxes.
        optional: whether it has optional arguments.
        told: whether this comes from a registered reader instead of its code.
    """

    calls: list[tuple[Any, int, int]]
    result: Any
    inputs: int
    optional: bool = False
    told: bool = False

    @property
    def chain(self) -> list[Any] | None:
        """The transforms, if each gets the result of the one before and the last result is returned."""
        linear = all(source == number for number, (_, source, _) in enumerate(self.calls))
        return [call[0] for call in self.calls] if linear and self.result == Value(len(self.calls)) else None


_ABSENT: Any = object()


class _Unclear(Exception):
    """The calls of an object are unclear, for the reason in the message."""


def inside(transform: Any) -> Traced | None:
    """Return the calls of a transform of an unknown class, from its reader or its code, or None if unclear."""
    made = registry.read(transform)
    if made is None:
        return traced(transform)
    return Traced([(one, number, number + 1) for number, one in enumerate(made)], Value(len(made)), 1, told=True)


def traced(transform: Any) -> Traced | None:
    """Return the calls that an object's code makes, or None if it is unclear or calls no transform."""
    try:
        return _traced(transform)
    except _Unclear:
        return None


def _traced(transform: Any) -> Traced:
    cls: Any = type(transform)
    function = inspect.getattr_static(cls, "forward" if isinstance(transform, nn.Module) else "__call__", None)
    if not isinstance(function, FunctionType) or not _is_plain(transform):
        raise _Unclear("what calling it does is not a function of its class")
    count, optional = _required(function)
    calls, result = _run(transform, function, count)
    if not calls:
        raise _Unclear("it calls no transform")
    # A transform may return None, which code can test without touching the result.
    numbers = [call[2] for call in calls]
    for nothing in (numbers, *([number] for number in numbers[:_MOST_NOTHING])):
        others, other = _run(transform, function, count, frozenset(nothing))
        expected = [(one, None if source in nothing else source, value) for one, source, value in calls]
        same = len(others) == len(calls) and all(
            one is two and source == where for (one, source, _), (two, where, _) in zip(others, expected)
        )
        if not same or other != built(result, [None if n in nothing else Value(n) for n in range(len(calls) + 1)]):
            raise _Unclear("it asks whether a transform gives None")
    return Traced(calls, result, count, optional)


def _run(
    transform: Any, function: FunctionType, count: int, nothing: frozenset[int] = frozenset()
) -> tuple[list[tuple[Any, Any, int]], Any]:
    """Return the calls and the result if the calls of the given numbers give None."""
    recording = _Recording(count, nothing)
    try:
        result = _checked(function)(_Shadow(recording, transform), *recording.inputs)
    except _Unclear:
        raise
    except Exception as error:
        raise _Unclear(f"it raised {type(error).__name__}") from None
    recording.check()
    return recording.calls, recording.read(result)


def _required(function: FunctionType) -> tuple[int, bool]:
    """Return the number of required arguments of a method, and whether it has others, which needs exactly one."""
    code, optional = function.__code__, len(function.__defaults__ or ())
    count = code.co_argcount - optional - 1
    more = bool(optional or code.co_kwonlyargcount or code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS))
    if count != 1 and (more or count < 1):
        raise _Unclear("it does not say what it is called with")
    return count, more


def _is_plain(transform: Any) -> bool:
    """Return whether a call of an object only calls the function of its class."""
    cls: Any = type(transform)
    own = getattr(transform, "__dict__", None)
    if own is None or {"__call__", "forward"} & own.keys() or own.get("_compiled_call_impl") is not None:
        return False
    if "__getattr__" in vars(cls) or cls.__getattribute__ is not object.__getattribute__:
        return False
    if isinstance(transform, nn.Module):
        return original_of(cls.__call__) is nn.Module.__call__ and not has_hooks(transform)
    return True


def _checked(function: FunctionType) -> FunctionType:
    """Return a function of the same code that depends on its arguments alone.

    Raises:
        _Unclear: the code may depend on something else.
    """
    if hasattr(function, "__wrapped__") or function.__closure__:
        raise _Unclear("its function is made of another one")
    if function.__code__.co_flags & _SUSPENDED:
        raise _Unclear("it is a generator")
    if not all(map(_is_constant, (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()))):
        raise _Unclear("what it has for arguments that nobody gives may change")
    if (why := _unclear(function.__code__)) is not None:
        raise _Unclear(why)
    checked = FunctionType(function.__code__, _globals(function.__globals__), function.__name__, function.__defaults__)
    checked.__kwdefaults__ = function.__kwdefaults__
    return checked


def _is_constant(value: Any) -> bool:
    """Return whether a value is immutable, so that code can use it without effects."""
    if type(value) is tuple:
        return all(map(_is_constant, value))
    return value is None or type(value) in (bool, int, float, str, bytes) or isinstance(value, (Enum, np.generic))


def _is_pythons(name: str) -> bool:
    """Return whether an attribute is one of Python's own, which lead to classes, hashes and more."""
    return name.startswith("__") and name.endswith("__")


def _globals(names: dict[str, Any]) -> dict[str, Any]:
    """Return all globals of a run, given those of the code: builtins that it does not hide.

    Others have no value, so that the code raises a NameError where it comes to them. In branches that it does not take
    for the present attributes, they do not count.
    """
    return {"__builtins__": {name: getattr(builtins, name) for name in _PURE if name not in names}}


@functools.lru_cache(maxsize=256)
def _unclear(code: CodeType) -> str | None:
    """Return why the instructions of code may do more than call transforms, in words, or None."""
    before = None
    for instruction in dis.get_instructions(code):
        if instruction.opname in _EFFECTS:
            return "it does more than call transforms"
        none = before is not None and before.opname == "LOAD_CONST" and before.argval is None
        if instruction.opname == "IS_OP" and not none:
            # Comparing with None is clear, but a transform may return its own input.
            return "it asks what an image is"
        before = instruction
        if instruction.opname in ("LOAD_ATTR", "LOAD_METHOD") and _is_pythons(instruction.argval):
            return f"it uses {instruction.argval}"
    # Inner functions and comprehensions.
    inner = (_unclear(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return next((why for why in inner if why is not None), None)


class _Recording:
    """A record of calls, with symbols for images."""

    def __init__(self, inputs: int, nothing: frozenset[int] = frozenset()) -> None:
        self.inputs = [_Symbol(self, 0) for _ in range(inputs)]
        self.calls: list[tuple[Any, Any, int]] = []
        self._nothing = nothing
        self.unclear: str | None = None
        self._held: list[tuple[Any, Any]] = []

    def fail(self, why: str) -> _Unclear:
        """Record that the code is unclear, even if it catches the error, and return that."""
        self.unclear = self.unclear or why
        return _Unclear(why)

    def call(self, transform: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        whole = len(arguments) == len(self.inputs) and all(map(operator.is_, arguments, self.inputs))
        one = arguments[0] if len(arguments) == 1 else None
        made_none = len(arguments) == 1 and one is None and bool(self._nothing)
        if named or not (whole or type(one) is _Symbol or made_none):
            raise self.fail("it calls a transform with something else than an image")
        if len(self.calls) == _MOST_CALLS:
            raise self.fail("it calls very many transforms")
        source = None if made_none else object.__getattribute__(arguments[0], "index")
        if source == 0 and not whole:
            raise self.fail("it takes its arguments apart")
        self.calls.append((transform, source, len(self.calls) + 1))
        return None if len(self.calls) in self._nothing else _Symbol(self, len(self.calls))

    def attribute(self, owner: Any, name: str) -> Any:
        """Return the present value of an attribute that is not computed."""
        own = getattr(owner, "__dict__", {})
        found = inspect.getattr_static(type(owner), name, _ABSENT)
        if name in own and not hasattr(type(found), "__set__"):
            return self.wrapped(own[name])
        # Python looks for modules last.
        if found is _ABSENT and name in (modules := own.get("_modules") or {}):
            return self.wrapped(modules[name])
        if found is _ABSENT or hasattr(type(found), "__get__"):
            raise self.fail(f"it uses {name}, which is computed")
        return self.wrapped(found)

    def wrapped(self, value: Any) -> Any:
        """Return an attribute for the code: constants, copies of containers, or recorders of callables."""
        if type(value) is not tuple and _is_constant(value):
            return value
        cls = type(value)
        if cls in (list, tuple) or cls is nn.ModuleList:
            return self._hold((tuple if cls is tuple else list)(map(self.wrapped, value)))
        if cls is dict or cls is nn.ModuleDict:
            return self._hold({key: self.wrapped(one) for key, one in value.items()})
        if callable(value) and not isinstance(value, type):
            return _Recorder(self, value)
        raise self.fail(f"it uses an attribute of type {cls.__name__}")

    def _hold(self, copy: Any) -> Any:
        """Keep a copy with its parts, so that `check` finds writes."""
        self._held.append((copy, _parts(copy)))
        return copy

    def check(self) -> None:
        """Raise `_Unclear` if the code did something unclear."""
        for copy, before in self._held:
            now = _parts(copy)
            if len(now) != len(before) or any(one is not other for one, other in zip(now, before)):
                self.fail("it writes to what it holds")
        if self.unclear is not None:
            raise _Unclear(self.unclear)

    def read(self, result: Any) -> Any:
        """Return the code's result with values instead of symbols."""
        cls = type(result)
        if cls is _Symbol:
            index = object.__getattribute__(result, "index")
            if not index and len(self.inputs) > 1:
                raise _Unclear("it takes its arguments apart")
            return Value(index)
        if cls in (list, tuple):
            return cls(map(self.read, result))
        if cls is dict:
            return {key: self.read(value) for key, value in result.items()}
        if _is_constant(result) and not isinstance(result, (Enum, np.generic)):
            return result
        raise _Unclear(f"it returns a {cls.__name__}")


def _parts(container: Any) -> list[Any]:
    return [part for pair in container.items() for part in pair] if isinstance(container, dict) else list(container)


def _untouchable(cls: type) -> type:
    """Make every operator and protocol of Python on objects of the class fail their recording."""

    def refused(name: str) -> Callable[..., Any]:
        def method(self: Any, *arguments: Any) -> Any:
            raise object.__getattribute__(self, "recording").fail(f"it uses {name} of an image, a transform or itself")

        return method

    for name in (
        *("__bool__", "__len__", "__iter__", "__contains__", "__getitem__", "__setitem__", "__delitem__"),
        *("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__", "__repr__", "__str__", "__format__"),
        *("__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__truediv__", "__rtruediv__"),
        *("__floordiv__", "__mod__", "__pow__", "__matmul__", "__and__", "__or__", "__xor__", "__neg__", "__pos__"),
        *("__invert__", "__abs__", "__int__", "__float__", "__index__", "__enter__", "__exit__", "__next__"),
        *("__iadd__", "__setattr__", "__delattr__"),
    ):
        setattr(cls, name, refused(name))
    return cls


@_untouchable
class _Symbol:
    """An image that code may only pass on."""

    __slots__ = ("index", "recording")

    def __init__(self, recording: _Recording, index: int) -> None:
        object.__setattr__(self, "recording", recording)
        object.__setattr__(self, "index", index)

    def __getattribute__(self, name: str) -> Any:
        raise object.__getattribute__(self, "recording").fail(f"it uses {name} of an image")


@_untouchable
class _Substitute:
    """A substitute for a transform or the object."""

    __slots__ = ("original", "recording")

    def __init__(self, recording: _Recording, original: Any) -> None:
        object.__setattr__(self, "recording", recording)
        object.__setattr__(self, "original", original)


class _Recorder(_Substitute):
    """A substitute for a transform that records calls and returns present attributes."""

    __slots__ = ()

    def __getattribute__(self, name: str) -> Any:
        recording: _Recording = object.__getattribute__(self, "recording")
        return recording.attribute(object.__getattribute__(self, "original"), name)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        recording: _Recording = object.__getattribute__(self, "recording")
        return recording.call(object.__getattribute__(self, "original"), arguments, named)


class _Shadow(_Substitute):
    """A substitute for the object, with its present attributes and its checked methods."""

    __slots__ = ()

    def __getattribute__(self, name: str) -> Any:
        recording: _Recording = object.__getattribute__(self, "recording")
        original = object.__getattribute__(self, "original")
        found = inspect.getattr_static(type(original), name, None)
        own = getattr(original, "__dict__", {})
        if not isinstance(found, FunctionType) or name in own:
            return recording.attribute(original, name)
        try:
            return MethodType(_checked(found), self)
        except _Unclear as error:
            raise recording.fail(str(error)) from None

    def __call__(self, *arguments: Any) -> Any:
        raise object.__getattribute__(self, "recording").fail("it calls itself")
