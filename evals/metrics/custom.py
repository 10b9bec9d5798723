"""Metrics of one's own: a function under `@metric`, a class in a file, and what a saved run says of either."""

import inspect
import sys
from collections.abc import Callable, Collection, Mapping
from contextlib import redirect_stdout
from functools import cache
from hashlib import sha256
from math import inf, isfinite
from pathlib import Path
from traceback import extract_tb
from types import ModuleType
from typing import Any, ClassVar

from pydantic import ValidationError

from evals.errors import ConfigError, EvalsError, UnknownNameError
from evals.metrics.base import Aggregation, BaseMetric, Need
from evals.metrics.sample import Lack, Sample
from evals.schemas.results import MetricDefinition, MetricGroup, MetricResult

# A function of a sample as a metric.

_Function = Callable[[Sample], Any]

_ANSWER = "answer"
"""Names that `needs` may have in addition to each `Need`."""

_NEEDS = {need.name.lower(): need for need in Need}

_GROUPS = {group.value: group for group in MetricGroup}


def missing(reason: str) -> Lack:
    """The value of a question for which a metric has none, with the reason."""
    return Lack(reason)


class FunctionMetric(BaseMetric):
    """A metric whose value is what a function returns; it can be called as the function itself."""

    function: ClassVar[_Function]
    labels: ClassVar[Mapping[str, float]]

    def __call__(self, sample: Sample) -> Any:
        """What the function returns."""
        return type(self).function(sample)

    def measure(self, sample: Sample) -> MetricResult:
        with redirect_stdout(sys.stderr):  # what a function prints is no part of `--json`
            given = self(sample)
        if given is None or isinstance(given, Lack):
            lack = given or Lack("the metric gave no value")
            return self.undefined(lack.reason, missing=lack.missing)
        if isinstance(given, str) and given in self.labels:
            return self.result(self.labels[given], label=given)
        if wrong := self._wrong(given):
            return self.undefined(f"the metric {self.name} returned {wrong}", missing="fault")
        return self.result(given)

    def _wrong(self, given: Any) -> str | None:
        """What is wrong with what the function returned and is no label; None where nothing is."""
        if isinstance(given, str):
            known = f"declared are {', '.join(self.labels)}" if self.labels else "none is declared: labels={…}"
            return f"the label {given[:_SHOWN]!r}; {known}"
        try:
            isfinite(given)  # takes numbers alone, where `float` reads bytes too
            number = float(given)
        except OverflowError:
            number = inf
        except (TypeError, ValueError):
            return f"a value of type {type(given).__name__}, which is no number, bool, label or None"
        if not isfinite(number):
            return f"{number}, which is no finite number"
        low, high = -inf if self.low is None else self.low, inf if self.high is None else self.high
        outside = f"{number:g}, outside its range {low:g} to {high:g}: say low= and high="
        return None if low <= number <= high else outside


_SHOWN = 40
"""Characters of a label that is not declared."""


