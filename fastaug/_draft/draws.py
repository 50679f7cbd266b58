"""Random numbers as torchvision draws them."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
import torch

from fastaug import _C


class Others(NamedTuple):
    """Generators beside torch's, with NumPy's own for None. Another object with these attributes may make them late."""

    python: random.Random
    numpy: np.random.RandomState | None


def drawn_from(generator: torch.Generator | None) -> dict[str, Any]:
    """Return the arguments for torch's functions; none for the default generator, as in torchvision."""
    if generator is None:
        generator = DEFAULT.generator
    return {} if generator is None else {"generator": generator}


def python_random() -> Any:
    """Return the object that transforms of this thread draw from instead of Python's ``random``, or that module."""
    others = _C.others()
    return random if others is None else others.python


def chosen(count: int, weights: Sequence[float] | None) -> int:
    """Draw a number below `count` by its weight, all alike without weights, from Python's ``random``."""
    index: int = python_random().choices(range(count), weights=weights)[0]
    return index


def shuffled(count: int) -> list[int]:
    """Draw an order from Python's ``random``."""
    order = list(range(count))
    python_random().shuffle(order)
    return order


def numpy_random() -> Any:
    """Return the object that transforms of this thread draw from instead of ``np.random``, or that module."""
    others = _C.others()
    numpy = None if others is None else others.numpy
    return np.random if numpy is None else numpy


def _as_tensor(boxes: _C.Boxes) -> torch.Tensor:
    """Return boxes in the format XYXY."""
    boxes = boxes.copy()
    boxes.convert(_C.BOX_FORMATS["XYXY"])
    edges = torch.empty((boxes.count, 4), dtype=getattr(torch, boxes.type), device="cpu")
    boxes.into(edges.data_ptr())
    return edges


def _overlap(boxes: torch.Tensor, crop: tuple[int, int, int, int], least: float) -> torch.Tensor | None:
    """Return which boxes, XYXY, have their centres in a crop, or None unless one of these overlaps with it enough.

    It computes in the types and the order of torchvision.ops.box_iou.
    """
    left, top, right, bottom = crop
    x, y = 0.5 * (boxes[..., 0] + boxes[..., 2]), 0.5 * (boxes[..., 1] + boxes[..., 3])
    within = (left < x) & (x < right) & (top < y) & (y < bottom)
    if not within.any():
        return None
    inside = boxes[within]
    edges = torch.tensor([left, top, right, bottom], dtype=inside.dtype, device=inside.device)
    shared = _wide(torch.min(inside[:, 2:], edges[2:]) - torch.max(inside[:, :2], edges[:2])).clamp(min=0)
    inside, edges = _wide(inside), _wide(edges)
    own = (inside[:, 2] - inside[:, 0]) * (inside[:, 3] - inside[:, 1])
    area = (edges[2] - edges[0]) * (edges[3] - edges[1])
    inter = shared[:, 0] * shared[:, 1]
    union = own + area - inter
    return None if (inter / union).max() < least else within


def _wide(values: torch.Tensor) -> torch.Tensor:
    """Return values in a type that their products fit."""
    if values.is_floating_point():
        return values if values.dtype in (torch.float32, torch.float64) else values.float()
    return values if values.dtype in (torch.int32, torch.int64) else values.int()


