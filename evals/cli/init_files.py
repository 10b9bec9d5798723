"""A first configuration as the text of a file, in which comments say what each key does and what its default is."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import Any

from evals.datasets.file import read_file
from evals.report.wording import one_line
from evals.run.probing.fields import flow, section_text
from evals.run.probing.guess import Doubt
from evals.schemas.dataset import EvalQuestion

_LONGEST = 500


_SERVER = {
    "profile": "kind of server, which says how it is asked and read (default: rag-server); none: only what stands here",
    "url": "its address (default: RAG_SERVER_URL of the environment, else http://localhost:8001)",
    "headers": "sent with each request; ${NAME} is taken from the environment (default: those of the profile)",
    "health": "a GET that answers 2xx when the server is ready (default: that of the profile)",
    "ask": "the request with a question in it, and when a 200 is an answer (default: that of the profile)",
    "stream": "how an answer that comes in pieces is put together (default: that of the profile)",
    "map": "where the parts of an answer stand, as JMESPath (default: those of the profile)",
    "citations": "what the answer cites, by list or marks, and the number of the first chunk (default: auto, base 1)",
}

_NO_COLUMNS = "# columns: {}                     # which column is which field, such as {question: Frage}\n"


_FILE_KEYS = """\
# samples_per_dataset: default    # of your own file all, of a dataset 100; a number, or 0 for all
# seed: 42                        # of the draw; the same seed draws the same questions
"""


_SERVER_KEYS = """\
  # timeout_s: 120.0              # for a whole answer
  # patience_s: 60                # wait so long for a server that refuses for now (429, 503)
  # max_body_bytes: 16777216      # a longer body is a failure
"""


_RUN_KEYS = """\
# How it is asked
# concurrency: 4                  # questions in flight
# rps: null                       # at most so many requests start in a second
# max_attempts: 3                 # how often a question is asked before it counts as failed
# warmup: 1                       # questions asked first, recorded and unscored
# repeats: 1                      # how often each question is asked, for how stable answers are
# ingest: false                   # upload the documents of the questions first
# preflight: true                 # stop where the server holds none of the documents that the questions are about
# max_error_rate: 0.1             # with more failures than this the run is partial, and the exit code 4

# What is measured
# suite: null                     # [core]; `evals metrics` lists the suites
# metrics: []                     # metrics by name, beside those of the suites
# gate: []                        # such as "recall_at_5>=0.8"; where one fails the exit code is 1
"""


_JUDGE_KEYS = """\
  # model: claude-sonnet-5-5      # openai:NAME is of another provider; docs/judge.md
  # max_cost_usd: null            # no call starts that it does not hold the cost of
