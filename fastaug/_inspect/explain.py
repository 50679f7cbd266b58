"""explain(): what a pipeline does to an image, as a table and as a picture."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from os import PathLike
from typing import Any

import torch
from PIL import Image

from fastaug._draft.call import Call
from fastaug._draft.draft import Draft
from fastaug._draft.pipeline import Pipeline, blank
from fastaug._draft.tape import Recording, Replaying
from fastaug._image.encoded import LazyImage
from fastaug._inspect.log import Log, seed_all, untouched
from fastaug._inspect.plan import Plan, plan_of
from fastaug.transforms._base import draft_through

_DEFAULT_SIZE = (512, 512)


def adopted(transform: Any) -> Any:
    """A pipeline of this package, made of any transform."""
    if isinstance(transform, Pipeline):
        return transform
    import fastaug

    return fastaug.compile(transform)


def image_of(pipeline: Any, image_or_size: Any) -> Any:
    """The image, or one of that size."""
    if image_or_size is None:
        image_or_size = _DEFAULT_SIZE
    if isinstance(image_or_size, numbers.Integral):
        image_or_size = (int(image_or_size), int(image_or_size))
    if isinstance(image_or_size, Sequence) and not isinstance(image_or_size, (str, bytes, bytearray, memoryview)):
        return blank(pipeline.transforms, image_or_size)
    return image_or_size


def generator_of(pipeline: Any) -> Any:
    """The generator that a pipeline draws from; None is torch's."""
    return getattr(pipeline._call.draws, "generator", None)


def logged(pipeline: Any, image: Any) -> tuple[Any, Log]:
    """The result, and the log of how it was made."""
    log = Log(Recording())
    call = Call(pipeline._call.draws, pipeline._call.rewrites, log=log, tape=log)
    log.start()
    result = pipeline._run(image, call)
    log.stop()
    return result, log


def described(image: Any) -> str:
    """An image in words: container, type of its samples and size."""
    if isinstance(image, Image.Image):
        return f"PIL {image.mode} {image.height}x{image.width}"
    if isinstance(image, LazyImage):
        return f"{image.format} {image.mode} {image.height}x{image.width}"
    if isinstance(image, torch.Tensor):
        return f"tensor {str(image.dtype).removeprefix('torch.')} {'x'.join(map(str, image.shape))}"
    if hasattr(image, "shape"):
        return f"array {image.dtype} {'x'.join(map(str, image.shape))}"
    if isinstance(image, (tuple, list)) and image:
        return f"{len(image)} of {described(image[0])}"
    return type(image).__name__


def megabytes(count: int) -> str:
    if count < 1e5:
        return f"{count / 1e3:.1f} kB"
    return f"{count / 1e6:.2f} MB" if count < 1e6 else f"{count / 1e6:.1f} MB"


def shape_of(one: dict[str, Any]) -> str:
    """What a pass gives; nothing where that is not one image."""
    return f"{one['height']}x{one['width']}x{one['channels']}" if one["height"] else ""


def done_by(one: dict[str, Any]) -> str:
    """Who does a pass that is not one of the native core, in words."""
    return "done apart" if one["by"] == "apart" else f"done by {one['by']}"


def short(value: Any) -> str:
    """A parameter in a few characters."""
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, (list, tuple)):
        inner = ", ".join(map(short, value[:6])) + (", ..." if len(value) > 6 else "")
        return f"({inner})"
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    return str(value)


def parameters(step: dict[str, Any]) -> str:
    return ", ".join(f"{name}={short(value)}" for name, value in step["parameters"].items())


def numbers_of(passes: list[int]) -> str:
    """1, 2, 3, 7 as 1-3, 7."""
    parts: list[list[int]] = []
    for number in passes:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(f"{part[0]}-{part[-1]}" if len(part) > 1 else str(part[0]) for part in parts)


def becomes(step: dict[str, Any], plan: Plan) -> str:
    """What became of a step, in a few words."""
    passes = [plan.passes[number - 1] for number in step["passes"]]
    asks: str = step["asks"]
    if not passes:
        if step["dropped"]:
            return "dropped"
        if step["children"]:
            return ""
        if asks:
            return asks
        index = plan.steps.index(step)
        later = plan.steps[index + 1]["container"] if index + 1 < len(plan.steps) else None
        changed = later is not None and later != step["container"]
        return "no pass: only another container" if changed else "nothing to do"
    names = ", ".join(dict.fromkeys(one["name"] for one in passes))
    by = passes[0]["by"]
    library = {"fastaug": "", "apart": " apart"}.get(by, f" by {by}")
    word = "passes" if len(passes) > 1 else "pass"
    return f"{word} {numbers_of(step['passes'])}: {names}{library}"


