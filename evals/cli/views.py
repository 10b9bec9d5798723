"""What commands print of a run, a question, a comparison."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from shlex import quote

import numpy as np
from rich.console import Console

from evals.cli.terminal import show
from evals.compare.models import Comparison
from evals.report.compared import comparison_parts, several_table
from evals.report.elements import EMPTY, ShownPart, TableRow, TextLine, TextTable, Tone, grid
from evals.report.hints import applying
from evals.report.summary import (
    example_of,
    gate_lines,
    head_line,
    judge_lines,
    notes_of,
    outcome_line,
    repeats_table,
    score_line,
    score_parts,
    scorecard_lines,
    scorecard_table,
    sufficiency_table,
    wrong_table,
)
from evals.report.wording import natural_order, one_line, place_of, ratio, value
from evals.schemas.calibration import Agreement, Calibration, Figure
from evals.schemas.response import EvalResponse
from evals.schemas.results import EvalRecord, EvalRun, MetricSummary
from evals.scoring.outcomes import Outcome, count_outcomes, remarks_on
from evals.scoring.saved import SavedRun
from evals.scoring.scorecard import make_scorecard
from evals.scoring.settings import known_metrics
from evals.store.naming import command
from evals.text.numbers import counted, share

_TEXT, _CHUNK, _LONG = 160, 300, 4000
_SLICES, _BESIDE, _COLUMNS = 12, 4, 6
_EXAMPLES = 3
_LOG_COLUMNS = 4
_OF_A_LOG = (
    "faithfulness",
    "unsupported_numbers",
    "declined_rate",
    "context_sufficiency",
    "latency_p50",
    "answer_relevancy",
    "cost_per_query",
)


# A run.


def print_run(out: Console, saved: SavedRun, runs_dir: Path | None, *, every: bool = False) -> None:
    """Print a run: score, outcomes, what went wrong, scorecard, notes, and the commands that show more."""
    run = saved.run
    show(out, [EMPTY, TextLine(head_line(run), "strong", limit=300), TextLine(score_line(run), "strong")])
    show(out, [TextLine(outcome_line(run)), *gate_lines(run.gates)])
    wrong = wrong_table(run, saved.results)
    if wrong is not None:
        show(out, [wrong])
    show(out, [EMPTY, scorecard_table(run, every=every), *sufficiency_table(run)])
    show(out, _below(saved, every=every))
    show(out, next_commands(saved, runs_dir, every=every))


def print_score(out: Console, run: EvalRun) -> None:
    """Print weighted score and gates only."""
    show(out, [TextLine(score_line(run), "strong"), *gate_lines(run.gates)])


def _below(saved: SavedRun, *, every: bool) -> Iterator[ShownPart]:
    """What stands below the scorecard."""
    run = saved.run
    yield from (TextLine(line, "faint") for line in scorecard_lines(run, every=every))
    if every:
        yield from (TextLine(f"  {line}", "faint") for line in score_parts(run))
    yield from (TextLine(line) for line in judge_lines(run))
    yield from repeats_table(run)
    yield from (TextLine(f"! {note}", "doubtful", limit=None if every else 300) for note in notes_of(run, every=every))
    if every:
        for hint in applying(run.scorecard, run.outcomes):
            yield TextLine(f"→ {hint.text} ({hint.evidence(run.scorecard)})")


def next_commands(saved: SavedRun, runs_dir: Path | None, *, every: bool) -> Iterator[TextLine]:
    """The commands that show more of a run."""
    run = saved.run
    commands = {} if every else {"all metrics": f"show {run.id} --all"}
    if (example := example_of(count_outcomes(saved.results))) is not None:
        outcome, row = example
        commands["all of one kind"] = f"show {run.id} --failed {outcome.value}"
        commands["one question"] = f"show {run.id} --question {quote(saved.results.ids[row])}"
    commands["a page to share"] = f"report {run.id} -o report.html"
    width = max(map(len, commands))
    for title, words in commands.items():
        yield TextLine(f"{title:<{width}}  {command(words, runs_dir)}", "faint", whole=True)


# Questions.


def print_failed(out: Console, saved: SavedRun, outcome: Outcome, limit: int, runs_dir: Path | None) -> None:
    """Print the questions of one outcome: question, expected, answer, and the gold chunk whatever its rank."""
    rows = next((count.rows for count in count_outcomes(saved.results) if count.outcome is outcome), [])
    show(out, [TextLine(f"{share(len(rows), saved.run.question_count, 'question')}: {outcome.label}", "strong")])
    for record in saved.records(rows[:limit]):
        show(out, [EMPTY, *_failed_lines(saved, record)])
    if len(rows) > limit:
        ids = ", ".join(saved.results.ids[row] for row in rows[limit:])
        shown = command(f"show {saved.run.id} --question ID", runs_dir)
        show(
            out, [EMPTY, TextLine(f"{len(rows) - limit} more: {ids}", limit=600), TextLine(shown, "faint", whole=True)]
        )


def _failed_lines(saved: SavedRun, record: EvalRecord) -> Iterator[TextLine]:
    question, response = record.question, record.response
    yield TextLine(f"{question.id}: {saved.ending(record).why}", "bad", limit=400)
    yield from (TextLine(f"  note      {one_line(remark, 300)}", "faint") for remark in remarks_on(record))
    yield TextLine(f"  question  {one_line(question.question, _TEXT)}")
    if question.expected_answer:
        yield TextLine(f"  expected  {one_line(question.expected_answer, _TEXT)}")
    if response is None or response.error is not None:
        return
    yield TextLine(f"  answer    {one_line(response.answer or '–', _TEXT)}")
    gold = saved.settings.sample_of(record).matches.hit_ranks
    for rank, chunk in enumerate(response.chunks or [], start=1):
        if rank <= _EXAMPLES or rank in gold:
            mark = "✓" if rank in gold else " "
            text = one_line(f"{place_of(chunk)}: {chunk.text or ''}", _TEXT)
            yield TextLine(f"  {mark} {rank:>2}      {text}", "good" if rank in gold else "faint")


def print_question(out: Console, saved: SavedRun, row: int, *, every: bool = False) -> None:
    """Print one question: question, answer, expected, chunks with the gold marked, verdicts, then metrics."""
    record = saved.record(row)
    question, response = record.question, record.response
    text = _LONG if every else 1000
    ending = saved.ending(record)
    tone: Tone = "bad" if ending.outcome.went_wrong else "doubtful" if ending.outcome is Outcome.DIFFERS else "good"
    show(
        out,
        [TextLine(f"{question.id} ({question.dataset}): {ending.outcome.label}", "strong"), TextLine(ending.why, tone)],
    )
    for number_, turn in enumerate(question.turns[:-1], start=1):
        show(out, [TextLine(f"turn {number_}    {one_line(turn, text)}", "faint")])
    show(out, [TextLine(f"question  {one_line(question.question, text)}")])
    if response is None:
        show(out, [TextLine("it was not asked", "doubtful")])
        return
    if response.error is not None:
        show(out, [TextLine(f"failed    {response.error.kind}: {one_line(response.error.message, 400)}", "bad")])
        if response.raw:
            show(out, [TextLine(f"the body: {one_line(response.raw, text)}")])
    else:
        show(out, [TextLine(f"answer    {one_line(response.answer or '–', text)}")])
        if response.refused is not None:
            declined = "it declined" if response.refused else "it did not decline"
            show(out, [TextLine(f"          the server says that {declined}", "faint")])
    expected = "not answerable" if question.is_unanswerable else question.expected_answer or "–"
    show(out, [TextLine(f"expected  {one_line(expected, text)}")])
    show(out, _chunk_lines(saved, record, _LONG if every else _CHUNK))
    show(out, _stage_lines(response))
    show(out, _detail_lines(record))
    show(out, [_scores_table(record)])


def _chunk_lines(saved: SavedRun, record: EvalRecord, limit: int) -> Iterator[TextLine]:
    """Chunks by rank, gold marked; golds that no chunk holds; citations."""
    response, sample = record.response, saved.settings.sample_of(record)
    if response is None or response.error is not None:
        return
    gold = set(sample.matches.hit_ranks)
    if response.chunks is None:
        yield TextLine("chunks    the server sent none", "faint")
    for rank, chunk in enumerate(response.chunks or [], start=1):
        mark = "✓ gold" if rank in gold else "      "
        yield TextLine(
            f"{mark} {rank:>2} {one_line(f'{place_of(chunk)}: {chunk.text or chr(8211)}', limit)}",
            "good" if rank in gold else "faint",
        )
    for place, passage in enumerate(record.question.gold_passages):
        if place not in sample.matches.found:
            named = f"{passage.document_id}: " if passage.document_id else ""
            yield TextLine(f"missing   {named}{one_line(passage.text or passage.chunk_id or '', limit)}", "doubtful")
    if response.citations is not None:
        cited = ", ".join("–" if source.place is None else str(source.place + 1) for source in sample.cited)
        yield TextLine(f"cited     {f'chunks {cited}' if cited else 'nothing'}")


def _stage_lines(response: EvalResponse) -> Iterator[TextLine]:
    """What each stage of retrieval found, where the server's spans say it, and how long its parts took."""
    for stage in response.stages or []:
        if isinstance(stage, dict) and isinstance(stage.get("items"), list):
            items = [item for item in stage["items"] if isinstance(item, dict)]
            known = (item.get("document_id") or item.get("chunk_id") or item.get("text") or "–" for item in items)
            names = [one_line(str(name), 30) for name in known]
            took = f" ({stage['ms']:.0f} ms)" if "ms" in stage else ""
            yield TextLine(f"stage     {stage.get('name')}{took}: {', '.join(names) or 'nothing'}", "faint")
    times = {"retrieval": response.retrieval_latency_ms, "generation": response.generation_latency_ms}
    told = [f"{name} {time:.0f} ms" for name, time in times.items() if time is not None]
    if told:
        yield TextLine(f"time      {', '.join(told)}", "faint")


