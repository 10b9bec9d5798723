"""Base classes of dataset loaders."""

import re
import unicodedata
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

from evals.datasets.hub import DatasetRows, HubSource, home_of, hub_rows, local_rows
from evals.errors import DatasetError
from evals.schemas.dataset import DatasetFingerprint, Document, EvalDataset, EvalQuestion, GoldPassage
from evals.store.disk_list import DiskList

# Which rows are drawn: the same on every machine, in every order of the rows, with every library version.


def sample(ids: Sequence[str], count: int | None, seed: int) -> list[int]:
    """Places of the rows drawn, in the order of the draw.

    Rows are ranked by sha256 of seed and id, so a smaller sample is a prefix of a larger one.

    Args:
        ids: The rows' ids; of equal ids the first row counts.
        count: How many rows; None draws all, still in the order of the draw.
        seed: Any integer.
    """
    first = {row_id: index for index, row_id in reversed(list(enumerate(ids)))}
    ranked = sorted(first, key=lambda row_id: (sha256(f"{seed}:{row_id}".encode()).digest(), row_id))
    return [first[row_id] for row_id in ranked[:count]]


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """Options of a loader: sample size, seed, folder.

    Attributes:
        samples: Number of questions; None for all.
        seed: Of the draw.
        config: Another config of the dataset than its default.
        data_dir: Folder of local files or clones, instead of the hub.
        columns: Of a user's own file: by field, the column that holds it.
        answered: Whether that file holds the answers that are scored, too.
        scratch: Folder for what lies on disk while it is read; that of the system for temporary files where None.
    """

    samples: int | None = 100
    seed: int = 42
    config: str | None = None
    data_dir: Path | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    answered: bool = False
    scratch: Path | None = None


@dataclass
class Draft:
    """A dataset under construction: questions, corpus, and counts of dropped rows."""

    questions: list[EvalQuestion] | DiskList[EvalQuestion] = field(default_factory=list)
    documents: dict[str, Document] = field(default_factory=dict)
    dropped: Counter[str] = field(default_factory=Counter)
    available: int | None = None
    """How many questions there were to draw from, if known."""
    columns: Mapping[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    """Notes on how rows were read."""

    def add_document(self, name: str, text: str, *, head: str = "") -> GoldPassage:
        """Add a document once, whatever the number of rows that hold it, and return its body as a gold passage.

        Args:
            name: Its title; its id is made of title and text.
            text: Its body.
            head: A line that is put above the body, such as the title.
        """
        plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
        slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:60].strip("-") or "document"
        document_id, start = f"{slug}-{short_hash(name, text)}", len(head) + 2 if head else 0
        if document_id not in self.documents:
            body = f"{head}\n\n{text}" if head else text
            self.documents[document_id] = Document(id=document_id, name=name, text=body)
        return GoldPassage(text=text, document_id=document_id, span=(start, start + len(text)))

    def dataset(
        self, name: str, aspects: Iterable[str] = (), *, source: str, sha256: str, **origin: str | None
    ) -> EvalDataset:
        """Make the dataset.

        Args:
            name: Of the dataset.
            aspects: Groups of metrics that it allows.
            source: Where the rows came from, as it is recorded.
            sha256: The fingerprint of the questions.
            origin: The `config` and the `split` that the rows are of.
        """
        counts = {"questions": len(self.questions), "available": self.available, "documents": len(self.documents)}
        record = DatasetFingerprint(name=name, source=source, sha256=sha256, notes=self.notes, **counts, **origin)
        record = record.model_copy(update={"columns": dict(self.columns), "dropped": dict(+self.dropped)})
        documents = list(self.documents.values())  # to check what was just checked takes 6 MB for the checks alone
        return EvalDataset.model_construct(
            name=name, aspects=list(aspects), questions=self.questions, documents=documents, fingerprint=record
        )


class BaseDatasetLoader(ABC):
    """Loads one dataset. The class attributes are what `evals datasets` shows."""

    name: ClassVar[str]
    aspects: ClassVar[tuple[str, ...]]
    """Groups of metrics that the dataset allows."""
    description: ClassVar[str]
    licence: ClassVar[str]
    origin: ClassVar[str]
    """The source, for display."""
    has_configs: ClassVar[bool] = True
    """Whether `name:config` selects something of it."""

    @abstractmethod
    def load(self, options: LoadOptions) -> EvalDataset:
        """Load questions and corpus.

        Raises:
            DatasetError: The rows cannot be had or read.
        """

    def build(self, draft: Draft, *, config: str | None, split: str | None, source: str) -> EvalDataset:
        """Make the dataset of a draft, with its fingerprint."""
        sha256 = fingerprint(draft.questions)
        return draft.dataset(self.name, self.aspects, source=source, sha256=sha256, config=config, split=split)


class HubRowsLoader(BaseDatasetLoader):
    """A dataset whose rows come from the hub, or from local files with the same columns."""

    hub: ClassVar[HubSource]
    id_column: ClassVar[str] = "id"

    def open(self, options: LoadOptions) -> DatasetRows:
        """The rows, of the hub or of a folder."""
        if options.data_dir is None:
            return hub_rows(self.hub, options.config)
        return local_rows(home_of(options.data_dir, self.name, self.hub), options.config, self.hub)

    def draw(self, rows: DatasetRows, options: LoadOptions) -> list[int]:
        """Places of the rows drawn, in the order of the draw."""
        with columns_of(rows):
            return sample(list(map(str, rows.column(self.id_column))), options.samples, options.seed)

    def make(self, key: object, question: str, **fields: Any) -> EvalQuestion:
        """Make a question of this dataset, by its id in the rows, its text, and what else is known of it."""
        return EvalQuestion(id=f"{self.name}:{key}", question=question.strip(), dataset=self.name, **fields)


class HubDatasetLoader(HubRowsLoader):
    """A dataset with a row for each question."""

    def load(self, options: LoadOptions) -> EvalDataset:
        """Draw rows and convert them."""
        rows = self.open(options)
        places = self.draw(rows, options)
        with columns_of(rows):
            draft = self.convert(rows, places)
        return self.build(draft, config=rows.config, split=self.hub.split, source=rows.source)

    def convert(self, rows: DatasetRows, places: Sequence[int]) -> Draft:
        """Make the questions of the rows at these places, with their documents.

        Override it where the corpus holds more than what the questions' own rows do.
        """
        draft = Draft()
        draft.questions = [self.question(row, draft) for row in rows.take(places)]
        return draft

    @abstractmethod
    def question(self, row: Mapping[str, Any], draft: Draft) -> EvalQuestion:
        """Make the question of a row; its documents are added to the draft, and what is dropped is counted in it."""


@contextmanager
def columns_of(rows: DatasetRows) -> Iterator[None]:
    """Turn the lack of a column into an error that names it and where it is lacking."""
    try:
        yield
    except KeyError as error:
        hint = f"it has: {', '.join(rows.table.column_names)}"
        raise DatasetError(f"{rows.source} has no column {error}", hint) from error


def fingerprint(questions: Iterable[EvalQuestion]) -> str:
    """Hash the questions and gold of a dataset, to recognise runs over the same ones."""
    digest = sha256()
    unstated = {"is_unanswerable": None, "answerable_by_gold": False}
    for question in questions:
        stated = question.model_copy(update=unstated) if question.answerable_by_gold else question
        digest.update(stated.model_dump_json().encode())
    return digest.hexdigest()


def short_hash(*parts: Any) -> str:
    """Sixteen hexadecimal digits of a hash over the parts: enough to keep a million passages apart."""
    return sha256("\x00".join(map(str, parts)).encode()).hexdigest()[:16]
