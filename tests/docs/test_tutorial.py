"""docs/tutorial.md: all that it tells to do is done, in its order, and ends as it says."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import copy
from typing import Any

import pytest
import yaml
from fenced import HOME, calls

PAGE = HOME / "docs" / "tutorial.md"
BY_HAND = (
    "python3 -m venv .venv && source .venv/bin/activate",
    "pip install -e .",
    "mkdir -p ~/rag-tutorial && cp docs/examples/tutorial-questions.jsonl ~/rag-tutorial/questions.jsonl",
    "cd ~/rag-tutorial",
    "evals serve",
)
"""What the test has done already: evals is installed (a job of CI does that), the folder is there, the server runs."""


def steps() -> Iterator[tuple[str, str]]:
    """The lines of the shell, and the files with their names, as they stand on the page."""
    text, end = PAGE.read_text(encoding="utf-8"), 0
    for block in re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        before, end = text[end : block.start()], block.end()
        if block.group(1) == "bash":
            yield from (("bash", line) for line in block.group(2).splitlines())
        elif block.group(1) != "json":  # which shows two lines of the copied file
            yield re.findall(r"as\s`([\w.]+)`:", before)[-1], block.group(2)


def expanded(word: str) -> list[str]:
    """The files that a pattern stands for in the shell; any other word as it is."""
    return sorted(map(str, Path().glob(word))) if word.endswith("*Z.json") else [word]


def asked_for(line: str) -> int:
    """The exit code that a line says it ends with."""
    told = re.search(r"# exit code (\d+)$", line)
    return int(told.group(1)) if told else 0


@pytest.fixture
def follow(
    golden_server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, evals_cli: Callable[..., Any]
) -> Callable[[], dict[str, str]]:
    """Do all of it in an empty folder; gives what each command printed."""
    monkeypatch.chdir(tmp_path)
    copy(HOME / "docs" / "examples" / "tutorial-questions.jsonl", "questions.jsonl")

    def here(text: str) -> str:
        return text.replace("http://localhost:8001", golden_server)

    def run() -> dict[str, str]:
        printed = {}
        for kind, text in steps():
            if kind != "bash":
                Path(kind).write_text(here(text), encoding="utf-8")
            elif text not in BY_HAND:
                ((words,),) = (calls(here(text)),)
                result = evals_cli(*(name for word in words for name in expanded(word)))
                assert result.code == asked_for(text), f"{text}\n{result.out}\n{result.err}"
                printed[text.partition("  ")[0]] = result.out + result.err
        return printed

    return run


def test_the_tutorial_can_be_followed(follow: Callable[[], dict[str, str]]) -> None:
    """Each command ends as the page says, and what it promises can be seen."""
    printed = follow()
    assert re.search(r"recall_at_5 .* worse", printed["evals compare before after"])
    before = printed["evals eval --config eval_config.yml --name before"]
    assert re.search(r"unanswerable_accuracy ↑ .* 12$", before, re.MULTILINE), "gold makes questions answerable"
    assert not re.search(r"(?<!_)accuracy \(", before), "no large weight hangs on few questions"
    assert Path("report.html").stat().st_size > 100_000
    assert Path("comment.md").read_text(encoding="utf-8").startswith("<!-- evals: evaluation -->")
    assert "url" in yaml.safe_load(Path("eval_config.yml").read_text(encoding="utf-8"))["server"]


def test_what_is_done_by_hand_stands_on_the_page() -> None:
    """No exception outlives its line."""
    assert set(BY_HAND) <= {text for kind, text in steps() if kind == "bash"}
