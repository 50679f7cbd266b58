"""The plan that a log shows: steps, the passes that they became, what keeps passes apart, and the bytes moved."""

from __future__ import annotations

import itertools
import math
from typing import Any

from fastaug import _C
from fastaug._inspect.log import Log
from fastaug._inspect.records import Node, Outside, Passage, Run, Shape, kind_of, name_of, ops_of, walked

# Why an op needs its whole input first, by the core's names.
_REASONS = {
    "any_order": "reads its input in any order",
    "turn": "turns rows into columns",
    "mean": "needs the mean of the whole image first",
    "extremes": "needs the extremes of the whole image first",
    "histogram": "needs the histogram of the whole image first",
    "row_order": "reads rows in an order in which a filter before it does not give them",
}


class Plan:
    """A plan as plain data: each step, pass and barrier is a dictionary."""

    def __init__(self, log: Log) -> None:
        #: The steps with the ops and passes of all leaves.
        self.steps = list(_steps(log, None).values())
        #: The steps with the ops and passes of each leaf that has pixels.
        self.leaves: dict[str, list[dict[str, Any]]] = {}
        self.passes: list[dict[str, Any]] = []
        self.barriers: list[dict[str, Any]] = []
        self.bytes = {"moved": 0, "op_by_op": 0}
        #: What was fused or pushed back, in words.
        self.notes: list[str] = []
        self.programs = 0
        for path, (kind, _) in log.leaves.items():
            if kind == "pixels":
                part = _Part(self, log, path)
                steps = list(part.steps.values())
                self._join(steps, first=not self.leaves)
                self.leaves[path] = steps
                self.notes += [f"{path.strip()}: {note}" if path else note for note in part.notes]

    def _join(self, steps: list[dict[str, Any]], first: bool) -> None:
        """Add the steps of a leaf to those of all; of the first leaf they have the container and the sizes."""
        for step, of_leaf in zip(self.steps, steps):
            for key in ("ops", "dropped"):
                step[key] += [op for op in of_leaf[key] if op not in step[key]]
            step["passes"] += of_leaf["passes"]
            step["asks"] = step["asks"] or of_leaf["asks"]
            if first:
                step.update({key: of_leaf[key] for key in ("container", "before", "after")})


def _steps(log: Log, leaf: Any) -> dict[Node, dict[str, Any]]:
    """Return a step for each transform, with the container and the sizes of a leaf."""
    steps: dict[Node, dict[str, Any]] = {}
    for node in walked(log.steps):
        passage = node.passages.get(leaf, Passage())
        siblings = log.steps if node.parent is None else node.parent.children
        within = "" if node.parent is None else f"{steps[node.parent]['step']}."
        steps[node] = {
            "step": f"{within}{siblings.index(node) + 1}",
            "name": node.name,
            "depth": within.count("."),
            "parameters": dict(node.drawn),
            "container": passage.container,
            "before": passage.before,
            "after": passage.after,
            "ops": [],
            "passes": [],
            "dropped": [],
            "asks": "",
            "children": len(node.children),
        }
    return steps


