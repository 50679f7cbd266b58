"""mean_std against NumPy's float64 over all pixels."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import fastaug.transforms as T
from fastaug.data import MeanStd, histogram, mean_std
from support.batches import names_of_threads
from support.images import PHOTOS, noise, photo, to_chw


def by_numpy(arrays: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    pixels = np.concatenate([array.reshape(-1, array.shape[2]) for array in arrays]).astype(np.float64) / 255
    return pixels.mean(0), pixels.std(0)


def assert_close(images: Any, arrays: list[np.ndarray], transform: Any = None, **options: Any) -> None:
    mean, std = by_numpy(arrays)
    result = mean_std(images, transform, **options)
    assert np.abs(np.array(result.mean) - mean).max() < 1e-12
    assert np.abs(np.array(result.std) - std).max() < 1e-12


@pytest.mark.parametrize("threads", [1, 3])
def test_images_of_every_kind(tmp_path: Path, threads: int) -> None:
    photos = [photo(name, 61 + 7 * k, 47 + 5 * k) for k, name in enumerate(PHOTOS)]
    arrays = [np.asarray(image) for image in photos]
    files = []
    for number, image in enumerate(photos):
        files.append(tmp_path / f"{number}.png")
        image.save(files[-1])
    for images in (
        photos,
        arrays,
        list(map(to_chw, photos)),
        files,
        [photos[0], arrays[1], to_chw(photos[2]), files[3]],
    ):
        assert_close(images, arrays, num_threads=threads)
    assert_close(iter(photos), arrays, num_threads=threads)
    assert_close(np.stack([arrays[0]] * 3), [arrays[0]])
    gray = [image.convert("L") for image in photos]
    assert_close(gray, [np.asarray(image)[:, :, None] for image in gray])
    assert_close([np.asarray(image) for image in gray], [np.asarray(image)[:, :, None] for image in gray])
    assert_close([torch.from_numpy(np.array(gray[0]))], [np.asarray(gray[0])[:, :, None]])


def test_after_a_transform() -> None:
    photos = [photo(name, 90, 80) for name in PHOTOS]
    arrays = [np.asarray(image.resize((40, 40), Image.Resampling.BILINEAR)) for image in photos]
    assert_close(photos, arrays, T.Resize((40, 40)))
    assert_close(photos, [np.asarray(image)[:, :1] for image in photos], lambda image: np.asarray(image)[:, :1])
    # Integer sums lose no digits where one value stands beside many.
    assert_close(
        [np.full((1500, 1000, 1), 255, np.uint8), np.zeros((1, 1, 1), np.uint8)],
        [np.full((1500, 1000, 1), 255, np.uint8), np.zeros((1, 1, 1), np.uint8)],
    )
    assert mean_std([np.full((700, 700, 3), 77, np.uint8)]).std == (0.0, 0.0, 0.0)


def test_a_bar(capsys: pytest.CaptureFixture[str]) -> None:
    mean_std([noise(8, 8)] * 3, progress=True)
    assert "3/3" in capsys.readouterr().err


def test_errors(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least one image"):
        mean_std([])
    with pytest.raises(ValueError, match="should have 3 channels as the first has"):
        mean_std([noise(4, 4, 3), noise(4, 4, 1)], num_threads=1)
    for wrong in (
        Image.new("F", (4, 4)),
        torch.rand(3, 4, 4),
        np.zeros((4, 4), np.uint16),
        torch.zeros(1, 3, 4, 4, dtype=torch.uint8),
    ):
        with pytest.raises(TypeError, match="8"):
            mean_std([wrong])
    with pytest.raises(TypeError, match="8-bit"):
        mean_std([noise(4, 4)], T.ToTensor())
    with pytest.raises(FileNotFoundError) as missing:
        mean_std([io.BytesIO(), tmp_path / "none.png"][1:])
    assert missing.value.index == 0


def test_an_error_that_is_kept_keeps_no_threads(no_threads: None, tmp_path: Path) -> None:
    for images in ([noise(4, 4), tmp_path / "none.png"], [noise(4, 4, 3), noise(4, 4, 1)]):
        with pytest.raises((FileNotFoundError, ValueError)) as kept:
            mean_std(images * 20, num_threads=3)
        assert kept.value is not None
        assert not names_of_threads()


def test_histograms_of_parts_add_up() -> None:
    arrays = [noise(20 + number, 30, seed=number) for number in range(7)]
    whole = histogram(arrays)
    assert whole.dtype == np.int64
    assert np.array_equal(whole, histogram(arrays[:3]) + histogram(arrays[3:], num_threads=1))
    pixels = np.concatenate([array.reshape(-1, 3) for array in arrays])
    assert np.array_equal(whole, [np.bincount(channel, minlength=256) for channel in pixels.T])
    assert MeanStd.from_histogram(whole) == mean_std(arrays)
    assert MeanStd.from_histogram(whole.tolist()) == mean_std(arrays)
    small = [array[:5] for array in arrays]
    assert np.array_equal(histogram(arrays, T.Lambda(lambda array: np.asarray(array)[:5])), histogram(small))


def test_no_histograms() -> None:
    for wrong, error, said in [
        (np.ones((3, 256)), TypeError, "counts should be integers, got float64"),
        (np.ones((3, 255), int), ValueError, r"shape \[channels, 256\], got \(3, 255\)"),
        (np.ones(256, int), ValueError, r"shape \[channels, 256\], got \(256,\)"),
        (np.ones((0, 256), int), ValueError, "shape"),
        (np.full((1, 256), -1), ValueError, "not be negative, got -1"),
        (np.array([[1] * 256, [0] * 256]), ValueError, "at least one sample in each channel"),
    ]:
        with pytest.raises(error, match=said):
            MeanStd.from_histogram(wrong)
