"""The plan of a pipeline as a picture: steps, the passes that they become, and the memory that these move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from PIL import Image

from fastaug._inspect import words
from fastaug._inspect.canvas import FAINT, GREY, INK, PAPER, SHADE, Canvas, colour, tinted
from fastaug._inspect.overlay import sample_picture
from fastaug._inspect.picture import normalisation, picture
from fastaug._sample.pipeline import SamplePipeline

_MARGIN, _HEAD = 28, 96
_STEP_X, _STEP_WIDTH, _STEP_GAP = 28, 330, 10
_PASS_X, _PASS_WIDTH, _PASS_HEIGHT = 470, 400, 36
_MEMORY_X, _MEMORY_WIDTH = 980, 170
_WIDTH = _MEMORY_X + _MEMORY_WIDTH + _MARGIN
_THUMBNAIL = 56
_FRAME_HEAD, _FRAME_GAP, _NOTE = 26, 16, 20
_STOP = "#b5485d"


@dataclass
class _Frame:
    """Passes whose rows go through together, or one call of another library."""

    passes: list[dict[str, Any]]
    notes: list[str]
    #: The leaf of a sample that these are the first passes of.
    title: str = ""
    top: float = 0.0
    height: float = 0.0


def plan(explanation: Any, stages: list[Any]) -> Image.Image:
    """Draws it. `stages` is the image before the first and after each top-level step, or empty."""
    frames = _frames(explanation)
    tall = _THUMBNAIL + 12 if stages else 46
    steps_height = (len(explanation.steps) + bool(stages)) * (tall + _STEP_GAP) - _STEP_GAP
    top = _HEAD + 30.0
    for frame in frames:
        frame.top = top + _NOTE * (len(frame.notes) + bool(frame.title))
        frame.height = _FRAME_HEAD + len(frame.passes) * _PASS_HEIGHT + 8
        top = frame.top + frame.height + _FRAME_GAP
    passes_height = top - _FRAME_GAP - _HEAD - 30
    height = int(_HEAD + 30 + max(steps_height, passes_height) + 84)
    # The shorter column is centred beside the longer one.
    down = max(0.0, (steps_height - passes_height) / 2)
    for frame in frames:
        frame.top += down
    canvas = Canvas(_WIDTH, height)
    _head(canvas, explanation)
    places = _steps(canvas, explanation, stages, tall, max(0.0, (passes_height - steps_height) / 2))
    _links(canvas, explanation, frames, places)
    _passes(canvas, frames, places, _unit(explanation))
    _memory(canvas, explanation, frames)
    _foot(canvas, explanation, height - 50)
    return canvas.finished()


def _frames(explanation: Any) -> list[_Frame]:
    frames: list[_Frame] = []
    last = None
    for one in explanation.passes:
        leaf = one.get("leaf", "")
        group = (leaf, one["by"], one["program"], one["part"], one["pass"] if one["by"] != "fastaug" else 0)
        if group != last:
            reasons = [f"{bar['name']}: {bar['reason']}" for bar in explanation.barriers if bar["pass"] == one["pass"]]
            title = leaf.strip() if last is None or last[0] != leaf else ""
            frames.append(_Frame([], reasons, title))
        frames[-1].passes.append(one)
        last = group
    return frames


def _unit(explanation: Any) -> str:
    """What there is of each program: a native call, of which one may run those of all leaves of a sample."""
    return "program" if any(one.get("leaf") for one in explanation.passes) else "native call"


def _head(canvas: Canvas, explanation: Any) -> None:
    title = canvas.fitted(f"{explanation.source}  to  {explanation.result}", _WIDTH - 2 * _MARGIN, 20)
    canvas.text(_MARGIN, 34, title, 20)
    count = sum(one["by"] == "fastaug" for one in explanation.passes)
    calls = len({one["program"] for one in explanation.passes if one["by"] == "fastaug"})
    text = f"mode {explanation.mode}: {len(explanation.steps)} steps, {count} passes in {calls} {_unit(explanation)}"
    canvas.text(_MARGIN, 60, text + ("s" if calls != 1 else ""), 12.5, GREY)
    for x, name in ((_STEP_X, "steps"), (_PASS_X, "passes"), (_MEMORY_X, "memory")):
        canvas.text(x, _HEAD, name, 13, GREY)
    canvas.line([(_MARGIN, _HEAD + 12), (_WIDTH - _MARGIN, _HEAD + 12)])


def _steps(
    canvas: Canvas, explanation: Any, stages: list[Any], tall: float, down: float
) -> dict[str, tuple[float, str]]:
    """Draws the steps. Where each ends, and its colour."""
    places: dict[str, tuple[float, str]] = {}
    top = _HEAD + 30 + down
    seen = sample_picture if isinstance(explanation._pipeline, SamplePipeline) else picture
    if stages:
        canvas.picture(_STEP_X + 6, top + 6, seen(stages[0]), _THUMBNAIL)
        room = _STEP_WIDTH - _THUMBNAIL - 18
        canvas.text(_STEP_X + _THUMBNAIL + 18, top + tall / 2, canvas.fitted(explanation.source, room, 12), 12, GREY)
        top += tall + _STEP_GAP
    colours = 0
    tops = [step for step in explanation.steps if step["depth"] == 0]
    transforms = explanation._pipeline.transforms
    for step in explanation.steps:
        used = bool(step["passes"])
        tint = colour(colours) if used else FAINT
        colours += used
        x = _STEP_X + 18 * step["depth"]
        width = _STEP_WIDTH - 18 * step["depth"]
        canvas.box(x, top, width, tall, PAPER, FAINT)
        canvas.box(x, top, 4, tall, tint, radius=2)
        left = x + 14
        if stages and step["depth"] == 0:
            index = tops.index(step)
            shown = seen(stages[index + 1], normalisation(list(transforms)[: index + 1]))
            canvas.picture(x + 10, top + 6, shown, _THUMBNAIL)
            left += _THUMBNAIL + 8
        room = x + width - left - 8
        drawn = words.parameters(step)
        note = drawn or ", ".join(step["ops"]).lower().replace("_", " ")
        if not used:
            what = explanation.becomes(step)
            note = f"{drawn}; {what}" if drawn and what else drawn or what
        lines = canvas.wrapped(note, room, 10.5, 2)
        middle = top + tall / 2
        name = canvas.fitted(step["name"], room, 14)
        canvas.text(left, middle - 7 * len(lines), name, 14, INK if used or step["children"] else GREY)
        for number, line in enumerate(lines):
            canvas.text(left, middle + 4 + 14 * number + (4 if len(lines) == 1 else 0) - 2, line, 10.5, GREY)
        places[step["step"]] = (middle, tint)
        top += tall + _STEP_GAP
    return places


def _foot(canvas: Canvas, explanation: Any, top: float) -> None:
    """The bytes of these passes, and of as many as there are ops."""
    canvas.line([(_MARGIN, top - 14), (_WIDTH - _MARGIN, top - 14)])
    moved, apart = explanation.bytes["moved"], explanation.bytes["op_by_op"]
    most = max(moved, apart, 1)
    rows = (("bytes read and written", moved), ("op by op, each reading and writing whole images", apart))
    for number, (label, count) in enumerate(rows):
        y = top + 6 + 20 * number
        canvas.text(_STEP_X, y, label, 11.5, GREY)
        length = max(2.0, (_MEMORY_X - _PASS_X) * count / most)
        canvas.box(_PASS_X, y - 6, length, 12, FAINT if number else "#7fa8d6", radius=2)
        times = f" ({apart / moved:.1f} times as much)" if number and moved else ""
        canvas.text(_PASS_X + length + 8, y, words.megabytes(count) + times, 11.5)


def _row(frame: _Frame, number: int) -> float:
    return frame.top + _FRAME_HEAD + (number + 0.5) * _PASS_HEIGHT


def _links(canvas: Canvas, explanation: Any, frames: list[_Frame], places: dict[str, tuple[float, str]]) -> None:
    for frame in frames:
        for number, one in enumerate(frame.passes):
            for position, step in enumerate(one["steps"]):
                y, tint = places[step]
                end = _row(frame, number) + 7 * (position - (len(one["steps"]) - 1) / 2)
                canvas.curve((_STEP_X + _STEP_WIDTH, y), (_PASS_X + 10, end), tinted(tint, 0.75), 1.6)


def _passes(canvas: Canvas, frames: list[_Frame], places: dict[str, tuple[float, str]], unit: str) -> None:
    for frame in frames:
        if frame.title:
            y = frame.top - _NOTE * (len(frame.notes) + 1) + 2
            canvas.text(_PASS_X + 2, y, canvas.fitted(frame.title, _PASS_WIDTH, 13), 13)
        for number, text in enumerate(frame.notes):
            y = frame.top - _NOTE * (len(frame.notes) - number) + 2
            canvas.text(_PASS_X + 2, y, canvas.fitted(text, _PASS_WIDTH + 60, 11), 11, _STOP)
        first = frame.passes[0]
        ours = first["by"] == "fastaug"
        canvas.box(_PASS_X, frame.top, _PASS_WIDTH, frame.height, SHADE, FAINT if ours else _STOP, 8)
        if ours:
            head = f"{unit} {first['program']}, part {first['part'] + 1}: row by row"
            head += f", for each of {first['images']} images" if first["images"] > 1 else ""
        else:
            head = words.done_by(first)
        canvas.text(_PASS_X + 12, frame.top + _FRAME_HEAD / 2 + 1, head, 10.5, GREY)
        for number, one in enumerate(frame.passes):
            y = _row(frame, number)
            canvas.box(_PASS_X + 8, y - _PASS_HEIGHT / 2 + 2, _PASS_WIDTH - 16, _PASS_HEIGHT - 4, PAPER, FAINT, 4)
            steps = one["steps"]
            for position, step in enumerate(steps):
                slot = (_PASS_HEIGHT - 4) / len(steps)
                canvas.box(_PASS_X + 8, y - _PASS_HEIGHT / 2 + 2 + position * slot, 4, slot, places[step][1], radius=1)
            label = canvas.fitted(f"{one['pass']}  {one['name']}", 0.6 * _PASS_WIDTH, 12.5)
            canvas.text(_PASS_X + 20, y, label, 12.5)
            shape = words.shape_of(one)
            canvas.text(_PASS_X + _PASS_WIDTH - 16, y, shape, 10.5, GREY, "rm")
            left = _PASS_X + 26 + max(66, canvas.width(label, 12.5))
            room = _PASS_X + _PASS_WIDTH - 26 - canvas.width(shape, 10.5) - left
            canvas.text(left, y, canvas.fitted(one["detail"], room, 10.5), 10.5, GREY)


def _memory(canvas: Canvas, explanation: Any, frames: list[_Frame]) -> None:
    """A bar for each time that a whole image is read or written, as long as it has bytes."""
    rows = []
    for frame in frames:
        for number, one in enumerate(frame.passes):
            y = _row(frame, number)
            both = one["bytes_read"] > 0 and one["bytes_written"] > 0
            for key, offset in (("bytes_read", -8.5), ("bytes_written", 8.5)):
                if one[key]:
                    rows.append((y + offset * both, key == "bytes_read", one[key]))
    most = max((count for _, _, count in rows), default=1)
    edge = _PASS_X + _PASS_WIDTH
    for y, read, count in rows:
        length = max(3.0, (_MEMORY_WIDTH - 84) * count / most)
        fill = "#8fb3d9" if read else "#e5b27f"
        canvas.box(_MEMORY_X, y - 6, length, 12, fill, radius=2)
        canvas.text(_MEMORY_X + length + 6, y, f"{words.megabytes(count)}", 10.5, INK)
        if read:
            canvas.arrow((_MEMORY_X - 6, y), (edge + 4, y), fill)
        else:
            canvas.arrow((edge + 4, y), (_MEMORY_X - 6, y), fill)
        canvas.text((_MEMORY_X + edge) / 2, y - 7, "reads" if read else "writes", 9.5, GREY, "mm")
