"""python -m bench pathology: fastaug.pathology on tiles, beside what it equals.

Equality is asserted first. Times are processor time of one thread; the two take turns, and a ratio is the median of
those of the rounds, with their 10th to 90th percentile. Rows of packages that are not installed are left out (`make
test-pathology` installs them, in .venv-pathology).
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image

import fastaug
from bench import slides
from bench.images import TILES, photographs, read, windows
from bench.measure import ONE_THREAD
from fastaug._inspect.info import processor
from fastaug.pathology import StainNormalize, functional, otsu, stain_matrix, tissue_stats

SCALE, SHIFT = np.array([1.1, 0.9]), np.array([0.05, -0.03])
HE = np.array([[0.65, 0.70, 0.29], [0.07, 0.99, 0.11]])
#: How far matrices may be apart that are found by sums of another order.
CLOSE = 1e-11
ALPHA, BETA = np.array([1.031, 0.962, 1.018]), np.array([0.021, -0.034, 0.012])


@dataclass(frozen=True)
class Row:
    """What is timed: `ours` and `theirs` of an RGB array, where `prepared` makes the images of it first.

    `needs` are modules. `off` is the share of samples that may be one level off: of theirs in float32, or where the
    last bit of a logarithm decides.
    """

    name: str
    reference: str
    prepared: Callable[[np.ndarray], Any]
    ours: Callable[[Any], Any]
    theirs: Callable[[Any], Any]
    ops: tuple[str, ...] = ()
    needs: str = "numpy"
    off: float = 0.0

    def same(self, image: Any) -> bool:
        ours, theirs = (np.asarray(call(image)) for call in (self.ours, self.theirs))
        if ours.dtype != np.uint8:
            return bool(np.abs(ours - theirs).max() <= CLOSE)
        apart = np.abs(ours.astype(np.int16) - theirs)
        return bool(apart.max() <= (self.off > 0) and (apart > 0).mean() <= self.off)


def by_skimage(image: np.ndarray) -> np.ndarray:
    from skimage.color import hed2rgb, rgb2hed

    made: np.ndarray = (hed2rgb(rgb2hed(image) * ALPHA + BETA) * 255).astype(np.uint8)
    return made


def by_albumentationsx(image: np.ndarray) -> np.ndarray:
    from albumentations.augmentations.medical.functional import apply_he_stain_augmentation

    numbers = (HE.astype(np.float32), SCALE.astype(np.float32), SHIFT.astype(np.float32))
    made: np.ndarray = apply_he_stain_augmentation(image, *numbers, True, "project")
    return made


def by_formula(image: np.ndarray) -> np.ndarray:
    """tiatoolbox's StainAugmentor with a fixed matrix, without what it does beside it: a table and one product."""
    densities = np.maximum(-np.log(np.maximum(np.arange(256), 1) / 255), 1e-6)[image].reshape(-1, 3)
    amounts = np.linalg.lstsq(HE.T, densities.T, rcond=-1)[0].T * SCALE + SHIFT
    made: np.ndarray = np.clip(255 * np.exp(-amounts @ HE), 0, 255).astype(np.uint8).reshape(image.shape)
    return made


def torchstain_normalizer() -> Any:
    from torchstain.numpy.normalizers.macenko import NumpyMacenkoNormalizer

    return NumpyMacenkoNormalizer()


def by_torchstain(image: np.ndarray) -> np.ndarray:
    normalizer = torchstain_normalizer()
    normalizer.fit(image)
    matrix: np.ndarray = normalizer.HERef.T
    return matrix


def normalized_by_torchstain(image: np.ndarray) -> np.ndarray:
    """To the reference that it begins with."""
    made: np.ndarray = torchstain_normalizer().normalize(image, stains=False)[0]
    return made


def tests_of_clam(image: np.ndarray) -> np.ndarray:
    """What isWhitePatch and isBlackPatch compare with limits: the mean saturation, and those of the channels."""
    import cv2

    return np.array([np.mean(cv2.cvtColor(image, cv2.COLOR_RGB2HSV)[:, :, 1]), *np.mean(image, axis=(0, 1))])


