"""A run on the terminal: its scorecard, its questions by the values of a key, and its failures."""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from shlex import quote

from rich.console import Console

from evals.cli.terminal import show
from evals.metrics.base import BaseMetric
from evals.metrics.registry import parse_metric
from evals.report import parts
from evals.report.elements import ShownPart, TableRow, TextLine, TextTable, grid
from evals.report.hints import applying
from evals.report.questions import wrong_by
from evals.report.wording import natural_order, number, one_line, place_of, value
from evals.schemas.response import RetrievedChunk
from evals.schemas.results import EvalRun, MetricSummary
from evals.schemas.run_parts import LoadLevel, RepeatedMetric, RepeatSummary
from evals.scoring.conclusion import Measured
from evals.scoring.diagnosis.outcome import Finding
from evals.scoring.diagnosis.stages import Link
from evals.scoring.digest import in_turn
from evals.scoring.scorecard import by_threshold, rows_by, slice_scorecard
from evals.scoring.settings import known_metrics
from evals.store.naming import command
from evals.text.numbers import counted, share

EMPTY = TextLine("")


def print_run(out: Console, measured: Measured, runs_dir: Path | None, *, failures: int = 1, every: bool) -> None:
    """Print a run: head, scorecard, score, gates, judge, notes, what went wrong with examples, and next commands.

    Args:
        out: Where it is printed.
        measured: The run with its records.
        runs_dir: Where it is saved; None for the default.
        failures: How many examples of questions that went wrong are printed.
        every: Whether all metrics and tables are printed, or the main ones.
    """
    run = measured.run
    lines = (TextLine(line, "faint") for line in parts.scorecard_lines(run, every=every))
    show(out, chain(_head(run), [EMPTY, parts.scorecard_table(run, every=every)], lines, _score(run)))
    judged = map(TextLine, parts.judge_lines(run, every=every))
    notes = (TextLine(f"! {note}", "doubtful") for note in parts.notes_of(run, every=every))
    show(out, chain(judged, _repeats(run.repeats), _load(run.load), notes, _derived(measured, every=every)))
    if len(run.datasets) > 1:
        print_slices(out, measured, "dataset", runs_dir, every=every)
    print_findings(out, measured, limit=failures, whole=every)


def print_score(out: Console, run: EvalRun) -> None:
    """Print weighted score and gates only."""
    show(out, _score(run, every=False))


def _head(run: EvalRun) -> Iterator[TextLine]:
    yield EMPTY
    *facts, when = parts.facts_of(run)
    name = "" if run.id in run.name else f"{one_line(run.name, 200)}  "
    yield TextLine(f"{name}{run.id}  {run.status}  {when}", "strong")
    if run.merged_from:  # one after the other, and side by side
        named = ", ".join(f"{one.shard} {one.id}" for one in run.merged_from)
        took = f"{run.duration_s:.0f} s in all, the longest {max(one.duration_s for one in run.merged_from):.0f} s"
        shards = counted(len(run.merged_from), "shard")
        yield TextLine(f"merged from {shards} ({one_line(named, 200)}): {took}")
    yield TextLine(", ".join(facts), limit=300)
    yield TextLine(parts.outcome_line(run))


def _score(run: EvalRun, *, every: bool = True) -> Iterator[TextLine]:
    yield TextLine(f"weighted score: {', '.join(parts.score_texts(run))}", "strong")
    yield from (TextLine(f"  {remark}", "faint") for remark in (parts.score_remarks(run) if every else ()))
    yield from parts.gate_lines(run.gates)


def _derived(measured: Measured, *, every: bool) -> Iterator[ShownPart]:
    """What follows from the records: abstention, stages of the retrieval, risk, and what patterns mean."""
    run, digest = measured.run, measured.digest
    if every:
        yield from parts.abstention_tables(measured.abstention)
        yield from parts.stage_tables(digest.stages)
    elif digest.stages:
        yield TextLine(parts.stages_in_a_line(digest.stages))
    if digest.risk is not None:
        yield TextLine(parts.risk_line(digest.risk))
    for hint in applying(run.scorecard, run.outcomes):
        yield TextLine(f"→ {hint.text} ({hint.evidence(run.scorecard)})")


# What each level of load made of a run, and how stable the answers are that were asked for several times.


