"""One table of transforms, built from whichever package is handed in.

Parity, containers, repr, attributes and pickling all run over these rows, so that a new argument is added in one place.
`calls` holds the functional calls, `recipes` whole pipelines.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from support.versions import since

Factory = Callable[[Any], Any]

MODES = ("NEAREST", "NEAREST_EXACT", "BILINEAR", "BICUBIC", "BOX", "HAMMING", "LANCZOS")
ROTATION_MODES = ("NEAREST", "BILINEAR", "BICUBIC")
PADDING_MODES = ("constant", "edge", "reflect", "symmetric")


def mode(package: Any, name: str) -> Any:
    """The member of the package's own InterpolationMode."""
    return getattr(package.InterpolationMode, name)


class Stack:
    """Crops to one float tensor: the callable of ten-crop evaluation, in a form that pickles."""

    def __init__(self, to_tensor: Any) -> None:
        self.to_tensor = to_tensor

    def __call__(self, crops: Any) -> torch.Tensor:
        return torch.stack([crop / 255 if isinstance(crop, torch.Tensor) else self.to_tensor(crop) for crop in crops])


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

WARPS: dict[str, Factory] = {
    **{f"RandomAffine {m}": lambda T, m=m: T.RandomAffine(30, interpolation=mode(T, m)) for m in ROTATION_MODES},
    **{
        f"RandomAffine all {m}": lambda T, m=m: T.RandomAffine(
            (-40, 170), (0.2, 0.3), (0.5, 1.7), (-20, 20, -5, 15), mode(T, m), 9
        )
        for m in ROTATION_MODES
    },
    "RandomAffine translate": lambda T: T.RandomAffine(0, translate=(0.5, 0.0)),
    "RandomAffine scale": lambda T: T.RandomAffine(0, scale=(0.6, 0.6)),
    "RandomAffine scale bilinear": lambda T: T.RandomAffine([0, 0], scale=[0.5, 2.0], interpolation=2),
    "RandomAffine shear": lambda T: T.RandomAffine(0, shear=25),
    "RandomAffine shear x": lambda T: T.RandomAffine(0, shear=(5, 30), interpolation=mode(T, "BILINEAR")),
    "RandomAffine shear x, y": lambda T: T.RandomAffine(0, shear=[-30.0, 30.0, -10.0, 40.0], fill=[3]),
    "RandomAffine center": lambda T: T.RandomAffine((90, 90), center=(5, 40.5), fill=200),
    "RandomAffine identity": lambda T: T.RandomAffine(0),
    "RandomAffine identity bicubic": lambda T: T.RandomAffine((0, 0), interpolation=mode(T, "BICUBIC")),
    "RandomAffine half turn": lambda T: T.RandomAffine((180, 180), interpolation=mode(T, "BILINEAR")),
    "RandomAffine fill list": lambda T: T.RandomAffine(60, fill=[1, 2, 255], interpolation=3),
    "RandomAffine fill float": lambda T: T.RandomAffine(60, fill=70.9),
    "RandomAffine fill None": lambda T: T.RandomAffine(60, fill=None),
    **{
        f"RandomPerspective {m}": lambda T, m=m: T.RandomPerspective(p=1.0, interpolation=mode(T, m))
        for m in ROTATION_MODES
    },
    "RandomPerspective": lambda T: T.RandomPerspective(),
    "RandomPerspective never": lambda T: T.RandomPerspective(0.9, p=0.0),
    "RandomPerspective all": lambda T: T.RandomPerspective(1.0, 1.0, 2, 130),
    "RandomPerspective little": lambda T: T.RandomPerspective(0.05, 1.0, interpolation=3),
    "RandomPerspective none": lambda T: T.RandomPerspective(0.0, 1.0),
    "RandomPerspective fill": lambda T: T.RandomPerspective(0.7, 1.0, fill=[1, 20, 255]),
    "RandomPerspective fill one": lambda T: T.RandomPerspective(0.7, 1.0, mode(T, "NEAREST"), [99]),
    "ElasticTransform": lambda T: T.ElasticTransform(),
    "ElasticTransform pairs": lambda T: T.ElasticTransform([80.0, 10.0], [2.0, 3.5], mode(T, "NEAREST"), 77),
    "ElasticTransform rough": lambda T: T.ElasticTransform(alpha=300.0, sigma=1.0, fill=[5.0]),
    "ElasticTransform rougher": lambda T: T.ElasticTransform(alpha=20.0, sigma=0.0, fill=(250, 3, 120)),
    "ElasticTransform across": lambda T: T.ElasticTransform((30.0, 0.0), (4.0, 0.0), 0),
    "ElasticTransform still": lambda T: T.ElasticTransform(0.0, 1.5),
    "ElasticTransform bicubic": lambda T: T.ElasticTransform(40.0, 2.0, mode(T, "BICUBIC")),
}

