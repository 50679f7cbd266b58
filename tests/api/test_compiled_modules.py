"""Compiled transforms as nn.Modules: in models, with hooks, in pickles, and with torch's tracers."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
import torchvision.transforms as TV
from torch import nn
from torch.nn.modules import module as torch_module
from torch.utils.data import DataLoader

import fastaug
import fastaug.transforms as T
from fastaug.transforms import v2
from support.images import pil
from support.outcomes import seed_all, snapshot
from support.processes import START_METHODS

IMAGE = pil("RGB", 40, 52)
TENSOR = (torch.arange(3 * 40 * 52) % 251).to(torch.uint8).view(3, 40, 52)


class TwoCrops:
    def __init__(self, transform: Any) -> None:
        self.transform = transform

    def __call__(self, image: Any) -> Any:
        return [self.transform(image), self.transform(image)]


def turned(image: Any) -> Any:
    return image.transpose(0)


def steps() -> list[Any]:
    return [T.RandomCrop(20), T.RandomHorizontalFlip(), T.ToTensor()]


#: One of each class, and one whose call comes to user code in the middle.
ORIGINALS: dict[str, Callable[[], Any]] = {
    "image": lambda: T.Compose(steps()),
    "sample": lambda: v2.Compose([v2.RandomCrop(20), v2.RandomHorizontalFlip(), v2.ToImage()]),
    "views": lambda: TwoCrops(T.Compose(steps())),
    "user code": lambda: T.Compose([T.RandomCrop(20), turned, *steps()[1:]]),
    "module": lambda: nn.Sequential(T.RandomCrop(20), T.RandomHorizontalFlip()),
    "no recipe": lambda: T.Compose([T.RandomCrop(20), T.RandomErasing(0.0, value="random")][:1] + [T.Lambda(turned)]),
}

each_original = pytest.mark.parametrize("name", ORIGINALS)


def compiled(name: str, **settings: Any) -> Any:
    return fastaug.compile(ORIGINALS[name](), **settings)


def outcome(call: Callable[[Any], Any], seed: int = 0, image: Any = IMAGE) -> Any:
    seed_all(seed)
    return snapshot(call(image)), torch.get_rng_state().tolist()


def warm(transform: Any) -> Any:
    """A transform that has been called so often that the core does a call, if it can."""
    for seed in range(8):
        outcome(transform, seed)
    return transform


# ---- a module without parameters


@each_original
def test_modules(name: str) -> None:
    transform = compiled(name)
    assert isinstance(transform, nn.Module) and isinstance(transform, fastaug.Compiled)
    assert not list(transform.parameters()) and not list(transform.buffers()) and not list(transform.children())
    assert list(transform.modules()) == [transform]
    assert transform.state_dict() == {}
    assert transform.load_state_dict({}) is not None
    expected = outcome(warm(transform), 3)
    assert transform.training and not transform.eval().training and transform.train().training
    met: list[Any] = []
    assert transform.apply(met.append) is transform and met == [transform]
    for moved in (
        transform.to("cpu"),
        transform.to(torch.float16),
        transform.to("meta"),
        transform.half(),
        transform.cpu(),
    ):
        assert moved is transform
    transform.zero_grad()
    transform.requires_grad_(False)
    assert outcome(transform, 3) == expected


def test_the_original_is_not_a_part() -> None:
    """Its parameters are neither saved nor moved, and it does not change its mode with the compiled one."""
    net = nn.Conv2d(3, 4, 1)
    original = nn.Sequential(T.Resize(8), T.ConvertImageDtype(torch.float32), net)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        transform = fastaug.compile(original)
    assert transform.original is original and transform.state_dict() == {} and not list(transform.parameters())
    transform.eval()
    transform.half()
    assert net.training and net.weight.dtype is torch.float32
    assert transform(TENSOR).shape == (4, 8, 10)


def test_v1_compose_is_not_a_module() -> None:
    """As in torchvision."""
    assert not isinstance(T.Compose([]), nn.Module) and not isinstance(TV.Compose([]), nn.Module)


class Model(nn.Module):
    def __init__(self, transform: Any) -> None:
        super().__init__()
        self.transform = transform
        self.head = nn.Linear(3, 2)

    def forward(self, image: Any) -> Any:
        return self.head(self.transform(image).mean((1, 2))[None])


def test_in_models() -> None:
    transform = compiled("image")
    model = Model(transform)
    assert dict(model.named_children()).keys() == {"transform", "head"}
    assert model.state_dict().keys() == {"head.weight", "head.bias"}
    model.load_state_dict(Model(nn.Identity()).state_dict())
    assert not model.eval().transform.training
    expected = outcome(transform, 3)
    for around in (nn.Sequential(transform), nn.Sequential(nn.Identity(), nn.Sequential(transform, nn.Identity()))):
        assert outcome(around, 3) == expected
    assert outcome(nn.ModuleList([transform])[0], 3) == expected
    assert outcome(nn.ModuleDict({"first": transform})["first"], 3) == expected
    assert model(IMAGE).shape == (1, 2)
    assert "(transform): compile(Compose(" in repr(model)
    for copied in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), model.double().float()):
        assert outcome(copied.transform, 3) == expected


def test_saved_with_torch(tmp_path: Path) -> None:
    model = Model(compiled("image"))
    torch.save(model, tmp_path / "model.pt")
    loaded = torch.load(tmp_path / "model.pt", weights_only=False)
    assert outcome(loaded.transform, 3) == outcome(model.transform, 3)


def test_repr() -> None:
    assert repr(fastaug.compile(T.Pad(1))).startswith("compile(Pad(padding=1")
    assert "training" not in repr(compiled("sample", dtype=torch.float16))


def test_settings_by_name() -> None:
    transform = compiled("image")
    transform.mode = "fast"
    assert transform.mode == "fast" and "mode='fast'" in repr(transform)
    with pytest.raises(AttributeError, match="nothing"):
        _ = transform.nothing
    assert {"original", "transforms", "training", "sample", "state_dict"} <= set(dir(transform))


# ---- hooks


@each_original
def test_forward_hooks(name: str) -> None:
    """Called in a call only, before and after the core would have done it."""
    transform = compiled(name)
    expected = [outcome(transform, seed) for seed in range(3)]
    for made in (transform, warm(compiled(name))):
        seen: list[Any] = []
        handles = [
            made.register_forward_pre_hook(lambda module, inputs: seen.append((module, inputs))),  # noqa: B023
            made.register_forward_hook(lambda module, inputs, output: seen.append((module, inputs, output))),  # noqa: B023
        ]
        assert [outcome(made, seed) for seed in range(3)] == expected
        assert [len(one) for one in seen] == [2, 3] * 3
        assert all(one[0] is made for one in seen) and seen[0][1][0] is IMAGE
        for handle in handles:
            handle.remove()
        assert [outcome(made, seed) for seed in range(3)] == expected
        assert len(seen) == 6


@each_original
def test_hooks_change_input_and_output(name: str) -> None:
    transform = warm(compiled(name))
    expected = outcome(transform, 1, IMAGE.transpose(1))[0]
    before = transform.register_forward_pre_hook(lambda module, inputs: (inputs[0].transpose(1),))
    after = transform.register_forward_hook(lambda module, inputs, output: {"result": output})
    seed_all(1)
    result = transform(IMAGE)
    assert result.keys() == {"result"} and snapshot(result["result"]) == expected
    after.remove()
    before.remove()
    assert outcome(transform, 1) == outcome(compiled(name), 1)


def test_hooks_of_all_kinds() -> None:
    """In torch's order, with keyword arguments, and when the call fails."""
    seen: list[str] = []

    def note(name: str) -> Any:
        return lambda module, *others: seen.append(f"{name} {len(others)}")

    transform = warm(compiled("image"))
    transform.register_forward_hook(note("first"))
    transform.register_forward_hook(note("zeroth"), prepend=True, with_kwargs=True)
    transform.register_forward_pre_hook(note("before"), with_kwargs=True)
    transform(IMAGE)
    assert seen == ["before 2", "zeroth 3", "first 2"]
    del seen[:]
    transform.register_forward_hook(note("always"), always_call=True)
    with pytest.raises(TypeError):
        transform("photograph")
    assert seen == ["before 2", "always 2"]


