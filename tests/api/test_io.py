"""fastaug.io: its names, signatures and docstrings; and what importing it brings along."""

from __future__ import annotations

import doctest
import inspect
import json
from typing import Any

import pytest
import torchvision.io

import fastaug
import fastaug.io
from support.processes import python

SPELLING = ("read_file", "read_image", "decode_image", "decode_jpeg", "decode_png", "decode_webp", "decode_gif")
DOCUMENTED: dict[str, Any] = {name: getattr(fastaug.io, name) for name in fastaug.io.__all__}
SECTIONS = {"imread": ("Args", "Returns", "Raises"), "imread_batch": ("Args", "Returns", "Raises")}


def test_names() -> None:
    assert fastaug.io.__all__ == sorted(fastaug.io.__all__, key=lambda name: (not name[0].isupper(), name))
    assert fastaug.io.DecodeError is fastaug.DecodeError
    assert issubclass(fastaug.DecodeError, OSError)
    assert {"io", "DecodeError", "transforms"} <= set(dir(fastaug))
    assert fastaug.DecodeError.__module__ == "fastaug"


@pytest.mark.parametrize("name", SPELLING)
def test_signatures_of_torchvision(name: str) -> None:
    ours, theirs = (inspect.signature(getattr(module, name)) for module in (fastaug.io, torchvision.io))
    assert list(ours.parameters) == list(theirs.parameters)
    for parameter in ours.parameters.values():
        default = theirs.parameters[parameter.name].default
        assert parameter.kind == theirs.parameters[parameter.name].kind
        assert getattr(parameter.default, "value", parameter.default) == getattr(default, "value", default)


@pytest.mark.parametrize("name", DOCUMENTED)
def test_docstring(name: str) -> None:
    value = DOCUMENTED[name]
    text = inspect.getdoc(value)
    assert text and "Example:" in text
    if inspect.isfunction(value):
        assert all(f"\n{section}:\n" in text for section in ("Args", "Returns", "Raises"))
        documented = {
            word.strip()
            for line in text.splitlines()
            if line.startswith("    ")
            for word in line.split(":")[0].split(",")
        }
        assert set(inspect.signature(value).parameters) <= documented
    test = doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(test, out=report.append)
    assert runner.tries and not runner.failures, "".join(report)


def test_import() -> None:
    """No torch for arrays; no torchvision, no progress bar, no thread for anything."""
    code = """
import json, os, sys
import numpy, PIL.Image
before, threads = set(sys.modules), len(os.listdir("/proc/self/task"))
import fastaug.io
print(json.dumps([
    sorted({name.split(".")[0] for name in set(sys.modules) - before} & {"torch", "torchvision", "tqdm", "concurrent"}),
    len(os.listdir("/proc/self/task")) - threads,
]))
"""
    result = python(["-W", "error", "-c", code], fresh=True)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout) == [[], 0]


def test_torchvision_is_not_needed() -> None:
    code = """
import io, sys
sys.modules["torchvision"] = None
import torch, fastaug.io
from PIL import Image
file = io.BytesIO()
Image.new("RGB", (20, 10)).save(file, "JPEG")
data = torch.frombuffer(file.getbuffer(), dtype=torch.uint8)
print(tuple(fastaug.io.decode_image(data).shape), fastaug.io.imread(data).shape)
"""
    result = python(["-W", "error", "-c", code], lean=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "(3, 10, 20) (10, 20, 3)"
