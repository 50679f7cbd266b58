"""Random arguments, odd ones among them, for every function and class: torchvision's outcome, and fastaug's.

A case is a call of a function of `functional`, of a class and then of the transform, or of a class's `get_params`. Its
arguments begin as what such a call usually gets; then some are replaced by values of any type. It is Python source, so
that a failing case is a script as it stands.
"""

from __future__ import annotations

import inspect
import random
import re
import warnings
from collections import UserList, deque, namedtuple
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import Enum, IntEnum
from fractions import Fraction
from typing import Any

import numpy as np
import torch
import torchvision.transforms as TV
from PIL import Image

import fastaug
import fastaug.transforms as T
from support.outcomes import numpy_state, seed_all, snapshot
from tables.tolerances import FLOAT_TENSOR

# ---- values


class Thing:
    """No number, no sequence, no image."""

    def __repr__(self) -> str:
        return "Thing()"


class Index:
    """Becomes an int where one is asked for."""

    def __index__(self) -> int:
        return 3

    def __repr__(self) -> str:
        return "Index()"


class Float:
    """Becomes a float where one is asked for."""

    def __float__(self) -> float:
        return 0.75

    def __repr__(self) -> str:
        return "Float()"


class Int(int):
    pass


class Real(float):
    pass


class Tuple(tuple):  # type: ignore[type-arg]
    pass


class List(list):  # type: ignore[type-arg]
    pass


class Few(IntEnum):
    ONE = 1
    TWO = 2


class Plain(Enum):
    BILINEAR = "bilinear"


Pair = namedtuple("Pair", "a b")

NAMES: dict[str, Any] = {
    name: value
    for name, value in globals().items()
    if name in ("np", "torch", "Image", "Fraction", "Decimal", "UserList", "deque")
    or (inspect.isclass(value) and value.__module__ == __name__)
}

