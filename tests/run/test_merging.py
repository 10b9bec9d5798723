"""One run of all shards: it is the run that would have asked all questions at once, or it is refused."""

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from evals.config import EvalConfig
from evals.errors import ConfigError, EvalsError, RunIncompleteError
from evals.run.checks import check_config
from evals.run.merge import merge, put_together
from evals.run.observer import Observer
from evals.run.resume import check_resumable
from evals.run.saved import SavedAnswers, measure_answers, rescore
from evals.runner import run_evaluation
from evals.runtime import run_anywhere
from evals.schemas import EvalRun
from evals.scoring.saved import SavedRun, open_saved
from evals.store.runs import RunStore

GATES = ["recall_at_10>=0.5"]
SAME = ("scorecard", "weighted_score", "outcomes", "status", "error_count", "question_count", "gates", "notes",
        "fingerprints", "judge", "semantics", "datasets", "seed", "concurrency")  # fmt: skip


@pytest.fixture(scope="module")
def whole(start_server: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> EvalRun:
    """A run of thirty questions, of which some brought no answer."""
    url = start_server("--corpus", "golden", "--misbehave", "every:9:status:404")
    return run_evaluation(
        EvalConfig.build(
            {
                "datasets": ["golden"],
                "samples_per_dataset": 30,
                "rag_server_url": url,
                "suite": ["core"],
                "judge": False,
                "warmup": 0,
                "concurrency": 1,
                "max_error_rate": 0.9,
                "gate": GATES,
                "runs_dir": tmp_path_factory.mktemp("whole"),
            }
        )
    )


def split(whole: EvalRun, count: int, folder: Path, **keys: Any) -> list[EvalRun]:
    """The shards that would have brought the answers of a run, each in a folder of its own, as of several machines."""
    assert whole.path is not None
    made = whole.path.parent / f"{count}-{sorted(keys)}"
    if not made.exists():
        for number in range(1, count + 1):
            _part(whole, number, count, made, keys)
    shutil.copytree(made, folder, dirs_exist_ok=True)
    return [RunStore(folder / f"machine-{number}").load("last") for number in range(1, count + 1)]


def _part(whole: EvalRun, number: int, count: int, folder: Path, keys: dict[str, Any]) -> None:
    records = whole.records()[number - 1 :: count]
    own = {"shard": f"{number}/{count}", "runs_dir": folder / f"machine-{number}"}
    config = EvalConfig.build(whole.eval_config, own, keys)
    run = whole.model_copy(
        update={
            "id": f"part-{number}",
            "question_count": len(records),
            "eval_config": config.as_written(),
            "notes": [f"this is shard {number}/{count} of the questions: `evals merge` makes one run of all shards"],
            "duration_s": 0.0,
        }
    )
    bare = [record.model_copy(update={"scores": []}) for record in records]
    run_anywhere(measure_answers(SavedAnswers(run, bare), check_config(config), config, Observer()))


def merged(runs: Sequence[EvalRun], folder: Path, **options: Any) -> SavedRun:
    allow_partial = options.pop("allow_partial", False)
    shards = put_together(runs, {"runs_dir": folder, **options}, allow_partial=allow_partial)
    return run_anywhere(merge(shards, Observer()))


@pytest.mark.parametrize("count", [1, 2, 7])
def test_the_shards_of_a_run_are_the_run(whole: EvalRun, count: int, tmp_path: Path) -> None:
    """Values, intervals, counts, notes, gates, outcomes and records, to the last digit, whatever the order given."""
    shards = split(whole, count, tmp_path)
    made = merged(shards[::-1], tmp_path / "whole")
    assert {key: getattr(made.run, key) for key in SAME} == {key: getattr(whole, key) for key in SAME}
    assert RunStore(tmp_path / "whole").load(made.run.id).records() == whole.records()
    assert whole.path is not None
    before = open_saved(RunStore(whole.path.parent), whole).results
    assert list(made.results.outcomes) == list(before.outcomes)


def test_a_merged_run_says_what_it_was_made_of(whole: EvalRun, tmp_path: Path) -> None:
    """Its shards with their times, whose sum is its own; its configuration is that of the whole."""
    shards = split(whole, 2, tmp_path)
    run = merged(shards, tmp_path / "whole", name="nightly").run
    assert [(one.id, one.shard) for one in run.merged_from] == [("part-1", "1/2"), ("part-2", "2/2")]
    assert run.duration_s == pytest.approx(sum(shard.duration_s for shard in shards), abs=0.01)
    assert (run.name, run.eval_config["name"], run.eval_config["shard"]) == ("nightly", "nightly", None)
    assert EvalConfig.build(run.eval_config).runs_dir == tmp_path / "whole"
    assert run.record_sum is not None
    assert run.record_sum.count == run.question_count


def test_what_one_shard_says_of_the_asking_is_said_with_its_number(whole: EvalRun, tmp_path: Path) -> None:
    """What all say is said once."""
    shards = split(whole, 2, tmp_path)
    both = [resaved(one, notes=[*one.notes, "the weather was fine"]) for one in shards]
    first = resaved(both[0], notes=[*both[0].notes, "asked twice"])
    notes = merged([first, both[1]], tmp_path / "whole").run.notes
    assert notes == ["the weather was fine", "shard 1/2: asked twice", *whole.notes]


def test_latency_of_shards_of_different_concurrency_does_not_compare(whole: EvalRun, tmp_path: Path) -> None:
    """As of a run that was resumed at another."""
    shards = split(whole, 2, tmp_path)
    run = merged([resaved(shards[0], concurrency=4), shards[1]], tmp_path / "whole").run
    assert (run.concurrency, run.concurrencies) == (4, [4, 1])
    assert any(note.startswith("asked at concurrency 4 and 1") for note in run.notes)


def resaved(run: EvalRun, **changes: Any) -> EvalRun:
    """The same run with something changed in its file."""
    assert run.path is not None
    store = RunStore(run.path.parent)
    store.save(run.model_copy(update=changes))
    return store.load(str(run.path))


def configured(run: EvalRun, **keys: Any) -> EvalRun:
    return resaved(run, eval_config={**run.eval_config, **keys})


def served(run: EvalRun, **keys: Any) -> EvalRun:
    return resaved(run, server=run.server.model_copy(update=keys))


DIFFERENT: dict[str, tuple[Callable[[EvalRun], EvalRun], str]] = {
    "rule": (lambda run: configured(run, match={"overlap_threshold": 0.5}), "match.overlap_threshold"),
    "metrics": (lambda run: configured(run, metrics=["bleu"]), "its configuration: metrics"),
    "gate": (lambda run: configured(run, gate=["mrr>=0.1"]), "its configuration: gate"),
    "money": (lambda run: configured(run, judge={"enabled": False, "max_cost_usd": 3.0}), "judge.max_cost_usd"),
    "seed": (lambda run: configured(run, seed=1), "its configuration: seed"),
    "server's key": (
        lambda run: configured(run, server={**run.eval_config["server"], "headers": {"X-Tenant": "b"}}),
        "server.headers.X-Tenant",
    ),
    "questions": (
        lambda run: resaved(run, fingerprints=[run.fingerprints[0].model_copy(update={"sha256": "0" * 64})]),
        "the questions that the datasets gave",
    ),
    "version": (
        lambda run: resaved(run, package_versions={**run.package_versions, "rag-evals": "0.0.1"}),
        "the version of rag-evals that measured it",
    ),
    "profile": (lambda run: served(run, profile="openai-chat"), "the profile of its server"),
    "profile's file": (
        lambda run: served(run, spec_sha256="0" * 64),
        "what the profile rag-server says of asking and reading",
    ),
    "base": (lambda run: served(run, citation_base=0), "what the profile rag-server says of asking and reading"),
    "url": (lambda run: served(run, url="http://elsewhere:1"), "the address of its server"),
    "facts": (
        lambda run: resaved(run, config={**run.config, "llm_model": "another"}),
        "what its server says of itself as llm_model",
    ),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_shards_that_came_about_differently_are_refused(whole: EvalRun, name: str, tmp_path: Path) -> None:
    """The message names the shard and what differs."""
    change, said = DIFFERENT[name]
    first, second = split(whole, 2, tmp_path)
    with pytest.raises(ConfigError, match=r"shard 2/2 \(run part-2\) differs from shard 1/2") as refused:
        merged([first, change(second)], tmp_path / "whole")
    assert said in refused.value.message


@pytest.mark.parametrize(
    "keys", [{"concurrency": 9}, {"name": "other"}, {"data_dir": "rows"}, {"runs_dir": "elsewhere"}], ids=str
)
def test_keys_of_a_machine_may_differ(whole: EvalRun, keys: dict[str, Any], tmp_path: Path) -> None:
    """They change nothing of what is asked and measured."""
    first, second = split(whole, 2, tmp_path)
    assert merged([first, configured(second, **keys)], tmp_path / "whole").run.scorecard == whole.scorecard


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            lambda two, seven, _: [seven[n] for n in (0, 2, 3, 5, 6)],
            "these are not the shards 1/7 to 7/7, each once: shard 1/7",
        ),
        (
            lambda two, seven, _: [*two, two[1]],
            r"these are not the shards .*, shard 2/2 \(run part-2\), shard 2/2 \(run part-2\)",
        ),
        (lambda two, seven, _: [two[0], seven[1]], "these are not the shards 1/7 to 7/7, each once: shard 1/2"),
        (lambda two, seven, whole: [whole], "is no shard: it asked all questions"),
        (lambda two, seven, _: [], "there is nothing to merge"),
    ],
    ids=["missing", "given twice", "of other numbers", "a whole run", "nothing"],
)
def test_what_are_not_all_shards_of_one_run_is_refused(
    whole: EvalRun, given: Callable[..., list[EvalRun]], said: str, tmp_path: Path
) -> None:
    """The message names what is missing or too many."""
    runs = given(split(whole, 2, tmp_path / "two"), split(whole, 7, tmp_path / "seven"), whole)
    with pytest.raises(ConfigError, match=said) as refused:
        merged(runs, tmp_path / "whole")
    assert refused.value.hint


