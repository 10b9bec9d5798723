"""The questions of a run, with their documents, and the run before anything of it was measured."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path
from secrets import token_hex
from typing import Any

from evals.client.spec import ServerSpec
from evals.config import EvalConfig
from evals.datasets.base import LoadOptions
from evals.datasets.file import load_file
from evals.datasets.registry import check_name, get_loader, parse_name
from evals.errors import ConfigError, DatasetError
from evals.schemas.dataset import DatasetFingerprint, Document, EvalDataset, EvalQuestion
from evals.schemas.response import ServerRecord
from evals.schemas.results import EvalRun
from evals.scoring.notes import package_versions
from evals.scoring.repeats import repeated
from evals.scoring.results import REPEAT_OF, check_cluster
from evals.store.disk_list import DiskList
from evals.text.numbers import counted

SHARD = "this is shard"
"""How the note of a run begins that asks a part of the questions."""


@dataclass(frozen=True, slots=True)
class Workload:
    """The questions of all datasets, with their corpora."""

    questions: Sequence[EvalQuestion] = field(default_factory=list)
    """They may lie on disk."""
    documents: list[Document] = field(default_factory=list)
    fingerprints: list[DatasetFingerprint] = field(default_factory=list)


def load_workload(config: EvalConfig, answers: Path | None = None) -> Workload:
    """Load the questions and documents that the configuration names.

    Args:
        config: Of the run.
        answers: The file of the answers that are scored; it may be the file of the questions too.

    Raises:
        DatasetError: They cannot be loaded or read.
        ConfigError: Two have one id, or none has the key of `scoring.cluster`.
    """
    sets = _load(config, answers)
    questions: Sequence[EvalQuestion] = sets[0].questions
    if len(sets) > 1:
        questions = DiskList(chain.from_iterable(one.questions for one in sets), config.runs_dir)
    if not questions:
        raise DatasetError("the datasets hold no questions")
    check_cluster(config.scoring.cluster, questions)
    if config.repeats > 1:
        questions = DiskList(repeated(questions, config.repeats), config.runs_dir)
    _check_unique(questions)
    if config.shard is not None:
        questions = DiskList(_part(questions, config), config.runs_dir)
    documents = {document.id: document for dataset in sets for document in dataset.documents}
    return Workload(questions, list(documents.values()), [dataset.fingerprint for dataset in sets])


def _load(config: EvalConfig, answers: Path | None) -> list[EvalDataset]:
    options = LoadOptions(
        config.samples_per_dataset,
        config.seed,
        data_dir=config.data_dir,
        columns=config.columns,
        answered=is_file_of_questions(answers, config),
        scratch=config.runs_dir,
    )
    if config.dataset_file:
        return [load_file(config.dataset_file, options)]
    sets = []
    for name in dict.fromkeys(config.dataset_names):
        check_name(name)
        base, chosen = parse_name(name)
        sets.append(get_loader(base).load(replace(options, config=chosen)))
    return sets


def is_file_of_questions(answers: Path | None, config: EvalConfig) -> bool:
    """Whether the file of the answers is the file of the questions."""
    questions = config.dataset_file
    return answers is not None and questions is not None and answers.resolve() == questions.resolve()


def _part(questions: Sequence[EvalQuestion], config: EvalConfig) -> Iterator[EvalQuestion]:
    """Every n-th question: parts of a sorted file are alike."""
    number, count = config.part
    if len(questions) < number:
        held = counted(len(questions), "question")
        raise DatasetError(f"shard {config.shard} holds no question: the datasets have {held}")
    return islice(iter(questions), number - 1, None, count)


def _check_unique(questions: Iterable[EvalQuestion]) -> None:
    datasets: dict[str, str] = {}
    for question in questions:
        if question.id in datasets:
            repeats = question.metadata.get(REPEAT_OF) not in (None, question.id)
            raise ConfigError(
                f"question id {question.id!r} is in {datasets[question.id]!r} and in {question.dataset!r}"
                + (" (as the id of a repeated question)" if repeats else ""),
                "run the two datasets apart, or change one of the two ids",
            )
        datasets[question.id] = question.dataset


def check_conversations(spec: ServerSpec, questions: Iterable[EvalQuestion]) -> None:
    """Stop where a server would see the turns of a conversation as unrelated questions.

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


def new_run(
    config: EvalConfig, server: ServerRecord, datasets: Iterable[str], count: int, /, *, name: str = "", **fields: Any
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
