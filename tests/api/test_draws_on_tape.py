"""Whatever a transform draws is on the tape of `sample`, and `replay` draws nothing; else both refuse, by name."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import torch
import torchvision.transforms as TV
import torchvision.transforms.v2 as TV2
from torch import nn
from torch.utils._pytree import tree_flatten

import fastaug
import fastaug.transforms as T
from fastaug import tv_tensors
from fastaug.transforms import v2
from support.differences import each
from support.images import pil, to_chw
from support.outcomes import seed_all
from support.v2_outcomes import leaf_difference

#: Arguments of the transforms of v2 that have none by default.
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "AugMix": (),
    "CenterCrop": (9,),
    "ConvertBoundingBoxFormat": ("XYWH",),
    "ConvertImageDtype": (),
    "FiveCrop": (9,),
    "GaussianBlur": (3,),
    "JPEG": ((20, 90),),
    "Lambda": (lambda leaf: leaf,),
    "LinearTransformation": (torch.eye(3 * 24 * 30), torch.zeros(3 * 24 * 30)),
    "Normalize": ((0.5,), (0.5,)),
    "Pad": (2,),
    "RandomAdjustSharpness": (2.0,),
    "RandomAffine": (20, (0.1, 0.2), (0.5, 1.5), 10),
    "RandomApply": ([v2.RandomRotation(30)],),
    "RandomChoice": ([v2.RandomRotation(30), v2.RandomHorizontalFlip()],),
    "RandomCrop": (9,),
    "RandomErasing": (1.0,),
    "RandomOrder": ([v2.RandomRotation(30), v2.RandomHorizontalFlip()],),
    "RandomPosterize": (3,),
    "RandomResize": (8, 20),
    "RandomResizedCrop": (9,),
    "RandomRotation": (30,),
    "RandomShortestSize": ((9, 12, 14),),
    "RandomSolarize": (128,),
    "Resize": (9,),
    "ScaleJitter": ((20, 20),),
    "SetClampingMode": ("hard",),
    "TenCrop": (9,),
    "ToDtype": (torch.float32, True),
    "UniformTemporalSubsample": (2,),
}
#: They change something else than an image, a video and its boxes, or are no transforms.
OTHERS = (
    "Compose",
    "CutMix",
    "MixUp",
    "RandomIoUCrop",
    "SanitizeBoundingBoxes",
    "SanitizeKeyPoints",
    "ToPureTensor",
    "Transform",
)
TRANSFORMS = [
    name
    for name in v2.__all__
    if isinstance(getattr(v2, name), type) and issubclass(getattr(v2, name), v2.Transform) and name not in OTHERS
]


def assert_equal(ours: Any, theirs: Any) -> None:
    (leaves, spec), (expected, expected_spec) = tree_flatten(ours), tree_flatten(theirs)
    assert spec == expected_spec
    for one, other in zip(leaves, expected, strict=True):
        assert leaf_difference(one, other, strides=False) is None


def drawn_and_replayed(pipeline: Any, sample: Any, seed: int) -> list[dict[str, Any]]:
    """Hold that a call gives what its parameters give twice, that sampling draws as it does, and replaying nothing."""
    seed_all(seed)
    expected = pipeline(sample)
    states = torch.get_rng_state(), random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    seed_all(seed)
    params: list[dict[str, Any]] = pipeline.sample(sample)
    for _ in range(2):
        assert torch.equal(torch.get_rng_state(), states[0])
        assert random.getstate() == states[1]
        assert np.random.get_state()[1].tolist() == states[2]  # noqa: NPY002
        assert_equal(pipeline.replay(sample, params), expected)
    assert torch.equal(torch.get_rng_state(), states[0])
    return params


def samples_for(name: str) -> list[Any]:
    bytes_ = to_chw(pil("RGB", 24, 30, 1))
    video = tv_tensors.Video(bytes_.repeat(4, 1, 1, 1))
    image = tv_tensors.Image(bytes_)
    return [bytes_, bytes_ / 255, pil("RGB", 24, 30, 1), (image, "label"), {"video": video}, (image, image / 255)]


@pytest.mark.filterwarnings("ignore")
@each("name", TRANSFORMS, whole=True)
def test_every_transform(name: str) -> None:
    arguments = ARGUMENTS.get(name, ())
    transforms = [getattr(v2, name)(*arguments)]
    if name == "RandomErasing":
        transforms.append(v2.RandomErasing(1.0, value="random"))
    done = 0
    for transform in transforms:
        # Draws before and after it show where it leaves the generator.
        pipeline = v2.Compose([v2.RandomHorizontalFlip(), transform, v2.RandomVerticalFlip()])
        for sample in samples_for(name):
            for seed in range(3):
                seed_all(seed)
                try:
                    pipeline(sample)
                except Exception:  # not a sample for this transform
                    continue
                drawn_and_replayed(pipeline, sample, seed)
                done += 1
    assert done or name.startswith(("Clamp", "Convert", "SetClamp")), name


def test_noise_of_a_generator_of_the_users_own() -> None:
    """With `generator`, noise comes from it, as all draws do, and torch's stays where it is."""
    for image in (to_chw(pil("RGB", 24, 30)), torch.rand(3, 8, 8)):
        expected = []
        torch.manual_seed(5)
        transform = TV2.Compose([TV2.RandomHorizontalFlip(), TV2.GaussianNoise()])
        expected = [transform(image) for _ in range(2)]
        generator = torch.Generator().manual_seed(5)
        ours = fastaug.compile(transform, generator=generator)
        before = torch.get_rng_state()
        assert all(torch.equal(ours(image), one) for one in expected)
        assert torch.equal(torch.get_rng_state(), before)
        drawn = generator.get_state()
        params = ours.sample(image)
        moved = generator.get_state()
        assert not torch.equal(drawn, moved)
        assert torch.equal(ours.replay(image, params), ours.replay(image, params))
        assert torch.equal(generator.get_state(), moved)


