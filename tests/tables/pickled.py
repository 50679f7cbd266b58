"""One object of every class, and functions, that earlier versions have pickled.

`python tests/tables/pickled.py FILE`, run in a checkout of such a version, writes what tests/api/pickles/ has of it:
`before_rooms.pickle` is of commit 8598727, `before_public_names.pickle` of 23e9d16.
"""

from __future__ import annotations

import pickle
import sys
from functools import partial
from typing import Any

import numpy as np
import torch
from PIL import Image

#: Where earlier versions had what pickles name.
NAMED = {
    "fastaug._compile.compiled": "Compiled",
    "fastaug._compiled": "Compiled",
    "fastaug._encoded": "LazyImage",
    "fastaug._interpolation": "InterpolationMode",
    "fastaug.io": "LazyImage",
    "fastaug.io._batch": "imread_batch",
    "fastaug.io._read": "ImageInfo image_info imread lazy",
    "fastaug.io._torchvision": "ImageReadMode decode_gif decode_image decode_jpeg decode_png decode_webp read_file "
    "read_image",
    "fastaug.transforms": "InterpolationMode",
    "fastaug.transforms._augmix": "AugMix",
    "fastaug.transforms._auto_augment": "AutoAugment RandAugment TrivialAugmentWide",
    "fastaug.transforms._auto_augment_policies": "AutoAugmentPolicy",
    "fastaug.transforms._blur": "GaussianBlur",
    "fastaug.transforms._color": "ColorJitter Grayscale RandomAdjustSharpness RandomAutocontrast RandomEqualize "
    "RandomGrayscale RandomInvert RandomPosterize RandomSolarize",
    "fastaug.transforms._containers": "Compose Lambda RandomApply RandomChoice RandomOrder",
    "fastaug.transforms._convert": "ConvertImageDtype LinearTransformation Normalize PILToTensor ToPILImage ToTensor",
    "fastaug.transforms._crops": "CenterCrop FiveCrop RandomCrop RandomResizedCrop TenCrop",
    "fastaug.transforms._decode": "Decode",
    "fastaug.transforms._erasing": "RandomErasing",
    "fastaug.transforms._functional_color": "adjust_brightness adjust_contrast adjust_gamma adjust_hue "
    "adjust_saturation adjust_sharpness autocontrast equalize invert posterize rgb_to_grayscale solarize to_grayscale",
    "fastaug.transforms._functional_convert": "convert_image_dtype get_dimensions get_image_num_channels "
    "get_image_size normalize pil_to_tensor to_pil_image to_tensor",
    "fastaug.transforms._functional_geometry": "affine center_crop crop elastic_transform erase five_crop "
    "gaussian_blur hflip pad perspective resize resized_crop rotate ten_crop vflip",
    "fastaug.transforms._geometry": "Pad RandomHorizontalFlip RandomVerticalFlip Resize",
    "fastaug.transforms._warps": "ElasticTransform RandomAffine RandomPerspective RandomRotation",
    "fastaug": "DecodeError",
}


def made(fastaug: Any, T: Any, F: Any) -> dict[str, Any]:
    """By the name of the class, or of what is made of it."""
    bilinear = T.InterpolationMode.BILINEAR
    chain = [T.RandomResizedCrop(12, ratio=[0.8, 1.25]), T.RandomHorizontalFlip(), T.ToTensor()]
    return {
        "AugMix": T.AugMix(severity=2),
        "AutoAugment": T.AutoAugment(T.AutoAugmentPolicy.SVHN),
        "CenterCrop": T.CenterCrop(9),
        "ColorJitter": T.ColorJitter(0.2, hue=0.1),
        "Compose": T.Compose(chain),
        "ConvertImageDtype": T.ConvertImageDtype(torch.float64),
        "Decode": T.Decode("L", exif=True),
        "ElasticTransform": T.ElasticTransform(20.0, 1.0),
        "FiveCrop": T.FiveCrop((4, 5)),
        "GaussianBlur": T.GaussianBlur(3),
        "Grayscale": T.Grayscale(3),
        "Lambda": T.Lambda(F.hflip),
        "LinearTransformation": T.LinearTransformation(torch.eye(12), torch.ones(12)),
        "Normalize": T.Normalize((0.5,), torch.tensor([0.25])),
        "PILToTensor": T.PILToTensor(),
        "Pad": T.Pad((1, 2), 3, "reflect"),
        "RandAugment": T.RandAugment(3, interpolation=bilinear),
        "RandomAdjustSharpness": T.RandomAdjustSharpness(2),
        "RandomAffine": T.RandomAffine(10, (0.1, 0.2), interpolation=bilinear),
        "RandomApply": T.RandomApply([T.Pad(1)], 0.75),
        "RandomAutocontrast": T.RandomAutocontrast(),
        "RandomChoice": T.RandomChoice([T.Pad(1), T.Pad(2)], [0.5, 0.5]),
        "RandomCrop": T.RandomCrop(9, padding=2),
        "RandomEqualize": T.RandomEqualize(),
        "RandomErasing": T.RandomErasing(1.0, value="random"),
        "RandomGrayscale": T.RandomGrayscale(),
        "RandomHorizontalFlip": T.RandomHorizontalFlip(),
        "RandomInvert": T.RandomInvert(),
        "RandomOrder": T.RandomOrder([T.Pad(1), T.RandomVerticalFlip()]),
        "RandomPerspective": T.RandomPerspective(0.25, 1.0),
        "RandomPosterize": T.RandomPosterize(3),
        "RandomResizedCrop": T.RandomResizedCrop(10, interpolation=bilinear),
        "RandomRotation": T.RandomRotation(20, fill=(1, 2, 3)),
        "RandomSolarize": T.RandomSolarize(99),
        "RandomVerticalFlip": T.RandomVerticalFlip(0.25),
        "Resize": T.Resize((8, 9), T.InterpolationMode.BICUBIC),
        "TenCrop": T.TenCrop(4, vertical_flip=True),
        "ToPILImage": T.ToPILImage("RGB"),
        "ToTensor": T.ToTensor(),
        "TrivialAugmentWide": T.TrivialAugmentWide(),
        "compiled": fastaug.compile(T.Compose(chain), dtype=torch.float16, memory_format=torch.channels_last),
        "compiled with a generator": fastaug.compile(T.RandomCrop(5), generator=torch.Generator().manual_seed(3)),
        "fast": T.Compose([T.RandomRotation(5), T.RandomCrop(6)], mode="fast"),
        "function": partial(F.rotate, angle=90.0),
        "handle": fastaug.io.lazy(b"P6 2 1 255 abcdef"),
        "policies": list(T.AutoAugmentPolicy),
        "modes": dict(F.pil_modes_mapping),
        "function of classes": partial(T.Resize, 7),
    }


if __name__ == "__main__":
    import fastaug
    import fastaug.io
    import fastaug.transforms

    objects = made(fastaug, fastaug.transforms, fastaug.transforms.functional)
    image = Image.fromarray(np.arange(20 * 20 * 3, dtype=np.uint8).reshape(20, 20, 3))
    if sys.argv[2:] == ["called"]:
        # Some keep what a call has found out.
        for name in ("RandomResizedCrop", "Compose", "compiled"):
            objects[name](image)
        objects["RandomErasing"](torch.zeros(3, 20, 20))
    with open(sys.argv[1], "wb") as file:
        pickle.dump(objects, file, protocol=4)
