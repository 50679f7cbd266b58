"""Who computes a transform for which container and dtype: asked of explain() when the site is built."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from PIL import Image

import fastaug.transforms as T
from docs._ext.pictures import photograph
from fastaug import tv_tensors
from fastaug.transforms import v2
from fastaug.transforms._color import RandomColor

#: Draws of each transform that are looked at.
DRAWS = 4
#: What explain() calls those who compute a pass, in words for a table.
WORDS = {
    "fastaug": "native",
    "apart": "a step of its own",
    "Pillow": "Pillow",
    "torch": "torch",
    "Python": "Python",
    "the core or torch": "native",
}
NOTHING, REFUSED = "nothing to do", "refused"

#: What is asked about, where the class alone with its defaults cannot be. The others have no table.
ARGUMENTS: dict[str, str] = {
    "AugMix": "",
    "AutoAugment": "",
    "CenterCrop": "96",
    "ClampBoundingBoxes": "",
    "ClampKeyPoints": "",
    "ColorJitter": "0.4, 0.4, 0.4, 0.1",
    "ConvertBoundingBoxFormat": "'CXCYWH'",
    "ConvertImageDtype": "torch.float32",
    "ElasticTransform": "150.0",
    "FiveCrop": "84",
    "GaussianBlur": "13",
    "GaussianNoise": "",
    "Grayscale": "",
    "JPEG": "75",
    "Normalize": "[0.5] * 3, [0.25] * 3",
    "PILToTensor": "",
    "Pad": "12",
    "RGB": "",
    "RandAugment": "",
    "RandomAdjustSharpness": "2, p=1",
    "RandomAffine": "20, translate=(0.1, 0.1), scale=(0.8, 1.2), shear=15",
    "RandomChannelPermutation": "",
    "RandomCrop": "96",
    "RandomErasing": "p=1",
    "RandomGrayscale": "p=1",
    "RandomHorizontalFlip": "p=1",
    "RandomPerspective": "p=1",
    "RandomPhotometricDistort": "",
    "RandomPosterize": "4, p=1",
    "RandomResize": "90, 100",
    "RandomResizedCrop": "120",
    "RandomRotation": "40",
    "RandomShortestSize": "100",
    "RandomSolarize": "128, p=1",
    "RandomVerticalFlip": "p=1",
    "RandomZoomOut": "p=1",
    "Resize": "96",
    "ScaleJitter": "(100, 120)",
    "TenCrop": "84",
    "ToDtype": "torch.float32, scale=True",
    "ToImage": "",
    "ToPILImage": "",
    "ToTensor": "",
    "TrivialAugmentWide": "",
    "UniformTemporalSubsample": "2",
}
# Classes of colour with a probability alone.
ARGUMENTS |= {cls.__name__: "p=1" for cls in RandomColor.__subclasses__() if cls.__name__ not in ARGUMENTS}


@functools.cache
def containers(of_samples: bool) -> dict[str, Any]:
    """What may be given, by its name in the table."""
    photo = photograph("coffee.png")
    pixels = torch.from_numpy(np.array(photo)).permute(2, 0, 1).contiguous()
    depth = Image.fromarray(np.arange(photo.height * photo.width, dtype=np.uint16).reshape(photo.height, photo.width))
    images = {
        "PIL image, RGB": photo,
        "PIL image, L": photo.convert("L"),
        "PIL image, RGBA": photo.convert("RGBA"),
        "PIL image, P (palette)": photo.convert("P"),
        "PIL image, I;16": depth,
        "tensor, uint8": pixels,
        "tensor, float32": pixels / 255,
        "tensor, int16": pixels.short(),
    }
    canvas = (photo.height, photo.width)
    if not of_samples:
        return {**images, "array, uint8": np.array(photo)}
    boxes = tv_tensors.BoundingBoxes([[20, 15, 190, 60]], format="XYXY", canvas_size=canvas)
    return {
        **images,
        "Video, uint8": tv_tensors.Video(torch.stack([pixels] * 3)),
        "Mask, uint8": tv_tensors.Mask(pixels[0] // 200),
        "BoundingBoxes": boxes,
        "KeyPoints": tv_tensors.KeyPoints([[30.0, 40.0], [180.0, 10.0]], canvas_size=canvas),
    }


def _given(name: str, image: Any, of_samples: bool) -> Any:
    """A sample of it: boxes and points are of an image."""
    if not of_samples:
        return image
    beside = {"BoundingBoxes": containers(True)["tensor, uint8"], "KeyPoints": containers(True)["tensor, uint8"]}
    return {"image": beside[name], "it": image} if name in beside else image


def _who(plan: Any, name: str, number: str) -> set[str]:
    """Who computes a step of a plan: of a pipeline of images, or of the leaf of a sample that is asked about."""
    steps = plan.steps
    if plan.leaves:
        (leaf,) = (leaf for leaf in plan.leaves if leaf["leaf"] in ("", "['it']"))
        if leaf["kind"] == "places":
            return {WORDS[one] for one in leaf["by"]} if number in leaf["changed"] else set()
        steps, changed = leaf["steps"], number in leaf["changed"]
    else:
        changed = any(step["step"] == number and (step["parameters"] or step["ops"]) for step in steps)
    found = set()
    for step in steps:
        if step["step"] == number or step["step"].startswith(f"{number}."):
            found |= {WORDS[plan.passes[one - 1]["by"]] for one in step["passes"]}
    if changed and not found:
        # What is folded into the pass of a neighbour has none of its own.
        found.add(WORDS["fastaug"])
    return found


def _ask(pipeline: Any, name: str, image: Any, of_samples: bool, device: str | None = None) -> str:
    """Who computes the last transform of a pipeline."""
    found = set()
    for draw in range(DRAWS):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                plan = pipeline.explain(_given(name, image, of_samples), seed=draw, device=device)
        except (TypeError, ValueError, RuntimeError, OSError, AttributeError, IndexError):
            return REFUSED
        if device is None:
            found |= _who(plan, name, str(len(pipeline.transforms)))
        else:
            said = str(plan.device)
            found.add("native" if said.startswith("all of it") else "on the CPU" if "on the CPU" in said else REFUSED)
    return " or ".join(sorted(found)) or NOTHING


@dataclass(frozen=True)
class Table:
    """Who computes a class: rows of a container, who does it alone, and who behind a resize; and what has no row."""

    rows: list[tuple[str, str, str]]
    untouched: list[str]
    refused: list[str]


def table(name: str, of_samples: bool) -> Table | None:
    """That of a class. None where it has no line above."""
    module: Any = v2 if of_samples else T
    if name not in ARGUMENTS or not hasattr(module, name):
        return None
    make: Callable[[], Any] = functools.partial(eval, f"X.{name}({ARGUMENTS[name]})", {"X": module, "torch": torch})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pipelines = module.Compose([make()]), module.Compose([module.Resize(140), make()])
    found = Table([], [], [])
    for container, image in containers(of_samples).items():
        alone, among = (_ask(pipeline, container, image, of_samples) for pipeline in pipelines)
        if among == REFUSED:
            found.refused.append(container)
        elif alone == among == NOTHING:
            found.untouched.append(container)
        else:
            found.rows.append((container, alone, among))
    if "tensor, uint8" in [container for container, _, _ in found.rows]:
        pixels = containers(of_samples)["tensor, uint8"]
        alone, among = (_ask(pipeline, "", pixels, of_samples, "cuda") for pipeline in pipelines)
        if REFUSED not in (alone, among):
            found.rows.append(("tensor, uint8, on a GPU", alone, among))
    return found
