"""Samples on their way through transforms, which replace leaves by drafts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np
import PIL.Image
import torch
from torch import nn
from torch.utils import _pytree

from fastaug._draft.call import PLAIN, Call, Drawn, Tape
from fastaug._draft.draws import Draws
from fastaug._draft.leaf import ImageDraft, Leaf, MaskDraft, VideoDraft
from fastaug._draft.pipeline import Pipeline
from fastaug._draft.replaced import TransformDraft
from fastaug._draft.tape import called
from fastaug._draft.through import MAX_DRAFT, draft_through, step_of
from fastaug._draft.wide_mask import WIDE, WideMaskDraft
from fastaug._image.encoded import is_encoded, is_entry
from fastaug._image.lazy import LazyImage
from fastaug._names import is_ours
from fastaug._tv_tensors.boxes import BoxesDraft
from fastaug._tv_tensors.choice import classes
from fastaug._tv_tensors.points import PointsDraft

_Drawn = TypeVar("_Drawn")

# Types that pytrees look into, and a registered type may be added to them at any time.
_nodes = _pytree.SUPPORTED_NODES


class Leaves(list[Any]):
    """The leaves of a sample that a transform changes, with the source of its draws."""

    __slots__ = ("draws",)

    draws: Draws


class Sample(Drawn):
    """The arguments of a call as a list of leaves and a description of their tree."""

    __slots__ = ("_types", "call", "given", "leaves", "rebuilt", "spec", "unpacked")

    def __init__(self, inputs: tuple[Any, ...], call: Call = PLAIN) -> None:
        self.call = call
        self.unpacked = len(inputs) > 1
        self.restart(inputs if self.unpacked else inputs[0])

    def restart(self, structure: Any) -> None:
        """Begin with arguments, or continue with what a callable returned for the result of `finish`."""
        self.given = structure
        self.leaves: list[Any] = []
        self.rebuilt = False
        self.spec: Any = flatten(structure, self.leaves)
        self._types: tuple[type, ...] | None = tuple(map(type, self.leaves))
        if LazyImage in self._types:
            self._open()

    def _open(self) -> None:
        """Draft handles as Pillow's images, which are decoded last."""
        for index, leaf in enumerate(self.leaves):
            if type(leaf) is LazyImage:
                draft = self.draft(index)
                if isinstance(draft, ImageDraft):
                    draft.touched = True
                else:
                    self.leaves[index] = leaf.view()
        self.rebuilt = True
        self._types = None

    def draft(self, index: int) -> Any:
        """Replace a leaf by a draft if that is possible, and return it."""
        leaf = self.leaves[index]
        make = _makers.get(type(leaf)) or _maker(type(leaf))
        call, watch = self.call, self.call.watch
        drafted = make(leaf, call if watch is None else call.like(log=watch.image_log(self, index)))
        if drafted is not None:
            self.leaves[index] = leaf = drafted
        return leaf

    def change(self, transform: Any, indices: Sequence[int]) -> None:
        """Let a transform draw for some leaves, and change them or their drafts."""
        self.rebuilt = True
        if not indices and not transform._draws:
            return
        leaves = self.leaves
        for index in indices:
            if not isinstance(leaves[index], Leaf):
                self.draft(index)
        params = {}
        if transform._draws:
            chosen = Leaves([leaves[index] for index in indices])
            chosen.draws = self.call.draws
            tape = self.call.tape
            if tape is None:
                params = transform.make_params(chosen)
            else:
                params = tape.params(transform, lambda: transform.make_params(chosen))
        if transform._retypes:
            self._types = None
        watch = self.call.watch
        for index in indices:
            leaf = leaves[index]
            if watch is not None:
                watch.arrive(self, index)
            leaves[index] = transform.transform(leaf, params)
            if watch is not None:
                watch.leave(self, index, leaf)

    @property
    def types(self) -> tuple[type, ...]:
        types = self._types
        if types is None:
            types = self._types = tuple([leaf.type if isinstance(leaf, Leaf) else type(leaf) for leaf in self.leaves])
        return types

    def drawn(self, transform: Any, name: str, draw: Callable[[], _Drawn]) -> _Drawn:
        """Return a decision of a transform, drawn or from the tape."""
        tape = self.call.tape
        return draw() if tape is None else tape.drawn(transform, name, draw)

    def finish(self, whole: bool = True) -> Any:
        """Return the arguments with all drafts done, as the `whole` result or as the input of a callable."""
        self.call.draws.release()
        if self.call.watch is not None:
            return self._finish_watched(self.call.watch, whole)
        if not self.rebuilt:
            return self.given
        if self.spec is None:
            leaf = self.leaves[0]
            if not isinstance(leaf, Leaf):
                return leaf
            if whole:
                leaf.choose_order()
            return leaf.result()
        jobs: list[Any] = []
        ended = self.start(jobs, whole)
        if jobs:
            self.call.run(jobs, self.call.rewrites)
        return ended()

    def start(self, jobs: list[Any], whole: bool = True) -> Callable[[], Any]:
        """Append the jobs of all leaves, and return a function that gives the sample after them."""
        self._choose_orders(whole)
        later = [(index, leaf.start(jobs)) for index, leaf in enumerate(self.leaves) if isinstance(leaf, Leaf)]

        def ended() -> Any:
            leaves = list(self.leaves)
            for index, finish in later:
                leaves[index] = finish()
            return unflatten(self.spec, iter(leaves)) if self.rebuilt else self.given

        return ended

    def _choose_orders(self, whole: bool) -> None:
        if whole:
            for leaf in self.leaves:
                if isinstance(leaf, Leaf):
                    leaf.choose_order()

    def _finish_watched(self, watch: Any, whole: bool) -> Any:
        """Finish leaf by leaf, so that the observer sees each one's jobs."""
        self._choose_orders(whole)
        watch.finishing(self)
        for index, leaf in enumerate(self.leaves):
            if isinstance(leaf, Leaf):
                self.leaves[index] = leaf.result()
        watch.finished(self)
        return self.structure()

    def regroup(self) -> None:
        """Look for leaves again, after a transform may have returned a structure for a leaf."""
        self.restart(self.structure())
        self._types = None  # there are drafts among the leaves
        self.rebuilt = True

    @property
    def alone(self) -> Any:
        leaf = self.leaves[0] if self.rebuilt and self.spec is None else None
        return leaf if type(leaf) is ImageDraft else None

    @property
    def complete(self) -> bool:
        draft = self.alone
        return draft is not None and bool(draft.touched)

    def structure(self) -> Any:
        return unflatten(self.spec, iter(self.leaves)) if self.rebuilt else self.given

    def apart(self, function: Callable[..., Any], transform: Any = None) -> None:
        """Call a function with the sample so far, on behalf of a transform if there is one."""
        if self._opened(function) or self._drafted(function):
            return
        if self.call.beside is not None:
            self.call.beside.settle()
        inputs = self.finish(False)
        if self.call.tape is None or transform is not None:  # of a transform the draws are on the tape
            self.restart(function(*inputs) if self.unpacked else function(inputs))
        else:
            self.restart(self._taped(self.call.tape, function, inputs))
        if self.call.watch is not None:
            self.call.watch.called(function if transform is None else transform, self)

    def _taped(self, tape: Tape, function: Callable[..., Any], inputs: Any) -> Any:
        """Call a function whose draws the tape keeps if it can."""
        if self.unpacked:
            return called(tape, function, partial(function, *inputs))
        # A transform of single images of this package may draw, or hold others.
        step = step_of(function)
        holds = isinstance(function, nn.Sequential) or hasattr(function, "transforms")
        if step is None or (step[1] is None and not holds):
            return called(tape, function, partial(function, inputs))
        settings = getattr(function, "_call", PLAIN)

        def run(inner: Tape) -> Any:
            return TransformDraft(inputs, settings.like(tape=inner)).after(partial(draft_through, (function,)))

        return tape.inner(function, run)

    def _opened(self, decode: Any) -> bool:
        """Return whether a callable is a Decode that opened the whole sample, which is decoded last."""
        lazy = getattr(decode, "_lazy", None)
        if lazy is None or not is_ours(type(decode)):
            return False
        if self.spec is not None:
            if self.rebuilt or self.unpacked or not is_entry(self.given):
                return False
            self.restart(lazy(self.given))
            return True
        leaf = self.leaves[0]
        if isinstance(self.given, LazyImage):
            return True  # and stays as it is
        if not is_encoded(leaf):
            return False
        self.restart(lazy(leaf))
        return True

    def _drafted(self, function: Any) -> bool:
        """Return whether a transform of single images was drafted, for a sample that is one Pillow image."""
        step = step_of(function)
        if step is None or self.spec is not None or self.unpacked:
            return False
        prepare, draw, do = step
        if draw is not None and isinstance(function, nn.Module) and not isinstance(function, Pipeline):
            return False  # what it draws is its own
        records = self.call.tape is not None and (draw is not None or hasattr(function, "transforms"))
        if prepare is not None or (records and getattr(function, "_drawn", ()) != ("params",)):
            return False
        if not isinstance(self.leaves[0], Leaf):
            self.draft(0)
        leaf = self.leaves[0]
        if type(leaf) is not ImageDraft or leaf.cls is not None or not leaf.is_pil:
            return False
        if self.call.watch is not None:
            self.call.watch.arrive(self, 0)
        draft = leaf.as_plain()
        params = None if draw is None else self.drawn(function, "params", lambda: draw(function, draft))
        do(function, draft, params)
        if draft.count > MAX_DRAFT:
            draft.shorten()
        leaf.go_on_from(draft)
        self.rebuilt = True
        self._types = None
        if self.call.watch is not None:
            self.call.watch.leave(self, 0, leaf)
        return True

    def paths(self) -> list[str]:
        """Return the Python expression of each leaf after the name of the sample, such as ``[1]['boxes']``."""
        count = len(self.leaves)
        try:
            found, _ = _pytree.tree_flatten_with_path(unflatten(self.spec, iter(range(count))))
        except ValueError:
            # A user's class is registered without the names of its parts.
            return [f" leaf {number}" for number in range(count)]
        return [_pytree.keystr(path) for path, _ in found]


