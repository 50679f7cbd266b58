"""Handles of which several views are taken: the pixels of the loaded image, decoded once, and given back."""

from __future__ import annotations

import copy
import pickle
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import encoded_images as made
import numpy as np
import pytest
import torch
import torchvision.transforms as TV
from kept_files import BYTES, FILES

import fastaug.transforms as T
from fastaug._image import decode, kept
from fastaug.io import lazy
from support.differences import each

# Pillow's own, of a palette with transparency.
pytestmark = [
    pytest.mark.usefixtures("nothing_kept"),
    pytest.mark.filterwarnings("ignore:Palette images with Transparency:UserWarning"),
]


def views(library: Any) -> list[Any]:
    return [
        library.Compose([library.RandomResizedCrop(24), library.RandomHorizontalFlip(), library.ToTensor()]),
        library.Compose([library.RandomCrop(17), library.ColorJitter(0.2, 0.2, 0.2, 0.05), library.PILToTensor()]),
        library.Compose([library.Resize(30), library.CenterCrop(28), library.GaussianBlur(3)]),
        library.Compose([library.RandomRotation(30), library.Lambda(lambda image: image.rotate(90))]),
        library.Compose([]),
        library.RandomVerticalFlip(1.0),
    ]


def same(ours: Any, theirs: Any) -> bool:
    if isinstance(theirs, torch.Tensor):
        return torch.equal(ours, theirs)
    return ours.mode == theirs.mode and np.array_equal(np.asarray(ours), np.asarray(theirs))


@each("mode", ["RGB", "L", "RGBA", "CMYK", None])
@pytest.mark.parametrize("name", FILES)
def test_views(name: str, mode: str | None) -> None:
    """Whatever keeps them, and whoever decodes them."""
    data, exif = FILES[name], name == "JPEG to be turned"
    # Without the metadata that decoded images of fastaug have not.
    loaded = lazy(data, mode, exif).load().copy()
    image = lazy(data, mode, exif)
    for seed in range(3):
        for ours, theirs in zip(views(T), views(TV), strict=True):
            outcomes = []
            for transform, given in ((ours, image), (theirs, loaded)):
                torch.manual_seed(seed)
                try:
                    outcomes.append((transform(given), torch.get_rng_state()))
                except Exception as error:
                    outcomes.append((type(error), torch.get_rng_state()))
            (got, after), (expected, state) = outcomes
            assert torch.equal(after, state)
            assert got is expected if isinstance(expected, type) else same(got, expected)
    assert image.keeps or (mode is None and name in ("JPEG of CMYK", "PNG of a palette", "BMP"))


def test_decoded_once(tmp_path: Path, reads: list[str], whole: list[int]) -> None:
    path = tmp_path / "photograph.jpg"
    path.write_bytes(FILES["JPEG"])
    view = T.Compose([T.RandomCrop(9), T.ToTensor()])
    image = lazy(path)
    view(image)
    assert not image.keeps and not whole and len(reads) == 1  # as far as the view goes
    for _ in range(9):
        view(image)
        assert image.keeps
    np.asarray(image), image.load(), T.functional.hflip(image)
    assert len(whole) == 1 and len(reads) == 2
    path.unlink()
    assert view(image).shape == (3, 9, 9)
    image.release()
    assert not image.keeps
    with pytest.raises(FileNotFoundError):
        view(image)


def test_pillow_decodes_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "photograph.bmp"
    path.write_bytes(FILES["BMP"])
    loads: list[int] = []
    load = decode.load
    monkeypatch.setattr(decode, "load", lambda image: loads.append(id(image)) or load(image))
    image = lazy(path)
    view = T.Compose([T.RandomCrop(9), T.ToTensor()])
    for _ in range(10):
        view(image)
    assert len(loads) == 2
    for _ in range(3):  # of the file's own mode, the object is the file's, and one can go through its frames
        assert type(lazy(path, None).load()).__module__ == "PIL.BmpImagePlugin"
    own = lazy(path, None)
    for _ in range(3):
        assert type(own.load()).__module__ == "PIL.BmpImagePlugin" and not own.keeps


def test_images_stay_what_they_are() -> None:
    for name in ("JPEG", "PNG of a palette", "WebP", "BMP"):
        for mode in ("RGB", "L", "P"):
            image = lazy(FILES[name], mode)
            first = image.load()
            for _ in range(4):
                again = image.load()
                assert again is not first and type(again) is type(first)
                assert (again.mode, again.size, again.info, again.format) == (first.mode, first.size, first.info, None)
                assert again.getpalette() == first.getpalette()
                assert made.same(np.asarray(again), np.asarray(first))
            assert image.keeps


def test_several_views_are_expected(whole: list[int]) -> None:
    """What handles of late were used for tells what the next is for; only time depends on it."""
    view = T.Compose([T.RandomCrop(9), T.ToTensor()])
    for number in range(8):
        image = lazy(FILES["JPEG"])
        view(image)
        assert image.keeps == (number >= 4)
        view(image)
    assert len(whole) == 8
    for _ in range(8):
        image = lazy(FILES["JPEG"])
        view(image)
    assert not image.keeps


