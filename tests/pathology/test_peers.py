"""The packages whose stains these are, themselves: `make test-pathology` has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from fastaug import pathology
from fastaug._program import stains
from fastaug._program.borrow import sources_of
from fastaug.pathology import functional as F
from fastaug.pathology._basis import PRESETS
from support.images import noise, photo

HE = np.array(PRESETS["he"])


def tissue(height: int, width: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    amounts = rng.gamma(2, 0.3, (height, width, 2)) * (rng.random((height, width, 1)) < 0.7)
    return np.clip(240 * np.exp(-amounts @ HE) + rng.normal(0, 2, (height, width, 3)), 0, 255).astype(np.uint8)


def assert_near(made: np.ndarray, wanted: np.ndarray, share: float) -> None:
    """No sample more than a level off, and at most a share of them one."""
    off = np.abs(made.astype(int) - wanted)
    assert off.max() <= 1 and (off > 0).mean() <= share


def numpy_normalizer() -> Any:
    return pytest.importorskip("torchstain.numpy.normalizers.macenko").NumpyMacenkoNormalizer()


@pytest.mark.parametrize("seed", range(4))
def test_torchstain(seed: int) -> None:
    """But for gray of 239, whose density is zero there, and whose light therefore 240, just not below."""
    theirs, target = numpy_normalizer(), tissue(100, 90, seed)
    theirs.fit(target)
    ours = pathology.StainNormalize(target)
    assert np.abs(np.array(ours.matrix).T - theirs.HERef).max() < 1e-12
    assert np.abs(np.array(ours.strengths) - theirs.maxCRef).max() < 1e-11
    for image in (tissue(120, 80, seed + 10), np.asarray(photo("coffee", 90, 120))):
        wanted = theirs.normalize(image, stains=False)[0]
        decided = (image != 239).any(2)
        assert np.array_equal(ours(image)[decided], wanted[decided])


@given(seed=st.integers(0, 2**32 - 1), colours=st.integers(3, 40), pixels=st.integers(16, 400))
def test_torchstain_with_ties_and_few_pixels(seed: int, colours: int, pixels: int) -> None:
    rng = np.random.default_rng(seed)
    image = rng.integers(0, 206, (colours, 3), np.uint8)[rng.integers(0, colours, pixels)][None]
    spread = np.linalg.eigvalsh(np.cov(-np.log((image[0] + 1.0) / 240).T))
    found = stains.found(sources_of(image))
    if found is None or spread[1] - spread[0] < 1e-3 or spread[2] - spread[1] < 1e-3:
        return  # nothing to compare, or a plane that hangs on the last bits
    theirs = numpy_normalizer()
    theirs.fit(image)
    assert np.abs(np.array(found.matrix).T - theirs.HERef).max() < 1e-9
    assert np.abs(np.array(found.strengths) / theirs.maxCRef - 1).max() < 1e-6


@pytest.mark.parametrize(
    ("matrix", "residual", "count"),
    [("he", "project", 2), ("he", "preserve", 3), ("he", "augment", 3), ("hed", "preserve", 3), ("hed", "augment", 3)],
)
def test_albumentationsx(matrix: str, residual: str, count: int) -> None:
    """It is float32, and its two stains are regularized."""
    theirs = pytest.importorskip("albumentations.augmentations.medical.functional")
    rng = np.random.default_rng(0)
    scale, shift = (numbers.astype(np.float32) for numbers in (rng.uniform(0.8, 1.2, 3), rng.uniform(-0.1, 0.1, 3)))
    if residual == "preserve":
        scale[2], shift[2] = 1, 0
    changed = 2 if residual == "preserve" else count
    rows = np.array(PRESETS[matrix], np.float32)
    for image in (noise(200, 300), np.asarray(photo("coffee", 200, 300))):
        wanted = theirs.apply_he_stain_augmentation(image, rows, scale[:count], shift[:count], True, residual)
        made = F.adjust_stains(image, rows, scale[:changed], shift[:changed], "albumentationsx", residual)
        assert_near(made, wanted, 1e-3 if residual == "project" else 1e-4)


def test_albumentationsx_background() -> None:
    """Where a pixel is not next to the limit."""
    theirs = pytest.importorskip("albumentations.augmentations.medical.functional")
    image = noise(200, 300) | 0x80
    rows, scale, shift = np.array(PRESETS["hed"], np.float32), np.float32([1.2, 0.9, 1.1]), np.float32([0.1, -0.1, 0])
    wanted = theirs.apply_he_stain_augmentation(image, rows, scale, shift, False, "augment")
    made = F.adjust_stains(image, rows, scale, shift, "albumentationsx", background="keep")
    decided = np.abs(image @ np.array([299, 587, 114]) - 216750) > 1
    assert_near(made[decided], wanted[decided], 1e-4)


def test_tiatoolbox() -> None:
    theirs = pytest.importorskip("tiatoolbox.tools.stainaugment")
    for seed, image in enumerate((noise(200, 300), np.asarray(photo("coffee", 200, 300)))):
        rng = np.random.default_rng(seed)
        scale, shift = rng.uniform(0.6, 1.4, 2), rng.uniform(-0.2, 0.2, 2)
        augmentor = theirs.StainAugmentor("macenko", stain_matrix=HE, augment_background=True)
        augmentor.fit(image.copy())
        augmentor.alpha, augmentor.beta = None, None
        numbers = iter(zip(scale, shift, strict=True))

        def drawn(augmentor: Any = augmentor, numbers: Any = numbers) -> None:
            augmentor.alpha, augmentor.beta = next(numbers)

        augmentor._sample_params = drawn
        assert np.array_equal(F.adjust_stains(image, HE, scale, shift), augmentor.augment())


def tiles() -> list[np.ndarray]:
    """Of every size, with white and black parts; photographs too."""
    bag = [
        noise(height, width, seed=height) for height, width in ((1, 1), (1, 9), (9, 1), (2, 2), (61, 77), (128, 128))
    ]
    for image in bag:
        image[: len(image) // 3] |= 0xE0
        image[len(image) // 3 : len(image) // 2] &= 0x0F
    return [*bag, *(np.asarray(photo(name, 150, 200)) for name in ("coffee", "ihc", "astronaut"))]


def colours() -> np.ndarray:
    """Every red and green, with some blue of each."""
    levels = np.arange(256, dtype=np.uint8)
    red, green = np.meshgrid(levels, levels, indexing="ij")
    return np.concatenate([np.stack([red, green, (red * k + green) & 255], 2) for k in range(8)]).astype(np.uint8)


def test_opencv() -> None:
    cv2 = pytest.importorskip("cv2")
    bag = [*tiles(), colours()]
    for row, image in zip(pathology.tissue_stats(bag), bag, strict=True):
        saturation = cv2.cvtColor(image, cv2.COLOR_RGB2HSV)[:, :, 1]
        gray = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
        assert np.array_equal(row["mean_rgb"], np.mean(image, axis=(0, 1)))
        assert row["mean_saturation"] == np.mean(saturation)
        assert np.array_equal(row["saturation_histogram"], np.bincount(saturation.ravel(), minlength=256))
        assert np.array_equal(row["gray_histogram"], np.bincount(gray.ravel(), minlength=256))
        assert row["white"] == np.mean(np.all(image > 220, axis=2))
        assert row["black"] == np.mean(np.all(image < 20, axis=2))
        wanted = cv2.Laplacian(gray, cv2.CV_64F).var()
        assert row["laplacian_variance"] == pytest.approx(wanted, rel=1e-12, abs=1e-12)


@given(seed=st.integers(0, 2**32 - 1), values=st.integers(2, 256), most=st.integers(0, 12))
def test_otsu_of_opencv(seed: int, values: int, most: int) -> None:
    """Where no other threshold is as good; of one value, OpenCV says 0."""
    cv2 = pytest.importorskip("cv2")
    rng = np.random.default_rng(seed)
    counts = np.zeros(256, np.int64)
    counts[rng.choice(256, values, replace=False)] = rng.integers(1, 2 + 2**most, values)
    image = np.repeat(np.arange(256, dtype=np.uint8), counts)[None]
    theirs, made = int(cv2.threshold(image, 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)[0]), pathology.otsu(counts)
    if theirs != made:
        variances = [between(counts, threshold) for threshold in (theirs, made)]
        assert variances[0] == pytest.approx(variances[1], rel=1e-9)


def between(counts: np.ndarray, threshold: int) -> float:
    """The variance between two classes."""
    (low, high), levels = (counts[: threshold + 1], counts[threshold + 1 :]), np.arange(256)
    means = low @ levels[: threshold + 1] / low.sum(), high @ levels[threshold + 1 :] / high.sum()
    return float(low.sum() * high.sum() * (means[0] - means[1]) ** 2)


def test_otsu_of_tiatoolbox() -> None:
    """Its mask is the gray below."""
    theirs = pytest.importorskip("tiatoolbox.tools.tissuemask")
    cv2 = pytest.importorskip("cv2")
    for image in tiles()[4:]:
        masker = theirs.OtsuTissueMasker()
        mask = masker.fit_transform([image])[0]
        row = pathology.tissue_stats(image)[0]
        threshold = pathology.otsu(row["gray_histogram"])
        assert masker.threshold == threshold
        assert np.array_equal(mask, cv2.cvtColor(image, cv2.COLOR_RGB2GRAY) < threshold)
        assert row["gray_histogram"][:threshold].sum() == mask.sum()


def test_clam() -> None:
    """A checkout of CLAM, which is in no registry: `make test-pathology CLAM=DIR`."""
    theirs = pytest.importorskip(
        "wsi_core.wsi_utils", reason="there is no checkout of CLAM: make test-pathology CLAM=DIR"
    )
    bag = tiles()
    for image in tiles():
        for level in (0, 4, 5, 14, 15, 16, 39, 40, 41, 49, 50, 221):
            bag += [np.minimum(image, level).astype(np.uint8), np.maximum(image, 255 - level).astype(np.uint8)]
    stats = pathology.tissue_stats(bag)
    for limit in (5, 15):
        assert (stats["mean_saturation"] < limit).tolist() == [theirs.isWhitePatch(image, limit) for image in bag]
    for limit in (40, 50):
        assert (stats["mean_rgb"] < limit).all(1).tolist() == [theirs.isBlackPatch(image, limit) for image in bag]
    images = [Image.fromarray(image) for image in bag]
    assert (stats["white"] > 0.2).tolist() == [theirs.isWhitePatch_S(image) for image in images]
    assert (stats["black"] > 0.05).tolist() == [theirs.isBlackPatch_S(image) for image in images]
    for numbers in (stats["mean_saturation"] < 5, stats["white"] > 0.2, stats["black"] > 0.05):
        assert numbers.any() and not numbers.all()
