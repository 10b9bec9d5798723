"""What a judge is asked and shown of a sample, and what follows without it."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from evals.metrics import Sample
from evals.metrics.judge_tasks import (
    ANSWER_CLAIMS,
    ANSWER_CORRECTNESS,
    ANSWER_IN_CONTEXTS,
    COMPARED,
    CONTEXT_RELEVANCE,
    FAITHFULNESS,
    REFERENCE_CLAIMS,
    JudgeTask,
    ReplyData,
)
from evals.schemas import Citation, RetrievedChunk

MakeCase = Callable[..., Sample]
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
    ("answer", "citations", "shown"),
    [
        ("So [1].", None, "So [{a}]."),
        ("So [3] it is.", None, "So [{c}] it is."),
        ("So [2].", None, "So."),
        ("So [1, 1].", None, "So [{a}]."),
        ("So [1, 2, 3].", None, "So [{a}, {c}]."),
        ("So [5].", [Citation(index=5, chunk_id="a")], "So [{a}]."),
        ("So [5, 6].", [Citation(index=5, chunk_id="a"), Citation(index=6, chunk_id="a")], "So [{a}]."),
        ("So [5].", [Citation(index=5, chunk_id="b")], "So."),
    ],
)
def test_an_answer_cites_the_passages_by_the_numbers_that_a_judge_sees(
    judged_case: MakeCase, answer: str, citations: Sequence[Citation] | None, shown: str
) -> None:
    """A mark of a chunk without text is left out, as its number may be that of another passage."""
    case = judged_case(answer=answer, chunks=CHUNKS, citations=citations or [])
    (request,) = FAITHFULNESS.requests(case)
    ids = {passage["text"][-1]: passage["id"] for passage in request.data["contexts"]}
    assert sorted(ids.values()) == [1, 2]
    assert request.data["answer"] == shown.format(**ids)


@pytest.mark.parametrize(
    ("task", "is_shown"), [(FAITHFULNESS, True), (CONTEXT_RELEVANCE, True), (ANSWER_CLAIMS, False)]
)
def test_a_request_says_which_ranks_its_passages_have(judged_case: MakeCase, task: JudgeTask, is_shown: bool) -> None:
    """In the order in which they are shown; the verdict on a passage is one on its rank."""
    case = judged_case(chunks=CHUNKS)
    (request,) = task.requests(case)
    assert sorted(request.passages) == ([1, 3] if is_shown else [])
    texts = [CHUNKS[rank - 1].text for rank in request.passages]
    assert texts == [passage["text"] for passage in request.data.get("contexts", [])]


def test_correctness_is_judged_by_all_expected_answers(judged_case: MakeCase) -> None:
    """Whichever of them an answer says."""
    (request,) = ANSWER_CORRECTNESS.requests(judged_case(asked={"answers": ["96 h", "four days"]}))
    assert request.data == {
        "question": "How long?",
        "expected_answer": "It lasts 96 hours.",
        "accepted_variants": ["96 h", "four days"],
        "answer": "96 hours.",
    }


@pytest.mark.parametrize(
    ("task", "fields", "reply"),
    [
        (ANSWER_CLAIMS, {}, None),
        (ANSWER_CLAIMS, {"answer": " "}, claims()),
        (ANSWER_CLAIMS, {"answer": "I don't know."}, claims()),
        (REFERENCE_CLAIMS, {"answer": " "}, None),
        (REFERENCE_CLAIMS, {"asked": {"expected_answer": " "}}, claims()),
        (REFERENCE_CLAIMS, {"asked": {"expected_answer": None, "is_unanswerable": True}}, claims()),
        (CONTEXT_RELEVANCE, {}, None),
        (CONTEXT_RELEVANCE, {"chunks": []}, {"contexts": []}),
        (CONTEXT_RELEVANCE, {"chunks": [RetrievedChunk(chunk_id="a")]}, {"contexts": []}),
    ],
)
def test_of_nothing_nothing_is_asked(
    judged_case: MakeCase, task: JudgeTask, fields: dict[str, Any], reply: ReplyData | None
) -> None:
    """An empty answer makes no claims, and where there are no passages, none of them helps."""
    case = judged_case(**fields)
    assert follows(task, case) == reply
    assert len(task.requests(case)) == (reply is None)


@pytest.mark.parametrize(
    ("said", "fields", "asked", "reply"),
    [
        ({}, {}, False, None),
        ({"answer_claims": claims("x", "y")}, {}, True, None),
        ({"answer_claims": claims()}, {}, False, {"claims": []}),
        (
            {"answer_claims": claims("x", "y")},
            {"chunks": []},
            False,
            {"claims": [{"id": n, "passages": [], "verdict": "not_said"} for n in (1, 2)]},
        ),
    ],
)
def test_claims_are_looked_for_in_passages_where_both_are_there(
    judged_case: MakeCase, said: dict[str, Any], fields: dict[str, Any], asked: bool, reply: ReplyData | None
) -> None:
    """What no passage can say is not said."""
    case = judged_case(said, **fields)
    requests = ANSWER_IN_CONTEXTS.requests(case)
    assert [request.data["claims"] for request in requests] == [numbered("x", "y")] * asked
    assert follows(ANSWER_IN_CONTEXTS, case) == reply


NONE_SAID = {"answer_claims": [], "reference_claims": [{"id": 1, "verdict": "missing"}]}


@pytest.mark.parametrize(
    ("answer", "reference", "fields", "asked", "reply"),
    [
        (["x"], ["r"], {}, True, None),
        (["x"], [], {}, True, None),
        (None, ["r"], {}, False, None),
        (["x"], None, {}, False, None),
        ([], [], {}, False, {"answer_claims": [], "reference_claims": []}),
        (None, ["r"], {"answer": ""}, False, NONE_SAID),
        (None, ["r"], {"answer": "I don't know."}, False, NONE_SAID),
    ],
)
def test_claims_are_compared_once_both_lists_are_known(
    judged_case: MakeCase, answer: Any, reference: Any, fields: dict[str, Any], asked: bool, reply: ReplyData | None
) -> None:
    """An answer that says nothing leaves all of the reference out, for which no judge is needed."""
    lists = {"answer_claims": answer, "reference_claims": reference}
    case = judged_case({name: claims(*texts) for name, texts in lists.items() if texts is not None}, **fields)
    requests = COMPARED.requests(case)
    assert [(request.data["answer_claims"], request.data["reference_claims"]) for request in requests] == (
        [(numbered(*answer), numbered(*reference))] if asked else []
    )
    assert follows(COMPARED, case) == reply
