"""How far a run is that is going on: read from its log, of which each look takes only what is new."""

import time
from collections import Counter
from pathlib import Path
from typing import Any

from evals.errors import StoreError
from evals.inputs.json_body import parse_stored
from evals.metrics.registry import parse_metric
from evals.schemas import EvalQuestion, EvalResponse, EvalRun, JudgeVerdict
from evals.scoring.settings import Cases, score_settings
from evals.stats.intervals import percentile
from evals.views.formatting import number

_GLANCED = ("recall_at_5", "mrr")
"""Metrics that are measured while a run goes on: quick ones, which need nobody's word."""


class RunProgress:
    """Counts what the log of a run says.

    What is measured so far is a glance and no result: what the whole run says of matching is not known yet.

    Args:
        run: As it was saved when it began.
        path: Its log.
    """

    def __init__(self, run: EvalRun, path: Path) -> None:
        self._run, self._path = run, path
        self._metrics = [parse_metric(name) for name in _GLANCED]
        self._begin()

    def _begin(self) -> None:
        self._inode, self._read_to = 0, 0
        self._cases = Cases(score_settings(self._run))
        self._questions: dict[str, EvalQuestion] = {}
        self._answered: dict[str, str | None] = {}
        self._latencies: dict[str, float] = {}
        self._values: dict[str, dict[str, float]] = {name: {} for name in _GLANCED}
        self._verdicts = self._lost_verdicts = 0
        self._spent_usd = 0.0
        self._records = 0

    def look(self) -> dict[str, Any]:
        """What is known now.

        Raises:
            StoreError: The log cannot be read, or is none.
        """
        try:
            state = self._path.stat()
            if state.st_ino != self._inode or state.st_size < self._read_to:
                self._begin()
                self._inode = state.st_ino
            self._take_new()
        except OSError as error:
            raise StoreError(f"cannot read {self._path.name}: {error.strerror}") from error
        except (KeyError, TypeError, ValueError) as error:
            raise StoreError(f"{self._path.name} is not the log of a run") from error
        return {**self._told(), "quiet_s": max(0.0, round(time.time() - state.st_mtime, 1))}

    def _take_new(self) -> None:
        """Take the lines that were added since the last look; one that is still written waits for the next."""
        with self._path.open("rb") as file:
            file.seek(self._read_to)
            for line in file:
                if not line.endswith(b"\n"):
                    return
                self._take(parse_stored(line))
                self._read_to += len(line)

    def _take(self, event: dict[str, Any]) -> None:
        key, kind = event["question_id"], event["type"]
        if kind == "question":
            self._questions[key] = EvalQuestion.model_validate(event["question"])
        elif kind == "answer":
            self._answer(key, EvalResponse.model_validate(event["answer"]))
        elif kind == "verdict":
            self._verdict(JudgeVerdict.model_validate(event["verdict"]))
        else:
            self._record(key, event["record"])

    def _record(self, key: str, record: dict[str, Any]) -> None:
        """A record of a run that is gone on with, or was just finished."""
        self._records += 1
        self._questions[key] = EvalQuestion.model_validate(record["question"])
        if record["response"] is not None:
            self._answer(key, EvalResponse.model_validate(record["response"]))

    def _answer(self, key: str, response: EvalResponse) -> None:
        """The last answer to a question counts, as one that failed is asked again when a run goes on."""
        self._answered[key] = response.error.kind if response.error else None
        self._latencies.pop(key, None)
        for values in self._values.values():
            values.pop(key, None)
        if response.error is not None:
            return
        if response.latency_ms is not None:
            self._latencies[key] = response.latency_ms
        case = self._cases.about(self._questions[key], response)
        for metric in self._metrics:
            value = metric.score(case).value
            if value is not None:
                self._values[metric.name][key] = value

    def _verdict(self, verdict: JudgeVerdict) -> None:
        self._verdicts += 1
        self._lost_verdicts += verdict.failure is not None
        self._spent_usd += verdict.cost_usd or 0.0

    def _told(self) -> dict[str, Any]:
        errors = Counter(kind for kind in self._answered.values() if kind is not None)
        return {
            "total": len(self._questions),
            "asked": len(self._answered),
            "answered": len(self._answered) - errors.total(),
            "errors": [{"kind": kind.replace("_", " "), "count": count} for kind, count in errors.most_common()],
            "verdicts": self._verdicts,
            "lostVerdicts": self._lost_verdicts,
            "spent": number(self._spent_usd, "USD") if self._verdicts else None,
            "values": [*self._means(), *self._latency()],
        }

    def _means(self) -> list[dict[str, Any]]:
        found = ((name, list(values.values())) for name, values in self._values.items())
        return [
            {"name": f"{name} so far", "shown": number(sum(values) / len(values), "ratio"), "n": len(values)}
            for name, values in found
            if values
        ]

    def _latency(self) -> list[dict[str, Any]]:
        values = sorted(self._latencies.values())
        return [
            {"name": f"latency p{share} so far", "shown": number(percentile(values, share), "ms"), "n": len(values)}
            for share in (50, 95)
            if values
        ]
