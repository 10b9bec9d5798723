"""Memory of the commands that make a run: the peak of a fresh process, beyond what the imports take.

    python benchmarks/memory.py [--questions 1000] [--judged] [--only eval,score,log,rescore,resume,merge,show,compare]

Every question has golds and retrieves chunks of its own, as real ones do: about 4 KB a body, 1.5 KB of gold. The judge,
where one takes part, is scripted: it says what has the form that is asked for. The goal is 60 MB + 0.4 KB a question.
`show` and `compare` stand for the commands over saved runs, which are made of one of 1,000 questions by giving its
records other ids. Their first look at a run derives what is kept beside its records from then on.
"""

import argparse
import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from zlib import crc32

HERE = Path(__file__).resolve().parent
SYLLABLES = [a + b for a in "bdfglmnprst" for b in "aeiou"]
CHUNKS, CHUNK_WORDS = 5, 140
SHARDS = 2
SAVED = 1000
"""Questions of the run that larger saved runs are made of."""
METRICS = "faithfulness,answer_correctness,factual_accuracy_percentage"


def chunks_of(number: int) -> list[str]:
    """The texts that a question retrieves: no other question has them."""
    rng = random.Random(number)  # noqa: S311 - no secret
    return [
        " ".join("".join(rng.choices(SYLLABLES, k=rng.choice((1, 2, 3, 4)))) for _ in range(CHUNK_WORDS))
        for _ in range(CHUNKS)
    ]


def question_of(number: int) -> dict[str, Any]:
    """A question with two golds, of which the server retrieves one."""
    texts = chunks_of(number)
    other = chunks_of(-number - 1)[0]
    golds = [{"text": texts[2], "document_id": f"d{number}-2"}, {"text": other, "document_id": f"d{number}-9"}]
    return {
        "id": f"q{number}",
        "question": f"Question {number}?",
        "expected_answer": " ".join(texts[2].split()[:12]),
        "gold_passages": golds,
        "is_unanswerable": False,
    }


def answer_of(number: int) -> dict[str, Any]:
    """What a server says of a question."""
    texts = chunks_of(number)
    chunks = [
        {"chunk_id": f"c{number}-{n}", "document_id": f"d{number}-{n}", "text": text, "score": 9.0 - n}
        for n, text in enumerate(texts)
    ]
    said = " ".join(texts[2 if number % 3 else 1].split()[:20])
    return {"answer": f"{said} [1]", "chunks": chunks, "citations": [{"index": 1}], "latency_ms": 100.0 + number % 97}


def write_files(folder: Path, count: int) -> None:
    """The questions, answers to them, and both as a log."""
    with (folder / "questions.jsonl").open("w") as file:
        file.writelines(f"{json.dumps(question_of(n))}\n" for n in range(count))
    with (folder / "answers.jsonl").open("w") as file:
        file.writelines(f"{json.dumps({'question_id': f'q{n}', **answer_of(n)})}\n" for n in range(count))
    with (folder / "log.jsonl").open("w") as file:
        file.writelines(
            f"{json.dumps({'question': question_of(n)['question'], **answer_of(n)})}\n" for n in range(count)
        )


def body(number: int) -> bytes:
    """The answer as the server sends it."""
    said = answer_of(number)
    sources = [
        {
            "document_id": one["document_id"],
            "full_text": one["text"],
            "chunk_id": one["chunk_id"],
            "score": one["score"],
        }
        for one in said["chunks"]
    ]
    return json.dumps({"answer": said["answer"], "sources": sources, "citations": [{"source_index": 1}]}).encode()


async def serve() -> None:
    """Listen on a free loopback port, print it, and serve until killed."""
    import asyncio

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while not reader.at_eof():
            try:
                head = await reader.readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError:
                break
            length = next((int(x[15:]) for x in head.lower().split(b"\r\n") if x.startswith(b"content-length:")), 0)
            asked = await reader.readexactly(length) if length else b""
            content = body(int(json.loads(asked)["query"][9:-1])) if asked else b'{"status":"healthy"}'
            writer.write(
                b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b"
                % (len(content), content)
            )

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


