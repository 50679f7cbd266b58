"""Calls that recipes make, compared with what Python makes of them; and random arguments and images for such."""

from __future__ import annotations

import copy
import io
import random
import re
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch.utils._pytree import tree_leaves

import fastaug.transforms as T
from fastaug import tv_tensors
from fastaug._draft.recipe import Parts
from fastaug._draft.replaced import TransformDraft
from fastaug._program.job import DTYPES, Job
from fastaug._program.kinds import PIL_IMAGE, TENSOR
from fastaug._sample.pipeline import SamplePipeline
from fastaug.io import LazyImage

Random = random.Random
MODES = list(T.InterpolationMode)


def side(r: Random) -> int:
    return r.choice([1, 2, 3, r.randint(1, 12), r.randint(1, 40)])


def shape(r: Random) -> Any:
    return r.choice([side(r), [side(r)], (side(r), side(r)), [side(r), side(r)]])


def mode(r: Random) -> Any:
    return r.choice([T.InterpolationMode.BILINEAR, T.InterpolationMode.NEAREST, r.choice(MODES)])


def fill(r: Random) -> Any:
    return r.choice([0, 0, 255, 300, -3, 12.7, (7,), (1, 2, 3), [9.5, 300, -1], r.randint(0, 255)])


def p(r: Random) -> Any:
    return r.choice([0.5, 0.5, 1.0, 0.0, 1, r.random()])


def borders(r: Random) -> Any:
    width = lambda: r.randint(-2, 5)  # noqa: E731
    return r.choice([width(), (width(),), (width(), width()), [width() for _ in range(4)]])


def padding_mode(r: Random) -> str:
    return r.choice(["constant", "constant", "edge", "reflect", "symmetric"])


def degrees(r: Random) -> Any:
    exact = r.choice([0, 90, 180, 270, -90, 360, 45])
    return r.choice([25, 180.0, (-5, 5), (exact, exact), (30.5, 400)])


def interval(r: Random, low: float, high: float) -> tuple[float, float]:
    first, second = sorted((r.uniform(low, high), r.uniform(low, high)))
    return first, second


def middle(r: Random) -> Any:
    return r.choice([None, None, (0, 0), (r.uniform(-3, 20), r.randint(0, 9))])


def state_of(pipeline: Any) -> torch.Tensor:
    return (pipeline._call.draws.generator or torch.default_generator).get_state()


def set_state(pipeline: Any, state: torch.Tensor) -> None:
    (pipeline._call.draws.generator or torch.default_generator).set_state(state)


def described(job: Any) -> Any:
    if job is None:
        return None
    return job.program, job.kind, tuple(job.size), job.mode, job.dtype, job.flat, job.interleaved


def by_python(pipeline: Any, image: Any) -> Any:
    """What the one job is, where there is one; or the error."""
    of_samples = isinstance(pipeline, SamplePipeline)
    draft = pipeline._begin(image, pipeline._call) if of_samples else TransformDraft(image, pipeline._call)
    try:
        pipeline._draft_all(draft)
        return described(pipeline._job(draft))
    except Exception as error:
        return error
    finally:
        draft.call.draws.release()


def job_of(recipe: Any, image: Any, pipeline: Any) -> Any:
    """The job that the core would run, None of several; NotImplemented where it leaves the call to Python."""
    parts = recipe.job(image, pipeline.transforms)
    pipeline._call.draws.release()
    if parts is NotImplemented or parts is None:
        return parts
    program, source, size, mode, number, interleaved, flat = parts
    dtype = next(dtype for dtype, (other, _) in DTYPES.items() if other == number)
    return Job(program, source, TENSOR if mode is None else PIL_IMAGE, size, mode, dtype, flat, interleaved)


def natively(pipeline: Any, recipe: Any, image: Any) -> Any:
    """The same of the recipe; NotImplemented where it leaves the call to Python."""
    job = job_of(recipe, image, pipeline)
    return job if job is NotImplemented else described(job)


#: The dtypes of masks whose samples are larger than bytes, and which the core moves.
WIDE = (torch.int16, torch.int32, torch.int64, torch.float32)


def is_part(tensor: torch.Tensor) -> bool:
    """Whether a tensor may be some rows and columns of a contiguous one."""
    return sum((side - 1) * step for side, step in zip(tensor.shape, tensor.stride())) + 1 > tensor.numel()


