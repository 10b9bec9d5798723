"""What is shown of a run, as lines and tables that each output draws in its own way."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from string import ascii_uppercase
from typing import TYPE_CHECKING

from evals.report import wording
from evals.report.elements import TableRow, TextLine, TextTable, Tone, grid
from evals.report.wording import interval, level, named, number, one_line, ratio, remarks_of, score_range, value
from evals.schemas.calibration import Figure
from evals.schemas.dataset import DatasetFingerprint
from evals.schemas.response import Outcomes
from evals.schemas.results import EvalRecord, EvalRun, MetricSummary
from evals.schemas.run_parts import GateOutcome
from evals.schemas.verdicts import JudgeRecord
from evals.scoring.config import FEW, confidence, has_earlier_intervals, headline, percent, scoring_config
from evals.text.numbers import agree, counted, share

if TYPE_CHECKING:
    from evals.scoring.abstention import AbstentionTable, Rate, RiskCoverage
    from evals.scoring.diagnosis.counts import Diagnosis, WrongSlice
    from evals.scoring.diagnosis.stages import StageRecall


# The scorecard.


_MANY, _FEW, _NAMED = 15, 3, 6
"""A scorecard of more metrics than these shows of each group the main ones, at least three."""

_MISSED = "abstention_false_negative_rate"

_NO_UNANSWERABLE = "no answered question is known to be unanswerable: mark some with is_unanswerable"


def main_metrics(run: EvalRun) -> set[str]:
    """The metrics that feed the weighted score, or decide first in comparisons."""
    scoring = scoring_config(run)
    return set(chain.from_iterable((*scoring.feeds.values(), *scoring.primary.values())))


def _shown(run: EvalRun, names: Sequence[str], *, every: bool) -> list[MetricSummary]:
    """The metrics of a group that the scorecard shows: those that have a value; of very many, the main ones."""
    found = [one for one in map(run.scorecard.get, names) if one.value is not None]
    if every or sum(one.value is not None for one in run.scorecard.metrics) <= _MANY:
        return found
    main = main_metrics(run)
    first = sorted(found, key=lambda one: one.name not in main)[:_FEW]
    return [one for one in found if one in first or one.name in main]


def scorecard_table(run: EvalRun, *, every: bool = True) -> TextTable:
    """The metrics that have a value, by group; of a large scorecard the main ones, or with `every` all of them.

    What all metrics of a group have to remark stands once, after its name.
    """
    rows = []
    for group, names in run.scorecard.by_group.items():
        metrics = _shown(run, names, every=every)
        remarks = {", ".join(remarks_of(one)) for one in metrics}
        shared = remarks.pop() if len(metrics) > 1 and len(remarks) == 1 else ""
        rows += [_heading(run, group, len(metrics), shared)] if metrics else []
        for one in metrics:
            name, label = named(one.name, one.higher_is_better), wording.label_of(one.name)
            cells = [name, label, value(one), interval(one), str(one.sample_size)]
            rows.append(TableRow(cells, "", "" if shared else ", ".join(remarks_of(one))))
    columns = ["metric", "measures", "value", f"{level(confidence(run))} interval", "n"]
    return TextTable(columns, rows, words=columns[1:2], spare=columns[1:2], is_labelled=True)


def _heading(run: EvalRun, group: str, shown: int, remark: str) -> TableRow:
    """The heading of a group, with how many of its metrics are shown and what all of them have to remark."""
    found = {name: run.scorecard.get(name).value for name in run.scorecard.by_group[group]}
    there = sum(value is not None for value in found.values())
    few = f" ({shown} of {there}, --all for all)" if shown < there else ""
    is_known = found.get(_MISSED, 1.0) is not None
    return TableRow([f"{group}{few}"], "strong", remark or ("" if is_known else _NO_UNANSWERABLE))


def scorecard_lines(run: EvalRun, *, every: bool = True) -> Iterator[str]:
    """What the scorecard does not say in its table: which metrics have no value and why, and clusters of questions."""
    yield from _missing_lines(run, every=every)
    samples = [one.interval for one in run.scorecard.metrics if one.interval is not None]
    counts = sorted({sample.clusters for sample in samples if sample.clusters != sample.n})
    if counts:
        many = " to ".join(map(str, dict.fromkeys((counts[0], counts[-1]))))
        yield f"intervals are clustered: questions on one document count as one group ({many} groups)"


def _missing_lines(run: EvalRun, *, every: bool) -> Iterator[str]:
    missing = wording.by_reason(map(_why_missing, run.scorecard.metrics))
    if not every and len(missing) > _FEW:
        names = list(chain.from_iterable(missing.values()))
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        yield f"no value: {', '.join(names[:_NAMED])}{more} (--all gives the reasons)"
        return
    for reason, names in missing.items():
        named_all = every or len(names) <= _NAMED
        yield f"no value: {', '.join(names) if named_all else f'{len(names)} metrics'} ({reason})"


def _why_missing(one: MetricSummary) -> tuple[str, str | None]:
    return one.name, None if one.value is not None else ", ".join(remarks_of(one)) or "no question has a value"


# The weighted score, and what it is made of.

_TENTH = 10
"""Of a run: an objective that fewer questions feed may hang on a kind of question that is rare."""


def score_texts(run: EvalRun) -> list[str]:
    """The score with its interval, how much of it is not measured, and its bounds; or a dash with the reason."""
    head, weighted = headline(run), run.weighted_score
    if head.score is None:
        return [f"– ({head.reason})"]
    told = [f"{level(confidence(run))} interval {score_range(weighted.ci)}"] if weighted.ci is not None else []
    told += [] if head.is_whole else [f"{percent(1 - head.coverage)} of it not measured"]
    texts = [f"{head.score:.3f} ({'; '.join(told)})".removesuffix(" ()")]
    return texts + ([f"{score_range(weighted.bounds)} with lost questions"] if weighted.bounds is not None else [])


def score_remarks(run: EvalRun) -> Iterator[str]:
    """What the score is made of, what feeds an objective in part or by few questions, and what is left out."""
    weighted = run.weighted_score
    for name, part in weighted.objectives.items():
        yield ": ".join(filter(None, (f"{part:.3f} × {weighted.weights[name]:g} {name}", _feeding(run, name))))
    if few := list(_fed_by_few(run)):
        yield f"based on few questions, and uncertain: {', '.join(few)}"
    if weighted.left_out and headline(run).score is not None:
        yield f"not measured: {', '.join(weighted.left_out)}; the other parts are scaled up"


def _fed_by_few(run: EvalRun) -> Iterator[str]:
    counts = {one.name: one.sample_size for one in run.scorecard.metrics}
    for name, fed in run.weighted_score.fed_by.items():
        most = max((counts.get(metric, 0) for metric in fed), default=0)
        if most < max(FEW, run.question_count / _TENTH):
            yield f"{name} ({most} of {run.question_count})"


def _feeding(run: EvalRun, name: str) -> str:
    """The metrics whose mean an objective is; where some have no value, what the others measure."""
    fed, feeds = run.weighted_score.fed_by.get(name, []), scoring_config(run).feeds.get(name, [])
    missing = [metric for metric in feeds if metric not in fed]
    if not (fed and missing):
        return ", ".join(fed)
    only = ", ".join(f"{wording.label_of(metric)} ({metric})" for metric in fed)
    few = run.weighted_score.left_out_metrics.get(name, {})
    lacking = ", ".join(f"{metric} ({few[metric]})" if metric in few else metric for metric in missing)
    return f"{only}; not measured: {lacking}"


# What was asked, how questions ended, and what to know of the numbers.


def facts_of(run: EvalRun) -> list[str]:
    """Server, its model, datasets, judge and time."""
    model = run.config.get("llm_model")
    took = "" if run.is_unscored else f", {run.duration_s:.0f} s"
    embedded = run.eval_config.get("embedded")
    return [
        "the built-in keyword search" if embedded else run.server.url,
        *([str(model)] if model and not embedded else []),
        ", ".join("built-in question set golden" if name == "golden" else name for name in run.datasets),
        f"judge {run.judge.model}" if run.judge else "no judge",
        f"{run.created_at:%Y-%m-%d %H:%M}{took}",
    ]


def questions_of(fingerprints: Iterable[DatasetFingerprint], count: int) -> str:
    """How many questions were asked, and of how many where rows of a file were left out: "100 of 150 questions"."""
    there = sum(each.questions if each.available is None else each.available for each in fingerprints)
    return share(count, there, "question") if there > count else counted(count, "question")


def outcome_line(run: EvalRun) -> str:
    """How many questions were asked, and how they ended: "45 questions: 39 answered, 3 declined, 1 timeout"."""
    outcomes = run.outcomes
    stopped = f"; asking ended early: {outcomes.stopped}" if outcomes.stopped else ""
    return f"{questions_of(run.fingerprints, run.question_count)}: {', '.join(_outcomes(outcomes))}{stopped}"


def _outcomes(outcomes: Outcomes) -> Iterator[str]:
    unsure = {"disputed": outcomes.abstention_disputed, "open": outcomes.abstention_open}
    said = ", ".join(f"{count} {kind}" for kind, count in unsure.items() if count)
    yield f"{outcomes.answered - outcomes.abstained} answered"
    yield f"{outcomes.abstained} declined{f' ({said})' if said else ''}"
    yield from (f"{count} {kind}" for kind, count in outcomes.transport.items())
    rest = {"not asked": outcomes.not_asked, "retried": outcomes.retried}
    yield from (f"{count} {kind}" for kind, count in rest.items() if count)
    if outcomes.median_chunks is not None:
        yield f"median {outcomes.median_chunks:g} {agree(outcomes.median_chunks, 'chunk', 'chunks')}"
    if outcomes.citations is not None:
        invalid = f" ({outcomes.invalid_citations} invalid)" if outcomes.invalid_citations else ""
        yield f"{counted(outcomes.citations, 'citation')}{invalid}"


def left_out(dropped: Mapping[str, int]) -> str:
    """What was left out of a dataset, by reason."""
    return ", ".join(f"{count} × {reason}" for reason, count in dropped.items())


def reading_notes(fingerprints: Iterable[DatasetFingerprint]) -> list[str]:
    """What a reader must know of how files of the user's own were read, what was left out of them included."""
    notes = []
    for each in fingerprints:
        notes += each.notes
        if each.available is not None and each.dropped:
            notes.append(f"{each.source}: left out: {left_out(each.dropped)}")
    return notes


