"""`junit`: gates, questions that ended wrong and what was not measured, as test cases that every CI can read."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal
from xml.etree.ElementTree import Element, SubElement, tostring

from evals.report.ci import Checked, CommandEnd, CommandProblem, fails, group_of
from evals.report.wording import one_line, plain, shortened
from evals.schemas.results import EvalRecord, MetricSummary
from evals.schemas.run_parts import GateOutcome
from evals.scoring.conclusion import Measured
from evals.scoring.diagnosis.outcome import Finding
from evals.scoring.diagnosis.stages import Link
from evals.scoring.digest import BrokenLink
from evals.text.numbers import counted

# Foreign text that may stand in XML.


_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 (section 2.2) has no room for, escaped or not: most control characters, half surrogate pairs."""


def xml_text(text: str, limit: int) -> str:
    """Text that XML can hold, without what steers a terminal or turns its direction, cut at so many characters.

    Escaping is left to the writer of the XML. A replacement character stands for each character that may not be there.
    """
    return _ILLEGAL.sub("\N{REPLACEMENT CHARACTER}", shortened(plain(text[: 2 * limit]), limit))


MOST_QUESTIONS = 5_000
"""So many questions are listed: with texts cut, some 20 MB."""


_NAME, _MESSAGE, _TEXT = 200, 500, 1_000
"""Characters of a name, of a message, and of one of the texts of a question."""


_READ = 10 * _MESSAGE
"""No more of a message is looked at."""

Result = Literal["passed", "failure", "error", "skipped"]


_RESULTS: dict[Link, Result] = {Link.TRANSPORT: "error", Link.JUDGE_COULD_NOT_TELL: "skipped"}
"""Of a question, by its first broken link: a failure where nothing else is said."""


_GROUPS = {
    Link.TRANSPORT: "transport",
    Link.CORPUS: "retrieval",
    Link.NOT_RETRIEVED: "retrieval",
    Link.PART_RETRIEVED: "retrieval",
    Link.BELOW_K: "retrieval",
    Link.SHOULD_HAVE_ABSTAINED: "abstention",
    Link.WRONG_ABSTENTION: "abstention",
    Link.CONTRADICTS_REFERENCE: "generation",
    Link.NO_MATCH_BY_WORDS: "generation",
    Link.UNUSED: "generation",
    Link.WRONG_CITATION: "citation",
    Link.PARTLY_CORRECT: "generation",
    Link.JUDGE_COULD_NOT_TELL: "generation",
}


@dataclass(frozen=True, slots=True)
class JUnitCase:
    """One case.

    Attributes:
        name: What it is about.
        classname: What it belongs to; with the name it is the same from run to run.
        result: How it ended.
        kind: Of what kind the failure or error is.
        message: Why, in a sentence.
        text: What else there is to know.
    """

    name: str
    classname: str
    result: Result = "passed"
    kind: str = ""
    message: str = ""
    text: str = ""


@dataclass(frozen=True)
class JUnitSuite:
    """Cases that belong together; they are made as they are written.

    Attributes:
        name: Of the suite.
        results: How many cases ended how.
        cases: The cases.
    """

    name: str
    results: Counter[Result]
    cases: Iterable[JUnitCase]


def to_junit(measured: Measured) -> Iterator[str]:
    """A saved run with the gates that it was made with."""
    yield from junit_of(CommandEnd([Checked(measured, measured.run.gates)]))


def junit_of(ended: CommandEnd) -> Iterator[str]:
    """What a command found as one JUnit document, piece by piece.

    Suites are `run`, then by group of metrics `gates.GROUP`, `questions.GROUP` (those that ended wrong, by where the
    first link broke) and `metrics.GROUP` (those without a value); of several runs each begins with the run's name.
    """
    suites = [_of_command(ended)]
    for each in ended.runs:
        suites += _of_run(each, f"{each.run.name}." if len(ended.runs) > 1 else "", lenient=ended.lenient)
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield _opened("testsuites", "evals", sum((suite.results for suite in suites), Counter()))
    for suite in suites:
        yield _opened("testsuite", suite.name, suite.results)
        yield from (_case(case) for case in suite.cases)
        yield "</testsuite>\n"
    yield "</testsuites>\n"


def _of_command(ended: CommandEnd) -> JUnitSuite:
    """Whether there is a whole run at all: one case, so that no report is empty."""
    return _suite("run", [_of_problem(ended.problem) or _of_status(ended.runs)])


def _of_problem(problem: CommandProblem | None) -> JUnitCase | None:
    if problem is None or problem.of_gates:
        return None
    return JUnitCase("complete", "run", "error", problem.kind, problem.message, problem.hint or "")


def _of_status(runs: Sequence[Checked]) -> JUnitCase:
    if not runs:
        return JUnitCase("complete", "run", "skipped", message="nothing was asked")
    undone = [f"run {each.run.id} is {each.run.status}" for each in runs if each.run.status != "complete"]
    if undone:
        return JUnitCase("complete", "run", "error", "incomplete", "; ".join(undone))
    return JUnitCase("complete", "run")


