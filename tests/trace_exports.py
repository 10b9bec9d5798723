"""One exchange in two exports of each kind, as the projects document them: the same question, chunks and answer.

The question is "How long is the notice?", the answer "Three months [1]."; two chunks were retrieved in half a second.
"""

import json
from collections.abc import Callable
from typing import Any

QUESTION, ANSWER = "How long is the notice?", "Three months [1]."
TEXTS = ("Notice is three months.", "Rent is due monthly.")
START = 1_790_000_000
_NS = START * 10**9
_ISO = "2026-09-21T14:13:20"

Value = dict[str, Any]


def attribute(key: str, value: Any) -> Value:
    """An attribute of OTLP's JSON, in which whole numbers are texts."""
    return {"key": key, "value": _otlp(value)}


def _otlp(value: Any) -> Value:
    if isinstance(value, list):
        return {"arrayValue": {"values": [_otlp(item) for item in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": [attribute(key, item) for key, item in value.items()]}}
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": value}


def otlp_span(name: str, parent: str, span: str, at: float, until: float, **about: Any) -> Value:
    """A span of OTLP's JSON, from and until so many seconds after the start."""
    attributes = [attribute(key, value) for key, value in about.pop("attributes", {}).items()]
    return {
        "traceId": "5b8efff798038103d269b633813fc60c",
        "spanId": span,
        "parentSpanId": parent,
        "name": name,
        "startTimeUnixNano": str(_NS + int(at * 1e9)),
        "endTimeUnixNano": str(_NS + int(until * 1e9)),
        "attributes": attributes,
        "status": {},
        **about,
    }


def request(*spans: Value) -> Value:
    """An export request."""
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {"name": "rag"}, "spans": list(spans)}]}]}


def otlp() -> list[Value]:
    """By the conventions of GenAI: structured messages, documents with their text as a further key."""
    messages = json.dumps([{"role": "user", "parts": [{"type": "text", "content": QUESTION}]}])
    reply = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": ANSWER}], "finish_reason": "stop"}])
    documents = [{"id": f"d{n}", "score": 0.9 - n / 10, "content": text} for n, text in enumerate(TEXTS)]
    retrieval = {
        "gen_ai.operation.name": "retrieval",
        "gen_ai.retrieval.query.text": QUESTION,
        "gen_ai.retrieval.documents": documents,
    }
    chat = {
        "gen_ai.operation.name": "chat",
        "gen_ai.response.model": "claude-sonnet-4-5",
        "gen_ai.input.messages": messages,
        "gen_ai.output.messages": reply,
        "gen_ai.usage.input_tokens": 812,
        "gen_ai.usage.output_tokens": 9,
        "gen_ai.response.time_to_first_chunk": 0.25,
        "gen_ai.conversation.id": "c1",
    }
    event = {
        "name": "gen_ai.evaluation.result",
        "attributes": [attribute("gen_ai.evaluation.name", "thumb"), attribute("gen_ai.evaluation.score.label", "up")],
    }
    return [
        request(otlp_span("POST /query", "", "a0", 0, 2, events=[event])),
        request(
            otlp_span(
                "retrieval", "a0", "a1", 0.25, 0.75, attributes={**retrieval, "gen_ai.retrieval.documents": documents}
            ),
            otlp_span("chat", "a0", "a2", 0.75, 2, attributes={**chat, "gen_ai.conversation.id": "c1"}),
        ),
    ]


def otlp_former() -> list[Value]:
    """By the names before 1.37, numbered, as OpenLLMetry sends them; its retriever is a tool with documents."""
    documents = {
        name: value
        for n, text in enumerate(TEXTS)
        for name, value in (
            (f"retrieval.documents.{n}.document.content", text),
            (f"retrieval.documents.{n}.document.id", f"d{n}"),
        )
    }
    chat = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "claude-sonnet-4-5",
        "gen_ai.prompt.0.role": "system",
        "gen_ai.prompt.0.content": "Answer by the context.",
        "gen_ai.prompt.1.role": "user",
        "gen_ai.prompt.1.content": QUESTION,
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.content": ANSWER,
        "gen_ai.usage.prompt_tokens": 812,
        "gen_ai.usage.completion_tokens": 9,
    }
    kind = {"traceloop.span.kind": "tool"}
    return [
        request(
            otlp_span("workflow", "", "b0", 0, 2, attributes={"traceloop.span.kind": "workflow"}),
            otlp_span("search", "b0", "b1", 0.25, 0.75, attributes={**kind, **documents}),
            otlp_span("chat", "b0", "b2", 0.75, 2, attributes=chat),
        )
    ]


