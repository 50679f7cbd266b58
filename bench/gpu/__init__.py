"""The parts of `python -m bench.cuda`: what it checks, times and writes about a machine with a GPU."""

from __future__ import annotations
