"""The corpus gives torchvision's bits on every instruction set that this machine has."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import corpus
import pytest

from support.processes import ISAS, python


@functools.cache
def expected() -> dict[str, str]:
    return corpus.expected()


@pytest.mark.parametrize("isa", ISAS)
def test_corpus(isa: str) -> None:
    result = python([str(Path(corpus.__file__))], isa=isa)
    assert result.returncode == 0, result.stderr[-4000:]
    digests = json.loads(result.stdout)
    assert digests.pop("isa") == isa
    assert digests.keys() == expected().keys()
    wrong = [name for name, value in expected().items() if digests[name] != value]
    assert not wrong, f"{len(wrong)} of {len(digests)} differ, among them {wrong[:10]}"


def test_corpus_is_worth_running() -> None:
    """Most cases succeed, and different cases give different results."""
    values = list(expected().values())
    digests = [value for value in values if len(value) == 16]
    assert len(values) > 600
    assert len(digests) > 0.85 * len(values)
    assert len(set(digests)) > 0.75 * len(digests)