def _of_run(checked: Checked, prefix: str, *, lenient: bool) -> Iterator[JUnitSuite]:
    measured = checked.measured
    yield from _by_group(
        f"{prefix}gates.", ((group_of(each.gate, checked.run), _of_gate(each, lenient)) for each in checked.gates)
    )
    if not checked.run.is_unscored:
        yield from _of_questions(measured, f"{prefix}questions.")
        yield from _by_group(
            f"{prefix}metrics.",
            ((each.group.value, _of_metric(each)) for each in checked.run.scorecard.metrics if each.value is None),
        )


def _by_group(prefix: str, cases: Iterable[tuple[str, JUnitCase]]) -> Iterator[JUnitSuite]:
    """A suite for each group, in which cases have the suite as their class."""
    groups: defaultdict[str, list[JUnitCase]] = defaultdict(list)
    for group, case in cases:
        groups[group].append(case)
    for group, found in groups.items():
        name = f"{prefix}{group}"
        yield _suite(name, [JUnitCase(c.name, name, c.result, c.kind, c.message, c.text) for c in found])


def _suite(name: str, cases: Sequence[JUnitCase]) -> JUnitSuite:
    return JUnitSuite(name, Counter(case.result for case in cases), cases)


def _of_gate(outcome: GateOutcome, lenient: bool) -> JUnitCase:
    """Not enough evidence is a failure, unless it is let pass: then nobody can say, and the case is skipped."""
    passed: Result = "passed" if outcome.outcome == "met" else "skipped"
    result: Result = "failure" if fails(outcome, lenient=lenient) else passed
    return JUnitCase(outcome.gate, "", result, outcome.outcome, outcome.message)


def _of_metric(summary: MetricSummary) -> JUnitCase:
    return JUnitCase(summary.name, "", "skipped", "not measured", summary.reason or "there is no value")


def _of_questions(measured: Measured, prefix: str) -> Iterator[JUnitSuite]:
    """The questions that ended wrong: counted first, and read as they are written."""
    groups: defaultdict[str, list[BrokenLink]] = defaultdict(list)
    failures = measured.digest.failures
    for one in islice(failures, MOST_QUESTIONS):
        groups[_GROUPS[one.link]].append(one)
    for group, found in groups.items():
        results: Counter[Result] = Counter(_RESULTS.get(one.link, "failure") for one in found)
        cases = (_of_finding(finding, prefix) for finding in measured.findings(found))
        yield JUnitSuite(f"{prefix}{group}", results, cases)
    rest = len(failures) - MOST_QUESTIONS
    if rest > 0:
        more = f"{counted(rest, 'more question')} ended wrong: `evals show {measured.run.id}` lists them all"
        yield _suite(f"{prefix}more", [JUnitCase("more questions", f"{prefix}more", "failure", "more", more)])


def _of_finding(finding: Finding, prefix: str) -> JUnitCase:
    record = finding.record
    error = record.response.error if record.response is not None else None
    kind = finding.link.value if error is None else f"{error.kind}{f' {error.status}' if error.status else ''}"
    result = _RESULTS.get(finding.link, "failure")
    text = "\n".join(_told(record))
    classname = f"{prefix}{record.question.dataset}"
    return JUnitCase(record.question.id, classname, result, kind, finding.explanation, text)


def _told(record: EvalRecord) -> Iterator[str]:
    question, response = record.question, record.response
    told = {
        "question": question.question,
        "expected": question.expected_answer,
        "answer": response.answer if response is not None else None,
        "error": response.error.message if response is not None and response.error is not None else None,
    }
    yield from (f"{title}: {xml_text(text, _TEXT)}" for title, text in told.items() if text)


def _opened(tag: str, name: str, results: Counter[Result]) -> str:
    """The opening tag of a suite, or of all of them, with its counts."""
    counts = {"failures": results["failure"], "errors": results["error"]}
    if tag == "testsuite":
        counts["skipped"] = results["skipped"]
    figures = {"tests": results.total(), **counts}
    element = Element(tag, {"name": xml_text(name, _NAME), **{key: str(value) for key, value in figures.items()}})
    return f"{tostring(element, encoding='unicode').removesuffix(' />')}>\n"


def _case(case: JUnitCase) -> str:
    element = Element("testcase", {"name": xml_text(case.name, _NAME), "classname": xml_text(case.classname, _NAME)})
    if case.result != "passed":
        attributes = {"type": case.kind or case.result, "message": case.message}
        cut = {key: xml_text(one_line(value[:_READ], _MESSAGE), _MESSAGE) for key, value in attributes.items()}
        # What GitLab shows of a case is the text of the element, and not its message.
        lines = filter(None, (cut["message"], xml_text(case.text, 5 * _TEXT)))
        SubElement(element, case.result, cut).text = "\n".join(lines)
    return f"{tostring(element, encoding='unicode')}\n"
