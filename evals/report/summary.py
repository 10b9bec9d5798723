"""What is said of a run: score, outcomes, what went wrong, scorecard, cost, notes; as lines and tables."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from evals.errors import UnknownNameError
from evals.metrics.registry import default_names
from evals.report.elements import EMPTY, ShownPart, TableRow, TextLine, TextTable, Tone, grid
from evals.report.wording import (
    by_reason,
    interval,
    label_of,
    level,
    named,
    natural_order,
    ratio,
    remarks_of,
    score_range,
    value,
)
from evals.schemas.dataset import DatasetFingerprint
from evals.schemas.response import Outcomes
from evals.schemas.results import EvalRun, GateOutcome, MetricSummary, Scorecard
from evals.schemas.verdicts import JudgeRecord
from evals.scoring.config import confidence, headline, percent, scoring_config
from evals.scoring.gates import Gate, parse_gate
from evals.scoring.notes import reading_notes
from evals.scoring.outcomes import count_outcomes, wrong_headline
from evals.scoring.results import Results
from evals.scoring.saved import SavedRun
from evals.scoring.scorecard import make_scorecard
from evals.scoring.settings import known_metrics
from evals.store.runs import refuse_damaged
from evals.text.foreign import one_line
from evals.text.numbers import counted, listed, share

_MOST, _FEW, _NAMED = 15, 3, 6
"""A scorecard of more metrics than these shows the main ones of each group, at least three."""

_JUDGED = {"answer_correctness": "no correctness", "faithfulness": "no faithfulness"}
"""What a score does not say where no judge took part."""

_SLICES = 12
"""Values of a key that are shown."""

_OF_A_LOG = (
    *("faithfulness", "unsupported_numbers", "declined_rate", "context_sufficiency"),
    *("latency_p50", "answer_relevancy", "cost_per_query"),
)

_NO_IDS = "no retrieved chunk has an id"
GATE_TONES: dict[str, Tone] = {"met": "good", "not met": "bad", "not enough evidence": "doubtful"}


def scored_parts(run: EvalRun, results: Results, *, every: bool = True) -> Iterator[ShownPart]:
    """What a run came to: gates, what went wrong, scorecard, what the score is made of, judge, repeats."""
    yield from gate_lines(run.gates)
    if (wrong := wrong_table(run, results)) is not None:
        yield wrong
    yield EMPTY
    yield scorecard_table(run, every=every)
    yield from sufficiency_table(run)
    yield from (TextLine(line, "faint") for line in scorecard_lines(run, every=every))
    yield from (TextLine(f"  {line}", "faint") for line in score_parts(run) if every)
    yield from map(TextLine, judge_lines(run))
    yield from repeats_table(run)


# Head, score, outcomes.


def head_line(run: EvalRun) -> str:
    """Name, id, status, time, server, datasets, judge."""
    facts = [
        server_of(run),
        ", ".join("golden (built in)" if name == "golden" else name for name in run.datasets),
        *([f"judge {run.judge.model}"] if run.judge else []),
        f"{run.created_at:%Y-%m-%d %H:%M}",
        *([f"merged from {counted(len(run.merged_from), 'shard')}"] if run.merged_from else []),
    ]
    name = "" if run.id in run.name else f"{one_line(run.name, 100)}  "
    return f"{name}{run.id}  {run.status}: {', '.join(facts)}"


def server_of(run: EvalRun) -> str:
    """The address of the server that answered."""
    return "built-in server" if run.eval_config.get("embedded") else run.server.url


def score_line(run: EvalRun) -> str:
    """The weighted score with its interval and how much of it was measured; or why there is none."""
    head, weighted = headline(run), run.weighted_score
    if head.score is None:
        return f"score –: {head.reason}"
    facts = [f"{level(confidence(run))} interval {score_range(weighted.ci)}"] if weighted.ci is not None else []
    unjudged = (
        [] if run.judge else [name for name in _JUDGED if (one := run.scorecard.find(name)) and one.value is None]
    )
    if not head.is_whole:
        lacking = ", ".join(name for name in weighted.left_out if name not in unjudged)
        facts.append(f"{percent(1 - head.coverage)} of it not measured{lacking and f': {lacking}'}")
    if unjudged:
        facts.append(f"without a judge: {', '.join(_JUDGED[name] for name in unjudged)}")
    facts += [f"{score_range(weighted.bounds)} with lost questions"] if weighted.bounds is not None else []
    return f"score {head.score:.3f}" + (f" ({'; '.join(facts)})" if facts else "")


def outcome_line(run: EvalRun) -> str:
    """How the questions ended: "100 questions: 72 answered, 28 declined, 0 failed"."""
    outcomes = run.outcomes
    kinds = ", ".join(f"{count} {kind}" for kind, count in outcomes.transport.items())
    parts = [
        f"{outcomes.answered - outcomes.abstained} answered",
        f"{outcomes.abstained} declined",
        f"{run.error_count} failed{f' ({kinds})' if kinds else ''}",
    ]
    parts += [f"{outcomes.not_asked} not asked"] if outcomes.not_asked else []
    parts += [f"{outcomes.retried} retried"] if outcomes.retried else []
    stopped = f"; asking ended early: {outcomes.stopped}" if outcomes.stopped else ""
    return f"{questions_of(run.fingerprints, run.question_count)}: {', '.join(parts)}{stopped}"


def questions_of(fingerprints: Iterable[DatasetFingerprint], count: int) -> str:
    """How many questions were asked, and of how many a sample was drawn: "100 of 150 questions"."""
    held = sum(each.questions if each.available is None else each.available for each in fingerprints)
    return share(count, held, "question") if held > count else counted(count, "question")


def wrong_table(run: EvalRun, results: Results) -> TextTable | None:
    """How many questions went wrong in which way, with the name for `--failed`; None where none did."""
    rows = [[str(len(count.rows)), count.outcome.label, count.outcome.value] for count in count_outcomes(results)]
    columns, title = ["", "what went wrong first", "show --failed"], wrong_headline(results, run.question_count)
    return grid(title, columns, rows, words=columns) if rows else None


# The scorecard.


def main_metrics(run: EvalRun) -> set[str]:
    """The metrics that feed the weighted score, or decide first in comparisons."""
    scoring = scoring_config(run)
    return set(chain.from_iterable((*scoring.feeds.values(), *scoring.primary.values())))


def scorecard_table(run: EvalRun, *, every: bool = True) -> TextTable:
    """The metrics that have a value, by group; of a large scorecard the main ones, or with `every` all of them."""
    rows: list[TableRow] = []
    for group, names in run.scorecard.by_group.items():
        valued = [one for one in map(run.scorecard.get, names) if one.value is not None]
        shown = _shown(run, valued, every=every)
        if not shown:
            continue
        few = f" ({len(shown)} of {len(valued)}; --all)" if len(shown) < len(valued) else ""
        rows.append(TableRow([f"{group}{few}"], "strong"))
        rows += [TableRow(_cells(one), "", ", ".join(remarks_of(one))) for one in shown]
    columns = ["metric", "measures", "value", f"{level(confidence(run))} interval", "n"]
    return TextTable(columns, rows, words=["measures"], spare=["measures"])


def _shown(run: EvalRun, valued: Sequence[MetricSummary], *, every: bool) -> list[MetricSummary]:
    if every or sum(one.value is not None for one in run.scorecard.metrics) <= _MOST:
        return list(valued)
    main = main_metrics(run)
    first = sorted(valued, key=lambda one: one.name not in main)[:_FEW]
    return [one for one in valued if one in first or one.name in main]


def _cells(one: MetricSummary) -> list[str]:
    name = f"  {named(one.name, one.higher_is_better)}"
    return [name, label_of(one.name), value(one), interval(one), str(one.sample_size)]


def scorecard_lines(run: EvalRun, *, every: bool = True) -> Iterator[str]:
    """Which metrics have no value and why, and what intervals are over."""
    missing = by_reason(
        (one.name, None if one.value is not None else ", ".join(remarks_of(one)) or "no question has a value")
        for one in run.scorecard.metrics
    )
    if not every and len(missing) > _FEW:
        names = list(chain.from_iterable(missing.values()))
        yield f"no value: {listed(names, _NAMED)} (--all gives the reasons)"
    else:
        for reason, names in missing.items():
            named_or_counted = ", ".join(names) if every or len(names) <= _NAMED else f"{len(names)} metrics"
            yield f"no value: {named_or_counted} ({reason})"
    cluster = scoring_config(run).cluster
    groups = max((one.interval.clusters for one in run.scorecard.metrics if one.interval), default=0)
    independent = "questions, for these documents" if run.log is None else "the rows of this log"
    over = f"{groups} groups by {cluster}" if cluster else independent
    if groups:
        yield f"intervals are over {over}"


def sufficiency_table(run: EvalRun) -> Iterator[TextTable]:
    """Of a judged log, whether the retrieved texts suffice, by whether the answer declines."""
    grounds = run.log.grounds if run.log is not None else {}
    remarks = {"sufficient": "declined: could have answered", "insufficient": "answered: without a ground"}
    rows = [
        [f"texts {ground}", f"{grounds[f'{ground} answered']:,.0f}", f"{grounds[f'{ground} declined']:,.0f}", remark]
        for ground, remark in remarks.items()
        if grounds
    ]
    yield from [grid("", ["rows of the log", "answered", "declined", ""], rows)] if rows else []


def score_parts(run: EvalRun) -> Iterator[str]:
    """What the score is made of, and what is left out."""
    weighted = run.weighted_score
    for name, part in weighted.objectives.items():
        metrics = ", ".join(weighted.fed_by.get(name, []))
        missing = weighted.left_out_metrics.get(name, {})
        lacking = f"; without {', '.join(missing)}" if missing else ""
        yield f"{part:.3f} × {weighted.weights[name]:g} {name}: {metrics}{lacking}"
    if weighted.left_out and weighted.score is not None:
        yield f"not measured: {', '.join(weighted.left_out)}; the other parts are scaled up"


# Judge, notes, gates, repeats.


def judge_cost(judge: JudgeRecord) -> str:
    """What the judge has cost, as far as prices are known."""
    cost = "price unknown" if judge.cost_usd is None else f"${judge.cost_usd:.4f}"
    if judge.cost_usd is not None and judge.unpriced:
        cost = f"at least {cost}: {counted(judge.unpriced, 'call', 'has')} no known cost"
    return cost


def judge_lines(run: EvalRun) -> Iterator[str]:
    """What the judge did, cost and lost; then how it agrees with people's labels."""
    judge = run.judge
    if judge is None:
        return
    usage = judge.usage
    parts = [
        counted(judge.calls, "call"),
        f"{judge.cached} from the cache",
        f"{usage.input_tokens:,} + {usage.output_tokens:,} tokens",
        judge_cost(judge),
    ]
    parts += [f"{counted(judge.prevented, 'decision')} beyond the budget"] if judge.prevented else []
    parts += [f"{count} {failure}" for failure, count in run.outcomes.judge.items()]
    parts += [f"repeats disagree on {judge.flip_rate:.1%}"] if judge.flip_rate is not None else []
    yield f"judge {judge.model}{f', effort {judge.effort}' if judge.effort else ''}: {', '.join(parts)}"
    for name, card in judge.cards.items():
        if card is not None:
            figures = {"sensitivity": card.sensitivity, "specificity": card.specificity, "kappa": card.kappa}
            shown = ", ".join(f"{title} {ratio(figure)}" for title, figure in figures.items())
            yield f"  {name}: calibrated on {card.labels} labels, {card.created_at:%Y-%m-%d}: {shown}"
    if judge.uncalibrated:
        yield f"  never calibrated: {', '.join(judge.uncalibrated)}"


