"""SPDL: a stage of a pipeline of threads."""

from __future__ import annotations

from typing import Any

import torch


def test_the_page(section: Any, reference: Any) -> None:
    batches = section("SPDL")["batches"]
    reference.check([(images, [reference.labels[i] for i in indices], indices) for images, indices in batches])
    assert torch.cat([indices for _, indices in batches]).tolist() == list(range(len(reference.files)))


def test_random_numbers_of_the_training_loop(section: Any, reference: Any) -> None:
    """The loop draws while the pipeline does, and neither minds."""
    from spdl.pipeline import PipelineBuilder

    names = section("SPDL")
    torch.manual_seed(1)
    expected = torch.rand(20000).tolist()
    torch.manual_seed(1)
    builder = PipelineBuilder().add_source(list(enumerate(reference.files))).aggregate(2)
    pipeline = builder.pipe(names["augmented"], concurrency=1).add_sink(2).build(num_threads=1)
    batches, drawn = [], []
    with pipeline.auto_stop():
        stream = pipeline.get_iterator()
        drawn += torch.cat([torch.rand(1) for _ in range(10000)]).tolist()
        batches += list(stream)
        drawn += torch.cat([torch.rand(1) for _ in range(10000)]).tolist()
    assert drawn == expected
    reference.check([(images, [reference.labels[i] for i in indices], indices) for images, indices in batches])
