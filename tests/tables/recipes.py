"""Whole pipelines as people train with them, built from whichever package is handed in."""

from __future__ import annotations

import random
from typing import Any

import torch
from PIL import Image, ImageFilter, ImageOps

from support.versions import since
from tables.cases import Factory, Stack, mode


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
            T.ConvertImageDtype(torch.float),
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
            T.ConvertImageDtype(torch.float32),
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


# ---- torchvision's reference recipes for ImageNet (references/classification/presets.py)


def reference_train(auto: str | None = None, erase: float = 0.0, backend: str = "pil", size: int = 224) -> Factory:
    def make(T: Any) -> Any:
        bilinear = mode(T, "BILINEAR")
        steps = [T.PILToTensor()] if backend == "tensor" else []
        steps += [T.RandomResizedCrop(size, interpolation=bilinear, antialias=True), T.RandomHorizontalFlip(0.5)]
        if auto == "ra":
            steps.append(T.RandAugment(interpolation=bilinear, magnitude=9))
        elif auto == "ta_wide":
            steps.append(T.TrivialAugmentWide(interpolation=bilinear))
        elif auto == "augmix":
            steps.append(T.AugMix(interpolation=bilinear, severity=3))
        elif auto is not None:
            steps.append(T.AutoAugment(policy=T.AutoAugmentPolicy(auto), interpolation=bilinear))
        if backend == "pil":
            steps.append(T.PILToTensor())
        steps += [T.ConvertImageDtype(torch.float), T.Normalize(*IMAGENET)]
        if erase > 0:
            steps.append(T.RandomErasing(p=erase))
        return T.Compose(steps)

    return make


def reference_eval(T: Any, backend: str = "pil") -> Any:
    before, after = ([T.PILToTensor()], []) if backend == "tensor" else ([], [T.PILToTensor()])
    return T.Compose(
        [
            *before,
            T.Resize(256, interpolation=mode(T, "BILINEAR"), antialias=True),
            T.CenterCrop(224),
            *after,
            T.ConvertImageDtype(torch.float),
            T.Normalize(*IMAGENET),
        ]
    )


# ---- callables of their own that the self-supervised recipes bring along


class PillowBlur:
    """MoCo's and DINO's blur of a PIL image, its strength from Python's generator."""

    def __init__(self, p: float = 0.5, low: float = 0.1, high: float = 2.0) -> None:
        self.p, self.low, self.high = p, low, high

    def __call__(self, image: Image.Image) -> Image.Image:
        if random.random() > self.p:
            return image
        return image.filter(ImageFilter.GaussianBlur(radius=random.uniform(self.low, self.high)))


class PillowSolarize:
    def __init__(self, p: float) -> None:
        self.p = p

    def __call__(self, image: Image.Image) -> Image.Image:
        return ImageOps.solarize(image) if random.random() < self.p else image


class Views:
    """One image to several views, each with a pipeline of its own."""

    def __init__(self, *pipelines: Any) -> None:
        self.pipelines = pipelines

    def __call__(self, image: Any) -> list[torch.Tensor]:
        return [pipeline(image) for pipeline in self.pipelines]


def moco_v2(T: Any) -> Any:
    view = T.Compose(
        [
            T.RandomResizedCrop(160, scale=(0.2, 1.0)),
            T.RandomApply([T.ColorJitter(0.4, 0.4, 0.4, 0.1)], p=0.8),
            T.RandomGrayscale(p=0.2),
            T.RandomApply([PillowBlur(1.0)], p=0.5),
            T.RandomHorizontalFlip(),
            T.ToTensor(),
            T.Normalize(*IMAGENET),
        ]
    )
    return Views(view, view)