_NO_IDS = "no retrieved chunk has an id"
"""How the note begins that says so, which changes no number."""


def notes_of(run: EvalRun, *, every: bool = True) -> list[str]:
    """What to know of the numbers of a run; without `every`, only what may change them."""
    notes = [*reading_notes(run.fingerprints), *(note for note in run.notes if every or not note.startswith(_NO_IDS))]
    if has_earlier_intervals(run):
        notes.append(f"the intervals are by the rule of an earlier version: `evals rescore {run.id}` makes them anew")
    return notes


def in_its_log(records: Sequence[EvalRecord]) -> str:
    """How many answers a run has that was never finished: `2 of 4 answers are in its log, none is scored yet`."""
    answered = sum(record.response is not None for record in records)
    return f"{share(answered, len(records), 'answer', 'is')} in its log, none is scored yet"


GATE_TONES: dict[str, Tone] = {"met": "good", "not met": "bad", "not enough evidence": "doubtful"}


def gate_lines(outcomes: Sequence[GateOutcome]) -> Iterator[TextLine]:
    """A line a gate: how it ended, and the figures behind it."""
    for each in outcomes:
        yield TextLine(f"{each.gate}: {each.outcome}: {each.message}", GATE_TONES[each.outcome])


# What server and judge have cost, and how the judge fares against people's labels.

