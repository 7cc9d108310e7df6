"""The documents as a site: built strictly, complete, and read from files without a network."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parents[2]


class Page(HTMLParser):
    """Links, resources and anchors of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.resources: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in ("script", "img", "link", "iframe") and given.get("rel") != "canonical":
            self.resources += [given[name] for name in ("src", "href") if name in given]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("mkdocs", reason="MkDocs is not installed")
    folder = tmp_path_factory.mktemp("site")
    # Not with --quiet, which silences the warnings that --strict counts.
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    done = subprocess.run(
        [*command, "--site-dir", str(folder)], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_every_document_is_a_page(site: Path) -> None:
    for document in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")):
        page = document.relative_to(ROOT).with_suffix(".html")
        page = page.with_name("index.html") if page.name == "README.html" else page
        assert (site / page).is_file(), page


def test_links_lead_to_files_and_anchors_of_the_site(site: Path) -> None:
    pages = {path: Page(path) for path in site.rglob("*.html")}
    assert len(pages) > 15
    checked = 0
    for path, page in pages.items():
        if path.name == "404.html":  # only a server shows it
            continue
        for link in page.links + page.resources:
            parts = urlsplit(link)
            if parts.scheme in ("http", "https"):
                continue
            assert not parts.scheme, f"{path.name}: {link}"
            assert not parts.path.startswith("/"), f"{path.name}: {link} needs a server"
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target.is_file(), f"{path.name}: {link}"
            if parts.fragment and target.suffix == ".html":
                assert parts.fragment in pages[target].anchors, f"{path.name}: {link}"
            checked += 1
    assert checked > 300


def test_a_page_needs_no_network(site: Path) -> None:
    for path in site.rglob("*.html"):
        for resource in Page(path).resources:
            assert not re.match(r"(https?:)?//", resource), f"{path.name}: {resource}"
    for path in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(https?:)?//", path.read_text(encoding="utf-8")), path
