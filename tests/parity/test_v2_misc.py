"""v2.functional's filters, dtypes, erasing, JPEG, frames and containers against torchvision's."""

from __future__ import annotations

import inspect
import io
import itertools
import random
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torchvision import tv_tensors
from torchvision.io import encode_jpeg
from torchvision.transforms import v2 as torchvision_v2
from torchvision.transforms.v2 import functional as V

from fastaug._draft.leaf import ImageDraft, MaskDraft, VideoDraft
from fastaug._program import ops
from fastaug.transforms import v2
from fastaug.transforms.v2 import functional as F
from fastaug.transforms.v2.functional._utils import _get_kernel
from support.differences import grouped
from support.images import MODES, noise, photo, pil
from support.layouts import assert_same, layouts, outcome
from support.outcomes import run, snapshot
from support.scale import share
from support.versions import UINT16, since

Case = tuple[str, tuple[Any, ...]]

UINT8: list[Case] = [
    ("gaussian_blur", (1,)),
    ("gaussian_blur", (3,)),
    ("gaussian_blur", ([3, 5], [0.7, 1.1])),
    ("gaussian_blur", ((5, 3), 0.4)),
    ("gaussian_blur", (9, [2.0])),
    ("gaussian_noise", ()),
    ("gaussian_noise", (0.1, 0.3, False)),
    ("to_dtype", (torch.uint8, True)),
    ("to_dtype", (torch.float32, True)),
    ("to_dtype", (torch.float32, False)),
    ("to_dtype", (torch.float16, True)),
    ("to_dtype", (torch.bfloat16, True)),
    ("to_dtype", (torch.float64, True)),
    ("to_dtype", (torch.int16, True)),
    ("to_dtype", (torch.int64, True)),
    *(("to_dtype", (dtype, True)) for dtype in UINT16),
    ("to_dtype", (torch.bool, True)),
    ("convert_image_dtype", ()),
    ("normalize", ([0.5], [0.2])),
    ("jpeg", (40,)),
    ("erase", (0, 1, 2, 3, torch.tensor([7]))),
    ("erase", (0, 0, 0, 0, torch.tensor(7))),
    ("uniform_temporal_subsample", (3,)),
    ("uniform_temporal_subsample", (9,)),
]

FLOATS: list[Case] = [
    *UINT8,
    ("normalize", ([0.5, 0.4, 0.3], [0.2, 0.3, 0.4])),
    ("normalize", (torch.tensor([0.5, 0.4, 0.3]), np.array([0.2, 0.3, 0.4]))),
    ("normalize", (0.5, 0.2)),
    ("normalize", ([0.5], [0.0])),
    ("normalize", ([0.5], torch.tensor([0.0]))),
    ("erase", (1, 0, 2, 2, torch.tensor([0.25]))),
]

DTYPES = (torch.float32, torch.float64, torch.float16, torch.int8, torch.int16, *UINT16, torch.int32, torch.int64)

MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


def compare(case: Case, image: Any, what: Any, **named: Any) -> Any:
    """With the same state of torch's generator; nothing where both raise the same type of error."""
    name, arguments = case
    results = []
    for library in (V, F):
        torch.manual_seed(5)
        results.append(outcome(getattr(library, name), image, *arguments, **named))
    expected, found = results
    if isinstance(expected, type) or isinstance(found, type):
        assert found is expected, (case, what)
        return None
    if isinstance(expected, torch.Tensor):
        # What is not a number is none in both.
        assert_same(found.nan_to_num(7), expected.nan_to_num(7), None, (case, what))
        assert (found is image) == (expected is image), (case, what)
    else:
        assert_same_pil(found, expected, (case, what))
    return found


def assert_same_pil(found: Any, expected: Image.Image, what: Any) -> None:
    assert type(found) is type(expected), what
    assert (found.mode, found.size, found.info) == (expected.mode, expected.size, expected.info), what
    assert found.tobytes() == expected.tobytes(), what


