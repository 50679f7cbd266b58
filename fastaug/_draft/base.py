"""The base of drafts: an image and its pending ops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import torch
from PIL import Image

from fastaug import _C
from fastaug._draft import finish
from fastaug._draft.call import PLAIN, Call, Drawn
from fastaug._draft.traced import TracedCore
from fastaug._fallback import color, warp
from fastaug._fallback import pil as pil_fallback
from fastaug._fallback import tensor as tensor_fallback
from fastaug._image import decode
from fastaug._image.lazy import LazyImage
from fastaug._program import checks, placed
from fastaug._program.eager import compiling, keeps_its_samples, level, modes, recording
from fastaug._program.job import Job
from fastaug._program.kinds import ARRAY, ENCODED, OTHER, PIL_IMAGE, TENSOR
from fastaug._program.ops import OP_BYTES

# The channels of the modes that the native core reads. 1 and P hold no colours, LAB shifts its samples on export.
_NATIVE_MODES = {"L": 1, "LA": 2, "RGB": 3, "RGBA": 4, "CMYK": 4, "YCbCr": 3, "HSV": 3}

#: Images of this many pixels and more are left to Pillow and torch, because the core counts them in 32 bits.
TOO_MANY_PIXELS = 1 << 31

# The core's sides are 32 bits wide.
_MOST_SIDE = (1 << 31) - 1

# Of _C.Draft.lost: nothing, all but the transparent colour, all.
_KEEPS_TRANSPARENCY = 1
_OF_A_JPEG = 3

#: The modes whose last band is alpha.
ALPHA_MODES = ("LA", "RGBA")

_kinds: dict[type, int] = {}

# For each subclass of Tensor whether the native core may read its pixels.
_readable: dict[type, bool] = {}
_tensor_function = torch.Tensor.__torch_function__.__func__  # type: ignore[attr-defined]
_no_function = torch._C._disabled_torch_function_impl
_Tensor = torch.Tensor
_uint8 = torch.uint8


def _kind_of(cls: type) -> int:
    kind = OTHER
    if issubclass(cls, Image.Image):
        kind = PIL_IMAGE
    elif issubclass(cls, torch.Tensor):
        kind = TENSOR
    elif issubclass(cls, (np.ndarray, placed.DeviceArray)):
        kind = ARRAY
    elif issubclass(cls, LazyImage):
        kind = ENCODED
    _kinds[cls] = kind
    return kind


def _is_readable(cls: Any) -> bool:
    """Return whether torch's functions treat a tensor of this class as a plain one, except for the result's class.

    This holds for subclasses without their own `__torch_function__`, for parameters and for tv_tensors.
    """
    known = _readable.get(cls)
    if known is None:
        function = getattr(cls.__torch_function__, "__func__", cls.__torch_function__)
        module = getattr(function, "__module__", None) or ""
        plain = function in (_tensor_function, _no_function)
        known = _readable[cls] = plain or module.startswith(("torchvision.tv_tensors.", "fastaug._tv_tensors."))
    return known


def _of_core(name: str) -> Any:
    """Return an attribute that reads the one of the core."""
    return property(lambda draft: getattr(draft.core, name))


def rule(name: str, check: Callable[..., None] | None = None) -> Any:
    """Return the method of an op: the core drafts it. If it does not, check the arguments and run a fallback."""

    def method(draft: Any, *arguments: Any) -> None:
        if getattr(draft.core, name)(*arguments):
            if check is not None:
                check(draft, *arguments)
            draft._eager(name, *arguments)

    method.__name__ = name
    return method


def _new_core(call: Call, v2: bool) -> Any:
    core: Any = _C.Draft()
    if v2:
        core.v2 = True
    if call.pillow:
        core.pillow = True
    if call.traced:
        core.traced = True
    return core


# Before the first image, while torch traces.
_NONE = TracedCore()


class DraftBase(Drawn):
    """An image and its pending ops.

    height, width, channels, kind and mode describe the image after those ops.
    """

    __slots__ = (
        "_info",  # Pillow's metadata of `image`
        "call",  # the settings that this call shares
        "core",  # what is known of the image, and the ops
        "decoded",  # `image`, if it was an encoded one that the core does not decode; else anything, or not set
        "device",  # the device that has `image` and does the ops; None for the host
        "image",  # the source
    )

    core: Any  # _C.Draft, or TracedCore

    # Of the core (csrc/draft/draft.h), for transforms and finishes to read.
    bands = _of_core("bands")
    channel_last = _of_core("channel_last")
    channels = _of_core("channels")
    copied = _of_core("copied")
    count = _of_core("count")
    first = _of_core("first")
    flat = _of_core("flat")
    floats = _of_core("floats")
    height = _of_core("height")
    kind = _of_core("kind")
    lead = _of_core("lead")
    mode = _of_core("mode")
    native = _of_core("native")
    source = _of_core("source")
    stored = _of_core("stored")
    views = _of_core("views")
    width = _of_core("width")

    #: Fallbacks for tensors, by the names of ops.
    _torch_functions: ClassVar[dict[str, Any]] = {
        **vars(tensor_fallback),
        **vars(color),
        **vars(warp),
    }

    #: Whether samples fade into a fill as in torchvision.transforms.v2.
    _v2: ClassVar[bool] = False

    def __init__(self, image: Any, call: Call | None = None) -> None:
        if call is None:
            call = PLAIN  # as a default of the argument, Dynamo would not know where it comes from
        # eager.traced, without the time for a call of it; `level` counts for tensors only.
        if compiling() or recording() or modes():
            call = call.as_traced()
        self.call = call
        self.core = _NONE if call.traced else _new_core(call, self._v2)
        self.reset(image)

    def reset(self, image: Any, read: bool = False) -> None:
        """Start again from another image. `read` means that an image of a file has its pixels."""
        self.image = image
        self.device: torch.device | None = None
        self._info: dict[Any, Any] | None = None
        core = self.core
        kind = core.begin_with(image)
        if kind == PIL_IMAGE:
            self._info = image.info or None
            return
        if kind == TENSOR and placed.device_of(image) is None:
            return
        cls = type(image)
        kind = _kinds.get(cls)
        if kind is None:
            kind = _kind_of(cls)
        if kind == PIL_IMAGE:
            self._reset_pil(image)
            if cls is not Image.Image and not read:
                self._await_pixels()
        elif kind == TENSOR:
            self._reset_tensor(image, cls)
        elif kind == ARRAY:
            shape = image.shape
            rank = len(shape)
            height, width = shape[:2] if 2 <= rank <= 3 else (0, 0)
            bands = shape[2] if rank == 3 else int(rank == 2)
            self._begin(kind, None, height, width, bands)
            core = self.core
            core.flat = rank == 2
            few = height * width < TOO_MANY_PIXELS and type(core) is _C.Draft
            core.native = few and image.dtype == np.uint8 and image.size > 0 and bands > 0
            if cls is placed.DeviceArray:
                self.device = placed.device_of(image.tensor)
        elif kind == ENCODED:
            self._reset_encoded(image)
        else:
            self._begin(kind, None, 0, 0, 0)

    def _begin(
        self, kind: int, mode: str | None, height: int, width: int, bands: int, lead: tuple[int, ...] = ()
    ) -> None:
        """Begin with an image whose samples the core does not read, as far as is known."""
        call = self.call
        if (call.traced and (kind == TENSOR or compiling())) or max(height, width, bands) > _MOST_SIDE:
            core: Any = TracedCore()
        elif type(self.core) is _C.Draft:
            core = self.core
        else:
            core = _new_core(call, self._v2)
        self.core = core
        core.begin(kind, mode, height, width, bands, lead)

    def _reset_pil(self, image: Image.Image) -> None:
        mode = image.mode
        width, height = image.size
        bands = _NATIVE_MODES.get(mode, 0)
        self._begin(PIL_IMAGE, mode, height, width, bands or len(image.getbands()))
        core = self.core
        core.native = bands > 0 and 0 < width * height < TOO_MANY_PIXELS and type(core) is _C.Draft
        self.info = image.info or None

    def _reset_tensor(self, image: torch.Tensor, cls: type) -> None:
        if level() is not None and not self.call.traced:
            self.call = self.call.as_traced()
        shape = image.shape
        rank = len(shape)
        lead: tuple[int, ...] = ()
        if rank == 3:
            bands, height, width = shape
        elif rank > 3:
            bands, height, width = shape[-3:]
            lead = tuple(shape[:-3])
        elif rank == 2:
            bands = 1
            height, width = shape
        else:
            bands = height = width = 0
        self._begin(TENSOR, None, height, width, bands, lead)
        core = self.core
        if rank == 2:
            core.flat = True
        if self.call.traced:
            return
        device = placed.device_of(image)
        plain = image
        if cls is not _Tensor:
            if image.dtype is not _uint8 or not (keeps_its_samples(cls) and _is_readable(cls)):
                return
            plain = image.as_subclass(_Tensor)
        if core.begin_with(plain) if device is None else core.begin_on_device(plain):
            self.device = device
            core.subclass = cls is not _Tensor

    @property
    def info(self) -> dict[Any, Any] | None:
        """Pillow's metadata for the result."""
        info, lost = self._info, self.core.lost
        if lost == _OF_A_JPEG:
            return pil_fallback.jpeg_info()
        if info is None or not lost:
            return info
        kept = lost == _KEEPS_TRANSPARENCY and "transparency" in info
        return {"transparency": info["transparency"]} if kept else None

    @info.setter
    def info(self, info: dict[Any, Any] | None) -> None:
        self._info = info
        self.core.lost = 0
        self.core.transparent = info is not None and "transparency" in info
        self.core.commented = info is not None and "comment" in info

    @property
    def made(self) -> bool:
        """True if the result of floats is new, and not a view of `image`."""
        core = self.core
        return bool(core.count > core.views or core.stored)

    @property
    def is_pil(self) -> bool:
        return bool(self.core.kind == PIL_IMAGE)

    @property
    def is_tensor(self) -> bool:
        return bool(self.core.kind == TENSOR)

    @property
    def by_torch(self) -> bool:
        """True if uint8 samples follow torchvision's arithmetic of tensors, not Pillow's."""
        return bool(self.core.kind == TENSOR and not self.call.pillow)

    def _await_pixels(self) -> None:
        """Handle a PIL image of another class, such as those of files, which may not have read its pixels yet."""

    def load(self) -> None:
        """Read the pixels of the image if necessary, as torchvision does before some draws."""

    def _reset_encoded(self, image: LazyImage) -> None:
        width, height = image.size
        if not image.native:
            self._begin(PIL_IMAGE, image.mode, height, width, Image.getmodebands(image.mode))
            self.core.source = ENCODED
            log = self.call.log
            before = image.keeps
            if log is not None and not before:
                log.decoding(self, f"the core does not decode this {image.format}")
            self.reset(image.view())
            self.decoded = self.image
            if log is not None and image.keeps:
                log.kept(self, before)
            return
        self._begin(PIL_IMAGE, image.mode, height, width, _NATIVE_MODES[image.mode])
        core = self.core
        core.source = ENCODED
        core.native = True
        if image.exif and image.orientation > 1:
            program = decode.ORIENT[image.orientation]
            for k in range(0, len(program), OP_BYTES):
                core.append(program[k : k + OP_BYTES])

    def dimensions(self) -> tuple[int, int, int]:
        """Return (channels, height, width).

        Raises:
            TypeError: the object is not an image.
        """
        if self.core.kind == OTHER or not self.core.bands or (self.core.kind == ARRAY and not self.core.native):
            self._need_image()
        return self.core.channels, self.core.height, self.core.width

    def _need_image(self) -> None:
        if self.core.kind == OTHER:
            pil_fallback.dimensions(self.image)
        elif self.core.kind == ARRAY:
            if not self.core.bands or self.image.dtype != np.uint8:
                self.refuse_array()
        elif self.core.kind == TENSOR and not self.core.bands:
            checks.need_image(self.image)

    def take(self, transform: Any, step: Any) -> None:
        """Draft a transform by its step (through.Step), with parameters that it draws or that the tape has."""
        tape = self.call.tape
        prepare, sample, do = step
        if prepare is not None:
            self._do(prepare, transform, None)
        params = None
        if sample is not None:
            params = sample(transform, self) if tape is None else tape.take(transform, self)
        self._do(do, transform, params)

    def _do(self, do: Callable[[Any, Any, Any], None], transform: Any, params: Any) -> None:
        """Do a part of a step that draws nothing."""
        do(transform, self, params)

    def job(self) -> Job:
        """Return the job of one image of at most four channels."""
        program, source = finish.borrowed(self)
        core = self.core
        dtype = torch.float32 if core.stored or core.floats else torch.uint8
        size = (core.height, core.width, core.channels)
        return Job(program, source, core.kind, size, core.mode, dtype, core.flat, core.channel_last)

    def finish(self) -> Any:
        """Do the ops and return the image. Give the random generator back to torch."""
        self.choose_order()
        return self.handed()

    def handed(self) -> Any:
        """Do the same, with the samples in torchvision's order in memory, in which user code may draw."""
        self.call.draws.release()
        if self.call.beside is not None:
            self.call.beside.settle()
        return finish.finish(self)

    def choose_order(self) -> None:
        """Choose the faster order in memory for a result that no other code has seen."""
        self.core.choose_order()

    def finish_as(self, dtype: torch.dtype | None, channels_last: bool) -> torch.Tensor | None:
        """Do the same in another dtype or memory format. Return None, with nothing done, if that takes a step more."""
        self.call.draws.release()
        stored: torch.Tensor | None = finish.finish(self, (torch.float32 if dtype is None else dtype, channels_last))
        return stored

    def flush(self) -> Any:
        """Do the ops, continue from their result, and return it."""
        image = self.handed()
        if image is not self.image or self.core.count:
            self.reset(image)
        return image

    def by_exact_rules(self) -> None:
        """Do the pending ops exactly, because another program may magnify their roundings."""
        if self.call.rewrites != _C.EXACT:
            self.call = self.call.like(rewrites=_C.EXACT)

    def shorten(self) -> None:
        """Do the ops, because a program holds few more."""
        self.flush()

    def apart(self, work: Callable[[Any], Any], result: Any = None) -> None:
        """Do `work` to this draft. It works on the image itself, and keeps its size and container.

        If the result is not an image, it is like `result`.
        """
        work(self)

    @property
    def alone(self) -> Any:
        return self

    # Fallbacks.

    def _eager(self, name: str, *arguments: Any) -> None:
        """Run a fallback on the image so far, and continue from its result."""
        if self.call.log is not None:
            self.call.log.eager(self, name)
        if self.core.count:
            self.by_exact_rules()  # the fallback may magnify their roundings
        image = self.handed()
        if isinstance(image, torch.Tensor):
            result = self._torch_functions[name](image, *arguments)
        elif isinstance(image, np.ndarray):
            result = self._eager_array(image, name, *arguments)
        else:
            result = getattr(pil_fallback, name)(image, *arguments)
        self.reset(result)

    def _eager_tensor(self, name: str, *arguments: Any) -> None:
        """Run a fallback for tensors on the image so far, in any container."""
        if self.core.kind == OTHER:
            raise TypeError(f"img should be PIL Image or Tensor. Got {type(self.image)}")
        if self.core.kind == TENSOR:
            self._eager(name, *arguments)
        else:
            self._as_tensor(name, self.core.mode, *arguments)

    def _as_tensor(self, name: str, mode: str | None, *arguments: Any) -> None:
        """Run a fallback for tensors on a PIL image or an array. `mode` is that of the resulting PIL image."""
        if self.call.log is not None:
            self.call.log.eager(self, name)
        if self.core.count:
            self.by_exact_rules()
        image = self.finish()
        function = self._torch_functions[name]
        if self.core.kind == PIL_IMAGE:
            result = function(pil_fallback.pil_to_tensor(image), *arguments)
            self.reset(tensor_fallback.to_pil_image(result, mode))
            return
        if image.dtype != np.uint8 or image.ndim not in (2, 3):
            self.refuse_array()
        planes = np.ascontiguousarray(np.moveaxis(np.atleast_3d(image), 2, 0))
        result = function(torch.from_numpy(planes), *arguments).permute((1, 2, 0)).contiguous().numpy()
        self.reset(result[:, :, 0] if image.ndim == 2 else result)

    def _eager_array(self, array: np.ndarray, name: str, *arguments: Any) -> np.ndarray:
        """Return Pillow's result for an empty or very large array, or Pillow's error for wrong arguments."""
        if (
            name == "crop"
            and array.dtype == np.uint8
            and self.core.bands
            and all(type(side) is int for side in arguments)
        ):
            top, left, height, width = arguments
            if 0 <= top <= top + height <= self.core.height and 0 <= left <= left + width <= self.core.width:
                part: np.ndarray = array[top : top + height, left : left + width].copy()
                return part
        if array.dtype != np.uint8 or not (array.ndim == 2 or (array.ndim == 3 and array.shape[2] in (1, 3))):
            self.refuse_array()
        image = tensor_fallback.to_pil_image(array, None)
        result = np.array(getattr(pil_fallback, name)(image, *arguments))
        return result[:, :, None] if result.ndim < array.ndim else result

    def refuse_array(self) -> None:
        raise TypeError(
            "An ndarray image should be uint8 of shape (height, width) or (height, width, channels), "
            f"got {self.image.dtype} of shape {self.image.shape}"
        )
