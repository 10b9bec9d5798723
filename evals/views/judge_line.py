"""What the judge took, in a line."""

from evals.schemas import EvalRun
from evals.schemas.verdicts import JudgeRecord, JudgeUsage
from evals.text.counts import counted
from evals.views.formatting import number


def judge_line(run: EvalRun) -> str | None:
    """The judge's share: what it cost, apart from the server's cost_per_query, and how it failed; None without one."""
    judge = run.judge
    if judge is None:
        return None
    parts = [counted(judge.calls, "call"), f"{judge.cached} from the cache"]
    parts.append(f"{_tokens(judge.usage)}, {judge_cost(judge)}")
    parts += [f"{counted(judge.prevented, 'decision')} beyond the budget"] if judge.prevented else []
    parts += [f"{count} {failure}" for failure, count in run.outcomes.judge.items()]
    parts += [f"repeats disagree on {judge.flip_rate:.1%}"] if judge.flip_rate is not None else []
    effort = f", effort {judge.effort}" if judge.effort else ""
    return f"judge {judge.model}{effort}: {', '.join(parts)}"


def judge_cost(judge: JudgeRecord) -> str:
    """What the judge has cost, as far as prices are known."""
    cost = "price unknown" if judge.cost_usd is None else f"${judge.cost_usd:.4f}"
    if judge.cost_usd is not None and judge.unpriced:
        cost = f"at least {cost}, as {counted(judge.unpriced, 'call', 'has')} no known cost"
    if judge.cost_per_query_usd:
        cost += f" ({number(judge.cost_per_query_usd, 'USD')} a question, beside the server's cost_per_query)"
    return cost


def _tokens(usage: JudgeUsage) -> str:
    """Tokens in and out, with what was read from the vendor's cache and what was only thought."""
    read = f" ({usage.cache_read_tokens:,} from the vendor's cache)" if usage.cache_read_tokens else ""
    thought = f" ({usage.thinking_tokens:,} thought)" if usage.thinking_tokens else ""
    return f"{usage.input_tokens:,}{read} + {usage.output_tokens:,}{thought} tokens"
