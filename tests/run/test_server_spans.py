"""The trace of each question, and a server's own spans put next to its answers."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from other_servers.loopback import Request, serving
from trace_exports import attribute, otlp_span, request

from evals.client.conversation import trace_id, traceparent


@pytest.fixture
def server() -> Iterator[tuple[str, dict[str, str]]]:
    """A server that answers every question; its URL, and the traces that came, by question."""
    traces: dict[str, str] = {}

    def answer(asked: Request) -> dict[str, Any]:
        traces[asked.body["query"]] = asked.headers.get("traceparent", "")
        return {"answer": "Fourteen days.", "sources": []}

    with serving({("POST", "/query"): answer}) as url:
        yield url, traces


@pytest.fixture
def asked(
    server: tuple[str, dict[str, str]], evals_cli: Callable[..., Any], tmp_path: Path
) -> tuple[str, dict[str, str]]:
    """The id of a run of two questions, and the traces that were sent with them."""
    url, traces = server
    (tmp_path / "questions.jsonl").write_text("\n".join(json.dumps({"id": n, "question": f"Why {n}?"}) for n in "ab"))
    (tmp_path / "config.yml").write_text("server: {health: null, info: []}\nwarmup: 0\npreflight: false\n")
    flags = ("--dataset-file", tmp_path / "questions.jsonl", "--config", tmp_path / "config.yml", "--rag-url", url)
    done = evals_cli("eval", *flags, "--no-judge", "--json", "--runs-dir", tmp_path / "runs")
    assert done.code == 0, done.err
    return done.json["id"], traces


def test_a_trace_is_of_run_and_question(asked: tuple[str, dict[str, str]]) -> None:
    """The same whenever the run asks it, and of no other question or run."""
    run, traces = asked
    assert traces == {f"Why {name}?": traceparent(run, name) for name in "ab"}
    assert all(re.fullmatch(r"00-[0-9a-f]{32}-[0-9a-f]{16}-01", trace) for trace in traces.values())
    assert len({trace_id("run", "a"), trace_id("run", "b"), trace_id("other", "a")}) == 3


def test_the_servers_spans_time_retrieval_and_generation(
    asked: tuple[str, dict[str, str]], evals_cli: Callable[..., Any], tmp_path: Path
) -> None:
    """Of the questions that they hold; where the export says nothing of one, nothing is said."""
    run, traces = asked
    _, trace, parent, _ = traces["Why a?"].split("-")
    spans = [
        otlp_span("POST /query", parent, "01", 0, 2),
        otlp_span("search", "01", "02", 0.25, 0.75, attributes={"gen_ai.operation.name": "retrieval"}),
        otlp_span("write", "01", "03", 0.75, 1.75, attributes={"gen_ai.operation.name": "chat"}),
    ]
    (tmp_path / "spans.jsonl").write_text(json.dumps(request(*({**span, "traceId": trace} for span in spans))))
    flags = ("--traces", tmp_path / "spans.jsonl", "--runs-dir", tmp_path / "runs", "--no-judge", "--json")
    done = evals_cli("rescore", run, *flags)
    assert done.code == 0, done.err
    assert any("timed by the server's spans in spans.jsonl: 1 of 2 questions" in note for note in done.json["notes"])
    exported = evals_cli("export", done.json["id"], "--format", "json", "--runs-dir", tmp_path / "runs").json
    responses = {record["question"]["id"]: record["response"] for record in exported["records"]}
    assert responses["a"]["retrieval_latency_ms"] == pytest.approx(500, abs=0.01)
    assert responses["a"]["generation_latency_ms"] == pytest.approx(1000, abs=0.01)
    assert "generation_latency_ms" not in responses["b"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            request(otlp_span("x", "", "1", 0, 1, attributes={"input.value": "a?"})),
            "none of its 1 trace is of a question",
        ),
        ({"question": "a?", "answer": "b"}, "no span of a trace"),
        (attribute("a", 1), "no span of a trace"),
    ],
)
def test_a_file_without_spans_of_the_run_is_one_message(
    asked: tuple[str, dict[str, str]], evals_cli: Callable[..., Any], tmp_path: Path, line: Any, message: str
) -> None:
    """And exit code 2."""
    (tmp_path / "spans.jsonl").write_text(json.dumps(line))
    done = evals_cli(
        "rescore", asked[0], "--traces", tmp_path / "spans.jsonl", "--runs-dir", tmp_path / "runs", "--no-judge"
    )
    assert done.code == 2
    assert message in done.err
