"""A log as a plan: steps, the passes that they became, what keeps the passes apart, and how many bytes they move."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from fastaug import _C
from fastaug._inspect.log import Log, Node, Outside, Passage, Run, Shape, kind_of, name_of, ops_of

# Why an op needs what comes before it as a whole, by the core's word for it.
_REASONS = {
    "any_order": "reads its input in any order",
    "turn": "turns rows into columns",
    "mean": "needs the mean of the whole image first",
    "extremes": "needs the extremes of the whole image first",
    "histogram": "needs the histogram of the whole image first",
    "row_order": "reads rows in an order in which a filter before it does not give them",
}


@dataclass
class Plan:
    """Plain data: each step, pass and barrier is a dictionary."""

    steps: list[dict[str, Any]] = field(default_factory=list)
    passes: list[dict[str, Any]] = field(default_factory=list)
    barriers: list[dict[str, Any]] = field(default_factory=list)
    bytes: dict[str, int] = field(default_factory=lambda: {"moved": 0, "op_by_op": 0})
    #: What was fused or pushed back, in words.
    notes: list[str] = field(default_factory=list)
    #: How many passes, and programs of the core's, there are before these: of other leaves of a sample.
    before: tuple[int, int] = (0, 0)

    def pass_of(self, number: int) -> dict[str, Any]:
        """The pass of a number."""
        return self.passes[number - 1 - self.before[0]]


def plan_of(log: Log, leaf: str = "", before: tuple[int, int] = (0, 0)) -> Plan:
    """The plan that a log shows: of an image, or of one leaf of a sample.

    Args:
        log: of a call.
        leaf: which of a sample's.
        before: how many passes and programs are counted already.
    """
    plan = Plan(before=before)
    numbers = _add_steps(plan, log.steps, leaf, None, {})
    program = before[1]
    for entry, count in _grouped([entry for entry in log.timeline if entry.leaf == leaf]):
        if isinstance(entry, Run):
            program += 1
            _add_run(plan, entry, count, program, numbers)
        elif entry.kind != "places":
            _add_outside(plan, entry, numbers)
    for where, node, reason in log.flushes:
        if where == leaf:
            step = plan.steps[numbers[node]]
            step["asks"] = reason
            plan.barriers.append({"step": step["step"], "name": node.name, "reason": reason, "pass": 0})
    plan.notes += dict.fromkeys(note for where, note in log.notes if where == leaf)
    _add_notes(plan)
    return plan


def _add_steps(
    plan: Plan, nodes: list[Node], leaf: str, parent: str | None, numbers: dict[Node, int]
) -> dict[Node, int]:
    for position, node in enumerate(nodes, 1):
        number = str(position) if parent is None else f"{parent}.{position}"
        numbers[node] = len(plan.steps)
        passage = node.passages.get(leaf) or Passage()
        plan.steps.append(
            {
                "step": number,
                "name": node.name,
                "depth": node.depth,
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
        )
        _add_steps(plan, node.children, leaf, number, numbers)
    return numbers


def _grouped(timeline: list[Run | Outside]) -> list[tuple[Run | Outside, int]]:
    """The runs of one batch as one, with their number."""
    groups: list[tuple[Run | Outside, int]] = []
    for entry in timeline:
        last, count = groups[-1] if groups else (None, 0)
        same = isinstance(entry, Run) and isinstance(last, Run) and entry.owners == last.owners
        if same and entry.source[:2] == last.source[:2] and _looks(entry) == _looks(last):  # type: ignore[union-attr,arg-type]
            groups[-1] = (entry, count + 1)
        else:
            groups.append((entry, 1))
    return groups


def _looks(run: Run) -> list[tuple[str, str]]:
    return [(one.name, detail_of(one)) for one in run.passes]


def detail_of(one: _C.Pass) -> str:
    """What a pass of the core does, in words, beside its name and the size of what it gives."""
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
    words = {
        "move": "whole pixels",
        "recolour": names,
        "torch_filter": "height and width in one, in float32",
        "read": f"of {_size(one.crop)}",
        "tables": names,
        "colour": names,
        "turn": f"by {one.degrees} degrees",
        "statistics": f"for {names}",
    }
    return words.get(one.kind, "")


def _size(region: tuple[int, int, int, int]) -> str:
    return f"{region[2]}x{region[3]}"


def _add_outside(plan: Plan, entry: Outside, numbers: dict[Node, int]) -> None:
    size = entry.images * (4 if "float" in entry.container else 1)
    read, written = (size * math.prod(shape) for shape in (entry.before, entry.after))
    detail = "called with the image so far" if entry.kind == "barrier" else entry.reason
    if entry.kind == "delegated" and entry.library == "torch" and entry.name == "window" and written <= read:
        read, written, detail = 0, 0, "a view"
    number = plan.before[0] + len(plan.passes) + 1
    steps = [plan.steps[numbers[node]] for node in entry.nodes]
    for step in steps:
        step["passes"].append(number)
        if entry.kind == "delegated":
            step["ops"].append(entry.name)
    plan.passes.append(
        {
            "pass": number,
            "by": entry.library,
            "name": entry.name,
            "detail": detail,
            "program": 0,
            "part": 0,
            "images": entry.images,
            "steps": [step["step"] for step in steps],
            "ops": [],
            "height": entry.after[0],
            "width": entry.after[1],
            "channels": entry.after[2],
            "bytes_read": read,
            "bytes_written": written,
            "seconds": entry.seconds,
            "of": None,
            "reads": None,
        }
    )
    plan.bytes["moved"] += read + written
    plan.bytes["op_by_op"] += read + written
    if entry.kind not in ("delegated", "kept"):
        name = f"{entry.name}, done by {entry.library}" if entry.kind == "fallback" else entry.name
        where = steps[-1]["step"] if steps else ""
        plan.barriers.append({"step": where, "name": name, "reason": entry.reason, "pass": number})


def _add_run(plan: Plan, run: Run, count: int, program: int, numbers: dict[Node, int]) -> None:
    ops = ops_of(run.program)
    names = [name_of(op) for op in ops]
    shapes = run.shapes()
    lines = _C.describe(run.program).splitlines()
    done = 0
    for one in run.passes:
        done |= one.origin
    for k, owner in enumerate(run.owners):
        if owner is not None:
            step = plan.steps[numbers[owner]]
            step["ops"].append(lines[k])
            if not done >> k & 1:
                step["dropped"].append(lines[k])
    last = decoded = int(bool(run.passes) and run.passes[0].kind == "decode")
    for position, one in enumerate(run.passes):
        number = plan.before[0] + len(plan.passes) + 1
        steps = [plan.steps[numbers[node]] for node in run.nodes(one.origin)]
        if one.kind == "decode":
            # It is no op of the program: what asked for it is the image itself, or a Decode in front of it.
            steps = [step for step in plan.steps if step["name"] == "Decode" and not step["passes"]][:1]
        for step in steps:
            step["passes"].append(number)
        mine = [k for k in range(len(ops)) if one.origin >> k & 1]
        whole = _whole(one, mine, names, shapes, position)
        # The core says which part of the cropped image it reads; here is of what that is a part.
        cropped = one.kind == "read" and position == decoded
        plan.passes.append(
            {
                "pass": number,
                "by": "fastaug",
                "name": one.name,
                "detail": f"of {shapes[0][0]}x{shapes[0][1]}" if cropped else detail_of(one),
                "program": program,
                "part": one.part,
                "images": count,
                "steps": [step["step"] for step in steps],
                "ops": [names[k] for k in mine],
                "height": one.height,
                "width": one.width,
                "channels": one.channels,
                "bytes_read": count * one.bytes_read,
                "bytes_written": count * one.bytes_written,
                "seconds": count * run.seconds_of(one),
                "of": whole,
                "reads": (*one.read[2:], *one.crop[2:]) if one.kind == "warp" else None,
            }
        )
        plan.bytes["moved"] += count * (one.bytes_read + one.bytes_written)
        if one.part > last:
            last = one.part
            _add_part(plan, run, position, names, numbers)
    plan.bytes["op_by_op"] += count * (_op_by_op(ops, shapes, 4 if run.floats else 1) + _gaps(run))


def _whole(
    one: _C.Pass, mine: list[int], names: list[str], shapes: list[Shape], position: int
) -> tuple[int, int] | None:
    """(height, width) of the image that a pass would work on, if what comes later did not need less."""
    if position < 2 and one.kind in ("read", "decode"):
        return shapes[0][:2]
    if one.kind in ("read", "warp"):
        return one.whole
    # The passes of a resize have sizes between the two of the op.
    if mine and not any(names[k] in ("RESIZE", "NEAREST") for k in mine) and one.kind not in ("store", "turn", "keep"):
        return shapes[mine[-1] + 1][:2]
    return None


def _add_part(plan: Plan, run: Run, position: int, names: list[str], numbers: dict[Node, int]) -> None:
    """What made a part end before the pass at `position`."""
    before = run.passes[position - 1]
    name = before.ops[0]
    part = 0
    for one in run.passes[position:]:
        if one.part == run.passes[position].part:
            part |= one.origin
    wanted = [k for k in range(len(names)) if names[k] == name and (part | before.origin) >> k & 1]
    owner = run.owners[wanted[0]] if wanted else None
    where = plan.steps[numbers[owner]] if owner is not None else None
    plan.barriers.append(
        {
            "step": where["step"] if where else "",
            "name": f"{name.lower()}{' of ' + where['name'] if where else ''}",
            "reason": _REASONS[before.reason],
            "pass": plan.before[0] + len(plan.passes),
        }
    )


def _op_by_op(ops: list[bytes], shapes: list[Shape], size: int) -> int:
    """Bytes when each op reads its whole input, of samples of that size, and writes its whole output."""
    total = 0
    for k, op in enumerate(ops):
        total += size * math.prod(shapes[k])
        if kind_of(op) == "store":
            size = 4
        total += size * math.prod(shapes[k + 1])
    return total


def _gaps(run: Run) -> int:
    """Bytes between the pixels of the source, such as the fourth of Pillow's RGB: whoever reads it reads them too."""
    first = run.passes[0] if run.passes else None
    if first is None or first.kind != "read" or not first.bytes_read:
        return 0
    height, width, channels = run.source
    return (first.bytes_read // (first.height * first.width) - channels) * height * width


def _add_notes(plan: Plan) -> None:
    """Fused and pushed back: only what the passes show."""
    names = {step["step"]: step["name"] for step in plan.steps}
    for one in plan.passes:
        if one["by"] != "fastaug":
            continue
        who = " and ".join(dict.fromkeys(names[step] for step in one["steps"]))
        number = f"pass {one['pass']}"
        if one["name"] == "store":
            if one["ops"]:
                plan.notes.append(f"{who}: in the store ({number})")
        elif one["name"] == "read" and one["ops"]:
            plan.notes.append(f"{who}: crop in place, by reading only that ({number})")
        elif len(one["ops"]) > 1:
            plan.notes.append(f"{who}: {len(one['ops'])} ops in one pass ({number}, {one['name']})")
        if one["reads"] and one["reads"][:2] != one["reads"][2:]:
            height, width, whole_height, whole_width = one["reads"]
            plan.notes.append(f"{number} ({one['name']}): reads {height}x{width} of {whole_height}x{whole_width}")
    _add_regions(plan)
    for step in plan.steps:
        if step["dropped"]:
            plan.notes.append(f"{step['name']}: {', '.join(step['dropped'])} dropped, no pass does it")


def _add_regions(plan: Plan) -> None:
    """Passes that do less than the whole image, those of one part that do the same together."""
    found: list[tuple[Any, list[dict[str, Any]]]] = []
    for one in plan.passes:
        whole = one["of"]
        if whole is None or one["height"] * one["width"] >= whole[0] * whole[1]:
            continue
        what = (one["program"], one["part"], one["height"], one["width"], whole)
        if found and found[-1][0] == what:
            found[-1][1].append(one)
        else:
            found.append((what, [one]))
    for (_, _, height, width, whole), passes in found:
        names = ", ".join(dict.fromkeys(one["name"] for one in passes))
        which = " and ".join(str(one["pass"]) for one in (passes[:1] if len(passes) == 1 else (passes[0], passes[-1])))
        which = which.replace(" and ", " to ") if len(passes) > 2 else which
        plan.notes.append(
            f"{'passes' if len(passes) > 1 else 'pass'} {which} ({names}): {height}x{width} of {whole[0]}x{whole[1]}, "
            "all that is needed later"
        )
