"""Pictures of plans and of profiles, drawn with Pillow alone."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from PIL import Image, ImageDraw, ImageFont

from fastaug._inspect import words
from fastaug._inspect.picture import colour, normalisation, sample_picture

INK, GREY, FAINT, PAPER, SHADE = "#1f2328", "#656d76", "#d0d7de", "#ffffff", "#f6f8fa"
_STOP, _READ, _WRITTEN, _OTHERS = "#b5485d", "#8fb3d9", "#e5b27f", "#aab2bc"

# Pixels of a point while it is drawn, which are more than it keeps: lines and curves get smooth edges.
_DRAWN, _KEPT = 4, 2

_MARGIN, _HEAD, _ROW, _THUMBNAIL = 28, 108, 36, 56
_STEPS_WIDTH, _PASSES, _PASSES_WIDTH, _MEMORY, _WIDTH = 330, 470, 400, 900, 1180


@functools.cache
def _font(size: float) -> Any:
    return ImageFont.load_default(round(size * _DRAWN))


class Canvas:
    """A picture that is measured in points."""

    def __init__(self, width: int, height: int) -> None:
        self._image = Image.new("RGB", (width * _DRAWN, height * _DRAWN), PAPER)
        self._pen = ImageDraw.Draw(self._image)

    def finished(self) -> Image.Image:
        return self._image.reduce(_DRAWN // _KEPT)

    def text(
        self, x: float, y: float, text: str, size: float = 12, fill: str = INK, room: float = 1e6, anchor: str = "lm"
    ) -> float:
        """Write a text, cut to the room, and return its width."""
        font, shown = _font(size), text
        while text and font.getlength(shown) > room * _DRAWN:
            text = text[:-1]
            shown = f"{text.rstrip(' ,')}..."
        self._pen.text((x * _DRAWN, y * _DRAWN), shown, fill, font, anchor)
        return float(font.getlength(shown)) / _DRAWN

    def box(self, x: float, y: float, width: float, height: float, fill: str, line: str | None = None) -> None:
        area = (x * _DRAWN, y * _DRAWN, (x + width) * _DRAWN, (y + height) * _DRAWN)
        self._pen.rounded_rectangle(area, 2 * _DRAWN, fill, line, _DRAWN if line else 0)

    def bar(self, x: float, y: float, length: float, fill: str, label: str) -> None:
        """Draw a bar around the height y, with a label behind it."""
        self.box(x, y - 6, max(2.0, length), 12, fill)
        self.text(x + max(2.0, length) + 7, y, label, 10.5, GREY)

    def line(self, points: Sequence[tuple[float, float]], fill: str = FAINT, width: float = 1) -> None:
        scaled = [(x * _DRAWN, y * _DRAWN) for x, y in points]
        self._pen.line(scaled, fill, round(width * _DRAWN), "curve")

    def curve(self, start: tuple[float, float], end: tuple[float, float], fill: str) -> None:
        """Draw a curve from left to right that is level at both ends."""
        (x0, y0), (x1, y1) = start, end
        times = [k / 32 for k in range(33)]
        self.line([(x0 + (x1 - x0) * t, y0 + (y1 - y0) * t * t * (3 - 2 * t)) for t in times], fill, 1.6)

    def picture(self, x: float, y: float, image: Image.Image, side: float) -> None:
        """Draw an image inside a square, in its proportions."""
        scale = side * _DRAWN / max(image.size)
        size = [max(1, round(extent * scale)) for extent in image.size]
        shown = image.resize(size, Image.Resampling.LANCZOS if scale < 1 else Image.Resampling.NEAREST)
        left, top = (round(at * _DRAWN + (side * _DRAWN - extent) / 2) for at, extent in zip((x, y), size))
        self._image.paste(shown, (left, top))


def _titled(height: int, title: str, text: str) -> Canvas:
    canvas = Canvas(_WIDTH, height)
    canvas.text(_MARGIN, 34, title, 20, room=_WIDTH - 2 * _MARGIN)
    canvas.text(_MARGIN, 60, text, fill=GREY)
    canvas.line([(_MARGIN, _HEAD - 4), (_WIDTH - _MARGIN, _HEAD - 4)])
    return canvas


# ---- plans


def plan(explanation: Any, stages: list[Any]) -> Image.Image:
    """Draw the steps, the passes that they become, and the memory that these move.

    The `stages` are the image before the first and after each top-level step; or empty.
    """
    rows, tall = _rows(explanation), _THUMBNAIL + 20 if stages else 56
    left, right = tall * (len(explanation.steps) + bool(stages)), _ROW * len(rows)
    bottom = _HEAD + max(left, right)
    programs = [one["program"] for one in explanation.passes if one["by"] == "fastaug"]
    calls = len(set(programs))
    said = f"{len(programs)} passes in {calls} {_unit(explanation)}{'s' * (calls != 1)}"
    head = f"mode {explanation.mode}: {len(explanation.steps)} steps, {said}"
    canvas = _titled(bottom + 76, f"{explanation.source}  to  {explanation.result}", head)
    for x, name in ((_MARGIN, "steps"), (_PASSES, "passes"), (_MEMORY, "memory")):
        canvas.text(x, _HEAD - 16, name, fill=GREY)
    # The shorter column is centred beside the longer one.
    places = _steps(canvas, explanation, stages, (_HEAD + bottom - left) / 2, tall)
    most = max((one[key] for one in explanation.passes for key in ("bytes_read", "bytes_written")), default=0) or 1
    for number, (text, fill, one) in enumerate(rows):
        y = (_HEAD + bottom - right) / 2 + (number + 0.5) * _ROW
        if one is None:
            canvas.text(_PASSES + 2, y + 4, text, 11, fill, _PASSES_WIDTH + 60)
        else:
            _pass(canvas, one, y, places, most)
    canvas.line([(_MARGIN, bottom + 12), (_WIDTH - _MARGIN, bottom + 12)])
    moved, apart = explanation.bytes["moved"], explanation.bytes["op_by_op"]
    times = f" ({apart / moved:.1f} times as much)" if moved else ""
    for y, label, count, fill, ratio in (
        (bottom + 32, "bytes read and written", moved, _READ, ""),
        (bottom + 52, "op by op, each reading and writing whole images", apart, FAINT, times),
    ):
        canvas.text(_MARGIN, y, label, 11, GREY)
        length = (_MEMORY - _PASSES) * count / max(moved, apart, 1)
        canvas.bar(_PASSES, y, length, fill, words.megabytes(count) + ratio)
    return canvas.finished()


def _unit(explanation: Any) -> str:
    """Return the name of a program: a native call, which may run those of all leaves of a sample."""
    return "program" if any(one["leaf"] for one in explanation.passes) else "native call"


def _rows(explanation: Any) -> list[tuple[str, str, Any]]:
    """Return the column of passes: text in a colour, or a pass."""
    rows: list[tuple[str, str, Any]] = []
    leaf: str | None = None
    group: tuple[Any, ...] = ()
    for one in explanation.passes:
        if one["leaf"] != leaf:
            leaf = one["leaf"]
            rows += [(leaf.strip(), INK, None)] if leaf else []
        ours = one["by"] == "fastaug"
        now = (leaf, one["by"], one["program"], one["part"], ours or one["pass"])
        if now != group:
            group = now
            bars = [bar for bar in explanation.barriers if bar["pass"] == one["pass"]]
            rows += [(f"{bar['name']}: {bar['reason']}", _STOP, None) for bar in bars]
            together = f"{_unit(explanation)} {one['program']}, part {one['part'] + 1}: row by row"
            together += f", for each of {one['images']} images" if one["images"] > 1 else ""
            rows.append((together, GREY, None) if ours else (words.done_by(one), _STOP, None))
        rows.append(("", "", one))
    return rows


def _steps(
    canvas: Canvas, explanation: Any, stages: list[Any], top: float, tall: float
) -> dict[str, tuple[float, str]]:
    """Draw the steps, and return where each ends, and its colour."""
    transforms = list(explanation._pipeline.transforms)
    if stages:
        canvas.picture(_MARGIN + 6, top + 6, sample_picture(stages[0]), _THUMBNAIL)
        left = _THUMBNAIL + 18
        canvas.text(_MARGIN + left, top + tall / 2 - 5, explanation.source, fill=GREY, room=_STEPS_WIDTH - left)
        top += tall
    places: dict[str, tuple[float, str]] = {}
    colours = done = 0
    for step in explanation.steps:
        used, inset = bool(step["passes"]), 18 * step["depth"]
        tint = colour(colours) if used else FAINT
        colours += used
        middle, left = top + tall / 2 - 5, _MARGIN + inset + 14
        canvas.box(_MARGIN + inset, top, _STEPS_WIDTH - inset, tall - 10, PAPER, FAINT)
        canvas.box(_MARGIN + inset, top, 4, tall - 10, tint)
        if stages and step["depth"] == 0:
            done += 1
            shown = sample_picture(stages[done], normalisation(transforms[:done]))
            canvas.picture(left - 4, top + 6, shown, _THUMBNAIL)
            left += _THUMBNAIL + 8
        drawn, room = words.parameters(step), _MARGIN + _STEPS_WIDTH - left - 8
        nothing = "" if used else explanation.becomes(step)
        note = "; ".join(filter(None, (drawn, nothing))) or ", ".join(step["ops"]).lower().replace("_", " ")
        canvas.text(left, middle - 8, step["name"], 14, INK if used or step["children"] else GREY, room)
        canvas.text(left, middle + 9, note, 10.5, GREY, room)
        places[step["step"]] = (middle, tint)
        top += tall
    return places


def _pass(canvas: Canvas, one: dict[str, Any], y: float, places: dict[str, tuple[float, str]], most: int) -> None:
    """Draw a pass around the height y, what leads to it, and a bar for each image that it reads or writes."""
    top, tall = y - _ROW / 2 + 2, _ROW - 4
    canvas.box(_PASSES, top, _PASSES_WIDTH, tall, SHADE, FAINT)
    slot = tall / max(1, len(one["steps"]))
    for number, step in enumerate(one["steps"]):
        start, tint = places[step]
        canvas.curve((_MARGIN + _STEPS_WIDTH, start), (_PASSES, top + (number + 0.5) * slot), tint)
        canvas.box(_PASSES, top + number * slot, 4, slot, tint)
    left, right = _PASSES + 14, _PASSES + _PASSES_WIDTH - 12
    label = canvas.text(left, y, f"{one['pass']}  {one['name']}", room=0.6 * _PASSES_WIDTH)
    shape = canvas.text(right, y, words.shape_of(one), 10.5, GREY, anchor="rm")
    detail = left + max(72.0, label + 8)
    canvas.text(detail, y, one["detail"], 10.5, GREY, right - shape - 10 - detail)
    for key, place, fill in (("bytes_read", y - 8, _READ), ("bytes_written", y + 8, _WRITTEN)):
        if one[key]:
            label_of = f"{words.megabytes(one[key])} {key.removeprefix('bytes_')}"
            canvas.bar(_MEMORY, place, (_WIDTH - _MARGIN - _MEMORY - 90) * one[key] / most, fill, label_of)


# ---- profiles


def profile(result: Any) -> Image.Image:
    """Draw bars for each step, torchvision's below fastaug's, all to one scale; then the totals."""
    ours, theirs = result.total["ours"]["mean"], result.total["theirs"]
    steps = [(step["name"], step["ours"], step["theirs"]) for step in result.steps]
    total = ("a call (to its own scale)", ours, theirs and theirs["mean"])
    title = f"{ours:.2f} ms a call" + (f", {result.verdict()}" if theirs else "")
    text = f"{result.head()}; milliseconds of processor time, means over the calls"
    canvas = _titled(_HEAD + (len(steps) + 1) * (_ROW + 6) + 24, title, text)
    canvas.bar(_MARGIN, 86, 12, colour(0), "fastaug (a pass of several steps counts for each in equal parts)")
    if theirs:
        canvas.bar(_WIDTH / 2, 86, 12, _OTHERS, result.against)
    y = _HEAD + _ROW / 2
    for rows in (steps, [total]):
        most = max((max(one, other or 0.0) for _, one, other in rows), default=0.0) or 1.0
        for name, *times in rows:
            canvas.text(244, y, name, room=210, anchor="rm")
            bars = [(time, fill) for time, fill in zip(times, (colour(0), _OTHERS)) if time is not None]
            for number, (time, fill) in enumerate(bars):
                place = y + 16 * (number - (len(bars) - 1) / 2)
                canvas.bar(258, place, (_WIDTH - _MARGIN - 258 - 60) * time / most, fill, f"{time:.3f}")
            y += _ROW + 6
        y += 12
    return canvas.finished()
