"""Settings of Sphinx. `make docs` builds the documentation into site/."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

import fastaug  # noqa: E402
import fastaug.tv_tensors  # noqa: E402
from docs._ext import pages, pictures, seeing  # noqa: E402
from fastaug._tv_tensors import own  # noqa: E402

# The reference is of our own classes, whether or not torchvision is installed where it is built.
vars(fastaug.tv_tensors).update({name: getattr(own, name) for name in own.__all__})

project = "fastaug"
version = release = fastaug.__version__
project_copyright = "fastaug contributors"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_ext"]
html_theme = "furo"
html_title = f"fastaug {version}"
html_static_path = ["_static"]
html_css_files = ["style.css"]
html_show_sphinx = False
html_copy_source = False

# Headings of the notes are linked to from other pages.
myst_heading_anchors = 3

add_module_names = False
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
maximum_signature_line_length = 88

# Every reference to a name of fastaug must resolve. Other packages are not looked up: the build needs no network. Names
# that stand in signatures for type checkers alone have no page either.
nitpicky = True
nitpick_ignore_regex = [
    ("py:class", r"(PIL|collections|contextlib|numpy|np|os|torch|typing)\..*"),
    ("py:exc", r"(PIL|torch)\..*"),
    (
        "py:class",
        r"Buffer|Colorspace|Compiled|Data|DTypeLike|Explanation|Mapped|PathLike|Image\.Image|Path|Source|(fastaug\.)?_C\..*|"
        r"(fastaug\._image\.types\.)?(Array|ImageT|InputT)|fastaug\._image\.encoded\.Header",
    ),
]


def setup(app: Any) -> None:
    reference = HERE / "reference"
    pages.write(reference)
    pictures.draw(reference / "pictures")
    seeing.draw(reference / "seeing")
