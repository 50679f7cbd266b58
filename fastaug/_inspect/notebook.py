"""HTML and PNG for notebooks, of pipelines and of reports about them."""

from __future__ import annotations

import base64
import html
import inspect
import io
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from fastaug._inspect import words

if TYPE_CHECKING:
    from PIL import Image

_LONGEST = 200
#: The longer side of small pictures, in pixels of the page.
_STAMP = 150
_WIDE = 'style="max-width: 100%"'


class Report:
    """A report that prints as tables and draws itself."""

    def __repr__(self) -> str:
        return str(self)

    @abstractmethod
    def figure(self) -> Image.Image:
        """Draw a picture of the report."""

    def _repr_png_(self) -> bytes:
        return _saved(self.figure(), "PNG")

    def plot(self, path: str | PathLike[str]) -> None:
        """Write the picture that ``figure()`` draws to a file.

        Args:
            path: of the picture; its ending says the format.
        """
        self.figure().save(path)


def _saved(image: Image.Image, form: str) -> bytes:
    file = io.BytesIO()
    image.save(file, form, quality=85)
    return file.getvalue()


def table(given: words.Table) -> str:
    """Return a table with all of its text. Columns that are empty are left out."""
    head, *rows = given.rows
    whole = [row for row in given.rows if len(row) == len(head)]
    used = [k for k in range(len(head)) if any(row[k] for row in whole)]
    sides = ["left" if side == "<" else "right" for side in given.align]

    def cells(row: tuple[str, ...], tag: str) -> str:
        if len(row) != len(head):
            return f'<{tag} colspan="{len(used)}" style="text-align: left">{_text(" ".join(filter(None, row)))}</{tag}>'
        return "".join(f'<{tag} style="text-align: {sides[k]}">{_text(row[k])}</{tag}>' for k in used)

    body = "".join(f"<tr>{cells(row, 'td' if len(row) == len(head) else 'th')}</tr>" for row in rows)
    return f"<table><thead><tr>{cells(head, 'th')}</tr></thead><tbody>{body}</tbody></table>"


def explanation(plan: Any) -> str:
    return _block([_title(plan.head()), _picture(plan.figure(), "the plan as a picture"), *_plan(plan)])


def _plan(plan: Any) -> list[str]:
    parts = [table(plan.steps_table())]
    for title, passes in plan.passes_tables():
        parts.append(_title(title))
        parts.append(f"<p>{_text(passes)}</p>" * bool(passes) if isinstance(passes, str) else table(passes))
    for title, said in [*plan.remarks(), ("memory", [plan.memory()])]:
        parts += [_title(title), _listed(said)]
    if plan.device is not None:
        parts += [_title("on a GPU"), _listed([plan.device])]
    return parts


def profile(result: Any) -> str:
    parts = [_title(result.head()), _picture(result.figure(), "the times of the steps as bars")]
    parts += [*map(table, result.tables()), _listed(result.summary())]
    return _block(parts)


def comparison(report: Any) -> str:
    """Return the verdict of a comparison, and a table of the calls that are not equal."""
    mark = "equal or within the contract" if report else "NOT equal"
    _, *said = str(report).split("\n")
    parts = [_title(f"{mark}: {report.head()}"), f"<pre>{_text(chr(10).join(said))}</pre>"]
    if report.differences:
        rows: list[tuple[str, ...]] = [(report.unit, "seed", "what differs", "kept")]
        for one in report.differences:
            name = report.names[one.image] if one.image < len(report.names) else str(one.image)
            rows.append((name, str(one.seed), one.told(), {True: "yes", False: "no", None: "open"}[one.kept]))
        parts.append(table(words.Table(rows, "<><<", ())))
    return _block(parts)


def self_test(result: Any) -> str:
    return _block([_title(result.head()), _listed(result.summary()), *map(table, result.tables())])


def pipeline(transform: Any) -> str:
    """Return the transforms of a pipeline with their arguments, and the package of each."""
    return _block([_transforms(transform)])


def tried(transform: Any, found: Any) -> str:
    """Return the transforms of a pipeline, and what a Trial found: its plan and results for a photograph."""
    parts = [_transforms(transform)]
    try:
        parts += _tried(found)
    except Exception as error:
        found.reason = words.failure(error)
    if found.reason:
        said = "Not tried on a photograph" if found.plan is None else "Not all can be shown"
        parts.append(f"<p>{said}: {_text(found.reason)}</p>")
    return _block(parts)


def _tried(found: Any) -> list[str]:
    parts = []
    if found.plan is not None:
        title = _text(f"The plan for a photograph: {found.plan.head()}")
        parts.append(f"<details><summary>{title}</summary>{''.join(_plan(found.plan))}</details>")
    if found.source is not None and found.results:
        names = ["every result"] if found.alike else [f"result {k}" for k in range(1, len(found.results) + 1)]
        shown = zip(["photograph", *names], [found.source, *found.results])
        pictures = "".join(f"<div>{_small(image, name)}<div><small>{name}</small></div></div>" for name, image in shown)
        parts.append(f'<div style="display: flex; flex-wrap: wrap; gap: 8px">{pictures}</div>')
    return parts


def _transforms(transform: Any) -> str:
    rows: list[tuple[str, ...]] = [("", "transform", "whose"), _step("", transform)]
    rows += _inside(transform, "")
    return table(words.Table(rows, "<<<", ()))


def held(transform: Any) -> list[Any] | None:
    """Return the transforms inside a transform; None if it is not made of others."""
    inner = getattr(transform, "transforms", None)
    return None if isinstance(inner, str) or not isinstance(inner, Iterable) else list(inner)


def _inside(transform: Any, number: str) -> Iterator[tuple[str, str, str]]:
    for position, inner in enumerate(held(transform) or [], 1):
        yield _step(f"{number}{position}", inner)
        yield from _inside(inner, f"{number}{position}.")


def _step(number: str, transform: Any) -> tuple[str, str, str]:
    function = inspect.isroutine(transform)
    module = str(getattr(transform if function else type(transform), "__module__", ""))
    text = words.called(transform)
    if held(transform) is not None:
        settings = transform._settings() if hasattr(transform, "_settings") else []
        settings += [f"p={transform.p}"] if getattr(transform, "p", None) is not None else []
        text += f": {', '.join(settings)}" if settings else ""
    elif not function:
        text = words.cut(" ".join(repr(transform).split()), _LONGEST)
    return number, text, module.partition(".")[0]


def _text(text: str) -> str:
    return html.escape(text)


def _title(text: str) -> str:
    return f"<p><strong>{_text(text)}</strong></p>" if text else ""


def _listed(lines: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{_text(line.strip())}</li>' for line in lines)}</ul>"


def _picture(image: Image.Image, said: str) -> str:
    return _image(image, said, image.width // 2, "PNG")


def _image(image: Image.Image, said: str, width: int, form: str) -> str:
    data = base64.b64encode(_saved(image, form)).decode()
    return f'<img {_WIDE} width="{width}" alt="{said}" src="data:image/{form.lower()};base64,{data}">'


def _small(image: Image.Image, said: str) -> str:
    """Return a picture in the size of a stamp."""
    scale = _STAMP / max(image.size)
    width = max(1, round(image.width * scale))
    if scale < 0.5:
        image = image.resize([max(1, round(2 * scale * side)) for side in image.size], reducing_gap=2.0)
    # The browser enlarges smaller pictures, where the losses of a JPEG would show.
    return _image(image, said, width, "PNG" if scale > 1 else "JPEG")


def _block(parts: Sequence[str]) -> str:
    return f'<div class="fastaug">{"".join(parts)}</div>'
