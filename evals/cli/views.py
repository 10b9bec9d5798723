"""What commands print of a run, of its questions and slices, and of a calibration."""

import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np

from evals.errors import UnknownNameError
from evals.report import summary
from evals.report.elements import EMPTY, ShownPart, TableRow, TextLine, TextTable, Tone, grid
from evals.report.hints import applying
from evals.report.wording import exchange_of, missing_golds, natural_order, place_of, ratio, value
from evals.schemas.calibration import Agreement, Calibration, Figure
from evals.schemas.response import EvalResponse
from evals.schemas.results import EvalRecord, EvalRun, MetricSummary
from evals.schemas.verdicts import JudgeVerdict
from evals.scoring.outcomes import Outcome, count_outcomes, remarks_on
from evals.scoring.saved import SavedRun
from evals.scoring.scorecard import make_scorecard
from evals.scoring.settings import known_metrics
from evals.store.naming import command
from evals.store.runs import refuse_damaged
from evals.text.foreign import one_line
from evals.text.numbers import counted, share

_TEXT, _CHUNK, _LONG = 160, 300, 4000
_SLICES, _EXAMPLES, _MOST_DISAGREEMENTS = 12, 3, 20
_OF_A_LOG = (
    *("faithfulness", "unsupported_numbers", "declined_rate", "context_sufficiency"),
    *("latency_p50", "answer_relevancy", "cost_per_query"),
)


# A run.


def run_parts(saved: SavedRun, runs_dir: Path | None, *, every: bool = False) -> Iterator[ShownPart]:
    """A run: score, outcomes, what went wrong, scorecard, notes, and the commands that show more."""
    run = saved.run
    yield EMPTY
    yield TextLine(summary.head_line(run), "strong", limit=300)
    yield TextLine(summary.score_line(run), "strong")
    yield TextLine(summary.outcome_line(run))
    yield from summary.gate_lines(run.gates)
    if (wrong := summary.wrong_table(run, saved.results)) is not None:
        yield wrong
    yield EMPTY
    yield summary.scorecard_table(run, every=every)
    yield from summary.sufficiency_table(run)
    yield from (TextLine(line, "faint") for line in summary.scorecard_lines(run, every=every))
    if every:
        yield from (TextLine(f"  {line}", "faint") for line in summary.score_parts(run))
    yield from map(TextLine, summary.judge_lines(run))
    yield from summary.repeats_table(run)
    limit = None if every else 300
    yield from (TextLine(f"! {note}", "doubtful", limit) for note in summary.notes_of(run, every=every))
    for hint in applying(run.scorecard, run.outcomes) if every else ():
        yield TextLine(f"→ {hint.text} ({hint.evidence(run.scorecard)})")
    yield from next_commands(saved, runs_dir, every=every)


def next_commands(saved: SavedRun, runs_dir: Path | None, *, every: bool) -> Iterator[TextLine]:
    """The commands that show more of a run."""
    run = saved.run
    commands = {} if every else {"all metrics": f"show {run.id} --all"}
    if (example := summary.example_of(count_outcomes(saved.results))) is not None:
        outcome, row = example
        commands["all of one kind"] = f"show {run.id} --failed {outcome.value}"
        commands["one question"] = f"show {run.id} --question {quote(saved.results.ids[row])}"
    commands["a page to share"] = f"report {run.id} -o report.html"
    width = max(map(len, commands))
    for title, words in commands.items():
        yield TextLine(f"{title:<{width}}  {command(words, runs_dir)}", "faint", whole=True)


# Questions.


def _titled(title: str, text: str, tone: Tone = "", limit: int = 400) -> TextLine:
    """What a question, a server or a judge says, with its title, in a line that is cut at a limit."""
    return TextLine(f"{title:<10}{one_line(text, limit)}", tone)


def failed_parts(saved: SavedRun, outcome: Outcome, limit: int, runs_dir: Path | None) -> Iterator[TextLine]:
    """The questions of one outcome: question, expected, answer, the first chunks, and the gold whatever its rank."""
    rows = next((count.rows for count in count_outcomes(saved.results) if count.outcome is outcome), [])
    yield TextLine(f"{share(len(rows), saved.run.question_count, 'question')}: {outcome.label}", "strong")
    for record in saved.records(rows[:limit]):
        yield EMPTY
        yield TextLine(f"{record.question.id}: {saved.ending(record).why}", "bad", limit=400)
        yield from (_titled("note", remark, "faint") for remark in remarks_on(record))
        yield from _exchange_lines(saved, record, _TEXT, _TEXT, most=_EXAMPLES)
    if len(rows) > limit:
        yield EMPTY
        yield TextLine(
            f"{len(rows) - limit} more: {', '.join(saved.results.ids[row] for row in rows[limit:])}", limit=600
        )
        yield TextLine(command(f"show {saved.run.id} --question ID", runs_dir), "faint", whole=True)


