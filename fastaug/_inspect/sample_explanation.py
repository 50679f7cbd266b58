"""What explain() returns for samples: what a pipeline does to each of the leaves."""

from __future__ import annotations

from typing import Any

from fastaug._draft.generators import generator_of, untouched
from fastaug._inspect import words
from fastaug._inspect.explanation import NOTHING, Explanation
from fastaug._inspect.log import Node, Outside
from fastaug._inspect.plan import Plan, plan_of
from fastaug._inspect.sample_log import SampleLog
from fastaug._sample.sample import Sample
from fastaug._sample.tape import SampleReplaying
from fastaug._sample.watch import Watch

_NO_PASS = "no pass over pixels"


class SampleExplanation(Explanation):
    """What a pipeline does to one sample. Prints as tables, leaf by leaf; of an image alone as of a single image.

    Attributes:
        steps: as of an image, each transform once. "changed" are the leaves that it changed, as they are written in
            Python after the name of the sample, "" where the sample is an image; "ops" and "passes" are those of all
            leaves, "container", "before" and "after" of the first that has pixels.
        leaves: a dictionary for each leaf: its "leaf", as above; "kind", which is "pixels", "places" for boxes and key
            points, or "other"; "source" and "result", in words; "changed", the numbers of the steps that changed it;
            "by", who did so to boxes and points, which have no passes; and "steps", as of an image, for pixels.
        passes, barriers: as of an image, one leaf after the other, each with its "leaf".
        notes, bytes: of all leaves.
        parameters: what was drawn, as ``replay()`` takes it.
        mode, arithmetic: of the pipeline.
        device: what ``batch(device="cuda")`` would do of it where, in words; None unless that was asked for.
    """

    def __init__(self, log: SampleLog, pipeline: Any, sample: Any, result: Any) -> None:
        results = Sample((result,))
        described = {path: words.described(leaf) for path, leaf in zip(results.paths(), results.leaves)}
        seen = [path for path, leaf in log.leaves.items() if leaf.kind == "pixels"]
        plans: dict[str, Plan] = {}
        before = (0, 0)
        for path in seen:
            plan = plans[path] = plan_of(log, path, before)
            programs = max([one["program"] for one in plan.passes], default=0)
            before = before[0] + len(plan.passes), max(before[1], programs)
        changed = _changed(log.steps)
        super().__init__(_together(log, plans, changed), pipeline, sample, result, log.tape.entries)
        self.alone = list(log.leaves) == [""]
        self.leaves: list[dict[str, Any]] = [
            {
                "leaf": path,
                "kind": leaf.kind,
                "source": leaf.source,
                "result": described.get(path, ""),
                "changed": [step["step"] for step in self.steps if path in step["changed"] and not step["children"]],
                "by": _by(log, path),
                "steps": plans[path].steps if path in plans else [],
            }
            for path, leaf in log.leaves.items()
        ]

    def steps_table(self) -> words.Table:
        if self.alone:
            return super().steps_table()
        rows: list[tuple[str, ...]] = [("step", "", "drawn", "changes", "becomes")]
        for step in self.steps:
            name = "  " * step["depth"] + step["name"]
            rows.append((step["step"], name, words.parameters(step), ", ".join(step["changed"]), self.becomes(step)))
        return words.Table(rows, "<<<<<", (6, 36, 44, 60, 60))

    def _all_passes(self) -> list[str]:
        if self.alone:
            return super()._all_passes()
        lines: list[str] = []
        for title, passes in self.passes_tables():
            lines += [""] * bool(lines) + [title]
            lines += [f"  {line}" for line in ([passes] * bool(passes) if isinstance(passes, str) else passes.lines())]
        return lines

    def passes_tables(self) -> list[tuple[str, words.Table | str]]:
        if self.alone:
            return super().passes_tables()
        tables: list[tuple[str, words.Table | str]] = []
        untouched_leaves = []
        for leaf in self.leaves:
            passes = [one for one in self.passes if one["leaf"] == leaf["leaf"]]
            if not passes and not leaf["changed"]:
                untouched_leaves.append(leaf["leaf"].strip())
                continue
            became = leaf["source"] if leaf["source"] == leaf["result"] else f"{leaf['source']} -> {leaf['result']}"
            title = f"{leaf['leaf'].strip()}: {became}"
            if passes:
                tables.append((title, self._passes(passes)))
            else:
                by = f" by {' and '.join(leaf['by'])}" if leaf["by"] else ""
                steps = words.numbered("step", leaf["changed"])
                tables.append((title, f"{_NO_PASS}: changed{by} in {steps}" if steps else _NO_PASS))
        if untouched_leaves:
            tables.append((f"handed on as they are: {', '.join(untouched_leaves)}", ""))
        return tables

    def _different_barriers(self) -> list[dict[str, Any]]:
        """Each once that is the same for several leaves."""
        return list({(one["step"], one["name"], one["reason"]): one for one in reversed(self.barriers)}.values())[::-1]

    def _reason(self, barrier: dict[str, Any]) -> str:
        if self.alone:
            return super()._reason(barrier)
        alike = [one for one in self.barriers if all(one[key] == barrier[key] for key in ("step", "name", "reason"))]
        return f"{barrier['reason']} ({', '.join(one['leaf'].strip() for one in alike)})"

    def becomes(self, step: dict[str, Any]) -> str:
        text = super().becomes(step)
        if text == NOTHING and any(leaf["leaf"] in step["changed"] for leaf in self.leaves):
            # Boxes and points, what a tensor is said to be, which of several masks are kept.
            return _NO_PASS
        return text

    def _stages(self) -> list[Any]:
        """The sample before the first and after each of the pipeline's own transforms."""
        if self._image is None:
            return []
        stages = _Stages(self._image)
        with untouched(generator_of(self._pipeline)):
            self._pipeline._run_sample((self._image,), tape=SampleReplaying(self.parameters), watch=stages)
        return stages.found


