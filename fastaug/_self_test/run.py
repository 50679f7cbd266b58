"""fastaug.check(): compare every op and container with the installed torchvision and Pillow."""

from __future__ import annotations

import importlib
import io
import itertools
import math
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import torch
from PIL import Image

from fastaug import io as fastaug_io
from fastaug import pillow
from fastaug._draft import releases
from fastaug._draft.generators import untouched
from fastaug._inspect import info as machine
from fastaug._inspect import notebook, words
from fastaug._inspect.check import Comparison, compare, outcome
from fastaug._inspect.info import Info
from fastaug._inspect.pairs import pairs, samples
from fastaug._own import own
from fastaug._self_test import cases

#: For floating-point images with values in [0, 1]: docs/exact.md.
TOLERANCE = 1e-5

_FLOATING = ("float", "samples")

_SEEDS = (0, 1)
_SHOWN = 30


@dataclass
class Cell:
    """The comparison of one op on images of one container.

    Attributes:
        package: "transforms", "transforms.v2", "pillow" or "io".
        op: name of the class or function.
        container: "PIL", "uint8", "float", "samples", or a format of files.
        route: "import" for fastaug's op, "compile" for ``fastaug.compile`` of the other library's.
        calls: number of compared calls.
        raised: number of calls that raise the same type of error in both.
        differences: a description of each other call whose results differ by more than the tolerance.
        largest: largest difference within the tolerance.
        inner: names of the op and of those that it contains.
    """

    package: str
    op: str
    container: str
    route: str
    calls: int = 0
    raised: int = 0
    differences: list[str] = field(default_factory=list)
    largest: float = 0.0
    inner: frozenset[str] = frozenset()

    @property
    def expected(self) -> bool:
        """True if the installed torchvision differs here from the release that fastaug follows."""
        api = {"transforms": "v1", "transforms.v2": "v2"}.get(self.package)
        return self.route == "import" and api is not None and any(releases.rules(api, op) for op in self.inner)

    @property
    def verdict(self) -> str:
        """One of "equal", "within 1e-5", "raises" (in both), "as 0.29" (expected), and "DIFFERS"."""
        if self.differences:
            return f"as {releases.spelled(releases.FOLLOWED)}" if self.expected else "DIFFERS"
        if self.raised == self.calls:
            return "raises"
        return f"within {TOLERANCE:.0e}".replace("e-0", "e-") if self.largest else "equal"


