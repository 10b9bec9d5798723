"""The first broken link of each question that has one, in columns: of many questions the same is said."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple, overload

from pydantic import PlainSerializer, PlainValidator

from evals.schemas import EvalRecord
from evals.scoring.diagnosis import Finding, Link


def _column(numbers: Iterable[int] = ()) -> "array[int]":
    return array("I", numbers)


NumberColumn = Annotated[Any, PlainValidator(_column), PlainSerializer(list)]
"""An `array` of whole numbers, as a list in JSON."""


class Said(NamedTuple):
    """What `Finding` says of a question, without the question."""

    link: Link
    explanation: str
    hit_ranks: tuple[int, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BrokenLink:
    """What is said of a question, which is named by its number in the run."""

    number: int
    said: Said

    @property
    def link(self) -> Link:
        """The link."""
        return self.said.link

    @property
    def explanation(self) -> str:
        """A sentence on what happened."""
        return self.said.explanation

    def with_record(self, record: EvalRecord) -> Finding:
        """The finding with its record."""
        link, explanation, hit_ranks, remarks = self.said
        return Finding(link, explanation, record, hit_ranks, remarks)


@dataclass(slots=True)
class BrokenLinks(Sequence[BrokenLink]):
    """Broken links of questions; what is said of several is held once.

    Attributes:
        table: What is said.
        numbers: Of the questions.
        codes: By question, the place in the table.
    """

    table: list[Said] = field(default_factory=list)
    numbers: NumberColumn = field(default_factory=_column)
    codes: NumberColumn = field(default_factory=_column)

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, place: int) -> BrokenLink: ...
    @overload
    def __getitem__(self, place: slice) -> "BrokenLinks": ...
    def __getitem__(self, place: int | slice) -> "BrokenLink | BrokenLinks":
        if isinstance(place, slice):
            return BrokenLinks(self.table, self.numbers[place], self.codes[place])
        return BrokenLink(self.numbers[place], self.table[self.codes[place]])

    def chosen(self, places: Sequence[int]) -> "BrokenLinks":
        """Those at these places, in their order."""
        numbers, codes = (_column(column[place] for place in places) for column in (self.numbers, self.codes))
        return BrokenLinks(self.table, numbers, codes)

    def where(self, wanted: Iterable[Link]) -> "BrokenLinks":
        """Those of these links, in their order."""
        links = frozenset(wanted)
        codes = {code for code, said in enumerate(self.table) if said.link in links}
        return self.chosen([place for place, code in enumerate(self.codes) if code in codes])

    def in_order(self) -> "BrokenLinks":
        """The same in the order of the chain, then of the questions."""
        rank = [said.link.place for said in self.table]
        return self.chosen(sorted(range(len(self)), key=lambda place: rank[self.codes[place]]))

    def links(self) -> Iterator[tuple[int, Link]]:
        """The number of each question, with its link."""
        return ((number, self.table[code].link) for number, code in zip(self.numbers, self.codes, strict=True))


class BrokenLinksMaker:
    """Collects broken links while records are walked."""

    def __init__(self) -> None:
        self._found = BrokenLinks()
        self._known: dict[Said, int] = {}

    def add(self, number: int, finding: Finding) -> None:
        """Add what was found of the question with this number."""
        said = Said(finding.link, finding.explanation, finding.hit_ranks, finding.remarks)
        self._found.numbers.append(number)
        self._found.codes.append(self._code(said))

    def extend(self, later: "BrokenLinksMaker") -> None:
        """Add what was found of the questions that follow."""
        codes = [self._code(said) for said in later._found.table]
        self._found.numbers.extend(later._found.numbers)
        self._found.codes.extend(map(codes.__getitem__, later._found.codes))

    def _code(self, said: Said) -> int:
        code = self._known.setdefault(said, len(self._found.table))
        if code == len(self._found.table):
            self._found.table.append(said)
        return code

    def made(self) -> BrokenLinks:
        """What was added, in the order of the chain, then of the questions."""
        return self._found.in_order()
