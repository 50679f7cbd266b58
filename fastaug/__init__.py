"""fastaug: ``torchvision.transforms``, precompiled. The same pixels from the same seed, many times faster.

Change one line of a training script::

    import fastaug.transforms as T  # instead of: from torchvision import transforms as T

or keep torchvision's transforms, and compile them::

    transform = fastaug.compile(transform)
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fastaug._names import install

if TYPE_CHECKING:
    import torch

    from fastaug import data, io, transforms, tv_tensors
    from fastaug._compile.compiled import Compiled
    from fastaug._image.pillow import DecodeError

__all__ = ["Compiled", "DecodeError", "__version__", "compile", "data", "io", "isa", "transforms", "tv_tensors"]

__version__ = "0.1.0"

install()


def compile(  # as torch.compile, it is not the builtin
    transform: Callable[[Any], Any],
    mode: str = "exact",
    *,
    generator: torch.Generator | None = None,
    dtype: torch.dtype | None = None,
    memory_format: torch.memory_format | None = None,
    arithmetic: str | None = None,
) -> Compiled:
    """A transform that does the same in as few passes over the image as can be.

    Transforms of torchvision's v1 API and of fastaug, a ``Compose`` or ``nn.Sequential`` of them and what they contain
    are read as they are at this moment: later changes of theirs are not seen, and nothing is written to them. Anything
    else works as it is and is called with the image so far: a function of yours, a transform that overrides what a call
    does or has hooks, torchvision's v2 API, a scripted module.

    The same seed gives torchvision's pixels for the container that is passed in, bit for bit, and leaves the random
    generators in the same state. Compiling what was compiled starts from its original again.

    Args:
        transform: a transform, or any other function of an image.
        mode: "exact"; or "fast", which may resample a chain of geometry once instead of step by step and keeps floating
            point between steps. It rules over the mode of what is compiled.
        generator: CPU generator to draw from in place of torch's default one. Functions of yours draw from where they
            draw, and so do RandomChoice and RandomOrder, which take Python's ``random``. Each worker of a DataLoader
            goes on from a state made of the generator's and the worker's seed.
        dtype: float32, float16 or bfloat16: tensors come out as ``.to(dtype)`` would make them.
        memory_format: ``torch.channels_last`` for tensors whose channels lie next to each other in memory,
            ``torch.contiguous_format`` for planes.
        arithmetic: of uint8 tensors. "container" for torchvision's on tensors, as on PIL images it is Pillow's; or
            "pil" for Pillow's on tensors too, for models that were trained on PIL images and are served tensors:
            shapes, errors, the rule of NEAREST and what is done to floats stay the tensor's. None for that of a Compose
            of fastaug's, and "container" for anything else.

    Returns:
        An object to call with an image, that pickles and copies. Its ``transforms`` are what it calls.

    Warns:
        UserWarning: nothing of ``transform`` can be read, so that it is called as it is; with the reason, and what is
            inside it that can be compiled.

    Raises:
        TypeError: ``transform`` is not callable, ``generator`` no generator; when called, a result that is no tensor
            where ``dtype`` or ``memory_format`` is given.
        ValueError: another ``mode``, ``arithmetic``, ``dtype`` or ``memory_format``, or a generator that is not on the
            CPU.

    Example:
        >>> import fastaug, fastaug.transforms as T, torch
        >>> from PIL import Image
        >>> transform = fastaug.compile(T.Compose([T.RandomCrop(24), T.ToTensor()]), dtype=torch.float16)
        >>> transform(Image.new("RGB", (80, 60))).dtype
        torch.float16
    """
    from fastaug._compile.compiled import Compiled

    original = transform.original if isinstance(transform, Compiled) else transform
    return Compiled(original, mode, generator, dtype, memory_format, arithmetic)


def isa() -> str:
    """The instruction set that the pixel kernels use in this process.

    It is the best one that this machine has, or the one that the environment variable ``FASTAUG_ISA`` named when the
    native core was first used.

    Returns:
        One of ``"scalar"``, ``"sse4"``, ``"avx2"``, ``"avx512"``, ``"neon"``.

    Raises:
        ValueError: ``FASTAUG_ISA`` names an instruction set that this build or this machine does not have.

    Example:
        >>> import fastaug
        >>> fastaug.isa() in ("scalar", "sse4", "avx2", "avx512", "neon")
        True
    """
    from fastaug import _C

    return _C.isa()


def __getattr__(name: str) -> Any:
    # torch takes a second to import; `import fastaug` alone must not pay for it.
    if name in ("data", "io", "transforms", "tv_tensors"):
        return importlib.import_module(f"fastaug.{name}")
    if name == "Compiled":
        return importlib.import_module("fastaug._compile.compiled").Compiled
    if name == "DecodeError":
        return importlib.import_module("fastaug._image.pillow").DecodeError
    raise AttributeError(f"module 'fastaug' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
