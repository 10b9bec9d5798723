"""`junit`: gates, questions that went wrong and what was not measured, as test cases that every CI can read."""

import re
from collections.abc import Iterator
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from evals.metrics.registry import known_metric
from evals.report.markdown import CommandEnd
from evals.report.wording import exchange_of
from evals.schemas.results import EvalRun
from evals.scoring.config import SCORE
from evals.scoring.outcomes import WENT_WRONG, Outcome, count_outcomes
from evals.scoring.saved import SavedRun
from evals.text.foreign import one_line, plain, shortened
from evals.text.numbers import counted

MOST_QUESTIONS = 5_000
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 (section 2.2) has no room for, escaped or not."""

_NAME, _MESSAGE, _TEXT = 200, 500, 1_000
_ENDED = {"failure": "failures", "error": "errors", "skipped": "skipped"}
"""The attribute of a suite that counts cases of a result."""


class JUnitCase(NamedTuple):
    """One case; its result is passed, failure, error or skipped."""

    suite: str
    name: str
    result: str = "passed"
    kind: str = ""
    message: str = ""
    text: str = ""
    classname: str = ""


def xml_text(text: str, limit: int) -> str:
    """Text that XML can hold, without what steers a terminal, cut at this many characters; the writer escapes it."""
    return _ILLEGAL.sub("\N{REPLACEMENT CHARACTER}", shortened(plain(text[: 2 * limit]), limit))


def to_junit(saved: SavedRun) -> Iterator[str]:
    """A saved run with the gates that it was made with."""
    return junit_of(CommandEnd([saved]))


def junit_of(ended: CommandEnd) -> Iterator[str]:
    """What a command found as one JUnit document.

    Suites are `run`, `gates.GROUP`, `questions.OUTCOME` and `metrics.GROUP` (those without a value); of several runs
    each begins with the run's name.
    """
    root, suites = Element("testsuites", name="evals"), dict[str, Element]()
    for case in _cases(ended):
        if case.suite not in suites:
            suites[case.suite] = SubElement(root, "testsuite", name=xml_text(case.suite, _NAME))
        _add_case(suites[case.suite], case)
    for element in (root, *suites.values()):
        element.set("tests", str(len(element.findall(".//testcase"))))
        for result, attribute in _ENDED.items():
            if element is not root or attribute != "skipped":  # the schema has no such count of all suites
                element.set(attribute, str(len(element.findall(f".//{result}"))))
    indent(root, space="")
    yield f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def _add_case(suite: Element, case: JUnitCase) -> None:
    classname = xml_text(case.classname or case.suite, _NAME)
    element = SubElement(suite, "testcase", name=xml_text(case.name, _NAME), classname=classname)
    if case.result != "passed":
        message = xml_text(one_line(case.message[: 10 * _MESSAGE], _MESSAGE), _MESSAGE)
        attributes = {"type": xml_text(case.kind or case.result, _MESSAGE), "message": message}
        # GitLab shows the text of the element, not its message.
        lines = filter(None, (message, xml_text(case.text, 5 * _TEXT)))
        SubElement(element, case.result, attributes).text = "\n".join(lines)


def _cases(ended: CommandEnd) -> Iterator[JUnitCase]:
    """Whether all is whole, which is one case, so that no report is empty; then the cases of each run."""
    problem, undone = ended.problem, [saved.run for saved in ended.runs if saved.run.status != "complete"]
    if problem is not None and problem.kind != "GateFailedError":  # each gate is a case of its own
        yield JUnitCase("run", "complete", "error", problem.kind, problem.message, problem.hint or "")
    elif not ended.runs:
        yield JUnitCase("run", "complete", "skipped", message="nothing was asked")
    elif undone:
        message = "; ".join(f"run {run.id} is {run.status}" for run in undone)
        yield JUnitCase("run", "complete", "error", "incomplete", message)
    else:
        yield JUnitCase("run", "complete")
    for saved in ended.runs:
        yield from _of_run(saved, f"{saved.run.name}." if len(ended.runs) > 1 else "", lenient=ended.lenient)


def group_of(gate: str, run: EvalRun) -> str:
    """The group of the metric that a condition is on; "score" of the weighted score, "other" of what is unknown."""
    name = re.split(r"\W", gate, maxsplit=1)[0]
    metric = run.scorecard.find(name) or known_metric(name)
    return SCORE if name == SCORE else "other" if metric is None else metric.group.value


def _of_run(saved: SavedRun, prefix: str, *, lenient: bool) -> Iterator[JUnitCase]:
    results = {"met": "passed", "not met": "failure", "not enough evidence": "skipped" if lenient else "failure"}
    for gate in saved.run.gates:
        suite = f"{prefix}gates.{group_of(gate.gate, saved.run)}"
        yield JUnitCase(suite, gate.gate, results[gate.outcome], gate.outcome, gate.message)
    if saved.run.is_unscored:
        return
    yield from _of_questions(saved, prefix)
    for metric in saved.run.scorecard.metrics:
        if metric.value is None:
            suite, reason = f"{prefix}metrics.{metric.group.value}", metric.reason or "there is no value"
            yield JUnitCase(suite, metric.name, "skipped", "not measured", reason)


def _of_questions(saved: SavedRun, prefix: str) -> Iterator[JUnitCase]:
    """The questions that went wrong."""
    counts = [count for count in count_outcomes(saved.results) if count.outcome in WENT_WRONG]
    rows = [(count.outcome, row) for count in counts for row in count.rows]
    for outcome, row in rows[:MOST_QUESTIONS]:
        record = saved.record(row)
        error = record.response.error if record.response is not None else None
        kind = outcome.value if error is None else f"{error.kind}{f' {error.status}' if error.status else ''}"
        result = "error" if outcome is Outcome.FAILED else "failure"
        suite, classname = f"{prefix}questions.{outcome.value}", f"{prefix}questions.{record.question.dataset}"
        text = "\n".join(f"{title}: {xml_text(text, _TEXT)}" for title, text in exchange_of(record).items())
        yield JUnitCase(suite, record.question.id, result, kind, saved.ending(record).why, text, classname)
    if (rest := len(rows) - MOST_QUESTIONS) > 0:
        more = f"{counted(rest, 'more question')} went wrong: `evals show {saved.run.id}` lists them all"
        yield JUnitCase(f"{prefix}questions.more", "more questions", "failure", "more", more)
