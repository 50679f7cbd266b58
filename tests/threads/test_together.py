"""Batches for which the core draws in one call: equal to a loop, wherever Python has to take over."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torchvision.datasets import ImageFolder

import fastaug
import fastaug.transforms as T
from fastaug._batch import run
from fastaug._batch.batch import Task
from fastaug._batch.threads import Crew
from fastaug._image import indexes
from fastaug.data import DataLoader
from fastaug.transforms import v2

# Two calls of the core, and a part of one.
COUNT = 2 * run._TOGETHER + 5


def noise(number: int, height: int = 33, width: int = 40, mode: str = "RGB") -> Image.Image:
    pixels = np.random.default_rng(number).integers(0, 256, (height, width, 3), dtype=np.uint8)
    return Image.fromarray(pixels).convert(mode)


def encoded(image: Image.Image, format: str = "JPEG") -> bytes:
    file = io.BytesIO()
    image.save(file, format)
    return file.getvalue()


def train() -> T.Compose:
    return T.Compose(
        [
            T.RandomResizedCrop(24),
            T.RandomHorizontalFlip(),
            T.ColorJitter(0.4, 0.4, 0.4, 0.1),
            T.GaussianBlur(3),
            T.ToTensor(),
            T.Normalize([0.5] * 3, [0.25] * 3),
            T.RandomErasing(),
        ]
    )


def to_pil() -> T.Compose:
    return T.Compose([T.RandomCrop(20), T.ColorJitter(0.4), T.RandomRotation(20)])


def of_v2() -> v2.Compose:
    return v2.Compose(
        [v2.RandomResizedCrop(20), v2.RandomHorizontalFlip(), v2.ToImage(), v2.ToDtype(torch.float32, scale=True)]
    )


def same(one: Any, two: Any) -> bool:
    if isinstance(two, torch.Tensor):
        return one.dtype == two.dtype and torch.equal(one, two)
    if isinstance(two, Image.Image):
        return one.mode == two.mode and one.size == two.size and one.tobytes() == two.tobytes()
    return len(one) == len(two) and all(map(same, one, two))


def looped(transform: Any, images: list[Any], seed: int = 0) -> tuple[list[Any], torch.Tensor]:
    """Return the results of a loop, an error as its type and text, and the state of the generator after it."""
    torch.manual_seed(seed)
    results = []
    for image in images:
        try:
            results.append(transform(image))
        except Exception as error:  # noqa: PERF203
            results.append((type(error), str(error)))
    return results, torch.get_rng_state()


def check(transform: Any, images: list[Any], threads: int = 2, seed: int = 0) -> None:
    expected, state = looped(transform, images, seed)
    torch.manual_seed(seed)
    assert same(list(transform.batch(images, num_threads=threads)), expected)
    assert torch.equal(torch.get_rng_state(), state)


@pytest.fixture
def tasks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the images for which Python draws."""
    drawn: list[int] = []
    draw = Task.draw

    def counted(self: Task, *arguments: Any) -> None:
        drawn.append(self.index)
        draw(self, *arguments)

    monkeypatch.setattr(Task, "draw", counted)
    return drawn


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("count", [1, 2, 9, COUNT])
@pytest.mark.parametrize(
    ("make", "kind"),
    [(train, "PIL"), (train, "array"), (train, "L"), (to_pil, "PIL"), (of_v2, "PIL"), (of_v2, "tensor")],
)
def test_the_core_draws_for_all_images(
    make: Callable[[], Any], kind: str, count: int, threads: int, tasks: list[int]
) -> None:
    images: list[Any] = [noise(number) for number in range(count)]
    if kind == "array":
        images = [np.asarray(image) for image in images]
    elif kind == "tensor":
        images = [torch.from_numpy(np.array(image)).permute(2, 0, 1).contiguous() for image in images]
    elif kind == "L":
        images = [image.convert("L").convert("RGB") for image in images]
    check(make(), images, threads)
    assert not tasks or count <= 2


@pytest.mark.parametrize("wanted", ["torch", "sizes", "places"])
def test_results_that_differ_are_a_list(wanted: str) -> None:
    if wanted == "sizes":
        check(T.Compose([T.RandomHorizontalFlip(), T.ToTensor()]), [noise(k, 20 + k % 3) for k in range(30)])
    elif wanted == "places":
        # The first result is no tensor of the others' size.
        transform = T.Compose([T.RandomHorizontalFlip(), T.ToTensor()])
        check(transform, [noise(0, 9), *(noise(k) for k in range(1, 20))])
    else:
        images = [noise(k, mode="L" if k % 4 else "RGB") for k in range(30)]
        check(T.Compose([T.RandomHorizontalFlip(), T.ToTensor()]), images)


