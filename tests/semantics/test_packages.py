"""The packages of the extra `semantic`, with tiny random models made here. Skipped where they are not installed."""

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from semantics.models import choice_of

from evals.errors import ConfigError
from evals.metrics.embedders import BertScorer, SentenceTransformersEmbedder, cosine, load_semantics, quietly

pytestmark = pytest.mark.usefixtures("packages")
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
WORDS = ["the", "battery", "lasts", "hours", "days", "96", "not", "is", "covered", "burst", "pipes", "water", "damage"]
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, *".,?!", *LETTERS, *(f"##{c}" for c in LETTERS)]
HAND_MADE = [
    ("The battery lasts 96 hours.", "The battery lasts 96 hours."),
    ("Burst pipes are covered.", "Water damage is not covered!"),
    *[("a", "b"), ("96", "96 hours"), ("  padded  ", "padded"), ("日本語", "the battery")],
    ("water " * 400, "water damage"),
    ("the battery", "lasts 96 hours and days"),
    ("lasts 96 hours and days", "the battery"),
]


@pytest.fixture(scope="session")
def packages() -> None:
    """Both packages; what they warn of while they are imported is not ours."""
    with quietly():
        for name in ("sentence_transformers", "bert_score"):
            pytest.importorskip(name)


@pytest.fixture(scope="session")
def tiny_model(packages: None, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Make a BERT of three layers with random weights, in a folder of this name."""

    def make(name: str = "tiny", **tokenizer: Any) -> Path:
        with quietly():
            import torch  # noqa: PLC0415
            from transformers import BertConfig, BertModel, BertTokenizer  # noqa: PLC0415

            folder: Path = tmp_path_factory.mktemp("models") / name
            folder.mkdir()
            (folder / "vocab.txt").write_text("\n".join(dict.fromkeys(PIECES)), encoding="utf-8")
            BertTokenizer(str(folder / "vocab.txt"), **tokenizer).save_pretrained(folder)
            sizes = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 64}
            with torch.random.fork_rng():
                torch.manual_seed(0)
                model = BertModel(BertConfig(vocab_size=len(set(PIECES)), max_position_embeddings=64, **sizes))
            model.save_pretrained(folder)
        return folder

    return make


@pytest.fixture(scope="session")
def tiny(tiny_model: Callable[..., Path]) -> Path:
    """Such a model, whose tokenizer knows how long a text may be."""
    return tiny_model(model_max_length=64)


def random_pairs(count: int) -> list[tuple[str, str]]:
    draw = random.Random(7)  # noqa: S311 - the same texts every time

    def text() -> str:
        return " ".join(draw.choices(WORDS, k=draw.randint(1, 15))) + draw.choice([".", "?", ""])

    return [(text(), text()) for _ in range(count)]


def theirs(pairs: list[tuple[str, str]], model: Path | str, layers: int, **options: Any) -> list[float]:
    """What the package's own function gives."""
    with quietly():
        from bert_score import score  # noqa: PLC0415

        candidates, references = map(list, zip(*pairs, strict=True))
        _, _, f1 = score(candidates, references, model_type=str(model), num_layers=layers, **options)
    return [float(value) for value in f1]


@pytest.mark.parametrize("layers", [1, 3])
def test_bert_score_is_that_of_its_authors_package(tiny: Path, layers: int) -> None:
    """On random and hand-made texts, without idf and rescaling, for the layer asked for."""
    pairs = [*HAND_MADE, *random_pairs(100)]
    ours = BertScorer(str(tiny), layers=layers).f1(pairs)
    assert ours == pytest.approx(theirs(pairs, tiny, layers, idf=False), abs=1e-6)
    assert len({round(value, 3) for value in ours}) > 20


def test_rescaling_is_that_of_its_authors_package(
    tiny_model: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the baseline of the model's name and layer; it moves the scores."""
    monkeypatch.chdir(tiny_model("distilbert-base-uncased", model_max_length=64).parent)
    name, pairs = "distilbert-base-uncased", [*HAND_MADE, *random_pairs(30)]
    ours = BertScorer(name, layers=2, rescale=True)
    assert ours.f1(pairs) == pytest.approx(theirs(pairs, name, 2, rescale_with_baseline=True, lang="en"), abs=1e-5)
    assert ours.name.endswith("-rescaled")
    assert min(ours.f1(pairs)) < min(BertScorer(name, layers=2).f1(pairs)) - 0.1


def test_the_order_and_the_company_of_pairs_change_nothing(tiny: Path) -> None:
    """A pair has its score, in whatever batch it is."""
    scorer, pairs = BertScorer(str(tiny), layers=2), random_pairs(70)
    together = scorer.f1(pairs)
    assert scorer.f1(pairs[::-1]) == pytest.approx(together[::-1], abs=1e-5)
    assert [scorer.f1([pair])[0] for pair in pairs[:5]] == pytest.approx(together[:5], abs=1e-5)


@pytest.mark.parametrize("nothing", ["", "  \n", "\u200b", "\x00\x01"])
def test_a_text_without_tokens_scores_zero_in_silence(
    tiny: Path, capfd: pytest.CaptureFixture[str], nothing: str
) -> None:
    """The package breaks on an empty text and prints where only control characters are left; we do neither."""
    scorer = BertScorer(str(tiny), layers=2)
    pairs = [(nothing, "water"), ("water", nothing), (nothing, nothing), ("water", "water")]
    assert scorer.f1(pairs) == [0.0, 0.0, 0.0, pytest.approx(1.0)]
    assert scorer.f1([(nothing, "water")]) == [0.0]
    assert capfd.readouterr() == ("", "")


def test_a_tokenizer_without_a_limit_is_given_the_models(tiny_model: Callable[..., Path]) -> None:
    """As that of the default model: long texts are cut where the model ends, and nothing overflows."""
    scorer = BertScorer(str(tiny_model("endless")), layers=2)
    long = "water damage " * 500
    assert scorer.f1([(long, long)]) == [pytest.approx(1.0)]


def test_the_scorer_is_named_by_all_that_its_numbers_depend_on(tiny: Path) -> None:
    """Model, layer, idf and versions, without the place of the folder on this machine."""
    name = BertScorer(str(tiny), layers=2).name
    assert re.match(r"tiny@[0-9a-f]{8}_L2_no-idf_version=", name)
    assert str(tiny.parent) not in name


def test_a_sentence_transformer_is_built_from_a_folder(tiny: Path) -> None:
    """Its vectors are those of the package, one for each text in their order, also for empty and long texts."""
    embedder = SentenceTransformersEmbedder(str(tiny))
    texts = ["the battery", "", "lasts 96 hours", "water " * 400, " \n", *[pair[0] for pair in random_pairs(70)]]
    vectors = embedder.embed(texts)
    with quietly():
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415

        model = SentenceTransformer(str(tiny))
        expected = [model.encode(text, show_progress_bar=False).tolist() for text in texts]
    assert [len(vector) for vector in vectors] == [32] * len(texts)
    assert [list(vector) for vector in vectors] == [pytest.approx(same, abs=1e-5) for same in expected]
    assert cosine(vectors[0], embedder.embed(["the battery"])[0]) == pytest.approx(1.0)
    assert re.match(r"tiny@[0-9a-f]{8} \(sentence-transformers ", embedder.name)
    assert embedder.embed([]) == []


def test_models_are_loaded_once_in_a_process(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second run does not wait for them again."""
    choice = choice_of(embedder=str(tiny), bert_score_model=str(tiny), bert_score_layers=2)
    first = load_semantics(choice, pytest.fail)
    monkeypatch.setattr("transformers.AutoModel.from_pretrained", pytest.fail)
    assert load_semantics(choice, pytest.fail).names() == first.names()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bert_score_layers": 4}, "cannot load .*between 0 and 3"),
        ({"bert_score_layers": 2, "bert_score_rescale": True}, "no English baseline"),
        ({"bert_score_layers": 2, "device": "nonsense"}, "cannot load"),
    ],
)
def test_what_a_model_cannot_do_is_told_by_name(tiny: Path, options: dict[str, Any], message: str) -> None:
    """A layer that it does not have, a baseline that nobody made, a device that is not there."""
    with pytest.raises(ConfigError, match=f"semantic.bert_score_[a-z]+: .*{message}"):
        load_semantics(choice_of(bert_score_model=str(tiny), **options), pytest.fail)


def test_a_folder_without_a_model_is_told_by_name(packages: None, tmp_path: Path) -> None:
    """Both keys are named by the part that they load."""
    with pytest.raises(ConfigError, match=r"semantic\.embedder: cannot load"):
        load_semantics(choice_of(embedder=str(tmp_path)), pytest.fail)


def test_a_model_of_the_hub_is_looked_up_in_the_cache_where_there_is_no_hub(
    packages: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a network and an empty cache: one clear error, at once."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    for keys in ({"embedder": "nobody/nothing"}, {"bert_score_model": "nobody/nothing", "bert_score_layers": 1}):
        with pytest.raises(ConfigError, match="hub cannot be reached and nobody/nothing is not in"):
            load_semantics(choice_of(**keys), lambda: False)
