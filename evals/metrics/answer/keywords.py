"""The keywords of a text: capitalised phrases, numbers, and words that carry meaning."""

import re
import unicodedata
from typing import NamedTuple

from evals.text.folding import with_few_marks
from evals.text.numbers import numbers
from evals.text.phrases import framed, stands, without_marks
from evals.text.remembered import remembered
from evals.text.stop_words import STOP_WORDS

_WORD_LENGTH = 4
_WORD = re.compile(r"[^\W_]+(?:(?:[-'’.,&/]|_+)[^\W_]+)*%?")
_CONTRACTED = frozenset({"d", "ll", "m", "re", "s", "t", "ve", "let"})
"""What contractions leave beside a stop word: "it s", "they ll", "let s"."""
_BLANK = re.compile(r"[ \t\u00a0]+")


class Keywords(NamedTuple):
    """The keywords of a text.

    Attributes:
        phrases: Words and phrases in lower case, as `framed` writes them, without the frame.
        numbers: As `numbers` writes them.
    """

    phrases: frozenset[str]
    numbers: frozenset[str]

    def __len__(self) -> int:
        return len(self.phrases) + len(self.numbers)

    def missing_in(self, answer: str) -> list[str]:
        """The keywords that an answer does not hold, in alphabetical order."""
        phrases = [phrase for phrase in self.phrases if not stands(f" {phrase} ", answer)]
        return sorted([*phrases, *(self.numbers - numbers(answer))])


@remembered(100_000)
def keywords(text: str) -> Keywords:
    """Find the keywords of a text.

    - Phrases: neighbouring capitalised words with the numbers between and after them ("Territory 118", "Rule C-1"); a
      phrase does not begin with a stop word or its contraction ("It's"), and a single word has at least two letters.
    - Numbers and percentages, by `numbers`.
    - Words of at least four letters that are no stop words; they are not reduced to stems.
    """
    words = {word for word in framed(text).split() if len(word) >= _WORD_LENGTH and not word[0].isdigit()}
    plain = without_marks(unicodedata.normalize("NFKC", with_few_marks(text)))
    phrases = {framed(phrase).strip() for phrase in _capitalised(plain)}
    return Keywords(frozenset((words | phrases) - STOP_WORDS - {""}), numbers(text))


def _is_stop_word(word: str) -> bool:
    """Whether the word is a stop word, or one of its contractions: "it's", "don't", "let's"."""
    if word.lower() in STOP_WORDS:
        return True
    parts = framed(word).split() if "'" in word or "’" in word else ()
    return bool(parts) and all(part in STOP_WORDS or part in _CONTRACTED for part in parts)


def _capitalised(text: str) -> list[str]:
    """The capitalised phrases as they stand in the text."""
    phrases: list[list[str]] = []
    going_on, end = False, 0
    for found in _WORD.finditer(text):
        word = found[0]
        follows = going_on and _BLANK.fullmatch(text, end, found.start())
        if follows and (word[0].isupper() or word[0].isdigit()):
            phrases[-1].append(word)
        elif going_on := word[0].isupper() and not _is_stop_word(word):
            phrases.append([word])
        end = found.end()
    return [" ".join(phrase) for phrase in phrases if len(phrase) > 1 or len(phrase[0]) > 1]
