"""Calibration of a judge by human labels, as it is saved and shown with runs of the same judge."""

from typing import Literal

from pydantic import AwareDatetime, Field

from evals.schemas.base import Finite, Record

Share = Field(ge=0, le=1)


class Figure(Record):
    """A number with its interval, or the reason why there is none."""

    value: Finite | None = None
    ci: tuple[Finite, Finite] | None = None
    """None where it cannot be told, as where judge and people agree on everything."""
    n: int = 0
    """Over how many labels."""
    reason: str | None = None


class Agreement(Record):
    """Statistics of agreement; docs/calibrate.md defines each."""

    agreement: Figure = Figure()
    """The share of answers that both give the same label."""
    kappa: Figure = Figure()
    ac1: Figure = Figure()
    sensitivity: Figure = Figure()
    """Of the answers that people call good, the share that the judge does."""
    specificity: Figure = Figure()
    """Of those that they do not, the share that the judge does not either."""
    auroc: Figure = Figure()
    pearson: Figure = Figure()
    spearman: Figure = Figure()
    kendall: Figure = Figure()


class Preference(Record):
    """Agreement on which of two answers is better: human preferences and the judge's scores."""

    pairs: int
    tied: int
    """Pairs that the judge gives one score."""
    agreement: Figure
    """Over the pairs on which people have a preference; where the judge has none, half a pair."""


class LabelledAnswer(Record):
    """An answer with people's label and the judge's score, both from 0 to 1; its texts are not kept."""

    id: str
    answer: str
    """Hash of question and answer, by which it is found again in a run."""
    cluster: str
    label: Finite = Share
    """The mean over annotators."""
    score: Finite | None = None
    """None where the metric has no value."""
    words: int = 0
    system: str | None = None


class Calibration(Record):
    """A judge's calibration by one metric, for this very model, effort and wording of the prompts."""

    metric: str
    model: str
    effort: str | None = None
    prompt_hashes: dict[str, str]
    origin: str
    created_at: AwareDatetime
    labels_from: list[str]
    """The files that the labels are from."""
    run: str
    """The run that holds the verdicts."""
    scale: str
    """How labels were read, in words."""
    label_cut: Finite
    """From here on a label counts as good."""
    score_cut: Finite
    """From here on a score does."""
    lost: int = 0
    """Labelled answers for which the metric has no value."""
    unlabelled: int = 0
    """Rows without a label, and those that could not be decided."""
    judge: Agreement
    annotators: Agreement | None = None
    """One annotator against another, over all pairs of them; None where one alone labelled."""
    always_the_same: Agreement
    """A reader who gives every answer the label that is most frequent."""
    length: Agreement
    """A reader who goes by the number of words alone."""
    preference: Preference | None = None
    label_mean: Figure
    score_mean: Figure
    """Of the judge, over the same answers."""
    answers: list[LabelledAnswer]


class JudgeCard(Record):
    """The calibration of a judge as reports show it."""

    labels: int
    created_at: AwareDatetime
    agreement: Figure
    kappa: Figure
    sensitivity: Figure
    specificity: Figure
    auroc: Figure


class CorrectedMean(Record):
    """A judged mean without the judge's bias, as far as labels tell it."""

    method: Literal["prediction-powered", "rogan-gladen"]
    value: Finite
    ci: tuple[Finite, Finite]
    labels: int
    """How many labelled answers it rests on."""
    others: int
    """How many answers of the run without one."""
    power: Finite | None = None
    """The weight of the judge (lambda), 0 to 1; None where the method has none."""
