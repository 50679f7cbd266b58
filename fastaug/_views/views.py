"""Views: several transforms of one image in one call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import torch
from PIL import Image
from torch.utils._pytree import tree_map_only

from fastaug._draft.call import Call
from fastaug._draft.pipeline import blank
from fastaug._draft.tape import Recording, Replaying
from fastaug._image.lazy import LazyImage
from fastaug._inspect.methods import SeenPipeline
from fastaug._program import eager
from fastaug._sample.pipeline import is_size, sample_of
from fastaug._views.drawn import DrawnViews
from fastaug._views.program import Program, Value, ViewCall, built

if TYPE_CHECKING:
    import numpy as np

    from fastaug._batch.batch import Batch
    from fastaug._batch.slots import Slots
    from fastaug._views.seen import Parts


class Views(SeenPipeline):
    """Several transforms of one image in one call, as for DINO, SimCLR and TwoCrops.

    The result equals ``[transform(image) for transform in transforms]``, bit for bit, and the random generators end in
    the same state. For an encoded image, all parameters are drawn first, in order. Then one native call makes all
    pixels, and decodes the image once, as far as the views need it.

    Call it with an image that the transforms take, a handle of ``fastaug.io.lazy``, a path or encoded bytes. A
    ``Decode`` at the start of a view opens the last two, or else ``fastaug.io.lazy`` does. Your own callables get a PIL
    image. Transforms of v2 also take samples, such as ``(image, target)``, and several arguments, and each view is then
    such a sample. Each ``Compose`` keeps its mode and arithmetic.

    Args:
        transforms: a sequence of transforms or any callables, also with repetitions.

    Attributes:
        transforms: the same, as a tuple.

    Raises:
        TypeError: not a sequence, or not all callables.
        ValueError: an empty sequence.
        fastaug.DecodeError: when called, bytes that cannot be decoded.

    Example:
        >>> import fastaug, fastaug.transforms as T
        >>> from PIL import Image
        >>> crop = T.Compose([T.RandomResizedCrop(32), T.RandomHorizontalFlip(), T.ToTensor()])
        >>> views = fastaug.Views([crop, crop])
        >>> [view.shape for view in views(Image.new("RGB", (80, 60)))]
        [torch.Size([3, 32, 32]), torch.Size([3, 32, 32])]
    """

    #: Placeholder of a call's value in the result of :meth:`_of_calls`.
    Value = Value

    # Set by the constructors.
    calls: tuple[ViewCall, ...]
    result: Any

    def __init__(self, transforms: Sequence[Callable[..., Any]]) -> None:
        given: Any = transforms
        if isinstance(given, (str, bytes)) or not isinstance(given, (Sequence, torch.nn.ModuleList)):
            hint = "; for one view, pass a list of it" if callable(transforms) else ""
            raise TypeError(f"Argument transforms should be a sequence of callables, got {type(transforms)}{hint}")
        if not len(transforms):
            raise ValueError("Pass at least one transform: argument transforms is empty")
        for number, transform in enumerate(transforms):
            if not callable(transform):
                raise TypeError(f"Argument transforms should be callables, got {type(transform)} as number {number}")
        self._set(
            [(transform, 0, number) for number, transform in enumerate(transforms, 1)],
            [Value(number) for number in range(1, len(transforms) + 1)],
        )

    @classmethod
    def _of_calls(cls, calls: Sequence[ViewCall], result: Any) -> Views:
        """Build views of any calls, in the order in which they draw, and of a result with :class:`Value` placeholders.

        Raises:
            TypeError: a transform that is not callable.
            ValueError: a value that is used before it is made, or made twice.
        """
        made = cls.__new__(cls)
        made._set(calls, result)
        return made

    def _set(self, calls: Sequence[ViewCall], result: Any) -> None:
        self.calls = tuple((transform, source, value) for transform, source, value in calls)
        self.result = result
        self._plan()

    def _plan(self) -> None:
        self._program = Program(self.calls, self.result)

    @property
    def transforms(self) -> tuple[Any, ...]:  # type: ignore[override]
        return tuple([transform for transform, _, _ in self.calls])

    def __call__(self, image: Any, *others: Any) -> Any:
        if eager.traced():
            return self._one_by_one((image, *others))
        if not others and (values := self._in_turn(image)) is not None:
            return built(self.result, values)
        return self._done(DrawnViews(self._program, (image, *others), self._call))

    def _in_turn(self, image: Any) -> list[Any] | None:
        """Return the values of a call, of an image that is not encoded, or None.

        The core draws and drafts the calls, one after the other. That takes less time than one common call, after
        drafts of Python's. But it would decode an image several times.
        """
        here = isinstance(image, Image.Image) or (isinstance(image, torch.Tensor) and image.device.type == "cpu")
        chains = self._program.chains() if here else None
        if chains is None:
            return None
        values = [image] + [None] * (self._program.count - 1)
        for chain in chains:
            values[chain.value] = chain.pipeline(values[chain.source])
        return values

    def _one_by_one(self, inputs: tuple[Any, ...]) -> Any:
        """Run a loop over the calls, which torch can trace."""
        values: list[Any] = [None] * self._program.count
        values[0] = inputs if len(inputs) > 1 else inputs[0]
        for transform, source, value in self.calls:
            values[value] = transform(*inputs) if source == 0 else transform(values[source])
        return built(self.result, values)

    def _seen(self, pipeline: Any) -> Any:
        """Return one of its pipelines, with the draws that it has here."""
        return pipeline

    def _is_plain(self) -> bool:
        return False

    def _drafted(self, image: Any, call: Call) -> DrawnViews:
        return DrawnViews(self._program, (image,), call)

    _begin = _drafted

    def _draft_all(self, draft: Any) -> None:
        draft.draw()

    def _delivered(self, draft: Any) -> Any:
        draft.finish()
        return built(self.result, draft.values)

    def _job(self, draft: Any) -> Any:
        return draft.jobs()

    def _presented(self, drawn: Any, result: Any) -> Any:
        drawn.put(result)
        return built(self.result, drawn.values)

    def _batch_of(self, call: Call, count: int, slots: Any) -> Batch:
        from fastaug._views.batch import ViewsBatch

        return ViewsBatch(self, call, count, slots)

    def _slots_of(self, out: Any, count: int, device: torch.device | None) -> Slots:
        from fastaug._views.batch import SlotGroup

        return SlotGroup.of_user(self._program.outputs, self.result, out, count, device)

    def _handle(self, source: Any) -> LazyImage:
        if len(self._program.decoders) > 1:
            from fastaug._views.batch import Unopened

            return Unopened(source)  # type: ignore[return-value]
        return self._program.opened(source)[0]

    def batch(  # type: ignore[override]
        self,
        images: Any,
        out: Sequence[torch.Tensor | np.ndarray] | None = None,
        num_threads: int | None = None,
        seeds: Sequence[int] | None = None,
        device: str | torch.device | None = None,
    ) -> Any:
        """Return the views of many images, as one tensor for each view.

        The result equals ``[views(image) for image in images]`` after collation, with the draws of that loop. Several
        images are processed at a time, each by one thread.

        Args:
            images, num_threads, seeds: as for :meth:`fastaug.transforms.Compose.batch`.
            out: memory for the batch of each view, in the order of the result: [N, ...] of its shape and dtype. After
                an error its content is undefined.
            device: device of the results. Images on the host are processed on the CPU, and the views copied. Images on
                a device are processed there, one by one.

        Returns:
            A list with one tensor for each view, or a list of results if they are not tensors of one shape and dtype.

        Raises:
            Exception: from the first image that fails, with the number of that image as ``index``.
            TypeError, ValueError: as ``Compose.batch``; or ``out`` does not have one entry for each view.

        Example:
            >>> import fastaug, fastaug.transforms as T
            >>> from PIL import Image
            >>> crop = T.Compose([T.RandomResizedCrop(32), T.ToTensor()])
            >>> first, second = fastaug.Views([crop, crop]).batch([Image.new("RGB", (80, 60))] * 5)
            >>> first.shape
            torch.Size([5, 3, 32, 32])
        """
        from fastaug._views import batch

        return batch.run(self, images, out, num_threads, seeds, device)

    def sample(self, size: Any) -> Any:
        """Draw the parameters of all views of one image, as a call does, without making pixels.

        Args:
            size: as for :meth:`fastaug.transforms.Compose.sample`, (height, width), an int, or an image.

        Returns:
            A list for :meth:`replay`, with the parameters of each transform as its own ``sample`` returns them.

        Example:
            >>> import fastaug, fastaug.transforms as T
            >>> views = fastaug.Views([T.RandomHorizontalFlip(p=1.0), T.RandomVerticalFlip(p=0.0)])
            >>> [len(params) for params in views.sample((60, 80))]
            [1, 1]
        """
        tapes = [Recording(strict=True) for _ in self._program.steps]
        given = tree_map_only(torch.Tensor, lambda leaf: leaf.clone(), self._image_of(size))
        drawn = DrawnViews(self._program, (given,), self._call, tapes)
        try:
            self._draft_all(drawn)
        finally:
            self._call.draws.release()
        return [tape.entries for tape in tapes]

    def _image_of(self, size: Any) -> Any:
        """Return a black image of a size for the first view, or the image that was given."""
        first = self._program.steps[0]
        return sample_of(size) if first.sampled or not is_size(size) else blank(first.pipeline.transforms, size)

    def replay(self, image: Any, params: Any, subset: bool = False) -> Any:
        """Return the views of an image with parameters from :meth:`sample`, and draw nothing.

        Args:
            image: as for a call with one argument, of any size that the parameters fit.
            params: the list from :meth:`sample`, unchanged or edited.
            subset: as for :meth:`fastaug.transforms.Compose.replay`, for each view; not for transforms of v2.

        Raises:
            TypeError: ``params`` is not a list of lists of dictionaries.
            ValueError: ``params`` is from other views.

        Example:
            >>> import fastaug, fastaug.transforms as T
            >>> from PIL import Image
            >>> views = fastaug.Views([T.RandomCrop(24), T.RandomCrop(32)])
            >>> [view.size for view in views.replay(Image.new("RGB", (80, 60)), views.sample((60, 80)))]
            [(24, 24), (32, 32)]
        """
        steps = self._program.steps
        if isinstance(params, (str, bytes, dict)) or not isinstance(params, Sequence):
            raise TypeError(f"params should be a list with the parameters of each view, got {type(params)}")
        if len(params) != len(steps):
            raise ValueError(f"params should be those of {len(steps)} transforms, got those of {len(params)}")
        if subset and any(step.sampled for step in steps):
            raise ValueError("subset is of pipelines of single images: a sample is transformed as a whole")
        tapes = [Replaying(own, subset, strict=True) for own in params]
        result = self._done(DrawnViews(self._program, (image,), self._call, tapes))
        for tape in tapes:
            tape.end()
        return result

    def explain(  # type: ignore[override]
        self, image_or_size: Any = None, plot: Any = None, seed: int | None = None, device: Any = None
    ) -> Parts:
        """Return the plan of each view of an image, as its own ``explain`` does, with its draws in a call.

        The arguments are those of :meth:`fastaug.transforms.Compose.explain`, without ``plot``. The result prints as
        one table for each of its ``parts``, the views; ``views.explain(image).parts[0].plot(path)`` draws one.

        Raises:
            ValueError: another device, or a ``plot``.
        """
        from fastaug._views import seen

        return seen.explain(self, image_or_size, plot, seed, device)

    def profile(self, images: Any, repeat: int = 5, plot: Any = None, seed: int = 0) -> Parts:  # type: ignore[override]
        """Time each view alone, as its own ``profile`` does, without the savings of one call.

        The arguments are those of :meth:`fastaug.transforms.Compose.profile`, without ``plot``. The result prints as
        one table for each of its ``parts``, the views.

        Raises:
            ValueError: a ``plot``; no images, or ``repeat`` below 1.
        """
        from fastaug._views import seen

        return seen.profile(self, images, repeat, plot, seed)

    def check(self, images: Any, seeds: int | Iterable[int] = range(10)) -> Parts:  # type: ignore[override]
        """Compare each view with torchvision on your own images, as its own ``check`` does.

        The arguments are those of :meth:`fastaug.transforms.Compose.check`. The result is true if all of its ``parts``
        are, the results for each view, and prints them.

        Raises:
            ValueError: no images, or no seeds.
        """
        from fastaug._views import seen

        return seen.check(self, images, seeds)

    def show(self, images: Any, n: int = 16, seed: int | None = None) -> Image.Image:
        """Return a sheet with the views of ``n`` calls, one row for each with its image.

        The arguments are those of :meth:`fastaug.transforms.Compose.show`.

        Raises:
            ValueError: no images, or ``n`` below 1.
        """
        from fastaug._views import seen

        return seen.show(self, images, n, seed)

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        state.pop("_program", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._plan()

    def __repr__(self) -> str:
        plain = [(transform, 0, number) for number, transform in enumerate(self.transforms, 1)]
        if [*self.calls] == plain and self.result == [Value(number) for _, _, number in plain]:
            lines = [repr(transform) for transform in self.transforms]
        else:
            lines = [f"Value({value}) = {transform!r} of Value({source})" for transform, source, value in self.calls]
            lines.append(f"result = {self.result!r}")
        inner = "".join("\n    " + line.replace("\n", "\n    ") for line in lines)
        return f"Views({inner}\n)"


# The public names by which they pickle.
Views.__module__ = Value.__module__ = "fastaug"
Value.__qualname__ = "Views.Value"
