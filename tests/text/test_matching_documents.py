"""A hit in another document is none, where the names of documents can be compared."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, GoldPassage, RetrievedChunk
from evals.text.matching import Matches, MatchSettings, RunEvidence, evidence_of, match
from evals.text.matching.documents import Kinship, kinship

UUID = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"
DEFAULTS = MatchSettings()


def clause(number: int) -> str:
    """A clause that the policies of all years have in common."""
    return f"clause {number}: " + " ".join(f"c{number}w{word}" for word in range(30))


def record(number: int, gold: str | None, *documents: str | None) -> EvalRecord:
    """A question about a clause of one document, for which that of other documents was retrieved as well."""
    golds = [GoldPassage(text=clause(number), document_id=gold)]
    chunks = [
        RetrievedChunk(chunk_id=f"{number}-{place}", document_id=name, text=f"{clause(number)} in chunk {place}")
        for place, name in enumerate(documents)
    ]
    return EvalRecord(
        question=EvalQuestion(id=f"q{number}", question="What?", gold_passages=golds),
        response=EvalResponse(answer="It.", chunks=chunks),
    )


def matched(records: Sequence[EvalRecord], using: MatchSettings = DEFAULTS) -> tuple[RunEvidence, list[Matches]]:
    """What comes out for each record of a run."""
    evidence = evidence_of(records, using)
    return evidence, [
        match(one.response.chunks or [], one.question.gold_passages, using, evidence)
        for one in records
        if one.response is not None
    ]


@pytest.mark.parametrize(
    ("gold", "chunk", "near"),
    [
        ("policy-2024", "policy-2024", Kinship.SAME),
        ("policy-2024", "/srv/docs/Policy-2024.pdf", Kinship.SAME),
        ("policy-2024.md", "policy-2024.rtf", Kinship.ALIKE),
        ("policy-2024.md", f"{UUID}_policy-2024.md", Kinship.ALIKE),
        ("policy-2024.md", f"policy-2024-{UUID}.pdf", Kinship.ALIKE),
        ("policy-2024", "9f3a22bc_policy-2024.md", Kinship.ALIKE),
        ("policy-2024", "policy-2024_v2.pdf", Kinship.ALIKE),
        ("policy-2024", "policy-2024 v2.1.pdf", Kinship.ALIKE),
        ("policy-2024", "policy-2024 (1).pdf", Kinship.ALIKE),
        ("policy-2024", "policy-2024 - Copy.docx", Kinship.ALIKE),
        ("policy-2024", "Policy%202024.pdf", Kinship.ALIKE),
        ("policy-2024", "policy_2024.md#chunk-7", Kinship.ALIKE),
        ("policy_v1", "policy_v2", Kinship.ALIKE),
        ("policy-2024", "tenant-7__policy-2024.pdf", Kinship.PREFIXED),
        ("kb_policy-2024", "policy-2024", Kinship.PREFIXED),
        ("policy-2024", "policy-2023", Kinship.OTHER),
        ("policy-2024", "policy", Kinship.OTHER),
        ("policy", "policy-2024", Kinship.OTHER),
        ("report-20240115", "report-20240215", Kinship.OTHER),
        ("chapter-1", "chapter-2", Kinship.OTHER),
        ("1", "chapter-1", Kinship.OTHER),
        ("release-1.2", "release-1.3", Kinship.OTHER),
        (UUID, "9f3a22bc", Kinship.OTHER),
        ("policy-2024", UUID, Kinship.OTHER),
    ],
)
def test_how_near_two_names_are(gold: str, chunk: str, near: Kinship) -> None:
    """Folders, endings, ids and versions are added by pipelines; years and numbers tell documents apart."""
    assert kinship(chunk, gold) is near
    assert kinship(gold, chunk) is near


@pytest.mark.parametrize("others", [1, 4])
def test_a_hit_in_another_document_is_none_and_is_counted_apart(others: int) -> None:
    """The policy of 2023 has the same clause, and so have those of the years before."""
    years = [f"policy-{2023 - number}.pdf" for number in range(others)]
    evidence, found = matched([record(number, "policy-2024", *years, "policy-2024.pdf") for number in range(10)])
    assert evidence.names.comparable is True
    assert [matches.hit_ranks for matches in found] == [[others + 1]] * 10
    assert [matches.elsewhere for matches in found] == [others] * 10
    assert {matches.evidence["other_documents"] for matches in found} == {others}


def test_a_gold_that_only_another_document_holds_is_not_found() -> None:
    """Where names can be compared, as most of the run shows."""
    run = [record(number, "policy-2024", "policy-2024") for number in range(9)]
    _, found = matched([*run, record(9, "policy-2024", "policy-2023")])
    assert [bool(matches.found) for matches in found] == [True] * 9 + [False]


def test_hits_in_other_documents_count_where_that_is_wished() -> None:
    """A switch, for corpora in which any copy will do."""
    run = [record(number, "policy-2024", "policy-2023", "policy-2024") for number in range(4)]
    _, found = matched(run, MatchSettings(count_other_documents=True))
    assert [matches.hit_ranks for matches in found] == [[1, 2]] * 4
    assert [matches.elsewhere for matches in found] == [0] * 4


@pytest.mark.parametrize(("at_home", "comparable"), [(0, False), (4, False), (5, True), (10, True)])
def test_names_are_comparable_where_half_of_the_golds_found_stand_in_their_own_document(
    at_home: int, comparable: bool
) -> None:
    """Below that the names are of another kind, such as the server's own ids, and are ignored."""
    run = [record(n, "policy-2024", "policy-2024" if n < at_home else UUID) for n in range(10)]
    evidence, found = matched(run)
    assert evidence.names.comparable is comparable
    assert sum(bool(matches.found) for matches in found) == (at_home if comparable else 10)


