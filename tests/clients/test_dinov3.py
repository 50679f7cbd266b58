"""Multi-crop classes in DINOv3's way: its own, of a checkout, and one with other clients' transforms; also switched."""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import fastaug
from fastaug._own import own
from support.differences import each
from support.images import photo, to_chw
from support.multi_crop import MultiCrop, assert_same_views, switches
from support.scale import cases


def lightly_blur(p: float) -> Any:
    return importlib.import_module("lightly.transforms").GaussianBlur(prob=p, sigmas=(0.1, 2))


@each("switch", switches)
def test_with_transforms_of_lightly(switch: dict[str, Any]) -> None:
    pytest.importorskip("lightly")
    original = MultiCrop(blur=lightly_blur, **switch)
    compiled = fastaug.compile(original)
    assert isinstance(compiled, fastaug.Views)
    assert_same_views(compiled, original, photo("chelsea", 90, 121), cases(4))


@pytest.mark.parametrize("switch", [{}, {"inner": True}, {"shared": True, "gram": 64}], ids=str)
def test_switched(switch: dict[str, Any]) -> None:
    """What the class calls is switched, whatever else it does."""
    original = MultiCrop(**switch)

    def plain(image: Any) -> Any:
        with own():
            return original(image)

    with fastaug.install():
        for image in (photo("chelsea", 90, 121), to_chw(photo("coffee", 80, 71))):
            assert_same_views(original, plain, image, 6)


@pytest.fixture(scope="module")
def theirs() -> Callable[..., Any]:
    """The class of a checkout of DINOv3, which is in no registry: `make test-clients DINOV3=DIR`."""
    spec = importlib.util.find_spec("dinov3")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("there is no checkout of DINOv3: make test-clients DINOV3=DIR")
    # Without what its folder of data sets imports.
    data = ModuleType("dinov3.data")
    data.__path__ = [str(Path(next(iter(spec.submodule_search_locations))) / "data")]
    sys.modules["dinov3.data"] = data
    made: Callable[..., Any] = importlib.import_module("dinov3.data.augmentations").DataAugmentationDINO
    return made


def settings() -> Any:
    """All of DINOv3's switches, and sizes of a Gram teacher's crops that are smaller and larger than the others."""
    names = ("gram_teacher_crops_size", "gram_teacher_no_distortions", "teacher_no_color_jitter", "share_color_jitter")
    for values in itertools.product((None, 32, 64), *[(False, True)] * 3):
        yield dict(zip(names, values))


@each("setting", settings)
def test_dinov3(setting: dict[str, Any], theirs: Callable[..., Any]) -> None:
    sizes: dict[str, Any] = {"global_crops_size": 48, "local_crops_size": 24, "patch_size": 4}
    image = photo("chelsea", 90, 121)
    original = theirs((0.32, 1.0), (0.05, 0.32), 4, **sizes, **setting)
    compiled = fastaug.compile(original)
    assert isinstance(compiled, fastaug.Views)
    for one in (image, to_chw(image)):
        assert_same_views(compiled, original, one, cases(5))
    cutting = theirs((0.32, 1.0), (0.05, 0.32), 4, local_crops_subset_of_global_crops=True, **sizes, **setting)
    assert_same_views(fastaug.compile(cutting), cutting, image, 2)
