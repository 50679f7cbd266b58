"""The command line: ``python -m fastaug demo`` and ``python -m fastaug info``."""

from __future__ import annotations

import argparse
import importlib.metadata
import sys
from pathlib import Path


def version_of(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def info() -> None:
    """Prints the versions and instruction sets that are in use."""
    import fastaug
    from fastaug import _C

    print(f"fastaug      {fastaug.__version__}")
    print(f"isa          {fastaug.isa()} (of {', '.join(_C.isas())}; FASTAUG_ISA chooses)")
    for name in ("torch", "torchvision", "pillow", "numpy"):
        print(f"{name:<12} {version_of(name)}")
    print(f"python       {sys.version.split()[0]}")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m fastaug", description="torchvision.transforms, precompiled: same pixels, same seed, faster."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    demo = commands.add_parser(
        "demo",
        help="time a bag of real tiles beside torchvision and compare every pixel",
        description="Takes a bag of 1024x1024 tiles through pipeline P with torchvision and with fastaug under the "
        "same seeds, compares every pixel, prints the times and writes a contact sheet.",
    )
    demo.add_argument("--images", type=Path, metavar="DIR", help="your own images (default: scikit-image's)")
    demo.add_argument("--out", type=Path, default=Path("demo.png"), help="the contact sheet (default: demo.png)")
    demo.add_argument("--tiles", type=int, default=64, metavar="N", help="tiles in the bag (default: 64)")
    commands.add_parser("info", help="versions and instruction sets")
    options = parser.parse_args(arguments)

    if options.command == "info":
        info()
        return 0
    if options.tiles < 1:
        parser.error("--tiles must be at least 1")
    from fastaug import _demo

    try:
        return _demo.run(options.images, options.out, options.tiles)
    except _demo.DemoError as error:
        print(f"fastaug demo: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
