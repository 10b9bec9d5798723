"""Fit the weights of the evidence that an answer declines: python benchmarks/abstention_weights.py [--without GROUPS].

A logistic regression with a ridge, on the labelled answers of the tests, on the expected answers of datasets, bare
and with a caveat behind them, on sentences of their documents, and on the responses of RAGBench, where
EVALS_REAL_DATA names a folder that has them. Prints evals/text/refusals/weights.json; with --without, for each of
the groups named, how well its answers are told by weights fitted without it. A group is a letter, which stands for the
learnt answers whose ids begin with it, or "ragbench": its questions, responses and documents.
"""

import argparse
import json
import math
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from abstention import figures
from numpy.typing import NDArray

from evals.datasets.base import LoadOptions
from evals.datasets.golden import GoldenLoader
from evals.schemas import EvalQuestion
from evals.text.refusals.detector import holds_expected, read_answer
from evals.text.refusals.evidence import SETTLES, Answer, circumstances, signs
from evals.text.refusals.lexicon import BITS
from tests.text.refusals import test_caveats as caveats

Row = dict[str, Any]
Floats = NDArray[np.floating[Any]]
LABELS = Path(__file__).resolve().parent.parent / "tests" / "text" / "refusals" / "answers.jsonl"
WEIGHT = {
    "learnt": 1.0,
    "development": 1.0,
    "cases": 4.0,
    "caveats": 0.6,
    "repeats": 0.2,
    "responses": 2.0,
    "spans": 1.0,
    "sentences": 0.5,
}
"""How much an answer of each origin counts; those that the rules were made with count less."""
LENIENCY = 0.24
"""The probability from which an answer declines: a run gives back most answers taken wrongly, by what is expected."""
_OF_AUTHORS = frozenset({"learnt", "responses"})
"""The origins whose answers were written and labelled one by one: a group is measured on these."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
RIDGE: Mapping[str, float] = {"circumstances": 2.5, "together": 10.0, "sign": 10.0, "signs": 28.0}
"""The penalty of a squared weight, by what it weighs: chosen on answers by authors whose others were left out."""
LEAST = 0.02
"""What a weight is at least, either way; those nearer to 0 are left out."""
SEEN = 6
"""Answers that a piece of evidence is in, at least."""


class Example(NamedTuple):
    """A labelled answer and what is weighed of it, or whether it declines where that needs no weighing."""

    row: Row
    origin: str
    evidence: dict[str, float] | bool
    groups: frozenset[str] = frozenset()
    """With which it is left out: its author's letter, or the dataset of its question."""


