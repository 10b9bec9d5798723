"""Citations that stand in the text of an answer as markers, such as `[1]`, `[1, 3]`, `[2-4]`, `[^1]` and `【1】`."""

import re
from collections.abc import Iterator

from evals.schemas import Citation

_NUMBER = re.compile(r"\d{1,9}")
_RANGE = re.compile(r"(\d{1,9})\s*[–-]\s*(\d{1,9})")
_BETWEEN = re.compile(r",|\s*(?:;|&|\band\b)\s*(?=\d)")
"""What stands between numbers; inside an id a semicolon is the id's."""
_MAX_RANGE = 100
_CODE = r"(?s:```.*?```)|`(?!\\?[\[［【][^`\]］】]*\d[^`\]］】]*[\]］】]`)[^`\n]*+`"
"""A block, or a span that holds more than a marker."""
_LIST = re.compile(
    r"[\s#*_>-]*(?:references?|sources?|citations?|footnotes|bibliography|quellen|r[ée]f[ée]rences|fuentes|referencias|"
    r"fonti|riferimenti|fontes|refer[êe]ncias)[\s*_:]*",
    re.IGNORECASE,
)
"""The heading of a list of what was cited."""
_FOOTNOTE = re.compile(r"\[\^?\d+\]:\s")
_BULLET = " \t-*>"
_LEAST_YEAR = 1000


class MarkerReader:
    """Reads the markers of answers.

    Numbers in brackets are other things too: what stands in code is no marker, nor is a number from 1000 on that is the
    place of no chunk, as in "the charter of [1998]". A pattern that does not read `[1]` is taken at its word.

    Args:
        pattern: Of a marker; its first group holds numbers or an id.
        base: Number of the first chunk.
        labels: Whether markers stand for what a list says, and not for places of chunks.
    """

    def __init__(self, pattern: str, base: int, *, labels: bool) -> None:
        own = re.compile(pattern)
        self._in_brackets = own.fullmatch("[1]") is not None
        self._pattern = re.compile(f"{pattern}|{_CODE}") if self._in_brackets else own
        self._whole = own.groups == 0
        self._base = base
        self._labels = labels

    def read(self, answer: str, chunks: int) -> Iterator[Citation]:
        """What an answer cites, in the order of its text.

        Args:
            answer: Its text.
            chunks: How many chunks there are to be cited.
        """
        for marker in self._markers(answer):
            inside = marker[0] if self._whole else marker[1]
            for part in _BETWEEN.split(inside or ""):
                cited = _from_part(part.strip(), marker.start(), marker.end())
                yield from (one for one in cited if not self._is_year(one, chunks))

    def _markers(self, answer: str) -> Iterator[re.Match[str]]:
        """The markers in the text; those of a list of references behind it where there are no others."""
        if not self._in_brackets:
            yield from self._pattern.finditer(answer)
            return
        end, cites = self._list_at_end(answer), False
        for marker in self._pattern.finditer(answer):
            if marker[0].startswith("`"):
                continue
            if cites and marker.start() >= end:
                return
            cites |= marker.start() < end
            yield marker

    def _list_at_end(self, answer: str) -> int:
        """Where the list of references begins that ends the answer; its length where there is none."""
        at = found = len(answer)
        for line in reversed(answer.splitlines(keepends=True)):
            at -= len(line)
            item = line.strip(_BULLET)
            if item.strip() and not self._pattern.match(item):
                return at if at + len(line) < len(answer) and _LIST.fullmatch(line) else found
            if _FOOTNOTE.match(item):
                found = at
        return found

    def _is_year(self, citation: Citation, chunks: int) -> bool:
        number = citation.index
        if number is None or number < _LEAST_YEAR or self._labels or not self._in_brackets:
            return False
        return number - self._base >= chunks


def _from_part(part: str, start: int, end: int) -> list[Citation]:
    """The citations of one part of a marker: a number, a range such as 2-4, or an id."""
    ranged = _RANGE.fullmatch(part)
    if ranged:
        low, high = int(ranged.group(1)), int(ranged.group(2))
        numbers = range(low, min(high, low + _MAX_RANGE) + 1)
        return [Citation(index=number, start=start, end=end) for number in numbers]
    if _NUMBER.fullmatch(part):
        return [Citation(index=int(part), start=start, end=end)]
    return [Citation(chunk_id=part, start=start, end=end)] if part else []
