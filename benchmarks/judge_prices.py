"""What judging takes by suite: calls a question at most, and the price of 100 golden questions, for docs/judge.md.

    python benchmarks/judge_prices.py [--write]

Estimated as before the first run of a server: over stand-ins of usual size, with the allowance for thinking at each
model's own effort. Asks nobody anything. `--write` puts the table into docs/judge.md, between its two marks.
"""

import argparse
import re
import tempfile
from pathlib import Path

from evals.config import EvalConfig
from evals.metrics.judged import judge_calls
from evals.metrics.registry import metrics_of, suites
from evals.run.checks import check_config, estimate_of, wants_judge
from evals.run.estimate import Estimate
from evals.run.workload import load_workload
from evals.schemas import EvalRecord

PAGE = Path(__file__).resolve().parent.parent / "docs" / "judge.md"
MODELS = {"Sonnet 5.5": "claude-sonnet-5-5", "Haiku 5.5": "claude-haiku-5-5"}
_TABLE = re.compile(r"(<!-- judge_prices: begin -->\n).*?(<!-- judge_prices: end -->)", re.DOTALL)


def table() -> str:
    """The table in Markdown."""
    head = f"| suite | calls | {' | '.join(MODELS)} |\n|---|---|{'---|' * len(MODELS)}\n"
    return head + "".join(f"{row(suite)}\n" for suite in suites())


def row(suite: str) -> str:
    """What one suite takes."""
    costs = (_range(estimated(suite, model)) for model in MODELS.values())
    return f"| `{suite}` | {judge_calls(metrics_of([suite]))} | {' | '.join(costs)} |"


def _range(found: Estimate | None) -> str:
    if found is None or not found.calls or found.cost_low_usd is None or found.cost_high_usd is None:
        return "–"
    return f"${found.cost_low_usd:.2f}–{found.cost_high_usd:.2f}"


def estimated(suite: str, model: str) -> Estimate | None:
    """What judging will take; None where the suite needs no judge."""
    with tempfile.TemporaryDirectory() as folder:
        config = EvalConfig(
            datasets=["golden"],
            samples_per_dataset=100,
            suite=[suite],
            runs_dir=Path(folder),
            judge={"model": model},
        )
        metrics = check_config(config, asking=False)
        if not metrics_of([suite]) or not wants_judge(config, metrics):
            return None
        workload = load_workload(config)
        records = [EvalRecord(question=question) for question in workload.questions]
        return estimate_of(config, metrics, records)


def main() -> None:
    """Print the table, or put it into the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the table into docs/judge.md")
    made = table()
    if parser.parse_args().write:
        text, count = _TABLE.subn(lambda found: found[1] + made + found[2], PAGE.read_text(encoding="utf-8"))
        if count != 1:
            raise SystemExit(f"{PAGE} lacks the marks of the table")
        PAGE.write_text(text, encoding="utf-8")
    print(made, end="")


if __name__ == "__main__":
    main()
