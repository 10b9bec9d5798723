"""RAGBench: questions of five domains with annotated documents, and a generated answer to each."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import IntEnum
from hashlib import sha256
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

from evals.datasets.base import Draft, HubRowsLoader, LoadOptions, columns_of, gold_in, sample
from evals.datasets.hub import DatasetRows, HubSource, clone_of
from evals.datasets.trec import DECLINED, declines
from evals.errors import DatasetError
from evals.schemas.dataset import EvalDataset, EvalQuestion, GoldPassage, KeySentence

DOMAINS = {
    "covidqa": "biomedical",
    "cuad": "legal",
    "delucionqa": "customer support",
    "emanual": "customer support",
    "expertqa": "general knowledge",
    "finqa": "finance",
    "hagrid": "general knowledge",
    "hotpotqa": "general knowledge",
    "msmarco": "general knowledge",
    "pubmedqa": "biomedical",
    "tatqa": "finance",
    "techqa": "customer support",
}
"""The domain of each subset, which is a config on the hub."""

_KEY = re.compile(r"^(\d+)[a-z]+$")


class RAGBenchLoader(HubRowsLoader):
    """RAGBench, test split: twelve subsets, drawn in turn, so that they share evenly.

    A question is asked once, however many generators answered it. Gold is each document with a sentence that is
    annotated as relevant; those sentences are the key sentences. The generated response is the expected answer only
    where it is annotated as adherent and does not decline to answer. A question with either is answerable, unless the
    response declines. The corpus is the documents of the questions drawn.
    """

    name = "ragbench"
    aspects = ("generation", "retrieval")
    description = "Twelve subsets over five domains (legal, finance, biomedical, support, general)"
    licence = "CC BY 4.0"
    origin = "HuggingFace: galileo-ai/ragbench"
    hub = HubSource("galileo-ai/ragbench", config="covidqa", split="test")

    def load(self, options: LoadOptions) -> EvalDataset:
        """Draw rows of the subsets in turn.

        Raises:
            DatasetError: The subset does not exist, or its rows cannot be had.
        """
        draft, drawn, sources = Draft(), [], []
        for subset in _in_turn(self._subsets(options), options):
            rows, _ = self.open(replace(options, config=subset))
            sources.append(rows.source)
            places = sample(rows.column("id"), options.samples, options.seed)
            drawn.append((subset, rows, places))
        for subset, rows, places in _share(drawn, options.samples):
            with columns_of(rows):
                self.add(subset, rows, places, draft)
        draft.questions = _by_turns(draft.questions)
        return self.build(draft, config=options.config, split=self.hub.split, source="; ".join(sources))

    def _subsets(self, options: LoadOptions) -> list[str]:
        if options.config is not None:
            if options.config not in DOMAINS:
                raise DatasetError(f"ragbench has no subset {options.config!r}", f"it has: {', '.join(DOMAINS)}")
            return [options.config]
        if options.data_dir is None:
            return list(DOMAINS)
        home = clone_of(options.data_dir, self.hub) or options.data_dir / self.name
        return [subset for subset in DOMAINS if (Path(home) / subset).is_dir()] or list(DOMAINS)

    def add(self, subset: str, rows: DatasetRows, places: Sequence[int], draft: Draft) -> None:
        """Add the questions of rows of a subset to a draft, with their documents."""
        wanted = _best_rows(rows, places)
        for row in rows.take(wanted):
            draft.questions.append(self._question(subset, row, draft))

    def _question(self, subset: str, row: Mapping[str, Any], draft: Draft) -> EvalQuestion:
        relevant = _relevant(row, draft)
        documents = [
            draft.add_document(f"ragbench {subset}", text.strip()) if text.strip() else None
            for text in row["documents"]
        ]
        golds: dict[str, GoldPassage] = {}
        for index, _ in relevant.values():
            if (document := documents[index]) is not None:
                golds.setdefault(document.id, gold_in(document, document.text))
        keys = [
            KeySentence(
                text=text.strip(),
                source="all_relevant_sentence_keys",
                document_id=document.id if (document := documents[index]) else None,
            )
            for index, text in relevant.values()
            if text.strip()
        ]
        worth = _worth(row["adherence_score"], row["response"], row["question"])
        draft.dropped += Counter({DECLINED: int(worth is _Worth.DECLINES)})  # where it is one
        adherent = worth is _Worth.REFERENCE
        return EvalQuestion(
            id=f"{self.name}:{subset}:{row['id']}",
            question=row["question"].strip(),
            expected_answer=row["response"].strip() if adherent else None,
            gold_passages=list(golds.values()),
            key_sentences=keys,
            answerable_by_gold=_is_answerable(row, any((adherent, golds))),
            dataset=self.name,
            metadata={
                "subset": subset,
                "domain": DOMAINS.get(subset, "other"),
                "reference_model": row["generation_model_name"] if adherent else None,
            },
        )


def _in_turn(subsets: Sequence[str], options: LoadOptions) -> list[str]:
    """The subsets in the order in which they are drawn from; those that a small sample does not reach are left out."""
    ranked = sorted(subsets, key=lambda subset: sha256(f"{options.seed}:{subset}".encode()).digest())
    return ranked[: options.samples]


def _share(
    drawn: Sequence[tuple[str, DatasetRows, list[int]]], count: int | None
) -> list[tuple[str, DatasetRows, list[int]]]:
    """Cut each subset's draw so that `count` questions are taken in turn, as evenly as the subsets allow."""
    turns = zip_longest(*(places for _, _, places in drawn))
    asked = (number for turn in turns for number, place in enumerate(turn) if place is not None)
    taken = Counter(islice(asked, count))
    return [(subset, rows, places[: taken[number]]) for number, (subset, rows, places) in enumerate(drawn)]


