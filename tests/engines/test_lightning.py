"""Lightning: the loader in a Trainer, on one rank and on two, from checkpoints too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import lightning
import pytest
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from torch.utils.data import DistributedSampler

from fastaug.data import DataLoader

EPOCHS = 3
TWO_RANKS = {"strategy": "ddp_fork", "devices": 2}
ARGUMENTS = {
    "batch_size": 4,
    "num_workers": 2,
    "num_threads": 1,
    "rng": "sample",
    "seed": 5,
    "prefetch_factor": 3,
    "threads": True,
}


def fit(model: Any, loader: Any = None, path: Path | None = None, **options: Any) -> list[dict[str, Any]]:
    """Of each rank, the batches that a Trainer hands to such a model, and the loader that it takes them from."""

    class Watched(model):
        def on_train_start(self) -> None:
            self.seen: list[Any] = []

        def training_step(self, batch: Any, number: int) -> Any:
            self.seen.append(batch)
            return super().training_step(batch, number)

        def on_train_end(self) -> None:
            loader = self.trainer.train_dataloader
            arguments = {name: getattr(loader, name) for name in ARGUMENTS}
            kinds = [f"{type(one).__module__}.{type(one).__name__}" for one in (loader, loader.sampler)]
            torch.save({"batches": self.seen, "arguments": arguments, "kinds": kinds}, f"rank{self.global_rank}.pt")

    for left in Path().glob("rank*.pt"):
        left.unlink()
    quiet = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False}
    options = {"enable_checkpointing": "callbacks" in options, **options}
    trainer = lightning.Trainer(max_epochs=EPOCHS, accelerator="cpu", **quiet, **options)
    trainer.fit(Watched(), loader, ckpt_path=path, weights_only=None if path is None else False)
    return [torch.load(file) for file in sorted(Path().glob("rank*.pt"))]


def loaderless(names: dict[str, Any]) -> Any:
    """The page's model, without a loader of its own."""

    class Model(names["Model"]):
        train_dataloader = lightning.LightningModule.train_dataloader
        on_train_epoch_start = lightning.LightningModule.on_train_epoch_start

    return Model


def expected_of(loader: Any) -> list[Any]:
    """The batches without a Trainer."""
    batches = []
    for epoch in range(EPOCHS):
        if isinstance(loader, DataLoader):
            loader.set_epoch(epoch)
        batches += loader
    return batches


def check_same(ours: list[Any], theirs: list[Any]) -> None:
    assert theirs
    for (images, labels), (other_images, other_labels) in zip(ours, theirs, strict=True):
        assert torch.equal(images, other_images) and torch.equal(labels, other_labels)


@pytest.mark.parametrize("options", [{"devices": 1}, TWO_RANKS], ids=["one rank", "two ranks"])
def test_the_page(section: Any, options: dict[str, Any]) -> None:
    """Whole, and from a checkpoint in the middle of an epoch and from one at the end of the second."""
    names = section("Lightning")
    assert "5 batches of 18 images" in str(names["trainer"].train_dataloader.profile())
    count = options["devices"]
    steps = (5, 3)[count - 1]
    middle = ModelCheckpoint("middle", every_n_train_steps=steps + 2, save_top_k=-1, filename="{step}")
    end = ModelCheckpoint("end", every_n_epochs=1, save_top_k=-1, save_on_train_epoch_end=True, filename="{step}")
    whole = fit(names["Model"], callbacks=[middle, end], **options)
    assert len(whole) == count
    for rank in range(count):
        sampler = DistributedSampler(names["dataset"], count, rank, seed=0)
        plain = DataLoader(names["dataset"], 4, sampler=sampler, rng="sample", seed=0)
        check_same(whole[rank]["batches"], expected_of(plain))
    for done, path in ((steps + 2, f"middle/step={steps + 2}.ckpt"), (2 * steps, f"end/step={2 * steps}.ckpt")):
        rest = fit(names["Model"], path=Path(path), **options)
        for rank in range(count):
            check_same(rest[rank]["batches"], whole[rank]["batches"][done:])


@pytest.mark.parametrize("rng", ["torch", "sample"])
def test_a_loader_that_is_passed(section: Any, rng: str) -> None:
    """Batches are those without the Trainer, and with rng="torch" those of torch's loader."""
    names = section("Lightning")

    def loader(seed: int = 7, package: Any = DataLoader, **options: Any) -> Any:
        generator = torch.Generator().manual_seed(seed)
        return package(names["dataset"], 4, shuffle=True, num_workers=2, generator=generator, **options)

    middle = ModelCheckpoint("middle", every_n_train_steps=8, save_top_k=-1)
    (whole,) = fit(loaderless(names), loader(rng=rng), callbacks=[middle])
    check_same(whole["batches"], expected_of(loader(rng=rng)))
    if rng == "torch":
        check_same(whole["batches"], expected_of(loader(package=torch.utils.data.DataLoader)))
    # The state has the generator: another seed does not matter.
    (rest,) = fit(loaderless(names), loader(8, rng=rng), *Path("middle").iterdir())
    check_same(rest["batches"], whole["batches"][8:])


def test_a_loader_that_is_made_anew(section: Any) -> None:
    names = section("Lightning")
    ranks = fit(loaderless(names), DataLoader(names["dataset"], shuffle=True, **ARGUMENTS), **TWO_RANKS)
    assert len(ranks) == 2
    for rank, seen in enumerate(ranks):
        assert seen["arguments"] == ARGUMENTS
        assert seen["kinds"] == ["fastaug.data.DataLoader", "torch.utils.data.distributed.DistributedSampler"]
        sampler = DistributedSampler(names["dataset"], 2, rank)
        check_same(seen["batches"], expected_of(DataLoader(names["dataset"], sampler=sampler, **ARGUMENTS)))
