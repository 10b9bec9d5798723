"""Fit the weights of the evidence that an answer declines: python benchmarks/abstention_weights.py [--without h,i].

A logistic regression on the labelled answers of the tests, on the expected answers of datasets with a caveat behind
them, and on the responses of RAGBench where EVALS_REAL_DATA names a folder that has them. First the pieces of evidence
are chosen by a lasso, then their weights are fitted anew with a ridge. Prints evals/case/abstention/weights.py, or
with --without, for the answers whose ids begin with a letter, how well they are told by weights fitted without them.
"""

import argparse
import json
import math
import random
import sys
import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evals.case.abstention.detector import read_answer
from evals.case.abstention.evidence import SETTLES, Answer, circumstances, signs
from evals.case.abstention.expected import holds_expected
from evals.case.abstention.roles import BITS
from evals.schemas import EvalQuestion
from tests.case.abstention import test_caveats as caveats

Row = dict[str, Any]
Floats = NDArray[np.floating[Any]]
LABELS = Path(__file__).resolve().parent.parent / "tests" / "case" / "abstention" / "answers.jsonl"
WEIGHT = {"learnt": 1.0, "development": 1.0, "cases": 4.0, "caveats": 0.3, "repeats": 0.2, "responses": 2.0}
"""How much an answer of each origin counts; those that the rules were made with count less."""
LENIENCY = 0.22
"""The probability from which an answer declines: a run gives back most answers taken wrongly, by what is expected."""
LASSO, RIDGE = 3.0, 1.0
SEEN = 6
"""Answers that a piece of evidence is in, at least."""


class Example(NamedTuple):
    """A labelled answer and what is weighed of it, or whether it declines where that needs no weighing."""

    row: Row
    origin: str
    evidence: dict[str, float] | bool


def main() -> None:
    """Fit, and print the weights or how well they tell what they were not fitted to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--without", default="", help="letters that ids begin with, each left out in turn")
    options = parser.parse_args()
    found = list(examples())
    if not options.without:
        sys.stdout.write(written(fitted(found)))
    for letter in filter(None, options.without.split(",")):
        kept = [example for example in found if not example.row.get("id", "").startswith(letter)]
        left_out = [example for example in found if example.row.get("id", "").startswith(letter)]
        print(letter, told(left_out, fitted(kept)))


def examples() -> Iterator[Example]:
    """All labelled answers, with their evidence."""
    for origin, row in origins():
        found = read_answer(row["answer"], row["question"])
        yield Example(row, origin, found if isinstance(found, bool) else evidence(found))


def origins() -> Iterator[tuple[str, Row]]:
    """The labelled answers, each by its origin; those held out are left out."""
    for line in LABELS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["split"] in WEIGHT:
            yield row["split"], row
    chance = random.Random(1)  # noqa: S311 - which caveats are learnt from, no secret
    for pairs in (caveats.golden, caveats.hotpotqa, caveats.squad_v2, caveats.ragbench):
        for question, answer in pairs():
            for said in chance.sample(list(caveats.caveated(answer)), 4):
                yield "caveats", {"question": question, "answer": said, "abstained": False}
            asked = question.strip().rstrip("?").strip()
            refusal = chance.choice(caveats.REFUSALS).format(asked[:1].lower() + asked[1:])
            yield "repeats", {"question": question, "answer": refusal, "abstained": True}
    for file, row in caveats.filed("ragbench", "id", "question", "response"):
        declined = (file.parent.name, row["id"]) in caveats.DECLINED
        yield "responses", {"question": row["question"], "answer": str(row["response"]), "abstained": declined}


def evidence(answer: Answer) -> dict[str, float]:
    """All that may be weighed of an answer, by name: circumstances, and signs singly and in pairs."""
    found = {f"circumstances/{name}": value for name, value in circumstances(answer).items() if value}
    for place, shown in signs(answer):
        names = sorted(name for name, bit in BITS.items() if shown & bit)
        for one in (*names, *map(" ".join, combinations(names, 2))):
            found[f"{place}/{one}"] = 1.0
    return found


def fitted(found: Iterable[Example]) -> dict[str, float]:
    """The weights, and the bias under the empty name."""
    weighed = [(example, example.evidence) for example in found if not isinstance(example.evidence, bool)]
    seen = Counter(name for _, evidence in weighed for name in evidence)
    names = sorted(name for name, count in seen.items() if count >= SEEN)
    values = _matrix([evidence for _, evidence in weighed], names)
    labels = np.array([float(example.row["abstained"]) for example, _ in weighed])
    counts = np.array([WEIGHT[example.origin] for example, _ in weighed])
    chosen = np.flatnonzero(_lasso(values, labels.astype(np.float32), counts.astype(np.float32)))
    weights = _ridge(values[:, chosen].astype(np.float64), labels, counts)
    return dict(zip([[*names, ""][place] for place in chosen], weights.tolist(), strict=True))


def _matrix(found: Sequence[Mapping[str, float]], names: Sequence[str]) -> Floats:
    """A row for each answer, a column for each name, and one of ones for the bias."""
    place = {name: n for n, name in enumerate(names)}
    values = np.zeros((len(found), len(names) + 1), dtype=np.float32)
    values[:, -1] = 1.0
    for row, evidence in zip(values, found, strict=True):
        for name in evidence.keys() & place.keys():
            row[place[name]] = evidence[name]
    return values


def _lasso(values: Floats, labels: Floats, counts: Floats, rounds: int = 200) -> Floats:
    """Weights of a logistic regression with an L1 penalty, by FISTA (Beck & Teboulle 2009); the last has none."""
    step = 4 / _curvature(values, counts)
    limits = np.full(values.shape[1], LASSO * step, dtype=np.float32)
    limits[-1] = 0.0
    weights, ahead, pace = np.zeros_like(limits), np.zeros_like(limits), 1.0
    for _ in range(rounds):
        moved = ahead - np.float32(step) * (values.T @ (counts * (_chance(values @ ahead) - labels)))
        new = np.sign(moved) * np.maximum(np.abs(moved) - limits, 0.0)
        faster = (1 + math.sqrt(1 + 4 * pace**2)) / 2
        ahead, weights, pace = new + (pace - 1) / faster * (new - weights), new, faster
    return weights


def _curvature(values: Floats, counts: Floats, rounds: int = 20) -> float:
    """A bound of the greatest eigenvalue of the weighted products of the columns, by powers."""
    vector, size = np.ones(values.shape[1], dtype=values.dtype), 1.0
    for _ in range(rounds):
        vector = values.T @ (counts * (values @ vector))
        size = float(np.linalg.norm(vector))
        vector /= size
    return 1.05 * size


def _ridge(values: Floats, labels: Floats, counts: Floats, rounds: int = 10) -> Floats:
    """Weights of a logistic regression with an L2 penalty, by Newton's method; the last, of the bias, has none."""
    penalty = np.full(values.shape[1], RIDGE)
    penalty[-1] = 1e-6
    weights = np.zeros(values.shape[1])
    for _ in range(rounds):
        chance = _chance(values @ weights)
        slope = values.T @ (counts * (chance - labels)) + penalty * weights
        curve = (values.T * (counts * chance * (1 - chance))) @ values + np.diag(penalty)
        weights = weights - np.linalg.solve(curve, slope)
    return weights


