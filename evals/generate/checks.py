"""What a draft must hold before anybody is asked to answer it; no model takes part."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

from evals.generate.passages import PassageSet, content_words
from evals.schemas.dataset import EvalQuestion, GoldPassage
from evals.text.numbers import language_of, numbers
from evals.text.quotes import is_evidence
from evals.text.sentences import sentence_spans
from evals.text.tokens import framed, tokens

PAIR, NEAR_MISS, YES_NO, COMPARISON = "pair", "near_miss", "yes_no", "comparison"
COPIED = "copied"

_MOST_COPIED, _LOOKED_AT = 5, 10
"""Words in a row that a question may have from its passage, and passages that are looked through for the same fact."""

_SAME, _NEARLY, _STATEMENT = 0.95, 0.8, 0.8
"""Shares of words: of a question that is another's, of one that is another's if the answers agree, and of a sentence
that says something of the same thing."""


class Rejection(StrEnum):
    """Why a draft is rejected."""

    UNUSABLE = "the model gave no usable reply"
    SKIPPED = "the model skipped the passage"
    INJECTION = "the passage tells the model what to write"
    INCOMPLETE = "question or answer is empty"
    QUOTATION = "a quotation is not in its passage"
    SHORT_QUOTATION = "a quotation is too short to prove anything"
    VALUE = "a number, date, code or name of the answer is not in the quotations"
    UNQUOTED = "nothing of the answer is in the quotations"
    POINTS_TO_TEXT = "the question speaks of its document"
    GIVEN_AWAY = "the answer is in the question"
    DUPLICATE = "the question is nearly that of an accepted one"
    AMBIGUOUS = "another passage gives another answer"
    BRIDGE = "the bridge is not in both passages"
    BRIDGE_NAMED = "the question names the bridge"
    ONE_QUOTATION = "one quotation holds the whole answer"
    DECLINED = "the solver found no answer"
    DIFFERS = "the solver gave another answer"
    ELSEWHERE = "the solver answered from another passage"
    ONE_PASSAGE = "one passage alone answers the question"
    ANSWERABLE = "the documents answer the question"


@dataclass(frozen=True, slots=True)
class QuestionDraft:
    """A question as a model wrote it.

    Attributes:
        kind: fact, number, list, yes_no, comparison, pair or near_miss.
        question: As a user would ask it.
        answer: The expected answer; empty of a near miss.
        quotations: What proves it, each with the place of its passage.
        bridge: Of a pair, what connects the passages.
    """

    kind: str
    question: str
    answer: str
    quotations: Sequence[tuple[int, str]]
    bridge: str = ""


@dataclass(frozen=True, slots=True)
class CheckedDraft:
    """A draft that passed.

    Attributes:
        draft: As it was written.
        golds: The quotations as they stand in the documents, first those of the draft.
        places: Of the passages that hold the golds.
        tags: What does not reject it, and is worth knowing.
    """

    draft: QuestionDraft
    golds: list[GoldPassage]
    places: frozenset[int]
    tags: list[str]


# Where a quotation stands: white space and markup apart, and one form of quotation marks and dashes.

_FORMS = str.maketrans({**dict.fromkeys("‘’‛`´", "'"), **dict.fromkeys("“”„«»", '"'), **dict.fromkeys("‐‑‒–—−", "-")})
_MARKUP = r"[\s*_#>|\\]"
_WORD = re.compile(_MARKUP.replace("[", "[^") + "+")


def locate(quotation: str, text: str, start: int = 0) -> tuple[int, int] | None:
    """Where the words of a quotation stand in a text, one after the other, from a place on; None where they do not."""
    words = [re.escape(word) for word in _WORD.findall(quotation.translate(_FORMS))]
    pattern = re.compile(rf"(?<![\w.,]){f'{_MARKUP}+'.join(words)}(?!\w|[.,]\d)", re.IGNORECASE)
    place = pattern.search(text.translate(_FORMS), start) if words else None
    return place.span() if place else None


def every_place(quotation: str, text: str) -> Iterator[tuple[int, int]]:
    """All the places where a quotation stands in a text."""
    span = locate(quotation, text)
    while span:
        yield span
        span = locate(quotation, text, span[1])


def check(draft: QuestionDraft, passages: PassageSet, accepted: Iterable[EvalQuestion]) -> CheckedDraft | Rejection:
    """Check a draft.

    Args:
        draft: As a model wrote it.
        passages: All passages.
        accepted: The questions so far.

    Returns:
        The draft with its golds, or why it is rejected.
    """
    texts = {place: passages.passages[place].text for place, _ in draft.quotations}
    if reason := _flaw(draft, texts):
        return reason
    if any(is_duplicate(draft, known) for known in accepted):
        return Rejection.DUPLICATE
    asked = tokens(draft.question)
    runs = (SequenceMatcher(None, asked, tokens(text), autojunk=False).find_longest_match() for text in texts.values())
    tags = [COPIED] if max(run.size for run in runs) > _MOST_COPIED else []
    if draft.kind == NEAR_MISS:
        return CheckedDraft(draft, [], frozenset(texts), tags)
    same = _same_fact(draft, passages)
    if same is None:
        return Rejection.AMBIGUOUS
    spans = [(place, span) for place, quotation in draft.quotations for span in every_place(quotation, texts[place])]
    golds = {(place, *span): _gold(passages, place, *span) for place, span in [*spans, *same]}
    return CheckedDraft(draft, list(golds.values()), frozenset(place for place, *_ in golds), tags)


def _flaw(draft: QuestionDraft, texts: dict[int, str]) -> Rejection | None:
    """What is wrong with a draft by itself."""
    quotations = " \n ".join(quotation for _, quotation in draft.quotations)
    answer, question = content_words(draft.answer), set(content_words(draft.question))
    if not draft.quotations or not question or (draft.kind != NEAR_MISS and not tokens(draft.answer)):
        return Rejection.INCOMPLETE
    if not all(locate(quotation, texts[place]) for place, quotation in draft.quotations):
        return Rejection.QUOTATION
    if not all(is_evidence(quotation, [texts[place]]) for place, quotation in draft.quotations):
        return Rejection.SHORT_QUOTATION
    if speaks_of_text(draft.question):
        return Rejection.POINTS_TO_TEXT
    if draft.kind == NEAR_MISS:
        return None
    if lacks_value(draft.answer, quotations, draft.question):
        return Rejection.VALUE
    if draft.kind != YES_NO and not set(answer) & set(tokens(quotations)):
        return Rejection.UNQUOTED
    if draft.kind not in (YES_NO, COMPARISON) and question.issuperset(answer):
        return Rejection.GIVEN_AWAY
    return _flaw_of_pair(draft, texts, answer) if draft.kind == PAIR else None


def _flaw_of_pair(draft: QuestionDraft, texts: dict[int, str], answer: Sequence[str]) -> Rejection | None:
    bridge = framed(draft.bridge)
    if not bridge.strip() or not all(bridge in framed(text) for text in texts.values()):
        return Rejection.BRIDGE
    if bridge in framed(draft.question):
        return Rejection.BRIDGE_NAMED
    if any(set(answer) <= set(tokens(quotation)) for _, quotation in draft.quotations):
        return Rejection.ONE_QUOTATION
    return None


# The question by itself.

_TEXT = r"(?:document|passage|text|article|excerpt|section|page|chapter|context|paragraph|table|figure|file)s?"
_TEXT_ABROAD = r"(?:Dokument|Text|Abschnitt|Tabelle|texte|passage|extrait|tableau|documento|texto|tabla|testo)\w{0,2}"
_SPEAKS_OF_TEXT = re.compile(
    rf"\b(?:this|these|that|given|following|provided|above|attached)\s+(?:\w+\s+)?{_TEXT}\b|\b(?:in|the)\s+{_TEXT}\b"
    r"|\b(?:table|figure|fig\.|section|chapter|appendix)\s+(?:\d|[A-Z]\b|[IVX]+\b)"
    r"|\b(?:mentioned|described|listed|shown|stated|see|as|the)\s+(?:above|below)\b|\b(?:above|below)\s*(?:[?.,;]|\Z|(?:is|are)\b)"
    r"|\b[\w-]+\.(?:md|txt|html?|pdf|docx?|pptx?|rst|markdown)\b"
    rf"|\b(?:dies\w*|der|die|das|dem|den|laut|im|obige\w*|cet?|cette|le|el|este|esta|il|questo|nel)\s+{_TEXT_ABROAD}\b",
    re.IGNORECASE,
)


def speaks_of_text(question: str) -> bool:
    """Whether a question needs the text next to it: "this document", "above", "table 3", the name of a file."""
    return bool(_SPEAKS_OF_TEXT.search(question))


_VALUE = re.compile(r"[^\W_](?:[\w.'’/-]*[^\W_])?")


def lacks_value(answer: str, quotations: str, question: str) -> bool:
    """Whether a number, date, code or name of an answer stands in no quotation; names may stand in the question too."""
    language = language_of(quotations)
    known = {word.casefold() for word in _VALUE.findall(f"{quotations} {question}")}
    values = {value.casefold().removesuffix("'s").removesuffix("’s") for value in _names(answer)}
    return not numbers(answer, language, words=False) <= numbers(quotations, language) or not values <= known


def _names(text: str) -> Iterator[str]:
    """Codes, which have digits or capitals alone, and words with a capital that begin no sentence."""
    for match in _VALUE.finditer(text):
        word = match[0]
        begins = not text[: match.start()].strip() or text[: match.start()].rstrip()[-1] in ".!?:"
        code = word.upper() != word.lower() and (re.search(r"\d", word) or (word.isupper() and len(word) > 1))
        if code or (word[0].isupper() and not begins):
            yield word


def is_duplicate(draft: QuestionDraft, known: EvalQuestion) -> bool:
    """Whether a draft asks what a question asks."""
    words, asked = set(content_words(draft.question)), set(content_words(known.question))
    alike = len(words & asked) / (len(words | asked) or 1)
    same_answer = tokens(draft.answer) == tokens(known.expected_answer or "")
    same_numbers = numbers(draft.question) == numbers(known.question)
    return alike >= _SAME or (alike >= _NEARLY and same_answer and same_numbers)


# Other passages that state the same fact.


def _same_fact(draft: QuestionDraft, passages: PassageSet) -> list[tuple[int, tuple[int, int]]] | None:
    """Where else the answer stands, as places of passages and spans in them; None where another answer stands.

    A passage counts if it has all words of the question that the draft's own passage, or the name of its document, has:
    else it speaks of another thing.
    """
    asked, answer = _singular(content_words(draft.question)), set(content_words(draft.answer)) - AGREEING
    own = {place for place, _ in draft.quotations}
    same = list[tuple[int, tuple[int, int]]]()
    for place, quotation in draft.quotations:
        subject = asked & _context(passages, place)
        wanted = answer & set(tokens(quotation))
        for rival in passages.index.best(quotation, _LOOKED_AT):
            if rival in own or not subject <= _context(passages, rival):
                continue
            span, contradicts = _statement(quotation, wanted, passages.passages[rival].text)
            if span is not None:
                same.append((rival, span))
            elif contradicts:
                return None
    return same


AGREEING = frozenset({"yes", "no", "ja", "nein", "oui", "non", "sí", "si", "sì", "sim", "não"})
"""What an answer to a yes/no question begins with, in six languages."""


def _context(passages: PassageSet, place: int) -> set[str]:
    passage = passages.passages[place]
    return _singular([*passages.index.words[place], *tokens(f"{passage.document} {passage.section or ''}")])


def _singular(words: Iterable[str]) -> set[str]:
    return {word.rstrip("s") for word in words}


def _statement(quotation: str, wanted: set[str], text: str) -> tuple[tuple[int, int] | None, bool]:
    """The span of a sentence that holds the answer; else whether one says nearly the same with other values."""
    if span := locate(quotation, text):
        return span, False
    contradicts, plain = False, _without_numbers(quotation)
    for start, end in sentence_spans(text):
        sentence = set(tokens(text[start:end]))
        if wanted and wanted <= sentence:
            return (start, end), False
        held = _without_numbers(text[start:end])
        contradicts |= bool(plain and wanted) and len(plain & held) / max(len(plain), len(held)) >= _STATEMENT
    return None, contradicts


def _without_numbers(text: str) -> set[str]:
    return {word for word in content_words(text) if not any(sign.isdigit() for sign in word)}


def _gold(passages: PassageSet, place: int, start: int, end: int) -> GoldPassage:
    passage = passages.passages[place]
    first, text = passage.start + start, passage.text[start:end]
    section = passages.section_at(passage.document, first)
    return GoldPassage(text=text, document_id=passage.document, section=section, span=(first, passage.start + end))
