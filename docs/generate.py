"""Regenerate what is generated from the code: python docs/generate.py [--check]."""

import argparse
import inspect
import sys
from pathlib import Path

from reference import commands_page, exit_codes_page, profile_keys_page, servers_page

from evals.metrics import BaseMetric
from evals.metrics.judge_tasks import chain
from evals.metrics.ragas import DIRECT_RELEVANCE, RagasAnswerRelevance
from evals.metrics.registry import facts, metric_classes
from evals.schemas import MetricGroup

DOCS = Path(__file__).resolve().parent
HOME = DOCS.parent


def metrics_page() -> str:
    """docs/metrics.md, from the docstrings and declarations of the metric classes."""
    parts = [
        "# Metrics\n",
        "Generated from the code by `python docs/generate.py`. `evals metrics NAME` prints the same.\n",
        "A metric that cannot be computed for a question has no value and a reason; such questions are counted, and\n"
        "left out of its mean ([statistics.md](statistics.md)).\n"
        "K is any positive number.\n",
    ]
    for group in MetricGroup:
        parts.append(f"## {group.value}\n")
        parts.extend(_section(cls) for cls in metric_classes() if cls.group is group)
    return "\n".join(parts)


def _section(cls: type[BaseMetric]) -> str:
    declared = "; ".join(f"{label}: {text}" for label, text in facts(cls).items() if label != "group")
    return f"### `{cls.pattern()}`\n\n{inspect.cleandoc(cls.__doc__ or '')}\n\n*{declared}.*\n"


def configuration_page() -> str:
    """docs/configuration.md, from eval_config.yml."""
    text = (HOME / "eval_config.yml").read_text(encoding="utf-8")
    return (
        "# Configuration\n\nGenerated from `eval_config.yml` by `python docs/generate.py`. Flags go before the file, "
        f"and a file is read only with `--config`.\n\n```yaml\n{text}```\n"
    )


def prompts_page() -> str:
    """docs/prompts.md, from the files of the prompts."""
    parts = [
        "# Prompts of the judge\n",
        "Generated from `evals/judges/prompts/*.yml` by `python docs/generate.py`. [judge.md](judge.md) explains how\n"
        "they are used, `evals/judges/replies.py` what `checks` mean. A run records the hash of each.\n",
    ]
    asked_by = _asked_by()
    for path in sorted((HOME / "evals" / "judges" / "prompts").glob("*.yml")):
        named = ", ".join(f"`{name}`" for name in asked_by.get(path.stem, ()))
        asked = f"Asked for {named}." if named else "Asked for metrics that depend on whether an answer is a refusal."
        text = path.read_text(encoding="utf-8")
        parts.append(f"## {path.stem}\n\n{asked}\n\n```yaml\n{text}```\n")
    return "\n".join(parts)


def _asked_by() -> dict[str, list[str]]:
    """The metrics that ask by each prompt."""
    found: dict[str, list[str]] = {str(DIRECT_RELEVANCE.prompt): [RagasAnswerRelevance.name]}
    for cls in metric_classes():
        for inquiry in chain(getattr(cls, "inquiries", ())):
            names = found.setdefault(str(inquiry.prompt), [])
            if cls.pattern() not in names:
                names.append(cls.pattern())
    return found


_FAULTS = """# Faults of servers

Generated from `tests/faults` by `python docs/generate.py`. For each fault of a server, the last column says whether the
answer is read or how the question fails. "Or" means that the result depends on the HTTP library, or on whether two
packets arrive together. [Reliability](reliability.md) lists guarantees and limits.
"""


def faults_page() -> str:
    """docs/faults.md, from the table of faults of the tests."""
    sys.path.insert(0, str(HOME / "tests"))
    from faults import FAULTS

    rows: dict[tuple[str, str], list[str]] = {}
    for fault in FAULTS:
        rows.setdefault((fault.group, _ending(fault.kind, fault.noted, fault.also)), []).append(fault.name)
    lines = [f"| {group} | {'; '.join(names)} | {ending} |" for (group, ending), names in rows.items()]
    return "\n".join([_FAULTS, "| kind | the server sends | result |", "|---|---|---|", *lines, ""])


def _ending(kind: str | None, noted: str | None, also: tuple[str | None, ...]) -> str:
    note = ", with a note" if noted else ""
    ways = [f"fails as `{way}`" if way else f"is read{note}" for way in (kind, *also)]
    return " or ".join(ways)


PAGES = {
    "metrics.md": metrics_page,
    "configuration.md": configuration_page,
    "prompts.md": prompts_page,
    "faults.md": faults_page,
    "commands.md": commands_page,
    "exit-codes.md": exit_codes_page,
    "servers.md": servers_page,
    "profile-keys.md": profile_keys_page,
}


def main() -> int:
    """Write the pages, or with --check compare them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare the pages instead of writing them")
    check = parser.parse_args().check
    stale = []
    for name, make in PAGES.items():
        path, text = DOCS / name, make()
        if check and (not path.exists() or path.read_text(encoding="utf-8") != text):
            stale.append(name)
        elif not check:
            path.write_text(text, encoding="utf-8")
    print(f"stale: {', '.join(stale)}" if stale else "up to date")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
