"""How many random cases are run."""

from __future__ import annotations

import pytest

from support.scale import blocks, cases


@pytest.mark.parametrize(
    ("scale", "counts"),
    [
        (None, [1, 7, 2000]),
        ("", [1, 7, 2000]),
        ("1", [1, 7, 2000]),
        ("0.1", [1, 1, 200]),
        ("10", [10, 70, 20000]),
        ("1e-9", [1, 1, 1]),
    ],
)
def test_cases(scale: str | None, counts: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FASTAUG_SCALE", raising=False)
    if scale is not None:
        monkeypatch.setenv("FASTAUG_SCALE", scale)
    assert [cases(count) for count in (1, 7, 2000)] == counts


def test_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are whole: the last one may hold more than is wanted."""
    monkeypatch.setenv("FASTAUG_SCALE", "0.1")
    assert list(blocks(2000, 50)) == [0, 50, 100, 150]
    assert list(blocks(500, 100)) == [0]
    assert list(blocks(600, 50, first=7)) == [7, 57]
    monkeypatch.setenv("FASTAUG_SCALE", "10")
    assert blocks(500, 100)[-1] == 4900


@pytest.mark.parametrize("scale", ["0", "-1", "fast", "nan", "inf", "1,5"])
def test_what_is_not_a_scale(scale: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FASTAUG_SCALE", scale)
    with pytest.raises(ValueError, match=f"FASTAUG_SCALE should be a positive number, .* got '{scale}'"):
        cases(3)
