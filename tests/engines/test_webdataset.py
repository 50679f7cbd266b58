"""WebDataset: tar files to batches."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_the_page(section: Any, reference: Any, workers: int) -> None:
    import webdataset

    names = section("WebDataset")
    reference.check(list(names["loader"]))
    loader = webdataset.WebLoader(names["batches"], batch_size=None, num_workers=workers)
    reference.check(list(loader))


def test_an_epoch_has_draws_of_its_own(section: Any, reference: Any) -> None:
    names = section("WebDataset")
    for epoch in (4, 5):
        names["epoch"] = epoch
        reference.check(list(names["loader"]), epoch)
