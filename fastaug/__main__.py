"""The command line, ``fastaug`` or ``python -m fastaug``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import fastaug

SEEING = {
    "explain": "print what a pipeline becomes: passes, what was fused, and what keeps passes apart",
    "profile": "time a pipeline, pass by pass and step by step, beside torchvision",
    "check": "compare a pipeline's pixels with torchvision's, or without one all ops, which tests this machine; the "
    "exit code is 1 where they differ or it raises, and 2 where there is no torchvision to test the machine with",
    "show": "draw a sheet of what a pipeline makes of images",
}
# The option that says how often, or with which draws: its name, its default and what it says; and what --out is.
COUNTS = {
    "explain": ("--seed", None, "of the draws (default: any)", "picture of the plan to write, such as plan.png"),
    "profile": ("--seeds", 5, "calls per image, each with its seed (default: 5)", "bar chart to write"),
    "check": ("--seeds", 10, "seeds per image (default: 10)", "write the report here as well"),
    "show": ("--seeds", 16, "number of draws (default: 16)", "picture to write (default: sheet.png)"),
}


def add_seeing(commands: Any) -> None:
    """Add the commands that look into a pipeline."""
    for name, text in SEEING.items():
        command = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        command.add_argument(
            "pipeline",
            metavar="pipeline.py",
            nargs="?" if name == "check" else None,
            help="file or module of yours with a `transform` in it; pipeline.py:NAME or module:NAME for another name",
        )
        command.add_argument("--name", metavar="VARIABLE", help="if the transform has another name")
        command.add_argument("--mode", choices=("exact", "fast"), help="default: the pipeline's own, else exact")
        command.add_argument("--images", type=Path, metavar="DIR", help="folder of images, or one image; read in RGB")
        command.add_argument("--size", metavar="HxW", help="without images: of one to try, such as 512x768 or 512")
        command.add_argument("--most", type=int, default=16, metavar="N", help="images at most (default: 16)")
        option, count, meaning, out = COUNTS[name]
        command.add_argument(option, dest="seeds", type=int, default=count, metavar="N", help=meaning)
        path = Path("sheet.png") if name == "show" else None
        command.add_argument("--out", type=Path, default=path, metavar="FILE", help=out)
        add_strict(command)


def add_folders(commands: Any) -> None:
    text = "decode a folder of images once: a mirror of it in .npy files, which are read without decoding"
    cache = commands.add_parser("cache", help=text, description=f"{text[0].upper()}{text[1:]}. What is done is kept.")
    cache.add_argument("src", type=Path, metavar="SRC", help="folder of images")
    cache.add_argument("dst", type=Path, metavar="DST", help="folder for the files: DST/a/b.npy of SRC/a/b.jpg")
    cache.add_argument("--size", type=int, metavar="N", help="resize the shorter side to N, as Resize(N)")
    modes = ("RGB", "L", "LA", "RGBA", "own")
    cache.add_argument("--mode", choices=modes, default="RGB", help="what to convert to (default: RGB)")
    cache.add_argument("--stack", action="store_true", help="one [N, H, W, C] file for each folder: DST/a.npy")
    cache.add_argument("--verify", action="store_true", help="write nothing: compare what is there with the images")
    cache.add_argument("--transform", metavar="FILE[:NAME]", help="store results of the pipeline in FILE, of uint8")
    cache.add_argument("--draws", type=int, default=1, metavar="K", help="results for each image (default: 1)")
    cache.add_argument("--seed", type=int, default=0, metavar="S", help="of the draws (default: 0)")
    cache.add_argument("--budget", metavar="BYTES", help="refuse to write more than that, or than is free: 500M, 20G")
    text = "save indexes of the JPEGs of a folder beside them, by which crops of large ones are decoded faster"
    index = commands.add_parser("index", help=text, description=f"{text[0].upper()}{text[1:]}. What is done is kept.")
    index.add_argument("src", type=Path, metavar="SRC", help="folder of images")
    index.add_argument("--verify", action="store_true", help="write nothing: compare what is there with the images")
    text = "print the mean and the standard deviation of a folder of images, for Normalize"
    stats = commands.add_parser("stats", help=text, description=f"{text[0].upper()}{text[1:]}.")
    stats.add_argument("src", type=Path, metavar="SRC", help="folder of images, read in RGB")
    stats.add_argument("--size", type=int, metavar="N", help="of the images after Resize(N)")
    for command in (cache, index, stats):
        command.add_argument(
            "--num-threads", type=int, metavar="N", help="images at a time (default: one for each CPU)"
        )
        add_strict(command)


def add_strict(command: Any) -> None:
    command.add_argument(
        "--strict",
        action="store_true",
        help="stop at the first image that cannot be read (default: name it, go on, and exit with 1)",
    )


def main(arguments: list[str] | None = None) -> int:
    given = sys.argv[1:] if arguments is None else arguments
    if given[:1] == ["run"]:
        from fastaug._switch import run as program

        return program.main(given[1:])
    parser = argparse.ArgumentParser(
        prog="python -m fastaug" if Path(sys.argv[0]).name == "__main__.py" else "fastaug",
        description="torchvision.transforms, precompiled: same pixels, same seed, faster.",
    )
    parser.add_argument("--version", action="version", version=f"fastaug {fastaug.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    bag = commands.add_parser(
        "demo",
        help="time a bag of real tiles beside torchvision and compare every pixel",
        description="Takes a bag of 1024x1024 tiles through pipeline P with torchvision and with fastaug under the "
        "same seeds, compares every pixel, prints the times and writes a contact sheet.",
    )
    bag.add_argument("--images", type=Path, metavar="DIR", help="your own images (default: scikit-image's)")
    bag.add_argument("--out", type=Path, default=Path("demo.png"), help="the contact sheet (default: demo.png)")
    bag.add_argument("--tiles", type=int, default=64, metavar="N", help="tiles in the bag (default: 64)")
    # Listed here; its options are read before this, since those of the program after it are not fastaug's.
    text = "run a Python program with torchvision's transforms at fastaug's speed"
    commands.add_parser("run", help=text, add_help=False)
    commands.add_parser("info", help="processor, instruction sets, GPU, versions, and the rules that follow from them")
    add_folders(commands)
    add_seeing(commands)
    options = parser.parse_args(arguments)

    if options.command is None:
        parser.print_help()
        return 0
    if options.command == "info":
        print(fastaug.info())
        return 0
    if options.command == "demo" and options.tiles < 1:
        parser.error("--tiles must be at least 1")
    from fastaug._cli.pipelines import CommandError

    try:
        return run(options)
    except CommandError as error:
        print(f"fastaug {options.command}: {error}", file=sys.stderr)
        return 2


def run(options: argparse.Namespace) -> int:
    """Run a command, and return its exit code: 0, or 1 for images that fail or results that differ."""
    if options.command in SEEING:
        from fastaug._cli import command

        return command.run(options)
    if options.command == "demo":
        from fastaug._cli import demo

        return demo.run(options.images, options.out, options.tiles)
    from fastaug._cli import folders

    return folders.run(options)


if __name__ == "__main__":
    sys.exit(main())