class ScriptedJudge:
    """Says what has the form that is asked for, at once."""

    model, origin = "scripted", "http://127.0.0.1"

    async def complete(self, call: Any) -> Any:
        """Reply."""
        from evals.judges.models import JudgeReply
        from evals.judges.prompts import load_prompt, prompt_names, typical_reply

        prompt = next(each for each in map(load_prompt, prompt_names()) if each.system == call.system)
        reply = typical_reply(prompt, json.loads(call.content))
        return JudgeReply(json.dumps(reply), model=self.model)

    async def aclose(self) -> None:
        """Nothing to close."""


def run_here(arguments: list[str]) -> None:
    """Run a command in this process, and print what it took."""
    import evals.cli.commands.eval
    import evals.cli.commands.runs
    import evals.run.checks
    from evals.cli import app
    from evals.judges.llm_judge import LLMJudge

    for name in ("aiohttp", "httpx", "anthropic", "rich.progress"):
        __import__(name)
    evals.run.checks.make_judge = lambda config: LLMJudge(ScriptedJudge(), concurrency=config.judge.concurrency)  # type: ignore[assignment]
    imported = peak()
    start = time.process_time()
    try:
        app(arguments, standalone_mode=False)
    finally:
        took = {"imports": imported, "peak": peak(), "cpu_s": time.process_time() - start}
        Path(os.environ["MEMORY_REPORT"]).write_text(json.dumps(took))


