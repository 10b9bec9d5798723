"""The structure of the package: who may import whom, what an import costs, how large a file is."""

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "evals"

LAYERS = (
    ("errors",),
    ("runtime", "schemas", "secrets"),
    ("text",),
    ("store",),
    ("client", "metrics", "datasets", "answers"),
    ("judges",),
    ("scoring",),
    ("compare", "config"),
    ("run",),
    ("report", "export"),
    ("runner", "generate"),
    ("variants", "testing"),
    ("pytest_plugin", "cli"),
)
"""From the bottom up: a part imports from the layers below its own, and within its own from what stands left of it."""

ALONE = "reference_server"
"""Reached by HTTP only: it imports nothing of the rest, and the rest does not import it."""


PLACES = [part for layer in LAYERS for part in layer]


def part_of(path: Path) -> str:
    relative = path.relative_to(PACKAGE)
    return relative.parts[0].removesuffix(".py")


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports_of(path: Path) -> Iterator[str]:
    for node in ast.walk(parsed(path)):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        if names == ["evals"] and isinstance(node, ast.ImportFrom):
            names = [f"evals.{alias.name}" for alias in node.names]
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        yield from (name.split(".")[1] for name in names if name.startswith("evals.") and "__" not in name)


SOURCES = sorted(
    path for path in PACKAGE.rglob("*.py") if path.name not in {"__init__.py", "__main__.py"} or path.parent != PACKAGE
)


def test_every_part_has_its_place() -> None:
    """A new part is put into a layer when it is added, and one that is gone leaves its layer."""
    assert sorted({part_of(path) for path in SOURCES} - {ALONE}) == sorted(PLACES)


def test_a_module_imports_only_what_stands_below() -> None:
    """Imports go down, or to the left within a layer: so there are no circles either."""
    pairs = [(path, imported) for path in SOURCES for imported in set(imports_of(path)) - {part_of(path)}]
    for path, imported in pairs:
        part = part_of(path)
        assert ALONE not in {part, imported}, f"{path.name} imports evals.{imported}"
        assert PLACES.index(imported) < PLACES.index(part), f"{path.name} imports evals.{imported}"


def public_types_of(path: Path) -> Iterator[str]:
    """The public classes of a module, and its aliases of types: names in capitals and small letters."""
    for node in parsed(path).body:
        names = [node.name] if isinstance(node, ast.ClassDef) else []
        if isinstance(node, ast.Assign) and not isinstance(node.value, ast.Call):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        yield from (name for name in names if re.fullmatch(r"[A-Z]\w*[a-z]\w*", name))


TWICE = {"Estimate", "Rows", "Tally", "Vector"}
"""Names of two types each, of parts that do not import each other; no more come."""


def test_no_two_public_types_bear_one_name() -> None:
    """Else a reader of an import must look where it comes from to know what it is."""
    homes: defaultdict[str, list[str]] = defaultdict(list)
    for path in SOURCES:
        for name in public_types_of(path) if part_of(path) != ALONE else ():
            homes[name].append(str(path.relative_to(PACKAGE)))
    assert {name: paths for name, paths in homes.items() if len(paths) > 1}.keys() <= TWICE


def test_settings_of_scoring_are_made_in_one_place() -> None:
    """Else one of the places forgets a part of them."""
    makers = [path for path in SOURCES if "ScoreSettings(" in path.read_text(encoding="utf-8")]
    assert [str(path.relative_to(PACKAGE)) for path in makers] == ["config.py", "scoring/settings.py"]


def test_a_folder_holds_at_most_26_files() -> None:
    """What is in a room is seen at one look."""
    crowded = Counter(path.parent for path in SOURCES)
    assert [str(folder) for folder, count in crowded.items() if count > 26] == []


BUDGET = {"code lines": 24_050, "files": 176, "names at the top": 28}
"""What the package may hold; an issue that adds a capability may raise it by what it states."""


def code_lines(path: Path) -> int:
    """Lines of a file without comments, docstrings and blank lines."""
    layout = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline):
        if token.type not in layout:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(parsed(path)):
        documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if documented and ast.get_docstring(node) is not None:
            lines -= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return len(lines)


def test_the_package_stays_within_its_budget() -> None:
    """Code is a cost: what one feature adds, another place gives up."""
    files = list(PACKAGE.rglob("*.py"))
    names = [path for path in PACKAGE.iterdir() if path.name != "__pycache__"]
    found = {"code lines": sum(map(code_lines, files)), "files": len(files), "names at the top": len(names)}
    assert {what: count for what, count in found.items() if count > BUDGET[what]} == {}


@pytest.mark.parametrize("command", ["import evals", "import evals.cli", "import evals.cli.terminal"])
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
        calls = (node for node in ast.walk(parsed(path)) if isinstance(node, ast.Call))
        assert not [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "print"], path
