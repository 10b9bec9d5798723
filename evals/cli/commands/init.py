"""`evals init`: from a URL and a file of questions to a configuration that `evals eval` takes."""

import math
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import Any

import yaml

from evals.cli.flags import InitFlags
from evals.cli.terminal import ask_line, ask_yes, check_output, clean, console, is_terminal, say, tell, warn
from evals.client.http import check_url
from evals.client.profile import resolve_spec
from evals.config import EvalConfig
from evals.datasets.base import Draft
from evals.datasets.columns import fields_of_column
from evals.datasets.file import read_file
from evals.datasets.golden import CORPUS as GOLDEN_CORPUS
from evals.datasets.golden import QUESTIONS as GOLDEN_QUESTIONS
from evals.errors import ConfigError, RunInterruptedError
from evals.generate.documents import read_documents
from evals.judges.config import DEFAULT_PROVIDER
from evals.metrics.registry import select
from evals.run.discover import Discovery, Headers, discover
from evals.run.doctor import computable
from evals.schemas.dataset import EvalQuestion
from evals.secrets import KEY_VARIABLES
from evals.store.atomic import write_output
from evals.text.decoding import parse_json
from evals.text.numbers import counted
from evals.text.yaml_files import VARIABLE, load_yaml

GOLDEN = "golden"

_TEMPLATE = Path(__file__).resolve().parents[2] / "data" / "first_questions.jsonl"
"""Rows that say how they are filled in; without a question, so that none is asked or scored as it is."""
_DEFAULT_QUESTION = "What is this about?"
_ASKED, _RAW_SHOWN, _UNREAD_SHOWN, _LOOKED_AT = 3, 1500, 12, 200
_TRUTHS = ("is_answerable", "is_unanswerable")


@dataclass(frozen=True)
class _Questions:
    """The questions: their file (None: the golden set), whether it is to be filled in, and how its columns are read.

    Documents are the folder that the questions will be generated from.
    """

    file: Path | None
    questions: Sequence[EvalQuestion] = ()
    to_fill: bool = False
    columns: Mapping[str, str] = field(default_factory=dict)
    documents: Path | None = None

    @property
    def first(self) -> list[str]:
        """Those that the server is asked: the first with a gold passage, else the first."""
        with_gold = [asked.question for asked in self.questions if asked.gold_passages]
        if with_gold or self.questions:
            return with_gold[:_ASKED] or [self.questions[0].question]
        documents, _ = read_documents(self.documents) if self.documents else ([], [])
        headings = (re.search(r"^#{1,6}[ \t]+(\S[^\n]*)", document.text, re.MULTILINE) for document in documents)
        first = next(filter(None, headings), None)
        return [f"What do I need to know about {first[1].strip()}?" if first else _DEFAULT_QUESTION]


def init(flags: InitFlags) -> None:
    """Write a configuration, and a file of questions where there is none.

    Raises:
        EvalsError: With the exit code of what went wrong; a configuration that exists stays as it is.
    """
    if flags.profile is not None and flags.body is not None:
        raise ConfigError("--body and --profile exclude each other: a profile knows the form of its request")
    check_output(flags.output)
    if flags.output.exists() and not flags.force:
        hint = "run init in a folder of your own, name another file with --output, or overwrite it with --force"
        raise ConfigError(f"{flags.output} already exists", hint)
    asks, headers = is_terminal() and not flags.yes, Headers()
    for header in flags.header or ():
        headers.add(header)
    try:
        url = _url(flags, asks=asks)
        questions = _questions(flags, asks=asks)
        server = _server(flags, url, headers, questions, asks=asks)
        judged = flags.judge
        if judged is None:
            judged = asks and ask_yes("have an LLM judge the answers? it needs a key and costs money", default=False)
    except KeyboardInterrupt as error:
        raise RunInterruptedError(f"interrupted; {flags.output} was not written") from error
    text = _config_text(flags.output, server, questions, judged=judged)
    EvalConfig.build(load_yaml(text))
    if questions.to_fill and questions.file is not None:
        write_output(questions.file, _TEMPLATE.read_bytes())
    write_output(flags.output, text.encode())
    _print_next(flags.output, server, questions, [*headers.variables, *_unset(server, judged=judged)])


def _url(flags: InitFlags, *, asks: bool) -> str:
    """The address of the server.

    Raises:
        ConfigError: It is not given, is none, or holds a login.
    """
    url = flags.rag_url or os.environ.get("RAG_SERVER_URL")
    if flags.rag_url is None and asks:
        url = ask_line("URL that takes the question, such as http://localhost:8000/ask", url or "")
    if not url:
        raise ConfigError("no server is named", "name it with --rag-url http://localhost:8001/query")
    if "@" in check_url(url.partition("?")[0]):
        raise ConfigError("the URL holds a login", 'give it as --header "Authorization: Basic …"')
    return url


