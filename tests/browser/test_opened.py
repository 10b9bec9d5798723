"""What the tests of pages rest on: an error, a request, a dialog or an unreadable page is seen."""

from collections.abc import Callable
from pathlib import Path

import pytest
from browser.opened import OpenedPage
from browser.tools import axe_script, chromium_path

pytestmark = pytest.mark.browser

OpenPage = Callable[..., OpenedPage]
Write = Callable[..., Path]
SCRIPTS = {
    "throw new Error('broken')": "error: broken",
    "console.error('unhappy')": "console error: unhappy",
    "console.warn('uneasy')": "console warning: uneasy",
    "alert('hello')": "dialog: hello",
}


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a page with this body and these lines in its head."""

    def page(body: str, head: str = "<title>A page</title>") -> Path:
        path = tmp_path / "page.html"
        path.write_text(f"<!doctype html><html lang=en>{head}<main id=page data-ready>{body}</main>", encoding="utf-8")
        return path

    return page


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS)
def test_what_goes_wrong_in_a_page_is_seen(script: str, open_page: OpenPage, write: Write) -> None:
    """A script that fails, a complaint on the console and a dialog are each told, and the check fails."""
    opened = open_page(write(f"<h1>A page</h1><script>{script}</script>"))
    assert opened.problems == [SCRIPTS[script]]
    with pytest.raises(AssertionError):
        opened.check()


def test_a_request_that_leaves_the_file_is_seen(open_page: OpenPage, write: Write) -> None:
    """Of a picture in the page and of one beside it, only the latter leaves; a policy that forbids it complains."""
    inside = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="
    opened = open_page(write(f"<img src='{inside}' alt=dot><img src='beside.gif' alt=dot>"))
    assert [Path(url).name for url in opened.leaving] == ["beside.gif"]
    forbid = "<title>A page</title><meta http-equiv=Content-Security-Policy content=\"default-src 'none'\">"
    forbidden = open_page(write("<img src='https://127.0.0.1:1/x.gif' alt=dot>", forbid))
    assert "Content Security Policy" in forbidden.problems[0]


def test_a_page_that_is_as_it_should_be_passes(open_page: OpenPage, write: Write, axe: str) -> None:
    """Nothing to complain of, and nothing that axe-core finds serious."""
    opened = open_page(write("<h1>A page</h1><p>All is well."), "#place")
    opened.check()
    assert opened.violations(axe) == []


def test_what_cannot_be_read_is_a_violation(open_page: OpenPage, write: Write, axe: str) -> None:
    """Light grey on white, and a picture that nobody describes."""
    opened = open_page(write("<h1>A page</h1><p style='color:#ccc'>Faint.<img src='data:image/gif;base64,R0lG'>"))
    found = opened.violations(axe)
    assert [one.split()[0] for one in found] == ["color-contrast", "image-alt"]


@pytest.mark.parametrize("name", ["chromium", "axe-core"])
def test_without_its_tools_a_test_is_skipped_and_fails_where_ci_is_set(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The reason names what is lacking and how to get it."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("browser.tools.AXE", tmp_path / "axe.min.js")
    look = {"chromium": chromium_path, "axe-core": axe_script}[name]
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match=f"{name} is not installed: .*(apt-get|npm) "):
        look()
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match=f"{name} is not installed"):
        look()
