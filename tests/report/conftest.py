"""Runs for pages, and what stands in a page."""

import json
import re
from base64 import b85decode
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pyarrow
import pytest

from evals.report.document import write_report
from evals.scoring.conclusion import Measured, measured


def unpacked(letters: str) -> Any:
    """The value of a data block in a page."""
    with pyarrow.input_stream(pyarrow.py_buffer(b85decode(letters.replace(".", "<"))), compression="zstd") as stream:
        return json.loads(stream.read())


class Page(HTMLParser):
    """A page as a browser without JavaScript reads it, with its data blocks unpacked.

    Attributes:
        source: The file.
        text: What can be read.
        tags: Each element with its attributes.
        scripts: The texts of the scripts that run.
        styles: The texts of the style sheets.
        blocks: The data blocks by name.
    """

    def __init__(self, source: str) -> None:
        super().__init__()
        self.source, self.text = source, ""
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.styles: list[str] = []
        self.blocks: dict[str, Any] = {}
        self._open: tuple[str, dict[str, str | None]] = ("", {})
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open = (tag, dict(attrs))
        self.tags.append(self._open)

    def handle_endtag(self, tag: str) -> None:
        self._open = ("", {})

    def handle_data(self, data: str) -> None:
        tag, attributes = self._open
        if tag == "script" and "data-block" in attributes:
            self.blocks[str(attributes["data-block"])] = unpacked(data)
        elif tag == "script":
            self.scripts.append(data)
        elif tag == "style":
            self.styles.append(data)
        else:
            self.text += data

    @property
    def words(self) -> str:
        """What can be read, on one line."""
        return re.sub(r"\s+", " ", self.text)


@pytest.fixture
def page_of(tmp_path: Path) -> Callable[..., Page]:
    """Write the page of some runs and read it again."""

    def write(*runs: Measured) -> Page:
        path = tmp_path / "report.html"
        write_report(path, runs)
        return Page(path.read_text(encoding="utf-8"))

    return write


@pytest.fixture
def a_run(build_run: Callable[..., Any]) -> Callable[..., Measured]:
    """A measured run of some values; keywords as those of `build_run`."""

    def build(values: Any = None, run_id: str = "abcd1234", **changes: Any) -> Measured:
        run, records = build_run(run_id, values or {"q1": {"mrr": 0.5}, "q2": {"mrr": 1.0}, "q3": "timeout"}, **changes)
        return measured(run, records)

    return build
