"""Servers that are not of the default kind, evaluated whole by a few lines of YAML, as docs/profiles.md shows them."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from other_servers import corpus, kinds
from other_servers import documented as of_profiles
from other_servers.loopback import serving
from whole_runs import notes_on_answers

from evals import EvalConfig, run_evaluation
from evals.client.profile import profile_text
from evals.errors import EvalsError
from evals.schemas import EvalRun
from evals.scoring.settings import ScoreSettings
from evals.store.runs import RunStore

HOME = Path(__file__).resolve().parent

Evaluate = Callable[..., EvalRun]
ON_YOUR_DATA = r"""
ask:
  path: /openai/deployments/chat/chat/completions
  query: {api-version: 2024-10-21}
  json: {messages: [{role: user, content: "{{question}}"}]}
map:
  answer: choices[0].message.content
  chunks: "choices[0].message.context.citations[].{chunk_id: chunk_id, text: content, document_name: filepath}"
  usage: "usage.{prompt_tokens: prompt_tokens, completion_tokens: completion_tokens}"
  model: model
citations: {given_as: markers, markers: '\[doc(\d+)\]'}
"""


BELOW = {"hayhooks": "/rag", "langserve": "/rag"}


def _routes(kind: str) -> Any:
    return (getattr(kinds, kind, None) or getattr(of_profiles, kind))()


def documented() -> dict[str, str]:
    """The profiles that docs/profiles.md shows whole, by the names of their files."""
    page = (HOME.parent / "docs" / "profiles.md").read_text(encoding="utf-8")
    return dict(re.findall(r"```yaml\n# (\w+\.yml)\n(.*?)```", page, re.DOTALL))


PROFILES = {**documented(), "on_your_data.yml": ON_YOUR_DATA, "ragflow.yml": profile_text("ragflow")}


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGFLOW_API_KEY", of_profiles.KEY)
    monkeypatch.setenv("RAGFLOW_CHAT_ID", "b7a29412")
    monkeypatch.setenv("LIGHTRAG_API_KEY", of_profiles.KEY)


@pytest.fixture
def start() -> Iterator[Callable[[str], str]]:
    """Start a server of a kind; returns its URL."""
    with ExitStack() as running:
        yield lambda kind: running.enter_context(serving(_routes(kind))) + BELOW.get(kind, "")


@pytest.fixture
def evaluate(start: Callable[[str], str], tmp_path: Path) -> Evaluate:
    """Evaluate a server of a kind, by its profile with keys laid over it."""

    def evaluation(kind: str, server: Mapping[str, Any] | None = None, **config: Any) -> EvalRun:
        profile, questions = tmp_path / f"{kind}.yml", tmp_path / "questions.jsonl"
        profile.write_text(PROFILES[profile.name])
        questions.write_text("\n".join(map(json.dumps, corpus.questions())))
        keys = {"server": {"profile": str(profile), "url": start(kind), **(server or {})}, "dataset_file": questions}
        return run_evaluation(EvalConfig.build({**keys, "judge": False, "runs_dir": tmp_path / "runs", **config}))

    return evaluation


def _values(run: EvalRun, names: Mapping[str, float]) -> dict[str, float | None]:
    return {summary.name: summary.value for summary in run.scorecard.metrics if summary.name in names}


def test_the_documentation_begins_with_three_servers() -> None:
    """Each is evaluated below as it stands there, by five to ten lines."""
    assert {"hayhooks.yml", "langserve.yml", "lightrag.yml"} <= documented().keys()
    for name in ("hayhooks.yml", "langserve.yml", "lightrag.yml"):
        assert 5 <= len(documented()[name].strip().splitlines()) <= 10
    page = (HOME.parent / "docs" / "profiles.md").read_text(encoding="utf-8")
    assert page.index("# hayhooks.yml") < page.index("## Keys of a chunk") < page.index("## All keys")


@pytest.mark.parametrize("kind", ["hayhooks", "langserve", "lightrag"])
def test_the_three_servers_of_the_documentation_are_evaluated_as_it_shows_them(kind: str, evaluate: Evaluate) -> None:
    """Retrieval and abstention of all, and citations of those that give them."""
    run = evaluate(kind, metrics=["recall_at_3"], suite=["core"], preflight=False)
    assert (run.status, run.outcomes.answered, run.error_count) == ("complete", 5, 0)
    assert _values(run, corpus.RETRIEVAL) == pytest.approx(corpus.RETRIEVAL)
    assert _values(run, corpus.ABSTENTION) == corpus.ABSTENTION
    cited = dict.fromkeys(corpus.CITATION) if kind == "langserve" else corpus.CITATION
    assert _values(run, corpus.CITATION) == cited


@pytest.mark.parametrize("kind", ["txtai", "contexts", "ragflow"])
def test_retrieval_has_the_same_figures_behind_every_contract(kind: str, evaluate: Evaluate) -> None:
    """Objects or texts, with a name or without: the retriever behind them is the same."""
    run = evaluate(kind, metrics=["recall_at_3"], suite=["core"])
    assert (run.status, run.outcomes.answered, run.error_count) == ("complete", 5, 0)
    assert _values(run, corpus.RETRIEVAL) == pytest.approx(corpus.RETRIEVAL)


@pytest.mark.parametrize("kind", ["contexts", "ragflow"])
def test_citations_and_abstentions_are_those_of_the_server(kind: str, evaluate: Evaluate) -> None:
    """Numbers in a list from 1, or marks in the text from 0: the same chunks are cited."""
    run = evaluate(kind)
    assert _values(run, corpus.CITATION) == corpus.CITATION
    assert _values(run, corpus.ABSTENTION) == corpus.ABSTENTION
    assert (run.outcomes.abstained, run.outcomes.invalid_citations) == (1, 0)


def test_a_server_that_only_retrieves_has_no_figures_of_answers(evaluate: Evaluate) -> None:
    """The reason says so, nothing counts as abstained, and the run is complete."""
    run = evaluate("txtai", suite=["core", "answer", "qa"])
    assert (run.status, run.outcomes.abstained, run.outcomes.citations) == ("complete", 0, None)
    groups = {"citation", "abstention", "generation"}
    of_answers = [summary for summary in run.scorecard.metrics if summary.group.value in groups]
    assert {summary.value for summary in of_answers} == {None}
    reasons = {summary.name: summary.reason or "" for summary in of_answers}
    for name in (*corpus.CITATION, *corpus.ABSTENTION):
        assert reasons[name].startswith("this server only retrieves")


def test_markers_of_another_form_are_read_with_usage_and_model(evaluate: Evaluate) -> None:
    """All but its ids is read right from a server whose ids are those of its documents."""
    run = evaluate("on_your_data", prices={"gpt": {"input": 1, "output": 10}})
    assert (run.status, run.outcomes.answered, run.outcomes.invalid_citations) == ("complete", 5, 0)
    assert _values(run, corpus.ABSTENTION) == corpus.ABSTENTION
    assert _values(run, {"cost_per_query": 0.0}) == {"cost_per_query": pytest.approx((300 + 20 * 10) / 1e6)}


def _base_note(run: EvalRun, folder: Path, base: int) -> list[str]:
    records = RunStore(folder).records(run)
    cases = ScoreSettings(citation_base=base)
    return notes_on_answers(records, cases)


def test_a_server_that_counts_from_0_is_noted_where_it_is_read_from_1(evaluate: Evaluate, tmp_path: Path) -> None:
    """The note names the base that gives the right figures."""
    wrong = evaluate("ragflow", {"citations": {"base": 1}})
    assert _values(wrong, corpus.CITATION)["citation_recall"] == 0.0
    (note,) = _base_note(wrong, tmp_path / "runs", 1)
    assert "citations.base: 0" in note
    assert _base_note(evaluate("ragflow"), tmp_path / "runs", 0) == []


@pytest.mark.parametrize(
    ("kind", "server", "said"),
    [
        ("contexts", {"ask": {"path": "/query"}}, "HTTP 404"),
        ("contexts", {"ask": {"method": "GET"}}, "GET was sent; the server allows POST"),
        ("contexts", {"ask": {"json": {"query": "{{question}}"}}}, "HTTP 422"),
        ("contexts", {"map": {"answer": "result"}}, "it is {answer: a text, contexts: [a text], cited: "),
        ("txtai", {"map": {"answer": "answer"}}, "it is [{id: a text, text: a text, score: a number}]"),
        ("txtai", {"map": {"chunks": "hits"}}, "no list at `hits`"),
    ],
)
def test_a_server_of_another_kind_ends_the_run_before_it_is_written(
    kind: str, server: dict[str, Any], said: str, evaluate: Evaluate, tmp_path: Path
) -> None:
    """The error says what came back, and the way to a profile."""
    with pytest.raises(EvalsError) as raised:
        evaluate(kind, server)
    assert said in raised.value.message
    assert "docs/profiles.md" in (raised.value.hint or "")
    assert raised.value.exit_code == 3
    assert RunStore(tmp_path / "runs").runs() == []