class Explanation:
    """What a pipeline does to one image. Prints as a table.

    Attributes:
        steps: the transforms in the order of the call, with the parameters that they drew, their ops and the numbers of
            the passes that do them: a dictionary each, as in the other lists.
        passes: the passes over pixels, with what they compute, of which steps they are, and the bytes that they read
            and write.
        barriers: what keeps passes apart, and why.
        notes: what was fused or pushed back, in words.
        bytes: {"moved", "op_by_op"}: by these passes, and if each op read its whole input and wrote its whole output.
        parameters: what was drawn, as ``replay()`` takes it.
        mode: of the pipeline.
    """

    def __init__(self, plan: Plan, pipeline: Any, image: Any, result: Any, drawn: list[dict[str, Any]]) -> None:
        self.steps, self.passes, self.barriers = plan.steps, plan.passes, plan.barriers
        self.notes, self.bytes = plan.notes, plan.bytes
        self.parameters = drawn
        self.mode = pipeline.mode
        self.source, self.result = described(image), described(result)
        self._plan = plan
        self._pipeline = pipeline
        self._image: Any = None

    def __str__(self) -> str:
        lines = [f"mode {self.mode}: {self.source} -> {self.result}", "", *self._steps(), "", *self._passes()]
        lines += ["", "fused and pushed back"]
        lines += [f"  {note}" for note in self.notes] or ["  nothing"]
        lines += ["", "kept apart by"]
        lines += [f"  step {one['step']}, {one['name']}: {one['reason']}" for one in self.barriers] or ["  nothing"]
        lines += ["", f"memory  {self.memory()}"]
        return "\n".join(lines)

    __repr__ = __str__

    def memory(self) -> str:
        moved, apart = self.bytes["moved"], self.bytes["op_by_op"]
        text = f"{megabytes(moved)} read and written"
        if moved:
            text += f"; op by op, whole images each time, {megabytes(apart)}: {apart / moved:.1f} times as much"
        return text

    def _steps(self) -> list[str]:
        rows: list[tuple[str, ...]] = [("step", "", "drawn", "ops", "becomes")]
        for step in self.steps:
            ops = ", ".join(op.split()[0] for op in step["ops"])
            name = "  " * step["depth"] + step["name"]
            rows.append((step["step"], name, parameters(step), ops, becomes(step, self._plan)))
        return table(rows, "<<<<<", (6, 36, 44, 40, 60))

    def _passes(self) -> list[str]:
        rows: list[tuple[str, ...]] = [("pass", "", "", "output", "steps", "reads", "writes")]
        last = None
        for one in self.passes:
            group = (one["by"], one["program"], one["part"])
            if group != last:
                last = group
                if one["by"] == "fastaug":
                    times = f", once for each of {one['images']} images" if one["images"] > 1 else ""
                    rows.append(
                        ("", f"program {one['program']}, part {one['part'] + 1}: rows go through together{times}")
                    )
                else:
                    rows.append(("", done_by(one)))
            sizes = [megabytes(one[key]) if one[key] else "" for key in ("bytes_read", "bytes_written")]
            rows.append(
                (str(one["pass"]), "  " + one["name"], one["detail"], shape_of(one), ", ".join(one["steps"]), *sizes)
            )
        return table(rows, "><<><>>", (6, 24, 60, 16, 12, 10, 10))

    def becomes(self, step: dict[str, Any]) -> str:
        """What became of one of the steps, in a few words."""
        return becomes(step, self._plan)

    def plot(self, path: str | PathLike[str]) -> None:
        """Draws the plan, with the image after each step if an image was explained.

        Args:
            path: of the picture; its ending says the format.
        """
        from fastaug._inspect import plot

        plot.plan(self, self._stages()).save(path)

    def _stages(self) -> list[Any]:
        """The image before the first and after each of the pipeline's own transforms."""
        if self._image is None:
            return []
        tape = Replaying(self.parameters)
        call = Call(self._pipeline._call.draws, self._pipeline._call.rewrites, tape=tape)
        image = self._image
        images = [image]
        with untouched(generator_of(self._pipeline)):
            for transform in self._pipeline.transforms:
                draft = Draft(image, call)
                draft_through([transform], draft)
                image = draft.finish()
                images.append(image)
        return images


def table(rows: list[tuple[str, ...]], align: str, limits: Sequence[int]) -> list[str]:
    """Rows as lines of aligned columns; the first is the heading. Rows of two cells are headings too."""
    cut = [row if len(row) == 2 else tuple(_cut(cell, limit) for cell, limit in zip(row, limits)) for row in rows]
    widths = [max(len(row[k]) for row in cut if len(row) > 2) for k in range(len(align))]
    lines = []
    for row in cut:
        if len(row) == 2:
            lines.append(f"{row[0]:>{widths[0]}}  {row[1]}".rstrip())
        else:
            cells = (f"{cell:{side}{width}}" for cell, side, width in zip(row, align, widths) if width)
            lines.append("  ".join(cells).rstrip())
    return lines


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 3] + "..."


def explain(
    pipeline: Any, image_or_size: Any = None, plot: str | PathLike[str] | None = None, seed: int | None = None
) -> Explanation:
    """What a pipeline does to an image: its steps, the passes over pixels that they become, and why.

    Runs the pipeline once, so that callables of your own are called too. The random generators are afterwards as they
    were before.

    Args:
        pipeline: of this package, or anything that ``fastaug.compile`` takes.
        image_or_size: an image (PIL image, array, tensor), or the size of one: an int, or (height, width).
        plot: path of a picture of the plan to write.
        seed: of the draws; by default they are those of the next call.
    """
    pipeline = adopted(pipeline)
    image = image_of(pipeline, image_or_size)
    generator = generator_of(pipeline)
    with untouched(generator):
        if seed is not None:
            seed_all(seed, generator)
        result, log = logged(pipeline, image)
    assert isinstance(log.tape, Recording)
    explanation = Explanation(plan_of(log), pipeline, image, result, log.tape.params)
    if image is image_or_size:
        explanation._image = image
    if plot is not None:
        explanation.plot(plot)
    return explanation
