"""What two runs did differently, and which metrics cannot be compared for it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evals.metrics.base import UNITS_OF_TIME, BaseMetric, Need
from evals.schemas.results import EvalRun
from evals.scoring.calibration import hashes_of
from evals.scoring.saved import SavedRun
from evals.scoring.settings import settings_of
from evals.text.numbers import counted

_UNINTERESTING = ("server.url", "runs_dir", "name", "gate", "dataset_file", "data_dir", "shard", "allow_uncalibrated")


def why_not_compared(metric: BaseMetric, first: EvalRun, last: EvalRun) -> str | None:
    """Why a metric of two runs is not compared; None where it is."""
    if metric.unit in UNITS_OF_TIME and (reason := _other_load(first, last)):
        return reason
    rules = [settings_of(run).match for run in (first, last)]
    if Need.GOLD in metric.needs and rules[0] != rules[1]:
        return "the runs recognised gold by different rules (`match`)"
    judges = [(run.judge.model, run.judge.effort) if run.judge else None for run in (first, last)]
    if Need.JUDGE in metric.needs and judges[0] != judges[1]:
        return "the runs had different judges"
    if metric.heeds_abstention and judges[0] != judges[1]:
        return "the runs had different judges, who decide whether an answer declines"
    if Need.JUDGE in metric.needs and first.judge and last.judge:
        prompts = set(hashes_of(metric))
        for name in prompts & first.judge.prompt_hashes.keys() & last.judge.prompt_hashes.keys():
            if first.judge.prompt_hashes[name] != last.judge.prompt_hashes[name]:
                return f"the judge was asked by different prompts ({name})"
    for need, part in ((Need.EMBEDDER, "embedder"), (Need.TEXT_SCORER, "scorer")):
        if need in metric.needs and (first.semantics or {}).get(part) != (last.semantics or {}).get(part):
            return f"the runs had different text models ({part})"
    meanings = [{one.name: one.meaning for one in run.metric_definitions}.get(metric.name) for run in (first, last)]
    if meanings[0] != meanings[1]:
        return "the metric was changed between the runs"
    return None


def _other_load(first: EvalRun, last: EvalRun) -> str | None:
    if first.concurrencies or last.concurrencies or first.concurrency != last.concurrency:
        return "the runs had different concurrency"
    if (first.rescored_from or first.id) == (last.rescored_from or last.id):
        return None  # the same answers
    if last.id not in first.interleaved_with:
        return "not asked in turn (use --vary)"
    return None


def warnings_on(runs: Sequence[SavedRun]) -> Iterator[str]:
    """What makes runs hard to compare."""
    first = runs[0]
    for other in runs[1:]:
        fingerprints = [{one.name: one.sha256 for one in each.run.fingerprints} for each in (first, other)]
        for name in fingerprints[0].keys() & fingerprints[1].keys() if first.run.log is None else ():
            if fingerprints[0][name] != fingerprints[1][name]:
                yield f"the questions of {name} differ between {first.run.id} and {other.run.id}"
        changed = regraded(first, other)
        if changed:
            named = ", ".join(changed[:5]) + (", …" if len(changed) > 5 else "")
            count = counted(len(changed), "question")
            yield f"{count} with another text or other gold in {other.run.id} left out: {named}"
    for each in runs:
        if each.run.status != "complete":
            yield f"run {each.run.id} is {each.run.status}"
        if each.run.server.changed:
            yield f"the server's configuration changed during run {each.run.id}"


def regraded(first: SavedRun, other: SavedRun) -> list[str]:
    """The questions of one id whose text, expected answer or gold differs: what they measured does not compare."""
    golds = dict(zip(first.results.ids, first.results.golds, strict=True))
    pairs = zip(other.results.ids, other.results.golds, strict=True)
    return [key for key, gold in pairs if key in golds and golds[key] != gold]


def differences_of(runs: Sequence[SavedRun]) -> Iterator[str]:
    """What differs between the runs other than their answers: the server's configuration, ours, versions."""
    for title, tables in (
        ("", [_texts(each.run.config) for each in runs]),
        ("", [_texts(each.run.eval_config) for each in runs]),
        ("version of ", [each.run.package_versions for each in runs]),
    ):
        for key in sorted(set().union(*tables)):
            values = [table.get(key, "–") for table in tables]
            if len(set(values)) > 1 and not key.startswith(_UNINTERESTING):
                yield f"{title}{key}: {' / '.join(values)}"


def _texts(config: Mapping[str, Any], path: str = "") -> dict[str, str]:
    """Every setting by its path; a list is one setting."""
    texts: dict[str, str] = {}
    for key, value in config.items():
        inner = f"{path}.{key}" if path else str(key)
        if isinstance(value, Mapping):
            texts |= _texts(value, inner)
        elif isinstance(value, list):
            texts[inner] = ", ".join(map(str, value)) or "–"
        elif value is not None:
            texts[inner] = str(value)
    return texts
