"""Writes the reference: a page per class, the functions, and the benchmark tables."""

from __future__ import annotations

import inspect
import pprint
import re
import shutil
from enum import Enum
from pathlib import Path
from types import ModuleType

import torch
import torchvision.transforms.v2

import fastaug
import fastaug.adapters.transformers
import fastaug.data
import fastaug.io
import fastaug.pathology
import fastaug.pathology.functional
import fastaug.pillow
import fastaug.transforms
import fastaug.transforms.functional
from docs._ext import addresses, functions, groups, native, pictures, v2_examples
from docs._ext.examples import EXAMPLES, GROUPS, Example, NoPicture, missing, public_classes
from fastaug._draft.pipeline import Pipeline
from fastaug._tv_tensors import own
from fastaug.transforms import v2

V2 = "fastaug.transforms.v2"
ROOT = Path(__file__).parents[2]
#: Names that torchvision does not have.
OWN = set(fastaug.transforms.__all__) - set(dir(torchvision.transforms))
OWN |= {f"v2.{name}" for name in set(v2.__all__) - set(dir(torchvision.transforms.v2))}
#: Names that have no page of their own in torchvision's documentation.
WITHOUT_A_PAGE = {
    *("InterpolationMode", "elastic_transform"),
    *("v2.AutoAugmentPolicy", "v2.Identity", "v2.InterpolationMode", "v2.SetClampingMode", "v2.Transform"),
}


class PagesError(RuntimeError):
    """What keeps the reference from being complete."""


def heading(text: str, line: str = "=") -> str:
    return f"{text}\n{line * len(text)}\n"


def name_of(text: str) -> str:
    """A heading that is a name in code: one long word, which must not break in two."""
    return f".. rst-class:: name\n\n{heading(text)}"


def summary(name: str, value: object) -> str:
    """The first paragraph of a docstring, on one line."""
    text = inspect.getdoc(value)
    if not text:
        raise PagesError(f"{name} has no docstring")
    return text.split("\n\n")[0].replace("\n", " ")


def list_table(head: list[str], rows: list[tuple[str, ...]]) -> str:
    """A table whose cells are reStructuredText of one line."""
    lines = [".. list-table::", "    :header-rows: 1", ""]
    for row in (head, *rows):
        lines += [f"    {'* -' if place == 0 else '  -'} {cell}" for place, cell in enumerate(row)]
    return "\n".join(lines) + "\n"


def picture(name: str, example: Example | NoPicture, folder: str) -> str:
    """The part of a page that shows what a class or function does, and the calls that made it."""
    if not isinstance(example, Example):
        return f"No picture: {example.reason}\n"
    calls = "\n".join(f"    {call}" for call in example.calls)
    image = f".. image:: {folder}/{name}.webp\n    :alt: {name}: before and after\n"
    return f"{image}\n.. code-block:: python\n\n{calls}\n"


def indented(text: str) -> str:
    """As the content of a directive."""
    return "\n".join(f"    {line}" if line else "" for line in text.splitlines())


def drawn(name: str, example: Example | NoPicture) -> str:
    """What was drawn for the results in a picture."""
    made = pictures.drawn(name, example) if isinstance(example, Example) else []
    if not made:
        return ""
    rows = [(label, f"``{text}``") for label, text in made]
    return f".. rst-class:: drawn\n\n{list_table(['Result', 'What was drawn'], rows)}"


def computed(name: str, of_samples: bool) -> str:
    """Who computes a class, for which container and dtype."""
    found = native.table(name, of_samples)
    if found is None:
        return ""
    text = (
        "Native is what fastaug's core does, in one call with its neighbours; a step of its own is called with the\n"
        "image so far, whole. What it leaves to Pillow or torch has their pixels, too. :doc:`/how` says more.\n"
    )
    parts = [".. rubric:: Who computes it\n", text]
    if found.rows:
        parts.append(list_table(["given", "alone", "behind a resize"], found.rows))
    if found.untouched:
        parts.append(f"Handed on as they are: {'; '.join(found.untouched)}.\n")
    if found.refused:
        parts.append(f"Refused, with torchvision's type of error: {'; '.join(found.refused)}.\n")
    return "\n".join(parts)