def two_views(T: Any, saturation: float, low: float, size: int) -> Any:
    """BYOL's two views; MoCo v3 takes the same with other numbers."""

    def view(blur: float, solarize: float) -> Any:
        return T.Compose(
            [
                T.RandomResizedCrop(size, scale=(low, 1.0), interpolation=mode(T, "BICUBIC")),
                T.RandomHorizontalFlip(),
                T.RandomApply([T.ColorJitter(0.4, 0.4, saturation, 0.1)], p=0.8),
                T.RandomGrayscale(p=0.2),
                T.RandomApply([T.GaussianBlur(kernel_size=15, sigma=(0.1, 2.0))], p=blur),
                T.RandomSolarize(threshold=128, p=solarize),
                T.ToTensor(),
                T.Normalize(*IMAGENET),
            ]
        )

    return Views(view(1.0, 0.0), view(0.1, 0.2))


def dino(T: Any, pillow: bool) -> Any:
    """Two global and four local crops; DINOv2 takes torchvision's blur and solarize in place of Pillow's."""
    jitter = T.Compose(
        [
            T.RandomHorizontalFlip(p=0.5),
            T.RandomApply([T.ColorJitter(brightness=0.4, contrast=0.4, saturation=0.2, hue=0.1)], p=0.8),
            T.RandomGrayscale(p=0.2),
        ]
    )

    class RandomBlur(T.RandomApply):  # type: ignore[misc, name-defined]
        """As in DINOv2."""

        def __init__(self, *, p: float = 0.5) -> None:
            super().__init__(transforms=[T.GaussianBlur(kernel_size=9, sigma=(0.1, 2.0))], p=1 - (1 - p))

    def view(size: int, scale: tuple[float, float], blur: float, solarize: float) -> Any:
        effects = (
            [PillowBlur(blur), PillowSolarize(solarize)]
            if pillow
            else [RandomBlur(p=blur), T.RandomSolarize(128, solarize)]
        )
        crop = T.RandomResizedCrop(size, scale=scale, interpolation=Image.Resampling.BICUBIC)
        return T.Compose([crop, jitter, *effects, T.ToTensor(), T.Normalize(*IMAGENET)])

    local = view(64, (0.05, 0.4), 0.5, 0.0)
    return Views(view(128, (0.4, 1.0), 1.0, 0.0), view(128, (0.4, 1.0), 0.1, 0.2), *[local] * 4)


def simclr(T: Any) -> Any:
    return T.Compose(
        [
            T.RandomResizedCrop(size=96),
            T.RandomHorizontalFlip(),
            T.RandomApply([T.ColorJitter(0.8, 0.8, 0.8, 0.2)], p=0.8),
            T.RandomGrayscale(p=0.2),
            T.GaussianBlur(kernel_size=9),
            T.ToTensor(),
        ]
    )


def timm_default(T: Any) -> Any:
    return T.Compose(
        [
            T.RandomResizedCrop(160, interpolation=mode(T, "BICUBIC")),
            T.RandomHorizontalFlip(p=0.5),
            T.ColorJitter(0.4, 0.4, 0.4),
            T.ToTensor(),
            T.Normalize(mean=torch.tensor(IMAGENET[0]), std=torch.tensor(IMAGENET[1])),
        ]
    )


def timm_rand(T: Any) -> Any:
    """DeiT: RandAugment and pixel-wise erasing."""
    return T.Compose(
        [
            T.RandomResizedCrop(160, scale=(0.08, 1.0), interpolation=mode(T, "BICUBIC")),
            T.RandomHorizontalFlip(p=0.5),
            T.RandAugment(num_ops=2, magnitude=9, interpolation=mode(T, "BICUBIC"), fill=[124, 116, 104]),
            T.ToTensor(),
            T.Normalize(*IMAGENET),
            T.RandomErasing(p=0.25, value="random"),
        ]
    )


def three_augment(T: Any) -> Any:
    """DeiT III."""
    return T.Compose(
        [
            T.Resize(160, interpolation=3),
            T.RandomCrop(160, padding=4, padding_mode="reflect"),
            T.RandomHorizontalFlip(),
            T.RandomChoice(
                [T.RandomGrayscale(p=1.0), T.RandomSolarize(threshold=128, p=1.0), T.GaussianBlur(kernel_size=5)]
            ),
            T.ColorJitter(0.3, 0.3, 0.3),
            T.ToTensor(),
            T.Normalize(*IMAGENET),
        ]
    )


