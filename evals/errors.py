"""What can go wrong, as a tree, with the exit code of each branch.

    EvalsError                     2
    ├── ConfigError                2   wrong usage, option, key or value
    │   ├── UnknownNameError       2   a name that does not exist; says the nearest that does
    │   └── CorpusMissingError     2   the server does not hold the documents the questions are about
    ├── DatasetError               2   rows that cannot be loaded or read
    │   └── HubUnreachableError    2   the dataset hub cannot be reached and the cache is empty
    ├── JudgeError                 2   the judge cannot be used (no key, refused key)
    ├── EngineError                2   the cluster cannot be used (no scheduler, no worker left)
    ├── ServerError                3   the RAG server, before any question was answered
    │   ├── ServerUnreachableError 3   nothing answers at the URL
    │   └── ServerRefusedError     3   something answers, but not as a RAG server should
    ├── IngestError                3   the server did not take the documents
    ├── StoreError                 4   a run cannot be written or read (disk full)
    │   ├── UnwritableError        2   a place that cannot be written at all was named
    │   ├── TrackerError           4   a tracker of experiments does not take a run
    │   └── RunNotFoundError       2   no saved run, or more than one, has this id
    ├── RunIncompleteError         4   no answer at all, too many failures (`max_error_rate`), server gone, the judge's
    │                                  budget spent, too many of its decisions lost (`judge.max_error_rate`), or saved
    │                                  answers missing
    ├── RunInterruptedError      130   somebody pressed Ctrl-C; what was answered is saved
    └── GateFailedError            1   a threshold or a comparison was not met, or there was not enough evidence for it

A question the server fails to answer raises nothing: it becomes a `ResponseError` in its record.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

EXIT_OK = 0

EXIT_INTERNAL = 70

EXIT_INTERRUPTED = 130


class EvalsError(Exception):
    """The base of all errors that a user can cause or correct.

    Args:
        message: One sentence that names the thing that is wrong.
        hint: The way out, as something to do.
    """

    exit_code = 2
    mask: ClassVar[Callable[[str], str]] = staticmethod(str)
    """Takes out of a message what is secret; replaced when there is something (`secrets.remember`)."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        message, hint = EvalsError.mask(message), EvalsError.mask(hint) if hint else None
        super().__init__(message)
        self.message = message
        self.hint = hint
        if hint:
            self.add_note(hint)


class ConfigError(EvalsError):
    """Wrong usage: an option, a configuration key or a value.

    Attributes:
        key: The key of the configuration that is wrong, with those above it; empty where it is none.
    """

    key: str = ""

    def stands(self, place: str) -> None:
        """Say where the key stands: in which file, line and column."""
        self.message = f"{self.message} ({place})"
        self.args = (self.message,)


_LISTED, _AT_MOST, _NEAREST, _NEAR = 8, 40, 5, 0.4
"""More names than the first are not listed whole where some are near, and more than the second never; of such many the
nearest are named, those at least this like the name given."""


