"""Hugging Face image processors, and pipelines of them, that make their results by fastaug's kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

import fastaug.transforms as T
from fastaug._draft.interpolation import as_interpolation
from fastaug.adapters import _processors
from fastaug.adapters._cells import Move, Store
from fastaug.transforms import InterpolationMode, v2
from fastaug.transforms._base import Transform
from fastaug.transforms.v2 import functional as F
from fastaug.transforms.v2._utils import query_size

if TYPE_CHECKING:
    from fastaug._draft.draft import Draft

__all__ = ["installed", "pipeline_of", "processor"]

#: Sizes of images that are tried before a pipeline is returned.
_TRIED = ((480, 640), (321, 200))


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

    It supports processors that resize, pad, crop, rescale and normalise, such as those of ViT, CLIP, DINOv2, SigLIP and
    ConvNeXT, with the Pillow backend ("slow") or the torchvision backend ("fast"). How, the processor's own code says,
    once for each size of image.

    Args:
        processor: the image processor. For a processor of several kinds of inputs, its ``image_processor``.

    Returns:
        A ``Compose`` of RGB images, given as PIL images, handles, paths, encoded bytes or dictionaries of them. It
        returns a float32 tensor [3, height, width], and its ``batch`` returns ``pixel_values``, [N, 3, height, width].
        Other modes are converted to RGB by ``Image.convert``. The processor first puts transparent pixels on white, if
        it converts.

    Raises:
        ImportError: transformers is not installed, or has no backends of image processors.
        TypeError: not an image processor of a known backend.
        ValueError: the processor returns more than ``pixel_values`` of one image, or makes them in another way; the
            message says how.

    Example::

        from fastaug.adapters.transformers import pipeline_of

        processor = AutoImageProcessor.from_pretrained("google/vit-base-patch16-224")
        pixel_values = pipeline_of(processor).batch(paths)
    """
    if not _processors.is_known(processor):
        raise TypeError(f"processor should be an image processor of transformers, got {type(processor)}")
    ours = _processors.drop_in(processor, _processors.Options(None, False, None))
    tried = {_processors.drafted(ours, *size) for size in _TRIED}
    moves, store = next(iter(tried))
    fixed = _processors.is_fixed(ours) and len(tried) == 1 and len(moves) == 1 and moves[0][0] == "resize"
    factor, mean, std = store
    if _processors.is_by_pillow(ours):
        if factor is not None:
            raise ValueError(f"processor should rescale by 1/255, got {_words(store)}")
        steps: list[Any] = [T.Resize(*_resize(moves[0]))] if fixed else [Steps(ours, store)]
        normalize = [T.Normalize(list(mean), list(std))] if mean else []
        return T.Compose([T.Decode(), *steps, T.ToTensor(), *normalize])
    if factor != 1.0 or not mean:
        raise ValueError(f"processor should normalize, got {_words(store)}")
    # Like the backend, normalise unscaled samples in float32.
    steps = [v2.Resize(*_resize(moves[0]))] if fixed else [SampleSteps(ours, store)]
    ends = [v2.ToDtype(torch.float32), v2.Normalize(list(mean), list(std)), v2.ToPureTensor()]
    return v2.Compose([T.Decode(), v2.ToImage(), *steps, *ends])


def _words(store: Store) -> str:
    factor, mean, _ = store
    return f"samples {'divided by 255' if factor is None else f'times {factor}'}{', normalized' if mean else ''}"


def _resize(move: Move) -> tuple[list[int], InterpolationMode, None, bool]:
    """Return the arguments of a Resize."""
    _, height, width, number, exact, antialias = move
    mode = InterpolationMode.NEAREST_EXACT if exact else as_interpolation(number)
    return [height, width], mode, None, antialias


class _Moves:
    """The moves of an image by a processor's code before its samples become floats, by the image's size."""

    def __init__(self, processor: Any, store: Store) -> None:
        super().__init__()
        self.processor, self.store = processor, store

    def moves(self, height: int, width: int) -> tuple[Move, ...]:
        moves, store = _processors.drafted(self.processor, height, width)
        if store != self.store:
            raise ValueError(f"images of {height}x{width} are normalized in another way: {store}, not {self.store}")
        return moves

    def __repr__(self) -> str:
        return f"{type(self).__name__}({type(self.processor).__name__})"


class Steps(_Moves, Transform):
    """The resizes, pads and crops of an image processor with Pillow's backend."""

    def _draft(self, draft: Draft, params: None) -> None:
        _, height, width = draft.dimensions()
        for move in self.moves(height, width):
            name, *given = move
            if name == "resize":
                draft.resize(*_resize(move))
            elif name == "pad":
                draft.pad(list(given[0]), *given[1:])
            else:
                draft.crop(*given)


class SampleSteps(_Moves, v2.Transform):
    """Those of one with torchvision's backend."""

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        for move in self.moves(*query_size([inpt])):
            name, *given = move
            if name == "resize":
                size, mode, _, antialias = _resize(move)
                inpt = self._call_kernel(F.resize, inpt, size=size, interpolation=mode, antialias=antialias)
            elif name == "pad":
                inpt = self._call_kernel(F.pad, inpt, padding=list(given[0]), fill=given[1])
            else:
                top, left, height, width = given
                inpt = self._call_kernel(F.crop, inpt, top=top, left=left, height=height, width=width)
        return inpt
