"""What judging will take, said before anything is asked."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from evals.judges.prompt import load_prompt, stand_in_reply

from evals.config import EvalConfig
from evals.judges.replies import problem_with
from evals.metrics import BaseMetric
from evals.metrics.ragas import DIRECT_RELEVANCE, GENERATED_QUESTIONS
from evals.run.checks import check_config, estimate_of
from evals.run.estimate import Estimate, Known
from evals.run.observer import Observer
from evals.run.workload import load_workload
from evals.runner import run_evaluation
from evals.schemas import EvalQuestion, EvalResponse, EvalRun, JudgeVerdict
from evals.store.runs import RunStore


def planned(config: EvalConfig, metrics: list[BaseMetric]) -> Estimate | None:
    workload = load_workload(config)
    return estimate_of(config, metrics, workload.questions, workload.documents)


@pytest.fixture
def config(config: Callable[..., EvalConfig]) -> Callable[..., EvalConfig]:
    """A judged evaluation of golden questions with a cache, at the vendor's prices."""

    def make(**keys: Any) -> EvalConfig:
        judge = {"cache": True, **keys.pop("judge", {})}
        return config(**{"samples_per_dataset": 100, "prices": {}, **keys}, judge=judge)

    return make


def estimate(config: EvalConfig) -> Estimate:
    found = planned(config, check_config(config))
    assert found is not None
    return found


def tokens(of: Estimate | EvalRun) -> int:
    if isinstance(of, Estimate):
        return of.input_tokens + of.output_tokens
    assert of.judge is not None
    return of.judge.usage.input_tokens + of.judge.usage.output_tokens


@pytest.mark.slow
def test_an_estimate_is_near_what_the_run_uses_and_asks_nothing(
    config: Callable[..., EvalConfig], messages_api: Any
) -> None:
    """Within 20 % of the tokens without a saved run, within 3 % with one; neither asks the server or the judge."""
    before = estimate(config(rag_server_url="http://127.0.0.1:9"))
    assert messages_api.log() == []
    run = run_evaluation(config())
    assert tokens(before) == pytest.approx(tokens(run), rel=0.2)
    after = estimate(config(judge={"cache": False}))
    assert run.judge is not None
    assert after.calls == pytest.approx(run.judge.calls, rel=0.03)
    assert tokens(after) == pytest.approx(tokens(run), rel=0.03)
    assert run.id in after.basis


def test_what_is_not_known_widens_the_range(of_questions: Callable[..., Estimate]) -> None:
    """Three short refusals, which take no call, do not say what a hundred answers take."""
    responses = {f"q{n}": EvalResponse(answer="I don't know.", chunks=[]) for n in range(100)}
    few = of_questions(questions(100), Known(dict(list(responses.items())[:3])))
    none = of_questions(questions(100))
    assert few.calls == pytest.approx(0.97 * none.calls, rel=0.02)
    assert few.calls_off == none.calls_off == 0.2
    assert of_questions(questions(100), Known(responses)).calls_off == 0.0


@pytest.mark.slow
def test_the_range_after_a_small_run_holds_what_is_paid(config: Callable[..., EvalConfig]) -> None:
    """Whichever three questions were asked first."""
    for seed in (1, 2):
        run_evaluation(config(samples_per_dataset=3, seed=seed, judge={"cache": False}))
    found = estimate(config(judge={"cache": False}))
    run = run_evaluation(config(judge={"cache": False}))
    assert run.judge is not None
    assert found.calls_off > 0.1
    assert run.judge.calls == pytest.approx(found.calls, rel=found.calls_off)
    assert (found.cost_low_usd or 0) <= (run.judge.cost_usd or 0) <= (found.cost_high_usd or 0)


