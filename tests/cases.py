"""One table of transforms and one of functional calls, built from whichever package is handed in.

Parity, containers, repr, attributes and pickling all run over these rows, so that a new argument is added in one place.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

Factory = Callable[[Any], Any]
Call = Callable[[Any, Any], Any]

MODES = ("NEAREST", "NEAREST_EXACT", "BILINEAR", "BICUBIC", "BOX", "HAMMING", "LANCZOS")
ROTATION_MODES = ("NEAREST", "BILINEAR", "BICUBIC")
PADDING_MODES = ("constant", "edge", "reflect", "symmetric")


def mode(package: Any, name: str) -> Any:
    """The member of the package's own InterpolationMode."""
    return getattr(package.InterpolationMode, name)


RESIZE: dict[str, Factory] = {
    **{f"Resize 19x43 {m}": lambda T, m=m: T.Resize((19, 43), mode(T, m)) for m in MODES},
    **{f"Resize 90x20 {m}": lambda T, m=m: T.Resize([90, 20], mode(T, m)) for m in ("NEAREST", "BILINEAR", "BICUBIC")},
    "Resize short side": lambda T: T.Resize(24),
    "Resize list of one": lambda T: T.Resize([24]),
    "Resize up": lambda T: T.Resize(150),
    "Resize to 1": lambda T: T.Resize((1, 1)),
    "Resize same": lambda T: T.Resize(64),
    "Resize max_size": lambda T: T.Resize(40, max_size=44),
    "Resize Pillow int": lambda T: T.Resize((20, 30), 3),
    "Resize antialias None": lambda T: T.Resize((20, 30), antialias=None),
    "Resize antialias False": lambda T: T.Resize((20, 30), antialias=False),
    **{
        f"RandomResizedCrop {m}": lambda T, m=m: T.RandomResizedCrop(29, interpolation=mode(T, m))
        for m in ("NEAREST", "BILINEAR", "BICUBIC", "LANCZOS")
    },
    "RandomResizedCrop two sizes": lambda T: T.RandomResizedCrop((17, 41), scale=(0.5, 1.5), ratio=(0.8, 1.2)),
    "RandomResizedCrop fallback": lambda T: T.RandomResizedCrop(16, scale=(0.9, 1.0), ratio=(3.0, 4.0)),
    "RandomResizedCrop whole": lambda T: T.RandomResizedCrop(64, scale=(1.0, 1.0), ratio=(1.0, 1.0)),
}

CROPS: dict[str, Factory] = {
    "CenterCrop small": lambda T: T.CenterCrop(15),
    "CenterCrop odd": lambda T: T.CenterCrop((16, 33)),
    "CenterCrop larger": lambda T: T.CenterCrop((120, 50)),
    "CenterCrop one-element": lambda T: T.CenterCrop([12]),
    "RandomCrop": lambda T: T.RandomCrop(16),
    "RandomCrop whole": lambda T: T.RandomCrop(64),
    "RandomCrop padding": lambda T: T.RandomCrop(20, padding=4),
    "RandomCrop padding two": lambda T: T.RandomCrop((20, 9), padding=(3, 7), fill=9),
    "RandomCrop pad_if_needed": lambda T: T.RandomCrop((70, 90), pad_if_needed=True),
    "RandomCrop reflect": lambda T: T.RandomCrop(20, padding=[1, 2, 3, 4], padding_mode="reflect"),
    "RandomCrop edge": lambda T: T.RandomCrop((66, 80), padding=1, pad_if_needed=True, padding_mode="edge"),
    **{f"Pad 3 {m}": lambda T, m=m: T.Pad(3, padding_mode=m) for m in PADDING_MODES},
    **{f"Pad four sides {m}": lambda T, m=m: T.Pad((1, 2, 5, 0), padding_mode=m) for m in PADDING_MODES},
    **{f"Pad beyond {m}": lambda T, m=m: T.Pad((40, 90), padding_mode=m) for m in ("edge", "symmetric")},
    "Pad fill": lambda T: T.Pad((4, 1), fill=200),
    "Pad fill list": lambda T: T.Pad([2], fill=(10, 20, 30)),
    "Pad none": lambda T: T.Pad(0),
    "Pad negative edge": lambda T: T.Pad((-1, 2, 3, -1), padding_mode="edge"),
    "RandomHorizontalFlip": lambda T: T.RandomHorizontalFlip(),
    "RandomHorizontalFlip always": lambda T: T.RandomHorizontalFlip(1.0),
    "RandomHorizontalFlip never": lambda T: T.RandomHorizontalFlip(p=0.0),
    "RandomVerticalFlip": lambda T: T.RandomVerticalFlip(),
    "RandomVerticalFlip always": lambda T: T.RandomVerticalFlip(1.0),
}

