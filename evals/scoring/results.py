"""`Results`: the values of a run as columns, and `columns.npz`, in which they are saved with the run.

A value is a float and a code a question: the codes of a column say why values are missing. The texts are in
`records.jsonl`; `offsets` says where each record begins. docs/output.md describes the file.
"""

import json
import zipfile
import zlib
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from math import nan
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evals.errors import ConfigError, StoreError
from evals.metrics.performance import RAN_OUT
from evals.schemas.dataset import CONVERSATION, EvalQuestion
from evals.schemas.results import MetricResult, RecordSum
from evals.scoring.stats import Groups, Vector
from evals.scoring.strata import Strata
from evals.store.atomic import atomic_file

VERSION = 2
REPEAT_OF = "repeat_of"
"""The key of the metadata that holds the id of the question that is asked again."""

SAMPLING = "_sampling"
"""The key of the metadata that says of which stratum a question was drawn, and how many of it it stands for."""

BY_DOCUMENT = "document"
"""`scoring.cluster: document`: questions whose first gold passage is of one document are a group."""


class Reason(NamedTuple):
    """What many results of a metric have in common apart from their value; a code stands for it.

    Attributes:
        missing: The kind of a missing value; None for a value.
        text: Why there is none.
        label: A label of the value, such as a grade.
        is_late: Whether the true value is greater: the request timed out.
    """

    missing: str | None = None
    text: str | None = None
    label: str | None = None
    is_late: bool = False


_ARRAYS = ("offsets", "groups", "outcomes", "golds", "weights", "strata")
_NOT_ASKED = Reason("not_asked", "the question was not asked")


@dataclass(slots=True)
class Column:
    """The results of one metric, a question each."""

    name: str
    values: "array[float]" = field(default_factory=lambda: array("d"))
    """NaN where there is none."""
    codes: "array[int]" = field(default_factory=lambda: array("H"))
    """The place of each result's reason in `reasons`."""
    reasons: list[Reason] = field(default_factory=lambda: [_NOT_ASKED])
    rules: Counter[str] = field(default_factory=Counter)
    """How many golds were recognised by which matching rule."""
    _places: dict[tuple[object, ...], int] = field(default_factory=lambda: {_NOT_ASKED: 0})

    def add(self, result: MetricResult | None) -> None:
        """Add the result of the next question; None where it was not asked."""
        if result is None:
            self.values.append(nan)
            self.codes.append(0)
            return
        details = result.details
        label, rules = details.get("label"), details.get("rules")
        reason = (result.missing, result.reason, label if isinstance(label, str) else None, RAN_OUT in details)
        code = self._places.get(reason)
        if code is None:
            code = self._places[reason] = len(self.reasons)
            self.reasons.append(Reason(*reason))
        self.values.append(nan if result.value is None else result.value)
        self.codes.append(code)
        if isinstance(rules, dict):
            for rule, count in rules.items():
                self.rules[rule] += count if isinstance(count, int) else 0

    @property
    def numbers(self) -> Vector:
        """The values, NaN where there is none."""
        return np.frombuffer(self.values, dtype=np.float64) if self.values else np.empty(0)

    def _codes(self) -> "np.ndarray[Any, np.dtype[np.uint16]]":
        return np.frombuffer(self.codes, dtype=np.uint16) if self.codes else np.empty(0, np.uint16)

    def counts(self, rows: "np.ndarray[Any, Any] | None" = None) -> dict[Reason, int]:
        """How many questions have each reason."""
        codes = self._codes()
        totals = np.bincount(codes if rows is None else codes[rows], minlength=len(self.reasons))
        return {reason: int(count) for reason, count in zip(self.reasons, totals, strict=True) if count}

    def mask(self, *missing: str) -> "np.ndarray[Any, np.dtype[np.bool]]":
        """Which questions lack a value for one of these kinds of reasons."""
        return self._with([reason.missing in missing for reason in self.reasons])

    def late(self) -> "np.ndarray[Any, np.dtype[np.bool]]":
        """Which values are of requests that timed out: the true ones are greater."""
        return self._with([reason.is_late for reason in self.reasons])

    def _with(self, chosen: Sequence[bool]) -> "np.ndarray[Any, np.dtype[np.bool]]":
        """Which questions have one of the chosen reasons."""
        return np.take(np.array(chosen, dtype=np.bool), self._codes())


