"""Is this installation sound? Needs fastaug and what it depends on, and nothing else: no torchvision, no pytest.

python -I smoke.py, which wants the package to be an installed one; without -I, that of a checkout will do.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import io
import os
import sys
import threading
from pathlib import Path

import numpy as np
import torch
from PIL import Image

import fastaug
import fastaug.io
import fastaug.transforms as T

# sha256 of what torchvision 0.29 gives for the same seed.
EXPECTED = "c20577da913a9210a23fa269f5bb80e55e1719eda3c98e6868499db1461e79ad"


def photograph(height: int, width: int) -> Image.Image:
    """Smooth, coloured and a little noisy, the same everywhere."""
    y, x = np.mgrid[0:height, 0:width].astype(np.int64)
    noise = (x * 7919 + y * 104729 + x * y * 31) % 23
    planes = [(x * 3 + y) // 4 + noise, (x + y * 2) // 3 + noise, (x * y) // (width // 2) + noise]
    return Image.fromarray(np.stack([plane % 256 for plane in planes], axis=-1).astype(np.uint8))


def main() -> None:
    here = Path(fastaug.__file__).resolve()
    assert "site-packages" in here.parts or not sys.flags.isolated, f"not the installed package: {here}"
    assert threading.active_count() == 1, "import started a thread"
    assert "torchvision" not in sys.modules
    assert fastaug.__version__ == importlib.metadata.version("fastaug")
    # Every machine that PyTorch runs on has SSE4 or NEON: kernels that are not found are slow, and say nothing.
    assert fastaug.isa() != "scalar" or os.environ.get("FASTAUG_ISA") == "scalar"
    shipped = {Path(str(file)).name for file in importlib.metadata.files("fastaug") or () if "licenses" in file.parts}
    assert {"LICENSE", "bundled.txt", "highway.txt", "pybind11.txt"} <= shipped, f"licences: {shipped}"

    image = photograph(301, 257)
    transform = T.Compose(
        [
            T.RandomRotation(25, interpolation=T.InterpolationMode.BILINEAR),
            T.RandomCrop(224),
            T.RandomHorizontalFlip(),
            T.RandomVerticalFlip(),
            T.ColorJitter(0.2, 0.1, 0.05, 0.02),
            T.ToTensor(),
            T.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
        ]
    )
    torch.manual_seed(7)
    tensor = transform(image)
    assert tensor.dtype == torch.float32
    assert tensor.shape == (3, 224, 224)
    found = hashlib.sha256(tensor.numpy().tobytes()).hexdigest()
    assert found == EXPECTED, f"pixels differ: {found}"

    resized = T.Resize((97, 130))(image)
    assert isinstance(resized, Image.Image)
    reference = image.resize((130, 97), Image.Resampling.BILINEAR)
    assert np.array_equal(np.asarray(resized), np.asarray(reference)), "Resize differs from Pillow's"

    for lossless in (False, True):
        file = io.BytesIO()
        image.save(file, "WEBP", lossless=lossless)
        assert np.array_equal(fastaug.io.imread(file), np.asarray(Image.open(file))), (
            "imread differs from Pillow's WebP"
        )

    torchvision = "with" if importlib.util.find_spec("torchvision") else "without"
    versions = f"fastaug {fastaug.__version__} ({fastaug.isa()}), Python {sys.version.split()[0]}"
    print(f"smoke test passed: {versions}, {torchvision} torchvision")


if __name__ == "__main__":
    main()
