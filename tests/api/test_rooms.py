"""The rooms of the house: imports go down through them, and nowhere in circles."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]

#: From the cellar to the roof: what is in a room imports from that room and from those before it. A public module
#: beside a private room, such as tv_tensors beside _tv_tensors, is part of that room.
PYTHON = [
    "_names",
    "_C",
    "_own",
    "_program",
    "_cuda",
    "_image",
    "_fallback",
    "_draft",
    "pillow",
    "_tv_tensors",
    "_sample",
    "_batch",
    "_inspect",
    "io",
    "transforms",
    "pathology",
    "_views",
    "_compile",
    "data",
    "adapters",
    "_self_test",
    "_switch",
    "",  # the package itself, which hands out what is below
    "_cli",
    "__main__",
]

#: What is in a room of csrc/ includes from that room and from those before it.
CPP = [
    "base",
    "program",
    "pixel",
    "kernels",
    "plan",
    "codec",
    "execute",
    "places",
    "draw",
    "draft",
    "cuda",
    "bind",
    "tests",
    "fuzz",
]


def python_imports() -> dict[str, set[str]]:
    """What each module of the package imports of it, in functions, for types and by name; modules are "room.name"."""
    paths = {path.relative_to(ROOT / "fastaug").with_suffix("").parts: path for path in ROOT.glob("fastaug/**/*.py")}
    names = {".".join(parts).removesuffix("__init__").rstrip("."): path for parts, path in paths.items()}
    imports: dict[str, set[str]] = {"_C": set()}
    for name, path in names.items():
        nodes = list(ast.walk(ast.parse(path.read_text())))
        found = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
        found += imported_by_name(nodes)
        for node in nodes:
            if isinstance(node, ast.ImportFrom):
                inner = [f"{node.module}.{alias.name}" for alias in node.names]
                found += [one for one in inner if one.removeprefix("fastaug.") in {*names, "_C"}] or [str(node.module)]
        imports[name] = {one.removeprefix("fastaug").lstrip(".") for one in found if re.match(r"fastaug\b", one)}
    return imports


def imported_by_name(nodes: Iterable[ast.AST]) -> list[str]:
    """The literals that `import_module` and `__import__` are called with."""
    calls = [node for node in nodes if isinstance(node, ast.Call) and node.args]
    named = [call.args[0] for call in calls if ast.unparse(call.func).split(".")[-1] in ("import_module", "__import__")]
    return [name.value for name in named if isinstance(name, ast.Constant)]


def cpp_includes() -> dict[str, set[str]]:
    """What each file of csrc/ includes of it. Files of Highway's include themselves, once for each instruction set."""
    paths = [path for path in ROOT.glob("csrc/**/*") if path.suffix in (".h", ".def", ".cpp", ".cc", ".cu")]
    texts = {str(path.relative_to(ROOT / "csrc")): path.read_text() for path in paths}
    includes: dict[str, set[str]] = {}
    for file, text in texts.items():
        named = re.findall(r'^\s*#\s*include "(.+?)"', text, re.MULTILINE)
        beside = [str(Path(file).parent / name) for name in named]
        includes[file] = {one for one in [*named, *beside] if one in texts} - {file}
    return includes


def upward(imports: Mapping[str, set[str]], rooms: list[str]) -> list[str]:
    """What comes from a room above."""

    def floor(module: str) -> int:
        room = re.split("[./]", module)[0]
        return rooms.index(room if room in rooms else f"_{room}")

    return [f"{name} from {other}" for name in imports for other in imports[name] if floor(name) < floor(other)]


def circles(imports: Mapping[str, set[str]]) -> set[str]:
    """The modules that come, by way of others, from themselves; and those that come from these."""
    left = dict(imports)
    while done := [module for module in left if not left[module] & left.keys()]:
        for module in done:
            del left[module]
    return set(left)


def test_python_rooms() -> None:
    imports = python_imports()
    assert not upward(imports, PYTHON)
    assert not circles(imports)


def test_cpp_rooms() -> None:
    includes = cpp_includes()
    assert not upward(includes, CPP)
    assert not circles(includes)


def test_the_rules_can_be_broken() -> None:
    assert upward({"low.a": {"high.b"}, "high.b": {"low.c"}, "low.c": set()}, ["low", "high"]) == ["low.a from high.b"]
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "onto": {"c"}, "free": set()}) == {"a", "b", "c", "onto"}
    calls = ast.walk(ast.parse("import_module('high.b')\nimportlib.import_module('low.c')\n__import__('d')\nlen('e')"))
    assert sorted(imported_by_name(calls)) == ["d", "high.b", "low.c"]
    public = {"tv": {"low.a"}, "low.a": {"tv"}}
    assert upward(public, ["low", "_tv"]) == ["low.a from tv"]
