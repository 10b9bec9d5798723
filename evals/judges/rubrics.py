"""Rubrics of a run: metrics on which a judge decides, defined in plain words."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, StringConstraints, ValidationError, field_validator

from evals.answers.files import LabelRow, read_labels
from evals.errors import ConfigError, DatasetError
from evals.judges.replies import FLAG, folded
from evals.metrics.base import Aggregation, BaseMetric, Need
from evals.metrics.judge_tasks import JudgeTask, answer_citing_passages, chain, numbered_contexts, passage_ids
from evals.metrics.judged import JudgedMetric, LabelledMetric
from evals.metrics.registry import METRICS
from evals.metrics.sample import ABSTENTION, Sample
from evals.schemas.base import Finite, Record
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import RetrievedChunk
from evals.schemas.results import MetricResult
from evals.schemas.verdicts import Prompt
from evals.text.numbers import number_or_none
from evals.text.yaml_files import first_problem, nearest_hint


def _citations(sample: Sample) -> list[dict[str, Any]]:
    """What the answer cites, in its order, by the ids of passages; null is that of what no chunk belongs to."""
    shown, ids = [], passage_ids(sample)
    for source in sample.cited:
        place = -1 if source.place is None else source.place
        chunk = RetrievedChunk() if source.place is None else (sample.response.chunks or [])[place]
        name = chunk.document_name or chunk.document_id
        shown.append({"id": ids.get(place + 1), "document": name, "text": chunk.text or ""})
    return shown


_INPUTS: dict[str, Callable[[Sample], Any]] = {
    "contexts": numbered_contexts,
    "citations": _citations,
    "expected_answer": lambda sample: sample.question.expected_answer,
    "question": lambda sample: sample.asked,
    "answer": lambda sample: sample.response.answer,
}
"""What a judge may be given, in this order: texts that calls share first, what it decides on last."""

_NEEDS = {"contexts": Need.CHUNKS, "citations": Need.CITATIONS, "expected_answer": Need.EXPECTED_ANSWER}

_METADATA = "metadata."

_UNDECIDED = "cannot_tell"
UNDECIDED = frozenset({None, _UNDECIDED, "?", "unsure", "skip", "n/a"})
"""What people write where they did not decide."""

_MOST_EXAMPLES = 20


def _as_word(label: Any) -> str:
    """A label as it is written: YAML takes yes and no for true and false, and a grade for a number."""
    return {True: "yes", False: "no"}[label] if isinstance(label, bool) else str(label).strip()


class RubricConfig(Record):
    """A rubric as it is configured; a text alone is `ask`."""

    ask: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
    """What the judge decides on, in plain words."""
    sees: list[str] = ["question", "answer"]
    """What it is given: question, answer, expected_answer, contexts, citations, metadata.KEY."""
    labels: dict[Annotated[str, BeforeValidator(_as_word)], Finite] = {"yes": 1.0, "no": 0.0}
    """What it may decide, each with its value."""
    steps: list[str] = []
    """How it comes to a decision, step by step."""
    examples: Path | None = None
    """A review sheet, or another file of people's labels: they are shown to the judge, the first twenty."""
    when: Literal["all", "answered", "answerable"] = "all"
    """Of which questions: all, those whose answer does not decline, or those that can be answered."""

    @field_validator("sees")
    @classmethod
    def _can_be_seen(cls, sees: list[str]) -> list[str]:
        for name in sees or [""]:
            if name not in _INPUTS and not re.match(r"metadata\..", name):
                raise ValueError(f"a judge cannot see {name!r} ({nearest_hint(name, [*_INPUTS, 'metadata.KEY'])})")
        return list(dict.fromkeys(sees))

    @field_validator("labels")
    @classmethod
    def _tell_answers_apart(cls, labels: dict[str, float]) -> dict[str, float]:
        undecided = {label_key(word) for word in UNDECIDED if word}
        if len({*map(label_key, labels)} - undecided) < len(labels):
            none = f"none be {_UNDECIDED!r}, which like '?', 'n/a', 'skip' and 'unsure' stands for no decision"
            raise ValueError(f"must differ in more than case and the signs between words, and {none}")
        if len(set(labels.values())) < 2 or "" in labels:
            raise ValueError("must be two labels or more, with different values")
        return labels


def label_key(label: str | float) -> str | float:
    """A label as labels of people are compared: a number by its value, a word as a judge's is read."""
    number = number_or_none(label)
    return folded(str(label)) if number is None else number


