"""Draws of the native core are torch's, number for number, and leave the generator as torch would."""

from __future__ import annotations

import copy
import math
import pickle
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from fastaug import _C
from fastaug._draft.draws import DEFAULT, TorchDraws, draws_from
from support.differences import each, grouped
from support.processes import python

SEEDS = (0, 1, 20, 2**31, 2**32 - 1, 2**32 + 5, 2**63 + 12345, 2**64 - 1, -7)


class NoDraws:
    """In the place of TorchDraws: whatever asks it for a draw fails."""

    exp = staticmethod(TorchDraws.exp)

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} was left to torch")


class CountedDraws(TorchDraws):
    """TorchDraws that counts what is asked of it."""

    def __init__(self, generator: torch.Generator | None = None) -> None:
        super().__init__(generator)
        self.asked = 0

    def __getattribute__(self, name: str) -> Any:
        if name in ("rand", "uniform", "randint", "randperm", "sides"):
            self.asked += 1
        return super().__getattribute__(name)


def seeded(seed: int) -> torch.Generator:
    generator = torch.Generator()
    generator.manual_seed(seed)
    return generator


def pair(seed: int) -> tuple[Any, TorchDraws, torch.Generator, torch.Generator]:
    """Native draws, torch's draws, and their generators in the same state."""
    ours, theirs = seeded(seed), seeded(seed)
    return _C.Draws(ours, NoDraws()), TorchDraws(theirs), ours, theirs


def random_draw(rng: random.Random) -> tuple[str, tuple[Any, ...]]:
    """A method and its arguments."""
    name = rng.choice(["rand", "uniform", "uniform", "randint", "randperm", "sides"])
    if name == "uniform":
        low = rng.choice([0.0, 1.0, -0.5, -25, rng.uniform(-1e3, 1e3), rng.uniform(-1e-3, 1e-3)])
        return name, (low, low + rng.choice([0.0, 1, 2.0**-23, 0.4, rng.random() * 50, 1e30]))
    if name == "randint":
        low = rng.choice([0, 1, -3, -(2**62), 2**40])
        return name, (low, low + rng.choice([1, 2, 31, 225, rng.randint(1, 5000), 2**28 - 1]))
    if name == "randperm":
        return name, (rng.choice([0, 1, 2, 3, 4, 4, 4, 14, 700]),)
    if name == "sides":
        width, height = rng.randint(1, 2000), rng.randint(1, 2000)
        scale = rng.choice([(0.08, 1.0), (0.5, 1.5), (0.02, 0.33), (1, 1), (2.0, 3.0), (0, 1)])
        ratio = rng.choice([(3 / 4, 4 / 3), (0.3, 3.3), (0.8, 1.2), (1.0, 1.0)])
        logs = (math.log(ratio[0]), math.log(ratio[1]))
        return name, (width * height, (width, height), scale, logs, rng.random() < 0.5)
    return name, ()


def assert_same_draws(seed: int, count: int) -> None:
    ours, theirs, generator, other = pair(seed)
    rng = random.Random(seed)
    for _ in range(count):
        name, arguments = random_draw(rng)
        drawn = getattr(ours, name)(*arguments)
        expected = getattr(theirs, name)(*arguments)
        assert drawn == expected, (name, arguments)
        assert type(drawn) is type(expected)
        if rng.random() < 0.05:
            ours.release()
            assert torch.equal(generator.get_state(), other.get_state())
    ours.release()
    assert torch.equal(generator.get_state(), other.get_state())


@pytest.mark.parametrize("seed", SEEDS)
def test_mixed_draws(seed: int) -> None:
    assert_same_draws(seed, 4000)


def test_sides() -> None:
    """RandomResizedCrop's and RandomErasing's search: torch is asked for exp only where its last bit decides."""
    asked = 0

    class Exp(NoDraws):
        @staticmethod
        def exp(power: float) -> float:
            nonlocal asked
            asked += 1
            return TorchDraws.exp(power)

    calls = 0
    for k, (scale, ratio, strict) in enumerate(
        [
            ((0.08, 1.0), (3 / 4, 4 / 3), False),
            ((0.5, 1.5), (0.8, 1.2), False),
            ((0.02, 0.33), (0.3, 3.3), True),
            ((0.9, 0.99), (3.0, 3.3), True),
        ]
    ):
        logs = tuple(torch.log(torch.tensor(ratio)).tolist())
        generator, other = seeded(k), seeded(k)
        ours, theirs = _C.Draws(generator, Exp()), TorchDraws(other)
        rng = random.Random(k)
        for _ in range(10_000):
            calls += 1
            width, height = rng.choice([(1024, 1024), (500, 375), (32, 32), (4000, 3000)])
            arguments = (width * height, (width, height), scale, logs, strict)
            assert ours.sides(*arguments) == theirs.sides(*arguments)
        ours.release()
        assert torch.equal(generator.get_state(), other.get_state())
    assert 0 < asked < calls / 20


