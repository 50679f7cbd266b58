"""What the reference shows of fastaug.transforms.v2: the calls of v1 where it has the function, and others beside.

In all of these ``T`` is fastaug.transforms.v2, and ``F`` its functional.
"""

from __future__ import annotations

from dataclasses import replace

from docs._ext import groups
from docs._ext.examples import EXAMPLES, Example, NoPicture
from docs._ext.functions import FUNCTIONS


def of_samples(group: str, calls: tuple[str, ...], photo: str = "astronaut.png", **further: object) -> Example:
    return Example(group, calls, photo, samples=True, **further)  # type: ignore[arg-type]


#: Classes that v1 does not have. Of the others the pages show v1's picture, and of those about boxes and points none.
CLASSES: dict[str, Example | NoPicture] = {
    "GaussianNoise": of_samples(
        "Filters and noise",
        (
            "T.Compose([T.ToImage(), T.ToDtype(torch.float32, scale=True), T.GaussianNoise(sigma=0.05)])",
            "T.Compose([T.ToImage(), T.ToDtype(torch.float32, scale=True), T.GaussianNoise(sigma=0.2)])",
        ),
        labels=("sigma=0.05", "sigma=0.2"),
    ),
    "JPEG": of_samples("Filters and noise", ("T.Compose([T.ToImage(), T.JPEG((1, 20))])",), "chelsea.png", draws=3),
    "RGB": NoPicture("Colour", "an image in colour stays as it is."),
    "RandomChannelPermutation": of_samples("Colour", ("T.RandomChannelPermutation()",), "coffee.png", draws=4),
    "RandomPhotometricDistort": of_samples("Colour", ("T.RandomPhotometricDistort(p=0.9)",), "coffee.png", draws=4),
    "RandomResize": of_samples("Geometry", ("T.RandomResize(60, 130)",), draws=3),
    "RandomShortestSize": of_samples("Geometry", ("T.RandomShortestSize([60, 90, 120])",), draws=3),
    "RandomZoomOut": of_samples(
        "Geometry", ("T.RandomZoomOut(fill=(70, 130, 180), side_range=(1, 2), p=1)",), "coffee.png", draws=2
    ),
    "ScaleJitter": of_samples("Geometry", ("T.ScaleJitter((132, 176), scale_range=(0.4, 1.2))",), draws=3),
}

#: v2's names of functions that have others in v1.
RENAMED = {"elastic": "elastic_transform", "horizontal_flip": "hflip", "vertical_flip": "vflip"}

#: Functions that v1 does not have, or that are called otherwise in v2.
FURTHER: dict[str, Example | NoPicture] = {
    "gaussian_noise": of_samples(
        "Filters",
        (
            "F.gaussian_noise(F.to_dtype(F.to_image(image), scale=True), sigma=0.05)",
            "F.gaussian_noise(F.to_dtype(F.to_image(image), scale=True), sigma=0.2)",
        ),
        labels=("sigma=0.05", "sigma=0.2"),
    ),
    "jpeg": of_samples(
        "Filters",
        ("F.jpeg(F.to_image(image), 5)", "F.jpeg(F.to_image(image), 30)"),
        "chelsea.png",
        labels=("quality 5", "quality 30"),
    ),
    "normalize": of_samples(
        "Conversion",
        ("F.normalize(F.to_dtype(F.to_image(image), scale=True), [0.5] * 3, [0.25] * 3)",),
        "coffee.png",
        labels=("normalised",),
        spread=True,
    ),
    "permute_channels": of_samples("Colour", ("F.permute_channels(image, [2, 1, 0])",), "coffee.png"),
}


def _function(name: str) -> Example | NoPicture:
    if name in FURTHER:
        return FURTHER[name]
    there = RENAMED.get(name, name)
    shown = FUNCTIONS.get(there, NoPicture("", "it is about something else than pixels."))
    if isinstance(shown, NoPicture):
        return shown
    return replace(shown, calls=tuple(call.replace(f"F.{there}(", f"F.{name}(") for call in shown.calls), samples=True)


FUNCTIONALS: dict[str, Example | NoPicture] = {name: _function(name) for name in groups.functionals()}


def without_picture() -> list[str]:
    """Classes of images that neither these lines nor those of v1 have."""
    about_images = {name for group in ("Geometry", "Colour", "Filters and noise") for name in groups.CLASSES[group]}
    return sorted(about_images - set(CLASSES) - set(EXAMPLES) - {"RandomIoUCrop"})
