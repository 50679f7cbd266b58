"""Parameters that transforms draw: kept as plain data, and applied again."""

from __future__ import annotations

import copy
import json
import pickle
import random
from typing import Any

import numpy as np
import pytest
import torch
import torchvision.transforms as TV
import torchvision.transforms.functional as TF

import fastaug
import fastaug.transforms as T
from fastaug._draft.call import Call
from fastaug._draft.draft import Draft
from fastaug._draft.draws import draws_from
from fastaug._draft.tape import Recording, Replaying
from fastaug._draft.through import draft_through
from support.differences import grouped
from support.images import noise, pil
from support.outcomes import clone, run, seed_all, snapshot
from support.own_names import own_names
from tables.cases import ALL_CASES, OTHER_CASES

#: Cases whose call is an error.
FAILING = ("ElasticTransform across", "RandomPosterize 0")

#: The cases that draw. RandomErasing writes floats, the others take PIL images.
RANDOM = {
    name: make
    for name, make in ALL_CASES.items()
    if name.startswith(("Random", "Auto", "Rand", "Trivial", "AugMix", "ColorJitter", "Elastic", "GaussianBlur"))
    and "inplace" not in name
    and name not in FAILING
}
# What torchvision does not have is in no table of cases.
OWN = {name for name in own_names(T, TV) if getattr(getattr(T, name), "_drawn", ())}
RANDOM |= {name: lambda T, name=name: getattr(T, name)() for name in OWN}


def noisy(name: str) -> bool:
    """Whether its parameters hold the state of a generator, which JSON does not keep."""
    return name.startswith("Elastic") or name in ("RandomErasing random", "RandomErasing narrow")


def given(name: str, height: int = 64, width: int = 71, seed: int = 0) -> Any:
    if name in OTHER_CASES:
        return torch.rand(3, height, width, generator=torch.Generator().manual_seed(seed))
    return pil("RGB", height, width, seed)


def record(transform: Any, image: Any, seed: int) -> tuple[Any, list[dict[str, Any]]]:
    seed_all(seed)
    tape = Recording()
    return through(transform, image, tape), tape.entries


def replay(transform: Any, image: Any, params: Any) -> Any:
    """Applies them. Nothing may be drawn for it."""
    states = torch.get_rng_state(), random.getstate()
    tape = Replaying(params)
    result = through(transform, image, tape)
    tape.end()
    assert torch.equal(torch.get_rng_state(), states[0])
    assert random.getstate() == states[1]
    return result


def through(transform: Any, image: Any, tape: Any, generator: Any = None) -> Any:
    draft = Draft(clone(image), Call(draws_from(generator), tape=tape))
    try:
        draft_through([transform], draft)
        return draft.finish()
    finally:
        draft.call.draws.release()


def test_every_random_class_is_here() -> None:
    """Those with parameters to draw, in all modules of transforms."""
    drawing = {name for name in T.__all__ if getattr(getattr(T, name), "_drawn", ())}
    assert drawing == {type(make(T)).__name__ for make in RANDOM.values()}
    assert {name for name in T.__all__ if name.startswith("Random")} <= drawing | {"RandomTransforms"}


@grouped(RANDOM)
def test_recording_changes_nothing(name: str) -> None:
    """The same result and the same state of the generators as a call, and parameters in the order of drawing."""
    transform, image = RANDOM[name](T), given(name)
    for seed in range(4):
        plain = run(transform, image, seed)
        result, params = record(transform, image, seed)
        assert snapshot(result) == snapshot(plain.value)
        assert torch.equal(torch.get_rng_state(), plain.torch_state)
        assert random.getstate() == plain.python_state
        assert params[0].keys() == {"transform", *type(transform)._drawn}
        assert params[0]["transform"] == type(transform).__name__


@grouped(RANDOM)
def test_replay(name: str) -> None:
    """On the same image; on another one, the result that the same draws give there; on one of another size, any."""
    transform, image = RANDOM[name](T), given(name)
    other, larger = given(name, seed=1), given(name, 80, 90, 2)
    for seed in range(4):
        expected, params = record(transform, image, seed)
        kept = copy.deepcopy(params)
        assert snapshot(replay(transform, image, params)) == snapshot(expected)
        assert snapshot(replay(transform, other, params)) == snapshot(run(transform, other, seed).value)
        assert snapshot(replay(transform, larger, params)) == snapshot(replay(transform, larger, params))
        assert snapshot(params) == snapshot(kept)


