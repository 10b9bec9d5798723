"""Numbers, names and foreign text as people read them, the same wherever they are shown."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import floor, inf, log10
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import yaml

from evals.metrics.registry import default_names
from evals.schemas.calibration import Figure
from evals.schemas.dataset import DatasetFingerprint
from evals.schemas.response import Outcomes
from evals.schemas.results import EvalRecord, EvalRun, MetricResult, Scorecard
from evals.schemas.verdicts import JudgeRecord
from evals.scoring.abstention import AbstentionTable, Rate, RiskCoverage
from evals.scoring.config import Headline, headline, objectives_beside, scoring_config
from evals.scoring.diagnosis.counts import Diagnosis, WrongSlice
from evals.scoring.diagnosis.stages import StageRecall
from evals.scoring.gates import Gate, parse_gate
from evals.scoring.weighted import FEW, has_earlier_intervals
from evals.text.numbers import agree, counted, share

if TYPE_CHECKING:
    from evals.schemas.response import RetrievedChunk
    from evals.schemas.results import MetricSummary


# Abstention as a two-by-two table, for the terminal and for Markdown.


_RATES = {
    "false_abstention": "false abstention (over-refusal)",
    "missed_abstention": "missed abstention",
    "recall": "abstention recall",
    "precision": "abstention precision",
    "accuracy": "unanswerable accuracy",
    "always_answering": "  beside: always answering",
    "always_abstaining": "  beside: always abstaining",
}


def abstention_cells(table: AbstentionTable) -> list[tuple[str, str, str]]:
    """The rows of the table: a title, what was answered, what was declined; first the titles of the columns."""
    return [
        ("", "answered", "abstained"),
        ("answerable", str(table.answerable_answered), str(table.answerable_abstained)),
        ("unanswerable", str(table.unanswerable_answered), str(table.unanswerable_abstained)),
    ]


def abstention_rates(table: AbstentionTable) -> list[tuple[str, str]]:
    """The rates with their names, with interval and what they are of."""
    return [(title, _said(getattr(table, name))) for name, title in _RATES.items()]


def _said(rate: Rate) -> str:
    if rate.value is None or rate.interval is None:
        return f"– (of {rate.of})"
    low, high = rate.interval
    return f"{rate.value:.3f} [{low:.3f} … {high:.3f}] ({rate.count} of {rate.of})"


_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
"""What steers a terminal, turns the direction of text or hides in it; tabs and line breaks do not."""


_BREAKS = re.compile(r"\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
"""Line breaks of other systems and of pages, which move the cursor of a terminal elsewhere."""

_DIGITS = re.compile(r"([0-9]+)")


_MOST_DIGITS = 1000
"""Python reads no number of several thousand; those that are the same so far are sorted as texts."""

_NUMBER = re.compile(r"-?[0-9]{1,15}(\.[0-9]+)?")


def printable(text: str) -> str:
    """Foreign text without control, direction and invisible characters; a replacement character stands for each."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def plain(text: str) -> str:
    """Foreign text for a terminal: printable, on as many lines as it has."""
    return printable(_BREAKS.sub("\n", text))


