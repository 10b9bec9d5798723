"""Rubrics of a run: metrics on which a judge decides, defined in plain words."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field, ValidationError, field_validator

from evals.datasets.answers import LabelRow, read_labels
from evals.errors import ConfigError, DatasetError
from evals.metrics.base import Aggregation, BaseMetric, Need
from evals.metrics.judge_tasks import JudgeTask, answer_citing_passages, chain, numbered_contexts
from evals.metrics.judged import JudgedMetric, LabelledMetric
from evals.metrics.registry import METRICS
from evals.metrics.sample import ABSTENTION, Sample
from evals.schemas.base import Finite, Record
from evals.schemas.dataset import EvalQuestion
from evals.schemas.results import MetricGroup, MetricResult
from evals.schemas.verdicts import Prompt
from evals.text.tokens import lists_of
from evals.text.yaml_files import first_problem, nearest_hint

# A rubric, and the prompt that is composed of it.


_TEXTS = lists_of("rubric")

_SEES: tuple[str, ...] = tuple(_TEXTS["sees"].split())

_METADATA = "metadata."

_MOST_EXAMPLES = 20

_UNDECIDED = "cannot_tell"

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,60}")


class RubricConfig(Record):
    """A rubric as it is configured; a text alone is `ask`."""

    ask: str = Field(min_length=1)
    """What the judge decides on, in plain words."""
    sees: list[str] = ["question", "answer"]
    """What it is given: question, answer, expected_answer, contexts, citations, metadata.KEY."""
    labels: dict[str, Finite] = {"yes": 1.0, "no": 0.0}
    """What it may decide, each with its value."""
    steps: list[str] = []
    """How it comes to a decision, step by step."""
    examples: Path | None = None
    """A review sheet, or another file of people's labels: they are shown to the judge, the first twenty."""
    when: Literal["all", "answered", "answerable"] = "all"
    """Of which questions: all, those whose answer does not decline, or those that can be answered."""

    @field_validator("ask")
    @classmethod
    def _asks_something(cls, ask: str) -> str:
        if not ask.strip():
            raise ValueError("must not be empty")
        return ask.strip()

    @field_validator("sees")
    @classmethod
    def _can_be_seen(cls, sees: list[str]) -> list[str]:
        for name in sees or [""]:
            is_metadata = name.startswith(_METADATA) and name != _METADATA
            if name not in _SEES and not is_metadata:
                raise ValueError(f"a judge cannot see {name!r} ({nearest_hint(name, [*_SEES, 'metadata.KEY'])})")
        return list(dict.fromkeys(sees))

    @field_validator("labels", mode="before")
    @classmethod
    def _words(cls, labels: Any) -> Any:
        """What YAML takes for true and false is yes and no, and a number is the text of it.

        Raises:
            ValueError: A sheet, where case and blanks make no difference, could not tell two of them apart.
        """
        if not isinstance(labels, Mapping):
            return labels
        plain = [_plain(word) for word in map(_word, labels) if isinstance(word, str)]
        if len({_UNDECIDED, *plain}) <= len(plain):
            raise ValueError(f"must differ in more than case and blanks, and none be {_UNDECIDED!r}")
        return {_word(name): value for name, value in labels.items()}

    @field_validator("labels")
    @classmethod
    def _tell_answers_apart(cls, labels: dict[str, float]) -> dict[str, float]:
        if len(set(labels.values())) < 2 or "" in labels:
            raise ValueError("must be two labels or more, with different values")
        return labels


def _examples(name: str, spec: RubricConfig) -> list[LabelRow]:
    """The labelled answers that the judge is shown.

    Raises:
        ConfigError: The file cannot be read, or has a label that the rubric has not.
    """
    if spec.examples is None:
        return []
    key = f"judged.{name}.examples"
    try:
        rows = [row for row in read_labels(spec.examples) if row.metric in {None, name} and _is_shown(row)]
    except DatasetError as error:
        raise _wrong(key, error.message, error.hint) from error
    unknown = next((row for row in rows if _label(row, spec) is None), None)
    if unknown is not None:
        labels = ", ".join(spec.labels)
        raise _wrong(key, f"{unknown.where}: no label {unknown.label!r}", f"the labels of {name}: {labels}")
    if not rows:
        raise _wrong(key, f"{spec.examples} has no labelled answer to show for {name}", "evals review labels answers")
    return rows[:_MOST_EXAMPLES]


