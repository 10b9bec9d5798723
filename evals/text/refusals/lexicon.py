"""Lexicons of refusals: words and idioms of six languages, by word class.

They stand in `evals/data/refusals`, a TOML file for each language; `romance.toml` holds the rules that four share.
Words are separated by white space, folded and without accents; "refer*" stands for all words that begin so, "*los" for
all that end so, but not in the parts of `DECLINING`. A word may play several parts.

=============  ==========================================================================================
function       words that say nothing about what is spoken of
words          by part
declines       idioms that decline by themselves, as patterns of a folded clause
hints          words of which one is in every idiom that holds no word of denying: only there idioms are looked for
but, however   conjunctions that part clauses, and adverbs that do so behind a comma, as patterns
hence          what draws a conclusion behind a comma, as patterns
courtesy       offers, advice and thanks, as patterns
referrals      what behind words that decline only points elsewhere ("your doctor can tell you"), as patterns
openers        what may begin a sentence without changing what it says, as patterns
although       conjunctions that begin a concession ("although"), as patterns
guesses        marks of a guess or a conclusion, as patterns
maybe          marks of a mere possibility, as patterns
reasons        conjunctions that begin a reason ("because the page is missing, …"), as patterns
apart          what begins a clause of its own without a mark before it ("without naming the winner"), as patterns
relative       what begins a relative clause between commas, as patterns
rules          of the grammar, for this language only; `unknowns` are those that call something unknown
bare           whole answers that decline in a word or two, as patterns
quantity       questions that only a number answers, as patterns
numbers        words for numbers
doers          the beginnings of nouns for him who did something: "winner", "author"
signs          words by which a refusal is known that no rule reads, by what they are a sign of
asked          what a question asks for, by its pattern: the beginnings of nouns for it; "DOERS" stands for those
=============  ==========================================================================================
"""

import re
import tomllib
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from functools import cache, lru_cache, reduce
from operator import or_
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).resolve().parents[2] / "data" / "refusals"

LANGUAGES = ("en", "de", "fr", "es", "it", "pt")


def read_lists(name: str) -> dict[str, Any]:
    """Load the lists of a language, or of all of them."""
    return tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


GRAMMAR: Mapping[str, Any] = read_lists("grammar")
ROLES: Mapping[str, str] = GRAMMAR["roles"]
"""The letters of each part, of which the rules of the grammar are made."""

_PATTERNS: Mapping[str, str] = read_lists("patterns")


def pattern(name: str) -> re.Pattern[str]:
    """Compile a pattern of `patterns.toml`, which explains each."""
    return re.compile(_PATTERNS[name].replace("\n", ""))


WORD = re.compile(r"[^\W_]+|,")
"""A word, or the comma that no rule goes over."""

CONTENT, _FUNCTION, _COMMA = "_", ".", ","

DECLINING = frozenset("nkuxNlOW")
"""Parts of which one is in whatever declines by rule."""

_EMPTY = frozenset("nkijmbwdeyUPVY,")
"""Parts of words that say nothing about what is spoken of."""

BITS = {name: 1 << place for place, name in enumerate([*ROLES, *read_lists("en")["signs"]])}
"""A bit for each part and each sign, by its name; English names the signs of all languages."""

_PARTS = {letter: BITS[part] for part, letters in ROLES.items() for letter in letters[-1]}
"""The bit of the part that a letter stands for."""

_LONGEST = 40
"""Characters of a word that a lexicon may know."""

_KNOWN_WORDS = 2048
"""Words that a lexicon remembers, of each kind of fact: of all languages together 5 MB."""

# Words that only an accent tells from another one, and how they are spelt here.
_TOLD_APART = {"sé": "se1", "è": "e1", "é": "e1", "dà": "da1", "dá": "da1", "né": "ne1", "où": "ou1", "está": "esta1"}
_TOLD_APART |= {"há": "ha1", "può": "puo1"}

_ACCENTED = re.compile(rf"\b(?:{'|'.join(_TOLD_APART)})\b")


def without_accents(text: str) -> str:
    """The folded text without accents: whoever leaves them out is understood too."""
    if text.isascii():
        return text
    text = _ACCENTED.sub(lambda found: _TOLD_APART[found[0]], text)
    bare = "".join(sign for sign in unicodedata.normalize("NFD", text) if not "\u0300" <= sign <= "\u036f")
    return unicodedata.normalize("NFC", bare)


class _WordLists:
    """Lists of words by name.

    Args:
        lists: The words of each, where "refer*" stands for all that begin so and "*los" for all that end so.
    """

    def __init__(self, lists: Mapping[str, str]) -> None:
        self._whole: dict[str, list[str]] = defaultdict(list)
        self._starts: dict[str, list[str]] = defaultdict(list)
        self._ends: dict[str, list[str]] = defaultdict(list)
        for name, words in lists.items():
            for word in words.split():
                kind = self._starts if word.endswith("*") else self._ends if word.startswith("*") else self._whole
                kind[word.strip("*")].append(name)
        self._start_sizes, self._end_sizes = set(map(len, self._starts)), set(map(len, self._ends))

    def names(self, word: str) -> list[str]:
        """The lists that hold a word."""
        size, found = len(word), list(self._whole.get(word, ()))
        for cut in range(size + 1) if size <= _LONGEST else ():
            if cut in self._start_sizes:
                found += self._starts.get(word[:cut], ())
            if size - cut in self._end_sizes:
                found += self._ends.get(word[cut:], ())
        return found


