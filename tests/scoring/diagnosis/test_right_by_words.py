"""Right or wrong by words alone, and whether a wrong answer says something else."""

import pytest

from evals.schemas import EvalQuestion
from evals.scoring.diagnosis.lexical import has_other_value, is_right, states_otherwise

PERIOD = "How long is the notice period?"
SIGNS = "Who signs the contract?"
PETS = "Are dogs allowed in the office?"
BEGIN = "When did the lease begin?"
LOGO = "What colour is the logo?"

RIGHT = [
    (PERIOD, "14 days", "The notice period is 14 days."),
    (PERIOD, "three months", "It is 3 months."),
    (PERIOD, "14 days", "It is two weeks."),
    (PERIOD, "The notice period is three months for employees.", "Three months."),
    (BEGIN, "1 March 2024", "The lease began on March 1, 2024."),
    (BEGIN, "1 March 2024", "It began on 2024-03-01."),
    (SIGNS, "Anna Berg", "The contract is signed by Anna Berg, the CFO."),
    (PETS, "Yes", "Yes, dogs are allowed."),
    (PETS, "Yes", "Dogs are allowed in the office."),
    (PETS, "No", "Dogs are not allowed in the office."),
    ("What is the fee?", "$1,200", "The fee is 1200 dollars."),
    (LOGO, "blue", "The logo is blue."),
    (PETS, "Yes", "They are allowed in the office."),
    ("What does the tank hold?", "2.5 litres", "It holds 2500 ml."),
    ("Which section is on fees?", "Section 4", "Fees are in section 4."),
    (
        "What do I use?",
        "Unlisted vehicles are given group 38 for now.",
        "Vehicles not listed are given group 38 for now.",
    ),
    ("What happens to unused leave?", "It is carried over to the next year.", "Unused leave carries to next year."),
]
CONTRARY = [
    (PERIOD, "14 days", "The notice period is 30 days."),
    (PERIOD, "14 days", "The notice period is three weeks."),
    (BEGIN, "1 March 2024", "The lease began on 1 April 2024."),
    (BEGIN, "1 March 2024", "It began in 2021."),
    (SIGNS, "Anna Berg", "The contract is signed by Tom Hill."),
    (SIGNS, "Anna Berg and Tom Hill", "Anna Berg and Karl Ott sign the contract."),
    (PETS, "Yes", "No, dogs are not allowed."),
    (PETS, "No", "Dogs are allowed in the office."),
    ("What is the fee?", "5%", "The fee is 7%."),
    (LOGO, "blue", "The logo is green."),
    ("Which version is supported?", "3.11", "Version 3.12 is supported."),
    ("Which section is on fees?", "Section 4", "Fees are in section 7."),
    (
        "What is given?",
        "Unlisted vehicles are given group 38 for now.",
        "Unlisted vehicles are not given group 38 for now.",
    ),
    ("May the valve be opened?", "The valve must not be opened.", "The valve must be opened."),
]
SILENT = [
    (PERIOD, "14 days", "The notice period is laid down in section 4 of the contract."),
    (PERIOD, "14 days", "The notice period depends on the length of service."),
    (PERIOD, "14 days", "The contract was changed in 2019."),
    (SIGNS, "Anna Berg", "That is described in the Signature Policy."),
    (SIGNS, "Anna Berg and Tom Hill", "Anna Berg signs the contract."),
    (BEGIN, "1 March 2024", "It began in March 2024."),
    (PETS, "Yes", "The pet policy says whether dogs may come."),
    (LOGO, "blue", "The colour of the logo is described in the style guide."),
    (LOGO, "blue", "Our company was founded by two sisters."),
    ("How long is the desk staffed after 5 PM?", "2 hours", "After 5 PM the desk is staffed as the rota says."),
]