def flatten(node: Any, leaves: list[Any]) -> Any:
    """Append the leaves of a tree in the order of torch's pytrees, and return its description; None for a leaf."""
    cls = type(node)
    if cls is tuple or cls is list:
        return cls, [flatten(part, leaves) for part in node]
    if cls is dict:
        return cls, {key: flatten(part, leaves) for key, part in node.items()}
    if cls not in _nodes and not (isinstance(node, tuple) and hasattr(cls, "_fields")):
        leaves.append(node)
        return None
    parts, spec = _pytree.tree_flatten(node)
    leaves += parts
    return spec, len(parts)


def unflatten(spec: Any, leaves: Iterator[Any]) -> Any:
    """Build the tree of a description from `flatten`, with these leaves."""
    if spec is None:
        return next(leaves)
    cls, parts = spec
    if cls is tuple:
        return tuple([unflatten(part, leaves) for part in parts])
    if cls is list:
        return [unflatten(part, leaves) for part in parts]
    if cls is dict:
        return {key: unflatten(part, leaves) for key, part in parts.items()}
    return _pytree.tree_unflatten([next(leaves) for _ in range(parts)], cls)


# The dtypes of images that the core reads.
_DRAFTED = torch.uint8, torch.float32


def _draft_image(image: Any, call: Call) -> Any:
    draft = ImageDraft(image, call)
    return draft if draft.native or draft.floats else None


