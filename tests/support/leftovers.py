"""What a test may leave behind in its process that makes later tests fail."""

from __future__ import annotations

import contextlib
import random
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
import torchvision.transforms as TV
from PIL import Image

import fastaug.transforms as T
from fastaug import _C
from fastaug._draft.draws import DEFAULT
from support.outcomes import run, snapshot

#: Seconds that threads have to end after their test.
PATIENCE = 10

# Functions that other code could put in the place of those that draw, as the process began.
_DRAWING = {
    (owner, name): getattr(owner, name)
    for owner, names in (
        (torch, ("rand", "randint", "randperm", "multinomial")),
        (random, ("random", "choices", "shuffle", "randrange", "getstate", "setstate", "seed")),
        (np.random, ("rand", "randint", "get_state", "set_state", "seed")),
    )
    for name in names
}

_IMAGE = Image.fromarray(np.arange(8 * 9 * 3, dtype=np.uint8).reshape(8, 9, 3))


def _pipeline(package: Any) -> Any:
    """Draw from the generators of torch and of Python, in the core and outside of it."""
    choice = package.RandomChoice([package.RandomCrop(5), package.RandomVerticalFlip(1.0)])
    return package.Compose([package.RandomCrop(6), choice, package.RandomHorizontalFlip()])


_OURS, _TORCHVISIONS = _pipeline(T), _pipeline(TV)


def threads() -> set[threading.Thread]:
    """Return the threads that run, but for those that wait for work as long as the process lives."""
    return {thread for thread in threading.enumerate() if thread.ident is not None and _counts(thread)}


def _counts(thread: threading.Thread) -> bool:
    # Those of a crew end when their owner is collected, and those of other libraries with the process.
    return not isinstance(thread, threading._DummyThread) and not thread.name.startswith(("fastaug", "tqdm", "Queue"))


def _frames(found: set[threading.Thread]) -> str:
    frames = sys._current_frames()
    stacks = [traceback.format_stack(frames[one.ident]) for one in found if one.ident in frames]
    return "".join(line for stack in stacks for line in stack[-3:])


def left(before: set[threading.Thread]) -> Iterator[str]:
    """Say what there is now that was not there before the test, and should not be."""
    if new := threads() - before:
        limit = time.monotonic() + PATIENCE
        while (new := {thread for thread in new if thread.is_alive()}) and time.monotonic() < limit:
            time.sleep(1e-2)
        if new:
            yield f"threads {[thread.name for thread in new]}, at\n{_frames(new)}"
    if _C.others() is not None or DEFAULT.generator is not None:
        yield "a context of other generators"
    for (owner, name), function in _DRAWING.items():
        # The methods of Random that the module offers are made once.
        if getattr(owner, name) is not function:
            yield f"{owner.__name__}.{name} of its own"
    if torch.get_default_dtype() != torch.float32 or torch._C._len_torch_function_stack():
        yield "another default of torch"


def difference() -> str | None:
    """Return how a small pipeline differs from torchvision's now, or None."""
    ours, theirs = (run(pipeline, _IMAGE, 3) for pipeline in (_OURS, _TORCHVISIONS))
    same: dict[str, Callable[[], bool]] = {
        "results": lambda: snapshot(ours.value) == snapshot(theirs.value),
        "torch's generators": lambda: torch.equal(ours.torch_state, theirs.torch_state),
        "Python's generators": lambda: ours.python_state == theirs.python_state,
        "NumPy's generators": lambda: ours.numpy_state == theirs.numpy_state,
    }
    differing = [name for name, equal in same.items() if not equal()]
    if ours.error is not None or theirs.error is not None:
        return f"{ours.error!r} and {theirs.error!r}"
    return f"other {' and '.join(differing)} than torchvision's" if differing else None


@contextlib.contextmanager
def keeping_generators() -> Iterator[None]:
    """Leave the global generators as they are."""
    states = torch.default_generator.get_state(), random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        yield
    finally:
        torch.default_generator.set_state(states[0])
        random.setstate(states[1])
        np.random.set_state(states[2])  # noqa: NPY002