@pytest.mark.skipif(not since(0, 24), reason="noise refuses uint8")
@grouped(UINT8, "case", lambda case: case[0])
def test_uint8(case: Case) -> None:
    sizes = ((1, 1), (1, 17), (2, 9), (7, 5), (31, 37))
    for (seed, (height, width)), channels in share(itertools.product(enumerate(sizes), range(1, 6)), str(case[:2])):
        for name, image in layouts(height, width, channels, seed):
            compare(case, image, (name, tuple(image.shape)))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_other_dtypes(dtype: torch.dtype) -> None:
    for height, width in ((1, 1), (5, 7)):
        for channels in (1, 3):
            for name, image in layouts(height, width, channels):
                if dtype.is_floating_point:
                    image = image.to(torch.float64).div(255).to(dtype)
                else:
                    image = (image.to(torch.int64) * 97).to(dtype)
                for case in share(FLOATS, f"{dtype} {name} {channels} {height}"):
                    compare(case, image, (name, channels, height, width))


@pytest.mark.skipif(not since(0, 24), reason="noise refuses uint8")
def test_without_channels_or_samples() -> None:
    plane = torch.arange(42, dtype=torch.uint8).view(6, 7)
    empty = [torch.zeros(shape, dtype=torch.uint8) for shape in ((3, 0, 7), (0, 3, 4, 4), (0, 4, 4))]
    for image in (plane, plane / 255, *empty, *(image.float() for image in empty)):
        for case in FLOATS:
            compare(case, image, tuple(image.shape))


@pytest.mark.parametrize("mode", MODES)
def test_pil(mode: str) -> None:
    image = pil(mode, 9, 11)
    image.info["comment"] = "x"
    for case in UINT8:
        if case[0] != "convert_image_dtype":  # of tensors alone
            compare(case, image, mode)


def test_blurred_photographs() -> None:
    rng = random.Random(1)
    for name in ("astronaut", "coffee"):
        image = torch.from_numpy(np.array(photo(name, 120, 160))).permute(2, 0, 1)
        for _ in range(6):
            case = "gaussian_blur", ([rng.choice([3, 5, 9, 23]), 5], [rng.uniform(0.1, 2), rng.uniform(0.1, 4)])
            for one in (image, image.contiguous(), image[:1], photo(name, 60, 80), torch.stack([image, image])):
                compare(case, one, name)


@pytest.mark.skipif(not since(0, 29), reason="older ones do not warn")
def test_jpeg_warns_of_files_of_tensors() -> None:
    """As often as torchvision does, before an error too."""
    planes = torch.zeros(3, 8, 8, dtype=torch.uint8)
    given: list[tuple[Any, Any]] = [(planes, 50), (planes[None].repeat(3, 1, 1, 1), 50), (planes[None][:0], 50)]
    given += [(planes, 500), (planes.float(), 50), (planes[:2], 50), (planes[0], 50), (planes[:, :0], 50)]
    given += [(Image.new("RGB", (8, 8)), 50)]
    for image, quality in given:
        heard = []
        for package in (F, V):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                outcome(lambda: package.jpeg(image, quality))  # noqa: B023
            heard.append([(one.category, str(one.message)[:60]) for one in caught])
        assert heard[0] == heard[1], (image, quality)


def test_jpeg_files_are_pillows() -> None:
    """torchvision encodes with its own libjpeg."""
    for name in ("astronaut", "chelsea"):
        for gray in (False, True):
            image = photo(name, 99, 131).convert("L" if gray else "RGB")
            planes = V.pil_to_tensor(image).contiguous()
            for quality in (1, 10, 49, 50, 51, 75, 90, 100):
                file = io.BytesIO()
                image.save(file, "JPEG", quality=quality)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    assert bytes(encode_jpeg(planes, quality).numpy()) == file.getvalue(), (name, gray, quality)
                    compare(("jpeg", (quality,)), planes, (name, gray))
                    compare(("jpeg", (quality,)), image, (name, gray))


