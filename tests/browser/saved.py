"""Runs for pages to show: by `eval` in a process of its own, or written record by record as `eval` would leave them."""

import os
import random
import subprocess
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from servers import HOME

from evals.metrics.registry import select
from evals.schemas import EvalQuestion, EvalRecord, EvalResponse, EvalRun, GoldPassage, RetrievedChunk, ServerRecord
from evals.schemas.response import Citation
from evals.scoring.config import ScoringConfig
from evals.scoring.scorecard import make_scorecard, score_record
from evals.scoring.settings import cases_of, score_settings
from evals.scoring.weighted import make_weighted_score
from evals.store.runs import RunStore

BEGIN = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
SUBJECTS = ("fire", "flood", "theft", "storm", "glass", "water", "travel", "liability")
DUTIES = ("the notice period", "the deductible", "the waiting time", "the upper limit", "the place of jurisdiction")


def evaluate(folder: Path, *arguments: str, **environment: str) -> int:
    """Run `evals eval` in a process of its own; returns its exit code."""
    command = [sys.executable, "-m", "evals.cli", "eval", *arguments, "--runs-dir", str(folder)]
    return subprocess.run(command, cwd=HOME, env={**os.environ, **environment}, capture_output=True).returncode


def save_run(folder: Path, run_id: str, records: Sequence[EvalRecord], **changes: Any) -> EvalRun:
    """Score records and save them as a finished run of one dataset."""
    run = EvalRun(
        **{
            "id": run_id, "name": f"run {run_id}", "created_at": BEGIN, "completed_at": BEGIN, "datasets": ["policies"],
            "question_count": len(records), "status": "complete", "seed": 42, "concurrency": 4,
            "server": ServerRecord(url="http://127.0.0.1:1", profile="rag-server"), **changes,
        }
    )  # fmt: skip
    metrics, cases = select(["core"], []), cases_of(run, records)
    scored = [score_record(metrics, record, cases) for record in records]
    store = RunStore(folder)
    store.prepare()
    store.compact(run, scored)
    card = make_scorecard(metrics, scored, score_settings(run))
    answered = sum(record.response is not None and record.response.error is None for record in records)
    done = run.model_copy(
        update={
            "scorecard": card,
            "weighted_score": make_weighted_score(card, ScoringConfig()),
            "outcomes": run.outcomes.model_copy(update={"answered": answered}),
            "error_count": len(records) - answered,
        }
    )
    store.save(done)
    return done


def policy_records(
    count: int, *, worse: Iterable[int] = (), better: Iterable[int] = (), seed: str = ""
) -> list[EvalRecord]:
    """Questions on policies with good answers.

    Args:
        count: Of the questions.
        worse: The numbers of those whose gold is not retrieved and whose answer is another.
        better: Those that have an answer here, while all others of every third number have their gold at rank 3.
        seed: Of the latencies.
    """
    lost, gained = set(worse), set(better)
    return [_policy(number, number in lost, number in gained, seed) for number in range(count)]


def _policy(number: int, lost: bool, gained: bool, seed: str) -> EvalRecord:
    subject, duty = SUBJECTS[number % len(SUBJECTS)], DUTIES[number % len(DUTIES)]
    luck = random.Random(f"{seed} {number}")  # noqa: S311
    fact = f"{3 + number} days"
    gold = f"In policy {number}, {duty} for {subject} is {fact}, counted from the day on which the loss became known."
    others = [
        f"Policy {number} covers {subject} where clause {place} says so, and excludes what was caused on purpose."
        for place in range(4)
    ]
    place = 0 if gained or number % 3 else 2
    texts = others if lost else [*others[:place], gold, *others[place:]]
    since = "counted from the day on which the loss became known"
    answer = f"{duty.capitalize()} for {subject} is {fact}, {since} [{place + 1}]."
    if lost:
        answer = f"{duty.capitalize()} for {subject} is {40 + number} weeks, as clause 2 of policy {number} says [2]."
    return EvalRecord(
        question=EvalQuestion(
            id=f"policy-{number}",
            question=f"What is {duty} for {subject} in policy {number}?",
            expected_answer=fact,
            gold_passages=[GoldPassage(text=gold, document_id=f"policy-{number}.md")],
            is_unanswerable=False,
            dataset="policies",
            metadata={"subject": subject},
        ),
        response=EvalResponse(
            answer=answer,
            chunks=[RetrievedChunk(document_id=f"policy-{number}.md", text=text) for text in texts],
            citations=[Citation(index=2 if lost else place + 1)],
            latency_ms=round(200 + 300 * luck.random(), 1),
        ),
    )  # fmt: skip


def save_series(folder: Path, count: int, questions: int = 40) -> list[str]:
    """Save runs of before, a week apart, each of which loses more questions than the one before; returns their ids."""
    ids = [f"week{number + 1}" for number in range(count)]
    for number, run_id in enumerate(ids):
        made = BEGIN + timedelta(weeks=number)
        records = policy_records(questions, worse=range(3, 3 + 3 * number), seed=run_id)
        save_run(folder, run_id, records, name=f"Week {number + 1}", created_at=made, completed_at=made)
    return ids
