"""Fit the weights by which answers that decline are told: OMP_NUM_THREADS=1 python benchmarks/abstention_fit.py.

From the labelled answers in tests/text/refusals, the golden dataset and, in the folder that EVALS_REAL_DATA names,
HotpotQA, SQuAD and RAGBench with the responses of its models. Writes evals/data/refusals.npz and prints the errors of
answers whose authors were left out of the fit, and of answers that are in no fit. It takes three minutes and scipy.

Three logistic regressions. The first takes a look at the words of an answer, and lets pass nearly all that decline. The
second scores clauses: the likeliest stands for an answer that declines. The third weighs whole answers, in which each
clause is scored by weights that were fitted without its author.
"""

import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from itertools import chain, pairwise
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from abstention import FOLDER, Measured, Row, errors, measured, own_sets, read
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_matrix, hstack
from scipy.special import expit

from evals.text.refusals import (
    MAY_DECLINE,
    OPENING,
    PLACES,
    RefusalModel,
    Wording,
    answer_values,
    clause_of,
    clauses_of,
    declining_and_rest,
    question_of,
    word_names,
    wording_of,
)
from tests.text.refusals import test_caveats as caveats

DATA = Path(__file__).resolve().parent.parent / "evals" / "data"
WRITTEN = {"learnt": 1.0, "development": 1.0, "cases": 3.0, "more": 1.0, "shapes": 1.0}
WEIGHT = {
    **WRITTEN,
    "responses": 2.0,
    "caveats": 0.33,
    "repeats": 1.0,
    "spans": 0.7,
    "sentences": 1.0,
    "passages": 1.0,
}
"""How much an answer counts, by where it comes from; those of `WRITTEN` were labelled by people one by one."""
RIDGE = {"look": 10.0, "clause": 2.0, "answer": 10.0}
RAGBENCH = tuple(f"ragbench-{name}" for name in ("covidqa", "delucionqa", "hotpotqa", "msmarco"))
LEFT_OUT = ("learnt", "more", "responses")
"""The origins whose authors are left out in turn."""
FOLDS = (
    ("learnt-g", "learnt-k", *(f"more-{name}" for name in ("k", "o", "s", "w", "aa")), RAGBENCH[0]),
    ("learnt-h", "learnt-l", *(f"more-{name}" for name in ("l", "p", "t", "x", "bb")), RAGBENCH[1]),
    ("learnt-i", "learnt-m", *(f"more-{name}" for name in ("m", "q", "u", "y")), RAGBENCH[2]),
    ("learnt-j", "learnt-n", *(f"more-{name}" for name in ("n", "r", "v", "z")), RAGBENCH[3]),
    RAGBENCH,
)
"""The authors who are left out of each fit: a quarter of those who wrote answers and a dataset of RAGBench, then all of
RAGBench."""
INNER_FOLDS = 3
FEWEST_ANSWERS, FEWEST_PAIRS = 4, 15
"""Answers that a name is in, at least, and answers in which both values of a pair are."""
FEWEST_USES, FEWEST_AUTHORS = 6, 3
"""Of a stem in the vocabulary."""
FEWEST_STEPS = 2
"""Of the 127 that are the largest weight in a place: smaller weights are 0, for a smaller file."""
SCALE = {"pairs": 0.25, "question": 0.3, "declining": 0.4, "rest": 0.4, "first": 0.3}
"""How large a value of 1 counts in the third step: smaller ones are held closer to 0."""
KEYS = re.compile(
    r"(?:likeliest|first|last|second) score|single clause|asks for .*|(?:rest|before) is there|"
    r"(?:rest|before|likeliest) asked|rest number|rest behind|length|asked, only declined|rest new"
)
"""The values that are weighed together with all others."""
COST_OF_MISSING, LOOK_LEAST = 4.0, -1.0
"""How much more an answer that declines counts in the first look, and the log odds from which an answer is weighed."""
THRESHOLD = -0.1
DOUBTFUL = (-3.5, 2.0)
PREAMBLES = ("{}", "{}", "Based on the provided context, {}", "The context mentions that {}", "According to [1], {}")
"""How a model begins, whether it answers or declines."""
BARE = (("{}", "It is {}."), ("{}.", "{}"), ("{}", "The {}."), ("{}.", "A {}."))
UNTOLD = ("", "What is it?", "Which one?", "What is required?", "What does it use?")
"""Forms of a bare answer; questions that say little of what is asked."""
SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
Floats = NDArray[np.floating[Any]]
Arrays = dict[str, NDArray[Any]]


