"""Random pipelines of every transform, on random images: torchvision's results, and fastaug's in every way to get them.

fastaug runs a pipeline as its own Compose, compiled from torchvision's objects, transform by transform, and on an image
that it has to decode.

A case is Python source: a pipeline, an image and a seed. So a failing case is a script as it stands, which `script`
prints after `shrink` has made it small.
"""

from __future__ import annotations

import enum
import io
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import skimage
import torch
import torchvision.transforms as TV
from PIL import Image

import fastaug
import fastaug.transforms as T
import pipeline_steps as steps
from fastaug._image.lazy import LazyImage
from pipeline_steps import Step
from shrinking import shrunk
from support.outcomes import Outcome, close, explain, run, snapshot, state_difference, stride_difference

#: How pixels are made: a (height, width, channels) array of bytes.
CONTENTS = {
    "noise": "np.random.default_rng({seed}).integers(0, 256, ({h}, {w}, {c}), dtype=np.uint8)",
    "ends": "np.random.default_rng({seed}).choice(np.uint8([0, 255]), ({h}, {w}, {c}))",
    "few": "np.random.default_rng({seed}).integers(100, 104, ({h}, {w}, {c}), dtype=np.uint8)",
    "flat": "np.full(({h}, {w}, {c}), {seed} % 256, np.uint8)",
    "gradient": "(np.indices(({h}, {w}, {c})).sum(0) * ({seed} % 7 + 1) % 256).astype(np.uint8)",
    "photo": "np.array(Image.open(skimage.__path__[0] + '/data/{title}.png').convert('{mode}').resize(({w}, {h})))",
}
PHOTOGRAPHED = ("L", "RGB", "RGBA", "YCbCr", "HSV", "CMYK")
CHANNELS = {
    "L": 1,
    "LA": 2,
    "RGB": 3,
    "RGBA": 4,
    "CMYK": 4,
    "YCbCr": 3,
    "HSV": 3,
    "P": 1,
    "1": 1,
    "I": 1,
    "I;16": 1,
    "F": 1,
}
#: How they become an image.
IMAGES = {
    "1": "Image.fromarray(pixels[:, :, 0]).convert('1')",
    "I": "Image.fromarray(pixels[:, :, 0].astype(np.int32) * 97 - 5000)",
    "I;16": "Image.fromarray(pixels[:, :, 0].astype(np.uint16) * 257)",
    "F": "Image.fromarray(pixels[:, :, 0].astype(np.float32) * 1.7 - 30)",
}
TITLES = ("astronaut", "chelsea", "coffee", "ihc")

#: What fastaug is given. torchvision is given the same, but the PIL image for an array, unless the pipeline begins with
#: ToPILImage.
_TENSOR = "torch.from_numpy(np.atleast_3d(np.array(image)).transpose(2, 0, 1).copy())"
GIVEN = {
    "pil": "image",
    "array": "np.array(image)",
    "tensor": _TENSOR,
    "channels last": "torch.from_numpy(np.atleast_3d(np.array(image))).permute(2, 0, 1)",
    "view": f"torch.nn.functional.pad({_TENSOR}, (3, 1, 2, 0))[:, 2:, 3:-1]",
    "steps": f"{_TENSOR}.repeat_interleave(2, 2).repeat_interleave(3, 1)[:, 1::3, ::2]",
    "batch": f"torch.stack([{_TENSOR}, {_TENSOR}.flip(-1)])",
    "channels last batch": f"torch.stack([{_TENSOR}] * 2).contiguous(memory_format=torch.channels_last)",
    "batch of batches": f"{_TENSOR}.expand(1, 2, -1, -1, -1)",
}
#: Those that are tensors.
LAYOUTS = tuple(name for name in GIVEN if name not in ("pil", "array"))
#: torchvision's results of these have strides that fastaug does not follow: hue makes contiguous tensors interleaved,
#: and three channels of gray share their memory. Floats made of a PIL image are written plane by plane.
ACCIDENTS = ("ColorJitter(", "Grayscale(", "PILToTensor(")
NAMES = {"np": np, "torch": torch, "Image": Image, "skimage": skimage, "T": None}


