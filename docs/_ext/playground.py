"""Draw the frames of docs/playground.md: what transforms make of a photograph, for every setting of their controls.

``python -m docs._ext.playground FOLDER`` draws them outside a build of the documentation.
"""

from __future__ import annotations

import html
import io
import itertools
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pygments
from PIL import Image
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from tqdm import tqdm

import fastaug.transforms as T
from docs._ext.pictures import told
from docs._ext.seeing import photograph

GROUPS = ("Geometry", "Colour", "Filters", "Random")
#: The entry that the page begins with.
START = "rotate"
#: Images with at most this many pixels are kept without loss: they are shown enlarged.
SMALL = 12_000
QUALITY = 70

#: The lines that a program begins with, each with the name that asks for it.
IMPORTS = (
    ("torch.", "import torch"),
    ("", "from PIL import Image"),
    ("", ""),
    ("", "import fastaug"),
    ("T.", "import fastaug.transforms as T"),
    ("F.", "import fastaug.transforms.functional as F"),
    ("", ""),
    ("", "image = Image.open(fastaug.sample_file())"),
)


@dataclass(frozen=True)
class Parameter:
    """A value of a program that the reader sets.

    Attributes:
        name: of the argument.
        values: as they stand in the program.
        start: the value that the page begins with.
        slider: whether the values have an order; without one they are a choice.
    """

    name: str
    values: tuple[str, ...]
    start: str
    slider: bool = True

    @property
    def first(self) -> int:
        """The place of the value that the page begins with."""
        return self.values.index(self.start)


@dataclass(frozen=True)
class Entry:
    """A transform or function to play with.

    Attributes:
        key: names its frames, and its state in the address of the page.
        name: of the class or functions.
        group: one of GROUPS.
        about: one sentence for the reader.
        code: the lines that make ``result`` of ``image``, with the names of parameters in braces.
        parameters: the values that stand instead of them.
        reference: the page of the reference.
        enlarged: whether all results are shown in one size, pixel by pixel.
    """

    key: str
    name: str
    group: str
    about: str
    code: str
    parameters: tuple[Parameter, ...]
    reference: str
    enlarged: bool = False

    def settings(self) -> Iterator[tuple[int, ...]]:
        """Yield every combination of the parameters, as places of their values; the last one turns fastest."""
        return itertools.product(*(range(len(parameter.values)) for parameter in self.parameters))

    def filled(self, text: str, places: tuple[int, ...]) -> str:
        """Return a text with the values at some places instead of the names in braces."""
        for parameter, place in zip(self.parameters, places):
            text = text.replace(f"{{{parameter.name}}}", parameter.values[place])
        return text

    def program(self) -> str:
        """Return the whole program, with the names of parameters in braces."""
        return f"{beginning(self.code)}\n{self.code}"

    def transform(self) -> str:
        """Return the expression of the transform that draws under a seed of the reader's; empty if none does."""
        if "{seed}" not in self.code:
            return ""
        found = re.search(r"^transform = (.*)\ntorch", self.code, re.MULTILINE | re.DOTALL)
        return found[1] if found else self.code.rpartition("result = ")[2].removesuffix("(image)")

    def file(self, places: tuple[int, ...]) -> str:
        """Return the name of the frame of a combination."""
        return f"{'-'.join([self.key, *map(str, places)])}.webp"


def beginning(code: str) -> str:
    """Return the imports that some lines need, and the line that opens the photograph."""
    return "\n".join(line for wanted, line in IMPORTS if re.search(rf"\b{re.escape(wanted)}" if wanted else "", code))


def numbers(name: str, values: tuple[float, ...], start: float) -> Parameter:
    """Return a slider over numbers."""
    return Parameter(name, tuple(map(str, values)), str(start))


def choice(name: str, *values: str, start: str = "") -> Parameter:
    """Return a choice of values, which begins with the first if no other is given."""
    return Parameter(name, values, start or values[0], slider=False)


def seeds(count: int) -> Parameter:
    """Return a slider over seeds from 0."""
    return numbers("seed", tuple(range(count)), 0)


