"""The table of cases is complete."""

from __future__ import annotations

from bench.cases import BY_NAME, CASES, covered_ops
from bench.images import BAGS


def test_every_native_op_is_timed() -> None:
    from fastaug import _C

    assert {name for name, _ in _C.OPS} == covered_ops()


def test_names_are_unique_and_bags_exist() -> None:
    assert len(BY_NAME) == len(CASES)
    assert {case.bag for case in CASES} <= BAGS.keys()
