"""Many images at once, as methods of a pipeline."""

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
    """A pipeline that takes many images. What that takes is imported when it is wanted."""

    def _batch_of(self, call: Call, count: int, slots: Slots | None) -> Batch:
        """A batch of so many images, on the CPU."""
        from fastaug._batch.batch import Batch

        return Batch(self, call, count, slots)

    def _slots_of(self, out: Any, count: int, device: torch.device | None) -> Slots:
        """The user's memory for a batch."""
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
        """The transformed images, as one tensor: several at a time, and with the draws of one after the other.

        Equal to ``[transform(image) for image in images]``, bit for bit and in what it leaves of the random generators,
        with any number of threads: the parameters are drawn first, in order; then threads, which end with the call, do
        the rest, without Python's lock. Files are read by the threads, before it is their turn. From the first
        callable of your own in a pipeline on, which may draw as well, what comes before and in it is done image by
        image.

        With ``device="cuda"`` the results are on that device, with the same draws and, in exact mode, the same bits:
        those that an image has on the CPU. A pipeline has to end in tensors for that. Work goes to torch's current
        stream and memory comes from torch; the call does not wait for the device, but returns when all of the work has
        been launched. Of images on the host only what is read of them is copied, in pieces, while kernels work on the
        pieces before; the call waits for old copies when it needs their pinned memory. What a device does not do is
        done on the CPU and copied, image by image: callables of your own and what comes before them, ElasticTransform,
        the mixture of AugMix, noise of RandomErasing, tensors that are not uint8 or have other than one to four
        channels, nearest affine maps that reach 32768 pixels far. For such an image that was on the device, the call
        waits for it. The first call compiles kernels and keeps them on disk; ``fastaug.compile(...).prepare()`` does
        that ahead.

        Args:
            images: a list, or any iterable, of what a call takes: PIL images, arrays, tensors, handles of
                ``fastaug.io.lazy``; also paths and encoded bytes, which are opened as ``Decode`` at the head of the
                pipeline says, or else as ``fastaug.io.lazy`` does. Or an [N, H, W, C] array, which may be a memory map,
                or an [N, C, H, W] tensor. Tensors may be on a CUDA device, all of them on the same. An array of another
                library's on a device, with ``__dlpack__`` or ``__cuda_array_interface__``, is taken as an ndarray is:
                [H, W, C], or [H, W]; or all images as one, [N, H, W, C].
            out: [N, ...] of the shape and dtype of the results, which are written to it: a tensor on the CPU, such as a
                part of a pinned one, or an array, such as a memory map; for results on a device a tensor there. After
                an error it holds anything.
            num_threads: how many threads work at a time, this one with them; by default one for each CPU that this
                process may use, but one in a worker of a ``DataLoader``.
            seeds: an integer for each image. Its draws are those after ``torch.manual_seed`` of it, and the same for
                Python's and NumPy's generators; but the process's generators are left alone.
            device: where the results are to be: ``"cuda"``, ``"cuda:1"``, ``"cpu"`` or a torch.device; by default on
                the device of the images.

        Returns:
            One tensor, contiguous unless another memory format was compiled; ``out``, if that is given. Results that
            are no tensors, or differ in shape or dtype, are in a list. Memory of a batch on the CPU is used again when
            its last view is gone.

        Raises:
            Exception: what the call raises for the first image that it raises for. It has the number of that image as
                ``index`` and, of a file, its ``path``. The other images have been done.
            TypeError: one image in place of several; ``out``, ``num_threads``, ``seeds`` or ``device`` of the wrong
                type.
            ValueError: no images; an ``out`` that does not fit, or results on a device that are no tensors, where the
                generators are as before; a ``num_threads`` less than one; another number of ``seeds``; an unknown
                ``device``; images on several devices, or on another than ``device``.
            RuntimeError: no CUDA device can be used, or no kernel compiled; the current stream is being captured, or
                this process is a fork of one that had used CUDA.
            torch.cuda.OutOfMemoryError: the memory of the device is full. The generators have drawn for some images, or
                for all.

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
        """The transformed images of a stream, one after the other, while the next ones are worked on.

        The draws are those of ``[transform(image) for image in images]``; they are made for a few images ahead.

        Args:
            images: an iterable, which may be endless, of what :meth:`batch` takes, but for arrays of other libraries.
                What is done to a tensor on a device is done there, on the current stream, one by one.
            ordered: whether results come in the order of the images; else each comes when it is done.
            num_threads: as in :meth:`batch`. With one, an image is taken when its result is wanted.
            seeds: as in :meth:`batch`, but any iterable, which may be endless.

        Returns:
            An iterator of the results, or of pairs (number of the image, result) where they are not ordered. Its
            ``close()`` ends it early. It cannot be used after a fork.

        Raises:
            Exception: in its turn, what the call raises for an image; the next image comes after it.
            TypeError: one image in place of several; a ``num_threads`` or a seed that is no integer.
            ValueError: a ``num_threads`` less than one; fewer seeds than images.

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