NUMBERS = (
    *("True", "False", "0", "1", "-1", "2", "3", "5", "-7", "256", "2**40", "2**63", "-2**40", "10**30"),
    *("0.0", "1.0", "3.0", "-0.5", "0.5", "2.0", "2.5", "254.7", "1e30", "-1e30", "1e-30", "1e300"),
    *("float('nan')", "float('inf')", "float('-inf')", "1j", "(1+0j)", "(-0.5+0j)"),
    *("np.uint8(3)", "np.int8(-2)", "np.int64(4)", "np.int16(1)", "np.uint64(2)", "np.bool_(True)"),
    *("np.float16(0.5)", "np.float32(1.5)", "np.float64(0.5)", "np.longdouble(1)", "np.float32('nan')"),
    *("np.float32(3)", "np.float64(-1)", "np.complex64(1)", "np.complex128(0.5)", "np.float64('inf')"),
    *("Fraction(1, 2)", "Fraction(3)", "Decimal('0.5')", "Decimal(3)", "Int(3)", "Real(0.5)", "Few.ONE", "Few.TWO"),
)
TENSORS = (
    *("np.array(2)", "np.array(0.5)", "np.array([1])", "np.array([1, 2])", "np.array([0.5, 0.5])", "np.zeros((2, 2))"),
    *("np.array([2, 2, 2])", "np.array('a')", "np.array([])", "np.array(None)", "np.array([3, 3, 3, 3])"),
    *("torch.tensor(2)", "torch.tensor(0.5)", "torch.tensor([1])", "torch.tensor([0.5, 1.])", "torch.tensor([1, 2])"),
    *("torch.tensor([0.1, 0.2, 0.3])", "torch.zeros(2, 2)", "torch.tensor(True)", "torch.tensor(1j)"),
    *("torch.tensor([])", "torch.tensor(3, dtype=torch.uint8)", "torch.tensor(float('nan'))", "torch.eye(9)"),
    *("torch.zeros(1, 9, 13, 2)", "torch.zeros(9, 13, 2)", "torch.zeros(1, 3, 13, 2)", "torch.zeros(1, 9, 13, 3)"),
)
WORDS = (
    *("''", "'1'", "'a'", "'ab'", "'abcd'", "'constant'", "'edge'", "'bilinear'", "'random'", "'L'", "'F'", "b''"),
    *("b'12'", "bytearray(b'12')", "'\\u0663'"),
)
SEQUENCES = (
    *("()", "[]", "(1,)", "[2]", "[3.0]", "(1, 2)", "[3, 4]", "(1, 2, 3)", "[1, 2, 3, 4]", "(1, 2, 3, 4, 5)"),
    *("[0.5, 1.5]", "(0.1, 0.2)", "(0.5,)", "[[1, 2], [3, 4]]", "((1,),)", "[None]", "(None, None)", "('a', 'b')"),
    *("[1, '2']", "[True, 2]", "(np.int64(1), np.int64(2))", "[np.float32(0.5)] * 2", "[np.uint8(3)] * 4"),
    *("[np.float32(5)] * 3", "(np.int64(2),)", "[torch.tensor(1), torch.tensor(2)]", "[torch.tensor(0.5)] * 3"),
    *("[1j, 2]", "(1, 1j)", "(float('nan'), 1)", "(0, float('-inf'))", "(float('inf'), 0)", "[2**40, 1]", "[1, -3]"),
    *("[-5, -5, -5, -5]", "(3, 1)", "[10**30, 2]", "(1e300, 1e300)", "[0.5, 0.5, 0.5]", "[300, -4, 7.9]", "(0, 0)"),
    *("(0.0, 0.0)", "[Fraction(1, 2), 1]", "[Decimal(1), Decimal(2)]", "Tuple((1, 2))", "List([2, 3])", "Pair(1, 2)"),
    *("torch.Size([3, 4])", "[Index(), Index()]", "[Float(), Float()]", "[1.0, 2.0, 3.0, 4.0]", "(5, 5, 5)"),
    *("[[0, 0], [12, 0], [12, 8], [0, 8]]", "[(1, 1), (9, 0), (9, 7), (0, 8)]", "[[0, 0]] * 3", "[[0]] * 4", "[0] * 4"),
    *("[[0.5, 0.25], [12, 0], [12, 8], [0, 8]]", "[[np.int64(1)] * 2] * 4", "[['a', 'b']] * 4", "[[1j, 0]] * 4"),
)
OTHERS = (
    *("None", "{}", "{'a': 1}", "{0: 1, 1: 2}", "{1, 2}", "range(2)", "range(1, 4)", "iter([1, 2])", "deque([1, 2])"),
    *("UserList([1, 2])", "slice(2)", "...", "Thing()", "Thing", "Index()", "Float()", "len", "NotImplemented"),
    *("T.InterpolationMode.BOX", "F.InterpolationMode.NEAREST", "T.AutoAugmentPolicy.SVHN", "Image.BICUBIC"),
    *("Plain.BILINEAR", "torch.uint8", "torch.float64", "torch.float32", "torch.bool", "torch.complex64"),
    *("torch.device('cpu')", "np.uint8", "np.dtype('float32')", "float", "T.Pad(1)", "[T.Pad(1)]"),
    *("Image.new('L', (2, 2))", "memoryview(b'12')", "np.datetime64(3, 'D')", "np.array([1, 2]).tolist"),
)
ODD = (*NUMBERS, *NUMBERS, *TENSORS, *WORDS, *SEQUENCES, *OTHERS)

MODES = (
    *("0", "2", "3", "T.InterpolationMode.NEAREST", "T.InterpolationMode.BILINEAR", "T.InterpolationMode.BICUBIC"),
    *("T.InterpolationMode.BILINEAR", "T.InterpolationMode.NEAREST"),
)
SIZES = ("4", "(5, 7)", "[6]", "[3, 20]", "11", "(9, 13)", "(8,)")
PROBABILITIES = ("1.0", "1", "0.5", "0")
FILLS = ("0", "7", "None", "3.7", "(1, 2, 3)", "[200]", "[9, 8, 7]", "0.25")
POINTS = ("None", "(1, 2)", "[3.5, 4]", "(0, 0)")
FACTORS = ("0.5", "1.7", "0", "1", "1.0", "2")
RANGES = ("(0.2, 0.9)", "[0.5, 1.0]", "(1.0, 1.0)")
CORNERS = ("[[0, 0], [12, 0], [12, 8], [0, 8]]", "[(1, 1), (9, 0), (9, 7), (0, 8)]", "[[2.5, 1], [9, 0], [9, 7], [0, 8]]")
STEPS = ("[T.Pad(1)]", "[T.RandomHorizontalFlip(), T.CenterCrop(5)]", "(T.Pad(2),)", "[]")
JITTER = ("0", "0.4", "(0.5, 1.5)", "[0.2, 0.3]")

