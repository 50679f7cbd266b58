"""What the reference shows of each class of fastaug.transforms: its group, and the calls that make its picture."""

from __future__ import annotations

import inspect
from dataclasses import dataclass

import fastaug.transforms
from fastaug.transforms._color import RandomColor

GROUPS = ("Geometry", "Colour", "Filters", "Policies", "Composition", "Conversion", "Enumerations")


@dataclass(frozen=True)
class Example:
    """One strip of pictures: the photograph, and what each of the calls makes of it.

    Attributes:
        group: one of GROUPS.
        calls: expressions with ``T`` for fastaug.transforms; :mod:`docs._ext.pictures` says what else they may name.
        photo: the photograph of scikit-image that they see.
        draws: results of a call that is random, under seeds that count from 0.
        labels: captions of the results; by default the call, or the number of the draw.
        zoom: how many times the results are enlarged for display.
        spread: show the values of a tensor from the smallest, as black, to the largest, as white; else from 0 to 1.
        samples: ``T`` is fastaug.transforms.v2, and ``F`` its functional.
    """

    group: str
    calls: tuple[str, ...]
    photo: str = "astronaut.png"
    draws: int = 1
    labels: tuple[str, ...] = ()
    zoom: int = 1
    spread: bool = False
    samples: bool = False


@dataclass(frozen=True)
class NoPicture:
    """A class of which a picture would show nothing, and why."""

    group: str
    reason: str


BILINEAR = "interpolation=T.InterpolationMode.BILINEAR"
ENLARGED = "T.Compose([T.CenterCrop((22, 30)), T.Resize(110, T.InterpolationMode.{})])"
FILTERS = ("NEAREST", "BILINEAR", "BICUBIC", "LANCZOS")

