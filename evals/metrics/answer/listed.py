"""Whether an answer lists a title, and does not only use its words: "deductibles" is a rule's name, and a noun."""

import re
import unicodedata
from functools import lru_cache

from evals.text.folding import with_few_marks
from evals.text.phrases import without_marks

# A bullet, a number, a letter or a code: "- ", "5. ", "(b) ", "C-5: ".
_MARK = r"[\s>#|•·–—+-]*+(?:\(?[a-z0-9]{1,3}(?:-\d{1,3})?[.):]{1,2}[\s|]*+){0,2}"
_LINE_GOES_ON = r"(?=[\s.,;|]*+$|\s*+[:(–—|]|\s+-\s)"
_BEFORE = r"(?:[,;:|] ?(?:(?:and|or) |& )?|(?: and| &) )"
_BEHIND = r"(?= ?(?:[,;.|]|$)| (?:and|&) )"


def is_listed(answer: str, title: str) -> bool:
    """Whether the title is an item of a list in the answer.

    That is at the beginning of a line, after its mark, where the line ends behind it or goes on with a colon, a dash
    or a bracket, in any case; and in a running list, between commas and the like, in the title's own case.
    """
    at_start, in_list = _patterns(title)
    text = _readable(answer)
    return any(map(at_start.match, text.splitlines())) or bool(in_list.search(" ".join(text.split())))


@lru_cache(maxsize=1024)
def _patterns(title: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    words = r"[\s-]".join(map(re.escape, re.split(r"[\s-]+", _readable(title).strip())))
    return re.compile(f"{_MARK}{words}{_LINE_GOES_ON}", re.IGNORECASE), re.compile(f"{_BEFORE}{words}{_BEHIND}")


@lru_cache(maxsize=1024)
def _readable(text: str) -> str:
    return without_marks(unicodedata.normalize("NFKC", with_few_marks(text))).replace("\u2010", "-").replace("`", "")
