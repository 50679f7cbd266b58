"""Programs that call torchvision's transforms get the same from them, switched or not."""

from __future__ import annotations

import copy
import gc
import inspect
import pickle
import random
import threading
import weakref
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn
from torchvision import transforms as T
from torchvision import tv_tensors
from torchvision.models import ResNet18_Weights
from torchvision.transforms import functional as F
from torchvision.transforms import v2

import fastaug
from fastaug._own import original_of, own
from fastaug._switch import calls, twins
from support.outcomes import seed_all
from support.scale import cases

IMAGE = Image.effect_noise((80, 60), 90).convert("RGB")
TENSOR = F.pil_to_tensor(IMAGE)


@pytest.fixture(autouse=True)
def switched() -> Iterator[None]:
    with fastaug.install():
        yield
    assert "__call__" not in vars(T.Resize)


def classify() -> list[Any]:
    return [T.RandomResizedCrop(32), T.RandomHorizontalFlip(), T.ToTensor(), T.Normalize([0.5] * 3, [0.5] * 3)]


def found(transform: Any) -> int:
    """How many calls of a transform were fastaug's."""
    known = twins.note_of(transform)
    return 0 if known is None else known[1]


def why(transform: Any) -> str | None:
    known = twins.note_of(transform)
    assert known is not None
    return known[0].why


def states() -> tuple[Any, ...]:
    return torch.get_rng_state().tolist(), random.getstate(), repr(np.random.get_state())  # noqa: NPY002


def outcome(call: Callable[[], Any], seed: int) -> tuple[Any, Any]:
    seed_all(seed)
    try:
        result: Any = call()
    except Exception as error:
        result = type(error)
    return result, states()


def same(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, torch.Tensor):
        return one.dtype == other.dtype and torch.equal(one, other)
    if isinstance(one, Image.Image):
        return one.mode == other.mode and one.size == other.size and one.tobytes() == other.tobytes()
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other)
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return bool(one == other)


def agree(transform: Callable[..., Any], *inputs: Any, calls: int = 6, begin: int = 0) -> None:
    for seed in range(begin, begin + calls):
        ours = outcome(lambda: transform(*inputs), seed)
        with own():
            theirs = outcome(lambda: transform(*inputs), seed)
        assert same(ours, theirs), seed


def renew() -> None:
    """Forget what is known of all transforms."""
    twins.forget()
    twins.begin()


class Unknown:
    """A callable of the user's."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, image: Any) -> Any:
        self.calls += 1
        return image


SAMPLE = {"image": tv_tensors.Image(TENSOR), "label": 3}

CHAINS: dict[str, tuple[Callable[[], Any], Any]] = {
    "classify": (lambda: T.Compose(classify()), IMAGE),
    "policies": (lambda: T.Compose([T.RandAugment(), T.AutoAugment(), T.ToTensor(), T.RandomErasing(0.9)]), IMAGE),
    "random choice": (lambda: T.Compose([T.RandomChoice([T.Pad(3), T.CenterCrop(9)]), T.ToTensor()]), IMAGE),
    "a function": (lambda: T.Compose([T.Resize(20), T.Lambda(lambda image: image.rotate(90)), T.ToTensor()]), IMAGE),
    "inner": (lambda: T.Compose([T.Compose([T.RandomCrop(30)]), T.RandomApply([T.ColorJitter(0.5)])]), IMAGE),
    "a tensor": (lambda: T.Compose([T.RandomRotation(20), T.ConvertImageDtype(torch.float)]), TENSOR),
    "several": (
        lambda: T.Compose([T.FiveCrop(20), T.Lambda(lambda crops: [T.ToTensor()(one) for one in crops])]),
        IMAGE,
    ),
    "v2": (lambda: v2.Compose([v2.RandomResizedCrop(32), v2.ToImage(), v2.ToDtype(torch.float32, scale=True)]), IMAGE),
    "a sample": (lambda: v2.Compose([v2.RandomHorizontalFlip(), v2.RandomCrop(20), v2.ToPureTensor()]), SAMPLE),
    "a preset": (lambda: ResNet18_Weights.DEFAULT.transforms(), IMAGE),
    "alone": (lambda: T.ColorJitter(0.5, 0.5, 0.5, 0.1), IMAGE),
    "alone in v2": (lambda: v2.RandomAffine(20, (0.1, 0.1)), SAMPLE),
    "a conversion": (lambda: T.ToTensor(), IMAGE),
}


@pytest.mark.parametrize("name", CHAINS)
def test_results(name: str) -> None:
    make, given = CHAINS[name]
    transform = make()
    agree(transform, given)
    assert found(transform) == 6 - 1, why(transform)


def test_several_arguments() -> None:
    boxes = tv_tensors.BoundingBoxes([[1, 2, 30, 40]], format="XYXY", canvas_size=(60, 80))
    for transform in (v2.Compose([v2.RandomHorizontalFlip(), v2.Resize(30)]), v2.RandomHorizontalFlip()):
        agree(transform, tv_tensors.Image(TENSOR), boxes, {"label": 1})
        assert found(transform)


def test_what_shows() -> None:
    """Classes, functions, attributes, pickles and copies are torchvision's."""
    compose, single = T.Compose(classify()), T.Resize(20)
    before = {id(one): dict(vars(one)) for one in (compose, single)}
    for _ in range(4):
        compose(IMAGE), single(IMAGE)
    assert found(compose) and found(single)
    for one in (compose, single):
        assert vars(one) == before[id(one)]
        assert type(pickle.loads(pickle.dumps(one))) is type(one) and repr(copy.deepcopy(one)) == repr(one)
        assert b"fastaug" not in pickle.dumps(one)
    for cls, name in ((T.Compose, "__call__"), (v2.Compose, "forward"), (T.ToTensor, "__call__")):
        ours, theirs = getattr(cls, name), original_of(getattr(cls, name))
        assert ours is not theirs and not hasattr(ours, "__wrapped__")
        assert inspect.signature(ours) == inspect.signature(theirs)
        assert (ours.__module__, ours.__qualname__, ours.__doc__) == (
            theirs.__module__,
            theirs.__qualname__,
            theirs.__doc__,
        )


