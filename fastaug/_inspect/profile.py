"""Measure the time of the parts of a pipeline, beside torchvision's: profile()."""

from __future__ import annotations

import copy
import math
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from os import PathLike
from typing import Any

from PIL import Image
from torch import nn
from torch.utils._pytree import tree_map_only

from fastaug._batch.threads import torch_with_one_thread
from fastaug._draft.generators import generator_of, seed_all, untouched
from fastaug._draft.pipeline import Pipeline
from fastaug._image.lazy import LazyImage
from fastaug._inspect import notebook, words
from fastaug._inspect.log import Log, logged
from fastaug._inspect.picture import listed
from fastaug._inspect.records import Node, Outside, walked
from fastaug._inspect.twin import NoTwinError, Twin, copied, sample_for, steps_like, twin_of
from fastaug._own import own
from fastaug._sample.pipeline import SamplePipeline

#: How often a call is made with the same draws; the shortest time counts.
_RUNS = 3

_BETWEEN, _DRAWS, _PYTHON = "reading, keeping and storing", "draws", "Python"
_BESIDES = "native, besides its passes"

#: The library that does a pass, its name, the positions of its steps, and its leaf of a sample.
_Key = tuple[str, str, tuple[int, ...], str]


class Profile(notebook.Report):
    """Times of a pipeline. Prints as a table. All times are milliseconds of processor time of the calling thread.

    A time without another name is the mean over all calls, so that those of the passes, and those of the steps, add up
    to that of a call. A call is made three times with the same draws, and the shortest time counts.

    Attributes:
        passes: a dictionary for each pass: who does it ("by"), its "name", the "steps" that it is of, the "leaf" of a
            sample whose pixels or places they are, "" of an image alone and of what is done to all, its "mean", the
            quartiles "low", "median" and "high" over the "calls" that made it, and its "share" of the total. Then the
            draws, Python (what a call takes besides all that is named), and the time that the native calls take besides
            their passes.
        steps: a dictionary for each transform, those of a Compose in a Compose each by itself: its time "ours", and
            "theirs", torchvision's. A pass of k transforms counts a k-th for each of them, and what is of none has a
            row of its own.
        total: "ours" and "theirs", each with its "mean" and quartiles, and the "ratio" of the means, above 1 where
            fastaug takes less.
        against: torchvision's version, or why there is none to compare with.
        calls: how many were timed.
        waiting: by the clock, what a call takes besides: it waits for files, other threads or a processor.
        elsewhere: processor time that other threads of this process take during a call.
    """

    def __init__(self, mode: str, images: int, calls: int, against: str, unit: str = "image") -> None:
        self.mode, self.images, self.calls, self.against = mode, images, calls, against
        self._unit = unit
        self.passes: list[dict[str, Any]] = []
        self.steps: list[dict[str, Any]] = []
        self.total: dict[str, Any] = {}
        self.waiting = self.elsewhere = 0.0

    def __str__(self) -> str:
        lines = [f"{self.head()}; milliseconds of processor time"]
        for table in self.tables():
            lines += ["", *table.lines()]
        return "\n".join([*lines, "", *self.summary()])

    def _repr_html_(self) -> str:
        return notebook.profile(self)

    def tables(self) -> list[words.Table]:
        ours, theirs = self.total["ours"], self.total["theirs"]
        leaf = "leaf" if any(one["leaf"] for one in self.passes) else ""
        rows: list[tuple[str, ...]] = [(leaf, "pass", "by", "steps", "a call", "share", "made in", "each time")]
        for one in self.passes:
            calls = "" if one["calls"] == self.calls else f"{one['calls']} of {self.calls}"
            times = f"{one['mean']:.3f}", f"{100 * one['share']:.1f} %", calls, f"{one['low']:.3f}-{one['high']:.3f}"
            rows.append((one["leaf"].strip(), one["name"], one["by"], one["label"], *times))
        rows.append(("", "a call", "", "", f"{ours['mean']:.3f}", "", "", f"{ours['low']:.3f}-{ours['high']:.3f}"))
        passes = words.Table(rows, "<<<<>>>>", (40, 36, 18, 60, 10, 8, 12, 16))
        total = {"name": "a call", "ours": ours["mean"], "theirs": theirs and theirs["mean"]}
        rows = [("step", "fastaug", "" if theirs is None else "torchvision")]
        for step in [*self.steps, total]:
            other = "" if step["theirs"] is None else f"{step['theirs']:.3f}"
            rows.append((step["name"], f"{step['ours']:.3f}", other))
        return [passes, words.Table(rows, "<>>", (44, 10, 12))]

    def head(self) -> str:
        images, calls = words.counted(self.images, self._unit), words.counted(self.calls, "call")
        return f"mode {self.mode}: {images}, {calls}, one thread"

    def verdict(self) -> str:
        if self.total["theirs"] is None:
            return f"nothing to compare with: {self.against}"
        return words.compared(self.total["ours"]["mean"], self.total["theirs"]["mean"])

    def summary(self) -> list[str]:
        """Return the verdict, and the times that are in none of the parts, in words."""
        lines = [self.verdict() if self.total["theirs"] is None else f"{self.verdict()} ({self.against})"]
        whole = self.total["ours"]["mean"]
        if self.waiting > max(0.1, 0.2 * whole):
            lines.append(f"besides, a call waits {self.waiting:.2f} ms: for files, other threads or a processor")
        if self.elsewhere > max(0.05, 0.05 * whole):
            lines.append(f"besides, other threads of this process take {self.elsewhere:.2f} ms during a call")
        return lines

    def figure(self) -> Image.Image:
        """Draw a bar chart of the steps."""
        from fastaug._inspect import plot

        return plot.profile(self)