@grouped(RANDOM)
def test_parameters_are_plain_data(name: str) -> None:
    transform, image = RANDOM[name](T), given(name)
    for seed in range(4):
        expected, params = record(transform, image, seed)
        pickled = pickle.loads(pickle.dumps(params))
        assert pickled == params
        assert snapshot(replay(transform, image, pickled)) == snapshot(expected)
        if noisy(name):
            assert any(isinstance(value, (bytes, type(None))) for value in params[0].values())
        else:
            assert snapshot(replay(transform, image, json.loads(json.dumps(params)))) == snapshot(expected)


@grouped([name for name in RANDOM if name not in OTHER_CASES])
def test_replay_in_other_containers(name: str) -> None:
    """Parameters of an array replayed on that array, of a batch on that batch, of a tensor on that tensor."""
    transform = RANDOM[name](T)
    if "BICUBIC" in name or "bicubic" in name or "LANCZOS" in name or "Pillow" in name:
        transform = T.RandomApply([transform], 0.0)  # torchvision refuses these on tensors
    for image in (noise(40, 45), torch.from_numpy(noise(40, 45).transpose(2, 0, 1).copy())[None].repeat(2, 1, 1, 1)):
        outcome = run(transform, image, 3)
        if outcome.error is not None:
            continue  # an argument that torchvision refuses for this container
        expected, params = record(transform, image, 3)
        assert snapshot(expected) == snapshot(outcome.value)
        assert snapshot(replay(transform, image, params)) == snapshot(expected)


def test_a_generator_of_the_users_own() -> None:
    """It gives what torch's own gives from the same state, which stays where it is."""
    for name, make in RANDOM.items():
        transform, image = make(T), given(name)
        expected = run(transform, image, 7)
        generator = torch.Generator().manual_seed(7)
        random.seed(7)
        before = torch.get_rng_state()
        tape = Recording()
        assert snapshot(through(transform, image, tape, generator)) == snapshot(expected.value), name
        assert torch.equal(generator.get_state(), expected.torch_state), name
        assert torch.equal(torch.get_rng_state(), before), name
        assert snapshot(replay(transform, image, tape.entries)) == snapshot(expected.value), name


# ---- what is recorded


def test_names_and_values() -> None:
    image = pil("RGB", 40, 50)
    _, params = record(T.RandomRotation((30, 30)), image, 0)
    assert params == [{"transform": "RandomRotation", "angle": 30.0}]
    _, params = record(T.RandomHorizontalFlip(1.0), image, 0)
    assert params == [{"transform": "RandomHorizontalFlip", "applied": True}]
    _, params = record(T.RandomCrop((40, 50)), image, 0)
    assert params == [{"transform": "RandomCrop", "top": 0, "left": 0, "height": 40, "width": 50}]
    _, params = record(T.RandomPerspective(p=0.0), image, 0)
    assert params == [{"transform": "RandomPerspective", "startpoints": None, "endpoints": None}]
    _, params = record(T.ColorJitter(hue=(0.25, 0.25)), image, 0)
    assert sorted(params[0].pop("order")) == [0, 1, 2, 3]
    none = dict.fromkeys(("brightness", "contrast", "saturation"))
    assert params == [{"transform": "ColorJitter", **none, "hue": 0.25}]
    _, params = record(T.RandAugment(num_ops=3, magnitude=4), image, 0)
    assert [len(op) for op in params[0]["ops"]] == [2, 2, 2]


def test_a_pipeline_in_the_order_of_drawing() -> None:
    pipeline = T.Compose(
        [
            T.Resize(40),
            T.RandomApply([T.RandomRotation(20)], p=1.0),
            T.RandomApply([T.RandomRotation(20)], p=0.0),
            T.RandomOrder([T.RandomHorizontalFlip(), T.RandomHorizontalFlip()]),
            T.RandomChoice([T.RandomCrop(32), T.RandomCrop(32)]),
            T.ToTensor(),
            T.RandomErasing(1.0),
        ]
    )
    image = pil("RGB", 60, 70)
    for seed in range(6):
        expected, params = record(pipeline, image, seed)
        assert [entry["transform"] for entry in params] == [
            *("RandomApply", "RandomRotation", "RandomApply", "RandomOrder", "RandomHorizontalFlip"),
            *("RandomHorizontalFlip", "RandomChoice", "RandomCrop", "RandomErasing"),
        ]
        assert snapshot(expected) == snapshot(run(pipeline, image, seed).value)
        assert snapshot(replay(pipeline, image, json.loads(json.dumps(params)))) == snapshot(expected)
        assert snapshot(pipeline.replay(image, params)) == snapshot(expected)
        seed_all(seed)
        assert pipeline.sample(image) == params
        assert snapshot(fastaug.compile(pipeline).replay(image, params)) == snapshot(expected)