def _examples(name: str, spec: RubricConfig) -> list[tuple[LabelRow, str]]:
    """The labelled answers that the judge is shown, each with the label of the rubric.

    Raises:
        ConfigError: The file cannot be read, or has a label that the rubric has not.
    """
    if spec.examples is None:
        return []
    key, own = f"{name}.examples", {label_key(label): label for label in spec.labels}
    try:
        rows = [row for row in read_labels(spec.examples) if row.metric in {None, name} and row.answer is not None]
    except DatasetError as error:
        raise _error(key, error.message, error.hint) from error
    shown = [(row, row.label) for row in rows if row.label is not None and row.label not in UNDECIDED]
    if not shown:
        raise _error(key, f"{spec.examples} has no labelled answer to show for {name}", "evals review labels answers")
    for row, label in shown:
        if label_key(label) not in own:
            hint = f"the labels of {name}: {', '.join(spec.labels)}"
            raise _error(key, f"{row.where}: no label {label!r}", hint)
    return [(row, own[label_key(label)]) for row, label in shown[:_MOST_EXAMPLES]]


def _error(key: str, what: str, hint: str | None) -> ConfigError:
    error = ConfigError(f"judged.{key}: {what}", hint)
    error.key = f"judged.{key}"
    return error


@cache
def _form() -> Any:
    import yaml  # noqa: PLC0415 - a saved run is shown without it

    return yaml.safe_load(Path(__file__).with_name("rubric_form.yml").read_text(encoding="utf-8"))


def _prompt(name: str, spec: RubricConfig, examples: Iterable[tuple[LabelRow, str]]) -> Prompt:
    form, keys = _form(), _keys(spec)
    steps = [f"{number}. {step}" for number, step in enumerate(spec.steps, start=1)]
    rows = [
        f"- question {_quoted(row.question)}, answer {_quoted(row.answer)}, {_quoted(label)}" for row, label in examples
    ]
    shown = [form["keys"].get(key, _quoted(key)) for key in keys]
    system = form["system"].format(
        keys=", ".join([*shown[:-2], " and ".join(shown[-2:])]),
        ask=spec.ask,
        steps="\n".join(["", form["steps"], *steps, ""]) if steps else "",
        decisive=keys[-1],
        labels=", ".join(map(_quoted, spec.labels)),
        examples="\n".join(["", form["examples"], *rows]) if rows else "",
    )
    text, verdict = {"type": "string"}, {"type": "string", "enum": [*spec.labels, _UNDECIDED]}
    properties = {"quote": text, "justification": text, "verdict": verdict, FLAG: {"type": "boolean"}}
    schema = {"type": "object", "additionalProperties": False, "required": [*properties], "properties": properties}
    checks = [{"kind": "quotes", "within": keys[-1]}]
    told = {"name": name, "version": 1, "max_tokens": 3000, "system": system.strip(), "schema": schema}
    return Prompt.of({**told, "checks": checks})


def _quoted(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _keys(spec: RubricConfig) -> list[str]:
    """What the judge is given, last what it quotes: the answer where it sees it."""
    plain = [key for key in _INPUTS if key in spec.sees]
    return [*plain[:-1], *(key for key in spec.sees if key.startswith(_METADATA)), *plain[-1:]]


def _data(sample: Sample, spec: RubricConfig) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for key in _keys(spec):
        if key.startswith(_METADATA):
            value = sample.question.metadata.get(key.removeprefix(_METADATA))
            data[key] = value if isinstance(value, str) else _quoted(value)
        else:
            data[key] = _INPUTS[key](sample)
    if "answer" in data and not data.keys().isdisjoint(("contexts", "citations")):
        data["answer"] = answer_citing_passages(sample)
    return data


class _Rubric(LabelledMetric):
    """What the metrics share that rubrics define."""

    spec: ClassVar[RubricConfig]
    shown: ClassVar[frozenset[tuple[str | None, str | None]]]
    """Question and answer of the examples in the prompt."""

    def settled(self, sample: Sample) -> MetricResult | None:
        if self.spec.when == "answered" and sample.abstained:
            return self.undefined("the answer abstains")
        return super().settled(sample)

    def not_applicable_to(self, question: EvalQuestion) -> str | None:
        if Need.EXPECTED_ANSWER in self.needs and question.expected_answer is None:
            return "the question has no expected answer"
        for _, _, key in (name.partition(_METADATA) for name in self.spec.sees):
            if key and question.metadata.get(key) is None:
                return f"the question has no metadata {key!r}"
        return super().not_applicable_to(question)


def rubric_metric(name: str, spec: RubricConfig) -> BaseMetric:
    """The metric that a rubric defines.

    Raises:
        ConfigError: The name is none, or another metric's; or the examples cannot be shown.
    """
    asked = chain(task for cls in METRICS if issubclass(cls, JudgedMetric) for task in cls.inquiries)
    taken = {ABSTENTION, *(task.name for task in asked), *(cls.pattern() for cls in METRICS)}
    if name in taken or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,60}", name):
        what = "is that of a metric or prompt of ours" if name in taken else "must be letters, digits and _"
        raise _error(name, f"the name of a rubric {what}", "give it another name")
    examples = _examples(name, spec)
    prompt, values = _prompt(name, spec, examples), set(spec.labels.values())
    is_share = min(values) >= 0 and max(values) <= 1
    low, high, unit = (0.0, 1.0, "ratio") if is_share else (min(values), max(values), "points")
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
