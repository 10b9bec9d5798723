"""`evals profiles`: what kinds of servers there are, and the file of one."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals.client.profile import list_profiles, load_profile
from evals.text.yaml_files import load_yaml

Cli = Callable[..., Any]


def test_the_profiles_are_listed_with_what_is_measured(evals_cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line each: a name, what it is for, and the parts that are looked for."""
    monkeypatch.setenv("COLUMNS", "200")
    lines = {line.split()[0]: line for line in evals_cli("profiles").out.splitlines() if line.strip()}
    assert set(list_profiles()) <= set(lines)
    assert "retrieval, answers, abstention, citations, cost, stages, ingestion" in lines["rag-server"]
    assert "(default)" in lines["rag-server"]
    assert lines["elasticsearch"].rstrip().endswith("retrieval")
    assert "a LightRAG server" in lines["lightrag"]


def test_the_file_of_a_profile_is_printed_as_it_is(evals_cli: Cli, tmp_path: Path) -> None:
    """With its comments, so that it can be copied and changed."""
    printed = evals_cli("profiles", "lightrag").out
    assert printed.startswith("about: a LightRAG server\n# ")
    mine = tmp_path / "mine.yml"
    mine.write_text(printed)
    assert load_profile(str(mine)) == load_profile("lightrag")
    assert load_yaml(evals_cli("profiles", str(mine)).out) == load_yaml(printed)