ROTATIONS: dict[str, Factory] = {
    **{f"RandomRotation {m}": lambda T, m=m: T.RandomRotation(25, mode(T, m)) for m in ROTATION_MODES},
    **{
        f"RandomRotation expand {m}": lambda T, m=m: T.RandomRotation(180, mode(T, m), expand=True)
        for m in ROTATION_MODES
    },
    **{f"RandomRotation by {a}": lambda T, a=a: T.RandomRotation((a, a)) for a in (0, 90, 180, 270, -90, 360, 45)},
    **{f"RandomRotation expand by {a}": lambda T, a=a: T.RandomRotation((a, a), expand=True) for a in (90, 180, 270)},
    "RandomRotation center": lambda T: T.RandomRotation((10, 80), mode(T, "BILINEAR"), center=(3, 40.5)),
    "RandomRotation center zero": lambda T: T.RandomRotation((90, 90), center=(0, 0)),
    "RandomRotation fill": lambda T: T.RandomRotation(60, mode(T, "BICUBIC"), fill=77),
    "RandomRotation fill list": lambda T: T.RandomRotation(60, fill=[1, 2, 255]),
    "RandomRotation fill None": lambda T: T.RandomRotation(60, fill=None),
    "RandomRotation Pillow int": lambda T: T.RandomRotation(30, 2),
}

COLOUR: dict[str, Factory] = {
    "ColorJitter none": lambda T: T.ColorJitter(),
    "ColorJitter all": lambda T: T.ColorJitter(0.4, 0.4, 0.4, 0.1),
    "ColorJitter strong": lambda T: T.ColorJitter(2.0, 2.0, 2.0, 0.5),
    "ColorJitter pathology": lambda T: T.ColorJitter(0.2, 0.1, 0.05, 0.02),
    "ColorJitter brightness": lambda T: T.ColorJitter(brightness=(0.1, 2.5)),
    "ColorJitter contrast": lambda T: T.ColorJitter(contrast=[0.0, 3.0]),
    "ColorJitter saturation": lambda T: T.ColorJitter(saturation=0.9),
    "ColorJitter hue": lambda T: T.ColorJitter(hue=(-0.5, 0.5)),
    "Grayscale 1": lambda T: T.Grayscale(),
    "Grayscale 3": lambda T: T.Grayscale(3),
    "RandomGrayscale": lambda T: T.RandomGrayscale(0.5),
    "RandomGrayscale always": lambda T: T.RandomGrayscale(1.0),
}

CONVERT: dict[str, Factory] = {
    "ToTensor": lambda T: T.ToTensor(),
    "PILToTensor": lambda T: T.PILToTensor(),
}

CONTAINERS: dict[str, Factory] = {
    "Compose empty": lambda T: T.Compose([]),
    "Compose": lambda T: T.Compose([T.Resize(30), T.RandomCrop(24), T.RandomHorizontalFlip(), T.ToTensor()]),
    "Compose nested": lambda T: T.Compose([T.Compose([T.Resize(30)]), T.Compose([T.CenterCrop(28), T.Pad(2)])]),
    "RandomApply": lambda T: T.RandomApply([T.RandomRotation(20), T.ColorJitter(0.3)], p=0.6),
    "RandomApply always": lambda T: T.RandomApply([T.RandomVerticalFlip(), T.Resize(20)], p=1.0),
    "RandomChoice": lambda T: T.RandomChoice([T.Resize(20), T.Pad(3), T.RandomRotation(45)]),
    "RandomChoice weights": lambda T: T.RandomChoice([T.Resize(20), T.RandomHorizontalFlip()], p=[0.2, 0.8]),
    "RandomOrder": lambda T: T.RandomOrder([T.Resize((40, 50)), T.RandomRotation(45), T.ColorJitter(0.3, 0.3)]),
}

