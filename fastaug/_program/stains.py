"""Find the matrices of stains in images, and the maps of optical densities that change stains.

A matrix has a row for each stain, its optical density in red, green and blue. All is computed in Python's floats, so
that a map is the same on every machine.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from fastaug import _C

Triple = tuple[float, float, float]
Rows = tuple[Triple, ...]

#: The light that passes no tissue, in torchstain.
_WHITE = 240.0
_DENSITIES = -np.log((np.arange(256) + 1.0) / _WHITE)
_PERCENT = 1.0
#: The least number of pixels of tissue that have a matrix.
LEAST_TISSUE = 16
#: The largest square of the volume between parallel rows, as a share of that of a box with such edges.
_PARALLEL = 1e-6
# The number of pixels for each thread from which colours are counted. The table of 64 MB takes as long as 25 tiles of
# 2^20 pixels.
_MANY = 1 << 25
# Up to this many pixels, those of tissue are copied, which is faster than to find them twice.
_FEW = 1 << 23
# About this many pixels tell where percentiles will be found.
_SAMPLED = 1 << 14
# The error of that, in standard errors of independent pixels. Neighbours and tiles are alike.
_ERRORS = (4, 16, 64)


class Stains(NamedTuple):
    """The matrix of two rows of images, and the 99th percentile of the amount of each stain."""

    matrix: Rows
    strengths: tuple[float, float]


def _dot(a: Sequence[float], b: Sequence[float]) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _cross(a: Triple, b: Triple) -> Triple:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def is_singular(rows: Rows) -> bool:
    """Return True for rows that are zero, or depend on one another."""
    size = math.prod(_dot(row, row) for row in rows)
    normal = _cross(rows[0], rows[1])
    volume = _dot(normal, normal) if len(rows) == 2 else _dot(normal, rows[2]) ** 2
    return not volume > _PARALLEL * size


def completed(rows: Rows) -> Rows:
    """Return the rows with a third, of length 1, which is orthogonal to the other two."""
    if len(rows) == 3:
        return rows
    x, y, z = _cross(rows[0], rows[1])
    length = math.sqrt(x * x + y * y + z * z)
    return (*rows, (x / length, y / length, z / length))


def unmixing(rows: Rows) -> Rows:
    """Return the columns of the (pseudo)inverse: for each stain, its amount in the density of each channel."""
    first, second, third = basis = completed(rows)
    volume = _dot(_cross(first, second), third)
    sides = _cross(second, third), _cross(third, first), _cross(first, second)
    inverse = tuple((x / volume, y / volume, z / volume) for x, y, z in sides)
    return inverse[: len(rows)] if rows is not basis else inverse


def restained(
    rows: Rows, scale: Sequence[float], shift: Sequence[float], residual: str, targets: Rows | None = None
) -> tuple[float, ...]:
    """Return the map of densities that scales and shifts the stains of `rows`, which become those of `targets`.

    The part in neither of two rows is dropped ("project"), kept ("preserve") or a third stain ("augment"). Of three
    rows, "preserve" keeps the third. The 12 numbers are a 3 by 3 matrix, from channel to channel, and three shifts.
    """
    basis = rows if residual == "project" else completed(rows)
    amounts = unmixing(basis)
    targets = basis if targets is None else targets
    count = len(scale)
    scale = (*scale, *(1.0,) * (len(basis) - count))
    shift = (*shift, *(0.0,) * (len(basis) - count))
    stains = range(len(basis))
    mix = [sum(amounts[k][c] * scale[k] * targets[k][to] for k in stains) for c in range(3) for to in range(3)]
    return (*mix, *(sum(shift[k] * targets[k][to] for k in stains) for to in range(3)))


def normalized(found: Stains, wanted: Stains) -> tuple[float, ...]:
    """Return torchstain's map from the found stains to the wanted ones. What is in neither stain is dropped."""
    scale = [most / own for most, own in zip(wanted.strengths, found.strengths, strict=True)]
    numbers = restained(found.matrix, scale, (0.0, 0.0), "project", wanted.matrix)
    # Densities and light are of 240 there, and of 255 in the core.
    brighter = math.log(255.0 / _WHITE)
    return (*numbers[:9], *(brighter - brighter * sum(numbers[to:9:3]) + numbers[9 + to] for to in range(3)))


Each = Callable[[Callable[[Any], Any], Sequence[Any]], Iterable[Any]]


def found(sources: Sequence[_C.Source], least: float = 0.15) -> Stains | None:
    """Find Macenko's stains like torchstain's NumPy code. Return None if there is too little tissue.

    `least` is the least density of tissue, in every channel.
    """
    bag = Bag(1)
    for number, source in enumerate(sources):
        bag.add(number, source)
    return bag.found(least)