def test_writes_in_place() -> None:
    for cls in (None, tv_tensors.Image, tv_tensors.Video):
        for case in (("normalize", ([0.5], [0.2])), ("erase", (1, 1, 2, 2, torch.tensor([0.25])))):
            given = [torch.rand(2, 3, 4, 5, generator=torch.Generator().manual_seed(1)) for _ in (V, F)]
            results = []
            for library, tensor in zip((V, F), given):
                image = tensor if cls is None else cls(tensor)
                results.append(getattr(library, case[0])(image, *case[1], inplace=True))
                assert (results[-1] is image) == (cls is None)
            assert torch.equal(given[0], given[1]) and torch.equal(results[1], given[1])


@pytest.mark.skipif(not since(0, 23), reason="there are no points")
def test_dtypes_of_other_leaves() -> None:
    mask = tv_tensors.Mask(torch.from_numpy(noise(6, 5, 2)).permute(2, 0, 1))
    boxes = tv_tensors.BoundingBoxes(torch.tensor([[1, 2, 3, 4]]), format="XYWH", canvas_size=(9, 8))
    points = tv_tensors.KeyPoints(torch.tensor([[1, 2]]), canvas_size=(9, 8))
    for leaf in (mask, boxes, points):
        for dtype in (torch.uint8, torch.float32, torch.int64, torch.bool):
            found = compare(("to_dtype", (dtype, True)), leaf, dtype)
            assert type(found) is type(leaf)
    drafted = _get_kernel(F.to_dtype, MaskDraft)(MaskDraft(mask, None, tv_tensors.Mask), dtype=torch.int64)
    assert_same(drafted, V.to_dtype(mask, torch.int64), None, "draft")


@pytest.mark.parametrize("scale", [True, False])
def test_one_pass_to_normalized_floats(scale: bool) -> None:
    """The ops of a conversion and what follows it are one program."""
    draft = ImageDraft(photo("astronaut", 40, 50))
    assert F.to_image(draft) is draft and draft.type is tv_tensors.Image
    _get_kernel(F.to_dtype, ImageDraft)(draft, dtype=torch.float32, scale=scale)
    _get_kernel(F.normalize, ImageDraft)(draft, mean=MEAN, std=STD)
    first = ops.plain("V2_TO_FLOAT") if scale else ops.by_factor("SCALE", 1.0)
    assert draft.core.store == (first, ops.normalize(MEAN, STD))
    values = torch.tensor([0.1, 0.2, 0.3]).view(3, 1, 1)
    _get_kernel(F.erase, ImageDraft)(draft, i=3, j=4, h=5, w=6, v=values)
    assert draft.core.erases == 1
    expected = V.to_dtype(V.to_image(photo("astronaut", 40, 50)), torch.float32, scale=scale)
    expected = V.erase(V.normalize(expected, MEAN, STD), 3, 4, 5, 6, values)
    found = draft.result()
    assert type(found) is tv_tensors.Image and torch.equal(found, expected)


def test_erased_drafts() -> None:
    """By what the core writes, and by what torch broadcasts; inside, across the border and outside."""
    rng = random.Random(2)
    fillings: list[Any] = [torch.tensor(0.5), torch.tensor([0.5]), torch.rand(3, 1, 1), torch.rand(1, 1, 1), 0.25]
    image = torch.from_numpy(noise(9, 8, 3)).permute(2, 0, 1)
    for trial in range(60):
        box = rng.randint(-2, 9), rng.randint(-2, 8), rng.randint(0, 6), rng.randint(0, 6)
        filling = fillings[trial % len(fillings)]
        draft = ImageDraft(image)
        _get_kernel(F.to_dtype, ImageDraft)(draft, dtype=torch.float32, scale=True)
        _get_kernel(F.erase, ImageDraft)(draft, *box, filling)
        expected = V.erase(V.to_dtype(image, torch.float32, scale=True), *box, filling)
        assert_same(draft.result(), expected, None, (box, filling))


