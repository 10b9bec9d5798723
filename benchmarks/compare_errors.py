"""How often a comparison of runs is wrong, and what it finds: python benchmarks/compare_errors.py [--write].

`--only together --repeats 1000 --write` compares the levels of metrics that move together with those of Holm's
procedure. --write puts the tables into docs/simulations.md.

The values are those of real questions: the embedded server is asked the golden set, or `--datasets` of `--data-dir`,
and a pair of runs is drawn from its values. A noisy server answers some questions as if they were others, anew in each
run; where questions come in clusters of 5 to 10, all questions of a cluster together. What is counted goes through the
functions that decide in `evals compare`.
"""

import argparse
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from math import isnan, sqrt
from pathlib import Path

import numpy as np
from evals.compare.objectives import stand
from evals.compare.statistics import ALPHA, FEWEST, Hypothesis, PairedMetric, decide, measure

from evals import EvalConfig, run_evaluation
from evals.compare.paired import Rules, Tested, group_of, rule_on
from evals.compare.pareto import Contest, decide_contests, find_dominance
from evals.metrics.base import BaseMetric
from evals.metrics.registry import parse_metric
from evals.scoring.config import ScoringConfig

PAGE = Path(__file__).resolve().parent.parent / "docs" / "simulations.md"
BEGIN, END = "<!-- tables of benchmarks/compare_errors.py{} -->", "<!-- end of tables -->"
CITATION = ("citation_precision", "citation_recall")
SCORING = ScoringConfig()
FAR = 1.3
"""Standard errors: nearer to 0 than that, p is above 0.1, and nothing is decided by how much."""
Table = np.ndarray
"""A row a question, a column a metric; NaN where a question has no value."""


@dataclass(frozen=True)
class World:
    """What runs are drawn from.

    Attributes:
        metrics: The columns.
        table: The values of a real run.
        noise: The share of questions that are answered as if they were others.
        clustered: Whether questions come in clusters of 5 to 10.
    """

    metrics: list[BaseMetric]
    table: Table
    noise: float
    clustered: bool = False

    def columns(self, names: Sequence[str]) -> list[int]:
        """The places of metrics."""
        return [place for place, metric in enumerate(self.metrics) if metric.name in names]


@dataclass
class Counts:
    """How often something was seen."""

    of: int = 0
    seen: dict[str, int] = field(default_factory=dict)

    def add(self, *names: str) -> None:
        """Count one simulation, in which these were seen."""
        self.of += 1
        for name in names:
            self.seen[name] = self.seen.get(name, 0) + 1

    def share(self, name: str) -> str:
        """The share, with its standard error."""
        share = self.seen.get(name, 0) / self.of
        return f"{100 * share:.1f} ± {100 * sqrt(share * (1 - share) / self.of):.1f} %"


def main() -> None:
    """Print the tables, or write them into docs/simulations.md."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=4000, help="simulations a cell")
    parser.add_argument("--dominance-repeats", type=int, default=4000, help="the same of five runs, which take longer")
    parser.add_argument("--datasets", default="golden", help="whose questions are asked")
    parser.add_argument("--data-dir", type=Path, help="folder of local rows")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=["errors", "power", "dominance", "together"], help="one of the tables")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/simulations.md")
    options = parser.parse_args()
    metrics, table = real_values(options.datasets, options.data_dir)
    print(f"{len(table)} questions of {options.datasets}, {len(metrics)} metrics\n")
    check_p(metrics, table, np.random.default_rng(options.seed))
    repeats = {"errors": options.repeats, "power": options.repeats, "dominance": options.dominance_repeats}
    made = {"errors": errors, "power": powers, "dominance": dominances, "together": together}
    repeats["together"], found = options.repeats, []
    alone = options.only == "together"
    for name in [options.only] if options.only and (alone or not options.write) else list(made)[:3]:
        lines = []
        for line in made[name](metrics, table, np.random.default_rng(options.seed), repeats[name]):
            print(line, flush=True)
            lines.append(line)
        found.append("\n".join(lines))
        print()
    if options.write:
        write(BEGIN.format(" --only together" if alone else ""), "\n\n".join(found))


def write(begin: str, text: str) -> None:
    """Put the tables between the marks of the page."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(begin)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{begin}\n\n{text}\n\n{END}{after}", encoding="utf-8")


