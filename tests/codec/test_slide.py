"""Regions of slides: their pixels are those of their tiles, whoever asks for them, and however."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import encoded_images as made
import numpy as np
import pytest
import torch
import torchvision.transforms as TV
from image_files import ADOBE, marked
from PIL import Image, ImageOps
from slide_files import LAYOUTS, SIZES, cut, places, regions, tifffile, write

import fastaug
import fastaug.transforms as T
from fastaug.io import LazyImage, Slide, SlideLevel
from fastaug.transforms import v2
from support.differences import each
from support.processes import START_METHODS

APERIO = Path(__file__).parent / "aperio"


@pytest.fixture(params=list(LAYOUTS))
def layout(request: pytest.FixtureRequest) -> Any:
    return LAYOUTS[request.param]()


@pytest.fixture
def slide(tmp_path: Path) -> Slide:
    write(tmp_path / "slide.tif", LAYOUTS["4:2:0"]())
    return Slide(tmp_path / "slide.tif")


def test_regions(layout: Any, tmp_path: Path) -> None:
    levels = write(tmp_path / "slide.tif", layout)
    slide = Slide(tmp_path / "slide.tif")
    assert [level.size for level in slide.levels] == [size[::-1] for size in SIZES]
    for number, pixels in enumerate(levels):
        scale = slide.levels[number].downsample
        for left, top, width, height in regions(pixels, 25, number):
            x, y = (round(side * scale) for side in (left, top))
            got = slide.read(x, y, (width, height), number)
            assert made.same(got, cut(pixels, left, top, width, height)), (left, top, width, height)
            if abs(top) < 10**6:
                assert made.same(np.asarray(slide.lazy(x, y, (width, height), number)), got)


@pytest.mark.parametrize("tile", [(32, 48), None])
@each("samples", [1, 3, 4])
@each("compression", [None, "zlib"])
@each("bigtiff", [False, True])
def test_decoders_of_tifffile(samples: int, compression: str | None, tile: Any, bigtiff: bool, tmp_path: Path) -> None:
    image = np.random.default_rng(samples).integers(0, 256, (90, 101, samples), dtype=np.uint8)
    options: dict[str, Any] = {"photometric": "minisblack"} if samples == 1 else {"photometric": "rgb"}
    if samples == 4:
        options["extrasamples"] = ["unassalpha"]
    with tifffile.TiffWriter(tmp_path / "slide.tif", bigtiff=bigtiff) as writer:
        writer.write(
            image[:, :, 0] if samples == 1 else image, tile=tile, rowsperstrip=17, compression=compression, **options
        )
    slide = Slide(tmp_path / "slide.tif")
    pixels = np.repeat(image, 3, 2) if samples == 1 else image[:, :, :3]
    for left, top, width, height in regions(pixels, 25, 3):
        assert made.same(slide.read(left, top, (width, height)), cut(pixels, left, top, width, height))
    handle = slide.lazy(5, 6, (70, 80))
    assert made.same(np.asarray(handle), pixels[6:86, 5:75])
    crop = T.CenterCrop(20)(handle)
    assert made.same(np.asarray(crop), np.asarray(TV.CenterCrop(20)(Image.fromarray(pixels[6:86, 5:75].copy()))))
    rgba = np.asarray(handle.convert("RGBA"))
    assert made.same(rgba, np.asarray(Image.fromarray(pixels[6:86, 5:75].copy()).convert("RGBA")))


def test_tile_of_aperio(tmp_path: Path) -> None:
    """In RGB, with ids of components and markers that do not say so, and its tables elsewhere."""
    tile, tables = (APERIO / "tile.jpg").read_bytes(), (APERIO / "tables.jpg").read_bytes()
    with tifffile.TiffWriter(tmp_path / "slide.svs") as writer:
        writer.write(
            iter([tile] * 2),
            shape=(240, 480, 3),
            dtype=np.uint8,
            tile=(240, 240),
            photometric="rgb",
            compression="jpeg",
            compressionargs={"outcolorspace": "rgb"},
            jpegtables=tables,
            metadata=None,
            description="Aperio Image Library v11.2.1 \r\n480x240 |AppMag = 20|MPP = 0.4990|Left = 25.6",
        )
    slide = Slide(tmp_path / "slide.svs")
    assert slide.mpp == (0.499, 0.499)
    whole = marked(tables[:-2] + tile[2:], ADOBE["rgb"])
    assert made.same(slide.read(240, 0, (240, 240)), made.pillow(whole))
    assert made.same(slide.read(0, 0, (240, 240)), made.pillow(whole))


def test_levels(slide: Slide) -> None:
    (height, width), (tall, wide) = SIZES
    assert slide.levels[0] == SlideLevel(width, height, 1.0, (64, 48))
    assert slide.levels[1] == SlideLevel(wide, tall, (width / wide + height / tall) / 2, (64, 48))
    assert repr(slide) == f"Slide({slide.path!r}, {width}x{height}, 2 levels)"
    assert slide.mpp is None
    # From the nearest pixel on, and the later one of two.
    levels = slide.levels
    for x in (0, 1, 2, 3, 5, 6, 100):
        left = int(np.floor(x / levels[1].downsample + 0.5))
        assert made.same(slide.read(x, 0, (9, 9), 1), slide.read(0, 0, (wide, tall), 1)[:9, left : left + 9])


@pytest.mark.parametrize(
    ("unit", "resolution", "mpp"),
    [
        ("centimeter", (20000, 40000), (0.5, 0.25)),
        ("inch", (25400, 25400), (1.0, 1.0)),
        ("none", (20000, 20000), None),
        ("centimeter", (0, 20000), None),
    ],
)
def test_resolution(unit: str, resolution: Any, mpp: Any, tmp_path: Path) -> None:
    options = {"resolution": resolution, "resolutionunit": unit}
    tifffile.imwrite(tmp_path / "a.tif", np.zeros((16, 16, 3), np.uint8), photometric="rgb", tile=(16, 16), **options)
    got = Slide(tmp_path / "a.tif").mpp
    assert got == mpp if mpp is None else got == pytest.approx(mpp)


def test_openslide(layout: Any, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Itself, where it is installed (`make test-pathology`); strips are no slides to it."""
    if layout.tile is None:
        pytest.skip("openslide reads no strips")
    openslide = pytest.importorskip("openslide")
    # The upper level begins at pixels of the lower one, and openslide takes files of levels that are tiled.
    write(tmp_path / "slide.tif", layout, ((192, 256), (48, 64)))
    slide, theirs = Slide(tmp_path / "slide.tif"), openslide.OpenSlide(tmp_path / "slide.tif")
    assert theirs.level_dimensions == tuple(level.size for level in slide.levels)
    assert theirs.level_downsamples == tuple(level.downsample for level in slide.levels)
    if "JFIF in RGB" in request.node.name:
        # The tag says RGB, and the streams that they are YCbCr: openslide hands out luma and chroma as colours.
        region = theirs.read_region((0, 0), 0, (256, 192)).convert("RGB")
        ours = np.asarray(Image.frombytes("YCbCr", region.size, region.tobytes()).convert("RGB"))
        assert np.abs(ours.astype(int) - slide.read(0, 0, region.size)).max() <= 2
        return
    for number, level in enumerate(slide.levels):
        scale = round(level.downsample)
        for left, top, width, height in regions(np.empty((level.height, level.width)), 12, number):
            if abs(left) < 10**6:
                region = theirs.read_region((left * scale, top * scale), number, (width, height)).convert("RGB")
                ours = slide.read(left * scale, top * scale, (width, height), number)
                assert made.same(ours, np.asarray(region)), (left, top, width, height)


