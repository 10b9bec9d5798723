"""No credential reaches a file or the terminal, however it is given."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]
SECRETS = ("S3cretPW", "PLAINKEY999", "ENVTOKEN777", "QKEY555")


def written(folder: Path) -> str:
    return "".join(path.read_text(encoding="utf-8") for path in folder.rglob("*") if path.is_file())


def test_no_way_of_giving_a_credential_puts_it_into_a_file(
    ask: Cli, golden_server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Login in the URL, header and parameter in clear, and a token of the environment: none is saved or printed."""
    monkeypatch.setenv("RAG_TOKEN", "ENVTOKEN777")
    path = tmp_path / "config.yml"
    path.write_text(
        "server:\n  headers: {X-Api-Key: PLAINKEY999, X-Token: '${RAG_TOKEN}'}\n"
        "  ask: {query: {api_key: QKEY555, version: '2'}}\n"
    )
    url = golden_server.replace("http://", "http://user:S3cretPW@")
    result = ask("--config", path, "--rag-url", url, "--json")
    assert result.code == 0, result.err
    for secret in SECRETS:
        assert secret not in written(tmp_path / "runs") + result.out + result.err
    stored = result.json["eval_config"]["server"]
    assert stored["headers"]["X-Token"] == "${RAG_TOKEN}"
    assert stored["ask"]["query"]["version"] == "2"
    assert stored["url"] == golden_server


def test_a_run_with_a_masked_credential_is_not_resumed_without_it(
    ask: Cli, evals_cli: Cli, golden_server: str, tmp_path: Path
) -> None:
    """The mask is never sent in place of the credential."""
    path = tmp_path / "config.yml"
    path.write_text("server: {headers: {X-Api-Key: PLAINKEY999}}\n")
    run = ask("--config", path, "--rag-url", golden_server, "--json").json
    result = evals_cli("eval", "--resume", run["id"], "--runs-dir", tmp_path / "runs")
    assert result.code == 2
    assert "${NAME}" in result.err