def _is_shown(row: LabelRow) -> bool:
    return row.answer is not None and row.label not in {None, _UNDECIDED}


def _wrong(key: str, what: str, hint: str | None) -> ConfigError:
    error = ConfigError(f"{key}: {what}", hint)
    error.key = key
    return error


def _label(row: LabelRow, spec: RubricConfig) -> str | None:
    """The label of the rubric that a row of a sheet names, in which case and blanks make no difference."""
    return next((each for each in spec.labels if _plain(each) == row.label), None)


def _word(label: object) -> object:
    """A label as a text, where YAML made something else of it."""
    if isinstance(label, bool):
        return "yes" if label else "no"
    return str(label).strip() if isinstance(label, str | int | float) else label


def _plain(label: str) -> str | float:
    try:
        return float(label)
    except ValueError:
        return label.casefold().replace(" ", "_")


def _prompt(name: str, spec: RubricConfig, labelled: Iterable[LabelRow]) -> Prompt:
    examples = [
        f"- {_shown('question', row.question)}{_shown('answer', row.answer)}{_quoted(_label(row, spec))}"
        for row in labelled
    ]
    steps = [f"{number}. {step}" for number, step in enumerate(spec.steps, start=1)]
    order = _order(spec)
    keys, decisive = [_TEXTS["keys"].get(key, _quoted(key)) for key in order], order[-1]
    system = _TEXTS["system"].format(
        keys=", ".join([*keys[:-2], " and ".join(keys[-2:])]),
        ask=spec.ask,
        steps=_listed("steps", steps),
        decisive=decisive,
        labels=", ".join(map(_quoted, spec.labels)),
        examples=_listed("examples", examples),
    )
    texts = {name: {"type": "string"} for name in ("quote", "justification")}
    verdict = {"type": "string", "enum": [*spec.labels, _UNDECIDED]}
    properties = {**texts, "verdict": verdict, "injection_suspected": {"type": "boolean"}}
    form = {"type": "object", "additionalProperties": False, "required": [*properties], "properties": properties}
    checks = [{"kind": "quotes", "within": decisive}]
    told = {"name": name, "version": 1, "max_tokens": 3000, "system": system.strip(), "checks": checks, "schema": form}
    return Prompt.of(told)


def _shown(key: str, text: str | None) -> str:
    return "" if text is None else f"{key} {_quoted(text)}, "


