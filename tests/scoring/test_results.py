"""The values of a run as columns, and `columns.npz` beside it."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from whole_runs import Quality, column_of, saved_run

from evals.errors import ConfigError, StoreError
from evals.metrics.performance import RAN_OUT
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, GoldPassage, MetricResult, RetrievedChunk
from evals.scoring.results import Results, check_cluster, gold_hash, rows_by_value
from evals.scoring.saved import open_run
from evals.store.runs import RunStore


def asked(number: int, *, found: bool = True, **metadata: object) -> EvalRecord:
    """A record whose first chunk holds gold, or does not."""
    question = EvalQuestion(
        id=f"q{number}",
        question=f"What is {number}?",
        expected_answer=f"{number} apples",
        gold_passages=[GoldPassage(text=f"There are {number} apples in the cellar.", document_id=f"d{number % 3}")],
        metadata=metadata,
    )
    chunk = f"There are {number} apples in the cellar." if found else "Pears are sold on Mondays only."
    return EvalRecord(
        question=question,
        response=EvalResponse(answer=f"{number} apples", chunks=[RetrievedChunk(text=chunk)], latency_ms=10.0 + number),
    )


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    """A folder with a run of twenty questions, five of them without gold among their chunks."""
    saved_run(tmp_path, [asked(number, found=number % 4 != 0) for number in range(20)])
    return tmp_path


def opened(folder: Path) -> Results:
    return open_run(RunStore(folder), "last").results


def test_a_run_has_three_files_and_columns_hold_what_the_records_say(run_folder: Path) -> None:
    """What the reader of `columns.npz` sees is what is written in `records.jsonl`, question by question."""
    assert sorted(path.name.partition(".")[2] for path in run_folder.glob("0123abcd_*")) == [
        "columns.npz",
        "json",
        "records.jsonl",
    ]
    saved = open_run(RunStore(run_folder), "last")
    for row, record in enumerate(saved.records()):
        assert saved.results.ids[row] == record.question.id
        for score in record.scores:
            value = saved.results.columns[score.name].numbers[row]
            assert np.isnan(value) if score.value is None else value == score.value, score.name


def test_the_file_of_columns_is_as_the_docs_describe_it(run_folder: Path) -> None:
    """Keys and types of the arrays, with one array of values and one of codes for each metric."""
    with np.load(next(run_folder.glob("*.columns.npz")), allow_pickle=False) as arrays:
        about = json.loads(arrays["about"].tobytes())
        count = len(json.loads(arrays["ids"].tobytes()))
        kinds = {name: str(arrays[name].dtype) for name in arrays}
        assert {len(arrays[name]) for name in arrays if name not in ("about", "ids")} == {count}
    assert about["version"] == 2
    plain = {
        "about": "uint8",
        "ids": "uint8",
        "offsets": "uint64",
        "groups": "int64",
        "outcomes": "uint8",
        "golds": "uint64",
        "weights": "float64",
        "strata": "uint16",
    }
    numbered = {f"values_{n}": "float64" for n in range(len(about["metrics"]))}
    assert kinds == plain | numbered | {f"codes_{n}": "uint16" for n in range(len(about["metrics"]))}
    mrr = next(each for each in about["metrics"] if each["name"] == "mrr")
    assert mrr["reasons"][0] == ["not_asked", "the question was not asked", None, False]


def _delete(path: Path) -> None:
    path.unlink()


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-500])


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _of_text(path: Path) -> None:
    path.write_text("not a zip file")


def _of_a_later_version(path: Path) -> None:
    """One byte of the directory of the zip file is another: the version that is needed to read it."""
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + 6] = 64
    path.write_bytes(data)


@pytest.mark.parametrize("harm", [_delete, _cut, _empty, _of_text, _of_a_later_version])
def test_columns_are_made_anew_where_their_file_is_missing_or_damaged(
    run_folder: Path, harm: Callable[[Path], None]
) -> None:
    """The records alone are needed; the file is there again afterwards."""
    before, path = opened(run_folder), next(run_folder.glob("*.columns.npz"))
    harm(path)
    after = opened(run_folder)
    assert after.ids == before.ids
    assert list(after.outcomes) == list(before.outcomes)
    for name, column in before.columns.items():
        assert np.array_equal(column.numbers, after.columns[name].numbers, equal_nan=True), name
        assert column.reasons == after.columns[name].reasons
    assert path.stat().st_size > 1000


def test_columns_of_other_records_are_not_believed(run_folder: Path) -> None:
    """A copied or touched `records.jsonl` makes columns anew instead of showing another run's values."""
    path = next(run_folder.glob("*.columns.npz"))
    strange = Results()
    strange.add(EvalQuestion(id="x", question="?"), [Quality().result(0.5)], 1)
    run = RunStore(run_folder).load("last")
    assert run.record_sum is not None
    strange.save(path, run.record_sum, 1)
    assert len(opened(run_folder).ids) == 20
    os.utime(next(run_folder.glob("*.records.jsonl")))
    assert len(opened(run_folder).ids) == 20


