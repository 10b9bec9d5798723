"""Rubrics of a run: metrics on which a judge decides, defined in plain words."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
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
from evals.text.yaml_files import first_problem, nearest_hint

_SEEN = ("contexts", "citations", "expected_answer", "question", "answer")
"""What a judge may be given, in this order: texts that calls share first, what it decides on last."""

_METADATA = "metadata."

_UNDECIDED = "cannot_tell"

_MOST_EXAMPLES = 20


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
            if name not in _SEEN and not (name.startswith(_METADATA) and name != _METADATA):
                raise ValueError(f"a judge cannot see {name!r} ({nearest_hint(name, [*_SEEN, 'metadata.KEY'])})")
        return list(dict.fromkeys(sees))

    @field_validator("labels", mode="before")
    @classmethod
    def _as_words(cls, labels: Any) -> Any:
        """What YAML takes for true and false is yes and no, and a number is the text of it."""
        if not isinstance(labels, Mapping):
            return labels
        words = {True: "yes", False: "no"}
        return {words.get(name) or str(name) if isinstance(name, bool) else str(name).strip(): value
                for name, value in labels.items()}  # fmt: skip

    @field_validator("labels")
    @classmethod
    def _tell_answers_apart(cls, labels: dict[str, float]) -> dict[str, float]:
        if len({_UNDECIDED, *map(_plain, labels)}) <= len(labels):
            raise ValueError(f"must differ in more than case and blanks, and none be {_UNDECIDED!r}")
        if len(set(labels.values())) < 2 or "" in labels:
            raise ValueError("must be two labels or more, with different values")
        return labels


def _plain(label: str) -> str | float:
    """A label as sheets are read: case and blanks make no difference, and numbers are numbers."""
    try:
        return float(label)
    except ValueError:
        return label.casefold().replace(" ", "_")


def _examples(name: str, spec: RubricConfig) -> list[tuple[LabelRow, str]]:
    """The labelled answers that the judge is shown, each with the label of the rubric.

    Raises:
        ConfigError: The file cannot be read, or has a label that the rubric has not.
    """
    if spec.examples is None:
        return []
    try:
        rows = [row for row in read_labels(spec.examples) if row.metric in {None, name}]
    except DatasetError as error:
        raise _wrong(f"{name}.examples", error.message, error.hint) from error
    own = {_plain(label): label for label in spec.labels}
    shown = [row for row in rows if row.answer is not None and row.label not in {None, _UNDECIDED}]
    unknown = next((row for row in shown if row.label not in own), None)
    if unknown is not None:
        hint = f"the labels of {name}: {', '.join(spec.labels)}"
        raise _wrong(f"{name}.examples", f"{unknown.where}: no label {unknown.label!r}", hint)
    if not shown:
        said = f"{spec.examples} has no labelled answer to show for {name}"
        raise _wrong(f"{name}.examples", said, "evals review labels answers")
    return [(row, own[row.label or ""]) for row in shown[:_MOST_EXAMPLES]]


def _wrong(key: str, what: str, hint: str | None) -> ConfigError:
    error = ConfigError(f"judged.{key}: {what}", hint)
    error.key = f"judged.{key}"
    return error


@cache
def _form() -> dict[str, Any]:
    import yaml  # noqa: PLC0415 - a saved run is shown without it

    found: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("rubric_form.yml").read_text(encoding="utf-8"))
    return found


def _prompt(name: str, spec: RubricConfig, examples: Iterable[tuple[LabelRow, str]]) -> Prompt:
    form, keys = _form(), _keys(spec)
    steps = [f"{number}. {step}" for number, step in enumerate(spec.steps, start=1)]
    rows = [
        "- " + ", ".join(f"{key} {_quoted(text)}" for key, text in (("question", row.question), ("answer", row.answer)))
        + f", {_quoted(label)}"
        for row, label in examples
    ]  # fmt: skip
    shown = [form["keys"].get(key, _quoted(key)) for key in keys]
    system = form["system"].format(
        keys=", ".join([*shown[:-2], " and ".join(shown[-2:])]),
        ask=spec.ask,
        steps="\n".join(["", form["steps"], *steps, ""]) if steps else "",
        decisive=keys[-1],
        labels=", ".join(map(_quoted, spec.labels)),
        examples="\n".join(["", form["examples"], *rows]) if rows else "",
    )
    verdict = {"type": "string", "enum": [*spec.labels, _UNDECIDED]}
    properties: dict[str, Any] = {"quote": {"type": "string"}, "justification": {"type": "string"}, "verdict": verdict}
    properties["injection_suspected"] = {"type": "boolean"}
    schema = {"type": "object", "additionalProperties": False, "required": [*properties], "properties": properties}
    told = {"name": name, "version": 1, "max_tokens": 3000, "system": system.strip(), "schema": schema}
    return Prompt.of({**told, "checks": [{"kind": "quotes", "within": keys[-1]}]})


def _quoted(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _keys(spec: RubricConfig) -> list[str]:
    """What the judge is given, last what it quotes: the answer where it sees it."""
    plain = [key for key in _SEEN if key in spec.sees]
    return [*plain[:-1], *(key for key in spec.sees if key.startswith(_METADATA)), *plain[-1:]]


def _data(sample: Sample, spec: RubricConfig) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key in _keys(spec):
        if key.startswith(_METADATA):
            value = sample.question.metadata.get(key.removeprefix(_METADATA))
            found[key] = value if isinstance(value, str) else _quoted(value)
        elif key == "contexts":
            found[key] = numbered_contexts(sample)
        elif key == "citations":
            found[key] = _cited(sample)
        elif key == "expected_answer":
            found[key] = sample.question.expected_answer
        elif key == "question":
            found[key] = sample.asked
        else:
            found[key] = answer_citing_passages(sample) if "contexts" in spec.sees else sample.response.answer
    return found


def _cited(sample: Sample) -> list[dict[str, Any]]:
    found = []
    for number, source in enumerate(sample.cited, start=1):
        chunk = None if source.place is None else (sample.response.chunks or [])[source.place]
        document = chunk and (chunk.document_name or chunk.document_id)
        found.append({"id": number, "document": document, "text": (chunk and chunk.text) or ""})
    return found


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
    asked = chain(one for cls in METRICS if issubclass(cls, JudgedMetric) for one in cls.inquiries)
    if name in {ABSTENTION, *(one.name for one in asked), *(cls.pattern() for cls in METRICS)}:
        raise _wrong(name, "the name of a rubric is that of a metric or prompt of ours", "give it another name")
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,60}", name):
        raise _wrong(name, "the name of a rubric must be letters, digits and _", "give it another name")
    examples = _examples(name, spec)
    prompt, values = _prompt(name, spec, examples), set(spec.labels.values())
    low, high = min(values), max(values)
    low, high, unit = (0.0, 1.0, "ratio") if low >= 0 and high <= 1 else (low, high, "points")
    facts = {
        "name": name,
        "spec": spec,
        "sha256": sha256(f"{prompt.hash} {spec.when}".encode()).hexdigest(),
        "labels": dict(spec.labels),
        "scale": dict(spec.labels),
        "low": low,
        "high": high,
        "unit": unit,
        "aggregation": Aggregation.RATE if values == {0.0, 1.0} else Aggregation.MEAN,
        "shown": frozenset((row.question, row.answer) for row, _ in examples),
        "inquiries": (JudgeTask(name, prompt, lambda sample: _data(sample, spec)),),
        "needs": frozenset({Need.JUDGE, *(_NEEDS[key] for key in spec.sees if key in _NEEDS)}),
        "of_answer": "answer" in spec.sees,
        "heeds_abstention": spec.when == "answered",
        "answerable_only": spec.when == "answerable",
        "__module__": __name__,
        "__doc__": f"{spec.ask}\n\nA rubric of this run, decided by a judge. Formula: "
        f"{', '.join(f'{label} {value:g}' for label, value in spec.labels.items())}. None where the judge cannot tell.",
    }
    made: BaseMetric = type(name, (_Rubric,), facts)()
    return made


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
