"""Notebooks' kernels, as Jupyter starts them: switched by the extension, or by the environment alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import fastaug

manager = pytest.importorskip("jupyter_client.manager")
pytest.importorskip("ipykernel")

ROOT = Path(fastaug.__file__).parents[1]

CALLS = """
import sys, torch
from PIL import Image
from torchvision import transforms
transform = transforms.Compose([transforms.RandomResizedCrop(8), transforms.ToTensor()])
image = Image.radial_gradient("L").convert("RGB")
torch.manual_seed(0)
results = [transform(image) for _ in range(4)]
state = torch.get_rng_state()
torch.manual_seed(0)
drawn = [(transforms.RandomResizedCrop.get_params(image, (0.08, 1), (3 / 4, 4 / 3))) for _ in range(4)]
assert torch.equal(state, torch.get_rng_state())
switched = sys.modules.get("fastaug._switch.twins")
found = switched.note_of(transform) if switched else None
print("switched calls:", found[1] if found else 0)
"""


class Kernel:
    def __init__(self, client: Any) -> None:
        self._client = client

    def run(self, code: str) -> tuple[str, dict[str, str]]:
        """Run a cell, and return what it prints and the forms in which its last value is shown."""
        printed: list[str] = []
        shown: dict[str, str] = {}

        def hook(message: Any) -> None:
            content = message["content"]
            if message["msg_type"] == "stream" and content["name"] == "stdout":
                printed.append(content["text"])
            elif message["msg_type"] == "execute_result":
                shown.update(content["data"])

        reply = self._client.execute_interactive(code, output_hook=hook, timeout=300)["content"]
        assert reply["status"] == "ok", "\n".join(reply.get("traceback", ()))
        return "".join(printed), shown


@contextmanager
def kernel(path: list[str], **variables: str) -> Iterator[Kernel]:
    given = {name: value for name, value in os.environ.items() if not name.startswith("FASTAUG")}
    path = [*path, str(ROOT), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    given |= {**variables, "PYTHONPATH": os.pathsep.join(path), "OMP_NUM_THREADS": "1"}
    started, client = manager.start_new_kernel(startup_timeout=300, env=given)
    try:
        yield Kernel(client)
    finally:
        client.stop_channels()
        started.shutdown_kernel(now=True)


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for the kernels' own files."""
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    return tmp_path


def test_the_extension(settings: Path) -> None:
    with kernel([]) as one:
        assert one.run(CALLS)[0] == "switched calls: 0\n"
        one.run("%load_ext fastaug")
        assert one.run(CALLS)[0] == "switched calls: 3\n"
        shown = one.run("import fastaug\nfastaug.report()")[1]
        assert "<table" in shown["text/html"] and "RandomResizedCrop" in shown["text/plain"]
        one.run("%unload_ext fastaug")
        assert one.run(CALLS)[0] == "switched calls: 0\n"


def test_the_variable(settings: Path) -> None:
    """As the .pth of a wheel sees it, here by a sitecustomize."""
    line = (Path(__file__).parents[2] / "packaging" / "fastaug.pth").read_text()
    (settings / "sitecustomize.py").write_text(line)
    with kernel([str(settings)], FASTAUG_INSTALL="1") as one:
        assert one.run(CALLS)[0] == "switched calls: 3\n"
    with kernel([str(settings)]) as one:
        assert one.run(CALLS)[0] == "switched calls: 0\n"
