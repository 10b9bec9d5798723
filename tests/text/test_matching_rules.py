"""Each rule by which a chunk is recognised as a gold, alone and under auto."""

from collections.abc import Callable
from typing import Any

import pytest

from evals.schemas import GoldPassage, RetrievedChunk
from evals.text.matching import document_key

RuleOf = Callable[..., str | None]
LONG = " ".join(f"g{number}" for number in range(30))


def _words(count: int, letter: str = "g") -> str:
    return " ".join(f"{letter}{number}" for number in range(count))


@pytest.mark.parametrize("rule", ["chunk_id", "auto"])
@pytest.mark.parametrize(
    ("gold_id", "chunk_id", "expected"),
    [("c1", "c1", "chunk_id"), ("c1", "c2", None), ("c1", None, None), (None, "c1", None), (None, None, None)],
)
def test_equal_ids_are_a_match(
    rule_of: RuleOf, rule: str, gold_id: str | None, chunk_id: str | None, expected: str | None
) -> None:
    """Ids match where both are there and equal; two absent ids are not equal ids."""
    gold = GoldPassage(text="the gold", chunk_id=gold_id)
    assert rule_of(gold, RetrievedChunk(text="other words", chunk_id=chunk_id), rule=rule) == expected


@pytest.mark.parametrize("rule", ["text", "auto"])
@pytest.mark.parametrize(
    ("gold", "chunk"),
    [
        ("grace period", "The grace period is 30 days."),
        ("Grace Period", "the GRACE PERIOD is 30 days"),
        ("grace period", "the grace, period"),
        ("grace period", "the grace\n\n\tperiod"),
        ("grace period", "the **grace** period"),
        ("grace period", "the _grace_ period"),
        ("grace period", "# Grace period\n30 days"),
        ("grace period 30 days", "| grace period | 30 days |"),
        ("the insurer's duty", "the insurer’s duty"),
        ("so-called “new” cars", 'so-called "new" cars'),
        ("file a claim", "\ufb01le a claim"),
        ("clause 12", "clause １２"),
        ("café terrace", "cafe\u0301 terrace"),
        ("Große Schäden", "GROSSE SCHÄDEN"),
        ("non breaking", "non\u00a0breaking"),
        ("user_id", "the user_id column"),
        ("保険料", "年間の保険料は五万円です"),
        ("保险条款", "本保险条款自即日起生效"),
        ("보험료", "연간 보험료 안내"),
        ("เปิดทำการแปดโมงเช้า", "ร้านค้าเปิดทำการแปดโมงเช้าถึงห้าโมงเย็น"),
        ("clause 12", "clause ١٢"),
        ("fire & theft", "fire &amp; theft"),
        ("the insurer's duty", "the insurer&rsquo;s duty"),
        ("burst pipes are covered", "burst pipes are cov\u00adered"),
        ("burst pipes are covered", "burst pipes are cov\u00ad\n  ered"),
        ("burst pipes are covered", "burst pipes are cov-\nered"),
        ("burst pipes are covered", "burst pipes are cov-\r\n  ered"),
        ("burst pipes are covered", "burst pipes are cov- ered"),
        ("burst pipes are cov-\nered", "burst pipes are covered"),
        ("burst pipes are cov-\nered", "burst pi-\npes are cov-\nered"),
        ("a well-known risk", "a well-\nknown risk"),
        ("pre- and post-natal care", "pre- and post-\nnatal care"),
        ("the years 2019-2020", "the years 2019-\n2020"),
    ],
)
def test_a_gold_that_stands_in_the_chunk_is_recognised(rule_of: RuleOf, rule: str, gold: str, chunk: str) -> None:
    """Case, Unicode form, quotation marks, Markdown and white space make no difference."""
    assert rule_of(gold, chunk, rule=rule) == "text"


