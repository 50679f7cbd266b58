"""A log of one call of a pipeline, from which explain() and profile() are made: an image is a sample of one leaf."""

from __future__ import annotations

import functools
import itertools
import math
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
import torch
from PIL import Image

from fastaug import _C
from fastaug._draft.base import DraftBase
from fastaug._draft.call import Tape
from fastaug._draft.draws import Draws
from fastaug._draft.leaf import Leaf, PixelDraft
from fastaug._draft.recognise import reason_of_barrier
from fastaug._draft.tape import Recording
from fastaug._inspect import records, words
from fastaug._inspect.records import Node, Outside, Passage, Run, kind_of, name_of, ops_of
from fastaug._names import is_ours
from fastaug._program.kinds import ENCODED, PIL_IMAGE
from fastaug._program.ops import MAX_OPS
from fastaug._sample.pipeline import SamplePipeline
from fastaug._sample.sample import Sample

_Drawn = TypeVar("_Drawn")
_Method = TypeVar("_Method", bound=Callable[..., Any])


def _now() -> float:
    """Return seconds of processor time of this thread, which exclude the time of other processes."""
    return time.thread_time_ns() / 1e9


@functools.cache
def _tick() -> float:
    """Return the seconds that reading that time takes."""
    times = [time.thread_time_ns() for _ in range(100)]
    return min(after - before for before, after in itertools.pairwise(times)) / 1e9


def _event(method: _Method) -> _Method:
    """Account for the time before an event, and leave out the time that the log takes for it."""

    @functools.wraps(method)
    def timed(self: Log | ImageLog, *arguments: Any) -> Any:
        log = self if isinstance(self, Log) else self.log
        log.charge()
        result = method(self, *arguments)
        log.mark()
        return result

    return timed  # type: ignore[return-value]