def main() -> None:
    """Write the weights, and print a row for each set of answers."""
    every = list(rows())
    measures: defaultdict[str, list[Measured]] = defaultdict(list)
    with ProcessPoolExecutor(2, initializer=read_answers, initargs=[every]) as pool:
        *left_out, shipped = pool.map(fitted_without, [*FOLDS, ()])
    np.savez_compressed(DATA / "refusals.npz", **shipped)
    for authors, arrays in zip(FOLDS, left_out, strict=True):
        model = RefusalModel(arrays)
        for row in every:
            if row["origin"] in LEFT_OUT and row["author"] in authors:
                name = "RAGBench" if authors == RAGBENCH else row["origin"]
                measures[name].append(measured(row, model))
    for name, answers in measures.items():
        print(errors(f"{name}, left out", answers))
    for name, labelled in own_sets():
        print(errors(name, [measured(row, RefusalModel(shipped)) for row in labelled]))


def rows() -> Iterator[Row]:
    """The labelled answers to fit to, each with where it comes from and the author with whom it is left out."""
    for name in ("answers", "more", "shapes"):
        for row in read(FOLDER / f"{name}.jsonl"):
            origin = row["split"] if name == "answers" else name
            if origin in WRITTEN:
                author = row.get("author") or f"{origin}-{row['id'][0] if name == 'answers' else row['split']}"
                yield {**row, "origin": origin, "author": author}
    yield from made_rows()
    for file, row in caveats.filed("ragbench", "id", "question", "response"):
        labelled = {"answer": row["response"], "abstained": (file.parent.name, row["id"]) in caveats.DECLINED}
        yield {"question": row["question"], **labelled, "origin": "responses", "author": f"ragbench-{file.parent.name}"}


def made_rows() -> Iterator[Row]:
    """Answers made of questions of datasets: expected answers, bare and with caveats, refusals, and sentences."""
    chance = random.Random(1)  # noqa: S311 - which answers are made, no secret
    for place, (question, answer, sentences, author) in enumerate(asked()):
        made = {"question": question, "author": author, "abstained": False}
        caveated = (
            f"{chance.choice(caveats.FORMS).format(answer.strip().rstrip('.'))}. {chance.choice(caveats.CAVEATS)}"
        )
        yield {**made, "origin": "caveats", "answer": caveated}
        span = answer.strip().rstrip(".")
        for form in BARE[place % len(BARE)] if len(span.split()) < 8 else ("{}.",):
            yield {**made, "origin": "spans", "answer": form.format(span)}
        if len(span.split()) < 8 and place % 3 == 0:
            yield {**made, "origin": "spans", "question": chance.choice(UNTOLD), "answer": f"{span}."}
        if place % 2 == 0:
            refusal = chance.choice(caveats.REFUSALS).format(question[:1].lower() + question[1:].strip().rstrip("?"))
            refusal = chance.choice(PREAMBLES).format(refusal)
            yield {**made, "origin": "repeats", "answer": refusal, "abstained": True}
        words = set(question.lower().split())
        nearest = max(sentences, key=lambda sentence: len(words & set(sentence.lower().split())))
        yield {**made, "origin": "sentences", "answer": chance.choice([nearest, chance.choice(sentences)])}
        for start in (sentences.index(nearest), chance.randrange(len(sentences)), chance.randrange(len(sentences))):
            passage = " ".join(sentences[start : start + chance.randint(1, 7)])
            yield {**made, "origin": "passages", "answer": chance.choice(PREAMBLES).format(passage)}


