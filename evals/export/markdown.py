"""`markdown`: a comment for a pull request."""

from collections import Counter
from collections.abc import Iterator, Sequence

from evals.export.escaping import code, escape
from evals.schemas import EvalRecord, EvalRun, MetricSummary
from evals.scoring.diagnosis import Finding, diagnose, in_turn
from evals.scoring.settings import cases_of, confidence
from evals.views.formatting import arrow, bounds, interval, lost, place_of, sampling, value
from evals.views.questions import questions_of, reading_notes

LIMIT = 60_000
"""Characters; a comment on GitHub holds 65,536."""
_TABLE_SHARE = 30_000
_NOTES_SHARE = 10_000
_FAILURES = 20
_NOTES = 20
_PASSAGES = 3


def to_markdown(run: EvalRun, records: Sequence[EvalRecord]) -> str:
    """Head, scorecard by group, weighted score, notes, and the worst failures folded away; below 60,000 characters."""
    head = f"{_head(run)}\n\n{_weighted(run)}\n\n"
    table = _joined(_table(run), _TABLE_SHARE, "| … | | | | | |\n")
    said = [*reading_notes(run.fingerprints), *run.notes][:_NOTES]
    notes = _joined((f"- {escape(note)}\n" for note in said), _NOTES_SHARE, "- …\n")
    text = f"{head}{table}{f'{chr(10)}{notes}' if notes else ''}"
    return text + _failures(diagnose(records, cases_of(run, records)), len(records), LIMIT - len(text))


def _joined(lines: Iterator[str], share: int, more: str) -> str:
    """Lines as long as there is room for them, whole ones only."""
    text = ""
    for line in lines:
        if len(text) + len(line) + len(more) > share:
            return text + more
        text += line
    return text


def _head(run: EvalRun) -> str:
    failed = f", {run.error_count} without an answer" if run.error_count else ""
    model = run.config.get("llm_model")
    facts = [
        f"`{run.id}`",
        run.status,
        f"{questions_of(run.fingerprints, run.question_count)}{failed}",
        escape(", ".join(run.datasets)),
        code(run.server.url, 200) + (f" ({escape(str(model), 100)})" if model else ""),
        f"judge {escape(run.judge.model, 100)}" if run.judge else "no judge",
        f"{run.created_at:%Y-%m-%d %H:%M} UTC",
    ]
    return f"### Evaluation: {escape(run.name, 100)}\n\n{' · '.join(facts)}"


def _weighted(run: EvalRun) -> str:
    weighted = run.weighted_score
    if weighted.score is None:
        reason = "nothing feeds it" if run.outcomes.answered else "no question was answered"
        return f"**Weighted score: –** ({reason})"
    parts = (f"{escape(name)} {value:.3f} × {weighted.weights[name]:g}" for name, value in weighted.objectives.items())
    left_out = f"; left out: {escape(', '.join(weighted.left_out))}" if weighted.left_out else ""
    return f"**Weighted score: {weighted.score:.3f}** ({', '.join(parts)}{left_out})"


def _table(run: EvalRun) -> Iterator[str]:
    yield f"| metric | value | {confidence(run):.0%} interval | n | with lost questions | |\n"
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


def _failures(findings: Sequence[Finding], questions: int, room: int) -> str:
    """The worst failures, one of each kind first, as many as there is room for."""
    if not findings:
        return ""
    counts = sorted(Counter(finding.fault for finding in findings).items())
    kinds = "".join(f"- {count} × {fault.label}\n" for fault, count in counts)
    title = f"{len(findings)} of {questions} questions have a fault"
    head = f"\n<details>\n<summary>{title}</summary>\n\n{kinds}\n"
    more, end = "… and more: `evals show` lists them all.\n", "\n</details>\n"
    chosen = in_turn(findings)[:_FAILURES]
    blocks = (_block(finding) for finding in chosen)
    body = _joined(blocks, room - len(head) - len(more) - len(end), more)
    rest = more if len(findings) > len(chosen) and not body.endswith(more) else ""
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
