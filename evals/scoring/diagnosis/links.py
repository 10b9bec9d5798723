"""The links of the chain from a question to its answer, in the order in which they can break."""

from enum import StrEnum


class Link(StrEnum):
    """Where a question that ended wrong went wrong first; the members are in the order of the chain."""

    TRANSPORT = "transport"
    CORPUS = "corpus"
    NOT_RETRIEVED = "not_retrieved"
    PART_RETRIEVED = "part_retrieved"
    BELOW_K = "below_k"
    SHOULD_HAVE_ABSTAINED = "should_have_abstained"
    WRONG_ABSTENTION = "wrong_abstention"
    CONTRADICTS_REFERENCE = "contradicts_reference"
    NO_MATCH_BY_WORDS = "no_match_by_words"
    """In a run without a judge: the words of the answer do not match, and it has no other value in their place."""
    UNUSED = "unused"
    WRONG_CITATION = "wrong_citation"
    PARTLY_CORRECT = "partly_correct"
    JUDGE_COULD_NOT_TELL = "judge_could_not_tell"
    RIGHT_WITHOUT_GOLD = "right_without_gold"
    """No failure: the answer is right although nothing of the gold was retrieved. Counted apart."""

    @property
    def label(self) -> str:
        """The link in words."""
        return _LABELS[self]

    @property
    def place(self) -> int:
        """Its place in the chain, from 0."""
        return _PLACES[self]

    @property
    def is_failure(self) -> bool:
        """Whether a question with this link ended wrong."""
        return self is not Link.RIGHT_WITHOUT_GOLD


_LABELS = {
    Link.TRANSPORT: "no answer came",
    Link.CORPUS: "the corpus lacks the gold",
    Link.NOT_RETRIEVED: "gold not retrieved",
    Link.PART_RETRIEVED: "part of the gold not retrieved",
    Link.BELOW_K: "gold retrieved too low to be sent on",
    Link.SHOULD_HAVE_ABSTAINED: "answered, though unanswerable",
    Link.WRONG_ABSTENTION: "abstained, though answerable",
    Link.CONTRADICTS_REFERENCE: "contradicts the reference",
    Link.NO_MATCH_BY_WORDS: "does not match the reference (by words)",
    Link.UNUSED: "gold in the context, not used",
    Link.WRONG_CITATION: "right, but wrongly cited",
    Link.PARTLY_CORRECT: "partly correct",
    Link.JUDGE_COULD_NOT_TELL: "the judge could not tell",
    Link.RIGHT_WITHOUT_GOLD: "right without retrieved gold",
}
_PLACES = {link: place for place, link in enumerate(Link)}
