"""The file that a flag such as --output names."""

import os
from pathlib import Path

from evals.errors import UnwritableError


def check_output(path: Path, flag: str = "--output") -> None:
    """See that a file can be written, before anything is computed for it.

    Args:
        path: The file.
        flag: What named it.

    Raises:
        UnwritableError: It is a folder, its folder is missing, or one of them may not be written.
    """
    if not path.name or path.is_dir():
        raise UnwritableError(f"{flag} {path} is a folder", f"name a file, such as {path / 'output'}")
    check_place(path, flag)


def check_place(path: Path, flag: str = "--output") -> None:
    """See that a file or a folder of files can be put there.

    Args:
        path: The file or folder, which may exist.
        flag: What named it.

    Raises:
        UnwritableError: The folder that it lies in is missing, or one of them may not be written.
    """
    target = Path(os.path.realpath(path))
    folder = target.parent
    if not folder.is_dir():
        raise UnwritableError(
            f"cannot write {path}: there is no folder {folder}", f"make the folder, or name another file with {flag}"
        )
    written = target if target.exists() and not target.is_file() else folder  # a file is replaced, a device is not
    if not os.access(written, os.W_OK):
        raise UnwritableError(f"cannot write {path}: no permission", f"name a file in another folder with {flag}")