def metric(
    function: _Function | None = None,
    *,
    name: str = "",
    higher_is_better: bool | None = True,
    unit: str = "ratio",
    needs: str | Collection[str] = (),
    labels: Mapping[str, float] | None = None,
    low: float | None = None,
    high: float | None = None,
    group: str = "generation",
) -> Any:
    """Make a metric of a function, which returns a number, a bool, a label, or None for a question without a value.

    Args:
        function: Of a `Sample`; its docstring describes the metric.
        name: Of the metric; that of the function where it is empty.
        higher_is_better: None where neither way is better.
        unit: Of the value; a "ratio" is from 0 to 1 unless `low` and `high` say otherwise.
        needs: What a question must have to be measured: answer, gold, expected_answer, chunks, citations, judge.
        labels: By label that the function may return, the value that it stands for.
        low: The least possible value.
        high: The greatest possible value.
        group: The heading in the scorecard: retrieval, generation, citation, abstention or performance.

    Raises:
        ConfigError: A need or a group does not exist, the range has no room, or the function is async or does not take
            a sample alone.
    """
    values = {label: float(value) for label, value in (labels or {}).items()}
    ends = (min(values.values()), max(values.values())) if values else (0.0, 1.0) if unit == "ratio" else (None, None)
    low, high = (ends[0] if low is None else low), (ends[1] if high is None else high)
    if low is not None and high is not None and low >= high:
        raise ConfigError(f"the values of a metric cannot be from {low:g} to {high:g}", "see low=, high= and labels=")
    needed = {needs} if isinstance(needs, str) else set(needs)
    attributes = {
        "labels": values,
        "unit": unit,
        "higher_is_better": higher_is_better,
        "low": low,
        "high": high,
        "group": _named(_GROUPS, "group of metrics", group),
        "needs": frozenset(_named(_NEEDS, "need of a metric", need) for need in needed - {_ANSWER}),
        "of_answer": _ANSWER in needed,
    }

    def make(given: _Function) -> FunctionMetric:
        called = name or str(getattr(given, "__name__", given))
        if inspect.iscoroutinefunction(given):
            raise ConfigError(f"{called} is async, and a metric is a plain function", "leave async out")
        try:
            inspect.signature(given).bind(None)
        except TypeError as error:
            raise ConfigError(f"{called} cannot be called with a sample: {error}", "def NAME(sample): …") from None
        module = getattr(given, "__module__", __name__)
        own = {"__doc__": given.__doc__ or "", "__module__": module, "function": staticmethod(given)}
        made: FunctionMetric = type(called, (FunctionMetric,), {**own, "name": called, **attributes})()
        return made

    return make if function is None else make(function)


def _named(known: Mapping[str, Any], what: str, name: str) -> Any:
    if name not in known:
        raise UnknownNameError(what, name, known)
    return known[name]


# What a run says of a metric that is not built in, and the metric that stands for it where its code is not there.


_DECLARED = ("name", "group", "unit", "higher_is_better", "low", "high", "percentile", "of_answer")
"""What a definition says in the words of the class."""


def definition_of(own: BaseMetric, source: str | None = None) -> MetricDefinition:
    """What a run says of a metric.

    Args:
        own: The metric.
        source: Where it was found.

    Raises:
        ConfigError: What it declares cannot be, such as a limit that is no finite number.
    """
    if isinstance(own, SavedMetric):
        return own.definition
    try:
        declared = {key: getattr(own, key) for key in _DECLARED}
        declared |= {
            "aggregation": own.aggregation.value,
            "needs": sorted(need.name.lower() for need in own.needs),
            "labels": dict(getattr(own, "labels", {})),
            "description": inspect.cleandoc(type(own).__doc__ or "").partition("\n\n")[0],
            "source": source,
            "sha256": getattr(own, "sha256", None) or _hash_of_code(own, source),
        }
        return MetricDefinition.model_validate(declared)
    except ValidationError as error:
        from evals.text.yaml_files import first_problem  # noqa: PLC0415 - a saved run is shown without it

        problem, hint = first_problem(error, MetricDefinition), "correct its declaration"
        raise ConfigError(f"metric {own.name!r}: {problem}", hint) from None
    except AttributeError as error:
        hint = "docs/own-measures.md shows what a class declares"
        raise ConfigError(f"metric {own.name!r}: {error}", hint) from error


def _code_of(own: BaseMetric) -> Any:
    """The function or class that a metric was written as."""
    return type(own).function if isinstance(own, FunctionMetric) else type(own)


def file_of(own: BaseMetric) -> str | None:
    """The file that a metric was written in; None for one that was written in none."""
    try:
        return inspect.getfile(_code_of(own))
    except (OSError, TypeError):
        return None


def _hash_of_code(own: BaseMetric, source: str | None) -> str | None:
    """The hash of the whole file of the metric, as it may call other functions there; else of its code."""
    file = file_of(own) if is_reference(source or "") else None
    try:
        code = Path(file).read_text("utf-8") if file else inspect.getsource(_code_of(own))
    except (OSError, TypeError, ValueError):  # typed at a prompt, or compiled
        return None
    return sha256(code.encode("utf-8", "surrogatepass")).hexdigest()


class SavedMetric(BaseMetric):
    """A metric of a saved run whose code is not there: its values can be read, but no answer can be measured.

    Attributes:
        definition: What the run says of it.
    """

    definition: ClassVar[MetricDefinition]

    def measure(self, sample: Sample) -> MetricResult:
        return self.undefined("it was not measured", missing="fault")