#: What a call usually gets, by the name of the parameter.
USUAL: dict[str, tuple[str, ...]] = {
    "all_ops": ("True", "False"),
    "alpha": ("1.0", "0.5", "2"),
    "angle": ("30", "-77.5", "90", "0"),
    "antialias": ("True", "None", "False"),
    "bits": ("3", "8", "0"),
    "brightness": JITTER,
    "center": POINTS,
    "chain_depth": ("-1", "2"),
    "contrast": JITTER,
    "degrees": ("30", "(10, 20)", "[0, 90.0]", "(90, 90)", "0"),
    "displacement": ("torch.full((1, 9, 13, 2), 0.1)", "torch.zeros(1, 9, 13, 2)"),
    "distortion_scale": ("0.5", "0", "1"),
    "dtype": ("torch.float32", "torch.uint8", "torch.float64", "torch.int16", "torch.float16"),
    "endpoints": CORNERS,
    "expand": ("False", "True"),
    "fill": FILLS,
    "gain": ("1", "0.5", "2"),
    "gamma": ("0.5", "1", "2.2"),
    "h": ("2", "4"),
    "height": ("4", "9", "30"),
    "hue": ("0", "0.3", "(-0.1, 0.2)"),
    "hue_factor": ("0.1", "-0.5", "0"),
    "i": ("0", "2"),
    "img_size": ("(13, 9)", "[13, 9]"),
    "inplace": ("False", "True"),
    "interpolation": MODES,
    "j": ("0", "3"),
    "kernel_size": ("3", "(5, 3)", "[1, 7]"),
    "lambd": ("len", "T.Pad(1)"),
    "left": ("0", "2", "-3"),
    "magnitude": ("9", "0", "30"),
    "max_size": ("None", "30"),
    "mean": ("[0.5]", "(0.4, 0.5, 0.6)", "torch.tensor([0.5])", "0.5"),
    "mean_vector": ("torch.zeros(9)", "torch.ones(351)"),
    "mixture_width": ("3", "1"),
    "mode": ("None", "'L'", "'RGB'", "'F'"),
    "num_magnitude_bins": ("31", "10"),
    "num_ops": ("2", "1", "3"),
    "num_output_channels": ("1", "3"),
    "output_size": SIZES,
    "p": PROBABILITIES,
    "pad_if_needed": ("False", "True"),
    "padding": ("1", "(2, 3)", "[1, 2, 3, 4]", "(4,)", "0"),
    "padding_mode": ("'constant'", "'edge'", "'reflect'", "'symmetric'"),
    "policy": ("T.AutoAugmentPolicy.IMAGENET", "T.AutoAugmentPolicy.SVHN"),
    "ratio": ("(0.75, 1.3)", "[1.0, 1.0]"),
    "saturation": JITTER,
    "scale": RANGES,
    "scale_ranges": ("None", *RANGES),
    "severity": ("3", "10"),
    "shear": ("None", "10", "(5, 10)", "[1, 2, 3, 4]"),
    "shears": ("None", "(5, 10)", "[1, 2, 3, 4]"),
    "sigma": ("0.7", "(0.5, 2.0)", "[1.0, 1.5]"),
    "sigma_max": ("2.0", "1"),
    "sigma_min": ("0.5", "1"),
    "size": SIZES,
    "startpoints": CORNERS,
    "std": ("[0.25]", "(0.2, 0.3, 0.4)", "torch.tensor([0.5])", "0.5"),
    "threshold": ("128", "77.5", "0"),
    "top": ("0", "1", "-2"),
    "transform_num": ("25",),
    "transformation_matrix": ("torch.eye(9)", "torch.eye(351)"),
    "transforms": STEPS,
    "translate": ("None", "(0.1, 0.2)", "[0.5, 0.0]"),
    "v": ("torch.tensor(0.5)", "torch.zeros(3, 1, 1)", "3"),
    "value": ("0", "'random'", "(0.1, 0.2, 0.3)", "[0.5]"),
    "vertical_flip": ("False", "True"),
    "w": ("2", "5"),
    "width": ("5", "13", "40"),
}
#: The same, where the name has another meaning in one place.
USUAL_OF: dict[tuple[str, str], tuple[str, ...]] = {
    **{("F." + name, name.partition("_")[2] + "_factor"): FACTORS for name in vars(TV.functional) if "adjust" in name},
    ("F.adjust_hue", "hue_factor"): USUAL["hue_factor"],
    ("F.affine", "scale"): ("1.0", "0.7", "2"),
    ("F.affine", "shear"): ("0", "10.5", "(5, 0)", "[3.0, 4.0]"),
    ("F.affine", "translate"): ("(0, 0)", "[2, -3]", "(1.5, 0)"),
    ("F.gaussian_blur", "sigma"): ("None", "0.8", "(1.0, 2.0)"),
    ("T.ElasticTransform", "alpha"): ("50.0", "[5.0, 9.0]"),
    ("T.ElasticTransform.get_params", "alpha"): ("[5.0, 9.0]",),
    ("T.ElasticTransform", "sigma"): ("0.8", "[0.5, 0.7]", "0.0"),
    ("T.ElasticTransform.get_params", "sigma"): ("[0.5, 0.7]", "[0.0, 0.0]"),
    ("T.ElasticTransform.get_params", "size"): ("[9, 13]",),
    ("T.RandomAdjustSharpness", "sharpness_factor"): FACTORS,
    ("T.RandomAffine.get_params", "degrees"): ("(10, 20)",),
    ("T.RandomAffine.get_params", "translate"): ("None", "(0.1, 0.2)"),
    ("T.RandomChoice", "p"): ("None", "[1]"),
    ("T.RandomErasing", "scale"): ("(0.02, 0.33)", "(0.1, 0.1)"),
    ("T.RandomErasing.get_params", "value"): ("None", "[0.5]", "(1, 2, 3)"),
    ("T.RandomRotation.get_params", "degrees"): ("(10, 20)",),
    **{
        ("T.ColorJitter.get_params", name): ("None", "(0.5, 1.5)", "[0.1, 0.2]")
        for name in ("brightness", "contrast", "saturation", "hue")
    },
}
#: Beyond these an argument means so much work that no test would end.
ENDLESS = ("num_ops", "chain_depth", "mixture_width")

