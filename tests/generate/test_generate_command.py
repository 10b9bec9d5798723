"""`evals generate` as it is called: flags, refusals, budgets, batches, models."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from generate.conftest import GOOD, RULES, drafted, solved, write_files

from evals.datasets.file import read_file
from evals.datasets.golden import CORPUS
from evals.judges.models import Call
from evals.run.checks import make_judge

ONE = ("-n", 1, "--mix", "1/0/0")


def systems(messages_api: Any) -> list[str]:
    return [entry["body"]["system"][0]["text"] for entry in messages_api.log()]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "no documents are named"),
        (("docs", "--datasets", "golden"), "the documents are of a folder and of datasets"),
        (("nowhere",), "nowhere does not exist"),
        (("docs", "--mix", "60/40"), "--mix is no mix: '60/40'"),
        (("docs", "--mix", "0/0/0"), "--mix is no mix"),
        (("docs", "-n", "0"), "greater than or equal to 1"),
        (("docs", "-o", "questions.csv"), "questions.csv is no file of lines"),
        (("docs", "--max-cost", "0"), "--max-cost must be above 0"),
        (("short",), "no passage of twenty words"),
    ],
)
def test_what_cannot_be_generated_is_refused_before_anything_is_sent(
    arguments: tuple[str, ...], message: str, generate: Callable[..., Any], docs: Path, messages_api: Any
) -> None:
    """With exit code 2 and the name of what is wrong."""
    write_files(docs.parent / "short", {"a.md": "Five words are not enough."})
    done = generate(*arguments)
    assert done.code == 2
    assert message in done.err
    assert messages_api.stats()["requests"] == 0
    assert not Path("questions.jsonl").exists()


def test_a_key_is_needed_but_not_for_an_estimate(
    generate: Callable[..., Any], docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is written without one."""
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    done = generate(docs)
    assert (done.code, Path("questions.jsonl").exists()) == (2, False)
    assert "ANTHROPIC_API_KEY is not set" in done.err
    estimate = generate(docs, "--dry-run")
    assert (estimate.code, estimate.out.startswith("100 questions will take about ")) == (0, True)


def test_a_file_that_was_not_generated_is_never_continued(generate: Callable[..., Any], docs: Path) -> None:
    """Questions of people are not mixed with drafts, and not overwritten."""
    Path("questions.jsonl").write_text('{"question": "Mine?"}\n')
    done = generate(docs, *ONE)
    assert (done.code, Path("questions.jsonl").read_text()) == (2, '{"question": "Mine?"}\n')
    assert "was not generated" in done.err


@pytest.mark.parametrize("end", ["", "\r\n"])
def test_a_file_that_an_editor_saved_loses_no_question(
    end: str, generate: Callable[..., Any], docs: Path, messages_api: Any
) -> None:
    """Without its last line end, or with another one."""
    messages_api.script(drafted(**GOOD), solved("$14.50", 1, 2))
    assert generate(docs / "ferry.md", *ONE).code == 0
    path = Path("questions.jsonl")
    path.write_bytes(path.read_bytes().rstrip(b"\n") + end.encode())
    assert generate(docs / "ferry.md", *ONE).code == 0
    assert [question.expected_answer for question in read_file(path).questions] == ["$14.50"]


def test_a_damaged_journal_is_named(generate: Callable[..., Any], docs: Path) -> None:
    """It holds what was paid for, so it is not dropped in silence."""
    Path("questions.journal.jsonl").write_text('{"key": 1}\n{"key": "a"}\n')
    done = generate(docs, *ONE)
    assert done.code == 2
    assert "questions.journal.jsonl holds a line that is damaged" in done.err


def test_the_summary_says_kinds_reasons_cost_and_what_comes_next(
    generate: Callable[..., Any], docs: Path, messages_api: Any
) -> None:
    """Questions that are too few end with 4; what was accepted stays."""
    messages_api.script({**drafted(**GOOD), "match": "The ferry Heron"}, solved("$14.50", 1, 2), RULES)
    done = generate(docs, "-n", 20, "--mix", "1/0/0")
    assert done.code == 4
    assert "1 of 20 questions: too few drafts were accepted" in done.err
    assert "1 question in questions.jsonl, with gold in 1 document\n  1 number\n10 drafts, 9 rejected\n" in done.out
    assert (
        "     5  the solver gave another answer\n     4  the question is nearly that of an accepted one\n" in done.out
    )
    assert "paid: $0." in done.out
    assert "next: evals review questions.jsonl" in done.out


def test_the_budget_ends_the_work_and_a_larger_one_goes_on(
    generate: Callable[..., Any], messages_api: Any, tmp_path: Path
) -> None:
    """What is spent stays below it, across calls of the command."""
    command = (CORPUS, "-n", 20, "--mix", "1/0/0", "--json")
    poor = generate(*command, "--max-cost", "0.03")
    assert poor.code == 4
    assert "the budget is spent" in poor.err
    assert 0 < poor.json["spent"]["cost_usd"] <= 0.03
    assert generate(*command, "--max-cost", "0.03").json["spent"] == poor.json["spent"]
    whole = generate(*command, "--max-cost", "5")
    assert (whole.code, whole.json["questions"]) == (0, 20)
    assert whole.json["spent"]["calls"] == messages_api.stats()["requests"]


