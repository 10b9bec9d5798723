"""Qasper: questions on whole scientific papers, with the paragraphs that hold the evidence."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from evals.datasets.base import PARQUET_BRANCH, Draft, HubRowsLoader, HubSource, LoadOptions, columns_of, sample
from evals.schemas.dataset import Document, EvalDataset, EvalQuestion, GoldPassage, KeySentence, Section

_FLOAT = "FLOAT SELECTED"
"""Marks evidence that is a figure or table: it has no text in the paper."""


_BEGINNING = 60
"""This many characters tell a paragraph from the others of its paper."""


class QasperLoader(HubRowsLoader):
    """Qasper, validation split, from the hub's Parquet branch; its rows are papers, each with several questions.

    Gold is each paragraph that an annotator named as evidence, with its section; the highlighted sentences are the key
    sentences. A question is unanswerable where all annotators say so; where they disagree, it is not said. The corpus
    is the papers of the questions drawn.
    """

    name = "qasper"
    aspects = ("citation", "generation", "retrieval", "abstention")
    description = "Questions on NLP papers, with evidence paragraphs in long documents"
    licence = "CC BY 4.0"
    origin = "HuggingFace: allenai/qasper"
    hub = HubSource("allenai/qasper", config="qasper", split="validation", revision=PARQUET_BRANCH)

    def load(self, options: LoadOptions) -> EvalDataset:
        """Draw questions, and make a document of each of their papers."""
        rows, draft = self.open(options), Draft()
        with columns_of(rows):
            asked = [
                (paper, number, question_id)
                for paper, qas in enumerate(rows.column("qas"))
                for number, question_id in enumerate(qas["question_id"])
            ]
            drawn = [asked[index] for index in sample([row[2] for row in asked], options.samples, options.seed)]
            order = list(dict.fromkeys(paper for paper, _, _ in drawn))
            papers = dict(zip(order, map(_Paper, rows.take(order)), strict=True))
            draft.questions = [self._question(papers[paper], number, draft) for paper, number, _ in drawn]
        draft.documents = {paper.document.id: paper.document for paper in papers.values()}
        return self.build(draft, config=rows.config, split=self.hub.split, source=rows.source)

    def _question(self, paper: "_Paper", number: int, draft: Draft) -> EvalQuestion:
        qas = paper.row["qas"]
        annotations = qas["answers"][number]["answer"]
        given = [answer for answer in annotations if not answer["unanswerable"]]
        labels = {bool(answer["unanswerable"]) for answer in annotations}
        draft.dropped["answerability: annotators disagree"] += len(labels) > 1
        sentences = dict.fromkeys(text.strip() for answer in given for text in answer["highlighted_evidence"])
        key = partial(KeySentence, source="highlighted_evidence", document_id=paper.document.id)
        return self.make(
            qas["question_id"][number],
            qas["question"][number],
            answers=list(dict.fromkeys(filter(None, map(_answer_text, given)))),
            gold_passages=_golds(paper, given, draft),
            key_sentences=[key(text=text) for text in sentences if text and not text.startswith(_FLOAT)],
            is_unanswerable=labels.pop() if len(labels) == 1 else None,
            metadata={"paper": paper.row["title"]},
        )


class _Paper:
    """A paper as one Markdown document, with each of its paragraphs as a gold passage."""

    def __init__(self, row: Mapping[str, Any]) -> None:
        self.row = row
        self.golds: dict[str, GoldPassage] = {}
        """By its stripped text."""
        text, sections, document_id = f"# {row['title']}\n", [], f"qasper-{row['id']}"
        full, abstract = row["full_text"], ("Abstract", [row["abstract"] or ""])
        for name, paragraphs in [abstract, *zip(full["section_name"], full["paragraphs"], strict=True)]:
            title = " ".join((name or "").split()) or "Untitled section"
            text += f"\n## {title}\n"
            start = len(text)
            for paragraph in filter(None, map(str.strip, paragraphs)):
                span = (len(text) + 1, len(text) + 1 + len(paragraph))
                gold = GoldPassage(text=paragraph, document_id=document_id, section=title, span=span)
                self.golds.setdefault(paragraph, gold)
                text += f"\n{paragraph}\n"
            sections.append(Section(title=title, start=start, end=len(text)))
        self.document = Document(id=document_id, name=row["title"] or row["id"], text=text, sections=sections)

    def gold(self, evidence: str) -> GoldPassage | None:
        """The paragraph that the evidence is: the same text, or where one of them was cut, the same beginning."""
        start = evidence[:_BEGINNING]
        if evidence in self.golds or len(start) < _BEGINNING:
            return self.golds.get(evidence)
        return next((gold for text, gold in self.golds.items() if text.startswith(start)), None)


def _golds(paper: _Paper, annotations: Iterable[Mapping[str, Any]], draft: Draft) -> list[GoldPassage]:
    golds: dict[str, GoldPassage] = {}
    for evidence in (text.strip() for answer in annotations for text in answer["evidence"]):
        if evidence.startswith(_FLOAT):
            draft.dropped["evidence that is a figure or table"] += 1
        elif (gold := paper.gold(evidence)) is None:
            draft.dropped["evidence that is not in the paper"] += 1
        else:
            golds[gold.text] = gold
    return list(golds.values())


def _answer_text(answer: Mapping[str, Any]) -> str:
    """One annotator's answer as text."""
    if answer["yes_no"] is not None:
        return "Yes" if answer["yes_no"] else "No"
    return ", ".join(answer["extractive_spans"] or []).strip() or (answer["free_form_answer"] or "").strip()
