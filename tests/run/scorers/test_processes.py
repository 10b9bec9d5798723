"""Records that several processes score, put together, are those that one process scores."""

import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from servers import wait_until
from whole_runs import run_to_conclude

from evals.config import EvalConfig
from evals.errors import EngineError
from evals.metrics.registry import select
from evals.run import overlapped
from evals.run.overlapped import BatchScorer, RecordLine, ScoreConfig, ScoringPool, score_rest
from evals.run.work import RunPlan, RunRecords
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse
from evals.scoring.diagnosis.stages import facts_of
from evals.scoring.digest import RunSummary
from evals.scoring.settings import ScoreSettings, ScoringContext
from evals.store.disk_buffer import DiskList, SpilledMapping

COUNT = 90
CONFIG = EvalConfig.build({"judge": False, "gate": ["recall_at_5>=0.1"]})


def record(number: int) -> EvalRecord:
    """One of many kinds: failed, declining, without chunks, with citations to nothing, slow, with stages."""
    said = f"The notice of article {number} is {number + 2} days."
    question = {
        "id": f"q{number}",
        "question": f"How long is the notice of article {number}?",
        "expected_answer": None if number % 7 == 3 else f"{number + 2} days",
        "gold_passages": [] if number % 7 == 3 else [{"text": said, "document_id": f"guide-{number // 3}.md"}],
        "is_unanswerable": number % 7 == 3,
        "metadata": {"kind": f"k{number % 4}"} if number % 2 else {},
    }
    return EvalRecord(
        question=EvalQuestion.model_validate(question), response=_response(number, said) if number % 11 else None
    )


def _response(number: int, said: str) -> EvalResponse:
    if number % 13 == 5:
        return EvalResponse.model_validate({"error": {"kind": "timeout", "message": "no answer in 5 s"}})
    other = {"text": f"Article {number + 1} was repealed in {1900 + number}.", "document_id": f"x-{number}.md"}
    hit = {"chunk_id": f"c{number}", "text": said, "document_id": f"guide-{number // 3}.md"}
    return EvalResponse.model_validate(
        {
            "answer": None if number % 17 == 2 else "I do not know." if number % 5 == 1 else f"{said} [2]",
            "chunks": None if number % 19 == 4 else [other, hit] if number % 3 else [other],
            "citations": None if number % 6 == 0 else [{"index": number % 5}] if number % 4 else [],
            "latency_ms": 100.0 + number,
            "total_ms": 400.0 + number if number % 8 == 1 else 100.0 + number,
            "attempts": 1 + (number % 8 == 1),
            "usage": {"prompt_tokens": 9 + number, "completion_tokens": 2} if number % 9 == 2 else None,
            "notes": [f"null in field {number % 3}"] if number % 10 == 7 else [],
            "confidence": (number % 10) / 10 if number % 2 else None,
            "stages": [{"name": "dense", "chunks": [hit]}, {"name": "rerank", "chunks": [other]}]
            if number % 12 == 7
            else None,
        }
    )


def how_to(records: Sequence[EvalRecord]) -> ScoreConfig:
    """As a run of these records is scored."""
    run = run_to_conclude(len(records))
    scored = ScoringContext(ScoreSettings(match=CONFIG.match)).within(records).settings
    return ScoreConfig(run, select(["core"], []), scored, facts_of(run, records), CONFIG)


def run_records(records: Sequence[EvalRecord], folder: Path | None = None) -> RunRecords:
    """The same as a run holds them: in memory, or on disk as where it asks."""
    responses = {one.question.id: one.response for one in records if one.response is not None}
    if folder is None:
        return RunRecords(RunPlan(run_to_conclude(len(records)), [one.question for one in records], responses), {})
    spilled: SpilledMapping[EvalResponse] = SpilledMapping(EvalResponse, folder)
    spilled.update(responses)
    questions = DiskList(EvalQuestion, (one.question for one in records), folder)
    return RunRecords(RunPlan(run_to_conclude(len(records)), questions, spilled), {})


def concluded(scorer: BatchScorer, records: Sequence[EvalRecord]) -> tuple[dict[str, Any], list[str], RunSummary]:
    """All that follows from what was gathered."""
    run = scorer.scorer.concluded(records).model_dump(exclude={"completed_at"})
    return run, scorer.scorer.answers.notes(concurrency=4, usage_limit=1), scorer.summary.build(0.95, 1)


