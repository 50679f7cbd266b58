"""profile(): where the time of a pipeline goes, beside torchvision's."""

from __future__ import annotations

import copy
import math
import statistics
import time
from collections.abc import Callable
from os import PathLike
from typing import Any

import torch

from fastaug._image.lazy import LazyImage
from fastaug._inspect import words
from fastaug._inspect.generators import generator_of, seed_all, untouched
from fastaug._inspect.log import Log, Outside, logged
from fastaug._inspect.show import listed
from fastaug._inspect.twin import NoTwinError, Twin, delivered, pillow_image, steps_like, twin_of

_REPEAT = 5
_OWN = ("draws", "Python", "native, besides its passes")


class Profile:
    """Times of a pipeline. Prints as a table. All times are in milliseconds, of one thread.

    Attributes:
        passes: a dictionary for each pass: who does it, its name, the steps that it is of, "median", "low" and "high"
            (quartiles) over the calls that made it, the number of those "calls", and its "share" of all time, by
            medians. Then draws, Python (what a call takes besides all that was measured inside the other one; never
            below zero), and the time that the native calls take besides their passes.
        steps: a dictionary for each transform: its time "ours", and "theirs", torchvision's, each a median over all
            calls. A pass of k transforms counts a k-th for each of them, and what is of none has a row of its own.
        total: "ours" and "theirs", each with "low" and "high" quartiles, and the "ratio": the median over all calls.
        against: torchvision's version, or why there is none to compare with.
        calls: how many were timed.
    """

    def __init__(self, mode: str, images: int, calls: int, against: str) -> None:
        self.mode, self.images, self.calls, self.against = mode, images, calls, against
        self.passes: list[dict[str, Any]] = []
        self.steps: list[dict[str, Any]] = []
        self.total: dict[str, Any] = {}

    def __str__(self) -> str:
        plural = "s" if self.images > 1 else ""
        lines = [f"mode {self.mode}: {self.images} image{plural}, {self.calls} calls, one thread; milliseconds", ""]
        rows: list[tuple[str, ...]] = [("pass", "by", "steps", "median", "quartiles", "calls", "share")]
        for one in self.passes:
            calls = "" if one["calls"] == self.calls else f"{one['calls']} of {self.calls}"
            spread = f"{one['low']:.3f}-{one['high']:.3f}"
            share = f"{100 * one['share']:.1f} %"
            rows.append((one["name"], one["by"], one["label"], f"{one['median']:.3f}", spread, calls, share))
        lines += words.table(rows, "<<<>>>>", (28, 8, 60, 10, 16, 12, 8))
        lines += ["", *self._beside(), "", self._summary()]
        return "\n".join(lines)

    __repr__ = __str__

    def _beside(self) -> list[str]:
        compared = any(step["theirs"] is not None for step in self.steps)
        rows: list[tuple[str, ...]] = [("step", "fastaug", "torchvision" if compared else "")]
        for step in self.steps:
            theirs = "" if step["theirs"] is None else f"{step['theirs']:.3f}"
            rows.append((step["name"], f"{step['ours']:.3f}", theirs))
        return words.table(rows, "<>>", (40, 10, 12))

    def _summary(self) -> str:
        text = f"a call  {_spread(self.total['ours'])}"
        if self.total["theirs"] is None:
            return f"{text}\nnothing to compare with: {self.against}"
        return f"{text}; {self.against} {_spread(self.total['theirs'])}: {self.total['ratio']:.1f} times as long"

    def plot(self, path: str | PathLike[str]) -> None:
        """Draws a bar chart of the steps.

        Args:
            path: of the picture; its ending says the format.
        """
        from fastaug._inspect import bars

        bars.profile(self).save(path)


def _spread(times: dict[str, float]) -> str:
    return f"{times['median']:.2f} ms ({times['low']:.2f}-{times['high']:.2f})"


def _quartiles(values: list[float]) -> dict[str, float]:
    if len(values) == 1:
        return dict.fromkeys(("low", "median", "high"), values[0])
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return {"low": low, "median": middle, "high": high}


class _Times:
    """Milliseconds by row, call by call."""

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self.rows: dict[tuple[str, str, tuple[int, ...]], list[float]] = {}
        self.places: dict[tuple[str, str, tuple[int, ...]], list[float]] = {}
        # What is stored is of other steps from call to call: one row, and all of them.
        self.stored: set[int] = set()
        self.steps: list[list[float]] = []
        self.ours: list[float] = []
        self.theirs: list[float] = []
        self.their_steps: list[list[float]] = []

    def add(self, log: Log, seconds: float) -> None:
        """A call that was timed, and the log of another one with the same draws."""
        position = {node: k for k, node in enumerate(log.steps)}
        row: dict[tuple[str, str, tuple[int, ...]], float] = {}
        steps = [0.0] * (len(self.names) + 1)
        place = 0
        besides = 0.0
        for entry in log.timeline:
            if isinstance(entry, Outside):
                parts = [(entry.library, entry.name, entry.nodes, entry.seconds)]
            else:
                parts = [("fastaug", one.name, entry.nodes(one.origin), one.seconds) for one in entry.passes]
                besides += entry.seconds - sum(one.seconds for one in entry.passes)
            for library, name, nodes, spent in parts:
                tops = tuple(sorted({position[node.top] for node in nodes if node.top in position}))
                key = (library, name, tops)
                if name == "store":
                    self.stored.update(tops)
                    key = (library, name, ())
                if key not in row:
                    self.places.setdefault(key, []).append(place)
                    place += 1
                row[key] = row.get(key, 0.0) + spent
                for top in tops:
                    steps[top] += spent / len(tops)
                if not tops:
                    steps[-1] += spent
        known = sum(row.values()) + log.draws + besides
        row["", _OWN[0], ()] = log.draws
        row["", _OWN[1], ()] = max(0.0, seconds - known)
        row["", _OWN[2], ()] = max(0.0, besides)
        steps[-1] += max(0.0, besides)
        for key, spent in row.items():
            self.rows.setdefault(key, []).append(1e3 * spent)
        steps += [log.draws, max(0.0, seconds - known)]
        self.steps.append([1e3 * spent for spent in steps])
        self.ours.append(1e3 * seconds)