def same_in_torchvision(name: str) -> str:
    """A link to the page of torchvision, by the name after ``transforms.`` there."""
    if name in OWN:
        return "torchvision has no such class.\n"
    if name in WITHOUT_A_PAGE:
        return f"`torchvision's transforms <{addresses.TORCHVISION_TRANSFORMS}>`__ have it under the same name.\n"
    return f"`The same in torchvision's documentation <{addresses.torchvision(f'transforms.{name}')}>`__.\n"


def top(title: str, about: str) -> str:
    """The head of a class's page: what a preview of a link says, and the name."""
    plain = re.sub(r":\w+:`~?([^`]+)`", r"\1", about).replace("``", "")
    return f":og:description: {plain}\n\n{name_of(title)}"


def class_page(name: str) -> str:
    # The members of an enumeration have no docstrings; their names and values are what one looks for.
    value = getattr(fastaug.transforms, name)
    options = "    :members:\n"
    if issubclass(value, Pipeline):
        # What every pipeline can do is written down in its base class.
        options += "    :inherited-members: Module\n"
    if issubclass(value, Enum):
        options += "    :undoc-members:\n    :member-order: bysource\n"
    directives = f".. py:currentmodule:: fastaug.transforms\n\n.. autoclass:: fastaug.transforms.{name}\n{options}"
    example = EXAMPLES[name]
    parts = [
        top(name, summary(name, value)),
        picture(name, example, "../pictures"),
        drawn(name, example),
        directives,
        computed(name, False),
        same_in_torchvision(name),
    ]
    if name in v2.__all__:
        parts.append(f"Of whole samples: :doc:`v2.{name} </reference/v2/{name}>`.\n")
    return "\n".join(part for part in parts if part)


def gallery() -> str:
    """All classes by group, each with its picture."""
    parts = [
        name_of("transforms"),
        "The classes of ``fastaug.transforms``. Pictures show a photograph and what the transform made of it, under\n"
        "fixed seeds; they are drawn when this documentation is built.\n",
    ]
    names = public_classes()
    for group in GROUPS:
        members = [name for name in names if EXAMPLES[name].group == group]
        if not members:
            continue
        parts.append(heading(group, "-"))
        for name in members:
            text = summary(name, getattr(fastaug.transforms, name))
            parts.append(f":doc:`{name} <{name}>`\n    {text}\n")
            if isinstance(EXAMPLES[name], Example):
                parts.append(
                    f"    .. image:: ../pictures/{name}.webp\n        :alt: {name}\n        :target: {name}.html\n"
                )
    parts.append(".. toctree::\n    :hidden:\n")
    parts.append("".join(f"    {name}\n" for name in names))
    return ".. py:currentmodule:: fastaug.transforms\n\n" + "\n".join(parts)


def sample_class_page(name: str) -> str:
    """The page of a class of v2."""
    value = getattr(v2, name)
    # What users of a transform call is the transform; the rest is for those who write their own.
    options = ":members:\n"
    if issubclass(value, Pipeline):
        options += "    :inherited-members: Module\n"
    elif issubclass(value, Enum):
        options += "    :undoc-members:\n    :member-order: bysource\n"
    elif value is v2.Transform:
        options += "    :private-members: _call_kernel\n    :exclude-members: extra_repr\n"
    else:
        options += "    :exclude-members: check_inputs, extra_repr, forward, make_params, transform\n"
    directive = f".. py:currentmodule:: {V2}\n\n.. autoclass:: {V2}.{name}\n    {options}"
    parts = [top(f"v2.{name}", summary(name, value))]
    if isinstance(own_example := v2_examples.CLASSES.get(name), Example):
        parts += [picture(name, own_example, "../v2_pictures"), drawn(name, own_example)]
    elif isinstance(EXAMPLES.get(name), Example):
        image = f".. image:: ../pictures/{name}.webp\n    :alt: {name}: before and after\n"
        image += f"    :target: ../transforms/{name}.html\n"
        parts.append(f"{image}\nDrawn by :doc:`{name} of fastaug.transforms </reference/transforms/{name}>`.\n")
    parts += [directive, computed(name, True), same_in_torchvision(f"v2.{name}")]
    return "\n".join(part for part in parts if part)


