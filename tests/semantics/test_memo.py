"""Every text is embedded once, and every pair scored once."""

from typing import Any

import pytest

from evals.metrics.embedders import Remembering


def test_a_text_is_embedded_once(embedder: Any) -> None:
    """Neither within a call nor in a later one is a text passed on again; the order of the answer is that asked for."""
    remembering = Remembering(embedder)
    first = remembering.embed(["b", "a", "b"])
    second = remembering.embed(["c", "a"])
    assert embedder.calls == [["b", "a"], ["c"]]
    assert first[0] == first[2] != first[1]
    assert second[1] == first[1]
    assert remembering.name == embedder.name


def test_nothing_new_is_no_call(embedder: Any, scorer: Any) -> None:
    """What is known, and nothing at all, needs no model."""
    texts, pairs = Remembering(embedder), Remembering(scorer)
    for _ in range(2):
        assert len(texts.embed(["a"])) == len(pairs.f1([("a", "b")])) == 1
    assert texts.embed([]) == pairs.f1([]) == []
    assert (len(embedder.calls), len(scorer.calls)) == (1, 1)


def test_a_pair_is_scored_once_and_has_a_direction(scorer: Any) -> None:
    """(a, b) and (b, a) are two pairs: rescaled or weighted scores need not agree."""
    remembering = Remembering(scorer)
    scorer.script = {("a", "b"): 0.25, ("b", "a"): 0.75}
    assert remembering.f1([("a", "b"), ("b", "a"), ("a", "b")]) == [0.25, 0.75, 0.25]
    assert scorer.calls == [[("a", "b"), ("b", "a")]]


def test_an_embedder_that_loses_a_text_is_noticed(embedder: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A vector for each text, or an error: never the vector of another text."""
    monkeypatch.setattr(embedder, "embed", lambda _texts: [[1.0]])
    with pytest.raises(ValueError, match="shorter"):
        Remembering(embedder).embed(["a", "b"])
