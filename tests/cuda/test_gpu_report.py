"""What `python -m bench.cuda` computes and writes, without a GPU: statistics, floors, tables, what it compares."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from bench.gpu import cases, compare, programs, report, rivals, scenes
from bench.gpu.report import Check, Rates, Report, Row, Work
from fastaug import _C
from tables.op_table import ROWS, Op


@pytest.mark.parametrize("count", [1, 2, 9, 10, 50])
def test_spread_is_numpys(count: int) -> None:
    values = np.random.default_rng(count).random(count)
    spread = report.spread(values, 3.0)
    assert np.allclose([spread.p10, spread.median, spread.p90], 3 * np.percentile(values, [10, 50, 90]))
    assert spread.count == count


def test_spread_needs_values() -> None:
    with pytest.raises(ValueError, match="at least one"):
        report.spread([])


def test_floor_is_the_larger_of_bytes_and_instructions() -> None:
    rates = Rates(copy=1000.0, issue=10.0)
    assert Work(100, 200, 50).bytes == 400
    assert report.floor(Work(100, 200, 50), rates) == pytest.approx(0.4)
    assert report.floor(Work(100, 200, 50, 3.0), rates) == pytest.approx(0.4)
    assert report.floor(Work(100, 200, 50, 40.0), rates) == pytest.approx(4.0)
    assert report.floor(Work(100, 200, 50, 40.0), Rates(1000.0)) == pytest.approx(0.4)
    assert report.mean_work([Work(1, 2, 3), Work(3, 6, 5)]) == Work(2, 4, 4)


def rows() -> list[Row]:
    times = report.spread([1e-5, 2e-5, 3e-5])
    there = Row("P", 64, "device", times, times, times, (1e-6, 2e-6, 3e-6), Work(3e6, 1e6, 0))
    there.others["Kornia"] = report.spread([2e-4])
    return [there, Row("P", 64, "host", times, None, times)]


def test_table() -> None:
    header, first, second = report.table(rows(), Rates(4e12))
    cells = dict(zip(header, first))
    assert cells["batch, us"] == "20 (12-28)"
    assert cells["draw / plan / launch"] == "1 / 2 / 3"
    assert cells["KB"] == "4000" and cells["floor, us"] == "1" and cells["of floor"] == "5%"
    assert cells["Kornia, us"] == "200 (200-200), 10.0x"
    assert dict(zip(header, second))["kernels, us"] == "" and len(second) == len(header)


def test_what_is_written(tmp_path: Path) -> None:
    kept = Report(tmp_path / "results", {"gpu": "NVIDIA H200 (SXM)", "torch": "2"})
    paths = kept.paths
    assert [path.name for path in paths] == ["cuda-nvidia-h200-sxm.json", "cuda-nvidia-h200-sxm.md"]

    def written() -> dict[str, object]:
        assert sorted(paths[0].parent.iterdir()) == paths
        return json.loads(paths[0].read_text())

    assert written()["state"] == "running" and "- this run is not complete: running" in paths[1].read_text()
    kept.rates, kept.compiled["first calls"] = Rates(4e12, 1e12), "import 3 ms"
    for check in (Check("each op", "passed", 1.0, "33 ops"), Check("no leak", "failed", 2.0, "grown\nby much")):
        kept.add(check)
        assert written()["checks"][-1]["name"] == check.name
    for row in rows():
        kept.add(row)
        assert written()["rows"][-1]["place"] == row.place
    assert written()["rows"][0]["work"]["read"] == 3e6 and written()["checks"][1]["outcome"] == "failed"
    kept.finish()
    assert written()["state"] == "complete"
    page = paths[1].read_text()
    assert (
        "- failed: no leak (grown)" in page and "| P | 64 | device |" in page and "- first calls: import 3 ms" in page
    )
    assert "not complete" not in page
    assert kept.failures == kept.checks[1:]
    assert "by much" in kept.printed() and kept.printed().endswith("FAILED: no leak")


def test_files_are_replaced_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Report(tmp_path, {"gpu": "A"})
    before = [path.read_text() for path in kept.paths]

    def cut(path: Path, content: str) -> None:
        with path.open("w") as file:
            file.write(content[:20])
        raise OSError("no space is left")

    monkeypatch.setattr(Path, "write_text", cut)
    with pytest.raises(OSError, match="no space"):
        kept.add(rows()[0])
    assert [path.read_text() for path in kept.paths] == before


def test_instructions_of_a_profile() -> None:
    output = """==PROF== Connected to process 7
