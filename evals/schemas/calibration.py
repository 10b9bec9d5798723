"""Calibration of a judge by people's labels, as it is saved and shown with runs of the same judge."""

from pydantic import AwareDatetime, ConfigDict, Field

from evals.schemas.base import Finite, Record

Share = Field(ge=0, le=1)


class _Card(Record):
    model_config = ConfigDict(extra="ignore")  # keys of former versions


class Figure(Record):
    """A number with its interval, or the reason why there is none."""

    value: Finite | None = None
    ci: tuple[Finite, Finite] | None = None
    """None where it cannot be told."""
    n: int = 0
    """Over how many labels."""
    reason: str | None = None


class Agreement(_Card):
    """How far a judge agrees with people; docs/calibrate.md defines each figure."""

    agreement: Figure = Figure()
    """The share of answers that both give the same label."""
    kappa: Figure = Figure()
    sensitivity: Figure = Figure()
    """Of the answers that people call good, the share that the judge does."""
    specificity: Figure = Figure()
    """Of those that they do not, the share that the judge does not either."""


class Disagreement(Record):
    """An answer to which judge and people give different labels."""

    id: str
    """Of the question, with a number where several answers to it are labelled."""
    label: str
    """People's."""
    judged: str
    """The judge's."""
    quote: str | None = None
    """What the judge quotes or says for it; not kept in the file."""


class LabelledAnswer(_Card):
    """An answer with people's label and the judge's score, both from 0 to 1; its texts are not kept."""

    id: str
    label: Finite = Share
    score: Finite | None = None
    """None where the metric has no value."""


class Calibration(_Card):
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
    confusion: dict[str, dict[str, int]] = {}
    """By people's label, how often the judge gave which."""
    disagreements: list[Disagreement] = []
    answers: list[LabelledAnswer]


class JudgeCard(_Card):
    """The calibration of a judge as reports show it."""

    labels: int
    created_at: AwareDatetime
    agreement: Figure
    kappa: Figure
    sensitivity: Figure
    specificity: Figure
