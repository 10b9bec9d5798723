"""Fit the weights by which answers that decline are told: python benchmarks/abstention_fit.py [FILE].

From the labelled answers in tests/text/refusals, the golden dataset and, in the folder that EVALS_REAL_DATA names,
HotpotQA, SQuAD and RAGBench with the responses of its models. In two steps: a logistic regression over the clauses of
answers, of which the likeliest stands for an answer that declines, then one over whole answers, where each clause is
scored by weights that were fitted without its author. The held_out answers are never read. It takes two minutes.
"""

import json
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack
from sklearn.linear_model import LogisticRegression

from evals.text import refusals
from tests.text.refusals import test_caveats as caveats

HOME = Path(__file__).resolve().parent.parent
FOLDER = HOME / "tests" / "text" / "refusals"
DATA = HOME / "evals" / "data"
WEIGHTS = DATA / "refusals.json"
WRITTEN = {"learnt": 1.0, "development": 1.0, "cases": 3.0, "more": 1.0, "shapes": 1.0}
WEIGHT = {**WRITTEN, "responses": 2.0, "caveats": 1.0, "repeats": 0.5, "spans": 1.0, "sentences": 1.2}
"""How much an answer counts, by where it comes from; those of `WRITTEN` were labelled by people one by one."""
FOLDS = 3
INVERSE_RIDGE = {"clause": 0.5, "answer": 0.1, "look": 0.1}
MOST = {"clause": 4800, "declining": 4300, "rest": 500, "first": 500, "look": 700, "pairs": 600}
SCALE = {"pairs": 0.5, "asked": 0.3, "declining": 0.4, "rest": 0.4, "first": 0.3}
"""How large a value of 1 counts in the second step: smaller ones are held closer to 0."""
SEEN, SEEN_PAIRS = 4, 15
"""Rows that a name is in, at least."""
KEYS = re.compile(
    r"(?:likeliest|first|last) score|single|asks .*|(?:rest|before) there|(?:rest|before|likeliest) asked|"
    r"rest number|behind|length|likeliest only asked|rest new"
)
"""What is weighed together with everything else."""
FEW_MISSED, LEAST = 4.0, -1.0
"""How much more an answer that declines counts in the first look, and its score from which an answer is weighed."""

THRESHOLD = -0.6
BAND = (-3.5, 2.0)
SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
Row = dict[str, Any]
Floats = NDArray[np.floating[Any]]


def main() -> None:
    """Write the weights to a file, those of the package where none is named."""
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else WEIGHTS
    file.write_text(written(fitted(Answers(list(rows())))), encoding="utf-8")


def rows() -> Iterator[Row]:
    """The labelled answers to fit to, each with where it comes from and the author with whom it is left out."""
    for name in ("answers", "more", "shapes"):
        for row in read(FOLDER / f"{name}.jsonl"):
            origin = row["split"] if name == "answers" else name
            if origin in WRITTEN:
                author = row.get("author") or f"{origin}-{row['id'][0] if name == 'answers' else row['split']}"
                yield {**row, "origin": origin, "author": author}
    chance = random.Random(1)  # noqa: S311 - which answers are made, no secret
    for place, (question, answer, sentences, author) in enumerate(asked()):
        made = {"question": question, "author": author, "abstained": False}
        bare = answer.strip().rstrip(".")
        caveated = f"{chance.choice(caveats.FORMS).format(bare)}. {chance.choice(caveats.CAVEATS)}"
        yield {**made, "origin": "caveats", "answer": caveated}
        if place % 2:
            yield {**made, "origin": "spans", "answer": answer}
        else:
            refusal = chance.choice(caveats.REFUSALS).format(question[:1].lower() + question[1:].strip().rstrip("?"))
            yield {**made, "origin": "repeats", "answer": refusal, "abstained": True}
        words = set(question.lower().split())
        nearest = max(sentences, key=lambda sentence: len(words & set(sentence.lower().split())))
        yield {**made, "origin": "sentences", "answer": chance.choice([nearest, chance.choice(sentences)])}
    yield from responses()


