"""What lost verdicts do to judged metrics: python benchmarks/judge_losses.py [--seeds 200] [--again 200] [--write].

Draws runs of answers whose verdicts are known, loses decisions of the judge at random, and compares each metric with
what it is with all verdicts. No API is called: a scripted judge answers the requests that the metrics make, by the
interface that they ask by (evals.metrics.judged.new_requests), so that 200 runs take minutes. Every decision is lost by
itself. Of each run verdicts are lost --draws times: interval and bounds are made of the first draw, an error of each.

The table has each metric on a scale from 0 to 1 (a sum divided by the number of questions): its value over all runs;
the mean of value minus clean value with its standard error; the share of intervals that hold the value of the
population that the runs are drawn from. Where no verdict was there, there is no value. Of so many means some lie beyond
two standard errors by chance: --again draws further runs, and says which of them do so again, to the same side. --write
puts it into docs/simulations.md.
"""

import argparse
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from evals.metrics.base import Aggregation, BaseMetric, Need
from evals.metrics.judged import judged_abstention, new_requests
from evals.metrics.registry import metric_classes
from evals.metrics.sample import JudgedAbstention, Sample
from evals.schemas import (
    Citation,
    EvalQuestion,
    EvalResponse,
    JudgeVerdict,
    MetricResult,
    MetricSummary,
    RetrievedChunk,
)
from evals.schemas.verdicts import BLOCK, VerdictRequest
from evals.scoring.scorecard import sample_of, summarise, value_of
from evals.scoring.settings import ScoreSettings

PAGE = Path(__file__).resolve().parent.parent / "docs" / "simulations.md"
BEGIN, END = "<!-- table of benchmarks/judge_losses.py -->", "<!-- end of the table -->"
QUESTIONS = 120
RATES = (0.2, 0.4)
SHORT = ("I don't know.", "No information found.", "")
LONG = (
    "I am sorry, but the documents that I was given do not contain this information at all.",
    "Unfortunately I cannot find an answer to this question in the documents that are available to me.",
)
CITED = ("", "", " [1]", " [2]", " [1][2]")
SETTINGS = ScoreSettings()
NOISE = 0.03
"""How often the judge says that it cannot tell."""
DENIED = 0.3
"""How often passages contradict a claim that they do not support."""


@dataclass
class Answer:
    """One answer of a world, with what decides the judge's words on it.

    Attributes:
        quality: From 0 to 1: how likely a claim of it is supported, and a label of it good.
        claims: How many it makes; the more, the less likely each is supported.
        declines: Whether a judge says that it declines.
    """

    quality: float
    claims: int
    declines: bool
    case: Sample
    clean: list[JudgeVerdict] = field(default_factory=list)


def draw_answer(number: int, rng: random.Random, declining: JudgedAbstention) -> Answer:
    """Four in ten read like refusals, half of them short; one question in six is unanswerable."""
    unanswerable, quality = rng.random() < 1 / 6, rng.betavariate(3, 1.2)
    refuses = rng.random() < (0.7 if unanswerable else 0.34)
    claims = rng.choice([0, 1, 1, 2, 3, 4, 6, 9])
    declines = refuses and rng.random() < 0.85
    facts = [f"Item {number}.{n} weighs {rng.randint(2, 900)} grams." for n in range(max(1, claims))]
    text = rng.choice(SHORT if rng.random() < 0.5 else LONG) if refuses else _worded(facts, claims, rng)
    question = EvalQuestion(
        id=f"q{number}",
        question=f"How much does item {number} weigh in all?",
        expected_answer=None if unanswerable else f"It weighs {rng.randint(2, 900)} grams.",
        is_unanswerable=unanswerable,
    )
    chunks = [RetrievedChunk(text=f"Passage {n}: {fact}") for n, fact in enumerate(facts[:5], start=1)]
    cited = [Citation(index=1), Citation(index=2)]
    response = EvalResponse(answer=text, chunks=chunks if rng.random() < 0.95 else [], citations=cited)
    if not refuses and not unanswerable and rng.random() < 0.4 * quality:
        response = response.model_copy(update={"answer": f"{question.expected_answer} {text}"})
    case = Sample(question, response, (), judged=True, declining=declining)
    return Answer(quality * 0.97**claims, claims, declines, case)


