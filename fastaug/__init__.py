"""fastaug: ``torchvision.transforms``, precompiled. The same pixels from the same seed, many times faster.

Change one line of a training script::

    import fastaug.transforms as T  # instead of: from torchvision import transforms as T
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastaug import transforms

__all__ = ["__version__", "isa", "transforms"]

__version__ = "0.1.0"


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
    if name == "transforms":
        return importlib.import_module("fastaug.transforms")
    raise AttributeError(f"module 'fastaug' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), "transforms"})
