"""compile() takes a multi-crop class apart that has the switches of DINOv3's, and calls it if it cuts crops itself."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from PIL import Image

import fastaug
from support.differences import each
from support.images import photo
from support.multi_crop import MultiCrop, assert_same_views, images, switches
from support.outcomes import seed_all
from support.scale import cases


@each("switch", switches, whole=True)
def test_is_taken_apart(switch: dict[str, Any]) -> None:
    original = MultiCrop(**switch)
    compiled = fastaug.compile(original)
    assert isinstance(compiled, fastaug.Views)
    for image in images().values():
        assert_same_views(compiled, original, image, cases(8))


def test_outputs_that_are_one_object() -> None:
    compiled = fastaug.compile(MultiCrop())
    result = compiled(photo("chelsea", 90, 121))
    assert list(result) == ["weak", "global", "teacher", "local", "places"]
    assert [one is other for one, other in zip(result["global"], result["teacher"])] == [True, True]
    assert len(result["local"]) == 4 and result["places"] == () and result["weak"] is True


@pytest.mark.parametrize("switch", [{"inner": True}, {"verbose": True}], ids=["cuts itself", "logs calls"])
def test_is_called_where_it_comes_to_a_global(switch: dict[str, Any], caplog: pytest.LogCaptureFixture) -> None:
    """Its draws from NumPy, and what it logs, are in the calls as before."""
    original = MultiCrop(**switch)
    with pytest.warns(UserWarning, match="Compile what is inside it instead: its cut and cut_local"):
        compiled = fastaug.compile(original)
    assert compiled.transforms == (original,)
    image = photo("chelsea", 90, 121)
    assert_same_views(compiled, original, image, 3)
    caplog.set_level("INFO", logger="multi crop")
    seed_all(0)
    compiled(image)
    assert len(caplog.records) == int(original.verbose)


def test_settings_count_as_they_are_when_it_is_compiled() -> None:
    original = MultiCrop()
    compiled = fastaug.compile(original)
    original.inner = original.shared = True
    original.local = 9
    assert_same_views(compiled, MultiCrop(), photo("chelsea", 90, 121), 3)


def test_batches_and_files(tmp_path: Any) -> None:
    original = MultiCrop(local=2)
    compiled: Any = fastaug.compile(original)
    pictures = [photo(name, 90, 121) for name in ("chelsea", "coffee", "astronaut")]
    seed_all(5)
    expected = [original(image) for image in pictures]
    seed_all(5)
    batch = compiled.batch(pictures)
    for name in ("global", "teacher", "local"):
        for number, column in enumerate(batch[name]):
            assert torch.equal(column, torch.stack([one[name][number].as_subclass(torch.Tensor) for one in expected]))
    file = tmp_path / "image.png"
    pictures[0].save(file)
    opened = Image.open(file).convert("RGB")
    assert_same_views(lambda image: compiled(file), original, opened, 3)
