"""The curve of risk by coverage, in a line."""

from evals.scoring.risk_coverage import RiskCoverage

_COVERAGES = (0.25, 0.5, 0.75, 1.0)


def area_line(curve: RiskCoverage) -> str:
    """The area under the curve, between what chance and what a perfect confidence reach."""
    return (
        f"AURC {curve.area:.3f} (chance {curve.area_of_chance:.3f}, best possible {curve.least_area:.3f}) over "
        f"{curve.answers} answers with a confidence"
    )


def risk_line(curve: RiskCoverage) -> str:
    """The area under the curve, and the risk at the first points that reach a quarter, a half and so on."""
    reached = (next(point for point in curve.points if point.coverage >= least) for least in _COVERAGES)
    some = ", ".join(f"{point.risk:.3f} at {point.coverage:.0%}" for point in dict.fromkeys(reached))
    return f"{area_line(curve)}; risk {some}"
