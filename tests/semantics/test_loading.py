"""From names of models to what compares texts: what is missing, what is wrong, and when the hub is asked."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evals.errors import ConfigError
from evals.metrics import embedders
from evals.metrics.embedders import ModelChoice, SemanticConfig, check_choice, load_semantics


def choice_of(**keys: Any) -> ModelChoice:
    """A configuration with these keys, of which the models that they name are wanted."""
    return SemanticConfig(**keys).choice(embedder="embedder" in keys, scorer="bert_score_model" in keys)


BOTH = choice_of(
    embedder="org/embedder",
    bert_score_model="org/scorer",
    bert_score_layers=3,
    bert_score_rescale=True,
    device="cpu",
)


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let exactly these modules be installed."""

    def only(*modules: str) -> None:
        monkeypatch.setattr(embedders, "find_spec", lambda name: name if name in modules else None)

    return only


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


def hub_up() -> bool:
    return True


def hub_down() -> bool:
    return False


def no_hub_needed() -> bool:
    raise AssertionError("the hub was asked")


def test_the_models_are_made_as_configured(models: dict[str, Any]) -> None:
    """With every option, and names for the run."""
    made = load_semantics(BOTH, hub_up)
    assert models == {
        "embedder": ("org/embedder", {"device": "cpu"}),
        "scorer": ("org/scorer", {"layers": 3, "rescale": True, "device": "cpu"}),
    }
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
    models: dict[str, Any],
    install: Callable[..., None],
    installed: tuple[str, ...],
    choice: ModelChoice,
    reason: str,
    names: list[str] | None,
) -> None:
    """No error: the reason names what is wanted and not there, and how to install it; the rest is loaded."""
    install(*installed)
    made = load_semantics(choice, hub_up)
    assert made.reason == f"{reason}: pip install 'rag-evals[semantic]'"
    assert (list(made.names() or {}) or None) == names


def test_nothing_wanted_is_nothing_loaded(models: dict[str, Any]) -> None:
    """Neither a model nor the hub is touched."""
    made = load_semantics(choice_of(), no_hub_needed)
    assert (made.embedder, made.scorer, made.reason, made.names(), models) == (None, None, None, None, {})


def test_a_folder_needs_no_hub(models: dict[str, Any], tmp_path: Path) -> None:
    """A machine without a network does not wait for it."""
    folder = str(tmp_path)
    choice = choice_of(embedder=folder, bert_score_model=folder, bert_score_layers=1)
    assert load_semantics(choice, no_hub_needed).reason is None


@pytest.mark.parametrize(
    ("keys", "message", "way_out"),
    [
        ({"embedder": "./none"}, "semantic.embedder: there is no folder ./none", "a model of the hub"),
        ({"embedder": "/none/at/all"}, "there is no folder /none/at/all", "folder"),
        ({"bert_score_model": "~/none"}, "semantic.bert_score_model: there is no folder /.*none", "folder"),
        ({"bert_score_model": "a/b/c", "bert_score_layers": 2}, "there is no folder a/b/c", "folder"),
    ],
)
def test_a_folder_that_is_not_there_is_known_without_loading(keys: dict[str, Any], message: str, way_out: str) -> None:
    """Whether the packages are installed or not."""
    with pytest.raises(ConfigError, match=message) as caught:
        check_choice(choice_of(**keys))
    assert way_out in (caught.value.hint or "")


def test_a_folder_needs_its_layer(tmp_path: Path) -> None:
    """BERTScore of an unknown model has no layer of its own."""
    with pytest.raises(ConfigError, match="layer to compare is unknown") as caught:
        check_choice(choice_of(bert_score_model=str(tmp_path)))
    assert "semantic.bert_score_layers" in (caught.value.hint or "")
    check_choice(choice_of(bert_score_model=str(tmp_path), bert_score_layers=1))


@pytest.mark.parametrize(
    ("part", "key", "choice"),
    [
        ("embedder", "semantic.embedder", choice_of(embedder="org/m")),
        ("scorer", "semantic.bert_score_model", choice_of(bert_score_model="org/m", bert_score_layers=1)),
    ],
)
@pytest.mark.parametrize(
    ("hub", "error", "message", "way_out"),
    [
        (hub_down, OSError("no route"), "the model hub cannot be reached and org/m is not in the local", "HF_ENDPOINT"),
        (hub_up, OSError("404\nlong story"), r"cannot load org/m: 404(?:\n|$)", "another model"),
        (hub_down, RuntimeError("no CUDA"), "cannot load org/m: no CUDA", "another model"),
        (hub_up, KeyError(), "cannot load org/m: KeyError", "another model"),
    ],
)
def test_a_model_that_cannot_be_loaded_is_one_clear_error(
    models: dict[str, Any],
    part: str,
    key: str,
    choice: ModelChoice,
    hub: Callable[[], bool],
    error: Exception,
    message: str,
    way_out: str,
) -> None:
    """Whatever the package raises: the key, the model, the first line of the cause, and the way out."""
    models[part] = error
    with pytest.raises(ConfigError, match=f"{key}: {message}") as caught:
        load_semantics(choice, hub)
    assert way_out in (caught.value.hint or "")
    assert caught.value.__cause__ is error


def test_an_error_of_ours_says_itself(models: dict[str, Any]) -> None:
    """A missing baseline has a message of its own."""
    models["scorer"] = ConfigError("no baseline")
    with pytest.raises(ConfigError, match=r"^no baseline$"):
        load_semantics(choice_of(bert_score_model="org/known"), hub_up)