def real_values(datasets: str, data_dir: Path | None) -> tuple[list[BaseMetric], Table]:
    """The metrics that have values, and their values by question."""
    with tempfile.TemporaryDirectory() as folder:
        config = EvalConfig(
            datasets=datasets.split(","), data_dir=data_dir, samples_per_dataset=200, embedded=True, judge=False,
            suite=["core", "answer"], ingest=datasets != "golden", runs_dir=Path(folder),
        )  # fmt: skip
        run = run_evaluation(config)
        records = run.records()
    found = [one for one in run.scorecard.metrics if one.value is not None and one.group != "performance"]
    metrics = [parse_metric(one.name) for one in found]
    rows = [{score.name: score.value for score in record.scores} for record in records]
    return metrics, np.array([[row.get(metric.name) for metric in metrics] for row in rows], dtype=float)


def draw_questions(world: World, n: int, rng: np.random.Generator) -> tuple[Table, list[str]]:
    """So many questions, and the clusters that they belong to."""
    rows = world.table[rng.integers(0, len(world.table), n)]
    if not world.clustered:
        return rows, [str(place) for place in range(n)]
    sizes = rng.integers(5, 11, n)
    return rows, [str(label) for label in np.repeat(np.arange(n), sizes)[:n]]


def draw_run(world: World, rows: Table, clusters: Sequence[str], rng: np.random.Generator) -> Table:
    """One run over these questions: the values of some, or of all of a cluster, are those of other questions."""
    labels = np.array(clusters).astype(int)
    noisy = rng.random(labels.max() + 1)[labels] < world.noise
    others = world.table[rng.integers(0, len(world.table), len(rows))]
    drawn = np.where(noisy[:, None], others, rows)
    return np.where(np.isnan(rows), np.nan, np.where(np.isnan(drawn), rows, drawn))


@dataclass(frozen=True)
class Found:
    """A metric on which enough questions differ for a verdict."""

    metric: BaseMetric
    p: float
    difference: float
    units: dict[str, float]

    def said(self) -> str:
        """The verdict on it, where it has one."""
        up = self.difference > 0
        return "better" if up == (self.metric.higher_is_better is not False) else "worse"


def paired(world: World, first: Table, last: Table, clusters: Sequence[str]) -> list[Found]:
    """Every metric of two runs on which enough questions differ."""
    found = []
    for place, metric in enumerate(world.metrics):
        there = ~np.isnan(first[:, place]) & ~np.isnan(last[:, place])
        before, after = first[there, place], last[there, place]
        if np.count_nonzero(before != after) >= FEWEST:
            labels = [label for label, kept in zip(clusters, there, strict=True) if kept] if world.clustered else None
            p, ids, steps = p_of(metric, before, after, labels), np.flatnonzero(there), after - before
            if labels is None:
                units = {str(place): step for place, step in zip(ids, steps.tolist(), strict=True) if step}
            else:
                named = [str(place) for place in ids]
                own = PairedMetric(metric, named, before.tolist(), after.tolist(), labels, p, "sign-flip")
                units = own.flipped_units
            found.append(Found(metric, p, float(steps.mean()), units))
    return found


def p_of(metric: BaseMetric, before: Table, after: Table, labels: Sequence[str] | None) -> float:
    """The p of `measure`; half where it is far from any level, which saves most of the time."""
    differences = after - before
    if labels is not None:
        differences = np.bincount(np.unique(labels, return_inverse=True)[1], differences)
    if abs(differences.sum()) < FAR * sqrt((differences**2).sum()):
        return 0.5
    return measured_p(metric, before, after, labels)


