"""`evals stats`: what the datasets hold."""

from pathlib import Path
from statistics import median

from rich.table import Table

from evals.cli.console import clean, console
from evals.config import EvalConfig
from evals.datasets.registry import list_available
from evals.errors import DatasetError
from evals.plan import Workload, load_workload
from evals.schemas import EvalQuestion


def show_stats(datasets: str | None, samples: int, seed: int, data_dir: Path | None, dataset_file: Path | None) -> None:
    """Print a row a dataset; one that cannot be loaded says why and does not stop the others.

    Raises:
        DatasetError: Not one could be loaded.
    """
    table = Table(box=None, pad_edge=False, show_edge=False)
    for title in ("dataset", "questions", "answerable", "with gold", "golds each", "documents", "words each", "source"):
        table.add_column(title, justify="left" if title in {"dataset", "source"} else "right", overflow="fold")
    problems = []
    names = datasets.split(",") if datasets else list_available()
    for name in [dataset_file.name] if dataset_file else names:
        keys = {"dataset_file": dataset_file} if dataset_file else {"datasets": [name.strip()]}
        config = EvalConfig.build({**keys, "samples_per_dataset": samples or None, "seed": seed, "data_dir": data_dir})
        try:
            workload = load_workload(config)
        except DatasetError as error:
            problems.append((name, error))
            continue
        table.add_row(*_row(name, workload))
    out = console()
    if table.row_count:
        out.print(table)
    for name, problem in problems:
        out.print(clean(f"{name}: {problem.message}"), style="yellow")
    if not table.row_count:
        raise problems[0][1]


def _row(name: str, workload: Workload) -> list[str]:
    questions = workload.questions
    known = [question for question in questions if question.is_unanswerable is not None]
    answerable = sum(not question.is_unanswerable for question in known)
    golds = [len(question.gold_passages) for question in questions if question.gold_passages]
    return [
        name,
        str(len(questions)),
        f"{answerable / len(known):.0%}" if known else "not said",
        str(len(golds)),
        f"{sum(golds) / len(golds):.1f}" if golds else "–",
        str(len(workload.documents)),
        f"{median(len(document.text.split()) for document in workload.documents):.0f}" if workload.documents else "–",
        _source(questions, workload),
    ]


def _source(questions: list[EvalQuestion], workload: Workload) -> str:
    return workload.fingerprints[0].source if questions else "–"
