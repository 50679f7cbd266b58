"""The table of results in which older releases of torchvision differ from the one that this package follows.

A pipeline that is compiled from objects of an older torchvision gives that release's results. An op with a rule here is
left to that release, always or on the leaves that the rule is about. docs/versions.md prints the table.
"""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from fastaug._program import resizing

Release = tuple[int, int]

#: The release whose names, arguments and pixels this package has.
FOLLOWED: Release = (0, 29)


class Leaf(NamedTuple):
    """The properties of a leaf of a sample that a rule may use."""

    #: The name of its class; "PIL" of Pillow's images.
    kind: str
    #: The tensor or tv_tensor itself; None for an image that is drafted.
    value: Any


class Rule(NamedTuple):
    """One difference, and the ops that show it."""

    #: The first release that agrees with this package.
    since: Release
    #: "v1" or "v2".
    api: str
    #: Classes, and functions, which are not compiled.
    ops: tuple[str, ...]
    #: The difference in older releases, in words.
    differs: str
    #: The affected leaves, in words, and the check for one; None for all.
    on: str | None = None
    meets: Callable[[Leaf], bool] | None = None
    #: The check for an affected object; None for all.
    about: Callable[[Any], bool] | None = None
    #: Whether single images are among the leaves.
    of_images: bool = False
    #: The first release that differs.
    begins: Release = (0, 0)

    @property
    def called(self) -> str:
        return {_MOVES: "geometry", _RESIZES: "resizes"}.get(self.ops, ", ".join(self.ops))


_RESIZES = ("RandomResize", "RandomResizedCrop", "RandomShortestSize", "Resize", "ScaleJitter")

_MOVES = (
    "CenterCrop",
    "ElasticTransform",
    "Pad",
    "RandomAffine",
    "RandomCrop",
    "RandomHorizontalFlip",
    "RandomIoUCrop",
    "RandomPerspective",
    "RandomRotation",
    "RandomVerticalFlip",
    "RandomZoomOut",
    *_RESIZES,
)


def _mode(transform: Any) -> str:
    """Return the name of an interpolation that is given as an enum, by name or by Pillow's number."""
    mode = transform.interpolation
    numbers = {1: "lanczos", 2: "bilinear"}
    return str(numbers.get(mode, "") if isinstance(mode, int) else getattr(mode, "value", mode))


def _boxes(leaf: Leaf) -> bool:
    return leaf.kind == "BoundingBoxes"


def _tensor(leaf: Leaf) -> bool:
    return leaf.kind in ("Tensor", "Image", "Video")


def _turned(leaf: Leaf) -> bool:
    return _boxes(leaf) and leaf.value.format.name in ("XYWHR", "CXCYWHR", "XYXYXYXY")


def _whole_centres(leaf: Leaf) -> bool:
    return _boxes(leaf) and leaf.value.format.name == "CXCYWH" and not leaf.value.is_floating_point()


def _bilinear_without_avx2(transform: Any) -> bool:
    return _mode(transform) == "bilinear" and "AVX2" not in torch.backends.cpu.get_cpu_capability()


def _bilinear_on_arm(transform: Any) -> bool:
    return _mode(transform) == "bilinear" and resizing.ON_ARM


