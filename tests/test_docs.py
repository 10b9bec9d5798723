"""The documentation says what the code does."""

import ast
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from evals import errors
from evals.client.profile import load_profile
from evals.client.spec import ServerSpec
from evals.config import EvalConfig
from evals.datasets.file import read_file

HOME = Path(__file__).resolve().parent.parent
CONFIG = HOME / "eval_config.yml"
PAGES = [HOME / "README.md", HOME / "CONTRIBUTING.md", *sorted((HOME / "docs").glob("*.md"))]


def test_the_generated_pages_are_up_to_date() -> None:
    """docs/metrics.md and docs/configuration.md are what the code generates."""
    checked = subprocess.run([sys.executable, HOME / "docs" / "generate.py", "--check"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_configuration_file_holds_every_key_with_its_default() -> None:
    """eval_config.yml documents the whole configuration, and changes nothing."""
    written = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
    assert set(written) == set(EvalConfig.model_fields)
    defaults = EvalConfig().as_written()
    for key, value in EvalConfig.from_file(CONFIG).as_written().items():
        if key != "server":
            assert value == defaults[key], key
            assert nested_keys(written[key]) == nested_keys(defaults[key]), key


def nested_keys(value: Any) -> Any:
    return {key: nested_keys(item) for key, item in value.items()} if isinstance(value, dict) else None


def test_the_configuration_file_holds_every_key_of_a_server() -> None:
    """The parts of a profile stand there too, as comments that are valid when they are used."""
    text = CONFIG.read_text(encoding="utf-8")
    commented = re.sub(r"^  # (\w+: )", r"  \1", text, flags=re.MULTILINE)
    server = yaml.safe_load(commented)["server"]
    assert set(server) == set(ServerSpec.model_fields)
    assert EvalConfig.build({"server": server}).server_spec().ask.path == "/query"
    active = yaml.safe_load(text)["server"]
    spec = ServerSpec.model_validate({**load_profile("rag-server"), "profile": "rag-server"})
    assert all(value == getattr(spec, key) for key, value in active.items())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    """Relative links name files that exist."""
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_the_readme_is_short() -> None:
    """What it does not say stands in the pages that docs/index.md lists."""
    assert len((HOME / "README.md").read_text(encoding="utf-8").splitlines()) <= 140


HOUSE_WORDS = re.compile(
    r"\b(stands? on|fed by|goes on|go on|gone on|nobody|of before|is heard|(?:is|are) told|abstained from|so many"
    r"|as people|mends?|mended|beside)\b",
    re.IGNORECASE,
)


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "prompts.md"], ids=lambda page: page.name)
def test_a_page_is_free_of_house_words(page: Path) -> None:
    """Pages use the terms of the field. A word of a prompt changes verdicts, and is not searched."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert not HOUSE_WORDS.findall(text)


def texts(path: Path) -> list[str]:
    """Docstrings, messages and help of a module, without patterns and names of arguments; all of another file."""
    written = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return [written]
    nodes = ast.walk(ast.parse(written))
    found = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return [re.sub(r"^ +\w+:", "", text, flags=re.MULTILINE) for text in found if "(?:" not in text]


def test_messages_help_and_docstrings_are_free_of_house_words() -> None:
    """Whatever a user can read in a terminal, on a page or in an editor."""
    package = HOME / "evals"
    paths = [CONFIG, *package.rglob("*.py"), *package.rglob("*.j2"), *(package / "data").glob("*.yml")]
    found = [(path.name, hit) for path in paths for text in texts(path) for hit in HOUSE_WORDS.findall(text)]
    assert not found


def test_why_a_run_is_not_complete_is_told_in_the_same_words() -> None:
    """The reference of the run file and that of the error say what the table of exit codes says."""
    readme, output = ((HOME / name).read_text(encoding="utf-8") for name in ("README.md", "docs/output.md"))
    (causes,) = re.findall(r"^\| 4 \| the run is partial or failed: (.*?);", readme, re.MULTILINE)
    assert "budget" in causes
    for told in (output, errors.__doc__ or "", errors.RunIncompleteError.__doc__ or ""):
        assert causes in " ".join(told.replace("│", "").split())


def test_no_file_of_the_project_names_a_path_of_a_machine() -> None:
    """What is committed makes sense to a stranger."""
    listed = subprocess.run(["git", "ls-files"], cwd=HOME, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    machine = re.compile("/" + "root/|/" + "home/[a-z]|/" + "work/")
    for name in listed.stdout.splitlines():
        path = HOME / name
        if path.suffix in {".py", ".md", ".yml", ".toml", ".json", ".jsonl", ".svg", ""} and path.is_file():
            assert not machine.search(path.read_text(encoding="utf-8")), name


ASKED = "How long does the battery last?"
GOLD = ["The battery lasts 96 hours."]
EXAMPLES = {
    "ragas.jsonl": GOLD,
    "old-ragas.csv": [],
    "deepeval.csv": [*GOLD, "Charging takes 40 minutes."],
    "langsmith.jsonl": [],
    "langfuse.jsonl": [],
    "multi-turn.jsonl": [],
    "flat.csv": GOLD,
    "phoenix.csv": [],
    "mlflow.jsonl": [],
    "squad.json": GOLD,
    "beir/queries.jsonl": ["x300"],
    "excel.csv": GOLD,
}
"""The files of docs/examples/datasets with the gold of their question: texts, else ids of documents."""
BESIDE = {"beir/corpus.jsonl", "beir/qrels/test.tsv"}
FOLDER = HOME / "docs" / "examples" / "datasets"


def test_every_example_of_a_tool_is_read() -> None:
    """A new one is added to the table above."""
    found = {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*") if path.is_file()}
    assert found == {*EXAMPLES, *BESIDE}


@pytest.mark.parametrize(("name", "golds"), EXAMPLES.items(), ids=list(EXAMPLES))
def test_the_example_of_every_tool_is_read_as_the_page_says(name: str, golds: list[str]) -> None:
    """Question, expected answer and gold of each; judgements of relevance know no answers."""
    columns = {"gold_passages": "Quelle"} if name == "excel.csv" else {}
    (question,) = read_file(FOLDER / name, columns).questions
    judged = name == "beir/queries.jsonl"
    assert (question.question, question.expected_answer) == (ASKED, None if judged else "96 hours")
    assert [gold.text or gold.document_id for gold in question.gold_passages] == golds


@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_the_example_of_a_question_file_can_be_read(kind: str, tmp_path: Path) -> None:
    """docs/datasets.md shows files that load, and the two forms say the same."""
    page = (HOME / "docs" / "datasets.md").read_text(encoding="utf-8")
    found = re.search(rf"```{kind}\n(.*?)```", page, re.DOTALL)
    assert found
    path = tmp_path / f"questions.{kind}"
    path.write_text(found.group(1), encoding="utf-8")
    first, second = read_file(path).questions
    assert first.question == ASKED
    assert first.expected_answer == "96 hours"
    assert first.gold_passages[0].span == (120, 147)
    assert first.metadata == {"difficulty": "easy"}
    assert second.is_unanswerable is True
