"""Functionals and their kernels, made from one function that says what an op is."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, overload

import PIL.Image
import torch

from fastaug._draft.at_once import Ways, done_at_once
from fastaug._draft.direct import DirectImage, directly
from fastaug._draft.leaf import ImageDraft, MaskDraft
from fastaug._image.types import FunctionT
from fastaug.transforms.v2.functional._utils import _get_kernel, done, found, registered

_P = ParamSpec("_P")
_T = TypeVar("_T")
_ResultT = TypeVar("_ResultT", covariant=True)
_Functional = Callable[Concatenate[Any, _P], Any]

#: The function that each functional was made from: it is the kernel for drafts.
_OPS: dict[Callable[..., Any], Callable[..., Any]] = {}

#: How such a function is done to an image without a draft.
_WAYS: dict[Callable[..., Any], Ways] = {}


class _OnImages(Protocol[_P]):
    def __call__(self, image: torch.Tensor, *args: _P.args, **kwargs: _P.kwargs) -> torch.Tensor: ...


class _OnVideos(Protocol[_P]):
    def __call__(self, video: torch.Tensor, *args: _P.args, **kwargs: _P.kwargs) -> torch.Tensor: ...


class _OnMasks(Protocol[_P]):
    def __call__(self, mask: torch.Tensor, *args: _P.args, **kwargs: _P.kwargs) -> torch.Tensor: ...


class _Drafted(Protocol[_ResultT]):
    """The draft that the function of an op gets. Its methods change it, and return nothing."""

    def __getattr__(self, name: str) -> Callable[..., _ResultT]: ...


def drafted(inpt: _T) -> _Drafted[_T]:
    """Return the input, typed as the draft that it is."""
    return inpt  # type: ignore[return-value]


def functional(*drafts: type, at_once: Ways | None = None) -> Callable[[FunctionT], FunctionT]:
    """Make a functional from the function of an op.

    The function has the functional's name, signature and page. It gets a draft instead of the input, and returns
    nothing or another draft. The functional calls the kernel for the type of its first argument, and passes all other
    arguments by name.

    Args:
        drafts: the classes of drafts that the function takes.
        at_once: how it is done to an image without a draft.
    """

    def make(op: FunctionT) -> FunctionT:
        signature = inspect.signature(op)
        inpt, *others = signature.parameters
        arguments = ", ".join([inpt, *(f"{name}={name}" for name in others)])
        # The module's global of this name is the functional.
        known: dict[type, Any] = {}
        body = f"(known.get(type({inpt})) or get({op.__name__}, type({inpt})))({arguments})"
        made = _compiled(op, op.__name__, signature, body, known=known, get=_get_kernel)
        found[made] = known
        made.__doc__ = op.__doc__
        _OPS[made] = op
        ways = at_once or Ways()
        otherwise = ImageDraft._torch_functions.get(ways.core) or directly(op, DirectImage)
        _WAYS[op] = ways._replace(v2=True, otherwise=otherwise, few=4 if ways.few is None else ways.few)
        registered(made, *drafts)(op)
        return made  # type: ignore[return-value]

    return make


def on_images(
    functional: _Functional[_P], *, shape: str = "shape (..., channels, height, width)", **defaults: Any
) -> _OnImages[_P]:
    """Make and register the kernel for images. Defaults are given where they differ from the functional's."""
    leaves = f"for images, of {shape}."
    return _kernel(functional, "{}_image", "image", torch.Tensor, defaults, leaves, torch.Tensor, "Image")


def on_videos(functional: _Functional[_P]) -> _OnVideos[_P]:
    """Make and register the kernel for videos."""
    leaves = "for videos, of shape (..., frames, channels, height, width)."
    return _kernel(functional, "{}_video", "video", torch.Tensor, {}, leaves, "Video")


def on_pillow(
    functional: _Functional[_P], first: str = "image", *, name: str = "_{}_image_pil", **defaults: Any
) -> None:
    """Make and register the kernel for PIL images. Its module, name and first argument are torchvision's."""
    cls = PIL.Image.Image
    made = _kernel(functional, name, first, cls, defaults, "for PIL images.", cls)
    _OPS[functional].__globals__[made.__name__] = made


