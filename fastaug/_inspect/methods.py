"""Ways to look into a pipeline, as methods of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from fastaug._batch.methods import BatchPipeline

if TYPE_CHECKING:
    from PIL import Image

    from fastaug._inspect.check import Comparison
    from fastaug._inspect.explain import Explanation
    from fastaug._inspect.profile import Profile


class Shown:
    """What a notebook shows as a table."""

    def _repr_html_(self) -> str:
        from fastaug._inspect import notebook

        return notebook.pipeline(self)


class SeenPipeline(Shown, BatchPipeline):
    """A pipeline that can be looked into. What that takes is imported when it is wanted."""

    def _repr_html_(self) -> str:
        from fastaug._inspect import notebook, trial

        return notebook.tried(self, trial.trial(self))

    def explain(
        self, image_or_size: Any = None, plot: Any = None, seed: int | None = None, device: Any = None
    ) -> Explanation:
        """The plan for an image: the transforms, the passes over pixels that they become, and what keeps them apart.

        Args:
            image_or_size: an image, or (height, width).
            plot: path of a picture of the plan to write.
            seed: of the draws; by default they are those of the next call.
            device: "cuda", to be told what :meth:`batch` would leave to the CPU there, and why; there need not be one.

        Returns:
            An object that prints as a table.

        Raises:
            ValueError: another device.
        """
        from fastaug._inspect import explain

        return explain.explain(self, image_or_size, plot, seed, device)

    def profile(self, images: Any, repeat: int = 5, plot: Any = None, seed: int = 0) -> Profile:
        """Where the time goes: for each pass and each transform, beside torchvision's where that is installed.

        What is measured is the processor time of this thread: other processes make no call longer.

        Args:
            images: an image, or several.
            repeat: how often each image is timed, each time with other draws.
            plot: path of a bar chart to write.
            seed: of the draws.

        Returns:
            An object that prints as a table and draws itself as a chart.
        """
        from fastaug._inspect import profile

        return profile.profile(self, images, repeat, plot, seed)

    def check(self, images: Any, seeds: int | Iterable[int] = range(10)) -> Comparison:
        """Compares with torchvision on your own images; where that is not installed, with fastaug op by op.

        Args:
            images: an image, or several.
            seeds: of the random generators; an int for the first so many.

        Returns:
            An object that is true if every call gave a result equal to torchvision's, or in fast mode one within its
            contract; and that prints where, and by how much, it is not so, and what calls raised.
        """
        from fastaug._inspect import check

        return check.check(self, images, seeds)

    def show(self, images: Any, n: int = 16, seed: int | None = None) -> Image.Image:
        """A sheet of ``n`` results, to see what the transforms do.

        Args:
            images: an image, or several to take turns.
            n: number of results.
            seed: of the draws; by default they are those of the next calls.
        """
        from fastaug._inspect import show

        return show.show(self, images, n, seed)
