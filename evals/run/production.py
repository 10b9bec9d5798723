"""Answers that users got: a log or an export of traces as a run or a sample of it; and times of a server's spans."""

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from math import sqrt
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from evals.answers.log import UNREADABLE, WITHOUT_DOCUMENTS, Log, read_log, read_spans
from evals.answers.spans import Exchange, Span, server_times
from evals.client.conversation import trace_id
from evals.config import EvalConfig
from evals.datasets.columns import derived_id
from evals.errors import ConfigError, DatasetError
from evals.run.saved import SavedAnswers
from evals.run.workload import new_run
from evals.schemas.dataset import DatasetFingerprint, EvalQuestion
from evals.schemas.response import EvalResponse, ServerRecord
from evals.schemas.results import SAVED_ANSWERS, EvalRecord, EvalRun, LogRecord
from evals.scoring.results import SAMPLING
from evals.store.disk_list import DiskList
from evals.text.numbers import counted, number_or_none

SUITE = "production"
"""What is computed of a log where nothing else is asked for."""

_WORDS = {
    "good": "1 true up thumbs_up thumb_up thumbsup positive good like liked yes helpful 👍",
    "bad": "-1 0 false down thumbs_down thumb_down thumbsdown negative bad dislike disliked no unhelpful 👎",
}
_FEEDBACK = {word: name for name, words in _WORDS.items() for word in words.split()}
_NONE = "none"


def answers_of_log(path: Path, config: EvalConfig) -> SavedAnswers:
    """The exchanges of a log, or as many as `samples_per_dataset` says, drawn by the values of `stratify`.

    Raises:
        DatasetError: The file cannot be read, or holds no question of a user.
        ConfigError: No exchange has the key of `stratify`, or it has more values than are drawn.
    """
    log = read_log(path, config.runs_dir)
    strata = _strata(log, config.stratify, config.samples_per_dataset)
    drawn = draw(strata, config.samples_per_dataset, config.seed)
    notes = [log.described(), *log.notes, *_sample_note(strata, drawn, config.stratify)]
    records = DiskList(_records(log, strata, drawn, path.stem), config.runs_dir)
    hashed = sha256()
    for record in records:
        exchange = (record.question.id, record.question.question, record.response and record.response.answer)
        hashed.update(repr(exchange).encode(errors="surrogatepass"))
    run = new_run(
        config,
        ServerRecord(url=path.name, profile=SAVED_ANSWERS, citation_base=config.server_spec().citations.base),
        [path.stem],
        len(records),
        name=f"log-{path.stem}",
        fingerprints=[
            DatasetFingerprint(
                name=path.stem,
                source=path.name,
                questions=len(records),
                available=len(log.exchanges),
                documents=0,
                sha256=hashed.hexdigest(),
            )
        ],
        concurrency=1,
        log=LogRecord(
            kind=log.kind,
            total=log.total,
            read=len(log.exchanges),
            drawn=len(records),
            without_documents=log.lacks[WITHOUT_DOCUMENTS],
            unreadable=log.lacks[UNREADABLE],
            stratify=config.stratify,
        ),
    )
    return SavedAnswers(run, records, notes)


def feedback_word(value: Any, *, is_thumb: bool = True) -> str:
    """What a user thought of an answer: good, bad, or their own words.

    Args:
        value: As the log holds it.
        is_thumb: Whether the numbers of the log are 1, 0 and -1, and no stars.
    """
    number = number_or_none(value)
    if number is not None:
        text = f"{number:g}"
        return _FEEDBACK.get(text, text) if is_thumb else text
    text = str(value).strip()
    return _FEEDBACK.get(text.casefold().replace(" ", "_").replace("-", "_"), text)


def metadata_of(exchange: Exchange, thumbs: Mapping[str, bool]) -> dict[str, Any]:
    """What slices and strata group by: the day (UTC), what users thought, and what else is known."""
    words = {
        name: feedback_word(value, is_thumb=thumbs.get(name, True))
        for name, value in exchange.feedback.items()
        if value is not None
    }
    feedback = {"feedback": next(iter(words.values()))} if words else {}
    day = {} if exchange.time is None else {"day": datetime.fromtimestamp(exchange.time, UTC).date().isoformat()}
    return {**exchange.metadata, **(words if len(words) > 1 else {}), **feedback, **day}


# Samples.


def _strata(log: Log, key: str | None, count: int | None) -> dict[str, Sequence[int]]:
    """The places of the exchanges by the value of a key; all in one without a key."""
    if key is None:
        return {_NONE: range(len(log.exchanges))}
    strata: dict[str, array[int]] = defaultdict(lambda: array("Q"))
    known: set[str] = set()
    for place, exchange in enumerate(log.exchanges):
        about = metadata_of(exchange, log.thumbs)
        known.update(about)
        strata[_NONE if about.get(key) is None else str(about[key])].append(place)
    if key not in known:
        keys = ", ".join(sorted(known)) or "none"
        raise ConfigError(f"no row has the key {key}, by which the sample is to be drawn", f"there is {keys}")
    if count is not None and count < len(strata):
        values = counted(len(strata), "value")
        raise ConfigError(
            f"{key} has {values}, more than the {count} rows that are drawn", "draw more, or by another key"
        )
    return dict(sorted(strata.items()))


