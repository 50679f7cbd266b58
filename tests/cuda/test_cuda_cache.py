"""Compiled kernels on disk. Nothing is compiled here."""

from __future__ import annotations

import os
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fastaug._cuda import cache
from fastaug._cuda.nvrtc import Binary
from support.processes import python

BINARY = Binary("cubin", bytes(range(256)) * 4, "ptxas says ü")
KEY = cache.key("source", {"a.h": "text"}, ["--option"], "sm_90", "13.0")


def only_file(folder: Path) -> Path:
    (path,) = folder.iterdir()
    return path


@pytest.mark.parametrize("binary", [BINARY, Binary("ptx", b"//\0", ""), Binary("cubin", b"", "")])
def test_what_is_put_is_got(tmp_path: Path, binary: Binary) -> None:
    one = cache.Cache(tmp_path / "deep" / "er")
    assert one.get(KEY) is None
    one.put(KEY, binary)
    assert one.get(KEY) == binary
    assert cache.Cache(tmp_path / "deep" / "er").get(KEY) == binary
    assert only_file(tmp_path / "deep" / "er").name == KEY + ".kernel"
    assert (tmp_path / "deep" / "er").stat().st_mode & 0o777 == 0o700


def test_keys() -> None:
    """Any other input gives another key, also where the parts are the same end to end."""
    inputs = [
        ("source", {"a.h": "text"}, ["--option"], "sm_90", "13.0"),
        ("Source", {"a.h": "text"}, ["--option"], "sm_90", "13.0"),
        ("source", {"a.h": "texT"}, ["--option"], "sm_90", "13.0"),
        ("source", {"b.h": "text"}, ["--option"], "sm_90", "13.0"),
        ("source", {"a.ht": "ext"}, ["--option"], "sm_90", "13.0"),
        ("source", {}, ["--option", "a.h", "text"], "sm_90", "13.0"),
        ("source", {"a.h": "text", "b.h": ""}, ["--option"], "sm_90", "13.0"),
        ("source", {"a.h": "text"}, ["--", "option"], "sm_90", "13.0"),
        ("source", {"a.h": "text"}, [], "sm_90", "13.0"),
        ("source", {"a.h": "text"}, ["--option"], "sm_75", "13.0"),
        ("source", {"a.h": "text"}, ["--option"], "sm_90", "13.1"),
    ]
    keys = [cache.key(*one) for one in inputs]
    assert len(set(keys)) == len(keys)
    assert all(len(key) == 64 and set(key) <= set("0123456789abcdef") for key in keys)
    assert cache.key("", {"a": "1", "b": "2"}, [], "", "") == cache.key("", {"b": "2", "a": "1"}, [], "", "")


def test_damage_is_seen_and_repaired(tmp_path: Path) -> None:
    one = cache.Cache(tmp_path)
    one.put(KEY, BINARY)
    path = only_file(tmp_path)
    whole = path.read_bytes()
    for position in [*range(60), len(whole) - 1]:
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :])
        assert one.get(KEY) is None, position
    for length in [*range(60), len(whole) - 1]:
        path.write_bytes(whole[:length])
        assert one.get(KEY) is None, length
    path.write_bytes(whole + b"more")
    assert one.get(KEY) is None
    one.put(KEY, BINARY)
    assert one.get(KEY) == BINARY
    assert only_file(tmp_path) == path


def test_folders_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    for where in (None, tmp_path / "file", tmp_path / "file" / "below", Path("/proc/self/nothing")):
        one = cache.Cache(where)
        one.put(KEY, BINARY)
        assert one.get(KEY) is None
    # Something else has the name.
    (tmp_path / (KEY + ".kernel")).mkdir()
    one = cache.Cache(tmp_path)
    one.put(KEY, BINARY)
    assert one.get(KEY) is None
    assert not list(tmp_path.glob("*.unfinished"))


def test_a_folder_that_may_only_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    one = cache.Cache(tmp_path)
    one.put(KEY, BINARY)
    tmp_path.chmod(0o500)
    if os.geteuid() == 0:  # for whom permissions do not hold
        monkeypatch.setattr(tempfile, "mkstemp", refused)
    try:
        assert one.get(KEY) == BINARY
        one.put("0" * 64, BINARY)
        assert one.get("0" * 64) is None
    finally:
        tmp_path.chmod(0o700)


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    one = cache.Cache(tmp_path)
    one.put(KEY, BINARY)
    assert one.get(KEY) is None
    assert not list(tmp_path.iterdir())


def test_an_interrupt_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        cache.Cache(tmp_path).put(KEY, BINARY)
    assert not list(tmp_path.iterdir())


def test_the_size_is_bounded(tmp_path: Path) -> None:
    """What was used longest ago goes first; what is not the cache's stays."""
    cache.Cache(tmp_path).put(KEY, BINARY)
    size = only_file(tmp_path).stat().st_size
    (tmp_path / "somebody's").write_bytes(bytes(10 * size))
    one = cache.Cache(tmp_path, limit=3 * size)
    for k, name in enumerate("abc"):
        one.put(name * 64, BINARY)
        os.utime(tmp_path / (name * 64 + ".kernel"), (1000 + k, 1000 + k))
    assert one.get(KEY) == BINARY, "what is new is not what goes"
    assert one.get("a" * 64) is None
    os.utime(tmp_path / (KEY + ".kernel"), (10, 10))
    assert one.get("b" * 64) == BINARY, "so that c is older"
    one.put("d" * 64, BINARY)
    os.utime(tmp_path / ("d" * 64 + ".kernel"), (5000, 5000))
    one.put("e" * 64, BINARY)
    assert {path.stem[0] for path in tmp_path.glob("*.kernel")} == {"b", "d", "e"}
    assert (tmp_path / "somebody's").exists()


def test_what_nobody_finishes_is_deleted(tmp_path: Path) -> None:
    old, new = tmp_path / "old.unfinished", tmp_path / "new.unfinished"
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - 7200,) * 2)
    cache.Cache(tmp_path).put(KEY, BINARY)
    assert not old.exists()
    assert new.exists()


RACE = """
import sys
from pathlib import Path
from fastaug._cuda.cache import Cache
from fastaug._cuda.nvrtc import Binary

folder, own = sys.argv[1:]
# Small enough that each deletes what the other has just written.
cache = Cache(Path(folder), limit=300_000)
found = 0
for k in range(300):
    key = f"{k % 3:064}"
    cache.put(key, Binary("cubin", own.encode() * 100_000, own))
    one = cache.get(key)
    if one is not None:
        assert one.log in ("a", "b") and one.data == one.log.encode() * 100_000
        found += 1
print(found)
"""


def test_processes_at_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda own: python(["-c", RACE, str(tmp_path), own]), "ab"))
    for result in results:
        assert result.returncode == 0, result.stderr
        assert int(result.stdout) > 100
    assert not list(tmp_path.glob("*.unfinished"))
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 500_000


def test_the_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FASTAUG_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", "/home/me")
    assert cache.folder() == Path("/home/me/.cache/fastaug")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache.folder() == Path("/home/me/.cache/fastaug")
    monkeypatch.setenv("XDG_CACHE_HOME", "/fast/disk")
    assert cache.folder() == Path("/fast/disk/fastaug")
    monkeypatch.setenv("FASTAUG_CACHE_DIR", "/own")
    assert cache.folder() == Path("/own")


def test_nobody_at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("FASTAUG_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    assert cache.folder() is None
