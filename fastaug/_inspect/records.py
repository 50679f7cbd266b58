"""Records of a log: transforms, programs and other work; and what a leaf of a sample is, in words."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import PIL.Image
import torch

from fastaug import _C
from fastaug._draft.base import TOO_MANY_PIXELS, DraftBase
from fastaug._draft.leaf import Leaf, MaskDraft
from fastaug._draft.recognise import reason_of_barrier
from fastaug._draft.written import has_hooks, other_methods
from fastaug._image.lazy import LazyImage
from fastaug._inspect import words
from fastaug._inspect.theirs import BASES
from fastaug._names import is_ours
from fastaug._program.kinds import ARRAY, ENCODED, PIL_IMAGE, TENSOR
from fastaug._program.ops import OP_BYTES
from fastaug._sample.sample import Sample
from fastaug._tv_tensors import formats, moves
from fastaug._tv_tensors.choice import classes

#: (height, width, channels)
Shape = tuple[int, int, int]

#: The leaves of a sample by their paths, each with its contents as `contents` returns them.
Look = dict[str, tuple[Any, Any]]

_KINDS: tuple[str, ...] = tuple(kind for _, kind in _C.OPS)
_NAMES: tuple[str, ...] = tuple(name for name, _ in _C.OPS)


def ops_of(program: bytes) -> list[bytes]:
    return [program[k : k + OP_BYTES] for k in range(0, len(program), OP_BYTES)]


def name_of(op: bytes) -> str:
    return _NAMES[int.from_bytes(op[:2], "little")]


def kind_of(op: bytes) -> str:
    return _KINDS[int.from_bytes(op[:2], "little")]


@dataclass
class Passage:
    """An image before and after a transform."""

    before: Shape = (0, 0, 0)
    container: str = ""
    after: Shape = (0, 0, 0)


@dataclass(eq=False)
class Node:
    """A transform in one call of a pipeline."""

    transform: Any
    parent: Node | None
    #: By the paths of leaves; "" is the path of an image alone.
    passages: dict[str, Passage] = field(default_factory=dict)
    children: list[Node] = field(default_factory=list)
    drawn: dict[str, Any] = field(default_factory=dict)
    #: The leaves of a sample that it changed.
    changed: list[str] = field(default_factory=list)
    #: Seconds that belong to it, but not to a pass, a draw or another library.
    python: float = 0.0

    @property
    def name(self) -> str:
        return words.called(self.transform)


def walked(nodes: list[Node]) -> Iterator[Node]:
    """Yield nodes, each before those inside it."""
    for node in nodes:
        yield node
        yield from walked(node.children)


@dataclass(eq=False)
class Run:
    """One program that the native core ran."""

    program: bytes
    source: Shape
    passes: list[_C.Pass]
    #: Processor time of this thread.
    seconds: float
    #: The core times its passes by the clock, as reading the thread's time at each row would take longer than the row.
    #: This factor scales those times to the processor time of this thread.
    share: float
    #: The transform of each op.
    owners: list[Node | None]
    target: _C.Target
    leaf: str = ""
    #: Whether the source holds floats.
    floats: bool = False

    def seconds_of(self, one: _C.Pass) -> float:
        """Return the processor time of one of the passes."""
        return self.share * one.seconds

    def nodes(self, origin: int) -> list[Node]:
        """Return the transforms of a mask of ops, in order, each once."""
        found = [node for k, node in enumerate(self.owners) if origin >> k & 1 and node is not None]
        return list(dict.fromkeys(found))

    def shapes(self) -> list[Shape]:
        """Return the shapes of the source and of the result of each op."""
        lengths = range(OP_BYTES, len(self.program) + 1, OP_BYTES)
        return [self.source, *(_C.shape(self.program[:length], *self.source, self.floats) for length in lengths)]


@dataclass(eq=False)
class Outside:
    """Work that the native core did not do."""

    #: "barrier": a callable of the user. "fallback": Pillow or torch, because the core cannot. "delegated": Pillow or
    #: torch, because one move is as fast there. "apart": a transform that works on the image itself. "kept": the core,
    #: for the pixels that the image keeps. "places": boxes or key points, which have no pixels.
    kind: str
    name: str
    library: str
    reason: str
    nodes: list[Node]
    before: Shape = (0, 0, 0)
    container: str = ""
    after: Shape = (0, 0, 0)
    seconds: float = 0.0
    #: Of a batch.
    images: int = 1
    leaf: str = ""

    @classmethod
    def of(cls, leaf: Any, path: str, kind: str, name: str, library: str, reason: str, nodes: list[Node]) -> Outside:
        """Return an entry for the leaf at a path as it is now."""
        entry = cls(kind, name, library, reason, nodes, leaf=path)
        if kind != "places":
            entry.before, entry.container = shape_of(leaf), container_of(leaf)
            entry.images = math.prod(drafted(leaf).lead)
        return entry


def kind_of_leaf(leaf: Any) -> str:
    """Return the kind of a leaf or draft: "pixels", "places" (boxes, key points) or "other" (also plain tensors)."""
    cls = leaf.type if isinstance(leaf, Leaf) else type(leaf)
    pixels = (PIL.Image.Image, LazyImage, *classes("Image", "Video", "Mask"))
    if isinstance(leaf, DraftBase) or issubclass(cls, pixels):
        return "pixels"
    return "places" if issubclass(cls, classes("BoundingBoxes", "KeyPoints")) else "other"


def pixels_of(leaves: list[Any]) -> list[int]:
    """Return the indices of leaves with pixels, and the first plain tensor if there are no other images or videos."""
    found = [index for index, leaf in enumerate(leaves) if kind_of_leaf(leaf) == "pixels"]
    if all(isinstance(leaves[index], (MaskDraft, *classes("Mask"))) for index in found):
        plain = (index for index, leaf in enumerate(leaves) if type(leaf) is torch.Tensor)
        found = sorted([*found, *itertools.islice(plain, 1)])
    return found


def drafted(leaf: Any) -> DraftBase:
    """Return a leaf as a draft, from which its size and container can be read."""
    if isinstance(leaf, DraftBase):
        return leaf
    return DraftBase(leaf.as_subclass(torch.Tensor) if isinstance(leaf, torch.Tensor) else leaf)


def shape_of(leaf: Any) -> Shape:
    draft = drafted(leaf)
    return draft.height, draft.width, draft.channels


def container_of(leaf: Any) -> str:
    """Return in words what holds an image so far."""
    draft = drafted(leaf)
    if draft.source == ENCODED and not draft.count and not draft.stored:
        return f"{draft.image.format} {draft.mode}"
    if draft.kind == PIL_IMAGE:
        return f"PIL {draft.mode}"
    if draft.kind == ARRAY:
        return "array" if draft.native else f"array {draft.image.dtype}"
    if draft.kind == TENSOR:
        if draft.stored or draft.native or draft.floats:
            return "tensor uint8" if draft.native else "tensor float"
        return f"tensor {draft.image.dtype}".replace("torch.", "") if draft.source == TENSOR else "tensor"
    return type(draft.image).__name__


def library_of(draft: DraftBase) -> str:
    """Return the library that does what the core does not."""
    return "Pillow" if draft.kind == PIL_IMAGE else "torch"


# Reason of csrc/draft/draft.h, in words.
_REASONS = {
    "samples": "the core does not do this to {}",
    "channels": "the core does not do this for so many channels",
    "mode": "the core does not do this in this mode",
    "shape": "the core does not do this to planes without channels, nor to batches of batches",
    "library": "Pillow or torch rounds this in another way on this machine",
    "full": "a program is as long as it may be",
}


def reason_of_fallback(draft: DraftBase) -> str:
    """Say why the core does not do something to an image."""
    if draft.native or draft.floats:
        reason = _REASONS.get(draft.core.reason, "the core does not do this with these arguments")
        return reason.format(container_of(draft))
    if draft.height * draft.width >= TOO_MANY_PIXELS:
        return "the core does not read images of 2^31 pixels and more"
    return f"the core does not read {container_of(draft)}"


def reason_apart(transform: Any) -> str:
    """Say why a callable gets the sample itself."""
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


def is_lambda(transform: Any) -> bool:
    """Return whether a transform calls a function of the user with each leaf."""
    return type(transform).__name__ == "Lambda" and is_ours(type(transform))


def doer(transform: Any, leaf: Any) -> tuple[str, str, str]:
    """Return how and by what a transform changed a leaf that is not a draft, and why: fields of an `Outside`."""
    if kind_of_leaf(leaf) == "places":
        if is_lambda(transform):
            return "places", "Python", ""
        return "places", "the core or torch" if _moved_by_core(leaf) else "torch", ""
    if is_lambda(transform):
        return "barrier", "Python", reason_of_barrier(transform)
    draft = drafted(leaf)
    # There are drafts of floats, but none that stand for leaves.
    reason = "the core does not read tensor float32 in samples" if draft.floats else reason_of_fallback(draft)
    return "fallback", library_of(draft), reason


def _moved_by_core(places: Any) -> bool:
    """Return whether the core moves boxes or points of this form; torch does what it does not."""
    places = places.result() if isinstance(places, Leaf) else places
    plain = places.as_subclass(torch.Tensor)
    if hasattr(places, "format"):
        return moves.held_boxes(plain, formats.format_name(places.format), places.canvas_size) is not None
    return moves.held_points(plain, places.canvas_size) is not None


# The attributes of _C.Draft that ops change.
_OF_CORES = (
    "height",
    "width",
    "channels",
    "kind",
    "mode",
    "lost",
    "copied",
    "channel_last",
    "lead",
    "ops",
    "store",
    "erases",
)


def contents(leaf: Any) -> Any:
    """Return what a draft holds now, to compare with what it holds later; None for a leaf itself."""
    if not isinstance(leaf, Leaf):
        return None
    if kind_of_leaf(leaf) == "places":
        places = leaf.result()
        numbers = places.as_subclass(torch.Tensor).detach().cpu().contiguous()
        return words.described(places), numbers.view(torch.uint8).numpy().tobytes()
    names = [name for cls in type(leaf).__mro__ for name in getattr(cls, "__slots__", ()) if name != "touched"]
    values = [getattr(leaf, name, None) for name in names]
    drafted: Any = leaf
    values += [getattr(drafted.core, name) for name in _OF_CORES]
    return [
        list(value) if isinstance(value, list) else value if isinstance(value, (int, str, tuple)) else id(value)
        for value in values
    ]


def look(sample: Sample) -> Look:
    return {path: (leaf, contents(leaf)) for path, leaf in zip(sample.paths(), sample.leaves)}


def differ(before: tuple[Any, Any] | None, after: tuple[Any, Any] | None) -> bool:
    """Return whether a leaf was changed; an untouched draft in its place is not a change."""
    if before is None or after is None:
        return True
    if before[0] is after[0]:
        return bool(before[1] != after[1])
    return not (isinstance(after[0], Leaf) and after[0].origin is before[0] and not after[0].touched)
