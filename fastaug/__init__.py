"""fastaug: ``torchvision.transforms``, precompiled. The same pixels from the same seed, many times faster.

Change one line of a training script::

    import fastaug.transforms as T  # instead of: from torchvision import transforms as T

or keep torchvision's transforms, and compile them::

    transform = fastaug.compile(transform)

or change nothing in the program::

    python -m fastaug run train.py
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

from fastaug._compile.adapters import ADAPTERS
from fastaug._switch.report import report
from fastaug._switch.switch import install, uninstall
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
    "install",
    "io",
    "isa",
    "pathology",
    "pillow",
    "register",
    "report",
    "sample_file",
    "to_torchvision",
    "transforms",
    "tv_tensors",
    "uninstall",
]

__version__ = "0.2.0"

install.__module__ = report.__module__ = uninstall.__module__ = "fastaug"

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
    """Return a transform with the same results in as few passes over the image as possible.

    It reads transforms of torchvision and of fastaug, v1 and v2, and a ``Compose`` or ``nn.Sequential`` of them, and
    does not follow their later changes. Anything else is called with the image so far: your own functions, transforms
    that override their call or have hooks, scripted modules.

    The same seed gives torchvision's pixels for the same container, bit for bit, and leaves the random generators in
    the same state. Compiling a compiled transform starts from its original again.

    Args:
        transform: a transform, or any other function of an image.
        mode: "exact"; or "fast", which may resample a chain of geometry once instead of step by step and keeps floating
            point between steps. It overrides the mode of ``transform``.
        generator: CPU generator to draw from instead of torch's default one. Your own functions, and RandomChoice and
            RandomOrder with Python's ``random``, keep their generators. Each worker of a DataLoader continues from a
            state made of the generator's and the worker's seed.
        dtype: float32, float16 or bfloat16: tensors are the results of ``.to(dtype)``.
        memory_format: ``torch.channels_last`` for tensors whose channels lie next to each other in memory,
            ``torch.contiguous_format`` for planes.
        arithmetic: of uint8 tensors: "container" for torchvision's, or "pil" for Pillow's, with the tensor's shapes,
            errors, rule of NEAREST and floats, for models that were trained on PIL images. None for that of a Compose
            of fastaug's, and "container" for anything else.

    Returns:
        An object to call with an image, which pickles and copies. Its ``transforms`` are its steps.

    Warns:
        UserWarning: nothing of ``transform`` can be read, with the reason, and its parts that can be compiled.

    Raises:
        TypeError: ``transform`` is not callable, or ``generator`` is not a generator; when called, a result that is not
            a tensor, with ``dtype`` or ``memory_format``.
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


def to_torchvision(transform: Callable[..., Any]) -> Any:
    """Return torchvision's own transform with the same settings, for pickles and checkpoints that load without fastaug.

    It takes transforms of ``fastaug.transforms``, v1 and v2, and what contains them: ``Compose`` and other containers,
    ``nn.Sequential``, ``nn.ModuleList``, and torchvision's containers. Of a compiled transform it is the original. The
    same seed gives the same pixels. A transform that occurs several times stays one object, and hooks are kept.
    Functions of fastaug that torchvision has, as in a ``Lambda``, become torchvision's.

    Torchvision's objects, and your own functions and classes, are kept as they are: the same object is returned if
    nothing of it is fastaug's.

    Args:
        transform: a transform, or another callable. It is not changed.

    Raises:
        ImportError: torchvision is not installed.
        TypeError: a transform or function that torchvision does not have, or only in a newer release than the installed
            one, such as ``Decode``, ``fastaug.Views`` and those of ``fastaug.pathology``; a subclass of fastaug's,
            such as a :class:`fastaug.Drawn`; an object of your own that holds one of these; or something that is not
            callable.
        ValueError: a setting that torchvision does not have: ``mode="fast"``, ``arithmetic="pil"``, ``generator``,
            ``dtype`` or ``memory_format``.

    Example:
        >>> import fastaug, fastaug.transforms as T
        >>> transform = fastaug.to_torchvision(T.Compose([T.Resize(32), T.ToTensor()]))
        >>> type(transform)
        <class 'torchvision.transforms.transforms.Compose'>
    """
    from fastaug._inspect import theirs

    return theirs.of(transform)


