"""Citation support: which sentences an answer has and what each cites, and ALCE's measures over verdicts on them."""

import re
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metrics.records import judged, lack, record, texts, values

from evals.metrics import Sample, parse_metric
from evals.metrics.citation import Statement, statements
from evals.schemas import Citation, RetrievedChunk

RECALL, PRECISION, OVER = ALL = ["citation_support_recall", "citation_support_precision", "over_citation_rate"]
CHUNKS = [RetrievedChunk(chunk_id=f"c{number}", text=f"text {number}") for number in (1, 2, 3, 4)]


def found(answer: str | None, **fields: Any) -> list[Statement] | None:
    """The statements of an answer to which four chunks were retrieved."""
    return statements(record(answer, **({"chunks": CHUNKS, "citations": []} | fields)))


def cited(listed: list[Statement] | None) -> list[Any]:
    """What each statement cites; "invalid" for one that cites what was not retrieved."""
    return ["invalid" if one.invalid else list(one.cited) for one in listed or []]


@pytest.mark.parametrize(
    ("marks", "chunks"),
    [
        ("", []),
        *[(marks, [1]) for marks in (" [1]", "[1]", " [1][1]")],
        *[(marks, [1, 2]) for marks in (" [1][2]", " [1] [2]")],
        *[(" [1, 3]", [1, 3]), (" [1,3;4]", [1, 3, 4]), (" [1, 3-4]", [1, 3, 4]), (" [3][1]", [3, 1])],
        *[(marks, [2, 3, 4]) for marks in (" [2-4]", " [2–4]", " [2 - 4]")],
        *[(marks, "invalid") for marks in (" [5]", " [0]", " [1][5]", " [3-5]", " [1-999]", " [999]")],
    ],
)
@pytest.mark.parametrize("answer", ["Pipes are covered{}.", "Pipes are covered.{}", "Pipes{} are covered."])
def test_marks_name_the_chunks_of_their_sentence(answer: str, marks: str, chunks: Any) -> None:
    """Before the full stop, behind it or in the middle; lists and ranges; each chunk once, in order of mention."""
    listed = found(answer.format(marks))
    assert cited(listed) == [chunks]
    assert listed is not None
    assert listed[0].text == "Pipes are covered."


@pytest.mark.parametrize(
    "marks",
    [
        *("[2024-05-01]", "[a]", "[1a]", "[-1]", "[1,]", "[]", "[[x]]", "[12345678901]", "(1)", "[1-]", "[1914-1918]"),
        *("[1998]", "a[0]", "array[9]", "`x [1]`", "[ 2]", "\n\t [1 ,  3 ]"),
    ],
)
def test_what_is_no_mark_stays_in_the_text(marks: str) -> None:
    """Dates, years, places of an array, code, remarks and the like cite nothing."""
    assert found(f"On {marks} it rained.") == [Statement(f"On {marks} it rained.", (), invalid=False)]


@pytest.mark.parametrize(
    ("answer", "chunks"),
    [
        ("Pipes are covered [1]. Floods are not [2].", [[1], [2]]),
        ("Pipes are covered. [1] Floods are not. [2]", [[1], [2]]),
        ("Pipes are covered.[1][2] Floods are not.", [[1, 2], []]),
        ("Pipes are covered. Floods are not [9].", [[], "invalid"]),
        ("Pipes are covered.\n\n[1][2]", [[1, 2]]),
        ("[1] Pipes are covered. Floods are not.", [[1], []]),
        ("The policy covers:\n\n- pipes [1]\n- floods [2, 3]\n", [[], [1], [2, 3]]),
        ("See Dr. Wu, p. 3 [1]. No. 5 is out [2].", [[1], [2]]),
        *[(nothing, []) for nothing in ("", "   ", "[1]", "...", None)],
    ],
)
def test_a_mark_belongs_to_the_sentence_that_it_stands_in_or_follows(answer: str | None, chunks: list[Any]) -> None:
    """A line of marks belongs to the sentence before; marks alone are no sentence."""
    assert cited(found(answer)) == chunks