def _draft_plain(tensor: Any, call: Call) -> Any:
    return _draft_image(tensor, call) if tensor.dtype in _DRAFTED and tensor.ndim > 1 else None


def _draft_as(draft: Any, *dtypes: torch.dtype) -> Any:
    def make(leaf: Any, call: Call) -> Any:
        plain = leaf.as_subclass(torch.Tensor)  # it takes a tv_tensor longer to answer
        if plain.dtype not in dtypes or plain.ndim < 2 or plain.requires_grad or not plain.is_cpu:
            return None
        drafted = draft(leaf, call, type(leaf), plain)
        return drafted if drafted.native or drafted.floats else None

    return make


_draft_bytes = _draft_as(MaskDraft, torch.uint8, torch.bool)
_draft_wide = _draft_as(WideMaskDraft, *WIDE)


def _draft_mask(mask: Any, call: Call) -> Any:
    drafted = _draft_bytes(mask, call)
    # Larger samples are torch's in any arithmetic, and a trace has to see them.
    return drafted if drafted is not None or call.traced or call.pillow else _draft_wide(mask, call)


def _draft_places(draft: Any) -> Any:
    return lambda leaf, call: None if call.traced else draft(leaf)


def _none(leaf: Any, call: Call) -> None:
    """Leave types that are never drafted."""


_TV_MAKERS = {
    "Image": _draft_as(ImageDraft, *_DRAFTED),
    "Video": _draft_as(VideoDraft, torch.uint8),
    "Mask": _draft_mask,
    "BoundingBoxes": _draft_places(BoxesDraft),
    "KeyPoints": _draft_places(PointsDraft),
}

_makers: dict[type, Any] = {
    PIL.Image.Image: _draft_image,
    torch.Tensor: _draft_plain,
    LazyImage: _draft_image,
    np.ndarray: _draft_image,
}


def _maker(cls: type) -> Any:
    """Return the function that drafts leaves of a class, and keep it."""
    make: Any = _draft_image if issubclass(cls, PIL.Image.Image) else _none
    if cls in classes(*_TV_MAKERS):
        make = _TV_MAKERS[cls.__name__]
    _makers[cls] = make
    return make
