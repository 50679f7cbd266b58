"""Programs that serve models, by stand-ins of how they find their plugins and load their processors."""

from __future__ import annotations

import importlib
import importlib.metadata
import inspect
import pkgutil
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoProcessor, Qwen2VLProcessor
from transformers.image_processing_base import ImageProcessingMixin

from bench.clients import load
from fastaug.adapters.transformers import processor
from support.pages import run_blocks

PAGE = Path(__file__).parents[2] / "docs" / "huggingface.md"


def texts(section: str) -> list[str]:
    """Return what the page says to put into files, in order."""
    part = PAGE.read_text().split(f"## {section}\n")[1].split("\n## ")[0]
    return [text.split("\n", 1)[1] for text in part.split("```")[1::2]]


@pytest.fixture
def page(place: Path) -> dict[str, Any]:
    """What the page defines before its part on serving, and a processor in the folder `qwen`."""
    names: dict[str, Any] = {}
    run_blocks(PAGE, names, {"", "Speed up an image processor", "Train a vision-language model"})
    names["expected"] = Qwen2VLProcessor.from_pretrained("qwen")(**request(names), padding=True, return_tensors="pt")
    return names


@pytest.fixture(autouse=True)
def restored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers never take the switch off. Packages of a test are forgotten after it."""
    monkeypatch.setattr(ImageProcessingMixin, "from_dict", vars(ImageProcessingMixin)["from_dict"])
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "modules", dict(sys.modules))


def request(names: dict[str, Any]) -> dict[str, Any]:
    images = [load(path) for path in names["files"]]
    return {"text": [names["prompt"] + "cat"] * len(images), "images": [[image] for image in images]}


def assert_served(served: Any, names: dict[str, Any]) -> None:
    expected = names["expected"]
    assert list(served) == list(expected)
    assert all(torch.equal(served[key], expected[key]) for key in expected)


class Context:
    """As vLLM's InputProcessingContext: the processor of a class, loaded once, and called with merged options."""

    def __init__(self, model: str) -> None:
        self.model = model

    def get_hf_processor(self, cls: Any) -> Any:
        made = _loaded(self.model, cls)
        assert isinstance(made, cls), "Invalid type of HuggingFace processor"
        return made

    def call_hf_processor(self, hf_processor: Any, data: Any, kwargs: Any) -> Any:
        return hf_processor(**data, **kwargs, return_tensors="pt")


@lru_cache
def _loaded(model: str, cls: Any) -> Any:
    return cls.from_pretrained(model)


def test_vllm(page: dict[str, Any], tmp_path: Path) -> None:
    """Entry points of its group are called in each process, before it loads a processor."""
    serving, project = texts("Serve a vision-language model")[:2]
    site = tmp_path / "site"
    info = site / "serving-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "serving.py").write_text(serving)
    points = project.replace("[project.entry-points.", "[").replace('"', "")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: serving\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(points)
    sys.path.insert(0, str(site))
    importlib.invalidate_caches()
    plugins = list(importlib.metadata.entry_points(group="vllm.general_plugins"))
    assert [plugin.name for plugin in plugins] == ["fastaug"]
    for plugin in plugins:
        plugin.load()()
    context = Context(str(Path("qwen").resolve()))
    hf_processor = context.get_hf_processor(Qwen2VLProcessor)
    assert hasattr(hf_processor.image_processor, "explain")
    # It asks the image processor how many patches an image will have.
    theirs = page["Qwen2VLImageProcessor"]()
    sizes = [(480, 640), (91, 1000)]
    for size in sizes:
        number = hf_processor.image_processor.get_number_of_image_patches(*size, {})
        assert number == theirs.get_number_of_image_patches(*size, {})
    served = context.call_hf_processor(hf_processor, request(page), {"padding": True})
    again = context.call_hf_processor(hf_processor, request(page), {"padding": True})
    assert served["pixel_values"].data_ptr() != again["pixel_values"].data_ptr()
    assert_served(served, page)


class BaseMultimodalProcessor:
    """As SGLang's."""

    models: tuple[Any, ...] = ()

    def __init__(self, _processor: Any) -> None:
        self._processor = _processor

    def process_mm_data(self, input_text: Any, images: Any = None, **kwargs: Any) -> Any:
        return self._processor(text=input_text, images=images, padding=True, return_tensors="pt", **kwargs)


def import_processors(package_name: str) -> list[type]:
    """As SGLang's: import the modules of a package, and return its processors."""
    package = importlib.import_module(package_name)
    found = []
    for _, name, is_package in pkgutil.iter_modules(package.__path__, package_name + "."):
        if not is_package:
            module = importlib.import_module(name)
            members = [member for _, member in inspect.getmembers(module, inspect.isclass)]
            found += [cls for cls in members if issubclass(cls, BaseMultimodalProcessor)]
    return found


def test_sglang(page: dict[str, Any], tmp_path: Path) -> None:
    package = tmp_path / "site" / "served_by_fastaug"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(texts("Serve a vision-language model")[2])
    sys.path.insert(0, str(package.parent))
    importlib.invalidate_caches()
    assert import_processors("served_by_fastaug") == []
    made = BaseMultimodalProcessor(AutoProcessor.from_pretrained("qwen"))
    assert hasattr(made._processor.image_processor, "explain")
    given = request(page)
    assert_served(made.process_mm_data(given["text"], given["images"]), page)


def test_training(page: dict[str, Any]) -> None:
    """The collate function gives what it gives with the processor of transformers, and images as PIL images."""
    rows, collate = page["rows"], page["collate"]
    ours = list(page["loader"])
    page["vlm"] = Qwen2VLProcessor.from_pretrained("qwen")
    pictures = [{**row, "image": load(row["image"])} for row in rows]
    for first, batch in zip(range(0, len(rows), 2), ours, strict=True):
        expected = collate(pictures[first : first + 2])
        assert list(batch) == list(expected) and "labels" in batch
        assert all(torch.equal(batch[key], expected[key]) for key in expected)


def test_whole_processors_take_files(page: dict[str, Any]) -> None:
    theirs = AutoProcessor.from_pretrained("qwen")
    given = request(page)
    for ours in (processor(theirs), processor(theirs, num_threads=2)):
        for images in (page["files"], [path.read_bytes() for path in page["files"]]):
            served = ours(text=given["text"], images=[[one] for one in images], padding=True, return_tensors="pt")
            assert_served(served, page)
