"""The questions of a run, with their corpora."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from evals.config import EvalConfig
from evals.datasets.base import LoadOptions
from evals.datasets.file import load_file
from evals.datasets.registry import check_name, get_loader, parse_name
from evals.errors import ConfigError, DatasetError
from evals.schemas import DatasetFingerprint, Document, EvalDataset, EvalQuestion
from evals.scoring.clusters import check_cluster
from evals.text.counts import counted


@dataclass(frozen=True, slots=True)
class Workload:
    """The questions of all datasets, with their corpora."""

    questions: list[EvalQuestion] = field(default_factory=list)
    documents: list[Document] = field(default_factory=list)
    fingerprints: list[DatasetFingerprint] = field(default_factory=list)


def load_workload(config: EvalConfig) -> Workload:
    """Load the questions and corpora that the configuration names.

    Raises:
        DatasetError: They cannot be had or read.
        ConfigError: Two have one id, or none has the key that they are clustered by.
    """
    sets = _load(config)
    workload = Workload(
        questions=[question for dataset in sets for question in dataset.questions],
        documents=list({document.id: document for dataset in sets for document in dataset.documents}.values()),
        fingerprints=[dataset.fingerprint for dataset in sets],
    )
    if not workload.questions:
        raise DatasetError("the datasets hold no questions")
    _check_unique(workload.questions)
    check_cluster(config.cluster, workload.questions)
    return replace(workload, questions=_part(workload.questions, *config.part))


def _part(questions: list[EvalQuestion], number: int, count: int) -> list[EvalQuestion]:
    """Every so manieth question: parts of a sorted file are alike.

    Raises:
        DatasetError: There are fewer questions than parts.
    """
    part = questions[number - 1 :: count]
    if not part:
        raise DatasetError(
            f"shard {number}/{count} holds no question: the datasets have {counted(len(questions), 'question')}"
        )
    return part


def _load(config: EvalConfig) -> list[EvalDataset]:
    everything = LoadOptions(config.samples_per_dataset, config.seed, data_dir=config.data_dir, columns=config.columns)
    if config.dataset_file:
        return [load_file(config.dataset_file, everything)]
    sets = []
    for name in dict.fromkeys(config.dataset_names):
        check_name(name)
        base, chosen = parse_name(name)
        sets.append(get_loader(base).load(replace(everything, config=chosen)))
    return sets


def _check_unique(questions: Sequence[EvalQuestion]) -> None:
    seen: dict[str, str] = {}
    for question in questions:
        if question.id in seen:
            raise ConfigError(
                f"question id {question.id!r} is in {seen[question.id]!r} and in {question.dataset!r}",
                "run the two datasets apart, or change the ids of one",
            )
        seen[question.id] = question.dataset
