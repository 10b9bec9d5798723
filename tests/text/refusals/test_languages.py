"""The same kinds of answers in six languages."""

import pytest

from evals.text.refusals.detector import is_abstention

REFUSED = {
    "en": ("Who leads it?", ("I don't know who leads it.", "The documents do not name a leader.", "Not specified.")),
    "de": (
        "Wer leitet es?",
        ("Das weiß ich nicht.", "Aus dem Text geht es nicht hervor.", "Keine Angabe."),
    ),
    "fr": ("Qui le dirige ?", ("Je l'ignore.", "Les documents ne précisent pas qui le dirige.", "Non précisé.")),
    "es": ("¿Quién lo dirige?", ("No lo sé.", "Los documentos no indican quién lo dirige.", "Sin información.")),
    "it": ("Chi lo dirige?", ("Non lo so.", "I documenti non specificano chi lo diriga.", "Non specificato.")),
    "pt": ("Quem o dirige?", ("Não sei.", "Os documentos não indicam quem o dirige.", "Sem informação.")),
}
ANSWERED = {
    "en": ("What is the fee?", "The fee is 35 euros. The documents do not say whether students pay it."),
    "de": ("Wie hoch ist die Gebühr?", "Die Gebühr beträgt 35 Euro. Ob Studierende sie zahlen, steht nicht im Text."),
    "fr": ("Quels sont les frais ?", "Les frais sont de 35 euros. Le texte ne dit pas si les étudiants les paient."),
    "es": ("¿Cuánto es la tasa?", "La tasa es de 35 euros. El texto no dice si los estudiantes la pagan."),
    "it": ("Quanto è la tassa?", "La tassa è di 35 euro. Il testo non dice se gli studenti la paghino."),
    "pt": ("Quanto é a taxa?", "A taxa é de 35 euros. O texto não diz se os estudantes a pagam."),
}
DENIED = {
    "en": ("Can I change the date?", "Unfortunately, you can't change the date."),
    "de": ("Kann ich das Datum ändern?", "Leider können Sie das Datum nicht ändern."),
    "fr": ("Puis-je changer la date ?", "Malheureusement, vous ne pouvez pas changer la date."),
    "es": ("¿Puedo cambiar la fecha?", "Lamentablemente, no puede cambiar la fecha."),
    "it": ("Posso cambiare la data?", "Purtroppo non è possibile cambiare la data."),
    "pt": ("Posso mudar a data?", "Infelizmente, não pode mudar a data."),
}
languages = pytest.mark.parametrize("code", REFUSED)


@languages
def test_refusals_in_full_sentences_and_in_a_word_are_abstentions(code: str) -> None:
    """He who answers does not know, the sources do not say, or a label says so."""
    question, answers = REFUSED[code]
    assert [answer for answer in answers if not is_abstention(answer, question)] == []


@languages
def test_an_answer_with_a_caveat_is_an_answer(code: str) -> None:
    """What is not said of students was not asked."""
    question, answer = ANSWERED[code]
    assert not is_abstention(answer, question)


@languages
def test_a_negative_answer_is_an_answer(code: str) -> None:
    """What cannot be done in the world is a fact."""
    question, answer = DENIED[code]
    assert not is_abstention(answer, question)


@pytest.mark.parametrize(
    "answer",
    [
        "Sorry! No relevant content was found in the knowledge base!",
        "The requested information is not available in the retrieved data. Please try another query or topic.",
        "I am sorry but I am unable to answer this question given the provided data.",
        "There is no relevant information in this workspace to answer your query.",
        "Sorry, I'm not able to provide an answer to that question.[no-context]",
        "answer is not available in the context",
        "The model cannot find sufficient information to answer the question.",
        "Empty Response",
        "No Answer Present.",
        "NoAnswer",
        "NO_ANSWER",
        "unanswerable",
        "n/a",
    ],
)
def test_what_servers_say_where_nothing_is_found_is_an_abstention(answer: str) -> None:
    """The fixed replies of servers, and the labels that datasets give to questions without an answer."""
    assert is_abstention(answer, "What is the refund window?")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who wrote Beowulf?", "The author of Beowulf is unknown."),
        ("What is log(-1)?", "It is not defined for real numbers."),
        ("What is the cause of the disease?", "The cause of the disease is not known to science."),
        ("Who may see it?", "Nobody but you can see it."),
        ("¿Quién escribió el Lazarillo?", "El autor del Lazarillo es desconocido."),
        ("Wo wurde Homer geboren?", "Der Geburtsort Homers ist unbekannt; sieben Städte streiten darum."),
    ],
)
def test_what_the_world_does_not_know_or_have_is_a_fact(question: str, answer: str) -> None:
    """The subject names in full what was asked about, and no source is silent."""
    assert not is_abstention(answer, question)
