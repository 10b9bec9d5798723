"""What a run records about its judge: sums and notes, computed from verdicts alone."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from evals.judges.backends.base import Identity
from evals.judges.spending import spending_of
from evals.schemas import JudgeVerdict
from evals.schemas.verdicts import JudgeRecord

NOTE = "the judge's"
"""How every note of a run about its judge begins; a resumed run drops these and writes them anew."""

Verdicts = Mapping[str, Sequence[JudgeVerdict]]
"""By question."""

_DATE = re.compile(r"[-@:]?(?:20\d\d-?[01]\d-?[0-3]\d|latest)")


def make_record(judge: Identity, repeats: int, verdicts: Verdicts, *, prevented: int) -> JudgeRecord:
    """The judge as it is saved with the run.

    Args:
        judge: Who judged.
        repeats: How often each decision was to be made.
        verdicts: All that the run has, by question.
        prevented: Decisions that the budget did not allow.
    """
    every = list(chain.from_iterable(verdicts.values()))
    spent = spending_of(every)
    cost = spent.known_cost_usd
    judged = sum(bool(found) for found in verdicts.values())
    saved = [verdict.saved_usd for verdict in every if verdict.saved_usd is not None]
    return JudgeRecord(
        model=judge.model,
        origin=judge.origin,
        prompt_hashes={v.request: v.prompt_hash for v in sorted(every, key=_request) if v.prompt_hash},
        repeats=repeats,
        calls=spent.calls,
        cached=sum(verdict.cached for verdict in every),
        usage=spent.usage,
        cost_usd=cost,
        unpriced=spent.unpriced,
        saved_usd=sum(saved) if saved else None,
        prevented=prevented,
        cost_per_query_usd=cost / judged if cost is not None and judged else None,
        flip_rate=flip_rate(verdicts) if repeats > 1 else None,
        injections_suspected=_suspected(verdicts),
    )


def failed(verdicts: Verdicts) -> tuple[int, int]:
    """How many decisions failed, and of how many."""
    every = list(chain.from_iterable(verdicts.values()))
    return sum(verdict.failure is not None for verdict in every), len(every)


def flip_rate(verdicts: Verdicts) -> float | None:
    """On which share of the decisions the verdicts disagree, of those with at least two; None where there are none."""
    labels: dict[tuple[str, str], list[str]] = {}
    for question, found in verdicts.items():
        for verdict in found:
            label = _label(verdict)
            if label:
                labels.setdefault((question, verdict.request), []).append(label)
    repeated = [set(said) for said in labels.values() if len(said) > 1]
    return sum(len(different) > 1 for different in repeated) / len(repeated) if repeated else None


def notes_on_judging(judge: Identity, verdicts: Verdicts, *, prevented: int) -> list[str]:
    """What a reader of judged numbers must know; each begins with `NOTE`."""
    notes = []
    if prevented:
        notes.append(f"{NOTE} budget is spent: {prevented} decisions were not made")
    lost, total = failed(verdicts)
    every = list(chain.from_iterable(verdicts.values()))
    if lost:
        kinds = Counter(verdict.failure for verdict in every if verdict.failure)
        named = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
        notes.append(f"{NOTE} verdict is missing on {lost} of {total} decisions ({named}): see counts and bounds")
    suspected = _suspected(verdicts)
    if suspected:
        notes.append(
            f"{NOTE} data may speak to it: {suspected} questions hold text that speaks to the judge; look at them "
            "before trusting them"
        )
    others = sorted({v.model for v in every if v.model is not None and not _same_model(judge.model, v.model)})
    if others:
        names = ", ".join(name[:100] for name in others[:3])
        notes.append(f"{NOTE} replies name another model than {judge.model}, which was asked: {names}")
    spent = spending_of(every)
    if spent.unpriced and spent.known_cost_usd is not None:
        notes.append(f"{NOTE} cost is a lower bound: that of {spent.unpriced} of {spent.calls} calls is not known")
    return notes


def _same_model(asked: str, named: str) -> bool:
    """Whether the model that replied is the one asked for; a date at the end of its name does not count."""
    one, other = asked.casefold(), named.casefold()
    return one == other or (other.startswith(one) and _DATE.fullmatch(other[len(one) :]) is not None)


def _suspected(verdicts: Verdicts) -> int:
    return sum(any(verdict.injection_suspected for verdict in found) for found in verdicts.values())


def _request(verdict: JudgeVerdict) -> str:
    return verdict.request


def _label(verdict: JudgeVerdict) -> str:
    """What a verdict decided, for telling whether repeats agree; empty where it holds no decision."""
    return ",".join(sorted(_decisions(verdict.reply or {})))


def _decisions(part: Any, item: str = "") -> Iterator[str]:
    if isinstance(part, dict):
        item = f"{item}.{part['id']}" if "id" in part else item
        if "verdict" in part:
            yield f"{item}={part['verdict']}"
        for name, inner in part.items():
            yield from _decisions(inner, f"{item}.{name}")
    elif isinstance(part, list):
        for inner in part:
            yield from _decisions(inner, item)
