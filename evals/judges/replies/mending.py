"""What is said to a judge whose reply cannot be used as it is: whole, or in some of its items."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

from evals.judges.backends.base import Call
from evals.judges.prompt import Prompt
from evals.judges.replies.checks import misfit, problem_with
from evals.judges.replies.evidence import Fault, faults_of, withdraw

_NUMBER = "item"
"""The name of an item's number, where items have no id."""
_SUBJECT = ("id", "claim")
"""What an item is about: it is not mended."""
_LONGEST_REPLY = 20_000
"""Characters of a reply that is shown again; a longer one is only told what was wrong."""
_AGAIN = "You were asked this before, and your reply cannot be used: {problem}\n{reply}Reply again, to all of it."
_SAID = "Your reply was:\n{text}\n"
_MEND = """You were asked this before. Some items of your reply cannot be used, because of their quotations:
{items}
Return these items alone, in the same form and with the same {name}; a list none of whose items stands here stays empty.
Copy each quotation word for word from one text, at least four words, nothing changed and nothing left out. Where no
text holds such words, decide anew."""


def asking_again(text: str, problem: str) -> str:
    """What is said of a reply that cannot be used at all."""
    reply = _SAID.format(text=text) if text.strip() and len(text) <= _LONGEST_REPLY else ""
    return _AGAIN.format(problem=problem, reply=reply)


@dataclass(frozen=True, slots=True)
class Mending:
    """How the items of a reply whose evidence is not there may be mended, by one more call that is about them alone.

    Attributes:
        prompt: By which the reply was asked for.
        reply: As it came.
        faults: What is wrong with which item.
    """

    prompt: Prompt
    reply: Mapping[str, Any]
    faults: Sequence[Fault]

    def call(self, call: Call) -> Call:
        """What is asked: for these items alone, each with what is wrong with it."""
        name = " and ".join(sorted({_key(self.reply[fault.list][fault.place]) for fault in self.faults}))
        items = json.dumps([self._shown(fault) for fault in self.faults], ensure_ascii=False)
        return replace(call, schema=self._schema(), remark=_MEND.format(items=items, name=name))

    def apply(self, answer: Any, data: Mapping[str, Any]) -> dict[str, Any] | None:
        """The reply with what the judge mended, and with marks on what is still wrong; None for an answer of no use.

        Args:
            answer: What the judge said; the whole reply, given again, will do.
            data: What the judge was given to examine.
        """
        if misfit(self._schema(), answer, "reply") is not None:
            return None
        mended = {name: list(part) if isinstance(part, list) else part for name, part in self.reply.items()}
        for fault in self.faults:
            mended[fault.list][fault.place] = self._mended(fault, answer)
        if problem_with(self.prompt, mended, data) is not None:
            return None
        left = faults_of(self.prompt, mended, data)
        for fault in left:
            mended[fault.list][fault.place] = self.reply[fault.list][fault.place]
        return withdraw(mended, left)

    def _shown(self, fault: Fault) -> dict[str, Any]:
        item = self.reply[fault.list][fault.place]
        numbered = item if "id" in item else {_NUMBER: fault.place + 1, **item}
        return {"list": fault.list, "wrong": fault.problem, "your_item": numbered}

    def _schema(self) -> dict[str, Any]:
        """The form of the reply, with a number in items that have no id."""
        schema = deepcopy(self.prompt.schema)
        for name in {fault.list for fault in self.faults}:
            items = schema["properties"][name]["items"]
            if "id" not in items["properties"]:
                items["properties"] = {_NUMBER: {"type": "integer"}, **items["properties"]}
                items["required"] = [_NUMBER, *items["required"]]
        return schema

    def _mended(self, fault: Fault, answer: Mapping[str, Any]) -> Any:
        """The item as it was mended; as it was where the answer has none for it, or several."""
        old = self.reply[fault.list][fault.place]
        key = _key(old)
        wanted = old["id"] if key == "id" else fault.place + 1
        there = Counter(item[key] for item in answer[fault.list])
        if there[wanted] != 1:
            return old
        new = next(item for item in answer[fault.list] if item[key] == wanted)
        kept = {name: old[name] for name in _SUBJECT if name in old}
        return {name: part for name, part in {**new, **kept}.items() if name in old}


def _key(item: Mapping[str, Any]) -> str:
    return "id" if "id" in item else _NUMBER
