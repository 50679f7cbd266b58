"""Ways to look into a pipeline, as methods of it. Each imports what it takes when it is called."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from fastaug._batch.methods import BatchPipeline

if TYPE_CHECKING:
    from PIL import Image

    from fastaug._inspect.check import Comparison
    from fastaug._inspect.explanation import Explanation, SampleExplanation
    from fastaug._inspect.profile import Profile


class Shown:
    """A transform that a notebook shows as a table."""

    def _repr_html_(self) -> str:
        from fastaug._inspect import notebook

        return notebook.pipeline(self)


class SeenPipeline(Shown, BatchPipeline):
    """A pipeline of images with methods to look into it."""

    def _repr_html_(self) -> str:
        from fastaug._inspect import notebook, trial

        return notebook.tried(self, trial.trial(self))

    def explain(
        self, image_or_size: Any = None, plot: Any = None, seed: int | None = None, device: Any = None
    ) -> Explanation:
        """Explain what happens to an image: the transforms, the passes that they become, and what keeps them apart.

        Args:
            image_or_size: an image, or (height, width).
            plot: path of a picture of the plan to write.
            seed: of the draws; by default they are those of the next call.
            device: "cuda" to learn what :meth:`batch` would leave to the CPU there, and why; there need not be one.

        Returns:
            An object that prints as a table.

        Raises:
            ValueError: another device.
        """
        from fastaug._inspect import explain

        return explain.explain(self, image_or_size, plot, seed, device)

    def profile(self, images: Any, repeat: int = 5, plot: Any = None, seed: int = 0) -> Profile:
        """Measure the time of each pass and each transform, beside torchvision's if that is installed.

        It is the processor time of this thread: other processes make no call longer.

        Args:
            images: an image, or several.
            repeat: how often each image is timed, each time with other draws.
            plot: path of a bar chart to write.
            seed: of the draws.

        Returns:
            An object that prints as a table and draws itself as a chart.

        Raises:
            ValueError: no images, or ``repeat`` below 1.
        """
        from fastaug._inspect import profile

        return profile.profile(self, images, repeat, plot, seed)

    def check(self, images: Any, seeds: int | Iterable[int] = range(10)) -> Comparison:
        """Compare with torchvision on your own images; if it is not installed, with fastaug op by op.

        Args:
            images: an image, or several.
            seeds: of the random generators; an int for the first so many.

        Returns:
            An object that is true if every result equals torchvision's, or in fast mode is within its contract. It
            prints where, and by how much, results differ, and what calls raised.

        Raises:
            ValueError: no images, or no seeds.
        """
        from fastaug._inspect import check

        return check.check(self, images, seeds)

    def show(self, images: Any, n: int = 16, seed: int | None = None) -> Image.Image:
        """Draw a sheet of ``n`` results, to see what the transforms do.

        Args:
            images: an image, or several, which take turns.
            n: number of results.
            seed: of the draws; by default they are those of the next calls.

        Raises:
            ValueError: no images, or ``n`` below 1.
        """
        from fastaug._inspect import show

        return show.show(self, images, n, seed)


class SeenSamples(SeenPipeline):
    """A pipeline of samples with methods to look into it."""

    def explain(
        self, sample_or_size: Any = None, plot: Any = None, seed: int | None = None, device: Any = None
    ) -> SampleExplanation:
        """Explain what happens to a sample: the transforms, what they draw, and the passes over each of its leaves.

        Args:
            sample_or_size: a sample, as a call takes it in one argument; or (height, width), or an int for a square, of
                a black RGB image.
            plot, seed, device: as for :meth:`fastaug.transforms.Compose.explain`.

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
        explanation: Any = super().explain(sample_or_size, plot, seed, device)
        return explanation  # type: ignore[no-any-return]

    def profile(self, samples: Any, repeat: int = 5, plot: Any = None, seed: int = 0) -> Profile:
        """Measure the time of each pass over a leaf and each transform, beside torchvision's if that is installed.

        Args:
            samples: a sample, as a call takes it in one argument; a list is several samples.
            repeat, plot, seed: as for :meth:`fastaug.transforms.Compose.profile`, whose result this has.

        Raises:
            ValueError: no samples, or ``repeat`` below 1.
        """
        return super().profile(samples, repeat, plot, seed)

    def check(self, samples: Any, seeds: int | Iterable[int] = range(10)) -> Comparison:
        """Compare with torchvision on your own samples; if it is not installed, with fastaug op by op.

        Of every leaf the type, dtype, shape and values are compared; of boxes and points also the format, canvas and
        clamping mode. A subclass of ``v2.Transform`` of your own is the same object on both sides.

        Args:
            samples: a sample, as a call takes it in one argument; a list is several samples.
            seeds: as for :meth:`fastaug.transforms.Compose.check`, whose result this has.

        Raises:
            ValueError: no samples, or no seeds.
        """
        return super().check(samples, seeds)

    def show(self, samples: Any, n: int = 16, seed: int | None = None) -> Image.Image:
        """Draw a sheet of ``n`` results: images with their boxes, masks and key points, and videos' first frames.

        Args:
            samples: a sample, as a call takes it in one argument; a list is several samples, which take turns.
            n, seed: as for :meth:`fastaug.transforms.Compose.show`.

        Raises:
            ValueError: no samples, or ``n`` below 1.
        """
        return super().show(samples, n, seed)
