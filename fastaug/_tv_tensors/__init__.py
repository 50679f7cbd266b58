"""Tensors that say what they hold: their classes, and what transforms do to boxes and points."""

from __future__ import annotations
