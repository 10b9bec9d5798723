"""A run on the terminal: its head, score and notes, and its failures."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from evals.cli.terminal import BAD, DOUBTFUL, clean, draws, plain_table
from evals.cli.views.scorecard import print_gates, print_load, print_repeats, print_weighted, scorecard_lines
from evals.metrics.registry import parse_metric
from evals.metrics.sample import Sample
from evals.report.wording import (
    abstention_cells,
    abstention_rates,
    applying,
    area_line,
    bracketed,
    card_lines,
    detail_line,
    interval_notes,
    judge_line,
    link_lines,
    number,
    one_line,
    outcome_parts,
    place_of,
    questions_of,
    ratio,
    reading_notes,
    risk_line,
    stage_lines,
    stages_in_a_line,
    wrong_line,
)
from evals.schemas.calibration import Agreement, Calibration, Figure
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse
from evals.schemas.results import EvalRecord, EvalRun
from evals.scoring.conclusion import Measured
from evals.scoring.diagnosis.counts import wrong_slices
from evals.scoring.diagnosis.outcome import Finding
from evals.scoring.diagnosis.stages import Link
from evals.scoring.digest import in_turn
from evals.scoring.scorecard import by_threshold
from evals.scoring.settings import confidence
from evals.store.naming import command
from evals.text.numbers import counted, share

# A judge's calibration on the terminal: the judge beside annotators, a constant guess and the length of answers.


_FIGURES = {
    "agreement": "agreement",
    "kappa": "Cohen's kappa",
    "ac1": "Gwet's AC1",
    "sensitivity": "sensitivity",
    "specificity": "specificity",
    "auroc": "AUROC",
    "pearson": "Pearson",
    "spearman": "Spearman",
    "kendall": "Kendall",
}

_WIDTHS = (15, 20, 20, 10, 10)


def print_calibration(out: Console, found: Calibration, run: EvalRun) -> None:
    """Print what was compared, a line a figure, and what there is to mind."""
    out.print(clean(f"\n{found.model} against people: {found.metric}"), style="bold")
    out.print(clean(f"{', '.join(_labelled_answers(found))}\n"))
    for row, cells in enumerate(_figures(found)):
        line = "".join(cell.ljust(width) for cell, width in zip(cells, _WIDTHS, strict=True))
        out.print(Text(line.rstrip()), style=None if row else "bold")
    out.print()
    if found.label_mean.value is not None:
        out.print(f"mean by people {bracketed(found.label_mean)}, by the judge {bracketed(found.score_mean)}")
    if (preference := found.preference) is not None:
        said = f"{counted(preference.pairs, 'pair')} of answers, {preference.tied} tied by the judge"
        out.print(f"{said}: agrees with people's preference on {bracketed(preference.agreement)}")
    for reason in _missing(found.judge):
        out.print(clean(f"– {reason}"), style="dim")
    if run.judge is not None:
        cost = "price unknown" if run.judge.cost_usd is None else f"${run.judge.cost_usd:.4f}"
        out.print(clean(f"{counted(run.judge.calls, 'call')}, {run.judge.cached} from the cache, {cost}"))
    for note in run.notes:
        out.print(clean(f"! {note}"), style=DOUBTFUL)


def _labelled_answers(found: Calibration) -> Iterator[str]:
    yield counted(len(found.answers), "labelled answer") + f" ({found.scale})"
    clusters = len({answer.cluster for answer in found.answers})
    if clusters != len(found.answers):
        yield counted(clusters, "cluster")
    if found.lost:
        yield f"{found.lost} without a value of the judge"
    if found.unlabelled:
        yield counted(found.unlabelled, "row") + " without a label"


def _figures(found: Calibration) -> Iterator[tuple[str, ...]]:
    yield "", "judge", "annotators", "constant", "length"
    for name, title in _FIGURES.items():
        annotators, constant, length = (
            _figure(one, name) for one in (found.annotators, found.always_the_same, found.length)
        )
        yield title, bracketed(_figure(found.judge, name)), bracketed(annotators), ratio(constant), ratio(length)


def _missing(agreement: Agreement) -> Iterator[str]:
    for name, title in _FIGURES.items():
        figure = _figure(agreement, name)
        if figure.value is None and figure.reason:
            yield f"no {title}: {figure.reason}"


def _figure(agreement: Agreement | None, name: str) -> Figure:
    return Figure() if agreement is None else getattr(agreement, name)


# One question whole: what was asked, expected, answered, retrieved and measured.


_DETAILS = 1000
"""Characters of a metric's details: what a check found and what is missing, but no whole passages."""


