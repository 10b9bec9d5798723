"""Commands about a server before it is evaluated: `evals init`, `doctor`, `ingest`, `serve`."""

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain
from pathlib import Path
from shlex import quote
from typing import Any

from evals.cli.flags import EvalFlags, IngestFlags, InitFlags, ServeFlags, flag_name
from evals.cli.measuring import config_layers, observer_for, until_ctrl_c
from evals.cli.terminal import ask_secret, check_output, clean, console, print_result, say, tell, warn
from evals.client.http import check_url
from evals.client.ingest import Upload, uploads_in, uploads_of
from evals.client.profile import resolve_spec
from evals.config import EvalConfig
from evals.datasets import golden
from evals.datasets.file import read_file
from evals.errors import ConfigError, EvalsError, RunInterruptedError
from evals.generate.documents import read_documents
from evals.judges.config import DEFAULT_PROVIDER
from evals.metrics.registry import select
from evals.report.elements import TextLine, Tone
from evals.run.corpus import Uploaded, remarks_on, upload_documents
from evals.run.discover import Discovery, Headers, config_text, discover, key_line
from evals.run.doctor import CheckResult, Health, broken, computable, examine
from evals.run.guess import column_hints
from evals.run.workload import load_workload
from evals.schemas.dataset import EvalQuestion
from evals.secrets import KEY_VARIABLES
from evals.store.atomic import write_output
from evals.store.runs import command
from evals.text.decoding import parse_json
from evals.text.numbers import counted, listed, share
from evals.text.yaml_files import VARIABLE, load_yaml

_TEMPLATE = Path(__file__).resolve().parents[2] / "data" / "first_questions.jsonl"
"""Rows that say how they are filled in; without a question, so that none is asked or scored as it is."""
_ASKED, _RAW_SHOWN, _UNREAD_SHOWN = 3, 1500, 12


@dataclass(frozen=True)
class _Questions:
    """The questions: their file (None: the golden set), and how its columns are read.

    Documents are the folder that the questions will be generated from; without either, the file is to be filled in.
    """

    file: Path | None
    questions: Sequence[EvalQuestion] = ()
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
        return [f"What do I need to know about {first[1].strip()}?" if first else "What is this about?"]


def init(flags: InitFlags) -> None:
    """Write a configuration, and a file of questions where there is none.

    Raises:
        EvalsError: With the exit code of what went wrong; a configuration that exists stays as it is.
    """
    flags.refuse_pairs(("profile", "body"), ("questions", "documents"))
    check_output(flags.output)
    if flags.output.exists() and not flags.force:
        hint = "run init in a folder of your own, name another file with --output, or overwrite it with --force"
        raise ConfigError(f"{flags.output} already exists", hint)
    url, headers = flags.rag_url or os.environ.get("RAG_SERVER_URL"), Headers()
    if not url:
        raise ConfigError("no server is named", "name it with --rag-url http://localhost:8001/query")
    if "@" in check_url(url.partition("?")[0]):
        raise ConfigError("the URL holds a login", 'give it as --header "Authorization: Basic …"')
    for header in flags.header or ():
        headers.add(header)
    questions = _questions(flags)
    server = _server(flags, url, headers, questions)
    head = f"# Run it: {_command('eval', flags)}    (every key: docs/configuration.md)"
    text = config_text(head, questions.file, questions.columns, server, judge=flags.judge)
    EvalConfig.build(load_yaml(text))
    if questions.file is not None and not (questions.questions or questions.documents):
        write_output(questions.file, _TEMPLATE.read_bytes())
    write_output(flags.output, text.encode())
    say(*_next_lines(flags, server, questions, [*headers.variables, *_unset(server, judged=flags.judge)]))


# Questions: of a file that is named or exists, or a template to fill in.


