"""The questions of a run, with their corpora."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path

from evals.client.spec import ServerSpec
from evals.config import EvalConfig
from evals.datasets.base import LoadOptions
from evals.datasets.file import load_file
from evals.datasets.registry import check_name, get_loader, parse_name
from evals.errors import ConfigError, DatasetError
from evals.schemas import DatasetFingerprint, Document, EvalDataset, EvalQuestion
from evals.scoring.clusters import REPEAT_OF, check_cluster
from evals.scoring.design.load import at_levels
from evals.scoring.design.repeats import repeated
from evals.store.spill import SpilledList
from evals.text.counts import counted

SHARD = "this is shard"
"""How the note of a run begins that asks a part of the questions."""


@dataclass(frozen=True, slots=True)
class Workload:
    """The questions of all datasets, which may lie on disk to be read one at a time, with their corpora."""

    questions: Sequence[EvalQuestion] = field(default_factory=list)
    documents: list[Document] = field(default_factory=list)
    fingerprints: list[DatasetFingerprint] = field(default_factory=list)


def load_workload(config: EvalConfig, answers: Path | None = None) -> Workload:
    """Load the questions and corpora that the configuration names.

    Args:
        config: Of the run.
        answers: The file of the answers that are scored; it may be the file of the questions too.

    Raises:
        DatasetError: They cannot be had or read.
        ConfigError: Two have one id, or none has the key that they are clustered by.
    """
    sets = _load(config, answers)
    workload = Workload(
        questions=_together(sets, config.runs_dir),
        documents=list({document.id: document for dataset in sets for document in dataset.documents}.values()),
        fingerprints=[dataset.fingerprint for dataset in sets],
    )
    if not workload.questions:
        raise DatasetError("the datasets hold no questions")
    check_cluster(config.cluster, workload.questions)
    if config.shard is not None:
        return _with_questions(workload, _part(workload.questions, *config.part), config)
    if config.repeats > 1:
        workload = _with_questions(workload, repeated(workload.questions, config.repeats), config)
    if config.load:
        workload = _with_questions(workload, at_levels(workload.questions, config.load), config)
    _check_unique(() if _is_one_file(config) else workload.questions)
    return workload


def _with_questions(workload: Workload, questions: Iterable[EvalQuestion], config: EvalConfig) -> Workload:
    return replace(workload, questions=SpilledList(EvalQuestion, questions, config.runs_dir))


def _together(sets: Sequence[EvalDataset], folder: Path) -> Sequence[EvalQuestion]:
    """The questions of all of them, on disk."""
    if len(sets) == 1 and isinstance(sets[0].questions, SpilledList):
        return sets[0].questions
    return SpilledList(EvalQuestion, chain.from_iterable(one.questions for one in sets), folder)


def _part(questions: Sequence[EvalQuestion], number: int, count: int) -> Iterator[EvalQuestion]:
    """Every so manieth question: parts of a sorted file are alike.

    Raises:
        DatasetError: There are fewer questions than parts.
    """
    if len(questions) < number:
        raise DatasetError(
            f"shard {number}/{count} holds no question: the datasets have {counted(len(questions), 'question')}"
        )
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


def _is_one_file(config: EvalConfig) -> bool:
    """Whether the questions are those of one file as they stand: there each id was seen to stand once."""
    return config.dataset_file is not None and config.repeats == 1 and not config.load


def _check_unique(questions: Iterable[EvalQuestion]) -> None:
    seen: dict[str, str] = {}
    for question in questions:
        if question.id in seen:
            _refuse_own(question)
            raise ConfigError(
                f"question id {question.id!r} is in {seen[question.id]!r} and in {question.dataset!r}",
                "run the two datasets apart, or change the ids of one",
            )
        seen[question.id] = question.dataset


def _refuse_own(question: EvalQuestion) -> None:
    """Stop where one id of two was made by asking a question again: the file has the same one."""
    asked_again = question.metadata.get(REPEAT_OF)
    if asked_again not in (None, question.id):
        raise ConfigError(
            f"question id {question.id!r} is in {question.dataset!r}, and is what question {asked_again!r} is called "
            "when it is asked again",
            "change one of the two ids, or leave --repeats out, or several levels of load",
        )