@pytest.mark.parametrize("rule", ["text", "auto"])
@pytest.mark.parametrize(
    ("gold", "chunk"),
    [
        ("cat", "a concatenation"),
        ("cat", "the cats"),
        ("the cat sat", "the cat never sat"),
        ("user", "the user_id column"),
        ("12", "clause 120"),
        ("保険料", "保険の料金"),
        ("...", "... and so on ..."),
        ("grace period", ""),
    ],
)
def test_parts_of_words_and_marks_alone_are_no_match(rule_of: RuleOf, rule: str, gold: str, chunk: str) -> None:
    """Only whole words in a row count, and a gold without words stands nowhere."""
    assert rule_of(gold, chunk, rule=rule) is None


@pytest.mark.parametrize("rule", ["text", "auto"])
@pytest.mark.parametrize(
    ("length", "gold_document", "chunk_document", "found"),
    [
        (7, "guide", "guide", True),
        (7, "guide", "manual", False),
        (7, "guide", None, True),
        (7, None, "manual", True),
        (7, "", "manual", True),
        (8, "guide", "manual", True),
    ],
)
def test_a_short_gold_needs_the_same_document_where_both_name_one(
    rule_of: RuleOf, rule: str, length: int, gold_document: str | None, chunk_document: str | None, found: bool
) -> None:
    """Fewer than 8 tokens may stand anywhere by chance; 8 do not."""
    gold = GoldPassage(text=_words(length), document_id=gold_document)
    chunk = RetrievedChunk(text=f"so {gold.text} and on", document_id=chunk_document)
    assert rule_of(gold, chunk, rule=rule) == ("text" if found else None)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("https://a.com/x/", "https://a.com/y/", False),
        ("https://a.com/x/", "https://a.com/x", True),
        ("https://a.com/x/index.html", "https://a.com/y/index.html", False),
        ("https://a.com/x/index.htm", "https://a.com/x/", True),
        ("https://a.com/x/?page=1", "https://a.com/y/?page=1", False),
        ("https://a.com/x/guide.html", "guide.html", True),
        ("/", "//", False),
        ("uploads/index.md", "index", True),
        ("C:\\files\\Guide.PDF", "guide", True),
        ("release-1.2.txt", "release-1.2", True),
        ("release-1.2", "release-1", False),
    ],
)
def test_documents_are_told_apart_by_the_last_part_of_their_name(first: str, second: str, same: bool) -> None:
    """Servers keep the path or the file's name; a page that is the index of its folder goes by the folder."""
    assert (document_key(first) == document_key(second)) is same


@pytest.mark.parametrize("rule", ["inside", "auto"])
@pytest.mark.parametrize(("length", "expected"), [(19, None), (20, "inside"), (29, "inside")])
def test_a_chunk_inside_the_gold_needs_20_tokens(rule_of: RuleOf, rule: str, length: int, expected: str | None) -> None:
    """A long enough chunk that stands in the gold is the gold, however long the gold is."""
    gold = f"{LONG} {_words(100, 'h')}"
    assert rule_of(gold, _words(length), rule=rule) == expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [(0, 0, "inside"), (20, 0, "inside"), (0, 20, "inside"), (10, 10, "inside"), (21, 0, None), (11, 10, None)],
)
def test_a_run_of_the_gold_is_half_of_a_chunk_inside_it(
    rule_of: RuleOf, before: int, after: int, expected: str | None
) -> None:
    """A header, a footer or a context of up to as many tokens as the run does not hide it."""
    gold = f"{_words(100, 'h')} {_words(20)} {_words(50, 'i')}"
    chunk = f"{_words(before, 'x')} {_words(20)} {_words(after, 'y')}"
    assert rule_of(gold, chunk) == expected
    assert rule_of(gold, chunk, inside_chunk_share=0.4) == "inside"


@pytest.mark.parametrize(("length", "expected"), [(199, "inside"), (200, "inside"), (201, None), (600, None)])
def test_a_run_of_the_gold_is_a_tenth_of_it(rule_of: RuleOf, length: int, expected: str | None) -> None:
    """Twenty tokens of boilerplate are no passage of 600."""
    gold = f"{_words(20)} {_words(length - 20, 'h')}"
    assert rule_of(gold, _words(20)) == expected
    assert rule_of(gold, _words(20), inside_gold_share=0.01) == "inside"


PIPES = "the household insurance pays for burst pipes in winter and for the water that runs out of them up to 900 euros"


