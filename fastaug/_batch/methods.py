"""Methods of a pipeline for many images at once. Each imports what it takes when it is called."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from fastaug._draft.pipeline import Pipeline

if TYPE_CHECKING:
    import numpy as np
    import torch

    from fastaug._batch.batch import Batch
    from fastaug._batch.map import Mapped
    from fastaug._batch.slots import Slots
    from fastaug._draft.call import Call


class BatchPipeline(Pipeline):
    """A pipeline that takes many images."""

    def _batch_of(self, call: Call, count: int, slots: Slots | None) -> Batch:
        """Return a batch of so many images on the CPU."""
        from fastaug._batch.batch import Batch

        return Batch(self, call, count, slots)

    def _slots_of(self, out: Any, count: int, device: torch.device | None) -> Slots:
        """Return the user's memory for a batch."""
        from fastaug._batch.slots import slots_of

        return slots_of(out, count, device)

    def batch(
        self,
        images: Any,
        out: torch.Tensor | np.ndarray | None = None,
        num_threads: int | None = None,
        seeds: Sequence[int] | None = None,
        device: str | torch.device | None = None,
    ) -> Any:
        """Transform several images at a time, with the draws of one after the other, and return them as one tensor.

        Equal to ``[transform(image) for image in images]``, bit for bit and in the states of the random generators,
        with any number of threads. The parameters are drawn first, in order. Then threads, which end with the call, do
        the rest without Python's lock; they read files ahead. A callable of your own may draw as well, so it and what
        comes before it are done image by image.

        With ``device="cuda"`` the results are on that device, with the draws and, in exact mode, the bits that they
        have on the CPU. The pipeline must end in tensors. Work goes to torch's current stream, memory comes from
        torch, and the call returns when all work is launched. Of images on the host only what is needed is copied, in
        pieces, while kernels work on earlier pieces; the call may wait for old copies to reuse their pinned memory.
        These are done on the CPU and copied, image by image: callables of your own and what comes before them,
        ElasticTransform, the mixture of AugMix, noise of RandomErasing, tensors that are not uint8 or do not have one
        to four channels, and nearest affine maps that reach 32768 pixels. If such an image was on the device, the call
        waits for it. The first call compiles kernels and keeps them on disk; ``fastaug.compile(...).prepare()`` does
        so ahead.

        Args:
            images: an iterable of what a call takes: PIL images, arrays, tensors, handles of ``fastaug.io.lazy``; also
                paths and encoded bytes, opened as the ``Decode`` at the head of the pipeline says, or else as
                ``fastaug.io.lazy`` does. Or all images as an [N, H, W, C] array, such as a memory map, or an
                [N, C, H, W] tensor. Tensors may be on a CUDA device, all on the same one. Arrays of other libraries on
                a device, with ``__dlpack__`` or ``__cuda_array_interface__``, are taken as ndarrays: [H, W],
                [H, W, C], or all as [N, H, W, C].
            out: memory for the results, [N, ...] of their shape and dtype: a tensor or an array on the CPU, such as a
                part of a pinned tensor or a memory map; a tensor on the device for results there. After an error its
                contents are undefined.
            num_threads: how many threads work, this one included; by default one for each CPU that this process may
                use, but one in a worker of a ``DataLoader``.
            seeds: an integer for each image. Its draws are those after ``torch.manual_seed`` of it, and the same for
                Python's and NumPy's generators, but the process's generators are left alone.
            device: of the results: ``"cuda"``, ``"cuda:1"``, ``"cpu"`` or a torch.device; by default the images'.

        Returns:
            One tensor, contiguous unless another memory format was compiled; ``out``, if that is given. Results that
            are not tensors, or differ in shape or dtype, are in a list. Memory of a batch on the CPU is used again when
            its last view is gone.

        Raises:
            Exception: the first error that the call raises for an image, with the number of the image as ``index`` and
                the ``path`` of a file. The other images have been done.
            TypeError: one image instead of several; ``out``, ``num_threads``, ``seeds`` or ``device`` of the wrong
                type.
            ValueError: no images; an ``out`` that does not fit, or results on a device that are not tensors (the
                generators are as before); a ``num_threads`` below one; another number of ``seeds``; an unknown
                ``device``; images on several devices, or on another than ``device``.
            RuntimeError: no CUDA device can be used, or no kernel compiled; the current stream is being captured, or
                this process is a fork of one that had used CUDA.
            torch.cuda.OutOfMemoryError: the memory of the device is full. Some or all draws have been made.

        Example:
            >>> import fastaug.transforms as T
            >>> from PIL import Image
            >>> transform = T.Compose([T.RandomResizedCrop(32), T.RandomHorizontalFlip(), T.ToTensor()])
            >>> transform.batch([Image.new("RGB", (80, 60)), Image.new("RGB", (70, 90))]).shape
            torch.Size([2, 3, 32, 32])
        """
        from fastaug._batch import run

        return run.run(self, images, out, num_threads, seeds, device)

    def map(
        self,
        images: Iterable[Any],
        ordered: bool = True,
        num_threads: int | None = None,
        seeds: Iterable[int] | None = None,
    ) -> Mapped:
        """Return the transformed images of a stream, one after the other, while the next ones are worked on.

        The draws are those of ``[transform(image) for image in images]``, made for a few images ahead.

        Args:
            images: an iterable, which may be endless, of what :meth:`batch` takes except arrays of other libraries.
                Tensors on a device are transformed there, on the current stream, one by one.
            ordered: return results in the order of the images; else each when it is done.
            num_threads: as in :meth:`batch`. With one, an image is taken when its result is wanted.
            seeds: as in :meth:`batch`, but any iterable, which may be endless.

        Returns:
            An iterator of the results; if not ordered, of pairs (number of the image, result). Its ``close()`` ends it
            early. It cannot be used after a fork.

        Raises:
            Exception: in its turn, the error that the call raises for an image; the next image comes after it.
            TypeError: one image instead of several; a ``num_threads`` or a seed that is not an integer.
            ValueError: a ``num_threads`` below one; fewer seeds than images.

        Example:
            >>> import fastaug.transforms as T
            >>> from PIL import Image
            >>> sizes = [(80, 60), (70, 90)]
            >>> images = (Image.new("RGB", size) for size in sizes)
            >>> [image.size for image in T.Compose([T.Resize(20)]).map(images)]
            [(26, 20), (20, 25)]
        """
        from fastaug._batch.map import Mapped

        return Mapped(self, images, ordered, num_threads, seeds)
