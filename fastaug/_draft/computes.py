"""Find out by its code that a small function of the user's only computes: ``lambda label: table[label] - 1``."""

from __future__ import annotations

import builtins
import dis
import inspect
import re
import sys
import types
from collections.abc import Callable
from typing import Any

# What such code is made of, by the names of all versions of Python: values, operators, branches, calls.
_ALLOWED = re.compile(
    r"CACHE|EXTENDED_ARG|NOP|NOT_TAKEN|RESUME|COPY_FREE_VARS|PUSH_NULL|PRECALL|KW_NAMES|POP_TOP|COPY|SWAP|DUP_TOP|TO_BOOL"
    r"|LOAD_CONST|LOAD_SMALL_INT|(LOAD|STORE)_FAST\w*|RETURN_(VALUE|CONST)|(COMPARE|IS|CONTAINS)_OP|FORMAT_\w+"
    r"|(UNARY|BINARY|ROT|JUMP|POP_JUMP)_\w+|CALL|CALL_(FUNCTION|METHOD|KW|FUNCTION_KW)|LIST_EXTEND"
    r"|BUILD_(TUPLE|LIST|MAP|SLICE|STRING|CONST_KEY_MAP)"
)
_GLOBAL = ("LOAD_GLOBAL", "LOAD_DEREF")
_ATTRIBUTE = ("LOAD_ATTR", "LOAD_METHOD")

# Modules whose functions such code may name.
_MODULES = ("numpy", "torch", "torch.nn.functional")

_ASYNCHRONOUS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR

_MISSING = object()


def only_computes(function: Any, is_known: Callable[[Any], bool]) -> bool:
    """Return whether a function has no effects, and calls only what `is_known` accepts of what its code names.

    It may compute with its arguments, and look them up, but does not touch attributes of theirs.
    """
    if type(function) is not types.FunctionType or function.__code__.co_flags & _ASYNCHRONOUS:
        return False
    code = function.__code__
    cells = dict(zip(code.co_freevars, function.__closure__ or ()))
    defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    if any(isinstance(part, types.CodeType) for part in code.co_consts):
        return False
    named = list(defaults)
    module: Any = None  # that was named by the last instruction
    for one in dis.get_instructions(code):
        if one.opname in _ATTRIBUTE and module is not None:
            value = getattr(module, str(one.argval), _MISSING)
        elif module is not None:
            return False
        elif one.opname in _GLOBAL:
            value = _value(function, cells, str(one.argval))
        elif _ALLOWED.fullmatch(one.opname):
            continue
        else:
            return False
        module = value if any(value is sys.modules.get(name) for name in _MODULES) else None
        if module is None:
            named.append(value)
    return all(value is not _MISSING and is_known(value) for value in named)


def _value(function: types.FunctionType, cells: dict[str, Any], name: str) -> Any:
    if name in cells:
        try:
            return cells[name].cell_contents
        except ValueError:  # it has none yet
            return _MISSING
    return function.__globals__.get(name, vars(builtins).get(name, _MISSING))
