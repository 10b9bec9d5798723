"""Models that compare texts: from their names to what compares, when the hub is asked, and the cosine."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from semantics.models import choice_of

from evals.errors import ConfigError
from evals.metrics import embedders
from evals.metrics.embedders import ModelChoice, check_choice, cosine, load_semantics, shown_name

BERT_SCORE = {"bert_score_model": "org/scorer", "bert_score_layers": 3, "bert_score_rescale": True}
BOTH = choice_of(embedder="org/embedder", device="cpu", **BERT_SCORE)


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let exactly these modules be installed."""
    return lambda *modules: monkeypatch.setattr(embedders, "find_spec", lambda name: name if name in modules else None)


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch, install: Callable[..., None], embedder: Any, scorer: Any) -> dict[str, Any]:
    """Both packages installed, their models replaced; holds what each was made with, or what each is to raise."""
    made: dict[str, Any] = {}

    def make(key: str, tool: Any) -> Callable[..., Any]:
        def build(model: str, **options: Any) -> Any:
            if isinstance(made.get(key), Exception):
                raise made[key]
            made[key] = (model, options)
            return tool

        return build

    install("sentence_transformers", "bert_score")
    monkeypatch.setattr(embedders, "SentenceTransformersEmbedder", make("embedder", embedder))
    monkeypatch.setattr(embedders, "BertScorer", make("scorer", scorer))
    return made


def test_the_models_are_made_as_configured(models: dict[str, Any]) -> None:
    """With every option, and names for the run."""
    made = load_semantics(BOTH, lambda: True)
    assert models["embedder"] == ("org/embedder", {"device": "cpu"})
    assert models["scorer"] == ("org/scorer", {"layers": 3, "rescale": True, "device": "cpu"})
    assert made.names() == {"embedder": "bag of words", "scorer": "word overlap"}
    assert made.reason is None


@pytest.mark.parametrize(
    ("installed", "choice", "reason", "names"),
    [
        ((), BOTH, "sentence-transformers and bert-score are not installed", None),
        (("bert_score",), BOTH, "sentence-transformers is not installed", ["scorer"]),
        (("sentence_transformers",), BOTH, "bert-score is not installed", ["embedder"]),
        ((), choice_of(bert_score_model="org/known"), "bert-score is not installed", None),
        ((), choice_of(embedder="x"), "sentence-transformers is not installed", None),
    ],
)
def test_a_package_that_is_not_installed_is_a_reason(
    models: Any, install: Callable[..., None], installed: tuple[str, ...], choice: ModelChoice, reason: str, names: Any
) -> None:
    """No error: the reason names what is wanted and not there, and how to install it; the rest is loaded."""
    install(*installed)
    made = load_semantics(choice, lambda: True)
    assert made.reason == f"{reason}: pip install 'rag-evals[semantic]'"
    assert (list(made.names() or {}) or None) == names


def test_the_hub_is_asked_for_its_own_models_alone(models: dict[str, Any], tmp_path: Path) -> None:
    """A machine without a network does not wait for it: where nothing is wanted, and where it is in a folder."""
    made, folder = load_semantics(choice_of(), pytest.fail), str(tmp_path)
    assert (made.embedder, made.scorer, made.reason, made.names(), models) == (None, None, None, None, {})
    choice = choice_of(embedder=folder, bert_score_model=folder, bert_score_layers=1)
    assert load_semantics(choice, pytest.fail).reason is None


