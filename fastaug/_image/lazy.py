"""LazyImage: files and bytes that become pixels when these are wanted."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from PIL import Image, ImageOps

from fastaug import _C
from fastaug._image import decode, pillow
from fastaug._image.assembled import Assembled
from fastaug._image.encoded import CHANNELS, Encoded, check_mode
from fastaug._image.kept import Kept, Never, Once

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


# What an image of Pillow's has beside what its class says.
_OF_INSTANCES = ("info", "palette")

# What changes an image in place: a handle has none that would stay changed.
_CHANGING = frozenset(
    ("alpha_composite", "apply_transparency", "frombytes", "paste", "putalpha", "putdata", "putpalette", "putpixel")
    + ("readonly", "seek", "thumbnail")
)

# What Pillow makes of the mode and the metadata alone.
_OF_METADATA = ("getbands", "getexif", "getxmp", "has_transparency_data", "info")


class _Hinting(type):
    """Of a class whose name, as it is in others' messages about types, says what to do."""

    def __repr__(cls) -> str:
        return f"{super().__repr__()} (an encoded image: its .load() gives the PIL image)"


class LazyImage(Encoded, metaclass=_Hinting):
    """An encoded image, decoded when, and as far as, its pixels are wanted.

    Every transform and ``Compose`` of fastaug takes it in place of the image, and decodes no more of it than they use.
    It pickles as the path or the bytes that it was made of. The file of a path is not read before something of it is
    wanted, and not kept. Its pixels are, from the second view on, if views are taken one soon after the other: at most
    64 MiB, until :meth:`release`, or the handle's end, or others need the room more. Of a JPEG that is used again
    later, as in the next epoch, it keeps an index, of a hundredth of the file's size, by which crops of large images
    are decoded several times as fast.

    An .npy file is mapped into memory instead, until :meth:`release`, or the handle's end, or thousands of others are
    mapped: the system reads what is used of it. As with ``numpy.memmap``, a file that somebody cuts short meanwhile
    ends the process by a bus error; one that is replaced, as by ``os.replace``, does no harm.

    It is no ``PIL.Image.Image``, but has the methods and attributes of one, other than those that change it: ``crop``,
    ``resize``, ``getexif``, ``info`` and so on load the image when they are called, and are those of the image that
    Pillow would have opened and converted. So much of Pillow takes it: ``ImageOps.exif_transpose(handle)``,
    ``ImageEnhance.Color(handle)``. What asks for the class does not, as torchvision's functions and ``Image.paste``:
    call :meth:`load` for these.

    Args:
        source: path; bytes, bytearray, memoryview, one-dimensional uint8 ndarray or CPU tensor that hold an encoded
            image; a file open in binary mode, which is read at once, from its beginning; or a dictionary of ``bytes``
            and ``path``, as Hugging Face datasets have undecoded images: of the bytes, if they are not None.
        mode: a mode of Pillow to convert to, or None for the file's own.
        exif: whether to flip and turn the image as the file's Exif orientation says. Pillow and torchvision do not.
        jpeg_tables: tables of an abbreviated JPEG stream, as the tag JPEGTables of a TIFF file holds them.
        colorspace: what the three components of a JPEG stream are, ``"rgb"`` or ``"ycbcr"``, where the file that it
            lies in says so; None for what it says itself. Gray JPEGs and other formats have no use for it.

    Raises:
        TypeError: ``source`` is none of these, or ``mode`` no string.
        ValueError: unknown ``mode`` or ``colorspace``; neither bytes nor a path in a dictionary; an ndarray or a tensor
            of another shape, dtype or device; ``jpeg_tables`` that are no JPEG stream.

    Example:
        >>> import io
        >>> import numpy as np
        >>> from PIL import Image
        >>> from fastaug.io import LazyImage
        >>> file = io.BytesIO()
        >>> Image.new("RGB", (80, 60), "navy").save(file, "JPEG")
        >>> image = LazyImage(file)
        >>> image.size, image.mode, image.format
        ((80, 60), 'RGB', 'JPEG')
        >>> np.asarray(image).shape
        (60, 80, 3)
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
        """A handle of the same image, converted to another mode.

        With other arguments than the mode, or without a mode: the PIL image that ``Image.convert`` makes of it.

        Raises:
            TypeError: ``mode`` is no string.
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
        # Nothing is decoded for those who only ask whether there is an attribute, but for one that is no method.
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
        """What has the attribute: a pixel with the metadata, where these are enough."""
        if name not in _OF_METADATA or not self.native:
            return self._as_pillow()
        image = Image.new(self.mode, (1, 1))
        image.info = self._metadata()
        return image

    def _as_pillow(self) -> Image.Image:
        """load(), with the metadata of the image that Pillow would have opened, oriented and converted."""
        if self.header.channels:
            info = self._metadata()  # first, so that what was read for it is not kept beside pixels
            image = self.load()
            image.info = info
            return image
        image = self.load()
        if self.exif and self.orientation > 1:
            image.info = _turned(image.info)
        return image

    def _metadata(self) -> dict[Any, Any]:
        """Of a file that the core decodes: `info` of Pillow's image."""
        if self._info is None:
            data, _ = self.encoded(keep=not self.keeps)
            if isinstance(data, Assembled):
                return {}
            # Those of a JPEG are in front of the pixels, and no conversion of it adds to them or takes from them.
            image = self.open(data) if self.format == "JPEG" else self.pil()
            self._info = _turned(image.info) if self.exif and self.orientation > 1 else image.info
        return self._info.copy()

    def _new(self, im: Any) -> Image.Image:
        """As Image._new, by which functions of Pillow make their results."""
        return self._asked("info")._new(im)

    def in_memory(self) -> LazyImage:
        """A handle of the same image, for one use, whose file and header have been read; or this one with its pixels.

        Raises:
            OSError, DecodeError: they cannot be.
        """
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

    def once(self) -> LazyImage:
        """A handle of the same image for all views of one call: the file is read once, and decoded once.

        Raises:
            OSError, DecodeError: it cannot be read.
        """
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
        """The image as a PIL image, oriented if it is to be oriented.

        Decoded natively, it has none of the metadata that Pillow keeps in ``info``; the handle's ``info`` has them.

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
        """Gives back the pixels, or the map, that it keeps. The file is read again when it is used again."""
        self._kept.give_back()
        self._kept = Kept()
        self._info = self._index = None
        if self._map is not None:
            self._map = self._header = None

    @property
    def keeps(self) -> bool:
        """Whether it keeps its pixels now."""
        return self._kept.pixels is not None

    def view(self) -> Image.Image:
        """load() for a transform."""
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
        # The core makes the pixels of one source once for all jobs of a call.
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
        """The pixels that it keeps, not to be written to; None to decode what is wanted of them.

        `view` says whether they are for a transform. Where the core decodes the image to its mode, they are those of
        the stored one, in that mode. Else they are what load() gives, of which only a plain image is kept: in the
        file's own mode, Pillow hands out an object of the file's.
        """
        kept = self._kept
        if type(kept) is Never:
            return None
        if type(kept) is Once:
            return self._used_once(kept)
        pixels = kept.pixels
        if pixels is None:
            self.encoded(keep=True)  # where there is nothing to be read, there is no use
            if self.format == "NPY" and self.native:
                return None  # they are there already, in the file
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
        except (_C.Deferred, _C.Refused, MemoryError):
            # As far as it is sound, it goes on to be decoded in parts.
            self._kept = Never()
        finally:
            kept.keep(pixels)
        return pixels

    def _used_once(self, kept: Once) -> np.ndarray | Image.Image | None:
        """As `_use`: what is decoded while other views are still to come is decoded as a whole, and kept for them."""
        native = kept.native
        if kept.pixels is not None or kept.deferred is not None or (native and (kept.together or self.format == "NPY")):
            return kept.pixels
        if native:
            try:
                kept.pixels = decode.stored(self)
            except (_C.Deferred, _C.Refused, MemoryError):
                kept.together = True
        elif self.modes:
            kept.pixels = decode.load(self)
        return kept.pixels


def _turned(info: dict[Any, Any]) -> dict[Any, Any]:
    """Metadata of an image that was turned as they say: they are not to say so once more."""
    image = Image.new("L", (1, 1))
    image.info = info.copy()
    ImageOps.exif_transpose(image, in_place=True)
    return image.info


# Its public name, by which it pickles.
LazyImage.__module__ = "fastaug.io"