#: Everything that takes a PIL image.
PIL_CASES: dict[str, Factory] = {**RESIZE, **CROPS, **ROTATIONS, **COLOUR, **CONVERT, **CONTAINERS}

#: Transforms that take a tensor or an array only; for the tests of repr, attributes and pickling.
OTHER_CASES: dict[str, Factory] = {
    "ToPILImage": lambda T: T.ToPILImage(),
    "ToPILImage mode": lambda T: T.ToPILImage("RGB"),
    "ConvertImageDtype": lambda T: T.ConvertImageDtype(__import__("torch").float32),
    "Normalize": lambda T: T.Normalize((0.5, 0.4, 0.3), (0.2, 0.3, 0.4)),
    "Normalize inplace": lambda T: T.Normalize([0.5], [0.5], True),
}

ALL_CASES: dict[str, Factory] = {**PIL_CASES, **OTHER_CASES}

FUNCTIONAL: dict[str, Call] = {
    **{f"resize {m}": lambda F, x, m=m: F.resize(x, [19, 43], mode(F, m)) for m in MODES},
    "resize int": lambda F, x: F.resize(x, 24),
    "resize max_size": lambda F, x: F.resize(x, 24, max_size=25),
    "crop inside": lambda F, x: F.crop(x, 3, 2, 20, 11),
    "crop beyond": lambda F, x: F.crop(x, -3, -2, 90, 200),
    "crop outside": lambda F, x: F.crop(x, 300, 300, 5, 6),
    "center_crop": lambda F, x: F.center_crop(x, [21, 90]),
    "center_crop int": lambda F, x: F.center_crop(x, 21),
    "resized_crop": lambda F, x: F.resized_crop(x, 3, 1, 17, 30, [24, 20]),
    "resized_crop beyond": lambda F, x: F.resized_crop(x, -5, -5, 150, 150, [24, 20], mode(F, "BICUBIC")),
    "pad": lambda F, x: F.pad(x, [1, 2, 3, 4], 7),
    "pad reflect": lambda F, x: F.pad(x, 2, padding_mode="reflect"),
    "hflip": lambda F, x: F.hflip(x),
    "vflip": lambda F, x: F.vflip(x),
    **{f"rotate {m}": lambda F, x, m=m: F.rotate(x, 33.3, mode(F, m)) for m in ROTATION_MODES},
    "rotate expand": lambda F, x: F.rotate(x, -77, mode(F, "BILINEAR"), True, fill=[5]),
    "rotate by inf": lambda F, x: F.rotate(x, math.inf, fill=4),
    "rotate by nan": lambda F, x: F.rotate(x, math.nan, mode(F, "BILINEAR")),
    "rotate 90": lambda F, x: F.rotate(x, 90),
    "rotate center": lambda F, x: F.rotate(x, 12, center=[1, 2], fill=3),
    **{
        f"adjust_{name} {factor}": lambda F, x, name=name, factor=factor: getattr(F, f"adjust_{name}")(x, factor)
        for name in ("brightness", "contrast", "saturation")
        for factor in (0, 0.0, 0.37, 1, 1.0, 1.9, 11.0)
    },
    **{
        f"adjust_hue {factor}": lambda F, x, factor=factor: F.adjust_hue(x, factor)
        for factor in (-0.5, -0.1, 0, 0.3, 0.5)
    },
    "rgb_to_grayscale 1": lambda F, x: F.rgb_to_grayscale(x),
    "rgb_to_grayscale 3": lambda F, x: F.rgb_to_grayscale(x, 3),
    "get_dimensions": lambda F, x: F.get_dimensions(x),
    "get_image_size": lambda F, x: F.get_image_size(x),
    "get_image_num_channels": lambda F, x: F.get_image_num_channels(x),
}

#: Functional calls that only a PIL image accepts.
PIL_FUNCTIONAL: dict[str, Call] = {
    "to_grayscale 1": lambda F, x: F.to_grayscale(x),
    "to_grayscale 3": lambda F, x: F.to_grayscale(x, 3),
    "to_tensor": lambda F, x: F.to_tensor(x),
    "pil_to_tensor": lambda F, x: F.pil_to_tensor(x),
}