def measured_p(metric: BaseMetric, before: Table, after: Table, labels: Sequence[str] | None) -> float:
    """The p that a comparison finds."""
    own = labels or [str(place) for place in range(len(before))]
    found = measure(metric, before.tolist(), after.tolist(), own).p
    assert found is not None
    return found


def check_p(metrics: list[BaseMetric], table: Table, rng: np.random.Generator) -> None:
    """Check that the faster p is that of a comparison where it matters."""
    world = World(metrics, table, 0.3)
    rows, clusters = draw_questions(world, 150, rng)
    first, last = (draw_run(world, rows, clusters, rng) for _ in range(2))
    for place, metric in enumerate(metrics):
        there = ~np.isnan(first[:, place]) & ~np.isnan(last[:, place])
        before, after = first[there, place], last[there, place]
        if np.count_nonzero(before != after) >= FEWEST:
            fast, found = p_of(metric, before, after, None), measured_p(metric, before, after, None)
            assert fast == found or min(fast, found) > 2 * ALPHA, metric.name


def verdicts(found: Sequence[Found], primary: str | None = None, comparisons: int = 1) -> dict[str, str]:
    """The metrics with a verdict."""
    rules = Rules(primary_of=SCORING.primary, primary=primary, comparisons=comparisons)
    rulings = rule_on([Tested(each.metric, each.p, each.units) for each in found], rules)
    return {each.metric.name: each.said() for each in found if rulings[each.metric.name][2].adjusted < ALPHA}


def by_holm(found: Sequence[Found]) -> dict[str, str]:
    """The same where metrics count as independent, and equal ones twice."""
    names = {each.metric.name for each in found}
    primary = {next((name for name in wanted if name in names), None) for wanted in SCORING.primary.values()}
    family = [Hypothesis(group_of(each.metric), each.p, each.metric.name in primary) for each in found]
    return {
        each.metric.name: each.said()
        for each, ruling in zip(found, decide(family), strict=True)
        if ruling.adjusted < ALPHA
    }


def errors(metrics: list[BaseMetric], table: Table, rng: np.random.Generator, repeats: int) -> Iterator[str]:
    """Runs of one server: every verdict is a false one."""
    yield "| runs of one server, any verdict is a false one | n | any verdict | the gate fails |\n|---|---|---|---|"
    for noise, clustered, n, runs in (
        (0.0, False, 100, 2), (0.1, False, 100, 2), (0.1, False, 200, 2), (0.3, False, 100, 2), (0.3, False, 200, 2),
        (0.3, True, 100, 2), (0.3, True, 200, 2), (0.3, False, 200, 3), (0.3, True, 200, 3),
    ):  # fmt: skip
        world, counts = World(metrics, table, noise, clustered), Counts()
        for _ in range(repeats):
            rows, clusters = draw_questions(world, n, rng)
            first, *others = (draw_run(world, rows, clusters, rng) for _ in range(runs))
            found = [paired(world, first, other, clusters) for other in others]
            said = {one for each in found for one in verdicts(each, comparisons=len(others)).values()}
            counts.add(*(["any"] if said else []), *(["gate"] if "worse" in said else []))
        kind = f"{noise:.0%} of questions answered otherwise" if noise else "answers that never change"
        kind += ", in clusters of 5 to 10" if clustered else ""
        kind += "; three runs, of which two are set against the first" if runs == 3 else ""
        yield f"| {kind} | {n} | {counts.share('any')} | {counts.share('gate')} |"


def break_citations(world: World, run: Table, rng: np.random.Generator) -> Table:
    """Lose the citations of a tenth of the questions."""
    lost = rng.random(len(run)) < 0.1
    broken = run.copy()
    for place in world.columns((*CITATION, "section_accuracy", "source_citation_quality")):
        broken[lost & ~np.isnan(run[:, place]), place] = 0.0
    return broken


