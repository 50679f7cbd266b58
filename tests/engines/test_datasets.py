"""Hugging Face datasets: a transform that gets batches of rows."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from fastaug.data import DataLoader


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def test_the_page(section: Any, reference: Any) -> None:
    """The loader gives what torch's gives of torchvision's transform."""
    names = section("Hugging Face datasets")

    def augmented(rows: dict[str, list[Any]]) -> dict[str, Any]:
        return {"image": [reference.image(image["path"]) for image in rows["image"]], "label": rows["label"]}

    table = names["table"].with_transform(augmented)
    plain = torch.utils.data.DataLoader(table, batch_size=4, shuffle=True, num_workers=2)
    loader = names["loader"]
    for epoch in range(2):
        torch.manual_seed(epoch)
        expected = list(plain)
        torch.manual_seed(epoch)
        for ours, theirs in zip(loader, expected, strict=True):
            assert torch.equal(ours["image"], theirs["image"])
            assert torch.equal(ours["label"], theirs["label"])
    assert "threads" in str(loader.profile())


def test_bytes_in_the_table_and_draws_of_samples(section: Any, reference: Any) -> None:
    import datasets

    names = section("Hugging Face datasets")
    images = [{"path": None, "bytes": path.read_bytes()} for path in reference.files]
    columns = {"image": images, "label": reference.labels}
    table = datasets.Dataset.from_dict(columns).cast_column("image", datasets.Image(decode=False))
    loader = DataLoader(table.with_transform(names["augmented"]), 4, num_workers=2, rng="sample", seed=0)
    loader.set_epoch(3)
    batches = [(batch["image"], batch["label"]) for batch in loader]
    starts = range(0, len(images), 4)
    reference.check([(*batch, range(start, start + len(batch[1]))) for start, batch in zip(starts, batches)])