def test_a_shard_without_its_records_is_refused(whole: EvalRun, tmp_path: Path) -> None:
    """A run's file that was copied alone; the message names the shard."""
    first, second = split(whole, 2, tmp_path)
    copy = tmp_path / "copied"
    copy.mkdir()
    assert second.path is not None
    shutil.copy(second.path, copy)
    alone = RunStore(copy).load(str(copy / second.path.name))
    with pytest.raises(ConfigError, match=r"shard 2/2 .* has no records"):
        merged([first, alone], tmp_path / "whole")


def records_of(run: EvalRun) -> Path:
    assert run.path is not None
    return run.path.with_name(f"{run.path.stem}.records.jsonl")


def test_a_question_in_two_shards_is_refused(whole: EvalRun, tmp_path: Path) -> None:
    """Whatever its answers are."""
    first, second = split(whole, 2, tmp_path)
    lines = records_of(second).read_text().splitlines()
    records_of(second).write_text("\n".join([records_of(first).read_text().splitlines()[0], *lines[1:]]) + "\n")
    second = resaved(second, record_sum=None)
    with pytest.raises(ConfigError, match=r"question '.*' is in shard 1/2 \(run part-1\) and in shard 2/2"):
        merged([first, second], tmp_path / "whole")


def test_a_question_in_no_shard_is_refused(whole: EvalRun, tmp_path: Path) -> None:
    """A records file that lost a line; going on asks for it."""
    first, second = split(whole, 2, tmp_path)
    lines = records_of(second).read_text().splitlines()
    records_of(second).write_text("\n".join(lines[:-1]) + "\n")
    with pytest.raises(ConfigError, match=r"shard 2/2 .* holds 14 questions, and its part of the 30 .* is 15") as told:
        merged([first, second], tmp_path / "whole")
    assert "eval --resume part-2" in (told.value.hint or "")


