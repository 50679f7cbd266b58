"""The tables that the native tests read are those that the op table writes today."""

from __future__ import annotations

import pytest

from tables.native import FILES, FOLDER, text_of


@pytest.mark.parametrize("name", FILES)
def test_table_is_what_is_written_today(name: str) -> None:
    assert (FOLDER / name).read_text() == text_of(name), "`make tables` writes it anew"
