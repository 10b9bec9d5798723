"""Broken links of many questions, in columns."""

import json

from pydantic import TypeAdapter

from evals.schemas import EvalQuestion, EvalRecord, EvalResponse
from evals.scoring.diagnosis.outcome import Finding
from evals.scoring.diagnosis.stages import Link
from evals.scoring.digest import BrokenLinks, BrokenLinksBuilder


def record(number: int) -> EvalRecord:
    """Any record."""
    return EvalRecord(question=EvalQuestion(id=f"q{number}", question="Q?"), response=EvalResponse(answer="a"))


def test_links_come_back_in_the_order_of_the_chain_and_by_kind() -> None:
    """As they went in, with what is said of several questions held once; also through the file beside the records."""
    maker = BrokenLinksBuilder()
    said = [
        (Link.UNUSED, "b"),
        (Link.TRANSPORT, "timeout"),
        (Link.RIGHT_WITHOUT_GOLD, "c"),
        (Link.TRANSPORT, "timeout"),
    ]
    for number, (link, explanation) in enumerate(said):
        maker.add(number, Finding(link, explanation, record(number), (number,) if link is Link.UNUSED else (), ("r",)))
    found = maker.build()
    assert [(one.number, one.link, one.explanation) for one in found] == [
        (1, Link.TRANSPORT, "timeout"),
        (3, Link.TRANSPORT, "timeout"),
        (0, Link.UNUSED, "b"),
        (2, Link.RIGHT_WITHOUT_GOLD, "c"),
    ]
    assert len(found.table) == 3
    assert found[2].with_record(record(0)) == Finding(Link.UNUSED, "b", record(0), (0,), ("r",))
    assert [one.number for one in found.where([Link.TRANSPORT, Link.UNUSED])] == [1, 3, 0]
    assert list(found[1:3]) == [found[1], found[2]]
    assert dict(found.links()) == {number: link for number, (link, _) in enumerate(said)}
    adapter = TypeAdapter(BrokenLinks)
    assert adapter.validate_json(json.dumps(adapter.dump_python(found, mode="json"))) == found