@dataclass(repr=False)
class SelfTest:
    """The result of :func:`fastaug.check`. It prints as a table, and is true if nothing differs.

    Attributes:
        info: the compared versions and the machine.
        cells: a :class:`Cell` for each op, container and route.
        seconds: duration.
    """

    info: Info
    cells: list[Cell] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def torchvision(self) -> bool:
        """True if torchvision is installed. Otherwise only Pillow was compared."""
        return any(cell.package.startswith("transforms") for cell in self.cells)

    @property
    def differing(self) -> list[Cell]:
        return [cell for cell in self.cells if cell.differences]

    @property
    def unexpected(self) -> list[Cell]:
        """The differing cells that the release of torchvision does not explain."""
        return [cell for cell in self.differing if not cell.expected]

    def __bool__(self) -> bool:
        return not self.differing

    def __str__(self) -> str:
        lines = [self.head(), ""]
        for table in self.tables():
            lines += [*table.lines(), ""]
        return "\n".join([*lines, *self.summary()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return notebook.self_test(self)

    def head(self) -> str:
        names = ("torchvision", "torch", "Pillow")
        versions = ", ".join(f"{name} {self.info.versions[name]}" for name in names)
        return f"fastaug {self.info.fastaug} ({self.info.isa}) against {versions}, on {self.info.processor}"

    def tables(self) -> list[words.Table]:
        """Return a table of torchvision's ops, and one of Pillow's and of files."""
        found: dict[tuple[str, str, str], list[Cell]] = {}
        for cell in self.cells:
            found.setdefault((cell.package, cell.op, cell.container), []).append(cell)
        verdicts = {key: _worst(of_both) for key, of_both in found.items()}
        tables = []
        columns = [(package, kind) for package, kinds in cases.CONTAINERS.items() for kind in kinds]
        ops = list(dict.fromkeys(cell.op for cell in self.cells if cell.package in cases.PACKAGES))
        if ops:
            head = ("op", *(f"{'v2' if package.endswith('v2') else 'v1'} {kind}" for package, kind in columns))
            rows = [(op, *(verdicts.get((package, op, kind), "") for package, kind in columns)) for op in ops]
            tables.append(_table(head, rows))
        others = [(key, said) for key, said in verdicts.items() if key[0] not in cases.PACKAGES]
        tables.append(_table(("op", "of", ""), [(f"{key[0]}.{key[1]}", key[2], said) for key, said in others]))
        return tables

    def summary(self) -> list[str]:
        """Return lines of the verdict and the differences."""
        calls = sum(cell.calls for cell in self.cells)
        near = max((cell.largest for cell in self.cells), default=0.0)
        lines = []
        if not self.differing:
            lines.append(f"Equal in all {calls:,} calls, pixels and random generators.")
        if wrong := self.unexpected:
            lines.append(f"NOT EQUAL in {_calls(wrong):,} of {calls:,} calls:")
            lines += _listed(wrong)
        if known := [cell for cell in self.differing if cell.expected]:
            followed, theirs = releases.spelled(releases.FOLLOWED), self.info.versions["torchvision"]
            lines.append(
                f"As torchvision {followed}, and not as {theirs}, in {_calls(known):,} of {calls:,} calls by import; "
                f"fastaug.compile gives what {theirs} gives:"
            )
            lines += _listed(known)
        if near:
            lines.append(f"Floating-point images are within {TOLERANCE:g}: by up to {near:.1e} here.")
        if not self.torchvision:
            lines.append("torchvision is not installed: compared with Pillow alone.")
        lines.append(f"It took {self.seconds:.0f} s.")
        return lines


def _calls(cells: list[Cell]) -> int:
    return sum(len(cell.differences) for cell in cells)


def _listed(cells: list[Cell]) -> list[str]:
    more = len(cells) - _SHOWN
    return [f"  {_told(cell)}" for cell in cells[:_SHOWN]] + [f"  and {more} more"] * (more > 0)


def _told(cell: Cell) -> str:
    place = f"{cell.package}.{cell.op}, {cell.container}" + (", compiled" if cell.route == "compile" else "")
    return f"{place}: {len(cell.differences)} of {cell.calls} calls; {words.cut(cell.differences[0], 160)}"


def _worst(cells: list[Cell]) -> str:
    said = [cell.verdict for cell in cells]
    return max(
        said, key=lambda one: (one == "DIFFERS", one.startswith("as "), one.startswith("within"), one == "equal")
    )


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> words.Table:
    return words.Table([head, *rows], "<" * len(head), [40] * len(head))


# ---- the comparison


Compile = Callable[[Any], Callable[..., Any]]


def run(compile: Compile, version: str) -> SelfTest:
    """Run the self-test with :func:`fastaug.compile` and fastaug's version."""
    from tqdm import tqdm

    begun = time.perf_counter()
    result = SelfTest(machine.info(version))
    # Some of the calls warn or raise on purpose.
    with own(), untouched(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        planned = [*_torchvision(compile), *_pillow(), *_files()]
        for one in tqdm(planned, desc="comparing", unit="op", disable=None):
            result.cells += one()
    result.info = machine.info(version)  # with the rules of blurs, which calls find out
    result.seconds = time.perf_counter() - begun
    return result


def _imported(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _torchvision(compile: Compile) -> Iterator[Callable[[], list[Cell]]]:
    for package, ops in cases.PACKAGES.items():
        theirs = _imported(f"torchvision.{package}")
        if theirs is None:
            continue
        ours = importlib.import_module(f"fastaug.{package}")
        for op, factories in sorted(ops.items()):
            if hasattr(theirs, op) or hasattr(theirs.functional, op):
                yield partial(_op, package, op, factories, ours, theirs, compile)


def _op(package: str, op: str, factories: list[cases.Factory], ours: Any, theirs: Any, compile: Compile) -> list[Cell]:
    """Compare an op of torchvision with fastaug's and, for a class, with its compiled form."""
    routes, seeds = (["import", "compile"], _SEEDS) if op[0].isupper() else (["import"], _SEEDS[:1])
    cells = []
    inner = frozenset(name for factory in factories for name in _inside(factory(ours))) | {op}
    for container, images in cases.CONTAINERS[package].items():
        made = [Cell(package, op, container, route, inner=inner) for route in routes]
        for factory in factories:
            other = factory(theirs)
            calls = [factory(ours) if cell.route == "import" else compile(other) for cell in made]
            for image, seed in itertools.product(images(), seeds):
                expected = outcome(other, image, seed, None)
                for cell, call in zip(made, calls):
                    _compare(cell, seed, outcome(call, image, seed, None), expected)
        cells += made
    return cells


def _other(
    package: str, op: str, images: dict[str, list[Any]], calls: list[tuple[cases.Call, cases.Call]]
) -> list[Cell]:
    """Compare a function of this package with another library's."""
    cells = [Cell(package, op, container, "import") for container in images]
    for cell in cells:
        for (ours, theirs), image in itertools.product(calls, images[cell.container]):
            _compare(cell, 0, outcome(ours, image, 0, None), outcome(theirs, image, 0, None))
    return cells


def _inside(transform: Any) -> Iterator[str]:
    """Yield the names of the classes in a container of transforms."""
    for one in getattr(transform, "transforms", ()):
        yield type(one).__name__
        yield from _inside(one)


def _pillow() -> Iterator[Callable[[], list[Cell]]]:
    ops: dict[str, list[tuple[cases.Call, cases.Call]]] = {}
    for name, args, theirs in cases.PILLOW:
        ops.setdefault(name, []).append((cases.called(getattr(pillow, name), args), theirs))
    for name, calls in ops.items():
        yield partial(_other, "pillow", name, {"PIL": list(cases.pil_images())}, calls)


def _files() -> Iterator[Callable[[], list[Cell]]]:
    yield partial(_other, "io", "imread", cases.files(), [(fastaug_io.imread, _opened)])
    theirs = _imported("torchvision.io")
    if theirs is not None:
        known = {name: files for name, files in cases.files().items() if name in ("JPEG", "PNG")}
        ways = partial(_decoded, fastaug_io), partial(_decoded, theirs)
        yield partial(_other, "io", "decode_image", known, [ways])


def _opened(data: bytes) -> np.ndarray[Any, Any]:
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))


def _decoded(library: Any, data: bytes) -> torch.Tensor:
    encoded = torch.frombuffer(bytearray(data), dtype=torch.uint8)
    image: torch.Tensor = library.decode_image(encoded, library.ImageReadMode.RGB)
    return image


def _compare(cell: Cell, seed: int, mine: tuple[Any, Any], other: tuple[Any, Any]) -> None:
    """Add a call to a cell: results or errors, and the states of generators afterwards."""
    found = Comparison("", "exact", 1, 1)
    compare(found, 0, seed, mine[0], other[0], None, None)
    cell.calls += 1
    cell.raised += len(found.errors)
    if mine[1] != other[1] and not found.differences:
        cell.differences.append("the random generators are left in another state")
    for difference in found.differences:
        image = difference.what == "pixels" and not math.isnan(difference.psnr)
        if cell.container in _FLOATING and image and difference.largest <= TOLERANCE * _largest(other[0]):
            cell.largest = max(cell.largest, difference.largest)
        else:
            cell.differences.append(difference.told())


def _largest(result: Any) -> float:
    """Return the largest number in a result, at least 1, which scales the tolerance."""
    arrays = [samples(part) for _, part, _ in pairs(result, result)]
    return max([1.0, *(float(np.abs(one).max()) for one in arrays if one is not None and one.size)])
