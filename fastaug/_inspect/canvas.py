"""Drawing with Pillow alone: text, boxes, curves and bars, with smooth edges."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from PIL import Image, ImageDraw, ImageFont

INK, GREY, FAINT, PAPER, SHADE = "#1f2328", "#656d76", "#d0d7de", "#ffffff", "#f6f8fa"
#: Told apart by people with colour-blindness too, as far as ten colours can be.
COLOURS = (
    "#3b6fb6", "#d9822b", "#2f9e63", "#b5485d", "#7d5bb0", "#8a6d3b", "#cf6fa8", "#4fa3b8", "#98a23a", "#5d6a7a",
)  # fmt: skip

# Drawn larger than it is kept, so that lines and curves have smooth edges.
_KEPT, _DRAWN = 2, 4


def colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]


def tinted(name: str, share: float) -> tuple[int, int, int]:
    """A colour mixed with white."""
    parts = (int(name[k : k + 2], 16) for k in (1, 3, 5))
    red, green, blue = (round(255 - (255 - part) * share) for part in parts)
    return red, green, blue


@functools.cache
def _font(size: int) -> Any:
    return ImageFont.load_default(size)


class Canvas:
    """A picture of so many points; a point is two pixels."""

    def __init__(self, width: int, height: int) -> None:
        self.image = Image.new("RGB", (width * _DRAWN, height * _DRAWN), PAPER)
        self.pen = ImageDraw.Draw(self.image)

    def finished(self) -> Image.Image:
        return self.image.reduce(_DRAWN // _KEPT)

    def text(self, x: float, y: float, text: str, size: float = 13, fill: Any = INK, anchor: str = "lm") -> None:
        self.pen.text((x * _DRAWN, y * _DRAWN), text, fill=fill, font=_font(round(size * _DRAWN)), anchor=anchor)

    @staticmethod
    def width(text: str, size: float = 13) -> float:
        return float(_font(round(size * _DRAWN)).getlength(text)) / _DRAWN

    def fitted(self, text: str, room: float, size: float = 13) -> str:
        """The text, cut to the room that there is."""
        if self.width(text, size) <= room:
            return text
        while text and self.width(text + "...", size) > room:
            text = text[:-1]
        return text.rstrip(" ,") + "..."

    def wrapped(self, text: str, room: float, size: float = 13, most: int = 2) -> list[str]:
        """The text in at most so many lines."""
        lines: list[str] = []
        for word in text.split():
            if lines and self.width(f"{lines[-1]} {word}", size) <= room:
                lines[-1] += f" {word}"
            else:
                lines.append(word)
        if len(lines) > most:
            lines = [*lines[: most - 1], " ".join(lines[most - 1 :])]
        return [self.fitted(line, room, size) for line in lines]

    def box(
        self, x: float, y: float, width: float, height: float, fill: Any = None, line: Any = None, radius: float = 6
    ) -> None:
        area = (x * _DRAWN, y * _DRAWN, (x + width) * _DRAWN, (y + height) * _DRAWN)
        self.pen.rounded_rectangle(area, radius * _DRAWN, fill, line, _DRAWN if line else 0)

    def line(self, points: Sequence[tuple[float, float]], fill: Any = FAINT, width: float = 1) -> None:
        scaled = [(x * _DRAWN, y * _DRAWN) for x, y in points]
        self.pen.line(scaled, fill=fill, width=round(width * _DRAWN), joint="curve")

    def dashes(self, x: float, y: float, length: float, fill: Any = FAINT) -> None:
        for start in range(0, int(length), 8):
            self.line([(x + start, y), (x + min(start + 4, length), y)], fill)

    def curve(
        self, start: tuple[float, float], end: tuple[float, float], fill: Any = FAINT, width: float = 1.5
    ) -> None:
        """From left to right, level at both ends."""
        (x0, y0), (x1, y1) = start, end
        points = []
        for k in range(33):
            t = k / 32
            ease = t * t * (3 - 2 * t)
            points.append((x0 + (x1 - x0) * t, y0 + (y1 - y0) * ease))
        self.line(points, fill, width)

    def arrow(self, start: tuple[float, float], end: tuple[float, float], fill: Any = GREY, width: float = 1.5) -> None:
        """A curve with a head at its end, to the left or to the right."""
        side = 7 if end[0] > start[0] else -7
        self.curve(start, (end[0] - side, end[1]), fill, width)
        tip = [(end[0], end[1]), (end[0] - side, end[1] - 4), (end[0] - side, end[1] + 4)]
        self.pen.polygon([(x * _DRAWN, y * _DRAWN) for x, y in tip], fill=fill)

    def picture(self, x: float, y: float, image: Image.Image, side: float) -> None:
        """An image in a square, in its proportions."""
        room = round(side * _DRAWN)
        scale = room / max(image.size)
        size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
        shrunk = image.resize(size, Image.Resampling.LANCZOS if scale < 1 else Image.Resampling.NEAREST)
        left, top = round(x * _DRAWN) + (room - size[0]) // 2, round(y * _DRAWN) + (room - size[1]) // 2
        self.image.paste(shrunk, (left, top))
