"""Whether a form of words stands in an answer."""

import pytest

from evals.text.phrases import holds, without_marks


@pytest.mark.parametrize(
    ("form", "answer"),
    [
        ("Rule C-1", "it is rule c-1."),
        ("Rule C-1", "**Rule C‑1**: Policy Term"),
        ("GRG 51", "GRG51, or GRG: 51"),
        ("exceeds 30", "The difference exceeds 30.0."),
        ("limit 1,000", "limit: 1000"),
        ("limit 1,000", "limit: 1 000"),
        ("limit 1,000", "limit: 1\u202f000"),
        ("exceeds 30 million", "It exceeds 30 million."),
        ("member's cover", "the member’s cover"),
        ("Straße", "STRASSE"),
        ("yes", "_Yes_"),
        ("cannot calculate", "I can't calculate it"),
        ("cannot calculate", "We CAN NOT calculate it"),
        ("火災", "这是火災保険"),
        ("×", "293 × 2.061"),
        ("*", "293 * 2.061"),
        ("*", "293*2.061"),
        ("*", "(200+93)*2.061"),
        ("x 2.061", "293 x 2.061"),
        ("is not possible", "It isn’t possible"),
        ("will not", "It won't"),
        ("territory 117", "Territories 118 and 117"),
        ("territory 117", "territories 116, **117**, and 118"),
        ("territory 117", "territories 116–118"),
        ("GRG 15", "GRGs: 51 and 15"),
        ("box 2", "boxes 1 & 2"),
        ("Rule C-2", "Rules C-1, C-2 and C-3."),
        ("Rule C-2", "Rules C-1,\nC-2"),
        ("Rule C-2", "Rule C-1 or Rule C-2"),
        ("Rule C-7", "Rules C‑1 through C‑12"),
        ("C-7", "from C-1 up to C-12"),
        ("C-7", "C-1 to 12"),
        ("C-7", "C-1–C-12"),
        ("C-2", "* C-1: Policy Term\n* C-2"),
        ("C-2", "(C2)"),
    ],
)
def test_a_form_is_found_by_its_words_or_as_a_sign(form: str, answer: str) -> None:
    """Case, apostrophes, Markdown, Unicode forms and punctuation do not count; numbers compare by value."""
    assert holds(answer, form)


@pytest.mark.parametrize(
    ("form", "answer"),
    [
        ("Rule C-1", "Rule C-10"),
        ("yes", "yesterday"),
        ("GRG 51", "GRG 51.2"),
        ("limit 1", "limit: 1 000"),
        ("exceeds 30", "It exceeds 30 million."),
        ("territory 118", "territory 1180"),
        ("territory 118", "118 territory"),
        ("×", "293 multiplied by 2.061"),
        ("territory 117", "Territory 118, 117 homes"),
        ("territory 117", "territories 118 and 117%"),
        ("territory 117", "territories 118 and 117.5"),
        ("territory 117", "territories 118 to 120"),
        ("territory 117", "territories 118\n117 homes"),
        ("Rule C-2", "Rules C-1 and 2 more"),
        ("C-5", "- C-1\n- C-9"),
        ("C-5", "C-1, C-9"),
        ("C-1", "Section C (1 page)"),
        ("C-1", "C-10, AC-1, C-1.5 and C-1a"),
        ("*", "* Rule C-1\n* Rule C-2"),
        ("*", "The premium is **$604**."),
        ("*", "*604* dollars"),
        ("*", "604* and so on"),
        ("", "anything"),
        ("  ", "anything"),
        ("word", ""),
    ],
)
def test_what_only_looks_like_the_form_is_not_it(form: str, answer: str) -> None:
    """Neither parts of words and numbers nor the marks of Markdown count."""
    assert not holds(answer, form)


@pytest.mark.parametrize(
    ("text", "words"), [("**Territory** 118", "Territory 118"), ("_x_ a_b `c`", "x a_b c"), ("2 * 3", "2 * 3")]
)
def test_marks_of_emphasis_are_dropped(text: str, words: str) -> None:
    """Words keep their underscores, and products their asterisk."""
    assert " ".join(without_marks(text).split()) == words


@pytest.mark.parametrize(
    ("form", "answer"),
    [
        ("Rule C-1", "Rule C-1A applies"),
        ("territory 118", "Territory 118B"),
        ("GRG 51", "GRG 51A, and GRG 51b"),
        ("exceeds 30", "it exceeds 30k"),
        ("118", "T118"),
    ],
)
def test_a_number_with_letters_glued_to_it_is_another_word(form: str, answer: str) -> None:
    """Codes that go on with a letter are other codes; the form is found where it stands by itself."""
    assert not holds(answer, form)
    assert holds(f"{answer}; {form}.", form)


@pytest.mark.parametrize(
    ("form", "answer"),
    [("5 mg", "take 5mg"), ("5mg", "take 5 mg"), ("GRG 51A", "GRG51A"), ("hours", "96hours"), ("293", "293x2.061")],
)
def test_inside_of_a_form_a_number_may_be_glued_or_not(form: str, answer: str) -> None:
    """Units are written either way, and the x of a product belongs to no number."""
    assert holds(answer, form)