def same(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, torch.Tensor):
        plain, its = one.as_subclass(torch.Tensor), other.as_subclass(torch.Tensor)
        laid = plain.stride() == its.stride() or not plain.numel()
        # Of other masks than bytes Python's result is torch's, which may be a part of a larger one.
        may_be_wide = isinstance(one, tv_tensors.Mask) or plain.dtype is not torch.uint8
        laid = laid or (may_be_wide and plain.is_contiguous() and (its.is_contiguous() or is_part(its)))
        return laid and plain.dtype == its.dtype and torch.equal(plain, its) and vars(one) == vars(other)
    if isinstance(one, Image.Image):
        return bool(one.mode == other.mode and one.info == other.info and one.tobytes() == other.tobytes())
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other)
    if isinstance(one, dict):
        return list(one) == list(other) and same(list(one.values()), list(other.values()))
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def owners(result: Any, sample: Any) -> list[Any]:
    """The number of the leaf of a sample that each leaf of the result is, and of the one whose memory it has."""
    given = tree_leaves(sample)
    memory = [leaf.data_ptr() if isinstance(leaf, torch.Tensor) and leaf.numel() else None for leaf in given]
    found = []
    for leaf in tree_leaves(result):
        shared = isinstance(leaf, torch.Tensor) and leaf.numel() and leaf.data_ptr() in memory
        same_object = [number for number, one in enumerate(given) if one is leaf]
        found.append((same_object, memory.index(leaf.data_ptr()) if shared else None))
    return found


def states_of(pipeline: Any) -> tuple[bytes, Any]:
    """The states of the pipeline's generator and of Python's."""
    return state_of(pipeline).numpy().tobytes(), random.getstate()


def compared(pipeline: Any, image: Any, seed: int) -> str:
    """Who makes a call: "native" where the core does, after it was found to do what Python does."""
    recipe = pipeline._recipe()
    if recipe is None:
        return "no recipe"
    torch.manual_seed(seed)
    random.seed(seed)
    state, words = state_of(pipeline), random.getstate()

    def start() -> None:
        set_state(pipeline, state)
        random.setstate(words)

    before = states_of(pipeline)
    ours = NotImplemented if isinstance(recipe, Parts) else natively(pipeline, recipe, image)
    after = states_of(pipeline)
    if ours is NotImplemented and not isinstance(recipe, Parts):
        assert after == before
        assert recipe.call(image, pipeline.transforms) is NotImplemented
        assert states_of(pipeline) == before
        return "declined"
    if not isinstance(image, (tuple, list, dict)) and not isinstance(recipe, Parts):
        start()
        found = by_python(pipeline, image)
        assert found == ours or isinstance(found, Exception)
        assert states_of(pipeline) == after
    start()
    # Between parts, crops are views of the image that a step in place writes into.
    kept = copy.deepcopy(image) if isinstance(recipe, Parts) else image
    try:
        expected = pipeline._run(kept, pipeline._call)
    except Exception as error:
        # Of what Python does last. The text may end in the sample, with or without drafts.
        start()
        with pytest.raises(type(error), match=re.escape(str(error)[:60])):
            recipe.call(image, pipeline.transforms)
        assert isinstance(recipe, Parts) or states_of(pipeline) == after
        return "failed"
    if isinstance(recipe, Parts):
        after = states_of(pipeline)
    assert states_of(pipeline) == after
    start()
    result = recipe.call(image, pipeline.transforms)
    assert same(result, expected)
    assert owners(result, image) == owners(expected, kept)
    assert states_of(pipeline) == after
    return "in parts" if isinstance(recipe, Parts) else "native"


#: Pillow's modes that the core reads, besides L and RGB.
OTHER_MODES = ("LA", "RGBA", "CMYK", "YCbCr", "HSV")

#: Modes that the core decodes to.
DECODED_MODES = ("L", "LA", "RGB", "RGBA")


def noise(r: Random, height: int, width: int, channels: int) -> np.ndarray:
    return np.random.default_rng(r.randrange(2**32)).integers(0, 256, (height, width, channels), dtype=np.uint8)


def plain_image(r: Random, kind: str) -> Any:
    """An image of a container, of one of Pillow's modes, or in the two of four channels; or another kind."""
    if kind == "encoded":
        return LazyImage(encoded(r), r.choice(DECODED_MODES), exif=r.random() < 0.7)
    if kind in ("stack", "strided", "floats"):
        leading = r.choice([(2,), (1, 2), (1,), (2, 1, 2)]) if kind == "stack" else ()
        dtype = torch.float32 if kind == "floats" else torch.uint8
        return tensor_of(r, (*leading, 3, r.randint(1, 40), r.randint(1, 40)), dtype)
    channels = 4 if kind.startswith("four") else 1 if kind == "L" else 3
    pixels = noise(r, r.randint(1, 40), r.randint(1, 40), channels)
    if kind in ("tensor", "four planes"):
        return torch.from_numpy(pixels).permute(2, 0, 1).contiguous()
    if kind in ("array", "four"):
        return pixels.view(r.choice([np.ndarray, np.memmap]))
    image = Image.fromarray(pixels[:, :, 0] if kind == "L" else pixels)
    return image if kind in ("L", "RGB") else told(r, image if kind == "told" else image.convert(kind))


