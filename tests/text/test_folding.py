"""How texts are made comparable."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.text.folding import bag, fold, padded, plain, tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ABC", "abc"),
        ("don’t ‘do’ `it`", "don't 'do' 'it'"),
        ("“new” „alt“", '"new" "alt"'),
        ("Straße", "strasse"),
        ("ﬁle １２", "file 12"),
        ("cafe\u0301", "café"),
        ("٢٤٠ ۲۴۰ २४०", "240 240 240"),
        ("", ""),
    ],
)
def test_folding_unifies_case_form_and_quotation_marks(text: str, expected: str) -> None:
    """One character stands for all its variants."""
    assert fold(text) == expected


@pytest.mark.parametrize("mark", ["\u0301", "\uff9e"])
def test_marks_that_no_letter_has_are_not_folded(mark: str) -> None:
    """Thirty in a row are more than any script puts on a letter; signs that are no marks are kept, however many."""
    assert fold(f"a{mark * 30}") == fold(f"a{mark * 500}") != fold(f"a{mark * 29}")
    assert fold(f"a{mark * 30}b{mark * 30}") == fold(f"a{mark * 500}b{mark * 500}")
    assert fold("─" * 500) == "─" * 500


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("## Water  damage", "water damage"),
        ("**Water**\n_damage_", "water damage"),
        ("- Water damage", "water damage"),
        ("> Water | damage", "water damage"),
        ("Water-damage", "water-damage"),
        ("\n\n \t- Water\n- damage", "water damage"),
    ],
)
def test_plain_text_has_no_markdown(text: str, expected: str) -> None:
    """Marks and extra white space are dropped, hyphens inside words are not."""
    assert plain(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The insurer's duty, e.g. 1,000 €.", "the insurer s duty e g 1 000"),
        ("_one_ two_three __four__ _", "one two_three four"),
        ("＿one＿ two＿three ＿", "one two_three"),
        ("保険2025年", "保 険 2025 年"),
        ("カバー abc", "カ バ ー abc"),
        ("연간 보험료", "연간 보험료"),
        ("เปิดที่ 9 ๓", "เ ป ิ ด ท ี ่ 9 3"),
        ("ເປີດ ဖွင့် បើក។", "ເ ປ ີ ດ ဖ ွ င ့ ် ប ើ ក"),
        ("... —", ""),
    ],
)
def test_tokens_are_words_or_single_characters_of_scripts_without_spaces(text: str, expected: str) -> None:
    """Punctuation counts nothing, and an underscore belongs to a word only inside it."""
    assert " ".join(tokens(text)) == expected


@given(st.text(st.characters(codec="ascii")))
def test_the_tokens_of_a_plain_text_are_those_beside_other_letters(text: str) -> None:
    """Texts of ASCII are cut in a way of their own, which is quicker."""
    assert tokens(f"{text} é") == (*tokens(text), "é")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fire &amp; theft", "fire theft"),
        ("the insurer&#39;s duty", "the insurer s duty"),
        ("up&nbsp;to&#xA0;5 &euro;", "up to 5"),
        ("Gro&szlig;e Sch&auml;den", "grosse schäden"),
        ("AT&T; R&D &copy the param&times=1", "at t r d copy the param times 1"),
        ("in\u00adsur\u00adance", "insurance"),
        ("in\u00ad\n  surance", "insurance"),
        ("insur&shy;ance", "insurance"),
        ("\ufeffword\u2060less", "wordless"),
    ],
)
def test_entities_are_signs_and_soft_hyphens_are_nothing(text: str, expected: str) -> None:
    """What a page shows counts, not how it was written."""
    assert " ".join(tokens(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<table><tr><th>vCPU</th><td align='right'>2</td></tr></table>", "vcpu 2"),
        ("<b>Opening hours:</b><br/>9 to <i>17</i>", "opening hours 9 to 17"),
        ("if a<b and b>c", "if a b and b c"),
        ("a list<T> of <unknown> things", "a list t of unknown things"),
        ("pack\u200bage", "package"),
        ("In 2019¹ it made 3,500² cars³.", "in 2019 1 it made 3 500 2 cars 3"),
        ("10⁶ m² of x² and CO₂", "10 6 m2 of x2 and co2"),
    ],
)
def test_tags_and_raised_numbers_are_no_part_of_words(text: str, expected: str) -> None:
    """Tables come as HTML, and the number of a footnote stands at the number before it."""
    assert " ".join(tokens(text)) == expected


def test_padded_text_compares_whole_words() -> None:
    """Blanks frame the words, so that a part of one is not contained."""
    assert padded("A cat, sat") == " a cat sat "
    assert padded("cat") in padded("A cat, sat")
    assert padded("at") not in padded("A cat, sat")


def test_a_bag_counts_tokens() -> None:
    """Repetition counts."""
    assert bag("very, VERY good") == {"very": 2, "good": 1}
