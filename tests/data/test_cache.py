"""cache: a tree of images as .npy files, each whole or not there, made once and again when its image has changed."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torchvision import transforms as TV
from torchvision.datasets import DatasetFolder, ImageFolder

import fastaug
import fastaug.io
import fastaug.transforms as T
from fastaug.data import CacheResult, cache, sample_seed
from fastaug.data import _cache as inner
from support.images import noise, photo
from support.processes import python


@pytest.fixture
def src(tmp_path: Path) -> Path:
    """Two classes of two images each, one image beside them, and a file that is none."""
    folder = tmp_path / "src"
    for name in ("cats", "dogs/small"):
        (folder / name).mkdir(parents=True)
    photo("chelsea", 60, 80).save(folder / "cats" / "1.jpg")
    photo("coffee", 50, 40).save(folder / "cats" / "2.PNG")
    photo("astronaut", 33, 70).convert("L").save(folder / "dogs" / "3.png")
    Image.fromarray(noise(44, 55, 4)).save(folder / "dogs" / "small" / "4.webp", lossless=True)
    photo("ihc", 20, 30).convert("P").save(folder / "5.gif")
    (folder / "labels.csv").write_text("1,cat\n")
    return folder


def files_in(folder: Path) -> dict[str, Path]:
    return {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*")) if path.is_file()}


def pil(path: Path) -> Image.Image:
    """As torchvision's pil_loader."""
    with Image.open(path) as image:
        return image.convert("RGB")


SOURCES = {
    "5.npy": "5.gif",
    "cats/1.npy": "cats/1.jpg",
    "cats/2.npy": "cats/2.PNG",
    "dogs/3.npy": "dogs/3.png",
    "dogs/small/4.npy": "dogs/small/4.webp",
}


@pytest.mark.parametrize("num_threads", [1, 3, None])
def test_a_mirror_of_the_tree(src: Path, tmp_path: Path, num_threads: int | None) -> None:
    dst = tmp_path / "dst"
    assert cache(src, dst, num_threads=num_threads) == CacheResult(5, 0, [])
    assert files_in(dst).keys() == SOURCES.keys()
    for name, source in SOURCES.items():
        array = np.load(dst / name, mmap_mode="r")
        assert array.dtype == np.uint8
        assert np.array_equal(array, np.asarray(pil(src / source)))
        assert np.array_equal(fastaug.io.imread(dst / name), array)
        assert (dst / name).stat().st_mtime_ns == (src / source).stat().st_mtime_ns


def test_folders_labels_and_transforms_work_as_they_are(src: Path, tmp_path: Path) -> None:
    (src / "5.gif").unlink()
    cache(src, tmp_path / "dst")
    transform = T.Compose([T.RandomResizedCrop(24), T.RandomHorizontalFlip(), T.ToTensor()])
    images = ImageFolder(str(src), transform=transform)
    arrays = DatasetFolder(str(tmp_path / "dst"), fastaug.io.lazy, (".npy",), transform)
    assert images.classes == arrays.classes
    assert images.targets == arrays.targets
    for number in range(len(images)):
        torch.manual_seed(number)
        wanted = images[number][0]
        torch.manual_seed(number)
        assert torch.equal(arrays[number][0], wanted)


@pytest.mark.parametrize(
    ("mode", "shapes"),
    [
        ("RGB", [(20, 30, 3), (60, 80, 3), (50, 40, 3), (33, 70, 3), (44, 55, 3)]),
        ("L", [(20, 30), (60, 80), (50, 40), (33, 70), (44, 55)]),
        ("RGBA", [(20, 30, 4), (60, 80, 4), (50, 40, 4), (33, 70, 4), (44, 55, 4)]),
        (None, [(20, 30, 3), (60, 80, 3), (50, 40, 3), (33, 70), (44, 55, 4)]),
    ],
)
def test_modes(src: Path, tmp_path: Path, mode: str | None, shapes: list[tuple[int, ...]]) -> None:
    cache(src, tmp_path, mode=mode, files=list(SOURCES.values()))
    for (name, source), shape in zip(SOURCES.items(), shapes):
        array = np.load(tmp_path / name)
        assert array.shape == shape
        with Image.open(src / source) as image:
            own = image.mode if image.mode in ("L", "RGB", "RGBA") else "RGB"
            assert np.array_equal(array, np.asarray(image.convert(mode or own)))


