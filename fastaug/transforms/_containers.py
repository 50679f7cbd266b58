"""Transforms made of transforms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from fastaug._draft import recipe
from fastaug._draft.draft import Draft
from fastaug._draft.draws import chosen, python_random, shuffled
from fastaug._draft.pipeline import Pipeline, checked_settings
from fastaug._draft.replaced import called
from fastaug._draft.through import draft_through
from fastaug._inspect.methods import SeenPipeline, Shown
from fastaug.transforms._base import Transform, happens, lines

__all__ = ["Compose", "Lambda", "RandomApply", "RandomChoice", "RandomOrder"]


class Compose(SeenPipeline):
    """Transforms, one after the other, as one pass over the image.

    Transforms between two callables of user code become one native call. Such a callable gets the image so far.

    Args:
        transforms: list of transforms, or of any callables that take an image and return one.
        mode: "exact" for torchvision's pixels, bit for bit; or "fast", which may resample a chain of geometry once, and
            keeps floating point between steps. Inside another Compose, that one's mode applies.
        arithmetic: of uint8 tensors: "container" for torchvision's, or "pil" for Pillow's, for models that were trained
            on PIL images. Shapes, errors, the rule of NEAREST and floats stay the tensor's. Inside another Compose,
            that one's arithmetic applies.

    Raises:
        TypeError: transforms as several arguments; when called, more than an image.
        ValueError: another ``mode`` or ``arithmetic``.

    Example:
        >>> import fastaug.transforms as T
        >>> from PIL import Image
        >>> transform = T.Compose([T.Resize(32), T.CenterCrop(24), T.ToTensor()])
        >>> transform(Image.new("RGB", (80, 60))).shape
        torch.Size([3, 24, 24])
    """

    def __init__(
        self,
        transforms: Sequence[Callable[[Any], Any]],
        mode: Literal["exact", "fast"] = "exact",
        arithmetic: Literal["container", "pil"] = "container",
    ) -> None:
        checked_settings(type(self).__name__, mode, arithmetic)
        self.transforms = transforms
        if mode != "exact":
            self.mode = mode
        if arithmetic != "container":
            self.arithmetic = arithmetic

    def _then(self, other: Pipeline) -> Pipeline | None:
        # The transforms themselves may change.
        return Compose([self, other], self.mode, self.arithmetic) if type(self) is type(other) is Compose else None

    def _draft(self, draft: Draft, params: None) -> None:
        self._draft_all(draft)

    def _packed(self) -> recipe.Packed:
        return "Group", None, recipe.several(self.transforms), False

    def __repr__(self) -> str:
        settings = "".join(f"\n    {setting}" for setting in self._settings())
        return f"{type(self).__name__}({settings}{lines(self.transforms)}\n)"


class Lambda(Shown):
    """A function of user code as a transform.

    Args:
        lambd: function of an image.

    Raises:
        TypeError: not callable.

    Example:
        >>> import fastaug.transforms as T
        >>> T.Lambda(lambda image: image + 1)(1)
        2
    """

    def __init__(self, lambd: Callable[[Any], Any]) -> None:
        if not callable(lambd):
            raise TypeError(f"Argument lambd should be callable, got {type(lambd).__name__!r}")
        self.lambd = lambd

    def __call__(self, img: Any) -> Any:
        return self.lambd(img)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class RandomApply(Transform):
    """All of the transforms with probability ``p``, else none.

    Draws one number from torch's generator.

    Args:
        transforms: list of transforms, or an ``nn.ModuleList``.

    Example:
        >>> import fastaug.transforms as T
        >>> from PIL import Image
        >>> T.RandomApply([T.Resize(8)], p=1.0)(Image.new("RGB", (80, 60))).size
        (10, 8)
    """

    _drawn = ("applied",)

    def __init__(self, transforms: Any, p: float = 0.5) -> None:
        super().__init__()
        self.transforms = transforms
        self.p = p

    if TYPE_CHECKING:

        def __call__(self, img: Any) -> Any: ...

    def _sample(self, draft: Draft) -> bool:
        return happens(draft.call.draws, self.p, or_equal=True)

    def _draft(self, draft: Draft, params: bool) -> None:
        if params:
            draft_through(self.transforms, draft)

    def _packed(self) -> recipe.Packed:
        return "Group", recipe.chance(self.p), recipe.several(self.transforms), True

    def __repr__(self) -> str:
        return f"{type(self).__name__}(\n    p={self.p}{lines(self.transforms)}\n)"


class RandomTransforms(Shown):
    """The base of transforms that choose among others by Python's ``random``."""

    def __init__(self, transforms: Sequence[Callable[..., Any]]) -> None:
        if not isinstance(transforms, Sequence):
            raise TypeError(f"Argument transforms should be a sequence, got {type(transforms).__name__!r}")
        self.transforms = transforms

    def __repr__(self) -> str:
        return f"{type(self).__name__}({lines(self.transforms)}\n)"


class RandomOrder(RandomTransforms):
    """All of the transforms, in random order. Draws from Python's ``random``, as torchvision does.

    Args:
        transforms: sequence of transforms.

    Raises:
        TypeError: not a sequence.

    Example:
        >>> import fastaug.transforms as T
        >>> from PIL import Image
        >>> T.RandomOrder([T.Pad(1), T.RandomHorizontalFlip()])(Image.new("L", (8, 6))).size
        (10, 8)
    """

    _drawn = ("order",)

    def __call__(self, img: Any) -> Any:
        return called(self, img)

    def _sample(self, draft: Draft) -> list[int]:
        return shuffled(len(self.transforms))

    def _draft(self, draft: Draft, params: Sequence[int]) -> None:
        draft_through([self.transforms[index] for index in params], draft)

    def _packed(self) -> recipe.Packed:
        return "ShuffledByPython", recipe.several(self.transforms)


class RandomChoice(RandomTransforms):
    """One of the transforms, chosen by Python's ``random``, as torchvision does.

    Args:
        transforms: sequence of transforms.
        p: weights; all alike by default.

    Raises:
        TypeError: ``transforms`` or ``p`` is not a sequence.

    Example:
        >>> import fastaug.transforms as T
        >>> from PIL import Image
        >>> T.RandomChoice([T.Pad(1), T.Pad((1, 1))])(Image.new("L", (8, 6))).size
        (10, 8)
    """

    _drawn = ("choice",)

    def __init__(self, transforms: Sequence[Callable[..., Any]], p: Sequence[float] | None = None) -> None:
        super().__init__(transforms)
        if p is not None and not isinstance(p, Sequence):
            raise TypeError(f"Argument p should be a sequence, got {type(p).__name__!r}")
        self.p = p

    def __call__(self, *args: Any) -> Any:
        return python_random().choices(self.transforms, weights=self.p)[0](*args)

    def _sample(self, draft: Draft) -> int:
        return chosen(len(self.transforms), self.p)

    def _draft(self, draft: Draft, params: int) -> None:
        draft_through((self.transforms[params],), draft)

    def _packed(self) -> recipe.Packed:
        weights = () if self.p is None else recipe.weights(self.p, len(self.transforms))
        return "ChosenByPython", weights, recipe.several(self.transforms)

    def __repr__(self) -> str:
        return f"{super().__repr__()}(p={self.p})"
