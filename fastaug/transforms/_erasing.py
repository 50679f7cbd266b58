"""Random erasing."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from fastaug._draft import recipe
from fastaug._draft.draft import Draft
from fastaug._draft.draws import Draws, TorchDraws
from fastaug._draft.replaced import functions
from fastaug._draft.tape import generator_at, noise_state
from fastaug._fallback import tensor as tensor_fallback
from fastaug._program.kinds import TENSOR
from fastaug.transforms._base import Transform, check_ranges, happens, need_shape
from fastaug.transforms._crops import log_bounds, logarithms

__all__ = ["RandomErasing"]

#: Top, left, height, width, and what is written: None for the transform's value, a tensor, or what noise is kept as.
Drawn = tuple[int, int, int, int, Tensor | bytes | None]

_TORCH = TorchDraws()


def check_value(value: Any) -> None:
    if not isinstance(value, (numbers.Number, str, tuple, list)):
        raise TypeError(f"Argument value should be either a number or str or a sequence. Got {value!r}")
    if isinstance(value, str) and value != "random":
        raise ValueError(f"If value is str, it should be 'random'. Got {value!r}")


def written_value(value: Any) -> Any:
    """Return a list of floats, None for "random", or another value itself."""
    if isinstance(value, (int, float)):
        return [float(value)]
    if isinstance(value, (list, tuple)):
        return [float(number) for number in value]
    return None if isinstance(value, str) else value


def check_share(scale: Sequence[float]) -> None:
    if scale[0] < 0 or scale[1] > 1:
        raise ValueError(f"Scale should be between 0 and 1. Got {scale}")


class RandomErasing(Transform):
    """A tensor image with a random box overwritten, with probability ``p``.

    Draws whether it happens, then area and proportions, up to ten times until the box fits, then the noise, if any, and
    the top row and left column. If no box fits, the image stays as it is.

    Args:
        scale: range of the area, as a share of the image's.
        ratio: range of height / width.
        value: what is written: a number, one per channel, or "random" for normally distributed noise.
        inplace: write into the tensor that is given.

    Raises:
        TypeError: wrong type of an argument; when it happens, something that is not a tensor.
        ValueError: another string, ``p`` or ``scale`` out of range; when it happens, wrong length of ``value``.

    Example:
        >>> import fastaug.transforms as T
        >>> import torch
        >>> image = T.RandomErasing(p=1.0)(torch.ones(3, 24, 32))
        >>> 0 < (image == 0).sum() < image.numel()
        tensor(True)
    """

    _drawn = ("top", "left", "height", "width", "noise")
    _shown = ("p", "scale", "ratio", "value", "inplace")

    def __init__(
        self,
        p: float = 0.5,
        scale: Sequence[float] = (0.02, 0.33),
        ratio: Sequence[float] = (0.3, 3.3),
        value: float | str | Sequence[float] = 0,
        inplace: bool = False,
    ) -> None:
        super().__init__()
        check_value(value)
        check_ranges(scale, ratio)
        check_share(scale)
        if p < 0 or p > 1:
            raise ValueError(f"Random erasing probability should be between 0 and 1. Got {p}")
        self.p = p
        self.scale = scale
        self.ratio = ratio
        self.value = value
        self.inplace = inplace

    @staticmethod
    def get_params(
        img: Tensor, scale: Sequence[float], ratio: Sequence[float], value: Sequence[float] | None = None
    ) -> tuple[int, int, int, int, Tensor]:
        """Draws (top, left, height, width, what is written); None for ``value`` means noise.

        Example:
            >>> import fastaug.transforms as T
            >>> import torch
            >>> *_, height, width, _ = T.RandomErasing.get_params(torch.ones(1, 8, 8), (0.25, 0.25), (1, 1), [0.0])
            >>> height, width
            (4, 4)
        """
        channels, height, width = img.shape[-3], img.shape[-2], img.shape[-1]
        drawn = draw_box(
            _TORCH, channels, height, width, scale, log_bounds(_TORCH, ratio, scale), value is None, False, value
        )
        if drawn is None:
            return 0, 0, height, width, img
        top, left, height, width, filling = drawn
        assert isinstance(filling, Tensor)
        return top, left, height, width, filling

    def _sample(self, draft: Draft) -> Drawn | None:
        """Return None when it does not happen, and an empty box when none fits."""
        draws = draft.call.draws
        if not happens(draws, self.p):
            return None
        values = self._values()
        own = self.get_params is self._own_params
        if own and draft.kind == TENSOR and draft.bands and not draft.flat:
            channels, height, width = draft.channels, draft.height, draft.width
        else:
            image = draft.flush()
            need_shape(image, "img")
            channels, height, width = image.shape[-3], image.shape[-2], image.shape[-1]
        check_count(values, channels)
        if not own:
            asked: Drawn = self._asked(draft, image, scale=self.scale, ratio=self.ratio, value=values)
            return asked
        bounds = log_bounds(draws, self.ratio, self.scale)
        taped = draft.call.tape is not None
        drawn = draw_box(draws, channels, height, width, self.scale, bounds, values is None, taped)
        return (0, 0, 0, 0, None) if drawn is None else drawn

    def _values(self) -> list[float] | None:
        """Return the numbers to write, one or one per channel; None for noise."""
        value = written_value(self.value)
        if value is not None and not isinstance(value, list):
            raise TypeError(f"value should be an int, a float, a sequence or 'random'. Got {value!r}")
        return value

    def _draft(self, draft: Draft, params: Drawn | None) -> None:
        if params is None:
            return
        if draft.stored and params[4] is None and type(self.inplace) is bool:
            top, left, height, width = _inside(params, draft)
            values = self._values()
            check_count(values, draft.channels)
            if not (height and width) or (values is not None and draft.erase(top, left, height, width, values)):
                return
        draft.apart(partial(self._overwrite, params))

    def _packed(self) -> recipe.Packed:
        recipe.truth(self.inplace)
        values = self._values() if type(self.value) in (int, float, list, tuple) else None
        if values is None or not all(map(math.isfinite, values)):
            raise recipe.NoRecipe
        scale, ratio = recipe.interval(self.scale), recipe.interval(self.ratio)
        bounds = logarithms(*ratio, torch.float32)
        return recipe.happening(recipe.chance(self.p), "Erasing", scale, bounds, values)

    def _overwrite(self, params: Drawn, draft: Draft) -> None:
        top, left, height, width = _inside(params, draft)
        box_height, box_width = params[2:4]
        noise: Any = params[4]
        source = draft.image
        fresh = bool(draft.count or draft.stored or draft.copied or draft.kind != draft.source)
        image = draft.flush()
        need_shape(image, "img")
        channels = image.shape[-3]
        values = self._values()
        check_count(values, channels)
        if not isinstance(image, Tensor):
            raise TypeError(f"img should be Tensor Image. Got {type(image)}")
        filling: Any = noise
        if not (height and width):
            filling = 0
        elif noise is None and values is not None:
            filling = torch.tensor(values)[:, None, None]
        elif not isinstance(noise, Tensor):
            filling = _noise(generator_at(noise), channels, box_height, box_width)[:, :height, :width]
        # What has just been made is nobody else's yet and need not be copied, unless it is a view of the source.
        if fresh and isinstance(source, Tensor):
            fresh = image.untyped_storage().data_ptr() != source.untyped_storage().data_ptr()
        if "erase" in functions:
            draft.reset(functions["erase"](image, top, left, height, width, filling, self.inplace))
        else:
            draft.reset(tensor_fallback.erase(image, top, left, height, width, filling, self.inplace or fresh))


def check_count(values: list[float] | None, channels: int) -> None:
    if values is not None and len(values) not in (1, channels):
        raise ValueError(
            f"If value is a sequence, it should have either a single value or {channels} (number of input "
            f"channels). Got {values}"
        )


def _inside(params: Drawn, draft: Draft) -> tuple[int, int, int, int]:
    """Return the part of the box in this image. It may have been drawn for another one."""
    top, left, height, width, _ = params
    return top, left, max(min(height, draft.height - top), 0), max(min(width, draft.width - left), 0)


def draw_box(
    draws: Draws,
    channels: int,
    height: int,
    width: int,
    scale: Sequence[float],
    bounds: tuple[float, float],
    noisy: bool,
    taped: bool,
    value: Any = None,
) -> Drawn | None:
    """Draw a box and what is written: for a tape, the state that noise is drawn from; without noise, `value`."""
    sides = draws.sides(height * width, (height, width), (scale[0], scale[1]), bounds, True)
    if sides is None:
        return None
    box_height, box_width = sides
    noise: Tensor | bytes | None = None if value is None else torch.tensor(value)[:, None, None]
    if noisy:
        draws.release()
        state = noise_state(draws) if taped else None
        noise = _noise(draws.generator, channels, box_height, box_width)
        noise = noise if state is None else state
    top = draws.randint(0, height - box_height + 1)
    return top, draws.randint(0, width - box_width + 1), box_height, box_width, noise


def _noise(generator: torch.Generator | None, channels: int, height: int, width: int) -> Tensor:
    return torch.empty([channels, height, width], dtype=torch.float32).normal_(generator=generator)