def samples() -> str:
    """The classes of v2 by group, and the functions beside them."""
    parts = [
        f".. py:currentmodule:: {V2}\n",
        name_of("transforms.v2"),
        "The classes of ``fastaug.transforms.v2``. :doc:`/v2` says what they do to a sample.\n",
    ]
    for group, names in groups.CLASSES.items():
        parts.append(heading(group, "-"))
        rows = [(f":doc:`{name} <{name}>`", summary(name, getattr(v2, name))) for name in names]
        parts.append(list_table(["class", "what it does"], rows))
    parts.append(heading("For transforms of your own", "-"))
    for name in groups.helpers():
        summary(name, getattr(v2, name))
        parts.append(f".. autofunction:: {V2}.{name}\n")
    parts.append(".. toctree::\n    :hidden:\n")
    parts.append("".join(f"    {name}\n" for name in groups.public_classes()))
    return "\n".join(parts)


def sample_functions() -> str:
    """The functionals of v2, and after them the kernels that they choose from."""
    module, functional = f"{V2}.functional", v2.functional
    parts = [name_of("transforms.v2.functional"), f".. automodule:: {module}\n"]
    for title, names in (("Functions", groups.functionals()), ("Kernels", groups.kernels())):
        parts.append(heading(title, "-"))
        if title == "Kernels":
            parts.append("Each is a function for one type of leaf, and takes and returns plain tensors.\n")
        else:
            parts.append(list_table(["function", "what it does"], told(functional, names)))
        for name in names:
            summary(name, getattr(functional, name))
            example = v2_examples.FUNCTIONALS.get(name)
            shown = picture(name, example, "v2_function_pictures") if isinstance(example, Example) else ""
            parts.append(f".. autofunction:: {module}.{name}\n\n{indented(shown)}\n")
    return "\n".join(parts)


def told(module: ModuleType, names: list[str]) -> list[tuple[str, ...]]:
    """Rows of a table: links to functions, and what each does."""
    link = ":py:func:`{name} <{module}.{name}>`"
    return [(link.format(name=name, module=module.__name__), summary(name, getattr(module, name))) for name in names]


def plain_functions() -> str:
    """The functions of v1: a table of all, then each with its picture."""
    functional, module = fastaug.transforms.functional, "fastaug.transforms.functional"
    parts = [name_of("transforms.functional"), f".. automodule:: {module}\n"]
    parts.append("Pictures show a photograph and what the call below it made of it.\n")
    every = functions.FUNCTIONS.items()
    grouped = {group: [name for name, example in every if example.group == group] for group in (*GROUPS, "Measures")}
    for group, names in grouped.items():
        if names:
            parts += [f".. rubric:: {group}\n", list_table(["function", "what it does"], told(functional, names))]
    for group, names in grouped.items():
        if names:
            parts.append(heading(group, "-"))
        for name in names:
            example = functions.FUNCTIONS[name]
            shown = picture(name, example, "function_pictures") if isinstance(example, Example) else ""
            link = "" if name in WITHOUT_A_PAGE else same_in_torchvision(f"functional.{name}")
            content = indented(f"{shown}\n{link}")
            parts.append(f".. autofunction:: {module}.{name}\n\n{content}\n")
    parts.append(constant(module, "pil_modes_mapping", functional.pil_modes_mapping))
    return "\n".join(parts)


def constant(module: str, name: str, value: object) -> str:
    """A constant has no docstring: its value says what it is."""
    text = pprint.pformat(value, sort_dicts=False, width=90).replace("\n", "\n        ")
    return f".. py:data:: {module}.{name}\n\n    .. code-block:: python\n\n        {text}\n"