def _spread(values: list[float], calls: int) -> dict[str, float]:
    """Return the mean over all calls, and the quartiles over those that have values."""
    low, middle, high = [values[0]] * 3
    if len(values) > 1:
        low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return {"mean": math.fsum(values) / calls, "low": low, "median": middle, "high": high}


class _Clock:
    """A clock that reads milliseconds since it was made."""

    def __init__(self) -> None:
        self._process, self._wall, self._thread = time.process_time_ns(), time.perf_counter_ns(), time.thread_time_ns()

    def read(self) -> tuple[float, float, float]:
        """Return the processor time of this thread, that of others of this process, and the time in neither."""
        thread = time.thread_time_ns() - self._thread
        wall = time.perf_counter_ns() - self._wall
        process = time.process_time_ns() - self._process
        return thread / 1e6, max(0, process - thread) / 1e6, max(0, wall - thread) / 1e6


@dataclass
class _Call:
    """The times of one call, of its passes, which add up to it, and of torchvision's steps."""

    ours: float
    elsewhere: float
    waiting: float
    passes: dict[_Key, float]
    theirs: list[float] | None


def profile(
    pipeline: Any,
    images: Any,
    repeat: int = 5,
    plot: str | PathLike[str] | None = None,
    seed: int = 0,
) -> Profile:
    """Time a pipeline over images or samples, as its method `profile` does.

    Both libraries share the draws. A handle is a new one in each call, as a dataset returns them. A call is timed as a
    whole; its passes are timed in a second call with the same draws. The random generators are left as they were.

    Raises:
        ValueError: no images, or ``repeat`` below 1.
    """
    if repeat < 1:
        raise ValueError(f"repeat should be at least 1, got {repeat}")
    originals = listed(images, isinstance(pipeline, SamplePipeline))
    generator = generator_of(pipeline)
    from tqdm import tqdm

    total = repeat * len(originals)
    progress = tqdm(total=total, unit="image", disable=None)
    with own(), torch_with_one_thread(), untouched(generator, seed=seed), progress:
        _, log = logged(pipeline, originals[0])
        stopwatch = _Stopwatch(pipeline, generator, log)
        # What is timed first only loads code and tables.
        stopwatch.call(originals[0], seed, 1)
        calls = []
        for number in range(total):
            calls.append(stopwatch.call(originals[number % len(originals)], seed + number, _RUNS))
            progress.update()
    result = stopwatch.summed(calls, len(originals))
    if plot is not None:
        result.plot(plot)
    return result