@pytest.mark.parametrize(("status", "allowed"), [("partial", False), ("failed", False), ("failed", True)])
def test_a_shard_that_is_not_complete_is_refused_with_the_way_on(
    whole: EvalRun, status: str, allowed: bool, tmp_path: Path
) -> None:
    """The command is one that can be run as it stands, in the folder of that shard; a failed one has no answer."""
    first, second = split(whole, 2, tmp_path)
    with pytest.raises(RunIncompleteError, match=rf"shard 2/2 \(run part-2\) is {status}") as refused:
        merged([first, resaved(second, status=status)], tmp_path / "whole", allow_partial=allowed)
    assert f"evals eval --resume part-2 --runs-dir {tmp_path / 'machine-2'}" in (refused.value.hint or "")
    assert ("--allow-partial" in (refused.value.hint or "")) is (status == "partial")


def unanswered(run: EvalRun, tmp_path: Path) -> EvalRun:
    """A shard whose last two questions were not asked."""
    path = records_of(run)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines[-2:]:
        line["record"] |= {"response": None, "scores": []}
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return resaved(run, status="partial", record_sum=None, outcomes=run.outcomes.model_copy(update={"not_asked": 2}))


def test_partial_shards_make_a_partial_run_where_that_is_allowed(whole: EvalRun, tmp_path: Path) -> None:
    """What they did not ask counts as not asked."""
    first, second = split(whole, 2, tmp_path)
    run = merged([first, unanswered(second, tmp_path)], tmp_path / "whole", allow_partial=True).run
    assert (run.status, run.outcomes.not_asked, run.question_count) == ("partial", 2, 30)
    assert [one.status for one in run.merged_from] == ["complete", "partial"]