def _openinference(kind: str, attributes: Value, span: str, parent: str | None, at: str, until: str) -> Value:
    return {
        "name": kind.lower(),
        "context": {"trace_id": "t1", "span_id": span},
        "span_kind": kind,
        "parent_id": parent,
        "start_time": f"{_ISO}{at}+00:00",
        "end_time": f"2026-09-21T14:13:2{until}+00:00",
        "status_code": "OK",
        "status_message": "",
        "attributes": attributes,
    }


def openinference() -> list[Value]:
    """As Phoenix's API lists spans: attributes flat, documents numbered."""
    documents: Value = {}
    for n, text in enumerate(TEXTS):
        documents[f"retrieval.documents.{n}.document.content"] = text
        documents[f"retrieval.documents.{n}.document.metadata"] = json.dumps({"source": f"d{n}.md"})
    model = {"llm.model_name": "claude-sonnet-4-5", "llm.token_count.prompt": 812, "llm.token_count.completion": 9}
    root = {"input.value": json.dumps({"question": QUESTION}), "output.value": ANSWER, "session.id": "c1"}
    spans = [
        _openinference("CHAIN", root, "s0", None, ".000000", "2.000000"),
        _openinference("RETRIEVER", {"input.value": QUESTION, **documents}, "s1", "s0", ".250000", "0.750000"),
        _openinference("LLM", {**model, "output.value": ANSWER}, "s2", "s0", ".750000", "2.000000"),
    ]
    spans[0]["annotations"] = [{"name": "thumb", "annotator_kind": "HUMAN", "result": {"label": "up", "score": 1}}]
    return spans


def openinference_table() -> list[Value]:
    """As the rows of Phoenix's table of spans: columns with dots, documents in a list."""
    rows = []
    for span in openinference():
        attributes = {
            f"attributes.{name}": value for name, value in span.pop("attributes").items() if ".0." not in name
        }
        attributes = {name: value for name, value in attributes.items() if ".1." not in name}
        if span["span_kind"] == "RETRIEVER":
            attributes["attributes.retrieval.documents"] = [
                {"document.content": text, "document.id": f"d{n}", "document.score": 0.9}
                for n, text in enumerate(TEXTS)
            ]
        context = span.pop("context")
        rows.append(
            {**span, "context.trace_id": context["trace_id"], "context.span_id": context["span_id"], **attributes}
        )
    return rows


def mlflow() -> list[Value]:
    """As `Trace.to_json()` of MLflow 3 writes it: values of attributes are JSON."""

    def step(kind: str, span: str, parent: str | None, at: float, until: float, **values: Any) -> Value:
        return {
            "trace_id": "dHI=",
            "span_id": span,
            "parent_span_id": parent,
            "name": kind.lower(),
            "start_time_unix_nano": _NS + int(at * 1e9),
            "end_time_unix_nano": _NS + int(until * 1e9),
            "status": {"code": "STATUS_CODE_OK", "message": ""},
            "attributes": {f"mlflow.{name}": json.dumps(value) for name, value in {"spanType": kind, **values}.items()},
        }

    found = [{"page_content": text, "metadata": {"doc_uri": f"d{n}.md"}, "id": None} for n, text in enumerate(TEXTS)]
    chat = {"choices": [{"message": {"role": "assistant", "content": ANSWER}}]}
    tokens = {"input_tokens": 812, "output_tokens": 9, "total_tokens": 821}
    spans = [
        step("CHAIN", "AA==", None, 0, 2, spanInputs={"query": QUESTION}, spanOutputs=ANSWER),
        step("RETRIEVER", "AQ==", "AA==", 0.25, 0.75, spanInputs={"query": QUESTION}, spanOutputs=found),
        step("CHAT_MODEL", "Ag==", "AA==", 0.75, 2, spanOutputs=chat, **{"chat.tokenUsage": tokens}),
    ]
    spans[2]["attributes"]["mlflow.llm.model"] = json.dumps("claude-sonnet-4-5")
    people = {"assessment_name": "thumb", "source": {"source_type": "HUMAN"}, "feedback": {"value": "up"}}
    model = {"assessment_name": "thumb", "source": {"source_type": "LLM_JUDGE"}, "feedback": {"value": "down"}}
    return [{"info": {"trace_id": "tr-1", "state": "OK", "assessments": [people, model]}, "data": {"spans": spans}}]


def mlflow_former() -> list[Value]:
    """As MLflow 2 wrote it: other keys of spans, and of the trace."""
    (trace,) = mlflow()
    spans = []
    for span in trace["data"]["spans"]:
        context = {"trace_id": span.pop("trace_id"), "span_id": span.pop("span_id")}
        times = {"start_time": span.pop("start_time_unix_nano"), "end_time": span.pop("end_time_unix_nano")}
        span.pop("status")
        spans.append(
            {**span, "context": context, "parent_id": span.pop("parent_span_id"), **times, "status_code": "OK"}
        )
    return [{"info": {"request_id": "tr-1", "status": "OK"}, "data": {"spans": spans}}]


