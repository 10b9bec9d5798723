"""How near the estimate of the judge is to the money paid, by suite and by how much the model thinks.

    python benchmarks/judge_estimate.py [--questions 40] [--suites core,qa] [--thinking 0,200,1000] [--fitting]

The judge is an imitation of the Messages API on loopback that charges tokens of thought; the server is the built-in
one. The range before a run is saved is of the allowance for the model's own effort, which is high; with --fitting the
effort is one that fits (low, medium and high for 0, 200 and 1,000 tokens). The second range is said after a run of the
same model and effort over a quarter of the questions. Both must hold the cost: ends with 1 where one does not.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from messages_api.server import MessagesApi

from evals.config import EvalConfig
from evals.run.checks import check_config, estimate_of
from evals.run.estimate import Estimate
from evals.run.workload import load_workload
from evals.runner import run_evaluation
from evals.schemas import EvalRecord

SUITES = "core,answer,qa,graphrag,claims,all"
EFFORTS = {0: "low", 200: "medium", 1000: "high"}


def script(api: MessagesApi, thinking: int) -> None:
    """Have every call answered, after so many tokens of thought; nothing is left in the vendor's cache."""
    api.reset()
    api.script({"then": {"python": "judge", **({"thinking": "x" * 3 * thinking} if thinking else {})}})


def estimated(config: EvalConfig) -> Estimate:
    """What judging will take; nobody is asked."""
    workload = load_workload(config)
    records = [EvalRecord(question=question) for question in workload.questions]
    found = estimate_of(config, check_config(config), records)
    assert found is not None
    return found


def row(api: MessagesApi, suite: str, thinking: int, questions: int, *, fitting: bool) -> tuple[str, bool]:
    """A line of the table, and whether it is as it must be."""
    judge = {"base_url": api.url, "cache": False, "effort": EFFORTS.get(thinking, "high") if fitting else None}
    base = {"datasets": ["golden"], "embedded": True, "suite": [suite]}
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        whole = EvalConfig(**base, runs_dir=Path(one), samples_per_dataset=questions, judge=judge)
        script(api, thinking)
        before = estimated(whole)
        record = run_evaluation(whole).judge
        script(api, thinking)
        quarter = EvalConfig(
            **base, runs_dir=Path(other), samples_per_dataset=questions // 4, judge=judge, seed=whole.seed + 1
        )
        run_evaluation(quarter)
        after = estimated(whole.model_copy(update={"runs_dir": Path(other)}))
    paid = record.cost_usd if record else None
    if not paid:
        return f"| {suite} | {thinking} | no call is made |", True
    cells = [_cell(before, paid), _cell(after, paid)]
    good = _holds(before, paid) and _holds(after, paid)
    return f"| {suite} | {thinking:,} | ${paid:.3f} | {' | '.join(cells)} |", good


def _holds(estimate: Estimate, paid: float) -> bool:
    return (estimate.cost_low_usd or 0.0) <= paid <= (estimate.cost_high_usd or 0.0)


def _cell(estimate: Estimate, paid: float) -> str:
    return f"${estimate.cost_low_usd:.3f} to ${estimate.cost_high_usd:.3f}" + (
        "" if _holds(estimate, paid) else " (no)"
    )


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--suites", default=SUITES)
    parser.add_argument("--thinking", default="0,200,1000")
    parser.add_argument("--fitting", action="store_true", help="set an effort that fits the thinking")
    options = parser.parse_args()
    os.environ["ANTHROPIC_API_KEY"] = "sk-test-benchmark"
    print("| suite | thinking | paid | before | after a saved run |")
    print("|---|---|---|---|---|")
    good = True
    api = MessagesApi()
    for suite in options.suites.split(","):
        for thinking in map(int, options.thinking.split(",")):
            text, fine = row(api, suite, thinking, options.questions, fitting=options.fitting)
            print(text if fine else f"{text} (!)", flush=True)
            good = good and fine
    api.close()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