def shortened(text: str, limit: int) -> str:
    """The text cut to so many characters, the last of them an ellipsis."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def one_line(text: str, limit: int) -> str:
    """Foreign text made printable, on one line and cut to so many characters."""
    return shortened(" ".join(printable(" ".join(text.split())).split()), limit)


_SIGNS = {"percent": " %", "tokens/s": "/s"}
"""What follows a number with one decimal, by its unit."""

_MONEY_DIGITS = 4


_DIFFERENCE_DIGITS = 2
"""Significant digits that money below ten cents has at least. A question may cost a thousandth of a cent: with decimals
of a fixed number, two costs would look the same, their difference and the ends of its interval like nothing."""

_LEAST_DECIMALS = 5


_MOST_DECIMALS = 10
"""What is less than these can show is the noise of arithmetic."""


def number(value: float | None, unit: str) -> str:
    """A value with its unit; a dash for none."""
    if value is None:
        return "–"
    if unit == "ms":
        return f"{value / 1000:.2f} s" if value >= 10_000 else f"{value:.1f} ms"
    if unit == "USD":
        return _money(value, _MONEY_DIGITS)
    if unit in _SIGNS:
        return f"{value:.1f}{_SIGNS[unit]}"
    if unit == "answers":
        return f"{value:.0f}" if value == round(value) else f"{value:.1f}"
    return f"{value:.3f}"


def _money(value: float, digits: int) -> str:
    """US dollars, those below ten cents with so many significant digits."""
    size = abs(value)
    if size >= 0.1:
        return f"${value:.3f}"
    if size < 0.5 * 10**-_MOST_DECIMALS:
        return "$0"
    decimals = min(_MOST_DECIMALS, max(_LEAST_DECIMALS, digits - 1 - floor(log10(size))))
    return f"${value:.{decimals}f}"


def size_of_difference(value: float, unit: str) -> str:
    """How great a difference is, without its sign."""
    return _money(value, _DIFFERENCE_DIGITS) if unit == "USD" else number(value, unit)


def difference_end(value: float, unit: str) -> str:
    """One end of the interval of a difference, without its sign."""
    return size_of_difference(value, unit) if unit == "USD" else interval_end(value, unit)


def level(share: float) -> str:
    """A level that somebody set, such as a confidence, in percent with the decimals that it has: 95%, 99.5%."""
    return f"{100 * share:.10g}%"


def interval_end(value: float, unit: str) -> str:
    """One end of an interval: of counts with a decimal, as no interval ends at whole answers."""
    return f"{value:.1f}" if unit == "answers" else number(value, unit)


def bounded(value: float | None, unit: str, *, at_least: bool) -> str:
    """A value with its unit; with ≥ where it is a lower bound, and a dash for none."""
    return f"{'≥ ' if at_least and value is not None else ''}{number(value, unit)}"


def value(summary: "MetricSummary") -> str:
    """The value of a metric with its unit; with ≥ where it is a lower bound, and a dash for none."""
    return bounded(summary.value, summary.unit, at_least=summary.at_least)


def ends_of(ends: tuple[float, float] | None, unit: str) -> str:
    """An interval from end to end; a dash for none."""
    return "–" if ends is None else " … ".join(interval_end(end, unit) for end in ends)


def six_digits(value: float) -> float:
    """A number as charts have it, with more digits than are shown."""
    return float(f"{value:.6g}")


def interval(summary: "MetricSummary") -> str:
    """The interval of a metric, with ≥ where nobody knows how far above it ends; a dash for none."""
    ends = ends_of(summary.ci, summary.unit)
    is_open = summary.ci is not None and summary.interval is not None and summary.interval.open_above
    return ends.replace("… ", "… ≥ ") if is_open else ends


def sampling(summary: "MetricSummary") -> list[str]:
    """What to know of the questions that the interval stands on: how many clusters, and what to mind."""
    found = summary.interval
    if found is None:
        return []
    is_told = found.clusters != found.n and "few clusters" not in found.marks
    return [remark for remark in (counted(found.clusters, "cluster") if is_told else "", found.note) if remark]


def score_range(ends: tuple[float, float]) -> str:
    """Two ends of the weighted score, from low to high."""
    return ends_of((min(ends), max(ends)), "ratio")


def bounds(summary: "MetricSummary") -> str | None:
    """What a metric would be with the questions lost to failures, from low to high; None where none is lost."""
    ends = summary.bounds
    return None if ends is None else " … ".join(number(end, summary.unit) for end in sorted(ends))


def lost(summary: "MetricSummary") -> str | None:
    """How many questions failures took and the judge flags, with a count estimated for them; None for none."""
    flagged = summary.counts.injection
    told = {"lost": summary.counts.lost - flagged, "flagged as injection": flagged}
    counted = ", ".join(f"{count} {what}" for what, count in told.items() if count)
    about = f", about {summary.estimate:.1f} with them" if summary.estimate is not None else ""
    return f"{counted}{about}" if counted else None


def arrow(higher_is_better: bool | None) -> str:
    """Which way is better; nothing where neither is."""
    return {True: "↑", False: "↓", None: ""}[higher_is_better]


def place_of(chunk: "RetrievedChunk") -> str:
    """Where a chunk is from: `document § section`, as far as the server says."""
    name = chunk.document_name or chunk.document_id or chunk.chunk_id or "?"
    return f"{name} § {chunk.section}" if chunk.section else name


def natural_order(text: str) -> tuple[float, list[tuple[bool, int, str]]]:
    """A key that sorts numbers by their size, then other texts by the numbers in them: q2 before q10."""
    if _NUMBER.fullmatch(text):
        return float(text), []
    parts = enumerate(_DIGITS.split(text))
    return inf, [(place % 2 == 0, int(part[:_MOST_DIGITS]) if place % 2 else 0, part) for place, part in parts if part]


# What the judge took, in a line.


def judge_line(run: EvalRun) -> str | None:
    """The judge's share: what it cost, apart from the server's cost_per_query, and how it failed; None without one."""
    judge = run.judge
    if judge is None:
        return None
    usage = judge.usage
    read = f" ({usage.cache_read_tokens:,} from the vendor's cache)" if usage.cache_read_tokens else ""
    thought = f" ({usage.thinking_tokens:,} thought)" if usage.thinking_tokens else ""
    tokens = f"{usage.input_tokens:,}{read} + {usage.output_tokens:,}{thought} tokens"
    parts = [counted(judge.calls, "call"), f"{judge.cached} from the cache", f"{tokens}, {judge_cost(judge)}"]
    parts += [f"{counted(judge.prevented, 'decision')} beyond the budget"] if judge.prevented else []
    parts += [f"{count} {failure}" for failure, count in run.outcomes.judge.items()]
    parts += [f"repeats disagree on {judge.flip_rate:.1%}"] if judge.flip_rate is not None else []
    effort = f", effort {judge.effort}" if judge.effort else ""
    return f"judge {judge.model}{effort}: {', '.join(parts)}"


def judge_cost(judge: JudgeRecord) -> str:
    """What the judge has cost, as far as prices are known."""
    cost = "price unknown" if judge.cost_usd is None else f"${judge.cost_usd:.4f}"
    if judge.cost_usd is not None and judge.unpriced:
        cost = f"at least {cost}, as {counted(judge.unpriced, 'call', 'has')} no known cost"
    if judge.cost_per_query_usd:
        cost += f" ({number(judge.cost_per_query_usd, 'USD')} a question, beside the server's cost_per_query)"
    return cost


# What a run has cost: the server by the tokens that it says it used, and the judge.


COST_PER_QUERY = "cost_per_query"


def cost_lines(run: EvalRun) -> list[str]:
    """A line of the server and one of the judge: what each has cost, or why that is not known."""
    return [f"server: {_of_server(run)}", f"judge: {judge_cost(run.judge) if run.judge else 'none was used'}"]


def _of_server(run: EvalRun) -> str:
    summary = run.scorecard.find(COST_PER_QUERY)
    if summary is None or summary.value is None:
        return f"not known: {summary.reason}" if summary else f"{COST_PER_QUERY} was not measured"
    total = number(summary.value * summary.sample_size, summary.unit)
    ends = f" ({interval(summary)})" if summary.ci else ""
    return f"{value(summary)} a question{ends}, {total} for the {summary.sample_size} that it counted tokens of"


# What a metric says of a question beside its value, in a line.


def detail_line(score: MetricResult) -> str:
    """The details that can be read on a line, with their names: `label B, found ✓`; empty where there are none."""
    facts = score.details.get("facts")  # of a check, by the names that the dataset gave them
    pairs = [*score.details.items(), *(facts.items() if isinstance(facts, dict) else ())]
    told = ((key, _spelled(value)) for key, value in pairs)
    return ", ".join(f"{key} {spelled}" for key, spelled in told if spelled is not None)


def _spelled(detail: object) -> str | None:
    """A word, a number, yes or no, or a list of words; None for what cannot be read on a line."""
    if isinstance(detail, bool):
        return "✓" if detail else "✗"
    if isinstance(detail, list) and detail and all(isinstance(item, str) for item in detail):
        return f"[{'; '.join(detail)}]"
    if isinstance(detail, float):
        return f"{detail:.3g}"
    return str(detail) if isinstance(detail, str | int) else None


# What a pattern of metrics usually means: rules kept as data, applied to a scorecard.


_RULES = Path(__file__).resolve().parent.parent / "data" / "hints.yml"


@dataclass(frozen=True, slots=True)
class Hint:
    """One rule.

    Attributes:
        name: What it is called.
        when: Conditions that must all hold; a metric without a value holds none.
        where_measured: Conditions that must hold of those metrics that have a value.
        text: What the pattern usually means.
        void_where_cited: It means nothing where the answers come with citations.
    """

    name: str
    when: tuple[Gate, ...]
    where_measured: tuple[Gate, ...]
    text: str
    void_where_cited: bool = False

    def applies(self, scorecard: Scorecard) -> bool:
        """Whether the scorecard shows the pattern."""
        values = {metric.name: metric.value for metric in scorecard.metrics}
        required = ((condition, values.get(condition.metric)) for condition in self.when)
        optional = ((condition, values.get(condition.metric)) for condition in self.where_measured)
        return all(value is not None and condition.holds(value) for condition, value in required) and all(
            value is None or condition.holds(value) for condition, value in optional
        )

    def evidence(self, scorecard: Scorecard) -> str:
        """The metrics that show the pattern, with their values: `keyword_coverage 0.91, number_match 0.42`."""
        found = (scorecard.find(condition.metric) for condition in (*self.when, *self.where_measured))
        return ", ".join(f"{one.name} {one.value:.2f}" for one in found if one and one.value is not None)


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
    gates = {
        key: [tuple(parse_gate(text, known) for text in rule.get(key, ())) for rule in rules]
        for key in ("when", "where_measured")
    }
    return tuple(
        Hint(rule["name"], when, where_measured, rule["text"], rule.get("void_where_cited", False))
        for rule, when, where_measured in zip(rules, *gates.values(), strict=True)
    )


# What to know of the intervals of a run that an earlier version saved.


def interval_notes(run: EvalRun) -> list[str]:
    """A note where the intervals are by the rule of an earlier version; none where they are by today's."""
    if not has_earlier_intervals(run):
        return []
    return [f"the intervals are by the rule of an earlier version: `evals rescore {run.id}` makes them anew"]


