"""Drafts without pixels, for the drawing of parameters alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from PIL import Image

from fastaug._draft.call import Call
from fastaug._draft.draft import MODES_OF, Draft
from fastaug._draft.replaced import TransformDraft
from fastaug._draft.tape import at_once
from fastaug._image.lazy import LazyImage
from fastaug._program import arguments, matrices
from fastaug._program.kinds import ARRAY, OTHER, PIL_IMAGE, TENSOR

_CPU = torch.device("cpu")
_MOST = 1 << 28


class Outline(TransformDraft):
    """A draft that follows only the size, the channels and the container of an image through a pipeline.

    Random draws depend on no more. User code that needs the image gets it, by all work so far on the first image.
    Fallbacks are only followed too, so their errors are raised when the parameters are replayed.
    """

    __slots__ = (
        "asked",  # user code got the image
        "complete",  # `image` and `ops` are valid, as in a draft
        "entered",  # the number of steps that were entered
        "origin",  # returns the first image
        "works",  # functions of a draft of it, in order
    )

    complete: bool
    origin: Callable[[], Any]
    works: list[Callable[[Draft], None]]

    def __init__(self, image: Any, call: Call) -> None:
        self.asked = False
        self.entered = 0
        super().__init__(image, call)

    @classmethod
    def of_shape(cls, kind: int, height: int, width: int, first: Callable[[], Any], call: Call) -> Outline:
        """Return the outline of an image of three channels that `first` makes if necessary. A tensor holds floats."""
        outline = cls((), call)
        dtype = np.uint8 if kind == ARRAY else torch.float32
        outline._become(kind=kind, height=height, width=width, channels=3, mode="RGB", dtype=dtype)
        outline.origin = first
        return outline

    def reset(self, image: Any, read: bool = False) -> None:
        self.origin, self.works = lambda: image, []
        self.complete = True
        super().reset(image)

    def _await_pixels(self) -> None:
        """Find out if the pixels were read. Draws depend on the header alone."""
        self.complete = not getattr(self.image, "tile", True)

    def _reset_encoded(self, image: LazyImage) -> None:
        if image.native:
            super()._reset_encoded(image)
        else:
            width, height = image.size
            self._begin(PIL_IMAGE, image.mode, height, width, 0)
            self._become()
            self.decoded = self.image

    def _become(self, **changed: Any) -> None:
        """Continue from an image without pixels, which is like this one but for what has `changed`.

        A PIL image has the channels of its mode, and only the others have a dtype.
        """
        self.complete = False
        core = self.core
        kind, mode = changed.get("kind", core.kind), changed.get("mode", core.mode)
        channels = changed.get("channels", core.channels)
        dtype = changed["dtype"] if "dtype" in changed else self._dtype()
        sides = changed.get("height", core.height), changed.get("width", core.width)
        # Larger images cannot exist.
        height, width = (min(max(int(side), 0), _MOST) for side in sides)
        if kind == PIL_IMAGE:
            super().reset(Image.new(mode or "RGB", (1, 1)))
            self.core.height, self.core.width = height, width
            self.core.native = self.core.native and height > 0 and width > 0
        elif kind == TENSOR:
            device = self.image.device if core.source == TENSOR and self.device is None else _CPU
            shape = (height, width) if core.flat else (*core.lead, channels, height, width)
            super().reset(torch.empty((), dtype=dtype, device=device).expand(shape))
        else:
            shape = (height, width) if core.flat else (height, width, channels)
            super().reset(np.broadcast_to(np.empty((), dtype), shape))

    def _dtype(self) -> Any:
        """Return the dtype of a tensor or an array, or None."""
        if self.core.kind == PIL_IMAGE:
            return None
        if self.core.stored:
            return torch.float32
        if self.core.native:
            return torch.uint8 if self.core.kind == TENSOR else np.uint8
        return self.image.dtype

    def finish(self) -> Any:
        return self._for_user().finish()

    def handed(self) -> Any:
        return self._for_user().handed()

    def _for_user(self) -> Draft:
        self.asked = True
        self.call.draws.release()
        return self.drafted(copied=bool(self.works))  # some transforms may write into their input

    def drafted(self, copied: bool = False) -> Draft:
        """Return the draft that this is the outline of, or that of a copied tensor."""
        image = self.origin()
        if copied and isinstance(image, torch.Tensor):
            image = image.clone()
        draft = TransformDraft(image, self.call.like(log=None, tape=None))
        for work in self.works:
            work(draft)
        return draft

    def _do(self, do: Callable[[Any, Any, Any], None], transform: Any, params: Any) -> None:
        params = at_once(params)
        self.entered += 1
        works, count, entered = self.works, len(self.works), self.entered
        do(transform, self, params)
        if self.works is works and self.entered == entered:
            # As a whole. Otherwise inner transforms are in `works` already, or there is a new image.
            works[count:] = [lambda draft: do(transform, draft, params)]

    def shorten(self) -> None:
        """Drop the ops so far, which will not be done."""
        self.complete = False
        self.core.forget()

    def apart(self, work: Callable[[Any], Any], result: Any = None) -> None:
        self.works.append(work)
        self.complete = False
        if result is not None:
            super().reset(result)
        elif self.core.kind != OTHER:
            self._become()

    def to_float(self) -> None:
        if self.core.kind == ARRAY and not self.core.native and self.core.bands:
            self._become(kind=TENSOR, dtype=torch.float32)
        else:
            super().to_float()

    def to_pil(self, mode: str | None) -> None:
        core = self.core
        if core.kind in (ARRAY, TENSOR) and not core.native and not core.lead and core.channels in MODES_OF:
            self._become(kind=PIL_IMAGE, mode=mode or MODES_OF[core.channels][0])
        else:
            super().to_pil(mode)

    def _eager(self, name: str, *given: Any) -> None:
        if self.core.kind == OTHER:
            super()._eager(name, *given)
            return
        core = self.core
        changed: dict[str, Any] = {}
        if name in ("crop", "resize"):
            changed = dict(zip(("height", "width"), given[2:] if name == "crop" else given))
        elif name == "pad":
            left, top, right, bottom = arguments.whole_sides(given[0]) or (0, 0, 0, 0)
            changed = {"height": core.height + top + bottom, "width": core.width + left + right}
        elif name == "rotate":
            angle, _, _, expand, center, _ = given
            if expand:
                changed = dict(zip(("height", "width"), self._expanded(angle, center)))
        elif name == "grayscale":
            channels = 1 if core.kind == TENSOR and core.channels == 1 else given[0]
            changed = {"channels": channels, "mode": core.mode and ("L" if channels == 1 else "RGB")}
        elif name == "equalize" and core.mode == "P":
            changed = {"mode": "RGB"}  # Pillow gives up the palette
        elif name == "convert_image_dtype":
            changed = {"dtype": given[0]}
        elif name in ("to_tensor", "pil_to_tensor"):
            changed = {"kind": TENSOR, "dtype": torch.get_default_dtype() if name == "to_tensor" else torch.uint8}
        self._become(**changed)

    _eager_tensor = _eager

    def _by_pillow(self, name: str, *given: Any, size: Sequence[int] | None = None, mode: str | None = None) -> None:
        try:
            width, height = map(int, (self.core.width, self.core.height) if size is None else size)
        except (TypeError, ValueError, OverflowError):
            width, height = self.core.width, self.core.height  # an error, which is Pillow's to raise
        try:
            Image.getmodebands(mode or "")
        except KeyError:
            mode = mode and "RGB"  # Pillow makes that of a palette, and nothing of other images
        self._become(height=height, width=width, mode=mode or self.core.mode)

    def _with_exif(self) -> Image.Image:
        return super()._with_exif() if self.complete else self.finish()

    def _expanded(self, angle: float, center: Any) -> tuple[int, int]:
        """Return (height, width) after a rotation that shows all of the image."""
        height, width = self.core.height, self.core.width
        if self.core.kind == TENSOR:
            return matrices.rotated_size(height, width, angle, center)
        angle %= 360.0
        if not center and angle in (0, 180):
            return height, width
        if not center and angle in (90, 270):
            return width, height
        return matrices.rotation(height, width, angle, True, center)[:2]