def _detail_lines(record: EvalRecord) -> Iterator[TextLine]:
    """Notes on the response, and what the judge said."""
    response = record.response
    if response is not None:
        yield from (TextLine(f"note      {one_line(note, 400)}", "doubtful") for note in response.notes)
    for verdict in record.verdicts:
        if verdict.reply is None:
            yield TextLine(
                f"judge     {verdict.request}: {verdict.failure}: {one_line(verdict.message or '', 300)}", "doubtful"
            )
        else:
            yield TextLine(
                f"judge     {verdict.request}: {one_line(json.dumps(verdict.reply, ensure_ascii=False), 600)}", "faint"
            )
    yield from (TextLine(f"note      {one_line(remark, 300)}", "doubtful") for remark in remarks_on(record))


def _scores_table(record: EvalRecord) -> TextTable:
    rows = []
    for score in record.scores:
        shown = "–" if score.value is None else f"{score.value:.4g}"
        rows.append(TableRow([score.name, shown, one_line(score.reason or "", 200)]))
    return TextTable(["metric", "value", "why none"], rows, words=["why none"])


# Slices.


def print_slices(out: Console, saved: SavedRun, key: str) -> None:
    """Print, for each value of a key, how many questions went wrong, and the main metrics."""
    groups = saved.rows_by(key)
    biggest = sorted(groups, key=lambda name: -len(groups[name]))[:_SLICES]
    chosen = sorted(biggest, key=natural_order)
    known = {metric.name: metric for metric in known_metrics(saved.run)}
    metrics = [known[name] for name in _main_names(saved.run) if name in known]
    cards = {name: make_scorecard(metrics, saved.results, saved.settings, np.array(groups[name])) for name in chosen}
    rows: list[list[str]] = []
    if saved.run.log is None:  # of a log nothing says what is right
        wrong = {row for count in count_outcomes(saved.results) if count.outcome.went_wrong for row in count.rows}
        rows.append(["went wrong", *(f"{len(wrong & set(groups[name]))} of {len(groups[name])}" for name in chosen)])
    for metric in metrics:
        summaries = [cards[name].get(metric.name) for name in chosen]
        if any(one.value is not None for one in summaries):
            rows.append([metric.name, *map(_with_interval, summaries)])
    titles = [f"{one_line(name, 40)} (n={len(groups[name])})" for name in chosen]
    if len(chosen) <= _BESIDE:
        show(out, [grid(f"by {key}", ["", *titles], rows)])
    else:
        show(out, [_row_by_row(saved.run, key, titles, rows)])
    if len(groups) > len(chosen):
        show(out, [TextLine(f"the {len(chosen)} of {len(groups)} values with the most questions", "faint")])


