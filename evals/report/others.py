"""A run for other tools: `ragas`, and `trec-run` with `trec-qrels` for trec_eval."""

import json
import re
from collections.abc import Iterator
from hashlib import sha256
from urllib.parse import quote

from evals.metrics.retrieval import MRR
from evals.metrics.sample import Sample
from evals.schemas.dataset import EvalQuestion, GoldPassage
from evals.schemas.response import RetrievedChunk
from evals.schemas.results import EvalRecord
from evals.scoring.saved import SavedRun

_BLANK = re.compile(r"[\s\x00-\x20\x7f%]")
_MRR = MRR()


def to_ragas(saved: SavedRun) -> Iterator[str]:
    """A line a question, as `EvaluationDataset.from_jsonl` of ragas reads it; it passes over the fields of ours."""
    for record in saved.records():
        question, response = record.question, record.response
        chunks = [chunk for chunk in (response.chunks if response else None) or () if chunk.text]
        row = {
            "user_input": question.question,
            "response": response.answer if response else None,
            "reference": question.expected_answer,
            "reference_contexts": [gold.text for gold in question.gold_passages if gold.text],
            "retrieved_contexts": [chunk.text for chunk in chunks]
            if response and response.chunks is not None
            else None,
            "id": question.id,
            "is_unanswerable": question.is_unanswerable,
            "metadata": question.metadata or None,
        }
        yield f"{json.dumps(row, ensure_ascii=False)}\n"


# trec_eval: a passage of the collection is a gold of the question, at the rank at which it is found.


def passage_id(passage: GoldPassage | RetrievedChunk) -> str:
    """The name of a passage: its chunk id, else a hash of its text, each behind the document where it is known."""
    inner = passage.chunk_id or (sha256(passage.text.encode()).hexdigest()[:12] if passage.text else "")
    return ".".join(part for part in (passage.document_id or "", inner) if part)


def _unique(names: Iterator[str], taken: list[str]) -> list[str]:
    """The names, each once: one that is taken gets a number, `name~2`."""
    known, unique = set(taken), []
    for name in names:
        own, number = name, 1
        while not own or own in known:
            number += 1
            own = f"{name}~{number}"
        known.add(own)
        unique.append(own)
    return unique


def _gold_ids(question: EvalQuestion) -> list[str]:
    return _unique(map(passage_id, question.gold_passages), [])


def _encoded(name: str) -> str:
    """A name for a line whose columns are parted by blanks: white space and `%` are percent-encoded."""
    return _BLANK.sub(lambda match: quote(match.group(), safe=""), name)


def why_left_out(record: EvalRecord, sample: Sample) -> str | None:
    """Why a question is not in the files for trec_eval; None where it is."""
    question = record.question
    if not question.gold_passages:
        return "without a gold passage"
    if any(gold.relevance != int(gold.relevance) for gold in question.gold_passages):
        return "with a relevance that is no whole number"
    if record.response is None or record.response.error is not None:
        return "without an answer"
    if (result := _MRR.score(sample)).value is None:
        return f"without a value: {result.reason}"
    several = max(map(len, sample.matches.newly_found), default=0) > 1
    return "with a chunk that is the first to hold several golds" if several else None


def to_trec_run(saved: SavedRun) -> Iterator[str]:
    """Topic, `Q0`, passage, rank, score and the id of the run, a line a chunk; scores fall by one."""
    for record in saved.records():
        sample = saved.settings.sample_of(record)
        if why_left_out(record, sample) is not None:
            continue
        golds = _gold_ids(record.question)
        own = _unique(map(passage_id, sample.response.chunks or []), golds)
        held = sample.matches.newly_found
        names = [golds[next(iter(found))] if found else name for name, found in zip(own, held, strict=True)]
        names = names or ["nothing-retrieved"]
        for rank, name in enumerate(names, start=1):
            topic = _encoded(record.question.id)
            yield f"{topic} Q0 {_encoded(name)} {rank} {len(names) - rank + 1} {saved.run.id}\n"


def to_qrels(saved: SavedRun) -> Iterator[str]:
    """Topic, `0`, gold passage and its grade, a line a gold."""
    for record in saved.records():
        question = record.question
        if all(gold.relevance == int(gold.relevance) for gold in question.gold_passages):
            for name, gold in zip(_gold_ids(question), question.gold_passages, strict=True):
                yield f"{_encoded(question.id)} 0 {_encoded(name)} {int(gold.relevance)}\n"
