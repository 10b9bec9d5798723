"""Commands about people's labels: `evals calibrate` holds the judge against them, `evals review` takes them."""

import sys
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from evals.cli.commands.eval import describe_measuring
from evals.cli.flags import CalibrateFlags, ReviewFlags
from evals.cli.measuring import config_layers, measure_now, observer_for, runs_dir_of
from evals.cli.saved import what_is_undone
from evals.cli.terminal import DOUBTFUL, check_output, clean, console, print_json
from evals.cli.views.question import print_calibration
from evals.config import EvalConfig
from evals.datasets.answers import read_labels
from evals.errors import ConfigError, RunIncompleteError, RunInterruptedError
from evals.report.review import (
    CANNOT_TELL,
    DEFAULT_METRIC,
    Labelling,
    LabelTakenError,
    in_drawn_order,
    keys_of,
    labels_in,
    put_label,
    sheet_path,
)
from evals.report.wording import place_of
from evals.run.calibrating import calibration_from, read_label_set, work_of_labels
from evals.run.setup import check_config
from evals.schemas.response import EvalResponse
from evals.schemas.results import EvalRecord
from evals.store.naming import DEFAULT_RUNS_DIR, command
from evals.store.runs import RunStore, save_calibration
from evals.text.numbers import share


def calibrate(flags: CalibrateFlags) -> None:
    """Judge labelled answers, print how the judge fares against the labels, and save that.

    Raises:
        EvalsError: With the exit code of what went wrong.
    """
    for name, value in (("--label-cut", flags.label_cut), ("--score-cut", flags.score_cut)):
        if value is not None and not 0 < value <= 1:
            raise ConfigError(f"{name} must be above 0 and at most 1, not {value:g}")
    layers = config_layers(flags)
    store = RunStore(runs_dir_of(layers))
    layers = [{"judged": _rubrics_of(flags, store)}, *layers]
    EvalConfig.build(*layers)  # from here on rubrics are known by their names
    labels = read_label_set(flags.labels, store, metric=flags.metric, run=flags.run, scale=flags.scale)
    settings = EvalConfig.build(*layers, {"suite": [], "metrics": [labels.metric.name], "gate": []})
    judged = {name: spec for name, spec in settings.judged.items() if name == labels.metric.name}
    settings = settings.model_copy(update={"judged": judged})
    if not settings.judge.enabled:
        raise ConfigError("there is nothing to calibrate without a judge", "leave out --no-judge")
    metrics = check_config(settings, asking=not flags.dry_run)
    work = work_of_labels(labels, settings)
    if flags.dry_run:
        describe_measuring(work, metrics, settings, flags)
        return
    done = measure_now(work, metrics, settings, observer_for(flags))
    if done.run.status != "complete":
        raise RunIncompleteError(
            f"nothing is calibrated, as judging is {done.run.status}: {what_is_undone(done.run, list(done.records()))}",
            "what was judged is kept: give the same command again",
        )
    found = calibration_from(labels, done, score_cut=flags.score_cut, label_cut=flags.label_cut)
    unquoted = [each.model_copy(update={"quote": None}) for each in found.disagreements]
    path = save_calibration(settings.runs_dir, found.model_copy(update={"disagreements": unquoted}))
    if flags.as_json:
        print_json(found.model_dump_json(indent=2))
        return
    out = console()
    print_calibration(out, found, done.run)
    out.print(f"saved to {path}: every report of a run judged in the same way shows it", soft_wrap=True)
    out.print(f"answer by answer: {command(f'show {done.run.id}', settings.runs_dir)}", soft_wrap=True)


def _rubrics_of(flags: CalibrateFlags, store: RunStore) -> dict[str, Any]:
    """The rubrics of the runs whose answers are labelled."""
    rows = chain.from_iterable(map(read_labels, flags.labels))
    runs = sorted({row.run for row in rows if row.label is not None and row.run} | {flags.run or ""} - {""})
    return {name: spec for run in runs for name, spec in store.load(run).eval_config.get("judged", {}).items()}


# `evals review`: label the answers of a run in the terminal, one at a time, with their evidence.


_PASSAGES, _LENGTH = 5, 600

_OTHERS = "? cannot tell, s skip, u undo, m more, t TEXT comment, q quit"


