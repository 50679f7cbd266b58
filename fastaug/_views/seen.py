"""Reports of views: one for each, with its input and draws in a call."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator
from typing import Any

from PIL import Image

from fastaug._draft.generators import generator_of, untouched
from fastaug._image.encoded import is_encoded
from fastaug._image.lazy import LazyImage
from fastaug._inspect import check as checks
from fastaug._inspect import explain as explanations
from fastaug._inspect import profile as profiles
from fastaug._inspect import words
from fastaug._inspect.picture import decoded, listed, normalisation, sample_picture
from fastaug._inspect.show import sheet
from fastaug._views.program import Step, taken


class Parts:
    """The reports of several views, with their names and a common head."""

    def __init__(self, names: list[str], parts: list[Any], head: str = "") -> None:
        self.head = head
        self.names = names
        self.parts = parts

    def __bool__(self) -> bool:
        return all(map(bool, self.parts))

    def __str__(self) -> str:
        said = [f"{name}\n{part}" for name, part in zip(self.names, self.parts)]
        return "\n\n".join([self.head, *said] if self.head else said)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        parts = (f"<h4>{html.escape(name)}</h4>{part._repr_html_()}" for name, part in zip(self.names, self.parts))
        return "".join([f"<p>{html.escape(self.head)}</p>" * bool(self.head), *parts])


def _names(views: Any) -> list[str]:
    transforms = [words.called(getattr(transform, "original", transform)) for transform, _, _ in views.calls]
    return [
        f"view {step.value}: {name}" + ("" if step.source == 0 else f" of value {step.source}")
        for name, step in zip(transforms, views._program.steps)
    ]


def _walked(views: Any, image: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the pipeline of each step with its input, which earlier steps have made."""
    program = views._program
    values = {0: image}
    decoders = [image] * len(program.decoders)
    if isinstance(image, LazyImage):
        values[0] = image.in_memory()
        decoders = [values[0]] * len(decoders)
    elif is_encoded(image):
        decoders = [handle.in_memory() for handle in program.opened(image)]
    for step in program.steps:
        pipeline = views._seen(step.pipeline)
        value = decoders[step.decoder] if step.source == 0 else values[step.source]
        yield pipeline, value
        # The next one draws from where this one ends.
        values[step.value] = pipeline(value)


def explain(views: Any, image_or_size: Any, plot: Any, seed: int | None, device: Any) -> Parts:
    if plot is not None:
        raise ValueError("plot is of one view: explain(image).parts[0].plot(path)")
    image = views._image_of((512, 512) if image_or_size is None else image_or_size)
    with untouched(generator_of(views), seed=seed):
        walked = _walked(views, image)
        parts = [explanations.explain(pipeline, value, None, None, device) for pipeline, value in walked]
    return Parts(_names(views), parts, _head(views, image))


def _head(views: Any, image: Any) -> str:
    program = views._program
    made = [f"value {step.source}" for step in program.steps if step.source > 0 and not step.fused]
    said = f"{len(program.outputs)} views of one image: drawn one after the other, then made by one call of the core"
    if made:
        said += f", but for what is made before: {', '.join(dict.fromkeys(made))}"
    if isinstance(image, LazyImage) or is_encoded(image):
        said += "\nthe image is decoded once, as far as any of them reads it"
    return said


def _each(views: Any, images: Any, report: Callable[[Step, Any], Any]) -> Parts:
    """Return the report of each step for the values that it gets."""
    steps = views._program.steps
    with untouched(generator_of(views), seed=0):
        originals = listed(images, all(step.sampled for step in steps))
        inputs = zip(*([value for _, value in _walked(views, image)] for image in originals))
        return Parts(_names(views), [report(step, list(values)) for step, values in zip(steps, inputs)])


def profile(views: Any, images: Any, repeat: int, plot: Any, seed: int) -> Parts:
    if plot is not None:
        raise ValueError("plot is of one view: profile(images).parts[0].plot(path)")
    return _each(views, images, lambda step, values: profiles.profile(step.pipeline, values, repeat, None, seed))


def check(views: Any, images: Any, seeds: Any) -> Parts:
    numbers = seeds if isinstance(seeds, int) else list(seeds)
    return _each(views, images, lambda step, values: checks.check(step.pipeline, values, numbers))


def show(views: Any, images: Any, n: int, seed: int | None) -> Image.Image:
    if n < 1:
        raise ValueError(f"n should be at least 1, got {n}")
    steps = views._program.steps
    undo = {step.value: normalisation(step.pipeline.transforms) for step in steps}
    originals = listed(images, all(step.sampled for step in steps))[:n]
    sources: list[Image.Image | None] = []
    rows = []
    with untouched(generator_of(views), seed=seed):
        for number in range(n):
            original = originals[number % len(originals)]
            values = taken(views.result, views(original))
            sources.append(sample_picture(decoded(original)))
            rows.append([sample_picture(result, undo[value]) for value, result in values.items() if value in undo])
    return sheet(sources, rows, "originals" if n > 1 else "original", "views")