def ten_crop(T: Any) -> Any:
    return T.Compose([T.Resize(160), T.TenCrop(128), T.Lambda(Stack(T.ToTensor())), T.Lambda(lambda x: x.mean(0))])


def mae(T: Any) -> Any:
    return T.Compose(
        [
            T.RandomResizedCrop(160, scale=(0.2, 1.0), interpolation=3),
            T.RandomHorizontalFlip(),
            T.ToTensor(),
            T.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225]),
        ]
    )


def cifar(T: Any, policy: str | None = None) -> Any:
    return T.Compose(
        [
            T.RandomCrop(32, padding=4, padding_mode="reflect"),
            T.RandomHorizontalFlip(),
            *([T.AutoAugment(T.AutoAugmentPolicy(policy))] if policy else []),
            T.ToTensor(),
            T.Normalize((0.4914, 0.4822, 0.4465), (0.2023, 0.1994, 0.2010)),
        ]
    )


def strong(T: Any) -> Any:
    """Every further class at once, as in medical imaging."""
    return T.Compose(
        [
            T.RandomAffine(20, (0.1, 0.1), (0.8, 1.2), (-10, 10, -10, 10), mode(T, "BILINEAR"), fill=(240, 235, 245)),
            T.RandomPerspective(0.3, p=0.5),
            *([T.RandomApply([T.ElasticTransform(60.0, 3.0)], p=0.5)] if since(0, 26) else []),
            T.RandomOrder(
                [T.RandomEqualize(0.3), T.RandomAutocontrast(), T.RandomInvert(0.1), T.RandomPosterize(5, 0.2)]
            ),
            T.RandomAdjustSharpness(2.0),
            T.Resize((144, 150)),
            T.ToTensor(),
            T.RandomErasing(0.5, value=(0.9, 0.8, 0.9)),
        ]
    )


#: On photographs; many seeds each.
RECIPES: dict[str, Factory] = {
    "ImageNet basic": reference_train(),
    "ImageNet basic, tensors": reference_train(backend="tensor"),
    "ImageNet eval": reference_eval,
    "ImageNet eval, tensors": lambda T: reference_eval(T, "tensor"),
    "ImageNet TrivialAugment, erasing": reference_train("ta_wide", 0.1),
    "ImageNet RandAugment": reference_train("ra", 0.25),
    "ImageNet AutoAugment": reference_train("imagenet"),
    "ImageNet AugMix": reference_train("augmix", 0.1, size=144),
    "ImageNet TrivialAugment, tensors": reference_train("ta_wide", 0.1, "tensor"),
    "ImageNet RandAugment, tensors": reference_train("ra", 0.25, "tensor"),
    "ImageNet AutoAugment, tensors": reference_train("imagenet", 0.0, "tensor"),
    "ImageNet AugMix, tensors": reference_train("augmix", 0.1, "tensor", size=144),
    "timm default": timm_default,
    "timm RandAugment": timm_rand,
    "DeiT III three augmentations": three_augment,
    "SimCLR": simclr,
    "MoCo v2": moco_v2,
    "MoCo v3": lambda T: two_views(T, 0.2, 0.08, 144),
    "BYOL": lambda T: two_views(T, 0.2, 0.08, 128),
    "DINO": lambda T: dino(T, pillow=True),
    "DINOv2": lambda T: dino(T, pillow=False),
    "MAE": mae,
    "ten-crop evaluation": ten_crop,
    "segmentation": PIPELINES["segmentation"],
    "strong": strong,
    "P": lambda T: T.Compose([T.PILToTensor(), pathology(T, 112, "BILINEAR", crop=224)]),
    "P nearest": lambda T: T.Compose([T.PILToTensor(), pathology(T, 112, "NEAREST", crop=224)]),
}

#: On images of 32 x 32.
SMALL_RECIPES: dict[str, Factory] = {
    "CIFAR": cifar,
    "CIFAR AutoAugment": lambda T: cifar(T, "cifar10"),
    "SVHN AutoAugment": lambda T: cifar(T, "svhn"),
}
