"""The base of Compose and of compiled transforms: one call over many transforms."""

from __future__ import annotations

import functools
import inspect
import io
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import torch
from PIL import Image

from fastaug import _C
from fastaug._draft import finish
from fastaug._draft.call import PLAIN, Call
from fastaug._draft.draft import Draft
from fastaug._draft.outline import Outline
from fastaug._draft.recipe import Book, Parts, recipe_of
from fastaug._draft.replaced import TransformDraft
from fastaug._draft.tape import Recording, Replaying
from fastaug._draft.through import draft_through
from fastaug._image.encoded import is_entry
from fastaug._image.lazy import LazyImage
from fastaug._names import is_ours
from fastaug._program.eager import compiling
from fastaug._program.job import Job
from fastaug._program.kinds import ARRAY, PIL_IMAGE, TENSOR

if TYPE_CHECKING:
    from fastaug._cuda.kernels import Family

#: The rewrites of programs that each mode allows.
REWRITES = {"exact": _C.EXACT, "fast": _C.FAST}

#: The arithmetic of uint8 tensors: that of torchvision's tensors, or Pillow's.
ARITHMETIC_NAMES = ("container", "pil")

_CALLS = {
    (mode, arithmetic): Call(rewrites=rewrites, pillow=arithmetic == "pil")
    for mode, rewrites in REWRITES.items()
    for arithmetic in ARITHMETIC_NAMES
} | {("exact", "container"): PLAIN}


def checked_mode(mode: Any) -> str:
    if not isinstance(mode, str) or mode not in REWRITES:
        raise ValueError(f"mode should be 'exact' or 'fast', got {mode!r}")
    return mode


def checked_arithmetic(arithmetic: Any) -> str:
    if not isinstance(arithmetic, str) or arithmetic not in ARITHMETIC_NAMES:
        raise ValueError(f"arithmetic should be 'container' or 'pil', got {arithmetic!r}")
    return arithmetic


def checked_settings(name: str, mode: Any, arithmetic: Any) -> None:
    # The brackets around the transforms were forgotten.
    if callable(mode):
        raise TypeError(
            f"{name} takes its transforms in one list: {name}([a, b]), not {name}(a, b). "
            f"Its second argument is the mode, 'exact' or 'fast'; got {type(mode).__name__}"
        )
    checked_mode(mode)
    checked_arithmetic(arithmetic)


def refuse(pipeline: Any, others: tuple[Any, ...]) -> NoReturn:
    """Raise an error for a pipeline of images that is called with more than an image."""
    raise TypeError(
        f"{type(pipeline).__name__} takes one image, and was called with {1 + len(others)} arguments. To transform an "
        "image together with its target, use transforms of fastaug.transforms.v2, and pass both to their Compose"
    )


#: The signature of a call of a pipeline of images, which is that of torchvision's Compose.
ONE_IMAGE = inspect.Signature(
    [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in ("self", "img")]
)


