"""Images from files and bytes: the pixels that Pillow gives, decoded natively, and no more of them than are wanted.

Two spellings of one decoder. Ours gives ndarrays and PIL images, of every format that Pillow opens::

    from fastaug import io
    pixels = io.imread("photo.jpg")                             # np.asarray(Image.open("photo.jpg").convert("RGB"))
    patch = io.imread("slide.png", region=(512, 512, 96, 96))   # only these rows are decoded
    batch = io.imread_batch(paths, num_threads=8)
    dataset = ImageFolder(root, loader=io.lazy, transform=compose)  # the Compose decodes its crop

Of whole-slide images, :class:`Slide` reads regions.

torchvision's gives CHW tensors, and writes them, for code that imports ``torchvision.io``.
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