def _questions(flags: InitFlags) -> _Questions:
    """The questions that were named, else those of questions.jsonl next to the configuration, else new ones there.

    Raises:
        ConfigError: Columns are named without a file, or are no pairs of fields and columns.
        DatasetError: The file cannot be read.
    """
    file = flags.output.with_name("questions.jsonl")
    named = flags.questions or ""
    if not named and file.exists() and file.read_bytes() != _TEMPLATE.read_bytes():
        tell(f"using the questions in {file}")
        named = str(file)
    if flags.columns is not None and named in {"", "golden"}:
        raise ConfigError("--columns are those of a file of yours, and none is named", "name it with --questions")
    if named == "golden":
        return _Questions(None, _read(golden.QUESTIONS, {}))
    if named:
        columns = EvalConfig.build({"dataset_file": named, "columns": flags.columns or {}}).columns
        return _Questions(Path(named), _read(Path(named), columns), columns=columns)
    if flags.documents is not None and not flags.documents.is_dir():
        raise ConfigError(f"{flags.documents} is no folder", "name the folder of the documents with --documents")
    return _Questions(file, documents=flags.documents)


def _read(path: Path, columns: Mapping[str, str]) -> Sequence[EvalQuestion]:
    """The questions of a file; what is read of it is printed, with an example for columns that are not."""
    draft = read_file(path, columns)
    marked = sum(question.is_unanswerable is True for question in draft.questions)
    read = f"{counted(len(draft.questions), 'question')} read: {', '.join(draft.columns)}"
    tell(f"{read}; {marked or 'none'} unanswerable")
    for note in draft.notes:
        warn(note)
    for column, fields in column_hints(draft.columns, draft.questions) if path != golden.QUESTIONS else ():
        keys = " or ".join(f"{{{key_line(name, column)}}}" for name in fields)
        again = " or ".join(f"--columns {quote(f'{name}={column}')}" for name in fields)
        tell(f"  where the column {column} holds what it seems to, run init with {again}, or write columns: {keys}")
    return draft.questions


# The server: of a profile, or found out by questions.


def _server(flags: InitFlags, url: str, headers: Headers, questions: _Questions) -> dict[str, Any]:
    """The keys of `server`.

    Raises:
        EvalsError: No such profile exists, nothing answers, or nothing is understood.
    """
    if flags.profile is not None:
        server = {"profile": flags.profile, "url": url} | ({"headers": headers.written} if headers.written else {})
        resolve_spec(server)
        return server
    try:
        body = None if flags.body is None else parse_json(flags.body.encode())
    except ValueError as error:
        raise ConfigError("--body is no JSON", 'write it as \'{"question": "{{question}}"}\'') from error
    discovery = discover(url, questions.first, headers, tell, body=body, login=_typed_header)
    _show(discovery, questions, judged=flags.judge)
    return discovery.server


def _typed_header(name: str) -> str | None:
    such_as = ", such as Bearer …" if name == "Authorization" else ""
    typed = ask_secret(f"the server wants a login: the whole value of its header {name}{such_as}")
    return f"{name}: {typed}" if typed else None


def _show(discovery: Discovery, questions: _Questions, *, judged: bool) -> None:
    """The answer, what is read from it and what is not, and which metrics that gives; on stderr."""
    out, response = console(sys.stderr), discovery.response
    out.print("\nthe server sent:", clean(discovery.raw, _RAW_SHOWN), "\nread from it:", sep="\n")
    if response.error is not None:
        tell(f"  nothing: {response.error.message}")
    read = {"answer": response.answer, "chunks": None if response.chunks is None else len(response.chunks)}
    read |= response.model_dump(include={"citations", "usage", "model"}, exclude_none=True)
    tell(*(f"  {name}: {'not sent' if value is None else repr(value)}" for name, value in read.items()))
    tell(*(f"    {chunk.model_dump(exclude_none=True)}" for chunk in (response.chunks or [])[:2]))
    if discovery.unread:
        tell(f"not read: {listed(discovery.unread, _UNREAD_SHOWN)}", limit=_RAW_SHOWN)
    for note in discovery.notes:
        out.print(clean(f"! {note}"), soft_wrap=True)  # its lines of YAML are copied as they stand
    if questions.documents is None:
        settings = EvalConfig.build({"server": discovery.server, "judge": False}).score_settings(judged=judged)
        metrics = computable(select(["core"], []), questions.questions, response, settings)
        given = f"metrics that these questions and this server give: {', '.join(metrics.names) or 'none'}"
        tell(given, *(f"  not {reason}" for reason in metrics.reasons), limit=_RAW_SHOWN)