class Bag:
    """Images from several threads, which are kept while they are few. Later their colours are counted."""

    def __init__(self, threads: int) -> None:
        self._most = _MANY * threads
        self._lock = threading.Lock()
        self._total = 0
        self._kept: list[tuple[int, _C.Source]] = []
        self._counters: list[_Counters] = []  # those that no thread has
        self._many = False

    def add(self, number: int, source: _C.Source, lasts: bool = True) -> None:
        """Add the image of a number. If its pixels cannot be made, this raises, and it may be added again.

        `lasts` means that its pixels are in memory and stay unchanged.
        """
        with self._lock:
            self._total += source.height * source.width
            if self._total > self._most:
                self._many = True
            few = not self._many
            kept: list[_C.Source] = []
            if not few:
                kept, self._kept = [one for _, one in self._kept], []
        if few:
            entry = number, source if lasts else _in_memory(source)
            with self._lock:
                self._kept.append(entry)
        else:
            self._count([*kept, source])

    def _count(self, sources: Sequence[_C.Source]) -> None:
        with self._lock:
            counters = self._counters.pop() if self._counters else _Counters()
        try:
            for source in sources:
                counters.add(source)
        finally:
            with self._lock:
                self._counters.append(counters)

    def found(self, least: float, each: Each = map) -> Stains | None:
        """Return the stains of all, or None for too little tissue. `each` is map, or the same with threads."""
        kept = [source for _, source in sorted(self._kept, key=lambda entry: entry[0])]
        if not self._many:
            return _found(_Pixels(kept, least, each))
        self._count(kept)  # one that came when the others were taken
        return _found(_Colours(*_colours_of(self._counters), least))


def _in_memory(source: _C.Source) -> _C.Source:
    pixels = np.empty((source.height, source.width, 3), np.uint8)
    _C.run([(b"", source, _C.into_array(pixels))])
    return _C.from_array(pixels)


class _Counters:
    """The number of pixels of each colour."""

    #: The largest number in a counter of the core.
    _MOST = (1 << 32) - 1

    def __init__(self) -> None:
        self.now = np.zeros(1 << 24, np.uint32)
        self.counted = 0
        self.before: np.ndarray | None = None  # earlier counts, in int64

    def add(self, source: _C.Source) -> None:
        size = source.height * source.width
        if self.counted + size > self._MOST:
            self.before = self.now.astype(np.int64) if self.before is None else self.before + self.now
            self.now[:] = self.counted = 0
        _C.count_colours(source, self.now)
        self.counted += size


def _colours_of(counters: Sequence[_Counters]) -> tuple[np.ndarray, np.ndarray]:
    """Return the colours and the number of pixels of each. This changes the counters."""
    first, *others = counters
    counts = first.now
    if sum(one.counted for one in counters) > _Counters._MOST or any(one.before is not None for one in counters):
        counts = counts.astype(np.int64)
    for other in others:
        counts += other.now
    for one in counters:
        if one.before is not None:
            counts += one.before
    colours = np.flatnonzero(counts)
    return colours, counts[colours].astype(np.int64)


def _found(seen: _Colours | _Pixels) -> Stains | None:
    pixels, sums = seen.moments()
    if pixels < LEAST_TISSUE:
        return None
    products = sums[[3, 4, 5, 4, 6, 7, 5, 7, 8]].reshape(3, 3)
    covariance = (products - np.outer(sums[:3], sums[:3]) / pixels) / (pixels - 1)
    plane = np.linalg.eigh(covariance)[1][:, 1:3]
    shares = (_PERCENT / 100, 1 - _PERCENT / 100)
    ends = []
    for low, high, weight in seen.directions(plane, shares):
        angle = _between(_angle(low), _angle(high), weight)
        ends.append(plane @ [math.cos(angle), math.sin(angle)])
    if ends[0][0] <= ends[1][0]:
        ends.reverse()
    first, second = (tuple(map(float, end)) for end in ends)
    matrix: Rows = ((first[0], first[1], first[2]), (second[0], second[1], second[2]))
    if is_singular(matrix):
        return None
    axes = np.array(unmixing(matrix)).T
    one, two = (_between(low, high, weight) for low, high, weight in seen.amounts(axes, (shares[1],) * 2))
    return Stains(matrix, (one, two)) if one > 0 and two > 0 else None


#: The two numbers around a quantile, and its way from the first to the second; and two quantiles as shares.
Around = tuple[float, float, float]
Shares = tuple[float, float]


class _Colours:
    """The distinct colours of many images."""

    def __init__(self, colours: np.ndarray, counts: np.ndarray, least: float) -> None:
        self.counts = counts
        self.densities = _DENSITIES[np.stack([colours >> 16, colours >> 8 & 255, colours & 255], 1)]
        tissue = (self.densities >= least).all(1)
        self.tissue, self.of_tissue = self.densities[tissue], self.counts[tissue]

    def moments(self) -> tuple[int, np.ndarray]:
        weighted = self.tissue * self.of_tissue[:, None]
        return int(self.of_tissue.sum()), np.concatenate(
            [weighted.sum(0), (weighted.T @ self.tissue)[np.triu_indices(3)]]
        )

    def directions(self, plane: np.ndarray, shares: Shares) -> list[Around]:
        x, y = (self.tissue @ plane).T
        # As the core's, whose division is the same.
        share = y / (np.abs(x) + np.abs(y) + 1e-300)
        direction = np.where(x < 0, np.copysign(2, y) - share, share)
        return [_weighed(direction, self.of_tissue, share) for share in shares]

    def amounts(self, axes: np.ndarray, shares: Shares) -> list[Around]:
        amounts = self.densities @ axes
        return [_weighed(amounts[:, n], self.counts, share) for n, share in enumerate(shares)]


