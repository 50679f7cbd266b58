"""bench.history: what decides that a commit is slower, and what its workers run."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

import fastaug
from bench import history
from bench.cases import BY_NAME
from bench.images import bag_file
from bench.measure import Worker, WorkerError
from fastaug import _C
from support.processes import python

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("time", "instructions", "slower", "by_instructions"),
    [
        (1.0, 1.0, False, False),
        (1.029, 1.029, False, False),
        (1.04, 1.0, True, False),
        (0.5, 1.031, True, True),
        (None, 1.04, True, True),
        (1.04, None, True, False),
        (0.7, None, False, False),
    ],
)
def test_limit(time: float | None, instructions: float | None, slower: bool, by_instructions: bool) -> None:
    found = history.Found("a row", time, instructions)
    assert found.slower(instructions_decide=False) is slower
    assert found.slower(instructions_decide=True) is by_instructions
    assert ("SLOWER" in history.table([found], False)) is slower


def test_rows_are_there() -> None:
    assert len(history.ROWS) >= 8 and set(history.ROWS) <= set(BY_NAME)


def test_sum_of_callgrinds_counts() -> None:
    assert history.total("version: 1\nevents: Ir\nfn=(1)\n3 4\ntotals: 1234\n") == 1234
    assert history.total("summary: 77\n\nfn=(1)\n") == 77
    with pytest.raises(ValueError, match="no sum"):
        history.total("events: Ir\n")


@pytest.mark.parametrize(("counts", "code"), [((100, 102), 0), ((100, 104), 1), ((100, 50), 0)])
def test_exit_code(counts: tuple[int, int], code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    given = iter(counts)
    monkeypatch.setattr(history, "built", Path)
    monkeypatch.setattr(history.shutil, "which", lambda name: name)
    monkeypatch.setattr(history, "instructions", lambda folder, rows, *rest: dict.fromkeys(rows, next(given)))
    assert history.main(["one", "two", "--rounds", "0"]) == code


class Clock:
    """A worker that takes what it is said to, first always the same, then as the second number says."""

    def __init__(self, *taken: float) -> None:
        self.taken = list(taken)

    def ask(self, name: str, first: int, count: int) -> list[float]:
        return [self.taken.pop(0) if len(self.taken) > 1 else self.taken[0]] * count


def test_ratio_is_a_median() -> None:
    workers: list[Any] = [Clock(10), Clock(11, 90, 11, 11, 1)]
    assert history.ratio(workers, count=4, rounds=5) == pytest.approx(1.1)


@pytest.mark.main
def test_worker_is_of_the_tree(tmp_path: Path) -> None:
    """A tree beside the checkout is what runs; one without fastaug is noticed."""
    tree = tmp_path / "tree"
    tree.mkdir()
    with pytest.raises(WorkerError, match="not of"):
        Worker(history.column(tree))
    package = tree / "fastaug"
    package.mkdir()
    # The core is not beside the rest where fastaug is installed in place.
    for file in {*Path(fastaug.__file__).parent.iterdir(), Path(_C.__file__)}:
        (package / file.name).symlink_to(file)
    row = "ToTensor and Normalize, 1x1"
    worker = Worker(history.column(tree))
    try:
        assert worker.versions == {"fastaug": "tree"}
        worker.ask("open", row, bag_file(BY_NAME[row].bag, tmp_path), "cpu")
        assert len(worker.ask("run", 0, 3)) == 3
        assert worker.ask("counted", 3, 2) is None
    finally:
        worker.close()


def test_unknown_commit() -> None:
    with pytest.raises(subprocess.CalledProcessError):
        history.built("no-such-commit")
    done = python(["-m", "bench.history"], folder=ROOT)
    assert done.returncode == 2 and "base" in done.stderr
