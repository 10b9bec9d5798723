"""The words and rules by which clauses are read: well formed, told apart by language, the same for every spelling."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.text.refusals.grammar import RULES, declined
from evals.text.refusals.lexicon import BITS, ROLES, WORD, Lexicon, every_lexicon, lexicons_of, without_accents
from evals.text.refusals.reading import declines_elsewhere

LETTERS = {letter for letters in ROLES.values() for letter in letters} | set("._,")
SOME = ["the", "documents", "do", "not", "say", "who", "paid", ",", "nada", "nicht", "keine", "7", "é"]
every_language = pytest.mark.parametrize("lexicon", every_lexicon(), ids=lambda lexicon: lexicon.code)


@every_language
def test_every_step_of_a_rule_names_parts_that_there_are(lexicon: Lexicon) -> None:
    """A letter that no word has would make a rule that never holds."""
    for step in " ".join((*RULES, *lexicon.rules, *lexicon.unknowns)).split():
        letters = step.partition("~")[0].lstrip("!")
        assert step in "^$" or set(letters) <= LETTERS, step


@every_language
def test_words_are_spelt_as_answers_are_read(lexicon: Lexicon) -> None:
    """Folded and without accents, each in a part or sign that there is; else a word would never be met."""
    words, signs = lexicon.lists["words"], lexicon.lists["signs"]
    assert words.keys() <= ROLES.keys()
    assert signs.keys() == BITS.keys() - ROLES.keys()
    for word in " ".join([*words.values(), *signs.values(), *lexicon.function, *lexicon.numbers]).split():
        assert word == without_accents(word.casefold())
        assert WORD.fullmatch(word.strip("*")), word


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("The fee is not stated in the documents.", "en"),
        ("Die Gebühr wird in den Dokumenten nicht genannt.", "de"),
        ("Les frais ne sont pas indiqués dans les documents.", "fr"),
        ("La tasa no se indica en los documentos.", "es"),
        ("La commissione non è indicata nei documenti.", "it"),
        ("A taxa não é indicada nos documentos.", "pt"),
    ],
)
def test_a_language_is_told_by_its_function_words_and_its_rules_apply(text: str, code: str) -> None:
    """One sentence says that the fee is not told, in each language."""
    plain = without_accents(text.casefold())
    lexicon = lexicons_of(plain)[0]
    assert lexicon.code == code
    assert declined(lexicon.tagged(WORD.findall(plain)), lexicon)


@pytest.mark.parametrize(
    "text",
    [
        *("dat staat er niet in", "niet gevonden", "er is geen informatie", "weet ik het niet"),
        *("nie wiem", "nie podano ceny", "det framgar inte framgar", "det fremgar ikke", "bulunamadi", "bilmiyorum"),
        *("не указано", "我不知道", "わかりません"),
    ],
)
def test_a_phrase_of_a_language_without_a_lexicon_is_found_by_the_words_that_are_looked_for_first(text: str) -> None:
    """Phrases are tried only where one of a few words is there, or letters beyond ASCII: each phrase has such."""
    assert declines_elsewhere(text)
    assert not declines_elsewhere("the fee is 40 euros")


def test_a_text_of_few_words_may_be_in_any_language() -> None:
    """Nothing tells in what language "Unknown" is said."""
    assert lexicons_of("xyz") == every_lexicon()


@pytest.mark.parametrize(("written", "plain"), [("según él", "segun el"), ("non è", "non e1"), ("情報が", "情報が")])
def test_accents_are_left_out_but_where_they_tell_two_words_apart(written: str, plain: str) -> None:
    """Who leaves accents out is understood; the marks of other scripts are letters and stay."""
    assert without_accents(written) == plain


@settings(derandomize=True, deadline=None, max_examples=200)
@given(words=st.lists(st.sampled_from(SOME), max_size=12))
def test_what_declines_lies_within_the_words(words: list[str]) -> None:
    """Whatever the words, the place that is found is one of the clause."""
    for lexicon in every_lexicon():
        end = declined(lexicon.tagged(words), lexicon)
        assert end is None or 0 < end <= len(words)
