"""Behaviours of transforms.v2 that users rely on: each holds for torchvision, and then for fastaug."""

from __future__ import annotations

import collections
import copy
import dataclasses
import io
import pickle
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import PIL.Image
import pytest
import torch
from torch.utils.data import DataLoader, default_collate
from torchvision import datasets
from torchvision import tv_tensors as tvt
from torchvision.transforms import v2 as TV

import fastaug.transforms.v2 as T
from fastaug.transforms.v2._transform import reads_drafts
from support.differences import each
from support.random_samples import Pair, opened
from support.v2_outcomes import assert_same_v2, run_v2, v2_difference

PACKAGES = [pytest.param(TV, id="torchvision"), pytest.param(T, id="fastaug")]
HEIGHT, WIDTH = 20, 30
CANVAS = (HEIGHT, WIDTH)
Fact = Callable[[Any], Any]


def tensor() -> torch.Tensor:
    return torch.arange(3 * HEIGHT * WIDTH).reshape(3, HEIGHT, WIDTH).to(torch.uint8)


def image() -> Any:
    return tvt.Image(tensor())


def pil() -> PIL.Image.Image:
    return PIL.Image.fromarray(tensor().permute(1, 2, 0).contiguous().numpy())


def video() -> Any:
    return tvt.Video(torch.stack([tensor(), tensor().flip(-1)]))


def mask(*count: int) -> Any:
    return tvt.Mask(torch.ones(*count, HEIGHT, WIDTH, dtype=torch.uint8))


def boxes(format: str = "XYXY", count: int = 2, **options: Any) -> Any:
    data = torch.tensor([[1.0, 2, 10, 12], [3, 3, 25, 18]])[:count]
    return tvt.BoundingBoxes(data, format=format, canvas_size=CANVAS, **options)


def box(*data: float, **options: Any) -> Any:
    return tvt.BoundingBoxes(torch.tensor([data]), format="XYXY", canvas_size=CANVAS, **options)


def points() -> Any:
    return tvt.KeyPoints(torch.tensor([[1.0, 2], [29, 19]]), canvas_size=CANVAS)


def equal(one: Any, other: Any) -> bool:
    values = [torch.as_tensor(np.asarray(value)) for value in (one, other)]
    return bool(torch.equal(*values))


def flip(v2: Any, p: float = 1.0) -> Any:
    return v2.RandomHorizontalFlip(p)


def is_kept(transform: Any, value: Any) -> bool:
    return transform(value) is value


@dataclasses.dataclass
class Fields:
    image: Any


class Picture(tvt.Image):
    """A subclass of the user's."""


# ---- structures


def structure(v2: Any) -> bool:
    sample = {
        "i": image(),
        "n": [None, "text", 3, (boxes(),)],
        "t": Pair(mask(), 1.5),
        "o": collections.OrderedDict(z=points()),
    }
    out = flip(v2)(sample)
    kinds = [type(out), type(out["n"]), type(out["t"]), type(out["o"]), type(out["n"][3][0]), type(out["o"]["z"])]
    wanted = [dict, list, Pair, collections.OrderedDict, tvt.BoundingBoxes, tvt.KeyPoints]
    passed = out["n"][:3] == [None, "text", 3] and out["t"].target == 1.5 and out["n"][1] is sample["n"][1]
    return kinds == wanted and passed and out is not sample and out["n"] is not sample["n"]


def gate_returns_its_inputs(v2: Any) -> bool:
    sample, first, second = {"a": image()}, image(), {"k": 1}
    several = flip(v2, 0.0)(first, second)
    alone = flip(v2, 0.0)(sample) is sample
    return alone and type(several) is tuple and several[0] is first and several[1] is second


def apply_returns_its_inputs(v2: Any) -> bool:
    first, second = image(), {"k": 1}
    gate = v2.RandomApply([flip(v2)], 0.0)
    several = gate(first, second)
    return gate(second) is second and several[0] is first and several[1] is second


STRUCTURES: dict[str, Fact] = {
    "containers keep their classes, and what is no image passes": structure,
    "a gate that does not open returns the very inputs": gate_returns_its_inputs,
    "so does RandomApply": apply_returns_its_inputs,
    "a dataclass is a leaf": lambda v2: is_kept(flip(v2), Fields(image())),
    "a set is a leaf": lambda v2: flip(v2)({1, 2}) == {1, 2},
    "keys are in the order of insertion": lambda v2: (
        lambda out: equal(out["b"], tensor().flip(-1)) and equal(out["a"], tensor())
    )(flip(v2)({"b": tensor(), "a": tensor()})),
    "an ndarray passes": lambda v2: is_kept(flip(v2), np.zeros((4, 4, 3), np.uint8)),
    "Compose hands several inputs to any callable": lambda v2: v2.Compose([lambda a, b: (b, a)])(1, 2) == (2, 1),
    "RandomOrder and RandomChoice, too": lambda v2: (
        v2.RandomOrder([lambda a, b: (b, a)])(1, 2) == v2.RandomChoice([lambda a, b: (b, a)])(1, 2) == (2, 1)
    ),
}

# ---- which tensors are images


def first_of_two(v2: Any, one: Any, other: Any) -> bool:
    out = flip(v2)(one, other)
    return equal(out[0], one.flip(-1)) and out[1] is other


def pure_tensor_beside(other: Callable[[], Any]) -> Fact:
    def fact(v2: Any) -> bool:
        given = tensor()
        return flip(v2)(given, other())[0] is given

    return fact


def two_images_in_step(v2: Any) -> bool:
    out = v2.RandomCrop(7)(image(), image())
    return equal(*out) and type(out[0]) is type(out[1]) is tvt.Image


PURE: dict[str, Fact] = {
    "only the first pure tensor is an image": lambda v2: first_of_two(v2, tensor(), tensor()),
    "whatever it is": lambda v2: first_of_two(v2, torch.tensor([1, 2]), tensor()),
    "none beside an Image": pure_tensor_beside(image),
    "none beside a PIL image": pure_tensor_beside(pil),
    "none beside a Video": pure_tensor_beside(video),
    "a Mask changes nothing of that": lambda v2: equal(flip(v2)(tensor(), mask())[0], tensor().flip(-1)),
    "nor do boxes and points": lambda v2: equal(flip(v2)(tensor(), boxes(), points())[0], tensor().flip(-1)),
    "all Images are transformed, with the same parameters": two_images_in_step,
    "sizes of what is not transformed do not count": lambda v2: (
        v2.RandomCrop(5)(image(), torch.zeros(3, 4))[1].shape == (3, 4)
    ),
    "a flip asks for no size": lambda v2: flip(v2)(image(), tvt.Mask(torch.zeros(4, 4)))[1].shape == (4, 4),
}

