"""Which chunks hold a gold passage, and which only look as if they did."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.schemas import GoldPassage, RetrievedChunk
from evals.text.documents import Kinship, document_key, kinship
from evals.text.matching import Matches, MatchSettings, match
from evals.text.runs import covered

RuleOf = Callable[..., str | None]
Recognised = Callable[..., Matches]
BATTERY = "The battery lasts 96 hours when the sensor reports once a minute, and 30 days in standby."
UUID = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"


def words(count: int, name: str = "g") -> str:
    """So many words that begin with the name, of letters alone: one number may stand for another."""
    return " ".join(f"{name}{chr(97 + number // 26)}{chr(97 + number % 26)}" for number in range(count))


@pytest.mark.parametrize("rule", ["text", "auto"])
@pytest.mark.parametrize(
    ("gold", "chunk"),
    [
        ("Grace Period", "the GRACE, period is 30 days"),
        ("grace period", "the **grace**\n\n\tperiod"),
        ("grace period 30 days", "| grace period | 30 days |"),
        ("the insurer's duty", "the insurer’s duty"),
        ("the insurer's duty", "the insurer&rsquo;s duty"),
        ("file a claim", "\ufb01le a claim"),
        ("café terrace", "cafe\u0301 terrace"),
        ("Große Schäden", "GROSSE SCHÄDEN"),
        ("clause 12", "clause ١٢"),
        ("保険料", "年間の保険料は五万円です"),
        ("เปิดทำการแปดโมงเช้า", "ร้านค้าเปิดทำการแปดโมงเช้าถึงห้าโมงเย็น"),
        ("fire & theft", "fire &amp; theft"),
        ("burst pipes are covered", "<td>burst <b>pipes</b></td><td>are covered</td>"),
        ("burst pipes are covered", "burst pipes are cov\u00adered"),
        ("burst pipes are covered", "burst pi\u200bpes are covered"),
        ("burst pipes are covered", "burst pipes are cov-\r\n  ered"),
        ("burst pipes are cov-\nered", "burst pipes are covered"),
        ("a well-known risk", "a well-\nknown risk"),
    ],
)
def test_a_gold_that_stands_in_the_chunk_is_found_as_text(rule_of: RuleOf, rule: str, gold: str, chunk: str) -> None:
    """Case, Unicode forms, HTML, invisible characters, Markdown and hyphenation make no difference."""
    assert rule_of(gold, chunk, rule=rule) == "text"


@pytest.mark.parametrize(
    ("gold", "chunk"),
    [("cat", "a concatenation"), ("12", "clause 120"), ("保険料", "保険の料金"), ("...", "and ..."), ("grace", "")],
)
def test_parts_of_words_and_marks_alone_are_no_match(rule_of: RuleOf, gold: str, chunk: str) -> None:
    """Whole words count."""
    assert rule_of(gold, chunk) is None


@pytest.mark.parametrize(
    ("chunk", "rule"),
    [
        (f"Before. {BATTERY} Charging takes 2 hours.", "text"),
        (BATTERY.replace("sensor", "sens0r"), "overlap"),
        (BATTERY.replace("96", "72"), None),
        (BATTERY.replace("30", "45"), None),
        (BATTERY.replace("lasts", "does not last"), None),
        ("The standby of the sensor is 30 days once the battery reports 96 hours in a minute.", None),
    ],
)
def test_the_examples_of_the_documentation(rule_of: RuleOf, chunk: str, rule: str | None) -> None:
    """Misread letters are the gold; another value, a negation, or the same words otherwise are not."""
    assert rule_of(BATTERY, chunk) == rule


@pytest.mark.parametrize("header", ["", "*Sensor manual, page {n} of 90.* "])
def test_two_pieces_complete_a_gold_behind_a_page_header(recognised: Recognised, header: str) -> None:
    """Both chunks are relevant, and the gold is found at the second."""
    first, second = BATTERY.split(" a minute")
    chunks = [header.format(n=7) + f"Some more text on it. {first}", header.format(n=8) + f"a minute{second} And on."]
    found = recognised(BATTERY, *chunks)
    assert found.found == {0: (1, "overlap")}
    assert found.hits == (True, True)
    assert found.hits_within(1) == [False]
    assert found.hits_within(2) == [True, True]
    assert [sorted(golds) for golds in found.newly_found] == [[], [0]]


def test_the_number_of_a_page_ends_no_header(recognised: Recognised) -> None:
    """So the few words behind it, to which the gold is cut, stand at the beginning of their chunk."""
    gold, header = words(9).split(), "Sensor manual, page {} of 90."
    first, rest = " ".join(gold[:6]), " ".join(gold[6:])
    chunks = [f"{header.format(7)} Some more text. {first}", f"{header.format(8)} {rest} And so it goes on."]
    assert recognised(words(9), *chunks).found == {0: (1, "overlap")}


def test_a_footer_says_nothing_in_place_of_what_a_border_cuts_off(recognised: Recognised) -> None:
    """Its page number is no other value than the one that the gold ends with."""
    gold, footer = f"{words(20)} 96 hours.", "{} of 90, Sensor manual"
    chunks = [f"Some more text. {words(20)} {footer.format(7)}", f"Hours. And so it goes on. {footer.format(8)}"]
    assert recognised(gold, *chunks).found == {0: (0, "inside")}
    assert recognised(gold, f"Some more text. {words(20)} 7 hours.").found == {}


def test_one_piece_alone_is_nothing(recognised: Recognised) -> None:
    """A third of a gold is no gold."""
    found = recognised(words(60), f"{words(20, 'x')} {' '.join(words(60).split()[:19])}")
    assert found.found == {}
    assert found.hits == (False,)


def test_a_later_chunk_that_adds_to_a_complete_gold_is_relevant_and_a_copy_is_not(recognised: Recognised) -> None:
    """Three quarters, the rest, and the first one again."""
    gold = words(80).split()
    first, rest = " ".join(gold[:60]), " ".join(gold[60:])
    found = recognised(" ".join(gold), f"x y z {first}", f"{rest} u v w", f"x y z {first}")
    assert found.hits == (True, True, False)
    assert found.original == (0, 1, 0)
    assert found.found[0][0] == 0


@pytest.mark.parametrize(("length", "expected"), [(19, None), (20, "inside"), (29, "inside")])
def test_a_chunk_inside_the_gold_needs_20_tokens(rule_of: RuleOf, length: int, expected: str | None) -> None:
    """And at least half of the chunk, and a tenth of the gold."""
    gold = f"{words(100, 'h')} {words(29)} {words(50, 'i')}"
    assert rule_of(gold, " ".join(words(29).split()[:length]), rule="inside") == expected


@pytest.mark.parametrize(("beside", "expected"), [(20, "inside"), (21, None)])
def test_a_chunk_inside_the_gold_is_half_of_it(rule_of: RuleOf, beside: int, expected: str | None) -> None:
    """What was added may be as long as the run."""
    gold = f"{words(100, 'h')} {words(20)} {words(50, 'i')}"
    assert rule_of(gold, f"{words(beside, 'x')} {words(20)}", rule="inside") == expected


@pytest.mark.parametrize(("length", "expected"), [(200, "inside"), (201, None)])
def test_a_chunk_inside_the_gold_is_a_tenth_of_the_gold(rule_of: RuleOf, length: int, expected: str | None) -> None:
    """Twenty tokens of boilerplate are no passage of six hundred."""
    gold = f"{words(length - 30, 'h')} {words(20)} {words(10, 'i')}"
    assert rule_of(gold, words(20), rule="inside") == expected


def test_a_heading_that_both_begin_with_is_no_gold(rule_of: RuleOf) -> None:
    """Where the chunk goes on otherwise, and shares nothing more."""
    title = words(24, "title")
    assert rule_of(f"{title} {words(70)}", f"{title} {words(10, 'other')}") is None
    assert rule_of(f"{title} {words(70)}", f"{title} {' '.join(words(70).split()[:20])} end") == "inside"


@pytest.mark.parametrize(
    ("gold", "chunk"),
    [
        (
            "the fee is 60 days of notice for each of the parties",
            "the fee is 90 days of notice for each of the parties",
        ),
        (
            "it was first sold in Paris by the makers of cars and bikes",
            "it was first sold in Tokyo by the makers of cars and bikes",
        ),
        (
            "no claim is paid where the door of the house was open",
            "we say that a claim is paid where the door of the house was open",
        ),
    ],
)
def test_another_value_in_its_place_is_another_passage(rule_of: RuleOf, gold: str, chunk: str) -> None:
    """A number, a capitalised name, a negator."""
    assert rule_of(gold, chunk) is None


@pytest.mark.parametrize(
    ("rule", "gold", "chunk", "expected"),
    [
        ("chunk_id", {"chunk_id": "c1"}, {"chunk_id": "c1"}, "chunk_id"),
        ("chunk_id", {"chunk_id": "c1"}, {"chunk_id": "c2"}, None),
        ("auto", {"text": "the gold", "chunk_id": "c1"}, {"chunk_id": None, "text": "other"}, None),
        ("auto", {"chunk_id": "3", "document_id": "manual"}, {"chunk_id": "3", "document_id": "guide"}, None),
        ("auto", {"chunk_id": "3", "document_id": "guide"}, {"chunk_id": "3", "document_id": "guide.pdf"}, "chunk_id"),
        ("span", {"document_id": "a", "span": (100, 200)}, {"document_id": "a.md", "span": (130, 400)}, "span"),
        ("span", {"document_id": "a", "span": (100, 200)}, {"document_id": "a.md", "span": (131, 400)}, None),
        ("span", {"document_id": "a", "span": (100, 200)}, {"document_id": "b.md", "span": (100, 200)}, None),
        ("auto", {"document_id": "guide"}, {"document_id": "guide.pdf", "text": "some text"}, "document"),
        ("auto", {"document_id": "guide", "text": "some gold"}, {"document_id": "guide"}, "document"),
        ("auto", {"document_id": "guide", "text": "some gold"}, {"document_id": "guide", "text": "else"}, None),
        ("document", {"document_id": "guide", "text": "gold"}, {"document_id": "guide", "text": "else"}, "document"),
        ("overlap", {"text": BATTERY}, {"text": f"So: {BATTERY}"}, "overlap"),
    ],
)
def test_rules_by_ids_places_and_documents(
    rule_of: RuleOf, rule: str, gold: dict[str, Any], chunk: dict[str, Any], expected: str | None
) -> None:
    """An id that only counts must be of the gold's document; a document counts where nothing finer is there."""
    text = {"text": "x"} if rule == "span" else {}
    assert rule_of(GoldPassage(**text | gold), RetrievedChunk(**chunk), rule=rule) == expected


