"""Bounding boxes and key points under transforms, exactly as torchvision.transforms.v2 moves them."""

from __future__ import annotations
