"""What a run measures: questions with the answers and verdicts that are there already, and what it will be saved as."""

import pickle
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path
from secrets import token_hex
from typing import Any, TypeVar

from pydantic_core import from_json

from evals.client.spec import ServerSpec
from evals.config import EvalConfig
from evals.datasets.base import LoadOptions
from evals.datasets.file import load_file
from evals.datasets.registry import check_name, get_loader, parse_name
from evals.errors import ConfigError, DatasetError
from evals.schemas.base import unchecked
from evals.schemas.dataset import DatasetFingerprint, Document, EvalDataset, EvalQuestion
from evals.schemas.response import EvalResponse, ServerRecord
from evals.schemas.results import EvalRecord, EvalRun
from evals.schemas.verdicts import JudgeRecord, JudgeVerdict
from evals.scoring.notes import package_versions
from evals.scoring.repeats import at_levels, repeated
from evals.scoring.run_columns import REPEAT_OF, check_cluster
from evals.store.disk_buffer import Chosen, DiskBuffer, DiskList, Packer, SpilledMapping
from evals.store.journal import Journal
from evals.text.numbers import counted

T = TypeVar("T")

# The questions of a run, with their corpora.


SHARD = "this is shard"
"""How the note of a run begins that asks a part of the questions."""


@dataclass(frozen=True, slots=True)
class RunDataset:
    """The questions of all datasets, which may lie on disk to be read one at a time, with their corpora."""

    questions: Sequence[EvalQuestion] = field(default_factory=list)
    documents: list[Document] = field(default_factory=list)
    fingerprints: list[DatasetFingerprint] = field(default_factory=list)


def load_workload(config: EvalConfig, answers: Path | None = None) -> RunDataset:
    """Load the questions and corpora that the configuration names.

    Args:
        config: Of the run.
        answers: The file of the answers that are scored; it may be the file of the questions too.

    Raises:
        DatasetError: They cannot be had or read.
        ConfigError: Two have one id, or none has the key that they are clustered by.
    """
    sets = _load(config, answers)
    questions: Sequence[EvalQuestion] = sets[0].questions
    if len(sets) > 1 or not isinstance(questions, DiskList):
        questions = DiskList(EvalQuestion, chain.from_iterable(one.questions for one in sets), config.runs_dir)
    if not questions:
        raise DatasetError("the datasets hold no questions")
    check_cluster(config.cluster, questions)
    questions = _asked(questions, config)
    documents = {document.id: document for dataset in sets for document in dataset.documents}
    return RunDataset(questions, list(documents.values()), [dataset.fingerprint for dataset in sets])


def _asked(questions: Sequence[EvalQuestion], config: EvalConfig) -> Sequence[EvalQuestion]:
    """The questions as often as each is asked, and those of a shard."""

    def on_disk(some: Iterable[EvalQuestion]) -> Sequence[EvalQuestion]:
        return DiskList(EvalQuestion, some, config.runs_dir)

    if config.repeats > 1:
        questions = on_disk(repeated(questions, config.repeats))
    if config.load:
        questions = on_disk(at_levels(questions, config.load))
    if config.dataset_file is None or config.repeats > 1 or config.load:  # in one file each id was seen to stand once
        _check_unique(questions)
    return questions if config.shard is None else on_disk(_part(questions, config))


def _part(questions: Sequence[EvalQuestion], config: EvalConfig) -> Iterator[EvalQuestion]:
    """Every so manieth question: parts of a sorted file are alike."""
    number, count = config.part
    if len(questions) < number:
        there = counted(len(questions), "question")
        raise DatasetError(f"shard {config.shard} holds no question: the datasets have {there}")
    return islice(questions, number - 1, None, count)


def _load(config: EvalConfig, answers: Path | None) -> list[EvalDataset]:
    everything = LoadOptions(
        config.samples_per_dataset,
        config.seed,
        data_dir=config.data_dir,
        columns=config.columns,
        answered=is_file_of_questions(answers, config),
        scratch=config.runs_dir,
    )
    if config.dataset_file:
        return [load_file(config.dataset_file, everything)]
    sets = []
    for name in dict.fromkeys(config.dataset_names):
        check_name(name)
        base, chosen = parse_name(name)
        sets.append(get_loader(base).load(replace(everything, config=chosen)))
    return sets


def is_file_of_questions(answers: Path | None, config: EvalConfig) -> bool:
    """Whether the file of the answers is the file of the questions."""
    questions = config.dataset_file
    return answers is not None and questions is not None and answers.resolve() == questions.resolve()


def check_conversations(spec: ServerSpec, questions: Iterable[EvalQuestion]) -> None:
    """Stop where a server would see the turns of a conversation as questions that have nothing to do with each other.

    Raises:
        ConfigError: There are turns, and the profile does not say how they are carried.
    """
    if spec.carries_conversations:
        return
    first = next((question.id for question in questions if question.turns), None)
    if first is not None:
        raise ConfigError(
            f"question {first} has turns, and server.ask carries no conversation",
            'put "{{messages}}", or {{session_id}} with server.session, where the server expects it (docs/profiles.md)',
        )


def _check_unique(questions: Iterable[EvalQuestion]) -> None:
    seen: dict[str, str] = {}
    for question in questions:
        if question.id in seen:
            asked_again = question.metadata.get(REPEAT_OF)
            if asked_again not in (None, question.id):  # the file has an id that was made by asking again
                raise ConfigError(
                    f"question id {question.id!r} is in {question.dataset!r}, and is what question {asked_again!r} is "
                    "called when it is asked again",
                    "change one of the two ids, or leave --repeats out, or several levels of load",
                )
            raise ConfigError(
                f"question id {question.id!r} is in {seen[question.id]!r} and in {question.dataset!r}",
                "run the two datasets apart, or change the ids of one",
            )
        seen[question.id] = question.dataset