def draw(strata: Mapping[str, Sequence[int]], count: int | None, seed: int) -> Mapping[str, Sequence[int]]:
    """A sample of each stratum by the root of its size, so that rare ones are not left out; all without a count.

    Args:
        strata: Places by value.
        count: How many in all; at least one of each stratum is drawn.
        seed: Of the draw.
    """
    total = sum(map(len, strata.values()))
    if count is None or count >= total:
        return strata
    random, roots = Random(seed), {name: sqrt(len(places)) for name, places in strata.items()}  # noqa: S311 - a draw
    sizes = dict.fromkeys(strata, 1)
    for _ in range(count - len(sizes)):
        open_to = [name for name, places in strata.items() if sizes[name] < len(places)]
        sizes[max(open_to, key=lambda name: roots[name] / (sizes[name] + 0.5))] += 1
    return {name: sorted(random.sample(places, sizes[name])) for name, places in strata.items()}


def _sample_note(strata: Mapping[str, Sequence[int]], drawn: Mapping[str, Sequence[int]], key: str | None) -> list[str]:
    total, taken = (sum(map(len, parts.values())) for parts in (strata, drawn))
    if taken == total:
        return []
    parts = ", ".join(f"{name} {len(drawn[name]):,} of {len(places):,}" for name, places in strata.items())
    by = f" by {key} ({parts})" if key is not None else ""
    return [f"a sample of {taken:,} of {total:,}{by}: values are weighted back to the whole"]


def _records(
    log: Log, strata: Mapping[str, Sequence[int]], drawn: Mapping[str, Sequence[int]], dataset: str
) -> Iterator[EvalRecord]:
    """The drawn exchanges in the order of the log, each with an id of its own."""
    names, numbers = list(drawn), np.full(len(log.exchanges), -1, np.int32)
    for number, places in enumerate(drawn.values()):
        numbers[places] = number
    used, repeats = set[str](), Counter[str]()
    for exchange, number in zip(log.exchanges, numbers.tolist(), strict=True):
        base = own = exchange.id or derived_id({"question": exchange.question})
        while own in used:
            repeats[base] += 1
            own = f"{base}-{repeats[base] + 1}"
        used.add(own)
        if number < 0:
            continue
        stratum = names[number]
        metadata = metadata_of(exchange, log.thumbs)
        if len(drawn[stratum]) < len(strata[stratum]) or len(drawn) > 1:
            metadata[SAMPLING] = {"stratum": stratum, "weight": len(strata[stratum]) / len(drawn[stratum])}
        question = EvalQuestion(id=own, question=exchange.question, dataset=dataset, metadata=metadata)
        yield EvalRecord(question=question, response=EvalResponse.model_validate(exchange.response))


# Times of the server's own spans.


def with_server_times(answers: SavedAnswers, source: EvalRun, path: Path, folder: Path) -> SavedAnswers:
    """The answers of a run with the times of the server's spans.

    Args:
        answers: Of the run.
        source: The run; of a merged one each shard asked in its own name.
        path: An export of the server's traces.
        folder: Where the spans wait on disk.

    Raises:
        DatasetError: The file cannot be read, or holds no span of the run.
        StoreError: The disk is full.
    """
    spans = read_spans(path, folder=folder)
    by_trace = {name.removeprefix("tr-").replace("-", "").casefold(): name for name in spans}
    askers = [source.id, *filter(None, [source.rescored_from]), *(shard.id for shard in source.merged_from)]
    records = _Timed(answers.records, spans, by_trace, askers)
    timed = sum(records.times_of(record) != {} for record in answers.records)
    if not timed:
        raise DatasetError(
            f"{path.name}: none of its {counted(len(spans), 'trace')} is of a question of run {source.id}",
            "the server must take over the header `traceparent`, and the export hold the time of the run",
        )
    of_run = counted(source.question_count, "question")
    note = f"retrieval and generation are timed by the server's spans in {path.name}: {timed} of {of_run}"
    return replace(answers, records=records, notes=[*answers.notes, note])


class _Timed:
    """Records with the times of the server's spans; they can be walked again."""

    def __init__(
        self,
        records: Iterable[EvalRecord],
        spans: Mapping[str, Sequence[Span]],
        by_trace: Mapping[str, str],
        askers: Sequence[str],
    ) -> None:
        self._records, self._spans, self._by_trace, self._askers = records, spans, by_trace, askers

    def times_of(self, record: EvalRecord) -> dict[str, float]:
        """What the spans of a question say; nothing without any."""
        for run_id in self._askers:
            name = self._by_trace.get(trace_id(run_id, record.question.id))
            if name is not None and record.response is not None:
                return server_times(self._spans[name])
        return {}

    def __iter__(self) -> Iterator[EvalRecord]:
        for record in self._records:
            times = self.times_of(record)
            response = record.response.model_copy(update=times) if record.response is not None else None
            yield record.model_copy(update={"response": response}) if times else record