def notes_of(run: EvalRun, *, every: bool = True) -> list[str]:
    """What to know of the numbers of a run; without `every`, only what may change them."""
    return [*reading_notes(run.fingerprints), *(note for note in run.notes if every or not note.startswith(_NO_IDS))]


def gate_lines(outcomes: Sequence[GateOutcome]) -> Iterator[TextLine]:
    """A line a gate: how it ended, and the figures behind it."""
    for each in outcomes:
        yield TextLine(f"{each.gate}: {each.outcome}: {each.message}", GATE_TONES[each.outcome])


def repeats_table(run: EvalRun) -> Iterator[TextLine | TextTable]:
    """How stable answers are that were asked for several times; nothing where each was asked once."""
    repeats = run.repeats
    if repeats is None:
        return
    yield TextLine(f"{counted(repeats.questions, 'question')}, each asked {repeats.repeats} times", "strong")
    if repeats.agreement is not None and repeats.same_answers is not None:
        yield TextLine(
            f"the same answer each time to {repeats.same_answers:.1%} of {counted(repeats.compared, 'question')}; "
            f"{repeats.agreement:.3f} of pairs of answers are the same"
        )
    rows = []
    for metric in repeats.metrics:
        if metric.pass_hat:
            ends = "–" if metric.pass_all_ci is None else score_range(metric.pass_all_ci)
            pass_1, pass_k = (f"{rate:.3f}" for rate in (metric.pass_hat[0], metric.pass_hat[-1]))
            rows.append([metric.name, str(metric.questions), pass_1, pass_k, ends])
    if rows:
        columns = ["metric", "n", "pass^1", f"pass^{repeats.repeats}", "interval"]
        yield grid("pass^k: share of questions whose k answers are all right", columns, rows)


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


