"""How well quotations are checked: python benchmarks/quotations.py [FILE.jsonl] [--write].

Without a file, the quotations of the tests are checked: those made by rules of the sections of the golden corpus, and
those made by hand. With a file, quotations are made by the same rules of its rows' `text` (or of all texts of at least
200 characters in a row without one). Then the items are counted that a judge loses who joins every twentieth of its
quotations by ";". --write makes the quotations of the golden corpus anew.
"""

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from quotation_rules import ALTERED, FOUND, Passage, Rule, passage_of, sections

from evals.judges.prompt import load_prompt
from evals.judges.quotes import faults_of, is_quoted

TESTS = Path(__file__).resolve().parent.parent / "tests" / "judges"
BY_RULE, BY_HAND = TESTS / "quotations_by_rule.jsonl", TESTS / "quotations_by_hand.jsonl"
CORPUS = files("evals") / "data" / "golden_corpus"
A_RULE = 14
"""Quotations of each rule at most, in the tests."""
REPLIES, ITEMS, JOINED = 1000, 8, 0.05
Row = dict[str, Any]


def main() -> None:
    """Print a row for each kind of quotation, and the items lost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, help="rows with a text, one JSON object a line")
    parser.add_argument("--write", action="store_true", help="make the quotations of the golden corpus anew")
    options = parser.parse_args()
    passages = [passage_of(text) for text in (texts_in(options.file) if options.file else golden_sections().values())]
    if options.write:
        write()
    made = list(quotations(passages, 10**9)) if options.file else [*read(BY_RULE), *read(BY_HAND)]
    print_figures(made)
    print_losses(passages)


def quotations(passages: Iterable[Passage], most: int) -> Iterator[Row]:
    """Quotations by every rule, one of a passage; of each rule so many at most."""
    passages = list(passages)
    for found, rules in ((True, FOUND), (False, ALTERED)):
        for kind, rule in rules.items():
            yield from _made(kind, rule, passages, found, most)


def _made(kind: str, rule: Rule, passages: list[Passage], found: bool, most: int) -> Iterator[Row]:
    rng = random.Random(kind)  # noqa: S311 - examples
    there = 0
    for number in rng.sample(range(len(passages)), len(passages)):
        passage = passages[number]
        quote = rule(passage, rng)
        if quote is None or (not found and _plain(quote) in _plain(passage.text)):
            continue
        yield {"kind": kind, "found": found, "quote": quote, "text": passage.text}
        there += 1
        if there == most:
            return


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


@cache
def golden_sections() -> dict[str, str]:
    """The sections of the golden corpus, by document and number."""
    return {
        f"{path.name}#{n}": text
        for path in sorted(CORPUS.iterdir(), key=lambda path: path.name)
        for n, text in enumerate(sections(path.read_text(encoding="utf-8")))
    }


def write() -> None:
    """Make the quotations of the tests; their texts are named, not copied."""
    names = {passage_of(text).text: name for name, text in golden_sections().items()}
    rows = quotations(map(passage_of, golden_sections().values()), A_RULE)
    lines = [json.dumps({**row, "text": names[row["text"]]}, ensure_ascii=False) for row in rows]
    BY_RULE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read(file: Path) -> list[Row]:
    """The quotations of a file, with their texts."""
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [{**row, "text": golden_sections().get(row["text"], row["text"])} for row in rows]


def texts_in(file: Path) -> list[str]:
    """The texts of a file of rows."""
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [text for row in rows for text in ([row["text"]] if "text" in row else long_texts(row))]


def long_texts(value: Any) -> Iterator[str]:
    """The texts of at least 200 characters somewhere in a row."""
    if isinstance(value, str) and len(value) >= 200:
        yield value
    elif isinstance(value, (dict, list)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from long_texts(part)


def print_figures(rows: Iterable[Row]) -> None:
    """How many of each kind are taken for quotations."""
    asked, taken = Counter[tuple[bool, str]](), Counter[tuple[bool, str]]()
    for row in rows:
        kind = (not row["found"], row["kind"])
        asked[kind] += 1
        taken[kind] += is_quoted(row["quote"], [row["text"]])
    for altered, kind in sorted(asked):
        print(f"{'altered' if altered else 'faithful':10} {kind:36} {taken[altered, kind]:6} of {asked[altered, kind]}")
    for altered, name in ((False, "faithful, found"), (True, "altered, taken for one")):
        counts = [(taken[kind], count) for kind, count in asked.items() if kind[0] is altered]
        print(f"{name:47} {sum(n for n, _ in counts):6} of {sum(n for _, n in counts)}")


def print_losses(passages: Iterable[Passage]) -> None:
    """How many items, and whole replies, a judge loses who joins some of its quotations by ";"."""
    rng = random.Random(2)  # noqa: S311 - a simulation
    long = [passage for passage in passages if len(passage.sentences) > 2]
    items = replies = 0
    for _ in range(REPLIES):
        some = rng.sample(long, min(len(long), ITEMS))
        data = {"contexts": [{"id": n, "text": passage.text} for n, passage in enumerate(some, start=1)]}
        claims = [_claim(passage, rng) for passage in some]
        lost = len(faults_of(load_prompt("faithfulness"), {"claims": claims}, data))
        items += lost
        replies += bool(lost)
    print(
        f"items lost, {JOINED:.0%} of the quotations joined by ;   {items} of {REPLIES * ITEMS}, in {replies} replies"
    )


def _claim(passage: Passage, rng: random.Random) -> Row:
    rule = "joined by ;" if rng.random() < JOINED else "as it stands"
    quote = FOUND[rule](passage, rng)
    return {"claim": quote, "justification": "It says so.", "quote": quote, "verdict": "supported"}


if __name__ == "__main__":
    main()
