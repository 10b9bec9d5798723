"""Questions with their gold passages, documents, and datasets."""

from collections.abc import Mapping, Sequence
from operator import not_
from sys import intern
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, SkipValidation, model_validator

from evals.schemas.base import Finite, Record, Text


class GoldPassage(Record):
    """A passage that a good retriever finds for the question.

    It needs one of text, chunk_id and document_id: relevance judgements know a document by its id alone.
    """

    text: Text = ""
    """Empty where it is known by an id alone."""
    chunk_id: Text | None = None
    """The id of the server's chunk that holds it, where the user knows it."""
    document_id: Text | None = None
    """The document it stands in: an id, or the name of the file."""
    section: Text | None = None
    span: tuple[int, int] | None = None
    """First and one-past-last character of the text in its document."""
    relevance: Finite = Field(default=1.0, gt=0)
    """The grade that nDCG uses as gain."""

    @model_validator(mode="after")
    def _can_be_told(self) -> "GoldPassage":
        if not (self.text or self.chunk_id or self.document_id):
            raise ValueError("it needs a text, a chunk_id or a document_id")
        return self

    @model_validator(mode="after")
    def _span_is_ordered(self) -> "GoldPassage":
        if self.span is not None and not 0 <= self.span[0] < self.span[1]:
            raise ValueError(f"span must be [start, end] with 0 <= start < end, not {list(self.span)}")
        return self


class KeySentence(Record):
    """A sentence that a full answer must draw on."""

    text: str = Field(min_length=1)
    source: Text
    """What names it as key: for example "supporting_facts" or "expected_answer"."""
    document_id: Text | None = None


class ListItem(Record):
    """One item that a complete list holds."""

    name: Text
    any: list[Text] = Field(min_length=1)
    """The forms of which any one counts as the item named."""
    listed: list[Text] = Field(default_factory=list)
    """Forms of common words, which count only as an item of a list: "Deductibles"."""


class Fact(Record):
    """A fact that an answer states: it holds where any word form or any number is found."""

    name: Text
    any: list[Text] = Field(default_factory=list)
    numbers: list[Text] = Field(default_factory=list)

    @model_validator(mode="after")
    def _says_something(self) -> "Fact":
        if not self.any and not self.numbers:
            raise ValueError(f"fact {self.name!r} needs at least one entry in 'any' or 'numbers'")
        return self


class ListCheck(Record):
    """How many items of a list the answer names."""

    kind: Literal["list"]
    name: Text
    items: list[ListItem] = Field(min_length=1)


class FactsCheck(Record):
    """Which facts the answer states."""

    kind: Literal["facts"]
    facts: list[Fact] = Field(min_length=1)


class CalculationCheck(Record):
    """Whether a calculation reached the right number and did not claim to be impossible."""

    kind: Literal["calculation"]
    facts: list[Fact] = Field(min_length=1)
    answer: Text
    """The name of the fact that is the right result."""
    cannot_phrases: list[Text] = Field(default_factory=list)

    @model_validator(mode="after")
    def _answer_is_a_fact(self) -> "CalculationCheck":
        if self.answer not in {fact.name for fact in self.facts}:
            raise ValueError(f"answer {self.answer!r} is not the name of one of the facts")
        return self


Check = Annotated[ListCheck | FactsCheck | CalculationCheck, Field(discriminator="kind")]


CONVERSATION = "conversation"
"""The key of metadata by which turns that are scored are of one conversation."""


