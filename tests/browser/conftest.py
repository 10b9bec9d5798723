"""Chromium for the tests of pages. Each file of tests has a browser of its own.

While a browser is open, Playwright keeps a loop running in this thread, in which nothing else can run one: what needs
`asyncio.run`, as `eval` does, is a process of its own here (`saved.py`).
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from browser.opened import OpenedPage
from browser.tools import axe_script, chromium_path
from playwright.sync_api import Browser, sync_playwright

from evals.report.document import write_report
from evals.scoring.conclusion import measured
from evals.store.runs import RunStore

OpenPage = Callable[..., OpenedPage]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A headless Chromium."""
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium has no sandbox for root
    path = chromium_path()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium: Browser) -> Iterator[OpenPage]:
    """Open a file, or an address, in a window of its own; keywords say how wide, in which colours, and where in it."""
    contexts = []

    def opened(
        place: Path | str,
        fragment: str = "",
        *,
        width: int = 1280,
        height: int = 800,
        scheme: str = "light",
        javascript: bool = True,
        within: str = "",
        ready: str | None = "#page[data-ready]",
    ) -> OpenedPage:
        context = chromium.new_context(
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            java_script_enabled=javascript,
        )
        contexts.append(context)
        address = place.as_uri() if isinstance(place, Path) else place
        page = OpenedPage(context.new_page(), address, within)
        page.open(fragment, ready=ready)
        return page

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def write_page() -> Callable[..., Path]:
    """Write the page of saved runs beside them, by their ids."""

    def written(folder: Path, *run_ids: str) -> Path:
        store, path = RunStore(folder), folder / f"{'-'.join(run_ids)}.html"
        runs = [store.load(run_id) for run_id in run_ids]
        write_report(path, [measured(run, store.open_records(run)) for run in runs])
        return path

    return written


@pytest.fixture(scope="session")
def axe() -> str:
    """The script of axe-core."""
    return axe_script()
