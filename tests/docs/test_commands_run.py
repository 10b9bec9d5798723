"""The commands of README and docs that need nothing from outside run, in a folder that has what the pages speak of."""

import json
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from fenced import HOME, Command, blocks, commands

SHOWN = [each for each in commands() if each.page != "tutorial.md"]  # which is followed in its own order
NEEDS = {
    "seconds, and the tutorial does it": r"^evals eval --embedded",
    "the dataset hub": r"squad_v2|hotpotqa",
    "a judge, which costs money": r"--max-cost|--judge-batch$|--judge-model|^evals eval --datasets golden$",
    "a model that writes, which costs money": r"^evals generate (?!.*(?:--dry-run|--check))",
    "the spans of a server": r"--traces",
    "labels of a person": r"^evals (review|calibrate)",
    "somebody who ends it": r"^evals view",
    "a home of one's own": r"--install-completion",
    "models of gigabytes": r"bert_score",
    "a cluster": r"--dask",
    "a tracking server": r"^evals track",
}
"""Why a command is not run here, by what it holds."""
MAY_FAIL = re.compile(r"--gate|^evals gate|--fail-on-regression|--check")
"""What may say that something is not good enough, by exit code 1."""
SAMPLES = ("G017", "G010", "EF_1", "G062")
"""Questions of the golden set that the runs ask: one that a page looks at, and some that end wrong."""


def reason(command: Command) -> str | None:
    """What it needs from outside."""
    line = f"evals {' '.join(command.words)}"
    return next((what for what, pattern in NEEDS.items() if re.search(pattern, line)), None)


RUNNABLE = list(dict.fromkeys(each.words for each in SHOWN if reason(each) is None))
"""Those that run here, each once, however many pages show it."""


def test_every_exception_is_needed() -> None:
    """A reason that no command has any more is taken out; and most commands run."""
    assert set(NEEDS) <= {reason(each) for each in SHOWN}
    assert len(RUNNABLE) > 0.6 * len({each.words for each in SHOWN})


def adapted(words: Sequence[str], url: str) -> list[str]:
    """The words with this server for that of the page, files for a pattern, and no judge where one would be asked."""
    found = [re.sub(r"^URL$|^http://(?:localhost|my-server)(?::\d+)?(?:/ask)?$", url, word) for word in words]
    found = [name for word in found for name in (sorted(map(str, Path().glob(word))) if "*" in word else [word])]
    asks = found[0] == "eval"
    if asks and not {"--datasets", "--dataset-file", "--config", "--embedded"} & set(found):
        found += ["--dataset-file", "questions.jsonl"]
    if asks and not {"--rag-url", "--config", "--embedded"} & set(found):
        found += ["--rag-url", url]
    if found[0] in {"eval", "rescore", "score"} and not {"--no-judge", "--dry-run", "--k"} & set(found):
        found.append("--no-judge")
    return found


@pytest.fixture
def place(
    tmp_path: Path, golden_server: str, monkeypatch: pytest.MonkeyPatch, evals_cli: Callable[..., Any]
) -> Callable[..., Any]:
    """A folder with the files, three runs and two shards that the pages name; runs a command line in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-never-sent")
    monkeypatch.setenv("RAG_SERVER_URL", golden_server)
    write_files()

    def run(*words: str) -> Any:
        return evals_cli(*adapted(words, golden_server))

    ask = ("eval", "--dataset-file", "questions.jsonl")
    for name in ("c3d4", "e5f6", "a1b2"):
        assert run(*ask, "--name", name, "--gate", "recall_at_5>=0").code == 0
    for part in ("1/2", "2/2"):
        assert run(*ask, "--shard", part, "--runs-dir", f"artifacts/{part[0]}").code == 0
    Path("baseline").mkdir()
    shutil.copytree("data/eval_runs", "baseline/runs")
    return run


def write_config(words: Sequence[str]) -> None:
    """The configuration that commands take; none where one is to be made."""
    config = {"dataset_file": "questions.jsonl", "judge": False}
    Path("eval_config.yml").unlink(missing_ok=True)
    if words[0] not in {"init"}:
        Path("eval_config.yml").write_text(json.dumps(config))


def write_files() -> None:
    """The files of the pages, as small as they can be."""
    rows = json.loads((HOME / "evals/data/golden_qa.json").read_text(encoding="utf-8"))["questions"]
    asked = [row for row in rows if row["id"] in SAMPLES]
    for name in ("questions.jsonl", "questions.csv"):
        Path(name).write_text(
            "".join(f"{json.dumps(row)}\n" for row in asked) if "jsonl" in name else "question\nHow?\n"
        )
    answers = [{"question_id": row["id"], "answer": "I do not know.", "chunks": []} for row in asked]
    Path("answers.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in answers))
    for name, text in zip(("predictions.json", "gold.json"), blocks(HOME / "docs/score.md", "json"), strict=True):
        Path(name).write_text(text, encoding="utf-8")
    Path("docs").mkdir()
    Path("docs/note.md").write_text(f"# Note\n\nA note that nobody asks about, {'with many words ' * 10}in it.\n")
    log = [
        {
            "question": f"How {n}?",
            "answer": "So.",
            "contexts": ["So."],
            "time": "2026-11-02",
            "feedback": n % 2,
            "id": SAMPLES[n % len(SAMPLES)],
        }
        for n in range(12)
    ]
    Path("log.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in log))
    Path("lastweek.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in log[:8]))
    Path("traces.json").write_text(json.dumps(log))


@pytest.mark.slow
def test_the_commands_of_the_pages_run(place: Callable[..., Any]) -> None:
    """Each ends with 0, or says by 1 that something is not good enough; all that do not are told together."""
    failed = []
    for words in RUNNABLE:
        write_config(words)
        result = place(*words)
        may = {0, 1} if MAY_FAIL.search(f"evals {' '.join(words)}") else {0}
        if result.code not in may:
            failed.append(f"evals {' '.join(words)}: {result.code}: {result.err[-400:]}")
    assert not failed, "\n".join(failed)