IMAGES = (
    *["image('RGB')"] * 8,
    *("image('L')", "image('RGBA')", "image('LA')", "image('1')", "image('P')", "image('I')", "image('I;16')"),
    *("image('F')", "image('CMYK')", "image('HSV')", "Image.new('RGB', (0, 0))", "Image.new('L', (13, 0))"),
    *["bytes_of(3, 9, 13)"] * 4,
    *("bytes_of(1, 9, 13)", "bytes_of(9, 13)", "bytes_of(2, 3, 9, 13)", "bytes_of(4, 9, 13)", "bytes_of(1, 1, 3, 9, 13)"),
    *("bytes_of(3, 9, 13).transpose(1, 2)", "bytes_of(3, 0, 13)", "bytes_of(0, 9, 13)"),
    *["floats_of(3, 9, 13)"] * 4,
    *("floats_of(1, 9, 13)", "floats_of(9, 13)", "floats_of(2, 3, 9, 13)", "floats_of(3, 9, 13).double()"),
    *("floats_of(3, 9, 13).half()", "bytes_of(3, 9, 13).short()", "bytes_of(3, 9, 13).long()", "bytes_of(3, 9, 13) > 99"),
    *("floats_of(1, 3, 3)", "floats_of(3, 0, 13)", "floats_of(3, 9, 13).to(torch.complex64)"),
    *("bytes_of(9, 13, 3).numpy()", "bytes_of(9, 13).numpy()", "bytes_of(9, 13, 1).numpy()"),
    *("floats_of(9, 13, 3).numpy()", "bytes_of(9, 13, 3).short().numpy()", "bytes_of(13).numpy()", "np.uint8(3)"),
    *("None", "3", "'x.png'", "b''", "[]", "{}", "Thing()", "torch.tensor(1)", "torch.zeros(3)", "len", "np.array(2)"),
)
_FIRST = ("img", "pic", "image", "tensor", "orig_img")


def _image(mode: str) -> Image.Image:
    pixels = np.random.default_rng(5).integers(0, 256, (9, 13, 4), dtype=np.uint8)
    if mode in ("1", "P"):
        made = Image.fromarray(pixels[:, :, 0]).convert(mode)
        if mode == "P":
            made.putpalette(bytes(range(255, -1, -1)) * 3)
        return made
    if mode in ("I", "I;16", "F"):
        dtype = {"I": np.int32, "I;16": np.uint16, "F": np.float32}[mode]
        return Image.fromarray(pixels[:, :, 0].astype(dtype) * 3)
    return Image.frombytes(mode, (13, 9), pixels[:, :, : len(Image.new(mode, (1, 1)).getbands())].tobytes())