class UnknownNameError(ConfigError):
    """A name that does not exist.

    Args:
        kind: What was named, for example "metric".
        name: The name as given.
        known: Every valid name.
        section: What the name stands in, such as "judge" for the key "judge.model"; the message names it too.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str], *, section: str = "") -> None:
        names = sorted(set(known))
        by_lower = {each.lower(): each for each in names}
        near = [by_lower[each] for each in get_close_matches(name.lower(), by_lower, n=_NEAREST, cutoff=_NEAR)]
        hint = f"did you mean {near[0]!r}? " if near else ""
        if len(names) <= (_LISTED if near else _AT_MOST):
            listed = f"known: {', '.join(names)}"
        else:
            listed = f"{'nearest' if near else 'some'} of {len(names)}: {', '.join(near or names[:_NEAREST])}"
        whole = f"{section}.{name}" if section else name
        super().__init__(f"unknown {kind} {whole!r}", f"{hint}{listed}")


class CorpusMissingError(ConfigError):
    """The server holds none of the documents that the questions are about."""


class DatasetError(EvalsError):
    """A dataset that cannot be loaded, or rows that cannot be read."""


class HubUnreachableError(DatasetError):
    """The dataset hub cannot be reached and the rows are not in the local cache."""


class JudgeError(EvalsError):
    """The judge cannot be used at all; a single failed judgement is a record, not this."""


class EngineError(EvalsError):
    """The cluster that asks and embeds cannot be used; one lost worker is a note, not this."""


class ServerError(EvalsError):
    """The RAG server, before it answered any question."""

    exit_code = 3


class ServerUnreachableError(ServerError):
    """Nothing answers at the URL."""


class ServerRefusedError(ServerError):
    """Something answers, but it refuses us or is no RAG server of this profile."""


class IngestError(ServerError):
    """The server did not take the documents."""


class StoreError(EvalsError):
    """A run cannot be written or read."""

    exit_code = 4


class UnwritableError(StoreError):
    """A file or folder was named that cannot be written at all: no disk that filled up, but wrong usage."""

    exit_code = 2


class TrackerError(StoreError):
    """A tracker of experiments does not take a run, which is saved all the same."""


class RunNotFoundError(StoreError):
    """No saved run, or more than one, has this id or prefix."""

    exit_code = 2


class RunIncompleteError(EvalsError):
    """The run is partial or failed; what was answered is saved.

    That is: no answer at all, too many failures (`max_error_rate`), server gone, the judge's budget spent, too many of
    its decisions lost (`judge.max_error_rate`), or saved answers missing.
    """

    exit_code = 4


class RunInterruptedError(EvalsError):
    """Somebody ended the run; what was answered is saved."""

    exit_code = EXIT_INTERRUPTED


class GateFailedError(EvalsError):
    """A threshold or a comparison was not met, or there was not enough evidence for it."""

    exit_code = 1


# What other packages add by entry points: each is loaded by itself, so that a broken one breaks no other.


def load_plugin(point: "EntryPoint", error_class: type[EvalsError] = ConfigError) -> Any:
    """What an entry point names.

    Args:
        point: The entry point.
        error_class: What is raised where it cannot be loaded.

    Raises:
        EvalsError: It cannot be loaded; the message names the package that it is from.
    """
    try:
        return point.load()
    except Exception as error:  # foreign code may raise anything; it is raised again, with the package named
        raise broken_plugin(point, f"cannot be loaded: {type(error).__name__}: {error}", error_class) from error


def broken_plugin(point: "EntryPoint", what: str, error_class: type[EvalsError] = ConfigError) -> EvalsError:
    """The error for a plug-in that is of no use.

    Args:
        point: Its entry point.
        what: What is wrong with it, to follow its name.
        error_class: The class of the error.
    """
    package = point.dist.name if point.dist else None
    owner = f" of the package {package}" if package else ""
    hint = f"repair the package or remove it: pip uninstall {package}" if package else f"it names {point.value}"
    return error_class(f"plug-in {point.name!r}{owner} {what}", hint)


# What earlier versions had and this one has not: each ends with exit code 2 and the sentence that says what to use. To
# withdraw something, add a row: a command by its name, a flag by its long name, a key of the configuration by its path.

WITHDRAWN_COMMANDS: Mapping[str, str] = {
    "probe": "use `evals init`, which asks the server and writes the configuration",
    "rubric": "try it on a few answers: evals rescore RUN --metrics NAME --max-cost 0.05",
}
WITHDRAWN_FLAGS: Mapping[str, str] = {
    "--tracing": "spans of OpenTelemetry are no longer sent",
    "--engine": "use --dask local",
    "--scheduler": "use --dask ADDRESS",
    "--workers": "use --dask local, or start the workers yourself and use --dask ADDRESS",
    "--jobs": "answers are scored in one process",
    "--no-fail": "use `evals gate` for the exit code, or `|| true`",
    "--no-ci": "unset CI and GITHUB_ACTIONS",
    "--failures": "use `evals show --failed`",
    "--matching": "use `evals show RUN --question ID`",
    "--baseline-dir": "name the baseline: --baseline RUN, with --runs-dir where it is in another folder",
    "--alone": "resume all variants, or ask the one anew",
    "--retry-lost": "resume the run: a lost reply is never kept",
    "--label": "write your opinions into the sheet of `evals review`",
    "--yes": "leave it out: `init` asks nothing but a login that the server refuses",
    "-y": "leave it out: `init` asks nothing but a login that the server refuses",
    "--annotator": "write the label that people agree on into the sheet of `evals review`",
}
WITHDRAWN_FORMATS: Mapping[str, str] = {
    "beir": "csv, parquet and json have questions, gold and chunks",
    "deepeval": "csv, parquet and json have questions, gold and chunks; ragas stays",
    "trec-topics": "csv has the questions; trec-run and trec-qrels stay",
    "parquet-metrics": "parquet has a row a question with its values",
    "review": "`evals review` writes the sheet",
}
WITHDRAWN_FILES: Mapping[str, str] = {
    "promptfoo": "write a table with the columns question and expected_answer (docs/datasets.md)",
    "TREC topics": "write a table with the columns id and question, or a folder as BEIR has it (docs/datasets.md)",
}
WITHDRAWN_KEYS: Mapping[str, str] = {
    "tracing": "delete it: spans of OpenTelemetry are no longer sent",
    "engine": "write `dask: local`, or `dask: ADDRESS`, or nothing",
    "load": "run once for each concurrency and compare the runs",
    "cluster": "write `scoring: {cluster: KEY}`",
    "judge.retry_lost": "delete it: a lost reply is never kept",
    "server.transport": "a server is asked in one way; a proxy over SOCKS 5 needs pip install 'rag-evals[socks]'",
    "server.max_chunks": "lists of chunks are read whole; server.max_body_bytes bounds an answer",
}


def withdrawn_word(words: Sequence[str]) -> ConfigError | None:
    """The error for the first withdrawn command or flag on a command line; None: it has none."""
    if words and words[0] in WITHDRAWN_COMMANDS:
        return ConfigError(f"there is no command {words[0]!r} any more", WITHDRAWN_COMMANDS[words[0]])
    flag = next((name for word in words if (name := word.partition("=")[0]) in WITHDRAWN_FLAGS), None)
    return ConfigError(f"there is no flag {flag} any more", WITHDRAWN_FLAGS[flag]) if flag else None


def withdrawn_format(name: str) -> ConfigError | None:
    """The error for a withdrawn format of export; None: it is none."""
    instead = WITHDRAWN_FORMATS.get(name)
    return ConfigError(f"there is no format {name!r} any more", instead) if instead else None


def withdrawn_file(form: str, where: str) -> DatasetError:
    """The error for a file of questions in a withdrawn form."""
    return DatasetError(f"{where}: files of {form} are not read any more", WITHDRAWN_FILES[form])


def without_withdrawn(config: Mapping[str, Any], section: str = "") -> dict[str, Any]:
    """The configuration of a saved run without withdrawn keys, so that the run can still be scored and continued."""
    kept = {key: value for key, value in config.items() if f"{section}{key}" not in WITHDRAWN_KEYS}
    sections = {path.rpartition(".")[0] for path in WITHDRAWN_KEYS}
    return {
        key: without_withdrawn(value, f"{section}{key}.")
        if f"{section}{key}" in sections and isinstance(value, Mapping)
        else value
        for key, value in kept.items()
    }


def withdrawn_key(path: str) -> ConfigError | None:
    """The error for a withdrawn key, or for a key below it; None: it is none."""
    while path:
        if path in WITHDRAWN_KEYS:
            return ConfigError(f"there is no configuration key {path!r} any more", WITHDRAWN_KEYS[path])
        path = path.rpartition(".")[0]
    return None