# What a report says of its judge: how it fares against people's labels, and means without its bias.


_METHODS = {"prediction-powered": "prediction-powered", "rogan-gladen": "Rogan-Gladen"}


def ratio(figure: Figure) -> str:
    """A figure with two decimals; a dash for none."""
    return "–" if figure.value is None else f"{figure.value:.2f}"


def bracketed(figure: Figure) -> str:
    """A figure with its interval: 0.91 [0.86, 0.95]."""
    if figure.value is None or figure.ci is None:
        return ratio(figure)
    return f"{ratio(figure)} [{figure.ci[0]:.2f}, {figure.ci[1]:.2f}]"


def card_lines(run: EvalRun) -> Iterator[str]:
    """The judge's card of a run: a line for each metric that it was calibrated by, one for all others, and length."""
    if run.judge is None:
        return
    cards, lengths = run.judge.cards, run.judge.length_correlations
    for name, card in cards.items():
        if card is not None:
            figures = {"sensitivity": card.sensitivity, "specificity": card.specificity, "kappa": card.kappa}
            told = ", ".join(f"{title} {bracketed(figure)}" for title, figure in figures.items())
            yield f"{name}: calibrated on {card.labels} labels, {card.created_at:%Y-%m-%d}: {told}"
            yield from _corrected(run.scorecard.find(name))
    never = [name for name, card in cards.items() if card is None]
    if never:
        yield f"never calibrated: {', '.join(never)}"
    yield from _length(lengths)


