"""Servers behind https: an authority of one's own, a client certificate, and no verification."""

import json
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from asking import ask
from faults.running import make_certificates
from raw_server import answering

from evals.client.profile import resolve_spec
from evals.errors import ConfigError
from evals.runner import UNVERIFIED
from evals.store.runs import RunStore

ANSWER = b'HTTP/1.1 200 OK\r\nContent-Length: 26\r\n\r\n{"answer": "Four francs."}'
# The library leaves a connection whose certificate it refuses to the collector.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_certificates(tmp_path_factory.mktemp("certificates"))


@contextmanager
def serving(certificates: Path, *, mutual: bool = False) -> Iterator[str]:
    """Serve with a certificate of our authority; where mutual, to those alone who have one too."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates / "good.pem", certificates / "good.key")
    if mutual:
        context.load_verify_locations(certificates / "authority.pem")
        context.verify_mode = ssl.CERT_REQUIRED
    with answering(lambda _: [ANSWER], lambda _, plain: context.wrap_socket(plain, server_side=True)) as server:
        yield server.url


def spec_of(url: str, **tls: Any) -> dict[str, Any]:
    return {
        "url": url,
        "health": None,
        "info": [],
        "ask": {"path": "/ask", "json": {"q": "{{question}}"}},
        "map": {"answer": "answer", "chunks": None},
        "tls": {key: str(value) if isinstance(value, Path) else value for key, value in tls.items()},
    }


def test_an_authority_of_ones_own_is_trusted(certificates: Path) -> None:
    """Where it is named; else the certificate is of nobody known, and the question fails."""
    with serving(certificates) as url:
        assert ask(spec_of(url, ca=certificates / "authority.pem")).answer == "Four francs."
        refused = ask(spec_of(url), max_attempts=1)
    assert refused.error.kind == "connect"


def test_a_server_that_wants_a_certificate_gets_ours(certificates: Path) -> None:
    """With the key beside it; without, it does not speak to us."""
    own = {"cert": certificates / "another use.pem", "key": certificates / "another use.key"}
    with serving(certificates, mutual=True) as url:
        assert ask(spec_of(url, ca=certificates / "authority.pem", **own)).answer == "Four francs."
        assert ask(spec_of(url, ca=certificates / "authority.pem"), max_attempts=1).error is not None


def test_anybody_is_trusted_where_that_is_told(certificates: Path) -> None:
    """Also where nobody knows the authority."""
    with serving(certificates) as url:
        assert ask(spec_of(url, verify=False)).answer == "Four francs."


@pytest.mark.parametrize(
    ("tls", "said"),
    [
        ({"ca": "missing.pem"}, "server.tls.ca missing.pem cannot be used: No such file"),
        ({"cert": "missing.pem"}, "server.tls.cert missing.pem cannot be used: No such file"),
        ({"ca": __file__}, "server.tls.ca .* cannot be used"),
    ],
)
def test_a_file_that_cannot_be_used_is_named(tls: dict[str, str], said: str) -> None:
    """Before anything is asked."""
    with pytest.raises(ConfigError, match=said):
        ask(spec_of("https://127.0.0.1:9", **tls))


def test_a_key_without_a_certificate_is_refused() -> None:
    """It would do nothing."""
    with pytest.raises(ConfigError, match="key needs cert"):
        resolve_spec(spec_of("https://127.0.0.1:9", key="k.pem"))


def test_a_run_says_loudly_that_nothing_was_verified(
    certificates: Path, evals_cli: Callable[..., Any], tmp_path: Path
) -> None:
    """At the start, below the scorecard, and in its file."""
    questions, config = tmp_path / "questions.jsonl", tmp_path / "config.json"
    questions.write_text(json.dumps({"id": "q1", "question": "How much?", "expected_answer": "Four"}))
    with serving(certificates) as url:
        server = spec_of(url, verify=False)
        config.write_text(json.dumps({"server": server, "metrics": ["squad_f1"], "preflight": False}))
        result = evals_cli(
            *("eval", "--config", config, "--dataset-file", questions, "--no-judge", "--runs-dir", tmp_path / "runs")
        )
    (run,) = RunStore(tmp_path / "runs").runs()
    assert result.code == 0
    assert UNVERIFIED in " ".join(result.err.split())
    assert UNVERIFIED in " ".join(result.out.split())
    assert any(note.startswith(UNVERIFIED) for note in run.notes)
