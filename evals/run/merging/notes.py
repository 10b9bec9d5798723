"""What a reader of a merged run must know: what holds for all shards is said once, the rest with the shard's number."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from evals.judges.backends.base import Identity
from evals.judges.record import NOTE, VerdictTally
from evals.run.asking import CHANGED, STOPPED
from evals.run.judging import note_on_failures, note_on_family
from evals.run.merging.shards import Shard
from evals.run.resume import WIDTHS
from evals.run.unfound import UNFOUND
from evals.run.workload import SHARD
from evals.scoring.gathered.notes import DISPUTED, MATCHING
from evals.scoring.judged.losses import LOSSES

_ANEW = (NOTE, DISPUTED, UNFOUND, MATCHING, LOSSES, SHARD, WIDTHS, STOPPED, CHANGED)
"""How notes begin that are made anew of all records, or mean nothing of the whole."""


def notes_on_the_way(shards: Sequence[Shard], usage_limit: int | None) -> list[str]:
    """What shards say of how they were asked, without what their answers gave reason to say: that is said of all.

    Args:
        shards: All, with what their answers give reason to say.
        usage_limit: Above this concurrency the server's token counts mix; None where that does not matter.
    """
    said = {shard.part: _own(shard, usage_limit) for shard in shards}
    everywhere = [note for note in said[shards[0].part] if all(note in notes for notes in said.values())]
    rest = [f"shard {part}: {note}" for part, notes in said.items() for note in notes if note not in everywhere]
    return [*everywhere, *rest]


def _own(shard: Shard, usage_limit: int | None) -> list[str]:
    of_answers = shard.answers.notes(concurrency=shard.run.concurrency, usage_limit=usage_limit)
    return [note for note in shard.run.notes if not note.startswith(_ANEW) and note not in of_answers]


def why_stopped(shards: Sequence[Shard]) -> str | None:
    """Why asking ended early, where it did."""
    stopped = [shard for shard in shards if shard.run.outcomes.stopped]
    if len(shards) == 1:
        return shards[0].run.outcomes.stopped
    return "; ".join(f"shard {shard.part}: {shard.run.outcomes.stopped}" for shard in stopped) or None


def failed_too_often(tally: VerdictTally, max_error_rate: float) -> bool:
    """Whether more of a judge's decisions are lost than may be."""
    lost, total = tally.failed
    return lost > max_error_rate * total


def notes_on_judging(
    shards: Sequence[Shard],
    tally: VerdictTally,
    judge: Identity,
    *,
    prevented: int,
    max_error_rate: float,
    config: Mapping[str, Any],
) -> list[str]:
    """What a reader of judged numbers must know.

    Args:
        shards: All, with what their verdicts give reason to say.
        tally: Of all verdicts.
        judge: Who judged.
        prevented: Decisions that the budgets did not allow.
        max_error_rate: The run is partial where more of the decisions are lost.
        config: The server's configuration, as it says itself.
    """
    lost = [note_on_failures(max_error_rate)]
    family = note_on_family(judge.model, config)
    made = [*tally.notes(judge, prevented=prevented), *(lost if failed_too_often(tally, max_error_rate) else [])]
    remarks = chain.from_iterable(_remarks(shard, judge, {*lost, *family}) for shard in shards)
    return [*made, *dict.fromkeys(remarks), *family]


def _remarks(shard: Shard, judge: Identity, others: set[str]) -> Iterator[str]:
    """What a shard says of its judge that follows from no verdict, such as what the vendor sent on the way."""
    prevented = shard.run.judge.prevented if shard.run.judge else 0
    known = {*shard.verdicts.notes(judge, prevented=prevented), *others}
    return (note for note in shard.run.notes if note.startswith(NOTE) and note not in known)
