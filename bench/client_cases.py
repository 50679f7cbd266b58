"""What clients of torchvision hold as their transform, by the packages that make it."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from bench.case import IMAGENET_MEAN, IMAGENET_STD, Goal, Transform

#: Package: the distribution that it is installed from.
DISTRIBUTIONS = {
    "clip": "clip-anytorch",
    "lightly": "lightly",
    "open_clip": "open_clip_torch",
    "timm": "timm",
    "torchvision": "torchvision",
    "transformers": "transformers",
}


def compiled(transform: Any) -> Transform:
    import fastaug

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # what it does not read is called as it is, and the table shows it
        return fastaug.compile(transform)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class ClientCase:
    """One row: a transform of PIL images, and what takes its place, of handles.

    `raises` are errors that the client's own transform ends in under some seeds.
    """

    name: str
    package: str
    own: Callable[[], Any]
    ours: Callable[[Any], Transform] = compiled
    call: Callable[[Any, Any], Any] = lambda transform, image: transform(image)
    raises: tuple[type[Exception], ...] = ()
    bag: str = "photographs 500x375"

    @property
    def installed(self) -> bool:
        return importlib.util.find_spec(self.package) is not None

    @property
    def version(self) -> str:
        return importlib.metadata.version(DISTRIBUTIONS[self.package])

    def goals(self, label: str, isa: str) -> list[Goal]:
        return []

    def described(self) -> dict[str, Any]:
        return {"package": self.package}


def timm(**options: Any) -> Any:
    from timm.data import create_transform

    return create_transform(224, **options)


def open_clip(train: bool, augmentation: dict[str, Any] | None = None, **options: Any) -> Any:
    from open_clip.transform import image_transform

    return image_transform(224, train, aug_cfg=augmentation, **options)


def clip() -> Any:
    from clip.clip import _transform

    return _transform(224)


def lightly(name: str, **options: Any) -> Any:
    from lightly import transforms

    return getattr(transforms, name)(**options)


def weights(name: str) -> Any:
    from torchvision.models import get_weight

    return get_weight(name).transforms()


def processor(model: str, cls: str) -> Any:
    import importlib

    return getattr(importlib.import_module(f"transformers.models.{model}"), cls)()


def processed(one: Any, image: Any) -> Any:
    return one(images=image, return_tensors="pt")["pixel_values"][0]


def pipeline_of(one: Any) -> Transform:
    from fastaug.adapters import transformers

    return transformers.pipeline_of(one)


class TrainingPreset:
    """An object that holds its transforms, as those of torchvision's references for classification do."""

    def __init__(self, policy: str | None = None, erase: float = 0.0, size: int = 224) -> None:
        import torch
        from torchvision.transforms import v2

        steps: list[Any] = [v2.RandomResizedCrop(size, antialias=True), v2.RandomHorizontalFlip(0.5)]
        if policy == "ra":
            steps.append(v2.RandAugment(magnitude=9))
        elif policy == "ta_wide":
            steps.append(v2.TrivialAugmentWide())
        elif policy == "imagenet":
            steps.append(v2.AutoAugment())
        steps += [v2.PILToTensor(), v2.ToDtype(torch.float, scale=True), v2.Normalize(IMAGENET_MEAN, IMAGENET_STD)]
        if erase:
            steps.append(v2.RandomErasing(p=erase))
        steps.append(v2.ToPureTensor())
        self.transforms = v2.Compose(steps)

    def __call__(self, image: Any) -> Any:
        return self.transforms(image)


class EvaluationPreset:
    """Likewise."""

    def __init__(self, resize: int = 256, size: int = 224) -> None:
        import torchvision.transforms as TV

        normalize = TV.Normalize(IMAGENET_MEAN, IMAGENET_STD)
        steps = [TV.Resize(resize, antialias=True), TV.CenterCrop(size), TV.PILToTensor()]
        import torch

        self.transforms = TV.Compose([*steps, TV.ConvertImageDtype(torch.float), normalize])

    def __call__(self, image: Any) -> Any:
        return self.transforms(image)


