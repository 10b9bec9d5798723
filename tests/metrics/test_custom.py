"""A metric of one's own: a function under `@metric`, a class, and what stands for either without its code."""

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from metrics.records import lack, record, verdicts_on

from evals import EvalConfig, metric, missing
from evals.errors import ConfigError
from evals.metrics import MRR, BaseMetric, Sample
from evals.metrics import registry as metrics
from evals.metrics.custom import definition_of, saved_metric
from evals.metrics.registry import definitions, known_metric, parse_metric, register, select
from evals.run.checks import check_config
from evals.schemas import EvalQuestion, EvalResponse, ResponseError
from evals.schemas.results import saved_definitions
from evals.scoring.settings import score_of

WORDS = '''
from evals import metric

@metric(higher_is_better=False, unit="words")
def answer_words(sample):
    """How many words the answer has."""
    return len((sample.response.answer or "").split())
'''


CLASS = "from evals.metrics import BaseMetric\nclass X(BaseMetric):\n"


@pytest.fixture(autouse=True)
def _nothing_registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a test registers is forgotten after it."""
    monkeypatch.setattr(metrics, "_registered", {})
    before = dict(saved_definitions)
    yield
    saved_definitions.clear()
    saved_definitions.update(before)


@pytest.fixture
def words(tmp_path: Path) -> str:
    """The name of a metric in a file."""
    (tmp_path / "metrics.py").write_text(WORDS, encoding="utf-8")
    return f"{tmp_path / 'metrics.py'}:answer_words"


def sample(answer: str | None = "Four words are here.", **fields: Any) -> Sample:
    """An answered question."""
    return record(answer, question="How many?", **fields)


def test_a_function_is_a_metric_and_stays_a_function() -> None:
    """It is called as before, and it measures; it is of the group of a class that names none."""

    @metric(higher_is_better=False, unit="words", needs="answer")
    def answer_words(given: Sample) -> int:
        """Words of an answer."""
        return len((given.response.answer or "").split())

    assert answer_words(sample()) == 4
    assert answer_words.score(sample()).value == 4.0
    assert answer_words.score(sample(None)).reason == "the server sent no answer"
    assert answer_words.group is BaseMetric.group
    assert (answer_words.name, answer_words.unit) == ("answer_words", "words")
    assert (answer_words.low, answer_words.high) == (None, None)


@pytest.mark.parametrize(
    ("given", "value", "label"),
    [(True, 1.0, None), (0.25, 0.25, None), ("polite", 1.0, "polite"), ("rude", 0.0, "rude")],
)
def test_numbers_truth_and_declared_labels_are_values(given: Any, value: float, label: str | None) -> None:
    """A label counts as what it was declared to be worth, and is kept."""
    found = metric(lambda _: given, name="tone", labels={"polite": 1, "rude": 0}).score(sample())
    assert (found.value, found.details.get("label")) == (value, label)


@pytest.mark.parametrize(
    ("given", "kind", "reason"),
    [
        (None, "not_applicable", "the metric gave no value"),
        (missing("no price is asked for"), "not_applicable", "no price is asked for"),
        (float("nan"), "fault", "the metric mine returned nan, which is no finite number"),
        (float("inf"), "fault", "the metric mine returned inf, which is no finite number"),
        ("kind", "fault", "the metric mine returned the label 'kind'; declared are polite, rude"),
        ({}, "fault", "the metric mine returned a value of type dict, which is no number, bool, label or None"),
        (b"1", "fault", "the metric mine returned a value of type bytes, which is no number, bool, label or None"),
        pytest.param(10**400, "fault", "the metric mine returned inf, which is no finite number", id="huge"),
        (7, "fault", "the metric mine returned 7, outside its range 0 to 1: say low= and high="),
    ],
)
def test_what_is_no_value_has_its_reason(given: Any, kind: str, reason: str) -> None:
    """No value, one that cannot be, and one that was not declared are told apart."""
    found = metric(lambda _: given, name="mine", labels={"polite": 1, "rude": 0}).score(sample())
    assert lack(found) == (None, kind, reason)


def test_what_a_function_prints_is_no_part_of_the_output(capsys: pytest.CaptureFixture[str]) -> None:
    """Which may be JSON that a program reads."""
    assert metric(lambda _: print("seen") or 1, name="mine").score(sample()).value == 1
    assert capsys.readouterr() == ("", "seen\n")


def test_a_metric_of_verdicts_needs_a_judge() -> None:
    """Like a built-in one; it sees what the judge said to others."""
    own = metric(lambda given: len(given.verdicts), name="own", needs="judge", unit="verdicts")
    assert own.score(sample()).reason == "no judge was used"
    assert own.score(sample(verdicts=verdicts_on("faithfulness", {}))).value == 1.0


_HALF = type("Half", (BaseMetric,), {"name": "mine", "measure": lambda *_: 0.5})


@pytest.mark.parametrize(
    ("own", "kind"),
    [
        (metric(lambda _: sys.exit(0), name="mine"), r"SystemExit \("),
        (metric(lambda _: parse_metric("no_such_metric"), name="mine"), r"UnknownNameError \(test_custom.py, line "),
        (_HALF(), r"TypeError \("),
    ],
    ids=["a function that ends the process", "an error of ours", "a class that returns no result"],
)
def test_no_metric_ends_a_run(own: BaseMetric, kind: str) -> None:
    """Whatever it does, the answers are there; only its own value is lost."""
    found = score_of(own, sample())
    assert (found.value, found.missing) == (None, "fault")
    assert re.match(f"a fault of the metric mine: {kind}", found.reason or "")


@pytest.mark.parametrize("wrong", [{"needs": "anwser"}, {"group": "answers"}, {"labels": {"a": 1}}, {"low": 2}])
def test_a_declaration_that_cannot_be_is_refused(wrong: dict[str, Any]) -> None:
    """Needs and groups that do not exist, and ranges without room."""
    with pytest.raises(ConfigError, match=r"unknown need|unknown group|cannot be from"):
        metric(**wrong)(lambda _: 1)


def test_a_metric_in_a_file_is_found_by_its_name_from_then_on(words: str) -> None:
    """Naming the file registers it; what looks metrics up by name finds it."""
    assert known_metric("answer_words") is None
    chosen = select([], [words, "mrr"])
    assert [one.name for one in chosen] == ["answer_words", "mrr"]
    assert parse_metric("answer_words") is chosen[0]
    (definition,) = definitions(chosen)
    assert (definition.unit, definition.higher_is_better, definition.source) == ("words", False, words)
    assert definition.description == "How many words the answer has."


def test_no_name_but_that_of_a_configuration_runs_a_file(words: str) -> None:
    """Gates, saved runs and other lookups do not."""
    assert known_metric(words) is None


def test_the_hash_is_that_of_the_whole_file(words: str) -> None:
    """What a function calls beside it decides its values too."""
    (before,) = definitions(select([], [words]))
    path = Path(words.rpartition(":")[0])
    path.write_text(f"{WORDS}\nMORE = 1\n", encoding="utf-8")
    (after,) = definitions(select([], [words]))
    assert before.sha256 != after.sha256
    assert before.meaning != after.meaning


@pytest.mark.parametrize(
    ("code", "name", "said"),
    [
        ("def broken(:\n", "x", r"metrics.py, line 1: SyntaxError"),
        ("import json\n\njson.loads('{')\n", "x", r"metrics.py, line 3: JSONDecodeError"),
        ("import no_such_library\n", "x", r"line 1: ModuleNotFoundError: .*'no_such_library'"),
        (WORDS, "answer_word", r"unknown metric of .*metrics.py 'answer_word'"),
        (WORDS, "", r"unknown metric of .*metrics.py ''"),
        ("def plain(sample):\n    return 1\n", "plain", r"'plain' of .*metrics.py is no metric"),
        ("LIMIT = 7\n", "LIMIT", r"'LIMIT' of .*metrics.py is no metric"),
        (f"{WORDS}\nmetric(needs='anwser')(len)\n", "x", r"metrics.py, line 9: unknown need of a metric 'anwser'"),
        (f"{WORDS}\n@metric\nasync def f(s): ...\n", "f", r"metrics.py, line 9: f is async, and a metric is a plain"),
        (f"{WORDS}\nf = metric(lambda sample: 1)\n", "f", r"'f' of .*metrics.py needs a name of letters"),
        (f"{CLASS}    name = 'x'\n", "X", r"'X' of .* cannot be made"),
        ("import sys\n\nsys.exit(0)\n", "x", r"metrics.py, line 3: SystemExit: 0"),
        (f"{WORDS}\n@metric\ndef f(): ...\n", "f", r"line 9: f cannot be called with a sample: too many positional"),
        (f"{WORDS}\n@metric('tone')\ndef f(s): ...\n", "f", r"line 9: tone cannot be called with a sample"),
        (f"{WORDS}\n@metric(low=float('nan'))\ndef f(s): ...\n", "f", r"metric 'f': low: must be a finite number"),
        ("x = 1\0\n", "x", r"metrics.py: SyntaxError: source code string cannot contain null bytes|metrics.py, line 1"),
        (f"{CLASS}    name, measure, __init__ = 'x', print, lambda self: 1 / 0\n", "X", r"cannot be made: division by"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_error(tmp_path: Path, code: str, name: str, said: str) -> None:
    """With the file, and the line where there is one."""
    (tmp_path / "metrics.py").write_text(code, encoding="utf-8")
    with pytest.raises(ConfigError, match=said):
        select([], [f"{tmp_path / 'metrics.py'}:{name}" if name else str(tmp_path / "metrics.py")])


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    """With the way to look for it."""
    with pytest.raises(ConfigError, match=r"cannot read .*gone.py, of which a metric is named: No such file"):
        select([], [f"{tmp_path}/gone.py:x"])


@pytest.mark.parametrize("given", ["[./metrics.py:answer_words, mrr]", "./metrics.py:answer_words, mrr"])
def test_a_path_is_relative_to_the_configuration(tmp_path: Path, words: str, given: str) -> None:
    """Wherever the command is given."""
    assert words
    (tmp_path / "eval.yml").write_text(f"metrics: {given}\n", encoding="utf-8")
    assert EvalConfig.from_file(tmp_path / "eval.yml").metrics == [words, "mrr"]


class Shouting(BaseMetric):
    """Whether the answer shouts.

    Formula: 1 if it is in capitals.
    """

    name, group = "shouting", MRR.group

    def measure(self, case: Sample) -> Any:
        """Look at the answer."""
        return self.result((case.answer or "").isupper())


class Brevity(BaseMetric):
    """Whether the answer is short; written against question and response alone."""

    name, group = "brevity", MRR.group

    def compute(self, question: EvalQuestion, response: EvalResponse) -> Any:  # type: ignore[override]
        return self.result(len(response.answer or "") < 2 * len(question.question))


def test_it_is_enough_to_implement_compute() -> None:
    """A run measures it as any other metric, and a failure of transport is no value."""
    assert Brevity().score(sample("Yes.")).value == 1
    assert Brevity().score(sample("Yes. " * 99)).value == 0
    lost = sample(None, error=ResponseError(kind="timeout", message="late"))
    assert Brevity().score(lost).missing == "transport"
    pairs = [(EvalQuestion(question="Is it?"), EvalResponse(answer="Yes."))]
    assert [result.value for result in Brevity().compute_batch(pairs)] == [1]


@pytest.mark.parametrize("given", [Shouting, Shouting()])
def test_a_class_or_an_instance_is_passed_from_python(given: Any) -> None:
    """The configuration holds the name; the metric is known by it."""
    assert EvalConfig(metrics=[given, "mrr"]).metrics == ["shouting", "mrr"]
    assert isinstance(parse_metric("shouting"), Shouting)


@pytest.mark.parametrize(
    ("given", "said"),
    [(len, "is no metric"), (type("Nothing", (BaseMetric,), {"name": "nothing"}), r"cannot be made: .*measure")],
)
def test_a_thing_that_is_no_metric_is_refused_from_python(given: Any, said: str) -> None:
    """The mistake shows where it is made, and names what is missing."""
    with pytest.raises(ConfigError, match=said):
        EvalConfig(metrics=[given])


def test_the_name_of_another_metric_is_refused() -> None:
    """No name means two things; a built-in metric itself may be passed."""
    with pytest.raises(ConfigError, match="metric 'mrr' exists already"):
        register(metric(lambda _: 1, name="mrr"))
    assert EvalConfig(metrics=[MRR()]).metrics == ["mrr"]  # type: ignore[list-item]


def _from_python(_words: str) -> None:
    EvalConfig(metrics=[metric(function, name="answer_words") for function in (len, abs)])


def _from_two_files(words: str) -> None:
    other = Path(words.rpartition(":")[0]).with_name("other.py")
    other.write_text(f"{WORDS}\nMORE = 1\n", encoding="utf-8")
    select([], [words, words, f"{other}:answer_words"])


def _from_a_file_and_a_rubric(words: str) -> None:
    check_config(EvalConfig.build({"metrics": [words], "judged": {"answer_words": "Is it short?"}}))


@pytest.mark.parametrize("name_twice", [_from_python, _from_two_files, _from_a_file_and_a_rubric])
def test_of_two_metrics_with_one_name_none_is_passed_over(words: str, name_twice: Callable[[str], None]) -> None:
    """One would be reported as the other."""
    with pytest.raises(ConfigError, match="two metrics are named 'answer_words'"):
        name_twice(words)


def test_what_a_run_says_of_a_metric_stands_for_it_without_its_code() -> None:
    """Unit, direction, range and how values become one are there; no answer can be measured."""
    definition = definition_of(Shouting())
    assert definition.description == "Whether the answer shouts."
    saved_definitions["shouting"] = definition
    found = parse_metric("shouting")
    assert definition_of(found) == definition
    assert (found.low, found.high, found.aggregation) == (0.0, 1.0, Shouting.aggregation)
    assert found.score(sample()).reason == "it was not measured"
    with pytest.raises(ConfigError, match="the code of metric 'shouting' is not there"):
        check_config(EvalConfig(metrics=["shouting"], judge=False))  # type: ignore[arg-type]
    saved_definitions["shouting"] = definition.model_copy(update={"unit": "percent"})
    assert parse_metric("shouting").unit == "percent"


def test_the_code_goes_before_what_a_run_says() -> None:
    """A run that was read does not replace what is measured with."""
    saved_definitions["shouting"] = definition_of(Shouting()).model_copy(update={"unit": "percent"})
    register(Shouting())
    assert parse_metric("shouting").unit == "ratio"


def test_needs_that_this_version_does_not_know_are_passed_over() -> None:
    """A newer version may have written them."""
    newer = definition_of(Shouting()).model_copy(update={"needs": ["chunks", "telepathy"]})
    assert {need.name for need in saved_metric(newer).needs} == {"CHUNKS"}
