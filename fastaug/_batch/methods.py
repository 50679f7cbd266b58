"""Methods of a pipeline for many images."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from fastaug._draft.pipeline import Pipeline

if TYPE_CHECKING:
    import numpy as np
    import torch

    from fastaug._batch.batch import Batch
    from fastaug._batch.run import Mapped
    from fastaug._batch.slots import Slots
    from fastaug._draft.call import Call


class BatchPipeline(Pipeline):
    """A pipeline that takes many images, and imports what that needs when it is called."""

    def _batch_of(self, call: Call, count: int, slots: Slots | None) -> Batch:
        from fastaug._batch.batch import Batch

        return Batch(self, call, count, slots)

    def _slots_of(self, out: Any, count: int, device: torch.device | None) -> Slots:
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
        """Transform many images on several threads, and return them as one tensor.

        The result equals ``[transform(image) for image in images]``, bit for bit, for any number of threads, and the
        random generators end in the same state: parameters are drawn first, in order. If the pipeline has your own
        callables, which may draw too, everything up to the last of them runs image by image.

        With ``device="cuda"`` the results are on that device, with the same draws and, in exact mode, the same bits as
        on the CPU. The pipeline must end in tensors. Work goes to torch's current stream, and the call returns when all
        of it is launched. Some work is done on the CPU and copied, image by image, for which the call waits: your own
        callables and all before them, ElasticTransform, the mixture of AugMix, noise of RandomErasing, nearest affine
        maps beyond 32768 pixels, and tensors that are not uint8 or have more than four channels. The first call
        compiles kernels and keeps them on disk; ``fastaug.compile(...).prepare()`` does that ahead.

        Args:
            images: an iterable of PIL images, arrays, tensors, handles of ``fastaug.io.lazy``, paths and encoded bytes.
                A ``Decode`` at the start of the pipeline opens the last two, or else ``fastaug.io.lazy`` does. Or an
                [N, H, W, C] array, such as a memory map, or an [N, C, H, W] tensor. Tensors may be on one CUDA device.
                Another library's array on a device, with ``__dlpack__`` or ``__cuda_array_interface__``, counts as an
                ndarray: [H, W, C], [H, W], or all images as [N, H, W, C].
            out: memory for the results, [N, ...] of their shape and dtype: a tensor on their device or, for the CPU, an
                array. After an error its content is undefined.
            num_threads: number of threads that work at a time, including this one; by default one per CPU, but one in a
                worker of a ``DataLoader``.
            seeds: an integer for each image, whose draws are those after ``torch.manual_seed`` of it and the same for
                Python's and NumPy's generators. The process's generators stay as they are.
            device: device of the results, ``"cuda"``, ``"cuda:1"``, ``"cpu"`` or a torch.device; by default that of the
                images.

        Returns:
            One tensor, contiguous unless another memory format was compiled, or ``out``. A list if the results are not
            tensors of one shape and dtype. The memory of a batch on the CPU is reused after its last view is deleted.

        Raises:
            Exception: from the first image that fails, with its number as ``index`` and the ``path`` of a file. The
                other images have been processed.
            TypeError: one image instead of several; ``out``, ``num_threads``, ``seeds`` or ``device`` of a wrong type.
            ValueError: no images; an ``out`` that does not fit, or results for a device that are not tensors, both
                without an effect on the generators; ``num_threads`` less than one; a wrong number of ``seeds``; an
                unknown ``device``; images on several devices, or on another than ``device``.
            RuntimeError: no CUDA device can be used, or no kernel compiled; the current stream is being captured; or
                this process is a fork of one that had used CUDA.
            torch.cuda.OutOfMemoryError: the memory of the device is full. Some or all parameters have been drawn.

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
        """Transform a stream of images, and work on the next ones while one is used.

        The draws are those of ``[transform(image) for image in images]``, made for a few images ahead.

        Args:
            images: an iterable, perhaps endless, of images as for :meth:`batch`, without arrays of other libraries.
                Tensors on a device are processed there, on the current stream, one by one.
            ordered: whether results come in the order of the images, instead of when they are done.
            num_threads: as for :meth:`batch`. With one, an image is taken when its result is needed.
            seeds: as for :meth:`batch`, but any iterable, perhaps endless.

        Returns:
            An iterator of the results or, if not ordered, of pairs (number of the image, result). Its ``close()`` ends
            it early. It cannot be used after a fork.

        Raises:
            Exception: from an image, when its result is due. The next image comes after it.
            TypeError: one image instead of several; ``num_threads`` or a seed is not an integer.
            ValueError: ``num_threads`` is less than one; fewer seeds than images.

        Example:
            >>> import fastaug.transforms as T
            >>> from PIL import Image
            >>> sizes = [(80, 60), (70, 90)]
            >>> images = (Image.new("RGB", size) for size in sizes)
            >>> [image.size for image in T.Compose([T.Resize(20)]).map(images)]
            [(26, 20), (20, 25)]
        """
        from fastaug._batch.run import Mapped

        return Mapped(self, images, ordered, num_threads, seeds)