class MultiCrop:
    """Two large and eight small views that share their steps, and come in a dictionary: as DINOv2 is trained."""

    def __init__(self, size: int = 224, local: int = 96, count: int = 8) -> None:
        import torchvision.transforms as TV

        bicubic = TV.InterpolationMode.BICUBIC

        def blurred(p: float) -> Any:
            return TV.RandomApply([TV.GaussianBlur(kernel_size=9, sigma=(0.1, 2.0))], p=p)

        def cropped(side: int, scale: tuple[float, float]) -> Any:
            crop = TV.RandomResizedCrop(side, scale=scale, interpolation=bicubic)
            return TV.Compose([crop, TV.RandomHorizontalFlip(p=0.5)])

        self.count = count
        self.of_global = cropped(size, (0.32, 1.0))
        self.of_local = cropped(local, (0.05, 0.32))
        jitter = TV.Compose(
            [
                TV.RandomApply([TV.ColorJitter(brightness=0.4, contrast=0.4, saturation=0.2, hue=0.1)], p=0.8),
                TV.RandomGrayscale(p=0.2),
            ]
        )
        end = TV.Compose([TV.ToTensor(), TV.Normalize(IMAGENET_MEAN, IMAGENET_STD)])
        self.first = TV.Compose([jitter, blurred(1.0), end])
        self.second = TV.Compose([jitter, blurred(0.1), TV.RandomSolarize(threshold=128, p=0.2), end])
        self.small = TV.Compose([jitter, blurred(0.5), end])

    def __call__(self, image: Any) -> dict[str, Any]:
        large = [self.first(self.of_global(image)), self.second(self.of_global(image))]
        small = [self.small(self.of_local(image)) for _ in range(self.count)]
        return {"global_crops": large, "global_crops_teacher": large, "local_crops": small, "offsets": ()}


_jitter = {"color_jitter": (0.32, 0.32, 0.32, 0.08), "color_jitter_prob": 0.8, "gray_scale_prob": 0.2}
_simclr = {"color_jitter_prob": 0.8, "grayscale_prob": 0.2, "gaussian_blur_prob": 0.5}
# timm's own posterize asks Pillow for no bits at all where a drawn magnitude ends there, and newer ones refuse that.
_refusing = (ValueError,)


def _timm(name: str, train: bool = True, raises: tuple[type[Exception], ...] = (), **options: Any) -> ClientCase:
    return ClientCase(f"timm {name}", "timm", partial(timm, is_training=train, **options), raises=raises)


def _processor(name: str, model: str, cls: str) -> ClientCase:
    return ClientCase(name, "transformers", partial(processor, model, cls), pipeline_of, processed)


CASES = (
    _timm("eval bicubic", False, interpolation="bicubic", crop_pct=0.875),
    _timm("eval squash", False, crop_pct=0.9, crop_mode="squash"),
    _timm("eval border", False, crop_pct=1.0, crop_mode="border"),
    _timm("train, colour jitter", color_jitter=0.4, interpolation="random"),
    _timm("train rand-m9-mstd0.5, re_prob .25", raises=_refusing, auto_augment="rand-m9-mstd0.5", re_prob=0.25),
    _timm("train AutoAugment", raises=_refusing, auto_augment="original"),
    _timm("train AugMix", raises=_refusing, auto_augment="augmix-m3-w3"),
    _timm("train 3-augment", auto_augment="3a", color_jitter=0.3),
    _timm("train SimCLR-like", color_jitter=(0.8, 0.8, 0.8, 0.2), **_simclr),
    ClientCase("torchvision preset train", "torchvision", TrainingPreset),
    ClientCase("torchvision preset train ta_wide, erasing .1", "torchvision", partial(TrainingPreset, "ta_wide", 0.1)),
    ClientCase("torchvision preset train ra", "torchvision", partial(TrainingPreset, "ra")),
    ClientCase("torchvision preset eval", "torchvision", EvaluationPreset),
    ClientCase("torchvision weights ResNet-50", "torchvision", partial(weights, "ResNet50_Weights.IMAGENET1K_V2")),
    ClientCase("torchvision weights Swin-V2", "torchvision", partial(weights, "Swin_V2_B_Weights.IMAGENET1K_V1")),
    ClientCase("DINOv2-like multi-crop 2 + 8", "torchvision", MultiCrop),
    ClientCase("lightly SimCLR", "lightly", partial(lightly, "SimCLRTransform", input_size=224)),
    ClientCase("lightly DINO", "lightly", partial(lightly, "DINOTransform")),
    ClientCase("lightly MAE", "lightly", partial(lightly, "MAETransform")),
    ClientCase("open_clip eval", "open_clip", partial(open_clip, False)),
    ClientCase("open_clip eval longest", "open_clip", partial(open_clip, False, resize_mode="longest")),
    ClientCase("open_clip train", "open_clip", partial(open_clip, True, {"scale": (0.9, 1.0)})),
    ClientCase("open_clip train, jitter", "open_clip", partial(open_clip, True, {"scale": (0.4, 1.0), **_jitter})),
    ClientCase("CLIP", "clip", clip),
    _processor("ViTImageProcessor, fast", "vit", "ViTImageProcessor"),
    _processor("ViTImageProcessor, slow", "vit", "ViTImageProcessorPil"),
    _processor("CLIPImageProcessor, fast", "clip", "CLIPImageProcessor"),
    _processor("CLIPImageProcessor, slow", "clip", "CLIPImageProcessorPil"),
)
BY_NAME = {case.name: case for case in CASES}