def told(r: Random, image: Image.Image) -> Image.Image:
    """The image with metadata, which results have to copy, or lose, as Pillow does."""
    image.info = {"dpi": (72, 72), "list": [1, 2]}
    if r.random() < 0.3:
        image.info["transparency"] = 3 if image.mode == "L" else (1, 2, 3)
    return image


def encoded(r: Random) -> bytes:
    """A small JPEG or PNG, which may have an orientation."""
    format, mode = r.choice(
        [("JPEG", "L"), ("JPEG", "RGB"), ("PNG", "L"), ("PNG", "LA"), ("PNG", "RGB"), ("PNG", "RGBA")]
    )
    exif = Image.Exif()
    exif[0x112] = r.randint(1, 8)
    image = Image.fromarray(noise(r, r.randint(1, 40), r.randint(1, 40), 3)).convert(mode)
    return stored(image, format, exif=exif, quality=r.choice([60, 90]))


def stored(image: Image.Image, format: str, **options: Any) -> bytes:
    """The bytes of a file of an image."""
    file = io.BytesIO()
    image.save(file, format, **options)
    return file.getvalue()


def random_tensor(r: Random) -> torch.Tensor:
    """A tensor of bytes or of floats, of any strides, with leading dimensions or without an axis of channels."""
    leading = r.choice([(), (), (1,), (3,), (2, 1), (2, 3), (1, 2, 2)])
    channels = (r.choice([1, 2, 3, 3, 3, 3, 4, 5, 9]),) if leading or r.random() < 0.9 else ()
    shape = (*leading, *channels, side(r) + r.choice([0, 9]), side(r) + r.choice([0, 9]))
    others = [torch.float16, torch.float64, torch.int16]
    return tensor_of(r, shape, r.choice([*[torch.uint8] * 8, *[torch.float32] * 3, r.choice(others)]))


def tensor_of(r: Random, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    """A tensor of this shape and dtype, of any strides."""
    order = list(range(len(shape)))
    way = r.choice(["contiguous", "interleaved", "interleaved", "cut", "cut", "stepped", "mixed", "expanded"])
    if way == "mixed":
        r.shuffle(order)
    elif len(shape) > 2 and (way == "interleaved" or r.random() < 0.3):
        order = [*order[:-3], -2, -1, -3]
    room = [shape[axis] for axis in order]
    step = r.choice([1, 2]) if way == "stepped" else 1
    more = [r.choice([0, 0, 2]) if way == "cut" else 0 for _ in room]
    memory = [step * length + extra for length, extra in zip(room, more)]
    numbers = np.random.default_rng(r.randrange(2**32)).integers(0, 256, memory, dtype=np.uint8)
    values = torch.from_numpy(numbers)
    tensor = values if not dtype.is_floating_point else values.to(dtype) / 255
    for axis, (length, extra) in enumerate(zip(room, more)):
        tensor = tensor.narrow(axis, r.choice([0, extra]), step * length)
    tensor = tensor[(slice(None, None, step),) * len(room)]
    back = [0] * len(order)
    for place, axis in enumerate(order):
        back[axis] = place
    tensor = tensor.permute(back).to(dtype) if dtype is torch.int16 else tensor.permute(back)
    if way == "expanded" and len(shape) > 3:
        tensor = tensor[:1].expand(shape)
    return tensor


def random_image(r: Random) -> Any:
    channels = r.choice([1, 3, 3, 3])
    kind = r.choice([*["pil"] * 6, "mode", "array", "tensor", "tensor", "strided", "strided", "odd"])
    if kind in ("array", "tensor") and r.random() < 0.2:
        channels = r.choice([2, 4])
    pixels = noise(r, side(r) + r.choice([0, 9]), side(r) + r.choice([0, 9]), channels)
    if kind == "array":
        return pixels[:, :: r.choice([1, -1])].view(r.choice([np.ndarray, np.memmap]))
    planes = torch.from_numpy(pixels).permute(2, 0, 1)
    if kind == "tensor":
        return planes.contiguous() if r.random() < 0.8 else planes
    if kind == "strided":
        return random_tensor(r)
    image = Image.fromarray(pixels[:, :, 0] if channels == 1 else pixels)
    if kind == "pil":
        return told(r, image) if r.random() < 0.1 else image
    if kind == "mode":
        image = image.convert(r.choice(OTHER_MODES))
        return told(r, image) if r.random() < 0.2 else image
    return r.choice([image.convert("P"), pixels[:, :, 0], planes[0], planes[None], planes / 255, 7])
