"""The spans of five kinds of exports: OTLP JSON, OpenInference (Phoenix), MLflow, Langfuse and LangSmith.

| kind | a file holds |
|---|---|
| OTLP JSON | `resourceSpans`, with attributes by the GenAI conventions (old and new names), OpenInference or MLflow |
| OpenInference | spans with `context` and `attributes`, as Phoenix exports them: nested, or columns with dots |
| MLflow | traces with `info` and `data.spans` |
| Langfuse | observations with `traceId` (`trace_id`), and scores |
| LangSmith | runs with `run_type` |

Names of attributes are those of the projects' packages as of November 2026.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from evals.answers.spans import (
    NAMES,
    Span,
    SpanKind,
    decoded,
    documents_of,
    first_of,
    is_empty,
    message_of,
    name_of,
    number_of,
    text_of,
    time_of,
    usage_of,
)

_ATTRIBUTES = NAMES["attributes"]
_KINDS = {word: SpanKind(kind) for kind, words in NAMES["kinds"].items() for word in words}
_OBSERVATIONS = frozenset({*NAMES["observations"]["types"]})
_TOKENS = ("input_tokens", "output_tokens", "cached_tokens")

Export = Mapping[str, Any]
"""A row of an export."""
Reader = Callable[[Export], Iterator[Span]]


def reader_of(row: Export) -> Reader | None:
    """The reader of the export that a row is of; None where it is no trace."""
    if "resourceSpans" in row:
        return read_otlp
    if _is_openinference(row):
        return read_openinference
    if isinstance(row.get("info"), Mapping) and isinstance(row.get("data"), Mapping) and "spans" in row["data"]:
        return read_mlflow
    if {"run_type", "inputs", "id"} <= row.keys():
        return read_langsmith
    if "traceId" in row or "trace_id" in row:
        is_score = {"name", "value", "id"} <= row.keys()
        is_observation = "id" in row and str(row.get("type")).upper() in _OBSERVATIONS
        return read_langfuse if is_score or is_observation else None
    return None


def _is_openinference(row: Export) -> bool:
    context = row.get("context")
    return "context.trace_id" in row or (isinstance(context, Mapping) and {"trace_id", "span_id"} <= context.keys())


def read_otlp(row: Export) -> Iterator[Span]:
    """The spans of one export request."""
    for scope in _each(row, "resourceSpans", "scopeSpans"):
        for span in scope.get("spans") or ():
            status = span.get("status") or {}
            failed = str(status.get("code")) in ("2", "STATUS_CODE_ERROR")
            yield _of_attributes(
                _otlp_values(span.get("attributes")),
                trace=span.get("traceId"),
                span=span.get("spanId"),
                parent=span.get("parentSpanId"),
                name=span.get("name"),
                start=span.get("startTimeUnixNano"),
                end=span.get("endTimeUnixNano"),
                error=message_of(status.get("message")) if failed else None,
                feedback=dict(_evaluations(span.get("events") or ())),
            )


def _each(holder: Export, outer: str, inner: str) -> Iterator[Export]:
    for item in holder.get(outer) or ():
        yield from item.get(inner) or ()


def _otlp_values(attributes: Any) -> dict[str, Any]:
    return {item["key"]: _otlp_value(item.get("value") or {}) for item in attributes or () if "key" in item}


def _otlp_value(value: Export) -> Any:
    """A value of OTLP's JSON, in which whole numbers are texts."""
    if "arrayValue" in value:
        return [_otlp_value(item) for item in (value["arrayValue"] or {}).get("values") or ()]
    if "kvlistValue" in value:
        return _otlp_values((value["kvlistValue"] or {}).get("values"))
    if "intValue" in value:
        return int(value["intValue"])
    return next(iter(value.values()), None)


def _evaluations(events: Iterable[Export]) -> Iterator[tuple[str, Any]]:
    """What events say of the quality of an answer, by name."""
    for event in events:
        if event.get("name") == "gen_ai.evaluation.result":
            values = _otlp_values(event.get("attributes"))
            opinion = first_of(values, ("gen_ai.evaluation.score.label", "gen_ai.evaluation.score.value"))
            yield str(values.get("gen_ai.evaluation.name", "evaluation")), opinion


def read_openinference(row: Export) -> Iterator[Span]:
    """The span of a row, as Phoenix's API or its table of spans holds it."""
    flat = dict(_flat(row))
    values = {name.removeprefix("attributes."): value for name, value in flat.items() if name.startswith("attributes.")}
    if "openinference.span.kind" not in values:
        values["openinference.span.kind"] = row.get("span_kind")
    failed = str(row.get("status_code", "")).upper() == "ERROR"
    annotations = row.get("annotations")
    yield _of_attributes(
        values,
        trace=flat.get("context.trace_id"),
        span=flat.get("context.span_id"),
        parent=row.get("parent_id"),
        name=row.get("name"),
        start=row.get("start_time"),
        end=row.get("end_time"),
        error=message_of(row.get("status_message")) if failed else None,
        feedback={
            str(item.get("name")): first_of({**item, **(item.get("result") or {})}, ("label", "score"))
            for item in (annotations if isinstance(annotations, list) else ())
            if item.get("annotator_kind", "HUMAN") == "HUMAN"
        },
    )


