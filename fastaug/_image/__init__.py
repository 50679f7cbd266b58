"""Encoded images, and how they become pixels."""

from __future__ import annotations