def peak() -> float:
    """The most memory that this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(name: str, arguments: list[str], folder: Path, count: int) -> None:
    """Run a command in a process of its own, and print its peak."""
    report = folder / "report.json"
    report.unlink(missing_ok=True)
    environment = {**os.environ, "MEMORY_REPORT": str(report), "ANTHROPIC_API_KEY": "benchmark"}
    with (folder / f"{name.replace('/', '-').replace(' ', '-')}.log").open("w") as log:
        command = [sys.executable, str(HERE / "memory.py"), "--here", "--", *arguments]
        code = subprocess.run(command, env=environment, stdout=log, stderr=log, check=False).returncode
    took = json.loads(report.read_text())
    beyond = took["peak"] - took["imports"]
    goal = 60 + 0.4 * count / 1024
    print(
        f"{name:13} {count:7,} questions: {beyond:8.1f} MB beyond {took['imports']:.0f} MB of imports "
        f"(goal {goal:.0f}), {1000 * took['cpu_s'] / count:.2f} ms CPU a question, exit {code}",
        flush=True,
    )


def halve(folder: Path) -> str:
    """Cut half of the answers from the newest run, as a kill would have; returns its id."""
    path = max(folder.glob("runs/*Z.json"), key=lambda one: one.stat().st_mtime)
    log = path.with_name(f"{path.stem}.records.jsonl")
    kept = log.with_suffix(".half")
    with log.open("rb") as file, kept.open("wb") as out:
        for number, line in enumerate(file):
            record = json.loads(line)["record"]
            key = record["question"]["id"]
            out.write(
                json.dumps({"type": "question", "question_id": key, "question": record["question"]}).encode() + b"\n"
            )
            if number % 2:
                out.write(
                    json.dumps({"type": "answer", "question_id": key, "answer": record["response"]}).encode() + b"\n"
                )
    kept.replace(log)
    run = json.loads(path.read_text())
    path.write_text(json.dumps({**run, "completed_at": None, "status": "partial", "scorecard": {}}))
    return str(run["id"])


def multiplied(path: Path, times: int, key: str) -> None:
    """Save a run of so many times the questions, under another id."""
    run = json.loads(path.read_text())
    stem = path.stem.replace(run["id"], key)
    checksum = size = 0
    with path.with_name(f"{stem}.records.jsonl").open("wb") as out:
        for copy in range(times):
            with path.with_name(f"{path.stem}.records.jsonl").open("rb") as file:
                for line in file:
                    other = re.sub(rb'"([qcd])(\d)', rb'"\g<1>%dx\g<2>' % copy, line)
                    out.write(other)
                    size, checksum = size + len(other), crc32(other, checksum)
    count = run["question_count"] * times
    run.update(id=key, name=key, question_count=count, record_sum={"count": count, "size": size, "crc32": checksum})
    path.with_name(f"{stem}.json").write_text(json.dumps(run))


def measure_saved(folder: Path, count: int, judged: list[str], wanted: list[str]) -> None:
    """Measure the commands over saved runs."""
    folder.mkdir(exist_ok=True)
    runs = ["--runs-dir", str(folder / "runs")]
    write_files(folder, min(count, SAVED))
    scored = ["score", str(folder / "answers.jsonl"), *judged, "--dataset-file", str(folder / "questions.jsonl"), *runs]
    measure("score", scored, folder, min(count, SAVED))
    path = max(folder.glob("runs/*Z.json"), key=lambda one: one.stat().st_mtime)
    for key in ("aaaaaaaa", "bbbbbbbb"):
        multiplied(path, max(1, count // SAVED), key)
    if "show" in wanted:
        for name in ("show first", "show"):
            measure(name, ["show", "aaaaaaaa", *runs], folder, count)
        measure("question", ["show", "aaaaaaaa", "--question", "q0x7", *runs], folder, count)
        for form in ("json", "csv", "markdown"):
            out = str(folder / f"out.{form}")
            measure(form, ["export", "--run-id", "aaaaaaaa", "--format", form, "--output", out, *runs], folder, count)
    if "compare" in wanted:
        for index in folder.glob("runs/*.index"):
            index.unlink()
        for name in ("compare first", "compare"):
            measure(name, ["compare", "aaaaaaaa", "bbbbbbbb", *runs], folder, count)


def main() -> None:
    """Measure each command."""
    if "--here" in sys.argv:
        run_here(sys.argv[sys.argv.index("--") + 1 :])
        return
    if "--serve" in sys.argv:
        import asyncio

        asyncio.run(serve())
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=1000)
    parser.add_argument("--judged", action="store_true")
    parser.add_argument("--only", default="eval,score,rescore,resume,show,compare")
    parser.add_argument("--keep", type=Path, help="a folder for the runs, to compare them with others")
    options = parser.parse_args()
    server = subprocess.Popen([sys.executable, str(HERE / "memory.py"), "--serve"], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        url = f"http://127.0.0.1:{server.stdout.readline().strip()}"
        if options.keep is not None:
            options.keep.mkdir(parents=True, exist_ok=True)
            measure_all(options, url, options.keep)
            return
        with tempfile.TemporaryDirectory() as folder:
            measure_all(options, url, Path(folder))
    finally:
        server.kill()
        server.wait()


def measure_all(options: argparse.Namespace, url: str, folder: Path) -> None:
    """Measure what was asked for."""
    count, wanted = options.questions, options.only.split(",")
    runs = ["--runs-dir", str(folder / "runs")]
    judged = ["--metrics", METRICS] if options.judged else ["--no-judge"]
    asked = [*judged, "--dataset-file", str(folder / "questions.jsonl"), *runs]
    asking = ["--rag-url", url, "--no-preflight", "--warmup", "0", "--samples", "0", "--concurrency", "16"]
    if not {"show", "compare"}.isdisjoint(wanted):
        measure_saved(folder / "saved", count, judged, wanted)
    if {"show", "compare"}.issuperset(wanted):
        return
    write_files(folder, count)
    if "score" in wanted or "rescore" in wanted:
        measure("score", ["score", str(folder / "answers.jsonl"), *asked], folder, count)
    if "log" in wanted:
        measure("log", ["score", str(folder / "log.jsonl"), *judged, *runs], folder, count)
    if "rescore" in wanted:
        measure("rescore", ["rescore", "last", *judged, *runs], folder, count)
    if "eval" in wanted or "resume" in wanted:
        measure("eval", ["eval", *asking, *asked], folder, count)
    if "resume" in wanted:
        measure("resume", ["eval", "--resume", halve(folder), *runs], folder, count)
    if "merge" in wanted:
        shards = ["--runs-dir", str(folder / "shards")]
        for number in range(1, SHARDS + 1):
            part = ["--shard", f"{number}/{SHARDS}"]
            measure(f"eval {part[1]}", ["eval", *asking, *asked, *shards, *part], folder, count)
        files = map(str, folder.glob("shards/*Z.json"))
        measure("merge", ["merge", *files, *runs], folder, count)


if __name__ == "__main__":
    main()