def test_frames_of_drafts() -> None:
    video = tv_tensors.Video(torch.from_numpy(np.stack([noise(6, 5, 3, seed) for seed in range(7)])).movedim(-1, 1))
    for count in (1, 3, 7, 9, 0):
        draft = VideoDraft(video, None, tv_tensors.Video)
        for function, arguments in ((F.invert, ()), (F.uniform_temporal_subsample, (count,)), (F.adjust_hue, (0.2,))):
            _get_kernel(function, VideoDraft)(draft, *arguments)
        expected = V.adjust_hue(V.uniform_temporal_subsample(V.invert(video), count), 0.2)
        assert_same(draft.result(), expected, None, count)
    image = ImageDraft(video.as_subclass(tv_tensors.Image), None, tv_tensors.Image)
    assert _get_kernel(F.uniform_temporal_subsample, ImageDraft)(image, 3) is image and not image.touched


def test_frames_that_are_left_out() -> None:
    """Of views, of several videos, twice, and where it is all that is done, so that torch makes the result."""
    frames = torch.from_numpy(np.stack([noise(9, 8, 3, seed) for seed in range(14)])).movedim(-1, 1)
    planes = torch.from_numpy(noise(9, 8, 6)).movedim(-1, 0).reshape(6, 1, 9, 8).contiguous()
    videos = (frames, frames.contiguous(), frames.reshape(2, 7, 3, 9, 8), frames[::2, :, 1:, ::2], planes)
    half, flip = (F.uniform_temporal_subsample, (4,)), (F.horizontal_flip, ())
    chains: list[list[tuple[Any, tuple[Any, ...]]]] = [
        [half],
        [half, flip],
        [half, (F.uniform_temporal_subsample, (3,)), flip],
        [(F.crop, (1, 1, 5, 3)), half],
        [(F.crop, (1, 1, 5, 3)), half, (F.crop, (1, 0, 3, 2))],
        [half, (F.rotate, (0.0,)), half],
        [half, (F.adjust_sharpness, (1.5,)), flip, (F.to_dtype, (torch.float32, True))],
        [(F.uniform_temporal_subsample, (20,)), flip, (F.elastic, (torch.zeros(1, 9, 8, 2),))],
    ]
    for video in videos:
        for chain in chains:
            if chain[-1][0] is F.elastic and tuple(video.shape[-2:]) != (9, 8):
                continue
            expected: Any = tv_tensors.Video(video)
            draft: Any = VideoDraft(expected, None, tv_tensors.Video)
            for function, arguments in chain:
                draft = _get_kernel(function, VideoDraft)(draft, *arguments)
                expected = getattr(V, function.__name__)(expected, *arguments)
            assert_same(draft.result(), expected, None, (video.shape, chain))


def test_what_pil_drafts_have_no_kernel_for() -> None:
    draft = ImageDraft(photo("astronaut", 8, 8))
    for function, arguments in ((F.to_dtype, (torch.float32,)), (F.normalize, (MEAN, STD))):
        assert _get_kernel(function, ImageDraft)(draft, *arguments) is draft and not draft.touched
        with pytest.raises(TypeError, match="supports inputs of type"):
            function(photo("astronaut", 8, 8), *arguments)


def arrays() -> Iterator[np.ndarray]:
    for shape in ((5,), (5, 6), (5, 6, 1), (5, 6, 2), (5, 6, 3), (5, 6, 4), (5, 6, 5), (2, 5, 6, 3)):
        for dtype in (np.uint8, np.int16, np.float32, np.int64):
            yield np.random.default_rng(1).integers(0, 256, shape).astype(dtype)
    yield noise(9, 9, 3)[::2, 1:7]


CONTAINERS = ("to_image", "to_pil_image", "pil_to_tensor", "to_tensor")


@pytest.mark.filterwarnings("ignore")
def test_containers() -> None:
    things: list[Any] = ["text", 3, None, *arrays(), *(pil(mode, 6, 7) for mode in MODES)]
    things += [torch.from_numpy(array.copy()) for array in arrays()]
    things += [tv_tensors.Image(torch.rand(3, 4, 5)), tv_tensors.Mask(torch.rand(4, 5))]
    things += [tv_tensors.Video(torch.rand(2, 3, 4, 5))]
    for thing in things:
        for name in CONTAINERS:
            compare((name, ()), thing, type(thing))
        for mode in ("L", "LA", "RGB", "RGBA", "CMYK", "HSV", "F", "I", "P"):
            compare(("to_pil_image", ()), thing, type(thing), mode=mode)


