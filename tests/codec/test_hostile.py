"""Broken and malicious files. Pillow says of each whether it is an image, and which."""

from __future__ import annotations

import faulthandler
import gc
import io
import random
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import image_files
import numpy as np
import pytest
from PIL import Image, ImageFile

import fastaug
from fastaug import _C
from fastaug.io import imread
from support.differences import grouped
from support.processes import python
from support.scale import cases

HOSTILE = image_files.hostile()
SOUND = image_files.sound()
OTHERS = image_files.others()
#: Small, so that thousands of mutations take seconds.
SEEDS = {name: data for name, data in (SOUND | HOSTILE).items() if len(data) < 4000 and "large" not in name}

#: WebP files, lossy and lossless, and with alpha of either kind.
WEBPS = ("webp-40x29-rgb", "webp-40x29-rgb-lossless", "webp-40x29-rgba", "webp-40x29-rgba-lossless")

#: Refused although Pillow would decode them: work far beyond what their size is worth.
REFUSED = {"jpeg-many-scans", "jpeg-many-scans-large"}
#: Seconds that no file takes. Beyond ten times as many the process ends, with a traceback.
MOST_SECONDS = 5.0


@pytest.fixture(autouse=True)
def no_hang() -> Iterator[None]:
    faulthandler.dump_traceback_later(120, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture(params=[False, True], ids=["whole", "truncated-too"])
def truncated(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", request.param)
    # Filling images of nearly Pillow's limit takes it seconds.
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1 << 24)
    return bool(request.param)


#: Pillow's names of what the components of a JPEG can be said to be.
COMPONENTS = {"rgb": "RGB", "ycbcr": "YCbCr"}


def by_pillow(data: bytes, mode: str = "RGB", colorspace: str | None = None) -> np.ndarray | Exception:
    try:
        image = Image.open(io.BytesIO(data))
        if colorspace is not None and image.format in ("JPEG", "MPO") and image.mode != "L":
            assert image.mode == "RGB", "of three components"
            image.tile = [tile._replace(args=("RGB", COMPONENTS[colorspace])) for tile in image.tile]
        return np.asarray(image.convert(mode))
    except AssertionError as error:
        return OSError(error)
    except Exception as error:
        return error


def by_fastaug(data: bytes, mode: str = "RGB", **options: object) -> np.ndarray | Exception:
    start = time.perf_counter()
    try:
        return imread(data, mode, **options)  # type: ignore[arg-type]
    except Exception as error:
        return error
    finally:
        assert time.perf_counter() - start < MOST_SECONDS


def difference(data: bytes, mode: str = "RGB", colorspace: str | None = None) -> str | None:
    """How the two disagree about a file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected, got = by_pillow(data, mode, colorspace), by_fastaug(data, mode, colorspace=colorspace)
    if isinstance(expected, Exception):
        if not isinstance(got, Exception):
            return f"decoded, but Pillow raises {expected!r}"
        if isinstance(expected, OSError) and not isinstance(expected, Image.DecompressionBombError):
            right = isinstance(got, fastaug.DecodeError)
        else:
            right = isinstance(got, (fastaug.DecodeError, type(expected)))
        return None if right else f"raises {got!r}, but Pillow {expected!r}"
    if isinstance(got, Exception):
        return f"raises {got!r}, but Pillow decodes"
    if got.shape != expected.shape or got.dtype != expected.dtype:
        return f"{got.dtype} of shape {got.shape}, but Pillow has {expected.shape}"
    wrong = np.count_nonzero(got != expected)
    return f"{wrong} of {got.size} samples differ" if wrong else None


@pytest.mark.usefixtures("truncated")
@grouped([*SOUND, *HOSTILE, *OTHERS], "name", lambda name: name.partition("-")[0])
def test_file(name: str) -> None:
    data = (SOUND | HOSTILE | OTHERS)[name]
    if name in REFUSED:
        with pytest.raises(fastaug.DecodeError, match="scans"):
            imread(data)
    else:
        assert difference(data) is None


@pytest.mark.parametrize("colorspace", COMPONENTS)
@pytest.mark.usefixtures("truncated")
def test_components(colorspace: str) -> None:
    """Whatever a stream says of them, and however broken it is."""
    for name, data in (SOUND | HOSTILE | OTHERS).items():
        if name not in REFUSED:
            assert difference(data, colorspace=colorspace) is None, name


@pytest.mark.parametrize("part", range(cases(4)))
@pytest.mark.usefixtures("truncated")
def test_mutations(part: int) -> None:
    for name, data in image_files.mutations(SEEDS, 1000, part):
        noise = random.Random(name)
        mode = noise.choice(["RGB", "RGB", "L", "RGBA"])
        colorspace = noise.choice([None, None, "rgb", "ycbcr"])
        assert difference(data, mode, colorspace) is None, f"{name}, {mode}, {colorspace}"


def test_every_prefix() -> None:
    """Whatever Pillow calls truncated is, and so are regions far from where the file ends."""
    for name in ("jpeg-40x29-2", "jpeg-40x29-2-progressive", "jpeg-40x29-gray", "png-parts-2", "png-stored-6", *WEBPS):
        data = SOUND[name]
        for length in range(0, len(data), 7):
            prefix = data[:length]
            assert difference(prefix) is None, f"{name}, {length} bytes"
            if isinstance(by_pillow(prefix), Exception):
                assert isinstance(by_fastaug(prefix, region=(0, 0, 3, 5)), fastaug.DecodeError), f"{name}, {length}"


def test_regions_of_mutations() -> None:
    """Where the whole decodes, every region has its pixels."""
    count, decoded = cases(1500), 0
    for name, data in image_files.mutations(SEEDS, count, 77):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = by_pillow(data)
            if isinstance(expected, Exception) or expected.size > 1 << 20:
                continue
            noise = random.Random(name)
            height, width = (noise.randint(1, side) for side in expected.shape[:2])
            top, left = noise.randint(0, expected.shape[0] - height), noise.randint(0, expected.shape[1] - width)
            got = imread(data, region=(top, left, height, width))
        assert np.array_equal(got, expected[top : top + height, left : left + width]), name
        decoded += 1
    assert decoded > count // 8


def test_the_error_says_what_and_where() -> None:
    with pytest.raises(fastaug.DecodeError) as caught:
        imread(HOSTILE["jpeg-no-eoi"])
    assert isinstance(caught.value, OSError) and caught.value.format == "JPEG"
    with pytest.raises(fastaug.DecodeError) as caught:
        imread(HOSTILE["png-bad-filter"])
    assert caught.value.format == "PNG"


@pytest.mark.parametrize("mode", ["L", "CMYK"])
@pytest.mark.parametrize("end", [None, -2])
def test_scans_without_end_are_not_for_pillow_either(mode: str, end: int | None) -> None:
    """Native or not, whole or cut off."""
    with pytest.raises(fastaug.DecodeError, match="too many scans") as caught:
        imread(image_files.many_scans(2000, 8000, 8000, mode)[:end])
    assert caught.value.format == "JPEG"


def test_a_file_that_fails_is_named(tmp_path: Path) -> None:
    path = tmp_path / "cut.jpg"
    path.write_bytes(HOSTILE["jpeg-empty-scan"][:-2])
    with pytest.raises(fastaug.DecodeError, match=r"cut\.jpg") as caught:
        imread(path)
    assert caught.value.filename == str(path)


def test_failures_leak_nothing() -> None:
    names = sorted(name for name in HOSTILE if len(HOSTILE[name]) < 4000 and "bomb" not in name and "large" not in name)

    def fail(count: int) -> int:
        failed = 0
        for k in range(count):
            failed += isinstance(by_fastaug(HOSTILE[names[k % len(names)]]), Exception)
        gc.collect()
        return failed

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fail(500)
        before = resident()
        assert fail(2000) > 500
        assert resident() - before < 8 << 20


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


BOMBS = sorted(name for name in HOSTILE if "bomb" in name or "largest" in name)

BOMB_CODE = """
import resource, sys, warnings
import image_files
import fastaug
from fastaug.io import imread
from PIL import Image

def status(name):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(name))

warnings.simplefilter("ignore")
imread(image_files.jpegs()["40x29-2"])
resource.setrlimit(resource.RLIMIT_AS, ((status("VmSize") + (700 << 10)) << 10,) * 2)
before = status("VmHWM")
for name in sys.argv[1:]:
    try:
        imread(image_files.hostile()[name])
    except (fastaug.DecodeError, Image.DecompressionBombError) as error:
        print(f"{name}: {error!r}")
    assert status("VmHWM") - before < 64 << 10, name
"""


def test_bombs_take_no_memory() -> None:
    process = python(["-c", BOMB_CODE, *BOMBS], folder=Path(__file__).parent)
    assert process.returncode == 0, process.stdout + process.stderr
    assert process.stdout.count("\n") == len(BOMBS) > 5


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_not_for_the_core(name: str) -> None:
    """With Pillow's limit off, they are Pillow's to fill memory with."""
    # A lossless WebP of one colour takes thirty bytes, whatever its size.
    assert not _C.Encoded(HOSTILE[name], None).native or name == "webp-lossless-bomb"