def once(transform: str, seed: str = "") -> str:
    """Return the code that calls a transform once, under a seed if there is one."""
    return "\n".join([f"torch.manual_seed({seed})"] * bool(seed) + [f"result = {transform}(image)"])


def function(name: str) -> str:
    """Return the address of a function in the reference."""
    return f"reference/functional.html#fastaug.transforms.functional.{name}"


def described(name: str) -> str:
    """Return the address of a class in the reference."""
    return f"reference/transforms/{name}.html"


PIPELINE = """\
transform = T.Compose(
    [
        T.RandomResizedCrop(224, scale=({smallest}, 1.0)),
        T.RandomHorizontalFlip(),
        T.ColorJitter(0.4, 0.4, 0.4),
        T.ToTensor(),
        T.RandomErasing(p=0.5, value="random"),
        T.ToPILImage(),
    ]
)
torch.manual_seed({seed})
result = transform(image)"""

ENTRIES = (
    Entry(
        "resize",
        "Resize",
        "Geometry",
        "The shorter side gets this size. The result is shown enlarged, pixel by pixel.",
        once("T.Resize({size}, T.InterpolationMode.{interpolation})"),
        (
            numbers("size", (16, 24, 32, 48, 64, 96, 128, 192), 48),
            choice("interpolation", "NEAREST", "BILINEAR", "BICUBIC", "LANCZOS", start="BILINEAR"),
        ),
        described("Resize"),
        enlarged=True,
    ),
    Entry(
        "centercrop",
        "CenterCrop",
        "Geometry",
        "A crop that is larger than the image is padded with black.",
        once("T.CenterCrop(({height}, {width}))"),
        (
            numbers("height", (64, 128, 192, 256, 320, 384), 192),
            numbers("width", (64, 160, 256, 352, 448, 544), 256),
        ),
        described("CenterCrop"),
    ),
    Entry(
        "pad",
        "Pad",
        "Geometry",
        "Four ways to fill the border.",
        once("T.Pad({padding}, padding_mode='{padding_mode}')"),
        (
            numbers("padding", (0, 10, 20, 40, 60, 80, 100), 60),
            choice("padding_mode", "constant", "edge", "reflect", "symmetric", start="reflect"),
        ),
        described("Pad"),
    ),
    Entry(
        "rotate",
        "rotate",
        "Geometry",
        "The angle is in degrees, counter-clockwise.",
        "result = F.rotate(image, {angle}, T.InterpolationMode.{interpolation})",
        (
            numbers("angle", tuple(range(-90, 91, 10)), 30),
            choice("interpolation", "NEAREST", "BILINEAR", start="BILINEAR"),
        ),
        function("rotate"),
    ),
    Entry(
        "affine",
        "affine",
        "Geometry",
        "Shears, scales, turns and moves an image in one map.",
        "result = F.affine(image, 0, [0, 0], {scale}, [{shear}, 0], T.InterpolationMode.BILINEAR)",
        (
            numbers("shear", tuple(range(-40, 41, 10)), 20),
            numbers("scale", (0.5, 0.75, 1.0, 1.25, 1.5), 0.75),
        ),
        function("affine"),
    ),
    Entry(
        "perspective",
        "RandomPerspective",
        "Geometry",
        "Each corner moves inwards by a random length. The scale limits it.",
        once("T.RandomPerspective({distortion_scale}, p=1.0)", "{seed}"),
        (numbers("distortion_scale", (0.0, 0.2, 0.4, 0.6, 0.8, 1.0), 0.4), seeds(6)),
        described("RandomPerspective"),
    ),
    Entry(
        "elastic",
        "ElasticTransform",
        "Geometry",
        "Alpha is the strength of the displacement, and sigma its smoothness.",
        once("T.ElasticTransform(alpha={alpha}, sigma={sigma})", "0"),
        (
            numbers("alpha", (0.0, 50.0, 100.0, 200.0, 300.0, 400.0), 200.0),
            numbers("sigma", (3.0, 5.0, 8.0, 12.0), 5.0),
        ),
        described("ElasticTransform"),
    ),
    Entry(
        "tone",
        "brightness, contrast",
        "Colour",
        "A factor of 1 returns the image as it is.",
        "result = F.{function}(image, {factor})",
        (
            choice("function", "adjust_brightness", "adjust_contrast", "adjust_saturation", "adjust_gamma"),
            numbers("factor", (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0), 1.5),
        ),
        function("adjust_brightness"),
    ),
    Entry(
        "hue",
        "hue",
        "Colour",
        "Turns the hue of every pixel. Half a turn is the complementary colour.",
        "result = F.adjust_hue(image, {hue_factor})",
        (numbers("hue_factor", (-0.5, -0.4, -0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3, 0.4, 0.5), 0.3),),
        function("adjust_hue"),
    ),
    Entry(
        "posterize",
        "posterize",
        "Colour",
        "Keeps the highest bits of each channel.",
        "result = F.posterize(image, {bits})",
        (numbers("bits", (1, 2, 3, 4, 5, 6, 7, 8), 2),),
        function("posterize"),
    ),
    Entry(
        "solarize",
        "solarize",
        "Colour",
        "Inverts the values at the threshold and above.",
        "result = F.solarize(image, {threshold})",
        (numbers("threshold", (0, 32, 64, 96, 128, 160, 192, 224, 255), 128),),
        function("solarize"),
    ),
    Entry(
        "histogram",
        "equalize, invert",
        "Colour",
        "Functions that need the image alone.",
        "result = F.{function}(image)",
        (choice("function", "equalize", "autocontrast", "invert", "to_grayscale", "hflip", "vflip"),),
        function("equalize"),
    ),
    Entry(
        "blur",
        "blur",
        "Filters",
        "A kernel that is small for its sigma cuts the Gaussian off.",
        "result = F.gaussian_blur(image, {kernel_size}, {sigma})",
        (
            numbers("sigma", (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0), 3.0),
            numbers("kernel_size", (3, 7, 15, 31), 15),
        ),
        function("gaussian_blur"),
    ),
    Entry(
        "sharpness",
        "sharpness",
        "Filters",
        "Below 1 the image becomes soft, and above 1 sharp.",
        "result = F.adjust_sharpness(image, {sharpness_factor})",
        (numbers("sharpness_factor", (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0), 4.0),),
        function("adjust_sharpness"),
    ),
    Entry(
        "resizedcrop",
        "RandomResizedCrop",
        "Random",
        "Crops at least the smallest share of the area, and resizes it.",
        once("T.RandomResizedCrop(224, scale=({smallest}, 1.0))", "{seed}"),
        (seeds(12), numbers("smallest", (0.08, 0.3, 0.6), 0.08)),
        described("RandomResizedCrop"),
    ),
    Entry(
        "jitter",
        "ColorJitter",
        "Random",
        "Changes brightness, contrast, saturation and hue in a random order.",
        once("T.ColorJitter({strength}, {strength}, {strength}, hue=0.1)", "{seed}"),
        (seeds(12), numbers("strength", (0.2, 0.4, 0.8), 0.4)),
        described("ColorJitter"),
    ),
    Entry(
        "randaugment",
        "RandAugment",
        "Random",
        "Two random operations, of the same magnitude.",
        once("T.RandAugment(num_ops=2, magnitude={magnitude})", "{seed}"),
        (seeds(10), numbers("magnitude", (3, 9, 15, 27), 9)),
        described("RandAugment"),
    ),
    Entry(
        "trivial",
        "TrivialAugmentWide",
        "Random",
        "One random operation, of a random magnitude.",
        once("T.TrivialAugmentWide()", "{seed}"),
        (seeds(16),),
        described("TrivialAugmentWide"),
    ),
    Entry(
        "augmix",
        "AugMix",
        "Random",
        "Mixes several chains of operations with the image.",
        once("T.AugMix(severity={severity})", "{seed}"),
        (seeds(8), numbers("severity", (1, 3, 10), 3)),
        described("AugMix"),
    ),
    Entry(
        "pipeline",
        "Compose",
        "Random",
        "A pipeline for training. Its last step makes an image to look at.",
        PIPELINE,
        (seeds(12), numbers("smallest", (0.08, 0.3, 0.6), 0.3)),
        described("Compose"),
    ),
)


