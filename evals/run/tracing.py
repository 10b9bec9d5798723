"""Spans of a run by OpenTelemetry: one of the run, one a question, and `traceparent` to the server.

Where they go is said by OpenTelemetry's own variables, such as OTEL_EXPORTER_OTLP_ENDPOINT. A span holds no text of a
question or an answer.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.propagate import inject
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import SpanKind, Status, StatusCode, Tracer

from evals import __version__
from evals.client.transport import Told, Tracing
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse

_FLUSH_MS = 10_000


class OtelTracing(Tracing):
    """Spans of the questions of a run.

    Args:
        tracer: Begins spans.
        url: Of the server.
    """

    def __init__(self, tracer: Tracer, url: str) -> None:
        self._tracer = tracer
        self._address = urlsplit(url).hostname or ""

    @contextmanager
    def question(self, question: EvalQuestion) -> Iterator[Told]:
        known = {
            "evals.question.id": question.id,
            "evals.dataset": question.dataset,
            "server.address": self._address,
        }
        with self._tracer.start_as_current_span("evals.question", kind=SpanKind.CLIENT, attributes=known) as span:

            def ended(response: EvalResponse) -> None:
                span.set_attributes(_facts(response))
                if response.error is not None:
                    span.set_status(Status(StatusCode.ERROR, response.error.kind))

            yield ended

    def headers(self) -> Mapping[str, str]:
        carrier: dict[str, str] = {}
        inject(carrier)
        return carrier


@contextmanager
def traced(
    name: str, url: str, tell: Callable[[str], None], exporter: SpanExporter | None = None
) -> Iterator[OtelTracing]:
    """Trace a run; at its end what is left is sent.

    Args:
        name: Of the run.
        url: Of the server.
        tell: Hears where spans were lost.
        exporter: Sends them; where OpenTelemetry's own variables say if None.
    """
    logger = logging.getLogger("opentelemetry")
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)  # it would write tracebacks where nobody listens: one remark says it
    counting = _CountingExporter(exporter or OTLPSpanExporter())
    provider = TracerProvider(resource=Resource.create({SERVICE_NAME: "evals", "service.version": __version__}))
    provider.add_span_processor(BatchSpanProcessor(counting))
    tracer = provider.get_tracer("evals", __version__)
    try:
        with tracer.start_as_current_span("evals.run", attributes={"evals.run.name": name}):
            yield OtelTracing(tracer, url)
    finally:
        flushed = provider.force_flush(_FLUSH_MS)
        provider.shutdown()
        logger.setLevel(before)
        if counting.lost or not flushed:
            tell("spans of the run were lost: nothing takes them where OTEL_EXPORTER_OTLP_ENDPOINT says")


class _CountingExporter(SpanExporter):
    """Counts the spans that were not taken.

    Args:
        inner: Sends them.
    """

    def __init__(self, inner: SpanExporter) -> None:
        self.lost = 0
        self._inner = inner

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = self._inner.export(spans)
        self.lost += len(spans) * (result is not SpanExportResult.SUCCESS)
        return result

    def shutdown(self) -> None:
        self._inner.shutdown()


def _facts(response: EvalResponse) -> dict[str, Any]:
    """What a span says of an exchange, without its texts."""
    facts: dict[str, Any] = {
        "evals.attempts": response.attempts,
        "evals.latency_ms": response.latency_ms,
        "evals.chunks": None if response.chunks is None else len(response.chunks),
        "error.type": response.error and response.error.kind,
        "http.response.status_code": response.error and response.error.status,
        "gen_ai.response.model": response.model,
        "gen_ai.usage.input_tokens": response.usage and response.usage.prompt_tokens,
        "gen_ai.usage.output_tokens": response.usage and response.usage.completion_tokens,
    }
    return {name: value for name, value in facts.items() if value is not None}
