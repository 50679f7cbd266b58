"""The suite of bench.history's workers: fastaug as a commit has it, and none that is installed."""

from __future__ import annotations

import ctypes
import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

from bench.cases import BY_NAME as BY_NAME
from bench.libraries import Fastaug, as_array
from bench.worker import Worker, serve

__all__ = ["BY_NAME", "LIBRARIES", "as_array"]

TREE = Path(os.environ["FASTAUG_HISTORY_TREE"])
# What an editable installation puts before all paths would find the checkout.
sys.meta_path[:] = [finder for finder in sys.meta_path if not type(finder).__name__.startswith("ScikitBuild")]
sys.path.insert(0, str(TREE))


class AtCommit(Fastaug):
    """fastaug of the tree."""

    def load(self) -> Any:
        import fastaug

        assert Path(fastaug.__file__).is_relative_to(TREE), f"not of {TREE}: {fastaug.__file__}"
        return super().load()

    def versions(self) -> dict[str, str]:
        return {"fastaug": TREE.name}


LIBRARIES = {"fastaug": AtCommit}


class Counting(Worker):
    def counted(self, first: int, count: int) -> None:
        """Some calls between two of srand48, which nothing else calls: there callgrind begins a new file."""
        mark = ctypes.CDLL(None).srand48
        assert self.turn is not None
        mark(0)
        for number in range(first, first + count):
            self.turn.call(number)
        mark(0)


if __name__ == "__main__":
    serve(partial(Counting, "bench.history_rows", sys.argv[1]))
