"""Commands that list what can be chosen: `evals datasets`, `stats`, `metrics`, `profiles`, `prompts`."""

import inspect
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, median

from evals.cli.flags import Flags, MetricsFlags, ProfilesFlags, PromptsFlags, StatsFlags, names_of
from evals.cli.measuring import overrides
from evals.cli.terminal import check_output, console, say, show
from evals.client.profile import DEFAULT_PROFILE, about_profile, list_profiles, measurable, profile_text, resolve_spec
from evals.config import EvalConfig
from evals.datasets.file import named_path
from evals.datasets.registry import get_loader, list_available
from evals.errors import ConfigError, DatasetError, EvalsError, HubUnreachableError, UnknownNameError
from evals.generate.review import coverage
from evals.judges.prompts import FOLDER, load_prompt, prompt_names
from evals.metrics.base import BaseMetric
from evals.metrics.judged import judge_calls
from evals.metrics.registry import facts, metric_classes, metrics_of, over_a_run, select, value_range
from evals.metrics.registry import suites as suite_names
from evals.report.elements import ShownPart, TableRow, TextLine, TextTable, grid
from evals.report.summary import questions_of
from evals.report.wording import label_of, named
from evals.run.doctor import computable
from evals.run.workload import Workload, load_workload
from evals.schemas.results import MetricGroup
from evals.scoring.notes import left_out
from evals.store.atomic import write_output
from evals.text.numbers import counted

# The kinds of servers and the datasets that are known: `evals profiles`, `evals datasets`.


def show_profiles(flags: ProfilesFlags) -> None:
    """Print the file of the profile named, or list all with what can be measured of each.

    Raises:
        ConfigError: There is no such profile, or it is in no file.
    """
    if flags.name is not None:
        sys.stdout.write(profile_text(flags.name))
        return
    titles, rows = ("profile", "for", "what can be measured"), []
    for name in list_profiles():
        title = f"{name} (default)" if name == DEFAULT_PROFILE else name
        rows.append(TableRow([title, about_profile(name), ", ".join(measurable(resolve_spec({"profile": name})))]))
    lines = [
        "\n`evals profiles NAME` prints a profile, which says what can and cannot be measured of such a server.",
        "Another server: write its keys to a YAML file, and pass --profile FILE.yml (docs/profiles.md).",
    ]
    show(console(), [TextTable(titles, rows, words=titles[1:], spare=titles[2:]), *lines])


def list_datasets(_: Flags) -> None:
    """Print every dataset with what it can measure; a plug-in that is broken says so, and hides no other."""
    rows = []
    for name in list_available():
        try:
            loader = get_loader(name)
        except EvalsError as error:
            rows.append(TableRow([name, f"{error.message}; {error.hint}"], "doubtful"))
            continue
        more = (f"measures {', '.join(loader.aspects)}", f"{loader.origin} ({loader.licence})")
        rows += [TableRow([name, loader.description]), *(TableRow(["", line]) for line in more)]
    titles = ("dataset", "what it is, what it measures, where its rows come from")
    show(console(), [TextTable(titles, rows, words=titles[1:])])


# `evals stats`: what the datasets hold.


def show_stats(flags: StatsFlags) -> None:
    """Print a row a dataset; one that cannot be loaded says why and does not stop the others.

    Raises:
        ConfigError: Both datasets and a file are named, or a flag is wrong.
        DatasetError: Not one could be loaded.
    """
    if flags.file is not None and flags.dataset_file is not None:
        raise ConfigError(f"two files are named: {flags.file} and {flags.dataset_file}", "name one")
    flags.dataset_file = flags.file or flags.dataset_file
    given = overrides(flags)
    config = EvalConfig.build(given)
    names = [named_path(config.dataset_file).stem] if config.dataset_file else config.datasets or list_available()
    loaded: dict[str, Workload] = {}
    problems: dict[str, DatasetError] = {}
    for name in names:
        try:
            loaded[name] = load_workload(EvalConfig.build(given, {"datasets": [name]}))
        except DatasetError as error:
            problems[name] = error
    lines = list(_problem_lines(problems))
    if not loaded:
        raise DatasetError("; ".join(lines), next(iter(problems.values())).hint)
    show(
        console(), [*_stats_parts(loaded, config.samples_per_dataset), *(TextLine(line, "doubtful") for line in lines)]
    )


