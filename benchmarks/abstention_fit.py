"""Fit the weights by which answers that decline are told: python benchmarks/abstention_fit.py [FILE].

From the labelled answers in tests/text/refusals and the golden dataset, in two steps: a logistic regression over the
clauses of answers, then one over whole answers, where each clause is scored by weights that were fitted without its
author. The held_out answers are never read. It takes a minute or two.
"""

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from evals.datasets.base import LoadOptions
from evals.datasets.golden import GoldenLoader
from evals.text import refusals
from evals.text.refusals import STEM

HOME = Path(__file__).resolve().parent.parent
FOLDER = HOME / "tests" / "text" / "refusals"
WEIGHTS = HOME / "evals" / "data" / "refusals.json"
WEIGHT = {"learnt": 1.0, "development": 1.0, "cases": 4.0, "more": 1.0, "span": 1.0, "caveat": 0.6}
WEIGHT |= {"repeat": 0.4}
"""How much an answer counts, by where it comes from."""
CAVEATS = (
    "The documents do not say whether students pay it.",
    "No further details are given.",
    "However, I could not find any additional information on the subject.",
    "The context does not specify the exact date.",
    "It is unclear from the passages whether this still applies.",
    "I don't know whether this has changed since.",
    "Beyond that, nothing is known from the provided documents.",
    "That said, the passage doesn't provide a complete list.",
)
FRAMES = ("{}", "According to the documents, {}", "Thank you for your question. {}")
CAVEATED = list(product(FRAMES, CAVEATS))
REFUSALS = (
    "I could not find an answer to the question: {}?",
    "The documents do not say {}.",
    "I'm sorry, but the provided context does not contain information on {}.",
    "Unfortunately I cannot tell you {}, because this is not mentioned in the sources.",
)
SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
FOLDS = 3
INVERSE_RIDGE = {"clause": 0.2, "answer": 0.1}
MOST_WEIGHTS = {"clause": 2500, "answer": 5000}
SEEN = 6
"""Clauses that a name is in, at least."""
ASIDE = -0.5
THRESHOLD = -0.5
BAND = (-2.5, 2.0)
Row = dict[str, Any]
Floats = NDArray[np.floating[Any]]


