"""`markdown`: a comment for a pull request."""

import re
from collections.abc import Iterator, Sequence

from evals.report.document import report_pieces
from evals.report.wording import (
    abstention_cells,
    abstention_rates,
    arrow,
    bounds,
    card_lines,
    fed_by_few,
    in_its_log,
    interval,
    interval_notes,
    level,
    link_lines,
    lost,
    one_line,
    place_of,
    questions_of,
    reading_notes,
    risk_line,
    sampling,
    score_range,
    stage_lines,
    value,
)
from evals.schemas.results import EvalRun, MetricSummary, WeightedScore
from evals.scoring.abstention import AbstentionTable
from evals.scoring.conclusion import Measured
from evals.scoring.config import headline, percent
from evals.scoring.diagnosis.outcome import Finding, in_turn
from evals.scoring.diagnosis.stages import StageRecall
from evals.scoring.settings import confidence
from evals.text.numbers import share

# Foreign text inside Markdown: shown as it is, and nothing but text.


_BREAK = "&#8203;"
"""A space of no width. GitHub looks for names and links after it has resolved entities, so an entity stops neither."""


_QUOTE = "\N{MODIFIER LETTER GRAVE ACCENT}"
"""Stands for a backtick inside a code span, which it would end."""

_ACTIVE = re.compile(r"[&<>|`*_~\[\]\\$]|@|#(?=\d)|://|\bGH-(?=\d)|\bwww\.", re.IGNORECASE)


def escape(text: str, limit: int = 300) -> str:
    """Text on one line, in which no Markdown, HTML, mention, reference or link is left.

    Args:
        text: Anything.
        limit: Longer text is cut; counted before escaping.
    """
    return _ACTIVE.sub(lambda found: _harmless(found.group()), one_line(text, limit))


def code(text: str, limit: int = 300) -> str:
    """Text on one line as a code span: it is copied as it is, and nothing in it is Markdown, a link or a mention."""
    return f"`{one_line(text, limit).replace('`', _QUOTE)}`"


def _harmless(active: str) -> str:
    if active in {"@", "#"}:
        return f"{active}{_BREAK}"
    if len(active) > 1:
        return f"{active[0]}{_BREAK}{active[1:]}"
    return f"&#{ord(active)};"


# `html`: one page that holds all it needs, as `evals report` writes it of several runs too.


def to_html(measured: Measured) -> Iterator[str | bytes]:
    """The page of one run."""
    yield from report_pieces([measured])


LIMIT = 60_000
"""Characters; a comment on GitHub holds 65,536."""

_TABLE_SHARE = 30_000

_NOTES_SHARE = 10_000

_FAILURES = 20

_NOTES = 20

_PASSAGES = 3


def to_markdown(measured: Measured) -> Iterator[str]:
    """Head, scorecard by group, weighted score, notes, and the worst failures folded away; below 60,000 characters."""
    run = measured.run
    if run.is_unscored:
        yield f"{run_head(run)}\n\nThis run did not finish: {in_its_log(measured.source)}.\n"
        return
    head = f"{run_head(run)}\n\n{weighted_line(run)}\n\n"
    table = joined(scorecard_table(run), _TABLE_SHARE, "| … | | | | | |\n")
    remarks = [*reading_notes(run.fingerprints), *interval_notes(run), *run.notes][:_NOTES]
    remarks = [*card_lines(run), *remarks]
    notes = joined((f"- {escape(note)}\n" for note in remarks), _NOTES_SHARE, "- …\n")
    digest = measured.digest
    declined, curve = measured.abstention, digest.risk
    said = f"\n{risk_line(curve)}\n" if curve else ""
    said += "".join(f"\n{title}" + (f": {line}" if line else "\n") for title, line in _stages(digest.stages))
    notes = f"{_declined(declined) if declined else ''}{said}{f'{chr(10)}{notes}' if notes else ''}"
    text = f"{head}{table}{notes}"
    yield text + _failures(measured, LIMIT - len(text))


def _stages(stages: Sequence[StageRecall]) -> Iterator[tuple[str, str]]:
    """The recall at each stage as items of a list; the names are the server's."""
    for title, line in stage_lines(stages):
        yield (f"- {escape(title, 80)}" if line else f"{title}:"), line


def _declined(table: AbstentionTable) -> str:
    """Who declined what."""
    titles, *rows = (" | ".join(cells) for cells in abstention_cells(table))
    lines = [f"\n| {titles} |", "|---|---:|---:|", *(f"| {row} |" for row in rows), ""]
    return "\n".join([*lines, *(f"- {title.strip()}: {rate}" for title, rate in abstention_rates(table)), ""])


def joined(lines: Iterator[str], share: int, more: str) -> str:
    """Lines as long as there is room for them, whole ones only."""
    text = ""
    for line in lines:
        if len(text) + len(line) + len(more) > share:
            return text + more
        text += line
    return text


