"""What is to be done to an image, as bytes, and the native call that does it."""

from __future__ import annotations
