"""The detector of abstentions on clear cases, one for each way of declining or seeming to."""

import pytest

from evals.text.refusals.detector import is_abstention


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
    answer = "The device weighs 3 kg [1]. The documents do not mention the price or the warranty."
    assert is_abstention(answer, question) is abstains


@pytest.mark.parametrize(
    "answer",
    [
        "I do not know.",
        "Don't know.",
        "i dont know",
        "It is unknown.",
        "The husband remains unknown.",
        "The names of her sons are not known from the passages.",
        "Based on the context, the name is unknown.",
        "Husband: unknown.",
        "Not sure about that.",
        "It is unclear who did.",
        "It's not known for certain who did.",
        "One cannot determine this from the passage.",
        "The system cannot answer this.",
        "I cannot answer.",
        "Cannot determine.",
        "Unable to answer.",
        "No information.",
        "There isn't enough information",
        "I don't have enough information.",
        "Insufficient data.",
        "The data is insufficient.",
        "No data.",
        "Not available.",
        "The information is not available.",
        "No information has been provided about her husband.",
        "None found.",
        "nothing found",
        "Nothing relevant was retrieved.",
        "0 results found.",
        "(none)",
        "null",
        "n/a",
    ],
)
def test_each_phrase_in_its_plainest_sentence_is_an_abstention(answer: str) -> None:
    """The commonest ways to say that one does not know need no more words than these."""
    assert is_abstention(answer, "Who married Princess Frederica of Hanover?")


@pytest.mark.parametrize(
    "answer",
    [
        "No information is shared with third parties.",
        "No evidence is needed.",
        "No records were destroyed in the fire.",
        "No results are published for failed tests.",
        "No defects were found.",
        "The display shows no data.",
        "The device stores no personal data.",
        "It needs no context.",
        "We have no dress code.",
        "We have no spare parts for sale.",
        "We have no access to your location.",
    ],
)
def test_what_is_said_of_data_or_denied_of_other_things_answers(answer: str) -> None:
    """A negative tells of the world unless it is the sources, or he who answers, that lack what was asked."""
    assert not is_abstention(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "The drug is not known to harm cats.",
        "Its origin is unknown, and linguists have not agreed on any.",
        "The police said that the motive is unknown.",
        "Unknown values are marked with a dash.",
    ],
)
def test_unknown_declines_only_as_the_whole_of_a_clause(answer: str) -> None:
    """A clause that says more of what is unknown, or reports it, answers."""
    assert not is_abstention(answer)


@pytest.mark.parametrize(
    ("answer", "abstains"),
    [
        ("I cannot find a clause that forbids it: refunds are granted within 30 days.", False),
        ("The founder is unknown, but the first charter names a miller.", False),
        ("I cannot answer: the question is too vague.", True),
        ("I don't know; ask the front desk.", True),
        ("I could not find the steps. You could: open a ticket.", True),
        ("The manual does not say, but it covers the older model.", True),
    ],
)
def test_an_answer_in_the_sentence_that_declines_counts(answer: str, abstains: bool) -> None:
    """Reasons, advice and what the sources hold instead are no answers."""
    assert is_abstention(answer) is abstains


@pytest.mark.parametrize(
    ("question", "answer", "abstains"),
    [
        ("What does error E4 mean?", "Insufficient data.", False),
        ("What is the range?", "Insufficient data.", True),
        ("What does error E4 mean?", "No information found.", True),
        ("What does error E4 mean?", "Unknown.", True),
        ("Does the policy cover flood?", "The policy does not cover flood damage.", False),
        ("Is the battery in the box?", "This is not covered in the documents.", True),
        ("Is there a gym?", "Information about a gym is not available.", True),
        ("When does the N12 run?", "The schedule of the N12 is not included.", True),
    ],
)
def test_the_question_decides_between_a_fact_and_a_gap(question: str, answer: str, abstains: bool) -> None:
    """The same words name what a sign means or deny a fact, and elsewhere say that the sources lack it."""
    assert is_abstention(answer, question) is abstains
