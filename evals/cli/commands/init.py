"""`evals init`: from nothing to a configuration that `evals eval` takes."""

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import Any, TypeVar

from jinja2 import Template

from evals.cli.commands.server import body_of, choose, guess_lines, pick_allowed, show_reading
from evals.cli.flags import InitFlags
from evals.cli.terminal import ask_line, ask_yes, check_output, console, is_terminal, say_error, tell
from evals.client.http import check_url
from evals.client.profile import resolve_spec
from evals.config import EvalConfig
from evals.datasets.file import read_file
from evals.datasets.golden import CORPUS as GOLDEN_CORPUS
from evals.datasets.golden import QUESTIONS as GOLDEN_QUESTIONS
from evals.errors import ConfigError, DatasetError, EvalsError, RunInterruptedError, ServerError, ServerRefusedError
from evals.judges.config import DEFAULT_PROVIDER
from evals.report.wording import one_line
from evals.run.probing.fields import Headers, flow, read_headers, section_text
from evals.run.probing.guess import Doubt
from evals.run.probing.plans import Assent
from evals.run.probing.probe import ask, survey
from evals.run.probing.reading import DEFAULT_QUESTION, AnswerReader, Target
from evals.secrets import KEY_VARIABLES
from evals.store.atomic import write_output
from evals.text.numbers import counted
from evals.text.refusals.detector import is_abstention
from evals.text.yaml_files import VARIABLE, load_yaml

_DATA = Path(__file__).resolve().parents[2] / "data"

_CONFIG = _DATA / "first_config.yml"

_ROWS = _DATA / "first_questions.jsonl"
"""Rows that say how they are filled in; without a question, so that none is asked or scored as it is."""

GOLDEN = "golden"

_QUESTIONS = "questions.jsonl"

_UNANSWERABLE = "-"
"""Typed for an answer: the documents hold none."""

_MOST_ASKED, _COMMENT = 3, 500

_OF_THE_JUDGE = "have an LLM judge the answers? it needs a key and costs money"


_NO_CHUNKS = (
    "no chunks were sent, so retrieval cannot be measured; if the server can send chunks, upload documents that answer "
    "the first questions, and run init again with --force"
)


@dataclass(frozen=True)
class _Questions:
    """Where the questions come from.

    Attributes:
        file: None for the golden set.
        first: Those that the server is asked, one after the other until an answer shows how it answers.
        to_fill: Whether the file is a template, which is written with the configuration.
        columns: By field, the column of the file that holds it, where its name does not say so.
    """

    file: Path | None
    first: Sequence[str]
    to_fill: bool = False
    columns: Mapping[str, str] = field(default_factory=dict)


def init(flags: InitFlags) -> None:
    """Write a configuration, and a file of questions where there is none.

    Raises:
        EvalsError: With the exit code of what went wrong; a configuration that is there is left as it is.
    """
    if flags.profile is not None and flags.body is not None:
        raise ConfigError("--body and --profile exclude each other: a profile knows the form of its request")
    _check_free(flags)
    asks = is_terminal() and not flags.yes
    headers = read_headers(flags.header or [])
    try:
        questions, (server, doubts) = _found(flags, headers, asks=asks)
        judged = flags.judge if flags.judge is not None else asks and ask_yes(_OF_THE_JUDGE, default=False)
    except KeyboardInterrupt as error:
        raise RunInterruptedError(f"interrupted; {flags.output} was not written") from error
    text = _config_text(flags.output, server, questions, doubts, judged=judged)
    EvalConfig.build(load_yaml(text))
    if questions.to_fill and questions.file is not None:
        write_output(questions.file, _ROWS.read_bytes())
    write_output(flags.output, text.encode())
    _print_next(flags.output, server, questions, [*headers.variables, *_unset(server, judged=judged)])


def _found(flags: InitFlags, headers: Headers, *, asks: bool) -> tuple[_Questions, tuple[dict[str, Any], list[Doubt]]]:
    """The questions, and the server with what of it is a guess."""
    asks_url = asks and flags.rag_url is None
    urls = iter([_again(lambda: _url(flags, asks=asks), ConfigError, asks=asks_url)])
    questions = _again(lambda: _questions(flags, asks=asks), DatasetError, asks=asks and not flags.questions)

    def server() -> tuple[dict[str, Any], list[Doubt]]:
        return _server(flags, next(urls, "") or _url(flags, asks=asks), headers, questions.first, asks=asks)

    return questions, _again(server, ServerError, asks=asks_url)


