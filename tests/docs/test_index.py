"""docs/index.md leads to every page, and the site has the same order."""

import re
from pathlib import Path

from fenced import HOME

from evals.export import FORMATS

WHATS = ("scorecard", "report")
INDEX = (HOME / "docs" / "index.md").read_text(encoding="utf-8")


def test_the_index_leads_to_every_page_once() -> None:
    """A new page is a line in the index, and no change of the README."""
    linked = re.findall(r"\]\((\S+?\.md)\)", INDEX)
    pages = {path.name for path in (HOME / "docs").glob("*.md")} - {"index.md"}
    assert sorted(linked) == sorted(pages)


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
