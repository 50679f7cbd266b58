"""LazyImage: encoded images that decode on demand."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from PIL import Image, ImageOps

from fastaug import _C
from fastaug._image import decode, pillow
from fastaug._image.assembled import Assembled
from fastaug._image.encoded import CHANNELS, NOT_DECODED, Encoded, check_mode
from fastaug._image.kept import Kept, Never, Once

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


# Attributes of Pillow's images that are not in their class.
_OF_INSTANCES = ("info", "palette")

# Methods that change an image in place, which a handle cannot support.
_CHANGING = frozenset(
    ("alpha_composite", "apply_transparency", "frombytes", "paste", "putalpha", "putdata", "putpalette", "putpixel")
    + ("readonly", "seek", "thumbnail")
)

# Sources that the core reads by itself.
_PLAIN = (str, bytes, _C.Member)

# Attributes that depend on the mode and the metadata alone.
_OF_METADATA = ("getbands", "getexif", "getxmp", "has_transparency_data", "info")


class _Hinting(type):
    """A class whose repr, which error messages of other packages print, gives advice."""

    def __repr__(cls) -> str:
        return f"{super().__repr__()} (an encoded image: its .load() gives the PIL image)"


class LazyImage(Encoded, metaclass=_Hinting):
    """An encoded image that decodes its pixels on demand, and only those that are needed.

    Every transform and ``Compose`` of fastaug accepts it instead of the image. It pickles as its path or bytes. The
    file of a path is read at each use. Pixels are kept from the second view on if views follow each other closely: at
    most 64 MiB, until :meth:`release` or until other handles need the room. A JPEG that is used again later, as in the
    next epoch, gets an index in memory, which makes crops of large images several times as fast.

    An .npy file is mapped into memory, until :meth:`release` or until thousands of others are mapped. As with
    ``numpy.memmap``, truncating it meanwhile ends the process by a bus error, but replacing it by ``os.replace`` is
    safe.

    It is not a ``PIL.Image.Image``, but has its methods and attributes except those that change it, which load the
    image when they are used. Functions that check the class, such as torchvision's and ``Image.paste``, need the result
    of :meth:`load`.

    Args:
        source: as for :func:`fastaug.io.imread`, or a dictionary of ``bytes`` and ``path``, as in undecoded Hugging
            Face datasets, of which bytes are preferred. A file is read at once.
        mode: one of Pillow's modes to convert to, or None for the file's own.
        exif, jpeg_tables, colorspace: as for :func:`fastaug.io.imread`.

    Raises:
        TypeError: ``source`` has another type, or ``mode`` is not a string.
        ValueError: unknown ``mode`` or ``colorspace``; a dictionary without bytes and path; an ndarray or a tensor of
            another shape, dtype or device; ``jpeg_tables`` that are not a JPEG stream.

    Example:
        >>> import fastaug
        >>> import numpy as np
        >>> from fastaug.io import LazyImage
        >>> image = LazyImage(fastaug.sample_file())
        >>> image.size, image.mode, image.format
        ((451, 300), 'RGB', 'JPEG')
        >>> np.asarray(image).shape
        (300, 451, 3)
    """

    __slots__ = ("_info", "_kept")

    _kept: Kept

    def _reset(self) -> None:
        super()._reset()
        self._kept = Kept()
        self._info: dict[Any, Any] | None = None

    def __repr__(self) -> str:
        if isinstance(self._source, Assembled):
            return f"<LazyImage of {self._source!r}, mode={self.modes[-1]!r}>"
        name = repr(self.filename) if self.filename is not None else f"<{len(self._source)} bytes>"
        mode = repr(self.modes[-1]) if self.modes else None
        exif = ", exif=True" if self.exif else ""
        tables = "" if self._tables is None else f", jpeg_tables=<{len(self._tables)} bytes>"
        colorspace = "" if self.colorspace is None else f", colorspace={self.colorspace!r}"
        return f"LazyImage({name}, mode={mode}{exif}{tables}{colorspace})"

    @overload
    def convert(self, mode: str) -> LazyImage: ...
    @overload
    def convert(
        self, mode: str | None = None, matrix: Any = None, dither: Any = None, palette: Any = ..., colors: int = ...
    ) -> LazyImage | Image.Image: ...
    def convert(
        self,
        mode: str | None = None,
        matrix: Any = None,
        dither: Any = None,
        palette: Any = Image.Palette.WEB,
        colors: int = 256,
    ) -> LazyImage | Image.Image:
        """Return a handle of the same image, converted to another mode.

        With other arguments than the mode, or without a mode, return a PIL image, as ``Image.convert`` does.

        Raises:
            TypeError: ``mode`` is not a string.
            ValueError: unknown ``mode``.
        """
        if mode is None or matrix is not None or dither is not None or palette != Image.Palette.WEB or colors != 256:
            return self._as_pillow().convert(mode, matrix, dither, palette, colors)
        check_mode(mode)
        if self.modes and self.modes[-1] == mode:
            return self
        other = LazyImage.__new__(LazyImage)
        other.__setstate__(self.__getstate__())
        other.modes = (*self.modes, mode)
        return other

    def __getattr__(self, name: str) -> Any:
        # hasattr() must not decode anything, except for attributes that are not methods.
        if name.startswith("_") or (name not in _OF_INSTANCES and not hasattr(Image.Image, name)):
            raise AttributeError(f"'LazyImage' object has no attribute {name!r}", name=name, obj=self)
        if hasattr(LazyImage, name):
            return object.__getattribute__(self, name)  # a property of ours, which raised an AttributeError
        if name in _CHANGING:
            raise AttributeError(
                f"an encoded image cannot be changed, and has no {name!r}: change the image that its load() gives",
                name=name,
                obj=self,
            )
        if callable(getattr(Image.Image, name, None)):
            return partial(self._do, name)
        return getattr(self._asked(name), name)

    def _do(self, method: str, *args: Any, **kwargs: Any) -> Any:
        return getattr(self._asked(method), method)(*args, **kwargs)

    def _asked(self, name: str) -> Image.Image:
        """Return an image that has the attribute: one pixel with the metadata if these suffice."""
        if name not in _OF_METADATA or not self.native:
            return self._as_pillow()
        image = Image.new(self.mode, (1, 1))
        image.info = self._metadata()
        return image

    def _as_pillow(self) -> Image.Image:
        """Return load(), with the metadata that Pillow's image would have."""
        if self.steps()[0] is not None:
            info = self._metadata()  # first, so that its bytes are not kept beside pixels
            image = self.load()
            image.info = info
            return image
        image = self.load()
        if self.exif and self.orientation > 1:
            image.info = _turned(image.info)
        return image

    def _metadata(self) -> dict[Any, Any]:
        """Return `info` of Pillow's image of a file that the core decodes."""
        if self._info is None:
            data, _ = self.encoded(keep=not self.keeps)
            if isinstance(data, Assembled):
                return {}
            # The metadata of a JPEG precede the pixels, and conversions do not change them.
            image = self.open(data) if self.format == "JPEG" else self.pil()
            self._info = _turned(image.info) if self.exif and self.orientation > 1 else image.info
        return self._info.copy()

    def _new(self, im: Any) -> Image.Image:
        """Make a result for functions of Pillow like Image._new."""
        return self._asked("info")._new(im)

    def in_memory(self) -> LazyImage:
        """Return a handle for one use with the file's bytes and header, or this one if it keeps pixels or a map."""
        if self.keeps:
            return self
        data, _ = self.encoded()
        if self._map is not None:
            return self
        other = LazyImage.__new__(LazyImage)
        other.__setstate__((data, *self.__getstate__()[1:]))
        other._kept = Never()
        other._header, other._orientation = self.header, self._orientation
        other._index = self.index()
        return other

    def plain_source(self) -> tuple[str | bytes | _C.Member, str | None, bool, _C.ScanIndex | None] | None:
        """Return a path, bytes or a member, the mode, whether pixels are turned, and the index, and count a use.

        None if only the handle can open the image, or keeps its pixels or a map.
        """
        source = self._source
        if not self.is_plain or self._map is not None or self.keeps or not isinstance(source, _PLAIN):
            return None
        return source, self.modes[0] if self.modes else None, self.exif, self.index()

    def one_view(self) -> tuple[str | bytes | _C.Member, str | None, bool, _C.ScanIndex | None] | None:
        """Return the same for a call that opens the image by itself, or None if the handle should do so.

        The call then counts the view by :meth:`viewed`.
        """
        kept = self._kept
        shared = type(kept) is Once or (type(kept) is Kept and kept.expects_views())
        return None if shared or self.is_at_hand else self.plain_source()

    def viewed(self) -> None:
        """Count a view of pixels that the handle does not keep."""
        if type(self._kept) is Kept:
            self._kept.use(view=True)

    def once(self) -> LazyImage:
        """Return a handle for all views of one call, for which the file is read and decoded once."""
        pixels = self._use(view=True)
        other = LazyImage.__new__(LazyImage)
        other.__setstate__(self.__getstate__())
        other._header, other._orientation = self.header, self._orientation
        other._map = self.encoded()
        other._kept = Once(pixels, self.native)
        return other

    @property
    def native(self) -> bool:
        kept = self._kept
        return kept.native if type(kept) is Once else super().native

    def load(self) -> Image.Image:
        """Return the image as a PIL image, oriented if ``exif`` is set.

        If the core decodes it, its ``info`` is empty. The handle's ``info`` has the metadata.

        Raises:
            DecodeError: the image cannot be decoded.
        """
        return self._loaded(self._use(view=False))

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("copy=False cannot be had: an encoded image has to be decoded into an array")
        pixels = self._use(view=False)
        array = decode.read(self) if pixels is None else decode.store(self._loaded(pixels))
        return array if dtype is None else array.astype(dtype, copy=False)

    def release(self) -> None:
        """Free the pixels or the map that it keeps. The next use reads the file again."""
        self._kept.give_back()
        self._kept = Kept()
        self._info = self._index = None
        if self._map is not None:
            self._map = self._header = None

    @property
    def keeps(self) -> bool:
        """True while it keeps its pixels."""
        return self._kept.pixels is not None

    def view(self) -> Image.Image:
        """Return load() for a transform."""
        return self._loaded(self._use(view=True))

    def source(self) -> _C.Source:
        kept = self._kept
        if type(kept) is Once and kept.source is not None and kept.deferred is None:
            return kept.source
        pixels = self._use(view=True)
        if isinstance(pixels, np.ndarray):
            return _C.from_array(pixels)
        if type(kept) is not Once:
            return super().source()
        if kept.deferred is not None:
            raise kept.deferred
        # The core decodes one source once for all jobs of a call.
        if kept.source is None:
            kept.source = super().source()
        return kept.source

    def pil(self, deferred: Exception | None = None) -> Image.Image:
        kept = self._kept
        if type(kept) is not Once:
            return super().pil(deferred)
        if kept.pil is None:
            kept.deferred = deferred
            kept.pil = super().pil(deferred)
        return kept.pil.copy()  # each view may write to its own

    def _loaded(self, pixels: np.ndarray | Image.Image | None) -> Image.Image:
        if pixels is None:
            return decode.load(self)
        return pixels.copy() if isinstance(pixels, Image.Image) else decode.oriented(self, pixels)

    def _use(self, view: bool) -> np.ndarray | Image.Image | None:
        """Count a use, and return the pixels that the handle keeps, which are read-only, or None.

        They are stored() pixels if the core decodes the image to its mode, otherwise the result of load(). In the
        file's own mode that is an object of the file's, which is not kept. `view` is True for a transform.
        """
        kept = self._kept
        if type(kept) is Never:
            return None
        if type(kept) is Once:
            return self._used_once(kept)
        pixels = kept.pixels
        if pixels is None:
            self.encoded(keep=True)  # raises before the use is counted
            if self.format == "NPY" and self.native:
                return None  # the map has them
        if not kept.use(view) or pixels is not None:
            return pixels
        native = self.native
        if not native and not self.modes:
            return None
        width, height = self.header[:2]
        if not kept.make_room(height * width * (CHANNELS[self.mode] if native else pillow.bytes_of(self.mode))):
            return None
        try:
            pixels = decode.stored(self) if native else decode.load(self)
        except (*NOT_DECODED, MemoryError):
            # Regions of the sound part can still be decoded.
            self._kept = Never()
        finally:
            kept.keep(pixels)
        return pixels

    def _used_once(self, kept: Once) -> np.ndarray | Image.Image | None:
        """Return the pixels like `_use`, decoded as a whole for further views unless all run together."""
        native = kept.native
        if kept.pixels is not None or kept.deferred is not None or (native and (kept.together or self.format == "NPY")):
            return kept.pixels
        if native:
            try:
                kept.pixels = decode.stored(self)
            except (*NOT_DECODED, MemoryError):
                kept.together = True
        elif self.modes:
            kept.pixels = decode.load(self)
        return kept.pixels


def _turned(info: dict[Any, Any]) -> dict[Any, Any]:
    """Return metadata without the Exif orientation, which has been applied."""
    image = Image.new("L", (1, 1))
    image.info = info.copy()
    ImageOps.exif_transpose(image, in_place=True)
    return image.info


# It pickles by its public name.
LazyImage.__module__ = "fastaug.io"
