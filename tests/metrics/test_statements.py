"""Which sentences an answer has, and which chunks each of them cites."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.metrics import Sample
from evals.metrics.citation import Statement, statements
from evals.schemas import Citation, RetrievedChunk

MakeCase = Callable[..., Sample]
CHUNKS = [RetrievedChunk(chunk_id=f"c{n}", text=f"text {n}") for n in (1, 2, 3, 4)]


@pytest.fixture(scope="module")
def found(make_case: MakeCase) -> Callable[..., list[Statement] | None]:
    """The statements of an answer to which four chunks were retrieved."""

    def find(answer: str | None, **fields: Any) -> list[Statement] | None:
        return statements(make_case(answer=answer, **({"chunks": CHUNKS, "citations": []} | fields)))

    return find


def cited(listed: list[Statement] | None) -> list[Any]:
    """What each statement cites; "invalid" for one that cites what was not retrieved."""
    return ["invalid" if one.invalid else list(one.cited) for one in listed or []]


@pytest.mark.parametrize(
    ("marks", "chunks"),
    [
        ("", []),
        (" [1]", [1]),
        ("[1]", [1]),
        (" [1][2]", [1, 2]),
        (" [1] [2]", [1, 2]),
        (" [1, 3]", [1, 3]),
        (" [1,3;4]", [1, 3, 4]),
        (" [2-4]", [2, 3, 4]),
        (" [2–4]", [2, 3, 4]),
        (" [2 - 4]", [2, 3, 4]),
        (" [1, 3-4]", [1, 3, 4]),
        (" [1][1]", [1]),
        (" [3][1]", [3, 1]),
        (" [5]", "invalid"),
        (" [0]", "invalid"),
        (" [1][5]", "invalid"),
        (" [3-5]", "invalid"),
        (" [1-999]", "invalid"),
        (" [999]", "invalid"),
    ],
)
@pytest.mark.parametrize("answer", ["Pipes are covered{}.", "Pipes are covered.{}", "Pipes{} are covered."])
def test_marks_name_the_chunks_of_their_sentence(
    found: Callable[..., list[Statement] | None], answer: str, marks: str, chunks: Any
) -> None:
    """Before the full stop, behind it or in the middle; lists and ranges; each chunk once, in order of mention."""
    listed = found(answer.format(marks))
    assert cited(listed) == [chunks]
    assert listed is not None
    assert listed[0].text == "Pipes are covered."


@pytest.mark.parametrize(
    "marks",
    [
        "[2024-05-01]",
        "[a]",
        "[1a]",
        "[-1]",
        "[1,]",
        "[]",
        "[[x]]",
        "[12345678901]",
        "(1)",
        "[1-]",
        "[1914-1918]",
        "[1998]",
        "a[0]",
        "array[9]",
        "`x [1]`",
    ],
)
def test_what_is_no_mark_stays_in_the_text(found: Callable[..., list[Statement] | None], marks: str) -> None:
    """Dates, years, places of an array, code, remarks and the like cite nothing."""
    listed = found(f"On {marks} it rained.")
    assert listed == [Statement(f"On {marks} it rained.", (), invalid=False)]


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
        ("", []),
        ("   ", []),
        ("[1]", []),
        ("...", []),
        (None, []),
    ],
)
def test_a_mark_belongs_to_the_sentence_that_it_stands_in_or_follows(
    found: Callable[..., list[Statement] | None], answer: str | None, chunks: list[Any]
) -> None:
    """A line of marks belongs to the sentence before; marks alone are no sentence."""
    assert cited(found(answer)) == chunks


@pytest.mark.parametrize(
    ("answer", "texts"),
    [
        ("配管は補償されます[1]。洪水は補償されません[2]。", ["配管は補償されます。", "洪水は補償されません。"]),
        (
            "Les tuyaux « percés » sont couverts [1]. Ça suffit [2] !",
            ["Les tuyaux « percés » sont couverts.", "Ça suffit !"],
        ),
        ("Трубы застрахованы [1]. Потоп — нет [2].", ["Трубы застрахованы.", "Потоп — нет."]),
        ("Burst pipes 🚰 count [1]. Floods 🌊 don't [2].", ["Burst pipes 🚰 count.", "Floods 🌊 don't."]),
        ("Pipes are covered [１]. Floods are not [２].", ["Pipes are covered.", "Floods are not."]),
    ],
)
def test_marks_are_read_in_any_script(
    found: Callable[..., list[Statement] | None], answer: str, texts: list[str]
) -> None:
    """The statement is the sentence without its marks."""
    listed = found(answer) or []
    assert [one.text for one in listed] == texts
    assert cited(listed) == [[1], [2]]


ANSWER = "Burst pipes are covered. Floods 🌊 are not. Ask again."
PIPES, FLOODS = (0, 24), (25, 42)


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
    found: Callable[..., list[Statement] | None], citations: list[Citation], chunks: list[Any]
) -> None:
    """Or, where it covers none, to the one before it; by chunk id or number."""
    assert [ANSWER[slice(*span)] for span in (PIPES, FLOODS)] == ["Burst pipes are covered.", "Floods 🌊 are not."]
    assert cited(found(ANSWER, citations=citations)) == chunks


def test_places_go_before_marks(found: Callable[..., list[Statement] | None]) -> None:
    """A server that says where its citations stand is believed; the marks are only taken out of the text."""
    listed = found("Pipes are covered [1].", citations=[Citation(chunk_id="c3", start=0, end=22)])
    assert listed == [Statement("Pipes are covered.", (3,), invalid=False)]


def test_a_list_of_citations_without_places_needs_marks(found: Callable[..., list[Statement] | None]) -> None:
    """Nothing says which sentence they stand in; with marks in the answer, these do."""
    listed = [Citation(chunk_id="c1"), Citation(chunk_id="c2")]
    assert found("Pipes are covered. Floods are not.", citations=listed) is None
    assert found("Pipes are covered.", citations=[Citation(chunk_id="c1", start=0)]) is None
    assert cited(found("Pipes are covered [2]. Floods are not.", citations=listed)) == [[2], []]
    assert cited(found("Pipes are covered. Floods are not.", citations=[])) == [[], []]


@pytest.mark.parametrize(("base", "chunks"), [(0, [[1], [4], "invalid"]), (1, ["invalid", [3], [4]])])
def test_marks_count_from_the_servers_base(make_case: MakeCase, base: int, chunks: list[Any]) -> None:
    """Some servers call the first chunk 0."""
    answer = "Pipes are covered [0]. Floods are not [3]. Storms are [4]."
    assert cited(statements(make_case(answer=answer, chunks=CHUNKS, citations=[], base=base))) == chunks


def test_a_chunk_without_text_supports_nothing(found: Callable[..., list[Statement] | None]) -> None:
    """It was retrieved, but nobody can read it; the numbers of the others stay."""
    chunks = [RetrievedChunk(text="one"), RetrievedChunk(chunk_id="c2"), RetrievedChunk(text="three")]
    assert cited(found("A is so [1]. B is so [2]. C is so [3].", chunks=chunks)) == [[1], "invalid", [3]]
    assert cited(found("A is so [1].", chunks=[])) == ["invalid"]


@settings(derandomize=True, max_examples=200)
@given(answer=st.text(alphabet="Ab1 2[],;-–.\n。é", max_size=40))
def test_any_text_has_statements_without_marks(found: Callable[..., list[Statement] | None], answer: str) -> None:
    """Each says something and cites chunks that are there, each once."""
    for one in found(answer) or []:
        assert one.text.strip()
        assert set(one.cited) <= {1, 2, 3, 4}
        assert len(set(one.cited)) == len(one.cited)
        assert one.examined is (bool(one.cited) and not one.invalid)
