"""A call that the native core would do by itself is Python's again from when anything has changed that it may show."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from unittest import mock

import pytest
import torch
from PIL import Image, ImageOps
from torch.nn import functional as nnf
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

import fastaug
import fastaug.transforms as T
from fastaug._draft import libraries
from fastaug._draft import recipe as recipe_module
from fastaug._draft.call import PLAIN
from support.defaults import default_dtype
from support.differences import each

IMAGE = Image.effect_noise((40, 30), 90).convert("RGB")
CALLS = 30


def made() -> Any:
    policies = [T.RandAugment(), T.AutoAugment(), T.TrivialAugmentWide()]
    inner = T.Compose([T.RandomApply([T.RandomRotation([-20, 20])], 0.7), T.RandomCrop([20, 20]), *policies])
    return T.Compose(
        [inner, T.RandomHorizontalFlip(), T.ColorJitter([0.5, 1.5]), T.ToTensor(), T.Normalize([0.5], [0.5])]
    )


def ready(pipeline: Any) -> Any:
    """After as many calls as it takes."""
    for _ in range(CALLS):
        pipeline(IMAGE)
    assert is_native(pipeline)
    return pipeline


def is_native(pipeline: Any) -> bool:
    recipe = pipeline._book.recipe
    return recipe is not None and recipe.call(IMAGE, pipeline.transforms) is not NotImplemented


def results(call: Callable[[Any], Any], seed: int = 0) -> list[Any]:
    torch.manual_seed(seed)
    return [call(IMAGE) for _ in range(6)]


def agree(pipeline: Any) -> bool:
    """Whether calls are what Python makes of the pipeline as it is now, several times over."""
    for _ in range(3):
        expected = results(lambda image: pipeline._run(image, pipeline._call))
        state = torch.get_rng_state()
        found = results(pipeline)
        same = [torch.equal(one, other) and one.dtype == other.dtype for one, other in zip(found, expected)]
        if not all(same) or not torch.equal(state, torch.get_rng_state()):
            return False
    return True


def crop(pipeline: Any) -> Any:
    return pipeline.transforms[0].transforms[1]


def rotation(pipeline: Any) -> Any:
    return pipeline.transforms[0].transforms[0].transforms[0]


def policy(pipeline: Any) -> Any:
    return pipeline.transforms[0].transforms[3]


def inverting(*arguments: Any) -> Any:
    return {"Invert": (torch.tensor(0.0), False)}


def darker(image: Any) -> Any:
    return image.point(lambda value: value // 2)


CHANGES: dict[str, Callable[[Any], Any]] = {
    "an attribute": lambda p: setattr(p.transforms[1], "p", 0.9),
    "an attribute of an inner one": lambda p: setattr(crop(p), "size", (10, 12)),
    "an item of a list": lambda p: rotation(p).degrees.__setitem__(1, 60.0),
    "an item of a mean": lambda p: p.transforms[4].mean.__setitem__(0, 0.25),
    "all policies": lambda p: policy(p).policies.__setitem__(slice(None), [(("Invert", 1.0, None),) * 2] * 25),
    "a policy": lambda p: policy(p).policies.__setitem__(slice(0, 20), [(("Solarize", 1.0, 9),) * 2] * 20),
    "an augmentation space": lambda p: setattr(p.transforms[0].transforms[4], "_augmentation_space", inverting),
    "an attribute that is added": lambda p: setattr(crop(p), "get_params", lambda image, size: (1, 2, *size)),
    "a forward": lambda p: setattr(p.transforms[1], "forward", darker),
    "a hook": lambda p: p.transforms[1].register_forward_hook(lambda module, given, image: darker(image)),
    "a hook before": lambda p: crop(p).register_forward_pre_hook(lambda module, given: (darker(given[0]),)),
    "a transform more": lambda p: p.transforms.insert(0, darker),
    "a transform less": lambda p: p.transforms.pop(1),
    "another transform": lambda p: p.transforms.__setitem__(1, T.RandomVerticalFlip(1.0)),
    "another inner one": lambda p: p.transforms[0].transforms.__setitem__(1, T.CenterCrop(9)),
    "other transforms": lambda p: setattr(p, "transforms", [T.ToTensor()]),
    "the mode": lambda p: setattr(p, "mode", "fast"),
    "the class of a transform": lambda p: setattr(p.transforms[1], "__class__", T.RandomVerticalFlip),
    "the dictionary of a transform": lambda p: setattr(p.transforms[1], "__dict__", vars(T.RandomHorizontalFlip(1.0))),
}


@pytest.mark.parametrize("change", CHANGES)
def test_changes_count_at_once(change: str) -> None:
    pipeline = ready(made())
    before = results(pipeline)
    CHANGES[change](pipeline)
    assert not is_native(pipeline) or change == "the mode"
    assert agree(pipeline)
    after = results(pipeline)
    changed = [one.shape != other.shape or not torch.equal(one, other) for one, other in zip(before, after)]
    assert any(changed) or change == "the mode"


def test_an_attribute_that_changes_once_costs_the_recipe_once() -> None:
    pipeline = ready(made())
    pipeline.transforms[1].p = 0.25
    assert not is_native(pipeline)
    ready(pipeline)


@contextmanager
def hook_on_all() -> Iterator[None]:
    handle = torch.nn.modules.module.register_module_forward_hook(lambda module, given, result: None)
    try:
        yield
    finally:
        handle.remove()


class Functions(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


class Dispatches(TorchDispatchMode):
    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


REPLACED: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "forward": lambda: mock.patch.object(T.RandomHorizontalFlip, "forward", lambda self, image: darker(image)),
    "__call__": lambda: mock.patch.object(T.ToTensor, "__call__", return_value=torch.ones(3, 4, 5)),
    "the base's __call__": lambda: mock.patch.object(torch.nn.Module, "__call__", lambda self, image: image),
    "get_params": lambda: mock.patch.object(T.RandomRotation, "get_params", staticmethod(lambda degrees: 90.0)),
    "a function": lambda: mock.patch.object(T.functional, "hflip", darker),
    "an augmentation space": lambda: mock.patch.object(T.RandAugment, "_augmentation_space", inverting),
    "torch.rand": lambda: mock.patch("torch.rand", lambda count: torch.zeros(count)),
    "uniform_": lambda: mock.patch.object(torch.Tensor, "uniform_", lambda self, low, high: self.fill_(low)),
    "a hook on all modules": hook_on_all,
    "the default dtype": default_dtype,
    "a mode of functions": Functions,
    "a mode of dispatches": Dispatches,
    "what runs jobs": lambda: mock.patch.object(PLAIN, "run", mock.Mock(side_effect=PLAIN.run)),
}


@pytest.mark.parametrize("what", REPLACED)
@each("make", [made, lambda: fastaug.compile(made())])
def test_what_is_replaced_is_called(what: str, make: Callable[[], Any]) -> None:
    pipeline = ready(make())
    with REPLACED[what]():
        assert not is_native(pipeline)
        assert agree(pipeline)
    ready(pipeline)


def test_spaces_of_the_user_s_are_drawn_from() -> None:
    inverted = ImageOps.invert(IMAGE)
    with REPLACED["an augmentation space"]():
        assert T.RandAugment(1)(IMAGE) == inverted
        assert T.Compose([T.RandAugment(), T.ToTensor()])._recipe() is None
    assert T.RandAugment(0)(IMAGE) == IMAGE
    own = T.TrivialAugmentWide()
    own._augmentation_space = inverting
    assert own(IMAGE) == inverted and T.Compose([own, T.ToTensor()])._recipe() is None


def test_magnitudes_are_those_of_the_usual_dtype() -> None:
    with default_dtype():
        assert T.Compose([T.RandAugment(), T.ToTensor()])._recipe() is None


def test_what_torch_records_is_left_to_it() -> None:
    pipeline = T.Compose([T.Pad(1), T.RandomHorizontalFlip(1.0), T.ConvertImageDtype(torch.float32)])
    recipe, image = pipeline._recipe(), torch.arange(48, dtype=torch.uint8).reshape(3, 4, 4)
    seen = []

    def watched(given: torch.Tensor) -> Any:
        seen.append(recipe.call(given, pipeline.transforms))
        return given + 1

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # torch would rather have its compiler used
        torch.jit.trace(watched, image, check_trace=False)
    torch.func.vmap(watched)(image[None])
    assert all(one is NotImplemented for one in seen) and len(seen) >= 2
    assert pipeline._recipe().call(image, pipeline.transforms) is not NotImplemented


class Own(T.RandomHorizontalFlip):
    pass


def with_policies(policies: Any) -> Any:
    transform = T.AutoAugment()
    transform.policies = policies
    return transform


@pytest.mark.parametrize(
    "step",
    [
        Own(),
        T.RandomApply([T.Lambda(lambda image: image)]),
        T.Normalize(torch.tensor([0.5]), torch.tensor([0.5])),
        T.RandomChoice([T.Pad(1)], [2**50]),
        T.RandomApply([T.ElasticTransform()]),
        T.RandomErasing(value="random"),
        T.RandAugment(magnitude=31),
        T.RandAugment(num_magnitude_bins=1),
        T.RandAugment(2.0),  # type: ignore[arg-type]
        T.TrivialAugmentWide(fill=10**400),
        with_policies([[("Invert", 1.0, None), ("Invert", 1.0, None)]]),
        with_policies([(["Invert", 1.0, None], ("Invert", 1.0, None))]),
        with_policies([(("Rotate", 1.0, 10), ("Invert", 1.0, None))]),
        with_policies([(("Rotate", 1.0, None), ("Invert", 1.0, None))]),
        with_policies([]),
        T.RandomApply(torch.nn.ModuleList([T.Pad(1)])),
        T.Grayscale(2**63),
        T.Pad(2**40),
        T.CenterCrop(2**70),
    ],
    ids=lambda step: type(step).__name__,
)
def test_others_have_none(step: Any) -> None:
    assert T.Compose([step, T.ToTensor()])._recipe() is None


def test_user_code_between_is_called_as_it_is_now() -> None:
    kinds: list[type] = []

    def watched(image: Any) -> Any:
        kinds.append(type(image))
        return image

    pipeline = ready(T.Compose([T.RandomCrop(20), watched, T.ToTensor(), watched]))
    kinds.clear()
    assert pipeline(IMAGE).shape == (3, 20, 20)
    assert kinds == [Image.Image, torch.Tensor]
    pipeline.transforms[1] = lambda image: image.resize((7, 5))
    assert pipeline(IMAGE).shape == (3, 5, 7)
    pipeline.transforms[0].size = (9, 9)
    pipeline.transforms[1] = watched
    assert pipeline(IMAGE).shape == (3, 9, 9)
    pipeline.transforms.append(T.RandomHorizontalFlip(1.0))
    flipped = pipeline(Image.linear_gradient("L").rotate(90).crop((100, 0, 109, 9)))
    assert flipped[0, 0, 0] > flipped[0, 0, 8]


def test_an_error_of_user_code_is_the_users_and_comes_after_the_draws_before_it() -> None:
    def broken(image: Any) -> Any:
        raise LookupError(type(image).__name__)

    pipeline = T.Compose([T.RandomCrop(20), T.RandomHorizontalFlip(), broken, T.RandomCrop(9), T.ToTensor()])
    for _ in range(CALLS):
        assert outcome(pipeline, IMAGE)[0][:2] == (LookupError, "Image")
    torch.manual_seed(3)
    ours = outcome(pipeline, IMAGE)
    torch.manual_seed(3)
    assert outcome(lambda image: pipeline._run(image, pipeline._call), IMAGE) == ours
    assert isinstance(pipeline._book.recipe, recipe_module.Parts)


def test_copies_and_pickles_have_their_own() -> None:
    for pipeline in (made(), fastaug.compile(made(), generator=torch.Generator())):
        ready(pipeline)
        for copied in (copy.copy(pipeline), copy.deepcopy(pipeline), pickle.loads(pickle.dumps(pipeline))):
            assert copied(IMAGE).shape == (3, 20, 20)
            ready(copied)
            assert copied._book is not pipeline._book


def test_it_is_freed_with_its_pipeline() -> None:
    pipeline = ready(made())
    pipeline.transforms[1].owner = pipeline  # a circle
    ready(pipeline)
    gone = weakref.ref(pipeline.transforms[1])
    del pipeline
    gc.collect()
    assert gone() is None


class Tensor(torch.Tensor):
    pass


CLOSED = IMAGE.copy()
CLOSED.close()

IMAGES: dict[str, Any] = {
    "a closed image": CLOSED,
    "no image": 7,
    "None": None,
    "an empty tensor": torch.empty(3, 0, 4, dtype=torch.uint8),
    "a tensor of a subclass": torch.ones(3, 30, 40, dtype=torch.uint8).as_subclass(Tensor),
    "a tensor on another device": torch.empty(3, 30, 40, dtype=torch.uint8, device="meta"),
    "a blank image": Image.Image(),
    "an image that is too small": Image.new("RGB", (5, 5)),
}


def outcome(call: Callable[[Any], Any], image: Any) -> Any:
    torch.manual_seed(5)
    try:
        found: Any = call(image)
    except Exception as error:
        found = type(error), str(error), type(error.__cause__), type(error.__context__)
    return found, torch.get_rng_state().tolist()


@pytest.mark.parametrize("image", IMAGES.values(), ids=IMAGES)
def test_errors_and_generators_are_pythons(image: Any) -> None:
    pipeline = T.Compose([T.RandomHorizontalFlip(), T.RandomVerticalFlip(), T.RandomCrop(9), T.ToTensor()])
    ready(pipeline)
    expected = outcome(lambda given: pipeline._run(given, pipeline._call), image)
    assert outcome(pipeline, image) == expected
    assert isinstance(expected[0], tuple)


@contextmanager
def other_convolution(fuses: Any) -> Iterator[None]:
    """A function in the place of torch's, for which Python is asked at every draw, and what it answers."""
    with mock.patch.object(nnf, "conv2d", mock.Mock()), mock.patch.dict(libraries.FUNCTIONS, {"fuses": fuses}):
        yield


