"""The detector of abstentions on clear cases, one for each way of declining or seeming to.

More of each kind stand in `answers.jsonl`, in the split "cases", which `test_labels.py` reads.
"""

import pytest

from evals.text.refusals.detector import is_abstention


@pytest.mark.parametrize(
    "answer",
    [
        *("", " \n\t", "...", "**", "[1]", "[1, 2] [3]", "[doc 3]", "[N/A]", "N/A", "(none)", "None.", "unknown"),
        *("I don’t know.", "i dont know", "> *I don’t know*", "# Answer\nI cannot answer this question."),
        *("I'm sorry, but I can't answer that.", "The context does not mention the price.", "The documents don’t say."),
        *("There is no information about parking in the sources.", "Not enough information.", "0 results found."),
        *("This is not mentioned in the policy.", "The answer cannot be determined from the passages."),
        *("It is unclear who did.", "The data is insufficient.", "None found.", "Not stated [Passage 2]", "NO_ANSWER"),
        *("I found nothing on this. Please contact support.", "I cannot answer: the question is too vague."),
        *("Sorry! No relevant content was found in the knowledge base!", "answer is not available in the context"),
        *("Das steht nicht im Handbuch.", "Je ne sais pas.", "En el documento no consta quién lo firmó."),
        *(
            "Não há informações sobre a taxa.",
            "Il testo non contiene il prezzo.",
            "わかりません。",
            "抱歉,文档中没有提到。",
        ),
    ],
)
def test_an_answer_that_declines_is_an_abstention(answer: str) -> None:
    """Nothing said, or that nothing can be said: apostrophes, Markdown, case, courtesy and language do not matter."""
    assert is_abstention(answer)


@pytest.mark.parametrize(
    "answer",
    [
        *(
            "Paris",
            "42",
            "0",
            "[42]",
            "[0, 1]",
            "[Paris]",
            "No.",
            "No - the excess does not apply.",
            "Nobody was injured.",
        ),
        *("An unknown assailant.", "No, the policy does not cover flood.", "No data leaves the device."),
        *("Yes, although the manual does not say so in so many words.", "There is no indicator lamp."),
        *("The policy covers burst pipes up to 10,000 euros [1].", "We have no spare parts for sale."),
        *("No information is shared with third parties.", "El pan no contiene gluten.", "保険料は年間5万円です。"),
        *('The most frequent reply was "I don\'t know".', "The page shows 'no information found' as its title."),
    ],
)
def test_an_answer_that_answers_is_none(answer: str) -> None:
    """Words such as "unknown", "no" and "not" do not make an abstention by themselves, nor what is quoted."""
    assert not is_abstention(answer)


@pytest.mark.parametrize(
    ("question", "answer", "abstains"),
    [
        ("What is the warranty?", "It weighs 3 kg. The documents do not mention the price or the warranty.", True),
        ("What are the weight and the price?", "It weighs 3 kg. The documents do not mention the price.", False),
        ("What does error E4 mean?", "Insufficient data.", False),
        ("What is the range?", "Insufficient data.", True),
        ("Does the policy cover flood?", "The policy does not cover flood damage.", False),
        ("Is the battery in the box?", "This is not covered in the documents.", True),
        ("How many accidents were there?", "None were reported.", False),
        ("How many defects?", "None retrieved.", True),
        ("What is the licence key?", "None.", True),
        ("What does the policy exclude?", "The policy does not list what is excluded.", True),
        ("Do you share data?", "We do not share personal data with third parties.", False),
        ("Was it significant?", "The results do not say whether it was.", True),
        ("What did the coach reply?", "The documents do not say how he replied.", True),
        ("What is the fee for divers?", "The price list covers swimmers. As for divers, it stays silent.", True),
        ("What was the profit in 2023?", "The reports I was given end in 2021.", True),
        ("Who is not required to oversee a technician in the UK?", "a pharmacist", False),
        ("Who handles complaints?", "Please contact Mr. Hill.", False),
        ("How many vacation days do I get?", "Please contact HR for more information.", True),
        ("How do I reset my password?", "Please contact support for more information.", True),
    ],
)
def test_the_question_decides_between_a_fact_and_a_gap(question: str, answer: str, abstains: bool) -> None:
    """The same words answer one question, and say that the sources lack what another one asks for."""
    assert is_abstention(answer, question) is abstains


SIX = {
    "en": (
        ("Who leads it?", "The documents do not name a leader."),
        ("What is the fee?", "The fee is 35 euros. The documents do not say whether students pay it."),
        ("Can I change the date?", "Unfortunately, you can't change the date."),
    ),
    "de": (
        ("Wer leitet es?", "Aus dem Text geht es nicht hervor."),
        ("Wie hoch ist die Gebühr?", "Die Gebühr beträgt 35 Euro. Ob Studierende sie zahlen, steht nicht im Text."),
        ("Kann ich das Datum ändern?", "Leider können Sie das Datum nicht ändern."),
    ),
    "fr": (
        ("Qui le dirige ?", "Les documents ne précisent pas qui le dirige."),
        ("Quels sont les frais ?", "Les frais sont de 35 euros. Le texte ne dit pas si les étudiants les paient."),
        ("Puis-je changer la date ?", "Malheureusement, vous ne pouvez pas changer la date."),
    ),
    "es": (
        ("¿Quién lo dirige?", "Los documentos no indican quién lo dirige."),
        ("¿Cuánto es la tasa?", "La tasa es de 35 euros. El texto no dice si los estudiantes la pagan."),
        ("¿Puedo cambiar la fecha?", "Lamentablemente, no puede cambiar la fecha."),
    ),
    "it": (
        ("Chi lo dirige?", "I documenti non specificano chi lo diriga."),
        ("Quanto è la tassa?", "La tassa è di 35 euro. Il testo non dice se gli studenti la paghino."),
        ("Posso cambiare la data?", "Purtroppo non è possibile cambiare la data."),
    ),
    "pt": (
        ("Quem o dirige?", "Os documentos não indicam quem o dirige."),
        ("Quanto é a taxa?", "A taxa é de 35 euros. O texto não diz se os estudantes a pagam."),
        ("Posso mudar a data?", "Infelizmente, não pode mudar a data."),
    ),
}
"""A refusal, an answer with a caveat, and a negative answer."""


@pytest.mark.parametrize("code", SIX)
def test_six_languages_are_read(code: str) -> None:
    """What is not said of students was not asked, and what cannot be done in the world is a fact."""
    assert [is_abstention(answer, question) for question, answer in SIX[code]] == [True, False, False]