@pytest.mark.parametrize(
    ("documents", "hits"),
    [
        (("policy-2023", "policy-2024"), (False, True)),
        (("policy-2023",), (False,)),
        (("policy-2024", "other guide"), (True, False)),
        ((UUID, "9f3a22bc"), (True, True)),
        (("handbook.pdf",), (True,)),
        (("kb__policy-2024.md", "kb__policy-2023.md"), (True, False)),
        ((None, "policy-2024"), (True, True)),
    ],
)
def test_the_same_text_of_another_document_counts_only_where_names_cannot_be_compared(
    documents: tuple[str | None, ...], hits: tuple[bool, ...]
) -> None:
    """A response that names the gold's document, or another year of it, shows that names can be compared."""
    gold = GoldPassage(text=words(30), document_id="policy-2024")
    chunks = [RetrievedChunk(text=f"{words(30)} {n}", document_id=name) for n, name in enumerate(documents)]
    found = match([gold], chunks, MatchSettings())
    assert found.hits == hits
    assert found.other_documents == hits.count(False)
    assert all(match([gold], chunks, MatchSettings(count_other_documents=True)).hits)


@pytest.mark.parametrize(
    ("names", "hits"),
    [
        (("guide_v2.pdf", "guide.pdf"), (False, True)),
        (("guide.pdf", "guide (1).pdf"), (True, False)),
        (("guide_v2.pdf", "manual"), (True, False)),
    ],
)
def test_a_version_stands_for_a_document_only_where_this_is_not_there(
    names: tuple[str, ...], hits: tuple[bool, ...]
) -> None:
    """Of several that a pipeline may have renamed, the one that has the very name is meant."""
    chunks = [RetrievedChunk(text=f"Text {n}.", document_id=name) for n, name in enumerate(names)]
    assert match([GoldPassage(document_id="guide")], chunks, MatchSettings(rule="document")).hits == hits


