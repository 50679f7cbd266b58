"""The results of explain(), which print as tables and draw themselves."""

from __future__ import annotations

from functools import partial
from typing import Any

from PIL import Image

from fastaug._draft.generators import generator_of, untouched
from fastaug._draft.tape import Replaying
from fastaug._inspect import notebook, words
from fastaug._inspect.log import Log
from fastaug._inspect.plan import Plan
from fastaug._inspect.records import Outside, walked
from fastaug._sample.sample import Sample

_NO_PASS = "no pass over pixels"

_MAY_DRAW = "what fastaug does not know may draw random numbers"


class Explanation(notebook.Report):
    """An explanation of what a pipeline does to one image. Prints as a table; a notebook shows its picture, too.

    Attributes:
        steps: the transforms in the order of the call, with the parameters that they drew, their ops and the numbers of
            the passes that do them: a dictionary each, as in the other lists.
        passes: the passes over pixels: what they compute, for which steps, and the bytes that they read and write.
        barriers: what keeps passes apart, and why.
        notes: what was fused or pushed back, in words.
        bytes: {"moved", "op_by_op"}: by these passes, and if each op read its whole input and wrote its whole output.
        parameters: what was drawn, as ``replay()`` takes it.
        mode, arithmetic: of the pipeline.
        device: what ``batch(device="cuda")`` would do there, in words; None unless that was asked for.
    """

    def __init__(self, log: Log, pipeline: Any, image: Any, result: Any) -> None:
        plan = Plan(log)
        self.steps, self.passes, self.barriers = plan.steps, plan.passes, plan.barriers
        self.notes, self.bytes = plan.notes, plan.bytes
        self.parameters = log.tape.entries
        self.mode, self.arithmetic = pipeline.mode, pipeline.arithmetic
        self.device: str | None = None
        self.source, self.result = words.source(image), words.described(result)
        #: Whether all that there is is one image.
        self.alone = list(log.leaves) == [""]
        #: Of a sample.
        self.leaves: list[dict[str, Any]] = []
        self._plan = plan
        self._pipeline = pipeline
        self._image: Any = None

    def __str__(self) -> str:
        lines = [self.head(), "", *self.steps_table().lines(), ""]
        for number, (title, passes) in enumerate(self.passes_tables()):
            inner = passes.lines() if isinstance(passes, words.Table) else [passes] * bool(passes)
            lines += inner if self.alone else ["", title, *(f"  {line}" for line in inner)][number == 0 :]
        for title, said in self.remarks():
            lines += ["", title, *[f"  {line}" for line in said]]
        lines += ["", f"memory  {self.memory()}"]
        if self.device is not None:
            lines += ["", f"on a GPU  {self.device}"]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return notebook.explanation(self)

    def head(self) -> str:
        mode = self.mode + (", arithmetic pil" if self.arithmetic == "pil" else "")
        return f"mode {mode}: {self.source} -> {self.result}"

    def remarks(self) -> list[tuple[str, list[str]]]:
        """Return what was fused and pushed back, and what keeps passes apart, each with its title."""
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

    def becomes(self, step: dict[str, Any]) -> str:
        """Return in a few words what became of a step."""
        passes = [self.passes[number - 1] for number in step["passes"]]
        if passes:
            names = ", ".join(dict.fromkeys(one["name"] for one in passes))
            by = passes[0]["by"]
            library = {"fastaug": "", "apart": " apart"}.get(by, f" by {by}")
            return f"pass{'es' * (len(passes) > 1)} {words.numbers_of(step['passes'])}: {names}{library}"
        if step["dropped"]:
            return "dropped"
        if step["children"]:
            return ""
        if step["asks"]:
            return str(step["asks"])
        following = self.steps[self.steps.index(step) + 1 :]
        if following and following[0]["container"] != step["container"]:
            return "no pass: only another container"
        # Boxes and points, the type of a tensor, or a choice of masks may have changed.
        changed = not self.alone and any(leaf["leaf"] in step["changed"] for leaf in self.leaves)
        return _NO_PASS if changed else "nothing to do"

    def steps_table(self) -> words.Table:
        rows: list[tuple[str, ...]] = [("step", "", "drawn", "ops" if self.alone else "changes", "becomes")]
        for step in self.steps:
            name = "  " * step["depth"] + step["name"]
            done = [op.split()[0] for op in step["ops"]] if self.alone else step["changed"]
            rows.append((step["step"], name, words.parameters(step), ", ".join(done), self.becomes(step)))
        return words.Table(rows, "<<<<<", (6, 36, 44, 40 if self.alone else 60, 60))

    def passes_tables(self) -> list[tuple[str, words.Table | str]]:
        """Return the tables of passes with their titles; for leaves without passes a sentence instead of a table."""
        if self.alone:
            return [("", self._passes(self.passes))]
        tables: list[tuple[str, words.Table | str]] = []
        same = []
        for leaf in self.leaves:
            passes = [one for one in self.passes if one["leaf"] == leaf["leaf"]]
            if not passes and not leaf["changed"]:
                same.append(leaf["leaf"].strip())
                continue
            became = leaf["source"] if leaf["source"] == leaf["result"] else f"{leaf['source']} -> {leaf['result']}"
            by = f" by {' and '.join(leaf['by'])}" if leaf["by"] else ""
            steps = words.numbered("step", leaf["changed"])
            without = f"{_NO_PASS}: changed{by} in {steps}" if steps else _NO_PASS
            tables.append((f"{leaf['leaf'].strip()}: {became}", self._passes(passes) if passes else without))
        if same:
            tables.append((f"handed on as they are: {', '.join(same)}", ""))
        return tables

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
        # Several leaves may have the same barrier, which is listed once.
        alike: dict[Any, list[dict[str, Any]]] = {}
        for number, one in enumerate(self.barriers):
            key = one["step"], one["name"], one["reason"], None if self.leaves else number
            alike[key] = [*alike.pop(key, []), one]
        called = [one for one in self.barriers if one["pass"] and self.passes[one["pass"] - 1]["by"] == "Python"]
        lines = []
        for (step, name, reason, _), ones in alike.items():
            leaves = "" if self.alone else f" ({', '.join(one['leaf'].strip() for one in ones)})"
            lines.append(f"step {step}, {name}: {reason}{leaves}")
            if called and ones[0] is called[0]:
                last = called[-1]
                upto = "it" if last is ones[0] else f"step {last['step']}, {last['name']}"
                lines.append(f"  in batch and map, images go one by one up to and including {upto}: {_MAY_DRAW}")
        return lines

    def figure(self) -> Image.Image:
        """Draw the plan, with the image after each step if an image was explained."""
        from fastaug._inspect import plot

        return plot.plan(self, self._stages())

    def _stages(self) -> list[Any]:
        """Return the image or sample before the first and after each of the pipeline's own transforms."""
        if self._image is None:
            return []
        with untouched(generator_of(self._pipeline)):
            return self._run_in_stages()

    def _run_in_stages(self) -> list[Any]:
        pipeline, stages = self._pipeline, [self._image]
        call = pipeline._call.like(tape=Replaying(self.parameters))
        for transform in pipeline.transforms:
            draft = pipeline._drafted(stages[-1], call)
            stages.append(draft.after(partial(pipeline._draft_some, transforms=[transform])))
        return stages


