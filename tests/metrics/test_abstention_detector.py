"""The detector of abstentions on clear cases, one for each way of declining or seeming to."""

import pytest

from evals.metrics.abstention_detector import is_abstention


@pytest.mark.parametrize(
    "answer",
    [
        "I don't know.",
        "I don’t know.",
        "I do not know the answer to that.",
        "**I don't know.**",
        "> *I don’t know*",
        "- I could not find this in the documents.",
        "`I cannot answer this question.`",
        "# Answer\nI cannot answer this question.",
        "I'm sorry, but I can't answer that.",
        "Sorry, I was unable to find any information on this.",
        "The context does not mention the price.",
        "The provided documents don't contain this information. [1]",
        "The documents don’t say.",
        "There is no information about parking in the sources.",
        "Not enough information.",
        "This is not mentioned in the policy.",
        "The answer cannot be determined from the passages.",
        "No relevant documents found.",
        "N/A",
        "unknown",
        "None.",
        "I DON'T KNOW",
        "The answer is unknown.",
        "The answer to this question is unclear.",
        "No answer can be given.",
        "No mention is made of the price.",
        "No information is available on this.",
        "CANNOTANSWER",
        "I found nothing on this. Please contact support.",
        "Das steht nicht im Handbuch.",
        "Je ne sais pas.",
        "No lo sé, no se menciona en los documentos.",
        "わかりません。",
        "抱歉,文档中没有提到。",
    ],
)
def test_an_answer_that_declines_is_an_abstention(answer: str) -> None:
    """Apostrophes, Markdown, case, courtesy and language make no difference."""
    assert is_abstention(answer)


@pytest.mark.parametrize("answer", ["", " \n\t", "...", "**", "[1]", "—"])
def test_an_answer_without_words_is_an_abstention(answer: str) -> None:
    """Nothing said is nothing answered."""
    assert is_abstention(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "He was shot by an unknown assailant.",
        "An unknown assailant.",
        "The tomb of the unknown soldier",
        "No, the policy does not cover flood.",
        "No.",
        "No - the excess does not apply.",
        "Yes, although the manual does not say so in so many words.",
        "Paris",
        "42",
        "0",
        "The policy covers burst pipes up to 10,000 euros [1].",
        "Customers who do not know their policy number can call the service line.",
        "Nobody was injured.",
        "No data leaves the device.",
        "No data is stored on the server.",
        "No documents are required to register.",
        "No results will be published.",
        "The error means that the file could not be opened.",
        "保険料は年間5万円です。",
    ],
)
def test_an_answer_that_answers_is_none(answer: str) -> None:
    """Words such as "unknown", "no" and "not" do not make an abstention by themselves."""
    assert not is_abstention(answer)


@pytest.mark.parametrize(
    "answer",
    [
        'The most frequent reply was "I don\'t know".',
        "The most frequent reply was “I don’t know”.",
        "The assistant says «I cannot answer this question» in such cases.",
        "The page shows 'no information found' as its title.",
    ],
)
def test_a_quoted_phrase_is_somebody_elses(answer: str) -> None:
    """What stands in quotation marks declines nothing."""
    assert not is_abstention(answer)


@pytest.mark.parametrize(
    ("question", "abstains"),
    [("What is the warranty?", True), ("What are the weight and the price?", False)],
)
def test_a_statement_before_declining_is_a_partial_answer_only_where_two_things_were_asked(
    question: str, abstains: bool
) -> None:
    """The question decides whether what is stated first was asked for."""
    answer = "The device weighs 3 kg [1]. The documents do not mention anything else."
    assert is_abstention(answer, question) is abstains
