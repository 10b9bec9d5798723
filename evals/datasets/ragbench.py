"""RAGBench: questions of five domains with annotated documents, and a generated answer to each."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from itertools import chain, islice, zip_longest
from typing import Any

from evals.datasets.base import DatasetRows, Draft, HubRowsLoader, HubSource, LoadOptions, columns_of, dataset_folder
from evals.datasets.file import DECLINED, declines
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
        draws = ([(subset, place) for place in self.draw(rows, options)] for subset, rows in tables.items())
        chosen = list(islice(filter(None, chain.from_iterable(zip_longest(*draws))), options.samples))
        draft, questions = Draft(), {}
        for subset, rows in tables.items():
            with columns_of(rows):
                best = best_rows(rows, [place for name, place in chosen if name == subset])
                questions[subset] = iter([self.question_of(subset, row, draft) for row in best])
        draft.questions = [next(questions[subset]) for subset, _ in chosen]
        source = "; ".join(rows.source for rows in tables.values())
        return self.build(draft, config=options.config, split=self.hub.split, source=source)

    def _subsets(self, options: LoadOptions) -> list[str]:
        if options.config is not None and options.config not in DOMAINS:
            hint = f"it has: {', '.join(sorted(DOMAINS))}"
            raise DatasetError(f"ragbench has no subset {options.config!r}", hint)
        if options.config is not None or options.data_dir is None:
            return list(DOMAINS) if options.config is None else [options.config]
        home = dataset_folder(options.data_dir, self.name, self.hub)
        return [subset for subset in DOMAINS if (home / subset).is_dir()] or list(DOMAINS)

    def question_of(self, subset: str, row: Mapping[str, Any], draft: Draft) -> EvalQuestion:
        """Make the question of a row of a subset; its documents are added to the draft."""
        texts = {index: text.strip() for index, text in enumerate(row["documents"])}
        passages = {index: draft.add_document(f"ragbench {subset}", text) for index, text in texts.items() if text}
        relevant = [(passages.get(index), text.strip()) for index, text in _relevant(row, draft)]
        golds = {passage.document_id: passage for passage, _ in relevant if passage}
        key = partial(KeySentence, source="all_relevant_sentence_keys")
        keys = [key(text=text, document_id=passage and passage.document_id) for passage, text in relevant if text]
        is_unsupported, is_refusal = _faults(row["adherence_score"], row["response"], row["question"])
        is_reference = not is_unsupported and not is_refusal
        expected, model = (row["response"].strip(), row["generation_model_name"]) if is_reference else (None, None)
        draft.dropped[DECLINED] += is_refusal and not is_unsupported
        return self.make(
            f"{subset}:{row['id']}",
            row["question"],
            expected_answer=expected,
            gold_passages=list(golds.values()),
            key_sentences=keys,
            answerable_by_gold=not is_refusal and bool(is_reference or golds),
            metadata={"subset": subset, "domain": DOMAINS[subset], "reference_model": model},
        )


def best_rows(rows: DatasetRows, places: Sequence[int]) -> list[dict[str, Any]]:
    """Of the rows with an id, one a generator, the first whose answer is worth most as a reference; for each place."""
    ids = rows.column("id")
    answers = list(zip(*(rows.column(name) for name in ("adherence_score", "response", "question")), strict=True))
    same: dict[str, list[int]] = {}
    for index, row_id in enumerate(ids):
        same.setdefault(row_id, []).append(index)
    return rows.take([min(same[ids[index]], key=lambda index: _faults(*answers[index])) for index in places])


def _faults(adherent: bool | None, response: str | None, question: str) -> tuple[bool, bool]:
    """Why a generated response is no expected answer: it is not adherent or not there; it declines to answer.

    One that declines is adherent, for it claims nothing.
    """
    return not adherent or not (response or "").strip(), declines(response or "", question)


def _relevant(row: Mapping[str, Any], draft: Draft) -> list[tuple[int, str]]:
    """Place of the document and text of each relevant sentence; keys that name no document are left out."""
    listed = list(enumerate(row["documents_sentences"]))[: len(row["documents"])]
    sentences = {key: (index, text) for index, pairs in listed for key, text in pairs}
    keys = row["all_relevant_sentence_keys"] or []
    relevant = dict.fromkeys(key for key in keys if key in sentences)
    draft.dropped["relevant key of no sentence"] += sum(key not in sentences for key in keys)
    draft.dropped["relevant key named twice"] += sum(key in sentences for key in keys) - len(relevant)
    return [sentences[key] for key in relevant]
