"""No credential reaches a file or the terminal, however it is given."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]
SECRETS = ("S3cretPW", "PLAINKEY999", "ENVTOKEN777", "QKEY555")


def written(folder: Path) -> str:
    return "".join(path.read_text(encoding="utf-8", errors="replace") for path in folder.rglob("*") if path.is_file())


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


def test_a_variable_lets_nothing_beside_it_into_a_file(
    ask: Cli, golden_server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A login before ${HOST}, a token beside ${NAME} and a key in a list of the body are not saved."""
    monkeypatch.setenv("RAG_HOST", golden_server.removeprefix("http://"))
    monkeypatch.setenv("RAG_TOKEN", "ENVTOKEN777")
    path = tmp_path / "config.yml"
    path.write_text(
        "server:\n  url: 'http://user:S3cretPW@${RAG_HOST}'\n  headers: {X-Token: 'PLAINKEY999 ${RAG_TOKEN}'}\n"
        "  ask: {json: {query: '{{question}}', include_chunks: true, more: [{api_key: QKEY555}]}}\n"
    )
    result = ask("--config", path, "--json")
    assert result.code == 0, result.err
    for secret in SECRETS:
        assert secret not in written(tmp_path / "runs") + result.out + result.err
    assert result.json["server"]["masked"] == ["url", "headers.X-Token", "ask.json.more.0.api_key"]


def test_a_setting_that_only_looks_like_a_credential_is_saved_and_the_run_resumed(
    ask: Cli, evals_cli: Cli, golden_server: str, tmp_path: Path
) -> None:
    """Neither `keyword_mode` nor a pattern of stars is taken for a credential that is not there any more."""
    path = tmp_path / "config.yml"
    path.write_text(
        "server:\n  clean: ['[***]{3}']\n"
        "  ask: {json: {query: '{{question}}', include_chunks: true, keyword_mode: auto, tokenizer: words}}\n"
    )
    run = ask("--config", path, "--rag-url", golden_server, "--json").json
    assert run["eval_config"]["server"]["ask"]["json"]["keyword_mode"] == "auto"
    result = evals_cli("eval", "--resume", run["id"], "--runs-dir", tmp_path / "runs")
    assert result.code == 0, result.err


def test_a_login_that_was_not_saved_can_be_given_again(
    ask: Cli, evals_cli: Cli, golden_server: str, tmp_path: Path
) -> None:
    """A run is not resumed without its login, and the message says how it is."""
    url = golden_server.replace("http://", "http://user:S3cretPW@")
    run = ask("--rag-url", url, "--json").json
    resume = ("eval", "--resume", run["id"], "--runs-dir", tmp_path / "runs")
    without = evals_cli(*resume)
    assert without.code == 2
    assert "server.url" in without.err
    assert "--rag-url" in without.err
    assert evals_cli(*resume, "--rag-url", url).code == 0
