"""Speed of fastaug beside other libraries: `python -m bench`, or `make bench`."""

from __future__ import annotations