# Questions: of a file that is named or exists, or a template to fill in.


def _questions(flags: InitFlags, *, asks: bool) -> _Questions:
    """The questions that were named, else those of questions.jsonl next to the configuration, else new ones there.

    Raises:
        ConfigError: Columns are named without a file, or are no pairs of fields and columns.
        DatasetError: The file cannot be read.
    """
    file = flags.output.with_name("questions.jsonl")
    exists = file.exists() and file.read_bytes() != _TEMPLATE.read_bytes()
    named = flags.questions or ""
    if flags.documents is not None and not (named or exists):
        if not flags.documents.is_dir():
            raise ConfigError(f"{flags.documents} is no folder", "name the folder of the documents with --documents")
        return _Questions(file, documents=flags.documents)
    if asks and not named:
        named = ask_line(f"file of your questions, golden (an example), or Enter for {file}")
    if exists and not named:
        tell(f"using the questions in {file}")
        named = str(file)
    if flags.columns is not None and named in {"", GOLDEN}:
        raise ConfigError("--columns are those of a file of yours, and none is named", "name it with --questions")
    if not named:
        return _Questions(file, to_fill=True)
    if named == GOLDEN:
        return _Questions(None, _read(GOLDEN_QUESTIONS, {}))
    columns = EvalConfig.build({"dataset_file": named, "columns": flags.columns or {}}).columns
    return _Questions(Path(named), _read(Path(named), columns), columns=columns)


def _read(path: Path, columns: Mapping[str, str]) -> Sequence[EvalQuestion]:
    """The questions of a file; what is read of it is printed, with an example for columns that are not."""
    draft = read_file(path, columns)
    marked = sum(question.is_unanswerable is True for question in draft.questions)
    read = f"{counted(len(draft.questions), 'question')} read: {', '.join(draft.columns)}"
    tell(f"{read}; {marked or 'none'} unanswerable")
    for note in draft.notes:
        warn(note)
    if path != GOLDEN_QUESTIONS:
        for line in _column_hints(draft):
            tell(line)
    return draft.questions


def _column_hints(draft: Draft) -> Iterator[str]:
    """What columns that are not read may hold, by their cells; nothing where they fit nothing that is missing."""
    cells: dict[str, list[Any]] = {}
    for question in islice(draft.questions, _LOOKED_AT):
        for column, cell in question.metadata.items():
            cells.setdefault(column, []).append(cell)
    read = {*draft.columns, *(_TRUTHS if {*_TRUTHS} & {*draft.columns} else ())}
    for column, values in cells.items():
        if fields := [name for name in fields_of_column(column, values) if name not in read]:
            keys = " or ".join(_yaml({name: column}, on_one_line=True) for name in fields)
            again = " or ".join(f"--columns {quote(f'{name}={column}')}" for name in fields)
            yield f"  where the column {column} holds what it seems to, run init with {again}, or write columns: {keys}"


# The server: of a profile, or found out by questions.


def _server(flags: InitFlags, url: str, headers: Headers, questions: _Questions, *, asks: bool) -> dict[str, Any]:
    """The keys of `server`.

    Raises:
        EvalsError: No such profile exists, nothing answers, or nothing is understood.
    """
    if flags.profile is not None:
        server = {"profile": flags.profile, "url": url} | ({"headers": headers.written} if headers.written else {})
        resolve_spec(server)
        return server
    if asks and not ask_yes(f"ask {url} the question {questions.first[0]!r}?", default=True):
        raise ConfigError("the kind of server is not known", "name it with --profile; `evals profiles` lists them")

    def login(name: str) -> str | None:
        such_as = ", such as Bearer …" if name == "Authorization" else ""
        prompt = f"the server wants a login: the whole value of its header {name}{such_as} (not shown; Enter: none)"
        given = ask_line(prompt, is_secret=True) if asks else ""
        return f"{name}: {given}" if given else None

    try:
        body = None if flags.body is None else parse_json(flags.body.encode())
    except ValueError as error:
        raise ConfigError("--body is no JSON", 'write it as \'{"question": "{{question}}"}\'') from error
    discovery = discover(url, questions.first, headers, tell, body=body, login=login)
    judged = asks if flags.judge is None else flags.judge  # at a terminal it is asked afterwards
    _show(discovery, questions, judged=judged)
    return discovery.server


