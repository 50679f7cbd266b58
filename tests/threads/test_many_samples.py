"""Pipelines of v2 over many images and samples: batches, streams, loaders, handles of files, threads, torch.compile."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torchvision import tv_tensors
from torchvision.transforms import v2 as TV

import fastaug
from fastaug import io
from fastaug.transforms import v2
from support.images import photo
from support.processes import START_METHODS


def pipeline(library: Any) -> Any:
    return library.Compose(
        [
            library.RandomResizedCrop(24),
            library.RandomHorizontalFlip(),
            library.ColorJitter(0.3, 0.3),
            library.ToImage(),
            library.ToDtype(torch.float32, scale=True),
            library.Normalize([0.5] * 3, [0.25] * 3),
        ]
    )


@pytest.fixture
def paths(tmp_path: Path) -> list[str]:
    names = [str(tmp_path / f"{number}.jpg") for number in range(5)]
    for number, name in enumerate(names):
        photo("astronaut", 60 + number, 80).save(name, quality=92)
    return names


def opened(paths: list[str]) -> list[Image.Image]:
    return [Image.open(path).convert("RGB") for path in paths]


def expected(samples: list[Any], seed: int = 0) -> list[Any]:
    torch.manual_seed(seed)
    transform = pipeline(TV)
    return [transform(sample) for sample in samples]


def same(one: Any, two: Any) -> bool:
    return len(one) == len(two) and all(torch.equal(torch.as_tensor(a), torch.as_tensor(b)) for a, b in zip(one, two))


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("of", ["PIL", "tensors", "images", "paths", "bytes", "handles"])
def test_batch(paths: list[str], of: str, threads: int, compiled: bool) -> None:
    given: dict[str, list[Any]] = {"PIL": opened(paths), "paths": list(paths)}
    arrays = [np.array(image) for image in given["PIL"]]
    given["tensors"] = [torch.from_numpy(array).permute(2, 0, 1).contiguous() for array in arrays]
    given["images"] = [tv_tensors.Image(tensor) for tensor in given["tensors"]]
    given["bytes"] = [Path(path).read_bytes() for path in paths]
    given["handles"] = [io.lazy(path) for path in paths]
    transform = fastaug.compile(pipeline(TV)) if compiled else pipeline(v2)
    torch.manual_seed(0)
    batch = transform.batch(given[of], num_threads=threads)
    state = torch.get_rng_state()
    wanted = expected(given[of] if of in ("tensors", "images") else given["PIL"])
    assert batch.shape == (5, 3, 24, 24) and same(batch, wanted)
    assert torch.equal(torch.get_rng_state(), state)


def test_batch_into_memory_with_seeds(paths: list[str]) -> None:
    out = torch.empty(5, 3, 24, 24)
    assert pipeline(v2).batch(paths, out=out, seeds=range(5)) is out
    assert same(out, [expected([image], seed)[0] for seed, image in enumerate(opened(paths))])


@pytest.mark.parametrize("ordered", [True, False])
def test_map_of_samples(paths: list[str], ordered: bool) -> None:
    def samples() -> list[Any]:
        boxes = [[1.0, 2.0, 50.0, 55.0], [10.0, 5.0, 30.0, 20.0]]
        return [
            {
                "image": image,
                "boxes": tv_tensors.BoundingBoxes(boxes, format="XYXY", canvas_size=image.size[::-1]),
                "mask": tv_tensors.Mask(torch.from_numpy(np.array(image)[..., 0] > 90)),
                "name": image.size,
            }
            for image in opened(paths)
        ]

    wanted = expected(samples())
    torch.manual_seed(0)
    found = pipeline(v2).map(samples(), ordered=ordered, num_threads=2)
    results = list(found) if ordered else [result for _, result in sorted(found, key=lambda pair: pair[0])]
    assert [list(result) for result in results] == [list(result) for result in wanted]
    for name in ("image", "boxes", "mask"):
        assert same([result[name] for result in results], [result[name] for result in wanted])


def test_a_handle_among_other_leaves(paths: list[str]) -> None:
    boxes = tv_tensors.BoundingBoxes([[1.0, 2.0, 50.0, 55.0]], format="XYXY", canvas_size=(60, 80))
    (wanted,) = expected([{"image": opened(paths)[0], "boxes": boxes}], 3)
    torch.manual_seed(3)
    result = pipeline(v2)({"image": io.lazy(paths[0]), "boxes": boxes})
    assert type(result["image"]) is tv_tensors.Image
    assert same([result["image"], result["boxes"]], [wanted["image"], wanted["boxes"]])


class Files(torch.utils.data.Dataset[Any]):
    def __init__(self, paths: list[str], transform: Any) -> None:
        self.paths, self.transform = paths, transform

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> Any:
        return self.transform(Image.open(self.paths[index]).convert("RGB")), index


@pytest.mark.parametrize("context", START_METHODS)
def test_workers_of_a_loader(paths: list[str], context: str) -> None:
    batches = []
    for library in (v2, TV):
        torch.manual_seed(0)
        loader = torch.utils.data.DataLoader(
            Files(paths, pipeline(library)), batch_size=2, num_workers=2, multiprocessing_context=context
        )
        batches.append([images for images, _ in loader])
    assert same(*batches)


def test_threads_share_a_pipeline(paths: list[str]) -> None:
    transform, image = pipeline(v2), opened(paths)[0]
    shapes: list[Any] = []
    threads = [
        threading.Thread(target=lambda: shapes.extend(transform(image).shape for _ in range(30))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert shapes == [(3, 24, 24)] * 120


@pytest.mark.main
def test_under_torch_compile() -> None:
    transform = v2.Compose([v2.RandomHorizontalFlip(1.0), v2.Normalize([0.5] * 3, [0.25] * 3)])
    compiled = torch.compile(transform, backend="eager")
    image = torch.rand(3, 20, 30)
    assert torch.equal(compiled(image), transform(image))
    assert torch.equal(transform(image), TV.Normalize([0.5] * 3, [0.25] * 3)(image.flip(-1)))
