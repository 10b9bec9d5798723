"""The words of a text, as quotations are compared by them.

What copying changes without changing what is said makes no difference: case, white space, quotation marks, dashes,
punctuation between words, Markdown and HTML, Unicode forms, the comma in 1,000, and "percent" for "%". Signs that
belong to a number (-5, 1.5, 5%) are words.
"""

import html
import re
from dataclasses import dataclass

from evals.text.folding import UNSPACED, fold
from evals.text.remembered import remembered

_MARK = "\x01"
"""Stands behind an article that a quotation may leave out."""
_WORD = re.compile(
    rf"[{UNSPACED}]"
    r"|(?:(?<![\w)\].])-)?(?:(?<![\w.])\.)?\d+(?:[.,:/]\d+)*"
    rf"|[^\W\d_{UNSPACED}]+{_MARK}?"
    r"|[%‰°+<>≤≥≠±×÷€£¥₹&]|(?<!=)=(?!=)|\$(?=\s?\d)"
)
"""A run of letters, a number with its sign, or a sign that changes what is said; on folded text."""
_HYPHENS = re.compile("[‐‑‒–−]")
_INVISIBLE = re.compile(f"[{_MARK}\u00ad\u200b-\u200d\u2060\ufeff]")
_LINE_MARK = re.compile(r"^[^\S\n]*(?:>[^\S\n]*)*(?:[-+][^\S\n]+)?", re.MULTILINE)
"""What Markdown puts at the beginning of a line: of a quoted paragraph, of a list."""
_LETTER = re.compile(r"\[([^\W\d_])\](?=[^\W\d_])")
"""A letter that was changed to fit: [t]he."""
_ARTICLE = re.compile(r"(?<![\w'’-])(?:(?<!\d\s)(?:the|an|a)|The|An|(?:(?<=[.!?:]\s)|^)A)(?=\s+[^\W\d_])", re.MULTILINE)
"""In the text as it is written: the A of "hepatitis A", and the a of "section 5 a", are none."""
_PERCENT = re.compile(r"\bper\s?cent\b(?! points?\b)")
_THOUSANDS = re.compile(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_LONGEST = 5000
"""Characters of a quotation in which articles may be dropped."""
_OF_NUMBER = frozenset("%‰")


@dataclass(frozen=True, slots=True)
class WordSequence:
    """The words of a text, with a blank around each.

    Attributes:
        plain: As they are compared.
        marked: The same, with a hyphen for the blank inside a compound: `non-smokers` does not say `smokers`, nor `5 %`
            that there are 5.
        articles: The same as `plain`, with a mark behind each article that a quotation may leave out.
        joints: The same as `marked`, in the places of `articles`.
    """

    plain: str
    marked: str
    articles: str
    joints: str

    def find(self, wanted: str, start: int = 0) -> int:
        """Where words begin that neither begin nor end inside a compound; -1 where they are not."""
        while (start := self.plain.find(wanted, start)) >= 0:
            if self.marked[start] == " " == self.marked[start + len(wanted) - 1]:
                return start
            start += 1
        return -1

    def holds_but_articles(self, wanted: str) -> bool:
        """Whether words are there, of which articles may have been dropped; an article that they have must be there."""
        if _MARK not in self.articles or len(wanted) > _LONGEST:
            return False
        if any(f" {word} " not in self.plain for word in wanted.split()):
            return False
        parts = (f"{re.escape(word)}{_MARK}?" for word in wanted.split())
        pattern = f" {f' (?:(?:an?|the){_MARK} )?'.join(parts)} "
        found = (match.span() for match in re.finditer(pattern, self.articles))
        return any(self.joints[start] == " " == self.joints[end - 1] for start, end in found)


@remembered(300_000)
def words_of(text: str) -> WordSequence:
    """The words of a text."""
    if "&" in text:
        text = html.unescape(text)
    text = _LETTER.sub(r"\1", _INVISIBLE.sub("", text))
    text = _PERCENT.sub("%", fold(_ARTICLE.sub(rf"\g<0>{_MARK}", text)))
    text = _HYPHENS.sub("-", _LINE_MARK.sub(" ", text))
    words: list[str] = []
    blanks = [" "]
    end = -1
    for found in _WORD.finditer(text):
        if end >= 0:
            in_compound = text[end : found.start()] == "-" or _belongs(words[-1], found[0])
            blanks.append("-" if in_compound else " ")
        words.append(found[0].replace(",", "") if _THOUSANDS.fullmatch(found[0]) else found[0])
        end = found.end()
    plain = [word.removesuffix(_MARK) for word in words]
    return WordSequence(_spaced(plain), _spaced(plain, blanks), _spaced(words), _spaced(words, blanks))


def _belongs(word: str, sign: str) -> bool:
    return sign in _OF_NUMBER and word[-1].isdigit()


def _spaced(words: list[str], blanks: list[str] | None = None) -> str:
    """WordSequence with what stands before each, and a blank behind the last."""
    if not words:
        return " "
    return "".join(blank + word for blank, word in zip(blanks or [" "] * len(words), words, strict=False)) + " "
