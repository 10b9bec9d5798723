"""An answer with a caveat is an answer, and a refusal with related facts is none."""

import os
from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path

import pytest
from pyarrow import parquet

from evals.datasets.base import LoadOptions
from evals.datasets.golden import GoldenLoader
from evals.text.refusals import reading

MOST_PAIRS = 60
"""Of a set of questions, spread over the whole of it: with every caveat and form they make 2,500 answers."""

CAVEATS = (
    "The documents do not say whether students pay it.",
    "The documents do not mention anything else about this.",
    "No further details are given.",
    "However, I could not find any additional information on the subject.",
    "The context does not specify the exact date.",
    "It is unclear from the passages whether this still applies.",
    "Please note that the sources do not explain how this was determined.",
    "I don't know whether this has changed since.",
    "There is no information about exceptions.",
    "The text does not go into more detail.",
    "Beyond that, nothing is known from the provided documents.",
    "I was unable to verify this against a second source.",
    "Unfortunately, the reason for this is not stated in the excerpts.",
    "That said, the passage doesn't provide a complete list.",
)
FORMS = ("{}", "According to the documents, {}", "Thank you for your question. {}")
REFUSALS = (
    "I could not find an answer to the question: {}?",
    "The documents do not say {}.",
    "I'm sorry, but the provided context does not contain information on {}.",
    "Unfortunately I cannot tell you {}, because this is not mentioned in the sources.",
)
Pairs = list[tuple[str, str]]


def caveated(answer: str, forms: Iterable[str] = FORMS) -> Iterable[str]:
    """The answer in each form, with each caveat behind it."""
    for form, caveat in product(forms, CAVEATS):
        said = form.format(answer.strip())
        yield f"{said}{'' if said.endswith(('.', '!', '?')) else '.'} {caveat}"


