"""What is uploaded: documents of a dataset, or files of a folder, which are read one at a time."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import sha256
from mimetypes import guess_type
from pathlib import Path

from evals.errors import ConfigError, IngestError
from evals.schemas import Document


@dataclass(frozen=True, slots=True)
class Upload:
    """One document to upload.

    Attributes:
        name: The name of its file.
        data: Gives its bytes.
    """

    name: str
    data: Callable[[], bytes]

    @property
    def media_type(self) -> str:
        """By the ending of the name."""
        if self.name.endswith(".md"):
            return "text/markdown"
        return guess_type(self.name)[0] or "application/octet-stream"

    @property
    def sha256(self) -> str:
        """Of its bytes."""
        return sha256(self.data()).hexdigest()

    @property
    def text(self) -> str:
        """Its text.

        Raises:
            IngestError: It is no text.
        """
        try:
            return self.data().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise IngestError(
                f"{self.name} is no text in UTF-8, and server.upload.json takes nothing else",
                "leave it out, make a text of it, or use a profile that uploads files",
            ) from error


def uploads_of(documents: Iterable[Document]) -> list[Upload]:
    """The documents of a dataset."""
    return [Upload(document.file_name, document.text.encode) for document in documents]


def uploads_in(folder: Path) -> list[Upload]:
    """The files of a folder and its folders, in the order of their paths, without hidden ones.

    A file is uploaded by its name alone, as servers keep no folders; where two have one name, by its path, in which
    `__` stands for each `/`.

    Raises:
        ConfigError: The folder holds no file.
        IngestError: It cannot be read.
    """
    try:
        paths = sorted(filter(Path.is_file, folder.rglob("*")))
    except OSError as error:
        raise IngestError(f"{folder} cannot be read: {error.strerror}", "name a folder of documents") from error
    paths = [path for path in paths if not _is_hidden(path, folder)]
    if not paths:
        raise ConfigError(f"{folder} holds no documents", "name a folder with files in it")
    _require_names(paths, folder)
    count = Counter(path.name.casefold() for path in paths)
    return [Upload(_name(path, folder, alone=count[path.name.casefold()] == 1), _reader(path)) for path in paths]


def _require_names(paths: list[Path], folder: Path) -> None:
    """No request can hold a name that is no text, which Python reads as lone surrogates."""
    for path in paths:
        try:
            str(path.relative_to(folder)).encode()
        except UnicodeEncodeError as error:
            raise IngestError(
                f"the name of {str(path)!r} is no text in UTF-8", "rename the file, or leave it out"
            ) from error


def _is_hidden(path: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(folder).parts)


def _name(path: Path, folder: Path, *, alone: bool) -> str:
    return path.name if alone else "__".join(path.relative_to(folder).parts)


def _reader(path: Path) -> Callable[[], bytes]:
    def read() -> bytes:
        try:
            return path.read_bytes()
        except OSError as error:
            raise IngestError(
                f"{path} cannot be read: {error.strerror}", "look at the file, or leave it out"
            ) from error

    return read
