"""An op that is registered but not tested or not measured makes the build red."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

from fastaug import _C
from support.differences import each
from tables.op_table import OP_FORMAT, ROWS

ROOT = Path(__file__).parents[2]


def test_every_op_has_a_row_in_the_test_table() -> None:
    assert {name for name, _ in _C.OPS} == set(ROWS)


@each(("name", "kind"), _C.OPS)
def test_kind(name: str, kind: str) -> None:
    assert ROWS[name].kind == kind


def test_every_op_has_a_row_in_the_benchmark() -> None:
    sys.path.insert(0, str(ROOT))
    try:
        from bench.suite import covered_ops
    finally:
        sys.path.remove(str(ROOT))
    assert {name for name, _ in _C.OPS} == covered_ops()


def test_registry_file_and_module_agree() -> None:
    lines = (ROOT / "csrc" / "program" / "ops.def").read_text().splitlines()
    registered = [line[len("FASTAUG_OP(") :].split(",")[0] for line in lines if line.startswith("FASTAUG_OP(")]
    assert registered == [name for name, _ in _C.OPS]


def test_op_is_96_bytes() -> None:
    assert struct.calcsize(OP_FORMAT) == 96
