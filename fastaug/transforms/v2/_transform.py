"""The base of all transforms of v2, and how they change samples."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, overload

import PIL.Image
import torch
from torch import nn
from torch.utils._pytree import tree_flatten, tree_unflatten

from fastaug._draft import written
from fastaug._draft.draws import DEFAULT
from fastaug._draft.through import step_of
from fastaug._draft.written import global_hooks, global_pre_hooks
from fastaug._inspect.methods import Shown
from fastaug._names import is_ours
from fastaug._program.eager import compiling
from fastaug._sample.sample import Sample
from fastaug._tv_tensors.choice import loaded
from fastaug.transforms._base import happens
from fastaug.transforms.v2._utils import check_type, draws_of, tv_named, tv_types, type_of
from fastaug.transforms.v2.functional._utils import _get_kernel, is_pure_tensor

__all__ = ["Transform"]

_Sample = TypeVar("_Sample")

# For each class of transforms, the check that an object is as its class was written. None for a class of user code.
_checks: dict[type, Callable[[Any], bool] | None] = {}

# The number of plans that a class keeps. Samples of one pipeline are mostly of the same types.
_MOST_PLANS = 1000


def getattr_of(cls: type, name: str) -> Any:
    """Return a class attribute as it is written, without descriptors."""
    return next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)


class Transform(Shown, nn.Module):
    """The base of transforms of samples: anything nested of images, videos, masks, boxes, points and other objects.

    Your own transforms override :meth:`transform`, and :meth:`make_params` if they draw.

    Raises:
        NotImplementedError: when called, by a subclass that does not override :meth:`transform`.

    Example:
        >>> import torch
        >>> from fastaug.transforms import v2
        >>> class Brighter(v2.Transform):
        ...     def transform(self, inpt, params):
        ...         return self._call_kernel(v2.functional.adjust_brightness, inpt, 2.0)
        >>> Brighter()({"image": torch.ones(1, 1, 2, dtype=torch.uint8), "label": "cat"})
        {'image': tensor([[[2, 2]]], dtype=torch.uint8), 'label': 'cat'}
    """

    #: The types of leaves that change, or predicates. Others stay as they are.
    _transformed_types: Any = (torch.Tensor, PIL.Image.Image)

    #: The class of ``fastaug.transforms`` that does the same to single images; None if there is none.
    _v1_transform_cls: type[nn.Module] | None = None

    #: Whether `make_params` draws.
    _draws = False

    #: Whether leaves may change their types.
    _retypes = False

    #: Whether it draws nothing and leaves the pixels of images as they are.
    _spares_images = False

    #: Whether each leaf is one call of a functional, which drafts as well for a leaf without others.
    _by_functional = False

    #: Compose, a transform itself, whose module sets this.
    _pipeline_of: ClassVar[type[Any]]

    # The leaves that change, by the types of all leaves. These alone decide, here and in `check_inputs`.
    _plans: ClassVar[dict[tuple[type, ...], list[int]]] = {}

    def __init__(self) -> None:
        super().__init__()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._plans = {}
        if "make_params" in vars(cls):
            cls._draws = True
        if cls._v1_transform_cls is not None and hasattr(cls._v1_transform_cls, "get_params"):
            cls.get_params = staticmethod(cls._v1_transform_cls.get_params)  # type: ignore[attr-defined]
        if is_ours(cls):
            written.note(cls)

    def check_inputs(self, flat_inputs: list[Any]) -> None:
        """Raise an error if the transform cannot be applied to a sample of these leaves."""

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """Draw the parameters for all leaves that change."""
        return {}

    def _call_kernel(self, functional: Callable[..., Any], inpt: Any, *args: Any, **kwargs: Any) -> Any:
        """Return the result of a functional for a leaf, or the leaf itself if there is no kernel for its type."""
        kernel = _get_kernel(functional, type(inpt), allow_passthrough=True)
        return kernel(inpt, *args, **kwargs)

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """Return one leaf, transformed by what :meth:`make_params` returned."""
        raise NotImplementedError(f"{type(self).__name__} does not override transform")

    def forward(self, *inputs: Any) -> Any:
        """Return the sample with all leaves transformed. Several arguments are a tuple."""
        if reads_drafts(self):
            return self._alone(inputs[0]) if self._is_alone(inputs) else self._called_with(inputs)
        flat_inputs, spec = tree_flatten(inputs if len(inputs) > 1 else inputs[0])
        self.check_inputs(flat_inputs)
        return self._transformed(flat_inputs, spec)

    def _is_alone(self, inputs: tuple[Any, ...]) -> bool:
        """Return whether a sample is a leaf that a functional takes, which is less work than a sample of drafts."""
        if not self._by_functional or len(inputs) != 1:
            return False
        return isinstance(inputs[0], torch.Tensor) or type(inputs[0]) is PIL.Image.Image

    def _called_with(self, inputs: tuple[Any, ...]) -> Any:
        """Return the result of a call, of the core if a pipeline of this transform alone is its to do."""
        unpacked = len(inputs) != 1
        given = inputs if unpacked else inputs[0]
        if type(given) in (tuple, list, dict):
            pipeline = vars(self).get("_fastaug_pipeline")
            if pipeline is None:
                self._begin_pipeline()
            elif (result := pipeline._at_once(given, unpacked)) is not NotImplemented:
                return result
        return run(self._take, inputs)

    def _begin_pipeline(self) -> None:
        """Make the pipeline for the next calls, unless this is the first one, which may be the only one."""
        # Not by nn.Module, of which it would be a child, and by a name that is no user's.
        vars(self)["_fastaug_pipeline"] = self._pipeline_of([self]) if "_fastaug_pipeline" in vars(self) else None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_fastaug_pipeline"}

    def _alone(self, leaf: Any) -> Any:
        """Return the only leaf of a sample, transformed."""
        self.check_inputs([leaf])
        return self._changed_alone(leaf)

    def _changed_alone(self, leaf: Any) -> Any:
        return self.transform(leaf, {}) if check_type(leaf, _types_of(self)) else leaf

    def _transformed(self, flat_inputs: list[Any], spec: Any) -> Any:
        needs = self._needs_transform_list(flat_inputs)
        params = self.make_params([inpt for inpt, needed in zip(flat_inputs, needs) if needed])
        outputs = [self.transform(inpt, params) if needed else inpt for inpt, needed in zip(flat_inputs, needs)]
        return tree_unflatten(outputs, spec)

    def _needs_transform_list(self, flat_inputs: list[Any]) -> list[bool]:
        """Return for each leaf whether it changes.

        Of pure tensors only the first can be the image, and only in samples without other images and videos.
        """
        types = _types_of(self)
        pure = not any(issubclass(type_of(inpt), _images()) for inpt in flat_inputs)
        needs = []
        for inpt in flat_inputs:
            needed = check_type(inpt, types)
            if needed and is_pure_tensor(inpt):
                needed, pure = pure, False
            needs.append(needed)
        return needs

    def _take(self, sample: Sample) -> None:
        """Change a sample of drafts as `forward` changes one of images."""
        self._change(sample)

    def _change(self, sample: Sample) -> None:
        sample.change(self, self._plan(sample))

    def _plan(self, sample: Sample) -> list[int]:
        """Return the places of the leaves that change, after a check of the sample."""
        types = sample.types
        plan = self._plans.get(types)
        if plan is None:
            self.check_inputs(sample.leaves)
            plan = self._found(sample.leaves)
            if len(self._plans) < _MOST_PLANS:
                self._plans[types] = plan
        return plan

    def _found(self, leaves: list[Any]) -> list[int]:
        return [index for index, needed in enumerate(self._needs_transform_list(leaves)) if needed]

    def extra_repr(self) -> str:
        settings = []
        for name, value in vars(self).items():
            shown = isinstance(value, (bool, int, float, str, tuple, list, enum.Enum))
            if shown and not name.startswith("_") and name != "training":
                settings.append(f"{name}={value}")
        return ", ".join(settings)

    def _extract_params_for_v1_transform(self) -> dict[str, Any]:
        """Return the arguments of the class of v1."""
        common = vars(nn.Module())
        params = {name: value for name, value in vars(self).items() if not name.startswith("_") and name not in common}
        if isinstance(params.get("interpolation"), str):
            from fastaug.transforms import InterpolationMode

            params["interpolation"] = InterpolationMode(params["interpolation"])
        return params

    def __prepare_scriptable__(self) -> nn.Module:
        if self._v1_transform_cls is None:
            raise RuntimeError(
                f"Transform {type(self).__name__} cannot be JIT scripted: only transforms that v1 has can be, as those"
            )
        return self._v1_transform_cls(**self._extract_params_for_v1_transform())


class Keeping(Transform):
    """The base of transforms whose results are of the types of their inputs."""

    if TYPE_CHECKING:

        @overload
        def __call__(self, inpt: PIL.Image.Image, /) -> PIL.Image.Image: ...
        @overload
        def __call__(self, inpt: _Sample, /) -> _Sample: ...
        @overload
        def __call__(self, *inputs: Any) -> Any: ...
        def __call__(self, *inputs: Any) -> Any: ...


def checked_chance(p: float) -> float:
    if not (0.0 <= p <= 1.0):
        raise ValueError(f"`p` should be a floating point value in the interval [0.0, 1.0], got {p}.")
    return p


class _RandomApplyTransform(Keeping):
    """The base of transforms that happen with probability ``p``."""

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.p = checked_chance(p)

    def forward(self, *inputs: Any) -> Any:
        """Return the sample with all leaves transformed, or the sample itself."""
        if reads_drafts(self):
            return self._alone(inputs[0]) if self._is_alone(inputs) else self._called_with(inputs)
        structure = inputs if len(inputs) > 1 else inputs[0]
        flat_inputs, spec = tree_flatten(structure)
        self.check_inputs(flat_inputs)
        return self._transformed(flat_inputs, spec) if happens(draws_of(flat_inputs), self.p) else structure

    def _alone(self, leaf: Any) -> Any:
        self.check_inputs([leaf])
        try:
            happened = happens(DEFAULT, self.p)
        finally:
            DEFAULT.release()
        return self._changed_alone(leaf) if happened else leaf

    def _take(self, sample: Sample) -> None:
        self._plan(sample)
        if applied(self, sample):
            self._change(sample)


def applied(transform: Any, sample: Sample) -> bool:
    """Return whether a transform of some probability happens, by a draw or by a tape."""
    return sample.drawn(transform, "applied", lambda: happens(sample.call.draws, transform.p))


def run(take: Callable[[Sample], None], inputs: tuple[Any, ...]) -> Any:
    """Return the result of a call of what changes drafts."""
    return Sample(inputs).after(take)


def take_all(transforms: Iterable[Any], sample: Sample) -> None:
    """Change a sample by one transform after the other."""
    for transform in transforms:
        take(transform, sample)


def take(transform: Any, sample: Sample) -> None:
    """Change a sample by a transform. One that reads no drafts is called with the leaves so far."""
    watch = sample.call.watch
    if watch is not None:
        watch.begin(transform, sample)
    if reads_drafts(transform):
        transform._take(sample)
    else:
        _apart(transform, sample)
    if watch is not None:
        watch.end(transform, sample)


def _apart(transform: Any, sample: Sample) -> None:
    """Change a sample by a transform that reads no drafts: nn.Sequential by its items, any other by a call.

    With several arguments nn.Sequential is called too, for its error.
    """
    is_plain = type(transform) is nn.Sequential and step_of(transform) is not None
    if sample.unpacked or compiling() or not is_plain:
        sample.apart(transform)
    else:
        take_all(transform._modules.values(), sample)


def reads_drafts(transform: Any) -> bool:
    """Return whether a transform does what its class in this package was written to do, so that it can take drafts.

    While torch.compile traces, no transform does.
    """
    if compiling() or global_hooks or global_pre_hooks:
        return False
    cls = type(transform)
    if cls not in _checks:
        _checks[cls] = _check_of(cls)
    check = _checks[cls]
    return check is not None and check(transform)


def _check_of(cls: type) -> Callable[[Any], bool] | None:
    known = next((base for base in cls.__mro__ if is_ours(base)), None)
    if known is None or not issubclass(known, Transform) or known in (Transform, _RandomApplyTransform):
        return None
    same = getattr_of(cls, "_transformed_types") is getattr_of(known, "_transformed_types")
    return written.check_of(cls, known, "_transformed_types") if same else None


def _types_of(transform: Transform) -> tuple[Any, ...]:
    types = vars(transform).get("_transformed_types") or getattr_of(type(transform), "_transformed_types")
    existing: tuple[Any, ...] = types.existing() if isinstance(types, tv_types) else types
    return existing


def _images() -> tuple[type, ...]:
    return (PIL.Image.Image, *tv_named("Image", "Video")) if loaded() is not None else (PIL.Image.Image,)
