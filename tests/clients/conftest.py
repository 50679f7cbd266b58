"""What every client's tests share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from engines.photographs import write_photographs
from support.images import PHOTOS, photo


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Clients may warn, and so may we, of what is not read; other warnings of ours are errors."""
    for item in items:
        item.add_marker(pytest.mark.filterwarnings("default"))
        item.add_marker(pytest.mark.filterwarnings("error:fastaug"))
        item.add_marker(pytest.mark.filterwarnings("ignore:fastaug.compile cannot read"))


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is looked up on the hub."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, where the folder `photographs` is."""
    monkeypatch.chdir(tmp_path)
    return write_photographs(tmp_path)


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Photographs of unlike sizes and shapes: larger and smaller than what is made of them; one is gray."""
    folder = tmp_path_factory.mktemp("files")
    sizes: list[Any] = [(375, 500), (301, 225), (224, 224), (120, 411), (333, 90)]
    for number, (height, width) in enumerate(sizes):
        image: Image.Image = photo(PHOTOS[number % len(PHOTOS)], height, width)
        (image.convert("L") if number == 2 else image).save(folder / f"{number}.jpg", quality=90)
    return sorted(folder.glob("*.jpg"))