def main() -> None:
    """Write the weights to a file, those of the package where none is named."""
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else WEIGHTS
    file.write_text(json.dumps(fitted(rows()), ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")


def rows() -> list[Row]:
    """The labelled answers to fit to, each with its author and where it comes from."""
    found = []
    for row in [*read("answers.jsonl"), *read("more.jsonl")]:
        row.setdefault("split", "more")
        row.setdefault("author", f"{row['split']}-{row['id'][0]}")
        if row["split"] in WEIGHT:
            found.append(row)
    golden = GoldenLoader().load(LoadOptions(samples=None))
    documents = [SENTENCE_END.split(document.text) for document in golden.documents]
    found += [
        {
            **question.model_dump(),
            "split": "span",
            "answer": question.expected_answer,
            "abstained": False,
            "author": question.id,
            "expected": question.expected_answer,
        }
        for question in golden.questions
        if question.expected_answer and not question.is_unanswerable
    ]
    return [*found, *(made for row in found for made in made_of(row, documents))]


def read(name: str) -> list[Row]:
    """The rows of a file of JSON lines."""
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


def made_of(row: Row, documents: Sequence[Sequence[str]]) -> Iterable[Row]:
    """What can be made of a labelled row.

    Of an expected answer a span and an answer with a caveat, of an answer a long one with more text and maybe a caveat
    behind it, and of a question a refusal that repeats it.
    """
    question, expected = row["question"], row.get("expected")
    made = {"question": question, "author": row["author"], "abstained": False}
    chance = crc32(f"{question}{row['id']}".encode())
    frame, caveat = CAVEATED[chance % len(CAVEATED)]
    if expected:
        yield {**made, "answer": f"{frame.format(expected.rstrip('. '))}. {caveat}", "split": "caveat"}
        if chance % 2:
            yield {**made, "answer": expected, "split": "span"}
    if not question or row.get("language") != "en":
        return
    if not row["abstained"]:
        sentences = documents[chance % len(documents)]
        start = chance % max(1, len(sentences) - 4)
        more = " ".join(sentences[start : start + 2 + chance % 4])
        yield {
            **made,
            "answer": f"{frame.format(row['answer'].rstrip())} {more} {caveat if chance % 2 else ''}",
            "split": "caveat",
        }
    if not chance % 3:
        asked = question.strip().rstrip("?")
        refusal = REFUSALS[chance // 3 % len(REFUSALS)].format(asked[:1].lower() + asked[1:])
        yield {**made, "answer": refusal, "abstained": True, "split": "repeat"}


@dataclass(frozen=True)
class Example:
    """A labelled answer as the model reads it."""

    row: Row
    clauses: list[list[str]]
    asked: refusals.Asked
    names: list[set[str]]


def examples_of(found: Iterable[Row], known: Mapping[str, frozenset[str]]) -> list[Example]:
    """The answers in which something is weighed."""
    examples = []
    for row in found:
        clauses = refusals.clauses_of(row["answer"])
        if clauses and refusals.may_decline(clauses, language := refusals.language_of(clauses)):
            asked = refusals.asked_of(row["question"] or "", known)
            names = [refusals.names_of(clause, language, asked.stems, known["vocabulary"]) for clause in clauses]
            examples.append(Example(row, clauses, asked, names))
    return examples


def vocabulary_of(found: Iterable[Row]) -> dict[str, frozenset[str]]:
    """The stems that several authors use, and those of them that are common."""
    counts: Counter[str] = Counter()
    authors: defaultdict[str, set[str]] = defaultdict(set)
    for row in found:
        if row["split"] in {"learnt", "development", "cases", "more"}:
            for stem in {word[:STEM] for clause in refusals.clauses_of(row["answer"]) for word in clause}:
                counts[stem] += 1
                authors[stem].add(row["author"])
    stems = {stem for stem, count in counts.items() if len(authors[stem]) >= 3 and count >= 6 and stem[0].isalpha()}
    return {"vocabulary": frozenset(stems), "common": frozenset(stem for stem in stems if counts[stem] > 200)}


def fitted(found: Sequence[Row]) -> dict[str, Any]:
    """The model, as `refusals.json` holds it."""
    known = vocabulary_of(found)
    examples = examples_of(found, known)
    clauses = Clauses(examples)
    folds = np.array([crc32(example.row["author"].encode()) % FOLDS for example in examples])
    scores, weights, bias = clauses.cross_fitted(folds)
    answers: list[dict[str, float]] = []
    for place, example in enumerate(examples):
        each = scores[clauses.starts[place] : clauses.starts[place + 1]].tolist()
        answers.append(dict(refusals.together(example.clauses, example.names, each, example.asked)))
    names, values = matrix(answers, least=SEEN)
    labels, counts = clauses.labels, clauses.counts
    kept = heaviest(values, regression(values, labels, counts, INVERSE_RIDGE["answer"]), MOST_WEIGHTS["answer"])
    final = regression(values[:, kept], labels, counts, 3 * INVERSE_RIDGE["answer"])
    return {
        "threshold": THRESHOLD,
        "doubtful": BAND,
        "vocabulary": " ".join(sorted(known["vocabulary"])),
        "common": " ".join(sorted(known["common"])),
        "clause_bias": round(bias, 2),
        "answer_bias": round(float(final[-1]), 2),
        "clause": weights,
        "answer": rounded([names[n] for n in kept], final),
    }


class Clauses:
    """The clauses of all examples; of which of them declines only the label of the answer is known."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self.names, self.values = matrix(
            [dict.fromkeys(sorted(each), 1.0) for example in examples for each in example.names], least=SEEN
        )
        self.sizes = np.array([len(example.names) for example in examples])
        self.starts = np.append(0, np.cumsum(self.sizes))
        self.answer = np.repeat(np.arange(len(examples)), self.sizes)
        self.labels = np.array([float(example.row["abstained"]) for example in examples])
        self.counts = np.array([WEIGHT[example.row["split"]] for example in examples])

    def cross_fitted(self, folds: NDArray[Any]) -> tuple[Floats, dict[str, float], float]:
        """The score of each clause by weights fitted without its fold; and the weights of all, with their bias."""
        everyone = np.ones(len(self.labels), dtype=bool)
        first = self.fit(everyone, range(len(self.names)), self.sizes[self.answer] == 1)
        for _ in range(2):
            scores = self.scores(first, range(len(self.names)))
            first = self.fit(everyone, range(len(self.names)), self.telling(scores))
        kept = heaviest(self.values, first, MOST_WEIGHTS["clause"])
        telling, scores = self.telling(self.scores(first, range(len(self.names)))), np.zeros(len(self.answer))
        for fold in range(FOLDS):
            held = (folds == fold)[self.answer]
            scores[held] = self.scores(self.fit(folds != fold, kept, telling), kept)[held]
        final = self.fit(everyone, kept, telling)
        return scores, rounded([self.names[n] for n in kept], final), float(final[-1])

    def telling(self, scores: Floats) -> NDArray[np.bool_]:
        """The clauses that stand for the label: the likeliest of a refusal; of an answer, those that do not decline."""
        likeliest = np.repeat(np.maximum.reduceat(scores, self.starts[:-1]), self.sizes)
        declines = self.labels[self.answer] > 0
        return np.where(declines, scores == likeliest, (self.sizes[self.answer] == 1) | (scores < ASIDE))

    def fit(self, examples: NDArray[np.bool_], columns: Sequence[int], telling: NDArray[np.bool_]) -> Floats:
        rows = np.flatnonzero(examples[self.answer] & telling)
        of = self.answer[rows]
        return regression(self.values[rows][:, columns], self.labels[of], self.counts[of], INVERSE_RIDGE["clause"])

    def scores(self, weights: Floats, columns: Sequence[int]) -> Floats:
        return np.asarray(self.values[:, columns] @ weights[:-1] + weights[-1])


def matrix(found: Sequence[Mapping[str, float]], least: int) -> tuple[list[str], csr_matrix]:
    """The names that are in so many, and a sparse matrix with a row for each mapping."""
    seen = Counter(name for each in found for name in each)
    names = sorted(name for name, count in seen.items() if count >= least)
    place = {name: n for n, name in enumerate(names)}
    entries = [
        (n, place[name], float(value)) for n, each in enumerate(found) for name, value in each.items() if name in place
    ]
    rows, columns, values = zip(*entries, strict=True)
    return names, csr_matrix((values, (rows, columns)), shape=(len(found), len(names)))


def regression(values: csr_matrix, labels: Floats, counts: Floats, inverse_ridge: float) -> Floats:
    """Weights of a logistic regression with a ridge, and its bias."""
    model = LogisticRegression(C=inverse_ridge, max_iter=100, tol=1e-3)
    model.fit(values, labels, sample_weight=counts)
    return np.append(model.coef_[0], model.intercept_[0])


def heaviest(values: csr_matrix, weights: Floats, most: int) -> list[int]:
    """The columns that matter most: by their weight and how many rows they are in."""
    reach = np.sqrt(np.asarray((values != 0).sum(0)).ravel())
    return sorted(np.argsort(-np.abs(weights[:-1]) * reach, kind="stable")[:most].tolist())


def rounded(names: Sequence[str], weights: Floats) -> dict[str, float]:
    """By name, the weights that are not 0 when rounded."""
    return {
        name: round(weight, 2)
        for name, weight in zip(names, weights[:-1].tolist(), strict=True)
        if abs(weight) >= 0.005
    }


if __name__ == "__main__":
    main()
