"""A hook of MkDocs: the site has the folders of the project, so that links need no change.

MkDocs takes documents from one folder. Ours are in several, and link to each other and to sources
by their places in the project; what they link to is a part of the site.
"""

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]

PATTERNS = ("*.md", "docs/**/*.md", "config/README.md", "kernels/README.md")

LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The project's documents, and every file that one of them links to."""
    documents = {path for pattern in PATTERNS for path in ROOT.glob(pattern)}
    linked = {
        (document.parent / target).resolve()
        for document in documents
        for target in LINK.findall(document.read_text(encoding="utf-8"))
    }
    result = Files([file for file in files if file.src_uri.startswith(("css/", "js/", "img/"))])
    for path in sorted(documents | {path for path in linked if path.is_file()}):
        if path.is_relative_to(ROOT):
            name = path.relative_to(ROOT).as_posix()
            result.append(File.generated(config, name, abs_src_path=str(path)))
    return result
