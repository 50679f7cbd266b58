"""The environment of fastaug in this process, and the rules that follow from it."""

from __future__ import annotations

import importlib.metadata
import platform
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from fastaug import _C
from fastaug._batch.threads import cpus

_PACKAGES = {"torch": "torch", "torchvision": "torchvision", "Pillow": "pillow", "NumPy": "numpy"}


@dataclass(frozen=True)
class Info:
    """The environment of fastaug in this process, and the rules that follow from it. Prints as a table.

    Attributes:
        fastaug: its version.
        processor: its name from the system.
        cpus: the number of CPUs that the process may use.
        isa: the instruction set of the pixel kernels; ``FASTAUG_ISA`` chooses.
        isas: those that this build and this machine have, best last.
        jpeg: the decoder of JPEGs, "own" or "libjpeg"; ``FASTAUG_JPEG`` chooses.
        webp: the decoder of WebP files, libwebp with its version, or "Pillow" in a build without it.
        cuda: the GPU of ``batch(device="cuda")``, or why there is none.
        versions: of Python, and of the packages whose results fastaug reproduces, by name, or "not installed".
        rules: behaviour that depends on those versions or on this machine.
    """

    fastaug: str
    processor: str
    cpus: int
    isa: str
    isas: tuple[str, ...]
    jpeg: str
    webp: str
    cuda: str
    versions: dict[str, str]
    rules: dict[str, str]

    def __str__(self) -> str:
        rows = {
            "fastaug": self.fastaug,
            "processor": f"{self.processor}, {self.cpus} CPU{'s' * (self.cpus != 1)}",
            "isa": f"{self.isa} (of {', '.join(self.isas)}; FASTAUG_ISA chooses)",
            "jpeg": f"{self.jpeg} (of own, libjpeg; FASTAUG_JPEG chooses)",
            "webp": self.webp,
            "cuda": self.cuda,
            **self.versions,
        }
        rules = ["", "rules", *(f"  {name}: {rule}" for name, rule in self.rules.items())]
        return "\n".join([*(f"{name:<12} {value}" for name, value in rows.items()), *rules])

    __repr__ = __str__


def info(version: str) -> Info:
    return Info(
        fastaug=version,
        processor=processor(),
        cpus=cpus(),
        isa=_C.isa(),
        isas=tuple(_C.isas()),
        jpeg=_C.jpeg_decoder(),
        webp=_C.webp_decoder(),
        cuda=_cuda(),
        versions={"Python": sys.version.split()[0], **{name: _version(found) for name, found in _PACKAGES.items()}},
        rules=_rules(),
    )


def processor() -> str:
    """Return the kernel's name of the processor, with family and model, as virtual machines shorten the name."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        text = ""
    found = dict(re.findall(r"^(model name|cpu family|model)\s*:\s*(.+)$", text, re.MULTILINE))
    if len(found) < 3:
        return platform.processor() or platform.machine()
    return f"{found['model name']} (family {found['cpu family']}, model {found['model']})"


def _version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _cuda() -> str:
    import torch

    if torch.version.cuda is None:
        return "none: PyTorch is built without CUDA"
    if not torch.cuda.is_available():
        return f"none: PyTorch, built with CUDA {torch.version.cuda}, finds no GPU"
    return f"{torch.cuda.get_device_name()} (PyTorch's CUDA {torch.version.cuda})"


def _rules() -> dict[str, str]:
    from fastaug._draft import releases
    from fastaug._draft.geometry import RESIZE_FLAGS
    from fastaug._fallback import rounding
    from fastaug._program import convolution, resizing

    roundings = "once" if rounding.fuses_products() else "twice"
    newest = "columns first where the height shrinks by more than twice as much as the width, as Pillow 13 and later do"
    return {
        "transforms": releases.described(),
        "resizes of PIL images": "rows first, as Pillow 12 and earlier do" if RESIZE_FLAGS else newest,
        "antialiased resizes of uint8 tensors by v1": resizing.described(),
        "affine grids of tensors": f"a product and its sum are rounded {roundings}, as torch's",
        "blurs": convolution.described(),
        **rounding.described(),
    }