def _quoted(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _listed(head: str, lines: Sequence[str]) -> str:
    return "\n".join(["", _TEXTS["list"][head], *lines, ""]) if lines else ""


def _order(spec: RubricConfig) -> list[str]:
    """What the judge is given: texts that calls share first, and last what it quotes, the answer where it sees it."""
    plain = [key for key in _SEES if key in spec.sees]
    return [*plain[:-1], *(key for key in spec.sees if key.startswith(_METADATA)), *plain[-1:]]


def _data(case: Sample, spec: RubricConfig) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key in _order(spec):
        if key.startswith(_METADATA):
            value = case.question.metadata.get(key.removeprefix(_METADATA))
            found[key] = value if isinstance(value, str) else _quoted(value)
        elif key == "answer" and "contexts" in spec.sees:
            found[key] = answer_citing_passages(case)
        else:
            found[key] = _READ[key](case)
    return found


def _cited(case: Sample) -> Iterator[dict[str, Any]]:
    for number, source in enumerate(case.cited, start=1):
        chunk = None if source.place is None else (case.response.chunks or [])[source.place]
        document = chunk and (chunk.document_name or chunk.document_id)
        yield {"id": number, "document": document, "text": (chunk and chunk.text) or ""}


_READ: dict[str, Callable[[Sample], Any]] = {
    "contexts": numbered_contexts,
    "citations": lambda case: list(_cited(case)),
    "expected_answer": lambda case: case.question.expected_answer,
    "question": lambda case: case.asked,
    "answer": lambda case: case.response.answer,
}

_NEEDS = {"contexts": Need.CHUNKS, "citations": Need.CITATIONS, "expected_answer": Need.EXPECTED_ANSWER}


class _Rubric(LabelledMetric):
    """What the metrics share that rubrics define."""

    group = MetricGroup.GENERATION
    suites: ClassVar[frozenset[str]] = frozenset()
    spec: ClassVar[RubricConfig]
    shown: ClassVar[frozenset[tuple[str | None, str | None]]]
    """Question and answer of the examples in the prompt."""

    def settled(self, case: Sample) -> MetricResult | None:
        if self.spec.when == "answered" and case.abstained:
            return self.undefined("the answer abstains")
        return super().settled(case)

    def not_applicable_to(self, question: EvalQuestion) -> str | None:
        keys = (name.removeprefix(_METADATA) for name in self.spec.sees if name.startswith(_METADATA))
        lacking = next((key for key in keys if question.metadata.get(key) is None), None)
        without = None if lacking is None else f"the question has no metadata {lacking!r}"
        if Need.EXPECTED_ANSWER in self.needs and question.expected_answer is None:
            without = "the question has no expected answer"
        return without or super().not_applicable_to(question)


def rubric_metric(name: str, spec: RubricConfig) -> BaseMetric:
    """The metric that a rubric defines.

    Raises:
        ConfigError: The name is none, or another metric's; or the examples cannot be shown.
    """
    _check_name(name)
    examples = _examples(name, spec)
    prompt = _prompt(name, spec, examples)
    shared = {
        "name": name,
        "spec": spec,
        "sha256": sha256(f"{prompt.hash} {spec.when}".encode()).hexdigest(),
        "labels": dict(spec.labels),
        "shown": frozenset((row.question, row.answer) for row in examples),
        "inquiries": (JudgeTask(name, prompt, lambda case: _data(case, spec)),),
        "needs": frozenset({Need.JUDGE, *(_NEEDS[key] for key in spec.sees if key in _NEEDS)}),
        "of_answer": "answer" in spec.sees,
        "heeds_abstention": spec.when == "answered",
        "answerable_only": spec.when == "answerable",
        "__module__": __name__,
        "__doc__": f"{spec.ask}\n\nA rubric of this run, decided by a judge. Formula: "
        f"{', '.join(f'{label} {value:g}' for label, value in spec.labels.items())}. None where the judge cannot tell.",
    }
    made: BaseMetric = type(name, (_Rubric,), {**shared, **_scale(spec)})()
    return made


def _check_name(name: str) -> None:
    asked = chain(one for cls in METRICS if issubclass(cls, JudgedMetric) for one in cls.inquiries)
    taken = {ABSTENTION, *(one.name for one in asked), *(cls.pattern() for cls in METRICS)}
    if name in taken or not _NAME.fullmatch(name):
        why = "is that of a metric or prompt of ours" if name in taken else "must be letters, digits and _"
        raise _wrong(f"judged.{name}", f"the name of a rubric {why}", "give it another name")


def _scale(spec: RubricConfig) -> dict[str, Any]:
    """What the values of the labels say of the metric."""
    values = set(spec.labels.values())
    low, high = min(values), max(values)
    low, high, unit = (0.0, 1.0, "ratio") if low >= 0 and high <= 1 else (low, high, "points")
    over_a_run = Aggregation.RATE if values == {0.0, 1.0} else Aggregation.MEAN
    return {"scale": dict(spec.labels), "low": low, "high": high, "unit": unit, "aggregation": over_a_run}


def rubrics_among(metrics: Iterable[object]) -> dict[str, RubricConfig]:
    """The definitions of those of the metrics that rubrics define, by name."""
    return {metric.name: metric.spec for metric in metrics if isinstance(metric, _Rubric)}


def rubric(
    name: str,
    ask: str,
    *,
    labels: Mapping[str, float] | None = None,
    sees: Sequence[str] = ("question", "answer"),
    steps: Sequence[str] = (),
    examples: Path | str | None = None,
    when: str = "all",
) -> BaseMetric:
    """Define a metric in plain words: `EvalConfig(metrics=[rubric("tone", "Is the answer polite?")])`.

    Args:
        name: Of the metric.
        ask: What the judge decides on.
        labels: What it may decide, each with its value; yes (1) and no (0) where None.
        sees: What it is given: question, answer, expected_answer, contexts, citations, metadata.KEY.
        steps: How it comes to a decision.
        examples: A review sheet, whose labels are shown to the judge.
        when: Of which questions: all, answered, answerable.

    Raises:
        ConfigError: Something of it is wrong; the message names it.
    """
    given = {"ask": ask, "sees": sees, "steps": steps, "examples": examples, "when": when}
    try:
        spec = RubricConfig.model_validate({**given, **({} if labels is None else {"labels": labels})})
    except ValidationError as error:
        problem = first_problem(error, RubricConfig)
        raise ConfigError(f"rubric {name}: {problem}", problem.hint) from None
    return rubric_metric(name, spec)