def profile(
    pipeline: Any,
    images: Any,
    repeat: int = _REPEAT,
    plot: str | PathLike[str] | None = None,
    seed: int = 0,
) -> Profile:
    """Times a pipeline over images: each pass, each step, beside torchvision's time for each step.

    Every image is taken ``repeat`` times, each time with other draws, which both libraries share. A handle is each time
    one that has not been used, as a dataset hands them out. A call is timed as a whole; the passes are timed in a
    second call with the same draws. torch uses one thread meanwhile, and afterwards as many as before. The random
    generators are afterwards as they were before.

    Args:
        pipeline: of this package.
        images: an image (PIL image, array, tensor), or several.
        repeat: how often each image is taken.
        plot: path of a bar chart to write.
        seed: of the first draws.

    Raises:
        ValueError: no images, or ``repeat`` below 1.
    """
    if repeat < 1:
        raise ValueError(f"repeat should be at least 1, got {repeat}")
    originals = listed(images)
    generator = generator_of(pipeline)
    twin: Twin | None
    try:
        twin = twin_of(pipeline)
        against = f"torchvision {twin.version}"
    except NoTwinError as reason:
        twin, against = None, str(reason)
    from tqdm import tqdm

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with untouched(generator), tqdm(total=repeat * len(originals), unit="image", disable=None) as progress:
            seed_all(seed, generator)
            _, log = logged(pipeline, originals[0])
            times = _Times([node.name for node in log.steps])
            theirs = steps_like(twin, times.names) if twin else None
            for number in range(-1, repeat * len(originals)):
                image = originals[max(number, 0) % len(originals)]
                if number == 0:
                    # What was timed before only loaded code and tables.
                    times = _Times(times.names)
                _measure(times, pipeline, generator, twin, theirs, image, seed + max(number, 0))
                progress.update(number >= 0)
    finally:
        torch.set_num_threads(threads)
    result = _summed(times, pipeline.mode, len(originals), against, theirs is not None)
    if plot is not None:
        result.plot(plot)
    return result


def _measure(
    times: _Times,
    pipeline: Any,
    generator: Any,
    twin: Twin | None,
    steps: list[Callable[[Any], Any]] | None,
    image: Any,
    seed: int,
) -> None:
    seed_all(seed, generator)
    mine = _anew(image)
    start = time.perf_counter()
    pipeline(mine)
    seconds = time.perf_counter() - start
    seed_all(seed, generator)
    _, log = logged(pipeline, _anew(image))
    times.add(log, seconds)
    if twin is None:
        return
    seed_all(seed)
    # The image stays what it was, also where a transform works in place.
    image = image.clone() if isinstance(image, torch.Tensor) else image
    spent = []
    for step in [twin.whole] if steps is None else steps:
        start = time.perf_counter()
        image = step(pillow_image(image))
        spent.append(1e3 * (time.perf_counter() - start))
    start = time.perf_counter()
    delivered(pipeline, image)
    spent.append(1e3 * (time.perf_counter() - start))
    times.theirs.append(sum(spent))
    times.their_steps.append(spent)


def _anew(image: Any) -> Any:
    """The image as a dataset hands it out: a handle that keeps no pixels of the call before."""
    return copy.copy(image) if isinstance(image, LazyImage) else image


def _summed(times: _Times, mode: str, images: int, against: str, by_step: bool) -> Profile:
    result = Profile(mode, images, len(times.ours), against)
    # Of medians: what the machine did besides in one call is not the pipeline's.
    weights = {key: statistics.median(values) * len(values) for key, values in times.rows.items()}
    whole = sum(weights.values())
    order = sorted(times.rows, key=lambda key: statistics.mean(times.places.get(key, [math.inf])))
    for library, name, tops in [key for key in order if key[0]] + [key for key in order if not key[0]]:
        values, weight = times.rows[library, name, tops], weights[library, name, tops]
        if name == "store":
            tops = tuple(sorted(times.stored))
        label = ", ".join(f"{top + 1} {times.names[top]}" for top in tops)
        result.passes.append(
            {
                "name": name,
                "by": library,
                "steps": [times.names[top] for top in tops],
                "label": label,
                **_quartiles(values),
                "calls": len(values),
                "share": weight / whole if whole else 0.0,
            }
        )
    theirs = [statistics.median(column) for column in zip(*times.their_steps)]
    labels = [f"{k + 1} {name}" for k, name in enumerate(times.names)]
    for k, name in enumerate([*labels, "reading, keeping and storing", *_OWN[:2]]):
        ours = statistics.median(row[k] for row in times.steps)
        there = theirs[k] if by_step and k < len(labels) else None
        result.steps.append({"name": name, "ours": ours, "theirs": there})
    result.total = {"ours": _quartiles(times.ours), "theirs": None, "ratio": None}
    if times.theirs:
        result.total["theirs"] = _quartiles(times.theirs)
        result.total["ratio"] = statistics.median(b / a for a, b in zip(times.ours, times.theirs))
    return result