@pytest.mark.parametrize(
    ("gold", "chunk", "found"),
    [("guide", "guide", True), ("guide", "manual", False), ("guide", None, True), (None, "x", True)],
)
def test_a_short_gold_needs_its_document(rule_of: RuleOf, gold: str | None, chunk: str | None, found: bool) -> None:
    """Fewer than eight words may stand anywhere by chance."""
    rule = rule_of(GoldPassage(text=words(7), document_id=gold), RetrievedChunk(text=words(7), document_id=chunk))
    assert rule == ("text" if found else None)


@pytest.mark.parametrize(
    ("gold", "chunk", "near"),
    [
        ("policy-2024", "/srv/docs/Policy-2024.pdf", Kinship.SAME),
        ("policy-2024.md", f"{UUID}_policy-2024.rtf", Kinship.ALIKE),
        ("policy-2024", "policy-2024_v2.pdf", Kinship.ALIKE),
        ("policy-2024", "policy-2024 (1).pdf", Kinship.ALIKE),
        ("policy-2024", "Policy%202024.pdf#chunk-7", Kinship.ALIKE),
        ("policy-2024", "tenant-7__policy-2024.pdf", Kinship.PREFIXED),
        ("policy-2024", "policy-2023", Kinship.OTHER),
        ("chapter-1", "chapter-2", Kinship.OTHER),
        ("policy-2024", UUID, Kinship.OTHER),
    ],
)
def test_how_near_two_names_are(gold: str, chunk: str, near: Kinship) -> None:
    """Folders, endings, ids and versions are added by pipelines; years and numbers tell documents apart."""
    assert kinship(chunk, gold) is kinship(gold, chunk) is near


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("https://a.com/x/", "https://a.com/x", True),
        ("https://a.com/x/index.html", "https://a.com/y/index.html", False),
        ("https://a.com/x/guide.html", "guide.html", True),
        ("C:\\files\\Guide.PDF", "guide", True),
        ("release-1.2", "release-1", False),
    ],
)
def test_documents_are_told_apart_by_the_last_part_of_their_name(first: str, second: str, same: bool) -> None:
    """A page that is the index of its folder goes by the folder."""
    assert (document_key(first) == document_key(second)) is same


