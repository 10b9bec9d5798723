"""Where runs are followed beside their own files: trackers of experiments, and traces. Each is an extra of its own."""

from collections.abc import Callable
from contextlib import AbstractContextManager

from evals.client.tracing import Tracing


def traced(name: str, url: str, tell: Callable[[str], None]) -> AbstractContextManager[Tracing]:
    """Trace a run; spans go where OpenTelemetry's own variables say.

    Args:
        name: Of the run.
        url: Of the server.
        tell: Hears where spans were lost.
    """
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415 - an extra

    from evals.trackers.otel import traced_run  # noqa: PLC0415 - with OpenTelemetry

    return traced_run(name, url, tell, OTLPSpanExporter())
