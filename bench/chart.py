"""The bar chart of README.md and of the start page: how many times as fast as torchvision, as SVG, light and dark."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

WIDTH, MARGIN = 640, 16
LABEL, ROW, BAR, NOTE = 212, 40, 20, 17
#: The widest bar leaves room for its figure.
LONGEST = WIDTH - 2 * MARGIN - LABEL - 62
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"


@dataclass(frozen=True)
class Bar:
    """A row: what was done, how many times as fast, both times as a reader is told them, and the place of its note."""

    label: str
    ratio: float
    times: str
    note: int


@dataclass(frozen=True)
class Theme:
    background: str
    text: str
    quiet: str
    bar: str
    line: str


THEMES = {
    "light": Theme("#ffffff", "#1f2328", "#59636e", "#2557a7", "#8c959f"),
    "dark": Theme("#131416", "#e6edf3", "#9da7b1", "#6ea8fe", "#6e7681"),
}


def _text(x: float, y: float, text: str, color: str, size: int, more: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" fill="{color}" font-size="{size}"{more}>{escape(text)}</text>'


def described(bars: list[Bar]) -> str:
    """The chart in words, for those who do not see it."""
    rows = "; ".join(f"{bar.label} {bar.ratio:.1f}x" for bar in bars)
    return f"Times as fast as torchvision, on one core: {rows}."


def drawn(bars: list[Bar], notes: list[str], theme: Theme) -> str:
    """The chart. A bar's length is its ratio; the line marks torchvision's time. Each note names a machine: the
    first that of all bars which carry no number.
    """
    left, top = MARGIN + LABEL, 58
    height = top + ROW * len(bars) + 14 + NOTE * len(notes) + MARGIN
    scale = LONGEST / max(bar.ratio for bar in bars)
    bold = ' font-weight="600"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'role="img" font-family="{FONT}">',
        f"<title>{escape(described(bars))}</title>",
        f'<rect width="{WIDTH}" height="{height}" rx="8" fill="{theme.background}"/>',
        _text(MARGIN, 28, "Times as fast as torchvision: the same pixels, from the same seed", theme.text, 16, bold),
        _text(MARGIN, 47, "one core, whole calls; below each name: torchvision's and fastaug's time", theme.quiet, 13),
    ]
    for number, bar in enumerate(bars):
        y = top + ROW * number
        label = f"{bar.label} ({bar.note})" if bar.note else bar.label
        length = bar.ratio * scale
        parts += [
            _text(MARGIN, y + 17, label, theme.text, 15),
            _text(MARGIN, y + 33, bar.times, theme.quiet, 12),
            f'<rect x="{left}" y="{y + 9}" width="{length:.1f}" height="{BAR}" rx="3" fill="{theme.bar}"/>',
            _text(round(left + length + 8, 1), y + 25, f"{bar.ratio:.1f}x", theme.text, 16, bold),
        ]
    end = top + ROW * len(bars)
    stroke = f'stroke="{theme.line}" stroke-width="1.5" stroke-dasharray="4 3"'
    parts.append(f'<path d="M{left + scale:.1f} {top + 2}V{end}" {stroke}/>')
    for number, note in enumerate(notes):
        said = f"({number}) {note}" if number else note
        parts.append(_text(MARGIN, end + 14 + NOTE * (number + 0.6), said, theme.quiet, 12))
    return "\n".join([*parts, "</svg>"]) + "\n"
