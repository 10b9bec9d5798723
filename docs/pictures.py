"""Draw the pictures of the README anew: python docs/pictures.py. Of a run of the built-in server on the golden set.

Each is drawn light and dark. The terminal is an SVG that loads nothing; the page of the report is seen by Debian's
Chromium, through Playwright, and is a PNG.
"""

import io
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright
from rich.console import Console
from rich.terminal_theme import DEFAULT_TERMINAL_THEME, SVG_EXPORT_THEME, TerminalTheme

from evals import EvalConfig, run_evaluation
from evals.cli.saved import run_parts
from evals.cli.terminal import show
from evals.report.page import write_report
from evals.scoring.saved import SavedRun, open_saved
from evals.store.runs import RunStore

PICTURES = Path(__file__).resolve().parent / "pictures"
CHROMIUM = "/usr/bin/chromium"
SIZE = {"width": 1000, "height": 900}
THEMES: dict[str, TerminalTheme] = {"light": DEFAULT_TERMINAL_THEME, "dark": SVG_EXPORT_THEME}


def terminal(run: SavedRun, theme: str) -> None:
    """What `evals eval` prints first, as it stands on a terminal."""
    out = Console(record=True, width=100, file=io.StringIO(), highlight=False, markup=False, force_terminal=True)
    show(out, run_parts(run, None))
    svg = out.export_svg(title="evals eval --embedded --no-judge", code_format=_SVG, theme=THEMES[theme])
    (PICTURES / f"scorecard-{theme}.svg").write_text(svg, encoding="utf-8")


def page(browser: Browser, report: Path, theme: str) -> None:
    """The top of the page that `evals report` writes."""
    shown = browser.new_page(viewport=SIZE, color_scheme=theme)  # type: ignore[arg-type]
    shown.goto(report.as_uri())
    shown.wait_for_load_state("networkidle")
    shown.screenshot(path=PICTURES / f"report-{theme}.png")
    shown.close()


# A window without fonts from elsewhere: the picture loads nothing.
_SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">
<style>
.{unique_id}-matrix {{
  font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px;
}}
.{unique_id}-title {{ font-size: 18px; font-family: sans-serif; }}
{styles}
</style>
<defs>
{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def main() -> int:
    """Make one run, and all pictures of it."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        run = run_evaluation(EvalConfig(embedded=True, judge=False, runs_dir=folder, name="golden"))
        report = Path(folder) / "report.html"
        done = open_saved(RunStore(folder), run)
        write_report(report, [done])
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for theme in THEMES:
            terminal(done, theme)
            page(browser, report, theme)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