class EvalQuestion(Record):
    """One question with what is known about its answer. Only `question` is required of a user's file."""

    id: Annotated[Text, AfterValidator(intern)] = ""
    """Unique within a run and the same in every run; derived from the question where a file gives none.

    All that hold the id of a question hold one text, however often the question is read.
    """
    question: str = Field(min_length=1)
    expected_answer: Text | None = None
    """Where a file gives accepted variants alone, the first of them."""
    answers: list[Text] = Field(default_factory=list)
    """Accepted variants of the expected answer."""
    gold_passages: list[GoldPassage] = Field(default_factory=list)
    key_sentences: list[KeySentence] = Field(default_factory=list)
    is_unanswerable: bool | None = None
    """None: the dataset does not say, so no abstention metric applies."""
    answerable_by_gold: bool = Field(default=False, exclude_if=not_)
    """Whether there is an expected answer or gold, and the dataset does not say that this is an answer:
    `is_unanswerable` is false then. A file holds it only where it is true."""
    dataset: Text = ""
    checks: list[Check] = Field(default_factory=list)
    rubric: list[Text] = Field(default_factory=list, exclude_if=not_)
    """What a judge shall decide of the answer, in plain words, criterion by criterion; a file holds it where there is
    one."""
    metadata: dict[str, Any] = Field(default_factory=dict)
    """What slices group by: domain, type, difficulty."""
    turns: list[str] = Field(default_factory=list, exclude_if=not_)
    """Of a conversation, all that the user says, the question last; a file holds it only of conversations."""

    @model_validator(mode="after")
    def _the_question_comes_last(self) -> "EvalQuestion":
        if self.turns and self.turns[-1] != self.question:
            raise ValueError("the last of the turns must be the question")
        return self

    @model_validator(mode="before")
    @classmethod
    def _gold_makes_answerable(cls, data: Any) -> Any:
        known = isinstance(data, Mapping) and data.get("answerable_by_gold")
        return {**data, "is_unanswerable": False} if known else data

    @model_validator(mode="before")
    @classmethod
    def _a_variant_is_expected(cls, data: Any) -> Any:
        if not isinstance(data, Mapping) or not isinstance(data.get("answers"), list):
            return data
        if data.get("expected_answer") or data.get("is_unanswerable"):
            return data
        first = next((text for text in data["answers"] if isinstance(text, str) and text.strip()), None)
        return data if first is None else {**data, "expected_answer": first}


class Section(Record):
    """A titled part of a document."""

    title: Text
    start: int = Field(ge=0)
    end: int = Field(ge=0)


DOCUMENT_ID = r"^[\w.-]{1,120}$"
"""What may be the name of a file anywhere."""


class Document(Record):
    """A document of the corpus; `id` is what gold passages name and what the uploaded file is called."""

    id: str = Field(pattern=DOCUMENT_ID)
    name: Text
    text: Text
    sections: list[Section] = Field(default_factory=list)

    @property
    def file_name(self) -> str:
        """The name under which the document is uploaded: Markdown where it has sections, else plain text."""
        return f"{self.id}.{'md' if self.sections else 'txt'}"


class DatasetFingerprint(Record):
    """Hash of a dataset, by which runs over the same questions are recognised."""

    name: str
    config: str | None = None
    split: str | None = None
    source: str
    """Where the rows came from: hub id and revision, or the file's name."""
    questions: int
    available: int | None = None
    """How many questions a file of the user's own holds; more than `questions` where a sample was drawn of them."""
    documents: int
    sha256: str
    """Over the sampled questions in canonical JSON, in the order of the draw: the rows may stand in any order."""
    dropped: dict[str, int] = Field(default_factory=dict)
    """What was left out of the source, by reason."""
    columns: dict[str, str] = Field(default_factory=dict)
    """Of a file of the user's own: by field, the column that it was read from."""
    notes: list[str] = Field(default_factory=list)
    """Notes on how such a file was read."""


class EvalDataset(Record):
    """Questions with the corpus that they were drawn from."""

    name: str
    aspects: list[str]
    """What the dataset can measure: groups of metrics."""
    questions: Annotated[Sequence[EvalQuestion], SkipValidation]
    """They may lie on disk, and be read one at a time."""
    documents: list[Document] = Field(default_factory=list)
    fingerprint: DatasetFingerprint