def _bytes_of(*shape: int) -> torch.Tensor:
    return torch.randint(0, 256, shape, dtype=torch.uint8, generator=torch.Generator().manual_seed(7))


def _floats_of(*shape: int) -> torch.Tensor:
    return torch.rand(shape, generator=torch.Generator().manual_seed(7))


NAMES.update(image=_image, bytes_of=_bytes_of, floats_of=_floats_of)


# ---- cases


def _targets() -> dict[str, tuple[str, ...]]:
    """Every call that there is, and the names of its parameters behind the image."""
    found: dict[str, tuple[str, ...]] = {}
    for name in TV.functional.__dict__:
        value = getattr(TV.functional, name)
        if hasattr(T.functional, name) and inspect.isfunction(value):
            found[f"F.{name}"] = tuple(inspect.signature(value).parameters)[1:]
    for name in (*TV.transforms.__all__, *TV.autoaugment.__all__):
        value = getattr(TV, name)
        if not issubclass(value, Enum):
            found[f"T.{name}"] = tuple(inspect.signature(value).parameters)
            if hasattr(value, "get_params"):
                names = tuple(inspect.signature(value.get_params).parameters)
                found[f"T.{name}.get_params"] = names[1:] if names[0] in _FIRST else names
    return found


TARGETS = _targets()
#: How a transform is called.
WAYS = ("alone", "alone", "alone", "in a Compose", "compiled", "behind ToTensor")


@dataclass(frozen=True)
class Case:
    target: str
    arguments: tuple[tuple[str, str], ...]
    image: str
    way: str
    seed: int

    @property
    def source(self) -> str:
        """A call on `x`; for a class, of the class alone."""
        given = ", ".join(f"{name}={value}" for name, value in self.arguments)
        first = "x, " if self._takes_image else ""
        return f"{self.target}({first}{given})"

    @property
    def _takes_image(self) -> bool:
        if self.target.endswith("get_params"):
            owner = getattr(TV, self.target.split(".")[1])
            return next(iter(inspect.signature(owner.get_params).parameters)) in _FIRST
        return self.target.startswith("F.")

    @property
    def makes_transform(self) -> bool:
        return self.target.startswith("T.") and not self.target.endswith("get_params")

    def __str__(self) -> str:
        text = self.source
        return f"{text}, {self.way}, of {self.image}" if self.makes_transform else f"{text} of {self.image}"


def draw_case(number: int) -> Case:
    """The case of this number, the same on every machine. Consecutive numbers are of different targets."""
    rng = random.Random(number)
    target = list(TARGETS)[number % len(TARGETS)]
    names = [
        name
        for name in TARGETS[target]
        if rng.random() < 0.6 or name not in _optional(target)
    ]
    given = {name: rng.choice(USUAL_OF.get((target, name)) or USUAL[name]) for name in names}
    odd = rng.choice([0, 1, 1, 1, 1, 1, 2, 2, len(TARGETS[target])])
    for name in rng.sample(TARGETS[target], min(odd, len(TARGETS[target]))):
        given[name] = rng.choice(ODD)
    endless = "symmetric" in str(given.values())
    for name, value in given.items():
        if "**" in value and (endless or name in ENDLESS):
            given[name] = "-1"
        if name == "fill" and value.startswith("iter"):
            given[name] = "-1"  # an iterator is a fill for one call alone
        if "np.uint" in value and (target in ("F.crop", "F.resized_crop") or "padding_mode" in given):
            given[name] = "-1"  # NumPy's sums of them wrap around, and torchvision's boxes and np.pad's with them
        if value.startswith("-") and target == "F.resized_crop" and name in ("left", "top"):
            given[name] = "-1"  # of a box beyond the border torchvision cuts another one out of a tensor
    order = {name: given[name] for name in TARGETS[target] if name in given}
    image, way = rng.choice(IMAGES), rng.choice(WAYS)
    if target == "T.RandAugment":
        # All ops are drawn before the first is done, so of two errors another one is found first.
        image, way = "image('RGB')", "alone"
    return Case(target, tuple(order.items()), image, way, rng.randrange(1000))


