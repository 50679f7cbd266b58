"""Transforms of other packages, switched: the same tensors and draws, most calls by fastaug."""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torchvision.datasets import ImageFolder

import fastaug
from fastaug._own import own
from fastaug._switch import folders, twins


def timm_of(**options: Any) -> Any:
    return importlib.import_module("timm.data").create_transform(96, **options)


def open_clip_of(train: bool) -> Any:
    return importlib.import_module("open_clip.transform").image_transform(96, train)


def lightly_of(name: str, **options: Any) -> Any:
    return getattr(importlib.import_module("lightly.transforms"), name)(**options)


CLIENTS: dict[str, tuple[str, Callable[[], Any]]] = {
    "timm, basic": ("timm", lambda: timm_of(is_training=True)),
    "timm, RandAugment": ("timm", lambda: timm_of(is_training=True, auto_augment="rand-m5-mstd0.5", re_prob=0.5)),
    "timm, eval": ("timm", timm_of),
    "open_clip, train": ("open_clip", lambda: open_clip_of(True)),
    "open_clip, eval": ("open_clip", lambda: open_clip_of(False)),
    "lightly, SimCLR": ("lightly", lambda: lightly_of("SimCLRTransform", input_size=64)),
    "lightly, DINO": ("lightly", lambda: lightly_of("DINOTransform")),
}


def flat(result: Any) -> list[Any]:
    return [one for part in result for one in flat(part)] if isinstance(result, (list, tuple)) else [result]


def outcome(transform: Any, image: Any, seed: int) -> tuple[list[Any], Any]:
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002
    try:
        result = flat(transform(image))
    except Exception as error:  # timm's posterize raises under some seeds
        result = [type(error)]
    return result, (torch.get_rng_state().tolist(), random.getstate(), repr(np.random.get_state()))  # noqa: NPY002


@pytest.mark.parametrize("name", CLIENTS)
def test_clients(name: str, files: list[Path]) -> None:
    package, make = CLIENTS[name]
    pytest.importorskip(package)
    transform = make()
    with fastaug.install():
        for number, path in enumerate(files * 3):
            with Image.open(path) as opened:
                image = opened.convert("RGB")
            ours, mine = outcome(transform, image, number)
            with own():
                theirs, other = outcome(transform, image, number)
            assert mine == other and len(ours) == len(theirs)
            for one, same in zip(ours, theirs):
                assert torch.equal(one, same) if isinstance(one, torch.Tensor) else one == same
        calls, found = (sum(counts[k] for counts in twins.counts()) for k in (1, 2))
        assert found > 0.8 * calls > 8


@pytest.mark.parametrize("name", CLIENTS)
def test_folders_with_broken_files(
    name: str, files: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With decode=True, a file that turns out to be broken after the draws leaves what torchvision leaves."""
    package, make = CLIENTS[name]
    pytest.importorskip(package)
    transform = make()
    (tmp_path / "one").mkdir()
    for path in files:
        data = path.read_bytes()
        (tmp_path / "one" / path.name).write_bytes(data)
        (tmp_path / "one" / f"broken {path.name}").write_bytes(data[: len(data) // 3])
    read: list[Any] = []
    lazy = folders.lazy
    monkeypatch.setattr(folders, "lazy", lambda path: read.append(path) or lazy(path))
    data_set = ImageFolder(str(tmp_path), transform)
    with fastaug.install(decode=True):
        for number in range(3 * len(data_set)):
            index = number % len(data_set)
            ours, mine = outcome(lambda index: data_set[index][0], index, number)
            with own():
                theirs, other = outcome(lambda index: data_set[index][0], index, number)
            assert mine == other and len(ours) == len(theirs)
            for one, same in zip(ours, theirs):
                assert torch.equal(one, same) if isinstance(one, torch.Tensor) else one == same
    # lightly's are no Compose, so that torchvision reads the files.
    assert any("broken" in str(path) for path in read) == (package != "lightly")