def new_run(
    config: EvalConfig, server: ServerRecord, datasets: Iterable[str], /, count: int, name: str = "", **fields: Any
) -> EvalRun:
    """A run before anything of it was measured.

    Args:
        config: Of the run.
        server: Who answers.
        datasets: Their names.
        count: How many questions there are.
        name: Where the configuration has none; "eval-<id>" where this is empty.
        fields: What else is known of it.
    """
    run_id = fields.pop("id", None) or token_hex(4)
    return EvalRun(
        id=run_id,
        name=config.name or name or f"eval-{run_id}",
        created_at=datetime.now(UTC).replace(microsecond=0),
        datasets=list(datasets),
        question_count=count,
        eval_config=config.as_written(),
        server=server,
        seed=config.seed,
        package_versions=package_versions(),
        **fields,
    )


@dataclass(frozen=True, slots=True)
class RunPlan:
    """What is to be measured.

    Questions and answers may lie on disk, to be read one at a time (`evals.store.disk_buffer`).

    Attributes:
        run: The run that it will make, as far as it is known.
        questions: All of it.
        responses: By question, those that are there already; asking adds to them.
        documents: The corpus, where it is at hand: it tells how large chunks may be.
        verdicts: What the judge said of them in this run before it was resumed.
        free: What saved runs hold of a judge, by question: a reply that fits is not paid for again.
        before: The judge of the run that is continued.
        journal: The log of the run that is continued, which this process has locked; who measures closes it.
        usage_needs_concurrency: Above this concurrency the server's token counts mix.
        chunks_path: Where the profile looks for chunks in an answer; None where they come another way.
        notes: Remarks for the reader, apart from those that the answers give reason for.
        way_on: What to do where the judge ends the work early.
        lacks: What was lost of the answers before they were measured, so that the run is partial.
        cut_short: Whether anything else was left undone before.
        before_s: Seconds spent on it by processes that were killed, in addition to those in `run.duration_s`.
    """

    run: EvalRun
    questions: Sequence[EvalQuestion]
    responses: MutableMapping[str, EvalResponse] = field(default_factory=dict)
    documents: Sequence[Document] = ()
    verdicts: Mapping[str, Sequence[JudgeVerdict]] = field(default_factory=dict)
    free: Mapping[str, Sequence[JudgeVerdict]] = field(default_factory=dict)
    before: JudgeRecord | None = None
    journal: Journal | None = None
    usage_needs_concurrency: int | None = None
    chunks_path: str | None = None
    notes: Sequence[str] = ()
    way_on: str = ""
    lacks: str | None = None
    cut_short: bool = False
    before_s: float = 0.0

    @property
    def there(self) -> Iterator[EvalQuestion]:
        """The questions that were asked already, with whatever outcome."""
        if not self.responses:
            return iter(())  # as at the begin of most runs, whose questions need not be read for it
        return (question for question in self.questions if question.id in self.responses)

    @property
    def answered(self) -> Sequence[EvalQuestion]:
        """The questions that have an answer."""
        there = (n for n, one in enumerate(self.questions) if one.id in self.responses)
        return Chosen(self.questions, (n for n in there if self.responses[self.questions[n].id].error is None))


class LazyMapping(Mapping[str, T]):
    """Values by key, each made when it is asked for.

    Args:
        keys: All of them.
        make: The value of a key.
    """

    def __init__(self, keys: Collection[str], make: Callable[[str], T]) -> None:
        self._keys = keys
        self._make = make

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __getitem__(self, key: str) -> T:
        if key not in self._keys:
            raise KeyError(key)
        return self._make(key)


class RunRecords(Sequence[EvalRecord]):
    """All questions of a run with what happened to them; none is held.

    Args:
        work: Questions and answers.
        verdicts: What the judge said, by question.
    """

    def __init__(self, work: RunPlan, verdicts: Mapping[str, Sequence[JudgeVerdict]]) -> None:
        self._work = work
        self._verdicts = verdicts

    def __len__(self) -> int:
        return len(self._work.questions)

    def __getitem__(self, place: int) -> EvalRecord:  # type: ignore[override]  # no slices
        question = self._work.questions[place]
        fields = {
            "question": question,
            "response": self._work.responses.get(question.id),
            "scores": [],
            "verdicts": list(self._verdicts.get(question.id, ())),
        }
        return unchecked(EvalRecord, fields)

    def packed(self, place: int) -> "PackedRecord":
        """A record as it is sent to another process, which reads it: this one need not, where it lies on disk."""
        questions, responses = self._work.questions, self._work.responses
        question = questions.packed(place) if isinstance(questions, DiskBuffer) else pickle.dumps(questions[place])
        key = from_json(question)["id"] if question.startswith(b"{") else questions[place].id
        if key not in responses:
            response = None
        else:
            response = responses.packed(key) if isinstance(responses, SpilledMapping) else pickle.dumps(responses[key])
        return question, response, self._verdicts.get(key, ())


PackedRecord = tuple[bytes, bytes | None, Sequence[JudgeVerdict]]
"""Question, answer and verdicts of a record, the first two as a `Packer` writes them."""


class RecordUnpacker:
    """Reads records that were packed."""

    def __init__(self) -> None:
        self._questions: Packer[EvalQuestion] = Packer(EvalQuestion)
        self._responses: Packer[EvalResponse] = Packer(EvalResponse)

    def unpack(self, packed: PackedRecord) -> EvalRecord:
        """The record."""
        question, response, verdicts = packed
        fields = {
            "question": self._questions.unpack(question),
            "response": None if response is None else self._responses.unpack(response),
            "scores": [],
            "verdicts": list(verdicts),
        }
        return unchecked(EvalRecord, fields)
