"""One question whole: what was asked, expected, answered, retrieved and measured."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from evals.case.case import Case
from evals.cli.terminal.console import BAD, DOUBTFUL, clean
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, EvalRun
from evals.scoring.measured import Measured
from evals.text.counts import counted
from evals.views.details import detail_line
from evals.views.formatting import number, place_of

_DETAILS = 1000
"""Characters of a metric's details: what a check found and what is missing, but no whole passages."""
_BODY = 2000
"""Characters of a body in which no answer was found: enough to see how it is built."""


def print_question(out: Console, record: EvalRecord, measured: Measured) -> None:
    """Print a record with nothing cut."""
    _print_asked(out, record.question, record.response.turns if record.response else ())
    if record.response is None:
        out.print("not asked")
        return
    _print_failure(out, record.response)
    out.print(Text.assemble("answer    ", clean(record.response.answer or "–")))
    case = measured.cases.of(record)
    if case.response.refused is not None:
        said = "declined" if case.is_flagged else "did not decline"
        out.print(f"refused   {str(case.response.refused).lower()}: the server says that it {said}")
    if case.abstention_disputed:
        sides = ("a refusal", "an answer") if case.reads_as_refusal else ("an answer", "a refusal")
        out.print("disputed  the text rules take it for {}, the judge for {}".format(*sides), style=DOUBTFUL)
    _print_chunks(out, case)
    _print_scores(out, record, measured.run)


def _print_asked(out: Console, question: EvalQuestion, answers: Sequence[EvalResponse]) -> None:
    out.print(clean(question.id), style="bold")
    _print_before(out, question, answers)
    out.print(Text.assemble("question  ", clean(question.question)))
    out.print(Text.assemble("expected  ", clean(question.expected_answer or "–")))
    for gold in question.gold_passages:
        where = " § ".join(part for part in (gold.document_id, gold.section) if part)
        said = gold.text or ("" if where else f"chunk {gold.chunk_id}")
        out.print(Text.assemble("gold      ", clean(": ".join(part for part in (where, said) if part))))


def _print_before(out: Console, question: EvalQuestion, answers: Sequence[EvalResponse]) -> None:
    """What was said before, as far as it was answered."""
    for message, turn in zip(question.turns[:-1], answers, strict=False):
        out.print(Text.assemble("before    ", clean(message)))
        out.print(Text.assemble("      →   ", clean(turn.answer or "–")))


def _print_failure(out: Console, response: EvalResponse) -> None:
    if response.error is None:
        return
    out.print(clean(f"no answer after {counted(response.attempts, 'attempt')}: {response.error.message}"), style=BAD)
    if response.error.kind == "malformed" and response.raw:
        out.print(Text.assemble("body      ", clean(response.raw, _BODY)))


def _print_chunks(out: Console, case: Case) -> None:
    cited = {source.place for source in case.cited}
    for place, chunk in enumerate(case.response.chunks or []):
        golds = case.matches.by_chunk[place]
        marks = "".join(("✓" if golds else " ", "c" if place in cited else " "))
        rules = f" [{', '.join(sorted(set(golds.values())))}]" if golds else ""
        out.print(
            Text.assemble(f"{marks} {place + 1:>3}    ", clean(place_of(chunk)), rules, ": ", clean(chunk.text or ""))
        )
    if case.response.chunks:
        out.print("✓ holds gold, by the rule in brackets; c is cited by the answer", style="dim")


def _print_scores(out: Console, record: EvalRecord, run: EvalRun) -> None:
    units = {summary.name: summary.unit for summary in run.scorecard.metrics}
    for score in record.scores:
        unit = units.get(score.name, "ratio")
        value = number(score.value, unit) if score.value is not None else f"– {score.reason}"
        out.print(Text.assemble(f"{score.name:<32}", clean(value)))
        details = detail_line(score)
        if details:
            out.print(Text.assemble("  ", clean(details, _DETAILS)), style="dim")
