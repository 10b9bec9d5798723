"""Evaluations as tests of pytest: see docs/pytest.md.

    from evals.testing import assert_metric

    def test_retrieval(rag_run):
        assert_metric(rag_run, "recall_at_5", at_least=0.8, low=True)

pytest loads the plugin by its entry point in every project in which evals is installed: nothing is imported here, and
little by the plugin, until a test wants it.
"""

import asyncio
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Self

import pytest
from filelock import FileLock

from evals.client.rag_client import RAGClient
from evals.config import EvalConfig
from evals.datasets.file import read_file
from evals.errors import ConfigError, EvalsError
from evals.report.wording import interval, number, value
from evals.run.observer import Observer
from evals.runner import EvaluationRunner, run_evaluation
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse
from evals.schemas.results import EvalRecord, EvalRun, MetricSummary
from evals.scoring.gates import Gate
from evals.scoring.outcomes import ending_of
from evals.scoring.settings import settings_of
from evals.store.runs import RunStore
from evals.text.foreign import shortened
from evals.text.numbers import counted

# A client for tests that are not asynchronous: one question at a time.


class RagClient:
    """Asks the configured server; an embedded one is started and given the documents of the datasets.

    It has an event loop of its own, in which all its work is done.

    Args:
        config: Of the server.

    Raises:
        EvalsError: On entering: the server is not there, or is not healthy.
    """

    def __init__(self, config: EvalConfig) -> None:
        self._config = config
        self._loop = asyncio.Runner()
        self._stack = AsyncExitStack()

    def __enter__(self) -> Self:
        try:
            self._client = self._loop.run(self._open())
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        with self._loop:
            self._loop.run(self._stack.aclose())

    async def _open(self) -> RAGClient:
        runner = EvaluationRunner(self._config, Observer())
        client = (await runner.connect(self._stack)).client
        if self._config.embedded or self._config.ingest:
            await runner.upload(client, await runner.load())
        return client

    def ask(self, question: str) -> EvalResponse:
        """Ask one question. What the server does never raises: a failure is in the response's `error`."""
        return self._loop.run(self._client.ask(question))

    def answer(self, question: EvalQuestion) -> EvalResponse:
        """The same for a question of a dataset, which may be a conversation."""
        if not question.turns:
            return self.ask(question.question)
        return self._loop.run(self._client.converse(question.turns))


# The configuration of an evaluation within pytest.


_SAMPLES = 5


def configured(config: pytest.Config) -> EvalConfig:
    """What --eval-config or the ini key `eval_config` names, with --eval-samples laid over it.

    Where neither is there: a few golden questions, without a judge, asked of RAG_SERVER_URL or the embedded server.

    Raises:
        ConfigError: The file cannot be read, or a key of it is wrong.
    """
    samples = config.getoption("--eval-samples")
    over: dict[str, Any] = {} if samples is None else {"samples_per_dataset": samples}
    option, ini = config.getoption("--eval-config"), config.getini("eval_config")
    if option:  # from where pytest was started; the ini key from where the ini file stands
        return EvalConfig.from_file(_existing(config.invocation_params.dir / option, "--eval-config"), over)
    if ini:
        folder = config.inipath.parent if config.inipath else config.rootpath
        return EvalConfig.from_file(_existing(folder / ini, "eval_config"), over)
    url = os.environ.get("RAG_SERVER_URL")
    server: dict[str, Any] = {"rag_server_url": url} if url else {"embedded": True}
    return EvalConfig.build({"datasets": ["golden"], "samples_per_dataset": _SAMPLES, "judge": False, **server}, over)


def _existing(path: Path, key: str) -> Path:
    if not path.is_file():
        raise ConfigError(f"{key}: there is no file {path}", "name the configuration of the evaluation")
    return path


# `assert_metric`: a threshold, with a message that says what to look at.


_WORST = 5

_LENGTH = 100


def assert_metric(
    run: EvalRun,
    metric: str,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    low: bool = False,
    high: bool = False,
) -> None:
    """Fail unless a metric of a run keeps to its limits.

    Args:
        run: A run that was saved or loaded.
        metric: Its name, such as recall_at_5.
        at_least: The least that it may be, in the metric's unit; quality is from 0 to 1.
        at_most: The most that it may be.
        low: Whether the lower end of the interval, not the value, is to be `at_least` so much.
        high: Whether the upper end is to be `at_most` so much.

    Raises:
        AssertionError: It does not, or it has no value; the message shows value, interval, over how many questions it
            is, and the worst of them with what went wrong.
        UnknownNameError: The run has no such metric; the message names the nearest.
        ConfigError: No limit is given, or an end of the interval without the limit that it is for.
    """
    __tracebackhide__ = True
    if at_least is None and at_most is None:
        raise ConfigError("assert_metric has no limit", "give at_least or at_most")
    if (low and at_least is None) or (high and at_most is None):
        raise ConfigError("low goes with at_least, and high with at_most", "give the limit that the end is for")
    summary = run.scorecard.get(metric)
    limits = ((">=", at_least, low), ("<=", at_most, high))
    checked = [Gate(metric, sign, limit, at_end).check(run) for sign, limit, at_end in limits if limit is not None]
    problems = [f"{each.gate}: {each.message}" for each in checked if each.outcome != "met"]
    if problems:
        raise AssertionError("\n".join([*problems, *_facts(run, summary)]))


