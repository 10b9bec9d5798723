"""What a run records about its judge: sums and notes, computed from verdicts alone."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from operator import attrgetter
from statistics import fmean

from evals.judges.backends.base import Identity
from evals.judges.flips import flip_rates
from evals.judges.replies.evidence import items_judged, withdrawn_items
from evals.judges.spending import spending_of
from evals.schemas import JudgeVerdict
from evals.schemas.verdicts import CallSizes, JudgeRecord, JudgeSpending
from evals.text.counts import agree, counted, share

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
    every = _all(verdicts)
    spent = spending_of(every)
    flips = flip_rates(verdicts) if repeats > 1 else {}
    return JudgeRecord(
        model=judge.model,
        origin=judge.origin,
        effort=judge.effort,
        prompt_hashes=_prompt_hashes(every),
        repeats=repeats,
        calls=spent.calls,
        cached=sum(verdict.cached for verdict in every),
        usage=spent.usage,
        cost_usd=spent.known_cost_usd,
        unpriced=spent.unpriced,
        saved_usd=_saved_usd(every),
        prevented=prevented,
        cost_per_query_usd=_cost_per_query(spent, verdicts),
        flip_rate=fmean(flips.values()) if flips else None,
        flip_rates=flips,
        sizes=_sizes(every),
        injections_suspected=_suspected(verdicts),
    )


def failed(verdicts: Verdicts) -> tuple[int, int]:
    """How many decisions failed, and of how many."""
    every = _all(verdicts)
    return sum(verdict.failure is not None for verdict in every), len(every)


def notes_on_judging(judge: Identity, verdicts: Verdicts, *, prevented: int) -> list[str]:
    """What a reader of judged numbers must know; each begins with `NOTE`."""
    every = _all(verdicts)
    notes = [
        f"budget is spent: {counted(prevented, 'decision', 'was')} not made" if prevented else None,
        _note_on_failures(every),
        _note_on_too_long(every),
        _note_on_quotations(every),
        _note_on_injections(verdicts),
        _note_on_other_models(judge, every),
        _note_on_unknown_cost(spending_of(every)),
    ]
    return [f"{NOTE} {note}" for note in notes if note]


def _note_on_failures(every: Sequence[JudgeVerdict]) -> str | None:
    kinds = Counter(verdict.failure for verdict in every if verdict.failure)
    if not kinds:
        return None
    named = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    return f"verdict is missing on {share(kinds.total(), len(every), 'decision')} ({named}): see counts and bounds"


def _note_on_too_long(every: Sequence[JudgeVerdict]) -> str | None:
    long = sum(verdict.failure == "too_long" for verdict in every)
    if not long:
        return None
    return (
        f"requests are too long for {counted(long, 'decision')}: raise judge.max_input_tokens to have "
        f"{agree(long, 'it', 'them')} made, where the message of the verdict names it; what is lost so is not lost at "
        "random, and values lean towards shorter answers and passages"
    )


def _note_on_quotations(every: Sequence[JudgeVerdict]) -> str | None:
    replies = [verdict.reply for verdict in every if verdict.reply is not None]
    lost = sum(map(withdrawn_items, replies))
    if not lost:
        return None
    items = share(lost, sum(map(items_judged, replies)), "item")
    return f"quotation was not found for {items}: {agree(lost, 'it counts', 'they count')} as cannot_tell"


def _note_on_injections(verdicts: Verdicts) -> str | None:
    suspected = _suspected(verdicts)
    if not suspected:
        return None
    them = agree(suspected, "it", "them")
    return (
        f"data may speak to it: {counted(suspected, 'question', 'holds')} text that speaks to the judge; "
        f"look at {them} before trusting {them}"
    )


def _note_on_other_models(judge: Identity, every: Sequence[JudgeVerdict]) -> str | None:
    replied = {verdict.model for verdict in every if verdict.model is not None}
    others = sorted(model for model in replied if not _same_model(judge.model, model))
    if not others:
        return None
    names = ", ".join(name[:100] for name in others[:3])
    return f"replies name another model than {judge.model}, which was asked: {names}"


def _note_on_unknown_cost(spent: JudgeSpending) -> str | None:
    if not spent.unpriced or spent.known_cost_usd is None:
        return None
    return f"cost is a lower bound: that of {share(spent.unpriced, spent.calls, 'call')} is not known"


def _same_model(asked: str, named: str) -> bool:
    """Whether the model that replied is the one asked for; a date at the end of its name does not count."""
    one, other = asked.casefold(), named.casefold()
    return one == other or (other.startswith(one) and _DATE.fullmatch(other[len(one) :]) is not None)


def _suspected(verdicts: Verdicts) -> int:
    return sum(any(verdict.injection_suspected for verdict in found) for found in verdicts.values())


def _all(verdicts: Verdicts) -> list[JudgeVerdict]:
    return list(chain.from_iterable(verdicts.values()))


def _prompt_hashes(every: Sequence[JudgeVerdict]) -> dict[str, str]:
    by_request = sorted(every, key=attrgetter("request"))
    return {verdict.inquiry: verdict.prompt_hash for verdict in by_request if verdict.prompt_hash}


def _sizes(every: Sequence[JudgeVerdict]) -> dict[str, CallSizes]:
    """What calls took, by request; of the calls by several versions of its prompt, those by one."""
    found: dict[str, CallSizes] = {}
    for verdict in every:
        if verdict.usage is None or not verdict.counted:
            continue
        sizes = CallSizes(
            prompt_hash=verdict.prompt_hash,
            calls=verdict.counted,
            characters=verdict.characters,
            usage=verdict.usage,
        )
        known = found.get(verdict.inquiry)
        if known is None or known.prompt_hash == sizes.prompt_hash:
            found[verdict.inquiry] = sizes if known is None else known + sizes
    return found


def _saved_usd(every: Sequence[JudgeVerdict]) -> float | None:
    saved = [verdict.saved_usd for verdict in every if verdict.saved_usd is not None]
    return sum(saved) if saved else None


def _cost_per_query(spent: JudgeSpending, verdicts: Verdicts) -> float | None:
    """The cost for a question with verdicts; None where no cost is known, or no question has one."""
    judged = sum(bool(found) for found in verdicts.values())
    cost = spent.known_cost_usd
    return cost / judged if cost is not None and judged else None