# ---- classes and memory of the results


def crop_is_a_view(v2: Any) -> bool:
    given = image()
    return bool(v2.functional.crop(given, 0, 0, 5, 5).data_ptr() == given.data_ptr())


def no_op_resize_of_an_image(v2: Any) -> bool:
    given = image()
    out = v2.functional.resize(given, [HEIGHT, WIDTH])
    return out is not given and out.data_ptr() == given.data_ptr() and type(out) is tvt.Image


def to_image_of_all(v2: Any) -> bool:
    out = v2.ToImage()([pil(), np.zeros((4, 4, 3), np.uint8)])
    tensors = v2.ToImage()([tensor(), tensor()])
    return [type(one) for one in [*out, *tensors]] == [tvt.Image] * 3 + [torch.Tensor]


RESULTS: dict[str, Fact] = {
    **{
        f"{kind.__name__} in, {kind.__name__} out": lambda v2, kind=kind: (
            type(v2.RandomCrop(5)(kind())) is type(kind())
            and tuple(v2.functional.get_size(v2.RandomCrop((5, 6))(kind()))) == (5, 6)
            and tuple(v2.functional.get_size(v2.Resize((7, 9))(kind()))) == (7, 9)
        )
        for kind in (image, mask, boxes, points, video, tensor)
    },
    "a subclass of Image stays one": lambda v2: type(flip(v2)(tensor().as_subclass(Picture))) is Picture,
    "no-op resize of a tensor is the tensor": lambda v2: (lambda t: v2.functional.resize(t, [HEIGHT, WIDTH]) is t)(
        tensor()
    ),
    "no-op resize of an Image is a new Image of its memory": no_op_resize_of_an_image,
    "no-op resize of a PIL image is the image": lambda v2: (lambda t: v2.functional.resize(t, [HEIGHT, WIDTH]) is t)(
        pil()
    ),
    "crop of an Image is a view": crop_is_a_view,
    "a square turned by 90 is not contiguous": lambda v2: (
        not v2.functional.rotate(torch.zeros(3, 8, 8), 90.0).is_contiguous()
    ),
    "resize of interleaved channels leaves them so": lambda v2: (
        v2.functional.resize(v2.functional.pil_to_tensor(pil()), [9, 9]).stride()[0] == 1
    ),
    "PILToTensor gives interleaved channels": lambda v2: (
        v2.functional.pil_to_tensor(pil()).stride() == (1, 3 * WIDTH, 3)
    ),
    "ToImage of an array is contiguous": lambda v2: v2.ToImage()(np.zeros((20, 30, 3), np.uint8)).is_contiguous(),
    "ToImage takes all but the second pure tensor": to_image_of_all,
}

# ---- what passes


def erasing_warns(v2: Any) -> bool:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        v2.RandomErasing(1.0)(image(), mask(), boxes())
    return sum("currently passing through" in str(one.message) for one in caught) == 2


PASSING: dict[str, Fact] = {
    **{
        f"{name} leaves masks, boxes and points alone": lambda v2, name=name, arguments=arguments: all(
            is_kept(getattr(v2, name)(*arguments), value) for value in (mask(), boxes(), points())
        )
        for name, arguments in {
            "ColorJitter": (0.4,),
            "GaussianBlur": (3,),
            "Normalize": ([0.0] * 3, [1.0] * 3),
            "Grayscale": (),
            "RandomSolarize": (100, 1.0),
            "GaussianNoise": (),
            "JPEG": (50,),
            "RandomInvert": (1.0,),
            "RandomAdjustSharpness": (2.0, 1.0),
        }.items()
    },
    "Grayscale and RGB leave a Video alone": lambda v2: is_kept(v2.Grayscale(), video()) and is_kept(v2.RGB(), video()),
    "RandomGrayscale, too": lambda v2: equal(v2.RandomGrayscale(1.0)(video()), video()),
    "RandomErasing warns of what it passes": erasing_warns,
    "FiveCrop puts a tuple in the place of the image": lambda v2: type(v2.FiveCrop(4)({"i": image()})["i"]) is tuple,
    "an unknown TVTensor passes": lambda v2: is_kept(flip(v2), torch.zeros(3, 4).as_subclass(tvt.TVTensor)),
    "Identity gives every leaf": lambda v2: all(is_kept(v2.Identity(), one) for one in (image(), pil(), tensor(), 3)),
}

# ---- dtypes


def convert_image_dtype_casts_all(v2: Any) -> bool:
    whole = tvt.BoundingBoxes(torch.zeros(1, 4, dtype=torch.int64), format="XYXY", canvas_size=CANVAS)
    out = v2.ConvertImageDtype(torch.float32)(image(), mask(), whole)
    return [one.dtype for one in out] == [torch.float32] * 3 and out[1].max() == 1


def to_dtype_by_class(v2: Any) -> bool:
    dtypes = {tvt.Image: torch.float32, tvt.Mask: torch.int64, "others": None}
    out = v2.ToDtype(dtypes, scale=True)(image(), mask(), boxes(), points())
    return [one.dtype for one in out] == [torch.float32, torch.int64, torch.float32, torch.float32] and out[
        1
    ].max() == 1


def to_dtype_of_images(v2: Any) -> bool:
    out = v2.ToDtype(torch.float64, scale=True)(image(), mask(), boxes())
    return [one.dtype for one in out] == [torch.float64, torch.uint8, torch.float32]


def to_dtype_by_exact_class(v2: Any) -> bool:
    given = tensor().as_subclass(Picture)
    return bool(v2.ToDtype({tvt.Image: torch.float32, "others": None})(given).dtype == torch.uint8)


DTYPES: dict[str, Fact] = {
    "ToDtype(dtype) is for images": to_dtype_of_images,
    "ConvertImageDtype casts masks and boxes": convert_image_dtype_casts_all,
    "ToDtype(dict)": to_dtype_by_class,
    "its keys are exact classes": to_dtype_by_exact_class,
    "ToDtype to the same dtype is the tensor": lambda v2: is_kept(v2.ToDtype(torch.uint8), tensor()),
}

# ---- fills


def fill_by_class(v2: Any) -> bool:
    out = v2.Pad(1, fill={tvt.Mask: 7, "others": 1})(image(), mask())
    return bool(out[0][0, 0, 0] == 1 and out[1][0, 0] == 7)


def fill_is_rewritten(v2: Any) -> bool:
    fill = {tvt.Image: (1, 2, 3)}
    v2.Pad(1, fill=fill)
    return fill == {tvt.Image: [1.0, 2.0, 3.0]}


