"""Every metric by name. A new metric is a class in one of the modules of `_FAMILIES`.

Other packages add theirs with an entry point of the group `evals.metrics` that names a `BaseMetric` subclass.
"""

import logging
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from itertools import chain

from evals.errors import ConfigError, EvalsError, UnknownNameError, broken_plugin, load_plugin
from evals.metrics.base import Aggregation, BaseMetric
from evals.metrics.custom import SavedMetric, definition_of, is_reference, load_reference, saved_metric
from evals.schemas.results import MetricDefinition, MetricGroup, saved_definitions

# What a metric declares about itself, in words: `evals metrics` and the reference page show the same.


_DIRECTION = {True: "higher is better", False: "lower is better", None: "neither way is better"}


def facts(cls: type[BaseMetric]) -> dict[str, str]:
    """Describe a metric class, as label and text, in the order in which it is shown.

    The formula, the conventions and the reference are the class docstring's matter.
    """
    return {
        "group": cls.group.value,
        "suites": ", ".join(sorted(cls.suites)) or "none: named alone",
        "unit": cls.unit,
        "range": value_range(cls),
        "direction": _DIRECTION[cls.higher_is_better],
        "over a run": over_a_run(cls),
        "needs": ", ".join(sorted(need.value for need in cls.needs)) or "nothing but an answer",
        "judge calls a question": str(cls.judge_calls),
    }


def value_range(cls: type[BaseMetric], *, questions: str = "the number of questions") -> str:
    """The least and the greatest possible value of a run; a dash where there is none.

    Args:
        cls: The metric.
        questions: What stands for the number of questions, which bounds a sum.
    """
    if cls.aggregation is Aggregation.SUM and cls.high == 1:  # each question counts 0 or 1
        return f"{cls.low or 0:g} to {questions}"
    if cls.high is None and cls.low is not None:
        return f"{cls.low:g} or more"
    low, high = ("–" if end is None else f"{end:g}" for end in (cls.low, cls.high))
    return f"{low} to {high}"


def over_a_run(cls: type[BaseMetric]) -> str:
    """How the values of the questions become one."""
    if cls.aggregation is Aggregation.PERCENTILE and cls.percentile is not None:
        return f"percentile {cls.percentile:g}"
    return cls.aggregation.value


_log = logging.getLogger(__name__)


_FAMILIES = (
    *("retrieval", "generation", "answer", "squad", "qa", "ragas", "claims", "semantic"),
    *("citation", "abstention", "performance", "production"),
)
"""The modules of the metrics, in the order of tables."""


def _defined_in(module: str) -> list[type[BaseMetric]]:
    """The metric classes of a module, in the order in which they stand there."""
    own = [value for value in vars(import_module(f"evals.metrics.{module}")).values() if isinstance(value, type)]
    own = [cls for cls in own if cls.__module__.endswith(f".{module}") and cls.__name__[0] != "_"]
    return [cls for cls in own if issubclass(cls, BaseMetric)]


_GROUPS = list(MetricGroup)
METRICS = tuple(sorted(chain.from_iterable(map(_defined_in, _FAMILIES)), key=lambda cls: _GROUPS.index(cls.group)))
"""Every metric class, group by group."""


@cache
def metric_classes() -> tuple[type[BaseMetric], ...]:
    """All metric classes: the built-in ones, then those of installed plug-ins.

    A plug-in must be loaded to know its names. One that cannot be is left out with a warning: whoever does not use it
    loses nothing, and whoever does hears of it twice, the second time as a metric that does not exist.
    """
    classes = list(METRICS)
    for point in entry_points(group="evals.metrics"):
        try:
            loaded = load_plugin(point)
            if not (isinstance(loaded, type) and issubclass(loaded, BaseMetric)):
                raise broken_plugin(point, f"is no metric: {loaded!r} is not a BaseMetric subclass")
            classes.append(loaded)
        except EvalsError as error:
            _log.warning("warning: %s; it is left out (%s)", error.message, error.hint)
    return tuple(classes)


def suites() -> list[str]:
    """The names of all suites."""
    return [*sorted({suite for cls in metric_classes() for suite in cls.suites}), "all"]


def metrics_of(suite_names: Iterable[str]) -> list[type[BaseMetric]]:
    """The metric classes of the suites, suite by suite, each once.

    Raises:
        UnknownNameError: A suite does not exist.
    """
    chosen: dict[type[BaseMetric], None] = {}
    for suite in suite_names:
        if suite == "load":
            raise ConfigError("suite load is withdrawn", _WITHDRAWN["latency_total_"])
        if suite not in suites():
            raise UnknownNameError("suite", suite, suites())
        chosen.update((cls, None) for cls in metric_classes() if suite == "all" or suite in cls.suites)
    return list(chosen)


