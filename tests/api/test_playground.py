"""The playground of the documentation: its programs make its pictures, and every setting has one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image

import fastaug.transforms as T
import fastaug.transforms.functional as F
from docs._ext import playground

ROOT = Path(__file__).parents[2]
#: What the pages may weigh on a site.
BYTES = 10_000_000


def entry_id(entry: playground.Entry) -> str:
    return entry.key


def start(entry: playground.Entry) -> tuple[int, ...]:
    return tuple(parameter.first for parameter in entry.parameters)


def end(entry: playground.Entry) -> tuple[int, ...]:
    return tuple(len(parameter.values) - 1 for parameter in entry.parameters)


@pytest.mark.parametrize("entry", playground.ENTRIES, ids=entry_id)
def test_the_program_that_is_shown_makes_the_picture(entry: playground.Entry) -> None:
    described = json.loads(json.dumps(playground.described_entry(entry, [])))
    state = torch.get_rng_state()
    for places in {start(entry), end(entry)}:
        values = [parameter["values"][place] for parameter, place in zip(described["parameters"], places)]
        shown = playground.text_of(described["code"], values)
        assert shown == entry.filled(entry.program(), places) and "{" not in shown
        names: dict[str, Any] = {}
        exec(shown, names)
        drawn = playground.frame(entry, places)
        assert names["result"].mode == drawn.mode and names["result"].size == drawn.size
        assert names["result"].tobytes() == drawn.tobytes()
    first = playground.frame(entry, start(entry)).convert("RGB")
    assert first.size != playground.photograph().size or first.tobytes() != playground.photograph().tobytes()
    torch.set_rng_state(state)


@pytest.mark.parametrize("entry", playground.ENTRIES, ids=entry_id)
def test_the_program_gives_the_same_with_torchvision(entry: playground.Entry) -> None:
    """What the page says of a seed."""
    state = torch.get_rng_state()
    for places in {start(entry), end(entry)}:
        program = entry.filled(entry.program(), places).replace("fastaug.transforms", "torchvision.transforms")
        assert "torchvision" in program
        assert playground.result_of(program).tobytes() == playground.frame(entry, places).tobytes()
    torch.set_rng_state(state)


def test_an_entry_is_sound() -> None:
    keys = [entry.key for entry in playground.ENTRIES]
    assert len(set(keys)) == len(keys) and playground.START in keys
    assert all(key.isalpha() for key in keys), "an address holds the key and, after dashes, the places of values"
    assert {entry.group for entry in playground.ENTRIES} == set(playground.GROUPS)
    for entry in playground.ENTRIES:
        assert all(f"{{{parameter.name}}}" in entry.code for parameter in entry.parameters)
        assert len({entry.file(places) for places in entry.settings()}) == len(list(entry.settings()))
        page, _, name = entry.reference.rpartition("#")
        if page:
            assert name.removeprefix("fastaug.transforms.functional.") in F.__all__
        else:
            assert Path(entry.reference).stem in T.__all__


def test_what_a_random_transform_drew_is_listed() -> None:
    for entry in playground.ENTRIES:
        places = start(entry)
        assert bool(playground.drawn(entry, places)) == any(one.name == "seed" for one in entry.parameters)
    crop = next(entry for entry in playground.ENTRIES if entry.key == "resizedcrop")
    said = dict(part.split("=") for part in playground.drawn(crop, start(crop)).split(", "))
    top, left, height, width = (int(said[name]) for name in ("top", "left", "height", "width"))
    expected = F.resized_crop(playground.photograph(), top, left, height, width, [224, 224])
    assert playground.frame(crop, start(crop)).tobytes() == expected.tobytes()


def test_small_frames_are_kept_without_loss(tmp_path: Path) -> None:
    image = playground.photograph().resize((90, 60))
    (tmp_path / "frame.webp").write_bytes(playground.encoded(image))
    with Image.open(tmp_path / "frame.webp") as opened:
        assert opened.convert("RGB").tobytes() == image.tobytes()


def test_the_page_loads_what_is_written() -> None:
    page = (ROOT / "docs" / "playground.md").read_text()
    assert 'src="_static/playground/frames.js"' in page and 'src="_static/playground.js"' in page
    assert 'id="playground"' in page and "playground-code" in page


@pytest.mark.main
def test_every_combination_has_a_frame(tmp_path: Path) -> None:
    """All are drawn, none is empty, and together they are small enough to be loaded over a phone."""
    (tmp_path / "old-0.webp").write_bytes(b"a frame of an entry that is gone")
    playground.draw(tmp_path)
    text = (tmp_path / "frames.js").read_text()
    held = json.loads(text[text.index("{") : text.rindex("}") + 1])
    files = {"frames.js", "original.webp"}
    for entry, described in zip(playground.ENTRIES, held["entries"], strict=True):
        for places, (width, height, _) in zip(entry.settings(), described["frames"], strict=True):
            files.add(entry.file(places))
            with Image.open(tmp_path / entry.file(places)) as image:
                assert image.size == (width, height)
    assert {path.name for path in tmp_path.iterdir()} == files
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < BYTES