def test_replies_in_the_cache_are_not_estimated(config: Callable[..., EvalConfig]) -> None:
    """They cost nothing: all of them where nothing changed, some where questions are new or decisions are repeated."""
    run = run_evaluation(config(samples_per_dataset=12))
    assert run.judge is not None
    again = estimate(config(samples_per_dataset=12))
    assert (again.calls, again.cost_usd, again.cached) == (0, 0.0, run.judge.calls)
    assert f"({again.cached} more are in the cache)" in str(again)
    uncached = estimate(config(samples_per_dataset=12, judge={"cache": False}))
    assert (uncached.calls, uncached.cached) == (run.judge.calls, 0)
    repeated = estimate(config(samples_per_dataset=12, judge={"repeats": 2}))
    assert (repeated.calls, repeated.cached) == (run.judge.calls, run.judge.calls)
    other = estimate(config(samples_per_dataset=12, judge={"effort": "low"}))
    assert other.cached == 0
    twice = estimate(config(samples_per_dataset=24))
    assert 0 < twice.calls < twice.calls + twice.cached


@pytest.mark.slow
@pytest.mark.parametrize(("effort", "thinking"), [("low", 0), (None, 0), (None, 1000)])
def test_the_range_holds_what_is_paid_and_a_saved_run_narrows_it(
    config: Callable[..., EvalConfig], messages_api: Any, effort: str | None, thinking: int
) -> None:
    """Thinking is paid for: an allowance for the effort where nothing is known of it, else what it took."""
    messages_api.script({"then": {"python": "judge", "thinking": "x" * 3 * thinking}})
    keys: dict[str, Any] = {"samples_per_dataset": 24, "judge": {"effort": effort, "cache": False}}
    before = estimate(config(**keys))
    run = run_evaluation(config(**keys))
    assert run.judge is not None
    paid = run.judge.cost_usd or 0.0
    assert before.cost_low_usd is not None
    assert before.cost_high_usd is not None
    assert before.cost_low_usd < paid < before.cost_high_usd
    assert "as nothing is saved of it" in str(before)
    after = estimate(config(**keys))
    assert after.cost_usd == pytest.approx(paid, rel=0.15)
    assert (after.thinking_tokens_low, after.thinking_tokens_high) == (thinking * after.calls,) * 2
    assert "by saved calls" in str(after)
    assert (after.cost_high_usd or 0) < 1.5 * (after.cost_low_usd or 0)
    elsewhere = estimate(config(**{**keys, "judge": {"effort": "xhigh"}}))
    assert not elsewhere.measured


