"""Classes of tensors for images, videos, masks, boxes and points, and how transforms move boxes and points."""

from __future__ import annotations