# A list of runs.


def runs_table(runs: Sequence[EvalRun]) -> TextTable:
    """A row a run."""
    columns = ("id", "created", "status", "questions", "score", "name", "server", "profile", "datasets")
    rows = [TableRow(_run_cells(run)) for run in runs]
    return TextTable(columns, rows, words=columns[5:], spare=("profile", "datasets", "created", "server"))


def _run_cells(run: EvalRun) -> list[str]:
    return [
        run.id,
        f"{run.created_at:%Y-%m-%d %H:%M}",
        run.status if run.completed_at else "unfinished",
        f"{run.question_count}{f' ({run.error_count} failed)' if run.error_count else ''}",
        str(headline(run)),
        one_line("" if run.id in run.name else run.name, 60),
        one_line(server_of(run), 60),
        one_line(run.server.profile, 40),
        one_line(",".join(run.datasets), 40),
    ]


# What a pattern of metrics usually means.


_RULES = Path(__file__).resolve().parent.parent / "data" / "hints.yml"


@dataclass(frozen=True, slots=True)
class Hint:
    """One rule.

    Attributes:
        name: What it is called.
        text: What the pattern usually means.
        when: Conditions that must all hold; a metric without a value holds none.
        where_measured: Conditions that must hold of those metrics that have a value.
        void_where_cited: It means nothing where the answers come with citations.
    """

    name: str
    text: str
    when: tuple[Gate, ...] = ()
    where_measured: tuple[Gate, ...] = ()
    void_where_cited: bool = False

    def applies(self, scorecard: Scorecard) -> bool:
        """Whether the scorecard shows the pattern."""
        values = {metric.name: metric.value for metric in scorecard.metrics if metric.value is not None}
        required = (gate.metric in values and gate.holds(values[gate.metric]) for gate in self.when)
        optional = (gate.metric not in values or gate.holds(values[gate.metric]) for gate in self.where_measured)
        return all(required) and all(optional)

    def evidence(self, scorecard: Scorecard) -> str:
        """The metrics that show the pattern, with their values: `keyword_coverage 0.91, number_match 0.42`."""
        metrics = (scorecard.find(condition.metric) for condition in (*self.when, *self.where_measured))
        return ", ".join(f"{one.name} {one.value:.2f}" for one in metrics if one and one.value is not None)


def applying(scorecard: Scorecard, outcomes: Outcomes) -> list[Hint]:
    """The hints that apply to a scorecard of questions that ended so, in the order of the rules.

    Answers come with citations where most of those do that have something to cite.
    """
    cited = 2 * (outcomes.citations or 0) > outcomes.answered - outcomes.abstained
    return [hint for hint in all_hints() if hint.applies(scorecard) and not (hint.void_where_cited and cited)]


@cache
def all_hints() -> tuple[Hint, ...]:
    """Every hint that there is."""
    rules: list[dict[str, Any]] = yaml.safe_load(_RULES.read_text(encoding="utf-8"))
    known = default_names()
    for rule in rules:
        for key in ("when", "where_measured"):
            rule[key] = tuple(parse_gate(text, known) for text in rule.get(key, ()))
    return tuple(Hint(**rule) for rule in rules)
