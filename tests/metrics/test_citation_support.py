"""Citation support: ALCE's measures over scripted verdicts, and what they are worth where something is missing."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.metrics import Sample, parse_metric
from evals.metrics.citation import statements
from evals.schemas import Citation, MetricResult, RetrievedChunk

MakeCase = Callable[..., Sample]
RECALL, PRECISION, OVER = ALL = ["citation_support_recall", "citation_support_precision", "over_citation_rate"]
CHUNKS = [RetrievedChunk(text=f"text {n}") for n in (1, 2, 3)]
NAMES = ["one", "two", "three", "four", "five", "six"]
Cited = tuple[str, dict[int, tuple[bool, bool]]]  # a verdict, and for each citation: alone, without


@pytest.fixture(scope="module")
def case_of(judged_case: MakeCase) -> MakeCase:
    """Build a record with these verdicts on its sentences; one that only cites is not examined."""

    def make(*sentences: Cited | list[int], **fields: Any) -> Sample:
        marks = [list(one if isinstance(one, list) else one[1]) for one in sentences]
        items = [_item(n, one) for n, one in enumerate(sentences, start=1) if not isinstance(one, list)]
        fields = {"answer": text_of(marks), "chunks": CHUNKS, "citations": []} | fields
        return judged_case({"citation_support": {"statements": items}} if items else {}, **fields)

    return make


def _item(number: int, sentence: Cited) -> dict[str, Any]:
    verdict, cited = sentence
    parts = [{"id": n, "alone": alone, "without": without} for n, (alone, without) in cited.items()]
    return {"id": number, "verdict": verdict, "citations": parts}


def text_of(marks: Sequence[Sequence[int]]) -> str:
    """An answer of a sentence for each list of citations."""
    sentences = (
        f"Rule {name} costs 5 euros{''.join(f' [{n}]' for n in cited)}."
        for name, cited in zip(NAMES, marks, strict=False)
    )
    return " ".join(sentences)


def score(name: str, case: Sample) -> MetricResult:
    return parse_metric(name).score(case)


def values(case: Sample) -> list[float | None]:
    return [score(name, case).value for name in ALL]


def test_blanks_before_a_mark_belong_to_it(case_of: MakeCase) -> None:
    """However many, they are in no statement, and the mark stands where it stands."""
    answer = "Rule one is kept \n\t [1 ,  3 ] [2] and so on. Rule two   [ 2]."
    found = statements(case_of(answer=answer))
    assert found is not None
    assert [(one.text, one.cited) for one in found] == [
        ("Rule one is kept \n\t [1 ,  3 ] and so on.", (2,)),
        ("Rule two   [ 2].", ()),
    ]
    found = statements(case_of(answer=answer.replace("3 ]", "3]").replace("[ 2", "[2")))
    assert found is not None
    assert [(one.text, one.cited) for one in found] == [("Rule one is kept and so on.", (1, 3, 2)), ("Rule two.", (2,))]


NEEDED, NEEDLESS, ENOUGH, HALF = (True, False), (False, True), (True, True), (False, False)


@pytest.mark.parametrize(
    ("sentences", "expected"),
    [
        pytest.param([("supported", {1: NEEDED})], [1, 1, 0], id="one citation"),
        pytest.param([("supported", {1: HALF})], [1, 1, 0], id="the only citation of a supported sentence counts"),
        pytest.param([("supported", {1: NEEDLESS})], [1, 1, 0], id="even if the judge says that none is needed"),
        pytest.param([("supported", {1: ENOUGH, 2: ENOUGH})], [1, 1, 0], id="each suffices"),
        pytest.param([("supported", {1: HALF, 2: HALF})], [1, 1, 0], id="both together"),
        pytest.param([("supported", {1: NEEDED, 2: NEEDLESS})], [1, 0.5, 0.5], id="one is needless"),
        pytest.param([("unsupported", {1: HALF})], [0, 0, None], id="unsupported"),
        pytest.param([("unsupported", {1: HALF, 2: NEEDLESS})], [0, 0, None], id="no citation of it counts"),
        pytest.param([("supported", {1: NEEDED}), []], [0.5, 1, 0], id="a sentence without citation"),
        pytest.param([("supported", {1: NEEDED}), [9]], [0.5, 1, 0], id="a citation of nothing retrieved"),
        pytest.param([("supported", {1: NEEDED}), [1, 9]], [0.5, 1, 0], id="such a sentence is left out altogether"),
        pytest.param([[], []], [0, None, None], id="nothing cited"),
        pytest.param([[9]], [0, None, None], id="nothing valid cited"),
        pytest.param([("supported", {1: NEEDED}), ("cannot_tell", {2: HALF})], [1, 1, 0], id="could not tell on one"),
        pytest.param([("unsupported", {1: HALF}), ("cannot_tell", {2: HALF})], [0, 0, None], id="nor on the other"),
        pytest.param([("cannot_tell", {1: HALF}), []], [0, None, None], id="could not tell on the only one that cites"),
        pytest.param(
            [("supported", {1: NEEDED, 2: NEEDLESS, 3: NEEDLESS}), ("unsupported", {2: HALF}), []],
            [1 / 3, 1 / 4, 2 / 3],
            id="mixed",
        ),
    ],
)
def test_recall_counts_sentences_and_precision_citations(
    case_of: MakeCase, sentences: list[Any], expected: list[float | None]
) -> None:
    """A citation is needless where it fails alone and the others suffice without it."""
    assert values(case_of(*sentences)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("name", "sentences"),
    [
        (RECALL, [("cannot_tell", {1: HALF})]),
        (PRECISION, [("cannot_tell", {1: HALF}), []]),
        (OVER, [("cannot_tell", {1: HALF}), ("unsupported", {2: HALF})]),
    ],
)
def test_where_the_judge_could_not_tell_it_is_the_judge_that_failed(
    case_of: MakeCase, name: str, sentences: list[Any]
) -> None:
    """A value might have been there, had it been able to."""
    result = score(name, case_of(*sentences))
    assert (result.value, result.missing, result.reason) == (None, "judge", "the judge could not tell")


@pytest.mark.parametrize(
    ("name", "sentences", "reason"),
    [
        (PRECISION, [[], []], "no sentence cites a retrieved chunk"),
        (PRECISION, [[9]], "no sentence cites a retrieved chunk"),
        (OVER, [[9]], "no sentence is supported by what it cites"),
        (OVER, [("unsupported", {1: HALF})], "no sentence is supported by what it cites"),
    ],
)
def test_a_share_of_nothing_has_no_value(case_of: MakeCase, name: str, sentences: list[Any], reason: str) -> None:
    """ALCE gives 0 there."""
    result = score(name, case_of(*sentences))
    assert (result.value, result.missing, result.reason) == (None, "not_applicable", reason)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"answer": "I don't know [1]."}, "the answer abstains"),
        ({"answer": ""}, "the answer abstains"),
        ({"answer": "[1][2]"}, "the answer abstains"),
        ({"answer": None}, "this server only retrieves"),
        ({"answer": None, "chunks": None}, "the server sent no answer"),
        ({"chunks": None}, "the server sent no chunks"),
        ({"citations": None}, "the server sent no citations"),
        ({"chunks": [RetrievedChunk(chunk_id="c1")]}, "the chunks carry no text"),
        (
            {"answer": "Rule one is kept.", "citations": [Citation(index=1)]},
            "the citations do not say which sentence they stand in",
        ),
    ],
)
def test_what_is_missing_is_the_reason_and_nothing_is_asked(
    case_of: MakeCase, name: str, fields: dict[str, Any], reason: str
) -> None:
    """None of it says anything about the citations."""
    case = case_of(("supported", {1: NEEDED}), **fields)
    result = score(name, case)
    assert (result.value, result.missing, result.reason) == (None, "not_applicable", reason)
    assert parse_metric(name).requests(case) == []


def test_the_judge_is_shown_cited_passages_and_citing_sentences_only(case_of: MakeCase) -> None:
    """Under the numbers of their places in the shuffle; one inquiry serves all three metrics."""
    case = case_of([3, 1], [], [9], [3])
    requests = [request for name in ALL for request in parse_metric(name).requests(case)]
    assert [request.name for request in requests] == ["citation_support"] * 3
    data = requests[0].data
    assert next(iter(data)) == "passages"
    place = {rank: number for number, rank in enumerate(requests[0].passages, start=1)}
    assert place != {1: 1, 2: 2, 3: 3}
    assert data == {
        "passages": sorted(({"id": place[n], "text": f"text {n}"} for n in (1, 3)), key=lambda one: one["id"]),
        "question": "How long?",
        "statements": [
            {"id": 1, "text": "Rule one costs 5 euros.", "citations": [place[3], place[1]]},
            {"id": 4, "text": "Rule four costs 5 euros.", "citations": [place[3]]},
        ],
    }


def test_the_statements_of_a_reply_may_stand_in_any_order(judged_case: MakeCase) -> None:
    """They are told apart by their ids."""
    items = [_item(1, ("supported", {1: NEEDED})), _item(2, ("unsupported", {1: HALF, 2: HALF}))]
    answered = {"answer": text_of([[1], [1, 2]]), "chunks": CHUNKS, "citations": []}
    for order in (items, items[::-1]):
        assert values(judged_case({"citation_support": {"statements": order}}, **answered)) == [0.5, 1 / 3, 0]


subsets = st.frozensets(st.sampled_from([1, 2, 3]), min_size=1)
# What a sentence cites (4 and 5 were not retrieved), and which sets of passages entail it.
alce_sentences = st.lists(
    st.tuples(st.lists(st.sampled_from([1, 2, 3, 3, 2, 1, 4, 5]), unique=True, max_size=4), st.frozensets(subsets)),
    min_size=1,
    max_size=6,
)
example_count = settings(derandomize=True, max_examples=200)


def alce(answer: str, entailed_by: Sequence[frozenset[frozenset[int]]]) -> tuple[float, float]:
    """Citation recall and precision by ALCE's algorithm; the entailment model is looked up.

    Gao et al. 2023: a sentence without citation or with one out of range is not supported and adds no citation.
    """
    sentences = re.findall(r"[^.]+\.", answer)
    supported = counting = citations = 0
    for sentence, sets in zip(sentences, entailed_by, strict=True):
        cited = [int(mark[1:]) for mark in re.findall(r"\[\d+", sentence)]
        if not cited or any(n > len(CHUNKS) for n in cited):
            continue
        citations += len(cited)
        entailed = frozenset(cited) in sets
        supported += entailed
        if entailed and len(cited) > 1:
            for one in cited:
                alone = frozenset([one]) in sets
                counting += alone or frozenset(cited) - {one} not in sets
        else:
            counting += entailed
    return supported / len(sentences), counting / citations if citations else 0.0


def verdicts(cited: list[int], sets: frozenset[frozenset[int]]) -> Cited | list[int]:
    """What a judge says that knows which sets of passages entail a sentence."""
    if not cited or max(cited) > len(CHUNKS):
        return cited
    parts = {n: (frozenset([n]) in sets, len(cited) > 1 and frozenset(cited) - {n} in sets) for n in cited}
    return ("supported" if frozenset(cited) in sets else "unsupported", parts)


@pytest.mark.slow
@example_count
@given(sentences=alce_sentences)
def test_the_values_are_alces(case_of: MakeCase, sentences: list[tuple[list[int], Any]]) -> None:
    """Single, several and out-of-range citations; where ALCE gives 0 for want of citations, there is no value."""
    case = case_of(*(verdicts(*sentence) for sentence in sentences))
    recall, precision = alce(case.response.answer or "", [sets for _, sets in sentences])
    found = dict(zip(ALL, values(case), strict=True))
    assert found[RECALL] == pytest.approx(recall)
    cites = any(cited and max(cited) <= len(CHUNKS) for cited, _ in sentences)
    assert found[PRECISION] == (pytest.approx(precision) if cites else None)


parts = st.dictionaries(st.sampled_from([1, 2, 3]), st.tuples(st.booleans(), st.booleans()), min_size=1)