# Handles.


def transforms() -> dict[str, Callable[[Any], Any]]:
    return {
        "crop": lambda P: P.Compose([P.RandomResizedCrop(32), P.RandomHorizontalFlip(), P.ToTensor()]),
        "whole": lambda P: P.Compose([P.Resize(40), P.ColorJitter(0.2, 0.2), P.ToTensor()]),
        "callable": lambda P: P.Compose([P.RandomCrop(50), P.Lambda(lambda tile: tile.rotate(90)), P.ToTensor()]),
    }


@pytest.mark.parametrize("name", list(transforms()))
def test_pipelines(name: str, slide: Slide) -> None:
    ours, theirs = transforms()[name](T), transforms()[name](TV)
    places = [(10, 20), (-30, 5), (150, 100), (60, 60)]
    expected = []
    for number, (x, y) in enumerate(places):
        torch.manual_seed(number)
        expected.append(theirs(Image.fromarray(slide.read(x, y, (90, 80)))))
    handles = [slide.lazy(x, y, (90, 80)) for x, y in places]
    for number, handle in enumerate(handles):
        torch.manual_seed(number)
        assert torch.equal(ours(handle), expected[number])
    for _ in range(2):
        batch = ours.batch([slide.lazy(x, y, (90, 80)) for x, y in places], seeds=range(4), num_threads=2)
        assert torch.equal(batch, torch.stack(expected))
        assert torch.equal(ours.batch(handles, seeds=range(4)), batch)


