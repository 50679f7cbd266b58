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
from fastaug._draft.recognise import reason_of_barrier
from fastaug._draft.tape import Recording, while_used
from fastaug._inspect import words
from fastaug._program.kinds import ARRAY, ENCODED, PIL_IMAGE, TENSOR
from fastaug._program.ops import MAX_OPS, OP_BYTES

#: (height, width, channels)
Shape = tuple[int, int, int]

_KINDS: tuple[str, ...] = tuple(kind for _, kind in _C.OPS)
_NAMES: tuple[str, ...] = tuple(name for name, _ in _C.OPS)


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
        if draft.store or draft.native or draft.floats:
            return "tensor uint8" if draft.native else "tensor float"
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


@dataclass
class Passage:
    """What an image was before and after a transform."""

    before: Shape = (0, 0, 0)
    container: str = ""
    after: Shape = (0, 0, 0)


@dataclass(eq=False)
class Node:
    """A transform in one call of a pipeline."""

    transform: Any
    parent: Node | None
    #: By the leaf that the image is of a sample; "" where it is all there is.
    passages: dict[str, Passage] = field(default_factory=dict)
    children: list[Node] = field(default_factory=list)
    drawn: dict[str, Any] = field(default_factory=dict)
    #: The leaves of a sample that it changed.
    changed: list[str] = field(default_factory=list)
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
    #: Of a sample.
    leaf: str = ""
    #: Whether the source holds floats.
    floats: bool = False

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
        return [
            _C.shape(self.program[:length], *self.source, self.floats) if length else self.source for length in lengths
        ]


@dataclass(eq=False)
class Outside:
    """What the native core did not do."""

    #: "barrier": a callable of the user's. "fallback": Pillow or torch, because the core cannot. "delegated": Pillow or
    #: torch, because one move is as fast there. "apart": a transform that works on the image itself. "kept": the core,
    #: for the pixels that the image keeps. "places": boxes or key points of a sample, which have no pixels.
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
    #: Of a sample.
    leaf: str = ""


class Log:
    """What becomes of one call, in the order of time: its transforms, and who did what.

    Takes the place of the call's tape, to hear the parameters that are drawn. Its ears hear what becomes of images.

    Args:
        tape: where the parameters come from; transforms draw them by default.
    """

    def __init__(self, tape: Any = None) -> None:
        self.tape = tape
        self.steps: list[Node] = []
        self.timeline: list[Run | Outside] = []
        #: Why programs ended, beside what `timeline` shows: (leaf, transform, reason).
        self.flushes: list[tuple[str, Node, str]] = []
        #: What a user is to know of an image: (leaf, in words).
        self.notes: list[tuple[str, str]] = []
        self.draws = 0.0
        self.python = 0.0
        #: Seconds for which the core was kept from its passes while it timed them: they are wrong by as much.
        self.held = 0.0
        self.stack: list[Node] = []
        #: What is being done by others, and whether a program of the core's comes first.
        self.outside: Outside | None = None
        self.awaits_run = False
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
        self.charge()

    def mark(self) -> None:
        """What comes now is the call's own time again, no longer the log's."""
        self._mark = _now()

    def elapsed(self) -> float:
        """Seconds since the mark, without those of reading the time."""
        return max(0.0, _now() - self._mark - self._tick)

    def charge(self) -> float:
        """Accounts for the time since the last event. What the log itself takes is nobody's."""
        elapsed = self.elapsed()
        self._mark = _now()
        if self.outside is not None and not self.awaits_run:
            self.outside.seconds += elapsed
            self.timeline.append(self.outside)
            self.outside = None
        elif self.stack:
            self.stack[-1].python += elapsed
        else:
            self.python += elapsed
        return elapsed

    def recharge(self, seconds: float) -> None:
        """Such a time, which was accounted for as Python's, is an entry's."""
        (self.stack[-1] if self.stack else self).python -= seconds

    def enter(self, transform: Any) -> Node:
        """A transform begins, within the one that began last."""
        parent = self.stack[-1] if self.stack else None
        node = Node(transform, parent)
        (parent.children if parent else self.steps).append(node)
        self.stack.append(node)
        return node

    # fastaug._draft.call.Tape

    def take(self, transform: Any, draft: Any) -> Any:
        self.charge()
        used = transform._sample(draft) if self.tape is None else self.tape.take(transform, draft)
        used, value = while_used(used)
        self.draws += self.elapsed()
        names = transform._drawn
        if self.stack and names and value is not None:
            values = value if isinstance(value, tuple) and len(names) > 1 else (value,)
            self.stack[-1].drawn.update(zip(names, values))
        self.mark()
        return used