def _show(discovery: Discovery, questions: _Questions, *, judged: bool) -> None:
    """The answer, what is read from it and what is not, and which metrics that gives; on stderr."""
    out, response = console(sys.stderr), discovery.response
    out.print("\nthe server sent:")
    out.print(clean(discovery.raw, _RAW_SHOWN))
    out.print("\nread from it:")
    if response.error is not None:
        tell(f"  nothing: {response.error.message}")
    tell(f"  answer: {'not sent' if response.answer is None else repr(response.answer)}")
    tell(f"  chunks: {'not sent' if response.chunks is None else len(response.chunks)}")
    for chunk in (response.chunks or [])[:2]:
        tell(f"    {chunk.model_dump(exclude_none=True)}")
    for part in ("citations", "usage", "model"):
        if (value := getattr(response, part)) is not None:
            tell(f"  {part}: {value}")
    if unread := discovery.unread:
        more = f" and {len(unread) - _UNREAD_SHOWN} more" if len(unread) > _UNREAD_SHOWN else ""
        tell(f"not read: {', '.join(unread[:_UNREAD_SHOWN])}{more}", _RAW_SHOWN)
    for note in discovery.notes:
        out.print(clean(f"! {note}"), soft_wrap=True)  # its lines of YAML are copied as they stand
    if questions.documents is not None:
        return
    settings = EvalConfig.build({"server": discovery.server, "judge": False}).score_settings(judged=judged)
    metrics = computable(select(["core"], []), questions.questions, response, settings)
    tell(f"metrics that these questions and this server give: {', '.join(metrics.names) or 'none'}", _RAW_SHOWN)
    for reason, names in metrics.missing.items():
        tell(f"  not {', '.join(names)}: {reason}", _RAW_SHOWN)
    out.print()


# What is written, and what to do next.


def _yaml(value: Any, *, on_one_line: bool = False) -> str:
    text: str = yaml.safe_dump(
        value, default_flow_style=on_one_line, width=math.inf, allow_unicode=True, sort_keys=False
    )
    return text.rstrip()


def _key_line(key: str, value: Any) -> str:
    """A key with its value on one line."""
    return _yaml({key: value}, on_one_line=True)[1:-1]


def _config_text(path: Path, server: dict[str, Any], questions: _Questions, *, judged: bool) -> str:
    """The configuration: what differs from the defaults, a key a line; of `map`, an expression a line."""
    lines = [f"# Run it: {_command('eval', path)}    (every key: docs/configuration.md)"]
    lines.append("datasets: [golden]" if questions.file is None else _key_line("dataset_file", str(questions.file)))
    lines += [_key_line("columns", dict(questions.columns))] if questions.columns else []
    lines.append("server:")
    for key, value in server.items():
        if key == "map" and isinstance(value, dict):
            lines += ["  map:", *(f"    {_key_line(name, part)}" for name, part in value.items())]
        else:
            lines.append(f"  {_key_line(key, value)}")
    return "\n".join([*lines, _key_line("judge", judged), ""])


def _command(name: str, path: Path) -> str:
    return f"evals {name} --config {quote(str(path))}"


def _unset(server: dict[str, Any], *, judged: bool) -> Iterator[str]:
    """The variables that the server's keys and the judge need, and that are not set."""
    variables = VARIABLE.finditer(resolve_spec(server).model_dump_json())
    yield from (variable[1] for variable in variables if variable[2] is None and not os.environ.get(variable[1]))
    keys = KEY_VARIABLES[DEFAULT_PROVIDER]
    if judged and not any(map(os.environ.get, keys)):
        yield keys[0]


def _print_next(path: Path, server: dict[str, Any], questions: _Questions, variables: Sequence[str]) -> None:
    """What was written, and the commands to run, in their order."""
    lines = [f"wrote {path}"]
    if questions.to_fill:
        lines.append(f"wrote {questions.file}: fill in its three rows first; each says how")
    elif questions.file is not None and questions.documents is None:
        lines.append(f"questions: {questions.file}")
    lines += ["\nrun:", *(f"  export {name}=…" for name in dict.fromkeys(variables))]
    if questions.file is None and resolve_spec(server).upload is not None:
        lines.append(f"  {_command('ingest', path)}    # once: the documents of the golden set")
    elif questions.file is None:
        lines.append(f"  # once: give your server the documents of {GOLDEN_CORPUS}")
    if questions.documents is not None:
        folder = quote(str(questions.documents))
        generate = f"  evals generate {folder} -n 20 -o drafts.jsonl --config {quote(str(path))}"
        lines += [
            f"  {_command(f'ingest {folder}', path)}    # once, if your server takes uploads",
            f"{generate} --dry-run    # what it will cost",
            generate,
            "  evals review drafts.jsonl    # a sheet, in which you keep, edit or drop each question",
            f"  evals review drafts.jsonl --apply drafts-review.csv -o {quote(str(questions.file))}",
        ]
    say(*lines, f"  {_command('doctor', path)}    # checks that a run would work", f"  {_command('eval', path)}")