@each("offset", range(0, 630, 7))
def test_where_the_words_are_made_anew(offset: int) -> None:
    """Whether torch or the core drew the words before, and whoever makes the next 624."""
    ours, theirs, generator, other = pair(3)
    for _ in range(3):
        torch.rand(offset, generator=generator)
        torch.rand(offset, generator=other)
        assert [ours.rand() for _ in range(offset)] == [theirs.rand() for _ in range(offset)]
        ours.release()
        assert torch.equal(generator.get_state(), other.get_state())


def test_spare_normals_are_kept() -> None:
    """normal_ keeps a second number for its next call, across draws of other kinds."""
    ours, theirs, generator, other = pair(4)
    rng = random.Random(4)
    for _ in range(600):
        count, dtype = rng.choice([1, 1, 1, 2, 3, 15, 16, 17]), rng.choice([torch.float32, torch.float64])
        assert torch.equal(
            torch.randn(count, dtype=dtype, generator=generator), torch.randn(count, dtype=dtype, generator=other)
        )
        for _ in range(rng.randint(0, 3)):
            name, arguments = random_draw(rng)
            assert getattr(ours, name)(*arguments) == getattr(theirs, name)(*arguments)
        ours.release()
        assert torch.equal(generator.get_state(), other.get_state())


def test_default_generator() -> None:
    """Seeds, states that are set, and torch.random.fork_rng."""
    assert DEFAULT.generator is None
    assert draws_from(None) is DEFAULT
    native, theirs = _C.Draws(None, NoDraws()), TorchDraws()
    torch.manual_seed(11)
    saved = torch.get_rng_state()
    expected = [theirs.rand() for _ in range(1000)]
    torch.set_rng_state(saved)
    drawn = [native.rand() for _ in range(300)]
    native.release()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        inside = [native.rand() for _ in range(700)]
        native.release()
    drawn += [DEFAULT.rand() for _ in range(300)]
    DEFAULT.release()
    drawn += torch.rand(400).tolist()
    assert drawn == expected
    assert inside == torch.rand(700, generator=seeded(5)).tolist()


def test_generators_and_their_states() -> None:
    generator = seeded(1)
    draws = draws_from(generator)
    assert type(draws) is _C.Draws
    assert draws.generator is generator
    first = [draws.rand() for _ in range(10)]
    draws.release()
    copied = torch.Generator()
    copied.set_state(generator.get_state())
    others = draws_from(copied)
    assert [draws.rand() for _ in range(700)] == [others.rand() for _ in range(700)]
    draws.release()
    others.release()
    generator.manual_seed(1)
    assert [draws.rand() for _ in range(10)] == first
    draws.release()
    assert generator.initial_seed() == 1


def test_draws_that_torch_makes() -> None:
    forced = draws_from(None, native=False)
    assert type(forced) is TorchDraws
    assert forced.generator is None
    generator = seeded(8)
    assert draws_from(generator, native=False).generator is generator
    assert draws_from(generator, native=False).rand() == draws_from(seeded(8)).rand()
    DEFAULT.release()
    forced.release()


def test_one_thread_draws_from_several_objects() -> None:
    """Objects of one generator go on where the others are; one generator is handed back before another is used."""
    generator, other = seeded(1), seeded(2)
    outer, nested, elsewhere = draws_from(generator), draws_from(generator), draws_from(other)
    expected = torch.rand(6, generator=seeded(1)).tolist()
    assert [outer.rand(), nested.rand(), outer.rand()] == expected[:3]
    nested.release()
    assert outer.rand() == expected[3]
    assert elsewhere.rand() == torch.rand(1, generator=seeded(2)).item()
    assert torch.rand(1, generator=generator).item() == expected[4]
    assert outer.rand() == expected[5]
    assert torch.rand(2, generator=other).tolist() == torch.rand(3, generator=seeded(2)).tolist()[1:]
    outer.release()
    elsewhere.release()


def test_release_without_draws_changes_nothing() -> None:
    draws, _, generator, other = pair(1)
    draws.release()
    assert draws.randperm(1) == [0]
    draws.release()
    draws.release()
    assert torch.equal(generator.get_state(), other.get_state())


