"""What a whole run says about matching that one response cannot: common text, and whether names can be compared."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from evals.case.matching.common import CommonText, common_text
from evals.case.matching.documents import DocumentNames
from evals.case.matching.words import words_of
from evals.schemas import RetrievedChunk

_MOST = 0.5


@dataclass(frozen=True, slots=True)
class RunEvidence:
    """Computed once for a run, and the same for each of its records.

    Attributes:
        common: What many of the chunks begin or end with.
        names: Of documents: which are the same, and whether those of chunks and golds are comparable.
        repeated_ids: Whether ids count within a document only: one response holds an id in two documents.
        of_run: Whether it is what a run says, and not what one response says by itself.
    """

    common: CommonText = field(default_factory=CommonText)
    names: DocumentNames = field(default_factory=DocumentNames)
    repeated_ids: bool = False
    of_run: bool = True

    def watched(self) -> "RunEvidence":
        """The same; from here on it is noted which names of documents were looked for in vain."""
        return replace(self, names=replace(self.names, missed=set()))

    def bears_out(self, assumed: "RunEvidence") -> bool:
        """Whether all that was matched by what was assumed would be matched alike by this.

        Args:
            assumed: `watched` while it was matched by, and of some of the records that this is of.
        """
        names, before = self.names, assumed.names
        is_other = (self.common, self.repeated_ids, names.comparable) != (
            assumed.common,
            assumed.repeated_ids,
            before.comparable,
        )
        return not is_other and not any(map(names.has, before.missed or ()))


_NOTHING = RunEvidence(of_run=False)


def evidence_within(chunks: Sequence[RetrievedChunk]) -> RunEvidence:
    """What a response says by itself: the text that most of its chunks begin or end with."""
    texts = dict.fromkeys(chunk.text for chunk in chunks if chunk.text)
    common = common_text([words_of(text) for text in texts], _MOST)
    return RunEvidence(common, of_run=False) if common.starts or common.ends else _NOTHING