def test_samples(slide: Slide) -> None:
    """Handles among other leaves, in transforms of v2."""
    steps = v2.Compose([v2.RandomCrop(30), v2.RandomHorizontalFlip(), v2.ToImage()])
    torch.manual_seed(3)
    image, label = steps(slide.lazy(10, 20, (90, 80)), 7)
    torch.manual_seed(3)
    expected = TV.Compose([TV.RandomCrop(30), TV.RandomHorizontalFlip(), TV.PILToTensor()])(
        Image.fromarray(slide.read(10, 20, (90, 80)))
    )
    assert label == 7 and torch.equal(image, expected)


def test_views(slide: Slide) -> None:
    crop = T.Compose([T.RandomResizedCrop(24), T.ToTensor()])
    torch.manual_seed(4)
    views = fastaug.Views([crop, crop])(slide.lazy(10, 20, (90, 80)))
    torch.manual_seed(4)
    theirs = TV.Compose([TV.RandomResizedCrop(24), TV.ToTensor()])
    image = Image.fromarray(slide.read(10, 20, (90, 80)))
    assert all(torch.equal(view, theirs(image)) for view in views)


def test_handle(slide: Slide) -> None:
    handle = slide.lazy(10, 20, (90, 80), 1)
    assert isinstance(handle, LazyImage)
    assert handle.size == (90, 80) and handle.mode == "RGB" and handle.format == "TIFF"
    assert handle.filename == slide.path and handle.info == {}
    assert "level 1, 90x80 at column" in repr(handle) and slide.path in repr(handle)
    pixels = slide.read(10, 20, (90, 80), 1)
    image = Image.fromarray(pixels)
    assert made.same(np.asarray(handle.load()), pixels)
    for mode in ("L", "RGBA", "CMYK", "1", "LA"):
        assert made.same(np.asarray(handle.convert(mode)), np.asarray(image.convert(mode)))
    assert made.same(np.asarray(handle.crop((3, 4, 30, 50))), pixels[4:50, 3:30])
    assert made.same(np.asarray(ImageOps.mirror(handle)), pixels[:, ::-1])
    handle.release()
    assert made.same(np.asarray(handle), pixels)
    assert "TIFF RGB 80x90" in str(T.Compose([T.RandomCrop(16), T.ToTensor()]).explain(handle))
    assert "JPEG tiles" in str(T.Compose([T.RandomCrop(16), T.ToTensor()]).explain(slide.lazy(0, 0, (90, 80))))
    assert T.Compose([T.RandomCrop(16), T.ToTensor()]).check(handle, 2)


def test_no_more_than_wanted(tmp_path: Path) -> None:
    """Tiles that are broken do no harm where nobody looks."""
    levels = write(tmp_path / "slide.tif", LAYOUTS["4:2:0"]())
    offset, size = places(tmp_path / "slide.tif")[0]
    data = bytearray((tmp_path / "slide.tif").read_bytes())
    data[offset : offset + size] = bytes(size)
    (tmp_path / "slide.tif").write_bytes(data)
    slide = Slide(tmp_path / "slide.tif")
    handle = slide.lazy(0, 0, (140, 120))
    crop = np.asarray(T.CenterCrop(10)(handle))
    assert made.same(crop, np.asarray(TV.CenterCrop(10)(Image.fromarray(levels[0][:120, :140].copy()))))
    assert made.same(slide.read(64, 0, (20, 20)), levels[0][:20, 64:84])
    with pytest.raises(fastaug.DecodeError, match="column 0, row 0 of level 0"):
        slide.read(63, 0, (20, 20))
    with pytest.raises(fastaug.DecodeError, match="column 0, row 0 of level 0"):
        np.asarray(handle)


