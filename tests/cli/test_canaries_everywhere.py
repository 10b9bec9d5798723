"""A secret is told by no key of the configuration, no profile, no flag, no proxy, no judge and no view of a run."""

import json
import shutil
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml
from raw_server import RawServer, answering

from evals.config import EvalConfig
from evals.secrets import leaves

Cli = Callable[..., Any]
Told = Callable[..., str]
CORE = "canary7Qx9Zt"
CONFIGURATION: dict[str, Any] = {
    "name": "n",
    "datasets": ["golden"],
    "dataset_file": "q.jsonl",
    "columns": {"question": "question"},
    "data_dir": "data",
    "samples_per_dataset": 3,
    "seed": 1,
    "shard": "1/2",
    "stratify": "feedback",
    "suite": ["core"],
    "metrics": ["mrr"],
    "embedded": False,
    "ingest": False,
    "preflight": True,
    "concurrency": 2,
    "rps": 5,
    "max_attempts": 1,
    "warmup": 0,
    "on_error": "worst",
    "max_error_rate": 0.5,
    "match": {"rule": "auto"},
    "judged": {"tone": {"ask": "a", "sees": ["answer"], "labels": {"a": 1, "b": 0}, "steps": ["a"], "examples": "x"}},
    "judge": {"model": "m", "provider": "anthropic", "base_url": "http://127.0.0.1:9", "effort": "low", "repeats": 2},
    "semantic": {"embedding_model": "m"},
    "prices": {"m": {"input": 1, "output": 2}},
    "scoring": {"weights": {"retrieval": 0.5}, "cluster": "document"},
    "confidence": 0.9,
    "gate": ["mrr >= 0.5"],
    "allow_uncalibrated": False,
    "runs_dir": "runs",
    "repeats": 2,
    "dask": "tcp://127.0.0.1:9",
    "variants": {"v": {"server": {"timeout_s": 5}}},
}
SERVER: dict[str, Any] = {
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
FORMS = (CORE, f"{CORE} [(", f"http://me:{CORE}@127.0.0.1:9/x?key={CORE}", f"'\"{CORE}\\")
LOGINS = (
    "http://{}@HOST",
    "http://me:{}@HOST",
    "http://me:{}@127.0.0.1:9",
    "socks5://me:{}@127.0.0.1:9",
    "http://me:{}@[::1",
    "//me:{}@HOST",
    "http://me:{}@nowhere.invalid:99999",
)
PARTS = (*LOGINS, "http://HOST?a={}", "http://HOST#{}")
IN_URLS = (CORE, f"'\"{CORE}\\")
FLAGS = ("--dataset-file", "q.jsonl", "--runs-dir", "runs")
SCORE = ("score", "a.jsonl", *FLAGS)


def _address(url: str, secret: str, host: str) -> str:
    """A form of an address with a secret in it."""
    return url.replace("HOST", host.removeprefix("http://")).replace("{}", secret)


def _at(value: Any, path: str, new: Any) -> Any:
    """A value with one leaf replaced."""
    first, _, rest = path.partition(".")
    if isinstance(value, list):
        return [_at(each, rest, new) if rest else new for each in value]
    return {**value, first: _at(value[first], rest, new) if rest else new}


@pytest.fixture
def server() -> Iterator[RawServer]:
    """Says back with all headers what it is asked: /q as an answer, all else as a refusal."""

    def say(count: int) -> list[bytes]:
        asked = found.asked[count][1]
        code = 200 if b" /q" in asked.split(b"\r\n")[0] else 400
        error = {"type": "invalid_request_error", "message": repr(asked)}
        body = json.dumps({"answer": repr(asked), "type": "error", "error": error}).encode()
        head = b"HTTP/1.1 %d Said\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        return [head % (code, len(body)) + body]

    with answering(say) as found:
        yield found


@pytest.fixture
def told(evals_cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Told:
    """Run a command in a folder with questions, answers and `c.yml`; all that is printed and written but that file."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    (tmp_path / "q.jsonl").write_text('{"id": "q", "question": "Why?", "expected_answer": "a"}\n')
    (tmp_path / "a.jsonl").write_text('{"question_id": "q", "answer": "a b", "chunks": ["t"]}\n')
    given = {tmp_path / name for name in ("c.yml", "p.yml")}

    def run(*arguments: object, config: Any = None) -> str:
        if config is not None:
            (tmp_path / "c.yml").write_text(yaml.safe_dump(config))
        done = evals_cli(*arguments)
        assert done.code in {0, 1, 2, 3, 4}, done.err
        files = [path for path in tmp_path.rglob("*") if path.is_file() and path not in given]
        return str(done.out + done.err + "".join(f"{path} {path.read_text('utf-8', 'replace')}" for path in files))

    return run


def test_the_configuration_here_has_every_key() -> None:
    """A new one must be tried too."""
    assert set(CONFIGURATION) | {"server"} == set(EvalConfig.model_fields)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_no_key_tells_what_a_name_of_the_environment_stands_for(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it takes such names or not, in a value that fits and in one that does not."""
    # What a file of one's own does not go with, and what makes several runs of one, or has others ask.
    alone = {"datasets", "shard", "preflight", "repeats", "dask", "variants", "stratify"}
    for path, _ in leaves(CONFIGURATION):
        left_out = alone - {path.partition(".")[0]}
        whole = {key: value for key, value in CONFIGURATION.items() if key not in left_out}
        keys = _at(whole, path, "${CANARY}")
        for form in FORMS:
            monkeypatch.setenv("CANARY", form)
            assert CORE not in told("eval", "--config", "c.yml", "--dry-run", config=keys), (path, form)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_no_key_of_a_server_tells_what_it_holds(told: Told, server: RawServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it is used, refused or sent back by the server."""
    paths = [path for path, _ in leaves(SERVER)]
    for path, value in product(paths, (*FORMS, f"(?P<{CORE}>a)(?P<{CORE}>b)", f"{CORE}\n{CORE}: {CORE}")):
        monkeypatch.setenv("CANARY", value)
        keys = {"server": _at({**SERVER, "url": server.url}, path, "${CANARY}")}
        assert CORE not in told("eval", "--config", "c.yml", *FLAGS, "--no-judge", config=keys), (path, value)
        shutil.rmtree("runs", ignore_errors=True)


@pytest.mark.parametrize("name", ["apiKey", "password", "key"])
@pytest.mark.parametrize("place", ["", "judge", "server", "semantic", "scoring", "match", "prices"])
def test_a_credential_at_a_place_where_none_belongs_is_not_quoted(place: str, name: str, told: Told) -> None:
    """The message names the key alone."""
    for value in (CORE, [CORE], {"a": CORE}):
        keys = {place: {name: value}} if place else {name: value}
        assert CORE not in told("eval", "--config", "c.yml", "--dry-run", *FLAGS, "--no-judge", config=keys)


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
@pytest.mark.parametrize("url", PARTS)
def test_no_part_of_the_judges_address_is_told(url: str, provider: str, told: Told, server: RawServer) -> None:
    """Written in clear, where the judge answers and where it does not."""
    for secret in IN_URLS:
        judge = {"provider": provider, "model": "m", "base_url": _address(url, secret, server.url)}
        keys = {"metrics": ["faithfulness"], "judge": judge}
        assert CORE not in told(*SCORE, "--config", "c.yml", config=keys)
    by_flag = ("--judge-model", "m", "--judge-base-url", _address(url, CORE, "127.0.0.1:9"))
    assert CORE not in told(*SCORE, *by_flag)


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_no_judges_key_is_told(provider: str, told: Told, server: RawServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """In no message, log, record or saved run."""
    monkeypatch.setenv(f"{provider.upper()}_API_KEY", f"sk-{CORE}-x")
    keys = {"metrics": ["faithfulness"], "judge": {"provider": provider, "model": "m", "base_url": server.url}}
    seen = told(*SCORE, "--config", "c.yml", config=keys)
    assert any(CORE.encode() in asked for _, asked in server.asked)
    assert CORE not in seen


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "all_proxy"])
@pytest.mark.parametrize("url", LOGINS)
def test_no_login_of_a_proxy_is_told(
    url: str, variable: str, told: Told, server: RawServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the server and to the judge, whether the proxy is there, refuses, or is none."""
    judge = {"metrics": ["faithfulness"], "judge": {"model": "m", "base_url": "http://judge.invalid"}}
    for secret in IN_URLS:
        monkeypatch.setenv(variable, _address(url, secret, server.url))
        assert CORE not in told("eval", *FLAGS, "--rag-url", "http://rag.invalid", "--no-judge", "--max-attempts", 1)
        assert CORE not in told(*SCORE, "--config", "c.yml", config=judge)


@pytest.mark.parametrize("url", PARTS)
def test_no_part_of_an_address_on_the_command_line_is_told(url: str, told: Told, server: RawServer) -> None:
    """--rag-url, in clear."""
    for secret in IN_URLS:
        flags = (*FLAGS, "--no-judge", "--no-preflight", "--rag-url", _address(url, secret, server.url))
        assert CORE not in told("eval", *flags)


def test_no_view_of_a_run_tells_a_secret(told: Told, server: RawServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a run whose profile, address and headers hold secrets, and whose server says all of it back."""
    monkeypatch.setenv("CANARY", f"{CORE} {CORE}")
    body = {"q": "{{question}}", "k": "${CANARY}"}
    profile = {
        "profile": "none",
        "url": server.url.replace("//", f"//me:{CORE}@"),
        "ask": {"path": "/q?key=${CANARY}", "json": body, "headers": {"X": CORE * 3}},
        "map": {"answer": "answer", "chunks": "chunks"},
        "headers": {"Authorization": f"Bearer {CORE}", "X-Thing": "${CANARY}"},
    }
    Path("p.yml").write_text(yaml.safe_dump(profile))
    runs = ("--runs-dir", "runs")
    assert CORE not in told("eval", *FLAGS, "--no-judge", "--no-preflight", "--profile", "p.yml")
    assert any(asked.startswith(b"POST /q") and asked.count(CORE.encode()) > 4 for _, asked in server.asked)
    for view in (("show", "last"), ("show", "last", "--json"), ("show", "last", "--question", "q"), ("runs", "--json")):
        assert CORE not in told(*view, *runs)
    for form in ("csv", "json", "markdown", "review"):
        assert CORE not in told("export", "--run-id", "last", "--format", form, *runs)
    assert CORE not in told("rescore", "last", *runs)
    assert "***" in told("show", "last", "--json", *runs)
    assert CORE not in told("gate", "last", "--gate", "error_rate<=1", *runs)
