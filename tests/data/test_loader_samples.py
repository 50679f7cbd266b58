"""Samples with draws of their own, and loaders that go on where another one was."""

from __future__ import annotations

import io
import itertools
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torchvision.transforms as TV
from loader_cases import COUNT, Drawing, Pairs, folder_of, generators, mixed, numpy_draw, same
from torch.utils.data import Subset

import fastaug.io
import fastaug.transforms as T
from fastaug.data import DataLoader, sample_seed
from support.outcomes import seed_all

pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")


def oracle(dataset: Any, epoch: int, index: int) -> Any:
    """What a data set of torchvision's gives for one sample."""
    number = sample_seed(7, epoch, index)
    torch.manual_seed(number)
    random.seed(number)
    np.random.seed(number % 2**32)  # noqa: NPY002
    return dataset[index]


SETS = {
    "folder": (lambda root: folder_of(root, TV), lambda root: folder_of(root, T, loader=fastaug.io.lazy)),
    "items": (lambda root: Pairs(TV), lambda root: Pairs(T)),
    "drawing": (lambda root: Drawing(TV, numpy_draw), lambda root: Drawing(T, numpy_draw)),
}


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize(
    "options",
    [
        {"num_workers": 0, "batch_size": 3},
        {"num_workers": 1, "batch_size": 4},
        {"num_workers": 3, "batch_size": 5, "shuffle": True},
        {"num_workers": 2, "batch_size": None, "persistent_workers": True},
    ],
    ids=lambda options: f"{options['num_workers']}",
)
def test_samples_are_the_same_for_any_loader(name: str, options: dict[str, Any], pictures: Path) -> None:
    theirs, ours = (make(pictures) for make in SETS[name])
    expected = [[oracle(theirs, epoch, index) for index in range(COUNT)] for epoch in range(2)]
    loader = DataLoader(ours, rng="sample", seed=7, generator=torch.Generator().manual_seed(3), **options)
    order = DataLoader(range(COUNT), generator=torch.Generator().manual_seed(3), **options)
    for epoch in range(2):
        before = generators()[1:]
        indices = [batch if options["batch_size"] else [batch] for batch in order]
        for batch, numbers in zip(loader, indices, strict=True):
            wanted = [expected[epoch][int(index)] for index in numbers]
            collated = torch.utils.data.default_collate(wanted) if options["batch_size"] else wanted[0]
            assert same(
                list(batch) if isinstance(batch, tuple) else batch,
                list(collated) if isinstance(collated, tuple) else collated,
            )
        assert same(generators()[1:], before)


def test_epochs_are_counted_or_set(pictures: Path) -> None:
    loader = DataLoader(Pairs(T), num_workers=1, rng="sample")
    first, second = (next(iter(loader))["image"] for _ in range(2))
    assert not torch.equal(first, second)
    loader.set_epoch(1)
    assert torch.equal(next(iter(loader))["image"], second)
    with pytest.raises(ValueError, match="epoch should be at least 0"):
        loader.set_epoch(-1)


def test_epoch_is_told_to_the_sampler() -> None:
    sampler = torch.utils.data.DistributedSampler(range(COUNT), num_replicas=2, rank=0)
    DataLoader(range(COUNT), sampler=sampler).set_epoch(4)
    assert sampler.epoch == 4


def saved(state: dict[str, Any]) -> Any:
    """Through a file, as it is read by default."""
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    return torch.load(file, weights_only=True)


LOADERS: dict[str, dict[str, Any]] = {
    "no workers": {"num_workers": 0},
    "one": {"num_workers": 1},
    "three": {"num_workers": 3},
    "persistent": {"num_workers": 2, "persistent_workers": True},
    "mixed": {"num_workers": 2, "collate_fn": mixed},
    "sample": {"num_workers": 2, "rng": "sample"},
    "sample, no workers": {"num_workers": 0, "rng": "sample"},
    "processes": {"num_workers": 2, "timeout": 100},
    "generator": {"num_workers": 2},
}


def loader_of(name: str, dataset: Any) -> DataLoader:
    options = dict(LOADERS[name])
    if name == "generator":
        options["generator"] = torch.Generator().manual_seed(6)
    options["threads"] = True if type(dataset) is Pairs else None
    return DataLoader(dataset, batch_size=3, shuffle=True, **options)


