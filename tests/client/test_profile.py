"""From a profile and overrides to a specification, and what is said when that is impossible."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals.client import RAGClient, ServerSpec
from evals.client.profile import about_profile, load_profile, resolve_spec
from evals.errors import ConfigError, UnknownNameError
from evals.text.yaml_files import layer_of, read_yaml


def test_an_unknown_profile_is_named_with_the_nearest_one() -> None:
    """A typing error is answered with the name that was meant."""
    with pytest.raises(UnknownNameError, match="'rag-sever'") as raised:
        resolve_spec({"profile": "rag-sever"})
    assert "rag-server" in (raised.value.hint or "")


@pytest.mark.parametrize(
    ("overrides", "named"),
    [
        ({"urll": "http://x"}, "urll"),
        ({"ask": {"pth": "/x"}}, "ask.pth: unknown key"),
        ({"profile": "none", "ask": {"query": {}}, "map": {"answer": "a"}}, "ask.path: it is missing"),
        ({"ask": {"method": "PATCH"}}, "ask.method"),
        ({"ask": {"json": {"since": Path("/")}}}, "ask.json"),
        ({"timeout_s": 0}, "timeout_s"),
        ({"timeout_s": "soon"}, "timeout_s"),
        ({"url": None}, "url"),
        ({"map": None}, "map"),
        ({"map": {"answer": 3}}, "map.answer"),
        ({"map": {"answer": None, "chunks": None}}, "map: it needs answer or chunks"),
        ({"citations": {"given_as": "footnotes"}}, "citations.given_as"),
        ({"upload": {"batch": 0}}, "upload.batch"),
        ({"headers": {"X": [1]}}, "headers.X"),
        ({"headers": {"X": None}}, "headers.X"),
        ({"ask": {"query": {"limit": [3]}}}, "ask.query.limit: must be a text, not a list"),
        ({"ask": {"query": {"limit": float("nan")}}}, "ask.query.limit"),
        ({"ask": {"headers": {"X-Top": {}}}}, "ask.headers.X-Top"),
        ({7: 1}, "7"),
    ],
)
def test_a_wrong_key_or_value_is_named(overrides: dict[Any, Any], named: str) -> None:
    """The message holds the path of the key."""
    with pytest.raises(ConfigError, match=rf"^server: {named}"):
        resolve_spec(overrides)


@pytest.mark.parametrize(
    ("key", "wrong"),
    [
        *(("map.answer", wrong) for wrong in ("a[", "", "x.`")),
        ("ask.ok_when", "== 3"),
        ("info", [{"path": "/x", "map": {"model": "b["}}]),
        *((key, "c[") for key in ("documents.map", "upload.id", "ready.done_when", "ready.failed")),
        ("clean", ["x", "(oops"]),
        ("citations.markers", "[0-"),
    ],
)
def test_a_wrong_expression_is_named_before_anything_is_sent(key: str, wrong: Any, tmp_path: Path) -> None:
    """Expressions and patterns of a profile are checked when it is read, and those of the user with it."""
    (tmp_path / "top.yml").write_text(json.dumps({"extends": "rag-server", **layer_of(key, wrong)}))
    for overrides in ({"profile": str(tmp_path / "top.yml")}, layer_of(key, wrong)):
        with pytest.raises(ConfigError, match=rf"^server\.{key}[\w.]*: not a valid (JMESPath expression|pattern): "):
            resolve_spec(overrides)


@pytest.mark.parametrize(
    ("part", "expression", "key", "nearest"),
    [
        ("chunks", "sources[].{text: text, document: file}", "document", "document_id"),
        ("chunks", "a[0].b[?c].{scores: d} || b[].{text: e}", "scores", "score"),
        ("chunks", "a | {texts: b}", "texts", "text"),
        ("citations", "citations[].{idx: n}", "idx", "index"),
        ("chunks", "sources[].{name: file, text: text}", "name", "document_name"),
        ("usage", "usage.{prompt: input, completion_tokens: output}", "prompt", "prompt_tokens"),
    ],
)
def test_a_key_that_no_item_has_is_refused_with_those_that_it_may_have(
    part: str, expression: str, key: str, nearest: str, spec: Callable[..., ServerSpec]
) -> None:
    """A mapping that finds nothing under a wrong key would find nothing in silence."""
    with pytest.raises(ConfigError, match=rf"unknown key 'server.map.{part}.{key}'") as raised:
        RAGClient(spec(map={part: expression}))
    assert nearest in (raised.value.hint or "").removeprefix("known: ").split(", ")
    assert raised.value.exit_code == 2


@pytest.mark.parametrize(
    "chunks",
    [
        "sources",
        "sources[].full_text",
        "sources[].{text: text, start: start, end: end} | [?text]",
        "sources[].{parent: name, texts: texts}[].texts[]",
        "values({a: b, c: d})",
        "{found: sources[]} | found[].{text: text}",
        "sources[?{any: key}.any].{text: text}",
        "reverse(sources[].{text: text, document_name: file})",
    ],
)
def test_keys_of_what_an_expression_only_looks_into_are_free(chunks: str, spec: Callable[..., ServerSpec]) -> None:
    """What reaches no chunk is no chunk's key."""
    RAGClient(spec(map={"chunks": chunks}))


def test_overrides_are_laid_over_part_by_part() -> None:
    """A key given replaces that key alone; lists are replaced."""
    spec = resolve_spec({"map": {"model": "llm"}, "ask": {"path": "/v2/query"}, "info": []})
    assert (spec.map.model, spec.map.answer) == ("llm", "answer")
    assert (spec.ask.path, spec.ask.method) == ("/v2/query", "POST")
    assert spec.info == []