if not since(0, 26):
    # Each displacement was divided by the other side.
    WARPS = {name: make for name, make in WARPS.items() if not name.startswith("ElasticTransform")}

FILTERS: dict[str, Factory] = {
    "GaussianBlur 3": lambda T: T.GaussianBlur(3),
    "GaussianBlur 1": lambda T: T.GaussianBlur(1, 0.7),
    "GaussianBlur pair": lambda T: T.GaussianBlur((5, 9), sigma=(0.1, 5)),
    "GaussianBlur tall": lambda T: T.GaussianBlur([1, 11], sigma=[2.0, 2.0]),
    "GaussianBlur list of one": lambda T: T.GaussianBlur([7], sigma=1.5),
    "GaussianBlur 23": lambda T: T.GaussianBlur(23, (0.1, 2.0)),
    "GaussianBlur tiny sigma": lambda T: T.GaussianBlur(5, (0.01, 0.02)),
    "GaussianBlur wide sigma": lambda T: T.GaussianBlur(9, 100),
    **{f"RandomAdjustSharpness {f}": lambda T, f=f: T.RandomAdjustSharpness(f, 1.0) for f in (0, 0.3, 1, 1.0, 2, 7.5)},
    "RandomAdjustSharpness": lambda T: T.RandomAdjustSharpness(sharpness_factor=1.9),
    "RandomAdjustSharpness never": lambda T: T.RandomAdjustSharpness(0, p=0),
}

LEVELS: dict[str, Factory] = {
    **{
        f"{name}{title}": lambda T, name=name, p=p: getattr(T, name)(*p)
        for name in ("RandomInvert", "RandomAutocontrast", "RandomEqualize")
        for title, p in (("", ()), (" always", (1.0,)), (" never", (0.0,)))
    },
    **{f"RandomPosterize {bits}": lambda T, bits=bits: T.RandomPosterize(bits, p=1.0) for bits in (0, 1, 2, 5, 8)},
    "RandomPosterize": lambda T: T.RandomPosterize(bits=3),
    **{
        f"RandomSolarize {limit}": lambda T, limit=limit: T.RandomSolarize(limit, 1.0)
        for limit in (0, 0.5, 1, 128, 200.25, 255, 256, -3)
    },
    "RandomSolarize": lambda T: T.RandomSolarize(threshold=192.0),
}

AUTO: dict[str, Factory] = {
    "AutoAugment": lambda T: T.AutoAugment(),
    **{
        f"AutoAugment {policy} {m}": lambda T, policy=policy, m=m, fill=fill: T.AutoAugment(
            T.AutoAugmentPolicy(policy), mode(T, m), fill
        )
        for policy, m, fill in (
            ("imagenet", "BILINEAR", None),
            ("cifar10", "NEAREST", 128),
            ("cifar10", "BICUBIC", [5, 6, 7]),
            ("svhn", "NEAREST", None),
            ("svhn", "BILINEAR", [124.7]),
        )
    },
    "RandAugment": lambda T: T.RandAugment(),
    "RandAugment none": lambda T: T.RandAugment(0),
    "RandAugment strong": lambda T: T.RandAugment(5, 30, 31, mode(T, "BILINEAR"), 128),
    "RandAugment few bins": lambda T: T.RandAugment(num_ops=3, magnitude=5, num_magnitude_bins=10, fill=[1, 2, 3]),
    "RandAugment bicubic": lambda T: T.RandAugment(4, 15, interpolation=mode(T, "BICUBIC")),
    "TrivialAugmentWide": lambda T: T.TrivialAugmentWide(),
    "TrivialAugmentWide few bins": lambda T: T.TrivialAugmentWide(4, mode(T, "BILINEAR"), 99.5),
    "TrivialAugmentWide fill": lambda T: T.TrivialAugmentWide(interpolation=mode(T, "BICUBIC"), fill=[9, 8, 250]),
    "AugMix": lambda T: T.AugMix(),
    "AugMix geometry": lambda T: T.AugMix(severity=10, all_ops=False, interpolation=mode(T, "NEAREST"), fill=[50]),
    "AugMix one long chain": lambda T: T.AugMix(7, 1, 4, 0.3, fill=128),
    "AugMix wide": lambda T: T.AugMix(severity=1, mixture_width=5, chain_depth=1, alpha=5.0, fill=[1.5, 2.5, 255.0]),
}