COST = "What does the licence cost?"
SPEED = "How fast is the line?"
OPEN = "When is it open?"
CLOSE = "When does the office close?"
NOTES = [
    (COST, "120 EUR", "The limit is 120 euros elsewhere."),
    (COST, "EUR 120", "It is €120."),
    (COST, "120 EUR per month", "It costs €120 per month."),
    (COST, "USD 49/month", "It costs $49 per month."),
    (COST, "49 USD", "It costs 49 dollars a month."),
    (COST, "49 AUD", "It costs 49 Australian dollars."),
    (COST, "CHF 1'200", "The licence costs 1,200 Swiss francs."),
    (COST, "30 GBP", "It is £30 a seat."),
    (COST, "JPY 5000", "It costs ¥5,000."),
    (COST, "4.2 mn EUR", "It came to €4.2 million."),
    (COST, "EUR 3.5m", "It came to 3.5 million euros."),
    ("In which currency are invoices issued?", "EUR", "Invoices are issued in EUR."),
    ("How much power?", "5 MW", "It delivers five megawatts."),
    ("How much energy?", "12 kilowatt-hours", "It stores 12 kWh."),
    (SPEED, "100 Mbps", "The line does 100 megabits per second."),
    ("Which version is supported?", "v2.3", "Version 2.3 is supported."),
    ("Which version is supported?", "version 2.3", "v2.3 is supported."),
    ("Which weekday?", "Thursday", "Every Thu. at noon."),
    (OPEN, "Mon-Sat", "From Monday to Saturday."),
    (OPEN, "Mon.–Fri., 9-17", "From Monday to Friday, 9 to 17."),
    (PETS, "Y", "Yes, they are."),
    (PETS, "N", "Dogs are not allowed in the office."),
    ("Which option is right?", "N", "Option N."),
    (CLOSE, "5 PM", "It closes at 17:00."),
    (CLOSE, "17:00", "It closes at 5 p.m. every day."),
    (CLOSE, "5:30 pm", "We close at 17:30."),
    (CLOSE, "09:00", "It closes at 9 a.m."),
    (CLOSE, "12 PM", "It closes at noon."),
    (CLOSE, "midnight", "It closes at 12 AM."),
    (CLOSE, "9am-5pm", "It is open from 9:00 to 17:00."),
    ("How is it mixed?", "1:10", "It is mixed in a ratio of 1 to 10."),
    ("How long is the flight?", "1h 30m", "It takes 90 minutes."),
    ("How long is the flight?", "1:30 h", "It takes an hour and a half."),
    ("When was it signed?", "Q1 2026", "In the first quarter of 2026."),
    ("How many seats are there?", "a dozen", "There are 12 seats."),
    ("Where is the portal?", "https://portal.example.com", "It is at portal.example.com."),
    ("Whom do I write to?", "hr@halden.no", "Write to HR@halden.no."),
    (SIGNS, "A. Berg", "The contract is signed by Anna Berg."),
    (SIGNS, "Anna Berg", "Mrs. Berg signs the contract."),
    (SIGNS, "Anna Berg", "It is signed by President Berg."),
]
OTHER_NOTES = [
    (COST, "120 EUR", "The limit is 180 euros."),
    (COST, "120 EUR", "The limit is 120 dollars."),
    (COST, "49 USD", "It costs 49 Canadian dollars."),
    (COST, "49 CAD", "It costs US$49."),
    (COST, "EUR 3.5 million", "It came to 3.5 billion euros."),
    ("In which currency are invoices issued?", "EUR", "Invoices are issued in US dollars."),
    ("Which software is used?", "CAD", "They use spreadsheets."),
    ("How much power?", "5 MW", "It delivers 5 kilowatts."),
    ("How much energy?", "12 kWh", "It stores 12 kW."),
    (SPEED, "1 Gbps", "It does 1 Mbps."),
    ("Which version is supported?", "v3", "Version 4 is."),
    ("Which weekday?", "Wed", "On Thursday."),
    (OPEN, "Mon-Fri", "On weekends."),
    ("Which star do planets orbit?", "the Sun", "They orbit Sirius."),
    (PETS, "N", "Dogs are allowed in the office."),
    ("Which gas fills the tank?", "N", "Argon fills it."),
    (CLOSE, "5 PM", "It closes at 5 AM."),
    (CLOSE, "5 PM", "It closes at 5:30 PM."),
    (CLOSE, "5 PM", "It closes at 18:00."),
    (CLOSE, "02:15", "It closes at 2:15 PM."),
    (CLOSE, "12 AM", "It closes at noon."),
    ("How much current does it take?", "5 am", "It takes 5 amps."),
    ("How long is the flight?", "1h 30m", "It takes 30 minutes."),
    ("When was it signed?", "Q1 2026", "In the second quarter of 2026."),
    ("Whom do I write to?", "hr@halden.no", "Write to it@halden.no."),
    (SIGNS, "Anna Berg", "The contract is signed by Bernd Berg."),
    ("Who sets the rate?", "the Bank of England", "The rate is set by the Church of England."),
]


