"""What a pattern of metrics usually means."""

import pytest

from evals.metrics import parse_metric
from evals.report.hints import Hint, all_hints, applying
from evals.schemas import Outcomes, Scorecard
from evals.scoring.scorecard import summarise
from evals.scoring.settings import ScoreSettings

NOTHING = Outcomes()


def card(values: dict[str, float | None]) -> Scorecard:
    """A scorecard of one question."""
    summaries = []
    for name, value in values.items():
        metric = parse_metric(name)
        result = metric.undefined("none") if value is None else metric.result(value)
        summaries.append(summarise(metric, [result], ScoreSettings()))
    return Scorecard(metrics=summaries)


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ({"exact_match": 0.8, "keyword_coverage": 0.4}, ["right_but_bare"]),
        ({"exact_match": 0.1, "keyword_coverage": 0.9}, ["right_in_other_words"]),
        ({"exact_match": 0.6, "keyword_coverage": 0.6}, []),
        ({"keyword_coverage": 0.9, "number_match": 0.4}, ["right_words_wrong_numbers"]),
        ({"keyword_coverage": 0.9, "number_match": None}, []),
        ({"source_citation_quality": 0.1}, ["sources_unnamed"]),
        ({"source_citation_quality": 1 / 3}, ["sources_unnamed"]),
        ({"source_citation_quality": 0.67}, []),
        ({"keyword_coverage": 0.9, "answer_completeness": 0.75, "faithfulness": 0.3}, ["right_but_ungrounded"]),
        ({"keyword_coverage": 0.9, "answer_completeness": 0.75, "context_recall": 0.3}, ["right_from_wrong_passages"]),
        ({"keyword_coverage": 0.9, "answer_completeness": 0.9}, ["all_high"]),
        ({"keyword_coverage": 0.9, "answer_completeness": 0.9, "number_match": None}, ["all_high"]),
        ({"keyword_coverage": 0.9, "answer_completeness": 0.9, "number_match": 0.6}, []),
        (
            {"keyword_coverage": 0.9, "answer_completeness": 0.9, "exact_match": 0, "source_citation_quality": 0},
            ["right_in_other_words", "sources_unnamed"],
        ),
        (
            {"keyword_coverage": 0.9, "answer_completeness": 0.9, "answer_relevancy": 0.2},
            ["right_but_beside_the_question"],
        ),
        (
            {"keyword_coverage": 0.9, "answer_completeness": 0.9, "context_precision": 0.2},
            ["right_among_useless_passages"],
        ),
        ({}, []),
    ],
)
def test_a_hint_applies_where_its_pattern_shows(values: dict[str, float | None], names: list[str]) -> None:
    """All conditions must hold; a metric without a value holds none, and is no obstacle where it is optional."""
    assert [hint.name for hint in applying(card(values), NOTHING)] == names


def test_a_hint_names_what_it_rests_on() -> None:
    """Only metrics that have a value are evidence."""
    scorecard = card({"keyword_coverage": 0.914, "answer_completeness": 0.9, "number_match": None})
    (hint,) = applying(scorecard, NOTHING)
    assert hint.evidence(scorecard) == "keyword_coverage 0.91, answer_completeness 0.90"


@pytest.mark.parametrize(
    ("citations", "names"), [(None, ["sources_unnamed"]), (0, ["sources_unnamed"]), (9, ["sources_unnamed"]), (90, [])]
)
def test_answers_that_come_with_citations_say_where_they_are_from(citations: int | None, names: list[str]) -> None:
    """A list of citations does what words of the answer need not do then; a few for a hundred answers do not."""
    outcomes = Outcomes(answered=120, abstained=20, citations=citations, invalid_citations=0)
    assert [hint.name for hint in applying(card({"source_citation_quality": 0.0}), outcomes)] == names


@pytest.mark.parametrize("hint", all_hints(), ids=lambda hint: hint.name)
def test_a_hint_can_apply_and_says_something(hint: Hint) -> None:
    """No rule contradicts itself, and every text is a sentence on one line."""
    met = {
        condition.metric: 1.0 if condition.sign.startswith(">") else 0.0
        for condition in (*hint.when, *hint.where_measured)
    }
    assert hint in applying(card(met), NOTHING)
    assert hint.text.endswith(".")
    assert "\n" not in hint.text


@pytest.mark.parametrize("hint", [hint for hint in all_hints() if hint.name != "all_high"], ids=lambda hint: hint.name)
def test_no_fault_is_hinted_at_beside_the_praise_of_all(hint: Hint) -> None:
    """That all sides hold up covers the sides that other hints look at."""
    best = dict.fromkeys({c.metric for each in all_hints() for c in (*each.when, *each.where_measured)}, 1.0)
    shown = {c.metric: 1.0 if c.sign.startswith(">") else c.limit - 0.01 for c in hint.when}
    names = [each.name for each in applying(card({**best, **shown}), NOTHING)]
    assert hint.name in names
    assert "all_high" not in names