def _load(levels: Sequence[LoadLevel]) -> Iterator[ShownPart]:
    """A column a level; nothing of a run that was asked at one, at no rate."""
    if levels:
        rates = "".join(f", meant to be sent at {rate:g} a second" for rate in {load.rps for load in levels} - {None})
        cells = [_level_cells(load) for load in levels]
        known = dict.fromkeys(name for level in cells for name in level)
        rows = [[name, *(level.get(name, "–") for level in cells)] for name in known]
        concurrency = (str(load.concurrency) for load in levels)
        yield grid(f"load{rates}", ["questions in flight, at most", *concurrency], rows)
        yield TextLine(
            "latency: from sending a request to the end of its answer; from intended: from when the question was meant "
            "to be sent, with all waiting",
            "faint",
        )


def _level_cells(load: LoadLevel) -> dict[str, str]:
    """What a level says by the name of its row."""
    cells = {
        "questions": str(load.questions),
        "without an answer": ", ".join(f"{count} {kind}" for kind, count in load.errors.items()) or "0",
        "answers a second": "–" if load.throughput is None else f"{load.throughput:.2f}",
    }
    for title, times in zip(_TIMES, (load.latency_ms, load.total_ms, load.time_to_first_token_ms), strict=True):
        cells |= {f"{title} {name}": f"{ms:.1f} ms" for name, ms in times.items()} or {f"{title} p50": "–"}
    return cells | {metric.name: f"{metric.value:.3f}{_ends(metric.ci)}" for metric in load.metrics}


_TIMES = ("latency", "from intended", "first token")


def _ends(ends: tuple[float, float] | None) -> str:
    return f" ({ends[0]:.3f} … {ends[1]:.3f})" if ends else ""


def _repeats(found: RepeatSummary | None) -> Iterator[ShownPart]:
    if found is None:
        return
    yield EMPTY
    yield TextLine(f"{counted(found.questions, 'question')}, each asked {found.repeats} times", "strong")
    if found.same_answers is None or found.agreement is None:
        yield TextLine("no question has two answers to compare")
    else:
        same = f"the same answer each time to {found.same_answers:.1%} of {counted(found.compared, 'question')}"
        agreement = f"{found.agreement:.3f}{_ends(found.agreement_ci)}"
        yield TextLine(f"{same}; {agreement} of pairs of answers are the same")
    if not found.metrics:
        return
    titles = ["metric", "n", "within", "between", "reliability", "pass^1", f"pass^{found.repeats}", "interval"]
    yield grid("", titles, map(_repeat_cells, found.metrics))
    yield TextLine(
        "within: variance between answers to a question; between: variance between questions; reliability: between / "
        "both; pass^k: share of questions whose k answers all have the best value",
        "faint",
    )
    for reason in dict.fromkeys(metric.reason for metric in found.metrics if metric.reason):
        names = ", ".join(metric.name for metric in found.metrics if metric.reason == reason)
        yield TextLine(f"–: {reason} ({names})", "faint")


def _repeat_cells(metric: RepeatedMetric) -> list[str]:
    passed = (metric.pass_hat[0], metric.pass_hat[-1]) if metric.pass_hat else (None, None)
    return [
        metric.name,
        str(metric.questions),
        *("–" if one is None else f"{one:.4g}" for one in (metric.within_variance, metric.between_variance)),
        *("–" if one is None else f"{one:.3f}" for one in (metric.reliability, *passed)),
        "–" if metric.pass_all_ci is None else f"{metric.pass_all_ci[0]:.3f} … {metric.pass_all_ci[1]:.3f}",
    ]


# A run by the values of a key.

_VALUES_SHOWN = 12

_NAME = 40
"""Characters of a value."""