def _flat(holder: Export, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The values of nested objects, by their keys with dots between them."""
    for key, value in holder.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def read_mlflow(row: Export) -> Iterator[Span]:
    """The spans of one trace; what people say of it belongs to its root."""
    info = row["info"]
    feedback = {
        str(item.get("assessment_name") or item.get("name")): (item.get("feedback") or {}).get("value")
        for item in info.get("assessments") or ()
        if (item.get("source") or {}).get("source_type") == "HUMAN"
    }
    trace = info.get("trace_id") or info.get("request_id")
    for span in row["data"]["spans"]:
        values = {name: decoded(value) for name, value in (span.get("attributes") or {}).items()}
        status = span.get("status") or {}
        status = status if isinstance(status, Mapping) else {"code": status}
        code = status.get("code") or span.get("status_code")
        parent = first_of(span, ("parent_span_id", "parent_id"))
        yield _of_attributes(
            values,
            trace=trace,
            span=first_of(span, ("span_id",)) or (span.get("context") or {}).get("span_id"),
            parent=parent,
            name=span.get("name"),
            start=first_of(span, ("start_time_unix_nano", "start_time")),
            end=first_of(span, ("end_time_unix_nano", "end_time")),
            error=message_of(status.get("message")) if "ERROR" in str(code) else None,
            feedback={} if parent else feedback,
        )


def read_langfuse(row: Export) -> Iterator[Span]:
    """The observation, or the score of a trace, that a row holds, by the names of the API or of the export to files."""
    row = {re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower(): value for name, value in row.items()}
    trace = str(row["trace_id"])
    if "value" in row and "type" not in row:
        opinion = first_of(row, ("string_value", "value"))
        yield Span(trace, f"score {row['name']}", f"of {trace}", feedback={str(row["name"]): opinion})
        return
    start, first = time_of(row.get("start_time")), time_of(row.get("completion_start_time"))
    waited = first - start if first is not None and start is not None else number_of(row.get("time_to_first_token"))
    failed = row.get("level") == "ERROR"
    kind = _kind(row.get("type"))
    yield Span(
        trace,
        str(row["id"]),
        name_of(row.get("parent_observation_id")),
        kind,
        str(row.get("name") or ""),
        start,
        time_of(row.get("end_time")),
        text_of(row.get("input"), "question"),
        text_of(row.get("output"), "answer") if kind is not SpanKind.RETRIEVER else None,
        documents_of(row.get("output")) if kind is SpanKind.RETRIEVER else None,
        usage_of(first_of(row, ("usage_details", "usage"))),
        name_of(first_of(row, ("provided_model_name", "model"))),
        waited,
        message_of(row.get("status_message")) if failed else None,
        name_of(row.get("session_id")),
    )


def read_langsmith(row: Export) -> Iterator[Span]:
    """The run that a row holds; its `session_id` is the project, and the conversation is in its metadata."""
    kind = _kind(row.get("run_type"))
    start, first = time_of(row.get("start_time")), time_of(row.get("first_token_time"))
    about = (row.get("extra") or {}).get("metadata") or {}
    is_retriever = kind is SpanKind.RETRIEVER
    yield Span(
        str(row.get("trace_id") or row["id"]),
        str(row["id"]),
        name_of(row.get("parent_run_id")),
        kind,
        str(row.get("name") or ""),
        start,
        time_of(row.get("end_time")),
        text_of(row.get("inputs"), "question"),
        None if is_retriever else text_of(row.get("outputs"), "answer"),
        documents_of(row.get("outputs")) if is_retriever else None,
        usage_of(row) if kind is SpanKind.LLM else None,
        name_of(about.get("ls_model_name")),
        first - start if first is not None and start is not None else None,
        None if is_empty(row.get("error")) else message_of(row["error"]),
        name_of(first_of(about, ("session_id", "thread_id", "conversation_id"))),
        {name: stats.get("avg") for name, stats in (row.get("feedback_stats") or {}).items()},
    )


def _of_attributes(values: Export, *, trace: Any, span: Any, parent: Any, start: Any, end: Any, **about: Any) -> Span:
    """A span whose attributes follow the conventions of GenAI, OpenInference or MLflow."""
    kind = _kind(decoded(first_of(values, _ATTRIBUTES["kind"])))
    documents, output = documents_of(_listed(values, "documents")), _listed(values, "output")
    if documents is None and kind in (SpanKind.RETRIEVER, SpanKind.RERANKER):
        documents = documents_of(output)
    elif documents is not None and kind is not SpanKind.RERANKER:
        kind = SpanKind.RETRIEVER  # some instrumentations call it a tool
    retrieves = kind in (SpanKind.RETRIEVER, SpanKind.RERANKER)
    if is_empty(trace) or is_empty(span):
        raise ValueError("a span has no id, or names no trace")
    return Span(
        str(trace),
        str(span),
        name_of(parent),
        kind,
        str(about["name"] or ""),
        time_of(start),
        time_of(end),
        text_of(_listed(values, "input"), "question"),
        None if retrieves else text_of(output, "answer"),
        documents,
        usage_of({name: first_of(values, _ATTRIBUTES[name]) for name in _TOKENS})
        or usage_of(values.get("mlflow.chat.tokenUsage")),
        name_of(first_of(values, _ATTRIBUTES["model"])),
        number_of(values.get("gen_ai.response.time_to_first_chunk")),
        about["error"],
        name_of(first_of(values, _ATTRIBUTES["session"])),
        about["feedback"],
    )


def _kind(name: Any) -> SpanKind:
    return _KINDS.get(str(name).casefold(), SpanKind.OTHER)


def _listed(values: Export, part: str) -> Any:
    """The value of a part; a list whose items stand one by one, as in `NAME.0.document.id`, is put together."""
    for name in _ATTRIBUTES[part]:
        if name in values:
            return values[name]
        items: dict[int, dict[str, Any]] = {}
        for key, value in values.items():
            place, _, rest = key.removeprefix(f"{name}.").partition(".")
            if key.startswith(f"{name}.") and place.isdecimal():
                items.setdefault(int(place), {})[rest] = value
        if items:
            return [items[place] for place in sorted(items)]
    return None
