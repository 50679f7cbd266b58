"""python -m bench clients: times the transforms that other packages make, as they are and by fastaug, from files."""

from __future__ import annotations

import hashlib
import importlib.metadata
import pickle
import random
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from tqdm import tqdm

from bench.case import OURS, Transform
from bench.client_cases import BY_NAME as BY_NAME
from bench.client_cases import CASES, ClientCase
from bench.encoded import jpeg
from bench.images import bag_file
from bench.measure import Column, Row, measure, started
from bench.suite import Suite

OWN = "client's own"

NOTE = """\
Milliseconds of processor time for one whole call on one core, from a JPEG file of a photograph of 500x375 pixels to the
tensors that go into a batch: the median, and the 10th to 90th percentile. The client's own transform gets what
torchvision's loader of folders makes of the file; fastaug's is what `fastaug.compile` makes of that transform (of an
image processor, what `fastaug.adapters.transformers.pipeline_of` makes of it), and it gets `fastaug.io.lazy` of the
file. "x" is how many times faster than the client's own: the median over rounds, in each of which both had their turn
at the same files under the same seeds. "=": all tensors equal the client's own, and torch's, Python's and NumPy's
generators are left as the client's own leaves them. Under some seeds timm's own posterize raises, and so does ours:
these calls are timed with the others. Rows whose package is not installed are left out (`make bench-clients` installs
all)."""


def load(path: Path) -> Image.Image:
    """As torchvision's loader of folders."""
    with open(path, "rb") as file:
        return Image.open(file).convert("RGB")


def seed(number: int) -> None:
    import torch

    torch.manual_seed(number)
    random.seed(number)
    np.random.seed(number)  # noqa: NPY002 (the generator that clients draw from)


def states() -> bytes:
    """Of the generators that transforms draw from."""
    import torch

    numpy = np.random.get_state(legacy=False)  # noqa: NPY002
    return b"".join([torch.get_rng_state().numpy().tobytes(), pickle.dumps(random.getstate()), pickle.dumps(numpy)])


def leaves(result: Any) -> Iterator[Any]:
    """The tensors of a result, in order."""
    if isinstance(result, dict):
        result = list(result.values())
    if isinstance(result, (list, tuple)):
        for one in result:
            yield from leaves(one)
    else:
        yield result


def as_array(result: Any) -> NDArray[Any]:
    """All samples of all tensors, their shapes, and a digest of the generators' states."""
    parts = [np.frombuffer(hashlib.sha256(states()).digest(), np.uint8)]
    for one in leaves(result):
        parts += [np.array(one.shape), one.numpy().ravel()]
    return np.concatenate([part.astype(np.float64) for part in parts])


@dataclass
class Calls:
    """A transform of files, whose errors are results where the case has them."""

    case: ClientCase
    transform: Any
    open: Any

    def __call__(self, path: Path) -> Any:
        try:
            return self.run(self.open(path))
        except self.case.raises:
            import torch

            return torch.zeros(0)

    def run(self, image: Any) -> Any:
        return self.case.call(self.transform, image)


class Client:
    """A client as it is."""

    same_draws = True

    def versions(self) -> dict[str, str]:
        return {"Pillow": importlib.metadata.version("pillow")}

    def transform(self, case: ClientCase) -> Transform:
        return Calls(case, case.own(), load)

    def images(self, case: ClientCase, bag: Path) -> list[Path]:
        return sorted(bag.with_suffix("").glob("*.jpg"))

    def seed(self, number: int) -> None:
        seed(number)


class Compiled(Calls):
    def run(self, image: Any) -> Any:
        return self.transform(image)


class Fastaug(Client):
    def versions(self) -> dict[str, str]:
        import fastaug

        return {"fastaug": fastaug.__version__, "isa": fastaug.isa()}

    def transform(self, case: ClientCase) -> Transform:
        from fastaug.io import lazy

        return Compiled(case, case.ours(case.own()), lazy)


LIBRARIES = {OWN: Client, OURS: Fastaug}


def write_files(bag: Path) -> Path:
    """Files of the images of a bag, in a folder beside it."""
    folder = bag.with_suffix("")
    if not folder.exists():
        folder.mkdir()
        for number, pixels in enumerate(np.load(bag, mmap_mode="r")):
            (folder / f"{number:04}.jpg").write_bytes(jpeg(pixels))
    return bag


class Clients(Suite):
    """Of files, and of the packages that are installed."""

    def run(self, cases: list[Any], seconds: float, clock: str) -> tuple[list[Row], dict[str, str]]:
        columns = [Column(name, name, suite="bench.clients") for name in LIBRARIES]
        installed = [case for case in cases if case.installed]
        for package in sorted({case.package for case in cases if not case.installed}):
            print(f"left out: {package} is not installed")
        rows = []
        with (
            started(columns, LIBRARIES) as workers,
            tempfile.TemporaryDirectory() as folder,
            tqdm(installed, unit="case", disable=None) as progress,
        ):
            for case in progress:
                progress.set_description(case.name)
                rows.append(measure(case, write_files(bag_file(case.bag, Path(folder))), workers, seconds, 12, clock))
            versions = {name: version for worker in workers for name, version in worker.versions.items()}
        return rows, versions | {case.package: case.version for case in installed}


main = Clients("clients", __doc__, NOTE, CASES, LIBRARIES, OWN).main
