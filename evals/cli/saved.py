"""Saved runs as commands open and show them, and the next command where they are not complete."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from shlex import quote

from evals.errors import ConfigError, RunIncompleteError
from evals.report import summary
from evals.report.elements import EMPTY, ShownPart, TextLine, Tone, grid
from evals.report.summary import applying
from evals.report.wording import exchange_of, missing_golds, place_of
from evals.schemas.response import EvalResponse, ResponseError
from evals.schemas.results import SAVED_ANSWERS, EvalRecord
from evals.schemas.verdicts import JudgeVerdict
from evals.scoring.calibration import with_cards
from evals.scoring.outcomes import Outcome, count_outcomes, remarks_on
from evals.scoring.saved import SavedRun, open_run
from evals.store.runs import DEFAULT_RUNS_DIR, RunStore, command, folder_of, saved_calibrations, way_on_of
from evals.text.foreign import one_line
from evals.text.numbers import counted, share

_PASSING = frozenset({408, 425, 429, *range(500, 600)})
"""Statuses that may be gone when asked later."""

_PASSING_KINDS = frozenset({"timeout", "connect", "not_ok", "broken_off"})

_TEXT, _CHUNK, _LONG, _EXAMPLES = 160, 300, 4000, 3
"""Characters of a text in a list, of a chunk, and of either where all is shown; chunks of a question in a list."""


def open_calibrated(run_id: str, runs_dir: Path | None) -> SavedRun:
    """A saved run with its judge's card, which may be newer than the run.

    Raises:
        RunNotFoundError: There is no such run.
        StoreError: It cannot be read.
    """
    store = RunStore(runs_dir or DEFAULT_RUNS_DIR)
    saved = open_run(store, run_id)
    if saved.run.judge is not None:
        saved.run = with_cards(saved.run, saved_calibrations(store.folder))
    return saved


def open_different(run_ids: Sequence[str], runs_dir: Path | None, hint: str) -> list[SavedRun]:
    """Saved runs as `open_calibrated` opens them, each named once.

    Raises:
        ConfigError: A run is named twice.
        RunNotFoundError: There is no such run.
        StoreError: It cannot be read.
    """
    runs = [open_calibrated(run_id, runs_dir) for run_id in run_ids]
    twice, times = Counter(saved.run.id for saved in runs).most_common(1)[0]
    if times > 1:
        raise ConfigError(f"run {twice} is named {times} times", hint)
    return runs


def unfinished(saved: SavedRun) -> RunIncompleteError:
    """The error for a run that was never finished: what of it is there, and how to continue."""
    message = f"run {saved.run.id} did not finish: {what_is_undone(saved)}"
    return RunIncompleteError(message, next_command(saved, folder_of(saved.run)))


def what_is_undone(saved: SavedRun) -> str:
    """What a run that is not complete lacks, and why, as far as it is known."""
    run, outcomes, judge = saved.run, saved.run.outcomes, saved.run.judge
    if run.completed_at is None:
        answered = [record.response is not None for record in saved.records()]
        return f"{share(sum(answered), len(answered), 'answer', 'is')} in its log, none is scored yet"
    undone = []
    if run.error_count:
        _, cause = ("", None) if outcomes.stopped else _main_cause(saved)
        example = f"; such as {one_line(cause.message, 120)}" if cause else ""
        unanswered = share(run.error_count, outcomes.answered + run.error_count, "question")
        undone.append(f"{unanswered} brought no answer ({_by_kind(outcomes.transport)}{example})")
    if outcomes.not_asked:
        verb, lack = ("has", "no saved answer") if run.server.profile == SAVED_ANSWERS else ("was", "not asked")
        undone.append(f"{share(outcomes.not_asked, run.question_count, 'question', verb)} {lack}")
    undone += [outcomes.stopped] if outcomes.stopped else []
    if judge is not None and judge.prevented:
        undone.append(f"the judge's budget is spent: {counted(judge.prevented, 'decision', 'was')} not made")
    if judge is not None and judge.left:
        undone.append(f"a batch still holds {counted(judge.left, 'request')} to the judge")
    if outcomes.judge:
        failed = counted(sum(outcomes.judge.values()), "decision")
        undone.append(f"{failed} of the judge failed ({_by_kind(outcomes.judge)})")
    return "; ".join(undone) or "it was ended early"


def _by_kind(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{kind}: {count}" for kind, count in counts.items())


def next_command(saved: SavedRun, runs_dir: Path | None) -> str:
    """What to do about a run that is not complete; the run knows which command made it.

    Args:
        saved: The run; one that was never finished, because evals was killed, counts too.
        runs_dir: Where it is; None for the default.
    """
    run, outcomes, judge = saved.run, saved.run.outcomes, saved.run.judge
    again = command(f"eval --resume {run.rescored_from or run.id}", runs_dir)
    is_scored = run.server.profile == SAVED_ANSWERS
    lost = bool(outcomes.judge or (judge and (judge.prevented or judge.left)))
    lacks_judging = lost and not (outcomes.not_asked or outcomes.stopped)
    if run.merged_from:
        partial = ", ".join(f"evals eval --resume {part.id}" for part in run.merged_from if part.status != "complete")
        return f"continue with the shards that are partial ({partial or 'none is'}), and merge again"
    if run.interleaved_with:
        return f"continue with all variants: {again}"
    if run.completed_at is None or (lacks_judging and (is_scored or run.rescored_from)):
        return way_on_of(run, runs_dir)
    if is_scored:
        return "complete the file of answers, or leave out the questions without one, and `evals score` it again"
    if judge is None or not lacks_judging:
        return _after_asking(saved, again, runs_dir)
    if judge.prevented:
        return f"continue with: {again} (--max-cost for more money)"
    if judge.left:
        return f"when the batch has ended, or to wait for it: {again}"
    return f"try again: {again}; or another judge: {command(f'rescore {run.id} --judge-model NAME', runs_dir)}"


def _after_asking(saved: SavedRun, again: str, runs_dir: Path | None) -> str:
    """How to come to the answers that a run lacks, by what most of its questions ended with."""
    run, (question_id, cause) = saved.run, _main_cause(saved)
    if cause is not None and cause.kind == "malformed":
        shown = command(f"show {run.id} --question {quote(question_id)}", runs_dir)
        remap = command(f"rescore {run.rescored_from or run.id} --remap --config FILE", runs_dir)
        return f"see what the server sent with {shown}; correct server.map (docs/profiles.md), then {remap}"
    if run.rescored_from is not None:
        return f"the saved run lacks these answers too: {again} asks anew"
    if cause is None:
        return f"continue with: {again}"
    if cause.kind in _PASSING_KINDS or cause.status in _PASSING:
        return f"when the server is well again: {again}"
    if cause.status in (401, 403):
        return f"set or renew the token of server.headers (docs/profiles.md), then continue with: {again}"
    mend = "waiting does not help: correct server.ask (docs/profiles.md), and begin a new run"
    return f"{mend}; if the server itself is corrected, continue with: {again}"


def _main_cause(saved: SavedRun) -> tuple[str, ResponseError | None]:
    """The error that most questions ended with, and the first of these questions."""
    responses = ((record.question.id, record.response) for record in saved.records())
    errors = [(key, response.error) for key, response in responses if response is not None and response.error]
    kinds = Counter((error.kind, error.status) for _, error in errors)
    return max(errors, key=lambda failed: kinds[failed[1].kind, failed[1].status], default=("", None))


# A run.


def run_parts(saved: SavedRun, runs_dir: Path | None, *, every: bool = False) -> Iterator[ShownPart]:
    """A run: score, outcomes, what went wrong, scorecard, notes, and the commands that show more."""
    run = saved.run
    yield EMPTY
    yield TextLine(summary.head_line(run), "strong", limit=300)
    yield TextLine(summary.score_line(run), "strong")
    yield TextLine(summary.outcome_line(run))
    yield from summary.scored_parts(run, saved.results, every=every)
    limit = None if every else 300
    yield from (TextLine(f"! {note}", "doubtful", limit) for note in summary.notes_of(run, every=every))
    for hint in applying(run.scorecard, run.outcomes) if every else ():
        yield TextLine(f"→ {hint.text} ({hint.evidence(run.scorecard)})")
    yield from next_commands(saved, runs_dir, every=every)


def next_commands(saved: SavedRun, runs_dir: Path | None, *, every: bool) -> Iterator[TextLine]:
    """The commands that show more of a run."""
    run = saved.run
    commands = {} if every else {"all metrics": f"show {run.id} --all"}
    counts = count_outcomes(saved.results)
    wrong = [count for count in counts if count.outcome.went_wrong] or counts
    if most := max(wrong, key=lambda count: len(count.rows), default=None):
        commands["all of one kind"] = f"show {run.id} --failed {most.outcome.value}"
        commands["one question"] = f"show {run.id} --question {quote(saved.results.ids[most.rows[0]])}"
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
    counts = share(len(rows), saved.run.question_count, "question")
    yield TextLine(f"{counts}, by what went wrong first: {outcome.label}", "strong")
    for record in saved.records(rows[:limit]):
        yield EMPTY
        yield TextLine(f"{record.question.id}: {saved.ending(record).why}", "bad", limit=400)
        yield from (_titled("note", remark, "faint") for remark in remarks_on(record))
        yield from _exchange_lines(saved, record, _TEXT, _TEXT, most=_EXAMPLES)
    if remaining := [saved.results.ids[row] for row in rows[limit:]]:
        yield EMPTY
        yield TextLine(f"{len(remaining)} more: {', '.join(remaining)}", limit=600)
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
    failure = f"{verdict.failure}: {verdict.message or ''}" if verdict.reply is None else ""
    reply = failure or json.dumps(verdict.reply, ensure_ascii=False)
    return _titled("judge", f"{verdict.request}: {reply}", "doubtful" if failure else "faint", 600)
