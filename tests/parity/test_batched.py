"""Many images at once give what torchvision gives for one after the other: pixels, generators, errors."""

from __future__ import annotations

import contextlib
import io
import os
import random
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torchvision.transforms as TV
from PIL import Image

import fastaug
import fastaug.io
import fastaug.transforms as T
from fastaug._batch.batch import Batch, Task
from fastaug._batch.run import Mapped
from fastaug._batch.slots import recycled
from fastaug._batch.threads import Crew, threads_for
from support.batches import THREADS, encoded, names_of_threads, one_by_one, photographs, train
from support.differences import each
from support.garbage import left_by
from support.images import PHOTOS, photo
from support.outcomes import assert_same, run, seed_all, snapshot
from tables.recipes import IMAGENET, PIPELINES, RECIPES


def assert_batch(ours: Any, theirs: Any, images: Any, seed: int = 0, **options: Any) -> Any:
    """`batch` and `map` leave what torchvision's loop leaves; the result of `batch`."""
    expected = run(lambda given: one_by_one(theirs, given), images, seed, untouched=True)
    batched = run(lambda given: ours.batch(given, **options), images, seed, untouched=True)
    result, batched.value = batched.value, list(batched.value)
    expected.warned = batched.warned = []
    assert_same(batched, expected)
    mapped = run(
        lambda given: list(ours.map(given, num_threads=options.get("num_threads"))), images, seed, untouched=True
    )
    mapped.warned = []
    assert_same(mapped, expected)
    return result


@pytest.mark.parametrize("name", [name for name in RECIPES if hasattr(RECIPES[name](T), "batch")])
@each("threads", THREADS)
def test_recipes(name: str, threads: int) -> None:
    assert_batch(RECIPES[name](T), RECIPES[name](TV), photographs(), seed=threads, num_threads=threads)


@pytest.mark.parametrize("name", PIPELINES)
@each("threads", THREADS)
def test_pipelines(name: str, threads: int) -> None:
    assert_batch(PIPELINES[name](T), PIPELINES[name](TV), photographs(), seed=threads, num_threads=threads)


@pytest.mark.parametrize("threads", THREADS)
def test_results_that_are_no_tensors_or_differ_are_a_list(threads: int) -> None:
    images = photographs()
    for make in (
        lambda package: package.Compose([package.RandomCrop(60), package.RandomGrayscale(0.5)]),
        lambda package: package.Compose([package.Resize(60), package.ToTensor()]),
        lambda package: package.Compose([package.RandomCrop(60), package.TenCrop(20)]),
        lambda package: package.Compose([]),
        lambda package: package.Compose([package.RandomChoice([package.ToTensor(), package.PILToTensor()])]),
    ):
        result = assert_batch(make(T), make(TV), images, num_threads=threads)
        assert isinstance(result, list)
    # Each tensor has memory of its own, as those of calls have.
    different = T.Compose([T.Resize(60), T.ToTensor()]).batch(images, num_threads=threads)
    assert all(result.untyped_storage().nbytes() == 4 * result.numel() for result in different)


def test_one_contiguous_tensor() -> None:
    result = train(T).batch(photographs())
    assert isinstance(result, torch.Tensor)
    assert result.shape == (6, 3, 48, 48)
    assert result.is_contiguous()
    assert T.Compose([T.CenterCrop(20), T.PILToTensor()]).batch(photographs()).is_contiguous()


@pytest.mark.parametrize("threads", THREADS)
@each("memory_format", [torch.channels_last, None])
@each("dtype", [torch.float16, torch.bfloat16, None])
def test_compiled_formats(threads: int, dtype: Any, memory_format: Any) -> None:
    compiled = fastaug.compile(train(T), dtype=dtype, memory_format=memory_format)
    seed_all(1)
    expected = torch.stack(one_by_one(compiled, photographs()))
    seed_all(1)
    result = compiled.batch(photographs(), num_threads=threads)
    assert result.dtype is (dtype or torch.float32)
    assert torch.equal(result, expected)
    assert result.is_contiguous(memory_format=memory_format or torch.contiguous_format)


