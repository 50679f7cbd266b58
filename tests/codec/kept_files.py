"""Files of one photograph, for handles that keep their pixels."""

from __future__ import annotations

import encoded_images as made
from image_files import encode

from support.images import photo

FILES = {
    "JPEG": encode(photo("coffee", 61, 83), "JPEG"),
    "JPEG progressive": encode(photo("coffee", 61, 83), "JPEG", progressive=True),
    "JPEG of gray": encode(photo("coffee", 61, 83).convert("L"), "JPEG"),
    "JPEG of CMYK": encode(photo("coffee", 61, 83).convert("CMYK"), "JPEG"),
    "JPEG to be turned": encode(photo("coffee", 61, 83), "JPEG", exif=made.oriented(6)),
    "PNG": encode(photo("coffee", 61, 83), "PNG"),
    "PNG of RGBA": encode(photo("coffee", 61, 83).convert("RGBA"), "PNG"),
    "PNG of a palette": encode(photo("coffee", 61, 83).convert("P"), "PNG"),
    "WebP": encode(photo("coffee", 61, 83), "WEBP", lossless=True),
    "BMP": encode(photo("coffee", 61, 83), "BMP"),
}

#: The pixels of one, in RGB.
BYTES = 61 * 83 * 3
