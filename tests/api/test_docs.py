"""The documentation runs: every example of its pages and of the docstrings, and every line of its pictures."""

from __future__ import annotations

import builtins
import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import fastaug
import fastaug.data
import fastaug.transforms as T
import fastaug.transforms.functional as F
import fastaug.tv_tensors
from docs._ext import examples, functions, groups, pages, pictures, v2_examples
from fastaug import pathology, pillow
from fastaug._tv_tensors import own
from fastaug.transforms import v2
from support.differences import grouped
from support.pages import FENCE, run_blocks, run_doctest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "notes").glob("*/*.md"))]
#: Those of these run where what they are about is installed (tests/engines, tests/clients).
ELSEWHERE = ("engines.md", "huggingface.md", "timm.md")
WITH_CODE = [page for page in PAGES if FENCE.search(page.read_text()) and page.name not in ELSEWHERE]
EXAMPLES = [
    *(examples.EXAMPLES | functions.FUNCTIONS).items(),
    *(v2_examples.CLASSES | v2_examples.FUNCTIONALS).items(),
]
WITH_PICTURE = [(name, example) for name, example in EXAMPLES if isinstance(example, examples.Example)]


def documented() -> dict[str, Any]:
    """Everything public that carries a docstring, and the get_params of classes."""
    found: dict[str, Any] = {"fastaug.compile": fastaug.compile, "fastaug.isa": fastaug.isa, "fastaug.transforms": T}
    found["fastaug.explain"] = fastaug.explain
    found["fastaug.sample_file"] = fastaug.sample_file
    found["fastaug.tv_tensors"] = fastaug.tv_tensors
    found["fastaug.pathology"] = pathology
    found["fastaug.Views"] = fastaug.Views
    for name in ("batch", "replay", "sample"):
        found[f"fastaug.Views.{name}"] = getattr(fastaug.Views, name)
    found["fastaug.transforms.v2"] = v2
    kernels = set(groups.kernels())
    for module in (T, F, pathology, pathology.functional, pillow, fastaug.data, own, v2, v2.functional):
        for name in module.__all__:
            if module is v2.functional and name in kernels:
                continue
            value = getattr(module, name)
            if inspect.isclass(value) or inspect.isfunction(value):
                found[f"{module.__name__}.{name}"] = value
            if inspect.isclass(value) and inspect.isfunction(vars(value).get("get_params", None)):
                found[f"{module.__name__}.{name}.get_params"] = value.get_params
    return found


DOCUMENTED = documented()


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.name)
def test_examples_of_a_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Top to bottom, as a reader would paste them, in a folder that is empty."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": page.stem, "__builtins__": builtins}
    run_blocks(page, names)


def test_there_are_pages_with_examples() -> None:
    assert {"README.md", "index.md", "migrating.md", "how.md"} <= {page.name for page in WITH_CODE}


def documented_name(name: str) -> str:
    return name.removesuffix(".get_params").rpartition(".")[2]


@grouped(DOCUMENTED, "name", documented_name)
def test_docstring_example(name: str) -> None:
    value = DOCUMENTED[name]
    text = inspect.getdoc(value)
    assert text, f"{name} has no docstring"
    names = dict(vars(inspect.getmodule(value) or F)) if not inspect.ismodule(value) else {}
    run_doctest(text, names, name)


def test_every_class_has_its_line_and_every_line_its_class() -> None:
    assert examples.missing() == []
    assert examples.superfluous() == []
    assert {example.group for example in examples.EXAMPLES.values()} == set(examples.GROUPS)


@grouped(WITH_PICTURE, ("name", "example"), lambda case: case[1].group, whole=True)
def test_picture(name: str, example: examples.Example) -> None:
    """It can be drawn, is drawn the same twice, and shows something else than the original."""
    state = torch.get_rng_state()
    first = pictures.strip(name, example)
    assert first.height < 400 and pictures.WIDTH < first.width < 1200
    assert first == pictures.strip(name, example)
    assert any(f"T.{name}" in call or f"F.{name}(" in call for call in example.calls)
    original = pictures.photograph(example.photo)
    shown = list(pictures.results(name, example))
    assert any(image.size != original.size or np.any(np.asarray(image) != np.asarray(original)) for image in shown)
    torch.set_rng_state(state)


@pytest.mark.main
def test_pages_of_the_reference(tmp_path: Path) -> None:
    pages.write(tmp_path / "reference")
    written = {path.stem for path in (tmp_path / "reference" / "transforms").iterdir()}
    assert written == {*examples.public_classes(), "index"}
    functions = (tmp_path / "reference" / "functional.rst").read_text()
    for name in F.__all__:
        assert f"fastaug.transforms.functional.{name}\n" in functions or inspect.isclass(getattr(F, name))
    written = {path.stem for path in (tmp_path / "reference" / "v2").iterdir()}
    assert written == {*groups.public_classes(), "index"}
    index = (tmp_path / "reference" / "v2" / "index.rst").read_text()
    assert all(name in index for name in v2.__all__)
    functions = (tmp_path / "reference" / "v2_functional.rst").read_text()
    for name in set(v2.functional.__all__) - {"InterpolationMode"}:
        assert f".. autofunction:: fastaug.transforms.v2.functional.{name}\n" in functions


def test_functionals_and_kernels_of_samples() -> None:
    """torchvision 0.29 has 56 functions and 108 kernels, and each kernel says of which function it is."""
    assert (len(groups.functionals()), len(groups.kernels())) == (56, 108)
    for name in groups.kernels():
        assert "The kernel of :func:`" in (inspect.getdoc(getattr(v2.functional, name)) or ""), name


def test_a_class_of_samples_without_a_group_stops_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(groups.CLASSES, "Videos", ())
    with pytest.raises(pages.PagesError, match="UniformTemporalSubsample"):
        pages.write(tmp_path)


def test_a_class_of_images_without_a_picture_stops_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(v2_examples.CLASSES, "JPEG")
    with pytest.raises(pages.PagesError, match="JPEG"):
        pages.write(tmp_path)


def test_a_class_without_a_line_stops_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(examples.EXAMPLES, "Resize")
    with pytest.raises(pages.PagesError, match="Resize"):
        pages.write(tmp_path)
