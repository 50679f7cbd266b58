"""Views of images that are not encoded are made one after the other, each chain of calls by one pipeline."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torchvision.transforms as TV
from PIL import Image
from torchvision.transforms import v2 as TV2

import fastaug
import fastaug.transforms as T
from fastaug._views.batch import ViewsBatch
from fastaug.transforms import v2
from support.images import photo, to_chw
from support.outcomes import seed_all, snapshot

PHOTO = photo("chelsea", 90, 121)
Value = fastaug.Views.Value


def steps(library: Any) -> list[Any]:
    """A crop, colours, and an end."""
    colours = library.Compose([library.ColorJitter(0.4, 0.4), library.RandomGrayscale(0.3)])
    return [library.RandomResizedCrop(32), colours, library.Compose([library.RandomHorizontalFlip(), library.Pad(1)])]


def one_by_one(program: Any, image: Any) -> Any:
    """What a loop over the calls gives."""
    return program._one_by_one((image,))


#: Calls of three steps, and the sources and values of their chains.
PROGRAMS: dict[str, tuple[list[tuple[int, int, int]], Any, list[tuple[int, int]]]] = {
    "one chain": ([(0, 0, 1), (1, 1, 2), (2, 2, 3)], Value(3), [(0, 3)]),
    "two chains": (
        [(0, 0, 1), (1, 1, 2), (2, 2, 3), (0, 0, 4), (2, 4, 5)],
        [Value(3), [Value(5), Value(3)]],
        [(0, 3), (0, 5)],
    ),
    "others draw between": (
        [(0, 0, 1), (0, 0, 2), (1, 1, 3), (1, 2, 4)],
        [Value(3), Value(4)],
        [(0, 1), (0, 2), (1, 3), (2, 4)],
    ),
    "a value that two take": ([(0, 0, 1), (1, 1, 2), (2, 1, 3)], [Value(2), Value(3)], [(0, 1), (1, 2), (1, 3)]),
    "a value that is a result": ([(0, 0, 1), (1, 1, 2), (2, 2, 3)], [Value(1), Value(3)], [(0, 1), (1, 3)]),
    "the image itself": ([(0, 0, 1), (1, 1, 2)], [Value(0), Value(2)], [(0, 2)]),
}

WAYS: dict[str, Callable[[list[Any], Any], Any]] = {
    "plain": fastaug.Views._of_calls,
    "compiled": lambda calls, result: fastaug.compile(fastaug.Views._of_calls(calls, result)),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("libraries", [(T, T), (v2, v2), (TV, T), (TV2, v2)], ids=["v1", "v2", "TV1", "TV2"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_results_and_draws_are_those_of_a_loop(name: str, libraries: tuple[Any, Any], way: str) -> None:
    calls, result, expected = PROGRAMS[name]
    theirs = steps(libraries[0])
    program = fastaug.Views._of_calls([(theirs[step], source, value) for step, source, value in calls], result)
    made = WAYS[way](program.calls, result)
    if libraries[0] is libraries[1] or way == "compiled":
        assert [chain[1:3] for chain in made._program.chains()] == expected
    for image in (PHOTO, PHOTO.convert("L"), to_chw(PHOTO)):
        for seed in range(6):
            seed_all(seed)
            loop, state = one_by_one(program, image), torch.get_rng_state()
            seed_all(seed)
            assert snapshot(made(image)) == snapshot(loop)
            assert torch.equal(torch.get_rng_state(), state)


def test_what_is_given_is_an_image_or_else_drafted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop would decode a file several times."""
    views = fastaug.compile(fastaug.Views([T.RandomCrop(20), T.RandomCrop(20)]))
    in_turn: list[Any] = []
    own = type(views)._in_turn

    def noted(self: Any, image: Any) -> Any:
        values = own(self, image)
        in_turn.append(values is not None)
        return values

    monkeypatch.setattr(type(views), "_in_turn", noted)
    handle = fastaug.io.lazy(fastaug.sample_file())
    for image in (PHOTO, to_chw(PHOTO), to_chw(PHOTO).float(), fastaug.sample_file(), handle):
        views(image)
    assert in_turn == [True, True, True, False, False]


def test_values_that_nobody_takes_are_not_made() -> None:
    flip, crop = T.RandomHorizontalFlip(), T.RandomCrop(20)
    views = fastaug.Views._of_calls([(flip, 0, 1), (crop, 0, 2)], Value(2))
    assert views._program.chains() is None
    seed_all(1)
    flip(PHOTO)
    expected, state = crop(PHOTO), torch.get_rng_state()
    seed_all(1)
    assert snapshot(views(PHOTO)) == snapshot(expected)
    assert torch.equal(torch.get_rng_state(), state)


