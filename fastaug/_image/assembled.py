"""Images that are put together of parts of a file, and stand in a handle where the bytes of another would."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL import Image

    from fastaug import _C


class Assembled(ABC):
    """An RGB image of known size that makes its own pixels. It pickles, and is never changed.

    Attributes:
        path: of the file.
        width, height: in pixels.
        format: the format of the file, by Pillow's name.
    """

    path: str
    width: int
    height: int
    format: str

    #: Whether the core makes the pixels, as it does of what it decodes.
    native = True

    @abstractmethod
    def source(self, channels: int) -> _C.Source:
        """The pixels for programs of the native core, as RGB or RGBA; running them may raise Deferred.

        Raises:
            DecodeError: they cannot be had.
        """

    @abstractmethod
    def image(self) -> Image.Image:
        """All pixels, whoever decodes them.

        Raises:
            DecodeError: they cannot be had.
        """
