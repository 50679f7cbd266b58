"""The runs that are kept, and what is made of several."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bench import floors, report, runs
from bench.case import Goal
from bench.measure import Row, Times


def run(date: str, ours: float, theirs: float = 10.0, **more: float) -> runs.Run:
    """A run of two cases."""
    times = {"torchvision": theirs, "fastaug": ours, **more}
    libraries = {
        label: {"median": time, "p10": time, "ratio": theirs / time, "pixels": "equal"} for label, time in times.items()
    }
    rows = [{"case": "flip", "ops": ["FLIP"], "libraries": libraries}]
    return {"about": {"date": date, "commit": f"of {date}", "cpu": "abacus", "isa": "avx2"}, "rows": rows}


def test_the_last_five_are_kept_and_the_newest_whole() -> None:
    kept: list[runs.Run] = []
    for day in range(7):
        kept = runs.kept(run(f"2026-11-0{day + 1}", 1.0), kept)
    assert [one["about"]["date"][-1] for one in kept] == ["7", "6", "5", "4", "3"]
    assert "p10" in kept[0]["rows"][0]["libraries"]["fastaug"] and "ops" in kept[0]["rows"][0]
    assert all("p10" not in one["rows"][0]["libraries"]["fastaug"] for one in kept[1:])


def test_a_file_holds_what_is_kept(tmp_path: Path) -> None:
    kept = runs.kept(run("2026-11-02", 1.0), [run("2026-11-01", 2.0)])
    (tmp_path / "some.json").write_text(runs.text(kept))
    assert runs.stored(tmp_path / "some.json") == kept
    assert runs.stored(tmp_path / "none.json") == []


def test_the_median_of_the_runs_since_a_date() -> None:
    given = [run(f"2026-11-0{9 - k}", ours) for k, ours in enumerate((1.0, 4.0, 2.0, 5.0, 8.0))]
    since = runs.Runs(given, "2026-11-06")
    assert since.time("flip", "fastaug") == 3.0
    assert str(since.faster("flip", "fastaug", "torchvision")) == "3.3x (2.0-10.0)"
    assert since.when().startswith("4 runs, 2026-11-06 to 2026-11-09 (of 2026-11-09, ")


@pytest.mark.parametrize(("count", "used"), [(1, 1), (2, 2), (5, 3)])
def test_the_newest_three_where_there_are_fewer_since(count: int, used: int) -> None:
    given = [run(f"2026-11-0{9 - k}", 1.0) for k in range(count)]
    assert len(runs.Runs(given, "2026-11-09").runs) == used


def test_ratios_divide_whatever_single_runs_say() -> None:
    given = [run("2026-11-03", 1.0, 9.0), run("2026-11-02", 2.0, 30.0), run("2026-11-01", 3.0, 12.0)]
    several = runs.Runs(given)
    theirs, ours = several.time("flip", "torchvision"), several.time("flip", "fastaug")
    assert theirs is not None and ours is not None
    assert several.faster("flip", "fastaug", "torchvision").median == theirs / ours == 6.0


def test_a_column_that_one_run_has() -> None:
    several = runs.Runs([run("2026-11-02", 1.0), run("2026-11-01", 2.0, OpenCV=5.0)])
    assert several.time("flip", "OpenCV") == 5.0 and several.time("flip", "kornia-rs") is None
    assert several.faster("flip", "OpenCV", "torchvision").runs == 1


class Flip:
    name = "flip"

    def goals(self, label: str, isa: str) -> list[Goal]:
        return []

    def described(self) -> dict[str, Any]:
        return {"ops": ["FLIP"]}


def row(ours: float) -> Row:
    times = {"torchvision": (10.0, 1.0), "fastaug": (ours, 10.0 / ours)}
    found = {label: Times(time, time, time, ratio, ratio, ratio, "equal") for label, (time, ratio) in times.items()}
    return Row(Flip(), 9, 1, found)


def test_a_run_that_was_ended_leaves_the_page(tmp_path: Path) -> None:
    about = {"date": "2026-11-01", "commit": "abc", "cpu": "abacus", "isa": "avx2"}
    page, data = report.write([row(2.0)], about, tmp_path)
    whole = page.read_text()
    assert "| flip | 10 (10-10) | 2 (2-2) | 5.0x (5.0-5.0) = |" in whole and "runs that are kept" not in whole
    assert report.write([row(1.0)], about, tmp_path, whole=False) == [data]
    assert page.read_text() == whole and len(runs.stored(data)) == 2
    report.write([row(4.0)], about, tmp_path)
    assert "| flip | 2.5x | 10.0x | 5.0x |" in page.read_text()


def test_ctrl_c_ends_with_the_rows_that_are_done(capsys: pytest.CaptureFixture[str]) -> None:
    def measure(case: Flip) -> list[Row]:
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(case)
        return [row(2.0)]

    done: list[Flip] = []
    assert len(report.measured([Flip()] * 4, measure, "avx2")) == 2
    assert capsys.readouterr().out.count("5.0x") == 2


@pytest.mark.parametrize(("taken", "floor", "said"), [(37.0, 10.0, "37 %"), (37.0, 7.0, "unsure"), (37.0, 0.0, "37 %")])
def test_a_share_far_above_its_floor_is_refused(taken: float, floor: float, said: str) -> None:
    assert floors.share_of(taken, 100.0, floor) == said
