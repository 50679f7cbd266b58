"""Ways to look into a pipeline of samples, as methods of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from fastaug._inspect.methods import SeenPipeline
from fastaug._sample.pipeline import SamplePipeline

if TYPE_CHECKING:
    from PIL import Image

    from fastaug._inspect.check import Comparison
    from fastaug._inspect.profile import Profile
    from fastaug._inspect.sample_explanation import SampleExplanation


class SeenSamples(SamplePipeline, SeenPipeline):
    """A pipeline of samples that can be looked into. What that takes is imported when it is wanted."""

    def explain(
        self, sample_or_size: Any = None, plot: Any = None, seed: int | None = None, device: Any = None
    ) -> SampleExplanation:
        """The plan for a sample: the transforms, what they draw, and the passes over the pixels of each of its leaves.

        Args:
            sample_or_size: a sample, as a call takes it in one argument; or (height, width), or an int for a square, of
                a black RGB image.
            plot: path of a picture of the plan to write.
            seed: of the draws; by default they are those of the next call.
            device: "cuda", to be told what :meth:`batch` would leave to the CPU there, and why; there need not be one.

        Returns:
            An object that prints as tables, leaf by leaf; for an image alone as for pipelines of images.

        Raises:
            ValueError: another device.

        Example:
            >>> import torch
            >>> from fastaug.transforms import v2
            >>> sample = {"image": torch.zeros(3, 60, 80, dtype=torch.uint8), "label": 3}
            >>> plan = v2.Compose([v2.Resize(30), v2.CenterCrop(24)]).explain(sample)
            >>> [step["changed"] for step in plan.steps]
            [["['image']"], ["['image']"]]
        """
        from fastaug._inspect import explain
        from fastaug._inspect.sample_explanation import SampleExplanation

        explanation = explain.explain(self, sample_or_size, plot, seed, device)
        assert isinstance(explanation, SampleExplanation)
        return explanation

    def profile(self, samples: Any, repeat: int = 5, plot: Any = None, seed: int = 0) -> Profile:
        """Where the time goes: for each pass over a leaf and each transform, beside torchvision's if that is installed.

        What is measured is the processor time of this thread: other processes make no call longer.

        Args:
            samples: a sample, as a call takes it in one argument; a list is several samples.
            repeat: how often each sample is timed, each time with other draws.
            plot: path of a bar chart to write.
            seed: of the draws.

        Returns:
            An object that prints as a table and draws itself as a chart.

        Raises:
            ValueError: no samples, or ``repeat`` below 1.
        """
        return super().profile(samples, repeat, plot, seed)

    def check(self, samples: Any, seeds: int | Iterable[int] = range(10)) -> Comparison:
        """Compares with torchvision on your own samples; where that is not installed, with fastaug op by op.

        Every leaf is compared: its type, dtype, shape and values, and the format, canvas and clamping mode of boxes and
        points. A subclass of ``v2.Transform`` of your own is the same object on both sides.

        Args:
            samples: a sample, as a call takes it in one argument; a list is several samples.
            seeds: of the random generators; an int for the first so many.

        Returns:
            An object that is true if every call gave a result equal to torchvision's, or in fast mode one whose images
            are within its contract; and that prints where, and by how much, it is not so, and what calls raised.

        Raises:
            ValueError: no samples, or no seeds.
        """
        return super().check(samples, seeds)

    def show(self, samples: Any, n: int = 16, seed: int | None = None) -> Image.Image:
        """A sheet of ``n`` results: images with their boxes, masks and key points, and videos' first frames.

        Args:
            samples: a sample, as a call takes it in one argument; a list is several samples, which take turns.
            n: number of results.
            seed: of the draws; by default they are those of the next calls.

        Raises:
            ValueError: no samples, or ``n`` below 1.
        """
        return super().show(samples, n, seed)