def test_edited_parameters() -> None:
    image = pil("RGB", 40, 50)
    params = T.Compose([T.RandomRotation(10), T.RandomVerticalFlip()]).sample((40, 50))
    params[0]["angle"], params[1]["applied"] = 90.0, True
    expected = T.functional.vflip(T.functional.rotate(image, 90.0))
    assert snapshot(T.Compose([T.RandomRotation(10), T.RandomVerticalFlip()]).replay(image, params)) == snapshot(
        expected
    )


def test_a_box_beyond_a_smaller_image() -> None:
    """Only what lies inside is erased."""
    for value in (0.5, [0.1, 0.2, 0.3], "random"):
        erase = T.RandomErasing(1.0, (0.5, 0.6), value=value)
        image = torch.ones(3, 60, 60)
        expected, params = record(erase, image, 0)
        for height, width in ((30, 60), (20, 20), (60, 5)):
            assert torch.equal(replay(erase, image[:, :height, :width], params), expected[:, :height, :width])
            drafted = T.Compose([T.ToTensor(), erase])
            white = pil("RGB", height, width).point(lambda _: 255)
            assert torch.equal(replay(drafted, white, params), expected[:, :height, :width])


# ---- get_params of the user's own


def test_get_params_of_a_subclass() -> None:
    """What they return is kept as it is; replaying does not call them."""

    class Quarters(T.RandomRotation):
        calls = 0

        @staticmethod
        def get_params(degrees: Any) -> float:
            Quarters.calls += 1
            return 90.0 * int(torch.randint(0, 4, (1,)))

    class Fixed(T.ColorJitter):
        @staticmethod
        def get_params(brightness: Any, contrast: Any, saturation: Any, hue: Any) -> Any:
            return torch.tensor([3, 2, 1, 0]), 1.2, 0.8, 1.5, float(torch.rand(1)) / 2

    image = pil("RGB", 40, 50)
    for transform in (Quarters(10, expand=True), Fixed(0.5)):
        expected, params = record(transform, image, 5)
        assert snapshot(expected) == snapshot(run(transform, image, 5).value)
        assert params[0]["transform"] == type(transform).__name__
        calls = Quarters.calls
        assert snapshot(replay(transform, image, json.loads(json.dumps(params)))) == snapshot(expected)
        assert Quarters.calls == calls


