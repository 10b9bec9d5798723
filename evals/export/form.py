"""What a format of export is."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from evals.scoring.measured import Measured

Writer = Callable[[Measured], Iterable[str | bytes]]


def _nothing(_: Measured) -> Sequence[str]:
    return ()


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """A way to write a run.

    Attributes:
        files: What makes the pieces of its one file; of a folder, that of each file by its path within.
        endings: Of names that mean this format, with the dot; of two that fit a name, the longer one counts.
        has_mark: Whether its files begin with a byte order mark, by which spreadsheets know UTF-8.
        is_binary: Whether it is no text, which a terminal cannot show.
        notes: What a reader of the files must know of what is not in them.
    """

    files: Writer | Mapping[str, Writer]
    endings: tuple[str, ...] = ()
    has_mark: bool = False
    is_binary: bool = False
    notes: Callable[[Measured], Sequence[str]] = _nothing

    @property
    def is_folder(self) -> bool:
        """Whether it is several files."""
        return isinstance(self.files, Mapping)
