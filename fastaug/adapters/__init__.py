"""What is known of other packages: a module for each, which is imported when it is asked for."""

from __future__ import annotations