"""


_END = """\
# name: null                      # of the run; "eval-<id>" where null
# runs_dir: data/eval_runs        # where runs are saved
"""


@dataclass(frozen=True, slots=True)
class FirstConfig:
    """What is known.

    Attributes:
        path: Where the file will stand.
        server: The keys of `server`.
        questions: The file of questions; None for the golden set.
        judged: Whether an LLM judge takes part.
        doubts: What of the server's keys is a guess.
        columns: By field, the column of the file that holds it, where its name does not say so.
    """

    path: Path
    server: Mapping[str, Any]
    questions: Path | None
    judged: bool
    doubts: Sequence[Doubt] = field(default_factory=list)
    columns: Mapping[str, str] = field(default_factory=dict)

    def command(self, name: str) -> str:
        """A command of `evals` that takes the file."""
        return f"evals {name} --config {quote(str(self.path))}"


def config_text(config: FirstConfig) -> str:
    """The text of the file: keys that were chosen as they are, others with their defaults as comments."""
    return "\n".join(
        [
            f"# Evaluate:    {config.command('eval')}\n# Look first:  {config.command('doctor')}\n"
            '# A line such as "# seed: 42" shows a key with its default: take the first "# " away to set it.\n'
            "# docs/configuration.md has every key.\n",
            f"{_questions(config)}{_columns(config)}{_FILE_KEYS}",
            f"{''.join(_server_lines(config))}{_SERVER_KEYS}",
            _RUN_KEYS,
            f"{_judge(judged=config.judged)}{_JUDGE_KEYS}",
            _END,
        ]
    )


def _questions(config: FirstConfig) -> str:
    if config.questions is None:
        return (
            "# Questions on the documents of an invented insurer, shipped with evals; the server must hold these\n"
            "datasets: [golden]    # default: ragbench\n"
        )
    return (
        "# The questions: a row each, of which only `question` is required; docs/datasets.md has the other columns\n"
        f"dataset_file: {flow(str(config.questions))}    # default: none, which asks `datasets`\n"
    )


def _columns(config: FirstConfig) -> str:
    return f"columns: {flow(config.columns)}    # which column is which field\n" if config.columns else _NO_COLUMNS


def _server_lines(config: FirstConfig) -> Iterator[str]:
    """The section with a comment above each key; what is a guess stands above all of it."""
    first, *lines = section_text(config.server).splitlines()
    yield "# The server that is asked; docs/profiles.md\n"
    for doubt in config.doubts:
        yield _comment(f"guess {doubt.key}: {doubt.chosen} ({doubt.why})" if doubt.chosen else f"guess: {doubt.why}")
        yield from (_comment(f"  or {other}") for other in doubt.others)
    yield f"{first}\n"
    for line in lines:
        about = _SERVER.get(line.strip().partition(":")[0]) if not line.startswith("    ") else None
        yield f"  # {about}\n{line}\n" if about else f"{line}\n"


def _comment(text: str) -> str:
    """A text of a server as one line of YAML, whatever characters it holds."""
    return f"# {one_line(text, _LONGEST)}\n"


def _judge(*, judged: bool) -> str:
    return (
        "# An LLM judge measures generation, and costs money: `evals eval --dry-run` estimates how much\n"
        f"judge:\n  enabled: {flow(judged)}    # default: true\n"
    )


# A first file of questions: what somebody typed, or rows to be filled in.


UNANSWERABLE = "-"
"""Typed for an answer: the documents hold none."""


_LONGEST_QUESTION = 10_000
"""Bytes of a file that are read to see whether it is the template."""

_HOW = "how_to_fill"

_SHOWN = 3


_TEMPLATE = (
    {
        "question": "",
        "expected_answer": "",
        "gold_passages": "",
        "is_unanswerable": False,
        _HOW: "question: one that a document answers. expected_answer: the answer. gold_passages: a sentence of the "
        "document that says so, as it stands there: retrieval is measured by it. Then delete how_to_fill.",
    },
    {
        "question": "",
        "expected_answer": "",
        _HOW: "question: one of which you know the answer, but not where it stands: a judge compares answers. Leave "
        "expected_answer empty where you do not know that either.",
    },
    {
        "question": "",
        "is_unanswerable": True,
        _HOW: "question: one that no document answers: whether the server declines is measured. More rows are more "
        "evidence; a row without a question is refused, so delete what you do not fill.",
    },
)


def typed_row(question: str, answer: str = "", passage: str = "") -> dict[str, Any]:
    """A row of what somebody typed: what was left out is not known, and is not written. What has an answer has one.

    Args:
        question: What is asked.
        answer: The expected answer; "-" where the documents hold none.
        passage: A sentence of the documents that holds the answer.
    """
    if answer == UNANSWERABLE:
        return {"question": question, "is_unanswerable": True}
    known = {key: value for key, value in (("expected_answer", answer), ("gold_passages", passage)) if value}
    return {"question": question, **known, **({"is_unanswerable": False} if known else {})}


def rows_text(rows: Iterable[dict[str, Any]]) -> str:
    """Rows as JSONL."""
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)


def template_text() -> str:
    """Three rows that say how they are filled in; without a question, so that none is asked or scored as it is."""
    return rows_text(_TEMPLATE)


def is_template(path: Path) -> bool:
    """Whether a file holds nothing but rows that say how they are filled in, and no question yet."""
    try:
        with path.open("rb") as file:
            rows = [json.loads(line) for line in file.read(_LONGEST_QUESTION).splitlines()]
    except (OSError, ValueError, RecursionError):
        return False
    return bool(rows) and all(isinstance(row, dict) and _HOW in row and not row.get("question") for row in rows)


def first_questions(path: Path, columns: Mapping[str, str]) -> list[str]:
    """The questions of a file that show the most of a server: the first that name a gold, else the first of all.

    Args:
        path: The file.
        columns: By field, the column that holds it, where its name does not say so.

    Raises:
        DatasetError: The file cannot be read, or a row is wrong: the message names row and column.
    """
    return _first(read_file(path, columns).questions)


def _first(questions: Sequence[EvalQuestion]) -> list[str]:
    told = islice((each.question for each in questions if each.gold_passages), _SHOWN)
    return list(told) or [questions[0].question]