@dataclass(frozen=True)
class Case:
    steps: tuple[Step, ...]
    container: str
    mode: str
    content: str
    height: int
    width: int
    seed: int

    @property
    def as_pil(self) -> bool:
        """Whether torchvision gets a PIL image for an array."""
        return self.container == "array" and not (self.steps and self.steps[0] == steps.TO_PIL)

    def pipeline(self) -> str:
        """Its source."""
        return f"T.Compose([{', '.join(step.source for step in self.steps)}])"

    def pixels(self) -> str:
        return CONTENTS[self.content].format(
            seed=self.seed % 100_000,
            title=TITLES[self.seed % 4],
            mode=self.mode,
            h=self.height,
            w=self.width,
            c=CHANNELS[self.mode],
        )

    def image(self) -> str:
        made = IMAGES.get(self.mode, f"Image.frombytes({self.mode!r}, ({self.width}, {self.height}), pixels.tobytes())")
        return f"{made}; image.putpalette(bytes(range(255, -1, -1)) * 3)" if self.mode == "P" else made


def draw_case(number: int, tensors: bool = False) -> Case:
    """The case of this number, the same on every machine; `tensors`: one of uint8 tensors."""
    rng = random.Random(f"tensor {number}" if tensors else number)
    rare = ["LA", "RGBA"] if tensors else [mode for mode in CHANNELS if mode not in ("RGB", "L")]
    mode = rng.choice(["RGB"] * 12 + ["L"] * 3 + rare)
    content = rng.choice(["noise", "noise", "ends", "few", "flat", "gradient", "photo", "photo"])
    if content == "photo" and mode not in PHOTOGRAPHED:
        content = "noise"
    container = "pil"
    if tensors:
        container = rng.choice(["tensor"] * 6 + list(LAYOUTS))
    elif mode in ("L", "RGB"):
        container = rng.choice(["pil", "pil", "pil", "array"])
    most = rng.choice([16, 64, 64, 64, 64, 160, 160, 160, 350, 700])
    height, width = rng.randint(1, most), rng.randint(1, most)
    drawn = steps.draw_steps(rng, "tensor" if container in LAYOUTS else container, CHANNELS[mode])
    return Case(drawn, container, mode, content, height, width, rng.getrandbits(32))


# ---- running


def evaluate(case: Case) -> tuple[Any, Any]:
    """The PIL image, and what fastaug is given."""
    names = {**NAMES, "pixels": eval(case.pixels(), dict(NAMES))}
    source, *then = case.image().split("; ")
    names["image"] = eval(source, names)
    for statement in then:
        exec(statement, names)
    return names["image"], eval(GIVEN[case.container], names)


def build(source: str, package: Any) -> Any:
    return eval(source, {**NAMES, "T": package})


class Alone(torch.nn.Module):
    """A transform that nothing is fused with: containers know no more of it than of any callable."""

    def __init__(self, transform: Any) -> None:
        super().__init__()
        self.transform = transform

    def forward(self, image: Any) -> Any:
        return self.transform(image)


class OpByOp:
    """fastaug.transforms, each transform alone wherever it stands."""

    def __getattr__(self, name: str) -> Any:
        value = getattr(T, name)
        if issubclass(value, enum.Enum) or name in ("Compose", "RandomApply", "RandomChoice", "RandomOrder"):
            return value
        return lambda *arguments, **keywords: Alone(value(*arguments, **keywords))


class Encoded:
    """A pipeline that gets its image as a PNG file, where such files keep it as it is."""

    def __init__(self, transform: Any) -> None:
        self.transform = transform

    def __call__(self, image: Any) -> Any:
        ours = type(self.transform).__module__.startswith("fastaug.")
        if ours and isinstance(image, Image.Image) and image.mode in ("L", "LA", "RGB", "RGBA"):
            file = io.BytesIO()
            image.save(file, "PNG", compress_level=1)
            image = LazyImage(file.getvalue(), image.mode)
        return self.transform(image)


#: Ways to run a pipeline, from its source.
WAYS: dict[str, Callable[[str], Any]] = {
    "fastaug": lambda source: build(source, T),
    "compiled": lambda source: fastaug.compile(build(source, TV)),
    "op by op": lambda source: build(source, OpByOp()),
    "encoded": lambda source: Encoded(build(source, T)),
}