# Metrics that a run brings along: of its configuration, of a file, or of a program.


_registered: dict[str, tuple[BaseMetric, MetricDefinition]] = {}

_stand_ins: dict[str, SavedMetric] = {}


def register(metric: BaseMetric, source: str | None = None) -> BaseMetric:
    """Make a metric known by its name, in this process; one of the same name that was registered before is replaced.

    Args:
        metric: One that is not built in; of one that is, and of a plug-in, the name is known already.
        source: Where it was found: `metrics.py:answer_words`. A metric may have an attribute `sha256` of what decides
            its values; else it is that of its source code.

    Returns:
        The metric.

    Raises:
        ConfigError: A built-in metric, or one of a plug-in, has the name.
    """
    existing = _installed(metric.name)
    if existing is None:
        _registered[metric.name] = metric, definition_of(metric, source)
    elif type(existing) is not type(metric) or vars(existing) != vars(metric):
        raise ConfigError(f"metric {metric.name!r} exists already", "give yours another name: name=…")
    return metric


def definitions(metrics: Iterable[BaseMetric]) -> list[MetricDefinition]:
    """What a run says of those of its metrics that are not built in."""
    own = [metric for metric in metrics if type(metric) not in METRICS]
    known = {id(metric): definition for metric, definition in _registered.values()}
    return [known.get(id(metric)) or definition_of(metric, type(metric).__module__.partition(".")[0]) for metric in own]


def _installed(name: str) -> BaseMetric | None:
    return next((metric for cls in metric_classes() if (metric := cls.from_name(name)) is not None), None)


def _saved(name: str) -> BaseMetric | None:
    """The metric of a run that was read whose code is not there."""
    definition, stand_in = saved_definitions.get(name), _stand_ins.get(name)
    if definition is not None and (stand_in is None or stand_in.definition is not definition):
        stand_in = _stand_ins[name] = saved_metric(definition)
    return None if definition is None else stand_in


_CLAIMS = "claim_precision, claim_recall, hallucination and context_utilization stay"
_WITHDRAWN = {
    **dict.fromkeys(("nugget_", "noise_sensitivity", "self_knowledge"), _CLAIMS),
    **dict.fromkeys(("latency_total_", "retrieval_latency_"), "make a run at each level of load and compare them"),
}
"""By the beginning of a metric's name what is instead of it."""


def parse_metric(name: str) -> BaseMetric:
    """The metric that a name such as `mrr` or `recall_at_20` stands for.

    Raises:
        ConfigError: It is withdrawn, or has the letter K where its number belongs.
        UnknownNameError: No metric has the name.
    """
    if name in _registered:
        return _registered[name][0]
    metric = _installed(name) or _saved(name)
    if metric is not None:
        return metric
    for family, instead in _WITHDRAWN.items():
        if name.startswith(family):
            raise ConfigError(f"metric {name} is withdrawn", instead)
    patterns = [cls.pattern() for cls in metric_classes()]
    if name.lower() in {pattern.lower() for pattern in patterns if pattern.endswith("_K")}:
        raise ConfigError(f"{name} needs a number in place of K", f"such as {name[:-1]}5")
    raise UnknownNameError("metric", name, [*default_names(), *patterns, *_registered, *saved_definitions])


def known_metric(name: str) -> BaseMetric | None:
    """The metric of a saved run; None for one that does not exist here, whose way of averaging is unknown."""
    try:
        return parse_metric(name)
    except ConfigError:
        return None


def default_names() -> list[str]:
    """The names of all metrics as the suites compute them."""
    return [metric.name for cls in metric_classes() for metric in cls.defaults()]


def of_streams() -> list[str]:
    """The names of the metrics that measure how an answer arrives in pieces."""
    return [metric.name for cls in metric_classes() if cls.of_stream for metric in cls.defaults()]


def select(suite_names: Iterable[str], metric_names: Iterable[str]) -> list[BaseMetric]:
    """The metrics of the suites, then those named, each once; a file that is named is run.

    Raises:
        ConfigError: The file of a metric cannot be used, or two different metrics have one name.
        UnknownNameError: A suite or a metric does not exist.
    """
    chosen = {metric.name: metric for cls in metrics_of(suite_names) for metric in cls.defaults()}
    for name in metric_names:
        metric = register(load_reference(name), name) if is_reference(name) else parse_metric(name)
        put(metric, chosen)
    return list(chosen.values())


def put(metric: BaseMetric, chosen: dict[str, BaseMetric]) -> None:
    """Put a metric among others by its name, unless it is there.

    Raises:
        ConfigError: Another metric has the name.
    """
    if type(chosen.setdefault(metric.name, metric)) is not type(metric):
        raise ConfigError(f"two metrics are named {metric.name!r}", "give one of them another name")