def fill_of_a_default(v2: Any) -> bool:
    fill = collections.defaultdict(lambda: (123.0, 117.0, 104.0), {tvt.Mask: 0})
    return bool(v2.Pad(1, fill=fill)(image())[0, 0, 0] == 0)


def fill_by_exact_class(v2: Any) -> bool:
    out = v2.Pad(1, fill={PIL.Image.Image: 9, "others": 1})(opened(pil()))
    return bool(out.getpixel((0, 0))[0] == 1)


FILLS: dict[str, Fact] = {
    "fill by class": fill_by_class,
    "the user's dict is rewritten in place": fill_is_rewritten,
    "a class that is missing is filled with nothing": lambda v2: v2.Pad(1, fill={tvt.Mask: 7})(image())[0, 0, 0] == 0,
    "a defaultdict is not asked for its default": fill_of_a_default,
    "keys are exact classes, and an opened file is of another": fill_by_exact_class,
}

# ---- classes


def get_params(v2: Any) -> bool:
    below = type("Below", (v2.RandomRotation,), {})
    crop = v2.RandomCrop.get_params(tensor(), (5, 5))
    return crop[2:] == (5, 5) and -1 <= v2.RandomRotation.get_params([-1.0, 1.0]) <= 1 and hasattr(below, "get_params")


def modules(v2: Any) -> bool:
    given = [flip(v2)]
    compose = v2.Compose(given)
    return isinstance(compose, torch.nn.Module) and not list(compose.children()) and compose.transforms is given


REPRS: dict[str, Callable[[Any], Any]] = {
    "Compose": lambda v2: v2.Compose([v2.Resize(4), flip(v2)]),
    "nested": lambda v2: v2.Compose([v2.RandomApply([v2.Compose([v2.RGB()])], 0.3), v2.RandomChoice([v2.RGB()])]),
    "Lambda": lambda v2: v2.Lambda(abs, tvt.Mask),
    "Pad": lambda v2: v2.Pad([1, 2], fill={tvt.Mask: 7, "others": (1, 2, 3)}),
    "RandomResizedCrop": lambda v2: v2.RandomResizedCrop(4, interpolation=v2.InterpolationMode.BICUBIC),
    "Normalize": lambda v2: v2.Normalize([0.5], [0.25], inplace=True),
    "ToDtype": lambda v2: v2.ToDtype({tvt.Image: torch.float32, "others": None}, scale=True),
    "ColorJitter": lambda v2: v2.ColorJitter(0.4, hue=(0.0, 0.1)),
    "AutoAugment": lambda v2: v2.AutoAugment(v2.AutoAugmentPolicy.SVHN),
    "RandAugment": lambda v2: v2.RandAugment(fill=3),
    "RandomErasing": lambda v2: v2.RandomErasing(value="random"),
    "SanitizeBoundingBoxes": lambda v2: v2.SanitizeBoundingBoxes(2.0, labels_getter=None),
    "ConvertBoundingBoxFormat": lambda v2: v2.ConvertBoundingBoxFormat("xywh"),
    "MixUp": lambda v2: v2.MixUp(alpha=0.5, num_classes=4),
    "GaussianBlur": lambda v2: v2.GaussianBlur(3),
    "Sequential": lambda v2: torch.nn.Sequential(v2.RandomInvert(), v2.CenterCrop((4, 5))),
    "RandomAffine": lambda v2: v2.RandomAffine(3, shear=(1, 2), center=[0, 0]),
}

CLASSES: dict[str, Fact] = {
    "get_params is a static method, of subclasses too": get_params,
    "transforms are modules; Compose keeps the list": modules,
    "repr of Compose": lambda v2: (
        repr(REPRS["Compose"](v2)).startswith("Compose(\n      Resize(size=[4], interpolation=")
        and repr(REPRS["Compose"](v2)).endswith("antialias=True)\n      RandomHorizontalFlip(p=1.0)\n)")
    ),
    "repr of Lambda": lambda v2: repr(v2.Lambda(abs, tvt.Mask)) == "Lambda(abs, types=['Mask'])",
    "Lambda of some classes": lambda v2: v2.Lambda(lambda x: 0, int)([1, "a"]) == [0, "a"],
    "eval, train, to and state_dict work": lambda v2: (
        v2.Compose([flip(v2)]).eval().to("cpu").training is False and not flip(v2).train().state_dict()
    ),
}

# ---- boxes that are not worth keeping


def target(masks: Any = None) -> tuple[Any, dict[str, Any]]:
    data = torch.tensor([[0.0, 0, 5, 5], [4, 4, 4, 9], [1, 1, 9, 9]])
    found = tvt.BoundingBoxes(data, format="XYXY", canvas_size=CANVAS)
    return image(), {"boxes": found, "labels": torch.arange(3), "masks": masks, "area": torch.ones(3)}


def sanitize_all(v2: Any) -> bool:
    out = v2.SanitizeBoundingBoxes()(target(mask(3)))[1]
    kept = out["labels"].tolist() == [0, 2] and len(out["boxes"]) == 2 and type(out["masks"]) is tvt.Mask
    return bool(kept and out["masks"].shape[0] == 2 and len(out["area"]) == 3)


def sanitize_more(v2: Any) -> bool:
    getter = v2.SanitizeBoundingBoxes(labels_getter=lambda sample: (sample[1]["labels"], sample[1]["area"]))
    return len(getter(target(mask(3)))[1]["area"]) == 2


def sanitize_by_identity(v2: Any) -> bool:
    getter = v2.SanitizeBoundingBoxes(labels_getter=lambda sample: sample[1]["labels"].clone())
    return len(getter(target(mask(3)))[1]["labels"]) == 3


SANITIZING: dict[str, Fact] = {
    "boxes, labels and masks of instances are cut": sanitize_all,
    "a semantic mask passes": lambda v2: v2.SanitizeBoundingBoxes()(target(mask()))[1]["masks"].shape == CANVAS,
    "one that is as high as there are boxes is cut": lambda v2: (
        v2.SanitizeBoundingBoxes()(target(tvt.Mask(torch.ones(3, WIDTH))))[1]["masks"].shape == (2, WIDTH)
    ),
    "labels_getter may give several": sanitize_more,
    "labels are found by identity": sanitize_by_identity,
    "any key with label in it will do": lambda v2: (
        len(v2.SanitizeBoundingBoxes()((image(), {"Gt_LaBeL_x": torch.arange(2), "b": boxes()}))[1]["Gt_LaBeL_x"]) == 2
    ),
    "two inputs": lambda v2: len(v2.SanitizeBoundingBoxes()(*target(mask(3)))[1]["labels"]) == 2,
}