def _weighed(numbers: np.ndarray, counts: np.ndarray, share: float) -> Around:
    order = np.argsort(numbers)
    until = np.cumsum(counts[order])
    last = int(until[-1]) - 1
    place = share * last
    first = math.floor(place)
    low, high = np.searchsorted(until, [first, min(first + 1, last)], side="right")
    return float(numbers[order[low]]), float(numbers[order[high]]), place - first


class _Pixels:
    """The pixels of images, which are read up to three times."""

    def __init__(self, sources: Sequence[_C.Source], least: float, each: Each) -> None:
        self.sources, self.least, self.each = sources, least, each
        self.total = sum(source.height * source.width for source in sources)
        self.few = self.total <= _FEW

    def moments(self) -> tuple[int, np.ndarray]:
        densities, least, few = _DENSITIES.tobytes(), self.least, self.few
        parts = list(self.each(lambda source: _C.density_moments(source, densities, least, few), self.sources))
        self.tissue = self.sources
        if few:
            self.tissue, self.least = [_row(kept) for count, _, kept in parts if count], -math.inf
        self.pixels = sum(count for count, _, _ in parts)
        return self.pixels, np.sum([np.frombuffer(numbers) for _, numbers, _ in parts], 0)

    def directions(self, plane: np.ndarray, shares: Shares) -> list[Around]:
        return _quantiles(self.tissue, self.each, self.least, plane, True, shares, self.pixels)

    def amounts(self, axes: np.ndarray, shares: Shares) -> list[Around]:
        return _quantiles(self.sources, self.each, -math.inf, axes, False, shares, self.total)


def _row(pixels: bytes) -> _C.Source:
    return _C.from_array(np.frombuffer(pixels, np.uint8).reshape(1, -1, 3))


def _quantiles(
    sources: Sequence[_C.Source],
    each: Each,
    least: float,
    axes: np.ndarray,
    direction: bool,
    shares: Shares,
    pixels: int,
) -> list[Around]:
    """Find the numbers around two quantiles.

    A sample of pixels shows where they are. If that is wrong, search further away, and at last among all pixels.
    """
    plane = np.ascontiguousarray(axes, np.float64).tobytes()
    densities = _DENSITIES.tobytes()

    def values(ranges: Sequence[float], step: int) -> list[tuple[int, np.ndarray]]:
        asked = np.array(ranges).tobytes()
        made = list(
            each(lambda source: _C.density_values(source, densities, least, plane, direction, asked, step), sources)
        )
        return [
            (sum(part[2 * n] for part in made), np.concatenate([np.frombuffer(part[2 * n + 1]) for part in made]))
            for n in range(2)
        ]

    everything = (-math.inf, math.inf) * 2
    places = [share * (pixels - 1) for share in shares]
    step = sum(source.height * source.width for source in sources) // _SAMPLED
    if step > 1:
        samples = [sample for _, sample in values(everything, step | 1)]
        for errors in _ERRORS:
            ranges = [
                end for share, sample in zip(shares, samples, strict=True) for end in _around(sample, share, errors)
            ]
            result = _at(values(ranges, 1), places, pixels)
            if result is not None:
                return result
    return _at(values(everything, 1), places, pixels) or []


def _around(sample: np.ndarray, share: float, errors: float) -> tuple[float, float]:
    """Return the range of a quantile, within that many standard errors of the sample's."""
    place, off = share * len(sample), errors * (math.sqrt(share * (1 - share) * len(sample)) + 1)
    low, high = int(place - off), int(place + off)
    there = [rank for rank in (low, high) if 0 <= rank < len(sample)]
    ordered = np.partition(sample, there) if there else sample
    return (
        float(ordered[low]) if low >= 0 else -math.inf,
        float(ordered[high]) if high < len(sample) else math.inf,
    )


def _at(values: list[tuple[int, np.ndarray]], places: list[float], pixels: int) -> list[Around] | None:
    """Return the numbers at places in the order of all, or None if they are not among those given."""
    result = []
    for (below, within), place in zip(values, places, strict=True):
        first = math.floor(place)
        low, high = first - below, min(first + 1, pixels - 1) - below
        if low < 0 or high >= len(within):
            return None
        ordered = np.partition(within, (low, high))
        result.append((float(ordered[low]), float(ordered[high]), place - first))
    return result


def _between(low: float, high: float, weight: float) -> float:
    """Interpolate as NumPy's percentiles do."""
    gap = high - low
    return high - gap * (1 - weight) if weight >= 0.5 else low + gap * weight


def _angle(direction: float) -> float:
    """Return the angle of a direction as the core encodes it (csrc/execute/densities.h)."""
    if abs(direction) <= 1:
        return math.atan2(direction, 1 - abs(direction))
    y = math.copysign(2 - abs(direction), direction)
    return math.atan2(y, abs(y) - 1)
