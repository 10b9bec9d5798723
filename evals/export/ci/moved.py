"""What moved between a baseline and a run, as Markdown: metrics, and the questions that fared worse."""

from collections.abc import Iterator, Mapping, Sequence

from evals.compare import MetricPair, QuestionChange, RunComparison
from evals.export.ci.command_end import Beside
from evals.export.escaping import code, escape
from evals.schemas import EvalRecord
from evals.text.counts import counted, share
from evals.views.compared import counts_of
from evals.views.differences import difference_interval, pair_difference, pair_values, probability, signed
from evals.views.formatting import arrow

_MOST_CHANGES = 20
_MOST_VALUES = 3
_MOST_WARNINGS = 10
_READ = 2_000
"""Characters of a text of which any is shown."""
_ORDER = ("worse", "changed", "better")
_MARKS = {"worse": "🔴", "changed": "🟡", "better": "🟢"}
_TITLES = "| | metric | baseline | now | difference | interval | p | n |\n|---|---|---:|---:|---:|---:|---:|---:|\n"


def moved_lines(beside: Beside) -> Iterator[str]:
    """For each run beside the baseline a sentence and the metrics that moved, regressions first; what to beware of."""
    names = {head.id: head.name for head in beside.comparison.runs}
    for one in beside.comparison.against:
        against = f"{code(one.baseline)} ({escape(names[one.baseline], 60)})"
        yield f"**{code(one.run)} against the baseline {against}: {_sum(one)}**\n\n"
        yield from _table(one)
    warnings = [*beside.comparison.warnings, *beside.comparison.differences]
    for warning in warnings[:_MOST_WARNINGS]:
        yield f"- {escape(warning)}\n"
    yield "\n" if warnings else ""


def _sum(one: RunComparison) -> str:
    found = counts_of(one)
    if not found:
        return f"nothing could be tested over {counted(one.common, 'common question')}"
    lost = [f"{counted(len(one.vanished), 'metric')} without a value now"] if one.vanished else []
    moved = [f"{found[kind]} {kind}" for kind in sorted(found, key=_rank)]
    of_all = f"{counted(sum(found.values()), 'metric')} over {counted(one.common, 'common question')}"
    return f"{', '.join([*moved, *lost])} ({of_all})"


def _rank(verdict: str) -> int:
    return _ORDER.index(verdict) if verdict in _ORDER else len(_ORDER)


def _table(one: RunComparison) -> Iterator[str]:
    """The metrics that moved: those of quality that got worse, those that are gone, then the others."""
    moved = sorted((pair for pair in one.pairs if pair.verdict in _ORDER), key=_place)
    if not moved and not one.vanished:
        return
    yield _TITLES
    yield from (_row(pair) for pair in moved if pair.is_regression)
    for metric in one.vanished:
        yield f"| 🔴 | {code(metric.name)} | | none: {escape(metric.reason, 120)} | | | | {metric.n} |\n"
    yield from (_row(pair) for pair in moved if not pair.is_regression)
    yield "\n"


def _place(pair: MetricPair) -> tuple[int, bool]:
    return _rank(pair.verdict), not pair.is_of_quality


def _row(pair: MetricPair) -> str:
    cells = [
        f"{_MARKS[pair.verdict]} {pair.verdict}",
        f"{code(pair.name)} {arrow(pair.higher_is_better)}".rstrip(),
        *pair_values(pair),
        pair_difference(pair),
        difference_interval(pair),
        probability(pair.q),
        str(pair.n),
    ]
    return f"| {' | '.join(cells).replace('$', '&#36;').replace('<', '&lt;')} |\n"


def regressed_blocks(beside: Beside) -> Iterator[tuple[str, Iterator[str]]]:
    """For each run that has some: a title, and the questions that fared worse than in the baseline, the worst first."""
    for one, saved in zip(beside.comparison.against, beside.saved[1:], strict=True):
        if one.lost:
            shown = one.lost[:_MOST_CHANGES]
            ids = {change.question_id for change in shown}
            before, after = _records(beside.saved[0].records, ids), _records(saved.records, ids)
            title = f"{share(len(one.lost), one.common, 'question')} fared worse in {escape(one.run)}"
            blocks = (_block(each, before.get(each.question_id), after.get(each.question_id)) for each in shown)
            rest = len(one.lost) - len(shown)
            yield title, _ending(blocks, rest)


def _ending(blocks: Iterator[str], rest: int) -> Iterator[str]:
    yield from blocks
    if rest > 0:
        yield f"… and {rest} more: `evals compare` lists them all, as JSON.\n"


def _records(records: Sequence[EvalRecord], wanted: set[str]) -> Mapping[str, EvalRecord]:
    """The records of a few questions; no other is held."""
    return {record.question.id: record for record in records if record.question.id in wanted}


def _block(change: QuestionChange, before: EvalRecord | None, after: EvalRecord | None) -> str:
    moved = [f"{name} {first:.2f} → {last:.2f}" for name, (first, last) in change.moved.items()][:_MOST_VALUES]
    expected = after.question.expected_answer if after is not None else None
    facts = ", ".join([*([change.note] if change.note else []), *moved])
    lines = [
        f"**{escape(change.question_id, 80)}** ({signed(change.change, 'ratio')}): {escape(facts)}",
        f"question: {escape(change.question[:_READ])}",
        *([f"expected: {escape(expected[:_READ])}"] if expected else []),
        f"before: {_answer(before)}",
        f"now: {_answer(after)}",
    ]
    return "<br>\n".join(lines) + "\n\n"


def _answer(record: EvalRecord | None) -> str:
    response = record.response if record is not None else None
    if response is None:
        return "not asked"
    told = f"{response.error.kind}: {response.error.message}" if response.error else response.answer or "–"
    return escape(told[:_READ])