# ---- boxes and points


def expand_of_no_boxes(v2: Any) -> bool:
    none = tvt.BoundingBoxes(torch.zeros(0, 4), format="XYXY", canvas_size=CANVAS)
    out = v2.RandomRotation((30, 30), expand=True)(image(), none)
    return out[1].canvas_size == CANVAS and tuple(out[0].shape[-2:]) != CANVAS


def unclamped(v2: Any) -> bool:
    out = v2.functional.crop(boxes(clamping_mode=None), 5, 5, 4, 4)
    return torch.equal(out.as_subclass(torch.Tensor), boxes().as_subclass(torch.Tensor) - 5)


def clamped(v2: Any) -> bool:
    F = v2.functional
    wide = box(0.0, 0, 99, 99)
    resized = F.resize(wide, [HEIGHT * 2, WIDTH * 2])
    cut = [F.crop(wide, 0, 0, HEIGHT, WIDTH), F.pad(wide, [0]), F.affine(wide, 0.0, [0, 0], 1.0, [0.0, 0.0])]
    return bool(resized.max() == 198 and all(one[0, 2] == WIDTH and one[0, 3] == HEIGHT for one in cut))


def set_clamping_mode_copies(v2: Any) -> bool:
    given = boxes()
    return bool(v2.SetClampingMode("hard")(given).clamping_mode == "hard" and given.clamping_mode == "soft")


def rotated_by_90(v2: Any) -> bool:
    out = v2.functional.rotate(box(1.0, 2, 10, 12), 90.0, expand=True)
    off = (out.as_subclass(torch.Tensor) - torch.tensor([[2.0, 20, 12, 29]])).abs().max()
    return bool(out.canvas_size == (WIDTH, HEIGHT) and off < 1e-4)


PLACES: dict[str, Fact] = {
    "rotation with expand leaves the canvas of no boxes": expand_of_no_boxes,
    "hard clamping is soft clamping without rotation": lambda v2: torch.equal(
        *(v2.functional.clamp_bounding_boxes(boxes(), clamping_mode=mode) for mode in ("hard", "soft"))
    ),
    "no clamping": unclamped,
    "resize does not clamp, the others do": clamped,
    "RandomIoUCrop makes boxes outside empty": lambda v2: (
        v2.RandomIoUCrop(sampler_options=[0.0])(image(), boxes())[1].shape == (2, 4)
    ),
    "crop does not clamp points": lambda v2: v2.functional.crop(points(), 5, 5, 4, 4).min() < 0,
    "SetClampingMode copies": set_clamping_mode_copies,
    "boxes turned by 90": rotated_by_90,
}

# ---- batches

CUTS: dict[str, Fact] = {
    "labels become floats for every class": lambda v2: (
        lambda labels: labels.shape == (3, 4) and labels.dtype == torch.float32
    )(v2.CutMix(num_classes=4)(torch.zeros(3, 3, 8, 8), torch.arange(3))[1]),
    "CutMix of bytes": lambda v2: (
        v2.CutMix(num_classes=4)(torch.zeros(3, 3, 8, 8, dtype=torch.uint8), torch.arange(3))[0].dtype == torch.uint8
    ),
    "functions take batches of batches": lambda v2: (
        v2.functional.resize(torch.zeros(2, 2, 3, 8, 8), [4, 5]).shape == (2, 2, 3, 4, 5)
    ),
}

FACTS = {
    **STRUCTURES,
    **PURE,
    **RESULTS,
    **PASSING,
    **DTYPES,
    **FILLS,
    **CLASSES,
    **SANITIZING,
    **PLACES,
    **CUTS,
}


@pytest.mark.parametrize("package", PACKAGES)
@each("name", FACTS)
def test_fact(name: str, package: Any) -> None:
    assert FACTS[name](package)


# ---- errors


class Bare:
    """Classes that users wrote before 0.21, whose methods nobody calls any more."""

    @staticmethod
    def of(v2: Any) -> Any:
        class Old(v2.Transform):  # type: ignore[misc, name-defined]
            def _transform(self, leaf: Any, params: Any) -> Any:
                return leaf

            def _get_params(self, flat_inputs: Any) -> dict[str, Any]:
                return {}

        return Old()


def own() -> Any:
    return torch.zeros(3, 4).as_subclass(type("Own", (tvt.TVTensor,), {}))