@pytest.mark.parametrize(
    ("request_keys", "said"),
    [
        ({"json": {"q": "{question}"}}, "server.ask.json.q: {question} would be sent as it stands"),
        ({"json": {"a": ["{{question}}", {"b": "Say: { question }"}]}}, "server.ask.json.a.1.b: { question } would be"),
        ({"json": {"q": "{{question}}", "s": "{{sesion_id}}"}}, "server.ask.json.s: {{sesion_id}} stands for nothing"),
        ({"json": None}, "server.ask: no part of the request holds the question"),
        ({"json": None, "form": {"q": "{{uuid}}"}}, "server.ask: no part of the request holds the question"),
    ],
)
def test_a_request_that_would_not_send_the_question_is_refused(request_keys: dict[str, Any], said: str) -> None:
    """All answers would be about something else, and paid for."""
    with pytest.raises(ConfigError) as raised:
        resolve_spec({"ask": request_keys})
    assert raised.value.message.startswith(said)


@pytest.mark.parametrize(
    "request_keys",
    [
        {"json": None, "path": "/ask/{{question}}"},
        {"json": None, "query": {"q": "{{ question }}"}},
        {"json": {"body": '{"q": {{question_json}}}'}},
        {"json": {"messages": ["{{messages}}"]}},
        {"json": {"prompt": "Answer {{question}} in the style of {{mustache}}: {x}"}},
    ],
)
def test_the_question_may_stand_anywhere_in_a_request(request_keys: dict[str, Any]) -> None:
    """Braces in a longer text may be the server's own."""
    assert resolve_spec({"ask": request_keys}).ask.path


def test_one_key_of_a_request_body_is_changed_by_naming_it() -> None:
    """What does not say where the question goes is no body of its own: the profile's other keys stay."""
    body = resolve_spec({"ask": {"json": {"top_k": 3}}}).ask.body
    assert body == {**resolve_spec({}).ask.body, "top_k": 3}
    assert "{{question}}" in body.values()


def test_a_profile_can_be_a_file(tmp_path: Path) -> None:
    """A path that ends in .yml or .yaml is read; nothing of the default profile is in it."""
    file = tmp_path / "mine.yaml"
    file.write_text("ask: {method: GET, path: /rag, query: {q: '{{question}}'}}\nmap: {answer: '@'}\n")
    spec = resolve_spec({"profile": str(file), "url": "http://x:1"})
    assert (spec.profile, spec.url, spec.ask.method, spec.map.chunks) == (str(file), "http://x:1", "GET", None)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a: [1", "not valid YAML"),
        (b"\xff\xfe\x00", "not valid YAML"),
        (b"a: \x00", "not valid YAML"),
        (b"- 1", "not list"),
        (b"text", "not str"),
        (b"!!python/object:os.system x", "not valid YAML"),
    ],
)
def test_a_broken_file_is_named(content: bytes, said: str, tmp_path: Path) -> None:
    """The message holds the file's name and what is wrong with it."""
    file = tmp_path / "broken.yml"
    file.write_bytes(content)
    with pytest.raises(ConfigError, match=said) as raised:
        load_profile(str(file))
    assert "broken.yml" in str(raised.value)


def test_a_missing_file_is_named_and_an_empty_one_holds_nothing(tmp_path: Path) -> None:
    """A folder cannot be read either."""
    (tmp_path / "empty.yml").touch()
    assert read_yaml(tmp_path / "empty.yml", "profile") == {}
    for missing in (tmp_path / "no.yml", tmp_path):
        with pytest.raises(ConfigError, match="cannot read the profile"):
            read_yaml(missing, "profile")


def _write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / f"{name}.yml").write_text(text)


def test_a_profile_extends_another(tmp_path: Path) -> None:
    """A file beside it, or a built-in one; each lays its keys over those of the one before."""
    _write(
        tmp_path,
        base="extends: rag-server\nabout: mine\ntimeout_s: 5\nask: {path: /v2}\nmap: {stages: null}\n",
        top="extends: ./base.yml\nask: {json: {top_k: 3}}\n",
    )
    spec = resolve_spec({"profile": str(tmp_path / "top.yml"), "timeout_s": 7})
    assert (spec.ask.path, spec.timeout_s, spec.map.stages, spec.map.answer) == ("/v2", 7, None, "answer")
    assert spec.ask.body == {**resolve_spec({}).ask.body, "top_k": 3}  # type: ignore[dict-item]
    assert about_profile(str(tmp_path / "base.yml")) == "mine"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"top": "extends: top.yml"}, "extends itself: .*top.yml → .*top.yml"),
        ({"top": "extends: b.yml", "b": "extends: ../x/top.yml"}, "extends itself: .*top.yml → .*b.yml → .*top.yml"),
        ({"top": "extends: no.yml"}, "cannot read the profile .*no.yml"),
        ({"top": "extends: rag-sever"}, "rag-sever"),
        ({"top": "extends: [a]"}, "extends must be"),
    ],
)
def test_a_profile_that_cannot_be_extended_is_refused(files: dict[str, str], said: str, tmp_path: Path) -> None:
    """A circle says how it goes round."""
    folder = tmp_path / "x"
    folder.mkdir()
    _write(folder, **files)
    with pytest.raises(ConfigError, match=said):
        load_profile(str(folder / "top.yml"))
