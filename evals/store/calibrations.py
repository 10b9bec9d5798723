"""Calibrations of judges, a JSON file each, in a folder beside the runs: they can be copied to another."""

import re
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from evals.errors import StoreError
from evals.inputs.files import read_whole
from evals.schemas.calibration import Calibration
from evals.store.atomic import make_folder, write_atomically

FOLDER = "calibrations"
_UNFIT = re.compile(r"[^A-Za-z0-9.-]+")


def save_calibration(runs_dir: Path, calibration: Calibration) -> Path:
    """Write a calibration, whole or not at all; returns its file.

    Raises:
        StoreError: It cannot be written.
    """
    folder = runs_dir / FOLDER
    name = _UNFIT.sub("-", f"{calibration.metric}_{calibration.model}".replace("_", "-"))
    path = folder / f"{name}_{calibration.created_at:%Y%m%dT%H%M%SZ}.json"
    try:
        make_folder(folder)
    except OSError as error:
        raise StoreError(f"cannot make {folder}: {error.strerror or error}") from error
    write_atomically(path, [calibration.model_dump_json(indent=2).encode(), b"\n"])
    return path


def saved_calibrations(runs_dir: Path) -> list[Calibration]:
    """All calibrations of a folder of runs that can be read, in the order of their names."""
    found = []
    for path in sorted((runs_dir / FOLDER).glob("*.json")):
        with suppress(OSError, ValidationError):
            found.append(Calibration.model_validate_json(read_whole(path)))
    return found