_T = TypeVar("_T")


def _again(step: Callable[[], _T], kind: type[EvalsError], *, asks: bool) -> _T:
    """Take a step, again after an error of this kind where somebody can type something else, at most three times."""
    for _ in range(2 if asks else 0):
        try:
            return step()
        except kind as error:
            say_error(error)
    return step()


def _check_free(flags: InitFlags) -> None:
    check_output(flags.output)
    if flags.output.exists() and not flags.force:
        hint = "run init in a folder of your own, name another file with --output, or overwrite it with --force"
        raise ConfigError(f"{flags.output} already exists", hint)


def _url(flags: InitFlags, *, asks: bool) -> str:
    """The address of the server.

    Raises:
        ConfigError: It is not said, is none, or holds a login.
    """
    url = flags.rag_url or os.environ.get("RAG_SERVER_URL")
    if flags.rag_url is None and asks:
        url = ask_line("URL that takes the question, such as http://localhost:8000/ask", url or "")
    if not url:
        raise ConfigError("no server is named", "name it with --rag-url http://localhost:8001")
    checked = check_url(url)
    if "@" in checked:
        raise ConfigError("the URL holds a login", 'give it as --header "Authorization: Basic …"')
    return checked


# Questions: of a file that is named or there, typed, or a template to fill in.


def _questions(flags: InitFlags, *, asks: bool) -> _Questions:
    """The questions that were named, else those of questions.jsonl next to the configuration, else new ones there.

    Raises:
        ConfigError: Columns are said of no file, or are no pairs of fields and columns.
        DatasetError: The file cannot be read.
    """
    beside = flags.output.with_name(_QUESTIONS)
    named = _named_file(flags, beside, asks=asks)
    if flags.columns is not None and named in ("", GOLDEN):
        raise ConfigError("--columns are those of a file of yours, and none is named", "name it with --questions")
    if named == GOLDEN:
        return _Questions(None, _first_questions(GOLDEN_QUESTIONS, {}))
    if named:
        columns = EvalConfig.build({"dataset_file": named, "columns": flags.columns or {}}).columns
        return _Questions(Path(named), _first_questions(Path(named), columns), columns=columns)
    rows = _typed_rows() if asks else []
    if not rows:
        return _Questions(beside, [DEFAULT_QUESTION], to_fill=True)
    lines = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    write_output(beside, lines.encode())  # at once: what somebody typed is not lost where the server is
    return _Questions(beside, [row["question"] for row in rows[:_MOST_ASKED]])


def _named_file(flags: InitFlags, beside: Path, *, asks: bool) -> str:
    """What was named, or is there; empty where there are no questions yet."""
    is_there = beside.exists() and beside.read_bytes() != _ROWS.read_bytes()
    named = flags.questions or ""
    if asks and not named:
        way = f"for {beside}" if is_there else "to type some"
        named = ask_line(f"file of your questions, golden (an example), or Enter {way}")
    if is_there and not named:
        console(sys.stderr).print(f"using the questions in {beside}", soft_wrap=True)
        return str(beside)
    return named


def _first_questions(path: Path, columns: Mapping[str, str]) -> list[str]:
    """The questions of a file that show the most of a server: the first that name a gold, else the first of all."""
    draft = read_file(path, columns)
    questions, marked = draft.questions, sum(each.is_unanswerable is True for each in draft.questions)
    read = f"{counted(len(questions), 'question')} read: {', '.join(draft.columns)}"
    tell(f"{read}; {marked or 'none'} marked unanswerable (is_unanswerable)")
    for note in draft.notes:
        tell(f"! {note}")
    with_gold = islice((each.question for each in questions if each.gold_passages), _MOST_ASKED)
    return list(with_gold) or [questions[0].question]


def _typed_rows() -> list[dict[str, Any]]:
    """Rows of what somebody types, until they type none; what is left out is not known, and is not written."""
    rows: list[dict[str, Any]] = []
    while question := ask_line(f"question {len(rows) + 1}, as a user asks it (Enter: no more)"):
        row: dict[str, Any] = {"question": question}
        answer = ask_line(f"  its answer (Enter: not known; {_UNANSWERABLE}: your documents hold none)")
        if answer != _UNANSWERABLE:
            passage = ask_line("  a sentence of a document that says so, word for word (Enter: not known)")
            row |= {key: text for key, text in (("expected_answer", answer), ("gold_passages", passage)) if text}
        if answer == _UNANSWERABLE or len(row) > 1:
            row["is_unanswerable"] = answer == _UNANSWERABLE
        rows.append(row)
    return rows


