"""Compare saved runs: paired differences, Pareto fronts, gates."""