def test_batches_are_few_and_bring_the_same(generate: Callable[..., Any], messages_api: Any, tmp_path: Path) -> None:
    """Drafts go together, then answers; what is too much stays in the cache."""
    config = tmp_path / "batch.yml"
    config.write_text("judge: {batch_poll_s: 0.05}\n")
    done = generate(CORPUS, "-n", 12, "--mix", "7/0/5", "--batch", "--json", "--config", config)
    assert done.code == 0, done.json
    made = [entry for entry in messages_api.log() if entry["path"].endswith("/batches") and entry["method"] == "POST"]
    assert len(made) <= 8
    assert done.json["accepted"] == done.json["wanted"] == {"single": 7, "pair": 0, "near_miss": 5}


def test_two_quotations_of_a_passage_are_two_golds_of_one_passage(
    generate: Callable[..., Any], docs: Path, messages_api: Any
) -> None:
    """The solver sees the passage once."""
    quotations = [*GOOD["quotations"], "Tickets are sold on board by Mara Quill."]
    messages_api.script(drafted(**{**GOOD, "quotations": quotations}), solved("$14.50", 1, 2))
    assert generate(docs / "ferry.md", *ONE).code == 0
    (question,) = read_file(Path("questions.jsonl")).questions
    assert [gold.text for gold in question.gold_passages] == quotations
    assert len(question.metadata["passages"]) == 1
    asked = json.loads(messages_api.log()[-1]["body"]["messages"][0]["content"][0]["text"])
    assert [passage["id"] for passage in asked["passages"]] == [1]


def test_notes_and_language_reach_every_prompt(generate: Callable[..., Any], docs: Path, messages_api: Any) -> None:
    """They stand behind our instructions, in drafts and in answers."""
    messages_api.script(drafted(**GOOD), solved("$14.50", 1, 2))
    generate(docs / "ferry.md", *ONE, "--notes", "HX is a tariff.", "--language", "German")
    assert len(systems(messages_api)) == 2
    assert all("HX is a tariff." in text and text.endswith("German.") for text in systems(messages_api))


def test_another_model_may_answer_and_the_file_says_which(
    generate: Callable[..., Any], docs: Path, messages_api: Any
) -> None:
    """Both share one budget."""
    messages_api.script(drafted(**GOOD), solved("$14.50", 1, 2))
    assert (
        generate(docs / "ferry.md", *ONE, "--model", "claude-haiku-5-5", "--solver-model", "claude-opus-5-5").code == 0
    )
    (question,) = read_file(Path("questions.jsonl")).questions
    assert [question.metadata[key] for key in ("generator", "solver")] == ["claude-haiku-5-5", "claude-opus-5-5"]
    assert [entry["body"]["model"] for entry in messages_api.log()] == ["claude-haiku-5-5", "claude-opus-5-5"]


@pytest.mark.parametrize(("known", "checks"), [("$14.50", ["known_without_documents"]), ("", [])])
def test_what_the_model_knows_without_any_passage_is_tagged(
    known: str, checks: list[str], generate: Callable[..., Any], docs: Path, messages_api: Any
) -> None:
    """Such a question does not measure retrieval."""
    verdict = "answered" if known else "not_answerable"
    closed = {"match": '{"question":', "then": {"json": {"answer": known, "verdict": verdict}}}
    messages_api.script(drafted(**GOOD), solved("$14.50", 1, 2), closed)
    assert generate(docs / "ferry.md", *ONE, "--closed-book").code == 0
    (question,) = read_file(Path("questions.jsonl")).questions
    assert question.metadata["checks"] == ["rules", "solved", *checks]


def test_a_refused_key_ends_at_once_and_says_what_to_do(
    generate: Callable[..., Any], docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The models of the API cannot be used at all."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-unknown")
    done = generate(docs, *ONE)
    assert done.code == 2
    assert "cannot be used" in done.err
    assert "give the same command again" in done.err


def test_ctrl_c_keeps_what_was_accepted_and_waits_for_what_is_paid_for(
    generate: Callable[..., Any], messages_api: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second call ends the work; the replies in flight are kept."""
    calls: list[Call] = []

    def interrupted(config: Any) -> Any:
        judge = make_judge(config)
        complete = judge.model.complete

        async def then_stop(call: Call) -> Any:
            calls.append(call)
            reply = await complete(call)
            if len(calls) == 6:
                raise KeyboardInterrupt
            return reply

        judge.model.complete = then_stop  # type: ignore[method-assign]
        return judge

    monkeypatch.setattr("evals.generate.pipeline.make_judge", interrupted)
    done = generate(CORPUS, "-n", 5, "--mix", "1/0/0", "--concurrency", 1)
    assert done.code == 130
    assert "accepted questions are in questions.jsonl" in done.err
    events = [json.loads(line) for line in Path("questions.journal.jsonl").read_text().splitlines()]
    assert sum("verdict" in event for event in events) >= 5
    monkeypatch.setattr("evals.generate.pipeline.make_judge", make_judge)
    assert generate(CORPUS, "-n", 5, "--mix", "1/0/0").code == 0
    assert len(read_file(Path("questions.jsonl")).questions) == 5
