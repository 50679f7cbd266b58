"""Numbers of tiles, against the same formulas written in NumPy, and Otsu's threshold, against scikit-image's."""

from __future__ import annotations

import io
import threading
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

import fastaug
from fastaug import _C, pathology
from fastaug.io import LazyImage, imread
from support.images import noise, photo


def gray_of(image: np.ndarray) -> np.ndarray:
    gray: np.ndarray = (image.astype(np.int64) @ [9798, 19235, 3735] + (1 << 14)) >> 15
    return gray


def saturation_of(image: np.ndarray) -> np.ndarray:
    high, low = image.max(2).astype(np.int64), image.min(2).astype(np.int64)
    scale = np.rint((255 << 12) / np.maximum(high, 1)).astype(np.int64)
    saturation: np.ndarray = ((high - low) * scale + 2048) >> 12
    return saturation


def laplacian_of(image: np.ndarray) -> np.ndarray:
    """Whose border mirrors the pixels beside the last ones; np.pad repeats the only one where there is one."""
    padded = np.pad(gray_of(image), 1, mode="reflect")
    made: np.ndarray = padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]
    return (made - 4 * padded[1:-1, 1:-1]).astype(np.float64)


def assert_stats(row: Any, image: np.ndarray, white: int = 220, black: int = 20) -> None:
    assert np.array_equal(row["mean_rgb"], image.mean((0, 1)))
    assert row["mean_saturation"] == saturation_of(image).mean()
    assert np.array_equal(row["saturation_histogram"], np.bincount(saturation_of(image).ravel(), minlength=256))
    assert np.array_equal(row["gray_histogram"], np.bincount(gray_of(image).ravel(), minlength=256))
    assert row["white"] == (image > white).all(2).mean()
    assert row["black"] == (image < black).all(2).mean()
    assert row["laplacian_variance"] == pytest.approx(laplacian_of(image).var(), rel=1e-12, abs=1e-12)