ZEROS = torch.zeros(3, 3, 4, 4)
ERRORS: dict[str, tuple[Fact, type[Exception]]] = {
    "no input": (lambda v2: flip(v2)(), IndexError),
    "sizes that differ": (lambda v2: v2.RandomCrop(5)(image(), tvt.Mask(torch.zeros(4, 4))), ValueError),
    "nothing that has a size": (lambda v2: v2.RandomCrop(5)(3, "a"), TypeError),
    "channels that differ": (
        lambda v2: v2.RandomGrayscale(1.0)(image(), tvt.Image(torch.zeros(1, HEIGHT, WIDTH))),
        ValueError,
    ),
    "gray of a Video": (lambda v2: v2.functional.rgb_to_grayscale(video()), TypeError),
    "RGB of a Video": (lambda v2: v2.functional.grayscale_to_rgb(video()), TypeError),
    "FiveCrop of boxes": (lambda v2: v2.FiveCrop(4)(image(), boxes()), TypeError),
    "TenCrop of a mask": (lambda v2: v2.TenCrop(4)(image(), mask()), TypeError),
    "RandAugment of a mask": (lambda v2: v2.RandAugment()(image(), mask()), TypeError),
    "RandAugment of two images": (lambda v2: v2.RandAugment()(image(), image()), TypeError),
    "Normalize of a PIL image": (lambda v2: v2.Normalize([0.0], [1.0])(pil()), TypeError),
    "Normalize of bytes": (lambda v2: v2.Normalize([0.0], [1.0])(tensor()), TypeError),
    "noise on a PIL image": (lambda v2: v2.GaussianNoise()(pil()), ValueError),
    "ToDtype without others": (lambda v2: v2.ToDtype({tvt.Image: torch.float32})(image(), mask()), ValueError),
    "fill of a wrong type": (lambda v2: v2.Pad(1, fill="x"), TypeError),
    "several fills of a mask": (lambda v2: v2.Pad(1, fill=[1, 2, 3])(mask()), ValueError),
    "a function of an unknown TVTensor": (lambda v2: v2.functional.horizontal_flip(own()), TypeError),
    "Transform itself": (lambda v2: v2.Transform()(image()), NotImplementedError),
    "methods with the names before 0.21": (lambda v2: Bare.of(v2)(image()), NotImplementedError),
    "Compose of nothing": (lambda v2: v2.Compose([]), ValueError),
    "Compose of a transform": (lambda v2: v2.Compose(flip(v2)), TypeError),
    "RandomApply of a transform": (lambda v2: v2.RandomApply(flip(v2)), TypeError),
    "RandomChoice with too few p": (lambda v2: v2.RandomChoice([flip(v2)] * 2, [1.0]), ValueError),
    "p above one": (lambda v2: flip(v2, 1.2), ValueError),
    "no labels": (lambda v2: v2.SanitizeBoundingBoxes()((image(), {"boxes": boxes()})), ValueError),
    "too many labels": (
        lambda v2: v2.SanitizeBoundingBoxes()((image(), {"boxes": boxes(), "labels": torch.arange(3)})),
        ValueError,
    ),
    "min_size below one": (lambda v2: v2.SanitizeBoundingBoxes(min_size=0.5), ValueError),
    "the size after expand of no boxes": (
        lambda v2: v2.RandomCrop(5)(
            *v2.RandomRotation((30, 30), expand=True)(
                image(), tvt.BoundingBoxes(torch.zeros(0, 4), format="XYXY", canvas_size=CANVAS)
            )
        ),
        ValueError,
    ),
    "RandomIoUCrop without boxes": (lambda v2: v2.RandomIoUCrop()(image()), TypeError),
    "plain boxes to rotated ones": (
        lambda v2: v2.functional.convert_bounding_box_format(boxes(), new_format="XYWHR"),
        ValueError,
    ),
    "reflected boxes": (lambda v2: v2.Pad(2, padding_mode="reflect")(boxes()), ValueError),
    "MixUp of one image": (lambda v2: v2.MixUp(num_classes=3)(image(), torch.arange(3)), ValueError),
    "MixUp of a PIL image": (lambda v2: v2.MixUp(num_classes=3)(pil(), torch.arange(3)), ValueError),
    "MixUp of labels without classes": (lambda v2: v2.MixUp()(ZEROS, torch.arange(3)), ValueError),
    "MixUp of bytes": (lambda v2: v2.MixUp(num_classes=3)(ZEROS.byte(), torch.arange(3)), RuntimeError),
}


@pytest.mark.parametrize("package", PACKAGES)
@each("name", ERRORS)
def test_error(name: str, package: Any) -> None:
    call, error = ERRORS[name]
    with pytest.raises(error) as raised:
        call(package)
    assert raised.type is error and (str(raised.value) or error is NotImplementedError)


# ---- the user's own kernels


@pytest.fixture
def clean_registries() -> Iterator[None]:
    """Takes what a test registers out of both registries."""
    registries = [one.functional._utils._KERNEL_REGISTRY for one in (T, TV)]
    before = [{key: dict(value) for key, value in registry.items()} for registry in registries]
    yield
    for registry, kept in zip(registries, before):
        for key, kernels in kept.items():
            for kind in set(registry[key]) - set(kernels):
                del registry[key][kind]


@pytest.mark.usefixtures("clean_registries")
@pytest.mark.parametrize("package", PACKAGES)
@pytest.mark.parametrize("by_name", [False, True])
def test_register_kernel(package: Any, by_name: bool) -> None:
    F = package.functional
    mine = type("Mine", (tvt.TVTensor,), {})
    value = torch.zeros(3, 4).as_subclass(mine)
    assert flip(package)(value) is value

    def kernel(leaf: Any, *args: Any, **kwargs: Any) -> Any:
        return torch.ones(1).as_subclass(mine)

    functional = "horizontal_flip" if by_name else F.horizontal_flip
    assert F.register_kernel(functional, mine)(kernel) is kernel
    below = torch.zeros(3, 4).as_subclass(type("Below", (mine,), {}))
    for given in (value, below):
        out = package.Compose([flip(package), package.RandomVerticalFlip(1.0)])({"a": given, "b": image()})["a"]
        assert type(out) is mine and out.numel() == 1
        assert F.horizontal_flip(given).numel() == F.hflip(given).numel() == 1
        assert package.RandomVerticalFlip(1.0)(given) is given
    with pytest.raises(ValueError, match="already"):
        F.register_kernel(functional, mine)(kernel)


@pytest.mark.usefixtures("clean_registries")
@pytest.mark.parametrize("package", PACKAGES)
def test_register_kernel_gets_the_arguments(package: Any) -> None:
    mine, seen = type("Mine", (tvt.TVTensor,), {}), []

    @package.functional.register_kernel("pad", mine)  # type: ignore[untyped-decorator]
    def kernel(leaf: Any, *args: Any, **kwargs: Any) -> Any:
        seen.append((args, kwargs))
        return leaf

    package.Pad([1, 2], fill=7)(torch.zeros(1).as_subclass(mine))
    package.functional.pad(torch.zeros(1).as_subclass(mine), [3], padding_mode="edge")
    (first, named), (second, also) = seen
    assert first == () and list(named["padding"]) == [1, 2] and named["fill"] == 7
    assert named["padding_mode"] == "constant"
    assert [*second, *also.values()] == [[3], None, "edge"] or also["padding_mode"] == "edge"


WRONG_KERNELS: dict[str, Callable[[Any], Any]] = {
    "of a class of torchvision": lambda F: F.register_kernel(F.resize, tvt.Image),
    "of a foreign function": lambda F: F.register_kernel(len, type("Mine", (tvt.TVTensor,), {})),
    "of no function": lambda F: F.register_kernel("no_such_function", type("Mine", (tvt.TVTensor,), {})),
    "of no tv_tensor": lambda F: F.register_kernel(F.resize, dict),
    "of no class": lambda F: F.register_kernel(F.resize, "Image"),
}


@pytest.mark.parametrize("package", PACKAGES)
@each("name", WRONG_KERNELS)
def test_wrong_kernels(name: str, package: Any) -> None:
    with pytest.raises(ValueError):
        WRONG_KERNELS[name](package.functional)(lambda leaf: leaf)


@pytest.mark.usefixtures("clean_registries")
@pytest.mark.parametrize("by_name", [False, True])
def test_kernels_of_torchvision_are_used(by_name: bool) -> None:
    """What a library registered with torchvision works here: its classes are the same."""
    mine = type("Mine", (tvt.TVTensor,), {})
    functional = "horizontal_flip" if by_name else TV.functional.horizontal_flip
    TV.functional.register_kernel(functional, mine)(lambda leaf: torch.ones(1).as_subclass(mine))
    value = torch.zeros(3, 4).as_subclass(mine)
    assert T.functional.horizontal_flip(value).numel() == 1
    assert T.Compose([flip(T)])(value).numel() == 1