def break_secondary(world: World, run: Table, rng: np.random.Generator) -> Table:
    """Take 0.2 from one metric that is not the primary one of its group: precision of the citations."""
    (place,) = world.columns(["citation_precision"])
    broken = run.copy()
    share = 0.2 / max(0.2, float(np.nanmean(run[:, place])))
    lost = rng.random(len(run)) < share
    broken[lost & ~np.isnan(run[:, place]), place] = 0.0
    return broken


def powers(metrics: list[BaseMetric], table: Table, rng: np.random.Generator, repeats: int) -> Iterator[str]:
    """A run that is worse: how often it is found."""
    header = "`citation_recall` is `worse` | one test alone at 0.05/groups | with `--primary` | the gate fails"
    yield f"| what broke, with 20 % of questions answered otherwise | n | {header} |\n|---|---|---|---|---|---|"
    breaks: dict[str, Callable[[World, Table, np.random.Generator], Table]] = {
        "the citations of 10 % of the questions": break_citations,
        "`citation_precision` alone, by 0.2": break_secondary,
    }
    for name, damage in breaks.items():
        for n in (100, 200):
            world, counts = World(metrics, table, 0.2), Counts()
            for _ in range(repeats):
                rows, clusters = draw_questions(world, n, rng)
                first, last = (draw_run(world, rows, clusters, rng) for _ in range(2))
                found = paired(world, first, damage(world, last, rng), clusters)
                counts.add(*found_in(found))
            cells = " | ".join(counts.share(each) for each in ("worse", "single", "primary", "gate"))
            yield f"| {name} | {n} | {cells} |"


def lose_ranks(world: World, run: Table, rng: np.random.Generator) -> Table:
    """Find passages further down for 8 % of the questions: metrics of ranking fall together, recall_at_5 stays."""
    broken, lost = run.copy(), rng.random(len(run)) < 0.08
    for place, metric in enumerate(world.metrics):
        if metric.group == "retrieval" and metric.name != "recall_at_5":
            broken[lost & ~np.isnan(run[:, place]), place] = metric.worst
    return broken


