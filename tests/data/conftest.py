from __future__ import annotations

from pathlib import Path

import pytest
from loader_cases import write_folder


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of images in two classes."""
    return write_folder(tmp_path_factory.mktemp("pictures"))