def test_backward_hooks() -> None:
    transform = fastaug.compile(T.Compose([T.CenterCrop(4), T.Normalize([0.5], [0.5])]))
    grads: list[Any] = []
    transform.register_full_backward_hook(lambda module, inputs, outputs: grads.append(outputs[0].shape))
    image = torch.rand(1, 6, 6, requires_grad=True)
    transform(image).sum().backward()
    assert grads == [(1, 4, 4)] and image.grad is not None


@contextmanager
def global_hook(register: Callable[[Any], Any], hook: Any) -> Iterator[None]:
    handle = register(hook)
    try:
        yield
    finally:
        handle.remove()


@each_original
def test_global_hooks(name: str) -> None:
    transform = warm(compiled(name))
    expected, seen = outcome(transform, 2), []

    def note(module: Any, *others: Any) -> None:
        if module is transform:
            seen.append(len(others))

    with global_hook(torch_module.register_module_forward_hook, note):
        assert outcome(transform, 2) == expected
    with global_hook(torch_module.register_module_forward_pre_hook, note):
        assert outcome(transform, 2) == expected
    assert seen == [2, 1]
    assert outcome(transform, 2) == expected


def test_hooks_inside_pipelines() -> None:
    """Wherever it is called as a part: in a Compose, in views, in batches, in streams."""
    inner = fastaug.compile(T.Compose([T.Pad(2), T.RandomCrop(20)]))
    pipelines = {
        "Compose": T.Compose([inner, T.ToTensor()]),
        "compiled": fastaug.compile(T.Compose([T.Pad(1), inner])),
        "v2": v2.Compose([inner, v2.RandomHorizontalFlip()]),
        "views": fastaug.Views([inner, T.ToTensor()]),
        "Sequential": nn.Sequential(inner, T.RandomHorizontalFlip()),
        "RandomApply": T.RandomApply([inner], p=1.0),
    }
    expected = {name: outcome(warm(one), 1) for name, one in pipelines.items()}
    seen: list[Any] = []
    handle = inner.register_forward_hook(lambda module, inputs, output: seen.append(output.size))
    # What was compiled before has read the steps, and this object is not a part of it.
    pipelines["compiled later"] = fastaug.compile(T.Compose([T.Pad(1), inner]))
    expected["compiled later"] = expected["compiled"]
    for name, one in pipelines.items():
        del seen[:]
        assert outcome(one, 1) == expected[name], name
        assert seen == ([] if name == "compiled" else [(20, 20)]), name
    del seen[:]
    seed_all(1)
    batch = pipelines["Compose"].batch([IMAGE, IMAGE])
    mapped = list(pipelines["Compose"].map([IMAGE, IMAGE]))
    assert len(batch) == len(mapped) == 2 and len(seen) == 4
    handle.remove()
    seed_all(1)
    assert torch.equal(pipelines["Compose"].batch([IMAGE, IMAGE]), batch)