def _length(correlations: Mapping[str, Figure]) -> Iterator[str]:
    """How far scores follow the length of answers."""
    told = ", ".join(f"{name} {bracketed(figure)}" for name, figure in correlations.items() if figure.value is not None)
    if told:
        yield f"correlation of score and length of the answer (Spearman): {told}"


def _corrected(summary: "MetricSummary | None") -> Iterator[str]:
    """The means without the judge's bias."""
    if summary is None:
        return
    for mean in summary.corrected:
        own, value, low, high = (number(one, summary.unit) for one in (summary.value, mean.value, *mean.ci))
        yield f"{summary.name}: {own} by the judge, {value} [{low}, {high}] corrected ({_METHODS[mean.method]})"


# The links that broke, as lines of text.


_REMARKS = {
    "unsupported_claims": "with claims that no chunk supports",
    "needs_verification": "of which fuzzy match and judge disagree",
}


def link_lines(diagnosis: Diagnosis) -> Iterator[str]:
    """A line a link, in the order of the chain, then what is counted apart."""
    apart = diagnosis.right_without_gold
    for mark, one in [*(("", one) for one in diagnosis.links), *([("apart: ", apart)] if apart else [])]:
        low, high = one.interval
        yield f"{mark}{one.count} × {one.link.label} ({one.share:.0%}, {low:.0%} to {high:.0%}): {one.link}"
    for kind, ids in diagnosis.remarks.items():
        yield f"beside: {len(ids)} answers {_REMARKS[kind]}"