RULES = (
    Rule((0, 18), "v1", ("RandomPerspective", "perspective"), "coefficients are solved for in float32"),
    Rule((0, 18), "v2", ("RandomPerspective", "perspective"), "coefficients are solved for in float32"),
    Rule((0, 18), "v2", ("Grayscale", "RandomGrayscale", "rgb_to_grayscale"), "images of one channel keep it"),
    Rule((0, 18), "v2", ("RandomRotation", "rotate"), "quarter turns are sampled"),
    Rule((0, 19), "v2", ("CutMix", "MixUp"), "labels are class numbers only"),
    Rule((0, 20), "v2", ("GaussianBlur", "gaussian_blur"), "weights are rounded at another place"),
    Rule((0, 23), "v2", ("ClampBoundingBoxes",), "there are no modes of clamping"),
    Rule((0, 24), "v2", ("GaussianNoise",), "uint8 is refused"),
    Rule(
        (0, 24),
        "v2",
        _MOVES,
        "points are clamped to the canvas",
        on="key points",
        meets=lambda leaf: leaf.kind == "KeyPoints",
        begins=(0, 23),
    ),
    Rule((0, 24), "v2", _MOVES, "angles and corners are computed otherwise", on="turned boxes", meets=_turned),
    Rule(
        (0, 24),
        "v2",
        _RESIZES,
        "bilinear resizes are computed in float32 where torch runs on AVX-512",
        on="tensors of uint8",
        meets=_tensor,
        about=_bilinear_without_avx2,
        of_images=True,
    ),
    Rule((0, 25), "v2", ("SanitizeBoundingBoxes",), "masks that are not one for each box raise an error"),
    Rule((0, 26), "v1", ("ElasticTransform",), "each displacement is divided by the other side"),
    Rule((0, 26), "v2", ("ElasticTransform",), "each displacement is divided by the other side"),
    Rule(
        (0, 26), "v2", _MOVES, "half of an odd side is rounded up", on="CXCYWH boxes of integers", meets=_whole_centres
    ),
    Rule(
        (0, 27),
        "v2",
        _RESIZES,
        "bilinear resizes are computed in float32 on ARM",
        on="tensors of uint8",
        meets=_tensor,
        about=_bilinear_on_arm,
        of_images=True,
    ),
    Rule((0, 27), "v2", ("ConvertBoundingBoxFormat",), "between XYWH and CXCYWH it goes by way of XYXY"),
    Rule((0, 27), "v2", ("ElasticTransform",), "corners at the far border raise an error", on="boxes", meets=_boxes),
    Rule(
        (0, 27),
        "v2",
        _RESIZES,
        "there is no Lanczos filter",
        on="tensors",
        meets=_tensor,
        about=lambda transform: _mode(transform) == "lanczos",
        of_images=True,
    ),
    Rule(
        (0, 28),
        "v2",
        ("RandomResize", "RandomShortestSize", "Resize", "ScaleJitter"),
        "NEAREST_EXACT is taken for NEAREST",
        on="masks",
        meets=lambda leaf: leaf.kind == "Mask",
        about=lambda transform: _mode(transform) == "nearest-exact",
    ),
)


@functools.cache
def installed() -> Release | None:
    """Return the release of the installed torchvision, or None."""
    try:
        version = importlib.import_module("torchvision").__version__
    except ImportError:
        return None
    found = re.match(r"(\d+)\.(\d+)", version)
    return None if found is None else (int(found[1]), int(found[2]))


@functools.cache
def rules(api: str, op: str) -> tuple[Rule, ...]:
    """Return the rules of a class that apply to the installed torchvision."""
    release = installed()
    if release is None:
        return ()
    return tuple(rule for rule in RULES if rule.api == api and op in rule.ops and rule.begins <= release < rule.since)


def left(api: str, op: str) -> str | None:
    """Return why all objects of a class are left to the installed torchvision, in words, or None."""
    for rule in rules(api, op):
        if rule.meets is None:
            return f"in torchvision {spelled(installed() or FOLLOWED)} {rule.differs}"
    return None


def spelled(release: Release) -> str:
    return ".".join(map(str, release))


def described() -> str:
    """Return the differences of the installed torchvision, in words."""
    release = installed()
    own = f"as torchvision {spelled(FOLLOWED)}'s"
    if release is None:
        return f"{own}, which is not installed"
    there = [rule for rule in RULES if rule.begins <= release < rule.since]
    if not there:
        return own
    parts = [f"{rule.api} {rule.called}{f' on {rule.on}' if rule.on else ''}" for rule in there]
    return f"{own} by import; what is compiled of torchvision {spelled(release)} leaves to it {'; '.join(parts)}"
