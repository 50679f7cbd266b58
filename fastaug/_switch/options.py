"""Options of the switch, while it is on."""

from __future__ import annotations

#: The environment variable that switches a program, and the programs that it starts.
VARIABLE = "FASTAUG_INSTALL"

# Set by `switch`; empty while it is off.
current: dict[str, bool] = {}
