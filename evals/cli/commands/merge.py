"""`evals merge RUN…`: one run of all shards."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evals.cli.ci.flags import CiFlags
from evals.cli.ci.reporter import Reporter
from evals.cli.ending import end, observer_for
from evals.errors import RunInterruptedError
from evals.run.merging.merge import merge, put_together
from evals.store.commands import DEFAULT_RUNS_DIR
from evals.store.runs import RunStore


def merge_runs(
    run_ids: Sequence[str],
    *,
    name: str | None,
    gates: Sequence[str],
    lenient: bool,
    allow_uncalibrated: bool,
    allow_partial: bool,
    as_json: bool,
    runs_dir: Path | None,
    flags: CiFlags,
) -> None:
    """Make one run of the shards, and print what came out.

    Raises:
        RunInterruptedError: Somebody pressed Ctrl-C; the shards are as they were.
        EvalsError: With the exit code of what went wrong.
    """
    store = RunStore(runs_dir or DEFAULT_RUNS_DIR)
    given: dict[str, Any] = {"name": name, "gate": list(gates), "allow_uncalibrated": allow_uncalibrated}
    with Reporter(flags, as_json=as_json, lenient=lenient) as reporter:
        _merge(store, run_ids, given, reporter, allow_partial=allow_partial, as_json=as_json)


def _merge(
    store: RunStore,
    run_ids: Sequence[str],
    given: dict[str, Any],
    reporter: Reporter,
    *,
    allow_partial: bool,
    as_json: bool,
) -> None:
    layer = {key: value for key, value in given.items() if value} | {"runs_dir": store.folder}
    shards = put_together([store.load(run_id) for run_id in run_ids], layer, allow_partial=allow_partial)
    try:
        done = asyncio.run(merge(shards, observer_for(as_json=as_json)))
    except KeyboardInterrupt as error:
        raise RunInterruptedError("interrupted", "the shards are as they were: merge them again") from error
    end(done, shards.config, reporter, as_json=as_json)
