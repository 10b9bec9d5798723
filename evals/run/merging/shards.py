"""A saved run as a shard, and the files of all of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from evals.config import EvalConfig
from evals.errors import ConfigError
from evals.judges.record import VerdictTally
from evals.schemas import EvalRun
from evals.scoring.gathered.notes import AnswerNotes
from evals.store.record_file import RecordFile
from evals.store.runs import RunStore


@dataclass(frozen=True, slots=True)
class Shard:
    """A run that asked a part of the questions, with what its own records give reason to say.

    Attributes:
        run: As it is saved.
        number: Which part it asked, from 1.
        count: How many parts there are.
        answers: What its answers give reason to say, as they pass by.
        verdicts: The same of its judge.
    """

    run: EvalRun
    number: int
    count: int
    answers: AnswerNotes = field(default_factory=AnswerNotes)
    verdicts: VerdictTally = field(default_factory=VerdictTally)

    @property
    def part(self) -> str:
        """As it is given to --shard: 2/7."""
        return f"{self.number}/{self.count}"

    def __str__(self) -> str:
        return f"shard {self.part} (run {self.run.id})"


def shard_of(run: EvalRun) -> Shard:
    """The shard that a run is.

    Raises:
        ConfigError: It asked all questions of its configuration.
    """
    config = EvalConfig.build(run.eval_config)
    if config.shard is None:
        raise ConfigError(f"run {run.id} is no shard: it asked all questions", "name runs that were made with --shard")
    return Shard(run, *config.part)


def in_their_order(runs: Sequence[EvalRun]) -> list[Shard]:
    """The shards that these runs are, the first one first.

    Raises:
        ConfigError: One is no shard, is of another number of shards, was given twice, or is missing.
    """
    shards = sorted(map(shard_of, runs), key=lambda shard: shard.number)
    first, there = shards[0], dict[int, Shard]()
    for shard in shards:
        if shard.count != first.count:
            raise ConfigError(f"{first} and {shard} are not of one run", "name the shards of one and the same number")
        if shard.number in there:
            raise ConfigError(
                f"shard {shard.part} was given twice: run {there[shard.number].run.id} and run {shard.run.id}",
                "name one run for each shard",
            )
        there[shard.number] = shard
    missing = [f"{number}/{first.count}" for number in range(1, first.count + 1) if number not in there]
    if missing:
        named = ", ".join(missing[:10]) + (", …" if len(missing) > 10 else "")
        raise ConfigError(
            f"{len(missing)} of {first.count} shards {'is' if len(missing) == 1 else 'are'} missing: {named}",
            f"name their runs too, or ask: the same command with --shard {missing[0]}",
        )
    return shards


def open_files(shards: Sequence[Shard]) -> list[RecordFile]:
    """The records of the shards, which stand beside the files of the runs.

    Raises:
        ConfigError: One is not there.
        StoreError: One is damaged before its last line.
    """
    return [_open(shard) for shard in shards]


def _open(shard: Shard) -> RecordFile:
    path = shard.run.path
    if path is None:
        raise ConfigError(f"{shard} is in no folder", "load it with RunStore(folder).load(id)")
    records = path.with_name(f"{path.stem}.records.jsonl")
    if not records.exists():
        raise ConfigError(f"{shard} has no records: {records} is missing", "copy the two files of a run together")
    return RunStore(path.parent).open_records(shard.run)
