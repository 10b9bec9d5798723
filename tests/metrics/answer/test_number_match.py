"""Number match: scale, unit, currency and notation, by a table of answers."""

from collections.abc import Callable

import pytest

from evals.schemas import MetricResult

Score = Callable[..., MetricResult]
ASKED = "What is it?"

SCALES = [
    ("1.5 billion", "1.5 million", 0),
    ("1.5 million", "1.5 million", 1),
    ("It is 1,500,000.", "1.5 million", 1),
    ("1.5 million", "1.5", 0),
    ("$1,200,000", "$1.2M", 1),
    ("It cost 1,200,000 dollars.", "$1.2M", 1),
    ("$1.2 million", "1,200,000 dollars", 1),
    ("$1.2B", "$1.2M", 0),
    ("It is 10,000.", "10k", 1),
    ("It is 10K.", "10,000", 1),
    ("It is 10.", "10k", 0),
    ("It is $5m.", "5 million dollars", 1),
    ("It is $5MM.", "$5,000,000", 1),
    ("3 mn", "3 million", 1),
    ("3bn", "3,000 million", 1),
    ("3 bn", "3 billion", 1),
    ("€2.5 trillion", "2,500 billion euros", 1),
    ("2 thousand", "2,000", 1),
    ("a 1.5-million-euro deal", "1,500,000 EUR", 1),
    ("between 5 and 10 million, so 5 to 10 million", "5-10 million", 1),
    ("5-10 billion", "5-10 million", 0),
    ("from 900,000 to 1 million", "900,000 to 1 million", 1),
    ("3 hundred thousand", "300,000", 1),
    ("5 lakh", "500,000", 1),
    ("5,00,000", "5 lakh", 1),
    ("2 crore rupees", "₹2,00,00,000", 1),
    ("**$1.2** million", "$1,200,000", 1),
    ("Form 10-K, on 3 pages", "Form 10K, on 3 pages", 1),
    ("401(k)", "401k", 1),
    ("It is 5 m long.", "5 million", 0),
    ("It is 5 mm long.", "5 million", 0),
]

CURRENCIES = [
    ("604 dollars", "$604", 1),
    ("604", "$604", 1),
    ("$604", "604", 1),
    ("USD 604", "604 US dollars", 1),
    ("US$604", "$604", 1),
    ("CAD 604", "US$604", 0),
    ("€604", "$604", 0),
    ("604 euros", "$604", 0),
    ("604 €", "EUR 604", 1),
    ("£604", "GBP604", 1),
    ("604 pounds", "£604", 1),
    ("604 pounds", "604 lb", 1),
    ("£604", "604 lbs", 0),
    ("¥500", "500 yen", 1),
    ("5 cents", "$5", 0),
    ("-$5", "minus 5 dollars", 1),
    ("604 of them", "$604", 1),
]

NOTATION = [
    ("1.234,56 €", "€1,234.56", 1),
    ("1,234.56", "1.234,56", 1),
    ("1.234.567", "1,234,567", 1),
    ("1,234", "1.234", 0),
    ("1.234", "1.234", 1),
    ("Von 1.234 auf 1.456,70 Euro", "1,234 and 1,456.70", 1),
    ("12,5 %", "12.5%", 1),
    ("3,50 €", "€3.50", 1),
    ("1.500 €", "1500 Euro", 1),
    ("1.500 €", "1,50 €", 0),
    ("0,305", "0.305", 1),
    ("1,5 million", "1.5 million", 1),
    ("12,34", "12 and 34", 1),
    ("10 000", "10,000", 1),
    ("10,000", "10\u00a0000", 1),
    ("10,000", "10\u2009000", 1),
    ("10,000", "10\u202f000", 1),
    ("1 234 567.80", "1,234,567.8", 1),
    ("12 345 people", "12,345", 1),
    ("10'000", "10 000", 1),
    ("10 00", "10,000", 0),
    ("in 2020 300 people", "2020: 300", 1),
    ("iPhone 12 128 GB", "128 GB", 0),
    ("Territory 12 345 homes", "12 and 345", 1),
    ("10", "10 000", 0),
]

