"""What the reference shows of each function of fastaug.transforms.functional: its group, and calls for its picture."""

from __future__ import annotations

import inspect

from docs._ext.examples import Example, NoPicture
from fastaug.transforms import _functional_color, functional

CORNERS = "[[0, 0], [175, 0], [175, 131], [0, 131]], [[30, 20], [150, 5], [165, 120], [10, 110]]"

FUNCTIONS: dict[str, Example | NoPicture] = {
    # Geometry
    "affine": Example("Geometry", ("F.affine(image, 15, [10, 0], 0.9, [10.0, 0.0])",)),
    "center_crop": Example("Geometry", ("F.center_crop(image, [96, 96])",)),
    "crop": Example("Geometry", ("F.crop(image, 10, 40, 90, 110)",)),
    "elastic_transform": Example("Geometry", ("F.elastic_transform(image, displacement)",), labels=("a wave",)),
    "erase": Example("Geometry", ("F.erase(F.pil_to_tensor(image), 30, 50, 40, 60, torch.tensor(0))",), "coffee.png"),
    "five_crop": Example(
        "Geometry",
        ("F.five_crop(image, [84, 84])",),
        labels=("top left", "top right", "bottom left", "bottom right", "centre"),
    ),
    "hflip": Example("Geometry", ("F.hflip(image)",)),
    "pad": Example(
        "Geometry", ("F.pad(image, [20, 12])", "F.pad(image, [20, 12], padding_mode='reflect')"), "coffee.png"
    ),
    "perspective": Example("Geometry", (f"F.perspective(image, {CORNERS})",), "coffee.png", labels=("perspective",)),
    "resize": Example("Geometry", ("F.resize(image, [66, 88])", "F.resize(image, [120, 80])"), "coffee.png"),
    "resized_crop": Example("Geometry", ("F.resized_crop(image, 10, 40, 90, 110, [132, 132])",)),
    "rotate": Example("Geometry", ("F.rotate(image, 30)", "F.rotate(image, 30, expand=True)")),
    "ten_crop": Example(
        "Geometry", ("F.ten_crop(image, [84, 84])",), labels=tuple(f"crop {number}" for number in range(1, 11))
    ),
    "vflip": Example("Geometry", ("F.vflip(image)",), "ihc.png"),
    # Colour
    "adjust_brightness": Example(
        "Colour", ("F.adjust_brightness(image, 0.5)", "F.adjust_brightness(image, 1.5)"), "coffee.png"
    ),
    "adjust_contrast": Example(
        "Colour", ("F.adjust_contrast(image, 0.5)", "F.adjust_contrast(image, 2)"), "coffee.png"
    ),
    "adjust_gamma": Example("Colour", ("F.adjust_gamma(image, 0.5)", "F.adjust_gamma(image, 2)"), "coffee.png"),
    "adjust_hue": Example("Colour", ("F.adjust_hue(image, -0.2)", "F.adjust_hue(image, 0.3)"), "coffee.png"),
    "adjust_saturation": Example(
        "Colour", ("F.adjust_saturation(image, 0.3)", "F.adjust_saturation(image, 2)"), "coffee.png"
    ),
    "autocontrast": Example("Colour", ("F.autocontrast(F.adjust_contrast(image, 0.3))",), "coffee.png"),
    "equalize": Example("Colour", ("F.equalize(image)",), "moon.png"),
    "posterize": Example("Colour", ("F.posterize(image, 3)", "F.posterize(image, 1)"), "chelsea.png"),
    "solarize": Example("Colour", ("F.solarize(image, 192)", "F.solarize(image, 64)"), "coffee.png"),
    # Filters
    "adjust_sharpness": Example(
        "Filters", ("F.adjust_sharpness(image, 0)", "F.adjust_sharpness(image, 6)"), "chelsea.png"
    ),
    "gaussian_blur": Example("Filters", ("F.gaussian_blur(image, [13, 13], [3.0])",), "chelsea.png"),
    # Conversion
    "convert_image_dtype": NoPicture("Conversion", "another dtype holds the same image."),
    "normalize": Example(
        "Conversion", ("F.normalize(F.to_tensor(image), [0.5] * 3, [0.25] * 3)",), "coffee.png", spread=True
    ),
    "pil_to_tensor": NoPicture("Conversion", "the tensor holds the samples of the image."),
    "to_pil_image": NoPicture("Conversion", "the image holds the samples of the tensor or array."),
    "to_tensor": NoPicture("Conversion", "the tensor holds the samples of the image, divided by 255."),
    # Measures
    "get_dimensions": NoPicture("Measures", "three numbers."),
    "get_image_num_channels": NoPicture("Measures", "a number."),
    "get_image_size": NoPicture("Measures", "two numbers."),
}


# Of a function of colour without a line of its own, the call with an image.
FUNCTIONS |= {
    name: Example("Colour", (f"F.{name}(image)",), "coffee.png")
    for name in _functional_color.__all__
    if name not in FUNCTIONS
}


def public() -> list[str]:
    """The functions, by ``__all__``."""
    return sorted(name for name in functional.__all__ if inspect.isfunction(getattr(functional, name)))


def ungrouped() -> list[str]:
    """Functions that have no line here, and lines that name no function."""
    return sorted(set(public()) ^ set(FUNCTIONS))
