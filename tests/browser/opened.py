"""A page that is open in Chromium, with all that went wrong since."""

from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import ConsoleMessage, Dialog, Page, Request

_PATIENCE_MS = 20_000
_BAD_MESSAGES = ("error", "warning")
_INSIDE = ("data:", "blob:")
_GO = """
fragment => {
  document.getElementById("page").removeAttribute("data-ready");
  location.hash = fragment;
}
"""
_RUN_AXE = """
async () => {
  const found = await axe.run(document, {resultTypes: ["violations"]});
  return found.violations.map(each => ({
    id: each.id, impact: each.impact, help: each.help,
    where: each.nodes.slice(0, 3).map(node => node.target.join(" ")),
  }));
}
"""


@dataclass
class OpenedPage:
    """A page.

    Attributes:
        page: As Playwright has it.
        address: Its address.
        within: What is requested must begin so, or lie in the page itself: the address, where nothing else is said.
        problems: Errors of scripts, errors and warnings of the console, dialogs, and new windows, in their order.
        requests: Addresses that were asked for, in their order.
    """

    page: Page
    address: str
    within: str = ""
    problems: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.set_default_timeout(_PATIENCE_MS)
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        self.page.on("dialog", self._asked)
        self.page.on("popup", lambda other: self.problems.append(f"window: {other.url}"))
        self.page.on("request", self._requested)

    def open(self, fragment: str = "", *, ready: str | None = "#page[data-ready]") -> None:
        """Go to a place in the page, and wait until an element says that all is there."""
        self.page.goto(f"{self.address}{fragment}", wait_until="load")
        if ready is not None:
            self.page.wait_for_selector(ready, state="attached")

    def go(self, fragment: str, name: str) -> None:
        """Go to another page of the same file, and wait until it is there."""
        self.page.evaluate(_GO, fragment)
        self.page.wait_for_selector(f'#page[data-ready="{name}"]', state="attached")

    @property
    def leaving(self) -> list[str]:
        """The addresses asked for that are not of this page."""
        return [url for url in self.requests if not url.startswith((self.within or self.address, *_INSIDE))]

    def check(self) -> None:
        """Assert that nothing went wrong and no request left the page."""
        assert self.problems == []
        assert self.leaving == []

    def text(self, selector: str = "body") -> str:
        """What a reader sees of the first such element."""
        return self.page.inner_text(selector)

    def violations(self, script: str) -> list[str]:
        """What axe-core calls serious or critical, each with where.

        Args:
            script: axe-core. It is run past the policy of the page, as the tools of a developer are.
        """
        self.page.evaluate(script)
        found: list[dict[str, Any]] = self.page.evaluate(_RUN_AXE)
        grave = [each for each in found if each["impact"] in {"serious", "critical"}]
        return [f"{each['id']} ({each['impact']}): {each['help']}: {'; '.join(each['where'])}" for each in grave]

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in _BAD_MESSAGES:
            self.problems.append(f"console {message.type}: {message.text}")

    def _asked(self, dialog: Dialog) -> None:
        self.problems.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _requested(self, request: Request) -> None:
        self.requests.append(request.url)