class Pipeline:
    """Transforms, one after the other, in one call."""

    # The book is derived from the attributes by calls. It is neither visible in vars() nor pickled.
    __slots__ = ("__dict__", "__weakref__", "_book")
    _book: Book

    transforms: Sequence[Any]

    # Defaults, because a subclass need not call __init__, as with torchvision's.
    _mode: Any = "exact"
    _arithmetic: Any = "container"
    _call = PLAIN

    # The kernels for devices, once one is used.
    _kernels: Family | None = None

    @property
    def mode(self) -> Any:
        """``"exact"`` or ``"fast"``."""
        return self._mode

    @mode.setter
    def mode(self, mode: Any) -> None:
        # A subclass may mean something of its own by the name, and stays exact.
        self._mode = mode
        self._renew_call()

    @property
    def arithmetic(self) -> Any:
        """``"container"`` or ``"pil"``."""
        return self._arithmetic

    @arithmetic.setter
    def arithmetic(self, arithmetic: Any) -> None:
        self._arithmetic = arithmetic
        self._renew_call()

    def _renew_call(self) -> None:
        self._call, self._book = self._own_call(), Book()

    def _own_call(self) -> Call:
        mode = "fast" if self._mode == "fast" else "exact"
        return _CALLS[mode, "pil" if self._arithmetic == "pil" else "container"]

    def _settings(self) -> list[str]:
        """Return the arguments that differ from their defaults, in Python's syntax."""
        settings = ["mode='fast'"] if self._mode == "fast" else []
        return [*settings, "arithmetic='pil'"] if self._arithmetic == "pil" else settings

    def _draft_all(self, draft: Any) -> None:
        """Draft all transforms."""
        self._draft_some(draft, self.transforms)

    def _draft_some(self, draft: Any, transforms: Iterable[Any]) -> None:
        """Draft some of the transforms."""
        draft_through(transforms, draft)

    def _delivered(self, draft: Draft) -> Any:
        """Return the result for the user."""
        return draft.finish()

    def _is_own(self) -> bool:
        """Return whether __call__ is this package's. A user's subclass may do anything when it is called."""
        return is_ours(next(cls for cls in type(self).__mro__ if "__call__" in vars(cls)))

    def _begin(self, image: Any, call: Call) -> Any:
        """Return the outline of an image, for which parameters are drawn."""
        return Outline(image, call)

    def _presented(self, drawn: Any, result: Any) -> Any:
        """Return what the user gets, from the result of the only job."""
        if drawn.kind == PIL_IMAGE:
            result.info = finish.copied_info(drawn)
        return result

    def _job(self, draft: Draft) -> Job | None:
        """Return the one job that makes the user's result of a draft, or None if one job does not."""
        return finish.one_job(draft)

    def _handle(self, source: Any) -> LazyImage | None:
        """Return encoded bytes or a path as the pipeline opens them, or None for a dictionary that it does not open."""
        decode = first_of(self.transforms)
        handle = getattr(decode, "_lazy", None)
        if handle is None:
            return None if is_entry(source) else LazyImage(source)
        opened: LazyImage = handle(source)
        return opened

    def _formatted(self, result: Any) -> Any:
        """Return the result of the transforms in the format for the user."""
        return result

    def __call__(self, img: Any, *others: NoReturn) -> Any:
        if others:
            refuse(self, others)
        if not compiling():
            result = self._at_once(img)
            if result is not NotImplemented:
                return result
        return self._by_python(img)

    __call__.__signature__ = ONE_IMAGE  # type: ignore[attr-defined]

    def _at_once(self, img: Any, unpacked: bool = False) -> Any:
        """Return the result of the core, or NotImplemented, with nothing drawn, if Python must do the call.

        A sample that is `unpacked` is the tuple of the arguments of a call.
        """
        try:
            book = self._book
        except AttributeError:
            book = self._own_book()
        recipe = book.recipe
        if recipe is not None:
            if unpacked and type(recipe) is Parts:
                result = recipe.call(img, self.transforms, True)
            else:
                result = recipe.call(img, self.transforms)
            if result is not NotImplemented:
                return result
        book.renew(self)
        return NotImplemented

    def _by_python(self, *inputs: Any) -> Any:
        """Return the result of a call that the core does not do at once."""
        return self._done(self._drafted(inputs[0], self._call))

    def _own_hooks(self) -> tuple[dict[Any, Any], ...]:
        """Return the dictionaries of hooks that Python calls, so that the core does no call while one is filled."""
        return ()

    def _has_hooks(self) -> bool:
        """Return whether a call calls hooks, of this pipeline or of all modules."""
        return False

    def _then(self, other: Pipeline) -> Pipeline | None:
        """Return a pipeline that does what this one does and then another one of its settings, or None.

        It is called where neither has hooks.
        """
        return None

    def _own_book(self) -> Book:
        try:
            return self._book
        except AttributeError:
            self._book = Book()
            return self._book

    def _through(self, img: Any, transforms: Sequence[Any], last: bool, unpacked: bool) -> Any:
        """Return the result of some of the transforms: the user's, or else what user code gets.

        No image is `unpacked`.
        """
        draft = self._drafted(img, self._call)
        try:
            self._draft_some(draft, transforms)
            return self._delivered(draft) if last else draft.handed()
        finally:
            draft.call.draws.release()

    def _drafted(self, image: Any, call: Call) -> Any:
        """Return a draft of an image, with no ops."""
        draft = TransformDraft(image, call)
        if draft.device is not None:
            self._go_on(draft, draft.call)
        return draft

    def _go_on(self, draft: Any, call: Call) -> None:
        """Let what comes next to a draft be done by a call of this pipeline."""
        alone = draft.alone
        draft.call = call if alone is None or alone.device is None else call.like(family=self._family())

    def _recipe(self) -> Any:
        """Return the recipe by which the core can do a call, or None."""
        return recipe_of(self, self.transforms)

    def _run(self, img: Any, call: Call) -> Any:
        """Return the result of a call of the pipeline with other settings."""
        return self._done(self._drafted(img, call))

    def _done(self, draft: Any) -> Any:
        """Return the result of all transforms for a draft that has no ops."""
        try:
            self._draft_all(draft)
            return self._delivered(draft)
        finally:
            draft.call.draws.release()

    def _family(self) -> Family:
        if self._kernels is None:
            from fastaug._cuda.kernels import Family

            self._kernels = Family()
        return self._kernels

    def sample(self, size: Any) -> Any:
        """Draw the parameters for one image or one sample, as a call would, and process no pixels.

        The random generators advance as in a call. Your own callables, and others that fastaug cannot read, are called
        with a black image to which the earlier transforms were applied. Only these get pixels.

        Args:
            size: (height, width), or an int for a square, of an RGB image or of another input that the first transform
                takes; or an image or a sample, which is used instead of the black one and is not changed.

        Returns:
            A list of dictionaries for :meth:`replay`, one for each transform that draws: its class and its parameters,
            as plain data. Tensors that transforms of ``v2`` draw, such as displacements, stay tensors.

        Raises:
            ValueError: a transform that is called as it is draws: its parameters are not known.

        Example:
            >>> import fastaug.transforms as T
            >>> from PIL import Image
            >>> transform = T.Compose([T.RandomCrop(24), T.RandomHorizontalFlip()])
            >>> params = transform.sample((60, 80))
            >>> image = Image.effect_noise((80, 60), 90)
            >>> transform.replay(image, params) == transform.replay(image, params)
            True
        """
        tape = Recording(strict=True)
        call = self._call.like(tape=tape)
        try:
            self._draft_all(self._outlined(size, call))
        finally:
            call.draws.release()
        return tape.entries

    def _outlined(self, size: Any, call: Call) -> Any:
        """Return what stands for an image that was given, or for a black one of that size."""
        return _outline(self.transforms, size, call) if isinstance(size, (int, tuple, list)) else Outline(size, call)

    def replay(self, image: Any, params: Any, subset: bool = False) -> Any:
        """Return the transformed image or sample, with parameters that :meth:`sample` has drawn. Draws nothing.

        The same parameters apply to any number of images, in any container. Your own functions are called, and may
        draw.

        Args:
            image: as in a call with one argument; of any size that the parameters fit.
            params: what :meth:`sample` returned, unchanged or edited.
            subset: whether this pipeline has only some of the transforms that ``params`` were drawn for, in the same
                order, as a pipeline of masks may have the geometry of the one of the images. Then entries of other
                classes than the next transform's are skipped. Only False for transforms of ``v2``, which handle masks
                themselves.

        Raises:
            TypeError: ``params`` are no list of dictionaries.
            ValueError: ``params`` are of another pipeline; or, with ``subset``, lack an entry for a transform of this
                one, or are for transforms of ``v2``; or a transform that is called as it is draws.

        Example:
            >>> import fastaug.transforms as T
            >>> from PIL import Image
            >>> images = T.Compose([T.RandomCrop(24), T.ColorJitter(0.5, 0.5), T.RandomRotation(20)])
            >>> masks = T.Compose([T.RandomCrop(24), T.RandomRotation(20, fill=255)])
            >>> image, mask = Image.new("RGB", (80, 60)), Image.new("L", (80, 60))
            >>> params = images.sample(image)
            >>> images.replay(image, params).size, masks.replay(mask, params, subset=True).size
            ((24, 24), (24, 24))
        """
        tape = Replaying(params, subset, strict=True)
        result = self._run(image, self._call.like(tape=tape))
        tape.end()
        return result

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("_call", "_kernels")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if self._settings():
            self._call = self._own_call()


