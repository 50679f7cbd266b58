"""Writes the reference: a page per class, the functions, and the benchmark tables."""

from __future__ import annotations

import inspect
import pprint
import shutil
from enum import Enum
from pathlib import Path

import torch

import fastaug
import fastaug.adapters.transformers
import fastaug.data
import fastaug.io
import fastaug.pillow
import fastaug.transforms
import fastaug.transforms.functional
from docs._ext import groups
from docs._ext.examples import EXAMPLES, GROUPS, Example, missing, public_classes
from fastaug._draft.pipeline import Pipeline
from fastaug._tv_tensors import own
from fastaug.transforms import v2

V2 = "fastaug.transforms.v2"
ROOT = Path(__file__).parents[2]


class PagesError(RuntimeError):
    """What keeps the reference from being complete."""


def heading(text: str, line: str = "=") -> str:
    return f"{text}\n{line * len(text)}\n"


def summary(name: str, value: object) -> str:
    """The first paragraph of a docstring, on one line."""
    text = inspect.getdoc(value)
    if not text:
        raise PagesError(f"{name} has no docstring")
    return text.split("\n\n")[0].replace("\n", " ")


def picture(name: str) -> str:
    """The part of a class's page that shows what it does."""
    example = EXAMPLES[name]
    if not isinstance(example, Example):
        return f"No picture: {example.reason}\n"
    calls = "\n".join(f"    {call}" for call in example.calls)
    image = f".. image:: ../pictures/{name}.webp\n    :alt: {name}: before and after\n"
    return f"{image}\n.. code-block:: python\n\n{calls}\n"


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
    return f"{heading(name)}\n{picture(name)}\n{directives}"


def gallery() -> str:
    """All classes by group, each with its picture."""
    parts = [
        heading("Transforms"),
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
    same = ""
    if isinstance(EXAMPLES.get(name), Example):
        same = f"Pictures: :doc:`{name} of fastaug.transforms </reference/transforms/{name}>`.\n"
    return f"{heading(name)}\n{same}\n{directive}"


def samples() -> str:
    """The classes of v2 by group, and the functions beside them."""
    parts = [
        f".. py:currentmodule:: {V2}\n",
        heading("Transforms of samples"),
        "The classes of ``fastaug.transforms.v2``. :doc:`/v2` says what they do to a sample.\n",
    ]
    for group, names in groups.CLASSES.items():
        parts.append(heading(group, "-"))
        parts.extend(f":doc:`{name} <{name}>`\n    {summary(name, getattr(v2, name))}\n" for name in names)
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
    parts = [heading("Functions of samples"), f".. automodule:: {module}\n"]
    for title, names in (("Functions", groups.functionals()), ("Kernels", groups.kernels())):
        parts.append(heading(title, "-"))
        if title == "Kernels":
            parts.append("Each is a function for one type of leaf, and takes and returns plain tensors.\n")
        for name in names:
            summary(name, getattr(functional, name))
            parts.append(f".. autofunction:: {module}.{name}\n")
    return "\n".join(parts)


def module_page(title: str, module: object, module_name: str, names: list[str], classes: bool = False) -> str:
    """A module's docstring and its functions and data; its classes too, unless they have pages of their own."""
    parts = [heading(title), f".. automodule:: {module_name}\n"]
    for name in names:
        value = getattr(module, name)
        if inspect.isclass(value) and classes:
            summary(name, value)
            options = "    :members:\n" + ("    :undoc-members:\n" if issubclass(value, Enum) else "")
            if value.__base__.__module__.startswith("fastaug."):
                options += "    :inherited-members:\n"
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
            # A constant has no docstring: its value says what it is.
            text = pprint.pformat(value, sort_dicts=False, width=90).replace("\n", "\n        ")
            parts.append(f".. py:data:: {module_name}.{name}\n\n    .. code-block:: python\n\n        {text}\n")
    return "\n".join(parts)


def write(folder: Path) -> None:
    """Writes the pages, replacing those that are there.

    Raises:
        PagesError: a public class has no line in docs/_ext/examples.py or docs/_ext/groups.py, or a public name has
            no docstring.
    """
    if names := missing():
        raise PagesError(f"these public classes need a line in docs/_ext/examples.py: {', '.join(names)}")
    if names := groups.ungrouped():
        raise PagesError(f"these need to be in, or out of, a group of docs/_ext/groups.py: {', '.join(names)}")
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
    functional = fastaug.transforms.functional
    page = module_page("Functions", functional, "fastaug.transforms.functional", sorted(functional.__all__))
    (folder / "functional.rst").write_text(page)
    names = [name for name in fastaug.__all__ if not name.startswith("__")]
    # What fastaug.compile and Views give is described by the guides; Drawn is what users derive their classes from.
    page = module_page("fastaug", fastaug, "fastaug", names) + "\n.. autoclass:: fastaug.Drawn\n    :members:\n"
    (folder / "fastaug.rst").write_text(page)
    page = module_page("Reading images", fastaug.io, "fastaug.io", list(fastaug.io.__all__), classes=True)
    (folder / "io.rst").write_text(page)
    page = module_page("Pillow's operations", fastaug.pillow, "fastaug.pillow", list(fastaug.pillow.__all__))
    (folder / "pillow.rst").write_text(page)
    page = module_page("Data", fastaug.data, "fastaug.data", list(fastaug.data.__all__), classes=True)
    (folder / "data.rst").write_text(page)
    adapter = fastaug.adapters.transformers
    page = module_page("Hugging Face", adapter, "fastaug.adapters.transformers", adapter.__all__)
    (folder / "huggingface.rst").write_text(page)
    page = module_page("Tensors of a sample", own, "fastaug.tv_tensors", own.__all__, classes=True)
    (folder / "tv_tensors.rst").write_text(page)
    results = folder / "results"
    results.mkdir()
    for table in sorted((ROOT / "bench" / "results").glob("*.md")):
        shutil.copy(table, results)
