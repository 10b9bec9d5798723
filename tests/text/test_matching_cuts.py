"""A gold is recognised wherever its document was cut: by characters, by words, with and without overlap."""

import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evals.datasets.base import LoadOptions
from evals.datasets.registry import get_loader
from evals.schemas import GoldPassage, RetrievedChunk
from evals.text.matching import Matches, MatchSettings, match

Recognised = Callable[..., Matches]
CUTS = [(300, 0), (300, 60), (500, 0), (500, 100), (1000, 200)]
"""Characters of a chunk, and how many of them the next one repeats."""


def pieces(text: str, size: int, overlap: int) -> Iterator[tuple[int, str]]:
    """Cut a text every so many characters, through words too; each piece with where it begins."""
    for start in range(0, max(1, len(text) - overlap), size - overlap):
        yield start, text[start : start + size]


def touching(text: str, span: tuple[int, int], size: int, overlap: int) -> list[RetrievedChunk]:
    """The pieces of the text that hold something of the span."""
    start, end = span
    cut = pieces(text, size, overlap)
    return [RetrievedChunk(text=piece) for at, piece in cut if at < end and start < at + len(piece)]


@pytest.fixture(scope="module")
def document() -> tuple[str, list[tuple[int, int]]]:
    """Sixty paragraphs of 20 to 300 words, all of one vocabulary, and where each stands."""
    rng = random.Random(7)  # noqa: S311 - test data
    vocabulary = ["".join(rng.choices("abcdefghilmnoprstu", k=rng.randint(1, 11))) for _ in range(900)]
    text, spans = "", []
    for _ in range(60):
        words = rng.choices(vocabulary, k=rng.randint(20, 300))
        start = len(text)
        text += " ".join(words).capitalize() + ".\n\n"
        spans.append((start, len(text) - 2))
    return text, spans


@pytest.mark.parametrize(("size", "overlap"), CUTS)
def test_every_paragraph_is_recognised_where_characters_are_counted(
    document: tuple[str, list[tuple[int, int]]], size: int, overlap: int
) -> None:
    """The first and the last token of a chunk may be fragments."""
    text, spans = document
    found = [
        match([GoldPassage(text=text[span[0] : span[1]])], touching(text, span, size, overlap), MatchSettings()).found
        for span in spans
    ]
    assert all(found)


def misread(text: str, share: float) -> str:
    """The text with such a share of its letters read as others, drawn by the text itself."""
    rng = random.Random(text)  # noqa: S311 - test data
    letters = "abcdefghijklmnopqrstuvwxyz"
    return "".join(rng.choice(letters) if one in letters and rng.random() < share else one for one in text)


@pytest.mark.parametrize("size", [100, 300, 1000])
@pytest.mark.parametrize(("share", "least"), [(0.01, 0.95), (0.02, 0.8)])
def test_misread_letters_cost_few_of_the_golds_that_borders_cut(
    document: tuple[str, list[tuple[int, int]]], size: int, share: float, least: float
) -> None:
    """Running text is followed through the words that were misread, up to the border of the chunk."""
    text, spans = document
    noisy = misread(text, share)
    found = [
        match([GoldPassage(text=text[slice(*span)])], touching(noisy, span, size, 0), MatchSettings()).found
        for span in spans
    ]
    assert sum(map(bool, found)) >= least * len(spans)


@pytest.mark.real_rows
@pytest.mark.parametrize("name", ["ragbench", "squad_v2", "hotpotqa", "qasper"])
def test_99_of_100_real_paragraphs_are_recognised_where_characters_are_counted(name: str) -> None:
    """Nothing but the texts is compared: no document is named."""
    folder = os.environ.get("EVALS_REAL_DATA")
    if not folder:
        pytest.skip("EVALS_REAL_DATA names no folder")
    dataset = get_loader(name).load(LoadOptions(samples=60, data_dir=Path(folder) / "hf"))
    texts = {document.id: document.text for document in dataset.documents}
    golds = [gold for question in dataset.questions for gold in question.gold_passages if gold.span]
    for size, overlap in CUTS:
        found = [
            match(
                [GoldPassage(text=gold.text)],
                touching(texts[gold.document_id or ""], gold.span or (0, 0), size, overlap),
                MatchSettings(),
            ).found
            for gold in golds
        ]
        assert sum(map(bool, found)) >= 0.99 * len(golds), (size, overlap)
