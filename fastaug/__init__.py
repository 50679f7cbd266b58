"""fastaug: ``torchvision.transforms``, precompiled. The same pixels from the same seed, many times faster.

Change one line of a training script::

    import fastaug.transforms as T  # instead of: from torchvision import transforms as T

or keep torchvision's transforms, and compile them::

    transform = fastaug.compile(transform)
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

from fastaug._compile.adapters import ADAPTERS
from fastaug._tv_tensors import absent

if TYPE_CHECKING:
    from os import PathLike

    import torch

    from fastaug import data, io, pathology, pillow, transforms, tv_tensors
    from fastaug._compile.compiled import Compiled
    from fastaug._compile.drawn import Drawn
    from fastaug._image.pillow import DecodeError
    from fastaug._inspect.explanation import Explanation
    from fastaug._inspect.info import Info
    from fastaug._self_test.run import SelfTest
    from fastaug._views.views import Views

__all__ = [
    "Compiled",
    "DecodeError",
    "Drawn",
    "Views",
    "__version__",
    "check",
    "compile",
    "data",
    "explain",
    "info",
    "io",
    "isa",
    "pathology",
    "pillow",
    "register",
    "sample_file",
    "transforms",
    "tv_tensors",
]

__version__ = "0.2.0"

ADAPTERS.update(
    {name: f"fastaug.adapters.{name}" for name in ("dinov2", "lightly", "open_clip", "timm", "torchvision")}
)
absent.stand_in()


class _Moved(ModuleType):
    """A module of an earlier version, of which pickles name one class."""

    def __getattr__(self, name: str) -> Any:
        if name != _MOVED[self.__name__][1]:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return getattr(importlib.import_module(_MOVED[self.__name__][0]), name)


_MOVED = {
    "fastaug._compiled": ("fastaug", "Compiled"),
    "fastaug._encoded": ("fastaug.io", "LazyImage"),
    "fastaug._interpolation": ("fastaug.transforms", "InterpolationMode"),
}
sys.modules.update({name: _Moved(name, "Moved.") for name in _MOVED})


def compile(  # as torch.compile, it is not the builtin
    transform: Callable[[Any], Any],
    mode: Literal["exact", "fast"] = "exact",
    *,
    generator: torch.Generator | None = None,
    dtype: torch.dtype | None = None,
    memory_format: torch.memory_format | None = None,
    arithmetic: Literal["container", "pil"] | None = None,
) -> Compiled:
    """A transform that does the same in as few passes over the image as can be.

    Transforms of torchvision and of fastaug, v1 and v2, a ``Compose`` or ``nn.Sequential`` of them and what is inside
    are read as they are at this moment: later changes of theirs are not seen, and nothing is written to them. Anything
    else works as it is and is called with the image so far: a function of yours, a transform that overrides what a call
    does or has hooks, a scripted module. Transforms of v2 are called with samples, as before.

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
    from fastaug._compile.read_samples import takes_samples
    from fastaug._compile.samples import CompiledSamples
    from fastaug._compile.views import CompiledViews, views_of

    original = transform.original if isinstance(transform, Compiled) else transform
    made: type[Compiled] = CompiledSamples if takes_samples(original) else Compiled
    views = views_of(original)
    if views is not None:
        made = CompiledViews
    return made(original, mode, generator, dtype, memory_format, arithmetic, found=views)


def explain(
    transform: Callable[[Any], Any],
    image_or_size: Any = None,
    *,
    plot: str | PathLike[str] | None = None,
    seed: int | None = None,
    device: str | torch.device | None = None,
) -> Explanation:
    """The plan of any transform for an image: the passes over pixels that it becomes, and what keeps them apart.

    A transform or Compose of torchvision's, or whatever else :func:`compile` takes, is compiled first; pipelines of
    fastaug, which have this as a method, are taken as they are.

    Args:
        transform: a transform, or any other function of an image.
        image_or_size: an image, or (height, width); for transforms of v2 also a sample.
        plot: path of a picture of the plan to write.
        seed: of the draws; by default they are those of the next call.
        device: "cuda", to be told what ``batch`` would leave to the CPU there, and why; there need not be one.

    Returns:
        An object that prints as a table, and shows a picture in a notebook; its ``figure()`` is that picture.

    Raises:
        TypeError: ``transform`` is not callable.
        ValueError: another device.

    Example:
        >>> import fastaug
        >>> from torchvision import transforms
        >>> plan = fastaug.explain(transforms.Compose([transforms.Resize(32), transforms.ToTensor()]), (60, 80))
        >>> [step["name"] for step in plan.steps]
        ['Resize', 'ToTensor']
    """
    from fastaug._inspect.methods import SeenPipeline

    pipeline = transform if isinstance(transform, SeenPipeline) else compile(transform)
    return pipeline.explain(image_or_size, plot, seed, device)


