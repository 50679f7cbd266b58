"""Addresses: our own, of which pyproject.toml is the one place, and those of other packages' documentation."""

from __future__ import annotations

import re
from pathlib import Path

#: The documentation of packages whose names the reference mentions.
PACKAGES = {
    "python": "https://docs.python.org/3",
    "numpy": "https://numpy.org/doc/stable",
    "pillow": "https://pillow.readthedocs.io/en/stable",
    "torch": "https://docs.pytorch.org/docs/stable",
}
_TORCHVISION = "https://docs.pytorch.org/vision/stable"
TORCHVISION_TRANSFORMS = f"{_TORCHVISION}/transforms.html"


def urls() -> dict[str, str]:
    """[project.urls] of pyproject.toml; tomllib is not there in Python 3.10."""
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    (table,) = re.findall(r"^\[project\.urls\]\n(.*?)(?=^\[)", text, re.MULTILINE | re.DOTALL)
    return dict(re.findall(r'^"?([\w ]+?)"? = "([^"]+)"$', table, re.MULTILINE))


def documentation() -> str:
    """Of this site, with a slash at its end; empty while it has none."""
    address = urls().get("Documentation", "")
    return f"{address.rstrip('/')}/" if address else ""


def theme_options() -> dict[str, str]:
    """For links to the source of each page, once there is a repository."""
    repository = urls().get("Repository")
    if repository is None:
        return {}
    return {"source_repository": repository, "source_branch": "main", "source_directory": "docs/"}


def torchvision(name: str) -> str:
    """The page of a class or function by its name after torchvision."""
    return f"{_TORCHVISION}/generated/torchvision.{name}.html"
