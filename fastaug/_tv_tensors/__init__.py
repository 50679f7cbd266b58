"""Tensors that say what they hold: which classes a process has, and our own, for where torchvision is not installed."""

from __future__ import annotations