COST_PER_QUERY = "cost_per_query"


def cost_lines(run: EvalRun) -> list[str]:
    """A line of the server and one of the judge: what each has cost, or why that is not known."""
    found = run.scorecard.find(COST_PER_QUERY)
    if found is None or found.value is None:
        server = f"not known: {found.reason}" if found else f"{COST_PER_QUERY} was not measured"
    else:
        total = number(found.value * found.sample_size, found.unit)
        ends = f" ({interval(found)})" if found.ci else ""
        server = f"{value(found)} a question{ends}, {total} for the {found.sample_size} that it counted tokens of"
    return [f"server: {server}", f"judge: {judge_cost(run.judge) if run.judge else 'none was used'}"]


def judge_cost(judge: JudgeRecord) -> str:
    """What the judge has cost, as far as prices are known."""
    cost = "price unknown" if judge.cost_usd is None else f"${judge.cost_usd:.4f}"
    if judge.cost_usd is not None and judge.unpriced:
        cost = f"at least {cost}, as {counted(judge.unpriced, 'call', 'has')} no known cost"
    if judge.cost_per_query_usd:
        cost += f" ({number(judge.cost_per_query_usd, 'USD')} a question, not in {COST_PER_QUERY})"
    return cost


def judge_lines(run: EvalRun, *, every: bool = True) -> Iterator[str]:
    """What the judge did, cost and how it failed; then how it agrees with people's labels, and with `every` length."""
    judge = run.judge
    if judge is None:
        return
    yield _judge_line(run, judge)
    for name, card in judge.cards.items():
        if card is not None:
            figures = {"sensitivity": card.sensitivity, "specificity": card.specificity, "kappa": card.kappa}
            told = _figures(figures)
            yield f"  {name}: calibrated on {card.labels} labels, {card.created_at:%Y-%m-%d}: {told}"
    never = [name for name, card in judge.cards.items() if card is None]
    if never:
        yield f"  never calibrated: {', '.join(never)}"
    if every:
        yield from _length_lines(judge)


