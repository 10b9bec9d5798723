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
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Self, TypeVar

import pytest
from filelock import FileLock

from evals.client.rag_client import RAGClient
from evals.config import EvalConfig
from evals.datasets.file import read_file
from evals.errors import ConfigError, EvalsError
from evals.judges.llm_judge import LLMJudge
from evals.metrics.judged import asks_correctness, decide_all
from evals.metrics.registry import parse_metric
from evals.report.wording import interval, number, value
from evals.run.checks import make_judge
from evals.run.observer import Observer
from evals.run.workload import load_workload
from evals.runner import EvaluationRunner, run_evaluation
from evals.schemas.dataset import EvalQuestion
from evals.schemas.response import EvalResponse
from evals.schemas.results import EvalRecord, EvalRun, MetricResult, MetricSummary
from evals.scoring.gates import Gate
from evals.scoring.outcomes import ending_of
from evals.scoring.settings import settings_of
from evals.store.runs import RunStore
from evals.text.foreign import shortened
from evals.text.numbers import counted

# Asynchronous work for tests that are not asynchronous.


_T = TypeVar("_T")


class InItsLoop:
    """Has an event loop of its own, in which all its work is done, and what was opened is closed at the end."""

    def __init__(self, config: EvalConfig) -> None:
        self._config = config
        self._runner = asyncio.Runner()
        self._stack = AsyncExitStack()

    def __enter__(self) -> Self:
        try:
            self.run(self.open(self._stack))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.run(self._stack.aclose())
        finally:
            self._runner.close()

    async def open(self, stack: AsyncExitStack) -> None:
        """Open what is needed; the stack closes it."""

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Do it, and wait for it."""
        return self._runner.run(work)


# A client for tests: one question at a time.


class RagClient(InItsLoop):
    """Asks the configured server; an embedded one is started and given the documents of the datasets.

    Args:
        config: Of the server.

    Raises:
        EvalsError: On entering: the server is not there, or is not healthy.
    """

    _client: RAGClient | None = None

    async def open(self, stack: AsyncExitStack) -> None:
        runner = EvaluationRunner(self._config, Observer())
        self._client = (await runner.connect(stack)).client
        if self._config.embedded or self._config.ingest:
            await runner.upload(self._client, await runner.load())

    def ask(self, question: str) -> EvalResponse:
        """Ask one question. What the server does never raises: a failure is in the response's `error`."""
        return self.run(self._opened.ask(question))

    def answer(self, question: EvalQuestion) -> EvalResponse:
        """The same for a question of a dataset, which may be a conversation."""
        return self.run(self._opened.converse(question.turns)) if question.turns else self.ask(question.question)

    @property
    def _opened(self) -> RAGClient:
        if self._client is None:
            raise RuntimeError("enter the client first: with RagClient(config) as client")
        return self._client


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


def questions_of(config: EvalConfig) -> Sequence[EvalQuestion]:
    """The questions of the configured datasets.

    Raises:
        DatasetError: They cannot be had or read.
    """
    return list(load_workload(config).questions)


# A judge for tests: one answer by one metric.


class RagJudge(InItsLoop):
    """Measures answers by the configured judge.

    Args:
        config: Of the judge.

    Raises:
        JudgeError: On entering: its package is not installed.
    """

    _judge: LLMJudge | None = None

    async def open(self, stack: AsyncExitStack) -> None:
        self._judge = make_judge(self._config)
        stack.push_async_callback(self._judge.aclose)

    def score(self, metric: str, question: EvalQuestion, response: EvalResponse) -> MetricResult:
        """Measure one answer: a value, or the reason why there is none.

        Raises:
            UnknownNameError: There is no such metric; the message names the nearest.
            JudgeError: The judge cannot be used at all.
        """
        return self.run(self._score(metric, question, response))

    async def _score(self, name: str, question: EvalQuestion, response: EvalResponse) -> MetricResult:
        if self._judge is None:
            raise RuntimeError("enter the judge first: with RagJudge(config) as judge")
        metric = parse_metric(name)
        settings = replace(self._config.score_settings(judged=True), asks_correctness=asks_correctness([metric]))
        sample = settings.sample(question, response)
        await decide_all(metric, sample, self._judge)
        return metric.score(sample)


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
    _check_limits(at_least, at_most, low=low, high=high)
    summary = run.scorecard.get(metric)
    limits = ((">=", at_least, low), ("<=", at_most, high))
    checked = [Gate(metric, sign, limit, at_end).check(run) for sign, limit, at_end in limits if limit is not None]
    problems = [f"{each.gate}: {each.message}" for each in checked if each.outcome != "met"]
    if problems:
        raise AssertionError("\n".join([*problems, *_facts(run, summary)]))


