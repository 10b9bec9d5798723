"""`evals init`: from nothing to a configuration that `evals eval` takes."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evals.cli.commands.server import body_of, choose, pick_allowed, show_reading
from evals.cli.flags import InitFlags
from evals.cli.init_files import (
    UNANSWERABLE,
    FirstConfig,
    config_text,
    first_questions,
    is_template,
    rows_text,
    template_text,
    typed_row,
)
from evals.cli.terminal import ask_line, ask_yes, check_output, clean, console, is_terminal
from evals.client.profile import resolve_spec
from evals.client.spec import check_url
from evals.config import EvalConfig
from evals.datasets.golden import CORPUS as GOLDEN_CORPUS
from evals.datasets.golden import QUESTIONS as GOLDEN_QUESTIONS
from evals.errors import ConfigError, RunInterruptedError, ServerRefusedError
from evals.judges.config import DEFAULT_PROVIDER
from evals.run.probing.fields import Headers, read_headers
from evals.run.probing.guess import Doubt
from evals.run.probing.openapi import Assent
from evals.run.probing.probe import Reached, ask, survey
from evals.run.probing.reading import DEFAULT_QUESTION, Target
from evals.secrets import KEY_VARIABLES
from evals.store.atomic import write_output
from evals.text.refusals.detector import is_abstention
from evals.text.yaml_files import VARIABLE, load_yaml

GOLDEN = "golden"

_QUESTIONS = "questions.jsonl"

_MOST_ASKED = 3

_SAID = 400

_NO_FILE = "--columns are those of a file of yours, and none is named"


_NO_CHUNKS = (
    "no chunks were seen, so that retrieval cannot be measured: where the server sends them, give it documents that "
    "answer the first questions, and repeat this with --force"
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
        url = _url(flags, asks=asks)
        questions = _questions(flags, asks=asks)
        server, doubts = _server(flags, url, headers, questions.first, asks=asks)
        judged = flags.judge if flags.judge is not None else asks and ask_yes(_OF_THE_JUDGE, default=False)
    except KeyboardInterrupt as error:
        raise RunInterruptedError(f"interrupted; {flags.output} was not written") from error
    config = FirstConfig(flags.output, server, questions.file, judged, doubts, questions.columns)
    text = config_text(config)
    EvalConfig.build(load_yaml(text))
    _check_free(flags)
    if questions.to_fill and questions.file is not None:
        write_output(questions.file, template_text().encode())
    write_output(flags.output, text.encode())
    _tell(config, questions, [*headers.variables, *_unset(server, judged=judged)])


_OF_THE_JUDGE = "measure generation by an LLM judge? it needs a key and costs money"


def _check_free(flags: InitFlags) -> None:
    check_output(flags.output)
    if flags.output.exists() and not flags.force:
        raise ConfigError(f"{flags.output} is there already", "name another file with --output, or add --force")


def _url(flags: InitFlags, *, asks: bool) -> str:
    """The address of the server.

    Raises:
        ConfigError: It is not said, is none, or holds a login.
    """
    known = flags.rag_url or os.environ.get("RAG_SERVER_URL")
    if flags.rag_url is None and asks:
        return _typed_url(known or "http://localhost:8001")
    if not known:
        raise ConfigError("it is not said which server to evaluate", "name it with --rag-url http://localhost:8001")
    return _checked_url(known)


def _typed_url(default: str) -> str:
    """What somebody types, until it is a URL."""
    while True:
        try:
            return _checked_url(ask_line("URL of your server", default))
        except ConfigError as error:
            console(sys.stderr).print(clean(f"{error.message}: {error.hint}", _SAID))


def _checked_url(url: str) -> str:
    checked = check_url(url)
    if "@" in checked:
        raise ConfigError("the URL holds a login", 'give it as --header "Authorization: Basic …"')
    return checked


def _questions(flags: InitFlags, *, asks: bool) -> _Questions:
    """The questions that were named, else those of questions.jsonl beside the configuration, else new ones there.

    Raises:
        DatasetError: The file cannot be read.
    """
    beside = flags.output.with_name(_QUESTIONS)
    named = flags.questions or (_named_by_somebody(beside) if asks else None)
    if named == GOLDEN:
        return _of_file(GOLDEN_QUESTIONS, None, flags.columns)
    if named is not None:
        return _of_file(Path(named), Path(named), flags.columns)
    if beside.exists() and not is_template(beside):
        console(sys.stderr).print(f"the questions are those of {beside}, which is there", soft_wrap=True)
        return _of_file(beside, beside, flags.columns)
    if flags.columns is not None:
        raise ConfigError(_NO_FILE, "name it with --questions")
    return _new_questions(beside, _typed() if asks else [])


def _of_file(path: Path, named: Path | None, columns: str | None) -> _Questions:
    """The questions of a file, which the configuration names; of the golden set None.

    Raises:
        ConfigError: Columns are said of no file, or are no pairs of fields and columns.
        DatasetError: The file cannot be read.
    """
    if named is None and columns is not None:
        raise ConfigError(_NO_FILE, "leave --columns out")
    said = EvalConfig.build({"dataset_file": str(path), "columns": columns or {}}).columns
    return _Questions(named, first_questions(path, said), columns=said)


def _named_by_somebody(beside: Path) -> str | None:
    there = f"{beside}, which is there" if beside.exists() else "type them now, or a template"
    return ask_line(f"file of your questions, golden for those shipped with evals, or Enter ({there})") or None


def _new_questions(path: Path, rows: Sequence[dict[str, Any]]) -> _Questions:
    if not rows:
        return _Questions(path, [DEFAULT_QUESTION], to_fill=True)
    write_output(path, rows_text(rows).encode())  # at once: what somebody typed is not lost where the server is
    return _Questions(path, [row["question"] for row in rows[:_MOST_ASKED]])


def _typed() -> list[dict[str, Any]]:
    """Rows of what somebody types, until they type none."""
    rows: dict[str, dict[str, Any]] = {}
    while question := ask_line(f"question {len(rows) + 1}, as a user asks it (Enter: no more)"):
        answer = ask_line(f"  its answer (Enter: not known; {UNANSWERABLE}: your documents hold none)")
        told = answer == UNANSWERABLE
        passage = "" if told else ask_line("  a sentence of a document that says so, word for word (Enter: not known)")
        rows[question] = typed_row(question, answer, passage)
    return list(rows.values())


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
    if asks and not ask_yes(f"look at {url}, and ask it {questions[0]!r}?", default=True):
        raise ConfigError("the kind of server is not known", "name it with --profile; `evals profiles` lists them")
    targets = [Target(url, headers, question, body_of(flags.body)) for question in questions]
    reached = _reached(targets, list if flags.yes else pick_allowed)
    probed = reached.read(choose if asks else lambda _: None)
    show_reading(probed)
    if not probed.response.chunks:
        out.print(_NO_CHUNKS, soft_wrap=True)
    out.print()
    return probed.server, probed.doubts


def _reached(targets: Sequence[Target], assent: Assent) -> Reached:
    """What came of the first question whose answer shows how the server answers, else of the first one.

    An answer that declines has no citations, and often no chunks.

    Raises:
        ServerRefusedError: No question was answered.
        ConfigError: An answer would need an assent that is not given.
    """
    tell, reached = _teller(), list[Reached]()
    found = survey(targets[0], tell)
    for target in targets:
        try:
            latest = ask(found, target, tell, assent)
        except ServerRefusedError:
            if target is targets[-1] and not reached:
                raise
            continue
        if _shows(latest, target.question):
            return latest
        reached.append(latest)
        found = found.only(latest.reader.plan)
        if target is not targets[-1]:
            tell("  the answer declines, or brings no passages: another question may show more")
    return reached[0]


def _shows(reached: Reached, question: str) -> bool:
    """Whether an answer has passages and does not decline."""
    response = reached.read(lambda _: None).response
    return bool(response.chunks) and not is_abstention(response.answer or "", question)


def _teller() -> Callable[[str], None]:
    out = console(sys.stderr)
    return lambda line: out.print(clean(line, _SAID))


def _unset(server: dict[str, Any], *, judged: bool) -> Iterator[str]:
    """The variables that the server's keys and the judge need, and that are not set."""
    found = VARIABLE.finditer(resolve_spec(server).model_dump_json())
    yield from (each[1] for each in found if each[2] is None and not os.environ.get(each[1]))
    keys = KEY_VARIABLES[DEFAULT_PROVIDER]
    if judged and not any(map(os.environ.get, keys)):
        yield keys[0]


def _tell(config: FirstConfig, questions: _Questions, variables: Sequence[str]) -> None:
    """What was written, and the commands to run, in their order."""
    out = console()
    out.print(f"wrote {config.path}", soft_wrap=True)
    if questions.to_fill:
        out.print(f"wrote {questions.file}: fill in its three rows first; each says how", soft_wrap=True)
    elif questions.file is not None:
        out.print(f"questions: {questions.file}", soft_wrap=True)
    out.print("\nrun:")
    for name in dict.fromkeys(variables):
        out.print(f"  export {name}=…", soft_wrap=True)
    if config.questions is None and resolve_spec(config.server).upload is not None:
        out.print(f"  {config.command('ingest')}    # once: the documents of the golden set", soft_wrap=True)
    elif config.questions is None:
        out.print(f"  # once: give your server the documents of {GOLDEN_CORPUS}", soft_wrap=True)
    out.print(f"  {config.command('doctor')}    # is all there that a run needs?", soft_wrap=True)
    out.print(f"  {config.command('eval')}", soft_wrap=True)
