"""profile() says where the time goes: processor time, in parts that add up, beside torchvision's."""

from __future__ import annotations

import re
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torchvision.transforms as TV
from PIL import Image
from torch import nn

import fastaug
import fastaug.transforms as T
from fastaug._inspect import plot, profile, twin, words
from fastaug._inspect.log import Log, logged
from fastaug._inspect.records import Outside, Run
from support.images import photo

IMAGE = photo("chelsea", 120, 150)
HALF = (0.5, 0.5, 0.5)


class Mine(T.Resize):
    def forward(self, img: Any) -> Any:
        return super().forward(img)


def usual() -> Any:
    return T.Compose(
        [
            T.RandomRotation(20, interpolation=T.InterpolationMode.BILINEAR),
            T.RandomResizedCrop(64),
            T.RandomHorizontalFlip(),
            T.RandomApply([T.ColorJitter(0.2, 0.2, 0.2, 0.1)], 0.5),
            T.ToTensor(),
            T.Normalize(HALF, HALF),
        ]
    )


def nested() -> Any:
    crop = T.Compose([T.Resize(60), T.CenterCrop(50)])
    inner = nn.Sequential(T.Normalize(HALF, HALF), T.RandomErasing(1.0))
    return T.Compose([crop, T.Compose([T.ToTensor(), inner])])


def assert_adds_up(result: profile.Profile) -> None:
    ours = result.total["ours"]["mean"]
    assert ours > 0
    assert sum(one["mean"] for one in result.passes) == pytest.approx(ours)
    assert sum(step["ours"] for step in result.steps) == pytest.approx(ours)
    assert sum(one["share"] for one in result.passes) == pytest.approx(1)
    assert all(one["mean"] >= 0 for one in result.passes)
    theirs = [step["theirs"] for step in result.steps if step["theirs"] is not None]
    if theirs:
        assert sum(theirs) == pytest.approx(result.total["theirs"]["mean"])
        assert result.total["ratio"] == pytest.approx(sum(theirs) / ours)


def test_profile() -> None:
    threads = torch.get_num_threads()
    result = profile.profile(usual(), [IMAGE, photo("coffee", 90, 120)], repeat=4)
    assert torch.get_num_threads() == threads
    assert result.calls == 8
    assert_adds_up(result)
    assert [step["name"] for step in result.steps[:2]] == ["1 RandomRotation", "2 RandomResizedCrop"]
    assert all(step["theirs"] > 0 for step in result.steps[:6])
    assert result.steps[1]["ours"] > 0
    assert {"store", "draws", "Python"} <= {one["name"] for one in result.passes}
    assert all(one["low"] <= one["median"] <= one["high"] for one in result.passes)
    text = str(result)
    for part in ("torchvision", "2 RandomResizedCrop", "milliseconds of processor time", " of 8 "):
        assert part in text


def test_what_is_printed_adds_up() -> None:
    text = str(profile.profile(nested(), IMAGE, repeat=2))
    for columns, table in zip((1, 2), text.split("\n\n")[1:3]):
        rows = [re.findall(r"(?<![\d.-])\d+\.\d{3}(?![\d-])", line)[:columns] for line in table.splitlines()[1:]]
        *parts, total = [[float(cell) for cell in row] for row in rows]
        for k, whole in enumerate(total):
            rounding = 0.0006 * (len(parts) + 1)
            assert sum(row[k] for row in parts if k < len(row)) == pytest.approx(whole, abs=rounding), text


def test_steps_of_nested_pipelines() -> None:
    result = profile.profile(nested(), IMAGE, 1)
    assert_adds_up(result)
    rows = {step["name"]: step["theirs"] for step in result.steps}
    names = ["1.1 Resize", "1.2 CenterCrop", "2.1 ToTensor", "2.2.1 Normalize", "2.2.2 RandomErasing"]
    assert list(rows)[:5] == names
    assert all(rows[name] > 0 for name in names)
    assert not any("Compose" in name or "Sequential" in name for name in rows)
    random = profile.profile(T.Compose([T.RandomChoice([T.Pad(3), T.Compose([T.Resize(9)])])]), IMAGE, 2)
    assert random.steps[0]["name"] == "1 RandomChoice"
    assert_adds_up(random)


def test_settings_of_a_compiled_transform() -> None:
    pipeline = fastaug.compile(usual(), dtype=torch.float16, memory_format=torch.channels_last)
    result = profile.profile(pipeline, IMAGE, 1)
    assert_adds_up(result)
    (row,) = (step for step in result.steps if step["name"] == "dtype and memory format")
    assert row["theirs"] > 0


