"""What becomes of an image on its way through a pipeline: the log behind explain() and profile()."""

from __future__ import annotations

import functools
import itertools
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from PIL import Image

from fastaug import _C
from fastaug._draft.base import TOO_MANY_PIXELS, DraftBase
from fastaug._draft.call import Tape
from fastaug._draft.recognise import reason_of_barrier
from fastaug._draft.tape import Recording, while_used
from fastaug._inspect import words
from fastaug._program.kinds import ARRAY, ENCODED, PIL_IMAGE, TENSOR
from fastaug._program.ops import MAX_OPS, OP_BYTES

#: (height, width, channels)
Shape = tuple[int, int, int]

_KINDS = tuple(kind for _, kind in _C.OPS)
_NAMES = tuple(name for name, _ in _C.OPS)


def ops_of(program: bytes) -> list[bytes]:
    return [program[k : k + OP_BYTES] for k in range(0, len(program), OP_BYTES)]


def name_of(op: bytes) -> str:
    return _NAMES[int.from_bytes(op[:2], "little")]


def kind_of(op: bytes) -> str:
    return _KINDS[int.from_bytes(op[:2], "little")]


def container_of(draft: DraftBase) -> str:
    """What holds the image so far, in words."""
    if draft.source == ENCODED and not draft.ops and not draft.store:
        return f"{draft.image.format} {draft.mode}"
    if draft.kind == PIL_IMAGE:
        return f"PIL {draft.mode}"
    if draft.kind == ARRAY:
        return "array" if draft.native else f"array {draft.image.dtype}"
    if draft.kind == TENSOR:
        if draft.store or draft.native:
            return "tensor float" if draft.store else "tensor uint8"
        return f"tensor {draft.image.dtype}".replace("torch.", "") if draft.source == TENSOR else "tensor"
    return type(draft.image).__name__


def _now() -> float:
    """Seconds of processor time of this thread: what other processes do meanwhile is not in them."""
    return time.thread_time_ns() / 1e9


@functools.cache
def _tick() -> float:
    """What it takes to read that time, in seconds."""
    times = [time.thread_time_ns() for _ in range(100)]
    return min(after - before for before, after in itertools.pairwise(times)) / 1e9


@dataclass(eq=False)
class Node:
    """A transform in one call of a pipeline."""

    transform: Any
    parent: Node | None
    before: Shape
    container: str
    after: Shape = (0, 0, 0)
    children: list[Node] = field(default_factory=list)
    drawn: dict[str, Any] = field(default_factory=dict)
    #: Seconds between the events of the log that no pass, draw or other library accounts for.
    python: float = 0.0

    @property
    def name(self) -> str:
        return words.called(self.transform)

    @property
    def depth(self) -> int:
        return 0 if self.parent is None else self.parent.depth + 1

    @property
    def top(self) -> Node:
        """The step of the pipeline that this is, or is part of."""
        return self if self.parent is None else self.parent.top


@dataclass(eq=False)
class Run:
    """One program that the native core ran."""

    program: bytes
    source: Shape
    passes: list[_C.Pass]
    #: Of this thread's processor time.
    seconds: float
    #: The core times its passes by the clock, since asking for the thread's time at each row would take longer than the
    #: row. This times theirs is what they take of `seconds`.
    share: float
    #: Which transform each op is of.
    owners: list[Node | None]
    #: Where the result was written.
    target: _C.Target

    def seconds_of(self, one: _C.Pass) -> float:
        """What one of the passes took of this thread's processor time."""
        return self.share * one.seconds

    def nodes(self, origin: int) -> list[Node]:
        """The transforms of a mask of ops, in order, each once."""
        found = [node for k, node in enumerate(self.owners) if origin >> k & 1 and node is not None]
        return list(dict.fromkeys(found))

    def shapes(self) -> list[Shape]:
        """What enters the first op, and what each op gives."""
        lengths = range(0, len(self.program) + 1, OP_BYTES)
        return [_C.shape(self.program[:length], *self.source) if length else self.source for length in lengths]


@dataclass(eq=False)
class Outside:
    """What the native core did not do."""

    #: "barrier": a callable of the user's. "fallback": Pillow or torch, because the core cannot. "delegated": Pillow or
    #: torch, because one move is as fast there. "apart": a transform that works on the image itself. "kept": the core,
    #: for the pixels that the image keeps.
    kind: str
    name: str
    library: str
    reason: str
    nodes: list[Node]
    before: Shape
    container: str
    after: Shape = (0, 0, 0)
    seconds: float = 0.0
    #: Of a batch.
    images: int = 1


