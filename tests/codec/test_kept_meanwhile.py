"""Handles of which several views are taken, when something goes wrong or others look on."""

from __future__ import annotations

import os
import threading
from typing import Any

import encoded_images as made
import numpy as np
import pytest
from image_files import encode, patched
from kept_files import BYTES, FILES
from PIL import Image

import fastaug
import fastaug.io
import fastaug.transforms as T
from fastaug._image import decode, kept
from fastaug.io import LazyImage, lazy
from support.images import photo

pytestmark = [
    pytest.mark.usefixtures("nothing_kept"),
    pytest.mark.filterwarnings("ignore:Palette images with Transparency:UserWarning"),
]


# What does not decode whole.


def test_sound_in_part() -> None:
    """A region of it is decoded as often as one likes; that the whole cannot be changes nothing."""
    data = encode(photo("astronaut"), "JPEG")
    data = patched(data, len(data) - 3000, *b"\xff\x01\x02\x03" * 8)
    image = lazy(data)
    first = np.asarray(T.functional.crop(image, 3, 5, 40, 50))
    assert not image.keeps
    for _ in range(3):
        assert made.same(np.asarray(T.functional.crop(image, 3, 5, 40, 50)), first)
        assert not image.keeps
    expected = made.pillow(data)  # Pillow goes on behind a guess
    assert made.same(first, expected[3:43, 5:55])
    for _ in range(3):
        assert made.same(np.asarray(image), expected)


def test_broken() -> None:
    for name in ("JPEG", "WebP"):
        image = lazy(FILES[name][: len(FILES[name]) // 2])
        for _ in range(3):
            with pytest.raises(fastaug.DecodeError):
                np.asarray(image)
            with pytest.raises(fastaug.DecodeError):
                T.functional.to_tensor(image)
        assert not image.keeps and not kept._keepers


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_interrupted(error: type[BaseException], monkeypatch: pytest.MonkeyPatch) -> None:
    image = lazy(FILES["JPEG"])
    np.asarray(image)
    with monkeypatch.context() as patch:

        def interrupt(_: Any) -> Any:
            raise error

        patch.setattr(decode, "stored", interrupt)
        with pytest.raises(error):
            np.asarray(image)
        assert not image.keeps and not kept._keepers
    np.asarray(image)
    assert image.keeps


# Threads and processes.


def test_threads_share_a_handle(whole: list[int]) -> None:
    expected = made.pillow(FILES["JPEG"])
    for _ in range(20):
        image = lazy(FILES["JPEG"])
        start = threading.Barrier(6)
        whole.clear()
        wrong: list[int] = []

        def work(image: LazyImage = image, start: threading.Barrier = start, wrong: list[int] = wrong) -> None:
            start.wait()
            for k in range(5):
                crop = np.asarray(T.functional.crop(image, k, 0, 30, 40))
                wrong.append(np.count_nonzero(crop != expected[k : k + 30, :40]))

        threads = [threading.Thread(target=work) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == [0] * 30 and image.keeps and whole == [id(image)]


class Held:
    """decode.stored() that waits in another thread, until it is let go."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, image: LazyImage) -> None:
        self.inside, self.leave = threading.Event(), threading.Event()
        stored, thread = decode.stored, threading.Thread(target=np.asarray, args=(image,))

        def wait(image: Any) -> np.ndarray:
            if threading.current_thread() is thread:
                self.inside.set()
                assert self.leave.wait(60)
            return stored(image)

        monkeypatch.setattr(decode, "stored", wait)
        self.thread = thread
        thread.start()
        assert self.inside.wait(60)

    def end(self) -> None:
        self.leave.set()
        self.thread.join()


def test_nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """While one thread makes the pixels, others decode what they need, and make no second copy."""
    expected = made.pillow(FILES["JPEG"])
    image = lazy(FILES["JPEG"])
    np.asarray(image)
    held = Held(monkeypatch, image)
    for _ in range(3):
        assert made.same(np.asarray(image), expected)
        assert not image.keeps and sum(kept._keepers.values()) == BYTES
    held.end()
    assert image.keeps


def test_released_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    image = lazy(FILES["JPEG"])
    np.asarray(image)
    held = Held(monkeypatch, image)
    image.release()
    held.end()
    assert not image.keeps and not kept._keepers


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_fork_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    """A child has neither the thread that makes the pixels nor one that holds the lock: it makes its own."""
    image = lazy(FILES["JPEG"])
    np.asarray(image)
    held = Held(monkeypatch, image)
    locked, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with kept._lock:
            locked.set()
            leave.wait(60)

    holder = threading.Thread(target=hold)
    holder.start()
    assert locked.wait(60)
    child = os.fork()
    if child == 0:
        right = made.same(np.asarray(image), made.pillow(FILES["JPEG"])) and image.keeps
        os._exit(0 if right else 1)
    leave.set()
    holder.join()
    held.end()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert image.keeps


# What is said of it.


def test_explain() -> None:
    transform = T.Compose([T.CenterCrop(20), T.ToTensor()])
    image = lazy(FILES["JPEG"])
    plan = transform.explain(image)
    assert "the image" not in str(plan) and plan.passes[0]["name"] == "decode" and plan.passes[0]["height"] < 61
    plan = transform.explain(image)
    assert plan.notes[0] == "the image: decoded whole and kept, for further uses"
    assert (plan.passes[0]["name"], plan.passes[0]["height"], plan.passes[0]["width"]) == ("decode", 61, 83)
    assert not plan.barriers
    plan = transform.explain(image)
    assert plan.notes[0] == "the image: kept from an earlier use, not decoded again"
    assert "decode" not in [one["name"] for one in plan.passes]


def test_explain_of_what_pillow_decodes() -> None:
    transform = T.Compose([T.CenterCrop(20), T.ToTensor()])
    image = lazy(FILES["BMP"])
    notes = []
    for by in ("Pillow", "Pillow", "fastaug"):
        plan = transform.explain(image)
        assert plan.passes[0]["by"] == by
        notes.append([note for note in plan.notes if "the image" in note])
    assert notes == [
        [],
        ["the image: decoded whole and kept, for further uses"],
        ["the image: kept from an earlier use, not decoded again"],
    ]


def test_profile_decodes_each_time() -> None:
    """As a dataset would, whatever the handle keeps."""
    transform = T.Compose([T.CenterCrop(20), T.ToTensor()])
    image = lazy(FILES["JPEG"])
    np.asarray(image), np.asarray(image)
    profile = transform.profile(image, 4)
    assert [one["calls"] for one in profile.passes if one["name"] == "decode"] == [4]
    assert image.keeps


def test_memory_of_a_pixel() -> None:
    """As the limit counts it: an image of the mode takes no more."""
    from fastaug._image import pillow

    for mode in ("1", "L", "P", "LA", "RGB", "RGBA", "CMYK", "YCbCr", "LAB", "HSV", "I", "F", "I;16"):
        image = Image.new(mode, (64, 1))
        assert pillow.bytes_of(mode) in (1, 2, 4)
        assert pillow.bytes_of(mode) >= len(image.tobytes()) / 64