def test_containers_of_drafts() -> None:
    for mode in MODES:
        for names in (("to_image", "to_pil_image"), ("pil_to_tensor", "to_image"), ("to_image", "to_pil_image") * 2):
            drafted: Any = ImageDraft(pil(mode, 6, 7))
            expected: Any = pil(mode, 6, 7)
            for name in names:
                drafted, expected = outcome(getattr(F, name), drafted), outcome(getattr(V, name), expected)
            if isinstance(expected, type):
                assert drafted is expected, (mode, names)
            elif isinstance(expected, torch.Tensor):
                assert_same(drafted.result(), expected, None, (mode, names))
            else:
                assert_same_pil(drafted.result(), expected, (mode, names))
    plane = torch.arange(42, dtype=torch.uint8).view(6, 7)
    assert_same(F.to_image(ImageDraft(plane)).result(), V.to_image(plane), None, "plane")


def test_deprecated() -> None:
    for name, image in (("to_tensor", photo("chelsea", 5, 6)), ("get_image_size", torch.zeros(3, 5, 6))):
        with pytest.warns(UserWarning, match="deprecated and will be removed"):
            found = getattr(F, name)(image)
        with pytest.warns(UserWarning, match="deprecated and will be removed"):
            expected = getattr(V, name)(image)
        assert found == expected if name == "get_image_size" else torch.equal(found, expected)


ERRORS: list[tuple[str, tuple[Any, ...], Any, str]] = [
    ("normalize", ([0.5], [0.5]), torch.zeros(3, 4, 4, dtype=torch.uint8), "should be a float tensor"),
    ("normalize", ([0.5], [0.5]), torch.zeros(4, 4), "tensor image of size"),
    ("normalize", ([0.5], [0.0]), torch.zeros(3, 4, 4), "std evaluated to zero, leading to division by zero"),
    ("gaussian_blur", ([3, 3, 3],), torch.zeros(3, 4, 4), "sequence its length should be 2"),
    ("gaussian_blur", ([4, 3],), torch.zeros(3, 4, 4), "odd and positive integers"),
    ("gaussian_blur", (3, [1, 2, 3]), torch.zeros(3, 4, 4), "sequence, its length should be 2"),
    ("gaussian_blur", (3, "1"), torch.zeros(3, 4, 4), "either float or sequence of floats"),
    ("gaussian_blur", (3, 0.0), torch.zeros(3, 4, 4), "positive values"),
    ("gaussian_noise", (0.0, -1.0), torch.zeros(3, 4, 4), "shouldn't be negative"),
    ("gaussian_noise", (), torch.zeros(3, 4, 4, dtype=torch.int16), "uint8 or float dtype, got dtype=torch.int16"),
    ("gaussian_noise", (), Image.new("RGB", (4, 4)), "not implemented for PIL"),
    ("to_dtype", (torch.int64, True), torch.zeros(3, 4, 4), "cannot be performed safely"),
    ("to_dtype", (torch.uint8, True), torch.zeros(3, 4, 4, dtype=torch.bool), "value bits, got torch.bool"),
    ("jpeg", (0,), torch.zeros(3, 4, 4, dtype=torch.uint8), "between 1 and 100, got 0"),
    ("jpeg", (50,), torch.zeros(3, 4, 4), "dtype should be uint8, got torch.float32"),
    ("jpeg", (50,), torch.zeros(2, 4, 4, dtype=torch.uint8), "should be 1 or 3, got: 2"),
    ("uniform_temporal_subsample", (2,), torch.zeros(3, 4, 4), "at least 4 dimensions, but found 3"),
    ("to_image", (), "text", "pure Tensor, a numpy array, or a PIL image"),
    ("to_pil_image", (), Image.new("L", (4, 4)), "pic should be Tensor or ndarray"),
    ("pil_to_tensor", (), torch.zeros(3, 4, 4), "pic should be PIL Image"),
]


