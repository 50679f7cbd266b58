"""Bad arguments and bad inputs raise what torchvision raises, with the phrase that users search for."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torchvision.transforms as TV
import torchvision.transforms.functional as TVF

import fastaug.transforms as T
import fastaug.transforms.functional as F
from support.differences import each, grouped
from support.images import noise, pil, to_chw
from support.outcomes import assert_same, run
from tables.calls import FUNCTIONAL, PIL_FUNCTIONAL
from tables.cases import ALL_CASES

SQUARE = [[0, 0], [9, 0], [9, 9], [0, 9]]

#: A call on (transforms module, functional module, PIL image), and a pattern that both messages must match.
ERRORS: dict[str, tuple[Callable[[Any, Any, Any], Any], str]] = {
    "Resize None": (lambda T, F, x: T.Resize(None), "Size should be int or sequence"),
    "Resize dict": (lambda T, F, x: T.Resize({}), "Size should be int or sequence"),
    "Resize three": (lambda T, F, x: T.Resize((1, 2, 3)), "1 or 2 values"),
    "Resize empty": (lambda T, F, x: T.Resize([]), "1 or 2 values"),
    "Resize unknown number": (lambda T, F, x: T.Resize(5, interpolation=9), "9"),
    "Resize string mode": (
        lambda T, F, x: T.Resize(5, interpolation="bilinear")(x),
        "interpolation should be a InterpolationMode or a corresponding Pillow integer constant",
    ),
    "Resize max_size equal": (lambda T, F, x: T.Resize(5, max_size=5)(x), "strictly greater"),
    "Resize max_size and two": (lambda T, F, x: T.Resize((5, 6), max_size=9)(x), "max_size should only be passed"),
    "Resize zero": (lambda T, F, x: T.Resize(0)(x), ""),
    "Resize negative": (lambda T, F, x: T.Resize((5, -1))(x), ""),
    "resize three": (lambda T, F, x: F.resize(x, [1, 2, 3]), "1 or 2 "),
    "resize dict": (lambda T, F, x: F.resize(x, {}), ""),
    "CenterCrop three": (lambda T, F, x: T.CenterCrop((1, 2, 3)), "two dimensions"),
    "CenterCrop None": (lambda T, F, x: T.CenterCrop(None), ""),
    "RandomCrop three": (lambda T, F, x: T.RandomCrop((1, 2, 3)), "two dimensions"),
    "RandomCrop too large": (
        lambda T, F, x: T.RandomCrop(50)(x),
        r"Required crop size \(50, 50\) is larger than input image size \(10, 20\)",
    ),
    "RandomCrop bad padding": (lambda T, F, x: T.RandomCrop(5, padding=(1, 2, 3))(x), "2, or 4 element"),
    "RandomCrop bad mode": (lambda T, F, x: T.RandomCrop(5, padding=1, padding_mode="wrap")(x), "Padding mode"),
    "RandomResizedCrop scale": (lambda T, F, x: T.RandomResizedCrop(5, scale=1), "Scale should be a sequence"),
    "RandomResizedCrop ratio": (lambda T, F, x: T.RandomResizedCrop(5, ratio=1), "Ratio should be a sequence"),
    "RandomResizedCrop reversed": (lambda T, F, x: T.RandomResizedCrop(5, scale=(1.0, 0.5))(x), "uniform_"),
    "Pad string": (lambda T, F, x: T.Pad("3"), "padding"),
    "Pad None": (lambda T, F, x: T.Pad(None), "padding"),
    "Pad fill None": (lambda T, F, x: T.Pad(1, fill=None), "fill"),
    "Pad fill string": (lambda T, F, x: T.Pad(1, fill="red"), "fill"),
    "Pad three": (lambda T, F, x: T.Pad((1, 2, 3)), "1, 2, or 4 element"),
    "Pad mode": (lambda T, F, x: T.Pad(1, padding_mode="wrap"), "constant, edge, reflect or symmetric"),
    "Pad fill length": (lambda T, F, x: T.Pad(1, fill=(1, 2))(x), r"\(2 != 3\)"),
    "pad mode type": (lambda T, F, x: F.pad(x, 1, padding_mode=3), "padding_mode"),
    "pad one side away": (lambda T, F, x: F.pad(x, [-30, 0, 0, 0]), ""),
    "RandomRotation negative": (lambda T, F, x: T.RandomRotation(-1), "must be positive"),
    "RandomRotation three": (lambda T, F, x: T.RandomRotation([1, 2, 3]), "sequence of length 2"),
    "RandomRotation None": (lambda T, F, x: T.RandomRotation(None), "sequence of length 2"),
    "RandomRotation center number": (lambda T, F, x: T.RandomRotation(5, center=3), "center should be a sequence"),
    "RandomRotation center three": (
        lambda T, F, x: T.RandomRotation(5, center=(1, 2, 3)),
        "center should be a sequence",
    ),
    "RandomRotation fill dict": (lambda T, F, x: T.RandomRotation(5, fill={}), "Fill should be"),
    "RandomRotation fill length": (lambda T, F, x: T.RandomRotation(5, fill=(1, 2))(x), r"\(2 != 3\)"),
    "RandomRotation box": (lambda T, F, x: T.RandomRotation((3, 3), interpolation=4)(x), ""),
    "rotate string": (lambda T, F, x: F.rotate(x, "3"), "Argument angle should be int or float"),
    "rotate center": (lambda T, F, x: F.rotate(x, 3, center=3), "Argument center should be a sequence"),
    "rotate mode": (lambda T, F, x: F.rotate(x, 3, "bilinear"), "interpolation should be a InterpolationMode"),
    "ColorJitter negative": (lambda T, F, x: T.ColorJitter(-0.1), "must be non negative"),
    "ColorJitter reversed": (lambda T, F, x: T.ColorJitter(contrast=(2, 1)), "contrast values should be between"),
    "ColorJitter hue": (lambda T, F, x: T.ColorJitter(hue=0.6), "hue values should be between"),
    "ColorJitter hue pair": (lambda T, F, x: T.ColorJitter(hue=(-0.6, 0)), "hue values should be between"),
    "ColorJitter string": (
        lambda T, F, x: T.ColorJitter(saturation="a"),
        "single number or a list/tuple with length 2",
    ),
    "ColorJitter three": (lambda T, F, x: T.ColorJitter(brightness=(1, 2, 3)), "single number or a list/tuple"),
    "adjust_hue large": (lambda T, F, x: F.adjust_hue(x, 0.6), r"hue_factor \(0.6\) is not in \[-0.5, 0.5\]"),
    "adjust_hue nan": (lambda T, F, x: F.adjust_hue(x, float("nan")), "is not in"),
    "adjust_brightness string": (lambda T, F, x: F.adjust_brightness(x, "a"), ""),
    "adjust_contrast None": (lambda T, F, x: F.adjust_contrast(x, None), ""),
    "Grayscale 2": (lambda T, F, x: T.Grayscale(2)(x), "num_output_channels should be either 1 or 3"),
    "to_grayscale 0": (lambda T, F, x: F.to_grayscale(x, 0), "num_output_channels should be either 1 or 3"),
    "to_grayscale tensor": (lambda T, F, x: F.to_grayscale(to_chw(x)), "Input should be PIL Image"),
    "RandomAffine negative": (lambda T, F, x: T.RandomAffine(-1), "must be positive"),
    "RandomAffine degrees": (lambda T, F, x: T.RandomAffine((1, 2, 3)), "degrees should be a sequence of length 2"),
    "RandomAffine None": (lambda T, F, x: T.RandomAffine(None), "degrees should be a sequence"),
    "RandomAffine translate": (lambda T, F, x: T.RandomAffine(1, translate=3), "translate should be a sequence"),
    "RandomAffine translate three": (lambda T, F, x: T.RandomAffine(1, translate=(0, 0, 0)), "translate should be"),
    "RandomAffine translate large": (lambda T, F, x: T.RandomAffine(1, (0.5, 1.5)), "between 0 and 1"),
    "RandomAffine scale": (lambda T, F, x: T.RandomAffine(1, scale=2), "scale should be a sequence"),
    "RandomAffine scale zero": (lambda T, F, x: T.RandomAffine(1, scale=(0, 1)), "scale values should be positive"),
    "RandomAffine shear": (lambda T, F, x: T.RandomAffine(1, shear=-3), "must be positive"),
    "RandomAffine shear three": (lambda T, F, x: T.RandomAffine(1, shear=(1, 2, 3)), "length 2 or 4"),
    "RandomAffine fill": (lambda T, F, x: T.RandomAffine(1, fill={}), "Fill should be"),
    "RandomAffine fill length": (lambda T, F, x: T.RandomAffine(9, fill=(1, 2))(x), r"\(2 != 3\)"),
    "RandomAffine center": (lambda T, F, x: T.RandomAffine(1, center=3), "center should be a sequence"),
    "RandomAffine center three": (lambda T, F, x: T.RandomAffine(1, center=(1, 2, 3)), "center should be a sequence"),
    "RandomAffine box": (lambda T, F, x: T.RandomAffine(9, interpolation=4)(x), ""),
    "affine angle": (lambda T, F, x: F.affine(x, "1", [0, 0], 1, [0]), "angle should be int or float"),
    "affine translate": (lambda T, F, x: F.affine(x, 1, 3, 1, [0]), "translate should be a sequence"),
    "affine translate three": (lambda T, F, x: F.affine(x, 1, [1, 2, 3], 1, [0]), "sequence of length 2"),
    "affine scale": (lambda T, F, x: F.affine(x, 1, [0, 0], 0.0, [0]), "scale should be positive"),
    "affine shear": (lambda T, F, x: F.affine(x, 1, [0, 0], 1, "1"), "Shear should be"),
    "affine shear three": (lambda T, F, x: F.affine(x, 1, [0, 0], 1, [1, 2, 3]), "two values"),
    "affine center": (lambda T, F, x: F.affine(x, 1, [0, 0], 1, [0], center=1), "center should be a sequence"),
    "affine mode": (lambda T, F, x: F.affine(x, 1, [0, 0], 1, [0], "nearest"), "interpolation should be"),
    "affine tensor bicubic": (
        lambda T, F, x: F.affine(to_chw(x), 1, [0, 0], 1, [0], F.InterpolationMode.BICUBIC),
        "unsupported with Tensor",
    ),
    "RandomPerspective fill": (lambda T, F, x: T.RandomPerspective(fill={}), "Fill should be"),
    "RandomPerspective fill length": (lambda T, F, x: T.RandomPerspective(0.5, 1.0, fill=(1, 2))(x), r"\(2 != 3\)"),
    "RandomPerspective box": (lambda T, F, x: T.RandomPerspective(0.5, 1.0, 4)(x), ""),
    "perspective of three": (lambda T, F, x: F.perspective(x, [[0, 0]] * 3, [[0, 0]] * 4), ""),
    "perspective mode": (lambda T, F, x: F.perspective(x, SQUARE, SQUARE, "nearest"), "interpolation should be"),
    "perspective tensor bicubic": (
        lambda T, F, x: F.perspective(to_chw(x), SQUARE, SQUARE, F.InterpolationMode.BICUBIC),
        "unsupported with Tensor",
    ),
    "ElasticTransform alpha": (lambda T, F, x: T.ElasticTransform(3), "alpha should be float or a sequence"),
    "ElasticTransform alpha three": (lambda T, F, x: T.ElasticTransform([1.0, 2.0, 3.0]), "length should be 2"),
    "ElasticTransform alpha ints": (lambda T, F, x: T.ElasticTransform([1, 2]), "sequence of floats"),
    "ElasticTransform sigma": (lambda T, F, x: T.ElasticTransform(sigma=3), "sigma should be float or a sequence"),
    "ElasticTransform sigma one": (lambda T, F, x: T.ElasticTransform(sigma=[3.0]), "length should be 2"),
    "ElasticTransform sigma ints": (lambda T, F, x: T.ElasticTransform(sigma=(1, 2)), "sequence of floats"),
    "ElasticTransform fill": (lambda T, F, x: T.ElasticTransform(fill="red"), "fill should be"),
    "ElasticTransform one sigma of zero": (lambda T, F, x: T.ElasticTransform(sigma=[0.0, 1.0])(x), "positive values"),
    "ElasticTransform wide": (lambda T, F, x: T.ElasticTransform(sigma=9.0)(x), "Padding size should be less"),
    "ElasticTransform fill length": (lambda T, F, x: T.ElasticTransform(9.0, 0.5, fill=[1, 2])(x), ""),
    "elastic_transform list": (lambda T, F, x: F.elastic_transform(x, [[1]]), "displacement should be a Tensor"),
    "elastic_transform shape": (
        lambda T, F, x: F.elastic_transform(x, torch.zeros(1, 3, 4, 2)),
        "displacement shape should be",
    ),
    "elastic_transform box": (
        lambda T, F, x: F.elastic_transform(x, torch.zeros(1, 10, 20, 2), F.InterpolationMode.BOX),
        "",
    ),
    "GaussianBlur even": (lambda T, F, x: T.GaussianBlur(4), "odd and positive number"),
    "GaussianBlur zero": (lambda T, F, x: T.GaussianBlur((3, 0)), "odd and positive number"),
    "GaussianBlur three": (lambda T, F, x: T.GaussianBlur((3, 3, 3)), "two integers"),
    "GaussianBlur sigma zero": (lambda T, F, x: T.GaussianBlur(3, 0), "must be positive"),
    "GaussianBlur sigma reversed": (
        lambda T, F, x: T.GaussianBlur(3, (2, 1)),
        "positive and of the form",
    ),
    "GaussianBlur sigma three": (lambda T, F, x: T.GaussianBlur(3, (1, 2, 3)), "list/tuple with length 2"),
    "GaussianBlur wide": (lambda T, F, x: T.GaussianBlur(41)(x), "Padding size should be less"),
    "gaussian_blur float": (lambda T, F, x: F.gaussian_blur(x, 3.0), "int or a sequence of integers"),
    "gaussian_blur three": (lambda T, F, x: F.gaussian_blur(x, [3, 3, 3]), "length should be 2"),
    "gaussian_blur even": (lambda T, F, x: F.gaussian_blur(x, [3, 4]), r"odd and positive integers. Got \[3, 4\]"),
    "gaussian_blur sigma string": (lambda T, F, x: F.gaussian_blur(x, 3, "1"), "float or sequence of floats"),
    "gaussian_blur sigma three": (lambda T, F, x: F.gaussian_blur(x, 3, [1, 2, 3]), "length should be 2"),
    "gaussian_blur sigma zero": (lambda T, F, x: F.gaussian_blur(x, 3, [1.0, 0.0]), "positive values"),
    "posterize 9": (lambda T, F, x: F.posterize(x, 9), "between 0 and 8. Got 9"),
    "posterize -1": (lambda T, F, x: T.RandomPosterize(-1, 1.0)(x), "between 0 and 8. Got -1"),
    "posterize tensor of floats": (lambda T, F, x: F.posterize(torch.rand(3, 4, 4), 3), "Only torch.uint8"),
    "equalize tensor of floats": (lambda T, F, x: F.equalize(torch.rand(3, 4, 4)), "Only torch.uint8"),
    "solarize tensor of floats": (lambda T, F, x: F.solarize(torch.rand(3, 4, 4), 1.5), "Threshold should be less"),
    "invert tensor of two": (lambda T, F, x: F.invert(torch.zeros(2, 5, 5, dtype=torch.uint8)), "channel values"),
    "invert flat tensor": (lambda T, F, x: F.invert(torch.zeros(5, 5, dtype=torch.uint8)), "at least 3 dimensions"),
    "solarize flat tensor": (lambda T, F, x: F.solarize(torch.zeros(5, 5), 0.5), "at least 3 dimensions"),
    "autocontrast flat tensor": (lambda T, F, x: F.autocontrast(torch.zeros(5, 5)), "at least 3 dimensions"),
    "equalize of five dimensions": (
        lambda T, F, x: F.equalize(torch.zeros(1, 1, 3, 5, 5, dtype=torch.uint8)),
        "3 or 4 dimensions",
    ),
    "posterize flat tensor": (
        lambda T, F, x: F.posterize(torch.zeros(5, 5, dtype=torch.uint8), 3),
        "at least 3 dimensions",
    ),
    "adjust_sharpness negative tensor": (lambda T, F, x: F.adjust_sharpness(to_chw(x), -0.5), "not non-negative"),
    "adjust_sharpness string": (lambda T, F, x: F.adjust_sharpness(x, "a"), ""),
    "adjust_gamma negative": (lambda T, F, x: F.adjust_gamma(x, -1.0), "non-negative real number"),
    "adjust_gamma negative tensor": (lambda T, F, x: F.adjust_gamma(to_chw(x), -1.0), "non-negative real number"),
    "AutoAugment policy": (lambda T, F, x: T.AutoAugment("imagenet"), "policy"),
    "AutoAugment mode": (
        lambda T, F, x: [T.AutoAugment(interpolation="bilinear")(x) for _ in range(50)],
        "interpolation",
    ),
    "RandAugment magnitude": (lambda T, F, x: [T.RandAugment(9, 31)(x) for _ in range(9)], "out of (bounds|range)"),
    "AugMix severity": (lambda T, F, x: T.AugMix(severity=11), r"between \[1, 10\]. Got 11"),
    "AugMix severity zero": (lambda T, F, x: T.AugMix(severity=0), "severity"),
    "AutoAugment of floats": (lambda T, F, x: [T.AutoAugment()(torch.rand(3, 9, 9)) for _ in range(50)], ""),
    "FiveCrop three": (lambda T, F, x: T.FiveCrop((1, 2, 3)), "two dimensions"),
    "FiveCrop too large": (lambda T, F, x: T.FiveCrop(11)(x), r"size \(11, 11\) is bigger than input size \(10, 20\)"),
    "TenCrop three": (lambda T, F, x: T.TenCrop((1, 2, 3)), "two dimensions"),
    "TenCrop too large": (lambda T, F, x: T.TenCrop((4, 21))(x), "is bigger than input size"),
    "five_crop three": (lambda T, F, x: F.five_crop(x, [1, 2, 3]), "two dimensions"),
    "ten_crop three": (lambda T, F, x: F.ten_crop(x, [1, 2, 3]), "two dimensions"),
    "LinearTransformation oblong": (
        lambda T, F, x: T.LinearTransformation(torch.zeros(2, 3), torch.zeros(2)),
        "should be square",
    ),
    "LinearTransformation mean": (
        lambda T, F, x: T.LinearTransformation(torch.zeros(3, 3), torch.zeros(2)),
        "mean_vector should have the same length",
    ),
    "LinearTransformation dtype": (
        lambda T, F, x: T.LinearTransformation(torch.zeros(3, 3), torch.zeros(3).double()),
        "same dtype",
    ),
    "LinearTransformation device": (
        lambda T, F, x: T.LinearTransformation(torch.zeros(3, 3), torch.zeros(3, device="meta")),
        "same device",
    ),
    "LinearTransformation shape": (
        lambda T, F, x: T.LinearTransformation(torch.zeros(3, 3), torch.zeros(3))(torch.zeros(3, 1, 2)),
        "incompatible shape",
    ),
    "LinearTransformation of PIL": (lambda T, F, x: T.LinearTransformation(torch.eye(600), torch.zeros(600))(x), ""),
    "RandomErasing value": (lambda T, F, x: T.RandomErasing(value={}), "either a number or str or a sequence"),
    "RandomErasing word": (lambda T, F, x: T.RandomErasing(value="noise"), "it should be 'random'"),
    "RandomErasing scale": (lambda T, F, x: T.RandomErasing(scale=0.5), "Scale should be a sequence"),
    "RandomErasing ratio": (lambda T, F, x: T.RandomErasing(ratio=0.5), "Ratio should be a sequence"),
    "RandomErasing scale large": (lambda T, F, x: T.RandomErasing(scale=(0.5, 1.5)), "between 0 and 1"),
    "RandomErasing p": (lambda T, F, x: T.RandomErasing(p=1.5), "between 0 and 1"),
    "RandomErasing length": (
        lambda T, F, x: T.RandomErasing(1.0, value=(1, 2))(torch.rand(3, 30, 30)),
        r"single value or 3 \(number of input channels\)",
    ),
    "RandomErasing of PIL": (lambda T, F, x: T.RandomErasing(1.0)(x), ""),
    "erase of PIL": (lambda T, F, x: F.erase(x, 0, 0, 1, 1, torch.tensor(1)), "img should be Tensor Image"),
    "erase of the wrong shape": (lambda T, F, x: F.erase(to_chw(x), 0, 0, 3, 3, torch.zeros(2, 2)), ""),
    "Lambda": (lambda T, F, x: T.Lambda(3), "lambd should be callable, got 'int'"),
    "RandomChoice": (lambda T, F, x: T.RandomChoice(3), "transforms should be a sequence"),
    "RandomChoice p": (lambda T, F, x: T.RandomChoice([T.Pad(1)], p=0.5), "p should be a sequence"),
    "RandomChoice empty": (lambda T, F, x: T.RandomChoice([])(x), ""),
    "RandomChoice p length": (lambda T, F, x: T.RandomChoice([T.Pad(1)], p=[0.5, 0.5])(x), ""),
    "RandomOrder": (lambda T, F, x: T.RandomOrder(T.Pad(1)), "transforms should be a sequence"),
    "Compose of nothing callable": (lambda T, F, x: T.Compose([3])(x), "not callable"),
    "Compose of None": (lambda T, F, x: T.Compose(None)(x), ""),
    "crop negative": (lambda T, F, x: F.crop(x, 0, 0, -1, 5), ""),
    "Normalize on PIL": (lambda T, F, x: T.Normalize([0.5], [0.5])(x), "img should be Tensor Image"),
    "Normalize on uint8": (
        lambda T, F, x: T.Normalize([0.5], [0.5])(to_chw(x)),
        "Input tensor should be a float tensor",
    ),
    "Normalize zero": (
        lambda T, F, x: T.Compose([T.ToTensor(), T.Normalize([0.5], [0.0])])(x),
        "std evaluated to zero",
    ),
    "ToTensor twice": (
        lambda T, F, x: T.Compose([T.ToTensor(), T.ToTensor()])(x),
        "pic should be PIL Image or ndarray",
    ),
    "ToPILImage of PIL": (lambda T, F, x: T.Compose([T.Pad(1), T.ToPILImage()])(x), "pic should be Tensor or ndarray"),
    "tensor resize box": (lambda T, F, x: F.resize(to_chw(x), 5, F.InterpolationMode.BOX), "box"),
    "tensor rotate bicubic": (
        lambda T, F, x: F.rotate(to_chw(x), 5, F.InterpolationMode.BICUBIC),
        "unsupported with Tensor",
    ),
    "tensor flat": (lambda T, F, x: F.hflip(torch.zeros(3, dtype=torch.uint8)), "not a torch image"),
    "tensor brightness of two": (
        lambda T, F, x: F.adjust_brightness(torch.zeros(2, 5, 5, dtype=torch.uint8), 1.5),
        "permitted channel values",
    ),
    "tensor hue of two": (lambda T, F, x: F.adjust_hue(torch.zeros(2, 5, 5, dtype=torch.uint8), 0.1), "channel values"),
    "tensor fill": (lambda T, F, x: F.rotate(to_chw(x), 5, fill=[1, 2]), "'fill'"),
    "tensor RandomCrop": (lambda T, F, x: T.RandomCrop(50)(to_chw(x)), "larger than input image size"),
}


@each("name", ERRORS, whole=True)
def test_error(name: str) -> None:
    call, pattern = ERRORS[name]
    image = pil("RGB", 10, 20)
    ours, theirs = run(lambda x: call(T, F, x), image), run(lambda x: call(TV, TVF, x), image)
    if theirs.error is None:
        assert name in ("pad one side away",), f"torchvision raises nothing: {theirs.value!r}"
    assert_same(ours, theirs)
    for outcome in (ours, theirs):
        assert re.search(pattern, str(outcome.error)), outcome.error


@pytest.mark.parametrize("value", [3, None, "image.png", [], object, b"bytes", {"a": 1}], ids=repr)
def test_not_an_image(value: Any) -> None:
    for name, make in ALL_CASES.items():
        if name in ("Compose empty",) or "never" in name or name.startswith("Random"):
            continue
        assert_same(run(make(T), value), run(make(TV), value))
    for call in (*FUNCTIONAL.values(), *PIL_FUNCTIONAL.values()):
        theirs = run(lambda x: call(TVF, x), value)  # noqa: B023
        assert_same(run(lambda x: call(F, x), value), theirs)  # noqa: B023
        assert isinstance(theirs.error, TypeError)


@pytest.mark.parametrize(
    "name",
    [
        "RandomCrop",
        "RandomResizedCrop BILINEAR",
        "RandomHorizontalFlip always",
        "RandomRotation BILINEAR",
        "ColorJitter all",
    ],
)
def test_random_transform_of_something_else(name: str) -> None:
    for value in (3, None, "image.png"):
        assert_same(run(ALL_CASES[name](T), value), run(ALL_CASES[name](TV), value))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "int64", "bool", "complex64"])
def test_array_of_another_dtype(dtype: str) -> None:
    with pytest.raises(TypeError, match=r"uint8"):
        T.Resize(5)(noise(10, 20).astype(dtype))


@pytest.mark.parametrize("shape", [(5,), (2, 10, 20, 3), ()])
def test_array_of_another_rank(shape: tuple[int, ...]) -> None:
    with pytest.raises((TypeError, ValueError), match=r"dimension|HWC|shape"):
        T.Resize(5)(np.zeros(shape, np.uint8))


EMPTY = {
    "center_crop to nothing": lambda F, x: F.center_crop(x, 0),
    "crop to nothing": lambda F, x: F.crop(x, 2, 2, 0, 5),
    "crop to no width": lambda F, x: F.crop(x, 2, 2, 4, 0),
    "flip": lambda F, x: F.hflip(x),
    "resize": lambda F, x: F.resize(x, [3, 4]),
    "resize int": lambda F, x: F.resize(x, 4),
    "rotate": lambda F, x: F.rotate(x, 30),
    "rotate expand": lambda F, x: F.rotate(x, 30, expand=True),
    "pad": lambda F, x: F.pad(x, 2),
    "pad edge": lambda F, x: F.pad(x, 2, padding_mode="edge"),
    "pad negative": lambda F, x: F.pad(x, -2),
    "brightness": lambda F, x: F.adjust_brightness(x, 1.5),
    "contrast": lambda F, x: F.adjust_contrast(x, 1.5),
    "saturation": lambda F, x: F.adjust_saturation(x, 1.5),
    "hue": lambda F, x: F.adjust_hue(x, 0.2),
    "grayscale": lambda F, x: F.rgb_to_grayscale(x, 3),
    "affine": lambda F, x: F.affine(x, 20, [1, 1], 1.1, [3.0]),
    "affine bilinear": lambda F, x: F.affine(x, 20, [1, 1], 1.1, [3.0], F.InterpolationMode.BILINEAR, fill=3),
    "perspective": lambda F, x: F.perspective(x, SQUARE, [[1, 1], [8, 0], [9, 9], [0, 9]]),
    "perspective nearest": lambda F, x: F.perspective(x, SQUARE, SQUARE, F.InterpolationMode.NEAREST, 5),
    "elastic": lambda F, x: F.elastic_transform(x, torch.zeros(1, x.height, x.width, 2)),
    "blur": lambda F, x: F.gaussian_blur(x, 3),
    "blur by nothing": lambda F, x: F.gaussian_blur(x, 1),
    "invert": lambda F, x: F.invert(x),
    "posterize": lambda F, x: F.posterize(x, 3),
    "solarize": lambda F, x: F.solarize(x, 128),
    "autocontrast": lambda F, x: F.autocontrast(x),
    "equalize": lambda F, x: F.equalize(x),
    "sharpness": lambda F, x: F.adjust_sharpness(x, 1.5),
    "gamma": lambda F, x: F.adjust_gamma(x, 1.5),
    "five_crop": lambda F, x: F.five_crop(x, 1),
    "five_crop of nothing": lambda F, x: F.five_crop(x, 0),
    "ten_crop": lambda F, x: F.ten_crop(x, (2, 0)),
    "to_tensor": lambda F, x: F.to_tensor(x),
    "pil_to_tensor": lambda F, x: F.pil_to_tensor(x),
}


@grouped(EMPTY)
@each("shape", [(0, 0), (0, 7), (5, 0), (6, 8)])
def test_images_without_pixels(name: str, shape: tuple[int, int]) -> None:
    from PIL import Image

    image = pil("RGB", *shape) if all(shape) else Image.new("RGB", shape[::-1])
    assert_same(run(lambda x: EMPTY[name](F, x), image), run(lambda x: EMPTY[name](TVF, x), image))


WITHOUT_PIXELS = (
    *("RandomCrop whole", "RandomAffine NEAREST", "RandomPerspective NEAREST", "ElasticTransform still"),
    *("GaussianBlur 3", "AutoAugment", "RandAugment", "AugMix", "FiveCrop"),
)


@grouped([*WITHOUT_PIXELS, "GaussianBlur 3", "AutoAugment", "RandAugment", "AugMix", "FiveCrop"])
@each("shape", [(0, 0), (0, 7), (5, 0)])
def test_transforms_of_images_without_pixels(name: str, shape: tuple[int, int]) -> None:
    from PIL import Image

    image = Image.new("RGB", shape[::-1])
    for seed in range(6):
        assert_same(run(ALL_CASES[name](T), image, seed), run(ALL_CASES[name](TV), image, seed))


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32])
@pytest.mark.parametrize("shape", [(3, 0, 0), (3, 0, 7), (1, 5, 0), (0, 3, 4, 5)])
def test_tensors_without_pixels(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    """Those that torchvision's PIL images refuse, fastaug's tensors of bytes may refuse too."""
    from PIL import Image

    tensor = torch.zeros(shape, dtype=dtype)
    for name, call in FUNCTIONAL.items():
        theirs = run(lambda x: call(TVF, x), tensor)  # noqa: B023
        ours = run(lambda x: call(F, x), tensor)  # noqa: B023
        if theirs.error is None and ours.error is not None and dtype is torch.uint8 and len(shape) == 3:
            image = Image.new("RGB", shape[:0:-1])
            assert run(lambda x: call(TVF, x), image).error is not None, (name, ours.error)  # noqa: B023
        elif theirs.error is not None:
            assert ours.error is None or type(ours.error) is type(theirs.error), (name, ours.error, theirs.error)
        elif isinstance(theirs.value, torch.Tensor):
            assert ours.error is None, (name, ours.error)
            assert ours.value.dtype == theirs.value.dtype


def test_closed_file_raises(tmp_path: Any) -> None:
    from PIL import Image

    pil("RGB", 10, 10).save(tmp_path / "x.png")
    for package in (T, TV):
        image = Image.open(tmp_path / "x.png")
        image.close()
        with pytest.raises(ValueError, match="closed"):
            package.Resize(5)(image)


def test_truncated_file_raises(tmp_path: Any) -> None:
    from PIL import Image

    pil("RGB", 100, 100).save(tmp_path / "x.png")
    whole = (tmp_path / "x.png").read_bytes()
    (tmp_path / "x.png").write_bytes(whole[: len(whole) // 2])
    for package in (T, TV):
        for make in (
            lambda p: p.Resize(5),
            lambda p: p.ToTensor(),
            lambda p: p.Compose([p.CenterCrop(9), p.ToTensor()]),
        ):
            with Image.open(tmp_path / "x.png") as image, pytest.raises(OSError, match="truncated"):
                make(package)(image)
