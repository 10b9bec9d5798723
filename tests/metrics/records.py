"""What the tests of the metrics share: records by the fields of question and response, what a judge said, values."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evals.metrics import BaseMetric, Sample, parse_metric
from evals.schemas import EvalQuestion, EvalResponse, GoldPassage, JudgeVerdict, MetricResult, RetrievedChunk


def record(answer: str | None = "Burst pipes are covered.", **fields: Any) -> Sample:
    """Build a record of the fields of its question, of its response and of the sample, by their names."""
    asked = {name: value for name, value in fields.items() if name in EvalQuestion.model_fields}
    answered = {name: value for name, value in fields.items() if name in EvalResponse.model_fields}
    of_sample = {name: value for name, value in fields.items() if name not in asked | answered}
    question = EvalQuestion(**{"question": "What is covered?"} | asked)
    return Sample(question, EvalResponse(answer=answer, **answered), **of_sample)


def score(metric: BaseMetric | str, answer: str | None = "Burst pipes are covered.", **fields: Any) -> MetricResult:
    """Measure a record, which `record` builds."""
    return (parse_metric(metric) if isinstance(metric, str) else metric).score(record(answer, **fields))


def values(metrics: Iterable[BaseMetric | str], sample: Sample) -> list[float | None]:
    """What several metrics make of a record."""
    known = [parse_metric(metric) if isinstance(metric, str) else metric for metric in metrics]
    return [metric.score(sample).value for metric in known]


def lack(result: MetricResult) -> tuple[float | None, str | None, str | None]:
    """The value, which should not be there, with the kind of its absence and the reason."""
    return result.value, result.missing, result.reason


def chunks(*ids: str) -> list[RetrievedChunk]:
    """Chunks with these ids."""
    return [RetrievedChunk(chunk_id=name) for name in ids]


def golds(*ids: str) -> list[GoldPassage]:
    """Golds with these ids."""
    return [GoldPassage(text=f"the passage {name}", chunk_id=name) for name in ids]


def texts(count: int) -> list[RetrievedChunk]:
    """So many chunks, "text 1" and so on."""
    return [RetrievedChunk(text=f"text {number}") for number in range(1, count + 1)]


# What a judge said.


def judged(replies: Mapping[str, Any] | None = None, **fields: Any) -> Sample:
    """Build a judged record from the judge's replies, by the names of its inquiries.

    A reply is a mapping, a failure a text such as "refused", and a list holds one of the two for each repeat.
    """
    usual = {"question": "How long?", "expected_answer": "It lasts 96 hours.", "answer": "96 hours."}
    retrieved = {"chunks": [RetrievedChunk(text="It lasts 96 hours.")]}
    verdicts = [verdict for name, reply in (replies or {}).items() for verdict in verdicts_on(name, reply)]
    return record(verdicts=verdicts, judged=True, **(usual | retrieved | fields))


def verdicts_on(name: str, reply: Any) -> list[JudgeVerdict]:
    """The verdicts on an inquiry, one for each repeat."""
    repeats = reply if isinstance(reply, list) else [reply]
    return [_verdict(name, number, repeat) for number, repeat in enumerate(repeats)]


def _verdict(name: str, number: int, reply: Any) -> JudgeVerdict:
    content = {"failure": reply, "message": "why"} if isinstance(reply, str) else {"reply": reply}
    return JudgeVerdict.model_validate({"request": name, "repeat": number, **content})


def claim_replies(answer: Sequence[tuple[Any, ...]] = (), reference: Sequence[tuple[Any, ...]] = ()) -> dict[str, Any]:
    """Build the replies to the inquiries on claims, for `judged`.

    A claim of the answer is (verdict by the reference, numbers of the chunks that support it), one of the expected
    answer (verdict by the answer, numbers of the chunks). None for the chunks: the judge could not tell.
    """
    replies: dict[str, Any] = {"claims_compared": {}}
    for name, claims in (("answer", answer), ("reference", reference)):
        numbered = list(enumerate(claims, start=1))
        replies[f"{name}_claims"] = {"claims": [{"claim": f"{name} {n}", "importance": "vital"} for n, _ in numbered]}
        replies[f"{name}_in_contexts"] = {"claims": [_support(n, claim[1]) for n, claim in numbered]}
        replies["claims_compared"][f"{name}_claims"] = [{"id": n, "verdict": claim[0]} for n, claim in numbered]
    return replies


def _support(number: int, supporting: Iterable[int] | None) -> dict[str, Any]:
    verdict = "cannot_tell" if supporting is None else "supported" if supporting else "not_said"
    return {"id": number, "passages": [{"id": n, "quote": "q"} for n in supporting or ()], "verdict": verdict}
