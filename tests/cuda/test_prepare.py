"""Compiled.prepare: kernels ahead of the images that need them. No GPU is needed, or used."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import fastaug
import fastaug.transforms as T
from fastaug._cuda.kernels import covers
from on_device import PIPELINES, pipeline, seeded, states, tensors
from support.devices import HostDevice
from support.outcomes import seed_all


@pytest.mark.parametrize("name", [name for name in PIPELINES if name != "augmix"])
@pytest.mark.parametrize("of_tensors", [True, False])
def test_later_calls_need_no_more(name: str, of_tensors: bool, device: HostDevice) -> None:
    transform = fastaug.compile(pipeline(name, of_tensors))
    seed_all(1)
    before = states()
    count = transform.prepare("cuda", [(64, 80), 70])
    assert states() == before
    assert count
    prepared = list(device.asked)
    assert len(set(prepared)) <= count
    device.asked.clear()
    images = tensors() if of_tensors else [T.ToPILImage()(image) for image in tensors()]
    seeded(transform.batch, images, device="cuda")
    assert device.asked
    assert all(any(covers(one, spec) for one in prepared) for spec in device.asked)
    assert not device.launches - 1


def test_nothing_is_done(device: HostDevice) -> None:
    """No image is copied, and no kernel launched; a generator of the pipeline's own stays where it is."""
    generator = torch.Generator()
    generator.manual_seed(4)
    transform = fastaug.compile(pipeline("P"), generator=generator)
    before = generator.get_state()
    assert transform.prepare(torch.device("cuda", 0))
    assert torch.equal(generator.get_state(), before)
    assert device.launches == device.uploaded == 0


def test_settings(device: HostDevice) -> None:
    """Kernels are of the dtype that results have."""
    fastaug.compile(pipeline("imagenet"), dtype=torch.float16).prepare(sizes=[64])
    halves = {spec[2] for spec in device.asked}
    device.asked.clear()
    fastaug.compile(pipeline("imagenet")).prepare(sizes=[64])
    assert halves.isdisjoint({spec[2] for spec in device.asked})


def test_what_no_device_does(device: HostDevice) -> None:
    transform = fastaug.compile(T.Compose([T.ToTensor(), T.Lambda(torch.sqrt)]))
    assert transform.prepare(sizes=[32]) == 0
    assert not device.asked


@pytest.mark.parametrize(
    ("transforms", "named", "error", "words"),
    [
        ([T.ToTensor()], {"device": "cpu"}, ValueError, "needs no kernels"),
        ([T.ToTensor()], {"device": "cuda:9"}, ValueError, "'cuda:9'"),
        ([T.ToTensor()], {"device": 1}, TypeError, "torch.device"),
        ([T.ToTensor()], {"sizes": []}, ValueError, "at least one size"),
        ([T.ToTensor()], {"sizes": [(3, 0)]}, ValueError, "positive"),
        ([T.Resize(20)], {}, ValueError, "end in tensors"),
        ([T.RandomCrop(100), T.ToTensor()], {"sizes": [64]}, ValueError, "larger than"),
        ([T.ToTensor(), T.ToTensor()], {"sizes": [64]}, TypeError, "ndarray"),
    ],
)
def test_errors(transforms: Any, named: Any, error: type[Exception], words: str, device: HostDevice) -> None:
    with pytest.raises(error, match=words):
        fastaug.compile(T.Compose(transforms)).prepare(**named)
