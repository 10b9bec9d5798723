"""What a judge is asked and shown of a sample, and what follows without it."""

from typing import Any

import pytest
from metrics.records import judged

from evals.metrics import Sample
from evals.metrics import judge_tasks as asked
from evals.metrics.judge_tasks import JudgeTask, ReplyData
from evals.schemas import Citation, RetrievedChunk

CHUNKS = [RetrievedChunk(chunk_id="a", text="text a"), RetrievedChunk(chunk_id="b"), RetrievedChunk(text="text c")]


def claims(*texts: str) -> dict[str, Any]:
    return {"claims": [{"claim": text} for text in texts]}


def numbered(*texts: str) -> list[dict[str, Any]]:
    return [{"id": number, "text": text} for number, text in enumerate(texts, start=1)]


def follows(task: JudgeTask, case: Sample) -> ReplyData | None:
    """The reply that follows without a judge; None where it is asked, or something must be known first."""
    replies = list(task.replies(case).values())
    return replies[0] if replies else None


@pytest.mark.parametrize(
    ("answer", "cited", "shown"),
    [
        ("So [1].", {}, "So [{a}]."),
        ("So [3] it is.", {}, "So [{c}] it is."),
        ("So [2].", {}, "So."),
        ("So [1, 1].", {}, "So [{a}]."),
        ("So [1, 2, 3].", {}, "So [{a}, {c}]."),
        ("So [5].", {5: "a"}, "So [{a}]."),
        ("So [5, 6].", {5: "a", 6: "a"}, "So [{a}]."),
        ("So [5].", {5: "b"}, "So."),
    ],
)
def test_an_answer_cites_the_passages_by_the_numbers_that_a_judge_sees(
    answer: str, cited: dict[int, str], shown: str
) -> None:
    """A mark of a chunk without text is left out, as its number may be that of another passage."""
    citations = [Citation(index=index, chunk_id=chunk_id) for index, chunk_id in cited.items()]
    (request,) = asked.FAITHFULNESS.requests(judged(answer=answer, chunks=CHUNKS, citations=citations))
    ids = {passage["text"][-1]: passage["id"] for passage in request.data["contexts"]}
    assert sorted(ids.values()) == [1, 2]
    assert request.data["answer"] == shown.format(**ids)


@pytest.mark.parametrize(
    ("task", "ranks"), [(asked.FAITHFULNESS, [1, 3]), (asked.CONTEXT_RELEVANCE, [1, 3]), (asked.ANSWER_CLAIMS, [])]
)
def test_a_request_says_which_ranks_its_passages_have(task: JudgeTask, ranks: list[int]) -> None:
    """In the order in which they are shown; the verdict on a passage is one on its rank."""
    (request,) = task.requests(judged(chunks=CHUNKS))
    assert sorted(request.passages) == ranks
    texts = [CHUNKS[rank - 1].text for rank in request.passages]
    assert texts == [passage["text"] for passage in request.data.get("contexts", [])]


def test_correctness_is_judged_by_all_expected_answers() -> None:
    """Whichever of them an answer says."""
    (request,) = asked.ANSWER_CORRECTNESS.requests(judged(answers=["96 h", "four days"]))
    assert request.data == {
        "question": "How long?",
        "expected_answer": "It lasts 96 hours.",
        "accepted_variants": ["96 h", "four days"],
        "answer": "96 hours.",
    }


@pytest.mark.parametrize(
    ("task", "fields", "reply"),
    [
        (asked.ANSWER_CLAIMS, {}, None),
        (asked.ANSWER_CLAIMS, {"answer": " "}, claims()),
        (asked.ANSWER_CLAIMS, {"answer": "I don't know."}, claims()),
        (asked.REFERENCE_CLAIMS, {"answer": " "}, None),
        (asked.REFERENCE_CLAIMS, {"expected_answer": " "}, claims()),
        (asked.REFERENCE_CLAIMS, {"expected_answer": None, "is_unanswerable": True}, claims()),
        (asked.CONTEXT_RELEVANCE, {}, None),
        (asked.CONTEXT_RELEVANCE, {"chunks": []}, {"contexts": []}),
        (asked.CONTEXT_RELEVANCE, {"chunks": [RetrievedChunk(chunk_id="a")]}, {"contexts": []}),
    ],
)
def test_of_nothing_nothing_is_asked(task: JudgeTask, fields: dict[str, Any], reply: ReplyData | None) -> None:
    """An empty answer makes no claims, and where there are no passages, none of them helps."""
    case = judged(**fields)
    assert follows(task, case) == reply
    assert len(task.requests(case)) == (reply is None)


NOT_SAID = {"claims": [{"id": n, "passages": [], "verdict": "not_said"} for n in (1, 2)]}
NONE_SAID = {"answer_claims": [], "reference_claims": [{"id": 1, "verdict": "missing"}]}


@pytest.mark.parametrize(
    ("task", "answer", "reference", "fields", "is_asked", "reply"),
    [
        (asked.ANSWER_IN_CONTEXTS, None, None, {}, False, None),
        (asked.ANSWER_IN_CONTEXTS, ["x", "y"], None, {}, True, None),
        (asked.ANSWER_IN_CONTEXTS, [], None, {}, False, {"claims": []}),
        (asked.ANSWER_IN_CONTEXTS, ["x", "y"], None, {"chunks": []}, False, NOT_SAID),
        (asked.COMPARED, ["x"], ["r"], {}, True, None),
        (asked.COMPARED, ["x"], [], {}, True, None),
        (asked.COMPARED, None, ["r"], {}, False, None),
        (asked.COMPARED, ["x"], None, {}, False, None),
        (asked.COMPARED, [], [], {}, False, {"answer_claims": [], "reference_claims": []}),
        (asked.COMPARED, None, ["r"], {"answer": ""}, False, NONE_SAID),
        (asked.COMPARED, None, ["r"], {"answer": "I don't know."}, False, NONE_SAID),
    ],
)
def test_claims_are_looked_at_once_they_are_known(
    task: JudgeTask, answer: Any, reference: Any, fields: dict[str, Any], is_asked: bool, reply: ReplyData | None
) -> None:
    """What no passage can say is not said; an answer that says nothing leaves all of the reference out."""
    lists = {"answer_claims": answer, "reference_claims": reference}
    case = judged({name: claims(*texts) for name, texts in lists.items() if texts is not None}, **fields)
    shown = {name: numbered(*texts) for name, texts in lists.items() if texts is not None}
    expected = shown if task is asked.COMPARED else {"claims": shown.get("answer_claims")}
    requests = [{name: request.data[name] for name in expected} for request in task.requests(case)]
    assert requests == ([expected] if is_asked else [])
    assert follows(task, case) == reply
