"""Commands about a server before it is evaluated: `evals doctor`, `ingest`, `serve`."""

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from shlex import quote

from evals.cli.flags import EvalFlags, IngestFlags, ServeFlags
from evals.cli.measuring import config_layers, observer_for, until_ctrl_c
from evals.cli.parameters import flag_name, refuse_pairs
from evals.cli.terminal import print_result
from evals.client.ingest import Upload, uploads_in, uploads_of
from evals.config import EvalConfig
from evals.errors import ConfigError, EvalsError, RunInterruptedError
from evals.report.elements import TextLine, Tone
from evals.run.corpus import Uploaded, remarks_on, upload_documents
from evals.run.doctor import CheckResult, Health, broken, examine
from evals.run.workload import load_workload
from evals.store.naming import command
from evals.text.numbers import counted, share

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
    print_result([finding._asdict() for finding in findings], map(_shown, findings), flags)
    return next((finding.exit_code for finding in findings if finding.exit_code), 0)


def _shown(finding: CheckResult) -> TextLine:
    hint = f"\n{'':<17}{finding.hint}" if finding.hint else ""
    return TextLine(f"{_MARKS[finding.health]} {finding.part:<15}{finding.said}{hint}", _TONES[finding.health])


# `evals ingest`.


_LONGEST_CHECK = 200


def ingest(flags: IngestFlags) -> None:
    """Give documents to the server, ask it a question about them, and print what came out.

    Raises:
        EvalsError: With the exit code of what went wrong.
    """
    refuse_pairs(flags, ("check", "no_check"))
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
    """The files of a folder, and the longest line of the first of them that is a text."""
    if not folder.is_dir():
        raise ConfigError(f"{folder} is no folder", "name a folder of documents, or --dataset-file for questions")
    documents = uploads_in(folder)
    texts = (file.data().decode("utf-8", "ignore") for file in documents if file.media_type.startswith("text/"))
    line = max(next(texts, "").splitlines(), key=len, default="").strip("#*-= \t")
    return documents, line[:_LONGEST_CHECK] or None


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