def share_of_abstentions(pairs: Pairs, says: Callable[[str, str], Iterable[str]]) -> float:
    pairs = pairs[:: -(-len(pairs) // MOST_PAIRS)]
    said = [reading(text, question).declines for question, answer in pairs for text in says(question, answer)]
    return sum(said) / len(said)


def golden() -> Pairs:
    questions = GoldenLoader().load(LoadOptions(samples=None)).questions
    return [(q.question, q.expected_answer) for q in questions if q.expected_answer and not q.is_unanswerable]


def filed(name: str, *columns: str) -> list[tuple[Path, dict[str, object]]]:
    folder = os.environ.get("EVALS_REAL_DATA")
    if not folder:
        pytest.skip("EVALS_REAL_DATA names no folder")
    files = sorted((Path(folder) / "hf" / name).rglob("*.parquet"))
    return [(file, row) for file in files for row in parquet.read_table(file, columns=list(columns)).to_pylist()]


def rows(name: str, *columns: str) -> list[dict[str, object]]:
    return [row for _, row in filed(name, *columns)]


def hotpotqa() -> Pairs:
    return [(str(row["question"]), str(row["answer"])) for row in rows("hotpotqa", "question", "answer")]


def squad_v2() -> Pairs:
    found = rows("squad_v2", "question", "answers")
    return [(str(row["question"]), row["answers"]["text"][0]) for row in found if row["answers"]["text"]]  # type: ignore[index]


def ragbench() -> Pairs:
    return [(str(row["question"]), str(row["response"])) for row in rows("ragbench", "question", "response")]


real = [pytest.param(pairs, marks=pytest.mark.real_rows, id=pairs.__name__) for pairs in (hotpotqa, squad_v2)]


@pytest.mark.slow
@pytest.mark.parametrize("pairs", [pytest.param(golden, id="golden"), *real])
def test_the_expected_answer_with_a_caveat_is_an_answer(pairs: Callable[[], Pairs]) -> None:
    """By the model alone, which does not know what is expected, at most five in a hundred are taken for refusals."""
    assert share_of_abstentions(pairs(), lambda _question, answer: caveated(answer)) <= 0.05


DECLINED = {
    ("covidqa", "543"),
    ("covidqa", "1271"),
    ("covidqa", "378"),
    ("delucionqa", "683"),
    ("msmarco", "7994"),
    ("msmarco", "3647"),
    ("msmarco", "4135"),
}
"""The responses of RAGBench that decline, of the 400 read by one who had not seen the rules."""


@pytest.mark.real_rows
def test_what_models_answered_is_told_from_what_they_declined() -> None:
    """Of 400 responses, which are in the fit, at most two are taken for refusals and at most two refusals missed."""
    said = {
        (file.parent.name, row["id"])
        for file, row in filed("ragbench", "id", "question", "response")
        if reading(str(row["response"]), str(row["question"])).declines
    }
    assert len(said - DECLINED) <= 2
    assert len(DECLINED - said) <= 2


@pytest.mark.slow
@pytest.mark.real_rows
def test_what_models_answered_is_an_answer_with_a_caveat_too() -> None:
    """The answer stands in a model's own words: at most one in fifty is taken for a refusal."""
    answered = [(question, answer) for question, answer in ragbench() if not reading(answer, question).declines]
    assert len(answered) > 380
    for form in FORMS:
        assert share_of_abstentions(answered, lambda _question, answer: caveated(answer, [form])) <= 0.02, form  # noqa: B023


@pytest.mark.slow
@pytest.mark.parametrize("pairs", [pytest.param(golden, id="golden"), *real])
def test_a_refusal_that_repeats_its_question_stays_one(pairs: Callable[[], Pairs]) -> None:
    """However much of the question stands in it, at least 97 in a hundred are taken for what they are."""

    def refusals(question: str, _answer: str) -> Iterable[str]:
        asked = question.strip().rstrip("?").strip()
        return (refusal.format(asked[0].lower() + asked[1:]) for refusal in REFUSALS)

    assert share_of_abstentions(pairs(), refusals) >= 0.97


@pytest.mark.parametrize(
    ("question", "answer", "abstains"),
    [
        ("What is the fee?", "The fee is $35 [1]. The documents do not say whether students pay it.", False),
        (
            "What is the fee for students?",
            "The fee is $35 [1]. The documents do not say whether students pay it.",
            True,
        ),
        ("Where is the office?", "In Leeds. I couldn't find a street address, though.", False),
        ("When did she die?", "She was born in 1870 and trained as a nurse. Her date of death is not given.", True),
        ("How old is the church?", "Probably from the 12th century, although no date is given.", False),
        ("What is the price?", "The pages list its weight, but the price isn't mentioned.", True),
        ("What does Premium cost?", "The documents don't say what Premium costs. Basic costs $9 a month.", True),
        ("When did it move?", "The exact day isn't recorded, but it moved in the spring of 1958.", False),
        ("Who built it?", "Perhaps another document says so, but I found nothing about it here.", True),
        ("How much is lunch?", "The menu names the chef. The price of lunch is not stated.", True),
    ],
)
def test_what_is_declined_beside_a_statement_decides(question: str, answer: str, abstains: bool) -> None:
    """Whether it is what was asked, or something beyond it."""
    assert reading(answer, question).declines is abstains


@pytest.mark.parametrize(
    "answer",
    [
        "Could you rephrase the question? I found nothing on it.",
        "I found nothing. Is there anything else I can help you with?",
        "The documents do not say: who built the tower?",
    ],
)
def test_a_question_put_back_answers_nothing(answer: str) -> None:
    """What an answer asks, or repeats of the question, is no statement."""
    assert reading(answer, "Who built the tower?").declines


@pytest.mark.parametrize(
    ("question", "answer", "abstains"),
    [
        ("When was the bridge opened?", "It opened in 1932 (the source doesn't say which month).", False),
        ("When was the bridge opened?", "It opened in 1932. The source doesn't say which month.", False),
        ("Wann wurde die Brücke eröffnet?", "Sie wurde 1932 eröffnet. Der Monat ist nicht angegeben.", False),
        ("Quando fu aperta la funivia?", "Fu aperta nel 1956. Purtroppo non ho trovato il mese.", False),
        (
            "When was the bridge opened?",
            "It is 120 m long and cost 3 million. The source doesn't say in which year.",
            True,
        ),
        ("When was the bridge opened?", "The bridge has 4 spans. Its opening date is not stated.", True),
        (
            "What is the capital of Australia?",
            "The context does not contain this information. However, Canberra is the capital of Australia.",
            False,
        ),
    ],
)
def test_what_is_left_open_beside_an_answer_may_be_finer_than_the_question(
    question: str, answer: str, abstains: bool
) -> None:
    """A year answers when it was, though no month is known; and an answer in the words of the question is one."""
    assert reading(answer, question).declines is abstains