def langfuse() -> list[Value]:
    """As Langfuse's API lists observations, with a score of the trace."""

    def observation(kind: str, name: str, parent: str | None, at: str, until: str, **about: Any) -> Value:
        times = {"startTime": f"{_ISO}{at}Z", "endTime": f"2026-09-21T14:13:2{until}Z"}
        return {
            "id": name,
            "traceId": "t1",
            "parentObservationId": parent,
            "type": kind,
            "name": name,
            **times,
            **about,
        }

    found = [{"content": text, "id": f"d{n}"} for n, text in enumerate(TEXTS)]
    return [
        observation("SPAN", "root", None, ".000", "2.000", input={"question": QUESTION}, output=ANSWER, sessionId="c1"),
        observation("RETRIEVER", "search", "root", ".250", "0.750", input=QUESTION, output=found),
        observation(
            "GENERATION",
            "write",
            "root",
            ".750",
            "2.000",
            input=[{"role": "user", "content": "…"}],
            output={"role": "assistant", "content": ANSWER},
            model="claude-sonnet-4-5",
            usageDetails={"input": 812, "output": 9, "total": 821},
            completionStartTime="2026-09-21T14:13:21.000Z",
        ),
        {"id": "sc", "traceId": "t1", "name": "thumb", "value": 1, "stringValue": "up", "dataType": "CATEGORICAL"},
    ]


def langfuse_files() -> list[Value]:
    """As the export to files writes them: other names, JSON as text, and an empty text for no parent."""
    rows = []
    for row in langfuse()[:3]:
        renamed = {
            "id": row["id"],
            "trace_id": row["traceId"],
            "parent_observation_id": row["parentObservationId"] or "",
            "type": row["type"],
            "name": row["name"],
            "start_time": row["startTime"].replace("T", " ").rstrip("Z"),
            "end_time": row["endTime"].replace("T", " ").rstrip("Z"),
            "input": json.dumps(row["input"]),
            "output": json.dumps(row["output"]),
        }
        if row["type"] == "GENERATION":
            renamed |= {"usage_details": json.dumps(row["usageDetails"]), "provided_model_name": row["model"]}
            renamed["time_to_first_token"] = 0.25
        rows.append(renamed)
    return rows


def langsmith() -> list[Value]:
    """As `Client.list_runs` gives runs; a run's session is the project."""

    def run(kind: str, name: str, parent: str | None, at: str, until: str, **about: Any) -> Value:
        times = {"start_time": f"{_ISO}{at}", "end_time": f"2026-09-21T14:13:2{until}"}
        ids = {"id": name, "trace_id": "root", "parent_run_id": parent, "session_id": "project"}
        return {**ids, "run_type": kind, "name": name, **times, "error": None, **about}

    found = [
        {"page_content": text, "metadata": {"source": f"d{n}.md"}, "type": "Document"} for n, text in enumerate(TEXTS)
    ]
    chat = {"generations": [[{"text": ANSWER, "message": {"id": ["AIMessage"], "kwargs": {"content": ANSWER}}}]]}
    return [
        run(
            "chain",
            "root",
            None,
            ".000",
            "2.000",
            inputs={"question": QUESTION},
            outputs={"answer": ANSWER},
            feedback_stats={"thumb": {"n": 1, "avg": 1.0}},
            extra={"metadata": {"thread_id": "c1"}},
        ),
        run("retriever", "search", "root", ".250", "0.750", inputs={"query": QUESTION}, outputs={"documents": found}),
        run(
            "llm",
            "write",
            "root",
            ".750",
            "2.000",
            inputs={},
            outputs=chat,
            prompt_tokens=812,
            completion_tokens=9,
            first_token_time="2026-09-21T14:13:21.000",
            extra={"metadata": {"ls_model_name": "claude-sonnet-4-5"}},
        ),
    ]


def langsmith_messages() -> list[Value]:
    """The same of a graph whose state is a list of messages."""
    root, search, write = langsmith()
    human = {"type": "human", "content": QUESTION, "id": "m1"}
    root["inputs"] = {"messages": [human]}
    root["outputs"] = {"messages": [human, {"type": "ai", "content": [{"type": "text", "text": ANSWER}], "id": "m2"}]}
    return [write, search, root]


EXPORTS: dict[str, Callable[[], list[Value]]] = {
    made.__name__: made
    for made in (
        otlp,
        otlp_former,
        openinference,
        openinference_table,
        mlflow,
        mlflow_former,
        langfuse,
        langfuse_files,
        langsmith,
        langsmith_messages,
    )
}
"""By name, what gives the rows of its file."""
