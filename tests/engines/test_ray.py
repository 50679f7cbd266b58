"""Ray Data on a cluster of two workers: draws, a folder of decoded files, statistics."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import ray
import torch
from PIL import Image
from ray.cluster_utils import Cluster

from engines.photographs import Reference, write_photographs
from engines.sections import run_section
from fastaug.data import mean_std

# Of one node, for its objects: Ray's least is 75 MiB.
MEMORY = 80 * 2**20


@pytest.fixture(autouse=True)
def nothing_left_behind() -> None:
    """In place of the fixture of all tests: Ray keeps pools of threads until the process ends."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A head without CPUs, and two nodes with one each. No dashboard, nothing outside a folder of its own."""
    # Its sockets' paths may have 107 characters, which those of pytest's folders have already.
    folder = tempfile.mkdtemp(prefix="ray")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_TMPDIR", folder)
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
        head = {"num_cpus": 0, "object_store_memory": MEMORY, "include_dashboard": False}
        made = Cluster(initialize_head=True, head_node_args=head)
        try:
            for _ in range(2):
                made.add_node(num_cpus=1, object_store_memory=MEMORY)
            ray.init(address=made.address, log_to_driver=False, logging_level="ERROR")
            ray.data.DataContext.get_current().enable_progress_bars = False
            yield made
        finally:
            ray.shutdown()
            made.shutdown()
            shutil.rmtree(folder, ignore_errors=True)


def stored(folder: Path) -> dict[str, tuple[int, int]]:
    """The files, with their times and the numbers that a file gets anew when it is written anew."""
    found = {str(path.relative_to(folder)): path.stat() for path in folder.rglob("[!.]*.npy")}
    return {name: (status.st_mtime_ns, status.st_ino) for name, status in found.items()}


@pytest.fixture(scope="module")
def page(cluster: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The names that the section leaves."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(write_photographs(tmp_path_factory.mktemp("ray")))
        return run_section("Ray Data")


@pytest.fixture
def reference(page: dict[str, Any]) -> Reference:
    return Reference(page["photographs"].parent)


def test_augmented_images(page: dict[str, Any], reference: Reference) -> None:
    """Those of one process, whoever made them."""
    batches = [(batch["image"], batch["index"]) for batch in page["batches"]]
    reference.check([(images, [reference.labels[i] for i in indices], indices) for images, indices in batches])


def test_both_workers_work(page: dict[str, Any], reference: Reference) -> None:
    augmented = page["augmented"]

    def slow(batch: dict[str, Any]) -> dict[str, Any]:
        time.sleep(0.2)
        node = ray.get_runtime_context().get_node_id()
        return {**augmented(batch), "node": np.array([node] * len(batch["index"]))}

    rows = page["rows"].map_batches(slow, batch_size=3).take_all()
    assert len({row["node"] for row in rows}) == 2
    assert sorted(row["index"] for row in rows) == list(range(len(reference.files)))
    for row in rows:
        assert torch.equal(torch.from_numpy(row["image"]), reference.seeded(row["index"]))


def check_files(page: dict[str, Any], reference: Reference) -> None:
    for path in reference.files:
        array = (page["arrays"] / path.relative_to(page["photographs"])).with_suffix(".npy")
        assert np.array_equal(np.load(array), np.asarray(Image.open(path).convert("RGB")))
        assert array.stat().st_mtime_ns == path.stat().st_mtime_ns


def test_files(page: dict[str, Any], reference: Reference) -> None:
    assert page["done"] == {"sum(written)": len(reference.files), "sum(present)": 0, "sum(failed)": 0}
    check_files(page, reference)


def test_files_are_made_once_and_a_killed_run_is_continued(page: dict[str, Any], reference: Reference) -> None:
    cached, arrays = page["cached"], page["arrays"]
    first = stored(arrays)
    count = len(reference.files)

    def run() -> tuple[int, int]:
        done = page["rows"].map_batches(cached, batch_size=4).sum(["written", "present", "failed"])
        assert done["sum(failed)"] == 0
        return done["sum(written)"], done["sum(present)"]

    assert run() == (0, count)
    assert stored(arrays) == first

    def killed(batch: dict[str, Any]) -> None:
        cached({"path": batch["path"][:2]})
        os.kill(os.getpid(), signal.SIGKILL)

    shutil.rmtree(arrays)
    with pytest.raises(ray.exceptions.RayError):
        page["rows"].map_batches(killed, batch_size=6, ray_remote_args_fn=lambda: {"max_retries": 0}).materialize()
    left = stored(arrays)
    assert 2 <= len(left) < count

    os.utime(next(path for path in reference.files if f"{path.parent.name}/{path.stem}.npy" in left))
    assert run() == (count - len(left) + 1, len(left) - 1)
    assert len(left.items() & stored(arrays).items()) == len(left) - 1
    check_files(page, reference)


def test_statistics(page: dict[str, Any], reference: Reference) -> None:
    assert page["statistics"] == mean_std(reference.files)
    pixels = np.concatenate([np.asarray(Image.open(path)).reshape(-1, 3) for path in reference.files]) / 255
    assert np.allclose(page["statistics"], [pixels.mean(0), pixels.std(0)], rtol=1e-12)