def tests_by_stats(image: Any) -> np.ndarray:
    row = tissue_stats(image, num_threads=1)[0]
    return np.array([row["mean_saturation"], *row["mean_rgb"]])


def all_by_opencv(image: np.ndarray) -> np.ndarray:
    """All fields, by the calls that scripts make."""
    import cv2

    saturation, gray = cv2.cvtColor(image, cv2.COLOR_RGB2HSV)[:, :, 1], cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    return np.concatenate(
        [
            np.mean(image, axis=(0, 1)),
            [np.mean(saturation)],
            cv2.calcHist([saturation], [0], None, [256], [0, 256]).ravel(),
            cv2.calcHist([gray], [0], None, [256], [0, 256]).ravel(),
            [np.mean(np.all(image > 220, axis=2)), np.mean(np.all(image < 20, axis=2))],
            [cv2.Laplacian(gray, cv2.CV_64F).var()],
        ]
    )


def all_by_stats(image: Any) -> np.ndarray:
    row = tissue_stats(image, num_threads=1)[0]
    return np.concatenate([np.atleast_1d(np.asarray(row[name], np.float64)) for name in row.dtype.names])


def otsu_by_skimage(histogram: np.ndarray) -> np.ndarray:
    from skimage.filters import threshold_otsu

    return np.array([threshold_otsu(hist=histogram)], np.float64)