@pytest.mark.parametrize(
    ("keys", "message", "way_out"),
    [
        ({"embedder": "./none"}, "semantic.embedder: there is no folder ./none", "a model of the hub"),
        ({"embedder": "/none/at/all"}, "there is no folder /none/at/all", "folder"),
        ({"bert_score_model": "~/none"}, "semantic.bert_score_model: there is no folder /.*none", "folder"),
        ({"bert_score_model": "a/b/c", "bert_score_layers": 2}, "there is no folder a/b/c", "folder"),
        ({"bert_score_model": str(Path(__file__).parent)}, "layer to compare is unknown", "bert_score_layers"),
    ],
)
def test_a_folder_that_cannot_be_used_is_known_without_loading(keys: Any, message: str, way_out: str) -> None:
    """Whether the packages are installed or not; BERTScore of an unknown model has no layer of its own."""
    with pytest.raises(ConfigError, match=message) as caught:
        check_choice(choice_of(**keys))
    assert way_out in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("part", "key", "choice"),
    [
        ("embedder", "semantic.embedder", choice_of(embedder="org/m")),
        ("scorer", "semantic.bert_score_model", choice_of(bert_score_model="org/m", bert_score_layers=1)),
    ],
)
@pytest.mark.parametrize(
    ("is_up", "error", "message", "way_out"),
    [
        (False, OSError("no route"), "the model hub cannot be reached and org/m is not in the local", "HF_ENDPOINT"),
        (True, OSError("404\nlong story"), r"cannot load org/m: 404(?:\n|$)", "another model"),
        (False, RuntimeError("no CUDA"), "cannot load org/m: no CUDA", "another model"),
        (True, KeyError(), "cannot load org/m: KeyError", "another model"),
    ],
)
def test_a_model_that_cannot_be_loaded_is_one_clear_error(
    models: Any, part: str, key: str, choice: ModelChoice, is_up: bool, error: Exception, message: str, way_out: str
) -> None:
    """Whatever the package raises: the key, the model, the first line of the cause, and the way out."""
    models[part] = error
    with pytest.raises(ConfigError, match=f"{key}: {message}") as caught:
        load_semantics(choice, lambda: is_up)
    assert way_out in (caught.value.hint or "")
    assert caught.value.__cause__ is error


def test_an_error_of_ours_says_itself(models: dict[str, Any]) -> None:
    """A missing baseline has a message of its own."""
    models["scorer"] = ConfigError("no baseline")
    with pytest.raises(ConfigError, match=r"^no baseline$"):
        load_semantics(choice_of(bert_score_model="org/known"), lambda: True)


# The recorded name of a model.


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A folder with files as a model has them."""
    folder = tmp_path / "my-model"
    (folder / "pooling").mkdir(parents=True)
    (folder / "config.json").write_text("{}", encoding="utf-8")
    (folder / "pooling" / "weights.bin").write_bytes(bytes(200_000))
    return folder


def test_moving_a_folder_keeps_its_name(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its place is not part of it, however it is written; a model of the hub is its id."""
    assert [shown_name(name) for name in ("org/model", "distilbert")] == ["org/model", "distilbert"]
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


# The cosine of two vectors.

numbers = st.floats(-1e3, 1e3).map(lambda x: round(x, 3))
pairs = st.integers(1, 8).flatmap(lambda n: st.tuples(*[st.lists(numbers, min_size=n, max_size=n)] * 2))


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        *[([1, 0], [1, 0], 1.0), ([1, 0], [0, 2], 0.0), ([1, 0], [-3, 0], -1.0), ([1, 1], [1, 0], math.sqrt(0.5))],
        *[([0, 0], [1, 0], 0.0), ([0, 0], [0, 0], 0.0), ([], [], 0.0)],
    ],
)
def test_known_angles_have_their_cosine(a: Sequence[float], b: Sequence[float], expected: float) -> None:
    """Same, right-angled, opposite, half-way; a vector without length is near to nothing, another model's is wrong."""
    assert cosine(a, b) == pytest.approx(expected)
    with pytest.raises(ValueError, match=f"{len(a)} and {len(b) + 1} numbers"):
        cosine(a, [*b, 1.0])


@settings(derandomize=True, max_examples=200)
@given(pairs)
def test_the_cosine_is_that_of_numpy_and_never_over_one(pair: tuple[list[float], list[float]]) -> None:
    """The value of the usual formula, in its range whatever the rounding."""
    a, b = pair
    lengths = np.linalg.norm(a) * np.linalg.norm(b)
    assert -1.0 <= cosine(a, b) <= 1.0
    assert cosine(a, b) == pytest.approx(float(np.dot(a, b) / lengths) if lengths else 0.0, abs=1e-9)
    assert cosine(a, b) == cosine(b, a)
