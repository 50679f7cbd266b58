"""Image processors of transformers as they are, whose images are pending tensors until the end of a call."""

from __future__ import annotations

import contextlib
import contextvars
import copy
import functools
import queue
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from PIL import Image

from fastaug import _C
from fastaug._image.lazy import LazyImage
from fastaug._program import pil
from fastaug._program.eager import traced
from fastaug.adapters import _arrays, _pending, _replay
from fastaug.adapters._cells import Cell, Move, Photo, Store
from fastaug.adapters._images import Images
from fastaug.adapters._pending import Call

_active: contextvars.ContextVar[Call | None] = contextvars.ContextVar("fastaug_processor_call", default=None)

#: What images may be besides what transformers takes.
_ENCODED = (Path, bytes, bytearray, LazyImage)

#: Sizes of images whose moves are remembered.
_MOST_DRAFTS = 4096

_DTYPES = (None, torch.float32, torch.float16, torch.bfloat16)


class Memory(threading.local):
    """Memory of the last two calls of a thread, for the one after them."""

    def __init__(self) -> None:
        self.turns: tuple[dict[Any, list[torch.Tensor]], dict[Any, list[torch.Tensor]]] = ({}, {})
        self.turn = 0

    def begin(self) -> Callable[[tuple[int, ...], torch.dtype], torch.Tensor]:
        """Return a function that hands out memory for the results of one call."""
        self.turn ^= 1
        kept = self.turns[self.turn]
        free = {key: list(tensors) for key, tensors in kept.items()}
        kept.clear()

        def empty(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
            left = free.get((shape, dtype))
            tensor = left.pop() if left else torch.empty(shape, dtype=dtype)
            kept.setdefault((shape, dtype), []).append(tensor)
            return tensor

        return empty


class Options:
    """How a drop-in makes its results."""

    def __init__(self, dtype: torch.dtype | None, recycle: bool, num_threads: int | None) -> None:
        if dtype not in _DTYPES:
            raise ValueError(f"dtype should be float32, float16 or bfloat16, got {dtype}")
        if num_threads is not None and (type(num_threads) is not int or num_threads < 1):
            raise ValueError(f"num_threads should be a positive int, got {num_threads}")
        self.dtype, self.recycle, self.num_threads = dtype, bool(recycle), num_threads
        self.memory = Memory()
        self.plans = _replay.Plans()

    def __reduce__(self) -> Any:
        return Options, (self.dtype, self.recycle, self.num_threads)

    def call(self, logs: bool) -> Call:
        call = Call(dtype=self.dtype, logs=logs)
        if self.recycle:
            call.empty = self.memory.begin()
        if self.num_threads is not None and self.num_threads > 1:
            call.run = functools.partial(_run_on, self.num_threads)
        return call


def _run_on(threads: int, jobs: Sequence[Any]) -> None:
    """Run jobs on several threads. Jobs of the same image stay together."""
    groups: dict[int, list[Any]] = {}
    for job in jobs:
        groups.setdefault(id(job[1]), []).append(job)
    left = queue.SimpleQueue[list[Any]]()
    for group in groups.values():
        left.put(group)
    errors: list[BaseException] = []

    def work() -> None:
        with contextlib.suppress(queue.Empty):
            while not errors:
                group = left.get_nowait()
                try:
                    _C.run(group)
                except BaseException as error:
                    errors.append(error)

    helpers = [threading.Thread(target=work, daemon=True) for _ in range(min(threads, len(groups)) - 1)]
    for helper in helpers:
        helper.start()
    work()
    for helper in helpers:
        helper.join()
    if errors:
        raise errors[0]


#: Of drop-ins that their class made.
_PLAIN = Options(None, False, None)


class DropIn:
    """A class that stands before that of a model, and makes all pending tensors of a result at once."""

    __slots__ = ("_fastaug",)

    _fastaug: Options
    _backend: type
    _by_pillow = False
    _stacks_late = False

    def preprocess(self, images: Any, *args: Any, **kwargs: Any) -> Any:
        if _active.get() is not None or traced():
            return super().preprocess(images, *args, **kwargs)  # type: ignore[misc]
        return self._run(super().preprocess, images, args, kwargs, False)[0]  # type: ignore[misc]

    def fetch_images(self, images: Any) -> Any:
        """Return the images of files, bytes and handles, not read yet, and of addresses."""
        return _unread(images) if isinstance(images, _ENCODED) else super().fetch_images(images)  # type: ignore[misc]

    def _run(self, own: Any, images: Any, args: Any, kwargs: Any, logs: bool) -> tuple[Any, Call]:
        options = getattr(self, "_fastaug", _PLAIN)
        call = options.call(logs)
        given = _opened(images, call, self._by_pillow)
        key = None
        if not logs and (not self._by_pillow or (self._stacks_late and kwargs.get("return_tensors") == "pt")):
            key = options.plans.key(self, self._backend, given, args, kwargs)
        plan = None if key is None else options.plans.get(key)
        token = _active.set(call)
        try:
            result = None if plan is None else plan.run(_replay.photos_of(given), call)
            if result is None:
                again = key is not None and options.plans.again(key)
                result = self._made(own, given, args, kwargs, call, (options.plans, key) if again else None)
        except Exception as error:
            if logs:
                call.own.append(f"everything, after {type(error).__name__}: {error}")
            result = None
        finally:
            _active.reset(token)
        if result is None:
            result = own(_loaded(images), *args, **kwargs)
        if call.dtype is not None and hasattr(result, "to"):
            result = result.to(call.dtype)
        return result, call

    def _made(self, own: Any, given: Any, args: Any, kwargs: Any, call: Call, kept: Any) -> Any:
        """Return the result of the model's own code, and keep a plan of it under a key, if there is one."""
        states = None if kept is None else _replay.states()
        if kept is not None and kept[0].watches(self, self._backend):
            given = _leaf(given, lambda image: _replay.watched(image, call))
        # Where no code of the model's sees arrays in a batch, they need not be arrays before.
        late = self._stacks_late and (kwargs.get("return_tensors") or getattr(self, "return_tensors", None))
        result = own(given, *args, **({**kwargs, "return_tensors": None} if late else kwargs))
        if late:
            _arrays.stack(result, call)
        if kept is not None and states == _replay.states():
            plans, key = kept
            plans.keep(key, result, [_source_of(image) for image in _replay.leaves(given)], call)
        _pending.make(_pending.pending_in(result), call)
        result = _pending.settled(result, (_pending.Pending, _arrays.PendingArray))
        if late:
            result.convert_to_tensors(late)
        return result

    def explain(self, images: Any, *args: Any, **kwargs: Any) -> Report:
        """Return what of a call is native, and what is the model's own code.

        Args:
            images, args, kwargs: those of a call, which is made.

        Returns:
            An object that prints as a list. Its attributes are ``native`` and ``own``, lists of words.
        """
        return Report(*self._explained(images, args, kwargs))

    def _explained(self, images: Any, args: Any, kwargs: Any) -> tuple[str, list[str], list[str]]:
        _, call = self._run(super().preprocess, images, args, kwargs, True)  # type: ignore[misc]
        return type(self).__name__, call.native, call.own

    def __reduce__(self) -> Any:
        return _remade, (type(self).__mro__[2], dict(vars(self)), getattr(self, "_fastaug", _PLAIN))

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.__reduce__()


class Report:
    """A list of what is native in a call of an image processor, and of what the model's own code did.

    Attributes:
        name: of the class of the processor.
        native: the tensors that were made natively, each with what was done to it.
        own: what the model's own code did to samples.
    """

    def __init__(self, name: str, native: list[str], own: list[str]) -> None:
        self.name, self.native, self.own = name, native, own

    def __str__(self) -> str:
        lines = [self.name, "native:", *(f"  {one}" for one in self.native or ["nothing"])]
        return "\n".join([*lines, "the model's own code:", *(f"  {one}" for one in self.own or ["nothing"])])

    __repr__ = __str__


def _source_of(image: Any) -> Any:
    """Return what a photo of an image of a call has, or is."""
    return image.cells[0].photo if isinstance(image, Images) else _replay.unwatched(image)


def _leaf(value: Any, take: Callable[[Any], Any]) -> Any:
    if type(value) in (list, tuple):
        return type(value)(_leaf(one, take) for one in value)
    return take(value)


def _opened(images: Any, call: Call, pillow: bool) -> Any:
    """Return the images of a call with pending tensors in the places of files, bytes and handles."""

    def opened(image: Any) -> Any:
        if isinstance(image, _ENCODED):
            image = _unread(image)
        if type(image) is not Unread or pillow:
            return image
        width, height = image.size
        return Images.of_photo(call, Photo(image.handle, (3, height, width)))

    return _leaf(images, opened)


def _loaded(images: Any) -> Any:
    """Return the images of a call with PIL images in the places of files, bytes and handles."""
    return _leaf(images, lambda image: _handle(image).load() if isinstance(image, _ENCODED) else image)


def _handle(image: Any) -> LazyImage:
    return image if isinstance(image, LazyImage) else LazyImage(image, "RGB")


class Unread(Image.Image):
    """A PIL image of a handle, which Pillow's methods load when they need samples, as those of an opened file."""

    def __init__(self, handle: LazyImage) -> None:
        super().__init__()
        self.handle = handle
        self._mode, self._size = "RGB", handle.size

    def load(self) -> Any:
        if self._im is None:
            self.im = self.handle.load().im
        return super().load()


def _unread(image: Any) -> Image.Image:
    """Return the image of a file, bytes or a handle, loaded if the core does not decode it as RGB."""
    handle = _handle(image)
    plain = handle.native and handle.mode == "RGB" and not (handle.exif and handle.orientation > 1)
    return Unread(handle) if plain else handle.load()


@functools.cache
def _natives() -> dict[type, type]:
    """Return what stands between the classes of models and each backend of the installed transformers."""
    try:
        from transformers.image_processing_backends import TorchvisionBackend as fast
    except ImportError:
        from transformers.image_processing_utils_fast import BaseImageProcessorFast as fast

        return {fast: _native_of(fast)}
    from transformers.image_processing_backends import PilBackend

    return {fast: _native_of(fast), PilBackend: _arrays.native_of(PilBackend, _active.get)}


def _native_of(backend: Any) -> type:
    intake = "process_image" if hasattr(backend, "process_image") else "_process_image"

    def process_image(self: Any, image: Any, *args: Any, **kwargs: Any) -> Any:
        call = _active.get()
        theirs = getattr(super(native, self), intake)
        if call is None:
            return theirs(image, *args, **kwargs)
        if not args and str(kwargs.get("device") or "cpu") == "cpu":
            if isinstance(image, _pending.Pending):
                return image
            image = _replay.unwatched(image)
            if isinstance(image, Image.Image) and image.mode == "RGB" and "transparency" not in image.info:
                image.load()
                width, height = image.size
                if width and height:
                    return Images.of_photo(call, Photo(image, (3, height, width)))
        return _held(theirs(image, *args, **kwargs), call)

    def rescale_and_normalize(
        self: Any,
        images: Any,
        do_rescale: Any,
        rescale_factor: Any,
        do_normalize: Any,
        image_mean: Any,
        image_std: Any,
    ) -> Any:
        theirs = super(native, self).rescale_and_normalize
        if isinstance(images, Images) and all(getattr(type(self), name) is plain for name, plain in plains):
            store = _store(self, images, do_rescale, rescale_factor, do_normalize, image_mean, image_std)
            done = images.stored(store) if store is not None else NotImplemented
            if done is not NotImplemented:
                return done
        return theirs(images, do_rescale, rescale_factor, do_normalize, image_mean, image_std)

    names = ("rescale", "normalize", "_fuse_mean_std_and_rescale_factor")
    plains = [(name, getattr(backend, name)) for name in names]
    names_ = {intake: process_image, "rescale_and_normalize": rescale_and_normalize, "__slots__": ()}
    native: Any = type("Native", (backend,), names_)
    made: type = native
    return made


def _held(made: Any, call: Call) -> Any:
    """Return a pending tensor of a finished one, if it is an image of bytes."""
    if type(made) is not torch.Tensor or made.dtype is not torch.uint8 or made.ndim != 3 or not made.is_cpu:
        return made
    channels, height, width = made.shape
    if not 1 <= channels <= 4 or not made.numel() or not made.is_contiguous():
        return made
    return Images.of_photo(call, Photo(made, (channels, height, width)))


def _store(
    processor: Any,
    images: Images,
    do_rescale: Any,
    rescale_factor: Any,
    do_normalize: Any,
    image_mean: Any,
    image_std: Any,
) -> Store | None:
    """Return what the processor makes of samples; None where that is not known."""
    mean, std, rescale = processor._fuse_mean_std_and_rescale_factor(
        do_normalize=do_normalize,
        image_mean=image_mean,
        image_std=image_std,
        do_rescale=do_rescale,
        rescale_factor=rescale_factor,
        device=images.device,
    )
    if not do_normalize:
        # A product with an int stays bytes.
        return (rescale_factor, (), ()) if rescale and type(rescale_factor) is float else None
    numbers = [torch.as_tensor(values, dtype=torch.float32).flatten().tolist() for values in (mean, std)]
    channels = images.chw[0]
    means, stds = (tuple(one * channels if len(one) == 1 else one) for one in numbers)
    if len(means) != channels or len(stds) != channels or not all(stds) or not _finite(means + stds):
        return None
    return 1.0, means, stds


def _finite(values: Sequence[float]) -> bool:
    return all(abs(value) < float("inf") for value in values)


_made: dict[type, type] = {}


def _class_of(cls: Any) -> Any:
    """Return the class of drop-ins for processors of a class; None if it has no known backend."""
    known = _made.get(cls)
    if known is None:
        native = next((native for backend, native in _natives().items() if issubclass(cls, backend)), None)
        if native is None:
            return None
        names = {name: getattr(cls, name) for name in ("__module__", "__qualname__", "__doc__")}
        backend: Any = native.__mro__[1]
        names["_backend"] = backend
        names["_by_pillow"] = getattr(native, "by_pillow", False)
        names["_stacks_late"] = names["_by_pillow"] and cls._preprocess is backend._preprocess
        known = _made[cls] = type(cls.__name__, (DropIn, cls, native), {**names, "__slots__": ()})
    return known


def _remade(cls: Any, state: dict[str, Any], options: Options) -> Any:
    made = _class_of(cls)
    drop_in = made.__new__(made)
    vars(drop_in).update(state)
    drop_in._fastaug = options
    return drop_in


def is_known(p: Any) -> bool:
    """Return whether this is an image processor of a known backend."""
    return isinstance(p, DropIn) or _class_of(type(p)) is not None


def is_by_pillow(p: DropIn) -> bool:
    return p._by_pillow


def is_fixed(p: Any) -> bool:
    """Return whether a drop-in makes images of one size, by code that is all of its backend."""
    size = {name for name, value in dict(getattr(p, "size", None) or {}).items() if value}
    methods = ("preprocess", "_preprocess", "resize", *_replay.WHOLE_INTAKE)
    own = any(callable(value) for value in vars(p).values())
    return not own and size == {"height", "width"} and _replay.only_pass_on(type(p), methods, p._backend)


def drafted(p: Any, height: int, width: int) -> tuple[tuple[Move, ...], Store]:
    """Return what a drop-in does to an RGB image of a size, whose samples it does not see.

    Raises:
        ValueError: if it does anything else, which the message names.
    """
    plans = p._fastaug.plans
    key = ("drafted", height, width)
    known: tuple[tuple[Move, ...], Store] | None = plans.drafts.get(key)
    if known is None:
        while len(plans.drafts) >= _MOST_DRAFTS:
            plans.drafts.pop(next(iter(plans.drafts)), None)
        known = plans.drafts[key] = _drafted(p, height, width)
    return known


def _drafted(p: Any, height: int, width: int) -> tuple[tuple[Move, ...], Store]:
    call = Call(logs=True)
    image = pil.blank("RGB", width, height)
    token = _active.set(call)
    error: Exception | None = None
    try:
        result = super(DropIn, p).preprocess(image, return_tensors=None)
        names = list(result) if hasattr(result, "items") else [type(result).__name__]
        found = result["pixel_values"] if names == ["pixel_values"] else None
    except Exception as raised:
        error, names, found = raised, [], None
    finally:
        _active.reset(token)
    alone = isinstance(found, list) and len(found) == 1
    value = found[0] if alone else found  # type: ignore[index]
    cells: Sequence[Cell] = ()
    if type(value) is Images and value.lead == (() if alone else (1,)):
        cells = value.cells
    elif type(value) is _arrays.PendingArray:
        cells = [value.cell]
    cell = cells[0] if len(cells) == 1 else None
    if cell is None or cell.store is None or cell.window is not None or call.own or call.touched:
        did = "; ".join(dict.fromkeys(call.own)) or f"pixel_values of {type(value).__name__}"
        if error is not None:
            did = f"{type(error).__name__}: {error}"
        elif names != ["pixel_values"]:
            did = ", ".join(names)
        raise ValueError(
            f"processor should return one image, resized, cropped and normalized; {type(p).__name__} gives {did}"
        )
    return cell.moves, cell.store


def drop_in(p: Any, options: Options) -> Any:
    """Return a processor like another one, or that one itself if its backend is not known."""
    if isinstance(p, DropIn):
        return _remade(type(p).__mro__[2], dict(vars(p)), options)
    if _class_of(type(p)) is not None:
        return _remade(type(p), dict(vars(p)), options)
    inner = getattr(p, "image_processor", None)
    if inner is None:
        return p
    whole = copy.copy(p)
    whole.image_processor = drop_in(inner, options)
    return whole


class Installed:
    """A switch that is on until ``remove``, or to the end of a ``with`` block."""

    def __init__(self, options: Options) -> None:
        from transformers.image_processing_base import ImageProcessingMixin

        original = vars(ImageProcessingMixin)["from_dict"]

        def from_dict(cls: Any, *args: Any, **kwargs: Any) -> Any:
            made = original.__func__(cls, *args, **kwargs)
            if isinstance(made, tuple):
                return (drop_in(made[0], options), *made[1:])
            return drop_in(made, options)

        self._class: Any = ImageProcessingMixin
        self._ours, self._original = classmethod(functools.wraps(original.__func__)(from_dict)), original
        self._class.from_dict = self._ours

    def remove(self) -> None:
        """Have ``from_pretrained`` hand out the processors of transformers again."""
        if vars(self._class)["from_dict"] is self._ours:
            self._class.from_dict = self._original

    def __enter__(self) -> Installed:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()