def on_pixels(
    functional: _Functional[_P], first: str = "image", **defaults: Any
) -> tuple[_OnImages[_P], _OnVideos[_P]]:
    """Make and register the kernels for images, PIL images and videos, and return those for tensors."""
    on_pillow(functional, first, **defaults)
    return on_images(functional, **defaults), on_videos(functional)


@overload
def on_masks(functional: _Functional[_P], *, as_images: bool = False) -> _OnMasks[_P]: ...
@overload
def on_masks(functional: _Functional[_P], *, without: str) -> Callable[..., torch.Tensor]: ...
def on_masks(functional: _Functional[_P], *, as_images: bool = False, without: str = "") -> Any:
    """Make and register the kernel for masks, which are drafted as masks or as images.

    Args:
        without: names of arguments that the functional has, and the kernel that users call has not.
    """
    leaves, finish = "for masks, of shape (..., height, width).", done if as_images else done_mask
    made = _kernel(functional, "{}_mask", "mask", torch.Tensor, {}, leaves, "Mask", finish=finish)
    if without:
        made = _kernel(functional, "{}_mask", "mask", torch.Tensor, {}, leaves, finish=finish, without=without)
    return made


def done_mask(mask: torch.Tensor, op: Callable[..., Any], **arguments: Any) -> torch.Tensor:
    """Return the mask as the function of an op changes it."""
    draft = MaskDraft(mask)
    op(draft, **arguments)
    draft.touched = True
    changed: torch.Tensor = draft.result()
    return changed


def _kernel(
    functional: Callable[..., Any],
    name: str,
    first: str,
    cls: type,
    defaults: dict[str, Any],
    leaves: str,
    *types: type | str,
    finish: Callable[..., Any] = done,
    without: str = "",
) -> Callable[..., Any]:
    op = _OPS[functional]
    inpt, *others = inspect.signature(op).parameters.values()
    inpt = inpt.replace(name=first, annotation=cls)
    kept = [one for one in others if one.name not in without.split()]
    others = [one.replace(default=defaults.get(one.name, one.default)) for one in kept]
    signature = inspect.Signature([inpt, *others], return_annotation=cls)
    body = f"finish({', '.join([first, 'change', *(f'{one.name}={one.name}' for one in others)])})"
    uses: dict[str, Any] = {"finish": finish, "change": op}
    if finish is done and op in _WAYS:
        arguments = "".join(f"{one.name}, " for one in others)
        body = f"made if (made := at_once(ways, {first}, ({arguments}))) is not NotImplemented else {body}"
        uses |= {"at_once": done_at_once, "ways": _WAYS[op]}
    made = _compiled(op, name.format(op.__name__), signature, body, **uses)
    made.__doc__ = f"The kernel of :func:`{op.__name__}` {leaves}"
    return registered(functional, *types)(made)


def _compiled(
    op: Callable[..., Any], name: str, signature: inspect.Signature, body: str, **uses: Any
) -> Callable[..., Any]:
    """Make a function that returns one expression. It costs what a written one does, and refuses the same arguments."""
    source = f"lambda {', '.join(uses)}: lambda {', '.join(signature.parameters)}: {body}"
    made: Any = eval(source, op.__globals__)(**uses)
    # Tracebacks and `inspect.getsource` show the function of the op.
    code = op.__code__
    made.__code__ = made.__code__.replace(
        co_name=name, co_filename=code.co_filename, co_firstlineno=code.co_firstlineno
    )
    made.__name__ = made.__qualname__ = name
    parameters = signature.parameters.values()
    made.__defaults__ = tuple(one.default for one in parameters if one.default is not one.empty) or None
    made.__annotations__ = {one.name: one.annotation for one in parameters if one.annotation is not one.empty}
    made.__annotations__["return"] = signature.return_annotation
    return made  # type: ignore[no-any-return]
