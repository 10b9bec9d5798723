"""`trec-run`, `trec-qrels` and `trec-topics`: what was retrieved, as trec_eval reads it.

A passage of the collection is a gold of the question, at the rank at which it is found; chunks that find none have
names of their own. trec_eval then gives the values of recall, nDCG and MRR that the scorecard has. It cannot where
one chunk is the first to hold several golds, for it knows one relevant item at a rank: such questions are left out.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from evals.case.case import Case
from evals.export.passage_ids import gold_ids, grades_of, passage_id, unlike, without_blanks
from evals.metrics import MRR
from evals.schemas import EvalQuestion, EvalRecord
from evals.scoring.measured import Measured
from evals.text.counts import counted

NOTHING = "nothing-retrieved"
"""Stands for the chunks of an answer that has none: without a line, trec_eval would leave the question out."""

_MRR = MRR()
"""Has a value wherever recall and nDCG have one."""


def to_trec_run(measured: Measured) -> Iterator[str]:
    """Topic, `Q0`, passage, rank, score and the id of the run, a line a chunk.

    trec_eval sorts by score and, of equal ones, by name, and reads no ranks: scores are whole numbers that fall by one.
    """
    for record in measured.records():
        case = measured.cases.of(record)
        if why_left_out(record, case) is None:
            topic, names = without_blanks(record.question.id), _found(record.question, case)
            for rank, name in enumerate(names, start=1):
                yield f"{topic} Q0 {without_blanks(name)} {rank} {len(names) - rank + 1} {measured.run.id}\n"


def to_qrels(measured: Measured) -> Iterator[str]:
    """Topic, `0`, gold passage and its grade, a line a gold."""
    for record in measured.records():
        for name, grade in judged(record.question):
            yield f"{without_blanks(record.question.id)} 0 {without_blanks(name)} {grade}\n"


def to_topics(measured: Measured) -> Iterator[str]:
    """Topic and question, parted by a tab, of each question that has judgements; white space becomes one space."""
    for record in measured.records():
        if judged(record.question):
            yield f"{without_blanks(record.question.id)}\t{' '.join(record.question.question.split())}\n"


def judged(question: EvalQuestion) -> Sequence[tuple[str, int]]:
    """The names of the golds with their grades; none where a grade is no whole number."""
    grades = grades_of(question)
    return list(zip(gold_ids(question), grades, strict=True)) if grades is not None else []


def why_unjudged(question: EvalQuestion) -> str | None:
    """Why a question has no judgement; None where it has."""
    if not question.gold_passages:
        return "without a gold passage"
    return None if judged(question) else "with a relevance that is no whole number"


def why_left_out(record: EvalRecord, case: Case) -> str | None:
    """Why a question is not in the run; None where it is."""
    reason = why_unjudged(record.question)
    if reason is not None:
        return reason
    if record.response is None or record.response.error is not None:
        return "without an answer"
    result = _MRR.score(case)
    if result.value is None:
        return f"without a value: {result.reason}"
    return (
        "with a chunk that is the first to hold several golds"
        if max(case.matches.found_counts, default=0) > 1
        else None
    )


def run_notes(measured: Measured) -> Sequence[str]:
    """Which questions the run leaves out, with their number by reason."""
    return _told(why_left_out(record, measured.cases.of(record)) for record in measured.records())


def judgement_notes(measured: Measured) -> Sequence[str]:
    """Which questions have no judgement, with their number by reason."""
    return _told(why_unjudged(record.question) for record in measured.records())


def _told(reasons: Iterator[str | None]) -> Sequence[str]:
    counts = Counter(reason for reason in reasons if reason is not None)
    return [f"left out: {counted(count, 'question')} {reason}" for reason, count in counts.items()]


def _found(question: EvalQuestion, case: Case) -> list[str]:
    """The names of what stands at each rank: a gold that is found there, else the chunk's own."""
    golds, newly = gold_ids(question), case.matches.newly_found
    own = iter(unlike(map(passage_id, case.response.chunks or []), golds))
    names = [golds[next(iter(found))] if found else name for name, found in zip(own, newly, strict=True)]
    return names or [NOTHING]