@pytest.mark.parametrize(
    ("answer", "sentences"),
    [
        ("配管は補償されます[1]。洪水は補償されません[2]。", ["配管は補償されます。", "洪水は補償されません。"]),
        ("Les tuyaux « percés » le sont [1]. Ça suffit [2] !", ["Les tuyaux « percés » le sont.", "Ça suffit !"]),
        ("Трубы застрахованы [1]. Потоп — нет [2].", ["Трубы застрахованы.", "Потоп — нет."]),
        ("Burst pipes 🚰 count [1]. Floods 🌊 don't [2].", ["Burst pipes 🚰 count.", "Floods 🌊 don't."]),
        ("Pipes are covered [１]. Floods are not [２].", ["Pipes are covered.", "Floods are not."]),
        ("Rule one \n\t [1] is kept. Rule two   [2].", ["Rule one is kept.", "Rule two."]),
    ],
)
def test_marks_are_read_in_any_script(answer: str, sentences: list[str]) -> None:
    """The statement is the sentence without its marks, and the blanks before them."""
    listed = found(answer) or []
    assert [one.text for one in listed] == sentences
    assert cited(listed) == [[1], [2]]


@pytest.mark.parametrize(
    ("citations", "chunks"),
    [
        ([Citation(index=1, start=0, end=24)], [[1], [], []]),
        ([Citation(index=1, start=6, end=11)], [[1], [], []]),
        ([Citation(index=2, start=25, end=42)], [[], [2], []]),
        ([Citation(index=2, start=0, end=42)], [[2], [2], []]),
        ([Citation(index=2, start=20, end=30)], [[2], [2], []]),
        ([Citation(index=3, start=24, end=24)], [[3], [], []]),
        ([Citation(index=3, start=24, end=25)], [[3], [], []]),
        ([Citation(index=3, start=900, end=910)], [[], [], [3]]),
        ([Citation(chunk_id="c4", start=0, end=24), Citation(index=1, start=0, end=5)], [[4, 1], [], []]),
        ([Citation(chunk_id="c4", start=0, end=24), Citation(index=4, start=0, end=5)], [[4], [], []]),
        ([Citation(chunk_id="gone", start=0, end=24)], ["invalid", [], []]),
        ([Citation(index=1, start=0, end=24), Citation(index=9, start=0, end=24)], ["invalid", [], []]),
    ],
)
def test_a_citation_with_a_place_belongs_to_the_sentences_that_it_covers(
    citations: list[Citation], chunks: list[Any]
) -> None:
    """Or, where it covers none, to the one before it; by chunk id or number."""
    assert cited(found("Burst pipes are covered. Floods 🌊 are not. Ask again.", citations=citations)) == chunks


def test_places_go_before_marks() -> None:
    """A server that says where its citations stand is believed; the marks are only taken out of the text."""
    listed = found("Pipes are covered [1].", citations=[Citation(chunk_id="c3", start=0, end=22)])
    assert listed == [Statement("Pipes are covered.", (3,), invalid=False)]


def test_a_list_of_citations_without_places_needs_marks() -> None:
    """Nothing says which sentence they stand in; with marks in the answer, these do."""
    listed = [Citation(chunk_id="c1"), Citation(chunk_id="c2")]
    assert found("Pipes are covered. Floods are not.", citations=listed) is None
    assert found("Pipes are covered.", citations=[Citation(chunk_id="c1", start=0)]) is None
    assert cited(found("Pipes are covered [2]. Floods are not.", citations=listed)) == [[2], []]
    assert cited(found("Pipes are covered. Floods are not.", citations=[])) == [[], []]


@pytest.mark.parametrize(("base", "chunks"), [(0, [[1], [4], "invalid"]), (1, ["invalid", [3], [4]])])
def test_marks_count_from_the_servers_base(base: int, chunks: list[Any]) -> None:
    """Some servers call the first chunk 0."""
    assert cited(found("Pipes are covered [0]. Floods are not [3]. Storms are [4].", citation_base=base)) == chunks