BREAKFAST = "Is breakfast included?"
HEIGHT = "How high is the dam?"
LANDING = "When did it land?"
SALES = "What happened to sales?"
DEDUCTIBLE = "What is the deductible?"
WHAT_WAS_ASKED = [
    (BREAKFAST, "Yes", "Breakfast is included."),
    (BREAKFAST, "No", "Breakfast is not included."),
    ("Is water damage covered?", "Yes", "Water damage is covered by the policy."),
    ("Is parking provided?", "No", "Parking is not provided."),
    ("Is the report available?", "Yes", "The report is available."),
    (LANDING, "July 20, 1969", "It landed on 20/07/1969."),
    (LANDING, "July 20, 1969", "It was 1969-07-20."),
    (LANDING, "on July 4, 1776, in Philadelphia", "It was signed on 4 July 1776 in Philadelphia."),
    (HEIGHT, "1,500 m", "It is 1,500 metres high."),
    (HEIGHT, "8,849 m", "It is 8849 metres."),
    (HEIGHT, "180 cm", "It is 1.8 m high."),
    (HEIGHT, "1.5 km", "It is 1500 m."),
    (COST, "$5 m", "It came to 5 million dollars."),
    (COST, "€5m", "It came to 5 million euros."),
    (COST, "€50", "It costs 50 euros."),
    (COST, "$1,250.00", "The licence costs USD 1,250."),
    (SALES, "They fell by 12%", "Sales decreased by 12% in 2020."),
    (SALES, "They rose by 12%", "Sales increased by 12%, while costs fell."),
    (DEDUCTIBLE, "at least $500", "The deductible is $500 or more."),
    (DEDUCTIBLE, "no more than $500", "The deductible is at most $500."),
    ("When can I cancel?", "14 days before the course", "You can cancel until 14 days prior to the course."),
    ("What did the limit do?", "It was raised from 10 to 20 GB", "The limit was increased from 10 to 20 GB."),
]
OTHER_WORDS_FOR_IT = [
    (SIGNS, "It is signed by Anna Berg", "After approval, Anna Berg signs the contract."),
    ("How long may I return it?", "Within 30 days", "You may return it over the counter for 30 days."),
    (PETS, "Dogs are prohibited", "Dogs are not allowed in the office."),
    ("May guests enter?", "Access is not permitted to guests", "Guests are denied access."),
    (
        "What does the coating do?",
        "It prevents corrosion of the hull",
        "It stops corrosion of the hull caused by salt.",
    ),
    ("Is a deposit needed?", "A deposit is required", "Yes: a deposit is required, insurance is optional."),
    ("Which days count?", "All days excluding weekends", "All days count, weekends are not included."),
    ("When do I apply?", "14 days before travel", "Apply 14 days ahead of travel, and report after it."),
]
OPPOSITES = [
    (BREAKFAST, "Yes", "Breakfast is not included."),
    (BREAKFAST, "No", "Breakfast is included."),
    (SALES, "Sales fell by 12%", "Sales rose by 12% in 2020."),
    ("What did unemployment do?", "It increased to 6.1%", "Unemployment decreased to 6.1%."),
    ("How many people work there?", "more than 500", "Fewer than 500 people work there."),
    (DEDUCTIBLE, "at least $500", "The deductible is at most $500."),
    ("When can I cancel?", "14 days before the course", "You can cancel 14 days after the course."),
    ("What did the limit do?", "It was raised from 10 to 20 GB", "The limit was lowered from 20 to 10 GB."),
    ("What does aspirin do?", "It inhibits platelet aggregation", "Aspirin promotes platelet aggregation."),
]
OTHER_UNITS = [
    (COST, "€50", "The fee is $50."),
    (COST, "$2.5 million", "It came to 2.5 million euros."),
    (COST, "£300", "It is $300."),
    (HEIGHT, "300 m", "It is 300 km high."),
    (HEIGHT, "300 m", "It is 300 ft high."),
    (BREAKFAST, "Yes", "It is described in the brochure."),
    ("Is the fee listed?", "Yes", "That depends on the year."),
    (LANDING, "July 20, 1969", "It landed on July 21, 1969."),
]
LIMIT = "How many requests may I send?"
RATE = "What is the interest rate?"
RENT = "What is the rent?"
SAME_VALUES = [
    (RENT, "1.500 €", "1500 Euro"),
    (RENT, "€ 1.500", "The rent is 1,500 euros a month."),
    (RENT, "1.500–2.000 €", "Between 1500 and 2000 Euro."),
    (RENT, "1,50 €", "1.50 €"),
    (PERIOD, "Three days", "3 days."),
    (PERIOD, "three days", "3 days"),
    (PERIOD, "3 days", "Three days"),
    (RATE, "between 3 and 5 percent", "3–5 %"),
    (RATE, "Between 3 and 5 per cent", "3% to 5%"),
    (RATE, "3–5 %", "between 3 and 5 percent"),
    (LIMIT, "no limit", "There is no limit."),
    (LIMIT, "no limit", "You may send requests without limit."),
    (LIMIT, "There is no limit.", "No limit applies."),
    (LOGO, "blue", "It is blue, not green."),
]
CONTRADICTIONS = [
    (LIMIT, "no limit", "The limit is 50."),
    ("What is the limit?", "no limit", "The limit is 50."),
    ("Is there a limit?", "There is no limit.", "The limit is 50."),
    (RENT, "1.500 €", "1,50 €"),
    (RENT, "1.500 €", "15.000 €"),
    (PERIOD, "Three days", "5 days."),
    (RATE, "between 3 and 5 percent", "3–6 %"),
]


