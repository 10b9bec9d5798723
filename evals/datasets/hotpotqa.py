"""HotpotQA: questions that take two paragraphs to answer."""

from collections.abc import Mapping
from typing import Any

from evals.datasets.base import Draft, HubDatasetLoader, gold_in
from evals.datasets.hub import HubSource
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
        documents = {
            title: draft.add_document(title, "".join(sentences).strip(), head=title)
            for title, sentences in paragraphs.items()
            if "".join(sentences).strip()
        }
        golds, keys = [], []
        for title in dict.fromkeys(facts["title"]):
            if title not in documents:
                draft.dropped["supporting fact of a paragraph that is not there"] += 1
                continue
            golds.append(gold_in(documents[title], "".join(paragraphs[title]).strip()))
        for title, number in zip(facts["title"], facts["sent_id"], strict=True):
            sentences = paragraphs.get(title, [])
            if not 0 <= number < len(sentences) or not sentences[number].strip():
                draft.dropped["supporting fact without its sentence"] += 1
                continue
            keys.append(
                KeySentence(text=sentences[number].strip(), source="supporting_facts", document_id=documents[title].id)
            )
        return EvalQuestion(
            id=f"{self.name}:{row['id']}",
            question=row["question"].strip(),
            answers=[row["answer"]] if row["answer"] else [],
            gold_passages=golds,
            key_sentences=keys,
            answerable_by_gold=any((row["answer"], golds)),
            dataset=self.name,
            metadata={"type": row["type"], "level": row["level"]},
        )