class _Part:
    """The part of a plan that is of one leaf."""

    def __init__(self, plan: Plan, log: Log, leaf: str) -> None:
        self.plan, self.leaf = plan, leaf
        self.steps = _steps(log, leaf)
        self.notes = list(dict.fromkeys(note for where, note in log.notes if where == leaf))
        first = len(plan.passes)
        for entry, count in _grouped([entry for entry in log.timeline if entry.leaf == leaf]):
            if isinstance(entry, Run):
                self._add_run(entry, count)
            elif entry.kind != "places":
                self._add_outside(entry)
        for where, node, reason in log.flushes:
            if where == leaf:
                self.steps[node]["asks"] = reason
                self._add_barrier(self.steps[node], node.name, reason, 0)
        self._add_notes(plan.passes[first:])

    def _add_pass(
        self, steps: list[dict[str, Any]], by: str, name: str, shape: Shape, moved: tuple[int, int], **known: Any
    ) -> int:
        """Add a pass of some steps, and return its number."""
        number = len(self.plan.passes) + 1
        for step in steps:
            step["passes"].append(number)
        self.plan.passes.append(
            {
                "pass": number,
                "leaf": self.leaf,
                "by": by,
                "name": name,
                "program": 0,
                "part": 0,
                "steps": [step["step"] for step in steps],
                "ops": [],
                **dict(zip(("height", "width", "channels"), shape)),
                **dict(zip(("bytes_read", "bytes_written"), moved)),
                "of": None,
                "reads": None,
                **known,
            }
        )
        self.plan.bytes["moved"] += sum(moved)
        return number

    def _add_barrier(self, step: dict[str, Any] | None, name: str, reason: str, number: int) -> None:
        where = step["step"] if step else ""
        self.plan.barriers.append({"step": where, "name": name, "reason": reason, "pass": number, "leaf": self.leaf})

    def _add_outside(self, entry: Outside) -> None:
        size = entry.images * (4 if "float" in entry.container else 1)
        read, written = (size * math.prod(shape) for shape in (entry.before, entry.after))
        detail = "called with the image so far" if entry.kind == "barrier" else entry.reason
        if entry.kind == "delegated" and entry.library == "torch" and entry.name == "window" and written <= read:
            read, written, detail = 0, 0, "a view"
        steps = [self.steps[node] for node in entry.nodes]
        if entry.kind == "delegated":
            for step in steps:
                step["ops"].append(entry.name)
        known = {"detail": detail, "images": entry.images, "seconds": entry.seconds}
        number = self._add_pass(steps, entry.library, entry.name, entry.after, (read, written), **known)
        self.plan.bytes["op_by_op"] += read + written
        if entry.kind not in ("delegated", "kept"):
            name = f"{entry.name}, done by {entry.library}" if entry.kind == "fallback" else entry.name
            self._add_barrier(steps[-1] if steps else None, name, entry.reason, number)

    def _add_run(self, run: Run, count: int) -> None:
        self.plan.programs += 1
        ops = ops_of(run.program)
        names = [name_of(op) for op in ops]
        shapes = run.shapes()
        done = 0
        for one in run.passes:
            done |= one.origin
        for k, (owner, line) in enumerate(zip(run.owners, _C.describe(run.program).splitlines())):
            if owner is not None:
                self.steps[owner]["ops"].append(line)
                if not done >> k & 1:
                    self.steps[owner]["dropped"].append(line)
        last = decoded = int(bool(run.passes) and run.passes[0].kind == "decode")
        for position, one in enumerate(run.passes):
            steps = [self.steps[node] for node in run.nodes(one.origin)]
            if one.kind == "decode":
                # No op of the program asks for it, but the image itself, or a Decode before it.
                every = self.steps.values()
                steps = [step for step in every if step["name"] == "Decode" and not step["passes"]][:1]
            mine = [k for k in range(len(ops)) if one.origin >> k & 1]
            # The core reports which part of the cropped image it reads; this is the size of the whole.
            cropped = one.kind == "read" and position == decoded
            number = self._add_pass(
                steps,
                "fastaug",
                one.name,
                (one.height, one.width, one.channels),
                (count * one.bytes_read, count * one.bytes_written),
                detail=f"of {shapes[0][0]}x{shapes[0][1]}" if cropped else detail_of(one),
                images=count,
                seconds=count * run.seconds_of(one),
                program=self.plan.programs,
                part=one.part,
                ops=[names[k] for k in mine],
                of=_whole(one, mine, names, shapes, position),
                reads=(*one.read[2:], *one.crop[2:]) if one.kind == "warp" else None,
            )
            if one.part > last:
                last = one.part
                self._end_part(run, position, names, number)
        self.plan.bytes["op_by_op"] += count * (_op_by_op(ops, shapes, 4 if run.floats else 1) + _gaps(run))

    def _end_part(self, run: Run, position: int, names: list[str], number: int) -> None:
        """Add the barrier that ended a part before the pass at a position, whose number is given."""
        before = run.passes[position - 1]
        name = before.ops[0]
        origin = before.origin
        for one in run.passes[position:]:
            if one.part == run.passes[position].part:
                origin |= one.origin
        owners = [owner for k, owner in enumerate(run.owners) if names[k] == name and origin >> k & 1]
        step = self.steps[owners[0]] if owners and owners[0] is not None else None
        told = f"{name.lower()} of {step['name']}" if step else name.lower()
        self._add_barrier(step, told, _REASONS[before.reason], number)

    def _add_notes(self, passes: list[dict[str, Any]]) -> None:
        """Add what was fused and pushed back, as far as the passes show it."""
        names = {step["step"]: step["name"] for step in self.steps.values()}
        for one in passes:
            if one["by"] != "fastaug":
                continue
            who = " and ".join(dict.fromkeys(names[step] for step in one["steps"]))
            number = f"pass {one['pass']}"
            if one["name"] == "store":
                if one["ops"]:
                    self.notes.append(f"{who}: in the store ({number})")
            elif one["name"] == "read" and one["ops"]:
                self.notes.append(f"{who}: crop in place, by reading only that ({number})")
            elif len(one["ops"]) > 1:
                self.notes.append(f"{who}: {len(one['ops'])} ops in one pass ({number}, {one['name']})")
            if one["reads"] and one["reads"][:2] != one["reads"][2:]:
                height, width, whole_height, whole_width = one["reads"]
                self.notes.append(f"{number} ({one['name']}): reads {height}x{width} of {whole_height}x{whole_width}")
        self._add_regions(passes)
        for step in self.steps.values():
            if step["dropped"]:
                self.notes.append(f"{step['name']}: {', '.join(step['dropped'])} dropped, no pass does it")

    def _add_regions(self, passes: list[dict[str, Any]]) -> None:
        """Add the passes that do less than the whole image, those of one part that do the same together."""
        less = [one for one in passes if one["of"] and one["height"] * one["width"] < math.prod(one["of"])]
        for (_, _, height, width, whole), group in itertools.groupby(
            less, lambda one: tuple(one[key] for key in ("program", "part", "height", "width", "of"))
        ):
            alike = list(group)
            names = ", ".join(dict.fromkeys(one["name"] for one in alike))
            first, last = alike[0]["pass"], alike[-1]["pass"]
            which = f"pass {first}" if first == last else f"passes {first} {'to' if len(alike) > 2 else 'and'} {last}"
            size = f"{height}x{width} of {whole[0]}x{whole[1]}"
            self.notes.append(f"{which} ({names}): {size}, all that is needed later")


