"""What is tested: ops, transforms, calls of functions and pipelines, with their references and tolerances."""

from __future__ import annotations