def _problem_lines(problems: Mapping[str, DatasetError]) -> Iterator[str]:
    """Why datasets could not be loaded; those that only the hub has in one line."""
    away = [name for name, problem in problems.items() if isinstance(problem, HubUnreachableError)]
    if away:
        yield f"the dataset hub cannot be reached; not in the local cache: {', '.join(away)}"
    yield from (f"{name}: {problem.message}" for name, problem in problems.items() if name not in away)


def _stats_parts(loaded: Mapping[str, Workload], most: int | None) -> Iterator[ShownPart | str]:
    """A row a dataset, and below the table what else there is to say of each."""
    rows = [_row(name, workload) for name, workload in loaded.items()]
    yield TextTable([*rows[0]], [TableRow([*row.values()]) for row in rows], spare=[*rows[0]][:-3:-1])
    for name, workload in loaded.items():
        yield TextLine(_source(name, workload), "faint")
        if columns := workload.fingerprints[0].columns:
            yield from coverage(workload.questions)
            read = (field if field == column else f"{field} from {column!r}" for field, column in columns.items())
            yield TextLine(f"read: {', '.join(read)}", "faint")
            yield from (TextLine(f"! {note}", "doubtful") for note in workload.fingerprints[0].notes)
    if any(len(workload.questions) == most for workload in loaded.values()):
        sampled = f"sampled: at most {counted(most or 0, 'question')} of each dataset (--samples 0 for all)"
        yield TextLine(sampled, "faint")


def _row(name: str, workload: Workload) -> dict[str, str]:
    """The cells of a dataset by the titles of their columns."""
    questions = workload.questions
    answerable = Counter(question.is_unanswerable for question in questions)
    unknown = f", {answerable[None] / len(questions):.0%} unknown" if answerable[None] else ""
    golds = [len(question.gold_passages) for question in questions if question.gold_passages]
    lengths = [len(document.text.split()) for document in workload.documents]
    return {
        "dataset": name,
        "questions": questions_of(workload.fingerprints, len(questions)).removesuffix("s").removesuffix(" question"),
        "answerable": f"{answerable[False] / len(questions):.0%}{unknown}" if {*answerable} != {None} else "not said",
        "with passage": str(len(golds)),
        "with expected answer": str(sum(question.expected_answer is not None for question in questions)),
        "documents": str(len(lengths)),
        "passages per question": f"{fmean(golds):.1f}" if golds else "–",
        "words per document": f"{median(lengths):.0f}" if lengths else "–",
    }


def _source(name: str, workload: Workload) -> str:
    """Where the rows came from, what was left out of them, and what they feed."""
    (rows,) = workload.fingerprints
    without = f"; left out: {left_out(rows.dropped)}" if rows.dropped else ""
    core = [metric for metric in select(["core"], []) if metric.group is not MetricGroup.PERFORMANCE]
    names = computable(core, workload.questions).names
    groups = ", ".join(dict.fromkeys(metric.group.value for metric in core if metric.name in names)) or "nothing"
    return f"{name}: from {rows.source}{without}; measures {groups}"


# The metrics: `evals metrics`.


# A docstring is wrapped for its file, and here anew for the terminal; lists and what begins a new matter stay apart.
_IN_PARAGRAPH = re.compile(r"(?<=\S)\n(?![\s\-*=]|(?:Formula|Range|Reference)\b)")


def show_metrics(flags: MetricsFlags) -> None:
    """Explain the metric named, or list those of the suites named, or all.

    Raises:
        ConfigError: A metric and a suite are given, or one of them does not exist.
    """
    if flags.name is None:
        list_metrics(flags.suite)
    elif flags.suite is None:
        show(console(), _explained(flags.name))
    else:
        raise ConfigError("a metric is explained whatever its suite", "leave out either the metric or --suite")


