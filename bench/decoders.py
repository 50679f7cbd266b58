"""How each library is asked to decode. Imported by the worker processes only."""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import pickle
import random
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from bench import libraries
from bench.case import FAST, IMAGENET_MEAN, IMAGENET_STD, OURS, Transform
from bench.encoded import BY_NAME as BY_NAME
from bench.encoded import BY_REGION, CODES, HEIGHT, REFERENCE, REGION_ROWS, TWO_THREADS, WIDTH, EncodedCase


def first_row() -> int:
    """Of a region: drawn from torch's generator, as transforms draw."""
    import torch

    return int(torch.randint(HEIGHT - REGION_ROWS + 1, (1,)))


class Decoder:
    """A library that decodes whole images. Others change what differs."""

    same_draws = True
    distributions: tuple[str, ...] = ()

    def __init__(self, threads: int = 1) -> None:
        self.threads = threads
        self.decoders = self.load()

    def load(self) -> dict[str, Transform]:
        """By format, what makes an image of what `given` made of its bytes."""
        raise LookupError

    def versions(self) -> dict[str, str]:
        return {name: importlib.metadata.version(name) for name in self.distributions}

    def given(self, data: bytes) -> Any:
        """Encoded bytes in the container that the library takes them from at no cost."""
        return data

    def transform(self, case: EncodedCase) -> Transform | None:
        """The callable that is timed, or None where the library lacks the operation."""
        if case.format not in self.decoders or (self.threads > 1 and case.makes != "arrays"):
            return None
        make: Callable[[EncodedCase], Transform | None] = getattr(self, case.makes)
        return make(case)

    def array(self, case: EncodedCase) -> Transform | None:
        return self.decoders[case.format]

    def rows(self, case: EncodedCase) -> Transform | None:
        decode = self.decoders[case.format]

        def run(data: Any) -> Any:
            top = first_row()
            return decode(data)[top : top + REGION_ROWS]

        return run

    def tensor(self, case: EncodedCase) -> Transform | None:
        return None

    def arrays(self, case: EncodedCase) -> Transform | None:
        return None

    def of_each(self, read: Transform) -> Transform:
        """`read` for all files of a list, on as many threads as asked for."""
        if self.threads == 1:
            return lambda paths: [read(path) for path in paths]
        pool = ThreadPoolExecutor(self.threads)
        return lambda paths: list(pool.map(read, paths))

    def images(self, case: EncodedCase, bag: Path) -> list[Any]:
        images = pickle.loads(bag.read_bytes())
        return images if case.makes == "arrays" else [self.given(data) for data in images]

    def seed(self, number: int) -> None:
        import torch

        torch.manual_seed(number)


class Pillow(Decoder):
    """The reference; with torchvision's transforms on PIL images."""

    distributions = ("pillow",)

    def load(self) -> dict[str, Transform]:
        return dict.fromkeys(("JPEG", "PNG"), lambda data: np.asarray(self.image(data)))

    @staticmethod
    def image(data: bytes) -> Image.Image:
        return Image.open(BytesIO(data)).convert("RGB")

    def rows(self, case: EncodedCase) -> Transform | None:
        def run(data: bytes) -> Any:
            top = first_row()
            image = Image.open(BytesIO(data))
            return np.asarray(image.crop((0, top, image.width, top + REGION_ROWS)).convert("RGB"))

        return run

    def tensor(self, case: EncodedCase) -> Transform | None:
        compose = case.compose(importlib.import_module("torchvision.transforms"))
        return lambda data: compose(self.image(data))

    def arrays(self, case: EncodedCase) -> Transform | None:
        return self.of_each(lambda path: np.asarray(Image.open(path).convert("RGB")))


class Torchvision(Decoder):
    """torchvision.io, with torchvision's transforms on tensors."""

    distributions = ("torchvision",)

    def load(self) -> dict[str, Transform]:
        # Every call warns that it is deprecated.
        warnings.simplefilter("ignore")
        self.io = importlib.import_module("torchvision.io")
        mode = self.io.ImageReadMode.RGB
        return {"JPEG": partial(self.io.decode_jpeg, mode=mode), "PNG": partial(self.io.decode_png, mode=mode)}

    def given(self, data: bytes) -> Any:
        import torch

        return torch.frombuffer(bytearray(data), dtype=torch.uint8)

    def rows(self, case: EncodedCase) -> Transform | None:
        decode = self.decoders[case.format]

        def run(data: Any) -> Any:
            top = first_row()
            return decode(data)[:, top : top + REGION_ROWS]

        return run

    def tensor(self, case: EncodedCase) -> Transform | None:
        decode = self.decoders[case.format]
        compose = case.compose(libraries.TensorNames(importlib.import_module("torchvision.transforms")))
        return lambda data: compose(decode(data))

    def arrays(self, case: EncodedCase) -> Transform | None:
        decode, read_file = self.decoders[case.format], self.io.read_file
        return self.of_each(lambda path: decode(read_file(path)))


