"""webdataset: decoded by Pillow for the client's own transform, and by Decode at the head of ours."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import torch
import webdataset as wds

import fastaug
import fastaug.transforms as T
from bench.client_cases import timm


def test_shards(files: list[Path], tmp_path: Path) -> None:
    shard = tmp_path / "shard.tar"
    with wds.TarWriter(str(shard)) as writer:
        for number, path in enumerate(files):
            writer.write({"__key__": f"{number:04}", "jpg": path.read_bytes(), "cls": number})
    own = timm(is_training=True, color_jitter=0.4)
    ours = T.Compose([T.Decode(), *fastaug.compile(own).transforms])

    def epoch(decode: Any, transform: Any) -> list[Any]:
        dataset = wds.WebDataset(str(shard), shardshuffle=False)
        dataset = decode(dataset).to_tuple("jpg", "cls").map_tuple(transform, int)
        torch.manual_seed(3)
        random.seed(3)
        return [(image, label, random.getstate(), torch.get_rng_state()) for image, label in dataset]

    expected = epoch(lambda dataset: dataset.decode("pilrgb"), own)
    found = epoch(lambda dataset: dataset, ours)
    assert len(found) == len(files)
    for one, other in zip(found, expected, strict=True):
        assert torch.equal(one[0], other[0]) and one[1:3] == other[1:3] and torch.equal(one[3], other[3])
