"""Opening files that others name: those alone that end, and no more of one than memory holds."""

import errno
import stat
from pathlib import Path

MOST_BYTES = 128 * 1024 * 1024
"""Of a file that is read whole."""
_BLOCK = 1024 * 1024
_PIPES = ("/dev/", "/proc/")
"""Below these a pipe is one that the shell made, such as /dev/stdin."""


def check_file(path: Path, most: int | None = MOST_BYTES) -> None:
    """See that a file can be read to its end.

    Args:
        path: The file.
        most: Its size in bytes, where it is read whole; None where it is not.

    Raises:
        OSError: It is not there, or is a device or a named pipe, which may never end, or it is too large.
    """
    found = path.stat()
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, "Is a directory")
    of_shell = stat.S_ISFIFO(found.st_mode) and str(path).startswith(_PIPES)
    if not (stat.S_ISREG(found.st_mode) or of_shell):
        raise OSError(errno.EINVAL, "it is a device or a pipe, not a file")
    if most is not None and found.st_size > most:
        raise OSError(errno.EFBIG, f"it is larger than {most // 1024**2} MiB")


def read_whole(path: Path, most: int = MOST_BYTES) -> bytes:
    """The bytes of a file.

    Raises:
        OSError: As of `check_file`.
    """
    check_file(path, most)
    data = bytearray()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):  # no buffer for all that could come
            data += block
            if len(data) > most:
                raise OSError(errno.EFBIG, f"it is larger than {most // 1024**2} MiB")
    return bytes(data)
