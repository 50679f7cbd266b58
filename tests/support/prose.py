"""Finds what stops a reader of the pages: long sentences, phrases that are not English, figures written by hand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

#: Words of the longest sentence, and the mean of a page.
LONGEST = 30
MEAN = 16.0

#: Phrases that are a word-for-word rendering of another language, or that give objects ears and mouths.
NOT_ENGLISH = {
    r"\b(?:is|are|was|were|takes?|has|have|gets?|needs?) no (?!longer|more than|less than|fewer)\w+": "not a",
    r"\bin the place of\b": "instead of",
    r"\b(?:is|are) to be \w+ed\b": "must be, should be",
    r"\b(?:somebody|nobody|whoever|whatever one)\b": "the user, user code, no one",
    r"\b(?:of|for) (?:yours|theirs|ours|its own making)\b": "your own",
    r"\b(?:is|are|was|were) told\b": "records, receives, holds",
    r"\b(?:hears?|heard of|is heard)\b": "records, receives",
    r"\b(?:but for|all but)\b": "except",
    r"\bas (?:many|much) as (?:one|you) likes?\b": "any number of",
    r"\bdo without\b": "do not need",
    r"\bbeside\b": "next to, as well as",
    r"\bwhat (?:it|one|they) (?:is|are) (?:about|made)\b": "name the thing",
}

#: Measurements: they belong between generated markers, or in a dated page of docs/notes/lab.
FIGURE = re.compile(
    r"(?<![\w.])\d+(?:\.\d+)?x(?![\w])"
    r"|(?<![\w.])\d+(?:\.\d+)? ?(?:us|µs|ms|seconds?|minutes?|hours?)\b"
    r"|\b\d+(?:\.\d+)? ?times (?:as|faster|slower|less|more)\b"
    r"|(?<![\w.])\d+(?:\.\d+)? ?%"
    r"|(?<![\w.])\d+(?:\.\d+)? ?(?:kB|KB|KiB|MB|MiB|GB|GiB)\b"
)

_GENERATED = re.compile(r"<!-- (\S+): begin -->.*?<!-- \1: end -->", re.DOTALL)
_FENCE = re.compile(r"^(`{3,}|:{3,})\S*\{?.*?^\1\s*$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`+[^`]+`+")
_LINK = re.compile(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])")
_LIST = re.compile(r"^\s*(?:[-*+]|\d+\.)\s+|^\s*>\s?", re.MULTILINE)
_END = re.compile(r"(?<=[.!?])[\"')*_]*\s+")
_ABBREVIATED = re.compile(r"\b(e\.g|i\.e|vs|etc|No|cf|approx)\.")


@dataclass(frozen=True)
class Sentence:
    """One sentence of a page, with code and links reduced to a word or their text."""

    text: str

    @property
    def words(self) -> int:
        return len([word for word in self.text.split() if re.search(r"\w", word)])


def written(text: str) -> str:
    """What is written by hand: without generated parts and blocks of code."""
    return _FENCE.sub("\n\n", _GENERATED.sub("\n\n", text))


def prose(text: str) -> str:
    """The same without tables, headings, indented code, and comments; code in a line is one word."""
    text = re.sub(r"<!--.*?-->", "", written(text), flags=re.DOTALL)
    text = _LINK.sub(r"\1", text)
    text = _CODE.sub("CODE", text)
    lines = []
    for line in text.splitlines():
        hidden = line.lstrip().startswith(("|", "#", ":", "```", "<")) or line.startswith("    ")
        lines.append("" if hidden and not _LIST.match(line) else line)
    # An item of a list, and a line of a quotation, begin anew.
    return re.sub(r"^\s*(?:[-*+]|\d+\.)\s+", "\n\n", "\n".join(lines), flags=re.MULTILINE)


def sentences(text: str) -> Iterator[Sentence]:
    for paragraph in re.split(r"\n\s*\n", prose(text)):
        joined = _ABBREVIATED.sub(r"\1", " ".join(re.sub(r"^>\s?", "", line) for line in paragraph.split("\n")).strip())
        for part in _END.split(joined):
            if part.strip():
                yield Sentence(part.strip())


def complaints(text: str, figures: bool = True, allowed: frozenset[str] = frozenset()) -> Iterator[str]:
    """What is wrong with a page, in words.

    Args:
        text: Markdown.
        figures: whether measurements that are written by hand are wrong, too.
        allowed: figures that are part of a contract, such as a limit, and were not measured.
    """
    found = list(sentences(text))
    for sentence in found:
        if sentence.words > LONGEST:
            yield f"{sentence.words} words, of {LONGEST} at most: {sentence.text}"
        for pattern, better in NOT_ENGLISH.items():
            match = re.search(pattern, sentence.text, re.IGNORECASE)
            if match and not re.search(r"\bthere (?:is|are|was|were) no\b", match[0], re.IGNORECASE):
                if match[0].lower().split()[0] in ("is", "are", "was", "were") and re.search(
                    r"\bthere " + re.escape(match[0]), sentence.text, re.IGNORECASE
                ):
                    continue
                yield f"{match[0]!r} (better: {better}): {sentence.text}"
    if found:
        mean = sum(sentence.words for sentence in found) / len(found)
        if mean > MEAN:
            yield f"{mean:.1f} words a sentence on average, of {MEAN} at most"
    if figures:
        hand = _CODE.sub("", written(text))
        for match in FIGURE.finditer(hand):
            if match[0] not in allowed:
                line = hand[: match.start()].rsplit("\n", 1)[-1] + hand[match.start() :].split("\n", 1)[0]
                yield f"{match[0]!r} was measured, and is written by hand: {line.strip()}"


def main(paths: list[str]) -> int:
    wrong = 0
    for name in paths:
        for complaint in complaints(Path(name).read_text(), figures="/lab/" not in name):
            print(f"{name}: {complaint}")
            wrong += 1
    return int(bool(wrong))


if __name__ == "__main__":
    import sys

    sys.exit(main(sys.argv[1:]))
