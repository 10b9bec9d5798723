"""The recall at each stage of a retrieval, as lines."""

from collections.abc import Iterator, Sequence

from evals.scoring.diagnosis import StageRecall


def stage_lines(stages: Sequence[StageRecall]) -> Iterator[tuple[str, str]]:
    """A title without a value, then a name and what is said of it for each stage; nothing where there is none."""
    if stages:
        yield "recall by stage of the retrieval", ""
    for stage in stages:
        least = f"at least, {stage.unsure} unsure: " if stage.unsure else ""
        yield stage.name, f"{least}{stage.recall:.3f} (n={stage.questions})"