def main() -> None:
    """Fit, and print the weights or how well they tell what they were not fitted to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--without", default="", help="groups, each left out in turn: h,i or ragbench")
    options = parser.parse_args()
    found = list(examples())
    if not options.without:
        sys.stdout.write(written(fitted(found)))
    for group in filter(None, options.without.split(",")):
        kept = [example for example in found if group not in example.groups]
        left_out = [example for example in found if group in example.groups and example.origin in _OF_AUTHORS]
        print(group, told(left_out, fitted(kept)))


def examples() -> Iterator[Example]:
    """All labelled answers, with their evidence."""
    of_ragbench = {question for question, _ in caveats.ragbench()}
    for origin, row in origins():
        found = read_answer(row["answer"], row["question"])
        author = row["id"][0] if origin == "learnt" else ""
        groups = frozenset({author, "ragbench" if row["question"] in of_ragbench else ""} - {""})
        yield Example(row, origin, found if isinstance(found, bool) else evidence(found), groups)


def origins() -> Iterator[tuple[str, Row]]:
    """The labelled answers, each by its origin; those held out are left out."""
    for line in LABELS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["split"] in WEIGHT:
            yield row["split"], row
    chance = random.Random(1)  # noqa: S311 - which caveats are learnt from, no secret
    for pairs in (caveats.golden, caveats.hotpotqa, caveats.squad_v2, caveats.ragbench):
        for question, answer in pairs():
            yield "spans", {"question": question, "answer": answer, "abstained": False}
            for said in chance.sample(list(caveats.caveated(answer)), 4):
                yield "caveats", {"question": question, "answer": said, "abstained": False}
            asked = question.strip().rstrip("?").strip()
            refusal = chance.choice(caveats.REFUSALS).format(asked[:1].lower() + asked[1:])
            yield "repeats", {"question": question, "answer": refusal, "abstained": True}
    for question, sentences in read():
        words = set(question.lower().split())
        nearest = max(sentences, key=lambda sentence: len(words & set(sentence.lower().split())))
        for said in (nearest, chance.choice(sentences)):
            yield "sentences", {"question": question, "answer": said, "abstained": False}
    for file, row in caveats.filed("ragbench", "id", "question", "response"):
        declined = (file.parent.name, row["id"]) in caveats.DECLINED
        yield "responses", {"question": row["question"], "answer": str(row["response"]), "abstained": declined}


def read() -> Iterator[tuple[str, list[str]]]:
    """Questions, each with sentences of the documents that it is asked of: what extractive servers answer with."""
    for row in caveats.rows("hotpotqa", "question", "context"):
        yield str(row["question"]), [one for page in row["context"]["sentences"] for one in page]  # type: ignore[index]
    for row in caveats.rows("squad_v2", "question", "context"):
        yield str(row["question"]), _sentences(str(row["context"]))
    for row in caveats.rows("ragbench", "question", "documents_sentences"):
        documents: Any = row["documents_sentences"]
        yield str(row["question"]), [one for document in documents for _, one in document]
    golden = GoldenLoader().load(LoadOptions(samples=None))
    sentences = [one for document in golden.documents for one in _sentences(document.text)]
    yield from ((question.question, sentences) for question in golden.questions)


def _sentences(text: str) -> list[str]:
    return [one for one in _SENTENCE.split(text) if one.strip()]


def evidence(answer: Answer) -> dict[str, float]:
    """All that may be weighed of an answer, by name: circumstances and signs, singly and in pairs."""
    there = sorted((name, value) for name, value in circumstances(answer).items() if value)
    found = {f"circumstances/{name}": value for name, value in there}
    found |= {f"together/{one}*{other}": a * b for (one, a), (other, b) in combinations(there, 2)}
    for place, shown in signs(answer):
        names = sorted(name for name, bit in BITS.items() if shown & bit)
        for one in (*names, *map(" ".join, combinations(names, 2))):
            found[f"{place}/{one}"] = 1.0
    return found


def fitted(found: Iterable[Example]) -> dict[str, float]:
    """The weights, and the bias under the empty name."""
    weighed = [(example, example.evidence) for example in found if not isinstance(example.evidence, bool)]
    seen = Counter(name for _, evidence in weighed for name in evidence)
    names = [*sorted(name for name, count in seen.items() if count >= SEEN), ""]
    labels = np.array([float(example.row["abstained"]) for example, _ in weighed])
    counts = np.array([WEIGHT[example.origin] for example, _ in weighed])
    values = Values([{**evidence, "": 1.0} for _, evidence in weighed], names)
    weights = _newton(values, labels, counts, np.array([_penalty(name) for name in names]))
    return {name: weight for name, weight in zip(names, weights.tolist(), strict=True) if abs(weight) >= LEAST}


def _penalty(name: str) -> float:
    place, _, rest = name.partition("/")
    if not name:
        return 1e-3
    return RIDGE[place] if place in RIDGE else RIDGE["signs" if " " in rest else "sign"]


class Values:
    """A sparse matrix: a row for each answer, a column for each name."""

    def __init__(self, found: Sequence[Mapping[str, float]], names: Sequence[str]) -> None:
        place = {name: n for n, name in enumerate(names)}
        entries = [
            (row, place[name], value)
            for row, evidence in enumerate(found)
            for name, value in evidence.items()
            if name in place
        ]
        rows, columns, values = zip(*entries, strict=True)
        self.rows, self.columns = np.array(rows, dtype=np.int32), np.array(columns, dtype=np.int32)
        self.values = np.array(values)
        self.shape = len(found), len(names)

    def times(self, weights: Floats) -> Floats:
        """The sum of each row, its values weighted."""
        return np.asarray(np.bincount(self.rows, self.values * weights[self.columns], self.shape[0]), dtype=np.float64)

    def back(self, scores: Floats) -> Floats:
        """The sum of each column, its values weighted by the row."""
        return np.asarray(np.bincount(self.columns, self.values * scores[self.rows], self.shape[1]), dtype=np.float64)


def _newton(values: Values, labels: Floats, counts: Floats, penalty: Floats, rounds: int = 8) -> Floats:
    """Weights of a logistic regression with an L2 penalty, by Newton's method."""
    weights = np.zeros_like(penalty)
    for _ in range(rounds):
        chance = 1 / (1 + np.exp(-np.clip(values.times(weights), -30, 30)))
        slope = values.back(counts * (chance - labels)) + penalty * weights
        weights = weights - _solved(values, counts * chance * (1 - chance), penalty, slope)
    return weights


def _solved(values: Values, curve: Floats, penalty: Floats, slope: Floats, rounds: int = 60) -> Floats:
    """The step of Newton's method, by conjugate gradients (Hestenes & Stiefel 1952), scaled by the penalties."""
    step, rest = np.zeros_like(slope), slope.copy()
    near = rest / penalty
    ahead, size = near.copy(), float(rest @ near)
    for _ in range(rounds):
        curved = values.back(curve * values.times(ahead)) + penalty * ahead
        pace = size / float(ahead @ curved)
        step, rest = step + pace * ahead, rest - pace * curved
        near = rest / penalty
        size, before = float(rest @ near), size
        if size < 1e-8:
            break
        ahead = near + size / before * ahead
    return step


def told(left_out: Iterable[Example], weights: Mapping[str, float]) -> str:
    """Precision and recall on answers, decided as in a run."""
    pairs = [(_declines(example, weights), bool(example.row["abstained"])) for example in left_out]
    return f"weights={len(weights)} {figures(pairs)}"


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
    """The file that holds the weights."""
    groups: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    for name, weight in sorted(weights.items()):
        place, _, rest = name.partition("/")
        groups[place][rest] = round(weight, 3)
    bias = groups.pop("", {"": 0.0})[""] + math.log((1 - LENIENCY) / LENIENCY)
    circumstances, together = groups.pop("circumstances"), defaultdict[str, dict[str, float]](dict)
    for names, weight in groups.pop("together").items():
        one, _, other = names.partition("*")
        together[one][other] = weight
    tables = {"circumstances": circumstances, "together": together, "signs": groups}
    lines = [f'"bias": {bias:.3f}', *(f'"{name}": {_lines(table)}' for name, table in tables.items())]
    return "{" + ",\n".join(lines) + "}\n"


def _lines(table: Mapping[str, Any]) -> str:
    """A table as JSON, a line for each entry."""
    return "{" + ",\n".join(f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in table.items()) + "}"


if __name__ == "__main__":
    main()
