"""What developers and CI run is written once."""

import re
from pathlib import Path

HOME = Path(__file__).resolve().parent.parent
MAKEFILE = (HOME / "Makefile").read_text(encoding="utf-8")


def test_ci_runs_the_checks_of_the_makefile() -> None:
    """CI names targets, not tools: what passes for a developer passes there."""
    script = (HOME / ".ci" / "run").read_text(encoding="utf-8")
    called = {
        target for line in re.findall(r"^make (.+?)(?: \w+=.*)?$", script, re.MULTILINE) for target in line.split()
    }
    assert called == {"lint", "types", "site", "test"}
    assert called <= set(re.findall(r"^(\w+):", MAKEFILE, re.MULTILINE))
    assert not re.findall(r"\b(?:ruff|mypy|pytest|check[-_]jsonschema)\b", script)


def test_make_bench_runs_every_benchmark() -> None:
    """A benchmark that nobody runs rots; what they use is none."""
    files = {path.name for path in (HOME / "benchmarks").glob("*.py")} - {
        "mock_server.py",
        "matching_corpora.py",
        "abstention_fit.py",  # fits what the package holds, and measures nothing
    }
    assert set(re.findall(r"benchmarks/(\w+\.py)", MAKEFILE)) == files


def test_the_long_forms_run_in_make_full_alone() -> None:
    """Whoever chooses tests by another mark leaves them out, as the plain call of pytest does."""
    project = (HOME / "pyproject.toml").read_text(encoding="utf-8")
    assert '"-m", "not slow and not full"' in project
    chosen = re.findall(r'-m ("[^"]+"|\w+)(?= |$)', MAKEFILE.replace("-m pytest", ""), re.MULTILINE)
    marks = [each for each in chosen if "slow" in each or "full" in each]
    assert sorted(marks) == ['"not full"', '"not full"', '"not slow and not full"', "full"]