def test_a_compiled_generator_is_the_one_that_is_drawn_from() -> None:
    generators = [torch.Generator().manual_seed(4) for _ in range(2)]
    loop, batch = (fastaug.compile(train(T), generator=generator) for generator in generators)
    before = torch.get_rng_state()
    assert torch.equal(torch.stack(one_by_one(loop, photographs())), batch.batch(photographs(), num_threads=3))
    assert torch.equal(generators[0].get_state(), generators[1].get_state())
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("threads", THREADS)
def test_all_that_can_be_an_image(tmp_path: Path, threads: int) -> None:
    first, second, third = photographs(3)
    files = [
        encoded(first, "JPEG"),
        encoded(second, "PNG"),
        encoded(third, "JPEG", progressive=True),
        encoded(first, "GIF"),
    ]
    paths = []
    for number, data in enumerate(files):
        paths.append(tmp_path / f"{number}.image")
        paths[-1].write_bytes(data)
    pillows = [Image.open(io.BytesIO(data)).convert("RGB") for data in files]
    opened = [Image.open(io.BytesIO(data)) for data in files[:3]]
    sources = [
        files,
        paths,
        list(map(str, paths)),
        [bytearray(files[0]), memoryview(files[1]), np.frombuffer(files[2], np.uint8), io.BytesIO(files[3])],
        [fastaug.io.lazy(path) for path in paths],
    ]
    seed_all(threads)
    expected = one_by_one(train(TV), pillows)
    for images, transforms in [
        *((source, (train(T), train(T, T.Decode()))) for source in sources),
        ([*opened, pillows[3]], (train(T),)),
        ([files[0], pillows[1], paths[2], fastaug.io.lazy(files[3])], (train(T),)),
    ]:
        for transform in transforms:
            seed_all(threads)
            assert torch.equal(transform.batch(images, num_threads=threads), torch.stack(expected))
            seed_all(threads)
            assert snapshot(list(transform.map(images, num_threads=threads))) == snapshot(expected)
    gray = T.Compose([T.Decode("L", exif=True), T.CenterCrop(40)]).batch(files, num_threads=threads)
    theirs = [TV.CenterCrop(40)(pillow.convert("L")) for pillow in pillows]
    assert snapshot(gray[1]) == snapshot(theirs[1])


@pytest.mark.parametrize("threads", THREADS)
def test_arrays_and_tensors_of_images(tmp_path: Path, threads: int) -> None:
    pixels = np.stack([np.asarray(photo(name, 60, 70)) for name in PHOTOS])
    pipeline = lambda package: package.Compose(  # noqa: E731
        [package.ToPILImage(), package.RandomCrop(40), package.ColorJitter(0.2, 0.2), package.ToTensor()]
    )
    np.save(tmp_path / "bag.npy", pixels)
    bag = np.load(tmp_path / "bag.npy", mmap_mode="r")
    assert_batch(pipeline(T), pipeline(TV), pixels, num_threads=threads)
    assert_batch(pipeline(T), pipeline(TV), bag, num_threads=threads)
    tensors = torch.from_numpy(pixels).permute(0, 3, 1, 2)
    assert_batch(pipeline(T), pipeline(TV), tensors, num_threads=threads)
    flips = lambda package: package.Compose([package.RandomHorizontalFlip(), package.RandomVerticalFlip()])  # noqa: E731
    for images in (tensors, tensors.contiguous(), tensors.float(), tensors[:, 0:1]):
        result = assert_batch(flips(T), flips(TV), images, num_threads=threads)
        assert isinstance(result, torch.Tensor)
        assert not {result.untyped_storage().data_ptr()} & {images.untyped_storage().data_ptr()}


@pytest.mark.parametrize("threads", THREADS)
def test_out(tmp_path: Path, threads: int) -> None:
    images = photographs()
    seed_all(5)
    expected = torch.stack(one_by_one(train(TV), images))
    state = torch.get_rng_state()
    whole = torch.zeros(9, 3, 50, 50)
    mapped = np.memmap(tmp_path / "out", np.float32, "w+", shape=(6, 3, 48, 48))
    for out in (
        torch.zeros(6, 3, 48, 48),
        torch.zeros(6, 48, 48, 3).permute(0, 3, 1, 2),
        whole[2:8, :, 1:49, 1:49],
        mapped,
        np.zeros((6, 48, 48, 3), np.float32).transpose(0, 3, 1, 2),
    ):
        seed_all(5)
        assert train(T).batch(images, out, num_threads=threads) is out
        assert torch.equal(torch.as_tensor(out), expected)
        assert torch.equal(torch.get_rng_state(), state)
    assert whole[:2].any() == whole[8:].any() == whole[:, :, 0].any() == whole[..., 49].any() == False  # noqa: E712
    # What Python does, too: its results are copied.
    seed_all(5)
    unknown = T.Compose([*train(T).transforms, lambda tensor: tensor * 1])
    assert torch.equal(unknown.batch(images, torch.zeros(6, 3, 48, 48), num_threads=threads), expected)