# How the patterns of a list are put together where they are looked for; anywhere, where nothing else is said.
_FORMS = dict.fromkeys(("declines", "courtesy", "guesses", "maybe", "referrals", "quantity"), "(?:LIST)")
_FORMS |= dict.fromkeys(("although", "apart", "reasons"), r"^(?:LIST)\b")
_FORMS |= {"hence": r"^,\s+(?:LIST)\b", "openers": "^(?:LIST)+"}


def _any(patterns: Iterable[str]) -> str:
    return "|".join(f"(?:{one})" for one in patterns) or "(?!)"


class Lexicon:
    """The words and patterns of a language, by which clauses are read.

    Args:
        code: By ISO 639-1.
    """

    def __init__(self, code: str) -> None:
        read = read_lists(code)
        lists = defaultdict(lambda: "(?!)", {name: _any(found) for name, found in read.items() if type(found) is list})
        but, however, hence = lists["but"], lists["however"], lists["hence"]
        self.code = code
        self.lists: Mapping[str, Any] = read
        shared = read_lists(read["family"])["rules"] if "family" in read else []
        self.rules, self.unknowns = (*shared, *read["rules"]), tuple(read.get("unknowns", ()))
        self.patterns = {name: re.compile(form.replace("LIST", lists[name])) for name, form in _FORMS.items()}
        self.patterns["contrasts"] = re.compile(rf"\b(?:{but}|{however})\b")
        self.patterns["parenthesis"] = re.compile(rf",\s+(?:(?:{however})|(?:{lists['relative']})\b[^,.;:]{{1,80}}),")
        self.patterns["joint"] = re.compile(
            rf"(;|:\s|\(|\)|\s[–—-]\s|,?\s+(?:{but})\b,?\s*|,\s+(?:{however}|{hence})\b,?\s*|"
            rf",?\s+(?=(?:{lists['although']}|{lists['apart']})\b))"
        )
        self.function = frozenset([*read["function"].split(), *_TOLD_APART.values()])
        self.numbers, self.hints = frozenset(read["numbers"].split()), frozenset(read["hints"].split())
        self.doers = tuple(read["doers"].split())
        self._asked = [
            (re.compile(question), stems.replace("DOERS", read["doers"]).split())
            for question, stems in read["asked"].items()
        ]
        self._words, self._signs = _WordLists(read["words"]), _WordLists(read["signs"])
        self.letters = lru_cache(maxsize=_KNOWN_WORDS)(self._letters)
        denying = (words for name, words in read["words"].items() if not DECLINING.isdisjoint(ROLES[name]))
        self.denying = frozenset(" ".join(denying).split())
        self._bits = lru_cache(maxsize=_KNOWN_WORDS)(self._bits_of)

    def _letters(self, word: str) -> str:
        """The parts that a word can play, or the sign of a comma, a function word or any other word."""
        found = "".join(ROLES[name] for name in self._words.names(word))
        return found or (_COMMA if word == "," else _FUNCTION if word in self.function else CONTENT)

    def _bits_of(self, word: str) -> int:
        told = [_PARTS.get(letter, 0) for letter in self.letters(word)]
        return reduce(or_, [*told, *(BITS[name] for name in self._signs.names(word))], 0)

    def may_decline(self, words: Collection[str]) -> bool:
        """Whether any of the words of a text can decline: a quick look before any rule is tried."""
        return not self.hints.isdisjoint(words) or self.denies(words)

    def denies(self, words: Iterable[str]) -> bool:
        """Whether any word plays a part without which nothing declines by rule."""
        return not self.denying.isdisjoint(words)

    def tagged(self, words: Iterable[str]) -> str:
        """The words as groups of letters, each with a blank before it."""
        return "".join(" " + self.letters(word) for word in words)

    def shown(self, words: Iterable[str]) -> int:
        """The parts and the signs of the words of a clause, as bits of `BITS`."""
        return reduce(or_, map(self._bits, words), 0)

    def content(self, words: Iterable[str]) -> list[str]:
        """The distinct words that tell what is spoken of."""
        return [word for word in dict.fromkeys(words) if self._tells(word)]

    def _tells(self, word: str) -> bool:
        if word in self.function or (len(word) == 1 and not word.isdecimal()):
            return False
        return _EMPTY.isdisjoint(self.letters(word))

    def asked_for(self, question: str) -> tuple[str, ...]:
        """The beginnings of nouns for what the question words of a question ask for."""
        return tuple(stem for pattern, stems in self._asked if pattern.search(question) for stem in stems)


_FEW = 3
"""Function words below which a text may be in any language."""

_ENOUGH = 200
"""Words by which the language of a text is known."""


@cache
def every_lexicon() -> tuple[Lexicon, ...]:
    """A lexicon a language, made when the first text is read: their patterns take a tenth of a second."""
    return tuple(map(Lexicon, LANGUAGES))


def lexicons_of(text: str) -> tuple[Lexicon, ...]:
    """The lexicons of the languages that a text may be in, the likeliest first; all where nothing tells."""
    words = Counter(WORD.findall(text[:4000])[:_ENOUGH])
    known = {lexicon: lexicon.function.intersection(words) for lexicon in every_lexicon()}
    counts = Counter({lexicon: sum([words[word] for word in found]) for lexicon, found in known.items()})
    most = max(counts.values())
    return tuple(lexicon for lexicon, count in counts.most_common() if most < _FEW or 2 * count >= most)
