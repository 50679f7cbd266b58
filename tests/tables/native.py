"""Writes what the native tests read, from the op table: operands.txt, random operands for every op of the registry, and
answers.txt, small images and what the references make of them. `make tables` runs it.

A line of operands.txt, and each op in answers.txt, is five words: name, flags, fill, i and f. Trailing zeros of a list
are left out, and a list of nothing else is "-"; f holds hexadecimal floats.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch

from fastaug import _C
from support.programs import is_float, pack, reference
from tables.op_table import BICUBIC, BILINEAR, ROWS, SIDES, UNFUSED, WIDTH_FIRST, Op

FOLDER = Path(__file__).parent

#: How often each op is drawn, by its kind. Equal rows are written once.
DRAWS = {"geometry": 160, "filter": 64, "store": 64, "pointwise": 48, "reduction": 48}

#: The largest side of an image and of what an op makes of it; the native tests have limits of their own near these.
LIMITS = (6, 40, 70)
#: A padding may make more of it.
PADDED = 40

#: Answers of each op, and the most samples of one.
ANSWERS = 14
MOST_SAMPLES = 640
MOST_FLOATS = 160


def rounded(op: Op) -> Op:
    """With short numbers: those of a libm that rounds another way are mostly the same then."""
    if op.name == "BLUR":  # its doubles are pairs of float32
        return op
    return Op(op.name, op.i, tuple(float(np.float32(value)) for value in op.f), op.flags, op.fill)


def number(value: float) -> str:
    """float.hex() without trailing zeros."""
    mantissa, exponent = float(value).hex().split("p")
    return f"{mantissa.rstrip('0').rstrip('.') if '.' in mantissa else mantissa}p{exponent}"


def listed(values: Sequence[object], zero: object) -> str:
    kept = list(values)
    while kept and kept[-1] == zero:
        kept.pop()
    return ",".join(map(str, kept)) or "-"


def words(op: Op) -> str:
    return " ".join(
        [
            op.name,
            hex(op.flags),
            listed(op.fill, 0),
            listed(op.i, 0),
            listed([number(value) for value in op.f], number(0.0)),
        ]
    )


def drawn(name: str, limit: int, rng: random.Random) -> Op:
    """An op that leaves an image within the limit."""
    row = ROWS[name]
    while True:
        sides = [side for side in SIDES if side <= limit]
        shape = (rng.choice(sides), rng.choice(sides), rng.choice(sorted(row.channels)))
        op = rounded(row.draw(rng, np.zeros(shape, np.uint8)))
        first = [Op("TO_FLOAT")] if name in ("NORMALIZE", "ERASE") else []
        height, width, _ = _C.shape(pack([*first, op]), *shape)
        if max(height, width) <= limit + (PADDED if name == "PAD" else 0):
            return op


def operands() -> Iterator[str]:
    yield "# Random operands of every op, for the native tests. Written by tests/tables/native.py."
    yield "SIDES " + " ".join(map(str, SIDES))
    for name, *_ in _C.OPS:
        rows: dict[str, None] = {}
        for k in range(DRAWS[ROWS[name].kind]):
            op = drawn(name, LIMITS[k % len(LIMITS)], random.Random(f"operands {name} {k}"))
            rows[words(op)] = None
        yield from rows


def images() -> list[np.ndarray]:
    """Single pixels, lines, more than one block of lanes, all 256 values, more pixels than values, few values."""
    rng = random.Random("images")
    ramp = np.arange(256, dtype=np.uint8).reshape(16, 16, 1)
    found = [ramp, ramp.repeat(2, 0)[:, :20], ramp[:, ::2] // 3 + 60]
    shapes = [(1, 1), (1, 9), (8, 1), (3, 3), (2, 5), (5, 7), (13, 6), (3, 35), (2, 67)]
    for channels in (1, 2, 3, 4):
        for k, (height, width) in enumerate(shapes):
            low, high = ((0, 255), (rng.randint(0, 99), rng.randint(130, 255)))[k % 2]
            count = height * width * channels
            values = [rng.choice([low, high, *[rng.randint(low, high)] * 4]) for _ in range(count)]
            found.append(np.array(values, np.uint8).reshape(height, width, channels))
    found.append(np.array([rng.randint(20, 230) for _ in range(17 * 31)], np.uint8).reshape(17, 31, 1))
    found.append(np.array([rng.choice([20, 90, 91, 200]) for _ in range(20 * 27)], np.uint8).reshape(20, 27, 1))
    found.append(np.array([rng.randint(0, 255) // 16 * 16 for _ in range(11 * 13 * 3)], np.uint8).reshape(11, 13, 3))
    return found


def telling_blur() -> tuple[np.ndarray, Op, Op]:
    """An image, a blur and the same one UNFUSED that differ in it, as few do: products are rounded before they are
    added, which moves the sum next to nothing."""
    for attempt in range(20_000):
        rng = random.Random(f"telling blur {attempt}")
        op = ROWS["BLUR"].draw(rng, np.empty((17, 31, 1), np.uint8))
        if op.i[0] * op.i[1] < 80:
            continue
        image = np.array([rng.randrange(256) for _ in range(17 * 31)], np.uint8).reshape(17, 31, 1)
        fused, unfused = (Op(op.name, op.i, op.f, op.flags & ~UNFUSED | flag) for flag in (0, UNFUSED))
        if not np.array_equal(reference([fused], image), reference([unfused], image)):
            return image, fused, unfused
    raise AssertionError("no blur tells the two apart")


def telling_resize() -> tuple[np.ndarray, Op]:
    """An image and a resize whose first axis hangs on the 2 in Pillow's rule, where the order is seen in the result."""
    for attempt in range(20_000):
        rng = random.Random(f"telling resize {attempt}")
        image = np.array([rng.randrange(256) for _ in range(15 * 13)], np.uint8).reshape(15, 13, 1)
        op = Op("RESIZE", (15 - rng.randint(3, 9), 13 - rng.randint(1, 4)), flags=rng.choice([BILINEAR, BICUBIC]))
        lost_height, lost_width = image.shape[0] - op.i[0], image.shape[1] - op.i[1]
        if not 2 * lost_width < lost_height <= 3 * lost_width:
            continue
        width_first = Op(op.name, op.i, flags=op.flags | WIDTH_FIRST)
        if not np.array_equal(reference([op], image), reference([width_first], image)):
            return image, op
    raise AssertionError("no resize tells the orders apart")