class Ear:
    """Hears what becomes of one image (fastaug._draft.call.Log): which transform each of its ops is of.

    Args:
        log: of the call.
        leaf: which of a sample's; "" where the image is all there is.
    """

    def __init__(self, log: Log, leaf: str = "") -> None:
        self.log = log
        self.leaf = leaf
        self._images: list[tuple[Any, int]] = []
        self._ops: list[Node | None] = []
        self._store: list[Node | None] = []
        self._ran = False

    # fastaug._draft.call.Log

    def begin(self, transform: Any, draft: DraftBase) -> None:
        self.log.charge()
        self._sync(draft, self._owner())
        node = self.log.enter(transform)
        node.passages[self.leaf] = Passage(shape_of(draft), container_of(draft))
        self._images.append((draft.image, len(self.log.timeline)))
        self.log.mark()

    def end(self, transform: Any, draft: DraftBase) -> None:
        elapsed = self.log.charge()
        self._heard(draft, draft.image, elapsed)
        self.log.stack.pop()
        self.log.mark()

    def arrive(self, draft: DraftBase) -> None:
        """The transform that began last is about to change the draft."""
        self.log.charge()
        self._sync(draft, self.log.stack[-1].parent)
        self.log.stack[-1].passages[self.leaf] = Passage(shape_of(draft), container_of(draft))
        self._images.append((draft.image, len(self.log.timeline)))
        self.log.mark()

    def leave(self, draft: DraftBase, image: Any) -> None:
        """It has. `image` is what goes on from there, the draft's own where it is one still; None for the same."""
        elapsed = self.log.charge()
        self._heard(draft, image, elapsed)
        self.log.mark()

    def barrier(self, transform: Any, draft: DraftBase) -> None:
        self._open(draft, "barrier", words.called(transform), "Python", reason_of_barrier(transform))

    def replaced(self, draft: DraftBase, name: str) -> None:
        self._open(draft, "barrier", name, "Python", f"functional.{name} is a function of yours")

    def eager(self, draft: DraftBase, name: str) -> None:
        self._open(draft, "fallback", name, library_of(draft), reason_of_fallback(draft))

    def decoding(self, draft: DraftBase, reason: str) -> None:
        self._open(draft, "fallback", "decode", "Pillow", reason)
        self.log.awaits_run = False

    def kept(self, draft: DraftBase, before: bool) -> None:
        log = self.log
        if before:
            log.notes.append((self.leaf, "the image: kept from an earlier use, not decoded again"))
            return
        log.notes.append((self.leaf, "the image: decoded whole and kept, for further uses"))
        if draft.source == ENCODED:
            # Pillow's part shows already; the core's has just been.
            image = draft.image
            entry = Outside("kept", "decode", "apart", f"{image.format}, all of it", [], (0, 0, 0), container_of(draft))
            entry.after = image.header.height, image.header.width, draft.bands
            entry.leaf = self.leaf
            if log.outside is None:
                entry.seconds = log.charge()
                log.recharge(entry.seconds)
            log.timeline.append(entry)

    def delegated(self, draft: DraftBase, library: str) -> None:
        log = self.log
        seconds = log.elapsed()
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
            shape_of(draft),
            seconds,
            math.prod(draft.lead),
            self.leaf,
        )
        log.timeline.append(entry)
        self._ran, log.awaits_run = True, False
        log.mark()

    def run(self, jobs: Sequence[tuple[bytes, _C.Source, _C.Target]], rewrites: int) -> None:
        for job in jobs:
            self._run(*job, rewrites)

    # Who did what.

    def _heard(self, draft: DraftBase, image: Any, elapsed: float) -> None:
        """The transform that began last has done what it does to the image."""
        log = self.log
        before, first = self._images.pop()
        node = log.stack[-1]
        passage = node.passages[self.leaf]
        during = [entry for entry in log.timeline[first:] if entry.leaf == self.leaf]
        encoded = draft.source == ENCODED and not during
        if (
            image is not None
            and image is not before
            and not encoded
            and not any(isinstance(entry, Outside) for entry in during)
        ):
            runs = [entry for entry in during if isinstance(entry, Run)]
            if not runs or not _is_result(image, runs[-1].target):
                reason = "works on whole images"
                entry = Outside("apart", node.name, "apart", reason, [node], passage.before, passage.container)
                entry.images, entry.leaf = math.prod(draft.lead), self.leaf
                entry.after, entry.seconds = shape_of(draft), elapsed
                node.python -= elapsed
                log.timeline.append(entry)
            elif not node.children:
                full = len(runs[-1].owners) > MAX_OPS // 4
                reason = f"a program holds {MAX_OPS} ops at most" if full else "asks for the image itself"
                log.flushes.append((self.leaf, node, reason))
        self._sync(draft, node)
        passage.after = shape_of(draft)
        last = during[-1] if during else None
        if isinstance(last, Outside) and last.after == (0, 0, 0):
            last.after = passage.after

    def _run(self, program: bytes, source: _C.Source, target: _C.Target, rewrites: int) -> None:
        log = self.log
        reports: list[list[_C.Pass]] = []
        # What another library is about to do follows this run, and all runs of a batch.
        log.awaits_run = log.awaits_run or self._is_further(program)
        log.charge()
        _C.run([(program, source, target)], rewrites)
        seconds = log.elapsed()
        # Once more, for the passes: looking at the clock at each row of each of them takes time too.
        start, clock = _now(), time.perf_counter()
        _C.run([(program, source, target)], rewrites, reports=reports)
        clock = time.perf_counter() - clock
        log.held += max(0.0, clock - (_now() - start))
        shape = (source.height, source.width, source.channels)
        share = seconds / clock if clock > 0 else 0.0
        owners = self._owners(program)
        log.timeline.append(Run(program, shape, reports[0], seconds, share, owners, target, self.leaf, source.floats))
        log.awaits_run = False
        self._ran = True
        log.mark()

    def _is_further(self, program: bytes) -> bool:
        """Whether this is the program of the last run again, for the next image or channels of a batch."""
        last = next((entry for entry in reversed(self.log.timeline) if entry.leaf == self.leaf), None)
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

    def _owner(self) -> Node | None:
        """The transform that began last, and has not ended."""
        return self.log.stack[-1] if self.log.stack else None

    def _current(self, count: int) -> list[Node | None]:
        return [self._owner()] * count

    def _sync(self, draft: DraftBase, owner: Node | None) -> None:
        """Ops that are new in the draft are this transform's."""
        if self._ran or len(draft.ops) < len(self._ops) or _stores(draft) < len(self._store):
            self._ops, self._store, self._ran = [], [], False
        self._ops += [owner] * (len(draft.ops) - len(self._ops))
        self._store += [owner] * (_stores(draft) - len(self._store))

    def _open(self, draft: DraftBase, kind: str, name: str, library: str, reason: str) -> None:
        log = self.log
        log.charge()
        self._sync(draft, self._owner())
        nodes = [node for node in self._current(1) if node is not None]
        log.outside = Outside(kind, name, library, reason, nodes, shape_of(draft), container_of(draft))
        log.outside.images, log.outside.leaf = math.prod(draft.lead), self.leaf
        log.awaits_run = bool(draft.ops or draft.store)
        log.mark()


def library_of(draft: DraftBase) -> str:
    """Who does to an image what the core does not."""
    return "Pillow" if draft.kind == PIL_IMAGE else "torch"


def reason_of_fallback(draft: DraftBase) -> str:
    """Why the core does not do something to an image."""
    if draft.native or draft.floats:
        return "the core does not do this with these arguments"
    if draft.height * draft.width >= TOO_MANY_PIXELS:
        return "the core does not read images of 2^31 pixels and more"
    return f"the core does not read {container_of(draft)}"


def _stores(draft: DraftBase) -> int:
    return len(draft.store) + len(draft.erases)


def shape_of(draft: DraftBase) -> Shape:
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
    call = pipeline._call.like(log=Ear(log), tape=log)
    log.start()
    result = pipeline._run(image, call)
    log.stop()
    return result, log
