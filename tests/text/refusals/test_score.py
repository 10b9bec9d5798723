"""The evidence that an answer declines, and what it weighs."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.text.refusals.detector import is_abstention, read_answer, score
from evals.text.refusals.evidence import circumstances, signs
from evals.text.refusals.lexicon import Language
from evals.text.refusals.roles import CIRCUMSTANCES, LANGUAGES, SIGN_WEIGHTS, TOGETHER, WORD, without_accents

LABELS = Path(__file__).with_name("answers.jsonl")


def test_every_weight_is_of_evidence_that_there_is() -> None:
    """A name that no answer gives would never weigh; a sign is a part or a sign of a word, or two."""
    for table in SIGN_WEIGHTS.values():
        for bits, weight in table.items():
            assert 1 <= bits.bit_count() <= 2
            assert math.isfinite(weight)
    rows = [json.loads(line) for line in LABELS.read_text(encoding="utf-8").splitlines()[::2]]
    read = [found for row in rows if not isinstance(found := read_answer(row["answer"], row["question"]), bool)]
    names = {name for answer in read for name in circumstances(answer)}
    assert names >= CIRCUMSTANCES.keys()
    assert names >= TOGETHER.keys() | {other for table in TOGETHER.values() for other in table}
    assert all(one < other for one, table in TOGETHER.items() for other in table)
    assert {place for answer in read for place, _ in signs(answer)} >= SIGN_WEIGHTS.keys()


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.code)
def test_words_of_signs_are_spelt_as_answers_are_read(language: Language) -> None:
    """Each language has the same signs; their words are folded and without accents, else they would never be met."""
    assert language.signs.keys() == LANGUAGES[0].signs.keys()
    for word in " ".join(language.signs.values()).split():
        assert word == without_accents(word.casefold())
        assert WORD.fullmatch(word.rstrip("*")), word


@settings(derandomize=True, deadline=None, max_examples=100)
@given(answer=st.text(max_size=200), question=st.text(max_size=60))
def test_any_text_has_a_finite_score(answer: str, question: str) -> None:
    """Whatever the words."""
    found = read_answer(answer, question)
    assert isinstance(found, bool) or math.isfinite(score(found))


def test_a_long_answer_in_which_no_clause_declines_is_one() -> None:
    """It is not weighed, whatever it hints at."""
    answer = "Sorry, perhaps only this: " + "the ferry sails past the old harbour every day. " * 12
    assert read_answer(answer, "What does it cost?") is False


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is the fee for divers?", "The price list covers swimmers and rowers. As for divers, it stays silent."),
        (
            "Wie hoch ist der Turm?",
            "Der Turm wurde 1890 erbaut und 1950 saniert. Über die Höhe verliert der Text kein Wort.",
        ),
        ("Qui a dessiné le pont ?", "Le pont a été inauguré en 1904. Quant à son architecte, l'article n'en dit rien."),
        (
            "¿Cuánto costó el puente?",
            "El puente se abrió en 1904 y tiene tres arcos. Del coste, ni rastro en los documentos.",
        ),
        ("Chi ha progettato il ponte?", "Il ponte fu aperto nel 1904. Sul progettista la scheda tace."),
        ("Quem projetou a ponte?", "A ponte foi aberta em 1904. Sobre o projetista, o folheto não diz nada."),
        ("What was the profit in 2023?", "The reports I was given end in 2021."),
        ("Can I take these tablets?", "I can only answer questions about the employee handbook."),
    ],
)
def test_related_facts_with_the_core_left_open_decline(question: str, answer: str) -> None:
    """However much is told beside it, in six languages."""
    assert is_abstention(answer, question)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How high is the tower?", "The tower is 45 m high. The source does not say when it was built."),
        ("Wie hoch ist der Turm?", "Der Turm ist 45 m hoch. Wann er gebaut wurde, sagt die Quelle nicht."),
        (
            "Quelle est la hauteur de la tour ?",
            "La tour mesure 45 m de haut. La source ne dit pas quand elle fut bâtie.",
        ),
        ("¿Qué altura tiene la torre?", "La torre tiene 45 m de altura. La fuente no dice cuándo se construyó."),
        ("Quanto è alta la torre?", "La torre è alta 45 m. La fonte non dice quando fu costruita."),
        ("Qual é a altura da torre?", "A torre tem 45 m de altura. A fonte não diz quando foi construída."),
    ],
)
def test_what_was_asked_with_something_else_left_open_answers(question: str, answer: str) -> None:
    """The other way round."""
    assert not is_abstention(answer, question)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Wer hat das Protokoll geschrieben?", "Steht da nicht."),
        ("Wer war der Architekt?", "Der Saal wurde 1912 erbaut. Über den Architekten erfährt man im Artikel nichts."),
        ("Wann endet die Frist?", "Wie es sich mit der Frist verhält, lässt die Schulordnung offen."),
        ("¿Qué nota hace falta para la beca?", "Qué nota se exige, el reglamento no lo aclara."),
        ("¿Cuánto mide?", "De la altura, nada."),
        ("Qual é o valor da quota?", "O valor da quota não está nas páginas a que tive acesso."),
        ("Qual è l'orario serale?", "L'orario serale, purtroppo, mi manca."),
    ],
)
def test_what_is_fronted_and_left_open_declines(question: str, answer: str) -> None:
    """What was asked stands first, and the verb that denies far behind, or nowhere."""
    assert is_abstention(answer, question)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Was sagte der Trainer zu den Gerüchten?", "Dazu wollte er sich nicht äußern."),
        ("Qu'a répondu le maire ?", "Qu'il ne pouvait rien dire tant que l'enquête était en cours."),
        ("¿Qué contestó la aerolínea?", "Les contestó que no podía facilitar información sobre las causas."),
    ],
)
def test_what_somebody_would_not_tell_is_the_answer_to_what_he_said(question: str, answer: str) -> None:
    """It is he who declines, and not the one who answers."""
    assert not is_abstention(answer, question)


def test_he_who_answers_declines_whatever_somebody_said() -> None:
    """That the sources do not give what he said is no report of it."""
    assert is_abstention("The documents do not say how he replied.", "What did the coach reply?")


@pytest.mark.parametrize(
    ("answer", "question"),
    [
        ("a pharmacist", "Who is not required to oversee a Pharmacy Technician in the UK?"),
        ("Chicago's physics department", "Who helped develop the first man-made self-sustaining nuclear reaction?"),
        (
            "Address information is only transferred to each node",
            "Can address information be changed after the set-up?",
        ),
    ],
)
def test_a_span_in_which_nothing_declines_is_an_answer(answer: str, question: str) -> None:
    """Whatever its few words are signs of."""
    assert not is_abstention(answer, question)


def test_sentences_taken_out_of_a_document_with_their_marks_are_an_answer() -> None:
    """Their words are signs too, of limits and of rights; nothing in them declines."""
    answer = (
        "Three sub-processors are approved: Nordal Hosting for data centres, Pinfold Mail for outgoing letters and "
        "Sable Monitoring for system monitoring. A new sub-processor is announced 60 days in advance. [1]\n"
        "Remote support from outside the country is allowed only with screen recording and without downloads. [2]"
    )
    assert not is_abstention(answer, "Which sub-processors has Corvane been allowed to use?")
