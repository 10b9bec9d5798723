"""Qasper: questions on whole scientific papers, with the paragraphs that hold the evidence."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evals.datasets.base import Draft, HubRowsLoader, LoadOptions, columns_of, sample
from evals.datasets.hub import PARQUET_BRANCH, HubSource
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
        """Draw questions, and take the papers that they are on."""
        rows = self.open(options)
        draft = Draft()
        with columns_of(rows):
            asked = [
                (place, number, question_id)
                for place, qas in enumerate(rows.column("qas"))
                for number, question_id in enumerate(qas["question_id"])
            ]
            drawn = [asked[place] for place in sample([row[2] for row in asked], options.samples, options.seed)]
            places = list(dict.fromkeys(place for place, _, _ in drawn))
            texts = {place: _Paper(paper) for place, paper in zip(places, rows.take(places), strict=True)}
            for place, number, _ in drawn:
                draft.questions.append(self._question(texts[place], number, draft))
        draft.documents = {paper.document.id: paper.document for paper in texts.values()}
        return self.build(draft, config=rows.config, split=self.hub.split, source=rows.source)

    def _question(self, paper: "_Paper", number: int, draft: Draft) -> EvalQuestion:
        qas = paper.row["qas"]
        annotations = [dict(answer) for answer in qas["answers"][number]["answer"]]
        given = [answer for answer in annotations if not answer["unanswerable"]]
        variants = list(dict.fromkeys(text for text in map(_answer_text, given) if text))
        return EvalQuestion(
            id=f"{self.name}:{qas['question_id'][number]}",
            question=qas["question"][number].strip(),
            answers=variants,
            gold_passages=_golds(paper, given, draft),
            key_sentences=_key_sentences(paper, given),
            is_unanswerable=_unanswerable(annotations, draft),
            dataset=self.name,
            metadata={"paper": paper.row["title"]},
        )


class _Paper:
    """A paper as one Markdown document, with the place of each paragraph."""

    def __init__(self, row: Mapping[str, Any]) -> None:
        self.row = row
        self.places: dict[str, tuple[int, str]] = {}
        """Of each paragraph, by its stripped text: where it starts, and its section."""
        text, sections = f"# {row['title']}\n", []
        for title, paragraphs in self._sections():
            text += f"\n## {title}\n"
            start = len(text)
            for paragraph in paragraphs:
                self.places.setdefault(paragraph, (len(text) + 1, title))
                text += f"\n{paragraph}\n"
            sections.append(Section(title=title, start=start, end=len(text)))
        name = row["title"] or row["id"]
        self.document = Document(id=f"qasper-{row['id']}", name=name, text=text, sections=sections)

    def paragraph(self, evidence: str) -> str | None:
        """The paragraph that the evidence is: the same text, or where one of them was cut, the same beginning."""
        start = evidence[:_BEGINNING]
        if evidence in self.places or len(start) < _BEGINNING:
            return evidence if evidence in self.places else None
        return next((text for text in self.places if text.startswith(start)), None)

    def _sections(self) -> Iterable[tuple[str, list[str]]]:
        full = self.row["full_text"]
        abstract = (self.row["abstract"] or "").strip()
        yield "Abstract", [abstract] if abstract else []
        for name, paragraphs in zip(full["section_name"], full["paragraphs"], strict=True):
            title = " ".join((name or "").split()) or "Untitled section"
            yield title, [text.strip() for text in paragraphs if text.strip()]


def _golds(paper: _Paper, annotations: Iterable[Mapping[str, Any]], draft: Draft) -> list[GoldPassage]:
    golds: dict[str, GoldPassage] = {}
    for evidence in (text.strip() for answer in annotations for text in answer["evidence"]):
        if evidence.startswith(_FLOAT):
            draft.dropped["evidence that is a figure or table"] += 1
        elif (paragraph := paper.paragraph(evidence)) is None:
            draft.dropped["evidence that is not in the paper"] += 1
        else:
            start, section = paper.places[paragraph]
            golds[paragraph] = GoldPassage(
                text=paragraph, document_id=paper.document.id, section=section, span=(start, start + len(paragraph))
            )
    return list(golds.values())


def _key_sentences(paper: _Paper, annotations: Iterable[Mapping[str, Any]]) -> list[KeySentence]:
    texts = (text.strip() for answer in annotations for text in answer["highlighted_evidence"])
    return [
        KeySentence(text=text, source="highlighted_evidence", document_id=paper.document.id)
        for text in dict.fromkeys(texts)
        if text and not text.startswith(_FLOAT)
    ]


def _answer_text(answer: Mapping[str, Any]) -> str:
    """One annotator's answer as text."""
    if answer["yes_no"] is not None:
        return "Yes" if answer["yes_no"] else "No"
    return ", ".join(answer["extractive_spans"] or []).strip() or (answer["free_form_answer"] or "").strip()


def _unanswerable(annotations: Sequence[Mapping[str, Any]], draft: Draft) -> bool | None:
    labels = {bool(answer["unanswerable"]) for answer in annotations}
    draft.dropped["answerability: annotators disagree"] += len(labels) > 1
    return labels.pop() if len(labels) == 1 else None