def test_changes() -> None:
    transform = T.Compose(classify())
    changes: list[Callable[[], Any]] = [
        lambda: setattr(transform.transforms[0], "size", (16, 24)),
        lambda: transform.transforms.append(T.RandomErasing(1.0)),
        lambda: setattr(transform, "transforms", [T.CenterCrop(20), T.ToTensor()]),
        lambda: transform.transforms.insert(0, T.RandomApply([T.ColorJitter(0.4)], p=0.9)),
        lambda: transform.transforms[0].transforms.append(T.RandomVerticalFlip(0.9)),
        lambda: transform.transforms[0].transforms[1].__dict__.update(p=0.1),
        lambda: transform.transforms[0].register_forward_hook(lambda *given: F.invert(given[2])),
        lambda: transform.transforms[0]._forward_hooks.clear(),
        lambda: setattr(transform.transforms[1], "forward", lambda image: image.rotate(90)),
    ]
    agree(transform, IMAGE)
    for change in changes:
        change()
        agree(transform, IMAGE, calls=4)
    del transform.transforms[1].forward
    renew()
    agree(transform, IMAGE)
    assert found(transform)


def test_changes_of_settings_in_containers() -> None:
    mean = torch.tensor([0.1, 0.2, 0.3])
    transform = T.Compose([T.ToTensor(), T.Normalize(mean, [0.5, 0.5, 0.5])])
    agree(transform, IMAGE)
    mean.add_(0.25)
    agree(transform, IMAGE, calls=3)
    transform.transforms[1].std[1] = 0.75
    agree(transform, IMAGE, calls=3)
    jitter = v2.Compose([v2.ToDtype({tv_tensors.Image: torch.float32, "others": None}, scale=True)])
    agree(jitter, SAMPLE)
    jitter.transforms[0].dtype[tv_tensors.Image] = torch.float64
    agree(jitter, SAMPLE, calls=3)


def test_dictionaries_with_defaults() -> None:
    """As the fills of torchvision's own preset for detection, whose masks have another one than all the rest."""
    boxes = tv_tensors.BoundingBoxes([[3.0, 4, 30, 40]], format="XYXY", canvas_size=(60, 80))  # type: ignore[call-arg]
    sample = {"image": TENSOR, "boxes": boxes, "labels": torch.tensor([7])}
    mean = [1.0, 2.0, 3.0]
    fill: Any = defaultdict(lambda: mean, {torch.Tensor: mean, tv_tensors.Mask: 0})
    transform = v2.Compose([v2.RandomZoomOut(fill, p=0.9), v2.SanitizeBoundingBoxes(), v2.ToPureTensor()])
    agree(transform, sample)
    assert found(transform)
    fill[torch.Tensor] = 9
    agree(transform, sample, calls=3)
    del fill[torch.Tensor]
    agree(transform, sample, calls=3)


def test_changes_all_the_time() -> None:
    transform = T.Compose([T.Resize(8), T.ToTensor()])
    for size in range(8, 60):
        transform.transforms[0].size = size
        agree(transform, IMAGE, calls=1)
    known = twins.note_of(transform)
    assert known is not None and known[0].compiled < 6


