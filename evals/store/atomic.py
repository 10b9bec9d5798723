"""Write files atomically and durably.

Written here, because the package for it, `atomicwrites`, is no longer maintained.
"""

import errno
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import BinaryIO, cast

from evals.errors import StoreError, UnwritableError


def make_folder(folder: Path) -> None:
    """Create a folder that only its user can read; an existing one is not changed.

    Raises:
        OSError: It cannot be made.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def open_own(path: Path, mode: str) -> BinaryIO:
    """Open one of our own files; a new file can be read only by those who can read its folder.

    Raises:
        OSError: It cannot be opened.
    """
    return cast("BinaryIO", open(path, mode, opener=_as_private_as_its_folder))


def _as_private_as_its_folder(path: str, flags: int) -> int:
    return os.open(path, flags, Path(path).parent.stat().st_mode & 0o666)


@contextmanager
def atomic_file(path: Path, *, hint: str | None = None) -> Iterator[BinaryIO]:
    """A file next to its place, which is synced to disk and renamed into place at the end of the block.

    Args:
        path: The file; a link is replaced.
        hint: The way out where it cannot be written.

    Raises:
        StoreError: It could not be written; the old file, if any, is as it was.
    """
    # Two threads and two processes, also on two machines that share the folder, may write the same file at once.
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        with open_own(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise write_error(path, error, hint) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
    _sync_folder(path.parent)


def write_atomically(path: Path, parts: Iterable[bytes], *, hint: str | None = None) -> None:
    """Write the parts of a file as `atomic_file` does.

    Raises:
        StoreError: It could not be written; the old file, if any, is as it was.
    """
    with atomic_file(path, hint=hint) as file:
        file.writelines(parts)


def drop_leftovers(path: Path) -> None:
    """Remove what processes left next to a file that were killed while they wrote it; only who has the file's lock may.

    Args:
        path: The file.
    """
    for leftover in path.parent.glob(f".{escape(path.name)}.*.tmp"):
        with suppress(OSError):  # it takes room, and does no other harm
            leftover.unlink()


def write_output(path: Path, data: bytes | Iterable[bytes]) -> None:
    """Write the file that a user named, of bytes or of pieces that are made as they are written.

    A file is written whole or not at all. A link stays, and what it points to is written; a pipe or a device is written
    as it is.

    Raises:
        StoreError: It could not be written; the old file, if any, is as it was.
    """
    hint = "name another file"
    parts = [data] if isinstance(data, bytes) else data
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as file:
                file.writelines(parts)
            return
        target = Path(os.path.realpath(path))
    except OSError as error:
        raise write_error(path, error, hint) from error
    write_atomically(target, parts, hint=hint)


def _sync_folder(folder: Path) -> None:
    """Make a renaming last through a power cut, where the system can sync a folder."""
    with suppress(OSError):  # not every system can; the file itself is synced and in its place
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def write_error(path: Path, error: OSError, hint: str | None) -> StoreError:
    """The error that says why a file cannot be written, and the way out."""
    if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
        return UnwritableError(f"cannot write {path}: the folder is read-only", hint)
    return StoreError(f"cannot write {path}: {error.strerror or error}", hint)
