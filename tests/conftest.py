"""What all tests share: servers on loopback, the command line, and an environment without surprises."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import entry_points
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from messages_api.fixtures import judge_api, messages_api, start_messages_api  # noqa: F401 - fixtures
from servers import ServerProcess, ServerThread, reference_server
from whole_runs import results_of

from evals import secrets
from evals.cli import app, terminal
from evals.errors import EvalsError
from evals.judges.models import PROVIDERS
from evals.metrics import BaseMetric, MatchSettings, Sample
from evals.metrics.registry import parse_metric
from evals.reference_server import Settings
from evals.schemas import (
    EvalQuestion,
    EvalRecord,
    EvalResponse,
    EvalRun,
    GoldPassage,
    MetricResult,
    ResponseError,
    RetrievedChunk,
    ServerRecord,
)
from evals.scoring.config import ScoringConfig
from evals.scoring.scorecard import make_scorecard
from evals.scoring.settings import ScoreSettings
from evals.scoring.weighted import make_weighted_score
from evals.text.matching import Matches, Rule, match

settings.register_profile("evals", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("evals")  # how long an example takes is a matter of the machine, and of what else it does

IS_INSTALLED = "evals" in entry_points(group="pytest11").names
"""Whether pytest finds the plugin by itself; from a clone that is not installed it does not."""
pytest_plugins = ["pytester", *([] if IS_INSTALLED else ["evals.pytest_plugin"])]

BuildRun = Callable[..., tuple[EvalRun, list[EvalRecord]]]
MakeCase = Callable[..., Sample]
Measure = Callable[..., MetricResult]


@dataclass(frozen=True)
class Result:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key, URL or proxy of the machine reaches a test, nor that it is one of a CI."""
    keys = [name for provider in PROVIDERS.values() for name in (*provider.key_variables, provider.address_variable)]
    ci = ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY")
    for name in (*keys, *ci, "RAG_SERVER_URL", "HTTP_PROXY", "http_proxy", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(secrets, "_known", set())  # what a test before took from its environment
    monkeypatch.setattr(EvalsError, "mask", staticmethod(str))


@pytest.fixture
def evals_cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Run the command line with the arguments given."""

    def call(*arguments: object) -> Result:
        monkeypatch.setattr("sys.argv", ["evals", *map(str, arguments)])
        capsys.readouterr()
        code = terminal.run(app)
        return Result(code, *capsys.readouterr())

    return call


@pytest.fixture(scope="session")
def start_server() -> Iterator[Callable[..., str]]:
    """Start a reference server with the arguments given, once for each set of arguments; returns its URL."""
    running: dict[tuple[str, ...], ServerProcess] = {}

    def start(*arguments: str) -> str:
        if arguments not in running:
            running[arguments] = reference_server("--exit-with-stdin", *arguments)
        return running[arguments].url

    yield start
    for server in running.values():
        server.let_go()  # all end at the same time
    for server in running.values():
        server.end()
        server.kill()


@pytest.fixture(scope="session")
def _ending() -> Iterator[list[ServerThread]]:
    """Servers that were told to stop; no test waits for that, but in the end all must be gone."""
    threads: list[ServerThread] = []
    yield threads
    for thread in threads:
        thread.join()


@pytest.fixture
def serve_files(_ending: list[ServerThread]) -> Iterator[Callable[..., str]]:
    """Start reference servers in threads, each with documents by file name; returns the URL of a new one."""
    servers: list[ServerThread] = []

    def start(files: Mapping[str, bytes], *misbehave: str, settings: Settings | None = None) -> str:
        servers.append(ServerThread(files, settings, misbehave))
        return servers[-1].url

    yield start
    for server in servers:
        server.stop()
    _ending.extend(servers)


@pytest.fixture(scope="session")
def golden_server(start_server: Callable[..., str]) -> str:
    """The URL of a server that holds the golden corpus."""
    return start_server("--corpus", "golden")


@pytest.fixture(scope="session")
def make_case() -> MakeCase:
    """Build a record; whatever is not one of the named arguments is a field of the response."""

    def make(
        golds: Sequence[GoldPassage] = (),
        *,
        question: str = "What is covered?",
        is_unanswerable: bool | None = None,
        rule: Rule = "auto",
        base: int = 1,
        **response: Any,
    ) -> Sample:
        return Sample(
            EvalQuestion(question=question, gold_passages=list(golds), is_unanswerable=is_unanswerable),
            EvalResponse(**({"answer": "Burst pipes are covered."} | response)),
            settings=MatchSettings(rule=rule),
            citation_base=base,
        )

    return make


@pytest.fixture(scope="session")
def measure(make_case: MakeCase) -> Measure:
    """Measure one record that `make_case` builds."""

    def result(metric: BaseMetric, golds: Sequence[GoldPassage] = (), **record: Any) -> MetricResult:
        return metric.score(make_case(golds, **record))

    return result


@pytest.fixture(scope="session")
def recognised() -> Callable[..., Matches]:
    """Match one gold with chunks, each given as its text or whole."""

    def matches(gold: GoldPassage | str, *chunks: RetrievedChunk | str, **settings: Any) -> Matches:
        return match(
            [GoldPassage(text=gold) if isinstance(gold, str) else gold],
            [RetrievedChunk(text=chunk) if isinstance(chunk, str) else chunk for chunk in chunks],
            MatchSettings(**settings),
        )

    return matches


@pytest.fixture(scope="session")
def rule_of(recognised: Callable[..., Matches]) -> Callable[..., str | None]:
    """The rule by which one chunk is recognised as the gold; None where it is not."""

    def rule(gold: GoldPassage | str, chunk: RetrievedChunk | str, **settings: Any) -> str | None:
        return recognised(gold, chunk, **settings).found.get(0, (0, None))[1]

    return rule


@pytest.fixture(scope="session")
def build_run() -> BuildRun:
    """Build a run with its records from the values of its questions; nothing is asked and nothing saved.

    `{"q1": {"mrr": 1.0}, "q2": "timeout"}` is a question with a value and one without an answer. Keywords replace
    parts of the run; `questions` replaces parts of questions, by id.
    """

    def build(
        run_id: str,
        values: Mapping[str, Mapping[str, float | None] | str],
        *,
        questions: Mapping[str, Mapping[str, Any]] | None = None,
        **changes: Any,
    ) -> tuple[EvalRun, list[EvalRecord]]:
        records = [_record(key, value, (questions or {}).get(key, {})) for key, value in values.items()]
        names = dict.fromkeys(score.name for record in records for score in record.scores)
        card = make_scorecard([parse_metric(name) for name in names], results_of(records), ScoreSettings())
        failed = sum(record.response is not None and record.response.error is not None for record in records)
        run: dict[str, Any] = {
            "id": run_id,
            "name": f"run {run_id}",
            "created_at": datetime(2026, 1, 15, 10, 0, tzinfo=UTC),
            "datasets": ["golden"],
            "status": "complete",
            "scorecard": card,
            "weighted_score": make_weighted_score(card, ScoringConfig()),
            "question_count": len(records),
            "error_count": failed,
            "server": ServerRecord(url="http://localhost:8001", profile="rag-server"),
            "seed": 42,
            "concurrency": 4,
        }
        return EvalRun(**{**run, **changes}), records

    return build


def _record(key: str, value: Mapping[str, float | None] | str, parts: Mapping[str, Any]) -> EvalRecord:
    question = EvalQuestion(**{"id": key, "question": f"What is {key}?", "dataset": "golden", **parts})
    if isinstance(value, str):
        error = ResponseError.model_validate({"kind": value, "message": "no answer came"})
        return EvalRecord(question=question, response=EvalResponse(error=error))
    scores = [
        parse_metric(name).undefined("it does not apply") if number is None else parse_metric(name).result(number)
        for name, number in value.items()
    ]
    response = EvalResponse(answer=f"It is {key}.", chunks=[RetrievedChunk(text=f"About {key}.")], latency_ms=12.5)
    return EvalRecord(question=question, response=response, scores=scores)