def asked() -> Iterator[tuple[str, str, list[str], str]]:
    """Questions of datasets, each with its answer, sentences of its documents, and the author that it counts as."""
    documents = sorted((DATA / "golden_corpus").glob("*.md"))
    sentences = [sentence for file in documents for sentence in sentences_of(file.read_text(encoding="utf-8"))]
    for row in json.loads((DATA / "golden_qa.json").read_text(encoding="utf-8"))["questions"]:
        if row["expected_answer"] and not row["is_unanswerable"]:
            yield row["question"], row["expected_answer"], sentences, row["id"]
    for row in caveats.rows("hotpotqa", "question", "answer", "context"):
        pages = row["context"]["sentences"]
        yield row["question"], row["answer"], [sentence for page in pages for sentence in page], row["question"]
    for row in caveats.rows("squad_v2", "question", "answers", "context"):
        if row["answers"]["text"]:
            yield row["question"], row["answers"]["text"][0], sentences_of(row["context"]), row["question"]
    for file, row in caveats.filed("ragbench", "question", "response", "documents_sentences"):
        sentences = [sentence for document in row["documents_sentences"] for _, sentence in document]
        yield row["question"], row["response"], sentences, f"ragbench-{file.parent.name}"


def sentences_of(text: str) -> list[str]:
    """The sentences of a text."""
    return [sentence for sentence in SENTENCE_END.split(text) if sentence.strip()]


class Answers:
    """Labelled answers as the model reads them, with the clauses of all in a row."""

    def __init__(self, labelled: Sequence[Row]) -> None:
        wordings = [wording_of(row["answer"]) for row in labelled]
        self.rows = [row for row, wording in zip(labelled, wordings, strict=True) if wording.words]
        wordings = [wording for wording in wordings if wording.words]
        self.vocabulary = self._vocabulary(wordings)
        self.questions = [question_of(row["question"] or "") for row in self.rows]
        self.clauses = [
            [clause_of(words, question, self.vocabulary) for words in clauses_of(wording)]
            for wording, question in zip(wordings, self.questions, strict=True)
        ]
        self.sizes = np.array([len(clauses) for clauses in self.clauses])
        self.starts = np.append(0, np.cumsum(self.sizes))
        self.answer = np.repeat(np.arange(len(self.rows)), self.sizes)
        self.labels = np.array([float(row["abstained"]) for row in self.rows])
        self.counts = np.array([WEIGHT[row["origin"]] for row in self.rows])
        self.authors = np.array([row["author"] for row in self.rows])
        clause_names = [clause.names for clauses in self.clauses for clause in clauses]
        self.names, self.values = matrix([dict.fromkeys(names, 1.0) for names in clause_names], FEWEST_ANSWERS)
        looks = [word_names(wording.words, self.vocabulary) for wording in wordings]
        self.look_names, self.looks = matrix([dict.fromkeys(names, 1.0) for names in looks], FEWEST_ANSWERS)

    def _vocabulary(self, wordings: Sequence[Wording]) -> frozenset[str]:
        """The stems that several authors use."""
        counts: Counter[str] = Counter()
        authors: defaultdict[str, set[str]] = defaultdict(set)
        for row, wording in zip(self.rows, wordings, strict=True):
            if row["origin"] in WRITTEN:
                for stem in {word.stem for word in wording.words}:
                    counts[stem] += 1
                    authors[stem].add(row["author"])
        often = (stem for stem, count in counts.items() if count >= FEWEST_USES and stem[0].isalpha())
        return frozenset(stem for stem in often if len(authors[stem]) >= FEWEST_AUTHORS)

    def telling(self, scores: Floats) -> NDArray[np.bool_]:
        """The clauses that stand for the label: the likeliest of a refusal; of an answer, those that do not decline."""
        likeliest = np.repeat(np.maximum.reduceat(scores, self.starts[:-1]), self.sizes)
        declines = self.labels[self.answer] > 0
        return np.where(declines, scores == likeliest, (self.sizes[self.answer] == 1) | (scores < MAY_DECLINE))

    def clause_weights(self, used: NDArray[np.bool_], telling: NDArray[np.bool_], start: Floats | None) -> Floats:
        """Weights of names in a clause, fitted to the telling clauses of the answers used."""
        places = np.flatnonzero(used[self.answer] & telling)
        answers = self.answer[places]
        return regression(self.values[places], self.labels[answers], self.counts[answers], RIDGE["clause"], start)

    def in_clauses(self, chosen: NDArray[np.bool_], value: float) -> csr_matrix:
        """For each answer, `value` for each name in any of its chosen clauses."""
        places = np.flatnonzero(chosen)
        entries = (np.ones(len(places)), (self.answer[places], places))
        names = csr_matrix(csr_matrix(entries, shape=(len(self.rows), len(self.answer))) @ self.values)
        names.data[:] = value
        return names