def result_of(program: str) -> Image.Image:
    """Return the ``result`` of a program."""
    names: dict[str, Any] = {}
    exec(program, names)
    image: Image.Image = names["result"]
    return image


def frame(entry: Entry, places: tuple[int, ...]) -> Image.Image:
    """Return the picture of a combination."""
    return result_of(entry.filled(entry.program(), places))


def drawn(entry: Entry, places: tuple[int, ...]) -> str:
    """Return the random parameters of a frame in words; none for a function."""
    if not entry.transform():
        return ""
    lines = ["import torch", "import fastaug.transforms as T", f"transform = {entry.transform()}"]
    names: dict[str, Any] = {}
    exec(entry.filled("\n".join([*lines, "torch.manual_seed({seed})"]), places), names)
    transform = names["transform"]
    pipeline = transform if isinstance(transform, T.Compose) else T.Compose([transform])
    steps = pipeline.sample(photograph())
    said = (told(step, len(pipeline.transforms) > 1) for step in steps)
    return "\n".join(one for one in said if not one.endswith(": "))


def encoded(image: Image.Image) -> bytes:
    """Return an image as a WebP file."""
    file = io.BytesIO()
    image.convert("RGB").save(file, "WEBP", quality=QUALITY, method=4, lossless=image.width * image.height <= SMALL)
    return file.getvalue()