def saved_metric(definition: MetricDefinition) -> SavedMetric:
    """The metric that stands for one of a saved run."""
    attributes = {
        **{key: getattr(definition, key) for key in _DECLARED},
        "__doc__": definition.description,
        "definition": definition,
        "labels": definition.labels,
        "aggregation": Aggregation(definition.aggregation),
        "needs": frozenset(_NEEDS[need] for need in definition.needs if need in _NEEDS),
    }
    made: SavedMetric = type(SavedMetric.__name__, (SavedMetric,), attributes)()
    return made


# Metrics from a file that the command line or the configuration names.


def is_reference(name: str) -> bool:
    """Whether a name is that of a metric in a file: `./metrics.py:answer_words`."""
    return name.endswith(".py") or ".py:" in name


def beside(folder: Path, names: Any) -> Any:
    """Names of metrics, of which those in files are relative to a folder; anything else stays as it is."""
    if isinstance(names, str):
        names = [name.strip() for name in names.split(",") if name.strip()] or names
    if not isinstance(names, list):
        return names
    return [str(folder / name) if isinstance(name, str) and is_reference(name) else name for name in names]


def load_reference(reference: str) -> BaseMetric:
    """The metric in a file, which is run for it.

    Raises:
        ConfigError: The file cannot be read or run, or holds no such metric.
    """
    file, _, name = reference.rpartition(":") if ".py:" in reference else (reference, "", "")
    try:
        held = _run(Path(file), Path(file).read_bytes())
    except OSError as error:
        problem = f"cannot read {file}, of which a metric is named: {error.strerror}"
        raise ConfigError(problem, "a path is relative to the configuration file") from error
    if name in held:
        return as_metric(held[name], f"{name!r} of {file}")
    own = {key: value for key, value in held.items() if getattr(value, "__module__", "") == held["__name__"]}
    classes = [key for key, value in own.items() if isinstance(value, type) and issubclass(value, BaseMetric)]
    instances = [key for key, value in held.items() if isinstance(value, BaseMetric)]
    raise UnknownNameError(f"metric of {file}", name, [*classes, *instances])


@cache
def _run(path: Path, code: bytes) -> Mapping[str, Any]:
    """The definitions of a file, which may import its neighbours; it is run once, and again when changed.

    Raises:
        ConfigError: It raises something.
    """
    place = str(path.resolve())
    module = sys.modules[place] = ModuleType(place)
    module.__file__ = place
    if (folder := str(path.resolve().parent)) not in sys.path:
        sys.path.append(folder)
    try:
        with redirect_stdout(sys.stderr):
            exec(compile(code, place, "exec"), vars(module))  # noqa: S102 - the user's own file
    except (Exception, SystemExit) as error:  # whatever a file of the user's raises is said, with its line
        problem, hint = f"{type(error).__name__}: {getattr(error, 'msg', error)}", "correct the file"
        if isinstance(error, EvalsError):
            problem, hint = error.message, error.hint or ""
        # The last line of the file that was at work; of one that is no Python, the line of that.
        lines = [frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename == place]
        line = lines[-1] if lines else getattr(error, "lineno", None)
        raise ConfigError(f"{path}{'' if line is None else f', line {line}'}: {problem}", hint or None) from error
    return vars(module)


def as_metric(given: object, what: str = "") -> BaseMetric:
    """The metric that a class or an object is.

    Args:
        given: A metric, a class of metrics that needs no arguments, or the name of a metric.
        what: How it is called in a message.

    Raises:
        ConfigError: It is none.
    """
    called = what or repr(given)[:_SHOWN]
    if isinstance(given, type) and issubclass(given, BaseMetric):
        try:
            given = given()
        except Exception as error:  # code of the user's may raise anything
            raise ConfigError(f"{called} cannot be made: {error}", "a metric needs no arguments") from error
    if not isinstance(given, BaseMetric):
        hint = "put @metric above it" if inspect.isfunction(given) else "a metric is a BaseMetric or is under @metric"
        raise ConfigError(f"{called} is no metric", hint)
    if not str(getattr(given, "name", "")).isidentifier():
        raise ConfigError(f"{called} needs a name of letters, digits and _", "name=…")
    return given