def _chance(scores: Floats) -> Floats:
    return 1 / (1 + np.exp(-np.clip(scores, -30, 30)))


def told(left_out: Iterable[Example], weights: Mapping[str, float]) -> str:
    """Precision and recall on answers, decided as in a run."""
    pairs = [(_declines(example, weights), bool(example.row["abstained"])) for example in left_out]
    right = sum(said and labelled for said, labelled in pairs)
    said, labelled = sum(said for said, _ in pairs), sum(label for _, label in pairs)
    return f"n={len(pairs)} weights={len(weights)} precision={right / said:.3f} recall={right / labelled:.3f}"


def _declines(example: Example, weights: Mapping[str, float]) -> bool:
    row = example.row
    if isinstance(example.evidence, bool):
        declined = example.evidence
    else:
        score = sum(weights.get(name, 0.0) * value for name, value in example.evidence.items())
        declined = score + weights[""] > math.log(LENIENCY / (1 - LENIENCY))
        declined = declined and f"circumstances/{SETTLES}" not in example.evidence
    question = EvalQuestion(question=row["question"] or "?", expected_answer=row.get("expected"))
    return declined and not holds_expected(row["answer"], question)


def written(weights: Mapping[str, float]) -> str:
    """The module that holds the weights."""
    groups: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for name, weight in sorted(weights.items()):
        place, _, rest = name.partition("/")
        groups[place][rest] = round(weight, 2)
    bias = groups.pop("")[""] + float(np.log((1 - LENIENCY) / LENIENCY))
    said = _table(groups.pop("circumstances"))
    places = "".join(f'    "{place}": """\n{_lines(table)}\n    """,\n' for place, table in sorted(groups.items()))
    return MODULE.format(bias=bias, circumstances=said, places=places)


def _table(weights: Mapping[str, float]) -> str:
    return "".join(f'    "{name}": {weight},\n' for name, weight in weights.items() if weight)


def _lines(weights: Mapping[str, float]) -> str:
    said = "; ".join(f"{name} {weight}" for name, weight in weights.items() if weight)
    return textwrap.fill(said, 118, initial_indent=" " * 8, subsequent_indent=" " * 8, break_on_hyphens=False)


MODULE = '''"""What each piece of evidence weighs, as benchmarks/abstention_weights.py fitted it to labelled answers.

Above 0 it speaks for an answer that declines. They are logarithms of odds, given all other evidence; so what goes with
something stronger may weigh less than nothing.
"""

from collections.abc import Mapping

BIAS = {bias:.2f}
"""The weight of no evidence at all."""

CIRCUMSTANCES: Mapping[str, float] = {{
{circumstances}}}
"""The weights of `evidence.circumstances`, for each 1 that they measure."""

SIGNS: Mapping[str, str] = {{
{places}}}
"""The weights of `evidence.signs` by place: of a part or sign in a clause there, or of two in one clause."""
'''


if __name__ == "__main__":
    main()
