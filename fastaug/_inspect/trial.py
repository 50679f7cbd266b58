"""Results of a pipeline for the photograph that comes with fastaug, for notebooks that show the pipeline."""

from __future__ import annotations

import functools
import inspect
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import nn

from fastaug._draft.generators import untouched
from fastaug._draft.replaced import functions
from fastaug._draft.written import global_hooks, global_pre_hooks, has_hooks
from fastaug._image.sample import PHOTOGRAPH
from fastaug._inspect import explain, notebook, words
from fastaug._inspect.picture import normalisation, sample_picture
from fastaug._inspect.twin import copied

#: Number of results, and seconds after which no more are made.
_DRAWS, _SECONDS = 4, 0.06

# Packages whose transforms do nothing except make images: they keep no counts, and no generators of their own.
_TRUSTED = ("fastaug", "torchvision")


@dataclass
class Trial:
    """Results of a pipeline for the photograph."""

    #: Of the first call; None if there was none, or it failed.
    plan: Any = None
    source: Image.Image | None = None
    #: Pictures; one if all calls give the same.
    results: list[Image.Image] = field(default_factory=list)
    alike: bool = False
    #: Why a plan or results are missing, in a line; empty if none are.
    reason: str = ""


def trial(pipeline: Any) -> Trial:
    """Try a pipeline on the photograph. Moves no generator, runs no user code, and never raises."""
    found = Trial()
    try:
        user = user_code(pipeline)
        if user:
            found.reason = f"{user} is user code, which showing a pipeline does not run. Its show(image) does."
            return found
        with warnings.catch_warnings(), untouched(*_generators(pipeline)):
            warnings.simplefilter("ignore")
            _try(pipeline, found)
    except Exception as error:
        found.reason = words.failure(error)
    return found


def _try(pipeline: Any, found: Trial) -> None:
    start = time.perf_counter()
    errors = []
    for image in _photographs(pipeline):
        try:
            found.plan = explain.explain(pipeline, copied(image))
            break
        except Exception as error:
            errors.append(error)
    else:
        raise errors[0]
    undo = normalisation(pipeline.transforms)
    found.source = _photograph()
    while len(found.results) < _DRAWS:
        found.results.append(sample_picture(pipeline(copied(image)), undo))
        if time.perf_counter() - start > _SECONDS:
            break
    if len(found.results) > 1 and all(result == found.results[0] for result in found.results):
        found.alike = True
        del found.results[1:]


@functools.cache
def _photograph() -> Image.Image:
    with Image.open(PHOTOGRAPH) as image:
        return image.copy()


def _photographs(pipeline: Any) -> Iterator[Any]:
    """Yield the photograph in the containers that a pipeline may take."""
    if any(type(transform).__name__ == "Decode" for transform in list(pipeline.transforms)[:1]):
        yield PHOTOGRAPH
    yield _photograph().copy()
    pixels = torch.from_numpy(np.array(_photograph())).permute(2, 0, 1).contiguous()
    yield pixels
    yield pixels / 255


def _inside(transform: Any) -> list[Any]:
    return list(transform) if isinstance(transform, nn.Sequential) else notebook.held(transform) or []


def user_code(transform: Any) -> str:
    """Return the name of the first function or class of the user's that a call would run; empty if there is none."""
    if functions:
        return f"functional.{next(iter(functions))}"
    if inspect.isroutine(transform):
        return "" if _trusted(transform) else words.called(transform)
    if not _trusted(type(transform)):
        return words.called(transform)
    own = getattr(transform, "__dict__", {})
    if has_hooks(transform) or "forward" in own or global_hooks or global_pre_hooks:
        return f"a hook of {words.called(transform)}"
    functions_held = [
        value
        for name, value in own.items()
        if name == "lambd" or inspect.isroutine(value) or isinstance(value, functools.partial)
    ]
    return next(filter(None, map(user_code, [*functions_held, *_inside(transform)])), "")


def _trusted(defined: Any) -> bool:
    module = str(getattr(defined, "__module__", ""))
    return module.partition(".")[0] in _TRUSTED or defined is nn.Sequential


def _generators(transform: Any) -> Iterator[torch.Generator]:
    generator = getattr(transform, "generator", None)
    if isinstance(generator, torch.Generator):
        yield generator
    for inner in _inside(transform):
        yield from _generators(inner)
