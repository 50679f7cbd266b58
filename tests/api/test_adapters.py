"""Adapters of other packages: the packages themselves are met in tests/clients."""

from __future__ import annotations

from support.processes import python


def test_adapters_import_no_package() -> None:
    code = "import sys, fastaug; assert not [name for name in sys.modules if name.startswith('fastaug.adapters')]"
    after = "import fastaug.adapters.transformers; assert 'transformers' not in sys.modules"
    result = python(["-c", f"{code}; {after}"])
    assert result.returncode == 0, result.stderr
