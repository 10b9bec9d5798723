"""`markdown`: a run as a comment for a pull request, and the parts of it that other comments have too."""

from collections.abc import Iterator

from evals.report import wording
from evals.report.templates import escape, macros, within
from evals.schemas.results import EvalRun
from evals.scoring.conclusion import Measured
from evals.scoring.config import headline
from evals.scoring.digest import in_turn
from evals.scoring.settings import confidence
from evals.text.numbers import share

PARTS = "comment.md.j2"

LIMIT = 60_000
"""Characters; a comment on GitHub holds 65,536."""

_TABLE_SHARE = 30_000

_NOTES_SHARE = 10_000

_FAILURES = 20

_NOTES = 20


def to_markdown(measured: Measured) -> Iterator[str]:
    """Head, scorecard by group, weighted score, notes, and the worst failures folded away; below 60,000 characters."""
    run, head = measured.run, run_head(measured.run)
    if run.is_unscored:
        yield f"{head}This run did not finish: {wording.in_its_log(measured.source)}.\n"
        return
    table = within(_TABLE_SHARE, scorecard_table(run), "| … | | | | | |\n")
    remarks = macros(PARTS).remarks(measured.abstention, measured.digest.risk, measured.digest.stages)
    notes = [*wording.reading_notes(run.fingerprints), *wording.interval_notes(run), *run.notes][:_NOTES]
    lines = (f"- {escape(note)}\n" for note in (*wording.card_lines(run), *notes))
    told = within(_NOTES_SHARE, lines, "- …\n")
    text = "".join([head, table, remarks, *(["\n", told] if told else [])])
    yield text + _failures(measured, LIMIT - len(text))


def run_head(run: EvalRun) -> str:
    """A title with the run's name, a line of what it is, and the weighted score or why there is none."""
    without = (
        f"{name} without {metric}: {reason}"
        for name, metrics in run.weighted_score.left_out_metrics.items()
        for metric, reason in metrics.items()
    )
    asked = wording.questions_of(run.fingerprints, run.question_count)
    return str(macros(PARTS).head(run, asked, headline(run), [*without, *wording.fed_by_few(run)]))


def scorecard_table(run: EvalRun) -> list[str]:
    """The lines of a table of the metrics by group."""
    return str(macros(PARTS).scorecard(run, wording.level(confidence(run)))).splitlines(keepends=True)


def _failures(measured: Measured, room: int) -> str:
    """The failures, one of each link first, as many as there is room for."""
    failures, diagnosis = measured.digest.failures, measured.digest.diagnosis
    if not failures:
        return ""
    kinds = "".join(f"- {line}\n" for line in wording.link_lines(diagnosis))
    title = f"{share(diagnosis.wrong, diagnosis.asked, 'question')} ended wrong; the first link that broke"
    head = f"\n<details>\n<summary>{title}</summary>\n\n{kinds}\n"
    more, end = "… and more: `evals show` lists them all.\n", "\n</details>\n"
    chosen = in_turn(failures, _FAILURES)
    body = within(room - len(head) - len(more) - len(end), map(macros(PARTS).finding, measured.findings(chosen)), more)
    rest = more if len(failures) > len(chosen) and not body.endswith(more) else ""
    return f"{head}{body}{rest}{end}"
