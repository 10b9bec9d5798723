"""The trace context of each question, by which a server's own spans are found again (W3C Trace Context)."""

from hashlib import sha256

TRACEPARENT = "traceparent"


def trace_id(run_id: str, question_id: str) -> str:
    """The id of the trace of a question: 32 hexadecimal digits, the same whenever the run asks it."""
    return sha256(f"{run_id}/{question_id}".encode(errors="surrogatepass")).hexdigest()[:32]


def traceparent(run_id: str, question_id: str) -> str:
    """The value of the header: version, trace, the span of the client, and that it is sampled."""
    trace = trace_id(run_id, question_id)
    return f"00-{trace}-{sha256(trace.encode()).hexdigest()[:16]}-01"
