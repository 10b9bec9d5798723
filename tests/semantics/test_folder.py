"""The recorded name of a model."""

from pathlib import Path

import pytest

from evals.metrics.embedders import shown_name


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A folder with files as a model has them."""
    folder = tmp_path / "my-model"
    (folder / "pooling").mkdir(parents=True)
    (folder / "config.json").write_text("{}", encoding="utf-8")
    (folder / "pooling" / "weights.bin").write_bytes(bytes(200_000))
    return folder


@pytest.mark.parametrize("name", ["org/model", "distilbert-base-uncased"])
def test_a_model_of_the_hub_is_its_id(name: str) -> None:
    """There is nothing to add."""
    assert shown_name(name) == name


def test_moving_a_folder_keeps_its_name(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its place is not part of it, however it is written."""
    before = shown_name(str(model))
    moved = tmp_path / "elsewhere" / "my-model"
    moved.parent.mkdir()
    model.rename(moved)
    monkeypatch.chdir(moved)
    assert before == shown_name(str(moved)) == shown_name(".")
    assert before.startswith("my-model@")


@pytest.mark.parametrize("place", [0, 199_999])
def test_other_weights_are_another_model(model: Path, place: int) -> None:
    """At the beginning or at the end of a file; as do another configuration and another file."""
    names = {shown_name(str(model))}
    weights = bytearray(200_000)
    weights[place] = 1
    (model / "pooling" / "weights.bin").write_bytes(weights)
    names.add(shown_name(str(model)))
    (model / "config.json").write_text('{"a": 1}', encoding="utf-8")
    names.add(shown_name(str(model)))
    (model / "pooling" / "weights.bin").rename(model / "weights.bin")
    assert len(names | {shown_name(str(model))}) == 4