@dataclass(slots=True, repr=False)  # asyncio writes out the result of a run, whose columns may be large
class Results:
    """The results of a run, in the order of its questions.

    Attributes:
        cluster: What questions are grouped by (`scoring.cluster`); None: questions are independent.
        columns: By metric.
        ids: Of the questions.
        offsets: Where the record of each begins in `records.jsonl`.
        groups: A hash of the label of each question's group.
        outcomes: How each question ended, as places in `scoring.outcomes.OUTCOMES`.
        golds: A hash of what each question expects: whether two runs have the same gold.
        weights: How many questions of a whole each one stands for that was drawn of it; else 1.
        strata: The number of the stratum that it was drawn of.
    """

    cluster: str | None = None
    columns: dict[str, Column] = field(default_factory=dict)
    ids: list[str] = field(default_factory=list)
    offsets: "array[int]" = field(default_factory=lambda: array("Q"))
    groups: "array[int]" = field(default_factory=lambda: array("q"))
    outcomes: "array[int]" = field(default_factory=lambda: array("B"))
    golds: "array[int]" = field(default_factory=lambda: array("Q"))
    weights: "array[float]" = field(default_factory=lambda: array("d"))
    strata: "array[int]" = field(default_factory=lambda: array("H"))
    _strata: dict[str, int] = field(default_factory=dict)

    def add(self, question: EvalQuestion, scores: Sequence[MetricResult], outcome: int) -> None:
        """Add the next question with its results; none where it was not asked."""
        for score in scores:
            if score.name not in self.columns:
                self.columns[score.name] = _padded(score.name, len(self.ids))
        given = {score.name: score for score in scores}
        for name, column in self.columns.items():
            column.add(given.get(name))
        self.ids.append(question.id)
        self.groups.append(hash_of(group_of(question, self.cluster), signed=True))
        self.outcomes.append(outcome)
        self.golds.append(gold_hash(question))
        drawn = question.metadata.get(SAMPLING)
        drawn = drawn if isinstance(drawn, dict) else {}
        self.weights.append(float(drawn.get("weight", 1.0)))
        self.strata.append(self._strata.setdefault(str(drawn.get("stratum")), len(self._strata)))

    @property
    def sample(self) -> Strata | None:
        """How the questions were drawn of a whole; None where they are the whole."""
        weights = np.frombuffer(self.weights) if self.weights else np.empty(0)
        return Strata(np.array(self.strata, dtype=np.int64), weights) if (weights != 1.0).any() else None

    def group_numbers(self) -> Groups | None:
        """The number of each question's group, in the order of their first questions; None: each is its own."""
        labels = np.frombuffer(self.groups, dtype=np.int64) if self.groups else np.empty(0, np.int64)
        _, first, places = np.unique(labels, return_index=True, return_inverse=True)
        return None if len(first) == len(labels) else np.argsort(np.argsort(first))[places]

    def save(self, path: Path, records: RecordSum, changed_ns: int) -> None:
        """Write `columns.npz`, whole or not at all.

        Args:
            path: The file.
            records: Count, size and checksum of `records.jsonl`.
            changed_ns: When that file was changed last.

        Raises:
            StoreError: It cannot be written.
        """
        columns = list(self.columns.values())
        about = {
            "version": VERSION,
            "records": records.model_dump(),
            "changed_ns": changed_ns,
            "cluster": self.cluster,
            "metrics": [
                {"name": one.name, "reasons": [list(each) for each in one.reasons], "rules": one.rules}
                for one in columns
            ],
        }
        with atomic_file(path) as file:
            np.savez(
                file,
                about=_as_bytes(about),
                ids=_as_bytes(self.ids),
                **{name: np.asarray(getattr(self, name)) for name in _ARRAYS},  # type: ignore[arg-type]
                **{f"values_{place}": np.asarray(column.values) for place, column in enumerate(columns)},  # type: ignore[arg-type]
                **{f"codes_{place}": np.asarray(column.codes) for place, column in enumerate(columns)},  # type: ignore[arg-type]
            )

    @classmethod
    def load(cls, path: Path, records: RecordSum, changed_ns: int) -> "Results | None":
        """The results in `columns.npz`; None where it is missing, damaged or of another `records.jsonl`."""
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                about = json.loads(arrays["about"].tobytes())
                known = (about["version"], about["records"], about["changed_ns"])
                if known != (VERSION, records.model_dump(), changed_ns):
                    return None
                results = cls(about["cluster"], ids=json.loads(arrays["ids"].tobytes()))
                for name in _ARRAYS:
                    getattr(results, name).frombytes(arrays[name].tobytes())
                for place, metric in enumerate(about["metrics"]):
                    results.columns[metric["name"]] = Column(
                        metric["name"],
                        array("d", arrays[f"values_{place}"].tobytes()),
                        array("H", arrays[f"codes_{place}"].tobytes()),
                        [Reason(*each) for each in metric["reasons"]],
                        Counter(metric["rules"]),
                    )
        except (OSError, EOFError, ValueError, KeyError, TypeError, RuntimeError, zipfile.BadZipFile, zlib.error):
            return None  # damaged; zipfile takes a changed byte for a later version or a password (RuntimeError)
        return results