class Torchcodec(Torchvision):
    """torchcodec's decoders, which replace torchvision.io's; with the same transforms."""

    distributions = ("torchcodec",)

    def load(self) -> dict[str, Transform]:
        decoders = importlib.import_module("torchcodec.decoders")
        return {"JPEG": decoders.decode_jpeg, "PNG": decoders.decode_png}

    def arrays(self, case: EncodedCase) -> Transform | None:
        return None


class OpenCV(Decoder):
    distributions = ("opencv-python-headless",)

    def load(self) -> dict[str, Transform]:
        self.cv2 = importlib.import_module("cv2")
        self.cv2.setNumThreads(1)
        flags = self.cv2.IMREAD_COLOR_RGB
        return dict.fromkeys(("JPEG", "PNG"), lambda data: self.cv2.imdecode(data, flags))

    def given(self, data: bytes) -> Any:
        return np.frombuffer(data, np.uint8)


class Simplejpeg(Decoder):
    distributions = ("simplejpeg",)

    def load(self) -> dict[str, Transform]:
        decode = importlib.import_module("simplejpeg").decode_jpeg
        return {"JPEG": lambda data: decode(data, "RGB")}


class SimplejpegOpenCV(Decoder):
    """simplejpeg with OpenCV's steps, as those do who write both by hand."""

    same_draws = False
    distributions = ("simplejpeg", "opencv-python-headless")

    def load(self) -> dict[str, Transform]:
        self.steps = importlib.import_module("bench.peers.opencv")
        decode = importlib.import_module("simplejpeg").decode_jpeg
        return {"JPEG": lambda data: decode(data, "RGB")}

    def array(self, case: EncodedCase) -> Transform | None:
        return None

    def tensor(self, case: EncodedCase) -> Transform | None:
        if case.peers is None:
            return None
        decode, run = self.decoders[case.format], getattr(self.steps, case.peers)(**case.steps.keywords)  # type: ignore[union-attr]
        return lambda data: run(decode(data))

    def seed(self, number: int) -> None:
        random.seed(number)


class Dali(Decoder):
    """DALI's operators of the CPU, one of which decodes random crops: an image a pipeline, so that a call is a call."""

    same_draws = False
    distributions = ("nvidia-dali-cuda120",)

    def load(self) -> dict[str, Transform]:
        self.dali = importlib.import_module("nvidia.dali")
        return {"JPEG": self.pipeline(lambda fn, data: fn.decoders.image(data, device="cpu"))}

    def pipeline(self, graph: Callable[[Any, Any], Any]) -> Transform:
        made = self.dali.Pipeline(1, 1, None, prefetch_queue_depth=1, exec_pipelined=False, exec_async=False)
        with made:
            made.set_outputs(graph(self.dali.fn, self.dali.fn.external_source(name="data", no_copy=True)))
        made.build()

        def run(data: Any) -> Any:
            made.feed_input("data", [data])
            return made.run()[0].as_array()[0]

        return run

    def given(self, data: bytes) -> Any:
        return np.frombuffer(data, np.uint8)

    def tensor(self, case: EncodedCase) -> Transform | None:
        if case.peers != "cropped":
            return None

        def graph(fn: Any, data: Any) -> Any:
            area, ratio = [0.08, 1], [3 / 4, 4 / 3]
            image = fn.decoders.image_random_crop(data, device="cpu", random_area=area, random_aspect_ratio=ratio)
            image = fn.resize(image, size=[224, 224], interp_type=self.dali.types.INTERP_LINEAR, antialias=True)
            mean, std = ([255 * value for value in values] for values in (IMAGENET_MEAN, IMAGENET_STD))
            floats, flip = self.dali.types.FLOAT, fn.random.coin_flip()
            return fn.crop_mirror_normalize(image, mirror=flip, mean=mean, std=std, dtype=floats, output_layout="CHW")

        return self.pipeline(graph)


