"""MS MARCO: real queries of a search engine, each with passages of which people selected those that answer."""

from collections.abc import Mapping
from typing import Any

from evals.datasets.base import Draft, HubDatasetLoader, HubSource
from evals.schemas.dataset import EvalQuestion, GoldPassage

NO_ANSWER = "No Answer Present."


class MSMarcoLoader(HubDatasetLoader):
    """MS MARCO QA v2.1, validation split.

    Gold is each selected passage. A query without an answer and without a selected passage is unanswerable; one with an
    answer but without a selected passage has no gold. The corpus is the passages of the queries drawn.
    """

    name = "msmarco"
    aspects = ("retrieval", "generation", "abstention")
    description = "Queries of a web search engine with about ten passages each"
    licence = "non-commercial research"
    origin = "HuggingFace: microsoft/ms_marco"
    hub = HubSource("microsoft/ms_marco", config="v2.1", split="validation")
    id_column = "query_id"

    def question(self, row: Mapping[str, Any], draft: Draft) -> EvalQuestion:
        """Make the question of a row and a document of each of its passages."""
        passages = row["passages"]
        golds: dict[str, GoldPassage] = {}
        for text, selected in zip(map(str.strip, passages["passage_text"]), passages["is_selected"], strict=True):
            draft.dropped["empty passage"] += not text
            if text:
                passage = draft.add_document("MS MARCO passage", text)
                golds |= {text: passage} if selected else {}
        forms = [*(row["wellFormedAnswers"] or []), *(row["answers"] or [])]  # the best first
        answers = list(dict.fromkeys(text for text in map(str.strip, forms) if text not in {"", NO_ANSWER}))
        draft.dropped["gold: no passage was selected"] += bool(answers and not golds)
        return self.make(
            row["query_id"],
            row["query"],
            answers=answers,
            gold_passages=list(golds.values()),
            is_unanswerable=not answers if answers or not golds else None,
            metadata={"type": (row["query_type"] or "").lower()},
        )