def coloured(entry: Entry) -> list[str | int]:
    """Return the program as HTML: pieces of text, and between them the numbers of parameters."""
    text = entry.program()
    for number, parameter in enumerate(entry.parameters):
        text = text.replace(f"{{{parameter.name}}}", f"Q{number}Q")
    page = pygments.highlight(text, PythonLexer(), HtmlFormatter(nowrap=True)).rstrip("\n")
    pieces = re.split(r'<span class="\w+">Q(\d)Q</span>|Q(\d)Q', page)
    found: list[str | int] = []
    for place in range(0, len(pieces), 3):
        found.append(pieces[place])
        found += [int(number) for number in pieces[place + 1 : place + 3] if number is not None]
    return found


def text_of(pieces: list[str | int], values: list[str]) -> str:
    """Return the text that the page shows of a coloured program."""
    shown = [values[piece] if isinstance(piece, int) else re.sub(r"<[^>]*>", "", piece) for piece in pieces]
    return html.unescape("".join(shown))


def described_entry(entry: Entry, frames: list[list[Any]]) -> dict[str, Any]:
    """Return what the page needs to know of an entry."""
    return {
        "key": entry.key,
        "name": entry.name,
        "group": entry.group,
        "about": entry.about,
        "reference": entry.reference,
        "enlarged": entry.enlarged,
        "parameters": [
            {"name": one.name, "values": one.values, "start": one.first, "slider": one.slider}
            for one in entry.parameters
        ],
        "code": coloured(entry),
        "frames": frames,
    }


def draw(folder: Path) -> list[Path]:
    """Write the frames, and frames.js, which holds all else that the page shows.

    Each frame is listed as its width, height, and what was drawn at random, in the order of ``settings``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    original = folder / "original.webp"
    original.write_bytes(encoded(photograph()))
    paths, entries = [original], []
    for entry in tqdm(ENTRIES, desc="drawing the playground", unit="transform", disable=None):
        frames: list[list[Any]] = []
        for places in entry.settings():
            image = frame(entry, places)
            path = folder / entry.file(places)
            path.write_bytes(encoded(image))
            paths.append(path)
            frames.append([*image.size, drawn(entry, places)])
        entries.append(described_entry(entry, frames))
    index = folder / "frames.js"
    held = {"original": photograph().size, "groups": GROUPS, "start": START, "entries": entries}
    index.write_text(f"window.fastaugPlayground = {json.dumps(held, separators=(',', ':'))};\n")
    return [*paths, index]


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
