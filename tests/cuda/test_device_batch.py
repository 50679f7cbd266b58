"""Batches on a device, from images there and on the host: the CPU's results, bit for bit. No GPU is needed, or used."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import fastaug
import fastaug.transforms as T
from fastaug._batch import device as batch_device
from fastaug.io import LazyImage
from on_device import PIPELINES, SIZES, expect_same, pipeline, seeded, states, tensors
from support.batches import encoded
from support.devices import HostBackend, HostDevice
from support.images import noise, photo, pil
from support.outcomes import seed_all


def expect_on(device: HostDevice, result: Any) -> None:
    for one in result if isinstance(result, list) else [result]:
        assert device.owns(one)


# ---- images on the device


@pytest.mark.parametrize("name", PIPELINES)
def test_as_on_the_cpu(name: str, device: HostDevice) -> None:
    images = tensors()
    expected = seeded(pipeline(name).batch, images)
    result = seeded(pipeline(name).batch, [device.put(image) for image in images])
    expect_same(result[0], expected[0])
    assert result[1] == expected[1]
    expect_on(device, result[0])
    assert device.launches or name == "augmix"


@pytest.mark.parametrize("name", ["P", "imagenet", "erasing"])
def test_nothing_comes_back(name: str, backend: HostBackend, device: HostDevice) -> None:
    """What a device does takes one launch of a bag, and no image to the host."""
    pipeline(name).batch([device.put(image) for image in tensors()])
    assert (device.launches, backend.fetched, device.uploaded) == (1, 0, 0)


def test_several_sizes_of_results(device: HostDevice) -> None:
    """A list, of which each has memory of its own."""
    transform = T.Compose([T.RandomHorizontalFlip(), T.ConvertImageDtype(torch.float32)])
    expected, _ = seeded(transform.batch, tensors())
    result, _ = seeded(transform.batch, [device.put(image) for image in tensors()])
    assert isinstance(result, list)
    expect_same(result, expected)
    expect_on(device, result)
    assert len({one.untyped_storage().data_ptr() for one in result}) == len(result)


@pytest.mark.parametrize("layout", ["planes", "channels_last", "every second", "gray", "flat", "four"])
def test_layouts(layout: str, device: HostDevice) -> None:
    """The view is put on the device with the strides that it has on the host."""
    planes = torch.from_numpy(noise(5 * 40, 2 * 50, 4).transpose(2, 0, 1).copy()).view(4, 5, 40, 100).transpose(0, 1)
    batch = {
        "planes": planes[:, :3].contiguous(),
        "channels_last": planes[:, :3].contiguous(memory_format=torch.channels_last),
        "every second": planes[:, :3, :, ::2],
        "gray": planes[:, :1],
        "flat": planes[:, 1],
        "four": planes,
    }[layout]
    resize = [] if layout == "flat" else [T.Resize(20)]
    transform = T.Compose([T.RandomCrop(30), *resize, T.RandomVerticalFlip(), T.RandomHorizontalFlip()])
    items, there = (list(batch), list(device.put(batch))) if layout == "flat" else (batch, device.put(batch))
    expected, _ = seeded(transform.batch, items)
    result, _ = seeded(transform.batch, there)
    expect_same(result, expected)
    expect_on(device, result)


class Array:
    """An array of another library's."""

    def __init__(self, pixels: torch.Tensor) -> None:
        self._pixels = pixels

    def __dlpack__(self, **named: Any) -> Any:
        return self._pixels.__dlpack__(**named)

    def __dlpack_device__(self) -> Any:
        return self._pixels.__dlpack_device__()


@pytest.mark.parametrize("whole", [False, True])
def test_arrays_of_others(whole: bool, backend: HostBackend, device: HostDevice) -> None:
    pixels = noise(4 * 40, 50).reshape(4, 40, 50, 3)
    there = device.put(torch.from_numpy(pixels))
    transform = pipeline("imagenet", tensors=False)
    expected = seeded(transform.batch, pixels)
    result = seeded(transform.batch, Array(there) if whole else [Array(one) for one in there])
    expect_same(result[0], expected[0])
    assert result[1] == expected[1]
    assert not backend.fetched
    expect_on(device, result[0])