def _worded(facts: Sequence[str], claims: int, rng: random.Random) -> str:
    if not claims:
        return "Well, that is a good question to ask about an item."
    return " ".join(fact[:-1] + rng.choice(CITED) + "." for fact in facts)


Reply = Mapping[str, Any]
QUOTED = ("supported", "contradicted")


@dataclass
class Scripted:
    """What the judge says of one answer: drawn once, whatever is asked of it."""

    answer: Answer
    rng: random.Random

    def label(self, good: str, middling: str, bad: str) -> Reply:
        """One label, by the quality of the answer."""
        if self.rng.random() < NOISE:
            return {"verdict": "cannot_tell", "justification": "-"}
        at = self.rng.random()
        verdict = good if at < self.answer.quality else middling if at < 0.5 + self.answer.quality / 2 else bad
        return {"verdict": verdict, "justification": "-"}

    def pick(self, good: str, bad: str) -> str:
        """One of two, or that it cannot tell."""
        if self.rng.random() < NOISE:
            return "cannot_tell"
        return good if self.rng.random() < self.answer.quality else bad

    def grounded(self) -> str:
        """What passages say of a claim."""
        verdict = self.pick("supported", "not_said")
        return "contradicted" if verdict == "not_said" and self.rng.random() < DENIED else verdict

    def support(self, claims: Sequence[Any], contexts: Sequence[Any]) -> Reply:
        """Which claims which passages support."""
        found = []
        for number, _ in enumerate(claims, start=1):
            verdict = self.grounded()
            ids = [one["id"] for one in contexts if self.rng.random() < 0.4] or [contexts[0]["id"]]
            passages = [{"id": each, "quote": "-"} for each in ids] if verdict in QUOTED else []
            found.append({"id": number, "passages": passages, "verdict": verdict})
        return {"claims": found}

    def criteria(self, names: Sequence[str], good: str, bad: str) -> Reply:
        """Several criteria."""
        return {"criteria": [{"id": name, "verdict": self.pick(good, bad)} for name in names]}

    def items(self, data: Mapping[str, Any], key: str, good: str, bad: str) -> list[dict[str, Any]]:
        """A verdict on each item."""
        return [{"id": one["id"], "verdict": self.pick(good, bad)} for one in data[key]]

    def reply(self, request: VerdictRequest) -> Reply:
        """What it says of a request."""
        return REPLIES[request.name.partition(BLOCK)[0]](self, request.data)


def _claims(said: Scripted, _data: Mapping[str, Any]) -> Reply:
    verdicts = [said.grounded() for _ in range(said.answer.claims)]
    return {"claims": [{"claim": "c", "verdict": verdict} for verdict in verdicts]}


def _reference_claims(said: Scripted, _data: Mapping[str, Any]) -> Reply:
    count = said.rng.choice([0, 1, 1, 2, 3])
    vital = [said.rng.choice(["vital", "vital", "okay"]) for _ in range(count)]
    return {"claims": [{"claim": "r", "importance": importance} for importance in vital]}


def _compared(said: Scripted, data: Mapping[str, Any]) -> Reply:
    return {
        "answer_claims": said.items(data, "answer_claims", "correct", "not_stated"),
        "reference_claims": said.items(data, "reference_claims", "conveyed", "missing"),
    }


def _cited(said: Scripted, data: Mapping[str, Any]) -> Reply:
    found = said.items(data, "statements", "supported", "unsupported")
    for item, statement in zip(found, data["statements"], strict=True):
        flags = [(said.rng.random() < 0.6, said.rng.random() < 0.4) for _ in statement["citations"]]
        item["citations"] = [
            {"id": number, "alone": alone, "without": without}
            for number, (alone, without) in zip(statement["citations"], flags, strict=True)
        ]
    return {"statements": found}


def _correct(said: Scripted, data: Mapping[str, Any]) -> Reply:
    return _declines(said, data) if said.answer.declines else said.label("correct", "partly_correct", "incorrect")


