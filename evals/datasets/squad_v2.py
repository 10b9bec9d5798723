"""SQuAD v2: half of its questions look answerable from their paragraph, and are not."""

from collections.abc import Mapping, Sequence
from typing import Any

from evals.datasets.base import DatasetRows, Draft, HubDatasetLoader, HubSource
from evals.schemas.dataset import EvalQuestion


class SquadV2Loader(HubDatasetLoader):
    """SQuAD v2, validation split. A row without answers is unanswerable and has no gold passage.

    The corpus is all paragraphs of the articles that the questions were drawn from: gold and distractors.
    """

    name = "squad_v2"
    aspects = ("abstention", "retrieval", "generation")
    description = "Questions on Wikipedia paragraphs; about half cannot be answered from them"
    licence = "CC BY-SA 4.0"
    origin = "HuggingFace: rajpurkar/squad_v2"
    hub = HubSource("rajpurkar/squad_v2", config="squad_v2", split="validation")

    def convert(self, rows: DatasetRows, places: Sequence[int]) -> Draft:
        """Make questions of the rows and documents of their articles' paragraphs."""
        draft, corpus = super().convert(rows, places), Draft()
        articles = {document.name for document in draft.documents.values()}
        for title, context in dict.fromkeys(zip(rows.column("title"), rows.column("context"), strict=True)):
            if (name := title.replace("_", " ")) in articles:
                corpus.add_document(name, context, head=name)
        draft.documents = corpus.documents
        return draft

    def question(self, row: Mapping[str, Any], draft: Draft) -> EvalQuestion:
        """Make the question of a row, and a document of its paragraph."""
        name = row["title"].replace("_", " ")
        gold = draft.add_document(name, row["context"], head=name)
        variants = list(dict.fromkeys(text for text in row["answers"]["text"] if text.strip()))
        known = {"answers": variants, "gold_passages": [gold] if variants else [], "is_unanswerable": not variants}
        return self.make(row["id"], row["question"], metadata={"article": name}, **known)