# Pickles, threads, processes, files.


def test_pickles(slide: Slide) -> None:
    handle = slide.lazy(10, 20, (90, 80), 1)
    pixels = slide.read(10, 20, (90, 80), 1)
    for again in (pickle.loads(pickle.dumps(slide)), copy.copy(slide), copy.deepcopy(slide)):
        assert repr(again) == repr(slide) and made.same(again.read(10, 20, (90, 80), 1), pixels)
    for other in (pickle.loads(pickle.dumps(handle)), copy.copy(handle), copy.deepcopy(handle)):
        assert repr(other) == repr(handle) and made.same(np.asarray(other), pixels)
    # Of many handles, the slide is opened once.
    one, two = pickle.loads(pickle.dumps([handle, slide.lazy(0, 0, (5, 5))]))
    assert one._source.slide is two._source.slide


def test_threads(slide: Slide) -> None:
    asked = list(regions(np.empty((*SIZES[0], 3)), 40, 1))
    expected = [slide.read(x, y, (width, height)) for x, y, width, height in asked]
    wrong: list[int] = []

    def work(first: int) -> None:
        for number in range(first, len(asked)):
            x, y, width, height = asked[number]
            if not made.same(slide.read(x, y, (width, height)), expected[number]):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_forked(slide: Slide) -> None:
    """Both read the same file at once, from wherever each wants to."""
    pixels = slide.read(0, 0, (233, 150))
    children = []
    for number in range(3):
        child = os.fork()
        if child == 0:
            fine = all(
                made.same(slide.read(x, number, (60, 50)), cut(pixels, x, number, 60, 50)) for x in range(-9, 200, 7)
            )
            os._exit(0 if fine else 1)
        children.append(child)
    for x in range(-9, 200, 7):
        assert made.same(slide.read(x, 9, (60, 50)), cut(pixels, x, 9, 60, 50))
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0, 0, 0]


class Regions(torch.utils.data.Dataset[Any]):
    def __init__(self, slide: Slide) -> None:
        self.slide = slide
        self.transform = T.Compose([T.CenterCrop(40), T.ToTensor()])

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> Any:
        return self.transform(self.slide.lazy(30 * index, 10, (60, 60)))


@pytest.mark.parametrize("context", START_METHODS)
def test_workers(slide: Slide, context: str) -> None:
    dataset = Regions(slide)
    loader = torch.utils.data.DataLoader(dataset, batch_size=2, num_workers=2, multiprocessing_context=context)
    assert torch.equal(torch.cat(list(loader)), torch.stack([dataset[k] for k in range(4)]))


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="no /proc")
def test_descriptors(tmp_path: Path) -> None:
    write(tmp_path / "slide.tif", LAYOUTS["4:2:0"]())
    write(tmp_path / "other.tif", LAYOUTS["gray"]())
    (tmp_path / "no.tif").write_bytes(b"no slide")

    def opened() -> int:
        gc.collect()
        links = Path("/proc/self/fd").iterdir()
        return sum(os.path.exists(link) and str(link.resolve()).startswith(str(tmp_path)) for link in list(links))

    slide, other = Slide(tmp_path / "slide.tif"), Slide(tmp_path / "other.tif")
    with pytest.raises(ValueError, match="openslide"):
        Slide(tmp_path / "no.tif")
    assert opened() == 2
    pixels = slide.read(0, 0, (50, 50))
    handle = slide.lazy(0, 0, (50, 50))
    del slide, other
    assert opened() == 1
    assert made.same(np.asarray(handle), pixels)
    del handle
    assert opened() == 0
