"""Draws the pictures of docs/seeing.md: a plan, a chart of times and a contact sheet, of this build on this machine."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from PIL import Image

import fastaug.transforms as T
from docs._ext.pictures import PicturesError


def photograph() -> Image.Image:
    """A photograph that scikit-image installs with itself, whole."""
    spec = importlib.util.find_spec("skimage")
    if spec is None or spec.origin is None:
        raise PicturesError("the pictures need the photographs of scikit-image: pip install scikit-image")
    with Image.open(Path(spec.origin).parent / "data" / "chelsea.png") as opened:
        return opened.convert("RGB")


def pipeline() -> Any:
    """The pipeline of the page."""
    return T.Compose(
        [
            T.RandomResizedCrop(224),
            T.RandomHorizontalFlip(),
            T.ColorJitter(0.4, 0.4, 0.4),
            T.ToTensor(),
            T.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
        ]
    )


def draw(folder: Path) -> list[Path]:
    """Writes plan.webp, profile.webp and sheet.webp.

    Raises:
        PicturesError: there are no photographs.
    """
    from fastaug._inspect import explain, profile, show

    folder.mkdir(parents=True, exist_ok=True)
    image, transform = photograph(), pipeline()
    plan, chart, sheet = (folder / f"{name}.webp" for name in ("plan", "profile", "sheet"))
    explain.explain(transform, image, plan, seed=2)
    profile.profile(transform, image, plot=chart)
    show.show(transform, image, 12, seed=0).save(sheet)
    return [plan, chart, sheet]