# What is written, and what to do next.


def _command(words: str, flags: InitFlags) -> str:
    return f"evals {words} --config {quote(str(flags.output))}"


def _unset(server: dict[str, Any], *, judged: bool) -> Iterator[str]:
    """The variables that the server's keys and the judge need, and that are not set."""
    variables = VARIABLE.finditer(resolve_spec(server).model_dump_json())
    yield from (variable[1] for variable in variables if variable[2] is None and not os.environ.get(variable[1]))
    keys = KEY_VARIABLES[DEFAULT_PROVIDER]
    if judged and not any(map(os.environ.get, keys)):
        yield keys[0]


def _next_lines(
    flags: InitFlags, server: dict[str, Any], questions: _Questions, variables: Sequence[str]
) -> Iterator[str]:
    """What was written, and the commands to run, in their order."""
    yield f"wrote {flags.output}"
    if questions.file is not None and questions.questions:
        yield f"questions: {questions.file}"
    elif questions.file is not None and questions.documents is None:
        yield f"wrote {questions.file}: fill in its three rows first; each says how"
    yield "\nrun:"
    yield from (f"  export {name}=…" for name in dict.fromkeys(variables))
    if questions.file is None and resolve_spec(server).upload is not None:
        yield f"  {_command('ingest', flags)}    # once: the documents of the golden set"
    elif questions.file is None:
        yield f"  # once: give your server the documents of {golden.CORPUS}"
    if questions.documents is not None:
        folder = quote(str(questions.documents))
        generate = _command(f"generate {folder} -n 20 -o drafts.jsonl", flags)
        yield f"  {_command(f'ingest {folder}', flags)}    # once, if your server takes uploads"
        yield f"  {generate} --dry-run    # what it will cost"
        yield f"  {generate}"
        yield "  evals review drafts.jsonl    # a sheet, in which you keep, edit or drop each question"
        yield f"  evals review drafts.jsonl --apply drafts-review.csv -o {quote(str(questions.file))}"
    yield f"  {_command('doctor', flags)}    # checks that a run would work"
    yield f"  {_command('eval', flags)}"


# `evals doctor`.


_MARKS: Mapping[Health, str] = {"well": "✓", "doubtful": "!", "broken": "✗", "unseen": "·"}
_TONES: Mapping[Health, Tone] = {"well": "", "doubtful": "doubtful", "broken": "bad", "unseen": "faint"}


def doctor(flags: EvalFlags) -> int:
    """Look at every part that a run needs, and say what to do about what is wrong.

    Returns:
        The exit code of the first part by which a run would end; 0 where none is.
    """
    try:
        config = EvalConfig.build(*config_layers(flags))
    except EvalsError as error:
        findings = [broken("configuration", error)]
    else:
        work = examine(config, observer_for(flags), str(flags.config or "no file"))
        findings = until_ctrl_c(work, lambda: RunInterruptedError("interrupted; nothing was changed"))
    print_result([finding._asdict() for finding in findings], map(_finding_line, findings), flags)
    return next((finding.exit_code for finding in findings if finding.exit_code), 0)


def _finding_line(finding: CheckResult) -> TextLine:
    hint = f"\n{'':<17}{finding.hint}" if finding.hint else ""
    return TextLine(f"{_MARKS[finding.health]} {finding.part:<15}{finding.said}{hint}", _TONES[finding.health])


# `evals ingest`.