def test_a_chunk_without_text_supports_nothing() -> None:
    """It was retrieved, but nobody can read it; the numbers of the others stay."""
    chunks = [RetrievedChunk(text="one"), RetrievedChunk(chunk_id="c2"), RetrievedChunk(text="three")]
    assert cited(found("A is so [1]. B is so [2]. C is so [3].", chunks=chunks)) == [[1], "invalid", [3]]
    assert cited(found("A is so [1].", chunks=[])) == ["invalid"]


example_count = settings(derandomize=True, max_examples=200)


@example_count
@given(answer=st.text(alphabet="Ab1 2[],;-–.\n。é", max_size=40))
def test_any_text_has_statements_without_marks(answer: str) -> None:
    """Each says something and cites chunks that are there, each once."""
    for one in found(answer) or []:
        assert one.text.strip()
        assert set(one.cited) <= {1, 2, 3, 4}
        assert len(set(one.cited)) == len(one.cited)
        assert one.examined is (bool(one.cited) and not one.invalid)


# The measures, over what a judge said of each sentence.

Cited = tuple[str, dict[int, tuple[bool, bool]]]  # a verdict, and for each citation: alone, without
NEEDED, NEEDLESS, ENOUGH, HALF = (True, False), (False, True), (True, True), (False, False)


def case_of(*sentences: Cited | list[int], **fields: Any) -> Sample:
    """A record of three chunks with these verdicts on its sentences; one that only cites is not examined."""
    marks = [list(one if isinstance(one, list) else one[1]) for one in sentences]
    items = [_item(n, one) for n, one in enumerate(sentences, start=1) if not isinstance(one, list)]
    usual = {"answer": text_of(marks), "chunks": texts(3), "citations": []}
    return judged({"citation_support": {"statements": items}} if items else {}, **(usual | fields))


def _item(number: int, sentence: Cited) -> dict[str, Any]:
    parts = [{"id": n, "alone": alone, "without": without} for n, (alone, without) in sentence[1].items()]
    return {"id": number, "verdict": sentence[0], "citations": parts}


def text_of(marks: Sequence[Sequence[int]]) -> str:
    """An answer of a sentence for each list of citations."""
    names = ("one", "two", "three", "four", "five", "six")
    shown = ["".join(f" [{n}]" for n in numbers) for numbers in marks]
    return " ".join(f"Rule {name} costs 5 euros{mark}." for name, mark in zip(names, shown, strict=False))


@pytest.mark.parametrize(
    ("sentences", "expected"),
    [
        pytest.param([("supported", {1: NEEDED})], [1, 1, 0], id="one citation"),
        pytest.param([("supported", {1: HALF})], [1, 1, 0], id="the only citation of a supported sentence counts"),
        pytest.param([("supported", {1: NEEDLESS})], [1, 1, 0], id="even if the judge says that none is needed"),
        pytest.param([("supported", {1: ENOUGH, 2: ENOUGH})], [1, 1, 0], id="each suffices"),
        pytest.param([("supported", {1: HALF, 2: HALF})], [1, 1, 0], id="both together"),
        pytest.param([("supported", {1: NEEDED, 2: NEEDLESS})], [1, 0.5, 0.5], id="one is needless"),
        pytest.param([("unsupported", {1: HALF, 2: NEEDLESS})], [0, 0, None], id="no citation of it counts"),
        pytest.param([("supported", {1: NEEDED}), []], [0.5, 1, 0], id="a sentence without citation"),
        pytest.param([("supported", {1: NEEDED}), [9]], [0.5, 1, 0], id="a citation of nothing retrieved"),
        pytest.param([("supported", {1: NEEDED}), [1, 9]], [0.5, 1, 0], id="such a sentence is left out altogether"),
        pytest.param([[], []], [0, None, None], id="nothing cited"),
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
def test_recall_counts_sentences_and_precision_citations(sentences: list[Any], expected: list[float | None]) -> None:
    """A citation is needless where it fails alone and the others suffice without it."""
    assert values(ALL, case_of(*sentences)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("name", "sentences", "missing", "reason"),
    [
        (RECALL, [("cannot_tell", {1: HALF})], "judge", "the judge could not tell"),
        (PRECISION, [("cannot_tell", {1: HALF}), []], "judge", "the judge could not tell"),
        (OVER, [("cannot_tell", {1: HALF}), ("unsupported", {2: HALF})], "judge", "the judge could not tell"),
        (PRECISION, [[], []], "not_applicable", "no sentence cites a retrieved chunk"),
        (PRECISION, [[9]], "not_applicable", "no sentence cites a retrieved chunk"),
        (OVER, [[9]], "not_applicable", "no sentence is supported by what it cites"),
        (OVER, [("unsupported", {1: HALF})], "not_applicable", "no sentence is supported by what it cites"),
    ],
)
def test_a_share_of_nothing_has_no_value(name: str, sentences: list[Any], missing: str, reason: str) -> None:
    """ALCE gives 0 there. Where the judge could not tell, a value might have been there."""
    assert lack(parse_metric(name).score(case_of(*sentences))) == (None, missing, reason)


WITHOUT_PLACE = {"answer": "Rule one is kept.", "citations": [Citation(index=1)]}


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        *[({"answer": answer}, "the answer abstains") for answer in ("I don't know [1].", "", "[1][2]")],
        ({"answer": None}, "this server only retrieves"),
        ({"chunks": [RetrievedChunk(chunk_id="c1")]}, "the chunks carry no text"),
        (WITHOUT_PLACE, "the citations do not say which sentence they stand in"),
    ],
)
def test_what_is_missing_is_the_reason_and_nothing_is_asked(name: str, fields: dict[str, Any], reason: str) -> None:
    """None of it says anything about the citations."""
    case = case_of(("supported", {1: NEEDED}), **fields)
    assert lack(parse_metric(name).score(case)) == (None, "not_applicable", reason)
    assert parse_metric(name).requests(case) == []