"ID","Process ID","Kernel Name","Metric Name","Metric Unit","Metric Value"
"0","7","fastaug_tile","smsp__inst_executed.sum","inst","1,234,567"
"1","7","fastaug_prepare","smsp__inst_executed.sum","inst","3"
"1","7","fastaug_prepare","gpu__time_duration.sum","ns","99"
==PROF== Disconnected
"""
    assert report.instructions_of(output) == 1234570
    assert report.instructions_of("==ERROR== no counters") is None


def test_cases_are_told_apart() -> None:
    assert len({(case.title, case.count, case.place) for case in cases.CASES}) == len(cases.CASES)
    assert {case.count for case in cases.CASES if case.images == "tiles"} == {64, 512, 3000}


def test_results_of_other_libraries_are_looked_at() -> None:
    ours = torch.randn(4, 3, 8, 8)
    assert rivals.alike(torch.randn(4, 3, 8, 8), ours) == ""
    assert "in place of" in rivals.alike(ours[:2], ours)
    assert "in place of" in rivals.alike(ours.half(), ours)
    assert "away" in rivals.alike(ours + 1, ours)
    assert "as wide" in rivals.alike(ours * 2, ours)


def test_scenes_differ_and_fill_the_range() -> None:
    tiles = scenes.tiles(40, 64)
    assert len({tile.numpy().tobytes() for tile in tiles}) == 40
    assert all(tile.shape == (3, 64, 64) and tile.dtype == torch.uint8 for tile in tiles)
    assert 20 < tiles[0].double().std() < 90
    assert len({photograph.shape for photograph in scenes.photographs(12)}) > 6


def test_layouts_hold_the_image() -> None:
    image = np.random.default_rng(0).integers(0, 256, (5, 7, 3), dtype=np.uint8)
    for layout in programs.LAYOUTS:
        memory, start, strides = programs._laid(image, layout)
        source = _C.from_pointer(memory.ctypes.data + start, *image.shape, *strides, memory)
        result = np.empty_like(image)
        _C.run([(b"", source, _C.into_array(result))])
        assert np.array_equal(result, image), layout


def test_samples_are_of_every_op_and_all_channels() -> None:
    table = programs.op_table()
    assert table.ROWS is ROWS
    for name, row in ROWS.items():
        samples = programs.of_op(table, name, 8)
        assert {sample.image.shape[2] for sample in samples} == set(row.channels)
        assert all(name in sample.name.split() for sample in samples)
    done = {name for sample in programs.chains(table, 300) for name in sample.name.split()}
    assert done == set(ROWS) - set(_C.HOST_OPS)


def test_what_no_device_does() -> None:
    taken = programs.on_devices(programs.op_table())
    assert set(taken) == {name for name, row in ROWS.items() if row.kind != "store"} - set(_C.HOST_OPS)
    image = np.zeros((9, 8, 3), np.uint8)

    def left(*ops: Op) -> bool:
        program, name = b"".join(op.pack() for op in ops), " ".join(op.name for op in ops)
        sample = programs.Sample(program, image, "planar", "float32", False, 0, name)
        return programs.left_to_the_host(programs.op_table(), sample, _C.EXACT)

    crop, turned = Op("WINDOW", (1, 1, 5, 4)), (0.8, 0.6, 0.0, -0.6, 0.8, 0.0)
    stretched, sheared = (2.0, 0.0, 0.0, 0.0, 1.5, 0.0), (1.0, 40000.5, 0.0, 0.25, 1.0, 0.0)
    assert not left(Op("HFLIP"), crop, Op("TO_FLOAT"))
    for f in (turned, stretched):
        assert not left(crop, Op("AFFINE", (5, 4), f), Op("TO_FLOAT"))
    assert left(crop, Op("AFFINE", (5, 4), sheared), Op("HFLIP"))
    assert left(Op("HFLIP"), Op("BOX_BLUR", (3,), (1.5, 1.5)))
    assert left(Op("JPEG", (50,)), Op("HFLIP"))


def test_differences_are_found() -> None:
    one = torch.zeros(2, 3, 4, 4)
    other = one.clone()
    other[1, 2, 3, 0] = 1e-7
    assert compare.differs(one, one.clone()) == ""
    assert compare.differs(one, other) == "1 of 96 samples differ"
    assert compare.differs([one], [one, one]) and compare.differs(one[:1], one) and compare.differs(one.half(), one)
    assert compare.differs(one.contiguous(memory_format=torch.channels_last), one).startswith("strides")
    nan = one / 0
    assert compare.differs(nan, nan.clone()) == ""
    picture = torch.rand(2, 3, 9, 9)
    assert compare.far(picture + 1e-4, picture) == ""
    assert "dB" in compare.far(picture + torch.tensor([0.0, 0.1]).view(2, 1, 1, 1), picture)
