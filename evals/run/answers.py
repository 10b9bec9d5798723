"""Saved answers, scored like those of a run that asked; no server."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex

from evals.config import EvalConfig
from evals.datasets.answers import are_extractive, each_answer
from evals.errors import DatasetError
from evals.run.checks import check_config
from evals.run.notebook import usual_observer
from evals.run.observer import Observer
from evals.run.saved import measure_saved, saved_verdicts, work_on
from evals.run.work import Work
from evals.run.workload import Workload, is_file_of_questions, load_workload
from evals.schemas import EvalResponse, EvalRun, ServerRecord
from evals.schemas.results import SAVED_ANSWERS
from evals.scoring.outcomes import package_versions
from evals.store.spill import SpilledMapping
from evals.text.counts import counted

_NAMED = 5
_EXTRACTIVE = "the answers are spans that an extractive system predicts: only an empty one abstains"


async def score_answers(answers: Path, config: EvalConfig, observer: Observer | None = None) -> EvalRun:
    """Measure saved answers to the questions of the configuration, and save the result as a run.

    Questions without a saved answer count as not asked, so that the run is partial; they and answers to unknown
    questions are noted in the run.

    Args:
        answers: A file of one JSON object a line.
        config: The questions, and what to compute.
        observer: Hears of the progress; where none is given, the cell of a notebook, in a script nobody.

    Raises:
        ConfigError: The configuration is wrong.
        DatasetError: The questions or the answers cannot be read; the message names the line.
        JudgeError: A judge is wanted and cannot be used.
        StoreError: The result cannot be written.
    """
    metrics = check_config(config)
    work = saved_answers(answers, config)
    return (await measure_saved(work, metrics, config, observer or usual_observer())).run


def saved_answers(answers: Path, config: EvalConfig) -> Work:
    """Read saved answers beside the questions of the configuration.

    Raises:
        DatasetError: The questions or the answers cannot be read, or do not belong together.
    """
    workload = load_workload(config, answers)
    responses, notes = _responses(answers, config, workload)
    asked = [question.id for question in workload.questions]
    known, answered = frozenset(asked), list(responses)
    if known.isdisjoint(answered):
        raise DatasetError(
            f"{answers.name}: none of its {counted(len(answered), 'answer')} is to a question of the dataset",
            f"a `question_id` is the `id` of a question, such as {asked[0]!r}",
        )
    notes += [
        *_note("without a saved answer", [one for one in asked if one not in responses]),
        *_note("answered but not in the dataset, ignored", [one for one in answered if one not in known]),
    ]
    for stranger in set(answered) - known:
        del responses[stranger]
    new = _new_run(answers, config, workload)
    verdicts = saved_verdicts(config, lambda run: (run.server.url, run.server.profile) == (answers.name, SAVED_ANSWERS))
    return work_on(new, workload.questions, responses, config, notes=notes, free=verdicts)


def _responses(answers: Path, config: EvalConfig, workload: Workload) -> tuple[SpilledMapping[EvalResponse], list[str]]:
    """The answers by the ids of their questions, and what to know of how they were read."""
    found: SpilledMapping[EvalResponse] = SpilledMapping(EvalResponse, config.runs_dir)
    columns = workload.fingerprints[0].columns if is_file_of_questions(answers, config) else {}
    found.update(each_answer(answers, config.columns, reference=columns.get("expected_answer")))
    if not are_extractive(found.values()):
        return found, []
    for question_id in found:
        found[question_id] = found[question_id].model_copy(update={"extractive": True})
    return found, [_EXTRACTIVE]


def _note(what: str, ids: Sequence[str]) -> list[str]:
    if not ids:
        return []
    named = ", ".join(ids[:_NAMED]) + (", …" if len(ids) > _NAMED else "")
    return [f"{counted(len(ids), 'question')} {what}: {named}"]


def _new_run(answers: Path, config: EvalConfig, workload: Workload) -> EvalRun:
    return EvalRun(
        id=token_hex(4),
        name=config.name or f"score-{answers.stem}",
        created_at=datetime.now(UTC).replace(microsecond=0),
        datasets=[fingerprint.name for fingerprint in workload.fingerprints],
        question_count=len(workload.questions),
        eval_config=config.as_written(),
        server=ServerRecord(url=answers.name, profile=SAVED_ANSWERS, citation_base=config.server_spec().citations.base),
        fingerprints=workload.fingerprints,
        seed=config.seed,
        concurrency=1,
        package_versions=package_versions(),
    )
