"""Calls with a tensor on a device: the CPU's draws and bits, made there. No GPU is needed, or used."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
import torch

import fastaug
import fastaug.transforms as T
import fastaug.transforms.functional as F
from on_device import PIPELINES, expect_same, pipeline, seeded, tensors
from support.devices import HostBackend, HostDevice


@pytest.mark.parametrize("name", PIPELINES)
def test_as_on_the_cpu(name: str, backend: HostBackend, device: HostDevice) -> None:
    for seed, image in enumerate(tensors()):
        there = device.put(image)
        expected = seeded(pipeline(name), image, seed=seed)
        result = seeded(pipeline(name), there, seed=seed)
        expect_same(result[0], expected[0])
        assert result[1] == expected[1]
    assert device.launches
    assert not backend.fetched or name == "segmentation"


@pytest.mark.parametrize(
    "transform",
    [
        T.Resize(20),
        T.ColorJitter(0.3, 0.3, 0.3, 0.1),
        T.GaussianBlur(3),
        T.RandomRotation(20, interpolation=T.InterpolationMode.BILINEAR),
        T.RandomEqualize(1.0),
        T.RandomAdjustSharpness(2.0, 1.0),
        T.TrivialAugmentWide(),
        T.ElasticTransform(20.0),
        T.RandomCrop(20),
        T.RandomHorizontalFlip(1.0),
        T.ConvertImageDtype(torch.float32),
        T.ConvertImageDtype(torch.float64),
        F.autocontrast,
        F.vflip,
    ],
    ids=lambda transform: getattr(transform, "__name__", None) or type(transform).__name__,
)
@pytest.mark.parametrize("memory_format", [torch.contiguous_format, torch.channels_last])
def test_one_transform(transform: Any, memory_format: torch.memory_format, device: HostDevice) -> None:
    image = tensors()[0][None].contiguous(memory_format=memory_format)[0]
    expected = seeded(transform, image)
    result = seeded(transform, device.put(image))
    expect_same(result[0], expected[0])
    assert result[1] == expected[1]


def test_what_no_device_does(backend: HostBackend, device: HostDevice) -> None:
    """Done on the host, and the result is on the device."""
    steps = [T.RandomAffine((20, 30), scale=(1e-3, 1e-3)), T.ConvertImageDtype(torch.float32)]
    transform = T.Compose(steps, arithmetic="pil")
    expected, _ = seeded(transform, tensors()[0])
    result, _ = seeded(transform, device.put(tensors()[0]))
    expect_same(result, expected)
    assert device.owns(result)
    assert backend.fetched == 1


def test_images_of_pillow(backend: HostBackend, device: HostDevice) -> None:
    transform = T.Compose([T.CenterCrop(20), T.ToPILImage()])
    assert transform(device.put(tensors()[0])) == transform(tensors()[0])
    assert backend.fetched == 1


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("memory_format", [None, torch.channels_last])
def test_compiled(dtype: Any, memory_format: Any, device: HostDevice) -> None:
    transform = fastaug.compile(pipeline("imagenet"), dtype=None if dtype is torch.float64 else dtype)
    expected, _ = seeded(transform, tensors()[0])
    result, _ = seeded(transform, device.put(tensors()[0]))
    expect_same(result, expected)


@pytest.mark.parametrize(
    "image",
    [torch.rand(3, 40, 50), torch.zeros(2, 3, 40, 50, dtype=torch.uint8), torch.zeros(5, 40, 50, dtype=torch.uint8)],
    ids=["floats", "batch", "five channels"],
)
def test_what_is_left_to_torch(image: torch.Tensor, device: HostDevice) -> None:
    transform = T.Compose([T.RandomCrop(20), T.Resize(10)])
    expected, _ = seeded(transform, image)
    result, _ = seeded(transform, device.put(image))
    assert result.shape == expected.shape
    torch.testing.assert_close(result, expected)
    assert not device.launches


def test_sample_and_replay(device: HostDevice) -> None:
    there = device.put(tensors()[0])
    for name in ("P", "augmix", "rand_augment"):
        transform = pipeline(name)
        params, after = seeded(transform.sample, there)
        assert (params, after) == seeded(transform.sample, tensors()[0])
        expect_same(transform.replay(there, params), transform.replay(tensors()[0], params))


def test_explain(device: HostDevice) -> None:
    """It says what the host would do, which gives the same."""
    expected = str(pipeline("evaluation").explain(tensors()[0]))
    assert str(pipeline("evaluation").explain(device.put(tensors()[0]))).splitlines()[2:] == expected.splitlines()[2:]


def test_kernels_are_the_pipeline_s_own(device: HostDevice) -> None:
    """One family asks for no more than its pipeline does; and neither pickles nor copies take it along."""
    first, second = pipeline("imagenet"), fastaug.compile(T.Compose([T.RandomInvert(1.0)]))
    first(device.put(tensors()[0]))
    device.asked.clear()
    second(device.put(tensors()[0]))
    alone = list(device.asked)
    device.asked.clear()
    fastaug.compile(T.Compose([T.RandomInvert(1.0)]))(device.put(tensors()[0]))
    assert device.asked == alone
    for one in (first, second):
        for other in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
            expected, _ = seeded(one, device.put(tensors()[0]))
            expect_same(seeded(other, device.put(tensors()[0]))[0], expected)
