"""Programs of ops on images, as bytes, and the native call that runs them."""

from __future__ import annotations