@pytest.mark.parametrize(
    "make",
    [
        lambda: T.RandomCrop(10),
        lambda: T.RandomResizedCrop(10),
        lambda: T.RandomRotation(10),
        lambda: T.RandomAffine(10, (0.1, 0.1), (0.5, 2), 3),
        lambda: T.RandomPerspective(p=1.0),
        lambda: T.ColorJitter(0.5, 0.5),
        lambda: T.GaussianBlur(3),
        lambda: T.ElasticTransform(),
        lambda: T.AutoAugment(),
        lambda: T.RandomErasing(1.0),
        lambda: T.RandomErasing(1.0, value="random"),
    ],
)
def test_get_params_is_called_with_torchs_generator(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set on one object or on the class, with earlier draws in the pipeline: it draws from where those ended."""
    image = torch.rand(3, 40, 50) if "Erasing" in repr(make()) else pil("RGB", 40, 50)
    flips = [T.RandomHorizontalFlip(), T.RandomVerticalFlip()]
    expected = run(T.Compose([*flips, make(), *flips]), image, 4)
    seen = []

    def watched(original: Any) -> Any:
        def get_params(*arguments: Any, **named: Any) -> Any:
            seen.append(torch.get_rng_state())
            return original(*arguments, **named)

        return get_params

    own = make()
    own.get_params = watched(own.get_params)
    results = [run(T.Compose([*flips, own, *flips]), image, 4)]
    monkeypatch.setattr(type(own), "get_params", staticmethod(watched(type(own).get_params)))
    results.append(run(T.Compose([*flips, make(), *flips]), image, 4))
    for result in results:
        assert result.error is None
        assert snapshot(result.value) == snapshot(expected.value)
        assert torch.equal(result.torch_state, expected.torch_state)
    torch.manual_seed(4)
    torch.rand(1), torch.rand(1), "Perspective" in repr(own) and torch.rand(1), "Erasing" in repr(own) and torch.rand(1)
    assert len(seen) == 2
    assert all(torch.equal(state, torch.get_rng_state()) for state in seen)


# ---- parameters that do not fit


def test_parameters_of_another_pipeline() -> None:
    image = pil("RGB", 40, 50)
    params = T.Compose([T.RandomRotation(10), T.RandomCrop(20)]).sample((40, 50))
    with pytest.raises(
        ValueError, match=r"RandomCrop needs top, left, height, width, but entry 0 is of RandomRotation"
    ):
        T.Compose([T.RandomCrop(20), T.RandomRotation(10)]).replay(image, params)
    with pytest.raises(ValueError, match="RandomHorizontalFlip needs applied, but all 2 entries have been used"):
        T.Compose([T.RandomRotation(10), T.RandomCrop(20), T.RandomHorizontalFlip()]).replay(image, params)
    with pytest.raises(ValueError, match="used 1 of 2 entries, and the next one is of RandomCrop"):
        T.Compose([T.RandomRotation(10)]).replay(image, params)
    with pytest.raises(ValueError, match="RandomRotation needs angle, but entry 0 is of RandomRotation with degrees"):
        T.Compose([T.RandomRotation(10)]).replay(image, [{"transform": "RandomRotation", "degrees": 1.0}])
    with pytest.raises(ValueError, match="entry 0 is of None with nothing"):
        T.Compose([T.RandomRotation(10)]).replay(image, [{}])
    assert T.Compose([T.Resize(10)]).sample(30) == []


@pytest.mark.parametrize("params", [None, "RandomCrop", {"transform": "RandomCrop"}, [3], [["RandomCrop"]], b"x"])
def test_parameters_that_are_none(params: Any) -> None:
    with pytest.raises(TypeError, match="params should be a list of dictionaries"):
        T.Compose([T.RandomCrop(20)]).replay(pil("RGB", 40, 50), params)


# ---- parameters of one pipeline for another with fewer transforms


def joint(interpolation: Any, colour: bool, **fill: Any) -> T.Compose:
    """Geometry for images or masks; images get colours and noise as well."""
    colours = [T.ColorJitter(0.4, 0.4, 0.4, 0.1), T.RandomGrayscale(0.3)] if colour else []
    return T.Compose(
        [
            T.RandomResizedCrop(48, (0.3, 1.0), interpolation=interpolation),
            *colours,
            T.RandomHorizontalFlip(),
            *([T.RandomApply([T.GaussianBlur(3)], p=0.5)] if colour else []),
            T.RandomRotation(30, interpolation=interpolation, **fill),
            T.RandomPerspective(0.4, 0.7, interpolation=interpolation, **fill),
            T.ElasticTransform(30.0, 3.0, interpolation=interpolation, **fill),
            *([T.AugMix()] if colour else []),
            T.RandomCrop(40, padding=4, **fill),
        ]
    )


@pytest.mark.parametrize("seed", range(8))
def test_an_image_and_its_mask(seed: int) -> None:
    """A mask gets what torchvision's functions make of it with the parameters that were drawn for the image."""
    nearest = T.InterpolationMode.NEAREST
    images, masks = joint(T.InterpolationMode.BILINEAR, True), joint(nearest, False, fill=255)
    image, mask = pil("RGB", 60, 70), pil("L", 60, 70, 1)
    expected = run(images, image, seed)
    seed_all(seed)
    params = images.sample(image)
    assert snapshot(images.replay(image, params)) == snapshot(expected.value)

    drawn: dict[str, Any] = {entry["transform"]: entry for entry in params}
    box = (drawn["RandomResizedCrop"][side] for side in ("top", "left", "height", "width"))
    by_hand = TF.resized_crop(mask, *box, [48, 48], TV.InterpolationMode.NEAREST)
    by_hand = TF.hflip(by_hand) if drawn["RandomHorizontalFlip"]["applied"] else by_hand
    by_hand = TF.rotate(by_hand, drawn["RandomRotation"]["angle"], fill=[255])
    if (start := drawn["RandomPerspective"]["startpoints"]) is not None:
        end = drawn["RandomPerspective"]["endpoints"]
        by_hand = TF.perspective(by_hand, start, end, TV.InterpolationMode.NEAREST, [255])
    torch.set_rng_state(torch.frombuffer(bytearray(drawn["ElasticTransform"]["noise"]), dtype=torch.uint8))
    field = TV.ElasticTransform.get_params([30.0, 30.0], [3.0, 3.0], [48, 48])
    by_hand = TF.elastic_transform(by_hand, field, TV.InterpolationMode.NEAREST, [255.0])
    by_hand = TF.pad(by_hand, 4, 255)
    by_hand = TF.crop(by_hand, *(drawn["RandomCrop"][side] for side in ("top", "left", "height", "width")))

    seed_all(99)
    states = torch.get_rng_state(), random.getstate()
    assert snapshot(masks.replay(mask, params, subset=True)) == snapshot(by_hand)
    assert snapshot(fastaug.compile(masks).replay(mask, params, subset=True)) == snapshot(by_hand)
    assert torch.equal(torch.get_rng_state(), states[0]) and random.getstate() == states[1]
    # A whole pipeline is a subset of itself.
    assert snapshot(images.replay(image, params, subset=True)) == snapshot(expected.value)


def test_parameters_for_several_images() -> None:
    """Of other sizes and in other containers, from one and the same list."""
    images = joint(T.InterpolationMode.BILINEAR, True)
    params = images.sample((60, 70))
    kept = copy.deepcopy(params)
    pictures = [pil("RGB", 60, 70, seed) for seed in range(3)]
    for picture in pictures:
        replayed = images.replay(picture, params)
        assert snapshot(images.replay(picture, params)) == snapshot(replayed)
        assert np.array_equal(images.replay(np.asarray(picture), params), np.asarray(replayed))
    for other in (pil("L", 80, 75), noise(64, 90), torch.from_numpy(noise(70, 70).transpose(2, 0, 1).copy())):
        assert Draft(images.replay(other, params)).dimensions()[1:] == (40, 40)
    assert snapshot(params) == snapshot(kept)


def test_a_subset_that_is_none() -> None:
    image = pil("L", 40, 50)
    params = T.Compose([T.RandomRotation(10), T.ColorJitter(0.5), T.RandomCrop(20)]).sample((40, 50))
    with pytest.raises(ValueError, match=r"RandomAffine needs angle, .*, but of the 3 entries none"):
        T.Compose([T.RandomRotation(10), T.RandomAffine(10)]).replay(image, params, subset=True)
    # In their order: what was skipped does not come again.
    with pytest.raises(ValueError, match="none from entry 3 on is of RandomRotation"):
        T.Compose([T.RandomCrop(20), T.RandomRotation(10)]).replay(image, params, subset=True)
    with pytest.raises(ValueError, match=r"RandomCrop needs top, .*, but entry 0 is of RandomCrop with"):
        T.Compose([T.RandomCrop(20)]).replay(image, [{"transform": "RandomCrop", "top": 3}], subset=True)
    # Asked for by name only.
    with pytest.raises(ValueError, match="but entry 1 is of ColorJitter"):
        T.Compose([T.RandomRotation(10), T.RandomCrop(20)]).replay(image, params)
    assert T.Compose([T.Resize(10)]).replay(image, params, subset=True).size == (12, 10)


def test_noise_that_is_none() -> None:
    params = [{"transform": "ElasticTransform", "noise": [1, 2]}]
    with pytest.raises(TypeError, match="noise should be the bytes that were recorded"):
        T.Compose([T.ElasticTransform()]).replay(pil("RGB", 40, 50), params)
    erase = T.Compose([T.RandomErasing(1.0, value="random")])
    params = T.Compose([T.RandomErasing(1.0)]).sample(torch.zeros(3, 40, 50))
    with pytest.raises(TypeError, match="noise should be the bytes that were recorded"):
        erase.replay(torch.zeros(3, 40, 50), params)


def test_shares_of_another_batch() -> None:
    mix = T.Compose([T.AugMix()])
    batch = torch.from_numpy(noise(20, 25).transpose(2, 0, 1).copy())[None].repeat(3, 1, 1, 1)
    with pytest.raises(ValueError, match=r"shares are for a batch of 3 images\. Got a batch of 2"):
        mix.replay(batch[:2], mix.sample(batch))
    assert mix.replay(batch, mix.sample(batch[0])).shape == batch.shape
