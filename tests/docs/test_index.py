"""docs/index.md leads to every page, and the site has the same order."""

import re
from pathlib import Path
from runpy import run_path

from fenced import HOME

from evals.export import FORMATS

WHATS = ("scorecard", "report")
INDEX = (HOME / "docs" / "index.md").read_text(encoding="utf-8")


def test_the_index_leads_to_every_page_once() -> None:
    """A new page is a line in the index, and no change of the README."""
    linked = re.findall(r"\]\((\S+?\.md)\)", INDEX)
    pages = {path.name for path in (HOME / "docs").glob("*.md")} - {"index.md"}
    assert sorted(linked) == sorted(pages)


def test_the_site_is_navigated_by_the_parts_of_the_index() -> None:
    """Each part with its pages, in their order, between README and the pages about the project."""
    navigation = run_path(str(HOME / "docs" / "site.py"))["navigation"]()
    parts = {title: pages for part in navigation for title, pages in part.items()}
    titles = re.findall(r"^## (.+)$", INDEX, re.MULTILINE)
    assert list(parts) == ["Overview", *titles, "Project"]
    assert {"Tutorial": "docs/tutorial.md"} in parts["Start"]
    assert sum(len(parts[title]) for title in titles) == len(re.findall(r"\]\(", INDEX))


def test_what_a_page_of_the_site_would_load_from_a_network_is_found() -> None:
    """Scripts, styles, fonts and pictures of elsewhere; a link that somebody follows is none of them."""
    loaded = run_path(str(HOME / "docs" / "site.py"))["LOADED"]
    assert loaded.search('<script src="https://cdn.example.com/a.js">')
    assert loaded.search('<link rel="stylesheet" href="//fonts.example.com/a.css">')
    assert loaded.search('<link href="https://fonts.example.com/a.css" rel="stylesheet">')
    assert not loaded.search('<a href="https://example.com/">x</a><script src="assets/a.js"></script>')
    assert not loaded.search('<link rel="canonical" href="https://example.com/">')


def test_the_readme_leads_to_the_index() -> None:
    """One link, however many pages there are."""
    assert "](docs/index.md)" in (HOME / "README.md").read_text(encoding="utf-8")


def test_the_table_of_exports_names_every_format() -> None:
    """docs/export.md has a row for each."""
    page = (HOME / "docs" / "export.md").read_text(encoding="utf-8")
    cells = re.findall(r"^\| (`.+?) \|", page, re.MULTILINE)
    assert {name for cell in cells for name in re.findall(r"`([\w-]+)`", cell)} >= set(FORMATS)


def test_the_pictures_of_the_readme_are_small_and_load_nothing() -> None:
    """Light and dark of each, below 200 KB; what is drawn as text names no other place to load from."""
    shown = re.findall(r'(?:src|srcset)="([^"]+)"', (HOME / "README.md").read_text(encoding="utf-8"))
    assert sorted(Path(name).stem for name in shown) == [
        "report-dark",
        "report-light",
        "scorecard-dark",
        "scorecard-light",
    ]
    for path in (HOME / name for name in shown):
        assert path.stat().st_size < 200_000, path.name
        if path.suffix == ".svg":
            assert not re.search(r"(?:href|src)=|url\(\s*[\"']?(?!#)|@import", path.read_text(encoding="utf-8"))