def question_parts(saved: SavedRun, row: int, *, every: bool = False) -> Iterator[ShownPart]:
    """One question: question, expected, answer, chunks with the gold marked, verdicts, then metrics."""
    record = saved.record(row)
    question, response, limit = record.question, record.response, _LONG if every else 1000
    ending = saved.ending(record)
    yield TextLine(f"{question.id} ({question.dataset}): {ending.outcome.label}", "strong")
    differs: Tone = "doubtful" if ending.outcome is Outcome.DIFFERS else "good"
    yield TextLine(ending.why, "bad" if ending.outcome.went_wrong else differs)
    for place, turn in enumerate(question.turns[:-1], start=1):
        yield _titled(f"turn {place}", turn, "faint", limit)
    yield from _exchange_lines(saved, record, limit, _LONG if every else _CHUNK)
    if response is None:
        yield TextLine("it was not asked", "doubtful")
        return
    if response.error is not None and response.raw:
        yield TextLine(f"the body: {one_line(response.raw, limit)}")
    if response.refused is not None:
        yield _titled("", f"the server says that it {'declined' if response.refused else 'did not decline'}", "faint")
    if response.error is None:
        sample = saved.settings.sample_of(record)
        yield from (_titled("missing", gold, "doubtful", limit) for gold in missing_golds(sample))
        if response.citations is not None:
            cited = ", ".join("–" if source.place is None else str(source.place + 1) for source in sample.cited)
            yield _titled("cited", f"chunks {cited}" if cited else "nothing")
    yield from _stage_lines(response)
    yield from map(_verdict_line, record.verdicts)
    yield from (_titled("note", note, "doubtful") for note in (*response.notes, *remarks_on(record)))
    rows = (
        (score.name, "–" if score.value is None else f"{score.value:.4g}", one_line(score.reason or "", 200))
        for score in record.scores
    )
    yield grid("", ["metric", "value", "why none"], rows, words=["why none"])


def _exchange_lines(
    saved: SavedRun, record: EvalRecord, limit: int, chunk_limit: int, most: int | None = None
) -> Iterator[TextLine]:
    """What was asked and expected, and what came; of the chunks the first ones, and those that hold gold."""
    response, expected = record.response, "not answerable" if record.question.is_unanswerable else "–"
    has_answer = response is not None and response.error is None
    shown = {"question": "", "expected": expected} | ({"answer": "–"} if has_answer else {}) | exchange_of(record)
    yield from (_titled(title, text, "bad" if title == "error" else "", limit) for title, text in shown.items())
    if response is None or not has_answer:
        return
    if response.chunks is None:
        yield _titled("chunks", "the server sent none", "faint")
    gold = saved.settings.sample_of(record).matches.hit_ranks
    for rank, chunk in enumerate(response.chunks or [], start=1):
        if most is None or rank <= most or rank in gold:
            title, text = f"{'✓ gold' if rank in gold else '':<6} {rank:>2} ", f"{place_of(chunk)}: {chunk.text or '–'}"
            yield _titled(title, text, "good" if rank in gold else "faint", chunk_limit)


def _stage_lines(response: EvalResponse) -> Iterator[TextLine]:
    """What each stage of retrieval found, where the server's spans say it, and how long its parts took."""
    for stage in response.stages or []:
        if isinstance(stage, dict) and isinstance(stage.get("items"), list):
            items = [item for item in stage["items"] if isinstance(item, dict)]
            known = (item.get("document_id") or item.get("chunk_id") or item.get("text") or "–" for item in items)
            names = ", ".join(one_line(str(name), 30) for name in known)
            took = f" ({stage['ms']:.0f} ms)" if "ms" in stage else ""
            yield _titled("stage", f"{stage.get('name')}{took}: {names or 'nothing'}", "faint", _LONG)
    times = {"retrieval": response.retrieval_latency_ms, "generation": response.generation_latency_ms}
    if parts := [f"{name} {time:.0f} ms" for name, time in times.items() if time is not None]:
        yield _titled("time", ", ".join(parts), "faint")


def _verdict_line(verdict: JudgeVerdict) -> TextLine:
    """What the judge said, or why it said nothing."""
    if verdict.reply is None:
        return _titled("judge", f"{verdict.request}: {verdict.failure}: {verdict.message or ''}", "doubtful")
    reply = json.dumps(verdict.reply, ensure_ascii=False)
    return _titled("judge", f"{verdict.request}: {reply}", "faint", limit=600)


# Slices.