def together(metrics: list[BaseMetric], table: Table, rng: np.random.Generator, repeats: int) -> Iterator[str]:
    """Metrics that move together, by draws and by Holm's procedure, on the same runs; a quarter of them unequal."""
    yield "| runs | n | any verdict (Holm) | the gate fails (Holm) | metrics of retrieval `worse` (Holm) |"
    yield "|---|---|---|---|---|"
    for damage, clustered, n in product((None, lose_ranks), (False, True), (50, 100, 200, 500)):
        world = World(metrics, table, 0.1 if damage else 0.3, clustered)
        ways, fallen = (Counts(), Counts()), [0, 0]
        for _ in range(repeats // 4 if damage else repeats):
            rows, clusters = draw_questions(world, n, rng)
            first, last = (draw_run(world, rows, clusters, rng) for _ in range(2))
            found = paired(world, first, damage(world, last, rng) if damage else last, clusters)
            of_retrieval = {each.metric.name for each in found if each.metric.group == "retrieval"}
            for place, said in enumerate((verdicts(found), by_holm(found))):
                ways[place].add(*(["any"] if said else []), *(["gate"] if "worse" in said.values() else []))
                fallen[place] += sum(said.get(metric) == "worse" for metric in of_retrieval)
        now, before = ways
        cells = [f"{now.share(kind)} ({before.share(kind)})" for kind in ("any", "gate")]
        told = f"{fallen[0] / now.of:.2f} ({fallen[1] / before.of:.2f})"
        kind = ("8 % of passages further down" if damage else "equal") + (
            ", in clusters of 5 to 10" if clustered else ""
        )
        yield f"| {kind} | {n} | {' | '.join(cells)} | {told} |"


def found_in(found: Sequence[Found]) -> list[str]:
    """What is said of a run that is worse."""
    plain, told = verdicts(found), verdicts(found, "citation_recall")
    p = next((one.p for one in found if one.metric.name == "citation_recall" and one.difference < 0), 1.0)
    groups = len({each.metric.group for each in found})
    seen = {
        "worse": plain.get("citation_recall") == "worse",
        "primary": told.get("citation_recall") == "worse",
        "single": p < ALPHA / max(1, groups),
        "gate": "worse" in plain.values(),
    }
    return [name for name, is_so in seen.items() if is_so]


def dominances(metrics: list[BaseMetric], table: Table, rng: np.random.Generator, repeats: int) -> Iterator[str]:
    """Five runs: of one server, or the first of them better by 0.15 on retrieval and citation."""
    header = "any dominates | the better one dominates another | all four others | any dominates by values"
    yield f"| five runs, n = 200, 20 % of questions answered otherwise | {header} |\n|---|---|---|---|---|"
    for better in (False, True):
        world, counts = World(metrics, table, 0.2), Counts()
        feeds = {name: names for name, names in SCORING.feeds.items() if world.columns(names)}
        for _ in range(repeats):
            rows, clusters = draw_questions(world, 200, rng)
            runs = [draw_run(world, rows, clusters, rng) for _ in range(5)]
            if better:
                others = [*feeds["retrieval"], *feeds["citation"]]
                runs = [runs[0], *(worsened(world, run, others, rng) for run in runs[1:])]
            counts.add(*dominance_of(world, runs, clusters, feeds))
        kind = "one better by 0.15 on retrieval and citation" if better else "equal"
        cells = [counts.share(each) for each in ("any", "some", "all", "values")]
        yield f"| {kind} | {' | '.join(cells if better else [cells[0], '–', '–', cells[3]])} |"


def worsened(world: World, run: Table, names: Sequence[str], rng: np.random.Generator) -> Table:
    """The run with some questions answered badly, so that each of the metrics loses 0.15 on average."""
    broken = run.copy()
    for place in world.columns(names):
        share = 0.15 / float(np.nanmean(run[:, place]))
        lost = rng.random(len(run)) < share
        broken[lost & ~np.isnan(run[:, place]), place] = 0.0
    return broken


def fed_by(metric: BaseMetric, first: Sequence[float], last: Sequence[float], clusters: dict[str, str]) -> PairedMetric:
    """A metric over the questions with a value in both runs."""
    rows = [row for row in zip(clusters, first, last, strict=True) if not isnan(row[1] + row[2])]
    ids, before, after = (list(column) for column in zip(*rows, strict=True))
    return measure(metric, before, after, [clusters[key] for key in ids], ids=ids)


def dominance_of(
    world: World, runs: Sequence[Table], clusters: Sequence[str], feeds: dict[str, list[str]]
) -> list[str]:
    """Who dominates whom, beyond chance and by the values alone."""
    ids = [str(place) for place in range(len(clusters))]
    by_id = dict(zip(ids, clusters, strict=True))
    columns = [{metric.name: run[:, place].tolist() for place, metric in enumerate(world.metrics)} for run in runs]
    contests = []
    for first, last in combinations(range(len(runs)), 2):
        for objective, names in feeds.items():
            fed = [
                fed_by(world.metrics[place], columns[first][name], columns[last][name], by_id)
                for name in names
                for place in world.columns([name])
            ]
            contests.append(Contest(str(first), str(last), objective, stand(fed, by_id, SCORING.thresholds)))
    dominance = find_dominance(decide_contests(contests))
    by_first = sum(one.run == "0" for one in dominance)
    seen = {
        "any": bool(dominance),
        "some": by_first > 0,
        "all": by_first == len(runs) - 1,
        "values": _by_values(contests),
    }
    return [name for name, is_so in seen.items() if is_so]


def _by_values(contests: Sequence[Contest]) -> bool:
    """Whether some run is better than another on an objective and worse on none, by the values alone."""
    pairs: dict[tuple[str, str], list[float]] = {}
    for one in contests:
        pairs.setdefault((one.first, one.last), []).append(round(one.standing.gain, 12))
    return any(any(gains) and (min(gains) >= 0 or max(gains) <= 0) for gains in pairs.values())


if __name__ == "__main__":
    main()
