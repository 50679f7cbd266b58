"""Accelerate: the loader beside what is prepared, on one rank and on two, and what `prepare` makes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data import DistributedSampler

from engines.photographs import Reference
from engines.sections import write_script
from fastaug.data import DataLoader
from support.processes import python


def check_rank(reference: Reference, batches: list[Any], rank: int, ranks: int) -> None:
    """That they are the images of that rank, in the order of its sampler."""
    sampler = DistributedSampler(reference.files, ranks, rank, seed=0)
    sampler.set_epoch(3)
    indices = list(sampler)
    images, labels = (torch.cat(parts) for parts in zip(*batches))
    assert torch.equal(images, torch.stack([reference.seeded(index) for index in indices]))
    assert labels.tolist() == [reference.labels[index] for index in indices]


def test_the_page(section: Any, reference: Reference) -> None:
    names = section("Accelerate")
    loader, accelerator = names["loader"], names["accelerator"]
    loader.set_epoch(3)
    expected = list(loader)
    check_rank(reference, expected, 0, 1)

    loader.set_epoch(3)
    batches = iter(loader)
    for _ in range(2):
        next(batches)
    accelerator.save_state("state")

    fresh = section("Accelerate")
    fresh["accelerator"].load_state("state")
    fresh["loader"].set_epoch(3)
    for ours, theirs in zip(fresh["loader"], expected[2:], strict=True):
        assert torch.equal(ours[0], theirs[0]) and torch.equal(ours[1], theirs[1])


def test_two_ranks(place: Path, reference: Reference) -> None:
    end = 'loader.set_epoch(epoch); torch.save(list(loader), f"rank{accelerator.process_index}.pt")'
    script = write_script("Accelerate", place / "script.py", end)
    done = python(["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", str(script)], fresh=True)
    assert done.returncode == 0, done.stderr
    for rank in range(2):
        check_rank(reference, torch.load(f"rank{rank}.pt"), rank, 2)


@pytest.mark.parametrize("rng", ["torch", "sample"])
@pytest.mark.parametrize("options", [{"num_workers": 0}, {"num_workers": 2, "persistent_workers": True}], ids=str)
def test_a_loader_that_is_prepared_has_the_same_batches(section: Any, rng: str, options: dict[str, Any]) -> None:
    """It is torch's, and has draws of each sample's own where ours has."""
    names = section("Accelerate")
    loader = DataLoader(names["dataset"], 4, shuffle=True, rng=rng, **options)
    prepared = names["accelerator"].prepare(loader)
    assert type(prepared.base_dataloader) is torch.utils.data.DataLoader
    assert loader.dataset is names["dataset"]
    for epoch in range(2):
        torch.manual_seed(epoch)
        ours = list(loader)
        torch.manual_seed(epoch)
        theirs = list(prepared)
        assert [labels.tolist() for _, labels in ours] == [labels.tolist() for _, labels in theirs]
        assert all(torch.equal(one, other) for (one, _), (other, _) in zip(ours, theirs, strict=True))


def test_what_is_lost_is_named(section: Any) -> None:
    names = section("Accelerate")
    loader = DataLoader(names["dataset"], 4, num_workers=1, threads=True, num_threads=2)
    with pytest.warns(UserWarning, match="accelerate builds .* does not keep threads=True, num_threads=2"):
        names["accelerator"].prepare(loader)
