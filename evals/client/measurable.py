"""What can be measured of a server, as far as its specification tells."""

from evals.client.spec import ServerSpec


def measurable(spec: ServerSpec) -> list[str]:
    """What a server of this specification can be measured by, such as `retrieval` and `citations`.

    Latency always can. That a part is looked for does not mean that the server sends it.
    """
    answers = spec.gives_answers
    parts = {
        "retrieval": spec.map.chunks is not None or spec.retrieve is not None,
        "answers": answers,
        "abstention": answers,
        "citations": answers and gives_citations(spec),
        "cost": spec.map.usage is not None,
        "stages": spec.map.stages is not None,
        "ingestion": spec.upload is not None,
        "first token": spec.stream is not None and spec.stream.text_at is not None,
    }
    return [part for part, there in parts.items() if there]


def gives_citations(spec: ServerSpec) -> bool:
    """Whether citations are looked for: in a list, or by markers in the text."""
    given_as = spec.citations.given_as
    return given_as in {"auto", "markers"} or (given_as == "list" and spec.map.citations is not None)
