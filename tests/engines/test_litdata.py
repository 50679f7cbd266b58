"""litdata: images of files to chunks, and chunks to batches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from engines.sections import write_script
from support.processes import python


def test_the_page(place: Path, reference: Any) -> None:
    # As a script: litdata starts processes, which import it.
    script = write_script("litdata", place / "script.py", 'torch.save([list(loader), list(loader)], "batches.pt")')
    done = python([str(script)], fresh=True, HOME=str(place))
    assert done.returncode == 0, done.stderr
    epochs = torch.load("batches.pt")
    orders = [torch.cat([indices for *_, indices in batches]).tolist() for batches in epochs]
    for batches in epochs:
        reference.check(batches)
    assert orders[0] != orders[1] and sorted(orders[0]) != orders[0]