def print_slices(out: Console, measured: Measured, key: str, runs_dir: Path | None, *, every: bool = True) -> None:
    """Print each metric, or the main ones, for each value of a key; of many values, for those with most questions."""
    columns, settings = measured.columns, measured.cases.settings
    metrics = known_metrics(measured.run) if every else _main(measured.run)
    groups = rows_by(measured.values(key), columns)
    biggest = sorted(groups, key=lambda value: -groups[value].questions)[:_VALUES_SHOWN]
    chosen = sorted(biggest, key=natural_order)
    cards = [slice_scorecard(metrics, columns, groups[value].rows, settings) for value in chosen]
    rows = []
    for metric in metrics:
        found = [card.get(metric.name) for card in cards]
        if any(one.value is not None for one in found):
            rows.append(TableRow([metric.name, *map(_slice_cell, found)]))
    titles = [f"{one_line(value, _NAME)} (n={groups[value].questions})" for value in chosen]
    shown: list[ShownPart] = [
        TextTable(["metric", *titles], rows, f"by {key}"),
        TextLine("behind a value: its interval, and n, the questions that it is over", "faint"),
    ]
    if len(groups) > len(chosen):
        sheet = command(f"export --run-id {measured.run.id}", runs_dir)
        few = f"the {len(chosen)} of {len(groups)} values with the most questions"
        shown.append(TextLine(f"{few}; for the others, {sheet} has a column meta.{key}", "faint"))
    show(out, shown)


def _main(run: EvalRun) -> list[BaseMetric]:
    names = parts.main_metrics(run)
    return [metric for metric in known_metrics(run) if metric.name in names]


def _slice_cell(summary: MetricSummary) -> str:
    """A value with its interval and its own n, short enough for a column; an interval of ratios only."""
    if summary.value is None:
        return "–"
    ends = summary.ci if summary.unit == "ratio" else None
    between = f" ({ends[0]:.2f}–{ends[1]:.2f})" if ends else ""
    return f"{value(summary)}{between} n {summary.sample_size}"


def slices_as_json(measured: Measured, key: str) -> str:
    """All values of a key, each with its number of questions and its scorecard."""
    columns, settings = measured.columns, measured.cases.settings
    metrics = known_metrics(measured.run)
    slices = {
        value: {
            "questions": group.questions,
            "scorecard": slice_scorecard(metrics, columns, group.rows, settings).model_dump(mode="json"),
        }
        for value, group in rows_by(measured.values(key), columns).items()
    }
    return json.dumps({"id": measured.run.id, "by": key, "slices": slices}, indent=2, ensure_ascii=False)


def print_wrong_slices(out: Console, measured: Measured, key: str) -> None:
    """Print how many questions went wrong for each value of a key, the worst first; nothing where none did."""
    slices = wrong_by(measured, key)
    if not any(one.wrong for one in slices):
        return
    lines = [TextLine(f"  {parts.wrong_line(one)}", "bad" if one.is_worse else "") for one in slices[:_VALUES_SHOWN]]
    if len(slices) > _VALUES_SHOWN:
        lines.append(TextLine(f"  … and {len(slices) - _VALUES_SHOWN} more values", "faint"))
    title = f"went wrong by {key}, the worst first; intervals hold for all values together"
    show(out, [EMPTY, TextLine(title, "strong"), *lines])


# Questions that went wrong, and what else is worth a look.

_CHUNKS_SHOWN = _OF_A_LINK = 3

_BUILT_IN = "the built-in server has no language model: about half of the questions go wrong with it"


def print_findings(out: Console, measured: Measured, *, limit: int, whole: bool) -> None:
    """Print how many questions went wrong at which step, and examples: question, answer, and what was retrieved."""
    run = measured.run
    if limit <= 0 or not run.outcomes.answered + run.error_count:
        return
    digest = measured.digest
    if not digest.found:
        show(out, [EMPTY, TextLine("no question is known to have gone wrong", "strong")])
        return
    diagnosis = digest.diagnosis
    wrong = share(diagnosis.wrong, diagnosis.asked, "question")
    title = f"{wrong} went wrong: count × first failure (share): --failed NAME"
    why = [TextLine(_BUILT_IN, "faint")] if run.eval_config.get("embedded") else []
    links = (TextLine(f"  {line}") for line in parts.link_lines(diagnosis))
    show(out, [EMPTY, TextLine(title, "strong"), *why, *links])
    cut = (_WHOLE, _CHUNKS_SHOWN) if whole or limit > 1 else (out.width - _MARKS, 1)
    show(out, _finding_lines(measured.findings(in_turn(digest.failures, limit)), *cut))


