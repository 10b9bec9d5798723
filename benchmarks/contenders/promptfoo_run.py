"""promptfoo over the same server, started for each measurement as it is a command: one check an answer.

python promptfoo_run.py PROMPTFOO. Its time is that of the command without that of one question, which is its start.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from serving import payload


def evaluate(command: str, url: str, count: int, concurrency: int) -> tuple[float, float]:
    """Seconds and CPU seconds of the whole command."""
    body = {**payload(0), "query": "{{question}}"}
    provider = {
        "id": f"{url}/query",
        "config": {
            "method": "POST",
            "headers": {"Content-Type": "application/json"},
            "body": body,
            "transformResponse": "json.answer",
        },
    }
    tests = [
        {"vars": {"question": f"Question {n}?"}, "assert": [{"type": "contains", "value": "premium"}]}
        for n in range(count)
    ]
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "promptfooconfig.json"
        config.write_text(json.dumps({"prompts": ["{{question}}"], "providers": [provider], "tests": tests}))
        out = Path(folder) / "out.json"
        told = ["eval", "-c", str(config), "-o", str(out), "-j", str(concurrency), "--no-cache", "--no-progress-bar"]
        environment = {
            **os.environ,
            "PROMPTFOO_DISABLE_TELEMETRY": "1",
            "PROMPTFOO_DISABLE_UPDATE": "1",
            "PROMPTFOO_CONFIG_DIR": folder,
        }
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        done = subprocess.run(
            [command, *told, "--no-table"], env=environment, cwd=folder, capture_output=True, text=True, check=False
        )
        seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        assert out.exists(), done.stdout[-2000:] + done.stderr[-2000:]
        stats = json.loads(out.read_text())["results"]["stats"]
        assert stats["successes"] == count, stats
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Do as told until standard input ends."""
    command = sys.argv[1]
    print("ready", flush=True)
    for line in sys.stdin:
        told = json.loads(line)
        alone = evaluate(command, told["url"], 1, 1)
        whole = evaluate(command, told["url"], told["count"], told["concurrency"])
        took = [of_all - of_one for of_all, of_one in zip(whole, alone, strict=True)]
        print(json.dumps({"seconds": took[0], "cpu_s": took[1]}), flush=True)


if __name__ == "__main__":
    main()
