"""The labels that a person can give to an answer, and the keys that give them."""

from evals.errors import ConfigError
from evals.metrics.judged import LabelledMetric
from evals.metrics.registry import parse_metric

DEFAULT_METRIC = "answer_correctness"
CANNOT_TELL = "cannot_tell"


def keys_of(metric: str) -> dict[str, str]:
    """The key of each label of a metric: its first letter.

    Raises:
        ConfigError: A judge does not decide on it.
        UnknownNameError: There is no such metric.
    """
    found = parse_metric(metric)
    labels = list(found.scale) if isinstance(found, LabelledMetric) else ["yes", "no"]
    if not found.judge_calls or len({label[0] for label in labels}) < len(labels):
        raise ConfigError(f"{metric} has no labels to give", f"review labels {DEFAULT_METRIC} and other judged metrics")
    return {label[0]: label for label in labels}