def _leaves(nodes: list[Node], prefix: str = "") -> Iterator[tuple[str, Node]]:
    """Yield the steps of a call with their numbers; a container that is only a sequence counts as what it holds."""
    for position, node in enumerate(nodes, 1):
        number = f"{prefix}{position}"
        transform = node.transform
        if isinstance(transform, (Pipeline, nn.Sequential)) and node.children:
            yield from _leaves(node.children, f"{number}.")
        else:
            yield number, node


def _passes(log: Log, whole: float) -> dict[_Key, float]:
    """Return the times of the passes of a call, from the log of another one with the same draws."""
    position = {inner: k for k, (_, node) in enumerate(_leaves(log.steps)) for inner in walked([node])}
    passes: dict[_Key, float] = {}
    besides = 0.0
    for entry in log.timeline:
        if isinstance(entry, Outside):
            parts = [(entry.library, entry.name, entry.nodes, entry.seconds)]
        else:
            parts = [("fastaug", one.name, entry.nodes(one.origin), entry.seconds_of(one)) for one in entry.passes]
            besides += max(0.0, entry.seconds - math.fsum(part[3] for part in parts))
        # A function of the user is called once for all leaves.
        leaf = "" if isinstance(entry, Outside) and entry.kind == "barrier" else entry.leaf
        for library, name, nodes, seconds in parts:
            key = library, name, tuple(sorted({position[node] for node in nodes if node in position})), leaf
            passes[key] = passes.get(key, 0.0) + 1e3 * max(0.0, seconds)
    passes["", _DRAWS, (), ""] = 1e3 * log.draws
    passes["", _BESIDES, (), ""] = 1e3 * besides
    passes["", _PYTHON, (), ""] = max(0.0, 1e3 * log.seconds() - math.fsum(passes.values()))
    # The same work takes a little more or less in another call.
    scale = whole / (math.fsum(passes.values()) or 1.0)
    return {key: scale * spent for key, spent in passes.items()}


