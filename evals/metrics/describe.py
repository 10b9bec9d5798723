"""What a metric declares about itself, in words: `evals metrics` and the reference page show the same."""

from evals.metrics.base import Aggregation, BaseMetric

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
        "needs": needs(cls) or "nothing but an answer",
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
    low, high = ("–" if end is None else f"{end:g}" for end in (cls.low, cls.high))
    return f"{low} to {high}"


def over_a_run(cls: type[BaseMetric]) -> str:
    """How the values of the questions become one."""
    if cls.aggregation is Aggregation.PERCENTILE and cls.percentile is not None:
        return f"percentile {cls.percentile:g}"
    return cls.aggregation.value


def needs(cls: type[BaseMetric]) -> str:
    """What the metric needs in order to have a value; empty where an answer is enough."""
    return ", ".join(sorted(need.value for need in cls.needs))