def test_copies() -> None:
    assert copy.deepcopy(DEFAULT) is DEFAULT
    assert pickle.loads(pickle.dumps(DEFAULT)) is DEFAULT
    generator = seeded(1)
    assert copy.copy(draws_from(generator)).generator is generator


# What torch has to be asked.


def outcome(draws: Any, generator: torch.Generator, name: str, arguments: tuple[Any, ...]) -> tuple[str, bytes]:
    """The number or the error, and the state afterwards."""
    try:
        result = getattr(draws, name)(*arguments)
    except Exception as error:
        result = (type(error), str(error).splitlines()[0])
    draws.release()
    return repr(result), generator.get_state().numpy().tobytes()


BIG = float(torch.finfo(torch.float32).max)
UNUSUAL: list[tuple[str, tuple[Any, ...]]] = [
    ("uniform", (1.0, 0.0)),
    ("uniform", (0.0, math.nan)),
    ("uniform", (math.nan, 0.0)),
    ("uniform", (0.0, math.inf)),
    ("uniform", (-math.inf, 0.0)),
    ("uniform", (-BIG, BIG)),
    ("uniform", (0.0, 1e39)),
    ("uniform", (0, 10**400)),
    ("uniform", (0, 2**53 + 1)),
    ("uniform", (False, True)),
    ("uniform", ("0", 1.0)),
    ("uniform", (None, 1.0)),
    ("uniform", (torch.tensor(0.25), torch.tensor([0.5]))),
    ("uniform", (np.float32(0.25), np.float64(0.5))),
    ("uniform", (np.int64(2), 3)),
    ("randint", (3, 3)),
    ("randint", (4, 3)),
    ("randint", (0, 2**28)),
    ("randint", (0, 2**32)),
    ("randint", (-(2**62), 2**62)),
    ("randint", (-(2**63), 2**63 - 1)),
    ("randint", (0, 2**64)),
    ("randint", (0.0, 3)),
    ("randint", (0, 3.5)),
    ("randint", (np.int64(0), np.int32(7))),
    ("randint", (torch.tensor(0), torch.tensor(7))),
    ("randint", (False, 7)),
    ("randint", ("0", 7)),
    ("randperm", (-1,)),
    ("randperm", (70_000,)),
    ("randperm", (2.0,)),
    ("randperm", (True,)),
    ("randperm", (np.int64(5),)),
    ("sides", (-100, (10, 10), (0.1, 1.0), (-0.3, 0.3), False)),
    ("sides", (100, (10, 10), (-1.0, -0.5), (-0.3, 0.3), False)),
    ("sides", (100, (10, 10), (1.0, 0.5), (-0.3, 0.3), False)),
    ("sides", (100, (10, 10), (0.1, 1.0), (0.3, -0.3), False)),
    ("sides", (100, (10, 10), (0.1, 1.0), (-200.0, -150.0), False)),
    ("sides", (100, (10, 10), (0.1, 1.0), (150.0, 200.0), False)),
    ("sides", (100, (10, 10), (0.1, 1.0), (-math.inf, 0.0), False)),
    ("sides", (100, (10.5, 10), (0.1, 1.0), (-0.3, 0.3), False)),
    ("sides", (100, [10, 10], [0.1, 1.0], [-0.3, 0.3], 0)),
    ("sides", (100.0, (10, 10), (0.1, 1.0), (-0.3, 0.3), True)),
    ("sides", (10**400, (10, 10), (0.1, 1.0), (-0.3, 0.3), True)),
    ("sides", (100, (10,), (0.1, 1.0), (-0.3, 0.3), True)),
    ("sides", (100, (10, 10), (0.1,), (-0.3, 0.3), True)),
    ("sides", (100, (10, 10), 0.5, (-0.3, 0.3), True)),
]


@pytest.mark.filterwarnings("ignore")
@grouped(UNUSUAL, ("name", "arguments"), lambda case: case[0])
def test_unusual_arguments(name: str, arguments: tuple[Any, ...]) -> None:
    """torch's numbers or torch's error, in the middle of other draws."""
    generator, other = seeded(6), seeded(6)
    ours, theirs = draws_from(generator), TorchDraws(other)
    assert ours.rand() == theirs.rand()
    assert outcome(ours, generator, name, arguments) == outcome(theirs, other, name, arguments)
    assert ours.rand() == theirs.rand()
    ours.release()


@pytest.mark.parametrize(
    ("name", "count"), [("rand", 1), ("uniform", 1), ("uniform", 3), ("randint", 1), ("randperm", 0), ("sides", 4)]
)
def test_wrong_number_of_arguments(name: str, count: int) -> None:
    generator = seeded(6)
    with pytest.raises(TypeError, match="argument"):
        getattr(draws_from(generator), name)(*[0] * count)
    assert torch.equal(generator.get_state(), seeded(6).get_state())