def test_a_missing_records_file_is_one_clear_error(run_folder: Path) -> None:
    """Columns alone are no run: what they say could not be looked up."""
    next(run_folder.glob("*.records.jsonl")).unlink()
    with pytest.raises(StoreError, match=r"records\.jsonl"):
        open_run(RunStore(run_folder), "last")


def test_codes_keep_kind_text_label_and_lateness_of_each_result() -> None:
    """Many results have few reasons; each is kept once, and counted."""
    metric = Quality()
    results = [
        metric.result(1.0),
        metric.result(0.0, label="wrong"),
        metric.result(7.0, **{RAN_OUT: True}),
        metric.undefined("no gold"),
        metric.undefined("the judge failed", missing="judge"),
        metric.result(0.5),
    ]
    column = column_of(metric, results)
    counts = {(each.missing, each.text, each.label, each.is_late): count for each, count in column.counts().items()}
    assert counts == {
        (None, None, None, False): 2,
        (None, None, "wrong", False): 1,
        (None, None, None, True): 1,
        ("not_applicable", "no gold", None, False): 1,
        ("judge", "the judge failed", None, False): 1,
    }
    assert column.mask("judge").tolist() == [False, False, False, False, True, False]
    assert column.numbers[column.late()].tolist() == [7.0]


def test_a_metric_that_begins_later_has_no_values_before() -> None:
    """Such as one of the user's own that failed on the first question."""
    results = Results()
    results.add(EvalQuestion(id="a", question="?"), [], 0)
    results.add(EvalQuestion(id="b", question="?"), [MetricResult(name="late", group="retrieval", value=0.5)], 1)
    assert np.array_equal(results.columns["late"].numbers, [np.nan, 0.5], equal_nan=True)


@pytest.mark.parametrize(
    ("cluster", "groups"),
    [(None, 6), ("document", 3), ("team", 2)],
)
def test_questions_are_grouped_as_the_configuration_says(tmp_path: Path, cluster: str | None, groups: int) -> None:
    """Without `scoring.cluster` each question is its own group, so that results are about these documents."""
    results = Results(cluster)
    for number in range(6):
        results.add(asked(number, team="ab"[number % 2]).question, [], 1)
    assert len(set(results.groups)) == groups
    assert (results.group_numbers() is None) == (cluster is None)


def test_repeats_of_a_question_and_turns_of_a_conversation_are_one_group() -> None:
    """Whatever the configuration says: they are the same evidence again."""
    results = Results()
    results.add(EvalQuestion(id="a", question="Who?"), [], 1)
    results.add(EvalQuestion(id="a~2", question="Who?", metadata={"repeat_of": "a"}), [], 1)
    assert len(set(results.groups)) == 1


def test_a_cluster_that_no_question_has_is_refused_with_the_keys_there_are() -> None:
    """A misspelt key would silently give intervals as without one."""
    questions = [asked(number, team="a", level="low").question for number in range(2)]
    check_cluster("document", questions)
    check_cluster("team", questions)
    with pytest.raises(ConfigError) as caught:
        check_cluster("teem", questions)
    assert caught.value.hint == "write document, or a key of the metadata: level, team"


def test_the_hash_of_gold_changes_with_every_part_of_what_is_expected() -> None:
    """Runs whose gold differs are not compared question by question."""
    base = asked(1).question
    others = [
        base.model_copy(update={"expected_answer": "two"}),
        base.model_copy(update={"gold_passages": []}),
        base.model_copy(update={"is_unanswerable": True}),
    ]
    assert len({gold_hash(each) for each in (base, *others)}) == 4
    assert gold_hash(base) == gold_hash(base.model_copy(update={"metadata": {"note": "x"}}))


def test_rows_by_value_leave_out_what_has_none() -> None:
    """A list counts as one value; None, an empty text and an empty list as none."""
    assert rows_by_value(["a", None, ["x", "y"], "a", "", [], 3]) == {"a": [0, 3], "x, y": [2], "3": [6]}