EXAMPLES: dict[str, Example | NoPicture] = {
    # Geometry
    "CenterCrop": Example("Geometry", ("T.CenterCrop(96)", "T.CenterCrop((60, 160))", "T.CenterCrop((150, 190))")),
    "FiveCrop": Example(
        "Geometry",
        ("T.FiveCrop(84)",),
        labels=("top left", "top right", "bottom left", "bottom right", "centre"),
    ),
    "Pad": Example(
        "Geometry",
        (
            "T.Pad((20, 12), fill=(70, 130, 180))",
            "T.Pad((20, 12), padding_mode='edge')",
            "T.Pad((20, 12), padding_mode='reflect')",
            "T.Pad((20, 12), padding_mode='symmetric')",
        ),
        "coffee.png",
        labels=("constant", "edge", "reflect", "symmetric"),
    ),
    "RandomAffine": Example(
        "Geometry",
        (f"T.RandomAffine(20, translate=(0.1, 0.1), scale=(0.8, 1.2), shear=15, {BILINEAR})",),
        draws=4,
    ),
    "RandomCrop": Example("Geometry", ("T.RandomCrop(96)",), "chelsea.png", draws=4),
    "RandomErasing": Example(
        "Geometry",
        (
            "T.Compose([T.ToTensor(), T.RandomErasing(p=1)])",
            "T.Compose([T.ToTensor(), T.RandomErasing(p=1, value='random')])",
        ),
        "coffee.png",
        draws=2,
        labels=("black, draw 1", "black, draw 2", "random, draw 1", "random, draw 2"),
    ),
    "RandomHorizontalFlip": Example("Geometry", ("T.RandomHorizontalFlip()",), draws=4),
    "RandomPerspective": Example(
        "Geometry", ("T.RandomPerspective(distortion_scale=0.5, p=1)",), "coffee.png", draws=4
    ),
    "RandomResizedCrop": Example("Geometry", ("T.RandomResizedCrop(120)",), "chelsea.png", draws=4),
    "RandomRotation": Example("Geometry", (f"T.RandomRotation(40, {BILINEAR})",), draws=4),
    "RandomVerticalFlip": Example("Geometry", ("T.RandomVerticalFlip()",), "ihc.png", draws=4),
    "Resize": Example("Geometry", ("T.Resize(96)", "T.Resize((120, 80))", "T.Resize(100, max_size=120)"), "coffee.png"),
    "TenCrop": Example(
        "Geometry", ("T.TenCrop(84)",), "chelsea.png", labels=tuple(f"crop {number}" for number in range(1, 11))
    ),
    # Colour
    "ColorJitter": Example(
        "Colour", ("T.ColorJitter(brightness=0.4, contrast=0.4, saturation=0.4, hue=0.1)",), "coffee.png", draws=4
    ),
    "Grayscale": Example("Colour", ("T.Grayscale()",), "coffee.png"),
    "RandomAutocontrast": Example(
        "Colour",
        (
            "T.ColorJitter(contrast=(0.3, 0.3))",
            "T.Compose([T.ColorJitter(contrast=(0.3, 0.3)), T.RandomAutocontrast(p=1)])",
        ),
        "coffee.png",
        labels=("little contrast", "autocontrast"),
    ),
    "RandomEqualize": Example("Colour", ("T.RandomEqualize(p=1)",), "moon.png"),
    "RandomGrayscale": Example("Colour", ("T.RandomGrayscale(p=0.5)",), "coffee.png", draws=4),
    "RandomPosterize": Example(
        "Colour",
        ("T.RandomPosterize(bits=4, p=1)", "T.RandomPosterize(bits=2, p=1)", "T.RandomPosterize(bits=1, p=1)"),
        "chelsea.png",
        labels=("4 bits", "2 bits", "1 bit"),
    ),
    "RandomSolarize": Example(
        "Colour",
        (
            "T.RandomSolarize(threshold=192, p=1)",
            "T.RandomSolarize(threshold=128, p=1)",
            "T.RandomSolarize(threshold=64, p=1)",
        ),
        "coffee.png",
        labels=("threshold 192", "threshold 128", "threshold 64"),
    ),
    # Filters
    "ElasticTransform": Example("Filters", ("T.ElasticTransform(alpha=150.0)",), "ihc.png", draws=4),
    "GaussianBlur": Example("Filters", ("T.GaussianBlur(kernel_size=13, sigma=(0.1, 4.0))",), "chelsea.png", draws=4),
    "RandomAdjustSharpness": Example(
        "Filters",
        (
            "T.RandomAdjustSharpness(0, p=1)",
            "T.RandomAdjustSharpness(2, p=1)",
            "T.RandomAdjustSharpness(6, p=1)",
        ),
        "chelsea.png",
        labels=("factor 0", "factor 2", "factor 6"),
    ),
    # Policies
    "AugMix": Example("Policies", ("T.AugMix()",), "chelsea.png", draws=8),
    "AutoAugment": Example("Policies", ("T.AutoAugment()",), "coffee.png", draws=8),
    "RandAugment": Example("Policies", ("T.RandAugment()",), draws=8),
    "TrivialAugmentWide": Example("Policies", ("T.TrivialAugmentWide()",), "coffee.png", draws=8),
    # Composition
    "Compose": Example(
        "Composition",
        (
            "T.Compose([T.RandomResizedCrop(120), T.RandomHorizontalFlip(), T.ColorJitter(0.4, 0.4, 0.4, 0.1), "
            "T.RandomGrayscale(0.2)])",
        ),
        draws=8,
    ),
    "Lambda": Example("Composition", ("T.Lambda(lambda image: image.rotate(180))",), labels=("Lambda",)),
    "RandomApply": Example("Composition", ("T.RandomApply([T.Grayscale(3), T.Pad(10)], p=0.5)",), draws=4),
    "RandomChoice": Example(
        "Composition",
        ("T.RandomChoice([T.Grayscale(), T.RandomRotation(30), T.Resize(90)])",),
        "coffee.png",
        draws=4,
    ),
    "RandomOrder": Example(
        "Composition",
        ("T.RandomOrder([T.Pad(16, fill=(70, 130, 180)), T.RandomRotation(20)])",),
        "chelsea.png",
        draws=4,
    ),
    # Conversion
    "ConvertImageDtype": NoPicture("Conversion", "another dtype holds the same image."),
    "Decode": NoPicture("Conversion", "the image is that of the file."),
    "LinearTransformation": Example(
        "Conversion",
        (
            "T.Compose([T.CenterCrop(16), T.ToTensor()])",
            "T.Compose([T.CenterCrop(16), T.ToTensor(), T.LinearTransformation(matrix, mean)])",
        ),
        "chelsea.png",
        labels=("16x16 pixels", "whitened"),
        zoom=8,
        spread=True,
    ),
    "Normalize": Example(
        "Conversion",
        ("T.Compose([T.ToTensor(), T.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))])",),
        "coffee.png",
        labels=("normalised",),
        spread=True,
    ),
    "PILToTensor": NoPicture("Conversion", "the tensor holds the samples of the image."),
    "ToPILImage": NoPicture("Conversion", "the image holds the samples of the tensor or array."),
    "ToTensor": NoPicture("Conversion", "the tensor holds the samples of the image, divided by 255."),
    # Enumerations
    "AutoAugmentPolicy": Example(
        "Enumerations",
        tuple(f"T.AutoAugment(T.AutoAugmentPolicy.{name})" for name in ("IMAGENET", "CIFAR10", "SVHN")),
        "coffee.png",
        labels=("IMAGENET", "CIFAR10", "SVHN"),
    ),
    "InterpolationMode": Example(
        "Enumerations", tuple(ENLARGED.format(name) for name in FILTERS), "chelsea.png", labels=FILTERS
    ),
}


def public_classes() -> list[str]:
    """The classes of fastaug.transforms, by its ``__all__``."""
    names = fastaug.transforms.__all__
    return sorted(name for name in names if inspect.isclass(getattr(fastaug.transforms, name)))


# Of a class of colour without a line of its own, that it happens.
EXAMPLES |= {
    name: Example("Colour", (f"T.{name}(p=1)",), "coffee.png")
    for name in public_classes()
    if name not in EXAMPLES and issubclass(getattr(fastaug.transforms, name), RandomColor)
}


def missing() -> list[str]:
    """Public classes that have no line here."""
    return [name for name in public_classes() if name not in EXAMPLES]


def superfluous() -> list[str]:
    """Lines here that name no public class."""
    return sorted(set(EXAMPLES) - set(public_classes()))
