"""README.md as a package index shows it, where nothing lies beside it: a provider of metadata for scikit-build-core.

Links and pictures become those of the version's tag in the repository that pyproject.toml names. As long as it names
none, a link is its words, and a picture is left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]

PICTURE = re.compile(r"!\[[^\]]*\]\((?P<link>[^)\s]+)\)")
LINK = re.compile(r"(?<!!)\[(?P<words>[^\]]+)\]\((?P<link>[^)\s]+)\)")
TAG = re.compile(r"<picture>.*?</picture>|<img\b[^>]*>", re.DOTALL)
SOURCE = re.compile(r'\b(src|srcset)="([^"]+)"')


def dynamic_metadata(field: str, settings: Mapping[str, Any], project: Mapping[str, Any]) -> dict[str, str]:
    if field != "readme" or settings:
        raise ValueError(f"only the field readme is given here, without settings, got {field} and {settings}")
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    repository = project.get("urls", {}).get("Repository")
    tag = f"v{project['version']}"
    return {"content-type": "text/markdown", "text": with_addresses(text, repository, tag)}


def with_addresses(text: str, repository: str | None, tag: str) -> str:
    """The text with links to files as links to them in the repository at the tag, or without them."""

    def address(kind: str, link: str) -> str:
        return link if is_absolute(link) else f"{repository}/{kind}/{tag}/{link}"

    def tag_of(match: re.Match[str]) -> str:
        return SOURCE.sub(lambda source: f'{source[1]}="{address("raw", source[2])}"', match[0])

    def picture(match: re.Match[str]) -> str:
        return match[0].replace(f"({match['link']})", f"({address('raw', match['link'])})")

    def words(match: re.Match[str]) -> str:
        return match[0] if is_absolute(match["link"]) else match["words"]

    def link(match: re.Match[str]) -> str:
        return f"[{match['words']}]({address('blob', match['link'])})"

    if repository is None:
        text = re.sub(rf"(?:{TAG.pattern}|{PICTURE.pattern})\n*", "", text, flags=re.DOTALL)
        return LINK.sub(words, text)
    repository = repository.rstrip("/")
    return LINK.sub(link, PICTURE.sub(picture, TAG.sub(tag_of, text)))


def is_absolute(link: str) -> bool:
    return link.startswith(("https:", "http:", "mailto:", "#"))