class TorchDraws:
    """Draws that torch makes, one by one. The class of the core (_C.Draws) draws the same numbers.

    Draws of several threads from one generator wait for each other from the first draw to release().

    Args:
        generator: None for torch's default CPU generator.
    """

    def __init__(self, generator: torch.Generator | None = None) -> None:
        self.generator: Any = generator

    @property
    def _from(self) -> dict[str, Any]:
        return drawn_from(self.generator)

    def rand(self) -> float:
        return torch.rand(1, **self._from).item()

    def uniform(self, low: float, high: float) -> float:
        return float(torch.empty(1).uniform_(low, high, **self._from).item())

    def randint(self, low: int, high: int) -> int:
        return int(torch.randint(low, high, size=(1,), **self._from).item())

    def randperm(self, count: int) -> list[int]:
        # One by one: functorch has no tolist.
        return [int(index) for index in torch.randperm(count, **self._from)]

    def sides(
        self,
        area: int,
        limits: tuple[int, int],
        scale: tuple[float, float],
        log_ratio: tuple[float, float],
        strict: bool,
    ) -> tuple[int, int] | None:
        """Draw two sides of a rectangle of random area and proportions, as RandomResizedCrop and RandomErasing do.

        They are accepted if each is above 0 and at most its limit or, if strict, below its limit. Return None if ten
        draws were not.
        """
        draw = torch.empty(1)
        for _ in range(10):
            target = area * draw.uniform_(scale[0], scale[1], **self._from).item()
            aspect = draw.uniform_(log_ratio[0], log_ratio[1], **self._from).exp_().item()
            first, second = round(math.sqrt(target * aspect)), round(math.sqrt(target / aspect))
            if strict:
                accepted = first < limits[0] and second < limits[1]
            else:
                accepted = 0 < first <= limits[0] and 0 < second <= limits[1]
            if accepted:
                return first, second
        return None

    def scaled(self, low: float, high: float) -> float:
        """Draw a float32 between two numbers."""
        return float((low + torch.rand(1, **self._from) * (high - low)).item())

    def choice(self, weights: list[float]) -> int:
        """Draw an index with probabilities in proportion to weights."""
        return int(torch.multinomial(torch.tensor(weights), 1, **self._from))

    def zoom_out(self, height: int, width: int, low: float, high: float) -> tuple[int, int, int, int]:
        """Draw the padding to the left, top, right and bottom of an image, as RandomZoomOut does.

        Its sides are multiplied by one number from `low` to `high`, and its place there is random.
        """
        scale = low + torch.rand(1, **self._from) * (high - low)
        across, down = int(width * scale) - width, int(height * scale) - height
        place = torch.rand(2, **self._from)
        left, top = int(across * place[0]), int(down * place[1])
        return left, top, across - left, down - top

    def iou_crop(
        self,
        boxes: _C.Boxes | Callable[[], torch.Tensor],
        height: int,
        width: int,
        scales: tuple[float, float],
        aspects: tuple[float, float],
        options: Sequence[float],
        trials: int,
    ) -> tuple[int, int, int, int, bytearray] | None:
        """Draw a crop of an image that overlaps with boxes, as RandomIoUCrop does.

        An option is the least intersection over union of a box and the crop, or from 1 on means no crop. For each
        option, `trials` crops are drawn. Their sides are the image's times numbers within `scales`, and width / height
        is within `aspects`. Among the boxes with their centres in a crop, one must overlap enough.

        Args:
            boxes: of the image; or a function, called for each crop, that returns them as a tensor of XYXY.

        Returns:
            None; or top, left, height and width, and for each box whether its centre is in there, as bytes 0 and 1.

        Raises:
            ZeroDivisionError: a crop without rows was drawn.
        """
        if isinstance(boxes, _C.Boxes):
            edges = _as_tensor(boxes)
            boxes = lambda: edges  # noqa: E731
        while True:
            least = options[int(torch.randint(0, len(options), (1,), **self._from))]
            if least >= 1.0:
                return None
            for _ in range(trials):
                part = scales[0] + (scales[1] - scales[0]) * torch.rand(2, **self._from)
                new_width, new_height = int(width * part[0]), int(height * part[1])
                if not aspects[0] <= new_width / new_height <= aspects[1]:
                    continue
                place = torch.rand(2, **self._from)
                left, top = int((width - new_width) * place[0]), int((height - new_height) * place[1])
                if new_width == 0:
                    continue
                within = _overlap(boxes(), (left, top, left + new_width, top + new_height), least)
                if within is not None:
                    return top, left, new_height, new_width, bytearray(within.cpu().numpy().tobytes())

    @staticmethod
    def exp(power: float) -> float:
        """torch's exp of a float32."""
        return torch.full((1,), power).exp_().item()

    def release(self) -> None:
        """Give the generator back to torch, whose next draws follow these."""


#: A source of random numbers, in the order and under the conditions of torchvision.
Draws = TorchDraws  # or the core's class, with the same methods


def draws_from(generator: Any = None, *, native: bool = True) -> Draws:
    """Return draws from a generator.

    Args:
        generator: a torch.Generator on the CPU; None for torch's default one.
        native: False leaves every draw to torch, which gives the same numbers.
    """
    torch_draws = TorchDraws(generator)
    if not native:
        return torch_draws
    return DEFAULT if generator is None else cast(Draws, _C.Draws(generator, torch_draws))


#: Draws from torch's default CPU generator, or from the one that the thread has instead.
DEFAULT = cast(Draws, _C.Draws(None, TorchDraws()))


def drawing_from(
    generator: torch.Generator, python: random.Random, numpy: np.random.RandomState | None = None
) -> _C.Instead:
    """Have transforms of this thread draw from these, as `drawing` does."""
    return drawing(generator, Others(python, numpy))


def drawing(generator: torch.Generator, others: Any) -> _C.Instead:
    """Have transforms of this thread draw from these instead of the default generators of torch, Python and NumPy.

    `others` is an Others, or has its attributes, which are looked up whenever something is drawn. The result must go
    to a `with` statement at once: an interrupt may come between any two steps of Python's.
    """
    return _C.Instead(_C.Draws(generator, TorchDraws(generator)), others)