_BODY = 2000
"""Characters of a body in which no answer was found: enough to see how it is built."""


def _labelled(label: str, text: str, limit: int | None = None) -> Text:
    return Text.assemble(f"{label:<10}", clean(text, limit))


def print_question(out: Console, record: EvalRecord, measured: Measured) -> None:
    """Print a record with nothing cut."""
    response = record.response
    _print_asked(out, record.question, response.turns if response else ())
    if response is None:
        out.print("not asked")
        return
    case = measured.cases.of(record)
    _print_answer(out, response, case)
    _print_chunks(out, case)
    units = {summary.name: summary.unit for summary in measured.run.scorecard.metrics}
    for score in record.scores:
        value = f"– {score.reason}" if score.value is None else number(score.value, units.get(score.name, "ratio"))
        out.print(Text.assemble(f"{score.name:<32}", clean(value)))
        details = detail_line(score)
        if details:
            out.print(Text.assemble("  ", clean(details, _DETAILS)), style="dim")


def _print_asked(out: Console, question: EvalQuestion, answers: Sequence[EvalResponse]) -> None:
    """Print the question with what was said before, as far as it was answered, and what is expected."""
    out.print(clean(question.id), style="bold")
    for message, turn in zip(question.turns[:-1], answers, strict=False):
        out.print(_labelled("before", message))
        out.print(_labelled("      →", turn.answer or "–"))
    out.print(_labelled("question", question.question))
    out.print(_labelled("expected", question.expected_answer or "–"))
    for gold in question.gold_passages:
        where = " § ".join(filter(None, (gold.document_id, gold.section)))
        said = gold.text or ("" if where else f"chunk {gold.chunk_id}")
        out.print(_labelled("gold", ": ".join(filter(None, (where, said)))))


def _print_answer(out: Console, response: EvalResponse, case: Sample) -> None:
    """Print the answer or why there is none, and what is known of a refusal."""
    error = response.error
    if error is not None:
        out.print(clean(f"no answer after {counted(response.attempts, 'attempt')}: {error.message}"), style=BAD)
        if error.kind == "malformed" and response.raw:
            out.print(_labelled("body", response.raw, _BODY))
    out.print(_labelled("answer", response.answer or "–"))
    if case.response.refused is not None:
        said = "declined" if case.is_flagged else "did not decline"
        out.print(f"refused   {str(case.response.refused).lower()}: the server says that it {said}")
    if case.abstention_disputed:
        sides = ("a refusal", "an answer") if case.reads_as_refusal else ("an answer", "a refusal")
        out.print("disputed  the text rules take it for {}, the judge for {}".format(*sides), style=DOUBTFUL)


def _print_chunks(out: Console, case: Sample) -> None:
    cited = {source.place for source in case.cited}
    for place, chunk in enumerate(case.response.chunks or []):
        golds = case.matches.by_chunk[place]
        marks = "".join(("✓" if golds else " ", "c" if place in cited else " "))
        rules = f" [{', '.join(sorted(set(golds.values())))}]" if golds else ""
        source = clean(place_of(chunk))
        out.print(Text.assemble(f"{marks} {place + 1:>3}    ", source, rules, ": ", clean(chunk.text or "")))
    if case.response.chunks:
        out.print("✓ holds gold, by the rule in brackets; c is cited by the answer", style="dim")


