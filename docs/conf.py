"""Settings of Sphinx. `make docs` builds the documentation into site/."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

import fastaug  # noqa: E402
import fastaug.tv_tensors  # noqa: E402
from docs._ext import addresses, functions, pages, pictures, playground, seeing, sources, v2_examples  # noqa: E402
from fastaug._tv_tensors import own  # noqa: E402

# The reference is of our own classes, whether or not torchvision is installed where it is built.
vars(fastaug.tv_tensors).update({name: getattr(own, name) for name in own.__all__})

project = "fastaug"
version = release = fastaug.__version__
project_copyright = "fastaug contributors"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.intersphinx",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinxext.opengraph",
]
exclude_patterns = ["_ext", "_inventories"]
html_theme = "furo"
html_title = f"fastaug {version}"
# reference/static holds what `setup` draws for the playground.
html_static_path = ["_static", "demo.png", "reference/static"]
html_css_files = ["style.css"]
html_favicon = "_static/favicon.svg"
html_show_sphinx = False
html_copy_source = False
html_theme_options = addresses.theme_options()

# Headings of the notes are linked to from other pages.
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]

add_module_names = False
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"

# What is copied from an example is what one types: no prompts, no output.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"

# Pages that are shared show a picture. Addresses are relative until pyproject.toml names the site's.
ogp_site_url = addresses.documentation()
ogp_site_name = project
ogp_image = "_static/demo.png"
ogp_image_alt = "Tiles, and what three draws of a pipeline made of them"
ogp_social_cards = {"enable": False}

# Names of other packages that the reference mentions are listed here, in the plain form of inventories: the build needs
# no network. A name that is missing there is no link, and a warning if it is written out in full.
intersphinx_mapping = {
    name: (address, str(HERE / "_inventories" / f"{name}.txt")) for name, address in addresses.PACKAGES.items()
}

# Every reference to a name must resolve. Names that stand in signatures for type checkers alone have no page.
nitpicky = True
nitpick_ignore_regex = [
    (
        "py:class",
        r"Buffer|Colorspace|Compiled|Data|DTypeLike|Explanation|Info|Mapped|PathLike|Image\.Image|Path|Source|np\.ndarray|"
        r"torch\.nn\.modules\.container\.ModuleList|(fastaug\.)?_C\..*|"
        r"(fastaug\._image\.types\.)?(Array|ImageT|InputT)|fastaug\._image\.encoded\.Header|"
        r"fastaug\._switch\.(report\.Report|switch\.Installed)",
    ),
    ("py:exc", r"tarfile\.ReadError"),
]


def setup(app: Any) -> None:
    app.connect("viewcode-follow-imported", sources.follow)
    reference = HERE / "reference"
    pages.write(reference)
    pictures.draw(reference / "pictures")
    pictures.draw(reference / "function_pictures", examples=functions.FUNCTIONS)
    pictures.draw(reference / "v2_pictures", examples=v2_examples.CLASSES)
    pictures.draw(reference / "v2_function_pictures", examples=v2_examples.FUNCTIONALS)
    seeing.draw(reference / "seeing")
    playground.draw(reference / "static" / "playground")
