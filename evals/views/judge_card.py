"""What a report says of its judge: how it fares against people's labels, and means without its bias."""

from collections.abc import Iterator

from evals.schemas import EvalRun
from evals.schemas.calibration import CorrectedMean, Figure, JudgeCard
from evals.schemas.verdicts import JudgeRecord
from evals.views.formatting import number

_METHODS = {"prediction-powered": "prediction-powered", "rogan-gladen": "Rogan-Gladen"}


def ratio(figure: Figure) -> str:
    """A figure with two decimals; a dash for none."""
    return "–" if figure.value is None else f"{figure.value:.2f}"


def bracketed(figure: Figure) -> str:
    """A figure with its interval: 0.91 [0.86, 0.95]."""
    if figure.value is None or figure.ci is None:
        return ratio(figure)
    return f"{ratio(figure)} [{figure.ci[0]:.2f}, {figure.ci[1]:.2f}]"


def card_lines(run: EvalRun) -> Iterator[str]:
    """The judge's card of a run: a line for each metric that it was calibrated by, one for all others, and length."""
    if run.judge is None:
        return
    cards = run.judge.cards
    for name, card in cards.items():
        if card is not None:
            yield f"{name}: {_calibrated(card)}"
            yield from _corrected(run, name)
    never = [name for name, card in cards.items() if card is None]
    if never:
        yield f"never calibrated: {', '.join(never)}"
    yield from _length(run.judge)


def _length(judge: JudgeRecord) -> Iterator[str]:
    """How far scores follow the length of answers."""
    found = judge.length_correlations.items()
    told = [f"{name} {bracketed(figure)}" for name, figure in found if figure.value is not None]
    if told:
        yield f"correlation of score and length of the answer (Spearman): {', '.join(told)}"


def _calibrated(card: JudgeCard) -> str:
    figures = (("sensitivity", card.sensitivity), ("specificity", card.specificity), ("kappa", card.kappa))
    told = ", ".join(f"{title} {bracketed(figure)}" for title, figure in figures)
    return f"calibrated on {card.labels} labels, {card.created_at:%Y-%m-%d}: {told}"


def _corrected(run: EvalRun, name: str) -> Iterator[str]:
    summary = run.scorecard.find(name)
    if summary is None:
        return
    for mean in summary.corrected:
        yield f"{name}: {number(summary.value, summary.unit)} by the judge, {_mean(mean, summary.unit)}"


def _mean(mean: CorrectedMean, unit: str) -> str:
    low, high = (number(end, unit) for end in mean.ci)
    return f"{number(mean.value, unit)} [{low}, {high}] corrected ({_METHODS[mean.method]})"
