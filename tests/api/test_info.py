"""fastaug.info(): what is in use, and the rules that follow from it."""

from __future__ import annotations

import importlib.metadata
import os

import PIL
import pytest
import torch
import torchvision

import fastaug
from fastaug import _C
from fastaug import __main__ as command_line
from fastaug._draft import geometry
from fastaug._inspect import info
from fastaug._program import convolution, ops
from support.processes import ISAS, python


def test_what_is_in_use() -> None:
    found = fastaug.info()
    assert (found.fastaug, found.isa, found.isas) == (fastaug.__version__, fastaug.isa(), tuple(_C.isas()))
    assert found.jpeg == _C.jpeg_decoder()
    assert found.webp == _C.webp_decoder() and found.webp.startswith(("libwebp ", "Pillow"))
    assert found.cpus == len(os.sched_getaffinity(0))
    assert found.versions["torch"].startswith(torch.__version__.partition("+")[0])
    assert found.versions["torchvision"].startswith(torchvision.__version__.partition("+")[0])
    assert found.versions["Pillow"] == PIL.__version__
    assert found.cuda.startswith("none: ") != torch.cuda.is_available()


def test_it_prints_as_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["info"]) == 0
    printed = capsys.readouterr().out
    assert printed == f"{fastaug.info()}\n" == f"{fastaug.info()!r}\n"
    for value in (fastaug.__version__, fastaug.isa(), info.processor(), PIL.__version__, torch.version.cuda or "CUDA"):
        assert value in printed


@pytest.mark.parametrize("isa", ISAS)
def test_a_chosen_instruction_set(isa: str) -> None:
    done = python(["-m", "fastaug", "info"], isa=isa)
    assert f"\nisa          {isa} (of " in done.stdout, done.stderr


def test_what_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    assert {value for name, value in fastaug.info().versions.items() if name != "Python"} == {"not installed"}


@pytest.mark.parametrize(("flags", "words"), [(0, "columns first"), (ops.WIDTH_FIRST, "rows first")])
def test_the_rule_of_resizes(flags: int, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(geometry, "RESIZE_FLAGS", flags)
    assert fastaug.info().rules["resizes of PIL images"].startswith(words)


def test_the_rule_of_blurs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(convolution, "_answers", {})
    assert fastaug.info().rules["blurs"].endswith("so far none")
    monkeypatch.setattr(convolution, "_answers", {(1,): True, (2,): None, (3,): True})
    assert fastaug.info().rules["blurs"].endswith("so far 2 rounded once, 1 left to torch")


def test_a_processor_that_the_system_does_not_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pathlib.Path.read_text", lambda path: "processor: 0\n")
    assert info.processor() != ""
    assert "family" not in info.processor()