def test_an_out_that_does_not_fit_draws_nothing() -> None:
    images = photographs()
    read_only = np.zeros((6, 3, 48, 48), np.float32)
    read_only.flags.writeable = False
    pipeline = T.Compose([T.RandomChoice([T.Pad(0)]), *train(T).transforms])
    for out, error in (
        (torch.zeros(5, 3, 48, 48), ValueError),
        (torch.zeros(6, 3, 48, 47), ValueError),
        (torch.zeros(6, 3, 48, 48, dtype=torch.float64), ValueError),
        (torch.zeros(6, 3, 48, 48, dtype=torch.uint8), ValueError),
        (torch.zeros(6, 48, 48), ValueError),
        (torch.zeros(6), ValueError),
        (torch.zeros(1, 3, 48, 48).expand(6, 3, 48, 48), ValueError),
        (torch.zeros(6, 3, 48, 48, device="meta"), ValueError),
        (torch.zeros(6, 3, 48, 48, requires_grad=True), ValueError),
        (read_only, ValueError),
        (np.zeros((6, 3, 48, 48), np.float32)[:, :, ::-1], ValueError),
        (np.zeros((6, 3, 48, 48), ">f4"), ValueError),
        ([0] * 6, TypeError),
    ):
        seed_all(0)
        before = torch.get_rng_state(), random.getstate()
        with pytest.raises(error, match="out should"):
            pipeline.batch(images, out)
        assert torch.equal(torch.get_rng_state(), before[0])
        assert random.getstate() == before[1]
    with pytest.raises(ValueError, match="out should hold") as raised:
        T.Compose([T.Resize(48), T.ToTensor()]).batch(
            [photo("ihc", 48, 48), photo("ihc", 48, 50)], torch.zeros(2, 3, 48, 48)
        )
    assert raised.value.index == 1


@pytest.mark.parametrize("threads", THREADS)
def test_seeds(threads: int) -> None:
    images, seeds = photographs(), [7, 7, 2**40, 0, 1, 3]
    expected = []
    for image, seed in zip(images, seeds):
        torch.manual_seed(seed)
        expected.append(train(TV)(image))
    state = torch.get_rng_state()
    assert torch.equal(train(T).batch(images, num_threads=threads, seeds=seeds), torch.stack(expected))
    assert torch.equal(torch.get_rng_state(), state)
    with pytest.raises(ValueError, match="one for each of the 6 images"):
        train(T).batch(images, seeds=[1])
    for wrong in (3, "123456", [1.5] * 6):
        with pytest.raises(TypeError, match="seeds should be"):
            train(T).batch(images, seeds=wrong)


@pytest.mark.parametrize("threads", THREADS)
def test_the_first_error_is_raised_when_the_others_are_done(tmp_path: Path, threads: int) -> None:
    broken = tmp_path / "broken.png"
    broken.write_bytes(encoded(photo("ihc", 64, 64), "PNG")[:900])
    out = torch.zeros(5, 3, 48, 48)
    pipeline = T.Compose([T.CenterCrop(48), T.ToTensor()])
    with pytest.raises(fastaug.DecodeError) as raised:
        pipeline.batch([photo("ihc", 64, 64), broken, tmp_path / "none.png", photo("ihc", 64, 64), 3], out, threads)
    assert (raised.value.index, raised.value.path) == (1, str(broken))
    expected = TV.Compose([TV.CenterCrop(48), TV.ToTensor()])(photo("ihc", 64, 64))
    assert torch.equal(out[0], expected)
    assert torch.equal(out[3], expected)
    with pytest.raises(FileNotFoundError) as missing:
        pipeline.batch([str(tmp_path / "none.png")], num_threads=threads)
    assert missing.value.path == str(tmp_path / "none.png")
    with pytest.raises(ValueError, match="Required crop size") as small:
        T.Compose([T.RandomCrop(100)]).batch([photo("ihc", 120, 120), photo("ihc", 90, 90)], num_threads=threads)
    assert small.value.index == 1

    def refuse(image: Image.Image) -> Image.Image:
        if image.width == 64:
            raise KeyError("not this one")
        return image

    with pytest.raises(KeyError) as own:
        T.Compose([T.Lambda(refuse)]).batch([photo("ihc", 32, 32), photo("ihc", 64, 64)], num_threads=threads)
    assert own.value.index == 1
    assert torch.equal(pipeline.batch([photo("ihc", 64, 64)], num_threads=threads)[0], expected)


