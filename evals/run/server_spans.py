"""The spans of a server for the answers of a run: how long it retrieved and generated, question by question.

`evals eval` sends the header `traceparent` with each question; its trace id is that of run and question.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from evals.client.conversation import trace_id
from evals.errors import DatasetError
from evals.run.saved import SavedAnswers
from evals.schemas.results import EvalRecord, EvalRun
from evals.text.numbers import counted
from evals.traces.log import read_spans
from evals.traces.spans import Span, server_times


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