# Images that are Python's, at several places of a batch.
@pytest.mark.parametrize("places", [(0,), (1,), (5, 6, 7), (run._TOGETHER - 1, run._TOGETHER), tuple(range(3, 40))])
@pytest.mark.parametrize("other", ["P", "float", "opened", "wide"])
def test_python_draws_for_the_others_in_their_turn(other: str, places: tuple[int, ...], tasks: list[int]) -> None:
    last = T.ConvertImageDtype(torch.float32) if other == "float" else T.ToTensor()
    transform = T.Compose([T.RandomCrop(20), T.RandomHorizontalFlip(), last])
    images: list[Any] = [noise(number) for number in range(run._TOGETHER + 20)]
    if other == "float":
        images = [torch.from_numpy(np.array(image)).permute(2, 0, 1).contiguous() for image in images]
    for place in places:
        if other == "P":
            images[place] = noise(place, mode="P")
        elif other == "float":
            images[place] = images[place].double()
        elif other == "opened":
            images[place] = Image.open(io.BytesIO(encoded(noise(place), "PNG")))
        else:
            images[place] = noise(place, mode="I")
    check(transform, images)
    assert set(places) <= set(tasks)


@pytest.mark.parametrize("place", [0, 1, 5, run._TOGETHER, COUNT - 1])
@pytest.mark.parametrize("seeded", [False, True])
def test_the_first_error_has_its_number(place: int, seeded: bool) -> None:
    transform = T.Compose([T.RandomCrop(20), T.ToTensor(), T.RandomErasing(1.0)])
    images = [noise(number) for number in range(COUNT)]
    images[place] = noise(place, 10, 10)
    if place < COUNT - 1:
        images[-1] = noise(0, 11, 11)
    seeds = list(range(COUNT)) if seeded else None
    expected, state = looped(transform, images)
    torch.manual_seed(0)
    with pytest.raises(ValueError, match="crop size") as caught:
        transform.batch(images, num_threads=2, seeds=seeds)
    assert caught.value.index == place  # type: ignore[attr-defined]
    assert expected[place] == (ValueError, str(caught.value))
    if not seeded:
        assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("make", [train, to_pil, of_v2])
@pytest.mark.parametrize("count", [1, 9, COUNT])
def test_seeds_are_those_of_torch(make: Callable[[], Any], count: int, tasks: list[int]) -> None:
    transform, images = make(), [noise(number) for number in range(count)]
    seeds = [int(seed) for seed in np.random.default_rng(count).integers(0, 2**62, count)]
    expected = []
    for image, seed in zip(images, seeds):
        torch.manual_seed(seed)
        expected.append(transform(image))
    state = torch.get_rng_state()
    assert same(list(transform.batch(images, num_threads=2, seeds=seeds)), expected)
    assert torch.equal(torch.get_rng_state(), state)
    assert not tasks or count == 1


@pytest.mark.parametrize("count", [3, COUNT])
def test_views_are_drawn_one_after_the_other(count: int, tasks: list[int]) -> None:
    views = fastaug.Views([train(), to_pil(), train()])
    images: list[Any] = [noise(number) for number in range(count)]
    images[1] = noise(1, mode="P").convert("RGB")
    expected, state = looped(lambda image: [view(image) for view in views.transforms], images)
    torch.manual_seed(0)
    columns = views.batch(images, num_threads=2)
    assert all(same(list(column), list(row)) for column, row in zip(columns, zip(*expected)))
    assert torch.equal(torch.get_rng_state(), state)
    assert not tasks


def test_a_replaced_method_is_obeyed(monkeypatch: pytest.MonkeyPatch) -> None:
    transform, images = train(), [noise(number) for number in range(30)]
    check(transform, images)
    monkeypatch.setattr(T.RandomHorizontalFlip, "forward", lambda self, image: image)
    expected, state = looped(transform, images)
    torch.manual_seed(0)
    assert same(list(transform.batch(images)), expected)
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("seeds", [None, list(range(30))])
def test_out_that_does_not_fit_leaves_the_generator(seeds: list[int] | None) -> None:
    transform, images = train(), [noise(number) for number in range(30)]
    transform.batch(images)
    torch.manual_seed(3)
    state = torch.get_rng_state()
    with pytest.raises(ValueError, match="out should hold"):
        transform.batch(images, out=torch.empty(30, 3, 25, 24), seeds=seeds)
    assert torch.equal(torch.get_rng_state(), state)
    out = torch.empty(30, 3, 24, 24)
    expected, _ = looped(transform, images, 3)
    torch.manual_seed(3)
    assert transform.batch(images, out=out) is out
    assert same(list(out), expected)