def in_containers(api: Any) -> dict[str, Any]:
    """Each container of v2 with an nn.Sequential in it, and with one in that."""

    def steps() -> nn.Sequential:
        return nn.Sequential(api.RandomRotation(30), nn.Sequential(api.RandomHorizontalFlip()), nn.Identity())

    return {
        "Compose": api.Compose([steps(), api.RandomVerticalFlip()]),
        "RandomApply": api.RandomApply([steps()], p=0.7),
        "RandomApply of modules": api.RandomApply(nn.ModuleList([api.RandomVerticalFlip(), steps()]), p=0.7),
        "RandomApply of one": api.RandomApply(nn.ModuleList([nn.Sequential(api.RandomCrop(9), api.RandomInvert())])),
        "RandomApply of none": api.RandomApply(nn.ModuleList([nn.Sequential(), nn.Identity(), api.RandomCrop(9)])),
        "RandomChoice": api.RandomChoice([steps(), api.RandomCrop(9)]),
        "RandomOrder": api.RandomOrder([steps(), api.RandomVerticalFlip(), nn.Sequential()]),
        "RandomChoice of RandomApply": api.RandomChoice(
            [api.RandomApply(nn.ModuleList([api.RandomVerticalFlip(), steps()])), api.Identity()]
        ),
        "Sequential": nn.Sequential(steps(), api.RandomApply(nn.ModuleList([api.Compose([steps()])]))),
    }


