"""Folders of images under `install(decode=True)`: which files fastaug reads, and what broken ones leave behind."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torchvision import transforms as T
from torchvision.datasets import ImageFolder
from torchvision.transforms import v2

import fastaug
from fastaug._switch import decoding, folders
from support.images import photo

KINDS = [(subsampling, progressive) for subsampling in (0, 1, 2) for progressive in (False, True)]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names of the files that fastaug reads."""
    names: list[str] = []
    lazy = folders.lazy

    def noted(path: str) -> Any:
        names.append(Path(path).name)
        return lazy(path)

    monkeypatch.setattr(folders, "lazy", noted)
    decoding._alike.cache_clear()
    yield names
    decoding._alike.cache_clear()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with each kind of JPEG files, some of other kinds, and two that are broken."""
    whole = tmp_path_factory.mktemp("images")
    folder = whole / "all"
    folder.mkdir()
    for number, (subsampling, progressive) in enumerate(KINDS):
        name = f"{subsampling}{'p' if progressive else 's'}.jpg"
        photo("coffee", 70 + number, 90).save(folder / name, subsampling=subsampling, progressive=progressive)
    photo("coffee", 60, 80).save(folder / "picture.png")
    photo("coffee", 60, 80).convert("L").save(folder / "gray.jpg")
    for name in ("2s.jpg", "picture.png"):
        (folder / f"broken_{name}").write_bytes((folder / name).read_bytes()[:900])
    return whole


def states() -> Any:
    _, keys, *rest = np.random.get_state()  # noqa: NPY002
    return torch.get_rng_state().tolist(), random.getstate(), keys.tolist(), rest


def epochs(place: Path, transform: Any) -> list[Any]:
    """What three epochs give, the broken files' errors too, each with the states of the generators."""
    data = ImageFolder(str(place), transform)
    torch.manual_seed(0)
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002
    found = []
    for index in [*range(len(data))] * 3:
        try:
            result = data[index]
        except OSError as error:
            result = str(error), type(error)
        found.append((result, states()))
    return found


def same(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


TRANSFORMS: dict[str, Callable[[], Any]] = {
    "plain": lambda: T.Compose([T.RandomResizedCrop(24), T.RandomHorizontalFlip(), T.ToTensor()]),
    "choice": lambda: T.Compose(
        [T.RandomChoice([T.RandomRotation(9), T.RandomCrop(20)]), T.CenterCrop(9), T.ToTensor()]
    ),
    "order": lambda: T.Compose([T.RandomOrder([T.RandomCrop(40), T.RandomRotation(9)]), T.ToTensor()]),
    "inner choice": lambda: T.Compose(
        [T.RandomApply([T.RandomChoice([T.RandomVerticalFlip(), T.RandomRotation(9)])]), T.CenterCrop(9), T.ToTensor()]
    ),
    "choice of v2": lambda: v2.Compose([v2.RandomChoice([v2.RandomCrop(30), v2.Resize(30)]), v2.ToImage()]),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_broken_files_leave_the_generators_as_torchvision_does(name: str, place: Path, opened: list[str]) -> None:
    expected = epochs(place, TRANSFORMS[name]())
    assert sum(isinstance(result[1], type) for result, _ in expected) == 6
    with fastaug.install(decode=True):
        found = epochs(place, TRANSFORMS[name]())
    for one, other in zip(expected, found):
        assert same(one, other)
    assert len(opened) > len(KINDS) and {"2s.jpg", "broken_2s.jpg", "gray.jpg"} <= set(opened)


def test_draws_of_a_drawn(place: Path, opened: list[str]) -> None:
    """A reader's transform draws from all generators before the file is read."""

    class Theirs:
        def __call__(self, image: Image.Image) -> Image.Image:
            return image.rotate(90 * int(random.random() + np.random.rand() + torch.rand(())))  # noqa: NPY002

    class Ours(fastaug.Drawn):
        def draw(self, image: Any) -> int:
            return 90 * int(random.random() + np.random.rand() + torch.rand(()))  # noqa: NPY002

        def apply(self, image: Any, angle: int) -> Any:
            return fastaug.transforms.functional.rotate(image, angle)

    fastaug.register(Theirs, lambda transform: Ours())
    expected = epochs(place, T.Compose([Theirs(), T.CenterCrop(9), T.ToTensor()]))
    with fastaug.install(decode=True):
        found = epochs(place, T.Compose([Theirs(), T.CenterCrop(9), T.ToTensor()]))
    for one, other in zip(expected, found):
        assert same(one, other)
    assert "broken_2s.jpg" in opened


@pytest.mark.parametrize("differ", [[(0, False)], [(2, True), (1, False)], KINDS], ids=["one", "two", "all"])
def test_kinds_that_differ_are_left_to_pillow(
    differ: list[tuple[int, bool]], place: Path, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    imread = decoding.imread
    kinds = iter(KINDS)
    monkeypatch.setattr(decoding, "imread", lambda data: imread(data) + np.uint8(next(kinds) in differ))
    transform = TRANSFORMS["plain"]
    expected = epochs(place, transform())
    with fastaug.install(decode=True):
        found = epochs(place, transform())
    for one, other in zip(expected, found):
        assert same(one, other)
    names = {f"{subsampling}{'p' if progressive else 's'}.jpg" for subsampling, progressive in set(KINDS) - set(differ)}
    # A gray file is of no kind that was compared. That of a broken one is known while its header is whole.
    assert {name for name in opened if "broken" not in name} == {*names, "picture.png"}
