"""``python -m fastaug explain|profile|check|show``: a user's own pipeline, on the user's own images."""

from __future__ import annotations

import argparse
import io
import re
import runpy
import sys
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image, UnidentifiedImageError

import fastaug
from fastaug._draft.pipeline import Pipeline, blank
from fastaug._inspect import check, explain, profile, show


class CommandError(RuntimeError):
    """What the user got wrong, in words."""


def load(path: Path, name: str, mode: str | None) -> Any:
    """The pipeline of that name in a file of the user's.

    Raises:
        CommandError: there is none.
    """
    if not path.is_file():
        raise CommandError(f"there is no file {path}")
    # As `python pipeline.py` would have it.
    sys.path.insert(0, str(path.resolve().parent))
    try:
        names = runpy.run_path(str(path), run_name="__fastaug__")
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        raise CommandError(
            f"{path} cannot be run: {type(error).__name__}: {error} ({last.filename}:{last.lineno})"
        ) from error
    finally:
        sys.path.pop(0)
    if name not in names:
        found = [
            key for key, value in names.items() if callable(value) and not isinstance(value, type) and key[0] != "_"
        ]
        hint = f"; it has {', '.join(sorted(found))}: choose with --name" if found else ""
        raise CommandError(f"{path} defines no variable {name!r}{hint}")
    transform = names[name]
    if not callable(transform):
        raise CommandError(f"{name!r} in {path} is no transform but {type(transform).__name__}")
    if mode is not None:
        return fastaug.compile(transform, mode=mode)
    return transform if isinstance(transform, Pipeline) else fastaug.compile(transform)


def size_of(text: str) -> tuple[int, int]:
    """
    Raises:
        CommandError: not a size.
    """
    found = re.fullmatch(r"([1-9]\d*)(?:x([1-9]\d*))?", text.lower())
    if found is None:
        raise CommandError(f"--size should be HxW, such as 512x768, not {text}")
    return int(found[1]), int(found[2] or found[1])


def images_of(path: Path, most: int) -> list[Image.Image]:
    """The images of a folder and its subfolders in the order of their names, or the one image, in RGB.

    Raises:
        CommandError: there are none.
    """
    from tqdm import tqdm

    if not path.exists():
        raise CommandError(f"there is no folder {path}")
    files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    images: list[Image.Image] = []
    for file in tqdm(files, desc="reading images", unit="file", disable=None):
        try:
            with Image.open(file) as image:
                images.append(image.convert("RGB"))
        except (UnidentifiedImageError, OSError):
            continue
        if len(images) == most:
            break
    if not images:
        raise CommandError(f"no image that Pillow can read in {path}")
    return images


def noise(height: int, width: int) -> Image.Image:
    """An image to try a pipeline on where there is none."""
    return Image.fromarray(np.random.default_rng(0).integers(0, 256, (height, width, 3), dtype=np.uint8))


def taken(pipeline: Any, image: Image.Image) -> Any:
    """The image in the container that a pipeline takes first."""
    sample = blank(pipeline.transforms, 1)
    if isinstance(sample, bytes):
        file = io.BytesIO()
        image.save(file, "PNG")
        return file.getvalue()
    if isinstance(sample, np.ndarray):
        return np.array(image)
    if isinstance(sample, torch.Tensor):
        return torch.from_numpy(np.array(image)).permute(2, 0, 1).contiguous().to(torch.float32) / 255
    return image


def run(options: argparse.Namespace) -> int:
    """One of the commands. The exit code: 0; 1 where check finds a difference; 2 for what the user got wrong."""
    try:
        return _run(options)
    except CommandError as error:
        print(f"fastaug {options.command}: {error}", file=sys.stderr)
        return 2


def _run(options: argparse.Namespace) -> int:
    if options.most < 1:
        raise CommandError("--most should be at least 1")
    if options.command != "explain" and options.seeds < 1:
        raise CommandError("--seeds should be at least 1")
    if options.images is not None and options.size is not None:
        raise CommandError("--size is for calls without --images")
    size = size_of(options.size) if options.size else None
    pipeline = load(options.pipeline, options.name, options.mode)
    if options.images is not None:
        images = [taken(pipeline, image) for image in images_of(options.images, options.most)]
    elif options.command == "explain":
        images = []
    elif size is not None:
        images = [taken(pipeline, noise(*size))]
    else:
        raise CommandError("needs --images DIR, or --size HxW for noise")
    try:
        return _COMMANDS[options.command](pipeline, images, size, options)
    except (OSError, ValueError) as error:
        if options.out is not None and _is_about(error, options.out):
            raise CommandError(f"cannot write {options.out}: {error}") from error
        raise


def _is_about(error: Exception, path: Path) -> bool:
    return getattr(error, "filename", None) in (str(path), path) or "unknown file extension" in str(error)


def _explain_command(pipeline: Any, images: list[Any], size: Any, options: argparse.Namespace) -> int:
    print(explain.explain(pipeline, images[0] if images else size, options.out, options.seeds))
    return 0


def _profile_command(pipeline: Any, images: list[Any], size: Any, options: argparse.Namespace) -> int:
    print(profile.profile(pipeline, images, options.seeds, options.out))
    return 0


def _check_command(pipeline: Any, images: list[Any], size: Any, options: argparse.Namespace) -> int:
    comparison = check.check(pipeline, images, options.seeds)
    print(comparison)
    if options.out is not None:
        options.out.write_text(f"{comparison}\n")
    return 0 if comparison else 1


def _show_command(pipeline: Any, images: list[Any], size: Any, options: argparse.Namespace) -> int:
    show.show(pipeline, images, options.seeds, seed=0).save(options.out)
    print(options.out)
    return 0


_COMMANDS = {
    "explain": _explain_command,
    "profile": _profile_command,
    "check": _check_command,
    "show": _show_command,
}