@pytest.mark.parametrize(
    ("gold", "chunk"), [("policy-2024", None), (None, "policy-2024"), (None, None)], ids=["chunk", "gold", "neither"]
)
def test_where_the_one_side_names_nothing_names_say_nothing(gold: str | None, chunk: str | None) -> None:
    """A run of texts alone."""
    evidence, found = matched([record(number, gold, chunk) for number in range(4)])
    assert evidence.names.comparable is None
    assert all(matches.found for matches in found)


RENAMED: list[Callable[[str], str]] = [
    lambda name: f"/var/uploads/2024/{name}.md",
    lambda name: f"kb-main__{name}.md",
    lambda name: f"{UUID}_{name}.md",
    lambda name: f"{name}_v2.md",
    lambda name: f"{name}.docx",
    lambda name: f"0a1b2c3d4e5f-{name} (1).pdf",
    lambda name: f"https://example.org/files/{name.replace('-', '%20')}.pdf",
]


@pytest.mark.parametrize("rename", [*RENAMED, None])
def test_no_true_hit_is_lost_where_names_gained_something(rename: Callable[[str], str] | None) -> None:
    """Each document in one way, or each in another."""
    golds = [f"policy-{1990 + number}" for number in range(30)]
    ways = [rename or RENAMED[number % len(RENAMED)] for number in range(30)]
    named = [way(gold) for way, gold in zip(ways, golds, strict=True)]
    run = [record(n, gold, named[n - 1], named[n]) for n, gold in enumerate(golds)]
    evidence, found = matched(run)
    assert evidence.names.comparable is True
    assert [matches.hit_ranks for matches in found] == [[2]] * 30


@pytest.mark.parametrize("other", ["home-policy", "policy_v2", f"policy {UUID}"])
def test_a_name_that_gained_something_is_another_where_the_bare_one_is_there_too(other: str) -> None:
    """Both are documents of the corpus: what stands before or behind tells them apart."""
    _, found = matched([record(number, "policy", other, "policy") for number in range(4)])
    assert [matches.hit_ranks for matches in found] == [[2]] * 4
    _, found = matched([record(number, "policy", other) for number in range(4)])
    assert [matches.hit_ranks for matches in found] == [[1]] * 4


