"""Hugging Face image processors, and pipelines of them, that make their results by fastaug's kernels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch

import fastaug.transforms as T
from fastaug.adapters import _processors
from fastaug.transforms import InterpolationMode, v2
from fastaug.transforms._base import Transform
from fastaug.transforms.v2 import functional as F
from fastaug.transforms.v2._utils import query_size

if TYPE_CHECKING:
    from fastaug._draft.draft import Draft

__all__ = ["installed", "pipeline_of", "processor"]

# In the order of Pillow's numbers.
_BY_NUMBER = ("NEAREST", "LANCZOS", "BILINEAR", "BICUBIC", "BOX", "HAMMING")
_PIL_FILTERS = {name: InterpolationMode[name] for name in _BY_NUMBER}
_TENSOR_FILTERS = {name: _PIL_FILTERS[name] for name in ("BILINEAR", "BICUBIC")}

# Methods of a backend that define the result.
_METHODS = ("__call__", "preprocess", "_preprocess", "process_image", "convert_to_rgb", "resize", "center_crop") + (
    "rescale",
    "normalize",
    "rescale_and_normalize",
    "_fuse_mean_std_and_rescale_factor",
)


def processor(p: Any, dtype: torch.dtype | None = None, recycle: bool = False, num_threads: int | None = None) -> Any:
    """Return an image processor with the same calls and the same results, bit for bit, in less time.

    It is an object of a class derived from that of ``p``, and has its attributes: options of calls, ``to_dict``,
    ``save_pretrained`` and results are as before, and it pickles. Besides images, it takes paths (``pathlib.Path``),
    encoded bytes and handles of :func:`fastaug.io.lazy`, which are RGB images. What it does not know, the model's own
    code does, errors included. Its method ``explain(images, ...)`` makes a call and says what of it that was.

    Args:
        p: the image processor; or a processor that holds one as its ``image_processor``, which is replaced in a copy.
        dtype: float32, float16 or bfloat16: results are those of ``BatchFeature.to(dtype)``.
        recycle: whether results may lie in the memory of the result before the last one of the same thread. A result
            is then valid until the next call but one.
        num_threads: of a call for several images.

    Returns:
        The processor; ``p`` itself if its backend is none of those that are known.

    Raises:
        ImportError: transformers is not installed, or has no backends of image processors.
        ValueError: another ``dtype``, or ``num_threads`` below one.

    Example::

        from fastaug.adapters.transformers import processor

        p = processor(AutoImageProcessor.from_pretrained("Qwen/Qwen3-VL-8B-Instruct"))
        inputs = p(images, return_tensors="pt")
    """
    return _processors.drop_in(p, _processors.Options(dtype, recycle, num_threads))


def installed(dtype: torch.dtype | None = None, recycle: bool = False, num_threads: int | None = None) -> Any:
    """Have ``from_pretrained`` hand out image processors of :func:`processor`.

    That holds for ``AutoImageProcessor``, ``AutoProcessor`` and the classes of models, until the method ``remove`` of
    the result is called, or to the end of a ``with`` block.

    Args:
        dtype, recycle, num_threads: as for :func:`processor`.

    Returns:
        The switch.

    Raises:
        ImportError, ValueError: as for :func:`processor`.

    Example::

        from fastaug.adapters.transformers import installed

        with installed():
            p = AutoProcessor.from_pretrained("Qwen/Qwen3-VL-8B-Instruct")
    """
    return _processors.Installed(_processors.Options(dtype, recycle, num_threads))


def pipeline_of(processor: Any) -> Any:
    """Return a pipeline with the results of ``processor(images=image)``, bit for bit.

    It supports processors of transformers 5 that resize, crop, rescale by 1/255 and normalise, such as those of ViT,
    CLIP, DINOv2 and SigLIP, with the Pillow backend ("slow") or the torchvision backend ("fast").

    Args:
        processor: the image processor. For a processor of several kinds of inputs, its ``image_processor``.

    Returns:
        A ``Compose`` of RGB images, given as PIL images, handles, paths, encoded bytes or dictionaries of them. It
        returns a float32 tensor [3, height, width], and its ``batch`` returns ``pixel_values``, [N, 3, height, width].
        Other modes are converted to RGB by ``Image.convert``. The processor first puts transparent pixels on white, if
        it converts.

    Raises:
        ImportError: transformers is not installed, or is older than 5 and has no backends of image processors.
        TypeError: not an image processor of one of the two backends.
        ValueError: the processor has an unsupported step, which the message names.

    Example::

        from fastaug.adapters.transformers import pipeline_of

        processor = AutoImageProcessor.from_pretrained("google/vit-base-patch16-224")
        pixel_values = pipeline_of(processor).batch(paths)
    """
    from transformers.image_processing_backends import PilBackend, TorchvisionBackend

    backend: Any = next((one for one in (PilBackend, TorchvisionBackend) if isinstance(processor, one)), None)
    if backend is None:
        raise TypeError(f"processor should be an image processor of transformers, got {type(processor)}")
    for name in _METHODS:
        if name in vars(processor) or getattr(type(processor), name, None) is not getattr(backend, name, None):
            raise ValueError(f"processor has a {name} of its own, which is not read: {type(processor).__name__}")
    by_pillow = backend is PilBackend
    _check(processor)
    mean, std = _three(processor.image_mean), _three(processor.image_std)
    if by_pillow:
        ends: list[Any] = [T.ToTensor(), T.Normalize(mean, std)]
        return T.Compose([T.Decode(), *_geometry(processor, T.Resize, _PIL_FILTERS, Crop), *ends])
    # Like the backend, normalise unscaled samples in float32.
    unit = 1.0 / processor.rescale_factor
    mean, std = (torch.tensor(values) * unit for values in (mean, std))
    steps = _geometry(processor, v2.Resize, _TENSOR_FILTERS, SampleCrop)
    ends = [v2.ToDtype(torch.float32), v2.Normalize(mean.tolist(), std.tolist()), v2.ToPureTensor()]
    return v2.Compose([T.Decode(), v2.ToImage(), *steps, *ends])


def _check(processor: Any) -> None:
    """Raise ValueError unless the processor rescales by 1/255, normalises, and does not pad."""
    for name, wanted in (("do_rescale", True), ("do_normalize", True), ("do_pad", False)):
        if bool(getattr(processor, name, None)) is not wanted:
            raise ValueError(f"processor should have {name} {wanted}, got {getattr(processor, name, None)}")
    if processor.rescale_factor != 1 / 255:
        raise ValueError(f"processor should have the rescale_factor 1/255, got {processor.rescale_factor}")


def _geometry(processor: Any, resize: Any, filters: Mapping[str, InterpolationMode], crop: Any) -> list[Any]:
    steps = []
    if processor.do_resize:
        sides = _sides(processor.size)
        interpolation = filters.get(_filter(processor.resample))
        if interpolation is None:
            raise ValueError(f"processor should resample by one of {', '.join(filters)}, got {processor.resample}")
        if sides.keys() == {"shortest_edge"}:
            steps.append(resize(sides["shortest_edge"], interpolation, antialias=True))
        elif sides.keys() == {"height", "width"}:
            steps.append(resize([sides["height"], sides["width"]], interpolation, antialias=True))
        else:
            raise ValueError(f"processor should have a size of height and width, or shortest_edge, got {sides}")
    if processor.do_center_crop:
        sides = _sides(processor.crop_size)
        if sides.keys() != {"height", "width"}:
            raise ValueError(f"processor should have a crop_size of height and width, got {sides}")
        steps.append(crop((sides["height"], sides["width"])))
    return steps


def _sides(size: Any) -> dict[str, int]:
    """Return the given sides by name."""
    return {name: int(value) for name, value in dict(size).items() if value is not None}


def _filter(resample: Any) -> str:
    """Return Pillow's name of a filter, given its number or torchvision's member. Both backends default to bilinear."""
    if resample is None:
        return "BILINEAR"
    name = getattr(resample, "name", None)
    if name is None and isinstance(resample, int) and 0 <= resample < len(_BY_NUMBER):
        name = _BY_NUMBER[resample]
    return str(name)


def _three(values: Any) -> list[float]:
    return [float(value) for value in values] if isinstance(values, (list, tuple)) else [float(values)] * 3


class Crop(Transform):
    """A center crop that rounds down, where torchvision rounds to even, and pads with zeros, more of them in front."""

    def __init__(self, size: tuple[int, int]) -> None:
        super().__init__()
        self.size = size

    def _draft(self, draft: Draft, params: None) -> None:
        _, height, width = draft.dimensions()
        rows, columns = self.size
        above, left = max(rows - height, 0), max(columns - width, 0)
        if above or left:
            draft.pad([left - left // 2, above - above // 2, left // 2, above // 2], 0, "constant")
        draft.crop(max(height - rows, 0) // 2, max(width - columns, 0) // 2, rows, columns)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(size={self.size})"


class SampleCrop(v2.Transform):
    """A center crop like :class:`Crop`, with more of the zeros behind."""

    def __init__(self, size: tuple[int, int]) -> None:
        super().__init__()
        self.size = size

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        height, width = query_size([inpt])
        rows, columns = self.size
        above, left = max(rows - height, 0), max(columns - width, 0)
        if above or left:
            sides = [left // 2, above // 2, (left + 1) // 2, (above + 1) // 2]
            inpt = self._call_kernel(F.pad, inpt, padding=sides, fill=0)
        top, left = max(height - rows, 0) // 2, max(width - columns, 0) // 2
        return self._call_kernel(F.crop, inpt, top=top, left=left, height=rows, width=columns)