@pytest.mark.parametrize("size", [16, (16, 24)])
def test_size_is_torchvisions_resize(src: Path, tmp_path: Path, size: Any) -> None:
    cache(src, tmp_path / "dst", size=size)
    for name, source in SOURCES.items():
        wanted = TV.Resize(size)(pil(src / source))
        assert np.array_equal(np.load(tmp_path / "dst" / name), np.asarray(wanted))


def test_what_is_done_is_not_done_again(src: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dst = tmp_path / "dst"
    cache(src, dst)
    before = {name: path.stat().st_ino for name, path in files_in(dst).items()}
    assert cache(src, dst) == CacheResult(0, 5, [])
    noisy = Image.fromarray(noise(30, 30))
    noisy.save(src / "cats" / "2.PNG")
    os.utime(src / "cats" / "2.PNG", (1, 1))  # older than before is another one too
    (dst / "5.npy").unlink()
    assert cache(src, dst) == CacheResult(2, 3, [])
    assert np.array_equal(np.load(dst / "cats" / "2.npy"), np.asarray(noisy))
    after = {name: path.stat().st_ino for name, path in files_in(dst).items()}
    assert {name for name in before if before[name] == after[name]} >= {"cats/1.npy", "dogs/3.npy"}
    assert cache(src, dst) == CacheResult(0, 5, [])


def test_a_broken_image_does_not_keep_the_others(src: Path, tmp_path: Path) -> None:
    data = (src / "cats" / "1.jpg").read_bytes()
    (src / "cats" / "0.jpg").write_bytes(data[: len(data) // 2])
    (src / "dogs" / "no.png").write_text("no image")
    written, present, failed = cache(src, tmp_path / "dst")
    assert (written, present) == (5, 0)
    assert [path for path, _ in failed] == [str(src / "cats" / "0.jpg"), str(src / "dogs" / "no.png")]
    assert all(isinstance(error, fastaug.DecodeError) for _, error in failed)
    assert files_in(tmp_path / "dst").keys() == SOURCES.keys()
    assert cache(src, tmp_path / "dst")[:2] == (0, 5)


def test_machines_share_the_work(src: Path, tmp_path: Path) -> None:
    parts = [["cats/1.jpg", Path("5.gif")], ["cats/2.PNG", "dogs/3.png", "dogs/small/4.webp"]]
    crop = T.RandomCrop(16)
    for options in ({}, {"transform": crop, "draws": 2}):
        whole, shared = tmp_path / f"whole{len(options)}", tmp_path / f"shared{len(options)}"
        cache(src, whole, **options)
        for part in parts:
            assert cache(src, shared, part, **options).written == len(part) * options.get("draws", 1)
        found, wanted = files_in(shared), files_in(whole)
        assert found.keys() == wanted.keys()
        assert all(found[name].read_bytes() == wanted[name].read_bytes() for name in found)


TRANSFORMS: dict[str, Callable[[], Any]] = {
    "PIL images": lambda: T.Compose([T.RandomResizedCrop(24), T.ColorJitter(0.4, 0.4)]),
    "one transform": lambda: T.RandomRotation(20),
    "gray": lambda: T.Compose([T.RandomCrop(16), T.Grayscale()]),
    "tensors": lambda: T.Compose([T.RandomCrop(16), T.PILToTensor()]),
    "compiled": lambda: fastaug.compile(T.Compose([T.RandomHorizontalFlip(), T.RandomCrop(10)])),
    "a callable that draws": lambda: T.Compose([T.RandomCrop(16), T.Lambda(lambda image: T.RandomCrop(9)(image))]),
    "arrays": lambda: T.Compose([T.ToPILImage(), T.RandomCrop(16)]),
    "Decode": lambda: T.Compose([T.Decode("L"), T.RandomCrop(16)]),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_draws_of_a_transform(src: Path, tmp_path: Path, name: str) -> None:
    """Result k of image i is what the transform gives of it after seeding."""
    transform = TRANSFORMS[name]()
    torch.manual_seed(11)
    state = torch.get_rng_state()
    assert cache(src, tmp_path / "dst", transform=transform, draws=3, seed=4) == CacheResult(15, 0, [])
    assert torch.equal(torch.get_rng_state(), state)
    sources = sorted(src / source for source in SOURCES.values())
    for number, source in enumerate(sources):
        image: Any = pil(source)
        image = {"arrays": np.asarray(image), "Decode": source}.get(name, image)
        for draw in range(3):
            torch.manual_seed(sample_seed(4, draw, number))
            wanted = transform(image)
            wanted = wanted.permute(1, 2, 0) if isinstance(wanted, torch.Tensor) else wanted
            place = tmp_path / "dst" / source.relative_to(src)
            assert np.array_equal(np.load(place.with_name(f"{place.stem}.{draw}.npy")), np.asarray(wanted))
    assert cache(src, tmp_path / "dst", transform=transform, draws=4, seed=4) == CacheResult(5, 15, [])


def test_a_transform_that_fails_for_some(src: Path, tmp_path: Path) -> None:
    written, _, failed = cache(src, tmp_path / "dst", transform=T.RandomCrop(33), draws=2)
    assert written == 8
    assert {path for path, _ in failed} == {str(src / "5.gif")}
    assert len(failed) == 2
    torch.manual_seed(sample_seed(0, 1, 1))
    wanted = T.RandomCrop(33)(pil(src / "cats" / "1.jpg"))
    assert np.array_equal(np.load(tmp_path / "dst" / "cats" / "1.1.npy"), np.asarray(wanted))


@pytest.mark.parametrize("name", ["PIL images", "arrays", "Decode"])
def test_a_transform_of_a_broken_image(src: Path, tmp_path: Path, name: str) -> None:
    (src / "cats" / "0.png").write_text("no image")
    written, _, failed = cache(src, tmp_path / "dst", transform=TRANSFORMS[name]())
    ((path, error),) = failed
    assert (written, path) == (5, str(src / "cats" / "0.png"))
    assert isinstance(error, fastaug.DecodeError)


def test_an_image_that_goes_away_meanwhile(src: Path, tmp_path: Path) -> None:
    def crop(image: Image.Image) -> Image.Image:
        (src / "5.gif").unlink(missing_ok=True)
        return image.crop((0, 0, 9, 9))

    written, _, failed = cache(src, tmp_path / "dst", transform=T.Lambda(crop), num_threads=1)
    ((path, error),) = failed
    assert (written, path) == (4, str(src / "5.gif"))
    assert isinstance(error, FileNotFoundError)
    assert files_in(tmp_path / "dst").keys() == {name.replace(".npy", ".0.npy") for name in SOURCES} - {"5.0.npy"}


@pytest.mark.parametrize(
    ("transform", "said"),
    [
        (T.ToTensor(), "tensor float32 3x20x30"),
        (T.Lambda(lambda image: image.convert("1")), "PIL 1"),
        (T.Lambda(lambda image: 3), "got int"),
        (T.Lambda(lambda image: np.zeros((2, 2, 5), np.uint8)), "array uint8 2x2x5"),
        (T.Lambda(lambda image: np.zeros((2, 0, 3), np.uint8)), "array uint8 2x0x3"),
        (T.Lambda(lambda image: torch.zeros(1, 3, 2, 2, dtype=torch.uint8)), "tensor uint8 1x3x2x2"),
    ],
)
def test_results_that_are_no_images(src: Path, tmp_path: Path, transform: Any, said: str) -> None:
    with pytest.raises(TypeError, match=f"transform should give images of uint8 .*{said}"):
        cache(src, tmp_path / "dst", transform=transform)
    assert not (tmp_path / "dst").exists()


@pytest.fixture
def bags(tmp_path: Path) -> Path:
    for number, folder in ((3, "bags/a"), (2, "bags/deep/b"), (1, "bags")):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        for index in range(number):
            Image.fromarray(noise(20, 24, seed=index + number)).save(tmp_path / folder / f"{index}.png")
    return tmp_path / "bags"


def test_stacks(bags: Path, tmp_path: Path) -> None:
    dst = tmp_path / "dst"
    assert cache(bags, dst, stack=True) == CacheResult(3, 0, [])
    assert files_in(dst).keys() == {"a.npy", "deep/b.npy", "bags.npy"}
    stack = np.load(dst / "a.npy", mmap_mode="r")
    assert stack.shape == (3, 20, 24, 3)
    assert np.array_equal(stack, [np.asarray(Image.open(bags / "a" / f"{number}.png")) for number in range(3)])
    assert np.load(dst / "bags.npy").shape == (1, 20, 24, 3)
    assert T.Compose([T.ToPILImage(), T.CenterCrop(8), T.ToTensor()]).batch(stack).shape == (3, 3, 8, 8)
    assert cache(bags, dst, stack=True) == CacheResult(0, 3, [])


def test_stacks_notice_what_has_changed(bags: Path, tmp_path: Path) -> None:
    dst = tmp_path / "dst"
    for number, path in enumerate(sorted(bags.rglob("*.png"))):
        os.utime(path, (number, number))
    cache(bags, dst, stack=True)
    assert (dst / "a.npy").stat().st_mtime == max(path.stat().st_mtime for path in (bags / "a").iterdir())

    Image.fromarray(noise(20, 24)).save(bags / "a" / "3.png")
    os.utime(bags / "a" / "3.png", (0, 0))  # older than the others
    assert cache(bags, dst, stack=True)[:2] == (1, 2)
    assert len(np.load(dst / "a.npy")) == 4
    for name in ("3.png", "0.png", "1.png"):
        (bags / "a" / name).unlink()
        assert cache(bags, dst, stack=True)[:2] == (1, 2)
    assert np.load(dst / "a.npy").shape == (1, 20, 24, 3)
    os.utime(bags / "deep" / "b" / "0.png", (99, 99))
    assert cache(bags, dst, ["a/2.png"], stack=True)[:2] == (0, 1)
    assert cache(bags, dst, ["deep/b/1.png"], stack=True)[:2] == (1, 0)


def test_stacks_of_different_sizes(bags: Path, tmp_path: Path) -> None:
    Image.fromarray(noise(20, 25)).save(bags / "a" / "9.png")
    written, _, failed = cache(bags, tmp_path / "dst", stack=True)
    assert written == 2
    ((path, error),) = failed
    assert path == str(bags / "a")
    assert isinstance(error, ValueError)
    for name, width in (("0.png", 24), ("9.png", 25)):
        assert f"{bags / 'a' / name} has height 20 and width {width}" in str(error)
    assert files_in(tmp_path / "dst").keys() == {"deep/b.npy", "bags.npy"}
    assert cache(bags, tmp_path / "dst2", stack=True, size=(8, 8)).written == 3


def test_a_destination_inside_the_source(src: Path) -> None:
    assert cache(src, src / "arrays") == CacheResult(5, 0, [])
    assert cache(src, src / "arrays") == CacheResult(0, 5, [])
    again = cache(src / "arrays", src / "again")  # .npy files are images too
    assert again.written == 5
    for name in SOURCES:
        assert (src / "arrays" / name).read_bytes() == (src / "again" / name).read_bytes()


def test_estimates(src: Path, tmp_path: Path) -> None:
    def estimate(*arguments: Any) -> int:
        return inner.Mirror(src, tmp_path / "dst", None, inner.Options(*arguments)).estimate()

    for options in ((), (16,), ((8, 8),), (None, None), (None, "RGB", T.CenterCrop(16), 3)):
        wanted = estimate(*options)
        inner.Mirror(src, tmp_path / "dst", None, inner.Options(*options)).write()
        assert wanted == sum(path.stat().st_size for path in files_in(tmp_path / "dst").values())
        assert estimate(*options) == 0
        for path in files_in(tmp_path / "dst").values():
            path.unlink()


def test_nothing_is_left_of_an_error(src: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "utime", full)
    with pytest.raises(OSError, match="No space left"):
        cache(src, tmp_path / "dst")
    assert not files_in(tmp_path / "dst")


@pytest.mark.parametrize("command", ["cache(src, dst)", "cache(src, dst, transform=T.Lambda(slow), draws=2)"])
def test_nothing_is_left_of_an_interruption(tmp_path: Path, command: str) -> None:
    (tmp_path / "src").mkdir()
    image = photo("astronaut", 90, 60)
    for number in range(60):
        image.save(tmp_path / "src" / f"{number}.png")
    code = f"""if True:
        import os, pathlib, signal, sys, threading, time, fastaug.transforms as T
        from fastaug.data import _cache, cache

        # A process that was started in the background ignores it, and so do its children.
        signal.signal(signal.SIGINT, signal.default_int_handler)

        def slow(image):
            time.sleep(0.05)
            return image

        read = _cache.Mirror._read
        _cache.Mirror._read = lambda self, path: slow(read(self, path))
        src, dst = sys.argv[1:]

        def interrupt():
            while not list(pathlib.Path(dst).glob("*.npy")):
                time.sleep(0.005)
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupt, daemon=True).start()
        {command}
    """
    result = python(["-c", code, str(tmp_path / "src"), str(tmp_path / "dst")])
    assert result.returncode == -signal.SIGINT, result.stderr
    made = files_in(tmp_path / "dst")
    assert 0 < len(made) < 120
    assert all(name.endswith(".npy") for name in made)
    for path in made.values():
        assert np.array_equal(np.load(path), np.asarray(image))


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"files": ["cats/9.jpg"]}, ValueError, "files should be images in .*cats/9.jpg"),
        ({"files": ["labels.csv"]}, ValueError, "files should be images in .*labels.csv"),
        ({"mode": "CMYK"}, ValueError, "mode should be None, 'RGB', 'L', 'LA' or 'RGBA', got 'CMYK'"),
        ({"draws": 0, "transform": T.Pad(1)}, ValueError, "draws should be at least 1, got 0"),
        ({"draws": 2}, ValueError, "draws are of a transform"),
        ({"transform": T.Pad(1), "size": 3}, ValueError, "neither size nor stack"),
        ({"transform": T.Pad(1), "stack": True}, ValueError, "neither size nor stack"),
        ({"seed": -1}, ValueError, "seed should be at least 0"),
        ({"seed": "a"}, TypeError, "seed should be an integer"),
        ({"size": "a"}, TypeError, "size"),
        ({"num_threads": 0}, ValueError, "num_threads should be at least 1"),
    ],
)
def test_bad_arguments(src: Path, tmp_path: Path, options: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=f"(?i){said}"):
        cache(src, tmp_path / "dst", **options)
    assert not (tmp_path / "dst").exists()


def test_bad_folders(src: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotADirectoryError, match=r"src should be a folder of images, got .*nowhere"):
        cache(tmp_path / "nowhere", tmp_path / "dst")
    with pytest.raises(ValueError, match=r"src should hold images, got .*empty, which has none"):
        cache(tmp_path / "empty", tmp_path / "dst")
    with pytest.raises(ValueError, match="dst should be another folder than src"):
        cache(src, src / "cats" / "..")
    photo("chelsea", 9, 9).save(src / "cats" / "1.png")
    with pytest.raises(ValueError, match=r"1\.jpg and .*1\.png would both be .*1\.npy"):
        cache(src, tmp_path / "dst")
