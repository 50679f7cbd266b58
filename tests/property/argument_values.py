"""Values for arguments, as Python source: those that calls usually get, by the name of the parameter, and odd ones."""

from __future__ import annotations

from collections import UserList, deque, namedtuple
from decimal import Decimal
from enum import Enum, IntEnum
from fractions import Fraction
from typing import Any

import numpy as np
import torch
import torchvision.transforms as TV
from PIL import Image


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
CORNERS = (
    "[[0, 0], [12, 0], [12, 8], [0, 8]]",
    "[(1, 1), (9, 0), (9, 7), (0, 8)]",
    "[[2.5, 1], [9, 0], [9, 7], [0, 8]]",
)
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

#: What takes no PIL images.
OF_TENSORS = (
    *("ConvertImageDtype", "LinearTransformation", "Normalize", "RandomErasing", "ToPILImage"),
    *("convert_image_dtype", "erase", "normalize", "to_pil_image"),
)

IMAGES = (
    *["image('RGB')"] * 8,
    *("image('L')", "image('RGBA')", "image('LA')", "image('1')", "image('P')", "image('I')", "image('I;16')"),
    *("image('F')", "image('CMYK')", "image('HSV')", "Image.new('RGB', (0, 0))", "Image.new('L', (13, 0))"),
    *["bytes_of(3, 9, 13)"] * 4,
    *(
        "bytes_of(1, 9, 13)",
        "bytes_of(9, 13)",
        "bytes_of(2, 3, 9, 13)",
        "bytes_of(4, 9, 13)",
        "bytes_of(1, 1, 3, 9, 13)",
    ),
    *("bytes_of(3, 9, 13).transpose(1, 2)", "bytes_of(3, 0, 13)", "bytes_of(0, 9, 13)"),
    *["floats_of(3, 9, 13)"] * 4,
    *("floats_of(1, 9, 13)", "floats_of(9, 13)", "floats_of(2, 3, 9, 13)", "floats_of(3, 9, 13).double()"),
    *(
        "floats_of(3, 9, 13).half()",
        "bytes_of(3, 9, 13).short()",
        "bytes_of(3, 9, 13).long()",
        "bytes_of(3, 9, 13) > 99",
    ),
    *("floats_of(1, 3, 3)", "floats_of(3, 0, 13)", "floats_of(3, 9, 13).to(torch.complex64)"),
    *("bytes_of(9, 13, 3).numpy()", "bytes_of(9, 13).numpy()", "bytes_of(9, 13, 1).numpy()"),
    *("floats_of(9, 13, 3).numpy()", "bytes_of(9, 13, 3).short().numpy()", "bytes_of(13).numpy()", "np.uint8(3)"),
    *("None", "3", "'x.png'", "b''", "[]", "{}", "Thing()", "torch.tensor(1)", "torch.zeros(3)", "len", "np.array(2)"),
)


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


#: What the sources above are made of.
NAMES: dict[str, Any] = {
    "np": np,
    "torch": torch,
    "Image": Image,
    "Fraction": Fraction,
    "Decimal": Decimal,
    "UserList": UserList,
    "deque": deque,
    "image": _image,
    "bytes_of": _bytes_of,
    "floats_of": _floats_of,
    **{made.__name__: made for made in (Thing, Index, Float, Int, Real, Tuple, List, Few, Plain, Pair)},
}
