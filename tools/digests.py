"""Prints the digests of what a reader of another package knows, of releases that are unpacked in folders.

    python tools/digests.py timm FOLDER...

Each folder has that package in it. Only the modules that the reader names are imported, and nothing of models.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import types
from pathlib import Path

ROOT = Path(__file__).parents[1]


def of_release(package: str, folder: Path) -> dict[str, str]:
    """By the names of classes and functions, their digests in one release."""
    sys.path.insert(0, str(ROOT))
    from fastaug.adapters._known import digest

    adapter = importlib.import_module(f"fastaug.adapters.{package}")
    names = {module: [*readers] for module, readers in adapter._READERS.items()}
    prefix = ""
    if package == "timm":
        names["auto_augment"] += [*adapter._COLOUR, *adapter._GEOMETRY]
        prefix = "timm.data."
    for module in names:
        parts = (prefix + module).split(".")
        for depth in range(1, len(parts)):
            name = ".".join(parts[:depth])
            if name not in sys.modules:
                stand_in = types.ModuleType(name)
                stand_in.__path__ = [str(folder.joinpath(*parts[:depth]))]
                sys.modules[name] = stand_in
    found = {}
    for module, things in names.items():
        try:
            theirs = importlib.import_module(prefix + module)
        except ModuleNotFoundError:
            continue
        for name in things:
            if (thing := getattr(theirs, name, None)) is not None:
                text = digest(thing)
                assert text is not None, f"{folder}: {name} cannot be read"
                found[name] = text
    return found


def main(package: str, folders: list[str]) -> None:
    if len(folders) == 1:
        print(json.dumps(of_release(package, Path(folders[0]))))
        return
    table: dict[str, set[str]] = {}
    for folder in folders:
        command = [sys.executable, __file__, package, folder]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        for name, text in json.loads(output).items():
            table.setdefault(name, set()).add(text)
    print("DIGESTS = {")
    for name, texts in sorted(table.items()):
        print(f'    "{name}": {{{", ".join(repr(text) for text in sorted(texts))}}},'.replace("'", '"'))
    print("}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
