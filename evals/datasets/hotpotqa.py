"""HotpotQA: questions that take two paragraphs to answer."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from evals.datasets.base import Draft, HubDatasetLoader, HubSource
from evals.schemas.dataset import EvalQuestion, KeySentence


class HotpotQALoader(HubDatasetLoader):
    """HotpotQA, distractor setting, validation split.

    Gold is each paragraph that holds a supporting fact; the facts themselves are the key sentences. The corpus is the
    ten paragraphs of each question.
    """

    name = "hotpotqa"
    aspects = ("retrieval", "generation")
    description = "Multi-hop questions on Wikipedia paragraphs, eight distractors a question"
    licence = "CC BY-SA 4.0"
    origin = "HuggingFace: hotpotqa/hotpot_qa"
    hub = HubSource("hotpotqa/hotpot_qa", config="distractor", split="validation")

    def question(self, row: Mapping[str, Any], draft: Draft) -> EvalQuestion:
        """Make the question of a row and a document of each of its paragraphs."""
        context, facts = row["context"], row["supporting_facts"]
        paragraphs = dict(zip(context["title"], context["sentences"], strict=True))
        texts = {title: "".join(sentences).strip() for title, sentences in paragraphs.items()}
        passages = {title: draft.add_document(title, text, head=title) for title, text in texts.items() if text}
        golds = [passages[title] for title in dict.fromkeys(facts["title"]) if title in passages]
        draft.dropped["supporting fact of a paragraph that is not there"] += len(set(facts["title"]) - passages.keys())
        keys, key = [], partial(KeySentence, source="supporting_facts")
        for title, number in zip(facts["title"], facts["sent_id"], strict=True):
            sentence = "".join(paragraphs.get(title, [])[number : number + 1]).strip() if number >= 0 else ""
            draft.dropped["supporting fact without its sentence"] += not sentence
            if sentence:
                keys.append(key(text=sentence, document_id=passages[title].document_id))
        return self.make(
            row["id"],
            row["question"],
            answers=[row["answer"]] if row["answer"] else [],
            gold_passages=golds,
            key_sentences=keys,
            answerable_by_gold=bool(row["answer"] or golds),
            metadata={"type": row["type"], "level": row["level"]},
        )
