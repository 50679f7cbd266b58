"""Slides and their regions as images of fastaug.pathology: tissue_stats, stain_matrix, and the tiles of a level."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import encoded_images as made
import numpy as np
import pytest
import torch
from slide_files import LAYOUTS, SIZES, places, tifffile, write

import fastaug
import fastaug.transforms as T
from fastaug import _C, pathology
from fastaug.io import LazyImage, Slide
from support.images import photo


@pytest.fixture(params=list(LAYOUTS))
def layout(request: pytest.FixtureRequest) -> Any:
    return LAYOUTS[request.param]()


def test_tiles(layout: Any, tmp_path: Path) -> None:
    """They cover the level, and end where it does."""
    levels = write(tmp_path / "slide.tif", layout)
    slide = Slide(tmp_path / "slide.tif")
    for number, pixels in enumerate(levels):
        for size in (None, (50, 41), (1000, 7), (7, 1000)):
            across, down = size or slide.levels[number].tile
            height, width = pixels.shape[:2]
            tiles = slide.tiles(number, size)
            corners = [(x, y) for y in range(0, height, down) for x in range(0, width, across)]
            assert len(tiles) == len(corners)
            for tile, (x, y) in zip(tiles, corners, strict=True):
                assert made.same(np.asarray(tile), pixels[y : y + down, x : x + across])


def test_tiles_in_a_pipeline(tmp_path: Path) -> None:
    levels = write(tmp_path / "slide.tif", LAYOUTS["4:2:0"]())
    tiles = Slide(tmp_path / "slide.tif").tiles()[:8]
    parts = [levels[0][y : y + 48, x : x + 64] for y in (0, 48) for x in (0, 64, 128, 192)]
    pipeline = T.Compose([T.RandomCrop(30), T.ToTensor()])
    torch.manual_seed(0)
    wanted = pipeline.batch(parts)
    torch.manual_seed(0)
    assert torch.equal(pipeline.batch(tiles), wanted)


def test_bad_tiles(tmp_path: Path) -> None:
    write(tmp_path / "slide.tif", LAYOUTS["4:2:0"]())
    slide = Slide(tmp_path / "slide.tif")
    for level in (-1, 2):
        with pytest.raises(ValueError, match=f"level should be from 0 to 1, got {level}"):
            slide.tiles(level)
    for size in ((0, 5), (5, -1), (1 << 20, 1 << 20)):
        with pytest.raises(ValueError, match="size should be"):
            slide.tiles(size=size)
    for size in (5, (5,), ("a", "b"), (1.5, 2)):
        with pytest.raises(TypeError, match="size should be two integers"):
            slide.tiles(size=size)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="level should be an integer"):
        slide.tiles("0")  # type: ignore[arg-type]


@pytest.mark.parametrize("threads", [1, 3])
def test_numbers(layout: Any, threads: int, tmp_path: Path) -> None:
    """As of the same pixels in memory, whether regions, levels or the whole slide is looked at."""
    levels = write(tmp_path / "slide.tif", layout)
    slide = Slide(tmp_path / "slide.tif")
    tiles = [np.asarray(tile) for tile in slide.tiles()]
    for bag in (slide, [slide], slide.tiles()):
        stats = pathology.tissue_stats(bag, num_threads=threads)
        assert stats.tobytes() == pathology.tissue_stats(tiles).tobytes()
    region = slide.lazy(-10, 20, (90, 70))
    for one in (region, [region]):
        got = pathology.tissue_stats(one, num_threads=threads)
        assert got.tobytes() == pathology.tissue_stats(np.asarray(region)).tobytes()
    both = pathology.tissue_stats([levels[1], slide, region], num_threads=threads)
    assert len(both) == len(tiles) + 2
    if layout.gray:
        return  # no two stains
    wanted = pathology.stain_matrix(levels[0])
    assert np.abs(pathology.stain_matrix(slide, num_threads=threads) - wanted).max() < 1e-12
    upper = pathology.stain_matrix(slide.tiles(1), num_threads=threads)
    assert np.abs(upper - pathology.stain_matrix(levels[1])).max() < 1e-12
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fastaug._program.stains._MANY", 1)
        assert np.abs(pathology.stain_matrix(slide, num_threads=threads) - wanted).max() < 1e-12


def test_tiles_that_tifffile_decodes(tmp_path: Path) -> None:
    pixels = np.asarray(photo("ihc", 90, 200))
    tifffile.imwrite(tmp_path / "slide.tif", pixels, photometric="rgb", tile=(48, 64), compression="zlib")
    slide = Slide(tmp_path / "slide.tif")
    tiles = [pixels[y : y + 48, x : x + 64] for y in (0, 48) for x in (0, 64, 128, 192)]
    assert pathology.tissue_stats(slide).tobytes() == pathology.tissue_stats(tiles).tobytes()
    assert np.abs(pathology.stain_matrix(slide) - pathology.stain_matrix(pixels)).max() < 1e-12


@pytest.mark.parametrize("threads", [1, 3])
def test_broken_tiles(threads: int, tmp_path: Path) -> None:
    """The first of them, by its column, row and level, and its number among the tiles."""
    path = tmp_path / "slide.tif"
    write(path, LAYOUTS["4:2:0"]())
    slide = Slide(path)
    os.truncate(path, places(path)[5][0] + 100)
    for function in (pathology.tissue_stats, pathology.stain_matrix):
        with pytest.raises(fastaug.DecodeError, match="column 1, row 1 of level 0: the file ends before") as error:
            function(slide, num_threads=threads)
        assert error.value.index == 5


def test_tiles_that_pillow_decodes(tmp_path: Path) -> None:
    """As of what it makes of them: the core leaves to it what has a marker where none belongs."""
    path = tmp_path / "slide.tif"
    layout = LAYOUTS["4:2:0"]()
    whole = layout.stream
    layout.stream = lambda image: (data := whole(image))[:-40] + b"\xff\xd7" + data[-40:]
    (pixels,) = write(path, layout, ((48, 128),))
    slide = Slide(path)
    with pytest.raises(_C.Deferred):
        _C.tissue_stats(slide.tiles()[0].source(), 220, 20)
    wanted = [pixels[:, :64], pixels[:, 64:]]
    assert pathology.tissue_stats(slide).tobytes() == pathology.tissue_stats(wanted).tobytes()
    assert np.abs(pathology.stain_matrix(slide) - pathology.stain_matrix(wanted)).max() < 1e-12


def test_threads_and_forks(tmp_path: Path) -> None:
    """Several threads, and children that were forked meanwhile, share a slide."""
    write(tmp_path / "slide.tif", LAYOUTS["4:2:0"]())
    slide = Slide(tmp_path / "slide.tif")
    wanted = pathology.tissue_stats(slide, num_threads=1).tobytes()
    made: list[bool] = []

    def look() -> None:
        made.append(pathology.tissue_stats(slide, num_threads=2).tobytes() == wanted)

    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    children = []
    for _ in range(3):
        child = os.fork()
        if child == 0:
            same = pathology.tissue_stats(slide, num_threads=2).tobytes() == wanted
            os._exit(0 if same else 1)
        children.append(child)
    for thread in threads:
        thread.join()
    assert made == [True] * 3
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * 3


def test_handles_know_their_slide(tmp_path: Path) -> None:
    write(tmp_path / "slide.tif", LAYOUTS["4:2:0"]())
    tile = Slide(tmp_path / "slide.tif").tiles()[-1]
    height, width = SIZES[0]
    assert isinstance(tile, LazyImage)
    assert tile.size == (width % 64, height % 48)
    assert "level 0, 41x6 at column 192 and row 144" in repr(tile)
