"""The words by which clauses are read: well formed, told apart by language, the same for every spelling."""

import pytest

from evals.case.abstention.languages import LANGUAGES
from evals.case.abstention.languages.base import ROLES, Language
from evals.case.abstention.roles import WORD, lexicons_of, without_accents

every_language = pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.code)


@every_language
def test_words_are_spelt_as_answers_are_read(language: Language) -> None:
    """Folded and without accents, each in a part that there is; else a word would never be met."""
    assert language.words.keys() <= ROLES.keys()
    for word in " ".join([*language.words.values(), language.function, language.numbers]).split():
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
def test_a_language_is_told_by_its_function_words(text: str, code: str) -> None:
    """One sentence says that the fee is not told, in each language."""
    plain = without_accents(text.casefold())
    assert lexicons_of(plain)[0].language.code == code


def test_a_text_of_few_words_may_be_in_any_language() -> None:
    """Nothing tells in what language "Unknown" is said."""
    assert len(lexicons_of("xyz")) == len(LANGUAGES)


@pytest.mark.parametrize(("written", "plain"), [("según él", "segun el"), ("non è", "non e1"), ("情報が", "情報が")])
def test_accents_are_left_out_but_where_they_tell_two_words_apart(written: str, plain: str) -> None:
    """Who leaves accents out is understood; the marks of other scripts are letters and stay."""
    assert without_accents(written) == plain