def test_patched_classes_and_functions() -> None:
    transform, sample = T.Compose(classify()), v2.Compose([v2.Resize(20), v2.RandomCrop(9)])
    agree(transform, IMAGE)
    agree(sample, IMAGE)
    crops = mock.Mock(side_effect=lambda image, *box, **how: image.crop((0, 0, 7, 7)))
    for target, name in ((T.functional, "resized_crop"), (v2.functional, "resize"), (v2.functional, "resize_image")):
        with mock.patch.object(target, name, crops):
            agree(transform, IMAGE, calls=3)
            agree(sample, IMAGE, calls=3)
    assert crops.called
    hook = nn.modules.module.register_module_forward_hook(lambda module, given, result: None)
    agree(transform, IMAGE, calls=3)
    agree(T.Compose(classify()), IMAGE, calls=1)
    hook.remove()
    with mock.patch.object(T.RandomResizedCrop, "get_params", return_value=(1, 2, 20, 10)):
        agree(transform, IMAGE, calls=3)
    with mock.patch.object(v2.Resize, "transform", lambda self, image, params: image):
        agree(sample, IMAGE, calls=3)
    renew()
    agree(transform, IMAGE)
    assert found(transform) and T.RandomResizedCrop(9)(IMAGE).size == (9, 9)


def test_subclasses_and_functions_of_the_user() -> None:
    class Half(T.Resize):
        def forward(self, image: Any) -> Any:
            return F.hflip(super().forward(image))

    class Smaller(T.RandomCrop):
        pass

    class Logged(T.Compose):
        def __call__(self, image: Any) -> Any:
            return [super().__call__(image)]

    seen = Unknown()
    for transform in (T.Compose([Half(20), T.ToTensor()]), T.Compose([seen, T.ToTensor()])):
        agree(transform, IMAGE)
        assert found(transform), why(transform)
    cut = Smaller(20)
    transform = T.Compose([T.RandomApply([cut], 0.9), T.ToTensor()])
    agree(transform, IMAGE)
    assert found(transform), why(transform)
    cut.size = (9, 11)
    agree(transform, IMAGE, calls=3)
    logged = Logged(classify())
    agree(logged, IMAGE)
    assert not found(logged) and "overrides __call__" in str(why(logged))
    assert seen.calls == 12
    agree(Half(20), IMAGE)
    alone = T.Compose([seen, seen])
    agree(alone, IMAGE)
    assert not found(alone) and "does not know" in str(why(alone))


def test_errors() -> None:
    for make in (
        lambda: T.Compose([T.RandomCrop(500)]),
        lambda: T.Compose([T.ToTensor(), T.Normalize([0.5], [0.0])]),
        lambda: v2.Compose([v2.RandomCrop(500)]),
        lambda: T.Compose([T.Resize(20), T.Lambda(lambda image: image.nothing)]),
    ):
        agree(make(), IMAGE)
    compose = T.Compose(classify())
    agree(compose, IMAGE)
    for given in (np.zeros((9, 9, 3), np.uint8), b"bytes", None, "path", 3, [IMAGE], torch.zeros(4)):
        agree(compose, given, calls=2)
        agree(T.Compose([T.ToTensor()]), given, calls=3)
    agree(T.Compose([T.ToTensor(), T.Resize(5)]), np.zeros((9, 9, 3), np.uint8))
    with pytest.raises(TypeError):
        compose()
    with pytest.raises(TypeError):
        compose(IMAGE, IMAGE)


def test_nothing_is_kept_alive() -> None:
    class Data:
        def __init__(self) -> None:
            self.transform = T.Compose([T.Resize(8), T.Lambda(self.turned), T.RandomApply([self.turned]), T.ToTensor()])

        def turned(self, image: Any) -> Any:
            return image.rotate(90)

    data = Data()
    agree(data.transform, IMAGE)
    assert found(data.transform)
    gone = weakref.ref(data), weakref.ref(data.transform)
    del data
    gc.collect()
    assert gone[0]() is None and gone[1]() is None


def test_composes_that_are_made_anew() -> None:
    count = cases(10_000)
    known = len(twins.counts())
    for number in range(count):
        made = T.Compose([T.Resize(8 + number % 3), T.CenterCrop(8)])
        assert made(IMAGE).size == (8, 8)
    del made
    gc.collect()
    assert len(twins.counts()) <= known + 1
    (row,) = [row for row in fastaug.report().rows if row.name == "Compose(Resize, CenterCrop)" and row.why is None]
    assert row.switched == row.calls >= count - 6 and row.compiled <= 3


