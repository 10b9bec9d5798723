"""Spans of a run, and the server's own traces that join them."""

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

sdk = pytest.importorskip("opentelemetry.sdk.trace.export")

from opentelemetry.sdk.trace import ReadableSpan  # noqa: E402 - where it is installed
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult  # noqa: E402
from raw_server import RawServer, answering  # noqa: E402

from evals.config import EvalConfig  # noqa: E402
from evals.errors import ConfigError  # noqa: E402
from evals.run import tracing  # noqa: E402
from evals.run.setup import check_config  # noqa: E402
from evals.run.tracing import traced  # noqa: E402
from evals.runner import EvaluationRunner  # noqa: E402

Build = Callable[..., Any]
TRACEPARENT = re.compile(rb"(?im)^traceparent: 00-([0-9a-f]{32})-([0-9a-f]{16})-0[13]\r$")


class Kept(SpanExporter):
    """Keeps the spans, or refuses them."""

    def __init__(self, *, takes: bool = True) -> None:
        self.spans: list[ReadableSpan] = []
        self.takes = takes

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.spans += spans
        return SpanExportResult.SUCCESS if self.takes else SpanExportResult.FAILURE

    def named(self, name: str) -> list[ReadableSpan]:
        """Those of a name."""
        return [span for span in self.spans if span.name == name]


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> Kept:
    """Where the spans of a run go."""
    found = Kept()
    monkeypatch.setattr("evals.run.tracing.traced", lambda name, url, tell: traced(name, url, tell, found))
    return found


def config_of(url: str, folder: Path, **keys: Any) -> EvalConfig:
    """Of a run of three questions."""
    questions = folder / "questions.jsonl"
    questions.write_text("\n".join(json.dumps({"id": f"q{n}", "question": f"Part {n}?"}) for n in range(3)))
    spec = {"url": url, "health": None, "info": [], "documents": None, "patience_s": 0}
    ask = {"ask": {"path": "/query", "json": {"query": "{{question}}"}}, "map": {"answer": "answer"}}
    base = {"dataset_file": str(questions), "judge": False, "preflight": False, "warmup": 0, "max_attempts": 1}
    return EvalConfig.build({**base, "runs_dir": str(folder / "runs"), "server": {**spec, **ask}, **keys})


def evaluated(config: EvalConfig) -> None:
    """Make the run."""
    asyncio.run(EvaluationRunner(config).run())


def answer(number: int) -> bytes:
    """An answer, or an error to the last question."""
    status, body = (b"500 Oh", b"{}") if number == 2 else (b"200 OK", b'{"answer": "Yes."}')
    return b"HTTP/1.1 %b\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (status, len(body), body)


def test_each_question_is_a_span_whose_id_the_server_gets(kept: Kept, tmp_path: Path) -> None:
    """All are of one trace, below the span of the run; a failure is one."""
    with answering(lambda count: [answer(count)]) as server:
        evaluated(config_of(server.url, tmp_path, tracing=True, concurrency=1, max_error_rate=1))
        told = [TRACEPARENT.search(head + b"\r\n") for head in heads_of(server)]
    (run,) = kept.named("evals.run")
    spans = kept.named("evals.question")
    assert [span.attributes["evals.question.id"] for span in spans if span.attributes] == ["q0", "q1", "q2"]
    assert all(span.parent and span.parent.span_id == run.context.span_id for span in spans if run.context)
    ids = [(f"{span.context.trace_id:032x}", f"{span.context.span_id:016x}") for span in spans if span.context]
    assert [(found[1].decode(), found[2].decode()) for found in told if found] == ids
    assert [span.status.description for span in spans] == [None, None, "status"]
    assert (spans[2].attributes or {})["http.response.status_code"] == 500


def test_a_span_holds_no_text(kept: Kept, tmp_path: Path) -> None:
    """Questions and answers stay in the run's own file."""
    with answering(lambda count: [answer(count)]) as server:
        evaluated(config_of(server.url, tmp_path, tracing=True, max_error_rate=1))
    said = "".join(span.to_json() for span in kept.spans)
    assert "Part" not in said
    assert "Yes." not in said


def test_without_it_the_server_gets_no_header(tmp_path: Path) -> None:
    """Nothing is sent that was not asked for."""
    with answering(lambda count: [answer(count)]) as server:
        evaluated(config_of(server.url, tmp_path, max_error_rate=1))
        assert not any(b"traceparent" in head.lower() for head in heads_of(server))


def test_spans_that_nobody_takes_are_told_once() -> None:
    """And they end nothing."""
    told: list[str] = []
    with traced("a", "http://127.0.0.1", told.append, Kept(takes=False)):
        pass
    assert len(told) == 1
    assert "OTEL_EXPORTER_OTLP_ENDPOINT" in told[0]


def test_a_collector_that_is_not_there_ends_no_run(monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    """One remark, and no traceback of the package's."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    told: list[str] = []
    with tracing.traced("a", "http://127.0.0.1", told.append):
        pass
    assert len(told) == 1
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(("keys", "said"), [({"engine": {"name": "dask"}}, "this process asks")])
def test_what_cannot_be_traced_is_refused(keys: dict[str, Any], said: str, tmp_path: Path) -> None:
    """Before anything is asked."""
    with pytest.raises(ConfigError, match=said):
        check_config(config_of("http://127.0.0.1:9", tmp_path, tracing=True, **keys))


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the way to install it."""
    monkeypatch.setattr("evals.run.setup.find_spec", lambda _name: None)
    with pytest.raises(ConfigError) as caught:
        check_config(config_of("http://127.0.0.1:9", tmp_path, tracing=True))
    assert "rag-evals[otel]" in (caught.value.hint or "")


def heads_of(server: RawServer) -> list[bytes]:
    """What the server was sent, question by question."""
    return [sent for _, sent in server.asked]
