"""The structure of the package: who may import whom, what an import costs, how large a file is."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "evals"

LEVELS = (
    ("errors", "version", "sync", "collector", "plugins"),
    ("schemas",),
    ("metrics", "semantics", "stats", "bootstrap", "formatting", "jsonstream", "layers", "problems"),
    ("client", "datasets", "judges", "store"),
    ("scoring_config", "config"),
    ("scoring", "gates", "pricing", "estimate", "observer", "passages", "ways"),
    ("outcomes", "verdicts", "judge_record", "judging", "embedding", "conclusion", "run_settings"),
    ("plan", "asking", "preflight", "embedded", "resuming", "rescore_config"),
    ("runner", "rescoring", "offline"),
    ("diagnosis", "hints", "sensitivity", "compare", "export"),
    ("cli",),
)
"""From the bottom up: a part imports from its own level or below."""

ALONE = "reference_server"
"""Reached by HTTP only: it imports nothing of the rest, and the rest does not import it."""


def level_of(part: str) -> int:
    return next(number for number, parts in enumerate(LEVELS) if part in parts)


def part_of(path: Path) -> str:
    relative = path.relative_to(PACKAGE)
    return relative.parts[0].removesuffix(".py")


def imports_of(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        if names == ["evals"] and isinstance(node, ast.ImportFrom):
            names = [f"evals.{alias.name}" for alias in node.names]
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        yield from (name.split(".")[1] for name in names if name.startswith("evals."))


SOURCES = sorted(
    path for path in PACKAGE.rglob("*.py") if path.name not in {"__init__.py", "__main__.py"} or path.parent != PACKAGE
)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_from_its_level_or_below(path: Path) -> None:
    """Imports go down or sideways, never up."""
    part = part_of(path)
    for imported in imports_of(path):
        if ALONE in {part, imported}:
            assert part == imported, f"{path.name} imports evals.{imported}"
        else:
            assert level_of(imported) <= level_of(part), f"{path.name} imports evals.{imported}, which is above it"


def test_no_parts_import_each_other_in_a_circle() -> None:
    """What stands on one level has an order too."""
    graph: dict[str, set[str]] = {}
    for path in SOURCES:
        graph.setdefault(part_of(path), set()).update(set(imports_of(path)) - {part_of(path)})
    assert len(list(TopologicalSorter(graph).static_order())) >= len(graph)


def test_every_part_of_the_package_has_a_level() -> None:
    """A new module is put on a level when it is added, and one that is gone leaves its level."""
    parts = {part_of(path) for path in SOURCES} - {ALONE}
    assert sorted(parts) == sorted(part for level in LEVELS for part in level)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_source_file_is_at_most_400_lines(path: Path) -> None:
    """A file is about one thing."""
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


@pytest.mark.parametrize("command", ["import evals", "import evals.cli"])
def test_an_import_loads_nothing_heavy(command: str) -> None:
    """`import evals` and `--help` load no library that takes its time."""
    heavy = "{'datasets', 'anthropic', 'openai', 'pandas', 'pyarrow', 'numpy', 'httpx', 'pydantic'}"
    code = f"{command}; import sys; print(sorted({heavy} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found.strip() == "[]"


def test_an_evaluation_without_hub_and_judge_loads_neither_library() -> None:
    """What a run does not need it does not load."""
    heavy = "{'datasets', 'anthropic', 'openai', 'pandas', 'pyarrow'}"
    code = f"import evals.runner, sys; print(sorted({heavy} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found.strip() == "[]"


def test_only_the_command_line_prints() -> None:
    """The library never writes to the terminal."""
    for path in SOURCES:
        if part_of(path) in {"cli", ALONE}:
            continue
        calls = (node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call))
        assert not [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "print"], path