def test_images_that_are_none() -> None:
    pipeline = train(T)
    for images in (
        photo("ihc", 60, 60),
        "folder",
        Path("folder"),
        b"\xff\xd8",
        {"image": 1},
        3,
        None,
        fastaug.io.lazy("a"),
    ):
        for many in (pipeline.batch, pipeline.map):
            with pytest.raises(TypeError, match="images should be a list"):
                many(images)
    for empty in ([], (), np.zeros((0, 8, 8, 3), np.uint8), torch.zeros(0, 3, 8, 8)):
        with pytest.raises(ValueError, match="got none"):
            pipeline.batch(empty)
    for image in (np.zeros((8, 8, 3), np.uint8), torch.zeros(3, 8, 8)):
        with pytest.raises(ValueError, match="images should be of shape"):
            pipeline.batch(image)
    assert list(pipeline.map([])) == []
    for many in (pipeline.batch, pipeline.map):
        with pytest.raises(ValueError, match="num_threads should be at least 1"):
            many(photographs(), num_threads=0)
        with pytest.raises(TypeError, match="num_threads should be an integer"):
            many(photographs(), num_threads=1.5)


@pytest.mark.parametrize("threads", THREADS)
def test_callables_are_called_in_order_and_draw(threads: int) -> None:
    """A callable of the user's sees what was done to its image, and draws between the draws of its neighbours."""
    seen: list[int] = []

    def turn(image: Image.Image) -> Image.Image:
        seen.append(image.width)
        return image.rotate(30 * torch.rand(1).item() + random.random() + np.random.rand())  # noqa: NPY002

    def pipeline(package: Any) -> Any:
        return package.Compose(
            [package.RandomCrop(60), package.Lambda(turn), package.RandomApply([turn]), *train(package).transforms]
        )

    assert_batch(pipeline(T), pipeline(TV), photographs(), num_threads=threads)
    assert set(seen) == {60}


def test_a_pipeline_of_ones_own_calling() -> None:
    class Doubled(T.Compose):
        def __call__(self, image: Any) -> Any:
            return super().__call__(super().__call__(image))

    pipeline = Doubled([T.RandomRotation(20), T.RandomCrop(40, padding=3)])
    seed_all(0)
    expected = one_by_one(pipeline, photographs())
    seed_all(0)
    assert snapshot(pipeline.batch(photographs(), num_threads=3)) == snapshot(expected)
    seed_all(0)
    assert snapshot(list(pipeline.map(photographs(), num_threads=3))) == snapshot(expected)


def test_memory_of_a_batch_is_used_again() -> None:
    pipeline, images = T.Compose([T.Resize((300, 300)), T.ToTensor()]), photographs()
    batch = pipeline.batch(images)
    address = batch.data_ptr()
    row = batch[2, 1, 3:4]
    expected = row.clone()
    del batch
    other = pipeline.batch(images[::-1])
    assert other.data_ptr() != address, "memory that is still seen was used again"
    assert torch.equal(row, expected)
    del row, other
    addresses = set()
    for _ in range(5):
        batch = pipeline.batch(images)
        addresses.add(batch.data_ptr())
    assert len(addresses) <= 3
    del batch
    kept = sum(memory.nbytes for memory in recycled._free)
    assert 0 < kept <= 1 << 29


