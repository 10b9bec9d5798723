"""A first configuration as the text of a file, in which comments say what each key does and what its default is."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from typing import Any

from evals.run.probing.guess import Doubt
from evals.run.probing.section import flow, section_text
from evals.views.formatting import one_line

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
