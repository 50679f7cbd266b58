"""What becomes of a sample on its way through a pipeline: one log for all its leaves."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import PIL.Image
import torch

from fastaug._draft.base import DraftBase
from fastaug._draft.call import Tape
from fastaug._draft.draws import Draws
from fastaug._draft.leaf import Leaf, MaskDraft, PixelDraft
from fastaug._draft.recognise import reason_of_barrier
from fastaug._draft.written import has_hooks, other_methods
from fastaug._image.lazy import LazyImage
from fastaug._inspect import log, words
from fastaug._inspect.log import Ear, Log, Outside, Passage, Shape, library_of, reason_of_fallback
from fastaug._inspect.twin import BASES
from fastaug._names import is_ours
from fastaug._sample.pipeline import SamplePipeline
from fastaug._sample.sample import Sample
from fastaug._sample.tape import SampleRecording, SampleTape
from fastaug._sample.watch import Watch
from fastaug._tv_tensors import formats, moves
from fastaug._tv_tensors.choice import loaded

_Drawn = TypeVar("_Drawn")


@dataclass
class LeafSeen:
    """A leaf that the log has seen.

    Attributes:
        kind: "pixels", "places" for boxes and key points, or "other".
        source: what it was at first, in words.
    """

    kind: str
    source: str


def kind_of_leaf(leaf: Any) -> str:
    """Of a leaf or its draft: "pixels", "places" for boxes and key points, or "other", which plain tensors are too."""
    cls = leaf.type if isinstance(leaf, Leaf) else type(leaf)
    classes = loaded()
    if isinstance(leaf, DraftBase) or issubclass(cls, (PIL.Image.Image, LazyImage)):
        return "pixels"
    if classes is not None:
        if issubclass(cls, (classes.Image, classes.Video, classes.Mask)):
            return "pixels"
        # Older versions of torchvision have no key points.
        if issubclass(cls, (classes.BoundingBoxes, getattr(classes, "KeyPoints", classes.BoundingBoxes))):
            return "places"
    return "other"


def pixels_of(leaves: list[Any]) -> list[int]:
    """The leaves that have pixels; of plain tensors the first, where there are no other images and videos."""
    found = [index for index, leaf in enumerate(leaves) if kind_of_leaf(leaf) == "pixels"]
    masks = (MaskDraft, *((classes.Mask,) if (classes := loaded()) is not None else ()))
    if all(isinstance(leaves[index], masks) for index in found):
        plain = (index for index, leaf in enumerate(leaves) if type(leaf) is torch.Tensor)
        found = sorted([*found, *itertools.islice(plain, 1)])
    return found


def reason_apart(transform: Any) -> str:
    """Why a callable gets the sample itself, in words."""
    cls = type(transform)
    base = next((one for one in cls.__mro__ if is_ours(one) and ".v2" in one.__module__), None)
    if base is None:
        return reason_of_barrier(transform)
    if has_hooks(transform):
        return "has hooks that want to see images"
    if base.__name__ in BASES:
        return "a transform of yours"
    if base is cls:
        return "works on the sample itself"
    over = " and ".join(other_methods(cls, base))
    return f"a subclass of {base.__name__} that overrides {over or 'what calling it does'}"


class SampleLog(Log, Watch):
    """A log of a call with a sample. Takes the place of its tape, too.

    Args:
        tape: where the parameters are kept.
    """

    def __init__(self, tape: SampleTape) -> None:
        super().__init__(tape)
        #: By their paths.
        self.leaves: dict[str, LeafSeen] = {}
        self._ears: dict[str, Ear] = {}
        #: For each transform that has not ended: what the leaves were when they were looked at last.
        self._before: list[_Look] = []
        #: What the leaf held that the transform that began last is called with.
        self._arrived: Any = None

    # fastaug._sample.tape.SampleTape

    def drawn(self, transform: Any, name: str, draw: Callable[[], _Drawn]) -> _Drawn:
        self.charge()
        value: _Drawn = self.tape.drawn(transform, name, draw)
        self.draws += self.elapsed()
        self.stack[-1].drawn[name] = value
        self.mark()
        return value

    def params(self, transform: Any, draw: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        self.charge()
        params: dict[str, Any] = self.tape.params(transform, draw)
        self.draws += self.elapsed()
        self.stack[-1].drawn.update(params)
        self.mark()
        return params

    def inner(self, transform: Any, run: Callable[[Tape], Any]) -> Any:
        return self.tape.inner(transform, run)

    def noise(self, transform: Any, draws: Draws) -> torch.Generator | None:
        generator: torch.Generator | None = self.tape.noise(transform, draws)
        return generator

    # fastaug._sample.watch.Watch

    def begin(self, transform: Any, sample: Sample) -> None:
        self.charge()
        node = self.enter(transform)
        paths = sample.paths()
        self._see(paths, sample.leaves)
        for index in pixels_of(sample.leaves):
            leaf = sample.leaves[index]
            node.passages[paths[index]] = Passage(shape_of(leaf), container_of(leaf))
        self._before.append(_look(sample))
        self.mark()

    def end(self, transform: Any, sample: Sample) -> None:
        self.charge()
        self._compare(sample)
        self._before.pop()
        node = self.stack.pop()
        paths = sample.paths()
        for index in pixels_of(sample.leaves):
            node.passages.setdefault(paths[index], Passage()).after = shape_of(sample.leaves[index])
        self.mark()

    def log(self, sample: Sample, index: int) -> Ear:
        self.charge()
        path = sample.paths()[index]
        if path not in self._ears:
            self._ears[path] = Ear(self, path)
        self.mark()
        return self._ears[path]

    def arrive(self, sample: Sample, index: int) -> None:
        leaf = sample.leaves[index]
        if isinstance(leaf, PixelDraft):
            self._ear_of(leaf).arrive(leaf)
            return
        self.charge()
        # What boxes and points are drafted for is done at once: that is seen in their numbers.
        self._arrived = _held(leaf)
        self.mark()

    def leave(self, sample: Sample, index: int, before: Any) -> None:
        seconds = self.charge()
        path, after = sample.paths()[index], sample.leaves[index]
        if not isinstance(before, PixelDraft):
            if after is not before or _held(after) != self._arrived:
                self._done(path, before, after, seconds, *_doer(self.stack[-1].transform, before))
        elif isinstance(after, PixelDraft):
            self._ear_of(before).leave(after, after.image)
        elif after is before.origin:
            self._ear_of(before).leave(before, None)
        else:
            if _is_lambda(self.stack[-1].transform):
                self._done(path, before, after, seconds, *_doer(self.stack[-1].transform, before))
            self._ear_of(before).leave(before, after)
        self.mark()

    def finishing(self, sample: Sample) -> None:
        self.charge()
        self._compare(sample)
        self.mark()

    def finished(self, sample: Sample) -> None:
        self.charge()
        # Results in the places of drafts are no changes of whoever asked for them.
        self._before = [_look(sample)] * len(self._before)
        self.mark()

    def called(self, function: Callable[..., Any], sample: Sample) -> None:
        seconds = self.charge()
        before, paths = self._before[-1], sample.paths()
        who = ("apart", "torch") if is_ours(type(function)) else ("barrier", "Python")
        for index in pixels_of(sample.leaves):
            leaf = sample.leaves[index]
            was = before[paths[index]][0] if paths[index] in before else leaf
            self._done(paths[index], was, leaf, seconds, *who, reason_apart(function))
            # It is called once for all leaves.
            seconds = 0.0
        self.mark()

    # Who did what.

    def _ear_of(self, draft: PixelDraft) -> Ear:
        ear: Any = draft.call.log
        assert isinstance(ear, Ear)
        return ear

    def _done(self, path: str, before: Any, after: Any, seconds: float, kind: str, library: str, reason: str) -> None:
        """Somebody has made a leaf of another one."""
        node = self.stack[-1]
        shape, container = ((0, 0, 0), "") if kind == "places" else (shape_of(before), container_of(before))
        entry = Outside(kind, node.name, library, reason, [node], shape, container, leaf=path)
        if kind != "places":
            entry.after, entry.images = shape_of(after), math.prod(drafted(before).lead)
        entry.seconds = seconds
        self.recharge(seconds)
        self.timeline.append(entry)

    # What is changed.

    def _see(self, paths: list[str], leaves: list[Any]) -> None:
        pixels = pixels_of(leaves)
        for index, (path, leaf) in enumerate(zip(paths, leaves)):
            kind = "pixels" if index in pixels else kind_of_leaf(leaf)
            if path not in self.leaves:
                origin = leaf.origin if isinstance(leaf, Leaf) else leaf
                self.leaves[path] = LeafSeen(kind, words.source(origin))
            elif kind != "other":
                self.leaves[path].kind = kind

    def _compare(self, sample: Sample) -> None:
        """Notes which leaves the transforms that have not ended have changed since they were looked at."""
        now = _look(sample)
        for node, before in zip(self.stack, self._before):
            for path in (*now, *(path for path in before if path not in now)):
                if path not in node.changed and _differ(before.get(path), now.get(path)):
                    node.changed.append(path)


#: The leaves of a sample by their paths, each with what a draft holds.
_Look = dict[str, tuple[Any, Any]]


def _look(sample: Sample) -> _Look:
    return {path: (leaf, _held(leaf)) for path, leaf in zip(sample.paths(), sample.leaves)}


def _held(leaf: Any) -> Any:
    """What a draft holds now, to compare with what it holds later. Of a leaf itself nothing."""
    if not isinstance(leaf, Leaf):
        return None
    if kind_of_leaf(leaf) == "places":
        places = leaf.result()
        numbers = places.as_subclass(torch.Tensor).detach().cpu().contiguous()
        return words.described(places), numbers.view(torch.uint8).numpy().tobytes()
    names = [name for cls in type(leaf).__mro__ for name in getattr(cls, "__slots__", ()) if name != "touched"]
    values = (getattr(leaf, name, None) for name in names)
    return [
        list(value) if isinstance(value, list) else value if isinstance(value, (int, str, tuple)) else id(value)
        for value in values
    ]


def _differ(before: tuple[Any, Any] | None, after: tuple[Any, Any] | None) -> bool:
    """Whether a leaf was changed. A draft that was put in the place of a leaf is the leaf as yet."""
    if before is None or after is None:
        return True
    if before[0] is after[0]:
        return bool(before[1] != after[1])
    return not (isinstance(after[0], Leaf) and after[0].origin is before[0] and not after[0].touched)


def _is_lambda(transform: Any) -> bool:
    """Whether a transform calls a function of the user's with each leaf."""
    return type(transform).__name__ == "Lambda" and is_ours(type(transform))