def _declines(said: Scripted, _data: Mapping[str, Any]) -> Reply:
    return {"verdict": "declines" if said.answer.declines else "answers", "justification": "-"}


FIVE = ("topic", "central_fact", "no_contradiction", "figures", "direction")
THREE = ("correctness", "completeness", "consistency")
REPLIES: dict[str, Callable[[Scripted, Mapping[str, Any]], Reply]] = {
    "abstention": _declines,
    "faithfulness": _claims,
    "answer_correctness": _correct,
    "answer_relevancy": lambda said, _: said.label("relevant", "partly_relevant", "irrelevant"),
    "direct_relevance": lambda said, _: said.label("complete", "partly", "not_at_all"),
    "factual_accuracy": lambda said, _: said.criteria(THREE, "excellent", "fair"),
    "gptscore": lambda said, _: said.criteria(FIVE, "met", "not_met"),
    "answer_claims": lambda said, _: {"claims": [{"claim": "a"}] * said.answer.claims},
    "reference_claims": _reference_claims,
    "answer_in_contexts": lambda said, data: said.support(data["claims"], data["contexts"]),
    "reference_in_contexts": lambda said, data: said.support(data["claims"], data["contexts"]),
    "claims_compared": _compared,
    "context_relevance": lambda said, data: {"contexts": said.items(data, "contexts", "relevant", "irrelevant")},
    "citation_support": _cited,
}
"""What the judge says, by the name of the request."""


def judged_metrics() -> list[BaseMetric]:
    """All metrics whose values may hang on a verdict."""
    classes = metric_classes()
    found = [cls for cls in classes if Need.JUDGE in cls.needs or cls.heeds_abstention]
    return [metric for cls in found for metric in cls.defaults()]


def judge(metrics: Sequence[BaseMetric], answer: Answer, rng: random.Random) -> None:
    """Have all be decided that the metrics ask for, request by request."""
    said, asked = Scripted(answer, rng), set[tuple[str, int | None]]()
    while todo := new_requests(metrics, answer.case, asked):
        for request in todo:
            asked.add(request.place)
            answer.clean.append(
                JudgeVerdict(request=request.name, repeat=request.repeat or 0, reply=dict(said.reply(request)))
            )
        answer.case.verdicts = list(answer.clean)


@dataclass
class Seen:
    """What was seen of a metric in the runs of one rate of losses, on a scale from 0 to 1."""

    errors: list[float] = field(default_factory=list)
    """One a run: the mean of its draws."""
    ends: list[tuple[float, float]] = field(default_factory=list)
    outside: int = 0
    draws: int = 0
    silent: int = 0
    """Draws without a value."""
    unfounded: int = 0
    """Values although no verdict was there: must be none."""


ByLoss = tuple[list[str], list[MetricResult]]
"""The verdicts that a result hangs on, and what it is where the first, the second … or none of them is lost."""
Cell = tuple[str, float, bool]
"""A metric, the rate of losses, and whether values with losses are greater."""