@given(
    ids=st.lists(st.sampled_from(["1", "2", "3", None]), max_size=8),
    wanted=st.lists(st.sampled_from(["1", "2", "4"]), max_size=3),
)
@settings(derandomize=True, max_examples=60)
def test_ids_are_found_at_their_first_place(ids: list[str | None], wanted: list[str]) -> None:
    """Whether ids repeat or are missing; a chunk that repeats another one adds nothing."""
    found = match(
        [GoldPassage(chunk_id=one) for one in wanted], [RetrievedChunk(chunk_id=one) for one in ids], MatchSettings()
    )
    expected = {at: (ids.index(one), "chunk_id") for at, one in enumerate(wanted) if one in ids}
    assert found.found == expected
    assert found.hit_ranks == sorted({place + 1 for place, _ in expected.values()})


def test_details_name_rules_in_the_order_of_the_golds() -> None:
    """And the ranks that hold gold."""
    golds = [GoldPassage(document_id="guide"), GoldPassage(chunk_id="c1")]
    found = match(golds, [RetrievedChunk(chunk_id="c1", document_id="guide")], MatchSettings())
    assert str(found.evidence) == str({"hit_ranks": [1], "rules": {"document": 1, "chunk_id": 1}})


def test_of_a_phrase_that_a_text_repeats_the_last_places_are_followed() -> None:
    """So a piece that begins with the phrase is one run up to the end of the text."""
    wanted, given_words = tuple("abc" * 6 + "xyzw"), tuple("abcxyzw")
    assert covered(wanted, given_words) == len(given_words) / len(wanted)