def wrong_line(one: WrongSlice) -> str:
    """How many questions of a slice ended wrong, and where first."""
    low, high = one.interval
    links = ", ".join(f"{link} {count}" for link, count in one.links.items())
    mark = ", worse than the run" if one.is_worse else ""
    said = f"{one.value}: {one.wrong} of {one.asked} ({one.share:.0%}, {low:.0%} to {high:.0%}{mark})"
    return f"{said}: {links}" if links else said


# How the questions of a run ended, in words.


def outcome_parts(outcomes: Outcomes) -> list[str]:
    """What there is to say, each in a few words: "42 answered (3 abstained)", "1 timeout", "median 5 chunks"."""
    declined = {
        "abstained": outcomes.abstained,
        "disputed": outcomes.abstention_disputed,
        "open": outcomes.abstention_open,
    }
    said = ", ".join(f"{count} {kind}" for kind, count in declined.items() if count or kind == "abstained")
    counts = {**outcomes.transport, "not asked": outcomes.not_asked, "retried": outcomes.retried}
    parts = [f"{outcomes.answered} answered ({said})"]
    parts += [f"{count} {kind}" for kind, count in counts.items() if count or kind in outcomes.transport]
    if outcomes.median_chunks is not None:
        parts.append(f"median {outcomes.median_chunks:g} {agree(outcomes.median_chunks, 'chunk', 'chunks')}")
    if outcomes.citations is not None:
        parts.append(f"{counted(outcomes.citations, 'citation')} ({outcomes.invalid_citations} invalid)")
    return parts


# What was asked, and how it was read, as outputs say it.


def questions_of(fingerprints: Iterable[DatasetFingerprint], count: int) -> str:
    """How many questions were asked, and of how many where rows of a file were left out: "100 of 150 questions"."""
    there = sum(each.questions if each.available is None else each.available for each in fingerprints)
    return share(count, there, "question") if there > count else counted(count, "question")


def reading_notes(fingerprints: Iterable[DatasetFingerprint]) -> list[str]:
    """What a reader must know of how files of the user's own were read, what was left out of them included."""
    notes = []
    for each in fingerprints:
        notes += each.notes
        if each.available is not None and each.dropped:
            notes.append(f"{each.source}: left out: {left_out(each.dropped)}")
    return notes


def left_out(dropped: Mapping[str, int]) -> str:
    """What was left out of a dataset, by reason."""
    return ", ".join(f"{count} × {reason}" for reason, count in dropped.items())


# The curve of risk by coverage, in a line.


_COVERAGES = (0.25, 0.5, 0.75, 1.0)


def area_line(curve: RiskCoverage) -> str:
    """The area under the curve, between what chance and what a perfect confidence reach."""
    return (
        f"AURC {curve.area:.3f} (chance {curve.area_of_chance:.3f}, best possible {curve.least_area:.3f}) over "
        f"{curve.answers} answers with a confidence"
    )


def risk_line(curve: RiskCoverage) -> str:
    """The area under the curve, and the risk at the first points that reach a quarter, a half and so on."""
    reached = (next(point for point in curve.points if point.coverage >= least) for least in _COVERAGES)
    some = ", ".join(f"{point.risk:.3f} at {point.coverage:.0%}" for point in dict.fromkeys(reached))
    return f"{area_line(curve)}; risk {some}"


# A list of runs: what is said of each, and which of their scores compare.


TITLES = ("id", "created", "status", "questions", "score", "server", "profile", "datasets", "name")


def run_cells(run: EvalRun, mark: str) -> list[str]:
    """What is said of a run, in the order of the titles.

    Args:
        run: The run.
        mark: What stands behind its score; see `mark_of`.
    """
    return [
        run.id,
        f"{run.created_at:%Y-%m-%d %H:%M}",
        run.status if run.completed_at else "unfinished",
        f"{run.question_count}{f' ({run.error_count} failed)' if run.error_count else ''}",
        f"{headline(run)}{mark}",
        one_line("embedded" if run.eval_config.get("embedded") else run.server.url, 60),
        one_line(run.server.profile, 40),
        one_line(",".join(run.datasets), 40),
        one_line("" if run.id in run.name else run.name, 60),
    ]


