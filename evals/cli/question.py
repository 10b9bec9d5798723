"""One question whole: what was asked, expected, answered, retrieved and measured."""

from rich.console import Console
from rich.text import Text

from evals.cli.console import clean, number
from evals.cli.report import citation_base, match_settings
from evals.metrics.case import Case
from evals.metrics.registry import parse_metric
from evals.schemas import EvalRecord, EvalRun

_DETAILS = 1000
"""Characters of a metric's details: what a check found and what is missing, but no whole passages."""


def print_question(out: Console, record: EvalRecord, run: EvalRun) -> None:
    """Print a record with nothing cut."""
    question, response = record.question, record.response
    out.print(clean(question.id), style="bold")
    out.print(Text.assemble("question  ", clean(question.question)))
    out.print(Text.assemble("expected  ", clean(question.expected_answer or "–")))
    for gold in question.gold_passages:
        where = " § ".join(part for part in (gold.document_id, gold.section) if part) or "gold"
        out.print(Text.assemble("gold      ", clean(where), ": ", clean(gold.text)))
    if response is None:
        out.print("not asked")
        return
    if response.error is not None:
        out.print(clean(f"no answer after {response.attempts} attempts: {response.error.message}"), style="red")
    out.print(Text.assemble("answer    ", clean(response.answer or "–")))
    _print_chunks(out, Case(question, response, record.verdicts, match_settings(run), citation_base(run)))
    _print_scores(out, record)


def _print_chunks(out: Console, case: Case) -> None:
    cited = {source.place for source in case.cited}
    for place, chunk in enumerate(case.response.chunks or []):
        golds = case.matches.by_chunk[place]
        marks = "".join(("✓" if golds else " ", "c" if place in cited else " "))
        name = chunk.document_name or chunk.document_id or chunk.chunk_id or "?"
        rules = f" [{', '.join(sorted(set(golds.values())))}]" if golds else ""
        where = f"{name} § {chunk.section}" if chunk.section else name
        out.print(Text.assemble(f"{marks} {place + 1:>3}    ", clean(where), rules, ": ", clean(chunk.text or "")))


def _print_scores(out: Console, record: EvalRecord) -> None:
    for score in record.scores:
        unit = parse_metric(score.name).unit
        value = number(score.value, unit) if score.value is not None else f"– {score.reason}"
        out.print(Text.assemble(f"{score.name:<32}", clean(value)))
        details = ", ".join(f"{key} {_spelled(value)}" for key, value in score.details.items() if _is_plain(value))
        if details:
            out.print(Text.assemble("  ", clean(details, _DETAILS)), style="dim")


def _is_plain(detail: object) -> bool:
    """Whether a detail can be read on a line: a word, a number, yes or no, or a list of words."""
    if isinstance(detail, list):
        return bool(detail) and all(isinstance(item, str) for item in detail)
    return isinstance(detail, str | int | float)


def _spelled(detail: object) -> str:
    if isinstance(detail, bool):
        return "✓" if detail else "✗"
    if isinstance(detail, list):
        return f"[{'; '.join(detail)}]"
    return f"{detail:.3g}" if isinstance(detail, float) else str(detail)
