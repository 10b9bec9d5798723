"""Base classes of dataset loaders, and the rows that they load."""

import os
import re
import sys
import unicodedata
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

from evals.datasets.tables import first_line
from evals.errors import DatasetError, HubUnreachableError
from evals.schemas.dataset import DatasetFingerprint, Document, EvalDataset, EvalQuestion, GoldPassage
from evals.store.disk_list import DiskList

# Rows of published datasets: from the HuggingFace hub, its cache, or local files, such as a clone of a repository.


_CONFIG_HINT = "check the config after the colon of --datasets; --data-dir reads local files instead"
_HUB_HINT = "use --data-dir DIR, a mirror (HF_ENDPOINT), your own questions (--dataset-file FILE) or --datasets golden"
PROBE_TIMEOUT_S = 3.0

PARQUET_BRANCH = "refs/convert/parquet"
"""The hub's own conversion of a repository. It has no card, so to the library its one config has no name."""


@dataclass(frozen=True)
class DatasetRows:
    """An Arrow table that is read by column or by place, without holding all rows as objects.

    Attributes:
        table: Of a folder of files, or of the hub's cache, where it lies on disk.
        source: Where the rows came from, as it is recorded.
        config: The config that they are of.
    """

    table: Any
    source: str
    config: str

    def column(self, name: str) -> list[Any]:
        """All values of one column.

        Raises:
            KeyError: There is no such column.
        """
        if name not in self.table.column_names:
            raise KeyError(name)
        return list(self.table[name].to_pylist())

    def take(self, places: Sequence[int]) -> list[dict[str, Any]]:
        """The rows at these places, in this order."""
        return list(self.table.take(list(places)).to_pylist())


@dataclass(frozen=True, slots=True)
class HubSource:
    """Where a dataset is on the hub.

    Attributes:
        repo: Repository, as owner/name.
        config: Its default config.
        split: The split that is used.
        revision: Branch, tag or commit; None for the newest.
    """

    repo: str
    config: str
    split: str
    revision: str | None = None


def dataset_folder(folder: Path, name: str, source: HubSource) -> Path:
    """The folder of a dataset in a data directory: a clone of its repository, `owner__name`, else our name."""
    clone = folder / source.repo.replace("/", "__")
    return clone if clone.is_dir() else folder / name


def local_rows(home: Path, config: str | None, source: HubSource) -> DatasetRows:
    """Read rows from `home/config/split*.parquet`, or from such files in a folder `split`.

    Args:
        home: The folder of the dataset.
        config: The config asked for; None takes the default one, or the only one.
        source: Names the default config and the split.

    Raises:
        DatasetError: There are no such files, or one cannot be read.
    """
    import pyarrow as pa  # noqa: PLC0415 - 60 MB that only this needs
    import pyarrow.parquet as pq  # noqa: PLC0415

    configs = [path.name for path in home.glob("[!.]*/")]
    folder = home / (config or (configs[0] if len(configs) == 1 else source.config))
    files = sorted(path for form in ("*", "/*") for path in folder.glob(f"{source.split}{form}.parquet"))
    if not files:
        what, expected = f"no rows of {home.name} in {home.parent}", f"{folder / source.split}*.parquet"
        raise DatasetError(what, f"expected {expected} (JSON lines are not read); without --data-dir, the hub has them")
    tables, problem = [], ""
    try:
        for path in files:
            problem = f"cannot read {path}"
            tables.append(pq.read_table(path))
        problem = f"the columns of {', '.join(path.name for path in files)} differ"
        table = pa.concat_tables(tables, promote_options="permissive")
    except (OSError, pa.ArrowException) as error:
        raise DatasetError(f"{problem}: {first_line(error)}") from error
    return DatasetRows(table, f"{home.name}/{folder.name}/{source.split} (local files)", folder.name)


def hub_rows(source: HubSource, config: str | None = None) -> DatasetRows:
    """Load rows through the `datasets` library.

    Args:
        source: Where the dataset is.
        config: Another config than the default.

    Raises:
        HubUnreachableError: The hub cannot be reached and the cache does not hold the dataset.
        DatasetError: The hub answers, but the dataset cannot be loaded.
    """
    online = probe_hub()
    quiet = () if sys.stderr.isatty() else ("HF_DATASETS_DISABLE_PROGRESS_BARS", "HF_HUB_DISABLE_PROGRESS_BARS")
    for name in ("HF_HUB_DISABLE_TELEMETRY", *quiet):
        os.environ.setdefault(name, "1")
    import datasets  # noqa: PLC0415 - a second and 150 MB
    import httpx2  # noqa: PLC0415 - what the hub's client raises

    datasets.logging.set_verbosity_error()
    chosen = config or source.config
    named = None if source.revision == PARQUET_BRANCH and chosen == source.config else chosen
    errors = (OSError, ValueError, httpx2.TransportError, datasets.exceptions.DatasetsError, RuntimeError)
    try:
        dataset = datasets.load_dataset(source.repo, named, split=source.split, revision=source.revision)
    except errors as error:
        if online:
            what = f"cannot load {source.repo} ({chosen}, {source.split}): {first_line(error)}"
            raise DatasetError(what, _CONFIG_HINT) from error
        what = f"the dataset hub cannot be reached and {source.repo} is not in the local cache"
        raise HubUnreachableError(what, _HUB_HINT) from error
    table = dataset.with_format("arrow")[:]  # which stays on disk
    return DatasetRows(table, f"{source.repo}/{chosen}/{source.split} ({source.revision or 'newest'})", chosen)


@cache
def probe_hub() -> bool:
    """Whether the hub answers, asked once in a process; where it does not, its libraries read their cache only."""
    import httpx  # noqa: PLC0415
    from huggingface_hub import constants  # noqa: PLC0415

    if constants.HF_HUB_OFFLINE:
        return False
    try:
        httpx.head(constants.ENDPOINT, timeout=PROBE_TIMEOUT_S)
    except (httpx.HTTPError, httpx.InvalidURL):  # else each load would try for 23 seconds
        for name in {"huggingface_hub.constants", "datasets.config"} & sys.modules.keys():
            sys.modules[name].HF_HUB_OFFLINE = True  # type: ignore[attr-defined]
        return False
    return True


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
        return local_rows(dataset_folder(options.data_dir, self.name, self.hub), options.config, self.hub)

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