def test_failures_are_counted_over_the_whole(whole: EvalRun, tmp_path: Path) -> None:
    """A shard with more than its share of them does not make the merged run partial, where the whole has few."""
    rate = whole.error_count / whole.question_count
    shards = split(whole, 7, tmp_path, max_error_rate=rate)
    assert "partial" in {shard.status for shard in shards}
    assert merged(shards, tmp_path / "whole", allow_partial=True).run.status == "complete"


def test_a_merged_run_is_measured_again_like_any_other_and_not_resumed(whole: EvalRun, tmp_path: Path) -> None:
    """The new run was rescored, and not merged; who asks are its shards."""
    run = merged(split(whole, 2, tmp_path), tmp_path / "whole").run
    again = run_anywhere(rescore(run, EvalConfig.build(run.eval_config), observer=Observer()))
    assert (again.scorecard, again.rescored_from, again.merged_from) == (whole.scorecard, run.id, [])
    with pytest.raises(ConfigError, match="was merged from 2 shards: it asks none itself"):
        check_resumable(run, EvalConfig.build(run.eval_config))


def test_shards_that_were_measured_again_are_merged_too(whole: EvalRun, tmp_path: Path) -> None:
    """With other metrics than they were made with; one alone is of another configuration."""
    shards = split(whole, 2, tmp_path)
    keys = {"metrics": ["mrr", "recall_at_10"], "suite": []}
    anew = [run_anywhere(rescore(one, EvalConfig.build(one.eval_config, keys), observer=Observer())) for one in shards]
    run = merged(anew, tmp_path / "whole").run
    assert run.scorecard.get("mrr").value == whole.scorecard.get("mrr").value
    with pytest.raises(EvalsError, match="differs from"):
        merged([anew[0], shards[1]], tmp_path / "whole")
