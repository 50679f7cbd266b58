"""Drafts: images with the ops that are still to be done to them, and what a call over many transforms shares."""

from __future__ import annotations
