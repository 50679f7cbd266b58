"""Image processors, and the pipelines that take their places: the same bits at every size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image
from transformers import CLIPImageProcessor, Qwen2VLImageProcessor, ViTImageProcessor
from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil
from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

from bench.clients import load
from fastaug.adapters.transformers import pipeline_of
from fastaug.io import lazy
from support.images import photo
from support.pages import run_blocks

PROCESSORS = [ViTImageProcessor, ViTImageProcessorPil, CLIPImageProcessor, CLIPImageProcessorPil]
OPTIONS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "shortest edge": {"size": {"shortest_edge": 100}, "do_center_crop": False},
    "a large crop": {"size": {"shortest_edge": 100}, "crop_size": {"height": 131, "width": 98}, "do_center_crop": True},
    "bicubic": {"size": {"height": 99, "width": 131}, "resample": 3},
    "bilinear, odd crop": {
        "size": {"height": 99, "width": 132},
        "crop_size": {"height": 128, "width": 65},
        "do_center_crop": True,
        "resample": 2,
    },
    "no resize": {"do_resize": False, "do_center_crop": True, "crop_size": {"height": 224, "width": 223}},
    "other means": {"image_mean": [0.1, 0.6, 0.35], "image_std": [0.21, 0.9, 0.33]},
}
SIZES = [(300, 451), (451, 300), (224, 224), (225, 338), (100, 77), (77, 301), (225, 225)]


def pixel_values(processor: Any, images: Any) -> torch.Tensor:
    values: torch.Tensor = processor(images=images, return_tensors="pt")["pixel_values"]
    return values


@pytest.mark.parametrize("cls", PROCESSORS)
@pytest.mark.parametrize("options", OPTIONS)
def test_equal(cls: Any, options: str) -> None:
    processor = cls(**OPTIONS[options])
    pipeline = pipeline_of(processor)
    for height, width in SIZES:
        image = photo("chelsea", height, width)
        assert torch.equal(pipeline(image), pixel_values(processor, image)[0]), (height, width)


@pytest.mark.parametrize("cls", PROCESSORS)
def test_batches(cls: Any, files: list[Path]) -> None:
    processor = cls()
    pipeline = pipeline_of(processor)
    expected = pixel_values(processor, [load(path) for path in files])
    entries = [{"bytes": path.read_bytes(), "path": None} for path in files]
    for images in (files, entries, [lazy(path) for path in files], [load(path) for path in files]):
        assert torch.equal(pipeline.batch(images), expected)


@pytest.mark.parametrize("resample", [0, 1, 2, 3])
@pytest.mark.parametrize("cls", PROCESSORS)
def test_filters(cls: Any, resample: int) -> None:
    processor = cls(resample=resample, size={"height": 60, "width": 91}, do_center_crop=False)
    image = photo("coffee", 120, 301)
    assert torch.equal(pipeline_of(processor)(image), pixel_values(processor, image)[0])


@pytest.mark.parametrize("resample", [4, 5])
def test_filters_of_pillow(resample: int) -> None:
    processor = ViTImageProcessorPil(resample=resample, size={"height": 60, "width": 91})
    image = photo("coffee", 120, 301)
    assert torch.equal(pipeline_of(processor)(image), pixel_values(processor, image)[0])


def test_a_resize_to_one_size_is_a_plain_one() -> None:
    """Its transforms are the core's, and the code of the processor does not run again."""
    for cls in (ViTImageProcessor, ViTImageProcessorPil):
        assert "Steps" not in repr(pipeline_of(cls())) and "Resize(size=[224, 224]" in repr(pipeline_of(cls()))
    for cls in (CLIPImageProcessor, CLIPImageProcessorPil, Larger):
        assert f"Steps({cls.__name__})" in repr(pipeline_of(cls()))
    image = photo("chelsea", 91, 130)
    assert torch.equal(pipeline_of(Larger())(image), pixel_values(Larger(), image)[0])
    own = ViTImageProcessor()
    own.resize = lambda image, size, **options: image
    assert pipeline_of(own)(image).shape == (3, 91, 130)


