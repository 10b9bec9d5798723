"""`evals stats`: what the datasets hold."""

from collections.abc import Sequence
from pathlib import Path
from statistics import median

from rich.table import Table

from evals.cli.flags import names_of, sample_count
from evals.cli.terminal.console import clean, console
from evals.config import EvalConfig
from evals.datasets.registry import list_available
from evals.errors import ConfigError, DatasetError
from evals.metrics.registry import select
from evals.run.workload import Workload, load_workload
from evals.schemas import EvalQuestion, MetricGroup

_COLUMNS = (
    "dataset", "questions", "answerable", "with\ngold", "golds\neach", "references", "documents", "words\neach",
)  # fmt: skip


def show_stats(datasets: str | None, samples: int, seed: int, data_dir: Path | None, dataset_file: Path | None) -> None:
    """Print a row a dataset; one that cannot be loaded says why and does not stop the others.

    Raises:
        ConfigError: Both datasets and a file are named, no name is a name, or samples is below 0.
        DatasetError: Not one could be loaded.
    """
    table = Table(box=None, pad_edge=False, show_edge=False)
    for title in _COLUMNS:
        table.add_column(title, justify="left" if title == "dataset" else "right", overflow="fold", vertical="bottom")
    drawn = {"samples_per_dataset": sample_count(samples), "seed": seed, "data_dir": data_dir}
    problems, sources, sampled = [], [], False
    for name, keys in _named(datasets, dataset_file):
        config = EvalConfig.build(drawn, keys)
        try:
            workload = load_workload(config)
        except DatasetError as error:
            problems.append((name, error))
            continue
        table.add_row(*_row(name, workload))
        sources.append(_source(name, workload))
        sampled = sampled or len(workload.questions) == samples
    _print_found(table, sources, samples if sampled else None)
    for name, problem in problems:
        console().print(clean(f"{name}: {problem.message}"), style="yellow")
    if not sources:
        raise problems[0][1]


def _named(datasets: str | None, dataset_file: Path | None) -> list[tuple[str, dict[str, object]]]:
    """What is to be loaded: each with its name and the keys that say so."""
    if datasets is not None and dataset_file is not None:
        raise ConfigError("--dataset-file and --datasets exclude each other")
    if dataset_file is not None:
        return [(dataset_file.stem, {"dataset_file": dataset_file})]
    names = list_available() if datasets is None else names_of(datasets, "--datasets")
    return [(name, {"datasets": [name]}) for name in names]


def _print_found(table: Table, sources: Sequence[str], sampled: int | None) -> None:
    """Print what was found, with how many questions were drawn where they are not all."""
    out = console()
    if sources:
        out.print(table)
    for source in sources:
        out.print(clean(source), style="dim")
    if sampled is not None:
        out.print(f"at most {sampled} questions of each dataset were drawn (--samples 0 for all)", style="dim")


def _row(name: str, workload: Workload) -> list[str]:
    questions = workload.questions
    known = [question.is_unanswerable for question in questions if question.is_unanswerable is not None]
    golds = [len(question.gold_passages) for question in questions if question.gold_passages]
    return [
        name,
        str(len(questions)),
        f"{known.count(False) / len(known):.0%}" if known else "not said",
        str(len(golds)),
        f"{sum(golds) / len(golds):.1f}" if golds else "–",
        str(sum(question.expected_answer is not None for question in questions)),
        str(len(workload.documents)),
        f"{median(len(document.text.split()) for document in workload.documents):.0f}" if workload.documents else "–",
    ]


def _source(name: str, workload: Workload) -> str:
    """Where the rows came from, what was left out of them, and what they feed."""
    (found,) = workload.fingerprints
    dropped = ", ".join(f"{count} × {reason}" for reason, count in found.dropped.items())
    left_out = f"; left out: {dropped}" if dropped else ""
    fed = ", ".join(_fed_groups(workload.questions)) or "no group of metrics"
    return f"{name}: from {found.source}{left_out}; feeds {fed}"


def _fed_groups(questions: list[EvalQuestion]) -> list[str]:
    """The groups with a metric of the core suite that applies to at least one question."""
    metrics = [metric for metric in select(["core"], []) if metric.group is not MetricGroup.PERFORMANCE]
    fed = {m.group for m in metrics if any(m.not_applicable_to(question) is None for question in questions)}
    return [group.value for group in MetricGroup if group in fed]