def test_large_images_after_small_ones_get_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[int | None] = []
    start = Crew.start
    monkeypatch.setattr(Crew, "start", lambda crew, most=None: started.append(most) or start(crew, most))
    images = [noise(number) for number in range(run._TOGETHER)] + [noise(k, 600, 700) for k in range(4)]
    check(train(), images, threads=3)
    assert started
    assert all(started)


def test_out_of_any_strides_is_filled() -> None:
    transform, images = train(), [noise(number) for number in range(30)]
    expected, _ = looped(transform, images)
    out = torch.zeros(24, 30, 24, 3).permute(1, 3, 2, 0)
    torch.manual_seed(0)
    transform.batch(images, out=out)
    assert same(list(out), expected)


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Files, some of which Pillow opens, and one that is cut off."""
    paths = []
    for number in range(run._TOGETHER + 9):
        folder = tmp_path / str(number % 3)
        folder.mkdir(exist_ok=True)
        format = ("PNG", "GIF", "JPEG", "JPEG")[number % 4]
        data = encoded(noise(number), format)
        if number == 6:
            data = data[: len(data) * 3 // 4]
        path = folder / f"{number}.{format.lower()}"
        path.write_bytes(data)
        paths.append(str(path))
    return paths


def read(paths: list[str]) -> list[Any]:
    return [fastaug.io.lazy(path) for path in paths]


@pytest.mark.parametrize("given", ["paths", "bytes", "handles", "handles of bytes"])
@pytest.mark.parametrize("opens", [True, False])
def test_files_are_read_by_the_core(files: list[str], given: str, opens: bool) -> None:
    sound = [path for path in files if not path.endswith("6.jpeg")]
    transform = train()
    expected, state = looped(transform, read(sound))
    if opens:
        transform.transforms.insert(0, T.Decode())
    images: list[Any] = sound if given in ("paths", "handles") else [Path(path).read_bytes() for path in sound]
    if given.startswith("handles"):
        images = [fastaug.io.lazy(image) for image in images]
    torch.manual_seed(0)
    assert same(list(transform.batch(images, num_threads=2)), expected)
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("opened", [True, False])
@pytest.mark.parametrize("bad", ["cut", "missing", "folder", "empty"])
def test_a_file_that_cannot_be_read_has_its_path(files: list[str], bad: str, opened: bool, tmp_path: Path) -> None:
    place = 6
    if bad == "missing":
        files[place] += ".none"
    elif bad == "folder":
        files[place] = str(tmp_path)
    elif bad == "empty":
        Path(files[place]).write_bytes(b"")
    with pytest.raises(Exception) as expected:
        train()(fastaug.io.lazy(files[place]))
    with pytest.raises(type(expected.value)) as caught:
        train().batch(read(files) if opened else files, num_threads=2)
    assert str(caught.value) == str(expected.value)
    assert (caught.value.index, caught.value.path) == (place, files[place])  # type: ignore[attr-defined]


def test_paths_of_any_characters(tmp_path: Path) -> None:
    names = ["plain", "grün", "\N{SNOWMAN}", os.fsdecode(b"\xff\xfe")]
    paths = [str(tmp_path / f"{name}.jpg") for name in names]
    for number, path in enumerate(paths):
        noise(number).save(path)
    expected, _ = looped(train(), read(paths))
    torch.manual_seed(0)
    assert same(list(train().batch(paths, num_threads=2)), expected)
    with pytest.raises(ValueError, match="null"):
        train().batch([*paths, paths[0] + "\0"])


def test_an_index_beside_a_file_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [str(tmp_path / f"{number}.jpg") for number in range(12)]
    for number, path in enumerate(paths):
        noise(number, 300, 400).save(path)
    made = {Path(path).name: fastaug._C.Encoded(Path(path).read_bytes()).scan_index().save() for path in paths}
    expected, _ = looped(train(), read(paths))
    (tmp_path / indexes.NAME).write_bytes(indexes.file_of(made))
    indexes.forget()
    asked = []
    saved = indexes.saved
    monkeypatch.setattr(indexes, "saved", lambda path: asked.append(path) or saved(path))
    torch.manual_seed(0)
    assert same(list(train().batch(paths, num_threads=2)), expected)
    assert asked == paths


def write_folder(root: Path, count: int = 20) -> str:
    for name in "ab":
        (root / name).mkdir()
        for number in range(count):
            noise(number).save(root / name / f"{number}.jpg")
    return str(root)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("change", [int, str, {0: 1.5, 1: 2}.get, partial(torch.tensor, dtype=torch.float16)])
def test_targets_that_draw_nothing_are_changed_after_the_draws(
    change: Any, workers: int, tmp_path: Path, tasks: list[int]
) -> None:
    folder = ImageFolder(write_folder(tmp_path), train(), target_transform=change)
    settings: dict[str, Any] = {"batch_size": 8, "shuffle": True, "num_workers": workers}
    torch.manual_seed(0)
    ours = list(DataLoader(folder, **settings))
    state = torch.get_rng_state()
    assert not tasks
    torch.manual_seed(0)
    theirs = list(torch.utils.data.DataLoader(folder, **settings))
    assert torch.equal(torch.get_rng_state(), state)
    for (images, targets), (others, expected) in zip(ours, theirs, strict=True):
        assert torch.equal(images, others)
        assert type(targets) is type(expected)
        assert same(targets, expected) if isinstance(targets, torch.Tensor) else targets == expected


@pytest.mark.parametrize(("size", "begun"), [(1, 9), (3, 4), (8, 3)])
def test_a_loader_of_small_batches_begins_more_of_them(size: int, begun: int, tmp_path: Path) -> None:
    folder = ImageFolder(write_folder(tmp_path), train())
    settings: dict[str, Any] = {"batch_size": size, "num_workers": 2, "prefetch_factor": 8}
    torch.manual_seed(0)
    iterator = iter(DataLoader(folder, num_threads=2, **settings))
    assert len(iterator._flying) == begun  # what the training loop waits for, and those ahead of it
    ours = [images for images, _ in iterator]
    torch.manual_seed(0)
    theirs = [images for images, _ in torch.utils.data.DataLoader(folder, **settings)]
    assert same(ours, theirs)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("make", [train, to_pil, of_v2])
@pytest.mark.parametrize("kind", ["PIL", "handles", "paths"])
def test_map_lets_the_core_draw(
    make: Callable[[], Any], kind: str, threads: int, tasks: list[int], tmp_path: Path
) -> None:
    images: list[Any] = [noise(number) for number in range(12)]
    if kind != "PIL":
        for number, image in enumerate(images):
            image.save(tmp_path / f"{number}.png")
            images[number] = str(tmp_path / f"{number}.png")
    expected, state = looped(make(), read(images) if kind == "paths" else images)
    if kind == "handles":
        expected, state = looped(make(), read(images))
        images = read(images)
    torch.manual_seed(0)
    assert same(list(make().map(images, num_threads=threads)), expected)
    assert torch.equal(torch.get_rng_state(), state)
    assert not tasks
    seeds = list(range(12))
    singles = []
    for image, seed in zip(images, seeds):
        torch.manual_seed(seed)
        singles.append(make()(image if kind == "PIL" else fastaug.io.lazy(image) if kind == "paths" else image))
    assert same(list(make().map(images, num_threads=threads, seeds=seeds)), singles)


@pytest.mark.parametrize("threads", [1, 3])
def test_map_leaves_the_others_to_python(threads: int, tasks: list[int]) -> None:
    transform = T.Compose([T.RandomCrop(20), T.RandomHorizontalFlip(), T.ToTensor()])
    images = [noise(number, mode="P" if number in (2, 3, 9) else "RGB") for number in range(12)]
    images[5] = noise(5, 9, 9)
    expected, state = looped(transform, images)
    torch.manual_seed(0)
    mapped, results = transform.map(images, num_threads=threads), []
    for _ in images:
        try:
            results.append(next(mapped))
        except ValueError as error:  # noqa: PERF203
            results.append((type(error), str(error)))
    for one, two in zip(results, expected, strict=True):
        assert one == two if isinstance(two, tuple) else same(one, two)
    assert torch.equal(torch.get_rng_state(), state)
    assert set(tasks) == {2, 3, 5, 9}


def test_views_of_a_stream() -> None:
    views = fastaug.Views([train(), to_pil()])
    images = [noise(number) for number in range(9)]
    expected, state = looped(lambda image: [view(image) for view in views.transforms], images)
    torch.manual_seed(0)
    assert all(same(list(row), list(other)) for row, other in zip(views.map(images, num_threads=2), expected))
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("rng", ["torch", "sample"])
def test_a_loader_of_folders_lets_the_core_draw(
    tmp_path: Path, workers: int, rng: str, tasks: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = ImageFolder(write_folder(tmp_path), train())
    settings: dict[str, Any] = {"batch_size": 8, "num_workers": workers}
    if rng == "sample":
        settings.update(rng="sample", seed=5)
    torch.manual_seed(0)
    loader = DataLoader(folder, **settings)
    batches = [list(batch) for batch in loader]
    assert not tasks
    report = loader.profile()
    assert report.read > 0 and report.decode > 0 and report.transform > 0 and report.drawing > 0
    if rng == "sample":
        for index, image in enumerate(image for images, _ in batches for image in images):
            torch.manual_seed(fastaug.data.sample_seed(5, 0, index))
            assert torch.equal(image, folder[index][0])
    else:
        torch.manual_seed(0)
        theirs = torch.utils.data.DataLoader(folder, **settings)
        assert all(same(ours, list(other)) for ours, other in zip(batches, theirs))