@settings(derandomize=True, deadline=None, max_examples=25)
@given(st.sets(st.integers(0, COUNT), max_size=6), st.integers(1, COUNT))
def test_what_was_gathered_in_parts_is_what_was_gathered_at_once(cuts: set[int], count: int) -> None:
    """Values, intervals, counts, notes and digest, wherever the records are cut and however few there are."""
    records = [record(number) for number in range(count)]
    how = how_to(records)
    whole, together = BatchScorer(how), BatchScorer(how)
    lines, parts = list(whole.lines(records)), list[RecordLine]()
    ends = [*sorted(cut for cut in cuts if cut < count), count]
    for start, end in zip([0, *ends[:-1]], ends, strict=True):
        part = BatchScorer(how, start)
        parts += part.lines(records[start:end])
        together.scorer.extend(pickle.loads(pickle.dumps(part.scorer.gathered())))  # noqa: S301 - our own
    assert parts == lines
    assert concluded(together, records) == concluded(whole, records)


@pytest.mark.parametrize("on_disk", [True, False])
def test_two_processes_write_the_lines_of_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, on_disk: bool) -> None:
    """In the order of the questions, from the first that is not done yet."""
    folder = tmp_path if on_disk else None
    monkeypatch.setattr(overlapped, "BATCH", 20)
    records = [record(number) for number in range(COUNT)]
    how = how_to(records)
    whole, together = BatchScorer(how), BatchScorer(how)
    lines = list(whole.lines(records))
    with closing(ScoringPool(2)) as pool:
        assert [*together.lines(records[:7]), *score_rest(together, run_records(records, folder), pool)] == lines
    assert together.done == COUNT
    assert concluded(together, records) == concluded(whole, records)


def test_a_process_that_ends_by_itself_is_told_with_a_way_out() -> None:
    """As one does that the system ends for want of memory."""
    records = [record(number) for number in range(1, 10)]
    with closing(ScoringPool(1)) as pool:
        process = pool._idle.get()
        process.kill()
        pool._idle.put(process)
        with pytest.raises(EngineError, match="ended by itself") as refused:
            list(score_rest(BatchScorer(how_to(records)), run_records(records), pool))
    assert "engine.jobs" in (refused.value.hint or "")


def test_processes_that_cannot_be_started_are_told_as_that(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not as a disk that is full, though the system says both alike."""

    def refused(*_: object, **__: object) -> object:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(subprocess, "Popen", refused)
    with pytest.raises(EngineError, match=r"could not be started, or ended by itself: .*Too many open files"):
        ScoringPool(1)


def test_a_mistake_in_a_process_is_raised_in_the_one_that_waits() -> None:
    """With its type."""
    records = [record(1)]
    with closing(ScoringPool(1)) as pool, pytest.raises(UnpicklingError):
        pool.submit(b"no configuration", 0, records).result()


KILLED = """
import time
from evals.run.overlapped import ScoringPool
pool = ScoringPool(2)
print(*(pool._idle.get().pid for _ in range(2)), flush=True)
time.sleep(60)
"""


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="sees processes by /proc")
def test_processes_end_where_the_one_that_waits_for_them_is_killed() -> None:
    """Their input ends with it."""
    parent = subprocess.Popen([sys.executable, "-c", KILLED], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pids = [int(pid) for pid in parent.stdout.readline().split()]
    parent.kill()
    parent.communicate()
    assert len(pids) == 2
    wait_until(lambda: not any(map(_is_running, pids)), "their end")


UNGUARDED = """
import asyncio
from pathlib import Path
from evals.config import EvalConfig
from evals.run.saved import score_answers
from evals.run import measure, overlapped
overlapped.BATCH = 5
measure.FEWEST = 10
config = {{"dataset_file": {questions!r}, "runs_dir": {runs!r}, "judge": False, "engine": {{"jobs": 2}}}}
Path({begun!r}).open("a").write("begun ")
asyncio.run(score_answers(Path({answers!r}), EvalConfig.build(config)))
"""


@pytest.mark.slow
def test_a_script_that_begins_a_run_as_it_is_read_begins_it_once(tmp_path: Path) -> None:
    """A process that read it again would ask and pay for everything again."""
    names = {name: str(tmp_path / name) for name in ("questions.jsonl", "answers.jsonl", "runs", "begun")}
    Path(names["questions.jsonl"]).write_text("\n".join(f'{{"id": "q{n}", "question": "{n}?"}}' for n in range(30)))
    Path(names["answers.jsonl"]).write_text("\n".join(f'{{"question_id": "q{n}", "answer": "{n}"}}' for n in range(30)))
    script = tmp_path / "unguarded.py"
    script.write_text(UNGUARDED.format(**{name.partition(".")[0]: path for name, path in names.items()}))
    ended = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ended.returncode == 0, ended.stderr
    assert Path(names["begun"]).read_text().split() == ["begun"]
    assert len(list(Path(names["runs"]).glob("*Z.json"))) == 1


def test_every_metric_of_ours_can_be_sent() -> None:
    """Those of all suites; metrics of plugins stay in this process."""
    pickle.dumps(select(["all"], []))