@pytest.mark.usefixtures("clean_registries")
def test_functions_of_torchvision_are_taken_for_ours() -> None:
    """`register_kernel(torchvision's function)`, where a file imports functions and kernels from two places."""
    mine = type("Mine", (tvt.TVTensor,), {})
    T.functional.register_kernel(TV.functional.vertical_flip, mine)(lambda leaf: torch.ones(1).as_subclass(mine))
    assert T.functional.vertical_flip(torch.zeros(3, 4).as_subclass(mine)).numel() == 1


# ---- the user's own transforms


def hooked(v2: Any) -> Any:
    class Hooked(v2.Transform):  # type: ignore[misc, name-defined]
        _transformed_types = (tvt.Mask, lambda value: isinstance(value, int))

        def __init__(self) -> None:
            super().__init__()
            self.seen: list[Any] = []

        def check_inputs(self, flat_inputs: list[Any]) -> None:
            self.seen.append(("check", len(flat_inputs)))

        def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
            self.seen.append(("make", [type(one).__name__ for one in flat_inputs]))
            return {"k": len(flat_inputs), "drawn": torch.rand(1).item()}

        def transform(self, leaf: Any, params: dict[str, Any]) -> Any:
            self.seen.append(("transform", type(leaf).__name__, params["drawn"]))
            return leaf + params["k"]

    return Hooked()


@pytest.mark.parametrize("composed", [False, True])
def test_hooks_are_called_in_order(composed: bool) -> None:
    """Each with real objects, in a Compose between built-in transforms, too."""
    seen, outcomes = [], []
    for v2 in (T, TV):
        user = hooked(v2)
        whole = v2.Compose([v2.RandomCrop(9), user, v2.RandomHorizontalFlip(1.0)]) if composed else user
        outcomes.append(run_v2(whole, (image(), mask(), 4, "s"), 3))
        seen.append(user.seen)
    assert v2_difference(*outcomes) is None
    assert seen[0] == seen[1] and seen[1][0] == ("check", 4) and seen[1][1] == ("make", ["Mask", "int"])


def sharpness(v2: Any) -> Any:
    """A Transform whose `transform` ends in a kernel, as the documentation has it."""

    class Sharpness(v2.Transform):  # type: ignore[misc, name-defined]
        def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
            return {"factor": torch.empty(1).uniform_(0.5, 1.5).item()}

        def transform(self, leaf: Any, params: dict[str, Any]) -> Any:
            return self._call_kernel(v2.functional.adjust_sharpness, leaf, sharpness_factor=params["factor"])

    return Sharpness()


def of_a_built_in(v2: Any) -> Any:
    """Subclasses of built-in transforms: other parameters, `super().transform`, and pixels of the user's own."""

    class Still(v2.RandomCrop):  # type: ignore[misc, name-defined]
        def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
            return {**super().make_params(flat_inputs), "top": 1, "left": 2}

    class Inverted(v2.RandomHorizontalFlip):  # type: ignore[misc, name-defined]
        def transform(self, leaf: Any, params: dict[str, Any]) -> Any:
            out = super().transform(leaf, params)
            return v2.functional.invert(out) if isinstance(out, (tvt.Image, PIL.Image.Image)) else out

    class Filled(v2.Pad):  # type: ignore[misc, name-defined]
        def transform(self, leaf: Any, params: dict[str, Any]) -> Any:
            fill = v2._utils._get_fill(self._fill, type(leaf))
            return self._call_kernel(v2.functional.pad, leaf, padding=[1, 2, 3, 4], fill=fill)

    steps = [Still(9, padding=3), Inverted(p=0.7), Filled(1, fill={tvt.Mask: 3, "others": 2})]
    return v2.Compose([v2.RandomRotation(20), *steps])


def of_a_container(v2: Any) -> Any:
    """Subclasses of containers that do the calling themselves, by `forward` and by `__call__`."""

    class Counting(v2.Compose):  # type: ignore[misc, name-defined]
        def forward(self, *inputs: Any) -> Any:
            for index, transform in enumerate(self.transforms):
                outputs = transform(*inputs)
                inputs = outputs if len(inputs) > 1 else (outputs,)
                torch.rand(index)
            return outputs

    class Twice(v2.RandomApply):  # type: ignore[misc, name-defined]
        def __call__(self, *inputs: Any) -> Any:
            first = super().__call__(*inputs)
            return super().__call__(*(first if len(inputs) > 1 else (first,)))

    class Often(v2.RandomIoUCrop):  # type: ignore[misc, name-defined]
        def forward(self, *inputs: Any) -> Any:
            return inputs if torch.rand(1) < 0.3 else super().forward(*inputs)

    inner = [v2.ColorJitter(0.4), v2.RandomHorizontalFlip()]
    return Counting([v2.RandomCrop((15, 16)), Twice(inner, 0.6), Often(), v2.Compose(inner)])


def of_a_gate(v2: Any) -> Any:
    """Subclasses that only change a constructor, as libraries have them, and one with `_transformed_types`."""

    class Blur(v2.RandomApply):  # type: ignore[misc, name-defined]
        def __init__(self, *, p: float = 0.5) -> None:
            super().__init__(transforms=[v2.GaussianBlur(9, (0.1, 2.0))], p=1 - p)

    class OfMasks(v2.RandomVerticalFlip):  # type: ignore[misc, name-defined]
        _transformed_types = (tvt.Mask,)

    return v2.Compose([Blur(p=0.5), OfMasks(0.7), v2.ToImage()])


def with_functions(v2: Any) -> Any:
    """A callable that uses functions, between transforms."""
    F = v2.functional

    def call(picture: Any, *rest: Any) -> Any:
        size = F.get_size(picture)
        return (F.resize(F.pad(picture, [2]), size), *rest)

    return v2.Compose([v2.RandomHorizontalFlip(), call, v2.RandomErasing(), v2.RandomCrop(9)])


@pytest.mark.parametrize("make", [sharpness, of_a_built_in, of_a_container, of_a_gate, with_functions])
@pytest.mark.parametrize("of", ["Image", "PIL"])
def test_users_transforms(make: Callable[[Any], Any], of: str) -> None:
    def sample() -> tuple[Any, ...]:
        return image() if of == "Image" else pil(), boxes(), mask(), torch.arange(2)

    for seed in range(20):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert_same_v2(make, (T, TV), sample, seed, strides=make is not of_a_container)


