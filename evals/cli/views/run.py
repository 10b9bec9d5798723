"""A run on the terminal: its head, score and notes, and its failures."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from evals.cli.terminal.console import BAD, DOUBTFUL, clean, draws
from evals.cli.views.gates import print_gates
from evals.cli.views.load import print_load
from evals.cli.views.repeats import print_repeats
from evals.cli.views.scorecard import scorecard_lines
from evals.cli.views.weighted import print_weighted
from evals.metrics.registry import parse_metric
from evals.schemas import EvalRun
from evals.scoring.diagnosis import Finding, Link, in_turn
from evals.scoring.diagnosis.slices import wrong_slices
from evals.scoring.measured import Measured
from evals.scoring.sensitivity import Sensitivity, by_threshold
from evals.scoring.settings import confidence
from evals.store.commands import command
from evals.text.counts import counted, share
from evals.views.abstention import abstention_cells, abstention_rates
from evals.views.formatting import number, one_line, place_of
from evals.views.hints import applying
from evals.views.intervals import interval_notes
from evals.views.judge_card import card_lines
from evals.views.judge_line import judge_line
from evals.views.links import link_lines, wrong_line
from evals.views.outcomes import outcome_parts
from evals.views.questions import questions_of, reading_notes
from evals.views.risk import area_line, risk_line
from evals.views.stages import stage_lines, stages_in_a_line

_CHUNKS_SHOWN = 3
_SLICES_SHOWN = 12
_SHARDS_SHOWN = 8
_SENSITIVE = ("recall_at_5", "precision_at_5")


def print_run(out: Console, run: EvalRun) -> None:
    """Print head, scorecard, weighted score, gates and notes."""
    out.print(_head(run))
    out.print()
    for line in scorecard_lines(run, out.width, pictures=draws(out)):
        out.print(line)
    print_weighted(out, run)
    print_gates(out, run.gates)
    _print_judge(out, run)
    _print_card(out, run)
    print_repeats(out, run)
    print_load(out, run)
    for note in [*reading_notes(run.fingerprints), *run.notes, *interval_notes(run)]:
        out.print(clean(f"! {note}"), style=DOUBTFUL)


def print_score(out: Console, run: EvalRun) -> None:
    """Print head, weighted score and gates only."""
    out.print(_head(run))
    print_weighted(out, run)
    print_gates(out, run.gates)


def print_abstention(out: Console, measured: Measured) -> None:
    """Print who declined what, where the dataset says what can be answered."""
    table = measured.abstention
    if table is None:
        return
    out.print()
    for title, answered, abstained in abstention_cells(table):
        out.print(f"{title:<14}{answered:>10}{abstained:>11}", style=None if title else "bold")
    for title, rate in abstention_rates(table):
        out.print(f"  {title:<32}{rate}")


def print_stages(out: Console, measured: Measured) -> None:
    """Print the recall at each stage of the retrieval, where the server lists what each found."""
    for title, line in stage_lines(measured.digest.stages):
        if not line:
            out.print()
        out.print(clean(f"  {title:<32}{line}" if line else title))


def print_in_short(out: Console, measured: Measured) -> None:
    """Print a line on the stages of the retrieval and one on the confidence, where the server says such things."""
    curve = measured.digest.risk
    stages = stages_in_a_line(measured.digest.stages)
    for line in (stages, area_line(curve) if curve else None):
        if line is not None:
            out.print(clean(line))


def print_risk(out: Console, measured: Measured) -> None:
    """Print the risk at some coverages, where the server gives a confidence."""
    curve = measured.digest.risk
    if curve is not None:
        out.print()
        out.print(clean(risk_line(curve)))


def _head(run: EvalRun) -> Text:
    model = run.config.get("llm_model")
    text = Text.assemble("\n", (one_line(run.name, 200), "bold"))
    text.append(f"  {run.id}  {run.status}\n")
    if run.merged_from:
        text.append_text(clean(_merged(run), 400)).append("\n")
    text.append_text(clean(f"{run.server.url}{f', {model}' if model else ''}, {', '.join(run.datasets)}\n", 300))
    text.append(f"\n{questions_of(run.fingerprints, run.question_count)}: {', '.join(outcome_parts(run.outcomes))}")
    return text


def _merged(run: EvalRun) -> str:
    """Of which shards the run was made, and how long they took: one after the other, and side by side."""
    shards = run.merged_from
    named = ", ".join(f"{one.shard} {one.id}" for one in shards[:_SHARDS_SHOWN])
    more = ", …" if len(shards) > _SHARDS_SHOWN else ""
    longest = max(one.duration_s for one in shards)
    took = f"{run.duration_s:.0f} s in all, the longest {longest:.0f} s"
    return f"merged from {counted(len(shards), 'shard')} ({named}{more}): {took}"


def _print_judge(out: Console, run: EvalRun) -> None:
    """The judge's share: what it cost, apart from the server's cost_per_query, and how it failed."""
    line = judge_line(run)
    if line is not None:
        out.print(clean(line))


def _print_card(out: Console, run: EvalRun) -> None:
    """How the judge fares against people's labels, and how its scores go with the length of answers."""
    for line in card_lines(run):
        out.print(clean(f"  {line}"))


def print_hints(out: Console, run: EvalRun) -> None:
    """Print what the pattern of the metrics usually means, where it shows one that is known."""
    for hint in applying(run.scorecard, run.outcomes):
        out.print(Text.assemble("→ ", clean(hint.text), (f" ({hint.evidence(run.scorecard)})", "dim")))