class _Stopwatch:
    """A stopwatch for calls of a pipeline, whose steps a log shows, and of its twin."""

    def __init__(self, pipeline: Any, generator: Any, log: Log) -> None:
        self.pipeline, self.generator = pipeline, generator
        self.of_samples = isinstance(pipeline, SamplePipeline)
        self.leaves = list(log.leaves)
        leaves = list(_leaves(log.steps))
        self.names = [node.name for _, node in leaves]
        self.labels = [f"{number} {node.name}" for number, node in leaves]
        self.twin: Twin | None = None
        self.their_steps: list[Callable[[Any], Any]] | None = None
        try:
            self.twin = twin_of(pipeline)
            self.against = f"torchvision {self.twin.version}"
            self.their_steps = steps_like(self.twin, [type(node.transform).__name__ for _, node in leaves])
        except NoTwinError as reason:
            self.against = str(reason)

    def call(self, image: Any, seed: int, runs: int) -> _Call:
        """Return the shortest times of several calls with the same draws."""
        whole: list[tuple[float, float, float]] = []
        logs: list[tuple[float, Log]] = []
        theirs: list[list[float]] = []
        for _ in range(runs):
            seed_all(seed, self.generator)
            mine = self._anew(image)
            clock = _Clock()
            self.pipeline(mine)
            whole.append(clock.read())
            seed_all(seed, self.generator)
            _, log = logged(self.pipeline, self._anew(image))
            logs.append((log.seconds() + log.held, log))
            if self.twin is not None:
                seed_all(seed)
                try:
                    theirs.append(self._their_call(self.twin, image))
                except Exception as error:
                    self.twin, self.against = None, f"{self.against} raises {words.failure(error)}"
        ours, elsewhere, waiting = (min(times) for times in zip(*whole))
        passes = _passes(min(logs, key=lambda pair: pair[0])[1], ours)
        shortest = min(theirs, key=math.fsum) if self.twin is not None else None
        return _Call(ours, elsewhere, waiting, passes, shortest)

    def _their_call(self, twin: Twin, image: Any) -> list[float]:
        """Return the times of torchvision's steps, or of all together; then of the dtype and format of the result."""
        # The image stays what it was, also where a transform works in place.
        image = copied(image)
        spent = []
        for number, step in enumerate([twin.whole] if self.their_steps is None else self.their_steps):
            clock = _Clock()
            # Further steps of samples get no encoded images: to look for them would take time.
            taken = image if self.of_samples and number else sample_for(self.pipeline, image)
            image = step(taken)
            spent.append(clock.read()[0])
        if self._formats():
            clock = _Clock()
            self.pipeline._formatted(image)
            spent.append(clock.read()[0])
        return spent

    def _anew(self, image: Any) -> Any:
        """Return the image or sample as a dataset returns it: its handles keep no pixels of the call before."""
        return tree_map_only(LazyImage, copy.copy, image)

    def _formats(self) -> bool:
        return any(getattr(self.pipeline, name, None) is not None for name in ("dtype", "memory_format"))

    def summed(self, calls: list[_Call], images: int) -> Profile:
        """Return the profile that the calls make up."""
        count = len(calls)
        result = Profile(self.pipeline.mode, images, count, self.against, "sample" if self.of_samples else "image")
        ours = _spread([call.ours for call in calls], count)
        result.total = {"ours": ours, "theirs": None, "ratio": None}
        result.elsewhere = math.fsum(call.elsewhere for call in calls) / count
        result.waiting = math.fsum(call.waiting for call in calls) / count
        theirs = [call.theirs for call in calls if call.theirs is not None and self.twin is not None]
        if theirs:
            result.total["theirs"] = _spread([math.fsum(spent) for spent in theirs], count)
            mean = result.total["theirs"]["mean"]
            result.total["ratio"] = mean / ours["mean"] if ours["mean"] else math.inf
        self._add_passes(result, calls)
        self._add_steps(result, calls, [math.fsum(column) / count for column in zip(*theirs)])
        return result

    def _add_passes(self, result: Profile, calls: list[_Call]) -> None:
        # A store has other steps in each call: it is one row, of all of them.
        stored: dict[str, set[int]] = {}
        rows: dict[_Key, list[float]] = {}
        places: dict[_Key, list[int]] = {}
        for call in calls:
            found: dict[_Key, float] = {}
            for (library, name, tops, leaf), spent in call.passes.items():
                if name == "store":
                    stored.setdefault(leaf, set()).update(tops)
                    tops = ()
                key = library, name, tops, leaf
                found[key] = found.get(key, 0.0) + spent
            for place, (key, spent) in enumerate(found.items()):
                rows.setdefault(key, []).append(spent)
                places.setdefault(key, []).append(place)
        whole = result.total["ours"]["mean"]
        last = (_DRAWS, _PYTHON, _BESIDES)

        def rank(key: _Key) -> tuple[float, ...]:
            leaf = self.leaves.index(key[3]) if key[3] in self.leaves else len(self.leaves)
            return 0 if key[0] else 1 + last.index(key[1]), leaf, statistics.mean(places[key])

        for key in sorted(rows, key=rank):
            library, name, tops, leaf = key
            spread = _spread(rows[key], result.calls)
            steps = sorted(stored[leaf]) if name == "store" else tops
            result.passes.append(
                {
                    "name": name,
                    "by": library,
                    "leaf": leaf,
                    "steps": [self.names[top] for top in steps],
                    "label": ", ".join(self.labels[top] for top in steps),
                    **spread,
                    "calls": len(rows[key]),
                    "share": spread["mean"] / whole if whole else 0.0,
                }
            )

    def _add_steps(self, result: Profile, calls: list[_Call], theirs: list[float]) -> None:
        formatting = [theirs.pop()] if theirs and self._formats() else []
        if self.their_steps is None:
            theirs = []
        names = [*self.labels, _BETWEEN, _DRAWS, _PYTHON]
        ours = [0.0] * len(names)
        for call in calls:
            for (library, name, tops, _), spent in call.passes.items():
                besides = name if not library and name in names else _BETWEEN
                # A pass of several steps counts for each in equal parts.
                for step in tops or (names.index(besides),):
                    ours[step] += spent / (len(tops) or 1) / result.calls
        for k, name in enumerate(names):
            result.steps.append({"name": name, "ours": ours[k], "theirs": theirs[k] if k < len(theirs) else None})
        if formatting and theirs:
            # fastaug stores its result in that form.
            result.steps.append({"name": "dtype and memory format", "ours": 0.0, "theirs": formatting[0]})
