"""Scales of people's labels: words, yes and no, or numbers, read as numbers from 0 to 1."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from statistics import fmean, median_low

from evals.errors import ConfigError, DatasetError
from evals.metrics.base import BaseMetric

Label = str | float

_YES_AND_NO = {
    **dict.fromkeys(("yes", "y", "true", "right", "correct", "pass", "good", "supported", "adherent"), 1.0),
    **dict.fromkeys(("no", "n", "false", "wrong", "incorrect", "fail", "bad", "unsupported", "not_adherent"), 0.0),
    **dict.fromkeys(("tie", "both", "equal"), 0.5),
}

_UNDECIDED = frozenset({"cannot_tell", "?", "unsure", "skip", "n/a"})

_GRADES = frozenset({-2.0, -1.0, 0.0, 1.0, 2.0})


@dataclass(frozen=True, slots=True)
class Scale:
    """How labels are read.

    Attributes:
        words: What it is called.
        low: The label that is worth 0, of numbers.
        high: That which is worth 1.
        values: The worth of each word; empty where labels are numbers.
        cut: From this worth on an answer counts as good.
        graded: Whether the mean of several annotators' labels means something; else most of them decide.
        levels: The few values that labels and scores can have, where both have the same.
    """

    words: str
    low: float = 0.0
    high: float = 1.0
    values: Mapping[str, float] = field(default_factory=dict)
    cut: float = 1.0
    graded: bool = False
    levels: frozenset[float] = frozenset()

    def worth(self, label: Label | None, where: str) -> float | None:
        """A label from 0 to 1; None if the annotator could not tell.

        Raises:
            DatasetError: It is not of the scale.
        """
        if label is None or label in _UNDECIDED:
            return None
        found: float | None = None
        if isinstance(label, str):
            found = self.values.get(label)
        elif not self.values:
            found = (label - self.low) / (self.high - self.low)
        if found is None or not 0 <= found <= 1:
            raise DatasetError(f"{where}: label {label!r} is not one of {self.words}")
        return found

    def cut_at(self, cut: float | None) -> "Scale":
        """The same scale with another cut, from 0 to 1; itself where none is given."""
        return self if cut is None else replace(self, cut=cut)

    def together(self, worths: Sequence[float]) -> float:
        """The label of several annotators: the mean of grades; else the middle one, of two the worse."""
        return fmean(worths) if self.graded else median_low(worths)


def declared_scale(text: str) -> Scale:
    """A scale of numbers as it is given: "1,5".

    Raises:
        ConfigError: It is none.
    """
    try:
        low, high = map(float, text.split(","))
    except ValueError:
        low = high = 0.0
    if low == high:
        raise ConfigError(
            f"not a scale: {text!r}", "give the label of the worst answer and that of the best: --scale 1,5"
        )
    return Scale(f"numbers from {low:g} (worst) to {high:g}", low, high, cut=0.5 + 1e-9, graded=True)


def scale_of(labels: Sequence[Label], metric: BaseMetric) -> Scale:
    """The scale that these labels are on: words of the metric, yes and no, 0 and 1, -2 to 2, or shares.

    Raises:
        ConfigError: The scale of the numbers is unknown.
    """
    numbers = {label for label in labels if isinstance(label, float)}
    if not numbers:
        return _scale_of_words({label for label in labels if isinstance(label, str)}, metric)
    if numbers <= {0.0, 1.0}:
        return Scale("0 and 1")
    if all(0 <= number <= 1 for number in numbers):
        return Scale("shares from 0 to 1", graded=True)
    if numbers <= _GRADES:
        return Scale("-2 to 2", -2.0, 2.0, cut=0.75, graded=True)
    raise ConfigError(
        f"labels from {min(numbers):g} to {max(numbers):g}: it is not stated which of them is good",
        "give the label of the worst answer and that of the best: --scale 1,5",
    )


def _scale_of_words(labels: Set[str], metric: BaseMetric) -> Scale:
    low, high, scale = metric.low or 0.0, metric.high or 1.0, dict(getattr(metric, "scale", {}))
    own = {label.casefold().replace(" ", "_"): (value - low) / (high - low) for label, value in scale.items()}
    if own and labels - _UNDECIDED <= own.keys():
        return Scale(", ".join(own), values=own, levels=frozenset(own.values()))
    return Scale("yes and no", values={**_YES_AND_NO, **own})