def test_prompts_that_changed_are_not_estimated_by_what_they_were(
    config: Callable[..., EvalConfig], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reply to the new one may be longer."""
    run_evaluation(config(samples_per_dataset=6, judge={"cache": False}))
    assert estimate(config(samples_per_dataset=6, judge={"cache": False})).measured
    monkeypatch.setattr("evals.judges.money.load_prompt", lambda name: replace(load_prompt(name), hash="another"))
    assert not estimate(config(samples_per_dataset=6, judge={"cache": False})).measured


def test_a_budget_below_the_upper_end_is_warned_of(of_questions: Callable[..., Estimate]) -> None:
    """It may not do, though the middle of the range would."""
    found = of_questions(questions(40))
    assert found.cost_usd is not None
    assert found.cost_low_usd is not None
    assert "may not do" in (found.warning(found.cost_usd) or "")
    assert "probably not do" in (found.warning(found.cost_low_usd / 2) or "")
    assert found.warning(4 * found.cost_usd) is None


def test_what_the_vendor_keeps_is_estimated_at_its_price(
    of_questions: Callable[..., Estimate], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Instructions long enough are written once and read by all other calls."""
    asked = questions(40)
    plain = of_questions(asked)

    def longer(name: str) -> Any:
        prompt = load_prompt(name)
        return replace(prompt, system=prompt.system + "x" * 30_000)

    monkeypatch.setattr("evals.judges.replies.load_prompt", longer)
    kept = of_questions(asked)
    further = (kept.input_tokens - plain.input_tokens) * 0.1e-6
    assert kept.cost_low_usd is not None
    assert plain.cost_low_usd is not None
    assert kept.cost_low_usd - plain.cost_low_usd < 0.35 * further


def test_a_saved_run_whose_log_cannot_be_read_is_passed_over(config: Callable[..., EvalConfig]) -> None:
    """Another run tells the sizes then, and where none can be read, usual sizes do."""
    runs = [run_evaluation(config(judge={"enabled": False}, samples_per_dataset=20)) for _ in range(2)]
    store, basis = RunStore(config().runs_dir), estimate(config()).basis
    other, used = sorted(runs, key=lambda run: run.id in basis)
    log = store.records_path(used)
    log.write_bytes(b"damaged\n" + log.read_bytes())
    assert estimate(config()).basis == f"sizes from run {other.id}"
    store.records_path(other).unlink()
    assert "no run of this server with 20 answers is saved" in estimate(config()).basis


@pytest.mark.parametrize("suite", ["core", "claims", "all"])
def test_repeats_multiply_what_is_repeated(config: Callable[..., EvalConfig], suite: str) -> None:
    """Claims are found anew by each repeat, which checks its own."""
    once = estimate(config(suite=[suite], samples_per_dataset=5))
    thrice = estimate(config(suite=[suite], samples_per_dataset=5, judge={"repeats": 3}))
    assert thrice.calls == 3 * once.calls
    assert (once.cost_usd or 0) < (thrice.cost_usd or 0)


def test_without_a_judge_there_is_nothing_to_estimate(config: Callable[..., EvalConfig]) -> None:
    """`--no-judge` costs nothing."""
    plain = config(judge={"enabled": False})
    assert planned(plain, check_config(plain)) is None


def test_an_unknown_price_is_said(config: Callable[..., EvalConfig]) -> None:
    """Nobody knows is not free."""
    unknown = estimate(config(judge={"model": "somebodys-own"}, samples_per_dataset=2))
    assert unknown.cost_usd is None
    assert "price unknown" in str(unknown)


class Ears(Observer):
    """Remembers what it heard, in order."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def estimate(self, estimate: Estimate) -> None:
        self.heard.append("estimate")

    def begin(self, total: int, done: int) -> None:
        self.heard.append("asking")

    def note(self, message: str) -> None:
        self.heard.append(message)


def test_a_run_says_its_estimate_before_it_asks(config: Callable[..., EvalConfig]) -> None:
    """And says so where the budget will not do."""
    ears = Ears()
    run_evaluation(config(samples_per_dataset=3, judge={"max_cost_usd": 0.001}), ears)
    assert ears.heard[0] == "estimate"
    assert ears.heard.index("asking") > 0
    assert any("will probably not do" in heard for heard in ears.heard[: ears.heard.index("asking")])


def questions(count: int, **changes: Any) -> list[EvalQuestion]:
    base = {"question": "How long is the warranty?", "expected_answer": "It lasts 96 hours."}
    name = changes.pop("name", "q")
    return [EvalQuestion(id=f"{name}{n}", **{**base, **changes}) for n in range(count)]


@pytest.fixture
def of_questions(tmp_path: Path) -> Callable[..., Estimate]:
    """Estimate the judging of some questions, about which nothing is saved."""

    def make(asked: list[EvalQuestion], known: Known | None = None, **keys: Any) -> Estimate:
        keys = {"judge": {"model": "claude-haiku-5-5"}, **keys}
        config = EvalConfig(datasets=["golden"], runs_dir=tmp_path, **keys)
        found = estimate_of(config, check_config(config, asking=False), asked, known=known)
        assert found is not None
        return found

    return make


@pytest.mark.slow
def test_questions_from_everywhere_are_composed(of_questions: Callable[..., Estimate]) -> None:
    """The first of several datasets says nothing of the others."""
    some, others = questions(299), questions(299, name="u", expected_answer=None, is_unanswerable=True)
    apart = of_questions(some).calls + of_questions(others).calls
    assert of_questions(some + others).calls == pytest.approx(apart, rel=0.05)
    assert of_questions(others + some).calls == pytest.approx(apart, rel=0.05)


def test_a_run_that_goes_on_takes_what_is_not_judged_yet(of_questions: Callable[..., Estimate]) -> None:
    """Half of it, where the first half is judged; nothing, where all is."""
    asked = questions(600)
    replies = {
        "faithfulness": {"claims": []},
        "answer_correctness": {"verdict": "correct"},
        "answer_relevancy": {"verdict": "relevant"},
    }
    verdicts = {q.id: [JudgeVerdict(request=name, reply=reply) for name, reply in replies.items()] for q in asked}
    half = Known(verdicts={question.id: verdicts[question.id] for question in asked[:300]})
    assert of_questions(asked, half).calls == pytest.approx(of_questions(asked).calls / 2, rel=0.02)
    assert of_questions(asked, Known(verdicts=verdicts)).calls == 0


def test_no_saved_run_is_read_where_every_answer_is_there(
    of_questions: Callable[..., Estimate], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their own sizes are known; a folder of many runs takes long to read."""
    asked = questions(2)
    responses = {question.id: EvalResponse(answer="It lasts 96 hours.", chunks=[]) for question in asked}
    monkeypatch.setattr(RunStore, "runs", lambda _store: pytest.fail("a saved run was read"))
    assert of_questions(asked, Known(responses)).basis == "over the answers that are there"


def test_each_call_has_its_own_price(of_questions: Callable[..., Estimate]) -> None:
    """The table's prices rise with the size of a request; many small ones are no large one."""
    few = of_questions(questions(14)).cost_usd
    assert few is not None
    assert of_questions(questions(43 * 14)).cost_usd == pytest.approx(43 * few, rel=0.1)


def test_whether_a_refusal_is_one_is_a_call(of_questions: Callable[..., Estimate]) -> None:
    """Where it is longer than a few words, as one that is made up is."""
    asked, names = questions(14), ["answer_relevancy"]
    long, short = "The documents do not say how long the warranty is.", "I don't know."
    for answer, calls in ((long, 14), (short, 0)):
        saved = {question.id: EvalResponse(answer=answer, chunks=[]) for question in asked}
        assert of_questions(asked, Known(saved), metrics=names).calls == calls


@pytest.mark.parametrize("installed", [False, True])
def test_the_requests_are_those_of_the_run(
    of_questions: Callable[..., Estimate], monkeypatch: pytest.MonkeyPatch, installed: bool
) -> None:
    """Where the run will have an embedder, the judge writes questions for it instead of assessing directly."""
    asked: list[str] = []

    def noting(name: str) -> Any:
        asked.append(name)
        return load_prompt(name)

    monkeypatch.setattr("evals.run.checks.find_spec", lambda _name: object() if installed else None)
    monkeypatch.setattr("evals.run.estimate.load_prompt", noting)
    of_questions(questions(1), metrics=["ragas_answer_relevance"])
    assert set(asked) == {(GENERATED_QUESTIONS if installed else DIRECT_RELEVANCE).prompt}


def data_for(name: str) -> Iterator[dict[str, Any]]:
    items = [{"id": n, "text": "A fact.", "claim": "A fact.", "citations": [1, 2]} for n in (1, 2, 3)]
    lists = dict.fromkeys(
        ("contexts", "claims", "answer_claims", "reference_claims", "passages", "statements", "criteria"), items
    )
    yield {"question": "Why?", "answer": "A fact. " * 40, "expected_answer": "A fact.", **lists}


PROMPTS = sorted(path.name.removesuffix(".yml") for path in files("evals.judges").joinpath("prompts").iterdir())


@pytest.mark.parametrize("name", PROMPTS)
def test_a_stand_in_has_the_form_of_a_reply(name: str) -> None:
    """All but its quotations would pass, which are of nothing."""
    prompt = load_prompt(name)
    for data in data_for(name):
        problem = problem_with(prompt, stand_in_reply(prompt, data), data)
        assert problem is None or "quotation" in problem
