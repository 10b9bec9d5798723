"""Names of passages in files that know them by ids alone: TREC and BEIR."""

import re
from collections.abc import Iterable, Sequence
from hashlib import sha256
from urllib.parse import quote

from evals.schemas import EvalQuestion, GoldPassage, RetrievedChunk

_BLANK = re.compile(r"[\s\x00-\x20\x7f%]")
_UNFIT_IN_CELLS = re.compile(r'[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029"%]')


def passage_id(passage: GoldPassage | RetrievedChunk) -> str:
    """The name of a passage: the same for the same passage in every question.

    That is the id of the chunk, else a sum over its text, each behind the document where it is known; of what has
    neither, the document. Empty where nothing is known.
    """
    document, chunk, text = passage.document_id or "", passage.chunk_id or "", passage.text or ""
    inner = chunk or (sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12] if text else "")
    return ".".join(part for part in (document, inner) if part)


def unlike(names: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """The names, of which each stands once: one that is taken gets a number, `name~2`."""
    seen = set(taken)
    found = []
    for name in names:
        own, number = name, 1
        while not own or own in seen:
            number += 1
            own = f"{name}~{number}"
        seen.add(own)
        found.append(own)
    return found


def gold_ids(question: EvalQuestion) -> list[str]:
    """A name for each gold of a question, none twice."""
    return unlike(map(passage_id, question.gold_passages))


def grades_of(question: EvalQuestion) -> Sequence[int] | None:
    """The grade of each gold as TREC and BEIR have it; None where one is no whole number."""
    grades = [gold.relevance for gold in question.gold_passages]
    return [int(grade) for grade in grades] if all(grade == int(grade) for grade in grades) else None


def without_blanks(name: str) -> str:
    """A name for a line whose columns are parted by blanks.

    White space and `%` are percent-encoded as UTF-8 (RFC 3986), nothing else is: `urllib.parse.unquote` reverses it.
    """
    return _BLANK.sub(_encoded, name)


def in_a_cell(name: str) -> str:
    """A name for a cell between tabs: the same for tabs, line breaks, quotation marks and `%`; a space stays."""
    return _UNFIT_IN_CELLS.sub(_encoded, name)


def _encoded(found: re.Match[str]) -> str:
    return quote(found.group(), safe="")
