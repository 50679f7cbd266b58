"""Check that another package's code is the code that a reader was written for.

A digest identifies the behaviour of a class or a function. It covers its syntax tree, without docstrings, annotations
and ``__repr__``, and the functions and classes of the same package that it names. It is the same on every version of
Python. It differs if a release changes any of this, or if user code replaces one of these functions.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import textwrap
from collections.abc import Iterator, Mapping, Set
from types import CodeType, FunctionType, ModuleType
from typing import Any

from fastaug._draft.recognise import replaced_function

# Fields of syntax trees that do not affect behaviour, or that some versions of Python lack.
_SILENT = {"annotation", "ctx", "kind", "returns", "type_comment", "type_ignores", "type_params"}

_TORCHVISION = "torchvision.transforms.functional"


class Known:
    """The classes and functions that a reader supports, by their names and the digests of several releases."""

    def __init__(self, digests: Mapping[str, Set[str]]) -> None:
        self._digests = digests

    def has(self, thing: Any) -> bool:
        """Return True if a class or function is one of these, with none of its parts replaced."""
        known = self._digests.get(getattr(thing, "__qualname__", ""))
        return known is not None and digest(thing) in known

    def made(self, transform: Any) -> bool:
        """Return True if an object is of one of these classes and has no methods of its own."""
        cls = type(transform)
        return self.has(cls) and not any(callable(getattr(cls, name, None)) for name in vars(transform))


def digest(thing: Any) -> str | None:
    """Return 16 digits for the behaviour of a class or function, or None if that cannot be read."""
    try:
        text = "\n".join(_described(thing, set()))
    except _Unclear:
        return None
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class _Unclear(Exception):
    """The source is missing, or is not the code that is called."""


def _described(thing: Any, seen: set[str]) -> Iterator[str]:
    """Yield the text of a class or function and of those of its package that it names, each once."""
    name = f"{thing.__module__}.{thing.__qualname__}"
    if name in seen:
        return
    seen.add(name)
    yield name
    if isinstance(thing, FunctionType):
        yield from _described_function(thing, seen)
        return
    yield from (f"{base.__module__}.{base.__qualname__}" for base in thing.__bases__)
    for member, value in sorted(vars(thing).items()):
        functions = [value.fget, value.fset] if isinstance(value, property) else [getattr(value, "__func__", value)]
        # Python and copyreg add members that do not affect behaviour.
        noted = member.startswith("__") and not isinstance(functions[0], FunctionType)
        if noted or member == "__repr__":
            continue
        yield member
        for function in functions:
            if isinstance(function, FunctionType):
                if function.__module__ != thing.__module__:
                    raise _Unclear(f"{name}.{member} comes from elsewhere")
                yield from _described_function(function, seen)
            else:
                yield repr(function)


def _described_function(function: FunctionType, seen: set[str]) -> Iterator[str]:
    if hasattr(function, "__wrapped__") or function.__code__.co_freevars not in ((), ("__class__",)):
        raise _Unclear(f"{function.__qualname__} is made of another function")
    # The file is part of the key, because equal code in two files may have different defaults.
    text, names, attributes = _read(function.__code__, function.__code__.co_filename)
    yield text
    package = function.__module__.partition(".")[0]
    for name in names:
        used = function.__globals__.get(name)
        if isinstance(used, (FunctionType, type)) and (used.__module__ or "").partition(".")[0] == package:
            yield from _described(used, seen)
    called = {
        name
        for owner, name in attributes
        if isinstance(module := function.__globals__.get(owner), ModuleType) and module.__name__ == _TORCHVISION
    }
    if called and (other := replaced_function(called)):
        raise _Unclear(f"{other} is not torchvision's own")


@functools.lru_cache(maxsize=1024)
def _read(code: CodeType, file: str) -> tuple[str, tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Return the syntax of a function, the names in it, and the attributes of names in it."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(code)))
    except (OSError, SyntaxError):
        raise _Unclear(f"{file} has no source of {code.co_name}") from None
    if len(tree.body) != 1 or not isinstance(tree.body[0], ast.FunctionDef) or tree.body[0].name != code.co_name:
        raise _Unclear(f"{code.co_name} is no function of its own")
    silent = {id(node) for part in ast.walk(tree) for field in _SILENT for node in _each(getattr(part, field, None))}
    nodes = list(_walk(tree, silent))
    names = sorted({node.id for node in nodes if isinstance(node, ast.Name)})
    attributes = {
        (node.value.id, node.attr)
        for node in nodes
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }
    return _written(tree), tuple(names), tuple(sorted(attributes))


def _each(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _walk(node: ast.AST, silent: set[int]) -> Iterator[ast.AST]:
    yield node
    for child in ast.iter_child_nodes(node):
        if id(child) not in silent:
            yield from _walk(child, silent)


def _written(part: Any) -> str:
    """Return a syntax tree as text, without parts that do not affect behaviour."""
    if isinstance(part, list):
        return f"[{' '.join(text for one in part if (text := _written(one)))}]"
    if not isinstance(part, ast.AST):
        return repr(part)
    if isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant):
        return ""  # docstrings
    if isinstance(part, ast.AnnAssign):
        return "" if part.value is None else f"Assign([{_written(part.target)}] {_written(part.value)})"
    fields = [(name, value) for name, value in ast.iter_fields(part) if name not in _SILENT]
    if isinstance(part, ast.Assign):
        return f"Assign({' '.join(_written(value) for _, value in fields)})"
    given = (f"{name}={_written(value)}" for name, value in fields if value is not None and value != [])
    return f"{type(part).__name__}({' '.join(given)})"
