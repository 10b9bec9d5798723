"""Values on disk while a run is made."""

import errno
import tempfile
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.errors import StoreError
from evals.schemas import EvalQuestion, EvalResponse
from evals.store.disk_buffer import Chosen, DiskList, SpilledMapping, is_json_safe


@pytest.fixture(autouse=True, scope="module", params=[0, 30, 1 << 20], ids=["on disk", "in part", "in memory"])
def _held(request: pytest.FixtureRequest) -> Iterator[None]:
    """All is so whether values are read from disk or held in memory, or the first of them are."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("evals.store.disk_buffer._HELD", request.param)
        yield


WORDS = st.lists(st.text(max_size=5).filter(lambda text: text.isprintable()), max_size=20)


@settings(derandomize=True, deadline=None, max_examples=30)
@given(WORDS)
def test_a_list_on_disk_is_that_list(words: list[str]) -> None:
    """By place, by slice, from the end, and walked."""
    spilled = DiskList(str, words)
    assert list(spilled) == words
    assert len(spilled) == len(words)
    assert list(spilled[1:3]) == words[1:3]
    assert [spilled[-1 - place] for place in range(len(words))] == words[::-1]
    with pytest.raises(IndexError):
        spilled[len(words)]


def test_a_question_comes_back_as_it_was() -> None:
    """With all that is known of it."""
    question = EvalQuestion.model_validate(
        {"id": "ü", "question": "Wo?", "gold_passages": [{"text": "T", "span": [1, 2]}], "metadata": {"a": [1.5, None]}}
    )
    assert list(DiskList(EvalQuestion, [question])) == [question]


ODD = [("a", 1), date(2024, 5, 1), float("inf"), {"deep": [(1, 2)]}, {1: "a number"}, "half \ud83d", 10**5000, b"\x80"]


@pytest.mark.parametrize("value", ODD, ids=[type(one).__name__ for one in ODD])
def test_metadata_that_json_would_change_comes_back_as_it_was(value: object) -> None:
    """A loader may bring what is no JSON: labels of clusters are made of it, in the run as before it."""
    question = EvalQuestion(id="q", question="Q?", metadata={"plain": 1.5, "odd": value})
    (read,) = DiskList(EvalQuestion, [question])
    assert read == question
    assert type(read.metadata["odd"]) is type(value)


def test_values_of_no_declared_type_come_back_as_they_were() -> None:
    """The rows of a file of questions, whatever its cells hold."""
    rows = [("q.jsonl, line 1", {"question": "Q?", "at": date(2024, 5, 1), "n": (1, 2.5, None), "half": "\udc00"})]
    assert list(DiskList(None, rows)) == rows


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.tuples(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@settings(derandomize=True, deadline=None, max_examples=100)
@given(JSON_VALUES)
def test_what_is_called_plain_is_the_same_as_json(value: object) -> None:
    """Types included."""
    metadata = {"key": value}
    if is_json_safe(metadata):
        question = EvalQuestion(id="q", question="Q?", metadata=metadata)
        assert repr(EvalQuestion.model_validate_json(question.model_dump_json()).metadata) == repr(metadata)


def test_the_last_value_of_a_key_counts() -> None:
    """A question that is asked again has its last answer, at its first place."""
    answers: SpilledMapping[EvalResponse] = SpilledMapping(EvalResponse)
    answers["q1"], answers["q2"] = EvalResponse(answer="first"), EvalResponse(answer="other", latency_ms=0.1)
    answers["q1"] = EvalResponse(answer="second")
    assert {key: one.answer for key, one in answers.items()} == {"q1": "second", "q2": "other"}
    assert answers["q2"].latency_ms == 0.1
    assert "q3" not in answers
    assert answers.get("q3") is None


def test_what_is_chosen_of_a_sequence_is_read_from_it() -> None:
    """In the order of the choice."""
    chosen = Chosen(DiskList(str, ["a", "b", "c", "d"]), [3, 1, 0])
    assert list(chosen) == ["d", "b", "a"]
    assert list(chosen[1:]) == ["b", "a"]


def test_the_file_has_no_name_that_a_kill_could_leave_behind(tmp_path: Path) -> None:
    """Nothing is to be cleared up."""
    spilled = DiskList(str, ["text"] * 9, tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert spilled[8] == "text"


def test_a_full_disk_is_an_error_with_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not a traceback."""

    def full(**_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(StoreError, match="No space left") as caught:
        DiskList(str)
    assert "TMPDIR" in (caught.value.hint or "")


@settings(derandomize=True, deadline=None, max_examples=50)
@given(st.lists(st.integers(0, 40), max_size=30), st.lists(st.integers(0, 9), max_size=5))
def test_values_are_read_as_they_stand_however_they_are_asked_for(places: list[int], more: list[int]) -> None:
    """In their order some are read ahead: what is written between, or asked for out of order, is right all the same."""
    words = [str(number) * 4000 for number in range(41)]
    spilled = DiskList(str, words[:10])
    for number, place in enumerate(places):
        if number < len(words) - 10:
            spilled.append(words[10 + number])
        known = words[: len(spilled)]
        assert spilled[place % len(known)] == known[place % len(known)]
        assert list(spilled[5 : 5 + len(more)]) == known[5 : 5 + len(more)]
    assert list(spilled) == words[: len(spilled)]