def explain(
    transform: Callable[[Any], Any],
    image_or_size: Any = None,
    *,
    plot: str | PathLike[str] | None = None,
    seed: int | None = None,
    device: str | torch.device | None = None,
) -> Explanation:
    """Return the plan of a transform for an image: its passes over pixels, and the reasons that separate them.

    Transforms are compiled first by :func:`compile`, except pipelines of fastaug, which have this as a method.

    Args:
        transform: a transform, or any other function of an image.
        image_or_size: an image, or (height, width); for transforms of v2 also a sample.
        plot: path of a picture of the plan to write.
        seed: of the draws; by default they are those of the next call.
        device: "cuda", for the steps that ``batch`` would leave to the CPU there, and why. No device is needed.

    Returns:
        An object that prints as a table, and shows a picture in a notebook; ``figure()`` returns that picture.

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
    """Register a reader, by which :func:`compile` reads transforms of your own class or of another library's.

    It reads objects of exactly that class, alone or inside others. Subclasses need their own readers. An object that
    has hooks, or its own ``__call__`` or ``forward``, is called instead, with a warning.

    Args:
        cls: a class of transforms; or a function, which is then the transform.
        reader: a function of the transform that returns an equal transform or a list of transforms to call in order:
            torchvision's, fastaug's, your own :class:`Drawn`, others with readers, or any callables. It returns None
            for a transform that it cannot read. A class can be a reader. Without it, ``register`` is a decorator.

    Returns:
        The reader.

    Raises:
        TypeError: ``cls`` is neither a class nor a function, or ``reader`` is not callable; when something is compiled,
            a reader that returns something other than transforms.
        ValueError: the class has a reader already, or is one of torchvision's or fastaug's that need none.

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
    """Return the instruction set of the pixel kernels in this process.

    It is the best one of this machine, or the value of the environment variable ``FASTAUG_ISA`` at the first use of the
    native core.

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
    """Test this machine: every op, on images of every container, against the installed torchvision and Pillow.

    It takes less than a minute, and shows its progress. Pixels, types, errors and the states of random generators must
    be equal; floating-point images within 1e-5. The generators are restored. ``python -m fastaug check`` prints it. The
    method ``check`` of a pipeline compares it on your own images.

    Returns:
        An object that is true if nothing differs, and prints as a table. Its attributes are ``cells``, one for each op,
        container and route, ``differing`` and ``unexpected`` ones of them, ``torchvision``, whether that is installed,
        ``info`` and ``seconds``.

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
    """Return the environment of fastaug: processor, instruction set, GPU, versions, and the rules that follow.

    ``python -m fastaug info`` prints it. The rule of blurs is the present finding about torch's convolution.

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


_HOMES = {
    "Compiled": "fastaug._compile.compiled",
    "DecodeError": "fastaug._image.pillow",
    "Drawn": "fastaug._compile.drawn",
    "Views": "fastaug._views.views",
}


def __getattr__(name: str) -> Any:
    # torch takes a second to import, which `import fastaug` alone must not do.
    if name in ("data", "io", "pathology", "pillow", "transforms", "tv_tensors"):
        return importlib.import_module(f"fastaug.{name}")
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'fastaug' has no attribute {name!r}")


def load_ipython_extension(shell: Any) -> None:
    """Switch torchvision's transforms, for ``%load_ext fastaug`` in a notebook."""
    install()


def unload_ipython_extension(shell: Any) -> None:
    uninstall()


def __dir__() -> list[str]:
    return sorted(__all__)