def _length_lines(judge: JudgeRecord) -> Iterator[str]:
    lengths = {name: figure for name, figure in judge.length_correlations.items() if figure.value is not None}
    if lengths:
        yield f"  correlation of score and length of the answer (Spearman): {_figures(lengths)}"


def _judge_line(run: EvalRun, judge: JudgeRecord) -> str:
    usage = judge.usage
    read = f" ({usage.cache_read_tokens:,} from the vendor's cache)" if usage.cache_read_tokens else ""
    thought = f" ({usage.thinking_tokens:,} thought)" if usage.thinking_tokens else ""
    parts = [counted(judge.calls, "call"), f"{judge.cached} from the cache"]
    parts += [f"{usage.input_tokens:,}{read} + {usage.output_tokens:,}{thought} tokens", judge_cost(judge)]
    parts += [f"{counted(judge.prevented, 'decision')} beyond the budget"] if judge.prevented else []
    parts += [f"{count} {failure}" for failure, count in run.outcomes.judge.items()]
    parts += [f"repeats disagree on {judge.flip_rate:.1%}"] if judge.flip_rate is not None else []
    return f"judge {judge.model}{f', effort {judge.effort}' if judge.effort else ''}: {', '.join(parts)}"


def _figures(figures: Mapping[str, Figure]) -> str:
    return ", ".join(f"{name} {ratio(figure)}" for name, figure in figures.items())


# What follows from the records: who declined, the stages of the retrieval, risk by coverage, the links that broke.

_RATES = {
    "precision": "declined rightly, of all declined",
    "always_answering": "right to answer or decline, by always answering",
    "always_abstaining": "right to answer or decline, by always declining",
}
"""What of the table no metric says."""


def abstention_tables(table: "AbstentionTable | None") -> list[TextTable]:
    """Who declined what, and rates that are no metrics; nothing if it is unknown what can be answered."""
    if table is None:
        return []
    cells = [
        ("answerable", str(table.answerable_answered), str(table.answerable_abstained)),
        ("unanswerable", str(table.unanswerable_answered), str(table.unanswerable_abstained)),
    ]
    rates = [(title, _rate(getattr(table, name))) for name, title in _RATES.items()]
    return [
        grid("Who declined what", ["question", "answered", "declined"], cells),
        grid("For comparison", ["rate", "value"], rates, ["value"]),
    ]


def _rate(rate: "Rate") -> str:
    if rate.value is None or rate.interval is None:
        return f"– (of {rate.of})"
    low, high = rate.interval
    return f"{rate.value:.3f} [{low:.3f} … {high:.3f}] ({rate.count} of {rate.of})"


_STAGES = "recall by stage of the retrieval"


def stage_tables(stages: "Sequence[StageRecall]") -> list[TextTable]:
    """The recall at each stage of the retrieval; nothing where the server lists none."""
    rows = [(one_line(one.name, 80), _recall(one), str(one.questions)) for one in stages]
    return [grid(_STAGES.capitalize(), ["stage", "recall", "n"], rows)] if rows else []