def ingest(flags: IngestFlags) -> None:
    """Give documents to the server, ask it a question about them, and print what came out.

    Raises:
        EvalsError: With the exit code of what went wrong.
    """
    flags.refuse_pairs(("check", "no_check"))
    if flags.check is not None and not flags.check.strip():
        raise ConfigError("--check is empty")
    config = EvalConfig.build(*config_layers(flags))
    documents, question = _of_folder(flags.folder) if flags.folder else _of_datasets(config)
    work = upload_documents(config, documents, observer_for(flags), None if flags.no_check else flags.check or question)
    again = "give the same command again: nothing is uploaded twice"
    done = until_ctrl_c(work, lambda: RunInterruptedError("interrupted; what was uploaded is noted", again))
    data = {**asdict(done.report), "check": done.check and done.check._asdict()}
    steps = (TextLine(step, whole=True) for step in _next_steps(flags, config))
    print_result(data, chain(_uploaded_lines(done), steps), flags)


def _of_folder(folder: Path) -> tuple[list[Upload], str | None]:
    """The files of a folder, and of the longest line of the first text among them 200 characters at most."""
    documents = uploads_in(folder)
    texts = (file.data().decode("utf-8", "ignore") for file in documents if file.media_type.startswith("text/"))
    line = max(next(texts, "").splitlines(), key=len, default="").strip("#*-= \t")
    return documents, line[:200] or None


def _of_datasets(config: EvalConfig) -> tuple[list[Upload], str | None]:
    """The documents of the datasets, and the first question that names its gold."""
    workload = load_workload(config)
    if not workload.documents:
        raise ConfigError(
            "there are no documents to ingest: these questions come without a corpus",
            "name a folder of documents, or add `documents` to the JSON file of questions",
        )
    with_gold = (asked.question for asked in workload.questions if asked.gold_passages)
    return uploads_of(workload.documents), next(with_gold, None)


def _uploaded_lines(done: Uploaded) -> Iterator[str]:
    report, check = done.report, done.check
    yield from (f"· {remark}" for remark in remarks_on(report))
    total = report.uploaded + report.already_there + len(report.unconfirmed)
    yield f"uploaded {share(report.uploaded, total, 'document')}"
    if check is None:
        yield "no question was asked to see that they are found"
    elif check.chunks is None:
        yield f"asked {check.question!r}: the server sends no chunks, so what it found is not known"
    else:
        ours = f"{check.of_these} of {counted(check.chunks, 'chunk')}"
        yield f"asked {check.question!r}: {ours} are of these documents"


def _next_steps(flags: IngestFlags, config: EvalConfig) -> Iterator[str]:
    """The commands that evaluate the server: documents of a folder need questions about them first."""
    given = flags.given() | ({"config": flags.config} if flags.config else {})
    words = [f"{flag_name(name)} {quote(str(value))}" for name, value in given.items() if name != "runs_dir"]
    if flags.folder is not None and not {"dataset_file", "datasets"} & config.model_fields_set:
        kind = f" --profile {quote(flags.profile)}" if flags.profile else ""
        init = f"evals init --rag-url {quote(config.rag_server_url)}{kind}"
        yield f"questions about these documents: {init}    # writes questions.jsonl to fill in"
        words.append("--dataset-file questions.jsonl")
    words += [] if flags.config else ["--no-judge"]
    yield f"evaluate: {command(' '.join(['eval', *words]), config.runs_dir)}"


# `evals serve`: the reference server in place of this process.


def serve(flags: ServeFlags) -> None:
    """Become the reference server; it is never imported by the rest, so it is started like any other program.

    It says where it listens when it does; where it cannot, it says why and ends with exit code 2.
    """
    arguments = ["--host", flags.host, "--port", str(flags.port), "--corpus", flags.corpus, "--greet"]
    arguments += [f"--allow-host={name}" for name in flags.allow_host or ()]
    os.execv(sys.executable, [sys.executable, "-m", "evals.reference_server", *arguments])  # noqa: S606 - our own module