def test_usual_threads() -> None:
    assert threads_for(None) == len(os.sched_getaffinity(0))
    inside: list[int] = []
    look = T.Compose([T.ToTensor(), T.Lambda(lambda image: (inside.append(threads_for(None)), image)[1])])
    assert threads_for(5) == 5
    look.batch(photographs(), num_threads=1)
    # A batch in a thread that works for another has none of its own. AugMix is done by these threads, with Python.
    nested = T.Compose([T.AugMix(), T.ToTensor()])
    nested.batch(photographs(), num_threads=3)
    assert set(inside) == {threads_for(None)}


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no interval timers")
@pytest.mark.parametrize("threads", THREADS)
def test_interrupts(no_threads: None, threads: int) -> None:
    """Ctrl-C ends a batch within an image for each thread, and leaves nothing behind."""
    images = [photo("ihc")] * 400
    pipeline = T.Compose([T.Resize(400), T.RandomRotation(20), T.ToTensor()])
    small: Callable[[], Any] = lambda: train(T).batch(photographs(), num_threads=threads)  # noqa: E731
    seed_all(0)
    expected = small()

    def interrupted(seconds: float) -> None:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        pipeline.batch(images, num_threads=threads)

    for delay in (0.001, 0.02, 0.05):
        handler = signal.signal(signal.SIGALRM, signal.default_int_handler)
        try:
            with pytest.raises(KeyboardInterrupt):
                interrupted(delay)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, handler)
        # One that was only just being started ends by itself.
        give_up = time.monotonic() + 10
        while names_of_threads() and time.monotonic() < give_up:
            time.sleep(0.001)
        assert not names_of_threads()
        seed_all(0)
        assert torch.equal(small(), expected)


def refuse(image: Any) -> Any:
    raise KeyError("refused")


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("kind", ["read", "draws", "function", "out"])
def test_a_batch_goes_with_its_error(kind: str, threads: int) -> None:
    """Not with the next collection of garbage, as a batch may be gigabytes. More than the first image fails."""
    broken: Any = encoded(photo("ihc"), "PNG")[:300] if kind == "read" else photo("ihc", 30, 90)
    images = [photo("ihc"), broken, photo("ihc"), broken, broken]
    transform = T.Compose([refuse if kind == "function" else T.RandomCrop(48), T.ToTensor()])
    out = torch.zeros(5, 3, 2, 2) if kind == "out" else None

    def fail() -> None:
        with contextlib.suppress(OSError, ValueError, KeyError):
            transform.batch(images, out=out, num_threads=threads)
        with contextlib.suppress(OSError, ValueError, KeyError, StopIteration):
            mapped = transform.map(images, num_threads=threads)
            while True:
                with contextlib.suppress(OSError, ValueError, KeyError):
                    next(mapped)

    assert not left_by(fail, Batch, Task, Mapped, Crew)


def test_batches_in_several_threads_at_a_time() -> None:
    images = photographs()
    pipeline = T.Compose([T.CenterCrop(120), T.Resize(50), T.ToTensor()])
    expected = pipeline.batch(images)
    wrong: list[int] = []

    def work() -> None:
        wrong.extend(k for k in range(10) if not torch.equal(pipeline.batch(images, num_threads=2), expected))

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


def test_normalised_with_constants() -> None:
    pipeline = lambda package: package.Compose([*train(package).transforms, package.Normalize(*IMAGENET)])  # noqa: E731
    assert isinstance(assert_batch(pipeline(T), pipeline(TV), photographs()), torch.Tensor)


def test_crops_behind_flips_of_what_the_core_does_not_make() -> None:
    """What is forgotten of an outline's ops is forgotten of the first of them, too."""
    image = torch.rand(5, 17, 13)
    transform = T.Compose([T.ConvertImageDtype(torch.uint8), T.RandomHorizontalFlip(1.0), T.RandomResizedCrop(7)])
    torch.manual_seed(3)
    expected = transform(image)
    torch.manual_seed(3)
    assert torch.equal(transform.batch([image])[0], expected)
    image = torch.randint(0, 256, (3, 17, 13), dtype=torch.uint8)
    transform = T.Compose([T.Resize((20, 21), antialias=False), T.RandomVerticalFlip(1.0), T.RandomCrop(9)])
    torch.manual_seed(3)
    expected = transform(image)
    torch.manual_seed(3)
    assert torch.equal(transform.batch([image])[0], expected)