class Pyspng(Decoder):
    distributions = ("pyspng",)

    def load(self) -> dict[str, Transform]:
        return {"PNG": importlib.import_module("pyspng").load}


class Imagecodecs(Decoder):
    distributions = ("imagecodecs",)

    def load(self) -> dict[str, Transform]:
        module = importlib.import_module("imagecodecs")
        return {"JPEG": module.jpeg8_decode, "PNG": module.spng_decode}


class Fastaug(Decoder):
    distributions = ("fastaug",)

    def load(self) -> dict[str, Transform]:
        self.io = importlib.import_module("fastaug.io")
        return dict.fromkeys(("JPEG", "PNG"), self.io.imread)

    def versions(self) -> dict[str, str]:
        import fastaug

        return {"fastaug": fastaug.__version__, "isa": fastaug.isa()}

    def rows(self, case: EncodedCase) -> Transform | None:
        return lambda data: self.io.imread(data, region=(first_row(), 0, REGION_ROWS, WIDTH))

    def tensor(self, case: EncodedCase) -> Transform | None:
        T = importlib.import_module("fastaug.transforms")
        return T.Compose([T.Decode(), *case.compose(T).transforms])  # type: ignore[no-any-return]

    def arrays(self, case: EncodedCase) -> Transform | None:
        return partial(self.io.imread_batch, num_threads=self.threads)


class LibjpegByRegion(Fastaug):
    """libjpeg-turbo's functions that crop and skip, in fastaug with FASTAUG_JPEG=libjpeg."""

    def load(self) -> dict[str, Transform]:
        return {"JPEG": super().load()["JPEG"]}

    def versions(self) -> dict[str, str]:
        return {}

    def arrays(self, case: EncodedCase) -> Transform | None:
        return None


class Codes(LibjpegByRegion):
    """The entropy codes up to the last pixel of what is wanted, and that pixel: a floor."""

    same_draws = False

    def given(self, data: bytes) -> Any:
        handle = self.io.lazy(data)
        return data, handle, handle.size

    def last(self, data: bytes, bottom: int, right: int) -> Any:
        return self.io.imread(data, region=(bottom - 1, right - 1, 1, 1))

    def array(self, case: EncodedCase) -> Transform | None:
        return lambda given: self.last(given[0], *given[2][::-1])

    def tensor(self, case: EncodedCase) -> Transform | None:
        T = importlib.import_module("fastaug.transforms")
        crop = case.compose(T).transforms[0]
        if isinstance(crop, T.RandomResizedCrop):
            draw, arguments = crop.get_params, (crop.scale, crop.ratio)
        elif isinstance(crop, T.RandomCrop):
            draw, arguments = crop.get_params, (crop.size,)
        else:
            return None

        def run(given: Any) -> Any:
            top, left, height, width = draw(given[1], *arguments)
            return self.last(given[0], top + height, left + width)

        return run


class FastaugFast(Fastaug):
    """Fast mode: other pixels within its contract, so timed on pipelines alone."""

    def transform(self, case: EncodedCase) -> Transform | None:
        import fastaug

        compose = self.tensor(case) if case.makes == "tensor" else None
        return fastaug.compile(compose, mode="fast") if compose else None


LIBRARIES: dict[str, Callable[[], Decoder]] = {
    REFERENCE: Pillow,
    OURS: Fastaug,
    FAST: FastaugFast,
    TWO_THREADS: lambda: Fastaug(threads=2),
    "torchvision": Torchvision,
    "Pillow, 2 threads": lambda: Pillow(threads=2),
    "torchvision, 2 threads": lambda: Torchvision(threads=2),
    "torchcodec": Torchcodec,
    "OpenCV": OpenCV,
    "simplejpeg": Simplejpeg,
    "pyspng": Pyspng,
    "imagecodecs": Imagecodecs,
    "simplejpeg and OpenCV": SimplejpegOpenCV,
    "DALI": Dali,
    BY_REGION: LibjpegByRegion,
    CODES: Codes,
}


def as_array(result: Any) -> NDArray[Any]:
    """A result for comparison: of many images, a digest each."""
    if isinstance(result, list):
        return np.stack([digest(libraries.as_array(image)) for image in result])
    return libraries.as_array(result)


def digest(image: NDArray[Any]) -> NDArray[np.uint8]:
    text = hashlib.sha256(f"{image.dtype} {image.shape}".encode() + image.tobytes())
    return np.frombuffer(text.digest(), np.uint8)