def list_metrics(suites: str | None = None) -> None:
    """Print the metrics of the suites named, else those of the default one and the names of the others.

    Args:
        suites: Names of suites, with commas.

    Raises:
        UnknownNameError: There is no such suite.
    """
    chosen = metrics_of(["core"] if suites is None else names_of(suites, "--suite"))
    rows: list[TableRow] = []
    for group in MetricGroup:
        members = [TableRow(_cells(cls)) for cls in chosen if cls.group is group]
        rows += [TableRow([group.value], "strong"), *members] if members else []
    columns = ("metric", "measures", "range", "over a run", "judge calls")
    lines = [f"\n↑ higher is better, ↓ lower is better; judge calls for a question, shared: {judge_calls(chosen)}"]
    if suites is None:
        further = (f"{name} ({len(metrics_of([name]))})" for name in suite_names() if name != "core")
        lines.append(f"other suites, for `evals metrics --suite NAME`: {', '.join(further)}")
    lines.append("K is any positive number: recall_at_20. `evals metrics NAME` explains one.")
    table = TextTable(columns, rows, words=columns[1:2], spare=("over a run", "judge calls", "range"))
    show(console(), [table, *lines])


def _cells(cls: type[BaseMetric]) -> list[str]:
    pattern, unit = cls.pattern(), {"ratio": "", "percent": "%"}.get(cls.unit, cls.unit)
    values = f"{value_range(cls, questions='n')} {unit}".rstrip()
    return [named(pattern, cls.higher_is_better), label_of(pattern), values, over_a_run(cls), str(cls.judge_calls)]


def _explained(name: str) -> Iterator[TextLine | str]:
    """A metric's formula, conventions and reference.

    Raises:
        UnknownNameError: There is no such metric.
    """
    by_pattern = (cls for cls in metric_classes() if cls.pattern().lower() == name.lower())
    metric = next(by_pattern, None) or type(select([], [name])[0])
    yield TextLine(f"{metric.pattern()}: {label_of(metric.pattern())}".removesuffix(": "), "strong")
    yield f"{_IN_PARAGRAPH.sub(' ', inspect.cleandoc(metric.__doc__ or ''))}\n"
    yield from (f"{label}: {text}" for label, text in facts(metric).items())


# The prompts of the judge: `evals prompts`.


def show_prompts(flags: PromptsFlags) -> None:
    """List our prompts, show one, or write them to a folder, from which `judge.prompts` reads what was changed.

    Raises:
        UnknownNameError: There is no such prompt.
        ConfigError: The folder holds one of them already.
        StoreError: It cannot be written.
    """
    names = prompt_names()
    if flags.name is not None:
        if flags.name not in names:
            raise UnknownNameError("prompt", flags.name, names)
        say((FOLDER / f"{flags.name}.yml").read_text(encoding="utf-8").rstrip())
    elif flags.copy is not None:
        _copy_prompts(flags.copy, names)
    else:
        rows = [[prompt.name, str(prompt.version), prompt.hash] for prompt in map(load_prompt, names)]
        advice = "\n--copy FOLDER writes them; keep what you change, and name the folder with `judge.prompts`"
        show(console(), [grid("", ("prompt", "version", "hash"), rows, words=("hash",)), advice])


def _copy_prompts(folder: Path, names: Sequence[str]) -> None:
    """Write the prompts to a folder that holds none of them."""
    check_output(folder, "--copy", is_folder=True)
    if folder.is_file() or any((folder / f"{name}.yml").exists() for name in names):
        raise ConfigError(f"{folder} is there already", "name an empty folder: what you changed would be lost")
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        write_output(folder / f"{name}.yml", (FOLDER / f"{name}.yml").read_bytes())
    advice = f"name the folder in the configuration: judge: {{prompts: {folder}}}"
    say(f"wrote {len(names)} prompts to {folder}; change `system`, delete those that stay, and {advice}")