# The server: of a profile, or found out by questions.


def _server(
    flags: InitFlags, url: str, headers: Headers, questions: Sequence[str], *, asks: bool
) -> tuple[dict[str, Any], list[Doubt]]:
    """The keys of `server`, and what of them is a guess: of the profile that was named, else found out by a question.

    Raises:
        EvalsError: There is no such profile, nothing answers, or nothing is understood.
    """
    if flags.profile is not None:
        written = {"headers": dict(headers.written)} if headers.written else {}
        server = {"profile": flags.profile, "url": url, **written}
        resolve_spec(server)
        return server, []
    out = console(sys.stderr)
    if asks:
        tell(f"first question: {questions[0]}")
    if asks and not ask_yes(f"look at {url}, and ask it this question?", default=True):
        raise ConfigError("the kind of server is not known", "name it with --profile; `evals profiles` lists them")
    targets = [Target(url, headers, question, body_of(flags.body)) for question in questions]
    probed = _reached(targets, list if flags.yes else pick_allowed).read(choose if asks else lambda _: None)
    show_reading(probed)
    if not probed.response.chunks:
        out.print(_NO_CHUNKS, soft_wrap=True)
    out.print()
    return probed.server, probed.doubts


def _reached(targets: Sequence[Target], assent: Assent) -> AnswerReader:
    """What came of the first question whose answer shows how the server answers, else of the first one.

    An answer that declines has no citations, and often no chunks.

    Raises:
        ServerRefusedError: No question was answered.
        ConfigError: An answer would need an assent that is not given.
    """
    first: AnswerReader | None = None
    refused: ServerRefusedError | None = None
    found = survey(targets[0], tell)
    for target in targets:
        try:
            latest = ask(found, target, tell, assent)
        except ServerRefusedError as error:
            refused = error
            continue
        response = latest.read(lambda _: None).response
        if response.chunks and not is_abstention(response.answer or "", target.question):
            return latest
        tell("  it declined or sent no passages: trying the next question")
        first = first or latest
        found = found.only(latest.plan)
    if first is None:
        raise refused or ServerRefusedError("no question was asked")
    return first


# What is written, and what to do next.


def _config_text(
    path: Path, server: Mapping[str, Any], questions: _Questions, doubts: Sequence[Doubt], *, judged: bool
) -> str:
    """The text of the file: keys that were chosen as they are, others with their defaults as comments."""
    text: str = Template(_CONFIG.read_text(encoding="utf-8"), trim_blocks=True, keep_trailing_newline=True).render(
        eval=_command("eval", path),
        doctor=_command("doctor", path),
        questions=questions,
        flow=flow,
        guesses=[one_line(line, _COMMENT) for doubt in doubts for line in guess_lines(doubt)],
        server=section_text(server),
        judged=flow(judged),
    )
    return text


def _command(name: str, path: Path) -> str:
    """A command that takes the file."""
    return f"evals {name} --config {quote(str(path))}"


def _unset(server: dict[str, Any], *, judged: bool) -> Iterator[str]:
    """The variables that the server's keys and the judge need, and that are not set."""
    found = VARIABLE.finditer(resolve_spec(server).model_dump_json())
    yield from (each[1] for each in found if each[2] is None and not os.environ.get(each[1]))
    keys = KEY_VARIABLES[DEFAULT_PROVIDER]
    if judged and not any(map(os.environ.get, keys)):
        yield keys[0]


def _print_next(path: Path, server: dict[str, Any], questions: _Questions, variables: Sequence[str]) -> None:
    """What was written, and the commands to run, in their order."""
    lines = [f"wrote {path}"]
    if questions.file is not None:
        to_fill = "wrote {}: fill in its three rows first; each says how"
        lines.append((to_fill if questions.to_fill else "questions: {}").format(questions.file))
    lines += ["\nrun:", *(f"  export {name}=…" for name in dict.fromkeys(variables))]
    if questions.file is None and resolve_spec(server).upload is not None:
        lines.append(f"  {_command('ingest', path)}    # once: the documents of the golden set")
    elif questions.file is None:
        lines.append(f"  # once: give your server the documents of {GOLDEN_CORPUS}")
    lines += [f"  {_command('doctor', path)}    # checks that a run would work", f"  {_command('eval', path)}"]
    for line in lines:
        console().print(line, soft_wrap=True)