@cache
def answers_of_process() -> list[Answers]:
    """The answers that a process fits to, once `read_answers` has put them here."""
    return []


def read_answers(labelled: Sequence[Row]) -> None:
    """Read the answers, once for all fits of a process."""
    answers_of_process().append(Answers(labelled))


def fitted_without(authors: Sequence[str]) -> Arrays:
    """The weights fitted to the answers of all authors but some."""
    answers = answers_of_process()[0]
    used = ~np.isin(answers.authors, authors)
    scores, clause_weights = clause_scores(answers, used)
    labels, values, names, keys = together(answers, scores)
    rows = np.flatnonzero(used)
    final = regression(values[rows], answers.labels[rows], answers.counts[rows], RIDGE["answer"])
    counts = answers.counts * np.where(answers.labels > 0, COST_OF_MISSING, 1.0)
    look = regression(answers.looks[rows], answers.labels[rows], counts[rows], RIDGE["look"])
    groups: dict[str, dict[Any, float]] = {group: {} for group in ("values", "pairs", *PLACES)}
    for (group, name), weight in zip(labels, final[:-1].tolist(), strict=True):
        groups[group][name] = SCALE.get(group, 1.0) * weight
    groups["clause"] = dict(zip(answers.names, clause_weights[:-1].tolist(), strict=True))
    groups["look"] = dict(zip(answers.look_names, look[:-1].tolist(), strict=True))
    pair_weights = [[groups["pairs"].get((key, name), 0.0) for name in names] for key in keys]
    return {
        **named_weights([groups[place] for place in PLACES], answers.vocabulary),
        "values": as_bytes(names),
        "value_weights": np.array([groups["values"][name] for name in names], dtype=np.float32),
        "keys": np.array([names.index(key) for key in keys]),
        "pair_weights": np.array(pair_weights, dtype=np.float16),
        "biases": np.array([look[-1] - LOOK_LEAST, clause_weights[-1], final[-1]]),
        "limits": np.array([THRESHOLD, *DOUBTFUL]),
    }


def named_weights(groups: Sequence[Mapping[str, float]], vocabulary: frozenset[str]) -> Arrays:
    """The names and their weights in each place as whole steps from -127 to 127, without names that weigh nothing."""
    names = sorted(vocabulary.union(*groups))
    weights = np.array([[group.get(name, 0.0) for group in groups] for name in names])
    scales = np.abs(weights).max(axis=0) / 127
    steps = np.rint(weights / scales).astype(np.int8)
    steps[np.abs(steps) < FEWEST_STEPS] = 0
    kept = [n for n, name in enumerate(names) if steps[n].any() or name in vocabulary]
    return {
        "names": as_bytes([names[n] for n in kept]),
        "weights": np.asfortranarray(steps[kept]),
        "scales": scales.astype(np.float32),
    }


def as_bytes(names: Sequence[str]) -> NDArray[np.uint8]:
    """Names as an array that numpy saves without pickling."""
    return np.frombuffer("\n".join(names).encode(), dtype=np.uint8)