_CHUNKS_SHOWN = 3

_SLICES_SHOWN = 12

_SHARDS_SHOWN = 8

_SENSITIVE = ("recall_at_5", "precision_at_5")


def print_run(out: Console, run: EvalRun) -> None:
    """Print head, scorecard, weighted score, gates and notes."""
    out.print(_head(run))
    out.print()
    for row in scorecard_lines(run, out.width, pictures=draws(out)):
        out.print(row)
    print_weighted(out, run)
    print_gates(out, run.gates)
    judged = judge_line(run)  # what the judge cost, apart from the server's cost_per_query, and how it failed
    if judged is not None:
        out.print(clean(judged))
    for line in card_lines(run):
        out.print(clean(f"  {line}"))
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
        out.print(clean(f"  {title:<32}{line}" if line else f"\n{title}"))


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
    if shards := run.merged_from:  # one after the other, and side by side
        named = ", ".join(f"{one.shard} {one.id}" for one in shards[:_SHARDS_SHOWN])
        more = ", …" if len(shards) > _SHARDS_SHOWN else ""
        took = f"{run.duration_s:.0f} s in all, the longest {max(one.duration_s for one in shards):.0f} s"
        text.append_text(clean(f"merged from {counted(len(shards), 'shard')} ({named}{more}): {took}", 400)).append(
            "\n"
        )
    text.append_text(clean(f"{run.server.url}{f', {model}' if model else ''}, {', '.join(run.datasets)}\n", 300))
    text.append(f"\n{questions_of(run.fingerprints, run.question_count)}: {', '.join(outcome_parts(run.outcomes))}")
    return text


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
    links = measured.digest.links
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
    found = [one for one in measured.digest.found if one.link is link]
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
    question, response = finding.record.question, finding.record.response
    out.print()
    why = clean(f"{finding.link}: {finding.explanation}", 300)
    out.print(Text.assemble(clean(question.id), ": ", why), style=BAD)
    for remark in finding.remarks:
        out.print(Text.assemble("  ", _labelled("beside", remark, 300)), style="dim")
    out.print(Text.assemble("  ", _labelled("question", question.question, 300)))
    if question.expected_answer:
        out.print(Text.assemble("  ", _labelled("expected", question.expected_answer, 300)))
    if response is None or response.error is not None:
        return
    out.print(Text.assemble("  ", _labelled("answer", response.answer or "", 300)))
    for rank, chunk in enumerate((response.chunks or [])[:_CHUNKS_SHOWN], start=1):
        mark, source = "✓" if rank in finding.hit_ranks else " ", clean(place_of(chunk), 60)
        out.print(Text.assemble(f"  {mark} {rank:>2}      ", source, ": ", clean(chunk.text or "", 120)), style="dim")


def print_sensitivity(out: Console, measured: Measured) -> None:
    """Print how recall and precision move with the overlap threshold, and which rules recognised the gold."""
    records, settings = measured.source, measured.cases.settings
    numbers = ("overlap threshold", *_SENSITIVE)
    table = plain_table(*numbers, "golds recognised by rule", right=numbers)
    for row in by_threshold(records, [parse_metric(name) for name in _SENSITIVE], settings):
        mark = " (used)" if row.threshold == settings.match.overlap_threshold else ""
        values = (number(summary.value, summary.unit) for summary in row.summaries)
        rules = ", ".join(f"{rule} {count}" for rule, count in sorted(row.rules.items())) or "none"
        table.add_row(f"{row.threshold:.1f}{mark}", *values, rules)
    out.print()
    out.print(table)
    golds = sum(len(record.question.gold_passages) for record in records if record.response and record.response.chunks)
    out.print(
        f"of {counted(golds, 'gold passage')} of questions that brought chunks; "
        "the other rules do not depend on the threshold",
        style="dim",
    )
