"""Views of tensors on a device, and batches of views there. No GPU is needed, or used."""

from __future__ import annotations

import pytest
import torch

import fastaug
import fastaug.transforms as T
from on_device import expect_same, seeded, tensors
from support.devices import HostBackend, HostDevice


def views() -> fastaug.Views:
    steps = [T.RandomHorizontalFlip(), T.ColorJitter(0.3, 0.3), T.ConvertImageDtype(torch.float32)]
    first = T.Compose([T.RandomResizedCrop(24), *steps])
    return fastaug.Views([first, T.RandomCrop(20), T.Compose([T.RandomResizedCrop(16), *steps])])


def test_views_are_made_on_the_device_of_the_image(backend: HostBackend, device: HostDevice) -> None:
    for seed, image in enumerate(tensors()):
        expected = seeded(views(), image, seed=seed)
        result = seeded(views(), device.put(image), seed=seed)
        assert result[1] == expected[1]
        for one, other in zip(result[0], expected[0]):
            assert device.owns(one)
            expect_same(one, other)
    assert device.launches
    assert not backend.fetched


@pytest.mark.parametrize("there", [False, True], ids=["on the host", "on the device"])
def test_batches_on_a_device(there: bool, device: HostDevice) -> None:
    images = [tensors()[0]] * 3
    expected = seeded(views().batch, images, seed=4)
    given = [device.put(image) if there else image for image in images]
    result = seeded(lambda one: views().batch(one, device="cuda"), given, seed=4)
    assert result[1] == expected[1]
    for one, other in zip(result[0], expected[0]):
        assert device.owns(one) and one.shape == other.shape
        expect_same(one, other)


def test_out_on_a_device(device: HostDevice) -> None:
    images = [tensors()[0]] * 2
    expected = seeded(views().batch, images, seed=4)[0]
    out = [device.put(torch.empty_like(column)) for column in expected]
    assert seeded(lambda one: views().batch(one, out, device="cuda"), images, seed=4)[0] is out
    for one, other in zip(out, expected):
        expect_same(one, other)
    out[1] = device.put(torch.empty(2, 3, 9, 9))
    with pytest.raises(ValueError, match=r"out\[1\] should hold .*\(3, 9, 9\).* for each image, got .*\(3, 20, 20\)"):
        views().batch(images, out, device="cuda")
    with pytest.raises(ValueError, match="results on cuda:0 should be tensors of one shape and dtype"):
        fastaug.Views([T.ToPILImage()]).batch(images, device="cuda")
