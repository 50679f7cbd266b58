"""Decode: encoded images at the head of a pipeline."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import ImageOps
from torch import Tensor

from fastaug._draft import recipe
from fastaug._draft.draft import Draft
from fastaug._image.encoded import check_colorspace, check_mode, is_encoded, is_entry
from fastaug._image.files import gives_again
from fastaug._image.indexes import is_file
from fastaug._image.kept import Never
from fastaug._image.lazy import LazyImage
from fastaug._image.pillow import orientation_of
from fastaug._program.kinds import PIL_IMAGE
from fastaug.transforms._base import Transform

if TYPE_CHECKING:
    from PIL import Image

    from fastaug._image.encoded import Buffer, Colorspace, Source

__all__ = ["Decode"]

# The handles of this module are made for one call, so they keep no pixels.
_ONE_CALL = Never()


class Decode(Transform):
    """The image of a file or of encoded bytes, for the transforms behind it.

    At the head of a :class:`Compose`, only what the pipeline uses of the image is decoded. By itself, or in front of
    your own callable, it gives a PIL image. torchvision does not have it. For an ``ImageFolder``, use
    ``fastaug.io.lazy`` as the ``loader``.

    It takes a path; bytes, bytearray, memoryview, one-dimensional uint8 ndarray or CPU tensor; a file open for reading
    in binary mode; a dictionary ``{"bytes": ..., "path": ...}`` of Hugging Face datasets, with the path for bytes of
    None; a :class:`fastaug.io.LazyImage`, which stays as it is; or a PIL image, which is oriented and converted.

    Args:
        mode: a mode of Pillow to convert to, or None for the file's own.
        exif: turn and flip the image as the file's Exif orientation says. Pillow and torchvision do not.
        jpeg_tables: bytes of the tables of abbreviated JPEG streams, such as the tag JPEGTables of a TIFF file.
        colorspace: of the three components of JPEG streams, ``"rgb"`` or ``"ycbcr"``, where the enclosing file says so;
            None for what the streams say.

    Raises:
        TypeError: when called, something else than these.
        ValueError: unknown ``mode`` or ``colorspace``; when called, a dictionary with neither bytes nor a path.
        fastaug.DecodeError: when called, bytes that cannot be decoded.

    Example:
        >>> import io
        >>> import fastaug.transforms as T
        >>> from PIL import Image
        >>> file = io.BytesIO()
        >>> Image.new("RGB", (80, 60), "navy").save(file, "PNG")
        >>> transform = T.Compose([T.Decode(), T.CenterCrop(32), T.ToTensor()])
        >>> transform(file.getvalue()).shape
        torch.Size([3, 32, 32])
    """

    # For pickles of earlier versions.
    colorspace: Colorspace | None = None

    def __init__(
        self,
        mode: str | None = "RGB",
        exif: bool = False,
        jpeg_tables: Buffer | None = None,
        colorspace: Colorspace | None = None,
    ) -> None:
        super().__init__()
        if mode is not None:
            check_mode(mode)
        check_colorspace(colorspace)
        self.mode = mode
        self.exif = exif
        self.jpeg_tables = jpeg_tables
        self.colorspace = colorspace

    if TYPE_CHECKING:

        def __call__(self, img: Source | Image.Image) -> Image.Image: ...  # type: ignore[override]

    def _draft(self, draft: Draft, params: None) -> None:
        if isinstance(draft.image, LazyImage) or getattr(draft, "decoded", draft) is draft.image:
            return
        if draft.kind == PIL_IMAGE:
            self._draft_opened(draft)
            return
        source: Any = draft.finish()
        if not (is_encoded(source) or is_entry(source)):
            raise TypeError(
                "Decode takes a path, encoded bytes, a one-dimensional uint8 array or tensor of them, a binary file, "
                f"a dictionary of bytes and path, or a PIL image, got {_described(source)}"
            )
        draft.reset(self._lazy(source))

    def _packed(self) -> recipe.Packed:
        plain = self.jpeg_tables is None and self.colorspace is None
        return "Decode", self.mode, recipe.truth(self.exif), plain, self._opened

    def _opened(self, source: Any) -> LazyImage | None:
        """Return the handle of a source that can be read again and that the core decodes, or None."""
        held = (source.get("bytes") or source.get("path")) if is_entry(source) else source
        once = isinstance(held, (str, os.PathLike)) and not is_file(os.fspath(held))
        if once or (hasattr(held, "read") and not gives_again(held)) or not is_encoded(held):
            return None
        image = self._lazy(source)
        return image if image.encoded(keep=True)[1].native else None

    def _draft_opened(self, draft: Draft) -> None:
        """Orient and convert a PIL image that was opened elsewhere."""
        if self.exif:
            image = draft.flush()
            if orientation_of(image) > 1:
                draft.reset(ImageOps.exif_transpose(image))
        if self.mode is not None and draft.mode != self.mode:
            draft.reset(draft.flush().convert(self.mode))

    def _lazy(self, source: Source) -> LazyImage:
        image = LazyImage(source, self.mode, exif=self.exif, jpeg_tables=self.jpeg_tables, colorspace=self.colorspace)
        image._kept = _ONE_CALL
        return image

    def __repr__(self) -> str:
        rest = ", exif=True" if self.exif else ""
        rest += "" if self.colorspace is None else f", colorspace={self.colorspace!r}"
        return f"{type(self).__name__}(mode={self.mode!r}{rest})"


def _described(source: Any) -> str:
    if isinstance(source, (np.ndarray, Tensor)):
        return f"{type(source).__name__} of {source.dtype} and shape {tuple(source.shape)}"
    return str(type(source))
