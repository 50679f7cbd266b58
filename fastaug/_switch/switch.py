"""The functions `install` and `uninstall`."""

from __future__ import annotations

import os
import sys
import threading
from types import ModuleType, TracebackType
from typing import Any

from fastaug._switch import children, late, options

_lock = threading.RLock()
_depth = 0

# Switches of other packages, with a method that ends them.
_handed: list[Any] = []

#: The modules whose classes are switched, with the functions of `calls` that do it.
_MODULES = {
    "torchvision.transforms.transforms": ("compose_of_v1", "alone"),
    "torchvision.transforms.autoaugment": ("alone",),
    "torchvision.transforms._presets": ("alone",),
    "torchvision.transforms.v2._container": ("compose_of_v2", "alone"),
    **{
        f"torchvision.transforms.v2._{name}": ("alone",)
        for name in ("augment", "auto_augment", "color", "geometry", "meta", "misc", "temporal", "type_conversion")
    },
}


class Installed:
    """The switch as a context manager: at the end of the block it is as it was before."""

    def __enter__(self) -> Installed:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        uninstall()


def install(*, decode: bool = False, processors: bool = False, report: bool = False) -> Installed:
    """Let torchvision's transforms run at fastaug's speed, in a program that is not changed otherwise.

    Every Compose of ``torchvision.transforms`` and ``transforms.v2``, every preset of a model's weights, and every
    transform that is called by itself is compiled at its second call, and again after it has changed. Results, random
    draws, types, pickles and errors stay torchvision's. What fastaug does not know, and all that torch traces, is
    called as before. :func:`report` says what was switched.

    Call it at any time, before or after torchvision is imported; it imports neither torch nor torchvision itself.
    Processes that the program starts by ``multiprocessing`` are switched as well. ``python -m fastaug run train.py``
    does the same for a program that stays as it is. With the environment variable ``FASTAUG_INSTALL=0`` it does
    nothing.

    Args:
        decode: whether torchvision's ``ImageFolder`` and ``DatasetFolder`` with the default loader read their files by
            fastaug, where their transform is switched. Only what the transform needs is decoded. Pixels are those of
            the installed Pillow, which is tested once.
        processors: whether ``from_pretrained`` of Hugging Face's transformers hands out the image processors of
            :func:`fastaug.adapters.transformers.processor`, which give the same results.
        report: whether the report is printed to stderr when the program ends.

    Returns:
        A context manager, at whose end :func:`uninstall` is called. Without ``with`` it is of no further use.

    Raises:
        TypeError: an argument that is not a bool.

    Example:
        >>> import fastaug
        >>> from PIL import Image
        >>> from torchvision import transforms
        >>> transform = transforms.Compose([transforms.Resize(32), transforms.ToTensor()])
        >>> with fastaug.install():
        ...     results = [transform(Image.new("RGB", (80, 60))) for _ in range(3)]
        >>> results[0].shape
        torch.Size([3, 32, 42])
    """
    global _depth
    for name, value in (("decode", decode), ("processors", processors), ("report", report)):
        if not isinstance(value, bool):
            raise TypeError(f"{name} should be a bool. Got {type(value)}")
    if os.environ.get(options.VARIABLE) == "0":
        return Installed()
    with _lock:
        _depth += 1
        if _depth == 1:
            options.current.update(decode=False, processors=False, report=False)
            _switch_on()
        if decode and not options.current["decode"]:
            options.current["decode"] = True
            late.when_imported("torchvision.datasets.folder", _folders)
        if processors and not options.current["processors"]:
            options.current["processors"] = True
            late.when_imported("transformers.image_processing_base", _image_processors)
        if report and not options.current["report"]:
            options.current["report"] = True
            _reports()
    return Installed()


def uninstall() -> None:
    """Undo one call of :func:`install`. After as many calls torchvision's transforms are as they were.

    Methods that other code has put in the places of fastaug's stay, and then call torchvision's own.

    Example:
        >>> import fastaug
        >>> _ = fastaug.install()
        >>> fastaug.uninstall()
    """
    global _depth
    with _lock:
        if _depth == 0:
            return
        _depth -= 1
        if _depth == 0:
            _switch_off()


def _switch_on() -> None:
    for name in _MODULES:
        late.when_imported(name, _calls)
    children.arm(install)


def _switch_off() -> None:
    late.forget()
    if (calls := sys.modules.get("fastaug._switch.calls")) is not None:
        calls.restore()
        sys.modules["fastaug._switch.twins"].forget()
    while _handed:
        _handed.pop().remove()
    children.disarm()
    options.current.clear()


def _calls(module: ModuleType) -> None:
    from fastaug._switch import calls

    for name in _MODULES[module.__name__]:
        getattr(calls, name)(module)


def _folders(module: ModuleType) -> None:
    from fastaug._switch import folders

    folders.switch(module)


def _image_processors(module: ModuleType) -> None:
    from fastaug.adapters.transformers import installed

    _handed.append(installed())


def _reports() -> None:
    from fastaug._switch import ending

    ending.arm()
