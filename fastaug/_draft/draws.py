"""Random numbers as torchvision draws them."""

from __future__ import annotations

import contextlib
import math
import random
import threading
from collections.abc import Iterator
from typing import Any, Protocol

import torch

from fastaug import _C


class Draws(Protocol):
    """Where random numbers come from.

    Draws of several threads from one generator wait for each other from the first draw to release().
    """

    @property
    def generator(self) -> Any:
        """What they are drawn from; None is torch's default CPU generator."""

    def rand(self) -> float:
        """torch.rand(1)"""

    def uniform(self, low: float, high: float, /) -> float:
        """torch.empty(1).uniform_(low, high)"""

    def randint(self, low: int, high: int, /) -> int:
        """torch.randint(low, high, (1,))"""

    def randperm(self, count: int, /) -> list[int]:
        """torch.randperm(count)"""

    def sides(
        self,
        area: int,
        limits: tuple[int, int],
        scale: tuple[float, float],
        log_ratio: tuple[float, float],
        strict: bool,
        /,
    ) -> tuple[int, int] | None:
        """Two sides of a rectangle of random area and proportions, as RandomResizedCrop and RandomErasing draw them.

        Up to ten times: target = area * uniform(scale), aspect = exp(uniform(log_ratio)) in float32, and the sides
        round(sqrt(target * aspect)), round(sqrt(target / aspect)); they are accepted when each is above 0 and at most
        its limit or, if strict, each below its limit. None when no draw was accepted.
        """

    def release(self) -> None:
        """Hands the generator back to torch: whoever draws next, draws from where these draws ended."""


class _Here(threading.local):
    python: random.Random | None = None


_here = _Here()

# How many threads draw from generators of their own: who follows torch's calls need not follow what a thread has.
_threads = 0
_counting = threading.Lock()


def drawn_from(generator: torch.Generator | None) -> dict[str, Any]:
    """The arguments of torch's functions that say so. For the default generator there are none, as in torchvision."""
    if generator is None and _threads:
        generator = DEFAULT.generator
    return {} if generator is None else {"generator": generator}


def python_random() -> Any:
    """What transforms of this thread draw from in the place of Python's ``random``; or that module."""
    return random if _here.python is None else _here.python


class TorchDraws:
    """Draws that torch makes, one by one.

    Args:
        generator: None for torch's default CPU generator.
    """

    def __init__(self, generator: torch.Generator | None = None) -> None:
        self.generator = generator

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

    @staticmethod
    def exp(power: float) -> float:
        """torch's exp of a float32."""
        return torch.full((1,), power).exp_().item()

    def release(self) -> None:
        pass


def draws_from(generator: Any = None, *, native: bool = True) -> Draws:
    """From `generator`, a torch.Generator on the CPU; None is torch's default one.

    Args:
        native: False leaves every draw to torch, which gives the same numbers.
    """
    torch_draws = TorchDraws(generator)
    if not native:
        return torch_draws
    return DEFAULT if generator is None else _C.Draws(generator, torch_draws)


#: From torch's default CPU generator, or from what the thread has in the place of it.
DEFAULT: Draws = _C.Draws(None, TorchDraws())


@contextlib.contextmanager
def drawing_from(generator: torch.Generator, python: random.Random) -> Iterator[None]:
    """Has transforms of this thread draw from these, in the place of the default generators of torch and Python."""
    global _threads
    DEFAULT.release()
    before, before_python = _C.draw_from(_C.Draws(generator, TorchDraws(generator))), _here.python
    _here.python = python
    with _counting:
        _threads += 1
    try:
        yield
    finally:
        DEFAULT.release()
        _C.draw_from(before)
        _here.python = before_python
        with _counting:
            _threads -= 1