def telling_torch_resize() -> tuple[np.ndarray, Op]:
    """An image and a resize to a sixth, whose weights are odd 72nds: many sums lie in the middle between two bytes, and
    how float32 rounds decides. Some differ from those of fused additions alone, and some from those of none."""
    op = Op("TORCH_RESIZE", (9, 16), flags=BILINEAR)
    one_hot = torch.eye(96).reshape(96, 1, 1, 96)
    weights = torch.nn.functional.interpolate(one_hot, (1, 16), mode="bilinear", antialias=True).reshape(96, 16).numpy()
    for attempt in range(20_000):
        rng = random.Random(f"telling torch resize {attempt}")
        image = np.array([rng.randrange(256) for _ in range(9 * 96)], np.uint8).reshape(9, 96, 1)
        expected = reference([op], image)[..., 0]
        fused = np.zeros((9, 16))
        apart = np.zeros((9, 16), np.float32)
        for sample, weight in zip(image[..., 0].T.astype(np.float32), weights, strict=True):
            product = sample[:, None].astype(np.float64) * weight
            fused = (fused + product).astype(np.float32).astype(np.float64)
            apart += product.astype(np.float32)
        if all((np.rint(sums) != expected).any() for sums in (fused, apart)):
            return image, op
    raise AssertionError("no image tells the sums apart")


def answer(k: int, image: np.ndarray, ops: Sequence[Op]) -> str:
    expected = reference(ops, image)
    assert expected.dtype == (np.float32 if is_float(ops) else np.uint8)
    shape = " ".join(map(str, expected.shape))
    return f"ANSWER {k} {shape} {expected.tobytes().hex()} " + " ".join(words(op) for op in ops)


def answers_of(name: str, pictures: Sequence[np.ndarray]) -> Iterator[str]:
    """Ops drawn for images that fit, at first for the larger ones, and not too many of the same flags."""
    row = ROWS[name]
    fitting = sorted(
        (k for k, image in enumerate(pictures) if image.shape[2] in row.channels), key=lambda k: -pictures[k].size
    )
    most = MOST_FLOATS if row.kind == "store" else MOST_SAMPLES
    seen: set[str] = set()
    flags: Counter[int] = Counter()
    for attempt in range(100 * ANSWERS):
        if len(seen) == ANSWERS:
            return
        rng = random.Random(f"answers {name} {attempt}")
        k = fitting[attempt] if attempt < min(4, len(fitting)) else rng.choice(fitting)
        op = rounded(row.draw(rng, pictures[k]))
        ops = [Op("TO_FLOAT"), op] if name in ("NORMALIZE", "ERASE") else [op]
        told = f"{k} {op}"
        crowded = flags[op.flags] >= ANSWERS // 4 and attempt < 50 * ANSWERS
        if math.prod(_C.shape(pack(ops), *pictures[k].shape)) > most or told in seen or crowded:
            continue
        seen.add(told)
        flags[op.flags] += 1
        yield answer(k, pictures[k], ops)


def answers() -> Iterator[str]:
    yield "# What Pillow, torchvision and numpy make of small images. Written by tests/tables/native.py."
    blurred, *blurs = telling_blur()
    resized, resize = telling_resize()
    torch_resized, torch_resize = telling_torch_resize()
    pictures = [*images(), blurred, resized, torch_resized]
    for picture in pictures:
        yield "IMAGE " + " ".join(map(str, picture.shape)) + " " + picture.tobytes().hex()
    for name, *_ in _C.OPS:
        yield from answers_of(name, pictures[:-3])
    for op in blurs:
        yield answer(len(pictures) - 3, blurred, [op])
    yield answer(len(pictures) - 2, resized, [resize])
    yield answer(len(pictures) - 1, torch_resized, [torch_resize])


FILES = {"operands.txt": operands, "answers.txt": answers}


def text_of(name: str) -> str:
    return "\n".join(FILES[name]()) + "\n"


if __name__ == "__main__":
    for file in FILES:
        (FOLDER / file).write_text(text_of(file))