def some(height: int, width: int, seed: int = 0) -> np.ndarray:
    """With pixels that are white, and black."""
    image = noise(height, width, seed=seed)
    image[: height // 3] |= 0xE0
    image[height // 3 : height // 2] &= 0x1F
    return image


BAG = [some(31, 47), some(64, 64, 1), np.asarray(photo("ihc", 90, 120)), some(1, 1), some(1, 9), some(9, 1), some(2, 2)]


def same(one: np.ndarray, other: np.ndarray) -> bool:
    return one.dtype == other.dtype and one.tobytes() == other.tobytes()


@pytest.mark.parametrize("threads", [1, 2, 5, None])
def test_stats(threads: int | None) -> None:
    made = pathology.tissue_stats(BAG, num_threads=threads)
    assert made.shape == (len(BAG),)
    for row, image in zip(made, BAG, strict=True):
        assert_stats(row, image)


def test_fields() -> None:
    """As the docstring has them."""
    fields = pathology.tissue_stats(BAG).dtype.fields
    assert fields is not None
    assert {name: (field[0].base, field[0].shape) for name, field in fields.items()} == {
        "mean_rgb": (np.float64, (3,)),
        "mean_saturation": (np.float64, ()),
        "saturation_histogram": (np.uint32, (256,)),
        "gray_histogram": (np.uint32, (256,)),
        "white": (np.float64, ()),
        "black": (np.float64, ()),
        "laplacian_variance": (np.float64, ()),
    }


@pytest.mark.parametrize(("white", "black"), [(0, 255), (255, 0), (30, 200), (np.uint8(99), np.int64(99))])
def test_limits(white: Any, black: Any) -> None:
    for row, image in zip(pathology.tissue_stats(BAG, white, black), BAG, strict=True):
        assert_stats(row, image, white, black)


def png(image: np.ndarray) -> bytes:
    file = io.BytesIO()
    Image.fromarray(image).save(file, "PNG")
    return file.getvalue()


def test_containers(tmp_path: Path) -> None:
    """The same of every container, alone and as one of a list."""
    image = some(40, 56)
    wanted = pathology.tissue_stats([image])
    planes = torch.from_numpy(image.transpose(2, 0, 1).copy())
    wide = np.zeros((40, 112, 5), np.uint8)
    wide[:, ::2, 1:4] = image
    path = tmp_path / "tile.png"
    path.write_bytes(png(image))
    opened = Image.open(path)
    for single in (
        Image.fromarray(image),
        image,
        wide[:, ::2, 1:4],
        image[::-1, ::-1],
        planes,
        torch.from_numpy(image).permute(2, 0, 1),
        png(image),
        np.frombuffer(png(image), np.uint8),
        path,
        str(path),
        {"bytes": png(image), "path": None},
        LazyImage(path),
        LazyImage(png(image), None),
        opened,
    ):
        assert same(pathology.tissue_stats(single), wanted)
        assert same(pathology.tissue_stats([single, single]), np.concatenate([wanted, wanted]))
    for several in (np.stack([image, image]), torch.stack([planes, planes]), (one for one in (image, planes))):
        assert same(pathology.tissue_stats(several), np.concatenate([wanted, wanted]))
    with path.open("rb") as file:
        assert same(pathology.tissue_stats([file]), wanted)
    assert len(pathology.tissue_stats([torch.stack([planes] * 3), planes[None, None]])) == 4


def test_files(tmp_path: Path) -> None:
    """As of what imread makes of them: JPEGs, those that are turned or gray, and those that only Pillow decodes."""
    pixels = photo("coffee", 50, 70)
    exif = Image.Exif()
    exif[0x0112] = 6
    pixels.save(tmp_path / "0.jpg", quality=80)
    pixels.save(tmp_path / "1.jpg", exif=exif)
    pixels.convert("L").save(tmp_path / "2.jpg")
    pixels.save(tmp_path / "3.bmp")
    pixels.convert("P").save(tmp_path / "4.png")
    pixels.convert("CMYK").save(tmp_path / "5.jpg")
    paths = sorted(tmp_path.iterdir())
    for row, path in zip(pathology.tissue_stats(paths, num_threads=2), paths, strict=True):
        assert_stats(row, imread(path))


def test_no_tiles() -> None:
    empty = pathology.tissue_stats([])
    assert empty.shape == (0,) and empty.dtype == pathology.tissue_stats(BAG).dtype
    for none in ((), iter(()), np.zeros((0, 8, 8, 3), np.uint8), torch.zeros(0, 3, 8, 8, dtype=torch.uint8)):
        assert same(pathology.tissue_stats(none), empty)


def test_bad_images() -> None:
    others = {
        "PIL L": Image.new("L", (4, 4)),
        "PIL RGBA": Image.new("RGBA", (4, 4)),
        "4x0": Image.new("RGB", (0, 4)),
        "float32": np.zeros((4, 4, 3), np.float32),
        "4x4x4": np.zeros((4, 4, 4), np.uint8),
        "uint8 4x4": np.zeros((4, 4), np.uint8),
        "tensor float32": torch.zeros(3, 4, 4),
        "tensor uint8 1x4x4": torch.zeros(1, 4, 4, dtype=torch.uint8),
        "NoneType": None,
        "mode='L'": LazyImage(png(some(4, 4)), "L"),
    }
    for got, image in others.items():
        with pytest.raises(TypeError, match=rf"images should be RGB.*got .*{got}"):
            pathology.tissue_stats([BAG[0], image])
    with pytest.raises(TypeError, match=r"images should be RGB.*float32"):
        pathology.tissue_stats(np.zeros((4, 4, 3), np.float32))
    with pytest.raises(TypeError, match="images should be a list of images"):
        pathology.tissue_stats(7)
    with pytest.raises(ValueError, match="images should be of shape"):
        pathology.tissue_stats(np.zeros((4, 4), np.uint8))
    gray = io.BytesIO()
    Image.new("L", (4, 4)).save(gray, "PNG")
    with pytest.raises(TypeError, match=r"images should be RGB, got .* which is of mode L"):
        pathology.tissue_stats([BAG[0], LazyImage(gray.getvalue(), None)])


def test_bad_limits() -> None:
    for name in ("white", "black"):
        for limit in (-1, 256):
            with pytest.raises(ValueError, match=f"{name} should be from 0 to 255, got {limit}"):
                pathology.tissue_stats([], **{name: limit})
        with pytest.raises(TypeError, match=f"{name} should be an integer, got 0.5"):
            pathology.tissue_stats([], **{name: 0.5})
    with pytest.raises(ValueError, match="num_threads should be at least 1, got 0"):
        pathology.tissue_stats(BAG, num_threads=0)
    with pytest.raises(TypeError, match="the image must be RGB"):
        _C.tissue_stats(_C.from_array(np.zeros((4, 4), np.uint8)), 1, 2)
    with pytest.raises(ValueError, match="limits of samples must be from 0 to 255"):
        _C.tissue_stats(_C.from_array(BAG[0]), 256, 2)


@pytest.mark.parametrize("threads", [1, 3])
def test_broken_files(threads: int, tmp_path: Path) -> None:
    """The first of them, with its number and its name."""
    data = png(some(40, 40))
    (tmp_path / "broken.png").write_bytes(data[: len(data) // 2])
    bag = [BAG[0], data, tmp_path / "broken.png", tmp_path / "missing.png"]
    for function in (pathology.tissue_stats, pathology.stain_matrix):
        with pytest.raises(fastaug.DecodeError, match=r"broken\.png") as error:
            function(bag, num_threads=threads)
        assert error.value.index == 2
        with pytest.raises(FileNotFoundError):
            function([BAG[0], tmp_path / "missing.png"], num_threads=threads)


def test_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for function in (pathology.tissue_stats, pathology.stain_matrix):
        for progress in (True, False):
            monkeypatch.setattr("sys.stderr", terminal := Terminal())
            function(BAG, num_threads=2, progress=progress)
            assert ("7/7" in terminal.getvalue()) == progress


def test_threads() -> None:
    """Others go on meanwhile, and none are left behind."""
    large = some(700, 900)
    before = threading.active_count()
    wanted = pathology.tissue_stats([large] * 6, num_threads=1)
    made: list[np.ndarray] = []
    callers = [
        threading.Thread(target=lambda: made.append(pathology.tissue_stats([large] * 6, num_threads=2)))
        for _ in range(3)
    ]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert len(made) == 3 and all(same(one, wanted) for one in made)
    assert threading.active_count() == before


def test_stains_of_files(tmp_path: Path) -> None:
    """As of what imread makes of them, by both ways, whether they are files, bytes or handles."""
    bag: list[Any] = []
    for number, name in enumerate(("coffee", "ihc", "astronaut")):
        path = tmp_path / f"{number}.jpg"
        photo(name, 80, 96).save(path)
        bag += [path, path.read_bytes(), LazyImage(path), photo(name, 80, 96)]
    wanted = pathology.stain_matrix([imread(one) if isinstance(one, (Path, bytes)) else np.asarray(one) for one in bag])
    for threads in (1, 3):
        assert np.array_equal(pathology.stain_matrix(bag, num_threads=threads), wanted)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fastaug._program.stains._MANY", 1)
        assert np.abs(pathology.stain_matrix(bag, num_threads=2) - wanted).max() < 1e-12
    assert np.array_equal(pathology.StainNormalize([bag[0]]).matrix, pathology.stain_matrix(str(bag[0])))
    pair = pathology.StainNormalize((bag[0], bag[1]))
    assert np.array_equal(pair.matrix, pathology.stain_matrix(bag[:2]))


filters = pytest.importorskip("skimage.filters")


def variance(counts: Any, threshold: int) -> float:
    """Between the two classes."""
    counts = np.asarray(counts, np.float64)
    values, below = np.arange(len(counts)), np.arange(len(counts)) <= threshold
    low, high = counts[below].sum(), counts[~below].sum()
    if not low or not high:
        return 0.0
    means = (counts * values)[below].sum() / low, (counts * values)[~below].sum() / high
    return float(low * high * (means[0] - means[1]) ** 2)


def assert_otsu(counts: Any) -> None:
    """scikit-image's, whose products are of float32: another one is as good as that sees."""
    made, theirs = pathology.otsu(counts), int(filters.threshold_otsu(hist=np.asarray(counts)))
    best = max(variance(counts, threshold) for threshold in range(len(counts)))
    assert variance(counts, made) == pytest.approx(best, rel=1e-9)
    if made != theirs:
        assert variance(counts, theirs) == pytest.approx(best, rel=1e-6)


@given(st.lists(st.integers(0, 2**20), min_size=256, max_size=256), st.integers(2, 256))
def test_otsu(counts: list[int], bins: int) -> None:
    counts = counts[:bins]
    if np.count_nonzero(counts) > 1:
        assert_otsu(counts)


@given(st.dictionaries(st.integers(0, 255), st.integers(1, 50), min_size=2, max_size=6))
def test_otsu_of_few_values(values: dict[int, int]) -> None:
    """Between two values, any threshold is as good: the lower one is taken."""
    counts = np.zeros(256, np.uint32)
    counts[list(values)] = list(values.values())
    assert_otsu(counts)
    assert counts[pathology.otsu(counts)] > 0


def test_otsu_of_images() -> None:
    for name in ("coffee", "ihc", "astronaut", "chelsea"):
        image = np.asarray(photo(name, 90, 120))
        row = pathology.tissue_stats(image)[0]
        threshold = pathology.otsu(row["gray_histogram"])
        assert type(threshold) is int
        assert threshold == filters.threshold_otsu(gray_of(image).astype(np.uint8))
        assert pathology.otsu(row["gray_histogram"].tolist()) == threshold
        assert pathology.otsu(row["gray_histogram"].astype(np.float32)) == threshold


def test_otsu_of_several() -> None:
    rows = pathology.tissue_stats(BAG[:3])["saturation_histogram"]
    made = pathology.otsu(rows)
    assert made.dtype == np.int64
    assert made.tolist() == [pathology.otsu(row) for row in rows]


def test_otsu_of_one_value() -> None:
    for value in (0, 7, 255):
        assert pathology.otsu(np.bincount([value] * 9, minlength=256)) == value
        assert filters.threshold_otsu(np.full((3, 3), value, np.uint8)) == value


def test_bad_histograms() -> None:
    for counts in ([1, -1], [0.5, 1.0], [float("nan"), 1.0], [float("inf"), 1.0]):
        with pytest.raises(ValueError, match="histogram should be how many pixels have each value, got"):
            pathology.otsu(counts)
    for counts in ([0, 0, 0], [[1, 2], [0, 0]]):
        with pytest.raises(ValueError, match="histogram should be of one pixel or more, got none"):
            pathology.otsu(counts)
    for counts in ([3], np.zeros((256, 1), int), np.ones((2, 2, 2), int), np.zeros(0, int)):
        with pytest.raises(ValueError, match=r"histogram should be of shape \(values,\) or \(N, values\)"):
            pathology.otsu(counts)
    for other in ("abc", None, [None, 1], [1j, 2]):
        with pytest.raises(TypeError, match="histogram should be of integers, got"):
            pathology.otsu(other)


def test_otsu_is_exact() -> None:
    """Where thresholds are as good as floats can tell, and with more pixels than they count."""

    def brute(counts: list[int]) -> int:
        pixels, total = sum(counts), sum(value * count for value, count in enumerate(counts))
        best, at = Fraction(-1), 0
        for value in range(len(counts) - 1):
            below, low = sum(counts[: value + 1]), sum(v * c for v, c in enumerate(counts[: value + 1]))
            if 0 < below < pixels:
                variance = Fraction((pixels * low - below * total) ** 2, below * (pixels - below))
                best, at = max((best, -at), (variance, -value))
                at = -at
        return at

    rng = np.random.default_rng(0)
    for most in (2, 5, 100, 2**20, 2**52):
        for _ in range(40):
            half = rng.integers(0, most, 16)
            even = np.concatenate([half, half[::-1]])  # two thresholds are as good
            even[[0, -1]] = 1
            for counts in (even, np.full(32, most), np.append(half, [0, 0, 1, most])):
                assert pathology.otsu(counts) == brute(counts.tolist())
