"""What a pipeline adds to each chunk, a header, a footer or a context, changes no metric."""

import random
from collections.abc import Callable
from statistics import fmean

import pytest

from evals.metrics import NDCG, PrecisionAtK, RecallAtK
from evals.metrics.sample import Sample
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, GoldPassage, RetrievedChunk
from evals.text.matching import evidence_of

RNG = random.Random(11)  # noqa: S311 - test data
VOCABULARY = ["".join(RNG.choices("abcdefghilmnoprstu", k=RNG.randint(2, 11))) for _ in range(2000)]
METRICS = (NDCG(10), RecallAtK(5), PrecisionAtK(5))
Ranking = list[tuple[str, list[tuple[int, str]]]]


def words(rng: random.Random, count: int) -> str:
    return " ".join(rng.choices(VOCABULARY, k=count))


def ranking(size: int) -> Ranking:
    """For each of thirty questions a gold document of 150 to 300 words, and ten chunks in an order that is fixed."""
    rng = random.Random(3)  # noqa: S311 - test data
    documents = [words(rng, rng.randint(150, 300)).split() for _ in range(60)]
    chunks = [
        (number, " ".join(document[start : start + size]))
        for number, document in enumerate(documents)
        for start in range(0, len(document) - len(document) % size, size)
    ]
    asked = []
    for number in range(30):
        own = [chunk for chunk in chunks if chunk[0] == number]
        got = rng.sample(own, min(len(own), rng.randint(1, 4))) + rng.sample(chunks, 8)
        rng.shuffle(got)
        asked.append((" ".join(documents[number]), list(dict.fromkeys(got))[:10]))
    return asked


def means(asked: Ranking, add: Callable[[int, int, str], str]) -> list[float]:
    """The metrics over a run in which something was added to each chunk."""
    records = [
        EvalRecord(
            question=EvalQuestion(id=str(place), question="Which?", gold_passages=[GoldPassage(text=gold)]),
            response=EvalResponse(
                answer="It.",
                chunks=[RetrievedChunk(text=add(rank, document, text)) for rank, (document, text) in enumerate(chunks)],
            ),
        )
        for place, (gold, chunks) in enumerate(asked)
    ]
    settings = Sample(EvalQuestion(question="?"), EvalResponse()).settings
    evidence = evidence_of(records, settings)
    cases = [Sample(one.question, one.response or EvalResponse(), evidence=evidence) for one in records]
    return [fmean(metric.score(case).value or 0.0 for case in cases) for metric in METRICS]


def line(length: int) -> str:
    return words(random.Random(length), length)  # noqa: S311 - test data


@pytest.mark.slow
@pytest.mark.parametrize("where", ["{line}\n\n{text}", "{text}\n\n{line}", "{line}\n{text}\n{line}"])
@pytest.mark.parametrize("length", [3, 10, 20])
@pytest.mark.parametrize("size", [30, 40, 60, 150])
def test_a_line_on_each_chunk_changes_no_metric(size: int, length: int, where: str) -> None:
    """Up to 20 tokens, also on chunks that are shorter than their header."""
    asked = ranking(size)
    bare = means(asked, lambda rank, document, text: text)
    assert min(bare) > 0.1
    assert means(asked, lambda rank, document, text: where.format(line=line(length), text=text)) == pytest.approx(
        bare, abs=0.01
    )


@pytest.mark.parametrize("size", [60, 150])
def test_a_line_that_names_page_and_document_changes_no_metric(size: int) -> None:
    """Numbers differ from chunk to chunk, and names from document to document."""
    asked = ranking(size)
    bare = means(asked, lambda rank, document, text: text)
    added = means(asked, lambda rank, document, text: f"Page {rank} of {document + 9}: {VOCABULARY[document]}\n{text}")
    assert added == pytest.approx(bare, abs=0.01)


@pytest.mark.parametrize("length", [50, 75, 100])
def test_a_context_of_its_own_changes_no_metric(length: int) -> None:
    """As contextual retrieval writes one before each chunk of 150 tokens."""
    asked = ranking(150)
    rng = random.Random(5)  # noqa: S311 - test data
    bare = means(asked, lambda rank, document, text: text)
    added = means(asked, lambda rank, document, text: f"{words(rng, length)}\n\n{text}")
    assert added == pytest.approx(bare, abs=0.01)


def test_only_what_many_chunks_share_is_set_aside() -> None:
    """A third of the run's chunks, and at least three of them."""
    texts = [words(random.Random(number), 30) for number in range(30)]  # noqa: S311 - test data

    def starts(share: int, *, least: float = 0.33) -> tuple[tuple[str, ...], ...]:
        marked = [f"Acme 7 Ltd {text}" if number < share else text for number, text in enumerate(texts)]
        chunks = [RetrievedChunk(text=text) for text in marked]
        question = EvalQuestion(id="q", question="Which?", gold_passages=[GoldPassage(text="gold")])
        run = [EvalRecord(question=question, response=EvalResponse(answer="It.", chunks=chunks))]
        settings = Sample(question, EvalResponse()).settings.model_copy(update={"common_share": least})
        return evidence_of(run, settings).common.starts

    assert starts(9) == ()
    assert starts(10) == (("acme", "#", "ltd"),)
    assert starts(2, least=0.01) == ()
    assert starts(3, least=0.01) == (("acme", "#", "ltd"),)


def test_what_is_common_never_hides_a_gold() -> None:
    """Editions of one text have all of it in common, and each of them holds the gold."""
    text = words(random.Random(1), 60)  # noqa: S311 - test data
    chunks = [RetrievedChunk(text=f"{text} {year} {words(random.Random(year), 60)}") for year in range(5)]  # noqa: S311
    question = EvalQuestion(id="q", question="Which?", gold_passages=[GoldPassage(text=f"{text} {line(400)}")])
    run = [EvalRecord(question=question, response=EvalResponse(answer="It.", chunks=chunks))]
    settings = Sample(question, EvalResponse()).settings.model_copy(update={"inside_chunk_share": 0.4})
    evidence = evidence_of(run, settings)
    assert evidence.common.starts
    case = Sample(question, EvalResponse(chunks=chunks), settings=settings, evidence=evidence)
    assert case.matches.hit_ranks == [1, 2, 3, 4, 5]