def _with_interval(summary: MetricSummary) -> str:
    if summary.value is None:
        return "–"
    if summary.ci is None or summary.unit not in ("ratio", "ms"):
        return value(summary)
    digits = 2 if summary.unit == "ratio" else 0
    return f"{value(summary)} ({summary.ci[0]:.{digits}f}–{summary.ci[1]:.{digits}f})"


def _row_by_row(run: EvalRun, key: str, titles: Sequence[str], rows: Sequence[Sequence[str]]) -> TextTable:
    """A row for each value: with the first metric of each objective, or of a log with the intervals of a few."""
    if run.log is not None:
        kept = [list(row) for row in rows[:_LOG_COLUMNS]]
    else:
        firsts = {names[0] for names in run.weighted_score.fed_by.values() if names}
        wanted = [row for row in rows if row[0] == "went wrong" or row[0] in firsts][:_COLUMNS]
        kept = [[cell.partition(" (")[0] for cell in row] for row in wanted]
    turned = [[title, *(row[place] for row in kept)] for place, title in enumerate(titles, 1)]
    columns = [key, *(row[0] for row in kept)]
    return TextTable(columns, [TableRow(row) for row in turned], f"by {key}", spare=columns[:1:-1])


def _main_names(run: EvalRun) -> list[str]:
    """The metrics that slices show: of a log those of the answers first."""
    if run.log is not None:
        return list(_OF_A_LOG)
    return list(dict.fromkeys(name for names in run.weighted_score.fed_by.values() for name in names))


