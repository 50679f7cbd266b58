"""Transforms of other packages, compiled: pixels, and torch's, Python's and NumPy's generators after them."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
import torch

from bench.client_cases import CASES, ClientCase
from bench.clients import leaves, load, seed, states
from fastaug.io import lazy

SEEDS = range(12)


def outcome(case: ClientCase, call: Any, image: Any, number: int) -> tuple[Any, bytes]:
    """The tensors, or the error where the client has one; and what the generators are left as."""
    seed(number)
    try:
        tensors = list(leaves(call(image)))
        assert tensors and all(isinstance(one, torch.Tensor) for one in tensors)
    except case.raises as error:
        return (type(error), str(error)), states()
    return tensors, states()


def same(ours: tuple[Any, bytes], theirs: tuple[Any, bytes]) -> bool:
    if ours[1] != theirs[1]:
        return False
    if isinstance(theirs[0], tuple):
        return bool(ours[0] == theirs[0])
    return len(ours[0]) == len(theirs[0]) and all(
        one.dtype == other.dtype and torch.equal(one, other) for one, other in zip(ours[0], theirs[0])
    )


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_equal(case: ClientCase, files: list[Path]) -> None:
    """Of loaded images and of handles, the same handles again and again."""
    own = case.own()
    ours = case.ours(case.own())
    handles = [lazy(path) for path in files]
    computed = 0
    for number in SEEDS:
        which = number % len(files)
        theirs = outcome(case, lambda image: case.call(own, image), load(files[which]), number)
        computed += not isinstance(theirs[0], tuple)
        assert same(outcome(case, ours, handles[which], number), theirs), number
        assert same(outcome(case, ours, load(files[which]), number), theirs), number
    assert computed >= len(SEEDS) // 2


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_pickled(case: ClientCase, files: list[Path]) -> None:
    """As workers get it, where the client's own can be pickled."""
    own = case.own()
    try:
        pickle.dumps(own)
    except (AttributeError, pickle.PicklingError, TypeError):
        pytest.skip("the client's own has no pickle")
    ours = case.ours(case.own())
    for number in range(2):
        theirs = outcome(case, ours, lazy(files[0]), number)
        assert same(outcome(case, pickle.loads(pickle.dumps(ours)), lazy(files[0]), number), theirs)


def test_every_package_is_installed() -> None:
    assert not [case.name for case in CASES if not case.installed]
    assert all(case.version for case in CASES)
