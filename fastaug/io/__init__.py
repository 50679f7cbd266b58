"""Images from files and bytes: Pillow's pixels, decoded natively, and only the part that is needed.

One decoder has two interfaces. The first returns ndarrays and PIL images of every format that Pillow opens::

    from fastaug import io
    pixels = io.imread("photo.jpg")                             # np.asarray(Image.open("photo.jpg").convert("RGB"))
    patch = io.imread("slide.png", region=(512, 512, 96, 96))   # only these rows are decoded
    batch = io.imread_batch(paths, num_threads=8)
    dataset = ImageFolder(root, loader=io.lazy, transform=compose)  # the Compose decodes its crop

:class:`Slide` reads regions of whole-slide images.

The second is that of ``torchvision.io``: it reads and writes CHW tensors.
"""

from __future__ import annotations

from fastaug._image.lazy import LazyImage
from fastaug._image.pillow import DecodeError
from fastaug.io._batch import imread_batch
from fastaug.io._encode import encode_jpeg, encode_png, write_file, write_jpeg, write_png
from fastaug.io._read import ImageInfo, image_info, imread, lazy
from fastaug.io._slide import Slide, SlideLevel
from fastaug.io._torchvision import (
    ImageReadMode,
    decode_avif,
    decode_gif,
    decode_heic,
    decode_image,
    decode_jpeg,
    decode_png,
    decode_webp,
    read_file,
    read_image,
)

__all__ = [
    "DecodeError",
    "ImageInfo",
    "ImageReadMode",
    "LazyImage",
    "Slide",
    "SlideLevel",
    "decode_avif",
    "decode_gif",
    "decode_heic",
    "decode_image",
    "decode_jpeg",
    "decode_png",
    "decode_webp",
    "encode_jpeg",
    "encode_png",
    "image_info",
    "imread",
    "imread_batch",
    "lazy",
    "read_file",
    "read_image",
    "write_file",
    "write_jpeg",
    "write_png",
]