def _recall(stage: "StageRecall") -> str:
    return f"at least {stage.recall:.3f} ({stage.unsure} unsure)" if stage.unsure else f"{stage.recall:.3f}"


def stages_in_a_line(stages: "Sequence[StageRecall]") -> str:
    """Each stage with its recall, in their order."""
    return f"{_STAGES}: {', '.join(f'{stage.name} {_recall(stage)}' for stage in stages)}"


_COVERAGES = (0.25, 0.5, 0.75, 1.0)


def risk_line(curve: "RiskCoverage") -> str:
    """The area under the curve, and the risk at the first points that reach a quarter, a half and so on."""
    reached = (next(point for point in curve.points if point.coverage >= least) for least in _COVERAGES)
    some = ", ".join(f"{point.risk:.3f} at {point.coverage:.0%}" for point in dict.fromkeys(reached))
    return (
        f"AURC {curve.area:.3f} (chance {curve.area_of_chance:.3f}, best possible {curve.least_area:.3f}) over "
        f"{curve.answers} answers with a confidence; risk {some}"
    )


_REMARKS = {
    "unsupported_claims": "with claims that no chunk supports",
    "needs_verification": "on which fuzzy match and judge disagree (see the export review)",
}


def link_lines(diagnosis: "Diagnosis") -> Iterator[str]:
    """A line a broken link, in the order of the chain, then what is counted apart."""
    apart = diagnosis.right_without_gold
    for mark, one in [*(("", one) for one in diagnosis.links), *([("apart: ", apart)] if apart else [])]:
        low, high = one.interval
        yield f"{mark}{one.count} × {one.link.label} ({one.share:.0%}, {100 * low:.0f}–{high:.0%}): {one.link}"
    for kind, ids in diagnosis.remarks.items():
        yield f"also: {len(ids)} answers {_REMARKS[kind]}"


def wrong_line(one: "WrongSlice") -> str:
    """How many questions of a slice ended wrong, and where first."""
    low, high = one.interval
    links = ", ".join(f"{link} {count}" for link, count in one.links.items())
    mark = ", worse than the run" if one.is_worse else ""
    said = f"{one.value}: {one.wrong} of {one.asked} ({one.share:.0%}, {100 * low:.0f}–{high:.0%}{mark})"
    return f"{said}: {links}" if links else said


# A list of runs.


def labels_of(count: int) -> list[str]:
    """This many letters; numbers where these are not enough."""
    return list(ascii_uppercase[:count]) if count <= len(ascii_uppercase) else [str(n + 1) for n in range(count)]


def runs_table(runs: Sequence[EvalRun], groups: Sequence[Sequence[EvalRun]]) -> TextTable:
    """What is said of each run; a letter behind its score where not all measure the same, by groups that compare."""
    letters = {run.id: label for label, group in zip(_letters(groups), groups, strict=True) for run in group}
    words = ("server", "profile", "datasets", "name")
    columns = ("id", "created", "status", "questions", "score", *words)
    rows = [TableRow(_run_cells(run, letters.get(run.id, ""))) for run in runs]
    return TextTable(columns, rows, words=words, spare=("profile", "server", "created"))


def _run_cells(run: EvalRun, letter: str) -> list[str]:
    return [
        run.id,
        f"{run.created_at:%Y-%m-%d %H:%M}",
        run.status if run.completed_at else "unfinished",
        f"{run.question_count}{f' ({run.error_count} failed)' if run.error_count else ''}",
        f"{headline(run)}{f' {letter}' if letter else ''}",
        one_line("embedded" if run.eval_config.get("embedded") else run.server.url, 60),
        one_line(run.server.profile, 40),
        one_line(",".join(run.datasets), 40),
        one_line("" if run.id in run.name else run.name, 60),
    ]


def _letters(groups: Sequence[Sequence[EvalRun]]) -> list[str]:
    return [f"[{label.lower()}]" if len(groups) > 1 else "" for label in labels_of(len(groups))]


def objective_lines(groups: Sequence[Sequence[EvalRun]]) -> list[str]:
    """That scores do not compare; nothing where all measure the same."""
    said = "scores with different letters are made of different parts: do not compare them"
    return [said] if len(groups) > 1 else []
