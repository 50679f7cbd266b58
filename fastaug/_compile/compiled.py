"""The result of fastaug.compile."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import nn

from fastaug._compile.adopt import Keep, Reader, as_it_is, unread
from fastaug._compile.read_samples import is_read
from fastaug._draft import finish
from fastaug._draft.call import Call
from fastaug._draft.draft import Draft
from fastaug._draft.draws import draws_from
from fastaug._draft.pipeline import Pipeline, checked_arithmetic, checked_mode
from fastaug._draft.recipe import recipe_of
from fastaug._draft.replaced import TransformDraft
from fastaug._draft.written import HOOKS, global_hooks, global_pre_hooks
from fastaug._inspect.methods import SeenPipeline
from fastaug._names import is_ours
from fastaug._program.job import Job

_DTYPES = (torch.float32, torch.float16, torch.bfloat16)
_MEMORY_FORMATS = (torch.contiguous_format, torch.channels_last)

# The attributes of a module to which nothing was added.
_OF_MODULES = vars(nn.Module())


class Compiled(SeenPipeline, nn.Module):
    """A transform made by :func:`fastaug.compile`, in one pass over the image where possible.

    Calling it with an image returns the transformed image. It is a module without parameters, whatever it was compiled
    from.

    Attributes:
        original: the compiled transform.
        transforms: the steps called instead, in order: fastaug's own transforms, and unread callables.
        mode: "exact" or "fast".
        arithmetic: "container" or "pil".
        generator: the source of random numbers; None for torch's default generator.
        dtype: of the results; None for that of the original.
        memory_format: of the results; None for that of the original.
    """

    original: Any

    def __init__(
        self,
        original: Any,
        mode: Any,
        generator: Any = None,
        dtype: Any = None,
        memory_format: Any = None,
        arithmetic: Any = None,
        part: bool = False,
        found: Any = None,
        keep: Keep = as_it_is,
    ) -> None:
        if not callable(original):
            hint = "; a Compose takes it" if isinstance(original, (list, tuple)) else ""
            raise TypeError(
                "transform should be callable: a transform or Compose of fastaug or torchvision, an nn.Sequential, or "
                f"a function of an image. Got {type(original)}{hint}"
            )
        checked_mode(mode)
        if arithmetic is not None:
            checked_arithmetic(arithmetic)
        if generator is not None and not isinstance(generator, torch.Generator):
            raise TypeError(f"generator should be a torch.Generator. Got {type(generator)}")
        if generator is not None and generator.device.type != "cpu":
            raise ValueError(f"generator should be on the CPU, but is on {generator.device}")
        if dtype is not None and dtype not in _DTYPES:
            raise ValueError(f"dtype should be one of {', '.join(map(str, _DTYPES))}. Got {dtype!r}")
        if memory_format is not None and memory_format not in _MEMORY_FORMATS:
            accepted = " or ".join(map(str, _MEMORY_FORMATS))
            raise ValueError(f"memory_format should be {accepted}. Got {memory_format!r}")
        nn.Module.__init__(self)
        # nn.Module's setattr would register a module as part of this one.
        vars(self)["original"] = original
        self.generator = generator
        self.dtype = dtype
        self.memory_format = memory_format
        self._mode = mode
        self._arithmetic = arithmetic
        # The seed of the DataLoader's worker that last seeded the generator.
        self._worker_seed = _worker_seed()
        problem = self._read(original if found is None else found, keep)
        if problem is not None and not part:
            # Above this are fastaug.compile and the user's line.
            warnings.warn(problem, UserWarning, stacklevel=3)
        if arithmetic is None:
            self._arithmetic = original.arithmetic if isinstance(original, SeenPipeline) else "container"
        self._prepare()

    def _read(self, original: Any, keep: Keep) -> str | None:
        """Set the steps of the original, or of `found`, and return a warning if nothing of it is read.

        All settings exist, with None for the arithmetic if it is the original's own.
        """
        self.transforms: Any = tuple(Reader(keep=keep).steps(original))
        return unread(original, is_read) if len(self.transforms) == 1 and self.transforms[0] is original else None

    def _prepare(self) -> None:
        """Set the attributes that pickles leave out."""
        self._renew_call()

    def _own_call(self) -> Call:
        call = super()._own_call()
        return call if self.generator is None else call.like(draws=draws_from(self.generator))

    def forward(self, img: Any) -> Any:
        """Return the transformed image, without a call of hooks."""
        # As `_done`, but with few looks at attributes: each takes longer, because nn.Module has a getattr. Those of
        # the class are as fast as ever.
        draft: Any = TransformDraft(img, self.__dict__["_call"])
        if draft.device is not None:
            self._go_on(draft, draft.call)
        try:
            Compiled._draft_all(self, draft)
            return Compiled._delivered(self, draft)
        finally:
            draft.call.draws.release()

    def _through(self, img: Any, transforms: Sequence[Any], last: bool, unpacked: bool) -> Any:
        cls = type(self)
        draft = cls._drafted(self, img, self.__dict__["_call"])
        try:
            cls._draft_some(self, draft, transforms)
            return cls._delivered(self, draft) if last else draft.handed()
        finally:
            draft.call.draws.release()

    def _by_python(self, *inputs: Any) -> Any:
        # Unless there are hooks, a call is not nn.Module's, which takes longer.
        return nn.Module.__call__(self, *inputs) if calls_hooks(self.__dict__) else self.forward(*inputs)

    def _own_hooks(self) -> tuple[dict[Any, Any], ...]:
        return tuple([getattr(self, name) for name in HOOKS])

    def _then(self, other: Pipeline) -> Pipeline | None:
        if type(other) is not type(self) or not (self._is_plain() and other.generator is None):
            return None
        joined = copy.copy(self)
        vars(joined).update(
            transforms=(*self.transforms, *other.transforms), dtype=other.dtype, memory_format=other.memory_format
        )
        joined._prepare()
        return joined

    def _has_hooks(self) -> bool:
        return calls_hooks(self.__dict__)

    def _is_own(self) -> bool:
        return is_ours(type(self)) and not calls_hooks(self.__dict__)

    def _at_once(self, img: Any, unpacked: bool = False) -> Any:
        if self.__dict__["generator"] is not None:
            self._follow_worker()
        return Pipeline._at_once(self, img, unpacked)

    def _recipe(self) -> Any:
        return recipe_of(self, self.transforms, self._format())

    def _format(self) -> tuple[torch.dtype | None, bool] | None:
        """Return the dtype of results, and whether their channels come last in memory; None without settings."""
        own = self.__dict__
        dtype, memory_format = own["dtype"], own["memory_format"]
        return None if dtype is None and memory_format is None else (dtype, memory_format is torch.channels_last)

    def _is_plain(self) -> bool:
        """Return whether it only calls its steps."""
        return self.generator is None and self._format() is None and not self._has_hooks()

    def _draft_all(self, draft: Draft) -> None:
        own = self.__dict__
        if own["generator"] is not None:
            self._follow_worker()
        type(self)._draft_some(self, draft, own["transforms"])

    def _draft(self, draft: Draft, params: None = None) -> None:
        """Draft inside another pipeline, by its mode, log and tape, with this generator and format."""
        outer = draft.call
        if self.generator is None:
            self._draft_all(draft)
        else:
            outer.draws.release()
            draft.call = outer.like(draws=self._call.draws)
            try:
                self._draft_all(draft)
            finally:
                self._call.draws.release()
                draft.call = outer
        if self._format() is not None:
            draft.apart(lambda draft: draft.reset(self._delivered(draft)))

    def _delivered(self, draft: Draft) -> Any:
        if Compiled._format(self) is None:
            return draft.finish()
        stored = draft.finish_as(self.dtype, self.memory_format is torch.channels_last)
        return self._formatted(draft.finish()) if stored is None else stored

    def _job(self, draft: Draft) -> Job | None:
        return finish.one_job(draft) if Compiled._format(self) is None else self._job_as(draft)

    def _job_as(self, draft: Draft) -> Job | None:
        own = self.__dict__
        return finish.one_job_as(draft, own["dtype"] or torch.float32, own["memory_format"] is torch.channels_last)

    def prepare(self, device: str | torch.device = "cuda", sizes: Iterable[int | tuple[int, int]] | None = None) -> int:
        """Compile the kernels that the pipeline needs on a CUDA device, and keep them on disk.

        Otherwise the first calls do so, in about a second per kernel. It draws parameters some hundred times to find
        the kernels, and then restores the random generators. Your own callables get black images.

        Args:
            device: ``"cuda"``, ``"cuda:1"`` or a torch.device.
            sizes: of the RGB images, (height, width) or an int for a square. By default a few between 32 and 1500 that
                the pipeline accepts. Shrinking and enlarging need different kernels.

        Returns:
            The number of kernels for these images; 0 if the device computes none of the pipeline.

        Raises:
            TypeError: a wrong type of ``device``.
            ValueError: an unknown ``device``, or the CPU; a size that is not positive; a pipeline that does not end in
                tensors.
            RuntimeError: no CUDA device can be used, or no kernel compiled.
            Exception: what the pipeline raises for both a PIL image and a uint8 tensor.

        Example:
            >>> import fastaug, fastaug.transforms as T
            >>> transform = fastaug.compile(T.Compose([T.RandomResizedCrop(224), T.ToTensor()]))
            >>> transform.prepare("cuda", sizes=[(375, 500)])  # doctest: +SKIP
            1
        """
        from fastaug._compile import prepare

        if self.generator is not None:
            self._follow_worker()
        return prepare.prepare(self, device, sizes)

    def _formatted(self, result: Any) -> Any:
        return result if self._format() is None else converted(result, self.dtype, self.memory_format)

    def _follow_worker(self) -> None:
        """Seed the generator for a DataLoader's worker, whose copy is in the same state as the others'."""
        seed = _worker_seed()
        if seed is not None and seed != self._worker_seed:
            assert self.generator is not None
            drawn = int(torch.empty((), dtype=torch.int64).random_(generator=self.generator))
            self.generator.manual_seed((drawn + seed) % 2**63)
            self._worker_seed = seed

    def __getstate__(self) -> dict[str, Any]:
        # A module to which nothing was added pickles as before it was one, for earlier versions.
        added = {name for name, value in _OF_MODULES.items() if vars(self)[name] != value}
        left_out = (_OF_MODULES.keys() - added) | {"_compiled_call_impl"}
        state = {name: value for name, value in super().__getstate__().items() if name not in left_out}
        if self.generator is not None:
            state["generator"] = self.generator.get_state()
        # Below protocol 4 torch's memory formats do not pickle.
        if self.memory_format is not None:
            state["memory_format"] = _MEMORY_FORMATS.index(self.memory_format)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        nn.Module.__init__(self)
        vars(self).update(state)
        if self.generator is not None:
            generator = torch.Generator()
            generator.set_state(state["generator"])
            self.generator = generator
        if self.memory_format is not None:
            self.memory_format = _MEMORY_FORMATS[state["memory_format"]]
        self._prepare()

    def __copy__(self) -> Compiled:
        copied = type(self).__new__(type(self))
        vars(copied).update(vars(self))
        return copied

    def __repr__(self) -> str:
        settings = self._settings()
        if self.generator is not None:
            settings.append(f"generator={self.generator!r}")
        if self.dtype is not None:
            settings.append(f"dtype={self.dtype}")
        if self.memory_format is not None:
            settings.append(f"memory_format={self.memory_format}")
        return f"compile({', '.join([repr(self.original), *settings])})"


# Its public name, by which it pickles.
Compiled.__module__ = "fastaug"


def calls_hooks(own: dict[str, Any]) -> bool:
    """Return whether a call of the module with these attributes calls hooks."""
    return bool(
        own["_forward_hooks"]
        or own["_forward_pre_hooks"]
        or own["_backward_hooks"]
        or own["_backward_pre_hooks"]
        or global_hooks
        or global_pre_hooks
    )


def _worker_seed() -> int | None:
    """Return the seed of this DataLoader's worker, or None in another process."""
    worker = torch.utils.data.get_worker_info()
    return None if worker is None else worker.seed


def converted(result: Any, dtype: torch.dtype | None, memory_format: torch.memory_format | None) -> Any:
    """Return a tensor, or each of several, in another dtype and memory format.

    Raises:
        TypeError: there is no tensor.
    """
    if isinstance(result, (tuple, list)):
        parts = [converted(part, dtype, memory_format) for part in result]
        return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)
    if not isinstance(result, torch.Tensor):
        raise TypeError(f"dtype and memory_format are of tensors, but the transform returned {type(result)}")
    if dtype is not None:
        result = result.to(dtype)
    if memory_format is torch.contiguous_format:
        return result.contiguous()
    if memory_format is torch.channels_last and result.ndim >= 3:
        return result.movedim(-3, -1).contiguous().movedim(-1, -3)
    return result