@dataclass
class Study:
    """All that was seen: of each metric the clean values, and by rate what losses made of them."""

    metrics: list[BaseMetric]
    draws: int
    declining: JudgedAbstention = field(init=False)
    clean: dict[str, list[tuple[float, int]]] = field(default_factory=dict)
    seen: dict[tuple[str, float], Seen] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.declining = judged_abstention(self.metrics)

    def run(self, seed: int) -> None:
        """Draw one run, and lose verdicts of it at each rate, again and again."""
        rng = random.Random(seed)  # noqa: S311 - a simulation
        answers = [draw_answer(number, rng, self.declining) for number in range(QUESTIONS)]
        for answer in answers:
            judge(self.metrics, answer, rng)
        whole = {metric.name: [metric.score(answer.case) for answer in answers] for metric in self.metrics}
        clean = {metric.name: summarise(metric, whole[metric.name], SETTINGS) for metric in self.metrics}
        for metric in self.metrics:
            summary = clean[metric.name]
            if summary.value is not None:
                self.clean.setdefault(metric.name, []).append((_unit(metric, summary.value), summary.sample_size))
        by_loss = {metric.name: [by_losses(metric, one) for one in whole[metric.name]] for metric in self.metrics}
        for rate in RATES:
            lost = [
                [{v.request for v in answer.clean if rng.random() < rate} for answer in answers]
                for _ in range(self.draws)
            ]
            self.check(answers, lost[0], by_loss)
            for metric in self.metrics:
                if clean[metric.name].value is not None:
                    self.note(rate, metric, clean[metric.name], by_loss[metric.name], lost)

    def check(
        self, answers: Sequence[Answer], lost: Sequence[set[str]], by_loss: Mapping[str, Sequence[ByLoss]]
    ) -> None:
        """That a lost verdict does to one answer's results what is taken for it here, by measuring it again."""
        place = next(place for place, gone in enumerate(lost) if gone)
        case = answers[place].case
        case.verdicts = [_lost(v) if v.request in lost[place] else v for v in answers[place].clean]
        for metric in self.metrics:
            again, taken = metric.score(case), _with_losses(by_loss[metric.name][place], lost[place])
            found = [(one.value, one.missing, one.judged_by) for one in (again, taken)]
            assert found[0] == found[1], metric.name

    def note(
        self,
        rate: float,
        metric: BaseMetric,
        clean: MetricSummary,
        by_loss: Sequence[ByLoss],
        lost: Sequence[Sequence[set[str]]],
    ) -> None:
        """Hold the values with losses, one a draw, against the one without."""
        seen = self.seen.setdefault((metric.name, rate), Seen())
        errors = []
        drawn = [[_with_losses(*both) for both in zip(by_loss, draw, strict=True)] for draw in lost]
        for results in drawn:
            value = value_of(metric, sample_of(metric, results, None, worst_on_error=False))
            needed = [one for one in results if one.judged_by]
            seen.unfounded += value is not None and bool(needed) and all(one.missing == "judge" for one in needed)
            if value is not None:
                errors.append(_unit(metric, value) - _unit(metric, clean.value or 0.0))
        seen.draws, seen.silent = seen.draws + len(lost), seen.silent + len(lost) - len(errors)
        if errors:
            seen.errors.append(fmean(errors))
        self.note_interval(seen, metric, clean, summarise(metric, drawn[0], SETTINGS))

    def note_interval(self, seen: Seen, metric: BaseMetric, clean: MetricSummary, found: MetricSummary) -> None:
        """Whether the clean value lies in the bounds, and what the interval is."""
        if found.bounds is not None:
            seen.outside += not min(found.bounds) <= (clean.value or 0.0) <= max(found.bounds)
        if found.ci is not None:
            seen.ends.append((_unit(metric, found.ci[0]), _unit(metric, found.ci[1])))

    def cells(self) -> list[tuple[tuple[str, float], Seen]]:
        """What was seen, by metric and rate; of metrics that have values in this world."""
        return [(place, seen) for place, seen in self.seen.items() if place[0] in self.clean]

    def truth(self, name: str) -> float:
        """The value over all runs drawn."""
        values = self.clean[name]
        return sum(value * n for value, n in values) / sum(n for _, n in values)


def _unit(metric: BaseMetric, value: float) -> float:
    if metric.aggregation is Aggregation.SUM:
        return value / QUESTIONS
    return value / ((metric.high or 1.0) - (metric.low or 0.0))


def by_losses(metric: BaseMetric, result: MetricResult) -> ByLoss:
    """A result by the first of its verdicts that is lost, and without a loss, which stands last."""
    places = range(1, len(result.judged_by) + 1)
    none = metric.undefined("lost", missing="judge")
    return result.judged_by, [*(metric.judged(none, result.judged_by[:place]) for place in places), result]


def _with_losses(by_loss: ByLoss, lost: set[str]) -> MetricResult:
    names, results = by_loss
    return results[next((place for place, name in enumerate(names) if name in lost), -1)]


def _lost(verdict: JudgeVerdict) -> JudgeVerdict:
    return verdict.model_copy(update={"reply": None, "failure": "unparsable", "message": "scripted"})


