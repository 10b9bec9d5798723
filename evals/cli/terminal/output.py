"""The file that --output names."""

import os
from pathlib import Path

from evals.errors import UnwritableError


def check_output(path: Path) -> None:
    """See that a file can be written, before anything is computed for it.

    Raises:
        UnwritableError: It is a folder, its folder is missing, or one of them may not be written.
    """
    if not path.name or path.is_dir():
        raise UnwritableError(f"--output {path} is a folder", f"name a file, such as {path / 'output'}")
    target = Path(os.path.realpath(path))
    folder = target.parent
    if not folder.is_dir():
        raise UnwritableError(
            f"cannot write {path}: there is no folder {folder}", "make the folder, or name another file with --output"
        )
    written = target if target.exists() and not target.is_file() else folder  # a file is replaced, a device is not
    if not os.access(written, os.W_OK):
        raise UnwritableError(f"cannot write {path}: no permission", "name a file in another folder with --output")
