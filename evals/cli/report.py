"""A run on the terminal: its head, score and notes, its failures, its slices."""

from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from evals.cli.console import clean, number
from evals.cli.scorecard import scorecard_lines
from evals.config import EvalConfig
from evals.diagnosis import Finding, diagnose, in_turn, needs_verification
from evals.hints import applying
from evals.metrics.matching import MatchSettings
from evals.metrics.registry import parse_metric
from evals.schemas import EvalRecord, EvalRun, MetricSummary
from evals.scoring import ScoreSettings, slice_by, summarise
from evals.sensitivity import by_threshold

_CHUNKS_SHOWN = 3


def print_run(out: Console, run: EvalRun) -> None:
    """Print head, scorecard, weighted score and notes."""
    out.print(_head(run))
    out.print()
    for line in scorecard_lines(run, out.width):
        out.print(line)
    _print_weighted(out, run)
    _print_judge(out, run)
    for note in run.notes:
        out.print(clean(f"! {note}"), style="yellow")


def _head(run: EvalRun) -> Text:
    outcomes = run.outcomes
    parts = [f"{outcomes.answered} answered ({outcomes.abstained} abstained)"]
    parts += [f"{count} {kind}" for kind, count in outcomes.transport.items()]
    parts += [f"{outcomes.not_asked} not asked"] if outcomes.not_asked else []
    parts += [f"{outcomes.retried} retried"] if outcomes.retried else []
    if outcomes.median_chunks is not None:
        parts.append(f"median {outcomes.median_chunks:g} chunks")
    if outcomes.citations is not None:
        parts.append(f"{outcomes.citations} citations ({outcomes.invalid_citations} invalid)")
    model = run.config.get("llm_model")
    text = Text()
    text.append(f"\n{run.name}", style="bold")
    text.append(f"  {run.id}  {run.status}\n")
    text.append_text(clean(f"{run.server.url}{f', {model}' if model else ''}, {', '.join(run.datasets)}\n", 300))
    text.append(f"\n{run.question_count} questions: {', '.join(parts)}")
    return text


def _print_weighted(out: Console, run: EvalRun) -> None:
    weighted = run.weighted_score
    if weighted.score is None:
        out.print("\nweighted score: – (nothing feeds it)")
    else:
        parts = (f"{name} {value:.3f} × {weighted.weights[name]:g}" for name, value in weighted.objectives.items())
        out.print(Text.assemble("\nweighted score: ", (f"{weighted.score:.3f}", "bold"), f"  ({', '.join(parts)})"))
        partly = [name for name, fed in weighted.fed_by.items() if len(fed) < len(_feeds(run).get(name, fed))]
        for name in partly:
            out.print(clean(f"  {name} is fed by {', '.join(weighted.fed_by[name])} alone"), style="dim")
    if weighted.left_out:
        out.print(clean(f"  left out, weights renormalised: {', '.join(weighted.left_out)}"), style="dim")


def _print_judge(out: Console, run: EvalRun) -> None:
    """The judge's share: what it cost, apart from the server's cost_per_query, and how it failed."""
    judge = run.judge
    if judge is None:
        return
    cost = "price unknown" if judge.cost_usd is None else f"${judge.cost_usd:.4f}"
    if judge.cost_per_query_usd:
        cost += f" (${judge.cost_per_query_usd:.5f} a question, beside the server's cost_per_query)"
    parts = [f"{judge.calls} calls", f"{judge.cached} from the cache"]
    parts.append(f"{judge.usage.input_tokens:,} + {judge.usage.output_tokens:,} tokens, {cost}")
    parts += [f"{count} {failure}" for failure, count in run.outcomes.judge.items()]
    parts += [f"repeats disagree on {judge.flip_rate:.1%}"] if judge.flip_rate is not None else []
    out.print(clean(f"judge {judge.model}: {', '.join(parts)}"))


def print_hints(out: Console, run: EvalRun) -> None:
    """Print what the pattern of the metrics usually means, where it shows one that is known."""
    for hint in applying(run.scorecard):
        out.print(Text.assemble("→ ", clean(hint.text), (f" ({hint.evidence(run.scorecard)})", "dim")))


def _feeds(run: EvalRun) -> dict[str, list[str]]:
    feeds: dict[str, list[str]] = run.eval_config.get("scoring", {}).get("feeds", {})
    return feeds


def print_findings(out: Console, records: Sequence[EvalRecord], run: EvalRun, limit: int) -> None:
    """Print the failures worth looking at: question, answer, and what was retrieved."""
    findings = diagnose(records, match_settings(run), citation_base=citation_base(run))
    if not findings or limit <= 0:
        return
    out.print(f"\n{len(findings)} of {len(records)} questions have a fault", style="bold")
    for fault, count in sorted(Counter(finding.fault for finding in findings).items()):
        out.print(f"  {count:>5}  {fault.label}")
    for finding in in_turn(findings)[:limit]:
        print_finding(out, finding)
    if len(findings) > limit:
        out.print(f"… and {len(findings) - limit} more: evals show {run.id} --failures {len(findings)}", style="dim")