def _optional(target: str) -> set[str]:
    owner: Any = TV
    for name in target.split("."):
        owner = {"F": TV.functional, "T": TV}[name] if owner is TV and name in "FT" else getattr(owner, name)
    parameters = inspect.signature(owner).parameters.values()
    return {parameter.name for parameter in parameters if parameter.default is not parameter.empty}


# ---- running


@dataclass
class Outcome:
    """What was seen of a call, up to the error if there was one."""

    seen: dict[str, Any]
    error: Exception | None
    warned: list[type[Warning]]
    states: tuple[Any, ...]


def outcome(case: Case, package: Any, image: Any) -> Outcome:
    names = {**NAMES, "T": package, "F": package.functional}
    seen: dict[str, Any] = {}
    error = None
    given = eval(image, names) if isinstance(image, str) else image
    call = compile(case.source, "case", "eval")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        always = torch.is_warn_always_enabled()
        torch.set_warn_always(True)
        seed_all(case.seed)
        try:
            if case.makes_transform:
                transform = eval(call, names)
                seen["attributes"] = attributes_of(transform)
                seen["repr"] = repr_of(transform)
                seen["result"] = wrapped(transform, case.way, package)(given)
            else:
                seen["result"] = eval(call, {**names, "x": given})
        except Exception as raised:
            error = raised
        finally:
            torch.set_warn_always(always)
    if "result" in seen and isinstance(given, torch.Tensor) and given.dtype is torch.uint8 and given.ndim > 3:
        # There is no PIL image to compare a batch with: other tests do, image by image.
        seen["result"] = measures_of(seen["result"])
    states = torch.get_rng_state().numpy().tobytes(), random.getstate(), numpy_state()
    seen["image"] = given
    return Outcome(seen, error, [record.category for record in caught], states)


def measures_of(result: Any) -> Any:
    if isinstance(result, tuple):
        return tuple(map(measures_of, result))
    return (result.dtype, result.shape) if isinstance(result, torch.Tensor) else result


def wrapped(transform: Any, way: str, package: Any) -> Callable[[Any], Any]:
    if way == "in a Compose":
        return package.Compose([transform])  # type: ignore[no-any-return]
    if way == "behind ToTensor":
        return package.Compose([package.ToTensor(), transform])  # type: ignore[no-any-return]
    if way == "compiled" and package is T:
        return fastaug.compile(transform)
    return transform  # type: ignore[no-any-return]


def repr_of(transform: Any) -> str:
    """The repr, or the type of the error that it raises."""
    try:
        return shown(transform)
    except Exception as error:
        return type(error).__name__


def attributes_of(transform: Any) -> dict[str, str]:
    """What users find in `vars`."""
    own = vars(transform)
    return {name: shown(value) for name, value in own.items() if not name.startswith("_") and name != "training"}


def shown(value: Any) -> str:
    return re.sub(" at 0x[0-9a-fA-F]+", "", f"{type(value).__name__} {value!r}")


# ---- comparing


def difference(case: Case) -> str:
    """How the outcomes differ, in a line; '' when they do not."""
    ours = outcome(case, T, case.image)
    theirs = [outcome(case, TV, image) for image in references(case.image)]
    if theirs[0].error is None and all(other.error is not None for other in theirs[1:]):
        # Arguments that have no meaning for a PIL image: what a tensor of bytes comes to has nothing to compare with.
        loosely = [replace(one, seen={**one.seen, "result": measures_of(one.seen.get("result"))}) for one in (ours, theirs[0])]
        if len(theirs) > 1 and not one_difference(*loosely):
            return ""
    found = [one_difference(ours, other) for other in theirs]
    return "" if "" in found else found[0]


def references(image: str) -> Iterator[Any]:
    """What torchvision is given in the place of an image; one of these outcomes has to be ours.

    Arrays are images here, and there in no function but two. uint8 tensors follow the rules of PIL images in what they
    come to, and partly in what they refuse (docs/migrating.md, "What is different").
    """
    yield image
    value = eval(image, NAMES)
    if isinstance(value, np.ndarray):
        yield torch.from_numpy(np.moveaxis(value, 2, 0) if value.ndim == 3 else value)
        if value.ndim in (2, 3):
            yield as_pil(value.astype(np.uint8))
    elif isinstance(value, torch.Tensor) and value.dtype is torch.uint8 and value.ndim in (2, 3) and value.numel():
        yield as_pil(np.moveaxis(value.numpy(), 0, 2) if value.ndim == 3 else value.numpy())