class SampleExplanation(Explanation):
    """An explanation of what a pipeline does to one sample. Prints as tables, leaf by leaf; an image alone as an image.

    It has the attributes of an :class:`Explanation`, and these.

    Attributes:
        steps: each transform once. "changed" are the leaves that it changed, as they are written in Python after the
            name of the sample, "" if the sample is an image. "ops" and "passes" are those of all leaves; "container",
            "before" and "after" are those of the first leaf with pixels.
        leaves: a dictionary for each leaf: its "leaf", as above; "kind", which is "pixels", "places" for boxes and key
            points, or "other"; "source" and "result", in words; "changed", the numbers of the steps that changed it;
            "by", the libraries that changed boxes and points, which have no passes; and "steps", for pixels.
        passes, barriers: one leaf after the other, each with its "leaf".
    """

    def __init__(self, log: Log, pipeline: Any, image: Any, result: Any) -> None:
        super().__init__(log, pipeline, image, result)
        for step, node in zip(self.steps, walked(log.steps)):
            step["changed"] = node.changed
        results = Sample((result,))
        described = {path: words.described(leaf) for path, leaf in zip(results.paths(), results.leaves)}
        moved = [entry for entry in log.timeline if isinstance(entry, Outside) and entry.kind == "places"]
        for path, (kind, source) in log.leaves.items():
            self.leaves.append(
                {
                    "leaf": path,
                    "kind": kind,
                    "source": source,
                    "result": described.get(path, ""),
                    "changed": [one["step"] for one in self.steps if path in one["changed"] and not one["children"]],
                    "by": list(dict.fromkeys(entry.library for entry in moved if entry.leaf == path)),
                    "steps": self._plan.leaves.get(path, []),
                }
            )