def print_verification(out: Console, records: Sequence[EvalRecord], run: EvalRun) -> None:
    """List the answers of which fuzzy match and judge disagree."""
    disputed = [record for record in records if needs_verification(record)]
    if not disputed:
        return
    out.print(f"\n{len(disputed)} answers need verification: fuzzy match and judge disagree", style="bold")
    for record in disputed:
        expected = clean(record.question.expected_answer or "", 80)
        answer = clean(record.response.answer or "" if record.response else "", 80)
        out.print(Text.assemble(f"  {record.question.id}: ", answer, ("  expected: ", "dim"), expected))
    out.print(f"a sheet to fill in: evals export --run-id {run.id} --format review", style="dim")


def print_finding(out: Console, finding: Finding) -> None:
    """Print one failure."""
    record = finding.record
    out.print()
    out.print(Text.assemble(clean(record.question.id), ": ", clean(finding.explanation, 300)), style="red")
    out.print(Text.assemble("  question  ", clean(record.question.question, 300)))
    if record.question.expected_answer:
        out.print(Text.assemble("  expected  ", clean(record.question.expected_answer, 300)))
    response = record.response
    if response is None or response.error is not None:
        return
    out.print(Text.assemble("  answer    ", clean(response.answer or "", 300)))
    for rank, chunk in enumerate((response.chunks or [])[:_CHUNKS_SHOWN], start=1):
        mark = "✓" if rank in finding.hit_ranks else " "
        name = chunk.document_name or chunk.document_id or chunk.chunk_id or "?"
        where = f"{name} § {chunk.section}" if chunk.section else name
        line = Text.assemble(f"  {mark} {rank:>2}      ", clean(where, 60), ": ", clean(chunk.text or "", 120))
        out.print(line, style="dim")


def match_settings(run: EvalRun) -> MatchSettings:
    """How the run recognised gold."""
    return MatchSettings(**run.eval_config.get("match", {}))


def citation_base(run: EvalRun) -> int:
    """The number of the first chunk in the server's citations."""
    return EvalConfig.build(run.eval_config).server_spec().citations.base


def print_slices(out: Console, records: Sequence[EvalRecord], run: EvalRun, key: str) -> None:
    """Print each metric for each value of a key."""
    groups = slice_by(records, key)
    settings = ScoreSettings(match=match_settings(run), confidence=run.eval_config.get("confidence", 0.95))
    table = Table(box=None, pad_edge=False, show_edge=False)
    table.add_column(f"by {key}", no_wrap=True)
    for value, members in groups.items():
        table.add_column(f"{value} (n={len(members)})", justify="right")
    for summary in run.scorecard.metrics:
        metric = parse_metric(summary.name)
        cells = []
        for members in groups.values():
            results = [score for record in members for score in record.scores if score.name == summary.name]
            part = summarise(metric, results, settings)
            cells.append(_with_interval(part))
        if any(cell != "–" for cell in cells):
            table.add_row(f"  {summary.name}", *cells)
    out.print()
    out.print(table)


def print_sensitivity(out: Console, records: Sequence[EvalRecord], run: EvalRun) -> None:
    """Print how recall and precision move with the overlap threshold, and which rules recognised the gold."""
    settings = match_settings(run)
    names = ("recall_at_5", "precision_at_5")
    table = Table(box=None, pad_edge=False, show_edge=False)
    for title in ("overlap threshold", *names, "golds recognised by rule"):
        table.add_column(title, justify="left" if title.startswith("golds") else "right")
    for row in by_threshold(records, [parse_metric(name) for name in names], settings):
        mark = " (used)" if row.threshold == settings.overlap_threshold else ""
        values = (number(summary.value, summary.unit) for summary in row.summaries)
        rules = ", ".join(f"{rule} {count}" for rule, count in sorted(row.rules.items())) or "none"
        table.add_row(f"{row.threshold:.1f}{mark}", *values, rules)
    out.print()
    out.print(table)
    golds = sum(len(record.question.gold_passages) for record in records if record.response is not None)
    out.print(f"of {golds} gold passages; the other rules do not depend on the threshold", style="dim")


def _with_interval(summary: MetricSummary) -> str:
    """A value with its interval, short enough for a column; of ratios only, whose scale is known."""
    value = number(summary.value, summary.unit)
    if summary.ci is None or summary.unit != "ratio":
        return value
    return f"{value} ({summary.ci[0]:.2f}–{summary.ci[1]:.2f})"