def test_the_judge_is_shown_cited_passages_and_citing_sentences_only() -> None:
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


def test_the_statements_of_a_reply_may_stand_in_any_order() -> None:
    """They are told apart by their ids."""
    items = [_item(1, ("supported", {1: NEEDED})), _item(2, ("unsupported", {1: HALF, 2: HALF}))]
    answered = {"answer": text_of([[1], [1, 2]]), "chunks": texts(3), "citations": []}
    for order in (items, items[::-1]):
        assert values(ALL, judged({"citation_support": {"statements": order}}, **answered)) == [0.5, 1 / 3, 0]


subsets = st.frozensets(st.sampled_from([1, 2, 3]), min_size=1)
# What a sentence cites (4 and 5 were not retrieved), and which sets of passages entail it.
alce_sentences = st.lists(
    st.tuples(st.lists(st.sampled_from([1, 2, 3, 3, 2, 1, 4, 5]), unique=True, max_size=4), st.frozensets(subsets)),
    min_size=1,
    max_size=6,
)


def alce(answer: str, entailed_by: Sequence[frozenset[frozenset[int]]]) -> tuple[float, float]:
    """Citation recall and precision by ALCE's algorithm; the entailment model is looked up.

    Gao et al. 2023: a sentence without citation or with one out of range is not supported and adds no citation.
    """
    sentences = re.findall(r"[^.]+\.", answer)
    supported = counting = citations = 0
    for sentence, sets in zip(sentences, entailed_by, strict=True):
        cited = [int(mark[1:]) for mark in re.findall(r"\[\d+", sentence)]
        if not cited or max(cited) > 3:
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
    if not cited or max(cited) > 3:
        return cited
    parts = {n: (frozenset([n]) in sets, len(cited) > 1 and frozenset(cited) - {n} in sets) for n in cited}
    return ("supported" if frozenset(cited) in sets else "unsupported", parts)


@pytest.mark.slow
@example_count
@given(sentences=alce_sentences)
def test_the_values_are_alces(sentences: list[tuple[list[int], Any]]) -> None:
    """Single, several and out-of-range citations; where ALCE gives 0 for want of citations, there is no value."""
    case = case_of(*(verdicts(*sentence) for sentence in sentences))
    recall, precision = alce(case.response.answer or "", [sets for _, sets in sentences])
    cites = any(cited and max(cited) <= 3 for cited, _ in sentences)
    assert values(ALL, case)[:2] == pytest.approx([recall, precision if cites else None])