def uses_nearest_resize(name: str) -> bool:
    """Cases where a tensor follows torch's rule for the nearest pixel instead of Pillow's."""
    return name.lower().startswith(("resize", "randomresizedcrop")) and "NEAREST" in name


def pathology(T: Any, resolution: int, interpolation: str, crop: int = 1024) -> Any:
    """The reference pipeline of the project: augmentation of histology tiles."""
    return T.Compose(
        [
            T.ToPILImage(),
            T.RandomRotation(25, interpolation=mode(T, interpolation)),
            T.RandomResizedCrop(crop, scale=(0.5, 1.5), ratio=(0.8, 1.2)),
            T.Resize(resolution),
            T.RandomHorizontalFlip(),
            T.RandomVerticalFlip(),
            T.ColorJitter(0.2, 0.1, 0.05, 0.02),
            T.ToTensor(),
            T.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
        ]
    )


IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))

#: Pipelines of real recipes on a PIL image.
PIPELINES: dict[str, Factory] = {
    "ImageNet train": lambda T: T.Compose(
        [T.RandomResizedCrop(224), T.RandomHorizontalFlip(), T.ToTensor(), T.Normalize(*IMAGENET)]
    ),
    "ImageNet train reference": lambda T: T.Compose(
        [
            T.RandomResizedCrop(176, interpolation=mode(T, "BILINEAR"), antialias=True),
            T.RandomHorizontalFlip(0.5),
            T.PILToTensor(),
            T.ConvertImageDtype(__import__("torch").float),
            T.Normalize(*IMAGENET),
        ]
    ),
    "ImageNet eval": lambda T: T.Compose([T.Resize(256), T.CenterCrop(224), T.ToTensor(), T.Normalize(*IMAGENET)]),
    "ImageNet eval bicubic": lambda T: T.Compose(
        [T.Resize(232, mode(T, "BICUBIC")), T.CenterCrop(224), T.PILToTensor(), T.ToPILImage(), T.ToTensor()]
    ),
    "super-resolution crop": lambda T: T.Compose([T.RandomCrop(96), T.ToTensor()]),
    "segmentation": lambda T: T.Compose(
        [
            T.Resize(300, max_size=420),
            T.RandomHorizontalFlip(),
            T.RandomCrop(320, pad_if_needed=True, fill=(124, 116, 104)),
            T.PILToTensor(),
            T.ConvertImageDtype(__import__("torch").float32),
            T.Normalize(*IMAGENET),
        ]
    ),
    "CIFAR": lambda T: T.Compose(
        [T.Resize(32), T.RandomCrop(32, padding=4), T.RandomHorizontalFlip(), T.ToTensor(), T.Normalize([0.5], [0.25])]
    ),
    "SimCLR": lambda T: T.Compose(
        [
            T.RandomResizedCrop(96),
            T.RandomHorizontalFlip(),
            T.RandomApply([T.ColorJitter(0.8, 0.8, 0.8, 0.2)], p=0.8),
            T.RandomGrayscale(p=0.2),
            T.ToTensor(),
        ]
    ),
    "DINO global": lambda T: T.Compose(
        [
            T.RandomResizedCrop(224, scale=(0.4, 1.0), interpolation=3),
            T.RandomHorizontalFlip(p=0.5),
            T.RandomApply([T.ColorJitter(brightness=0.4, contrast=0.4, saturation=0.2, hue=0.1)], p=0.8),
            T.RandomGrayscale(p=0.2),
            T.ToTensor(),
            T.Normalize(*IMAGENET),
        ]
    ),
    "unknown callable in the middle": lambda T: T.Compose(
        [
            T.Resize(64),
            T.Lambda(lambda x: x.rotate(3)),
            T.RandomHorizontalFlip(),
            lambda x: x.convert("L"),
            T.ToTensor(),
        ]
    ),
    "colour before geometry": lambda T: T.Compose(
        [T.ColorJitter(0.3, 0.3, 0.3, 0.1), T.RandomRotation(30, mode(T, "BILINEAR"), expand=True), T.CenterCrop(200)]
    ),
}
