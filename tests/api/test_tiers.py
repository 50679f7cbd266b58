"""The tiers of tests: no test and no target of the Makefile is in none of them."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest
from _pytest.mark.expression import Expression

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text()
TIERS = ("fast", "all", "nightly")
#: Marks that choose a tier, as pyproject.toml registers them.
MARKS = ("main", "nightly")
#: These try wheels, which the workflow on wheels has made; the last is the choice of the others by name.
OF_WHEELS = {"test-wheel", "test-wheel-suite", "test-wheel-foreign", "test-neon"}


def setting(name: str, tier: str) -> str:
    found = re.search(rf"^{name}_{tier} :=(.*)$", MAKEFILE, re.MULTILINE)
    assert found is not None
    return found[1].strip()


def chosen(tier: str, marks: tuple[str, ...]) -> bool:
    expression = setting("MARKS", tier)
    return not expression or Expression.compile(expression).evaluate(lambda name, **_: name in marks)


def test_each_tier_holds_the_one_before() -> None:
    every = [marks for count in range(len(MARKS) + 1) for marks in itertools.combinations(MARKS, count)]
    fast, main, nightly = ({marks for marks in every if chosen(tier, marks)} for tier in TIERS)
    assert fast == {()}
    assert main == {(), ("main",)}
    assert nightly == set(every)


def test_marks_are_those_of_pytest(pytestconfig: pytest.Config) -> None:
    """A mark that chose tests and that the Makefile does not name would put them into no tier, or into all."""
    registered = {line.partition(":")[0] for line in pytestconfig.getini("markers")}
    own = set(re.findall(r'^  "(\w+): ', (ROOT / "pyproject.toml").read_text(), re.MULTILINE))
    assert own == set(MARKS) and own <= registered


def test_more_cases_from_tier_to_tier() -> None:
    scales = [float(setting("SCALE", tier)) for tier in TIERS]
    assert scales == sorted(scales) and scales[1] == 1


def prerequisites(target: str) -> set[str]:
    """The targets that one makes, and those that they make."""
    text = re.search(rf"^{re.escape(target)}:(?! *TIER)((?:.*\\\n)*.*)$((?:\n\t.*)*)", MAKEFILE, re.MULTILINE)
    assert text is not None, target
    made = set(re.findall(r"(?<![\w/$({-])[a-z][a-z-]+", text[1].partition("|")[0]))
    made |= {
        name for line in re.findall(r"\$\(MAKE\) (.*)", text[2]) for name in re.findall(r"(?<![\w-])[a-z-]+", line)
    }
    targets = {name for name in made if re.search(rf"^{name}:", MAKEFILE, re.MULTILINE)}
    return targets.union(*map(prerequisites, targets))


def test_every_target_of_tests_is_in_a_tier() -> None:
    targets = set(re.findall(r"^(test[\w-]*):(?! *TIER)", MAKEFILE, re.MULTILINE))
    fast, main, nightly = map(prerequisites, ("test", "test-all", "test-nightly"))
    assert {"lint", "test-native", "test-python"} <= fast < main < nightly
    assert targets - {"test", "test-all", "test-nightly", "test-api"} - OF_WHEELS <= nightly


def test_every_native_test_has_a_label() -> None:
    text = (ROOT / "cmake" / "tests.cmake").read_text().partition("if(NOT FASTAUG_SIMD)")[2]
    names = set(re.findall(r"add_test\(NAME (\S+)", text))
    labels = {
        name: set(found[1].split(";"))
        for name in (*names, "native.scalar")
        if (
            found := re.search(rf"set_tests_properties\({re.escape(name)} PROPERTIES(?:[^)]*?)LABELS \"?([\w;]+)", text)
        )
    }
    assert labels.keys() >= names
    assert set().union(*labels.values()) == {setting("NATIVE", tier) for tier in TIERS}
    assert {name for name, found in labels.items() if "fast" in found} == {
        "native.kernels",
        "native.scalar",
        "native.best",
    }