def _facts(run: EvalRun, summary: MetricSummary) -> Iterator[str]:
    yield f"  value {value(summary)}, interval {interval(summary)}"
    counts = summary.counts
    lost = [(name, getattr(counts, name)) for name in ("transport", "judge", "injection", "fault")]
    told = "".join(f", {count} lost ({name})" for name, count in lost if count)
    over = f"{summary.sample_size} of {counted(run.question_count, 'question')}"
    yield f"  over {over}, {counts.not_applicable} to which it does not apply{told}"
    if run.path is not None:
        yield from _worst(run.records(), run, summary)
        yield f"  evals show {run.id} --runs-dir {run.path.parent}"


def _worst(records: Sequence[EvalRecord], run: EvalRun, summary: MetricSummary) -> Iterator[str]:
    """The questions of the worst values, with what went wrong first; none if it is not stated what is better."""
    sign = {True: 1, False: -1, None: 0}[summary.higher_is_better]
    known = [
        (sign * score.value, place)
        for place, record in enumerate(records)
        for score in record.scores
        if sign and score.name == summary.name and score.value is not None
    ]
    settings = settings_of(run)
    yield from ["  worst questions:"] if known else []
    for worth, place in sorted(known)[:_WORST]:
        record = records[place]
        ending = ending_of(settings.sample_of(record), record.scores)
        asked, why = shortened(record.question.question, _LENGTH), f": {ending.why}" if ending.why else ""
        yield f"    {number(sign * worth, summary.unit)}  {record.question.id}  {asked}{why}"


# `@pytest.mark.rag_questions`: a test for each question of a file.


_ARGUMENT = "rag_question"


def parametrize(metafunc: pytest.Metafunc, marks: Sequence[pytest.Mark]) -> None:
    """Make a test of each question of the files that the marks name, called by the question's id.

    Raises:
        pytest.UsageError: A mark names no file, the test takes no `rag_question`, or a file cannot be read.
    """
    name, folder = metafunc.definition.nodeid, metafunc.definition.path.parent
    if _ARGUMENT not in metafunc.fixturenames:
        raise pytest.UsageError(f"{name}: a test with rag_questions takes the argument `{_ARGUMENT}`")
    questions: list[EvalQuestion] = []
    for mark in marks:
        if len(mark.args) != 1 or mark.kwargs or not isinstance(mark.args[0], str | Path):
            raise pytest.UsageError(
                f'{name}: write the mark with a file: @pytest.mark.rag_questions("questions.jsonl")'
            )
        path = folder / mark.args[0]  # of the test, else below the root of the project
        try:
            questions += read_file(path if path.exists() else metafunc.config.rootpath / mark.args[0]).questions
        except EvalsError as error:
            raise pytest.UsageError(f"{name}: {error}" + (f" ({error.hint})" if error.hint else "")) from error
    metafunc.parametrize(_ARGUMENT, questions, ids=[question.id for question in questions])


# One run for all workers of pytest-xdist.


def shared_run(config: EvalConfig, folders: pytest.TempPathFactory) -> EvalRun:
    """The run of the configuration: the first worker to want it makes it, and the others wait for it and read it.

    Raises:
        EvalsError: It could not be made; the other workers say so too, and ask nothing.
    """
    folder = folders.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # of the session; each worker has a folder of its own in it
    mark = folder / "rag_run.json"
    with FileLock(f"{mark}.lock"):
        if not mark.exists():
            try:
                run = run_evaluation(config, Observer())
            except EvalsError as error:
                mark.write_text(json.dumps({"error": str(error), "hint": error.hint}), encoding="utf-8")
                raise
            saved = {"folder": str(config.runs_dir.absolute()), "id": run.id}
            mark.write_text(json.dumps(saved), encoding="utf-8")
            return run
        said = json.loads(mark.read_text(encoding="utf-8"))
    if "error" in said:
        raise EvalsError(said["error"], said["hint"])
    return RunStore(said["folder"]).load(said["id"])


__all__ = ["RagClient", "assert_metric"]
