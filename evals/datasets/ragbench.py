"""RAGBench: questions of five domains with annotated documents, and a generated answer to each."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from itertools import islice, zip_longest
from typing import Any, TypeVar

from evals.datasets.base import Draft, HubRowsLoader, LoadOptions, columns_of, gold_in, sample
from evals.datasets.hub import DatasetRows, HubSource, home_of
from evals.datasets.questions import DECLINED, declines
from evals.errors import DatasetError
from evals.schemas.dataset import EvalDataset, EvalQuestion, KeySentence

_SUBSETS = {
    "biomedical": ("covidqa", "pubmedqa"),
    "customer support": ("delucionqa", "emanual", "techqa"),
    "finance": ("finqa", "tatqa"),
    "general knowledge": ("expertqa", "hagrid", "hotpotqa", "msmarco"),
    "legal": ("cuad",),
}
DOMAINS = {subset: domain for domain, subsets in _SUBSETS.items() for subset in subsets}
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
        rank = {subset: sha256(f"{options.seed}:{subset}".encode()).digest() for subset in self._subsets(options)}
        subsets = sorted(rank, key=rank.__getitem__)[: options.samples]
        tables = {subset: self.open(replace(options, config=subset)) for subset in subsets}
        draws = []
        for subset, rows in tables.items():
            with columns_of(rows):
                draws.append(
                    [
                        (subset, index)
                        for index in sample(list(map(str, rows.column("id"))), options.samples, options.seed)
                    ]
                )
        chosen = list(islice(_in_turn(draws), options.samples))
        draft, questions = Draft(), []
        for subset, rows in tables.items():
            with columns_of(rows):
                places = [index for name, index in chosen if name == subset]
                questions.append([self.question_of(subset, row, draft) for row in best_rows(rows, places)])
        draft.questions = list(_in_turn(questions))
        source = "; ".join(rows.source for rows in tables.values())
        return self.build(draft, config=options.config, split=self.hub.split, source=source)

    def _subsets(self, options: LoadOptions) -> list[str]:
        if options.config is not None and options.config not in DOMAINS:
            hint = f"it has: {', '.join(sorted(DOMAINS))}"
            raise DatasetError(f"ragbench has no subset {options.config!r}", hint)
        if options.config is not None or options.data_dir is None:
            return list(DOMAINS) if options.config is None else [options.config]
        home = home_of(options.data_dir, self.name, self.hub)
        return [subset for subset in DOMAINS if (home / subset).is_dir()] or list(DOMAINS)

    def question_of(self, subset: str, row: Mapping[str, Any], draft: Draft) -> EvalQuestion:
        """Make the question of a row of a subset; its documents are added to the draft."""
        texts = [text.strip() for text in row["documents"]]
        documents = {index: draft.add_document(f"ragbench {subset}", text) for index, text in enumerate(texts) if text}
        relevant = [(documents.get(index), text.strip()) for index, text in _relevant(row, draft)]
        golds = {document.id: gold_in(document, document.text) for document, _ in relevant if document}
        key = partial(KeySentence, source="all_relevant_sentence_keys")
        keys = [key(text=text, document_id=document and document.id) for document, text in relevant if text]
        rank = _rank(row["adherence_score"], row["response"], row["question"])
        draft.dropped.update([DECLINED] if rank == _DECLINES else [])
        expected, model = (
            (row["response"].strip(), row["generation_model_name"]) if rank == _REFERENCE else (None, None)
        )
        is_answerable = not declines(row["response"] or "", row["question"])
        return self.make(
            f"{subset}:{row['id']}",
            row["question"],
            expected_answer=expected,
            gold_passages=list(golds.values()),
            key_sentences=keys,
            answerable_by_gold=is_answerable and bool(rank == _REFERENCE or golds),
            metadata={"subset": subset, "domain": DOMAINS[subset], "reference_model": model},
        )


T = TypeVar("T")


def _in_turn(lists: Iterable[Iterable[T]]) -> Iterator[T]:
    """The first of each list, then the second of each, and so on."""
    return (item for turn in zip_longest(*lists) for item in turn if item is not None)


def best_rows(rows: DatasetRows, places: Sequence[int]) -> list[dict[str, Any]]:
    """Of the rows with an id, one a generator, the first whose answer is worth most as a reference; for each place."""
    ids = rows.column("id")
    answers = list(zip(*(rows.column(name) for name in ("adherence_score", "response", "question")), strict=True))
    same: dict[str, list[int]] = {}
    for index, row_id in enumerate(ids):
        same.setdefault(row_id, []).append(index)
    return rows.take([min(same[ids[index]], key=lambda index: _rank(*answers[index])) for index in places])


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
    return [sentences[key] for key in relevant]