def _check_limits(at_least: float | None, at_most: float | None, *, low: bool, high: bool) -> None:
    if at_least is None and at_most is None:
        raise ConfigError("assert_metric has no limit", "give at_least or at_most")
    if (low and at_least is None) or (high and at_most is None):
        raise ConfigError("low goes with at_least, and high with at_most", "give the limit that the end is for")


def _facts(run: EvalRun, summary: MetricSummary) -> Iterator[str]:
    yield f"  value {value(summary)}, interval {interval(summary)}"
    counts = summary.counts
    lost = {"transport": counts.transport, "judge": counts.judge, "injection": counts.injection, "fault": counts.fault}
    told = "".join(f", {count} lost ({kind})" for kind, count in lost.items() if count)
    over = f"{summary.sample_size} of {counted(run.question_count, 'question')}"
    yield f"  over {over}, {counts.not_applicable} to which it does not apply{told}"
    if run.path is not None:
        yield from _worst(run.records(), run, summary)
        yield f"  evals show {run.id} --runs-dir {run.path.parent}"


def _worst(records: Sequence[EvalRecord], run: EvalRun, summary: MetricSummary) -> Iterator[str]:
    """The questions of the worst values, with what went wrong first; none if it is not stated what is better."""
    values = {place: _value_of(record, summary.name) for place, record in enumerate(records)}
    known = {place: value for place, value in values.items() if value is not None}
    if summary.higher_is_better is None or not known:
        return
    settings = settings_of(run)
    yield "  worst questions:"
    sign = 1 if summary.higher_is_better else -1
    for place in sorted(known, key=lambda place: (sign * known[place], place))[:_WORST]:
        record = records[place]
        asked, ending = record.question, ending_of(settings.sample_of(record), record.scores)
        why = f": {ending.why}" if ending.why else ""
        yield f"    {number(known[place], summary.unit)}  {asked.id}  {shortened(asked.question, _LENGTH)}{why}"


def _value_of(record: EvalRecord, name: str) -> float | None:
    return next((score.value for score in record.scores if score.name == name), None)


# `@pytest.mark.rag_questions`: a test for each question of a file.


_ARGUMENT = "rag_question"


def check_once(test: pytest.Item) -> None:
    """See that a test has no second mark: its file would be left out. One of its class or module is another matter.

    Raises:
        pytest.UsageError: It has.
    """
    if sum(mark.name == "rag_questions" for mark in test.own_markers) > 1:
        raise pytest.UsageError(f"{test.nodeid}: rag_questions stands there twice: name one file that holds them all")


def parametrize(metafunc: pytest.Metafunc, mark: pytest.Mark) -> None:
    """Make a test of each question, called by the question's id.

    Raises:
        pytest.UsageError: The mark names no file, the test takes no `rag_question`, or the file cannot be read.
    """
    name = metafunc.definition.nodeid
    if len(mark.args) != 1 or mark.kwargs or not isinstance(mark.args[0], str | Path):
        raise pytest.UsageError(f'{name}: write the mark with a file: @pytest.mark.rag_questions("questions.jsonl")')
    if _ARGUMENT not in metafunc.fixturenames:
        raise pytest.UsageError(f"{name}: a test with rag_questions takes the argument `{_ARGUMENT}`")
    try:
        beside = metafunc.definition.path.parent / mark.args[0]  # the test, else below the root of the project
        path = beside if beside.exists() else metafunc.config.rootpath / mark.args[0]
        questions = list(read_file(path).questions)
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


__all__ = ["RagClient", "RagJudge", "assert_metric"]