def read(file: Path) -> list[Row]:
    """The rows of a file of JSON lines."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def asked() -> Iterator[tuple[str, str, list[str], str]]:
    """Questions of datasets, each with its answer, sentences of its documents, and the author that it counts as."""
    documents = sorted((DATA / "golden_corpus").glob("*.md"))
    sentences = [one for file in documents for one in sentences_of(file.read_text(encoding="utf-8"))]
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


def responses() -> Iterator[Row]:
    """The responses of models in RAGBench; those to questions of one of its datasets are left out together."""
    for file, row in caveats.filed("ragbench", "id", "question", "response"):
        labelled = {"answer": row["response"], "abstained": (file.parent.name, row["id"]) in caveats.DECLINED}
        yield {"question": row["question"], **labelled, "origin": "responses", "author": f"ragbench-{file.parent.name}"}


def sentences_of(text: str) -> list[str]:
    """The sentences of a text."""
    return [sentence for sentence in SENTENCE_END.split(text) if sentence.strip()]


class Answers:
    """Labelled answers as the model reads them, with the clauses of all in a row."""

    def __init__(self, found: Sequence[Row]) -> None:
        self.known = vocabulary_of(found)
        vocabulary, forms = self.known["vocabulary"], [refusals.forms_of(row["answer"]) for row in found]
        self.rows = [row for row, each in zip(found, forms, strict=True) if each]
        self.asked = [refusals.asked_of(row["question"] or "", self.known["common"]) for row in self.rows]
        self.clauses = [
            [refusals.clause_of(clause, asked, vocabulary) for clause in each]
            for each, asked in zip(filter(None, forms), self.asked, strict=True)
        ]
        looks = [dict.fromkeys(refusals.look_of(each, vocabulary), 1.0) for each in forms if each]
        self.look_names, self.looks = matrix(looks, SEEN)
        self.sizes = np.array([len(each) for each in self.clauses])
        self.starts = np.append(0, np.cumsum(self.sizes))
        self.answer = np.repeat(np.arange(len(self.rows)), self.sizes)
        self.labels = np.array([float(row["abstained"]) for row in self.rows])
        self.counts = np.array([WEIGHT[row["origin"]] for row in self.rows])
        self.authors = np.array([row["author"] for row in self.rows])
        self.names, self.values = matrix([dict.fromkeys(c.names, 1.0) for each in self.clauses for c in each], SEEN)

    def telling(self, scores: Floats) -> NDArray[np.bool_]:
        """The clauses that stand for the label: the likeliest of a refusal; of an answer, those that do not decline."""
        likeliest = np.repeat(np.maximum.reduceat(scores, self.starts[:-1]), self.sizes)
        declines = self.labels[self.answer] > 0
        return np.where(declines, scores == likeliest, (self.sizes[self.answer] == 1) | (scores < refusals.ASIDE))

    def clause_weights(self, used: NDArray[np.bool_], telling: NDArray[np.bool_], columns: Sequence[int]) -> Floats:
        """Weights of names in a clause, fitted to the telling clauses of the answers used."""
        rows = np.flatnonzero(used[self.answer] & telling)
        of = self.answer[rows]
        return regression(self.values[rows][:, columns], self.labels[of], self.counts[of], INVERSE_RIDGE["clause"])

    def in_place(self, place: NDArray[np.bool_], columns: Sequence[int], value: float) -> csr_matrix:
        """For each answer, `value` for each name in each of its clauses that has the place."""
        clauses = np.flatnonzero(place)
        values = (np.full(len(clauses), value), (self.answer[clauses], clauses))
        return csr_matrix(values, shape=(len(self.rows), len(self.answer))) @ self.values[:, columns]


def vocabulary_of(found: Iterable[Row]) -> dict[str, frozenset[str]]:
    """The stems that several authors use, and those of them that are common."""
    counts: Counter[str] = Counter()
    authors: defaultdict[str, set[str]] = defaultdict(set)
    for row in found:
        if row["origin"] in WRITTEN:
            for stem in {stem for clause in refusals.forms_of(row["answer"]) for stem, _, _ in clause}:
                counts[stem] += 1
                authors[stem].add(row["author"])
    stems = {stem for stem, count in counts.items() if len(authors[stem]) >= 3 and count >= 6 and stem[0].isalpha()}
    return {"vocabulary": frozenset(stems), "common": frozenset(stem for stem in stems if counts[stem] > 200)}


def fitted(answers: Answers, without: Callable[[str], bool] = lambda author: False) -> dict[str, Any]:
    """The model, as `refusals.json` holds it, fitted to the answers of all authors but some."""
    used = np.array([not without(author) for author in answers.authors])
    scores, columns, weights = clause_scores(answers, used)
    labels, values = together(answers, scores, columns)
    rows = np.flatnonzero(used)
    fit = (answers.labels[rows], answers.counts[rows], INVERSE_RIDGE["answer"])
    kept = heaviest(labels, values, regression(values[rows], *fit))
    final = regression(values[rows][:, kept], *fit)
    groups: dict[str, dict[str, float]] = {group: {} for group in ("values", "pairs", "asked", *refusals.PLACES)}
    for n, weight in zip(kept, final, strict=False):
        group, name = labels[n]
        groups[group][name] = SCALE.get(group, 1.0) * weight
    groups["clause"] = {answers.names[n]: weight for n, weight in zip(columns, weights, strict=False)}
    counts = answers.counts * np.where(answers.labels > 0, FEW_MISSED, 1.0)
    look = regression(answers.looks[rows], answers.labels[rows], counts[rows], INVERSE_RIDGE["look"])
    heavy = heaviest([("look", name) for name in answers.look_names], answers.looks, look)
    groups["look"] = {answers.look_names[n]: look[n] for n in heavy}
    return {
        "threshold": THRESHOLD,
        "doubtful": BAND,
        "least": round(LEAST - float(look[-1]), 2),
        "bias": round(float(final[-1]), 2),
        "clause bias": round(float(weights[-1]), 2),
        **{name: " ".join(sorted(stems)) for name, stems in answers.known.items()},
        **{group: rounded(groups[group]) for group in ("values", "asked")},
        "pairs": nested(rounded(groups["pairs"])),
        "names": by_name([rounded(groups[group]) for group in refusals.PLACES]),
    }


def clause_scores(answers: Answers, used: NDArray[np.bool_]) -> tuple[Floats, list[int], Floats]:
    """The score of each clause by weights fitted without its author; and those fitted to all, with their columns."""
    columns = list(range(len(answers.names)))
    telling = answers.sizes[answers.answer] == 1
    for _ in range(3):
        weights = answers.clause_weights(used, telling, columns)
        telling = answers.telling(answers.values @ weights[:-1] + weights[-1])
    reach = np.sqrt(np.asarray(answers.values.sum(0)).ravel())
    columns = sorted(np.argsort(-np.abs(weights[:-1]) * reach, kind="stable")[: MOST["clause"]].tolist())
    weights = answers.clause_weights(used, telling, columns)
    values = answers.values[:, columns]
    scores = values @ weights[:-1] + weights[-1]
    folds = np.array([crc32(author.encode()) % FOLDS for author in answers.authors])
    for fold in range(FOLDS):
        held = (used & (folds == fold))[answers.answer]
        others = answers.clause_weights(used & (folds != fold), telling, columns)
        scores[held] = (values @ others[:-1] + others[-1])[held]
    return scores, columns, weights


def together(answers: Answers, scores: Floats, columns: Sequence[int]) -> tuple[list[tuple[str, str]], csr_matrix]:
    """What is weighed of whole answers: a label for each column, its group and name, and the matrix."""
    found, declining = [], np.zeros(len(scores), dtype=bool)
    for place, (start, end) in enumerate(pairwise(answers.starts)):
        each = scores[start:end].tolist()
        found.append(refusals.values_of(answers.clauses[place], each, answers.asked[place]))
        declining[start + np.array(refusals.parted(each)[0])] = True
    names, values = matrix(found, SEEN)
    blocks = {"values": (names, values), "pairs": pairs_of(names, values.toarray())}
    opening = [dict.fromkeys(asked.words[: refusals.OPENING], SCALE["asked"]) for asked in answers.asked]
    blocks["asked"] = matrix(opening, SEEN)
    first = np.zeros(len(scores), dtype=bool)
    first[answers.starts[:-1]] = True
    single = [n for n in columns if answers.names[n][0] not in "%&" and " " not in answers.names[n]]
    for group, place in (("declining", declining), ("rest", ~declining), ("first", first)):
        those = list(columns) if group == "declining" else single
        blocks[group] = ([answers.names[n] for n in those], answers.in_place(place, those, SCALE[group]))
    labels = [(group, name) for group, (named, _) in blocks.items() for name in named]
    return labels, hstack([block for _, block in blocks.values()]).tocsr()


def pairs_of(names: Sequence[str], values: Floats) -> tuple[list[str], csr_matrix]:
    """The products of a key value and another one, where both are often there."""
    often = (values != 0).T.astype(np.float32) @ (values != 0).astype(np.float32) >= SEEN_PAIRS
    keys = [n for n, name in enumerate(names) if KEYS.fullmatch(name)]
    pairs = [(n, m) for n in keys for m in range(len(names)) if often[n, m] and m != n and (m not in keys or m > n)]
    products = [csr_matrix(SCALE["pairs"] * values[:, n] * values[:, m]).T for n, m in pairs]
    return [f"{names[n]}*{names[m]}" for n, m in pairs], hstack(products).tocsr()


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


def heaviest(labels: Sequence[tuple[str, str]], values: csr_matrix, weights: Floats) -> list[int]:
    """The columns that matter most in each group: by their weight and how many rows they are in."""
    order = np.argsort(-np.abs(weights[:-1]) * np.sqrt(np.asarray(values.power(2).sum(0)).ravel()), kind="stable")
    kept, counts = [], Counter[str]()
    for n in order.tolist():
        group = labels[n][0]
        if counts[group] < MOST.get(group, len(labels)):
            counts[group] += 1
            kept.append(n)
    return sorted(kept)


def nested(pairs: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """Weights of pairs of names, by the one and the other."""
    found: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for pair, weight in pairs.items():
        key, _, other = pair.partition("*")
        found[key][other] = weight
    return found


def rounded(weights: Mapping[str, float]) -> dict[str, float]:
    """The weights with two decimals, without those that are 0 by these."""
    return {name: round(float(weight), 2) for name, weight in weights.items() if abs(weight) >= 0.005}


def by_name(groups: Sequence[Mapping[str, float]]) -> dict[str, list[float]]:
    """For each name its weight in each group, without zeros at the end."""
    found = {name: [group.get(name, 0) for group in groups] for name in sorted(set().union(*groups))}
    for weights in found.values():
        while not weights[-1]:
            weights.pop()
    return found


def written(model: Mapping[str, Any]) -> str:
    """The file that holds the model: JSON with a line for each group."""
    write = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
    lines = [f"{write(name)}: {write(each)}" for name, each in model.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    main()
