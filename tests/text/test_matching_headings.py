"""A title that a chunk and a gold both begin with is no passage of the gold, however much of either it is."""

from collections.abc import Callable

import pytest

from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, GoldPassage, RetrievedChunk
from evals.text.matching import Matches, MatchSettings, evidence_of, match

RuleOf = Callable[..., str | None]


def words(count: int, name: str) -> str:
    """So many words that begin with the name: of letters alone, as any number may stand for another."""
    return " ".join(f"{name}{chr(97 + number // 26)}{chr(97 + number % 26)}" for number in range(count))


TITLE = words(24, "title")
GOLD = f"{TITLE} {words(70, 'gold')}"
SHORT = "title: use of vaccines in poultry and cancer patients; passage: france only in may"


@pytest.mark.parametrize("other", [0, 1, 10, 24])
def test_another_passage_of_the_same_title_is_not_inside(rule_of: RuleOf, other: int) -> None:
    """The title alone may be any of them: only where the chunk goes on does it say that it is another."""
    assert rule_of(GOLD, f"{TITLE} {words(other, 'other')}") == (None if other else "inside")


@pytest.mark.parametrize("follows", [f"of {words(10, 'other')}", words(10, "other")])
def test_a_title_with_a_misread_word_is_a_title(rule_of: RuleOf, follows: str) -> None:
    """Neither the misread word nor a short one behind the title makes it a passage."""
    gold = f"{TITLE} in {words(70, 'gold')}"
    assert rule_of(gold, f"{TITLE.replace('titleak', 'titlexk')} {follows}") is None


@pytest.mark.parametrize(
    ("chunk", "expected"),
    [
        ("title: use of vaccines in poultry and cancer patients; passage: no data for spain", None),
        ("title: use of vaccines in poultry and cancer patients; passage: for poultry in may", None),
        ("title: use of vaccines in poultry and cancer patients; passage: in france only in may", "overlap"),
        ("title: use of vaccines in poultry and cancer patients; passage: france only", "overlap"),
        ("title: use of vaccines in poultry and cancer patients; passage: france on", "overlap"),
    ],
)
def test_what_follows_the_title_overlaps_too(rule_of: RuleOf, chunk: str, expected: str | None) -> None:
    """Ten of the gold's fourteen tokens are its title; the chunk may also end in the middle of it."""
    assert rule_of(SHORT, chunk) == expected


@pytest.mark.parametrize("header", ["", "Acme Ltd, handbook", "Acme Ltd, internal use only, page"])
def test_a_title_after_the_header_of_all_chunks_is_a_title(header: str) -> None:
    """The chunk begins with it behind what every chunk of the run begins with."""
    texts = [f"{TITLE} {words(12, name)}" for name in ("one", "two", "three")]
    texts = [f"{header} {place} {text}" for place, text in enumerate([*texts, words(40, "gold")])]
    question = EvalQuestion(id="q", question="Which?", gold_passages=[GoldPassage(text=GOLD)])
    response = EvalResponse(answer="It.", chunks=[RetrievedChunk(text=text) for text in texts])
    evidence = evidence_of([EvalRecord(question=question, response=response)], MatchSettings())
    assert match(response.chunks or [], question.gold_passages, MatchSettings(), evidence).hit_ranks == [4]


def test_a_chunk_that_comes_after_takes_no_hit_away(recognised: Callable[..., Matches]) -> None:
    """Where the three begin with a number, the first is no header of one response alone."""
    gold = "on burst pipes and water that runs out"
    chunks = ["1 on burst pipes and water that and 7", "2 fire", "3 theft"]
    assert recognised(gold, *chunks[:1]).hit_ranks == recognised(gold, *chunks).hit_ranks == [1]


@pytest.mark.parametrize(
    "chunk",
    [
        pytest.param(f"{TITLE} {words(8, 'gold')}", id="cut out of the gold"),
        pytest.param(f"{TITLE} {words(8, 'gold')} gol", id="cut in the middle of a word"),
        pytest.param(f"{TITLE} {words(17, 'gold')} {words(30, 'other')}", id="more than 40 tokens"),
        pytest.param(f"{TITLE} gxldaa {words(20, 'gold').partition(' ')[2]}", id="a word misread"),
        pytest.param(f"{words(12, 'context')} {TITLE} {words(8, 'other')}", id="not what the chunk begins with"),
    ],
)
def test_the_start_of_a_gold_that_is_no_title_is_inside(rule_of: RuleOf, chunk: str) -> None:
    """A heading ends where the two go on differently, and is short."""
    assert rule_of(GOLD, chunk) == "inside"