def module_page(title: str, module: object, module_name: str, names: list[str], classes: bool = False) -> str:
    """A module's docstring and its functions and data; its classes too, unless they have pages of their own."""
    parts = [name_of(title), f".. automodule:: {module_name}\n"]
    shown = [name for name in names if not inspect.ismodule(getattr(module, name)) and callable(getattr(module, name))]
    shown = [name for name in shown if classes or not inspect.isclass(getattr(module, name))]
    if len(shown) > 3:
        rows = []
        for name in shown:
            role = "class" if inspect.isclass(getattr(module, name)) else "func"
            rows.append((f":py:{role}:`{name} <{module_name}.{name}>`", summary(name, getattr(module, name))))
        parts.append(list_table(["name", "what it is"], rows))
    for name in names:
        value = getattr(module, name)
        if inspect.isclass(value) and classes:
            summary(name, value)
            options = "    :members:\n" + ("    :undoc-members:\n" if issubclass(value, Enum) else "")
            if value.__base__.__module__.startswith("fastaug."):
                options += "    :inherited-members: Module\n"
            if issubclass(value, torch.Tensor):
                # What all tensors can do, and how, is for torch to say.
                options = "    :members: wrap\n" if "wrap" in vars(value) else ""
            parts.append(f".. autoclass:: {module_name}.{name}\n{options}")
            continue
        if inspect.isclass(value) or inspect.ismodule(value):
            continue
        if callable(value):
            summary(name, value)
            parts.append(f".. autofunction:: {module_name}.{name}\n")
        else:
            parts.append(constant(module_name, name, value))
    return "\n".join(parts)


def write(folder: Path) -> None:
    """Writes the pages, replacing those that are there.

    Raises:
        PagesError: a public class has no line in docs/_ext/examples.py or docs/_ext/groups.py, a function none in
            docs/_ext/functions.py, or a public name has no docstring.
    """
    if names := missing():
        raise PagesError(f"these public classes need a line in docs/_ext/examples.py: {', '.join(names)}")
    if names := groups.ungrouped():
        raise PagesError(f"these need to be in, or out of, a group of docs/_ext/groups.py: {', '.join(names)}")
    if names := functions.ungrouped():
        raise PagesError(f"these need a line in, or out of, docs/_ext/functions.py: {', '.join(names)}")
    if names := v2_examples.without_picture():
        raise PagesError(f"these need a line in docs/_ext/v2_examples.py: {', '.join(names)}")
    shutil.rmtree(folder, ignore_errors=True)
    transforms = folder / "transforms"
    transforms.mkdir(parents=True)
    (transforms / "index.rst").write_text(gallery())
    for name in public_classes():
        (transforms / f"{name}.rst").write_text(class_page(name))
    (folder / "v2").mkdir()
    (folder / "v2" / "index.rst").write_text(samples())
    for name in groups.public_classes():
        (folder / "v2" / f"{name}.rst").write_text(sample_class_page(name))
    (folder / "v2_functional.rst").write_text(sample_functions())
    (folder / "functional.rst").write_text(plain_functions())
    names = [name for name in fastaug.__all__ if not name.startswith("__")]
    # What fastaug.compile and Views give is described by the guides; Drawn is what users derive their classes from.
    page = module_page("fastaug", fastaug, "fastaug", names) + "\n.. autoclass:: fastaug.Drawn\n    :members:\n"
    (folder / "fastaug.rst").write_text(page)
    page = module_page("io", fastaug.io, "fastaug.io", list(fastaug.io.__all__), classes=True)
    (folder / "io.rst").write_text(page)
    pathology = fastaug.pathology
    page = module_page("pathology", pathology, "fastaug.pathology", list(pathology.__all__), classes=True)
    names = list(pathology.functional.__all__)
    page += "\n" + module_page("pathology.functional", pathology.functional, "fastaug.pathology.functional", names)
    (folder / "pathology.rst").write_text(page)
    page = module_page("pillow", fastaug.pillow, "fastaug.pillow", list(fastaug.pillow.__all__))
    (folder / "pillow.rst").write_text(page)
    page = module_page("data", fastaug.data, "fastaug.data", list(fastaug.data.__all__), classes=True)
    (folder / "data.rst").write_text(page)
    adapter = fastaug.adapters.transformers
    page = module_page("adapters.transformers", adapter, "fastaug.adapters.transformers", adapter.__all__)
    (folder / "huggingface.rst").write_text(page)
    page = module_page("tv_tensors", own, "fastaug.tv_tensors", own.__all__, classes=True)
    (folder / "tv_tensors.rst").write_text(page)
    results = folder / "results"
    results.mkdir()
    for table in sorted((ROOT / "bench" / "results").glob("*.md")):
        shutil.copy(table, results)