def test_one_view_each_epoch(tmp_path: Path, reads: list[str], whole: list[int]) -> None:
    """Handles that a dataset holds: an epoch keeps nothing for the next."""
    path = tmp_path / "photograph.jpg"
    path.write_bytes(FILES["JPEG"])
    images = [lazy(path) for _ in range(kept.NEAR + 1)]
    for _ in range(3):
        for image in images:
            T.functional.center_crop(image, 10)
        assert not any(image.keeps for image in images) and not whole
    assert len(reads) == 3 * len(images)
    # Several views each, one image after the other: none of the epoch before is near.
    for _ in range(2):
        for image in images:
            for _ in range(2):
                T.functional.center_crop(image, 10)
    assert all(image.keeps for image in images)  # there is room for small ones


def test_pairs() -> None:
    """Views of two images, in turn."""
    low, high = lazy(FILES["JPEG"]), lazy(FILES["PNG"])
    for _ in range(2):
        for image in (low, high):
            T.functional.center_crop(image, 10)
    assert low.keeps and high.keeps


# How much, and until when.


def test_no_more_than_a_handle_may(monkeypatch: pytest.MonkeyPatch) -> None:
    assert kept.MOST == 64 << 20
    for most, keeps in ((BYTES, True), (BYTES - 1, False)):
        monkeypatch.setattr(kept, "MOST", most)
        image = lazy(FILES["JPEG"])
        for _ in range(4):
            assert made.same(np.asarray(image), made.pillow(FILES["JPEG"]))
        assert image.keeps == keeps
        monkeypatch.setattr(kept, "MOST", most * 4 // 3)
        other = lazy(FILES["BMP"])  # Pillow's colours take four bytes
        for _ in range(4):
            assert made.same(np.asarray(other), made.pillow(FILES["BMP"]))
        assert other.keeps == (most * 4 // 3 >= 61 * 83 * 4)


def test_no_more_than_all_may(monkeypatch: pytest.MonkeyPatch, whole: list[int]) -> None:
    """Those that came first keep theirs while they are in use, and none is decoded again and again."""
    monkeypatch.setattr(kept, "MOST_IN_ALL", 3 * BYTES)
    images = [lazy(FILES["JPEG"]) for _ in range(5)]
    for _ in range(6):
        for image in images:
            assert made.same(np.asarray(T.functional.center_crop(image, 61)), made.pillow(FILES["JPEG"])[:, 11:72])
    assert [image.keeps for image in images] == [True] * 3 + [False] * 2
    assert len(whole) == 3 and sum(kept._keepers.values()) == 3 * BYTES
    # Far from their last use they make room, that of the first one first.
    monkeypatch.setattr(kept, "_uses", kept._uses + kept.NEAR)
    new = [lazy(FILES["JPEG"]) for _ in range(2)]
    for image in new:
        np.asarray(image), np.asarray(image)
    assert [image.keeps for image in (*new, *images)] == [True] * 2 + [False] * 2 + [True] + [False] * 2
    assert sum(kept._keepers.values()) == 3 * BYTES


def test_given_back_with_the_handle() -> None:
    image = lazy(FILES["JPEG"])
    np.asarray(image), np.asarray(image)
    pixels = weakref.ref(image._kept.pixels)
    assert pixels() is not None and sum(kept._keepers.values()) == BYTES
    del image
    assert pixels() is None and not kept._keepers


def test_released() -> None:
    image = lazy(FILES["JPEG"])
    for _ in range(2):
        np.asarray(image), np.asarray(image)
        pixels = weakref.ref(image._kept.pixels)
        image.release()
        assert pixels() is None and not kept._keepers and not image.keeps
        image.release()


def test_never_pickled() -> None:
    image = lazy(FILES["JPEG"], colorspace="ycbcr")
    before = pickle.dumps(image)
    np.asarray(image), np.asarray(image)
    assert image.keeps and pickle.dumps(image) == before
    for other in (pickle.loads(before), copy.copy(image), copy.deepcopy(image), image.convert("L")):
        assert not other.keeps
    assert image.convert("RGB") is image


def test_decode_keeps_nothing(whole: list[int]) -> None:
    """Its handles are made for one call, and are not what is expected of the next."""
    transform = T.Compose([T.Decode(), T.RandomCrop(9), T.ToTensor()])
    image = lazy(FILES["JPEG"])
    for _ in range(100):
        np.asarray(image)  # several views
        transform(FILES["JPEG"])
    assert len(whole) == 1


# Whoever writes to a result writes to nothing else.


def scribble(image: Any) -> Any:
    """In place."""
    image.paste((1, 2, 3), (0, 0, *image.size))
    return image


@pytest.mark.parametrize("name", ["JPEG", "PNG", "WebP", "BMP", "PNG of a palette"])
def test_results_are_the_callers(name: str) -> None:
    expected = made.pillow(FILES[name])
    image = lazy(FILES[name])
    calls: list[Callable[[], Any]] = [
        image.load,
        lambda: T.Compose([])(image),
        lambda: T.Compose([T.Lambda(scribble)])(image),
        lambda: T.Compose([T.RandomHorizontalFlip(0.0), T.Lambda(scribble), T.CenterCrop(9)])(image),
        lambda: T.functional.hflip(image),
        lambda: T.functional.crop(image, 0, 0, 61, 83),
    ]
    for call in [*calls, *calls]:
        scribble(call())
        assert made.same(np.asarray(image), expected)
    for array in (np.asarray(image), np.array(image), T.functional.pil_to_tensor(image).numpy()):
        assert array.flags.writeable
        array[...] = 7
        assert made.same(np.asarray(image), expected)
    assert T.functional.to_tensor(image).zero_().sum() == 0
    assert made.same(np.asarray(image), expected)