class _Stages(Watch):
    """Has a sample finished after each of the pipeline's own transforms, and keeps what it is then."""

    def __init__(self, sample: Any) -> None:
        self.found = [sample]
        self._depth = 0

    def begin(self, transform: Any, sample: Sample) -> None:
        self._depth += 1

    def end(self, transform: Any, sample: Sample) -> None:
        self._depth -= 1
        if not self._depth:
            structure = sample.finish()
            self.found.append(structure)
            sample.restart(structure)


def _changed(nodes: list[Node]) -> list[list[str]]:
    """The leaves that each transform changed, in the order of the steps of a plan."""
    found = []
    for node in nodes:
        found += [node.changed, *_changed(node.children)]
    return found


def _by(log: SampleLog, path: str) -> list[str]:
    """Who has changed boxes and points."""
    done = [entry for entry in log.timeline if isinstance(entry, Outside) and entry.kind == "places"]
    return list(dict.fromkeys(entry.library for entry in done if entry.leaf == path))


def _together(log: SampleLog, plans: dict[str, Plan], changed: list[list[str]]) -> Plan:
    """The plans of all leaves as one."""
    whole = Plan(steps=plan_of(log, "no leaf").steps)
    first = True
    for path, plan in plans.items():
        for step, of_leaf in zip(whole.steps, plan.steps):
            step["ops"] += [op for op in of_leaf["ops"] if op not in step["ops"]]
            step["dropped"] += [op for op in of_leaf["dropped"] if op not in step["dropped"]]
            step["passes"] += of_leaf["passes"]
            step["asks"] = step["asks"] or of_leaf["asks"]
            if first:
                step.update({key: of_leaf[key] for key in ("container", "before", "after")})
        first = False
        whole.passes += [{**one, "leaf": path} for one in plan.passes]
        whole.barriers += [{**one, "leaf": path} for one in plan.barriers]
        whole.notes += [f"{path.strip()}: {note}" if path else note for note in plan.notes]
        for key, count in plan.bytes.items():
            whole.bytes[key] += count
    for step, leaves in zip(whole.steps, changed):
        step["changed"] = leaves
    return whole
