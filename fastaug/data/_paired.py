"""Cut patches from pairs of pictures, for super-resolution."""

from __future__ import annotations

from typing import Any

from fastaug._draft.base import DraftBase
from fastaug._draft.call import PLAIN
from fastaug._draft.draft import Draft
from fastaug._program.integers import positive
from fastaug._program.kinds import OTHER


class PairedRandomCrop:
    """A transform that cuts the same random patch from a low- and a high-resolution picture, flipped and turned alike.

    It draws like ``RandomCrop(size)`` for the low-resolution picture. Then it draws a horizontal flip, a vertical flip
    and a transposition, each with probability 1/2, which together give all eight orientations.

    Handles of ``fastaug.io.lazy`` decode only the patches.

    Args:
        size: side of the low-resolution patch in pixels. The other patch has the side ``size * scale``.
        scale: ratio of the resolutions.

    Call it with a pair (low, high) of PIL images, uint8 arrays, tensors or lazy handles. It returns a pair of patches
    in the same containers; PIL images for handles.

    Raises:
        TypeError: ``size`` or ``scale`` is not an integer; when called, not a pair of images.
        ValueError: one of them is less than one; when called, the sizes of the pair do not have the ratio ``scale``, or
            a picture is smaller than the patch.

    Example:
        >>> from PIL import Image
        >>> from fastaug.data import PairedRandomCrop
        >>> low, high = Image.new("RGB", (200, 100)), Image.new("RGB", (400, 200))
        >>> low, high = PairedRandomCrop(48, scale=2)((low, high))
        >>> low.size, high.size
        ((48, 48), (96, 96))
    """

    def __init__(self, size: int, scale: int) -> None:
        self.size = positive("size", size)
        self.scale = positive("scale", scale)

    def __call__(self, pair: Any) -> tuple[Any, Any]:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(f"PairedRandomCrop takes a pair of images, (low, high), got {type(pair)}")
        low, high = (Draft(image) for image in pair)
        self._check(low, high)
        draws = PLAIN.draws
        try:
            top, left = 0, 0
            if (low.height, low.width) != (self.size, self.size):
                top = draws.randint(0, low.height - self.size + 1)
                left = draws.randint(0, low.width - self.size + 1)
            turns = [draws.rand() < 0.5 for _ in range(3)]
        finally:
            draws.release()
        for draft, scale in ((low, 1), (high, self.scale)):
            draft.crop(scale * top, scale * left, scale * self.size, scale * self.size)
            for turned, turn in zip(turns, (draft.hflip, draft.vflip, draft.transpose)):
                if turned:
                    turn()
        return low.finish(), high.finish()

    def _check(self, low: DraftBase, high: DraftBase) -> None:
        for name, draft in (("low", low), ("high", high)):
            if draft.kind == OTHER or not draft.bands:
                raise TypeError(f"{name} should be an image, got {type(draft.image)}")
        if (low.height * self.scale, low.width * self.scale) != (high.height, high.width):
            raise ValueError(
                f"high should be {self.scale} times as large as low, which has height {low.height} and width "
                f"{low.width}; got height {high.height} and width {high.width}"
            )
        if low.height < self.size or low.width < self.size:
            raise ValueError(
                f"low should be at least as large as the patch, {self.size}, got height {low.height} and width "
                f"{low.width}"
            )

    def __repr__(self) -> str:
        return f"{type(self).__name__}(size={self.size}, scale={self.scale})"