def _padded(name: str, rows: int) -> Column:
    """A column whose metric the first questions do not have."""
    column = Column(name)
    for _ in range(rows):
        column.add(None)
    return column


def _as_bytes(value: Any) -> "np.ndarray[Any, np.dtype[np.uint8]]":
    return np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)


def gold_hash(question: EvalQuestion) -> int:
    """A hash of what is expected of the answer: gold passages, expected answers, answerability."""
    golds = [(gold.text, gold.document_id, gold.relevance) for gold in question.gold_passages]
    expected = (question.question, golds, question.expected_answer, question.answers, question.is_unanswerable)
    return hash_of(repr(expected))


def hash_of(text: str, *, signed: bool = False) -> int:
    """64 bits of a text's SHA-256."""
    return int.from_bytes(sha256(text.encode(errors="surrogatepass")).digest()[:8], "little", signed=signed)


def group_of(question: EvalQuestion, cluster: str | None) -> str:
    """The label of the group that a question belongs to; its own id where it belongs to none.

    Repeats of a question, and the turns of a conversation, are always one group.

    Args:
        question: With its gold and metadata.
        cluster: "document", the document of its first gold passage, or a key of its metadata; None for no groups.
    """
    belongs = None
    if question.turns:
        belongs = question.metadata.get(CONVERSATION)
    elif cluster == BY_DOCUMENT:
        belongs = question.gold_passages[0].document_id if question.gold_passages else None
    elif cluster is not None:
        belongs = question.metadata.get(cluster)
    if belongs not in (None, "", []):
        return f"{question.dataset}/{cluster}/{belongs}"
    return f"{question.dataset}//{question.metadata.get(REPEAT_OF, question.id)}"


def check_cluster(cluster: str | None, questions: Iterable[EvalQuestion]) -> None:
    """Check that some question has the configured key.

    Raises:
        ConfigError: It is a key of metadata that no question has.
    """
    if cluster in (None, BY_DOCUMENT):
        return
    known: set[str] = set()
    for question in questions:
        known |= {key for key, value in question.metadata.items() if value not in (None, "", [])}
        if cluster in known:
            return
    keys = f", or a key of the metadata: {', '.join(sorted(known))}" if known else ""
    raise ConfigError(f"scoring.cluster is {cluster!r}, and no question has that key", f"write document{keys}")


def changed_ns(path: Path) -> int:
    """When a file was changed last.

    Raises:
        StoreError: It cannot be seen.
    """
    try:
        return path.stat().st_mtime_ns
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}", "copy all files of the run") from error


def rows_by_value(values: Iterable[Any]) -> dict[str, list[int]]:
    """The rows of each value; a list counts as one value, and None as no value."""
    rows: dict[str, list[int]] = {}
    for row, value in enumerate(values):
        if value not in (None, "", []):
            rows.setdefault(", ".join(map(str, value)) if isinstance(value, list) else str(value), []).append(row)
    return rows
