"""The times of a profile as a bar chart."""

from __future__ import annotations

from typing import Any

from PIL import Image

from fastaug._inspect.canvas import FAINT, GREY, INK, Canvas, colour

_MARGIN, _WIDTH, _NAMES, _NUMBERS = 28, 980, 230, 90
_ROW, _GAP, _HEAD = 34, 8, 128
_OURS, _THEIRS = colour(0), "#aab2bc"


def profile(result: Any) -> Image.Image:
    """Draws a bar for each step, torchvision's below fastaug's, all to one scale; then the totals."""
    compared = result.total["theirs"] is not None
    rows = [(step["name"], step["ours"], step["theirs"]) for step in result.steps]
    total = (result.total["ours"]["mean"], result.total["theirs"]["mean"] if compared else None)
    height = _HEAD + (len(rows) + 1) * (_ROW + _GAP) + 44
    canvas = Canvas(_WIDTH, height)
    _head(canvas, result, compared)
    room = _WIDTH - 2 * _MARGIN - _NAMES - _NUMBERS
    most = max(max(ours, theirs or 0.0) for _, ours, theirs in rows)
    top = float(_HEAD)
    for name, ours, theirs in rows:
        _row(canvas, top, name, ours, theirs, room / most if most else 0.0)
        top += _ROW + _GAP
    canvas.line([(_MARGIN, top + 6), (_WIDTH - _MARGIN, top + 6)])
    most = max(total[0], total[1] or 0.0)
    _row(canvas, top + 18, "a call (to its own scale)", *total, room / most if most else 0.0)
    return canvas.finished()


def _head(canvas: Canvas, result: Any, compared: bool) -> None:
    title = f"{result.total['ours']['mean']:.2f} ms a call"
    if compared:
        title += f", {result.verdict()}"
    canvas.text(_MARGIN, 34, title, 20)
    canvas.text(_MARGIN, 60, f"{result.head()}; milliseconds of processor time, means over the calls", 12.5, GREY)
    canvas.box(_MARGIN, 84, 12, 12, _OURS, radius=2)
    canvas.text(_MARGIN + 18, 90, "fastaug (a pass of several steps counts for each in equal parts)", 11.5, GREY)
    if compared:
        left = _MARGIN + 34 + canvas.width("fastaug (a pass of several steps counts for each in equal parts)", 11.5)
        canvas.box(left, 84, 12, 12, _THEIRS, radius=2)
        canvas.text(left + 18, 90, result.against, 11.5, GREY)
    canvas.line([(_MARGIN, 110), (_WIDTH - _MARGIN, 110)])


def _row(canvas: Canvas, top: float, name: str, ours: float, theirs: float | None, scale: float) -> None:
    left = _MARGIN + _NAMES
    canvas.text(left - 14, top + _ROW / 2, canvas.fitted(name, _NAMES - 20, 12.5), 12.5, INK, "rm")
    bars = [(ours, _OURS)] if theirs is None else [(ours, _OURS), (theirs, _THEIRS)]
    thick = 14
    y = top + (_ROW - thick * len(bars) - 2 * (len(bars) - 1)) / 2
    for value, fill in bars:
        if value > 0:
            canvas.box(left, y, max(1.5, value * scale), thick, fill, radius=2)
        canvas.text(
            left + max(1.5, value * scale) + 8, y + thick / 2, f"{value:.3f}", 10.5, INK if fill == _OURS else GREY
        )
        y += thick + 2
    canvas.line([(left - 4, top - _GAP / 2 + 2), (left - 4, top + _ROW + _GAP / 2 - 2)], FAINT)
