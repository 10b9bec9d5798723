"""Size, time and memory of the page of a large run, and how fast it is in Chromium.

    python benchmarks/report_page.py [--questions 100,5000] [--characters 1800] [--folder DIR] [--chromium PATH]
        [--make]

A question has five chunks of prose of its own, about 12 KB a record: words drawn by which word follows which in the
documentation of this project, so that they pack about as real prose does. Writing is measured in a fresh process,
memory beyond its imports (allowed: 60 MB and 0.4 KB a question). In the browser: first paint; when the first rows of
the list are there; the longest frame while the list is scrolled through; and how long a question takes to open.
"""

import argparse
import random
import re
import tempfile
from collections import defaultdict
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import saved_runs
from playwright.sync_api import sync_playwright

DOCS = Path(__file__).resolve().parents[1] / "docs"
LONGEST_FRAME = """
async () => {
  const list = document.querySelector(".virtual");
  let longest = 0, last = performance.now();
  for (let step = 0; step < 120; step += 1) {
    list.scrollTop = (list.scrollHeight * step) / 120;
    const now = await new Promise(requestAnimationFrame);
    longest = Math.max(longest, now - last);
    last = now;
  }
  return longest;
}
"""
PAINTED = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"
NOW = "() => performance.now()"


@cache
def followers() -> dict[str, list[str]]:
    """By word, those that follow it."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(DOCS.glob("*.md")):
        words = re.findall(r"[A-Za-z',.;:]+", path.read_text(encoding="utf-8"))
        for word, following in pairwise(words):
            found[word].append(following)
    return found


def prose(rng: random.Random, characters: int) -> str:
    """Words of which each has followed the one before somewhere."""
    chain = followers()
    words = [rng.choice(list(chain))]
    length = 0
    while length < characters:
        words.append(rng.choice(chain.get(words[-1]) or ["the"]))
        length += len(words[-1]) + 1
    return " ".join(words)


def browse(path: Path, chromium: str) -> dict[str, Any]:
    """What a reader waits for, in milliseconds."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(f"{path.as_uri()}#/questions", wait_until="commit")
        page.wait_for_selector(".row", state="attached")
        listed = page.evaluate(NOW)
        page.wait_for_load_state("load")
        times = {"painted": page.evaluate(PAINTED), "listed": listed, "frame": page.evaluate(LONGEST_FRAME)}
        begun = page.evaluate(NOW)
        page.locator(".row a").last.click()
        page.wait_for_selector("#page[data-ready=question] h2")
        times["opened"] = page.evaluate(NOW) - begun
        browser.close()
    return times


def main() -> None:
    """Make runs, write their pages, and print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", default="100,5000", help="sizes, with commas")
    parser.add_argument("--characters", type=int, default=1800, help="of a chunk")
    parser.add_argument("--folder", type=Path, help="where runs and pages are kept for the next time")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("--make", action="store_true", help="only write the runs, of which each is called 'a'")
    given = parser.parse_args()
    saved_runs.text = lambda rng, characters: prose(rng, given.characters if characters == 800 else characters)
    with tempfile.TemporaryDirectory() as scratch:
        for questions in map(int, given.questions.split(",")):
            folder = (given.folder or Path(scratch)) / str(questions)
            if not list(folder.glob("a_*.json")):
                saved_runs.make_run(folder, "a", questions, 0.1)
            if not given.make:
                print_row(questions, folder, given.chromium)


def print_row(questions: int, folder: Path, chromium: str) -> None:
    """All figures of one size."""
    record = sum(path.stat().st_size for path in folder.glob("*.records.jsonl")) / questions
    page = folder / "page.html"
    seconds, _, peak = saved_runs.measured(folder, ("report", "a", "-o", str(page)))
    times = browse(page, chromium)
    told = ", ".join(f"{name} {value or 0:.0f} ms" for name, value in times.items())
    size = page.stat().st_size / 1e6
    print(
        f"{questions:>6} of {record / 1000:.1f} KB: {size:.1f} MB in {seconds:.1f} s, {peak:.0f} MB; {told}", flush=True
    )


if __name__ == "__main__":
    main()
