"""Whatever stands in a file or an answer, there is one message and an exit code for it, never a traceback."""

import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evals.client.mapping import MappingError, ResponseReader
from evals.client.profile import resolve_spec
from evals.judges.backends.base import objects_in
from evals.text.decoding import parse_json

FIXTURES = Path(__file__).resolve().parent / "fixtures" / "runs_0_1"
RUN = "3fce6905_20261122T062327Z"
ODD = st.sampled_from(
    [
        *("", "null", "[]", "{}", "-1", "1e999", "NaN", "9" * 5000, "2024-13-45", "!!int x", "&a [*a]", '"\\ud800"'),
        *(
            "true",
            '""',
            "[" * 300,
            "{" * 150,
            "\t",
            "\n",
            ":",
            ",",
            '"',
            "'",
            "${HOME}",
            "${NOT_SET}",
            "\u202e",
            "\\x00",
        ),
        *(
            "1" + "0" * 30,
            "-0.0",
            "0x1F",
            "1_000",
            "2026-11-22T00:00:00",
            "<<",
            "%",
            "*",
            "|",
            ">",
            "- -",
            "? ",
            "=1+1",
        ),
    ]
)
PLACES = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 40), ODD), min_size=1, max_size=4)
CONFIG = """name: n
datasets: [golden]
samples_per_dataset: 3
concurrency: 2
judge: {enabled: false, model: m, max_cost_usd: 1.5}
match: {rule: auto}
prices: {m: {input: 1, output: 2}}
gate: ["mrr >= 0.5"]
server:
  url: http://127.0.0.1:9
  headers: {X-A: b}
  timeout_s: 0.2
  ask: {path: /query, json: {query: "{{question}}"}}
  map: {answer: answer, chunks: "chunks[].{text: text}"}
  clean: ["a+"]
"""
QUESTIONS = """{"id": "q1", "question": "Why?", "expected_answer": "A", "gold_passages": [{"text": "t"}]}
{"id": "q2", "question": "When?", "is_unanswerable": true, "expected_answer": null}
"""
TABLE = "id,question,expected_answer\nq1,Why?,A\nq2,When?,\n"
ANSWERS = """{"question_id": "q1", "answer": "A", "chunks": [{"text": "t", "score": 0.5}], "latency_ms": 5}
{"question_id": "q2", "answer": "None", "citations": [{"index": 1}], "confidence": 0.5}
"""
BODY = '{"answer": "A", "chunks": [{"text": "t", "score": 0.5}], "citations": [1]}'
REPLY = 'Here: {"verdicts": [{"id": 1, "label": "yes", "quote": "t"}], "note": "x"}'
SHORT = settings(
    derandomize=False, deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def mutated(text: str, places: list[tuple[float, int, str]]) -> str:
    """The text with some pieces replaced by odd ones."""
    for where, length, odd in places:
        start = int(where * len(text))
        text = text[:start] + odd + text[start + length :]
    return text


@pytest.fixture
def ends_well(evals_cli: Callable[..., Any]) -> Callable[..., None]:
    """Run a command and expect an exit code that is no bug."""

    def run(*arguments: object) -> None:
        done = evals_cli(*arguments)
        assert done.code in {0, 1, 2, 3, 4}, done.err
        assert "Traceback" not in done.err

    return run


@SHORT
@given(places=PLACES)
def test_any_configuration(places: list[Any], ends_well: Callable[..., None], tmp_path: Path) -> None:
    """Valid, wrong or no YAML at all; nothing listens at its server."""
    path = tmp_path / "c.yml"
    path.write_text(mutated(CONFIG, places), encoding="utf-8", errors="surrogatepass")
    ends_well("eval", "--config", path, "--rag-url", "http://127.0.0.1:9", "--runs-dir", tmp_path / "r", "--no-judge")


@SHORT
@given(places=PLACES, table=st.booleans())
def test_any_questions_and_answers(
    places: list[Any], table: bool, ends_well: Callable[..., None], tmp_path: Path
) -> None:
    """Each file wrong in turn, the other right."""
    questions, answers = tmp_path / ("q.csv" if table else "q.jsonl"), tmp_path / "a.jsonl"
    runs = ("--no-judge", "--runs-dir", tmp_path / "runs")
    questions.write_text(mutated(TABLE if table else QUESTIONS, places), encoding="utf-8", errors="surrogatepass")
    answers.write_text(ANSWERS)
    ends_well("score", answers, "--dataset-file", questions, *runs)
    questions.write_text(TABLE if table else QUESTIONS)
    answers.write_text(mutated(ANSWERS, places), encoding="utf-8", errors="surrogatepass")
    ends_well("score", answers, "--dataset-file", questions, *runs)


def saved(folder: Path) -> Path:
    """A folder with one run."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name in (f"{RUN}.json", f"{RUN}.records.jsonl"):
        shutil.copy(FIXTURES / name, folder / name)
    return folder


VIEWS = [
    ("show",),
    ("gate", "--gate", "mrr >= 0"),
    ("rescore", "--no-judge"),
    ("export", "--format", "csv", "--run-id"),
]


def _command(view: tuple[str, ...]) -> tuple[str, ...]:
    return (*view, RUN[:8]) if view[-1] == "--run-id" else (view[0], RUN[:8], *view[1:])


@SHORT
@given(places=PLACES, records=st.booleans(), view=st.sampled_from(VIEWS))
def test_any_saved_run(
    places: list[Any], records: bool, view: tuple[str, ...], ends_well: Callable[..., None], tmp_path: Path
) -> None:
    """The run or its records, as somebody edited them by hand."""
    folder = saved(tmp_path / "saved")
    path = folder / (f"{RUN}.records.jsonl" if records else f"{RUN}.json")
    path.write_text(mutated(path.read_text(), places), encoding="utf-8", errors="surrogatepass")
    ends_well(*_command(view), "--runs-dir", folder)


@SHORT
@given(places=PLACES)
def test_any_gate(places: list[Any], ends_well: Callable[..., None], tmp_path: Path) -> None:
    """Of a run that is right."""
    ends_well(
        "gate", RUN[:8], "--gate", mutated("mrr >= 0.5, recall_at_5 > 50%", places), "--runs-dir", saved(tmp_path / "s")
    )


def test_what_is_not_mutated_is_right(evals_cli: Callable[..., Any], tmp_path: Path) -> None:
    """So that what the others try is near to what is valid."""
    for name, text in (("q.jsonl", QUESTIONS), ("q.csv", TABLE), ("a.jsonl", ANSWERS), ("c.yml", CONFIG)):
        (tmp_path / name).write_text(text)
    for questions in ("q.jsonl", "q.csv"):
        files = (tmp_path / "a.jsonl", "--dataset-file", tmp_path / questions)
        assert evals_cli("score", *files, "--no-judge", "--runs-dir", tmp_path / "r").code == 0
    for view in VIEWS:
        done = evals_cli(*_command(view), "--runs-dir", saved(tmp_path / "saved"))
        assert done.code == 0, (view, done.err)
    assert evals_cli("eval", "--config", tmp_path / "c.yml", "--runs-dir", tmp_path / "r").code == 3


@settings(SHORT, max_examples=200)
@given(places=PLACES)
def test_any_body_and_any_reply(places: list[Any]) -> None:
    """Of a server: values or a failure with a name. Of a judge: the objects in it, if any."""
    reader = ResponseReader(resolve_spec({"url": "http://127.0.0.1:9"}))
    with suppress(ValueError, MappingError):
        reader.read(parse_json(mutated(BODY, places).encode("utf-8", "surrogatepass")))
    assert isinstance(objects_in(mutated(REPLY, places)), list)
