"""How Sphinx builds the site.

The source folder is the root of the repository, so that a page links to another, to CONTRIBUTING.md or to a table of
benchmarks by the same path on the site and in a browser of the code.
"""

import logging
import os
import re
import warnings
from pathlib import Path

from sklearn.experimental import enable_iterative_imputer  # noqa: F401  for examples that are looked at but not run
from sphinx.application import Sphinx
from sphinx_gallery.sorting import ExplicitOrder, FileNameSortKey

import gapkernel

project = "gapkernel"
author = "The gapkernel developers"
copyright = author
version = release = gapkernel.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "sphinxext.opengraph",
]
root_doc = "docs/index"
include_patterns = [
    "docs/**",
    "benchmarks/results/*.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "CODE_OF_CONDUCT.md",
]
exclude_patterns = ["docs/_*/**"]
templates_path = [str(Path(__file__).with_name("_templates"))]
default_role = "py:obj"

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's types say more
numpydoc_show_class_members = False  # the template of classes lists them
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

intersphinx_mapping = {
    "python": ("https://docs.python.org/3", None),
    "numpy": ("https://numpy.org/doc/stable", None),
    "scipy": ("https://docs.scipy.org/doc/scipy", None),
    "sklearn": ("https://scikit-learn.org/stable", None),
}
if not os.environ.get("DOCS_URL"):
    intersphinx_mapping = {}  # a local build needs no network; the published one sets DOCS_URL

html_baseurl = ogp_site_url = os.environ.get("DOCS_URL", "")
ogp_social_cards = {"enable": True, "image": "docs/_static/mark.png", "line_color": "#0f766e"}
html_theme = "pydata_sphinx_theme"
html_title = "gapkernel"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["_root"]
html_favicon = "_static/mark.svg"
html_show_sourcelink = False
html_sidebars = {"docs/start": [], "CHANGELOG": [], "docs/glossary": [], "docs/cite": [], "docs/command_line": []}
html_theme_options = {
    "logo": {"image_light": "_static/logo.svg", "image_dark": "_static/logo_dark.svg", "alt_text": "gapkernel"},
    "navbar_center": ["navbar-nav"],
    "navbar_persistent": ["search-button"],
    "navbar_end": ["version-switcher", "theme-switcher"],
    "header_links_before_dropdown": 6,
    "show_nav_level": 2,
    "switcher": {"json_url": f"{html_baseurl.rstrip('/')}/_static/switcher.json", "version_match": version},
    "check_switcher": False,  # it looks beside the sources, not in the static files
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

SECTIONS = ("laws", "choosing", "how_sure", "beyond", "in_use")
sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "docs/gallery",
    "filename_pattern": os.environ.get("EXAMPLES", r"/plot_"),
    "subsection_order": ExplicitOrder([f"examples/{name}" for name in SECTIONS]),
    "within_subsection_order": FileNameSortKey,
    "backreferences_dir": "docs/reference/backreferences",
    "doc_module": ("gapkernel",),
    "reference_url": {"gapkernel": None},
    "image_scrapers": ("matplotlib",),
    "remove_config_comments": True,
    "show_memory": False,
    "download_all_examples": False,
    "abort_on_example_error": False,
    "write_computation_times": False,
    "min_reported_time": 20,
}
suppress_warnings = ["config.cache"]  # sphinx-gallery keeps a function in its settings
warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")
logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)  # the font of the social cards has no bold


def add_examples(app: Sphinx, what: str, name: str, obj, options, lines: list[str]) -> None:
    """End the text of a public class or function with the examples that use it."""
    # methods inherited from scikit-learn refer to its guide, which is there only if its inventory is
    lines[:] = [re.sub(r":ref:`([^`<]*?)(?: <[^`]*>)?`", r"\1", line) for line in lines]
    if what in ("class", "function"):
        examples = Path(app.srcdir, "docs/reference/backreferences", f"{name}.examples")
        if examples.exists() and examples.stat().st_size:
            lines += ["", f".. include:: /docs/reference/backreferences/{name}.examples", ""]


def link_gallery(app: Sphinx, page: str, source: list[str]) -> None:
    """Where a page of docs/guide links to the code of an example, the site links to its page in the gallery."""
    source[0] = re.sub(r"\]\(\.\./\.\./examples/(\w+/plot_\w+)\.py\)", r"](../gallery/\1.rst)", source[0])


def setup(app: Sphinx) -> None:
    app.connect("autodoc-process-docstring", add_examples, priority=900)
    app.connect("source-read", link_gallery)