@pytest.mark.parametrize(
    ("name", "kind"),
    # The collate function takes pairs of values.
    [
        pytest.param(name, kind, marks=[] if position % 4 == 0 else pytest.mark.main)
        for position, (name, kind) in enumerate(itertools.product(LOADERS, SETS))
        if (name, kind) != ("mixed", "items")
    ],
)
def test_going_on_in_mid_epoch(name: str, kind: str, pictures: Path) -> None:
    """The same batches are left, in this epoch and in the next one, for a loader that never saw the others."""
    dataset = SETS[kind][1](pictures)
    for epochs, taken in ((0, 0), (0, 3), (1, 2)):
        if (name, kind, epochs) == ("persistent", "drawing", 1):
            continue  # of which the next test is
        seed_all(5)
        loader = loader_of(name, dataset)
        for _ in range(epochs):
            list(loader)
        iterator = iter(loader)
        for _ in range(taken):
            next(iterator)
        state, globals_ = saved(loader.state_dict()), generators()
        expected = [list(iterator), list(loader), generators()]
        seed_all(99)
        other = loader_of(name, dataset)
        other.load_state_dict(state)
        torch.set_rng_state(globals_[0])  # the training loop's to save
        random.setstate(globals_[1])
        np.random.set_state(("MT19937", np.frombuffer(globals_[2][0], np.uint32), globals_[2][1]))  # noqa: NPY002
        assert same([list(other), list(other), generators()], expected), (epochs, taken)


def test_persistent_processes_of_several_epochs_cannot_go_on(pictures: Path) -> None:
    loader = loader_of("persistent", SETS["drawing"][1](pictures))
    list(loader)
    next(iter(loader))
    other = loader_of("persistent", SETS["drawing"][1](pictures))
    with pytest.warns(UserWarning, match="begin anew"):
        other.load_state_dict(saved(loader.state_dict()))
    assert len(list(other)) == len(loader) - 1


@pytest.mark.parametrize("name", LOADERS)
def test_going_on_after_an_epoch(name: str, pictures: Path) -> None:
    dataset = SETS["folder"][1](pictures)
    seed_all(5)
    loader = loader_of(name, dataset)
    list(loader)
    state, before = saved(loader.state_dict()), torch.get_rng_state()
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    expected = list(loader)
    other = loader_of(name, dataset)
    other.load_state_dict(state)
    torch.set_rng_state(before)
    random.setstate(python)
    np.random.set_state(numpy)  # noqa: NPY002
    assert same(list(other), expected)


def test_state_of_an_epoch_that_was_left(pictures: Path) -> None:
    dataset = SETS["folder"][1](pictures)
    for name in ("one", "processes"):
        seed_all(5)
        loader = loader_of(name, dataset)
        expected = list(loader)
        seed_all(5)
        loader = loader_of(name, dataset)
        for number, _ in enumerate(loader):
            if number == 2:
                break
        other = loader_of(name, dataset)
        other.load_state_dict(saved(loader.state_dict()))
        assert same(list(other), expected[3:])


def test_going_on_out_of_order(pictures: Path) -> None:
    dataset = Subset(SETS["folder"][1](pictures), range(COUNT))
    seed_all(5)
    whole = [images for images, _ in DataLoader(dataset, batch_size=2, num_workers=3)]
    for taken in range(1, len(whole), 3):
        seed_all(5)
        loader = DataLoader(dataset, batch_size=2, num_workers=3, in_order=False)
        given = [images for images, _ in itertools.islice(loader, taken)]
        other = DataLoader(dataset, batch_size=2, num_workers=3, in_order=False)
        other.load_state_dict(saved(loader.state_dict()))
        given += [images for images, _ in other]
        assert len(given) == len(whole)
        assert all(any(torch.equal(one, image) for one in given) for image in whole)


def test_the_epoch_of_a_distributed_sampler_goes_on() -> None:
    def loader() -> DataLoader:
        sampler = torch.utils.data.DistributedSampler(range(COUNT), num_replicas=2, rank=1)
        return DataLoader(range(COUNT), batch_size=2, sampler=sampler, num_workers=1)

    first = loader()
    first.set_epoch(3)
    iterator = iter(first)
    next(iterator)
    other = loader()
    other.load_state_dict(saved(first.state_dict()))
    assert same(list(other), list(iterator))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"num_workers": 3}, "num_workers=3"),
        ({"rng": "sample"}, "rng='sample'"),
        ({"epoch": None}, "lacks epoch"),
    ],
)
def test_states_that_do_not_fit(change: dict[str, Any], says: str) -> None:
    loader = DataLoader(range(4), num_workers=2)
    state = {**loader.state_dict(), **change}
    if "epoch" in change:
        del state["epoch"]
    with pytest.raises(ValueError, match=says):
        loader.load_state_dict(state)
    with pytest.raises(TypeError, match="dictionary"):
        loader.load_state_dict([state])  # type: ignore[arg-type]
