"""Random chains of Pillow's functions and of transforms against Pillow and torchvision: pixels, metadata and errors."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
import torchvision.transforms as TV
from PIL import Image

import random_pillow
from random_pillow import FUNCTIONS, NATIVE, TRANSFORMS, difference, draw_case, made, outcome, shrink
from support.processes import OTHER_ISAS, python
from support.scale import blocks, cases

CASES, BLOCK = 1200, 100


@pytest.mark.parametrize("first", blocks(CASES, BLOCK))
def test_random_chains(first: int) -> None:
    cases = [draw_case(number) for number in range(first, first + BLOCK)]
    found = [case for case in cases if difference(case)]
    assert not found, "\n".join([f"{len(found)} differ", *(str(difference(shrink(case))) for case in found[:3])])


@pytest.mark.parametrize("isa", OTHER_ISAS)
def test_every_instruction_set(isa: str) -> None:
    numbers = range(9000, 9000 + cases(150))
    code = (
        "from random_pillow import *; "
        f"print([t for n in {numbers} if (t := difference(draw_case(n, NATIVE), batch=False))])"
    )
    result = python(["-c", code], isa=isa, folder=Path(__file__).parent)
    assert result.returncode == 0, result.stderr[-2000:]
    assert result.stdout.strip() == "[]"


def test_the_cases_are_worth_running() -> None:
    """Every function occurs many times, and more than a third of the chains succeed."""
    cases = [draw_case(number) for number in range(CASES)]
    names = [call.name for case in cases for call in case.calls]
    for name in {*FUNCTIONS, *TRANSFORMS}:
        assert names.count(name) > 30, name
    assert {case.mode for case in cases} == {*NATIVE, *random_pillow.OTHERS}
    good = sum(
        not isinstance(outcome(lambda image, c=case: c.one_by_one(image, TV), case.image(), case.seed)[0], type)
        for case in cases[:300]
    )
    assert good > 100


def test_copies_and_replays_do_the_same() -> None:
    for number in range(5000, 5000 + cases(150)):
        case = draw_case(number, NATIVE)
        image, pipeline = case.image(), case.pipeline()
        wanted = outcome(pipeline, image, case.seed)
        if isinstance(wanted[0], type):
            continue
        assert outcome(pickle.loads(pickle.dumps(pipeline)), image, case.seed)[0] == wanted[0]
        replayed = outcome(lambda given, p=pipeline: p.replay(given, p.sample(given)), image, case.seed)
        assert replayed[0] == wanted[0], case


def test_a_wrong_function_is_found_and_isolated(monkeypatch: pytest.MonkeyPatch) -> None:
    case = next(
        case
        for case in map(draw_case, range(1000))
        if case.mode == "RGB" and len(case.calls) > 2 and "mirror" in [call.name for call in case.calls]
        if not isinstance(outcome(lambda image, c=case: c.one_by_one(image, TV), case.image(), 0)[0], type)
    )
    assert difference(case) is None

    def wrong(image: Image.Image) -> Image.Image:
        return image.transpose(Image.Transpose.ROTATE_180)

    arguments: Any = FUNCTIONS["mirror"][0]
    monkeypatch.setitem(FUNCTIONS, "mirror", (arguments, wrong))
    assert difference(case) is not None
    assert [call.name for call in shrink(case).calls] == ["mirror"]


def test_the_images_are_of_their_modes() -> None:
    for mode in (*NATIVE, *random_pillow.OTHERS):
        assert made(mode, 5, 4, 1).mode == mode
