"""No credential reaches a file or the terminal, however it is given."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

Cli = Callable[..., Any]


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