def as_pil(pixels: np.ndarray) -> Image.Image:
    if pixels.ndim == 3 and pixels.shape[2] == 4:
        # No band is alpha.
        return Image.frombytes("CMYK", pixels.shape[1::-1], pixels.tobytes())
    single = pixels.ndim == 3 and pixels.shape[2] == 1
    return Image.fromarray(np.ascontiguousarray(pixels[:, :, 0] if single else pixels))


def one_difference(ours: Outcome, theirs: Outcome) -> str:
    if ours.error is not None or theirs.error is not None:
        if ours.error is None or theirs.error is None or not isinstance(ours.error, type(theirs.error)):
            return f"{told(ours)}; torchvision: {told(theirs)}"
    for name in ("attributes", "repr", "result", "image"):
        if name not in theirs.seen and name not in ours.seen:
            continue
        if name == "image" and type(ours.seen[name]) is not type(theirs.seen[name]):
            continue
        if not alike(ours.seen.get(name), theirs.seen.get(name)):
            return f"{name}: {ours.seen.get(name)!r}; torchvision: {theirs.seen.get(name)!r}"
    if ours.error is not None:
        return ""
    if set(ours.warned) != set(theirs.warned):
        return f"warnings: {ours.warned}; torchvision: {theirs.warned}"
    for name, one, other in zip(("torch", "python", "numpy"), ours.states, theirs.states):
        if one != other:
            return f"{name}'s generator was left in another state"
    return ""


def told(outcome: Outcome) -> str:
    if outcome.error is not None:
        return f"{type(outcome.error).__name__}: {outcome.error}"
    return f"gave {outcome.seen['result']!r}"


def alike(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, (tuple, list)) and isinstance(theirs, (tuple, list)):
        return type(ours) is type(theirs) and len(ours) == len(theirs) and all(map(alike, ours, theirs))
    if isinstance(theirs, Image.Image) and isinstance(ours, (torch.Tensor, np.ndarray)):
        samples = torch.from_numpy(np.atleast_3d(np.array(theirs)))
        theirs = samples.permute(2, 0, 1) if isinstance(ours, torch.Tensor) else samples.numpy()
        ours, theirs = (value.reshape(-1) for value in (ours, theirs))
    if isinstance(ours, torch.Tensor) and isinstance(theirs, torch.Tensor):
        if ours.dtype != theirs.dtype or ours.shape != theirs.shape:
            return False
        if ours.is_complex():
            ours, theirs = torch.view_as_real(ours), torch.view_as_real(theirs)
        if ours.is_floating_point():
            limit = FLOAT_TENSOR if ours.dtype in (torch.float32, torch.float64) else 2e-3
            finite = theirs[theirs.isfinite()].abs().double()
            scale = max(1.0, finite.max().item() if finite.numel() else 1.0)
            return torch.allclose(ours.double(), theirs.double(), rtol=0, atol=limit * scale, equal_nan=True)
    try:
        return bool(snapshot(ours) == snapshot(theirs)) or shown(ours) == shown(theirs)
    except Exception:
        return shown(ours) == shown(theirs)


def simpler(case: Case) -> Iterator[Case]:
    """Every way of leaving one argument out, or of taking a usual one in its place."""
    for index, (name, value) in enumerate(case.arguments):
        before, after = case.arguments[:index], case.arguments[index + 1 :]
        if name in _optional(case.target):
            yield replace(case, arguments=(*before, *after))
        usual = USUAL_OF.get((case.target, name)) or USUAL[name]
        if value not in usual:
            yield replace(case, arguments=(*before, (name, usual[0]), *after))
    if case.way != "alone":
        yield replace(case, way="alone")


def shrink(case: Case) -> Case:
    """A simpler case that still fails."""
    found = True
    while found:
        found = False
        for candidate in simpler(case):
            if difference(candidate):
                case, found = candidate, True
                break
    return case


def check(number: int) -> str:
    """Runs a case: '' when both packages do the same, else the call and both outcomes."""
    case = draw_case(number)
    if not difference(case):
        return ""
    small = shrink(case)
    return f"arguments {number}: {small}\n{difference(small)}"