def table(study: Study) -> str:
    """The table as Markdown."""
    heads = [f"{rate:.0%} lost: error ± SE | interval holds, %" for rate in RATES]
    lines = [f"| metric | value | {' | '.join(heads)} |", f"|---|---:|{'---:|---:|' * len(RATES)}"]
    for metric in study.metrics:
        if metric.name not in study.clean:  # its gold is not in the world
            continue
        cells = [_cell(study, metric.name, rate) for rate in RATES]
        lines.append(f"| `{metric.name}` | {study.truth(metric.name):.3f} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(study: Study, name: str, rate: float) -> str:
    seen, truth = study.seen[name, rate], study.truth(name)
    held = fmean(low <= truth <= high for low, high in seen.ends)
    return f"{fmean(seen.errors):+.4f} ± {_error(seen):.4f} | {100 * held:.1f}"


def _error(seen: Seen) -> float:
    return stdev(seen.errors) / sqrt(len(seen.errors))


def beyond(study: Study) -> list[Cell]:
    """The means of errors that lie beyond two standard errors, with their side."""
    found = []
    for place, seen in study.cells():
        mean = fmean(seen.errors)
        if abs(mean) > 2 * _error(seen):
            found.append((*place, mean > 0))
    return found


def verdict(study: Study, again: Study | None, runs: int) -> str:
    """What the table must show, in a few figures."""
    every = [seen for _, seen in study.cells()]
    great = max(abs(fmean(seen.errors)) for seen in every)
    held = [fmean(low <= study.truth(name) <= high for low, high in seen.ends) for (name, _), seen in study.cells()]
    silent, draws = (sum(figures) for figures in zip(*((seen.silent, seen.draws) for seen in every), strict=True))
    return (
        f"Of {len(every)} means of errors the greatest is {great:.4f}, and {len(beyond(study))} lie beyond two "
        f"standard errors (chance alone puts {0.0455 * len(every):.0f} there){_lasting(study, again, runs)}; "
        f"the least coverage is {100 * min(held):.1f} %, the mean {100 * fmean(held):.1f} %. "
        f"Clean values outside the bounds: {sum(seen.outside for seen in every)}. "
        f"Values without a verdict of those that need one: {sum(seen.unfounded for seen in every)}; "
        f"draws without a value: {silent:,} of {draws:,}."
    )


def _lasting(study: Study, again: Study | None, runs: int) -> str:
    """How many means lie beyond two standard errors in further runs too, to the same side."""
    if again is None:
        return ""
    lasting = [f"{name} at {rate:.0%}" for name, rate, _ in set(beyond(study)) & set(beyond(again))]
    return f", of these again in {runs} further runs: {', '.join(sorted(lasting)) or 'none'}"


def report(study: Study, runs: int, again: Study | None = None, further: int = 0) -> str:
    """The table with what it shows."""
    drawn = f"{runs} runs of {QUESTIONS} questions, of each {study.draws} draws of losses at either rate."
    return f"{drawn} {verdict(study, again, further)}\n\n{table(study)}"


def drawn(first: int, seeds: int, draws: int) -> Study:
    """What is seen in so many runs."""
    study = Study(judged_metrics(), draws)
    for seed in range(first, first + seeds):
        study.run(seed)
    return study


def main() -> None:
    """Print the table, or write it into the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=200, help="runs that are drawn")
    parser.add_argument("--draws", type=int, default=20, help="how often verdicts of each run are lost, at each rate")
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--again", type=int, default=0, help="further runs, for means beyond two standard errors")
    parser.add_argument("--write", action="store_true", help="put the table into docs/simulations.md")
    options = parser.parse_args()
    if min(options.seeds, options.again or 2) < 2:
        parser.error("two runs at least: an error of one has no spread")
    study = drawn(options.first, options.seeds, options.draws)
    again = drawn(options.first + options.seeds, options.again, options.draws) if options.again else None
    text = report(study, options.seeds, again, options.again)
    if not options.write:
        print(text)
        return
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