def _doer(transform: Any, before: Any) -> tuple[str, str, str]:
    """The kind of what was done to a leaf that is no draft, by whom, and why."""
    users = _is_lambda(transform)
    if kind_of_leaf(before) == "places":
        return "places", "Python" if users else "the core or torch" if _held_by_core(before) else "torch", ""
    if users:
        return "barrier", "Python", reason_of_barrier(transform)
    draft = drafted(before)
    # There are drafts of floats, but none that stand for leaves.
    reason = "the core does not read tensor float32 in samples" if draft.floats else reason_of_fallback(draft)
    return "fallback", library_of(draft), reason


def _held_by_core(places: Any) -> bool:
    """Whether the core moves boxes or points of this form; what it does not do to them, torch does."""
    places = places.result() if isinstance(places, Leaf) else places
    plain = places.as_subclass(torch.Tensor)
    if hasattr(places, "format"):
        return moves.held_boxes(plain, formats.format_name(places.format), places.canvas_size) is not None
    return moves.held_points(plain, places.canvas_size) is not None


def drafted(leaf: Any) -> DraftBase:
    """A leaf as a draft that nobody does anything to, for its size and container."""
    if isinstance(leaf, DraftBase):
        return leaf
    return DraftBase(leaf.as_subclass(torch.Tensor) if isinstance(leaf, torch.Tensor) else leaf)


def shape_of(leaf: Any) -> Shape:
    return log.shape_of(drafted(leaf))


def container_of(leaf: Any) -> str:
    return log.container_of(drafted(leaf))


def logged(pipeline: Any, image: Any) -> tuple[Any, Log]:
    """The result of a pipeline of images, or of samples, and the log of how it was made."""
    if not isinstance(pipeline, SamplePipeline):
        return log.logged(pipeline, image)
    heard = SampleLog(SampleRecording())
    heard.start()
    result = pipeline._run_sample((image,), tape=heard, watch=heard)
    heard.stop()
    return result, heard