MANY: dict[str, Factory] = {
    "FiveCrop": lambda T: T.FiveCrop(16),
    "FiveCrop pair": lambda T: T.FiveCrop((7, 31)),
    "FiveCrop list of one": lambda T: T.FiveCrop([20]),
    "TenCrop": lambda T: T.TenCrop(16),
    "TenCrop vertical": lambda T: T.TenCrop([15, 10], vertical_flip=True),
    "TenCrop stacked": lambda T: T.Compose([T.TenCrop(11), T.Lambda(Stack(T.ToTensor()))]),
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
PIL_CASES: dict[str, Factory] = {
    **RESIZE,
    **CROPS,
    **ROTATIONS,
    **COLOUR,
    **WARPS,
    **FILTERS,
    **LEVELS,
    **AUTO,
    **MANY,
    **CONVERT,
    **CONTAINERS,
}

#: Transforms that take a float tensor, or one of any dtype.
TENSOR_ONLY: dict[str, Factory] = {
    "ConvertImageDtype": lambda T: T.ConvertImageDtype(torch.float32),
    "Normalize": lambda T: T.Normalize((0.5, 0.4, 0.3), (0.2, 0.3, 0.4)),
    "Normalize inplace": lambda T: T.Normalize([0.5], [0.5], True),
    "RandomErasing": lambda T: T.RandomErasing(),
    "RandomErasing never": lambda T: T.RandomErasing(p=0.0),
    "RandomErasing always": lambda T: T.RandomErasing(p=1),
    "RandomErasing random": lambda T: T.RandomErasing(1.0, (0.1, 0.5), (0.5, 2.0), "random"),
    "RandomErasing list": lambda T: T.RandomErasing(1.0, value=[0.1, 0.2, 0.3]),
    "RandomErasing tuple of one": lambda T: T.RandomErasing(1.0, value=(7,)),
    "RandomErasing number": lambda T: T.RandomErasing(1.0, [0.02, 0.9], [0.1, 9.0], 0.75),
    "RandomErasing hopeless": lambda T: T.RandomErasing(1.0, (1.0, 1.0), (1.0, 1.0)),
    "RandomErasing narrow": lambda T: T.RandomErasing(1.0, (0.3, 1.0), (5.0, 30.0), "random"),
    "RandomErasing inplace": lambda T: T.RandomErasing(1.0, inplace=True),
    "LinearTransformation": lambda T: T.LinearTransformation(
        torch.linspace(-1, 1, 48 * 48).view(48, 48), torch.linspace(0, 1, 48)
    ),
}

#: What does not take a PIL image; for the tests of repr, attributes and pickling.
OTHER_CASES: dict[str, Factory] = {
    "ToPILImage": lambda T: T.ToPILImage(),
    "ToPILImage mode": lambda T: T.ToPILImage("RGB"),
    **TENSOR_ONLY,
}

ALL_CASES: dict[str, Factory] = {**PIL_CASES, **OTHER_CASES}


def uses_nearest_resize(name: str) -> bool:
    """Cases where a tensor follows torch's rule for the nearest pixel instead of Pillow's."""
    return name.lower().startswith(("resize", "randomresizedcrop")) and "NEAREST" in name


def follows_torch(name: str) -> bool:
    """Cases that are another operation on tensors than on PIL images."""
    return uses_nearest_resize(name) or "antialias" in name