PERCENT = [
    ("5 percent", "5 %", 1),
    ("5 per cent", "5%", 1),
    ("five percent", "5%", 1),
    ("0.05", "5%", 0),
    ("5", "5%", 0),
    ("5%", "5", 0),
    ("5 percentage points", "5%", 0),
    ("5 percentage points", "5 pp", 1),
    ("5 basis points", "5 percentage points", 0),
    ("50 bps", "50 basis points", 1),
    ("5% to 10%", "5-10 percent", 1),
    ("-0.133 %", "−0.133%", 1),
]

SHARES = [
    ("0.05", "5%", "What fraction of the claims was paid?", 1),
    ("5%", "0.05", "What share of the claims was paid?", 1),
    ("5 percent", "0.05", "What is the proportion of late claims?", 1),
    ("0.05", "5%", "What is the market share of Acme?", 1),
    ("0.5", "5%", "What fraction of the claims was paid?", 0),
    ("1/20", "5%", "What fraction of the claims was paid?", 1),
    ("0.05", "5%", "By how much did the share price rise?", 0),
    ("0.05", "5%", "What were the earnings per share?", 0),
    ("$0.05", "5%", "What share of the claims was paid?", 0),
]

UNITS = [
    ("30 hours", "30 days", 0),
    ("30 days", "30 days", 1),
    ("30", "30 days", 1),
    ("30 days", "30", 1),
    ("a 30-day period", "30 days", 1),
    ("thirty (30) days", "30 days", 1),
    ("30 business days", "30 hours", 0),
    ("5 kg", "5kg", 1),
    ("5 kilograms", "5kg", 1),
    ("5 g", "5kg", 0),
    ("5 km", "5 miles", 0),
    ("24h", "24 hours", 1),
    ("24h", "24 min", 0),
    ("5 GB", "5 MB", 0),
    ("20 °C", "20°F", 0),
    ("20 degrees Celsius", "20 °C", 1),
    ("20 degrees", "20 °C", 1),
    ("5 square metres", "5 metres", 0),
    ("3 times a day", "3 times", 1),
    ("5-10 hours", "5-10 days", 0),
    ("5 to 10 days", "5 days", 1),
    ("30 days, not 30 hours", "30 days", 1),
    ("10 pm", "10 am", 0),
    ("10 a.m.", "10 AM", 1),
    ("10:30 pm", "10:30 am", 0),
    ("10:30", "10:30 am", 1),
    ("5 claims", "5 policies", 1),
]

SIGNS_AND_MARKS = [
    ("negative 5", "-5", 1),
    ("5", "-5", 0),
    ("10 minus 5", "5", 1),
    ("10 minus 5", "-5", 0),
    ("1/2", "½", 1),
    ("one half", "1/2", 1),
    ("0.5 cups", "1/2 cup", 1),
    ("2½", "2.5", 1),
    ("2 1/2 hours", "2.5 hours", 1),
    ("1/3", "two thirds", None),
    ("two thirds", "2/3", 1),
    ("one third", "2/3", 0),
    ("24/7", "24 and 7", 1),
    ("the 3rd floor", "3", 1),
    ("the third floor", "3rd floor", 1),
    ("the 3rd day", "3 days", 0),
    ("a second thought", "2", 0),
    ("twelve", "12", 1),
    ("twenty-five days", "25 days", 1),
    ("twenty five days", "25 hours", 0),
    ("three hundred and five", "305", 1),
    ("two million dollars", "$2M", 1),
    ("one of them", "1", 0),
    ("one day", "1 day", 1),
    ("2026-05-01", "May 1, 2026", 1),
    ("in 2025", "in 2026", 0),
    ("the 1990s", "1990", 1),
    ("A-12", "12", 1),
    ("A-12", "-12", 0),
    ("B2B", "2", 0),
    ("(555) 123-4567", "555 123 4567", 1),
    ("0800 123 456", "0800-123-456", 1),
]

TABLE = [
    (answer, expected, ASKED, value)
    for rows in (SCALES, CURRENCIES, NOTATION, PERCENT, UNITS, SIGNS_AND_MARKS)
    for answer, expected, value in rows
] + SHARES


@pytest.mark.parametrize(("answer", "expected", "question", "value"), TABLE)
def test_a_number_is_a_value_with_its_scale_and_unit(
    score: Score, answer: str, expected: str, question: str, value: float | None
) -> None:
    """Written in another way it is the same number; with another scale, currency or unit it is another one."""
    result = score("number_match", answer, expected_answer=expected, question=question)
    assert result.value == value, result.details
