"""What only a GPU can show: its pixels, streams, memory, and that nobody waits for it.

Without one these tests are skipped; with FASTAUG_REQUIRE_CUDA=1 they fail.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
import torch

import fastaug
import fastaug.transforms as T
from fastaug._cuda import nvrtc
from on_device import PIPELINES, expect_same, pipeline, require_gpu, seeded, tensors
from support.batches import encoded
from support.images import photo


@pytest.fixture(autouse=True, scope="module")
def _gpu() -> None:
    require_gpu()


@contextlib.contextmanager
def strict() -> Iterator[None]:
    """Whatever has torch wait for the device raises."""
    torch.cuda.set_sync_debug_mode("error")
    try:
        yield
    finally:
        torch.cuda.set_sync_debug_mode("default")


def on_gpu(images: list[torch.Tensor]) -> list[torch.Tensor]:
    return [image.cuda() for image in images]


@pytest.mark.parametrize("name", PIPELINES)
def test_lists(name: str) -> None:
    images = tensors() * 8
    expected = seeded(pipeline(name).batch, images)
    result = seeded(pipeline(name).batch, on_gpu(images))
    assert result[0].is_cuda
    expect_same(result[0], expected[0])
    assert result[1] == expected[1]


@pytest.mark.parametrize("name", PIPELINES)
@pytest.mark.parametrize("of_tensors", [True, False])
def test_images_on_the_host(name: str, of_tensors: bool) -> None:
    images: list[Any] = tensors() * 8
    if not of_tensors:
        images = [T.ToPILImage()(image) for image in images]
    transform = pipeline(name, of_tensors)
    expected = seeded(transform.batch, images)
    result = seeded(transform.batch, images, device="cuda")
    expect_same(result[0], expected[0])
    assert result[1] == expected[1]


def test_files() -> None:
    images = [encoded(photo("coffee", 300 + k, 400), ("PNG", "JPEG")[k % 2]) for k in range(40)]
    transform = pipeline("simclr", tensors=False)
    expected, _ = seeded(transform.batch, images)
    expect_same(seeded(transform.batch, images, device="cuda")[0], expected)


@pytest.mark.parametrize("name", PIPELINES)
def test_calls(name: str) -> None:
    for seed, image in enumerate(tensors()):
        expected = seeded(pipeline(name), image, seed=seed)
        result = seeded(pipeline(name), image.cuda(), seed=seed)
        expect_same(result[0], expected[0])
        assert result[1] == expected[1]


@pytest.mark.parametrize("memory_format", [torch.contiguous_format, torch.channels_last])
def test_one_tensor(memory_format: torch.memory_format) -> None:
    images = torch.stack([image[:, :60, :60] for image in tensors()])
    expected, _ = seeded(pipeline("imagenet").batch, images)
    result, _ = seeded(pipeline("imagenet").batch, images.cuda().contiguous(memory_format=memory_format))
    expect_same(result, expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("memory_format", [torch.contiguous_format, torch.channels_last])
def test_dtypes_and_out(dtype: torch.dtype, memory_format: torch.memory_format) -> None:
    transform = fastaug.compile(pipeline("imagenet"), dtype=dtype, memory_format=memory_format)
    expected, _ = seeded(transform.batch, tensors())
    expect_same(seeded(transform.batch, on_gpu(tensors()))[0], expected)
    out = torch.zeros((4, 3, 32, 32), dtype=dtype, device="cuda").contiguous(memory_format=memory_format)
    result, _ = seeded(transform.batch, on_gpu(tensors()), out=out)
    assert result is out
    assert torch.equal(out.cpu(), expected)


def test_fast_mode() -> None:
    transform = fastaug.compile(pipeline("P"), "fast")
    expected, _ = seeded(transform.batch, tensors())
    result, _ = seeded(transform.batch, on_gpu(tensors()))
    torch.testing.assert_close(result.cpu(), expected, rtol=0, atol=0.05)


def test_streams() -> None:
    """Work goes to the current stream: after images that it makes, and before whoever reads the result there."""
    transform = pipeline("imagenet")
    expected, _ = seeded(transform.batch, tensors())
    seeded(transform.batch, on_gpu(tensors()))
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for given, named in ((True, {}), (False, {"device": "cuda"})):
            images = tensors()
            if given:
                torch.cuda._sleep(1_000_000_000)
                images = [image.pin_memory().to("cuda", non_blocking=True) for image in images]
            result, _ = seeded(transform.batch, images, **named)
            assert not given or not stream.query()
            copy = result.to("cpu")
            assert torch.equal(copy, expected)


def test_nobody_waits() -> None:
    """The device sleeps, and batches and calls return meanwhile: also batches of images on the host."""
    transform, host = pipeline("P"), tensors() * 8
    images = on_gpu(host)
    for _ in range(2):
        seeded(transform.batch, images)
        seeded(transform.batch, host, device="cuda")
        seeded(transform, images[0])
    torch.cuda.synchronize()
    with strict():
        torch.cuda._sleep(2_000_000_000)
        seeded(transform.batch, images)
        seeded(transform.batch, host, device="cuda")
        seeded(transform, images[0])
    assert not torch.cuda.current_stream().query()


def test_memory_is_torch_s() -> None:
    transform = pipeline("P")
    images = on_gpu(tensors() * 8)
    seeded(transform.batch, images)
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    result, _ = seeded(transform.batch, images)
    torch.cuda.synchronize()
    size = -(-result.numel() * 4 // 512) * 512
    assert torch.cuda.memory_allocated() == before + size
    del result
    assert torch.cuda.memory_allocated() == before


def test_many_batches_of_host_images() -> None:
    """Pinned memory is not written to before it has been copied."""
    transform = pipeline("imagenet", tensors=False)
    images = [photo("coffee", 380, 500 + k) for k in range(96)]
    expected, _ = seeded(transform.batch, images)
    results = [seeded(transform.batch, images, device="cuda")[0] for _ in range(6)]
    for result in results:
        expect_same(result, expected)


def test_capture() -> None:
    transform, images = pipeline("imagenet"), on_gpu(tensors())
    seeded(transform.batch, images)
    before = torch.get_rng_state()
    with pytest.raises(RuntimeError, match="captured"), torch.cuda.graph(torch.cuda.CUDAGraph()):
        transform.batch(images)
    assert torch.equal(torch.get_rng_state(), before)


def test_out_of_memory() -> None:
    transform = T.Compose([T.Resize((1 << 15, 1 << 15)), T.ConvertImageDtype(torch.float32)])
    with pytest.raises(torch.cuda.OutOfMemoryError):
        transform.batch(on_gpu(tensors()) * 64)
    seeded(pipeline("imagenet").batch, on_gpu(tensors()))


@pytest.mark.parametrize("interface", ["__dlpack__", "__cuda_array_interface__"])
def test_arrays_of_others(interface: str) -> None:
    class Array:
        def __init__(self, pixels: torch.Tensor) -> None:
            self.pixels = pixels

        def __getattr__(self, name: str) -> Any:
            if name in (interface, "__dlpack_device__"):
                return getattr(self.pixels, name)
            raise AttributeError(name)

    if interface == "__dlpack__":
        Array.__dlpack_device__ = lambda self: self.pixels.__dlpack_device__()  # type: ignore[attr-defined]
    pixels = torch.stack([image[:, :60, :60] for image in tensors()]).permute(0, 2, 3, 1).contiguous()
    transform = pipeline("imagenet", tensors=False)
    expected, _ = seeded(transform.batch, pixels.numpy())
    expect_same(seeded(transform.batch, Array(pixels.cuda()))[0], expected)


@pytest.mark.parametrize("name", [name for name in PIPELINES if name != "augmix"])
def test_prepared(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """After prepare() nothing is compiled."""
    transform = fastaug.compile(pipeline(name))
    assert transform.prepare("cuda", [(64, 80), (70, 61), (101, 67)])
    monkeypatch.setattr(nvrtc, "compile", None)
    seeded(transform.batch, on_gpu(tensors()))


def test_no_such_device() -> None:
    with pytest.raises(ValueError, match="cuda:99"):
        pipeline("imagenet").batch(tensors(), device="cuda:99")
