"""Citation marks: what is one, and that the metrics of an answer's text do without them."""

import pytest

from evals.metrics import Sample, parse_metric
from evals.schemas import Citation, EvalQuestion, EvalResponse, RetrievedChunk
from evals.schemas.dataset import CalculationCheck, Check, Fact, FactsCheck, ListCheck, ListItem


def _case(answer: str, *cited: int, chunks: int | None = 3, base: int = 1, **question: object) -> Sample:
    retrieved = None if chunks is None else [RetrievedChunk(text=f"chunk {n}") for n in range(chunks)]
    citations = [Citation(index=index) for index in cited] or None
    response = EvalResponse(answer=answer, chunks=retrieved, citations=citations)
    return Sample(EvalQuestion(question="Where?", **question), response, citation_base=base)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("Paris [1].", "Paris."),
        ("Paris [1, 2] and [3]", "Paris and"),
        ("Paris [1][3].", "Paris."),
        ("Paris [1-3]; Rome [1; 2]", "Paris; Rome"),
        ("Paris [^1].", "Paris."),
        ("Paris【1†source】, Rome【4:0†b.pdf】.", "Paris, Rome."),
        ("Paris. [2]Rome", "Paris. Rome"),
        ("首都は東京[1]です", "首都は東京です"),
        ("96 hours [2]\n[1] Paris", "96 hours Paris"),
    ],
)
def test_a_mark_whose_numbers_a_chunk_can_have_is_no_text(answer: str, text: str) -> None:
    """In whichever of the usual forms it is written."""
    assert " ".join((_case(answer).answer or "").split()) == text


@pytest.mark.parametrize(
    "answer",
    [
        "It was so [1998].",
        "Use array[1] or a[1][2].",
        "Write `[1]` or\n```\nx = [1]\n```",
        "[4]",
        "[1, 4]",
        "[x]",
        "[0]",
    ],
)
def test_other_brackets_are_text(answer: str) -> None:
    """Years, code, and numbers that no chunk has stay."""
    assert _case(answer).answer == answer


def test_a_mark_glued_to_a_word_is_one_where_the_response_cites_it() -> None:
    """Many models put no blank before it; without a citation of that number it may be code."""
    assert _case("96 hours[1][2].", 1, 2).answer == "96 hours."
    assert _case("96 hours[1].", 2).answer == "96 hours[1]."


def test_a_year_stays_also_where_it_was_read_as_a_citation() -> None:
    """A server's marks are read from its answer, and so is a year in brackets."""
    assert _case("It was so [1998] [7].", 1998, 7).answer == "It was so [1998]."


def test_numbers_count_from_the_servers_base_and_need_chunks_or_citations() -> None:
    """[0] is a mark where the first chunk is 0; a response without sources is left as it is."""
    assert _case("Paris [0] [3]", base=0).answer == "Paris [3]"
    assert _case("Paris [2]", 1, 1, chunks=None).answer == "Paris"
    assert _case("Paris [1]", chunks=None).answer == "Paris [1]"
    assert _case("Paris [1]", chunks=0).answer == "Paris [1]"


@pytest.mark.parametrize(
    ("name", "check"),
    [
        ("fact_score", FactsCheck(kind="facts", facts=[Fact(name="three", numbers=["3"], any=["3"])])),
        ("rules_coverage", ListCheck(kind="list", name="rules", items=[ListItem(name="three", any=["3"])])),
        (
            "is_correct",
            CalculationCheck(kind="calculation", answer="three", facts=[Fact(name="three", numbers=["3"])]),
        ),
    ],
)
def test_a_check_does_not_hold_in_a_mark(name: str, check: Check) -> None:
    """The number of a source is no fact of the answer."""
    metric = parse_metric(name)
    assert metric.score(_case("It takes twenty days [3].", checks=[check])).value == 0
    assert metric.score(_case("It takes 3 days [1].", checks=[check])).value == 1