class Larger(ViTImageProcessor):  # type: ignore[misc]
    """Overrides a step, which the core does."""

    def resize(self, image: Any, size: Any, **options: Any) -> Any:
        return super().resize(image, type(size)(height=image.shape[-2] + 7, width=2 * size.width), **options)


class Otherwise(ViTImageProcessor):  # type: ignore[misc]
    def rescale_and_normalize(self, images: Any, *args: Any, **options: Any) -> Any:
        return images


class Rolled(ViTImageProcessor):  # type: ignore[misc]
    def resize(self, image: Any, *args: Any, **options: Any) -> Any:
        return super().resize(image.roll(1), *args, **options)


class BySize(ViTImageProcessor):  # type: ignore[misc]
    """Normalizes small images in another way."""

    def rescale_and_normalize(self, images: Any, *args: Any, **options: Any) -> Any:
        if images.shape[-1] < 30:
            args = (*args[:3], (0.3, 0.3, 0.3), *args[4:])
        return super().rescale_and_normalize(images, *args, **options)

    def resize(self, image: Any, *args: Any, **options: Any) -> Any:
        return image


def test_what_is_not_read() -> None:
    for processor, message in (
        (ViTImageProcessor(do_normalize=False), "should normalize, got samples times 0.0039"),
        (ViTImageProcessorPil(rescale_factor=1 / 127.5), "gives pixel_values of ndarray"),
        (Otherwise(), "Otherwise gives pixel_values of Images"),
        (Rolled(), "Rolled gives roll of uint8"),
        (Qwen2VLImageProcessor(), "gives pixel_values, image_grid_thw"),
    ):
        with pytest.raises(ValueError, match=message):
            pipeline_of(processor)
    with pytest.raises(ValueError, match="images of 20x20 are normalized in another way"):
        pipeline_of(BySize())(photo("chelsea", 20, 20))
    with pytest.raises(TypeError, match="should be an image processor"):
        pipeline_of(torch.nn.Identity())


def test_the_page(place: Path) -> None:
    """The examples of docs/huggingface.md, and what the table and the processor give without fastaug."""
    import datasets
    import torchvision.transforms as TV

    turned = Image.Exif()
    turned[0x0112] = 6
    photo("chelsea", 91, 150).save(place / "photographs" / "cups" / "turned.jpg", exif=turned)
    names: dict[str, Any] = {}
    run_blocks(Path(__file__).parents[2] / "docs" / "huggingface.md", names)
    images = [load(path) for path in names["files"]]
    assert torch.equal(names["pixel_values"], pixel_values(names["vit"], images))
    theirs = Qwen2VLImageProcessor()(images, return_tensors="pt")
    assert torch.equal(names["inputs"]["pixel_values"], theirs["pixel_values"])
    assert torch.equal(names["slow"].batch(images), pixel_values(ViTImageProcessorPil(), images))

    transform = TV.Compose([TV.RandomResizedCrop(64), TV.RandomHorizontalFlip(), TV.ToTensor()])
    columns = {"image": [str(path) for path in names["files"]], "label": names["labels"]}
    plain = datasets.Dataset.from_dict(columns).cast_column("image", datasets.Image())
    opened = plain.with_transform(names["augmented"])  # of PIL images, which Decode passes on
    plain.set_transform(
        lambda rows: {"image": [transform(image.convert("RGB")) for image in rows["image"]], "label": rows["label"]}
    )
    epochs = []
    for table in (plain, names["table"], opened):
        torch.manual_seed(5)
        loader = torch.utils.data.DataLoader(table, batch_size=4, shuffle=True)
        epochs.append([(batch["image"], batch["label"]) for batch in loader])
    for theirs, ours, passed in zip(*epochs, strict=True):
        assert torch.equal(ours[0], theirs[0]) and torch.equal(ours[1], theirs[1])
        assert torch.equal(passed[0], theirs[0])