def _by_turns(questions: Sequence[EvalQuestion]) -> list[EvalQuestion]:
    """One question of each subset, then a second of each, and so on: a smaller sample is a prefix of a larger one."""
    by_subset: dict[str, list[EvalQuestion]] = {}
    for question in questions:
        by_subset.setdefault(question.metadata["subset"], []).append(question)
    turns = zip_longest(*by_subset.values())
    return [question for turn in turns for question in turn if question is not None]


def _best_rows(rows: DatasetRows, places: Sequence[int]) -> list[int]:
    """Of the rows with the same id, one a generator, the first of those whose answer is worth most as a reference."""
    ids = rows.column("id")
    generated = list(zip(*(rows.column(name) for name in ("adherence_score", "response", "question")), strict=True))
    same: dict[str, list[int]] = {}
    for place, row_id in enumerate(ids):
        same.setdefault(row_id, []).append(place)
    return [min(same[ids[place]], key=lambda other: _worth(*generated[other])) for place in places]


class _Worth(IntEnum):
    """What a generated response is worth as the expected answer, the best first."""

    REFERENCE = 0
    DECLINES = 1
    """Adherent, for it claims nothing; no right answer could be told by it."""
    NOTHING = 2
    """Not adherent, or not there."""


def _worth(adherent: bool | None, response: str | None, question: str) -> _Worth:
    if not adherent or not (response or "").strip():
        return _Worth.NOTHING
    return _Worth.DECLINES if declines(response or "", question) else _Worth.REFERENCE


def _is_answerable(row: Mapping[str, Any], has_gold: bool) -> bool:
    return has_gold and not declines(row["response"] or "", row["question"])


def _relevant(row: Mapping[str, Any], draft: Draft) -> dict[str, tuple[int, str]]:
    """Document and text of each relevant sentence, by its key."""
    sentences, relevant = _sentences(row), {}
    for key in row["all_relevant_sentence_keys"] or []:
        if key in relevant:
            draft.dropped["relevant key named twice"] += 1
        elif key in sentences:
            relevant[key] = sentences[key]
        else:
            draft.dropped["relevant key of no sentence"] += 1
    return relevant


def _sentences(row: Mapping[str, Any]) -> dict[str, tuple[int, str]]:
    """Document and text of each sentence, by its key; a key that does not name a document is left out."""
    found = {}
    for sentences in row["documents_sentences"]:
        for key, text in sentences:
            parsed = _KEY.match(key)
            if parsed and int(parsed.group(1)) < len(row["documents"]):
                found[key] = (int(parsed.group(1)), text)
    return found