@pytest.mark.parametrize("rule", ["inside", "auto"])
@pytest.mark.parametrize(
    ("chunk", "expected"),
    [
        ("rance pays for burst pipes in winter and for the water that runs out of them up to 900 eur", "inside"),
        ("rance pays for burst pipes in winter and for the water that runs out of them up to 90", "inside"),
        ("insurance pays for burst pipes in winter and for the water that runs out of th", "inside"),
        ("rance pays for burst pi pes in winter and for the wa ter that runs out of th em up to 900 eur", None),
        ("so rance pays for burst pipes in winter and for the water that runs out of them and on", "inside"),
    ],
)
def test_the_first_and_the_last_token_of_a_chunk_may_be_fragments(
    rule_of: RuleOf, rule: str, chunk: str, expected: str | None
) -> None:
    """A splitter that counts characters cuts words at its borders, and only there."""
    gold = f"{PIPES} a year unless the house was empty for more than thirty days in a row"
    assert rule_of(gold, chunk, rule=rule, inside_min_tokens=14, overlap_min_tokens=50) == expected


@pytest.mark.parametrize(("whole", "expected"), [(18, "inside"), (17, None)])
def test_fragments_are_tokens_of_the_run(rule_of: RuleOf, whole: int, expected: str | None) -> None:
    """Twenty with those that the chunk's borders have cut, at the start and at the end."""
    middle = _words(whole)
    assert rule_of(f"insurance {middle} household {_words(40, 'h')}", f"rance {middle} house") == expected
    assert rule_of(f"{_words(9, 'i')} insurance {middle}x household", f"so rance {middle}x house") is None
    assert rule_of(f"{_words(9, 'i')} insurance {middle} end of it", f"rance {middle} end") == expected
    assert rule_of(f"{_words(9, 'i')} the insured {middle} household", f"insured {middle} house") == expected


@pytest.mark.parametrize("rule", ["overlap", "auto"])
@pytest.mark.parametrize(
    ("length", "held", "found"),
    [(7, 6, False), (8, 5, False), (8, 6, True), (10, 6, False), (10, 7, True), (25, 17, False), (25, 18, True)],
)
def test_0_7_of_the_tokens_of_a_gold_of_8_are_enough(
    rule_of: RuleOf, rule: str, length: int, held: int, found: bool
) -> None:
    """The threshold itself is enough; golds under 8 tokens never match by overlap."""
    amid_others = f"so then {' '.join(_words(length).split()[:held])} and on"
    assert rule_of(_words(length), amid_others, rule=rule) == ("overlap" if found else None)


def test_the_tokens_alone_are_not_enough_where_they_are_not_running_text(rule_of: RuleOf) -> None:
    """All words of a gold in another order are chance, however many."""
    scattered = " so ".join(reversed(_words(20).split()))
    assert rule_of(_words(20), scattered) is None
    assert rule_of(_words(20), scattered, overlap_pairs_threshold=0) == "overlap"


def test_a_repeated_token_counts_as_often_as_the_chunk_holds_it(rule_of: RuleOf) -> None:
    """A gold that says a word five times is not held by a chunk that says it once."""
    gold = "very very very very very good old car"
    assert rule_of(gold, "a car that is old and very good", rule="overlap") is None
    assert rule_of(gold, "so very very very very good old car then", rule="overlap") == "overlap"


@pytest.mark.parametrize(
    ("chunk_text", "rule", "expected"),
    [
        ("other words", "document", "document"),
        (None, "document", "document"),
        ("other words", "auto", None),
        (None, "auto", "document"),
        ("", "auto", "document"),
        (None, "text", None),
        (None, "overlap", None),
    ],
)
def test_the_document_alone_decides_only_when_named_or_without_text(
    rule_of: RuleOf, chunk_text: str | None, rule: str, expected: str | None
) -> None:
    """Under auto a document is a match only where the chunk carries no text."""
    gold = GoldPassage(text=_words(10), document_id="guide")
    assert rule_of(gold, RetrievedChunk(text=chunk_text, document_id="guide"), rule=rule) == expected


