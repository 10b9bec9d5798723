"""What the items of a reply rest on: checks of the kinds `quotes` and `listed`, and what becomes of items that fail.

- `{kind: listed, items: claims, only: [supported], list: passages}`: items of these verdicts have something in it.
- `{kind: quotes, items: claims, within: contexts, only: [supported]}`: quotations stand in the data. `items` may be a
  path (`claims.passages`) or be missing, which means the reply itself. Items of the verdicts in `only`, or all items
  with `always`, must quote, and enough to prove something; else a quotation may be empty. With `same_id` it must stand
  in the text with the item's id, with `one_of: citations` in a text whose id that list of the item holds.

An item that does not pass is one on which the judge could not tell, and bears marks that say so. One on which the judge
itself could not tell needs no evidence.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evals.judges.prompt import Prompt
from evals.judges.replies.quotes import is_evidence, is_quoted

NOT_FOUND, SAID = "quote_not_found", "said"
"""The marks of an item whose evidence is not there: that it is so, and the verdict that the judge gave."""
CANNOT_TELL = "cannot_tell"
_SHOWN = 120
_Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Fault:
    """An item of a reply whose evidence is not there.

    Attributes:
        list: The list of the reply that it stands in.
        place: Where in that list, from 0.
        problem: What is wrong, in a sentence.
    """

    list: str
    place: int
    problem: str


def problem_of_whole(prompt: Prompt, reply: _Object, data: _Object) -> str | None:
    """What is wrong with the evidence of a reply that is itself the item; None where nothing is."""
    checks = [check for check in prompt.checks if check["kind"] == "quotes" and not check.get("items")]
    return next((problem for check in checks if (problem := _misquoted(check, reply, data))), None)


def faults_of(prompt: Prompt, reply: _Object, data: _Object) -> list[Fault]:
    """The items whose evidence is not there, each once; of a reply that has the form asked for."""
    found: dict[tuple[str, int], Fault] = {}
    for check in prompt.checks:
        if check["kind"] in _CHECKS and check.get("items"):
            name, _, path = check["items"].partition(".")
            for place, item in enumerate(reply[name]):
                problem = _problem_of(check, item, path, data)
                if problem:
                    found.setdefault((name, place), Fault(name, place, problem))
    return list(found.values())


def withdraw(reply: _Object, faults: Iterable[Fault]) -> dict[str, Any]:
    """The reply with these items marked: the judge could not tell."""
    marked = {name: list(part) if isinstance(part, list) else part for name, part in reply.items()}
    for fault in faults:
        item = marked[fault.list][fault.place]
        marked[fault.list][fault.place] = {**item, "verdict": CANNOT_TELL, NOT_FOUND: True, SAID: item["verdict"]}
    return marked


def withdrawn_items(reply: _Object) -> int:
    """How many items of a reply are marked."""
    return sum(isinstance(item, dict) and NOT_FOUND in item for item in _all_items(reply))


def items_judged(reply: _Object) -> int:
    """How many items of a reply have a verdict."""
    return sum(isinstance(item, dict) and "verdict" in item for item in _all_items(reply))


def without_marks(reply: Any) -> Any:
    """A saved reply as it was before items were marked, but for their verdicts."""
    if not isinstance(reply, dict):
        return reply
    return {name: [_plain(item) for item in part] if isinstance(part, list) else part for name, part in reply.items()}


def _plain(item: Any) -> Any:
    if isinstance(item, dict) and NOT_FOUND in item:
        return {name: part for name, part in item.items() if name not in {NOT_FOUND, SAID}}
    return item


def _all_items(reply: _Object) -> Iterator[Any]:
    return (item for part in reply.values() if isinstance(part, list) for item in part)


def _problem_of(check: _Object, item: _Object, path: str, data: _Object) -> str | None:
    if item.get("verdict") == CANNOT_TELL:
        return None
    return _CHECKS[check["kind"]](check, item, path, data)


def _unlisted(check: _Object, item: _Object, _path: str, _data: _Object) -> str | None:
    if item["verdict"] in check["only"] and not item[check["list"]]:
        return f"{item['verdict']} without {check['list']}"
    return None


def _wrong_quote(check: _Object, item: _Object, path: str, data: _Object) -> str | None:
    parts: Sequence[_Object] = item[path] if path else [item]
    return next((problem for part in parts if (problem := _misquoted(check, part, data))), None)


_CHECKS = {"listed": _unlisted, "quotes": _wrong_quote}


def _misquoted(check: _Object, item: _Object, data: _Object) -> str | None:
    """What is wrong with an item's quotation; None where nothing is, or none is needed."""
    quote, required = item["quote"], _must_quote(check, item)
    if not required and not (quote and _may_quote(check)):
        return None
    within = [(number, text) for number, text in _texts(data.get(check["within"])) if _may_hold(check, item, number)]
    if not _is_in(quote, within):
        return f"a quotation that is not in {_place(check, item)}: {quote[:_SHOWN]!r}"
    if required and not is_evidence(quote, [text for _, text in within]):
        return f"a quotation of fewer than four words, which proves nothing: {quote[:_SHOWN]!r}"
    return None


def _is_in(quote: str, within: Sequence[tuple[Any, str]]) -> bool:
    """Whether texts hold a quotation, with the id of its text before it or behind it or without."""
    if is_quoted(quote, [text for _, text in within]):
        return True
    bare = ((_unlabelled(quote, number), text) for number, text in within)
    return any(words != quote and is_quoted(words, [text]) for words, text in bare)


def _must_quote(check: _Object, item: _Object) -> bool:
    return item["verdict"] in check["only"] if "only" in check else bool(check.get("always"))


def _may_quote(check: _Object) -> bool:
    """Whether a quotation that was not asked for is looked at; where some verdicts must quote, others are free."""
    return "only" not in check


def _place(check: _Object, item: _Object) -> str:
    """Where the quotation should stand."""
    return f"{check['within']} {item['id']}" if check.get("same_id") else str(check["within"])


def _unlabelled(quote: str, number: Any) -> str:
    """The quotation without the id of its text before it or behind it: "[3] Members may appeal"."""
    label = rf"[\[(]\s?(?:\w{{1,12}}\s)?{re.escape(str(number))}\s?[\])]"
    return re.sub(rf"\A\W{{0,3}}{label}|{label}\W{{0,3}}\Z", "", quote) if number is not None else quote


def _may_hold(check: _Object, item: _Object, number: Any) -> bool:
    """Whether the item's quotation may stand in the text with this id."""
    if check.get("same_id"):
        return bool(number == item["id"])
    return "one_of" not in check or any(part["id"] == number for part in item[check["one_of"]])


def _texts(part: Any) -> list[tuple[Any, str]]:
    """The texts of a part of the data, with their ids: a text, or a list of objects."""
    if isinstance(part, list):
        return [(item["id"], item["text"]) for item in part]
    return [] if part is None else [(None, str(part))]