def test_construction() -> None:
    with pytest.raises(TypeError):
        _C.Draws()
    with pytest.raises(TypeError, match="not an acceptable base type"):
        type("Sub", (_C.Draws,), {})
    with pytest.raises(TypeError):
        draws_from(5).rand()


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
def test_another_default_type(dtype: torch.dtype) -> None:
    """torch.rand(1) is of the default type: two words make a float64."""
    generator, other = seeded(6), seeded(6)
    fallback = CountedDraws(generator)
    ours, theirs = _C.Draws(generator, fallback), TorchDraws(other)
    torch.set_default_dtype(dtype)
    try:
        for _ in range(100):
            assert ours.rand() == theirs.rand()
            assert ours.uniform(-3.0, 4.0) == theirs.uniform(-3.0, 4.0)
            assert ours.randperm(4) == theirs.randperm(4)
        ours.release()
    finally:
        torch.set_default_dtype(torch.float32)
    assert fallback.asked == 300
    assert ours.rand() == theirs.rand()
    ours.release()
    assert fallback.asked == 300
    assert torch.equal(generator.get_state(), other.get_state())


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_default_device(device: str) -> None:
    generator, other = seeded(6), seeded(6)
    fallback = CountedDraws(generator)
    ours, theirs = _C.Draws(generator, fallback), TorchDraws(other)
    with torch.device(device):
        for name, arguments in (("rand", ()), ("uniform", (0.0, 2.0)), ("randint", (0, 9)), ("randperm", (5,))):
            assert outcome(ours, generator, name, arguments) == outcome(theirs, other, name, arguments)
    assert fallback.asked == 4


def test_modes_see_the_draws() -> None:
    seen: list[Any] = []

    class Functions(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(func)
            return func(*args, **(kwargs or {}))

    class Dispatches(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(func)
            return func(*args, **(kwargs or {}))

    draws = draws_from(seeded(6))
    expected = torch.rand(3, generator=seeded(6)).tolist()
    with Functions():
        assert draws.rand() == expected[0]
    assert torch.rand in seen
    seen.clear()
    with Dispatches():
        assert draws.rand() == expected[1]
    assert torch.ops.aten.rand.generator in seen
    seen.clear()
    assert draws.rand() == expected[2]
    draws.release()
    assert not seen


def test_inference_mode() -> None:
    ours, theirs, generator, other = pair(2)
    with torch.inference_mode():
        drawn = [ours.rand(), *ours.randperm(20)]
        ours.release()
    assert drawn == [theirs.rand(), *theirs.randperm(20)]
    assert torch.equal(generator.get_state(), other.get_state())


def test_what_raises_in_exp_leaves_the_draws_usable() -> None:
    class Broken(NoDraws):
        @staticmethod
        def exp(power: float) -> float:
            raise KeyError(power)

    generator = seeded(3)
    draws = _C.Draws(generator, Broken())

    def draw_many() -> None:
        for _ in range(100_000):
            draws.sides(9_000_000, (3000, 3000), (0.08, 1.0), (-0.3, 0.3), False)

    with pytest.raises(KeyError):
        draw_many()
    draws.release()
    copied = torch.Generator()
    copied.set_state(generator.get_state())
    assert draws.rand() == torch.rand(1, generator=copied).item()
    draws.release()


CAPABILITY = """
import torch
import test_draws
for seed in range(3):
    test_draws.assert_same_draws(seed, 3000)
values = [test_draws.draws_from(test_draws.seeded(seed)).uniform(-0.3, 0.4) for seed in range(200)]
print(torch.backends.cpu.get_cpu_capability(), sum(values).hex())
"""


def printed_by(script: str, **environment: str) -> list[str]:
    """The words that a process prints; torch reads `environment` when it is loaded."""
    result = python(["-c", script], folder=Path(__file__).parent, fresh=bool(environment), **environment)
    assert result.returncode == 0, result.stderr[-3000:]
    return result.stdout.split()


def test_both_capabilities() -> None:
    """torch rounds uniform draws twice or, with a fused multiply-add, once; the core does as this process' torch."""
    plain = printed_by(CAPABILITY, ATEN_CPU_CAPABILITY="default")
    best = printed_by(CAPABILITY)
    assert plain[0] in ("DEFAULT", "NO")
    assert (plain[1] == best[1]) == (best[0] == plain[0])
