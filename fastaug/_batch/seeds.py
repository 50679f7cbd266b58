"""Draws for each image of a batch or a stream that hang on a seed of its own, and on nothing else."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Iterable, Iterator
from typing import Any

from fastaug._draft.call import Call
from fastaug._draft.draws import draws_from
from fastaug._draft.generators import Generators, seed_all, untouched
from fastaug._draft.known import unknown


class Seeded:
    """What an image with a seed of its own is drawn from: generators of torch, Python and NumPy that nothing else has.

    Callables of the user's know the process's generators alone: where a pipeline has any, these are seeded while an
    image is drawn, and afterwards as they were.

    Args:
        pipeline: whose draws they are.
        call: of it. A generator of its own is left alone too.
    """

    def __init__(self, pipeline: Any, call: Call) -> None:
        self._generators = Generators()
        self._known = unknown(pipeline, generator=True) is None
        self.call = call
        if call.draws.generator is not None:
            self.call = call.like(draws=draws_from(self._generators.torch))

    @contextlib.contextmanager
    def drawing(self, seed: int) -> Iterator[None]:
        """The draws in this context are those for an image of that seed."""
        draws = self.call.draws
        self._generators.seed(seed)
        with self._generators.in_thread() if self._known else untouched():
            if not self._known:
                seed_all(seed)
            try:
                yield
            finally:
                draws.release()


def as_seeds(seeds: Any, count: int) -> list[int]:
    if isinstance(seeds, (str, bytes)) or not isinstance(seeds, Iterable):
        raise TypeError(f"seeds should be a list of integers, one for each image, got {type(seeds).__name__}")
    try:
        numbers = [operator.index(seed) for seed in seeds]
    except TypeError:
        raise TypeError(f"seeds should be integers, got {seeds!r}") from None
    if len(numbers) != count:
        raise ValueError(f"seeds should be one for each of the {count} images, got {len(numbers)}")
    return numbers


def drawing(seeded: Seeded | None, numbers: list[int] | None, index: int) -> contextlib.AbstractContextManager[None]:
    """The context in which an image of a batch is drawn: of its seed, if there are seeds."""
    if seeded is None or numbers is None:
        return contextlib.nullcontext()
    return seeded.drawing(numbers[index])
