"""Commands that list what can be chosen: `evals datasets`, `stats`, `metrics`, `profiles`."""

import inspect
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from evals.cli.flags import MetricsFlags, ProfilesFlags, StatsFlags
from evals.cli.parameters import Flags, names_of, sample_count
from evals.cli.terminal import DOUBTFUL, clean, console, plain_table
from evals.client.profile import DEFAULT_PROFILE, about_profile, list_profiles, profile_text, resolve_spec
from evals.client.spec import measurable
from evals.config import EvalConfig
from evals.datasets.registry import get_loader, list_available
from evals.errors import ConfigError, DatasetError
from evals.metrics.base import BaseMetric, Need
from evals.metrics.judged import judge_calls
from evals.metrics.registry import facts, metric_classes, metrics_of, over_a_run, parse_metric, select, value_range
from evals.metrics.registry import suites as suite_names
from evals.report.parts import left_out, questions_of
from evals.report.wording import arrow
from evals.run.work import RunDataset, load_workload
from evals.schemas.results import MetricGroup
from evals.text.numbers import counted

# The kinds of servers that are known: `evals profiles`.


def show_profiles(flags: ProfilesFlags) -> None:
    """Print the file of the profile named, or list all with what can be measured of each.

    Raises:
        ConfigError: There is no such profile, or it is in no file.
    """
    if flags.name is not None:
        sys.stdout.write(profile_text(flags.name))
        return
    table = Table("profile", "for", "what can be measured", box=None, pad_edge=False)
    table.columns[0].no_wrap = True
    for name in list_profiles():
        default = " (default)" if name == DEFAULT_PROFILE else ""
        try:
            table.add_row(
                f"{name}{default}", about_profile(name), ", ".join(measurable(resolve_spec({"profile": name})))
            )
        except ConfigError as error:  # a plug-in that is broken hides no other profile
            table.add_row(f"{name}{default}", f"{error.message}; {error.hint}", style=DOUBTFUL)
    out = console()
    out.print(table)
    out.print(
        "\nas far as the server sends it; `evals profiles NAME` prints the file, which says what a server cannot tell. "
        "Another kind of server: write its keys to a YAML file and pass --profile FILE.yml (docs/profiles.md)"
    )


# `evals stats`: what the datasets hold.


_COLUMNS = (
    "dataset", "questions", "answerable", "with\ngold", "golds\neach", "references", "documents", "words\neach",
)  # fmt: skip


def show_stats(flags: StatsFlags) -> None:
    """Print a row a dataset; one that cannot be loaded says why and does not stop the others.

    Raises:
        ConfigError: Both datasets and a file are named, no name is a name, samples is below 0, or columns are no pairs.
        DatasetError: Not one could be loaded.
    """
    if flags.datasets is not None and flags.dataset_file is not None:
        raise ConfigError("--dataset-file and --datasets exclude each other")
    names = list_available() if flags.datasets is None else names_of(flags.datasets, "--datasets")
    if flags.dataset_file:
        names = [flags.dataset_file.stem]
    keys: dict[str, Any] = {"seed": flags.seed, "data_dir": flags.data_dir, "dataset_file": flags.dataset_file}
    keys |= {} if flags.columns is None else {"columns": flags.columns}
    keys |= {} if flags.samples is None else {"samples_per_dataset": sample_count(flags.samples)}
    loaded, problems, drawn = {}, {}, 0
    for name in names:
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
        out.print(f"drawn: at most {counted(drawn, 'question')} of each dataset (--samples 0 for all)", style="dim")
    for name, problem in problems.items():
        out.print(clean(f"{name}: {problem.message}"), style=DOUBTFUL)
    if not loaded:
        raise next(iter(problems.values()))


def _print(out: Console, loaded: Mapping[str, RunDataset]) -> None:
    """A row a dataset, and below the table what else there is to say of each."""
    table = plain_table()
    for title in _COLUMNS:
        table.add_column(title, justify="left" if title == "dataset" else "right", overflow="fold", vertical="bottom")
    for name, workload in loaded.items():
        table.add_row(*_row(name, workload))
    out.print(table)
    for name, workload in loaded.items():
        out.print(clean(_source(name, workload)), style="dim")
        if workload.fingerprints[0].columns:
            _print_reading(out, workload)


def _drawn(workload: RunDataset, config: EvalConfig) -> int:
    """How many questions --samples may have cut the dataset to; 0 where all there are were taken."""
    count, (found,) = len(workload.questions), workload.fingerprints
    return count if count == config.samples_per_dataset and count != found.available else 0


def _row(name: str, workload: RunDataset) -> list[str]:
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


def _source(name: str, workload: RunDataset) -> str:
    """Where the rows came from, what was left out of them, and what they feed."""
    (found,) = workload.fingerprints
    without = f"; left out: {left_out(found.dropped)}" if found.dropped else ""
    metrics = [metric for metric in select(["core"], []) if metric.group is not MetricGroup.PERFORMANCE]
    fed = {m.group for m in metrics if any(m.not_applicable_to(question) is None for question in workload.questions)}
    groups = ", ".join(group.value for group in MetricGroup if group in fed) or "no group of metrics"
    return f"{name}: from {found.source}{without}; feeds {groups}"


