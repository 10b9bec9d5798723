"""`markdown`: a run as a comment for a pull request, and the parts of it that other comments have too."""

from collections.abc import Iterator

from evals.report import parts
from evals.report.elements import TextTable
from evals.report.templates import escape, macros, within
from evals.schemas.results import EvalRun
from evals.scoring.conclusion import Measured
from evals.scoring.digest import in_turn
from evals.text.numbers import share

LIMIT = 60_000
"""Characters; a comment on GitHub holds 65,536."""

_TABLE_SHARE, _NOTES_SHARE = 30_000, 10_000

_FAILURES = _NOTES = 20


def to_markdown(measured: Measured) -> Iterator[str]:
    """Head, scorecard by group, weighted score, notes, and the worst failures folded away; below 60,000 characters."""
    run, digest = measured.run, measured.digest
    head = run_head(run)
    if run.is_unscored:
        yield f"{head}This run did not finish: {parts.in_its_log(measured.source)}.\n"
        return
    text = head + within(_TABLE_SHARE, table_lines(parts.scorecard_table(run)), "| … |\n")
    for table in (*parts.abstention_tables(measured.abstention), *parts.stage_tables(digest.stages)):
        text += "".join([f"\n**{table.title}**\n\n", *table_lines(table, is_code=False)])
    text += f"\n{parts.risk_line(digest.risk)}\n" if digest.risk is not None else ""
    notes = [*parts.scorecard_lines(run), *parts.judge_lines(run), *parts.notes_of(run)[:_NOTES]]
    told = within(_NOTES_SHARE, (f"- {escape(note)}\n" for note in notes), "- …\n")
    text += f"\n{told}" if told else ""
    yield text + _failures(measured, LIMIT - len(text))


def run_head(run: EvalRun) -> str:
    """A title with the run's name, a line of what it is, and the weighted score or why there is none."""
    return str(macros().head(run))


def table_lines(table: TextTable, *, is_code: bool = True) -> list[str]:
    """The lines of a table, with the names of its rows as code unless they are words."""
    return str(macros().table(table, is_code)).splitlines(keepends=True)


def _failures(measured: Measured, room: int) -> str:
    """The failures, one of each link first, as many as there is room for."""
    failures, diagnosis = measured.digest.failures, measured.digest.diagnosis
    if not failures:
        return ""
    kinds = "".join(f"- {line}\n" for line in parts.link_lines(diagnosis))
    title = f"{share(diagnosis.wrong, diagnosis.asked, 'question')} went wrong, by the first step that failed"
    head = f"\n<details>\n<summary>{title}</summary>\n\n{kinds}\n"
    more, end = "… and more: `evals show` lists them all.\n", "\n</details>\n"
    chosen = in_turn(failures, _FAILURES)
    body = within(room - len(head) - len(more) - len(end), map(macros().finding, measured.findings(chosen)), more)
    rest = more if len(failures) > len(chosen) and not body.endswith(more) else ""
    return f"{head}{body}{rest}{end}"
