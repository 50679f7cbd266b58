"""Draws the pictures of docs/seeing.md and docs/v2.md: a plan, times, contact sheets, of this build on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from PIL import Image, ImageDraw

import fastaug
import fastaug.transforms as T
from fastaug.transforms import v2


def photograph() -> Image.Image:
    """Return the photograph that comes with fastaug."""
    with Image.open(fastaug.sample_file()) as image:
        return image.copy()


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


def detected(image: Image.Image) -> dict[str, Any]:
    """The photograph with a box around the face of the cat, a mask of it, and a point on its nose."""
    from fastaug import tv_tensors

    mask = Image.new("L", image.size)
    ImageDraw.Draw(mask).ellipse((110, 15, 375, 290), fill=1)
    canvas = (image.height, image.width)
    return {
        "image": image,
        "boxes": tv_tensors.BoundingBoxes([[110, 15, 375, 290]], format="XYXY", canvas_size=canvas),
        "masks": tv_tensors.Mask(v2.functional.pil_to_tensor(mask)),
        "points": tv_tensors.KeyPoints([[264.0, 232.0]], canvas_size=canvas),
        "labels": torch.tensor([1]),
    }


def sample_pipeline() -> Any:
    """The pipeline of docs/v2.md, in essence."""
    return v2.Compose(
        [
            v2.RandomPhotometricDistort(),
            v2.RandomZoomOut(fill={Image.Image: 114, "others": 0}, side_range=(1.0, 2.0)),
            v2.RandomAffine(15, translate=(0.1, 0.1), interpolation="bilinear"),
            v2.RandomHorizontalFlip(),
            v2.Resize((144, 216)),
        ]
    )


def draw(folder: Path) -> list[Path]:
    """Write plan.webp, profile.webp, sheet.webp and samples.webp."""
    from fastaug._inspect import explain, profile, show

    folder.mkdir(parents=True, exist_ok=True)
    image, transform = photograph(), pipeline()
    plan, chart, sheet, samples = (folder / f"{name}.webp" for name in ("plan", "profile", "sheet", "samples"))
    explain.explain(transform, image, plan, seed=2)
    profile.profile(transform, image, plot=chart)
    show.show(transform, image, 12, seed=0).save(sheet)
    sample_pipeline().show(detected(image), 8, seed=0).save(samples)
    return [plan, chart, sheet, samples]
