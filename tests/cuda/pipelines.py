"""Pipelines whose kernels are compiled without a GPU: those of real recipes, and every op by itself.

Their specs are what `fastaug._cuda.kernels` would compile once it has seen all that a pipeline draws: per kernel the
union of the specs of many images. Draws are the same at every run.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch

import fastaug.transforms as T
from fastaug import _C
from fastaug._batch.batch import Task
from fastaug._cuda.kernels import Family, Spec
from fastaug._draft.call import Call, Drawing
from support.programs import pack
from tables.op_table import ROWS, Op
from tables.recipes import IMAGENET

#: (height, width, channels) of an image, and what is done to it.
Work = tuple[tuple[int, int, int], bytes]

MODES = {"exact": _C.EXACT, "fast": _C.FAST}
DTYPES = ("float32", "bfloat16")
#: Those whose kernels matter most.
MAIN = ("P ", "ImageNet", "SimCLR")

#: Images of a pipeline: enough for what is drawn for one in twenty.
_IMAGES = 128
#: Operands of an op: enough for each of its flags.
_OPERANDS = 40
#: Where images and results are said to be; nobody looks.
_NOWHERE = 1 << 20

_BILINEAR, _NEAREST = T.InterpolationMode.BILINEAR, T.InterpolationMode.NEAREST
_TO_FLOAT = (T.ConvertImageDtype(torch.float32), T.Normalize(*IMAGENET))


def _p(size: int, interpolation: T.InterpolationMode) -> Any:
    """The reference pipeline of the project: augmentation of histology tiles."""
    return T.Compose(
        [
            T.RandomRotation(25, interpolation=interpolation),
            T.RandomResizedCrop(2 * size, scale=(0.5, 1.5), ratio=(0.8, 1.2)),
            T.Resize(size),
            T.RandomHorizontalFlip(),
            T.RandomVerticalFlip(),
            T.ColorJitter(0.2, 0.1, 0.05, 0.02),
            *_TO_FLOAT,
        ]
    )


def _crop_and(*then: Any) -> Any:
    return T.Compose([T.RandomResizedCrop(224), T.RandomHorizontalFlip(), *then])


_SIMCLR = (T.RandomApply([T.ColorJitter(0.8, 0.8, 0.8, 0.2)], p=0.8), T.RandomGrayscale(0.2), T.GaussianBlur(23))

#: On uint8 tensors of three channels.
_PIPELINES: dict[str, Callable[[], Any]] = {
    "P nearest 512": lambda: _p(512, _NEAREST),
    "P nearest 224": lambda: _p(224, _NEAREST),
    "P bilinear 512": lambda: _p(512, _BILINEAR),
    "P bilinear 224": lambda: _p(224, _BILINEAR),
    "ImageNet train": lambda: _crop_and(*_TO_FLOAT),
    "ImageNet eval": lambda: T.Compose([T.Resize(256), T.CenterCrop(224), *_TO_FLOAT]),
    "SimCLR": lambda: _crop_and(*_SIMCLR, *_TO_FLOAT),
    "segmentation": lambda: T.Compose(
        [
            T.Resize((512, 512)),
            T.RandomCrop(480, padding=16, fill=124),
            T.RandomHorizontalFlip(),
            T.RandomRotation(10),
            *_TO_FLOAT,
        ]
    ),
    "perspective": lambda: T.Compose(
        [T.RandomPerspective(p=1.0), T.RandomAdjustSharpness(2.0), T.RandomEqualize(), *_TO_FLOAT]
    ),
    "RandAugment": lambda: _crop_and(T.RandAugment(interpolation=_BILINEAR), *_TO_FLOAT),
    "TrivialAugmentWide": lambda: _crop_and(T.TrivialAugmentWide(), *_TO_FLOAT, T.RandomErasing(0.25)),
}

#: What chains of AugMix are of, which are programs by themselves: their results are mixed as bytes.
_AUGMIX = (
    *("POSTERIZE", "SOLARIZE", "EQUALIZE", "BRIGHTNESS", "TORCH_AFFINE", "TORCH_CONTRAST", "TORCH_SATURATION"),
    *("TORCH_SHARPNESS", "TORCH_AUTOCONTRAST"),
)

RECIPES = (*_PIPELINES, "AugMix")
NAMES = (*RECIPES, *(name for name, _ in _C.OPS if name not in _C.HOST_OPS))


class Kernel(NamedTuple):
    """A spec, and the first of what needs it."""

    pipeline: str
    mode: str
    spec: Spec


def kernels(names: tuple[str, ...] = NAMES, dtypes: tuple[str, ...] = DTYPES) -> list[Kernel]:
    """All distinct specs of pipelines, in both modes."""
    found: dict[Spec, Kernel] = {}
    for name in names:
        for mode in MODES:
            for dtype in dtypes:
                for spec in specs(name, mode, dtype):
                    found.setdefault(spec, Kernel(name, mode, spec))
    return list(found.values())


def specs(name: str, mode: str, dtype: str) -> list[Spec]:
    """The specs of a pipeline that stores floats as `dtype`.

    Example:
        >>> specs("ImageNet eval", "exact", "float32")  # doctest: +SKIP
        [(0, 3, 1, 6, 2, 0, 2)]
    """
    jobs = [_job(shape, program, dtype) for shape, program in _works(name)]
    bag = _C.Bag(jobs, MODES[mode])  # type: ignore[attr-defined]
    assert len(bag.unfit) < len(jobs), name
    return list(dict.fromkeys(Family().widen(bag.specs)))


def _job(shape: tuple[int, int, int], program: bytes, dtype: str) -> tuple[bytes, _C.Source, _C.Target]:
    """Of planes, as tensors are."""
    height, width, channels = shape
    source = _C.from_pointer(_NOWHERE, height, width, channels, width, 1, height * width, None)
    height, width, channels = _C.shape(program, *shape)
    number, size = (_C.DTYPES[dtype], 4 if dtype == "float32" else 2) if _is_float(program) else (0, 1)
    strides = (width * size, size, height * width * size)
    return program, source, _C.into_pointer(_NOWHERE, number, height, width, channels, *strides, None)


def _is_float(program: bytes) -> bool:
    described = _C.describe(program).upper()
    return "TO_FLOAT" in described or "SCALE" in described


@functools.cache
def _works(name: str) -> list[Work]:
    if name in _PIPELINES:
        return _drawn(_PIPELINES[name]())
    rng = random.Random(name)
    if name == "AugMix":
        return [_chain(rng) for _ in range(_IMAGES)]
    return [_alone(rng, name) for _ in range(_OPERANDS)]


def _drawn(pipeline: Any) -> list[Work]:
    """What a pipeline draws for many images."""
    images = [torch.empty(3, height, width, dtype=torch.uint8) for height, width in ((640, 600), (600, 640))]
    works = []
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(0)
        call = Call(pipeline._call.draws, pipeline._call.rewrites, tape=Drawing())
        for k in range(_IMAGES):
            image = images[k % len(images)]
            task = Task(pipeline, k)
            task.draw(image, call)
            assert task.error is None and task.job is not None, task.error
            works.append(((image.shape[1], image.shape[2], 3), task.job.program))
        call.draws.release()
    return works


def _images(rng: random.Random, channels: int) -> np.ndarray:
    return np.zeros((*rng.choice(((70, 64), (33, 90), (640, 600))), channels), np.uint8)


def _chain(rng: random.Random) -> Work:
    image = _images(rng, 3)
    shape = image.shape
    ops: list[Op] = []
    for _ in range(rng.randint(1, 3)):
        ops.append(ROWS[rng.choice(_AUGMIX)].draw(rng, image))
        image = np.zeros(_C.shape(pack(ops), *shape), np.uint8)
    return shape, pack(ops)


def _alone(rng: random.Random, name: str) -> Work:
    """An op, and TO_FLOAT before or behind it."""
    row = ROWS[name]
    image = _images(rng, 3 if 3 in row.channels else max(row.channels))
    op = row.draw(rng, image)
    store = Op("TO_FLOAT")
    if name.endswith("TO_FLOAT") or name == "SCALE":
        return image.shape, pack([op])
    return image.shape, pack([store, op] if row.kind == "store" else [op, store])
