"""The self-test of a machine: every op and container against torchvision and Pillow."""

from __future__ import annotations
