"""Ops by torch and Pillow, where the native core does not do them."""

from __future__ import annotations