# The inputs of first transforms that do not take PIL images.
_FIRST = {
    "ToPILImage": ARRAY,
    **dict.fromkeys(("ConvertImageDtype", "LinearTransformation", "Normalize", "RandomErasing"), TENSOR),
}


def _outline(transforms: Iterable[Any], size: Any, call: Call) -> Outline:
    """Return the outline of a black image."""
    height, width = checked_size(size)
    first = _first(transforms)
    if first == "Decode":
        return Outline(blank(transforms, size), call)
    return Outline.of_shape(_FIRST.get(first, PIL_IMAGE), height, width, partial(blank, transforms, size), call)


def checked_size(size: Any) -> tuple[int, int]:
    height, width = (size, size) if isinstance(size, int) else tuple(size)
    if height < 1 or width < 1:
        raise ValueError(f"size should be positive, got {size!r}")
    return height, width


def blank(transforms: Iterable[Any], size: Any) -> Any:
    """Return a black image of `size`, (height, width) or an int, that the first of the transforms takes.

    Raises:
        ValueError: wrong length, or a size that is not positive.
    """
    height, width = checked_size(size)
    first = _first(transforms)
    if first == "Decode":
        return _black_png(height, width)
    kind = _FIRST.get(first, PIL_IMAGE)
    if kind == ARRAY:
        return np.zeros((height, width, 3), np.uint8)
    return torch.zeros(3, height, width) if kind == TENSOR else Image.new("RGB", (width, height))


@functools.lru_cache(maxsize=4)
def _black_png(height: int, width: int) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (width, height)).save(file, "PNG")
    return file.getvalue()


def first_of(transforms: Iterable[Any]) -> Any:
    """Return the transform that gets the image first, or None."""
    for transform in transforms:
        inner = getattr(transform, "transforms", None)
        if isinstance(transform, torch.nn.Sequential):
            inner = list(transform)
        if not isinstance(inner, (Sequence, torch.nn.ModuleList)):
            return transform
        if (first := first_of(inner)) is not None:
            return first
    return None


def _first(transforms: Iterable[Any]) -> str:
    """Return the name of the class of the first transform."""
    return type(first_of(transforms)).__name__