@grouped(ERRORS, ("name", "arguments", "image", "text"), lambda case: case[0])
def test_errors(name: str, arguments: tuple[Any, ...], image: Any, text: str) -> None:
    with pytest.raises(outcome(getattr(V, name), image, *arguments), match=text):
        getattr(F, name)(image, *arguments)


@pytest.mark.parametrize("module", ["_color", "_misc", "_augment", "_type_conversion", "_temporal", "_deprecated"])
def test_signatures(module: str) -> None:
    def parameters(function: Any) -> list[Any]:
        return [(one.name, one.kind, one.default) for one in inspect.signature(function).parameters.values()]

    theirs, ours = (vars(getattr(library, module)) for library in (V, F))
    functions = [name for name in theirs if name in vars(V) or name.endswith("_pil")]
    functions = [name for name in functions if inspect.isfunction(theirs[name])]
    assert len(functions) > 1
    for name in functions:
        # Some modules of torchvision's import others' functions.
        if name in ours or theirs[name].__module__ == theirs["__name__"]:
            assert parameters(ours[name]) == parameters(theirs[name]), name


def test_arrays_and_images_that_were_tensors_in_pipelines() -> None:
    names = (("ToImage",), ("ToPILImage", "ToImage"), ("ToPILImage",), ("ToImage", "ToPILImage"))
    for array in (noise(9, 7, 3), noise(9, 7, 1)[:, :, 0], noise(9, 7, 1), noise(9, 7, 4), noise(9, 7, 3) / 255):
        for chain in names:
            expected, found = (
                library.Compose([*(getattr(library, name)() for name in chain), library.RandomHorizontalFlip(1.0)])(
                    (array, torch.from_numpy(noise(4, 5, 3)).permute(2, 0, 1), "label")
                )
                for library in (torchvision_v2, v2)
            )
            for ours, theirs in zip(found, expected):
                if isinstance(theirs, torch.Tensor):
                    assert_same(ours, theirs, None, (chain, array.shape))
                elif isinstance(theirs, Image.Image):
                    assert_same_pil(ours, theirs, (chain, array.shape))
                else:
                    assert ours == theirs


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int16])
@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("shape", [(3, 52, 52), (3, 53, 53), (3, 147, 148), (3, 149, 149), (2, 3, 105, 105)])
def test_bytes_of_few_and_many_samples(shape: tuple[int, ...], scale: bool, dtype: torch.dtype) -> None:
    """On both sides of the numbers of samples from which the core scales bytes."""
    ours, theirs = (package.ToDtype(dtype, scale=scale) for package in (v2, torchvision_v2))
    planes = torch.from_numpy(np.random.default_rng(shape[-1]).integers(0, 256, shape, np.uint8))
    pixels = planes.movedim(-3, -1).contiguous().movedim(-1, -3)
    for image in (planes, pixels, tv_tensors.Image(planes)):
        assert_same(ours(image), theirs(image), image, (dtype, scale, shape))


@pytest.mark.parametrize("mode", ["L", "RGB", "P", "I"])
@pytest.mark.parametrize(
    "interpolation", ["nearest", "nearest-exact", "bilinear", 0, torchvision_v2.InterpolationMode.NEAREST]
)
def test_large_pillow_images_of_lone_calls(interpolation: Any, mode: str) -> None:
    image = Image.fromarray(noise(200, 150)).convert(mode)
    for name, settings in {
        "Resize": {"size": (90, 170), "interpolation": interpolation},
        "Pad": {"padding": 3},
    }.items():
        ours, theirs = (run(getattr(package, name)(**settings), image) for package in (v2, torchvision_v2))
        assert type(ours.error) is type(theirs.error)
        assert snapshot(ours.value) == snapshot(theirs.value)