def flattened(value: Any) -> Any:
    """Pixels of any container in one form: CHW tensors."""
    if isinstance(value, (tuple, list)):
        return [flattened(item) for item in value]
    if isinstance(value, Image.Image):
        value = np.array(value)
    if isinstance(value, np.ndarray):
        return torch.from_numpy(np.atleast_3d(value).transpose(2, 0, 1).copy())
    return value


def difference(case: Case) -> str | None:
    """What fastaug does differently from torchvision, or in one way from another, in a line; None when all agree."""
    image, given = evaluate(case)
    theirs = run(build(case.pipeline(), TV), image if case.as_pil else given, case.seed)
    first: Outcome | None = None
    for name, make in WAYS.items():
        ours = run(make(case.pipeline()), given, case.seed)
        found = one_difference(case, ours, theirs)
        if (
            found is None
            and first is not None
            and first.error is None
            and snapshot(ours.value) != snapshot(first.value)
        ):
            found = f"{explain(ours.value, first.value)} (fastaug's Compose)"
        if found is not None:
            return f"{name}: {found}"
        first = first or ours
    return None


def one_difference(case: Case, ours: Outcome, theirs: Outcome) -> str | None:
    if ours.error is not None or theirs.error is not None:
        if type(ours.error) is type(theirs.error):
            return state_difference(ours.states, theirs.states)
        return f"{ours.error!r}, torchvision {theirs.error!r}"
    values = ours.value, theirs.value
    if case.as_pil:
        values = flattened(ours.value), flattened(theirs.value)
    if snapshot(values[0]) != snapshot(values[1]):
        exact = all(step.exact for step in case.steps)
        if exact or not close(*values):
            return explain(*values)
    if case.container in LAYOUTS and not any(name in case.pipeline() for name in ACCIDENTS):
        found = stride_difference(ours.value, theirs.value)
        if found is not None:
            return found
    return state_difference(ours.states, theirs.states)


# ---- making a failing case small


def smaller(case: Case) -> Iterator[Case]:
    """Simpler cases, the boldest first."""
    for parts in steps.simpler(case.steps):
        yield replace(case, steps=parts)
    for height, width in (
        (case.height // 2, case.width // 2),
        (case.height // 2, case.width),
        (case.height, case.width // 2),
    ):
        if height > 0 and width > 0 and (height, width) != (case.height, case.width):
            yield replace(case, height=height, width=width)
    if case.content != "noise":
        yield replace(case, content="noise")


def shrink(case: Case, attempts: int = 400) -> Case:
    """A smaller case that still fails."""
    return shrunk(case, smaller, difference, attempts)


SCRIPT = """\
import random
import numpy as np
import skimage
import torch
from PIL import Image
import fastaug.transforms
import torchvision.transforms

pixels = {pixels}
image = {image}
given = {given}
for name, T, value in (
    ("fastaug", fastaug.transforms, given),
    ("compiled", torchvision.transforms, given),
    ("torchvision", torchvision.transforms, {value}),
):
    transform = eval({source!r})
    if name == "compiled":
        transform = fastaug.compile(transform)
    torch.manual_seed({seed}); random.seed({seed}); np.random.seed({seed})
    try:
        result = np.asarray(transform(value))
    except Exception as error:
        result = repr(error)
    print(name, result, torch.rand(1), random.random(), np.random.rand())
"""


def script(case: Case) -> str:
    """A program that shows the difference by itself; for one that is made op by op, what the other ways give."""
    return SCRIPT.format(
        pixels=case.pixels(),
        image=case.image(),
        given=GIVEN[case.container],
        value="image" if case.as_pil else "given",
        source=case.pipeline(),
        seed=case.seed,
    )


def check(number: int, tensors: bool = False) -> str:
    """Runs a case; what differs, as a script that shows it, or nothing."""
    case = draw_case(number, tensors)
    if difference(case) is None:
        return ""
    small = shrink(case)
    lines = str(difference(small)).replace("\n", "\n# ")
    return f"# case {'of tensors ' * tensors}{number}: {lines}\n\n{script(small)}"
