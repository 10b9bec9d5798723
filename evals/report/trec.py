"""`trec-run`, `trec-qrels` and `trec-topics`: what was retrieved, as trec_eval reads it.

A passage of the collection is a gold of the question, at the rank at which it is found; chunks that find none have
names of their own. trec_eval then gives the values of recall, nDCG and MRR that the scorecard has. It cannot where
one chunk is the first to hold several golds, for it knows one relevant item at a rank: such questions are left out.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from urllib.parse import quote

from evals.metrics.retrieval import MRR
from evals.metrics.sample import Sample
from evals.report.tables import json_line, known_of
from evals.schemas.dataset import EvalQuestion, GoldPassage
from evals.schemas.response import RetrievedChunk
from evals.schemas.results import EvalRecord
from evals.scoring.conclusion import Measured
from evals.text.numbers import counted

# Names of passages in files that know them by ids alone: TREC and BEIR.


_BLANK = re.compile(r"[\s\x00-\x20\x7f%]")

_UNFIT_IN_CELLS = re.compile(r'[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029"%]')


def passage_id(passage: GoldPassage | RetrievedChunk) -> str:
    """The name of a passage: the same for the same passage in every question.

    That is the id of the chunk, else a sum over its text, each behind the document where it is known; of what has
    neither, the document. Empty where nothing is known.
    """
    document, chunk, text = passage.document_id or "", passage.chunk_id or "", passage.text or ""
    inner = chunk or (sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12] if text else "")
    return ".".join(part for part in (document, inner) if part)


def unlike(names: Iterable[str], taken: Iterable[str] = (), mark: str = "~") -> list[str]:
    """The names, of which each stands once: one that is taken gets a number, `name~2`."""
    seen = set(taken)
    found = []
    for name in names:
        own, number = name, 1
        while not own or own in seen:
            number += 1
            own = f"{name}{mark}{number}"
        seen.add(own)
        found.append(own)
    return found


def gold_ids(question: EvalQuestion) -> list[str]:
    """A name for each gold of a question, none twice."""
    return unlike(map(passage_id, question.gold_passages))


def without_blanks(name: str) -> str:
    """A name for a line whose columns are parted by blanks.

    White space and `%` are percent-encoded as UTF-8 (RFC 3986), nothing else is: `urllib.parse.unquote` reverses it.
    """
    return _BLANK.sub(_encoded, name)


def in_a_cell(name: str) -> str:
    """A name for a cell between tabs: the same for tabs, line breaks, quotation marks and `%`; a space stays."""
    return _UNFIT_IN_CELLS.sub(_encoded, name)


def _encoded(found: re.Match[str]) -> str:
    return quote(found.group(), safe="")


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
    for question, name, grade in _judgements(measured):
        yield f"{without_blanks(question.id)} 0 {without_blanks(name)} {grade}\n"


def to_topics(measured: Measured) -> Iterator[str]:
    """Topic and question, parted by a tab, of each question that has judgements; white space becomes one space."""
    for question in _judged_questions(measured):
        yield f"{without_blanks(question.id)}\t{' '.join(question.question.split())}\n"


def _judged_questions(measured: Measured) -> Iterator[EvalQuestion]:
    return (record.question for record in measured.records() if judged(record.question))


def _judgements(measured: Measured) -> Iterator[tuple[EvalQuestion, str, int]]:
    return ((question, name, grade) for question in _judged_questions(measured) for name, grade in judged(question))


def judged(question: EvalQuestion) -> Sequence[tuple[str, int]]:
    """The names of the golds with their grades; none where a grade is no whole number."""
    grades = [gold.relevance for gold in question.gold_passages]
    if any(grade != int(grade) for grade in grades):
        return []
    return list(zip(gold_ids(question), map(int, grades), strict=True))


def why_unjudged(question: EvalQuestion) -> str | None:
    """Why a question has no judgement; None where it has."""
    if not question.gold_passages:
        return "without a gold passage"
    return None if judged(question) else "with a relevance that is no whole number"


def why_left_out(record: EvalRecord, case: Sample) -> str | None:
    """Why a question is not in the run; None where it is."""
    reason = why_unjudged(record.question)
    if reason is not None:
        return reason
    if record.response is None or record.response.error is not None:
        return "without an answer"
    result = _MRR.score(case)
    if result.value is None:
        return f"without a value: {result.reason}"
    holds_several = max(map(len, case.matches.newly_found()), default=0) > 1
    return "with a chunk that is the first to hold several golds" if holds_several else None


def run_notes(measured: Measured) -> Sequence[str]:
    """Which questions the run leaves out, with their number by reason."""
    return _told(why_left_out(record, measured.cases.of(record)) for record in measured.records())


def judgement_notes(measured: Measured) -> Sequence[str]:
    """Which questions have no judgement, with their number by reason."""
    return _told(why_unjudged(record.question) for record in measured.records())


def _told(reasons: Iterator[str | None]) -> Sequence[str]:
    counts = Counter(reason for reason in reasons if reason is not None)
    return [f"left out: {counted(count, 'question')} {reason}" for reason, count in counts.items()]


def _found(question: EvalQuestion, case: Sample) -> list[str]:
    """The names of what stands at each rank: a gold that is found there, else the chunk's own."""
    golds, newly = gold_ids(question), case.matches.newly_found()
    own = iter(unlike(map(passage_id, case.response.chunks or []), golds))
    names = [golds[next(iter(found))] if found else name for name, found in zip(own, newly, strict=True)]
    return names or [NOTHING]


# `beir`: the folder of a retrieval benchmark in the layout of BEIR.


def to_corpus(measured: Measured) -> Iterator[str]:
    """Every passage that the run holds a text of, gold or retrieved, each once."""
    seen: set[str] = set()
    for record in measured.records():
        for name, text in _passages(record):
            if name not in seen:
                seen.add(name)
                yield json_line({"_id": in_a_cell(name), "title": "", "text": text})


def to_queries(measured: Measured) -> Iterator[str]:
    """Every question with judgements; what else is known of it stands next to its text."""
    for question in _judged_questions(measured):
        yield json_line({"_id": in_a_cell(question.id), "text": question.question, **known_of(question)})


def to_judgements(measured: Measured) -> Iterator[str]:
    """Question, gold and grade between tabs, below a header."""
    yield "query-id\tcorpus-id\tscore\n"
    for question, name, grade in _judgements(measured):
        yield f"{in_a_cell(question.id)}\t{in_a_cell(name)}\t{grade}\n"


def _passages(record: EvalRecord) -> Iterable[tuple[str, str]]:
    golds = zip(gold_ids(record.question), record.question.gold_passages, strict=True)
    yield from ((name, gold.text) for name, gold in golds if gold.text)
    for chunk in (record.response.chunks if record.response else None) or []:
        if chunk.text:
            yield passage_id(chunk), chunk.text