class Log:
    """Hears a call (fastaug._draft.call.Log), and takes the place of its tape to hear the parameters that are drawn.

    Args:
        tape: where the parameters come from; transforms draw them by default.
    """

    def __init__(self, tape: Tape | None = None) -> None:
        self.tape = tape
        self.steps: list[Node] = []
        self.timeline: list[Run | Outside] = []
        #: Why programs ended, beside what `timeline` shows: (transform, reason).
        self.flushes: list[tuple[Node, str]] = []
        #: What a user is to know of the image.
        self.notes: list[str] = []
        self.draws = 0.0
        self.python = 0.0
        #: Seconds for which the core was kept from its passes while it timed them: they are wrong by as much.
        self.held = 0.0
        self._stack: list[Node] = []
        self._images: list[tuple[Any, int]] = []
        self._ops: list[Node | None] = []
        self._store: list[Node | None] = []
        self._ran = False
        self._outside: Outside | None = None
        self._awaits_run = False
        self._tick = _tick()
        self._mark = _now()

    def seconds(self) -> float:
        """Of the call, without what the log took."""
        known = self.draws + self.python + math.fsum(entry.seconds for entry in self.timeline)
        nodes = list(self.steps)
        for node in nodes:
            known += node.python
            nodes += node.children
        return known

    def start(self) -> None:
        """The call starts now."""
        self._mark = _now()

    def stop(self) -> None:
        """It has ended."""
        self._charge()

    # fastaug._draft.call.Tape

    def take(self, transform: Any, draft: Any) -> Any:
        self._charge()
        used = transform._sample(draft) if self.tape is None else self.tape.take(transform, draft)
        used, value = while_used(used)
        self.draws += self._elapsed()
        names = transform._drawn
        if self._stack and names and value is not None:
            values = value if isinstance(value, tuple) and len(names) > 1 else (value,)
            self._stack[-1].drawn.update(zip(names, values))
        self._mark = _now()
        return used

    # fastaug._draft.call.Log

    def begin(self, transform: Any, draft: DraftBase) -> None:
        self._charge()
        self._sync(draft)
        parent = self._stack[-1] if self._stack else None
        node = Node(transform, parent, _shape_of(draft), container_of(draft))
        (parent.children if parent else self.steps).append(node)
        self._stack.append(node)
        self._images.append((draft.image, len(self.timeline)))
        self._mark = _now()

    def end(self, transform: Any, draft: DraftBase) -> None:
        elapsed = self._charge()
        image, first = self._images.pop()
        node = self._stack[-1]
        during = self.timeline[first:]
        encoded = draft.source == ENCODED and not during
        if draft.image is not image and not encoded and not any(isinstance(entry, Outside) for entry in during):
            runs = [entry for entry in during if isinstance(entry, Run)]
            if not runs or not _is_result(draft.image, runs[-1].target):
                reason = "works on whole images"
                entry = Outside("apart", node.name, "apart", reason, [node], node.before, node.container)
                entry.images = math.prod(draft.lead)
                entry.after, entry.seconds = _shape_of(draft), elapsed
                node.python -= elapsed
                self.timeline.append(entry)
            elif not node.children:
                full = len(runs[-1].owners) > MAX_OPS // 4
                reason = f"a program holds {MAX_OPS} ops at most" if full else "asks for the image itself"
                self.flushes.append((node, reason))
        self._sync(draft)
        node.after = _shape_of(draft)
        last = during[-1] if during else None
        if isinstance(last, Outside) and last.after == (0, 0, 0):
            last.after = node.after
        self._stack.pop()
        self._mark = _now()

    def barrier(self, transform: Any, draft: DraftBase) -> None:
        self._open(draft, "barrier", words.called(transform), "Python", reason_of_barrier(transform))

    def replaced(self, draft: DraftBase, name: str) -> None:
        self._open(draft, "barrier", name, "Python", f"functional.{name} is a function of yours")

    def eager(self, draft: DraftBase, name: str) -> None:
        library = "Pillow" if draft.kind == PIL_IMAGE else "torch"
        if draft.native:
            reason = "the core does not do this with these arguments"
        elif draft.height * draft.width >= TOO_MANY_PIXELS:
            reason = "the core does not read images of 2^31 pixels and more"
        else:
            reason = f"the core does not read {container_of(draft)}"
        self._open(draft, "fallback", name, library, reason)

    def decoding(self, draft: DraftBase, reason: str) -> None:
        self._open(draft, "fallback", "decode", "Pillow", reason)
        self._awaits_run = False

    def kept(self, draft: DraftBase, before: bool) -> None:
        if before:
            self.notes.append("the image: kept from an earlier use, not decoded again")
            return
        self.notes.append("the image: decoded whole and kept, for further uses")
        if draft.source == ENCODED:
            # Pillow's part shows already; the core's has just been.
            image = draft.image
            entry = Outside("kept", "decode", "apart", f"{image.format}, all of it", [], (0, 0, 0), container_of(draft))
            entry.after = image.header.height, image.header.width, draft.bands
            if self._outside is None:
                entry.seconds = self._charge()
                (self._stack[-1] if self._stack else self).python -= entry.seconds
            self.timeline.append(entry)

    def delegated(self, draft: DraftBase, library: str) -> None:
        seconds = self._elapsed()
        count = len(draft.ops)
        owners = [*self._ops, *self._current(count)][:count] if not self._ran else self._current(1)
        name = name_of(draft.ops[0]) if isinstance(draft.ops[0], bytes) else "move"
        image = draft.image
        height, width = (image.height, image.width) if draft.kind == PIL_IMAGE else image.shape[-2:]
        entry = Outside(
            "delegated",
            name.lower(),
            library,
            "a single move",
            [node for node in owners if node is not None],
            (height, width, draft.bands),
            container_of(draft),
            _shape_of(draft),
            seconds,
            math.prod(draft.lead),
        )
        self.timeline.append(entry)
        self._ran, self._awaits_run = True, False
        self._mark = _now()

    def run(self, jobs: Sequence[tuple[bytes, _C.Source, _C.Target]], rewrites: int) -> None:
        for job in jobs:
            self._run(*job, rewrites)

    # Who did what, and when.

    def _run(self, program: bytes, source: _C.Source, target: _C.Target, rewrites: int) -> None:
        reports: list[list[_C.Pass]] = []
        # What another library is about to do follows this run, and all runs of a batch.
        self._awaits_run = self._awaits_run or self._is_further(program)
        self._charge()
        _C.run([(program, source, target)], rewrites)
        seconds = self._elapsed()
        # Once more, for the passes: looking at the clock at each row of each of them takes time too.
        start, clock = _now(), time.perf_counter()
        _C.run([(program, source, target)], rewrites, reports=reports)
        clock = time.perf_counter() - clock
        self.held += max(0.0, clock - (_now() - start))
        shape = (source.height, source.width, source.channels)
        share = seconds / clock if clock > 0 else 0.0
        self.timeline.append(Run(program, shape, reports[0], seconds, share, self._owners(program), target))
        self._awaits_run = False
        self._ran = True
        self._mark = _now()

    def _is_further(self, program: bytes) -> bool:
        """Whether this is the program of the last run again, for the next image or channels of a batch."""
        last = self.timeline[-1] if self.timeline else None
        if not self._ran or not isinstance(last, Run) or len(last.program) != len(program):
            return False
        return all(name_of(a) == name_of(b) for a, b in zip(ops_of(last.program), ops_of(program)))

    def _owners(self, program: bytes) -> list[Node | None]:
        ops = ops_of(program)
        if self._ran and not self._is_further(program):
            # Another program of the same transform.
            return self._current(len(ops))
        before = sum(kind_of(op) != "store" for op in ops)
        owners = [*self._ops, *self._current(before - len(self._ops))]
        stores = [*self._store, *self._current(len(ops) - before - len(self._store))]
        # A first crop may have been left to Pillow.
        return owners[len(owners) - before :] + stores[: len(ops) - before]

    def _current(self, count: int) -> list[Node | None]:
        return [self._stack[-1] if self._stack else None] * count

    def _sync(self, draft: DraftBase) -> None:
        """Ops that are new in the draft are the innermost transform's."""
        if self._ran or len(draft.ops) < len(self._ops) or _stores(draft) < len(self._store):
            self._ops, self._store, self._ran = [], [], False
        self._ops += self._current(len(draft.ops) - len(self._ops))
        self._store += self._current(_stores(draft) - len(self._store))

    def _elapsed(self) -> float:
        """Seconds since the mark, without those of reading the time."""
        return max(0.0, _now() - self._mark - self._tick)

    def _charge(self) -> float:
        """Accounts for the time since the last event. What the log itself takes is nobody's."""
        elapsed = self._elapsed()
        self._mark = _now()
        if self._outside is not None and not self._awaits_run:
            self._outside.seconds += elapsed
            self._close()
        elif self._stack:
            self._stack[-1].python += elapsed
        else:
            self.python += elapsed
        return elapsed

    def _open(self, draft: DraftBase, kind: str, name: str, library: str, reason: str) -> None:
        self._charge()
        self._sync(draft)
        nodes = [node for node in self._current(1) if node is not None]
        self._outside = Outside(kind, name, library, reason, nodes, _shape_of(draft), container_of(draft))
        self._outside.images = math.prod(draft.lead)
        self._awaits_run = bool(draft.ops or draft.store)
        self._mark = _now()

    def _close(self) -> None:
        if self._outside is not None:
            self.timeline.append(self._outside)
            self._outside = None


def _stores(draft: DraftBase) -> int:
    return len(draft.store) + len(draft.erases)


def _shape_of(draft: DraftBase) -> Shape:
    return draft.height, draft.width, draft.channels


def _is_result(image: Any, target: _C.Target) -> bool:
    """Whether `image` is what a run wrote to `target`."""
    if isinstance(image, Image.Image):
        # Images of several blocks are written elsewhere first.
        return image is target.owner or not isinstance(target.owner, Image.Image)
    if isinstance(image, torch.Tensor):
        return image.data_ptr() == target.address
    return isinstance(image, np.ndarray) and bool(image.__array_interface__["data"][0] == target.address)


def logged(pipeline: Any, image: Any) -> tuple[Any, Log]:
    """The result, and the log of how it was made."""
    log = Log(Recording())
    call = pipeline._call.like(log=log, tape=log)
    log.start()
    result = pipeline._run(image, call)
    log.stop()
    return result, log
