"""explain(): what a pipeline does to an image, as a table and as a picture."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from os import PathLike
from typing import Any

import torch

from fastaug import _C
from fastaug._draft.generators import generator_of, seed_all, untouched
from fastaug._draft.pipeline import blank
from fastaug._draft.replaced import TransformDraft
from fastaug._draft.tape import Recording, Replaying
from fastaug._draft.through import draft_through
from fastaug._inspect import words
from fastaug._inspect.log import Log, Outside, Run, logged
from fastaug._inspect.plan import Plan, plan_of

_DEFAULT_SIZE = (512, 512)

_MAY_DRAW = "what fastaug does not know may draw random numbers"


def image_of(pipeline: Any, image_or_size: Any) -> Any:
    """The image, or one of that size."""
    if image_or_size is None:
        image_or_size = _DEFAULT_SIZE
    if isinstance(image_or_size, numbers.Integral):
        image_or_size = (int(image_or_size), int(image_or_size))
    if isinstance(image_or_size, Sequence) and not isinstance(image_or_size, (str, bytes, bytearray, memoryview)):
        return blank(pipeline.transforms, image_or_size)
    return image_or_size


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
    return f"{word} {words.numbers_of(step['passes'])}: {names}{library}"


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
        mode, arithmetic: of the pipeline.
        device: what ``batch(device="cuda")`` would do of it where, in words; None unless that was asked for.
    """

    def __init__(self, plan: Plan, pipeline: Any, image: Any, result: Any, drawn: list[dict[str, Any]]) -> None:
        self.steps, self.passes, self.barriers = plan.steps, plan.passes, plan.barriers
        self.notes, self.bytes = plan.notes, plan.bytes
        self.parameters = drawn
        self.mode, self.arithmetic = pipeline.mode, pipeline.arithmetic
        self.device: str | None = None
        self.source, self.result = words.source(image), words.described(result)
        self._plan = plan
        self._pipeline = pipeline
        self._image: Any = None

    def __str__(self) -> str:
        mode = self.mode + (", arithmetic pil" if self.arithmetic == "pil" else "")
        lines = [f"mode {mode}: {self.source} -> {self.result}", "", *self._steps(), "", *self._passes()]
        lines += ["", "fused and pushed back"]
        lines += [f"  {note}" for note in self.notes] or ["  nothing"]
        lines += ["", "kept apart by"]
        lines += self._barriers() or ["  nothing"]
        lines += ["", f"memory  {self.memory()}"]
        if self.device is not None:
            lines += ["", f"on a GPU  {self.device}"]
        return "\n".join(lines)

    __repr__ = __str__

    def memory(self) -> str:
        moved, apart = self.bytes["moved"], self.bytes["op_by_op"]
        text = f"{words.megabytes(moved)} read and written"
        if moved:
            text += f"; op by op, whole images each time, {words.megabytes(apart)}: {apart / moved:.1f} times as much"
        return text

    def _steps(self) -> list[str]:
        rows: list[tuple[str, ...]] = [("step", "", "drawn", "ops", "becomes")]
        for step in self.steps:
            ops = ", ".join(op.split()[0] for op in step["ops"])
            name = "  " * step["depth"] + step["name"]
            rows.append((step["step"], name, words.parameters(step), ops, becomes(step, self._plan)))
        return words.table(rows, "<<<<<", (6, 36, 44, 40, 60))

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
                    rows.append(("", words.done_by(one)))
            sizes = [words.megabytes(one[key]) if one[key] else "" for key in ("bytes_read", "bytes_written")]
            what = str(one["pass"]), "  " + one["name"], one["detail"], words.shape_of(one), ", ".join(one["steps"])
            rows.append((*what, *sizes))
        return words.table(rows, "><<><>>", (6, 36, 60, 16, 12, 10, 10))

    def _barriers(self) -> list[str]:
        called = [one for one in self.barriers if one["pass"] and self._plan.passes[one["pass"] - 1]["by"] == "Python"]
        lines = []
        for one in self.barriers:
            lines.append(f"  step {one['step']}, {one['name']}: {one['reason']}")
            if called and one is called[0]:
                last = called[-1]
                upto = "it" if last is one else f"step {last['step']}, {last['name']}"
                lines.append(f"    in batch and map, images go one by one up to and including {upto}: {_MAY_DRAW}")
        return lines

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
        call = self._pipeline._call.like(tape=tape)
        image = self._image
        images = [image]
        with untouched(generator_of(self._pipeline)):
            for transform in self._pipeline.transforms:
                draft = TransformDraft(image, call)
                draft_through([transform], draft)
                image = draft.finish()
                images.append(image)
        return images


# An address that nothing looks at.
_SOMEWHERE = 4096


def _on_device(log: Log, result: Any, rewrites: int) -> str:
    """What a device would do of a call, and why it would not."""
    if not isinstance(result, torch.Tensor):
        return f"not possible: the pipeline has to end in tensors, and this one gives {words.described(result)}"
    runs = [entry for entry in log.timeline if isinstance(entry, Run)]
    apart = [entry for entry in log.timeline if isinstance(entry, Outside) and entry.kind != "delegated"]
    reasons = [f"{entry.name}: {entry.reason}" for entry in apart]
    if len(runs) == 1 and not apart:
        run = runs[0]
        height, width, channels = run.source
        source = _C.from_pointer(_SOMEWHERE, height, width, channels, width * channels, channels, 1, None)
        to, size = run.target, result.element_size()
        row, plane = to.width * size, to.height * to.width * size
        target = _C.into_pointer(_SOMEWHERE, to.dtype, to.height, to.width, to.channels, row, size, plane, None)
        bag = _C.Bag([(run.program, source, target)], rewrites)
        if not bag.unfit:
            kernels = f"{len(bag.specs)} kernel{'s' if len(bag.specs) > 1 else ''}"
            return f"all of it, by {kernels} in {len(bag.launches)} launches, with the other images of a batch"
        reasons.append("a nearest affine map with shear reaches farther than 32768 pixels")
    if not reasons:
        reasons.append("no program of the core's" if not runs else "more than one program")
    return "done on the CPU for this image, and copied, because of " + "; ".join(dict.fromkeys(reasons))


def explain(
    pipeline: Any,
    image_or_size: Any = None,
    plot: str | PathLike[str] | None = None,
    seed: int | None = None,
    device: str | torch.device | None = None,
) -> Explanation:
    """What a pipeline does to an image: its steps, the passes over pixels that they become, and why.

    Runs the pipeline once, so that callables of your own are called too. The random generators are afterwards as they
    were before.

    Args:
        pipeline: of this package.
        image_or_size: an image (PIL image, array, tensor), or the size of one: an int, or (height, width).
        plot: path of a picture of the plan to write.
        seed: of the draws; by default they are those of the next call.
        device: "cuda", to be told what of it a device would do; there need not be one.
    """
    if device is not None and torch.device(device).type != "cuda":
        raise ValueError(f"device should be 'cuda' or None, got {device!r}")
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
    if device is not None:
        explanation.device = _on_device(log, result, pipeline._call.rewrites)
    if plot is not None:
        explanation.plot(plot)
    return explanation
