"""Explain pipelines: explain()."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from os import PathLike
from typing import Any

import torch

from fastaug import _C
from fastaug._draft.generators import generator_of, untouched
from fastaug._draft.pipeline import blank
from fastaug._inspect import words
from fastaug._inspect.explanation import Explanation, SampleExplanation
from fastaug._inspect.log import Log, logged
from fastaug._inspect.records import Outside, Run
from fastaug._sample.pipeline import SamplePipeline, sample_of


def _image_of(pipeline: Any, image_or_size: Any) -> Any:
    """Return the image or sample, or a black image of that size."""
    if image_or_size is None:
        image_or_size = (512, 512)
    if isinstance(image_or_size, numbers.Integral):
        image_or_size = (int(image_or_size),) * 2
    if isinstance(pipeline, SamplePipeline):
        return sample_of(image_or_size)
    if isinstance(image_or_size, Sequence) and not isinstance(image_or_size, (str, bytes, bytearray, memoryview)):
        return blank(pipeline.transforms, image_or_size)
    return image_or_size


# An address that is not read.
_SOMEWHERE = 4096


def _on_device(log: Log, result: Any, rewrites: int) -> str:
    """Say what a device would do of a call, or why it would not."""
    if not isinstance(result, torch.Tensor):
        return f"not possible: the pipeline has to end in tensors, and this one gives {words.described(result)}"
    runs = [entry for entry in log.timeline if isinstance(entry, Run)]
    apart = [entry for entry in log.timeline if isinstance(entry, Outside) and entry.kind != "delegated"]
    reasons = [f"{entry.name}: {entry.reason}" for entry in apart]
    if any(run.floats for run in runs):
        reasons.append("a device does what begins with bytes, and this does with floats")
    elif len(runs) == 1 and not apart:
        run = runs[0]
        height, width, channels = run.source
        source = _C.from_pointer(_SOMEWHERE, height, width, channels, width * channels, channels, 1, None)
        to, size = run.target, result.element_size()
        row, plane = to.width * size, to.height * to.width * size
        target = _C.into_pointer(_SOMEWHERE, to.dtype, to.height, to.width, to.channels, row, size, plane, None)
        bag = _C.Bag([(run.program, source, target)], rewrites)
        if not bag.unfit:
            kernels = f"{len(bag.specs)} kernel{'s' if len(bag.specs) > 1 else ''}"
            return f"all of it, by {kernels} in {len(bag.launches)} launches, with the other images of a batch"
        reasons.append("a nearest affine map with shear reaches farther than 32768 pixels")
    if not reasons:
        reasons.append("no program of the core's" if not runs else "more than one program")
    return "done on the CPU for this image, and copied, because of " + "; ".join(dict.fromkeys(reasons))


def explain(
    pipeline: Any,
    image_or_size: Any = None,
    plot: str | PathLike[str] | None = None,
    seed: int | None = None,
    device: str | torch.device | None = None,
) -> Explanation:
    """Explain what a pipeline does to an image or a sample: the pipeline's `explain`, also for sizes.

    Runs the pipeline once, with callables of the user; the random generators are left as they were.

    Raises:
        ValueError: another device than "cuda".
    """
    if device is not None and torch.device(device).type != "cuda":
        raise ValueError(f"device should be 'cuda' or None, got {device!r}")
    image = _image_of(pipeline, image_or_size)
    with untouched(generator_of(pipeline), seed=seed):
        result, log = logged(pipeline, image)
    kind = SampleExplanation if isinstance(pipeline, SamplePipeline) else Explanation
    explanation = kind(log, pipeline, image, result)
    if image is image_or_size:
        explanation._image = image
    if device is not None:
        explanation.device = _on_device(log, result, pipeline._call.rewrites)
    if plot is not None:
        explanation.plot(plot)
    return explanation
