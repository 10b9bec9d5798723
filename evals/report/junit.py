"""`junit`: gates, questions that ended wrong and what was not measured, as test cases that every CI can read."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from evals.report.ci import Checked, CommandEnd, CommandProblem, fails, group_of
from evals.report.overview import PLACES
from evals.report.wording import one_line, plain, shortened
from evals.schemas.results import EvalRecord
from evals.scoring.conclusion import Measured
from evals.scoring.diagnosis.stages import Link
from evals.text.numbers import counted

_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 (section 2.2) has no room for, escaped or not: most control characters, half surrogate pairs."""

MOST_QUESTIONS = 5_000
"""This many questions are listed: with texts cut, some 20 MB."""

_NAME, _MESSAGE, _TEXT = 200, 500, 1_000
"""Characters of a name, of a message, and of one of the texts of a question."""

_READ = 10 * _MESSAGE
"""No more of a message is looked at."""

_RESULTS = {Link.TRANSPORT: "error", Link.JUDGE_COULD_NOT_TELL: "skipped"}
"""Of a question, by its first broken link: a failure where nothing else is said."""


class JUnitCase(NamedTuple):
    """One case.

    Attributes:
        suite: The suite that it stands in.
        name: What it is about.
        result: How it ended: passed, failure, error or skipped.
        kind: Of what kind the failure or error is.
        message: Why, in a sentence.
        text: What else there is to know.
        classname: What it belongs to, where that is not its suite; with the name it is the same from run to run.
    """

    suite: str
    name: str
    result: str = "passed"
    kind: str = ""
    message: str = ""
    text: str = ""
    classname: str = ""


def xml_text(text: str, limit: int) -> str:
    """Text that XML can hold, without what steers a terminal or turns its direction, cut at this many characters.

    Escaping is left to the writer of the XML. A replacement character stands for each character that may not be there.
    """
    return _ILLEGAL.sub("\N{REPLACEMENT CHARACTER}", shortened(plain(text[: 2 * limit]), limit))


def to_junit(measured: Measured) -> Iterator[str]:
    """A saved run with the gates that it was made with."""
    return junit_of(CommandEnd([Checked(measured, measured.run.gates)]))


def junit_of(ended: CommandEnd) -> Iterator[str]:
    """What a command found as one JUnit document, suite by suite.

    Suites are `run`, then by group of metrics `gates.GROUP`, `questions.GROUP` (those that ended wrong, by where the
    first link broke) and `metrics.GROUP` (those without a value); of several runs each begins with the run's name.
    """
    cases = [_of_command(ended.problem, ended.runs)]
    for each in ended.runs:
        cases += _of_run(each, f"{each.run.name}." if len(ended.runs) > 1 else "", lenient=ended.lenient)
    suites: dict[str, list[JUnitCase]] = {}
    for case in cases:
        suites.setdefault(case.suite, []).append(case)
    root = Element("testsuites", {"name": "evals", **_counts(cases)})
    for name, its in suites.items():
        skipped = str(sum(case.result == "skipped" for case in its))
        suite = SubElement(root, "testsuite", {"name": xml_text(name, _NAME), **_counts(its), "skipped": skipped})
        for case in its:
            _add_case(suite, case)
    indent(root, space="")
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield tostring(root, encoding="unicode")
    yield "\n"


def _counts(cases: Sequence[JUnitCase]) -> dict[str, str]:
    results = Counter(case.result for case in cases)
    figures = {"tests": len(cases), "failures": results["failure"], "errors": results["error"]}
    return {name: str(figure) for name, figure in figures.items()}


def _add_case(suite: Element, case: JUnitCase) -> None:
    classname = xml_text(case.classname or case.suite, _NAME)
    element = SubElement(suite, "testcase", name=xml_text(case.name, _NAME), classname=classname)
    if case.result != "passed":
        attributes = {"type": case.kind or case.result, "message": case.message}
        cut = {key: xml_text(one_line(value[:_READ], _MESSAGE), _MESSAGE) for key, value in attributes.items()}
        # What GitLab shows of a case is the text of the element, and not its message.
        lines = filter(None, (cut["message"], xml_text(case.text, 5 * _TEXT)))
        SubElement(element, case.result, cut).text = "\n".join(lines)


def _of_command(problem: CommandProblem | None, runs: Sequence[Checked]) -> JUnitCase:
    """Whether there is a whole run at all: one case, so that no report is empty."""
    if problem is not None and not problem.of_gates:
        return JUnitCase("run", "complete", "error", problem.kind, problem.message, problem.hint or "")
    if not runs:
        return JUnitCase("run", "complete", "skipped", message="nothing was asked")
    undone = [f"run {each.run.id} is {each.run.status}" for each in runs if each.run.status != "complete"]
    if undone:
        return JUnitCase("run", "complete", "error", "incomplete", "; ".join(undone))
    return JUnitCase("run", "complete")


def _of_run(checked: Checked, prefix: str, *, lenient: bool) -> Iterator[JUnitCase]:
    for gate in checked.gates:
        # Without enough evidence nobody can say: where that is let pass, the case is skipped.
        result = "failure" if fails(gate, lenient=lenient) else "passed" if gate.outcome == "met" else "skipped"
        suite = f"{prefix}gates.{group_of(gate.gate, checked.run)}"
        yield JUnitCase(suite, gate.gate, result, gate.outcome, gate.message)
    if checked.run.is_unscored:
        return
    yield from _of_questions(checked.measured, prefix)
    for metric in checked.run.scorecard.metrics:
        if metric.value is None:
            suite, reason = f"{prefix}metrics.{metric.group.value}", metric.reason or "there is no value"
            yield JUnitCase(suite, metric.name, "skipped", "not measured", reason)


def _of_questions(measured: Measured, prefix: str) -> Iterator[JUnitCase]:
    """The questions that ended wrong."""
    failures = measured.digest.failures
    for finding in measured.findings(failures[:MOST_QUESTIONS]):
        record, suite = finding.record, f"{prefix}questions.{PLACES[finding.link][1]}"
        error = record.response.error if record.response is not None else None
        kind = finding.link.value if error is None else f"{error.kind}{f' {error.status}' if error.status else ''}"
        result, classname = _RESULTS.get(finding.link, "failure"), f"{prefix}questions.{record.question.dataset}"
        yield JUnitCase(suite, record.question.id, result, kind, finding.explanation, _facts(record), classname)
    rest = len(failures) - MOST_QUESTIONS
    if rest > 0:
        more = f"{counted(rest, 'more question')} went wrong: `evals show {measured.run.id}` lists them all"
        yield JUnitCase(f"{prefix}questions.more", "more questions", "failure", "more", more)


def _facts(record: EvalRecord) -> str:
    question, response = record.question, record.response
    told = {
        "question": question.question,
        "expected": question.expected_answer,
        "answer": response.answer if response is not None else None,
        "error": response.error.message if response is not None and response.error is not None else None,
    }
    return "\n".join(f"{title}: {xml_text(text, _TEXT)}" for title, text in told.items() if text)