def _print_reading(out: Console, workload: RunDataset) -> None:
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


# A docstring is wrapped for its file, and here anew for the terminal; lists and what begins a new matter stay apart.
_IN_PARAGRAPH = re.compile(r"(?<=\S)\n(?![\s\-*=]|(?:Formula|Range|Reference)\b)")


_ALL_COLUMNS = 110
"""The list of metrics leaves out columns on a console narrower than this."""


_WITH_NEEDS = 72
"""Below this there is no room for what a metric needs either."""


def list_datasets(_: Flags) -> None:
    """Print every dataset with what it can measure."""
    table = Table("dataset", "what it is, what it measures, where its rows come from", box=None, pad_edge=False)
    table.columns[0].no_wrap = True
    for name in list_available():
        try:
            loader = get_loader(name)
        except DatasetError as error:  # a plug-in that is broken hides no other dataset
            table.add_row(name, f"{error.message}; {error.hint}", style=DOUBTFUL)
            continue
        table.add_row(name, loader.description)
        table.add_row("", f"measures {', '.join(loader.aspects)}")
        table.add_row("", f"{loader.origin} ({loader.licence})")
    console().print(table)


def show_metrics(flags: MetricsFlags) -> None:
    """Explain the metric named, or list those of the suites named, or all.

    Raises:
        ConfigError: A metric and a suite are given, or one of them does not exist.
    """
    if flags.name is None:
        list_metrics(flags.suite)
    elif flags.suite is not None:
        raise ConfigError("a metric is explained whatever its suite", "leave out either the metric or --suite")
    else:
        explain_metric(flags.name)


def list_metrics(suites: str | None = None) -> None:
    """Print every metric, or those of the suites named, with what it declares about itself.

    Args:
        suites: Names of suites, with commas; all metrics where None.

    Raises:
        UnknownNameError: There is no such suite.
    """
    chosen = metrics_of(names_of(suites, "--suite") if suites is not None else ["all"])
    out = console()
    out.print(_metric_table(chosen, out.width))
    out.print(
        "\n↑ higher is better, ↓ lower is better; n: the number of questions; calls: of a judge, for one question."
    )
    names = names_of(suites, "--suite") if suites is not None else suite_names()
    by_suite = ", ".join(f"{name} {judge_calls(metrics_of([name]))}" for name in names)
    out.print(f"Metrics share them: {judge_calls(chosen)} for all of these together ({by_suite}).")
    out.print("K is any positive number: recall_at_20. `evals metrics NAME` explains one.")


def _metric_table(chosen: Sequence[type[BaseMetric]], width: int) -> Table:
    """A row for each metric under the name of its group."""
    columns = _columns(width)
    table = plain_table()
    for title in columns:
        table.add_column(title, no_wrap=title != "needs", justify="right" if title == "calls" else "left")
    for group in MetricGroup:
        rows = [[text(cls) for text in columns.values()] for cls in chosen if cls.group is group]
        if rows:
            table.add_row(Text(group.value, style="bold"))
        for row in rows:
            table.add_row(*row)
    return table


def _columns(width: int) -> dict[str, Callable[[type[BaseMetric]], str]]:
    """By title, what a column says of a metric; a narrow table leaves out what --suite and NAME tell."""
    columns: dict[str, Callable[[type[BaseMetric]], str]] = {
        "metric": lambda cls: cls.pattern(),
        "suites": lambda cls: ", ".join(sorted(cls.suites)),
        "range": _range,
        "over a run": over_a_run,
        "calls": lambda cls: str(cls.judge_calls),
        "needs": lambda cls: ", ".join(need.short for need in Need if need in cls.needs - {Need.JUDGE}),
    }
    if width < _ALL_COLUMNS:
        del columns["suites"], columns["over a run"]
    if width < _WITH_NEEDS:
        del columns["needs"]
    return columns


def _range(cls: type[BaseMetric]) -> str:
    unit = {"ratio": "", "percent": "%"}.get(cls.unit, cls.unit)
    return " ".join(part for part in (value_range(cls, questions="n"), unit, arrow(cls.higher_is_better)) if part)


def explain_metric(name: str) -> None:
    """Print a metric's formula, conventions and reference.

    Raises:
        UnknownNameError: There is no such metric.
    """
    metric = next((cls for cls in metric_classes() if cls.pattern().lower() == name.lower()), None) or type(
        parse_metric(name)
    )
    out = console()
    out.print(metric.pattern(), style="bold")
    out.print(_IN_PARAGRAPH.sub(" ", inspect.cleandoc(metric.__doc__ or "")))
    out.print()
    for label, text in facts(metric).items():
        out.print(f"{label}: {text}")