@pytest.mark.parametrize("name", in_containers(v2))
def test_sequential_in_containers(name: str) -> None:
    """It is read: fastaug's own and compiled ones give torchvision's samples, and their draws are on the tape."""
    image = tv_tensors.Image(to_chw(pil("RGB", 24, 30, 1)))
    boxes = tv_tensors.BoundingBoxes([[2, 3, 9, 11]], format="XYXY", canvas_size=(24, 30))
    theirs = in_containers(TV2)[name]
    for ours in (v2.Compose([in_containers(v2)[name]]), fastaug.compile(theirs)):
        for sample in (pil("RGB", 24, 30, 1), image, (image, boxes)):
            for seed in range(4):
                seed_all(seed)
                expected = theirs(sample)
                seed_all(seed)
                assert_equal(ours(sample), expected)
                drawn_and_replayed(ours, sample, seed)
            assert "Sequential" not in [barrier["name"] for barrier in ours.explain(sample).barriers]


def test_sequential_of_several_arguments() -> None:
    """torchvision calls it with all of them, which is an error; so it is here."""
    for api in (TV2, v2):
        with pytest.raises(TypeError, match="positional argument"):
            api.Compose([nn.Sequential(api.RandomHorizontalFlip())])(pil("RGB", 8, 9), 3)


def test_sequential_with_hooks_is_called() -> None:
    seen: list[Any] = []
    own = nn.Sequential(v2.RandomHorizontalFlip())
    own.register_forward_pre_hook(lambda module, inputs: seen.append(inputs))
    v2.Compose([own])(pil("RGB", 8, 9))
    assert len(seen) == 1


@pytest.mark.parametrize("container", ["image", "tensor"])
def test_transforms_of_single_images_among_samples(container: str) -> None:
    image = pil("RGB", 24, 30, 1)
    sample = to_chw(image) if container == "tensor" else image
    for one in (
        T.RandomRotation(30),
        T.RandomApply([T.RandomCrop(9)]),
        T.RandomChoice([T.RandomCrop(9), T.Resize(5)]),
        T.Compose([T.RandomOrder([T.RandomRotation(9), T.RandomHorizontalFlip()]), T.ColorJitter(0.5)]),
        nn.Sequential(T.RandomRotation(30), T.RandomHorizontalFlip()),
        T.Resize(8),
    ):
        pipeline = v2.Compose([v2.RandomHorizontalFlip(), one, v2.RandomVerticalFlip()])
        for seed in range(4):
            drawn_and_replayed(pipeline, sample, seed)
    floats = v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32, True), T.RandomErasing(1.0, value="random")])
    for seed in range(4):
        drawn_and_replayed(floats, sample, seed)


class OwnNoise(v2.Transform):
    """What a user derives, drawing where it should not."""

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return inpt + torch.rand_like(inpt)


class OwnShift(v2.Transform):
    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        return {"shift": random.random()}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return inpt + params["shift"]


class OwnCrop(T.RandomCrop):
    def forward(self, img: Any) -> Any:
        return img * float(np.random.rand())  # noqa: NPY002


@pytest.mark.parametrize("one", [OwnNoise(), OwnShift(), OwnCrop(3), TV.RandomCrop(4), TV2.GaussianNoise()])
@pytest.mark.parametrize("api", [T, v2])
def test_what_nobody_knows_is_refused_by_name(one: Any, api: Any) -> None:
    """Transforms that are called as they are, and draw. They still are called, and explained."""
    pipeline, image = api.Compose([api.RandomHorizontalFlip(), one]), torch.rand(3, 8, 9)
    name = type(one).__name__
    with pytest.raises(ValueError, match=f"cannot keep what {name} draws"):
        pipeline.sample(image)
    with pytest.raises(ValueError, match=f"cannot keep what {name} draws"):
        pipeline.replay(image, [{"transform": "RandomHorizontalFlip", "applied": True}])
    pipeline(image)
    assert name in str(pipeline.explain(image))


def test_functions_of_the_users_draw_what_they_draw() -> None:
    for api in (T, v2):
        for own in (lambda image: image + torch.rand(1), api.Lambda(lambda image: image + torch.rand(1))):
            pipeline, image = api.Compose([own]), torch.rand(3, 8, 9)
            params = pipeline.sample(image)
            assert params == []
            assert not torch.equal(pipeline.replay(image, params), pipeline.replay(image, params))