def slices_as_json(saved: SavedRun, key: str) -> str:
    """All values of a key, each with its number of questions and its scorecard."""
    metrics = known_metrics(saved.run)
    slices = {
        name: {
            "questions": len(rows),
            "scorecard": make_scorecard(metrics, saved.results, saved.settings, np.array(rows)).model_dump(mode="json"),
        }
        for name, rows in saved.rows_by(key).items()
    }
    return json.dumps({"id": saved.run.id, "by": key, "slices": slices}, indent=2, ensure_ascii=False)


# Comparisons.


def print_comparison(out: Console, comparison: Comparison, *, every: bool = False) -> None:
    """Print a comparison; of several runs a table of all first."""
    if len(comparison.against) > 1:
        show(out, [several_table(comparison), EMPTY])
    show(out, comparison_parts(comparison, every=every))


# A calibration.


_MOST_DISAGREEMENTS = 20


def print_calibration(out: Console, found: Calibration, run: EvalRun) -> None:
    """Print how a judge agrees with people, what it confuses, and where the two disagree."""
    show(out, _calibration_parts(found, run))


def _calibration_parts(found: Calibration, run: EvalRun) -> Iterator[ShownPart]:
    lost = [f"{found.lost} without a value of the judge"] if found.lost else []
    lost += [f"{counted(found.unlabelled, 'row')} without a label"] if found.unlabelled else []
    yield TextLine("")
    yield TextLine(f"{found.model} against people: {found.metric}", "strong")
    yield TextLine(", ".join([f"{counted(len(found.answers), 'labelled answer')} ({found.scale})", *lost]))
    yield TextLine("")
    for name in Agreement.model_fields:
        figure: Figure = getattr(found.judge, name)
        why = f" ({figure.reason})" if figure.value is None and figure.reason else ""
        yield TextLine(f"{name.rjust(12)}  {ratio(figure)}{why}")
    labels = list(dict.fromkeys([*found.confusion, *(each for row in found.confusion.values() for each in row)]))
    columns = ["people \\ judge", *labels]
    yield TextLine("")
    rows = [[label, *(str(found.confusion.get(label, {}).get(each, 0)) for each in labels)] for label in labels]
    yield grid("", columns, rows, columns)
    yield TextLine("")
    for each in found.disagreements[:_MOST_DISAGREEMENTS]:
        quote = f": {each.quote}" if each.quote else ""
        yield TextLine(f"{each.id}  people {each.label}, judge {each.judged}{quote}")
    if (more := len(found.disagreements) - _MOST_DISAGREEMENTS) > 0:
        yield TextLine(f"and {counted(more, 'further disagreement')}: --json lists them", "faint")
    if run.judge is not None:
        cost = "price unknown" if run.judge.cost_usd is None else f"${run.judge.cost_usd:.4f}"
        yield TextLine(f"{counted(run.judge.calls, 'call')}, {run.judge.cached} from the cache, {cost}")
    yield from (TextLine(f"! {note}", "doubtful") for note in run.notes)
