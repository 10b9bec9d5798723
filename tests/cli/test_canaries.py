"""A value that came from the environment is in no message and no file, wherever it stands and however it is broken."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from raw_server import answering

from evals.secrets import leaves, without_credentials, without_secrets

Cli = Callable[..., Any]
CORE = "canary7Qx9Zt"
BROKEN = {
    "plain": CORE,
    "no expression": f"{CORE} [(",
    "no pattern": f"(?P<{CORE}>a)(?P<{CORE}>b)",
    "quotes": f"'\"{CORE}\\",
    "white space": f"{CORE} \t{CORE}",
    "not ASCII": f"{CORE}\u00e9",
    "lines": f"{CORE}\n{CORE}: {CORE}",
    "long": CORE * 300,
    "a colon": f"a://{CORE}:x",
}
SERVER = {
    "url": "URL",
    "headers": {"X-Thing": "a", "Authorization": "Bearer a"},
    "health": {"path": "/health"},
    "info": [{"path": "/models/info", "map": {"llm_model": "model"}}],
    "documents": {"path": "/documents", "map": "[].{id: id, name: name}"},
    "ask": {
        "path": "/query",
        "query": {"version": "2"},
        "headers": {"X-Other": "a"},
        "ok_when": "answer",
        "json": {"query": "{{question}}", "more": ["a"]},
    },
    "map": {"answer": "answer", "chunks": "chunks", "citations": "citations", "model": "model"},
    "citations": {"markers": r"\[(\d+)\]"},
    "clean": ["a"],
    "upload": {"path": "/documents", "field": "files", "id": "id"},
    "ready": {"path": "/jobs/{{id}}", "done_when": "done", "failed": "failed"},
}
URLS = ("http://{}@HOST", "http://me:{}@HOST", "http://HOST/{}", "http://HOST?a={}", "http://HOST#{}")
URLS += ("http://HOST:{}", "{}://HOST", "{}", "http://[{}", "http://127.0.0.1:9/{}")


def _at(server: Any, path: str, value: str) -> Any:
    """The keys of a server with one value replaced."""
    first, _, rest = path.partition(".")
    if isinstance(server, list):
        return [_at(item, rest, value) if rest else value for item in server]
    return {**server, first: _at(server[first], rest, value) if rest else value}


def _written(folder: Path) -> str:
    return "".join(path.read_text("utf-8", "replace") for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def run_with(evals_cli: Cli, tmp_path: Path) -> Iterator[Callable[[Any], str]]:
    """Run with the keys of a server that sends back whatever it is asked; all that is printed and saved."""
    questions = tmp_path / "q.jsonl"
    questions.write_text('{"question": "Why?", "expected_answer": "a"}\n')

    def say(count: int) -> list[bytes]:
        asked = server.asked[count][1]
        failed = b"/query" in asked.split(b"\r\n")[0] or b"/models" in asked.split(b"\r\n")[0]
        echo = json.dumps({"answer": asked.decode("utf-8", "replace")}).encode()
        return [b"HTTP/1.1 %d Said\r\nContent-Length: %d\r\n\r\n%s" % (400 if failed else 200, len(echo), echo)]

    def run(keys: Any) -> str:
        config = tmp_path / "config" / "c.yml"
        config.parent.mkdir(exist_ok=True)
        text = yaml.safe_dump({"server": keys}).replace("HOST", server.url.removeprefix("http://"))
        config.write_text(text.replace("url: URL", f"url: {server.url}"))
        runs = tmp_path / "runs"
        done = evals_cli("eval", "--config", config, "--dataset-file", questions, "--no-judge", "--runs-dir", runs)
        assert done.code != 70, done.err
        return str(done.out + done.err + _written(runs))

    with answering(say) as server:
        yield run


@pytest.mark.parametrize("path", [path for path, _ in leaves(SERVER)])
def test_no_key_of_a_server_gives_away_what_it_holds(
    path: str, run_with: Callable[[Any], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it is used, refused or sent back by the server."""
    for way, value in BROKEN.items():
        monkeypatch.setenv("CANARY", value)
        assert CORE not in run_with(_at(SERVER, path, "${CANARY}")), way


@pytest.mark.parametrize("url", URLS)
def test_no_part_of_a_url_gives_away_what_it_holds(
    url: str, run_with: Callable[[Any], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a URL that can be asked, and of one that is none."""
    for way, value in BROKEN.items():
        monkeypatch.setenv("CANARY", value)
        assert CORE not in run_with({**SERVER, "url": url.replace("{}", "${CANARY}")}), way


@pytest.mark.parametrize("url", ["http://{}@HOST", "http://me:{}@HOST", "http://HOST?a={}", "http://HOST#{}"])
def test_no_secret_part_of_a_url_in_clear_is_told(url: str, run_with: Callable[[Any], str]) -> None:
    """Login, query and fragment, where nothing says that they are a credential."""
    assert CORE not in run_with({**SERVER, "url": url.replace("{}", CORE)})


def test_what_a_server_tells_of_its_own_credentials_is_not_kept() -> None:
    """In its /models/info, under keys that name one, and in URLs."""
    told = {
        "model": "m",
        "api_key": CORE,
        "inner": [{"auth_token": CORE, "max_tokens": 5, "url": f"http://a:{CORE}@h/"}],
    }
    kept = without_secrets(told)
    assert CORE not in json.dumps(kept)
    assert (kept["model"], kept["inner"][0]["max_tokens"]) == ("m", 5)


@pytest.mark.parametrize(
    "value", ["9f8a7c6b5d4e3f2a1b0c9d8e", "Zx8Kq2Lm9Rt4Vb7Nc1Wp", "c0ffee00-1234-4abc-8def-0123456789ab"]
)
def test_a_header_that_looks_like_a_key_is_one(value: str) -> None:
    """Whatever its name says; a version, a type or a sentence is none."""
    assert without_credentials({"headers": {"X-Thing": value}}) == {"headers": {"X-Thing": "***"}}
    for harmless in ("2024-10-21-preview", "application/json", "evals of the claims department", "v1"):
        assert without_credentials({"headers": {"X-Thing": harmless}}) == {"headers": {"X-Thing": harmless}}
