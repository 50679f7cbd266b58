"""python -m bench.worker SUITE LIBRARY: a library in a process of its own.

Reads pickled requests on standard input, answers on standard output. The suite is a module with LIBRARIES, BY_NAME (its
cases) and as_array (what is compared of a result).
"""

from __future__ import annotations

import importlib
import os
import pickle
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bench.turn import CLOCKS, Turn


class Worker:
    def __init__(self, suite: str, library: str) -> None:
        import torch

        torch.set_num_threads(1)
        self.suite: Any = importlib.import_module(suite)
        self.library = self.suite.LIBRARIES[library]()
        self.turn: Turn | None = None

    def hello(self) -> dict[str, Any]:
        return {"versions": self.library.versions(), "same_draws": self.library.same_draws}

    def open(self, name: str, bag: Path, clock: str) -> bool:
        """Makes the transform and this library's own copy of the images. Tells whether results are views of these."""
        self.turn = None
        case = self.suite.BY_NAME[name]
        transform = self.library.transform(case)
        if transform is None:
            raise LookupError(f"no {name}")
        self.turn = Turn(transform, self.library.images(case, bag), self.library.seed, CLOCKS[clock])
        return is_view(self.turn.call(0), self.turn.images[0])

    def close(self) -> None:
        """Frees the images."""
        self.turn = None

    def result(self, number: int) -> Any:
        assert self.turn is not None
        return self.suite.as_array(self.turn.call(number))

    def run(self, first: int, count: int) -> list[int]:
        assert self.turn is not None
        return self.turn.run(first, count)


def is_view(result: Any, image: Any) -> bool:
    """Whether a result, or the first of several, lies in the memory of its image, so that no pixel was moved."""
    import torch

    result = result[0] if isinstance(result, tuple) else result
    if isinstance(result, torch.Tensor) and isinstance(image, torch.Tensor):
        return result.untyped_storage().data_ptr() == image.untyped_storage().data_ptr()
    both = isinstance(result, np.ndarray) and isinstance(image, np.ndarray)
    return both and np.may_share_memory(result, image)


def serve(make: Callable[[], Any]) -> None:
    """Answers requests until there are no more, by methods of what `make` returns."""
    # Whatever a library prints must not end up among the answers.
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    worker: Any = None
    while True:
        try:
            name, arguments = pickle.load(requests)
        except EOFError:
            return
        try:
            if worker is None:
                worker = make()
            answer = (True, getattr(worker, name)(*arguments))
        except Exception as error:
            answer = (False, f"{type(error).__name__}: {error}")
        pickle.dump(answer, answers)
        answers.flush()


if __name__ == "__main__":
    serve(partial(Worker, *sys.argv[1:3]))