def tensor_of(image: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(image.transpose(2, 0, 1).copy())


TISSUE = (
    Row("tissue_stats, array", "CLAM's tests", lambda image: image, tests_by_stats, tests_of_clam, needs="cv2"),
    Row("tissue_stats, array", "all, OpenCV", lambda image: image, all_by_stats, all_by_opencv, needs="cv2"),
    Row(
        "tissue_stats, PIL",
        "all, OpenCV",
        Image.fromarray,
        all_by_stats,
        lambda image: all_by_opencv(np.asarray(image)),
        needs="cv2",
    ),
    Row(
        "otsu, 256 values",
        "skimage",
        lambda image: tissue_stats(image)[0]["gray_histogram"],
        lambda histogram: np.array([otsu(histogram)], np.float64),
        otsu_by_skimage,
    ),
)

CASES = (
    Row(
        "adjust_hed, array",
        "skimage",
        lambda image: image,
        lambda image: functional.adjust_hed(image, ALPHA, BETA),
        by_skimage,
        ("HED",),
    ),
    Row(
        "adjust_stains, array",
        "NumPy",
        lambda image: image,
        lambda image: functional.adjust_stains(image, HE, SCALE, SHIFT),
        by_formula,
        ("STAINS",),
    ),
    Row(
        "adjust_stains, array",
        "HEStain",
        lambda image: image,
        lambda image: functional.adjust_stains(image, HE, SCALE, SHIFT, "albumentationsx"),
        by_albumentationsx,
        ("STAINS",),
        "albumentations.augmentations.medical",
        1e-3,
    ),
    Row(
        "stain_matrix, array",
        "torchstain",
        lambda image: image,
        lambda image: stain_matrix(image, num_threads=1),
        by_torchstain,
        needs="torchstain",
    ),
    Row(
        "StainNormalize, array",
        "torchstain",
        lambda image: image,
        StainNormalize("macenko-reference"),
        normalized_by_torchstain,
        ("STAINS",),
        "torchstain",
        1e-3,
    ),
    Row(
        "quarter_turn, PIL",
        "Pillow",
        Image.fromarray,
        lambda image: functional.quarter_turn(image, 1),
        lambda image: image.transpose(Image.Transpose.ROTATE_90),
        ("ROT90",),
    ),
    Row(
        "quarter_turn, array",
        "numpy",
        lambda image: image,
        lambda image: functional.quarter_turn(image, 1),
        lambda image: np.rot90(image).copy(),
        ("ROT90",),
    ),
    Row(
        "quarter_turn, tensor",
        "torch",
        tensor_of,
        lambda image: functional.quarter_turn(image, 1),
        lambda image: torch.rot90(image, 1, (-2, -1)).contiguous(),
        ("ROT90",),
    ),
)


def of_slides() -> list[Row]:
    """Regions of each slide, against each reader; imagecodecs is what the slides are written with."""
    rows = []
    for layout in slides.LAYOUTS:
        prepared = partial(slides.regions, layout)
        name = f"Slide.read, {slides.COUNT} of {slides.REGION}, {layout}"
        read, regions = slides.Regions.read, slides.Regions
        rows += [
            Row(name, "cuCIM", prepared, read, regions.by_cucim, needs="imagecodecs cucim.clara"),
            Row(name, "openslide", prepared, read, regions.by_openslide, needs="imagecodecs openslide"),
            Row(name, "imread loop", prepared, read, regions.by_loop, needs="imagecodecs"),
            Row(
                f"Slide.lazy to 224, {layout}",
                "openslide",
                prepared,
                regions.tensors,
                regions.tensors_by_openslide,
                needs="imagecodecs openslide",
            ),
            Row(
                f"tissue_stats of {slides.COUNT} of {slides.REGION}, {layout}",
                "openslide",
                prepared,
                lambda regions: np.stack([tests_by_stats(region) for region in regions.handles()]),
                lambda regions: np.stack([tests_of_clam(np.asarray(image)) for image in regions.by_openslide()]),
                needs="imagecodecs openslide cv2",
            ),
        ]
    return rows


def is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # of a package around it
        return False


def spent(call: Callable[[Any], Any], image: Any) -> float:
    start = time.process_time()
    call(image)
    return time.process_time() - start


def timed(row: Row, image: Any, rounds: int) -> tuple[float, float, np.ndarray]:
    """Seconds of ours and of theirs, and how many times as long theirs takes: the median, and two percentiles."""
    pairs = [(spent(row.ours, image), spent(row.theirs, image)) for _ in range(rounds)]
    ratios = [theirs / max(ours, 1e-9) for ours, theirs in pairs]
    of_ratios: np.ndarray = np.percentile(ratios, (50, 10, 90))
    return statistics.median(p[0] for p in pairs), statistics.median(p[1] for p in pairs), of_ratios


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench pathology", description=__doc__)
    parser.add_argument("--tile", type=Path, help="an image; by default the first window of 1024x1024 of the tiles")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    if not ONE_THREAD.items() <= os.environ.items():
        # NumPy's products take as many threads as this said when it was imported.
        arguments = [sys.executable, "-m", "bench", "pathology", *sys.argv[1:]]
        os.execve(sys.executable, arguments, {**os.environ, **ONE_THREAD})
    torch.set_num_threads(1)
    tile: Path | None = options.tile
    array = windows(photographs("tile1024", TILES), 1, 1024, 1024)[0] if tile is None else read(tile)
    print(f"| {array.shape[0]}x{array.shape[1]}, {fastaug.isa()}, ms of processor time | beside | | fastaug | |")
    print("| --- | --- | --: | --: | --: |")
    failed = 0
    for row in (*CASES, *TISSUE, *of_slides()):
        if not all(map(is_installed, row.needs.split())):
            continue
        image = row.prepared(array)
        if not row.same(image):
            print(f"{row.name}: DIFFERS FROM {row.reference.upper()}")
            failed = 1
            continue
        ours, theirs, (median, low, high) = timed(row, image, options.rounds)
        times = f"{theirs * 1e3:.3g} | **{ours * 1e3:.3g}** | **{median:.1f}x ({low:.1f}-{high:.1f})**"
        print(f"| {row.name} | {row.reference} | {times} |", flush=True)
    print(f"\n{processor()}")
    return failed


if __name__ == "__main__":
    raise SystemExit(main())
