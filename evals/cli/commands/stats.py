"""`evals stats`: what the datasets hold."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from evals.cli.flags import names_of, sample_count
from evals.cli.terminal.console import DOUBTFUL, clean, console
from evals.config import EvalConfig
from evals.datasets.registry import list_available
from evals.errors import ConfigError, DatasetError
from evals.metrics.registry import select
from evals.run.workload import Workload, load_workload
from evals.schemas import EvalQuestion, MetricGroup
from evals.text.counts import counted
from evals.views.questions import left_out, questions_of

_COLUMNS = (
    "dataset", "questions", "answerable", "with\ngold", "golds\neach", "references", "documents", "words\neach",
)  # fmt: skip


def show_stats(
    datasets: str | None,
    samples: int | None,
    seed: int,
    data_dir: Path | None,
    dataset_file: Path | None,
    columns: str | None,
) -> None:
    """Print a row a dataset; one that cannot be loaded says why and does not stop the others.

    Raises:
        ConfigError: Both datasets and a file are named, no name is a name, samples is below 0, or columns are no pairs.
        DatasetError: Not one could be loaded.
    """
    if datasets is not None and dataset_file is not None:
        raise ConfigError("--dataset-file and --datasets exclude each other")
    keys: dict[str, Any] = {"seed": seed, "data_dir": data_dir, "dataset_file": dataset_file}
    if columns is not None:
        keys["columns"] = columns
    if samples is not None:
        keys["samples_per_dataset"] = sample_count(samples)
    names = list_available() if datasets is None else names_of(datasets, "--datasets")
    loaded, problems, drawn = {}, {}, 0
    for name in [dataset_file.stem] if dataset_file else names:
        config = EvalConfig.build(keys, {"datasets": [name]})
        try:
            loaded[name] = load_workload(config)
        except DatasetError as error:
            problems[name] = error
            continue
        drawn = drawn or _drawn(loaded[name], config)
    out = console()
    if loaded:
        _print(out, loaded)
    if drawn:
        out.print(
            f"drawn: at most {counted(drawn, 'question')} of each dataset (--samples 0 for all)",
            style="dim",
        )
    for name, problem in problems.items():
        out.print(clean(f"{name}: {problem.message}"), style=DOUBTFUL)
    if not loaded:
        raise next(iter(problems.values()))


def _print(out: Console, loaded: Mapping[str, Workload]) -> None:
    """A row a dataset, and below the table what else there is to say of each."""
    table = Table(box=None, pad_edge=False, show_edge=False)
    for title in _COLUMNS:
        table.add_column(title, justify="left" if title == "dataset" else "right", overflow="fold", vertical="bottom")
    for name, workload in loaded.items():
        table.add_row(*_row(name, workload))
    out.print(table)
    for name, workload in loaded.items():
        out.print(clean(_source(name, workload)), style="dim")
        if workload.fingerprints[0].columns:
            _print_reading(out, workload)


def _drawn(workload: Workload, config: EvalConfig) -> int:
    """How many questions --samples may have cut the dataset to; 0 where all there are were taken."""
    count, (found,) = len(workload.questions), workload.fingerprints
    return count if count == config.samples_per_dataset and count != found.available else 0


def _row(name: str, workload: Workload) -> list[str]:
    questions = workload.questions
    known = [question for question in questions if question.is_unanswerable is not None]
    answerable = sum(not question.is_unanswerable for question in known)
    golds = [len(question.gold_passages) for question in questions if question.gold_passages]
    return [
        name,
        questions_of(workload.fingerprints, len(questions)).removesuffix("s").removesuffix(" question"),
        f"{answerable / len(known):.0%}" if known else "not said",
        str(len(golds)),
        f"{sum(golds) / len(golds):.1f}" if golds else "–",
        str(sum(question.expected_answer is not None for question in questions)),
        str(len(workload.documents)),
        f"{median(len(document.text.split()) for document in workload.documents):.0f}" if workload.documents else "–",
    ]


def _source(name: str, workload: Workload) -> str:
    """Where the rows came from, what was left out of them, and what they feed."""
    (found,) = workload.fingerprints
    without = f"; left out: {left_out(found.dropped)}" if found.dropped else ""
    fed = ", ".join(_fed_groups(workload.questions)) or "no group of metrics"
    return f"{name}: from {found.source}{without}; feeds {fed}"


def _print_reading(out: Console, workload: Workload) -> None:
    """How the columns of a file were read, and what came of its first row: its owner sees what is wrong."""
    (found,), first = workload.fingerprints, workload.questions[0]
    read = ", ".join(name if name == column else f"{name} from {column!r}" for name, column in found.columns.items())
    out.print(clean(f"read: {read}"), style="dim")
    for note in found.notes:
        out.print(clean(f"! {note}"), style=DOUBTFUL)
    golds = [gold.text or gold.document_id or gold.chunk_id or "" for gold in first.gold_passages]
    shown = (("question", first.question), ("expected", first.expected_answer), *(("gold", gold) for gold in golds))
    for label, text in shown:
        out.print(Text.assemble(f"  {label:<10}", clean(text or "–", 300)))


def _fed_groups(questions: Sequence[EvalQuestion]) -> list[str]:
    """The groups with a metric of the core suite that applies to at least one question."""
    metrics = [metric for metric in select(["core"], []) if metric.group is not MetricGroup.PERFORMANCE]
    fed = {m.group for m in metrics if any(m.not_applicable_to(question) is None for question in questions)}
    return [group.value for group in MetricGroup if group in fed]
