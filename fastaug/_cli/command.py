"""Run ``python -m fastaug explain|profile|check|show`` on a user's pipeline and images."""

from __future__ import annotations

import argparse
import io
import re
import sys
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image

import fastaug
from fastaug._cli.pipelines import CommandError, load, note, reported
from fastaug._draft.pipeline import Pipeline, blank
from fastaug._image.lazy import LazyImage
from fastaug._inspect import check, explain, profile, show, words
from fastaug._sample.pipeline import SamplePipeline
from fastaug.data._folder import images_in


def size_of(text: str) -> tuple[int, int]:
    """Parse a size, such as 512x768."""
    found = re.fullmatch(r"([1-9]\d*)(?:x([1-9]\d*))?", text.lower())
    if found is None:
        raise CommandError(f"--size should be HxW, such as 512x768, not {text}")
    return int(found[1]), int(found[2] or found[1])


def images_of(
    path: Path, most: int, encoded: bool, strict: bool
) -> tuple[list[Any], list[str], list[tuple[str, Exception]]]:
    """Return the images of a folder, sorted by name, or one image; their paths; and (path, error) of unreadable ones.

    The images are in RGB, or paths if they should stay `encoded`.
    """
    from tqdm import tqdm

    if not path.exists():
        raise CommandError(f"there is no file or folder {path}")
    images: list[Any] = []
    names: list[str] = []
    failed: list[tuple[str, Exception]] = []
    files = [path]
    if path.is_dir():
        try:
            files, others, refused = images_in(path)
        except ValueError as error:
            raise CommandError(f"no image that Pillow can read in {path}") from error
        failed.extend(refused)
        if others:
            note(f"skipped {others} file{'s' * (others > 1)} without the suffix of an image")
    elif not path.is_file():
        raise CommandError(f"{path} is not a file or folder")
    left = iter(tqdm(files, desc="reading images", unit="file", disable=None))
    for file in left:
        if strict and failed:
            break
        try:
            image = LazyImage(file).load()  # Pillow's pixels, within its size limit
        # Pillow's plugins can raise nearly any type for a broken file.
        except Exception as error:
            failed.append((str(file), error))
            continue
        images.append(str(file) if encoded else image)
        names.append(str(file))
        if len(images) == most:
            break
    unread = sum(1 for _ in left)
    if unread and most > 1 and not (strict and failed):
        note(f"{len(images)} of {len(files)} files are used; --most N for more")
    return images, names, failed


def noise(height: int, width: int) -> Image.Image:
    """Return an image of noise, to try a pipeline without images."""
    return Image.fromarray(np.random.default_rng(0).integers(0, 256, (height, width, 3), dtype=np.uint8))


def taken(sample: Any, image: Any) -> Any:
    """Return the image in the container of `sample`, which the pipeline takes."""
    if isinstance(sample, bytes):
        if isinstance(image, str):
            return image
        file = io.BytesIO()
        image.save(file, "PNG")
        return file.getvalue()
    if isinstance(sample, np.ndarray):
        return np.array(image)
    if isinstance(sample, torch.Tensor):
        return torch.from_numpy(np.array(image)).permute(2, 0, 1).contiguous().to(torch.float32) / 255
    return image


def run(options: argparse.Namespace) -> int:
    """Run one of the commands.

    The exit code is 0, or 1 if check finds a difference, the pipeline raises, or an image cannot be read.
    """
    if options.pipeline is None:
        return _test_machine(options)
    if options.most < 1:
        raise CommandError("--most should be at least 1")
    if options.command != "explain" and options.seeds < 1:
        raise CommandError("--seeds should be at least 1")
    if options.images is not None and options.size is not None:
        raise CommandError("--size is for calls without --images")
    size = size_of(options.size) if options.size else None
    pipeline = load(options.pipeline, options.name, options.mode)
    sample = blank(pipeline.transforms, 1)
    names: list[str] = []
    images: list[Any] = []
    code = 0
    if options.images is not None:
        most = 1 if options.command == "explain" else options.most
        found, names, failed = images_of(options.images, most, isinstance(sample, bytes), options.strict)
        code = reported(failed)
        if not found or (failed and options.strict):
            return code
        images = [taken(sample, image) for image in found]
    elif size is not None and options.command != "explain":
        images, names = [taken(sample, noise(*size))], ["noise"]
    elif options.command != "explain":
        raise CommandError("needs --images DIR, or --size HxW for noise")
    try:
        return max(code, _looked(pipeline, images, names, size, options))
    except Exception as error:
        if options.out is not None and _is_about(error, options.out):
            raise CommandError(f"cannot write {options.out}: {error}") from error
        if not _is_of_the_pipeline(error):
            raise
        print(f"fastaug {options.command}: the pipeline raises {_raised(error)}", file=sys.stderr)
        return 1


def _is_about(error: Exception, path: Path) -> bool:
    return getattr(error, "filename", None) in (str(path), path) or "unknown file extension" in str(error)


def _is_of_the_pipeline(error: Exception) -> bool:
    """Return True if the error was raised in a call of a pipeline."""
    calls = {Pipeline._done.__code__, Pipeline.__call__.__code__, SamplePipeline._called.__code__}
    return any(frame.f_code in calls for frame, _ in traceback.walk_tb(error.__traceback__))


def _raised(error: Exception) -> str:
    """Return an error in words, with its place if that is in the user's files."""
    ours = str(Path(fastaug.__file__).parent)
    last = traceback.extract_tb(error.__traceback__)[-1]
    own = "" if last.filename.startswith(ours) else f" ({last.filename}:{last.lineno})"
    return words.failure(error) + own


def _looked(pipeline: Any, images: list[Any], names: list[str], size: Any, options: Any) -> int:
    """Look into the pipeline as the command says, and return the exit code."""
    if options.command == "explain":
        print(explain.explain(pipeline, images[0] if images else size, options.out, options.seeds))
    elif options.command == "profile":
        print(profile.profile(pipeline, images, options.seeds, options.out))
    elif options.command == "show":
        show.show(pipeline, images, options.seeds, seed=0).save(options.out)
        print(options.out)
    else:
        return 0 if _printed(check.check(pipeline, images, options.seeds, names), options.out) else 1
    return 0


def _printed(report: Any, out: Path | None) -> Any:
    print(report)
    if out is not None:
        out.write_text(f"{report}\n")
    return report


def _test_machine(options: argparse.Namespace) -> int:
    given = [name for name in ("name", "mode", "images", "size") if getattr(options, name) is not None]
    if given:
        raise CommandError(f"--{given[0]} is for a pipeline: check pipeline.py --{given[0]} ...")
    try:
        result = _printed(fastaug.check(), options.out)
    except OSError as error:
        raise CommandError(f"cannot write {options.out}: {error}") from error
    return 1 if not result else 0 if result.torchvision else 2