def register(cls: Any, reader: Callable[[Any], Any] | None = None) -> Any:
    """Tells :func:`compile` what the transforms of a class of yours, or of another library, are made of.

    Objects of exactly that class are read by ``reader`` from then on, whether they are compiled alone or are inside
    others. A class that is derived from it may do something else: it needs a reader of its own. So does an object that
    has hooks, or a ``__call__`` or ``forward`` of its own; it stays as it is and is called, of which a warning tells.

    Args:
        cls: a class of transforms; or a function, which is then the transform.
        reader: a function that is called with the transform and returns what does the same: one transform, or a list of
            transforms to be called one after the other: torchvision's, fastaug's, a :class:`Drawn` of yours, others
            that have readers, or any callables, which are called. Or None, for one that is not to be read. A class is
            a reader as well: it is made of the transform. Without it, ``register`` is a decorator.

    Returns:
        The reader.

    Raises:
        TypeError: ``cls`` is neither a class nor a function, or ``reader`` is not callable; when something is compiled,
            a reader that returns something else than transforms.
        ValueError: the class has a reader already, or is one of torchvision's or fastaug's that are read without.

    Example:
        >>> import fastaug, fastaug.transforms as T
        >>> from PIL import Image
        >>> class Thumbnail:
        ...     def __init__(self, side):
        ...         self.side = side
        ...
        ...     def __call__(self, image):
        ...         return image.resize((self.side, self.side), Image.Resampling.BICUBIC)
        >>> @fastaug.register(Thumbnail)
        ... def read(thumbnail):
        ...     return T.Resize((thumbnail.side, thumbnail.side), T.InterpolationMode.BICUBIC)
        >>> fastaug.compile(Thumbnail(8)).transforms
        (Resize(size=(8, 8), interpolation=bicubic, max_size=None, antialias=True),)
    """
    from fastaug._compile import registry

    return registry.register(cls, reader)


def isa() -> str:
    """The instruction set that the pixel kernels use in this process.

    It is the best one that this machine has, or the one that the environment variable ``FASTAUG_ISA`` named when the
    native core was first used.

    Returns:
        One of ``"scalar"``, ``"sse4"``, ``"avx2"``, ``"avx512"``, ``"avx512vbmi"``, ``"neon"``.

    Raises:
        ValueError: ``FASTAUG_ISA`` names an instruction set that this build or this machine does not have.

    Example:
        >>> import fastaug
        >>> fastaug.isa() in ("scalar", "sse4", "avx2", "avx512", "avx512vbmi", "neon")
        True
    """
    from fastaug import _C

    return _C.isa()


def check() -> SelfTest:
    """Tests this machine: every op, on images of every container, against the torchvision and Pillow installed here.

    It takes less than a minute, and shows how far it is. Transforms and functions of both of torchvision's APIs are
    called by import, and its objects compiled; functions of :mod:`fastaug.pillow` and files are compared with Pillow's.
    Pixels, types, errors and the states of random generators have to be equal; floating-point images within 1e-5. The
    random generators are afterwards as they were before. ``python -m fastaug check`` prints it.

    Pipelines have a ``check`` of their own, which compares them on images of yours.

    Returns:
        An object that is true where nothing differs, and prints as a table. Its attributes are ``cells``, one for each
        op, container and route, ``differing`` and ``unexpected`` ones of them, ``torchvision``, whether that is
        installed, ``info`` and ``seconds``.

    Raises:
        ValueError: ``FASTAUG_ISA`` names an instruction set that this build or this machine does not have.

    Example:
        >>> import fastaug
        >>> result = fastaug.check()  # doctest: +SKIP
        >>> print(result.summary()[0])  # doctest: +SKIP
        Equal in all 22,625 calls, pixels and random generators.
    """
    from fastaug._self_test import run

    return run.run(compile, __version__)


def info() -> Info:
    """What fastaug uses in this process: processor, instruction set, GPU, versions, and the rules that follow.

    ``python -m fastaug info`` prints it. Of blurs it says what has been found about torch's convolution by then.

    Returns:
        An object that prints as a table. Its attributes are ``fastaug``, ``processor``, ``cpus``, ``isa``, ``isas``,
        ``jpeg``, ``cuda``, ``versions`` and ``rules``.

    Raises:
        ValueError: ``FASTAUG_ISA`` names an instruction set that this build or this machine does not have.

    Example:
        >>> import fastaug
        >>> sorted(fastaug.info().versions)
        ['NumPy', 'Pillow', 'Python', 'torch', 'torchvision']
    """
    from fastaug._inspect import info as found

    return found.info(__version__)


def sample_file() -> str:
    """Return the path of a photograph that comes with fastaug, to try things on.

    Returns:
        The path of a JPEG file of a cat, 451 pixels wide and 300 high, in RGB. The photograph is by Stefan van der
        Walt, who gave it to the public domain (CC0).

    Example:
        >>> import fastaug
        >>> from PIL import Image
        >>> with Image.open(fastaug.sample_file()) as image:
        ...     image.size
        (451, 300)
    """
    from fastaug._image.sample import PHOTOGRAPH

    return PHOTOGRAPH


def __getattr__(name: str) -> Any:
    # torch takes a second to import; `import fastaug` alone must not pay for it.
    if name in ("data", "io", "pathology", "pillow", "transforms", "tv_tensors"):
        return importlib.import_module(f"fastaug.{name}")
    if name == "Compiled":
        return importlib.import_module("fastaug._compile.compiled").Compiled
    if name == "Drawn":
        return importlib.import_module("fastaug._compile.drawn").Drawn
    if name == "DecodeError":
        return importlib.import_module("fastaug._image.pillow").DecodeError
    if name == "Views":
        return importlib.import_module("fastaug._views.views").Views
    raise AttributeError(f"module 'fastaug' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
