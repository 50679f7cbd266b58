"""What explain() returns: what a pipeline does to an image, as a table and as a picture."""

from __future__ import annotations

from os import PathLike
from typing import Any

from PIL import Image

from fastaug._draft.generators import generator_of, untouched
from fastaug._draft.replaced import TransformDraft
from fastaug._draft.tape import Replaying
from fastaug._draft.through import draft_through
from fastaug._inspect import notebook, words
from fastaug._inspect.plan import Plan

NOTHING = "nothing to do"

_MAY_DRAW = "what fastaug does not know may draw random numbers"


def becomes(step: dict[str, Any], plan: Plan) -> str:
    """What became of a step, in a few words."""
    passes = [plan.pass_of(number) for number in step["passes"]]
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
        return "no pass: only another container" if changed else NOTHING
    names = ", ".join(dict.fromkeys(one["name"] for one in passes))
    by = passes[0]["by"]
    library = {"fastaug": "", "apart": " apart"}.get(by, f" by {by}")
    word = "passes" if len(passes) > 1 else "pass"
    return f"{word} {words.numbers_of(step['passes'])}: {names}{library}"


class Explanation:
    """What a pipeline does to one image. Prints as a table; in a notebook it shows its picture, too.

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
        lines = [self.head(), "", *self.steps_table().lines(), "", *self._all_passes()]
        for title, said in self.remarks():
            lines += ["", title, *[f"  {line}" for line in said]]
        lines += ["", f"memory  {self.memory()}"]
        if self.device is not None:
            lines += ["", f"on a GPU  {self.device}"]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return notebook.explanation(self)

    def _repr_png_(self) -> bytes:
        return notebook.png(self.figure())

    def head(self) -> str:
        """The mode, and what becomes what, in words."""
        mode = self.mode + (", arithmetic pil" if self.arithmetic == "pil" else "")
        return f"mode {mode}: {self.source} -> {self.result}"

    def remarks(self) -> list[tuple[str, list[str]]]:
        """What was fused and pushed back, and what keeps passes apart: each with its title."""
        nothing = ["nothing"]
        return [
            ("fused and pushed back", list(self.notes) or nothing),
            ("kept apart by", self._barriers() or nothing),
        ]

    def memory(self) -> str:
        moved, apart = self.bytes["moved"], self.bytes["op_by_op"]
        text = f"{words.megabytes(moved)} read and written"
        if moved:
            text += f"; op by op, whole images each time, {words.megabytes(apart)}: {apart / moved:.1f} times as much"
        return text

    def steps_table(self) -> words.Table:
        rows: list[tuple[str, ...]] = [("step", "", "drawn", "ops", "becomes")]
        for step in self.steps:
            ops = ", ".join(op.split()[0] for op in step["ops"])
            name = "  " * step["depth"] + step["name"]
            rows.append((step["step"], name, words.parameters(step), ops, becomes(step, self._plan)))
        return words.Table(rows, "<<<<<", (6, 36, 44, 40, 60))

    def passes_tables(self) -> list[tuple[str, words.Table | str]]:
        """The passes, each table with its title; or in words that there are none."""
        return [("", self._passes(self.passes))]

    def _all_passes(self) -> list[str]:
        return self._passes(self.passes).lines()

    def _passes(self, passes: list[dict[str, Any]]) -> words.Table:
        rows: list[tuple[str, ...]] = [("pass", "", "", "output", "steps", "reads", "writes")]
        last = None
        for one in passes:
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
        return words.Table(rows, "><<><>>", (6, 36, 60, 16, 12, 10, 10))

    def _barriers(self) -> list[str]:
        called = [one for one in self.barriers if one["pass"] and self._plan.pass_of(one["pass"])["by"] == "Python"]
        lines = []
        for one in self._different_barriers():
            lines.append(f"step {one['step']}, {one['name']}: {self._reason(one)}")
            if called and one is called[0]:
                last = called[-1]
                upto = "it" if last is one else f"step {last['step']}, {last['name']}"
                lines.append(f"  in batch and map, images go one by one up to and including {upto}: {_MAY_DRAW}")
        return lines

    def _different_barriers(self) -> list[dict[str, Any]]:
        return self.barriers

    def _reason(self, barrier: dict[str, Any]) -> str:
        reason: str = barrier["reason"]
        return reason

    def becomes(self, step: dict[str, Any]) -> str:
        """What became of one of the steps, in a few words."""
        return becomes(step, self._plan)

    def figure(self) -> Image.Image:
        """A picture of the plan, with the image after each step if an image was explained."""
        from fastaug._inspect import plot

        return plot.plan(self, self._stages())

    def plot(self, path: str | PathLike[str]) -> None:
        """Writes the picture that ``figure()`` draws to a file.

        Args:
            path: of the picture; its ending says the format.
        """
        self.figure().save(path)

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