def test_ctrl_c_goes_through_and_draws_nothing() -> None:
    pipeline = T.Compose([T.RandomHorizontalFlip(), T.GaussianBlur(3), T.ToTensor()])
    interrupted = mock.Mock(side_effect=KeyboardInterrupt)
    own = pipeline._recipe()
    state = torch.get_rng_state()
    with other_convolution(interrupted), pytest.raises(KeyboardInterrupt):
        own.call(IMAGE, pipeline.transforms)
    assert torch.equal(torch.get_rng_state(), state)
    assert interrupted.called


def test_generators_that_are_forked_seeded_and_drawn_from_between_calls() -> None:
    pipeline = ready(made())
    results(pipeline)
    torch.manual_seed(3)
    with torch.random.fork_rng(devices=[]):
        inside = pipeline(IMAGE)
    assert torch.equal(pipeline(IMAGE), inside)
    between = [torch.rand(3), pipeline(IMAGE), torch.randn(5), pipeline(IMAGE)]
    torch.manual_seed(3)
    pipeline._run(IMAGE, pipeline._call)
    again = [torch.rand(3), pipeline._run(IMAGE, pipeline._call), torch.randn(5), pipeline._run(IMAGE, pipeline._call)]
    assert all(map(torch.equal, between, again))


def test_one_that_is_called_by_another() -> None:
    inner = ready(made())
    outer = T.Compose([T.RandomHorizontalFlip(), lambda image: (image, inner(image)), lambda pair: pair[1]])
    torch.manual_seed(0)
    found, after = [outer(IMAGE) for _ in range(5)], torch.rand(1)
    torch.manual_seed(0)
    flip = T.RandomHorizontalFlip()
    expected = [inner._run(flip(IMAGE), inner._call) for _ in range(5)]
    assert all(map(torch.equal, found, expected)) and torch.equal(after, torch.rand(1))


