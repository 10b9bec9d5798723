"""RAGBench: questions of five domains with annotated documents, and a generated answer to each."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import islice, zip_longest
from typing import Any

from evals.datasets.base import Draft, HubRowsLoader, LoadOptions, columns_of, gold_in, sample
from evals.datasets.hub import DatasetRows, HubSource, clone_of
from evals.datasets.questions import DECLINED, declines
from evals.errors import DatasetError
from evals.schemas.dataset import EvalDataset, EvalQuestion, KeySentence

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
        subsets = sorted(
            self._subsets(options), key=lambda subset: sha256(f"{options.seed}:{subset}".encode()).digest()
        )
        tables, drawn = {}, []
        for subset in subsets[: options.samples]:
            rows, _ = self.open(replace(options, config=subset))
            tables[subset] = rows
            drawn.append([(subset, place) for place in sample(rows.column("id"), options.samples, options.seed)])
        turns = (pair for turn in zip_longest(*drawn) for pair in turn if pair is not None)
        chosen = list(islice(turns, options.samples))
        draft = Draft()
        for subset, rows in tables.items():
            with columns_of(rows):
                self.add(subset, rows, [place for name, place in chosen if name == subset], draft)
        added = [pair for subset in tables for pair in chosen if pair[0] == subset]
        questions = dict(zip(added, draft.questions, strict=True))
        draft.questions = [questions[pair] for pair in chosen]
        source = "; ".join(rows.source for rows in tables.values())
        return self.build(draft, config=options.config, split=self.hub.split, source=source)

    def _subsets(self, options: LoadOptions) -> list[str]:
        if options.config is not None:
            if options.config not in DOMAINS:
                raise DatasetError(f"ragbench has no subset {options.config!r}", f"it has: {', '.join(DOMAINS)}")
            return [options.config]
        if options.data_dir is None:
            return list(DOMAINS)
        home = clone_of(options.data_dir, self.hub) or options.data_dir / self.name
        return [subset for subset in DOMAINS if (home / subset).is_dir()] or list(DOMAINS)

    def add(self, subset: str, rows: DatasetRows, places: Sequence[int], draft: Draft) -> None:
        """Add the questions of rows of a subset to a draft, with their documents.

        Of rows with the same id, one a generator, the first is taken whose answer is worth most as a reference.
        """
        ids = rows.column("id")
        answers = list(zip(*(rows.column(name) for name in ("adherence_score", "response", "question")), strict=True))
        same: dict[str, list[int]] = {}
        for place, row_id in enumerate(ids):
            same.setdefault(row_id, []).append(place)
        best = [min(same[ids[place]], key=lambda place: _rank(*answers[place])) for place in places]
        for row in rows.take(best):
            draft.questions.append(self._question(subset, row, draft))

    def _question(self, subset: str, row: Mapping[str, Any], draft: Draft) -> EvalQuestion:
        documents = [
            draft.add_document(f"ragbench {subset}", text.strip()) if text.strip() else None
            for text in row["documents"]
        ]
        relevant = [(documents[index], text.strip()) for index, text in _relevant(row, draft)]
        golds = {document.id: gold_in(document, document.text) for document, _ in relevant if document is not None}
        keys = [
            KeySentence(text=text, source="all_relevant_sentence_keys", document_id=document.id if document else None)
            for document, text in relevant
            if text
        ]
        rank = _rank(row["adherence_score"], row["response"], row["question"])
        draft.dropped.update([DECLINED] if rank == _DECLINES else [])
        is_answerable = not declines(row["response"] or "", row["question"])
        return EvalQuestion(
            id=f"{self.name}:{subset}:{row['id']}",
            question=row["question"].strip(),
            expected_answer=row["response"].strip() if rank == _REFERENCE else None,
            gold_passages=list(golds.values()),
            key_sentences=keys,
            answerable_by_gold=is_answerable and bool(rank == _REFERENCE or golds),
            dataset=self.name,
            metadata={
                "subset": subset,
                "domain": DOMAINS.get(subset, "other"),
                "reference_model": row["generation_model_name"] if rank == _REFERENCE else None,
            },
        )


_REFERENCE, _DECLINES, _WORTHLESS = range(3)
"""What a generated response is worth as the expected answer. One that declines is adherent, for it claims nothing; no
right answer could be told by it. One that is not adherent, or not there, is worth nothing."""


def _rank(adherent: bool | None, response: str | None, question: str) -> int:
    if not adherent or not (response or "").strip():
        return _WORTHLESS
    return _DECLINES if declines(response or "", question) else _REFERENCE


def _relevant(row: Mapping[str, Any], draft: Draft) -> list[tuple[int, str]]:
    """Place of the document and text of each relevant sentence; keys that name no document are left out."""
    sentences = {
        key: (int(number[1]), text)
        for listed in row["documents_sentences"]
        for key, text in listed
        if (number := _KEY.match(key)) and int(number[1]) < len(row["documents"])
    }
    keys = row["all_relevant_sentence_keys"] or []
    relevant = dict.fromkeys(key for key in keys if key in sentences)
    draft.dropped["relevant key of no sentence"] += sum(key not in sentences for key in keys)
    draft.dropped["relevant key named twice"] += sum(key in sentences for key in keys) - len(relevant)
    draft.dropped = +draft.dropped
    return [sentences[key] for key in relevant]