def test_short_golds_and_pieces_need_no_name_where_names_are_ignored() -> None:
    """The server's own ids are no other documents."""
    golds = [GoldPassage(text=text, document_id="guide") for text in (clause(1), "grace period 30 days")]
    words = clause(1).split()
    texts = [f"so {' '.join(words[:16])}", f"{' '.join(words[16:])} and on", "a grace period: 30 days", clause(2)]
    chunks = [RetrievedChunk(document_id=UUID, text=text) for text in texts]
    others = [record(number, "guide", UUID) for number in (2, 3, 4)]
    one = EvalRecord(
        question=EvalQuestion(id="q", question="What?", gold_passages=golds),
        response=EvalResponse(answer="It.", chunks=chunks),
    )
    _, (*_, found) = matched([*others, one])
    assert found.found == {0: (1, "overlap"), 1: (2, "text")}


def test_one_response_alone_tells_by_what_stands_above(recognised: Callable[..., Matches]) -> None:
    """Without a run, a copy in another document gains nothing once the gold was found in its own."""
    gold = GoldPassage(text=clause(1), document_id="policy-2024")
    chunks = {name: RetrievedChunk(document_id=f"policy-{name}", text=f"{clause(1)} {name}") for name in (2023, 2024)}
    assert recognised(gold, chunks[2023]).hits == [True]
    assert recognised(gold, chunks[2024], chunks[2023]).hits == [True, False]
    assert recognised(gold, chunks[2024], chunks[2023]).elsewhere == 1
    assert recognised(gold, chunks[2024], chunks[2023], count_other_documents=True).hits == [True, True]


@pytest.mark.parametrize(
    ("gold_id", "gold_document", "expected"),
    [("0", "guide", [2]), ("0", None, [2]), ("0", "manual", [1]), ("1", "guide", [2])],
)
def test_an_id_that_each_document_has_is_of_the_golds_document(
    gold_id: str, gold_document: str | None, expected: list[int]
) -> None:
    """Or of the chunk with its text."""
    chunks = [
        RetrievedChunk(chunk_id="0", document_id="manual", text="about fire"),
        RetrievedChunk(chunk_id="0", document_id="guide", text=clause(1)),
    ]
    gold = GoldPassage(text=clause(1), chunk_id=gold_id, document_id=gold_document)
    evidence = RunEvidence(repeated_ids=True)
    assert match(chunks, [gold], DEFAULTS, evidence).hit_ranks == expected
    question = EvalQuestion(id="q", question="What?", gold_passages=[gold])
    run = [EvalRecord(question=question, response=EvalResponse(answer="It.", chunks=chunks))]
    assert evidence_of(run, DEFAULTS).repeated_ids is True


@settings(derandomize=True, deadline=None, max_examples=40)
@given(order=st.permutations(range(12)), left_out=st.integers(0, 5))
def test_what_a_run_says_does_not_depend_on_the_order_of_its_records(order: list[int], left_out: int) -> None:
    """Questions are asked at once and answered in any order."""
    run = [record(n, "policy-2024", "policy-2023", "policy-2024" if n > left_out else UUID) for n in range(12)]
    assert evidence_of([run[place] for place in order], DEFAULTS) == evidence_of(run, DEFAULTS)


def test_a_run_of_many_records_is_judged_by_a_sample() -> None:
    """The same with a thousand records as with a hundred."""
    run = [record(number, "policy-2024", "policy-2023", "policy-2024") for number in range(1000)]
    evidence, found = matched(run)
    assert evidence.names.comparable is True
    assert {tuple(matches.hit_ranks) for matches in found} == {(2,)}
    assert replace(evidence, names=evidence_of(run[:5], DEFAULTS).names) == evidence