def test_threads_draw_every_number_once() -> None:
    pipeline = ready(T.Compose([T.RandomCrop(1), T.ToTensor()]))
    calls, workers = 200, 4
    torch.manual_seed(1)
    expected = sorted(tuple(pipeline(IMAGE).flatten().tolist()) for _ in range(calls * workers))
    after = torch.rand(1)
    found: list[Any] = []

    def work() -> None:
        found.extend([tuple(pipeline(IMAGE).flatten().tolist()) for _ in range(calls)])

    torch.manual_seed(1)
    threads = [threading.Thread(target=work) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == expected and torch.equal(after, torch.rand(1))


def test_images_that_tell_something_do_so_after_a_call() -> None:
    pipeline = T.Compose([T.RandomCrop(9), T.RandomHorizontalFlip(1.0)])
    for _ in range(CALLS):
        pipeline(IMAGE)
    told = IMAGE.copy()
    told.info.update(dpi=(72, 72), list=[1])
    assert pipeline._book.recipe.call(IMAGE, pipeline.transforms).info == {}
    for found in (pipeline._book.recipe.call(told, pipeline.transforms), pipeline(told)):
        assert found.info == {"dpi": (72, 72), "list": [1]}
        assert found.info is not told.info and found.info["list"] is not told.info["list"]


def test_what_is_pythons_every_time_is_asked_for_ever_more_rarely() -> None:
    pipeline = T.Compose([T.RandomHorizontalFlip(), T.GaussianBlur(3), T.ToTensor()])
    refusing = mock.Mock(return_value=None)
    own = pipeline._recipe()
    with other_convolution(refusing):
        assert all(own.call(IMAGE, pipeline.transforms) is NotImplemented for _ in range(1000))
    assert 8 <= refusing.call_count <= 12
    # From when an image is one that it knows, it may take as many calls again as there were without.
    other = T.Compose([T.RandomHorizontalFlip(), T.ToTensor()])
    own = other._recipe()
    assert all(own.call(7, other.transforms) is NotImplemented for _ in range(1000))
    assert any(own.call(IMAGE, other.transforms) is not NotImplemented for _ in range(256))
    assert own.call(IMAGE, other.transforms) is not NotImplemented


def test_inference_mode_makes_tensors_of_its_own() -> None:
    pipeline = ready(made())
    with torch.inference_mode():
        assert pipeline(IMAGE).is_inference()
    assert not pipeline(IMAGE).is_inference()


def test_the_results_are_nobody_elses() -> None:
    pipeline = ready(made())
    first, second = pipeline(IMAGE), pipeline(IMAGE)
    assert first.data_ptr() != second.data_ptr() and first.is_contiguous() and not first.requires_grad
