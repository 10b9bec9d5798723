"""BERTScore by the package bert-score, its authors' own.

Zhang et al. 2020: tokens of both texts are matched greedily by the cosine of their contextual vectors; precision is the
mean of the best match of each candidate token, recall of each reference token, F1 = 2PR/(P+R). Without idf weights.
"""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from evals.errors import ConfigError
from evals.semantics.folder import shown_name
from evals.semantics.quiet import hush_transformers, quietly

_BATCH = 32
_LONGEST = 512
"""Tokens of a text, where the tokenizer names no limit."""


class BertScorer:
    """BERTScore with one model and layer; loaded once in a process.

    Args:
        model: Its id on the hub, or its folder.
        layers: The layer whose vectors are compared; the package's choice for the model where None.
        rescale: Spread the scores by the package's English baseline for the model: (F1 - b) / (1 - b).
        device: Such as "cpu" or "cuda:1"; the best there is where None.

    Raises:
        ConfigError: Rescaling is wanted, and the package has no baseline for the model.
        Exception: Whatever the package raises for a model that it cannot load.
    """

    def __init__(
        self, model: str, *, layers: int | None = None, rescale: bool = False, device: str | None = None
    ) -> None:
        with quietly():
            self._scorer = _load(model, layers, rescale, device)
        self.name: str = self._scorer.hash.replace(model, shown_name(model))

    def f1(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """The F1 of each (candidate, reference), in their order; 0 where the tokenizer finds nothing in one of them."""
        with quietly():
            said = {text for text in {text for pair in pairs for text in pair} if self._holds_tokens(text)}
            scored = [pair for pair in dict.fromkeys(pairs) if said.issuperset(pair)]
            if not scored:
                return [0.0] * len(pairs)
            candidates, references = map(list, zip(*scored, strict=True))
            _, _, f1 = self._scorer.score(candidates, references, batch_size=_BATCH)
        found = dict(zip(scored, f1.tolist(), strict=True))
        return [found.get(pair, 0.0) for pair in pairs]

    def _holds_tokens(self, text: str) -> bool:
        """The package breaks on an empty text, and prints where there is nothing but control characters."""
        return bool(text.strip()) and bool(self._scorer._tokenizer.encode(text, add_special_tokens=False))


def knows_layers(model: str) -> bool:
    """Whether the package knows which layer of the model to use."""
    with quietly():
        from bert_score.utils import model2layers  # noqa: PLC0415 - with torch, many seconds

    return model in model2layers


@lru_cache(maxsize=1)
def _load(model: str, layers: int | None, rescale: bool, device: str | None) -> Any:
    import bert_score  # noqa: PLC0415 - with torch, many seconds

    hush_transformers()
    if rescale and not (Path(bert_score.__file__).parent / "rescale_baseline" / "en" / f"{model}.tsv").is_file():
        raise ConfigError(
            f"semantic.bert_score_rescale: bert-score has no English baseline for {model}",
            "leave scores as they are, or choose one of its models, such as distilbert-base-uncased or roberta-large",
        )
    scorer = bert_score.BERTScorer(
        model_type=model,
        num_layers=layers,
        rescale_with_baseline=rescale,
        lang="en" if rescale else None,
        device=device,
    )
    tokenizer = scorer._tokenizer
    if tokenizer.model_max_length > 1_000_000:
        # Several models, DeBERTa among them, name no limit; the tokenizer cannot take the number that stands for that.
        tokenizer.model_max_length = min(_LONGEST, getattr(scorer._model.config, "max_position_embeddings", _LONGEST))
    return scorer
