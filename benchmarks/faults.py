"""How much memory and time each fault of a server takes: python benchmarks/faults.py [--only WORD].

Each is met by a process of its own, forked from one that has loaded everything, and served by another. What is told is
the peak of memory above what that process began with, and how long the three questions took. The exit is 1 where
a fault took more than is promised or ended otherwise than the table says.
"""

import argparse
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from faults import FAULTS, Fault
from faults.running import make_certificates, problems, run, serving

MOST_MB = 200.0


def main() -> int:
    """Meet each, and print the worst last."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", metavar="WORD", help="faults with this word in their names")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        certificates = make_certificates(Path(name) / "certificates")
        os.environ["SSL_CERT_FILE"] = str(certificates / "authority.pem")
        chosen = [fault for fault in FAULTS if options.only in f"{fault.group}: {fault.name}"]
        rows = [_row(fault, certificates) for fault in chosen]
    for row in sorted(rows, key=lambda row: row["mb"]):
        print(f"{row['mb']:7.1f} MB {row['seconds']:6.1f} s  {row['name']}  {'; '.join(row['problems'])}")
    bad = [row for row in rows if row["problems"] or row["mb"] > MOST_MB]
    print(f"{len(rows)} faults; {len(bad)} took over {MOST_MB:g} MB or ended otherwise than the table says")
    return 1 if bad else 0


def _row(fault: Fault, certificates: Path) -> dict[str, Any]:
    """One fault, in a process that is not ours: its memory is that of this fault alone."""
    name = f"{fault.group}: {fault.name}"
    told: dict[str, Any] = json.loads(_in_child(lambda out: _meet(fault, certificates, out)))
    return {"name": name, **told}


def _meet(fault: Fault, certificates: Path, out: BinaryIO) -> None:
    with _served(None, certificates) as url:
        clean = run(url)
    with _served(fault, certificates) as url:
        before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
        found = run(url, fault)
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    told = {"mb": (peak - before) / 1024, "seconds": seconds, "problems": problems(fault, found, clean)}
    out.write(json.dumps(told).encode())


class _served:  # noqa: N801 - a context manager, used like a function
    """Serve from a process of its own, so that what is sent is not in our memory."""

    def __init__(self, fault: Fault | None, certificates: Path) -> None:
        self._fault, self._certificates = fault, certificates

    def __enter__(self) -> str:
        self._told, tell = os.pipe()
        end, self._end = os.pipe()
        self._child = os.fork()
        if self._child == 0:
            os.close(self._end)
            with serving(self._fault, self._certificates) as server:
                os.write(tell, server.url.encode())
                os.close(tell)
                os.read(end, 1)  # until the other end is closed
                os._exit(0)
        os.close(tell)
        os.close(end)
        with os.fdopen(self._told, "rb") as told:
            return told.read().decode()

    def __exit__(self, *_: object) -> None:
        os.close(self._end)
        os.waitpid(self._child, 0)


def _in_child(work: Callable[[BinaryIO], None]) -> bytes:
    """What a forked process writes."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        with os.fdopen(write, "wb") as out:
            work(out)
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as told:
        content = told.read()
    os.waitpid(child, 0)
    return content


if __name__ == "__main__":
    sys.exit(main())
