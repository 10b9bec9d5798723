"""`evals review`: label the answers of a run in the terminal, one at a time, with their evidence."""

import sys
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console
from rich.text import Text

from evals.cli.terminal.console import DOUBTFUL, clean, console
from evals.cli.terminal.output import check_output
from evals.errors import RunInterruptedError
from evals.export.label_keys import CANNOT_TELL, DEFAULT_METRIC, keys_of
from evals.export.label_sheet import Labelling, LabelTakenError, in_drawn_order, labels_in, put_label, sheet_path
from evals.schemas import EvalRecord
from evals.store.commands import DEFAULT_RUNS_DIR, command
from evals.store.runs import RunStore
from evals.text.counts import share
from evals.views.formatting import place_of

_PASSAGES, _LENGTH = 5, 600
_OTHERS = "? cannot tell, s skip, u undo, m more, t TEXT comment, q quit"


def review(
    run_id: str, *, metric: str | None, annotator: str | None, output: Path | None, runs_dir: Path | None
) -> None:
    """Show answers and take labels until there are no more, or nobody wants to go on; every label is saved at once.

    Raises:
        ConfigError: The metric has no labels, or the file is no sheet of labels.
        RunNotFoundError: There is no such run.
        StoreError: The sheet cannot be read or written.
        RunInterruptedError: Somebody pressed Ctrl-C.
    """
    store = RunStore(runs_dir or DEFAULT_RUNS_DIR)
    run = store.load(run_id)
    name = metric or DEFAULT_METRIC
    keys = keys_of(name)
    if output is not None:
        check_output(output)
    labelling = Labelling(run.id, name, annotator or "")
    path = output or sheet_path(store.folder, labelling)
    session = Session(console(), path, labelling, keys, in_drawn_order(run.id, store.records(run)))
    try:
        session.go()
    except KeyboardInterrupt as error:
        raise RunInterruptedError(f"interrupted; the labels are in {path}", "the same command goes on") from error
    finally:
        session.tell()
    calibrating = command(f"calibrate {path} --metric {name}", runs_dir)  # the sheet may have labels of others too
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
                self._show(self._records[current], whole=False)
                shown = current
            said = self._ask()
            if said is None or said == "q":
                return
            shown = self._take(current, said)

    def tell(self) -> None:
        """Say how far it is."""
        done = sum(key in self._labelled for key in self._records)
        saved = f": {self._path}" if self._labelled else ""
        self._out.print(f"{share(done, len(self._records), 'answer')} labelled{saved}", soft_wrap=True)

    def _ask(self) -> str | None:
        """What the person types; None at the end of the input."""
        labels = ", ".join(f"{key} {label.replace('_', ' ')}" for key, label in self._keys.items())
        self._out.print(Text(f"{labels}; {_OTHERS}: "), end="", style="bold")
        line = sys.stdin.readline()
        return line.strip() if line else None

    def _take(self, current: str, said: str) -> str | None:
        """Do what was typed; returns the answer that stays on the screen, if it does."""
        if said in self._keys or said == "?":
            self._label(current, self._keys.get(said, CANNOT_TELL))
            return None
        if said == "s":
            self._todo.append(self._todo.pop(0))
            return None if len(self._todo) > 1 else current
        if said == "u":
            return self._undo(current)
        if said == "m":
            self._show(self._records[current], whole=True)
        elif said.startswith("t "):
            self._comment = said[2:].strip()
        else:
            self._out.print(clean(f"{said!r} is no key"), style=DOUBTFUL)
        return current

    def _label(self, current: str, verdict: str) -> None:
        self._save(current, self._labelling.row(self._records[current], verdict, self._comment))
        self._comment = ""
        self._todo.remove(current)

    def _undo(self, current: str) -> str | None:
        """Take back the last label of this run."""
        mine = list(self._labelled)
        if not mine:
            self._out.print("there is no label to take back", style=DOUBTFUL)
            return current
        self._save(mine[-1], None)
        if mine[-1] not in self._labelled:
            self._todo.insert(0, mine[-1])
        return None

    def _save(self, key: str, row: dict[str, str] | None) -> None:
        """Put a label into the sheet, or take it out; one that was changed elsewhere meanwhile stays."""
        try:
            put_label(self._path, self._labelling, key, row, before=self._labelled.pop(key, None))
        except LabelTakenError as error:
            self._out.print(clean(f"{error.message}: that label stays"), style=DOUBTFUL)
            row = error.found
        if row is not None:
            self._labelled[key] = row

    def _show(self, record: EvalRecord, *, whole: bool) -> None:
        """Print question, expected answer, answer and evidence; nothing of what the judge said."""
        done = len(self._records) - len(self._todo)
        self._out.print(clean(f"\n{record.question.id}  ({done} of {len(self._records)} labelled)"), style="bold")
        self._line("question", record.question.question)
        self._line("expected", record.question.expected_answer or "–")
        answer, chunks = ("–", []) if record.response is None else (record.response.answer, record.response.chunks)
        for rank, chunk in enumerate((chunks or [])[: None if whole else _PASSAGES], start=1):
            self._line(
                f"passage {rank}", f"[{place_of(chunk)}] {self._cut(chunk.text or '', whole=whole)}", style="dim"
            )
        self._line("answer", answer or "–")

    def _line(self, title: str, text: str, style: str | None = None) -> None:
        self._out.print(Text.assemble((f"{title}  ".rjust(12), "bold"), clean(text)), style=style)

    @staticmethod
    def _cut(text: str, *, whole: bool) -> str:
        return text if whole or len(text) <= _LENGTH else f"{text[:_LENGTH]} … (m: more)"