def _grouped(timeline: list[Run | Outside]) -> list[tuple[Run | Outside, int]]:
    """Return the runs of one batch as one, with their number."""
    groups: list[tuple[Run | Outside, int]] = []
    for entry in timeline:
        last, count = groups[-1] if groups else (None, 0)
        if isinstance(entry, Run) and isinstance(last, Run) and _look(entry) == _look(last):
            groups[-1] = (entry, count + 1)
        else:
            groups.append((entry, 1))
    return groups


def _look(run: Run) -> tuple[Any, ...]:
    """Return what runs of one batch have in common."""
    return run.owners, run.source[:2], [(one.name, detail_of(one)) for one in run.passes]


def detail_of(one: _C.Pass) -> str:
    """Return in words what a pass of the core does, besides its name and the size of its result."""
    names = ", ".join(name.lower() for name in one.ops)
    top, left, height, width = one.region
    if one.kind == "decode":
        assert one.whole is not None
        if (top, left, height, width) == (0, 0, *one.whole):
            return f"{one.format}, all of {height}x{width}"
        rows, columns = f"rows {top} to {top + height}", f"columns {left} to {left + width}"
        return f"{one.format}, {rows}, {columns} of {one.whole[0]}x{one.whole[1]}"
    if one.kind == "warp":
        assert one.whole is not None
        return f"of {one.whole[0]}x{one.whole[1]}, from {_size(one.read)} of {_size(one.crop)}"
    if one.kind == "filter":
        samples = height if one.vertical else width
        composed = f", {one.composed} ops in one" if one.composed else ""
        return f"{'height' if one.vertical else 'width'} {one.samples} to {samples}, {one.taps} taps{composed}"
    if one.kind == "keep":
        return f"for {names}{', with its statistics' if one.statistics else ''}"
    if one.kind == "store":
        parts = [one.dtype]
        parts += ["normalised"] * one.normalized + ["flipped left to right"] * one.hflip
        parts += ["flipped top to bottom"] * one.vflip + [names] * bool(names) + ["erased"] * bool(one.erased)
        return ", ".join(parts)
    return {
        "move": "whole pixels",
        "recolour": names,
        "torch_filter": "height and width in one, in float32",
        "read": f"of {_size(one.crop)}",
        "tables": names,
        "colour": names,
        "turn": f"by {one.degrees} degrees",
        "statistics": f"for {names}",
    }.get(one.kind, "")


def _size(region: tuple[int, int, int, int]) -> str:
    return f"{region[2]}x{region[3]}"


def _whole(
    one: _C.Pass, mine: list[int], names: list[str], shapes: list[Shape], position: int
) -> tuple[int, int] | None:
    """Return (height, width) of the image that a pass would work on if later passes did not need less."""
    if position < 2 and one.kind in ("read", "decode"):
        return shapes[0][:2]
    if one.kind in ("read", "warp"):
        return one.whole
    # The passes of a resize have sizes between the two of the op.
    if mine and not any(names[k] in ("RESIZE", "NEAREST") for k in mine) and one.kind not in ("store", "turn", "keep"):
        return shapes[mine[-1] + 1][:2]
    return None


def _op_by_op(ops: list[bytes], shapes: list[Shape], size: int) -> int:
    """Return the bytes if each op read its whole input, of samples of that size, and wrote its whole output."""
    total = 0
    for k, op in enumerate(ops):
        total += size * math.prod(shapes[k])
        if kind_of(op) == "store":
            size = 4
        total += size * math.prod(shapes[k + 1])
    return total


def _gaps(run: Run) -> int:
    """Return the bytes between the pixels of the source, such as the fourth of Pillow's RGB, which are read too."""
    first = run.passes[0] if run.passes else None
    if first is None or first.kind != "read" or not first.bytes_read:
        return 0
    height, width, channels = run.source
    return (first.bytes_read // (first.height * first.width) - channels) * height * width