def test_without_a_twin(tmp_path: Path) -> None:
    path = tmp_path / "bars.png"
    result = profile.profile(T.Compose([Mine(20), T.ToTensor()]), IMAGE, 1, path)
    assert result.total["theirs"] is None
    assert_adds_up(result)
    assert "nothing to compare with: Mine is a subclass of fastaug's Resize" in str(result)
    with Image.open(path) as drawn:
        assert drawn.width > 1000


def test_where_torchvision_raises() -> None:
    """It takes no arrays."""
    result = profile.profile(T.Compose([T.Resize(20)]), np.asarray(IMAGE), 1)
    assert result.total["theirs"] is None
    assert_adds_up(result)
    assert re.search(r"nothing to compare with: torchvision \S+ raises TypeError: Unexpected type", str(result))


def sleeping(image: Any) -> Any:
    time.sleep(0.02)
    return image


def test_waiting_is_no_time_of_the_pipeline() -> None:
    """So other processes that keep this one from running are not in it either."""
    result = profile.profile(T.Compose([sleeping, T.Resize(20)]), IMAGE, 2)
    assert result.total["ours"]["mean"] < 10 and result.total["theirs"]["mean"] < 10
    assert result.waiting >= 19
    assert re.search(r"besides, a call waits \d\d\.\d\d ms", str(result))


def threaded(image: Any) -> Any:
    def work() -> None:
        end = time.thread_time() + 0.02
        while time.thread_time() < end:
            pass

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return image


def test_what_other_threads_take_is_said() -> None:
    result = profile.profile(T.Compose([threaded, T.Resize(20)]), IMAGE, 1)
    assert result.total["ours"]["mean"] < 15
    assert result.elsewhere >= 19
    assert re.search(r"besides, other threads of this process take \d\d\.\d\d ms during a call", str(result))


def test_slower_is_said_as_slower(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profile, "twin_of", lambda pipeline: twin.Twin(lambda image: image, [], "0"))
    result = profile.profile(usual(), IMAGE, 1)
    assert result.total["ratio"] < 0.5
    assert re.search(r"^SLOWER than torchvision: \d+\.\d times as long \(torchvision 0\)$", str(result), re.MULTILINE)
    assert plot.profile(result).width > 1000


def test_ratios_in_words() -> None:
    assert words.compared(1.0, 12.34) == "12.3 times as fast as torchvision"
    assert words.compared(1.0, 1.234) == "1.23 times as fast as torchvision"
    assert words.compared(1.0, 1.01) == words.compared(1.0, 0.99) == "about as fast as torchvision"
    assert words.compared(1.234, 1.0) == "SLOWER than torchvision: 1.23 times as long"
    assert words.compared(30.0, 1.0) == "SLOWER than torchvision: 30.0 times as long"
    assert words.compared(0.0, 1.0) == "too short to compare"


def test_no_steps_at_all() -> None:
    result = profile.profile(T.Compose([]), IMAGE, 1)
    assert_adds_up(result)
    assert plot.profile(result).width > 1000


def test_the_pipelines_error_is_the_users() -> None:
    with pytest.raises(ValueError, match="Required crop size"):
        profile.profile(T.Compose([T.RandomCrop(500)]), IMAGE, 1)
    with pytest.raises(ValueError, match="repeat should be at least 1"):
        profile.profile(usual(), IMAGE, 0)


def test_no_progress_bar_in_a_log_file(capfd: pytest.CaptureFixture[str]) -> None:
    profile.profile(T.Compose([T.Pad(1)]), [IMAGE] * 3, 1)
    assert capfd.readouterr().err == ""


# ---- the log


def test_a_log_times_what_is_done_elsewhere() -> None:
    log: Log
    _, log = logged(T.Compose([T.Resize(20), T.Lambda(lambda image: sum(range(20000)) and image)]), IMAGE)
    run, outside = log.timeline
    assert isinstance(run, Run) and isinstance(outside, Outside)
    assert outside.seconds > 1e-4
    assert run.seconds > 0
    assert 0 < sum(map(run.seconds_of, run.passes)) <= run.seconds * 1.001
    assert log.seconds() >= run.seconds + outside.seconds


def test_a_log_tells_processor_time() -> None:
    _, log = logged(T.Compose([sleeping]), IMAGE)
    (outside,) = log.timeline
    assert outside.seconds < 0.015


def test_twins_of_compiled_originals() -> None:
    original = TV.Compose([TV.Compose([TV.Resize(30), TV.Pad(1)]), TV.ToTensor()])
    rows = profile.profile(fastaug.compile(original), IMAGE, 1).steps
    assert [step["name"] for step in rows[:3]] == ["1 Resize", "2 Pad", "3 ToTensor"]
    assert all(step["theirs"] > 0 for step in rows[:3])
