"""Switch this process if the environment asks for it. The start of Python imports this, so it never raises."""

from __future__ import annotations

import contextlib
import os

# A program starts as it does without.
with contextlib.suppress(Exception):
    _words = os.environ.get("FASTAUG_INSTALL", "").split(",")
    if _words[0] == "1":
        from fastaug._switch.switch import install

        install(**{name: name in _words for name in ("decode", "processors", "report")})
