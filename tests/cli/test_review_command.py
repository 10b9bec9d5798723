"""`evals review`: a person at the keyboard, whose lines a test writes."""

import csv
import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals.report.review import Labelling, put_label

Cli = Callable[..., Any]


@pytest.fixture
def run(evals_cli: Cli, golden_server: str, tmp_path: Path) -> str:
    """The id of a run of six golden questions without a judge."""
    done = evals_cli(
        "eval", "--no-judge", "--rag-url", golden_server, "--datasets", "golden", "--samples", 6, "--json",
        "--runs-dir", tmp_path / "runs",
    )  # fmt: skip
    found: str = done.json["id"]
    return found


@pytest.fixture
def review(evals_cli: Cli, run: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Run `review` and type these lines; afterwards the input ends."""

    def call(lines: str, *arguments: object) -> Any:
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines.split("|"))))
        return evals_cli("review", run, *arguments, "--runs-dir", tmp_path / "runs")

    return call


def labels(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def sheet(run: str, tmp_path: Path) -> Path:
    return tmp_path / "runs" / "reviews" / f"{run}.csv"


def test_each_key_labels_the_answer_on_the_screen(review: Cli, sheet: Path, run: str) -> None:
    """Question, expected answer, passages and answer are shown, and nothing of what a metric says."""
    done = review("c|p|i|?|t a good one|c|q")
    assert done.code == 0
    rows = labels(sheet)
    assert [row["verdict"] for row in rows] == ["correct", "partly_correct", "incorrect", "cannot_tell", "correct"]
    assert [row["comment"] for row in rows] == ["", "", "", "", "a good one"]
    assert {(row["run"], row["metric"], row["annotator"]) for row in rows} == {(run, "answer_correctness", "")}
    assert done.out.count("  question  ") == 6
    assert " passage 1  [" in done.out
    assert "5 of 6 answers labelled: " in done.out
    assert f"evals calibrate {sheet} --metric answer_correctness --runs-dir " in done.out


def test_it_goes_on_where_it_stopped(review: Cli, sheet: Path) -> None:
    """What is labelled is not asked again; the order is drawn, and is the same each time."""
    review("c|c")
    first = [row["id"] for row in labels(sheet)]
    done = review("i|i|i|i")
    rows = labels(sheet)
    assert [row["id"] for row in rows[:2]] == first
    assert [row["verdict"] for row in rows] == ["correct"] * 2 + ["incorrect"] * 4
    assert "2 of 6 labelled" in done.out
    assert "6 of 6 answers labelled: " in review("").out


def test_a_label_can_be_taken_back(review: Cli, sheet: Path) -> None:
    """That of a former session too; the answer is shown again."""
    review("c|u|i|c")
    assert [row["verdict"] for row in labels(sheet)] == ["incorrect", "correct"]
    review("u|u|p")
    assert [row["verdict"] for row in labels(sheet)] == ["partly_correct"]
    assert "there is no label to take back" in review("u|u|u|q").out


def test_what_is_skipped_comes_again_at_the_end(review: Cli, sheet: Path) -> None:
    """And a wrong key does nothing but say so."""
    done = review("s|x|c|c|c|c|c|i")
    rows = labels(sheet)
    assert [row["verdict"] for row in rows] == ["correct"] * 5 + ["incorrect"]
    assert "'x' is no key" in done.out
    assert done.out.split("\n")[1].split()[0] == rows[-1]["id"]


def test_other_people_and_other_metrics_have_labels_of_their_own(review: Cli, tmp_path: Path) -> None:
    """In one sheet; the labels of one person are no others."""
    path = tmp_path / "all.csv"
    review("c|c", "--annotator", "anna", "--output", path)
    review("i|i", "--annotator", "ben", "--output", path)
    review("y|n", "--annotator", "ben", "--metric", "faithfulness", "--output", path)
    found = [(row["annotator"], row["metric"], row["verdict"]) for row in labels(path)]
    assert found == [
        *[("anna", "answer_correctness", "correct")] * 2,
        *[("ben", "answer_correctness", "incorrect")] * 2,
        ("ben", "faithfulness", "yes"),
        ("ben", "faithfulness", "no"),
    ]


def test_calibrate_reads_the_sheet(
    review: Cli, evals_cli: Cli, sheet: Path, messages_api: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it is, with the answers of the run."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-fine")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", messages_api.url)
    messages_api.script({"then": {"python": "judge"}})
    review("c|i|c|?|c|i")
    found = evals_cli("calibrate", sheet, "--json", "--runs-dir", tmp_path / "runs").json
    assert (len(found["answers"]), found["unlabelled"]) == (5, 1)
    assert found["metric"] == "answer_correctness"


class Typing(io.StringIO):
    """Lines that a person types, while somebody else labels the same answer before the last of them."""

    def __init__(self, lines: list[str], meanwhile: Callable[[], object]) -> None:
        super().__init__("".join(f"{line}\n" for line in lines))
        self._left, self._meanwhile = len(lines), meanwhile

    def readline(self, *_: Any) -> str:
        self._left -= 1
        if self._left == 0:
            self._meanwhile()
        return super().readline()


def test_labels_that_others_give_meanwhile_stay(
    evals_cli: Cli, run: str, sheet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of another metric and of the same: the sheet is read again before each label is put into it."""

    def meanwhile() -> None:
        (mine,) = labels(sheet)
        put_label(
            sheet, Labelling(run, "answer_correctness"), mine["id"], {**mine, "verdict": "incorrect"}, before=mine
        )
        other = {**mine, "metric": "faithfulness", "verdict": "yes"}
        put_label(sheet, Labelling(run, "faithfulness"), mine["id"], other, before=None)

    monkeypatch.setattr(sys, "stdin", Typing(["c", "u"], meanwhile))
    done = evals_cli("review", run, "--runs-dir", tmp_path / "runs")
    assert "was labelled 'incorrect' meanwhile: that label stays" in done.out
    assert [(row["metric"], row["verdict"]) for row in labels(sheet)] == [
        ("answer_correctness", "incorrect"),
        ("faithfulness", "yes"),
    ]
    assert "1 of 6 answers labelled" in done.out