def print_next(out: Console, measured: Measured, runs_dir: Path | None, *, every: bool) -> None:
    """Print the commands that show more of a run."""
    run = measured.run
    ways = {} if every else {"all metrics": f"show {run.id} --all"}
    for one in in_turn(measured.digest.failures, 1):
        most = max(measured.digest.diagnosis.links, key=lambda link: link.count)
        ways["all of one kind"] = f"show {run.id} --failed {most.link}"
        ways["one question"] = f"show {run.id} --question {quote(measured.source[one.number].question.id)}"
    ways |= {"a page to share": f"report {run.id} --output report.html"}
    width = max(map(len, ways))
    lines = (TextLine(f"{why:<{width}}  {command(way, runs_dir)}", whole=True) for why, way in ways.items())
    show(out, lines)


def print_link(out: Console, measured: Measured, link: Link, runs_dir: Path | None, *, limit: int | None) -> None:
    """Print the questions whose first broken link is this one: as many as were asked for, else the first."""
    found = [one for one in measured.digest.found if one.link is link]
    title = f"{share(len(found), measured.run.question_count, 'question')}: {link.label}"
    width = 2 * (out.width - _MARKS) if limit is None else _WHOLE
    first = found[: _OF_A_LINK if limit is None else limit]
    show(out, chain([TextLine(title, "strong")], _finding_lines(measured.findings(first), width, _CHUNKS_SHOWN)))
    if rest := found[len(first) :]:
        names = ", ".join(measured.source[one.number].question.id for one in rest)
        whole = command(f"show {measured.run.id} --failed {link} --failures {len(found)}", runs_dir)
        show(out, [EMPTY, TextLine(f"{len(rest)} more: {names}", limit=600), TextLine(whole, whole=True)])


def _finding_lines(findings: Iterable[Finding], limit: int, chunks: int) -> Iterator[TextLine]:
    """Each question with its answer and the first chunks, marked where one holds gold; texts cut to a length."""
    for finding in findings:
        question, response = finding.record.question, finding.record.response
        yield EMPTY
        yield TextLine(f"{question.id}: {finding.link}: {finding.explanation}", "bad", limit=400)
        yield from (TextLine(one_line(f"  note      {remark}", 300), "faint") for remark in finding.remarks)
        yield TextLine(f"  question  {one_line(question.question, limit)}")
        if question.expected_answer:
            yield TextLine(f"  expected  {one_line(question.expected_answer, limit)}")
        if response is None or response.error is not None:
            continue
        yield TextLine(f"  answer    {one_line(response.answer or '', limit)}")
        yield from _chunk_lines((response.chunks or [])[:chunks], finding.hit_ranks, limit)


_MARKS = len("  expected  ")

_WHOLE = 300
"""Characters of a text, where it is not cut to lines."""


def _chunk_lines(chunks: Sequence[RetrievedChunk], hits: Sequence[int], limit: int) -> Iterator[TextLine]:
    """The first chunks, with a mark where one holds gold."""
    for rank, chunk in enumerate(chunks, start=1):
        mark, holds = ("✓", " [holds a reference passage]") if rank in hits else (" ", "")
        said = f"{one_line(place_of(chunk), 60)}{holds}: {one_line(chunk.text or '', 120)}"
        yield TextLine(f"  {mark} {rank:>2}      {one_line(said, limit)}", "faint")


_SENSITIVE = ("recall_at_5", "precision_at_5")


def print_sensitivity(out: Console, measured: Measured) -> None:
    """Print how recall and precision move with the overlap threshold, and which rules recognised the gold."""
    records, settings = measured.source, measured.cases.settings
    rows = []
    for row in by_threshold(records, [parse_metric(name) for name in _SENSITIVE], settings):
        mark = " (used)" if row.threshold == settings.match.overlap_threshold else ""
        values = (number(summary.value, summary.unit) for summary in row.summaries)
        rules = ", ".join(f"{rule} {count}" for rule, count in sorted(row.rules.items())) or "none"
        rows.append([f"{row.threshold:.1f}{mark}", *values, rules])
    by_rule = "golds recognised by rule"
    golds = sum(len(record.question.gold_passages) for record in records if record.response and record.response.chunks)
    of = f"of {counted(golds, 'gold passage')} of questions that brought chunks"
    table = grid("", ["overlap threshold", *_SENSITIVE, by_rule], rows, [by_rule])
    show(out, [EMPTY, table, TextLine(f"{of}; the other rules do not depend on the threshold", "faint")])