def clause_scores(answers: Answers, used: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """The score of each clause by weights fitted without its author; and the weights fitted to all."""
    telling = answers.sizes[answers.answer] == 1
    weights = None
    for _ in range(4):
        weights = answers.clause_weights(used, telling, weights)
        scores = answers.values @ weights[:-1] + weights[-1]
        telling = answers.telling(scores)
    folds = np.array([crc32(author.encode()) % INNER_FOLDS for author in answers.authors])
    for fold in range(INNER_FOLDS):
        held = (used & (folds == fold))[answers.answer]
        others = answers.clause_weights(used & (folds != fold), telling, None)
        scores[held] = (answers.values @ others[:-1] + others[-1])[held]
    return scores, weights


def together(answers: Answers, scores: Floats) -> tuple[list[tuple[str, Any]], csr_matrix, list[str], list[str]]:
    """What is weighed of whole answers: a label for each column, the matrix, the values' names and the keys."""
    values, declining = [], np.zeros(len(scores), dtype=bool)
    for place, (start, end) in enumerate(pairwise(answers.starts)):
        own = scores[start:end].tolist()
        values.append(answer_values(answers.clauses[place], own, answers.questions[place]))
        declining[start + np.array(declining_and_rest(own)[0])] = True
    names, value_matrix = matrix(values, FEWEST_ANSWERS)
    keys = [name for name in names if KEYS.fullmatch(name)]
    first = np.zeros(len(scores), dtype=bool)
    first[answers.starts[:-1]] = True
    opening = [dict.fromkeys(asked.stems[:OPENING], SCALE["question"]) for asked in answers.questions]
    blocks = {"values": (names, value_matrix), "pairs": pairs_of(names, keys, value_matrix.toarray())}
    blocks["question"] = matrix(opening, FEWEST_ANSWERS)
    for group, chosen in (("declining", declining), ("rest", ~declining), ("first", first)):
        blocks[group] = (answers.names, answers.in_clauses(chosen, SCALE[group]))
    labels = [(group, name) for group, (named, _) in blocks.items() for name in named]
    return labels, csr_matrix(hstack([block for _, block in blocks.values()])), names, keys


def pairs_of(names: Sequence[str], keys: Sequence[str], values: Floats) -> tuple[list[Any], csr_matrix]:
    """The products of a key and another value, where both are often present; each pair once."""
    present = (values != 0).astype(np.float32)
    often = present.T @ present >= FEWEST_PAIRS
    key_places = [names.index(key) for key in keys]
    pairs = [
        (n, m)
        for n in key_places
        for m in range(len(names))
        if m != n and often[n, m] and not (m in key_places and m < n)
    ]
    products = [csr_matrix(SCALE["pairs"] * values[:, n] * values[:, m]).T for n, m in pairs]
    return [(names[n], names[m]) for n, m in pairs], csr_matrix(hstack(products))


def matrix(named: Sequence[Mapping[str, float]], fewest: int) -> tuple[list[str], csr_matrix]:
    """The names that are in so many, and a sparse matrix with a row for each mapping."""
    counts = Counter(chain.from_iterable(named))
    names = sorted(name for name, count in counts.items() if count >= fewest)
    place = {name: n for n, name in enumerate(names)}
    entries = [
        (n, place[name], value) for n, values in enumerate(named) for name, value in values.items() if name in place
    ]
    rows_of_entries, columns, values = zip(*entries, strict=True)
    shape = (len(named), len(names))
    return names, csr_matrix((np.array(values), (rows_of_entries, columns)), shape=shape)


def regression(values: csr_matrix, labels: Floats, counts: Floats, ridge: float, start: Floats | None = None) -> Floats:
    """Weights of a logistic regression with a ridge, and its bias at the end."""
    signs, transposed = 2 * labels - 1, values.T.tocsr()

    def loss(weights: Floats) -> tuple[float, Floats]:
        margins = signs * (values @ weights[:-1] + weights[-1])
        pull = -counts * signs * expit(-margins)
        gradient = np.append(transposed @ pull + ridge * weights[:-1], pull.sum())
        return float(counts @ np.logaddexp(0, -margins) + ridge / 2 * weights[:-1] @ weights[:-1]), gradient

    begin = np.zeros(values.shape[1] + 1) if start is None else start
    return np.asarray(minimize(loss, begin, jac=True, method="L-BFGS-B", options={"maxiter": 60}).x)


if __name__ == "__main__":
    main()
