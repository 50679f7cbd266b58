"""The command ``python -m fastaug run``: a program as Python runs it, switched, with all Pythons that it starts."""

from __future__ import annotations

import os
import runpy
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from fastaug._switch.options import VARIABLE
from fastaug._switch.switch import install

USAGE = "usage: fastaug run [--decode] [--processors] [--report] [--] (script.py | -m module | command) ..."

HELP = f"""{USAGE}

Run a Python program with torchvision's transforms at fastaug's speed: same pixels, same draws.
What follows the program's name are the program's own options. Python processes that it starts are switched, too.

  --decode      let torchvision's image folders read their files by fastaug
  --processors  let from_pretrained of transformers hand out fastaug's image processors
  --report      print what was switched to stderr at the end
"""

_OPTIONS = ("--decode", "--processors", "--report")


def main(arguments: Sequence[str]) -> int:
    """Run the program of a command line, of which only the options before it are fastaug's."""
    given, asked = list(arguments), set()
    while given and given[0].startswith("-") and given[0] != "-m":
        option = given.pop(0)
        if option == "--":
            break
        if option in ("-h", "--help"):
            print(HELP)
            return 0
        if option not in _OPTIONS:
            return _refuse(f"unknown option {option}; the program's own come after its name")
        asked.add(option[2:])
    is_module = given[:1] == ["-m"]
    if is_module:
        del given[0]
    if not given:
        return _refuse("there is no program to run")
    if os.environ.get(VARIABLE) != "0":
        _tell_children(sorted(asked))
    install(**{option[2:]: option[2:] in asked for option in _OPTIONS})
    return _run_module(given) if is_module else _run_script(given)


def _refuse(problem: str) -> int:
    print(f"fastaug run: {problem}\n{USAGE}", file=sys.stderr)
    return 2


def _tell_children(options: Sequence[str]) -> None:
    """Let Pythons that the program starts find the sitecustomize here before others."""
    os.environ[VARIABLE] = ",".join(("1", *options))
    site = str(Path(__file__).parent / "site")
    others = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys([site, *filter(None, others)]))


def _run_module(given: Sequence[str]) -> int:
    sys.argv = list(given)
    sys.path[0] = os.getcwd()
    runpy.run_module(given[0], run_name="__main__", alter_sys=True)
    return 0


def _run_script(given: Sequence[str]) -> int:
    name = given[0]
    if not os.path.exists(name):
        found = shutil.which(name)
        if found is None:
            return _refuse(f"no file or command {name}")
        name = found
    with open(name, "rb") as file:
        start = file.read(200)
    if os.path.isfile(name) and start[:2] == b"#!" and b"python" not in start.split(b"\n")[0]:
        return _refuse(f"{name} is not a Python program")
    sys.argv = [name, *given[1:]]
    sys.path[0] = os.path.dirname(os.path.abspath(name)) if os.path.isfile(name) else name
    runpy.run_path(name, run_name="__main__")
    return 0
