"""Whatever step of Python's an interrupt comes at, the thread then draws from the process's generators again."""

from __future__ import annotations

import dis
import random
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
import torch

import fastaug
import fastaug.transforms as T
from fastaug.transforms import v2
from support import leftovers
from support.scale import cases

PACKAGE = str(Path(fastaug.__file__).parent)
IMAGES = [np.full((9, 8, 3), number, np.uint8) for number in range(3)]
CHOICE = T.Compose([T.RandomCrop(6), T.RandomChoice([T.RandomCrop(5), T.RandomVerticalFlip(1.0)])])
NOISE = fastaug.compile(v2.Compose([v2.ToImage(), v2.GaussianNoise()]), generator=torch.Generator())

CALLS: dict[str, Callable[[], Any]] = {
    "batch": lambda: CHOICE.batch(IMAGES, seeds=range(3), num_threads=1),
    "map": lambda: list(CHOICE.map(IMAGES, seeds=range(3), num_threads=1)),
    "noise": lambda: NOISE(IMAGES[0].astype(np.float32)),
}


class Step:
    """A tracer that raises KeyboardInterrupt after the step of that number, of those in this package that may be last.

    Python looks for signals only after calls, and where functions and loops begin.
    """

    def __init__(self, number: float) -> None:
        self.number = number
        self.done = 0
        self._before: dict[FrameType, int] = {}

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            before = self._before.get(frame)
            self._before[frame] = frame.f_lasti
            if before is not None and dis.opname[frame.f_code.co_code[before]].startswith(("CALL", "RESUME", "JUMP_B")):
                self.done += 1
                if self.done == self.number:
                    raise KeyboardInterrupt
        return self

    def trace(self, call: Callable[[], Any]) -> KeyboardInterrupt | None:
        """Call, and return the interruption, if it came."""
        sys.settrace(self)
        try:
            call()
        except KeyboardInterrupt as interruption:
            return interruption
        else:
            return None
        finally:
            sys.settrace(None)
            self._before.clear()


# Python 3.10 looks for signals at any step, and 3.14 between the start of a context and its first step.
@pytest.mark.skipif(not (3, 11) <= sys.version_info < (3, 14), reason="contexts of this Python can be interrupted")
# Python drops what is raised while an object is deleted.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", CALLS)
def test_an_interrupt_at_any_step(name: str) -> None:
    call = CALLS[name]
    call()
    whole = Step(float("inf"))
    whole.trace(call)
    rng = random.Random(name)
    for number in rng.sample(range(1, whole.done + 1), min(cases(400), whole.done)):
        # Its traceback keeps all frames for as long as it is there.
        interruption = Step(number).trace(call)
        found = leftovers.difference()
        assert not found, f"{found} after step {number} of {whole.done}, {interruption!r}"