def test_gray_arrays_and_other_dtypes(backend: HostBackend, device: HostDevice) -> None:
    gray, floats = noise(40, 50, 1)[:, :, 0], np.float32(noise(40, 50))
    transform = T.Compose([T.ToTensor()])
    expected = [transform(gray), transform(floats)]
    result = transform.batch([Array(device.put(torch.from_numpy(one))) for one in (gray, floats)])
    for one, other in zip(result, expected):
        assert torch.equal(one, other)
    assert backend.fetched == 1


def test_one_array_in_place_of_several(device: HostDevice) -> None:
    with pytest.raises(ValueError, match=r"\[N, H, W, C\].*\(40, 50, 3\)"):
        T.Compose([T.ToTensor()]).batch(Array(device.put(torch.from_numpy(noise(40, 50)))))


# ---- images on the host


def files(folder: Path) -> list[Any]:
    """The same photographs in all that a batch takes."""
    images = [photo("coffee", 90 + k, 120) for k in range(7)]
    path = folder / "image.png"
    images[0].save(path)
    return [
        path,
        str(path),
        encoded(images[1], "PNG"),
        encoded(images[2], "JPEG"),
        LazyImage(encoded(images[3], "PNG")),
        images[4],
        np.asarray(images[5]),
        images[6].convert("L"),
        pil("RGBA", 95, 97),
        pil("P", 95, 97).convert("RGB"),
        encoded(pil("P", 95, 97), "GIF"),
        io.BytesIO(encoded(images[1], "JPEG")),
    ]


@pytest.mark.parametrize("threads", [1, 3])
def test_images_on_the_host(threads: int, tmp_path: Path, device: HostDevice) -> None:
    transform = pipeline("simclr", tensors=False)
    expected = seeded(transform.batch, files(tmp_path))
    result = seeded(transform.batch, files(tmp_path), device="cuda", num_threads=threads)
    expect_same(result[0], expected[0])
    assert result[1] == expected[1]
    expect_on(device, result[0])
    assert device.uploaded


@pytest.mark.parametrize("name", PIPELINES)
@pytest.mark.parametrize("kind", ["pil", "tensor", "channels_last"])
def test_pipelines_of_images_on_the_host(name: str, kind: str, device: HostDevice) -> None:
    images: list[Any] = tensors()
    if kind == "pil":
        images = [Image.fromarray(image.permute(1, 2, 0).numpy()) for image in images]
    elif kind == "channels_last":
        images = [image[None].contiguous(memory_format=torch.channels_last)[0] for image in images]
    transform = pipeline(name, tensors=kind != "pil")
    expected = seeded(transform.batch, images)
    result = seeded(transform.batch, images, device="cuda:0")
    expect_same(result[0], expected[0])
    assert result[1] == expected[1]
    expect_on(device, result[0])


def test_only_what_is_read_is_copied(device: HostDevice) -> None:
    transform = T.Compose([T.CenterCrop(20), T.ToTensor()])
    transform.batch([photo("coffee", 300, 400)], device="cuda")
    assert 20 * 20 * 3 <= device.uploaded < 20 * 20 * 3 + 64


def test_nothing_that_is_read(device: HostDevice) -> None:
    """A crop of the border alone."""
    transform = T.Compose([T.Pad(50, fill=7), lambda image: image, T.ToTensor()])
    corner = T.Compose([Corner(), T.ToTensor()])
    images = [photo("coffee", 30, 40), photo("chelsea", 40, 30)]
    for one in (transform, corner):
        expected, _ = seeded(one.batch, images)
        result, _ = seeded(one.batch, images, device="cuda")
        expect_same(result, expected)


class Corner(T.CenterCrop):
    """What is cropped lies beyond the image."""

    def __init__(self) -> None:
        super().__init__(10)

    def _draft(self, draft: Any, params: Any) -> None:
        draft.pad([40], 7, "constant")
        draft.crop(0, 0, 10, 10)


def test_mixed_lists(device: HostDevice) -> None:
    images = tensors()
    mixed = [device.put(images[0]), images[1], device.put(images[2]), images[3]]
    expected = seeded(pipeline("P").batch, images)
    result = seeded(pipeline("P").batch, mixed)
    expect_same(result[0], expected[0])
    assert result[1] == expected[1]
    expect_on(device, result[0])