def chained(library: Any = TV2, **options: Any) -> Any:
    calls = [(step, number, number + 1) for number, step in enumerate(steps(library))]
    return fastaug.compile(fastaug.Views._of_calls(calls, [Value(3)]), **options)


def test_hooks_see_what_is_between() -> None:
    views = chained()
    views(PHOTO)
    seen: list[Any] = []
    handle = views.transforms[1].register_forward_hook(lambda module, given, result: seen.append(result))
    seed_all(2)
    expected = views(PHOTO)
    assert len(seen) == 1 and seen[0].size == (32, 32)
    handle.remove()
    for _ in range(4):
        seed_all(2)
        assert snapshot(views(PHOTO)) == snapshot(expected)
    assert len(seen) == 1


def test_settings_that_change() -> None:
    views, other = chained(), chained(mode="fast")
    views(PHOTO)
    for transform in views.transforms:
        transform.mode = "fast"
    for seed in range(4):
        seed_all(seed)
        expected = other(PHOTO)
        seed_all(seed)
        assert snapshot(views(PHOTO)) == snapshot(expected)
    views.transforms[0].mode = "exact"
    assert [chain[1:3] for chain in views._program.chains()] == [(0, 1), (1, 3)]


def test_transforms_that_change() -> None:
    """Those of a pipeline that a chain is made of."""
    first, second = v2.Compose([v2.RandomCrop(40)]), v2.Compose([v2.RandomHorizontalFlip(0.5)])
    views = fastaug.Views._of_calls([(first, 0, 1), (second, 1, 2)], Value(2))
    for _ in range(6):
        assert views(PHOTO).size == (40, 40)
    second.transforms.append(v2.CenterCrop(10))
    assert views(PHOTO).size == (10, 10)
    first.transforms[0] = v2.CenterCrop(5)
    second.transforms.pop()
    assert views(PHOTO).size == (5, 5)


@pytest.mark.parametrize("options", [{"dtype": torch.float16}, {"memory_format": torch.channels_last}], ids=str)
def test_formats(options: dict[str, Any]) -> None:
    calls = [(TV.RandomCrop(30), 0, 1), (TV.ToTensor(), 1, 2), (TV.RandomHorizontalFlip(), 2, 3)]
    plain = fastaug.compile(fastaug.Views._of_calls(calls, [Value(2), Value(3)]))
    formatted = fastaug.compile(fastaug.Views._of_calls(calls, [Value(2), Value(3)]), **options)
    seed_all(4)
    expected = plain(PHOTO)
    for _ in range(3):
        seed_all(4)
        for one, other in zip(formatted(PHOTO), expected):
            assert one.dtype is options.get("dtype", torch.float32)
            assert torch.equal(one, other.to(one.dtype))
            assert options.get("memory_format") is None or one.permute(1, 2, 0).is_contiguous()


def test_a_generator_of_the_views() -> None:
    generator = torch.Generator()
    views, plain = chained(generator=generator), chained()
    for seed in range(3):
        generator.manual_seed(seed)
        state = torch.get_rng_state()
        got = views(PHOTO)
        assert torch.equal(torch.get_rng_state(), state)
        torch.manual_seed(seed)
        assert snapshot(plain(PHOTO)) == snapshot(got)
        torch.set_rng_state(state)


@pytest.mark.parametrize("name", ["one chain", "two chains", "others draw between", "the image itself"])
def test_batches_are_drawn_by_the_core_where_all_chains_begin_with_the_image(name: str) -> None:
    calls, result, chains = PROGRAMS[name]
    transforms = steps(TV2)
    views: Any = fastaug.compile(fastaug.Views._of_calls([(transforms[k], *where) for k, *where in calls], result))
    batch = ViewsBatch(views, views._call, 3, None)
    recipes = batch.recipes()
    native = name in ("one chain", "two chains")
    assert recipes is not None and len(recipes) == len(chains) if native else recipes is None
    images = [PHOTO, PHOTO.rotate(90), Image.new("RGB", (50, 60), (1, 2, 3))]
    seed_all(9)
    expected, state = [views(image) for image in images], torch.get_rng_state()
    seed_all(9)
    got = list(views.map(images))
    assert snapshot(got) == snapshot(expected)
    assert torch.equal(torch.get_rng_state(), state)
