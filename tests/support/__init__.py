"""What tests are made with: images, native programs, outcomes of calls and fresh processes."""

from __future__ import annotations
