"""Decode of what is no path and no bytes: images that are opened already, and rows of Hugging Face datasets."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torchvision.transforms as TV
from encoded_images import encode, oriented
from PIL import Image, ImageOps

import fastaug.transforms as T
from fastaug.data import DataLoader
from fastaug.io import LazyImage, lazy
from fastaug.transforms import v2
from support.differences import each
from support.images import MODES, photo, pil

DATA = encode(photo("coffee", 83, 61), "JPEG", exif=oriented(6))
ENDS = {T: [T.RandomCrop(20), T.ToTensor()], v2: [v2.RandomCrop(20), v2.ToImage(), v2.ToPureTensor()]}


def same(ours: Any, theirs: Any) -> bool:
    if isinstance(theirs, Image.Image):
        return ours.mode == theirs.mode and np.array_equal(np.asarray(ours), np.asarray(theirs))
    return torch.equal(ours, theirs)


@pytest.mark.parametrize("library", [T, v2])
@each("given", MODES)
def test_modes(given: str, library: Any) -> None:
    image = pil(given, 31, 37)
    for mode in ("RGB", "L", "RGBA", "CMYK", None):
        try:
            expected = image if mode is None or mode == given else image.convert(mode)
        except ValueError as error:
            with pytest.raises(ValueError, match=str(error)):
                library.Compose([T.Decode(mode)])(image)
            continue
        assert same(T.Decode(mode)(image), expected)
        assert same(library.Compose([T.Decode(mode)])(image), expected)
        if mode == given or mode is None:
            assert T.Decode(mode)(image) is image
        if expected.mode in ("RGB", "L"):
            torch.manual_seed(4)
            theirs = library.Compose(ENDS[library])(expected)
            torch.manual_seed(4)
            assert same(library.Compose([T.Decode(mode), *ENDS[library]])(image), theirs)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif(orientation: int) -> None:
    data = encode(photo("coffee", 83, 61), "JPEG", exif=oriented(orientation))
    image = Image.open(io.BytesIO(data))
    upright = ImageOps.exif_transpose(image)
    assert same(T.Decode(exif=True)(image), upright)
    assert same(T.Decode("L", exif=True)(image), upright.convert("L"))
    assert same(T.Compose([T.Decode(exif=True), T.CenterCrop(15)])(image), TV.CenterCrop(15)(upright))
    assert same(T.Decode()(image), image)
    # Once it is upright it stays so.
    assert same(T.Decode(exif=True)(T.Decode(exif=True)(image)), upright)


def test_in_the_middle() -> None:
    """After transforms, and drawn for a batch before there are pixels."""
    images = [pil("RGBA", 40 + k, 50, k) for k in range(4)]
    ours = T.Compose([T.RandomCrop(30), T.Decode(), T.RandomHorizontalFlip(), T.ToTensor()])
    theirs = TV.Compose([TV.RandomCrop(30), TV.Lambda(to_rgb), TV.RandomHorizontalFlip(), TV.ToTensor()])
    torch.manual_seed(7)
    expected = torch.stack([theirs(image) for image in images])
    for batch in (ours.batch, lambda images: torch.stack(list(ours.map(images))), calls(ours)):
        torch.manual_seed(7)
        assert torch.equal(batch(images), expected)
    assert ours.check(images, seeds=3)
    params = ours.sample(images[0])
    assert torch.equal(ours.replay(images[0], params), ours.replay(images[0], params))


def to_rgb(image: Image.Image) -> Image.Image:
    return image.convert("RGB")


def calls(transform: Any) -> Any:
    return lambda images: torch.stack([transform(image) for image in images])


@pytest.fixture
def entries(tmp_path: Path) -> list[dict[str, Any]]:
    """An image by its bytes, and by its path; and bytes beside a path that leads nowhere."""
    path = tmp_path / "image.jpg"
    path.write_bytes(DATA)
    return [
        {"bytes": DATA, "path": None},
        {"bytes": None, "path": str(path)},
        {"bytes": DATA, "path": "of/the/hub.jpg"},
        {"bytes": DATA},
        {"path": path},
    ]


@pytest.mark.parametrize("library", [T, v2])
def test_entries(entries: list[dict[str, Any]], library: Any) -> None:
    image = Image.open(io.BytesIO(DATA)).convert("RGB")
    torch.manual_seed(1)
    expected = torch.stack([library.Compose(ENDS[library])(image) for _ in entries])
    pipeline = library.Compose([T.Decode(), *ENDS[library]])
    for batch in (calls(pipeline), pipeline.batch, lambda given: torch.stack(list(pipeline.map(given)))):
        torch.manual_seed(1)
        assert torch.equal(batch(entries), expected)
    for entry in entries:
        assert same(T.Decode()(entry), image)
        assert same(library.Compose([T.Decode()])(entry), image)
        assert same(lazy(entry).load(), image)
        assert same(T.Decode("L", exif=True)(entry), ImageOps.exif_transpose(image).convert("L"))
    assert pipeline.check(entries, seeds=3)
    assert "decode" in str(pipeline.explain(entries[0]))


@pytest.mark.parametrize("library", [T, v2])
def test_entries_that_are_no_images(library: Any, tmp_path: Path) -> None:
    pipeline = library.Compose([T.Decode(), *ENDS[library]])
    for run in (T.Decode(), pipeline, lambda entry: pipeline.batch([entry])):
        with pytest.raises(ValueError, match=r"should have bytes or a path, got \{'bytes': None, 'path': None\}"):
            run({"bytes": None, "path": None})
        with pytest.raises(FileNotFoundError):
            run({"bytes": None, "path": str(tmp_path / "none.jpg")})
        with pytest.raises(TypeError, match=r"Decode takes .* or a PIL image, got <class 'dict'>"):
            run({"bytes": DATA, "label": 3})
    with pytest.raises(TypeError, match="source should be a path"):
        T.Decode()({"bytes": 3})
    with pytest.raises(OSError, match=r"cannot decode hub\.jpg"):
        T.Decode()({"bytes": DATA[:200], "path": "hub.jpg"})
    with pytest.raises(TypeError, match="images should be a list of images"):
        pipeline.batch({"bytes": DATA, "path": None})


def test_without_decode_a_dictionary_is_a_sample() -> None:
    sample = {"bytes": b"none", "path": "nowhere"}
    pipeline = v2.Compose([v2.RandomHorizontalFlip()])
    assert pipeline(sample) == sample
    assert list(pipeline.map([sample])) == [sample]
    with pytest.raises(TypeError):
        T.Compose([T.CenterCrop(3)]).batch([sample])


class Rows(torch.utils.data.Dataset):
    def __init__(self, transform: Any, opened: bool) -> None:
        self.transform, self.opened = transform, opened

    def __len__(self) -> int:
        return 7

    def __getitem__(self, index: int) -> Any:
        data = encode(photo("coffee", 50 + index, 61), "JPEG")
        entry = {"bytes": data, "path": None}
        return self.transform(Image.open(io.BytesIO(data)) if self.opened else entry), index


@pytest.mark.parametrize("library", [T, v2])
def test_loaders(library: Any) -> None:
    pipeline = library.Compose([T.Decode(), *ENDS[library]])
    epochs = []
    for loader in (torch.utils.data.DataLoader, DataLoader):
        for opened in (False, True):
            torch.manual_seed(3)
            epochs.append(torch.cat([images for images, _ in loader(Rows(pipeline, opened), batch_size=3)]))
    assert all(torch.equal(epoch, epochs[0]) for epoch in epochs)


def test_a_handle_stays() -> None:
    assert same(T.Compose([T.Decode("RGB")])(LazyImage(DATA, "L")), Image.open(io.BytesIO(DATA)).convert("L"))
