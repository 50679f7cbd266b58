"""The base of transforms that consist of a draw and of functions of images."""

from __future__ import annotations

from typing import Any

from fastaug._draft.draft import Draft
from fastaug._draft.replaced import called, functions


class Drawn:
    """Base of your own transforms that become part of fastaug's one pass over the image.

    A subclass draws in :meth:`draw` and applies the draw in :meth:`apply`, by functions of
    ``fastaug.transforms.functional`` and ``fastaug.pillow``. These get an image in progress, which has a size but no
    pixels yet, append their operation to it, and return it. The transform is called with an image, like any other, and
    works in a ``Compose``, with batches, devices, ``explain`` and the rest. A reader given to :func:`fastaug.register`
    may return it instead of another library's transform.

    An image in progress has the attributes ``width``, ``height``, ``channels``, ``mode`` (Pillow's; None for tensors
    and arrays), ``is_pil`` and ``is_tensor``.

    Raises:
        TypeError: when called, if :meth:`apply` returns neither its image nor a new one.

    Example:
        >>> import random
        >>> import fastaug
        >>> import fastaug.transforms.functional as F
        >>> from PIL import Image
        >>> class Dimmed(fastaug.Drawn):
        ...     def draw(self, image):
        ...         return random.uniform(0.5, 1.0)
        ...
        ...     def apply(self, image, factor):
        ...         return F.adjust_brightness(image, factor)
        >>> image = Image.new("L", (8, 6), 100)
        >>> random.seed(0)
        >>> Dimmed()(image).getpixel((0, 0))
        92
    """

    #: The names of the drawn parameters; none for a transform that draws nothing.
    _drawn: tuple[str, ...] = ("params",)

    def draw(self, image: Any) -> Any:
        """Return the parameters for an image; by default None.

        It may draw from the global generators of torch, Python and NumPy. It should return numbers, strings, and lists
        and tuples of them, which ``sample`` and ``replay`` keep.

        Args:
            image: an image in progress, without pixels.
        """

    def apply(self, image: Any, params: Any) -> Any:
        """Apply parameters to the image, without draws.

        Args:
            image: an image in progress, for functions to change; or an image, if user code has replaced a function of
                ``fastaug.transforms.functional``.
            params: the result of :meth:`draw`, for this image or for another one.

        Returns:
            The result of the last function, or ``image`` itself without a change.

        Raises:
            NotImplementedError: a subclass without it.
        """
        raise NotImplementedError(f"{type(self).__name__} has no apply(image, params)")

    def __call__(self, img: Any) -> Any:
        return called(self, img)

    def _sample(self, draft: Draft) -> Any:
        draft.call.draws.release()
        return self.draw(draft)

    def _draft(self, draft: Draft, params: Any) -> None:
        image: Any = draft.flush() if functions else draft
        result = self.apply(image, params)
        if result is draft:
            return
        if result is None or isinstance(result, Draft):
            raise TypeError(
                f"apply of {type(self).__name__} should return the image that it was given, or a new one. Got "
                f"{'another image in progress' if result is not None else None}"
            )
        draft.reset(result)

    def __repr__(self) -> str:
        settings = ", ".join(f"{name}={value!r}" for name, value in vars(self).items() if not name.startswith("_"))
        return f"{type(self).__name__}({settings})"


# Its public name, by which it pickles.
Drawn.__module__ = "fastaug"
