"""What a row of the table is made of."""

from __future__ import annotations

import argparse
import fnmatch
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

#: Something with a name.
Named = TypeVar("Named", bound=Any)

Transform = Callable[[Any], Any]

#: Columns of the tables.
REFERENCE, OURS, FAST = "torchvision", "fastaug", "fastaug fast"

#: A goal's opponent: the fastest column but fastaug's whose pixels equal the reference's.
FASTEST = "the fastest equal"

HALF = (0.5, 0.5, 0.5)
IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)


def selected(cases: Sequence[Named], options: argparse.Namespace) -> list[Named]:
    """Those whose names fit ``--only``. With ``--list``, or where none fits, there is none, and all are printed."""
    chosen = [case for case in cases if fnmatch.fnmatchcase(case.name, options.only or "*")]
    if chosen and not options.list:
        return chosen
    print("\n".join(case.name for case in cases))
    return []


@dataclass(frozen=True)
class Goal:
    """How many times faster than another column one has to be. `against` may be FASTEST; None is the reference."""

    least: float
    against: str | None = None


@dataclass(frozen=True)
class Case:
    """One row of the table.

    `build` gets the module `torchvision.transforms`, or one with the same names, and returns the transform.
    `ops` names the native ops that the row exercises. The container "tensor" holds float32 samples. `goal` is the least
    ratio asked of an instruction set, and of "fast" and an instruction set in fast mode.
    """

    name: str
    bag: str
    build: Callable[[Any], Transform]
    ops: tuple[str, ...]
    container: Literal["pil", "array", "tensor"] = "pil"
    mode: str = "RGB"
    pipeline: bool = False
    goal: dict[str, float] = field(default_factory=dict)

    def goals(self, label: str, isa: str) -> list[Goal]:
        """What is asked of a column, where `isa` is the default instruction set."""
        name = {OURS: isa, FAST: f"fast {isa}"}.get(label, label.removeprefix(OURS + " "))
        return [Goal(self.goal[name])] if name in self.goal else []

    def described(self) -> dict[str, Any]:
        """What the written results say of it beside its name."""
        return {"ops": self.ops, "goal": self.goal}
