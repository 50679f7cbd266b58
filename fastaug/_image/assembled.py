"""Images composed of parts of a file. A handle holds one instead of bytes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL import Image

    from fastaug import _C


class Assembled(ABC):
    """An immutable RGB image of known size that makes its own pixels. `format` is Pillow's name of the format."""

    path: str
    width: int
    height: int
    format: str

    #: The core makes the pixels, as of a file that it decodes.
    native = True

    @abstractmethod
    def source(self, channels: int) -> _C.Source:
        """Return RGB or RGBA pixels for programs of the core, or raise DecodeError. Running them may raise Deferred."""

    @abstractmethod
    def image(self) -> Image.Image:
        """Return all pixels, or raise DecodeError."""