@pytest.mark.parametrize("package", PACKAGES)
def test_module_hooks(package: Any) -> None:
    """Forward hooks of a transform inside a Compose are called, with real objects, and may replace the result."""
    seen: list[str] = []
    inner = package.RandomHorizontalFlip(1.0)
    inner.register_forward_pre_hook(lambda module, inputs: seen.append(type(inputs[0]).__name__))
    inner.register_forward_hook(lambda module, inputs, output: package.functional.invert(output))
    whole = package.Compose([package.CenterCrop(8), inner, package.RandomVerticalFlip(1.0)])
    whole.register_forward_hook(lambda module, inputs, output: (output, seen.append("after"))[0])
    out = whole(image())
    assert seen == ["Image", "after"]
    expected = package.functional.center_crop(255 - tensor(), [8, 8]).flip(-1).flip(-2)
    assert type(out) is tvt.Image and equal(out, expected)


# What a random crop to 8 x 8 may draw.
FIXED_CROP = {"needs_crop": True, "top": 2, "left": 3, "height": 8, "width": 8, "needs_pad": False, "padding": None}


@pytest.mark.parametrize("package", PACKAGES)
def test_replaced_methods(package: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Methods replaced on an object or on a class are called, inside a Compose, too."""
    crop, turn = package.RandomCrop(8), package.RandomHorizontalFlip(1.0)
    whole = package.Compose([crop, turn])
    crop.make_params = lambda flat_inputs: FIXED_CROP
    assert equal(whole(image()), tensor()[:, 2:10, 3:11].flip(-1))
    turn.p = 0.0
    assert equal(whole(image()), tensor()[:, 2:10, 3:11])
    turn.p = 1.0
    monkeypatch.setattr(package.RandomHorizontalFlip, "transform", lambda self, leaf, params: leaf)
    assert equal(whole(image()), tensor()[:, 2:10, 3:11])
    whole.transforms.append(package.RandomVerticalFlip(1.0))
    assert equal(whole(image()), tensor()[:, 2:10, 3:11].flip(-2))


def flipped_and_cropped(package: Any) -> Any:
    """A Compose of a flip that always happens and a crop, inside another."""
    return package.Compose([package.Compose([package.RandomHorizontalFlip(1.0), package.RandomCrop(8)])])


@pytest.mark.parametrize("package", PACKAGES)
@pytest.mark.parametrize("within", [False, True], ids=["alone", "within"])
def test_methods_of_classes_replaced_for_a_while(package: Any, within: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Methods that users' tests replace on the classes themselves get real leaves, and are called in that time only."""
    seen: list[Any] = []

    def make_params(self: Any, flat_inputs: list[Any]) -> dict[str, Any]:
        seen.extend(map(type, flat_inputs))
        return FIXED_CROP

    def transform(self: Any, inpt: Any, params: dict[str, Any]) -> Any:
        seen.append(type(inpt))
        return package.functional.invert(inpt)

    def forward(self: Any, *inputs: Any) -> Any:
        seen.append(type(inputs[0]))
        return inputs[0]

    def call(transform: Any) -> Any:
        return (package.Compose([transform]) if within else transform)(image())

    crop, flip = package.RandomCrop(8), package.RandomHorizontalFlip(1.0)
    for _ in range(2):
        with monkeypatch.context() as patched:
            patched.setattr(package.RandomCrop, "make_params", make_params)
            assert equal(call(crop), tensor()[:, 2:10, 3:11])
            patched.setattr(package.RandomHorizontalFlip, "transform", transform)
            assert equal(call(flip), 255 - tensor())
            assert equal(flipped_and_cropped(package)(image()), 255 - tensor()[:, 2:10, 3:11])
            patched.setattr(package.RandomHorizontalFlip, "forward", forward)
            assert equal(call(flip), tensor())
        assert seen == [tvt.Image] * 5
        seen.clear()
        assert equal(call(flip), tensor().flip(-1))
        assert seen == []


@pytest.mark.parametrize("package", PACKAGES)
def test_replaced_methods_of_bases(package: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is replaced on a base, torch's too, is called for all that are derived from it."""
    call_kernel, call = package.Transform._call_kernel, torch.nn.Module.__call__
    seen: list[Any] = []

    def kernel(self: Any, functional: Any, inpt: Any, *args: Any, **kwargs: Any) -> Any:
        seen.append((functional.__name__, type(inpt)))
        return call_kernel(self, functional, inpt, *args, **kwargs)

    def called(self: Any, *inputs: Any) -> Any:
        seen.append(type(self))
        return call(self, *inputs)

    with monkeypatch.context() as patched:
        patched.setattr(package.Transform, "_call_kernel", kernel)
        flipped_and_cropped(package)(image())
    assert seen == [("horizontal_flip", tvt.Image), ("crop", tvt.Image)]
    seen.clear()
    with monkeypatch.context() as patched:
        patched.setattr(torch.nn.Module, "__call__", called)
        flipped_and_cropped(package)(image())
    assert seen == [package.Compose, package.Compose, package.RandomHorizontalFlip, package.RandomCrop]


def test_built_in_transforms_get_drafts() -> None:
    """As long as nobody replaces anything; so do classes of users' that only set arguments."""

    class Mirror(T.RandomHorizontalFlip):
        def __init__(self) -> None:
            super().__init__(1.0)

    class Twice(T.RandomHorizontalFlip):
        def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
            return super().transform(super().transform(inpt, params), params)

    made = [make(T) for make in REPRS.values()]
    assert [type(one) for one in made if not reads_drafts(one)] == [torch.nn.Sequential]
    assert reads_drafts(Mirror()) and not reads_drafts(Twice())
    mirror = Mirror()
    mirror.make_params = lambda flat_inputs: {}
    assert not reads_drafts(mirror) and reads_drafts(Mirror())


# ---- repr, pickle, copy

PICKLED: dict[str, Callable[[Any], Any]] = {
    **{name: make for name, make in REPRS.items() if name not in ("Lambda",)},
    "TrivialAugmentWide": lambda v2: v2.TrivialAugmentWide(),
    "CutMix": lambda v2: v2.CutMix(num_classes=3),
    "ElasticTransform": lambda v2: v2.ElasticTransform(),
    "RandomIoUCrop": lambda v2: v2.RandomIoUCrop(),
    "RandomPhotometricDistort": lambda v2: v2.RandomPhotometricDistort(),
    "RandomPerspective": lambda v2: v2.RandomPerspective(),
    "ToPILImage": lambda v2: v2.Compose([v2.ToImage(), v2.ToPILImage()]),
    "LinearTransformation": lambda v2: v2.LinearTransformation(torch.eye(3), torch.zeros(3)),
    "ScaleJitter": lambda v2: v2.ScaleJitter((8, 8)),
}
#: No pickle: a function of theirs without a name is in them.
UNPICKLED: dict[str, Callable[[Any], Any]] = {
    "SanitizeBoundingBoxes": lambda v2: v2.SanitizeBoundingBoxes(labels_getter=None),
    "SanitizeKeyPoints": lambda v2: v2.SanitizeKeyPoints(),
}


@pytest.mark.parametrize("name", REPRS)
def test_repr(name: str) -> None:
    assert repr(REPRS[name](T)) == repr(REPRS[name](TV))


@pytest.mark.parametrize("name", [name for name in PICKLED if name != "SanitizeBoundingBoxes"])
@each("package", [TV, T])
def test_pickle_and_copy(name: str, package: Any) -> None:
    transform = PICKLED[name](package)
    protocols = range(2, pickle.HIGHEST_PROTOCOL + 1)
    copies = [pickle.loads(pickle.dumps(transform, protocol)) for protocol in protocols]
    for other in (*copies, copy.deepcopy(transform), copy.copy(transform)):
        assert type(other) is type(transform) and repr(other) == repr(transform)


@pytest.mark.parametrize("name", ["Compose", "nested", "Pad", "RandomResizedCrop", "RandAugment", "RandomErasing"])
def test_copies_do_the_same(name: str) -> None:
    transform = PICKLED[name](T)
    transform(image())  # what a transform keeps of a call is not in the way
    first = run_v2(transform, (image(),), 5)
    for other in (pickle.loads(pickle.dumps(transform)), copy.deepcopy(transform)):
        assert v2_difference(run_v2(other, (image(),), 5), first) is None


def test_deepcopy_is_apart() -> None:
    transform = T.Compose([T.RandomHorizontalFlip(1.0)])
    other = copy.deepcopy(transform)
    other.transforms[0].p = 0.0
    assert equal(transform(image()), tensor().flip(-1)) and equal(other(image()), tensor())


@pytest.mark.parametrize("name", UNPICKLED)
def test_what_does_not_pickle_there(name: str) -> None:
    """It may here; it does the same after a deepcopy in both."""
    with pytest.raises((AttributeError, pickle.PicklingError)):
        pickle.dumps(UNPICKLED[name](TV))
    for package in (T, TV):
        assert repr(copy.deepcopy(UNPICKLED[name](package))) == repr(UNPICKLED[name](package))


#: Pickles name modules: ours are read where torchvision is not installed.
def test_pickles_name_our_modules() -> None:
    for make in PICKLED.values():
        transform = make(T)
        if isinstance(transform, T.Transform) and not isinstance(transform, torch.nn.Sequential):
            assert type(transform).__module__.startswith("fastaug.transforms.v2")


# ---- datasets and loaders


class Shapes(torch.utils.data.Dataset):  # type: ignore[type-arg]
    """Samples for a DataLoader."""

    def __init__(self, transform: Any) -> None:
        self.transform = transform

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> Any:
        torch.manual_seed(index)
        return self.transform(pil(), index)


@pytest.mark.parametrize("workers", [0, 2])
def test_loader(workers: int) -> None:
    batches = []
    for v2 in (T, TV):
        steps = [v2.RandomResizedCrop(8), v2.ToImage(), v2.ToDtype(torch.float32, scale=True), v2.ToPureTensor()]
        loader = DataLoader(Shapes(v2.Compose(steps)), batch_size=2, num_workers=workers)
        batches.append(list(loader))
    for (one, labels), (other, numbers) in zip(*batches):
        assert type(one) is torch.Tensor and torch.equal(one, other) and torch.equal(labels, numbers)


@pytest.mark.parametrize("package", PACKAGES)
def test_cutmix_as_collate_fn(package: Any) -> None:
    mix = package.RandomChoice([package.CutMix(num_classes=4), package.MixUp(num_classes=4)])
    samples = [(tensor() / 255, index) for index in range(4)]
    pictures, labels = mix(*default_collate(samples))
    assert pictures.shape == (4, 3, HEIGHT, WIDTH) and labels.shape == (4, 4)
    assert torch.allclose(labels.sum(1), torch.ones(4))


def test_wrap_dataset_for_transforms_v2(tmp_path: Any) -> None:
    """A wrapped dataset of torchvision gives tv_tensors, which our transforms take as torchvision's do."""
    folder = tmp_path / "VOCdevkit" / "VOC2012"
    for name in ("Annotations", "ImageSets/Main", "JPEGImages"):
        (folder / name).mkdir(parents=True)
    one = (
        "<object><name>cat</name><bndbox><xmin>{}</xmin><ymin>3</ymin><xmax>20</xmax><ymax>18</ymax></bndbox></object>"
    )
    text = f"<annotation>{one.format(2)}{one.format(8)}</annotation>"
    for name in ("a", "b"):
        pil().save(folder / "JPEGImages" / f"{name}.jpg")
        (folder / "Annotations" / f"{name}.xml").write_text(text)
    (folder / "ImageSets" / "Main" / "train.txt").write_text("a\nb\n")

    def make(v2: Any) -> Callable[..., Any]:
        steps = [v2.ToImage(), v2.RandomPhotometricDistort(p=1.0), v2.RandomZoomOut(), v2.RandomIoUCrop()]
        end = [v2.RandomHorizontalFlip(), v2.SanitizeBoundingBoxes(), v2.ToDtype(torch.float32, scale=True)]
        transforms = v2.Compose([*steps, *end])
        plain = datasets.VOCDetection(tmp_path, "2012", "train", transforms=transforms)
        wrapped = datasets.wrap_dataset_for_transforms_v2(plain, target_keys=("boxes", "labels"))
        return lambda: [wrapped[index] for index in range(2)]

    for seed in range(10):
        out = assert_same_v2(make, (T, TV), tuple, seed, strides=False)
        assert [type(leaf) for leaf in out.leaves] == [tvt.Image, tvt.BoundingBoxes, torch.Tensor] * 2


def test_files_are_opened_once() -> None:
    """A file that Pillow has not read yet is read by the transform, as by torchvision's."""
    file = io.BytesIO()
    pil().save(file, "PNG")
    for v2 in (T, TV):
        picture = PIL.Image.open(io.BytesIO(file.getvalue()))
        assert equal(v2.Compose([v2.RandomHorizontalFlip(1.0), v2.PILToTensor()])(picture), tensor().flip(-1))
