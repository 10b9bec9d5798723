"""What generating came to: the questions and what they cost, in words and as data."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from shlex import quote
from typing import Any

from evals.errors import RunIncompleteError
from evals.generate.journal import QuestionJournal
from evals.generate.pipeline import Generator
from evals.text.numbers import counted

AGAIN = "give the same command again: it continues, and nothing is paid twice"
"""How to continue after an end that came early."""


@dataclass(frozen=True, slots=True)
class Generated:
    """The questions of a file, and how they came about.

    Attributes:
        generator: Made questions, and has ended.
        journal: Holds all questions of the file, those of earlier runs too.
    """

    generator: Generator
    journal: QuestionJournal

    @property
    def drafts(self) -> int:
        """How many candidates were tried."""
        return sum(quota.tried for quota in self.generator.quotas.values())

    def facts(self) -> dict[str, Any]:
        """All of it as data for a program."""
        quotas = self.generator.quotas
        return {
            "questions": len(self.journal.questions),
            "wanted": {stream: quota.wanted for stream, quota in quotas.items()},
            "accepted": {stream: quota.accepted for stream, quota in quotas.items()},
            "drafts": self.drafts,
            "rejected": dict(self.generator.rejected.most_common()),
            "stopped": self.generator.stopped,
            "spent": self.journal.spent.model_dump(mode="json"),
            "output": str(self.journal.path),
        }

    def lines(self) -> Iterator[str]:
        """The same in words, the next command last."""
        questions, spent, rejected = list(self.journal.questions.values()), self.journal.spent, self.generator.rejected
        kinds = Counter(str(question.metadata.get("kind")) for question in questions)
        documents = {gold.document_id for question in questions for gold in question.gold_passages}
        held = f"{counted(len(questions), 'question')} in {self.journal.path}"
        yield f"{held}, with gold in {counted(len(documents), 'document')}"
        yield f"  {', '.join(f'{count} {kind}' for kind, count in kinds.most_common())}"
        yield f"{counted(self.drafts, 'draft')}, {rejected.total()} rejected"
        yield from (f"  {count:>4}  {reason}" for reason, count in rejected.most_common())
        cost = "price unknown" if spent.known_cost_usd is None else f"${spent.cost_usd:.2f}"
        unknown = f", of which {counted(spent.unpriced, 'call')} of unknown cost" if spent.unpriced else ""
        yield f"paid: {cost} for {counted(spent.calls, 'call')}{unknown}"
        if questions:
            yield f"next: evals review {quote(str(self.journal.path))}"

    def too_few(self, number: int) -> RunIncompleteError:
        """The error for fewer questions than this number: why, and the way out."""
        quotas = self.generator.quotas.items()
        short = [stream.replace("_", " ") for stream, quota in quotas if quota.accepted < quota.wanted]
        why, hint = self.generator.stopped, f"raise --max-cost, which counts what was paid before, or {AGAIN}"
        if not why:
            why = f"too few drafts were accepted ({', '.join(short)})"
            hint = "ask for fewer or for another mix, add documents, or name another model with --model"
        return RunIncompleteError(f"{len(self.journal.questions)} of {counted(number, 'question')}: {why}", hint)