@pytest.mark.parametrize("name", ["image", "sample", "views"])
def test_hooks_in_batches(name: str) -> None:
    transform, seen = warm(compiled(name)), []
    seed_all(4)
    expected = transform.batch([IMAGE] * 3)
    handle = transform.register_forward_hook(lambda module, inputs, output: seen.append(len(inputs)))
    seed_all(4)
    batch = transform.batch([IMAGE] * 3)
    assert snapshot(batch) == snapshot(expected) and seen == [1] * 3
    seed_all(4)
    assert len(list(transform.map([IMAGE] * 3))) == 3 and seen == [1] * 6
    handle.remove()
    assert transform.batch([IMAGE] * 3) is not None and seen == [1] * 6


@pytest.mark.parametrize("name", ["image", "sample", "user code"])
def test_the_core_does_calls_without_hooks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing else is in their way."""
    transform = warm(compiled(name))
    expected = outcome(transform, 1)
    monkeypatch.setattr(type(transform), "_by_python", None)
    assert outcome(transform, 1) == expected
    transform.register_forward_hook(print)
    with pytest.raises(TypeError, match="'NoneType' object is not callable"):
        transform(IMAGE)


# ---- copies and pickles


@each_original
@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles(name: str, protocol: int) -> None:
    transform = warm(compiled(name))
    for copied in (pickle.loads(pickle.dumps(transform, protocol)), copy.copy(transform), copy.deepcopy(transform)):
        assert type(copied) is type(transform) and vars(copied).keys() >= vars(transform).keys() - {"_call"}
        assert copied.training and copied.state_dict() == {}
        assert outcome(copied, 3) == outcome(transform, 3)


@each_original
def test_the_state_is_that_of_before(name: str) -> None:
    """Attributes of a module are in it only if something was added to them, so that earlier versions read it."""
    transform = compiled(name)
    usual = vars(nn.Module()).keys()
    assert not usual & transform.__getstate__().keys()
    transform.eval()
    transform.register_forward_hook(print)
    added = usual & transform.__getstate__().keys()
    assert added == {"training", "_forward_hooks"}
    copied = pickle.loads(pickle.dumps(transform))
    assert not copied.training and list(copied._forward_hooks.values()) == [print]
    assert vars(copied).keys() >= usual


def test_what_torch_compiled_does_not_pickle() -> None:
    transform = compiled("image")
    transform.compile()
    assert "_compiled_call_impl" not in transform.__getstate__()
    assert outcome(pickle.loads(pickle.dumps(transform)), 3) == outcome(transform, 3)


@each_original
def test_states_without_a_module(name: str) -> None:
    """As earlier versions have pickled it."""
    transform = compiled(name)
    loaded = type(transform).__new__(type(transform))
    loaded.__setstate__(transform.__getstate__())
    assert loaded.training and loaded.state_dict() == {} and vars(loaded).keys() >= vars(nn.Module()).keys()
    assert outcome(loaded, 3) == outcome(transform, 3)
    seen: list[Any] = []
    loaded.register_forward_hook(lambda *arguments: seen.append(arguments))
    loaded(IMAGE)
    assert len(seen) == 1


class Images:
    def __init__(self, transform: Any) -> None:
        self.transform = transform

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> Any:
        return self.transform(IMAGE)


@pytest.mark.parametrize("method", START_METHODS)
def test_workers(method: str) -> None:
    model = nn.Sequential(compiled("image"))
    model[0].register_forward_hook(double)
    loader = DataLoader(Images(model), 2, num_workers=1, multiprocessing_context=method)
    batches = [batch.amax() for batch in loader]
    assert len(batches) == 2 and max(batches) > 1.0


def double(module: Any, inputs: Any, output: Any) -> Any:
    return 2 * output


# ---- traces


def traced_steps() -> TV.Compose:
    convert = [TV.Grayscale(3), TV.ConvertImageDtype(torch.float32)]
    return TV.Compose([TV.Resize([20, 24], antialias=True), *convert])


@pytest.mark.filterwarnings("ignore")
def test_jit_trace() -> None:
    expected = traced_steps()(255 - TENSOR)
    transform = fastaug.compile(traced_steps())
    for module in (transform, nn.Sequential(transform)):
        trace = torch.jit.trace(module, TENSOR)
        torch.testing.assert_close(trace(255 - TENSOR), expected)


def test_export() -> None:
    expected = traced_steps()(255 - TENSOR)
    transform = fastaug.compile(traced_steps())
    for module in (transform, nn.Sequential(transform)):
        exported = torch.export.export(module, (TENSOR,)).module()
        torch.testing.assert_close(exported(255 - TENSOR), expected)


@pytest.mark.parametrize("whole", [False, True])
def test_torch_compile(whole: bool) -> None:
    expected = traced_steps()(255 - TENSOR)
    transform = fastaug.compile(traced_steps())
    for module in (transform, nn.Sequential(transform), lambda image: transform(image)):
        torch._dynamo.reset()
        traced = torch.compile(module, backend="eager", fullgraph=whole)
        traced(TENSOR)
        torch.testing.assert_close(traced(255 - TENSOR), expected)


def test_make_fx() -> None:
    from torch.fx.experimental.proxy_tensor import make_fx

    transform = fastaug.compile(traced_steps())
    torch.testing.assert_close(make_fx(transform)(TENSOR)(255 - TENSOR), traced_steps()(255 - TENSOR))


def test_vmap() -> None:
    transform = fastaug.compile(traced_steps())
    both = torch.stack([TENSOR, 255 - TENSOR])
    torch.testing.assert_close(torch.vmap(transform)(both), torch.stack([traced_steps()(one) for one in both]))
