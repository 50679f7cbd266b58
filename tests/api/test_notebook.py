"""What notebooks show: HTML that is whole and says all that the text says, and pictures."""

from __future__ import annotations

import base64
import functools
import io
import random
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
import torch
import torchvision.transforms as TV
from PIL import Image

import fastaug
import fastaug.transforms as T
from fastaug._inspect import notebook, trial
from fastaug.transforms import v2
from support.images import photo

IMAGE = photo("chelsea", 60, 80)


def darken(image: Any) -> Any:
    return image.point(lambda value: value // 2)


def usual(**settings: Any) -> T.Compose:
    return T.Compose([T.RandomResizedCrop(24), darken, T.ColorJitter(0.2, 0.2), T.ToTensor()], **settings)


class Page(HTMLParser):
    """The cells, the text and the pictures of HTML whose tags are all closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.rows: list[list[str]] = []
        self.pictures: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "img":
            self.pictures.append(str(dict(attrs)["src"]))
            return
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data + "\n"
        if self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def is_png(data: bytes) -> bool:
    image = Image.open(io.BytesIO(data))
    image.load()
    return image.format == "PNG" and image.width > 500


def test_plan() -> None:
    plan = usual().explain(IMAGE, seed=3)
    page = Page(plan._repr_html_())
    assert page.pictures[0].startswith("data:image/png;base64,")
    names = [row[1].strip() for row in page.rows[1:5]]
    assert names == ["RandomResizedCrop", "darken", "ColorJitter", "ToTensor"]
    assert len(page.rows[1]) == 5 and "saturation=None" in page.rows[3][2], "text that a terminal cuts is whole"
    for one in plan.passes:
        assert [str(one["pass"]), f"  {one['name']}"] in [row[:2] for row in page.rows]
    for said in (*plan.notes, plan.memory(), "darken: a function of yours"):
        assert said in page.text
    assert is_png(plan._repr_png_())
    assert plan.figure().size == Image.open(io.BytesIO(plan._repr_png_())).size


def test_figure_is_what_plot_writes(tmp_path: Any) -> None:
    plan = usual().explain(IMAGE, seed=3)
    plan.plot(tmp_path / "plan.png")
    assert Image.open(tmp_path / "plan.png").tobytes() == plan.figure().tobytes()


def test_plan_of_a_sample_has_a_table_for_each_leaf() -> None:
    sample = {"<one>": IMAGE, "two": torch.zeros(3, 40, 40, dtype=torch.uint8), "label": 3}
    transform = v2.Compose([v2.Resize(20), v2.RandomHorizontalFlip(p=1.0)])
    page = Page(transform.explain(sample)._repr_html_())
    assert "['<one>']: PIL RGB 60x80 -> PIL RGB 20x26" in page.text
    assert "handed on as they are: ['two'], ['label']" in page.text
    page = Page(transform.explain(IMAGE)._repr_html_())
    assert page.rows[0] == ["step", "", "drawn", "ops", "becomes"]


def test_profile() -> None:
    result = usual().profile(IMAGE, repeat=1)
    page = Page(result._repr_html_())
    assert ["step", "fastaug", "torchvision"] in page.rows
    assert len(page.pictures) == 1 and result.verdict() in page.text
    assert is_png(result._repr_png_()) and result.figure().width > 500


def test_comparison() -> None:
    report = T.Compose([T.Resize(20), T.ToTensor()]).check(IMAGE, 2)
    assert repr(report) == str(report), "no raw dataclass"
    page = Page(report._repr_html_())
    assert page.text.startswith("equal") and "2 results, bit for bit" in page.text and not page.rows


def test_comparison_with_differences() -> None:
    transform = fastaug.compile(T.Compose([T.RandomRotation(20, T.InterpolationMode.BILINEAR), T.Resize(40)]), "fast")
    fast = transform.check(IMAGE, 1)
    page = Page(fast._repr_html_())
    assert page.rows[0] == ["image", "seed", "what differs", "kept"] and page.rows[1][3] == "yes"
    assert fast.differences[0].told() in page.rows[1][2]
    fast.differences[0].kept = False
    page = Page(fast._repr_html_())
    assert page.text.startswith("NOT equal") and page.rows[1][3] == "no"


def states() -> tuple[bytes, Any, bytes]:
    return bytes(torch.get_rng_state().tolist()), random.getstate(), np.random.get_state()[1].tobytes()  # noqa: NPY002


@pytest.mark.parametrize("module", [T, v2])
def test_a_pipeline_shows_what_it_makes_of_a_photograph(module: Any) -> None:
    with Image.open(fastaug.sample_file()) as opened:
        image = opened.copy()
    transform = module.Compose([module.RandomCrop(100), module.ColorJitter(0.4)])
    before = states()
    html = transform._repr_html_()
    assert states() == before
    page = Page(html)
    assert len(page.pictures) == 5 and all(page.text.count(f"result {k}\n") for k in range(1, 5))
    assert "The plan for a photograph: mode exact: PIL RGB 300x451 -> PIL RGB 100x100" in page.text
    assert ["1", "RandomCrop"] in [row[:2] for row in page.rows], "the plan"
    plan = transform.explain(image)
    assert str(plan).splitlines()[3].split()[2] in page.text, "what the next call draws"
    shown = Image.open(io.BytesIO(base64.b64decode(page.pictures[1].partition(",")[2])))
    expected = np.asarray(transform(image), np.float32)
    assert shown.format == "PNG" and np.array_equal(np.asarray(shown), expected), "the next call's result"


def test_a_pipeline_that_is_always_alike_shows_one_result() -> None:
    page = Page(T.Compose([T.Resize(16), T.ToTensor()])._repr_html_())
    assert len(page.pictures) == 2 and "every result" in page.text


def test_a_pipeline_of_tensors_or_files_gets_them() -> None:
    normalize = T.Normalize((0.5,) * 3, (0.5,) * 3, inplace=True)
    page = Page(T.Compose([normalize])._repr_html_())
    assert "tensor float32 3x300x451 -> tensor float32 3x300x451" in page.text
    assert "every result" in page.text, "what is written over is a copy"
    page = Page(T.Compose([T.ConvertImageDtype(torch.float)])._repr_html_())
    assert "tensor uint8 3x300x451 -> tensor float32" in page.text
    assert "JPEG RGB 300x451" in T.Compose([T.Decode(), T.RandomCrop(80)])._repr_html_()


def test_a_pipeline_that_cannot_take_the_photograph_says_why() -> None:
    page = Page(T.Compose([T.ToTensor(), T.ToTensor()])._repr_html_())
    assert not page.pictures and len(page.rows) == 4
    assert "Not tried on a photograph: TypeError: pic should be PIL Image or ndarray" in page.text
    page = Page(v2.Compose([v2.RandomIoUCrop()])._repr_html_())
    assert not page.pictures and "bounding boxes" in page.text


class Own:
    def __call__(self, image: Any) -> Any:
        raise AssertionError("a pipeline that is shown calls no user code")


class OwnCrop(T.RandomCrop):
    def forward(self, img: Any) -> Any:
        raise AssertionError("a pipeline that is shown calls no user code")


def hooked() -> Any:
    transform = T.RandomCrop(20)
    transform.register_forward_hook(lambda *arguments: Own()(None))
    return transform


@pytest.mark.parametrize(
    ("transform", "name"),
    [
        (darken, "darken"),
        (Own(), "Own"),
        (OwnCrop(20), "OwnCrop"),
        (T.Lambda(Own()), "Own"),
        (v2.Lambda(darken), "darken"),
        (functools.partial(darken), "partial of darken"),
        (T.RandomApply([torch.nn.Sequential(OwnCrop(20))]), "OwnCrop"),
        (v2.SanitizeBoundingBoxes(labels_getter=darken), "darken"),
        (hooked(), "a hook of RandomCrop"),
        (torch.nn.BatchNorm2d(3), "BatchNorm2d"),
    ],
    # An object's repr has its address, by which processes would name the items in different ways.
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_a_pipeline_that_is_shown_runs_no_user_code(transform: Any, name: str) -> None:
    for pipeline in (T.Compose([T.Resize(20), transform]), v2.Compose([transform])):
        page = Page(pipeline._repr_html_())
        assert not page.pictures and f"Not tried on a photograph: {name} is user code" in page.text


def test_a_generator_of_its_own_is_not_moved() -> None:
    generator = torch.Generator().manual_seed(3)
    compiled = fastaug.compile(TV.Compose([TV.RandomCrop(40)]), generator=generator)
    for pipeline in (compiled, T.Compose([compiled, T.RandomHorizontalFlip()])):
        before = generator.get_state()
        assert len(Page(pipeline._repr_html_()).pictures) == 5
        assert torch.equal(generator.get_state(), before)


def test_a_slow_pipeline_shows_fewer_results(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "_SECONDS", 0.0)
    page = Page(T.Compose([T.RandomCrop(40)])._repr_html_())
    assert len(page.pictures) == 2 and "result 1" in page.text


def test_a_failure_of_the_trial_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: Any) -> Any:
        raise OSError("no codec")

    monkeypatch.setattr(notebook, "_small", fail)
    page = Page(T.Compose([T.RandomCrop(40)])._repr_html_())
    assert "Not all can be shown: OSError: no codec" in page.text and len(page.rows) == 3


def test_a_transform_alone_is_not_tried() -> None:
    assert not Page(T.RandomCrop(40)._repr_html_()).pictures


@pytest.mark.parametrize("module", [T, v2])
def test_transforms(module: Any) -> None:
    transform = module.Compose([module.RandomApply([module.Pad(3)], p=0.25), T.Lambda(darken), darken], mode="fast")
    rows = Page(transform._repr_html_()).rows
    assert rows[1] == ["", "Compose: mode='fast'", "fastaug"]
    assert rows[2] == ["1", "RandomApply: p=0.25", "fastaug"]
    assert rows[3][0] == "1.1" and rows[3][1].startswith("Pad(padding=3") and rows[3][2] == "fastaug"
    assert rows[4][0] == "2" and rows[5] == ["3", "darken", darken.__module__.partition(".")[0]]


@pytest.mark.parametrize("name", ["ToTensor", "PILToTensor", "ToPILImage", "RandomHorizontalFlip"])
def test_a_transform_alone(name: str) -> None:
    for module in (T, v2):
        transform = getattr(module, name)() if name != "ToTensor" or module is T else T.ToTensor()
        (_, shown) = Page(transform._repr_html_()).rows
        assert shown[0] == " ".join(repr(transform).split())


def test_views_show_each_plan() -> None:
    views = fastaug.Views([usual(), T.Resize(20)])
    page = Page(views.explain(IMAGE)._repr_html_())
    assert "view 1: Compose" in page.text and "view 2: Resize" in page.text and len(page.pictures) == 2


def test_explain_of_torchvisions() -> None:
    chain = TV.Compose([TV.RandomResizedCrop(24), TV.RandomHorizontalFlip(), TV.ToTensor()])
    plan = fastaug.explain(chain, IMAGE, seed=4)
    assert str(plan) == str(fastaug.compile(chain).explain(IMAGE, seed=4))
    assert str(fastaug.explain(chain, IMAGE, seed=5)) != str(plan)
    assert len(plan.figure().tobytes()) > 0


def test_explain_of_a_pipeline_keeps_its_settings(tmp_path: Any) -> None:
    plan = fastaug.explain(usual(mode="fast"), (30, 40), plot=tmp_path / "plan.png", device="cuda")
    assert plan.mode == "fast" and plan.device is not None and (tmp_path / "plan.png").exists()
    with pytest.raises(TypeError, match="callable"):
        fastaug.explain([T.Resize(20)])  # type: ignore[arg-type]
