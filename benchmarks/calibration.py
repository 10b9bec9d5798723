"""How often the intervals of a calibration hold the truth: scripted judges of known error rates, 500 simulations each.

    python benchmarks/calibration.py            # the table of docs/calibrate.md, about a minute
    python benchmarks/calibration.py --runs 50  # fewer

Each simulation draws answers about documents (answers about one document tend to be right or wrong together), labels
some of them, has a scripted judge score all, and computes the figures as `evals calibrate` and a report do.
"""

import argparse
import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

from evals.scoring.run_columns import cluster_of

from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, EvalRun, GoldPassage, MetricResult, ServerRecord
from evals.schemas.calibration import Agreement, Calibration, Figure, LabelledAnswer
from evals.scoring.calibration import Labelled, agreement_of, answer_hash, corrected_means

METRIC = "answer_correctness"
TOGETHER = 0.3
"""The share of documents whose answers are all right or all wrong."""
ANSWER = EvalResponse(answer="-")
FIGURES = ("sensitivity", "specificity", "auroc", "prediction-powered")


@dataclass(frozen=True)
class ScriptedJudge:
    """A judge whose errors are known.

    Attributes:
        good: The chances of the scores 0, 0.5 and 1 for an answer that is right.
        bad: The same for one that is wrong.
    """

    good: tuple[float, float, float]
    bad: tuple[float, float, float]

    @property
    def truth(self) -> dict[str, float]:
        """What a calibration should find."""
        above = sum(g * sum(b for b in self.bad[:n]) for n, g in enumerate(self.good))
        tied = sum(g * b for g, b in zip(self.good, self.bad, strict=True))
        return {"sensitivity": self.good[2], "specificity": 1 - self.bad[2], "auroc": above + tied / 2}

    def score(self, chance: random.Random, *, right: bool) -> float:
        return chance.choices((0.0, 0.5, 1.0), self.good if right else self.bad)[0]


@dataclass(frozen=True)
class World:
    """What is simulated.

    Attributes:
        judge: Scores the answers.
        share: Of answers that are right.
        labels: How many answers people label.
        others: How many they do not.
        size: Answers about one document.
    """

    judge: ScriptedJudge
    share: float
    labels: int
    others: int
    size: int = 1


GOOD = ScriptedJudge((0.09, 0.0, 0.91), (0.85, 0.0, 0.15))
MILD = ScriptedJudge((0.03, 0.0, 0.97), (0.70, 0.0, 0.30))
GRADED = ScriptedJudge((0.05, 0.15, 0.80), (0.60, 0.30, 0.10))
WORLDS = {
    "good judge, 200 labels": World(GOOD, 0.7, 200, 1000),
    "good judge, 100 labels": World(GOOD, 0.7, 100, 1000),
    "good judge, 5 answers a document": World(GOOD, 0.7, 200, 1000, 5),
    "lenient judge, few bad answers": World(MILD, 0.85, 200, 1000),
    "lenient judge, 5 answers a document": World(MILD, 0.85, 200, 1000, 5),
    "three scores": World(GRADED, 0.6, 200, 1000),
    "three scores, 5 answers a document": World(GRADED, 0.6, 200, 1000, 5),
}
# Copies take a tenth of the time that records do of which pydantic works out the defaults.
ASKED = EvalQuestion(id="q", question="q", dataset="d")
SCORED = MetricResult.model_construct(name=METRIC, value=1.0)
RECORD = EvalRecord(question=ASKED, response=ANSWER)


def draw(world: World, count: int, name: str, chance: random.Random) -> Iterator[tuple[EvalRecord, bool]]:
    """Answers with the judge's scores, and whether they are right."""
    for first, last in pairwise([*range(0, count, world.size), count]):
        shared, together = chance.random() < world.share, world.size > 1 and chance.random() < TOGETHER
        gold = [GoldPassage.model_construct(text="-", document_id=f"{name}-{first}")]
        for number in range(first, last):
            right = shared if together else chance.random() < world.share
            score = world.judge.score(chance, right=right)
            asked = {"id": f"{name}{number}", "question": f"{name} {number}", "gold_passages": gold}
            result = SCORED.model_copy(update={"value": score})
            yield RECORD.model_copy(update={"question": ASKED.model_copy(update=asked), "scores": [result]}), right


def labelled_answer(record: EvalRecord, *, right: bool) -> LabelledAnswer:
    return LabelledAnswer(
        id=record.question.id,
        answer=answer_hash(record.question, record.response or EvalResponse()),
        cluster=cluster_of(record.question, "document"),
        label=float(right),
        score=record.scores[0].value,
    )


RUN = EvalRun(
    id="run",
    name="run",
    created_at="2026-11-20T00:00:00Z",
    datasets=["d"],
    question_count=1,
    server=ServerRecord(url="http://s", profile="p"),
    seed=1,
    concurrency=1,
)


def simulate(world: World, seed: int) -> dict[str, tuple[float, float] | None]:
    """The intervals that one simulation gives."""
    chance = random.Random(seed)  # noqa: S311
    drawn = draw(world, world.labels, "l", chance)
    answers = [labelled_answer(record, right=right) for record, right in drawn]
    labels, scores = [one.label for one in answers], [one.score or 0.0 for one in answers]
    agreement = agreement_of(Labelled(labels, scores, [one.cluster for one in answers]))
    calibration = Calibration(
        metric=METRIC,
        model="scripted",
        prompt_hashes={},
        origin="",
        created_at="2026-11-20T00:00:00Z",
        labels_from=[],
        run="run",
        scale="0 and 1",
        label_cut=1.0,
        score_cut=1.0,
        judge=agreement,
        always_the_same=Agreement(),
        length=Agreement(),
        label_mean=Figure(),
        score_mean=Figure(),
        answers=answers,
    )
    others = [record for record, _ in draw(world, world.others, "o", chance)]
    found = {name: getattr(calibration.judge, name).ci for name in ("sensitivity", "specificity", "auroc")}
    return found | {mean.method: mean.ci for mean in corrected_means(calibration, RUN, others)}


def coverage(world: World, runs: int) -> dict[str, tuple[float, float] | None]:
    """Of each figure how often its interval holds the truth, and its mean width; None where it has none."""
    truth = {**world.judge.truth, "prediction-powered": world.share}
    every = [simulate(world, seed) for seed in range(runs)]
    found: dict[str, tuple[float, float] | None] = {}
    for name in FIGURES:
        ends = [one[name] for one in every if one.get(name) is not None]
        held = [low <= truth[name] <= high for low, high in ends]
        found[name] = (fmean(held), fmean(high - low for low, high in ends)) if ends else None
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500)
    runs = parser.parse_args().runs
    print(f"| {runs} simulations | {' | '.join(FIGURES)} |")
    print(f"|---|{'---:|' * len(FIGURES)}")
    for name, world in WORLDS.items():
        found = coverage(world, runs)
        cells = (f"{each[0]:.1%}, ±{each[1] / 2:.3f}" if (each := found[figure]) else "–" for figure in FIGURES)
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