class Log:
    """A log of one call, in the order of time: its transforms, and who did what.

    It is the tape of the call, and the observer of its sample. For each image there is an `ImageLog`.
    """

    def __init__(self, tape: Any) -> None:
        self.tape = tape
        #: The kind of each leaf, and what it was at first, in words; by their paths.
        self.leaves: dict[str, tuple[str, str]] = {}
        self.steps: list[Node] = []
        self.timeline: list[Run | Outside] = []
        #: Further reasons why programs ended: (leaf, transform, reason).
        self.flushes: list[tuple[str, Node, str]] = []
        #: (leaf, remark)
        self.notes: list[tuple[str, str]] = []
        self.draws = 0.0
        self.python = 0.0
        #: Seconds for which the core was kept from its passes while it timed them: they are wrong by as much.
        self.held = 0.0
        #: The transforms that have not ended, and the leaves when each was last compared.
        self.stack: list[Node] = []
        self._looks: list[records.Look] = []
        #: The work that others are doing, and whether a program of the core comes before it.
        self.outside: Outside | None = None
        self.awaits_run = False
        self._images: dict[str, ImageLog] = {}
        #: Contents of the leaf that the last transform is called with.
        self._arrived: Any = None
        self._tick = _tick()
        #: Seconds between the last two events.
        self.since = 0.0
        self.mark()

    def seconds(self) -> float:
        """Return the seconds of the call, without those of the log."""
        parts = [*self.timeline, *records.walked(self.steps)]
        known = math.fsum(part.python if isinstance(part, Node) else part.seconds for part in parts)
        return self.draws + self.python + known

    def mark(self) -> None:
        """Start the time until the next event."""
        self._mark = _now()

    def elapsed(self) -> float:
        """Return the seconds since the mark, without those of reading the time."""
        return max(0.0, _now() - self._mark - self._tick)

    def charge(self) -> None:
        """Account for the time since the mark."""
        self.since = self.elapsed()
        if self.outside is not None and not self.awaits_run:
            self.outside.seconds += self.since
            self.timeline.append(self.outside)
            self.outside, self.since = None, 0.0
        (self.stack[-1] if self.stack else self).python += self.since
        self.mark()

    def spent(self) -> float:
        """Return the seconds between the last two events, once, for an entry: they are no longer Python's."""
        seconds, self.since = self.since, 0.0
        (self.stack[-1] if self.stack else self).python -= seconds
        return seconds

    def enter(self, transform: Any) -> Node:
        """Begin a transform within the one that began last."""
        parent = self.stack[-1] if self.stack else None
        node = Node(transform, parent)
        (parent.children if parent else self.steps).append(node)
        self.stack.append(node)
        return node

    # fastaug._draft.call.Tape

    @_event
    def take(self, transform: Any, draft: Any) -> Any:
        return self._draw(self.tape.take, transform, draft)

    @_event
    def drawn(self, transform: Any, name: str, draw: Callable[[], _Drawn]) -> _Drawn:
        value: _Drawn = self._draw(self.tape.drawn, transform, name, draw)
        return value

    @_event
    def params(self, transform: Any, draw: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        params: dict[str, Any] = self._draw(self.tape.params, transform, draw)
        return params

    def inner(self, transform: Any, run: Callable[[Tape], Any]) -> Any:
        return self.tape.inner(transform, run)

    def noise(self, transform: Any, draws: Draws) -> Any:
        return self.tape.noise(transform, draws)

    def _draw(self, draw: Callable[..., Any], *arguments: Any) -> Any:
        """Return what a method of the tape returns, and note what it has kept."""
        self.mark()
        value = draw(*arguments)
        self.draws += self.elapsed()
        kept = {name: part for name, part in self.tape.entries[-1].items() if name != "transform"}
        if self.stack and any(part is not None for part in kept.values()):
            self.stack[-1].drawn.update(kept)
        return value

    # Of samples.

    @_event
    def begin(self, transform: Any, sample: Sample) -> None:
        """Record that a transform will change the sample. Calls nest: containers begin first, and end last."""
        node = self.enter(transform)
        paths = sample.paths()
        pixels = records.pixels_of(sample.leaves)
        for index, (path, leaf) in enumerate(zip(paths, sample.leaves)):
            kind = "pixels" if index in pixels else records.kind_of_leaf(leaf)
            if path not in self.leaves:
                self.leaves[path] = kind, words.source(leaf.origin if isinstance(leaf, Leaf) else leaf)
            elif kind != "other":
                self.leaves[path] = kind, self.leaves[path][1]
            if index in pixels:
                node.passages[path] = Passage(records.shape_of(leaf), records.container_of(leaf))
        self._looks.append(records.look(sample))

    @_event
    def end(self, transform: Any, sample: Sample) -> None:
        """Record that it has changed the sample."""
        self._compare(sample)
        self._looks.pop()
        node = self.stack.pop()
        paths = sample.paths()
        for index in records.pixels_of(sample.leaves):
            node.passages.setdefault(paths[index], Passage()).after = records.shape_of(sample.leaves[index])

    @_event
    def image_log(self, sample: Sample, index: int) -> ImageLog:
        """Return the log of the draft of a leaf."""
        path = sample.paths()[index]
        return self._images.setdefault(path, ImageLog(self, path))

    @_event
    def arrive(self, sample: Sample, index: int) -> None:
        """Record that the transform that began last will get a leaf."""
        leaf = sample.leaves[index]
        if isinstance(leaf, PixelDraft):
            _log_of(leaf).arrive(leaf)
        else:
            # Boxes and points are changed at once, so the change shows in their numbers.
            self._arrived = records.contents(leaf)

    @_event
    def leave(self, sample: Sample, index: int, before: Any) -> None:
        """Record that the result of the transform has replaced the leaf `before`."""
        after, drafted = sample.leaves[index], isinstance(before, PixelDraft)
        if drafted and isinstance(after, PixelDraft):
            _log_of(before).leave(after, after.image)
            return
        same = before.origin if drafted else before
        changed = after is not same or (not drafted and records.contents(after) != self._arrived)
        transform = self.stack[-1].transform
        if changed and (not drafted or records.is_lambda(transform)):
            self._add(sample.paths()[index], before, after, *records.doer(transform, before))
        if drafted:
            _log_of(before).leave(before, after if changed else None)

    @_event
    def finishing(self, sample: Sample) -> None:
        """Record that the drafts will be finished."""
        self._compare(sample)

    @_event
    def finished(self, sample: Sample) -> None:
        """Record that results have replaced the drafts."""
        # Results instead of drafts are not changes by the transform that asked for them.
        self._looks = [records.look(sample)] * len(self._looks)

    @_event
    def called(self, function: Callable[..., Any], sample: Sample) -> None:
        """Record that a function got the finished sample, and the sample became what it returned."""
        before, paths = self._looks[-1], sample.paths()
        who = ("apart", "torch") if is_ours(type(function)) else ("barrier", "Python")
        for index in records.pixels_of(sample.leaves):
            leaf = sample.leaves[index]
            was = before[paths[index]][0] if paths[index] in before else leaf
            # It is called once for all leaves: the first entry has the time.
            self._add(paths[index], was, leaf, *who, records.reason_apart(function))

    def _add(self, path: str, before: Any, after: Any, kind: str, library: str, reason: str) -> None:
        """Add to the timeline that a leaf was made of another one."""
        node = self.stack[-1]
        entry = Outside.of(before, path, kind, node.name, library, reason, [node])
        entry.seconds = self.spent()
        if kind != "places":
            entry.after = records.shape_of(after)
        self.timeline.append(entry)

    def _compare(self, sample: Sample) -> None:
        """Note which leaves the transforms that have not ended have changed since they were last compared."""
        now = records.look(sample)
        for node, before in zip(self.stack, self._looks):
            for path in dict.fromkeys([*now, *before]):
                if path not in node.changed and records.differ(before.get(path), now.get(path)):
                    node.changed.append(path)


def _log_of(draft: PixelDraft) -> ImageLog:
    log: Any = draft.call.log
    assert isinstance(log, ImageLog)
    return log


class ImageLog:
    """The log of one image, which keeps the transform of each of its ops.

    Args:
        leaf: the path of the image in a sample; "" for an image alone.
    """

    def __init__(self, log: Log, leaf: str = "") -> None:
        self.log = log
        self.leaf = leaf
        #: For each transform that has not ended: the image before it, and how long the timeline was.
        self._images: list[tuple[Any, int]] = []
        self._ops: list[Node | None] = []
        self._store: list[Node | None] = []
        self._ran = False

    # Of drafts.

    @_event
    def begin(self, transform: Any, draft: DraftBase) -> None:
        """Record that a transform will be drafted. Containers begin before, and end after, what they hold."""
        self.log.enter(transform)
        self.arrive(draft)

    @_event
    def end(self, transform: Any, draft: DraftBase) -> None:
        """Record that it has been drafted."""
        self.leave(draft, draft.image)
        self.log.stack.pop()

    def barrier(self, transform: Any, draft: DraftBase) -> None:
        """Record that a transform cannot be drafted, and will be called with the image so far."""
        self._open(draft, "barrier", words.called(transform), "Python", reason_of_barrier(transform))

    def replaced(self, draft: DraftBase, name: str) -> None:
        """Record that the replacement of a function will be called with the image so far."""
        self._open(draft, "barrier", name, "Python", f"functional.{name} is a function of yours")

    def eager(self, draft: DraftBase, name: str) -> None:
        """Record that Pillow or torch, instead of the core, will do an op on the image so far."""
        self._open(draft, "fallback", name, records.library_of(draft), records.reason_of_fallback(draft))

    def decoding(self, draft: DraftBase, reason: str) -> None:
        """Record that Pillow will decode the image of a draft."""
        self._open(draft, "fallback", "decode", "Pillow", reason)
        self.log.awaits_run = False

    def kept(self, draft: DraftBase, before: bool) -> None:
        """Record that an image has the pixels that it keeps, since before this call or decoded for it."""
        log = self.log
        if before:
            log.notes.append((self.leaf, "the image: kept from an earlier use, not decoded again"))
            return
        log.notes.append((self.leaf, "the image: decoded whole and kept, for further uses"))
        if draft.source == ENCODED:
            # Pillow's part is in the timeline already; the core's has just ended.
            image = draft.image
            entry = Outside.of(draft, self.leaf, "kept", "decode", "apart", f"{image.format}, all of it", [])
            entry.before, entry.after = (0, 0, 0), (image.header.height, image.header.width, draft.bands)
            if log.outside is None:
                log.charge()
                entry.seconds = log.spent()
            log.timeline.append(entry)

    def delegated(self, draft: DraftBase, library: str) -> None:
        """Record that a library has done the only op of a draft."""
        log = self.log
        seconds = log.elapsed()
        count = draft.count
        owners = [*self._ops, *self._current(count)][:count] if not self._ran else self._current(1)
        nodes = [node for node in owners if node is not None]
        name = name_of(draft.core.ops[0]).lower() if isinstance(draft.core.ops[0], bytes) else "move"
        image = draft.image
        height, width = (image.height, image.width) if draft.kind == PIL_IMAGE else image.shape[-2:]
        entry = Outside.of(draft, self.leaf, "delegated", name, library, "a single move", nodes)
        entry.before, entry.after, entry.seconds = (height, width, draft.bands), records.shape_of(draft), seconds
        log.timeline.append(entry)
        self._ran, log.awaits_run = True, False
        log.mark()

    def run(self, jobs: Sequence[tuple[bytes, _C.Source, _C.Target]], rewrites: int) -> None:
        """Do the jobs instead of _C.run, with its arguments."""
        for job in jobs:
            self._run(*job, rewrites)

    # Who did what.

    def arrive(self, draft: DraftBase) -> None:
        """Note the image before the transform that began last."""
        node = self.log.stack[-1]
        self._sync(draft, node.parent)
        node.passages[self.leaf] = Passage(records.shape_of(draft), records.container_of(draft))
        self._images.append((draft.image, len(self.log.timeline)))

    def leave(self, draft: DraftBase, image: Any) -> None:
        """Note the image after the transform that began last: the draft's own, another leaf, or None for the same."""
        log = self.log
        before, first = self._images.pop()
        node = log.stack[-1]
        passage = node.passages[self.leaf]
        during = [entry for entry in log.timeline[first:] if entry.leaf == self.leaf]
        encoded = draft.source == ENCODED and not during
        others = any(isinstance(entry, Outside) for entry in during)
        if image is not None and image is not before and not encoded and not others:
            runs = [entry for entry in during if isinstance(entry, Run)]
            if not runs or not _is_result(image, runs[-1].target):
                entry = Outside.of(draft, self.leaf, "apart", node.name, "apart", "works on whole images", [node])
                entry.before, entry.container = passage.before, passage.container
                entry.after, entry.seconds = records.shape_of(draft), log.spent()
                log.timeline.append(entry)
            elif not node.children:
                full = len(runs[-1].owners) > MAX_OPS // 4
                reason = f"a program holds {MAX_OPS} ops at most" if full else "asks for the image itself"
                log.flushes.append((self.leaf, node, reason))
        self._sync(draft, node)
        passage.after = records.shape_of(draft)
        last = during[-1] if during else None
        if isinstance(last, Outside) and last.after == (0, 0, 0):
            last.after = passage.after

    def _run(self, program: bytes, source: _C.Source, target: _C.Target, rewrites: int) -> None:
        log = self.log
        reports: list[list[_C.Pass]] = []
        # Work of another library comes after this run, and after all runs of a batch.
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
        """Return whether this is the program of the last run again, for another image or channels of a batch."""
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

    def _current(self, count: int) -> list[Node | None]:
        """Return the transform that began last and has not ended, so many times."""
        return [self.log.stack[-1] if self.log.stack else None] * count

    def _sync(self, draft: DraftBase, owner: Node | None) -> None:
        """Note the transform of the ops that are new in the draft."""
        stores = draft.stored + draft.core.erases
        if self._ran or draft.count < len(self._ops) or stores < len(self._store):
            self._ops, self._store, self._ran = [], [], False
        self._ops += [owner] * (draft.count - len(self._ops))
        self._store += [owner] * (stores - len(self._store))

    @_event
    def _open(self, draft: DraftBase, kind: str, name: str, library: str, reason: str) -> None:
        (owner,) = self._current(1)
        self._sync(draft, owner)
        self.log.outside = Outside.of(draft, self.leaf, kind, name, library, reason, [] if owner is None else [owner])
        self.log.awaits_run = bool(draft.count or draft.stored)


def _is_result(image: Any, target: _C.Target) -> bool:
    """Return whether an image is what a run wrote to a target."""
    if isinstance(image, Image.Image):
        # Images of several blocks are written elsewhere first.
        return image is target.owner or not isinstance(target.owner, Image.Image)
    if isinstance(image, torch.Tensor):
        return image.data_ptr() == target.address
    return isinstance(image, np.ndarray) and bool(image.__array_interface__["data"][0] == target.address)


def logged(pipeline: Any, image: Any) -> tuple[Any, Log]:
    """Return the result of a pipeline for an image or a sample, and the log of how it was made."""
    log = Log(Recording())
    if isinstance(pipeline, SamplePipeline):
        call = pipeline._call.like(watch=log, tape=log)
    else:
        log.leaves[""] = "pixels", words.source(image)
        call = pipeline._call.like(log=ImageLog(log), tape=log)
    log.mark()
    result = pipeline._run(image, call)
    log.charge()
    return result, log