def print_findings(out: Console, measured: Measured, *, limit: int, runs_dir: Path | None) -> None:
    """Print the failures worth looking at: question, answer, and what was retrieved."""
    run = measured.run
    if limit <= 0 or not run.outcomes.answered + run.error_count:
        return
    digest = measured.digest
    if not digest.found:
        out.print("\nno question is known to have ended wrong", style="bold")
        return
    diagnosis, failures = digest.diagnosis, digest.failures
    out.print(f"\n{share(diagnosis.wrong, diagnosis.asked, 'question')} ended wrong", style="bold")
    for line in link_lines(diagnosis):
        out.print(f"  {line}")
    for finding in measured.findings(in_turn(failures, limit)):
        print_finding(out, finding)
    if len(failures) > limit:
        all_of_them = command(f"show {run.id} --failures {len(failures)}", runs_dir)
        out.print(f"… and {len(failures) - limit} more: {all_of_them}", style="dim", soft_wrap=True)


def print_wrong_slices(out: Console, measured: Measured, key: str) -> None:
    """Print how many questions ended wrong for each value of a key, the worst first; nothing where none did."""
    links = dict(measured.digest.found.links())
    values = measured.values(key)
    asked = ((number, values[number]) for number in measured.columns.numbers)
    slices = wrong_slices(links, asked, confidence(measured.run), measured.questions())
    if not any(one.wrong for one in slices):
        return
    out.print()
    out.print(clean(f"ended wrong by {key}, the worst first; intervals hold for all values together"), style="bold")
    for one in slices[:_SLICES_SHOWN]:
        out.print(clean(f"  {wrong_line(one)}"), style=BAD if one.is_worse else None)
    if len(slices) > _SLICES_SHOWN:
        out.print(f"  … and {len(slices) - _SLICES_SHOWN} more values", style="dim")


def print_link(out: Console, measured: Measured, link: Link, *, limit: int | None) -> None:
    """Print the questions whose first broken link is this one."""
    found = measured.digest.found.where([link])
    out.print(f"{share(len(found), measured.run.question_count, 'question')}: {link.label}", style="bold")
    for finding in measured.findings(found[:limit]):
        print_finding(out, finding)


def print_verification(out: Console, measured: Measured, runs_dir: Path | None) -> None:
    """List the answers of which fuzzy match and judge disagree."""
    disputed = measured.digest.to_verify
    if not disputed:
        return
    out.print(
        f"\n{counted(len(disputed), 'answer', 'needs')} verification: fuzzy match and judge disagree",
        style="bold",
    )
    for record in (measured.source[place] for place in disputed):
        expected = clean(record.question.expected_answer or "", 80)
        answer = clean(record.response.answer or "" if record.response else "", 80)
        out.print(Text.assemble("  ", clean(record.question.id), ": ", answer, ("  expected: ", "dim"), expected))
    sheet = command(f"export --run-id {measured.run.id} --format review", runs_dir)
    out.print(f"a sheet to fill in: {sheet}", style="dim", soft_wrap=True)


def print_finding(out: Console, finding: Finding) -> None:
    """Print one failure."""
    record = finding.record
    out.print()
    out.print(
        Text.assemble(clean(record.question.id), ": ", clean(f"{finding.link}: {finding.explanation}", 300)),
        style=BAD,
    )
    for remark in finding.remarks:
        out.print(Text.assemble("  beside    ", clean(remark, 300)), style="dim")
    out.print(Text.assemble("  question  ", clean(record.question.question, 300)))
    if record.question.expected_answer:
        out.print(Text.assemble("  expected  ", clean(record.question.expected_answer, 300)))
    response = record.response
    if response is None or response.error is not None:
        return
    out.print(Text.assemble("  answer    ", clean(response.answer or "", 300)))
    for rank, chunk in enumerate((response.chunks or [])[:_CHUNKS_SHOWN], start=1):
        mark = "✓" if rank in finding.hit_ranks else " "
        line = Text.assemble(
            f"  {mark} {rank:>2}      ", clean(place_of(chunk), 60), ": ", clean(chunk.text or "", 120)
        )
        out.print(line, style="dim")


def print_sensitivity(out: Console, measured: Measured) -> None:
    """Print how recall and precision move with the overlap threshold, and which rules recognised the gold."""
    records, settings = measured.source, measured.cases.settings
    rows = by_threshold(records, [parse_metric(name) for name in _SENSITIVE], settings)
    out.print()
    out.print(_sensitivity_table(rows, used=settings.match.overlap_threshold))
    searched = (record.question for record in records if record.response is not None and record.response.chunks)
    golds = sum(len(question.gold_passages) for question in searched)
    out.print(
        f"of {counted(golds, 'gold passage')} of questions that brought chunks; "
        "the other rules do not depend on the threshold",
        style="dim",
    )


def _sensitivity_table(rows: Sequence[Sensitivity], *, used: float) -> Table:
    table = Table(box=None, pad_edge=False, show_edge=False)
    for title in ("overlap threshold", *_SENSITIVE):
        table.add_column(title, justify="right")
    table.add_column("golds recognised by rule")
    for row in rows:
        mark = " (used)" if row.threshold == used else ""
        values = (number(summary.value, summary.unit) for summary in row.summaries)
        rules = ", ".join(f"{rule} {count}" for rule, count in sorted(row.rules.items())) or "none"
        table.add_row(f"{row.threshold:.1f}{mark}", *values, rules)
    return table
