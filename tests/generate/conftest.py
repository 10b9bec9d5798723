"""A model that follows rules, documents of a small harbour, and the command that makes questions of them."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

RULES = {"then": {"python": "judge"}}
"""What makes the imitation of the Messages API write and answer questions by its rules."""

FERRY = """# Harbour of Oare

## Ferry

The ferry Heron carries 90 passengers and 12 bicycles between Oare and Brennick. It leaves at 7:40 and at 16:10 on
every weekday, and on 25 December it stays in port. Tickets are sold on board by Mara Quill. A day ticket costs $14.50
under tariff code HX-7. Dogs travel free of charge, and so do children below the age of six. In calm weather the
crossing takes 35 minutes, and waves of more than two metres stop the service.
"""

YARD = """# Boatyard of Carrow

## Vessels

The yard built the Heron in 1998 and the Plover in 2004, both of larch and oak. Forty people work in the yard, most of
them carpenters from the village. A new hull takes eleven months, and the waiting list has nine names at present. The
yard sells planks to amateurs on the first Saturday of each month between 9:00 and noon. Repairs are paid by the hour at
a rate of $62, and storms in the winter bring more of them than the yard can take.
"""

HARBOUR = {"ferry.md": FERRY, "yard.md": YARD}

GOOD: dict[str, Any] = {
    "quotations": ["A day ticket costs $14.50\nunder tariff code HX-7."],
    "question": "What is the price for going over to Brennick as often as you like in 24 hours?",
    "answer": "$14.50",
    "kind": "number",
    "verdict": "question",
    "injection_suspected": False,
}
"""A draft about the ferry that passes every check."""

# By the seed of the tests the yard is drawn before the ferry.
GOOD_PAIR: dict[str, Any] = {
    "quotation_a": "The yard built the Heron in 1998",
    "quotation_b": "The ferry Heron carries 90 passengers",
    "bridge": "Heron",
    "question": "How many people fit on the boat to Brennick, and when did the carpenters of Carrow finish it?",
    "answer": "90 passengers, 1998",
    "verdict": "question",
    "injection_suspected": False,
}


def solved(answer: str, *passages: int) -> dict[str, Any]:
    """A rule by which the solver gives this answer from these passages, or none."""
    verdict = "answered" if answer else "not_answerable"
    said = {"quote": answer, "passages": list(passages), "answer": answer, "verdict": verdict}
    return {"schema_has": "passages", "then": {"json": said}}


def drafted(**fields: Any) -> dict[str, Any]:
    """A rule by which the writer gives this draft, of the form that it has the fields of."""
    marks = {"bridge": "bridge", "attribute": "attribute"}
    return {"schema_has": next((mark for mark in marks if mark in fields), "quotations"), "then": {"json": fields}}


def write_files(folder: Path, files: Mapping[str, str]) -> Path:
    """Write documents, in folders where their names have some."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """A folder with the two documents of the harbour."""
    return write_files(tmp_path / "docs", HARBOUR)


@pytest.fixture
def generate(
    evals_cli: Callable[..., Any], messages_api: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Any]:
    """Run `evals generate` in a folder of the test, by the rules."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-fine")
    monkeypatch.chdir(tmp_path)
    messages_api.script(RULES)
    return lambda *arguments: evals_cli(
        "generate", *arguments, "--base-url", messages_api.url, "--runs-dir", tmp_path / "runs"
    )