def question(text: str, expected: str) -> EvalQuestion:
    return EvalQuestion(question=text, expected_answer=expected, is_unanswerable=False)


@pytest.mark.parametrize(
    ("asked", "expected", "answer"), RIGHT + NOTES + WHAT_WAS_ASKED + OTHER_WORDS_FOR_IT + SAME_VALUES
)
def test_an_answer_that_says_what_is_expected_is_right(asked: str, expected: str, answer: str) -> None:
    """Other words, dates and numbers in another form, or more words around it, do not matter."""
    assert is_right(question(asked, expected), answer) is True


@pytest.mark.parametrize(
    ("asked", "expected", "answer"), CONTRARY + SILENT + OTHER_NOTES + OPPOSITES + OTHER_UNITS + CONTRADICTIONS
)
def test_an_answer_that_does_not_say_it_is_wrong(asked: str, expected: str, answer: str) -> None:
    """Another value, or none."""
    assert is_right(question(asked, expected), answer) is False


@pytest.mark.parametrize(("asked", "expected", "answer"), CONTRARY + OPPOSITES + CONTRADICTIONS)
def test_another_value_of_the_same_kind_says_something_else(asked: str, expected: str, answer: str) -> None:
    """A number for a number, a name for a name, a date for a date, no for yes."""
    assert states_otherwise(question(asked, expected), answer)


@pytest.mark.parametrize(("asked", "expected", "answer"), SILENT)
def test_an_evasive_or_incomplete_answer_says_nothing_else(asked: str, expected: str, answer: str) -> None:
    """Where it is written, what it depends on, half of the list, or another subject."""
    assert not states_otherwise(question(asked, expected), answer)


@pytest.mark.parametrize(
    ("asked", "expected", "answer"),
    [
        *(RIGHT + NOTES + WHAT_WAS_ASKED + OTHER_WORDS_FOR_IT + SAME_VALUES),
        *(CONTRARY + SILENT + OTHER_NOTES + OPPOSITES + OTHER_UNITS + CONTRADICTIONS),
        ("How long did they hold out?", "almost a month", "almost a month"),
        ("Who invented the duty of an engine?", "Watt", "Watt"),
    ],
)
def test_an_answer_is_never_right_and_contradictory(asked: str, expected: str, answer: str) -> None:
    """What holds the expected answer contradicts nothing, and what contradicts it is not right."""
    one = question(asked, expected)
    assert not (is_right(one, answer) and (states_otherwise(one, answer) or has_other_value(one, answer)))


@pytest.mark.parametrize(
    ("asked", "expected", "answer"),
    [
        (COST, "€50", "The fee is $60."),
        (COST, "€50", "The fee is 60."),
        (HEIGHT, "300 m", "It is 400 ft high."),
        (LOGO, "blue", "The logo is green."),
        (LIMIT, "no limit", "The limit is 50."),
        (SALES, "Sales fell by 12%", "Sales rose by 12% in 2020."),
    ],
)
def test_only_a_value_of_the_same_kind_and_unit_is_another_value(asked: str, expected: str, answer: str) -> None:
    """Another currency, a number without a unit, other words and a negation are no other value; the answer is wrong."""
    assert not has_other_value(question(asked, expected), answer)
    assert is_right(question(asked, expected), answer) is False


@pytest.mark.parametrize(
    ("asked", "expected", "answer"),
    [(COST, "€50", "The fee is €60."), (PERIOD, "14 days", "Three weeks."), (PETS, "Yes", "No."), CONTRARY[4]],
)
def test_a_value_of_the_same_kind_and_unit_is_another_value(asked: str, expected: str, answer: str) -> None:
    """Also in a unit that is converted, yes for no, and a name for a name."""
    assert has_other_value(question(asked, expected), answer)


def test_without_an_expected_answer_nobody_knows() -> None:
    """Neither right nor wrong."""
    assert is_right(EvalQuestion(question="Who?"), "Kings.") is None


def test_an_accepted_variant_is_as_good() -> None:
    """One of them is enough."""
    asked = EvalQuestion(question=PERIOD, expected_answer="14 days", answers=["two weeks", "a fortnight"])
    assert is_right(asked, "The notice period is a fortnight.")
