"""Which runs are better than which on what, in words."""

from collections.abc import Iterator, Mapping

from evals.compare import Dominance, ParetoReport
from evals.views.formatting import size_of_difference


def dominance_lines(report: ParetoReport, label_of: Mapping[str, str]) -> Iterator[str]:
    """A line a run and another that it is better than; one line where no run is."""
    for one in report.dominance:
        ties = f"; undecided on {', '.join(one.undecided)}" if one.undecided else ""
        better = ", ".join(_gain(one, name, report) for name in one.better_on)
        yield f"{label_of[one.run]} is better than {label_of[one.over]} on {better}{ties}"
    if not report.dominance:
        yield "no run dominates another beyond chance; objectives without a verdict are ties"


def front_by_values(report: ParetoReport, label_of: Mapping[str, str]) -> str:
    """The front without regard to error."""
    named = ", ".join(label_of[run_id] for run_id in report.front_by_values)
    return f"front by values alone, as if they were without error: {named or 'empty'}"


def _gain(one: Dominance, objective: str, report: ParetoReport) -> str:
    """An objective, by how much a run is better on it, and over how many questions of the two."""
    both = {one.run, one.over}
    test = next(test for test in report.tests if test.objective == objective and {test.first, test.last} == both)
    unit = report.units[objective] if len(report.fed_by[objective]) == 1 else "ratio"
    return f"{objective} (by {size_of_difference(abs(test.gain or 0.0), unit)}, n {test.n})"