def slice_parts(saved: SavedRun, key: str) -> Iterator[ShownPart]:
    """A row a value of a key: how many questions went wrong, and a metric of each objective with its interval.

    Raises:
        UnknownNameError: No question has the key.
    """
    run, groups = saved.run, _rows_by(saved, key)
    biggest = sorted(groups, key=lambda name: -len(groups[name]))[:_SLICES]
    known = {metric.name: metric for metric in known_metrics(run)}
    fed = [names[0] for names in run.weighted_score.fed_by.values() if names]
    metrics = [known[name] for name in (fed if run.log is None else _OF_A_LOG) if name in known]
    wrong = {row for count in count_outcomes(saved.results) if count.outcome.went_wrong for row in count.rows}
    rows = []
    for name in sorted(biggest, key=natural_order):
        card = make_scorecard(metrics, saved.results, saved.settings, np.array(groups[name]))
        went_wrong = [] if run.log is not None else [f"{len(wrong & set(groups[name]))} of {len(groups[name])}"]
        values = [_with_interval(card.get(metric.name)) for metric in metrics]
        rows.append(TableRow([f"{one_line(name, 40)} (n={len(groups[name])})", *went_wrong, *values]))
    # of a log nothing says what is right
    columns = [key, *([] if run.log is not None else ["went wrong"]), *(metric.name for metric in metrics)]
    yield TextTable(columns, rows, f"by {key}", spare=columns[:1:-1])
    if len(groups) > len(biggest):
        yield TextLine(f"the {len(biggest)} of {len(groups)} values with the most questions", "faint")


def _with_interval(metric: MetricSummary) -> str:
    if metric.value is None or metric.ci is None or metric.unit not in ("ratio", "ms"):
        return value(metric)
    digits = 2 if metric.unit == "ratio" else 0
    return f"{value(metric)} ({metric.ci[0]:.{digits}f}–{metric.ci[1]:.{digits}f})"


def slices_as_json(saved: SavedRun, key: str) -> dict[str, Any]:
    """All values of a key, each with its number of questions and its scorecard.

    Raises:
        UnknownNameError: No question has the key.
    """
    metrics, slices = known_metrics(saved.run), {}
    for name, rows in _rows_by(saved, key).items():
        card = make_scorecard(metrics, saved.results, saved.settings, np.array(rows))
        slices[name] = {"questions": len(rows), "scorecard": card.model_dump(mode="json")}
    return {"id": saved.run.id, "by": key, "slices": slices}


def _rows_by(saved: SavedRun, key: str) -> dict[str, list[int]]:
    groups = saved.rows_by(key)
    if not groups:
        refuse_damaged(saved.run, saved.damage)
        metadata = chain.from_iterable(record.question.metadata for record in saved.records())
        raise UnknownNameError("key to slice by", key, ["dataset", *(name for name in metadata if name[:1] != "_")])
    return groups


# A calibration.


def calibration_parts(calibration: Calibration, run: EvalRun) -> Iterator[ShownPart]:
    """How a judge agrees with people, what it confuses, and where the two disagree."""
    counts = [f"{counted(len(calibration.answers), 'labelled answer')} ({calibration.scale})"]
    counts += [f"{calibration.lost} without a value of the judge"] if calibration.lost else []
    counts += [f"{counted(calibration.unlabelled, 'row')} without a label"] if calibration.unlabelled else []
    yield EMPTY
    yield TextLine(f"{calibration.model} against people: {calibration.metric}", "strong")
    yield TextLine(", ".join(counts))
    yield EMPTY
    for name in Agreement.model_fields:
        figure: Figure = getattr(calibration.judge, name)
        why = f" ({figure.reason})" if figure.value is None and figure.reason else ""
        yield TextLine(f"{name:>12}  {ratio(figure)}{why}")
    confusion = calibration.confusion
    labels = list(dict.fromkeys(chain(confusion, *confusion.values())))
    columns = ["people \\ judge", *labels]
    rows = [[label, *(str(confusion.get(label, {}).get(judged, 0)) for judged in labels)] for label in labels]
    yield EMPTY
    yield grid("", columns, rows, columns)
    yield EMPTY
    for row in calibration.disagreements[:_MOST_DISAGREEMENTS]:
        quoted = f": {row.quote}" if row.quote else ""
        yield TextLine(f"{row.id}  people {row.label}, judge {row.judged}{quoted}")
    if (more := len(calibration.disagreements) - _MOST_DISAGREEMENTS) > 0:
        yield TextLine(f"and {counted(more, 'further disagreement')}: --json lists them", "faint")
    if run.judge is not None:
        took = f"{counted(run.judge.calls, 'call')}, {run.judge.cached} from the cache"
        yield TextLine(f"{took}, {summary.judge_cost(run.judge)}")
    yield from (TextLine(f"! {note}", "doubtful") for note in run.notes)
