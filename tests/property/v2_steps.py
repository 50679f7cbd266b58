"""The steps of random pipelines of transforms.v2: transforms with random arguments, valid ones for the most part."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from pipeline_steps import Draw, Step, affine, elastic
from support.random_samples import Sample


@dataclass
class State:
    """What is known of the image of a sample after some steps.

    `container`: pil, tensor or video. `values`: bytes, floats or others. `exact`: no float has been computed of others
    in another way than torchvision does it. `grown`: a step has made it larger, which one in a pipeline may.
    """

    sample: Sample
    container: str
    values: str
    channels: int
    pure: bool
    exact: bool = True
    grown: bool = False


class V2Draw(Draw):
    """Random arguments, as source, for a state."""

    def __init__(self, rng: random.Random, state: State) -> None:
        floats = state.values == "floats"
        super().__init__(rng, "pil" if state.container == "pil" else "tensor", state.channels, floats)
        self.state = state

    def extent(self) -> int:
        return self.rng.choice([1, self.rng.randint(1, 12), self.rng.randint(1, 48), self.rng.randint(8, 40)])

    def fill(self, one: bool = False) -> str:
        """`one`: nothing but a number."""
        if one or not self.rng.random() < 0.3:
            return super().fill(one or self.state.sample.has("mask"))
        image = super().fill()
        return self.rng.choice(
            [
                f'{{tvt.Mask: 7, "others": {image}}}',
                f'{{tvt.Image: {image}, tvt.Mask: 0, Image.Image: 9, "others": 1}}',
                f"{{tvt.Mask: {self.rng.randint(0, 20)}}}",
                f"collections.defaultdict(lambda: 9, {{tvt.Image: {image}}})",
                "None",
            ]
        )

    def mode(self, number: int) -> str:
        if self.rng.random() < 0.4:
            return repr(("nearest", "lanczos", "bilinear", "bicubic", "box", "hamming")[number])
        return super().mode(number)

    def padding_mode(self) -> str:
        if self.state.sample.has("boxes") or self.state.sample.has("points"):
            return "'constant'"  # the others are not for places
        modes = ["'constant'", "'edge'", "'constant'", "'edge'", "'symmetric'", "'reflect'"]
        return self.rng.choice(modes)


def erasing(d: V2Draw) -> str:
    value = d.rng.choice(["0", "0", d.real(-1, 1), repr("random"), "(0.1, 0.2, 0.3)", "[7]"])
    return f"{d.p()}, {d.interval(0.02, 1.0)}, {d.interval(0.2, 5)}, {value}, {d.rng.random() < 0.2}"


def random_crop(d: V2Draw) -> str:
    padding = d.rng.choice(["None", d.padding()])
    return f"{d.size()}, {padding}, {d.rng.random() < 0.8}, {d.fill()}, {d.padding_mode()}"


def iou_crop(d: V2Draw) -> str:
    return d.rng.choice(["", "", "trials=5", "0.1, 0.9, 0.4, 2.5, [0.0, 0.3, 1.0]", "sampler_options=[0.0, 1.0]"])


def sanitize(d: V2Draw) -> str:
    sizes = d.rng.choice(["1.0, 1.0", "1.0, 20.0", "4.0, 1.0"])
    names = [name for name, _ in d.state.sample.leaves]
    found = "labels" in names and d.state.sample.layout in ("dict", "ordered", "pair", "input pair", "named")
    if found or d.rng.random() < 0.05:
        return d.rng.choice(["", sizes, f"{sizes}, 'default'", f"{sizes}, None"])
    return f"{sizes}, {d.rng.choice(['None', 'lambda sample: None'])}"


def mix(d: V2Draw) -> str:
    one_hot = d.state.sample.has("torch.nn.functional.one_hot")
    classes = d.rng.choice(["num_classes=5, ", "num_classes=5, ", "" if one_hot else "num_classes=9, "])
    return f"{classes}alpha={d.rng.choice(['1.0', '0.4', '2.0'])}"


def shortest(d: V2Draw) -> str:
    sizes = sorted(d.extent() for _ in range(d.rng.randint(1, 3)))
    return f"{sizes}, {d.rng.choice(['None', '60'])}, {d.resampling()}"


def auto(d: V2Draw) -> str:
    return f"{d.warp()}, {d.rng.choice(['None', 'None', d.fill()])}"


#: Transforms that take every image: their arguments.
GEOMETRY: dict[str, Callable[[V2Draw], str]] = {
    "Resize": lambda d: f"{d.size()}, {d.resampling()}, antialias={d.rng.random() < 0.85}",
    "CenterCrop": lambda d: d.size(),
    "RandomCrop": random_crop,
    "RandomResizedCrop": lambda d: f"{d.size()}, {d.interval(0.05, 1.6)}, {d.interval(0.3, 3)}, {d.resampling()}",
    "Pad": lambda d: f"{d.padding()}, {d.fill()}, {d.padding_mode()}",
    "RandomHorizontalFlip": Draw.p,
    "RandomVerticalFlip": Draw.p,
    "RandomRotation": lambda d: f"{d.degrees()}, {d.warp()}, {d.rng.random() < 0.4}, {d.point()}, {d.fill()}",
    "RandomAffine": affine,
    "RandomPerspective": lambda d: f"{d.real(0, 1)}, {d.p()}, {d.warp()}, {d.fill()}",
    "ElasticTransform": elastic,
    "RandomZoomOut": lambda d: f"{d.fill()}, (1.0, {d.rng.choice(['1.0', '1.5', '2.5'])}), {d.p()}",
    "ScaleJitter": lambda d: f"({d.extent()}, {d.extent()}), {d.interval(0.3, 1.8)}, {d.resampling()}",
    "RandomShortestSize": shortest,
    "RandomResize": lambda d: f"{d.rng.randint(1, 20)}, {d.rng.randint(21, 48)}, {d.resampling()}",
    "Identity": lambda d: "",
    "ToPureTensor": lambda d: "",
    "Lambda": lambda d: d.rng.choice(
        ["lambda x: x, tvt.Mask", "lambda x: x.clone(), torch.Tensor", "lambda x: -x, int, float", "lambda x: x"]
    ),
}
COLOUR: dict[str, Callable[[V2Draw], str]] = {
    "GaussianBlur": lambda d: f"{d.kernel()}, {d.rng.choice([d.real(0.1, 4), d.interval(0.1, 3)])}",
    "ColorJitter": lambda d: f"{d.jitter()}, {d.jitter()}, {d.jitter()}, {d.rng.choice(['0', d.real(0, 0.5)])}",
    "RandomPhotometricDistort": lambda d: d.rng.choice(["", f"p={d.p()}", "hue=(0.0, 0.3), p=1.0"]),
    "RandomChannelPermutation": lambda d: "",
    "RandomGrayscale": Draw.p,
    "RandomInvert": Draw.p,
    "RandomAdjustSharpness": lambda d: f"{d.rng.choice(['0', '1', '2', d.real(0, 3)])}, {d.p()}",
    "RandomAutocontrast": Draw.p,
}
#: Of images whose values are as they began, since a last bit may decide much.
STEPPED: dict[str, Callable[[V2Draw], str]] = {
    "RandomSolarize": lambda d: f"{d.real(0, 1) if d.floats else d.rng.choice([d.real(0, 255), '128'])}, {d.p()}",
    "RandomPosterize": lambda d: f"{d.rng.randint(1, 8)}, {d.p()}",
    "RandomEqualize": Draw.p,
}
#: Of images alone: they raise for masks and boxes.
AUTOMATIC: dict[str, Callable[[V2Draw], str]] = {
    "AutoAugment": lambda d: f"T.AutoAugmentPolicy({d.rng.choice(['imagenet', 'cifar10', 'svhn'])!r}), {auto(d)}",
    "RandAugment": lambda d: f"{d.rng.randint(0, 4)}, {d.rng.randint(0, 30)}, 31, {auto(d)}",
    "TrivialAugmentWide": lambda d: f"{d.rng.choice([31, 31, 5])}, {auto(d)}",
    "AugMix": lambda d: (
        f"{d.rng.randint(1, 10)}, {d.rng.randint(1, 4)}, {d.rng.choice([-1, -1, 1, 2])}, {d.real(0.2, 2.0)}, "
        f"{d.rng.random() < 0.6}, {d.mode(d.rng.choice([0, 2]))}, None"
    ),
}
#: Of tensors and not of PIL images.
TENSORS: dict[str, Callable[[V2Draw], str]] = {
    "GaussianNoise": lambda d: d.rng.choice(["", "0.1, 0.2", "0.0, 0.05, False"]),
    "RandomErasing": erasing,
    "UniformTemporalSubsample": lambda d: str(d.rng.randint(1, 6)),
}
BYTES: dict[str, Callable[[V2Draw], str]] = {
    "JPEG": lambda d: d.rng.choice(["50", "(5, 60)", "(1, 100)", "[90, 90]"]),
}
FLOATS: dict[str, Callable[[V2Draw], str]] = {
    "Normalize": lambda d: (
        d.rng.choice(["[0.5], [0.25]", f"{[0.485, 0.456, 0.406, 0.5][: d.channels]}, {[0.229] * d.channels}"])
        + d.rng.choice(["", "", "", ", inplace=True"])
    ),
}
PLACES: dict[str, Callable[[V2Draw], str]] = {
    "RandomIoUCrop": iou_crop,
    "ConvertBoundingBoxFormat": lambda d: d.rng.choice(
        ["'XYWHR'", "'CXCYWHR'", "'XYXYXYXY'"] if d.state.sample.rotated else ["'XYXY'", "'XYWH'", "'cxcywh'"]
    ),
    "ClampBoundingBoxes": lambda d: d.rng.choice(["", "'soft'", "'hard'", "None"]),
    "SetClampingMode": lambda d: d.rng.choice(["'soft'", "'hard'", "None"]),
    "SanitizeBoundingBoxes": sanitize,
}
POINTS: dict[str, Callable[[V2Draw], str]] = {
    "ClampKeyPoints": lambda d: "",
    "SanitizeKeyPoints": lambda d: d.rng.choice(["", "labels_getter='default'"]),
}
MIXES: dict[str, Callable[[V2Draw], str]] = {"MixUp": mix, "CutMix": mix}
TABLES = (GEOMETRY, COLOUR, STEPPED, AUTOMATIC, TENSORS, BYTES, FLOATS, PLACES, POINTS, MIXES)
ALL = {name: arguments for table in TABLES for name, arguments in table.items()}
#: What else there is, which `steps_of` and `container` put in their places.
OTHERS = (
    *("Compose", "RandomApply", "RandomChoice", "RandomOrder"),
    *("Grayscale", "RGB", "FiveCrop", "TenCrop", "LinearTransformation"),
    *("ToDtype", "ConvertImageDtype", "ToImage", "ToPILImage", "PILToTensor", "ToTensor"),
)
#: On floats these only move or replace values, or do what torch's own calls do.
EXACT = {
    *(
        "CenterCrop",
        "RandomCrop",
        "Pad",
        "RandomHorizontalFlip",
        "RandomVerticalFlip",
        "RandomZoomOut",
        "RandomIoUCrop",
    ),
    *("Normalize", "RandomErasing", "UniformTemporalSubsample", "RandomChannelPermutation", "Identity", "Lambda"),
    *("ToPureTensor", "FiveCrop", "TenCrop", "MixUp", "CutMix", "RandomInvert", *PLACES, *POINTS),
}
GROWING = ("RandomZoomOut", "Pad", "RandomRotation")
#: What no longer works: an argument that its class refuses, or a class that is not for such a sample.
WRONG = (
    *("T.RandomHorizontalFlip(1.2)", "T.Resize((3, 4, 5))", "T.GaussianBlur(4)", "T.Pad(2, fill='x')"),
    *("T.Compose([])", "T.RandomCrop(500)", "T.ColorJitter(-1)", "T.RandomChoice([T.RGB()], p=[1, 2])"),
    *("T.RandomZoomOut(side_range=(0.5, 2.0))", "T.SanitizeBoundingBoxes(min_size=0.5)", "T.JPEG(0)"),
)


def choices(rng: random.Random, state: State) -> dict[str, Callable[[V2Draw], str]]:
    """The transforms that make sense for a state."""
    table = dict(GEOMETRY)
    sample = state.sample
    if sample.main == "none":
        table |= PLACES if sample.has("boxes") else {}
        table.pop("RandomIoUCrop", None)
        return table
    if state.values != "others":
        table |= COLOUR
        if state.exact:
            table |= STEPPED
            if not (sample.has("mask") or sample.has("boxes") or sample.has("points")):
                table |= AUTOMATIC
    if state.container != "pil":
        table |= TENSORS
    if state.values == "bytes":
        table |= BYTES
    if state.values == "floats":
        table |= FLOATS
    if sample.has("boxes"):
        table |= PLACES
        if sample.rotated and rng.random() < 0.9:
            del table["RandomIoUCrop"]  # which takes no rotated boxes
    if sample.has("points"):
        table |= POINTS
    return table


def leaf(rng: random.Random, state: State) -> Step:
    draw = V2Draw(rng, state)
    table = choices(rng, state)
    if rng.random() < 0.02:
        table = ALL
    names = sorted(table)
    if state.grown:
        names = [name for name in names if name not in GROWING]
    places = [name for name in names if name in PLACES or name in POINTS]
    name = rng.choice(places if places and rng.random() < 0.3 else names)
    if rng.random() < 0.01:
        return Step(rng.choice(WRONG))
    state.grown |= name in GROWING
    exact = state.values != "floats" or name in EXACT
    state.exact &= exact
    return Step(f"T.{name}({table[name](draw)})", exact=exact)


def container(rng: random.Random, state: State, depth: int = 2) -> Step:
    if depth == 0 or rng.random() < 0.84:
        return leaf(rng, state)
    count = rng.randint(1, 3)
    p = V2Draw(rng, state).p()
    weights = f", p={[rng.randint(1, 5) for _ in range(count)]}" if rng.random() < 0.4 else ""
    head, tail = rng.choice(
        [
            ("T.RandomApply([", f"], p={p})"),
            ("T.RandomApply(torch.nn.ModuleList([", f"]), p={p})"),
            ("T.RandomChoice([", f"]{weights})"),
            ("T.RandomOrder([", "])"),
            ("T.Compose([", "])"),
            ("torch.nn.Sequential(", ")"),
        ]
    )
    if head.startswith("torch") and state.sample.several and rng.random() < 0.9:
        head, tail = "T.Compose((", ",))"  # Sequential hands on one input
    modules = "torch" in head
    children = tuple(leaf(rng, state) if modules else container(rng, state, depth - 1) for _ in range(count))
    return Step(head, children, tail, all(child.exact for child in children))


def conversion(rng: random.Random, state: State) -> Step:
    """A step that makes another container, other values, or other channels, and the state after it."""
    pil, sample = state.container == "pil", state.sample
    if sample.main == "none":
        return Step(rng.choice(["T.ToDtype(torch.float32)", "T.ToImage()", "T.ToPureTensor()"]))
    if pil:
        name = rng.choice(["ToImage", "ToImage", "ToImage", "PILToTensor", "ToTensor", "Grayscale", "RGB"])
        if name == "ToTensor":
            state.values = "floats"
        if name not in ("Grayscale", "RGB"):
            state.container = "tensor"
            return Step(f"T.{name}()")
    else:
        name = rng.choice(["ToDtype"] * 5 + ["ConvertImageDtype", "ToPILImage", "ToImage", "Grayscale", "RGB"])
    if name == "ToImage":
        return Step("T.ToImage()")
    if name in ("Grayscale", "RGB"):
        count = 3 if name == "RGB" else rng.choice([1, 3])
        exact = state.values != "floats"
        state.exact &= exact
        if state.container != "video":
            state.channels = count
        return Step(f"T.Grayscale({count})" if name == "Grayscale" else "T.RGB()", exact=exact)
    if name == "ToPILImage" and state.exact and state.container != "video":
        state.container, state.values = "pil", "bytes"
        return Step("T.ToPILImage()")
    if state.values == "floats" and state.exact and rng.random() < 0.3:
        state.values = "bytes"
        return Step("T.ToDtype(torch.uint8, scale=True)")
    state.values = "floats"
    return Step(
        rng.choice(
            [
                *["T.ToDtype(torch.float32, scale=True)"] * 4,
                'T.ToDtype({tvt.Image: torch.float32, tvt.Mask: torch.int64, "others": None}, scale=True)',
                'T.ToDtype({torch.Tensor: torch.float32, tvt.Video: torch.float32, "others": None}, True)',
                "T.ToDtype({tvt.Image: torch.float32, tvt.BoundingBoxes: torch.float64})"
                if rng.random() < 0.1
                else "T.ToDtype({tvt.Mask: torch.bool, 'others': torch.float32})",
                "T.ConvertImageDtype(torch.float32)",
            ]
        )
    )


def crops(rng: random.Random, state: State) -> Step:
    """Many crops of one image; without places they are the end, as users have it."""
    size = rng.randint(1, 9)
    return Step(
        rng.choice(
            [
                f"T.FiveCrop({size})",
                f"T.TenCrop(({size}, {rng.randint(1, 9)}), {rng.random() < 0.5})",
                f"T.Compose([T.FiveCrop({size}), T.Lambda(lambda x: x)])",
            ]
        )
    )


def whitening(state: State) -> Step:
    count = 12 * state.channels
    matrix = f"T.LinearTransformation(torch.eye({count}).flip(0), torch.full(({count},), 0.5))"
    return Step(
        f"T.Compose([T.Resize((3, 4)), T.Lambda(lambda x: x.contiguous(), torch.Tensor), {matrix}])", exact=False
    )


def draw_steps(rng: random.Random, sample: Sample) -> tuple[tuple[Step, ...], bool]:
    """The steps, and whether the floats that come out of them are torchvision's bit for bit."""
    kinds = {"pil": "pil", "Video": "video"}
    state = State(
        sample, kinds.get(sample.main, "tensor"), sample.values, sample.channels, sample.main in ("tensor", "none")
    )
    steps: list[Step] = []
    for _ in range(rng.choice([1, 1, 1, 2, 2, 3, 4, 6])):
        if rng.random() < 0.25:
            steps.append(conversion(rng, state))
        steps.append(container(rng, state))
    placed = any(sample.has(kind) for kind in ("mask", "boxes", "points"))
    if rng.random() < (0.01 if placed else 0.12):
        steps.append(crops(rng, state))
    elif rng.random() < 0.05 and state.values == "floats":
        steps.append(whitening(state))
        state.exact = False
    return tuple(steps), state.exact


def draw_mix(rng: random.Random, sample: Sample) -> tuple[tuple[Step, ...], bool]:
    """A batch's: one of the two that mix, perhaps behind others."""
    state = State(sample, "video" if sample.main == "Video" else "tensor", sample.values, 3, sample.main == "tensor")
    before = [container(rng, state)] if rng.random() < 0.3 else []
    mixes = [Step(f"T.{name}({MIXES[name](V2Draw(rng, state))})") for name in sorted(MIXES)]
    mix = rng.choice([mixes[0], mixes[1], Step("T.RandomChoice([", tuple(mixes), "])")])
    return (*before, mix), state.exact
