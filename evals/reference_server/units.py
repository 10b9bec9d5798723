"""Cut the text of a chunk into the smallest things an answer can quote: sentences, list items, rows."""

import re
from dataclasses import dataclass

from .spans import sentences

_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s+\S")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_WORDLESS = re.compile(r"[\W_]*")


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence, or an item of a list or table; ``header`` is the header row above a table row."""

    text: str
    is_item: bool = False
    header: str = ""


class _Builder:
    """Collects units line by line."""

    def __init__(self) -> None:
        self.units: list[Unit] = []
        self._prose: list[str] = []
        self._item: list[str] = []
        self._header = ""
        self._in_fence = False

    def add(self, line: str) -> None:
        """Take the next line of the chunk."""
        if _FENCE.match(line):
            self.flush()
            self._in_fence = not self._in_fence
        elif self._in_fence:
            self._add_single(line)
        elif not line.strip():
            self.flush()
            self._header = ""
        elif line.lstrip().startswith("|"):
            self._add_row(line)
        elif _WORDLESS.fullmatch(line):
            self.flush()
        elif _ITEM.match(line):
            self.flush()
            self._item = [line]
        else:
            (self._item or self._prose).append(line)

    def flush(self) -> None:
        """Turn what is collected into units."""
        if self._item:
            self.units.append(Unit(_one_line(self._item), is_item=True))
        if self._prose:
            text = _one_line(self._prose)
            self.units += [Unit(text[a:b]) for a, b in sentences(text, (0, len(text)))]
        self._item, self._prose = [], []

    def _add_single(self, line: str) -> None:
        if not _WORDLESS.fullmatch(line):
            self.units.append(Unit(_one_line([line]), is_item=True, header=self._header))

    def _add_row(self, line: str) -> None:
        self.flush()
        if _WORDLESS.fullmatch(line) and "-" in line and self.units and not self._header:
            if self.units[-1].is_item and self.units[-1].text.startswith("|"):
                self._header = self.units.pop().text
        else:
            self._add_single(line)


def _one_line(parts: list[str]) -> str:
    return " ".join(" ".join(parts).split())


def split_units(text: str) -> list[Unit]:
    """All units of the text in order; rules, code fences and table headers are not units."""
    builder = _Builder()
    for line in text.splitlines():
        builder.add(line)
    builder.flush()
    return builder.units