def mark_of(run: EvalRun, groups: Sequence[Sequence[EvalRun]]) -> str:
    """What stands behind a run's score where not all scores measure the same: ` [a]`; else nothing."""
    if len(groups) < 2:
        return ""
    return next((f" [{_letter(place)}]" for place, group in enumerate(groups) if run in group), "")


def objective_lines(groups: Sequence[Sequence[EvalRun]]) -> list[str]:
    """That scores do not compare, and in what they differ; nothing where all measure the same."""
    if len(groups) < 2:
        return []
    first, *others = (group[0] for group in groups)
    weighted = first.weighted_score
    told = [", ".join(f"{name} ({', '.join(weighted.fed_by.get(name, ()))})" for name in weighted.weights)]
    told += [f"as [{_letter(0)}], but {'; '.join(objectives_beside(first, other))}" for other in others]
    lines = [f"  [{_letter(place)}] {line}" for place, line in enumerate(told)]
    return ["scores with another letter measure different objectives and do not compare:", *lines]


def _letter(place: int) -> str:
    """The letter of a group: a to z, then a2 and so on."""
    times, rest = divmod(place, len(ascii_lowercase))
    return f"{ascii_lowercase[rest]}{times + 1 if times else ''}"


# The recall at each stage of a retrieval, as lines, or as one.


def stage_lines(stages: Sequence[StageRecall]) -> Iterator[tuple[str, str]]:
    """A title without a value, then a name and what is said of it for each stage; nothing where there is none."""
    if stages:
        yield "recall by stage of the retrieval", ""
    for stage in stages:
        least = f"at least, {stage.unsure} unsure: " if stage.unsure else ""
        yield stage.name, f"{least}{stage.recall:.3f} (n={stage.questions})"


def stages_in_a_line(stages: Sequence[StageRecall]) -> str | None:
    """Each stage with its recall, in their order; None where the server lists none."""
    told = (f"{stage.name} {'at least ' if stage.unsure else ''}{stage.recall:.3f}" for stage in stages)
    return f"recall by stage of the retrieval: {', '.join(told)}" if stages else None


# What there is of a run that was never finished.


def in_its_log(records: Sequence[EvalRecord]) -> str:
    """How many answers are there: `2 of 4 answers are in its log, none is scored yet`."""
    answered = sum(record.response is not None for record in records)
    return f"{share(answered, len(records), 'answer', 'is')} in its log, none is scored yet"


# What the weighted score is made of, in lines of text.


_TENTH = 10
"""Of a run: an objective that fewer questions feed may hang on a kind of question that is rare."""


def weighted_remarks(run: EvalRun, head: Headline) -> Iterator[str]:
    """What the score is made of, what feeds an objective in part or by few questions, and what is left out."""
    weighted = run.weighted_score
    if weighted.objectives:
        parts = (f"{name} {value:.3f} × {weighted.weights[name]:g}" for name, value in weighted.objectives.items())
        yield ", ".join(parts)
    yield from fed_by_few(run)
    feeds = scoring_config(run).feeds
    for name, fed in weighted.fed_by.items():
        few = weighted.left_out_metrics.get(name, {})
        if len(fed) < len(feeds.get(name, fed)):
            why = "".join(f"; without {metric}: {reason}" for metric, reason in few.items())
            yield f"{name} is fed by {', '.join(fed)} alone{why}"
    if weighted.left_out and head.score is not None:
        yield f"left out, weights renormalised: {', '.join(weighted.left_out)}"


def fed_by_few(run: EvalRun) -> Iterator[str]:
    """The note on objectives that fewer than 10 questions feed, or less than a tenth of the run."""
    few = []
    for name, fed in run.weighted_score.fed_by.items():
        most = max((one.sample_size for one in map(run.scorecard.find, fed) if one is not None), default=0)
        if most < max(FEW, run.question_count / _TENTH):
            few.append(f"{name} ({most} of {run.question_count})")
    if few:
        yield f"based on few questions, and uncertain: {', '.join(few)}"