def review(flags: ReviewFlags) -> None:
    """Ask for labels of answers until all have one or the user quits; each label is saved at once.

    Raises:
        ConfigError: The metric has no labels, or the file is no sheet of labels.
        RunNotFoundError: There is no such run.
        StoreError: The sheet cannot be read or written.
        RunInterruptedError: Somebody pressed Ctrl-C.
    """
    store = RunStore(flags.runs_dir or DEFAULT_RUNS_DIR)
    run = store.load(flags.run)
    name = flags.metric or DEFAULT_METRIC
    keys = keys_of(name)
    if flags.output is not None:
        check_output(flags.output)
    labelling = Labelling(run.id, name, flags.annotator or "")
    path = flags.output or sheet_path(store.folder, labelling)
    session = Session(console(), path, labelling, keys, in_drawn_order(run.id, store.records(run)))
    try:
        session.go()
    except KeyboardInterrupt as error:
        raise RunInterruptedError(f"interrupted; the labels are in {path}", "run it again to continue") from error
    finally:
        session.tell()
    calibrating = command(f"calibrate {path} --metric {name}", flags.runs_dir)  # the sheet may have others' labels too
    console().print(f"hold the judge against them: {calibrating}", soft_wrap=True)


class Session:
    """One person at the keyboard: labels by key, each saved at once.

    Args:
        out: Where answers are shown.
        path: The sheet.
        labelling: Who labels what.
        keys: Of the labels.
        records: What there is to label, in order.
    """

    def __init__(
        self, out: Console, path: Path, labelling: Labelling, keys: Mapping[str, str], records: list[EvalRecord]
    ) -> None:
        self._out, self._path, self._labelling, self._keys = out, path, labelling, keys
        self._records = {record.question.id: record for record in records}
        self._labelled = labels_in(path, labelling, self._records)
        self._todo = [key for key in self._records if key not in self._labelled]
        self._comment = ""

    def go(self) -> None:
        """Show and ask until nothing is left, or the input ends."""
        shown: str | None = None
        while self._todo:
            current = self._todo[0]
            if current != shown:
                self._show(self._records[current])
                shown = current
            labels = ", ".join(f"{key} {label.replace('_', ' ')}" for key, label in self._keys.items())
            self._out.print(Text(f"{labels}; {_OTHERS}: "), end="", style="bold")
            said = sys.stdin.readline()
            if not said or said.strip() == "q":
                return
            shown = current if self._take(current, said.strip()) else None

    def tell(self) -> None:
        """Say how far it is."""
        done = sum(key in self._labelled for key in self._records)
        saved = f": {self._path}" if self._labelled else ""
        self._out.print(f"{share(done, len(self._records), 'answer')} labelled{saved}", soft_wrap=True)

    def _take(self, current: str, said: str) -> bool:
        """Do what was typed; returns whether the answer stays on the screen."""
        if said in self._keys or said == "?":
            verdict = self._keys.get(said, CANNOT_TELL)
            self._save(current, self._labelling.row(self._records[current], verdict, self._comment))
            self._comment = ""
            self._todo.remove(current)
        elif said == "s":
            self._todo.append(self._todo.pop(0))
        elif said == "u" and self._labelled:
            last = list(self._labelled)[-1]
            self._save(last, None)
            if last not in self._labelled:
                self._todo.insert(0, last)
        elif said == "m":
            self._show(self._records[current], whole=True)
        elif said.startswith("t "):
            self._comment = said[2:].strip()
        else:
            why = "there is no label to take back" if said == "u" else f"{said!r} is no key"
            self._out.print(clean(why), style=DOUBTFUL)
        return self._todo[:1] == [current]

    def _save(self, key: str, row: dict[str, str] | None) -> None:
        """Put a label into the sheet, or take it out; one that was changed elsewhere meanwhile stays."""
        try:
            put_label(self._path, self._labelling, key, row, before=self._labelled.pop(key, None))
        except LabelTakenError as error:
            self._out.print(clean(f"{error.message}: that label stays"), style=DOUBTFUL)
            row = error.found
        if row is not None:
            self._labelled[key] = row

    def _show(self, record: EvalRecord, *, whole: bool = False) -> None:
        """Print question, expected answer, answer and evidence; nothing of what the judge said."""
        done = len(self._records) - len(self._todo)
        self._out.print(clean(f"\n{record.question.id}  ({done} of {len(self._records)} labelled)"), style="bold")
        response = record.response or EvalResponse()
        self._line("question", record.question.question)
        self._line("expected", record.question.expected_answer)
        for rank, chunk in enumerate((response.chunks or [])[: None if whole else _PASSAGES], start=1):
            text = chunk.text or ""
            cut = text if whole or len(text) <= _LENGTH else f"{text[:_LENGTH]} … (m: more)"
            self._line(f"passage {rank}", f"[{place_of(chunk)}] {cut}", style="dim")
        self._line("answer", response.answer)

    def _line(self, title: str, text: str | None, style: str = "") -> None:
        self._out.print(Text.assemble((f"{title}  ".rjust(12), "bold"), clean(text or "–")), style=style)