def test_what_does_not_compile_is_not_compiled_again() -> None:
    with mock.patch.object(twins, "_compiled", side_effect=RuntimeError("never")) as compiled:
        for _ in range(50):
            T.Compose([T.Resize(11), T.CenterCrop(11)])(IMAGE)
        assert 0 < compiled.call_count < 6  # the transforms inside are compiled alone
        several, count = T.Compose([T.Resize(11), T.CenterCrop(11)]), compiled.call_count
        agree(several, IMAGE, calls=50)
        assert compiled.call_count <= count + 3 and "RuntimeError: never" in str(why(several))


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::torch.jit.TracerWarning")
def test_traces() -> None:
    scripted = torch.jit.script(nn.Sequential(T.CenterCrop(10), T.ConvertImageDtype(torch.float)))
    assert scripted(TENSOR).shape == (3, 10, 10)
    alone = v2.ToDtype(torch.float32, scale=True)
    transform = v2.Compose([alone, v2.Normalize([0.5], [0.25])])
    for one in (transform, alone):
        agree(one, TENSOR)
        graph = torch.jit.trace(lambda image, one=one: one(image), TENSOR).graph
        assert "aten" in str(graph)
        assert torch.equal(torch.vmap(one)(TENSOR[None]), one(TENSOR)[None])


class Leaves(torch.fx.Tracer):
    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        return not isinstance(m, nn.Sequential)


def test_symbolic_traces() -> None:
    pair = nn.Sequential(T.CenterCrop(10), v2.RandomHorizontalFlip(0.5))
    for one in pair:
        agree(one, TENSOR)
        assert found(one)
    names = [node.target for node in Leaves().trace(pair).nodes if node.op == "call_module"]
    assert names == ["0", "1"]


def test_compiled_by_torch() -> None:
    transform = v2.Compose([v2.CenterCrop(10), v2.ToDtype(torch.float32, scale=True)])
    agree(transform, TENSOR)
    graphs: list[Any] = []

    def backend(graph: Any, inputs: Any) -> Any:
        graphs.append(graph)
        return graph

    compiled = torch.compile(lambda image: transform(image), backend=backend, fullgraph=True)
    assert torch.equal(compiled(TENSOR), transform(TENSOR)) and len(graphs) == 1


def test_nested_and_patched_over() -> None:
    with fastaug.install():
        assert vars(T.Compose)["__call__"] is not original_of(T.Compose.__call__)
    transform = T.Compose(classify())
    agree(transform, IMAGE)
    assert found(transform)


def test_somebody_elses_patch_stays() -> None:
    fastaug.uninstall()
    original = T.Compose.__call__
    fastaug.install()
    ours = T.Compose.__call__
    seen: list[Any] = []

    def theirs(self: Any, img: Any) -> Any:
        seen.append(img)
        return ours(self, img)

    T.Compose.__call__ = theirs  # type: ignore[method-assign]
    try:
        transform = T.Compose(classify())
        agree(transform, IMAGE)
        assert not found(transform) and seen
        fastaug.uninstall()
        assert T.Compose.__call__ is theirs
        assert transform(IMAGE).shape == (3, 32, 32)
        assert twins.note_of(transform) is None
        assert "Compose.__call__ was replaced by other code, and stayed" in fastaug.report().problems
    finally:
        T.Compose.__call__ = original  # type: ignore[method-assign]
        calls.replaced.clear()
        fastaug.install()


def test_threads() -> None:
    transform = T.Compose([T.Resize(20), T.CenterCrop(16), T.ToTensor()])
    with own():
        expected = transform(IMAGE)
    wrong: list[Any] = []

    def work() -> None:
        wrong.extend(number for number in range(200) if not torch.equal(transform(IMAGE), expected))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and found(transform) > 700


def test_check_compares_with_the_real_torchvision() -> None:
    transform = T.Compose(classify())
    agree(transform, IMAGE)
    before = found(transform)
    compiled = fastaug.compile(transform)
    with mock.patch.object(twins, "find", side_effect=AssertionError):
        assert compiled.check([IMAGE], seeds=2)
    assert compiled.profile([IMAGE], repeat=1)
    # Calls are counted, and are torchvision's all the same.
    assert found(transform) >= before


def test_report() -> None:
    renew()
    transform, left = T.Compose(classify()), T.Compose([Unknown()])
    for _ in range(5):
        transform(IMAGE), left(IMAGE)
    report = fastaug.report()
    row = next(row for row in report.covered if row.name.startswith("Compose"))
    assert (row.calls, row.switched, row.compiled, row.why) == (5, 4, 1, None)
    other = next(row for row in report.left if row.name == "Compose(Unknown)")
    assert (other.calls, other.switched) == (5, 0) and "does not know" in str(other.why)
    assert "4 of" in str(report) and "Compose(Unknown)" in report._repr_html_() and "Unknown" in report.json()


def test_arguments() -> None:
    with pytest.raises(TypeError, match="decode should be a bool"):
        fastaug.install(decode="yes")  # type: ignore[arg-type]
    with mock.patch.dict("os.environ", FASTAUG_INSTALL="0"):
        fastaug.uninstall()
        fastaug.install()
        assert "__call__" not in vars(T.Resize)
    fastaug.install()
