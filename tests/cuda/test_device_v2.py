"""Batches of pipelines of transforms.v2 on a device: the CPU's results, bit for bit. No GPU is needed, or used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from PIL import Image
from torchvision import tv_tensors as tvt
from torchvision.transforms import v2 as TV

import fastaug
from fastaug.transforms import v2 as T
from on_device import MEAN, SIZES, STD, expect_same, seeded, tensors
from support.batches import encoded
from support.devices import HostBackend, HostDevice
from support.images import PHOTOS, photo

#: Each ends in floats, from what `head` makes.
PIPELINES: dict[str, Callable[[Any], list[Any]]] = {
    "imagenet": lambda v2: [v2.RandomResizedCrop(32), v2.RandomHorizontalFlip()],
    "evaluation": lambda v2: [v2.Resize(48, interpolation="bicubic"), v2.CenterCrop(40)],
    "colours": lambda v2: [v2.RandomCrop(40), v2.ColorJitter(0.3, 0.3, 0.3, 0.1), v2.RandomGrayscale(0.5)],
    "tones": lambda v2: [
        v2.Resize((30, 34)),
        v2.RandomAutocontrast(1.0),
        v2.RandomAdjustSharpness(2, 1.0),
        v2.RandomEqualize(),
    ],
    "warps": lambda v2: [v2.RandomAffine(20, (0.1, 0.1), (0.8, 1.2), interpolation=2), v2.Pad(4), v2.RandomCrop(48)],
    "simclr": lambda v2: [v2.RandomResizedCrop(32), v2.RandomSolarize(128), v2.GaussianBlur(5)],
    "rand_augment": lambda v2: [v2.RandAugment(), v2.RandomCrop(40)],
    "ssd": lambda v2: [v2.RandomPhotometricDistort(), v2.RandomZoomOut(0, (1.0, 1.5)), v2.Resize((40, 40))],
}


def pipeline(name: str, v2: Any = T, first: bool = True) -> Any:
    """ToImage in front of all, or behind the augmentations of PIL images."""
    before, after = ([v2.ToImage()], []) if first else ([], [v2.ToImage()])
    end = [v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD)]
    return v2.Compose([*before, *PIPELINES[name](v2), *after, *end])


def pictures() -> list[Image.Image]:
    return [photo(PHOTOS[k % 4], *size) for k, size in enumerate(SIZES)]


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("name", PIPELINES)
def test_tensors_on_the_device(name: str, compiled: bool, backend: HostBackend, device: HostDevice) -> None:
    transform = fastaug.compile(pipeline(name, TV)) if compiled else pipeline(name)
    expected = seeded(transform.batch, tensors())
    result = seeded(transform.batch, [device.put(image) for image in tensors()])
    expect_same(result[0], expected[0])
    assert result[1] == expected[1]
    assert all(map(device.owns, result[0]))
    if name != "simclr":  # of which the core leaves some to torch
        assert device.launches and not backend.fetched
    reference = seeded(lambda: torch.stack([pipeline(name, TV)(image) for image in tensors()]))
    assert torch.equal(result[0].cpu(), reference[0])
    assert result[1] == reference[1]


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("name", PIPELINES)
def test_images_on_the_host(name: str, first: bool, device: HostDevice) -> None:
    reference = seeded(lambda: torch.stack([pipeline(name, TV, first)(image) for image in pictures()]))
    sources: list[Any] = [pictures(), [tvt.Image(image) for image in tensors()] if first else pictures()]
    sources.append([encoded(image, "PNG") for image in pictures()])
    for images in sources:
        result = seeded(pipeline(name, T, first).batch, images, device="cuda")
        assert device.owns(result[0]) and type(result[0]) is torch.Tensor
        assert torch.equal(result[0].cpu(), reference[0])
        assert result[1] == reference[1]
    assert device.launches


def test_compiled_formats(device: HostDevice) -> None:
    for dtype, layout in ((torch.float16, torch.channels_last), (torch.bfloat16, None), (None, torch.channels_last)):
        transform = fastaug.compile(pipeline("imagenet", TV), dtype=dtype, memory_format=layout)
        expected = seeded(transform.batch, pictures())
        result = seeded(transform.batch, pictures(), device="cuda")
        expect_same(result[0], expected[0])
        assert device.launches


def test_calls_with_an_image_on_the_device(device: HostDevice) -> None:
    """And samples, whose other leaves are on the host."""
    for image in tensors():
        for name in ("imagenet", "colours", "warps"):
            result = seeded(pipeline(name), device.put(image))
            expected = seeded(pipeline(name, TV), image)
            assert torch.equal(result[0].cpu(), expected[0]) and result[1] == expected[1]
            found = seeded(pipeline(name), device.put(image), {"label": 3})[0]
            assert torch.equal(found[0].cpu(), expected[0]) and found[1] == {"label": 3}


def test_prepare(device: HostDevice) -> None:
    compiled = fastaug.compile(pipeline("imagenet", TV))
    assert compiled.prepare("cuda", [(40, 60), 100]) > 0


def test_samples_are_no_batch_of_a_device(device: HostDevice) -> None:
    samples = [(image, {"label": number}) for number, image in enumerate(tensors())]
    with pytest.raises(ValueError, match="tensor"):
        pipeline("imagenet").batch(samples, device="cuda")