@pytest.mark.parametrize("rule", ["chunk_id", "text", "inside", "overlap", "document"])
def test_a_named_rule_ignores_what_only_the_others_see(rule_of: RuleOf, rule: str) -> None:
    """A rule that is named decides alone."""
    gold = GoldPassage(text=LONG, chunk_id="c1", document_id="guide")
    seen_by = {
        "chunk_id": RetrievedChunk(chunk_id="c1", text="other"),
        "text": RetrievedChunk(text=f"so {LONG} on", document_id="manual"),
        "inside": RetrievedChunk(text=_words(20), document_id="manual"),
        "overlap": RetrievedChunk(text=f"so {' '.join(LONG.split()[:25])} on", document_id="manual"),
        "document": RetrievedChunk(text="other", document_id="guide"),
    }
    recognised = {name for name, chunk in seen_by.items() if rule_of(gold, chunk, rule=rule) == rule}
    also = {"overlap": {"text"}, "inside": {"text", "overlap"}}
    assert recognised == {rule} | also.get(rule, set())


def test_the_name_of_a_document_counts_where_its_id_is_the_servers_own(rule_of: RuleOf) -> None:
    """Either of a chunk's two names may be the gold's."""
    chunk = RetrievedChunk(document_id="5f1c", document_name="guide.md")
    assert rule_of(GoldPassage(text="gold", document_id="guide"), chunk, rule="document") == "document"


@pytest.mark.parametrize(
    ("span", "document", "expected"),
    [
        ((0, 100), "guide.md", "span"),
        ((100, 170), "guide.md", "span"),
        ((100, 169), "guide.md", None),
        ((0, 100), "manual.md", None),
        ((0, 100), None, None),
        (None, "guide.md", None),
    ],
)
def test_a_span_matches_where_it_covers_enough_of_the_gold(
    rule_of: RuleOf, span: tuple[int, int] | None, document: str | None, expected: str | None
) -> None:
    """Same document, and 0.7 of the gold's characters."""
    gold = GoldPassage(text=_words(10), document_id="guide", span=(100, 200) if span and span[0] else (0, 100))
    assert rule_of(gold, RetrievedChunk(text="other words", document_name=document, span=span)) == expected


LEAVE = {"text": "The notice period is four weeks, from the first of a month on.", "document_id": "hr.md"}


@pytest.mark.parametrize(
    ("gold", "chunk", "expected"),
    [
        ({"document_id": "hr"}, LEAVE, "document"),
        ({"document_id": "hr"}, {**LEAVE, "document_id": "it.md"}, None),
        ({"document_id": "hr"}, {"text": LEAVE["text"]}, None),
        ({"chunk_id": "c1"}, {**LEAVE, "chunk_id": "c1"}, "chunk_id"),
        ({"chunk_id": "c1"}, {**LEAVE, "chunk_id": "c2"}, None),
        ({"chunk_id": "c1", "document_id": "hr"}, {**LEAVE, "chunk_id": "c2"}, None),
        ({"document_id": "hr", "span": (0, 10)}, {**LEAVE, "span": (0, 62)}, "span"),
        ({"document_id": "hr", "span": (90, 99)}, {**LEAVE, "span": (0, 62)}, None),
        ({"document_id": "hr", "span": (0, 10)}, LEAVE, "document"),
    ],
    ids=str,
)
def test_a_gold_without_text_is_known_by_the_finest_that_it_names(
    rule_of: RuleOf, gold: dict[str, Any], chunk: dict[str, Any], expected: str | None
) -> None:
    """A document alone means any of its chunks, a chunk that one, and characters only these where both tell them."""
    assert rule_of(GoldPassage(**gold), RetrievedChunk(**chunk)) == expected


@pytest.mark.parametrize("rule", ["text", "inside", "overlap"])
def test_a_gold_without_text_never_matches_by_text(rule_of: RuleOf, rule: str) -> None:
    """Nothing stands in every text, and is no passage of it."""
    for text in (LONG, "...", "the gold"):
        assert rule_of(GoldPassage(document_id="hr"), RetrievedChunk(text=text, document_id="hr"), rule=rule) is None