def test_many_chunks(monkeypatch: pytest.MonkeyPatch, device: HostDevice) -> None:
    """More images than a chunk holds, and images that are larger than the memory of one."""
    monkeypatch.setattr(batch_device, "_IMAGES", 3)
    monkeypatch.setattr(batch_device, "_BYTES", 20000)
    images = [photo("coffee", 40 + 5 * k, 70) for k in range(23)]
    transform = pipeline("imagenet", tensors=False)
    expected = seeded(transform.batch, images)
    result = seeded(transform.batch, images, device="cuda", num_threads=2)
    expect_same(result[0], expected[0])
    assert result[1] == expected[1]
    assert device.launches > 8


# ---- settings


@pytest.mark.parametrize("mode", ["exact", "fast"])
@pytest.mark.parametrize("dtype", [None, torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("memory_format", [None, torch.channels_last, torch.contiguous_format])
def test_compiled(mode: str, dtype: Any, memory_format: Any, device: HostDevice) -> None:
    transform = fastaug.compile(pipeline("imagenet"), mode, dtype=dtype, memory_format=memory_format)
    images = tensors()
    expected, _ = seeded(transform.batch, images)
    result, _ = seeded(transform.batch, [device.put(image) for image in images])
    assert result.stride() == expected.stride()
    assert result.dtype is expected.dtype
    if mode == "exact":
        assert torch.equal(result, expected)
    else:
        torch.testing.assert_close(result, expected, rtol=0, atol=0.05)


def test_generators_of_compiled_ones(device: HostDevice) -> None:
    images = tensors()
    results = []
    for there in (images, [device.put(image) for image in images]):
        generator = torch.Generator()
        generator.manual_seed(5)
        transform = fastaug.compile(pipeline("P"), generator=generator)
        before = states()
        results.append((transform.batch(there), generator.get_state()))
        assert states() == before
    assert torch.equal(results[0][0], results[1][0])
    assert torch.equal(results[0][1], results[1][1])


def test_seeds(device: HostDevice) -> None:
    images = tensors()
    expected = pipeline("P").batch(images, seeds=[5, 6, 5, 7])
    result = pipeline("P").batch([device.put(image) for image in images], seeds=[5, 6, 5, 7])
    expect_same(result, expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("layout", ["contiguous", "channels_last", "with gaps"])
def test_out(dtype: torch.dtype, layout: str, device: HostDevice) -> None:
    transform = fastaug.compile(pipeline("imagenet"), dtype=dtype)
    images = tensors()
    whole = device.put(torch.full((4, 3, 32, 40), 9.0, dtype=dtype))
    out = {
        "contiguous": whole.view(-1)[: 4 * 3 * 32 * 32].view(4, 3, 32, 32),
        "channels_last": whole.view(-1)[: 4 * 3 * 32 * 32].view(4, 32, 32, 3).permute(0, 3, 1, 2),
        "with gaps": whole[:, :, :, 4:36],
    }[layout]
    expected, _ = seeded(transform.batch, images)
    result, _ = seeded(transform.batch, [device.put(image) for image in images], out=out)
    assert result is out
    assert torch.equal(out, expected)
    if layout == "with gaps":
        assert (whole[:, :, :, :4] == 9).all()
        assert (whole[:, :, :, 36:] == 9).all()


def test_out_of_bytes(device: HostDevice) -> None:
    transform = T.Compose([T.RandomResizedCrop(24)])
    out = device.put(torch.zeros((4, 3, 24, 24), dtype=torch.uint8))
    expected, _ = seeded(transform.batch, tensors())
    seeded(transform.batch, tensors(), out=out, device="cuda")
    assert torch.equal(out, expected)


# ---- what no device does


def double(image: torch.Tensor) -> torch.Tensor:
    return image.repeat(1, 1, 2)


def drawn(image: torch.Tensor) -> torch.Tensor:
    return image.roll(int(torch.randint(0, 20, ())), -1)


FALLBACKS: dict[str, Any] = {
    "lambda": [T.RandomCrop(40), T.Lambda(double), T.ColorJitter(0.3), T.ConvertImageDtype(torch.float32)],
    "last": [T.RandomCrop(40), T.ConvertImageDtype(torch.float32), double],
    "draws": [T.RandomCrop(40), drawn, T.ConvertImageDtype(torch.float32)],
    "elastic": [T.ElasticTransform(20.0), T.RandomCrop(40), T.ConvertImageDtype(torch.float32)],
    "noise": [T.RandomCrop(40), T.ConvertImageDtype(torch.float32), T.RandomErasing(1.0, value="random")],
    "double": [T.RandomCrop(40), T.ConvertImageDtype(torch.float64)],
    "far": [T.RandomAffine((20, 30), scale=(1e-3, 1e-3)), T.RandomCrop(40), T.ConvertImageDtype(torch.float32)],
    "far bytes": [T.RandomAffine((20, 30), scale=(1e-3, 1e-3))],
    "nothing": [T.RandomHorizontalFlip(0.0)],
    "flips": [T.RandomHorizontalFlip()],
    "crops": [T.FiveCrop(20), T.Lambda(torch.stack)],
}


@pytest.mark.parametrize("name", FALLBACKS)
@pytest.mark.parametrize("there", [False, True])
def test_what_no_device_does(name: str, there: bool, device: HostDevice) -> None:
    transform = T.Compose(FALLBACKS[name])
    images = tensors()
    expected = seeded(transform.batch, images)
    given = [device.put(image) for image in images] if there else images
    result = seeded(transform.batch, given, device="cuda")
    if isinstance(expected[0], list):
        assert isinstance(result[0], list)
        assert all(map(torch.equal, result[0], expected[0]))
    else:
        assert torch.equal(result[0], expected[0])
    assert result[1] == expected[1]
    expect_on(device, result[0])


def test_what_no_device_does_into_out(device: HostDevice) -> None:
    transform = T.Compose(FALLBACKS["far"])
    expected, _ = seeded(transform.batch, tensors())
    out = device.put(torch.zeros_like(expected))
    seeded(transform.batch, [device.put(image) for image in tensors()], out=out)
    assert torch.equal(out, expected)


def test_several_results_of_an_image(device: HostDevice) -> None:
    transform = T.Compose([T.FiveCrop(20)])
    expected = [transform(image) for image in tensors()]
    result = transform.batch([device.put(image) for image in tensors()])
    for one, other in zip(result, expected):
        assert isinstance(one, tuple)
        for part, part_expected in zip(one, other):
            assert device.owns(part)
            assert torch.equal(part, part_expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int16])
def test_other_dtypes(dtype: torch.dtype, backend: HostBackend, device: HostDevice) -> None:
    images = [image.to(dtype) for image in tensors()]
    transform = T.Compose([T.RandomCrop(40), T.RandomHorizontalFlip()])
    expected = seeded(transform.batch, images)
    result = seeded(transform.batch, [device.put(image) for image in images])
    assert torch.equal(result[0], expected[0])
    assert result[1] == expected[1]
    assert backend.fetched == len(images)


def test_a_broken_file(tmp_path: Path, device: HostDevice) -> None:
    good = encoded(photo("coffee", 60, 60), "PNG")
    transform = T.Compose([T.RandomCrop(20), T.ToTensor()])
    with pytest.raises(fastaug.DecodeError) as caught:
        transform.batch([good, good[:200], good], device="cuda")
    assert caught.value.index == 1  # type: ignore[attr-defined]


# ---- errors


IMAGENET = pipeline("imagenet")


@pytest.mark.parametrize(
    ("named", "error", "words"),
    [
        ({"device": "gpu"}, ValueError, "'gpu'"),
        ({"device": "cuda:x"}, ValueError, "'cuda:x'"),
        ({"device": "meta"}, ValueError, "CUDA device or the CPU"),
        ({"device": 0}, TypeError, "torch.device"),
        ({"device": "cuda:7"}, ValueError, "'cuda:7'.*2 CUDA devices"),
        ({"device": "cuda:1"}, ValueError, "cuda:1.*cuda:0"),
        ({"device": "cpu"}, ValueError, "cpu.*cuda:0"),
        ({"out": torch.zeros(4, 3, 32, 32)}, ValueError, "cuda:0.*cpu"),
        ({"out": np.zeros((4, 3, 32, 32), np.float32)}, TypeError, "tensor on cuda:0"),
    ],
)
def test_arguments(named: dict[str, Any], error: type[Exception], words: str, device: HostDevice) -> None:
    seed_all(1)
    before = states()
    with pytest.raises(error, match=words):
        IMAGENET.batch([device.put(image) for image in tensors()], **named)
    assert states() == before


@pytest.mark.parametrize("shape", [(4, 3, 32, 33), (4, 1, 32, 32), (3, 3, 32, 32), (4, 32, 32)])
def test_an_out_that_does_not_fit(shape: tuple[int, ...], device: HostDevice) -> None:
    seed_all(1)
    before = states()
    with pytest.raises(ValueError, match="out should"):
        IMAGENET.batch([device.put(image) for image in tensors()], out=device.put(torch.zeros(shape)))
    assert states() == before


def test_an_out_that_does_not_fit_what_no_device_does(device: HostDevice) -> None:
    seed_all(1)
    before = states()
    with pytest.raises(ValueError, match="out should hold"):
        T.Compose(FALLBACKS["draws"]).batch(tensors(), out=device.put(torch.zeros(4, 3, 40, 41)), device="cuda")
    assert states() == before


def test_devices_that_differ(backend: HostBackend) -> None:
    images = [one.put(image) for one, image in zip(backend.devices, tensors())]
    with pytest.raises(ValueError, match="cuda:0 and some on cuda:1"):
        IMAGENET.batch(images)
    out = backend.devices[1].put(torch.zeros(4, 3, 32, 32))
    with pytest.raises(ValueError, match="out should be a dense tensor on cuda:0"):
        IMAGENET.batch(tensors(), out=out, device="cuda:0")


def test_the_second_device(backend: HostBackend) -> None:
    second = backend.devices[1]
    expected, _ = seeded(IMAGENET.batch, tensors())
    for given, named in ((tensors(), {"device": torch.device("cuda", 1)}), ([second.put(i) for i in tensors()], {})):
        result, _ = seeded(IMAGENET.batch, given, **named)
        expect_same(result, expected)
        expect_on(second, result)
    assert not backend.devices[0].launches


@pytest.mark.parametrize("last", [[], [T.Lambda(lambda image: image)], [T.ToTensor(), T.ToPILImage()]])
def test_no_tensors(last: list[Any], device: HostDevice) -> None:
    seed_all(1)
    before = states()
    with pytest.raises(ValueError, match=r"has to end in tensors.*PIL image"):
        T.Compose([T.RandomCrop(20), *last]).batch([photo("coffee", 60, 60)] * 3, device="cuda")
    assert states() == before
    with pytest.raises(ValueError, match=r"has to end in tensors.*array"):
        T.Compose([T.RandomCrop(20)]).batch([noise(60, 60)] * 3, device="cuda")
    with pytest.raises(ValueError, match=r"has to end in tensors.*int"):
        T.Compose([T.RandomCrop(20), lambda image: 3]).batch([noise(60, 60)] * 3, device="cuda")


def test_capture(device: HostDevice) -> None:
    device.capturing = True
    seed_all(1)
    before = states()
    with pytest.raises(RuntimeError, match="captured"):
        IMAGENET.batch([device.put(image) for image in tensors()])
    assert states() == before
    with pytest.raises(RuntimeError, match="captured"):
        IMAGENET(device.put(tensors()[0]))


@pytest.mark.parametrize("left", [0, 60000])
def test_out_of_memory(left: int, device: HostDevice) -> None:
    """Whether for the result or for what is needed to make it; afterwards everything works again."""
    images = [device.put(image) for image in tensors()]
    device.left = left
    with pytest.raises(torch.cuda.OutOfMemoryError):
        IMAGENET.batch(images)
    device.left = 1 << 30
    expected, _ = seeded(IMAGENET.batch, tensors())
    result, _ = seeded(IMAGENET.batch, images)
    expect_same(result, expected)


def test_an_image_that_is_too_small(device: HostDevice) -> None:
    """The first error of the list, with its number; and the generators as after one by one."""
    images = tensors(((64, 64), (20, 20), (64, 64)))
    transform = T.Compose([T.RandomCrop(40), T.ConvertImageDtype(torch.float32)])
    with pytest.raises(ValueError) as expected:
        transform.batch(images)
    with pytest.raises(ValueError) as caught:
        transform.batch([device.put(image) for image in images])
    assert str(caught.value) == str(expected.value)
    assert caught.value.index == 1  # type: ignore[attr-defined]


def test_map(device: HostDevice) -> None:
    """Images of a device are done there, one by one."""
    expected, _ = seeded(lambda: list(IMAGENET.map(tensors())))
    result, _ = seeded(lambda: list(IMAGENET.map([device.put(image) for image in tensors()])))
    expect_same(result, expected)
    expect_on(device, result)
    assert device.launches == len(SIZES)


def test_nothing_of_a_batch_without_a_device(device: HostDevice) -> None:
    result = IMAGENET.batch(tensors(), device="cpu")
    assert not device.owns(result)
    assert not device.launches