def run_head(run: EvalRun) -> str:
    """A title with the run's name, and a line of what it is."""
    failed = f", {run.error_count} without an answer" if run.error_count else ""
    model = run.config.get("llm_model")
    facts = [
        f"`{run.id}`",
        "unfinished" if run.is_unscored else run.status,
        f"{questions_of(run.fingerprints, run.question_count)}{failed}",
        escape(", ".join(run.datasets)),
        code(run.server.url, 200) + (f" ({escape(str(model), 100)})" if model else ""),
        f"judge {escape(run.judge.model, 100)}" if run.judge else "no judge",
        f"{run.created_at:%Y-%m-%d %H:%M} UTC",
    ]
    return f"### Evaluation: {escape(run.name, 100)}\n\n{' · '.join(facts)}"


def weighted_line(run: EvalRun) -> str:
    """The weighted score with its interval and what it is made of, or why there is none."""
    weighted, head = run.weighted_score, headline(run)
    if head.score is None:
        return f"**Weighted score: –** ({escape(head.reason or '')})"
    of = "" if head.is_whole else f" of {percent(head.coverage)} of the weight"
    interval_told = f", {score_range(weighted.ci)}" if weighted.ci else ""
    bounds_told = f", {score_range(weighted.bounds)} with lost questions" if weighted.bounds else ""
    parts = (f"{escape(name)} {value:.3f} × {weighted.weights[name]:g}" for name, value in weighted.objectives.items())
    left_out = f"; left out: {escape(', '.join(weighted.left_out))}" if weighted.left_out else ""
    few = "".join(f"; {escape(note)}" for note in (*_left_out_metrics(weighted), *fed_by_few(run)))
    score = f"**Weighted score: {head.score:.3f}**{of}{interval_told}{bounds_told}"
    return f"{score} ({', '.join(parts)}{left_out}{few})"


def _left_out_metrics(weighted: WeightedScore) -> Iterator[str]:
    for name, metrics in weighted.left_out_metrics.items():
        yield from (f"{name} without {metric}: {reason}" for metric, reason in metrics.items())


def scorecard_table(run: EvalRun) -> Iterator[str]:
    """The metrics by group, line by line."""
    yield f"| metric | value | {level(confidence(run))} interval | n | with lost questions | |\n"
    yield "|---|---:|---:|---:|---:|---|\n"
    for group, names in run.scorecard.by_group.items():
        yield f"| **{escape(group)}** | | | | | |\n"
        for name in names:
            summary = run.scorecard.find(name)
            if summary is not None:
                yield _row(summary)


def _row(summary: MetricSummary) -> str:
    name = f"`{summary.name}`" if summary.name.isidentifier() else escape(summary.name)
    remarks = [escape(remark, 200) for remark in (lost(summary), summary.reason, *sampling(summary)) if remark]
    cells = [
        f"{name} {arrow(summary.higher_is_better)}".strip(),
        _plain(value(summary)),
        _plain(interval(summary)),
        str(summary.sample_size),
        _plain(bounds(summary) or "–"),
        ", ".join(remarks),
    ]
    return f"| {' | '.join(cells)} |\n"


def _plain(amount: str) -> str:
    """An amount whose dollar signs do not begin a formula."""
    return amount.replace("$", "&#36;")


def _failures(measured: Measured, room: int) -> str:
    """The failures, one of each link first, as many as there is room for."""
    failures, diagnosis = measured.digest.failures, measured.digest.diagnosis
    if not failures:
        return ""
    kinds = "".join(f"- {line}\n" for line in link_lines(diagnosis))
    title = f"{share(diagnosis.wrong, diagnosis.asked, 'question')} ended wrong; the first link that broke"
    head = f"\n<details>\n<summary>{title}</summary>\n\n{kinds}\n"
    more, end = "… and more: `evals show` lists them all.\n", "\n</details>\n"
    chosen = in_turn(failures, _FAILURES)
    blocks = (_block(finding) for finding in measured.findings(chosen))
    body = joined(blocks, room - len(head) - len(more) - len(end), more)
    rest = more if len(failures) > len(chosen) and not body.endswith(more) else ""
    return f"{head}{body}{rest}{end}"


def _block(finding: Finding) -> str:
    question, response = finding.record.question, finding.record.response
    lines = [f"**{escape(question.id, 80)}**: {escape(finding.explanation, 200)}"]
    lines.append(f"question: {escape(question.question)}")
    if question.expected_answer:
        lines.append(f"expected: {escape(question.expected_answer)}")
    if response is not None and response.error is None:
        lines.append(f"answer: {escape(response.answer or '–')}")
        for rank, chunk in enumerate((response.chunks or [])[:_PASSAGES], start=1):
            mark = "✓" if rank in finding.hit_ranks else "✗"
            lines.append(f"{mark} {rank}: {escape(place_of(chunk), 60)}: {escape(chunk.text or '', 120)}")
    return "<br>\n".join(lines) + "\n\n"
